/*
 * act.c - one call of the file tools, as a program that can be killed.
 *
 *     files-act PROJECT write|edit|read NAME [TEXT]      edit replaces "old" by TEXT
 *     files-act PROJECT check NAME COUNT                 nanoseconds per validation, and per
 *                                                        read and write
 *
 * Exit status: 0, or the code of the error with its sentence on stderr.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policy/text.h"
#include "sandbash/files.h"

static struct sb_files *open_view(const char *project, struct sb_files_error *err)
{
	const char *roots[] = {project, NULL};
	struct sb_rule rule = {
		.access = sb_access_write, .pattern = project, .origin = "the project"};
	struct sb_policy *policy = sb_policy_new();
	struct sb_files *view = NULL;

	sb_policy_set(policy, SB_SETTING_MODE, SB_MODE_WORKSPACE_WRITE);
	if (sb_policy_add(policy, &rule, NULL) != SB_OK || sb_policy_seal(policy, NULL) != SB_OK ||
	    sb_files_open(policy, roots, NULL, &view, err) != 0)
		return NULL;
	return view;
}

static int do_write(struct sb_files *view, const char *name, const char *text,
		    struct sb_files_error *err)
{
	struct sb_files_write_request request = {
		.size = sizeof request, .path = name, .data = text, .length = strlen(text)};
	struct sb_files_change change;
	int status = sb_files_write(view, NULL, &request, &change, err);

	if (status == 0)
		sb_files_change_done(&change);
	return status;
}

static int do_edit(struct sb_files *view, const char *name, const char *text,
		   struct sb_files_error *err)
{
	struct sb_files_edit edit = {
		.old_text = "old", .old_length = 3, .new_text = text, .new_length = strlen(text)};
	struct sb_files_edit_request request = {
		.size = sizeof request, .path = name, .edits = &edit, .edit_count = 1};
	struct sb_files_change change;
	int status = sb_files_edit(view, NULL, &request, &change, err);

	if (status == 0)
		sb_files_change_done(&change);
	return status;
}

static int do_read(struct sb_files *view, const char *name, bool print, struct sb_files_error *err)
{
	struct sb_files_read_request request = {.size = sizeof request, .path = name};
	struct sb_files_text text;
	int status = sb_files_read(view, NULL, &request, &text, err);

	if (status == 0) {
		if (print)
			fwrite(text.data, 1, text.length, stdout);
		sb_files_text_done(&text);
	}
	return status;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int measure(struct sb_files *view, const char *name, int count, struct sb_files_error *err)
{
	enum sb_verdict verdict;
	bool checked;
	double start = now();
	char text[32];
	int status = 0;

	for (int i = 0; i < count && status == 0; i++)
		status = sb_files_check(view, SB_READ, name, &verdict, &checked, err);
	printf("validate %.0f\n", (now() - start) / count);
	start = now();
	for (int i = 0; i < count && status == 0; i++)
		status = do_read(view, name, false, err);
	printf("read %.0f\n", (now() - start) / count);
	start = now();
	for (int i = 0; i < count && status == 0; i++) {
		snprintf(text, sizeof text, "%d\n", i);
		status = do_write(view, name, text, err);
	}
	printf("write %.0f\n", (now() - start) / count);
	return status;
}

int main(int argc, char **argv)
{
	struct sb_files_error err = {0};
	struct sb_files *view = argc >= 4 ? open_view(argv[1], &err) : NULL;
	const char *text = argc >= 5 ? argv[4] : "";
	int status = -1;

	if (!view) {
		fprintf(stderr, "files-act: %s\n", argc >= 4 ? err.person : "usage");
		return 2;
	}
	if (strcmp(argv[2], "write") == 0)
		status = do_write(view, argv[3], text, &err);
	else if (strcmp(argv[2], "edit") == 0)
		status = do_edit(view, argv[3], text, &err);
	else if (strcmp(argv[2], "read") == 0)
		status = do_read(view, argv[3], true, &err);
	else if (strcmp(argv[2], "check") == 0)
		status = measure(view, argv[3], (int)strtol(text, NULL, 10), &err);
	sb_files_close(view);
	if (status < 0)
		fprintf(stderr, "files-act: %s: %s\n", sb_files_code_name(err.code), err.person);
	return -status;
}
