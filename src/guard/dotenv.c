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

/* Whoever sets these has a program of its choice run, or another's settings read. */
static bool steers(const char *name, size_t length)
{
	static const char *const names[] = {
		"LD_*",
		"DYLD_*",
		"GCONV_PATH",
		"PATH",
		"FPATH",
		"CDPATH",
		"IFS",
		"ENV",
		"BASH_*",
		"SHELLOPTS",
		"PROMPT*",
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
		"BROWSER",
		"LESSOPEN",
		"LESSCLOSE",
		"GIT_*",
		"SSH_*",
		"GPG_*",
		"NODE_OPTIONS",
		"NPM_CONFIG_*",
		"YARN_*",
		"BUN_*",
		"PYTHONSTARTUP",
		"PYTHONHOME",
		"PYTHONBREAKPOINT",
		"PYTHONINSPECT",
		"PIP_*",
		"UV_*",
		"PERL5*",
		"PERLLIB",
		"RUBYOPT",
		"RUBYLIB",
		"BUNDLE_*",
		"JAVA_TOOL_OPTIONS",
		"_JAVA_OPTIONS",
		"JDK_*",
		"JAVA_HOME",
		"MAVEN_*",
		"GRADLE_*",
		"CARGO*",
		"RUST*",
		"GOFLAGS",
		"GOENV",
		"GOROOT",
		"GOPROXY",
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
		"CVS_RSH",
		"HG*",
		"JJ_*",
		"SUDO_*",
		"KUBE_EDITOR",
		"BAT_PAGER",
		"GH_PAGER",
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
		"DOTNET_*",
		"OPENSSL_*",
		"GTK_*",
		"QT_*",
		"PYENV_*",
		"STARSHIP_*",
		"JUPYTER_*",
		"IPYTHON*",
		"LEFTHOOK*",
		"LG_CONFIG_FILE",
		"NIX_*",
		"GNUPGHOME",
		"EXINIT",
		"LESSKEY*",
		"NULLCMD",
		"READNULLCMD",
		"RPS*",
		"SPROMPT",
		"DOCKER_*",
		"COMPOSE_FILE",
		"KUBECONFIG",
		"AWS_CONFIG_FILE",
		"CLAUDE_*",
		"CODEX_*",
		"GEMINI_*",
		"OPENCODE_*",
		"AIDER_*",
		"SANDBASH*",
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

	return is_listed(names, sizeof names / sizeof names[0], name, length);
}

/* These run nothing, but lead an agent, or everybody, to another machine. */
static bool leads_away(const char *name, size_t length)
{
	static const char *const names[] = {
		"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL",
		"OPENAI_API_BASE",    "GOOGLE_GEMINI_BASE_URL",
		"HTTP_PROXY",         "HTTPS_PROXY",
		"ALL_PROXY",
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

enum sb_dotenv sb_dotenv_line(const char *line, size_t length)
{
	static const char export[] = "export";
	const size_t word = sizeof export - 1;
	const char *name;
	size_t at = 0, width;

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
	if (!width || at == length || line[at] != '=' || steers(name, width))
		return runs(line, length);
	at++;
	if (!take_value(line, length, &at))
		return runs(line, length);
	skip_blanks(line, length, &at);
	if (at < length && line[at] != '#')
		return runs(line, length);
	return leads_away(name, width) ? SB_DOTENV_TOLD : SB_DOTENV_PLAIN;
}
