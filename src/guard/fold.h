/*
 * fold.h - names as the most forgiving file system would compare them.
 *
 * A directory may ignore case (ext4 casefold, vfat, HFS+ over a network), and such file
 * systems leave out characters that show as nothing: ".g\u200cit" is ".git" there.  Guarded
 * names are ASCII, so only what folds to ASCII matters.  On any other directory the worst is
 * that a name which nobody uses is taken for a guarded one.
 */
#ifndef SB_GUARD_FOLD_H
#define SB_GUARD_FOLD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SB_FOLD_MAX 32 /* longer than any name in the table */

struct sb_folded {
	uint32_t hash;
	unsigned char length; /* SB_FOLD_MAX: too long, text is not set */
	char text[SB_FOLD_MAX];
};

/* Most names; they fold byte by byte. */
static inline int sb_is_ascii(const char *name, size_t length)
{
	uint64_t seen = 0, word;
	size_t at = 0;

	for (; at + sizeof word <= length; at += sizeof word) {
		memcpy(&word, name + at, sizeof word);
		seen |= word;
	}
	for (; at < length; at++)
		seen |= (unsigned char)name[at];
	return !(seen & UINT64_C(0x8080808080808080));
}

/* Characters that fold to ASCII and are no ASCII letters themselves. */
struct sb_fold_odd {
	uint32_t point;
	char text[4];
};

extern const struct sb_fold_odd sb_fold_odd[];
extern const size_t sb_fold_odd_count;

void sb_fold(const char *name, size_t length, struct sb_folded *out);

/* One that is too long equals none. */
static inline int sb_folded_same(const struct sb_folded *a, const struct sb_folded *b)
{
	return a->length == b->length && a->length != SB_FOLD_MAX && a->hash == b->hash &&
	       memcmp(a->text, b->text, a->length) == 0;
}

/* Does the folded form of name end in suffix, which is folded already? */
int sb_fold_ends(const char *name, size_t length, const char *suffix, size_t suffix_length);

/*
 * How many bytes of name fold to prefix, which is folded already and not empty; 0: it begins
 * otherwise.
 */
size_t sb_fold_begins(const char *name, size_t length, const char *prefix, size_t prefix_length);

/*
 * Is it .git on some file system?  Beside folding, NTFS leaves out dots and spaces at the end,
 * takes what is behind a colon for a stream, and knows .git as git~1.  A backslash ends it, too:
 * the rule of git's own is_ntfs_dotgit().
 */
int sb_fold_is_git(const char *name, size_t length);

#endif
