/*
 * Programs that read text, and what they write beside it.
 */
#include <string.h>

#include "shell/models.h"

void sb_model_tee(struct sb_command *call)
{
	sb_command_each(call, call->has['a'] ? SB_PREVIEW_MODIFY : SB_PREVIEW_CREATE, 0);
}

void sb_model_sort(struct sb_command *call)
{
	sb_command_each(call, SB_PREVIEW_READ, 0);
	sb_command_value(call, SB_PREVIEW_READ, 'F');
	sb_command_value(call, SB_PREVIEW_CREATE, 'o');
	if (call->has['X']) /* --compress-program */
		sb_unknown(call->shell, "sort --compress-program", 23);
}

/* uniq, xxd: [input [output]] */
void sb_model_uniq(struct sb_command *call)
{
	bool sure = call->count == 2;

	for (size_t i = 0; i < call->count; i++)
		sure = sure && !call->operands[i]->many && call->operands[i]->known == SB_KNOWN;
	if (call->count)
		sb_command_act(call, SB_PREVIEW_READ, call->operands[0], SB_CERTAIN);
	for (size_t i = call->count > 1 ? 1 : 0; i < call->count; i++)
		if (i || call->operands[i]->many || call->operands[i]->known == SB_PATTERN_KNOWN)
			sb_command_act(call, SB_PREVIEW_CREATE, call->operands[i],
				       sure ? SB_CERTAIN : SB_POSSIBLE);
}

/* The first operand is a pattern, unless -e or -f gave one. */
void sb_model_grep(struct sb_command *call)
{
	for (const struct sb_given_option *at = call->given; at; at = at->next)
		if (at->letter == 'f' && at->value)
			sb_command_act(call, SB_PREVIEW_READ, at->value, SB_CERTAIN);
	sb_command_each(call, SB_PREVIEW_READ, call->value['e'] || call->value['f'] ? 0 : 1);
}

static bool is_plain_sed(struct sb_command *call, bool *from_option)
{
	bool plain = true;

	*from_option = false;
	for (const struct sb_given_option *at = call->given; at; at = at->next) {
		if (at->letter == 'e' && at->value) {
			*from_option = true;
			plain = plain && at->value->known == SB_KNOWN &&
				sb_sed_is_plain(at->value->text);
		} else if (at->letter == 'f' && at->value) {
			*from_option = true;
			plain = false;
			sb_command_act(call, SB_PREVIEW_READ, at->value, SB_CERTAIN);
		}
	}
	if (!*from_option)
		plain = call->count && call->operands[0]->known == SB_KNOWN &&
			sb_sed_is_plain(call->operands[0]->text);
	return plain;
}

void sb_model_sed(struct sb_command *call)
{
	const struct sb_field *suffix = call->value['i'];
	bool from_option, plain = is_plain_sed(call, &from_option);

	if (!plain)
		sb_command_whole(call, "sed");
	for (size_t i = !from_option; i < call->count; i++) {
		const struct sb_field *field = call->operands[i];

		sb_command_act(call, call->has['i'] ? SB_PREVIEW_MODIFY : SB_PREVIEW_READ, field,
			       SB_CERTAIN);
		if (suffix && *suffix->text) {
			bool name = suffix->known == SB_KNOWN && !strpbrk(suffix->text, "*/");

			sb_command_act(call, SB_PREVIEW_CREATE,
				       name ? sb_field_with(call->shell, field, suffix->text)
					    : suffix,
				       name ? SB_CERTAIN : SB_UNKNOWN);
		}
	}
}

