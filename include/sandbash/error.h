/*
 * error.h - how a failure is told: a code, a message, a hint.
 *
 * The caller keeps a struct sb_error on its stack, so reporting a failure needs
 * no memory.  Functions return SB_OK or the negative code that they filled in:
 *
 *     if (fd < 0)
 *             return sb_fail(err, SB_E_SYSTEM, errno, "cannot open '%s'", path);
 *
 * Messages are safe to print: bytes that could steer a terminal are escaped.
 */
#ifndef SANDBASH_ERROR_H
#define SANDBASH_ERROR_H

enum sb_code {
	SB_OK = 0,
	SB_E_INVALID = -1,     /* what the caller gave makes no sense */
	SB_E_MISSING = -2,     /* the thing is not there */
	SB_E_NOMEM = -3,       /* out of memory */
	SB_E_SYSTEM = -4,      /* a system call failed; see sys_errno */
	SB_E_UNSUPPORTED = -5, /* this machine cannot hold the guarantee */
	SB_E_REFUSED = -6,     /* we could, but will not: it would be unsafe */
	SB_E_CONFLICT = -7,    /* two rules or settings contradict each other */
	SB_E_BROKEN = -8,      /* a layer that was set up does not hold */
	SB_E_USAGE = -9,       /* the command line is wrong */
	SB_E_PLACE = -10,      /* not a directory to start in */
};

struct sb_error {
	enum sb_code code;
	int sys_errno;      /* 0 when no system call is to blame */
	char message[1024]; /* what failed, and on what; one line, escaped */
	char hint[512];     /* what to try next; "" when we do not know */
};

/* Fill err and return code.  err may be NULL when only the code matters. */
int sb_fail(struct sb_error *err, enum sb_code code, int sys_errno, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* SB_E_NOMEM, "out of memory". */
int sb_no_memory(struct sb_error *err);

/* Add a hint to a filled err; returns its code, so that `return sb_hint(...)` reads well. */
int sb_hint(struct sb_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "INVALID", "MISSING", ...: the stable name of a code, for JSON and docs/errors.md. */
const char *sb_code_name(enum sb_code code);

#endif
