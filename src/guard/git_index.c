/*
 * The check of a git index: header, entries, extensions, a hash over all that.
 *
 * SECURITY: git outside reads the same entries as we do, or none.
 *
 * Danger: an index that has two readings shows us the harmless one.  So whatever leads git to
 * entries by another way is held to the plain one: the offsets of IEOT, by which threads of git
 * read, where EOIE says that entries end, the length of a name beside its end, and the length of
 * hashes, which git takes from the config and we cannot know for sure.
 * Price: about 25 ns for an entry.
 * Held by: tests/unit/test_git_index.c, tests/supervise/git_index.py, tests/fuzz/git_index.c
 *
 * What is not looked at, because git runs and writes nothing by it: the checksum (git itself leaves it
 * out), times and sizes of files, object names, TREE (what is known of directories), UNTR (names
 * of untracked files, for git status), bitmaps of FSMN and link.  They can make git
 * show less than there is: docs/security.md.
 */
#include <ctype.h>
#include <stdio.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "guard/fold.h"
#include "guard/git_index_impl.h"

#define NO_INDEX "not a git index"
#define MAX_TOKEN 1024 /* of a file system monitor */

enum mode {
	MODE_FILE = 0100644,
	MODE_PROGRAM = 0100755,
	MODE_LINK = 0120000,
	MODE_MODULE = 0160000,
	MODE_DIRECTORY = 0040000, /* of a sparse index */
};

/* --- messages ---------------------------------------------------------------------------------- */

struct answer {
	char *why;
	size_t size;
};

static bool refuse(const struct answer *answer, const char *before, const char *name, size_t length,
		   const char *behind)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(16 * SB_INDEX_SHOWN);

	sb_buf_puts(&line, before);
	sb_escape_append(&line, name, length < SB_INDEX_SHOWN ? length : SB_INDEX_SHOWN);
	if (length > SB_INDEX_SHOWN)
		sb_buf_puts(&line, "...");
	sb_buf_puts(&line, behind);
	snprintf(answer->why, answer->size, "%s", sb_buf_failed(&line) ? before : line.data);
	return false;
}

static bool refuse_name(const struct answer *answer, enum sb_index_fault fault, const char *name,
			size_t length)
{
	return refuse(answer, "entry '", name, length,
		      fault == SB_INDEX_IS_GIT      ? "' lies in a directory of git's own"
		      : fault == SB_INDEX_LEADS_OUT ? "' leads elsewhere"
						    : "' is no path in the project");
}

static bool refuse_form(const struct answer *answer, const char *what)
{
	return refuse(answer, what, "", 0, "");
}

/* --- entries ----------------------------------------------------------------------------------- */

/*
 * Names that are the beginning of the one that is read: "a" of "a/b", but of "ab" and "a.b", too,
 * which are sorted in between.  Those are the only ones that can stand for a directory of it.
 */
struct beginnings {
	unsigned count;
	struct {
		unsigned length : 16;
		bool settled : 1; /* not in conflict: what is, may be a file here and a directory there */
		bool is_link : 1;
	} all[SB_INDEX_MAX_NAME + 1];
};

struct state {
	struct sb_index_reader reader;
	const struct answer *answer;
	struct beginnings above;
	size_t beneath; /* length of the file that this entry lies beneath, in conflict; or 0 */
	const unsigned char *table, *table_end; /* what is left of IEOT, or NULL */
	uint32_t block;                         /* entries left in a block of it */
	struct sb_index_entry before;
	bool nameless; /* some have no name: they replace entries of a shared index */
	bool sparse;   /* some are directories */
	bool hides;    /* changes of some are not shown */
};

