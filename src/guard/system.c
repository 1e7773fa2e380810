/*
 * SECURITY: what the machine obeys, whoever says yes to a directory around it.
 *
 * Danger: root is asked about /etc/foo.conf and says "everything in /etc", or gives --allow-write=/etc: then a command writes
 * /etc/cron.d/x, which runs outside.  Others than root could not write there, and a rule that names such a file, or the directory
 * that is all such files, means it.
 * Price: as root these are questions of their own, one each, and so is it to remove them or to change their modes.
 * Held by: tests/supervise/system.py
 */
#include "guard/system.h"

#include <string.h>
#include <unistd.h>

#include "base/each.h"
#include "guard/guard.h"

/* The name, or with a star all names that begin so; and all beneath. */
#define OBEYED(pattern, who, why)                                                                  \
	{                                                                                          \
		pattern, who, why, SB_GUARD_SAME, SB_GUARD_IF_EXECUTABLE, ""                       \
	}
/* Of these, links may lead to what is there: to programs (judge/system_ends.c). */
#define PROGRAMS(pattern, who, why)                                                                \
	{                                                                                          \
		pattern, who, why, SB_GUARD_SAME, SB_GUARD_IF_EXECUTABLE | SB_GUARD_MAY_LEAD, ""   \
	}

static const struct sb_guard_row rows[] = {
	OBEYED("/etc/cron*", "cron", "commands that cron runs"),
	OBEYED("/etc/anacrontab", "anacron", "commands that anacron runs"),
	OBEYED("/etc/at.*", "at", "who may have commands run later"),
	OBEYED("/var/spool/cron", "cron", "commands that cron runs"),
	OBEYED("/var/spool/at", "at", "commands that at runs"),
	OBEYED("/etc/logrotate*", "logrotate", "commands that logrotate runs"),
	OBEYED("/etc/systemd", "systemd", "services and timers of the machine"),
	OBEYED("/var/lib/systemd", "systemd", "state of services of the machine"),
	OBEYED("/etc/init*", "init", "scripts and programs that start with the machine"),
	OBEYED("/etc/rc*", "init", "scripts that start with the machine"),
	OBEYED("/etc/modules*", "the kernel", "modules that it loads at start"),
	OBEYED("/etc/modprobe.d", "the kernel", "commands that run when a module is loaded"),
	OBEYED("/etc/sysctl.*", "the kernel", "settings, among them programs that it runs"),
	OBEYED("/etc/binfmt.d", "the kernel", "programs that run others"),
	OBEYED("/etc/tmpfiles.d", "systemd", "files that are made at start"),
	OBEYED("/etc/udev", "udev", "commands that udev runs"),
	OBEYED("/etc/fstab", "mount", "what is mounted at start"),
	OBEYED("/boot", "the boot loader", "the kernel, and how it starts"),
	OBEYED("/etc/grub.d", "the boot loader", "scripts that update-grub runs"),
	OBEYED("/etc/kernel", "the boot loader", "scripts that run with each new kernel"),
	OBEYED("/etc/default", "services", "variables and options that services start with"),
	OBEYED("/etc/profile*", "shells", "every login shell reads it"),
	OBEYED("/etc/bash*", "bash", "every bash reads it"),
	OBEYED("/etc/zsh*", "zsh", "every zsh reads it"),
	OBEYED("/etc/csh*", "csh", "every csh reads it"),
	OBEYED("/etc/fish", "fish", "every fish reads it"),
	OBEYED("/etc/environment*", "logins", "variables of every login"),
	OBEYED("/etc/update-motd.d", "logins", "scripts that run at every login"),
	OBEYED("/etc/skel", "logins", "start-up files of every new user"),
	SB_NAMED(OBEYED, "desktop", "programs that start with the desktop", "/etc/xdg", "/etc/X11"),
	OBEYED("/etc/ld.so.*", "every program", "libraries that every program loads"),
	OBEYED("/etc/nsswitch.conf", "every program", "libraries that look up users and hosts"),
	OBEYED("/etc/passwd*", "logins", "who is root, and which shell starts"),
	OBEYED("/etc/group*", "logins", "who belongs to root's groups"),
	OBEYED("/etc/shadow*", "logins", "passwords"),
	OBEYED("/etc/gshadow*", "logins", "passwords of groups"),
	OBEYED("/etc/pam.*", "logins", "programs and libraries at every login"),
	OBEYED("/etc/security", "logins", "programs and limits at every login"),
	OBEYED("/etc/sudo*", "sudo", "who may be root"),
	OBEYED("/etc/doas*", "doas", "who may be root"),
	OBEYED("/etc/polkit-1", "polkit", "who may do what root may"),
	OBEYED("/etc/dbus-1", "D-Bus", "who may do what services may"),
	OBEYED("/etc/ssh", "ssh", "who may log in, and commands that ssh runs"),
	SB_NAMED(OBEYED, "the network", "scripts that run with the network", "/etc/network",
		 "/etc/NetworkManager", "/etc/dhcp*"),
	OBEYED("/etc/apt", "apt", "commands that apt runs, and where packages come from"),
	OBEYED("/etc/dpkg", "dpkg", "commands that dpkg runs"),
	OBEYED("/var/lib/dpkg", "dpkg", "scripts of packages, which dpkg runs"),
	OBEYED("/etc/gitconfig", "git", "git config can name programs to run"),
	OBEYED("/etc/claude-code", "Claude Code", "hooks and servers of every session"),
	SB_NAMED(OBEYED, "systemd", "services and timers of the machine", "/usr/lib/systemd",
		 "/usr/local/lib/systemd", "/lib/systemd"),
	SB_NAMED(OBEYED, "udev", "commands that udev runs", "/usr/lib/udev", "/lib/udev"),
	OBEYED("/proc/sys", "the kernel", "settings, among them programs that it runs"),
	OBEYED("/proc/sysrq-*", "the kernel", "commands to the kernel"),
	OBEYED("/sys", "the kernel", "settings, among them programs that it runs"),
	PROGRAMS("/etc/alternatives", "everybody", "programs by their usual names"),
	SB_NAMED(PROGRAMS, "everybody", "programs on everybody's PATH", "/usr/bin", "/usr/sbin",
		 "/usr/local/bin", "/usr/local/sbin", "/bin", "/sbin"),
};

