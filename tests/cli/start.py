"""start.py - what a run is: S1 to S5 and S13, and R4 where the machine lacks something."""

import os
import re
import socket
import threading

from tap import ALL_VARIANTS, PATIENCE, TOP, check, contains, equal, lacks, run_all, test

EXIT_OWN_FAILURE = 125
REFUSED = re.compile(r"Permission denied|Operation not permitted|Read-only file system")

# The errno of each act, one line each; "ok" when it worked.
ATTEMPT = """
import errno, os, sys
def attempt(act):
    try:
        act()
        print("ok")
    except OSError as problem:
        print(errno.errorcode[problem.errno])
there = sys.argv[1]
attempt(lambda: os.close(os.open(there + "/new", os.O_CREAT | os.O_WRONLY, 0o644)))
attempt(lambda: os.close(os.open(there + "/old", os.O_WRONLY)))
attempt(lambda: os.close(os.open(there + "/old", os.O_WRONLY | os.O_TRUNC)))
attempt(lambda: os.mkdir(there + "/newdir"))
attempt(lambda: os.symlink("x", there + "/newlink"))
attempt(lambda: os.rename(there + "/old", there + "/renamed"))
attempt(lambda: os.unlink(there + "/gone"))
attempt(lambda: os.rmdir(there + "/dir"))
"""


def refused(result, path):
    """The command failed with a permission error, and path was not made."""
    check(result.status not in (0, EXIT_OWN_FAILURE), f"status {result.status}")
    check(REFUSED.search(result.stderr), f"no permission error: {result.stderr!r}")
    check(not os.path.lexists(path), f"{path} was made")


def place_error(fx, cwd, home=None):
    return ("sandbash: must be started inside your home directory (or with --anywhere)\n"
            f"Current directory: {cwd}\nHome directory: {home or fx.home}\n")


# --- S1 -----------------------------------------------------------------------------------


@test("S1 a command runs with its arguments", variants=ALL_VARIANTS)
def runs_command(fx):
    result = fx.sandbash("echo", "a b", "c")
    equal((result.status, result.stdout), (0, "a b c\n"))


@test("S1 without a command, bash runs what comes on stdin")
def bash_reads_stdin(fx):
    result = fx.sandbash(input="echo $BASH_VERSION; touch made; exit 7\n")
    equal(result.status, 7)
    check(result.stdout.strip(), "the shell is no bash")
    check(fx.exists("made"))


@test("S1 nothing but the command's own output is printed")
def silent(fx):
    result = fx.sandbash("true")
    equal((result.status, result.stdout, result.stderr), (0, "", ""))


@test("S1 the current directory is writable, recursively", variants=ALL_VARIANTS)
def cwd_writable(fx):
    fx.write("deep/down/here/old", "old\n")
    script = """set -e
        echo new > new; mkdir -p a/b/c; echo x > a/b/c/x; echo more >> deep/down/here/old
        mv a/b/c/x deep/x; ln deep/x hard; ln -s deep soft; chmod 600 new; touch -d @0 new
        mkfifo pipe; rm -r a; truncate -s 0 hard; mv deep moved"""
    result = fx.sandbash("sh", "-c", script)
    equal(result.status, 0, result.stderr)
    equal(fx.read("moved/down/here/old"), "old\nmore\n")
    equal(fx.path("new").stat().st_mode & 0o777, 0o600)
    equal(fx.path("new").stat().st_mtime, 0)
    check(fx.exists("pipe") and not fx.exists("a"))


@test("S1 a subdirectory of a project is the whole project when started there")
def only_the_subdirectory(fx):
    fx.write("sub/x", "")
    equal(fx.run("touch", "../control", cwd=fx.path("sub")).status, 0)
    refused(fx.sandbash("touch", "../above", cwd=fx.path("sub")), fx.path("above"))
    equal(fx.sandbash("touch", "below", cwd=fx.path("sub")).status, 0)


