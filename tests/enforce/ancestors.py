"""ancestors.py - rules that hide a directory around the project: deny /, deny /home, deny ~.

They hold, and leave the project, what more specific rules open, and what a program needs to start.
Each act is tried three times: without a sandbox (it reads), inside (refused), and inside at the
neighbour that a rule opens, or in the project (it reads).
"""

import os

from tap import ALL_VARIANTS, PATIENCE, SUPERVISED, check, contains, equal, lacks, run_all, test

SECRET = "secret of the neighbour"
DENIED = ("Permission denied", "Operation not permitted")

# Every way that we know to read FILE, each printing what it found or the error.
WAYS = r"""
import ctypes, mmap, os, socket, subprocess, sys
path = sys.argv[1]
folder, name = os.path.split(path)
def plain(): return open(path).read()
def by_parent():
    return os.read(os.open(name, os.O_RDONLY, dir_fd=os.open(folder, os.O_PATH)), 99).decode()
def by_self_root(): return open("/proc/self/root" + path).read()
def by_parent_root(): return open(f"/proc/{os.getppid()}/root" + path).read()
def by_first_root(): return open("/proc/1/root" + path).read()
def by_dots(): return open(os.path.relpath(path)).read()
def by_cwd(): return open("/proc/self/cwd/" + os.path.relpath(path)).read()
def by_chdir():
    here = os.getcwd(); os.chdir(folder)
    try: return open(name).read()
    finally: os.chdir(here)
def by_link():
    os.symlink(path, "way")
    try: return open("way").read()
    finally: os.unlink("way")
def by_hard_link():
    os.link(path, "mine")
    try: return open("mine").read()
    finally: os.unlink("mine")
def by_path_descriptor(): return open(f"/proc/self/fd/{os.open(path, os.O_PATH)}").read()
def by_write(): return os.read(os.open(path, os.O_RDWR), 99).decode()
def by_execution(): return subprocess.run([folder + "/program"], capture_output=True, text=True,
                                          check=True).stdout
def by_child(): return subprocess.run(["cat", path], capture_output=True, text=True,
                                      check=True).stdout
def by_thread():
    import threading
    got = []
    def read():
        try: got.append(open(path).read())
        except OSError as error: got.append(error)
    thread = threading.Thread(target=read); thread.start(); thread.join()
    if isinstance(got[0], OSError): raise got[0]
    return got[0]
for way in (plain, by_parent, by_self_root, by_parent_root, by_first_root, by_dots, by_cwd, by_chdir,
            by_link, by_hard_link, by_path_descriptor, by_write, by_execution, by_child, by_thread):
    try:
        print(way.__name__, "READ" if "secret" in way() else "other")
    except OSError as error:
        print(way.__name__, error.strerror)
    except subprocess.CalledProcessError as error:
        print(way.__name__, error.stderr.strip())
"""


def lay_out(fx):
    for place in (fx.home / "sibling", fx.home / "data", fx.outside):
        fx.write(place / "file", SECRET + "\n")
        fx.write(place / "program", f"#!/bin/sh\necho {SECRET}\n", mode=0o755)
    fx.write("file", "mine\n")


def ancestors(fx):
    """The directories around the project, the root last, and what of the fixture each holds."""
    inside = [fx.home / "sibling" / "file"]
    yield fx.home, inside
    inside.append(fx.outside / "file")
    yield fx.dir, inside
    yield fx.dir.parent, inside
    yield "/", inside + ["/etc/hostname"]


def read_in_project(result, message):
    equal(result.status, 0, f"{message}: {result.stderr}")
    contains(result.stdout, "mine", message)
    contains(result.stdout, "new", message)


@test("a rule on a directory around the project holds and leaves the project", ALL_VARIANTS)
def holds(fx):
    lay_out(fx)
    for denied, inside in ancestors(fx):
        flags = (f"--deny={denied}", f"--allow-read={fx.home / 'data'}")
        for path in inside:
            if not os.path.exists(path):
                continue
            equal(fx.run("cat", path).status, 0, "the control")
            result = fx.sandbash(*flags, "cat", path)
            equal(result.status, 1, f"{flags}: {path}")
            contains(result.stderr, "Permission denied", f"{flags}: {path}")
        shown = fx.sandbash(*flags, "cat", fx.home / "data" / "file")
        equal(shown.stdout, SECRET + "\n", f"{flags}: a more specific rule: {shown.stderr}")
        changed = fx.sandbash(*flags, "sh", "-c", f"echo x >> {fx.home / 'data' / 'file'}")
        check(changed.status != 0, "readable is not writable")
        read_in_project(fx.sandbash(*flags, "sh", "-c", "cat file; echo new > other; cat other; rm other"),
                        str(flags))


