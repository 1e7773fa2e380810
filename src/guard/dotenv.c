/*
 * .env: which lines are the same to everybody who reads it.
 *
 * SECURITY: a new line lands unasked only if it is blank, a comment, or one assignment of plain
 * characters, and holds none of $ ` \ anywhere: so nothing in it can be expanded, whatever a reader
 * takes for quotes or comments.
 *
 * Danger: there are dozens of readers, and what one takes for text another one runs.
 * Price: ${NAME}, escapes and several words without quotes ask, harmless as most of them are.
 * Held by: tests/cli/dotenv_readers.py
 */
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/escape.h"
#include "base/words.h"
#include "guard/dotenv.h"

#define NOTE '\n' /* for a quote: a comment, which ends with the line */
#define MAX_NAME 64

/* --- variables that programs obey -------------------------------------------------------------- */

/*
 * No list of them is whole, so names that end like a program, a hook or a place of settings count
 * as well, and of a tool that obeys many its whole family.  Case does not: zsh's path is PATH.
 */

/* patterns: words, each a name; a "*" before or behind stands for anything. */
static bool is_among(const char *patterns, const char *name, size_t length)
{
	for (const char *at = patterns; *at; at += strspn(at, " ")) {
		size_t width = strcspn(at, " ");
		const char *word = at;

		at += width;
		if (word[width - 1] == '*') {
			if (length >= width - 1 && strncasecmp(word, name, width - 1) == 0)
				return true;
		} else if (*word == '*') {
			if (length >= width - 1 &&
			    strncasecmp(word + 1, name + length - (width - 1), width - 1) == 0)
				return true;
		} else if (length == width && strncasecmp(word, name, width) == 0) {
			return true;
		}
	}
	return false;
}

/* Of the families below, and in the .env of many projects: these run and lead nothing. */
static const char daily_names[] =
	"RUST_LOG* RUST_BACKTRACE RUST_LIB_BACKTRACE CARGO_TERM_COLOR CARGO_INCREMENTAL "
	"GIT_SHA GIT_COMMIT GIT_COMMIT_SHA GIT_BRANCH GIT_TAG GIT_TOKEN SSH_HOST SSH_USER SSH_PORT "
	"DOTNET_ENVIRONMENT DOTNET_RUNNING_IN_CONTAINER GEMINI_API_KEY GEMINI_MODEL "
	"CLAUDE_API_KEY CLAUDE_MODEL QWEN_API_KEY QWEN_MODEL JUPYTER_TOKEN JUPYTER_PORT "
	"PYTHONPATH PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 "
	"PYTHONHASHSEED PYTHONFAULTHANDLER PYTHONHTTPSVERIFY PYTHON_ENV PYTHON_VERSION RUBY_VERSION "
	"JAVA_VERSION R_LIBS* COMPOSE_PROJECT_NAME COMPOSE_PROFILES";

