#include "sys/landlock.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The same numbers on every architecture: asm-generic. */
#define NR_CREATE_RULESET 444
#define NR_ADD_RULE 445
#define NR_RESTRICT_SELF 446

#define CREATE_RULESET_VERSION 1u
#define RULE_PATH_BENEATH 1

int sb_sys_landlock_abi(void)
{
	long abi = syscall(NR_CREATE_RULESET, NULL, 0, CREATE_RULESET_VERSION);

	return abi < 0 ? -errno : (int)abi;
}

int sb_sys_landlock_create(const struct sb_ll_ruleset *ruleset, int abi)
{
	/* A kernel that does not know a field answers E2BIG unless it is zero: send what it knows. */
	size_t size = abi >= 6   ? sizeof *ruleset
		      : abi >= 4 ? offsetof(struct sb_ll_ruleset, scoped)
				 : offsetof(struct sb_ll_ruleset, handled_net);
	long fd = syscall(NR_CREATE_RULESET, ruleset, size, 0u);

	return fd < 0 ? -errno : (int)fd;
}

int sb_sys_landlock_add_path(int ruleset_fd, int parent_fd, uint64_t rights)
{
	struct {
		uint64_t allowed;
		int32_t parent_fd;
	} __attribute__((packed)) beneath = {rights, parent_fd};

	return syscall(NR_ADD_RULE, ruleset_fd, RULE_PATH_BENEATH, &beneath, 0u) < 0 ? -errno : 0;
}

int sb_sys_landlock_restrict(int ruleset_fd)
{
	return syscall(NR_RESTRICT_SELF, ruleset_fd, 0u) < 0 ? -errno : 0;
}
