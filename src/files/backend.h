/*
 * backend.h - what the file tools need of a filesystem (Z6).
 *
 *     resolve -> (gate: may we?) -> act on the place -> release
 *
 * A place is a name in a directory that is held, and what was found there.  The path it
 * carries is the filesystem's own name for that directory, taken from what is held and not
 * from what the caller wrote.  Acts take places, never paths.
 *
 * All functions return 0 (or a count) or a negative errno, and may be called from any thread.
 * There are two: linux_disk.c and memory.c.  The tests run on both.
 */
#ifndef SB_FILES_BACKEND_H
#define SB_FILES_BACKEND_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbash/files.h"

struct sb_memory_node;
struct sb_seal;

/* What is known of a file. */
struct sb_facts {
	enum sb_files_type type;
	uint64_t bytes;
	uint32_t mode, uid, gid;
	uint32_t special; /* which of SB_FILES_OTHER: S_IFSOCK, S_IFIFO, ...; 0: not known */
	uint64_t links;
	uint64_t device, inode;
	uint64_t mount; /* which mounted filesystem; equal numbers: the same */
	bool procfs;    /* an entry of /proc: never read, never followed */
	struct timespec modified, accessed, changed, born;
};

struct sb_root {
	char *path; /* canonical */
	int directory;
	struct sb_memory_node *node;
	uint64_t mount;
};

struct sb_place {
	int directory; /* disk: O_PATH; -1: the object has no name to act on ("/") */
	int object;    /* disk: O_PATH; -1: nothing is there */
	struct sb_memory_node *in, *node; /* memory: the same two, counted */
	bool exists;
	bool must_be_directory; /* the caller wrote a slash behind it */
	bool ahead; /* what will get this path lies in directory: for the gate, before it is made */
	const char *given; /* as the caller wrote it; NULL: it was met on the way */
	/*
	 * 0, or why the way ended before the last name: ENOENT, ENOTDIR, EACCES, ELOOP, ...
	 * Then path is as far as it came, with the name that failed.
	 */
	int error;
	struct sb_facts
		facts; /* of the object; of the directory where there is none: mount, procfs */
	char name[NAME_MAX + 1]; /* in directory; "": none */
	char rest[PATH_MAX];     /* with SB_RESOLVE_PARENTS: names missing beneath name: "b/c" */
	char path[PATH_MAX];
};

#define SB_PLACE_EMPTY ((struct sb_place){.directory = -1, .object = -1})

enum sb_resolve_flags {
	SB_RESOLVE_FOLLOW = 1,  /* a link in the last place is followed */
	SB_RESOLVE_PARENTS = 2, /* directories on the way may be missing: see rest */
};

/* A regular file opened for reading. */
struct sb_stream {
	int fd;
	struct sb_memory_node *node; /* counted */
	uint64_t bytes;              /* size when it was opened */
};

struct sb_found { /* one name of a directory, valid during the callback */
	const char *name;
	enum sb_files_type type;
	struct sb_facts facts; /* with details */
	const char *target;    /* of a link, with details; or NULL */
};

/* Nonzero ends the listing, which returns it. */
typedef int (*sb_found_name)(void *context, const struct sb_found *found);

struct sb_replacement {
	const char *data;
	size_t length;
	const struct sb_stream *source; /* instead of data: all that can be read there; or NULL */
	bool sync;
	bool unchanged; /* -ESTALE as well if its contents changed since place was looked at */
	uint32_t mode;  /* of a file that does not exist yet */
	const atomic_bool *cancel; /* while source is copied; or NULL */
	/* Asked last of all: may it still land?  0 or a negative errno; or NULL. */
	int (*check)(const void *context);
	const void *context;
};

struct sb_backend_ops {
	void (*free)(struct sb_files_backend *self);

	/*
	 * Of one that shows files under other names (mapped.h): what the path is called where rules are made, and what
	 * may be done there at most.  NULL: it shows them as they are.
	 */
	const struct sb_rule *(*real)(struct sb_files_backend *self, const char *path,
				      char out[PATH_MAX]);

	/* path: absolute, a directory.  Fills all of out. */
	int (*open_root)(struct sb_files_backend *self, const char *path, struct sb_root *out);
	void (*close_root)(struct sb_files_backend *self, struct sb_root *root);

	/*
	 * Find path, which is absolute, or relative to start.  A start helps for absolute paths
	 * beneath it as well.  Errors that only we can have (ENOMEM, EMFILE) are returned;
	 * what the path leads to, or fails at, is in out.
	 */
	int (*resolve)(struct sb_files_backend *self, const struct sb_root *start, const char *path,
		       unsigned flags, struct sb_place *out);
	/* What is at name in the directory dir->object; no link is followed.  -ENOENT as place. */
	int (*enter)(struct sb_files_backend *self, const struct sb_place *dir, const char *name,
		     struct sb_place *out);
	void (*release)(struct sb_files_backend *self, struct sb_place *place);

	/* -ESTALE: the directory has another path by now, or is gone. */
	int (*confirm)(struct sb_files_backend *self, const struct sb_place *place);
	/* Look anew what is at name in the held directory. */
	int (*refresh)(struct sb_files_backend *self, struct sb_place *place);

	int (*open)(struct sb_files_backend *self, const struct sb_place *place,
		    struct sb_stream *out);
	ssize_t (*read)(struct sb_files_backend *self, struct sb_stream *stream, void *data,
			size_t size, uint64_t offset);
	void (*close)(struct sb_files_backend *self, struct sb_stream *stream);

	/*
	 * Put a file with these bytes at place: in place of the file it holds (whose mode,
	 * owner and attributes it gets), or new.  -ESTALE: something else is there by now.
	 */
	int (*replace)(struct sb_files_backend *self, struct sb_place *place,
		       const struct sb_replacement *with);
	/*
	 * Of these, too, -ESTALE: something else is there by now, or the directory of one end has
	 * another path than the one that was decided about.
	 */

	/* Remove the object. */
	int (*remove)(struct sb_files_backend *self, const struct sb_place *place);
	/* -EXDEV: another filesystem.  Without replace, -EEXIST if there is something. */
	int (*rename)(struct sb_files_backend *self, const struct sb_place *from,
		      const struct sb_place *to, bool replace);
	/*
	 * A directory that somebody was asked about: -ESTALE if it is not what was sealed.  It is on hold
	 * (judge/hold.h) while that is looked at.  NULL: there are no seals.
	 */
	int (*rename_sealed)(struct sb_files_backend *self, const struct sb_place *from,
			     const struct sb_place *to, const struct sb_seal *seal);
	/* Make a directory at place, and hold it as the object. */
	int (*mkdir)(struct sb_files_backend *self, struct sb_place *place, uint32_t mode);
	int (*read_link)(struct sb_files_backend *self, const struct sb_place *place, char *out,
			 size_t size);
	int (*make_link)(struct sb_files_backend *self, const struct sb_place *place,
			 const char *target);

	/* The names in the directory place->object, without "." and "..", in no order. */
	int (*list)(struct sb_files_backend *self, const struct sb_place *place, bool details,
		    sb_found_name found, void *context);
};

struct sb_files_backend {
	const struct sb_backend_ops *ops;
	bool in_memory; /* nothing outside runs or obeys what lies there, and there are no descriptors */
};

/* The real filesystem; has no state.  NULL: this system's cannot be used (no /proc). */
struct sb_files_backend *sb_files_disk(void);

#endif