static const char obeyed_names[] =
	/* the loader, libc, what every program reads */
	"LD_* DYLD_* GLIBC_TUNABLES GCONV_PATH LOCPATH NLSPATH TEXTDOMAIN* MALLOC_TRACE PATH HOME "
	"PWD OLDPWD TMP TEMP TMPDIR TEMPDIR SHELL XDG_* TERMINFO* TERMCAP TERMINAL DISPLAY XAUTHORITY "
	"GMON_OUT_PREFIX SYSTEMD_* DBUS_* PSMODULEPATH "
	/* shells: start-up files, prompts, what they run by themselves */
	"IFS ENV FPATH CDPATH BASH* SHELLOPTS PS0 PS1 PS2 PS3 PS4 PROMPT PROMPT2 PROMPT3 PROMPT4 "
	"PROMPT_COMMAND* RPROMPT* RPS1 RPS2 SPROMPT PROMPT_EOL_MARK ZDOTDIR ZSH* PRECMD* PREEXEC* "
	"CHPWD* PERIODIC* HIST* FCEDIT INPUTRC MAILPATH NULLCMD READNULLCMD MODULE_PATH YASH_* "
	"COMMAND_NOT_FOUND* FISH_* XONSH* XONTRIBS* OSH OSH_* STARSHIP_* POWERLEVEL9K_* P9K_* "
	"SPACESHIP_* ANTIGEN* ZPLUG* ZINIT* FZF_* DIRENV_* AUTOENV_* DOTENV_* TMOUT "
	/* editors, pagers, terminals, and what shows or opens files */
	"VISUAL LESS LESSOPEN LESSCLOSE LESSEDIT LESSKEY* LESSECHO EXINIT GVIMINIT MYVIMRC VIM* NVIM* "
	"EMACS* MAILCAPS BAT_* NNN_* FFF_* LF_* TMUX* STY SCREENDIR SCREENRC ZELLIJ_* KITTY_* WEZTERM_* "
	"MANPATH MANROFF* MANOPT MANSECT GROFF_* TROFF* NROFF* GS_LIB GNUPLOT* LYNX_* W3M_* ELINKS_* NOTMUCH_* MUTT* MC_* RANGER_* "
	"ZIPOPT UNZIP UNZIPOPT ZIPINFO* PARALLEL AWKPATH AWKLIBPATH XENVIRONMENT XAPPLRESDIR "
	"XFILESEARCHPATH XUSERFILESEARCHPATH XLOCALEDIR XKB* WINE* QEMU_* LLDB_* PERF_* STRACE_* "
	"RIPGREP_CONFIG_PATH ACKRC TASKRC TASKDATA QUILTRC *WGETRC NETRC MAILRC CURL_HOME TIG_SCRIPT TIGRC_* LG_CONFIG_FILE VSCODE_* "
	"ELECTRON_* GDB* PLAYWRIGHT_BROWSERS_PATH WERKZEUG_DEBUG_PIN "
	/* version control, and its hooks' managers */
	"GIT_* HG* JJ_* P4* SVN_* CVS_* LEFTHOOK* PRE_COMMIT* PREK_* OVERCOMMIT_* HK_* HUSKY* SKIP "
	"GH_EDITOR GH_BROWSER GH_PATH GH_CONFIG_DIR GH_HOST GLAB_* CVSROOT RSH "
	/* other machines, keys, copies, root */
	"SSH_* GPG_* GNUPGHOME PINENTRY* PASSWORD_STORE_* AUTOSSH_* RSYNC_* RCLONE_* BORG_* TAR_* "
	"SUDO_* KRB5* SASL_PATH OPENSSL_* APT_CONFIG HOMEBREW_* MAKEPKG_CONF PACMAN NIXPKGS_CONFIG "
	"LDAPRC LDAPCONF NSS_WRAPPER_* "
	/* interpreters and their packages */
	"NODE_OPTIONS NODE_REPL_* NODE_V8_COVERAGE NODE_REDIRECT_WARNINGS NODE_COMPILE_CACHE "
	"NODE_ICU_DATA TS_NODE_* DENO_* NPM_CONFIG_* YARN_* BUN_* PNPM_* COREPACK_* PYTHON* PYTEST_* "
	"COVERAGE_PROCESS_START GUNICORN_CMD_ARGS PIP_* PIPENV_* PIPX_* POETRY_* PDM_* HATCH_* UV_* "
	"CONDA_* MAMBA_* VIRTUAL_ENV* VIRTUALENV* IPYTHON* JUPYTER_* MPL* PYSPARK_* PERL* HARNESS_* RUBY* GEMRC "
	"GEM_PATH MATPLOTLIBRC IRBRC PRYRC CLJ_CONFIG PLTADDONDIR PLTCOLLECTS SAGE_* DOT_SAGE GPRC "
	"MAXIMA_* CONDARC "
	"BUNDLE_* PHPRC PHP_INI_* COMPOSER_HOME LUA_* R_* JULIA_LOAD_PATH JULIA_DEPOT_PATH "
	"JULIA_PROJECT JULIA_BINDIR TCLLIBPATH TCL_* TK_* EXPECT_* OCTAVE_* GUILE_* PYLINT* ERL_* ELIXIR_* MIX_EXS MIX_ARCHIVES REBAR* "
	"JAVA_* JAVACMD JDK_* MAVEN_* MVNW_* GRADLE_* SBT_* ANT_* LEIN_* IDEA_* DOTNET_* CORECLR_* COMPLUS_* "
	"COR_* OPAM* OCAML* GHC* CABAL_* STACK_YAML STACK_ROOT DART_* PUB_* FLUTTER_ROOT "
	"ANDROID_SDK_ROOT TORCH_EXTENSIONS_DIR "
	/* which version of them is run, and from where */
	"PYENV_* RBENV_* NODENV_* NVM_* FNM_* SDKMAN_* VOLTA_* PROTO_* MISE_* ASDF_* NIX_* GUIX_* "
	"DEVBOX_* DEVENV_* FLOX_* PLENV_* "
	/* compilers and builds */
	"CC CXX CPP LD AR AS NM FC F77 RANLIB STRIP OBJCOPY OBJDUMP YACC LEX M4 CC_* CXX_* HOSTCC "
	"GCC GXX CLANG OBJC OBJCXX VALAC RUSTC CYTHON WINDRES DLLTOOL BISON FLEX SWIG GPERF NASM YASM "
	"PROTOC DOXYGEN MSGFMT XGETTEXT SED AWK GAWK GREP INSTALL NINJA SAMU MESON CMAKE CTEST CPACK SCONS "
	"GIT NODE NPM NPX YARN PNPM BUN DENO GO CURL WGET TAR RSYNC SENDMAIL CHROME_PATH EDGE_PATH "
	"FIREFOX_PATH "
	"HOSTCXX GCC_* COMPILER_PATH CARGO* RUST* GOFLAGS GOENV GOROOT GOPATH GOBIN GOPROXY GOSUMDB "
	"GONO* GOINSECURE GOAUTH GOVCS GOWORK GOCACHEPROG GOPACKAGESDRIVER GOTOOLCHAIN CGO_* MAKE MAKEFLAGS MAKEFILES "
	"MFLAGS GNUMAKEFLAGS CMAKE_* CCACHE_* SCCACHE_* DISTCC* ICECC* PKG_CONFIG* CONFIG_SITE AUTOCONF "
	"AUTOHEADER AUTOM4TE AUTOMAKE AUTOPOINT ACLOCAL* LIBTOOL* BAZEL* USE_BAZEL_VERSION TEXMF* SHELL_ESCAPE* OPENOUT_ANY LATEXMKRC* "
	"CLANG_CONFIG_FILE_* LIBCLANG_PATH MSBUILD* NUGET_PLUGIN_PATHS MONO_PATH "
	"DEPENDENCIES_OUTPUT SUNPRO_DEPENDENCIES ASAN_* LSAN_* MSAN_* TSAN_* UBSAN_* VALGRIND_* "
	"LLVM_SYMBOLIZER_PATH "
	/* containers, clouds, what sets machines up */
	"DOCKER_HOST DOCKER_CONFIG DOCKER_CONTEXT DOCKER_CERT_PATH DOCKER_TLS* DOCKER_CLI_* BUILDKIT_* "
	"BUILDX_* COMPOSE_* CONTAINER_HOST CONTAINERS_* KUBECONFIG KUBECTL_* KREW_ROOT HELM_* "
	"AWS_SHARED_CREDENTIALS_FILE AWS_DATA_PATH AZURE_EXTENSION_DIR CLOUDSDK_* "
	"GOOGLE_EXTERNAL_ACCOUNT_* ANSIBLE_* VAGRANT_* TF_CLI_* TF_PLUGIN_* TF_DATA_DIR TF_REATTACH_PROVIDERS "
	"TERRAFORM_CONFIG TERRAGRUNT_* PACKER_* PSQL* PGSERVICEFILE PGSYSCONFDIR LIBMYSQL_* ODBC* "
	/* libraries that load others */
	"GTK_* GTK2_* GTK3_* GIO_* GI_TYPELIB_PATH GSETTINGS_* GDK_PIXBUF_* GST_PLUGIN* GST_REGISTRY* QT_* QML* KDE* LIBGL_* VK_ADD_* "
	"VK_IMPLICIT_* VK_LAYER* VK_INSTANCE_* VK_ICD* VK_DRIVER* VK_LOADER* "
	"LIBVA_DRIVERS_PATH VDPAU_DRIVER_PATH OCL_ICD* CUDA_INJECTION* OMP_TOOL* MAGICK_* ALSA_CONFIG* "
	"SDL_DYNAMIC_API LADSPA_PATH LV2_PATH VST_PATH DSSI_PATH FREI0R_PATH GBM_BACKENDS_PATH __EGL_* "
	"XR_RUNTIME_JSON PIPEWIRE_MODULE_DIR PULSE_CLIENTCONFIG QTWEBENGINE* CHROME_DEVEL_SANDBOX "
	"CHROMIUM_FLAGS SE_MANAGER_PATH "
	/* agents, and how they confine themselves */
	"CLAUDE_* CODEX_* GEMINI_* OPENCODE_* AIDER_* GOOSE_* CRUSH_* OPENCLAW_* QWEN_* AMP_* KILO_* "
	"CLINE_* CURSOR_* COPILOT_ALLOW_ALL HERMES_YOLO PI_CODING_AGENT_DIR SANDBASH* SANDBOX SANDBOX_* "
	"BUILD_SANDBOX SEATBELT_PROFILE "
	/* by their ends: programs, arguments that name some, hooks, places of settings and plugins */
	"*EDITOR *PAGER *BROWSER *ASKPASS *PASSCOMMAND *_COMMAND *_CMD *_SHELL *_SH *_RSH *_EXE "
	"*_EXECUTABLE *_EXECUTABLE_PATH *_BINARY *_BINARY_PATH *_BIN *_INTERPRETER *_WRAPPER *_LAUNCHER "
	"*_LINKER *_HOOK *_HOOKS *_HOOK_DIR *_PRELOAD *_STARTUP *_PLUGINS *_PLUGIN_PATH *_PLUGIN_DIR "
	"*_OPTS *_OPTIONS *_ADDOPTS *CFLAGS *CXXFLAGS *CPPFLAGS *LDFLAGS *FFLAGS *LIBRARY_PATH "
	"*_LOAD_PATH *_LIBRARY *_EXEC_PATH *_PROGRAM *_PROG *_LD *_RC *RCFILE *_CONF_DIR *_CONF_FILE *INJECTION64_PATH *HOME *_CONFIG_FILE *_CONFIG_DIR *_CONFIG_PATH "
	"*SETTINGS_PATH *_PROPERTIES *_JDK *HISTFILE *_HISTORY";

