#include "consent/names.h"

#include <stdbool.h>
#include <string.h>

#include "path/path.h"
#include "path/pattern.h"

#define DOCKER "the Docker socket: whoever reaches it is root on this machine"
#define CONTAINERS "a container runtime: it starts programs outside the sandbox"
#define SESSION_BUS "the session bus: it can start any program outside the sandbox"
#define SYSTEM_BUS "the system bus: it talks to the services of this machine"
#define SERVICES "the service manager: it can start any program outside the sandbox"
#define SSH_AGENT "the SSH agent: it logs in and signs with your keys while it is connected"
#define GPG_AGENT "the GnuPG agent: it signs and decrypts with your keys"
#define KEYRING "the desktop keyring: it gives out stored passwords"
#define X11 "the X server: it sees every key and types into any window"
#define WAYLAND "the display: it shows windows of its own on your screen"
#define SOUND "sound and video: it can listen to the microphone and record the screen"
#define TMUX "tmux: it types into your other terminals"
#define SCREEN "screen: it types into your other terminals"
#define TERMINAL "a terminal program: it can start programs and type into its windows"
#define WINDOWS "the window manager: it can start any program outside the sandbox"
#define EDITOR "a running editor: it can evaluate code outside the sandbox"
#define PACKAGES "a package installer: it changes this machine"
#define MACHINES "virtual machines: whoever manages them has a way to this machine's disks"
#define DATABASE "a database server on this machine"

struct row {
	const char *glob; /* without the leading slash; covers everything beneath */
	const char *words;
};

/* The first that covers the path counts. */
static const struct row known[] = {
	{"run/user/*/docker.sock",
	 "the Docker socket (rootless): it starts programs outside the sandbox"},
	{"**/docker.sock", DOCKER},
	{"run/podman/podman.sock", "the Podman socket: whoever reaches it is root on this machine"},
	{"**/podman.sock", "the Podman socket: it starts programs outside the sandbox"},
	{"**/containerd.sock", CONTAINERS},
	{"run/docker", CONTAINERS},
	{"run/containerd", CONTAINERS},
	{"run/crio", CONTAINERS},
	{"run/buildkit", CONTAINERS},
	{"run/k3s", CONTAINERS},
	{"var/lib/incus/unix.socket", CONTAINERS},
	{"var/lib/lxd/unix.socket", CONTAINERS},
	{"var/snap/lxd/common/lxd/unix.socket", CONTAINERS},
	{"run/WSL", "Windows: it can start any program there, outside the sandbox"},
	{"mnt/wslg", "windows and sound of Windows, which hosts this system"},
	{"run/libvirt", MACHINES},
	{"run/user/*/libvirt", MACHINES},

	{"run/user/*/bus", SESSION_BUS},
	{"run/user/*/dbus-*", SESSION_BUS},
	{"tmp/dbus-*", SESSION_BUS},
	{"run/dbus/system_bus_socket", SYSTEM_BUS},
	{"run/systemd/private", SERVICES},
	{"run/user/*/systemd/private", SERVICES},
	{"run/user/*/systemd/io.system.ManagedOOM", SERVICES},
	{"run/systemd/journal", "the system log: it can only be written to"},
	{"dev/log", "the system log: it can only be written to"},
	{"run/systemd/resolve", "the name resolver: it looks up host names"},
	{"run/nscd", "the name service cache: it looks up users and hosts"},

	{"run/user/*/gnupg/S.gpg-agent.ssh", SSH_AGENT},
	{"run/user/*/gnupg/*/S.gpg-agent.ssh", SSH_AGENT},
	{"run/user/*/keyring/ssh", SSH_AGENT},
	{"run/user/*/gcr/ssh", SSH_AGENT},
	{"run/user/*/ssh-agent*", SSH_AGENT},
	{"run/user/*/openssh_agent", SSH_AGENT},
	{"tmp/ssh-*/agent.*", SSH_AGENT},
	{"**/.ssh/agent", SSH_AGENT},
	{"**/.1password/agent.sock", "the 1Password SSH agent: it logs in with your keys"},
	{"run/user/*/gnupg", GPG_AGENT},
	{"**/.gnupg/S.*", GPG_AGENT},
	{"run/user/*/keyring", KEYRING},
	{"run/user/*/kwallet*", KEYRING},
	{"run/pcscd", "smart cards and hardware keys"},

	{"tmp/.X11-unix", X11},
	{"tmp/.ICE-unix", "the session manager: it can start programs outside the sandbox"},
	{"run/user/*/wayland-*", WAYLAND},
	{"run/user/*/pipewire-*", SOUND},
	{"run/user/*/pulse", SOUND},
	{"tmp/pulse-*", SOUND},
	{"run/user/*/sway-ipc.*", WINDOWS},
	{"run/user/*/i3", WINDOWS},
	{"run/user/*/hypr", WINDOWS},
	{"tmp/hypr", WINDOWS},

	{"tmp/tmux-*", TMUX},
	{"run/tmux", TMUX},
	{"run/user/*/tmux-*", TMUX},
	{"run/screen", SCREEN},
	{"tmp/screens", SCREEN},
	{"**/.screen", SCREEN},
	{"run/user/*/kitty*", TERMINAL},
	{"tmp/kitty*", TERMINAL},
	{"run/user/*/Alacritty-*", TERMINAL},
	{"run/user/*/wezterm", TERMINAL},
	{"run/user/*/vscode-*", EDITOR},
	{"tmp/vscode-*", EDITOR},
	{"run/user/*/nvim.*", EDITOR},
	{"tmp/nvim*", EDITOR},
	{"run/user/*/emacs", EDITOR},
	{"tmp/emacs*", EDITOR},
	{"**/.emacs.d/server", EDITOR},

	{"run/snapd.socket", PACKAGES},
	{"run/snapd-snap.socket", PACKAGES},
	{"nix/var/nix/daemon-socket", "the Nix daemon: it builds and installs packages"},
	{"run/tailscale", "the Tailscale daemon: it changes this machine's network"},
	{"run/cups", "the printer service"},
	{"run/avahi-daemon", "the local network's directory of services"},
	{"run/postgresql", DATABASE},
	{"tmp/.s.PGSQL.*", DATABASE},
	{"run/mysqld", DATABASE},
	{"tmp/mysql.sock", DATABASE},
	{"run/redis", DATABASE},
};

