/*
 * stage.c - files of a zone as a commit that no branch has.
 *
 *     look at the zone -> git fast-import -> refs/sandbash/ID -> the note (staged.h)
 *
 * Files that are there are added to the branch's last commit or changed in it.  What is not there stays: a zone may
 * hold a part of the repository only.  A path that is named and missing is one that was removed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/auto.h"
#include "base/escape.h"
#include "base/list.h"
#include "guard/git_config.h"
#include "guard/read.h"
#include "path/path.h"
#include "repo/place.h"
#include "repo/preview.h"
#include "repo/staged.h"
#include "repo/zone.h"

#define MAX_FILES 20000
#define MAX_CONFIG (1024 * 1024)

struct stage {
	const struct sb_repo_session *session;
	const struct sb_repo_request *request;
	struct sb_zone_view view;
	struct sb_git git;
	struct sb_branch base;
	const char *rest;
	char **paths, **removed; /* in the repository */
	size_t count, removed_count;
	struct sb_repo_result *result;
};

/* --- what is in the zone ------------------------------------------------------------------------------- */

/* Of a path in the repository, in the zone. */
static char *place_of(const struct stage *stage, const char *path)
{
	struct sb_buf whole = SB_BUF(PATH_MAX);

	sb_buf_printf(&whole, "%s%s%s%s%s", sb_files_root(stage->view.files, 0),
		      *stage->rest ? "/" : "", stage->rest, *path ? "/" : "", path);
	return sb_buf_take(&whole);
}

/* A file, or what else it is: said and left out. */
static int take(struct stage *stage, const char *path, enum sb_files_type type,
		struct sb_error *err)
{
	char shown[120];

	if (type == SB_FILES_LINK || type == SB_FILES_OTHER) {
		sb_repo_leave_out(stage->result, path,
				  type == SB_FILES_LINK ? "a link" : "a FIFO, socket or device");
		return SB_OK;
	}
	if (!sb_repo_is_plain(path))
		return sb_fail(err, SB_E_REFUSED, 0, "no repository should have a file '%s'",
			       sb_escape_line(shown, sizeof shown, path));
	if (stage->count == MAX_FILES) {
		sb_fail(err, SB_E_REFUSED, 0, "more than 20,000 files are not staged at once");
		return sb_hint(err, "name the paths that are meant");
	}
	return sb_list_push(&stage->paths, &stage->count, strdup(path), err);
}

/* path "": all of it */
static int take_tree(struct stage *stage, const char *path, struct sb_error *err)
{
	SB_AUTO_FREE struct sb_files_error *why = calloc(1, sizeof *why);
	SB_AUTO_FREE char *place = place_of(stage, path);
	SB_AUTO_BUF struct sb_buf name = SB_BUF(PATH_MAX);
	struct sb_files_list_request request = {.size = sizeof request, .path = place};
	struct sb_files_entries entries;
	size_t ends[260] = {0}; /* of the names of directories on the way; a tree is 256 deep */
	int status = SB_OK;

	if (!why || !place)
		return sb_no_memory(err);
	if (sb_files_tree(stage->view.files, NULL, &request, &entries, why) != 0)
		return sb_repo_files_failed(why, err);
	sb_buf_puts(&name, path);
	ends[0] = name.length;
	for (size_t i = 0; i < entries.count && status == SB_OK; i++) {
		const struct sb_files_entry *entry = &entries.all[i];

		if (entry->depth >= 256 || entry->cut) {
			status = sb_fail(err, SB_E_REFUSED, 0,
					 "a directory cannot be read whole, or is too deep");
			break;
		}
		name.length = ends[entry->depth];
		sb_buf_printf(&name, "%s%s", name.length ? "/" : "", entry->name);
		ends[entry->depth + 1] = name.length;
		if (sb_buf_failed(&name))
			status = sb_fail(err, SB_E_REFUSED, 0, "a path is too long");
		else if (entry->type != SB_FILES_DIRECTORY)
			status = take(stage, name.data, entry->type, err);
	}
	if (status == SB_OK && entries.truncated)
		status = sb_fail(err, SB_E_REFUSED, 0, "there are too many files: name paths");
	sb_files_entries_done(&entries);
	return status;
}

