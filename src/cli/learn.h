/*
 * learn.h - --learn: a run that is refused what any run with nobody to ask is, and after it rules that would
 * have sufficed.
 *
 *     begin -> set up -> ready -> the command runs -> tell           and then the process ends
 *
 * What was refused comes from the summary (consent/summary.h), the set from learn_set.h, what is never in
 * it from learn_never.h.  The text is read back as a rule file and each refusal judged again before it is shown.
 */
#ifndef SB_CLI_LEARN_H
#define SB_CLI_LEARN_H

#include "cli/cli.h"
#include "cli/report.h"
#include "consent/summary.h"

struct sb_learn {
	struct sb_report_file file; /* directory NULL: the text goes to standard error */
	struct sb_command_line
		plain; /* as it was given, without the rules of an earlier run; borrowed */
	const char **policy_files; /* with them */
	char *known;               /* their text; or NULL */
};

/* What the command line means for such a run.  Each returns 0 or an exit status, with the error said. */
int sb_learn_begin(struct sb_command_line *line, struct sb_learn *out);
int sb_learn_ready(const struct sb_command_line *line, const struct sb_setup *setup,
		   struct sb_learn *learn);

/* program: the file that was found for the command, whose profile counts; or NULL. */
int sb_learn_tell(const struct sb_learn *learn, const struct sb_setup *setup, const char *program,
		  char *const *argv, const struct sb_summary *summary);

#endif
