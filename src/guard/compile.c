/* The table made ready: components split and folded, and an index of all names in it. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "guard/git_files.h"
#include "guard/guard_impl.h"
#include "guard/option_name.h"

/* githooks(5): what git runs in core.hooksPath, wherever that is. */
static const char hook_names[] =
	"applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit "
	"prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge pre-push "
	"pre-receive update proc-receive post-receive post-update reference-transaction "
	"push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman "
	"p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change";

enum { MAX_WORDS = 32 }; /* hooks, and two others */

static void add_role(struct sb_table *table, const struct sb_folded *name, unsigned role)
{
	table->maybe[name->length][name->text[0] / 64] |= UINT64_C(1) << name->text[0] % 64;
	for (uint32_t at = name->hash;; at++) {
		struct sb_slot *slot = &table->slots[at % SB_SLOTS];

		if (slot->name && (slot->name->length != name->length ||
				   memcmp(slot->name->text, name->text, name->length) != 0))
			continue;
		slot->name = name;
		slot->roles |= role;
		return;
	}
}

bool sb_component_ends(const struct sb_component *component, const char *name, size_t length)
{
	size_t begin = 0;

	if (component->option)
		return sb_is_option_name(name, length);
	if (component->prefix_length) {
		begin = sb_fold_begins(name, length, component->prefix, component->prefix_length);
		if (!begin)
			return false;
	}
	return !component->text.length ||
	       sb_fold_ends(name + begin, length - begin, component->text.text,
			    component->text.length);
}

bool sb_is_hook_name(const char *name)
{
	return sb_is_word(hook_names, name);
}

void sb_component_make(const char *text, size_t length, struct sb_component *out)
{
	if (length == 5 && memcmp(text, "<git>", 5) == 0) {
		out->kind = SB_COMPONENT_GIT;
	} else if (length == 8 && memcmp(text, "<option>", 8) == 0) {
		out->kind = SB_COMPONENT_SUFFIX;
		out->option = true;
	} else if (length == 2 && memcmp(text, "**", 2) == 0) {
		out->kind = SB_COMPONENT_BENEATH;
	} else if (length == 1 && *text == '*') {
		out->kind = SB_COMPONENT_ANY;
	} else if (memchr(text, '*', length)) {
		size_t star = (size_t)((const char *)memchr(text, '*', length) - text);

		out->kind = SB_COMPONENT_SUFFIX;
		out->prefix = text;
		out->prefix_length = (unsigned char)star;
		sb_fold(text + star + 1, length - star - 1, &out->text);
	} else {
		out->kind = SB_COMPONENT_NAME;
		sb_fold(text, length, &out->text);
	}
}

void sb_pattern_spells(const struct sb_pattern_row *pattern, unsigned position,
		       char out[SB_FOLD_MAX])
{
	const char *at = pattern->row->pattern;

	while (position--)
		at = strchr(at, '/') + 1;
	snprintf(out, SB_FOLD_MAX, "%.*s", (int)strcspn(at, "/"), at);
}

/*
 * room: components of the pool, as many as a pattern can have.  A row with more names would be one that
 * means something else; tests/unit/test_guard_names.c finds it.
 */
static void compile_row(const struct sb_guard_row *row, struct sb_component *room,
			struct sb_pattern_row *out)
{
	const char *at = row->pattern;

	out->row = row;
	out->at = room;
	for (out->count = 0; out->count < SB_MAX_COMPONENTS; at++) {
		size_t length = strcspn(at, "/");

		sb_component_make(at, length, &room[out->count++]);
		at += length;
		if (!*at)
			break;
	}
	if (out->count > SB_MAX_NAMES && room[SB_MAX_NAMES].kind != SB_COMPONENT_BENEATH)
		out->count = SB_MAX_NAMES; /* nobody has room for a fifth: judge.c, struct spot */
}

static void index_row(struct sb_table *table, struct sb_pattern_row *pattern)
{
	unsigned last = pattern->count - 1u;
	enum sb_component_kind end = pattern->at[last].kind;

	pattern->keyed = end == SB_COMPONENT_NAME      ? SB_KEYED_LAST
			 : end == SB_COMPONENT_BENEATH ? SB_KEYED_TREE
						       : SB_KEYED_NOT;
	pattern->key = pattern->at[pattern->keyed == SB_KEYED_TREE ? 0 : last].text.hash;
	if (pattern->keyed == SB_KEYED_TREE) {
		table->trees[table->tree_count].key = pattern->key;
		table->trees[table->tree_count++].row = (uint16_t)(pattern - table->rows);
	}
	/* no name beside it says that such a one may be meant */
	if (end == SB_COMPONENT_SUFFIX && table->ending_count < SB_MAX_ENDINGS &&
	    (last == 0 || pattern->at[last - 1].kind != SB_COMPONENT_NAME))
		table->endings[table->ending_count++] = pattern;
	for (unsigned i = 0; i < pattern->count; i++) {
		unsigned role = i == last ? SB_ROLE_LAST : SB_ROLE_PART;

		if (pattern->at[i].kind != SB_COMPONENT_NAME)
			continue;
		if (i + 1 == last && (end == SB_COMPONENT_ANY || end == SB_COMPONENT_SUFFIX))
			role |= SB_ROLE_HOLDER;
		if (i == 0 && end == SB_COMPONENT_BENEATH)
			role |= SB_ROLE_TREE;
		add_role(table, &pattern->at[i].text, role);
	}
}

_Static_assert(MAX_WORDS + SB_GIT_MAX_FIXED <= SB_MAX_SPECIALS, "every special name has its place");

/* Returns the place behind them. */
static struct sb_folded *add_words(struct sb_table *table, const char *words, unsigned role,
				   struct sb_folded *special)
{
	size_t length;

	for (const char *word;
	     special < table->specials + MAX_WORDS && (word = sb_words_next(&words, &length));
	     special++) {
		sb_fold(word, length, special);
		add_role(table, special, role);
	}
	return special;
}

static void add_git_files(struct sb_table *table, struct sb_folded *special)
{
	const struct sb_guard_row *row;
	size_t position = 0;

	for (size_t left = SB_GIT_MAX_FIXED; left && (row = sb_git_next_fixed(&position)); left--) {
		const char *name = sb_git_fixed_name(row), *slash = strrchr(name, '/');

		name = slash ? slash + 1 : name;
		sb_fold(name, strlen(name), special);
		add_role(table, special++, SB_ROLE_GIT_FILE);
	}
}

static void compile(struct sb_table *table, bool protecting)
{
	size_t count;
	const struct sb_guard_row *rows = sb_guard_rows(&count);
	struct sb_folded *special = table->specials;

	for (size_t i = 0; i < count; i++) {
		struct sb_pattern_row *next = &table->rows[table->count];

		if (!sb_row_counts(&rows[i], protecting))
			continue;
		compile_row(&rows[i], &table->components[table->component_count], next);
		table->component_count += next->count;
		index_row(table, next);
		table->count++;
	}
	special = add_words(table, hook_names, SB_ROLE_HOOK, special);
	special = add_words(table, "objects refs", SB_ROLE_STRUCTURE, special);
	add_git_files(table, special);
}

struct sb_table sb_tables[2];

void sb_table_make(bool protecting)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct sb_table *table = &sb_tables[protecting];

	pthread_mutex_lock(&lock);
	if (!table->ready) {
		compile(table, protecting);
		__atomic_store_n(&table->ready, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
}
