/* Reading an index, entry by entry, and its names. */
#include <endian.h>

#include "guard/fold.h"
#include "guard/git_index_impl.h"

#define MODE_AT 24 /* in an entry */

bool sb_index_begin(struct sb_index_reader *reader, struct sb_guard_bytes file, unsigned hash)
{
	const unsigned char *bytes = (const unsigned char *)file.bytes;

	if (file.length < SB_INDEX_HEADER + hash || memcmp(bytes, "DIRC", 4) != 0)
		return false;
	reader->bytes = bytes;
	reader->at = SB_INDEX_HEADER;
	reader->end = file.length - hash;
	reader->version = sb_index_word(bytes + 4);
	reader->hash = hash;
	reader->count = reader->left = sb_index_word(bytes + 8);
	reader->previous = "";
	reader->previous_length = reader->previous_start = 0;
	reader->previous_slashed = false;
	reader->starts = true;
	return reader->version >= 2 && reader->version <= 4;
}

/* git's varint.c: how much of the name before is left out.  False: too long to be one. */
static bool read_strip(struct sb_index_reader *reader, size_t *at, size_t *out)
{
	uint64_t value = 0;

	for (int digits = 0; digits < 4; digits++) {
		unsigned char byte;

		if (*at >= reader->end)
			return false;
		byte = reader->bytes[(*at)++];
		value = (value << 7) + (byte & 127);
		if (!(byte & 128)) {
			*out = (size_t)value;
			return true;
		}
		value++;
	}
	return false;
}

/*
 * Eight bytes at once, the first one lowest.  Behind every name of a file there are as many: the hash at
 * its end is longer than that.
 */
static inline uint64_t load(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof word);
	return le64toh(word);
}

/* How many bytes are the same, by words, for names in a file or in the reader. */
static inline size_t common_of_names(const char *a, const char *b, size_t length)
{
	for (size_t at = 0; at < length; at += 8) {
		uint64_t other = load(a + at) ^ load(b + at);

		if (other) {
			at += (size_t)__builtin_ctzll(other) / 8;
			return at < length ? at : length;
		}
	}
	return length;
}

enum seen { SAW_NUL = 1, SAW_SLASH = 2, SAW_BACKSLASH = 4 };

#define EACH UINT64_C(0x0101010101010101)

static inline bool has_zero(uint64_t word)
{
	return (word - EACH) & ~word & EACH << 7;
}

/* Which of these are among the bytes? */
static inline unsigned look_for(const char *text, size_t length)
{
	unsigned seen = 0;

	for (size_t at = 0; at < length; at += 8) {
		uint64_t word = load(text + at);

		if (length - at < 8)
			word |= UINT64_MAX << 8 * (length - at);
		seen |= has_zero(word) ? SAW_NUL : 0;
		seen |= has_zero(word ^ EACH * '/') ? SAW_SLASH : 0;
		seen |= has_zero(word ^ EACH * '\\') ? SAW_BACKSLASH : 0;
	}
	return seen;
}

static size_t last_start(const char *name, size_t length)
{
	const char *slash = memrchr(name, '/', length);

	return slash ? (size_t)(slash + 1 - name) : 0;
}

/*
 * The name at text, without the first bytes that are the same as before's: its order, and which of
 * its components are new.  False: there is a NUL in it.
 */
static inline bool compare(struct sb_index_reader *reader, const char *text, size_t length,
			   size_t same, struct sb_index_entry *out)
{
	size_t before = reader->previous_length, shorter = length < before ? length : before;
	size_t common = same + common_of_names(reader->previous + same, text, shorter - same);
	unsigned seen = look_for(text + (common - same), length - common);

	if (common < shorter)
		out->order = (unsigned char)reader->previous[common] -
			     (unsigned char)text[common - same];
	else
		out->order = before == length ? 0 : before < length ? -1 : 1;
	out->common = common;
	out->start = reader->previous_start <= common ? reader->previous_start
						      : last_start(reader->previous, common);
	reader->previous_slashed = (seen & SAW_BACKSLASH) || (reader->previous_slashed &&
							      out->start == reader->previous_start);
	out->single = !(seen & SAW_SLASH) && !reader->previous_slashed;
	out->length = reader->previous_length = length;
	return !(seen & SAW_NUL);
}

/* The rest, when the name stands where it will stay. */
static inline void keep(struct sb_index_reader *reader, const char *name,
			struct sb_index_entry *out)
{
	out->name = reader->previous = name;
	reader->previous_start = out->single ? out->start : last_start(name, out->length);
}

/* Names follow one another whole, with one to eight NULs behind each. */
static inline bool read_padded(struct sb_index_reader *reader, size_t start,
			       struct sb_index_entry *out)
{
	const char *name = (const char *)reader->bytes + start;
	size_t room = reader->end - start, length = out->flags & SB_INDEX_LENGTH, size;
	uint64_t padding;

	if (length == SB_INDEX_LENGTH)
		length = strnlen(name, room < SB_INDEX_MAX_NAME + 1 ? room : SB_INDEX_MAX_NAME + 1);
	if (length > SB_INDEX_MAX_NAME || length < (out->flags & SB_INDEX_LENGTH))
		return false;
	size = (start - out->offset + length + 8) / 8 * 8;
	if (size > reader->end - out->offset)
		return false;
	/* git takes this many bytes of the name, and then uses it as a string */
	padding = load(name + length) << 8 * (8 - (out->offset + size - start - length));
	if (padding || !compare(reader, name, length, 0, out))
		return false;
	keep(reader, name, out);
	reader->at = out->offset + size;
	return true;
}

