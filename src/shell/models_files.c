/*
 * Programs that make, copy, move and remove files.
 */
#include <string.h>

#include "base/words.h"
#include "shell/models.h"

static bool is_several(const struct sb_command *call, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (call->operands[i]->many || call->operands[i]->known == SB_PATTERN_KNOWN)
			return false; /* nobody knows how many */
	return count >= 2;
}

/* A directory by how it is written. */
static bool is_directory(const struct sb_field *field)
{
	return sb_field_is(field, ".") || sb_field_is(field, "..") ||
	       (field->known == SB_KNOWN &&
		(sb_text_ends(field->text, "/.") || sb_text_ends(field->text, "/..")));
}

/* What was there is kept by another name: one with a suffix, with a number, or (by default) either. */
static void keep_backup(struct sb_command *call, const struct sb_field *made)
{
	const struct sb_field *suffix = call->value['S'], *control = call->value['b'];
	struct sb_field from_variable = {.text = ""};
	const char *text;

	if (!made || (!call->has['b'] && !call->has['S']))
		return;
	if (!control && sb_variable_given(call->shell, "VERSION_CONTROL")) {
		from_variable.known =
			sb_variable_get(call->shell, "VERSION_CONTROL", 15, &from_variable.text);
		control = &from_variable;
	}
	if (!sb_field_is_one(control, "simple never none off"))
		sb_command_act(call, SB_PREVIEW_CREATE, sb_field_like(call->shell, made, ".~*~"),
			       SB_POSSIBLE);
	if (sb_field_is_one(control, "numbered t"))
		return;
	if (suffix) {
		text = suffix->known == SB_KNOWN && *suffix->text ? suffix->text : NULL;
	} else {
		enum sb_knowledge known =
			sb_variable_get(call->shell, "SIMPLE_BACKUP_SUFFIX", 20, &text);

		if (known == SB_UNSET || (known == SB_KNOWN && !*text) ||
		    (known == SB_NOT_KNOWN &&
		     !sb_variable_given(call->shell, "SIMPLE_BACKUP_SUFFIX")))
			text = "~";
		else if (known != SB_KNOWN)
			text = NULL;
	}
	sb_command_act(call, SB_PREVIEW_CREATE,
		       text ? sb_field_with(call->shell, made, text)
			    : sb_field_like(call->shell, made, "*"),
		       SB_POSSIBLE);
}

/* Something is made of each source: at the last operand, or in it; whole: sources may be directories. */
static void arrive(struct sb_command *call, bool whole, enum sb_certainty best)
{
	const struct sb_field *into = call->value['t'];
	size_t sources = into ? call->count : call->count ? call->count - 1 : 0;
	const struct sb_field *last = call->count ? call->operands[call->count - 1] : NULL;
	bool inside = into != NULL;

	/* the last of all that a pattern means is where the others go */
	if (!into && last && (last->many || last->known == SB_PATTERN_KNOWN)) {
		sb_command_act(call, SB_PREVIEW_CREATE, last, SB_POSSIBLE);
		sb_command_act(call, SB_PREVIEW_CREATE, sb_field_beneath(call->shell, last),
			       SB_POSSIBLE);
		if (strcmp(call->model->name, "mv") == 0)
			sb_command_act(call, SB_PREVIEW_MOVE, last, SB_POSSIBLE);
	}
	if (!into && call->count >= 2) {
		into = last;
		inside = is_several(call, sources) || is_directory(last) ||
			 (last->known == SB_KNOWN && sb_text_ends(last->text, "/") && !whole);
		if (last->many)
			call->doubt = true;
	}
	if (call->has['T'] && sources == 1 && into) {
		sb_command_act(call, SB_PREVIEW_CREATE, into, best);
		keep_backup(call, into);
		return;
	}
	if (!inside && sources)
		sb_command_act(call, SB_PREVIEW_CREATE, into, SB_POSSIBLE);
	for (size_t i = 0; i < sources; i++) {
		struct sb_field *made = sb_field_into(call->shell, into, call->operands[i]);

		keep_backup(call, made);
		sb_command_act(call, SB_PREVIEW_CREATE, made, inside ? best : SB_POSSIBLE);
	}
	if (!inside && into &&
	    !sb_text_ends(into->text, "/")) /* that is a directory, or not there */
		keep_backup(call, into);
}

