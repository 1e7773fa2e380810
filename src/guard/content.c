/*
 * Which bytes are harmless where.
 */
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "base/words.h"
#include "guard/agent_json.h"
#include "guard/check.h"
#include "guard/dotenv.h"
#include "guard/git_forms.h"
#include "guard/git_index.h"
#include "guard/git_keys.h"

#define MAX_OLD_NAMES 1000 /* odd names of branches that are looked for in a long list */

#define LEFT "is left behind; git rebase --continue runs "

/* The first command, and how many more there are: a harmless one hides none. */
static void say_left(const struct sb_check *check, const char *text, size_t length, size_t more)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(4 * SB_CHECK_MAX_LINE);

	sb_buf_puts(&line, LEFT);
	sb_escape_value(&line, text, length, SB_GUARD_NOTE / 2);
	if (more)
		sb_buf_printf(&line, ", and %zu more", more);
	sb_escape_line(check->why, sb_check_note_size(check), line.data);
}

static bool are_same(struct sb_guard_bytes a, struct sb_guard_bytes b)
{
	return a.bytes && b.bytes && a.length == b.length &&
	       (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

static bool has_long_line(struct sb_guard_bytes text)
{
	struct sb_text_lines line = sb_text_lines(text.bytes, text.length);

	while (sb_next_line(&line))
		if (line.length > SB_CHECK_MAX_LINE)
			return true;
	return false;
}

/* Bytes that programs read differently: C strings end at NUL, and CR has fooled git before. */
static bool is_odd(const struct sb_check *check)
{
	return memchr(check->new_bytes.bytes, '\0', check->new_bytes.length) ||
	       memchr(check->new_bytes.bytes, '\r', check->new_bytes.length) ||
	       has_long_line(check->new_bytes);
}

static bool is_harmless_alternate(const struct sb_check *check, const char *line, size_t length)
{
	return sb_git_alternate_is_harmless(check->guard, check->path, line, length);
}

static bool is_harmless_version(const struct sb_check *check, const char *line, size_t length)
{
	return sb_version_line_is_plain(check->path, line, length);
}

static void check_lines(const struct sb_check *check,
			bool (*is_harmless)(const struct sb_check *, const char *, size_t))
{
	struct sb_text_lines line = sb_text_lines(check->new_bytes.bytes, check->new_bytes.length);

	while (!sb_reasons_full(check->reasons) && sb_next_line(&line))
		if (!is_harmless(check, line.text, line.length) &&
		    !sb_check_has_line(check->old_bytes, line.text, line.length))
			sb_check_ask(check, "", line.text, line.length);
}

/*
 * Every line that was there is there still, in that order, and no new one takes something out
 * ("!pattern").  Then all that was ignored still is: a later line wins, and these only add.
 */
static void check_ignore(const struct sb_check *check)
{
	struct sb_text_lines old = sb_text_lines(check->old_bytes.bytes, check->old_bytes.length);
	struct sb_text_lines line = sb_text_lines(check->new_bytes.bytes, check->new_bytes.length);
	bool more = sb_next_line(&old);

	while (sb_next_line(&line)) {
		if (more && line.length == old.length &&
		    memcmp(line.text, old.text, line.length) == 0)
			more = sb_next_line(&old);
		else if (line.length && *line.text == '!')
			sb_check_ask(check, "", line.text, line.length);
	}
	if (more)
		sb_check_ask(check, "without the line ", old.text, old.length);
}

/*
 * SECURITY: steps that run a command land, but are looked at again when the run ends.
 *
 * Danger: "git rebase --continue" outside runs what is left of the list.
 * Price: "git rebase --exec" stopped in the middle is told at the end of the run.  Whoever goes on with a rebase
 * outside that a run has left behind runs its commands; git status names them.
 * Held by: tests/supervise/git_rebase.py
 */
static void check_todo(const struct sb_check *check)
{
	struct sb_text_lines line = sb_text_lines(check->new_bytes.bytes, check->new_bytes.length);
	struct sb_text_lines first = {0};
	size_t count = 0;

	while (sb_next_line(&line)) {
		enum sb_git_step step = sb_git_step_of(line.text, line.length);

		if (step == SB_GIT_STEP_PLAIN ||
		    sb_check_has_line(check->old_bytes, line.text, line.length))
			continue;
		if (step != SB_GIT_STEP_RUNS || !sb_git_todo_is_of_rebase(check->path))
			sb_check_ask(check, "", line.text, line.length);
		else if (!count++)
			first = line;
	}
	*check->lingers = count;
	if (count)
		say_left(check, first.text, first.length, count - 1);
}

/* git replace: it lands, as git log and git show outside then tell another story, a person is told. */
static bool hides_history(const char *path)
{
	return strstr(path, "/refs/replace/") || strstr(path, "/info/grafts");
}

/* Git's own state: the part that has not the form is shown. */
static void check_form(const struct sb_check *check)
{
	struct sb_guard_bytes bad;

	if (sb_git_form_holds(check->kind, check->path, check->new_bytes, &bad)) {
		if (hides_history(check->path))
			sb_check_say(check,
				     "git shows other commits in place of some: ", check->path,
				     strlen(check->path));
		else if (check->kind == SB_GUARD_GIT_REF)
			sb_check_ref(check);
		else if (check->kind == SB_GUARD_GIT_IDS)
			sb_check_shallow(check);
		return;
	}
	sb_check_ask(check, "", bad.bytes, bad.length);
}

/* Was the branch of a line "ID NAME" of packed-refs in the old ones? */
static bool had_name(const struct sb_check *check, const char *line, size_t length)
{
	const char *space = memchr(line, ' ', length);
	size_t rest = space ? length - (size_t)(space - line) : 0;
	const char *at = check->old_bytes.bytes, *end = at ? at + check->old_bytes.length : NULL;

	while (rest > 1 && at && (at = memmem(at, (size_t)(end - at), space, rest))) {
		at += rest;
		if (at == end || *at == '\n')
			return true;
	}
	return false;
}

/* Names that were there before are not held against the list: git gc writes all of it anew. */
static void check_packed(const struct sb_check *check)
{
	struct sb_text_lines line = sb_text_lines(check->new_bytes.bytes, check->new_bytes.length);
	unsigned old_names = MAX_OLD_NAMES;

	while (!sb_reasons_full(check->reasons) && sb_next_line(&line)) {
		struct sb_guard_bytes bad;

		if (sb_git_form_holds(check->kind, check->path,
				      (struct sb_guard_bytes){line.text, line.length}, &bad))
			continue;
		if (old_names && had_name(check, line.text, line.length))
			old_names--;
		else
			sb_check_ask(check, "", line.text, line.length);
	}
}

static void check_strategy(const struct sb_check *check)
{
	SB_AUTO_FREE char *line = sb_check_only_line(check);

	if (!(line && sb_git_strategy_is_known(line)))
		sb_check_ask(check, "", check->new_bytes.bytes, check->new_bytes.length);
}

bool sb_guard_left(struct sb_guard_bytes old_bytes, struct sb_guard_bytes now_bytes, char *note,
		   size_t size)
{
	const struct sb_check check = {.old_bytes = old_bytes, .why = note, .why_size = size};
	struct sb_text_lines line = sb_text_lines(now_bytes.bytes, now_bytes.length), first = {0};
	size_t count = 0;

	if (sb_git_is_stash(now_bytes, &count)) {
		sb_git_say_stash(now_bytes, note, size);
		return !are_same(old_bytes, now_bytes);
	}
	count = 0;
	while (sb_next_line(&line))
		if (sb_git_step_of(line.text, line.length) != SB_GIT_STEP_PLAIN &&
		    !sb_check_has_line(check.old_bytes, line.text, line.length) && !count++)
			first = line;
	if (count)
		say_left(&check, first.text, first.length, count - 1);
	return count;
}

bool sb_guard_compares(enum sb_guard_kind kind, struct sb_guard_bytes new_bytes)
{
	return kind != SB_GUARD_INDEX || sb_git_index_hides(new_bytes);
}

/*
 * Is each line of the old file one by itself?  Else one that was there may have meant something else,
 * or may come to mean it by another line's value: D='$' and X="${D}${Y}".
 */
static bool was_line_by_line(const struct sb_check *check)
{
	struct sb_text_lines line = sb_text_lines(check->old_bytes.bytes, check->old_bytes.length);
	bool refers = false, holds = false;

	while (sb_next_line(&line)) {
		enum sb_dotenv kind = sb_dotenv_line(line.text, line.length);

		if (kind == SB_DOTENV_ODD)
			return false;
		refers |= kind == SB_DOTENV_REFERS;
		holds |= kind == SB_DOTENV_HOLDS;
	}
	return !refers || !holds;
}

#define MAX_DOTENV (64 * 1024) /* each line may have to be looked for in the old file */
#define MAX_TOLD 120           /* of a line */

static void check_dotenv(const struct sb_check *check)
{
	struct sb_text_lines line = sb_text_lines(check->new_bytes.bytes, check->new_bytes.length);
	SB_AUTO_BUF struct sb_buf note = SB_BUF(4 * MAX_DOTENV);
	bool lines = was_line_by_line(check);

	if (check->new_bytes.length > MAX_DOTENV) {
		sb_check_ask(check, "too long to be looked at", "", 0);
		return;
	}
	while (!sb_reasons_full(check->reasons) && sb_next_line(&line)) {
		enum sb_dotenv kind = sb_dotenv_line(line.text, line.length);

		if (kind == SB_DOTENV_PLAIN ||
		    (kind != SB_DOTENV_ODD && lines &&
		     sb_check_has_line(check->old_bytes, line.text, line.length)))
			continue;
		if (kind != SB_DOTENV_TOLD) {
			sb_check_ask(check, "", line.text, line.length);
			continue;
		}
		sb_buf_puts(&note, note.length ? "; " : "");
		sb_escape_value(&note, line.text, line.length, MAX_TOLD);
	}
	if (note.length && !sb_buf_failed(&note))
		sb_check_say_about_path(check, note.data, note.length);
}

static void check_alternates(const struct sb_check *check)
{
	check_lines(check, is_harmless_alternate);
}

static void check_versions(const struct sb_check *check)
{
	check_lines(check, is_harmless_version);
}

static void check_subs(const struct sb_check *check)
{
	check_lines(check, sb_hg_sub_is_harmless);
}

static void check_kind(const struct sb_check *check)
{
	static void (*const checks[])(const struct sb_check *check) = {
		[SB_GUARD_GIT_CONFIG] = sb_check_config,   [SB_GUARD_GITMODULES] = sb_check_config,
		[SB_GUARD_LFSCONFIG] = sb_check_config,    [SB_GUARD_SEQUENCER] = sb_check_config,
		[SB_GUARD_GITFILE] = sb_check_gitfile,     [SB_GUARD_GITDIR] = sb_check_gitdir,
		[SB_GUARD_COMMONDIR] = sb_check_commondir, [SB_GUARD_REBASE_TODO] = check_todo,
		[SB_GUARD_STRATEGY] = check_strategy,      [SB_GUARD_ALTERNATES] = check_alternates,
		[SB_GUARD_TOOL_VERSIONS] = check_versions, [SB_GUARD_DOTENV] = check_dotenv,
		[SB_GUARD_IGNORE] = check_ignore,          [SB_GUARD_GIT_PACKED] = check_packed,
		[SB_GUARD_HG_JOURNAL] = sb_check_hg,       [SB_GUARD_HG_SUBS] = check_subs,
		[SB_GUARD_GIT_STASH] = sb_check_autostash,
	};

	if (check->kind < sizeof checks / sizeof checks[0] && checks[check->kind])
		checks[check->kind](check);
	else
		check_form(check);
}

static void ask_about_setting(void *context, const char *what, const char *text, size_t length)
{
	sb_check_ask(context, what, text, length);
}

static void check_bytes(const struct sb_check *check)
{
	struct sb_guard_bytes bytes = check->new_bytes;

	if (check->kind == SB_GUARD_SAME || !bytes.bytes) {
		sb_check_ask(check, "", bytes.bytes ? bytes.bytes : "",
			     bytes.bytes ? bytes.length : 0);
	} else if (bytes.length > sb_guard_limit(check->kind)) {
		sb_check_ask(check, "too long to be looked at", "", 0);
	} else if (check->kind == SB_GUARD_AGENT_JSON || check->kind == SB_GUARD_AGENT_LOOKS) {
		sb_agent_json_compare(check->old_bytes, bytes, check->kind == SB_GUARD_AGENT_LOOKS,
				      ask_about_setting, (void *)check);
	} else if (bytes.length == 0 && check->kind != SB_GUARD_IGNORE &&
		   check->kind != SB_GUARD_GIT_CONFIG) {
		return; /* says nothing */
	} else if (check->kind == SB_GUARD_INDEX) {
		sb_check_index(check);
	} else if (check->kind == SB_GUARD_GIT_EXCLUDE) {
		sb_check_exclude(check);
	} else {
		if (!sb_git_form_has_nul(check->kind) && is_odd(check))
			sb_check_ask(check, "holds control characters or very long lines", "", 0);
		if (!check->reasons->count || !memchr(bytes.bytes, '\0', bytes.length))
			check_kind(check);
	}
}

/* What reasons beyond those that are told are called. */
static const char *more_of(enum sb_guard_kind kind)
{
	return kind == SB_GUARD_GIT_CONFIG || kind == SB_GUARD_GITMODULES ||
			       kind == SB_GUARD_LFSCONFIG || kind == SB_GUARD_SEQUENCER ||
			       kind == SB_GUARD_DOTENV || kind == SB_GUARD_AGENT_JSON ||
			       kind == SB_GUARD_AGENT_LOOKS
		       ? "settings that run something or lead elsewhere"
		       : "lines that are not harmless";
}

enum sb_guard_verdict sb_guard_content(const struct sb_guard *guard,
				       const struct sb_guard_landing *landing, char *why,
				       size_t why_size)
{
	struct sb_reasons reasons;
	bool lingers = false;
	const struct sb_check check = {
		guard,   landing->path, landing->old_bytes, landing->new_bytes,
		why,     why_size,      landing->kind,      &reasons,
		&lingers};

	sb_guard_need(guard);
	why[0] = '\0';
	if (are_same(landing->old_bytes, landing->new_bytes))
		return SB_GUARD_PLAIN;
	sb_reasons_init(&reasons, why_size / (SB_GUARD_LINES + 1));
	check_bytes(&check);
	if (!reasons.count)
		return lingers ? SB_GUARD_CHECK : SB_GUARD_PLAIN;
	sb_reasons_text(&reasons, more_of(landing->kind), why, why_size);
	return SB_GUARD_ASK;
}
