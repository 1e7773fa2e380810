/*
 * SECURITY: what the machine obeys, whoever says yes to a directory around it.
 *
 * Danger: root is asked about /etc/foo.conf and says "everything in /etc", or gives --allow-write=/etc: then a command writes
 * /etc/cron.d/x or /etc/gdb/gdbinit, which runs outside.  In /etc nearly every name is some program's, of /usr all is run or loaded by
 * somebody: so all names there count, and the rows before those with "everybody" just say more.  Others than root could not write there,
 * and a rule that names such a file, or a directory in these, means it: --allow-write=/etc/myapp.
 * Price: as root these are questions of their own, one each, and so is it to remove them or to change their modes.
 * Held by: tests/supervise/system.py
 */
#include "guard/system.h"

#include <string.h>
#include <unistd.h>

#include "base/each.h"
#include "base/list.h"
#include "guard/guard.h"
#include "path/path.h"

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

/* Everything else that is there; a git directory there is one all the same, and what lies in it. */
#define REST(pattern, who, why)                                                                    \
	{                                                                                          \
		pattern, who, why, SB_GUARD_SAME,                                                  \
			SB_GUARD_IF_EXECUTABLE | SB_GUARD_MAY_LEAD | SB_GUARD_REST, ""             \
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
	OBEYED("/var/lib/cloud", "cloud-init", "scripts that run at start"),
	OBEYED("/var/lib/polkit-1", "polkit", "who may do what root may"),
	SB_NAMED(PROGRAMS, "everybody", "programs that were installed", "/var/lib/flatpak",
		 "/var/lib/snapd", "/var/lib/gems"),
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
	/* the rest: links to it are judged by what is there (judge/system_ends.c) */
	REST("/etc/*", "everybody", "settings of all users' programs, which may name others"),
	REST("/usr/local/*", "everybody", "what programs of all users load or run"),
	REST("/usr/*", "everybody", "what programs of all users load or run"),
	SB_NAMED(REST, "everybody", "what programs of all users load or run", "/lib", "/lib32",
		 "/lib64", "/libx32"),
};

#define ROWS (sizeof rows / sizeof rows[0])
_Static_assert(ROWS <= SB_GUARD_MAX_SYSTEM_ROWS, "every row has its place");

const struct sb_guard_row *sb_guard_system_rows(size_t *out_count)
{
	*out_count = ROWS;
	return rows;
}

const struct sb_guard_row *sb_guard_system_first(const char *path)
{
	for (size_t i = 0; i < ROWS; i++)
		/* most paths are elsewhere, which the second byte tells */
		if (path[1] == rows[i].pattern[1] && sb_guard_system_has(&rows[i], path))
			return &rows[i];
	return NULL;
}

bool sb_guard_system_has(const struct sb_guard_row *row, const char *path)
{
	size_t length = strcspn(row->pattern, "*");

	return strncmp(path, row->pattern, length) == 0 &&
	       (row->pattern[length] || !path[length] || path[length] == '/');
}

/* Without memory for its name, a project in such a place is asked about. */
void sb_system_begin(struct sb_system *system, const char *const *projects)
{
	size_t count = 0;

	system->counts = geteuid() == 0;
	for (; system->counts && projects && *projects; projects++)
		if (sb_guard_system_first(*projects) &&
		    sb_list_push(&system->projects, &count, strdup(*projects), NULL) != SB_OK)
			return;
}

void sb_system_done(struct sb_system *system)
{
	sb_list_free(system->projects);
}

static const struct sb_guard_row *row_of(const struct sb_system *system, const char *path,
					 bool rest, const char **out_named)
{
	const struct sb_guard_row *row = system->counts ? sb_guard_system_first(path) : NULL;

	/* a project in such a place is there to be worked on */
	if (!row || rest != !!(row->flags & SB_GUARD_REST) ||
	    sb_path_within_any((const char *const *)system->projects, path))
		return NULL;
	*out_named = row->pattern;
	return row;
}

const struct sb_guard_row *sb_system_row(const struct sb_system *system, const char *path,
					 const char **out_named)
{
	return row_of(system, path, false, out_named);
}

const struct sb_guard_row *sb_system_rest(const struct sb_system *system, const char *path,
					  const char **out_named)
{
	return row_of(system, path, true, out_named);
}

const struct sb_guard_row *sb_system_beneath(const struct sb_system *system, const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < ROWS && system->counts; i++)
		if ((length == 1 || path[1] == rows[i].pattern[1]) &&
		    strncmp(rows[i].pattern, path, length) == 0 &&
		    (length == 1 || rows[i].pattern[length] == '/'))
			return &rows[i];
	return NULL;
}