@test("S1 everything else is readable and not writable", variants=ALL_VARIANTS)
def elsewhere_readable(fx):
    for place in (fx.outside, fx.home, fx.home / "sibling", fx.dir):
        fx.write(place / "file", "text\n")
        equal(fx.run("touch", place / "control").status, 0)
        refused(fx.sandbash("touch", place / "new"), place / "new")
        result = fx.sandbash("sh", "-c", 'echo more >> "$1"', "sh", place / "file")
        check(result.status not in (0, EXIT_OWN_FAILURE), result.stderr)
        result = fx.sandbash("cat", place / "file")
        equal((result.status, result.stdout), (0, "text\n"), result.stderr)
        equal(fx.sandbash("ls", place).status, 0)
    equal(fx.sandbash("touch", "inside").status, 0)


@test("S1 deleting, renaming and linking outside are refused", variants=ALL_VARIANTS)
def no_removal_outside(fx):
    victim = fx.write(fx.outside / "victim", "keep\n")
    for words in (("rm", "-f", victim), ("mv", victim, "stolen"), ("mv", victim, fx.outside / "y"),
                  ("ln", victim, "hard"), ("rmdir", fx.outside), ("ln", "-sf", "x", victim),
                  ("truncate", "-s", "0", victim), ("cp", "/dev/null", victim)):
        result = fx.sandbash(*words)
        check(result.status not in (0, EXIT_OWN_FAILURE), f"{words} worked")
        equal(victim.read_text(), "keep\n", str(words))
    equal(fx.run("rm", victim).status, 0)


SECRETS = (".ssh/id_ed25519", ".aws/credentials", ".gnupg/private-keys-v1.d/key", ".netrc",
           ".kube/config", ".docker/config.json", ".npmrc", ".pypirc", ".git-credentials",
           ".config/gh/hosts.yml", ".cargo/credentials.toml", ".mozilla/firefox/logins.json",
           ".local/share/keyrings/login.keyring", ".azure/token", ".password-store/x.gpg")


@test("S1 P4 credential stores in the home directory are unreadable", variants=ALL_VARIANTS)
def credentials_hidden(fx):
    for name in SECRETS:
        fx.write(fx.home / name, "secret\n", mode=0o600)
    for name in SECRETS:
        equal(fx.run("cat", fx.home / name).stdout, "secret\n")
    result = fx.sandbash("sh", "-c", 'cd; for f do cat "$f"; echo "$?"; done', "sh", *SECRETS)
    equal(result.stdout, "1\n" * len(SECRETS))
    equal(result.stderr.count("Permission denied"), len(SECRETS), result.stderr)


@test("S1 P4 what ssh needs, and names that only look alike, stay readable", variants=ALL_VARIANTS)
def neighbours_of_credentials(fx):
    names = (".ssh/known_hosts", ".ssh/config", ".sshx", ".aws-sam/x", ".docker/contexts",
             ".netrc2", ".gitconfig", ".bashrc")
    fx.write(fx.home / ".ssh/id_rsa", "secret\n")
    for name in names:
        fx.write(fx.home / name, "open\n")
    result = fx.sandbash("sh", "-c", 'cd && cat "$@"', "sh", *names)
    equal((result.status, result.stdout), (0, "open\n" * len(names)), result.stderr)


# --- S2 -----------------------------------------------------------------------------------


@test("S2 a blocked change is a permission error the program can handle", variants=ALL_VARIANTS)
def permission_errors(fx):
    for place in (fx.outside, fx.project / "inside"):
        fx.write(place / "old", "")
        fx.write(place / "gone", "")
        (place / "dir").mkdir()
    result = fx.sandbash("python3", "-c", ATTEMPT, fx.project / "inside")
    equal((result.status, result.stdout.split()), (0, ["ok"] * 8), result.stderr)
    result = fx.sandbash("python3", "-c", ATTEMPT, fx.outside)
    equal(result.status, 0, result.stderr)
    answers = result.stdout.split()
    equal(len(answers), 8, result.stdout)
    if "EROFS" in answers:
        # Only a read-only mount of a static run may answer so, and it must be written down.
        equal(fx.variant, "full", "there are no mounts of ours here")
        contains((TOP / "docs" / "security.md").read_text(), "EROFS")
        answers = ["EACCES" if answer == "EROFS" else answer for answer in answers]
    check(set(answers) <= {"EACCES", "EPERM"}, str(answers))
    equal(sorted(os.listdir(fx.outside)), ["dir", "gone", "old"])


