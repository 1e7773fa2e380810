#include "shell/shell.h"

#include <string.h>

#define ROUNDS_MOST 64 /* of a loop over words that are known */

static enum sb_ending walk_node(struct sb_shell *shell, const struct sb_node *node);
static enum sb_ending walk_list(struct sb_shell *shell, const struct sb_node *list, bool more);

/* --- what may happen, what happens elsewhere ------------------------------------------------------- */

/* Commands that may run or not; true: they may have left what is around. */
static bool walk_maybe(struct sb_shell *shell, const struct sb_node *list)
{
	struct sb_shell_state before = shell->state;
	unsigned left;

	shell->state.maybe = true;
	sb_commands_walk(shell, list);
	sb_shell_doubt(shell, &before);
	left = shell->state.left;
	shell->state.left = before.left;
	if (!shell->state.lost)
		shell->state.maybe = before.maybe;
	if (left > shell->state.doubt)
		shell->state.doubt = left;
	if (shell->state.doubt > before.doubt)
		shell->state.maybe = true;
	return left != SB_LEFT_NOTHING;
}

/* In a shell of its own; what nobody waits for may be ended before it is done. */
static enum sb_ending walk_apart(struct sb_shell *shell, const struct sb_node *node, bool list,
				 bool waits)
{
	struct sb_shell_state before = shell->state;
	enum sb_ending ending;

	shell->state.maybe |= !waits;
	shell->state.traps = NULL;
	ending = list ? sb_commands_walk(shell, node) : walk_node(shell, node);
	sb_traps_end(shell);
	shell->state = before;
	return ending;
}

/* Before a loop: what any round sets is unknown in the first, too. */
static void forget_rounds(struct sb_shell *shell, const struct sb_node *condition,
			  const struct sb_node *body)
{
	struct sb_shell_state before = shell->state;
	bool silent = shell->silent;

	shell->silent = true;
	shell->state.in_loop++;
	if (condition)
		walk_maybe(shell, condition);
	walk_maybe(shell, body);
	shell->silent = silent;
	shell->state.maybe = before.maybe || shell->state.lost;
	shell->state.doubt = before.doubt;
}

/* Leaving a loop is over at its end; leaving more goes on, by one loop less. */
static void end_loop(struct sb_shell *shell, const struct sb_shell_state *before)
{
	struct sb_shell_state *now = &shell->state;

	now->in_loop = before->in_loop;
	if (now->left && now->left < SB_LEFT_FUNCTION)
		now->left--;
	if (now->doubt > SB_LEFT_LOOP && now->doubt < SB_LEFT_FUNCTION) {
		now->doubt--;
	} else if (now->doubt <= SB_LEFT_LOOP) {
		now->doubt = before->doubt;
		now->maybe = before->maybe || now->lost;
	}
}

/* --- commands with commands inside ------------------------------------------------------------------ */

static enum sb_ending walk_if(struct sb_shell *shell, const struct sb_node *node)
{
	bool first = true;

	for (; node && node->kind == SB_NODE_IF; node = node->other, first = false) {
		enum sb_ending ending = SB_ENDS_OPEN;

		if (first)
			ending = sb_commands_walk(shell, node->condition);
		else
			walk_maybe(shell, node->condition);
		if (ending == SB_ENDS_TRUE)
			return sb_commands_walk(shell, node->body);
		if (ending != SB_ENDS_FALSE)
			walk_maybe(shell, node->body);
		else if (node->other && node->other->kind != SB_NODE_IF)
			return sb_commands_walk(shell, node->other);
		/* a list that is no IF of ours can begin with one: it has no elif's place */
		if (node->other && (node->other->kind != SB_NODE_IF || node->other->next ||
				    node->other->redirects)) {
			walk_maybe(shell, node->other);
			break;
		}
	}
	return SB_ENDS_OPEN;
}

static enum sb_ending walk_while(struct sb_shell *shell, const struct sb_node *node)
{
	struct sb_shell_state before;
	enum sb_ending ending;

