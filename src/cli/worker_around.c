/*
 * worker_around.c - the worker in whose world we are: what it has, and whom it may call.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/list.h"
#include "cli/worker.h"
#include "config/file.h"
#include "enforce/inside.h"
#include "enforce/view.h"
#include "path/path.h"

#define ENDING ".worker"

/* --- telling it ------------------------------------------------------------------------------------- */

static void put_line(struct sb_buf *out, const char *word, const char *text)
{
	/* a name is a line, or it is none */
	if (!strchr(text, '\n'))
		sb_buf_printf(out, "%s%s\n", word, text);
}

/* Where a worker that may be called is seen: with the view, or where its caller's file says. */
static void put_called(struct sb_buf *out, const char *file, bool in_view)
{
	SB_AUTO_FREE char *shown = sb_path_join(SB_VIEW_WORKERS, sb_path_name(file));

	if (!shown)
		out->failed = true;
	else
		put_line(out, SB_NOTE_CALLS, in_view || access(shown, F_OK) == 0 ? shown : file);
}

void sb_worker_note(const struct sb_worker *worker, const struct sb_zones *has, const char *temp,
		    struct sb_buf *out)
{
	bool first = !temp;

	put_line(out, SB_NOTE_WORKER, worker->name);
	for (size_t i = 0; i < has->count; i++)
		put_line(out, "/", has->all[i].name);
	put_line(out, SB_NOTE_TEMP, first ? "/tmp" : temp);
	if (worker->network)
		sb_buf_puts(out, SB_NOTE_NETWORK "\n");
	for (size_t i = 0; worker->commands && worker->commands[i]; i++)
		put_line(out, SB_NOTE_COMMAND, worker->commands[i]);
	if (worker->workers && !worker->workers[0])
		put_line(out, SB_NOTE_CALLS, ""); /* nobody */
	for (size_t i = 0; worker->workers && worker->workers[i]; i++)
		put_called(out, worker->workers[i], first);
}

/* --- asking it --------------------------------------------------------------------------------------- */

/*
 * SECURITY: what a worker has is asked of the supervisor, for this very process.
 *
 * Danger: whatever a worker hands to its child (variables, files, descriptors) it can write itself, and would write
 * that it has more.
 * Price: three held calls for each directory.  The names come from a file that the view holds read-only, or from the
 * supervisor.
 * Held by: tests/cli/worker_delegation.py
 */
static int add_actual(struct sb_around *around, const char *path, struct sb_error *err)
{
	enum sb_verdict modify = sb_inside_verdict(SB_MODIFY, path);
	enum sb_verdict create = sb_inside_verdict(SB_CREATE, path);
	enum sb_verdict remove = sb_inside_verdict(SB_DELETE, path);
	struct sb_zone zone = {.write = (enum sb_approval)(modify > create ? modify : create),
			       .remove = (enum sb_approval)remove};

	if (sb_inside_verdict(SB_READ, path) != SB_ALLOW)
		return SB_OK;
	zone.mode = zone.write == SB_APPROVAL_BLOCKED && zone.remove == SB_APPROVAL_BLOCKED
			    ? SB_ZONE_RO
			    : SB_ZONE_RW;
	zone.path = strdup(path);
	zone.name = zone.path ? strdup(path + 1) : NULL;
	return sb_zones_add(&around->has, zone, err);
}

static int add_word(char ***words, const char *word, struct sb_error *err)
{
	size_t count = sb_list_count(*words);

	return sb_list_push(words, &count, strdup(word), err);
}

static int keep(char **out, const char *text, struct sb_error *err)
{
	free(*out);
	*out = strdup(text);
	return *out ? SB_OK : sb_no_memory(err);
}

/* What stands behind word; NULL: the line does not begin with it. */
static const char *behind(const char *line, const char *word)
{
	return strncmp(line, word, strlen(word)) == 0 ? line + strlen(word) : NULL;
}

static int take_line(struct sb_around *around, const char *line, struct sb_error *err)
{
	struct sb_worker *worker = &around->worker;
	const char *text;

	if (*line == '/')
		return add_actual(around, line, err);
	if ((text = behind(line, SB_NOTE_WORKER)))
		return keep(&worker->name, text, err);
	if ((text = behind(line, SB_NOTE_TEMP)))
		return keep(&around->temp, text, err);
	if ((text = behind(line, SB_NOTE_COMMAND)))
		return add_word(&worker->commands, text, err);
	if ((text = behind(line, SB_NOTE_CALLS)))
		return add_word(&worker->workers, text, err);
	worker->network |= strcmp(line, SB_NOTE_NETWORK) == 0;
	return SB_OK;
}

/* The supervisor's word, or that of the view. */
static int read_note(struct sb_buf *text, bool *out_found, struct sb_error *err)
{
	SB_AUTO_FD int fd = sb_inside_note();
	char bytes[4096];
	off_t at = 0;
	ssize_t got;

	if (fd < 0)
		return sb_config_read(SB_VIEW_NOTE, text, out_found, err);
	while ((got = pread(fd, bytes, sizeof bytes, at)) > 0) {
		sb_buf_append(text, bytes, (size_t)got);
		at += got;
	}
	*out_found = true;
	return sb_buf_failed(text) ? sb_no_memory(err) : SB_OK;
}

bool sb_around_is_there(void)
{
	bool mounts;

	return sb_inside(&mounts) && access(SB_VIEW_NOTE, F_OK) == 0;
}

int sb_around_find(struct sb_around *out, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	bool found = false;
	int status = read_note(&text, &found, err);

	*out = (struct sb_around){0};
	if (status == SB_OK && !found)
		return sb_fail(err, SB_E_UNSUPPORTED, 0,
			       "inside another run there is no world of its own for a worker");
	for (char *line = text.data, *end; status == SB_OK && line && *line; line = end + 1) {
		end = line + strcspn(line, "\n");
		if (!*end)
			break;
		*end = '\0';
		status = take_line(out, line, err);
	}
	if (status == SB_OK && !out->worker.name)
		status = keep(&out->worker.name, "?", err);
	return status;
}

/* --- whom it may call ---------------------------------------------------------------------------------- */

static bool is_called(const char *path, const char *name)
{
	const char *last = sb_path_name(path);
	size_t length = strlen(name);

	return strncmp(last, name, length) == 0 &&
	       (!last[length] || strcmp(last + length, ENDING) == 0);
}

int sb_around_called(const struct sb_around *around, const char *file, const char **out,
		     struct sb_error *err)
{
	char *const *calls = around->worker.workers;

	for (size_t i = 0; calls && calls[i]; i++)
		if (is_called(calls[i], sb_path_name(file))) {
			*out = calls[i];
			return SB_OK;
		}
	if (calls)
		return sb_fail(err, SB_E_REFUSED, 0,
			       "'%s' is not among the workers that '%s' may call", file,
			       around->worker.name);
	*out = file;
	if (access(file, F_OK) == 0)
		return SB_OK;
	sb_fail(err, SB_E_MISSING, 0, "there is no worker '%s' here", file);
	return sb_hint(
		err, "a file that the caller can read, or one that 'workers:' of its caller's file "
		     "names");
}
