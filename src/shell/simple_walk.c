#include "shell/shell.h"

#include <string.h>

#include "base/words.h"
#include "shell/models.h"

#define DEPTH_MOST 16 /* of functions that call functions */

/* --- redirections ------------------------------------------------------------------------------- */

static bool is_descriptor(const struct sb_field *field)
{
	size_t digits = strspn(field->text, "0123456789");

	return field->known == SB_KNOWN &&
	       (strcmp(field->text, "-") == 0 ||
		(digits && (!field->text[digits] || strcmp(field->text + digits, "-") == 0)));
}

/* The sign alone stands for the command in the words responsible. */
static void touch_target(struct sb_shell *shell, const struct sb_redirect *redirect)
{
	static const struct {
		const char *sign;
		enum sb_preview_act act;
	} acts[] = {
		[SB_REDIRECT_READ] = {"<", SB_PREVIEW_READ},
		[SB_REDIRECT_WRITE] = {">", SB_PREVIEW_CREATE},
		[SB_REDIRECT_APPEND] = {">>", SB_PREVIEW_MODIFY},
		[SB_REDIRECT_BOTH] = {"<>", SB_PREVIEW_MODIFY},
		[SB_REDIRECT_COPY_IN] = {"<&", SB_PREVIEW_READ},
		[SB_REDIRECT_COPY_OUT] = {">&", SB_PREVIEW_CREATE},
		[SB_REDIRECT_STRING] = {NULL, 0},
	};
	const struct sb_field *target = sb_word_expand(shell, redirect->target, true);
	const char *name = shell->name;
	bool copies = redirect->op == SB_REDIRECT_COPY_IN || redirect->op == SB_REDIRECT_COPY_OUT;

	if (!acts[redirect->op].sign || !target || (copies && is_descriptor(target)))
		return;
	if (copies && (redirect->op == SB_REDIRECT_COPY_IN || redirect->numbered) &&
	    target->known == SB_KNOWN)
		return; /* an error for bash */
	shell->name = acts[redirect->op].sign;
	sb_file_touch(shell, acts[redirect->op].act, target,
		      copies && target->known != SB_KNOWN ? SB_UNKNOWN : SB_CERTAIN);
	shell->name = name;
}

void sb_walk_redirects(struct sb_shell *shell, const struct sb_redirect *redirects)
{
	for (const struct sb_redirect *at = redirects; at; at = at->next) {
		if (at->op == SB_REDIRECT_DOCUMENT)
			sb_word_inside(shell, at->document);
		else if (at->target) /* none behind a mistake */
			touch_target(shell, at);
	}
}

/* --- assignments -------------------------------------------------------------------------------- */

static bool runs_inside(const struct sb_part *part)
{
	for (; part; part = part->next)
		if (part->kind == SB_PART_COMMANDS)
			return true;
	return false;
}

/* Each value and variable; true: a command ran whose end counts. */
static bool assign(struct sb_shell *shell, const struct sb_assignment *list, bool local)
{
	bool ran = false;

	for (const struct sb_assignment *at = list; at; at = at->next) {
		struct sb_field *value = NULL;

		if (at->index)
			sb_word_inside(shell, at->index->parts);
		if (at->array) {
			sb_words_expand(shell, at->value);
		} else if (at->value) {
			value = sb_word_expand(shell, at->value, false);
			ran |= runs_inside(at->value->parts);
		}
		if (at->array || at->append || at->indexed || (at->value && !value))
			sb_variable_set(shell, at->name, at->name_length, SB_NOT_KNOWN, "");
		else
			sb_variable_set(shell, at->name, at->name_length,
					value ? value->known : SB_KNOWN, value ? value->text : "");
		if (local && shell->state.bindings)
			shell->state.bindings->local = true;
	}
	return ran;
}

/* --- calls -------------------------------------------------------------------------------------- */

/* A program of the system by its whole path, or a name; NULL: no name that a model has. */
static const char *model_name(const char *name)
{
	size_t length;

	if (!strchr(name, '/'))
		return name;
	length = sb_words_begin("/bin/ /usr/bin/ /usr/local/bin/ /sbin/ /usr/sbin/", name);
	return length && !strchr(name + length, '/') ? name + length : NULL;
}

/* What a function made local is as before. */
static void leave_function(struct sb_shell *shell, const struct sb_shell_state *before)
{
	struct sb_shell_state *now = &shell->state;
	struct sb_binding *newest = now->bindings;

	for (struct sb_binding *at = newest; at && at != before->bindings; at = at->next) {
		const char *text;
		enum sb_knowledge known;

		if (!at->local)
			continue;
		now->bindings = before->bindings;
		known = sb_variable_get(shell, at->name, at->name_length, &text);
		now->bindings = newest;
		sb_variable_set(shell, at->name, at->name_length, now->lost ? SB_NOT_KNOWN : known,
				text);
		newest = now->bindings;
	}
	now->in_function = before->in_function;
	now->in_loop = before->in_loop;
	now->arguments = before->arguments;
	now->arguments_known = before->arguments_known && !now->lost;
	if (now->left == SB_LEFT_FUNCTION)
		now->left = SB_LEFT_NOTHING;
	if (now->doubt <= SB_LEFT_FUNCTION && !now->lost)
		now->maybe = before->maybe;
	if (now->doubt <= SB_LEFT_FUNCTION)
		now->doubt = before->doubt;
}

static enum sb_ending call_function(struct sb_shell *shell, const struct sb_binding *function,
				    struct sb_field *fields)
{
	struct sb_shell_state before = shell->state;

