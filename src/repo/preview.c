#include "repo/preview.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/escape.h"

#define MAX_TOLD 50

void sb_repo_result_init(struct sb_repo_result *result)
{
	*result = (struct sb_repo_result){0};
	sb_buf_init(&result->text, 8 * SB_PREVIEW_MAX); /* an escaped byte takes at most so many */
}

void sb_repo_result_done(struct sb_repo_result *result)
{
	free(result->repo);
	free(result->branch);
	sb_buf_done(&result->text);
	*result = (struct sb_repo_result){0};
}

void sb_repo_leave_out(struct sb_repo_result *result, const char *path, const char *why)
{
	if (result->left_out++ >= MAX_TOLD)
		return;
	sb_buf_puts(&result->text, "left out: ");
	sb_escape_name(&result->text, path, strlen(path));
	sb_buf_printf(&result->text, " (%s)\n", why);
}

void sb_repo_left_out(struct sb_repo_result *result)
{
	if (result->left_out > MAX_TOLD)
		sb_buf_printf(&result->text, "left out: %zu more\n", result->left_out - MAX_TOLD);
}

static void escape_lines(struct sb_buf *out, const char *bytes, size_t length)
{
	for (size_t at = 0; at < length;) {
		size_t end = at;

		while (end < length && bytes[end] != '\n' && bytes[end] != '\t')
			end++;
		sb_escape_append(out, bytes + at, end - at);
		if (end < length)
			sb_buf_putc(out, bytes[end]);
		at = end + 1;
	}
}

/* What a command says, as far as it is not too much. */
static int read_some(const struct sb_git *git, const char *const *args, struct sb_buf *out,
		     bool *out_cut, struct sb_error *err)
{
	SB_AUTO_FREE struct sb_git_child *child = malloc(sizeof *child);
	int status = child ? sb_git_start(git, SB_GIT_LOOK, args, child, err) : sb_no_memory(err);

	if (status != SB_OK)
		return status;
	sb_git_end_input(child);
	status = sb_git_read_all(child, out, out_cut, err);
	if (status == SB_OK && !*out_cut)
		return sb_git_finish(child, args[0], NULL, err);
	sb_git_kill(child);
	return status;
}

static int show(const struct sb_git *git, const char *const *args, struct sb_buf *out,
		struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf said = SB_BUF(SB_PREVIEW_MAX);
	bool cut = false;
	int status = read_some(git, args, &said, &cut, err);

	if (status != SB_OK)
		return status;
	escape_lines(out, said.data, said.length);
	if (cut)
		sb_buf_puts(out, "\n... there is more than is shown\n");
	return sb_buf_failed(out) ? sb_no_memory(err) : SB_OK;
}

int sb_repo_diff(const struct sb_git *git, const char *commit, struct sb_buf *out,
		 struct sb_error *err)
{
	return show(git,
		    (const char *const[]){"diff-tree", "--no-commit-id", "--root", "-r",
					  "--patch-with-stat", "--no-color", "--no-ext-diff",
					  "--no-textconv", "--no-renames", "--submodule=short",
					  commit, NULL},
		    out, err);
}

int sb_repo_preview(const struct sb_git *git, const char *commit, struct sb_buf *out,
		    struct sb_error *err)
{
	int status = show(git,
			  (const char *const[]){
				  "log", "-1", "--no-show-signature", "--no-color", "--no-decorate",
				  "--format=author: %an <%ae>%n%n%w(0,4,4)%B", commit, NULL},
			  out, err);

	sb_buf_putc(out, '\n');
	return status == SB_OK ? sb_repo_diff(git, commit, out, err) : status;
}

int sb_repo_count(const struct sb_git *git, const char *commit, size_t *out, struct sb_error *err)
{
	SB_AUTO_FREE struct sb_git_child *child = malloc(sizeof *child);
	SB_AUTO_BUF struct sb_buf name = SB_BUF(64 * 1024);
	const char *const args[] = {"diff-tree",   "--no-commit-id", "--root", "-r", "-z",
				    "--name-only", "--no-renames",   commit,   NULL};
	bool more = true;
	int status = child ? sb_git_start(git, SB_GIT_LOOK, args, child, err) : sb_no_memory(err);

	if (status != SB_OK)
		return status;
	sb_git_end_input(child);
	*out = 0;
	while (status == SB_OK && more) {
		status = sb_git_read_to(child, '\0', &name, &more, err);
		*out += more;
	}
	return sb_git_end(child, args[0], status, err);
}
