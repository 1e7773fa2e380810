/*
 * Rules of the user's that open what the guard's rows close.
 */
#include <string.h>

#include "base/auto.h"
#include "enforce/darwin_guard.h"
#include "guard/fold.h"
#include "policy/policy_impl.h"

/* Somebody has written it who knows the name: as in judge/opened.c. */
static bool may_open(const struct sb_guarding *guarding, const struct sb_entry *entry)
{
	enum sb_tier tier = entry->rule.tier;

	return entry->rule.access.verdict[guarding->op] == SB_ALLOW &&
	       (tier == SB_TIER_SYSTEM || tier == SB_TIER_GLOBAL || tier == SB_TIER_DIRECTORY ||
		tier == SB_TIER_FILE || tier == SB_TIER_FLAG);
}

bool sb_opens_any(const struct sb_guarding *guarding)
{
	struct sb_guarding one = *guarding;

	for (size_t i = 0; i < guarding->policy->count; i++)
		for (one.op = SB_MODIFY; one.op <= SB_CREATE; one.op++)
			if (may_open(&one, &guarding->policy->entries[i]))
				return true;
	return false;
}

static bool is_name(struct sb_span name, struct sb_span written)
{
	const char *star = memchr(name.text, '*', name.length);
	size_t before = star ? (size_t)(star - name.text) : name.length, at;
	struct sb_folded folded, other;

	if (name.length == 5 && memcmp(name.text, "<git>", 5) == 0)
		return sb_fold_ends(written.text, written.length, ".git", 4);
	if (!star) {
		sb_fold(name.text, name.length, &folded);
		sb_fold(written.text, written.length, &other);
		return folded.length == other.length && folded.length != SB_FOLD_MAX &&
		       memcmp(folded.text, other.text, folded.length) == 0;
	}
	at = before ? sb_fold_begins(written.text, written.length, name.text, before) : 0;
	return (at || !before) && sb_fold_ends(written.text + at, written.length - at, star + 1,
					       name.length - before - 1);
}

/* The pattern's component that is i-th from its end, from 1 on; false: it has none, or not in words. */
static bool find_spelled(const struct sb_pattern *pattern, unsigned i, struct sb_span *out)
{
	const char *end = pattern->text + strlen(pattern->text), *start = end;

	while (i--) {
		if (start == pattern->text)
			return false;
		end = start == end ? end : start - 1;
		for (start = end; start > pattern->text && start[-1] != '/';)
			start--;
		if (start == end || strcspn(start, "*?[\\") < (size_t)(end - start))
			return false;
	}
	*out = (struct sb_span){start, (size_t)(end - start)};
	return true;
}

/* Names that are no reason to take a rule for one about the row: as count_common() in guard/places.c. */
static unsigned count_common(const struct sb_item *item)
{
	unsigned words = sb_guard_shared_names(item->row);

	if (words)
		return words;
	while (words + 1 < item->count + item->tree &&
	       !strchr(".<", *sb_item_name(item, words).text))
		words++;
	return words;
}

/*
 * How many of the pattern's last names are those of the item, or lead on into its tree; 0: it does not name it.
 * *out_used: how many of the item's names that takes.
 */
static unsigned find_names(const struct sb_item *item, const struct sb_pattern *pattern,
			   unsigned *out_used)
{
	unsigned common = count_common(item);

	for (unsigned from = 1;; from++) { /* the innermost first */
		struct sb_span written;
		bool same = from > common;

		if (!find_spelled(pattern, from, &written))
			return 0;
		*out_used = from < item->count ? from : item->count;
		same = same && (from <= item->count || item->tree);
		for (unsigned i = 0; same && i < *out_used; i++)
			same = find_spelled(pattern, from - i, &written) &&
			       is_name(sb_item_name(item, i), written);
		if (same)
			return from;
	}
}

bool sb_is_opened(const struct sb_guarding *guarding, const struct sb_item *item)
{
	unsigned used;

	for (size_t i = 0; i < guarding->policy->count; i++)
		if (may_open(guarding, &guarding->policy->entries[i]) &&
		    find_names(item, &guarding->policy->entries[i].pattern, &used))
			return true;
	return false;
}