	before = shell->state;
	forget_rounds(shell, node->condition, node->body);
	ending = sb_commands_walk(shell, node->condition);
	if (!node->until && ending == SB_ENDS_TRUE)
		sb_commands_walk(shell, node->body);
	else if (!(node->until && ending == SB_ENDS_TRUE))
		walk_maybe(shell, node->body);
	end_loop(shell, &before);
	return SB_ENDS_OPEN;
}

/* Are all of them known, and not too many? */
static bool is_list(const struct sb_field *fields)
{
	size_t count = 0;

	for (; fields; fields = fields->next)
		if (fields->many || fields->known != SB_KNOWN || ++count > ROUNDS_MOST)
			return false;
	return true;
}

static void walk_rounds(struct sb_shell *shell, const struct sb_node *node,
			const struct sb_field *fields)
{
	struct sb_shell_state before = shell->state;

	shell->state.in_loop++;
	for (; fields && !shell->state.left; fields = fields->next) {
		sb_variable_set(shell, node->name, node->name_length, fields->known, fields->text);
		walk_list(shell, node->body, fields->next);
		/* "break" ends the loop, "continue" this round: the rest may come */
		if (shell->state.left == SB_LEFT_LOOP && fields->next) {
			shell->state.left = SB_LEFT_NOTHING;
			shell->state.maybe = true;
		}
	}
	end_loop(shell, &before);
}

static enum sb_ending walk_for(struct sb_shell *shell, const struct sb_node *node)
{
	const struct sb_field *fields = shell->state.arguments;
	struct sb_shell_state before;
	bool one;

	if (node->has_words)
		fields = sb_words_expand(shell, node->words);
	if (!node->asks && is_list(fields) && (node->has_words || shell->state.arguments_known)) {
		walk_rounds(shell, node, fields);
		return SB_ENDS_OPEN;
	}
	before = shell->state;
	one = !node->asks && fields && !fields->next && fields->known == SB_PATTERN_KNOWN &&
	      (node->has_words || shell->state.arguments_known);
	sb_variable_set(shell, node->name, node->name_length, one ? SB_PATTERN_KNOWN : SB_NOT_KNOWN,
			one ? fields->text : "");
	forget_rounds(shell, NULL, node->body);
	sb_variable_set(shell, node->name, node->name_length, one ? SB_PATTERN_KNOWN : SB_NOT_KNOWN,
			one ? fields->text : "");
	walk_maybe(shell, node->body);
	sb_variable_set(shell, node->name, node->name_length, SB_NOT_KNOWN, "");
	end_loop(shell, &before);
	return SB_ENDS_OPEN;
}

static enum sb_ending walk_case(struct sb_shell *shell, const struct sb_node *node)
{
	if (node->words)
		sb_word_expand(shell, node->words, false);
	for (const struct sb_node *item = node->body; item; item = item->next) {
		for (const struct sb_word *word = item->words; word; word = word->next)
			sb_word_inside(shell, word->parts);
		walk_maybe(shell, item->body);
	}
	return SB_ENDS_OPEN;
}

static enum sb_ending walk_expression(struct sb_shell *shell, const struct sb_node *node)
{
	if (node->kind == SB_NODE_TEST) {
		for (const struct sb_word *word = node->words; word; word = word->next)
			sb_word_inside(shell, word->parts);
		return SB_ENDS_OPEN;
	}
	if (node->words) /* none behind a mistake */
		sb_expression(shell, node->words);
	if (node->kind == SB_NODE_FOR_ARITHMETIC) {
		struct sb_shell_state before;

		before = shell->state;
		forget_rounds(shell, NULL, node->body);
		walk_maybe(shell, node->body);
		end_loop(shell, &before);
	}
	return SB_ENDS_OPEN;
}

/* "exit > x" does not leave where x cannot be opened: what follows may come. */
static enum sb_ending walk_simple(struct sb_shell *shell, const struct sb_node *node)
{
	enum sb_ending ending = sb_walk_simple(shell, node);
	struct sb_shell_state *state = &shell->state;

