/*
 * A bind mount over a FILE is gone as soon as somebody outside replaces the file by
 * rename (as every editor and git do): the inside then writes the new file.  A bind
 * over a DIRECTORY survives changes of what is in it.
 */
#include "fact.h"

/* The child says "ready", waits for the change from outside, then tries. */
static int to_child[2], from_child[2];

static int inside(void)
{
	char byte = 0;

	close(to_child[1]);
	close(from_child[0]);
	if ((errno = enter_namespaces(CLONE_NEWNS)))
		return broken("namespaces");
	if ((errno = bind_self("dir/file", true)) || (errno = bind_self("held", true)))
		return broken("binds");
	if (write_text("dir/file", "before") != EROFS || write_text("held/file", "before") != EROFS)
		return broken("the binds do not hold");
	if (write(from_child[1], "r", 1) != 1 || read(to_child[0], &byte, 1) != 1)
		return broken("pipe");
	/* One bit for each write that succeeds. */
	return (write_text("dir/file", "from inside") == 0 ? 1 : 0) |
	       (write_text("held/file", "from inside") == 0 ? 2 : 0);
}

int main(void)
{
	char byte;
	pid_t pid;
	int result;

	need_mounts();
	fact_dir();
	mkdir("dir", 0755);
	mkdir("held", 0755);
	write_text("dir/file", "old");
	write_text("held/file", "old");

	if (pipe2(to_child, O_CLOEXEC) < 0 || pipe2(from_child, O_CLOEXEC) < 0)
		return 1;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		result = inside();
		fflush(stdout);
		_exit(result);
	}
	close(to_child[0]);
	close(from_child[1]);
	if (read(from_child[0], &byte, 1) == 1) {
		write_text("dir/new", "new");
		write_text("held/new", "new");
		if (rename("dir/new", "dir/file") < 0 || rename("held/new", "held/file") < 0 ||
		    write(to_child[1], "g", 1) != 1)
			return 1;
	}
	result = reap(pid);
	check(result < 4, "the surroundings could be made");
	check(result & 1, "after a rename outside, the bind over the file is gone");
	check(strcmp(read_text("dir/file"), "from inside") == 0, "the new file was written");
	check(!(result & 2), "the bind over the directory holds");
	check(strcmp(read_text("held/file"), "new") == 0, "the file in it was not written");
	return fact_done();
}
