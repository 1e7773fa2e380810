/*
 * unseen.h - what the command wanted in a place that is hidden from it: told, for a run that learns or
 * records everything; and, for the latter (sb_plan.tells_allowed), what it did that rules allow.
 *
 *     performer: an open or a change has ended with EACCES -> sb_unseen_tell() -> wire
 *     asker:     sb_unseen_heard() -> was it a rule? -> the record, the summary
 *     performer: an act is done -> sb_allowed_tell() -> wire
 *     asker:     sb_allowed_heard() -> the record
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
void sb_unseen_tell(struct sb_broker *broker, struct sb_cwd *cwd, const struct sb_call *call,
		    const char *path);

void sb_unseen_heard(struct sb_approver *approver, const struct sb_wire_message *message,
		     const char *text);

/* What was done: target of two names, or NULL.  Reading is counted here, where it is told. */
void sb_allowed_tell(struct sb_broker *broker, const struct sb_call *call, enum sb_op op,
		     const struct sb_spot *file, const struct sb_spot *target);
void sb_allowed_heard(struct sb_approver *approver, const struct sb_wire_message *message,
		      const char *text);

#endif
