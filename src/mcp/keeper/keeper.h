/*
 * keeper.h - the server's other half: unconfined, small, and the one that remembers.
 *
 *     main: fork -> sb_keeper_main() in the child; the parent confines itself and serves
 *
 * The server parses what a client sends and works on files, under Landlock.  What it may not
 * do it asks the keeper for.  The keeper
 *
 *   - holds the session's grants and writes its record (audit.h);
 *   - puts questions: to the client through the server, to people through --attach;
 *   - does an approved operation: in a process of its own, with the same code as the server's,
 *     on a view that says yes to exactly what was approved;
 *   - starts commands: a confined process could start none that sandbash could confine in turn.
 *
 * It reads nothing from the client.  From the server it takes whole messages (link.h) with
 * numbers, names of tools and their arguments; none of them can name an answer to a question
 * that was not put.  It ends when the server does, and ends what it started.
 */
#ifndef SB_MCP_KEEPER_KEEPER_H
#define SB_MCP_KEEPER_KEEPER_H

#include "audit/audit.h"
#include "config/setup.h"
#include "mcp/tools/tool_worker.h"
#include "options/options.h"

struct sb_keeper_options {
	const struct sb_command_line *line;
	const struct sb_setup *setup;
	const struct sb_tool_worker *worker; /* of --worker, or NULL */
	struct sb_session *session;          /* of --session, or NULL */
	int link;                            /* its end of sb_link_pair() */
	int sandbash;           /* O_PATH: the program that runs commands; -1: not found */
	const char *keep_env;   /* what commands see of the environment */
	struct sb_audit *audit; /* of --require-audit: begun already; or NULL */
};

/* Begin the record before anything is served.  SB_E_SYSTEM: it cannot be written. */
int sb_keeper_require_record(const struct sb_keeper_options *options, struct sb_audit **out,
			     struct sb_error *err);

_Noreturn void sb_keeper_main(const struct sb_keeper_options *options);

#endif
