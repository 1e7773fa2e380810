#include "guard/findings.h"

#include <stdio.h>
#include <string.h>

#include "guard/git_files.h"
#include "guard/guard_impl.h"

enum sb_finding_weight sb_finding_weigh(const struct sb_guard_row *row, const char *path)
{
	static const char hooks[] = "/hooks";
	const char *name = strrchr(path, '/');
	size_t count, system_count;
	const struct sb_guard_row *system = sb_guard_system_rows(&system_count);

	sb_guard_rows(&count);
	if (row >= system && row < system + system_count)
		return SB_FINDING_OBEYED;
	if (sb_git_row_is_unknown(row) || row->kind == SB_GUARD_ANYTHING)
		return SB_FINDING_UNKNOWN;
	if (sb_guard_row_number(row) >= count)
		return SB_FINDING_STATE;
	/* elsewhere it is a directory of hooks, or what a setting names */
	if ((row->flags & SB_GUARD_IF_EXECUTABLE) && name &&
	    (size_t)(name - path) >= sizeof hooks - 1 &&
	    memcmp(name - (sizeof hooks - 1), hooks, sizeof hooks - 1) == 0 &&
	    !sb_is_hook_name(name + 1))
		return SB_FINDING_SPARE;
	return SB_FINDING_OBEYED;
}

static size_t shown(const struct sb_guard_answer *out)
{
	return out->found < SB_GUARD_LINES ? out->found : SB_GUARD_LINES;
}

static bool is_shown(const struct sb_guard_answer *out, const struct sb_guard_row *row,
		     size_t before)
{
	for (size_t i = 0; i < before; i++)
		if (out->lines[i].row == row)
			return true;
	return false;
}

/* More, of two: the heavier; else the one whose row is told by no line before it. */
static unsigned score(enum sb_finding_weight weight, bool again)
{
	return 2u * weight + !again;
}

/* Which line makes room for one with this score?  SB_GUARD_LINES: none. */
static size_t least(const struct sb_guard_answer *out, unsigned than)
{
	size_t found = SB_GUARD_LINES;

	for (size_t i = SB_GUARD_LINES; i-- > 0;) {
		unsigned own = score(out->lines[i].weight, is_shown(out, out->lines[i].row, i));

		if (own < than) {
			than = own;
			found = i;
		}
	}
	return found;
}

static void insert(struct sb_guard_answer *out, size_t end, const struct sb_guard_row *row,
		   enum sb_finding_weight weight, const char *line, bool says_why)
{
	size_t at = end;

	while (at > 0 && out->lines[at - 1].weight < weight)
		at--;
	memmove(&out->lines[at + 1], &out->lines[at], (end - at) * sizeof out->lines[0]);
	out->lines[at].row = row;
	out->lines[at].weight = weight;
	out->lines[at].says_why = says_why;
	snprintf(out->lines[at].text, sizeof out->lines[at].text, "%s", line);
}

/* --- how many each program obeys ----------------------------------------------------------------- */

static void count(struct sb_guard_answer *out, const char *who, enum sb_finding_weight weight)
{
	size_t lightest = 0, i;

	for (i = 0; i < out->kinds && strcmp(out->kind_of[i].who, who) != 0; i++)
		if (out->kind_of[i].weight < out->kind_of[lightest].weight)
			lightest = i;
	if (i == SB_GUARD_KINDS) { /* what it counted is among the others then */
		if (out->kind_of[lightest].weight >= weight)
			return;
		i = lightest;
		out->kind_of[i].count = 0;
	} else if (i == out->kinds) {
		out->kinds++;
		out->kind_of[i].count = 0;
		out->kind_of[i].weight = weight;
	}
	out->kind_of[i].who = who;
	out->kind_of[i].count++;
	if (out->kind_of[i].weight < weight)
		out->kind_of[i].weight = weight;
}

static unsigned lines_of(const struct sb_guard_answer *out, const char *who)
{
	unsigned lines = 0;

	for (size_t i = 0; i < shown(out); i++)
		lines += strcmp(out->lines[i].row->who, who) == 0;
	return lines;
}

/* "and 12 more: 9 for git, 2 for direnv, 1 for others"; those for row alone need no words */
static void tell_rest(const struct sb_guard_answer *out, char *text, size_t size)
{
	unsigned rest = out->found - SB_GUARD_LINES, others = rest;
	int at = snprintf(text, size, "\nand %u more", rest);
	const char *before = ": ";

	for (size_t i = 0; i < out->kinds; i++) {
		const char *who = out->kind_of[i].who;
		unsigned more = out->kind_of[i].count - lines_of(out, who);

		/* after one has taken the place of another its lines may be counted nowhere */
		if (out->kind_of[i].count <= lines_of(out, who))
			continue;
		if (more == rest && strcmp(who, out->row->who) == 0)
			return;
		if ((size_t)at < size)
			at += snprintf(text + at, size - (size_t)at, "%s%u for %s", before, more,
				       who);
		others -= more;
		before = ", ";
	}
	if (others && others < rest && (size_t)at < size)
		snprintf(text + at, size - (size_t)at, ", %u for others", others);
}

static void say(struct sb_guard_answer *out)
{
	size_t at = 0;

	for (size_t i = 0; i < shown(out); i++) {
		const struct sb_guard_row *row = out->lines[i].row;
		bool needs_why = !out->lines[i].says_why && row != out->row;
		int length;

		if (!out->lines[i].text[0]) /* the directory itself */
			continue;
		length = snprintf(out->detail + at, SB_GUARD_DETAIL, "%s%s%s%s", at ? "\n" : "",
				  out->lines[i].text, needs_why ? ": " : "",
				  needs_why ? row->why : "");
		at += length < SB_GUARD_DETAIL ? (size_t)length : SB_GUARD_DETAIL - 1;
	}
	out->listed = at;
	out->detail[at] = '\0';
	if (out->found > SB_GUARD_LINES)
		tell_rest(out, out->detail + at, sizeof out->detail - at);
}

void sb_findings_add(struct sb_guard_answer *out, const struct sb_guard_row *row,
		     enum sb_finding_weight weight, const char *line, bool says_why)
{
	size_t end = shown(out);

	if (!out->found)
		out->kinds = 0;
	for (size_t i = 0; i < end; i++)
		if (strcmp(out->lines[i].text, line) == 0)
			return;
	if (end == SB_GUARD_LINES) {
		size_t out_of = least(out, score(weight, is_shown(out, row, end)));

		if (out_of < SB_GUARD_LINES) {
			end--;
			memmove(&out->lines[out_of], &out->lines[out_of + 1],
				(end - out_of) * sizeof out->lines[0]);
		}
	}
	if (end < SB_GUARD_LINES)
		insert(out, end, row, weight, line, says_why);
	out->found++;
	count(out, row->who, weight);
	/* what the question is about: not that there is more */
	end = out->found > 1 && out->lines[0].weight == SB_FINDING_UNSEEN;
	out->row = out->lines[end].row;
	say(out);
}
