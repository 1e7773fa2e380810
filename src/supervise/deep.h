/*
 * deep.h - directories whose names are longer than a path may be.
 *
 * Programs get there step by step (mkdir, chdir, openat).  The kernel tells no such name
 * (readlink(2) of /proc/self/fd/N: ENAMETOOLONG), so it is found as getcwd(3) does: upward by "..", each
 * name looked up in the directory around it, to the first one that the kernel can tell.
 *
 * Rules are about the whole name.  All else takes a path that is cut in the middle: the beginning, in
 * which roots and temporary directories are known, and the last names, which the guard knows.  In place
 * of the rest stands a component that is longer than any name, so nothing is ever found by such a path.
 * What the guard makes of the names between: judge.c, heed_depth().
 */
#ifndef SB_SUPERVISE_DEEP_H
#define SB_SUPERVISE_DEEP_H

#include <limits.h>

/*
 * The name of the directory that fd (O_PATH) is, in memory of the caller's, with name behind it ("" or
 * ".": none).  0 or a negative errno: -ENAMETOOLONG if it is no directory or too deep for us, too; -ENOENT:
 * it was removed.  True at some moment of the call, not at one: a rename on the way may be seen or not.
 */
int sb_deep_name(int proc, int fd, const char *name, char **out);

/* The path that stands for it; whole may be of any length from PATH_MAX on. */
void sb_deep_cut(const char *whole, char out[PATH_MAX]);

#endif
