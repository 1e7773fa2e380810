/*
 * plan.h - a policy worked out for this machine's files.
 *
 *     policy + place --> plan --> Landlock rules, mounts      (or --dry-run)
 *
 * The policy speaks of patterns, the kernel of files that exist.  A plan lists
 * every existing path at which something changes (globs are expanded),
 * what a static run allows there, and the mounts that hold it.  Everything comes
 * from sb_decide(); "ask" is "deny" because nobody can be asked.  Making a plan
 * looks at the disk but changes nothing.
 */
#ifndef SB_ENFORCE_PLAN_H
#define SB_ENFORCE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "enforce/view.h"
#include "sandbash/policy.h"

enum sb_kind { SB_KIND_ABSENT, SB_KIND_FILE, SB_KIND_DIR, SB_KIND_LINK, SB_KIND_SPECIAL };

enum sb_state {
	SB_STATE_HIDDEN,   /* not even readable */
	SB_STATE_READABLE, /* nothing can be changed */
	SB_STATE_WRITABLE, /* something can; Landlock says what */
};

struct sb_plan_node {
	char *path;                 /* canonical */
	const struct sb_rule *rule; /* the rule that names it; NULL for "/" */
	unsigned allow;             /* bit per enum sb_op */
	enum sb_kind kind;
	enum sb_state state;
	size_t parent; /* index of the nearest enclosing node; the root's is itself, 0 */
	bool temp;     /* a built-in temp directory: private where there are mounts */
	const char
		*shown;  /* hidden: the last of what it shows, all before it having blanks around */
	bool driven;     /* a device that can be controlled by whoever may read it */
	bool fast;       /* supervised: a fast root, or in one (policy/fast.h) */
	bool simplified; /* allowed less than its writable surroundings: held as read-only */
};

enum sb_mount_kind {                  /* in this order where the path is the same */
		     SB_MOUNT_DEV,    /* a /dev of our own, with only the devices that rules open */
		     SB_MOUNT_DEVICE, /* one of those; made with it, no mount */
		     SB_MOUNT_TMPFS,  /* a private, empty, writable filesystem */
		     SB_MOUNT_TERMINALS, /* a /dev/pts of our own */
		     SB_MOUNT_KEEP, /* something that a TMPFS would cover, shown in it read-only */
		     SB_MOUNT_WRITABLE, /* itself, writable */
		     SB_MOUNT_PIN,      /* itself, writable: only so that it cannot be renamed */
		     SB_MOUNT_READONLY, /* itself, read-only, inside something writable */
		     SB_MOUNT_HIDE,     /* an empty thing without permissions */
		     SB_MOUNT_SHOW,     /* something readable inside a hidden directory */
		     SB_MOUNT_BLANK, /* a name in such a directory that answers EACCES; no mount */
		     SB_MOUNT_LINK,  /* a link in it, which leads to something shown; no mount */
};

struct sb_mount_step {
	enum sb_mount_kind kind;
	char *path;
	const char *inside; /* the TMPFS, DEV or HIDE step that needs a place for it; or NULL */
	bool is_dir;
	bool writable;  /* SHOW: of a writable thing */
	bool has_shown; /* HIDE: steps that mount something inside it follow */
};

struct sb_plan {
	struct sb_plan_node *nodes; /* parents before children; the first is "/" */
	size_t node_count;
	struct sb_mount_step *mounts; /* in the order they are carried out */
	size_t mount_count;
	char **absent; /* what rules of the user's open and is not there; for telling */
	size_t absent_count;
	bool network;
	bool gate;          /* hosts are told apart: policy/network.h */
	bool holds_reads;   /* supervised: rules hide what mounts cannot: sb_plan_holds_reads() */
	bool tells_hidden;  /* supervised: what was wanted in hidden places is told */
	bool tells_allowed; /* and what was done, for the record: "log-allowed on" */
	bool own_dev;       /* disks could be read: a /dev of our own is needed, and may be made */
	bool own_terminals; /* a /dev/pts of our own: no rule of the user's is about that one */
	bool view; /* the files are a view's (view.h): without a /proc of the run's own there is none */
	bool shadowed; /* ... of which a directory has a name that something else has outside */
	struct sb_view_made made;    /* ... and entering it made these: for who entered to say */
	const char *const *programs; /* what may be executed, and nothing else; NULL: anything */
	bool caller_terminal;        /* and yet the command has the caller's: give that a name */
	char *cwd;
	char *tmpdir;         /* what TMPDIR must be; NULL: leave it alone */
	char *tmpdir_private; /* a directory that must be made inside a private temp, or NULL */
};

