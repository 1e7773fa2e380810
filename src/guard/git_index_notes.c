/* What an index hides that the one before did not. */
#include <stdio.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "guard/git_index_impl.h"

/* With names that follow one another whole: from flags to flags. */
static bool hides_some(struct sb_index_reader *reader)
{
	const size_t fixed = SB_INDEX_STAT + reader->hash + 2;

	for (; reader->left; reader->left--) {
		const unsigned char *entry = reader->bytes + reader->at;
		size_t room = reader->end - reader->at, size = fixed, length;
		unsigned flags;

		if (room < fixed + 2)
			return true;
		flags = sb_index_half(entry + fixed - 2);
		if ((flags & SB_INDEX_ASSUMED) ||
		    ((flags & SB_INDEX_EXTENDED) &&
		     (sb_index_half(entry + fixed) & SB_INDEX_SKIPPED)))
			return true;
		size += flags & SB_INDEX_EXTENDED ? 2 : 0;
		length = flags & SB_INDEX_LENGTH;
		if (length == SB_INDEX_LENGTH)
			length = strnlen((const char *)entry + size, room - size);
		size = (size + length + 8) / 8 * 8;
		if (size > room)
			return true;
		reader->at += size;
	}
	return false;
}

bool sb_git_index_hides(struct sb_guard_bytes bytes)
{
	struct sb_index_reader reader;
	struct sb_index_entry entry;

	if (!sb_index_begin(&reader, bytes, SB_INDEX_SHA1))
		return true;
	if (reader.version != 4)
		return hides_some(&reader) || !sb_index_ends_well(&reader, reader.at);
	while (reader.left)
		if (!sb_index_next(&reader, &entry) || sb_index_hides(&entry))
			return true;
	return !sb_index_ends_well(&reader, reader.at);
}

/* By the length of hashes with which all of it is an index. */
static bool begin_right(struct sb_index_reader *reader, struct sb_guard_bytes bytes)
{
	static const unsigned lengths[] = {SB_INDEX_SHA1, SB_INDEX_SHA256};
	struct sb_index_entry entry;

	for (size_t i = 0; bytes.bytes && i < sizeof lengths / sizeof lengths[0]; i++) {
		if (!sb_index_begin(reader, bytes, lengths[i]))
			continue;
		while (reader->left && sb_index_next(reader, &entry))
			;
		if (!reader->left && sb_index_ends_well(reader, reader->at))
			return sb_index_begin(reader, bytes, lengths[i]);
	}
	return false;
}

struct hidden {
	struct sb_buf names;
	size_t count, nameless;
	bool assumed, skipped;
};

#define MAX_NAMES_SHOWN 3

static void add_hidden(struct hidden *hidden, const struct sb_index_entry *entry, bool assumed,
		       bool skipped)
{
	hidden->assumed |= assumed;
	hidden->skipped |= skipped;
	if (!entry->length)
		hidden->nameless++;
	else if (hidden->count++ < MAX_NAMES_SHOWN) {
		sb_buf_puts(&hidden->names, hidden->count > 1 ? ", '" : "'");
		sb_escape_append(&hidden->names, entry->name,
				 entry->length < SB_INDEX_SHOWN ? entry->length : SB_INDEX_SHOWN);
		sb_buf_puts(&hidden->names, entry->length > SB_INDEX_SHOWN ? "...'" : "'");
	}
}

static int compare_entries(const struct sb_index_entry *a, const struct sb_index_entry *b)
{
	size_t shorter = a->length < b->length ? a->length : b->length;
	int order = memcmp(a->name, b->name, shorter);

	if (order == 0)
		order = (a->length > b->length) - (a->length < b->length);
	return order ? order
		     : (int)(a->flags & SB_INDEX_STAGES) - (int)(b->flags & SB_INDEX_STAGES);
}

/* Both are sorted, so that one pass over both finds what is new; those without names come first. */
static void find_hidden(struct sb_index_reader *before, struct sb_index_reader *after,
			struct hidden *hidden)
{
	struct sb_index_entry old = {.name = ""}, entry;
	bool more = before && before->left && sb_index_next(before, &old);
	size_t nameless = 0;

	while (after->left && sb_index_next(after, &entry)) {
		bool assumed = entry.flags & SB_INDEX_ASSUMED,
		     skipped = entry.more & SB_INDEX_SKIPPED;

		while (more && (!old.length || compare_entries(&old, &entry) < 0)) {
			if (!old.length && !entry.length)
				break;
			more = before->left && sb_index_next(before, &old);
		}
		if (more && !old.length && !entry.length) {
			/* which ones they replace is not known: as many as before are no news */
			nameless += sb_index_hides(&old);
			more = before->left && sb_index_next(before, &old);
		} else if (more && compare_entries(&old, &entry) == 0) {
			assumed &= !(old.flags & SB_INDEX_ASSUMED);
			skipped &= !(old.more & SB_INDEX_SKIPPED);
		}
		if (assumed || skipped)
			add_hidden(hidden, &entry, assumed, skipped);
	}
	hidden->nameless -= nameless < hidden->nameless ? nameless : hidden->nameless;
}

void sb_git_index_note(struct sb_guard_bytes old_bytes, struct sb_guard_bytes new_bytes,
		       bool sparse, char *note, size_t size)
{
	struct sb_index_reader before, after;
	struct hidden hidden = {.names = SB_BUF(16 * SB_INDEX_SHOWN * MAX_NAMES_SHOWN)};
	SB_AUTO_BUF struct sb_buf line = SB_BUF(16 * SB_INDEX_SHOWN * (MAX_NAMES_SHOWN + 1));
	size_t all;

	if (size)
		note[0] = '\0';
	if (!begin_right(&after, new_bytes))
		return;
	find_hidden(begin_right(&before, old_bytes) ? &before : NULL, &after, &hidden);
	all = hidden.count + hidden.nameless;
	if (!all) {
		sb_buf_done(&hidden.names);
		return;
	}
	sb_buf_puts(&line, "git will not show changes of ");
	if (hidden.count)
		sb_buf_append(&line, hidden.names.data, hidden.names.length);
	if (all > MAX_NAMES_SHOWN || hidden.nameless)
		sb_buf_printf(
			&line, "%s%zu %s", hidden.count ? " and " : "",
			all - (hidden.count < MAX_NAMES_SHOWN ? hidden.count : MAX_NAMES_SHOWN),
			hidden.count ? "more" : "files of a shared index");
	sb_buf_printf(&line, " (%s%s%s%s)", hidden.assumed ? "assume-unchanged" : "",
		      hidden.assumed && hidden.skipped ? ", " : "",
		      hidden.skipped ? "skip-worktree" : "",
		      sparse && hidden.skipped ? ", in a sparse checkout" : "");
	snprintf(note, size, "%s", line.data);
	sb_buf_done(&hidden.names);
}
