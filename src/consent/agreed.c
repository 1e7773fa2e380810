#include "consent/agreed.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "path/path.h"

static enum sb_op op_of(enum sb_preview_act act, bool there)
{
	if (act == SB_PREVIEW_DELETE || act == SB_PREVIEW_MOVE)
		return SB_DELETE;
	return there ? SB_MODIFY : SB_CREATE;
}

/* What is not there yet is a directory by the command that makes it. */
static enum sb_thing thing_of(const struct sb_preview_file *file, bool there, mode_t mode)
{
	if (!there)
		return strncmp(file->by, "mkdir ", 6) == 0 ? SB_THING_DIRECTORY : SB_THING_FILE;
	return S_ISREG(mode)   ? SB_THING_FILE
	       : S_ISDIR(mode) ? SB_THING_DIRECTORY
	       : S_ISLNK(mode) ? SB_THING_LINK
			       : SB_THING_NODE;
}

static bool has(const struct sb_agreed_list *list, enum sb_op op, enum sb_thing thing,
		const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->all[i].op == op && list->all[i].thing == thing &&
		    strcmp(list->all[i].path, path) == 0)
			return true;
	return false;
}

/* One file of the preview; where the place cannot be found it asks when it happens. */
static void add(const struct sb_policy *policy, const struct sb_preview_file *file,
		struct sb_agreed_list *out)
{
	/* what is removed or moved is a link itself, what is written lies where it leads */
	bool itself = file->act == SB_PREVIEW_DELETE || file->act == SB_PREVIEW_MOVE;
	SB_AUTO_FREE char *path = NULL;
	struct stat info = {0};
	enum sb_thing thing;
	enum sb_op op;
	bool there;

	if (file->act == SB_PREVIEW_READ)
		return;
	if (file->certainty == SB_UNKNOWN || file->pattern ||
	    (itself ? sb_path_canonical_parent(file->path, &path, NULL)
		    : sb_path_canonical(file->path, &path, NULL, NULL)) != SB_OK) {
		out->unsaid = true;
		return;
	}
	there = lstat(path, &info) == 0;
	op = op_of(file->act, there);
	thing = thing_of(file, there, info.st_mode);
	if (sb_decide(policy, op, path).verdict == SB_ASK && !has(out, op, thing, path))
		out->all[out->count++] =
			(struct sb_agreed){.op = op, .thing = thing, .path = sb_take_ptr(&path)};
}

int sb_agreed_find(const struct sb_policy *policy, const char *command,
		   const struct sb_preview_options *options, struct sb_agreed_list *out,
		   struct sb_error *err)
{
	struct sb_preview *preview;
	int status = sb_preview(command, strlen(command), options, &preview, err);

	*out = (struct sb_agreed_list){0};
	if (status != SB_OK)
		return status;
	out->unsaid = preview->unknown_count > 0;
	out->all = calloc(preview->file_count + 1, sizeof *out->all);
	if (!out->all)
		status = sb_no_memory(err);
	for (size_t i = 0; status == SB_OK && i < preview->file_count; i++)
		add(policy, &preview->files[i], out);
	sb_preview_free(preview);
	return status;
}

void sb_agreed_done(struct sb_agreed_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->all[i].path);
	free(list->all);
	*list = (struct sb_agreed_list){0};
}

/*
 * SECURITY: a yes before the command starts is for the names that were listed.
 *
 * Danger: the text of a command is chosen by whoever wants it to run, and a preview can be led astray.  A yes must open
 * nothing that was not read in the question: not where a link of that name leads by then, no name that a program outside
 * obeys, no file that runs as its owner.
 * Price: what is made as another kind than the text shows (a link, a FIFO) asks again.
 * Held by: tests/cli/ask_first.py, tests/mcp/ask_first.py
 */
bool sb_agreed_covers(const struct sb_agreed_list *list, const struct sb_wish *wish)
{
	if (!list || wish->guard || wish->sets_id || wish->shows_content || wish->leads_to ||
	    wish->arrives || wish->decision.verdict != SB_ASK || wish->op == SB_READ)
		return false;
	/* what it has made it may go on writing */
	return has(list, wish->op, wish->thing, wish->path) ||
	       (wish->op == SB_MODIFY && has(list, SB_CREATE, wish->thing, wish->path));
}

const char *sb_agreed_verb(enum sb_op op)
{
	return op == SB_CREATE ? "create" : op == SB_DELETE ? "delete or move" : "change";
}