static int take_path(struct stage *stage, const char *path, struct sb_error *err)
{
	SB_AUTO_FREE struct sb_files_error *why = calloc(1, sizeof *why);
	SB_AUTO_FREE struct sb_files_info *info = calloc(1, sizeof *info);
	SB_AUTO_FREE char *place = place_of(stage, path);
	char shown[120];

	if (!why || !info || !place)
		return sb_no_memory(err);
	if (!sb_repo_is_plain(path))
		return sb_fail(err, SB_E_INVALID, 0, "'%s' is no path in a repository",
			       sb_escape_line(shown, sizeof shown, path));
	if (sb_files_stat(stage->view.files, NULL, place, false, info, why) != 0)
		return why->code == SB_FILES_NOT_FOUND
			       ? sb_list_push(&stage->removed, &stage->removed_count, strdup(path),
					      err)
			       : sb_repo_files_failed(why, err);
	return info->type == SB_FILES_DIRECTORY ? take_tree(stage, path, err)
						: take(stage, path, info->type, err);
}

static int take_all(struct stage *stage, struct sb_error *err)
{
	const char *const *paths = stage->request->paths;
	int status = SB_OK;

	if (!paths || !*paths)
		return take_tree(stage, "", err);
	for (; *paths && status == SB_OK; paths++)
		status = take_path(stage, *paths, err);
	return status;
}

/* Who removes something has to have had it. */
static int check_removed(const struct stage *stage, struct sb_error *err)
{
	for (size_t i = 0; i < stage->removed_count; i++) {
		SB_AUTO_BUF struct sb_buf said = SB_BUF(64 * 1024);
		const char *path = stage->removed[i];
		char shown[120];
		int status = stage->base.oid[0]
				     ? sb_git_say(&stage->git, SB_GIT_LOOK,
						  (const char *const[]){"ls-tree", "--full-tree",
									stage->base.oid, "--", path,
									NULL},
						  &said, NULL, err)
				     : SB_OK;

		if (status != SB_OK)
			return status;
		if (!said.length)
			return sb_fail(err, SB_E_MISSING, 0, "there is no file '%s' here or there",
				       sb_escape_line(shown, sizeof shown, path));
	}
	return SB_OK;
}

/* --- the commit ------------------------------------------------------------------------------------------ */

/* As git(1) would find it, without includes; what cannot stand in a commit is left out. */
static void add_author(const char *home, struct sb_buf *out)
{
	static const char *const files[] = {".gitconfig", ".config/git/config"};
	static const char *const keys[] = {"user.name", "user.email"};
	char found[2][256] = {"", ""};

	for (size_t i = 0; i < 2; i++) {
		SB_AUTO_FREE char *path = sb_path_join(home, files[i]);
		size_t length = 0;
		SB_AUTO_FREE char *text = path ? sb_read_text(path, MAX_CONFIG, &length) : NULL;
		SB_AUTO(sb_git_config_done) struct sb_git_config config = {0};

		if (!text)
			continue;
		sb_git_config_parse(text, length, &config);
		for (size_t j = 0; j < 2; j++) {
			const char *value = sb_git_config_get(&config, keys[j]);

			if (value && !*found[j] && strlen(value) < sizeof found[j] &&
			    !strpbrk(value, "<>\n\r") && sb_utf8_all_visible(value, strlen(value)))
				memcpy(found[j], value, strlen(value) + 1);
		}
	}
	sb_buf_printf(out, "committer %s <%s> %lld +0000\n", *found[0] ? found[0] : "sandbash",
		      *found[1] ? found[1] : "sandbash@localhost", (long long)time(NULL));
}

/* A path as fast-import(1) reads it. */
static void quote(struct sb_buf *out, const char *path)
{
	sb_buf_putc(out, '"');
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (c < ' ' || c == '"' || c == '\\' || c >= 0x7f)
			sb_buf_printf(out, "\\%03o", c);
		else
			sb_buf_putc(out, *path);
	}
	sb_buf_puts(out, "\"\n");
}

