/*
 * mounts_impl.h - between what mounts (linux_mounts.c) and what is mounted that nobody had before
 * (linux_own_tree.c).
 */
#ifndef SB_ENFORCE_MOUNTS_IMPL_H
#define SB_ENFORCE_MOUNTS_IMPL_H

#include <sched.h>

#include "enforce/plan.h"

enum namespace_slot { NS_USER, NS_MOUNT, NS_IPC, NS_NET, NS_COUNT };

/* Shared with the child: what to do, and how it went. */
struct sb_mount_job {
	const struct sb_plan *plan;
	int *trees;   /* one per mount step; -1 when none is open */
	int terminal; /* a copy of the caller's, or -1 */
	int flags;    /* CLONE_NEW* */
	char uid_map[64], gid_map[64];
	int ns[NS_COUNT];
	const char *failed_at; /* a step in words; NULL: all done */
	const char *failed_on; /* the path, or NULL */
	int failed_errno;
	bool stuck; /* half way, in namespaces that we could not leave */
};

/* Is it an error?  Then noted, by step in words and the path or NULL. */
bool sb_mount_failed(struct sb_mount_job *job, int negative_errno, const char *step,
		     const char *path);

int sb_mount_attach(int tree, const char *path);

/* Device files can be made in the first user namespace only. */
static inline bool sb_mount_own_dev(const struct sb_mount_job *job)
{
	return job->plan->own_dev && !(job->flags & CLONE_NEWUSER);
}

/* Private temp directories, whatever hides a name, and a /dev: all in one filesystem of our own. */
bool sb_mount_make_own(struct sb_mount_job *job);

#endif
