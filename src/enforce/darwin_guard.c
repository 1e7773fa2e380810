/*
 * The guard's rows in a profile.
 *
 * SECURITY: names alone are held, so the names of directories on the way are as well.
 *
 * Danger: nobody looks at bytes, nor into a directory that gets a name by a rename: x/tasks.json is written
 * and x becomes .vscode.  So where a guard would look, a profile closes what names a program
 * (sb_seatbelt_holds()); and no directory is made that such names would lie in, .git among them.  It cannot tell a
 * mkdir from a rename.
 * Price: git init and git clone need a rule that names the .git, here and in temporary directories
 * ("write /tmp/XX/.git", X being an asterisk).  Directories with ordinary names (tools, mise) can be made, and renamed.  Git
 * directories are known by the name .git alone.
 * Held by: tests/cli/macos.py
 *
 * As in guard/verdict.c: of rows about one name the first that fits counts, then rows about trees, then those
 * of git's own files.  What a row leaves open that comes first is left out of those behind it that could mean the same name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "enforce/darwin_guard.h"

#define MAX_ITEMS (SB_GUARD_MAX_ROWS + 16)

/* --- rules of the profile -------------------------------------------------------------------------- */

/* "(regex "^(/[^/]+)*(A|B)$")", several of them so that none is long. */
struct filter {
	struct sb_guarding *guarding;
	struct sb_buf regex;
	const char *ending;
};

#define LONG_REGEX 1500 /* what compiles a profile may have its limits */

static void end_regex(struct filter *filter)
{
	if (!filter->regex.length)
		return;
	sb_buf_puts(&filter->regex, filter->ending);
	filter->guarding->seatbelt->text.failed |= sb_buf_failed(&filter->regex);
	sb_buf_puts(&filter->guarding->seatbelt->text, "\n  (regex ");
	sb_seatbelt_string(filter->guarding->seatbelt, filter->regex.data);
	sb_buf_putc(&filter->guarding->seatbelt->text, ')');
	filter->regex.length = 0;
}

static void add_item(struct filter *filter, const struct sb_item *item)
{
	if (filter->regex.length > LONG_REGEX)
		end_regex(filter);
	sb_buf_puts(&filter->regex, filter->regex.length ? "|" : SB_ANYWHERE "(");
	sb_item_names(&filter->regex, item, 0);
}

static void begin(struct sb_guarding *guarding)
{
	sb_buf_printf(&guarding->seatbelt->text, "(deny %s (require-all (require-any",
		      guarding->operations);
}

static void end_any(struct sb_guarding *guarding)
{
	sb_buf_putc(&guarding->seatbelt->text, ')');
}

static void end(struct sb_guarding *guarding)
{
	sb_opened_files(guarding);
	sb_buf_puts(&guarding->seatbelt->text, "))\n");
}

static void put_not(struct sb_guarding *guarding, const char *regex)
{
	sb_buf_puts(&guarding->seatbelt->text, "\n  (require-not (regex ");
	sb_seatbelt_string(guarding->seatbelt, regex);
	sb_buf_puts(&guarding->seatbelt->text, "))");
}

/* What is left open of one name, by rows before it. */
static void put_open_before(struct sb_guarding *guarding, const struct sb_item *item)
{
	for (const struct sb_item *other = guarding->items; other < item; other++) {
		SB_AUTO_BUF struct sb_buf regex = SB_BUF(SB_GUARDING_REGEX);

		if (other->held || other->tree || !sb_items_overlap(other, item))
			continue;
		sb_buf_puts(&regex, SB_ANYWHERE);
		sb_item_names(&regex, other, 0);
		sb_buf_putc(&regex, '$');
		put_not(guarding, regex.data);
	}
}

static bool is_open_before(const struct sb_guarding *guarding, const struct sb_item *item)
{
	for (const struct sb_item *other = guarding->items; other < item; other++)
		if (!other->held && !other->tree && sb_items_overlap(other, item))
			return true;
	return false;
}

typedef bool (*sb_wanted)(const struct sb_item *item);

static bool is_name_row(const struct sb_item *item)
{
	return item->held && !item->tree;
}

static bool is_executable(const struct sb_item *item)
{
	return item->held && !item->tree && item->row->flags & SB_GUARD_IF_EXECUTABLE;
}

