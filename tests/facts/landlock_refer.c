/*
 * Under Landlock a file moves or is linked between two directories only when the
 * domain handles the REFER right (ABI 2) and both allow it; else the answer is EXDEV,
 * which mv(1) takes as "copy instead", so builds go on.
 */
#include "fact.h"

static uint64_t handled;
static bool with_target;

static int move(void)
{
	static const char *const both[] = {"a", "b", NULL};
	static const char *const one[] = {"a", NULL};

	if ((errno = landlock(handled, 0, with_target ? both : one)))
		return broken("Landlock");
	return rename("a/file", "b/file") < 0 ? errno : 0;
}

int main(void)
{
	need_landlock(2);
	fact_dir();
	mkdir("a", 0755);
	mkdir("b", 0755);
	write_text("a/file", "x");

	handled = LL_WRITES_ABI1;
	with_target = true;
	expect(attempt(move), EXDEV, "without the right handled, no move between directories");
	handled |= LL_REFER;
	with_target = false;
	expect(attempt(move), EACCES, "no move into a directory that is not allowed");
	with_target = true;
	expect(attempt(move), 0, "with the right in both, the move works");
	return fact_done();
}