#define ROWS (sizeof rows / sizeof rows[0])
_Static_assert(ROWS <= SB_GUARD_MAX_SYSTEM_ROWS, "every row has its place");

const struct sb_guard_row *sb_guard_system_rows(size_t *out_count)
{
	*out_count = ROWS;
	return rows;
}

bool sb_guard_system_has(const struct sb_guard_row *row, const char *path)
{
	size_t length = strcspn(row->pattern, "*");

	return strncmp(path, row->pattern, length) == 0 &&
	       (row->pattern[length] || !path[length] || path[length] == '/');
}

/* A project in such a place is there to be worked on. */
static bool has_project(const struct sb_guard_row *row, const char *const *projects)
{
	for (; projects && *projects; projects++)
		if (sb_guard_system_has(row, *projects))
			return true;
	return false;
}

void sb_system_begin(struct sb_system *system, const char *const *projects)
{
	if (geteuid() != 0)
		return;
	for (size_t i = 0; i < ROWS; i++)
		system->counts[i] = !has_project(&rows[i], projects);
}

const struct sb_guard_row *sb_system_row(const struct sb_system *system, const char *path,
					 const char **out_named)
{
	for (size_t i = 0; i < ROWS; i++)
		/* most paths are elsewhere, which the second byte tells */
		if (path[1] == rows[i].pattern[1] && system->counts[i] &&
		    sb_guard_system_has(&rows[i], path)) {
			*out_named = rows[i].pattern;
			return &rows[i];
		}
	return NULL;
}

const struct sb_guard_row *sb_system_beneath(const struct sb_system *system, const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < ROWS; i++)
		if (system->counts[i] && strncmp(rows[i].pattern, path, length) == 0 &&
		    (length == 1 || rows[i].pattern[length] == '/'))
			return &rows[i];
	return NULL;
}
