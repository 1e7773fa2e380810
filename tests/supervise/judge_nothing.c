/*
 * judge_nothing.c - a performer that allows everything, in the place of src/supervise/case.c.
 *
 * Linked into build/tests/unjudged: a performer that was led astray.  unjudged.py shows what
 * still holds it.  The asker's judgement stays as it is; what the performer cannot do goes there.
 */
#define sb_judge_call judge_truly
/* NOLINTNEXTLINE(bugprone-suspicious-include): all of it but one function */
#include "../../src/supervise/case.c"
#undef sb_judge_call

#include <unistd.h>

void sb_judge_call(const struct sb_grounds *grounds, const struct sb_call *call,
		   const struct sb_spot *file, const struct sb_spot *target,
		   struct sb_judgement *out);

static pid_t asker;

/* The asker is the process that was started. */
__attribute__((constructor)) static void note_asker(void)
{
	asker = getpid();
}

void sb_judge_call(const struct sb_grounds *grounds, const struct sb_call *call,
		   const struct sb_spot *file, const struct sb_spot *target,
		   struct sb_judgement *out)
{
	if (getpid() == asker) {
		judge_truly(grounds, call, file, target, out);
		return;
	}
	out->sites[0] = sb_spot_site(file);
	out->all[0] = (struct sb_judged){.op = SB_MODIFY, .site = &out->sites[0]};
	out->count = 1;
	out->strictest = &out->all[0];
	out->lands = NULL;
}
