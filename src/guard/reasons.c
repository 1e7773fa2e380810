#include "guard/reasons.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/escape.h"

void sb_reasons_init(struct sb_reasons *reasons, size_t most)
{
	reasons->count = 0;
	reasons->most = most;
}

static uint64_t hash_of(const char *what, const char *text, size_t length)
{
	return sb_fnv(sb_fnv(SB_FNV, what, strlen(what)), text, length);
}

static void print(const struct sb_reasons *reasons, const char *what, const char *text,
		  size_t length, char *out, size_t size)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(4 * SB_GUARD_DETAIL);
	size_t words = strlen(what) + 1;

	size = size < reasons->most ? size : reasons->most;
	sb_buf_puts(&line, what);
	if (length)
		sb_escape_value(&line, text, length, size > words ? size - words : 0);
	snprintf(out, size, "%s", sb_buf_failed(&line) ? "out of memory" : line.data);
}

/* Settings of one section, variables and names that differ by a number, are of one kind. */
static uint64_t kind_of(const char *what, const char *text, size_t length)
{
	size_t end = length && text[0] == '"';

	while (end < length && !strchr(".=: \t0123456789", text[end]))
		end++;
	return hash_of(what, text, end);
}

static bool is_again(const struct sb_reasons *reasons, size_t line, uint64_t kind)
{
	for (size_t i = 0; i < line; i++)
		if (reasons->kinds[i] == kind)
			return true;
	return false;
}

/* Whose place is a reason's: the last of the lightest, or one that tells a kind again?  SB_GUARD_LINES: nobody's. */
static size_t place_of(const struct sb_reasons *reasons, uint64_t kind,
		       enum sb_reason_weight weight)
{
	size_t lightest = 0;

	if (reasons->count < SB_GUARD_LINES)
		return reasons->count;
	for (size_t at = 1; at < SB_GUARD_LINES; at++)
		if (reasons->weights[at] <= reasons->weights[lightest])
			lightest = at;
	if (reasons->weights[lightest] < weight)
		return lightest;
	if (reasons->weights[lightest] > weight || is_again(reasons, SB_GUARD_LINES, kind))
		return SB_GUARD_LINES;
	for (size_t at = SB_GUARD_LINES; at-- > 0;)
		if (reasons->weights[at] == weight && is_again(reasons, at, reasons->kinds[at]))
			return at;
	return SB_GUARD_LINES;
}

void sb_reasons_add(struct sb_reasons *reasons, const char *what, const char *text, size_t length,
		    enum sb_reason_weight weight)
{
	uint64_t hash = hash_of(what, text, length), kind = kind_of(what, text, length);
	size_t place = place_of(reasons, kind, weight);

	for (size_t i = 0; i < reasons->count; i++)
		if (reasons->known[i] == hash)
			return;
	/* no longer counted, but a heavier one is shown all the same */
	if (sb_reasons_full(reasons) && place == SB_GUARD_LINES)
		return;
	if (place < SB_GUARD_LINES) {
		print(reasons, what, text, length, reasons->lines[place], SB_REASON_LINE);
		reasons->weights[place] = weight;
		reasons->kinds[place] = kind;
	}
	if (!reasons->count)
		print(reasons, what, text, length, reasons->alone, sizeof reasons->alone);
	if (sb_reasons_full(reasons))
		reasons->known[place] = hash;
	else
		reasons->known[reasons->count++] = hash;
}

void sb_reasons_text(const struct sb_reasons *reasons, const char *more, char *out, size_t size)
{
	size_t shown = reasons->count < SB_GUARD_LINES ? reasons->count : SB_GUARD_LINES, at = 0;

	if (reasons->count < 2) {
		snprintf(out, size, "%s", reasons->count ? reasons->alone : "");
		return;
	}
	for (size_t i = 0; i < shown && at < size; i++)
		at += (size_t)snprintf(out + at, size - at, "%s%s", i ? "\n" : "",
				       reasons->lines[i]);
	if (shown < reasons->count && at < size)
		snprintf(out + at, size - at, "\nand %zu%s more %s", reasons->count - shown,
			 sb_reasons_full(reasons) ? " or" : "", more);
}
