#include "path/path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/words.h"
#include "sys/process.h"

/* As many links as the kernel follows in one lookup: path_resolution(7). */
#define MAX_LINKS 40

bool sb_path_within(const char *dir, const char *path)
{
	if (dir[0] == '/' && dir[1] == '\0')
		return path[0] == '/';
	while (*dir && *dir == *path) {
		dir++;
		path++;
	}
	return *dir == '\0' && (*path == '\0' || *path == '/');
}

bool sb_path_within_any(const char *const *dirs, const char *path)
{
	for (; dirs && *dirs; dirs++)
		if (sb_path_within(*dirs, path))
			return true;
	return false;
}

bool sb_path_holds_any(const char *dir, const char *const *paths)
{
	for (; paths && *paths; paths++)
		if (sb_path_within(dir, *paths))
			return true;
	return false;
}

int sb_path_compare(const char *a, const char *b)
{
	int first, second;

	if (strcmp(a, "/") == 0 || strcmp(b, "/") == 0) /* the root's slash is also its name */
		return strcmp(a, b);
	while (*a && *a == *b) {
		a++;
		b++;
	}
	/* the end of a path comes first, then a slash, then everything else */
	first = !*a ? 0 : *a == '/' ? 1 : 2 + (unsigned char)*a;
	second = !*b ? 0 : *b == '/' ? 1 : 2 + (unsigned char)*b;
	return first - second;
}

char *sb_path_join(const char *dir, const char *name)
{
	size_t dir_length = strlen(dir), name_length = strlen(name);
	char *joined = malloc(dir_length + name_length + 2);

	if (!joined)
		return NULL;
	memcpy(joined, dir, dir_length);
	if (dir_length == 0 || dir[dir_length - 1] != '/')
		joined[dir_length++] = '/';
	memcpy(joined + dir_length, name, name_length + 1);
	return joined;
}

bool sb_path_exists(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0;
}