	if (node->redirects && state->left) {
		state->doubt = state->left > state->doubt ? state->left : state->doubt;
		state->left = SB_LEFT_NOTHING;
		state->maybe = true;
	}
	/* nor is ": > x" true then */
	return node->redirects && ending == SB_ENDS_TRUE ? SB_ENDS_WELL : ending;
}

static enum sb_ending walk_node(struct sb_shell *shell, const struct sb_node *node)
{
	if (!shell->steps || shell->arena->spent) {
		if (shell->steps || !shell->state.lost)
			sb_unknown(shell, "(the rest)", 10);
		sb_network(shell, SB_PREVIEW_NETWORK_UNKNOWN);
		shell->steps = 0;
		shell->state.lost = true;
		shell->state.left = SB_LEFT_SHELL;
		return SB_ENDS_OPEN;
	}
	shell->steps--;
	if (node->kind != SB_NODE_SIMPLE)
		sb_walk_redirects(shell, node->redirects);
	switch ((enum sb_node_kind)node->kind) {
	case SB_NODE_SIMPLE:
		return walk_simple(shell, node);
	case SB_NODE_GROUP:
		return sb_commands_walk(shell, node->body);
	case SB_NODE_SUBSHELL:
	case SB_NODE_COPROCESS:
		return walk_apart(shell, node->body, true, node->kind == SB_NODE_SUBSHELL);
	case SB_NODE_IF:
		return walk_if(shell, node);
	case SB_NODE_WHILE:
		return walk_while(shell, node);
	case SB_NODE_FOR:
		return walk_for(shell, node);
	case SB_NODE_CASE:
		return walk_case(shell, node);
	case SB_NODE_ARITHMETIC:
	case SB_NODE_FOR_ARITHMETIC:
	case SB_NODE_TEST:
		return walk_expression(shell, node);
	case SB_NODE_FUNCTION:
		sb_function_set(shell, node->name, node->name_length, node->body);
		return SB_ENDS_WELL;
	case SB_NODE_ITEM:
	case SB_NODE_NOTHING:
		break;
	}
	return SB_ENDS_OPEN;
}

/* --- lists ------------------------------------------------------------------------------------------ */

/* How it is reached, behind a command that ended like this. */
enum reach { NEVER, MAYBE, SURELY };

static enum reach reach_of(enum sb_join join, enum sb_ending ending)
{
	if (join == SB_JOIN_AND)
		return ending == SB_ENDS_FALSE ? NEVER : ending == SB_ENDS_OPEN ? MAYBE : SURELY;
	if (join == SB_JOIN_OR)
		return ending == SB_ENDS_TRUE ? NEVER : ending == SB_ENDS_FALSE ? SURELY : MAYBE;
	return SURELY;
}

static enum sb_ending negated(enum sb_ending ending)
{
	return ending == SB_ENDS_TRUE    ? SB_ENDS_FALSE
	       : ending == SB_ENDS_FALSE ? SB_ENDS_TRUE
					 : SB_ENDS_OPEN;
}

/* One pipeline: each command of several in a shell of its own. */
static enum sb_ending walk_pipeline(struct sb_shell *shell, const struct sb_node *node)
{
	bool several = node->next && node->next->join == SB_JOIN_PIPE;
	bool turned = node->negated;
	const char *directory = shell->state.directory;
	enum sb_ending ending;

	ending = several ? walk_apart(shell, node, false, true) : walk_node(shell, node);
	for (node = node->next; node && node->join == SB_JOIN_PIPE; node = node->next)
		ending = walk_apart(shell, node, false, true);
	if (!turned)
		return ending;
	if (shell->state.directory != directory) /* "! cd d": both ways go on */
		shell->state.directory = shell->state.before = NULL;
	return negated(ending);
}

