"""modes.py - P1 modes, P2 what workspace-write is made of, P4 unreadable paths."""

import json
import os

from tap import ALL_VARIANTS, BIN, check, contains, equal, lacks, run_all, test

EXIT_USAGE, EXIT_OWN_FAILURE = 2, 125
MODES = ("danger-full-access", "read-only", "workspace-write")


def mode_of(fx, *flags, **where):
    """The mode a run has, as the command sees it."""
    result = fx.sandbash(*flags, "sh", "-c", "echo $SANDBASH_MODE", **where)
    equal(result.status, 0, result.stderr)
    return result.stdout.strip()


def dry(fx, *flags, **where):
    result = fx.sandbash("--dry-run", "--json", *flags, **where)
    equal(result.status, 0, result.stderr)
    return json.loads(result.stdout)


def can(fx, script, *flags, **where):
    result = fx.sandbash(*flags, "sh", "-c", script, **where)
    check(result.status != EXIT_OWN_FAILURE, result.stderr)
    return result.status == 0


def hash_config(fx, text):
    fx.sandbash("--edit", env={"VISUAL": "true"}, variant="full")
    projects = fx.home / ".config/sandbash/projects"
    name, = os.listdir(projects)
    (projects / name).write_text(text)


# --- P1 -----------------------------------------------------------------------------------


@test("P1 the default mode is workspace-write")
def default_mode(fx):
    equal(mode_of(fx), "workspace-write")


@test("P1 each mode by flag, by config and by environment")
def each_mode(fx):
    for mode in MODES:
        equal(mode_of(fx, f"--mode={mode}"), mode)
        equal(mode_of(fx, "--mode", mode), mode)
        fx.config(f"mode {mode}\n")
        equal(mode_of(fx), mode)
        fx.config("")
    equal(mode_of(fx, env={"SANDBASH_MODE": "read-only"}), "read-only")
    equal(mode_of(fx, env={"SANDBASH_MODE": "workspace-write"}), "workspace-write")
    equal(mode_of(fx, env={"SANDBASH_MODE": ""}), "workspace-write")


@test("P1 read-only: nothing can be changed, the project included", variants=ALL_VARIANTS)
def read_only(fx):
    fx.write("file", "old\n")
    check(can(fx, "echo new > file; touch x"), "workspace-write is broken")
    fx.write("file", "old\n")
    for script in ("echo new > file", "touch y", "rm file", "mkdir d", "mv file g",
                   f"touch {fx.outside}/x", "touch /tmp/sandbash-test-read-only"):
        check(not can(fx, script, "--mode=read-only"), script)
    equal(fx.read("file"), "old\n")
    check(can(fx, "cat file > /dev/null; echo x > /dev/null; ls /usr > /dev/null",
              "--mode=read-only"))


@test("P1 read-only: a private TMPDIR is writable, so that programs work",
      variants=("full", "nested"))
def read_only_tmp(fx):
    script = 'f=$(mktemp) && echo x > "$f" && echo "$f" && cat <<end\nhere\nend'
    result = fx.sandbash("--mode=read-only", "sh", "-c", script)
    equal(result.status, 0, result.stderr)
    file, here = result.stdout.splitlines()
    check(file.startswith("/dev/shm/"), file)
    check(not os.path.exists(file), "it is in the real /dev/shm")
    equal(here, "here")


@test("P1 read-only: an explicit flag still opens its path", variants=ALL_VARIANTS)
def read_only_flag(fx):
    place, other = fx.outside / "a", fx.outside / "b"
    place.mkdir()
    other.mkdir()
    flags = ("--mode=read-only", f"--allow-write={place}")
    check(can(fx, f"touch {place}/x", *flags))
    check(not can(fx, f"touch {other}/x", *flags))
    check(not can(fx, "touch x", *flags))
    check(can(fx, "touch x", "--mode=read-only", "--allow-write=."))


