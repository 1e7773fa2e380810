/*
 * SECURITY: copies that editors and people leave beside credentials are hidden as these are.
 *
 * Danger: ~/.netrc is hidden; ~/.netrc~, which an editor made of it, ~/.netrc.bak and ~/.ssh.old say the same.
 * Price: at every launch the names of the directories in which a row of the table may lie are read; those of the bases are
 * anyway.  A copy by a name that does not say so stays readable, and one that is made during the run.
 * Held by: tests/enforce/secrets.py
 */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "policy/access.h"
#include "policy/builtin_impl.h"
#include "sys/directory.h"

enum { MAX_NAMES = 4096 };

/* The row whose name this is, in the row's directory of that length (with its slash). */
static const struct sb_secret *find_row(const struct sb_secret_table *table, const char *directory,
					size_t length, const char *stem, size_t width)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct sb_secret *row = &table->rows[i];

		if (strncmp(row->path, directory, length) == 0 &&
		    strncmp(row->path + length, stem, width) == 0 && !row->path[length + width])
			return row->flags & SB_SECRET_PUBLIC ? NULL : row;
	}
	return NULL;
}

static int hide_copy(struct sb_policy *policy, struct sb_base *base, const struct sb_secret *row,
		     const char *path, struct sb_error *err)
{
	const struct sb_builtin_row copy = {path, &sb_access_deny, row->reason};
	struct stat info;

	/* an empty one hides nothing, and may be what a program locks */
	if (fstatat(base->fd, path, &info, 0) != 0 || (S_ISREG(info.st_mode) && !info.st_size))
		return SB_OK;
	if ((row->flags & SB_SECRET_MIXED) && S_ISDIR(info.st_mode)) /* such rows are files */
		return SB_OK;
	if ((row->flags & SB_SECRET_MIXED) && !sb_may_hold_password(base->fd, path, row->flags))
		return SB_OK;
	return sb_builtin_add_row(policy, base, &copy, SB_BUILTIN_EXISTING_ONLY, err);
}

int sb_builtin_beside(struct sb_policy *policy, struct sb_base *base,
		      const struct sb_secret_table *table, const char *row, struct sb_error *err)
{
	const char *slash = strrchr(row, '/');
	size_t length = slash ? (size_t)(slash - row) + 1 : 0;
	char path[sizeof table->rows->path + NAME_MAX + 1] = ".";
	int status = SB_OK, left = MAX_NAMES;

	memcpy(path, row, length);
	if (base->fd < 0)
		return SB_OK;
	/* none of one that is not there, or where nobody lists it */
	SB_EACH_ENTRY(dir, base->fd, path, status == SB_OK && left--) {
		const char *stem = dir.entry->d_name;
		size_t width = sb_copy_stem(&stem);
		const struct sb_secret *of;

		if (!width)
			continue;
		of = find_row(table, path, length, stem, width);
		if (!of && stem[0] == '.') /* vim puts a dot before the name of its own */
			of = find_row(table, path, length, stem + 1, width - 1);
		if (!of)
			continue;
		strcpy(path + length, dir.entry->d_name);
		status = hide_copy(policy, base, of, path, err);
	}
	return status;
}
