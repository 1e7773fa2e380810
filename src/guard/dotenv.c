/*
 * .env: lines that are nothing but assignments.
 *
 * Some read it as data (docker compose, editors, agents), others run it as a shell script when a
 * directory is entered (zsh's dotenv plugin, autoenv).  So what is plain has to be plain for both:
 * no command, no expansion but of a variable, and no variable that makes programs run something.
 */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "guard/dotenv.h"

/* A "*" at the end stands for the rest. */
static bool is_listed(const char *const *list, size_t count, const char *name, size_t length)
{
	for (size_t i = 0; i < count; i++) {
		size_t width = strlen(list[i]);
		bool open = list[i][width - 1] == '*';

		if (open ? length >= width - 1 && strncasecmp(list[i], name, width - 1) == 0
			 : length == width && strncasecmp(list[i], name, width) == 0)
			return true;
	}
	return false;
}

/* Beneath a "*" of the next list, and in the .env of many projects: these run and lead nothing. */
static bool is_daily(const char *name, size_t length)
{
	static const char *const names[] = {
		"RUST_LOG*",          "RUST_BACKTRACE",
		"RUST_LIB_BACKTRACE", "CARGO_TERM_COLOR",
		"CARGO_INCREMENTAL",  "GIT_SHA",
		"GIT_COMMIT",         "GIT_COMMIT_SHA",
		"GIT_BRANCH",         "GIT_TAG",
		"GIT_TOKEN",          "SSH_HOST",
		"SSH_USER",           "SSH_PORT",
		"DOTNET_ENVIRONMENT", "DOTNET_RUNNING_IN_CONTAINER",
		"GEMINI_API_KEY",     "GEMINI_MODEL",
		"CLAUDE_API_KEY",     "CLAUDE_MODEL",
		"JUPYTER_TOKEN",      "JUPYTER_PORT",
		"QWEN_API_KEY",       "QWEN_MODEL",
	};

	return is_listed(names, sizeof names / sizeof names[0], name, length);
}

/* Names that end like this are of programs to run, or of files that are written. */
static bool ends_as_if_run(const char *name, size_t length)
{
	static const char *const endings[] = {
		"EDITOR",           "PAGER",
		"ASKPASS",          "PASSCOMMAND",
		"HISTFILE",         "_HISTORY",
		"_PRELOAD",         "_HOOK_DIR",
		"PASSWORD_COMMAND", "LIBRARY_PATH",
		"_KEY_CMD",         "POSIX_SHELL",
		"INJECTION64_PATH", "SYSTEM_SETTINGS_PATH",
	};

	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
		size_t width = strlen(endings[i]);

		if (length >= width && strncasecmp(name + length - width, endings[i], width) == 0)
			return true;
	}
	return false;
}