/* What the variable's value leads to, whatever the path looks like. */
static const struct row by_variable[] = {
	{"SSH_AUTH_SOCK", SSH_AGENT},
	{"DBUS_SESSION_BUS_ADDRESS", SESSION_BUS},
	{"DBUS_SYSTEM_BUS_ADDRESS", SYSTEM_BUS},
	{"DOCKER_HOST", DOCKER},
	{"CONTAINER_HOST", CONTAINERS},
	{"TMUX", TMUX},
	{"NVIM", EDITOR},
	{"NVIM_LISTEN_ADDRESS", EDITOR},
	{"VSCODE_IPC_HOOK_CLI", EDITOR},
	{"VSCODE_GIT_IPC_HANDLE", EDITOR},
	{"SWAYSOCK", WINDOWS},
	{"I3SOCK", WINDOWS},
	{"KITTY_LISTEN_ON", TERMINAL},
	{"WEZTERM_UNIX_SOCKET", TERMINAL},
	{"ALACRITTY_SOCKET", TERMINAL},
	{"GNOME_KEYRING_CONTROL", KEYRING},
	{"SESSION_MANAGER", "the session manager: it can start programs outside the sandbox"},
	{"PULSE_SERVER", SOUND},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/*
 * Does value name path?  Values are a path, a directory of sockets, or an address with a
 * path in it: "unix:path=/run/user/1000/bus,guid=1", "unix:///run/docker.sock",
 * "/tmp/tmux-1000/default,4711,0".
 */
static bool names(const char *value, const char *path)
{
	size_t length = strlen(path);

	if (length < 2)
		return false;
	if (value[0] == '/' && value[1] && sb_path_within(value, path))
		return true;
	for (const char *at = value; (at = strstr(at, path)); at++)
		if ((at == value || strchr("=:/", at[-1])) &&
		    (!at[length] || strchr(",;", at[length])))
			return true;
	return false;
}

const char *sb_socket_in_words(const char *path, const struct sb_named_socket *named, size_t count)
{
	static const char old_run[] = "/var/run/"; /* a link to /run, but not everywhere */

	if (path[0] != '/')
		return NULL;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < COUNT(by_variable); k++)
			if (named[i].value && strcmp(named[i].variable, by_variable[k].glob) == 0 &&
			    names(named[i].value, path))
				return by_variable[k].words;
	path += strncmp(path, old_run, strlen(old_run)) == 0 ? strlen("/var") : 0;
	for (size_t i = 0; i < COUNT(known); i++)
		if (sb_glob_covers(known[i].glob, path + 1))
			return known[i].words;
	return NULL;
}
