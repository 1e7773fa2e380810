/*
 * agent.h - coding agents: what they say before a tool runs, and what they want to hear.
 *
 *     sb_agent_find("claude") -> sb_tool_event_read(agent, text, ...) -> event.kind
 *         SB_TOOL_SHELL         sb_agent_wrap(): the same command, under sandbash
 *         SB_TOOL_WRITE, ...    sb_tool_event_paths(): which files, for the judge
 *     sb_answer_...(): bytes for the agent's standard input
 *
 * Four programs, one event: the name of a tool and its arguments, as JSON.  What differs is in
 * the tables of agent.c.  Nothing here decides whether something may happen.
 *
 * The bytes are the model's, so they are hostile: an event that is not understood is an error,
 * and whoever asks refuses then.
 */
#ifndef SB_AGENT_AGENT_H
#define SB_AGENT_AGENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "agent/json_text.h"
#include "sandbash/error.h"

/* A file that a tool writes comes along whole; agents themselves stop far below. */
#define SB_TOOL_EVENT_LIMIT (64 * 1024 * 1024)

struct sb_agent; /* a row of the table in agent.c */

/* NULL: no agent of this name. */
const struct sb_agent *sb_agent_find(const char *name);
const char *sb_agent_name(const struct sb_agent *agent);

/* --- events --------------------------------------------------------------------------------- */

enum sb_tool_kind {
	SB_TOOL_OTHER, /* none of ours: it passes */
	SB_TOOL_SHELL,
	SB_TOOL_READ,   /* of a file, or of names in a directory */
	SB_TOOL_WRITE,  /* a file, by its path */
	SB_TOOL_PATCH,  /* files that a patch names */
	SB_TOOL_REFUSE, /* runs code in a way that cannot be confined from here */
};

#define SB_TOOL_PATTERNS 2

/* SB_TOOL_READ: how a tool looks through a directory, with all that is beneath. */
struct sb_tool_search {
	bool looks;                             /* it does */
	bool chooses;                           /* only for what its patterns name */
	const char *patterns[SB_TOOL_PATTERNS]; /* arguments: one pattern, or a list of them */
};

struct sb_tool_event {
	const struct sb_agent *agent;
	struct sb_json_text doc;
	enum sb_tool_kind kind;
	char *tool;      /* its name */
	char *cwd;       /* absolute */
	size_t input;    /* the tool's arguments, an object; 0 for SB_TOOL_OTHER */
	size_t target;   /* in it: the command, the path or the patch; 0: left out, as it may be */
	char *text;      /* what target says; NULL: left out */
	size_t contents; /* all that a written file will hold; 0: not known */
	struct sb_tool_search search;
};

/*
 * text must outlive the event.  SB_E_INVALID: no event of this agent's, or one that lacks what
 * its tool cannot do without.  SB_E_NOMEM.
 */
int sb_tool_event_read(const struct sb_agent *agent, const char *text, size_t length,
		       struct sb_tool_event *out, struct sb_error *err);
void sb_tool_event_done(struct sb_tool_event *event);

/* An event as the agent sends it when the model wants to run this command. */
void sb_tool_event_sample(const struct sb_agent *agent, const char *cwd, const char *command,
			  struct sb_buf *out);

/* --- commands ------------------------------------------------------------------------------- */

/*
 * The command of an event so that it runs under program, an absolute path, with these options:
 *
 *     PROGRAM OPTIONS -- bash -c 'COMMAND'
 *
 * quoted for any shell.  Where the agent lets the model choose the directory, sandbash is started
 * in the event's all the same, since that is the project, and the command goes where it was to
 * run.
 *
 * A command that is exactly such a text is left as it is; one that only looks like it is wrapped.
 */
void sb_agent_wrap(const struct sb_tool_event *event, const char *program,
		   const char *const *options, struct sb_buf *out);

/* One word for any shell: as it is, or in single quotes. */
void sb_agent_quote(struct sb_buf *out, const char *text, size_t length);

/* --- paths ---------------------------------------------------------------------------------- */

enum sb_touch {
	SB_TOUCH_READ,
	SB_TOUCH_WRITE,
	SB_TOUCH_REMOVE,
	SB_TOUCH_SEARCH, /* read, with all that is beneath */
};

/*
 * Each path that the tool would touch, as the agent may understand it: the same text can come
 * twice, with another beginning.  A callback that does not return SB_OK ends it.  SB_E_INVALID: a
 * path is written in a way that agents read differently, a patch names no file, or a pattern may
 * lead where it does not say.
 */
int sb_tool_event_paths(const struct sb_tool_event *event,
			int (*visit)(void *context, enum sb_touch touch, const char *path,
				     struct sb_error *err),
			void *context, struct sb_error *err);

/* --- answers -------------------------------------------------------------------------------- */

/* Nothing to say: what the agent would do without us, its own question included. */
void sb_answer_pass(const struct sb_tool_event *event, struct sb_buf *out);

/* Its own question stays; the tool gets its arguments with this command instead. */
void sb_answer_command(const struct sb_tool_event *event, const char *command, size_t length,
		       struct sb_buf *out);

/* No, and why, for the model. */
void sb_answer_deny(const struct sb_tool_event *event, const char *reason, struct sb_buf *out);

#endif
