/* test_names.c - sockets in words, by path and by what the environment names. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "consent/names.h"

static const char *words(const char *path)
{
	return sb_socket_in_words(path, NULL, 0);
}

static void expect(const char *path, const char *part)
{
	const char *found = words(path);

	if (!found || !strstr(found, part))
		fail_msg("'%s' is '%s', not '%s'", path, found ? found : "unknown", part);
}

static void well_known_paths(void **state)
{
	static const struct {
		const char *path, *part;
	} rows[] = {
		{"/run/docker.sock", "root on this machine"},
		{"/run/WSL/9_interop", "Windows"},
		{"/var/run/docker.sock", "root on this machine"},
		{"/home/u/.docker/run/docker.sock", "Docker"},
		{"/run/user/1000/docker.sock", "rootless"},
		{"/run/podman/podman.sock", "Podman"},
		{"/run/user/1000/podman/podman.sock", "Podman"},
		{"/run/containerd/containerd.sock", "container"},
		{"/run/user/1000/bus", "session bus"},
		{"/run/dbus/system_bus_socket", "system bus"},
		{"/var/run/dbus/system_bus_socket", "system bus"},
		{"/tmp/ssh-AbCd/agent.123", "SSH agent"},
		{"/run/user/1000/keyring/ssh", "SSH agent"},
		{"/run/user/1000/keyring/control", "keyring"},
		{"/run/user/1000/gnupg/S.gpg-agent", "GnuPG"},
		{"/run/user/1000/gnupg/S.gpg-agent.ssh", "SSH agent"},
		{"/home/u/.gnupg/S.gpg-agent", "GnuPG"},
		{"/tmp/.X11-unix/X0", "X server"},
		{"/run/user/1000/wayland-0", "display"},
		{"/run/user/1000/pipewire-0", "microphone"},
		{"/run/user/1000/pulse/native", "microphone"},
		{"/tmp/tmux-1000/default", "tmux"},
		{"/run/screen/S-u/123.pts-1", "screen"},
		{"/run/systemd/private", "service manager"},
		{"/run/user/1000/systemd/private", "service manager"},
		{"/run/snapd.socket", "package"},
		{"/run/libvirt/libvirt-sock", "virtual machines"},
		{"/run/user/1000/vscode-ipc-1.sock", "editor"},
		{"/run/user/1000/nvim.42.0", "editor"},
		{"/run/postgresql/.s.PGSQL.5432", "database"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		expect(rows[i].path, rows[i].part);
}

static void others_have_none(void **state)
{
	static const char *const paths[] = {
		"/",          "",          "docker.sock", "/home/u/app.sock", "/run/user/1000/busy",
		"/tmp/socke", "/run/dock", "/run",        "/run/user/1000",   "/run/docker.socket",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(paths); i++)
		if (words(paths[i]))
			fail_msg("'%s' is '%s'", paths[i], words(paths[i]));
}

static void what_the_environment_names(void **state)
{
	static const struct {
		const char *variable, *value, *path, *part; /* part NULL: another path */
	} rows[] = {
		{"SSH_AUTH_SOCK", "/home/u/a.sock", "/home/u/a.sock", "SSH agent"},
		{"SSH_AUTH_SOCK", "/home/u/a.sock", "/home/u/a.sock2", NULL},
		{"SSH_AUTH_SOCK", "/home/u/a.sock", "/u/a.sock", NULL},
		{"SSH_AUTH_SOCK", "/", "/home/u/a.sock", NULL},
		{"SSH_AUTH_SOCK", "", "/home/u/a.sock", NULL},
		{"SSH_AUTH_SOCK", NULL, "/home/u/a.sock", NULL},
		{"DBUS_SESSION_BUS_ADDRESS", "unix:path=/x/bus,guid=1;tcp:y", "/x/bus",
		 "session bus"},
		{"DBUS_SESSION_BUS_ADDRESS", "unix:path=/x/bus2", "/x/bus", NULL},
		{"DOCKER_HOST", "unix:///x/d.sock", "/x/d.sock", "Docker"},
		{"TMUX", "/x/default,12,0", "/x/default", "tmux"},
		{"KITTY_LISTEN_ON", "unix:/x/kitty", "/x/kitty", "terminal"},
		{"GNOME_KEYRING_CONTROL", "/x/keyring", "/x/keyring/control", "keyring"},
		{"SESSION_MANAGER", "local/h:@/x/1,unix/h:/x/1", "/x/1", "session manager"},
		{"UNHEARD_OF", "/x/1", "/x/1", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sb_named_socket named[] = {{"NVIM", NULL},
						  {rows[i].variable, rows[i].value}};
		const char *found = sb_socket_in_words(rows[i].path, named, COUNT(named));

		if (!found != !rows[i].part || (found && !strstr(found, rows[i].part)))
			fail_msg("%s=%s: '%s' is '%s'", rows[i].variable,
				 rows[i].value ? rows[i].value : "(unset)", rows[i].path,
				 found ? found : "unknown");
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(well_known_paths),
	cmocka_unit_test(others_have_none),
	cmocka_unit_test(what_the_environment_names),
};

UNIT_MAIN("names")