@test("P1 read-only: config paths do not open anything", variants=ALL_VARIANTS)
def read_only_config(fx):
    fx.config(f"{fx.outside}\nmode read-only\n")
    check(not can(fx, f"touch {fx.outside}/x"))


@test("P1 danger-full-access and --disable-sandbox run the command plainly")
def danger(fx):
    script = (f"touch {fx.outside}/x && grep -E '^(NoNewPrivs|Seccomp|CapBnd|CapEff):' "
              "/proc/self/status; readlink /proc/self/ns/mnt")
    control = fx.run("sh", "-c", script).stdout
    for flags in (["--disable-sandbox"], ["--mode=danger-full-access"]):
        result = fx.sandbash(*flags, "sh", "-c", script)
        equal((result.status, result.stdout), (0, control), result.stderr)
        check((fx.outside / "x").exists())
        (fx.outside / "x").unlink()
        equal(mode_of(fx, *flags), "danger-full-access")
    fx.config("mode danger-full-access\n")
    equal(fx.sandbash("sh", "-c", script).stdout, control)


@test("P1 --disable-sandbox works where no sandbox is possible")
def danger_anywhere(fx):
    result = fx.sandbash("--disable-sandbox", "echo", "ran", without="landlock,userns")
    equal((result.status, result.stdout), (0, "ran\n"), result.stderr)


@test("P1 --disable-sandbox keeps secrets readable and descriptors open, as alone")
def danger_plain(fx):
    fx.write(fx.home / ".ssh/id_rsa", "key\n")
    equal(fx.sandbash("--disable-sandbox", "cat", fx.home / ".ssh/id_rsa").stdout, "key\n")
    result = fx.run("bash", "-c",
                    f'exec 7<{fx.outside}; "$1" --disable-sandbox ls /proc/self/fd/7/', "bash", BIN)
    equal(result.status, 0, result.stderr)


@test("P1 the environment can only make a run stricter than the config")
def environment_stricter(fx):
    for config in MODES:
        for wanted in MODES:
            fx.config(f"mode {config}\n")
            order = ("danger-full-access", "workspace-write", "read-only")
            strictest = max(config, wanted, key=order.index)
            equal(mode_of(fx, env={"SANDBASH_MODE": wanted}), strictest, f"{config} and {wanted}")


@test("P1 with no config the environment cannot switch the sandbox off")
def environment_danger(fx):
    result = fx.sandbash("touch", fx.outside / "x", env={"SANDBASH_MODE": "danger-full-access"})
    check(result.status not in (0, EXIT_OWN_FAILURE))
    contains(result.stderr, "sandbash: warning: ")
    contains(result.stderr, "SANDBASH_MODE")
    check(not (fx.outside / "x").exists())


@test("P1 only a flag can loosen")
def flag_loosens(fx):
    fx.config("mode read-only\n")
    equal(mode_of(fx, "--mode=workspace-write"), "workspace-write")
    equal(mode_of(fx, "--mode=workspace-write", env={"SANDBASH_MODE": "read-only"}),
          "workspace-write")
    equal(mode_of(fx, "--disable-sandbox", env={"SANDBASH_MODE": "read-only"}),
          "danger-full-access")


@test("P1 a per-directory mode overrules the global one")
def directory_mode(fx):
    fx.config("mode read-only\n")
    hash_config(fx, "mode workspace-write\n")
    equal(mode_of(fx), "workspace-write")


@test("P1 a mode that does not exist: flag 2, environment and config 125, nothing started")
def bad_modes(fx):
    for value in ("readonly", "READ-ONLY", "none", "0", "workspace-write ", "a\nb\x1b[1m"):
        result = fx.sandbash(f"--mode={value}", "touch", "x")
        equal(result.status, EXIT_USAGE, value)
        check(result.stderr.startswith("sandbash: "), result.stderr)
        contains(result.stderr, "workspace-write")
        result = fx.sandbash("touch", "x", env={"SANDBASH_MODE": value})
        equal(result.status, EXIT_OWN_FAILURE, value)
        contains(result.stderr.splitlines()[0], "SANDBASH_MODE")
        check(len(result.stderr.splitlines()) <= 2, result.stderr)
    check(not fx.exists("x"))


