/*
 * A guard, and what it finds beside the table: in the projects' git configs, behind links and .git files.
 *
 * SECURITY: that is found by a process that sees everything, before the run changes anything.
 *
 * Danger: the performer is behind mounts that hide parts of the home directory, in which links may be
 * that lead into a project.  A launch is not to wait for the look, which takes 200 us in a usual home;
 * so it happens while the command is made ready, and the performer waits for it at the first change.
 * Price: memory that both share, and what is found has the same addresses in both.
 * Held by: tests/supervise/home_links.py
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/list.h"
#include "guard/guard_impl.h"
#include "path/path.h"
#include "sys/share.h"

#define FOUND_TEXT (512 * 1024)
#define FOUND_MAX 2048
#define SHOWN_MAX 64
#define MAX_OPENED 64
#define PATIENCE_MS 10000 /* then everything is dangerous */

enum { NOTHING, ALL, TOO_MUCH };

struct sb_guard_found {
	int state;
	size_t count, shown_count, common_count, used;
	struct sb_extra all[FOUND_MAX];
	const char *shown[SHOWN_MAX]; /* configs */
	struct sb_common commons[SHOWN_MAX];
	char text[FOUND_TEXT];
	struct sb_late late; /* a copy: its writer does not read here */
};

static char everything[] = "";
static struct sb_extra any = {everything, SB_EXTRA_ROW, NULL, NULL};
static struct sb_late closed; /* with that, where there is no memory for more */

/* Nobody knows what is dangerous: so all is. */
static void close_all(struct sb_guard *guard)
{
	guard->extras.all = &any;
	guard->extras.count = 1;
	guard->commons.lost = true;
}

/* Programs of the machine, which are many users'; who may write there is root. */
static bool is_of_system(const char *directory)
{
	return sb_path_within("/usr", directory) || sb_path_within("/bin", directory) ||
	       sb_path_within("/sbin", directory);
}

/*
 * SECURITY: directories that variables of the user's have obeyed are so wherever they lie.
 *
 * Danger: ~/tools/bin is on the PATH.  An answer for ~/tools would let a command make ls there, and a link in the
 * project that leads there would be followed by whoever writes by its name.
 * Price: they are compared with every name that is judged.
 * Held by: tests/cli/environment.py
 */
static int add_obeyed(const struct sb_guard_options *options, struct sb_extras *out)
{
	static const struct sb_guard_row row = {
		"",
		"what the environment says",
		"a variable, as $PATH or $EDITOR, names it or its directory",
		SB_GUARD_SAME,
		0,
		""};
	const char *const *obeyed = options->homes.obeyed;
	int status = SB_OK;

	for (size_t i = 0; obeyed && obeyed[i] && status == SB_OK; i++)
		/* what is around a project, or is all of it, would close that */
		if (!sb_path_holds_any(obeyed[i], options->projects) && !is_of_system(obeyed[i]))
			status = sb_extras_add(out, (struct sb_extra){.path = strdup(obeyed[i]),
								      .kind = SB_EXTRA_ROW,
								      .row = &row});
	return status;
}

/*
 * SECURITY: what git settings name in directories that the user's rules open is looked for as in projects.
 *
 * Danger: --grant=~/src, and ~/src/other says include.path=../extra: a command would write that file, and the next git
 * there runs what it says.
 * Price: a look into the directories right in each; of deeper ones, and those that an answer opens later, nothing is known.
 * Held by: tests/supervise/opened.py
 */
static int look_at_opened(const struct sb_guard_options *options, struct sb_extras *out)
{
	const char *directory;
	size_t next = 0;
	int status = SB_OK;

	for (int left = MAX_OPENED; options->opened && left && status == SB_OK &&
				    (directory = options->opened(options->context, &next));
	     left--)
		status = sb_obeyed_find(directory, options, out);
	return status;
}

static int look(struct sb_guard *guard)
{
	const struct sb_guard_options *options = &guard->options;
	size_t count = sb_list_count(options->projects);
	int status = SB_OK;

	guard->shown = calloc(count + 1, sizeof *guard->shown);
	if (!guard->shown)
		return SB_E_NOMEM;
	for (size_t i = 0; status == SB_OK && i < count; i++) {
		status = sb_extras_of(options->projects[i], options, &guard->extras,
				      &guard->shown[i]);
		guard->shown_count = i + 1;
		if (status == SB_OK)
			status = sb_extras_links(options->projects[i], true, NULL, &guard->extras);
		if (status == SB_OK)
			status = sb_obeyed_find(options->projects[i], options, &guard->extras);
	}
	if (status == SB_OK)
		status = look_at_opened(options, &guard->extras);
	if (status == SB_OK)
		status = sb_commons_find(options->projects, guard);
	if (status == SB_OK && options->home)
		status = sb_extras_links(options->home, false, &options->homes, &guard->extras);
	if (status == SB_OK && options->homes.account)
		status = sb_extras_links(options->homes.account, false, &(struct sb_guard_homes){0},
					 &guard->extras);
	return status == SB_OK ? add_obeyed(options, &guard->extras) : status;
}

