/*
 * git_objects.h - objects of a repository, read without git.
 *
 *     open -> read ... read -> close
 *
 * For a look at what git would write before it does.  Whoever is judged has written all of these bytes: each is bounded,
 * and so is what one look unpacks altogether.  What is not found or has not git's form is not read; whoever asks
 * takes that for the worst.  Names are not held against the bytes: git itself does not do that when it reads.
 */
#ifndef SB_GUARD_GIT_OBJECTS_H
#define SB_GUARD_GIT_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SB_GIT_MAX_ID 32 /* bytes, of SHA-256; 20 of SHA-1 */

enum sb_git_type { SB_GIT_COMMIT = 1, SB_GIT_TREE, SB_GIT_BLOB };

struct sb_git_object {
	enum sb_git_type type;
	char *bytes; /* malloc'ed, with a NUL behind them */
	size_t length;
};

struct sb_git_objects;

/* Of the repository whose common git directory is at git; NULL: no memory. */
struct sb_git_objects *sb_git_objects_open(const char *git, size_t id_length);
void sb_git_objects_close(struct sb_git_objects *objects); /* NULL is fine */

/* The object, of this type and at most limit bytes; out->bytes is the caller's.  False: see above. */
bool sb_git_object_read(struct sb_git_objects *objects, const unsigned char *id,
			enum sb_git_type type, size_t limit, struct sb_git_object *out);

/* git_object_packs.c */

struct sb_git_pack {
	int index, data;
	uint32_t count;
};

/* directory + name of the index, "pack-ID.idx".  False: it is none that can be read. */
bool sb_git_pack_open(const char *directory, const char *name, struct sb_git_pack *out);
void sb_git_pack_close(struct sb_git_pack *pack);

/* Where in the pack the object begins. */
bool sb_git_pack_find(const struct sb_git_pack *pack, const unsigned char *id, size_t id_length,
		      uint64_t *out_offset);

/* left: of what may be unpacked. */
bool sb_git_pack_read(const struct sb_git_pack *pack, uint64_t offset, size_t id_length,
		      size_t *left, struct sb_git_object *out);

#endif
