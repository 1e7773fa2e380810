/*
 * site.h - where something is about to happen: a name in a directory that somebody holds open, what
 * is there, and the path that rules are about.
 *
 * Facts only, gathered by whoever acts (the broker's resolver, the file tools' places, --explain).
 * A site owns nothing; what it points at must outlive the judgement.
 */
#ifndef SB_JUDGE_SITE_H
#define SB_JUDGE_SITE_H

#include <stdbool.h>
#include <sys/types.h>

struct sb_rule;

struct sb_site {
	int directory;     /* O_PATH or better, holds name; -1: unknown */
	int object;        /* O_PATH of what is there; -1: nothing, or nobody holds it */
	const char *name;  /* in directory; "." or "": path's last name counts */
	const char *path;  /* canonical, of the name itself; "": none */
	const char *whole; /* or NULL: path was cut, since the name is longer than paths are */
	bool looked;       /* mode is known; else it is looked up when it matters */
	mode_t mode;       /* of what is there, as lstat() says; 0: nothing */
	bool in_proc;      /* a name in procfs: nothing of the user's is there */
	bool nameless; /* a file that no path leads to: changing it changes nothing with a name */

	/* for those with bounds (judge.h) */
	bool outside;        /* of all roots */
	bool other_mount;    /* in a root by name, but on a filesystem that is mounted there */
	bool has_more_names; /* a file with several links */
	const struct sb_rule *bound; /* of who looks: no rule of the policy allows more; or NULL */
};

/*
 * A descriptor to be taken for the directory that holds path, for those who only tell; -1: none.  One that
 * is not there yet will be empty, so anything in which nothing is found stands in for it; but the one above
 * may be a git directory.
 */
int sb_site_holder(const char *path);

#endif
