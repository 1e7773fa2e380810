/*
 * reached.h - hosts that a run has reached or was refused, for the end of the run: a part of summary.h.
 */
#ifndef SB_CONSENT_REACHED_H
#define SB_CONSENT_REACHED_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/json.h"
#include "policy/network.h"

struct sb_contact {
	struct sb_peer peer;
	bool reached;         /* else it was refused */
	const char *program;  /* NULL: unknown */
	const char *by;       /* as in the record */
	int proxy;            /* it failed at a proxy: network/network.h; */
	const char *variable; /* ... and what names that */
	const char *tls; /* the name in TLS that it was reset for, "": none to believe; or NULL */
	/* The rule that decided; NULL: the setting.  Need not live on. */
	const struct sb_connect_rule *rule;
};

struct sb_contact_list {
	struct contact *entries;
	size_t count;
	unsigned long refused, beyond; /* in all; and those that are not kept */
};

void sb_contacts_add(struct sb_contact_list *list, const struct sb_contact *contact);
void sb_contacts_done(struct sb_contact_list *list);

/* Was one refused because nobody could be asked? */
bool sb_contacts_nobody(const struct sb_contact_list *list);

/* What was refused, why, and what allows it; at most so many. */
void sb_contacts_text(const struct sb_contact_list *list, size_t lines, struct sb_buf *out);
void sb_contacts_json(const struct sb_contact_list *list, struct sb_json *json);

/* "connect github.com:443   # curl": those that were reached, and those that a rule could allow. */
void sb_contacts_rules(const struct sb_contact_list *list, bool refused, struct sb_buf *out);

#endif
