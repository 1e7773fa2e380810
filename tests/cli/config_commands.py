"""config_commands.py - --add-path, --remove-path, --edit, --list-paths and --global (S10, S14)."""

import ctypes
import fcntl
import hashlib
import json
import os
import resource
import signal
import stat
import subprocess

from own_config import EXIT_OWN_FAILURE, global_file, own_file
from tap import BIN, PATIENCE, check, contains, equal, lacks, run_all, skip, test, usage_error


def litter(fx):
    """What lies in sandbash's config directory beside the two kinds of config files and the words."""
    found = []
    for directory, _, files in os.walk(fx.home / ".config"):
        for name in files:
            if name not in ("config", "word") and not (len(name) == 16 and directory.endswith("/projects")):
                found.append(os.path.join(directory, name))
    return found


# --- --add-path ---------------------------------------------------------------------------


@test("S10 --add-path writes the directory's file, says what it did and names the file")
def add_path(fx):
    result = fx.sandbash("--add-path", fx.outside)
    equal((result.status, result.stderr), (0, ""))
    equal(result.stdout, f"Added '{fx.outside}' to {own_file(fx)}\n")
    equal(own_file(fx).read_text(), f"{fx.outside}\n")
    equal(fx.sandbash("touch", fx.outside / "x").status, 0)
    equal(litter(fx), [])


@test("S10 S14 --add-path --global writes the file of all directories, in any order of options")
def add_path_global(fx):
    for words in (("--add-path", fx.outside, "--global"), ("--global", f"--add-path={fx.home}")):
        result = fx.sandbash(*words)
        equal(result.status, 0, result.stderr)
        contains(result.stdout, str(global_file(fx)))
    equal(global_file(fx).read_text(), f"{fx.outside}\n{fx.home}\n")
    check(not own_file(fx).exists())
    other = fx.home / "other"
    other.mkdir()
    equal(fx.sandbash("touch", fx.outside / "x", cwd=other).status, 0)


@test("S10 a new file and its directories are the user's own")
def private_files(fx):
    fx.sandbash("--add-path", fx.outside)
    equal(stat.S_IMODE(own_file(fx).stat().st_mode), 0o600)
    for directory in (own_file(fx).parent, own_file(fx).parent.parent):
        equal(stat.S_IMODE(directory.stat().st_mode), 0o700)


@test("S10 an odd umask does not make the file or its directories unusable")
def odd_umask(fx):
    for path in (fx.outside, fx.home):
        result = fx.sandbash("--add-path", path, preexec_fn=lambda: os.umask(0o177))
        equal((result.status, result.stderr), (0, ""))
    equal(own_file(fx).read_text(), f"{fx.outside}\n{fx.home}\n")


@test("S10 every spelling is stored as the same absolute path, once")
def add_spellings(fx):
    (fx.home / "x").mkdir()
    for text in ("~/x", "../x", f"{fx.home}/x/", f"{fx.home}/./x", "../project/../x//"):
        result = fx.sandbash("--add-path", text)
        equal(result.status, 0, result.stderr)
        contains(result.stdout, f"'{fx.home}/x'")
        contains(result.stdout, str(own_file(fx)))
    equal(own_file(fx).read_text(), f"{fx.home}/x\n")


@test("S10 --add-path of a path that is not there yet warns, and stores it")
def add_missing(fx):
    gone = fx.outside / "gone"
    result = fx.sandbash("--add-path", gone)
    equal(result.status, 0)
    contains(result.stderr, "sandbash: warning: ")
    contains(result.stderr, f"'{gone}' is not there yet; only static runs skip it until it is")
    equal(own_file(fx).read_text(), f"{gone}\n")
    equal(fx.sandbash("sh", "-c", f"echo x > {gone}").status, 0)


ODD_NAMES = ("a b", "new\nline", "\udcff\udc80", "#hash", "a #b", 'qu"ote', "star*", "[set]", "q?",
             "back\\slash", " lead", "trail ", "read x", "\x1b[31m", "deny", "~", "\u202eevil")


