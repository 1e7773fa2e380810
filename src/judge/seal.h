/*
 * seal.h - what lies in a directory at one moment, so that a yes is for that and for nothing else.
 *
 *     sb_seal_take() -> a look, and a question that says what was seen
 *                    -> after the yes: sb_seal_take() again, sb_seal_holds()
 *
 * SECURITY: whoever is asked about a directory is asked about what is in it.
 *
 * Danger: while a question waits, other processes of the run put another file into the directory, or
 * other bytes into one that was listed, and the yes lands that.
 * Price: the tree is gone through twice more, and read where it is small.  What cannot be held, or not be
 * looked through, the question says (sb_seal_notes()): then a yes is for that, too.
 * Held by: tests/supervise/shown.py, tests/mcp/shown.py, tests/unit/test_seal.c
 *
 * Taken first, looked at then: what is shown is never older than the seal.  Whoever compares must see to
 * it that nothing changes afterwards: a directory that is on hold (hold.h) is changed by nobody who is
 * supervised, but through a file that was opened for writing before, or by another name of it.  So
 * files that somebody has open for writing are told (a read lease shows it), and files with other names
 * are given copies of their own before the second look.
 */
#ifndef SB_JUDGE_SEAL_H
#define SB_JUDGE_SEAL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"

#define SB_SEAL_NAMES 65536                        /* more are not looked through: half a second */
#define SB_SEAL_BYTES ((uint64_t)16 * 1024 * 1024) /* of files that are read: a tenth of a second */

#define SB_SEAL_LINKS 4 /* that a question names, of those that lead out */
#define SB_SEAL_LINK 640

struct sb_seal_entry {
	unsigned char sum[16];
};

struct sb_seal {
	bool whole; /* all of it could be looked at, and was */
	/* Files are known by their bytes; else, since there are too many, by number, size and times. */
	bool by_bytes;
	/* Then: one has changed so lately that the next change could not be told from it. */
	bool young;
	size_t files, directories; /* beneath it; what is no directory is a file here */
	uint64_t bytes;
	size_t open;              /* files that somebody may have open for writing; */
	char first[NAME_MAX + 1]; /* the name of one of these */
	size_t linked;            /* files that have other names as well */
	size_t leading;           /* links that lead out of it: what is there is not sealed; */
	char links[SB_SEAL_LINKS]
		  [SB_SEAL_LINK]; /* the first of these: "'NAME' -> 'TARGET'", escaped */
	char sum[SB_SHA256_HEX];
	struct sb_seal_entry *entries; /* in order; NULL: none, or not whole */
	size_t count;
};

/* Of a directory, what is not looked at: it is what the act itself changes there. */
struct sb_seal_skip {
	const char *name; /* in the directory itself; or NULL */
	dev_t device;
	ino_t inodes[2]; /* anywhere; 0: none */
};

/* skip may be NULL.  What cannot be opened is not whole.  Waits some milliseconds for what is young. */
void sb_seal_take(int directory, const char *name, const struct sb_seal_skip *skip,
		  struct sb_seal *out);
void sb_seal_done(struct sb_seal *seal);

/* Is it now what was shown? */
bool sb_seal_holds(const struct sb_seal *shown, const struct sb_seal *now);

/*
 * Does what was read, or made sure of otherwise, lie at path, relative to the sealed directory?  data NULL:
 * fd is compared by number, size and times.  Not for a seal that is not whole: that says nothing.
 */
bool sb_seal_has_file(const struct sb_seal *seal, const char *path, int fd, const void *data,
		      size_t length);
bool sb_seal_has_link(const struct sb_seal *seal, const char *path, int link, const char *target);
bool sb_seal_has_node(const struct sb_seal *seal, const char *path, int node); /* of another kind */

/*
 * Files with other names get copies of their own, where files are known by their bytes.  copy: of what has
 * this name; 0 or a negative errno.  The directory must be on hold.
 */
typedef int (*sb_seal_copy)(void *context, int directory, const char *name);
int sb_seal_unshare(int directory, const char *name, sb_seal_copy copy, void *context);

/* What a question says: of what comes of it ("comes along"), and how much it is. */
#define SB_SEAL_SAYS "it is a directory, and all that is in it %s: %s"

#define SB_SEAL_LINK_SAYS "a link in it leads out: "

/* "3 files in 2 directories, 120 bytes", "nothing". */
#define SB_SEAL_WORDS 96
const char *sb_seal_words(const struct sb_seal *seal, char out[SB_SEAL_WORDS]);

/* Links that lead out of it, and how many more there are; first, since nothing else says where they lead. */
size_t sb_seal_links(const struct sb_seal *seal,
		     char out[SB_SEAL_LINKS + 1][SB_SEAL_LINK + sizeof SB_SEAL_LINK_SAYS]);

/* What a yes cannot be held to, one sentence each; at most SB_SEAL_NOTES. */
#define SB_SEAL_NOTES 2
#define SB_SEAL_NOTE (4 * NAME_MAX + 160)
size_t sb_seal_notes(const struct sb_seal *seal, char out[SB_SEAL_NOTES][SB_SEAL_NOTE]);

#endif
