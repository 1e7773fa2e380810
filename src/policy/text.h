/*
 * text.h - the text form of rules and settings: the config format.
 *
 *     ~/Downloads                  a bare path is writable
 *     read vendor                  readable, never changed
 *     fast build                   writable, and unguarded (fast.h)
 *     tighten read vendor          takes away, and opens nothing that other rules close
 *     quiet ~/.cache/x             as read, and nobody is told of what it refuses
 *     read+create+ask:delete logs  each operation by name; unnamed ones are denied
 *     connect github.com:443       a host that may be reached (peer.h); ask connect, deny connect
 *     listen 3000                  a port of the run that can be reached from outside
 *     include team.rules           another file, relative to this one
 *     network off                  settings: network, mode, tmp, shell,
 *     log-keep-days 30             log-keep-days, log-keep-megabytes, log-static,
 *     protect-ignored on           protect-ignored, clean-env, workers, unsandboxed, log-allowed
 *
 * One line is parsed at a time and nothing is looked up on disk: what a relative
 * pattern is relative to, and whether a path exists, is the reader's business.
 */
#ifndef SB_POLICY_TEXT_H
#define SB_POLICY_TEXT_H

#include <stddef.h>

#include "policy/access.h"
#include "sandbash/policy.h"

struct sb_buf;
struct sb_connect_rule;

enum sb_line_kind {
	SB_LINE_EMPTY, /* blank or a comment */
	SB_LINE_RULE,
	SB_LINE_INCLUDE, /* text: the file */
	SB_LINE_SETTING, /* of the table: settings.h */
	SB_LINE_SHELL,   /* text: the shell */
	SB_LINE_LOG_KEEP_DAYS,
	SB_LINE_LOG_KEEP_MEGABYTES,
	SB_LINE_LOG_STATIC,
	SB_LINE_CONNECT, /* text: a host, value: enum sb_verdict */
	SB_LINE_LISTEN,  /* text: a port */
	/* in a profile only; text is the rest of the line */
	SB_LINE_PROGRAM,         /* names, with blanks between them */
	SB_LINE_ENVIRONMENT,     /* NAME=VALUE */
	SB_LINE_ARGUMENT,        /* one word */
	SB_LINE_SAY,             /* a line */
	SB_LINE_LOGIN,           /* a program in policy/secrets.h */
	SB_LINE_INCLUDE_PROFILE, /* the name of one that comes with sandbash */
	SB_LINE_PROJECT_FILE,    /* names, with blanks between them */
	SB_LINE_CACHE,           /* PATH NAME=VALUE */
};

/* "write" with a promise about speed: no access of its own, and never part of one. */
#define SB_WORD_FAST "fast"

/* Stands before an access: the rule only makes stricter. */
#define SB_WORD_TIGHTEN "tighten"

#define SB_CACHE_WORD "$CACHE" /* in the value of a cache: the directory of the project's own */

static inline bool sb_line_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct sb_line {
	enum sb_line_kind kind;
	struct sb_access access; /* RULE */
	bool fast;               /* RULE: "fast", whose access is that of "write" */
	bool tightens;           /* RULE: "tighten" stands before it */
	char *text;              /* RULE: pattern as written, unquoted; else the rest of the line */
	enum sb_setting setting; /* SETTING */
	int value;               /* SETTING, CONNECT */
	unsigned long keep;      /* LOG_KEEP_*; 0: "off", no limit.  switches: 1 is "on" */
};

/*
 * Parse one line (without its newline; it may hold any byte).  SB_E_INVALID with a
 * reason that does not name the file: the reader adds file and line number.
 */
int sb_line_parse(const char *bytes, size_t length, struct sb_line *out, struct sb_error *err);

/* The same of a profile, which has lines of its own. */
int sb_profile_line_parse(const char *bytes, size_t length, struct sb_line *out,
			  struct sb_error *err);
void sb_line_done(struct sb_line *line);

/* Parse "read+create+ask:delete" (length bytes). */
int sb_access_parse(const char *word, size_t length, struct sb_access *out, struct sb_error *err);

/* The shortest text that parses back to access: "write", "read", "deny", "ask", "quiet", or the long form. */
void sb_access_print(const struct sb_access *access, struct sb_buf *out);

/* Append "ACCESS PATTERN" quoted so that sb_line_parse gives the same pattern back. */
void sb_rule_print(const struct sb_access *access, const char *pattern, struct sb_buf *out);

/* The same for a rule, which may be "fast" or "tighten". */
void sb_rule_print_whole(const struct sb_rule *rule, struct sb_buf *out);

/* "ask connect *.corp:22", as a line has it. */
void sb_connect_print(const struct sb_connect_rule *rule, struct sb_buf *out);

/* The whole effective policy, each rule with its origin as a comment. */
void sb_policy_print(const struct sb_policy *policy, struct sb_buf *out);

const char *sb_tmp_name(enum sb_tmp tmp);

#endif
