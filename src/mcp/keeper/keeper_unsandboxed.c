/*
 * keeper_unsandboxed.c - one command without the sandbox, if a person says so (C8).
 *
 * SECURITY: nothing holds such a command but the word of a person who has read all of it.
 *
 * Danger: the model chooses the command and the reason.  A yes that is given in passing, by a program, for a part
 * of a long line or for the next command as well would be the end of the sandbox.
 * Price: the question is put only where the user's own configuration says so ("unsandboxed ask"; any tier that says off
 * is stronger), to a person who has had the time to read it (server/ask.c); what cannot be shown whole is not asked about;
 * an answer is never kept, but for a no, and after a few of those nobody is asked any more in the session.
 * Held by: tests/mcp/unsandboxed.py
 */
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/escape.h"
#include "enforce/inside.h"
#include "mcp/keeper/keeper_child.h"
#include "mcp/wire/rpc.h"

#define MAX_REFUSED 3 /* in a session */

static json_t *blocked(const char *why)
{
	return sb_needs_error(
		"BLOCKED",
		"Run it in the sandbox; what it may not do there is asked about one by one.", true,
		"%s", why);
}

static json_t *wrong_argument(const char *why)
{
	return sb_needs_error("INVALID_ARGUMENT", "Repair the arguments and call again.", false,
			      "%s", why);
}

/* What is in the way of the question; NULL: nothing. */
static json_t *never(const struct keeper *keeper, const char *command, const json_t *given)
{
	static const char *const others[] = {"writableRoots", "network", "askFirst"};
	const struct sb_setup *setup = keeper->options->setup;
	const char *reason = sb_get_text(given, "reason");
	bool mounts;

	if (keeper->options->worker)
		return blocked("a worker has what its file declares");
	if (sb_inside(&mounts))
		return blocked("this server is itself inside a sandbox");
	if (setup->least[SB_SETTING_MODE] > SB_MODE_DANGER_FULL_ACCESS)
		return blocked("the system's rules keep every command in a sandbox");
	if (sb_policy_mode(setup->policy) == SB_MODE_READ_ONLY)
		return blocked("the session is read-only");
	if (sb_policy_get(setup->policy, SB_SETTING_UNSANDBOXED) != SB_UNSANDBOXED_ASK)
		return blocked("commands without a sandbox may be asked for only where the user's "
			       "configuration says 'unsandboxed ask'");
	if (!reason || !reason[0])
		return wrong_argument("'reason' is missing: the user is to know why");
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (json_object_get(given, others[i]))
			return wrong_argument("without a sandbox nothing else can be held");
	if (json_object_get(given, "stdin") || strlen(command) > SB_COMMAND_SHOWN)
		return wrong_argument("all that such a command is told has to be shown: one line "
				      "of at most 1000 bytes, and no stdin");
	return keeper->unsandboxed_refused >= MAX_REFUSED ? sb_needs_denied() : NULL;
}

bool sb_unsandboxed_wanted(const json_t *message)
{
	const char *access = sb_get_text(json_object_get(message, "needs"), "access");

	return access && strcmp(access, sb_mode_name(SB_MODE_DANGER_FULL_ACCESS)) == 0;
}

json_t *sb_unsandboxed_read(const struct keeper *keeper, const json_t *message,
			    struct keeper_needs *out)
{
	const json_t *given = json_object_get(message, "needs");
	const char *command = sb_get_text(message, "command");
	json_t *wrong;

	/* where there is none anyway */
	if (sb_policy_mode(keeper->options->setup->policy) == SB_MODE_DANGER_FULL_ACCESS)
		return NULL;
	wrong = command ? never(keeper, command, given) : NULL;
	if (wrong)
		return wrong;
	out->settings[SB_SETTING_MODE] = SB_MODE_DANGER_FULL_ACCESS + 1;
	out->unsandboxed = true;
	out->asks = true;
	return NULL;
}

static struct keeper_subject subject_of(const json_t *message)
{
	/* no path begins like that, so it is no other refusal's */
	return (struct keeper_subject){.op = SB_DELETE, .path = sb_get_text(message, "command")};
}

void sb_unsandboxed_refused(struct keeper *keeper, const json_t *message)
{
	struct keeper_subject subject = subject_of(message);

	keeper->unsandboxed_refused++;
	sb_approvals_add(&keeper->refused_needs, &subject, false);
}

struct keeper_question *sb_unsandboxed_question(struct keeper *keeper, const json_t *message,
						bool *out_refused)
{
	const char *cwd = sb_get_text(message, "cwd");
	struct keeper_subject subject = subject_of(message);
	struct sb_question shown = {.op = SB_MODIFY,
				    .verb = "run a command WITHOUT THE SANDBOX, in",
				    .path = cwd ? cwd : keeper->options->setup->home.cwd,
				    .rule = "the model asks for it",
				    .program = "run_command",
				    .process = getpid(),
				    .about = SB_ABOUT_UNSANDBOXED};
	json_auto_t *notes = json_array();
	const json_t *note;
	size_t i;

	*out_refused = sb_approvals_find(keeper->refused_needs, &subject, true);
	if (*out_refused)
		return NULL;
	sb_needs_put_command(notes, subject.path);
	sb_child_note(notes,
		      "it, and all that it starts, can read, change and delete every file of "
		      "yours, keys and passwords too, use the network, and plant what other "
		      "programs of yours run later");
	sb_child_note(notes,
		      "nothing of it is held or asked about, no copies are kept, and what it "
		      "leaves running goes on");
	sb_child_note(notes, "a yes is for this command only");
	sb_ahead_reason(notes, json_object_get(message, "needs"));
	json_array_foreach(notes, i, note) shown.notes[i] = json_string_value(note);
	return sb_keeper_question(keeper, &shown);
}
