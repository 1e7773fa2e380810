#include "config/profile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/words.h"
#include "config/file.h"
#include "config/load.h"
#include "path/path.h"
#include "policy/text.h"

#define DIRECTORY "profiles" /* in the configuration */
#define ENDING ".rules"
#define MAX_NAME 64
#define MAX_LINKS 8 /* from a name to its program */

void sb_profile_done(struct sb_profile *profile)
{
	free(profile->name);
	free(profile->file);
	free(profile->program);
	sb_list_free(profile->environment);
	sb_list_free(profile->arguments);
	sb_list_free(profile->says);
	sb_list_free(profile->directories);
	sb_list_free(profile->tools);
	sb_list_free(profile->tool_files);
	sb_list_free(profile->replaced);
	sb_list_free(profile->caches);
	free(profile->cache);
	*profile = (struct sb_profile){0};
}

/* --- which there are ------------------------------------------------------------------------ */

/* A name that is one part of a path, and no hidden file. */
static bool is_name(const char *name, size_t length)
{
	return length > 0 && length <= MAX_NAME && name[0] != '.' && name[0] != '-' &&
	       !memchr(name, '/', length);
}

static const struct sb_shipped_profile *find_shipped(const char *name, bool by_program)
{
	for (size_t i = 0; i < sb_shipped_profile_count; i++) {
		const struct sb_shipped_profile *row = &sb_shipped_profiles[i];

		if (by_program ? sb_is_word(row->programs, name) : strcmp(row->name, name) == 0)
			return row;
	}
	return NULL;
}

const struct sb_shipped_profile *sb_profile_shipped(const char *name)
{
	return find_shipped(name, false);
}

/* The user's file of that name, whether there is one or not; NULL: out of memory. */
static char *user_file(const struct sb_home *home, const char *name)
{
	SB_AUTO_BUF struct sb_buf path = SB_BUF(8 * 1024);

	sb_buf_printf(&path, "%s/" DIRECTORY "/%s" ENDING, home->config_dir, name);
	return sb_buf_take(&path);
}

static int is_rules_file(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), end = strlen(ENDING);

	return length > end && strcmp(entry->d_name + length - end, ENDING) == 0 &&
	       is_name(entry->d_name, length - end);
}

/* The user's own, by name; *out_count 0 where there is no such directory. */
static int list_user(const struct sb_home *home, struct dirent ***out, int *out_count,
		     struct sb_error *err)
{
	SB_AUTO_FREE char *directory = sb_path_join(home->config_dir, DIRECTORY);

	*out = NULL;
	*out_count = 0;
	if (!directory)
		return sb_no_memory(err);
	*out_count = scandir(directory, out, is_rules_file, alphasort);
	if (*out_count >= 0)
		return SB_OK;
	*out_count = 0;
	if (errno == ENOENT || errno == ENOTDIR)
		return SB_OK;
	return sb_fail(err, SB_E_SYSTEM, errno, "cannot read '%s'", directory);
}

static void free_entries(struct dirent **entries, int count)
{
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
}

static char *name_of(const struct dirent *entry)
{
	return strndup(entry->d_name, strlen(entry->d_name) - strlen(ENDING));
}