bool sb_path_is_directory(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool sb_path_is_socket(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISSOCK(info.st_mode);
}

const char *sb_path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *sb_path_parent(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash || path[1] == '\0')
		return NULL;
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* Drop the last component of an absolute path being built; the root keeps its slash away. */
static void pop(struct sb_buf *path)
{
	while (path->length && path->data[path->length - 1] != '/')
		path->length--;
	if (path->length)
		path->length--;
	if (path->data)
		path->data[path->length] = '\0';
}

static void push(struct sb_buf *path, const char *name, size_t length)
{
	sb_buf_putc(path, '/');
	sb_buf_append(path, name, length);
}

static int too_long(struct sb_error *err)
{
	return sb_fail(err, SB_E_INVALID, ENAMETOOLONG, "the path is longer than %d bytes",
		       PATH_MAX - 1);
}

static int give(struct sb_buf *path, char **out, struct sb_error *err)
{
	if (path->length == 0)
		sb_buf_putc(path, '/');
	if (sb_buf_failed(path) || path->length >= PATH_MAX)
		return too_long(err);
	*out = sb_buf_take(path);
	return *out ? SB_OK : sb_no_memory(err);
}

int sb_path_absolute(const char *path, const char *base, const char *home, char **out,
		     struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf joined =
		SB_BUF(2 * PATH_MAX); /* base and path, each at most PATH_MAX */
	SB_AUTO_BUF struct sb_buf result = SB_BUF(2 * PATH_MAX);
	const char *part;

	if (path[0] == '\0')
		return sb_fail(err, SB_E_INVALID, 0, "the path is empty");
	if (path[0] == '~' && path[1] != '\0' && path[1] != '/') {
		sb_fail(err, SB_E_INVALID, 0, "cannot use '%s': '~' with a user name", path);
		return sb_hint(err, "write the path in full, or './%s' for a name with a tilde",
			       path);
	}
	if (path[0] == '~' && (!home || home[0] != '/'))
		return sb_fail(err, SB_E_INVALID, 0, "cannot use '%s': HOME is not set", path);
	if (path[0] == '~') {
		sb_buf_puts(&joined, home);
		sb_buf_puts(&joined, path + 1);
	} else {
		if (path[0] != '/') {
			sb_buf_puts(&joined, base);
			sb_buf_putc(&joined, '/');
		}
		sb_buf_puts(&joined, path);
	}
	if (sb_buf_failed(&joined))
		return too_long(err);

	for (part = joined.data; *part;) {
		size_t length = sb_first_name_length(part);

		if (length == 2 && part[0] == '.' && part[1] == '.')
			pop(&result);
		else if (length && !(length == 1 && part[0] == '.'))
			push(&result, part, length);
		part += length;
		part += *part == '/';
	}
	return give(&result, out, err);
}

int sb_path_expand(const char *path, const char *base, const char *home, char **out,
		   struct sb_error *err)
{
	SB_AUTO_FREE char *expanded = NULL;

	if (path[0] == '~') {
		bool alone = path[1] == '\0' || path[1] == '/';
		int status = sb_path_absolute(alone ? "~" : path, base, home, &expanded, err);

		if (status != SB_OK)
			return status;
		*out = sb_path_join(expanded, path + 1);
	} else if (path[0] == '\0') {
		return sb_fail(err, SB_E_INVALID, 0, "the path is empty");
	} else {
		*out = path[0] == '/' ? strdup(path) : sb_path_join(base, path);
	}
	return *out ? SB_OK : sb_no_memory(err);
}

/* The walk of sb_path_canonical: what is resolved so far, and the text still to do. */
struct walk {
	struct sb_buf done;
	struct sb_buf rest;
	int links;
	bool file;      /* done is none into which "." or ".." leads */
	int missing;    /* 0, or the first errno that kept us from looking something up */
	bool lost;      /* done is not there: names are taken by text until ".." leads back */
	size_t reached; /* when lost: how much of done is there */
	sb_path_link_found found; /* is told of every link; NULL: nobody is */
	void *context;
	const char *root;         /* here it ends, and the rest is added; NULL: nowhere */
	const char *base;         /* out of which it must not lead; NULL: it may */
	const char *const *roots; /* links in these are watched; NULL: none */
	bool any;                 /* also those that do not lead out */
	const char *left;         /* the root of the first of them, if any was followed */
	char *link;               /* and its path */
	bool keep_last_link;      /* what the last name links to is not looked at */
	int *out_missing;         /* for missing, if all went well; NULL: nobody wants it */
	char **out_link;          /* so with link */
};

/* Remember the first link that lies in a watched root. */
static int watch(struct walk *walk, struct sb_error *err)
{
	for (size_t i = 0; walk->roots && walk->roots[i] && !walk->link; i++) {
		if (!sb_path_within(walk->roots[i], walk->done.data))
			continue;
		walk->left = walk->roots[i];
		walk->link = strdup(walk->done.data);
		if (!walk->link)
			return sb_no_memory(err);
	}
	return SB_OK;
}

static void lose(struct walk *walk, size_t reached, int why)
{
	if (!walk->missing)
		walk->missing = why;
	walk->lost = true;
	walk->reached = reached;
}

static bool is_unreachable(int why)
{
	return why == ENOENT || why == ENOTDIR || why == EACCES;
}

/* Replace the link that done names with its target, to be walked before the rest. */
static int follow(struct walk *walk, size_t parent_length, const char *rest, struct sb_error *err)
{
	char target[PATH_MAX];
	ssize_t length = readlink(walk->done.data, target, sizeof target - 1);
	SB_AUTO_FREE char *after = NULL;

	if (length < 0 &&
	    is_unreachable(errno)) { /* /proc/1/root: the link shows, not its target */
		lose(walk, parent_length, errno);
		return SB_OK;
	}
	if (length < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot read link '%s'", walk->done.data);
	if (watch(walk, err) != SB_OK)
		return SB_E_NOMEM;
	if (walk->found) {
		int status = walk->found(walk->context, walk->done.data, err);

		if (status != SB_OK)
			return status;
	}
	if (walk->base && target[0] == '/')
		return SB_E_REFUSED;
	if (++walk->links > MAX_LINKS)
		return sb_fail(err, SB_E_INVALID, ELOOP, "too many symbolic links at '%s'",
			       walk->done.data);
	target[length] = '\0';
	after = strdup(rest); /* rest points into the buffer that is about to be rewritten */
	if (!after)
		return sb_no_memory(err);
	walk->rest.length = 0;
	sb_buf_append(&walk->rest, target, (size_t)length);
	sb_buf_putc(&walk->rest, '/');
	sb_buf_puts(&walk->rest, after);
	walk->done.length = target[0] == '/' ? 0 : parent_length;
	walk->done.data[walk->done.length] = '\0';
	return sb_buf_failed(&walk->rest)
		       ? sb_fail(err, SB_E_INVALID, ENAMETOOLONG, "a symbolic link is too long")
		       : SB_OK;
}

/*
 * Is path canonical as it stands, and no link on the way?  Then the kernel can say so at once, which
 * for a deep path is cheaper than the walk.  False: perhaps, but walk.
 */
static bool is_canonical(const char *path)
{
	int depth = 0;

	for (const char *part = path; *part; depth++) {
		size_t length;

		if (*part++ != '/')
			return false;
		length = sb_first_name_length(part);
		if (length == 0 ||
		    (part[0] == '.' && (length == 1 || (length == 2 && part[1] == '.'))))
			return false;
		part += length;
	}
	return depth > 2 && sb_sys_is_plain_path(path);
}

/* Take the first name of the rest, at *part, which moves on. */
static int step(struct walk *walk, const char **part, struct sb_error *err)
{
	const char *name = *part;
	size_t length = sb_first_name_length(name), parent_length = walk->done.length;
	bool here = length == 1 && name[0] == '.';
	bool up = length == 2 && name[0] == '.' && name[1] == '.';
	struct stat info;
	int status;

	*part += length + strspn(name + length, "/");
	if ((here || up) && walk->file && !walk->missing)
		walk->missing = ENOTDIR;
	if (up) {
		pop(&walk->done);
		walk->lost &= walk->done.length > walk->reached;
		walk->file = false;
		if (walk->base && !sb_path_within(walk->base, walk->done.data))
			return SB_E_REFUSED;
	}
	if (length == 0 || here || up)
		return SB_OK;
	push(&walk->done, name, length);
	if (sb_buf_failed(&walk->done) || walk->done.length >= PATH_MAX)
		return too_long(err);
	if (walk->root && strcmp(walk->done.data, walk->root) == 0) {
		push(&walk->done, *part, strlen(*part));
		*part += strlen(*part);
		return SB_OK;
	}
	if (walk->lost)
		return SB_OK;
	if (lstat(walk->done.data, &info) != 0) {
		if (!is_unreachable(errno))
			return sb_fail(err, SB_E_INVALID, errno, "cannot look up '%s'",
				       walk->done.data);
		lose(walk, parent_length, errno);
		return SB_OK;
	}
	walk->file = !S_ISDIR(info.st_mode);
	if (!S_ISLNK(info.st_mode) || (walk->keep_last_link && **part == '\0'))
		return SB_OK;
	walk->file = false; /* done will be the directory that holds the link */
	status = follow(walk, parent_length, *part, err);
	if (!walk->lost)
		*part = walk->rest.data;
	return status;
}

/* Walk path from base, which is canonical ("" for the root). */
static int canonical(const char *base, const char *path, struct walk walk, char **out,
		     struct sb_error *err)
{
	const char *part;
	int status = SB_OK;

	if (!*base && is_canonical(path)) {
		if (walk.out_missing)
			*walk.out_missing = 0;
		if (walk.out_link)
			*walk.out_link = NULL;
		*out = strdup(path);
		return *out ? SB_OK : sb_no_memory(err);
	}
	sb_buf_init(&walk.done, 2 * PATH_MAX);
	sb_buf_init(&walk.rest, 16 * PATH_MAX); /* links may each add a path in front */
	sb_buf_puts(&walk.done, strcmp(base, "/") == 0 ? "" : base);
	sb_buf_puts(&walk.rest, path);
	if (sb_buf_failed(&walk.rest) || sb_buf_failed(&walk.done))
		status = too_long(err);
	for (part = walk.rest.data; status == SB_OK && *part;)
		status = step(&walk, &part, err);
	if (status == SB_OK)
		status = give(&walk.done, out, err);
	if (status == SB_OK && walk.out_missing)
		*walk.out_missing = walk.missing;
	if (status == SB_OK && walk.out_link)
		*walk.out_link = walk.link && (walk.any || !sb_path_within(walk.left, *out))
					 ? sb_take_ptr(&walk.link)
					 : NULL;
	free(walk.link);
	sb_buf_done(&walk.rest);
	sb_buf_done(&walk.done);
	return status;
}

int sb_path_canonical(const char *path, char **out, int *out_missing, struct sb_error *err)
{
	return canonical("", path, (struct walk){.out_missing = out_missing}, out, err);
}

int sb_path_canonical_watched(const char *path, const char *const *roots, char **out,
			      int *out_missing, char **out_link, struct sb_error *err)
{
	const struct walk watching = {
		.roots = roots, .out_missing = out_missing, .out_link = out_link};

	return canonical("", path, watching, out, err);
}

int sb_path_canonical_through(const char *path, const char *const *roots, char **out,
			      int *out_missing, char **out_link, struct sb_error *err)
{
	const struct walk watching = {
		.roots = roots, .any = true, .out_missing = out_missing, .out_link = out_link};

	return canonical("", path, watching, out, err);
}

int sb_path_canonical_up_to(const char *path, const char *root, char **out, int *out_missing,
			    struct sb_error *err)
{
	const struct walk ending = {.root = root, .out_missing = out_missing};

	return canonical("", path, ending, out, err);
}

int sb_path_links(const char *path, sb_path_link_found found, void *context, struct sb_error *err)
{
	const struct walk watching = {.found = found, .context = context};
	SB_AUTO_FREE char *ignored = NULL;
	struct sb_error why;
	int status = canonical("", path, watching, &ignored, &why);

	if (status == SB_OK || (status == SB_E_INVALID && why.sys_errno == ELOOP))
		return SB_OK;
	if (err)
		*err = why;
	return status;
}

int sb_path_canonical_beneath(const char *base, const char *rest, char **out, int *out_missing,
			      struct sb_error *err)
{
	return canonical(base, rest, (struct walk){.out_missing = out_missing}, out, err);
}

bool sb_path_stays_beneath(const char *base, const char *rest)
{
	SB_AUTO_FREE char *ignored = NULL;

	return canonical(base, rest, (struct walk){.base = base}, &ignored, NULL) == SB_OK;
}

int sb_path_canonical_parent(const char *path, char **out, struct sb_error *err)
{
	return canonical("", path, (struct walk){.keep_last_link = true}, out, err);
}
