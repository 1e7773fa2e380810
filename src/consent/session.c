#include "consent/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/escape.h"
#include "config/file.h"
#include "consent/hosts.h"
#include "consent/overrule.h"
#include "consent/session_file.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/access.h"

struct sb_session {
	char *name, *file;
	struct sb_kept_list kept;
};

int sb_session_check_name(const char *name, struct sb_error *err)
{
	static const char alnum[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789._-";

	if (name[0] && strlen(name) <= SB_SESSION_NAME_MAX && strchr(alnum, name[0]) &&
	    strspn(name, others) == strlen(name))
		return SB_OK;
	sb_fail(err, SB_E_INVALID, 0, "'%s' is no name for a session", name);
	return sb_hint(err, "use letters, digits, '.', '_' and '-', at most %d of them",
		       SB_SESSION_NAME_MAX);
}

static char *session_dir(const char *state_dir)
{
	return sb_path_join(state_dir, "sessions");
}

static char *session_file(const char *state_dir, const char *name)
{
	SB_AUTO_FREE char *dir = session_dir(state_dir);

	return dir ? sb_path_join(dir, name) : NULL;
}

static int read_file(const char *file, struct sb_kept_list *out, bool *out_found,
		     struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	struct sb_error why;
	int status = sb_config_read(file, &text, out_found, err);

	if (status != SB_OK)
		return status;
	status = sb_session_parse(text.data, text.length, out, &why);
	return status == SB_OK ? SB_OK : sb_fail(err, status, 0, "'%s' %s", file, why.message);
}

int sb_session_open(const char *state_dir, const char *name, struct sb_session **out,
		    struct sb_error *err)
{
	struct sb_session *session;
	bool found;
	int status = sb_session_check_name(name, err);

	if (status != SB_OK)
		return status;
	session = calloc(1, sizeof *session);
	if (!session)
		return sb_no_memory(err);
	session->name = strdup(name);
	session->file = session_file(state_dir, name);
	status = session->name && session->file ? SB_OK : sb_no_memory(err);
	if (status == SB_OK)
		status = read_file(session->file, &session->kept, &found, err);
	if (status != SB_OK) {
		sb_session_free(session);
		return status;
	}
	*out = session;
	return SB_OK;
}

void sb_session_free(struct sb_session *session)
{
	if (!session)
		return;
	sb_kept_list_done(&session->kept);
	free(session->name);
	free(session->file);
	free(session);
}

bool sb_session_kept(const struct sb_session *session, size_t number, const char **out_path,
		     struct sb_access *out_access)
{
	if (number >= session->kept.count)
		return false;
	*out_path = session->kept.entries[number].path;
	*out_access = session->kept.entries[number].access;
	return true;
}

/* --- keeping ----------------------------------------------------------------- */

static struct sb_kept_file file_of(const struct sb_wish *wish, enum sb_answer answer)
{
	SB_AUTO_FD int fd = -1;

	if (answer != SB_ANSWER_DENY)
		return sb_kept_file_of(wish->directory);
	fd = openat(wish->directory, wish->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? (struct sb_kept_file){0} : sb_kept_file_of(fd);
}

/* Between our reading and now another run of this name may have kept answers of its own.
 * access is NULL: what was kept for the path goes. */
static int write_with(const char *file, const char *path, const struct sb_access *access,
		      const struct sb_kept_file *about, struct sb_error *err)
{
	SB_AUTO_BUF struct sb_buf text = SB_BUF(SB_CONFIG_LIMIT);
	struct sb_kept_list list = {0};
	SB_AUTO_FD int lock = -1;
	bool found;
	int status = sb_config_lock(file, &lock, err);

	if (status == SB_OK)
		status = read_file(file, &list, &found, err);
	if (status != SB_OK)
		return status;
	if (access)
		status = sb_kept_list_put(&list, path, access, about, err);
	else
		sb_kept_list_drop(&list, path);
	if (status == SB_OK) {
		sb_session_print(&list, &text);
		status = sb_buf_failed(&text)
				 ? sb_no_memory(err)
				 : sb_config_replace(file, text.data, text.length, err);
	}
	sb_kept_list_done(&list);
	return status;
}

static int keep(struct sb_session *session, const char *path, const struct sb_access *access,
		const struct sb_kept_file *file, struct sb_error *err)
{
	int status = write_with(session->file, path, access, file, err);

	return status == SB_OK ? sb_kept_list_put(&session->kept, path, access, file, err) : status;
}

int sb_session_keep(struct sb_session *session, const struct sb_wish *wish, enum sb_answer answer,
		    struct sb_error *err)
{
	struct sb_access access;
	struct sb_kept_file file;
	char path[PATH_MAX];

	/* "Always" is written to the configuration, which is read in every session. */
	if (answer == SB_ANSWER_ALWAYS || !sb_grants_as_rule(wish, answer, &access, path))
		return SB_OK;
	file = file_of(wish, answer);
	return keep(session, path, &access, &file, err);
}

int sb_session_keep_host(struct sb_session *session, const struct sb_host_wish *wish,
			 enum sb_answer answer, struct sb_error *err)
{
	const struct sb_access *access = answer == SB_ANSWER_DENY ? &sb_access_deny
								  : &sb_access_write;
	char text[SB_PEER_TEXT_SIZE];

	if (wish->found.family || (answer != SB_ANSWER_DENY && answer != SB_ANSWER_DIRECTORY))
		return SB_OK;
	sb_host_rule(wish, text);
	return keep(session, text, access, &(struct sb_kept_file){0}, err);
}

int sb_session_keep_project(struct sb_session *session, const char *path, struct sb_error *err)
{
	SB_AUTO_FD int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct sb_kept_file file = sb_kept_file_of(fd);

	if (!file.known)
		return sb_fail(err, SB_E_MISSING, errno, "cannot look at '%s'", path);
	file.project = true;
	return keep(session, path, &sb_access_write, &file, err);
}

int sb_session_drop(struct sb_session *session, const char *path, struct sb_error *err)
{
	return sb_kept_list_drop(&session->kept, path)
		       ? write_with(session->file, path, NULL, NULL, err)
		       : SB_OK;
}

/* --- coming back ------------------------------------------------------------- */

struct applying {
	const struct sb_session *session;
	struct sb_policy *policy;
	const char *home;
	sb_session_warn warn;
	void *context;
};

static void leave_out(const struct applying *applying, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void leave_out(const struct applying *applying, const char *path, const char *format, ...)
{
	char reason[1024], raw[6 * 1024], safe[6 * 1024];
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof reason, format, args);
	va_end(args);
	snprintf(raw, sizeof raw, "session '%s': '%s' will be asked about again: %s",
		 applying->session->name, path, reason);
	applying->warn(applying->context, sb_escape_line(safe, sizeof safe, raw));
}

/* Is the directory of a grant the one that was meant?  If not, says why. */
static const char *changed(const struct sb_kept_answer *kept, const char *home,
			   struct sb_error *err)
{
	SB_AUTO_FREE char *canonical = NULL;
	SB_AUTO_FD int fd = -1;
	struct sb_kept_file now;
	int missing;

	if (sb_path_within(kept->path, home))
		return "it holds the home directory";
	if (sb_path_canonical(kept->path, &canonical, &missing, err) != SB_OK)
		return "it cannot be found";
	if (missing)
		return "it is not there";
	if (strcmp(canonical, kept->path) != 0)
		return "a link leads there now";
	fd = open(kept->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return "it is no directory";
	now = sb_kept_file_of(fd);
	return sb_kept_same(&kept->file, &now) ? NULL : "it is another directory now";
}

const char *sb_session_project(const struct sb_session *session, size_t number, const char *home)
{
	const struct sb_kept_answer *kept;

	if (number >= session->kept.count)
		return NULL;
	kept = &session->kept.entries[number];
	return kept->file.project && !changed(kept, home, NULL) ? kept->path : "";
}

static int add_kept(const struct applying *applying, const struct sb_kept_answer *kept,
		    struct sb_error *err)
{
	SB_AUTO_FREE char *text = sb_pattern_escape(kept->path);
	char origin[SB_SESSION_NAME_MAX + 16];
	struct sb_rule rule = {
		.access = kept->access, .tier = SB_TIER_SESSION, .pattern = text, .origin = origin};
	bool denial = sb_access_has(&kept->access, SB_DENY, SB_READ);
	const struct sb_rule *stronger;

	if (!text)
		return sb_no_memory(err);
	snprintf(origin, sizeof origin, "session %s", applying->session->name);
	if (!denial) {
		const char *why = changed(kept, applying->home, err);

		if (why) {
			leave_out(applying, kept->path, "%s", why);
			return SB_OK;
		}
	}
	/* A denial only ever takes away: it becomes as strict as the others. */
	stronger = sb_overruled(applying->policy, kept->path, &kept->access,
				denial ? &rule.access : NULL);
	if (stronger && !denial) {
		leave_out(applying, kept->path, "%s says otherwise", stronger->origin);
		return SB_OK;
	}
	return sb_policy_add(applying->policy, &rule, err);
}

/* A rule that denies it, of those that the user has by now, counts more than a yes of then. */
static int add_host(const struct applying *applying, const struct sb_kept_answer *kept,
		    struct sb_error *err)
{
	bool denies = sb_access_equal(&kept->access, &sb_access_deny);
	char origin[SB_SESSION_NAME_MAX + 16];
	struct sb_connect_rule rule = {denies ? SB_DENY : SB_ALLOW, SB_TIER_SESSION, kept->path,
				       origin};
	struct sb_peer peer;
	int status = sb_peer_parse(kept->path, &peer, err);

	snprintf(origin, sizeof origin, "session %s", applying->session->name);
	if (status != SB_OK ||
	    (!denies && sb_decide_connect(applying->policy, &peer).verdict == SB_DENY))
		return status;
	return sb_connect_add(applying->policy, &rule, err);
}

int sb_session_apply(const struct sb_session *session, struct sb_policy *policy, const char *home,
		     sb_session_warn warn, void *context, struct sb_error *err)
{
	struct applying applying = {session, policy, home, warn, context};
	int status = SB_OK;

	for (size_t i = 0; i < session->kept.count && status == SB_OK; i++)
		status = session->kept.entries[i].path[0] == '/'
				 ? add_kept(&applying, &session->kept.entries[i], err)
				 : add_host(&applying, &session->kept.entries[i], err);
	return status;
}

/* --- all of them ------------------------------------------------------------- */

static int is_session(const struct dirent *entry)
{
	return sb_session_check_name(entry->d_name, NULL) == SB_OK;
}

static int show(const char *dir, const char *name, sb_session_found found, void *context,
		struct sb_error *err)
{
	SB_AUTO_FREE char *file = sb_path_join(dir, name);
	struct sb_kept_list list = {0};
	struct stat info;
	long answers = -1;
	bool there;

	if (!file)
		return sb_no_memory(err);
	if (lstat(file, &info) != 0 || !S_ISREG(info.st_mode))
		return SB_OK;
	if (read_file(file, &list, &there, NULL) == SB_OK)
		answers = (long)list.count;
	sb_kept_list_done(&list);
	return found(context, name, answers, info.st_mtime, err);
}

int sb_session_list(const char *state_dir, sb_session_found found, void *context,
		    struct sb_error *err)
{
	SB_AUTO_FREE char *dir = session_dir(state_dir);
	struct dirent **names = NULL;
	int count, status = SB_OK;

	if (!dir)
		return sb_no_memory(err);
	count = scandir(dir, &names, is_session, alphasort);
	if (count < 0 && (errno == ENOENT || errno == ENOTDIR))
		return SB_OK;
	if (count < 0)
		return sb_fail(err, SB_E_SYSTEM, errno, "cannot read '%s'", dir);
	for (int i = 0; i < count; i++) {
		if (status == SB_OK)
			status = show(dir, names[i]->d_name, found, context, err);
		free(names[i]);
	}
	free(names);
	return status;
}

int sb_session_forget(const char *state_dir, const char *name, struct sb_error *err)
{
	SB_AUTO_FREE char *file = NULL;
	SB_AUTO_FD int lock = -1;
	struct stat info;
	int status = sb_session_check_name(name, err);

	if (status != SB_OK)
		return status;
	file = session_file(state_dir, name);
	if (!file)
		return sb_no_memory(err);
	if (lstat(file, &info) != 0) /* locking would make the directory */
		return errno == ENOENT || errno == ENOTDIR
			       ? sb_fail(err, SB_E_MISSING, 0, "there is no session '%s'", name)
			       : sb_fail(err, SB_E_SYSTEM, errno, "cannot look at '%s'", file);
	status = sb_config_lock(file, &lock, err);
	if (status == SB_OK && unlink(file) != 0)
		status = sb_fail(err, SB_E_SYSTEM, errno, "cannot remove '%s'", file);
	return status;
}
