/*
 * agent_json.h - settings of an agent that hold what it remembers and what it runs in one JSON file.
 *
 * ~/.claude.json is written at every start and after every turn: counters, tips, costs, and beside them MCP
 * servers, allowed tools and which directories are trusted.  Two versions of it are compared, and only what
 * runs something, or lets something run unasked, is asked about.
 */
#ifndef SB_GUARD_AGENT_JSON_H
#define SB_GUARD_AGENT_JSON_H

#include "guard/guard.h"

/* Called for each change that somebody has to be asked about: what it is, in our words, and the text. */
typedef void (*sb_agent_json_fn)(void *context, const char *what, const char *text, size_t length);

/*
 * old_bytes may be missing, and then whatever is in new_bytes is new.  settings: all of it is obeyed, and only what
 * is known to be about looks is not asked about.
 */
void sb_agent_json_compare(struct sb_guard_bytes old_bytes, struct sb_guard_bytes new_bytes,
			   bool settings, sb_agent_json_fn ask, void *context);

#endif
