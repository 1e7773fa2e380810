/*
 * keeper_needs.c - what a command says that it needs (C10): less than the session's rules is just so,
 * more is asked before it starts, and holds for this command only.  So is what its text shows that it would change
 * (C7): consent/agreed.h.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "mcp/keeper/keeper_impl.h"
#include "mcp/wire/rpc.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/settings.h"

static const struct {
	const char *argument;
	enum sb_setting setting;
	const char *less; /* what it would be allowed, in a question */
} wishes[] = {
	{"access", SB_SETTING_MODE, "run a command that may change files in"},
	{"network", SB_SETTING_NETWORK, "run a command that may use the network, in"},
};

#define WISHES (sizeof wishes / sizeof wishes[0])

json_t *sb_needs_error(const char *code, const char *model, bool violation, const char *format, ...)
{
	char person[PATH_MAX + 200];
	va_list args;

	va_start(args, format);
	vsnprintf(person, sizeof person, format, args);
	va_end(args);
	return json_pack("{s:s, s:o, s:s, s:b}", "code", code, "person", sb_rpc_string(person),
			 "model", model, "violation", violation);
}

json_t *sb_needs_denied(void)
{
	return sb_needs_error("DENIED", "Do without it, or run it with what the rules allow.", true,
			      "the user was asked and said no");
}

void sb_needs_done(struct keeper_needs *needs)
{
	for (size_t i = 0; i < needs->inside_count; i++)
		free(needs->inside[i]);
	for (size_t i = 0; i < needs->outside_count; i++)
		free(needs->outside[i]);
	sb_agreed_done(&needs->writes);
	*needs = (struct keeper_needs){0};
}

/* --- reading ------------------------------------------------------------------------------------- */

static json_t *read_setting(const struct keeper *keeper, size_t which, const char *word,
			    struct keeper_needs *out)
{
	const struct sb_setup *setup = keeper->options->setup;
	enum sb_setting setting = wishes[which].setting;
	const struct sb_setting_row *row = &sb_settings[setting];
	struct sb_error err;
	int value;

	if (sb_setting_parse(setting, word, &value, &err) != SB_OK ||
	    (setting == SB_SETTING_MODE && value == SB_MODE_DANGER_FULL_ACCESS))
		return sb_needs_error("INVALID_ARGUMENT", "Repair the arguments and call again.",
				      false, "'%s' cannot be '%s'", wishes[which].argument, word);
	if (value < setup->least[setting])
		return sb_needs_error("BLOCKED", "Do without it: nobody can allow it here.", true,
				      "the system's rules keep '%s' at '%s'", row->word,
				      row->values[setup->least[setting]]);
	out->settings[setting] = value + 1;
	out->asks |= value < sb_policy_get(setup->policy, setting);
	return NULL;
}

static int setting_of(const struct keeper *keeper, const struct keeper_needs *needs,
		      enum sb_setting setting)
{
	return needs->settings[setting] ? needs->settings[setting] - 1
					: sb_policy_get(keeper->options->setup->policy, setting);
}

static bool lies_in(const char *const *roots, const char *path)
{
	while (*roots && !sb_path_within(*roots, path))
		roots++;
	return *roots;
}

/* By a rule.  A project that the client's roots leave out is not. */
static bool is_open(const struct keeper *keeper, const char *path)
{
	const struct sb_setup *setup = keeper->options->setup;
	bool allowed = !lies_in((const char *const *)setup->projects, path);

	for (int op = SB_MODIFY; op < SB_OP_COUNT; op++)
		allowed &= sb_decide(setup->policy, (enum sb_op)op, path).verdict == SB_ALLOW;
	return allowed;
}

/*
 * SECURITY: a directory that a command asks for is opened as an answer would open it.
 *
 * Danger: the model chooses the path.  The home directory, a directory with keys, or .git/hooks would be one yes
 * away; as a rule of the command line it would open guarded names and beat the user's own rules.
 * Price: what no answer opens is refused unasked.
 * Held by: tests/mcp/needs.py
 */