static int send(struct sb_git_child *child, struct sb_buf *text, struct sb_error *err)
{
	if (sb_buf_failed(text))
		return sb_no_memory(err);
	return sb_git_write(child, text->data, text->length, err);
}

static int send_file(struct stage *stage, struct sb_git_child *child, const char *path,
		     struct sb_error *err)
{
	SB_AUTO_FREE struct sb_files_error *why = calloc(1, sizeof *why);
	SB_AUTO_FREE struct sb_files_info *info = calloc(1, sizeof *info);
	SB_AUTO_FREE struct sb_files_text *text = calloc(1, sizeof *text);
	SB_AUTO_FREE char *place = place_of(stage, path);
	SB_AUTO_BUF struct sb_buf line = SB_BUF(8 * PATH_MAX);
	struct sb_files_read_request request = {.size = sizeof request, .path = place, .raw = true};
	int status;

	if (!why || !info || !text || !place)
		return sb_no_memory(err);
	if (sb_files_stat(stage->view.files, NULL, place, false, info, why) != 0 ||
	    sb_files_read(stage->view.files, NULL, &request, text, why) != 0)
		return sb_repo_files_failed(why, err);
	sb_buf_printf(&line, "M %s inline ", info->mode & 0100 ? "100755" : "100644");
	quote(&line, path);
	sb_buf_printf(&line, "data %zu\n", text->length);
	status = send(child, &line, err);
	if (status == SB_OK)
		status = sb_git_write(child, text->data, text->length, err);
	if (status == SB_OK)
		status = sb_git_write(child, "\n", 1, err);
	sb_files_text_done(text);
	return status;
}

static int send_commit(struct stage *stage, struct sb_git_child *child, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf head = SB_BUF(256 * 1024);
	const char *message = stage->request->message;
	int status;

	sb_buf_puts(&head, "feature done\ncommit refs/heads/staged\nmark :1\n");
	add_author(stage->session->setup->home.home, &head);
	sb_buf_printf(&head, "data %zu\n%s\n", strlen(message), message);
	if (stage->base.oid[0])
		sb_buf_printf(&head, "from %s\n", stage->base.oid);
	status = send(child, &head, err);
	for (size_t i = 0; i < stage->removed_count && status == SB_OK; i++) {
		SB_AUTO_BUF struct sb_buf line = SB_BUF(8 * PATH_MAX);

		sb_buf_puts(&line, "D ");
		quote(&line, stage->removed[i]);
		status = send(child, &line, err);
	}
	for (size_t i = 0; i < stage->count && status == SB_OK; i++)
		status = send_file(stage, child, stage->paths[i], err);
	return status == SB_OK ? sb_git_write(child, "\nget-mark :1\ndone\n", 18, err) : status;
}

static int import(struct stage *stage, struct sb_error *err)
{
	SB_AUTO_FREE struct sb_git_child *child = malloc(sizeof *child);
	SB_AUTO_BUF struct sb_buf said = SB_BUF(1024);
	char *commit = stage->result->commit;
	struct sb_error ended;
	bool cut = false;
	int status = child ? sb_git_start(&stage->git, SB_GIT_ADD,
					  (const char *const[]){"fast-import", "--quiet",
								"--date-format=raw", NULL},
					  child, err)
			   : sb_no_memory(err);

	if (status != SB_OK)
		return status;
	status = send_commit(stage, child, err);
	sb_git_end_input(child);
	if (status == SB_OK)
		status = sb_git_read_all(child, &said, &cut, err);
	/* if it stopped reading, its own words say why */
	if (sb_git_finish(child, "fast-import", NULL, &ended) != SB_OK &&
	    (status == SB_OK || err->sys_errno)) {
		*err = ended;
		status = ended.code;
	}
	if (status != SB_OK)
		return status;
	if (said.length && said.data[said.length - 1] == '\n')
		said.data[--said.length] = '\0';
	if ((said.length != 40 && said.length != 64) ||
	    strspn(said.data, "0123456789abcdef") != said.length)
		return sb_fail(err, SB_E_SYSTEM, 0, "git fast-import names no commit");
	memcpy(commit, said.data, said.length + 1);
	snprintf(stage->result->id, SB_REPO_ID_SIZE, "%.12s", commit);
	return SB_OK;
}

