/*
 * confined - run a command under sandbash's rules, from a program of your own.
 *
 *     cc confined.c $(pkg-config --cflags --libs sandbash) -o confined
 *     ./confined make test
 *
 * Changes stay in the current directory; nobody is asked, what would be a question fails.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sandbash/sandbox.h>

static int tell(const struct sb_error *err)
{
	fprintf(stderr, "confined: %s\n", err->message);
	if (err->hint[0])
		fprintf(stderr, "hint: %s\n", err->hint);
	return 125;
}

/* In the child: after an error nothing may run. */
static int become(char **command)
{
	const char *const rules[] = {"deny .env", NULL};
	const struct sb_sandbox_options options = {.size = sizeof options, .rules = rules};
	struct sb_sandbox *sandbox;
	struct sb_error err;

	if (sb_sandbox_open(&options, &sandbox, &err) != SB_OK ||
	    sb_sandbox_enter(sandbox, &err) != SB_OK)
		return tell(&err);
	execvp(command[0], command);
	perror(command[0]);
	return 127;
}

int main(int argc, char **argv)
{
	int status;
	pid_t child;

	if (argc < 2) {
		fputs("usage: confined COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	child = fork();
	if (child == 0)
		_exit(become(argv + 1));
	if (child < 0 || waitpid(child, &status, 0) != child) {
		perror("confined");
		return 125;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