/* Is there a rule that allows what this one does not, and counts more? */
static bool is_passed_over(const struct sb_guarding *guarding, const struct sb_entry *entry)
{
	for (size_t i = 0; i < guarding->policy->count; i++) {
		const struct sb_entry *other = &guarding->policy->entries[i];

		if (other->rule.access.verdict[guarding->op] == SB_ALLOW &&
		    sb_pattern_compare(&other->pattern, &entry->pattern) > 0 &&
		    sb_seatbelt_overlap(&other->pattern, &entry->pattern))
			return true;
	}
	return false;
}

/* Rules that say something stricter and are no less specific take that back, where they do not decide anyway. */
static void put_overruling(struct sb_guarding *guarding, const struct sb_pattern *pattern)
{
	struct sb_buf *text = &guarding->seatbelt->text;

	for (size_t i = 0; i < guarding->policy->count; i++) {
		const struct sb_entry *other = &guarding->policy->entries[i];
		int status;

		if (other->rule.access.verdict[guarding->op] == SB_ALLOW ||
		    sb_pattern_compare(&other->pattern, pattern) < 0 ||
		    !sb_seatbelt_overlap(&other->pattern, pattern) ||
		    !is_passed_over(guarding, other))
			continue;
		sb_buf_puts(text, "\n    (require-not ");
		status = sb_seatbelt_filter(guarding->seatbelt, &other->pattern, guarding->err);
		if (guarding->status == SB_OK)
			guarding->status = status;
		sb_buf_putc(text, ')');
	}
}

/* "^" and the pattern, then names of the item from one on. */
static void put_regex(struct sb_guarding *guarding, const struct sb_pattern *pattern,
		      const struct sb_item *item, unsigned from, bool deeper)
{
	SB_AUTO_BUF struct sb_buf regex = SB_BUF(SB_GUARDING_REGEX);
	int status;

	sb_buf_putc(&regex, '^');
	status = sb_regex_pattern(&regex, pattern, false, guarding->err);
	if (guarding->status == SB_OK)
		guarding->status = status;
	if (deeper)
		sb_buf_puts(&regex, "(/[^/]+)*");
	sb_item_names(&regex, item, from);
	if (item->tree) {
		sb_buf_puts(&regex, "(/");
		sb_item_other(&regex, item);
		sb_buf_puts(&regex, ")*");
	}
	sb_buf_putc(&regex, '$');
	guarding->seatbelt->text.failed |= sb_buf_failed(&regex);
	sb_buf_puts(&guarding->seatbelt->text, "(regex ");
	sb_seatbelt_parameter(guarding->seatbelt, 'R', regex.data);
	sb_buf_putc(&guarding->seatbelt->text, ')');
}

void sb_opened_by_name(struct sb_guarding *guarding, const struct sb_item *item)
{
	struct sb_buf *text = &guarding->seatbelt->text;

	for (size_t i = 0; i < guarding->policy->count; i++) {
		const struct sb_entry *entry = &guarding->policy->entries[i];
		unsigned used;

		if (!may_open(guarding, entry) || !find_names(item, &entry->pattern, &used))
			continue;
		sb_buf_puts(text, "\n  (require-not (require-all ");
		put_regex(guarding, &entry->pattern, item, used, false);
		if (entry->pattern.glob) { /* unless it covers what is around the names as well */
			sb_buf_puts(text, "\n    (require-not ");
			put_regex(guarding, &entry->pattern, item, 0, true);
			sb_buf_putc(text, ')');
		}
		put_overruling(guarding, &entry->pattern);
		sb_buf_puts(text, "))");
	}
}

void sb_opened_files(struct sb_guarding *guarding)
{
	struct sb_buf *text = &guarding->seatbelt->text;

	for (size_t i = 0; guarding->op != SB_DELETE && i < guarding->policy->count; i++) {
		const struct sb_entry *entry = &guarding->policy->entries[i];

		if (!may_open(guarding, entry) || entry->pattern.glob)
			continue;
		sb_buf_puts(text, "\n  (require-not (require-all ");
		sb_seatbelt_path(guarding->seatbelt, "literal", entry->pattern.prefix);
		put_overruling(guarding, &entry->pattern);
		sb_buf_puts(text, "))");
	}
}
