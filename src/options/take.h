/*
 * take.h - what an option that was given does to the command line.
 */
#ifndef SB_OPTIONS_TAKE_H
#define SB_OPTIONS_TAKE_H

#include "options/options.h"

/* argument: as it was written, with its value if that does not stand apart. */
int sb_option_take(struct sb_command_line *line, const struct sb_option *option,
		   const char *argument, const char *value, bool apart, struct sb_error *err);

/* For rows of the table. */
sb_take_fn sb_take_agent_report, sb_take_ask_fd, sb_take_consent, sb_take_keep_fd, sb_take_learn,
	sb_take_mode, sb_take_network, sb_take_session, sb_take_timeout, sb_take_tmp,
	sb_take_verdict;

#endif
