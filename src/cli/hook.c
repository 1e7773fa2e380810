/*
 * hook.c - --hook: what an agent is told before one of its tools runs.
 *
 * A shell command is handed back so that it runs under sandbash.  The paths of file tools are
 * judged here, by the judge that runs have: what it allows is left to the agent and its own
 * question, all else is refused, since nobody can be asked.  Tools that are none of both pass.
 *
 * Agents go on when a hook fails in any way but one: exit status 2 with a reason on standard
 * error (claude, codex and gemini alike).  So whatever goes wrong here ends with that.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/auto.h"
#include "base/escape.h"
#include "base/list.h"
#include "base/words.h"
#include "cli/cli.h"
#include "config/file.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/text.h"
#include "supervise/case.h"

#define BLOCK 2 /* the one status that stops a tool */

static int block(const struct sb_error *err)
{
	sb_report(err);
	return BLOCK;
}

const char *sb_own_program(void)
{
	static char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

	program[length > 0 ? length : 0] = '\0';
	return program[0] == '/' ? program : NULL;
}

char **sb_options_given(const struct sb_command_line *line)
{
	char **options = calloc(line->given_count + 2, sizeof *options); /* and one more */
	size_t count = 0;

	for (size_t i = 0; options && i < line->given_count; i++) {
		SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_OUTPUT_LIMIT);
		const struct sb_given *given = &line->given[i];

		if (sb_is_word("hook setup apply undo", given->option->name))
			continue;
		sb_buf_printf(&text, "--%s%s%s", given->option->name, given->value ? "=" : "",
			      given->value ? given->value : "");
		options[count] = sb_buf_take(&text);
		if (!options[count++]) {
			sb_list_free(options);
			return NULL;
		}
	}
	return options;
}

/* --- files ---------------------------------------------------------------------------------- */

struct judging {
	const struct sb_tool_event *event;
	struct sb_setup setup;
	struct sb_guard *guard;
	struct sb_grounds grounds;
	struct sb_buf *reason; /* stays empty where all is allowed */
};

static void put_name(struct sb_buf *out, const char *path)
{
	sb_escape_put_name(out, "'", path, "'");
}

/* Which rule, or what else, is against it. */
static void put_why(const struct judging *judging, const struct sb_judged *judged,
		    struct sb_buf *out)
{
	const struct sb_guard_row *row = judged->guard.row;

	switch (judged->why) {
	case SB_WHY_GUARDED:
		if (row)
			sb_buf_printf(out, "it counts as '%s', %s: %s", row->pattern, row->who,
				      row->why);
		else
			sb_buf_puts(out, "a program outside would run or obey it");
		return;
	case SB_WHY_TEMPORARY:
		sb_buf_puts(out, "another program made it in a temporary directory that all share");
		return;
	case SB_WHY_IGNORED:
		sb_buf_puts(out, "git ignores it, so what is lost there cannot be had back");
		return;
	default:
		if (judged->decision.rule) {
			sb_buf_puts(out, "rule '");
			sb_rule_print_whole(judged->decision.rule, out);
			sb_buf_puts(out, "', ");
		}
		sb_buf_puts(out, sb_origin_of(judging->setup.policy, &judged->decision));
	}
}

/* What the person could do about it. */
static void put_way(const struct judging *judging, const struct sb_judged *judged, const char *path,
		    enum sb_touch touch, struct sb_buf *out)
{
	const struct sb_rule *rule = judged->decision.rule;
	const char *agent = sb_agent_name(judging->event->agent);
	SB_AUTO_FREE char *pattern = sb_pattern_escape(path);

	if (judged->no_rule_opens || !pattern ||
	    (judged->decision.verdict == SB_DENY && rule &&
	     (rule->hard || rule->tier == SB_TIER_SYSTEM))) {
		sb_buf_puts(out, "; no option changes this");
		return;
	}
	sb_buf_puts(out, "; the user can allow it by the option ");
	sb_buf_puts(out, touch == SB_TOUCH_READ || touch == SB_TOUCH_SEARCH ? "--allow-read="
									    : "--allow-write=");
	sb_escape_puts(out, pattern);
	sb_buf_printf(out, " behind '--hook %s'", agent);
}