int sb_profile_users(const struct sb_home *home,
		     int (*found)(void *context, const char *name, const char *file,
				  struct sb_error *err),
		     void *context, struct sb_error *err)
{
	struct dirent **entries;
	int count, status = list_user(home, &entries, &count, err);

	for (int i = 0; i < count && status == SB_OK; i++) {
		SB_AUTO_FREE char *name = name_of(entries[i]);
		SB_AUTO_FREE char *file = name ? user_file(home, name) : NULL;

		status = file ? found(context, name, file, err) : sb_no_memory(err);
	}
	free_entries(entries, count);
	return status;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int sb_profile_names(const struct sb_home *home, char ***out, struct sb_error *err)
{
	struct dirent **entries;
	char **names = NULL;
	size_t count = 0;
	int found, status = list_user(home, &entries, &found, err);

	for (int i = 0; i < found && status == SB_OK; i++)
		status = sb_list_push(&names, &count, name_of(entries[i]), err);
	free_entries(entries, found);
	for (size_t i = 0; i < sb_shipped_profile_count && status == SB_OK; i++) {
		const char *name = sb_shipped_profiles[i].name;

		if (!sb_list_has((const char *const *)names, name))
			status = sb_list_push(&names, &count, strdup(name), err);
	}
	if (status != SB_OK) {
		sb_list_free(names);
		return status;
	}
	qsort(names, count, sizeof *names, compare_names);
	*out = names;
	return SB_OK;
}

int sb_profile_no_such(const char *name, struct sb_error *err)
{
	sb_fail(err, SB_E_MISSING, 0, "there is no profile '%s'", name);
	return sb_hint(err, "--profiles lists them");
}

int sb_profile_text(const struct sb_home *home, const char *name, char **out_text, char **out_file,
		    struct sb_error *err)
{
	const struct sb_shipped_profile *shipped = find_shipped(name, false);
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	SB_AUTO_FREE char *file = NULL;
	bool found = false;
	int status;

	*out_file = NULL;
	if (is_name(name, strlen(name))) {
		file = user_file(home, name);
		if (!file)
			return sb_no_memory(err);
		status = sb_config_read(file, &text, &found, err);
		if (status != SB_OK)
			return status;
	}
	if (!found && !shipped)
		return sb_profile_no_such(name, err);
	if (!found)
		sb_buf_append(&text, sb_shipped_text + shipped->start, shipped->length);
	sb_buf_puts(&text, ""); /* an empty file is a text, too */
	*out_text = sb_buf_take(&text);
	if (!*out_text)
		return sb_no_memory(err);
	if (found)
		*out_file = sb_take_ptr(&file);
	return SB_OK;
}

/* --- which one it is ------------------------------------------------------------------------ */

/* A project must not bring its own rules, neither by a link. */
bool sb_profile_is_in_project(const struct sb_maker *maker, const char *file)
{
	SB_AUTO_FREE char *real = NULL;

	return sb_path_canonical(file, &real, NULL, NULL) != SB_OK ||
	       sb_load_is_projects(maker, real);
}

/* The text of the lines of one kind in a user's file, as one; NULL where there are none. */
static char *profile_words(const struct sb_maker *maker, const char *file, int kind)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT), words = SB_BUF(SB_CONFIG_LIMIT);
	struct sb_text_lines one;
	bool found;

	if (sb_profile_is_in_project(maker, file) ||
	    sb_config_read(file, &text, &found, NULL) != SB_OK || !found)
		return NULL;
	one = sb_text_lines(text.data, text.length);
	while (sb_next_line(&one)) {
		struct sb_line line;

		if (sb_profile_line_parse(one.text, one.length, &line, NULL) == SB_OK) {
			if ((int)line.kind == kind)
				sb_buf_printf(&words, "%s ", line.text);
			sb_line_done(&line);
		}
	}
	return words.length ? sb_buf_take(&words) : NULL;
}

/* Does a "program" line of the file name it?  What cannot be read says nothing. */
static bool names_program(const struct sb_maker *maker, const char *file, const char *program)
{
	SB_AUTO_FREE char *programs = profile_words(maker, file, SB_LINE_PROGRAM);

	return programs && sb_is_word(programs, program);
}

/* The user's profile for a program: the file that has its name, else the first that names it. */
static int find_users(struct sb_maker *maker, const char *program, struct dirent **entries,
		      int count, struct sb_profile *out, struct sb_error *err)
{
	int status = SB_OK;

	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < count && status == SB_OK && !out->name; i++) {
			SB_AUTO_FREE char *name = name_of(entries[i]);
			SB_AUTO_FREE char *file = name ? user_file(&maker->setup.home, name) : NULL;
			bool same = name && strcmp(name, program) == 0;

			if (!file)
				return sb_no_memory(err);
			if (pass == 0 ? !same : same || !names_program(maker, file, program))
				continue;
			out->name = sb_take_ptr(&name);
			out->file = sb_take_ptr(&file);
		}
	}
	return status;
}

/* What the program is called: as it was typed, and as links lead on from there. */
struct names {
	char **all;
	size_t count;
};

static int push_name(struct names *names, const char *path, struct sb_error *err)
{
	const char *name = sb_path_name(path);

	return is_name(name, strlen(name))
		       ? sb_list_push(&names->all, &names->count, strdup(name), err)
		       : SB_OK;
}

/* Most programs are no links, and take one look at the disk. */
static int find_names(const char *program, const char *file, struct names *out,
		      struct sb_error *err)
{
	SB_AUTO_FREE char *at = file ? strdup(file) : NULL;
	int status = push_name(out, program, err);

