/*
 * Rows of built-in tables, beneath a directory: what is there, through which links, becomes a rule.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/words.h"
#include "path/path.h"
#include "policy/builtin_impl.h"
#include "policy/policy_impl.h"
#include "policy/start.h"
#include "policy/text.h"
#include "sys/directory.h"

/* seen: the kind of what lies there, as st_mode says it; 0: not known. */
static int add_seen(struct sb_policy *policy, const char *path, const struct sb_builtin_row *row,
		    unsigned flags, unsigned seen, struct sb_error *err)
{
	static const char prefix[] = "built-in: ";
	SB_AUTO_FREE char *pattern = NULL;
	char origin[160];
	size_t room = sizeof origin - sizeof prefix, length = strnlen(row->reason, room);
	struct sb_rule rule = {
		.access = *row->access,
		.tier = SB_TIER_BUILTIN,
		.hard = flags & SB_BUILTIN_HARD,
		.any_mode = flags & SB_BUILTIN_ANY_MODE,
		.absent = flags & SB_BUILTIN_ABSENT,
		.temp = flags & SB_BUILTIN_TEMP,
		.shared = flags & SB_BUILTIN_SHARED,
		.sockets = flags & SB_BUILTIN_SOCKETS,
		.link = flags & SB_BUILTIN_IS_LINK,
		.checked = flags & SB_BUILTIN_CHECKED,
		.seen = seen,
		.origin = origin,
	};

	if ((flags & SB_BUILTIN_ABSENT) && (flags & SB_BUILTIN_EXISTING_ONLY))
		return SB_OK;
	rule.pattern = path;
	if (strpbrk(path, "*?[\\")) {
		rule.pattern = pattern = sb_pattern_escape(path);
		if (!pattern)
			return sb_no_memory(err);
	}
	memcpy(origin, prefix, sizeof prefix - 1);
	memcpy(origin + sizeof prefix - 1, row->reason, length);
	origin[sizeof prefix - 1 + length] = '\0';
	return sb_policy_add(policy, &rule, err);
}

int sb_builtin_literal(struct sb_policy *policy, const char *path, const struct sb_access *access,
		       const char *reason, unsigned flags, struct sb_error *err)
{
	const struct sb_builtin_row row = {.access = access, .reason = reason};

	return add_seen(policy, path, &row, flags, 0, err);
}

bool sb_builtin_leads_nowhere(int status, const struct sb_error *err)
{
	return status == SB_E_INVALID && err->sys_errno == ELOOP;
}

/* A row and where its links go. */
struct link_context {
	struct sb_policy *policy;
	const struct sb_builtin_row *row;
	unsigned flags;
};

static int link_found(void *context, const char *link, struct sb_error *err)
{
	const struct link_context *to = context;

	return sb_builtin_literal(to->policy, link, to->row->access, to->row->reason,
				  to->flags | SB_BUILTIN_IS_LINK, err);
}

/*
 * Add the links that are followed on the way to a row's name: whoever replaces one
 * replaces what lies behind it.  With "deny" only the name itself: else nothing but it
 * could be reached through ~/.config any more.
 */
int sb_builtin_links(struct sb_policy *policy, const char *written,
		     const struct sb_builtin_row *row, unsigned flags, struct sb_error *err)
{
	struct link_context context = {policy, row, flags};
	SB_AUTO_FREE char *itself = NULL;
	struct sb_error why;
	struct stat info;
	int status;

	if (row->access == &sb_access_ask || (flags & SB_BUILTIN_HARD))
		return sb_path_links(written, link_found, &context, err);
	status = sb_path_canonical_parent(written, &itself, &why);
	if (sb_builtin_leads_nowhere(status, &why))
		return SB_OK;
	if (status != SB_OK)
		return sb_fail(err, why.code, why.sys_errno, "%s", why.message);
	if (lstat(itself, &info) == 0 && S_ISLNK(info.st_mode))
		return link_found(&context, itself, err);
	return SB_OK;
}

enum { NOT_THERE, PLAIN, LINK };

#define MAX_LISTED 500 /* names; reading more takes longer than looking up the rows */

/* The bit of the first name in path by its first letters: a look more is better than a long sum. */
static unsigned name_bit(const char *path)
{
	uint64_t letters = 0;

	for (int left = 6; left && *path && *path != '/'; path++, left--)
		letters = letters << 8 | (unsigned char)*path;
	return (unsigned)(letters * UINT64_C(0x9e3779b97f4a7c15) >>
			  52); /* 2^64 by the golden ratio */
}

/*
 * Read the names of a directory of ordinary size: that is cheaper than asking for a
 * hundred names one by one.  A large one is left to the latter.
 */
static void list_names(struct sb_base *base)
{
	struct sb_sys_dir dir;
	const struct dirent64 *entry;

	sb_sys_dir_init(&dir, base->fd);
	for (int left = MAX_LISTED; (entry = sb_sys_dir_next(&dir)); left--) {
		const char *stem = entry->d_name;
		unsigned bit = name_bit(stem), begin = sb_base_begin_bit(stem);

		if (!left)
			return;
		base->begin[begin / 64] |= UINT64_C(1) << begin % 64;
		base->maybe[bit / 64] |= UINT64_C(1) << bit % 64;
		base->copies = base->copies || sb_copy_stem(&stem);
	}
	base->listed = dir.error == 0;
}

bool sb_base_lacks_name(const struct sb_base *base, const char *path)
{
	unsigned bit = name_bit(path);

	return !(base->maybe[bit / 64] & UINT64_C(1) << bit % 64);
}