static void remember(struct state *state, size_t common)
{
	struct beginnings *above = &state->above;
	const struct sb_index_entry *before = &state->before;

	while (above->count && above->all[above->count - 1].length > common)
		above->count--;
	if (state->beneath >= common)
		state->beneath = 0;
	if (!before->length || common != before->length)
		return;
	/* the same name again is another stage of it */
	if (!above->count || above->all[above->count - 1].length < common)
		above->count++;
	above->all[above->count - 1].length = common & 0xffff;
	above->all[above->count - 1].settled = !(before->flags & SB_INDEX_STAGES);
	above->all[above->count - 1].is_link = before->mode == MODE_LINK;
}

/*
 * SECURITY: nothing lies beneath a file, a link or a submodule.
 *
 * Danger: "a" is a link to ~/.ssh, "a/authorized_keys" is written through it.  Git looks at every
 * directory before it writes, but has been fooled about that before (CVE-2021-21300,
 * CVE-2024-32002).
 * Price: none; git writes no such index, but for paths in conflict.
 */
static bool lies_beneath(struct state *state, const struct sb_index_entry *entry)
{
	const struct beginnings *above = &state->above;
	size_t common = entry->common;

	if (state->before.mode == MODE_DIRECTORY && common == state->before.length)
		return true;
	/* a shorter one was looked at with the entry before, which is the same up to common */
	if (above->count && above->all[above->count - 1].length == common &&
	    entry->length > common && entry->name[common] == '/' &&
	    above->all[above->count - 1].settled)
		state->beneath = common;
	return state->beneath && !(entry->flags & SB_INDEX_STAGES);
}

static bool is_known_mode(unsigned mode)
{
	return mode == MODE_FILE || mode == MODE_PROGRAM || mode == MODE_LINK ||
	       mode == MODE_MODULE || mode == MODE_DIRECTORY;
}

/* As git's check_ce_order(), which only git fsck minds; git finds entries by halving. */
static bool is_in_order(const struct state *state, const struct sb_index_entry *entry)
{
	unsigned before = state->before.flags & SB_INDEX_STAGES,
		 stage = entry->flags & SB_INDEX_STAGES;

	if (entry->offset == SB_INDEX_HEADER || (!state->before.length && entry->length))
		return true; /* the first; the first with a name */
	if (!entry->length)
		return state->before.length == 0;
	return entry->order < 0 || (entry->order == 0 && before && before < stage);
}

static bool check_path(struct state *state, const struct sb_index_entry *entry)
{
	size_t length = entry->length, start;
	enum sb_index_fault fault;

	if (entry->mode == MODE_DIRECTORY) { /* "a/b/", and only that */
		state->sparse = true;
		if (length < 2 || entry->name[length - 1] != '/' ||
		    !(entry->more & SB_INDEX_SKIPPED))
			return refuse(state->answer, "entry '", entry->name, length,
				      "' is a directory, but not as in a sparse index");
		length--;
	}
	start = entry->start < length ? entry->start : 0;
	fault = entry->single && sb_index_is_ordinary(entry->name + start, length - start)
			? SB_INDEX_GOOD
			: sb_index_judge_name(entry->name, length, start);
	if (fault != SB_INDEX_GOOD)
		return refuse_name(state->answer, fault, entry->name, entry->length);
	if (entry->mode == MODE_LINK) {
		const char *slash = memrchr(entry->name, '/', length);
		const char *last = slash ? slash + 1 : entry->name;
		struct sb_folded folded;

		sb_fold(last, (size_t)(entry->name + length - last), &folded);
		if (folded.length == 11 && memcmp(folded.text, ".gitmodules", 11) == 0)
			return refuse(state->answer, "entry '", entry->name, length, "' is a link");
	}
	if (lies_beneath(state, entry))
		return refuse(state->answer, "entry '", entry->name, length,
			      state->above.count && state->above.all[state->above.count - 1].is_link
				      ? "' lies beneath a link"
				      : "' lies beneath another one");
	return true;
}

