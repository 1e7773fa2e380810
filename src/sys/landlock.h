/*
 * landlock.h - the Landlock calls and all rights up to ABI 7.
 *
 * Our own constants: Debian 12's linux/landlock.h stops at ABI 2.
 * Documentation/userspace-api/landlock.rst in the kernel tree.
 */
#ifndef SB_SYS_LANDLOCK_H
#define SB_SYS_LANDLOCK_H

#include <stdint.h>

#define SB_LL_EXECUTE (1ULL << 0)
#define SB_LL_WRITE_FILE (1ULL << 1)
#define SB_LL_READ_FILE (1ULL << 2)
#define SB_LL_READ_DIR (1ULL << 3)
#define SB_LL_REMOVE_DIR (1ULL << 4)
#define SB_LL_REMOVE_FILE (1ULL << 5)
#define SB_LL_MAKE_CHAR (1ULL << 6)
#define SB_LL_MAKE_DIR (1ULL << 7)
#define SB_LL_MAKE_REG (1ULL << 8)
#define SB_LL_MAKE_SOCK (1ULL << 9)
#define SB_LL_MAKE_FIFO (1ULL << 10)
#define SB_LL_MAKE_BLOCK (1ULL << 11)
#define SB_LL_MAKE_SYM (1ULL << 12)
#define SB_LL_REFER (1ULL << 13)     /* ABI 2 */
#define SB_LL_TRUNCATE (1ULL << 14)  /* ABI 3 */
#define SB_LL_IOCTL_DEV (1ULL << 15) /* ABI 5 */

#define SB_LL_NET_BIND_TCP (1ULL << 0)    /* ABI 4 */
#define SB_LL_NET_CONNECT_TCP (1ULL << 1) /* ABI 4 */

#define SB_LL_SCOPE_ABSTRACT_UNIX (1ULL << 0) /* ABI 6 */
#define SB_LL_SCOPE_SIGNAL (1ULL << 1)        /* ABI 6 */

struct sb_ll_ruleset {
	uint64_t handled_fs;
	uint64_t handled_net; /* ABI 4 */
	uint64_t scoped;      /* ABI 6 */
};

/*
 * Highest ABI of the running kernel, or a negative errno:
 * -ENOSYS      before Linux 5.13, built without it, or hidden by a seccomp filter
 * -EOPNOTSUPP  built in, but left out of the lsm= boot list
 */
int sb_sys_landlock_abi(void);

/* A ruleset descriptor, or a negative errno.  abi says how much of the struct the kernel knows. */
int sb_sys_landlock_create(const struct sb_ll_ruleset *ruleset, int abi);

/* Allow rights beneath the file or directory that parent_fd (O_PATH) names. */
int sb_sys_landlock_add_path(int ruleset_fd, int parent_fd, uint64_t rights);

/* Needs no_new_privs.  -E2BIG: sixteen layers are stacked already. */
int sb_sys_landlock_restrict(int ruleset_fd);

#endif
