/*
 * guarded.c - the guard's table for scripts.
 *
 *     guarded table         the rows as the table of docs/guarded.md
 *     guarded git           the files of a git directory as the table of docs/git.md
 *     guarded system        what the machine obeys, as that table
 *     guarded told          those that are told and not asked about, as that table
 *     guarded content ROOT [OLD PATH]...   may PATH's bytes replace OLD's there unasked, with ROOT
 *                           the only guarded directory?  "plain" or "ask", and why; OLD may be missing
 *     guarded judge         reads absolute paths, one a line, directories with a slash behind them;
 *                           says "plain", "check" or "ask" and the pattern, for making them
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard/guard.h"
#include "path/path.h"

static int print_table(void)
{
	size_t count;
	const struct sb_guard_row *rows = sb_guard_rows(&count);

	printf("| name | obeyed by | what it does | harmless there |\n| --- | --- | --- | --- |\n");
	for (size_t i = 0; i < count; i++) {
		const char *harmless = sb_guard_harmless(rows[i].kind);

		printf("| `%s%s` | %s | %s | %s |\n", rows[i].flags & SB_GUARD_IN_HOME ? "~/" : "",
		       rows[i].pattern, rows[i].who, rows[i].why, harmless ? harmless : "-");
	}
	return 0;
}

static int print_git(void)
{
	size_t count;
	const struct sb_guard_row *rows = sb_guard_git_rows(&count);

	printf("| file | read by | what it is | lands unasked |\n| --- | --- | --- | --- |\n");
	for (size_t i = 0; i < count; i++) {
		const char *harmless = sb_guard_harmless(rows[i].kind);

		printf("| `%s` | %s | %s | %s |\n", rows[i].pattern, rows[i].who, rows[i].why,
		       harmless ? harmless : "-");
	}
	return 0;
}

static int print_system(void)
{
	size_t count;
	const struct sb_guard_row *rows = sb_guard_system_rows(&count);

	printf("| of the machine | obeyed by | what it does |\n| --- | --- | --- |\n");
	for (size_t i = 0; i < count; i++)
		printf("| `%s` | %s | %s |\n", rows[i].pattern, rows[i].who, rows[i].why);
	return 0;
}

static int print_told(void)
{
	const struct sb_told_row *row;

	printf("| told, not asked about | who follows it |\n| --- | --- |\n");
	for (size_t i = 0; (row = sb_guard_told_row(i)); i++)
		printf("| `%s` | %s |\n", row->pattern, row->who);
	return 0;
}

static bool within(void *context, const char *path)
{
	return sb_path_within(context, path);
}

static char *slurp(const char *path, size_t *out_length)
{
	FILE *stream = fopen(path, "rb");
	char *bytes = stream ? malloc(SB_GUARD_MAX_INDEX + 1) : NULL;

	if (bytes)
		*out_length = fread(bytes, 1, SB_GUARD_MAX_INDEX + 1, stream);
	if (stream)
		fclose(stream);
	return bytes;
}

static int check_content(char *root, const char *old_path, const char *path)
{
	struct sb_guard_options options = {
		.size = sizeof options, .in_guarded_root = within, .context = root};
	struct sb_guard_place place = {.directory = -1, .path = path};
	struct sb_guard_bytes before = {0}, after = {0};
	struct sb_guard_answer answer;
	struct sb_guard *guard;
	char why[(SB_GUARD_LINES + 1) * SB_GUARD_DETAIL] = "";

	before.bytes = slurp(old_path, &before.length);
	after.bytes = slurp(path, &after.length);
	if (!after.bytes || sb_guard_new(&options, &guard, NULL) != SB_OK)
		return 1;
	sb_guard_judge(guard, SB_GUARD_WRITE, &place, &answer);
	if (answer.verdict == SB_GUARD_CHECK)
		answer.verdict = sb_guard_content(
			guard, &(struct sb_guard_landing){answer.kind, path, before, after}, why,
			sizeof why);
	printf("%s %s\n", answer.verdict == SB_GUARD_PLAIN ? "plain" : "ask", why);
	sb_guard_free(guard);
	free((char *)before.bytes);
	free((char *)after.bytes);
	return 0;
}

static bool everywhere(void *context, const char *path)
{
	(void)context;
	(void)path;
	return true;
}

static int judge_lines(void)
{
	static const char *const words[] = {"plain", "check", "ask"};
	struct sb_guard_options options = {.size = sizeof options, .in_guarded_root = everywhere};
	struct sb_guard *guard;
	char line[8192];

	if (sb_guard_new(&options, &guard, NULL) != SB_OK)
		return 1;
	while (fgets(line, sizeof line, stdin)) {
		struct sb_guard_place place = {.path = line};
		struct sb_guard_answer answer;
		char directory[8192];
		bool is_directory;

		line[strcspn(line, "\n")] = '\0';
		is_directory = line[0] && line[strlen(line) - 1] == '/';
		if (is_directory)
			line[strlen(line) - 1] = '\0';
		memcpy(directory, line, sizeof directory);
		if (!strrchr(directory, '/'))
			return 1;
		*strrchr(directory, '/') = '\0';
		place.name = strrchr(line, '/') + 1;
		place.directory = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
		sb_guard_judge(guard, is_directory ? SB_GUARD_MKDIR : SB_GUARD_WRITE, &place,
			       &answer);
		printf("%s %s\n", words[answer.verdict], answer.row ? answer.row->pattern : "-");
		if (place.directory >= 0)
			close(place.directory);
	}
	sb_guard_free(guard);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "table") == 0)
		return print_table();
	if (argc == 2 && strcmp(argv[1], "git") == 0)
		return print_git();
	if (argc == 2 && strcmp(argv[1], "system") == 0)
		return print_system();
	if (argc == 2 && strcmp(argv[1], "told") == 0)
		return print_told();
	if (argc == 2 && strcmp(argv[1], "judge") == 0)
		return judge_lines();
	if (argc >= 5 && argc % 2 && strcmp(argv[1], "content") == 0) {
		for (int i = 3; i < argc; i += 2)
			if (check_content(argv[2], argv[i], argv[i + 1]) != 0)
				return 1;
		return 0;
	}
	fprintf(stderr, "usage: guarded table|git|told|judge|content ROOT [OLD PATH]...\n");
	return 2;
}