static const char leading_names[] =
	"ANTHROPIC_BASE_URL ANTHROPIC_BEDROCK_BASE_URL ANTHROPIC_VERTEX_BASE_URL *AI_BASE_URL "
	"*_API_BASE GOOGLE_GEMINI_BASE_URL OLLAMA_HOST HF_ENDPOINT AWS_ENDPOINT_URL* OTEL_EXPORTER* "
	"ANTHROPIC_CUSTOM_HEADERS LANGCHAIN_ENDPOINT LANGSMITH_ENDPOINT VAULT_ADDR TURBO_API SSLKEYLOGFILE HTTP_PROXY HTTPS_PROXY ALL_PROXY *_PROXY HOSTALIASES SSL_CERT_FILE SSL_CERT_DIR "
	"*_CA_BUNDLE NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED PYTHONHTTPSVERIFY";

/* Does a program that sees it run something else, load it, or take its settings from elsewhere? */
static bool steers(const char *name, size_t length)
{
	return is_among(obeyed_names, name, length) && !is_among(daily_names, name, length);
}

/* A number of bash, ksh or zsh: an assigned value is evaluated, and "ENV=5" in it assigns. */
static bool is_number(const char *name, size_t length)
{
	return is_among("RANDOM SRANDOM OPTIND SECONDS LINENO EPOCH* LINES COLUMNS SHLVL SAVEHIST "
			"KEYTIMEOUT LISTMAX LOGCHECK MAILCHECK PERIOD TTYIDLE UID EUID GID EGID "
			"ERRNO FUNCNEST TRY_BLOCK_*",
			name, length);
}