@test("S2 true errors come through: missing stays missing, existing stays existing",
      variants=ALL_VARIANTS)
def true_errors(fx):
    fx.write(fx.outside / "there", "")
    script = ("import errno, os, sys\n"
              "for act in (lambda: open(sys.argv[1] + '/missing'),\n"
              "            lambda: open(sys.argv[1] + '/missing/x', 'w'),\n"
              "            lambda: os.mkdir(sys.argv[1] + '/there')):\n"
              "    try:\n        act()\n"
              "    except OSError as problem:\n        print(errno.errorcode[problem.errno])\n")
    result = fx.sandbash("python3", "-c", script, fx.outside)
    equal(result.stdout.split(), ["ENOENT", "ENOENT", "EEXIST"], result.stderr)


@test("S2 an unreadable secret says Permission denied", variants=ALL_VARIANTS)
def secret_errno(fx):
    fx.write(fx.home / ".ssh/id_rsa", "secret\n")
    fx.write(fx.home / ".netrc", "secret\n")
    script = ("import errno, sys\n"
              "for name in sys.argv[1:]:\n"
              "    try:\n        open(name)\n"
              "    except OSError as problem:\n        print(errno.errorcode[problem.errno])\n")
    result = fx.sandbash("python3", "-c", script, fx.home / ".ssh/id_rsa", fx.home / ".netrc")
    equal(result.stdout.split(), ["EACCES", "EACCES"], result.stderr)


# --- S3 -----------------------------------------------------------------------------------


@test("S3 every descendant is confined", variants=ALL_VARIANTS)
def descendants(fx):
    ways = (f"sh -c 'sh -c \"touch {fx.outside}/x\"'", f"setsid -w touch {fx.outside}/x",
            f"(touch {fx.outside}/x &) | cat; test -e {fx.outside}/x",
            f"echo {fx.outside}/x | xargs touch", f"nohup touch {fx.outside}/x",
            f"python3 -c 'open(\"{fx.outside}/x\", \"w\")'",
            f"env -i /usr/bin/touch {fx.outside}/x",
            f"find . -maxdepth 0 -exec touch {fx.outside}/x ';' -quit; test -e {fx.outside}/x",
            f"echo >{fx.outside}/x")
    for way in ways:
        result = fx.sandbash("bash", "-c", way)
        check(result.status != 0, f"{way}: status 0")
        check(not (fx.outside / "x").exists(), way)
        equal(fx.run("bash", "-c", way).status, 0, f"{way} does not work outside either")
        (fx.outside / "x").unlink()
        for name in os.listdir(fx.project):
            fx.path(name).unlink()


@test("S3 nothing inside widens the sandbox", variants=ALL_VARIANTS)
def no_widening(fx):
    ours = fx.argv(variant="full")[0]
    for flags in (["--disable-sandbox"], ["--mode=danger-full-access"],
                  [f"--allow-write={fx.outside}"], [f"--project={fx.outside}", "--anywhere"],
                  ["--allow-home", "--shared-tmp", f"--rule=write {fx.dir}"]):
        fx.sandbash(ours, "--best-effort", *flags, "touch", fx.outside / "x")
        check(not (fx.outside / "x").exists(), f"{flags} widened it")
        result = fx.run(ours, *flags, "touch", fx.outside / "x")
        equal(result.status, 0, f"{flags} does not work outside either: {result.stderr}")
        (fx.outside / "x").unlink()


