"""Z8: files between git repositories and zones: killed at any step, and repositories that are URLs."""

import os
import shutil
import signal
import socket
import subprocess
import time

from person import Person
from tap import PATIENCE, check, contains, equal, lacks, run_all, skip, test
from zone_repo import git, push, set_up, stage, work


# --- killed --------------------------------------------------------------------------------------------------


def stop_at(fx, command, after):
    """A PATH whose git stands still before, or after, a command."""
    text = (f'#!/bin/sh\ncase " $* " in *" {command} "*)\n'
            + ('/usr/bin/git "$@"\n' if after else "") + "exec sleep 1000;; esac\nexec /usr/bin/git \"$@\"\n")
    program = fx.write(fx.outside / "bin" / "git", text, mode=0o755)
    return {"PATH": f"{program.parent}:/usr/bin:/bin"}


def children(process):
    """All that it has started, by /proc."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = open(f"/proc/{name}/stat").read().rpartition(")")[2].split()
            line = open(f"/proc/{name}/cmdline", errors="replace").read()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append((int(name), line))
    found, left = [], [process]
    while left:
        more = parents.get(left.pop(), [])
        found += more
        left += [one for one, _ in more]
    return found


def kill_there(fx, process):
    """Wait until its git sleeps, then end all of it at once."""
    deadline = time.monotonic() + PATIENCE
    while not (sleeping := [one for one, line in children(process.pid) if line.startswith("sleep\0")]):
        check(time.monotonic() < deadline and process.poll() is None, "it never came there")
        time.sleep(0.02)
    process.kill()
    process.wait()
    for one in sleeping:
        os.kill(one, signal.SIGKILL)


@test("Z8 killed between any two steps of staging and discarding: nothing is lost, and it can be done again")
def killed(fx):
    repo = set_up(fx)
    git(fx, "pull", repo.path, "--into=/desk")
    fx.write(work(fx, "run.sh"), "mine\n")
    main = repo.refs()["refs/heads/main"]
    for command in ("fast-import", "update-ref"):  # the two that change something
        for after in (False, True):
            words = fx.argv("--git", "stage", "--from=/desk", f"--repo={repo.path}", "-m", f"{command} {after}")
            kill_there(fx, fx.start(*words, env=stop_at(fx, command, after), stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL))
            refs = repo.refs()
            equal(refs.pop("refs/heads/main"), main, "the branch")
            equal(len(refs), command == "update-ref" and after, f"{command} {after}")
            for ref in refs:  # a ref without a note: a person says where it is
                name = ref.rpartition("/")[2]
                contains(git(fx, "show", name, f"--repo={repo.path}").stdout, "+mine")
                git(fx, "discard", name, f"--repo={repo.path}")
            repo.git("fsck", "--strict")
            name = stage(fx, repo)
            contains(git(fx, "show", name).stdout, "+mine")
            git(fx, "discard", name)
    name = stage(fx, repo)
    words = fx.argv("--git", "discard", name)
    kill_there(fx, fx.start(*words, env=stop_at(fx, "update-ref", False), stderr=subprocess.DEVNULL))
    contains(git(fx, "show", name).stdout, "+mine", "before the ref is gone all is there")
    kill_there(fx, fx.start(*words, env=stop_at(fx, "update-ref", True), stderr=subprocess.DEVNULL))
    contains(git(fx, "show", name, status=125).stderr, "pushed or discarded already")
    contains(git(fx, "show", name, status=125).stderr, "nothing is staged", "and then it is forgotten")


@test("Z8 killed between any two steps of a push: it is pushed, or staged, or both")
def killed_push(fx):
    repo = set_up(fx)
    git(fx, "pull", repo.path, "--into=/desk")
    fx.write(work(fx, "run.sh"), "mine\n")
    name, main = stage(fx, repo), repo.refs()["refs/heads/main"]
    for after in (False, True):
        person = Person(fx, "--git", "push", name, env=stop_at(fx, "sandbash: push", after))
        person.answer("1", "push to")
        kill_there(fx, person.term.process)
        equal(repo.refs()["refs/heads/main"][:12], name if after else main[:12])
        contains(git(fx, "show", name).stdout, "+mine", "still staged")
    equal(git(fx, "push", name).stdout[:6], "pushed", "it was, so nobody is asked again")
    equal(list(repo.refs()), ["refs/heads/main"])


# --- URLs ----------------------------------------------------------------------------------------------------


def serve(fx):
    """git daemon for fx.outside, on a port of its own."""
    if fx.run("git", "daemon", "--help").status == 127:
        skip("no git daemon")
    probe = socket.socket()
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # kept: while it is bound nobody is given its port
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
    daemon = fx.start("git", "daemon", f"--base-path={fx.outside}", "--export-all", "--reuseaddr",
                      "--enable=receive-pack", "--listen=127.0.0.1", f"--port={port}", fx.outside,
                      env={"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"},
                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            probe.close()
            return daemon, f"git://127.0.0.1:{port}"
        except OSError:
            check(time.monotonic() < deadline and daemon.poll() is None, "no daemon")
            time.sleep(0.05)


@test("Z8 a URL: what is staged waits in our copy, a push moves the server's branch")
def url(fx):
    repo = set_up(fx)
    daemon, base = serve(fx)
    try:
        where = f"{base}/r.git"
        git(fx, "pull", where, "--into=/desk")
        equal(work(fx, "src/a.c").read_text(), "one\n")
        fx.write(work(fx, "src/a.c"), "two\n")
        words = ("stage", "--from=/desk", f"--repo={where}", "-m", "m")
        name = git(fx, *words).stdout.split()[0]
        equal(list(repo.refs()), ["refs/heads/main"], "the server has nothing of it")
        contains(git(fx, "show", name).stdout, "+two")
        contains(git(fx, "push", name, status=125).stderr, "nobody can be asked")
        push(fx, name)
        equal(repo.show("main:src/a.c"), "two")
        fx.write(work(fx, "src/a.c"), "three\n")
        name = git(fx, *words).stdout.split()[0]
        repo.commit(repo.tree(("100644", "theirs", repo.blob("x\n"))))
        contains(git(fx, "push", name, status=125).stderr, "has moved since")
        contains(push(fx, name, "--force"), "would be lost")
        equal(repo.show("main:src/a.c"), "three")
        fx.write(work(fx, "src/a.c"), "four\n")
        name = git(fx, *words).stdout.split()[0]
        push(fx, name, "--branch=topic", "--new-branch")
        equal(repo.show("topic:src/a.c"), "four")
        contains(git(fx, "pull", f"{base}/none.git", "--into=/desk", status=125).stderr, "sandbash: git ls-remote")
        done = fx.sandbash("--network=off", "--git", "pull", where, "--into=/desk")
        contains(done.stderr, "the network is off")
        done = fx.sandbash("--rule=deny connect localhost", "--git", "pull", where, "--into=/desk")
        contains(done.stderr, "a rule denies connections to localhost")
    finally:
        os.killpg(daemon.pid, signal.SIGKILL)


BACKEND = """
import base64, http.server, os, subprocess, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.startswith("/moved"):
            self.send_response(302)
            self.send_header("Location", self.path.replace("/moved", "/git"))
            self.end_headers()
            return
        said = self.headers.get("Authorization", "")
        if said != "Basic " + base64.b64encode(b"anna:s3cret").decode():
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.end_headers()
            return
        path, _, query = self.path.removeprefix("/git").partition("?")
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=dict(os.environ,
            GIT_PROJECT_ROOT=sys.argv[1], GIT_HTTP_EXPORT_ALL="1", REMOTE_USER="anna", REMOTE_ADDR="127.0.0.1",
            PATH_INFO=path, QUERY_STRING=query, REQUEST_METHOD=self.command,
            CONTENT_TYPE=self.headers.get("Content-Type", ""), CONTENT_LENGTH=str(len(body)),
            GIT_PROTOCOL=self.headers.get("Git-Protocol", ""),
            HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding", "")))
        head, _, body = done.stdout.partition(b"\\r\\n\\r\\n")
        fields = [line.split(": ", 1) for line in head.decode().splitlines()]
        self.send_response(int(dict(fields).get("Status", "200").split()[0]))
        for key, value in fields:
            if key != "Status":
                self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_GET = do_POST = do
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


@test("Z8 http: the user's own helper logs in, at the server that was named and at no other")
def http(fx):
    repo = set_up(fx)
    repo.git("config", "http.receivepack", "true")
    server = fx.start("python3", "-c", BACKEND, fx.outside, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                      env={"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"})
    base = f"http://127.0.0.1:{int(server.stdout.readline())}"
    contains(git(fx, "pull", f"{base}/git/r.git", "--into=/desk", status=125).stderr, "git ls-remote", "no login")
    fx.write(fx.home / ".gitconfig", "[credential]\n\thelper = store\n[user]\n\tname = Anna\n\temail = a@example.org\n")
    fx.write(fx.home / ".git-credentials", base.replace("//", "//anna:s3cret@") + "\n", mode=0o600)
    git(fx, "pull", f"{base}/git/r.git", "--into=/desk")
    equal(work(fx, "src/a.c").read_text(), "one\n")
    contains(git(fx, "pull", f"{base}/moved/r.git", "--into=/desk", status=125).stderr, "git ls-remote", "redirected")
    fx.write(work(fx, "src/a.c"), "two\n")
    done = git(fx, "stage", "--from=/desk", f"--repo={base}/git/r.git", "-m", "m")
    contains(done.stdout, "author: Anna <a@example.org>")
    push(fx, done.stdout.split()[0])
    equal(repo.show("main:src/a.c"), "two")
    lacks(fx.sandbash("--log").stdout, "s3cret", "the record")


@test("Z8 ssh is started without a terminal, and reaches the host that was named")
def ssh(fx):
    if not shutil.which("ssh", path="/usr/local/bin:/usr/bin:/bin"):
        skip("no ssh")
    set_up(fx)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(PATIENCE)
        client = fx.start(*fx.argv("--git", "pull", f"ssh://127.0.0.1:{listener.getsockname()[1]}/r.git",
                                   "--into=/desk"), stderr=subprocess.PIPE, start_new_session=True)
        connection, _ = listener.accept()
        with connection:
            check(connection.recv(4) == b"SSH-", "ssh speaks")
        contains(client.communicate()[1].decode(), "sandbash: git ls-remote")
        equal(client.returncode, 125)


@test("Z8 which URLs are none")
def urls(fx):
    set_up(fx)
    marker = fx.outside / "ran"
    for name in (f"ext::sh -c touch% {marker}", f"ext::touch {marker}", f"file://{fx.outside}/r.git",
                 f"ssh://-oProxyCommand=touch%20{marker}/x", "https://user:secret@localhost/x", "ftp://localhost/x",
                 "https://local host/x", "https://localhost/\nx", "fd::17", "--upload-pack=touch", "-x:y", "https://",
                 "https://localhost\\@example.org/x", "https://localhost#@example.org/x", "https://localhost?x/y",
                 "https://%6cocalhost/x", "ssh://a b@localhost/x", "-a@localhost:x"):
        done = fx.sandbash("--git", "pull", "--into=/desk", "--", name)
        equal(done.status, 125, f"{name}: {done.stderr}")
        lacks(done.stderr, "git ls-remote", name)
    check(not marker.exists(), "nothing ran")


run_all()
