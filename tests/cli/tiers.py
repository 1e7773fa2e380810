"""tiers.py - where rules come from: S6 the tiers, S7 bad lines, S8 how paths are read."""

import hashlib
import json
import os

from tap import ALL_VARIANTS, check, contains, equal, run_all, skip, test

EXIT_USAGE, EXIT_OWN_FAILURE = 2, 125


def hash_name(directory):
    """The file name of a directory's own config: S6."""
    return hashlib.sha256(os.fsencode(directory)).hexdigest()[:16]


def directory_config(fx, text, directory=None):
    return fx.config(text, "projects/" + hash_name(directory or fx.project))


def places(fx, *names):
    """Directories outside the project; returns their paths."""
    found = [fx.outside / name for name in names]
    for path in found:
        path.mkdir(parents=True, exist_ok=True)
    return found


def writable(fx, path, *flags, **where):
    """Can a run create a file in path?  The file is removed again."""
    target = os.path.join(path, "probe")
    result = fx.sandbash(*flags, "touch", target, **where)
    made = os.path.exists(target)
    check(made == (result.status == 0), f"status {result.status}, made {made}: {result.stderr}")
    if made:
        os.unlink(target)
    return made


def listed(fx, *flags, **where):
    result = fx.sandbash("--list-paths", "--json", *flags, **where)
    equal(result.status, 0, result.stderr)
    return json.loads(result.stdout)


def paths_of(source):
    return [rule["path"] for rule in source["rules"]]


# --- S6 -----------------------------------------------------------------------------------


@test("S6 global, per-directory and command-line paths are a union", variants=ALL_VARIANTS)
def union(fx):
    one, two, three, four, none = places(fx, "global", "directory", "flag", "flag2", "none")
    fx.config(f"{one}\n")
    directory_config(fx, f"{two}\n")
    flags = (f"--allow-write={three}", f"--allow-write={four}")
    for path in (one, two, three, four, fx.project):
        check(writable(fx, path, *flags), f"{path} is not writable")
    check(not writable(fx, none, *flags))
    # one run sees them all
    result = fx.sandbash(*flags, "touch", one / "x", two / "x", three / "x", four / "x", "x")
    equal(result.status, 0, result.stderr)
    check(not writable(fx, three), "a flag outlived its run")


@test("S6 the per-directory file is named by the first 16 hex digits of SHA-256 of the directory")
def hash_of_directory(fx):
    found = listed(fx)
    equal(found["per_directory"]["file"],
          f"{fx.home}/.config/sandbash/projects/{hash_name(fx.project)}")
    equal(found["global"]["file"], f"{fx.home}/.config/sandbash/config")
    for name in ("with space", "new\nline", "\udcff\udcfe", "ünï", "x" * 200):
        directory = fx.project / name
        directory.mkdir()
        fx.sandbash("--add-path", fx.outside, cwd=directory)
        path = fx.home / ".config/sandbash/projects" / hash_name(directory)
        check(path.exists(), f"no file {path.name} for {name!r}")


@test("S6 a per-directory file counts in that directory only")
def only_that_directory(fx):
    place, = places(fx, "place")
    sub, sibling = fx.project / "sub", fx.home / "sibling"
    sub.mkdir()
    sibling.mkdir()
    directory_config(fx, f"{place}\n")
    check(writable(fx, place))
    check(not writable(fx, place, cwd=sub), "a subdirectory obeys it too")
    check(not writable(fx, place, cwd=sibling), "a sibling obeys it too")


