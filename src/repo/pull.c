/*
 * pull.c - files of a repository, at one commit, into a zone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/list.h"
#include "repo/place.h"
#include "repo/preview.h"
#include "repo/zone.h"

#define MAX_FILES 20000
#define MAX_FILE_BYTES ((size_t)64 << 20)
#define MAX_BYTES ((size_t)1 << 30)

struct entry {
	char *path;
	char oid[SB_REPO_OID_SIZE];
	size_t bytes;
	bool executable;
};

struct pull {
	const struct sb_repo_request *request;
	struct sb_git git;
	struct sb_branch branch;
	const char *rest; /* in the zone */
	struct entry *all;
	size_t count, bytes;
	char **made; /* directories, those around others first */
	size_t made_count;
	struct sb_repo_result *result;
};

static int bad_name(const char *path, struct sb_error *err)
{
	char shown[120];

	return sb_fail(err, SB_E_REFUSED, 0,
		       "the repository has a file '%s', which no directory should have",
		       sb_escape_line(shown, sizeof shown, path));
}

static int too_much(const char *path, const char *most, struct sb_error *err)
{
	char shown[120];

	sb_fail(err, SB_E_REFUSED, 0, "'%s' is more than is pulled at once: %s",
		sb_escape_line(shown, sizeof shown, path), most);
	return sb_hint(err, "name the paths that you need");
}

/* "100644 blob OID  SIZE\tPATH" */
static int take_entry(struct pull *pull, char *line, struct sb_error *err)
{
	char *path = strchr(line, '\t'), oid[SB_REPO_OID_SIZE], kind[16], bytes[32];
	struct entry *entry;
	unsigned mode;

	if (!path || sscanf(line, "%o %15s %64s %31s", &mode, kind, oid, bytes) != 4)
		return sb_fail(err, SB_E_SYSTEM, 0,
			       "git lists files in another form than expected");
	path++;
	if (mode == 0160000 || mode == 0120000) {
		sb_repo_leave_out(pull->result, path, mode == 0160000 ? "a submodule" : "a link");
		return SB_OK;
	}
	if (!sb_repo_is_plain(path))
		return bad_name(path, err);
	if (strcmp(kind, "blob") != 0 || (mode & 0170000) != 0100000)
		return bad_name(path, err);
	if (pull->count == MAX_FILES)
		return too_much(path, "20,000 files", err);
	if (!SB_GROW(pull->all, pull->count))
		return sb_no_memory(err);
	entry = &pull->all[pull->count];
	*entry = (struct entry){.path = strdup(path), .executable = mode & 0100};
	if (!entry->path)
		return sb_no_memory(err);
	pull->count++;
	memcpy(entry->oid, oid, sizeof oid);
	entry->bytes = strtoull(bytes, NULL, 10);
	if (entry->bytes > MAX_FILE_BYTES)
		return too_much(path, "64 MB in one file", err);
	pull->bytes += entry->bytes;
	return pull->bytes > MAX_BYTES ? too_much(path, "1 GB", err) : SB_OK;
}

static int list(struct pull *pull, struct sb_error *err)
{
	SB_AUTO_FREE struct sb_git_child *child = malloc(sizeof *child);
	SB_AUTO_BUF struct sb_buf line = SB_BUF(64 * 1024);
	const char *const *paths = pull->request->paths;
	const char *args[1024] = {"ls-tree",        "-r", "-z", "-l", "--full-tree",
				  pull->branch.oid, "--"};
	size_t count = 7;
	bool more = true;
	int status;

	for (; paths && *paths; paths++) {
		if (count == sizeof args / sizeof args[0] - 1)
			return sb_fail(err, SB_E_INVALID, 0, "more than a thousand paths at once");
		if (!sb_repo_is_plain(*paths))
			return sb_fail(err, SB_E_INVALID, 0, "'%s' is no path in a repository",
				       *paths);
		args[count++] = *paths;
	}
	status = child ? sb_git_start(&pull->git, SB_GIT_LOOK, args, child, err)
		       : sb_no_memory(err);
	if (status != SB_OK)
		return status;
	sb_git_end_input(child);
	while (status == SB_OK) {
		status = sb_git_read_to(child, '\0', &line, &more, err);
		if (status != SB_OK || !more)
			break;
		status = take_entry(pull, line.data, err);
	}
	return sb_git_end(child, "ls-tree", status, err);
}

