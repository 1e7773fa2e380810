/*
 * The names of rows, as regular expressions and compared with each other.
 */
#include <string.h>
#include <strings.h>

#include "enforce/darwin_guard.h"

bool sb_seatbelt_holds(const struct sb_guard_row *row)
{
	switch (row->kind) {
	case SB_GUARD_SAME:
	case SB_GUARD_GIT_CONFIG:
	case SB_GUARD_GITFILE:
	case SB_GUARD_GITDIR:
	case SB_GUARD_COMMONDIR:
	case SB_GUARD_ALTERNATES:
	case SB_GUARD_AGENT_JSON:
	case SB_GUARD_AGENT_LOOKS:
		return true;
	default:
		return false;
	}
}

struct sb_span sb_item_name(const struct sb_item *item, unsigned i)
{
	const char *at = item->text;

	while (i--)
		at += strcspn(at, "/") + 1;
	return (struct sb_span){at, strcspn(at, "/")};
}

static bool is(struct sb_span span, const char *text)
{
	return strlen(text) == span.length && memcmp(span.text, text, span.length) == 0;
}

void sb_item_put_name(struct sb_buf *out, struct sb_span name)
{
	const char *star = memchr(name.text, '*', name.length);

	sb_buf_putc(out, '/');
	if (is(name, "<git>")) {
		sb_regex_folded(out, ".git", 4);
		if (name.text[name.length]) /* what lies in it may lie in that of a submodule */
			sb_buf_puts(out, "(/worktrees/[^/]+|/modules(/[^/]+)+)*");
	} else if (is(name, "<option>")) { /* guard/option_name.h, most of it */
		sb_buf_puts(out, "([-+][^/]*[^-A-Za-z0-9._@/][^/]*|-[SF][^/]+)");
	} else if (is(name, "*")) {
		sb_buf_puts(out, "[^/]+");
	} else if (star) {
		size_t before = (size_t)(star - name.text);

		sb_regex_folded(out, name.text, before);
		sb_buf_puts(out, "[^/]*");
		sb_regex_folded(out, star + 1, name.length - before - 1);
	} else {
		sb_regex_folded(out, name.text, name.length);
	}
}

void sb_item_names(struct sb_buf *out, const struct sb_item *item, unsigned from)
{
	for (unsigned i = from; i < item->count; i++)
		sb_item_put_name(out, sb_item_name(item, i));
}

void sb_item_other(struct sb_buf *out, const struct sb_item *item)
{
	struct sb_span name = sb_item_name(item, 0);

	sb_regex_other_name(out, name.text, name.length);
}

/* Can the two mean one name? */
static bool may_be_same(struct sb_span a, struct sb_span b)
{
	const char *star = memchr(a.text, '*', a.length), *other = memchr(b.text, '*', b.length);
	size_t before, after;

	if (is(a, "<option>") || is(b, "<option>"))
		return true;
	if (is(a, "<git>"))
		a = (struct sb_span){".git", 4};
	if (is(b, "<git>"))
		b = (struct sb_span){".git", 4};
	if (!star && !other)
		return a.length == b.length && strncasecmp(a.text, b.text, a.length) == 0;
	if (!star)
		return may_be_same(b, a);
	before = (size_t)(star - a.text);
	after = a.length - before - 1;
	if (!other)
		return b.length >= before + after && strncasecmp(a.text, b.text, before) == 0 &&
		       strncasecmp(star + 1, b.text + b.length - after, after) == 0;
	if (before > (size_t)(other - b.text))
		before = (size_t)(other - b.text);
	if (after > b.length - (size_t)(other - b.text) - 1)
		after = b.length - (size_t)(other - b.text) - 1;
	return strncasecmp(a.text, b.text, before) == 0 &&
	       strncasecmp(a.text + a.length - after, b.text + b.length - after, after) == 0;
}

/* Rows about one name, compared from their end. */
bool sb_items_overlap(const struct sb_item *a, const struct sb_item *b)
{
	unsigned least = a->count < b->count ? a->count : b->count;

	for (unsigned i = 1; i <= least; i++)
		if (!may_be_same(sb_item_name(a, a->count - i), sb_item_name(b, b->count - i)))
			return false;
	return true;
}

/* Compared from their beginning: does what state means lie in tree? */
bool sb_item_is_state_of(const struct sb_item *tree, const struct sb_item *state)
{
	unsigned least = tree->count < state->count ? tree->count : state->count;

	for (unsigned i = 0; i < least; i++)
		if (!may_be_same(sb_item_name(tree, i), sb_item_name(state, i)))
			return false;
	return true;
}