static json_t *read_root(const struct keeper *keeper, const char *const *roots, const char *given,
			 struct keeper_needs *out)
{
	const struct sb_home *home = &keeper->options->setup->home;
	SB_AUTO_FREE char *absolute = NULL;
	SB_AUTO_FREE char *path = NULL;
	SB_AUTO_FREE char *itself = NULL;
	enum sb_answer said;
	struct sb_error err;
	int missing = 0;

	if (sb_path_expand(given, roots[0], home->home, &absolute, &err) != SB_OK ||
	    sb_path_canonical(absolute, &path, &missing, &err) != SB_OK)
		return sb_needs_error("INVALID_ARGUMENT", "Repair the arguments and call again.",
				      false, "%s", err.message);
	if (missing || !sb_path_is_directory(path))
		return sb_needs_error("NOT_FOUND", "writableRoots are directories that are there.",
				      false, "there is no directory '%s'", path);
	if (lies_in(roots, path)) {
		out->inside[out->inside_count++] = sb_take_ptr(&path);
		return NULL;
	}
	itself = sb_path_join(path, ".");
	said = itself ? sb_keeper_recall(keeper, SB_MODIFY, itself, false) : SB_ANSWER_DENY;
	if (is_open(keeper, path) || said == SB_ANSWER_DIRECTORY)
		return NULL;
	if (said == SB_ANSWER_DENY)
		return sb_needs_denied();
	if (!sb_keeper_may_open(keeper, SB_MODIFY, path, path))
		return sb_needs_error(
			"BLOCKED",
			"Nobody can allow it as a whole. Name a directory in it, or leave it "
			"to the questions of the command.",
			true, "'%s' cannot be opened to a command as a whole", path);
	out->outside[out->outside_count++] = sb_take_ptr(&path);
	out->asks = true;
	return NULL;
}

/* Where the command will stand; NULL: it is not there. */
static char *directory_of(const json_t *message, const char *root)
{
	const char *given = sb_get_text(message, "cwd");
	SB_AUTO_FREE char *absolute = NULL;
	char *directory = NULL;

	if (sb_path_expand(given ? given : root, root, root, &absolute, NULL) == SB_OK)
		sb_path_canonical(absolute, &directory, NULL, NULL);
	return directory;
}

static json_t *read_given(const struct keeper *keeper, const json_t *given, const char **roots,
			  struct keeper_needs *out)
{
	const json_t *list = json_object_get(given, "writableRoots"), *root;
	json_t *wrong = NULL;
	size_t i;

