#include "guard/git_todo.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static bool is_among(const char *const *words, size_t count, const char *word, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0)
			return true;
	return false;
}

/* Another core.commentChar makes '#' lines commands that git does not know, none that it runs. */
enum sb_git_step sb_git_step_of(const char *line, size_t length)
{
	static const char *const steps[] = {
		"pick",  "p", "reword", "r",     "edit",  "e",      "squash",     "s",
		"fixup", "f", "drop",   "d",     "label", "l",      "reset",      "t",
		"merge", "m", "noop",   "break", "b",     "revert", "update-ref", "u"};
	static const char *const runs[] = {"exec", "x"};
	size_t start = 0, end;

	while (start < length && (line[start] == ' ' || line[start] == '\t'))
		start++;
	if (start == length || line[start] == '#')
		return SB_GIT_STEP_PLAIN;
	for (end = start; end < length && line[end] != ' ' && line[end] != '\t'; end++)
		;
	if (is_among(steps, COUNT(steps), line + start, end - start))
		return SB_GIT_STEP_PLAIN;
	return is_among(runs, COUNT(runs), line + start, end - start) ? SB_GIT_STEP_RUNS
								      : SB_GIT_STEP_ODD;
}

bool sb_git_todo_is_of_rebase(const char *path)
{
	static const char ending[] = "/rebase-merge/git-rebase-todo";
	size_t length = strlen(path);

	return length >= sizeof ending - 1 &&
	       strcmp(path + length - (sizeof ending - 1), ending) == 0;
}
