/*
 * clone(CLONE_VM|CLONE_VFORK|CLONE_FILES|CLONE_NEWUSER|CLONE_NEWNS): the child makes
 * the mounts, opens descriptors of its namespaces into the shared table and exits; the
 * parent, untouched so far, enters them by setns().  So a set-up that fails half-way
 * leaves no trace in the process that will become the command.
 */
#include "fact.h"

struct job {
	uid_t uid;
	gid_t gid;
	int user_ns, mount_ns; /* descriptors, written by the child */
	int result;
	const char *failed; /* the step */
};

/* Shares our memory: makes system calls and notes what failed, nothing more. */
static int set_up(void *argument)
{
	struct job *job = argument;

	job->failed = "id maps";
	if ((job->result = map_ids(job->uid, job->uid, job->gid, job->gid)))
		return 1;
	job->failed = "mounts";
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || (errno = all_read_only()) ||
	    (errno = bind_self("root", false))) {
		job->result = errno;
		return 1;
	}
	job->failed = "namespace descriptors";
	job->user_ns = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	job->mount_ns = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (job->user_ns < 0 || job->mount_ns < 0) {
		job->result = errno;
		return 1;
	}
	job->failed = NULL;
	return 0;
}

static int run(void)
{
	static char stack[64 * 1024] __attribute__((aligned(16)));
	struct job job = {.uid = geteuid(), .gid = getegid(), .user_ns = -1, .mount_ns = -1};
	char cwd[sizeof fact_path];
	pid_t pid;

	snprintf(cwd, sizeof cwd, "%s", fact_path);
	pid = clone(set_up, stack + sizeof stack,
		    CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_NEWUSER | CLONE_NEWNS | SIGCHLD,
		    &job);
	if (pid < 0)
		return broken("clone");
	check(reap(pid) == 0 && !job.failed, "the child made its mounts");
	if (job.failed) {
		printf("#   %s: %s\n", job.failed, strerror(job.result));
		return FACT_BROKEN;
	}
	expect(write_text("outside/file", "new"), 0, "the parent is still outside");
	check(fcntl(job.mount_ns, F_GETFD) == FD_CLOEXEC,
	      "the parent sees the child's descriptors");
	expect(setns(job.user_ns, CLONE_NEWUSER) < 0 ? errno : 0, 0,
	       "it enters the user namespace");
	expect(setns(job.mount_ns, CLONE_NEWNS) < 0 ? errno : 0, 0, "and the mount namespace");
	expect(chdir(cwd) < 0 ? errno : 0, 0, "and its directory again");
	expect(write_text("outside/file", "x"), EROFS, "a write outside is refused");
	expect(write_text("root/file", "x"), 0, "a write in the root works");
	check(geteuid() == job.uid && getegid() == job.gid, "the ids are what they were");
	/* attempt() passes only a status, so send the counts along: 9 checks in all. */
	return (int)fact_failures;
}

int main(void)
{
	int result;

	need_mounts();
	fact_dir();
	mkdir("root", 0755);
	mkdir("outside", 0755);
	result = attempt(run);
	fact_count = 9;
	fact_failures = (unsigned)result;
	return fact_done();
}