@test("S6 XDG_CONFIG_HOME moves both files; a relative one is ignored")
def xdg_config_home(fx):
    one, two, default = places(fx, "one", "two", "default")
    xdg = fx.dir / "xdg"
    fx.write(xdg / "sandbash/config", f"{one}\n")
    fx.write(xdg / f"sandbash/projects/{hash_name(fx.project)}", f"{two}\n")
    fx.config(f"{default}\n")
    for path, want in ((one, True), (two, True), (default, False)):
        equal(writable(fx, path, env={"XDG_CONFIG_HOME": xdg}), want, str(path))
    for value in ("xdg", "../xdg", ""):
        env = {"XDG_CONFIG_HOME": value}
        check(writable(fx, default, env=env), f"{value!r} was believed")
        check(not writable(fx, one, env=env, cwd=fx.project), f"{value!r} was believed")


@test("S6 the current directory is always added")
def cwd_always(fx):
    fx.config(f"read {fx.outside}\n")
    directory_config(fx, "# nothing\n")
    check(writable(fx, fx.project))
    check(writable(fx, fx.project, "--allow-write=/nonexistent"))


@test("S6 files that do not exist are no rules, and are not made")
def no_files(fx):
    before = fx.snapshot()
    result = fx.sandbash("true")
    equal((result.status, result.stderr), (0, ""))
    equal(fx.snapshot(), before)


@test("S6 a later tier decides about the same path: flag over directory over global")
def later_tier(fx):
    place, = places(fx, "place")
    fx.config(f"{place}\n")
    check(writable(fx, place))
    directory_config(fx, f"read {place}\n")
    check(not writable(fx, place))
    check(writable(fx, place, f"--allow-write={place}"))


@test("S6 the most specific rule wins, whatever its tier", variants=("full", "nested"))
def specific_wins(fx):
    place, = places(fx, "place")
    for name in ("open", "shut", "shut/open"):
        (place / name).mkdir()
    fx.config(f"read {place}/shut\n{place}/shut/open\n")
    flag = f"--allow-write={place}"
    for path, want in ((place, True), (place / "open", True), (place / "shut", False),
                       (place / "shut/open", True)):
        equal(writable(fx, path, flag), want, str(path))


@test("S6 all config files may be links, as dotfile managers make them")
def linked_config(fx):
    one, two = places(fx, "one", "two")
    fx.write(fx.home / "dotfiles/config", f"{one}\n")
    fx.write(fx.home / "dotfiles/projects/x", f"{two}\n")
    own = fx.home / ".config/sandbash"
    (own / "projects").mkdir(parents=True)
    (own / "config").symlink_to(fx.home / "dotfiles/config")
    (own / "projects" / hash_name(fx.project)).symlink_to("../../../dotfiles/projects/x")
    check(writable(fx, one) and writable(fx, two))


LAY_OVER_ETC = """
mount -t tmpfs none "$1" && mkdir "$1/up" "$1/work" &&
mount -t overlay none -o "lowerdir=/etc,upperdir=$1/up,workdir=$1/work" /etc &&
mkdir -p /etc/sandbash && mount -t tmpfs none /etc/sandbash &&
printf %s "$2" > /etc/sandbash/config || exit 99
shift 2
exec "$@"
"""


def with_system_config(fx, text, *argv):
    """Run argv where /etc/sandbash/config holds text, in a private mount namespace."""
    scratch = fx.dir / "scratch"
    scratch.mkdir(exist_ok=True)
    front = ("unshare", "-m" if os.getuid() == 0 else "-rm", "sh", "-c", LAY_OVER_ETC, "sh",
             scratch)
    probe = fx.run(*front, "", "true")
    if probe.status != 0:
        skip(f"an overlay over /etc in a private mount namespace: {probe.stderr.strip()}")
    return fx.run(*front, text, *argv)