/* The same where it may not run; in another directory, if it runs where cd has failed. */
static enum sb_ending walk_pipeline_maybe(struct sb_shell *shell, const struct sb_node *node,
					  bool on_failure, const struct sb_shell_state *elsewhere)
{
	struct sb_shell_state before = shell->state, *now = &shell->state;
	unsigned left;

	now->maybe = true;
	now->directory = elsewhere->directory;
	now->before = elsewhere->before;
	now->physical = elsewhere->physical;
	walk_pipeline(shell, node);
	left = now->left;
	/* who comes here afterwards was not there, or changed nothing */
	if (left || (now->directory == elsewhere->directory && now->before == elsewhere->before &&
		     (now->directory || now->before))) {
		now->directory = before.directory;
		now->before = before.before;
		now->physical = before.physical;
	}
	sb_shell_doubt(shell, &before);
	now->left = before.left;
	/* "cd x || exit" leaves only where something is wrong */
	if (left > now->doubt && !on_failure)
		now->doubt = left;
	now->maybe = before.maybe || now->lost || now->doubt > before.doubt;
	return left && node->join == SB_JOIN_OR ? SB_ENDS_TRUE : SB_ENDS_OPEN;
}

static bool is_cd(const struct sb_node *node)
{
	return node->kind == SB_NODE_SIMPLE && node->words && node->words->length == 2 &&
	       memcmp(node->words->text, "cd", 2) == 0;
}

/* Commands joined by && and ||, up to the end. */
static enum sb_ending walk_joined(struct sb_shell *shell, const struct sb_node *node,
				  const struct sb_node *end)
{
	const struct sb_shell_state start = shell->state;
	enum sb_ending ending = SB_ENDS_TRUE;
	bool lone =
		true; /* nothing but the last command went to another directory, and that is cd */

	while (node != end && !shell->state.left) {
		enum reach reach = reach_of(node->join, ending);
		struct sb_shell_state before = shell->state;
		const struct sb_node *first = node;

		if (reach == SURELY) {
			enum sb_ending last = ending;

			ending = walk_pipeline(shell, node);
			/* "cd d && true" is no truer than cd */
			if (node->join == SB_JOIN_AND && ending == SB_ENDS_TRUE)
				ending = last;
		} else if (reach == MAYBE) {
			bool other = node->join == SB_JOIN_OR;

			if (other && before.directory != start.directory) {
				before.directory = lone ? start.directory : NULL;
				before.before = lone ? start.before : before.before;
				before.physical = lone && start.physical;
			}
			ending = walk_pipeline_maybe(shell, node, other && ending == SB_ENDS_WELL,
						     &before);
		}
		lone = shell->state.directory == start.directory ||
		       (before.directory == start.directory && is_cd(first) && !first->negated);
		do
			node = node->next;
		while (node && node->join == SB_JOIN_PIPE);
		/* set -e: a command whose answer is open may end it, unless the answer is asked for */
		if (shell->state.strict && ending == SB_ENDS_OPEN && node == end)
			shell->state.maybe = true;
	}
	return ending;
}

/* more: something follows, whatever the last command said. */
static enum sb_ending walk_list(struct sb_shell *shell, const struct sb_node *list, bool more)
{
	enum sb_ending ending = SB_ENDS_TRUE;

	for (const struct sb_node *node = list, *end; node && !shell->state.left; node = end) {
		struct sb_shell_state before = shell->state;

		for (end = node->next; end && end->join != SB_JOIN_NEXT;)
			end = end->next;
		/* nobody waits: it may be ended before it is done */
		shell->state.maybe |= node->background;
		if (node->background)
			shell->state.traps = NULL;
		ending = walk_joined(shell, node, end);
		if (node->background) {
			sb_traps_end(shell);
			shell->state = before;
			ending = SB_ENDS_TRUE;
		} else if ((end || more) && shell->state.directory != before.directory &&
			   !before.strict && ending != SB_ENDS_TRUE) {
			sb_directory_doubt(shell, before.directory);
		}
	}
	return ending;
}

enum sb_ending sb_commands_walk(struct sb_shell *shell, const struct sb_node *list)
{
	return walk_list(shell, list, false);
}