	for (i = 0; i < WISHES && !wrong; i++) {
		const char *word = sb_get_text(given, wishes[i].argument);

		if (word)
			wrong = read_setting(keeper, i, word, out);
	}
	if (keeper->options->worker && !wrong && (out->asks || json_array_size(list)))
		wrong = sb_needs_error("BLOCKED", "Leave out what it needs: it gets what there is.",
				       true, "nobody is asked for more than there is");
	if (wrong || !json_array_size(list))
		return wrong;
	if (!roots || json_array_size(list) > SB_NEEDS_ROOTS)
		return sb_needs_error("INVALID_ARGUMENT", "Name fewer.", false,
				      "'writableRoots' has at most %d directories", SB_NEEDS_ROOTS);
	if (setting_of(keeper, out, SB_SETTING_MODE) == SB_MODE_READ_ONLY)
		return sb_needs_error("INVALID_ARGUMENT",
				      "Leave out writableRoots, or say access: workspace-write.",
				      false, "where access is read-only nothing is writable");
	json_array_foreach(list, i, root)
	{
		if (!json_is_string(root))
			return sb_needs_error("INVALID_ARGUMENT", "Repair the arguments.", false,
					      "'writableRoots' is an array of strings");
		wrong = read_root(keeper, roots, json_string_value(root), out);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static bool is_granted(const struct keeper *keeper, const struct keeper_needs *needs,
		       const struct sb_agreed *write)
{
	const struct keeper_subject subject = {
		.op = write->op, .thing = write->thing, .path = write->path};

	for (size_t i = 0; i < needs->outside_count; i++)
		if (sb_path_within(needs->outside[i], write->path))
			return true;
	return sb_approvals_find(keeper->ahead, &subject, true) ||
	       sb_keeper_recall(keeper, write->op, write->path, false) != SB_ANSWER_NONE;
}

/* What command would change in directory (canonical) that the rules would ask about. */
static void preview(const struct keeper *keeper, const char *command, const char *directory,
		    struct keeper_needs *out)
{
	const struct sb_setup *setup = keeper->options->setup;
	const struct sb_preview_options options = {
		.size = sizeof options, .directory = directory, .home = setup->home.home};
	struct sb_agreed_list found;
	size_t kept = 0;

	sb_agreed_find(setup->policy, command, &options, &found, NULL);
	for (size_t i = 0; i < found.count; i++) {
		bool granted = is_granted(keeper, out, &found.all[i]);

		/* as many as a question has lines for; the others ask when they happen */
		found.unsaid |= !granted && kept + out->outside_count >= SB_NEEDS_WRITES;
		if (granted || kept + out->outside_count >= SB_NEEDS_WRITES)
			free(found.all[i].path);
		else
			found.all[kept++] = found.all[i];
	}
	found.count = kept;
	out->writes = found;
	out->asks |= kept > 0;
}

json_t *sb_needs_read(const struct keeper *keeper, const json_t *message, struct keeper_needs *out)
{
	const json_t *given = json_object_get(message, "needs");
	const char *command = sb_get_text(message, "command");
	SB_AUTO_FREE const char **roots =
		sb_keeper_roots(keeper, json_object_get(message, "roots"));
	SB_AUTO_FREE char *directory = NULL;
	json_t *wrong = read_given(keeper, given, roots, out);

	/* a worker's paths are none of this machine: its command asks when it runs */
	if (wrong || !roots || !command || keeper->options->worker ||
	    !sb_get_true(given, "askFirst"))
		return wrong;
	directory = directory_of(message, roots[0]);
	preview(keeper, command, directory, out);
	return NULL;
}

/* --- asking -------------------------------------------------------------------------------------- */

#define EXTRAS (WISHES + SB_NEEDS_ROOTS + SB_NEEDS_WRITES)

/* One thing that it would get: what, and where. */
struct extra {
	const char *verb, *path;
};

static const char *const write_verbs[] = {
	[SB_MODIFY] = "run a command that may change",
	[SB_CREATE] = "run a command that may create",
	[SB_DELETE] = "run a command that may delete or move",
};

static size_t find_extras(const struct keeper *keeper, const struct keeper_needs *needs,
			  struct extra out[EXTRAS])
{
	const struct sb_setup *setup = keeper->options->setup;
	size_t count = 0;

	for (size_t i = 0; i < needs->outside_count; i++)
		out[count++] = (struct extra){"run a command that may change everything in",
					      needs->outside[i]};
	for (size_t i = 0; i < needs->writes.count; i++)
		out[count++] = (struct extra){write_verbs[needs->writes.all[i].op],
					      needs->writes.all[i].path};
	for (size_t i = 0; i < WISHES; i++)
		if (setting_of(keeper, needs, wishes[i].setting) <
		    sb_policy_get(setup->policy, wishes[i].setting))
			out[count++] = (struct extra){wishes[i].less, setup->home.cwd};
	return count;
}

void sb_needs_put_command(json_t *notes, const char *command)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(16 * 1024);

	sb_buf_puts(&line, "the command: ");
	sb_escape_value(&line, command, strlen(command), SB_COMMAND_SHOWN);
	json_array_append_new(notes, sb_rpc_buf(&line));
}

static json_t *notes_of(const struct extra *extras, size_t count, bool unsaid, const char *command)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(16 * 1024);
	json_t *notes = json_array();

	for (size_t i = 1; i < count; i++) {
		line.length = 0;
		sb_buf_printf(&line, "and %s '", extras[i].verb + strlen("run a command that "));
		sb_escape_put_name(&line, "", extras[i].path, "'");
		json_array_append_new(notes, sb_rpc_buf(&line));
	}
	if (unsaid)
		json_array_append_new(notes,
				      json_string("it may change more, which its words do not "
						  "tell: that asks when it happens"));
	json_array_append_new(notes, json_string("for this command only; names that a program "
						 "outside would obey still ask"));
	sb_needs_put_command(notes, command);
	return notes;
}

