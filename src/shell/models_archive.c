/*
 * Archives, compression, copies of trees: what comes out of them is not in the words.
 */
#include <string.h>

#include "shell/models.h"

static bool is_remote(const struct sb_field *field)
{
	const char *colon = field->known == SB_NOT_KNOWN ? NULL : strchr(field->text, ':');
	const char *slash = field->known == SB_NOT_KNOWN ? NULL : strchr(field->text, '/');

	return colon && (!slash || colon < slash);
}

/* "tar xzf a": the first word is letters without a dash. */
static bool take_old_letters(struct sb_command *call, size_t *from)
{
	const struct sb_field *first = call->count ? call->operands[0] : NULL;

	*from = 0;
	if (!first || call->has['x'] || call->has['c'] || call->has['t'] || call->has['r'] ||
	    call->has['u'] || call->has['A'] || call->has['d'])
		return true;
	if (first->known != SB_KNOWN)
		return false;
	*from = 1;
	for (const char *at = first->text; *at; at++) {
		call->has[*at & 127] = true;
		if (strchr("fCTXbIKNVgFL", *at) && *from < call->count)
			call->value[*at & 127] = call->operands[(*from)++];
		else if (strchr("fCTXbIKNVgFL", *at))
			return false;
	}
	return true;
}

void sb_model_tar(struct sb_command *call)
{
	const struct sb_field *archive, *dir;
	size_t from;
	bool read = take_old_letters(call, &from);

	archive = call->value['f'];
	dir = call->value['C'] ? call->value['C'] : &sb_field_here;
	/* what runs programs or names more files elsewhere */
	if (!read || call->has['Z'] || call->has['T'] || call->has['F'] || call->has['I'])
		sb_command_whole(call, "tar");
	if (archive && is_remote(archive))
		sb_network(call->shell, SB_PREVIEW_ONLINE);
	if (call->has['c'] || call->has['r'] || call->has['u'] || call->has['A']) {
		if (archive && !sb_field_is(archive, "-"))
			sb_command_act(call, call->has['c'] ? SB_PREVIEW_CREATE : SB_PREVIEW_MODIFY,
				       archive, SB_CERTAIN);
		for (size_t i = from; i < call->count; i++) {
			const struct sb_field *file = call->operands[i];

			if (call->value['C'] &&
			    file->text[0] != '/') /* -C may stand between them */
				file = sb_field_with(call->shell,
						     sb_field_with(call->shell, dir, "/"),
						     file->known == SB_KNOWN ? file->text : "*");
			sb_command_act(call, SB_PREVIEW_READ, file,
				       call->value['C'] ? SB_POSSIBLE : SB_CERTAIN);
			if (call->has['D'])
				sb_command_act(call, SB_PREVIEW_DELETE, file, SB_POSSIBLE);
		}
		return;
	}
	if (archive && !sb_field_is(archive, "-"))
		sb_command_act(call, SB_PREVIEW_READ, archive, SB_CERTAIN);
	if (call->has['x'] && !call->has['O'])
		for (const struct sb_given_option *at = call->given; at || dir; at = at->next) {
			if (!at ||
			    (at->letter == 'C' && at->value)) /* each -C, or the one there is */
				sb_command_act(call, SB_PREVIEW_CREATE,
					       sb_field_beneath(call->shell, at ? at->value : dir),
					       SB_POSSIBLE);
			if (!at)
				break;
		}
}

void sb_model_unzip(struct sb_command *call)
{
	const struct sb_field *dir = call->value['d'] ? call->value['d'] : &sb_field_here;

	if (call->count)
		sb_command_act(call, SB_PREVIEW_READ, call->operands[0], SB_CERTAIN);
	if (!call->has['l'] && !call->has['p'] && !call->has['t'] && !call->has['Z']) {
		if (call->value['d'])
			sb_command_act(call, SB_PREVIEW_CREATE, dir, SB_POSSIBLE);
		sb_command_act(call, SB_PREVIEW_CREATE, sb_field_beneath(call->shell, dir),
			       SB_POSSIBLE);
	}
}

