/*
 * A Landlock rule for a file is about the inode: it holds at every name that the file gets, also in a directory for
 * which there is none, and for no other file there, whichever had the name before.  So a supervised run without mounts
 * reads what it has made beside something hidden (supervise/spares.h).
 */
#include "fact.h"

#define LL_READ_FILE (1ull << 2)

static int go_on[2], done[2];

static int read_one(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* In a domain; the parent renames meanwhile, as the asker does. */
static int read_moved(void)
{
	static const char *const spare[] = {"parking/0", NULL};
	char byte = 0;
	int before, after, other;

	if ((errno = landlock(LL_READ_FILE, 0, spare)))
		return broken("Landlock");
	before = read_one("home/file");
	if (write(done[1], &byte, 1) != 1 || read(go_on[0], &byte, 1) != 1)
		return broken("pipe");
	after = read_one("home/file");
	other = read_one("home/other");
	return before == EACCES && other == EACCES ? after : FACT_BROKEN;
}

static int move_it(void)
{
	char byte = 0;
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(read_moved());
	if (read(done[0], &byte, 1) != 1 || rename("home/file", "home/other") != 0 ||
	    rename("parking/0", "home/file") != 0 || write(go_on[1], &byte, 1) != 1)
		return broken("rename");
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status)
									: broken("child");
}

int main(void)
{
	need_landlock(1);
	fact_dir();
	if (mkdir("home", 0755) != 0 || mkdir("parking", 0755) != 0 || pipe(go_on) != 0 ||
	    pipe(done) != 0)
		return 1;
	if (write_text("home/file", "old") != 0 || write_text("parking/0", "new") != 0)
		return 1;
	expect(attempt(move_it), 0, "a rule goes with the file to its new name, and to no other");
	return fact_done();
}
