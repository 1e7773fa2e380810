/*
 * SECURITY: what is obeyed outside because the environment says so, whatever it is called: programs that are run by
 * name, editors, pagers, start-up files, settings, agents' own directories.
 *
 * Danger: it lies in a project, or where an answer opens the directory around it, and the guard knows names alone.
 * Price: who has a project's bin on the PATH, or a file of it as EDITOR, is asked about changes there.
 * Held by: tests/cli/environment.py, tests/cli/variables.py
 */
#include "config/variables.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/each.h"
#include "base/words.h"
#include "guard/git_keys.h"
#include "path/path.h"

#define MAX_PATH_PARTS 128 /* of a PATH as much as fits */
#define MAX_OBEYED 512
#define MAX_GIT_KEYS 64
#define MAX_NAME 64

/*
 * Files, or commands: whole paths among their words count.  Not what builds read all day (CC), no search paths of
 * languages (PYTHONPATH, PERL5LIB, RUBYLIB, NODE_PATH, LUA_PATH, CLASSPATH, LD_LIBRARY_PATH, PYTHONHOME,
 * PYTHONUSERBASE, EMACSLOADPATH, TCLLIBPATH, R_LIBS_USER, GUILE_LOAD_PATH, ERL_LIBS), nor of plugins and drivers that
 * builds leave somewhere (GST_PLUGIN_PATH, QT_PLUGIN_PATH, LADSPA_PATH, LV2_PATH, VST3_PATH, VK_LAYER_PATH,
 * LIBVA_DRIVERS_PATH): who has PYTHONPATH=$PWD/src works on the code there all day, would be asked about each file of
 * it, and if each run said so, would soon not read what runs say.  docs/security.md says what follows;
 * sitecustomize.py, which no project imports by itself, is told at the end of a run (guard/told.c).
 * Arrays, as no page of them has to be relocated when the program starts.
 */