/* Every path that was named is there, or with something in it. */
static int check_paths(const struct pull *pull, struct sb_error *err)
{
	const char *const *paths = pull->request->paths;

	for (; paths && *paths; paths++) {
		size_t length = strlen(*paths), i = 0;

		while (i < pull->count &&
		       (strncmp(pull->all[i].path, *paths, length) != 0 ||
			(pull->all[i].path[length] && pull->all[i].path[length] != '/')))
			i++;
		if (i == pull->count)
			return sb_fail(err, SB_E_MISSING, 0, "the repository has no file '%s'",
				       *paths);
	}
	return SB_OK;
}

/* By their paths, what is in a directory right behind its name. */
static int compare_paths(const void *a, const void *b)
{
	const char *one = (*(const struct entry *const *)a)->path;
	const char *other = (*(const struct entry *const *)b)->path;

	while (*one && *one == *other) {
		one++;
		other++;
	}
	/* no byte of a name is a slash, which counts as one right behind the end */
	return (*one == '/' ? 1
		: *one      ? 1 + (unsigned char)*one
			    : 0) -
	       (*other == '/' ? 1
		: *other      ? 1 + (unsigned char)*other
			      : 0);
}

/* Git writes no tree in which a name comes twice; whoever puts one together by hand may. */
static int check_twice(const struct pull *pull, struct sb_error *err)
{
	SB_AUTO_FREE const struct entry **sorted = calloc(pull->count + 1, sizeof *sorted);

	if (!sorted)
		return sb_no_memory(err);
	for (size_t i = 0; i < pull->count; i++)
		sorted[i] = &pull->all[i];
	qsort(sorted, pull->count, sizeof *sorted, compare_paths);
	for (size_t i = 1; i < pull->count; i++) {
		const char *path = sorted[i - 1]->path;
		size_t length = strlen(path);

		if (strncmp(path, sorted[i]->path, length) == 0 &&
		    (!sorted[i]->path[length] || sorted[i]->path[length] == '/')) {
			char shown[120];

			return sb_fail(err, SB_E_REFUSED, 0, "the repository has '%s' twice",
				       sb_escape_line(shown, sizeof shown, path));
		}
	}
	return SB_OK;
}

/* --- writing ------------------------------------------------------------------------------------------ */

static int read_blob(struct sb_git_child *child, const struct entry *entry, char *out,
		     struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(1024);
	char expected[128], end;
	bool more;
	int length, status;

	length = snprintf(expected, sizeof expected, "%s\n", entry->oid);
	status = sb_git_write(child, expected, (size_t)length, err);
	if (status == SB_OK)
		status = sb_git_read_to(child, '\n', &line, &more, err);
	snprintf(expected, sizeof expected, "%s blob %zu", entry->oid, entry->bytes);
	if (status == SB_OK && strcmp(line.data, expected) != 0)
		status = sb_fail(err, SB_E_SYSTEM, 0, "git has another object than it has listed");
	if (status == SB_OK)
		status = sb_git_read(child, out, entry->bytes, err);
	return status == SB_OK ? sb_git_read(child, &end, 1, err) : status;
}

/* inner: of the zone; NULL: out of memory, or it is too long. */
static char *path_in(const struct pull *pull, const struct sb_zone_view *view, const char *inner,
		     size_t length)
{
	SB_AUTO_BUF struct sb_buf path = SB_BUF(PATH_MAX);

	sb_buf_printf(&path, "%s/%s%s%.*s", sb_files_root(view->files, 0), pull->rest,
		      *pull->rest && length ? "/" : "", (int)length, inner);
	return sb_buf_failed(&path) ? NULL : strdup(path.data);
}

static int no_room(struct sb_error *err)
{
	return sb_fail(err, SB_E_NOMEM, 0, "a path is too long, or there is no memory");
}

static const struct sb_files_caller caller = {.size = sizeof caller, .tool = "git_pull"};