static bool check_entry(struct state *state, const struct sb_index_entry *entry)
{
	if (!is_known_mode(entry->mode))
		return refuse(state->answer, "entry '", entry->name, entry->length,
			      "' is no file, link or submodule");
	if (entry->more & ~(unsigned)(SB_INDEX_SKIPPED | SB_INDEX_INTENDED))
		return refuse(state->answer, "entry '", entry->name, entry->length,
			      "' has flags that are not known");
	if (!is_in_order(state, entry))
		return refuse(state->answer, "entry '", entry->name, entry->length,
			      "' is not in order");
	if (!entry->length) {
		state->nameless = true;
		return true;
	}
	remember(state, entry->common);
	return check_path(state, entry);
}

/* Threads of git read entries from where IEOT says: just where they are. */
static bool follow_table(struct state *state)
{
	struct sb_index_reader *reader = &state->reader;

	if (!state->table || state->block)
		return true;
	if (state->table_end - state->table < 8 || sb_index_word(state->table) != reader->at)
		return false;
	state->block = sb_index_word(state->table + 4);
	state->table += 8;
	reader->starts = true;
	return state->block > 0;
}

static bool check_entries(struct state *state)
{
	struct sb_index_reader *reader = &state->reader;
	struct sb_index_entry entry;

	while (reader->left) {
		if (!follow_table(state) || !sb_index_next(reader, &entry))
			return refuse_form(state->answer, NO_INDEX);
		if (state->table)
			state->block--;
		state->hides |= sb_index_hides(&entry);
		if (!check_entry(state, &entry))
			return false;
		state->before = entry;
	}
	return !state->table || (!state->block && state->table == state->table_end)
		       ? true
		       : refuse_form(state->answer, NO_INDEX);
}

/* --- extensions --------------------------------------------------------------------------------- */

/* Git finds the table of blocks by way of EOIE, before it has read any entry. */
static bool find_table(struct state *state, const unsigned char *mark)
{
	const struct sb_index_reader *reader = &state->reader;
	const unsigned char *extension;
	size_t at = mark ? sb_index_word(mark + SB_INDEX_EXTENSION) : reader->end, size;

	if (at < SB_INDEX_HEADER || at > reader->end)
		return false;
	while (at < reader->end) {
		if (!sb_index_next_extension(reader, &at, &extension, &size))
			return false;
		if (!sb_index_is_called(extension, "IEOT"))
			continue;
		if (size < 4 || size % 8 != 4 || sb_index_word(extension + SB_INDEX_EXTENSION) != 1)
			return false;
		state->table = extension + SB_INDEX_EXTENSION + 4;
		state->table_end = extension + SB_INDEX_EXTENSION + size;
		return true;
	}
	return true;
}

/* The token goes to whatever core.fsmonitor of the user's names, as an argument or in a query. */
static bool is_plain_monitor(const unsigned char *data, size_t size)
{
	const char *token = (const char *)data + 4;
	size_t length;

	if (size < 4)
		return false;
	if (sb_index_word(data) == 1)
		return size >= 4 + 8 + 4; /* a number */
	length = strnlen(token, size - 4);
	if (sb_index_word(data) != 2 || length == size - 4 || length > MAX_TOKEN || token[0] == '-')
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)token[i]) && !strchr(":._/+-", token[i]))
			return false;
	return true;
}

/* Paths that were in conflict, three modes in octal each, an object name for each that is not 0. */
static bool check_undo(const struct state *state, const unsigned char *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;

	while (at < end) {
		const char *name = at, *stop = memchr(at, '\0', (size_t)(end - at));
		enum sb_index_fault fault;
		unsigned objects = 0;

		if (!stop)
			return refuse_form(state->answer, NO_INDEX);
		fault = sb_index_judge_name(name, (size_t)(stop - name), 0);
		if (fault != SB_INDEX_GOOD)
			return refuse_name(state->answer, fault, name, (size_t)(stop - name));
		at = stop + 1;
		for (int stage = 0; stage < 3; stage++) {
			stop = memchr(at, '\0', (size_t)(end - at));
			if (!stop || stop - at > 11 ||
			    strspn(at, "01234567") != (size_t)(stop - at))
				return refuse_form(state->answer, NO_INDEX);
			objects += strspn(at, "0") != (size_t)(stop - at);
			at = stop + 1;
		}
		if ((size_t)(end - at) < objects * (size_t)state->reader.hash)
			return refuse_form(state->answer, NO_INDEX);
		at += objects * (size_t)state->reader.hash;
	}
	return true;
}