static void refuse(const struct judging *judging, const struct sb_judged *judged, const char *path,
		   enum sb_touch touch, bool by_contents)
{
	static const char *const verbs[] = {"read", "changed", "removed", "searched"};
	struct sb_buf *out = judging->reason;

	sb_buf_puts(out, "sandbash: ");
	put_name(out, path);
	sb_buf_printf(out, " may not be %s by this tool: ", verbs[touch]);
	put_why(judging, judged, out);
	if (by_contents)
		sb_buf_puts(out,
			    "; use a shell command instead: there sandbash looks at the contents "
			    "and lets harmless ones through");
	else if (judged->guard.detail[0]) {
		sb_escape_put(out, "; ", judged->guard.detail, "");
	}
	put_way(judging, judged, path, touch, out);
}

/* Would the bytes that a tool writes be let through?  Only those of a whole file are known. */
static bool bytes_pass(const struct judging *judging, const char *path,
		       struct sb_judgement *judgement)
{
	const struct sb_tool_event *event = judging->event;
	SB_AUTO_BUF struct sb_buf old = SB_BUF(SB_TOOL_EVENT_LIMIT);
	const char *new;
	size_t length;
	bool found;

	new = event->contents ? sb_json_text_bytes(&event->doc, event->contents, &length) : NULL;
	if (!new || sb_config_read(path, &old, &found, NULL) != SB_OK)
		return false;
	return sb_judge_bytes(&judging->grounds, judgement,
			      (struct sb_guard_bytes){old.data, old.length},
			      (struct sb_guard_bytes){new, length});
}

/*
 * SECURITY: a tool that looks through a directory shows what it finds there, and we cannot leave
 * anything out.
 *
 * Danger: what is hidden from commands is found by searching what is around it.  So a directory
 * beneath which a rule hides something is not searched at all. Price: where a rule with wildcards
 * hides names anywhere, searching is left to shell commands. Held by: tests/cli/hook.py
 */
static void judge_beneath(const struct judging *judging, const char *path)
{
	const struct sb_decision hidden =
		sb_decide_moved(judging->setup.policy, SB_READ, path, NULL);
	struct sb_buf *out = judging->reason;
	struct stat info;

	if (hidden.verdict == SB_ALLOW || (stat(path, &info) == 0 && !S_ISDIR(info.st_mode)))
		return;
	sb_buf_puts(out, "sandbash: ");
	put_name(out, path);
	sb_buf_puts(out, " may not be searched by this tool: ");
	if (hidden.rule) {
		put_name(out, hidden.rule->pattern);
		sb_buf_puts(out, " in it is hidden, ");
	}
	sb_buf_puts(out, sb_origin_of(judging->setup.policy, &hidden));
	sb_buf_puts(out, "; search a narrower directory, or use a shell command: there it stays "
			 "hidden, and all else is found");
}

/*
 * SECURITY: a run has a /proc of its own; this tool has that of all processes.
 *
 * Danger: /proc/PID/environ and the like show what other programs, the agent among them, were told
 * in confidence; through /proc/PID/root and cwd lies every file once more.  And "self" is
 * us here. Price: /proc/cpuinfo takes a shell command. Held by: tests/cli/hook.py
 */
static int refuse_proc(void *context, const char *path, struct sb_error *err)
{
	const struct judging *judging = context;
	struct sb_buf *out = judging->reason;

	(void)err;
	if (out->length || !sb_path_within("/proc", path) ||
	    sb_policy_mode(judging->setup.policy) == SB_MODE_DANGER_FULL_ACCESS)
		return SB_OK;
	sb_buf_puts(out, "sandbash: ");
	put_name(out, path);
	sb_buf_puts(out, " may not be read by this tool: it shows what other programs keep to "
			 "themselves; use a shell command instead: there /proc is the run's own");
	return SB_OK;
}

/* One canonical path. */
static int judge_at(const struct judging *judging, enum sb_touch touch, const char *path,
		    struct sb_error *err)
{
	struct sb_case what = {.deed = touch == SB_TOUCH_REMOVE ? SB_DEED_REMOVE : SB_DEED_WRITE};
	struct sb_judgement judgement;
	struct sb_spot spot;
	int status = sb_look_at(path, &spot, err);