@test("S3 S6 --allow-write=/ opens everything that no rule protects, and is not an escape inside")
def allow_root(fx):
    fx.config("")
    result = fx.sandbash("--allow-write=/", "touch", fx.outside / "x")
    equal((result.status, result.stderr), (0, ""))
    check((fx.outside / "x").exists())
    ours = fx.argv(variant="full")[0]
    refused(fx.sandbash(ours, "--allow-write=/", "touch", fx.outside / "y"), fx.outside / "y")


@test("S3 unsetting or forging the environment widens nothing", variants=ALL_VARIANTS)
def no_widening_by_environment(fx):
    ours = fx.argv(variant="full")[0]
    for words in (("env", "-u", "SANDBASH", ours), ("env", "-i", f"HOME={fx.home}", ours),
                  ("env", "SANDBASH_MODE=danger-full-access", ours),
                  ("env", f"HOME={fx.outside}", ours)):
        result = fx.sandbash(*words, "--disable-sandbox", "/usr/bin/touch", fx.outside / "x")
        check(result.status != 0 and not (fx.outside / "x").exists(), str(words))


@test("S3 a process that outlives the command of a static run is still confined",
      variants=ALL_VARIANTS)
def daemon_confined(fx):
    script = (f"(while [ ! -e go ]; do sleep 0.01; done; touch {fx.outside}/late; touch late) "
              "</dev/null >/dev/null 2>&1 &")
    # Give up the group, or the harness would end it with its parent.
    result = fx.sandbash("--static", "setsid", "-w", "sh", "-c", script,
                         outer=[f"--allow-write={fx.dir}", "--static"])
    equal(result.status, 0, result.stderr)
    fx.write("go", "")
    for _ in range(500):
        if fx.exists("late"):
            break
        threading.Event().wait(0.01)
    check(fx.exists("late"), "it did not live on")
    check(not (fx.outside / "late").exists(), "it was free")


# --- S4 -----------------------------------------------------------------------------------


class Server:
    """A TCP and a UDP echo on loopback, outside the sandbox."""

    def __init__(self):
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.tcp.settimeout(PATIENCE)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.tcp.accept()
            except OSError:
                return
            connection.sendall(b"hello")
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tcp.close()


CONNECT = ("import socket, sys\n"
           "s = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)\n"
           "print(s.recv(5).decode())\n")


@test("S4 the network is open unless the user closes it", variants=ALL_VARIANTS)
def network_open(fx):
    with Server() as server:
        result = fx.sandbash("python3", "-c", CONNECT, str(server.port))
        equal((result.status, result.stdout), (0, "hello\n"), result.stderr)


@test("S4 P2 --network=off closes it, also where there are no network namespaces",
      variants=ALL_VARIANTS)
def network_closed(fx):
    with Server() as server:
        for without in (None, "net"):
            result = fx.sandbash("--network=off", "python3", "-c", CONNECT, str(server.port),
                                 without=without)
            check(result.status not in (0, EXIT_OWN_FAILURE), result.stderr)
            lacks(result.stdout, "hello")
        equal(fx.run("python3", "-c", CONNECT, str(server.port)).stdout, "hello\n")


@test("S4 limits, priority and processor set stay as they were", variants=ALL_VARIANTS)
def resources(fx):
    script = ("ulimit -a -S; ulimit -a -H; nice; taskset -p $$ | sed 's/.*: //'; "
              "cat /proc/self/oom_score_adj")
    if fx.variant == "nested":  # the mark by which a supervisor knows a run inside its own
        script = script.replace("-S;", "-S | grep -v 'file locks';").replace(
            "-H;", "-H | grep -v 'file locks';")
    control = fx.run("bash", "-c", script)
    result = fx.sandbash("bash", "-c", script)
    equal(result.stdout, control.stdout)


# --- S5 -----------------------------------------------------------------------------------


@test("S5 outside the home directory: three lines, 125, nothing started")
def outside_home(fx):
    for cwd in (fx.outside, fx.dir, "/usr", "/"):
        result = fx.sandbash("touch", fx.outside / "x", cwd=cwd)
        equal(result, (EXIT_OWN_FAILURE, "", place_error(fx, cwd)))
        check(not (fx.outside / "x").exists())


