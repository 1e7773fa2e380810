/*
 * TIOCSTI types into the terminal: whoever inherits the user's can push a command that
 * the shell outside runs later.  Landlock does not stop it.  A filter does, if it
 * compares only the low 32 bits of the request: the kernel ignores the others, so a
 * comparison of all 64 is dodged by setting one of them.
 */
#include "fact.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <termios.h>

#define HIGH_BIT (1ull << 40)

enum filter_kind { NO_FILTER, WHOLE_WORD, LOW_WORD };

static int terminal; /* the slave side */
static enum filter_kind kind;
static bool with_landlock, with_high_bit;

static int load_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 0, 3),
		/* the high half: compared with zero, or with itself for LOW_WORD */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]) + 4),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 1, (unsigned char)(kind == WHOLE_WORD), 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return errno;
	return 0;
}

static int type(void)
{
	static const char *const roots[] = {"/dev", NULL};
	unsigned long request = TIOCSTI | (with_high_bit ? HIGH_BIT : 0);

	/* Our own terminal must be the controlling one, unless we are root. */
	if (setsid() < 0 || ioctl(terminal, TIOCSCTTY, 0) < 0)
		return broken("controlling terminal");
	if (with_landlock && (errno = landlock(LL_WRITES_ABI1, 0, roots)))
		return broken("Landlock");
	if (kind != NO_FILTER && (errno = load_filter()))
		return broken("seccomp");
	return syscall(SYS_ioctl, terminal, request, "x") < 0 ? errno : 0;
}

static int try(enum filter_kind filter, bool high)
{
	kind = filter;
	with_high_bit = high;
	return attempt(type);
}

int main(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	int result;

	signal(SIGHUP, SIG_IGN); /* each session that ends hangs the terminal up */
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 ||
	    (terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0)
		skip_all("no pseudo terminal here: %s", strerror(errno));
	result = try(NO_FILTER, false);
	if (result == EIO) /* Linux 6.2: dev.tty.legacy_tiocsti = 0 */
		skip_all("TIOCSTI is switched off on this machine");
	expect(result, 0, "TIOCSTI works on an inherited terminal");
	if (landlock_abi() >= 1) {
		with_landlock = true;
		expect(try(NO_FILTER, false), 0, "Landlock does not stop it");
		with_landlock = false;
	}
	expect(try(NO_FILTER, true), 0, "the kernel ignores the high bits of the request");
	expect(try(WHOLE_WORD, false), EPERM, "a filter for all 64 bits stops the plain request");
	expect(try(WHOLE_WORD, true), 0, "but not the one with a high bit");
	expect(try(LOW_WORD, false), EPERM, "a filter for the low 32 bits stops the plain one");
	expect(try(LOW_WORD, true), EPERM, "and the one with a high bit");
	return fact_done();
}