	what.site = sb_spot_site(&spot);
	if (status == SB_OK && (touch == SB_TOUCH_READ || touch == SB_TOUCH_SEARCH)) {
		struct sb_judged judged;

		sb_judge_op(&judging->grounds, SB_READ, &what, &judged);
		if (judged.decision.verdict != SB_ALLOW)
			refuse(judging, &judged, path, touch, false);
		else if (touch == SB_TOUCH_SEARCH)
			judge_beneath(judging, path);
	} else if (status == SB_OK) {
		bool unseen = false;

		sb_judge(&judging->grounds, &what, &judgement);
		if (judgement.lands && !bytes_pass(judging, path, &judgement)) {
			unseen = !judging->event->contents &&
				 sb_judged_kind(&judgement) != SB_GUARD_SAME;
			if (judgement.lands->decision.verdict == SB_ALLOW)
				judgement.lands->decision.verdict = SB_ASK;
			judgement.lands->why = SB_WHY_GUARDED;
			refuse(judging, judgement.lands, path, touch, unseen);
		} else if (judgement.strictest->decision.verdict != SB_ALLOW) {
			refuse(judging, judgement.strictest, path, touch, false);
		}
	}
	sb_spot_done(&spot);
	return status;
}

/* Where the path leads, and the link itself: some tools write through it, some replace it. */
static int judge_path(void *context, enum sb_touch touch, const char *text, struct sb_error *err)
{
	const struct judging *judging = context;
	const struct sb_home *home = &judging->setup.home;
	SB_AUTO_FREE char *absolute = NULL;
	SB_AUTO_FREE char *path = NULL;
	SB_AUTO_FREE char *itself = NULL;
	int status;

	if (judging->reason->length) /* one reason is enough */
		return SB_OK;
	status = sb_path_expand(text, home->cwd, home->home, &absolute, err);
	if (status == SB_OK && (touch == SB_TOUCH_READ || touch == SB_TOUCH_SEARCH))
		status = sb_path_links(absolute, refuse_proc, context, err);
	if (status == SB_OK)
		status = sb_path_canonical(absolute, &path, NULL, err);
	if (status == SB_OK)
		status = sb_path_canonical_parent(absolute, &itself, err);
	if (status == SB_OK && (touch == SB_TOUCH_READ || touch == SB_TOUCH_SEARCH))
		status = refuse_proc(context, path, err);
	if (status == SB_OK && !judging->reason->length)
		status = judge_at(judging, touch, path, err);
	if (status == SB_OK && !judging->reason->length && strcmp(path, itself) != 0)
		status = judge_at(judging, touch, itself, err);
	return status;
}

/*
 * SECURITY: a file tool runs in the agent itself, which nothing confines.
 *
 * Danger: between our answer and its open another process can put a link into the way.  Nothing
 * here prevents that; who needs it prevented runs the agent itself under sandbash, or gives it
 * the tools of sandbash-mcp.  The temporary directories are the real ones for this tool, not
 * those of a run. Price: a policy is made for each call, some milliseconds. Held by:
 * tests/cli/hook.py, but for the race.
 */
static int judge_files(const struct sb_command_line *line, const struct sb_tool_event *event,
		       struct sb_buf *reason)
{
	struct judging judging = {.event = event, .reason = reason};
	struct sb_command_line own = *line;
	struct sb_error err;
	int status;

	/* it writes plans and notes of its own; its login is nothing that the model has to read */
	if (!own.profile && event->kind != SB_TOOL_READ)
		own.profile = sb_agent_name(event->agent);
	/* where no command may run, since all around would be writable, no file tool may either */
	if (sb_set_up(&own, false, &judging.setup) != 0)
		return BLOCK;
	status = sb_policy_mode(judging.setup.policy) == SB_MODE_DANGER_FULL_ACCESS
			 ? SB_OK
			 : sb_guard_of(&judging.setup, judging.setup.policy, &judging.guard, &err);
	if (status == SB_OK) {
		sb_grounds_init(&judging.grounds, judging.setup.policy, judging.guard);
		judging.grounds.own_temp = sb_own_temp_new();
		if (!judging.grounds.own_temp)
			status = sb_no_memory(&err);
	}
	if (status == SB_OK) {
		sb_own_temp_share(judging.grounds.own_temp, judging.setup.policy);
		status = sb_tool_event_paths(event, judge_path, &judging, &err);
	}
	if (status != SB_OK)
		status = block(&err);
	sb_guard_free(judging.guard);
	sb_setup_done(&judging.setup);
	return status;
}