/* Of the name before, so many bytes are left out at the end, and the rest follows, with a NUL. */
static bool read_prefixed(struct sb_index_reader *reader, size_t start, struct sb_index_entry *out)
{
	size_t strip, same, rest, length = out->flags & SB_INDEX_LENGTH;
	const char *text;

	if (!read_strip(reader, &start, &strip) || strip > reader->previous_length)
		return false;
	/* threads of git begin in the middle, with no name before: IEOT */
	if (reader->starts && strip != reader->previous_length)
		return false;
	same = reader->previous_length - strip;
	text = (const char *)reader->bytes + start;
	if (length == SB_INDEX_LENGTH)
		length = same + strnlen(text, reader->end - start);
	if (length < same || length > SB_INDEX_MAX_NAME || length < (out->flags & SB_INDEX_LENGTH))
		return false;
	rest = length - same;
	if (rest >= reader->end - start || text[rest] || !compare(reader, text, length, same, out))
		return false;
	memcpy(reader->name + same, text, rest);
	memset(reader->name + length, 0, 8);
	keep(reader, reader->name, out);
	reader->at = start + rest + 1;
	return true;
}

bool sb_index_next(struct sb_index_reader *reader, struct sb_index_entry *out)
{
	size_t fixed = SB_INDEX_STAT + reader->hash + 2, start;
	const unsigned char *entry = reader->bytes + reader->at;
	bool read;

	if (reader->end - reader->at < fixed + 2)
		return false;
	out->offset = reader->at;
	out->mode = sb_index_word(entry + MODE_AT);
	out->flags = sb_index_half(entry + fixed - 2);
	out->more = out->flags & SB_INDEX_EXTENDED ? sb_index_half(entry + fixed) : 0;
	if ((out->flags & SB_INDEX_EXTENDED) && reader->version < 3)
		return false;
	start = reader->at + fixed + (out->flags & SB_INDEX_EXTENDED ? 2 : 0);
	read = reader->version == 4 ? read_prefixed(reader, start, out)
				    : read_padded(reader, start, out);
	reader->starts = false;
	reader->left -= read;
	return read;
}

/*
 * Where git looks for EOIE: right before the hash.  It takes it to be as long as in a repository with SHA-1
 * whatever the hash is, and writes it as long as that is.
 */
const unsigned char *sb_index_find_end(struct sb_guard_bytes file, unsigned hash)
{
	static const unsigned sizes[] = {4 + SB_INDEX_SHA1, 4 + SB_INDEX_SHA256};

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		size_t behind = SB_INDEX_EXTENSION + sizes[i] + hash;
		const unsigned char *mark;

		if (file.length < SB_INDEX_HEADER + behind)
			continue;
		mark = (const unsigned char *)file.bytes + file.length - behind;
		if (sb_index_is_called(mark, "EOIE") && sb_index_word(mark + 4) == sizes[i])
			return mark;
	}
	return NULL;
}

bool sb_index_next_extension(const struct sb_index_reader *reader, size_t *at,
			     const unsigned char **out, size_t *out_size)
{
	if (reader->end - *at < SB_INDEX_EXTENSION)
		return false;
	*out = reader->bytes + *at;
	*out_size = sb_index_word(*out + 4);
	if (*out_size > reader->end - *at - SB_INDEX_EXTENSION)
		return false;
	*at += SB_INDEX_EXTENSION + *out_size;
	return true;
}

bool sb_index_ends_well(const struct sb_index_reader *reader, size_t at)
{
	const unsigned char *extension;
	size_t size;

	while (at < reader->end)
		if (!sb_index_next_extension(reader, &at, &extension, &size))
			return false;
	return true;
}

static enum sb_index_fault judge_component(const char *name, size_t length)
{
	if (length == 0 || length > SB_INDEX_MAX_COMPONENT)
		return SB_INDEX_NO_NAME;
	if (name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.')))
		return SB_INDEX_LEADS_OUT;
	return !sb_index_is_ordinary(name, length) && sb_fold_is_git(name, length) ? SB_INDEX_IS_GIT
										   : SB_INDEX_GOOD;
}

/* git's verify_path(): where there may be NTFS, a backslash begins a name as well. */
static enum sb_index_fault judge_behind_backslashes(const char *name, size_t length)
{
	const char *end = name + length;

	while ((name = memchr(name, '\\', (size_t)(end - name)))) {
		size_t rest = (size_t)(end - ++name);
		const char *slash = memchr(name, '/', rest);

		if (sb_fold_is_git(name, slash ? (size_t)(slash - name) : rest))
			return SB_INDEX_IS_GIT;
	}
	return SB_INDEX_GOOD;
}

enum sb_index_fault sb_index_judge_name(const char *name, size_t length, size_t start)
{
	enum sb_index_fault fault = SB_INDEX_GOOD;

	if (memchr(name + start, '\\', length - start))
		fault = judge_behind_backslashes(name + start, length - start);
	for (size_t at = start; fault == SB_INDEX_GOOD && at <= length;) {
		const char *slash = memchr(name + at, '/', length - at);
		size_t end = slash ? (size_t)(slash - name) : length;

		fault = judge_component(name + at, end - at);
		at = end + 1;
	}
	return fault;
}