static bool is_null(const unsigned char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i])
			return false;
	return true;
}

struct found {
	bool base; /* a shared index */
	bool sparse;
};

static bool check_extension(const struct state *state, const unsigned char *extension, size_t size,
			    struct found *found)
{
	const unsigned char *data = extension + SB_INDEX_EXTENSION;
	unsigned hash = state->reader.hash;

	if (sb_index_is_called(extension, "link")) {
		if (size < hash)
			return refuse_form(state->answer, NO_INDEX);
		found->base |= !is_null(data, hash);
		return true;
	}
	if (sb_index_is_called(extension, "sdir")) {
		found->sparse = true;
		return true;
	}
	if (sb_index_is_called(extension, "REUC"))
		return check_undo(state, data, size);
	if (sb_index_is_called(extension, "FSMN") && !is_plain_monitor(data, size))
		return refuse_form(state->answer,
				   "the token of a file system monitor is an odd one");
	/* git ends where it meets another that it does not know */
	if (extension[0] < 'A' || extension[0] > 'Z')
		return refuse(state->answer, "extension '", (const char *)extension, 4,
			      "' is not known");
	return true;
}

static bool check_extensions(const struct state *state, const unsigned char *mark)
{
	const struct sb_index_reader *reader = &state->reader;
	struct found found = {0};
	size_t at = reader->at, size;

	if (mark && sb_index_word(mark + SB_INDEX_EXTENSION) != at)
		return refuse_form(state->answer, NO_INDEX);
	while (at < reader->end) {
		const unsigned char *extension;

		if (!sb_index_next_extension(reader, &at, &extension, &size))
			return refuse_form(state->answer, NO_INDEX);
		if (!check_extension(state, extension, size, &found))
			return false;
	}
	if (state->nameless && !found.base)
		return refuse_form(state->answer, "entries without a name");
	if (state->sparse && !found.sparse)
		return refuse_form(state->answer, "directories, but no sparse index");
	return true;
}

/* --- the whole -------------------------------------------------------------------------------------- */

static bool check_as(struct state *state, struct sb_guard_bytes file, unsigned hash)
{
	const unsigned char *mark = sb_index_find_end(file, hash);

	state->above.count = 0;
	state->beneath = 0;
	state->table = state->table_end = NULL;
	state->block = 0;
	state->before = (struct sb_index_entry){.name = ""};
	state->nameless = state->sparse = state->hides = false;
	if (!sb_index_begin(&state->reader, file, hash) || !find_table(state, mark))
		return refuse_form(state->answer, NO_INDEX);
	return check_entries(state) && check_extensions(state, mark);
}

bool sb_git_index_is_harmless(struct sb_guard_bytes bytes, struct sb_index_facts *out, char *why,
			      size_t why_size)
{
	static const unsigned lengths[] = {SB_INDEX_SHA1, SB_INDEX_SHA256};
	char whys[2][8 * SB_INDEX_SHOWN] = {"", ""};
	struct state state;

	for (size_t i = 0; i < 2; i++) {
		const struct answer answer = {whys[i], sizeof whys[i]};

		state.answer = &answer;
		if (!check_as(&state, bytes, lengths[i]))
			continue;
		*out = (struct sb_index_facts){state.hides, lengths[i] == SB_INDEX_SHA256};
		snprintf(why, why_size, "%s", "");
		return true;
	}
	/* mostly it is of the first kind, and the second is nothing at all */
	snprintf(why, why_size, "%s", strcmp(whys[0], NO_INDEX) != 0 ? whys[0] : whys[1]);
	return false;
}
