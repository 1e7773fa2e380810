/*
 * Links at guarded names: who obeys the name reads what the link leads to.
 *
 * A dotfiles repository is a project like any other, and ~/.config/fish/config.fish may be a link into
 * it.  So the directories that the table names are listed when a run begins, in the home directory and in
 * the projects, and in the directories beneath these; only links are followed.  Nothing in the home directory
 * can be changed by a run, and in a project such a link asks.
 *
 * SECURITY: what one look costs is bounded.
 *
 * Danger: a link deeper in a tree (all of ~/.vim) than is looked at leads to files that nobody guards.
 * Price: some 4 us a directory, of which a usual home has 50.  Those that the table names are all looked at, of
 * the directories deeper in trees, and beneath a project, those that come first, by level.
 * Held by: tests/supervise/home_links.py, tests/supervise/deep_links.py
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/each.h"
#include "base/words.h"
#include "guard/guard_impl.h"
#include "guard/git_index.h"
#include "path/path.h"
#include "sys/directory.h"

#define HEADS 256          /* a power of two; there are fewer first names */
#define MAX_TREES 32       /* directories in trees that are looked at, of one base */
#define MAX_IN_ONE 16      /* of those in the same directory */
#define MAX_TRACKED 256    /* links that git knows, at guarded names beneath */
#define MAX_LINKS 128      /* in trees */
#define MAX_ASKED 4        /* names: asked for one by one they are found sooner than by a list */
#define MAX_BENEATH 48     /* directories beneath a project that are looked at */
#define MAX_BENEATH_ONE 32 /* of those in the same directory */
#define MAX_EXTRAS_BENEATH 256 /* what their links may name: each is compared with every name */

struct walk {
	const char *base; /* canonical */
	bool home;        /* that is what the base is */
	bool variable;    /* what is added lies where a variable leads */
	struct sb_extras *out;
	const struct sb_guard_row *rows;
	struct {
		char *path;
		const struct sb_guard_row *row;
	} trees[MAX_TREES]; /* in the order they were found */
	size_t tree_count;
	int links_left, tracked_left;
	char **beneath; /* directories to be looked at, by level; NULL: none are */
	size_t beneath_count;
	char tracked[PATH_MAX];  /* which of git's links was looked for last */
	char straight[PATH_MAX]; /* where the last straight link led: many lead alike */
	dev_t device;            /* what is mounted there may be a server that does not answer */
};

/* Rows of which a part stands for the directory that is looked at. */
struct set {
	size_t count;
	size_t offset; /* of the patterns, where the rest begins */
	uint16_t rows[SB_GUARD_MAX_ROWS];
};

/* FNV-1a */
#define HASH_START 2166136261u
#define HASH_STEP(hash, byte) (((hash) ^ (unsigned char)(byte)) * 16777619u)
#define HEAD(hash) (((hash) ^ (hash) >> 8) % HEADS)

static unsigned head_of(const char *name, size_t length)
{
	unsigned hash = HASH_START;

	for (size_t i = 0; i < length; i++)
		hash = HASH_STEP(hash, name[i]);
	return HEAD(hash);
}

/* Names of git's directories, which are found by what lies there; what tools fill; and those of which only an end is fixed. */
static bool is_left_out(const struct sb_guard_row *row)
{
	return row->pattern[0] == '<' ||
	       (row->flags & (SB_GUARD_IF_PROTECTING | SB_GUARD_FILLED)) ||
	       row->kind == SB_GUARD_ANYTHING || (!row->held[0] && strcmp(row->who, "git") == 0);
}

/* The row's first name as head_of() has it; -1: it has a star.  Read once: there are hundreds. */
static int first_head(const char *pattern)
{
	unsigned hash = HASH_START;

	for (; *pattern && *pattern != '/'; pattern++) {
		if (*pattern == '*')
			return -1;
		hash = HASH_STEP(hash, *pattern);
	}
	return (int)HEAD(hash);
}

/* Made once: the table is long, and a launch looks at a project and at the home directory. */
static struct {
	uint16_t head[HEADS];             /* by first name: a row's number, from 1 on; 0: none */
	uint16_t next[SB_GUARD_MAX_ROWS]; /* the next one of the same head */
	uint16_t trees;                   /* what means something at home alone, ~/bin, as head[] */
	uint16_t next_tree[SB_GUARD_MAX_ROWS];
} index_of;

static bool is_tree_of_home(const struct sb_guard_row *row)
{
	return (row->flags & SB_GUARD_IN_HOME) && sb_text_ends(row->pattern, "/**");
}

