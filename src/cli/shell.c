#include "cli/shell.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/words.h"
#include "cli/cli.h"
#include "config/file.h"
#include "path/path.h"

/*
 * Our start-up files lie beside the program: PREFIX/share/sandbash, or share/ of the
 * source tree for a program in build/.  /tmp is not looked at: a private one hides it.
 */
static char *share_file(const char *name)
{
	static const char *const places[] = {"../share/sandbash", "../share"};
	const char *program = sb_own_program();
	SB_AUTO_FREE char *directory = program ? sb_path_parent(program) : NULL;

	if (!directory || sb_path_within("/tmp", program))
		return NULL;
	for (size_t i = 0; i < 2; i++) {
		SB_AUTO_FREE char *place = sb_path_join(directory, places[i]);
		char *file = place ? sb_path_join(place, name) : NULL;

		if (file && access(file, R_OK) == 0)
			return file;
		free(file);
	}
	return NULL;
}

/*
 * A login bash reads no file that we could name, but takes PROMPT_COMMAND from the
 * environment; a start-up file that sets its own loses the mark.
 */
static int mark_login_bash(void)
{
	static const char mark[] =
		"case $PS1 in *'(sandbash)'*) ;; *) PS1=\"(sandbash) $PS1\" ;; esac";
	const char *old = getenv("PROMPT_COMMAND");
	SB_AUTO_BUF struct sb_buf both = SB_BUF(64 * 1024); /* a command of the user's, and ours */

	if (old && *old)
		sb_buf_printf(&both, "%s\n", old);
	sb_buf_puts(&both, mark);
	if (sb_buf_failed(&both))
		return SB_OK; /* a mark is not worth a failed start */
	return setenv("PROMPT_COMMAND", both.data, 1) == 0 ? SB_OK : SB_E_NOMEM;
}

static bool is_login(char *const *argv, size_t count)
{
	return count > 1 && strcmp(argv[1], "-i") != 0;
}

static int mark_bash(char **argv, size_t *count)
{
	char *file;

	if (is_login(argv, *count))
		return mark_login_bash();
	file = share_file("bashrc");
	if (!file)
		return SB_OK;
	/* long options must come before short ones in bash */
	memmove(argv + 3, argv + 1, (*count - 1) * sizeof *argv);
	argv[1] = "--rcfile";
	argv[2] = file;
	*count += 2;
	return SB_OK;
}

static int mark_zsh(char **argv, size_t *count)
{
	char *file = share_file("zsh/.zshenv");
	const char *old = getenv("ZDOTDIR");

	(void)argv;
	(void)count;
	if (!file)
		return SB_OK;
	*strrchr(file, '/') = '\0';
	if ((old && setenv("SANDBASH_ZDOTDIR", old, 1) != 0) || setenv("ZDOTDIR", file, 1) != 0)
		return SB_E_NOMEM;
	free(file);
	return SB_OK;
}

static int mark_fish(char **argv, size_t *count)
{
	char *file = share_file("prompt.fish");
	SB_AUTO_BUF struct sb_buf source = SB_BUF(3 * PATH_MAX);

	if (!file)
		return SB_OK;
	sb_buf_puts(&source, "source '");
	for (const char *c = file; *c; c++) {
		if (*c == '\'' || *c == '\\')
			sb_buf_putc(&source, '\\');
		sb_buf_putc(&source, *c);
	}
	sb_buf_putc(&source, '\'');
	free(file);
	argv[(*count)++] = "-C";
	argv[(*count)++] = sb_buf_take(&source);
	return argv[*count - 1] ? SB_OK : SB_E_NOMEM;
}

static const struct {
	const char *name;
	int (*mark)(char **argv, size_t *count);
} marked_shells[] = {{"bash", mark_bash}, {"zsh", mark_zsh}, {"fish", mark_fish}};

