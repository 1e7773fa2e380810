/*
 * SECURITY: an index is read as long hashes or as short ones by what the config says.
 *
 * Danger: bytes that are an index of the one kind may be one of the other kind, too, with other
 * names in it, and the config is another file.  So the other reading is tried as git would do it:
 * without minding where the file ends (there it finds zeros, up to the end of the page), nor
 * whether names are in order, nor whether they end.  Either git ends, as it does with all but the smallest (flags
 * that it does not know), or these names lead nowhere; else the config counts (content.c), which
 * then cannot be changed unasked either.
 * Price: none that shows.  An index and a config of the other kind that land in one moment, in a
 * repository that had no index, are not seen together.
 * Held by: tests/unit/test_git_index.c
 */
#include "base/hash.h"
#include "guard/git_index_impl.h"

struct other_name {
	char text[SB_INDEX_MAX_NAME + 2]; /* what git takes, NULs included, and a byte more */
	size_t length;
	size_t known; /* as a string: up to the first NUL, or all of it */
};

struct other {
	struct sb_guard_bytes file;
	unsigned version, hash;
	size_t at, name_at;
	struct other_name names[2], *name, *previous;
};

static unsigned char byte_at(const struct other *other, size_t at)
{
	return at < other->file.length ? (unsigned char)other->file.bytes[at] : 0;
}

static size_t string_length(const struct other *other, size_t at)
{
	size_t length = 0;

	while (length <= SB_INDEX_MAX_NAME && byte_at(other, at + length))
		length++;
	return length;
}

/* Version 4: how much of the name before is taken.  False: git ends. */
static bool read_same(const struct other *other, bool first, size_t *at, size_t *out)
{
	size_t strip = byte_at(other, *at) & 127;

	while (byte_at(other, (*at)++) & 128) {
		strip = ((strip + 1) << 7) + (byte_at(other, *at) & 127);
		if (strip > SB_INDEX_MAX_NAME)
			return false;
	}
	if (first)
		return true;
	if (strip > other->previous->length)
		return false;
	*out = other->previous->length - strip;
	return true;
}

enum other_entry { ENDS_GIT, IS_ODD, IS_READ };

static enum other_entry read_other(struct other *other, bool first)
{
	size_t start = other->at, at = start + SB_INDEX_STAT + other->hash + 2, same = 0, length;
	unsigned flags = (unsigned)byte_at(other, at - 2) << 8 | byte_at(other, at - 1);
	struct other_name *name = other->previous;

	other->previous = other->name;
	other->name = name;
	if (flags & SB_INDEX_EXTENDED) {
		unsigned more = (unsigned)byte_at(other, at) << 8 | byte_at(other, at + 1);

		if (more & ~(unsigned)(SB_INDEX_SKIPPED | SB_INDEX_INTENDED))
			return ENDS_GIT;
		at += 2;
	}
	if (other->version == 4 && !read_same(other, first, &at, &same))
		return ENDS_GIT;
	other->name_at = at;
	length = flags & SB_INDEX_LENGTH;
	if (length == SB_INDEX_LENGTH)
		length = same + string_length(other, at);
	if (length > SB_INDEX_MAX_NAME)
		return IS_ODD;
	if (length + 1 < same)
		return ENDS_GIT; /* a copy of less than nothing */
	memcpy(name->text, other->previous->text, same);
	for (size_t i = same; i <= length; i++)
		name->text[i] = (char)byte_at(other, at + (i - same));
	name->length = length;
	name->known = strnlen(name->text, length + 1);
	other->at = other->version == 4 ? at + length + 1 - same
					: start + (at - start + length + 8) / 8 * 8;
	return IS_READ;
}

/* Nobody can choose what a hash over all that comes before it is. */
static bool is_true_hash(struct sb_guard_bytes file)
{
	unsigned char sum[SB_SHA1_BYTES];

	sb_sha1(file.bytes, file.length - SB_INDEX_SHA1, sum);
	return memcmp(sum, file.bytes + file.length - SB_INDEX_SHA1, SB_INDEX_SHA1) == 0;
}

static bool has_link(const struct other *other)
{
	for (size_t at = other->at; at + SB_INDEX_EXTENSION + other->hash <= other->file.length;) {
		const unsigned char *extension = (const unsigned char *)other->file.bytes + at;

		if (sb_index_is_called(extension, "link") || sb_index_is_called(extension, "sdir"))
			return true;
		at += SB_INDEX_EXTENSION + (size_t)sb_index_word(extension + 4);
	}
	return false;
}

/* Less than what git would write: only what leads somewhere counts.  Most of these are no names at all. */
static bool leads_elsewhere(const struct other_name *name)
{
	if (name->known && name->text[0] == '/')
		return true;
	for (size_t start = 0, end; start < name->known; start = end + 1) {
		size_t length;

		for (end = start; end < name->known && name->text[end] != '/';)
			end++;
		length = end - start;
		if (length > 1 &&
		    sb_index_judge_name(name->text + start, length, 0) != SB_INDEX_GOOD)
			return true;
	}
	return false;
}

bool sb_git_index_is_ambiguous(struct sb_guard_bytes file, bool is_long)
{
	const unsigned char *bytes = (const unsigned char *)file.bytes;
	struct other other = {
		.file = file, .version = sb_index_word(bytes + 4), .at = SB_INDEX_HEADER};
	uint32_t count = sb_index_word(bytes + 8);
	bool odd = false;

	other.hash = is_long ? SB_INDEX_SHA1 : SB_INDEX_SHA256;
	other.name = &other.names[0];
	other.previous = &other.names[1];
	if (count == 0) /* then all that follows is the same */
		return false;
	/* behind the end are zeros only: names that are empty */
	for (uint32_t i = 0; i < count && other.at < file.length; i++) {
		switch (read_other(&other, i == 0)) {
		case ENDS_GIT:
			return false;
		case IS_ODD:
			return true;
		case IS_READ:
			break;
		}
		odd |= leads_elsewhere(other.name) &&
		       !(!is_long && other.name_at >= file.length - SB_INDEX_SHA1 &&
			 is_true_hash(file));
	}
	return odd || has_link(&other) || sb_index_find_end(file, other.hash);
}