static void index_rows(void)
{
	size_t count;
	const struct sb_guard_row *rows = sb_guard_rows(&count);

	for (size_t i = count; i-- > 0;) {
		int head = is_left_out(&rows[i]) ? -1 : first_head(rows[i].pattern);

		if (is_tree_of_home(&rows[i])) {
			index_of.next_tree[i] = index_of.trees;
			index_of.trees = (uint16_t)(i + 1);
		}
		if (head < 0)
			continue;
		index_of.next[i] = index_of.head[head];
		index_of.head[head] = (uint16_t)(i + 1);
	}
}

/* Those whose first name this is. */
static void find_first(const struct walk *walk, const char *name, size_t length, struct set *out)
{
	out->count = 0;
	out->offset = 0;
	for (unsigned at = index_of.head[head_of(name, length)]; at; at = index_of.next[at - 1]) {
		const char *pattern = walk->rows[at - 1].pattern;

		if ((walk->rows[at - 1].flags & SB_GUARD_IN_HOME) && !walk->home)
			continue;
		if (strncmp(pattern, name, length) == 0 &&
		    (!pattern[length] || pattern[length] == '/'))
			out->rows[out->count++] = (uint16_t)(at - 1);
	}
}

/* What is in target, where link leads, by the rest of a row's pattern, counts as that row's. */
static int add_rest(struct walk *walk, const char *link, const char *target, const char *rest,
		    const struct sb_guard_row *row)
{
	const char *slash = strrchr(rest, '/'), *last = slash ? slash + 1 : rest;
	bool whole = !strchr(last, '*');
	SB_AUTO_FREE char *part =
		strndup(rest, whole ? strlen(rest) : (size_t)((slash ? slash : rest) - rest));
	SB_AUTO_FREE char *path = !part   ? NULL
				  : *part ? sb_path_join(target, part)
					  : strdup(target);

	if (!path)
		return SB_E_NOMEM;
	/* ".vscode -> ." must not turn the whole project into a setting */
	if (sb_path_within(path, walk->base) || (!walk->variable && sb_path_within(path, link)))
		return SB_OK;
	return sb_extras_add(walk->out,
			     (struct sb_extra){
				     .path = sb_take_ptr(&path),
				     .kind = SB_EXTRA_ROW,
				     .row = row,
				     .wild = whole || strcmp(last, "**") == 0 ? NULL : last,
				     .among = walk->variable && !slash && !whole,
			     });
}

/*
 * Most links lead straight to a file, by a whole path or by a name beside them.  A few calls tell that, where walking
 * the way takes twenty: the kernel says the same path as the link, so there is no other link in it.  NULL: not so, or the
 * run could change the link itself.
 */
static char *straight_target(struct walk *walk, const char *link)
{
	const struct sb_guard_options *options = walk->out->options;
	size_t beside = (size_t)(strrchr(link, '/') + 1 - link);
	char text[2 * PATH_MAX], name[32], canonical[PATH_MAX];
	const char *target = text + beside;
	ssize_t length;
	SB_AUTO_FD int fd = -1;

	if (beside >= PATH_MAX || !options->in_guarded_root ||
	    options->in_guarded_root(options->context, link))
		return NULL;
	memcpy(text, link, beside);
	length = readlink(link, text + beside, PATH_MAX - 1);
	if (length <= 0)
		return NULL;
	text[beside + (size_t)length] = '\0';
	if (*target != '/') {
		if (strchr(target, '/'))
			return NULL;
		target = text;
		length += (ssize_t)beside;
	}
	if (strcmp(target, walk->straight) == 0)
		return strdup(target);
	fd = length < PATH_MAX ? open(target, O_PATH | O_CLOEXEC) : -1;
	if (fd < 0)
		return NULL;
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	if (readlink(name, canonical, sizeof canonical) != length ||
	    memcmp(target, canonical, (size_t)length) != 0)
		return NULL;
	memcpy(walk->straight, target, (size_t)length + 1);
	return strdup(target);
}

/* Where a link leads; the links on the way count as the row's.  NULL: nowhere. */
static char *resolve(struct walk *walk, const char *link, const struct sb_guard_row *row)
{
	size_t before = walk->out->count;
	char *target = straight_target(walk, link);

	if (!target)
		target = sb_extras_follow(walk->out, link);
	for (; before < walk->out->count; before++)
		walk->out->all[before].row = row;
	return target;
}

