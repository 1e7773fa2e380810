/*
 * identity.h - which file this is, whatever it is called.
 *
 * A file is its device and inode number.  The pair means one file for as long as a
 * descriptor of it stays open; without one, the number may be given to another.
 */
#ifndef SB_CONSENT_IDENTITY_H
#define SB_CONSENT_IDENTITY_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct sb_identity {
	dev_t device;
	ino_t inode;
};

static inline bool sb_same_file(struct sb_identity a, struct sb_identity b)
{
	return a.device == b.device && a.inode == b.inode;
}

static inline struct sb_identity sb_identity_of(const struct stat *info)
{
	return (struct sb_identity){info->st_dev, info->st_ino};
}

/* Stop the walk?  The first call is for the directory that the walk began with. */
typedef bool (*sb_above_found)(void *context, struct sb_identity directory);

/*
 * Show found the directory (a descriptor, O_PATH is enough) and every one above it, up to
 * "/".  1: found stopped it.  0: it did not.  A negative errno: the way up is barred.
 */
int sb_walk_up(int directory, sb_above_found found, void *context);

#endif
