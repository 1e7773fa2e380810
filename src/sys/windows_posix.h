/*
 * windows_posix.h - what POSIX has and Windows' headers have not.  scripts/windows puts it before every file.
 *
 * For rooms that are about text: rules, paths, configuration, command lines, files in memory.  A call about
 * descriptors of directories, links or leases is there and answers ENOSYS: no guarantee can come out of it, and
 * what asks it takes that for a no.  A native backend would bring its own (linux_*.c are not built).
 */
#ifndef SB_SYS_WINDOWS_POSIX_H
#define SB_SYS_WINDOWS_POSIX_H

#include <direct.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#undef PATH_MAX /* Windows' 260 is what old programs can use; paths may have 32767 characters */
#define PATH_MAX 4096
#define NAME_MAX 255

/* Numbers that no function of Windows returns. */
#ifndef ESTALE
#define ESTALE 951
#endif
#ifndef EDQUOT
#define EDQUOT 952
#endif

typedef unsigned uid_t;
typedef unsigned gid_t;
typedef struct sb_no_siginfo siginfo_t;

#define O_CLOEXEC O_NOINHERIT
#define O_NONBLOCK 0
#define O_NOCTTY 0
#define O_NOFOLLOW 0
#define O_PATH 0
#define O_DIRECTORY 0
#define AT_FDCWD (-100)
#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_EACCESS 0x200
#define AT_REMOVEDIR 0x200
#define F_RDLCK 0
#define F_UNLCK 2
#define F_SETLEASE 1024
#define F_SETSIG 10
#define LOCK_EX 2
#define LOCK_NB 4

#define SIGURG 23
#define TIOCGDEV 0
#define makedev(major, minor) ((dev_t)((major) << 8 | (minor)))
#define le64toh(number) (number) /* Windows has little-endian machines only */

#define S_IFLNK 0120000
#define S_IFSOCK 0140000
#define S_ISVTX 01000
#define S_ISUID 04000
#define S_ISGID 02000
#define S_ISLNK(mode) (((mode)&S_IFMT) == S_IFLNK)
#define S_ISSOCK(mode) (((mode)&S_IFMT) == S_IFSOCK)

struct dirent64 {
	uint64_t d_ino;
	unsigned char d_type;
	char d_name[NAME_MAX + 1];
};

enum {
	DT_UNKNOWN = 0,
	DT_FIFO = 1,
	DT_CHR = 2,
	DT_DIR = 4,
	DT_BLK = 6,
	DT_REG = 8,
	DT_LNK = 10,
	DT_SOCK = 12
};

#define IFTODT(mode) (((mode)&S_IFMT) >> 12)
#define DTTOIF(type) ((type) << 12)

/* Text. */
char *strndup(const char *text, size_t length);
char *stpcpy(char *to, const char *from);
char *strchrnul(const char *text, int c);
char *strcasestr(const char *text, const char *part);
char *strsep(char **text, const char *ends);
void *memrchr(const void *bytes, int c, size_t length);
void *memmem(const void *bytes, size_t length, const void *part, size_t part_length);
void *reallocarray(void *old, size_t count, size_t size);
void qsort_r(void *items, size_t count, size_t size,
	     int (*compare)(const void *, const void *, void *), void *context);

/* By other names. */
#define mkdir posix_mkdir
ssize_t getrandom(void *out, size_t size, unsigned flags);
int posix_mkdir(const char *path, mode_t mode);
#define fsync(fd) _commit(fd)
#define mkostemp(template, flags) mkstemp(template)
ssize_t pread(int fd, void *out, size_t size, off_t offset);

/* ENOSYS. */
int fchmod(int fd, mode_t mode);
int scandir(const char *path, struct dirent ***out, int (*filter)(const struct dirent *),
	    int (*compare)(const struct dirent **, const struct dirent **));
int alphasort(const struct dirent **a, const struct dirent **b);
int lstat(const char *path, struct stat *out);
int fstatat(int directory, const char *name, struct stat *out, int flags);
int openat(int directory, const char *name, int flags, ...);
int mkdirat(int directory, const char *name, mode_t mode);
int unlinkat(int directory, const char *name, int flags);
int faccessat(int directory, const char *name, int how, int flags);
ssize_t readlink(const char *path, char *out, size_t size);
ssize_t readlinkat(int directory, const char *name, char *out, size_t size);
int fcntl(int fd, int what, ...);
int ioctl(int fd, unsigned long what, ...);
int flock(int fd, int how);
int dirfd(DIR *directory);

/* There are no users by number: all is one's own. */
uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
gid_t getegid(void);

#endif
