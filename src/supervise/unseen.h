/*
 * unseen.h - what the command wanted in a place that is hidden from it: told, for a run that learns.
 *
 *     performer: an open or a change has ended with EACCES -> sb_unseen_tell() -> wire
 *     asker:     sb_unseen_heard() -> was it a rule? -> the record, the summary
 *
 * What mounts and Landlock hide is no question for anybody: the kernel, or the performer, which sees no more
 * than the command, says no.  So nothing of it reaches the asker, unless the plan says that it is told
 * (sb_plan.tells_hidden).  Nothing is opened because of it, and the asker takes a path for no more than a path.
 */
#ifndef SB_SUPERVISE_UNSEEN_H
#define SB_SUPERVISE_UNSEEN_H

#include "supervise/approve.h"
#include "supervise/performer.h"

/* Before the caller gets its answer.  path: where it led; NULL: to be found out. */
void sb_unseen_tell(const struct sb_broker *broker, struct sb_cwd *cwd, const struct sb_call *call,
		    const char *path);

void sb_unseen_heard(struct sb_approver *approver, const struct sb_wire_message *message,
		     const char *text);

#endif
