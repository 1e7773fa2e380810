/*
 * tool_view.c - the files that tools work on.
 */
#include <string.h>

#include "mcp/tools/tools.h"

static bool is_one_of(const char *const *roots, const char *path)
{
	while (*roots && strcmp(*roots, path) != 0)
		roots++;
	return *roots;
}

int sb_tools_open_view(const struct sb_policy *policy, const char *const *roots,
		       const struct sb_files_options *options, struct sb_files **out,
		       struct sb_files_error *err)
{
	struct sb_files *view;
	int status = sb_files_open(policy, roots, options, &view, err);

	for (size_t i = 0; status == 0 && sb_files_root(view, i); i++)
		if (!is_one_of(roots, sb_files_root(view, i))) {
			sb_files_close(view);
			*err = (struct sb_files_error){
				.code = SB_FILES_CHANGED,
				.person = "an allowed directory was replaced by a link",
				.model = "Put the directory back, or ask the user to."};
			return -SB_FILES_CHANGED;
		}
	if (status == 0)
		*out = view;
	return status;
}