/* Where interpreters look for modules. */
static bool is_search_path(const char *name, size_t length)
{
	return is_among("PYTHONPATH NODE_PATH CLASSPATH *_CLASSPATH R_LIBS*", name, length);
}

/* --- a line ------------------------------------------------------------------------------------- */

struct text {
	const char *at, *end;
};

static bool is_one_of(const char *set, struct text text)
{
	return text.at < text.end && *text.at && strchr(set, *text.at);
}

static bool skip(struct text *text, const char *set)
{
	const char *begin = text->at;

	while (is_one_of(set, *text))
		text->at++;
	return text->at > begin;
}

static bool is_name_character(char c)
{
	return sb_is_letter(c) || sb_is_digit(c) || c == '_';
}

static size_t name_length(struct text text)
{
	const char *begin = text.at;

	if (text.at < text.end && *text.at >= '0' && *text.at <= '9')
		return 0;
	while (text.at < text.end && is_name_character(*text.at))
		text.at++;
	return (size_t)(text.at - begin);
}

/* How long is the character that stands for itself, whoever reads it?  0: it does not. */
static size_t plain_length(struct text text, char quote)
{
	if (is_name_character(*text.at) || is_one_of("./:@%+,=-?*", text))
		return 1;
	if (!quote || *text.at == quote || is_one_of("$`\\", text))
		return 0;
	return sb_utf8_plain(text.at, (size_t)(text.end - text.at));
}

