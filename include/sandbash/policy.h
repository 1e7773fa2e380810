/*
 * policy.h - what one run may touch, and the one function that decides.
 *
 *     new -> add / set ... -> seal -> sb_decide() from any enforcer
 *
 * A rule is an access, a pattern and an origin.  The most specific rule that
 * covers a path wins (pattern.h); between different patterns equally specific
 * the stricter wins; of two rules for the same pattern the later tier's counts.
 * What a "hard" rule or the system tier denies, no other rule can allow.  Built-in
 * rules that ask, and hard ones, guard: they make a decision stricter, never looser,
 * so that a link planted in a project cannot open what another rule closes.  Where
 * no rule covers a path, reading is allowed and every change asks.  In read-only
 * mode only any_mode rules and those of the command line grant changes.
 *
 * A sealed policy never changes, so any thread may read it without a lock.  It
 * owns copies of the strings it is given and holds no descriptors.
 */
#ifndef SANDBASH_POLICY_H
#define SANDBASH_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/error.h"

enum sb_op {
	SB_READ,
	SB_MODIFY, /* contents or metadata of what exists; connecting to a socket */
	SB_CREATE,
	SB_DELETE, /* also renaming away */
	SB_OP_COUNT,
};

enum sb_verdict { SB_ALLOW, SB_ASK, SB_DENY }; /* in order of strictness */

struct sb_access {
	unsigned char verdict[SB_OP_COUNT]; /* enum sb_verdict, indexed by enum sb_op */
	/* One bit for each operation: where it denies, nobody is told.  No decision differs by it. */
	unsigned char quiet;
};

enum sb_tier { /* weakest first */
	       SB_TIER_BUILTIN,
	       SB_TIER_SYSTEM,    /* /etc/sandbash/config: what it denies stays denied */
	       SB_TIER_PROFILE,   /* of the program that is started: config/profile.h */
	       SB_TIER_GLOBAL,    /* $XDG_CONFIG_HOME/sandbash/config */
	       SB_TIER_DIRECTORY, /* $XDG_CONFIG_HOME/sandbash/projects/HASH */
	       SB_TIER_SESSION,   /* answers kept with a named session */
	       SB_TIER_FILE,      /* --policy=FILE */
	       SB_TIER_FLAG,      /* the command line */
	       SB_TIER_COUNT,
};

enum sb_mode { /* in order of strictness */
	       SB_MODE_DANGER_FULL_ACCESS,
	       SB_MODE_WORKSPACE_WRITE,
	       SB_MODE_READ_ONLY,
};

enum sb_tmp {
	SB_TMP_PRIVATE, /* the run's own filesystem where there are namespaces, else the real one */
	SB_TMP_SHARED,  /* the real /tmp */
	SB_TMP_OFF,     /* not writable */
};

enum sb_network { /* in order of strictness */
		  SB_NETWORK_ON,
		  SB_NETWORK_LEARN, /* as on, by the gate: what was reached is recorded */
		  SB_NETWORK_ASK,   /* rules open hosts, a person is asked about others */
		  SB_NETWORK_OFF,
};

enum sb_workers { SB_WORKERS_DECLARED, SB_WORKERS_ASK };
enum sb_unsandboxed { SB_UNSANDBOXED_ASK, SB_UNSANDBOXED_OFF };

/* What a policy says beside its rules; each has a value, of its own enum or a switch. */
enum sb_setting {
	SB_SETTING_MODE,
	SB_SETTING_NETWORK,
	SB_SETTING_TMP,
	SB_SETTING_PROTECT_IGNORED, /* what git ignores is changed only where a rule says so */
	SB_SETTING_CLEAN_ENV,       /* commands see usual variables only */
	SB_SETTING_WORKERS,         /* what workers' files approve beforehand is asked about */
	SB_SETTING_UNSANDBOXED, /* an agent may ask a person for one command without a sandbox */
	SB_SETTING_LOG_ALLOWED, /* what was allowed is recorded, too */
	SB_SETTING_COUNT,
};

