/*
 * SECURITY: what hg recover and hg rollback put back lies where they take it from.
 *
 * Danger: Mercurial takes the names in these lists as they are (transaction.py).  "plain\0hgrc\0evil" and "../../.bashrc" make
 * hg recover outside write hooks, or any file; a name alone makes it truncate or delete one.
 * Price: hg's lists are written into memory and land when it closes them; each transaction has two.
 * Held by: tests/supervise/hg_journal.py, tests/unit/test_guard_hg.c
 *
 * journal and undo: lines of NAME, NUL and a length.  NAME.backupfiles: "2", then lines of where (the store, or .hg
 * itself), a file, its backup, a digit, with a NUL between: a file without a backup is deleted, and so is a backup without a
 * file.  hg calls the backup journal.backup.FILE, since 6.4 journal.backup.FILE.bck, and puts it beside the file.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/words.h"
#include "guard/check.h"

struct part {
	const char *text;
	size_t length;
};

static bool is(struct part part, const char *text)
{
	return part.length == strlen(text) && memcmp(part.text, text, part.length) == 0;
}

static bool begins(struct part part, const char *text)
{
	return part.length >= strlen(text) && memcmp(part.text, text, strlen(text)) == 0;
}

/* Up to the next NUL of *rest, which moves on behind it; false: there is none. */
static bool take(struct part *rest, struct part *out)
{
	const char *nul = rest->length ? memchr(rest->text, '\0', rest->length) : NULL;

	if (!nul)
		return false;
	*out = (struct part){rest->text, (size_t)(nul - rest->text)};
	rest->text = nul + 1;
	rest->length -= out->length + 1;
	return true;
}

/* Links that hg tries the file system with are called checklink: nothing lies beneath. */
static bool stays(struct part name)
{
	for (;;) {
		const char *slash = name.length ? memchr(name.text, '/', name.length) : NULL;
		struct part one = {name.text, slash ? (size_t)(slash - name.text) : name.length};

		if (!one.length || is(one, ".") || is(one, "..") ||
		    (slash && begins(one, "checklink")))
			return false;
		if (!slash)
			return true;
		name.text = slash + 1;
		name.length -= one.length + 1;
	}
}

/* History of a file: called as the project calls it, with an ending of hg's. */
static bool is_history(struct part name)
{
	const char *dot = name.length ? memrchr(name.text, '.', name.length) : NULL;

	return (begins(name, "data/") || begins(name, "meta/")) && dot &&
	       sb_words_have("i d n nd a dat idx sda sdi sdd", dot + 1,
			     name.length - (size_t)(dot + 1 - name.text));
}

/* What writing to name, in the store or in the directory around it, means.  What cannot be looked at asks. */
static const struct sb_guard_row *row_of(const struct sb_check *check, bool plain, struct part name,
					 enum sb_guard_verdict *out_verdict)
{
	struct sb_guard_answer answer;
	struct sb_guard_place place = {.directory = -1};
	const char *end = strrchr(check->path, '/');
	char path[4096];
	int length;

	if (plain && end - check->path > 6 && memcmp(end - 6, "/store", 6) == 0)
		end -= 6;
	length = snprintf(path, sizeof path, "%.*s/%.*s", (int)(end - check->path), check->path,
			  (int)name.length, name.text);
	*out_verdict = SB_GUARD_ASK;
	if (length < 0 || (size_t)length >= sizeof path || !stays(name))
		return NULL;
	*out_verdict = SB_GUARD_PLAIN;
	if (!plain && is_history(name))
		return NULL;
	place.path = path;
	place.name = strrchr(path, '/') + 1;
	*out_verdict = check->guard->whole.judge(check->guard, SB_GUARD_WRITE, &place, &answer);
	return answer.row;
}

/* Is backup the name that hg gives to the backup of file?  stem: "journal". */
static bool is_backup_of(struct part stem, struct part backup, struct part file)
{
	const char *slash = memrchr(file.text, '/', file.length);
	size_t before = slash ? (size_t)(slash - file.text) + 1 : 0;
	struct part name = {file.text + before, file.length - before};
	static const char word[] = ".backup.", bck[] = ".bck";
	size_t length = before + stem.length + strlen(word) + name.length;
	const char *at = backup.text;

	if (backup.length != length &&
	    (backup.length != length + strlen(bck) || memcmp(at + length, bck, strlen(bck)) != 0))
		return false;
	return memcmp(at, file.text, before) == 0 &&
	       memcmp(at + before, stem.text, stem.length) == 0 &&
	       memcmp(at + before + stem.length, word, strlen(word)) == 0 &&
	       memcmp(at + before + stem.length + strlen(word), name.text, name.length) == 0;
}