/* Programs of awk that neither write nor run: by the signs that would. */
void sb_model_awk(struct sb_command *call)
{
	const struct sb_field *program = call->count ? call->operands[0] : NULL;
	bool plain = !call->has['f'] && !call->doubt && program && program->known == SB_KNOWN &&
		     !strpbrk(program->text, "|@") && !strstr(program->text, "system") &&
		     !strstr(program->text, "getline") && !strstr(program->text, "print >") &&
		     !strstr(program->text, "ARG");

	/* ">" compares in a pattern and writes behind print */
	if (plain && strchr(program->text, '>') && strstr(program->text, "print"))
		plain = false;
	if (!plain)
		sb_command_whole(call, "awk");
	for (size_t i = !call->has['f']; i < call->count; i++)
		if (call->operands[i]->known != SB_KNOWN || !strchr(call->operands[i]->text, '='))
			sb_command_act(call, SB_PREVIEW_READ, call->operands[i], SB_CERTAIN);
}

/* With -i the files are changed, whatever the program does beside. */
void sb_model_perl(struct sb_command *call)
{
	const struct sb_field *suffix = call->value['i'];
	bool script = !call->has['e'] && !call->has['E'];

	sb_command_whole(call, call->model->name);
	for (size_t i = 0; i < call->count; i++) {
		if (script && !i) {
			sb_command_act(call, SB_PREVIEW_READ, call->operands[i], SB_CERTAIN);
			continue;
		}
		if (!call->has['i'])
			continue;
		sb_command_act(call, SB_PREVIEW_MODIFY, call->operands[i], SB_POSSIBLE);
		if (suffix && suffix->known == SB_KNOWN && *suffix->text)
			sb_command_act(call, SB_PREVIEW_CREATE,
				       sb_field_with(call->shell, call->operands[i], suffix->text),
				       SB_POSSIBLE);
	}
}

/* split [file [prefix]]: files of a prefix and letters. */
void sb_model_split(struct sb_command *call)
{
	const bool by_lines = strcmp(call->model->name, "split") == 0;
	const struct sb_field x = {.text = by_lines ? "x" : "xx", .known = SB_KNOWN};
	const struct sb_field *prefix = by_lines && call->count > 1 ? call->operands[1] : &x;
	const struct sb_field *text;
	char *pattern;

	if (call->count && !sb_field_is(call->operands[0], "-"))
		sb_command_act(call, SB_PREVIEW_READ, call->operands[0], SB_CERTAIN);
	if (call->value['P'] || (!by_lines && call->value['f']))
		prefix = call->value['P'] ? call->value['P'] : call->value['f'];
	if (call->has['C'])
		sb_command_unknown(call->shell, &(struct sb_field){.text = "split --filter"});
	if (prefix->known != SB_KNOWN || strpbrk(prefix->text, "*?[\\")) {
		sb_command_act(call, SB_PREVIEW_CREATE, prefix, SB_UNKNOWN);
		return;
	}
	text = sb_field_with(call->shell, prefix, "*");
	pattern = text ? (char *)text->text : NULL;
	if (pattern)
		sb_command_act(call, SB_PREVIEW_CREATE,
			       &(struct sb_field){.text = pattern,
						  .known = SB_PATTERN_KNOWN,
						  .word = prefix->word},
			       SB_POSSIBLE);
}

/* Which files a patch is for stands in it. */
void sb_model_patch(struct sb_command *call)
{
	const struct sb_field *dir = call->value['d'] ? call->value['d'] : &sb_field_here;

	for (const struct sb_given_option *at = call->given; at; at = at->next)
		if (at->letter == 'i' && at->value)
			sb_command_act(call, SB_PREVIEW_READ, at->value, SB_CERTAIN);
	if (call->count > 1)
		sb_command_act(call, SB_PREVIEW_READ, call->operands[1], SB_POSSIBLE);
	for (const struct sb_given_option *at = call->given; at; at = at->next)
		if ((at->letter == 'o' || at->letter == 'r') && at->value)
			sb_command_act(call, SB_PREVIEW_CREATE, at->value, SB_POSSIBLE);
	if (call->has['N']) /* --dry-run */
		return;
	if (call->count)
		sb_command_act(call, SB_PREVIEW_MODIFY, call->operands[0], SB_POSSIBLE);
	sb_command_act(call, SB_PREVIEW_MODIFY, sb_field_beneath(call->shell, dir), SB_POSSIBLE);
	sb_command_whole(call, "patch");
}
