/*
 * edit - replace a text in a file as an agent's tool would, and show what changed.
 *
 *     cc edit.c $(pkg-config --cflags --libs sandbash) -o edit
 *     ./edit README.md 'old words' 'new words'
 *
 * A file outside the project, or one that a program outside would run later, is a question; here a
 * person at the terminal answers it.
 */
#include <stdio.h>
#include <string.h>

#include <sandbash/sandbox.h>

static enum sb_files_answer ask(void *context, const struct sb_files_question *question)
{
	char answer[16] = "";

	(void)context;
	printf("%s '%s': %s. Allow? [y/N] ", sb_op_name(question->op), question->path,
	       question->reason);
	fflush(stdout);
	if (!fgets(answer, sizeof answer, stdin))
		return SB_FILES_ANSWER_NOBODY;
	return answer[0] == 'y' ? SB_FILES_ANSWER_YES : SB_FILES_ANSWER_NO;
}

static int edit(struct sb_files *view, char **words)
{
	const struct sb_files_edit one = {
		.old_text = words[1],
		.old_length = strlen(words[1]),
		.new_text = words[2],
		.new_length = strlen(words[2]),
		.occurrence = SB_FILES_THE_ONLY,
	};
	const struct sb_files_edit_request request = {
		.size = sizeof request, .path = words[0], .edits = &one, .edit_count = 1};
	static struct sb_files_change change; /* with room for a path; large */
	static struct sb_files_error why;

	if (sb_files_edit(view, NULL, &request, &change, &why) != 0) {
		fprintf(stderr, "edit: %s\n", why.person);
		return 1;
	}
	fputs(change.diff ? change.diff : "not a text: no difference to show\n", stdout);
	sb_files_change_done(&change);
	return 0;
}

int main(int argc, char **argv)
{
	const struct sb_files_options options = {.size = sizeof options, .consent = ask};
	struct sb_sandbox *sandbox;
	struct sb_files *view;
	struct sb_error err;
	int status;

	if (argc != 4) {
		fputs("usage: edit FILE OLD NEW\n", stderr);
		return 2;
	}
	if (sb_sandbox_open(NULL, &sandbox, &err) != SB_OK ||
	    sb_sandbox_files(sandbox, &options, &view, &err) != SB_OK) {
		fprintf(stderr, "edit: %s\n", err.message);
		return 1;
	}
	status = edit(view, argv + 1);
	sb_files_close(view);
	sb_sandbox_close(sandbox);
	return status;
}