/* --- and where it is ------------------------------------------------------------------------------------- */

static int keep(struct stage *stage, struct sb_error *err)
{
	const struct sb_repo_result *result = stage->result;
	const struct sb_staged staged = {.repo = result->repo, .branch = result->branch};
	struct sb_staged note = staged;
	char ref[64], none[SB_REPO_OID_SIZE];
	size_t length = strlen(result->commit);
	int status;

	memcpy(note.commit, result->commit, sizeof note.commit);
	memset(none, '0', length);
	none[length] = '\0';
	snprintf(ref, sizeof ref, "refs/sandbash/%s", result->id);
	status = sb_git_say(
		&stage->git, SB_GIT_SET_REFS,
		(const char *const[]){"update-ref", "--no-deref", ref, result->commit, none, NULL},
		NULL, NULL, err);
	return status == SB_OK ? sb_staged_write(stage->session->setup->home.state_dir, &note, err)
			       : status;
}

static int check_message(const char *message, struct sb_error *err)
{
	size_t length = strlen(message);

	if (!length || strspn(message, " \t\n") == length)
		return sb_fail(err, SB_E_INVALID, 0, "a commit needs a message");
	for (size_t at = 0; at < length;) {
		size_t step = message[at] == '\n' || message[at] == '\t'
				      ? 1
				      : sb_utf8_visible(message + at, length - at);

		if (!step || length > 64 * 1024)
			return sb_fail(
				err, SB_E_INVALID, 0,
				"a message is text, without characters that do not show, and "
				"at most 64 KB of it");
		at += step;
	}
	return SB_OK;
}

static int stage_files(struct stage *stage, struct sb_error *err)
{
	struct sb_repo_result *result = stage->result;
	const struct sb_zone *zone;
	int status = check_message(stage->request->message, err);

	if (status == SB_OK)
		status = sb_repo_zone(stage->session, stage->request->zone, &zone, &stage->rest,
				      err);
	if (status == SB_OK)
		status = sb_repo_open(stage->session, stage->request->repo, SB_REPO_STAGES,
				      &stage->git, &result->repo, err);
	if (status == SB_OK)
		status = sb_zone_view_open(&stage->view, stage->session, zone, false, err);
	if (status == SB_OK)
		status = take_all(stage, err);
	if (status == SB_OK && !stage->count && !stage->removed_count)
		status = sb_fail(err, SB_E_MISSING, 0, "there is no file in %s to stage",
				 stage->request->zone);
	if (status == SB_OK)
		status = sb_repo_branch(&stage->git, stage->request->branch, &stage->base, err);
	if (status == SB_OK)
		status = check_removed(stage, err);
	result->branch = strdup(stage->base.name ? stage->base.name : "");
	if (status == SB_OK && !result->branch)
		status = sb_no_memory(err);
	if (status == SB_OK)
		status = import(stage, err);
	if (status == SB_OK)
		status = sb_repo_count(&stage->git, result->commit, &result->files, err);
	if (status == SB_OK && !result->files)
		status = sb_fail(err, SB_E_MISSING, 0,
				 "nothing differs from what the repository has");
	if (status == SB_OK)
		status = keep(stage, err);
	return status;
}

int sb_repo_stage(const struct sb_repo_session *session, const struct sb_repo_request *request,
		  struct sb_repo_result *out, struct sb_error *err)
{
	struct stage stage = {.session = session, .request = request, .result = out};
	int status;

	sb_repo_result_init(out);
	status = stage_files(&stage, err);
	sb_repo_left_out(out);
	if (status == SB_OK)
		status = sb_repo_preview(&stage.git, out->commit, &out->text, err);
	sb_list_free(stage.paths);
	sb_list_free(stage.removed);
	free(stage.base.name);
	sb_zone_view_close(&stage.view);
	sb_git_close(&stage.git);
	return status;
}