static const char commands[][48] = {
	/* shells, and what every program loads */
	"BASH_ENV", "ENV", "INPUTRC", "SHELL", "PROMPT_COMMAND", "PS0", "PS1", "LD_PRELOAD",
	"LD_AUDIT", "EDITRC", "CONFIG_SHELL", "DIRENV_BASH", "SYSSCREENRC", "ZELLIJ_CONFIG_FILE",
	"FZF_DEFAULT_OPTS", "FZF_CTRL_T_COMMAND", "FZF_CTRL_T_OPTS", "FZF_CTRL_R_OPTS",
	"FZF_ALT_C_COMMAND", "FZF_ALT_C_OPTS", "_ZO_FZF_OPTS", "SKIM_DEFAULT_COMMAND",
	"SKIM_DEFAULT_OPTIONS",
	/* editors, pagers, what shows or opens files */
	"EDITOR", "VISUAL", "FCEDIT", "SUDO_EDITOR", "HGEDITOR", "SVN_EDITOR", "GH_EDITOR",
	"KUBE_EDITOR", "SYSTEMD_EDITOR", "MYVIMRC", "VIMINIT", "EXINIT", "GVIMINIT", "PAGER",
	"MANPAGER", "GH_PAGER", "SYSTEMD_PAGER", "BAT_PAGER", "DELTA_PAGER", "AWS_PAGER",
	"PSQL_PAGER", "LESSOPEN", "LESSCLOSE", "LESSKEY", "LESSKEYIN", "LESSKEY_SYSTEM",
	"LESSKEYIN_SYSTEM", "LESSEDIT", "LESSGLOBALTAGS", "BROWSER", "GH_BROWSER", "TERMINAL",
	"TERMCMD", "OPENER", "NNN_OPENER", "FFF_OPENER", "ALTERNATE_EDITOR", "PSQL_EDITOR",
	"BUNDLER_EDITOR", "GEM_EDITOR", "HOMEBREW_EDITOR", "JULIA_EDITOR", "TEXEDIT",
	"PERLDOC_PAGER", "RI_PAGER", "QUILT_PAGER", "DPKG_PAGER", "NVIM_RPLUGIN_MANIFEST",
	"GTAGSCONF", "PYLINTRC", "CHROME_PATH", "CHROME_BIN", "PUPPETEER_EXECUTABLE_PATH",
	"CYPRESS_RUN_BINARY",
	/* version control, other machines, root */
	"GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_SSH", "GIT_SSH_COMMAND",
	"GIT_ASKPASS", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "HGRCPATH", "SVN_SSH", "CVS_RSH",
	"RSYNC_RSH", "SSH_ASKPASS", "SUDO_ASKPASS", "TIGRC_USER", "LG_CONFIG_FILE", "HGMERGE",
	"CHGHG", "SVN_MERGE", "CVSEDITOR", "P4EDITOR", "P4MERGE", "P4DIFF", "P4PAGER", "P4ENVIRO",
	"BRZ_EDITOR", "BZR_EDITOR", "BRZ_SSH", "BZR_SSH", "DARCS_EDITOR", "DARCS_PAGER",
	"DARCS_SSH", "JJ_EDITOR", "JJ_CONFIG", "MERGE", "DIFFPROG", "KUBECTL_EXTERNAL_DIFF",
	"LEFTHOOK_BIN", "LEFTHOOK_CONFIG", "GCM_UI_HELPER", "SSH_SK_PROVIDER", "SSH_SK_HELPER",
	"SSH_PKCS11_HELPER", "RSYNC_CONNECT_PROG", "BORG_RSH", "BORG_PASSCOMMAND",
	"RESTIC_PASSWORD_COMMAND", "RCLONE_PASSWORD_COMMAND", "ANSIBLE_VAULT_PASSWORD_FILE",
	/* interpreters, packages, builds */
	"PYTHONSTARTUP", "NODE_OPTIONS", "NPM_CONFIG_USERCONFIG", "npm_config_userconfig",
	"NPM_CONFIG_GLOBALCONFIG", "npm_config_globalconfig", "PIP_CONFIG_FILE", "UV_CONFIG_FILE",
	"GEMRC", "GOENV", "R_PROFILE", "R_PROFILE_USER", "R_ENVIRON_USER", "RUSTC_WRAPPER",
	"RUSTC_WORKSPACE_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER", "CONFIG_SITE", "MAKEFILES",
	"PERL5DB", "DOTNET_STARTUP_HOOKS", "CORECLR_PROFILER_PATH", "CABAL_CONFIG",
	"MISE_GLOBAL_CONFIG_FILE", "CLOUDSDK_PYTHON", "OPENSSL_CONF", "GTK_MODULES",
	"NODE_REPL_EXTERNAL_MODULE", "npm_config_script_shell", "NPM_CONFIG_SCRIPT_SHELL",
	"npm_config_git", "NPM_CONFIG_GIT", "npm_config_node_gyp", "npm_config_init_module",
	"YARN_YARN_PATH", "YARN_PLUGINS", "CONDARC", "MAMBARC", "PDM_CONFIG_FILE",
	"ASDF_CONFIG_FILE", "BUNDLE_USER_CONFIG", "IRBRC", "RUBY_DEBUG_INIT_SCRIPT", "R_ENVIRON",
	"R_BROWSER", "R_MAKEVARS_USER", "R_MAKEVARS_SITE", "LUAROCKS_CONFIG", "PSYSH_CONFIG",
	"WP_CLI_CONFIG_PATH", "MIX_REBAR3", "JULIA_SHELL", "SAGE_STARTUP_FILE", "IDL_STARTUP",
	"OCTAVE_SITE_INITFILE", "OCTAVE_VERSION_INITFILE", "BC_ENV_ARGS", "DC_ENV_ARGS", "RUSTC",
	"RUSTDOC", "RUSTFMT", "CARGO_BUILD_RUSTC", "CARGO_BUILD_RUSTDOC",
	"CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER", "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER",
	"CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "GOPACKAGESDRIVER", "GOCACHEPROG",
	"GOAUTH", "CCACHE_PREFIX", "CCACHE_PREFIX_CPP", "CCACHE_COMPILER", "CCACHE_CONFIGPATH",
	"SCCACHE_CONF", "CMAKE_TOOLCHAIN_FILE", "CMAKE_C_COMPILER_LAUNCHER",
	"CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_C_LINKER_LAUNCHER", "CMAKE_CXX_LINKER_LAUNCHER",
	"USE_BAZEL_VERSION", "JAVACMD", "LEIN_JAVA_CMD", "DOTNET_ADDITIONAL_DEPS",
	"CORECLR_PROFILER_PATH_64", "MSBUILD_EXE_PATH", "NUGET_PLUGIN_PATHS", "PERF_CONFIG",
	"LLDB_DEBUGSERVER_PATH", "PACMAN", "MAKEPKG_CONF", "SBUILD_CONFIG", "APT_CONFIG",
	"NIX_USER_CONF_FILES", "NIXPKGS_CONFIG", "NIX_PAGER", "LATEXMKRCSYS", "DVIPSRC",
	"GTK3_MODULES", "GTK2_RC_FILES", "GTK_IM_MODULE_FILE", "GDK_PIXBUF_MODULE_FILE",
	"GIO_LAUNCH_DESKTOP", "VK_DRIVER_FILES", "VK_ICD_FILENAMES",
	"__EGL_VENDOR_LIBRARY_FILENAMES", "ALSA_CONFIG_PATH", "KRB5_CONFIG",
	/* settings of others that name programs */
	"RIPGREP_CONFIG_PATH", "BAT_CONFIG_PATH", "STARSHIP_CONFIG", "WEZTERM_CONFIG_FILE",
	"SCREENRC", "XINITRC", "MAILCAPS", "FZF_DEFAULT_OPTS_FILE", "FZF_DEFAULT_COMMAND", "WGETRC",
	"PSQLRC", "ANSIBLE_CONFIG", "KUBECONFIG", "AWS_CONFIG_FILE", "TF_CLI_CONFIG_FILE",
	"AWS_SHARED_CREDENTIALS_FILE", "BOTO_CONFIG", "KUBERC", "TERRAGRUNT_TFPATH", "TG_TF_PATH",
	"PACKER_CONFIG", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "SYSTEM_WGETRC", "WGET2RC",
	"LYNX_CFG", "MAILRC", "NOTMUCH_CONFIG", "TASKRC", "TODOTXT_CFG_FILE", "NBRC_PATH", "ACKRC",
	"ODBCINI", "ODBCINSTINI",
	/* agents */
	"OPENCODE_CONFIG", "CLAUDE_ENV_FILE", "CLAUDE_CODE_SHELL", "CLAUDE_CODE_SHELL_PREFIX",
	"AMP_SETTINGS_FILE", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"};

/* Options among others ("X=-r"): only the path behind this text is run, and -Dx=/y is no program. */
static const struct {
	char variable[20], before[32];
} options[] = {
	{"RUBYOPT", "-r"},
	{"LUA_INIT", "@"},
	{"LUA_INIT_5_2", "@"},
	{"LUA_INIT_5_3", "@"},
	{"LUA_INIT_5_4", "@"},
	{"GOFLAGS", "-toolexec="},
	{"JAVA_TOOL_OPTIONS", "-javaagent:"},
	{"JAVA_TOOL_OPTIONS", "-agentpath:"},
	{"JDK_JAVA_OPTIONS", "-javaagent:"},
	{"_JAVA_OPTIONS", "-javaagent:"},
	{"MAVEN_OPTS", "-javaagent:"},
	{"GRADLE_OPTS", "-javaagent:"},
	{"JDK_JAVA_OPTIONS", "-agentpath:"},
	{"_JAVA_OPTIONS", "-agentpath:"},
	{"JAVA_OPTS", "-javaagent:"},
	{"SBT_OPTS", "-javaagent:"},
	{"ANT_OPTS", "-javaagent:"},
	{"MAVEN_ARGS", "-Dmaven.ext.class.path="},
	{"MAVEN_OPTS", "-Dmaven.ext.class.path="},
	{"BUN_OPTIONS", "--preload"},
	{"BUN_OPTIONS", "--preload="},
	{"RUSTFLAGS", "linker="},
	{"TAR_OPTIONS", "--to-command="},
	{"TAR_OPTIONS", "-program="},
	{"TAR_OPTIONS", "exec="},
	{"TAR_OPTIONS", "-script="},
	{"ERL_FLAGS", "-config "},
	{"ERL_AFLAGS", "-config "},
	{"ERL_ZFLAGS", "-config "},
	{"ERL_FLAGS", "-boot "},
	{"ERL_AFLAGS", "-boot "},
	{"ERL_ZFLAGS", "-boot "},
	{"ELIXIR_ERL_OPTIONS", "-config "},
};

/* Directories of which all is obeyed. */
static const char directories[][32] = {
	"GOBIN", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "ZDOTDIR", "ZSH", "ZSH_CUSTOM", "OSH",
	"BASH_IT", "NVM_DIR", "PYENV_ROOT", "RBENV_ROOT", "SDKMAN_DIR", "RUSTUP_HOME",
	"JUPYTER_CONFIG_DIR", "DIRENV_CONFIG", "MISE_CONFIG_DIR", "KITTY_CONFIG_DIRECTORY",
	"PRE_COMMIT_HOME", "PI_CODING_AGENT_DIR",
	/* plugins, settings and start-up files */
	"GH_CONFIG_DIR", "HELM_PLUGINS", "KREW_ROOT", "PHP_INI_SCAN_DIR", "VIMRUNTIME",
	"VSCODE_PORTABLE", "FPATH", "ASDF_DIR", "GCONV_PATH", "GIO_MODULE_DIR", "OPENSSL_MODULES",
	"OPENSSL_ENGINES", "VIM", "DOOMDIR", "SPACEMACSDIR", "ZELLIJ_CONFIG_DIR",
	"WEZTERM_CONFIG_DIR", "TMUX_PLUGIN_MANAGER_PATH", "BYOBU_CONFIG_DIR", "LF_CONFIG_HOME",
	"YAZI_CONFIG_HOME", "BAT_CONFIG_DIR", "BROOT_CONFIG_DIR", "ROFI_PLUGIN_PATH",
	"XMONAD_CONFIG_DIR", "KAKOUNE_CONFIG_DIR", "MICRO_CONFIG_HOME", "OMF_PATH", "OMF_CONFIG",
	"GLAB_CONFIG_DIR", "BZR_PLUGIN_PATH", "BRZ_PLUGIN_PATH", "POETRY_CONFIG_DIR",
	"HTTPIE_CONFIG_DIR", "CLJ_CONFIG", "LEIN_HOME", "MAXIMA_USERDIR", "RAKE_SYSTEM",
	"MIX_ARCHIVES", "JUPYTER_CONFIG_PATH", "PYENV_HOOK_PATH", "RBENV_HOOK_PATH",
	"NODENV_HOOK_PATH", "GOENV_HOOK_PATH", "PERLBREW_ROOT", "AZURE_EXTENSION_DIR",
	"PACKER_CONFIG_DIR", "PACKER_PLUGIN_PATH", "NIX_CONF_DIR", "RPM_CONFIGDIR", "TEXMFCNF",
	"ELINKS_CONFDIR", "WP_CLI_PACKAGES_DIR", "SQLPATH", "ORACLE_PATH", "ODBCSYSINI",
	"LIBMYSQL_PLUGIN_DIR", "GTK_PATH", "GDK_PIXBUF_MODULEDIR", "GIO_EXTRA_MODULES",
	"QT_QPA_PLATFORM_PLUGIN_PATH", "MAGICK_CODER_MODULE_PATH", "MAGICK_FILTER_MODULE_PATH",
	"ALSA_PLUGIN_DIR", "SASL_PATH",
	/* managers of versions, and hooks of theirs */
	"NODENV_ROOT", "GOENV_ROOT", "JENV_ROOT", "PLENV_ROOT", "PHPENV_ROOT", "LUAENV_ROOT",
	"SWIFTENV_ROOT", "CRENV_ROOT", "EXENV_ROOT", "SCALAENV_ROOT", "JLENV_ROOT", "TFENV_ROOT",
	"TFENV_CONFIG_DIR", "TOFUENV_ROOT", "ASDF_DATA_DIR", "MISE_DATA_DIR", "PROTO_HOME",
	"FNM_DIR", "DVM_DIR", "JABBA_HOME", "GVM_ROOT", "RYE_HOME", "ELAN_HOME", "AQUA_ROOT_DIR",
	"PREK_HOME",
	/* programs that runners have fetched; not what a profile puts into a project's cache */
	"COREPACK_HOME", "UV_TOOL_DIR", "UV_TOOL_BIN_DIR", "UV_PYTHON_INSTALL_DIR", "PIPX_HOME",
	"PIPX_BIN_DIR", "XDG_BIN_HOME",
	/* the tools themselves */
	"DOTNET_ROOT", "VALGRIND_LIB", "PERF_EXEC_PATH", "GROFF_BIN_PATH"};

/* And those of which some is. */
static const struct {
	char variable[24], beneath[72];
} parts[] = {
	{"GOPATH", "bin"},
	{"CARGO_HOME", "bin config config.toml env"},
	{"GEM_HOME", "bin"},
	{"PNPM_HOME", "bin"},
	{"BUN_INSTALL", "bin"},
	{"VOLTA_HOME", "bin tools"},
	{"DOCKER_CONFIG", "config.json cli-plugins contexts"},
	{"IPYTHONDIR", "profile_default/startup profile_default/ipython_config.py extensions"},
	{"GOOSE_PATH_ROOT", "config"},
	{"COMPOSER_HOME", "config.json composer.json vendor"},
	{"MYSQL_HOME", "my.cnf"},
	{"PHPRC", "php.ini"},
	{"JULIA_DEPOT_PATH", "config"},
	{"npm_config_prefix", "etc"},
	{"NPM_CONFIG_PREFIX", "etc"},
	{"MIX_HOME", "archives escripts"},
	{"OPAMROOT", "opam-init"},
	{"STACK_ROOT", "config.yaml hooks"},
	{"MAGICK_CONFIGURE_PATH", "delegates.xml"},
	{"GRADLE_USER_HOME", "init.gradle init.gradle.kts init.d gradle.properties"},
	{"VAGRANT_HOME", "Vagrantfile"},
	/* by the table, too, but for a static run */
	{"XDG_CACHE_HOME", "pre-commit prek node/corepack"},
	{"PUB_CACHE", "bin"},
	{"FOUNDRY_DIR", "bin"},
	{"GOROOT", "bin pkg/tool"},
	{"JAVA_HOME", "bin lib"},
	{"GRAALVM_HOME", "bin lib"},
	{"MAVEN_HOME", "bin boot conf lib"},
	{"M2_HOME", "bin boot conf lib"},
	{"GRADLE_HOME", "bin lib init.d"},
	{"ANT_HOME", "bin etc lib"},
	{"HELM_DATA_HOME", "plugins"},
	{"PULUMI_HOME", "bin plugins"},
	{"PIXI_HOME", "bin"},
	{"N_PREFIX", "bin"},
	{"TASKDATA", "hooks"},
	{"TIMEWARRIORDB", "extensions"},
	{"JUPYTER_DATA_DIR", "kernels labextensions nbextensions"},
	{"JUPYTER_PATH", "kernels labextensions nbextensions"},
};

struct obeyed {
	const char *paths[MAX_OBEYED + 1];
	size_t count;
};

/* Is it known, or in a directory of programs that is?  (Not in any: one around the project counts for nothing.) */
static bool is_known(const struct obeyed *to, const char *path)
{
	for (size_t i = 0; i < to->count; i++) {
		const char *one = to->paths[i];

		if (strcmp(one, path) == 0 ||
		    ((strcmp(one, "/usr/bin") == 0 || strcmp(one, "/bin") == 0) &&
		     sb_path_within(one, path)))
			return true;
	}
	return false;
}

/* Takes path, which may be NULL. */
static void add(struct obeyed *to, char *path)
{
	if (!path || *path != '/' || to->count == MAX_OBEYED || sb_text_begins(path, "/dev/") ||
	    sb_text_begins(path, "/proc/") || is_known(to, path))
		free(path);
	else
		to->paths[to->count++] = path;
}

/* "/x/my editor" is a whole path, "|/x/y %s" and "vim -u /x/y" have one in them. */
static void add_words(struct obeyed *to, const char *value)
{
	static const char between[] = " \t\n:;,|&()<>\"'`=";

	add(to, strdup(value));
	if (!value[strcspn(value, between)])
		return;
	for (const char *at = value; *at; at += strspn(at, between)) {
		size_t length = strcspn(at, between);

		if (*at == '/')
			add(to, strndup(at, length));
		at += length;
	}
}

static void add_commands(struct obeyed *to, sb_variable *variable)
{
	for (size_t i = 0; i < SB_COUNT(commands); i++) {
		const char *value = variable(commands[i]);

		if (value && strchr(value, '/'))
			add_words(to, value);
	}
}

static void add_options(struct obeyed *to, sb_variable *variable)
{
	for (size_t i = 0; i < SB_COUNT(options); i++) {
		const char *found = variable(options[i].variable), *before = options[i].before;

		while (found && (found = strstr(found, before))) {
			found += strlen(before);
			found += strspn(found, " \"'");
			if (*found == '/')
				add(to, strndup(found, strcspn(found, " \t\n=,;\"'")));
		}
	}
}

/* The name in each directory of a list, which it is itself if the name is empty; most have one. */
static void add_beneath(struct obeyed *to, const char *list, const char *name, size_t length)
{
	for (; *list; list += *list == ':') {
		size_t width = strcspn(list, ":");
		char *path;

		if (*list == '/' && asprintf(&path, "%.*s%s%.*s", (int)width, list,
					     length ? "/" : "", (int)length, name) > 0)
			add(to, path);
		list += width;
	}
}

static void add_directories(struct obeyed *to, sb_variable *variable)
{
	size_t count, length;
	const struct sb_moved *moved = sb_moved_places(&count);
	const char *value;

	for (size_t i = 0; i < SB_COUNT(directories); i++)
		if ((value = variable(directories[i])))
			add_beneath(to, value, "", 0);
	for (size_t i = 0; i < SB_COUNT(parts); i++) {
		const char *words = parts[i].beneath;

		value = variable(parts[i].variable);
		for (const char *word; value && (word = sb_words_next(&words, &length));)
			add_beneath(to, value, word, length);
	}
	for (size_t i = 0; i < count; i++) {
		char usual[sizeof moved->usual + 1];

		value = moved[i].agent ? variable(moved[i].variable) : NULL;
		if (!value || *value != '/')
			continue;
		snprintf(usual, sizeof usual, "/%s", moved[i].usual);
		/* called so it is guarded by its name, but for state */
		if (!sb_text_ends(value, usual))
			add(to, strdup(value));
	}
}

/* Settings of git's that are variables themselves: GIT_CONFIG_COUNT, git-config(1). */
static void add_git(struct obeyed *to, sb_variable *variable)
{
	const char *count = variable("GIT_CONFIG_COUNT");
	long keys = count ? strtol(count, NULL, 10) : 0;

	for (long i = 0; i < keys && i < MAX_GIT_KEYS; i++) {
		char name[MAX_NAME];
		SB_AUTO_FREE char *key = NULL;
		const char *value;

		snprintf(name, sizeof name, "GIT_CONFIG_KEY_%ld", i);
		value = variable(name);
		key = value ? strdup(value) : NULL;
		for (char *at = key; at && *at; at++)
			*at = (char)tolower((unsigned char)*at);
		snprintf(name, sizeof name, "GIT_CONFIG_VALUE_%ld", i);
		value = variable(name);
		if (key && value && !sb_git_key_is_text(key) &&
		    sb_git_key_judge(key, value) == SB_KEY_ASK)
			add_words(to, value);
	}
}

/* Not those of an environment that is in use: pip and npm write there all day. */
static bool is_of_tools(sb_variable *variable, const char *directory)
{
	static const char *const names[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *value = variable(names[i]);
		size_t length = value ? strlen(value) : 0;

		if (length && strncmp(directory, value, length) == 0 &&
		    strcmp(directory + length, "/bin") == 0)
			return true;
	}
	return sb_text_ends(directory, "/node_modules/.bin");
}

static void add_path(struct obeyed *to, sb_variable *variable)
{
	const char *at = variable("PATH");

	for (; at && *at && to->count < MAX_PATH_PARTS; at += *at == ':') {
		size_t length = strcspn(at, ":");
		char *one = *at == '/' ? strndup(at, length) : NULL;

		at += length;
		if (one && is_of_tools(variable, one)) {
			free(one);
			one = NULL;
		}
		add(to, one);
	}
}

const char *const *sb_obeyed_by(sb_variable *variable)
{
	static struct obeyed all;

	while (all.count)
		free((char *)all.paths[--all.count]);
	add_path(&all, variable);
	add_directories(&all, variable);
	add_commands(&all, variable);
	add_options(&all, variable);
	add_git(&all, variable);
	all.paths[all.count] = NULL;
	return all.paths;
}
