#include "policy/builtin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "guard/guard.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/policy_impl.h"
#include "policy/remembered.h"
#include "policy/secrets.h"
#include "policy/start.h"
#include "policy/text.h"
#include "sys/directory.h"

struct row {
	const char *path; /* relative to what the table says */
	const struct sb_access *access;
	const char *reason;
};

static const struct sb_access use_device = {{SB_ALLOW, SB_ALLOW, SB_DENY, SB_DENY}};

/* Beneath /run and /var: services that do for a client what the client may not do itself. */
static const struct row run_sockets[] = {
	{"docker.sock", &sb_access_deny, "docker gives root on this machine"},
	{"docker", &sb_access_deny, "container runtime"},
	{"containerd", &sb_access_deny, "container runtime"},
	{"podman", &sb_access_deny, "container runtime"},
	{"crio", &sb_access_deny, "container runtime"},
	{"buildkit", &sb_access_deny, "container runtime"},
	{"k3s", &sb_access_deny, "container runtime"},
	{"tmux", &sb_access_deny, "types into the user's other terminals"},
	{"screen", &sb_access_deny, "types into the user's other terminals"},
	{"libvirt", &sb_access_deny, "virtual machines"},
	{"incus", &sb_access_deny, "container manager"},
	{"snapd.socket", &sb_access_deny, "package installer"},
	{"systemd/private", &sb_access_deny, "starts services outside"},
	{"dbus/system_bus_socket", &sb_access_deny, "system bus: starts services outside"},
};

static const struct row temp_sockets[] = {
	{".X11-unix", &sb_access_deny, "types into any window"},
	{".ICE-unix", &sb_access_deny, "session manager"},
};

static const struct row var_sockets[] = {
	{"lib/incus/unix.socket", &sb_access_deny, "container manager"},
	{"lib/lxd/unix.socket", &sb_access_deny, "container manager"},
	{"snap/lxd/common/lxd/unix.socket", &sb_access_deny, "container manager"},
};

/* Not even with the whole root opened: these are no files. */
static const struct row kernel[] = {
	{"proc", &sb_access_ask, "settings of the kernel and of other programs"},
	{"sys", &sb_access_ask, "settings of the kernel and its devices"},
};

