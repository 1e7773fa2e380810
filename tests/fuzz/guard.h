/* guard.h - one guard for all inputs of a fuzz target. */
#ifndef FUZZ_GUARD_H
#define FUZZ_GUARD_H

#include "fuzz.h"
#include "guard/guard.h"

/* for in_guarded_root */
static inline bool everywhere(void *context, const char *path)
{
	(void)context;
	(void)path;
	return true;
}

static inline struct sb_guard *guard_in(bool (*in_guarded_root)(void *context, const char *path))
{
	static struct sb_guard *only;
	struct sb_guard_options options = {.size = sizeof options,
					   .in_guarded_root = in_guarded_root};

	if (!only)
		CHECK(sb_guard_new(&options, &only, NULL) == SB_OK);
	return only;
}

#endif
