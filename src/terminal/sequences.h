/*
 * sequences.h - the control sequences that a command may send to the real terminal.
 *
 * A list of what passes, not of what does not: a terminal has hundreds of ways to make text
 * unreadable, and new ones come.  Each entry is here because programs need it and because a
 * question undoes it (modes.c), or because it leaves nothing behind but cells, which a question
 * writes over.
 */
#ifndef SB_TERMINAL_SEQUENCES_H
#define SB_TERMINAL_SEQUENCES_H

#include <stdbool.h>
#include <stddef.h>

/* Terminals keep 16 numbers or more, and each drops the others as it likes. */
#define SB_CSI_NUMBERS 16

/* CSI: prefix and intermediate are '\0' when there is none. */
struct sb_csi {
	char prefix, intermediate, final;
	const char *text; /* what stands between prefix and intermediate */
	size_t length;
	unsigned value[SB_CSI_NUMBERS];
	size_t count; /* at least one: an absent number is 0 */
};

/*
 * Read a whole sequence, from after "ESC [" to its last byte.  False: it is none that any two
 * terminals would have to understand alike.
 */
bool sb_csi_parse(struct sb_csi *out, const char *text, size_t length);

/* May it pass?  Of a list of modes, those that may not are taken out of value and count. */
bool sb_csi_allowed(struct sb_csi *csi);

/* Is it a list of modes, which may have become shorter? */
bool sb_csi_is_modes(const struct sb_csi *csi);

/* ESC, at most one intermediate byte ('\0': none) and a last one */
bool sb_escape_allowed(char intermediate, char final);

/*
 * May a string pass, by its first bytes?  kind is what stands after ESC: ] P _ k ^ X.  whole:
 * there are no more bytes.
 */
bool sb_string_allowed(char kind, const char *text, size_t length, bool whole);

#endif
