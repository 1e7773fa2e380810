#include "sys/windows_posix.h"

#include <unistd.h>

#include "sys/beneath.h"
#include "sys/directory.h"
#include "sys/process.h"
#include "sys/share.h"

/* --- chance ------------------------------------------------------------------------------------- */

unsigned char SystemFunction036(void *buffer, unsigned long length); /* RtlGenRandom() */

ssize_t getrandom(void *out, size_t size, unsigned flags)
{
	(void)flags;
	return SystemFunction036(out, (unsigned long)size) ? (ssize_t)size : -1;
}

/* --- text --------------------------------------------------------------------------------------- */

char *strndup(const char *text, size_t length)
{
	size_t taken = strnlen(text, length);
	char *copy = malloc(taken + 1);

	if (copy) {
		memcpy(copy, text, taken);
		copy[taken] = '\0';
	}
	return copy;
}

char *stpcpy(char *to, const char *from)
{
	size_t length = strlen(from);

	return (char *)memcpy(to, from, length + 1) + length;
}

char *strchrnul(const char *text, int c)
{
	while (*text && *text != (char)c)
		text++;
	return (char *)(uintptr_t)text;
}

char *strcasestr(const char *text, const char *part)
{
	size_t length = strlen(part);

	for (; strlen(text) >= length; text++)
		if (strncasecmp(text, part, length) == 0)
			return (char *)(uintptr_t)text;
	return NULL;
}

char *strsep(char **text, const char *ends)
{
	char *start = *text;

	if (!start)
		return NULL;
	*text = strpbrk(start, ends);
	if (*text)
		*(*text)++ = '\0';
	return start;
}

void *memrchr(const void *bytes, int c, size_t length)
{
	const unsigned char *at = bytes;

	while (length--)
		if (at[length] == (unsigned char)c)
			return (void *)(uintptr_t)(at + length);
	return NULL;
}

void *memmem(const void *bytes, size_t length, const void *part, size_t part_length)
{
	const char *at = bytes;

	for (; length >= part_length; at++, length--)
		if (memcmp(at, part, part_length) == 0)
			return (void *)(uintptr_t)at;
	return NULL;
}

void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

static _Thread_local struct {
	int (*compare)(const void *, const void *, void *);
	void *context;
} sorting;

static int compare_sorting(const void *a, const void *b)
{
	return sorting.compare(a, b, sorting.context);
}

void qsort_r(void *items, size_t count, size_t size,
	     int (*compare)(const void *, const void *, void *), void *context)
{
	sorting.compare = compare;
	sorting.context = context;
	qsort(items, count, size, compare_sorting);
}

/* --- what is not there -------------------------------------------------------------------------- */

static int not_there(void)
{
	errno = ENOSYS;
	return -1;
}

int fstatat(int directory, const char *name, struct stat *out, int flags)
{
	(void)directory, (void)name, (void)out, (void)flags;
	return not_there();
}

int openat(int directory, const char *name, int flags, ...)
{
	(void)directory, (void)name, (void)flags;
	return not_there();
}

int mkdirat(int directory, const char *name, mode_t mode)
{
	(void)directory, (void)name, (void)mode;
	return not_there();
}

int unlinkat(int directory, const char *name, int flags)
{
	(void)directory, (void)name, (void)flags;
	return not_there();
}

int faccessat(int directory, const char *name, int how, int flags)
{
	(void)directory, (void)name, (void)how, (void)flags;
	return not_there();
}

ssize_t readlinkat(int directory, const char *name, char *out, size_t size)
{
	(void)directory, (void)name, (void)out, (void)size;
	return not_there();
}

int fchmod(int fd, mode_t mode)
{
	(void)fd, (void)mode;
	return not_there();
}

int scandir(const char *path, struct dirent ***out, int (*filter)(const struct dirent *),
	    int (*compare)(const struct dirent **, const struct dirent **))
{
	(void)path, (void)out, (void)filter, (void)compare;
	return not_there();
}

int alphasort(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

int fcntl(int fd, int what, ...)
{
	(void)fd, (void)what;
	return not_there();
}

int ioctl(int fd, unsigned long what, ...)
{
	(void)fd, (void)what;
	return not_there();
}

int flock(int fd, int how)
{
	(void)fd, (void)how;
	return not_there();
}

int dirfd(DIR *directory)
{
	(void)directory;
	return not_there();
}

/* --- what there is but one of ------------------------------------------------------------------- */

int posix_mkdir(const char *path, mode_t mode)
{
	(void)mode;
	return _mkdir(path);
}

ssize_t pread(int fd, void *out, size_t size, off_t offset)
{
	return lseek(fd, offset, SEEK_SET) < 0 ? -1 : read(fd, out, (unsigned)size);
}

int lstat(const char *path, struct stat *out)
{
	return stat(path, out);
}

ssize_t readlink(const char *path, char *out, size_t size)
{
	(void)path, (void)out, (void)size;
	errno = EINVAL; /* no link */
	return -1;
}

uid_t getuid(void)
{
	return 0;
}

uid_t geteuid(void)
{
	return 0;
}

gid_t getgid(void)
{
	return 0;
}

gid_t getegid(void)
{
	return 0;
}

/* --- rooms above ask these ---------------------------------------------------------------------- */

bool sb_sys_is_plain_path(const char *path)
{
	(void)path;
	return false;
}

int sb_sys_open_path(const char *path)
{
	(void)path;
	return -ENOSYS;
}

int sb_sys_dir_open(struct sb_sys_dir *dir, const char *path)
{
	(void)path;
	dir->error = ENOSYS;
	return -ENOSYS;
}

struct sb_sys_dir *sb_sys_dir_begin(struct sb_sys_dir *dir, int directory, const char *path)
{
	(void)directory;
	dir->fd = sb_sys_dir_open(dir, path);
	return dir;
}

void sb_sys_dir_init(struct sb_sys_dir *dir, int fd)
{
	(void)fd;
	dir->error = ENOSYS;
}

const struct dirent64 *sb_sys_dir_next(struct sb_sys_dir *dir)
{
	dir->error = ENOSYS;
	return NULL;
}

void sb_sys_dir_close(struct sb_sys_dir *dir)
{
	(void)dir;
}

int sb_sys_look(int directory, const char *name, struct sb_sys_file *out)
{
	(void)directory, (void)name, (void)out;
	return -ENOSYS;
}

bool sb_sys_folds(const char *path)
{
	(void)path;
	return true;
}

void *sb_sys_share(size_t size)
{
	return calloc(1, size); /* nobody forks here */
}
