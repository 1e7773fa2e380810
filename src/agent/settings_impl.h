/* settings_impl.h - what the files behind settings.h share. */
#ifndef SB_AGENT_SETTINGS_IMPL_H
#define SB_AGENT_SETTINGS_IMPL_H

#include <string.h>

#include "agent/settings.h"
#include "base/words.h"

#define SB_SETTINGS_LIMIT (64 * 1024 * 1024) /* claude keeps its whole state beside the server */

/* The first line of a file that is all ours, without "// ": agent, sum of the rest. */
#define SB_PIECE_ADDED "added by sandbash --setup %s, sum %.16s; --undo removes it\n"

/* The line before tables that are ours. */
#define SB_TOML_ADDED "# added by sandbash --setup codex; --undo removes it\n"

static inline bool sb_agent_is(const struct sb_agent *agent, const char *name)
{
	return strcmp(sb_agent_name(agent), name) == 0;
}

/* Is it the path of a server of ours? */
static inline bool sb_piece_is_server(const char *text)
{
	return sb_text_ends(text, "/sandbash-mcp") && text[strlen("/sandbash-mcp")];
}

/* Did we write this command of a hook, for whatever path and options? */
bool sb_piece_is_command(const struct sb_agent *agent, const char *text);

/* --- toml_piece.c --- */

struct sb_toml_piece {
	enum sb_piece_state state;
	size_t start, end; /* whole lines, the comment before them included; 0 and 0: none */
};

int sb_toml_piece_find(const struct sb_agent *agent, const struct sb_piece *piece, const char *text,
		       size_t length, struct sb_toml_piece *out, struct sb_error *err);

#endif