/* --- for the other process ---------------------------------------------------------------- */

static char *keep_text(struct sb_guard_found *found, const char *text)
{
	size_t size = strlen(text) + 1;
	char *kept = found->text + found->used;

	if (size > FOUND_TEXT - found->used)
		return NULL;
	memcpy(kept, text, size);
	found->used += size;
	return kept;
}

/* Rows and their patterns are the program's own, and the same in both. */
static bool keep_all(const struct sb_guard *guard, struct sb_guard_found *found)
{
	const struct sb_commons *commons = &guard->commons;

	if (guard->extras.count > FOUND_MAX || guard->shown_count > SHOWN_MAX ||
	    commons->count > SHOWN_MAX)
		return false;
	for (size_t i = 0; i < guard->extras.count; i++) {
		found->all[i] = guard->extras.all[i];
		found->all[i].path = keep_text(found, guard->extras.all[i].path);
		if (!found->all[i].path)
			return false;
	}
	found->count = guard->extras.count;
	for (size_t i = 0; i < guard->shown_count; i++) {
		const char *config = guard->shown[i].config;

		found->shown[i] = config ? keep_text(found, config) : NULL;
		if (config && !found->shown[i])
			return false;
	}
	found->shown_count = guard->shown_count;
	for (size_t i = 0; i < commons->count; i++) {
		found->commons[i] = commons->all[i];
		found->commons[i].path = keep_text(found, commons->all[i].path);
		if (!found->commons[i].path)
			return false;
	}
	found->common_count = commons->count;
	return true;
}

static int await(const struct sb_guard_found *found)
{
	struct timespec pause = {0, 50000};
	int state;

	for (int i = 0; (state = __atomic_load_n(&found->state, __ATOMIC_ACQUIRE)) == NOTHING;
	     i++) {
		if (i >= PATIENCE_MS * 20)
			return TOO_MUCH;
		nanosleep(&pause, NULL);
	}
	return state;
}

/* What the process that looked has found. */
static void take(struct sb_guard *guard)
{
	struct sb_guard_found *found = guard->found;

	guard->shown = await(found) == ALL ? calloc(found->shown_count + 1, sizeof *guard->shown)
					   : NULL;
	if (!guard->shown) {
		close_all(guard);
		return;
	}
	guard->late = &found->late;
	guard->extras.all = found->all;
	guard->extras.count = found->count;
	for (size_t i = 0; i < found->shown_count; i++)
		guard->shown[i].config = (char *)found->shown[i];
	guard->shown_count = found->shown_count;
	guard->commons.all = found->commons;
	guard->commons.count = found->common_count;
}

