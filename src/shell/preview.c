/*
 * The front door: a command in, what it would do out.
 */
#include "sandbash/preview.h"

#include <stdlib.h>
#include <string.h>

#include "shell/shell.h"

/* A command of 10 MB and its tree; what needs more is not known. */
#define ARENA_LIMIT (256UL << 20)
#define STEPS 20000 /* of loops and functions, beside one for each command that is written */

struct whole {
	struct sb_preview preview; /* the first, since it is what callers have */
	struct sb_arena arena;
};

const char *sb_preview_act_name(enum sb_preview_act act)
{
	static const char *const names[] = {"read", "create", "modify", "delete", "move"};

	return names[act];
}

const char *sb_certainty_name(enum sb_certainty certainty)
{
	static const char *const names[] = {"certain", "possible", "unknown"};

	return names[certainty];
}

const char *sb_preview_network_name(enum sb_preview_network network)
{
	static const char *const names[] = {"no", "possible", "yes", "unknown"};

	return names[network];
}

static void set_arguments(struct sb_shell *shell, const char *const *arguments)
{
	struct sb_field **tail = &shell->state.arguments;

	shell->state.arguments_known = arguments != NULL;
	for (size_t i = 1; arguments && arguments[0] && arguments[i]; i++) {
		*tail = sb_field_new(shell, SB_KNOWN, arguments[i], strlen(arguments[i]));
		if (!*tail)
			return;
		tail = &(*tail)->next;
	}
}

/* Functions that are handed on by the environment, and a file that every shell reads first. */
static void look_at_environment(struct sb_shell *shell)
{
	for (const char *const *at = shell->environment; at && *at; at++) {
		size_t length = strcspn(*at, "%=");

		if (strncmp(*at, "BASH_FUNC_", 10) == 0 && strncmp(*at + length, "%%=", 3) == 0)
			sb_function_set(shell, *at + 10, length - 10, NULL);
		if (strncmp(*at, "BASH_ENV=", 9) == 0 && (*at)[9]) {
			sb_unknown(shell, *at, strlen(*at));
			sb_network(shell, SB_PREVIEW_NETWORK_UNKNOWN);
			sb_shell_lose(shell);
		}
	}
}

static bool look(const char *command, size_t length, const struct sb_preview_options *options,
		 struct whole *whole)
{
	struct sb_outlook outlook;
	struct sb_syntax syntax;
	struct sb_shell shell = {.arena = &whole->arena, .outlook = &outlook};
	char *text = sb_arena_copy(&whole->arena, command, length);

	if (!text)
		return false;
	sb_outlook_init(&outlook, &whole->arena);
	sb_syntax_read(&whole->arena, text, length, &syntax);
	shell.home = options->home;
	shell.environment = options->environment;
	shell.state.directory = options->directory;
	shell.state.physical = true;
	shell.run = sb_commands_walk;
	shell.call = sb_walk_call;
	shell.steps = STEPS + syntax.nodes * 2;
	if (syntax.problem) {
		/* lines before the mistake would run: what is in them is said, and all is unknown */
		shell.state.maybe = true;
		sb_unknown(&shell, text, length);
		sb_network(&shell, SB_PREVIEW_NETWORK_UNKNOWN);
	}
	look_at_environment(&shell);
	set_arguments(&shell, options->arguments);
	sb_commands_walk(&shell, syntax.commands);
	sb_traps_end(&shell);
	whole->preview.problem = syntax.problem;
	whole->preview.problem_line = syntax.line;
	if (whole->arena.spent) {
		/* room for the answer is beside the limit */
		whole->arena.limit += ARENA_LIMIT;
		whole->arena.spent = false;
		whole->preview.problem = "too long";
		sb_unknown(&shell, text, length);
		sb_network(&shell, SB_PREVIEW_NETWORK_UNKNOWN);
	}
	return sb_outlook_finish(&outlook, &whole->preview);
}

int sb_preview(const char *command, size_t length, const struct sb_preview_options *options,
	       struct sb_preview **out, struct sb_error *err)
{
	struct sb_preview_options own = {.size = sizeof own};
	struct whole *whole = calloc(1, sizeof *whole);

	if (options)
		memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
	if (!whole)
		return sb_no_memory(err);
	sb_arena_init(&whole->arena, ARENA_LIMIT + length);
	if (!look(command, length, &own, whole)) {
		sb_preview_free(&whole->preview);
		return sb_no_memory(err);
	}
	*out = &whole->preview;
	return SB_OK;
}

void sb_preview_free(struct sb_preview *preview)
{
	struct whole *whole = (struct whole *)preview;

	if (!whole)
		return;
	sb_arena_done(&whole->arena);
	free(whole);
}
