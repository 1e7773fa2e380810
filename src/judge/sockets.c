#include "judge/sockets.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/words.h"
#include "judge/judge_impl.h"
#include "path/path.h"
#include "path/pattern.h"
#include "policy/policy_impl.h"
#include "sys/directory.h"
#include "sys/share.h"

#define MAX_SOCKETS 1024 /* outside the run's own directories; most runs have none */
#define MAX_WALKED 20000 /* names in a directory that is moved */
#define MAX_DEPTH 64

/* --- those that the run has bound ------------------------------------------------------------------- */

struct bound {
	uint64_t device, inode;
	struct timespec born; /* 0: the file system does not tell */
	bool known;
};

/* Shared by processes of which each may end at any moment: nobody waits for anybody here. */
struct sb_own_sockets {
	unsigned next;
	struct bound all[MAX_SOCKETS];
};

struct sb_own_sockets *sb_own_sockets_new(void)
{
	return sb_sys_share(sizeof(struct sb_own_sockets));
}

void sb_own_sockets_bound(struct sb_own_sockets *own, const struct sb_sys_file *file)
{
	struct bound *bound =
		&own->all[__atomic_fetch_add(&own->next, 1, __ATOMIC_ACQ_REL) % MAX_SOCKETS];

	__atomic_store_n(&bound->known, false, __ATOMIC_RELEASE);
	bound->device = file->device;
	bound->inode = file->inode;
	bound->born = file->born;
	__atomic_store_n(&bound->known, true, __ATOMIC_RELEASE);
}

static bool has_socket(const struct sb_own_sockets *own, const struct sb_sys_file *file)
{
	unsigned count = own ? __atomic_load_n(&own->next, __ATOMIC_ACQUIRE) : 0;

	for (unsigned i = 0; i < count && i < MAX_SOCKETS; i++) {
		const struct bound *bound = &own->all[i];

		if (__atomic_load_n(&bound->known, __ATOMIC_ACQUIRE) &&
		    bound->inode == file->inode && bound->device == file->device &&
		    bound->born.tv_sec == file->born.tv_sec &&
		    bound->born.tv_nsec == file->born.tv_nsec)
			return true;
	}
	return false;
}

/* --- all others ------------------------------------------------------------------------------------- */

static const struct sb_rule service =
	SB_ASKS("built-in: a socket that this run has not made; a yes to files is none to it");

/* Does the rule mean this one file? */
static bool is_named(const struct sb_rule *rule, const char *path)
{
	return rule->tier != SB_TIER_BUILTIN && sb_pattern_names(rule->pattern, path);
}

/* With the home directory as project: what lies there under a dot is of everybody's programs. */
static bool is_of_home(const struct sb_grounds *grounds, const char *path)
{
	const char *home = grounds->guard ? sb_guard_home_of(grounds->guard) : NULL;
	size_t length = home ? strlen(home) : 0;

	return home && sb_path_within(home, path) && path[length] == '/' &&
	       path[length + 1] == '.' && sb_policy_is_project(grounds->policy, home);
}

/* Is it open by what it is called, whoever listens?  Who does not know which /tmp a run will have believes the rule. */
static bool is_open_place(const struct sb_grounds *grounds, const struct sb_rule *rule, int at,
			  const char *path)
{
	if (sb_policy_is_project(grounds->policy, path) && !is_of_home(grounds, path))
		return true;
	if (rule && ((rule->temp && !grounds->own_temp) || is_named(rule, path)))
		return true;
	return sb_own_temp_is_kept(grounds->own_temp, at, path);
}

static bool is_own(const struct sb_grounds *grounds, int directory, const char *name)
{
	struct sb_sys_file file;

	return grounds->own_sockets && directory >= 0 && sb_sys_look(directory, name, &file) == 0 &&
	       S_ISSOCK(file.mode) && has_socket(grounds->own_sockets, &file);
}

static bool is_beyond(const struct sb_grounds *grounds)
{
	return grounds->inner || sb_policy_mode(grounds->policy) == SB_MODE_DANGER_FULL_ACCESS;
}

/* A no stays one, and a built-in question says more. */
static void ask(struct sb_judged *judged)
{
	struct sb_decision *decision = &judged->decision;

	if (decision->verdict == SB_DENY || (decision->verdict == SB_ASK && decision->rule &&
					     decision->rule->tier == SB_TIER_BUILTIN))
		return;
	*decision = (struct sb_decision){SB_ASK, &service};
	judged->why = SB_WHY_RULE;
}