@test("S6 what /etc/sandbash/config denies, no later tier allows")
def system_denies(fx):
    place, free = places(fx, "place", "free")
    (place / "inner").mkdir()
    fx.config(f"{place}\n")
    directory_config(fx, f"{place}/inner\n")
    ours = fx.argv()[0]
    text = f"read {place}\nnetwork off\n"
    for path in (place, place / "inner"):
        result = with_system_config(fx, text, ours, f"--allow-write={path}", "touch", path / "x")
        check(result.status not in (0, EXIT_OWN_FAILURE), f"{path}: {result.stderr}")
        check(not (path / "x").exists(), f"{path} was opened")
    result = with_system_config(fx, text, ours, f"--allow-write={free}", "touch", free / "x")
    equal(result.status, 0, result.stderr)
    result = with_system_config(fx, text, ours, "--network=on", "--dry-run", "--json")
    equal(json.loads(result.stdout)["network"], False)
    result = with_system_config(fx, text, ours, f"--allow-write={place}", "--explain", place,
                                "--json")
    found = json.loads(result.stdout)
    equal([found["decisions"]["create"]["verdict"], found["final"]], ["deny", True])


@test("S6 what /etc/sandbash/config allows, a user's file can take back")
def system_allows(fx):
    place, = places(fx, "place")
    ours = fx.argv()[0]
    text = f"{place}\n"
    equal(with_system_config(fx, text, ours, "touch", place / "x").status, 0)
    fx.config(f"read {place}\n")
    check(with_system_config(fx, text, ours, "touch", place / "y").status != 0)


@test("S6 a bad line in /etc/sandbash/config starts nothing")
def system_bad(fx):
    result = with_system_config(fx, "\nfrob x y\n", fx.argv()[0], "touch", "x")
    equal(result.status, EXIT_OWN_FAILURE)
    check(result.stderr.startswith("sandbash: '/etc/sandbash/config' line 2: "), result.stderr)
    check(not fx.exists("x"))


# --- S7 -----------------------------------------------------------------------------------


@test("S7 paths, comments, blank lines, indentation and quotes are understood")
def good_lines(fx):
    names = ["plain", "with space", "tail#not a comment", "ünï", "quoted \" quote", "new\nline",
             "\udcff", "trailing ", "tab\tin"]
    paths = places(fx, *names)
    lines = ["# a comment", "", "   ", "\t# another", f"{paths[0]}   # why", f"  {paths[1]}\t",
             f"{paths[2]}", f"{paths[3]}", f'"{fx.outside}/quoted \\" quote"  # comment',
             f'"{fx.outside}/new\\nline"', f'"{fx.outside}/\\xff"', f'"{paths[7]}"',
             f'"{fx.outside}/tab\\tin"', "#" * 5000]
    fx.config("\n".join(lines))  # no newline at the end
    for path in paths:
        check(writable(fx, path), f"{str(path)!r} is not writable")
    check(not writable(fx, fx.outside))


@test("S7 a file without a final newline, or empty, is fine")
def last_line(fx):
    one, two = places(fx, "one", "two")
    for text, want in (("", []), ("\n\n", []), (f"{one}", [one]), (f"{one}\n{two}", [one, two])):
        fx.config(text)
        equal(paths_of(listed(fx)["global"]), [str(path) for path in want])


BAD_LINES = (
    b"readme please",             # no access word before a path with spaces, nor a path
    b"frobnicate /tmp",
    b"read",                      # an access and nothing
    b"deny   # only a comment",
    b"include",
    b"network",
    b"network maybe",
    b"mode lax",
    b"mode",
    b"tmp sometimes",
    b"read+fly /x",
    b"read+ /x",
    b"+read /x",
    b"ask:fly /x",
    b"ask: /x",
    b"read+read /x",
    b"write+read /x",
    b"deny+ask /x",
    b'"/unclosed',
    b'"/x" tail',
    b'"/bad \\q escape"',
    b'"/bad \\x0 escape"',
    b'"/nul \\x00"',
    b'""',
    b'deny ""',
    b"/nul\0byte",
    b"/carriage\r",
    b"/escape\x1b[31m",
    b"/" + b"x" * 10000,
    b"deny /x/[unclosed",
    b"~nobody/x",
    b"include /nonexistent/team.rules",
)


