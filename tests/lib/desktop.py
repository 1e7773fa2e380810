#!/usr/bin/env python3
"""desktop.py - runs a command on a machine where people work: their sockets and directories lie
in /tmp and /run/user, and somebody listens on them.

    unshare --mount --propagation=private tests/lib/desktop.py USER COMMAND...

USER is the account that sits there, and so does root.  All of it is mounted in the namespace
that root gave us, so that the machine itself stays as it is.
"""

import os
import pwd
import socket
import subprocess
import sys

from places import OWN

PLACES = {  # in the directory of each session; a slash: also who listens there
    "/run/user/{uid}": ("bus", "wayland-0", "pipewire-0", "pipewire-0-manager", "pulse/native",
                        "gnupg/S.gpg-agent", "gnupg/S.gpg-agent.ssh", "keyring/ssh",
                        "keyring/control", "systemd/private", "systemd/notify", "at-spi/bus",
                        "podman/podman.sock"),
    "/tmp": ("tmux-{uid}/default", "ssh-Xa{uid}bc/agent.1", "screen-{uid}/1.tty1",
             "emacs{uid}/server", "dbus-{uid}", ".ICE-unix/{uid}", ".X11-unix/X{uid}",
             "vscode-ipc-{uid}.sock", "fish.{uid}/s"),
}
SHARED = (".X11-unix", ".ICE-unix", ".font-unix", ".XIM-unix", ".Test-unix")
CLOSED = ("systemd-private-0123abcd-colord.service-aB1", "snap-private-tmp", "tracker-extract")


def listen(path, entry):
    """A socket of that person."""
    directory = os.path.dirname(path)
    if not os.path.isdir(directory):
        os.makedirs(directory, 0o700)
        os.chown(directory, entry.pw_uid, entry.pw_gid)
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(8)
    os.chown(path, entry.pw_uid, entry.pw_gid)
    return server


def mount(place, mode):
    os.makedirs(place, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode={mode}", "desktop", place], check=True)


def furnish(people):
    """Returns the servers, which live as long as we do."""
    os.umask(0o022)
    mount("/tmp", "1777")
    for name in SHARED:
        os.mkdir(f"/tmp/{name}")
        os.chmod(f"/tmp/{name}", 0o1777)
    for name in CLOSED:
        os.makedirs(f"/tmp/{name}/tmp")
        os.chmod(f"/tmp/{name}", 0o700)
    mount("/run/user", "755")
    servers = []
    for entry in people:
        runtime = f"/run/user/{entry.pw_uid}"
        mount(runtime, "700")
        os.chown(runtime, entry.pw_uid, entry.pw_gid)
        for directory, names in PLACES.items():
            for name in names:
                path = f"{directory}/{name}".format(uid=entry.pw_uid)
                servers.append(listen(path, entry))
        with open(f"/tmp/.X{entry.pw_uid}-lock", "w", encoding="ascii") as stream:
            stream.write(f"{os.getpid():10}\n")
    return servers


def main():
    user, *command = sys.argv[1:]
    servers = furnish([pwd.getpwuid(0), pwd.getpwnam(user)])
    status = subprocess.run(command, check=False, env={**os.environ, OWN: "1"}).returncode
    for server in servers:
        server.close()
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
