/*
 * Commands that run commands: looked through.
 */
#include <string.h>

#include "shell/models.h"

static enum sb_ending call_inner(struct sb_command *call, struct sb_field *fields)
{
	struct sb_shell *shell = call->shell;
	enum sb_ending ending = SB_ENDS_OPEN;

	if (shell->depth >= SB_DEPTH_MOST) {
		sb_command_unknown(shell, fields);
	} else {
		bool maybe = shell->state.maybe;

		shell->depth++;
		shell->no_functions = true;
		shell->state.maybe |= call->doubt;
		ending = shell->call(shell, fields);
		shell->state.maybe = maybe || shell->state.lost;
		shell->depth--;
	}
	return ending;
}

/* A program starts it: builtins change nothing of ours then. */
static enum sb_ending start(struct sb_command *call, struct sb_field *fields)
{
	struct sb_shell_state before = call->shell->state;
	enum sb_ending ending = fields ? call_inner(call, fields) : SB_ENDS_WELL;

	call->shell->state = before;
	return ending;
}

/* So many operands are its own, then a command: nice, timeout, setsid, flock. */
void sb_model_wrap(struct sb_command *call)
{
	for (size_t i = 0; i < call->model->from && i < call->count; i++)
		if (call->operands[i]->many)
			call->doubt = true;
	if (call->value['o'] && strcmp(call->model->name, "stdbuf") != 0)
		sb_command_act(call, SB_PREVIEW_CREATE, call->value['o'], SB_CERTAIN);
	if (strcmp(call->model->name, "flock") == 0 && call->count)
		sb_command_act(call, SB_PREVIEW_CREATE, call->operands[0], SB_POSSIBLE);
	if (call->has['p'] && strcmp(call->model->name, "flock") != 0)
		return; /* of a process that runs already */
	if (call->value['c']) {
		sb_command_unknown(call->shell, call->value['c']);
		return;
	}
	if (call->count > call->model->from &&
	    sb_field_is(call->operands[call->model->from], "-c")) {
		sb_command_unknown(call->shell, call->rest); /* flock FILE -c COMMAND */
		return;
	}
	call->ending = start(call, sb_command_list(call, call->model->from));
}

/* Variables before the command; their number. */
static size_t take_variables(struct sb_command *call)
{
	size_t from = 0;

	while (from < call->count && call->operands[from]->known == SB_KNOWN &&
	       strchr(call->operands[from]->text, '=')) {
		const char *text = call->operands[from++]->text;

		sb_variable_set(call->shell, text, strcspn(text, "="), SB_NOT_KNOWN, "");
	}
	return from;
}

void sb_model_env(struct sb_command *call)
{
	struct sb_shell_state before = call->shell->state;
	size_t from = take_variables(call);

	if (call->has['i'])
		call->shell->state.lost = true;
	if (call->value['C'])
		sb_directory_enter(call->shell, call->value['C']);
	if (call->has['S']) {
		sb_command_unknown(call->shell, call->value['S']);
	} else {
		if (from && call->count > from)
			call->doubt |= call->operands[from]->many;
		call->ending = start(call, sb_command_list(call, from));
	}
	call->shell->state = before;
}

void sb_model_sudo(struct sb_command *call)
{
	struct sb_shell_state before = call->shell->state;
	size_t from = take_variables(call);

	if (call->has['s'] || call->has['i'] || call->has['e'] || call->has['R'])
		sb_command_whole(call, call->model->name);
	else
		call->ending = start(call, sb_command_list(call, from));
	call->shell->state = before;
}

void sb_model_nohup(struct sb_command *call)
{
	const struct sb_field out = {.text = "nohup.out", .known = SB_KNOWN};

	/* where output is a terminal; at home if it cannot be here */
	sb_command_act(call, SB_PREVIEW_MODIFY, &out, SB_POSSIBLE);
	sb_command_act(call, SB_PREVIEW_MODIFY, sb_field_in_home(call->shell, "/nohup.out"),
		       SB_POSSIBLE);
	call->ending = start(call, call->rest);
}

/* What comes from standard input. */
static struct sb_field *from_input(struct sb_shell *shell)
{
	struct sb_field *field = sb_field_new(shell, SB_NOT_KNOWN, "(from input)", 12);

	if (field)
		field->leads = field->many = true;
	return field;
}

void sb_model_xargs(struct sb_command *call)
{
	const struct sb_field *sign = call->value['I'];
	struct sb_field *fields = sb_command_list(call, 0), **tail = &fields;

	sb_command_value(call, SB_PREVIEW_READ, 'a');
	if (!fields) {
		call->ending = SB_ENDS_WELL; /* echo */
		return;
	}
	for (; *tail; tail = &(*tail)->next) {
		struct sb_field *put = sign || call->has['i'] ? from_input(call->shell) : NULL;

		if (!put ||
		    !strstr((*tail)->text, sign && sign->known == SB_KNOWN ? sign->text : "{}"))
			continue;
		put->many = false;
		put->next = (*tail)->next;
		*tail = put;
	}
	if (!sign && !call->has['i'])
		*tail = from_input(call->shell);
	call->doubt = true; /* how often nobody knows, and there may be nothing */
	start(call, fields);
}

