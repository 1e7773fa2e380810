/*
 * differ_paths.c - which file an operation means, and how it says so.
 *
 * Few names, so that operations meet: what one makes the next one moves.  A name is told as
 * a template: $T is the tree, N255 a name of so many bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "differ.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ANY(array) ((array)[chance(COUNT(array))])

/* Two paths may be alive at once, in an operation and in the one that it makes under limits. */
static char room[8][2 * LONGEST_PATH];
static unsigned room_next;

static char *next_room(void)
{
	return room[room_next++ % COUNT(room)];
}

static struct name plain(const char *text)
{
	struct name name;
	char *path = next_room();

	snprintf(path, sizeof room[0], "%s", text);
	snprintf(name.told, sizeof name.told, "%s", text);
	name.path = path;
	return name;
}

/* before + the tree + after */
static struct name in_tree(const char *before, const char *after)
{
	struct name name;
	char *path = next_room();

	snprintf(path, sizeof room[0], "%s%s%s", before, world.tree, after);
	snprintf(name.told, sizeof name.told, "%s$T%s", before, after);
	name.path = path;
	return name;
}

static struct name impossible(const void *pointer, const char *told)
{
	struct name name = {.path = pointer};

	snprintf(name.told, sizeof name.told, "%s", told);
	return name;
}

static const char *pick_leaf(void)
{
	static const char *const common[] = {"f", "g", "h", "d", "e", "n", "m", "f", "g", "n"};
	static const char *const special[] = {"x0", "r5", "sg", "st", "ro", "p", "s", "out"};
	static const char *const links[] = {"l",   "dang", "loop", "loopa", "abs",
					    "rel", "dl",   "lf",   "absf",  "dots"};
	unsigned kind = chance(10);

	/* half of the time what the sequence began with: successes meet successes */
	if (one_in(2))
		return built_name(chance(1000));
	return kind < 6 ? ANY(common) : kind < 8 ? ANY(special) : ANY(links);
}

static const char *pick_directory(void)
{
	static const char *const directories[] = {"d",  "e",  "d/e", "d",  "d/e/d", "sg", "r5",
						  "x0", "dl", "abs", "st", "n",     "."};

	return ANY(directories);
}

static struct name long_name(unsigned length)
{
	struct name name;
	char *path = next_room();

	memset(path, 'N', length);
	path[length] = '\0';
	snprintf(name.told, sizeof name.told, "N%u", length);
	name.path = path;
	return name;
}

/* A path of exactly length bytes that means leaf: ././././leaf */
static struct name long_path(unsigned length, const char *leaf)
{
	struct name name;
	char *path = next_room();
	size_t tail = strlen(leaf), at = 0;

	while (at + tail + 2 <= length) {
		path[at++] = '.';
		path[at++] = '/';
	}
	while (at + tail < length)
		path[at++] = '/';
	memcpy(path + at, leaf, tail + 1);
	snprintf(name.told, sizeof name.told, "P%u:%s", length, leaf);
	name.path = path;
	return name;
}

/* A path whose last byte, the NUL or not, is the last that can be read. */
static struct name at_the_edge(const char *leaf, bool ends)
{
	struct name name;
	size_t length = strlen(leaf) + (ends ? 1 : 0);
	char *path = world.edge - length;

	memcpy(path, leaf, length);
	snprintf(name.told, sizeof name.told, "%s|%s", leaf, ends ? "" : "...");
	name.path = path;
	return name;
}

static struct name magic(void)
{
	static const char *const before[] = {"/proc/self/cwd/", "/proc/self/cwd/../",
					     "/proc/thread-self/cwd/", "/proc/self/cwd//d/"};
	static const char *const tables[] = {"/proc/self/fd/", "/dev/fd/", "/proc/thread-self/fd/"};
	char text[160];

	if (one_in(4))
		return in_tree("/proc/self/root", one_in(2) ? "/f" : "/d/f");
	if (one_in(2))
		snprintf(text, sizeof text, "%s%s%s", ANY(before), pick_leaf(),
			 one_in(6) ? "/" : "");
	else if (one_in(2))
		snprintf(text, sizeof text, "%s%u", ANY(tables), chance(9));
	else
		snprintf(text, sizeof text, "%s%u/%s", ANY(tables), chance(9), pick_leaf());
	return plain(text);
}

static struct name odd(void)
{
	static const char *const texts[] = {
		"",
		".",
		"..",
		"./",
		"d/.",
		"d/..",
		"d/../",
		"f/.",
		"f/..",
		"f/",
		"f/x",
		"l/",
		"l/x",
		"dl/",
		"dl/.",
		"dl/..",
		"dang/",
		"dang/x",
		"loop/",
		"loop/x",
		"p/",
		"p/x",
		"s/x",
		"ro/x",
		"x0/",
		"x0/f",
		"x0/.",
		"x0/..",
		"x0/../f",
		"n/",
		"n//",
		"n/.",
		"n/..",
		"n/x",
		"d//f",
		"d/./f",
		".//f",
		"d/../f",
		"./d/../g",
		"nowhere/../f",
		"d/e/../../f",
		"../t/f",
		"../t/../t/n",
		"f//",
		"d/e/d/e/d/e",
		"\xff\x01\n",
		"a b",
		"\\",
		"-",
	};

	return plain(ANY(texts));
}

