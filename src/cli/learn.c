/*
 * learn.c - --learn: from what was refused to rules that a person can read, and add.
 */
#include "cli/learn.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/words.h"
#include "cli/learn_never.h"
#include "cli/learn_set.h"
#include "config/file.h"
#include "config/rules.h"
#include "consent/way.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/network.h"
#include "policy/text.h"
#include "supervise/case.h"

#define FIRST_LINE "# sandbash --learn: rules that would have sufficed for: " /* tells our files */
#define MAX_RULES 300                                                         /* to be read */
#define MAX_LINES 40 /* of what is not learned, the same */

/* One entry of the summary, to be judged again. */
struct item {
	char *path;
	unsigned ops;
	unsigned long count;
	const char *verb; /* static */
};

struct lesson {
	const struct sb_learn *learn;
	const struct sb_setup *setup;
	const char *program;
	struct sb_never never;
	struct sb_learned needs;
	struct item items[SB_SUMMARY_APART]; /* that are to be allowed */
	size_t item_count;
	unsigned long refused, approved; /* operations */
	struct sb_buf kept;              /* lines of an earlier file that no set can hold */
	struct sb_buf not_learned;       /* lines */
	size_t lines;                    /* of them */
	unsigned long untold;            /* operations that no line is about */
	int status;                      /* the first error */
	struct sb_error *err;
};

/* --- before the run ------------------------------------------------------------------------- */

/* What an earlier run has learned counts in this one, so that the command gets further. */
static int read_known(struct sb_command_line *line, struct sb_learn *learn, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	SB_AUTO_FREE char *cwd = getcwd(NULL, 0);
	SB_AUTO_FREE char *path = NULL;
	const char *home = getenv("HOME");
	bool found;
	int status =
		sb_path_expand(line->learn_file, cwd ? cwd : "/", home ? home : "/", &path, err);

	if (status == SB_OK)
		status = sb_config_read(path, &text, &found, err);
	if (status != SB_OK || !found)
		return status;
	if (!sb_text_begins(text.data, FIRST_LINE)) {
		sb_fail(err, SB_E_REFUSED, 0, "'%s' is there, and no file of --learn", path);
		return sb_hint(err, "name another one, or add its rules with --policy");
	}
	learn->known = sb_buf_take(&text);
	learn->policy_files = calloc(line->policy_file_count + 2, sizeof *learn->policy_files);
	if (!learn->known || !learn->policy_files)
		return sb_no_memory(err);
	for (size_t i = 0; i < line->policy_file_count; i++)
		learn->policy_files[i] = line->policy_files[i];
	learn->policy_files[line->policy_file_count] = line->learn_file;
	line->policy_files = learn->policy_files;
	return SB_OK;
}

int sb_learn_begin(struct sb_command_line *line, struct sb_learn *out)
{
	struct sb_error err;
	int status = SB_OK;

	if (!sb_is_supervised(line))
		return sb_end_with(SB_E_UNSUPPORTED, NULL,
				   "cannot learn here: that takes a supervised run");
	if (!line->has_consent)
		line->consent = SB_CONSENT_DENY;
	out->plain = *line;
	if (line->learn_file)
		status = read_known(line, out, &err);
	return status == SB_OK ? 0 : sb_report(&err);
}

/*
 * SECURITY: what a command can write is no file of rules.
 *
 * Danger: a person has to read them before they count, and in between a later run puts its own there.
 * Price: the file cannot lie in the project.
 * Held by: tests/cli/learn.py
 */
static int refuse_open_place(const struct sb_policy *policy, const struct sb_report_file *file,
			     struct sb_error *err)
{
	SB_AUTO_FREE char *path = sb_path_join(file->directory, file->name);

	if (!path)
		return sb_no_memory(err);
	if (sb_decide(policy, SB_CREATE, file->directory).verdict != SB_ALLOW &&
	    sb_decide(policy, SB_CREATE, path).verdict != SB_ALLOW)
		return SB_OK;
	sb_fail(err, SB_E_REFUSED, 0, "no rules in '%s': commands can change what is there",
		file->directory);
	return sb_hint(err, "name a file outside the project: --learn=~/learned.rules");
}

int sb_learn_ready(const struct sb_command_line *line, const struct sb_setup *setup,
		   struct sb_learn *learn)
{
	struct sb_error err;
	int status = SB_OK;