@test("S5 without a command it is refused as well")
def outside_home_shell(fx):
    result = fx.sandbash(cwd=fx.outside, input="touch x\n")
    equal(result, (EXIT_OWN_FAILURE, "", place_error(fx, fx.outside)))


@test("S5 P9 a directory whose name only begins like the home directory is outside")
def beside_home(fx):
    evil = fx.dir / "home-evil"
    evil.mkdir()
    equal(fx.sandbash("true", cwd=evil), (EXIT_OWN_FAILURE, "", place_error(fx, evil)))


@test("S5 the three lines stay three lines whatever the directory is called")
def escaped_place(fx):
    cwd = fx.outside / "a\nb\x1b[31m\udcff"
    cwd.mkdir()
    result = fx.sandbash("true", cwd=cwd)
    equal(result.status, EXIT_OWN_FAILURE)
    equal(result.stderr, place_error(fx, f"{fx.outside}/a\\nb\\e[31m\\xff"))


@test("S5 the home directory itself is refused with a hint")
def home_itself(fx):
    result = fx.sandbash("touch", "x", cwd=fx.home)
    equal(result.status, EXIT_OWN_FAILURE)
    lines = result.stderr.splitlines()
    check(lines[0].startswith("sandbash: "), result.stderr)
    contains(lines[0], str(fx.home))
    check(any(line.startswith("hint: ") and "--allow-home" in line for line in lines),
          result.stderr)
    check(not (fx.home / "x").exists())


# Without namespaces sandbash's own files in a writable home cannot be held: S9 refuses that.
@test("S5 --allow-home starts in the home directory", variants=("full", "nested"))
def allow_home(fx):
    fx.write(fx.home / ".ssh/id_rsa", "secret\n")
    equal(fx.sandbash("--allow-home", "touch", "x", cwd=fx.home).status, 0)
    check((fx.home / "x").exists())
    refused(fx.sandbash("--allow-home", "touch", fx.outside / "x", cwd=fx.home), fx.outside / "x")
    check(fx.sandbash("--allow-home", "cat", ".ssh/id_rsa", cwd=fx.home).status == 1)


@test("S5 --anywhere starts outside the home directory", variants=ALL_VARIANTS)
def anywhere(fx):
    result = fx.sandbash("--anywhere", "touch", "x", cwd=fx.outside)
    equal(result.status, 0, result.stderr)
    check((fx.outside / "x").exists())
    refused(fx.sandbash("--anywhere", "touch", fx.project / "x", cwd=fx.outside), fx.project / "x")


@test("S5 --anywhere alone does not open a directory that holds the home directory")
def anywhere_above_home(fx):
    result = fx.sandbash("--anywhere", "touch", "x", cwd=fx.dir)
    equal(result.status, EXIT_OWN_FAILURE)
    contains(result.stderr, "--allow-home")
    check(not (fx.dir / "x").exists())


@test("S5 with the flags that say so it starts in any directory, in every mode")
def any_directory(fx):
    fx.config("")
    # Not /dev: where disks could be read, the run has another one.
    places = ["/", "/usr", "/tmp", "/dev/shm", "/var/tmp", "/proc", "/etc"]
    failed = []
    for cwd in places:
        for mode in ("workspace-write", "read-only"):
            result = fx.sandbash("--anywhere", "--allow-home", f"--mode={mode}", "sh", "-c",
                                 "pwd; test $$ -gt 0", cwd=cwd)
            if (result.status, result.stdout) != (0, f"{cwd}\n"):
                failed.append((cwd, mode, result.stderr))
    equal(failed, [])


# --- S13 and R4 ---------------------------------------------------------------------------


