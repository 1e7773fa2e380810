/*
 * may-i - what do the rules say about these paths?
 *
 *     cc may-i.c $(pkg-config --cflags --libs sandbash) -o may-i
 *     ./may-i src/main.c ~/.ssh/id_ed25519
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <sandbash/sandbox.h>

static void tell(const struct sb_policy *policy, const char *path)
{
	printf("%s\n", path);
	for (int op = 0; op < SB_OP_COUNT; op++) {
		struct sb_decision decision = sb_decide(policy, (enum sb_op)op, path);

		printf("  %-7s %-6s %s\n", sb_op_name((enum sb_op)op),
		       sb_verdict_name(decision.verdict),
		       decision.rule ? decision.rule->origin : "no rule covers it");
	}
}

int main(int argc, char **argv)
{
	struct sb_sandbox *sandbox;
	const struct sb_policy *policy;
	struct sb_error err;

	if (sb_sandbox_open(NULL, &sandbox, &err) != SB_OK ||
	    !(policy = sb_sandbox_policy(sandbox, &err))) {
		fprintf(stderr, "may-i: %s\n", err.message);
		return 1;
	}
	for (int i = 1; i < argc; i++) {
		char path[PATH_MAX]; /* rules are about canonical paths */

		if (realpath(argv[i], path))
			tell(policy, path);
		else
			perror(argv[i]);
	}
	sb_sandbox_close(sandbox);
	return 0;
}