	if (sb_policy_mode(setup->policy) == SB_MODE_DANGER_FULL_ACCESS)
		status = sb_fail(&err, SB_E_INVALID, 0,
				 "nothing to learn: without a sandbox nothing is refused");
	if (status == SB_OK && line->learn_file)
		status = sb_report_find(line->learn_file, setup->home.cwd, setup->home.home,
					&learn->file, &err);
	if (status == SB_OK && learn->file.directory)
		status = refuse_open_place(setup->policy, &learn->file, &err);
	return status == SB_OK ? 0 : sb_report(&err);
}

/* --- what was refused ------------------------------------------------------------------------- */

static void put_times(struct sb_buf *out, unsigned long count)
{
	if (count == 1)
		sb_buf_puts(out, "once");
	else
		sb_buf_printf(out, "%lu times", count);
}

/* A thing that no rule is made for: what, why, and how a person allows it. */
static void tell_not_learned(struct lesson *lesson, const struct sb_refused *refused,
			     const char *why)
{
	struct sb_buf *out = &lesson->not_learned;

	if (lesson->lines == MAX_LINES) {
		lesson->untold += refused->count;
		return;
	}
	lesson->lines++;
	sb_buf_printf(out, "#   %s '", refused->verb);
	sb_escape_put_name(out, "", refused->path, "' (");
	put_times(out, refused->count);
	if (refused->program) {
		char name[64];

		sb_buf_printf(out, ", by %s", sb_escape_line(name, sizeof name, refused->program));
	}
	sb_escape_put(out, "): ", why, "");
	if (refused->paths[0])
		sb_buf_printf(out, "\n#       by hand: %s", refused->way);
	sb_buf_putc(out, '\n');
}

/* By who refused it, before any rule is thought of; NULL: nothing stands against one. */
static const char *why_not(const struct sb_refused *refused)
{
	if (refused->by &&
	    (strcmp(refused->by, "person") == 0 || strcmp(refused->by, "grant") == 0))
		return "you said no";
	if (refused->read_only)
		return "read-only mode: no rule of a file allows changes";
	if (!refused->paths[0])
		return refused->way;
	return NULL;
}

/* What a rule for path has to allow: what others allow stays allowed. */
static unsigned ops_for(const struct lesson *lesson, const char *path, unsigned wanted)
{
	unsigned ops = wanted | 1u << SB_READ;

	for (int op = 0; op < SB_OP_COUNT; op++)
		if (sb_decide(lesson->setup->policy, (enum sb_op)op, path).verdict == SB_ALLOW)
			ops |= 1u << op;
	return ops;
}

/* A package manager's cache is opened as a whole, if it can be. */
static const char *find_cache(struct lesson *lesson, const struct sb_need *need, char **out)
{
	SB_AUTO_BUF struct sb_buf why = SB_BUF(4096);
	const char *home = lesson->setup->home.home, *directory;
	const char *words = sb_cache_of(home, need->path, &directory);

	if (!words || need->overrules || !(need->ops & ~(1u << SB_READ)))
		return NULL;
	*out = sb_path_join(home, directory);
	if (*out && !sb_never_why(&lesson->never, *out, SB_LEARN_ALL, true, &why))
		return words;
	free(*out);
	*out = NULL;
	return NULL;
}

static int need(struct lesson *lesson, const struct sb_refused *refused, const char *path,
		unsigned wanted)
{
	SB_AUTO_FREE char *cache = NULL;
	struct sb_need one = {.path = (char *)path,
			      .ops = ops_for(lesson, path, wanted),
			      .count = refused->count,
			      .names = 1,
			      .overrules = (char *)refused->rule};

	if (one.overrules && sb_never_is_learned(&lesson->never, one.overrules))
		one.overrules = NULL;
	one.cache = find_cache(lesson, &one, &cache);
	if (cache) {
		one.path = cache;
		one.ops = SB_LEARN_ALL;
	}
	return sb_learned_add(&lesson->needs, &one, refused->program, lesson->err);
}

static bool is_kept(struct lesson *lesson, const struct sb_refused *refused)
{
	struct item *item = &lesson->items[lesson->item_count];

	*item = (struct item){strdup(refused->path), refused->ops, refused->count, refused->verb};
	lesson->item_count += item->path != NULL;
	return item->path;
}

/* What is made in a hidden directory cannot be seen; but the directory can be shown, if it is there. */
static char *hidden_place(const struct sb_refused *refused)
{
	char *parent = NULL;

	if (refused->in_hidden && !refused->paths[0] && (refused->ops & 1u << SB_CREATE))
		parent = sb_path_parent(refused->path);
	if (parent && sb_path_is_directory(parent))
		return parent;
	free(parent);
	return NULL;
}

