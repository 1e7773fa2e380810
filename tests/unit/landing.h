/* landing.h - may these bytes land?  For tests of what the guard says about contents. */
#ifndef LANDING_H
#define LANDING_H

#include "guarded.h"

static char why[(SB_GUARD_LINES + 1) * SB_GUARD_DETAIL];

static inline enum sb_guard_verdict content(struct guarded *fx, enum sb_guard_kind kind,
					    const char *name, const char *old_text,
					    const char *new_text)
{
	struct sb_guard_bytes before = {old_text, old_text ? strlen(old_text) : 0};
	struct sb_guard_bytes after = {new_text, strlen(new_text)};

	return sb_guard_content(fx->guard,
				&(struct sb_guard_landing){kind, in(fx->root, name), before, after},
				why, sizeof why);
}

static inline void expect(struct guarded *fx, enum sb_guard_kind kind, const char *name,
			  const char *const *texts, size_t count, enum sb_guard_verdict verdict)
{
	for (size_t i = 0; i < count; i++)
		if (content(fx, kind, name, NULL, texts[i]) != verdict)
			fail_msg("'%s' (%s)", texts[i], why);
}

#endif
