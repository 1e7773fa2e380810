/*
 * guard.c - what the guard's judgement alone costs: for 20,000 new files, and for a git commit.
 *
 *     bench-guard DIRECTORY [SAMPLES]
 *
 * Judges, in this process and on a real tree in DIRECTORY (a git repository), the names that
 * `acts create 20000` makes, and those that one `git commit` of one file makes, as traced.  Prints
 * JSON: for each the median and 95th percentile of all judgements together, in microseconds.
 *
 * It does not measure holding the call, resolving the path or acting, which a supervised run
 * does with or without a guard; the rows create 20000 and git commit have it all, against native.
 * Every verdict is checked: none of these names asks.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "guard/guard.h"

enum { FILES = 20000, DEFAULT_SAMPLES = 20, MAX_SAMPLES = 1000 };

/* git 2.39, `git commit -m x` of one changed file; both names of each rename. */
static const char *const commit_names[] = {
	".git/index.lock",
	".git/index",
	".git/objects/4b/tmp_obj_AbCdEf",
	".git/objects/4b/825dc642cb6eb9a060e54bf8d69288fbee4904",
	".git/objects/d6/tmp_obj_GhIjKl",
	".git/objects/d6/70460b4b4aece5915caf5c68d12f560a9fe3e4",
	".git/COMMIT_EDITMSG",
	".git/HEAD.lock",
	".git/refs/heads/main.lock",
	".git/refs/heads/main",
	".git/logs/HEAD",
	".git/logs/refs/heads/main",
};

enum { COMMIT_NAMES = sizeof(commit_names) / sizeof(commit_names[0]) };

static bool everywhere(void *context, const char *path)
{
	(void)context;
	(void)path;
	return true;
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void judge(const struct sb_guard *guard, int directory, const char *path)
{
	struct sb_guard_place place = {directory, path, strrchr(path, '/') + 1, 0};
	struct sb_guard_answer answer;

	if (sb_guard_judge(guard, SB_GUARD_WRITE, &place, &answer) == SB_GUARD_ASK) {
		fprintf(stderr, "bench-guard: '%s' asks\n", path);
		exit(1);
	}
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static void print(const char *name, int names, double *samples, int count, const char *end)
{
	qsort(samples, (size_t)count, sizeof *samples, compare);
	printf("{\"name\": \"%s\", \"names\": %d, \"median_us\": %.2f, \"p95_us\": %.2f, \"n\": %d}%s",
	       name, names, samples[count / 2], samples[count * 95 / 100], count, end);
}

int main(int argc, char **argv)
{
	static char files[FILES][512], commits[COMMIT_NAMES][512];
	static double create[MAX_SAMPLES], commit[MAX_SAMPLES];
	int samples = argc > 2 ? (int)strtol(argv[2], NULL, 10) : DEFAULT_SAMPLES;
	struct sb_guard_options options = {.size = sizeof options, .in_guarded_root = everywhere};
	const char *const projects[] = {argc > 1 ? argv[1] : "", NULL};
	struct sb_guard *guard;
	int directory;

	if (argc < 2 || samples < 1 || samples > MAX_SAMPLES || strlen(argv[1]) > 256 ||
	    argv[1][0] != '/') {
		fprintf(stderr, "usage: bench-guard /DIRECTORY [SAMPLES]\n");
		return 2;
	}
	options.projects = projects;
	directory = open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0 || sb_guard_new(&options, &guard, NULL) != SB_OK)
		return 1;
	for (int i = 0; i < FILES; i++)
		snprintf(files[i], sizeof files[i], "%s/f%05d", argv[1], i);
	for (int i = 0; i < COMMIT_NAMES; i++)
		snprintf(commits[i], sizeof commits[i], "%s/%s", argv[1], commit_names[i]);
	for (int sample = 0; sample < samples; sample++) {
		double start = now_us(), middle;

		for (int i = 0; i < FILES; i++)
			judge(guard, directory, files[i]);
		middle = now_us();
		for (int i = 0; i < COMMIT_NAMES; i++)
			judge(guard, directory, commits[i]);
		create[sample] = middle - start;
		commit[sample] = now_us() - middle;
	}
	printf("{\"rows\": [");
	print("create", FILES, create, samples, ", ");
	print("commit", COMMIT_NAMES, commit, samples, "]}\n");
	sb_guard_free(guard);
	return 0;
}