void sb_model_zip(struct sb_command *call)
{
	const struct sb_field *archive = call->count ? call->operands[0] : NULL;
	const char *dot;

	if (!archive)
		return;
	dot = strrchr(archive->text, '/');
	dot = strchr(dot ? dot : archive->text, '.');
	if (!dot && archive->known == SB_KNOWN && strcmp(archive->text, "-") != 0)
		archive = sb_field_with(call->shell, archive, ".zip");
	sb_command_act(call, SB_PREVIEW_CREATE, archive, SB_CERTAIN);
	for (size_t i = 1; i < call->count; i++) {
		sb_command_act(call, SB_PREVIEW_READ, call->operands[i], SB_CERTAIN);
		if (call->has['m'])
			sb_command_act(call, SB_PREVIEW_DELETE, call->operands[i], SB_CERTAIN);
	}
}

/* gzip, bzip2, xz, zstd and their opposites. */
void sb_model_gzip(struct sb_command *call)
{
	const char *name = call->model->name;
	bool undo = call->has['d'] || strncmp(name, "un", 2) == 0 || strncmp(name, "gun", 3) == 0 ||
		    strncmp(name, "bun", 3) == 0;
	bool keeps = call->has['k'] || (strstr(name, "zst") && !call->has['R']);
	const char *suffix = strstr(name, "zst") ? ".zst"
			     : strchr(name, 'x') ? ".xz"
			     : strchr(name, 'b') ? ".bz2"
						 : ".gz";

	for (size_t i = 0; i < call->count; i++) {
		const struct sb_field *file = call->operands[i];
		size_t length = strlen(file->text), cut = strlen(suffix);
		struct sb_field *made = NULL;

		if (sb_field_is(file, "-"))
			continue;
		sb_command_act(call, SB_PREVIEW_READ, file, SB_CERTAIN);
		if (call->has['c'] || call->has['t'] || call->has['l'])
			continue;
		if (call->has['r'] || file->known == SB_NOT_KNOWN) {
			sb_command_act(call, SB_PREVIEW_MODIFY,
				       file->known == SB_NOT_KNOWN
					       ? file
					       : sb_field_beneath(call->shell, file),
				       SB_POSSIBLE);
			continue;
		}
		if (!undo)
			made = sb_field_with(call->shell, file, suffix);
		else if (length > cut && strcmp(file->text + length - cut, suffix) == 0)
			made = sb_field_new(call->shell, file->known, file->text, length - cut);
		if (made)
			made->word = file->word;
		sb_command_act(call, SB_PREVIEW_CREATE, made ? made : file,
			       made ? SB_CERTAIN : SB_UNKNOWN);
		sb_command_value(call, SB_PREVIEW_CREATE, 'o');
		if (!keeps)
			sb_command_act(call, SB_PREVIEW_DELETE, file, SB_CERTAIN);
	}
}

void sb_model_rsync(struct sb_command *call)
{
	const struct sb_field *last = call->count > 1 ? call->operands[call->count - 1] : NULL;

	for (size_t i = 0; i < call->count; i++) {
		if (is_remote(call->operands[i])) {
			sb_network(call->shell, SB_PREVIEW_ONLINE);
			continue;
		}
		if (call->operands[i] != last) {
			sb_command_act(call, SB_PREVIEW_READ, call->operands[i], SB_CERTAIN);
			if (call->has['R'])
				sb_command_act(call, SB_PREVIEW_DELETE, call->operands[i],
					       SB_POSSIBLE);
		}
	}
	if (call->has['e'])
		sb_command_unknown(call->shell, call->value['e']);
	if (!last || is_remote(last) || call->has['n'])
		return;
	sb_command_act(call, SB_PREVIEW_CREATE, last, SB_POSSIBLE);
	sb_command_act(call, SB_PREVIEW_CREATE, sb_field_beneath(call->shell, last), SB_POSSIBLE);
	if (call->has['D'])
		sb_command_act(call, SB_PREVIEW_DELETE, sb_field_beneath(call->shell, last),
			       SB_POSSIBLE);
}
