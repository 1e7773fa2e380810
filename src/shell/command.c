/*
 * A command's words: options apart from operands, by its row of the table.
 */
#include <string.h>

#include "shell/models.h"

const struct sb_field sb_field_here = {.text = ".", .known = SB_KNOWN};

static void add_given(struct sb_command *call, int letter, struct sb_field *value)
{
	struct sb_given_option *made = sb_arena_alloc(call->shell->arena, sizeof *made);

	if (!made) {
		call->doubt = true;
		return;
	}
	made->letter = letter;
	made->value = value;
	if (call->last_given)
		call->last_given->next = made;
	else
		call->given = made;
	call->last_given = made;
	call->has[letter & 127] = true;
	if (value)
		call->value[letter & 127] = value;
}

static void doubt(struct sb_command *call, const struct sb_field *field)
{
	if (call->model->flags & SB_MODEL_LAX)
		return;
	call->doubt = true;
	sb_unknown_word(call->shell, field);
}

/* A field for what stands behind at in one. */
static struct sb_field *rest_of(struct sb_command *call, const struct sb_field *field,
				const char *at)
{
	struct sb_field *made = sb_arena_alloc(call->shell->arena, sizeof *made);

	if (!made)
		return NULL;
	*made = *field;
	made->text = at;
	made->next = NULL;
	return made;
}

/* The row for --name, of which the beginning is enough; its mark (":", "?" or 0) and letter. */
static bool find_word(const char *words, const char *name, size_t length, char *mark, int *letter)
{
	for (const char *at = words; at && *at;) {
		size_t size = strcspn(at, ":?= ");
		const char *end = at + strcspn(at, " ");

		if (size >= length && memcmp(at, name, length) == 0) {
			*mark = at[size] == ':' || at[size] == '?' ? at[size] : '\0';
			at += size + (*mark != '\0');
			*letter = *at == '=' ? at[1] : 1;
			return true;
		}
		at = end + strspn(end, " ");
	}
	return false;
}

/* --name, --name=value, --name value; the field behind it. */
static struct sb_field *take_word(struct sb_command *call, struct sb_field *field)
{
	const char *name = field->text + 2;
	size_t length = strcspn(name, "=");
	int letter;
	char mark;

	if (!find_word(call->model->words, name, length, &mark, &letter)) {
		doubt(call, field);
		return field->next;
	}
	if (name[length] == '=') {
		add_given(call, letter, rest_of(call, field, name + length + 1));
	} else if (mark == ':') {
		if (!field->next || field->next->many) {
			doubt(call, field);
			return field->next;
		}
		add_given(call, letter, field->next);
		return field->next->next;
	} else {
		add_given(call, letter, NULL);
	}
	return field->next;
}

/* -abc, -ovalue, -o value; the field behind it. */
static struct sb_field *take_letters(struct sb_command *call, struct sb_field *field)
{
	for (const char *at = field->text + 1; *at; at++) {
		const char *row = call->model->letters && *at != ':' && (unsigned char)*at < 128
					  ? strchr(call->model->letters, *at)
					  : NULL;

		if (!row) {
			doubt(call, field);
			if (!(call->model->flags & SB_MODEL_LAX))
				break;
			add_given(call, (unsigned char)*at & 127, NULL);
		} else if (row[1] != ':') {
			add_given(call, *at, NULL);
		} else if (at[1] || row[2] == ':') {
			add_given(call, *at, at[1] ? rest_of(call, field, at + 1) : NULL);
			break;
		} else if (field->next && !field->next->many) {
			add_given(call, *at, field->next);
			return field->next->next;
		} else {
			doubt(call, field);
			break;
		}
	}
	return field->next;
}

static bool may_be_option(const struct sb_field *field)
{
	return field->known == SB_NOT_KNOWN && (field->leads || field->many);
}

bool sb_command_read(struct sb_command *call, struct sb_field *fields)
{
	size_t count = 0;
	bool options = !(call->model->flags & SB_MODEL_RAW);

	for (struct sb_field *at = fields; at; at = at->next)
		count++;
	call->operands = sb_arena_alloc(call->shell->arena, (count + 1) * sizeof *call->operands);
	if (!call->operands)
		return false;
	for (struct sb_field *at = fields; at;) {
		if (options && sb_field_is(at, "--")) {
			options = false;
			at = at->next;
			if (call->model->flags & SB_MODEL_FIRST && !call->count)
				call->rest = at;
			continue;
		}
		if (options && at->known == SB_KNOWN && at->text[0] == '-' && at->text[1]) {
			at = at->text[1] == '-' ? take_word(call, at) : take_letters(call, at);
			continue;
		}
		if (options && may_be_option(at))
			doubt(call, at);
		if (!call->count)
			call->rest = at;
		call->operands[call->count++] = at;
		at = at->next;
		if (call->model->flags & SB_MODEL_FIRST)
			options = false;
	}
	return true;
}

void sb_command_act(struct sb_command *call, enum sb_preview_act act, const struct sb_field *field,
		    enum sb_certainty at_best)
{
	sb_file_touch(call->shell, act, field,
		      call->doubt && at_best == SB_CERTAIN ? SB_POSSIBLE : at_best);
}

void sb_command_each(struct sb_command *call, enum sb_preview_act act, size_t from)
{
	for (size_t i = from; i < call->count; i++)
		if (!sb_field_is(call->operands[i], "-") || act != SB_PREVIEW_READ)
			sb_command_act(call, act, call->operands[i], SB_CERTAIN);
}

void sb_command_value(struct sb_command *call, enum sb_preview_act act, char letter)
{
	if (call->value[(unsigned char)letter])
		sb_command_act(call, act, call->value[(unsigned char)letter], SB_CERTAIN);
}

#define UNKNOWN_MOST 400

void sb_command_unknown(struct sb_shell *shell, const struct sb_field *fields)
{
	char text[UNKNOWN_MOST + 1];
	size_t length = 0;
	const struct sb_word *last = NULL;

	for (const struct sb_field *at = fields; at && length < UNKNOWN_MOST; at = at->next) {
		const char *word = at->word ? at->word->text : at->text;
		size_t size = at->word ? at->word->length : strlen(at->text);

		if (at->word && at->word == last)
			continue; /* one word that became several */
		last = at->word;
		if (length)
			text[length++] = ' ';
		if (size > UNKNOWN_MOST - length)
			size = UNKNOWN_MOST - length;
		memcpy(text + length, word, size);
		length += size;
	}
	sb_unknown(shell, text, length);
	sb_network(shell, SB_PREVIEW_NETWORK_UNKNOWN);
}

void sb_command_whole(struct sb_command *call, const char *name)
{
	sb_command_unknown(call->shell, &(struct sb_field){.text = name, .next = call->rest});
}

struct sb_field *sb_command_list(struct sb_command *call, size_t from)
{
	struct sb_field *first = NULL, **tail = &first;

	for (size_t i = from; i < call->count; i++) {
		struct sb_field *copy = rest_of(call, call->operands[i], call->operands[i]->text);

		if (!copy)
			return first;
		*tail = copy;
		tail = &copy->next;
	}
	return first;
}