struct sb_rule {
	struct sb_access access;
	enum sb_tier tier;
	bool hard;     /* what it denies stays denied, whatever others say */
	bool tightens; /* hard, and it opens nothing: says so when it is printed */
	bool any_mode; /* grants in read-only mode too: devices, private temp */
	bool temp;     /* a temp directory that "tmp private" or the run makes private */
	bool shared;   /* a temp directory that is everybody's, by "tmp shared" */
	bool sockets;  /* a directory of sockets: what it denies is connecting, none is read */
	bool link;     /* names a symbolic link itself, which no text form can */
	bool checked;  /* opens no more than a guard lets land: read back, it would */
	bool absent;   /* nothing was there when the rule was made: spares a look */
	bool login;    /* of a profile: the agent's own, which a built-in rule hides from others */
	bool cache;    /* of a profile: the runs' in a project, and used by nobody outside */
	bool fast;     /* a directory that commands change without a broker: fast.h */
	unsigned seen; /* what was there, as st_mode says its kind: the same; 0: not known */
	bool capped;   /* set by seal: read-only mode took changes away from access */
	const char *pattern; /* canonical pattern text */
	const char *origin;  /* "built-in: SSH keys", "/path/config line 3", "--deny=x" */
};

struct sb_decision {
	enum sb_verdict verdict;
	const struct sb_rule *rule; /* NULL: no rule covers the path */
};

struct sb_policy;

struct sb_policy *sb_policy_new(void); /* NULL: out of memory */
void sb_policy_free(struct sb_policy *policy);

/*
 * Add a rule; pattern (absolute pattern text whose literal prefix is canonical)
 * and origin are copied.  Two rules of one tier with the same pattern and
 * different access are SB_E_CONFLICT, found here.
 */
int sb_policy_add(struct sb_policy *policy, const struct sb_rule *rule, struct sb_error *err);

/* A setting; value must be one that it has. */
void sb_policy_set(struct sb_policy *policy, enum sb_setting setting, int value);
int sb_policy_get(const struct sb_policy *policy, enum sb_setting setting);

/* The same by name. */
enum sb_mode sb_policy_mode(const struct sb_policy *policy);
bool sb_policy_network(const struct sb_policy *policy); /* all of it is open */
enum sb_tmp sb_policy_tmp(const struct sb_policy *policy);
bool sb_policy_protect_ignored(const struct sb_policy *policy);
bool sb_policy_clean_env(const struct sb_policy *policy);

/* Build the index.  After this, nothing can be added. */
int sb_policy_seal(struct sb_policy *policy, struct sb_error *err);

/* The effective rules, one per pattern, ordered by pattern; i from 0 to count - 1. */
size_t sb_policy_count(const struct sb_policy *policy);
const struct sb_rule *sb_policy_rule(const struct sb_policy *policy, size_t i);

/*
 * May op be done to path (canonical, absolute; what is not is denied)?  The policy
 * must be sealed.
 * This is the only place where sandbash decides about paths.
 */
struct sb_decision sb_decide(const struct sb_policy *policy, enum sb_op op, const char *path);

/*
 * The same for a path that git ignores, by rules of the directory top, where such files are
 * protected: changing and removing them asks, unless a rule of the user's allows it that is
 * about a part of top.  One that covers all of top says nothing about what git ignores there.
 */
struct sb_decision sb_decide_ignored(const struct sb_policy *policy, enum sb_op op,
				     const char *path, const char *top);

/* A no that is neither told nor asked about, only recorded. */
bool sb_decision_is_quiet(const struct sb_decision *decision, enum sb_op op);

/* All four operations at once. */
struct sb_access sb_decide_all(const struct sb_policy *policy, const char *path);

/* Renaming is deleting the source and creating or replacing the target; the stricter wins. */
struct sb_decision sb_decide_rename(const struct sb_policy *policy, const char *from,
				    const char *to, bool to_exists);

/*
 * The strictest decision about what rules name strictly beneath path, patterns with wildcards
 * left out.  SB_ALLOW when no rule does.
 */
struct sb_decision sb_decide_beneath(const struct sb_policy *policy, enum sb_op op,
				     const char *path);

/*
 * The same for a directory that gets or had the name other, with wildcards: renaming it moves
 * all that is in it, to where rules may mean something else.  What a pattern means under both
 * names alike does not count; other NULL: there is no other name.
 */
struct sb_decision sb_decide_moved(const struct sb_policy *policy, enum sb_op op, const char *path,
				   const char *other);

const char *sb_op_name(enum sb_op op);
const char *sb_verdict_name(enum sb_verdict verdict);
const char *sb_mode_name(enum sb_mode mode);
const char *sb_tier_name(enum sb_tier tier);
int sb_mode_parse(const char *text, enum sb_mode *out_mode, struct sb_error *err);

#endif