/* Of a run in a view. */
struct sb_plan_view {
	const char *const *programs; /* canonical; stays the caller's */
	bool shadowed;
};

/* What the plan needs to know beside the policy; all paths canonical. */
struct sb_plan_request {
	const char *cwd;
	const char *tmpdir;  /* $TMPDIR, or NULL */
	const char *command; /* the file to run, so that a private temp does not hide it; or NULL */
	const char *const *projects;
	/*
	 * A broker decides every change by name, so nothing inside a writable directory needs a
	 * mount to hold it, and renaming there behaves as it does outside.
	 */
	bool supervised;
	bool other_terminal;             /* the command gets another terminal than the caller's */
	const struct sb_plan_view *view; /* the run is in one; or NULL */
	bool tells_hidden; /* every open is held, and refused ones are told: supervise/unseen.h */
};

/*
 * Do rules of the user's hide anything but "/"?  Then a supervised run holds every open.
 */
bool sb_plan_holds_reads(const struct sb_policy *policy);

int sb_plan_make(const struct sb_policy *policy, const struct sb_plan_request *request,
		 struct sb_plan *out, struct sb_error *err);
void sb_plan_done(struct sb_plan *plan);

/*
 * Nodes inside something writable that allow less than it.  Mounts hold them;
 * without mounts nothing does.  Returns the first at or after start, or node_count.
 */
size_t sb_plan_next_stricter(const struct sb_plan *plan, size_t start);

/*
 * Is node a temp directory with something in it that must be kept?  Without mounts it
 * cannot be opened around that, so it stays closed.
 */
bool sb_plan_temp_is_closed(const struct sb_plan *plan, size_t node);

/*
 * Does hiding this node keep something from being read?  A socket has nothing to read (open(2):
 * ENXIO), nor has a directory of them.  Landlock, which can only grant reading beside what is
 * hidden, would close everything that is made beside it, all of /tmp where there is an X server.
 */
bool sb_plan_hides_content(const struct sb_plan_node *node);

/* Does it keep names from being listed?  Those of sockets are everybody's to know. */
bool sb_plan_hides_names(const struct sb_plan_node *node);

/* Does its directory hold something hidden?  Without mounts reading is granted entry by entry there. */
bool sb_plan_is_beside_hidden(const struct sb_plan *plan, const char *path);

/* The first that rules let a run make, or make anew, in such a directory which is not open itself; NULL: none. */
const char *sb_plan_makes_beside_hidden(const struct sb_plan *plan);

/* The nearest node that is path or holds it; NULL only of a plan that is not made. */
const struct sb_plan_node *sb_plan_node_at(const struct sb_plan *plan, const char *path);

/* What holds at a path: the state of the nearest enclosing node. */
enum sb_state sb_plan_state_at(const struct sb_plan *plan, const char *path);

/*
 * Would the layers alone let op be done to path?  A name that comes or goes is a matter of its directory,
 * and one that is a mount can neither be removed nor be made.
 */
bool sb_plan_lets(const struct sb_plan *plan, enum sb_op op, const char *path);

/* Is it in a temp directory that is the run's own where there are mounts? */
bool sb_plan_is_temp_at(const struct sb_plan *plan, const char *path);

/*
 * What $TMPDIR has to be: a directory that is there and writable.  old: what it is, or NULL, and
 * whether that is a directory for temporary files.  NULL: nothing has to be set.
 */
const char *sb_plan_tmpdir(const struct sb_plan *plan, bool mounts, const char *old,
			   bool is_usable);

const char *sb_mount_kind_name(enum sb_mount_kind kind);

#endif