	for (int i = 0; i < MAX_LINKS && at && status == SB_OK; i++) {
		SB_AUTO_FREE char *parent = sb_path_parent(at);
		char target[PATH_MAX];
		ssize_t length = readlink(at, target, sizeof target - 1);

		if (length <= 0 || !parent)
			break;
		target[length] = '\0';
		free(at);
		at = target[0] == '/' ? strdup(target) : sb_path_join(parent, target);
		status = push_name(out, target, err);
	}
	return status;
}

static int find_by_names(struct sb_maker *maker, const struct names *names, struct sb_profile *out,
			 struct sb_error *err)
{
	struct dirent **entries;
	int count, status = list_user(&maker->setup.home, &entries, &count, err);

	for (size_t i = 0; i < names->count && status == SB_OK && !out->name; i++) {
		const struct sb_shipped_profile *shipped = find_shipped(names->all[i], true);

		if (count)
			status = find_users(maker, names->all[i], entries, count, out, err);
		if (status == SB_OK && !out->name && shipped) {
			out->name = strdup(shipped->name);
			status = out->name ? SB_OK : sb_no_memory(err);
		}
	}
	free_entries(entries, count);
	return status;
}

/* Is it in a directory that commands write to, or was such a link followed to it?  *out_link is that link. */
static bool is_in_watched(const struct sb_maker *maker, const char *file, char **out_canonical,
			  char **out_link)
{
	int missing = 0;

	return sb_path_canonical_through(file, (const char *const *)maker->watched, out_canonical,
					 &missing, out_link, NULL) != SB_OK ||
	       missing || *out_link ||
	       sb_path_within_any((const char *const *)maker->watched, *out_canonical);
}

/* The files that make a profile count; the user's own says so beside what ours of its name says. */
bool sb_profile_counts(struct sb_maker *maker, const char *name, const char *file,
		       bool (*fits)(struct sb_maker *maker, const char *words))
{
	const struct sb_shipped_profile *shipped = sb_profile_shipped(name);
	SB_AUTO_FREE char *words = file ? profile_words(maker, file, SB_LINE_PROJECT_FILE) : NULL;

	return (words && fits(maker, words)) || (shipped && fits(maker, shipped->project_files));
}

static bool has_words(struct sb_maker *maker, const char *words)
{
	(void)maker;
	return *words != '\0';
}

static int choose_by_name(struct sb_maker *maker, const struct names *names, const char *file,
			  struct sb_error *err)
{
	struct sb_profile *profile = &maker->setup.profile;
	SB_AUTO_FREE char *link = NULL;
	int status = find_by_names(maker, names, profile, err);

	if (status != SB_OK || !profile->name)
		return status;
	profile->tool = sb_profile_counts(maker, profile->name, profile->file, has_words);
	if (is_in_watched(maker, file, &profile->program, &link) && !profile->tool) {
		status = sb_maker_warn(maker, err, SB_PROFILE_PLANTED, profile->name,
				       link               ? link
				       : profile->program ? profile->program
							  : file,
				       profile->name);
		sb_profile_done(profile);
		return status;
	}
	profile->by_name = profile->fits = true;
	return SB_OK;
}

static int choose_given(struct sb_maker *maker, const struct names *names, struct sb_error *err)
{
	struct sb_profile *profile = &maker->setup.profile;
	const char *name = maker->request->profile;
	const struct sb_shipped_profile *shipped = find_shipped(name, false);
	SB_AUTO_FREE char *file = NULL;

	if (is_name(name, strlen(name))) {
		file = user_file(&maker->setup.home, name);
		if (!file)
			return sb_no_memory(err);
	}
	if (file && sb_path_exists(file))
		profile->file = sb_take_ptr(&file);
	else if (!shipped)
		return sb_profile_no_such(name, err);
	profile->name = strdup(name);
	for (size_t i = 0; i < names->count; i++)
		profile->fits |= strcmp(names->all[i], name) == 0 ||
				 (profile->file ? names_program(maker, profile->file, names->all[i])
						: sb_is_word(shipped->programs, names->all[i]));
	return profile->name ? SB_OK : sb_no_memory(err);
}

/* The one that is asked for, or for the program. */
static int choose(struct sb_maker *maker, struct sb_error *err)
{
	const struct sb_setup_request *request = maker->request;
	SB_AUTO_FREE char *file = NULL;
	struct names names = {0};
	int status = SB_OK;

	if (!request->profile && !request->program_file)
		return SB_OK;
	if (request->program_file)
		status = sb_path_expand(request->program_file, maker->setup.home.cwd,
					maker->setup.home.home, &file, err);
	if (status == SB_OK && request->program)
		status = find_names(request->program, file, &names, err);
	if (status == SB_OK)
		status = request->profile ? choose_given(maker, &names, err)
					  : choose_by_name(maker, &names, file, err);
	sb_list_free(names.all);
	return status;
}