@test("P1 a run inside a read-only run is read-only too")
def nested_mode(fx):
    result = fx.sandbash("--mode=read-only", BIN, "sh", "-c", "echo $SANDBASH_MODE; touch x")
    equal(result.stdout, "read-only\n", result.stderr)
    check(not fx.exists("x"))
    result = fx.sandbash("--mode=read-only", BIN, "--mode=workspace-write", "touch", "x")
    check(result.status != 0 and not fx.exists("x"), "the inner run is free")


# --- P2 -----------------------------------------------------------------------------------


@test("P2 --project adds a whole project, with its own protection", variants=("full", "nested"))
def second_project(fx):
    other = fx.home / "other"
    fx.write(other / ".git/hooks/pre-commit", "")
    check(not can(fx, f"touch {other}/x"))
    check(can(fx, f"touch {other}/x", f"--project={other}"))
    if fx.variant == "full":
        check(not can(fx, f"echo evil > {other}/.git/hooks/pre-commit", f"--project={other}"))


@test("P2 --project is repeatable, relative or with ~, and a directory in the home directory")
def project_rules(fx):
    for name in ("one", "two"):
        (fx.home / name).mkdir()
    check(can(fx, "touch ../one/x ../two/x x", "--project=../one", "--project", "~/two"))
    fx.write(fx.home / "file", "")
    for value in (fx.outside, fx.home, fx.home / "file", fx.home / "missing", "/"):
        result = fx.sandbash(f"--project={value}", "touch", "y")
        equal(result.status, EXIT_OWN_FAILURE, f"{value}: {result.stderr}")
        check(result.stderr.startswith("sandbash: "), result.stderr)
    check(not fx.exists("y"))
    check(can(fx, f"touch {fx.outside}/x", f"--project={fx.outside}", "--anywhere"))


@test("P2 a second project brings its own per-directory rules, for itself only")
def project_config(fx):
    other = fx.home / "other"
    for name in ("vendor", "x"):
        (other / name).mkdir(parents=True)
    equal(fx.sandbash("--add-path", fx.outside, cwd=other).status, 0)
    check(not can(fx, f"touch {fx.outside}/x", f"--project={other}"), "its rules reach outside it")
    projects = fx.home / ".config/sandbash/projects"
    name, = os.listdir(projects)
    (projects / name).write_text("read vendor\n")
    check(not can(fx, f"touch {other}/vendor/x", f"--project={other}"))
    check(can(fx, f"touch {other}/x/x", f"--project={other}"))


@test("P2 network on and off, by flag and by config")
def network(fx):
    equal(dry(fx)["network"], True)
    equal(dry(fx, "--network=off")["network"], False)
    fx.config("network off\n")
    equal(dry(fx)["network"], False)
    equal(dry(fx, "--network=on")["network"], True)
    hash_config(fx, "network on\n")
    equal(dry(fx)["network"], True)


@test("P2 with the network off there is still a loopback of its own")
def loopback(fx):
    script = ("import socket\ns = socket.create_server(('127.0.0.1', 0))\n"
              "c = socket.create_connection(s.getsockname())\na, _ = s.accept()\n"
              "c.sendall(b'hi')\nprint(a.recv(2).decode())\n")
    result = fx.sandbash("--network=off", "python3", "-c", script)
    equal((result.status, result.stdout), (0, "hi\n"), result.stderr)


@test("P2 a wrong word for the network is refused")
def network_words(fx):
    for value in ("no", "ON", "0", "on "):
        result = fx.sandbash(f"--network={value}", "touch", "x")
        equal(result.status, EXIT_USAGE, value)
        contains(result.stderr, f"'{value}'")
    check(not fx.exists("x"))


@test("P2 /tmp and TMPDIR are writable by default, and mktemp and compilers' temp files work",
      variants=ALL_VARIANTS)
