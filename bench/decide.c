/*
 * decide.c - what one policy decision costs with 200 rules.
 *
 *     bench-decide [SAMPLES]
 *
 * Measures sb_decide() on a sealed policy, for several shapes of path: near the
 * top of a project, deep in it, below a glob, a secret, a look-alike name, and one
 * that no rule covers.  Prints JSON: per shape the median and 95th percentile of
 * nanoseconds per decision, and the sample count.
 *
 * It does not measure making a path canonical, building the policy, nor a cold
 * cache.  A user cares because a supervised run decides once per file operation.
 * There is no unsandboxed baseline: natively, nobody decides.
 *
 * Every decision's verdict is checked: exactly once per operation before timing,
 * and as a sum over each timed batch.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sandbash/policy.h"

enum { RULES = 200, BATCH = 64, DEFAULT_SAMPLES = 400, MAX_SAMPLES = 100000 };

#define WRITE                                                                                      \
	{                                                                                          \
		{                                                                                  \
			SB_ALLOW, SB_ALLOW, SB_ALLOW, SB_ALLOW                                     \
		}                                                                                  \
	}
#define READ                                                                                       \
	{                                                                                          \
		{                                                                                  \
			SB_ALLOW, SB_DENY, SB_DENY, SB_DENY                                        \
		}                                                                                  \
	}
#define DENY                                                                                       \
	{                                                                                          \
		{                                                                                  \
			SB_DENY, SB_DENY, SB_DENY, SB_DENY                                         \
		}                                                                                  \
	}
#define ASK                                                                                        \
	{                                                                                          \
		{                                                                                  \
			SB_ALLOW, SB_ASK, SB_ASK, SB_ASK                                           \
		}                                                                                  \
	}

/* The mix of a real policy: a few roots, many secrets, many guarded names, some globs. */
static const struct {
	const char *pattern; /* %02d: the number of the copy, so that patterns differ */
	int copies;
	struct sb_access access;
} kinds[] = {
	{"/home/ada/project", 1, WRITE},
	{"/home/ada/project/**/.git/hooks", 1, ASK},
	{"/home/ada/project/**/.git/config", 1, ASK},
	{"/home/ada/project/**/.tool%02d/settings.json", 36, ASK},
	{"/home/ada/project/**/*.secret%02d", 10, DENY},
	{"/home/ada/project/vendor/library%02d", 40, READ},
	{"/home/ada/.store%02d", 60, DENY},
	{"/home/ada/.config/browser%02d/profile", 20, DENY},
	{"/srv/data%02d", 30, WRITE},
	{"/dev/null", 1, WRITE},
};

static const struct {
	const char *name;
	const char *path;
	struct sb_access expect;
} shapes[] = {
	{"project", "/home/ada/project/main.c", WRITE},
	{"deep",
	 "/home/ada/project/packages/server/node_modules/left/node_modules/pad/dist/src/lib/"
	 "internal/encoding/tables/unicode/blocks/latin-extended-additional.generated.js",
	 WRITE},
	{"read-only part", "/home/ada/project/vendor/library17/include/library/api.h", READ},
	{"glob at depth", "/home/ada/project/packages/server/.git/hooks/pre-commit", ASK},
	{"secret", "/home/ada/.store42/keys/id_ed25519", DENY},
	{"look-alike", "/home/ada/project-evil/packages/server/main.c", ASK},
	{"outside", "/usr/lib/x86_64-linux-gnu/perl/5.36/Encode.pm", ASK},
};

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static struct sb_policy *make_policy(void)
{
	struct sb_error err = {0};
	struct sb_policy *policy = sb_policy_new();
	int count = 0;

	if (!policy)
		return NULL;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *number = strstr(kinds[i].pattern, "%02d");
		int before = number ? (int)(number - kinds[i].pattern)
				    : (int)strlen(kinds[i].pattern);

		for (int copy = 0; copy < kinds[i].copies; copy++, count++) {
			char pattern[128];

			if (number)
				snprintf(pattern, sizeof(pattern), "%.*s%02d%s", before,
					 kinds[i].pattern, copy, number + strlen("%02d"));
			else
				snprintf(pattern, sizeof(pattern), "%s", kinds[i].pattern);
			struct sb_rule rule = {
				.access = kinds[i].access,
				.tier = SB_TIER_GLOBAL,
				.pattern = pattern,
				.origin = "bench",
			};

			if (sb_policy_add(policy, &rule, &err) != SB_OK)
				goto failed;
		}
	}
	if (count != RULES) {
		fprintf(stderr, "bench-decide: made %d rules, expected %d\n", count, RULES);
		exit(1);
	}
	if (sb_policy_seal(policy, &err) == SB_OK)
		return policy;
failed:
	fprintf(stderr, "bench-decide: %s\n", err.message);
	sb_policy_free(policy);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	long samples = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_SAMPLES;

	if (argc > 2 || samples < 1 || samples > MAX_SAMPLES) {
		fprintf(stderr, "usage: bench-decide [SAMPLES]\n");
		return 2;
	}
	struct sb_policy *policy = make_policy();
	double *took = calloc((size_t)samples * SHAPES, sizeof(*took));

	if (!policy || !took)
		return 1;
	for (int s = 0; s < SHAPES; s++) {
		for (int op = 0; op < SB_OP_COUNT; op++) {
			int verdict = sb_decide(policy, (enum sb_op)op, shapes[s].path).verdict;

			if (verdict == shapes[s].expect.verdict[op])
				continue;
			fprintf(stderr, "bench-decide: %s '%s': %s, expected %s\n",
				sb_op_name((enum sb_op)op), shapes[s].path,
				sb_verdict_name((enum sb_verdict)verdict),
				sb_verdict_name((enum sb_verdict)shapes[s].expect.verdict[op]));
			return 1;
		}
	}

	/* The shapes take turns, so that no shape owns a quiet or a busy moment. */
	for (long i = 0; i < samples; i++) {
		for (int s = 0; s < SHAPES; s++) {
			int sum = 0;
			long long start = now_ns();

			for (int n = 0; n < BATCH; n++)
				sum += (int)sb_decide(policy, SB_MODIFY, shapes[s].path).verdict;
			took[s * samples + i] = (double)(now_ns() - start) / BATCH;
			if (sum != BATCH * shapes[s].expect.verdict[SB_MODIFY]) {
				fprintf(stderr, "bench-decide: '%s': a verdict changed\n",
					shapes[s].path);
				return 1;
			}
		}
	}

	printf("{\"rules\": %d, \"shapes\": [", RULES);
	for (int s = 0; s < SHAPES; s++) {
		double *mine = took + s * samples;

		qsort(mine, (size_t)samples, sizeof(*mine), compare);
		printf("%s\n  {\"name\": \"%s\", \"median_ns\": %.1f, \"p95_ns\": %.1f, \"n\": %ld}",
		       s ? "," : "", shapes[s].name, mine[samples / 2],
		       mine[(samples * 95 - 1) / 100], samples);
	}
	printf("\n]}\n");
	free(took);
	sb_policy_free(policy);
	return 0;
}
