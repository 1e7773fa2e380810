/*
 * launched.c - which functions of a program a launch enters, in all its processes.
 *
 *     cc -O1 -o launched bench/launched.c
 *     launched build/sandbash true >>LIST;  launched build/sandbash --static true >>LIST
 *     launched build/sandbash --worker=FILE true >>LIST
 *
 * Prints one name per line, those of copies that the compiler makes (".isra.0") without what it adds: what
 * scripts/launch-functions is made of, over launches as root and as an ordinary user, with and without a
 * repository, sorted and once each.  A name that is missing there, or too many, costs a page fault.
 *
 * Steps through the launch with ptrace(2), some seconds.  Needs nm.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_FUNCTIONS 100000

static struct function {
	unsigned long from;
	char *name;
	int entered;
} functions[MAX_FUNCTIONS];
static size_t count;

static int in_order(const void *one, const void *other)
{
	const struct function *a = one, *b = other;

	return a->from < b->from ? -1 : a->from > b->from;
}

static void read_functions(const char *program)
{
	char command[4200], line[1000], kind, name[900];
	unsigned long from;
	FILE *in;

	snprintf(command, sizeof command, "nm '%s'", program);
	in = popen(command, "r");
	while (in && fgets(line, sizeof line, in) && count < MAX_FUNCTIONS)
		if (sscanf(line, "%lx %c %899s", &from, &kind, name) == 3 && strchr("tTW", kind)) {
			name[strcspn(name, ".")] = '\0';
			functions[count++] = (struct function){from, strdup(name), 0};
		}
	if (in)
		pclose(in);
	qsort(functions, count, sizeof functions[0], in_order);
}

static unsigned long where_it_lies(pid_t pid, const char *program)
{
	char name[64], line[4400];
	unsigned long base = 0;
	FILE *maps;

	snprintf(name, sizeof name, "/proc/%d/maps", pid);
	maps = fopen(name, "r");
	while (maps && !base && fgets(line, sizeof line, maps))
		if (strstr(line, program))
			base = strtoul(line, NULL, 16);
	if (maps)
		fclose(maps);
	return base;
}

static void note(pid_t pid, unsigned long base)
{
	struct user_regs_struct registers;
	struct iovec to = {&registers, sizeof registers};
	size_t low = 0, high = count;
	unsigned long at;

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &to) != 0)
		return;
#ifdef __x86_64__
	at = registers.rip - base;
#else
	at = registers.pc - base;
#endif
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (functions[middle].from <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && low < count)
		functions[low - 1].entered = 1;
}

int main(int argc, char **argv)
{
	char *program = argc > 1 ? realpath(argv[1], NULL) : NULL;
	unsigned long base;
	int status;
	pid_t pid;

	if (!program)
		return 2;
	read_functions(program);
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(program, argv + 1);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, 0,
	       PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
		       PTRACE_O_EXITKILL);
	base = where_it_lies(pid, program);
	ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		int signal = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;

		if (!WIFSTOPPED(status))
			continue;
		if (status >> 16 == PTRACE_EVENT_EXEC) { /* the command is there */
			ptrace(PTRACE_DETACH, pid, 0, 0);
			continue;
		}
		note(pid, base);
		ptrace(PTRACE_SINGLESTEP, pid, 0,
		       signal == SIGTRAP || signal == SIGSTOP ? 0 : signal);
	}
	for (size_t i = 0; i < count; i++)
		if (functions[i].entered)
			puts(functions[i].name);
	return 0;
}