static int kind_of(struct sb_base *base, const char *name)
{
	struct stat info;

	if (base->fd < 0)
		return LINK; /* unknown: take the thorough way */
	if (fstatat(base->fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT || errno == ENOTDIR ? NOT_THERE : LINK;
	base->seen = info.st_mode & S_IFMT;
	return S_ISLNK(info.st_mode) ? LINK : PLAIN;
}

/* The same for the first length bytes of name. */
static int kind_of_part(struct sb_base *base, const char *name, size_t length)
{
	char part[sizeof base->entry];

	if (name[length] == '\0')
		return kind_of(base, name);
	if (length >= sizeof part)
		return LINK; /* no row is that long; take the thorough way */
	memcpy(part, name, length);
	part[length] = '\0';
	return kind_of(base, part);
}

static void look_up(struct sb_base *base, const char *entry, size_t length)
{
	if (length >= sizeof base->entry) {
		base->kind = LINK; /* no row is that long; take the thorough way */
		base->entry[0] = '\0';
		return;
	}
	if (strlen(base->entry) == length && memcmp(base->entry, entry, length) == 0 &&
	    entry[length])
		return;
	memcpy(base->entry, entry, length);
	base->entry[length] = '\0';
	base->kind = kind_of(base, base->entry);
}

/* A row whose name may hold a link: add what it leads to, and the link. */
static int add_resolved(struct sb_policy *policy, const char *base,
			const struct sb_builtin_row *row, const char *written, unsigned flags,
			struct sb_error *err)
{
	SB_AUTO_FREE char *canonical = NULL;
	struct sb_error why;
	int missing, status;

	status = sb_path_canonical_beneath(base, row->path, &canonical, &missing, &why);
	if (status != SB_OK && !sb_builtin_leads_nowhere(status, &why))
		return sb_fail(err, why.code, why.sys_errno, "%s", why.message);
	/* ".vscode -> ." must not turn the whole project into a setting */
	if (status == SB_OK && !sb_path_within(canonical, base)) {
		status = sb_builtin_literal(policy, canonical, row->access, row->reason,
					    flags | (missing ? SB_BUILTIN_ABSENT : 0), err);
		if (status != SB_OK || strcmp(canonical, written) == 0)
			return status;
	}
	return sb_builtin_links(policy, written, row, flags, err);
}

static void begin_written(struct sb_base *base)
{
	size_t length = strlen(base->path), slash = base->path[length - 1] != '/';

	if (length + slash >= sizeof base->written)
		return;
	memcpy(base->written, base->path, length);
	base->written[length] = '/';
	base->prefix = length + slash;
}

/* The row's whole path: in base, or if it is too long in *out_own, which is to be freed. */
static const char *write_path(struct sb_base *base, const char *name, char **out_own)
{
	size_t length = strlen(name) + 1;

	if (base->prefix && length <= sizeof base->written - base->prefix) {
		memcpy(base->written + base->prefix, name, length);
		return base->written;
	}
	*out_own = sb_path_join(base->path, name);
	return *out_own;
}

int sb_builtin_add_row(struct sb_policy *policy, struct sb_base *base,
		       const struct sb_builtin_row *row, unsigned flags, struct sb_error *err)
{
	SB_AUTO_FREE char *own = NULL;
	const char *written;
	int kind = NOT_THERE;
	size_t end = 0;

	if (!sb_base_lacks(base, row->path)) {
		end = sb_first_name_length(row->path);
		look_up(base, row->path, end);
		kind = base->kind;
	}
	/* behind plain directories the next name can be looked at directly */
	while (kind == PLAIN && row->path[end]) {
		end += 1 + sb_first_name_length(row->path + end + 1);
		kind = kind_of_part(base, row->path, end);
	}
	if (kind == NOT_THERE && (flags & SB_BUILTIN_EXISTING_ONLY))
		return SB_OK;
	written = write_path(base, row->path, &own);
	if (!written)
		return sb_no_memory(err);
	/* "deny ~" means ~/.ssh/config, too: what is opened here is convenient, no more */
	if (row->access == &sb_access_read && sb_start_user_hides(policy, written))
		return SB_OK;
	if (kind == NOT_THERE)
		return sb_builtin_literal(policy, written, row->access, row->reason,
					  flags | SB_BUILTIN_ABSENT, err);
	if (kind == PLAIN)
		return add_seen(policy, written, row, flags, base->seen, err);
	return add_resolved(policy, base->path, row, written, flags, err);
}

void sb_base_begin(struct sb_base *base, const char *path, size_t rows)
{
	*base = (struct sb_base){.path = path,
				 .fd = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	begin_written(base);
	if (base->fd < 0) {
		base->gone = errno == ENOENT || errno == ENOTDIR;
		if (!base->gone) {
			base->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
			base->gone = base->fd < 0 && (errno == ENOENT || errno == ENOTDIR);
		}
	} else if (rows > 8) { /* fewer names are asked for sooner than listed */
		list_names(base);
	}
}

void sb_base_end(struct sb_base *base)
{
	sb_auto_close(&base->fd);
}

int sb_builtin_table(struct sb_policy *policy, const char *path, const struct sb_builtin_row *rows,
		     size_t count, unsigned flags, struct sb_error *err)
{
	struct sb_base base;
	int status = SB_OK;

	sb_base_begin(&base, path, count);
	for (size_t i = 0; i < count && status == SB_OK; i++)
		status = sb_builtin_add_row(policy, &base, &rows[i], flags, err);
	sb_base_end(&base);
	return status;
}