/* In a directory of a tree: a link, or a directory that is looked at later. */
static int add_in_tree(struct walk *walk, const char *path, unsigned char type,
		       const struct sb_guard_row *row, int *left)
{
	SB_AUTO_FREE char *target = NULL;

	if (type == DT_DIR) {
		if (walk->tree_count == MAX_TREES || --*left < 0)
			return SB_OK;
		walk->trees[walk->tree_count].row = row;
		walk->trees[walk->tree_count].path = strdup(path);
		return walk->trees[walk->tree_count++].path ? SB_OK : SB_E_NOMEM;
	}
	target = walk->links_left-- > 0 ? resolve(walk, path, row) : NULL;
	return target ? add_rest(walk, path, target, "", row) : SB_OK;
}

static bool is_meant(const char *rest, size_t length, const char *name)
{
	struct sb_component component = {0};

	if (!memchr(rest, '*', length))
		return strncmp(rest, name, length) == 0 && !name[length];
	sb_component_make(rest, length, &component);
	return component.kind != SB_COMPONENT_SUFFIX ||
	       sb_component_ends(&component, name, strlen(name));
}

static int look_in(struct walk *walk, const char *path, const struct set *set);

/* One name in a directory: what it is by each row of the set. */
static int look_at(struct walk *walk, const char *path, const char *name, unsigned char type,
		   const struct set *set, int *left)
{
	SB_AUTO_FREE char *target = NULL, *whole = NULL;
	struct set deeper; /* large: not cleared for every name */
	int status = SB_OK;

	deeper.count = 0;
	deeper.offset = set->offset + strlen(name) + 1;

	for (size_t i = 0; i < set->count && status == SB_OK; i++) {
		const struct sb_guard_row *row = &walk->rows[set->rows[i]];
		const char *rest = row->pattern + set->offset;
		size_t width;

		if (*rest != name[0] && *rest != '*')
			continue;
		width = strcspn(rest, "/");
		if (!is_meant(rest, width, name))
			continue;
		if (!whole && !(whole = sb_path_join(path, name)))
			return SB_E_NOMEM;
		if (strcmp(rest, "**") == 0) {
			status = add_in_tree(walk, whole, type, row, left);
			continue;
		}
		if (rest[width])
			deeper.rows[deeper.count++] = set->rows[i];
		if (type != DT_LNK)
			continue;
		if (!target)
			target = resolve(walk, whole, row);
		if (target)
			status = add_rest(walk, whole, target, rest + width + (rest[width] == '/'),
					  row);
	}
	if (target && sb_path_within(target, walk->base))
		return status;
	/* through a link, too: what lies behind it may have links of its own */
	return status == SB_OK && deeper.count ? look_in(walk, whole, &deeper) : status;
}

/* The same of a name that may be there; it ends where the pattern's component ends. */
static int look_for(struct walk *walk, const char *path, const char *name, const struct set *set)
{
	SB_AUTO_FREE char *whole = NULL;
	char text[2], own[SB_FOLD_MAX + 1];
	size_t length = strcspn(name, "/");
	int left = 0;

	if (length >= sizeof own)
		return SB_OK; /* no name of the table is that long */
	memcpy(own, name, length);
	own[length] = '\0';
	whole = sb_path_join(path, own);
	if (!whole)
		return SB_E_NOMEM;
	if (readlink(whole, text, sizeof text) >= 0)
		return look_at(walk, path, own, DT_LNK, set, &left);
	return errno == EINVAL ? look_at(walk, path, own, DT_DIR, set, &left) : SB_OK;
}