/* Takes path, which may be NULL. */
static int make_one(struct pull *pull, struct sb_zone_view *view, char *given, struct sb_error *err)
{
	SB_AUTO_FREE struct sb_files_error *why = calloc(1, sizeof *why);
	SB_AUTO_FREE char *path = given;
	bool created = false;

	if (!why || !path || !SB_GROW(pull->made, pull->made_count))
		return no_room(err);
	if (sb_files_mkdir(view->files, &caller, path, true, &created, why) != 0)
		return sb_repo_files_failed(why, err);
	if (created)
		pull->made[pull->made_count++] = sb_take_ptr(&path);
	return SB_OK;
}

/* The directory of the zone that was named, and those around it. */
static int make_rest(struct pull *pull, struct sb_zone_view *view, struct sb_error *err)
{
	const char *rest = pull->rest;
	int status = SB_OK;

	for (size_t length = 0; rest[length] && status == SB_OK;) {
		SB_AUTO_BUF struct sb_buf path = SB_BUF(PATH_MAX);

		length += strspn(rest + length, "/");
		length += strcspn(rest + length, "/");
		sb_buf_printf(&path, "%s/%.*s", sb_files_root(view->files, 0), (int)length, rest);
		status = make_one(pull, view, sb_buf_failed(&path) ? NULL : strdup(path.data), err);
	}
	return status;
}

/* Each directory on the way to a file that was not on the way to the one before. */
static int make_way(struct pull *pull, struct sb_zone_view *view, const char *path,
		    const char *before, struct sb_error *err)
{
	int status = SB_OK;

	for (const char *slash = path; status == SB_OK && (slash = strchr(slash, '/')); slash++)
		if (strncmp(path, before, (size_t)(slash - path) + 1) != 0)
			status = make_one(pull, view,
					  path_in(pull, view, path, (size_t)(slash - path)), err);
	return status;
}

/*
 * SECURITY: the directories are there before the first name is judged.
 *
 * Danger: what a name means hangs on the directories around it (.vscode, objects and refs).  A file whose directory was missing was
 * judged when its turn came, and those before it had been written by then: half of a tree that somebody has refused.
 * Price: directories that are empty for a moment; after a refusal they are removed.
 * Held by: tests/cli/zone_git.py
 */
static int make_directories(struct pull *pull, struct sb_zone_view *view, struct sb_error *err)
{
	int status = make_rest(pull, view, err);
	const char *before = "";

	for (size_t i = 0; i < pull->count && status == SB_OK; i++) {
		status = make_way(pull, view, pull->all[i].path, before, err);
		before = pull->all[i].path;
	}
	return status;
}

/* Nobody is asked about directories that are as empty as when they were made; what is in others stays. */
static void remove_directories(struct pull *pull, struct sb_zone_view *view)
{
	SB_AUTO_FREE struct sb_files_error *why = calloc(1, sizeof *why);

	view->asks_nobody = true;
	for (size_t i = pull->made_count; why && i-- > 0;)
		sb_files_delete(view->files, &caller, pull->made[i], false, why);
	view->asks_nobody = false;
}

static int write_blob(const struct pull *pull, struct sb_zone_view *view, const struct entry *entry,
		      const char *bytes, bool dry, struct sb_error *err)
{
	SB_AUTO_FREE struct sb_files_error *why = calloc(1, sizeof *why);
	SB_AUTO_FREE char *path = path_in(pull, view, entry->path, strlen(entry->path));
	struct sb_files_write_request request = {.size = sizeof request,
						 .data = bytes,
						 .length = entry->bytes,
						 .raw = true,
						 .parents = true,
						 .executable = entry->executable,
						 .dry_run = dry};
	SB_AUTO(sb_files_change_done) struct sb_files_change change = {0};

	if (!why || !path)
		return no_room(err);
	request.path = path;
	if (sb_files_write(view->files, &caller, &request, &change, why) != 0)
		return sb_repo_files_failed(why, err);
	pull->result->files += !dry && change.changed;
	return SB_OK;
}

/* dry: see that all of them may be written, and ask. */
static int write_all(const struct pull *pull, struct sb_zone_view *view, bool dry,
		     struct sb_error *err)
{
	SB_AUTO_FREE struct sb_git_child *child = malloc(sizeof *child);
	int status = child ? sb_git_start(&pull->git, SB_GIT_LOOK,
					  (const char *const[]){"cat-file", "--batch", NULL}, child,
					  err)
			   : sb_no_memory(err);