static bool is_entry(const struct sb_check *check, struct part line)
{
	enum sb_guard_verdict verdict;
	struct part name;

	if (!take(&line, &name) || !line.length || line.length > 19)
		return false;
	for (size_t i = 0; i < line.length; i++)
		if (line.text[i] < '0' || line.text[i] > '9')
			return false;
	row_of(check, false, name, &verdict);
	return verdict != SB_GUARD_ASK;
}

static bool is_backup(const struct sb_check *check, struct part stem, struct part line)
{
	enum sb_guard_verdict of_file = SB_GUARD_PLAIN, of_backup = SB_GUARD_PLAIN;
	const struct sb_guard_row *row = NULL, *other = NULL;
	struct part where, file, backup;
	bool plain;

	if (!take(&line, &where) || !take(&line, &file) || !take(&line, &backup) ||
	    line.length > 1 || (line.length && *line.text != '0' && *line.text != '1'))
		return false;
	plain = where.length && sb_words_have("plain shared local", where.text, where.length);
	if (where.length && !plain && !is(where, "store"))
		return false;
	if (!file.length && !backup.length)
		return false;
	if (file.length)
		row = row_of(check, plain, file, &of_file);
	if (backup.length)
		other = row_of(check, plain, backup, &of_backup);
	if (of_file == SB_GUARD_ASK || of_backup == SB_GUARD_ASK)
		return false;
	if (!file.length || !backup.length) /* it is deleted */
		return true;
	/* what lands at a name with a form had that form when it was written as a backup */
	return is_backup_of(stem, backup, file) &&
	       (of_file == SB_GUARD_PLAIN ||
		(of_backup == SB_GUARD_CHECK && row->kind == other->kind));
}

void sb_check_hg(const struct sb_check *check)
{
	static const char ending[] = ".backupfiles";
	struct sb_text_lines line = sb_text_lines(check->new_bytes.bytes, check->new_bytes.length);
	struct part stem = {strrchr(check->path, '/') + 1, 0};
	size_t length = strlen(stem.text);
	bool backups = length > strlen(ending) &&
		       strcasecmp(stem.text + length - strlen(ending), ending) == 0;

	stem.length = backups ? length - strlen(ending) : length;
	if (backups && sb_next_line(&line) && !is((struct part){line.text, line.length}, "2"))
		sb_check_ask(check, "", line.text, line.length);
	while (!sb_reasons_full(check->reasons) && sb_next_line(&line)) {
		struct part one = {line.text, line.length};

		if (!(backups ? is_backup(check, stem, one) : is_entry(check, one)))
			sb_check_ask(check, "", line.text, line.length);
	}
}

/*
 * SECURITY: no links beneath .hg, as in git's directories.
 *
 * Danger: hg writes through them: last-message.txt, store/data and what the lists above name.
 * Price: hg's locks are links, and so is checklink, by which it tries the file system; any other asks.
 * Held by: tests/supervise/hg_journal.py
 */
bool sb_hg_wants_no_link(const char *path)
{
	const char *name = strrchr(path, '/') + 1, *slash;
	bool inside = false, cache = false;

	for (const char *start = path; *start == '/'; start = slash) {
		struct sb_folded folded;

		slash = strchrnul(++start, '/');
		if (!*slash)
			break;
		cache = sb_words_have("cache wcache", start, (size_t)(slash - start));
		if (inside || (*start != '.' && (signed char)*start >= 0))
			continue;
		sb_fold(start, (size_t)(slash - start), &folded);
		inside = sb_words_have(".hg .sl", folded.text, folded.length);
	}
	return inside && strcmp(name, "lock") != 0 && strcmp(name, "wlock") != 0 &&
	       !(cache && strncmp(name, "checklink", 9) == 0);
}