int sb_profile_choose(struct sb_maker *maker, struct sb_error *err)
{
	const struct sb_setup_request *request = maker->request;

	if (request->profile && strcmp(request->profile, SB_NO_PROFILE) == 0)
		return SB_OK;
	return request->only_tools ? SB_OK : choose(maker, err);
}

bool sb_profile_is_planted(const struct sb_setup *setup)
{
	const struct sb_profile *profile = &setup->profile;

	return profile->by_name && !profile->tool &&
	       sb_policy_mode(setup->policy) != SB_MODE_DANGER_FULL_ACCESS &&
	       (sb_decide(setup->policy, SB_MODIFY, profile->program).verdict == SB_ALLOW ||
		sb_decide(setup->policy, SB_CREATE, profile->program).verdict == SB_ALLOW);
}

/* --- what it says --------------------------------------------------------------------------- */

/*
 * An argument of an agent may say something about the directory that it starts in, and the agent has a
 * syntax of its own.  SECURITY: a directory's name may be anybody's, so one with quotes is not said.
 */
static int take_argument(struct sb_maker *maker, const char *text, struct sb_error *err)
{
	static const char variable[] = "$SANDBASH_PROJECT";
	struct sb_profile *profile = &maker->setup.profile;
	const char *mark = strstr(text, variable), *cwd = maker->setup.home.cwd;
	char *whole;

	for (const char *at = mark ? cwd : ""; *at; at++)
		if ((unsigned char)*at < ' ' || *at == '\x7f' || strchr("\"'\\`$", *at))
			return SB_OK;
	whole = mark ? sb_text_print("%.*s%s%s", (int)(mark - text), text, cwd,
				     mark + strlen(variable))
		     : strdup(text);
	return sb_list_push(&profile->arguments, &profile->argument_count, whole, err);
}

int sb_profile_take(struct sb_maker *maker, const struct sb_rule_source *source,
		    const struct sb_line *line, struct sb_error *err)
{
	struct sb_profile *profile = &maker->setup.profile;

	switch (line->kind) {
	case SB_LINE_ENVIRONMENT:
		return sb_list_push(&profile->environment, &profile->environment_count,
				    strdup(line->text), err);
	case SB_LINE_ARGUMENT:
		return take_argument(maker, line->text, err);
	case SB_LINE_SAY:
		return sb_list_push(&profile->says, &profile->say_count, strdup(line->text), err);
	case SB_LINE_LOGIN:
		return sb_login_open(maker, source, line->text, err);
	default: /* a program or a file of a project: read when it was chosen */
		return SB_OK;
	}
}

/* --- before the run ------------------------------------------------------------------------- */

/* path is canonical: no link is on the way, and none that comes meanwhile is followed. */
int sb_profile_make_directory(const char *path, struct sb_error *err)
{
	SB_AUTO_FD int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const int how = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

	for (size_t length; *path; path += length) {
		SB_AUTO_FREE char *name = NULL;
		int next;

		path += strspn(path, "/");
		length = strcspn(path, "/");
		name = strndup(path, length);
		if (!name)
			return sb_no_memory(err);
		next = openat(at, name, how);
		if (next < 0 && errno == ENOENT &&
		    (mkdirat(at, name, 0700) == 0 || errno == EEXIST))
			next = openat(at, name, how);
		/* what we may not make, or is something else, is the command's to find out */
		if (next < 0)
			return SB_OK;
		close(at);
		at = next;
	}
	return SB_OK;
}

int sb_profile_make(const struct sb_setup *setup, struct sb_error *err)
{
	int status = SB_OK;

	if (sb_policy_mode(setup->policy) == SB_MODE_READ_ONLY)
		return SB_OK;
	for (size_t i = 0; i < setup->profile.directory_count && status == SB_OK; i++) {
		const char *path = setup->profile.directories[i];
		struct sb_decision decision = sb_decide(setup->policy, SB_CREATE, path);

		/* also where its own rule opens nothing: then nobody asks for the way there */
		if (decision.verdict == SB_ALLOW ||
		    (decision.rule && decision.rule->tier == SB_TIER_PROFILE))
			status = sb_profile_make_directory(path, err);
	}
	return status;
}