/* Whoever sets these has a program of its choice run, or another's settings read. */
static bool steers(const char *name, size_t length)
{
	static const char *const names[] = {
		"LD_*",
		"DYLD_*",
		"GLIBC_TUNABLES",
		"GCONV_PATH",
		"LOCPATH",
		"PATH",
		"FPATH",
		"CDPATH",
		"IFS",
		"ENV",
		"BASH_*",
		"SHELLOPTS",
		"PROMPT",
		"PROMPT2",
		"PROMPT3",
		"PROMPT4",
		"PROMPT_COMMAND*",
		"PS0",
		"PS1",
		"PS2",
		"PS4",
		"RPROMPT*",
		"ZDOTDIR",
		"SHELL",
		"HOME",
		"XDG_*",
		"TMPDIR",
		"EDITOR",
		"VISUAL",
		"PAGER",
		"MANPAGER",
		"MANOPT", /* man: -P */
		"SELECTED_EDITOR",
		"FCEDIT", /* bash, ksh, zsh: fc */
		"BROWSER",
		"LESS", /* less: "+!" runs a command */
		"LESSOPEN",
		"LESSCLOSE",
		"GIT_*",
		"SSH_*",
		"GPG_*",
		"NODE_OPTIONS",
		"NODE_REPL_EXTERNAL_MODULE",
		"DENO_DIR",
		"NPM_CONFIG_*",
		"YARN_*",
		"BUN_*",
		"PYTHONSTARTUP",
		"PYTHONHOME",
		"PYTHONUSERBASE",         /* python: usercustomize.py there is run */
		"PYTEST_ADDOPTS",         /* pytest: -p loads a module */
		"PYTEST_PLUGINS",         /* pytest: modules */
		"PYTHONWARNINGS",         /* python: imports what a category names */
		"COVERAGE_PROCESS_START", /* coverage.py: settings name plugins */
		"GUNICORN_CMD_ARGS",      /* gunicorn: --config is a program */
		"CLOUDSDK_PYTHON*",       /* gcloud */
		"CLOUDSDK_CONFIG",
		"CONDA_*",         /* conda: CONDA_EXE is run by its shell functions */
		"PRE_COMMIT_HOME", /* pre-commit: hooks are run from there */
		"RBENV_*",         /* rbenv: RBENV_HOOK_PATH */
		"NVM_DIR",         /* shells run nvm.sh there */
		"SDKMAN_DIR",      /* the same of sdkman */
		"PYTHONBREAKPOINT",
		"PYTHONINSPECT",
		"PYTHONPYCACHEPREFIX",
		"PYTHONEXECUTABLE",
		"PYTHONPLATLIBDIR",
		"PIP_*",
		"UV_*",
		"PERL5*",
		"PERLLIB",
		"RUBYOPT",
		"RUBYLIB",
		"GEM_HOME",
		"GEM_PATH",
		"GEMRC",
		"BUNDLE_*",
		"JAVA_TOOL_OPTIONS",
		"_JAVA_OPTIONS",
		"JDK_*",
		"JAVA_HOME",
		"MAVEN_*",
		"GRADLE_*",
		"SBT_OPTS", /* sbt: -javaagent */
		"ANT_*",    /* ant: the same, and where it is */
		"LEIN_*",
		"CARGO*",
		"RUST*",
		"GOFLAGS",
		"GOENV",
		"GOROOT",
		"GOPROXY",
		"GOSUMDB",
		"GONOSUM*",
		"GOAUTH", /* go: a command */
		"GOCACHEPROG",
		"GOTOOLCHAIN", /* go: another go, from the PATH */
		"PKG_CONFIG",  /* configure, make */
		"CONFIG_SITE", /* configure sources it */
		"CONFIG_SHELL",
		"M4", /* autoconf; and what follows: autoreconf */
		"AUTOCONF",
		"AUTOHEADER",
		"AUTOM4TE",
		"AUTOMAKE",
		"AUTOPOINT",
		"ACLOCAL",
		"LIBTOOLIZE",
		"TEXMF*",       /* tex: settings that let it run programs, and its packages */
		"PULUMI_HOME",  /* pulumi: plugins are run from there */
		"KREW_ROOT",    /* kubectl: the same */
		"OSH",          /* shells run oh-my-bash.sh there */
		"VSCODE_GIT_*", /* what git asks for passwords by, in an editor's terminal */
		"AR",           /* make */
		"LD",           /* make */
		"BAZEL_SH",     /* bazel */
		"JAVA_OPTS",    /* start scripts of java programs: the same */
		"CORECLR_*",    /* .NET: a profiler is loaded */
		"COMPLUS_*",    /* .NET */
		"COR_*",        /* .NET */
		"CMAKE_*",      /* cmake: launchers are run, scripts included */
		"ASAN_*",       /* programs built with a sanitizer: run at a fault */
		"LSAN_*",
		"MSAN_*",
		"TSAN_*",
		"UBSAN_*",
		"LLVM_SYMBOLIZER_PATH",
		"VALGRIND_*", /* valgrind: its tools, and --db-command */
		"LIBGL_*",    /* programs that draw: drivers are loaded */
		"VK_ADD_*",   /* VK_ADD_LAYER_PATH, VK_ADD_DRIVER_FILES; and others below */
		"VK_IMPLICIT_*",
		"LIBVA_DRIVERS_PATH",
		"VDPAU_DRIVER_PATH",
		"GIO_*", /* GLib: modules */
		"CC",
		"CXX",
		"MAKEFLAGS",
		"MAKEFILES",
		"GNUMAKEFLAGS",
		"GCC_*",
		"COMPILER_PATH",
		"CCACHE_*",
		"TAR_OPTIONS",
		"RSYNC_*",
		"SVN_SSH",
		"SVN_EDITOR", /* svn */
		"CVS_RSH",
		"HG*",
		"JJ_*",
		"P4*",
		"SUDO_*",
		"KUBE_EDITOR",
		"K9S_EDITOR",
		"SOPS_EDITOR",
		"GLAB_PAGER",
		"JULIA_LOAD_PATH", /* julia: what is loaded; and what follows */
		"JULIA_DEPOT_PATH",
		"JULIA_PROJECT",
		"JULIA_BINDIR",
		"JULIA_EDITOR",
		"BAT_*",       /* bat: BAT_PAGER; BAT_CONFIG_PATH can name one */
		"DELTA_PAGER", /* delta */
		"GH_PAGER",    /* gh; and what follows */
		"GH_EDITOR",
		"GH_BROWSER",
		"GH_PATH",
		"GH_CONFIG_DIR",
		"GLAB_CONFIG_DIR",
		"HOMEBREW_*",              /* brew: HOMEBREW_EDITOR, HOMEBREW_BROWSER */
		"HELM_PLUGINS",            /* helm */
		"APT_CONFIG",              /* apt: hooks */
		"AUTOSSH_PATH",            /* autossh */
		"WATCHEXEC_SHELL",         /* watchexec */
		"PASSWORD_STORE_*",        /* pass: extensions are run */
		"NNN_*",                   /* nnn: NNN_OPENER, NNN_PLUG */
		"FFF_*",                   /* fff: FFF_OPENER */
		"LESSEDIT",                /* less */
		"MAILCAPS",                /* mail programs: viewers */
		"MODULE_PATH",             /* zsh: what zmodload loads */
		"MYVIMRC",                 /* vim */
		"GVIMINIT",                /* vim */
		"TIG_SCRIPT",              /* tig */
		"HISTEDIT",                /* the same, older */
		"RIPGREP_CONFIG_PATH",     /* rg: --pre runs a program */
		"ACKRC",                   /* ack: --pager */
		"SCREENRC",                /* screen: exec */
		"WGETRC",                  /* wget: use_askpass */
		"CURL_HOME",               /* curl: its settings are there */
		"TIGRC_*",                 /* tig: key bindings run commands */
		"ANSIBLE_*",               /* ansible: settings name plugins and scripts */
		"VAGRANT_*",               /* vagrant: VAGRANT_VAGRANTFILE is a ruby program */
		"TF_CLI_*",                /* terraform: settings name programs, and arguments */
		"TF_PLUGIN_*",             /* terraform: programs */
		"TERRAFORM_CONFIG",        /* terraform: the older name */
		"BORG_*",                  /* borg: BORG_PASSCOMMAND, BORG_RSH */
		"RESTIC_PASSWORD_COMMAND", /* restic */
		"RCLONE_*",                /* rclone: RCLONE_PASSWORD_COMMAND, and settings */
		"SYSTEMD_*",
		"AWS_PAGER",
		"PSQL*",
		"PGSERVICEFILE",
		"FZF_*",
		"LUA_*",
		"R_PROFILE*",
		"R_ENVIRON*",
		"ERL_*",
		"ELIXIR_*",
		"PHPRC",
		"PHP_INI_*",
		"COMPOSER_HOME",
		"TCLLIBPATH",
		"GUILE_*",
		"DOTNET_*",
		"OPENSSL_*",
		"GTK_*",
		"QT_*",
		"GDK_PIXBUF_*",
		"GST_PLUGIN*",
		"VK_LAYER*",
		"VK_ICD*",
		"VK_DRIVER*",
		"OCL_ICD*",
		"CUDA_INJECTION*",
		"OMP_TOOL*",
		"MAGICK_*",
		"ALSA_CONFIG*",
		"DBUS_*",
		"KRB5*",
		"ODBC*",
		"PYENV_*",
		"NODENV_*",
		"SDKMAN_*",
		"VOLTA_*",
		"NVM_*",
		"FNM_*",
		"PNPM_*",
		"PROTO_*",
		"COREPACK_*",
		"STARSHIP_*",
		"JUPYTER_*",
		"IPYTHON*",
		"LEFTHOOK*",
		"PRE_COMMIT*",
		"PREK_*",
		"OVERCOMMIT_*",
		"HK_*",
		"LG_CONFIG_FILE",
		"NIX_*",
		"GNUPGHOME",
		"EXINIT",
		"LESSKEY*",
		"NULLCMD",
		"READNULLCMD",
		"RPS1",
		"RPS2",
		"SPROMPT",
		"DOCKER_HOST",
		"DOCKER_CONFIG",
		"DOCKER_CONTEXT",
		"DOCKER_CERT_PATH",
		"DOCKER_TLS*",
		"DOCKER_CLI_*",
		"BUILDKIT_HOST",
		"BUILDX_CONFIG",
		"COMPOSE_FILE",
		"KUBECONFIG",
		"AWS_CONFIG_FILE",
		"AWS_SHARED_CREDENTIALS_FILE",
		"AZURE_CONFIG_DIR",
		"AZURE_EXTENSION_DIR",
		"CLOUDSDK_CONFIG",
		"CLOUDSDK_PYTHON*",
		"GOOGLE_EXTERNAL_ACCOUNT_*",
		"HELM_*",
		"CLAUDE_*",
		"CODEX_*",
		"GEMINI_*",
		"OPENCODE_*",
		"AIDER_*",
		"GOOSE_*",
		"CRUSH_*",
		"COPILOT_HOME",
		"OPENCLAW_*",
		"HERMES_HOME",
		"SANDBASH*",
		"QWEN_*",
		"AMP_*",
		"KILO_*",
		"CLINE_*",
		"COPILOT_ALLOW_ALL",
		"HERMES_YOLO",
		"PI_CODING_AGENT_DIR",
		"SANDBOX", /* Gemini CLI and Qwen Code: whether, and how, they confine themselves */
		"SANDBOX_*",
		"BUILD_SANDBOX",
		"SEATBELT_PROFILE",
		"RANDOM", /* numbers of bash and zsh: what is assigned is evaluated; and what follows */
		"SRANDOM",
		"OPTIND",
		"SECONDS",
		"LINENO",
		"EPOCH*",
		"LINES",
		"COLUMNS",
		"SHLVL",
		"SAVEHIST",
		"KEYTIMEOUT",
		"LISTMAX",
		"LOGCHECK",
		"MAILCHECK",
		"PERIOD",
		"TMOUT",
		"TTYIDLE",
		"UID",
		"EUID",
		"GID",
		"EGID",
		"ERRNO",
		"FUNCNEST",
		"TRY_BLOCK_*",
		"PROMPT_EOL_MARK", /* zsh expands it; and what follows */
		"POWERLEVEL9K_*",
		"MAILPATH", /* shells expand what is said about new mail */
		"MAKE",
		"LIBTOOL",
		"VIRTUALENVWRAPPER_*",
		"SDL_DYNAMIC_API", /* a library that is loaded; and what follows */
		"SASL_PATH",
		"LADSPA_PATH",
		"USE_BAZEL_VERSION", /* bazelisk: which program it fetches */
		"TERMINFO*",
		"MALLOC_TRACE", /* files that are written: and what follows */
		"DEPENDENCIES_OUTPUT",
		"SUNPRO_DEPENDENCIES",
		"GMON_OUT_PREFIX",
		"ZSH*",
		"PRECMD*",
		"PREEXEC*",
		"CHPWD*",
		"PERIODIC*",
		"DIRENV_*",
		"AUTOENV_*",
		"MISE_*",
		"ASDF_*",
		"HIST*",
		"INPUTRC",
		"EMACS*",
		"VIM*",
		"NVIM*",
	};

	return is_listed(names, sizeof names / sizeof names[0], name, length) ||
	       ends_as_if_run(name, length);
}

