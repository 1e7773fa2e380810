/*
 * embed.h - inside the library's front door.
 */
#ifndef SB_EMBED_EMBED_H
#define SB_EMBED_EMBED_H

#include "config/setup.h"
#include "sandbash/sandbox.h"

/* The rules as file tools have them; the sandbox's own. */
int sb_sandbox_setup_files(struct sb_sandbox *sandbox, const struct sb_setup **out,
			   struct sb_error *err);

#endif
