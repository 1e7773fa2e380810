/*
 * session_file.h - the kept answers of a named session, as text.
 *
 *     #@ 1234567 64769 1700000000.123456789
 *     write /home/u/docs
 *     #@ -
 *     read /home/u/docs/letter.txt
 *     #@ project 1234568 64769 1700000000.123456789
 *     write /home/u/second
 *     #@ -
 *     connect github.com:443
 *
 * One rule a line (policy/text.h), absolute or about a host, and without wildcards.  Above it, which file it
 * was about: inode, device, and when it was made ("-": unknown, or nothing was there).
 * A path that means another file by now is another question.
 */
#ifndef SB_CONSENT_SESSION_FILE_H
#define SB_CONSENT_SESSION_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "sandbash/policy.h"

#define SB_SESSION_MAX 512 /* answers by hand; more is no session but a configuration */

struct sb_kept_file { /* a file, so that it is known again after a restart */
	bool known;
	bool project; /* open_project: it is a root of the session's */
	uint64_t inode, device;
	bool has_birth;
	int64_t birth_s;
	uint32_t birth_ns;
};

struct sb_kept_answer {
	char *path; /* canonical; a host does not begin with '/', and its access is "write" or "deny" */
	struct sb_access access;
	struct sb_kept_file file;
};

struct sb_kept_list {
	struct sb_kept_answer *entries;
	size_t count;
};

/* SB_E_INVALID names the line.  *out is filled on success only. */
int sb_session_parse(const char *bytes, size_t length, struct sb_kept_list *out,
		     struct sb_error *err);
void sb_session_print(const struct sb_kept_list *list, struct sb_buf *out);
void sb_kept_list_done(struct sb_kept_list *list);

/* Add, or replace what was kept for this path.  SB_E_REFUSED: full. */
int sb_kept_list_put(struct sb_kept_list *list, const char *path, const struct sb_access *access,
		     const struct sb_kept_file *file, struct sb_error *err);

/* False: nothing was kept for this path. */
bool sb_kept_list_drop(struct sb_kept_list *list, const char *path);

/* Remember the open file (O_PATH is enough). */
struct sb_kept_file sb_kept_file_of(int fd);

/*
 * The same file?  An inode number is given to another when a file is gone, and a device
 * number may change with every boot; the time of birth does neither, where there is one.
 */
bool sb_kept_same(const struct sb_kept_file *a, const struct sb_kept_file *b);

#endif