def bad_line(fx, file, number, result, what):
    equal(result.status, EXIT_OWN_FAILURE, f"{what!r}: {result.stderr}")
    equal(result.stdout, "", repr(what))
    lines = result.stderr.splitlines()
    head = f"sandbash: '{file}' line {number}: "
    check(lines and lines[0].startswith(head), f"{what!r}: {result.stderr!r}")
    check(len(lines[0]) > len(head) + 5, f"{what!r}: no reason in {lines[0]!r}")
    check(all(line.startswith("hint: ") for line in lines[1:]), f"{what!r}: {result.stderr!r}")
    check(len(lines) <= 2, f"{what!r}: {result.stderr!r}")
    check(all(c.isprintable() for line in lines for c in line), f"{what!r}: {result.stderr!r}")


@test("S7 every bad line of the global file: file, line number, reason; nothing starts")
def bad_global(fx):
    for bad in BAD_LINES:
        file = fx.config(b"# first\n\n" + os.fsencode(fx.outside) + b"\n" + bad + b"\n/later\n")
        result = fx.sandbash("touch", "x")
        bad_line(fx, file, 4, result, bad)
        check(not fx.exists("x"), f"{bad!r}: the command was run")


@test("S7 the same for the per-directory file, an included file and --policy")
def bad_elsewhere(fx):
    for bad in BAD_LINES[:8]:
        file = directory_config(fx, b"\n" + bad)
        bad_line(fx, file, 2, fx.sandbash("touch", "x"), bad)
        file.unlink()
        file = fx.config(bad, "team.rules")
        fx.config("include team.rules\n")
        bad_line(fx, file, 1, fx.sandbash("touch", "x"), bad)
        fx.config("")
        file = fx.write(fx.outside / "policy", b"# x\n# y\n" + bad + b"\n")
        bad_line(fx, file, 3, fx.sandbash(f"--policy={file}", "touch", "x"), bad)
    check(not fx.exists("x"))


@test("S7 a bad line stops the looking commands too, and --edit and --remove-path still work")
def bad_line_looking(fx):
    file = fx.config("/usr\nfrob it now\n")
    for words in (("--list-paths",), ("--print-policy",), ("--explain", "x"), ("--dry-run", "true"),
                  ("--status",)):
        bad_line(fx, file, 2, fx.sandbash(*words), words)
    result = fx.sandbash("--remove-path", "/usr", "--global")
    equal(result.status, 0, result.stderr)
    equal(file.read_text(), "frob it now\n")


@test("S7 a word that is no access before a path is an error with a hint, not a guess")
def misspelt_access(fx):
    fx.write("me", "")
    file = fx.config("raed me\n")
    result = fx.sandbash("true")
    bad_line(fx, file, 1, result, "raed me")
    contains(result.stderr, "hint: ")


@test("S7 one word, and what begins with '/', '~' or '.', may be a bare path")
def bare_paths(fx):
    for name in ("word", "a b"):
        fx.path(name).mkdir()
    fx.config(f"word\n./a b\n{fx.path('a b')}/../word\n~/project/word\n")
    found = [rule["path"] for rule in listed(fx)["global"]["rules"]]
    equal(sorted(set(found)), [f"{fx.project}/a b", f"{fx.project}/word"])


@test("S7 P6 two rules of one file for one path that differ are an error")
def contradiction(fx):
    place, = places(fx, "place")
    for first, second in ((f"{place}", f"read {place}"), (f"deny {place}", f"{place}/"),
                          (f"read {place}", f"ask {place}/./"), ("deny ~/x", f"read {fx.home}/x")):
        file = fx.config(f"{first}\n# between\n{second}\n")
        result = fx.sandbash("touch", "x")
        bad_line(fx, file, 3, result, second)
        contains(result.stderr, "line 1", "where the other one is")
    check(not fx.exists("x"))
    # said twice alike is no contradiction
    fx.config(f"{place}\n{place}/\n")
    check(writable(fx, place))