/*
 * SECURITY: a yes to files is none to a service that listens among them.
 *
 * Danger: tmux, an editor or an agent outside has its socket in a directory that a rule, an answer or --grant has
 * opened, or in a shared /tmp: whoever connects has commands run outside.  One that was removed or moved, and is
 * still held open, is the same.
 * Price: who wants to use a service there names its socket, or is asked.
 * Held by: tests/supervise/connects.py, tests/mcp/services.py
 */
void sb_heed_service(const struct sb_grounds *grounds, mode_t mode, struct sb_judged *judged)
{
	const struct sb_site *site = judged->site;
	bool by_object = site->object >= 0;

	/* a descriptor of a socket never had a name: nobody listens behind it */
	if (!S_ISSOCK(mode) || is_beyond(grounds) || (site->nameless && site->path[0] != '/') ||
	    (!site->nameless &&
	     is_open_place(grounds, judged->decision.rule,
			   by_object ? site->object : site->directory, site->path)) ||
	    is_own(grounds, by_object ? site->object : site->directory,
		   by_object ? "" : site->name))
		return;
	ask(judged);
}

/* --- those that move -------------------------------------------------------------------------------- */

/* In a directory: is there a socket that is not the run's, or more than we look at? */
static bool holds_service(const struct sb_grounds *grounds, int at, const char *name,
			  unsigned *left, unsigned depth)
{
	SB_AUTO_FD int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct dirent64 *entry;
	struct sb_sys_dir dir;

	if (fd < 0 || depth == 0)
		return true;
	sb_sys_dir_init(&dir, fd);
	while ((entry = sb_sys_dir_next(&dir))) {
		unsigned char type = entry->d_type;
		struct stat info;

		if (sb_is_dots(entry->d_name))
			continue;
		if ((*left)-- == 0)
			return true;
		if (type == DT_UNKNOWN &&
		    fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0)
			type = IFTODT(info.st_mode);
		if ((type == DT_SOCK && !is_own(grounds, fd, entry->d_name)) ||
		    (type == DT_DIR && holds_service(grounds, fd, entry->d_name, left, depth - 1)))
			return true;
	}
	return dir.error;
}

/*
 * SECURITY: nobody takes the place of a service.
 *
 * Danger: its socket is removed or moved away, and the run binds one of its own there: whoever connects next tells it
 * secrets, or does what it says.
 * Price: a directory that leaves its place, out of the project, is walked through.
 * Held by: tests/supervise/connects.py
 */
void sb_heed_gone_service(const struct sb_grounds *grounds, mode_t mode, struct sb_judged *judged)
{
	const struct sb_site *site = judged->site;
	unsigned left = MAX_WALKED;
	struct stat info;

	if (judged->decision.verdict == SB_DENY || is_beyond(grounds) || site->nameless ||
	    site->directory < 0 ||
	    is_open_place(grounds, judged->decision.rule, site->directory, site->path))
		return;
	if (!mode && fstatat(site->directory, site->name, &info, AT_SYMLINK_NOFOLLOW) == 0)
		mode = info.st_mode;
	if (S_ISSOCK(mode) ? !is_own(grounds, site->directory, site->name)
			   : S_ISDIR(mode) && holds_service(grounds, site->directory, site->name,
							    &left, MAX_DEPTH))
		ask(judged);
}

/*
 * SECURITY: no service gets a name by which it would be connected to unasked.
 *
 * Danger: a socket in an opened directory is moved, linked or brought along to the project, or to a name that a rule
 * means.
 * Price: a directory that comes into the project from elsewhere is walked through once more.
 * Held by: tests/supervise/connects.py
 */
void sb_heed_moved_service(const struct sb_grounds *grounds, const struct sb_site *at,
			   const struct sb_site *from, mode_t mode, struct sb_judged *judged)
{
	const struct sb_found found = sb_site_found(at);
	unsigned left = MAX_WALKED;

	if ((!S_ISSOCK(mode) && !S_ISDIR(mode)) || is_beyond(grounds) ||
	    sb_policy_is_project(grounds->policy, from->path) ||
	    !is_open_place(grounds, judged->decision.rule, -1, judged->site->path))
		return;
	if (S_ISDIR(mode) ? holds_service(grounds, found.at, found.name, &left, MAX_DEPTH)
			  : !is_own(grounds, found.at, found.name))
		ask(judged);
}
