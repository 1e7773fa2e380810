/*
 * approve_tell.c - what the asker says to the person, and writes down.
 */
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "supervise/approve.h"

void sb_approver_tell(const struct sb_approver *approver, const struct sb_error *err)
{
	char line[sizeof err->message + 128];

	snprintf(line, sizeof line, "%s%s%s", err->message, err->sys_errno ? ": " : "",
		 err->sys_errno ? strerror(err->sys_errno) : "");
	if (approver->asking.notice)
		approver->asking.notice(approver->asking.context, line);
}

void sb_approver_record(struct sb_approver *approver, const struct sb_event *event)
{
	struct sb_error err;

	if (approver->audit && sb_audit_write(approver->audit, event, &err) != SB_OK)
		sb_approver_tell(approver, &err);
}

void sb_approver_note(void *context, enum sb_note_weight weight, const char *line)
{
	struct sb_approver *approver = context;
	char safe[SB_NOTE_SIZE];
	struct sb_event event = {.kind = SB_EVENT_NOTE,
				 .note = sb_escape_line(safe, sizeof safe, line)};

	if (approver->summary && sb_summary_note(approver->summary, weight, safe))
		sb_approver_record(approver, &event);
}