@test("no way around", ALL_VARIANTS)
def ways(fx):
    lay_out(fx)
    words = ("python3", "-c", WAYS)
    control = fx.run(*words, fx.home / "sibling" / "file").stdout
    # another process' root is closed to ordinary users, and nothing but inside is that readable
    for line in control.splitlines():
        check(line.endswith("READ") or "root" in line, f"the control: {line}")
    for denied in ("/", fx.dir.parent, fx.home):
        out = fx.sandbash("--consent=deny", f"--deny={denied}", *words,
                          fx.home / "sibling" / "file").stdout
        equal(len(out.splitlines()), len(control.splitlines()), out)
        lacks(out, "READ", f"--deny={denied}: {out}")
        beside = fx.sandbash("--consent=deny", f"--deny={denied}",
                             f"--allow-read={fx.home / 'data'}", *words,
                             fx.home / "data" / "file").stdout
        for way in ("plain", "by_parent", "by_self_root", "by_dots", "by_child", "by_execution"):
            contains(beside, f"{way} READ", f"--deny={denied}: {beside}")


@test("what appears in a hidden directory while the run goes on is hidden", ("full", "flat"))
def appears(fx):
    lay_out(fx)
    script = ("echo waiting; until [ -e go ]; do sleep 0.02; done; "
              "cat ../sibling/later; cat ../later; cat file")
    for denied in ("/", fx.home):
        run = fx.start(*fx.argv("--quiet", f"--deny={denied}", "sh", "-c", script), stdout=-1,
                       stderr=-1, text=True)
        equal(run.stdout.readline(), "waiting\n")
        for path in (fx.home / "sibling" / "later", fx.home / "later"):
            fx.write(path, SECRET)
        fx.write("go")
        out, err = run.communicate(timeout=PATIENCE)
        lacks(out, SECRET, f"--deny={denied}")
        equal(out, "mine\n", err)
        for path in ("go", fx.home / "sibling" / "later", fx.home / "later"):
            fx.path(path).unlink()


@test("hidden inside shown inside hidden", ALL_VARIANTS)
def layers(fx):
    lay_out(fx)
    fx.write("keys/private", SECRET)
    fx.write("keys/public/key", "public\n")
    fx.write(fx.home / "data/deep/private", SECRET)
    fx.write(fx.home / "data/deep/public", "public\n")
    for denied in ("/", fx.home):
        flags = (f"--deny={denied}", "--deny=keys", "--allow-read=keys/public",
                 f"--allow-read={fx.home / 'data'}", f"--deny={fx.home / 'data/deep'}",
                 f"--allow-read={fx.home / 'data/deep/public'}")
        for hidden in ("keys/private", fx.home / "data/deep/private", "../sibling/file"):
            equal(fx.run("cat", hidden).status, 0, "the control")
            result = fx.sandbash(*flags, "cat", hidden)
            contains(result.stderr, "Permission denied", f"{denied}: {hidden}")
        for shown in ("keys/public/key", fx.home / "data/deep/public", fx.home / "data/file",
                      "file"):
            result = fx.sandbash(*flags, "cat", shown)
            equal(result.status, 0, f"{denied}: {shown}: {result.stderr}")


@test("parents can be passed through, not listed")
def not_listed(fx):
    lay_out(fx)
    for denied, _ in ancestors(fx):
        script = f"cat ../project/file; ls {denied}; ls ..; ls .; stat ../nothing"
        result = fx.sandbash("--quiet", f"--deny={denied}", "sh", "-c", script)
        contains(result.stdout, "mine\n")
        contains(result.stdout, "file\n", "the project is listed")
        lacks(result.stdout, "sibling", f"--deny={denied}")
        equal(result.stderr.count("Permission denied"), 2, f"--deny={denied}: {result.stderr}")
        contains(result.stderr, "No such file", "what is not there is said not to be")


