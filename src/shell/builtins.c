/*
 * The shell's own commands, as far as they change what the shell knows.
 */
#include <string.h>

#include "shell/models.h"

/* How much of it is a variable's name. */
static size_t name_length(const char *text)
{
	size_t length = 0;

	while ((text[length] | 0x20) >= 'a' || text[length] == '_' ||
	       (length && text[length] >= '0' && text[length] <= '9'))
		length++;
	return length;
}

/* cd, pushd: the directory by its text, as the shell has it. */
void sb_model_cd(struct sb_command *call)
{
	struct sb_shell_state *state = &call->shell->state;
	const char *from = state->directory, *to = NULL, *cdpath;
	const struct sb_field *field = call->count ? call->operands[0] : NULL;
	bool sure, elsewhere;

	if (strcmp(call->model->name, "cd") != 0 && (!field || strchr("+-", *field->text))) {
		state->directory = NULL; /* from the stack */
		state->before = from;
		return;
	}
	elsewhere = sb_variable_get(call->shell, "CDPATH", 6, &cdpath) == SB_KNOWN
			    ? *cdpath != '\0'
			    : sb_variable_given(call->shell, "CDPATH");
	if (!field) {
		if (sb_variable_get(call->shell, "HOME", 4, &to) == SB_KNOWN)
			to = sb_path_of(call->shell, to, &sure);
		else
			to = NULL;
	} else if (sb_field_is(field, "-")) {
		to = state->before;
	} else if (field->known == SB_KNOWN && !call->doubt &&
		   (!elsewhere || strchr("./", *field->text))) {
		to = *field->text ? sb_path_of(call->shell, field->text, &sure) : from;
	}
	state->physical = state->physical && field && from && to &&
			  strncmp(to, from, strlen(to)) == 0 &&
			  (!*to || from[strlen(to)] == '/' || !from[strlen(to)]);
	state->directory = to;
	state->before = from;
	/* who comes from one of two places goes to one of two, or to the one that is named */
	state->strays = (state->stayed || state->strays) && !(field && *field->text == '/');
	state->stayed = NULL;
}

/* export, declare, local, ...: assignments in its words were made already. */
void sb_model_declare(struct sb_command *call)
{
	bool local = !strchr("er", call->model->name[0]);

	/* a name for another; a function for those that it starts */
	if (call->has['n'] || call->doubt || (call->has['f'] && !local))
		sb_shell_lose(call->shell);
	for (size_t i = 0; i < call->count; i++) {
		const struct sb_field *field = call->operands[i];
		const char *sign = field->known == SB_KNOWN ? strchr(field->text, '=') : NULL;

		if (field->known != SB_KNOWN)
			sb_shell_lose(call->shell);
		else if (call->has['i'] || call->has['u'] || call->has['l'])
			sb_variable_alter(call->shell, field->text, strcspn(field->text, "=+["));
		else if (sign)
			sb_variable_set(call->shell, field->text, (size_t)(sign - field->text),
					SB_KNOWN, sign + 1);
		else if (local && !call->has['f'] && !call->has['F'] && !call->has['p'])
			sb_variable_set(call->shell, field->text, strlen(field->text), SB_NOT_KNOWN,
					"");
		if (local && call->shell->state.bindings)
			call->shell->state.bindings->local = true;
	}
}

void sb_model_unset(struct sb_command *call)
{
	if (call->doubt)
		sb_shell_lose(call->shell);
	for (size_t i = 0; i < call->count; i++) {
		const struct sb_field *field = call->operands[i];

		if (field->known != SB_KNOWN || !*field->text ||
		    field->text[name_length(field->text)]) {
			sb_shell_lose(call->shell);
			continue;
		}
		if (!call->has['f'])
			sb_variable_set(call->shell, field->text, strlen(field->text), SB_UNSET,
					"");
		if (!call->has['v'] && sb_function_get(call->shell, field->text))
			sb_function_set(call->shell, field->text, strlen(field->text), NULL);
	}
}