/* "[optional]," matches one letter, and no "=" behind it; a bracket that is open matches itself. */
static bool bracket_is_plain(struct text word)
{
	struct text rest = {memchr(word.at, ']', (size_t)(word.end - word.at)), word.end};

	if (!rest.at)
		return true;
	rest.at++;
	return !memchr(word.at + 1, '[', (size_t)(word.end - word.at - 1)) &&
	       (rest.at == rest.end || is_one_of(",.:;)/}", rest)) &&
	       !memchr(rest.at, ']', (size_t)(rest.end - rest.at));
}

/*
 * SECURITY: "export $(cat .env | xargs)" takes every word of a comment and of a quoted value for a
 * name or an assignment, without quotes, and for a pattern of file names: of "PATH=bin", say.
 * Held by: tests/cli/dotenv_readers.py
 */
static bool word_is_plain(struct text word)
{
	char name[MAX_NAME];
	size_t length = 0;

	skip(&word, "'\"");
	while (word.at < word.end && is_name_character(*word.at)) {
		if (length == sizeof name)
			return false;
		name[length++] = *word.at++;
		skip(&word, "'\"");
	}
	if (!length && is_one_of("[", word))
		return bracket_is_plain(word);
	if (is_one_of("*[", word) || (is_one_of("?", word) && word.at + 1 < word.end))
		return false;
	skip(&word, "+'\""); /* "PATH+=:bin" */
	/* "what?" matches no more than "what=" */
	return !is_one_of("=?", word) || !steers(name, length);
}

/* All but the first. */
static bool words_are_plain(struct text text)
{
	while ((text.at = memchr(text.at, ' ', (size_t)(text.end - text.at)))) {
		const char *word = text.at + 1;
		const char *next = memchr(word, ' ', (size_t)(text.end - word));

		text.at = word;
		if (!word_is_plain((struct text){word, next ? next : text.end}))
			return false;
	}
	return true;
}

