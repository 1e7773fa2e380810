#include "guard/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "guard/git_config.h"
#include "guard/guard.h"
#include "path/path.h"

char *sb_read_text(const char *path, size_t limit, size_t *out_length)
{
	SB_AUTO_FD int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	SB_AUTO_FREE char *text = NULL;
	struct stat info;
	ssize_t got;

	if (fd < 0 || fstat(fd, &info) != 0)
		return NULL;
	errno = S_ISREG(info.st_mode) ? EFBIG : ENOENT; /* as good as none */
	if (!S_ISREG(info.st_mode) || (size_t)info.st_size > limit)
		return NULL;
	text = malloc((size_t)info.st_size + 1);
	got = text ? pread(fd, text, (size_t)info.st_size, 0) : -1;
	if (got < 0)
		return NULL;
	text[got] = '\0';
	if (out_length)
		*out_length = (size_t)got;
	return sb_take_ptr(&text);
}

char *sb_read_from(const char *directory, const char *path)
{
	char *canonical = NULL;
	int missing;

	if (!path || !*path ||
	    (*path == '/' ? sb_path_canonical(path, &canonical, &missing, NULL)
			  : sb_path_canonical_beneath(directory, path, &canonical, &missing,
						      NULL)) != SB_OK)
		return NULL;
	return canonical;
}

char *sb_read_path(const char *directory, const char *file, const char *prefix)
{
	SB_AUTO_FREE char *path = sb_path_join(directory, file);
	SB_AUTO_FREE char *text = path ? sb_read_text(path, 8192, NULL) : NULL;
	size_t skip = strlen(prefix), length;

	if (!text || strncmp(text, prefix, skip) != 0)
		return NULL;
	length = strlen(text);
	while (length > skip && (text[length - 1] == '\n' || text[length - 1] == '\r'))
		text[--length] = '\0';
	return sb_read_from(directory, text + skip);
}

char *sb_read_work_tree(const char *own, bool strict)
{
	SB_AUTO_FREE char *file = sb_path_join(own, "config");
	size_t length;
	SB_AUTO_FREE char *text = file ? sb_read_text(file, SB_GUARD_MAX_BYTES, &length) : NULL;
	SB_AUTO(sb_git_config_done) struct sb_git_config config = {0};
	char *top = NULL;

	if (!text)
		return NULL;
	sb_git_config_parse(text, length, &config);
	if (!strict || !config.failed)
		top = sb_read_from(own, sb_git_config_get(&config, "core.worktree"));
	return top;
}
