#include "policy/folding.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/list.h"
#include "guard/fold.h"
#include "path/path.h"
#include "path/windows.h"

int sb_policy_fold(struct sb_policy *policy, const char *root, struct sb_error *err)
{
	struct sb_folding *folding = policy->folding;

	if (sb_folding_covers(policy, root))
		return SB_OK;
	if (!folding)
		folding = policy->folding = calloc(1, sizeof *folding);
	if (!folding || !SB_GROW(folding->roots, folding->root_count))
		return sb_no_memory(err);
	folding->roots[folding->root_count] = strdup(root);
	if (!folding->roots[folding->root_count])
		return sb_no_memory(err);
	folding->root_count++;
	return SB_OK;
}

bool sb_folding_covers(const struct sb_policy *policy, const char *path)
{
	for (size_t i = 0; policy->folding && i < policy->folding->root_count; i++)
		if (sb_path_within(policy->folding->roots[i], path))
			return true;
	return false;
}

/* One character: what it folds to.  Returns how long that is. */
static size_t fold_one(const char *at, size_t length, char *out)
{
	struct sb_folded ascii;
	uint32_t point;

	sb_fold(at, length, &ascii);
	if (length == 1 || ascii.length == 0 || (signed char)ascii.text[0] >= 0) {
		memcpy(out, ascii.text, ascii.length);
		return ascii.length;
	}
	point = sb_windows_large(sb_utf8_point(at, length));
	if (length == 2) {
		out[0] = (char)(0xc0 | point >> 6);
	} else if (length == 3) {
		out[0] = (char)(0xe0 | point >> 12);
		out[1] = (char)(0x80 | (point >> 6 & 0x3f));
	} else {
		memmove(out, at, length); /* no letters there that are large and small */
		return length;
	}
	out[length - 1] = (char)(0x80 | (point & 0x3f));
	return length;
}

void sb_folding_path(const char *path, char *out)
{
	while (*path) {
		size_t length = sb_utf8_length(path, strnlen(path, 4));

		length = length ? length : 1;
		out += fold_one(path, length, out);
		path += length;
	}
	*out = '\0';
}

int sb_folding_seal(struct sb_policy *policy, struct sb_error *err)
{
	struct sb_folding *folding = policy->folding;
	int status = SB_OK;

	if (!folding)
		return SB_OK;
	folding->entries = calloc(policy->count + 1, sizeof *folding->entries);
	if (!folding->entries)
		return sb_no_memory(err);
	for (; folding->count < policy->count && status == SB_OK;
	     folding->count += status == SB_OK) {
		struct sb_entry *entry = &folding->entries[folding->count];
		char text[PATH_MAX];

		*entry = policy->entries[folding->count];
		sb_folding_path(entry->pattern.text, text);
		status = sb_pattern_parse(text, &entry->pattern, err);
	}
	return status;
}

const struct sb_rule *sb_folding_rule(const struct sb_policy *policy, const struct sb_rule *rule)
{
	for (size_t i = 0; i < policy->folding->count; i++)
		if (rule == &policy->folding->entries[i].rule)
			return &policy->entries[i].rule;
	return rule; /* a hard one, or the system's, which both have */
}

void sb_folding_free(struct sb_folding *folding)
{
	if (!folding)
		return;
	for (size_t i = 0; i < folding->count; i++)
		sb_pattern_done(&folding->entries[i].pattern);
	for (size_t i = 0; i < folding->root_count; i++)
		free(folding->roots[i]);
	free(folding->entries);
	free(folding->roots);
	free(folding);
}