/* Rows about one name: together, and alone where something is left out. */
static void put_names(struct sb_guarding *guarding, sb_wanted wanted)
{
	struct filter filter = {guarding, SB_BUF(SB_GUARDING_REGEX), ")$"};
	bool begun = false;

	for (size_t i = 0; i < guarding->count; i++) {
		const struct sb_item *item = &guarding->items[i];

		if (!wanted(item) || is_open_before(guarding, item) || sb_is_opened(guarding, item))
			continue;
		if (!begun)
			begin(guarding);
		begun = true;
		add_item(&filter, item);
	}
	end_regex(&filter);
	if (begun) {
		end_any(guarding);
		end(guarding);
	}
	for (size_t i = 0; i < guarding->count; i++) {
		const struct sb_item *item = &guarding->items[i];

		if (!wanted(item) ||
		    !(is_open_before(guarding, item) || sb_is_opened(guarding, item)))
			continue;
		begin(guarding);
		add_item(&filter, item);
		end_regex(&filter);
		end_any(guarding);
		put_open_before(guarding, item);
		sb_opened_by_name(guarding, item);
		end(guarding);
	}
	sb_buf_done(&filter.regex);
}

/* Names that a guard would look into and a profile leaves open, also in trees and git directories. */
static void define_checked(struct sb_guarding *guarding)
{
	struct filter filter = {guarding, SB_BUF(SB_GUARDING_REGEX), ")$"};

	sb_buf_puts(&guarding->seatbelt->text, "(define checked (require-any");
	for (size_t i = 0; i < guarding->count; i++) {
		const struct sb_item *item = &guarding->items[i];

		if (!sb_seatbelt_holds(item->row) && !item->tree &&
		    item->row->kind != SB_GUARD_ANYTHING)
			add_item(&filter, item);
	}
	end_regex(&filter);
	sb_buf_puts(&guarding->seatbelt->text, "))\n");
	sb_buf_done(&filter.regex);
}

static void put_checked(struct sb_guarding *guarding)
{
	sb_buf_puts(&guarding->seatbelt->text, "\n  (require-not checked)");
}

/* What item means, where no other directory on the way has the first of its names. */
static void put_not_once(struct sb_guarding *guarding, const struct sb_item *item)
{
	SB_AUTO_BUF struct sb_buf regex = SB_BUF(SB_GUARDING_REGEX);

	sb_buf_puts(&regex, "^(/");
	sb_item_other(&regex, item);
	sb_buf_puts(&regex, ")*");
	sb_item_names(&regex, item, 0);
	if (item->tree) {
		sb_buf_puts(&regex, "(/");
		sb_item_other(&regex, item);
		sb_buf_puts(&regex, ")*");
	}
	sb_buf_putc(&regex, '$');
	put_not(guarding, regex.data);
}

/* Of a tree what rows about its state leave open, their directories as well, unless a directory of that name comes twice. */
static bool put_state(struct sb_guarding *guarding, const struct sb_item *tree, bool put)
{
	bool found = false;

	for (size_t i = 0; i < guarding->count; i++) {
		const struct sb_item *state = &guarding->items[i];

		if (state->row->kind != SB_GUARD_ANYTHING || state->held ||
		    (state->tree && state > tree) || !sb_item_is_state_of(tree, state))
			continue;
		found = true;
		if (put)
			put_not_once(guarding, state);
	}
	return found;
}

static void put_trees(struct sb_guarding *guarding)
{
	struct filter filter = {guarding, SB_BUF(SB_GUARDING_REGEX), ")(/[^/]+)+$"};

	begin(guarding);
	for (size_t i = 0; i < guarding->count; i++) {
		const struct sb_item *item = &guarding->items[i];

		if (item->held && item->tree && !put_state(guarding, item, false) &&
		    !sb_is_opened(guarding, item))
			add_item(&filter, item);
	}
	end_regex(&filter);
	end_any(guarding);
	put_checked(guarding);
	end(guarding);
	for (size_t i = 0; i < guarding->count; i++) {
		const struct sb_item *item = &guarding->items[i];

		if (!item->held || !item->tree ||
		    !(put_state(guarding, item, false) || sb_is_opened(guarding, item)))
			continue;
		begin(guarding);
		add_item(&filter, item);
		end_regex(&filter);
		end_any(guarding);
		put_checked(guarding);
		put_state(guarding, item, true);
		sb_opened_by_name(guarding, item);
		end(guarding);
	}
	sb_buf_done(&filter.regex);
}

/* --- all of it -------------------------------------------------------------------------------------- */

