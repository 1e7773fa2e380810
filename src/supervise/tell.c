#include "supervise/tell.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/escape.h"
#include "base/words.h"
#include "guard/guard.h"
#include "guard/shadows.h"
#include "supervise/journals.h"
#include "sys/directory.h"

#define MOST_BROUGHT 65536 /* names in a directory that gets a name: a tenth of a second */
#define MOST_DEPTH 48

/* A directory of the run's own is gone afterwards. */
static bool is_private(const struct sb_telling *telling, const char *path)
{
	struct sb_decision decision = sb_decide(telling->policy, SB_CREATE, path);

	return decision.rule && decision.rule->temp;
}

static void tell(const struct sb_telling *telling, const char *path, const char *rest,
		 const char *done, const char *who)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(4 * PATH_MAX + 512); /* a path, escaped */

	if (is_private(telling, path))
		return;
	sb_buf_putc(&line, '\'');
	sb_escape_name(&line, path, strlen(path));
	sb_buf_printf(&line, "%s%s' was %s; %s follows its instructions", *rest ? "/" : "", rest,
		      done, who);
	if (!sb_buf_failed(&line))
		telling->note(telling->context, SB_NOTE_TOLD, line.data);
}

/* In a directory that does not mind the case of letters, both are one file. */
static bool is_same(const struct sb_spot *spot, const char *name)
{
	struct stat one, other;

	return spot->directory >= 0 &&
	       fstatat(spot->directory, spot->name, &one, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(spot->directory, name, &other, AT_SYMLINK_NOFOLLOW) == 0 &&
	       one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

static void tell_name(const struct sb_telling *telling, const struct sb_spot *spot,
		      const char *done)
{
	const char *who = spot->path[0] ? sb_guard_told(spot->path) : NULL;
	const struct sb_told_row *folded = who ? NULL : sb_guard_told_folded(spot->path);

	sb_journals_notice(spot->directory, spot->name, spot->path);
	if (folded && is_same(spot, folded->pattern))
		who = folded->who;
	if (who)
		tell(telling, spot->path, "", done, who);
}

/* A module right in a directory that a rule opens, a project as a rule: tools are started there. */
static void tell_shadow(const struct sb_telling *telling, const char *path)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(4 * PATH_MAX + 512); /* a path, escaped */
	const struct sb_rule *rule;
	const char *who;
	size_t top = sb_guard_shadows(path, &who);

	if (!top || is_private(telling, path))
		return;
	rule = sb_decide(telling->policy, SB_CREATE, path).rule;
	if (!rule || strlen(rule->pattern) != top || memcmp(rule->pattern, path, top) != 0)
		return;
	sb_buf_putc(&line, '\'');
	sb_escape_name(&line, path, strlen(path));
	sb_buf_printf(&line, "' is new; %s", who);
	if (!sb_buf_failed(&line))
		telling->note(telling->context, SB_NOTE_TOLD, line.data);
}

/* What has got a name, and may be a package. */
static void tell_module(const struct sb_telling *telling, const struct sb_spot *spot)
{
	char path[PATH_MAX], name[NAME_MAX + 32];
	const char *who;
	struct stat info;

	tell_shadow(telling, spot->path);
	snprintf(name, sizeof name, "%.*s/__init__.py", (int)strcspn(spot->name, "/"), spot->name);
	if ((size_t)snprintf(path, sizeof path, "%s/__init__.py", spot->path) < sizeof path &&
	    sb_guard_shadows(path, &who) && spot->directory >= 0 &&
	    fstatat(spot->directory, name, &info, 0) == 0)
		tell_shadow(telling, path);
}

/*
 * Something has got a name, or has lost it: what is in it has, too.  path is the name that counts, spot
 * where it is now.
 */
static void tell_inside(const struct sb_telling *telling, const char *path,
			const struct sb_spot *spot, const char *done)
{
	const struct sb_told_row *row;
	const char *rest;
	size_t from = 0;

	while ((row = sb_guard_told_in(path, &from, &rest))) {
		char name[NAME_MAX + 64], *inner;
		size_t length = strcspn(rest, "*");
		struct stat info;

		if (length && rest[length - 1] == '/')
			length--;
		snprintf(name, sizeof name, "%.*s/%.*s", (int)strcspn(spot->name, "/"), spot->name,
			 (int)length, rest);
		inner = strchr(name, '/');
		if (!inner[1])
			*inner = '\0'; /* the directory itself; it may be a link */
		if (spot->directory >= 0 &&
		    fstatat(spot->directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
		    (*inner || !S_ISREG(info.st_mode)))
			tell(telling, path, *inner ? inner + 1 : "", done, row->who);
	}
}

struct brought {
	const struct sb_telling *telling;
	unsigned left; /* names */
	bool missed;   /* not all could be looked at */
	char path[PATH_MAX];
};

static void tell_brought_in(struct brought *brought, int directory, size_t end, unsigned depth);

static void tell_brought_name(struct brought *brought, int directory, const struct dirent64 *entry,
			      size_t end, unsigned depth)
{
	int length =
		snprintf(brought->path + end, sizeof brought->path - end, "/%s", entry->d_name);
	SB_AUTO_FD int next = -1;
	size_t told;
	const char *who;

	if (length < 0 || (size_t)length >= sizeof brought->path - end) {
		brought->missed = true;
		return;
	}
	next = entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN
		       ? openat(directory, entry->d_name,
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		       : -1;
	if (next >= 0) {
		tell_brought_in(brought, next, end + (size_t)length, depth);
		return;
	}
	brought->missed |= entry->d_type == DT_DIR;
	who = sb_guard_told_part(brought->path, &told);
	if (!who)
		return;
	brought->path[told] = '\0';
	tell(brought->telling, brought->path, "", "changed", who);
}

static void tell_brought_in(struct brought *brought, int directory, size_t end, unsigned depth)
{
	SB_AUTO_FREE struct sb_sys_dir *dir = NULL;
	const struct dirent64 *entry;

	if (sb_guard_told_never(brought->path))
		return;
	dir = depth ? malloc(sizeof *dir) : NULL;
	if (!dir) {
		brought->missed = true;
		return;
	}
	sb_sys_dir_init(dir, directory);
	while (brought->left && (entry = sb_sys_dir_next(dir))) {
		if (sb_is_dots(entry->d_name))
			continue;
		brought->left--;
		tell_brought_name(brought, directory, entry, end, depth - 1);
		brought->path[end] = '\0';
	}
	brought->missed |= !brought->left || dir->error;
}

/*
 * SECURITY: a directory that gets a name brings instructions along, which count by their new names.
 *
 * Danger: one that was filled where nobody is told of it (node_modules/p), or stood elsewhere before the run, takes
 * the place of src, with another AGENTS.md.
 * Price: it is listed, some milliseconds for ten thousand names.
 * Held by: tests/cli/told.py
 */
static void tell_brought(const struct sb_telling *telling, const struct sb_spot *spot)
{
	SB_AUTO_FREE struct brought *brought = NULL;
	char name[NAME_MAX + 2];
	SB_AUTO_FD int fd = -1;
	struct stat info;

	if (!spot->path[0] || spot->directory < 0 || sb_guard_told_never(spot->path) ||
	    fstatat(spot->directory, sb_spot_plain_name(spot, name), &info, AT_SYMLINK_NOFOLLOW) !=
		    0 ||
	    !S_ISDIR(info.st_mode) || is_private(telling, spot->path))
		return;
	fd = openat(spot->directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	brought = fd >= 0 ? malloc(sizeof *brought) : NULL;
	if (brought) {
		*brought = (struct brought){.telling = telling, .left = MOST_BROUGHT};
		snprintf(brought->path, sizeof brought->path, "%s", spot->path);
		tell_brought_in(brought, fd, strlen(brought->path), MOST_DEPTH);
	}
	if (!brought || brought->missed) {
		SB_AUTO_BUF struct sb_buf line = SB_BUF(4 * PATH_MAX + 512);

		sb_buf_putc(&line, '\'');
		sb_escape_name(&line, spot->path, strlen(spot->path));
		sb_buf_puts(&line, "' got its name, with more in it than is looked through for "
				   "instructions of agents");
		if (!sb_buf_failed(&line))
			telling->note(telling->context, SB_NOTE_TOLD, line.data);
	}
}

/* By now what was at file is at target. */
static void tell_rename(const struct sb_telling *telling, const struct sb_call *call,
			const struct sb_spot *file, const struct sb_spot *target)
{
	bool exchange = call->flags & RENAME_EXCHANGE;

	tell_name(telling, file, exchange ? "changed" : "removed");
	tell_name(telling, target, "changed");
	tell_inside(telling, target->path, target, "changed");
	tell_brought(telling, target);
	tell_module(telling, target);
	if (exchange) {
		tell_inside(telling, file->path, file, "changed");
		tell_brought(telling, file);
		tell_module(telling, file);
	} else {
		tell_inside(telling, file->path, target, "removed");
	}
}

void sb_tell_act(const struct sb_telling *telling, const struct sb_call *call,
		 const struct sb_spot *file, const struct sb_spot *target)
{
	switch (call->act) {
	case SB_ACT_OPEN:
		if ((call->flags & O_TMPFILE) == O_TMPFILE)
			break;
		/* what is opened for writing is taken for written */
		if (file->object < 0 || (call->flags & (O_ACCMODE | O_TRUNC)))
			tell_name(telling, file, "changed");
		if (file->object < 0 && file->path[0])
			tell_shadow(telling, file->path);
		break;
	case SB_ACT_UNLINK:
		tell_name(telling, file, "removed");
		break;
	case SB_ACT_SYMLINK:
		tell_inside(telling, file->path, file, "changed");
		tell_module(telling, file);
		/* fall through */
	case SB_ACT_TRUNCATE:
	case SB_ACT_MKNOD:
		tell_name(telling, file, "changed");
		break;
	case SB_ACT_LINK: /* by its second name nobody sees it being written */
		tell_name(telling, file, "changed");
		tell_name(telling, target, "changed");
		tell_shadow(telling, target->path);
		break;
	case SB_ACT_RENAME:
		tell_rename(telling, call, file, target);
		break;
	default:
		break;
	}
}

static void tell_grave(const struct sb_telling *telling, const char *path, const char *what)
{
	SB_AUTO_BUF struct sb_buf line = SB_BUF(4 * PATH_MAX + 1024); /* a path, escaped */

	sb_buf_putc(&line, '\'');
	sb_escape_append(&line, path, strlen(path));
	sb_buf_printf(&line, "' %s", what);
	if (!sb_buf_failed(&line))
		telling->note(telling->context, SB_NOTE_GRAVE, line.data);
}

void sb_tell_at(const struct sb_telling *telling, const char *path, const char *what)
{
	if (!is_private(telling, path))
		tell_grave(telling, path, what);
}

/* In a /tmp that the run shares with others, too; of what lies in its own nobody judges so. */
void sb_tell_links(const struct sb_telling *telling, const struct sb_judgement *judgement)
{
	for (size_t i = 0; i < judgement->count; i++)
		if (judgement->all[i].leads_home)
			tell_grave(telling, judgement->all[i].site->path,
				   "is a link to a directory outside in which programs obey files");
}
