/*
 * judge.h - may this happen?  The one answer, for everybody who asks.
 *
 *     grounds (once per run) + a case -> sb_judge() -> a judgement
 *                                        -> sb_judge_bytes() when bytes are about to land
 *
 * The broker and the asker ask about a held call, the file tools and the server's keeper about a
 * tool's call, --explain and what_may_i_do about what might be done.  None has rules of its own.
 * Six things count, and the strictest answer is the case's:
 *
 *     the policy       sb_decide() about each operation that the deed needs
 *     the guard        names that a program outside would run or obey (guard.h).  A rule of the
 *                      user's that names it opens it
 *     what git ignores if that is protected, and was not made by this run (ignored.h)
 *     temporary files  of others, where the run has no such directories for itself (own_temp.h)
 *     services         behind sockets that are not the run's own (sockets.h)
 *     bounds           that file tools have and commands do not: a project bounds reading, too
 *
 * Judging asks nobody and changes nothing.
 */
#ifndef SB_JUDGE_JUDGE_H
#define SB_JUDGE_JUDGE_H

#include "guard/guard.h"
#include "judge/ignored.h"
#include "judge/own_temp.h"
#include "judge/site.h"
#include "judge/sockets.h"
#include "sandbash/policy.h"

/* What only file tools ask about (F1).  Zero: nothing, as for commands. */
struct sb_bounds {
	bool roots;      /* outside them a rule of the user's own has to allow, reading too */
	bool mounts;     /* filesystems that are mounted in a root */
	bool hard_links; /* files with more names than the one given */
	/*
	 * A directory that gets a name which counts: nobody holds it meanwhile, and a run may put
	 * something into it before it has its name (supervise/meaning.h).
	 */
	bool unheld;
};

/* What a run is judged by.  Does not change: both processes and all threads may use it. */
struct sb_grounds {
	const struct sb_policy *policy;
	const struct sb_guard *guard;       /* NULL: names alone do not matter */
	struct sb_ignored ignored;          /* on where what git ignores is protected */
	struct sb_own_temp *own_temp;       /* or NULL: its temporary directories are its own */
	struct sb_own_sockets *own_sockets; /* or NULL: it has bound none */
	/* within a run that has grounds of its own: whose a socket is these tell */
	bool inner;
	bool view, shadowed; /* struct sb_guard_options: it is outside that others follow links */
	/*
	 * Of a view whose sites have real paths, and their directory's in bound: "/NAME" of each directory, and "/";
	 * NULL-terminated.  NULL: paths are those that are seen.
	 */
	const char *const *zones;
	struct sb_bounds bounds;
	/* Is what may land only while a run goes on looked at when it ends?  NULL: no. */
	bool (*watches)(void);
};

/* Whose settings git obeys, and where; strings stay the caller's. */
struct sb_guard_home {
	const char *home;                /* or NULL */
	const char *const *git_settings; /* NULL-terminated, or NULL */
	struct sb_guard_homes homes;
	bool view, shadowed; /* struct sb_guard_options */
};

/*
 * The guard of a run under policy: whatever may be made unasked is a guarded place.  Lives no
 * longer than policy.  SB_E_NOMEM.
 */
int sb_grounds_guard(const struct sb_policy *policy, const char *const *projects,
		     const struct sb_guard_home *home, struct sb_guard **out, struct sb_error *err);

/* The same for a run that is about to start: projects and home live as long, sb_guard_look() follows. */
int sb_grounds_guard_later(const struct sb_policy *policy, const char *const *projects,
			   const struct sb_guard_home *home, struct sb_guard **out,
			   struct sb_error *err);

/* Of a command.  guard stays the caller's.  What is made from now on is the run's own. */
void sb_grounds_init(struct sb_grounds *grounds, const struct sb_policy *policy,
		     const struct sb_guard *guard);

/* --- cases ---------------------------------------------------------------------------------- */

enum sb_deed {
	SB_DEED_LOOK,  /* nothing happens to the name: the rules alone count */
	SB_DEED_WRITE, /* bytes of a file: made, opened for writing, replaced */
	SB_DEED_LAND, /* the same of bytes that were written elsewhere; what is there is looked up */
	SB_DEED_TRUNCATE, /* bytes go, unseen */
	SB_DEED_UNNAMED,  /* a file without a name, in the directory at the site (O_TMPFILE) */
	SB_DEED_PROBE,    /* would a write get through? */
	SB_DEED_MKDIR,
	SB_DEED_MKNOD, /* a FIFO, a device, a socket */
	SB_DEED_SYMLINK,
	SB_DEED_REMOVE,
	SB_DEED_RENAME,   /* to target */
	SB_DEED_LINK,     /* the file gets a second name, target */
	SB_DEED_METADATA, /* mode, owner, times, attributes */
	SB_DEED_HIDE,     /* a mode or an access list that may keep the owner out */
	SB_DEED_CONNECT,  /* to a socket, which changes nothing of the file */
};