static void add(struct sb_guarding *guarding, const struct sb_guard_row *row, const char *text,
		bool held)
{
	struct sb_item *item = &guarding->items[guarding->count];
	size_t length = strlen(text);

	if (guarding->count == MAX_ITEMS)
		return;
	*item = (struct sb_item){.row = row, .held = held, .count = 1};
	item->tree = length > 3 && strcmp(text + length - 3, "/**") == 0;
	snprintf(item->text, sizeof item->text, "%.*s", (int)(length - (item->tree ? 3 : 0)), text);
	for (const char *at = item->text; (at = strchr(at, '/')); at++)
		item->count++;
	guarding->count++;
}

static void add_rows(struct sb_guarding *guarding, bool protecting)
{
	size_t count;
	const struct sb_guard_row *rows = sb_guard_rows(&count);

	for (size_t i = 0; i < count; i++) {
		const struct sb_guard_row *row = &rows[i];
		char sample[sizeof row->pattern + 8];

		if ((row->flags & SB_GUARD_IF_PROTECTING && !protecting) ||
		    row->flags & (SB_GUARD_IN_HOME | SB_GUARD_IF_ELSEWHERE))
			continue;
		if (row->flags & SB_GUARD_IF_EXECUTABLE) { /* nobody runs NAME.sample */
			snprintf(sample, sizeof sample, "%s.sample", row->pattern);
			add(guarding, row, sample, false);
		}
		add(guarding, row, row->pattern, sb_seatbelt_holds(row));
	}
}

static bool has(const struct sb_guarding *guarding, const char *text)
{
	for (size_t i = 0; i < guarding->count; i++)
		if (strcmp(guarding->items[i].text, text) == 0)
			return true;
	return false;
}

/* Directories on the way to held names, unless they are called as any might be. */
static void add_holders(struct sb_guarding *holders, const struct sb_guarding *guarding)
{
	for (size_t i = 0; i < guarding->count; i++) {
		const struct sb_item *item = &guarding->items[i];
		unsigned names = item->count - !item->tree;

		if (!item->held || !strchr("._<", item->text[0]))
			continue;
		for (unsigned n = 1; n <= names; n++) {
			struct sb_span last = sb_item_name(item, n - 1);
			char text[sizeof item->text];

			snprintf(text, sizeof text, "%.*s",
				 (int)(last.text + last.length - item->text), item->text);
			if (!has(holders, text))
				add(holders, item->row, text, true);
		}
	}
}

static void put_pass(struct sb_guarding *guarding, const struct sb_guarding *holders, enum sb_op op,
		     const char *operations)
{
	guarding->op = op;
	guarding->operations = operations;
	if (op == SB_DELETE) {
		put_names(guarding, is_executable);
		return;
	}
	put_names(guarding, is_name_row);
	put_trees(guarding);
	sb_guarding_git(guarding);
	if (op == SB_CREATE) {
		struct sb_guarding way = *guarding;

		way.items = holders->items;
		way.count = holders->count;
		way.operations = SB_SEATBELT_CREATE;
		put_names(&way, is_name_row);
	}
}

int sb_seatbelt_guard(struct sb_seatbelt *seatbelt, const struct sb_policy *policy,
		      struct sb_error *err)
{
	SB_AUTO_FREE struct sb_item *items = calloc(2 * MAX_ITEMS, sizeof *items);
	struct sb_guarding guarding = {.seatbelt = seatbelt, .policy = policy, .items = items};
	struct sb_guarding holders = {.items = items + MAX_ITEMS};

	if (!items)
		return sb_no_memory(err);
	guarding.err = err;
	add_rows(&guarding, sb_policy_protect_ignored(policy));
	add_holders(&holders, &guarding);
	sb_buf_puts(&seatbelt->text, "\n; names that a program outside would run or obey\n");
	define_checked(&guarding);
	sb_guarding_define_git(&guarding);
	/* mostly no rule opens any, and then it is the same for both */
	if (sb_opens_any(&guarding)) {
		put_pass(&guarding, &holders, SB_MODIFY, SB_SEATBELT_MODIFY);
		put_pass(&guarding, &holders, SB_CREATE, SB_SEATBELT_CREATE);
	} else {
		put_pass(&guarding, &holders, SB_CREATE, SB_SEATBELT_CREATE " " SB_SEATBELT_MODIFY);
	}
	put_pass(&guarding, &holders, SB_DELETE, SB_SEATBELT_DELETE);
	return guarding.status;
}