def temp_default(fx):
    tmpdir = fx.dir / "my tmp"
    tmpdir.mkdir()
    for env in ({}, {"TMPDIR": tmpdir}, {"TMPDIR": fx.dir / "gone"}, {"TMPDIR": "relative"},
                {"TMPDIR": ""}):
        script = ('f=$(mktemp) && echo x > "$f" && d=$(mktemp -d) && touch "$d/y" && '
                  'rm -r "$f" "$d" && : > /tmp/x.$$ && rm /tmp/x.$$')
        result = fx.sandbash("sh", "-c", script, env=env)
        equal(result.status, 0, f"{env}: {result.stderr}")


@test("P2 the temp directory is private: nothing of it is seen outside, nor the other way round")
def temp_private(fx):
    name = f"/tmp/sandbash-test-{os.getpid()}"
    tmpdir = fx.dir / "tmpdir"
    tmpdir.mkdir()
    try:
        with open(name, "w") as stream:
            stream.write("outside\n")
        result = fx.sandbash("sh", "-c",
                             f"cat {name}; echo x > {name}.inside; echo x > $TMPDIR/inside; "
                             "echo x > /dev/shm/sandbash-inside",
                             env={"TMPDIR": tmpdir})
        equal((result.status, result.stdout), (0, ""), result.stderr)
        check(not os.path.exists(name + ".inside"), "it is in the real /tmp")
        check(not (tmpdir / "inside").exists(), "it is in the real TMPDIR")
        check(not os.path.exists("/dev/shm/sandbash-inside"), "it is in the real /dev/shm")
    finally:
        os.unlink(name)


@test("P2 --shared-tmp is the real one", variants=("full", "flat"))
def temp_shared(fx):
    name = f"/tmp/sandbash-test-{os.getpid()}-shared"
    try:
        check(can(fx, f"echo inside > {name}", "--shared-tmp"))
        with open(name) as stream:
            equal(stream.read(), "inside\n")
    finally:
        if os.path.exists(name):
            os.unlink(name)
    check(not can(fx, f"touch {fx.outside}/x", "--shared-tmp"))


@test("P2 an explicit rule for /tmp means the real one")
def temp_rule(fx):
    name = f"/tmp/sandbash-test-{os.getpid()}-rule"
    try:
        check(can(fx, f"echo inside > {name}", "--allow-write=/tmp"))
        check(os.path.exists(name))
    finally:
        if os.path.exists(name):
            os.unlink(name)


@test("P2 --no-tmp: /tmp is not writable, TMPDIR still names a place that is",
      variants=("full", "nested"))
def temp_none(fx):
    check(not can(fx, "touch /tmp/x.$$", "--no-tmp"))
    check(can(fx, "touch x", "--no-tmp"))
    result = fx.sandbash("--no-tmp", "mktemp")
    equal(result.status, 0, f"TMPDIR is always valid and writable: {result.stderr}")
    lacks(result.stdout, "/tmp/tmp.")


@test("P2 tmp by config: private, shared, off; a flag overrules")
def temp_config(fx):
    for word, tmp in (("private", "private"), ("shared", "shared"), ("off", "off")):
        fx.config(f"tmp {word}\n")
        found = json.loads(fx.sandbash("--print-policy", "--json").stdout)
        equal(found["tmp"], tmp)
    found = json.loads(fx.sandbash("--print-policy", "--json", "--shared-tmp").stdout)
    equal(found["tmp"], "shared")


@test("P2 a project in /tmp is there, writable, beside a private rest", home_in_tmp=True)
def project_in_tmp(fx):
    check(can(fx, "touch x"))
    check(fx.exists("x"))
    check(not can(fx, f"touch {fx.outside}/x") or not (fx.outside / "x").exists())
    check(can(fx, "touch /tmp/x.$$"))