/* What was asked for, as text: refused_needs has what was refused. */
static char *key_of(const struct extra *extras, size_t count)
{
	SB_AUTO_BUF struct sb_buf key = SB_BUF(256 * 1024);

	for (size_t i = 0; i < count; i++)
		sb_buf_printf(&key, "%s %s\n", extras[i].verb, extras[i].path);
	return sb_buf_take(&key);
}

static bool was_refused(const struct keeper *keeper, const struct extra *extras, size_t count)
{
	SB_AUTO_FREE char *key = key_of(extras, count);

	return !key ||
	       sb_approvals_find(keeper->refused_needs,
				 &(struct keeper_subject){.op = SB_MODIFY, .path = key}, true);
}

void sb_needs_refused(struct keeper *keeper, const struct keeper_needs *needs)
{
	struct extra extras[EXTRAS];
	size_t count = find_extras(keeper, needs, extras);
	SB_AUTO_FREE char *key = key_of(extras, count);

	if (key)
		sb_approvals_add(&keeper->refused_needs,
				 &(struct keeper_subject){.op = SB_MODIFY, .path = key}, false);
}

struct keeper_question *sb_needs_question(struct keeper *keeper, const struct keeper_needs *needs,
					  const char *command, bool *out_refused)
{
	struct extra extras[EXTRAS];
	size_t count = find_extras(keeper, needs, extras), i;
	struct sb_question shown = {.op = SB_MODIFY,
				    .program = "run_command",
				    .process = getpid(),
				    .about = SB_ABOUT_AHEAD};
	json_auto_t *notes = NULL;
	const json_t *note;

	/* also with other company */
	*out_refused = was_refused(keeper, extras, count);
	for (i = 0; i < count; i++)
		*out_refused |= was_refused(keeper, &extras[i], 1);
	if (*out_refused || !count)
		return NULL;
	shown.verb = extras[0].verb;
	shown.path = extras[0].path;
	notes = notes_of(extras, count, needs->writes.count && needs->writes.unsaid, command);
	json_array_foreach(notes, i, note) shown.notes[i] = json_string_value(note);
	return sb_keeper_question(keeper, &shown);
}

/* --- options ------------------------------------------------------------------------------------- */

/* What a person would start the server with, to have it always. */
void sb_needs_allow(const struct keeper *keeper, const struct keeper_needs *needs,
		    struct sb_buf *out)
{
	const struct sb_policy *policy = keeper->options->setup->policy;

	sb_buf_puts(out, "sandbash --mcp");
	for (size_t i = 0; i < WISHES; i++) {
		enum sb_setting setting = wishes[i].setting;
		int value = setting_of(keeper, needs, setting);

		if (value < sb_policy_get(policy, setting))
			sb_buf_printf(out, " %s", sb_settings[setting].options[value]);
	}
	for (size_t i = 0; i < needs->outside_count + needs->writes.count; i++) {
		const char *path = i < needs->outside_count
					   ? needs->outside[i]
					   : needs->writes.all[i - needs->outside_count].path;
		SB_AUTO_FREE char *pattern = sb_pattern_escape(path);
		SB_AUTO_BUF struct sb_buf option = SB_BUF(16 * 1024);

		sb_buf_printf(&option, "--allow-write=%s", pattern ? pattern : "");
		sb_buf_putc(out, ' ');
		sb_shell_quote(out, option.data);
	}
}

struct keeper_approval *sb_needs_agreed(const struct keeper_needs *needs)
{
	struct keeper_approval *agreed = NULL;

	for (size_t i = 0; i < needs->writes.count; i++) {
		struct keeper_subject subject = {.op = needs->writes.all[i].op,
						 .thing = needs->writes.all[i].thing,
						 .path = needs->writes.all[i].path};

		sb_approvals_add(&agreed, &subject, true);
		if (subject.op != SB_CREATE)
			continue;
		subject.op = SB_MODIFY; /* what it has made it may go on writing */
		sb_approvals_add(&agreed, &subject, true);
	}
	return agreed;
}