/* --- find ---------------------------------------------------------------------------------------- */

struct search {
	struct sb_command *call;
	size_t starts;
	const struct sb_field *name; /* of -name, where it is the only test of that kind */
	bool either;                 /* "-o": a name says nothing then */
};

/* What it may find beneath one start. */
static struct sb_field *found_in(struct search *search, const struct sb_field *start)
{
	struct sb_field *all = sb_field_beneath(search->call->shell, start);

	if (all && search->name && !search->either && search->name->known == SB_KNOWN &&
	    all->known == SB_PATTERN_KNOWN) {
		struct sb_field *name = sb_field_new(search->call->shell, SB_PATTERN_KNOWN,
						     search->name->text,
						     strlen(search->name->text));

		return name ? sb_field_into(search->call->shell, all, name) : all;
	}
	return all;
}

static const struct sb_field *start_of(struct search *search, size_t i)
{
	return search->starts ? search->call->operands[i] : &sb_field_here;
}

static size_t start_count(const struct search *search)
{
	return search->starts ? search->starts : 1;
}

/* -exec words ... ; or {} +; the index behind it. */
static size_t run_exec(struct search *search, size_t at, bool in_directory)
{
	struct sb_command *call = search->call;
	size_t end = at;

	while (end < call->count && !sb_field_is(call->operands[end], ";") &&
	       !(sb_field_is(call->operands[end], "+") &&
		 sb_field_is(call->operands[end - 1], "{}")))
		end++;
	for (size_t i = 0; i < start_count(search) && i < 16; i++) {
		struct sb_shell_state before = call->shell->state;
		struct sb_field *fields = NULL, **tail = &fields;

		for (size_t j = at; j < end; j++) {
			struct sb_field *copy = strstr(call->operands[j]->text, "{}")
							? found_in(search, start_of(search, i))
							: NULL;

			if (copy && !sb_field_is(call->operands[j], "{}"))
				copy->known = SB_NOT_KNOWN; /* a part of a word */
			if (!copy)
				copy = sb_field_new(call->shell, call->operands[j]->known,
						    call->operands[j]->text,
						    strlen(call->operands[j]->text));
			if (!copy)
				break;
			copy->word = call->operands[j]->word;
			*tail = copy;
			tail = &copy->next;
		}
		if (in_directory)
			call->shell->state.directory = NULL;
		call->shell->state.maybe = true;
		if (fields)
			call_inner(call, fields);
		call->shell->state = before;
	}
	if (start_count(search) > 16)
		sb_command_unknown(call->shell, call->rest);
	return end;
}

static void each_found(struct search *search, enum sb_preview_act act)
{
	for (size_t i = 0; i < start_count(search); i++)
		sb_command_act(search->call, act, found_in(search, start_of(search, i)),
			       SB_POSSIBLE);
}

static void find_names(struct search *search)
{
	for (size_t i = search->starts; i + 1 < search->call->count; i++) {
		search->either |= sb_field_is_one(search->call->operands[i], "-o -or , ! -not");
		if (sb_field_is(search->call->operands[i], "-name"))
			search->name = search->call->operands[i + 1];
	}
}

/* -H, -L, -P, -Olevel, -D what: before the first start. */
static void skip_flags(struct sb_command *call)
{
	while (call->count && call->operands[0]->known == SB_KNOWN &&
	       call->operands[0]->text[0] == '-' && call->operands[0]->text[1] &&
	       strchr("HLPOD", call->operands[0]->text[1])) {
		size_t words = sb_field_is(call->operands[0], "-D") && call->count > 1 ? 2 : 1;

		call->operands += words;
		call->count -= words;
	}
}

void sb_model_find(struct sb_command *call)
{
	struct search search = {.call = call};

	skip_flags(call);
	while (search.starts < call->count &&
	       (call->operands[search.starts]->known != SB_KNOWN ||
		!strchr("-(!", *call->operands[search.starts]->text)))
		search.starts++;
	find_names(&search);
	for (size_t i = 0; i < start_count(&search); i++)
		sb_command_act(call, SB_PREVIEW_READ, start_of(&search, i), SB_CERTAIN);
	for (size_t i = search.starts; i < call->count; i++) {
		const struct sb_field *field = call->operands[i];

		if (sb_field_is_one(field, "-exec -ok -execdir -okdir")) {
			i = run_exec(&search, i + 1, sb_field_is_one(field, "-execdir -okdir"));
		} else if (sb_field_is(field, "-delete")) {
			each_found(&search, SB_PREVIEW_DELETE);
		} else if (sb_field_is_one(field, "-fprint -fprint0 -fls -fprintf") &&
			   i + 1 < call->count) {
			sb_command_act(call, SB_PREVIEW_CREATE, call->operands[++i], SB_CERTAIN);
		} else if (field->known == SB_NOT_KNOWN && (field->many || field->leads)) {
			sb_unknown_word(call->shell, field); /* it may be an action */
			sb_network(call->shell, SB_PREVIEW_NETWORK_UNKNOWN);
		}
	}
}