void sb_guard_look(const struct sb_guard *constant)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct sb_guard *guard = (struct sb_guard *)constant;

	pthread_mutex_lock(&lock);
	if (!guard->looked && guard->looker != getpid()) {
		take(guard);
	} else if (!guard->looked) {
		int state = look(guard) == SB_OK && keep_all(guard, guard->found) ? ALL : TOO_MUCH;

		if (state != ALL)
			close_all(guard);
		__atomic_store_n(&guard->found->state, state, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&guard->looked, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
}

int sb_guard_new(const struct sb_guard_options *options, struct sb_guard **out,
		 struct sb_error *err)
{
	struct sb_guard *guard = calloc(1, sizeof *guard);
	int status = guard ? SB_OK : SB_E_NOMEM;

	if (status == SB_OK) {
		memcpy(&guard->options, options,
		       options->size < sizeof guard->options ? options->size
							     : sizeof guard->options);
		guard->whole =
			(struct sb_guard_whole){sb_guard_look, sb_guard_judge, sb_guard_content};
		guard->extras.options = &guard->options;
		guard->looker = getpid();
		sb_system_begin(&guard->system, options->projects);
	}
	if (status == SB_OK && guard->options.later) {
		guard->found = sb_sys_share(sizeof *guard->found);
		status = guard->found ? SB_OK : SB_E_NOMEM;
	} else if (status == SB_OK) {
		status = look(guard);
		if (status == SB_E_REFUSED) {
			sb_extras_done(&guard->extras);
			close_all(guard);
			status = SB_OK;
		}
		guard->looked = true;
		/* read here only: the caller's strings need not live on */
		guard->options.projects = NULL;
		guard->home = guard->options.home ? strdup(guard->options.home) : NULL;
		if (guard->options.home && !guard->home)
			status = SB_E_NOMEM;
		guard->options.home = NULL;
		guard->options.git_settings = NULL;
		guard->options.homes = (struct sb_guard_homes){0};
	}
	if (status != SB_OK) {
		sb_guard_free(guard);
		return sb_no_memory(err);
	}
	*out = guard;
	return SB_OK;
}

/* --- links that land while the run goes on -------------------------------------------------- */

#define LINK_LEVELS 8 /* directories around it, in which a pattern may begin */

static void add_late(struct sb_late *late, const struct sb_extra *extra)
{
	size_t size = strlen(extra->path) + 1;

	if (late->count == SB_LATE_MAX)
		return; /* the last one says that everything is dangerous */
	late->all[late->count] = any;
	if (late->count < SB_LATE_MAX - 1 && size <= SB_LATE_TEXT - late->used) {
		late->all[late->count] = *extra;
		late->all[late->count].path = memcpy(late->text + late->used, extra->path, size);
		late->used += size;
	}
	__atomic_store_n(&late->count, late->count + 1, __ATOMIC_RELEASE);
}

static void learn(struct sb_guard *guard, const struct sb_extra *extra)
{
	if (guard->late)
		add_late(guard->late, extra);
	if (guard->found)
		add_late(&guard->found->late, extra);
}

static bool is_known(const struct sb_guard *guard, const struct sb_extra *extra)
{
	const struct sb_extras late = {.all = guard->late ? guard->late->all : NULL,
				       .count = guard->late ? guard->late->count : 0};

	return extra->kind >= SB_EXTRA_ANYWHERE || sb_extras_holds(&guard->extras, extra) ||
	       sb_extras_holds(&late, extra);
}

/* Where the link itself leads, if no pattern has said more of it. */
static int add_itself(const char *path, const struct sb_guard_row *row, struct sb_extras *out)
{
	SB_AUTO_FREE char *target = NULL;
	size_t before = out->count;

	target = sb_extras_follow(out, path);
	for (; before < out->count; before++)
		out->all[before].row = row;
	for (size_t i = 0; target && i < out->count; i++)
		if (out->all[i].kind == SB_EXTRA_ROW && sb_path_within(target, out->all[i].path))
			return SB_OK;
	if (!target || sb_path_within(target, path))
		return SB_OK;
	return sb_extras_add(
		out,
		(struct sb_extra){.path = sb_take_ptr(&target), .kind = SB_EXTRA_ROW, .row = row});
}

static int look_around(const struct sb_guard *guard, const char *path,
		       const struct sb_guard_row *row, struct sb_extras *out)
{
	const struct sb_guard_options *options = &guard->options;
	SB_AUTO_FREE char *base = strdup(path);
	int status = base ? SB_OK : SB_E_NOMEM;
	struct stat info;

	if (status != SB_OK || lstat(path, &info) != 0 ||
	    !(S_ISLNK(info.st_mode) || S_ISDIR(info.st_mode)))
		return status;
	for (int level = 0; level < LINK_LEVELS && base[0] && status == SB_OK; level++) {
		bool home = options->home && strcmp(base, options->home) == 0;

		if (level || S_ISDIR(info.st_mode))
			status = sb_extras_links(base, !level, home ? &options->homes : NULL, out);
		*strrchr(base, '/') = '\0';
	}
	if (status == SB_OK)
		sb_extras_around(guard, path, out); /* a hook; what is closed has no new ones */
	return status == SB_OK && row && S_ISLNK(info.st_mode) ? add_itself(path, row, out)
							       : status;
}

void sb_guard_linked(const struct sb_guard *constant, const char *path,
		     const struct sb_guard_row *row)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct sb_guard *guard = (struct sb_guard *)constant;
	SB_AUTO(sb_extras_done) struct sb_extras found = {.options = &guard->options};
	int status;

	sb_guard_need(guard);
	pthread_mutex_lock(&lock);
	status = look_around(guard, path, row, &found);
	if (!guard->late && (found.count || status != SB_OK)) {
		struct sb_late *late = calloc(1, sizeof *late);

		if (!late)
			add_late(late = &closed, &any);
		__atomic_store_n(&guard->late, late, __ATOMIC_RELEASE);
	}
	for (size_t i = 0; i < found.count; i++)
		if (!is_known(guard, &found.all[i]))
			learn(guard, &found.all[i]);
	if (status != SB_OK) /* nobody knows where they lead */
		learn(guard, &any);
	pthread_mutex_unlock(&lock);
}

const char *sb_guard_home_of(const struct sb_guard *guard)
{
	return guard->home ? guard->home : guard->options.home;
}

void *sb_guard_context(const struct sb_guard *guard)
{
	return guard->options.context;
}

/* In a process that has looked itself; in another one it lives as long as that. */
void sb_guard_free(struct sb_guard *guard)
{
	if (!guard)
		return;
	if (guard->extras.all != &any)
		sb_extras_done(&guard->extras);
	for (size_t i = 0; i < guard->shown_count; i++)
		sb_shown_done(&guard->shown[i]);
	free(guard->shown);
	if (guard->late != &closed && (!guard->found || guard->late != &guard->found->late))
		free(guard->late);
	sb_commons_done(&guard->commons);
	sb_system_done(&guard->system);
	free(guard->home);
	free(guard);
}

void sb_guard_changes(const struct sb_guard *guard, void (*tell)(void *context, const char *line),
		      void *context)
{
	sb_guard_need(guard);
	for (size_t i = 0; i < guard->shown_count; i++)
		sb_shown_compare(&guard->shown[i], tell, context);
}
