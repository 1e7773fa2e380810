#include "files/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

static void fill_defaults(struct sb_files_options *options)
{
	if (!options->read_limit_bytes)
		options->read_limit_bytes = (size_t)16 << 20;
	if (!options->edit_limit_bytes)
		options->edit_limit_bytes = (size_t)64 << 20;
	if (!options->entry_limit)
		options->entry_limit = 100000;
	if (options->hard_links == SB_FILES_DEFAULT)
		options->hard_links = SB_FILES_ALLOW;
	if (options->mounts == SB_FILES_DEFAULT)
		options->mounts = SB_FILES_ASK;
	if (options->ignored == SB_FILES_DEFAULT)
		options->ignored = SB_FILES_ASK;
}

int sb_files_add_root(struct sb_files *view, const char *root, struct sb_files_error *err)
{
	struct sb_root opened;
	int status;

	if (!SB_GROW(view->roots, view->root_count))
		return sb_refuse_memory(err);
	if (root[0] != '/')
		return sb_refuse(err, SB_FILES_INVALID_ARGUMENT, 0,
				 "cannot use project '%s': not an absolute path", root);
	status = view->backend->ops->open_root(view->backend, root, &opened);
	if (status < 0)
		return sb_refuse_errno(err, status, "use project", root);
	for (size_t i = 0; i < view->root_count; i++) {
		if (strcmp(view->roots[i].path, opened.path) == 0) {
			view->backend->ops->close_root(view->backend, &opened);
			return 0;
		}
	}
	view->roots[view->root_count++] = opened;
	status = sb_gate_open(view, err);
	if (status < 0) /* no root without a guard */
		view->backend->ops->close_root(view->backend, &view->roots[--view->root_count]);
	return status;
}

int sb_files_open(const struct sb_policy *policy, const char *const *roots,
		  const struct sb_files_options *options, struct sb_files **out_view,
		  struct sb_files_error *err)
{
	struct sb_files *view = calloc(1, sizeof *view);
	int status = 0;

	if (!view)
		return sb_refuse_memory(err);
	view->policy = policy;
	if (options)
		memcpy(&view->options, options,
		       options->size < sizeof *options ? options->size : sizeof *options);
	fill_defaults(&view->options);
	for (size_t i = 0; i < SB_FILES_STRIPES; i++)
		pthread_mutex_init(&view->stripes[i], NULL);
	view->backend = view->options.backend ? view->options.backend : sb_files_disk();
	if (!view->backend)
		status = sb_refuse(err, SB_FILES_SANDBOX_UNAVAILABLE, 0,
				   "cannot use files: /proc is not mounted");
	else if (!roots || !roots[0])
		status = sb_refuse(err, SB_FILES_INVALID_ARGUMENT, 0,
				   "a view of files needs a project");
	for (size_t i = 0; status == 0 && roots[i]; i++)
		status = sb_files_add_root(view, roots[i], err);
	if (status < 0) {
		sb_files_close(view);
		return status;
	}
	*out_view = view;
	return 0;
}

void sb_files_close(struct sb_files *view)
{
	if (!view)
		return;
	sb_gate_close(view);
	for (size_t i = 0; i < view->root_count; i++)
		view->backend->ops->close_root(view->backend, &view->roots[i]);
	for (size_t i = 0; i < SB_FILES_STRIPES; i++)
		pthread_mutex_destroy(&view->stripes[i]);
	free(view->roots);
	free(view);
}

const char *sb_files_root(const struct sb_files *view, size_t i)
{
	return i < view->root_count ? view->roots[i].path : NULL;
}