static void learn_from(void *context, const struct sb_refused *given)
{
	struct lesson *lesson = context;
	SB_AUTO_BUF struct sb_buf why = SB_BUF(4096);
	SB_AUTO_FREE char *place = hidden_place(given);
	struct sb_refused shown = *given, *refused = &shown;
	const char *against;
	/* what it makes it changes, and makes anew */
	unsigned wanted[2] = {given->ops & 1u << SB_CREATE ? SB_LEARN_ALL : given->ops,
			      SB_LEARN_ALL};
	bool whole = refused->directory;

	if (place)
		shown.paths[0] = place;
	else if (!given->paths[0] && given->rule &&
		 sb_never_is_learned(&lesson->never, given->rule))
		shown.paths[0] = given->path;
	against = why_not(refused);
	/* a link: one is no reason to open what lies around it */
	if (!against && !place && strcmp(refused->paths[0], refused->path) != 0 &&
	    sb_path_within(refused->paths[0], refused->path))
		against = "only a rule for its whole directory allows it";
	*(refused->approved ? &lesson->approved : &lesson->refused) += refused->count;
	/* a directory for what is made in it, or another name: whatever is done there */
	if (refused->paths[0] && strcmp(refused->paths[0], refused->path) != 0)
		wanted[0] = SB_LEARN_ALL, whole = true;
	for (size_t i = 0; !against && i < 2 && refused->paths[i]; i++)
		if (sb_never_why(&lesson->never, refused->paths[i], wanted[i], whole, &why))
			against = why.data;
	if (against) {
		tell_not_learned(lesson, refused, against);
		return;
	}
	if (lesson->status == SB_OK && !is_kept(lesson, refused))
		lesson->status = sb_no_memory(lesson->err);
	for (size_t i = 0; lesson->status == SB_OK && i < 2 && refused->paths[i]; i++)
		lesson->status = need(lesson, refused, refused->paths[i], wanted[i]);
}

static bool may_open(void *context, const char *directory, unsigned ops)
{
	const struct lesson *lesson = context;
	SB_AUTO_BUF struct sb_buf why = SB_BUF(4096);

	return !sb_never_why(&lesson->never, directory, ops, true, &why);
}

/* --- rules of an earlier run -------------------------------------------------------------------- */

/* One of its lines: a need, if it is a rule as we write them, else kept as it is. */
static int take_line(struct lesson *lesson, const char *bytes, size_t length)
{
	const struct sb_home *home = &lesson->setup->home;
	const struct sb_rule_base base = {.directory = home->cwd, .home = home->home};
	SB_AUTO(sb_resolved_done) struct sb_resolved resolved = {0};
	struct sb_need known = {.known = true, .names = 1};
	SB_AUTO(sb_line_done) struct sb_line line = {0};
	bool plain;
	int status = sb_line_parse(bytes, length, &line, lesson->err);

	if (status != SB_OK)
		return status;
	plain = line.kind == SB_LINE_RULE && !line.fast && !line.tightens && !line.access.quiet &&
		sb_rule_resolve(&base, line.text, &resolved, NULL) == SB_OK && resolved.path &&
		!resolved.link;
	for (int op = 0; plain && op < SB_OP_COUNT; op++) {
		known.ops |= line.access.verdict[op] == SB_ALLOW ? 1u << op : 0;
		plain &= line.access.verdict[op] != SB_ASK;
	}
	known.path = resolved.path;
	if (plain && known.ops & 1u << SB_READ) {
		status = sb_learned_add(&lesson->needs, &known, NULL, lesson->err);
	} else if (line.kind != SB_LINE_EMPTY) {
		sb_buf_append(&lesson->kept, bytes, length);
		sb_buf_putc(&lesson->kept, '\n');
	}
	return status;
}

static int take_known(struct lesson *lesson)
{
	const char *known = lesson->learn->known;
	struct sb_text_lines line = sb_text_lines(known, known ? strlen(known) : 0);
	int status = SB_OK;

	while (status == SB_OK && sb_next_line(&line))
		status = take_line(lesson, line.text, line.length);
	return status;
}

/* --- the text ----------------------------------------------------------------------------------- */

/* One rule, and behind it what it is for. */
static void put_need(const struct sb_need *need, struct sb_buf *out)
{
	SB_AUTO_FREE char *pattern = sb_pattern_escape(need->path);
	const struct sb_access access = sb_learned_access(need);
	struct stat info;

	if (!pattern) {
		out->failed = true;
		return;
	}
	sb_rule_print(&access, pattern, out);
	sb_buf_puts(out, "  # ");
	if (need->known)
		sb_buf_puts(out, "as before");
	else
		put_times(out, need->count);
	if (need->names > 1)
		sb_buf_printf(out, ", for %zu names", need->names);
	if (need->cache)
		sb_buf_printf(out, "; %s", need->cache);
	if (need->overrules)
		sb_escape_put(out, "; an exception to ", need->overrules, "");
	if (need->names > 1 && lstat(need->path, &info) != 0)
		sb_buf_puts(out, "; not there yet, and quicker to fill if it is made before");
	sb_buf_putc(out, '\n');
}