static size_t source_count(const struct sb_command *call)
{
	return call->value['t'] ? call->count : call->count ? call->count - 1 : 0;
}

static enum sb_certainty unless_asked(const struct sb_command *call)
{
	return call->has['i'] || call->has['n'] || call->has['u'] ? SB_POSSIBLE : SB_CERTAIN;
}

/* Each directory before it that is written there: made by mkdir -p or install -D, removed by rmdir -p. */
static void act_parents(struct sb_command *call, enum sb_preview_act act,
			const struct sb_field *field)
{
	size_t length = strlen(field->text);

	while (field->known == SB_KNOWN && length) {
		while (length && field->text[length - 1] == '/')
			length--;
		while (length && field->text[length - 1] != '/')
			length--;
		while (length && field->text[length - 1] == '/')
			length--;
		if (length) {
			struct sb_field *parent =
				sb_field_new(call->shell, SB_KNOWN, field->text, length);

			if (parent && !sb_field_is(parent, ".") && !sb_field_is(parent, "..")) {
				parent->word = field->word;
				sb_command_act(call, act, parent, SB_POSSIBLE);
			}
		}
	}
}

void sb_model_copy(struct sb_command *call)
{
	bool whole = call->has['r'] || call->has['R'] || call->has['a'];

	for (size_t i = 0; i < source_count(call); i++)
		sb_command_act(call, SB_PREVIEW_READ, call->operands[i], unless_asked(call));
	if (call->has['k']) { /* --parents: the whole path beneath */
		const struct sb_field *into = call->value['t'];

		if (!into && call->count)
			into = call->operands[call->count - 1];
		if (into)
			sb_command_act(call, SB_PREVIEW_CREATE, sb_field_beneath(call->shell, into),
				       SB_POSSIBLE);
		return;
	}
	arrive(call, whole, unless_asked(call));
}

void sb_model_move(struct sb_command *call)
{
	for (size_t i = 0; i < source_count(call); i++)
		sb_command_act(call, SB_PREVIEW_MOVE, call->operands[i], unless_asked(call));
	arrive(call, true, unless_asked(call));
}

void sb_model_link(struct sb_command *call)
{
	if (!call->has['s'])
		for (size_t i = 0; i < (call->count > 1 ? source_count(call) : call->count); i++)
			sb_command_act(call, SB_PREVIEW_READ, call->operands[i], SB_CERTAIN);
	if (call->count == 1 && !call->value['t']) {
		if (call->operands[0]->many || call->operands[0]->known != SB_KNOWN)
			call->doubt = true;
		struct sb_field *made =
			sb_field_into(call->shell, &sb_field_here, call->operands[0]);

		sb_command_act(call, SB_PREVIEW_CREATE, made, SB_CERTAIN);
		keep_backup(call, made);
		return;
	}
	if (call->has['n']) /* a link to a directory is no directory: then it is like -T, or not */
		call->has['n'] = false;
	arrive(call, true, unless_asked(call));
}

void sb_model_install(struct sb_command *call)
{
	if (call->has['d']) {
		for (size_t i = 0; i < call->count; i++) {
			sb_command_act(call, SB_PREVIEW_CREATE, call->operands[i], SB_POSSIBLE);
			act_parents(call, SB_PREVIEW_CREATE, call->operands[i]);
		}
		return;
	}
	for (size_t i = 0; i < source_count(call); i++)
		sb_command_act(call, SB_PREVIEW_READ, call->operands[i], SB_CERTAIN);
	arrive(call, false, call->has['C'] ? SB_POSSIBLE : SB_CERTAIN);
	if (call->has['D'] && call->count) {
		const struct sb_field *into = call->value['t'] ? call->value['t']
							       : call->operands[call->count - 1];

		if (call->value['t'])
			sb_command_act(call, SB_PREVIEW_CREATE, into, SB_POSSIBLE);
		act_parents(call, SB_PREVIEW_CREATE, into);
	}
}

void sb_model_remove(struct sb_command *call)
{
	for (size_t i = 0; i < call->count; i++)
		sb_command_act(call, SB_PREVIEW_DELETE, call->operands[i],
			       call->has['i'] || call->has['I'] ? SB_POSSIBLE : SB_CERTAIN);
}