/* A comment that is not plain ends with its line, too, but for a backslash that takes in the next one. */
static enum sb_dotenv note_kind(struct text text)
{
	struct text rest = text;
	size_t step = 1;

	while (rest.at < rest.end && (step = plain_length(rest, NOTE)))
		rest.at += step;
	if (rest.at == rest.end && words_are_plain(text))
		return SB_DOTENV_PLAIN;
	return memchr(text.at, '\r', (size_t)(text.end - text.at)) || text.end[-1] == '\\'
		       ? SB_DOTENV_ODD
		       : SB_DOTENV_STAYS;
}

/* "$NAME", "${NAME}", "${NAME:-plain}": how long.  0: something else, or more than steering allows. */
static size_t reference_length(struct text text, bool steering)
{
	const char *begin = text.at++;
	bool brace = is_one_of("{", text);
	size_t name;

	text.at += brace;
	name = name_length(text);
	if (!name || (steering && !steers(text.at, name)))
		return 0;
	text.at += name;
	if (!brace)
		return (size_t)(text.at - begin);
	if (text.end - text.at > 2 && text.at[0] == ':' && text.at[1] == '-')
		while (text.at < text.end && plain_length(text, '\0'))
			text.at++;
	return is_one_of("}", text) ? (size_t)(text.at + 1 - begin) : 0;
}

/* "$(word word)": the same. */
static size_t command_length(struct text text)
{
	const char *begin = text.at;

	for (text.at += 2; text.at < text.end && (*text.at == ' ' || plain_length(text, '\0'));)
		text.at++;
	return is_one_of(")", text) ? (size_t)(text.at + 1 - begin) : 0;
}

static bool begins(struct text text, const char *with)
{
	size_t length = strlen(with);

	return (size_t)(text.end - text.at) >= length && memcmp(text.at, with, length) == 0;
}

/* What stands between "=" and a comment, and what is known of it. */
struct value {
	struct text text; /* what is left of it */
	char quote;
	bool steering, exported;
	bool stays, refers, holds; /* as in dotenv.h */
};

/* What is not plain, but ends in its line for sure: how long.  0: who knows. */
static size_t odd_length(struct value *value)
{
	struct text text = value->text, next = {text.at + 1, text.end};

	value->stays = true;
	if (value->quote == '\'' || (value->quote && begins(text, "\\$"))) {
		value->holds = true;
		return is_one_of("$`", text) ? 1 : 2 * (size_t)begins(text, "\\$");
	}
	if (begins(text, "$("))
		return command_length(text);
	if (*text.at == '$') {
		value->refers = true;
		/* some shells split what "export" is given */
		return value->exported && !value->quote ? 0
							: reference_length(text, value->steering);
	}
	if (value->quote) /* but what ends with \\ some readers end later */
		return *text.at == '\\' && is_one_of("nrt", next) ? 2 : 0;
	if (*text.at == '&') { /* ?a=b&c=d: a shell runs an assignment */
		next.at += name_length(next);
		return next.at > text.at + 1 && is_one_of("=", next);
	}
	if (*text.at == ' ') /* a shell runs the second word; zsh knows "if" there, but not "If" */
		return next.at < next.end && *next.at >= 'A' && *next.at <= 'Z';
	if (is_one_of("#!^[]{}~", text))
		return 1;
	return *text.at & 0x80 ? sb_utf8_plain(text.at, (size_t)(text.end - text.at)) : 0;
}

/*
 * Unquoted: zsh looks for the program in "=program", shells for files that match what they export,
 * and node 22 for the value in the next line if blanks follow the "=".
 */
static bool is_left_alone(struct text text, const char *end, bool exported)
{
	if (text.at == text.end)
		return text.end == end && !exported;
	for (char before = ':'; text.at < text.end; before = *text.at++)
		if ((before == ':' && *text.at == '=') || (exported && is_one_of("?*", text)))
			return false;
	return true;
}