@test("S7 P6 contradicting flags are an error too")
def contradicting_flags(fx):
    place, = places(fx, "place")
    result = fx.sandbash(f"--allow-write={place}", f"--deny={place}", "touch", "x")
    check(result.status in (2, EXIT_OWN_FAILURE), result.stderr)
    contains(result.stderr, f"--deny={place}")
    contains(result.stderr, f"--allow-write={place}")
    check(not fx.exists("x"))


@test("S7 P6 a setting said twice, differently, in one tier is an error")
def contradicting_settings(fx):
    for first, second in (("network on", "network off"), ("mode read-only", "mode workspace-write"),
                          ("tmp off", "tmp private"), ("shell zsh", "shell fish")):
        file = fx.config(f"{first}\n{second}\n")
        bad_line(fx, file, 2, fx.sandbash("touch", "x"), second)
        fx.config(f"{first}\n{first}\n")
        equal(fx.sandbash("true").status, 0, first)
    check(not fx.exists("x"))


@test("S7 a config that is no regular file starts nothing")
def config_no_file(fx):
    own = fx.home / ".config/sandbash"
    own.mkdir(parents=True)
    file = own / "config"
    for make in (lambda: file.mkdir(), lambda: os.mkfifo(file), lambda: file.symlink_to("config"),
                 lambda: file.symlink_to("/dev/zero")):
        make()
        result = fx.sandbash("touch", "x")
        equal(result.status, EXIT_OWN_FAILURE, result.stderr)
        check(result.stderr.startswith("sandbash: "), result.stderr)
        contains(result.stderr, "sandbash/config")
        file.rmdir() if file.is_dir() and not file.is_symlink() else file.unlink()
    check(not fx.exists("x"))


def unreadable(fx):
    file = fx.config(f"{fx.outside}\n")
    file.chmod(0)
    result = fx.sandbash("touch", "x")
    equal(result.status, EXIT_OWN_FAILURE)
    equal(result.stderr, f"sandbash: cannot read '{file}': Permission denied\n")
    file.chmod(0o600)
    file.parent.chmod(0)
    result = fx.sandbash("touch", "x")
    equal(result.status, EXIT_OWN_FAILURE, result.stderr)
    contains(result.stderr, "Permission denied")
    check(not fx.exists("x"))


if os.getuid() != 0:  # root may read everything
    test("S7 a config that may not be read starts nothing")(unreadable)


@test("S7 an enormous config is refused, not read forever")
def config_enormous(fx):
    file = fx.config("")
    with open(file, "wb") as stream:
        stream.truncate(1 << 30)
    result = fx.sandbash("touch", "x")
    equal(result.status, EXIT_OWN_FAILURE)
    contains(result.stderr, f"'{file}'")
    check(not fx.exists("x"))


@test("S7 many good lines are fine")
def many_lines(fx):
    place, = places(fx, "place")
    fx.config("".join(f"deny {fx.outside}/none/{i}\n" for i in range(3000)) + f"{place}\n")
    check(writable(fx, place))


# --- S8 -----------------------------------------------------------------------------------


@test("S8 relative paths, ~, '..' and trailing slashes all mean the same directory")
def spellings(fx):
    target = fx.home / "target"
    target.mkdir()
    for text in (f"{target}", f"{target}/", f"{target}///", f"{target}/.", "../target",
                 "./../target/", "~/target", "~/target//", "~/./target", f"{fx.home}//target",
                 "../project/../target"):
        flag = f"--allow-write={text}"
        equal(paths_of(listed(fx, flag)["command_line"]), [str(target)], text)
        check(writable(fx, target, flag), text)
        fx.config(f"{text}\n")
        equal(paths_of(listed(fx)["global"]), [str(target)], text)
        fx.config("")