/* These run nothing, but lead an agent, or everybody, to another machine, or let one be believed. */
static bool leads_away(const char *name, size_t length)
{
	static const char *const names[] = {
		"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL",
		"OPENAI_API_BASE",    "GOOGLE_GEMINI_BASE_URL",
		"HTTP_PROXY",         "HTTPS_PROXY",
		"ALL_PROXY",          "SSL_CERT_FILE",
		"SSL_CERT_DIR",       "REQUESTS_CA_BUNDLE",
		"CURL_CA_BUNDLE",     "NODE_EXTRA_CA_CERTS",
		"AWS_CA_BUNDLE",      "NODE_TLS_REJECT_UNAUTHORIZED",
		"SSLKEYLOGFILE",      "PYTHONHTTPSVERIFY",
	};

	return is_listed(names, sizeof names / sizeof names[0], name, length);
}

static size_t name_length(const char *text, size_t length)
{
	size_t end = 0;

	if (length && !isdigit((unsigned char)text[0]))
		while (end < length && (isalnum((unsigned char)text[end]) || text[end] == '_'))
			end++;
	return end;
}

/* "$NAME" or "${NAME}": how long.  0: something else. */
static size_t expansion_length(const char *text, size_t length)
{
	size_t brace = length > 1 && text[1] == '{', name;

	name = length > 1 + brace ? name_length(text + 1 + brace, length - 1 - brace) : 0;
	if (!name || (brace && (2 + name >= length || text[2 + name] != '}')))
		return 0;
	return 1 + name + 2 * brace;
}

