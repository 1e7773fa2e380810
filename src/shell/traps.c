/*
 * What "trap" keeps for later: at the end of its shell, or at any time.
 *
 * A body is looked at where it runs, with the variables and the directory of then.  For EXIT that is the end of the
 * shell, and each "exit"; for all others it is any place from the trap on, so what changes behind it is unknown there.
 */
#include <string.h>
#include <strings.h>

#include "base/words.h"
#include "shell/models.h"

#define TRAPS_MOST 32

struct sb_trap {
	struct sb_trap *next;
	const struct sb_field *body;
	bool at_exit, any_time;
	struct sb_shell_state then; /* where it was set */
};

/* One that may never come; true: it changes what comes behind it. */
static bool run_body(struct sb_shell *shell, const struct sb_field *body)
{
	struct sb_shell_state before = shell->state, *now = &shell->state;
	bool changes;

	now->traps = NULL;
	now->left = SB_LEFT_NOTHING;
	now->in_loop = 0;
	now->maybe = true;
	sb_text_run(shell, body);
	changes = now->bindings != before.bindings || now->directory != before.directory ||
		  now->lost != before.lost || now->arguments != before.arguments;
	*now = before;
	return changes;
}

void sb_traps_leave(struct sb_shell *shell)
{
	for (const struct sb_trap *trap = shell->state.traps; trap; trap = trap->next)
		if (trap->at_exit)
			run_body(shell, trap->body);
}

void sb_traps_end(struct sb_shell *shell)
{
	const struct sb_trap *traps = shell->state.traps;
	struct sb_shell_state *now = &shell->state;

	sb_traps_leave(shell);
	for (const struct sb_trap *trap = traps; trap; trap = trap->next) {
		struct sb_shell_state end = *now;

		/* set -e: the shell may end at any command */
		if (!trap->any_time && !(trap->at_exit && end.strict))
			continue;
		if (end.bindings == trap->then.bindings && end.directory == trap->then.directory &&
		    end.lost == trap->then.lost)
			continue;
		sb_shell_doubt(shell, &trap->then);
		run_body(shell, trap->body);
		*now = end;
	}
	now->traps = NULL;
}

static bool is_exit(const struct sb_field *field)
{
	return field->known == SB_KNOWN &&
	       (strcmp(field->text, "0") == 0 || strcasecmp(field->text, "EXIT") == 0);
}

/* Does it come without anybody from outside? */
static bool is_inner(const struct sb_field *field)
{
	return field->known != SB_KNOWN || sb_words_have_like("DEBUG RETURN ERR CHLD SIGCHLD",
							      field->text, strlen(field->text));
}

static void keep(struct sb_command *call, bool at_exit, bool any_time)
{
	struct sb_shell *shell = call->shell;
	const struct sb_field *body = call->operands[0];
	struct sb_trap *made;
	size_t count = 0;

	for (struct sb_trap *trap = shell->state.traps; trap; trap = trap->next, count++)
		if (trap->at_exit >= at_exit && trap->any_time >= any_time &&
		    trap->body->known == SB_KNOWN && sb_field_is(body, trap->body->text))
			return; /* where it was set first is further back */
	made = count < TRAPS_MOST ? sb_arena_alloc(shell->arena, sizeof *made) : NULL;
	if (!made) {
		sb_command_unknown(shell, body);
		return;
	}
	*made = (struct sb_trap){shell->state.traps, body, at_exit, any_time, shell->state};
	shell->state.traps = made;
}

void sb_model_trap(struct sb_command *call)
{
	struct sb_shell *shell = call->shell;
	bool at_exit = false, any_time = false, inner = false;

	if (call->count < 2)
		return;
	for (size_t i = 1; i < call->count; i++) {
		const struct sb_field *field = call->operands[i];

		at_exit |= is_exit(field) || field->known != SB_KNOWN;
		any_time |= !is_exit(field);
		inner |= is_inner(field);
	}
	/* the new one is instead of the old one */
	for (struct sb_trap **at = &shell->state.traps; *at && !shell->state.maybe;) {
		(*at)->at_exit = (*at)->at_exit && (!at_exit || inner);
		if ((*at)->at_exit || (*at)->any_time)
			at = &(*at)->next;
		else
			*at = (*at)->next;
	}
	if (sb_field_is(call->operands[0], "-") || sb_field_is(call->operands[0], ""))
		return;
	keep(call, at_exit, any_time);
	if (any_time && run_body(shell, call->operands[0]) && inner)
		sb_shell_lose(shell);
}