@test("P2 read-only subpaths inside a writable root", variants=("full",))
def read_only_subpath(fx):
    fx.write("vendor/lib/file", "old\n")
    fx.write("src/file", "old\n")
    for flags in (["--allow-read=vendor"], ["--rule=read vendor"], []):
        if not flags:
            fx.config("read vendor\n")
        for script in ("echo new > vendor/lib/file", "touch vendor/x", "rm -rf vendor/lib",
                       "mv vendor v", "rm vendor/lib/file"):
            check(not can(fx, script, *flags), f"{flags}: {script}")
        equal(fx.read("vendor/lib/file"), "old\n")
        check(can(fx, "cat vendor/lib/file && echo new > src/file", *flags))


GUARDED = (".git/hooks/pre-commit", ".git/config", ".bashrc", ".profile", ".zshrc", ".envrc",
           ".vscode/tasks.json", ".idea/workspace.xml", ".devcontainer/devcontainer.json",
           ".claude/settings.json", ".mcp.json", ".cursor/mcp.json", ".vimrc", ".npmrc",
           ".gitconfig")


@test("P2 protected files that exist cannot be changed or replaced")
def guarded(fx):
    for name in GUARDED:
        fx.write(name, "safe\n")
    for name in GUARDED:
        for script in ('echo evil > "$1"', 'echo evil >> "$1"', 'echo evil > e; mv -f e "$1"',
                       'cp /etc/passwd "$1"', 'truncate -s 1 "$1"'):
            result = fx.sandbash("sh", "-c", script, "sh", name)
            check(result.status != EXIT_OWN_FAILURE, result.stderr)
            equal(fx.read(name), "safe\n", f"{name}: {script}")
        equal(fx.sandbash("cat", name).stdout, "safe\n", f"{name} is not readable")
    # the control and the neighbours
    for name in GUARDED:
        check(fx.run("sh", "-c", 'echo ok > "$1"', "sh", name).status == 0)
    check(can(fx,
              "echo x > .git/description && echo x > .editorconfig && echo x > bashrc && mkdir .github"))


@test("P2 git add, commit, branch and stash work in a protected repository")
def git_works(fx):
    fx.git_project()
    script = """set -e
        echo more >> README; git add .; git commit -qm second; git branch other
        git checkout -q other
        echo even >> README; git stash -q; git stash pop -q; git commit -qam third
        git checkout -q main; git merge -q other; git log --oneline | wc -l; git gc -q
        git status --short"""
    result = fx.sandbash("sh", "-c", script)
    equal((result.status, result.stdout.strip()), (0, "3"), result.stderr)
    equal(fx.run("git", "fsck", "--strict").status, 0)


@test("P2 an explicit rule opens a protected file")
def guarded_opened(fx):
    fx.write(".vscode/tasks.json", "safe\n")
    check(not can(fx, "echo x > .vscode/tasks.json"))
    check(can(fx, "echo x > .vscode/tasks.json", "--allow-write=.vscode"))


@test("P2 protection leaves nothing behind on the host")
def no_ghosts(fx):
    before = fx.snapshot()
    equal(fx.sandbash("true").status, 0)
    fx.git_project()
    before = fx.snapshot()
    equal(fx.sandbash("true").status, 0)
    equal(fx.snapshot(), before)


# --- P4 -----------------------------------------------------------------------------------


def denied(fx, path, *flags, **where):
    result = fx.sandbash(*flags, "cat", path, **where)
    check(result.status in (0, 1), result.stderr)
    if result.status == 1:
        contains(result.stderr, "Permission denied")
    return result.status == 1


@test("P4 --deny hides a file, a directory, inside and outside the project", variants=ALL_VARIANTS)
def deny_flag(fx):
    for path in (fx.project / ".env", fx.project / "secrets/key", fx.outside / "file",
                 fx.home / "notes/x", fx.project / "open"):
        fx.write(path, "text\n")
    flags = ("--deny=.env", "--deny=secrets", f"--deny={fx.outside}/file", "--deny=~/notes")
    for path in (".env", "secrets/key", fx.outside / "file", fx.home / "notes/x"):
        check(not denied(fx, path), f"{path} is hidden without a rule")
        check(denied(fx, path, *flags), f"{path} is readable")
    check(not denied(fx, "open", *flags))
    check(can(fx, "ls > /dev/null", *flags))


