#include "repo/staged.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/json.h"
#include "base/json_read.h"
#include "config/file.h"

#define DIGITS "0123456789abcdef"

static bool is_id(const char *text)
{
	return strspn(text, DIGITS) == SB_REPO_ID_SIZE - 1 && !text[SB_REPO_ID_SIZE - 1];
}

static char *file_of(const char *state_dir, const char *id)
{
	struct sb_buf path = SB_BUF(64 * 1024);

	sb_buf_printf(&path, "%s/git/staged/%.*s", state_dir, SB_REPO_ID_SIZE - 1, id);
	return sb_buf_take(&path);
}

void sb_staged_done(struct sb_staged *staged)
{
	free(staged->repo);
	free(staged->branch);
	*staged = (struct sb_staged){0};
}

int sb_staged_write(const char *state_dir, const struct sb_staged *staged, struct sb_error *err)
{
	SB_AUTO_FREE char *file = file_of(state_dir, staged->commit);
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	SB_AUTO_FD int lock = -1;
	struct sb_json json;
	int status;

	sb_json_init(&json, &text);
	sb_json_open(&json, '{');
	sb_json_pair(&json, "commit", staged->commit);
	sb_json_pair(&json, "repo", staged->repo);
	sb_json_pair(&json, "branch", staged->branch);
	sb_json_close(&json, '}');
	if (!file || sb_buf_failed(&text))
		return sb_no_memory(err);
	status = sb_config_lock(file, &lock, err);
	return status == SB_OK ? sb_config_replace(file, text.data, text.length, err) : status;
}

static char *member(const struct sb_json_tree *tree, const char *key)
{
	const struct sb_json_node *node = sb_json_member(tree, &tree->nodes[0], key, strlen(key));

	return node && node->type == SB_JSON_STRING && !memchr(node->text, 0, node->length)
		       ? strndup(node->text, node->length)
		       : NULL;
}

int sb_staged_read(const char *state_dir, const char *id, struct sb_staged *out,
		   struct sb_error *err)
{
	SB_AUTO_FREE char *file = NULL, *commit = NULL;
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	struct sb_json_tree tree;
	bool found = false;
	int status;

	*out = (struct sb_staged){0};
	if (!is_id(id))
		return sb_fail(err, SB_E_INVALID, 0, "'%s' is no ID of something staged", id);
	file = file_of(state_dir, id);
	status = file ? sb_config_read(file, &text, &found, err) : sb_no_memory(err);
	if (status != SB_OK)
		return status;
	if (!found)
		return sb_fail(err, SB_E_MISSING, 0, "nothing is staged as '%s'", id);
	if (!sb_json_read(text.data, text.length, &tree)) {
		commit = member(&tree, "commit");
		out->repo = member(&tree, "repo");
		out->branch = member(&tree, "branch");
		sb_json_tree_done(&tree);
	}
	if (!commit || !out->repo || !out->branch || strlen(commit) >= sizeof out->commit ||
	    strncmp(commit, id, strlen(id)) != 0 || strspn(commit, DIGITS) != strlen(commit)) {
		sb_staged_done(out);
		return sb_fail(err, SB_E_BROKEN, 0, "'%s' is not as it was written", file);
	}
	memcpy(out->commit, commit, strlen(commit) + 1);
	return SB_OK;
}

void sb_staged_remove(const char *state_dir, const char *id)
{
	SB_AUTO_FREE char *file = file_of(state_dir, id);

	if (file)
		unlink(file);
}
