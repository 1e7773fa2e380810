/* act_kernel.c - the terminal, and little-used calls of the kernel. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "act.h"

/* --- the terminal ------------------------------------------------------------------------ */

/* terminal HOW FILE */
static int do_terminal(char **arg)
{
	int fd = file(arg[1], O_RDWR | O_NOCTTY);
	char byte = 'X', select[16] = {2};
	struct winsize size;
	int discipline = 0;

	if (fd < 0)
		return -1;
	if (strcmp(arg[0], "sti") == 0)
		return ioctl(fd, TIOCSTI, &byte);
	if (strcmp(arg[0], "sti-high") == 0) /* the kernel looks at the low half only */
		return zero(syscall(SYS_ioctl, fd, TIOCSTI | 0x100000000UL, &byte));
	if (strcmp(arg[0], "sti-negative") == 0)
		return zero(syscall(SYS_ioctl, fd, TIOCSTI | 0xffffffff00000000UL, &byte));
	if (strcmp(arg[0], "linux") == 0)
		return ioctl(fd, TIOCLINUX, select);
	if (strcmp(arg[0], "discipline") == 0)
		return ioctl(fd, TIOCSETD, &discipline);
	if (strcmp(arg[0], "size") == 0)
		return ioctl(fd, TIOCGWINSZ, &size);
	errno = EINVAL;
	die(arg[0]);
	return -1;
}

/* pty: a new terminal of our own */
static int do_pty(char **arg)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY), slave;

	(void)arg;
	if (fd < 0 || grantpt(fd) < 0 || unlockpt(fd) < 0)
		return -1;
	slave = open(ptsname(fd), O_RDWR | O_NOCTTY);
	return slave < 0 ? -1 : put(slave);
}

/* --- little-used calls ------------------------------------------------------------------- */

/* call NAME: with arguments that do no harm; see the table in processes.py for the answers */
static int do_call(char **arg)
{
	const char *name = arg[0];
	static char buffer[256];

	if (strcmp(name, "bpf") == 0) {
		uint32_t map[18] = {2 /* array */, 4, 4, 1};

		return zero(syscall(SYS_bpf, 0, map, sizeof map));
	}
	if (strcmp(name, "perf_event_open") == 0) {
		uint64_t event[16] = {1 /* software */ | (uint64_t)sizeof event << 32, 1};

		event[5] = 0x60; /* exclude_kernel, exclude_hv */
		return zero(syscall(SYS_perf_event_open, event, 0, -1, -1, 0));
	}
	if (strcmp(name, "userfaultfd") == 0)
		return zero(syscall(SYS_userfaultfd, 1 /* user mode only */));
	if (strcmp(name, "keyctl") == 0) /* id of the process keyring, created */
		return zero(syscall(SYS_keyctl, 0, -2, 1));
	if (strcmp(name, "add_key") == 0)
		return zero(syscall(SYS_add_key, "user", "act", "X", 1, -2));
	if (strcmp(name, "request_key") == 0) /* answers ENOKEY, not EPERM, when allowed */
		return zero(syscall(SYS_request_key, "user", "no-such-key", NULL, 0));
	if (strcmp(name, "fanotify_init") == 0)
		return zero(syscall(SYS_fanotify_init, 0x200 /* report fid */, O_RDONLY));
	if (strcmp(name, "open_by_handle_at") == 0)
		return zero(syscall(SYS_open_by_handle_at, -1, buffer, 0));
	if (strcmp(name, "kexec_load") == 0)
		return zero(syscall(SYS_kexec_load, 0, 99, NULL, 0));
	if (strcmp(name, "init_module") == 0)
		return zero(syscall(SYS_init_module, buffer, 1, ""));
	if (strcmp(name, "finit_module") == 0)
		return zero(syscall(SYS_finit_module, -1, "", 0));
	if (strcmp(name, "delete_module") == 0)
		return zero(syscall(SYS_delete_module, "no_such_module", O_NONBLOCK));
	if (strcmp(name, "reboot") == 0) /* wrong magic: EINVAL when allowed */
		return zero(syscall(SYS_reboot, 0, 0, 0, 0));
	if (strcmp(name, "swapon") == 0)
		return zero(syscall(SYS_swapon, "/no/such/file", 0));
	if (strcmp(name, "swapoff") == 0)
		return zero(syscall(SYS_swapoff, "/no/such/file"));
	if (strcmp(name, "acct") == 0)
		return zero(syscall(SYS_acct, "/no/such/file"));
	if (strcmp(name, "quotactl") == 0)
		return zero(syscall(SYS_quotactl, 0x800002 << 8, "/no/such/device", 0, buffer));
	if (strcmp(name, "syslog") == 0)
		return zero(syscall(SYS_syslog, 3 /* read all */, buffer, sizeof buffer));
	if (strcmp(name, "settimeofday") == 0) /* an impossible time: EINVAL when allowed */
		return zero(syscall(SYS_settimeofday, (long[2]){0, -1}, NULL));
	if (strcmp(name, "clock_settime") == 0)
		return zero(syscall(SYS_clock_settime, 0, (long[2]){0, -1}));
	if (strcmp(name, "memfd_create") == 0)
		return zero(syscall(SYS_memfd_create, "act", 0));
	if (strcmp(name, "inotify") == 0)
		return zero(syscall(SYS_inotify_init1, 0));
	errno = EINVAL;
	die(name);
	return -1;
}

const struct act kernel_acts[] = {
	{"terminal", 2, do_terminal},
	{"pty", 0, do_pty},
	{"call", 1, do_call},
	{NULL, 0, NULL},
};
