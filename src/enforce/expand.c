#include "enforce/expand.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/words.h"
#include "path/path.h"
#include "path/pattern.h"

struct search {
	sb_expand_found found;
	void *context;
	unsigned long seen;
	struct sb_error *err;
};

static bool is_dir(int dirfd, const struct dirent *entry)
{
	struct stat info;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dirfd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(info.st_mode);
}

static int walk(struct search *search, int parent_fd, const char *name, const char *path,
		const char *glob);

/* One entry of a directory against the glob: is it a match, or on the way to one? */
static int visit(struct search *search, int dirfd, const struct dirent *entry, const char *dir,
		 const char *glob)
{
	size_t length = strcspn(glob, "/");
	bool any_depth = length == 2 && memcmp(glob, "**", 2) == 0;
	const char *rest = glob[length] ? glob + length + 1 : glob + length;
	const char *name = entry->d_name;
	SB_AUTO_FREE char *path = sb_path_join(dir, name);

	if (!path)
		return sb_no_memory(search->err);
	if (any_depth) {
		/* "no directory" was tried by walk(); here the entry is one of the any number */
		return is_dir(dirfd, entry) ? walk(search, dirfd, name, path, glob) : SB_OK;
	}
	if (!sb_glob_name(glob, length, name, strlen(name)))
		return SB_OK;
	if (*rest == '\0')
		return search->found(search->context, path, search->err);
	return is_dir(dirfd, entry) ? walk(search, dirfd, name, path, rest) : SB_OK;
}

static int walk(struct search *search, int parent_fd, const char *name, const char *path,
		const char *glob)
{
	bool any_depth = strncmp(glob, "**", 2) == 0 && (glob[2] == '/' || glob[2] == '\0');
	SB_AUTO_DIR DIR *dir = NULL;
	const struct dirent *entry;
	int fd, status = SB_OK;

	if (any_depth && glob[2] == '\0')
		return search->found(search->context, path, search->err);
	if (any_depth) {
		status = walk(search, parent_fd, name, path, glob + 3);
		if (status != SB_OK)
			return status;
	}
	fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) /* gone, or not ours to list: then nothing beneath can be reached either */
		return SB_OK;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return sb_no_memory(search->err);
	}
	while (status == SB_OK && (entry = readdir(dir))) {
		if (sb_is_dots(entry->d_name))
			continue;
		if (++search->seen > SB_EXPAND_LIMIT)
			return sb_fail(search->err, SB_E_REFUSED, 0,
				       "a wildcard rule reaches more than %d files",
				       SB_EXPAND_LIMIT);
		status = visit(search, dirfd(dir), entry, path, glob);
	}
	return status;
}

int sb_expand(const char *prefix, const char *glob, sb_expand_found found, void *context,
	      struct sb_error *err)
{
	struct search search = {.found = found, .context = context, .err = err};

	return walk(&search, AT_FDCWD, prefix, prefix, glob);
}