static bool is_note_next(struct text text)
{
	return skip(&text, " \t") && (text.at == text.end || *text.at == '#');
}

/* value->text moves behind it. */
static enum sb_dotenv take_value(struct value *value)
{
	struct text *text = &value->text, all;

	value->quote = '\0';
	if (is_one_of("'\"", *text))
		value->quote = *text->at++;
	all = *text;
	while (text->at < text->end &&
	       (value->quote ? *text->at != value->quote : !is_note_next(*text))) {
		size_t step = plain_length(*text, value->quote);

		if (!step && !(step = odd_length(value)))
			return SB_DOTENV_ODD;
		text->at += step;
	}
	all.end = text->at;
	if (value->quote && text->at == text->end)
		return SB_DOTENV_ODD;
	text->at += value->quote != '\0';
	if (value->refers || value->holds)
		return !value->holds   ? SB_DOTENV_REFERS
		       : value->refers ? SB_DOTENV_ODD
				       : SB_DOTENV_HOLDS;
	if (value->stays || value->steering)
		return SB_DOTENV_STAYS;
	return (value->quote ? words_are_plain(all)
			     : is_left_alone(all, text->end, value->exported))
		       ? SB_DOTENV_PLAIN
		       : SB_DOTENV_STAYS;
}

/*
 * Does some entry of a list of directories lead out of the one that it is meant for?  Editors have
 * people write PYTHONPATH=src, and those hold what the command may write in any case.
 */
static bool leaves(struct text text)
{
	skip(&text, "'\"");
	for (char before = ':'; text.at < text.end; before = *text.at++) {
		if (before == ':' && is_one_of("/~", text))
			return true;
		if ((before == ':' || before == '/') && begins(text, ".."))
			return true;
	}
	return false;
}

/* BROWSER=none: what a template of many web projects says, so that no browser opens; UID=1000. */
static bool is_steered(struct text name, struct text text)
{
	size_t length = (size_t)(name.end - name.at);

	if (is_number(name.at, length))
		return !skip(&text, "0123456789") || (text.at < text.end && !is_note_next(text));
	if (length == 7 && begins(name, "BROWSER") && begins(text, "none")) {
		text.at += 4;
		return text.at < text.end && !is_note_next(text);
	}
	return steers(name.at, length);
}

enum sb_dotenv sb_dotenv_line(const char *line, size_t length)
{
	struct text text = {line, line + length}, name;
	struct value value = {0};
	enum sb_dotenv kind, note;

	skip(&text, " \t");
	if (text.at == text.end) /* node 20 makes blanks a part of the next name */
		return length ? SB_DOTENV_STAYS : SB_DOTENV_PLAIN;
	if (*text.at == '#')
		return note_kind(text);
	value.exported = begins(text, "export ") || begins(text, "export\t");
	text.at += value.exported ? strlen("export") : 0;
	skip(&text, " \t");
	name = (struct text){text.at, text.at + name_length(text)};
	text.at = name.end;
	if (name.at == name.end || !is_one_of("=", text))
		return SB_DOTENV_ODD;
	text.at++;
	value.text = text;
	value.steering = is_steered(name, text);
	kind = take_value(&value);
	text.end = value.text.at;
	if (value.text.at < value.text.end && !is_note_next(value.text))
		return SB_DOTENV_ODD;
	skip(&value.text, " \t");
	note = value.text.at < value.text.end ? note_kind(value.text) : SB_DOTENV_PLAIN;
	if (note > kind)
		return note;
	if (kind == SB_DOTENV_PLAIN &&
	    (is_among(leading_names, name.at, (size_t)(name.end - name.at)) ||
	     (is_search_path(name.at, (size_t)(name.end - name.at)) && leaves(text))))
		return SB_DOTENV_TOLD;
	return kind;
}