@test("S10 a path with wildcards in it is that path, before the file is there and after")
def wildcards_are_names(fx):
    for name, other in (("a*b", "aXb"), ("q?", "qX"), ("[set]", "s"), ("back\\d", "backd")):
        path, neighbour = fx.outside / name, fx.outside / other
        added = fx.sandbash("--add-path", path)
        equal((added.status, "--edit is for rules with wildcards" in added.stderr), (0, "\\" not in name))
        for there in (False, True):
            equal(fx.run("touch", neighbour).status, 0, "the control")
            neighbour.unlink()
            check(fx.sandbash("--consent=deny", "--quiet", "touch", neighbour).status != 0, f"{name} is not {other}")
            equal((fx.sandbash("--consent=deny", "sh", "-c", 'echo x >"$1"', "-", path).status, neighbour.exists()), (0, False), name)
        contains(fx.sandbash("--add-path", path).stdout, "Nothing to do")
        equal(fx.sandbash("--remove-path", path).status, 0, f"{name} is there")
        check(fx.sandbash("--consent=deny", "--quiet", "sh", "-c", 'echo x >"$1"', "-", path).status != 0, name)
        check(fx.sandbash("--remove-path", path).status != 0, "it is gone")
        fx.sandbash("--add-path", path)
        path.unlink()
        equal(fx.sandbash("--remove-path", path).status, 0, f"{name} is not there")
    fx.config(f"write {fx.outside}/*.log\nwrite {fx.outside}/x\\*y\n")
    for pattern in (f"{fx.outside}/*.log", f"{fx.outside}/x\\*y"):
        equal(fx.sandbash("--global", "--remove-path", pattern).status, 0, "a rule with wildcards, as it reads")
    equal(fx.sandbash("--list-paths").stdout.count(str(fx.outside)), 0)


@test("S10 odd names come back as themselves: spaces, newlines, invalid UTF-8, globs, quotes")
def add_odd(fx):
    for name in ODD_NAMES:
        path = fx.outside / name
        path.mkdir()
        result = fx.sandbash("--add-path", path)
        equal((result.status, result.stderr), (0, ""), repr(name))
        equal(len(result.stdout.splitlines()), 1, repr(name))
        check(all(c.isprintable() for c in result.stdout.rstrip("\n")), repr(result.stdout))
        result = fx.sandbash("touch", path / "x")
        equal((result.status, result.stderr), (0, ""), repr(name))
    check(fx.sandbash("touch", fx.outside / "x").status != 0, "they opened more than themselves")
    for name in ODD_NAMES:
        result = fx.sandbash("--remove-path", fx.outside / name)
        equal((result.status, result.stderr), (0, ""), repr(name))
    equal(own_file(fx).read_bytes(), b"")


@test("S10 --add-path works from any directory: home, outside it, the root")
def add_from_anywhere(fx):
    for cwd in (fx.home, fx.outside, fx.dir, "/usr", "/"):
        result = fx.sandbash("--add-path", fx.outside, cwd=cwd)
        equal((result.status, result.stderr), (0, ""), str(cwd))
        equal(own_file(fx, cwd).read_text(), f"{fx.outside}\n", str(cwd))
        result = fx.sandbash("--list-paths", cwd=cwd)
        equal((result.status, result.stderr), (0, ""), str(cwd))
        contains(result.stdout, f"Current directory: {cwd} (always writable)\n")
        equal(fx.sandbash("--remove-path", fx.outside, cwd=cwd).status, 0, str(cwd))
        equal(fx.sandbash("--edit", cwd=cwd, env={"VISUAL": "true"}).status, 0, str(cwd))


KEPT = """# my rules\r-less, with\ttabs

  /usr   # indented, with a comment
read "/a b"
deny ~/secret
\t
include other
# no newline at the end"""


@test("S10 comments, order and every byte of other lines are kept")
def bytes_kept(fx):
    text = KEPT.replace("\r", "").encode() + b" \xff\xfe \xe2\x80\xae"
    own_file(fx).parent.mkdir(parents=True)
    own_file(fx).write_bytes(text)
    equal(fx.sandbash("--add-path", fx.outside).status, 0)
    equal(own_file(fx).read_bytes(), text + b"\n" + os.fsencode(fx.outside) + b"\n")
    equal(fx.sandbash("--add-path", fx.home).status, 0)
    equal(fx.sandbash("--remove-path", fx.outside).status, 0)
    equal(own_file(fx).read_bytes(), text + b"\n" + os.fsencode(fx.home) + b"\n")
    equal(fx.sandbash("--remove-path", "/usr").status, 0)
    equal(own_file(fx).read_bytes(), text.replace(b"  /usr   # indented, with a comment\n", b"")
          + b"\n" + os.fsencode(fx.home) + b"\n")


