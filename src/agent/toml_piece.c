/*
 * toml_piece.c - tables of ours in a TOML file that others write, too.
 *
 * codex prints tables anew when it changes one beside them, without comments and with other
 * quotes.  So ours are known by what they say: a group is a header, the tables beneath that
 * follow it and all their keys, and its summary is compared with that of the text which we would
 * write.
 */
#include <string.h>

#include "agent/settings_impl.h"
#include "agent/toml.h"
#include "base/auto.h"

struct group {
	bool open;
	size_t start, end;        /* from the header to the last value */
	struct sb_buf all, shape; /* what it says; the same without paths and options */
	bool mentions;            /* a command that calls our hook, in whatever way */
};

struct looking {
	const struct sb_agent *agent;
	const char *path; /* of the group's header */
	bool hook;
	struct group group; /* the one that is read */
	const struct group *ours;
	struct sb_toml_piece *out;
	bool unclear;
};

static bool is_beneath(const char *path, const char *top)
{
	size_t length = strlen(top);

	return strncmp(path, top, length) == 0 && (!path[length] || path[length] == SB_TOML_DOT[0]);
}

static void group_done(struct group *group)
{
	sb_buf_done(&group->all);
	sb_buf_done(&group->shape);
	*group = (struct group){.all = SB_BUF(SB_SETTINGS_LIMIT),
				.shape = SB_BUF(SB_SETTINGS_LIMIT)};
}

static void put_item(const struct sb_toml_item *item, const char *value, struct sb_buf *out)
{
	sb_buf_printf(out, "%c%c%s=%s\n",
		      item->header    ? 'h'
		      : item->element ? 'e'
				      : 'k',
		      item->listed ? 'l' : ' ', item->path, value);
}

/* Is it what differs between two pieces of ours? */
static bool is_own_command(const struct looking *looking, const char *text)
{
	return looking->hook ? sb_piece_is_command(looking->agent, text) : sb_piece_is_server(text);
}

static void summarize(struct looking *looking, const struct sb_toml_item *item)
{
	struct group *group = &looking->group;
	const char *value = item->string ? item->string : item->word ? item->word : "";

	group->end = item->end > group->end ? item->end : group->end;
	put_item(item, value, &group->all);
	if (item->string && !item->element && is_own_command(looking, item->string))
		put_item(item, "ours", &group->shape);
	else if (!item->element || !item->string || looking->hook)
		put_item(item, value, &group->shape);
	if (item->string && strstr(item->string, "sandbash") && strstr(item->string, "--hook"))
		group->mentions = true;
}

/* The group that was read ends: is it ours? */
static void close_group(struct looking *looking)
{
	struct group *group = &looking->group;
	struct sb_toml_piece *out = looking->out;

	if (group->open && out) {
		bool alike = strcmp(group->shape.data, looking->ours->shape.data) == 0;
		bool same = strcmp(group->all.data, looking->ours->all.data) == 0;

		if ((alike || same) && out->state == SB_PIECE_NONE) {
			out->state = same ? SB_PIECE_SAME : SB_PIECE_OURS;
			out->start = group->start;
			out->end = group->end;
		} else if (alike || same || !looking->hook || group->mentions) {
			out->state = SB_PIECE_THEIRS;
		}
	}
	if (out)
		group_done(group);
}

static int take_item(void *context, const struct sb_toml_item *item, struct sb_error *err)
{
	struct looking *looking = context;
	const char *top = looking->hook ? "hooks" : "mcp_servers";

	(void)err;
	if (item->header) {
		bool begins = strcmp(item->path, looking->path) == 0;

		if (begins && item->listed != looking->hook)
			looking->unclear = true;
		if (begins || !is_beneath(item->path, looking->path) || !looking->group.open)
			close_group(looking);
		/* a table beneath, without the one that it belongs to */
		if (begins || (is_beneath(item->path, looking->path) && !looking->group.open)) {
			looking->group.open = true;
			looking->group.start = item->start;
		}
	} else if (!looking->group.open) {
		/* a table that is a value, or made by dotted names, cannot be gone on with */
		if ((item->top && is_beneath(item->path, top)) ||
		    is_beneath(item->path, looking->path))
			looking->unclear = true;
		return SB_OK;
	}
	if (looking->group.open)
		summarize(looking, item);
	return SB_OK;
}

/* Whole lines, and the comment that we put before them. */
static void widen(const char *text, size_t length, struct sb_toml_piece *piece)
{
	size_t mark = strlen(SB_TOML_ADDED);
	const char *line = memchr(text + piece->end, '\n', length - piece->end);

	piece->end = line ? (size_t)(line - text) + 1 : length;
	while (piece->start && text[piece->start - 1] != '\n')
		piece->start--;
	if (piece->start >= mark && memcmp(text + piece->start - mark, SB_TOML_ADDED, mark) == 0)
		piece->start -= mark;
}

int sb_toml_piece_find(const struct sb_agent *agent, const struct sb_piece *piece, const char *text,
		       size_t length, struct sb_toml_piece *out, struct sb_error *err)
{
	struct sb_toml_piece found = {.state = SB_PIECE_NONE};
	struct looking own = {
		.agent = agent, .path = piece->keys[0], .hook = strcmp(piece->what, "hook") == 0};
	struct looking looking = own;
	int status;

	group_done(&own.group);
	group_done(&looking.group);
	looking.ours = &own.group;
	looking.out = &found;
	status = sb_toml_read(piece->value, strlen(piece->value), take_item, &own, err);
	if (status == SB_OK)
		status = sb_toml_read(text, length, take_item, &looking, err);
	if (status == SB_OK)
		close_group(&looking);
	if (status == SB_OK && looking.unclear)
		status = sb_fail(err, SB_E_INVALID, 0,
				 "'%s' is written in a way that cannot be added to",
				 own.hook ? "hooks" : "mcp_servers");
	group_done(&own.group);
	group_done(&looking.group);
	if (status != SB_OK)
		return status;
	if (found.end)
		widen(text, length, &found);
	*out = found;
	return SB_OK;
}