/* What is read back: those of one program, or of the same ones, together. */
static void put_rules(struct lesson *lesson, struct sb_buf *out)
{
	const struct sb_learned *needs = &lesson->needs;
	size_t count = needs->count < MAX_RULES ? needs->count : MAX_RULES;
	bool done[MAX_RULES] = {false};

	for (size_t i = 0; i < count; i++) {
		const char *programs = needs->all[i].programs;

		if (done[i])
			continue;
		sb_buf_printf(out, "\n# %s\n",
			      needs->all[i].known ? "learned in an earlier run"
			      : *programs         ? programs
						  : "a program");
		for (size_t j = i; j < count; j++)
			if (!done[j] && strcmp(needs->all[j].programs, programs) == 0 &&
			    needs->all[j].known == needs->all[i].known) {
				put_need(&needs->all[j], out);
				done[j] = true;
			}
	}
	if (needs->count > count)
		sb_buf_printf(out, "\n# and %zu rules more, which nobody would read\n",
			      needs->count - count);
	if (lesson->kept.length)
		sb_buf_printf(out, "\n# as they were in this file\n%s", lesson->kept.data);
}

static void put_head(char *const *argv, struct sb_buf *out)
{
	SB_AUTO_BUF struct sb_buf words = SB_BUF(SB_OUTPUT_LIMIT);
	char line[400];

	sb_shell_quote_all(&words, (const char *const *)argv);
	sb_buf_printf(out, FIRST_LINE "%s\n",
		      sb_escape_line(line, sizeof line, sb_buf_failed(&words) ? "?" : words.data));
}

/* --- the check ------------------------------------------------------------------------------------ */

/* What the rules still have against it, or NULL.  The strings are the policy's and the guard's. */
static const char *judge_item(const struct sb_setup *setup, const struct sb_grounds *grounds,
			      const struct item *item)
{
	struct sb_case what = {.deed = SB_DEED_WRITE};
	const char *why = NULL;
	struct sb_spot spot;

	if (sb_look_at(item->path, &spot, NULL) != SB_OK)
		why = "it cannot be looked at";
	what.site = sb_spot_site(&spot);
	for (int op = 0; op < SB_OP_COUNT && !why; op++) {
		struct sb_judged judged;

		if (!(item->ops & 1u << op))
			continue;
		sb_judge_op(grounds, (enum sb_op)op, &what, &judged);
		if (judged.decision.verdict != SB_ALLOW)
			why = sb_origin_of(setup->policy, &judged.decision);
		else if (judged.guard.verdict != SB_GUARD_PLAIN)
			why = "guarded: it hangs on the contents";
	}
	sb_spot_done(&spot);
	return why;
}

/* Each refusal, under the rules as they are read back; what is still refused gets a line. */
static int check(struct lesson *lesson, const char *text, unsigned long *out_allowed)
{
	struct sb_grounds grounds;
	struct sb_guard *guard = NULL;
	struct sb_setup setup;
	int status =
		sb_set_up_again(&lesson->learn->plain, lesson->program, text, &setup, lesson->err);

	if (status != SB_OK)
		return status;
	status = sb_guard_of(&setup, setup.policy, &guard, lesson->err);
	if (status == SB_OK)
		sb_grounds_init(&grounds, setup.policy, guard);
	for (size_t i = 0; status == SB_OK && i < lesson->item_count; i++) {
		const struct item *item = &lesson->items[i];
		const char *why = judge_item(&setup, &grounds, item);
		const struct sb_refused still = {
			.path = item->path, .verb = item->verb, .count = item->count};

		if (why)
			tell_not_learned(lesson, &still, why);
		else
			*out_allowed += item->count;
	}
	sb_guard_free(guard);
	sb_setup_done(&setup);
	return status;
}

