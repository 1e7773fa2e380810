#include "supervise/domains.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

#include "enforce/inside.h"
#include "policy/encode.h"
#include "sys/notify.h"

#define MAX_DOMAINS 1024             /* different ones: the same rules in the same place are one */
#define MAX_BYTES (16 * 1024 * 1024) /* of all rules together: they are never given back */

/*
 * Marks count down, so that a process can always be given a later one: a hard limit never rises.
 * The mark before the first one is the run's own, where it needs one.
 */
static rlim_t first_mark = 1u << 30;
static bool is_marked;

struct entry {
	struct sb_domain domain;
	char *bytes; /* its rules as they came, to know the same ones again */
	size_t length;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries[MAX_DOMAINS];
static size_t count; /* entries never change or go once counted */
static size_t bytes_kept;

bool sb_domain_of(pid_t thread, const struct sb_domain **out)
{
	size_t known = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
	struct rlimit limit;
	size_t index;

	*out = NULL;
	if (known == 0)
		return true;
	if (prlimit(thread, RLIMIT_LOCKS, NULL, &limit) != 0)
		return false;
	if (limit.rlim_max > first_mark) /* never marked, or as the run itself */
		return true;
	index = first_mark - limit.rlim_max;
	if (index >= known)
		return false;
	*out = &entries[index]->domain;
	return true;
}

/* Another run's marks are others, of so many that none will be met twice. */
int sb_domain_begin(pid_t first)
{
	struct rlimit mark;
	uint64_t chosen;

	if (getrandom(&chosen, sizeof chosen, 0) != sizeof chosen)
		return -EIO;
	first_mark = (1ull << 61) + (chosen >> 4);
	is_marked = true;
	mark.rlim_cur = mark.rlim_max = first_mark + 1;
	return prlimit(first, RLIMIT_LOCKS, &mark, NULL) != 0 ? -errno : 0;
}

static bool is_of_the_run(pid_t process)
{
	struct rlimit limit;

	return is_marked && prlimit(process, RLIMIT_LOCKS, NULL, &limit) == 0 &&
	       limit.rlim_max <= first_mark + 1 && limit.rlim_max > first_mark - MAX_DOMAINS;
}

bool sb_domain_is_within(const struct sb_domain *domain, const struct sb_domain *around)
{
	while (domain && domain != around)
		domain = domain->outer;
	return domain == around;
}

bool sb_domain_reaches(pid_t caller, pid_t process)
{
	const struct sb_domain *from, *to;

	if (!is_of_the_run(process) || !sb_domain_of(caller, &from) || !sb_domain_of(process, &to))
		return false;
	return sb_domain_is_within(to, from);
}

static int find(const struct sb_domain *outer, const char *bytes, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (entries[i]->domain.outer == outer && entries[i]->length == length &&
		    memcmp(entries[i]->bytes, bytes, length) == 0)
			return (int)i;
	return -1;
}

/*
 * "worker NAME", the first line of a note.  What separates names in a chain of them, or would be more than a line, is in
 * no name.
 */
static void read_name(const char *note, char out[SB_DOMAIN_WORKER])
{
	size_t length = 0;

	if (strncmp(note, SB_NOTE_WORKER, sizeof SB_NOTE_WORKER - 1) == 0)
		for (note += sizeof SB_NOTE_WORKER - 1;
		     note[length] && note[length] != '\n' && length < SB_DOMAIN_WORKER - 1;
		     length++)
			out[length] = note[length] < ' ' || note[length] == '>' ? '?'
										: note[length];
	out[length] = '\0';
}

/* A new domain, or the one that says the same; its index. */
static int make(const struct sb_domain *outer, const char *bytes, size_t length)
{
	const char *rules = memchr(bytes, '\0', length);
	struct entry *entry;
	struct sb_policy *policy;
	int found = find(outer, bytes, length);

	if (found >= 0)
		return found;
	if (count == MAX_DOMAINS || bytes_kept + length > MAX_BYTES)
		return -ENOSPC;
	if (!rules++ ||
	    sb_policy_decode(rules, length - (size_t)(rules - bytes), &policy, NULL) != SB_OK)
		return -EINVAL;
	entry = malloc(sizeof *entry);
	if (entry) {
		*entry = (struct entry){
			{.policy = policy, .outer = outer, .number = (unsigned)count + 1},
			malloc(length),
			length};
		if (entry->bytes) {
			memcpy(entry->bytes, bytes, length);
			entry->domain.note = entry->bytes;
			read_name(entry->bytes, entry->domain.worker);
			entries[count] = entry;
			bytes_kept += length;
			__atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
			return (int)count - 1;
		}
		free(entry);
	}
	sb_policy_free(policy);
	return -ENOMEM;
}

int sb_domain_enter(int listener, uint64_t id, pid_t process, const char *bytes, size_t length)
{
	const struct sb_domain *outer;
	struct rlimit mark;
	int index;

	if (!sb_domain_of(process, &outer))
		return -EACCES;
	pthread_mutex_lock(&lock);
	index = make(outer, bytes, length);
	pthread_mutex_unlock(&lock);
	if (index < 0)
		return index;
	if (!sb_sys_notify_alive(listener, id))
		return -ESRCH; /* its number may be another's by now */
	mark.rlim_cur = mark.rlim_max = first_mark - (rlim_t)index;
	/* EPERM: its limit is lower already; an inner run of ours sees that and does not start */
	return prlimit(process, RLIMIT_LOCKS, &mark, NULL) != 0 ? -errno : 0;
}

/* --- hosts --------------------------------------------------------------------------------------- */

static bool is_apart(const struct sb_policy *own, const struct sb_policy *inner)
{
	return sb_policy_needs_gate(inner) && !sb_network_covers(own, inner);
}

/*
 * SECURITY: a run inside is told that its rules hold only where they do.
 *
 * Danger: "deny connect 10.0.0.0/8" is about where a name leads, which only the dialer finds out, by our rules; what was
 * learned would be told by nobody.  Such a run does not start.
 * Price: a run inside with rules of its own about hosts ends datagrams for all of the run.
 * Held by: tests/cli/network_consent.py
 */
bool sb_inner_hosts_hold(struct sb_gate *gate, const struct sb_policy *own,
			 const struct sb_domain *domain)
{
	const struct sb_policy *inner = domain->policy;

	return !is_apart(own, inner) ||
	       (sb_network_of(inner) != SB_NETWORK_LEARN && sb_network_is_by_name(inner) &&
		sb_gate_end_datagrams(gate));
}

bool sb_inner_hosts_allow(struct sb_gate *gate, const struct sb_policy *own, pid_t thread,
			  const struct sockaddr_storage *address, socklen_t length,
			  struct sb_peer *out_refused)
{
	const struct sb_domain *domain;
	struct sb_peer peer;
	bool known = false;

	out_refused->port = 0;
	if (!sb_domain_of(thread, &domain))
		return false;
	for (; domain; domain = domain->outer) {
		if (!is_apart(own, domain->policy))
			continue;
		if (!known && !sb_gate_who(gate, address, length, &peer))
			return false;
		known = true;
		if (peer.port && sb_decide_connect(domain->policy, &peer).verdict != SB_ALLOW) {
			*out_refused = peer;
			return false;
		}
	}
	return true;
}
