/*
 * tell.h - what is told at the end of a run, of acts that nobody was asked about.
 *
 * Called when an act was done, by whoever did it, before its caller goes on: so the line is there
 * before the command can end.
 */
#ifndef SB_SUPERVISE_TELL_H
#define SB_SUPERVISE_TELL_H

#include "consent/notes.h"
#include "sandbash/policy.h"
#include "supervise/call.h"
#include "supervise/case.h"
#include "supervise/resolve.h"

struct sb_telling {
	const struct sb_policy *policy;
	void (*note)(void *context, enum sb_note_weight weight, const char *line);
	void *context;
};

/*
 * Did it change instructions of agents (guard.h)?  file and target as before the act; target counts
 * for rename and link.  About 20 ns for an ordinary name.
 */
void sb_tell_act(const struct sb_telling *telling, const struct sb_call *call,
		 const struct sb_spot *file, const struct sb_spot *target);

/* "'PATH' WHAT", which is grave, unless it is gone with the run anyway. */
void sb_tell_at(const struct sb_telling *telling, const char *path, const char *what);

/* Of links that were made, or have got a name: do they lead where guarded names are? */
void sb_tell_links(const struct sb_telling *telling, const struct sb_judgement *judgement);

#endif