/* --- shells --------------------------------------------------------------------------------------- */

/* Whether a variable is exported is not followed: one that was set here is unknown there. */
static void become_child(struct sb_shell *shell)
{
	struct sb_binding *ours = shell->state.bindings;
	size_t seen = 0;

	shell->state.bindings = NULL;
	shell->state.traps = NULL;
	shell->state.strict = shell->state.in_function = false;
	shell->state.in_loop = 0;
	for (; ours; ours = ours->next) {
		if (!ours->is_function)
			sb_variable_set(shell, ours->name, ours->name_length, SB_NOT_KNOWN, "");
		if (++seen > 256) {
			shell->state.lost = true;
			break;
		}
	}
	shell->state.separators = false;
	shell->state.maybe |= shell->state.lost;
}

/* Does text have what bash reads otherwise than a plain sh?  Which one sh is nobody knows here. */
static bool is_bash_only(const char *text)
{
	static const char *const signs[] = {
		"$'",      "$\"",       "&>",       "<(",        ">(",     "[[",
		"((",      "=(",        "|&",       "<<<",       ">& ",    "}>",
		"+=",      "@(",        "!(",       "+(",        "?(",     "*(",
		"~+",      "~-",        "function", "coproc",    "select", "pushd",
		"popd",    "source",    "declare",  "typeset",   "let ",   "shopt",
		"builtin", "printf -v", "mapfile",  "readarray", "enable", "${!",
	};

	for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
		if (strstr(text, signs[i]))
			return true;
	return strchr(text, '{') && (strchr(text, ',') || strstr(text, ".."));
}

void sb_model_shell(struct sb_command *call)
{
	struct sb_shell *shell = call->shell;
	struct sb_shell_state before = shell->state;
	const struct sb_field *given = call->rest;
	bool lost;

	if (call->has['n'])
		return;
	if (!call->has['c'] || !given || call->has['l'] || call->has['i'] || call->has['L'] ||
	    given->many || call->doubt || call->has['s']) {
		if (given && !call->has['c'] && !call->has['s'])
			sb_command_act(call, SB_PREVIEW_READ, given, SB_CERTAIN);
		sb_command_whole(call, call->model->name);
		return;
	}
	/* a file that bash reads first, and that may do and set anything */
	lost = strcmp(call->model->name, "bash") == 0 && sb_variable_given(shell, "BASH_ENV");
	become_child(shell);
	if (lost) {
		sb_unknown(shell, "BASH_ENV", 8);
		sb_network(shell, SB_PREVIEW_NETWORK_UNKNOWN);
		sb_shell_lose(shell);
	}
	shell->state.strict = call->has['e'];
	shell->state.arguments = given->next ? given->next->next : NULL;
	shell->state.arguments_known = !given->next || !given->next->many;
	if (strcmp(call->model->name, "bash") != 0 && given->known == SB_KNOWN &&
	    is_bash_only(given->text)) {
		sb_command_whole(call, call->model->name);
		shell->state.maybe = true;
	}
	call->ending = sb_text_run(shell, given);
	sb_traps_end(shell);
	shell->state = before;
}

void sb_model_eval(struct sb_command *call)
{
	struct sb_field *text = NULL;

	for (size_t i = 0; i < call->count; i++) {
		const struct sb_field *word = call->operands[i];

		if (!i && sb_field_is(word, "--"))
			continue;
		if (word->known != SB_KNOWN || word->many) {
			sb_command_whole(call, "eval");
			sb_shell_lose(call->shell);
			return;
		}
		text = text ? sb_field_with(call->shell, sb_field_with(call->shell, text, " "),
					    word->text)
			    : sb_field_new(call->shell, SB_KNOWN, word->text, strlen(word->text));
		if (!text || i > 1000) {
			sb_shell_lose(call->shell);
			return;
		}
		text->word = word->word;
	}
	call->ending = text ? sb_text_run(call->shell, text) : SB_ENDS_TRUE;
}

void sb_model_source(struct sb_command *call)
{
	if (call->count)
		sb_command_act(call, SB_PREVIEW_READ, call->operands[0], SB_CERTAIN);
	sb_command_whole(call, call->model->name);
	sb_shell_lose(call->shell);
}

void sb_model_exec(struct sb_command *call)
{
	call->ending = call->rest ? start(call, call->rest) : SB_ENDS_WELL;
	if (call->rest)
		call->shell->state.left = SB_LEFT_SHELL;
}

/* command, builtin: the same without functions; -v only tells. */
void sb_model_command(struct sb_command *call)
{
	if (!call->has['v'] && !call->has['V'] && call->rest)
		call->ending = call_inner(call, call->rest);
}
