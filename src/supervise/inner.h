/*
 * inner.h - what the nested runs (domains.h) say that a caller belongs to.
 *
 * There ask is deny, but of workers: whose questions are the person's (SB_SETTING_WORKERS), who is told by which worker
 * they are, and what was refused to which one.
 */
#ifndef SB_SUPERVISE_INNER_H
#define SB_SUPERVISE_INNER_H

#include "sandbash/policy.h"
#include "supervise/call.h"
#include "supervise/resolve.h"

#define SB_INNER_WORKERS                                                                           \
	1280 /* sixteen Landlock layers are the kernel's limit, names have up to 64 bytes */
#define SB_INNER_SAYS 512

struct sb_inner {
	enum sb_verdict verdict;
	unsigned domain;                /* another one, another number; 0: the run itself */
	bool read_only;                 /* ... of a directory that it may only read */
	char workers[SB_INNER_WORKERS]; /* "first > second"; "": it is no worker's */
	char says[SB_INNER_SAYS];       /* why not */
};

/* The strictest of them. */
enum sb_verdict sb_inner_verdict(const struct sb_call *call, const struct sb_spot *file,
				 const struct sb_spot *target);

/* The same with all that is told of it. */
void sb_inner_look(const struct sb_call *call, const struct sb_spot *file,
		   const struct sb_spot *target, struct sb_inner *out);

#endif
