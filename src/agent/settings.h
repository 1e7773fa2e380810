/*
 * settings.h - what an agent's own settings need so that it uses sandbash, and how to add and
 * remove it.
 *
 *     sb_pieces_make(agent, &places, ...) -> one piece for the hook, one for the server
 *     sb_piece_look(piece, text, ...)     -> is it there, is it ours?
 *     sb_piece_add / sb_piece_remove      -> the text with or without it
 *
 * A piece is text in one file: a value of a JSON file, tables of a TOML file, or a whole file of
 * our own.  Functions here work on bytes and touch no disk; everything else in the text stays as
 * it is.
 */
#ifndef SB_AGENT_SETTINGS_H
#define SB_AGENT_SETTINGS_H

#include "agent/agent.h"
#include "base/buf.h"
#include "sandbash/error.h"

enum sb_piece_form {
	SB_PIECE_MEMBER, /* JSON: an object's member keys[0]...keys[n] */
	SB_PIECE_ITEM,   /* JSON: one more value of the array at keys */
	SB_PIECE_BLOCK,  /* TOML: tables at keys[0], a path as toml.h has it */
	SB_PIECE_FILE,   /* all of a file, which nobody else writes */
};

struct sb_piece {
	const char *what; /* "hook" or "server", for people */
	enum sb_piece_form form;
	char *file;          /* absolute */
	const char *keys[3]; /* NULL after the last */
	char *value;         /* JSON, the block's lines, or the file */
};

#define SB_MAX_PIECES 2

struct sb_pieces {
	size_t count;
	struct sb_piece all[SB_MAX_PIECES];
	char *command; /* what the hook runs, in a shell; NULL: it is a plugin */
};

/* Where things are; strings stay the caller's. */
struct sb_agent_places {
	const char *home;        /* absolute */
	const char *config_home; /* $XDG_CONFIG_HOME, or NULL */
	const char *agent_home;  /* $CLAUDE_CONFIG_DIR or $CODEX_HOME, or NULL */
	bool other_file;         /* opencode: opencode.jsonc is there, so that is meant */
	const char *program;     /* sandbash, absolute */
	const char *server;      /* sandbash-mcp, absolute */
	const char *const *options;
};

/* The variable that moves an agent's settings; NULL: none. */
const char *sb_agent_variable(const struct sb_agent *agent);

/* SB_E_INVALID: a path or an option cannot be written in a settings file.  SB_E_NOMEM. */
int sb_pieces_make(const struct sb_agent *agent, const struct sb_agent_places *places,
		   struct sb_pieces *out, struct sb_error *err);
void sb_pieces_done(struct sb_pieces *pieces);

enum sb_piece_state {
	SB_PIECE_NONE,
	SB_PIECE_SAME,  /* exactly what we would write */
	SB_PIECE_OURS,  /* written by us for another path or other options */
	SB_PIECE_THEIRS /* of this name, but not ours, or changed since */
};

/* SB_E_INVALID: text is not understood.  "" is a file that is not there. */
int sb_piece_look(const struct sb_agent *agent, const struct sb_piece *piece, const char *text,
		  size_t length, enum sb_piece_state *out, struct sb_error *err);

/* Of NONE or OURS; the result is SAME, which is checked. */
int sb_piece_add(const struct sb_agent *agent, const struct sb_piece *piece, const char *text,
		 size_t length, struct sb_buf *out, struct sb_error *err);

/*
 * Of SAME or OURS; before is the text as it was without the piece, "" if there was none: brackets
 * that are empty now and were not in it go as well.  Out empty: nothing is left in the file.
 */
int sb_piece_remove(const struct sb_agent *agent, const struct sb_piece *piece,
		    const struct sb_buf *text, const struct sb_buf *before, struct sb_buf *out,
		    struct sb_error *err);

/* --- will it be called? ------------------------------------------------------------------- */

enum sb_hook_trust {
	SB_HOOK_ON,        /* nothing in the file is against it */
	SB_HOOK_OFF,       /* a setting turns hooks off: why */
	SB_HOOK_UNTRUSTED, /* codex: the person has not said yes to it */
	SB_HOOK_CHANGED,   /* codex: a yes was said to something else */
	SB_HOOK_TRUSTED,   /* codex: it was */
};

struct sb_hook_state {
	enum sb_hook_trust trust;
	const char *why; /* static */
};

/* What the text of the file that has the hook says about it. */
int sb_hook_look(const struct sb_agent *agent, const struct sb_pieces *pieces, const char *file,
		 const struct sb_buf *text, struct sb_hook_state *out, struct sb_error *err);

/*
 * Files of a project in which the same settings count; NULL-terminated, relative.  What a
 * repository brings along can turn a person's hook off there: claude asks nobody about that.
 */
const char *const *sb_agent_project_files(const struct sb_agent *agent);

#endif
