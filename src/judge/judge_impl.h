/* judge_impl.h - between the files of this room. */
#ifndef SB_JUDGE_JUDGE_IMPL_H
#define SB_JUDGE_JUDGE_IMPL_H

#include "judge/judge.h"

static inline struct sb_decision sb_stricter(struct sb_decision a, struct sb_decision b)
{
	return b.verdict > a.verdict ? b : a;
}

static inline bool sb_is_danger(const struct sb_grounds *grounds)
{
	return sb_policy_mode(grounds->policy) == SB_MODE_DANGER_FULL_ACCESS;
}

/* A built-in rule that is no policy's: changes ask, for this reason. */
#define SB_ASKS(reason)                                                                            \
	{                                                                                          \
		.tier = SB_TIER_BUILTIN, .access = {{SB_ALLOW, SB_ASK, SB_ASK, SB_ASK}},           \
		.pattern = "/", .origin = reason                                                   \
	}

/* Where what a site means is found: a name in a directory, or the thing itself, which a descriptor named. */
struct sb_found {
	int at; /* -1: nowhere */
	const char *name;
};

static inline struct sb_found sb_site_found(const struct sb_site *site)
{
	return site->directory >= 0 ? (struct sb_found){site->directory, site->name}
				    : (struct sb_found){site->object, ""};
}

/* ruled.c: other is the name that a directory gets or had, when it is renamed; or NULL. */
void sb_judge_rules(const struct sb_grounds *grounds, const struct sb_case *what,
		    const struct sb_site *other, struct sb_judged *judged);

/* Do they let a file be made and changed there without a second look? */
bool sb_rules_are_plain(const struct sb_grounds *grounds, const struct sb_site *site);

/* A guard's row as a rule, for decisions. */
const struct sb_rule *sb_row_rule(const struct sb_guard_row *row);

/*
 * Does rule, which allows something at path, name what row guards?  file: the act is about one file, and
 * the rule may also be for this very file, whatever the directories around it are called.  named: what a
 * link leads to (struct sb_guard_answer); or NULL.
 */
bool sb_rule_opens(const struct sb_guard *guard, const struct sb_rule *rule, const char *path,
		   const struct sb_guard_row *row, const char *named, bool file);

/* Does the rule that has decided, or another one that allows, do so? */
bool sb_rules_open(const struct sb_guard *guard, const struct sb_policy *policy,
		   const struct sb_judged *judged, bool file);

/* Do the rules, by which a file may be made at path? */
bool sb_row_is_opened(const struct sb_guard *guard, const struct sb_policy *policy,
		      const char *path, const struct sb_guard_row *row);

/* placed.c: something of this mode gets the name; may a link have it? */
void sb_heed_placed(const struct sb_grounds *grounds, mode_t mode, struct sb_judged *judged);

/* grounds.c: do names count there? */
bool sb_has_guard(const struct sb_grounds *grounds, const struct sb_site *site);

/* followed.c: the same of a link's end, as it would be written outside; sb_heed_link() calls it. */
void sb_heed_followed(const struct sb_grounds *grounds, const char *text, struct sb_judged *judged);

/*
 * The same of the link name, which says text, in a directory that gets judged's name: depth directories beneath the one
 * that will hold that.  True: it is asked about.
 */
bool sb_heed_brought_link(const struct sb_grounds *grounds, const char *name, const char *text,
			  unsigned depth, struct sb_judged *judged);

struct sb_link {
	const struct sb_site *site; /* where it gets its name */
	const char *parent;         /* a relative text is seen from there */
	const char *text;
	bool brought; /* by a directory that moves */
};

/* viewed.c: in a worker's directory, may it lead out of that, outside?  real: where it leads in here; NULL: in a circle. */
bool sb_leads_out_of_view(const struct sb_grounds *grounds, const struct sb_link *link,
			  const char *real, int missing);

/* turned.c: what a link says behind the last ".." that follows a name; or NULL. */
const char *sb_behind_turn(const char *text);

/* What follows the ".." that text begins with, by text alone: "/NAMES", malloc'ed; *out_up: how many these are. */
char *sb_link_rest(const char *text, unsigned *out_up);

/* By its text alone, seen from "/NAMES" beneath a directory: may it lead out of that? */
bool sb_link_climbs(const char *text, const char *beneath);

/* An end that a link may come to have; path need not be canonical.  True: asked about. */
typedef bool sb_heed_end(const struct sb_grounds *grounds, const char *path,
			 struct sb_judged *judged);

/* It may lead to that in any directory: each is heeded, until one is asked about.  True: one is. */
bool sb_heed_turned(const struct sb_grounds *grounds, const char *behind, sb_heed_end *heed,
		    struct sb_judged *judged);

/* system_ends.c: is path, canonical, something that the machine obeys, and could root write it through a link? */
bool sb_is_system_end(const char *path);

/* Or does it lie where that is, and is neither a program that is there nor something that is only read? */
bool sb_is_system_place(const char *path);

bool sb_is_system_row(const struct sb_guard_row *row);

/* Their patterns, from 0 on; NULL: no more, or none that commands could write. */
const char *sb_system_end(size_t number);

/* leads.c: a link that says text (NULL: not known) gets the name. */
void sb_heed_link(const struct sb_grounds *grounds, const char *text, struct sb_judged *judged);

/* bits.c: a file that is there already, perhaps under other names as well, gives whoever runs it its owner's or its group's rights. */
void sb_heed_set_bits(const struct sb_grounds *grounds, struct sb_judged *judged);

/* May a file there get such bits unasked? */
bool sb_may_get_bits(const struct sb_grounds *grounds, const struct sb_site *from);

/* What gets the name comes from there, and has this mode: may it have such bits, or bring some along? */
void sb_heed_brought_bits(const struct sb_grounds *grounds, const struct sb_site *from, mode_t mode,
			  struct sb_judged *judged);

/* brought.c: as sb_heed_moved(), which calls it for a directory. */
void sb_heed_brought(const struct sb_grounds *grounds, const struct sb_site *at,
		     const struct sb_site *from, struct sb_judged *judged);

/* What gets the name has this mode, lies at at, and its name was or is from. */
void sb_heed_moved(const struct sb_grounds *grounds, const struct sb_site *at,
		   const struct sb_site *from, mode_t mode, struct sb_judged *judged);

/* sockets.c: somebody connects to what is there. */
void sb_heed_service(const struct sb_grounds *grounds, mode_t mode, struct sb_judged *judged);

/* What is there goes away: a socket, or a directory that may hold some.  mode 0: not known. */
void sb_heed_gone_service(const struct sb_grounds *grounds, mode_t mode, struct sb_judged *judged);

/* As sb_heed_moved(), which calls it. */
void sb_heed_moved_service(const struct sb_grounds *grounds, const struct sb_site *at,
			   const struct sb_site *from, mode_t mode, struct sb_judged *judged);

/* Is there a name on the way to path by which a rule could do so? */
bool sb_rules_can_name(const struct sb_guard *guard, const char *path,
		       const struct sb_guard_row *row);

#endif