void sb_model_mkdir(struct sb_command *call)
{
	bool removes = strcmp(call->model->name, "rmdir") == 0;
	enum sb_preview_act act = removes ? SB_PREVIEW_DELETE : SB_PREVIEW_CREATE;

	for (size_t i = 0; i < call->count; i++) {
		/* one that is there is well with -p */
		sb_command_act(call, act, call->operands[i],
			       call->has['p'] || call->has['i'] ? SB_POSSIBLE : SB_CERTAIN);
		if (call->has['p'])
			act_parents(call, act, call->operands[i]);
	}
}

/* touch, truncate: files that are made unless -c. */
void sb_model_touch(struct sb_command *call)
{
	sb_command_value(call, SB_PREVIEW_READ, 'r');
	for (size_t i = 0; i < call->count; i++)
		sb_command_act(call, call->has['c'] ? SB_PREVIEW_MODIFY : SB_PREVIEW_CREATE,
			       call->operands[i], call->has['c'] ? SB_POSSIBLE : SB_CERTAIN);
}

/* chmod, chown, chgrp: a mode or an owner, then files. */
void sb_model_mode(struct sb_command *call)
{
	bool mode_first = !call->value['F'];

	/* "chmod -x f": what looks like an option is a mode */
	if (strcmp(call->model->name, "chmod") == 0)
		for (const struct sb_given_option *at = call->given; at; at = at->next)
			mode_first = mode_first && !strchr("rwxXstugoa", at->letter);
	sb_command_value(call, SB_PREVIEW_READ, 'F');
	sb_command_each(call, SB_PREVIEW_MODIFY, mode_first);
}

/* if=, of=: in any order; of a file that is not cut what was there stays. */
void sb_model_dd(struct sb_command *call)
{
	for (size_t i = 0; i < call->count; i++) {
		const struct sb_field *field = call->operands[i];
		struct sb_field file = *field;
		bool named = field->known != SB_NOT_KNOWN &&
			     strncmp(field->text + (*field->text != 0), "f=", 2) == 0;

		if (named)
			file.text += 3;
		if (named && *field->text == 'i')
			sb_command_act(call, SB_PREVIEW_READ, &file, SB_CERTAIN);
		else if (named && *field->text == 'o')
			sb_command_act(call, SB_PREVIEW_CREATE, &file, SB_CERTAIN);
		else if (field->word && field->known == SB_NOT_KNOWN && field->word->length > 3 &&
			 memcmp(field->word->text, "of=", 3) == 0)
			sb_command_act(call, SB_PREVIEW_CREATE, field, SB_UNKNOWN);
		else if (field->known == SB_NOT_KNOWN)
			sb_unknown_word(call->shell, field);
	}
}

void sb_model_mktemp(struct sb_command *call)
{
	const struct sb_field *where = call->count ? call->operands[0] : call->value['p'];
	const struct sb_field tmp = {.text = "$TMPDIR/tmp.XXXXXXXXXX", .known = SB_NOT_KNOWN};
	struct sb_field *made;

	if (call->has['u'])
		return;
	if (call->count && (call->has['p'] || call->has['t'] || where->known != SB_KNOWN)) {
		sb_command_act(call, SB_PREVIEW_CREATE, where, SB_UNKNOWN);
		sb_command_unknown(call->shell, where);
	} else if (call->count) {
		size_t length = strlen(where->text), end = length;

		made = sb_field_new(call->shell, SB_PATTERN_KNOWN, where->text, length);
		while (end && where->text[end - 1] != 'X')
			end--;
		for (; made && end && where->text[end - 1] == 'X'; end--)
			((char *)made->text)[end - 1] = '?';
		if (made)
			made->word = where->word;
		sb_command_act(call, SB_PREVIEW_CREATE, made, SB_POSSIBLE);
	} else if (where) {
		sb_command_act(call, SB_PREVIEW_CREATE, sb_field_beneath(call->shell, where),
			       SB_POSSIBLE);
	} else {
		sb_command_act(call, SB_PREVIEW_CREATE, &tmp, SB_POSSIBLE);
	}
}