	if (!function->body || shell->depth >= DEPTH_MOST) {
		sb_command_unknown(shell, fields);
		sb_shell_lose(shell);
		return SB_ENDS_OPEN;
	}
	shell->depth++;
	shell->state.arguments = fields->next;
	shell->state.arguments_known = true;
	shell->state.in_function = true;
	shell->state.in_loop = 0;
	shell->run(shell, function->body);
	leave_function(shell, &before);
	shell->depth--;
	return SB_ENDS_OPEN;
}

static enum sb_ending call_model(struct sb_shell *shell, const struct sb_model *model,
				 struct sb_field *fields)
{
	struct sb_command call = {.shell = shell, .model = model, .ending = model->ending};

	if (!(model->flags & SB_MODEL_BUILTIN) && !shell->silent)
		sb_outlook_program(shell->outlook, fields->text);
	/* the two that every program of GNU has, and that do nothing */
	if (!(model->flags & (SB_MODEL_BUILTIN | SB_MODEL_RAW)) && fields->next &&
	    !fields->next->next && sb_field_is_one(fields->next, "--help --version"))
		return SB_ENDS_WELL;
	if (!sb_command_read(&call, fields->next))
		return SB_ENDS_OPEN;
	if (model->act >= 0)
		sb_command_each(&call, (enum sb_preview_act)model->act, model->from);
	if (model->run)
		model->run(&call);
	return call.ending;
}

enum sb_ending sb_walk_call(struct sb_shell *shell, struct sb_field *fields)
{
	const char *name = shell->name, *known;
	const struct sb_binding *function;
	const struct sb_model *model;
	enum sb_ending ending = SB_ENDS_OPEN;

	if (fields->known != SB_KNOWN || fields->many) {
		sb_command_unknown(shell, fields);
		sb_shell_lose(shell);
		return SB_ENDS_OPEN;
	}
	shell->name = fields->text;
	function = shell->no_functions ? NULL : sb_function_get(shell, fields->text);
	shell->no_functions = false;
	known = model_name(fields->text);
	model = known ? sb_models_find(known) : NULL;
	if (function) {
		ending = call_function(shell, function, fields);
	} else if (model) {
		ending = call_model(shell, model, fields);
	} else {
		if (!shell->silent)
			sb_outlook_program(shell->outlook, fields->text);
		sb_command_unknown(shell, fields);
	}
	shell->name = name;
	return ending;
}

/* Are variables before this one set while commands of the text run? */
static bool sees_variables(const struct sb_shell *shell, const struct sb_field *field)
{
	return field->known != SB_KNOWN || sb_function_get(shell, field->text) ||
	       sb_field_is_one(field, "eval . source command builtin trap");
}

/* What stood before a command is as before it; where its commands saw them, shells differ. */
static void forget_prefix(struct sb_shell *shell, const struct sb_assignment *list,
			  const struct sb_shell_state *before, bool seen)
{
	struct sb_shell_state *now = &shell->state;

	for (const struct sb_assignment *at = list; at; at = at->next) {
		struct sb_binding *newest = now->bindings;
		const char *text;
		enum sb_knowledge known;

		now->bindings = before->bindings;
		known = sb_variable_get(shell, at->name, at->name_length, &text);
		now->bindings = newest;
		sb_variable_set(shell, at->name, at->name_length,
				seen || now->lost ? SB_NOT_KNOWN : known, text);
	}
}

static bool is_path(const struct sb_assignment *list)
{
	for (; list; list = list->next)
		if ((list->name_length == 4 && memcmp(list->name, "PATH", 4) == 0) ||
		    (list->name_length > 3 && memcmp(list->name, "LD_", 3) == 0))
			return true;
	return false;
}

/* "X=1 command": it has X, and so has what it runs. */
static enum sb_ending call_prefixed(struct sb_shell *shell, const struct sb_node *node,
				    struct sb_field *fields)
{
	struct sb_shell_state before = shell->state;
	bool seen = sees_variables(shell, fields), path = is_path(node->assignments);
	enum sb_ending ending;

	assign(shell, node->assignments, false);
	shell->state.maybe |= path;
	ending = sb_walk_call(shell, fields);
	forget_prefix(shell, node->assignments, &before, seen);
	if (!seen)
		shell->state.separators = before.separators || shell->state.lost;
	if (seen || path)
		shell->state.maybe = before.maybe || shell->state.lost;
	return ending;
}

static bool is_declaration(const struct sb_node *node)
{
	const struct sb_model *model;
	char name[16];

	if (!node->words || node->words->length >= sizeof name)
		return false;
	memcpy(name, node->words->text, node->words->length);
	name[node->words->length] = '\0';
	model = sb_models_find(name);
	return model && model->run == sb_model_declare;
}

/* declare -i, -u, -l */
static bool is_altering(const struct sb_field *fields)
{
	for (; fields; fields = fields->next)
		if (fields->known == SB_KNOWN && *fields->text == '-' &&
		    strpbrk(fields->text, "iul"))
			return true;
	return false;
}

enum sb_ending sb_walk_simple(struct sb_shell *shell, const struct sb_node *node)
{
	struct sb_field *fields = sb_words_expand(shell, node->words);
	bool declares = is_declaration(node);
	bool local = declares && !strchr("er", node->words->text[0]);

	if (!fields || declares) {
		bool ran = assign(shell, node->assignments, local);

		sb_walk_redirects(shell, node->redirects);
		if (!fields)
			return ran || node->words ? SB_ENDS_OPEN : SB_ENDS_TRUE;
		if (is_altering(fields->next))
			for (const struct sb_assignment *at = node->assignments; at; at = at->next)
				sb_variable_alter(shell, at->name, at->name_length);
		return sb_walk_call(shell, fields);
	}
	sb_walk_redirects(shell, node->redirects);
	if (node->assignments)
		return call_prefixed(shell, node, fields);
	return sb_walk_call(shell, fields);
}
