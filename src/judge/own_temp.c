#include "judge/own_temp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "path/path.h"
#include "sys/beneath.h"
#include "sys/share.h"

#define MAX_ROOTS 4    /* /tmp, /var/tmp, $TMPDIR, /dev/shm */
#define KEPT_PATH 256  /* one that is longer is guarded like any other place */
#define MAX_NAMES 8192 /* at the top of these */

enum state { FREE, CLAIMED, KNOWN };

struct name {
	enum state state;
	uint64_t device, inode;
	struct timespec born; /* 0: the file system does not tell */
};

/* Shared by processes of which each may end at any moment: nobody waits for anybody here. */
struct sb_own_temp {
	unsigned root_count; /* 0: the run has them for itself */
	struct {
		uint64_t device, inode;
	} roots[MAX_ROOTS];
	unsigned kept_count;
	struct {
		char path[KEPT_PATH];
		dev_t device;
	} kept[MAX_ROOTS];
	unsigned used; /* no name has been noted further back */
	struct name names[MAX_NAMES];
};

struct sb_own_temp *sb_own_temp_new(void)
{
	return sb_sys_share(sizeof(struct sb_own_temp));
}

void sb_own_temp_share(struct sb_own_temp *own, const struct sb_policy *policy)
{
	unsigned count = 0;

	for (size_t i = 0; i < sb_policy_count(policy) && count < MAX_ROOTS; i++) {
		const struct sb_rule *rule = sb_policy_rule(policy, i);
		struct sb_sys_file info;

		if (!rule->temp || sb_sys_look(AT_FDCWD, rule->pattern, &info) < 0)
			continue;
		own->roots[count].device = info.device;
		own->roots[count++].inode = info.inode;
	}
	__atomic_store_n(&own->root_count, count, __ATOMIC_RELEASE);
}

void sb_own_temp_keep(struct sb_own_temp *own, const char *path, dev_t device)
{
	unsigned count = own->kept_count;

	if (count == MAX_ROOTS || strlen(path) >= KEPT_PATH)
		return;
	memcpy(own->kept[count].path, path, strlen(path) + 1);
	own->kept[count].device = device;
	__atomic_store_n(&own->kept_count, count + 1, __ATOMIC_RELEASE);
}

bool sb_own_temp_is_kept(const struct sb_own_temp *own, int directory, const char *path)
{
	unsigned count = own ? __atomic_load_n(&own->kept_count, __ATOMIC_ACQUIRE) : 0;
	struct stat info;

	for (unsigned i = 0; i < count; i++)
		if (sb_path_within(own->kept[i].path, path))
			return directory >= 0 && fstat(directory, &info) == 0 &&
			       info.st_dev == own->kept[i].device;
	return false;
}

static struct name *find(const struct sb_own_temp *own, const struct sb_sys_file *info)
{
	unsigned used = __atomic_load_n(&own->used, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < used; i++) {
		const struct name *name = &own->names[i];

		if (__atomic_load_n(&name->state, __ATOMIC_ACQUIRE) == KNOWN &&
		    name->inode == info->inode && name->device == info->device &&
		    name->born.tv_sec == info->born.tv_sec &&
		    name->born.tv_nsec == info->born.tv_nsec)
			return (struct name *)name;
	}
	return NULL;
}

static struct name *claim(struct sb_own_temp *own)
{
	for (unsigned i = 0; i < MAX_NAMES; i++) {
		enum state state = FREE;
		unsigned used = __atomic_load_n(&own->used, __ATOMIC_ACQUIRE);

		if (!__atomic_compare_exchange_n(&own->names[i].state, &state, CLAIMED, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			continue;
		while (used <= i &&
		       !__atomic_compare_exchange_n(&own->used, &used, i + 1, false,
						    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			;
		return &own->names[i];
	}
	return NULL;
}

static bool is_root(const struct sb_own_temp *own, const struct sb_sys_file *directory)
{
	unsigned count = __atomic_load_n(&own->root_count, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < count; i++)
		if (own->roots[i].inode == directory->inode &&
		    own->roots[i].device == directory->device)
			return true;
	return false;
}

/* What is at name, if directory is a shared one. */
static bool look(const struct sb_own_temp *own, int directory, const char *name,
		 struct sb_sys_file *out)
{
	return own && __atomic_load_n(&own->root_count, __ATOMIC_ACQUIRE) && directory >= 0 &&
	       sb_sys_look(directory, "", out) == 0 && is_root(own, out) &&
	       sb_sys_look(directory, name, out) == 0;
}

void sb_own_temp_made(struct sb_own_temp *own, int directory, const char *name)
{
	struct sb_sys_file info;
	struct name *free;

	if (!look(own, directory, name, &info) || find(own, &info) || !(free = claim(own)))
		return;
	free->device = info.device;
	free->inode = info.inode;
	free->born = info.born;
	__atomic_store_n(&free->state, KNOWN, __ATOMIC_RELEASE);
}

bool sb_own_temp_leaves(struct sb_own_temp *own, int directory, const char *name)
{
	struct sb_sys_file info;
	struct name *known;

	if (!look(own, directory, name, &info) || (info.links != 1 && !S_ISDIR(info.mode)) ||
	    !(known = find(own, &info)))
		return false;
	__atomic_store_n(&known->state, FREE, __ATOMIC_RELEASE);
	return true;
}

bool sb_own_temp_is_foreign(const struct sb_own_temp *own, const struct sb_rule *rule,
			    const char *path)
{
	size_t root = strlen(rule->pattern);
	char top[PATH_MAX];
	struct sb_sys_file info;
	int status;

	if (!own || !__atomic_load_n(&own->root_count, __ATOMIC_ACQUIRE) || !rule->temp ||
	    !sb_path_within(rule->pattern, path))
		return false;
	if (path[root] != '/') /* the directory itself */
		return true;
	snprintf(top, sizeof top, "%.*s", (int)(root + 1 + strcspn(path + root + 1, "/")), path);
	status = sb_sys_look(AT_FDCWD, top, &info);
	return status < 0 ? status != -ENOENT : !find(own, &info);
}