@test("S8 ~ alone is the home directory")
def tilde_alone(fx):
    equal(paths_of(listed(fx, "--allow-write=~")["command_line"]), [str(fx.home)])
    equal(paths_of(listed(fx, "--allow-write=~/")["command_line"]), [str(fx.home)])


@test("S8 ~ is expanded at the beginning only")
def tilde_inside(fx):
    for name in ("x~", "a"):
        fx.path(name).mkdir()
    fx.path("a/~").mkdir()
    for text, want in (("x~", "x~"), ("a/~", "a/~")):
        equal(paths_of(listed(fx, f"--allow-read={text}")["command_line"]),
              [f"{fx.project}/{want}"])


@test("S8 '..' is resolved after the links before it, as the kernel does")
def dotdot_after_link(fx):
    real = fx.outside / "real"
    (real / "sub").mkdir(parents=True)
    (real / "sibling").mkdir()
    (fx.home / "link").symlink_to(real / "sub")
    equal(paths_of(listed(fx, "--allow-write=../link/../sibling")["command_line"]),
          [str(real / "sibling")])


@test("S8 a rule reaches what is not there yet; where that cannot be, it is skipped with a warning")
def missing(fx):
    place, = places(fx, "place")
    gone = fx.outside / "gone"
    file = fx.config(f"{place}\n{gone}\n")
    result = fx.sandbash("--allow-write=no/such", "sh", "-c",
                         f"touch {place}/x; mkdir -p {gone}/deep; echo x > {gone}/deep/file")
    equal((result.status, result.stderr), (0, ""))
    equal((gone / "deep/file").read_text(), "x\n")
    fx.run("rm", "-r", gone, place / "x")
    contains(fx.sandbash("--list-paths").stdout, f"  {gone} (not there yet)\n")
    # a static run needs something to mount
    result = fx.sandbash("--static", "--allow-write=no/such", "touch", place / "x")
    equal(result.status, 0)
    why = "; a static run opens only what is there"
    equal(result.stderr,
          f"sandbash: warning: skipping '{gone}': No such file or directory (from {file} line 2{why})\n"
          "sandbash: warning: skipping 'no/such': No such file or directory "
          f"(from --allow-write=no/such{why})\n")
    check((place / "x").exists() and not gone.exists())
    # and it counts as soon as it is there
    gone.mkdir()
    check(writable(fx, gone) and writable(fx, gone, "--static"))


@test("S8 a dangling link means what it leads to, which is not there yet")
def dangling(fx):
    (fx.home / "link").symlink_to(fx.outside / "gone")
    result = fx.sandbash("--allow-write=~/link", "sh", "-c", "echo x > ~/link")
    equal((result.status, result.stderr), (0, ""))
    equal((fx.outside / "gone").read_text(), "x\n")
    (fx.outside / "gone").unlink()
    result = fx.sandbash("--static", "--allow-write=~/link", "true")
    equal(result.status, 0, result.stderr)
    contains(result.stderr, "sandbash: warning: skipping '~/link': No such file or directory")
    # one that a command could have made leads nowhere, whether something is there or not
    fx.path("build").symlink_to(fx.outside / "gone")
    result = fx.sandbash("--allow-write=build", "true")
    equal(result.status, EXIT_OWN_FAILURE, result.stderr)
    contains(result.stderr, "which a command could have made")


@test("S8 P9 a link inside the project, which a command could have made, leads no grant out of it")
def planted_link(fx):
    fx.path("build").symlink_to(fx.outside)
    fx.path("inner").mkdir()
    fx.path("harmless").symlink_to("inner")
    for flag in ("--allow-write=build", "--allow-write=build/.", "--rule=read+create build"):
        result = fx.sandbash(flag, "touch", fx.outside / "x")
        check(result.status in (EXIT_USAGE, EXIT_OWN_FAILURE), result.stderr)
        contains(result.stderr.splitlines()[0], f"{fx.project}/build")
        contains(result.stderr, f"hint: name what it leads to: '{fx.outside}'")
        check(not (fx.outside / "x").exists())
    file = fx.config("# x\nbuild\n")
    result = fx.sandbash("touch", fx.outside / "x")
    bad_line(fx, file, 2, result, "build")
    fx.config("")
    check(writable(fx, fx.path("inner"), "--allow-write=harmless"))
    # taking away goes through any link
    equal(fx.sandbash("--deny=build", "ls", fx.outside).status, 2)