struct name pick_name(void)
{
	char text[160];
	unsigned kind = chance(100);

	if (kind < 44)
		return plain(pick_leaf());
	if (kind < 66) {
		snprintf(text, sizeof text, "%s/%s", pick_directory(), pick_leaf());
		return plain(text);
	}
	if (kind < 80)
		return odd();
	if (kind < 83) {
		snprintf(text, sizeof text, "/%s", pick_leaf());
		return in_tree("", text);
	}
	if (kind < 85)
		return in_tree("", one_in(2) ? "/d/f" : "/d/e/");
	if (kind < 91)
		return magic();
	if (kind < 94)
		return long_name(one_in(3) ? LONGEST_NAME + 1 : LONGEST_NAME);
	if (kind < 96)
		return long_path(LONGEST_PATH - (one_in(2) ? 1 : 0), pick_leaf());
	if (kind < 98)
		return at_the_edge(pick_leaf(), true);
	switch (chance(4)) {
	case 0:
		return impossible(NULL, "NULL");
	case 1:
		return impossible(world.edge, "(unreadable)");
	case 2:
		return impossible((void *)-4096L, "(in the kernel)");
	default:
		return at_the_edge(pick_leaf(), false);
	}
}

/*
 * /dev/stdout is descriptor 1, a file of the tree.  Only for calls that follow it: its own
 * entry in /dev belongs to root.  Devices are dealt with in differ_fds.c.
 */
struct name pick_file(void)
{
	if (one_in(40))
		return plain("/dev/stdout");
	return pick_name();
}

struct name pick_socket(void)
{
	for (;;) {
		struct name name;

		if (one_in(12))
			return long_path(107 + chance(2), pick_leaf());
		name = pick_name();
		/* Pointers are tried apart: the path is copied into the address.  The tree's own
		 * path may be longer than sun_path. */
		if (name.path >= (char *)room && name.path < (char *)room + sizeof room &&
		    strlen(name.path) < 100 && !strstr(name.told, "$T"))
			return name;
	}
}

/* None leads upward from where it stands: see settle_directory(). */
const char *pick_target(void)
{
	static const char *const texts[] = {
		"f",
		"g",
		"d",
		"n",
		"nowhere",
		"loop",
		"d/../f",
		"../t/f",
		"d/e/../../g",
		"f/",
		"d/",
		".",
		"x0/f",
		"",
		"/proc/self/cwd/f",
		"/proc/self/fd/1",
		"./l",
		"dl/f",
		"d/e",
		"/nonexistent/f",
	};
	static char absolute[2][LONGEST_PATH + 8];
	unsigned kind = chance(24);

	if (kind >= COUNT(texts)) {
		snprintf(absolute[kind % 2], sizeof absolute[0], "%s/%s", world.tree,
			 kind % 2 ? "f" : "d");
		return kind < 22    ? absolute[kind % 2]
		       : kind == 22 ? long_name(255).path
				    : long_path(4095, "f").path;
	}
	return texts[kind];
}

void tell_target(const char *target)
{
	size_t prefix = strlen(world.tree), length = strlen(target);

	if (strncmp(target, world.tree, prefix) == 0)
		tell("$T%s", target + prefix);
	else if (length > 100)
		tell("(%zu bytes, %llx)", length, (unsigned long long)hash_bytes(target, length));
	else
		tell("%s", target);
}

/* --- descriptors ---------------------------------------------------------------------- */

int pick_fd(void)
{
	static const int impossible_fds[] = {-1, 77, 1000000, INT_MIN};

	if (one_in(20))
		return ANY(impossible_fds);
	return (int)(one_in(3) ? chance(9) : chance(5));
}

int pick_dirfd(void)
{
	int fd;

	if (!one_in(4))
		return AT_FDCWD;
	fd = pick_fd();
	/* the directory may have been renamed since it was opened */
	return fd >= 0 && leads_above(fd) ? 77 : fd;
}

void tell_dirfd(int fd)
{
	if (fd == AT_FDCWD)
		tell("CWD");
	else
		tell("%d", fd);
}

static bool beneath(const char *path, const char *top)
{
	size_t length = strlen(top);

	return strncmp(path, top, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool is_kept(const char *path)
{
	char floor[LONGEST_PATH + 16];

	snprintf(floor, sizeof floor, "%s/%s", world.work, CHAIN_FLOOR);
	return beneath(path, floor);
}

/*
 * One path climbs at most three directories ("/proc/self/cwd/../.." with a link before it), so
 * whoever starts no higher than CHAIN_FLOOR stays in the working directory.
 */
void settle_directory(void)
{
	char path[2 * LONGEST_PATH];
	long length = call(SYS_getcwd, path, sizeof path);

	if (length > 0 && is_kept(path))
		return;
	if (length == -ENOENT)
		return; /* removed: nothing can be made there */
	tell("(back)\n");
	if (chdir(world.tree) != 0)
		tell("(no tree: %s)\n", error_name(errno));
}

bool leads_above(int fd)
{
	char link[40], path[2 * LONGEST_PATH];
	struct stat info;
	ssize_t length;

	if (fstat(fd, &info) != 0 || !S_ISDIR(info.st_mode))
		return false;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof path - 1);
	if (length < 0)
		return true;
	path[length] = '\0';
	return !is_kept(path);
}
