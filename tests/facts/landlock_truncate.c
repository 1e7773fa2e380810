/*
 * Landlock before ABI 3 does not stop truncate(2) outside its roots, although it
 * stops opening for writing; with the right of ABI 3 handled it does.
 */
#include "fact.h"

static uint64_t handled;

static int truncate_outside(void)
{
	static const char *const roots[] = {"inside", NULL};

	if ((errno = landlock(handled, 0, roots)))
		return broken("Landlock");
	return truncate("outside", 1) < 0 ? errno : 0;
}

static int truncate_inside(void)
{
	static const char *const roots[] = {"inside", NULL};

	if ((errno = landlock(handled, 0, roots)))
		return broken("Landlock");
	return truncate("inside/file", 1) < 0 ? errno : 0;
}

static int open_outside(void)
{
	static const char *const roots[] = {"inside", NULL};

	if ((errno = landlock(handled, 0, roots)))
		return broken("Landlock");
	return write_text("outside", "x");
}

int main(void)
{
	need_landlock(3);
	fact_dir();
	mkdir("inside", 0755);
	write_text("inside/file", "text");
	write_text("outside", "text");

	handled = LL_WRITES_ABI1 | LL_REFER;
	expect(attempt(open_outside), EACCES, "ABI 2 rights refuse opening for writing");
	expect(attempt(truncate_outside), 0, "ABI 2 rights let truncate(2) through");
	check(strcmp(read_text("outside"), "t") == 0, "the file outside was cut");

	write_text("outside", "text");
	handled |= LL_TRUNCATE;
	expect(attempt(truncate_outside), EACCES, "ABI 3 rights refuse truncate(2)");
	expect(attempt(truncate_inside), 0, "truncate inside works");
	check(strcmp(read_text("outside"), "text") == 0, "the file outside is whole");
	return fact_done();
}