@test("S8 a path beneath a file is a missing path")
def beneath_file(fx):
    fx.write(fx.outside / "file", "")
    result = fx.sandbash(f"--allow-write={fx.outside}/file/x", "touch", "x")
    equal(result.status, 0, result.stderr)
    contains(result.stderr, f"sandbash: warning: skipping '{fx.outside}/file/x': Not a directory")
    check(fx.exists("x"))


@test("S8 a name with newlines or escapes stays one line in the warning")
def missing_escaped(fx):
    result = fx.sandbash("--static", "--allow-write=a\nb\x1bc\udcff", "true")
    equal(result.status, 0)
    equal(len(result.stderr.splitlines()), 1, result.stderr)
    contains(result.stderr, "'a\\nb\\ec\\xff'")


@test("S8 a missing path of a rule that takes away is kept, silently")
def missing_deny(fx):
    fx.config("deny later\nread later2\n")
    result = fx.sandbash("sh", "-c", "echo hi")
    equal((result.status, result.stderr), (0, ""))
    equal(len(listed(fx)["global"]["rules"]), 2)


@test("S8 a single file can be allowed; its neighbours stay closed", variants=ALL_VARIANTS)
def single_file(fx):
    one, two = fx.write(fx.outside / "one", ""), fx.write(fx.outside / "two", "")
    flag = f"--allow-write={one}"
    equal(fx.sandbash(flag, "sh", "-c", f"echo x > {one}").status, 0)
    equal(one.read_text(), "x\n")
    check(fx.sandbash(flag, "sh", "-c", f"echo x > {two}").status != 0)
    equal(two.read_text(), "")


@test("S8 permissions are recursive", variants=ALL_VARIANTS)
def recursive(fx):
    place, = places(fx, "place/a/b/c")
    check(writable(fx, place, f"--allow-write={fx.outside}/place"))
    result = fx.sandbash(f"--allow-write={fx.outside}/place", "sh", "-c",
                         f"mkdir -p {place}/d/e && touch {place}/d/e/f && rm -r {fx.outside}/place/a")
    equal(result.status, 0, result.stderr)


@test("S8 P9 an allowed link opens what it leads to", variants=ALL_VARIANTS)
def allowed_link(fx):
    place, other = places(fx, "place", "other")
    link = fx.home / "link"
    link.symlink_to(place)
    check(writable(fx, place, f"--allow-write={link}"))
    check(writable(fx, link, f"--allow-write={link}"))
    check(not writable(fx, other, f"--allow-write={link}"))


@test("S8 odd names work as flags: spaces, newlines, invalid UTF-8, '=', '#', quotes")
def odd_names(fx):
    for name in ("a b", "new\nline", "\udcff\udc80", "a=b", "#hash", 'q"u\'ote', "-dash",
                 "--deny=x", "*star", "[set]", "back\\slash", "~tilde"):
        path = fx.outside / name
        path.mkdir()
        check(writable(fx, path, f"--allow-write={path}"), repr(name))
        check(writable(fx, path, "--allow-write", path), repr(name))
    check(not writable(fx, fx.outside))


@test("S8 relative rules of the global file mean every project")
def relative_global(fx):
    other = fx.home / "other"
    for project in (fx.project, other):
        fx.write(project / "vendor/file", "")
    fx.config("read vendor\n")
    found = paths_of(listed(fx, f"--project={other}")["global"])
    equal(sorted(found), sorted([f"{fx.project}/vendor", f"{other}/vendor"]))


run_all()
