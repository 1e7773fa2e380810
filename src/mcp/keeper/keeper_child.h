/*
 * keeper_child.h - what the files of the process that does one operation share (keeper_child.c).
 */
#ifndef SB_MCP_KEEPER_KEEPER_CHILD_H
#define SB_MCP_KEEPER_KEEPER_CHILD_H

#include "mcp/keeper/keeper_impl.h"
#include "mcp/tools/tools.h"

struct child {
	const struct keeper *keeper;
	const struct keeper_perform *perform;
	json_t *question; /* the first that is open */
	json_t *used;     /* what an answer allowed: for the record */
	json_t *refused;  /* the same of what was refused */
	json_t *allowed;  /* what rules allow, where that is recorded */
	unsigned long allowed_count[SB_OP_COUNT];
	json_t *open; /* a project that the keeper is to open; or NULL */
	bool changed; /* what was shown is another thing each time: not asked about any more */
};

/* --- keeper_look.c ------------------------------------------------------------------------------ */

/* Was it answered already?  SB_ANSWER_NONE: no. */
enum sb_answer sb_child_known(const struct child *child, const struct keeper_subject *subject);

/*
 * Does a program outside obey the name?  bytes NULL: there are none yet.  True: notes say by whom; *out_row (may be
 * NULL) is left alone where no row is about it.
 */
bool sb_child_is_guarded(const struct child *child, enum sb_op op, const char *path,
			 const struct sb_guard_bytes *bytes, json_t *notes,
			 const struct sb_guard_row **out_row);

/* What stands at path; nothing: a file, which could be made. */
enum sb_thing sb_child_thing(const char *path);

/* Where all of the content asks, the guard's words are its beginning, which the question shows anyway. */
bool sb_child_says_content(const struct sb_guard_row *row, const char *content);
/* What would be written instead of old, as far as a person sees it, into the question; NULL: nothing. */
void sb_child_show(struct child *child, const char *old, size_t old_length, const char *content,
		   size_t length);
void sb_child_note(json_t *notes, const char *text);
void sb_child_note_lines(json_t *notes, const char *lines);

/* --- keeper_worker.c: the same with --worker, for what_may_i_do as well ---------------------------- */
enum sb_answer sb_keeper_worker_known(const struct child *child,
				      const struct keeper_subject *subject);
int sb_keeper_worker_said(const void *context, enum sb_op op, const char *path);
json_t *sb_keeper_worker_grants(const struct keeper *keeper);

/* --- keeper_ahead.c ------------------------------------------------------------------------------ */

/* request_access: asks about a path that it does nothing to. */
json_t *sb_ahead_request(struct child *child, struct sb_tool_call *call);

/* The model's reason, marked as its words; nothing without one. */
void sb_ahead_reason(json_t *notes, const json_t *args);

/* "granted", "denied", "nobody" or "refused", and for how long: into the structured content. */
json_t *sb_ahead_outcome(json_t *result, const char *outcome, const char *until);

/* A "denied" or "refused" one. */
json_t *sb_ahead_no(const char *outcome, const char *code, const char *person, const char *model);

/* What was answered about this for the session (context is the child); as sb_tool_call's said(). */
int sb_ahead_said(const void *context, enum sb_op op, const char *path);

/* What was granted in this session, for what_may_i_do; a new array. */
json_t *sb_ahead_grants(const struct keeper *keeper);

/* --- keeper_project.c ---------------------------------------------------------------------------- */
json_t *sb_project_request(struct child *child, struct sb_tool_call *call); /* open_project */

/* --- keeper_git.c: git_pull and the others; files: who a view asks ----------------------------------- */
json_t *sb_git_request(struct child *child, struct sb_tool_call *call,
		       const struct sb_files_options *files);

#endif
