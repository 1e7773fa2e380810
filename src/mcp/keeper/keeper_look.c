/* keeper_look.c - what a child asks about: was it answered before, and who obeys the name? */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/words.h"
#include "consent/excerpt.h"
#include "judge/judge.h"
#include "mcp/keeper/keeper_child.h"
#include "mcp/wire/rpc.h"
#include "options/set_up.h"
#include "path/path.h"
#include "sys/process.h"

enum sb_answer sb_child_known(const struct child *child, const struct keeper_subject *subject)
{
	enum sb_answer lasting = sb_keeper_recall(child->keeper, subject->op, subject->path,
						  subject->guarded || subject->by_itself);
	const struct keeper_approval *found =
		sb_approvals_find(child->perform->approvals, subject, false);

	/* who was asked ahead was not told that it is such a thing */
	if (!found && (subject->guarded || !subject->by_itself))
		found = sb_approvals_find(child->keeper->ahead, subject, true);
	if (found && lasting != SB_ANSWER_DENY)
		return found->yes ? SB_ANSWER_ONCE : SB_ANSWER_DENY;
	return lasting;
}

/* Two look at a path, the view of the files and the keeper: what both say is said once. */
static void add_note(json_t *notes, json_t *text)
{
	const json_t *note;
	size_t i;

	json_array_foreach(notes, i, note)
	{
		if (json_equal(note, text)) {
			json_decref(text);
			return;
		}
	}
	json_array_append_new(notes, text);
}

void sb_child_note(json_t *notes, const char *text)
{
	add_note(notes, sb_rpc_string(text));
}

void sb_child_note_lines(json_t *notes, const char *lines)
{
	struct sb_text_lines line = sb_text_lines(lines, strlen(lines));

	while (sb_next_line(&line))
		add_note(notes, sb_rpc_text(line.text, line.length));
}

enum sb_thing sb_child_thing(const char *path)
{
	struct stat info;

	return lstat(path, &info) != 0 || S_ISREG(info.st_mode) ? SB_THING_FILE
	       : S_ISDIR(info.st_mode)                          ? SB_THING_DIRECTORY
	       : S_ISLNK(info.st_mode)                          ? SB_THING_LINK
								: SB_THING_NODE;
}

void sb_child_show(struct child *child, const char *old, size_t old_length, const char *content,
		   size_t length)
{
	SB_AUTO_BUF struct sb_buf shown = SB_BUF(2 * SB_EXCERPT_SHOWN);

	if (!content)
		return;
	sb_excerpt_shown(old, old_length, content, length, &shown);
	json_object_set_new(child->question, "content", sb_rpc_shown(shown.data, shown.length));
}

bool sb_child_says_content(const struct sb_guard_row *row, const char *content)
{
	return row && row->kind == SB_GUARD_SAME && content;
}

/*
 * SECURITY: who asks looks for itself who obeys the name.
 *
 * Danger: what a place outside means, the view of the files cannot always tell: that its
 * directory is missing, or the bytes come later, makes a name look harmless.  An answer for the
 * directory would cover it, and the question not say what it is.
 * Price: a table is made, and a directory opened, per question about a change.
 * Held by: tests/mcp/guarded.py
 */
bool sb_child_is_guarded(const struct child *child, enum sb_op op, const char *path,
			 const struct sb_guard_bytes *bytes, json_t *notes,
			 const struct sb_guard_row **out_row)
{
	SB_AUTO_FREE char *parent = sb_path_parent(path);
	SB_AUTO_FD int directory = parent ? sb_sys_open_path(parent) : -1;
	bool makes = strcmp(child->perform->tool, "create_directory") == 0;
	const struct sb_case what = {
		.deed = op == SB_DELETE ? SB_DEED_REMOVE
			: makes         ? SB_DEED_MKDIR
					: SB_DEED_WRITE,
		.site = {.directory = directory < 0 ? -1 : directory,
			 .object = -1,
			 .path = path,
			 .name = strrchr(path, '/') + 1},
	};
	const struct sb_setup *setup = child->keeper->options->setup;
	struct sb_grounds grounds = {.policy = setup->policy};
	struct sb_judgement judgement;
	const struct sb_guard_answer *answer = &judgement.all[0].guard;
	struct sb_guard *guard;
	char text[700];

	if (op == SB_READ)
		return false;
	if (sb_guard_of(setup, setup->policy, &guard, NULL) != SB_OK) {
		sb_child_note(notes, "nobody could find out whether a program outside obeys it");
		return true;
	}
	grounds.guard = guard;
	sb_judge(&grounds, &what, &judgement);
	if (judgement.lands && bytes && bytes->bytes)
		sb_judge_bytes(&grounds, &judgement, (struct sb_guard_bytes){NULL, 0}, *bytes);
	sb_guard_free(guard);
	if (answer->verdict == SB_GUARD_PLAIN)
		return false;
	snprintf(text, sizeof text, "%s obeys it later, outside: %s", answer->row->who,
		 answer->row->why);
	sb_child_note(notes, text);
	if (!sb_child_says_content(answer->row, bytes ? bytes->bytes : NULL))
		sb_child_note_lines(notes, answer->detail);
	if (out_row)
		*out_row = answer->row;
	return true;
}
