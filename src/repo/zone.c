#include "repo/zone.h"

#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "guard/fold.h"
#include "path/path.h"

#define MAX_FILE_BYTES ((size_t)64 << 20)

bool sb_repo_is_plain(const char *path)
{
	size_t total = strlen(path);

	if (!total || total >= PATH_MAX / 2)
		return false;
	for (const char *at = path;;) {
		size_t length = strcspn(at, "/");

		if (!length || length > NAME_MAX || sb_fold_is_git(at, length) ||
		    (at[0] == '.' && (length == 1 || (length == 2 && at[1] == '.'))))
			return false;
		if (!at[length])
			return true;
		at += length + 1;
	}
}

int sb_repo_zone(const struct sb_repo_session *session, const char *path,
		 const struct sb_zone **out, const char **out_rest, struct sb_error *err)
{
	const char *start = path + (path[0] == '/');
	size_t length = strcspn(start, "/"), end = strlen(start);
	SB_AUTO_FREE char *name = strndup(start, length);

	if (!name)
		return sb_no_memory(err);
	*out_rest = start + length + (start[length] == '/');
	*out = sb_zones_find(session->zones, name);
	if (*out && (!**out_rest || sb_repo_is_plain(*out_rest)))
		return SB_OK;
	if (*out && end > length && start[end - 1] == '/')
		return sb_fail(err, SB_E_INVALID, 0, "'%s': leave out the slash at its end", path);
	return sb_fail(err, SB_E_MISSING, 0, "there is no directory '%s'", path);
}

int sb_repo_may_write(const struct sb_repo_session *session, const struct sb_zone *zone,
		      const char *what, struct sb_error *err)
{
	const struct sb_repo_about about = {.op = SB_CREATE,
					    .verb = "write files of a repository into",
					    .path = zone->path,
					    .directory = zone->path,
					    .notes = &what,
					    .note_count = 1};

	if (zone->mode != SB_ZONE_RW)
		return sb_fail(err, SB_E_REFUSED, 0, "/%s is read-only", zone->name);
	if (zone->write == SB_APPROVAL_BLOCKED)
		return sb_fail(err, SB_E_REFUSED, 0, "/%s: writing is blocked", zone->name);
	return zone->write == SB_APPROVAL_ASK ? session->ask(session->context, &about, err) : SB_OK;
}

int sb_repo_files_failed(const struct sb_files_error *why, struct sb_error *err)
{
	enum sb_code code = why->code <= SB_FILES_NEEDS_CONSENT ? SB_E_REFUSED
			    : why->code == SB_FILES_NOT_FOUND   ? SB_E_MISSING
			    : why->code == SB_FILES_NO_MEMORY   ? SB_E_NOMEM
								: SB_E_SYSTEM;

	return sb_fail(err, code, 0, "%s", why->person);
}

/*
 * SECURITY: what leads out of the zone is nobody's to allow.
 *
 * Danger: links in a zone are its worker's.  One that leads to another zone, or to the project's own files, is inside
 * the project, where the rules let files be changed without a question.
 * Price: a link inside a zone to elsewhere cannot be written through.
 * Held by: tests/cli/zone_git.py
 */
static enum sb_files_answer consent(void *context, const struct sb_files_question *question)
{
	const struct sb_zone_view *view = context;
	const struct sb_files_options *theirs = &view->session->files;

	if (view->asks_nobody || !question->root || question->why == SB_FILES_WHY_OUTSIDE)
		return SB_FILES_ANSWER_NO;
	return theirs->consent ? theirs->consent(theirs->context, question)
			       : SB_FILES_ANSWER_NOBODY;
}

static void audit(void *context, const struct sb_files_event *event)
{
	const struct sb_zone_view *view = context;
	const struct sb_files_options *theirs = &view->session->files;

	if (theirs->audit)
		theirs->audit(theirs->context, event);
}

/* Beneath the deepest directory on the way that is there. */
static int make_directory(const struct sb_repo_session *session, const char *path,
			  struct sb_error *err)
{
	SB_AUTO_FREE struct sb_files_error *why = calloc(1, sizeof *why);
	SB_AUTO_FREE char *root = strdup(path);
	struct sb_files *files;
	struct stat info;
	bool made;
	int status;

	while (root && stat(root, &info) != 0) {
		char *parent = sb_path_parent(root);

		free(root);
		root = parent;
	}
	if (!root || !why)
		return sb_no_memory(err);
	if (strcmp(root, path) == 0)
		return SB_OK;
	if (sb_files_open(session->setup->policy, (const char *const[]){root, NULL},
			  &session->files, &files, why) != 0)
		return sb_repo_files_failed(why, err);
	status = sb_files_mkdir(files, NULL, path, true, &made, why) == 0
			 ? SB_OK
			 : sb_repo_files_failed(why, err);
	sb_files_close(files);
	return status;
}

int sb_zone_view_open(struct sb_zone_view *view, const struct sb_repo_session *session,
		      const struct sb_zone *zone, bool writes, struct sb_error *err)
{
	SB_AUTO_FREE struct sb_files_error *why = calloc(1, sizeof *why);
	struct stat info;
	int status = !why     ? sb_no_memory(err)
		     : writes ? make_directory(session, zone->path, err)
			      : SB_OK;

	view->files = NULL;
	view->session = session;
	view->asks_nobody = false;
	view->options = session->files;
	view->options.consent = consent;
	view->options.audit = audit;
	view->options.context = view;
	view->options.read_limit_bytes = view->options.edit_limit_bytes = MAX_FILE_BYTES;
	view->options.ignored = SB_FILES_ALLOW; /* .sandbox is seldom git's */
	if (status != SB_OK)
		return status;
	/* a link in its place since the project's file was read leads anywhere */
	if (lstat(zone->path, &info) != 0 || !S_ISDIR(info.st_mode))
		return sb_fail(err, SB_E_MISSING, 0, "there is nothing in /%s yet", zone->name);
	return sb_files_open(session->setup->policy, (const char *const[]){zone->path, NULL},
			     &view->options, &view->files, why) == 0
		       ? SB_OK
		       : sb_repo_files_failed(why, err);
}

void sb_zone_view_close(struct sb_zone_view *view)
{
	sb_files_close(view->files);
}