@test("S10 the mode of an existing file is kept, and a link stays a link")
def mode_and_link_kept(fx):
    real = fx.write(fx.home / "dotfiles/rules", "# mine\n", mode=0o640)
    global_file(fx).parent.mkdir(parents=True)
    global_file(fx).symlink_to(real)
    equal(fx.sandbash("--add-path", fx.outside, "--global").status, 0)
    check(global_file(fx).is_symlink(), "the link was replaced")
    equal(real.read_text(), f"# mine\n{fx.outside}\n")
    equal(stat.S_IMODE(real.stat().st_mode), 0o640)
    equal(os.listdir(real.parent), ["rules"])


@test("S10 a path that has another rule already is not silently overruled")
def add_conflict(fx):
    own_file(fx).parent.mkdir(parents=True)
    own_file(fx).write_text(f"deny {fx.outside}\n")
    result = fx.sandbash("--add-path", fx.outside)
    equal(result.status, EXIT_OWN_FAILURE)
    contains(result.stderr, f"'{fx.outside}'")
    equal(own_file(fx).read_text(), f"deny {fx.outside}\n")


# --- --remove-path ------------------------------------------------------------------------


@test("S10 --remove-path takes the line out, says so and names the file")
def remove_path(fx):
    fx.sandbash("--add-path", fx.outside)
    result = fx.sandbash("--remove-path", f"{fx.outside}/")
    equal((result.status, result.stderr), (0, ""))
    equal(result.stdout, f"Removed '{fx.outside}' from {own_file(fx)}\n")
    equal(own_file(fx).read_text(), "")
    check(fx.sandbash("touch", fx.outside / "x").status != 0)


@test("S10 --remove-path finds every spelling in the file")
def remove_spellings(fx):
    (fx.home / "x").mkdir()
    fx.config("~/x\n")
    for line in ("~/x", f"{fx.home}/x/", "../x   # comment", f'"{fx.home}/x"',
                 f"write {fx.home}/x"):
        own_file(fx).parent.mkdir(parents=True, exist_ok=True)
        own_file(fx).write_text(f"# keep\n{line}\n/usr\n")
        result = fx.sandbash("--remove-path", "~/x/")
        equal(result.status, 0, f"{line}: {result.stderr}")
        equal(own_file(fx).read_text(), "# keep\n/usr\n", line)
    equal(global_file(fx).read_text(), "~/x\n", "the global file was touched")


@test("S10 --remove-path works for a path that is gone")
def remove_gone(fx):
    gone = fx.outside / "gone"
    gone.mkdir()
    fx.sandbash("--add-path", gone)
    gone.rmdir()
    equal(fx.sandbash("--remove-path", gone).status, 0)
    equal(own_file(fx).read_text(), "")


@test("S10 --remove-path of what is not there says so, fails and changes nothing")
def remove_missing(fx):
    for text in (None, "# only a comment\n/usr\n"):
        if text:
            own_file(fx).parent.mkdir(parents=True)
            own_file(fx).write_text(text)
        before = fx.snapshot()
        result = fx.sandbash("--remove-path", fx.outside)
        equal((result.status, result.stdout), (EXIT_OWN_FAILURE, ""))
        check(result.stderr.startswith(f"sandbash: '{fx.outside}' is not in "), result.stderr)
        contains(result.stderr, str(own_file(fx)))
        equal(fx.snapshot(), before)


@test("S10 S14 --remove-path --global touches the global file only")
def remove_global(fx):
    fx.config(f"{fx.outside}\n")
    own_file(fx).parent.mkdir()
    own_file(fx).write_text(f"{fx.outside}\n")
    result = fx.sandbash("--remove-path", fx.outside, "--global")
    equal((result.status, result.stdout), (0, f"Removed '{fx.outside}' from {global_file(fx)}\n"))
    equal(global_file(fx).read_text(), "")
    equal(own_file(fx).read_text(), f"{fx.outside}\n")


