/*
 * path.h - absolute paths: made canonical, compared by component.
 *
 * A canonical path is absolute, has no empty, "." or ".." component, no trailing
 * slash and, as far as it exists, no symbolic link.  Every path that a decision
 * is about has this form (P9).  Bytes are bytes: no encoding is assumed.
 */
#ifndef SB_PATH_PATH_H
#define SB_PATH_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbash/error.h"

/* True when path is dir itself or lies beneath it: "/a/b" holds "/a/b/c", never "/a/bc". */
bool sb_path_within(const char *dir, const char *path);

/* Is path within one of dirs; does dir hold one of paths?  NULL-terminated; NULL has none. */
bool sb_path_within_any(const char *const *dirs, const char *path);
bool sb_path_holds_any(const char *dir, const char *const *paths);

/*
 * Order paths as a tree is walked: a directory, all beneath it, then its siblings.
 * (strcmp() puts "/a-b" between "/a" and "/a/b".)  <0, 0 or >0.
 */
int sb_path_compare(const char *a, const char *b);

/*
 * Join, then remove empty, "." and ".." components by text alone.  An absolute
 * path ignores base; base must be absolute.  "~" and "~/x" mean home; "~user" is
 * SB_E_INVALID, as is "".  *out is malloc'ed.
 */
int sb_path_absolute(const char *path, const char *base, const char *home, char **out,
		     struct sb_error *err);

/*
 * As above, but ".." stays: it means what it means to the kernel, after the links before
 * it.  For sb_path_canonical().
 */
int sb_path_expand(const char *path, const char *base, const char *home, char **out,
		   struct sb_error *err);

/*
 * Resolve every symbolic link in as much of path (absolute) as can be reached;
 * the rest is kept by text, its ".." removed only after what stands before it was
 * resolved.  *out is malloc'ed.  *out_missing (may be NULL) is 0 when all of it
 * is there, else why not: ENOENT, ENOTDIR or EACCES.  A loop or an over-long name
 * is an error.
 */
int sb_path_canonical(const char *path, char **out, int *out_missing, struct sb_error *err);

/*
 * The same for base + "/" + rest where base is canonical already: saves a lookup
 * per component of base.  rest may climb out with "..".
 */
int sb_path_canonical_beneath(const char *base, const char *rest, char **out, int *out_missing,
			      struct sb_error *err);

/*
 * As sb_path_canonical, and says in *out_link (malloc'ed, or NULL) which link inside
 * one of roots (NULL-terminated) led out of it: whoever writes there chose the target.
 */
int sb_path_canonical_watched(const char *path, const char *const *roots, char **out,
			      int *out_missing, char **out_link, struct sb_error *err);

/* The same, of any link inside one of roots that was followed, wherever it led. */
int sb_path_canonical_through(const char *path, const char *const *roots, char **out,
			      int *out_missing, char **out_link, struct sb_error *err);

/*
 * As sb_path_canonical, but what lies beneath root (canonical) is kept as it is written, ".." and all: *out is root
 * and that text.
 */
int sb_path_canonical_up_to(const char *path, const char *root, char **out, int *out_missing,
			    struct sb_error *err);

/* Does the way to base + "/" + rest, links and all, never leave base, which is canonical? */
bool sb_path_stays_beneath(const char *base, const char *rest);

/*
 * Call found for every symbolic link that is followed on the way to path, in the last
 * place too.  Links in a circle end the walk; that is no error.
 */
typedef int (*sb_path_link_found)(void *context, const char *link, struct sb_error *err);
int sb_path_links(const char *path, sb_path_link_found found, void *context, struct sb_error *err);

/* As sb_path_canonical, but a link in the last component is kept: the link itself is meant. */
int sb_path_canonical_parent(const char *path, char **out, struct sb_error *err);

/* Is it there, and is it a directory; a link is followed by neither. */
bool sb_path_exists(const char *path);
bool sb_path_is_directory(const char *path);
bool sb_path_is_socket(const char *path); /* or a link to one */

/* What stands behind the last slash. */
const char *sb_path_name(const char *path);

/* "/a/b" -> "/a", "/a" -> "/", "/" -> NULL.  *out is malloc'ed. */
char *sb_path_parent(const char *path);

/* dir + "/" + name without doubling the slash; malloc'ed, NULL: out of memory. */
char *sb_path_join(const char *dir, const char *name);

#endif
