/*
 * A Landlock domain never widens: a second layer that allows what the first refuses
 * changes nothing, and after 16 layers another one is E2BIG.  So a nested sandbash
 * may stack its own layer without asking what is already there, until it is told no.
 */
#include "fact.h"

static int widen(void)
{
	static const char *const inside[] = {"inside", NULL};
	static const char *const all[] = {".", NULL};

	if ((errno = landlock(LL_WRITES_ABI1, 0, inside)))
		return broken("Landlock");
	if ((errno = landlock(LL_WRITES_ABI1, 0, all)))
		return broken("second layer");
	return write_text("outside", "x");
}

static int narrow(void)
{
	static const char *const inside[] = {"inside", NULL};
	static const char *const deep[] = {"inside/deep", NULL};

	if ((errno = landlock(LL_WRITES_ABI1, 0, inside)))
		return broken("Landlock");
	if ((errno = landlock(LL_WRITES_ABI1, 0, deep)))
		return broken("second layer");
	return write_text("inside/deep/file", "x") == 0 ? write_text("inside/file", "x")
							: FACT_BROKEN;
}

static int stack(void)
{
	static const char *const all[] = {"/", NULL};

	for (int i = 0; i < 16; i++) {
		if ((errno = landlock(LL_WRITES_ABI1, 0, all)))
			return broken("one of 16 layers");
	}
	return landlock(LL_WRITES_ABI1, 0, all);
}

int main(void)
{
	need_landlock(1);
	fact_dir();
	mkdir("inside", 0755);
	mkdir("inside/deep", 0755);
	expect(attempt(widen), EACCES, "a second layer cannot widen the first");
	expect(attempt(narrow), EACCES, "a second layer narrows");
	expect(attempt(stack), E2BIG, "the 17th layer is E2BIG");
	return fact_done();
}