/*
 * Where interpreters look for modules.  Editors have people write PYTHONPATH=src, and the project's
 * directories hold what the command may write in any case; told is what leads somewhere else.
 */
static bool is_search_path(const char *name, size_t length)
{
	static const char *const names[] = {"PYTHONPATH", "NODE_PATH", "CLASSPATH",      "GEM_PATH",
					    "GEM_HOME",   "R_LIBS*",   "GUILE_LOAD_PATH"};

	return is_listed(names, sizeof names / sizeof names[0], name, length);
}

/* "$PWD", "${workspaceFolder}", and what the variable was before: no other place. */
static bool stays(const char *text, size_t length, const char *name, size_t width)
{
	static const char *const known[] = {"PWD", "workspaceFolder"};
	size_t brace = length > 1 && text[1] == '{',
	       end = name_length(text + 1 + brace, length - 1 - brace);

	text += 1 + brace;
	return is_listed(known, sizeof known / sizeof known[0], text, end) ||
	       (end == width && strncasecmp(text, name, width) == 0);
}

/* Does some entry of a list of paths lead out of the directory that it is meant for? */
static bool leaves(const char *text, size_t length, const char *name, size_t width)
{
	bool begins = true; /* a component does */
	bool first = true;  /* and it is the first of its entry */

	for (size_t i = 0; i < length; i++) {
		char c = text[i];

		if (c == '"' || c == '\'')
			continue;
		if (first && (c == '/' || c == '~'))
			return true;
		if (c == '$' && !stays(text + i, length - i, name, width))
			return true;
		if (begins && length - i > 1 && c == '.' && text[i + 1] == '.')
			return true;
		first = c == ':';
		begins = first || c == '/';
	}
	return false;
}