@test("S13 R4 neither Landlock nor namespaces: always refused, and nothing is run")
def nothing_at_all(fx):
    for flags in ([], ["--best-effort"]):
        result = fx.sandbash(*flags, "touch", "x", without="landlock,userns")
        equal(result.status, EXIT_OWN_FAILURE, result.stderr)
        check(result.stderr.startswith("sandbash: "), result.stderr)
        contains(result.stderr, "Landlock")
        contains(result.stderr, "namespace")
        check(not fx.exists("x"), "the command was run")


WEAKER = {
    "userns": ("modes, owners, times", "/tmp"),
    "mounts": ("modes, owners, times", "/tmp"),
    "landlock": ("device files", "signal"),
    "seccomp": ("keystrokes", "seccomp"),
    "landlock-abi=1": ("signalled", "ABI 6"),
    "landlock-abi=3": ("abstract", "ABI 6"),
    "landlock-abi=5": ("signalled", "ABI 6"),
}


@test("S13 R4 a weaker machine is refused for a static run, with a sentence for each weakness and the way on")
def weaker_refused(fx):
    for lacking, words in WEAKER.items():
        result = fx.sandbash("--static", "touch", "x", without=lacking)
        equal(result.status, EXIT_OWN_FAILURE, f"{lacking}: {result.stderr}")
        lines = result.stderr.splitlines()
        check(lines[0].startswith("sandbash: "), result.stderr)
        for word in words:
            contains(result.stderr, word, lacking)
        hints = [line for line in lines if line.startswith("hint: ")]
        equal(len(hints), 1, result.stderr)
        contains(hints[0], "--best-effort")
        check(not fx.exists("x"), f"without {lacking} the command was run")


@test("R4 --best-effort runs and warns of the same weaknesses")
def weaker_accepted(fx):
    for lacking, words in WEAKER.items():
        result = fx.sandbash("--best-effort", "--static", "touch", "x", without=lacking)
        equal(result.status, 0, f"{lacking}: {result.stderr}")
        check(fx.exists("x"))
        fx.path("x").unlink()
        for line in result.stderr.splitlines():
            check(line.startswith("sandbash: warning: "), line)
        for word in words:
            contains(result.stderr, word, lacking)
        result = fx.sandbash("--best-effort", "touch", fx.outside / "x", without=lacking)
        check(result.status != 0 and not (fx.outside / "x").exists(),
              f"without {lacking} the outside is writable")


@test("R4 what is weaker because of this project is named")
def weaker_here(fx):
    fx.write(".git/hooks/pre-commit", "")
    fx.write(fx.home / ".ssh/id_rsa", "")
    result = fx.sandbash("--best-effort", "--static", "true", without="userns")
    equal(result.status, 0, result.stderr)
    contains(result.stderr, f"{fx.project}/.git/hooks")
    result = fx.sandbash("--best-effort", "true", without="userns")
    equal(result.status, 0, result.stderr)
    equal(result.stderr, "", "a supervisor holds it")


@test("S13 R4 a machine without namespaces: the supervisor holds what they would, and nothing is said")
def weaker_supervised(fx):
    for lacking in ("userns", "mounts", "docker", "docker,landlock-abi=4", "userns,landlock-abi=2"):
        result = fx.sandbash("sh", "-c", "touch x && ls -a ~", without=lacking)
        equal((result.status, result.stderr), (0, ""), lacking)
        contains(result.stdout, "project\n", lacking)
        fx.path("x").unlink()


@test("R4 a missing network namespace alone is no weakness")
def net_alone(fx):
    result = fx.sandbash("touch", "x", without="net")
    equal((result.status, result.stderr), (0, ""))
    check(fx.exists("x"))


@test("R4 inside another sandbash it goes on without complaint")
def nested_silent(fx):
    result = fx.sandbash("echo", "hi", variant="nested")
    equal(result, (0, "hi\n", ""))


@test("R4 inside another sandbash that closes the home directory, opening it is no error either")
def nested_home(fx):
    ours = fx.argv(variant="full")[0]
    result = fx.sandbash("--quiet", ours, f"--allow-write={fx.home}", "touch", "x")
    equal((result.status, result.stderr), (0, ""))
    check(fx.exists("x"))


run_all()
