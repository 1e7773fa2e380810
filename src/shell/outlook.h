/*
 * outlook.h - what a preview has found, each thing once.
 *
 * Lies in an arena; finish makes the lists of sandbash/preview.h of it.
 */
#ifndef SB_SHELL_OUTLOOK_H
#define SB_SHELL_OUTLOOK_H

#include <stdint.h>

#include "sandbash/preview.h"
#include "shell/arena.h"

struct sb_finding; /* a thing that was found */

struct sb_outlook {
	struct sb_arena *arena;
	struct sb_finding **table; /* by what they are, for each once */
	size_t table_size, count;
	struct sb_finding *first, **tail; /* in their order */
	size_t files, programs, unknown;
	bool online, maybe_online, unknown_network;
};

void sb_outlook_init(struct sb_outlook *outlook, struct sb_arena *arena);
void sb_outlook_file(struct sb_outlook *outlook, const struct sb_preview_file *file);
void sb_outlook_program(struct sb_outlook *outlook, const char *name);
void sb_outlook_unknown(struct sb_outlook *outlook, const char *text, size_t length);
void sb_outlook_network(struct sb_outlook *outlook, enum sb_preview_network network);

/* False: no memory.  The lists lie in the arena. */
bool sb_outlook_finish(const struct sb_outlook *outlook, struct sb_preview *out);

#endif
