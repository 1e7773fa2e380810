/*
 * explain.c - --explain: what may be done to a path, by which rule, and what would change that.
 *
 * The answer comes from where a supervised run gets its own: sb_judge_op() asks the policy,
 * and about names that a program outside would run or obey the guard.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/fast.h"
#include "policy/text.h"
#include "supervise/case.h"

const char *sb_origin_of(const struct sb_policy *policy, const struct sb_decision *decision)
{
	if (decision->rule)
		return decision->rule->origin;
	if (sb_policy_mode(policy) == SB_MODE_DANGER_FULL_ACCESS)
		return "danger-full-access: no sandbox";
	if (decision->verdict == SB_DENY)
		return "read-only mode";
	return "no rule: reading is free, changes ask";
}

struct explanation {
	char *path; /* canonical */
	int missing;
	struct sb_guard *guard; /* NULL: names alone do not matter */
	struct sb_grounds grounds;
	struct sb_judged judged[SB_OP_COUNT];
	const struct sb_guard_row *inside; /* a directory that holds names like this one, or NULL */
	bool final;                        /* no flag changes what is denied */
	const char *layers[SB_OP_COUNT];   /* a static run does otherwise than the rule says: why */
	bool unseen; /* not there, in a hidden directory: no flag shows what is made there */
	const char *
		change; /* the option that would allow what is not, or forbid what is; NULL: none */
	char *target;   /* its value: a pattern that means this path and nothing else */
	/* said on the command line for this very path: another flag for it would contradict that */
	const struct sb_rule *own;
};

/* A write lands if its contents are harmless. */
static bool is_checked(const struct sb_judged *judged)
{
	return judged->decision.verdict == SB_ALLOW && judged->guard.verdict == SB_GUARD_CHECK;
}

/*
 * A static run asks nobody, holds only what exists, and directories by the whole: its layers are the
 * answer, whatever the rules wish.
 */
static int hold(const struct sb_setup *setup, struct explanation *out, struct sb_error *err)
{
	const struct sb_plan_request request = {
		.cwd = setup->home.cwd,
		.tmpdir = setup->home.tmpdir,
		.projects = (const char *const *)setup->projects,
		.other_terminal = setup->home.other_terminal,
	};
	struct sb_plan plan;
	int status = sb_plan_make(setup->policy, &request, &plan, err);

	if (status != SB_OK)
		return status;
	for (int op = 0; op < SB_OP_COUNT; op++) {
		struct sb_decision *decision = &out->judged[op].decision;
		bool lets = sb_plan_lets(&plan, (enum sb_op)op, out->path);

		if (lets && decision->verdict != SB_ALLOW)
			out->layers[op] = "; a static run cannot hold that: it is not there yet";
		else if (!lets && decision->verdict == SB_ALLOW)
			out->layers[op] = "; a static run holds it closed, with what is around it";
		else if (!lets && decision->verdict == SB_ASK)
			out->layers[op] = "; a static run asks nobody";
		if (out->layers[op])
			decision->verdict = lets ? SB_ALLOW : SB_DENY;
	}
	sb_plan_done(&plan);
	return SB_OK;
}

static bool is_free(const struct sb_judged *judged)
{
	return judged->decision.verdict == SB_ALLOW && !is_checked(judged);
}

static const char *verdict_of(const struct sb_judged *judged)
{
	return is_checked(judged) ? "check" : sb_verdict_name(judged->decision.verdict);
}

/* --- finding out ------------------------------------------------------------------------ */

int sb_look_at(const char *path, struct sb_spot *out, struct sb_error *err)
{
	const char *name = strrchr(path, '/') + 1;

	*out = SB_SPOT_EMPTY;
	if (strlen(path) >= sizeof out->path || strlen(name) > NAME_MAX)
		return sb_fail(err, SB_E_INVALID, 0, "the path is too long");
	memcpy(out->path, path, strlen(path) + 1);
	memcpy(out->name, *name ? name : ".", strlen(name) + 1 + !*name);
	out->directory = sb_site_holder(path);
	out->object = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (out->object >= 0 && fstat(out->object, &out->info) != 0)
		return sb_fail(err, SB_E_SYSTEM, 0, "cannot look at '%s'", path);
	return SB_OK;
}

/* Names in a directory are guarded where a link in its place would be asked about. */
static const struct sb_guard_row *find_inside(const struct sb_guard *guard,
					      const struct sb_spot *spot)
{
	struct sb_guard_place place = {spot->directory, spot->path, spot->name, 0};
	struct sb_guard_answer answer;

	if (!guard || spot->object < 0 || !S_ISDIR(spot->info.st_mode) || !spot->path[1])
		return NULL;
	sb_guard_judge(guard, SB_GUARD_SYMLINK, &place, &answer);
	return answer.row;
}

/* As a supervised run judges; without a guard by the rules alone. */
static int judge(const struct sb_setup *setup, bool guarded, struct explanation *out,
		 struct sb_error *err)
{
	struct sb_case what = {.deed = SB_DEED_WRITE};
	struct sb_spot spot;
	int status = sb_look_at(out->path, &spot, err);

