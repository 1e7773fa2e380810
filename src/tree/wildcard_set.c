#include "tree/wildcard_set.h"

#include <stdlib.h>
#include <string.h>

enum { NO_TEXT = 0x110000 }; /* first character beyond Unicode: bytes that are no UTF-8 */

uint32_t sb_wildcard_character(const char *text, size_t length, size_t *out_bytes)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char first = (unsigned char)text[0];
	size_t bytes = first < 0x80   ? 1
		       : first < 0xc0 ? 0
		       : first < 0xe0 ? 2
		       : first < 0xf0 ? 3
				      : 4;
	uint32_t character;

	*out_bytes = 1;
	if (bytes == 1)
		return first;
	if (!bytes || bytes > length || first > 0xf4)
		return NO_TEXT + first;
	character = first & (0xffu >> (bytes + 1));
	for (size_t i = 1; i < bytes; i++) {
		unsigned char next = (unsigned char)text[i];

		if ((next & 0xc0) != 0x80)
			return NO_TEXT + first;
		character = character << 6 | (next & 0x3f);
	}
	if (character < smallest[bytes] || character >= NO_TEXT ||
	    (character >= 0xd800 && character < 0xe000))
		return NO_TEXT + first;
	*out_bytes = bytes;
	return character;
}

/* Our own, for ASCII alone: the C library's follow the locale, git's do not. */
static bool in_class(const char *name, size_t length, unsigned c, bool *out_known)
{
	static const char names[][8] = {"alnum", "alpha", "blank", "cntrl", "digit", "graph",
					"lower", "print", "punct", "space", "upper", "xdigit"};
	bool lower = c >= 'a' && c <= 'z', upper = c >= 'A' && c <= 'Z';
	bool digit = c >= '0' && c <= '9', graph = c > ' ' && c < 0x7f;
	/* git takes neither vertical tab nor form feed for space. */
	bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
	bool is[] = {lower || upper || digit,
		     lower || upper,
		     c == ' ' || c == '\t',
		     c < ' ' || c == 0x7f,
		     digit,
		     graph,
		     lower,
		     graph || c == ' ',
		     graph && !lower && !upper && !digit,
		     space,
		     upper,
		     digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) {
			*out_known = true;
			return is[i];
		}
	}
	*out_known = false;
	return false;
}

static bool add_class(struct sb_wildcard_set *set, const char *name, size_t length)
{
	bool known = true;

	for (unsigned c = 0; c < 0x80 && known; c++)
		if (in_class(name, length, c, &known))
			set->bits[c / 32] |= 1u << c % 32;
	return known;
}

static bool add_range(struct sb_wildcard_set *set, uint32_t low, uint32_t high)
{
	struct sb_wildcard_range *more;

	for (uint32_t c = low; c <= high && c < 256; c++)
		set->bits[c / 32] |= 1u << c % 32;
	if (high < 256 || low > high)
		return true;
	more = realloc(set->ranges, (set->range_count + 1) * sizeof(*more));
	if (!more)
		return false;
	set->ranges = more;
	more[set->range_count++] = (struct sb_wildcard_range){low < 256 ? 256 : low, high};
	return true;
}

/* Where a reader of the set stands; characters come with their backslash taken off. */
struct reader {
	const char *at, *end;
	bool git;
};

static bool next(struct reader *in, uint32_t *out)
{
	size_t bytes = 1;

	if (in->at == in->end)
		return false;
	*out = in->git ? (unsigned char)*in->at
		       : sb_wildcard_character(in->at, (size_t)(in->end - in->at), &bytes);
	in->at += bytes;
	return true;
}

/* "[:" was read up to at: the class's closing "]", or NULL.  *out_closed: any "]" follows. */
static const char *class_end(const struct reader *in, bool *out_closed)
{
	const char *close = memchr(in->at, ']', (size_t)(in->end - in->at));

	*out_closed = close != NULL;
	return close && close > in->at && close[-1] == ':' ? close : NULL;
}

enum class_result { CLASS_NONE, CLASS_TAKEN, CLASS_BAD };

static enum class_result take_class(struct sb_wildcard_set *set, struct reader *in)
{
	struct reader inside = {in->at + 1, in->end, in->git};
	const char *close;
	bool closed;

	if (in->at == in->end || *in->at != ':')
		return CLASS_NONE;
	close = class_end(&inside, &closed);
	if (!closed)
		return CLASS_BAD;
	if (!close)
		return CLASS_NONE;
	if (!add_class(set, inside.at, (size_t)(close - 1 - inside.at)))
		return CLASS_BAD;
	in->at = close + 1;
	return CLASS_TAKEN;
}

const char *sb_wildcard_set_parse(struct sb_wildcard_set *set, const char *at, const char *end,
				  bool git, bool *out_nomem)
{
	struct reader in = {at, end, git};
	uint32_t previous = 0, c;
	bool first = true;

	*out_nomem = false;
	if (in.at < end && (*in.at == '!' || *in.at == '^')) {
		set->negated = true;
		in.at++;
	}
	for (; next(&in, &c); first = false) {
		enum class_result class = c == '[' ? take_class(set, &in) : CLASS_NONE;
		uint32_t low = c;

		if (c == ']' && !first)
			return in.at - 1;
		if (class == CLASS_BAD)
			return NULL;
		if (class == CLASS_TAKEN) {
			previous = 0;
			continue;
		}
		if (c == '\\') {
			if (!next(&in, &c))
				return NULL;
			low = c;
			previous = c;
		} else if (c == '-' && previous && in.at < end && *in.at != ']') {
			low = previous;
			if (!next(&in, &c) || (c == '\\' && !next(&in, &c)))
				return NULL;
			previous = 0;
		} else {
			previous = c;
		}
		if (!add_range(set, low, c)) {
			*out_nomem = true;
			return NULL;
		}
	}
	return NULL;
}

void sb_wildcard_set_done(struct sb_wildcard_set *set)
{
	free(set->ranges);
	set->ranges = NULL;
}

static bool holds(const struct sb_wildcard_set *set, uint32_t c)
{
	if (c < 256)
		return set->bits[c / 32] >> c % 32 & 1;
	for (size_t i = 0; i < set->range_count; i++)
		if (c >= set->ranges[i].low && c <= set->ranges[i].high)
			return true;
	return false;
}

bool sb_wildcard_set_has(const struct sb_wildcard_set *set, uint32_t character)
{
	uint32_t other = character | 0x20;
	bool found = holds(set, character);

	if (!found && set->fold && other >= 'a' && other <= 'z')
		found = holds(set, other) || holds(set, other & ~0x20u);
	return found != set->negated;
}