# --- --edit -------------------------------------------------------------------------------


def editor(fx, name, body):
    """A program in fx.dir/bin that plays an editor; it logs its name and arguments."""
    return fx.write(fx.dir / "bin" / name,
                    f"#!/bin/sh\nprintf '{name}%s\\n' \" $*\" >> '{fx.dir}/log'\n{body}\n",
                    mode=0o755)


@test("S10 --edit uses VISUAL, then EDITOR, then vi")
def edit_order(fx):
    for name in ("visual", "editor", "vi"):
        editor(fx, name, "exit 0")
    path = f"{fx.dir}/bin:/usr/bin:/bin"
    for env in ({"VISUAL": "visual", "EDITOR": "editor"}, {"EDITOR": "editor"},
                {"VISUAL": "", "EDITOR": "editor"}, {}, {"VISUAL": "", "EDITOR": ""}):
        result = fx.sandbash("--edit", env={**env, "PATH": path})
        equal(result.status, 0, result.stderr)
    file = own_file(fx)
    equal((fx.dir / "log").read_text(),
          f"visual {file}\neditor {file}\neditor {file}\nvi {file}\nvi {file}\n")


@test("S10 --edit makes the directory and an empty file first")
def edit_creates(fx):
    editor(fx, "look", f"stat -c '%F %s' \"$1\" > '{fx.dir}/seen'")
    result = fx.sandbash("--edit", env={"VISUAL": f"{fx.dir}/bin/look"})
    equal(result.status, 0, result.stderr)
    equal((fx.dir / "seen").read_text(), "regular empty file 0\n")
    equal(own_file(fx).read_bytes(), b"")


@test("S10 S14 --edit --global opens the global file and keeps what is in it")
def edit_global(fx):
    fx.config("# here\n")
    editor(fx, "append", f"echo '{fx.outside}' >> \"$1\"")
    result = fx.sandbash("--edit", "--global", env={"EDITOR": f"{fx.dir}/bin/append"})
    equal(result.status, 0, result.stderr)
    equal(global_file(fx).read_text(), f"# here\n{fx.outside}\n")
    equal(fx.sandbash("touch", fx.outside / "x").status, 0)


@test("S10 an editor may have options, and a home with a space in it")
def edit_options(fx):
    home = fx.dir / "home of $USER 'x'"
    (home / "project").mkdir(parents=True)
    editor(fx, "ed", "test -f \"$3\" && echo '# edited' > \"$3\"")
    result = fx.sandbash("--edit", cwd=home / "project",
                         env={"HOME": home, "VISUAL": f"{fx.dir}/bin/ed --wait -n"})
    equal(result.status, 0, result.stderr)
    name = hashlib.sha256(os.fsencode(home / "project")).hexdigest()[:16]
    equal((home / ".config/sandbash/projects" / name).read_text(), "# edited\n")


@test("S10 the editor runs outside any sandbox, on our own terminal and streams")
def edit_unconfined(fx):
    editor(fx, "free",
           f"touch '{fx.outside}/x'; grep -E '^(Seccomp|NoNewPrivs):' /proc/self/status; "
           "read line; echo \"got $line\"")
    result = fx.sandbash("--edit", env={"VISUAL": f"{fx.dir}/bin/free"}, input="typed\n")
    equal(result.status, 0, result.stderr)
    check((fx.outside / "x").exists())
    control = fx.run("grep", "-E", "^(Seccomp|NoNewPrivs):", "/proc/self/status")
    equal(result.stdout, control.stdout + "got typed\n")


@test("S10 --edit fails when the editor does, and when it cannot be found")
def edit_fails(fx):
    editor(fx, "fail", "exit 3")
    for value in (f"{fx.dir}/bin/fail", "/nonexistent/editor"):
        result = fx.sandbash("--edit", env={"VISUAL": value})
        check(result.status != 0, value)
        contains(result.stderr, "sandbash: ")
        contains(result.stderr, value)


@test("S10 --edit says at once what is wrong with the edited file")
def edit_checks(fx):
    editor(fx, "break", "printf 'fine\\nfrob it now\\n' > \"$1\"")
    result = fx.sandbash("--edit", env={"VISUAL": f"{fx.dir}/bin/break"})
    check(result.status != 0)
    contains(result.stderr, f"sandbash: '{own_file(fx)}' line 2: ")
    # it can be mended the same way
    editor(fx, "mend", "printf '/usr\\n' > \"$1\"")
    equal(fx.sandbash("--edit", env={"VISUAL": f"{fx.dir}/bin/mend"}).status, 0)


