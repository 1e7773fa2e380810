/*
 * permits.h - open guarded files that a person said yes to before anything was written.
 *
 *     {0} -> add when the open is granted -> take when its bytes are there ... -> done
 *
 * Where no content is harmless the open itself is asked about, since many programs look at the
 * answer of open() and not at that of close().  Such a yes is for what is written through this
 * one open file, at this very name: the asker keeps it, and the performer, which works for
 * whoever is inside, can only say which one it means.  A permit serves once.  Bounded: the
 * oldest gives way, and its bytes are asked about like any others.
 */
#ifndef SB_SUPERVISE_PERMITS_H
#define SB_SUPERVISE_PERMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "judge/judge.h"

#define SB_PERMITS_MAX 256 /* as many as there are staged files */

struct sb_permits {
	struct sb_permit {
		uint64_t id; /* of the call that was granted */
		dev_t device;
		ino_t directory;
		const struct sb_rule *rule; /* that it was asked for; lives as long as the run */
		char *path;
	} all[SB_PERMITS_MAX]; /* oldest first */
	size_t count;
};

/* Of what would land there.  Not kept when out of memory: then it is asked about again. */
void sb_permits_add(struct sb_permits *permits, uint64_t id, const struct sb_judged *lands);

/* Was that said yes to, under this number?  Then it is used up. */
bool sb_permits_take(struct sb_permits *permits, uint64_t id, const struct sb_judged *lands);

void sb_permits_done(struct sb_permits *permits);

#endif