@test("P4 a denied path cannot be changed, replaced or moved either")
def deny_changes(fx):
    fx.write(".env", "text\n")
    fx.write("secrets/key", "text\n")
    flags = ("--deny=.env", "--deny=secrets")
    for script in ("echo x > .env", "rm -f .env", "mv .env e", "mv secrets s", "rm -rf secrets",
                   "touch secrets/new", "cp .env x", "ln .env hard"):
        result = fx.sandbash(*flags, "sh", "-c", script)
        check(result.status not in (0, EXIT_OWN_FAILURE), f"{script}: {result.stderr}")
    equal((fx.read(".env"), fx.read("secrets/key")), ("text\n", "text\n"))
    equal(sorted(os.listdir(fx.project)), [".env", "secrets"])


@test("P4 deny by config: global, per-directory, with a comment", variants=ALL_VARIANTS)
def deny_config(fx):
    fx.write(".env", "text\n")
    fx.write(fx.home / "diary", "text\n")
    fx.config("deny .env   # keys\ndeny ~/diary\n")
    check(denied(fx, ".env") and denied(fx, fx.home / "diary"))
    fx.config("")
    hash_config(fx, "deny .env\n")
    check(denied(fx, ".env") and not denied(fx, fx.home / "diary"))


@test("P4 through a link, '..' or another spelling it stays hidden", variants=ALL_VARIANTS)
def deny_spellings(fx):
    fx.write("secret", "text\n")
    (fx.project / "sub").mkdir()
    fx.path("link").symlink_to("secret")
    fx.path("dirlink").symlink_to(fx.project)
    for path in ("secret", "./secret", "sub/../secret", "link", "dirlink/secret",
                 "/proc/self/cwd/secret", f"/proc/self/root{fx.project}/secret"):
        check(not denied(fx, path), f"control: {path}")
        check(denied(fx, path, "--deny=secret"), path)
        check(denied(fx, path, "--deny=link"), f"{path}, denied by a link to it")


@test("P4 a narrower rule reopens a part", variants=ALL_VARIANTS)
def deny_reopened(fx):
    fx.write(fx.home / "private/open/file", "text\n")
    fx.write(fx.home / "private/shut", "text\n")
    flags = ("--deny=~/private", "--allow-read=~/private/open")
    check(denied(fx, fx.home / "private/shut", *flags))
    check(not denied(fx, fx.home / "private/open/file", *flags))
    check(not can(fx, "touch ~/private/open/x", *flags))


@test("P4 a credential store can be opened on purpose", variants=("full", "flat"))
def credentials_opened(fx):
    fx.write(fx.home / ".aws/credentials", "key\n")
    fx.write(fx.home / ".ssh/id_rsa", "key\n")
    check(denied(fx, fx.home / ".aws/credentials"))
    check(not denied(fx, fx.home / ".aws/credentials", "--allow-read=~/.aws"))
    check(denied(fx, fx.home / ".ssh/id_rsa", "--allow-read=~/.aws"), "its neighbour was opened")


@test("P4 wildcards hide what exists: deny **/.env, *.pem", variants=("full", "flat"))
def deny_globs(fx):
    for name in (".env", "a/.env", "a/b/c/.env", "key.pem", "a/key.pem", "a/.envrc2", "pem"):
        fx.write(name, "text\n")
    flags = ("--deny=**/.env", "--deny=*.pem")
    for name, hidden in ((".env", True), ("a/.env", True), ("a/b/c/.env", True), ("key.pem", True),
                         ("a/key.pem", False), ("a/.envrc2", False), ("pem", False)):
        equal(denied(fx, name, *flags), hidden, name)


run_all()