@test("the names of / are not listed without namespaces either", ("flat",))
def not_listed_flat(fx):
    lay_out(fx)
    result = fx.sandbash("--deny=/", "sh", "-c", "ls /; ls ..; ls .")
    lacks(result.stdout, "sibling")
    contains(result.stdout, "file\n")
    equal(result.stderr.count("Permission denied"), 2, result.stderr)


@test("links on the way to what is shown lead there, others nowhere", ("full", "flat"))
def links(fx):
    lay_out(fx)
    os.symlink("data", fx.home / "to-data")
    os.symlink(fx.home, fx.dir / "to-home")
    os.symlink("sibling", fx.home / "to-sibling")
    for denied in ("/", fx.dir, fx.home):
        flags = (f"--deny={denied}", f"--allow-read={fx.home / 'data'}")
        for shown in (fx.home / "to-data/file", fx.dir / "to-home/data/file",
                      fx.dir / "to-home/project/file"):
            result = fx.sandbash(*flags, "cat", shown)
            equal(result.status, 0, f"{denied}: {shown}: {result.stderr}")
        result = fx.sandbash(*flags, "cat", fx.home / "to-sibling/file")
        contains(result.stderr, "Permission denied")


@test("with deny / programs start: shells, python, git, a terminal", ("full", "flat"))
def programs(fx):
    lay_out(fx)
    result = fx.sandbash("--deny=/", "bash", "-c", "cat <(echo one); echo two | tee /dev/stderr; "
                         "id -u; ls -d /proc/self /tmp /dev/null; awk 'BEGIN { print 3 }'; "
                         "python3 -c 'import ssl; print(4)'; : > /tmp/x$$ && rm /tmp/x$$ && echo 5")
    equal(result.status, 0, result.stderr)
    for word in ("one", "two", str(os.getuid()), "/proc/self", "3\n", "4\n", "5\n"):
        contains(result.stdout, word)
    git = fx.sandbash("--deny=/", "sh", "-c", "git init -q r && cd r && echo x > f && git add f && "
                      "git commit -qm x && git log --oneline", env={"GIT_CONFIG_NOSYSTEM": None})
    equal(git.status, 0, git.stderr)
    screen = fx.sandbash_terminal("--deny=/", "sh", "-c", "tty && cat file && echo d''one")
    screen.expect("done")
    contains(screen.screen(), "mine")


@test("the list of what is needed is printed, explained and given up to the user's rules")
def printed(fx):
    lay_out(fx)
    lacks(fx.sandbash("--print-policy").stdout, "needed to start")
    lacks(fx.sandbash("--print-policy", f"--deny={fx.home}").stdout, "needed to start")
    text = fx.sandbash("--print-policy", "--deny=/").stdout
    for line in ("deny / ", "read /usr ", "read /proc ", "read /dev ", "read /etc/passwd "):
        contains(text, "\n" + line)
    lacks(text, "read /etc/shadow")
    policy = fx.write(fx.dir / "printed", text)
    paths = ("/", "/usr/bin/env", "/etc/passwd", "/etc/hostname", fx.home, "file", fx.outside, "/proc/1",
             "/sys/kernel", fx.home / ".ssh/config", "/tmp/x")
    for path in paths:
        first = fx.sandbash("--explain", path, "--deny=/").stdout.splitlines()[1:5]
        second = fx.sandbash("--explain", path, f"--policy={policy}").stdout.splitlines()[1:5]
        equal([line.split()[:2] for line in first], [line.split()[:2] for line in second], path)
    contains(fx.sandbash("--explain", fx.outside, "--deny=/").stdout, "read    deny")
    contains(fx.sandbash("--explain", "/usr/bin", "--deny=/").stdout, "read    allow")
    dry = fx.sandbash("--dry-run", "--deny=/", "true").stdout
    contains(dry, "hidden     /  # --deny=/")
    contains(dry, f"writable   {fx.project}")
    equal(fx.sandbash("--deny=/", "cat", "/etc/passwd").status, 0)
    contains(fx.sandbash("--deny=/", "--deny=/etc", "cat", "/etc/passwd").stderr, "Permission denied")