/* One word as every reader takes it; *at moves behind it.  False: there is more in it. */
static bool take_value(const char *text, size_t length, size_t *at)
{
	char quote = '\0';

	for (; *at < length; (*at)++) {
		char c = text[*at];

		/*
		 * Not even in single quotes: a shell that takes the variable for a number (bash's
		 * RANDOM, one that the user has declared so) evaluates the value, and runs what
		 * stands in a subscript, a[$(x)].
		 */
		if (c == '`' || (c == '$' && *at + 1 < length && text[*at + 1] == '('))
			return false;
		/* nor one that ends a value, or a part of it: D='$' and X="${D}(x)" make the same */
		if (c == '$' && (*at + 1 == length || strchr("'\"", text[*at + 1])))
			return false;
		if (quote ? c == quote : c == '"' || c == '\'') {
			quote = quote ? '\0' : c;
		} else if (c == '$' && quote != '\'') {
			size_t step = expansion_length(text + *at, length - *at);

			if (!step)
				return false;
			*at += step - 1;
		} else if (quote != '\'' && (c == '\\' || (!quote && strchr(";&|<>()", c)))) {
			return false;
		} else if (!quote && (c == ' ' || c == '\t')) {
			return true;
		}
	}
	return !quote;
}

static void skip_blanks(const char *text, size_t length, size_t *at)
{
	while (*at < length && (text[*at] == ' ' || text[*at] == '\t'))
		(*at)++;
}