/* --- the event ------------------------------------------------------------------------------ */

/* What the command is refused, its model reads as data, like that of a server's tool. */
static bool add_report(const struct sb_command_line *line, char **options)
{
	size_t count = sb_list_count(options);

	if (line->agent_report) /* as the person wants it */
		return true;
	options[count] = strdup("--agent-report=auto");
	return options[count] != NULL;
}

static int wrap_command(const struct sb_command_line *line, const struct sb_tool_event *event,
			struct sb_buf *out)
{
	SB_AUTO_BUF struct sb_buf command = SB_BUF(SB_TOOL_EVENT_LIMIT * 6UL);
	const char *program = sb_own_program();
	char **options = sb_options_given(line);
	bool made = program && options && add_report(line, options);
	struct sb_error err;

	if (made)
		sb_agent_wrap(event, program, (const char *const *)options, &command);
	sb_list_free(options);
	if (!made || sb_buf_failed(&command)) {
		sb_fail(&err, SB_E_SYSTEM, 0, "cannot make the command that sandbash would run");
		return block(&err);
	}
	sb_answer_command(event, command.data, command.length, out);
	return 0;
}

static int answer(const struct sb_command_line *line, const struct sb_tool_event *event,
		  struct sb_buf *out)
{
	SB_AUTO_BUF struct sb_buf reason = SB_BUF(SB_OUTPUT_LIMIT);
	int status = 0;

	if (event->kind == SB_TOOL_SHELL && event->text)
		return wrap_command(line, event, out);
	if (event->kind == SB_TOOL_REFUSE)
		sb_buf_puts(&reason, "sandbash: what this tool runs cannot be confined; use the "
				     "tool for shell commands instead");
	else if (event->kind != SB_TOOL_OTHER)
		status = judge_files(line, event, &reason);
	if (status)
		return status;
	if (reason.length || sb_buf_failed(&reason))
		sb_answer_deny(event, reason.data, out);
	else
		sb_answer_pass(event, out);
	return 0;
}

static int read_all(struct sb_buf *out, struct sb_error *err)
{
	char chunk[65536];
	ssize_t got;

	while ((got = read(STDIN_FILENO, chunk, sizeof chunk)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return sb_fail(err, SB_E_SYSTEM, errno, "cannot read the event");
		sb_buf_append(out, chunk, (size_t)got);
		if (sb_buf_failed(out))
			return sb_fail(err, SB_E_INVALID, 0, "the event is too long");
	}
	return SB_OK;
}

int sb_cli_hook(const struct sb_command_line *line)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_TOOL_EVENT_LIMIT);
	SB_AUTO_BUF struct sb_buf out = SB_BUF(SB_TOOL_EVENT_LIMIT * 8UL);
	const struct sb_agent *agent = sb_agent_find(line->action_value);
	SB_AUTO(sb_tool_event_done) struct sb_tool_event event = {0};
	struct sb_error err;
	int status;

	if (!agent) {
		sb_end_with(SB_E_INVALID, "--hook knows claude, codex, gemini and opencode",
			    "no agent '%s'", line->action_value);
		return BLOCK;
	}
	if (read_all(&text, &err) != SB_OK ||
	    sb_tool_event_read(agent, text.data, text.length, &event, &err) != SB_OK)
		return block(&err);
	/* relative paths, and the project, are the agent's */
	if (chdir(event.cwd) != 0) {
		sb_fail(&err, SB_E_SYSTEM, errno, "cannot go to '%s'", event.cwd);
		status = block(&err);
	} else {
		status = answer(line, &event, &out);
	}
	if (!status && sb_print(&out) != 0)
		status = BLOCK;
	return status;
}
