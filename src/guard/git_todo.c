#include "guard/git_forms.h"

#include <string.h>

#include "base/words.h"

/* Another core.commentChar makes '#' lines commands that git does not know, none that it runs. */
enum sb_git_step sb_git_step_of(const char *line, size_t length)
{
	static const char steps[] =
		"pick p reword r edit e squash s fixup f drop d label l reset t "
		"merge m noop break b revert update-ref u";
	size_t start = 0, end;

	while (start < length && (line[start] == ' ' || line[start] == '\t'))
		start++;
	if (start == length || line[start] == '#')
		return SB_GIT_STEP_PLAIN;
	for (end = start; end < length && line[end] != ' ' && line[end] != '\t'; end++)
		;
	if (sb_words_have(steps, line + start, end - start))
		return SB_GIT_STEP_PLAIN;
	return sb_words_have("exec x", line + start, end - start) ? SB_GIT_STEP_RUNS
								  : SB_GIT_STEP_ODD;
}

bool sb_git_todo_is_of_rebase(const char *path)
{
	static const char ending[] = "/rebase-merge/git-rebase-todo";
	size_t length = strlen(path);

	return length >= sizeof ending - 1 &&
	       strcmp(path + length - (sizeof ending - 1), ending) == 0;
}
