/*
 * set_up.h - from a command line and the environment to the rules that count.
 *
 *     sb_command_line_parse -> sb_set_up -> sb_setup_done, sb_command_line_done
 *
 * Reads the environment, and says on standard error what is wrong.
 */
#ifndef SB_OPTIONS_SET_UP_H
#define SB_OPTIONS_SET_UP_H

#include "config/setup.h"
#include "options/options.h"

struct sb_guard;
struct sb_session;

/* The request that flags and environment make; strings stay the command line's. */
struct sb_setup_request sb_request(const struct sb_command_line *line, bool looking);

/* The session that --session names; NULL: none.  Opened by sb_set_up(). */
struct sb_session *sb_session_in_use(void);

/*
 * What the named session has kept, and what was granted for this run, as rules; context is the command line.  As
 * part of sb_set_up(), unless the run's own paths are others (--worker).
 */
int sb_answers_add(void *context, const struct sb_home *home, struct sb_policy *policy,
		   struct sb_error *err);

/* getenv(), for many names in a row. */
const char *sb_own_variable(const char *name);

/* Does this command line start a supervised run here? */
bool sb_is_supervised(const struct sb_command_line *line);

/* Does a guard judge names in the run that this command line starts, or would start? */
bool sb_is_guarded(const struct sb_command_line *line, const struct sb_setup *setup);

/* The guard of the run that setup is for, under policy, mostly its own; sb_guard_free() ends it. */
int sb_guard_of(const struct sb_setup *setup, const struct sb_policy *policy, struct sb_guard **out,
		struct sb_error *err);

/*
 * sb_setup_make() with its warnings and errors printed; 0 or an exit status.  file: what was found for
 * the command, whose profile counts; or NULL.
 */
int sb_set_up(const struct sb_command_line *line, bool looking, struct sb_setup *out);
int sb_set_up_for(const struct sb_command_line *line, const char *file, bool looking,
		  struct sb_setup *out);

/*
 * The same of a run that was, for those who judge it once more: with text, lines as in a file of --policy, and
 * nothing printed.
 */
int sb_set_up_again(const struct sb_command_line *line, const char *file, const char *text,
		    struct sb_setup *out, struct sb_error *err);

#endif
