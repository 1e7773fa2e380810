/*
 * contacts.h - what the record, and the end of the run, have of hosts: asked about, refused, reached.
 */
#ifndef SB_SUPERVISE_CONTACTS_H
#define SB_SUPERVISE_CONTACTS_H

#include "consent/hosts.h"
#include "network/network.h"
#include "supervise/approve.h"

/* A question was put, or has its answer; NULL: none yet. */
void sb_contact_asked(struct sb_approver *approver, const struct sb_host_wish *wish,
		      unsigned long question, const char *answer, const char *by);

/* program: what the process was; NULL: it is still there. */
void sb_contact_refused(struct sb_approver *approver, const struct sb_host_wish *wish,
			const char *by, const char *program);

/* "good.example:80 curl": the rules of a run inside (domains.h) do not allow that. */
void sb_contact_refused_inside(struct sb_approver *approver, pid_t process, const char *text);

/* A connection has ended, or could not be made.  program: who made it; NULL: its process says. */
void sb_contact_ended(struct sb_approver *approver, const struct sb_gate_message *message,
		      int error, const char *program);

#endif
