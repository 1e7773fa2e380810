/*
 * differ_tree.c - the tree of a sequence: built, listed and removed.
 *
 * A listing has everything that a later program could find: type, mode, links, size,
 * content, target, attributes, and the times that somebody set.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "differ.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ENTRIES_MAX 256
#define LINKED_MAX 128
#define SET_BEFORE 1200000000 /* times that differ_meta.c sets are older than this */

static const char *const chain[] = {"1", "1/2", "1/2/3", "1/2/3/4", CHAIN};

bool make_chain(void)
{
	for (size_t i = 0; i < COUNT(chain); i++)
		if (mkdirat(world.work_fd, chain[i], 0755) != 0 && errno != EEXIST)
			return false;
	return true;
}

/* --- building ------------------------------------------------------------------------- */

static const char *built[40];
static unsigned built_count;

const char *built_name(unsigned which)
{
	return built[which % built_count];
}

static void note(const char *path)
{
	if (built_count < COUNT(built))
		built[built_count++] = path;
}

static void build_file(const char *path, mode_t mode, const char *text)
{
	long fd = call(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, 0644);

	if (fd < 0)
		return;
	if (*text)
		call(SYS_write, fd, text, strlen(text));
	if (mode != 0644)
		call(SYS_fchmod, fd, mode);
	call(SYS_close, fd);
	note(path);
}

static void build_directory(const char *path, mode_t mode)
{
	call(SYS_mkdirat, AT_FDCWD, path, 0755);
	note(path);
	if (mode & 07022) /* what mkdir() would not give */
		call(SYS_fchmodat, AT_FDCWD, path, mode);
}

static void build_link(const char *target, const char *path)
{
	call(SYS_symlinkat, target, AT_FDCWD, path);
	note(path);
}

static void build_absolute_link(const char *target, const char *path)
{
	char absolute[LONGEST_PATH + 16];

	snprintf(absolute, sizeof absolute, "%s/%s", world.tree, target);
	build_link(absolute, path);
}

static void build_node(const char *path, mode_t mode)
{
	call(SYS_mknodat, AT_FDCWD, path, mode, 0);
	note(path);
}

/* Not everything every time: that is faster, and names that are missing matter as much. */
void build_tree(void)
{
	built_count = 0;
	build_directory("d", 0755);
	build_file("f", 0644, "the first file\n");
	if (one_in(2))
		build_file("d/f", one_in(3) ? 0600 : 0664, "in a directory\n");
	if (one_in(2)) {
		build_directory("d/e", 0755);
		if (one_in(2))
			build_directory("d/e/d", 0777);
		if (one_in(4))
			call(SYS_fchmodat, AT_FDCWD, "d/e", 0500);
	}
	if (one_in(3))
		build_file("g", 0755, "");
	if (one_in(3)) {
		call(SYS_linkat, AT_FDCWD, "f", AT_FDCWD, "h", 0);
		note("h");
	}
	if (one_in(4))
		build_file("ro", 0444, "only to be read\n");
	if (one_in(5)) {
		build_directory("x0", 0755);
		build_file("x0/f", 0644, "unreachable\n");
		call(SYS_fchmodat, AT_FDCWD, "x0", 0);
	}
	if (one_in(5)) {
		build_directory("r5", 0755);
		build_file("r5/f", 0644, "in a closed directory\n");
		call(SYS_fchmodat, AT_FDCWD, "r5", 0555);
	}
	if (one_in(6))
		build_directory("sg", 02775);
	if (one_in(8))
		build_directory("st", 01777);
	if (one_in(6))
		build_node("p", S_IFIFO | 0644);
	if (one_in(8))
		build_node("s", S_IFSOCK | 0644);
	if (one_in(3))
		build_link("f", "l");
	if (one_in(4))
		build_link("d", "dl");
	if (one_in(4))
		build_link("nowhere", "dang");
	if (one_in(6))
		build_link("loop", "loop");
	if (one_in(8)) {
		build_link("loopb", "loopa");
		build_link("./loopa", "loopb");
	}
	if (one_in(5))
		build_link("d/../d/f", "rel");
	if (one_in(8))
		build_link("f/", "lf");
	if (one_in(8))
		build_link("d/e/../../n", "dots");
	if (one_in(5))
		build_absolute_link("d", "abs");
	if (one_in(8))
		build_absolute_link("n", "absf");
}

/* --- listing -------------------------------------------------------------------------- */

struct linked {
	ino_t number;
	unsigned group;
};

static struct linked linked[LINKED_MAX];
static unsigned linked_count;

/* Files that are one file get the same small number, in the order they are met. */
static unsigned group_of(ino_t number)
{
	for (unsigned i = 0; i < linked_count; i++)
		if (linked[i].number == number)
			return linked[i].group;
	if (linked_count < LINKED_MAX) {
		linked[linked_count].number = number;
		linked[linked_count].group = linked_count + 1;
		linked_count++;
	}
	return linked_count;
}