	what.site = sb_spot_site(&spot);
	if (status == SB_OK && guarded)
		status = sb_guard_of(setup, setup->policy, &out->guard, err);
	if (status == SB_OK)
		sb_grounds_init(&out->grounds, setup->policy, out->guard);
	for (int op = 0; op < SB_OP_COUNT && status == SB_OK; op++)
		sb_judge_op(&out->grounds, (enum sb_op)op, &what, &out->judged[op]);
	if (status == SB_OK)
		out->inside = find_inside(out->guard, &spot);
	sb_spot_done(&spot);
	return status;
}

/* Is the directory that path is in hidden, as a run with mounts would have it? */
/* A directory that the run makes itself nothing covers: what counts is the one that is there. */
static bool is_in_hidden(const struct sb_policy *policy, const char *path)
{
	SB_AUTO_FREE char *parent = sb_path_parent(path);

	if (!parent)
		return false;
	return access(parent, F_OK) != 0 && errno == ENOENT
		       ? is_in_hidden(policy, parent)
		       : sb_decide(policy, SB_READ, parent).verdict != SB_ALLOW;
}

/* Hiding the current directory or what is needed to start would only prevent the run. */
static bool may_be_hidden(const struct sb_setup *setup, const char *path)
{
	return strcmp(path, setup->home.cwd) != 0;
}

static void find_change(const struct sb_setup *setup, struct explanation *out)
{
	out->change = may_be_hidden(setup, out->path) ? "--deny" : NULL;
	for (int op = 0; op < SB_OP_COUNT; op++) {
		const struct sb_judged *judged = &out->judged[op];
		const struct sb_rule *rule = judged->decision.rule;

		if (judged->decision.verdict == SB_DENY && rule &&
		    (rule->hard || rule->tier == SB_TIER_SYSTEM))
			out->final = true;
		if (op != SB_READ && !is_free(judged))
			out->change = "--allow-write";
		if (rule && rule->tier >= SB_TIER_FILE &&
		    sb_pattern_names(rule->pattern, out->path))
			out->own = rule;
	}
	for (int op = 0; op < SB_OP_COUNT; op++)
		if (out->judged[op].no_rule_opens)
			out->change = NULL;
	out->unseen = out->missing && is_in_hidden(setup->policy, out->path);
	if (out->unseen || out->own)
		out->change = NULL;
}

static int explain(const struct sb_command_line *line, const struct sb_setup *setup,
		   struct explanation *out, struct sb_error *err)
{
	bool danger = sb_policy_mode(setup->policy) == SB_MODE_DANGER_FULL_ACCESS;
	SB_AUTO_FREE char *absolute = NULL;
	int status = sb_path_expand(line->action_value, setup->home.cwd, setup->home.home,
				    &absolute, err);

	if (status == SB_OK)
		status = sb_path_canonical(absolute, &out->path, &out->missing, err);
	if (status == SB_OK)
		status = judge(setup, sb_is_guarded(line, setup), out, err);
	if (status == SB_OK && line->static_run && !danger)
		status = hold(setup, out, err);
	if (status != SB_OK)
		return status;
	find_change(setup, out);
	out->target = sb_pattern_escape(out->path);
	return out->target ? SB_OK : sb_no_memory(err);
}

static void explanation_done(struct explanation *found)
{
	sb_guard_free(found->guard);
	free(found->path);
	free(found->target);
}

/* --- telling ---------------------------------------------------------------------------- */

static void put_rule(const struct sb_rule *rule, struct sb_buf *out)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_OUTPUT_LIMIT);

	sb_rule_print_whole(rule, &text);
	sb_buf_printf(out, "rule '");
	sb_escape_puts(out, text.data);
	sb_buf_printf(out, "', ");
}

static void explain_operation(const struct sb_setup *setup, enum sb_op op,
			      const struct explanation *found, struct sb_buf *out)
{
	const struct sb_judged *judged = &found->judged[op];
	const struct sb_decision *decision = &judged->decision;

	sb_buf_printf(out, "  %-7s %-6s  ", sb_op_name(op), verdict_of(judged));
	if (is_checked(judged)) {
		const struct sb_guard_row *row = judged->guard.row;

		sb_buf_printf(out, "guarded name '%s', %s: %s; allowed: %s; else asks",
			      row->pattern, row->who, row->why, sb_guard_harmless(row->kind));
	} else {
		if (decision->rule)
			put_rule(decision->rule, out);
		sb_escape_puts(out, sb_origin_of(setup->policy, decision));
		if (decision->rule && decision->rule->capped && op != SB_READ)
			sb_buf_puts(out, " (read-only mode)");
		if (sb_decision_is_quiet(decision, op))
			sb_buf_puts(out, " (quietly: recorded, and not told)");
		if (found->layers[op])
			sb_buf_puts(out, found->layers[op]);
	}
	sb_buf_putc(out, '\n');
}