/* Would this shell show a prompt?  Only the plainest command lines are taken for it. */
static bool is_interactive(char *const *argv, size_t count)
{
	static const char *const plain[] = {"-l", "--login", "-i", "-il", "-li"};

	for (size_t i = 0; count == 2 && i < sizeof plain / sizeof plain[0]; i++)
		if (strcmp(argv[1], plain[i]) == 0)
			return i > 1 || (isatty(STDIN_FILENO) && isatty(STDERR_FILENO));
	return count == 1 && isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

int sb_shell_command(const struct sb_command_line *line, const struct sb_setup *setup, char ***out,
		     struct sb_error *err)
{
	const char *shell = line->shell ? line->shell : setup->shell ? setup->shell : "bash";
	size_t given = sb_list_count(line->command), count = !given || line->for_shell;
	char **argv = calloc(given + 5, sizeof *argv); /* shell, two words for the mark, NULL */

	if (!argv)
		return sb_no_memory(err);
	argv[0] = (char *)shell;
	memcpy(argv + count, line->command, given * sizeof *argv);
	count += given;
	for (size_t i = 0; i < sizeof marked_shells / sizeof marked_shells[0]; i++) {
		if (strcmp(sb_path_name(argv[0]), marked_shells[i].name) != 0 ||
		    !is_interactive(argv, count))
			continue;
		if (marked_shells[i].mark(argv, &count) != SB_OK) {
			free(argv);
			return sb_no_memory(err);
		}
	}
	*out = argv;
	return SB_OK;
}

/* A directory is none, though whoever may enter it has X_OK. */
static bool is_program(const char *path)
{
	struct stat info;

	return access(path, X_OK) == 0 && stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

char *sb_shell_find(const char *command)
{
	const char *path = getenv("PATH");

	if (strchr(command, '/'))
		return is_program(command) ? strdup(command) : NULL;
	while (path && *path) {
		size_t length = strcspn(path, ":");
		SB_AUTO_FREE char *dir = strndup(path, length);
		SB_AUTO_FREE char *candidate = dir && dir[0] ? sb_path_join(dir, command) : NULL;

		if (candidate && is_program(candidate))
			return sb_take_ptr(&candidate);
		path += length + (path[length] == ':');
	}
	return NULL;
}

static bool begins(const char *text, size_t length, const char *with)
{
	return length >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* Is there an alias command in this line that names "sandbash"? */
static bool has_alias(const char *line, size_t length)
{
	bool alias = false, command = true; /* may a command's name come next? */

	for (size_t i = 0; i < length; i++) {
		bool word = i == 0 || strchr(" \t;&|({", line[i - 1]);

		if (strchr(";&|({", line[i]))
			command = true;
		if (!word || strchr(" \t;&|({", line[i]))
			continue;
		if (line[i] == '#')
			return false;
		if (command)
			alias = begins(line + i, length - i, "alias ") ||
				begins(line + i, length - i, "alias\t");
		command = command && (begins(line + i, length - i, "then ") ||
				      begins(line + i, length - i, "else ") ||
				      begins(line + i, length - i, "do "));
		if (alias && (begins(line + i, length - i, "sandbash=") ||
			      (begins(line + i, length - i, "sandbash ") && i >= 6 &&
			       memcmp(line + i - 6, "alias ", 6) == 0))) /* fish: alias NAME BODY */
			return true;
	}
	return false;
}

/* Does this line of a start-up file give "sandbash" another meaning? */
static bool hides_us(const char *line, size_t length)
{
	static const char *const functions[] = {"sandbash()", "sandbash ()", "abbr -a sandbash "};
	static const char function[] = "function sandbash";

	if (has_alias(line, length))
		return true;
	while (length && (*line == ' ' || *line == '\t')) {
		line++;
		length--;
	}
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
		if (begins(line, length, functions[i]))
			return true;
	return begins(line, length, function) &&
	       (length == strlen(function) || strchr(" \t({;", line[strlen(function)]));
}

bool sb_shell_alias(const char *home, char *where, size_t size)
{
	static const char *const files[] = {
		".bashrc", ".bash_aliases", ".bash_profile", ".profile",
		".zshrc",  ".zshenv",       ".zprofile",     ".config/fish/config.fish"};

	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		SB_AUTO_FREE char *file = sb_path_join(home, files[i]);
		SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
		struct sb_text_lines line;
		size_t number = 0;
		bool found;

		if (!file || sb_config_read(file, &text, &found, NULL) != SB_OK)
			continue;
		line = sb_text_lines(text.data, text.length);
		while (sb_next_line(&line)) {
			number++;
			if (hides_us(line.text, line.length)) {
				snprintf(where, size, "%s line %zu", file, number);
				return true;
			}
		}
	}
	return false;
}