/* Quotes, brackets, a backslash, a here-document: does the line end where it ends? */
static enum sb_dotenv runs(const char *line, size_t length)
{
	unsigned quotes = 0, doubles = 0, backs = 0;
	int depth = 0;

	for (size_t i = 0; i < length; i++) {
		quotes += line[i] == '\'';
		doubles += line[i] == '"';
		backs += line[i] == '`';
		depth += line[i] == '(' || line[i] == '{';
		depth -= line[i] == ')' || line[i] == '}';
		if (line[i] == '<' && i + 1 < length && line[i + 1] == '<')
			return SB_DOTENV_OPEN;
	}
	if (quotes % 2 || doubles % 2 || backs % 2 || depth || (length && line[length - 1] == '\\'))
		return SB_DOTENV_OPEN;
	return SB_DOTENV_RUNS;
}

/* BROWSER=none: what a template of many web projects says, so that no browser opens. */
static bool is_none(const char *name, size_t width, const char *value, size_t length)
{
	return width == 7 && strncasecmp(name, "BROWSER", 7) == 0 && length >= 4 &&
	       memcmp(value, "none", 4) == 0 && (length == 4 || value[4] == ' ');
}

enum sb_dotenv sb_dotenv_line(const char *line, size_t length)
{
	static const char export[] = "export";
	const size_t word = sizeof export - 1;
	const char *name, *value;
	size_t at = 0, width, end;

	skip_blanks(line, length, &at);
	if (at == length || line[at] == '#')
		return SB_DOTENV_PLAIN;
	if (length - at > word && memcmp(line + at, export, word) == 0 &&
	    (line[at + word] == ' ' || line[at + word] == '\t')) {
		at += word;
		skip_blanks(line, length, &at);
	}
	name = line + at;
	width = name_length(name, length - at);
	at += width;
	if (!width || at == length || line[at] != '=')
		return runs(line, length);
	value = line + ++at;
	if (steers(name, width) && !is_daily(name, width) &&
	    !is_none(name, width, value, length - at))
		return runs(line, length);
	if (!take_value(line, length, &at))
		return runs(line, length);
	end = at;
	skip_blanks(line, length, &at);
	if (at < length && line[at] != '#')
		return runs(line, length);
	if (is_search_path(name, width) && leaves(value, (size_t)(line + end - value), name, width))
		return SB_DOTENV_TOLD;
	return leads_away(name, width) ? SB_DOTENV_TOLD : SB_DOTENV_PLAIN;
}
