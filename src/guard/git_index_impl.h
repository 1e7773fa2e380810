/*
 * git_index_impl.h - the parts of an index, shared by the files that look at one.
 *
 *     begin -> next, until left is 0 -> extensions from reader.at on
 */
#ifndef SB_GUARD_GIT_INDEX_IMPL_H
#define SB_GUARD_GIT_INDEX_IMPL_H

#include <stdint.h>
#include <string.h>

#include "guard/git_index.h"

#define SB_INDEX_HEADER 12
#define SB_INDEX_STAT 40       /* times, device, inode, mode, owner, size */
#define SB_INDEX_MAX_NAME 4096 /* PATH_MAX: no longer one can be checked out */
#define SB_INDEX_EXTENSION 8   /* a name and a length before each */
#define SB_INDEX_SHOWN 120     /* bytes of a name, in a message */

enum { SB_INDEX_SHA1 = 20, SB_INDEX_SHA256 = 32 };

enum flags {
	SB_INDEX_ASSUMED = 0x8000,
	SB_INDEX_EXTENDED = 0x4000,
	SB_INDEX_STAGES = 0x3000,
	SB_INDEX_LENGTH = 0x0fff, /* or, for what is longer, just this */
};

enum more_flags { SB_INDEX_SKIPPED = 0x4000, SB_INDEX_INTENDED = 0x2000 };

struct sb_index_entry {
	size_t offset;
	unsigned mode, flags, more;
	const char *name; /* version 4: in the reader, until the next; always followed by a NUL */
	size_t length;
	size_t common; /* so many bytes are the ones before's */
	size_t start;  /* of the first component that is not */
	bool single;   /* it is the last one, and there is no backslash in it */
	int order;     /* of the one before to this one: < 0 as it should be, 0 the same name */
};

struct sb_index_reader {
	const unsigned char *bytes;
	size_t at, end; /* of entries: no further than where the hash begins */
	unsigned version, hash;
	uint32_t count, left;
	const char *previous;
	size_t previous_length;
	size_t previous_start; /* of its last component, */
	bool previous_slashed; /* which has a backslash */
	bool starts; /* version 4: nothing of the name before may be used for the next entry */
	char name[SB_INDEX_MAX_NAME + 1 + 8]; /* and what a look at whole words sees behind it */
};

static inline uint32_t sb_index_word(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline unsigned sb_index_half(const unsigned char *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

/* False: too short, or of no known version. */
bool sb_index_begin(struct sb_index_reader *reader, struct sb_guard_bytes file, unsigned hash);

/* The next entry, if it is one as git writes it. */
bool sb_index_next(struct sb_index_reader *reader, struct sb_index_entry *out);

static inline bool sb_index_hides(const struct sb_index_entry *entry)
{
	return (entry->flags & SB_INDEX_ASSUMED) || (entry->more & SB_INDEX_SKIPPED);
}

static inline bool sb_index_is_called(const unsigned char *extension, const char *name)
{
	return memcmp(extension, name, 4) == 0;
}

/* Is the extension at *at whole?  Then *at moves behind it. */
bool sb_index_next_extension(const struct sb_index_reader *reader, size_t *at,
			     const unsigned char **out, size_t *out_size);

/* Do extensions, whatever they are, go on from at to the very end? */
bool sb_index_ends_well(const struct sb_index_reader *reader, size_t at);

/* The extension EOIE, if it stands where git looks for it. */
const unsigned char *sb_index_find_end(struct sb_guard_bytes file, unsigned hash);

enum sb_index_fault { SB_INDEX_GOOD, SB_INDEX_LEADS_OUT, SB_INDEX_NO_NAME, SB_INDEX_IS_GIT };

/* Of all components from start, where one begins. */
enum sb_index_fault sb_index_judge_name(const char *name, size_t length, size_t start);

#define SB_INDEX_MAX_COMPONENT 1024 /* more than any file system of Linux can have */

/* One that is neither a dot file, nor git~1, nor anything but ASCII in the first place, is no .git. */
static inline bool sb_index_is_ordinary(const char *name, size_t length)
{
	unsigned char first = (unsigned char)name[0];

	return first != '.' && first != 'g' && first != 'G' && first < 0x80 && length &&
	       length <= SB_INDEX_MAX_COMPONENT;
}

#endif
