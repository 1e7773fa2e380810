/*
 * search.c - one search of a tree, as bench/search times it beside other programs.
 *
 *     bench-search grep [-i] [-w] [-F] [-l] [-c] PATTERN DIRECTORY
 *     bench-search glob PATTERN DIRECTORY
 *
 * Prints what was found in the form of grep -n (path:line:text), or paths; ends with 0 when there
 * was something, 1 when not, 2 when it failed.  It measures the engine in a process of its own:
 * start, threads and output included, a policy's sight not.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "search/search.h"

static bool print_file(void *to, const struct sb_grep_file *file)
{
	const enum sb_grep_want *want = to;

	if (*want == SB_GREP_FILES) {
		puts(file->path);
	} else if (*want == SB_GREP_COUNTS) {
		printf("%s:%llu\n", file->path, (unsigned long long)file->matches);
	} else {
		for (size_t i = 0; i < file->line_count; i++) {
			printf("%s:%llu:", file->path, (unsigned long long)file->lines[i].number);
			fwrite(file->lines[i].text, 1, file->lines[i].length, stdout);
			putchar('\n');
		}
	}
	return true;
}

static bool print_name(void *to, const char *path, enum sb_search_kind kind)
{
	(void)to;
	(void)kind;
	puts(path);
	return true;
}

static int report(int status, const struct sb_search_end *end, const struct sb_error *err)
{
	if (status != SB_OK) {
		fprintf(stderr, "bench-search: %s\n", err->message);
		return 2;
	}
	return end->results ? 0 : 1;
}

static int run_grep(const struct sb_search_source *source, const char *pattern, unsigned flags,
		    enum sb_grep_want want)
{
	struct sb_grep_query query = {.size = sizeof(query),
				      .want = want,
				      .max_per_file = 1000 * 1000 * 1000,
				      .max_line_bytes = 1000 * 1000};
	struct sb_grep *grep = NULL;
	struct sb_search_end end = {0};
	struct sb_error err = {0};
	int status = sb_grep_new(pattern, strlen(pattern), flags, &grep, &err);

	query.grep = grep;
	if (status == SB_OK)
		status = sb_search_grep(source, &query, print_file, &want, &end, &err);
	sb_grep_free(grep);
	return report(status, &end, &err);
}

static int run_glob(const struct sb_search_source *source, const char *pattern)
{
	struct sb_glob *glob = NULL;
	struct sb_search_end end = {0};
	struct sb_error err = {0};
	int status = sb_glob_new(pattern, SB_GLOB_MINIMATCH, &glob, &err);
	struct sb_glob_query query = {
		.size = sizeof(query),
		.kinds = SB_SEARCH_ALL,
		.scope = {.flags = SB_SEARCH_IGNORED | SB_SEARCH_GIT,
			  .includes = (const struct sb_glob *const[]){glob},
			  .include_count = 1},
	};

	if (status == SB_OK)
		status = sb_search_glob(source, &query, print_name, NULL, &end, &err);
	sb_glob_free(glob);
	return report(status, &end, &err);
}

static int usage(void)
{
	fprintf(stderr, "usage: bench-search grep [-iwFlc] PATTERN DIRECTORY\n"
			"       bench-search glob PATTERN DIRECTORY\n");
	return 2;
}

int main(int argc, char **argv)
{
	static char output[1 << 16];
	struct sb_search_disk disk;
	struct sb_search_source source = {.backend = &sb_search_disk_backend, .context = &disk};
	enum sb_grep_want want = SB_GREP_LINES;
	unsigned flags = 0;
	int option;

	if (argc < 2)
		return usage();
	while ((option = getopt(argc - 1, argv + 1, "iwFlc")) != -1) {
		flags |= option == 'i' ? SB_GREP_NOCASE : 0;
		flags |= option == 'w' ? SB_GREP_WORD : 0;
		flags |= option == 'F' ? SB_GREP_FIXED : 0;
		if (option == 'l')
			want = SB_GREP_FILES;
		else if (option == 'c')
			want = SB_GREP_COUNTS;
		else if (option == '?')
			return usage();
	}
	if (argc - 1 - optind != 2)
		return usage();
	disk.root = open(argv[optind + 2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	disk.one_mount = true; /* as the file tools have it */
	if (disk.root < 0) {
		perror("bench-search");
		return 2;
	}
	setvbuf(stdout, output, _IOFBF, sizeof(output));
	if (strcmp(argv[1], "grep") == 0)
		return run_grep(&source, argv[optind + 1], flags, want);
	if (strcmp(argv[1], "glob") == 0)
		return run_glob(&source, argv[optind + 1]);
	return usage();
}