static const struct row devices[] = {
	{"null", &use_device, "device"},        {"zero", &use_device, "device"},
	{"full", &use_device, "device"},        {"random", &use_device, "device"},
	{"urandom", &use_device, "device"},     {"tty", &use_device, "terminal"},
	{"ptmx", &use_device, "new terminals"}, {"pts", &use_device, "terminals"},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum flags {
	HARD = 1,
	ANY_MODE = 2,
	ABSENT = 4,
	TEMP = 8,
	EXISTING_ONLY = 16,
	IS_LINK = 32,
	CHECKED = 64,
	SOCKETS = 128,
	SHARED = 256,
};

/* seen: the kind of what lies there, as st_mode says it; 0: not known. */
static int add_seen(struct sb_policy *policy, const char *path, const struct sb_access *access,
		    const char *reason, unsigned flags, unsigned seen, struct sb_error *err)
{
	static const char prefix[] = "built-in: ";
	SB_AUTO_FREE char *pattern = NULL;
	char origin[160];
	size_t room = sizeof origin - sizeof prefix, length = strnlen(reason, room);
	struct sb_rule rule = {
		.access = *access,
		.tier = SB_TIER_BUILTIN,
		.hard = flags & HARD,
		.any_mode = flags & ANY_MODE,
		.absent = flags & ABSENT,
		.temp = flags & TEMP,
		.shared = flags & SHARED,
		.sockets = flags & SOCKETS,
		.link = flags & IS_LINK,
		.checked = flags & CHECKED,
		.seen = seen,
		.origin = origin,
	};

	if ((flags & ABSENT) && (flags & EXISTING_ONLY))
		return SB_OK;
	rule.pattern = path;
	if (strpbrk(path, "*?[\\")) {
		rule.pattern = pattern = sb_pattern_escape(path);
		if (!pattern)
			return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	}
	memcpy(origin, prefix, sizeof prefix - 1);
	memcpy(origin + sizeof prefix - 1, reason, length);
	origin[sizeof prefix - 1 + length] = '\0';
	return sb_policy_add(policy, &rule, err);
}

static int add_literal(struct sb_policy *policy, const char *path, const struct sb_access *access,
		       const char *reason, unsigned flags, struct sb_error *err)
{
	return add_seen(policy, path, access, reason, flags, 0, err);
}

/* Links in a circle lead nowhere, for programs outside too: nothing behind them to protect. */
static bool leads_nowhere(int status, const struct sb_error *err)
{
	return status == SB_E_INVALID && err->sys_errno == ELOOP;
}

/* A row and where its links go. */
struct link_context {
	struct sb_policy *policy;
	const struct row *row;
	unsigned flags;
};

static int link_found(void *context, const char *link, struct sb_error *err)
{
	const struct link_context *to = context;

	return add_literal(to->policy, link, to->row->access, to->row->reason, to->flags | IS_LINK,
			   err);
}

/*
 * Add the links that are followed on the way to a row's name: whoever replaces one
 * replaces what lies behind it.  With "deny" only the name itself: else nothing but it
 * could be reached through ~/.config any more.
 */
static int add_links(struct sb_policy *policy, const char *written, const struct row *row,
		     unsigned flags, struct sb_error *err)
{
	struct link_context context = {policy, row, flags};
	SB_AUTO_FREE char *itself = NULL;
	struct sb_error why;
	struct stat info;
	int status;

	if (row->access == &sb_access_ask || (flags & HARD))
		return sb_path_links(written, link_found, &context, err);
	status = sb_path_canonical_parent(written, &itself, &why);
	if (leads_nowhere(status, &why))
		return SB_OK;
	if (status != SB_OK)
		return sb_fail(err, why.code, why.sys_errno, "%s", why.message);
	if (lstat(itself, &info) == 0 && S_ISLNK(info.st_mode))
		return link_found(&context, itself, err);
	return SB_OK;
}

/*
 * A directory whose names are looked up, and what its last looked-up entry was: the
 * rows of a table share their first components, and most of them are not there.
 */
struct base {
	const char *path; /* canonical */
	int fd;           /* -1: cannot be opened */
	bool gone;        /* it is not there, nor anything in it */
	char entry[64];
	int kind;           /* of that entry */
	unsigned seen;      /* the kind of what was looked at last, as st_mode says it */
	char written[512];  /* path, a slash, and the row's name behind it */
	size_t prefix;      /* how long path is with the slash; 0: too long for written */
	bool listed;        /* all its names are in maybe: */
	uint64_t maybe[64]; /* a bit per name; a name whose bit is not set is not there */
};

enum { NOT_THERE, PLAIN, LINK };

#define MAX_LISTED 500 /* names; reading more takes longer than looking up the rows */

/* The bit of the first name in path, by its first letters: a look more is better than a long sum. */
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
static void list_names(struct base *base)
{
	struct sb_sys_dir dir;
	const struct dirent64 *entry;

	sb_sys_dir_init(&dir, base->fd);
	for (int left = MAX_LISTED; (entry = sb_sys_dir_next(&dir)); left--) {
		unsigned bit = name_bit(entry->d_name);

		if (!left)
			return;
		base->maybe[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	base->listed = dir.error == 0;
}

/* Is it known without a look that path is not there? */
static bool is_missing(const struct base *base, const char *path)
{
	unsigned bit;

	if (!base->listed)
		return base->gone;
	bit = name_bit(path);
	return !(base->maybe[bit / 64] & UINT64_C(1) << bit % 64);
}

static int kind_of(struct base *base, const char *name)
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
static int kind_of_part(struct base *base, const char *name, size_t length)
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

static void look_up(struct base *base, const char *entry, size_t length)
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
static int add_resolved(struct sb_policy *policy, const char *base, const struct row *row,
			const char *written, unsigned flags, struct sb_error *err)
{
	SB_AUTO_FREE char *canonical = NULL;
	struct sb_error why;
	int missing, status;

	status = sb_path_canonical_beneath(base, row->path, &canonical, &missing, &why);
	if (status != SB_OK && !leads_nowhere(status, &why))
		return sb_fail(err, why.code, why.sys_errno, "%s", why.message);
	/* ".vscode -> ." must not turn the whole project into a setting */
	if (status == SB_OK && !sb_path_within(canonical, base)) {
		status = add_literal(policy, canonical, row->access, row->reason,
				     flags | (missing ? ABSENT : 0), err);
		if (status != SB_OK || strcmp(canonical, written) == 0)
			return status;
	}
	return add_links(policy, written, row, flags, err);
}

static void begin_written(struct base *base)
{
	size_t length = strlen(base->path), slash = base->path[length - 1] != '/';

	if (length + slash >= sizeof base->written)
		return;
	memcpy(base->written, base->path, length);
	base->written[length] = '/';
	base->prefix = length + slash;
}

/* The row's whole path: in base, or if it is too long in *out_own, which is to be freed. */
static const char *write_path(struct base *base, const char *name, char **out_own)
{
	size_t length = strlen(name) + 1;

	if (base->prefix && length <= sizeof base->written - base->prefix) {
		memcpy(base->written + base->prefix, name, length);
		return base->written;
	}
	*out_own = sb_path_join(base->path, name);
	return *out_own;
}

static int add_row(struct sb_policy *policy, struct base *base, const struct row *row,
		   unsigned flags, struct sb_error *err)
{
	SB_AUTO_FREE char *own = NULL;
	const char *written;
	int kind = NOT_THERE;
	size_t end = 0;

	if (!is_missing(base, row->path)) {
		end = strcspn(row->path, "/");
		look_up(base, row->path, end);
		kind = base->kind;
	}
	/* behind plain directories the next name can be looked at directly */
	while (kind == PLAIN && row->path[end]) {
		end += 1 + strcspn(row->path + end + 1, "/");
		kind = kind_of_part(base, row->path, end);
	}
	if (kind == NOT_THERE && (flags & EXISTING_ONLY))
		return SB_OK;
	written = write_path(base, row->path, &own);
	if (!written)
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	/* "deny ~" means ~/.ssh/config, too: what is opened here is convenient, no more */
	if (row->access == &sb_access_read && sb_start_user_hides(policy, written))
		return SB_OK;
	if (kind == NOT_THERE)
		return add_literal(policy, written, row->access, row->reason, flags | ABSENT, err);
	if (kind == PLAIN)
		return add_seen(policy, written, row->access, row->reason, flags, base->seen, err);
	return add_resolved(policy, base->path, row, written, flags, err);
}

/* The directory of a table with so many rows. */
static void begin_base(struct base *base, const char *path, size_t rows)
{
	*base = (struct base){.path = path,
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

static void end_base(struct base *base)
{
	if (base->fd >= 0)
		close(base->fd);
	base->fd = -1;
}

/* The rows of a table, relative to path (canonical). */
static int add_table(struct sb_policy *policy, const char *path, const struct row *rows,
		     size_t count, unsigned flags, struct sb_error *err)
{
	struct base base;
	int status = SB_OK;

	begin_base(&base, path, count);
	for (size_t i = 0; i < count && status == SB_OK; i++)
		status = add_row(policy, &base, &rows[i], flags, err);
	end_base(&base);
	return status;
}

/* --- secrets --------------------------------------------------------------------------------- */

#define MAX_SETTINGS (64 * 1024) /* longer ones are closed without a look */

static bool has_word(const char *text, size_t length, const char *word)
{
	size_t width = strlen(word);

	for (size_t i = 0; i + width <= length; i++)
		if (strncasecmp(text + i, word, width) == 0)
			return true;
	return false;
}

/*
 * SECURITY: settings that builds need are hidden only if they look as if a password were in them.
 *
 * Danger: a password under a name that nobody would take for one stays readable.
 * Price: words like "key" and "user" hide files that hold none; --allow-read opens one.
 * Held by: tests/enforce/secrets.py
 */
static bool may_hold_password(int directory, const char *name)
{
	static const char *const words[] = {"pass", "pwd", "token",   "secret",
					    "auth", "key", "cred",    "login",
					    "user", "@",   "private", "bearer"};
	SB_AUTO_FD int fd = openat(directory, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	SB_AUTO_FREE char *text = malloc(MAX_SETTINGS);
	size_t length = 0;
	ssize_t part;

	if (fd < 0 || !text)
		return true;
	while ((part = read(fd, text + length, MAX_SETTINGS - length)) > 0)
		length += (size_t)part;
	if (part < 0 || length == MAX_SETTINGS || memchr(text, '\0', length))
		return true;
	for (size_t i = 0; i < COUNT(words); i++)
		if (has_word(text, length, words[i]))
			return true;
	return false;
}

/* One name with wildcards: the plan finds what it means.  around: its directory, canonical. */
static int add_secret_pattern(struct sb_policy *policy, const char *around, const char *wild,
			      const char *reason, struct sb_error *err)
{
	SB_AUTO_FREE char *escaped = sb_pattern_escape(around), *text = NULL;
	char origin[160];
	struct sb_rule rule = {.access = sb_access_deny, .tier = SB_TIER_BUILTIN, .origin = origin};

	if (!escaped || asprintf(&text, "%s/%s", escaped, wild) < 0) {
		text = NULL;
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	}
	snprintf(origin, sizeof origin, "built-in: %s", reason);
	rule.pattern = text;
	return sb_policy_add(policy, &rule, err);
}

static int add_secret_patterns(struct sb_policy *policy, struct base *base, struct sb_error *err)
{
	size_t count, last_length = 0;
	const struct sb_secret *secrets = sb_secrets(SB_SECRETS_PATTERNS, &count);
	const char *last = "";
	int status = SB_OK;

	for (size_t i = 0; i < count && status == SB_OK; i++) {
		const char *path = secrets[i].path, *wild = path + strcspn(path, "*");
		SB_AUTO_FREE char *around = NULL, *canonical = NULL;
		int missing = 0;
		size_t length;

		while (wild[-1] != '/')
			wild--;
		length = (size_t)(wild - 1 - path);
		/* rows of one directory stand together, and mostly it is not there */
		if (is_missing(base, path) ||
		    (length == last_length && memcmp(path, last, length) == 0))
			continue;
		around = strndup(path, length);
		if (!around)
			return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
		if (sb_path_canonical_beneath(base->path, around, &canonical, &missing, NULL) !=
			    SB_OK ||
		    missing) {
			last = path;
			last_length = length;
			continue;
		}
		status = add_secret_pattern(policy, canonical, wild, secrets[i].reason, err);
	}
	return status;
}

/* The secrets of one table, relative to its base. */
static int add_rows_of(struct sb_policy *policy, struct base *base, enum sb_secret_base kind,
		       unsigned flags, struct sb_error *err)
{
	size_t count;
	const struct sb_secret *secrets = sb_secrets(kind, &count);
	int status = SB_OK;

	for (size_t i = 0; i < count && status == SB_OK; i++) {
		const struct sb_secret *one = &secrets[i];
		unsigned how = one->flags & SB_SECRET_FOUND ? flags | EXISTING_ONLY : flags;
		const struct row row = {one->path,
					one->flags & SB_SECRET_PUBLIC ? &sb_access_read
								      : &sb_access_deny,
					one->reason};

		if ((one->flags & SB_SECRET_MIXED || how & EXISTING_ONLY) &&
		    is_missing(base, one->path))
			continue;
		if ((one->flags & SB_SECRET_MIXED) &&
		    (base->fd < 0 || !may_hold_password(base->fd, one->path)))
			continue;
		status = add_row(policy, base, &row, how, err);
	}
	return status;
}

/* The same, relative to path (canonical). */
static int add_secrets(struct sb_policy *policy, const char *path, enum sb_secret_base kind,
		       unsigned flags, struct sb_error *err)
{
	struct base base;
	size_t count;
	int status;

	sb_secrets(kind, &count);
	begin_base(&base, path, count);
	status = add_rows_of(policy, &base, kind, flags, err);
	end_base(&base);
	return status;
}

/* The same in a directory of the home's, which may be a link; or not be there. */
static int add_secrets_in(struct sb_policy *policy, const struct base *home,
			  enum sb_secret_base kind, unsigned flags, struct sb_error *err)
{
	const char *directory = sb_secrets_directory(kind);
	SB_AUTO_FREE char *canonical = NULL;
	struct sb_error why;
	int status;

	if ((flags & EXISTING_ONLY) && is_missing(home, directory))
		return SB_OK;
	status = sb_path_canonical_beneath(home->path, directory, &canonical, NULL, &why);
	if (leads_nowhere(status, &why))
		return SB_OK;
	if (status != SB_OK)
		return sb_fail(err, why.code, why.sys_errno, "%s", why.message);
	return add_secrets(policy, canonical, kind, flags, err);
}

static int add_secrets_of(struct sb_policy *policy, const char *home, unsigned flags,
			  struct sb_error *err)
{
	struct base base;
	size_t count;
	int status;

	sb_secrets(SB_SECRETS_HOME, &count);
	begin_base(&base, home, count);
	status = add_rows_of(policy, &base, SB_SECRETS_HOME, flags, err);
	if (status == SB_OK)
		status = add_secret_patterns(policy, &base, err);
	if (status == SB_OK)
		status = add_secrets_in(policy, &base, SB_SECRETS_CONFIG, flags, err);
	if (status == SB_OK)
		status = add_secrets_in(policy, &base, SB_SECRETS_DATA, flags, err);
	if (status == SB_OK && !is_missing(&base, "snap"))
		status = add_secrets_in(policy, &base, SB_SECRETS_SNAP, flags, err);
	end_base(&base);
	return status;
}

static int add_all_secrets(struct sb_policy *policy, const struct sb_place *place, unsigned flags,
			   struct sb_error *err)
{
	int status = place->home ? add_secrets_of(policy, place->home, flags, err) : SB_OK;

	/* HOME may be changed (CI, agents, sudo); the account's keys stay where they are. */
	if (status == SB_OK && place->account_home &&
	    (!place->home || strcmp(place->home, place->account_home) != 0))
		status = add_secrets_of(policy, place->account_home, flags, err);
	if (status == SB_OK && place->config_home)
		status = add_secrets(policy, place->config_home, SB_SECRETS_CONFIG,
				     flags | EXISTING_ONLY, err);
	if (status == SB_OK && place->data_home)
		status = add_secrets(policy, place->data_home, SB_SECRETS_DATA,
				     flags | EXISTING_ONLY, err);
	for (size_t i = 0; place->secrets && place->secrets[i] && status == SB_OK; i++)
		status = add_literal(policy, place->secrets[i], &sb_access_deny,
				     "credentials that the environment names", 0, err);
	return status;
}

/*
 * A temp directory that holds the home directory, a project or our own files is
 * writable around that entry only: what lies there is no temporary file.
 */
static int keep_entry(struct sb_policy *policy, const char *temp, const char *path,
		      struct sb_error *err)
{
	SB_AUTO_FREE char *entry = NULL;
	size_t length;

	if (!path || !sb_path_within(temp, path) || strcmp(temp, path) == 0)
		return SB_OK;
	length = strlen(temp) + 1;
	entry = strndup(path, length + strcspn(path + length, "/"));
	if (!entry)
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	/* where the user hides what is around it, it is hidden as the rest of that */
	return add_literal(policy, entry,
			   sb_start_user_hides(policy, temp) ? &sb_access_deny : &sb_access_ask,
			   "holds more than temporary files", 0, err);
}

static int add_temp_dir(struct sb_policy *policy, const struct sb_place *place, const char *temp,
			const char *reason, unsigned flags, struct sb_error *err)
{
	int status = add_literal(policy, temp, &sb_access_write, reason, flags, err);

	if (status == SB_OK)
		status = keep_entry(policy, temp, place->home, err);
	if (status == SB_OK)
		status = keep_entry(policy, temp, place->config_dir, err);
	if (status == SB_OK)
		status = keep_entry(policy, temp, place->state_dir, err);
	for (size_t i = 0; place->projects[i] && status == SB_OK; i++) {
		SB_AUTO_FREE char *parent = sb_path_parent(place->projects[i]);

		status = keep_entry(policy, temp, parent, err);
	}
	return status;
}

static bool holds_more(const struct sb_place *place, const char *temp)
{
	bool more = (place->home && sb_path_within(temp, place->home)) ||
		    (place->config_dir && sb_path_within(temp, place->config_dir)) ||
		    (place->state_dir && sb_path_within(temp, place->state_dir));

	for (size_t i = 0; place->projects[i] && !more; i++)
		more = sb_path_within(temp, place->projects[i]);
	return more;
}

/*
 * The second one, for what outlives a restart; on some systems a link to the first.  Whoever lives or
 * works in it keeps it as it is: nothing needs it as programs need the first.
 */
static int add_var_tmp(struct sb_policy *policy, const struct sb_place *place, const char *tmp,
		       unsigned flags, struct sb_error *err)
{
	SB_AUTO_FREE char *path = NULL;
	struct stat info;
	int status = sb_path_canonical("/var/tmp", &path, NULL, err);

	if (status != SB_OK || strcmp(path, tmp) == 0 || stat(path, &info) != 0 ||
	    !S_ISDIR(info.st_mode) || !(info.st_mode & S_ISVTX) || holds_more(place, path))
		return status;
	return add_temp_dir(policy, place, path, "temporary files", flags, err);
}

static int add_temp(struct sb_policy *policy, const struct sb_place *place, struct sb_error *err)
{
	SB_AUTO_FREE char *tmp = NULL;
	unsigned flags = sb_policy_tmp(policy) == SB_TMP_PRIVATE ? TEMP : SHARED;
	int status = SB_OK;

	if (sb_policy_tmp(policy) != SB_TMP_OFF) {
		status = sb_path_canonical("/tmp", &tmp, NULL, err);
		if (status == SB_OK)
			status = add_temp_dir(policy, place, tmp, "temporary files", flags, err);
		if (status == SB_OK)
			status = add_var_tmp(policy, place, tmp, flags, err);
		if (status == SB_OK && place->tmpdir)
			status = add_temp_dir(policy, place, place->tmpdir,
					      "temporary files ($TMPDIR)", flags, err);
	}
	/* With the real /tmp these would be there: whoever reaches them types into any window. */
	if (status == SB_OK && sb_policy_tmp(policy) != SB_TMP_OFF)
		status = add_table(policy, tmp, temp_sockets, COUNT(temp_sockets),
				   place->existing_only ? EXISTING_ONLY | SOCKETS : SOCKETS, err);
	if (status == SB_OK)
		status = add_temp_dir(policy, place, "/dev/shm", "shared memory", ANY_MODE | TEMP,
				      err);
	return status;
}

/*
 * Our own files: no rule and no mode opens them for changes (S9).  The record, sessions and sockets
 * are not even read: command lines hold passwords.
 */
static int add_own(struct sb_policy *policy, const struct sb_place *place, struct sb_error *err)
{
	const char *const own[] = {place->config_dir, "/etc/sandbash"};
	int status = SB_OK;

	if (place->state_dir)
		status = add_literal(policy, place->state_dir, &sb_access_deny,
				     "sandbash's own record", HARD, err);

	for (size_t i = 0; i < COUNT(own) && status == SB_OK; i++)
		if (own[i])
			status = add_literal(policy, own[i], &sb_access_read,
					     "sandbash's own files", HARD, err);
	for (size_t i = 1; place->refused && place->refused[i - 1] && status == SB_OK; i += 2)
		status = add_literal(policy, place->refused[i], &sb_access_read,
				     "a place for sandbash's own files", HARD, err);
	if (status == SB_OK && place->config_dir) {
		SB_AUTO_FREE char *word = sb_path_join(place->config_dir, "word");

		status = word ? add_literal(policy, word, &sb_access_deny,
					    "the words that mark sandbash's own questions", HARD,
					    err)
			      : sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	}
	return status;
}

/* Git takes a directory for its own by what is in it, whatever it is called. */
static bool is_git_dir(const char *path)
{
	static const char *const parts[] = {"HEAD", "objects", "refs"};

	for (size_t i = 0; i < COUNT(parts); i++) {
		SB_AUTO_FREE char *part = sb_path_join(path, parts[i]);

		if (!part || access(part, F_OK) != 0)
			return false;
	}
	return true;
}

/* How far the guard's rows were looked at, and for which: those of git directories, or the others. */
struct held {
	bool git;
	size_t next;
	const char *last;
};

/*
 * The next name that is held for the guard's rows (without "<git>/").  Rows that are held by one
 * directory stand together in the table, and a name that comes twice all the same is one rule:
 * the policy knows it already.
 */
static bool next_held(struct held *held, struct row *out)
{
	static const char prefix[] = "<git>/";
	size_t rows;
	const struct sb_guard_row *table = sb_guard_rows(&rows);

	while (held->next < rows) {
		const struct sb_guard_row *row = &table[held->next++];
		const char *name = row->held;

		if (!*name || (*name == prefix[0]) != held->git)
			continue;
		name += held->git ? sizeof prefix - 1 : 0;
		if (held->last && strcmp(held->last, name) == 0)
			continue;
		held->last = name;
		*out = (struct row){name, &sb_access_ask, row->why};
		return true;
	}
	return false;
}

/* All of them in root (canonical): at its top, or what git obeys in root/.git, which may be a link. */
static int add_held(struct sb_policy *policy, const char *root, struct held held, bool in_dot_git,
		    unsigned flags, struct sb_error *err)
{
	char name[sizeof ".git/" + sizeof((struct sb_guard_row *)0)->held];
	struct base base;
	struct row row;
	int status = SB_OK;

	begin_base(&base, root, held.git ? 0 : SB_GUARD_MAX_ROWS);
	while (status == SB_OK && next_held(&held, &row)) {
		if (in_dot_git) {
			snprintf(name, sizeof name, ".git/%s", row.path);
			row.path = name;
		}
		status = add_row(policy, &base, &row, flags, err);
	}
	end_base(&base);
	return status;
}

/* What a program outside would run or obey, at the top of a writable directory. */
static int guard_root(struct sb_policy *policy, const char *root, unsigned flags,
		      struct sb_error *err)
{
	SB_AUTO_FREE char *git = sb_path_join(root, ".git");
	struct stat info;
	int status = SB_OK;
	bool there, missing;

	if (!git)
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	there = lstat(git, &info) == 0;
	missing = !there && errno == ENOENT;
	/* In a linked worktree or a submodule it is a file with the way to the rest. */
	if (there && S_ISREG(info.st_mode))
		status = add_literal(policy, git, &sb_access_ask,
				     "leads git to its hooks and config", 0, err);
	if (status == SB_OK && is_git_dir(root))
		status = add_held(policy, root, (struct held){.git = true}, false, flags, err);
	/* where there is no repository, git init has to be able to make one */
	if (status == SB_OK && !missing)
		status = add_held(policy, root, (struct held){.git = true}, true,
				  access(git, F_OK) == 0 ? flags : flags | EXISTING_ONLY, err);
	return status == SB_OK ? add_held(policy, root, (struct held){0}, false, flags, err)
			       : status;
}

/*
 * Did the user close a directory around path?  Then it stays closed.  A wildcard may mean something in it, but for
 * those of histories (remembered.h), which a printed policy has: they are about what they cover.
 */
static bool is_closed(const struct sb_policy *policy, const char *path)
{
	for (size_t i = 0; i < sb_policy_count(policy); i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);
		const struct sb_pattern *pattern = sb_policy_pattern(policy, i);

		if (rule->tier != SB_TIER_BUILTIN && sb_path_within(pattern->prefix, path) &&
		    (!rule->access.quiet || sb_pattern_covers(pattern, path)) &&
		    (rule->access.verdict[SB_CREATE] != SB_ALLOW ||
		     rule->access.verdict[SB_MODIFY] != SB_ALLOW))
			return true;
	}
	return false;
}

/* In a part that is opened: what leads git elsewhere, where no guard looks at it. */
static int guard_part(struct sb_policy *policy, const struct sb_guard_part *part, unsigned flags,
		      struct sb_error *err)
{
	static const struct row leads[] = {
		{"gitdir", &sb_access_ask, "leads git to another worktree"},
		{"commondir", &sb_access_ask, "leads git to other hooks and config"},
		{"config.worktree", &sb_access_ask, "git config can name programs to run"},
	};
	/* the main checkout's own: git writes other lists beside them */
	static const struct row lists[] = {
		{"exclude", &sb_access_ask, "what git ignores in every worktree"},
		{"attributes", &sb_access_ask,
		 "how git shows and converts files in every worktree"},
	};
	SB_AUTO_FREE char *commondir = sb_path_join(part->path, "commondir");
	const char *name = strrchr(part->path, '/');

	if (!commondir)
		return sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	if (is_git_dir(part->path))
		return add_held(policy, part->path, (struct held){.git = true}, false, flags, err);
	if (name && strcmp(name, "/info") == 0)
		return add_table(policy, part->path, lists, COUNT(lists), flags | EXISTING_ONLY,
				 err);
	if (access(commondir, F_OK) == 0) /* the worktree's own directory */
		return add_table(policy, part->path, leads, COUNT(leads), flags, err);
	return SB_OK;
}

/* A linked worktree or submodule whose git data lies elsewhere: exactly what git needs there. */
static int add_parts(struct sb_policy *policy, const struct sb_place *place, const char *project,
		     unsigned flags, struct sb_error *err)
{
	struct sb_guard_parts parts;
	int status = sb_guard_parts_find(project, &parts, err);

	for (size_t i = 0; i < parts.count && status == SB_OK; i++) {
		const struct sb_guard_part *part = &parts.all[i];
		bool missing = access(part->path, F_OK) != 0;
		char reason[96];

		if ((part->checked && !place->guarded) || is_closed(policy, part->path))
			continue;
		snprintf(reason, sizeof reason, "git data of this checkout: %s", part->why);
		status = add_literal(
			policy, part->path, &sb_access_write, reason,
			flags | (missing ? ABSENT : 0) | (place->guarded ? CHECKED : 0), err);
		if (status == SB_OK && part->directory && !missing && !place->guarded)
			status = guard_part(policy, part, flags, err);
	}
	sb_guard_parts_done(&parts);
	return status;
}

/* Directories that the user's rules open need the same care as a project. */
/* Nobody keeps settings there; a printed policy with the real /tmp must read back alike. */
static bool is_temp(const struct sb_place *place, const char *path)
{
	return strcmp(path, "/tmp") == 0 || strcmp(path, "/var/tmp") == 0 ||
	       strcmp(path, "/dev/shm") == 0 || (place->tmpdir && strcmp(path, place->tmpdir) == 0);
}

static int guard_opened(struct sb_policy *policy, const struct sb_place *place, unsigned flags,
			struct sb_error *err)
{
	size_t count = sb_policy_count(policy);
	int status = SB_OK;

	for (size_t i = 0; i < count && status == SB_OK; i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);
		const struct sb_pattern *pattern = sb_policy_pattern(policy, i);
		SB_AUTO_FREE char *root = NULL;
		struct stat info;

		/* a run that has fast roots guards nothing there; a static run has none */
		if (rule->fast && !place->existing_only)
			continue;
		if (rule->tier == SB_TIER_BUILTIN || rule->access.verdict[SB_CREATE] != SB_ALLOW ||
		    pattern->glob || is_temp(place, pattern->prefix) ||
		    stat(pattern->prefix, &info) != 0 || !S_ISDIR(info.st_mode))
			continue;
		root = strdup(pattern->prefix); /* adding rules may move the others */
		status = root ? guard_root(policy, root, flags, err)
			      : sb_fail(err, SB_E_NOMEM, 0, "out of memory");
	}
	return status;
}

/*
 * Sockets of services, and the user's own: session bus, service manager, agents, editors and window managers listen there; any
 * one of them runs what it is told, outside.  The variable may be unset (sudo, cron) or
 * name another directory; the usual one is closed in any case.
 */
static int add_run(struct sb_policy *policy, const struct sb_place *place, unsigned flags,
		   struct sb_error *err)
{
	static const char reason[] = "sockets of the user's session";
	struct row rows[COUNT(run_sockets) + 1];
	char name[32];
	int status = SB_OK;

	memcpy(rows, run_sockets, sizeof run_sockets);
	snprintf(name, sizeof name, "user/%u", place->uid);
	rows[COUNT(run_sockets)] = (struct row){name, &sb_access_deny, reason};
	if (place->runtime_dir)
		status = add_literal(policy, place->runtime_dir, &sb_access_deny, reason, 0, err);
	return status == SB_OK ? add_table(policy, "/run", rows, COUNT(rows), flags, err) : status;
}

int sb_builtin_guard_links(struct sb_policy *policy, const char *path, struct sb_error *err)
{
	const struct row row = {path, &sb_access_read, "leads to sandbash's own files"};

	return add_links(policy, path, &row, HARD, err);
}

/*
 * A project that is not open to changes can be read as any other directory; also where a rule
 * of the user's hides what is around it.
 */
static int add_closed_project(struct sb_policy *policy, const char *project, struct sb_error *err)
{
	SB_AUTO_FREE char *parent = sb_path_parent(project);

	if (!parent || !sb_start_user_hides(policy, parent))
		return SB_OK;
	return add_literal(policy, project, &sb_access_read, "project", 0, err);
}

/* Is this project open to changes as a whole? */
static bool is_open(const struct sb_place *place, const char *project)
{
	for (size_t i = 0; place->within && place->within[i]; i++)
		if (sb_path_within(place->within[i], project))
			return true;
	return !place->within;
}

/* What lies around the project, or is all of it, would close it; what lies elsewhere is closed. */
static int add_obeyed(struct sb_policy *policy, const struct sb_place *place, const char *project,
		      unsigned flags, struct sb_error *err)
{
	int status = SB_OK;

	for (size_t i = 0; place->obeyed && place->obeyed[i] && status == SB_OK; i++)
		if (sb_path_within(project, place->obeyed[i]) &&
		    strcmp(project, place->obeyed[i]) != 0)
			status = add_literal(policy, place->obeyed[i], &sb_access_ask,
					     "obeyed outside by what the environment says: $PATH, "
					     "or an agent's directory",
					     flags, err);
	return status;
}

int sb_builtin_add(struct sb_policy *policy, const struct sb_place *place, struct sb_error *err)
{
	unsigned flags = place->existing_only ? EXISTING_ONLY : 0;
	/* while only the user's rules are there */
	int status = place->guarded ? SB_OK : guard_opened(policy, place, flags, err);

	if (status == SB_OK)
		status = sb_start_add(policy, err);
	if (status == SB_OK)
		status = add_table(policy, "/", kernel, COUNT(kernel), 0, err);
	if (status == SB_OK)
		status = add_own(policy, place, err);
	if (status == SB_OK)
		status = add_table(policy, "/dev", devices, COUNT(devices), ANY_MODE, err);
	for (size_t i = 0; place->projects[i] && status == SB_OK; i++) {
		bool open = is_open(place, place->projects[i]);

		if (open)
			status = add_literal(policy, place->projects[i], &sb_access_write,
					     i ? "project" : "current directory", 0, err);
		else
			status = add_closed_project(policy, place->projects[i], err);
		if (status == SB_OK && open)
			status = add_obeyed(policy, place, place->projects[i], flags, err);
		if (status == SB_OK && !place->guarded)
			status = guard_root(policy, place->projects[i], flags, err);
		if (status == SB_OK && open)
			status = add_parts(policy, place, place->projects[i], flags, err);
	}
	for (size_t i = 0; place->within && place->within[i] && status == SB_OK; i++) {
		status =
			add_literal(policy, place->within[i], &sb_access_write, "--within", 0, err);
		if (status == SB_OK && !place->guarded)
			status = guard_root(policy, place->within[i], flags, err);
	}
	if (status == SB_OK)
		status = add_temp(policy, place, err);
	if (status == SB_OK)
		status = add_all_secrets(policy, place, flags, err);
	if (status == SB_OK)
		status = sb_remembered_add(policy, place, err);
	if (status == SB_OK)
		status = add_run(policy, place, flags, err);
	if (status == SB_OK)
		status = add_table(policy, "/var", var_sockets, COUNT(var_sockets), flags, err);
	for (size_t i = 0; place->terminals && place->terminals[i] && status == SB_OK; i++)
		status = add_literal(policy, place->terminals[i], &sb_access_deny,
				     "another terminal of the user", 0, err);
	for (size_t i = 0; place->sockets && place->sockets[i] && status == SB_OK; i++)
		status = add_literal(policy, place->sockets[i], &sb_access_deny,
				     "a service the environment names", 0, err);
	return status;
}