# --- --list-paths -------------------------------------------------------------------------


@test("S10 --list-paths with nothing configured")
def list_nothing(fx):
    before = fx.snapshot()
    result = fx.sandbash("--list-paths")
    equal(result, (0, f"""Current directory: {fx.project} (always writable)

Global paths (from {global_file(fx)}):
  (none)

Per-directory paths (from {own_file(fx)}):
  (none)

Command-line paths:
  (none)
""", ""))
    equal(fx.snapshot(), before)


@test("S10 --list-paths groups by source, in the order of the files")
def list_paths(fx):
    fx.config(f"{fx.outside}\n# comment\n/usr\nread vendor\n")
    own_file(fx).parent.mkdir()
    own_file(fx).write_text("deny ~/x\n")
    result = fx.sandbash("--list-paths", "--allow-write=/var", "--deny=.env")
    equal(result, (0, f"""Current directory: {fx.project} (always writable)

Global paths (from {global_file(fx)}):
  {fx.outside}
  /usr
  read {fx.project}/vendor

Per-directory paths (from {own_file(fx)}):
  deny {fx.home}/x

Command-line paths:
  /var
  deny {fx.project}/.env
""", ""))


@test("S10 --list-paths --json holds the same facts")
def list_json(fx):
    fx.config(f"{fx.outside}\nread vendor\n")
    result = fx.sandbash("--list-paths", "--json", "--allow-write=/var")
    equal((result.status, result.stderr), (0, ""))
    found = json.loads(result.stdout)
    equal(found["current_directory"], str(fx.project))
    rules = [{"access": "write", "path": str(fx.outside)},
             {"access": "read", "path": f"{fx.project}/vendor"}]
    equal(found["global"], {"file": str(global_file(fx)), "rules": rules})
    equal(found["per_directory"], {"file": str(own_file(fx)), "rules": []})
    equal(found["command_line"]["rules"], [{"access": "write", "path": "/var"}])


# --- what goes together -------------------------------------------------------------------


@test("S10 a command that holds the lock delays, but does not stop, for ever")
def lock_held(fx):
    (fx.home / ".config/sandbash/projects").mkdir(parents=True)
    fd = os.open(fx.home / ".config/sandbash/projects", os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_SH)
    result = fx.sandbash("--add-path", fx.project / "held")
    equal(result.status, EXIT_OWN_FAILURE, result.stderr)
    contains(result.stderr, "cannot lock")
    check(not own_file(fx).exists(), "something was written")
    os.close(fd)
    equal(fx.sandbash("--add-path", fx.project / "held").status, 0)


@test("S10 none of them can be combined with a command")
def no_command(fx):
    before = fx.snapshot()
    for option in (("--add-path", fx.outside), ("--remove-path", fx.outside), ("--edit",),
                   ("--list-paths",)):
        for command in (("touch", "x"), ("--", "touch", "x"), ("-c", "touch x")):
            result = fx.sandbash(*option, *command, env={"VISUAL": "true"})
            usage_error(result, option[0], "command")
    equal(fx.snapshot(), before)


@test("S10 two of them, or one twice, is a usage mistake")
def no_two(fx):
    before = fx.snapshot()
    for words in (("--add-path", "/usr", "--remove-path", "/usr"), ("--edit", "--add-path=/usr"),
                  ("--list-paths", "--edit"), ("--add-path=/usr", "--add-path=/var"),
                  ("--add-path", "/usr", "--dry-run")):
        usage_error(fx.sandbash(*words, env={"VISUAL": "true"}))
    equal(fx.snapshot(), before)


@test("S10 S14 --global needs one of --add-path, --remove-path, --edit")
def global_alone(fx):
    for words in (("--global",), ("--global", "touch", "x"), ("--global", "--status")):
        usage_error(fx.sandbash(*words), "--global")
    check(not fx.exists("x"))


