/*
 * agent_report.h - --agent-report: what was refused, for the agent that has started the command.
 *
 *     check -> the command runs -> write
 *
 * One line of JSON behind a mark, the last that is written: by then everything that the command has
 * started is gone.  It is written also when nothing was refused, so that the last line is
 * never the command's own.  A descriptor of the caller's is out of the command's reach altogether.
 */
#ifndef SB_CLI_AGENT_REPORT_H
#define SB_CLI_AGENT_REPORT_H

#include "consent/summary.h"
#include "options/options.h"

/*
 * Before the run: it can be reported on, and the descriptor is never the command's.  =auto is for who cannot
 * know what kind of run it will be (--hook): without a report the summary for people is left.
 */
int sb_agent_report_check(struct sb_command_line *line, const struct sb_policy *policy,
			  struct sb_error *err);

int sb_agent_report_write(const struct sb_command_line *line, const struct sb_summary *summary,
			  struct sb_error *err);

#endif