static void tell_time(const char *label, const struct timespec *time)
{
	if (time->tv_sec < SET_BEFORE)
		tell(" %s=%lld.%09ld", label, (long long)time->tv_sec, time->tv_nsec);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The name of entry in the directory, by a way that works for links too. */
static void tell_attributes(int directory, const char *entry)
{
	char path[400], names[4096], value[512], *sorted[64];
	size_t count = 0;
	ssize_t length;

	snprintf(path, sizeof path, "/proc/self/fd/%d/%s", directory, entry);
	length = llistxattr(path, names, sizeof names);
	for (ssize_t at = 0; at < length && count < COUNT(sorted);
	     at += (ssize_t)strlen(names + at) + 1)
		sorted[count++] = names + at;
	qsort(sorted, count, sizeof sorted[0], by_text);
	for (size_t i = 0; i < count; i++) {
		ssize_t got = lgetxattr(path, sorted[i], value, sizeof value);

		if (strncmp(sorted[i], "security.", 9) == 0)
			continue; /* labels of the machine */
		tell(" %.20s(%zu)=%zd:%llx", sorted[i], strlen(sorted[i]), got,
		     (unsigned long long)(got > 0 ? hash_bytes(value, (size_t)got) : 0));
	}
}

static void tell_content(int directory, const char *entry, mode_t mode)
{
	char data[16384];
	ssize_t got = -1;
	int fd;

	if (!(mode & S_IRUSR))
		call(SYS_fchmodat, directory, entry, 0600);
	fd = openat(directory, entry, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, data, sizeof data);
		close(fd);
	}
	tell(" content=%llx", (unsigned long long)(got > 0 ? hash_bytes(data, (size_t)got) : 0));
}

static bool is_chain(const char *path)
{
	for (size_t i = 0; i < COUNT(chain); i++)
		if (strcmp(path, chain[i]) == 0)
			return true;
	return false;
}

/* The names in a directory, sorted, each to be freed. */
static size_t entries_of(int directory, char **names)
{
	int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	size_t count = 0;

	if (!stream) {
		if (copy >= 0)
			close(copy);
		return 0;
	}
	while (count < ENTRIES_MAX && (entry = readdir(stream)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			names[count++] = strdup(entry->d_name);
	closedir(stream);
	qsort(names, count, sizeof names[0], by_text);
	return count;
}

/* A directory to look into, whatever its mode. */
static int enter(int directory, const char *entry, mode_t mode)
{
	if ((mode & S_IRWXU) != S_IRWXU)
		call(SYS_fchmodat, directory, entry, 0700);
	return openat(directory, entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void tell_name(const char *path)
{
	if (strlen(path) > 160)
		tell("%.40s...(%zu, %llx)", path, strlen(path),
		     (unsigned long long)hash_bytes(path, strlen(path)));
	else
		tell("%s", path);
}

static void tell_entry(int directory, const char *entry, const char *path, const struct stat *info)
{
	mode_t type = info->st_mode & S_IFMT;

	/* the usual case of our own directories is not worth a line */
	if (is_chain(path) && info->st_mode == (S_IFDIR | 0755) &&
	    info->st_mtim.tv_sec >= SET_BEFORE)
		return;
	tell("- ");
	tell_name(path);
	tell(" %o", info->st_mode);
	if (info->st_uid != geteuid() || info->st_gid != getegid())
		tell(" owner=%u:%u", info->st_uid, info->st_gid);
	if (info->st_nlink > 1 && type != S_IFDIR)
		tell(" links=%u group=%u", (unsigned)info->st_nlink, group_of(info->st_ino));
	tell_time("mtime", &info->st_mtim);
	if (type == S_IFREG) {
		tell(" size=%lld", (long long)info->st_size);
		tell_time("atime", &info->st_atim);
	}
	tell_attributes(directory, entry);
	if (type == S_IFREG)
		tell_content(directory, entry, info->st_mode);
	if (type == S_IFLNK) {
		static char target[LONGEST_PATH + 1];
		ssize_t length = readlinkat(directory, entry, target, LONGEST_PATH);

		target[length > 0 ? length : 0] = '\0';
		tell(" -> ");
		tell_target(target);
	}
	tell("\n");
}

/* What is done at each entry: before what is in it, and after. */
typedef void (*visitor)(int directory, const char *name, const char *path, const struct stat *info);

static void walk(int directory, const char *above, visitor before, visitor after)
{
	char *names[ENTRIES_MAX];
	size_t count = entries_of(directory, names);

	for (size_t i = 0; i < count; i++) {
		char *path = malloc(strlen(above) + strlen(names[i]) + 2);
		struct stat info;

		sprintf(path, "%s%s%s", above, *above ? "/" : "", names[i]);
		if (fstatat(directory, names[i], &info, AT_SYMLINK_NOFOLLOW) == 0) {
			if (before)
				before(directory, names[i], path, &info);
			if (S_ISDIR(info.st_mode)) {
				int inner = enter(directory, names[i], info.st_mode);

				walk(inner, path, before, after);
				if (inner >= 0)
					close(inner);
			}
			if (after)
				after(directory, names[i], path, &info);
		}
		free(path);
		free(names[i]);
	}
}

void list_tree(void)
{
	linked_count = 0;
	walk(world.work_fd, "", tell_entry, NULL);
}

/* --- removing ------------------------------------------------------------------------- */

/* An untouched chain stays, to save the time; and what is above that is as it was again. */
static void remove_entry(int directory, const char *name, const char *path, const struct stat *info)
{
	if (is_chain(path) && info->st_mode == (S_IFDIR | 0755) &&
	    info->st_mtim.tv_sec >= SET_BEFORE)
		return;
	if (unlinkat(directory, name, S_ISDIR(info->st_mode) ? AT_REMOVEDIR : 0) != 0 &&
	    is_chain(path)) {
		call(SYS_fchmodat, directory, name, 0755);
		utimensat(directory, name, NULL, 0);
	}
}

void clear_tree(void)
{
	walk(world.work_fd, "", NULL, remove_entry);
	if (!make_chain())
		tell("(no chain: %s)\n", error_name(errno));
}