/* unchecked: why the rules could not be read back; or NULL. */
static void put_end(const struct lesson *lesson, const struct sb_summary *summary,
		    unsigned long allowed, const char *unchecked, struct sb_buf *out)
{
	unsigned long all = lesson->refused + lesson->approved + sb_summary_beyond(summary);

	if (lesson->not_learned.length)
		sb_buf_printf(out, "\n# Not learned:\n%s", lesson->not_learned.data);
	if (lesson->untold)
		sb_buf_printf(out, "#   and %lu operations more\n", lesson->untold);
	if (sb_summary_beyond(summary))
		sb_buf_printf(out, "# Too many to be looked at: %lu operations more were refused\n",
			      sb_summary_beyond(summary));
	if (sb_network_of(lesson->setup->policy) == SB_NETWORK_OFF)
		sb_buf_puts(out,
			    "\n# The network was off, which leaves no record of what was tried: "
			    "--network=learn\n");
	if (unchecked)
		sb_buf_printf(out, "\n# NOT CHECKED, and so not to be used: %s\n", unchecked);
	else
		sb_buf_printf(
			out,
			"\n# Checked: these rules allow %lu of %lu operations that were refused%s.\n",
			allowed, all, lesson->approved ? " or asked about" : "");
	if (all)
		sb_buf_puts(out,
			    "# A refusal can end a program early: run it again with these rules "
			    "to see what comes next.\n");
}

/* --- telling ---------------------------------------------------------------------------------------- */

static int make_text(struct lesson *lesson, char *const *argv, const struct sb_summary *summary,
		     struct sb_buf *out)
{
	unsigned long allowed = 0;
	const struct sb_report_file *file = &lesson->learn->file;
	SB_AUTO_FREE char *learned = file->directory ? sb_path_join(file->directory, file->name)
						     : NULL;
	int status = sb_never_open(lesson->setup, learned, &lesson->never, lesson->err);

	if (status == SB_OK)
		status = take_known(lesson);
	if (status == SB_OK) {
		sb_summary_each(summary, learn_from, lesson);
		status = lesson->status;
	}
	if (status == SB_OK)
		status = sb_learned_group(&lesson->needs, may_open, lesson, lesson->err);
	if (status != SB_OK)
		return status;
	put_head(argv, out);
	sb_buf_puts(
		out,
		"# Read them; then add them to this directory's rules (sandbash --edit), or use "
		"--policy=FILE.\n");
	put_rules(lesson, out);
	sb_summary_hosts(summary, true, out);
	status = sb_buf_failed(out) ? sb_no_memory(lesson->err)
				    : check(lesson, out->data, &allowed);
	put_end(lesson, summary, allowed, status == SB_OK ? NULL : lesson->err->message, out);
	return sb_buf_failed(out) ? sb_no_memory(lesson->err) : SB_OK;
}

static int put_text(const struct lesson *lesson, const struct sb_buf *text, bool quiet)
{
	const struct sb_report_file *file = &lesson->learn->file;
	int status;

	if (!file->directory || !quiet)
		sb_complain_begin();
	if (!file->directory) {
		fputs(text->data, stderr);
		return SB_OK;
	}
	status = sb_report_write(file, text->data, text->length, lesson->err);
	if (status != SB_OK) {
		sb_complain_begin();
		fputs(text->data, stderr);
	} else if (!quiet) {
		char directory[PATH_MAX], name[NAME_MAX];

		fprintf(stderr, "sandbash: %zu rule%s in '%s/%s'; %zu thing%s not learned\n",
			lesson->needs.count, lesson->needs.count == 1 ? "" : "s",
			sb_escape_line(directory, sizeof directory, file->directory),
			sb_escape_line(name, sizeof name, file->name), lesson->lines,
			lesson->lines == 1 ? " was" : "s were");
	}
	return status;
}

int sb_learn_tell(const struct sb_learn *learn, const struct sb_setup *setup, const char *program,
		  char *const *argv, const struct sb_summary *summary)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	struct lesson *lesson = calloc(1, sizeof *lesson);
	struct sb_error err;
	int status;

	if (!lesson)
		return sb_end_with(SB_E_NOMEM, NULL, "out of memory");
	*lesson = (struct lesson){.learn = learn, .setup = setup, .program = program, .err = &err};
	sb_buf_init(&lesson->kept, SB_CONFIG_LIMIT);
	sb_buf_init(&lesson->not_learned, SB_CONFIG_LIMIT);
	status = make_text(lesson, argv, summary, &text);
	if (status == SB_OK)
		status = put_text(lesson, &text, learn->plain.quiet);
	for (size_t i = 0; i < lesson->item_count; i++)
		free(lesson->items[i].path);
	sb_buf_done(&lesson->kept);
	sb_buf_done(&lesson->not_learned);
	sb_learned_done(&lesson->needs);
	sb_never_done(&lesson->never);
	free(lesson);
	return status == SB_OK ? 0 : sb_report(&err);
}
