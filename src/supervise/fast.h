/*
 * fast.h - held calls that the kernel may carry out itself, in fast roots (policy/fast.h).
 *
 * SECURITY: letting a call go on (CONTINUE) means that the kernel reads the path once more, and
 * another thread of the command may have changed it since we looked: seccomp_unotify(2).
 *
 * Danger: the call then acts on whatever the command likes.  So it goes on only if it is one of
 * those that the command's own Landlock layer rules completely, and this layer lets it change
 * nothing but what lies in fast roots (enforce/linux_landlock.c).  Metadata is not ruled by it,
 * nor is truncation by path, and openat2() has its flags in memory: these are performed as
 * everywhere else.  Setuid bits for root are refused by the filter, in registers.
 *
 * Our look is therefore not what protects anybody.  It is there for the program: Landlock would
 * answer EACCES where a broker can do what was asked for.  It must be right for a program that
 * does not change its mind, and cheap:
 *
 *   - the path leads into the root by plain names from "/", the current directory or a descriptor
 *   - no link on the way, nor at the end of one that is followed: it may lead out
 *   - the root is the directory that it was at the start: another one of that name was never
 *     granted, and is an ordinary directory
 *   - the caller belongs to no nested run, whose rules Landlock cannot all hold
 *
 * When in doubt the call is performed.
 * Held by: tests/supervise/fast.py
 */
#ifndef SB_SUPERVISE_FAST_H
#define SB_SUPERVISE_FAST_H

#include "enforce/layers.h"
#include "sandbash/policy.h"
#include "supervise/call.h"
#include "supervise/resolve.h"

#define SB_FAST_ROOTS 64 /* more are performed as any other directory */

struct sb_fast_dir {
	const char *path; /* the policy's */
	size_t length;
	int fd;    /* O_PATH; keeps the inode, which is what Landlock knows */
	long seen; /* twice the tick of the last look, and 1 if it was in its place */
};

struct sb_fast_roots {
	struct sb_fast_dir all[SB_FAST_ROOTS];
	size_t count; /* 0: none, or Landlock cannot hold them */
};

/* In the process that serves.  What cannot be opened is not fast.  0, or a negative errno. */
int sb_fast_open(struct sb_fast_roots *roots, const struct sb_policy *policy,
		 const struct sb_layers *layers);

/* A directory was removed: what was seen of a root may be wrong before the tick is over. */
void sb_fast_removed(struct sb_fast_roots *roots);

/* May the kernel go on with it?  *out_op: what it does there, for counting. */
bool sb_fast_lets_through(struct sb_fast_roots *roots, const struct sb_caller *caller,
			  const struct sb_call *call, enum sb_op *out_op);

#endif
