/*
 * hosts.h - questions and answers about hosts (policy/network.h): what is asked, what an answer covers.
 *
 * "Once" covers one process and one host with this port and protocol, until the process exits; "directory" and
 * "always" the host with port and protocol for everybody in the run; so does "deny".  Where a name leads to
 * an address that asks again (sb_decide_address), that is a question of its own, about both; its
 * answers cover the name at that address alone.  "Always" then is a rule for the address.
 *
 * The answers themselves lie with all others: sb_grants_find_host(), sb_grants_remember_host().
 */
#ifndef SB_CONSENT_HOSTS_H
#define SB_CONSENT_HOSTS_H

#include "config/place.h"
#include "consent/question.h"
#include "policy/network.h"

struct sb_host_wish {
	struct sb_peer peer;
	struct sb_address
		found; /* where the name led, if this is the question; family 0: it is not */
	const struct sb_connect_rule *rule; /* that asks; NULL: the setting does */
	pid_t process;                      /* as of sb_wish */
	uint64_t started;
};

/* "github.com:443", "cdn.example:80 at 169.254.169.254": what an answer is about, in words. */
#define SB_HOST_TEXT_SIZE (SB_PEER_TEXT_SIZE + SB_HOST_ADDRESS_SIZE + 8)
void sb_host_text(const struct sb_host_wish *wish, char out[SB_HOST_TEXT_SIZE]);

/* The texts of a question, for as long as it is shown. */
struct sb_host_words {
	char text[SB_HOST_TEXT_SIZE];
	char peer[SB_PEER_TEXT_SIZE];
	char note[SB_HOST_TEXT_SIZE + 64];
};

/* All of the question but who asks: id, program, process and project are the caller's. */
void sb_host_question(const struct sb_host_wish *wish, struct sb_host_words *words,
		      struct sb_question *out);

/* The text of the rule that an answer which lasts becomes: "github.com:443". */
void sb_host_rule(const struct sb_host_wish *wish, char out[SB_PEER_TEXT_SIZE]);

/*
 * Write "connect HOST" to the per-directory config.  *out_file and *out_rule, malloc'ed, are for the
 * confirmation.  SB_E_CONFLICT: the file says something else about it; nothing is written then.
 */
int sb_host_always(const struct sb_home *home, const struct sb_host_wish *wish, char **out_file,
		   char **out_rule, struct sb_error *err);

/* --- the list that sb_grants keeps ------------------------------------------------------- */

struct sb_host_answer {
	unsigned long number;
	enum sb_answer answer;
	char text[SB_HOST_TEXT_SIZE];
	pid_t process; /* of "once" */
	uint64_t started;
};

struct sb_host_list {
	struct sb_host_answer *answers; /* oldest first */
	size_t count;
	bool full; /* a denial was lost: what is not allowed is denied */
};

enum sb_answer sb_host_list_find(const struct sb_host_list *list, const struct sb_host_wish *wish);
int sb_host_list_add(struct sb_host_list *list, unsigned long number,
		     const struct sb_host_wish *wish, enum sb_answer answer, struct sb_error *err);
void sb_host_list_exited(struct sb_host_list *list, pid_t process);
bool sb_host_list_take_back(struct sb_host_list *list, unsigned long number);

#endif