@test("as lines of a config file, and for reading alone", ("full", "flat"))
def lines(fx):
    lay_out(fx)
    for line in ("deny /", "deny ~", f"deny {fx.dir}", "ask:read+ask:modify+ask:create+ask:delete ~",
                 "deny /**", "deny ~/**", "deny ~/*"):
        fx.config(line + "\n")
        result = fx.sandbash("--consent=deny", "--allow-read=~/data", "sh", "-c",
                             "cat ../sibling/file; cat ../data/file; cat file")
        equal(result.stdout, f"{SECRET}\nmine\n", f"{line}: {result.stderr}")
        contains(result.stderr, "Permission denied", line)
    fx.config("deny ~\n")
    equal(fx.sandbash("--allow-read=~", "cat", "../sibling/file").status, 0,
          "the same pattern, said later")


@test("ssh's public files are no exception to a rule of the user's", ("full", "flat"))
def public_files(fx):
    fx.write(fx.home / ".ssh/known_hosts", "host key\n")
    fx.write(fx.home / ".ssh/id", SECRET)
    equal(fx.sandbash("cat", fx.home / ".ssh/known_hosts").stdout, "host key\n")
    for denied in ("/", fx.home, fx.home / ".ssh"):
        for name in ("known_hosts", "id"):
            result = fx.sandbash(f"--deny={denied}", "cat", fx.home / ".ssh" / name)
            contains(result.stderr, "Permission denied", f"{denied}: {name}")
    shown = fx.sandbash(f"--deny={fx.home}", "--allow-read=~/.ssh/known_hosts", "cat",
                        fx.home / ".ssh/known_hosts")
    equal(shown.stdout, "host key\n", shown.stderr)


@test("a project that is open in part alone can be read as a whole", ("full", "flat"))
def within(fx):
    lay_out(fx)
    fx.write("src/file", "mine, too\n")
    result = fx.sandbash(f"--deny={fx.home}", "--within=src", "--consent=deny", "sh", "-c",
                         "cat file src/file; echo x > src/new; cat ../sibling/file; echo x > beside")
    equal(result.stdout, "mine\nmine, too\n", result.stderr)
    check(fx.exists("src/new") and not fx.exists("beside"), result.stderr)
    contains(result.stderr, "Permission denied")


@test("a home directory in /tmp is hidden with the rest", ("full", "flat"), home_in_tmp=True)
def home_in_tmp(fx):
    lay_out(fx)
    for denied in ("/", fx.home):
        result = fx.sandbash(f"--deny={denied}", f"--allow-read={fx.home / 'data'}", "--consent=deny",
                             "sh", "-c", "cat ../data/file; cat file; echo new > other; cat other; "
                             "cat ../sibling/file")
        equal(result.stdout, f"{SECRET}\nmine\nnew\n", f"{denied}: {result.stderr}")
        check("Permission denied" in result.stderr or "No such file" in result.stderr, result.stderr)


@test("a directory for temporary files in what is hidden, and a file passed as standard input", ("full",))
def odds(fx):
    lay_out(fx)
    place = fx.home / "temporary"
    place.mkdir(mode=0o700)
    for denied in ("/", fx.home):
        result = fx.sandbash(f"--deny={denied}", "sh", "-c", 'echo x > "$TMPDIR/x" && cat "$TMPDIR/x"',
                             env={"TMPDIR": place})
        equal(result.stdout, "x\n", f"{denied}: {result.stderr}")
        with open(fx.home / "sibling/file", encoding="ascii") as opened:
            words = fx.argv(f"--deny={denied}", "cat")
            passed = fx.start(*words, stdin=opened, stdout=-1, text=True).communicate(timeout=PATIENCE)[0]
        equal(passed, SECRET + "\n", "what the user passes is passed")


@test("the project itself, or the command, hidden: said, not run")
def refused(fx):
    lay_out(fx)
    result = fx.sandbash(f"--deny={fx.project}", "true")
    equal(result.status, 125)
    contains(result.stderr, f"is hidden by a rule: --deny={fx.project}")
    result = fx.sandbash(f"--deny={fx.home}", fx.home / "data/program")
    equal(result.status, 126)
    contains(result.stderr, "Permission denied")
    contains(result.stderr, f"sandbash --allow-read={fx.home / 'data/program'} ... shows it")
    equal(fx.sandbash(f"--deny={fx.home}", f"--allow-read={fx.home / 'data/program'}",
                      fx.home / "data/program").status, 0)
    equal(fx.sandbash(f"--deny={fx.home}", f"--allow-read={fx.home / 'data'}",
                      fx.home / "data/program").status, 0)


run_all()