static void put_option(const char *words, const char *option, const char *target,
		       struct sb_buf *out)
{
	SB_AUTO_BUF struct sb_buf word = SB_BUF(SB_OUTPUT_LIMIT);

	sb_buf_printf(&word, "%s=%s", option, target);
	sb_buf_printf(out, "%-18s sandbash ", words);
	sb_shell_quote(out, word.data);
	sb_buf_putc(out, '\n');
}

static void explain_change(const struct explanation *found, struct sb_buf *out)
{
	if (found->unseen) {
		sb_buf_puts(out, "what is made in a hidden directory cannot be seen: no option "
				 "changes this before it is there\n");
		return;
	}
	if (found->own) {
		sb_escape_put(out, "to change this:    leave out ", found->own->origin, "\n");
		return;
	}
	if (found->judged[SB_READ].decision.verdict != SB_ALLOW)
		put_option("to allow reading:", "--allow-read", found->target, out);
	if (found->change)
		put_option(strcmp(found->change, "--deny") == 0 ? "to hide it:"
								: "to allow changes:",
			   found->change, found->target, out);
}

static void explain_text(const struct sb_setup *setup, const struct explanation *found,
			 struct sb_buf *out)
{
	const char *told = sb_guard_told(found->path);
	bool asks = false;

	sb_escape_puts_name(out, found->path);
	sb_buf_puts(out, found->missing ? " (does not exist)\n" : "\n");
	for (int op = 0; op < SB_OP_COUNT; op++) {
		explain_operation(setup, (enum sb_op)op, found, out);
		asks |= found->judged[op].decision.verdict == SB_ASK ||
			is_checked(&found->judged[op]);
	}
	if (found->inside)
		sb_buf_printf(out, "guarded names are in it: '%s', %s: %s\n",
			      found->inside->pattern, found->inside->who, found->inside->why);
	if (told)
		sb_buf_printf(out,
			      "changes are told at the end of a run: %s follows its instructions\n",
			      told);
	if (asks)
		sb_buf_puts(out, "where nobody can be asked, 'ask' is refused\n");
	if (sb_fast_holds(setup->policy, found->path))
		sb_buf_puts(out,
			    "in a fast root: no name there is guarded, and nothing is renamed or "
			    "linked across its border\n");
	if (found->final)
		sb_buf_puts(out, "no option changes this\n");
	else
		explain_change(found, out);
}

static void explain_json(const struct sb_setup *setup, const char *text,
			 const struct explanation *found, struct sb_buf *out)
{
	SB_AUTO_BUF struct sb_buf flag = SB_BUF(SB_OUTPUT_LIMIT);
	struct sb_json json = sb_json_object(out);

	if (found->change)
		sb_buf_printf(&flag, "%s=%s", found->change, found->target);
	sb_json_pair(&json, "asked", text);
	sb_json_pair(&json, "path", found->path);
	sb_json_pair_bool(&json, "exists", !found->missing);
	sb_json_pair_bool(&json, "unseen", found->unseen);
	sb_json_open_at(&json, "decisions", '{');
	for (int op = 0; op < SB_OP_COUNT; op++) {
		const struct sb_judged *judged = &found->judged[op];

		sb_json_open_at(&json, sb_op_name((enum sb_op)op), '{');
		sb_json_pair(&json, "verdict", verdict_of(judged));
		sb_json_pair_bool(&json, "allowed", is_free(judged) && !found->unseen);
		if (sb_decision_is_quiet(&judged->decision, (enum sb_op)op))
			sb_json_pair_bool(&json, "quiet", true);
		sb_json_pair(&json, "origin", sb_origin_of(setup->policy, &judged->decision));
		sb_json_key(&json, "rule");
		sb_json_rule(&json, judged->decision.rule);
		sb_json_key(&json, "guard");
		sb_json_guard(&json,
			      judged->guard.verdict != SB_GUARD_PLAIN ? judged->guard.row : NULL);
		sb_json_close(&json, '}');
	}
	sb_json_close(&json, '}');
	sb_json_key(&json, "guarded_inside");
	sb_json_guard(&json, found->inside);
	sb_json_pair(&json, "told", sb_guard_told(found->path));
	sb_json_pair_bool(&json, "fast", sb_fast_holds(setup->policy, found->path));
	sb_json_pair_bool(&json, "final", found->final);
	sb_json_pair(&json, "change_with", found->final || !found->change ? NULL : flag.data);
	sb_json_close(&json, '}');
}

int sb_cli_explain(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_OUTPUT_LIMIT);
	__attribute__((cleanup(explanation_done))) struct explanation found = {0};
	SB_AUTO_SETUP struct sb_setup setup = {0};
	struct sb_error err;
	int status;

	if (sb_explains_host(line->action_value))
		return sb_cli_explain_host(line);
	status = sb_set_up(line, true, &setup);
	if (status)
		return status;
	if (explain(line, &setup, &found, &err) != SB_OK)
		return sb_report(&err);
	if (line->json)
		explain_json(&setup, line->action_value, &found, &out);
	else
		explain_text(&setup, &found, &out);
	return sb_print(&out);
}
