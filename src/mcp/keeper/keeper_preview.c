/*
 * keeper_preview.c - what a command would change, asked about before it starts (C7).
 *
 * Which files these are its text says (sandbash/preview.h), what the rules say to them sb_decide().  A yes answers
 * the command's own questions about exactly these, as long as it runs: enforcement does not rest on the
 * preview.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "mcp/keeper/keeper_child.h"
#include "path/path.h"
#include "sandbash/preview.h"

static enum sb_op op_of(enum sb_preview_act act, const char *path)
{
	struct stat info;

	if (act == SB_PREVIEW_DELETE || act == SB_PREVIEW_MOVE)
		return SB_DELETE;
	return lstat(path, &info) == 0 ? SB_MODIFY : SB_CREATE;
}

/* A directory is one by the command that makes it, where nothing is there. */
static enum sb_thing thing_of(const struct sb_preview_file *file, const char *path)
{
	struct stat info;

	return lstat(path, &info) != 0 && strncmp(file->by, "mkdir ", 6) == 0
		       ? SB_THING_DIRECTORY
		       : sb_child_thing(path);
}

static bool is_granted(const struct keeper *keeper, const struct keeper_needs *needs,
		       const struct keeper_subject *subject)
{
	for (size_t i = 0; i < needs->outside_count; i++)
		if (sb_path_within(needs->outside[i], subject->path))
			return true;
	for (size_t i = 0; i < needs->write_count; i++)
		if (needs->writes[i].op == subject->op &&
		    strcmp(needs->writes[i].path, subject->path) == 0)
			return true;
	return sb_approvals_find(keeper->ahead, subject, true) ||
	       sb_keeper_recall(keeper, subject->op, subject->path, false) != SB_ANSWER_NONE;
}

/* One file of the preview, if the rules would ask about it. */
static void add_write(const struct keeper *keeper, const struct sb_preview_file *file,
		      struct keeper_needs *out)
{
	SB_AUTO_FREE char *path = NULL;
	struct keeper_subject subject;

	if (file->act == SB_PREVIEW_READ || file->certainty == SB_UNKNOWN || file->pattern)
		return;
	/* what is removed or moved is the link, what is written where it leads */
	if ((file->act == SB_PREVIEW_DELETE || file->act == SB_PREVIEW_MOVE
		     ? sb_path_canonical_parent(file->path, &path, NULL)
		     : sb_path_canonical(file->path, &path, NULL, NULL)) != SB_OK)
		return;
	subject = (struct keeper_subject){
		.op = op_of(file->act, path), .thing = thing_of(file, path), .path = path};
	if (sb_decide(keeper->options->setup->policy, subject.op, path).verdict != SB_ASK ||
	    is_granted(keeper, out, &subject))
		return;
	if (out->write_count + out->outside_count >= SB_NEEDS_WRITES) {
		out->unsaid = true;
		return;
	}
	out->writes[out->write_count++] = (struct keeper_write){
		.op = subject.op, .thing = subject.thing, .path = sb_take_ptr(&path)};
	out->asks = true;
}

void sb_needs_preview(const struct keeper *keeper, const char *command, const char *directory,
		      struct keeper_needs *out)
{
	const struct sb_home *home = &keeper->options->setup->home;
	const struct sb_preview_options options = {
		.size = sizeof options, .directory = directory, .home = home->home};
	struct sb_preview *preview;

	if (sb_preview(command, strlen(command), &options, &preview, NULL) != SB_OK)
		return;
	out->unsaid = preview->unknown_count > 0;
	for (size_t i = 0; i < preview->file_count; i++) {
		const struct sb_preview_file *file = &preview->files[i];

		out->unsaid |= file->act != SB_PREVIEW_READ &&
			       (file->certainty == SB_UNKNOWN || file->pattern);
		add_write(keeper, file, out);
	}
	sb_preview_free(preview);
}

struct keeper_approval *sb_needs_agreed(const struct keeper_needs *needs)
{
	struct keeper_approval *agreed = NULL;

	for (size_t i = 0; i < needs->write_count; i++) {
		struct keeper_subject subject = {.op = needs->writes[i].op,
						 .thing = needs->writes[i].thing,
						 .path = needs->writes[i].path};

		sb_approvals_add(&agreed, &subject, true);
		if (subject.op != SB_CREATE)
			continue;
		subject.op = SB_MODIFY; /* what it has made it may go on writing */
		sb_approvals_add(&agreed, &subject, true);
	}
	return agreed;
}
