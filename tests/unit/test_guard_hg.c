/*
 * test_guard_hg.c - lists of files that hg recover and hg rollback put back, bytes of a stranger's.
 */
#include "guarded.h"

#define STORE ".hg/store/"
#define TEXT(name, text)                                                                           \
	{                                                                                          \
		name, text, sizeof text - 1                                                        \
	}
#define BACKUPS(text) TEXT(STORE "journal.backupfiles", "2\n" text)

struct list {
	const char *name, *text;
	size_t length;
};

static enum sb_guard_verdict verdict_of(struct guarded *fx, const struct list *list)
{
	char *copy = malloc(list->length + 1); /* a sanitizer sees its end */
	char path[PATH_MAX], why[(SB_GUARD_LINES + 1) * 80];
	struct sb_guard_landing landing = {.kind = SB_GUARD_HG_JOURNAL, .path = path};
	enum sb_guard_verdict verdict;

	assert_non_null(copy);
	memcpy(copy, list->text, list->length);
	snprintf(path, sizeof path, "%s/%s", fx->root, list->name);
	landing.new_bytes = (struct sb_guard_bytes){copy, list->length};
	verdict = sb_guard_content(fx->guard, &landing, why, sizeof why);
	free(copy);
	return verdict;
}

/* In octal, "\0000" is a NUL and a digit. */
static void lists_of_hg_land(void **state)
{
	static const struct list fine[] = {
		TEXT(STORE "journal", ""),
		TEXT(STORE "journal", "data/hooks/config.i\0000\ndata/.x/a $(b).i\00064\n"),
		TEXT(STORE "journal", "00changelog.i\000126\n"),
		TEXT(STORE "undo", "meta/a/00manifest.i\0000\nobsstore\00099\n"),
		TEXT(STORE "journal.backupfiles", "2\n"),
		BACKUPS("\0phaseroots\0journal.backup.phaseroots\0000\n"),
		BACKUPS("plain\0bookmarks\0journal.backup.bookmarks\0000\n"),
		BACKUPS("plain\0dirstate\0\0000\nplain\0\0dirstate.pending\0000\n"),
		TEXT(STORE "undo.backupfiles", "2\n\0fncache\0undo.backup.fncache.bck\0000\n"),
		TEXT(STORE "undo.backupfiles", "2\nplain\0branch\0undo.backup.branch.bck\0000\n"),
		BACKUPS("plain\0largefiles/dirstate\0largefiles/journal.backup.dirstate\0000\n"),
		TEXT(".hg/journal.backupfiles",
		     "2\nplain\0dirstate\0journal.backup.dirstate\0000\n"),
		TEXT(".sl/store/undo.backupfiles",
		     "2\n\0phaseroots\0undo.backup.phaseroots\0000\n"),
	};

	for (size_t i = 0; i < COUNT(fine); i++)
		if (verdict_of(*state, &fine[i]) != SB_GUARD_PLAIN)
			fail_msg("%zu", i);
}

static void others_ask(void **state)
{
	static const struct list bad[] = {
		TEXT(STORE "journal", "../hgrc\0000\n"),
		TEXT(STORE "journal", "/etc/passwd\0000\n"),
		TEXT(STORE "journal", "data/../../x.i\0000\n"),
		TEXT(STORE "journal", "data//x.i\0000\n"),
		TEXT(STORE "journal", "cache/checklink-x/y\0000\n"),
		TEXT(STORE "journal", "a\000-1\n"),
		TEXT(STORE "journal", "a\000\n"),
		TEXT(STORE "journal", "a\n"),
		TEXT(STORE "journal", "\0001\n"),
		TEXT(STORE "journal", "a\0001\0002\n"),
		TEXT(STORE "journal.backupfiles", "3\n"),
		TEXT(STORE "journal.backupfiles", "\n"),
		BACKUPS("plain\0hgrc\0evil\0000\n"),
		BACKUPS("plain\0hgrc\0journal.backup.hgrc\0000\n"),
		BACKUPS("plain\0HGRC\0\0000\n"),
		BACKUPS("\0phaseroots\0undo.backup.phaseroots\0000\n"),
		BACKUPS("\0phaseroots\0journal.backup.x\0000\n"),
		BACKUPS("\0a/b\0journal.backup.b\0000\n"),
		BACKUPS("\0\0\0000\n"),
		BACKUPS("\0a\0\n"),
		BACKUPS("\0a\0\0x\n"),
		BACKUPS("other\0a\0\0000\n"),
		BACKUPS("\0journal\0journal.backup.journal\0000\n"),
		BACKUPS("plain\0../.bashrc\0../journal.backup..bashrc\0000\n"),
		BACKUPS("plain\0patches/.hg/hgrc\0\0000\n"),
		TEXT(".hg/journal.backupfiles", "2\n\0hgrc\0\0000\n"),
	};

	for (size_t i = 0; i < COUNT(bad); i++)
		if (verdict_of(*state, &bad[i]) != SB_GUARD_ASK)
			fail_msg("%zu", i);
}

static void links_beneath_ask(void **state)
{
	struct guarded *fx = *state;

	plant(fx, ".hg/store/data/", "");
	plant(fx, ".hg/wcache/", "");
	plant(fx, ".hgx/", "");
	assert_int_equal(judge(fx, SB_GUARD_SYMLINK, ".hg/last-message.txt"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_SYMLINK, ".hg/store/data/x"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_SYMLINK, ".hg/checklink-x"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_SYMLINK, ".hg/wcache/x"), SB_GUARD_ASK);
	assert_int_equal(judge(fx, SB_GUARD_SYMLINK, ".hg/wcache/checklink-x"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_SYMLINK, ".hg/store/lock"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_SYMLINK, ".hg/wlock"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_SYMLINK, ".hgx/x"), SB_GUARD_PLAIN);
	assert_int_equal(judge(fx, SB_GUARD_WRITE, ".hg/last-message.txt"), SB_GUARD_PLAIN);
}

static const struct CMUnitTest tests[] = {
	WITH_TREE(lists_of_hg_land),
	WITH_TREE(others_ask),
	WITH_TREE(links_beneath_ask),
};

UNIT_MAIN("guard hg")