@test("S10 --add-path and --remove-path need a path")
def need_path(fx):
    before = fx.snapshot()
    for words in (("--add-path",), ("--add-path=",), ("--remove-path",), ("--remove-path", "")):
        usage_error(fx.sandbash(*words), words[0].rstrip("="))
    usage_error(fx.sandbash("--edit=x"), "--edit")
    equal(fx.snapshot(), before)


@test("S10 they never enter a sandbox: they work where none is possible")
def no_sandbox_needed(fx):
    for words in (("--add-path", fx.outside), ("--list-paths",), ("--remove-path", fx.outside),
                  ("--edit",)):
        result = fx.sandbash(*words, without="landlock,userns", env={"VISUAL": "true"})
        equal((result.status, result.stderr), (0, ""), str(words))


@test("S10 the mode plays no part: they work in read-only mode too")
def any_mode(fx):
    result = fx.sandbash("--add-path", fx.outside, env={"SANDBASH_MODE": "read-only"})
    equal(result.status, 0, result.stderr)


# --- nothing is lost ----------------------------------------------------------------------


def at_once(fx, commands):
    """All of them succeed.  One waits five seconds for the others, each of whom syncs a disk that may be busy; then it
    says so and has done nothing: that one comes once more."""
    running = [(words, fx.start(BIN, *words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)) for words in commands]
    for words, process in running:
        _, err = process.communicate(timeout=PATIENCE)
        if process.returncode == 125 and b"another program holds it" in err:
            again = fx.sandbash(*words)
            equal((again.status, again.stderr), (0, ""))
        else:
            equal((process.returncode, err), (0, b""))


@test("S10 twenty --add-path at once lose nothing")
def concurrent_adds(fx):
    places = [fx.outside / str(i) for i in range(20)]
    for place in places:
        place.mkdir()
    at_once(fx, [("--add-path", place) for place in places])
    equal(sorted(own_file(fx).read_text().splitlines()), sorted(map(str, places)))
    equal(litter(fx), [])


@test("S10 adding and removing at once: each does its own work")
def concurrent_mix(fx):
    places = [fx.outside / str(i) for i in range(16)]
    for place in places:
        place.mkdir()
    fx.config("".join(f"{place}\n" for place in places[:8]) + "# end\n")
    at_once(fx, [("--remove-path" if i < 8 else "--add-path", place, "--global") for i, place in enumerate(places)])
    lines = global_file(fx).read_text().splitlines()
    equal(lines[0], "# end")
    equal(sorted(lines[1:]), sorted(map(str, places[8:])))
    equal(litter(fx), [])