struct sb_case {
	enum sb_deed deed;
	struct sb_site site;
	struct sb_site target; /* of rename and link */
	const char *text;      /* of a symbolic link that is made: where it leads */
	mode_t node;           /* of mknod: what is made */
	bool exchange;         /* rename: the two change places */
	bool whiteout;         /* rename: something is left behind, so no fresh file can land */
	bool tree;             /* everything beneath shares its fate: rules there count as well */
	bool ignored_too;      /* somebody has said yes to what git ignores */
	bool sets_id;          /* the file is given the set-user-ID or set-group-ID bit */
	bool rules_only; /* the guard is asked later: by the bytes, or when the place is there */
};

/* What weighs most against it. */
enum sb_why {
	SB_WHY_RULE,    /* a rule of the policy */
	SB_WHY_NO_RULE, /* none covers the change */
	SB_WHY_OUTSIDE, /* bounds ... */
	SB_WHY_MOUNT,
	SB_WHY_HARD_LINK,
	SB_WHY_GUARDED,
	SB_WHY_IGNORED,
	SB_WHY_TEMPORARY, /* what another program made in a temporary directory */
};

/* One operation on one path that the deed needs. */
struct sb_judged {
	enum sb_op op;
	const struct sb_site *site;
	struct sb_decision decision;
	enum sb_why why;              /* where decision is not SB_ALLOW */
	struct sb_guard_answer guard; /* what the guard said, unless a rule opens the name */
	bool no_rule_opens;           /* a yes can, about this one act */
	/* what gets the name gives whoever runs it its owner's rights, or may: an answer for a directory is none */
	bool brings_bits;
	bool leads_home; /* a link to a directory that holds guarded names, elsewhere: to be told */
};

#define SB_MAX_JUDGED 4

struct sb_judgement {
	struct sb_site sites[2]; /* site and target of the case */
	size_t count;
	struct sb_judged all[SB_MAX_JUDGED]; /* of a rename: site first, then target */
	struct sb_judged *strictest;         /* in all */
	/*
	 * In all, or NULL: a guarded name that bytes are about to land on.  Nothing is decided
	 * before these have been looked at (sb_judge_bytes()), and then exactly they land.
	 */
	struct sb_judged *lands;
	/* one line for the end of the run, if what sb_judge_bytes() has let through lands; or "" */
	char note[SB_GUARD_NOTE];
	/* the same about what has to be looked at again at that end (sb_grounds.watches); or "" */
	char lingers[SB_GUARD_NOTE];
	/* enum sb_guard_looked: plain names are plain as long as nobody changes what is there */
	unsigned looked;
	/* rename: what was at the first name, and at the second where the two are exchanged */
	struct sb_mover {
		bool known;
		dev_t device;
		ino_t inode;
	} movers[2];
};

void sb_judge(const struct sb_grounds *grounds, const struct sb_case *what,
	      struct sb_judgement *out);

/* The same of a rename that was judged before and is done: may what it moved be where it is? */
void sb_judge_renamed(const struct sb_grounds *grounds, const struct sb_case *what,
		      const struct sb_judgement *before, struct sb_judgement *out);

/*
 * What the rules allow in the places that they name themselves has bounds: 0, or the errno of what may not
 * be.  For the process outside, which sees to what an allowed case does to them; cwd is a run's.
 */
int sb_judge_placed(const struct sb_policy *policy, const struct sb_case *what, const char *cwd);

/*
 * Would a directory that is moved there from that path bring links into what a profile opens, where not each
 * may be (leads.c)?  Commands are told of two disks, and copy.
 */
bool sb_judge_brings_links(const struct sb_policy *policy, const char *from, const char *to);

/*
 * Would a second name there, or a directory, bring files with the set-user-ID or set-group-ID bit to where a person's
 * answer is about others (bits.c)?  The same.
 */
bool sb_judge_brings_bits(const struct sb_policy *policy, const char *from, const char *to);

/* Is now as good for the case as before? */
bool sb_judgement_stands(const struct sb_judgement *before, const struct sb_judgement *now);

/*
 * May these bytes replace the old ones there?  If not, the judgement's verdict is changed, and
 * lands->guard.detail says why; else lands->guard is plain.  True: yes, unasked.
 */
bool sb_judge_bytes(const struct sb_grounds *grounds, struct sb_judgement *judgement,
		    struct sb_guard_bytes old_bytes, struct sb_guard_bytes new_bytes);

/* By which contents are harmless bytes will be judged there?  SB_GUARD_SAME also if none land. */
enum sb_guard_kind sb_judged_kind(const struct sb_judgement *judgement);

/*
 * One operation on what is at what->site, which out points at, for those who only tell: no bytes are
 * there to look at.  An allowed write to a name whose contents are looked at has out->guard.verdict
 * SB_GUARD_CHECK.
 */
void sb_judge_op(const struct sb_grounds *grounds, enum sb_op op, const struct sb_case *what,
		 struct sb_judged *out);

/*
 * May a file be made there, or be changed if it is there already, and is the name so ordinary that
 * nothing else counts?  For those who make files in a hurry.
 */
bool sb_judge_is_plain(const struct sb_grounds *grounds, const struct sb_site *site);

/* Reading, by the path alone: for names in a listing, and for opens that change nothing. */
enum sb_verdict sb_judge_read(const struct sb_grounds *grounds, const char *path);

/* It was done after a yes: links that landed by it are the guard's from now on (sb_guard_linked()). */
void sb_judge_landed(const struct sb_grounds *grounds, const struct sb_judgement *judgement);

#endif
