#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "cli/worker.h"
#include "config/file.h"
#include "enforce/view.h"

#define MAX_CALLED 256

struct gathering {
	struct sb_view_file *files;
	char *paths[MAX_CALLED]; /* where each lies; they end with the process, as the files do */
	size_t count;
	struct sb_error *err;
};

static int read_text(const char *path, char **out, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	bool found = false;
	int status = sb_config_read(path, &text, &found, err);

	if (status != SB_OK)
		return status;
	if (!found)
		return sb_fail(err, SB_E_MISSING, 0, "there is no worker '%s'", path);
	*out = sb_buf_take(&text);
	return *out ? SB_OK : sb_no_memory(err);
}

/* True: it is there already.  Another one of the same name is an error. */
static bool is_known(const struct gathering *gathering, const char *path, int *out_status)
{
	const char *name = strrchr(path, '/') + 1;

	*out_status = SB_OK;
	for (size_t i = 0; i < gathering->count; i++) {
		if (strcmp(gathering->paths[i], path) == 0)
			return true;
		if (strcmp(gathering->files[i].name, name) == 0) {
			*out_status = sb_fail(gathering->err, SB_E_CONFLICT, 0,
					      "'%s' and '%s' have one name: which is called?",
					      gathering->paths[i], path);
			return true;
		}
	}
	return false;
}

static int add(struct gathering *gathering, const char *path)
{
	struct sb_view_file file = {0};
	char *own;
	int status;

	if (is_known(gathering, path, &status))
		return status;
	if (gathering->count == MAX_CALLED)
		return sb_fail(gathering->err, SB_E_INVALID, 0, "more than %d workers are called",
			       MAX_CALLED);
	status = read_text(path, &file.text, gathering->err);
	if (status != SB_OK)
		return status;
	own = SB_GROW(gathering->files, gathering->count) ? strdup(path) : NULL;
	if (!own)
		return sb_no_memory(gathering->err);
	file.name = strrchr(own, '/') + 1;
	gathering->paths[gathering->count] = own;
	gathering->files[gathering->count++] = file;
	return SB_OK;
}

int sb_worker_called(const struct sb_worker *worker, struct sb_view_file **out, size_t *out_count,
		     struct sb_error *err)
{
	struct gathering gathering = {.err = err};
	int status = SB_OK;

	for (size_t i = 0; worker->workers && worker->workers[i] && status == SB_OK; i++)
		status = add(&gathering, worker->workers[i]);
	/* what is added meanwhile is looked at in turn */
	for (size_t i = 0; i < gathering.count && status == SB_OK; i++) {
		struct sb_worker called;

		status = sb_worker_load(gathering.paths[i], &called, err);
		for (size_t j = 0; status == SB_OK && called.workers && called.workers[j]; j++)
			status = add(&gathering, called.workers[j]);
		if (status == SB_OK)
			sb_worker_done(&called);
	}
	*out = gathering.files;
	*out_count = gathering.count;
	return status;
}