/* set: its words are looked at one by one, since "--" and "+e" mean something. */
void sb_model_set(struct sb_command *call)
{
	struct sb_shell_state *state = &call->shell->state;

	for (size_t i = 0; i < call->count; i++) {
		const struct sb_field *field = call->operands[i];

		if (field->known != SB_KNOWN) {
			state->arguments_known = false;
			state->strict = true;
			return;
		}
		if (strcmp(field->text, "--") == 0 || !strchr("-+", *field->text)) {
			state->arguments =
				sb_command_list(call, i + (strcmp(field->text, "--") == 0));
			state->arguments_known = true;
			return;
		}
		if (*field->text == '-' && (strchr(field->text, 'e') || strchr(field->text, 'o')))
			state->strict = true; /* errexit, or one that is as good as */
		if (*field->text == '-' && (strchr(field->text, 'n') || strchr(field->text, 'f')))
			state->maybe = true; /* nothing runs, or no pattern is one */
		if (strchr(field->text, 'o') && i + 1 < call->count)
			i++;
	}
}

void sb_model_shift(struct sb_command *call)
{
	struct sb_shell_state *state = &call->shell->state;
	const struct sb_field *first = state->arguments;

	if (call->count || (first && (first->many || first->known != SB_KNOWN)))
		state->arguments_known = false;
	else if (first)
		state->arguments = first->next;
}

/* read, mapfile, getopts, let, wait -p: what they name is set to something. */
void sb_model_assigns(struct sb_command *call)
{
	bool read = strcmp(call->model->name, "read") == 0;

	for (const struct sb_given_option *at = call->given; at; at = at->next)
		if (at->value && at->value->known == SB_KNOWN)
			sb_variable_set(call->shell, at->value->text, strlen(at->value->text),
					SB_NOT_KNOWN, "");
	for (size_t i = 0; i < call->count; i++) {
		const struct sb_field *field = call->operands[i];

		if (field->known != SB_KNOWN)
			sb_shell_lose(call->shell);
		else
			sb_variable_set(call->shell, field->text, name_length(field->text),
					SB_NOT_KNOWN, "");
	}
	if (read && call->doubt)
		sb_shell_lose(call->shell);
}

void sb_model_printf(struct sb_command *call)
{
	const struct sb_field *name =
		call->count > 1 && sb_field_is(call->operands[0], "-v") ? call->operands[1] : NULL;

	if (name && name->known == SB_KNOWN)
		sb_variable_set(call->shell, name->text, strlen(name->text), SB_NOT_KNOWN, "");
	else if (name || (call->count && call->operands[0]->known == SB_NOT_KNOWN &&
			  call->operands[0]->leads))
		sb_shell_lose(call->shell);
}

/* How many loops "break N" leaves; 0: nobody knows. */
static unsigned loops_of(const struct sb_command *call)
{
	const char *text = call->count ? call->operands[0]->text : "1";
	unsigned number = 0;

	if (call->count && (call->operands[0]->known != SB_KNOWN || call->operands[0]->many))
		return 0;
	for (; *text >= '0' && *text <= '9' && number < 1000; text++)
		number = number * 10 + (unsigned)(*text - '0');
	if (*text)
		return 0;
	return number < call->shell->state.in_loop ? number : call->shell->state.in_loop;
}

void sb_model_break(struct sb_command *call)
{
	struct sb_shell_state *state = &call->shell->state;
	unsigned loops = loops_of(call);

	if (state->in_loop && !loops) {
		state->doubt = state->doubt > state->in_loop ? state->doubt : state->in_loop;
		state->maybe = true;
	}
	if (state->in_loop)
		state->left = loops ? loops : SB_LEFT_LOOP;
}

void sb_model_leave(struct sb_command *call)
{
	struct sb_shell_state *state = &call->shell->state;

	if (strcmp(call->model->name, "return") != 0) {
		sb_traps_leave(call->shell);
		state->left = SB_LEFT_SHELL;
	} else if (state->in_function) {
		state->left = SB_LEFT_FUNCTION;
	}
}

/* alias, enable, ...: what later words mean is not known any more. */
void sb_model_lose(struct sb_command *call)
{
	sb_unknown(call->shell, call->model->name, strlen(call->model->name));
	sb_shell_lose(call->shell);
}