/* DT_LNK, DT_DIR or 0: nothing that leads on.  What a file system does not tell with the name is asked for. */
static unsigned char leads_on(const struct sb_sys_dir *dir)
{
	unsigned char type = dir->entry->d_type;
	struct stat info;

	if (sb_is_dots(dir->entry->d_name))
		return 0;
	if (type == DT_UNKNOWN &&
	    fstatat(dir->fd, dir->entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0)
		type = IFTODT(info.st_mode);
	return type == DT_LNK || type == DT_DIR ? type : 0;
}

/* The names that the set has in a directory, if they are few; else 0. */
static size_t few_names(const struct walk *walk, const struct set *set, const char **out)
{
	size_t count = 0;

	for (size_t i = 0; i < set->count; i++) {
		const char *rest = walk->rows[set->rows[i]].pattern + set->offset;
		size_t width = strcspn(rest, "/"), known = 0;

		while (known < count &&
		       (strncmp(out[known], rest, width) != 0 || strcspn(out[known], "/") != width))
			known++;
		if (known == MAX_ASKED || memchr(rest, '*', width))
			return 0;
		out[known] = rest;
		count += known == count;
	}
	return count;
}

static int look_in(struct walk *walk, const char *path, const struct set *set)
{
	const char *names[MAX_ASKED];
	size_t few = few_names(walk, set, names);
	int status = SB_OK, left = MAX_IN_ONE;
	unsigned char type;

	for (size_t i = 0; i < few && status == SB_OK; i++)
		status = look_for(walk, path, names[i], set);
	if (few)
		return status;
	SB_EACH_ENTRY(dir, AT_FDCWD, path, status == SB_OK)
		if ((type = leads_on(&dir)))
			status = look_at(walk, path, dir.entry->d_name, type, set, &left);
	return status;
}

static int look_in_tree(struct walk *walk, const char *path, const struct sb_guard_row *row)
{
	int status = SB_OK, left = MAX_IN_ONE;

	SB_EACH_ENTRY(dir, AT_FDCWD, path, status == SB_OK) {
		unsigned char type = leads_on(&dir);
		SB_AUTO_FREE char *whole = type ? sb_path_join(path, dir.entry->d_name) : NULL;

		if (type)
			status = whole ? add_in_tree(walk, whole, type, row, &left) : SB_E_NOMEM;
	}
	return status;
}

/* It is looked at later; a git directory has links that repository.c knows. */
static int add_beneath(struct walk *walk, const char *name, int *left)
{
	if (walk->beneath_count == MAX_BENEATH || *left <= 0 || strcmp(name, ".git") == 0)
		return SB_OK;
	--*left;
	walk->beneath[walk->beneath_count] = sb_path_join(walk->base, name);
	return walk->beneath[walk->beneath_count++] ? SB_OK : SB_E_NOMEM;
}

static int look_in_base(struct walk *walk)
{
	int status = SB_OK, left = 0, beneath = MAX_BENEATH_ONE;
	struct stat info;
	struct set set;

	if (walk->beneath && (lstat(walk->base, &info) != 0 || !S_ISDIR(info.st_mode) ||
			      (walk->device && walk->device != info.st_dev)))
		return SB_OK;
	if (walk->beneath)
		walk->device = info.st_dev;
	SB_EACH_ENTRY(dir, AT_FDCWD, walk->base, status == SB_OK) {
		const char *name = dir.entry->d_name;
		unsigned char type = leads_on(&dir);

		if (!type)
			continue;
		if (walk->beneath && type == DT_DIR)
			status = add_beneath(walk, name, &beneath);
		find_first(walk, name, strlen(name), &set);
		if (set.count && status == SB_OK)
			status = look_at(walk, walk->base, name, type, &set, &left);
	}
	return status;
}

/* Those of the home directory's usual place, ".local/share". */
static void find_usual(const struct walk *walk, const char *usual, struct set *out)
{
	size_t length = strlen(usual);

	find_first(walk, usual, strcspn(usual, "/"), out);
	out->offset = length + 1;
	for (size_t i = 0; i < out->count;) {
		const char *pattern = walk->rows[out->rows[i]].pattern;

		if (strncmp(pattern, usual, length) == 0 && pattern[length] == '/')
			i++;
		else
			out->rows[i] = out->rows[--out->count];
	}
}

/* What tools fill has no links that are looked for, but lies there like the rest. */
static int add_filled(struct walk *walk, const char *path, const char *target, const char *usual)
{
	size_t count, length = strlen(usual);
	int status = SB_OK;

	(void)sb_guard_rows(&count);
	for (size_t i = 0; i < count && status == SB_OK; i++) {
		const struct sb_guard_row *row = &walk->rows[i];

		if ((row->flags & SB_GUARD_FILLED) && strncmp(row->pattern, usual, length) == 0 &&
		    row->pattern[length] == '/')
			status = add_rest(walk, path, target, row->pattern + length + 1, row);
	}
	return status;
}

/*
 * A variable names another place than the usual one: as if there were a link to it.  Also where the run cannot
 * change it: an answer may open it, and no yes for a directory is one for such a name.
 */
static int look_in_other(struct walk *walk, const char *path, const char *usual)
{
	SB_AUTO_FREE char *target = NULL;
	SB_AUTO_FREE char *known = sb_path_join(walk->base, usual);
	struct set set;
	int status = SB_OK;

	if (!known)
		return SB_E_NOMEM;
	if (strcmp(path, known) == 0)
		return SB_OK;
	find_usual(walk, usual, &set);
	target = set.count ? resolve(walk, path, &walk->rows[set.rows[0]]) : NULL;
	if (!target || strcmp(target, known) == 0)
		return SB_OK;
	/* one that is called as usual is guarded by its name */
	if (!sb_text_ends(target, known + strlen(walk->base))) {
		walk->variable = true;
		status = add_filled(walk, path, target, usual);
		for (size_t i = 0; i < set.count && status == SB_OK; i++) {
			const struct sb_guard_row *row = &walk->rows[set.rows[i]];

			status = add_rest(walk, path, target, row->pattern + set.offset, row);
		}
	}
	walk->variable = false;
	return status == SB_OK ? look_in(walk, path, &set) : status;
}

static int look_in_others(struct walk *walk, const struct sb_guard_homes *others)
{
	const struct {
		const char *path, *usual;
	} all[] = {{others->config, ".config"},
		   {others->data, ".local/share"},
		   {others->cache, ".cache"},
		   {others->state, ".local/state"}};
	int status = SB_OK;

	for (size_t i = 0; i < SB_COUNT(all) && status == SB_OK; i++)
		if (all[i].path)
			status = look_in_other(walk, all[i].path, all[i].usual);
	return status;
}

/*
 * A link that git knows: each name on the way to it, and its own, may be the first one of a pattern.  What
 * lies there is looked for on the disk.
 */
static int look_at_tracked(void *context, const char *name)
{
	struct walk *walk = context;
	const char *top = walk->base;
	int status = SB_OK;

	for (const char *start = name; start && *start && status == SB_OK;) {
		size_t length = strcspn(start, "/"), whole = (size_t)(start - name) + length;
		SB_AUTO_FREE char *directory = NULL, *base = NULL;
		struct set set;

		find_first(walk, start, length, &set);
		/* the links of one directory come one after the other; of the top itself others have seen to */
		if (set.count && start != name && walk->tracked_left > 0 &&
		    !(strlen(walk->tracked) == whole && memcmp(walk->tracked, name, whole) == 0)) {
			snprintf(walk->tracked, sizeof walk->tracked, "%.*s", (int)whole, name);
			directory = strndup(name, (size_t)(start - name) - 1);
			base = directory ? sb_path_join(top, directory) : NULL;
			if (!base)
				return SB_E_NOMEM;
			walk->base = base;
			walk->tracked_left--;
			status = look_for(walk, base, start, &set);
			walk->base = top;
		}
		start = start[length] ? start + length + 1 : NULL;
	}
	return status;
}

/* The list grows meanwhile. */
static int look_beneath(struct walk *walk)
{
	const char *base = walk->base;
	size_t most = walk->out->count + MAX_EXTRAS_BENEATH;
	int status = SB_OK;

	for (size_t i = 0; i < walk->beneath_count; i++) {
		walk->base = walk->beneath[i];
		if (status == SB_OK && walk->out->count < most)
			status = look_in_base(walk);
	}
	walk->base = base;
	return status;
}

/* What means something in the home directory alone, ~/bin, also where no link is on the way. */
static int add_own_of_home(const struct walk *walk)
{
	int status = SB_OK;

	for (unsigned at = index_of.trees; at && status == SB_OK; at = index_of.next_tree[at - 1]) {
		const struct sb_guard_row *row = &walk->rows[at - 1];
		int length = (int)strlen(row->pattern) - (int)strlen("/**");
		char *path = sb_text_print("%s/%.*s", walk->base, length, row->pattern);

		if (!path)
			return SB_E_NOMEM;
		status = sb_extras_add(walk->out, (struct sb_extra){path, SB_EXTRA_ROW, row, NULL});
	}
	return status;
}

int sb_extras_links(const char *directory, bool beneath, const struct sb_guard_homes *others,
		    struct sb_extras *out)
{
	static pthread_once_t indexed = PTHREAD_ONCE_INIT;
	size_t count;
	struct walk walk = {.base = directory,
			    .home = others != NULL,
			    .out = out,
			    .rows = sb_guard_rows(&count),
			    .links_left = MAX_LINKS,
			    .tracked_left = MAX_TRACKED};
	int status;

	pthread_once(&indexed, index_rows);
	if (beneath)
		walk.beneath = calloc(MAX_BENEATH, sizeof *walk.beneath);
	status = beneath && !walk.beneath ? SB_E_NOMEM : look_in_base(&walk);
	if (beneath && status == SB_OK)
		status = look_beneath(&walk);
	if (!others && status == SB_OK)
		status = sb_index_links(directory, look_at_tracked, &walk);
	if (status == SB_OK && others)
		status = add_own_of_home(&walk);
	if (status == SB_OK && others)
		status = look_in_others(&walk, others);
	for (size_t i = 0; i < walk.tree_count; i++) {
		if (status == SB_OK)
			status = look_in_tree(&walk, walk.trees[i].path, walk.trees[i].row);
		free(walk.trees[i].path);
	}
	for (size_t i = 0; i < walk.beneath_count; i++)
		free(walk.beneath[i]);
	free(walk.beneath);
	return status;
}