	if (status != SB_OK)
		return status;
	for (size_t i = 0; i < pull->count && status == SB_OK; i++) {
		const struct entry *entry = &pull->all[i];
		SB_AUTO_FREE char *bytes = malloc(entry->bytes + 1);

		status = bytes ? read_blob(child, entry, bytes, err) : sb_no_memory(err);
		if (status == SB_OK)
			status = write_blob(pull, view, entry, bytes, dry, err);
	}
	return sb_git_end(child, "cat-file", status, err);
}

static int write_files(struct pull *pull, const struct sb_repo_session *session,
		       const struct sb_zone *zone, struct sb_error *err)
{
	struct sb_zone_view view;
	char what[160];
	int status;

	snprintf(what, sizeof what, "%zu files, %zu bytes", pull->count, pull->bytes);
	status = sb_repo_may_write(session, zone, what, err);
	if (status != SB_OK)
		return status;
	status = sb_zone_view_open(&view, session, zone, true, err);
	if (status == SB_OK) {
		status = make_directories(pull, &view, err);
		if (status == SB_OK)
			status = write_all(pull, &view, true, err);
		if (status != SB_OK)
			remove_directories(pull, &view);
	}
	if (status == SB_OK)
		status = write_all(pull, &view, false, err);
	sb_zone_view_close(&view);
	return status;
}

static void tell(struct pull *pull)
{
	struct sb_repo_result *result = pull->result;
	struct sb_buf *text = &result->text;

	sb_repo_left_out(result);
	sb_buf_printf(text, "%zu of %zu files written to ", result->files, pull->count);
	sb_escape_name(text, pull->request->zone, strlen(pull->request->zone));
	sb_buf_printf(text, ", as they are at %.12s", result->commit);
	if (*result->branch) {
		sb_buf_puts(text, " of ");
		sb_escape_name(text, result->branch, strlen(result->branch));
	}
	sb_buf_puts(text, "\n");
}

static int pull_files(struct pull *pull, const struct sb_repo_session *session,
		      struct sb_error *err)
{
	struct sb_repo_result *result = pull->result;
	const struct sb_zone *zone;
	int status = sb_repo_zone(session, pull->request->zone, &zone, &pull->rest, err);

	if (status == SB_OK && zone->mode != SB_ZONE_RW)
		status = sb_fail(err, SB_E_REFUSED, 0, "/%s is read-only", zone->name);
	if (status == SB_OK)
		status = sb_repo_open(session, pull->request->repo, SB_REPO_READS, &pull->git,
				      &result->repo, err);
	if (status == SB_OK)
		status = sb_repo_branch(&pull->git, pull->request->branch, &pull->branch, err);
	if (status != SB_OK)
		return status;
	if (!pull->branch.oid[0])
		return sb_fail(err, SB_E_MISSING, 0, "there is no commit%s%s",
			       pull->branch.name ? " on " : "",
			       pull->branch.name ? pull->branch.name : "");
	memcpy(result->commit, pull->branch.oid, sizeof result->commit);
	result->branch = strdup(pull->branch.name ? pull->branch.name : "");
	status = result->branch ? list(pull, err) : sb_no_memory(err);
	if (status == SB_OK)
		status = check_paths(pull, err);
	if (status == SB_OK)
		status = check_twice(pull, err);
	if (status == SB_OK)
		status = write_files(pull, session, zone, err);
	if (status == SB_OK)
		tell(pull);
	return status;
}

int sb_repo_pull(const struct sb_repo_session *session, const struct sb_repo_request *request,
		 struct sb_repo_result *out, struct sb_error *err)
{
	struct pull pull = {.request = request, .result = out};
	int status;

	sb_repo_result_init(out);
	status = pull_files(&pull, session, err);
	for (size_t i = 0; i < pull.count; i++)
		free(pull.all[i].path);
	free(pull.all);
	for (size_t i = 0; i < pull.made_count; i++)
		free(pull.made[i]);
	free(pull.made);
	free(pull.branch.name);
	sb_git_close(&pull.git);
	return status;
}