def small_files():
    """What a full disk looks like to everybody: no file can grow past 16 bytes (EFBIG)."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))


@test("S10 a write that fails leaves the old file and no litter")
def write_fails(fx):
    old = f"# old rules\n{fx.home}\n"
    own_file(fx).parent.mkdir(parents=True)
    own_file(fx).write_text(old)
    for words in (("--add-path", fx.outside), ("--add-path", fx.outside, "--global")):
        result = fx.sandbash(*words, preexec_fn=small_files)
        equal((result.status, result.stdout), (EXIT_OWN_FAILURE, ""))
        check(result.stderr.startswith("sandbash: "), result.stderr)
        contains(result.stderr, "File too large")
        equal(litter(fx), [])
    equal(own_file(fx).read_text(), old)
    check(not global_file(fx).exists())
    own_file(fx).write_text(old + "/usr\n")
    result = fx.sandbash("--remove-path", "/usr", preexec_fn=small_files)
    equal(result.status, EXIT_OWN_FAILURE)
    equal(own_file(fx).read_text(), old + "/usr\n")
    equal(litter(fx), [])


def not_permitted(fx):
    fx.config("# old\n")
    global_file(fx).parent.chmod(0o500)
    result = fx.sandbash("--add-path", fx.outside, "--global")
    equal((result.status, result.stdout), (EXIT_OWN_FAILURE, ""))
    check(result.stderr.startswith("sandbash: "), result.stderr)
    contains(result.stderr, "Permission denied")
    lacks(result.stderr, "inside a sandbox", "a hint must be true")
    equal(global_file(fx).read_text(), "# old\n")


if os.getuid() != 0:  # root may write everywhere
    test("S10 R5 a config directory that may not be written: the reason, no false hint")(
        not_permitted)


FULL_DISK = """
mount -t tmpfs -o size=64k none "$HOME/.config" && mkdir -p "$HOME/.config/sandbash" || exit 99
yes /nonexistent | head -c 20000 > "$HOME/.config/sandbash/config"
head -c 100000 /dev/zero > "$HOME/.config/fill" 2>/dev/null
md5sum < "$HOME/.config/sandbash/config"
"$1" --global --add-path "$2"; echo "status $?"
"$1" --add-path "$2"; echo "status $?"
VISUAL=true "$1" --edit; echo "status $?"
md5sum < "$HOME/.config/sandbash/config"
find "$HOME/.config" -type f | sort
"""


@test("S10 a full disk leaves the old file and no litter")
def full_disk(fx):
    (fx.home / ".config").mkdir()
    flags = "-m" if os.getuid() == 0 else "-rm"
    result = fx.run("unshare", flags, "sh", "-c", FULL_DISK, "sh", BIN, fx.outside)
    if result.status == 99 or "unshare" in result.stderr:
        skip(f"a tmpfs in a private mount namespace: {result.stderr.strip()}")
    lines = result.stdout.splitlines()
    equal(lines[1:3], ["status 125", "status 125"], result.stderr)
    equal(lines[0], lines[4], "the file was changed")
    check(set(lines[5:]) <= {f"{fx.home}/.config/{name}" for name in (
        "fill", "sandbash/config", f"sandbash/projects/{own_file(fx).name}")}, str(lines[5:]))
    check(result.stderr.count("No space left on device") >= 2, result.stderr)
    check(all(line.startswith("sandbash: ") for line in result.stderr.splitlines()), result.stderr)


PTRACE_TRACEME, PTRACE_SYSCALL = 0, 24
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def run_and_kill(fx, words, stops):
    """Run sandbash WORDS and kill it at its stops-th entry or return of a system call.

    Returns False when it ended before that."""
    env, argv = fx.env(), [os.fspath(word) for word in (BIN, *words)]
    child = os.fork()
    if child == 0:
        try:
            os.chdir(fx.project)
            null = os.open("/dev/null", os.O_RDWR)
            for fd in range(3):
                os.dup2(null, fd)
            libc.ptrace(PTRACE_TRACEME, 0, None, None)
            os.execve(argv[0], argv, env)
        finally:
            os._exit(98)
    os.waitpid(child, 0)  # stopped by its exec
    for _ in range(stops):
        libc.ptrace(PTRACE_SYSCALL, child, None, None)
        _, status = os.waitpid(child, 0)
        if not os.WIFSTOPPED(status):
            equal(status, 0)
            return False
    os.kill(child, signal.SIGKILL)
    while not os.WIFSIGNALED(os.waitpid(child, 0)[1]):
        pass
    return True


@test("S10 killed at any moment, the file is the old one or the new one")
def killed(fx):
    old = f"# old rules\n{fx.home}\n"
    new = old + f"{fx.outside}\n"
    own_file(fx).parent.mkdir(parents=True)
    own_file(fx).write_text(old)
    seen, stops = set(), 1
    while run_and_kill(fx, ("--add-path", fx.outside), stops):
        text = own_file(fx).read_text()
        check(text in (old, new), f"after {stops} steps: {text!r}")
        seen.add(text)
        own_file(fx).write_text(old)
        stops += 1
    equal(own_file(fx).read_text(), new)
    # not every run takes the same number of steps: the last ones once more, from the end
    for back in [*range(-40, 40)] * 4:
        if new in seen:
            break
        own_file(fx).write_text(old)
        if run_and_kill(fx, ("--add-path", fx.outside), stops - back):
            seen.add(own_file(fx).read_text())
    equal(seen, {old, new}, "the kills never reached the end")


@test("S10 what a kill left behind is gone after the next command")
def killed_litter(fx):
    own_file(fx).parent.mkdir(parents=True)
    own_file(fx).write_text("# old\n")
    stops = 1
    while run_and_kill(fx, ("--add-path", fx.outside), stops):
        stops += 1
    fx.sandbash("--add-path", fx.home)
    equal(own_file(fx).read_text(), f"# old\n{fx.outside}\n{fx.home}\n")
    equal(litter(fx), [])


run_all()
