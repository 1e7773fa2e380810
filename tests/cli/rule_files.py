"""rule_files.py - S14: --dry-run, includes, wildcards and single operations in rules."""

import hashlib
import json
import os

from tap import ALL_VARIANTS, check, contains, equal, lacks, run_all, test

EXIT_OWN_FAILURE = 125
OPS = ("read", "modify", "create", "delete")


def verdicts(fx, path, *flags, **where):
    """The four verdicts of --explain, as "allow ask deny allow"."""
    result = fx.sandbash(*flags, "--explain", path, "--json", **where)
    equal(result.status, 0, result.stderr)
    decisions = json.loads(result.stdout)["decisions"]
    return " ".join(decisions[op]["verdict"] for op in OPS)


WRITE, READ = "allow allow allow allow", "allow deny deny deny"
DENY, ASK = "deny deny deny deny", "allow ask ask ask"


def bad_line(fx, file, number, result):
    equal(result.status, EXIT_OWN_FAILURE, result.stderr)
    lines = result.stderr.splitlines()
    check(lines[0].startswith(f"sandbash: '{file}' line {number}: "), result.stderr)
    check(len(lines) <= 2 and all(line.startswith("hint: ") for line in lines[1:]), result.stderr)


# --- --dry-run ------------------------------------------------------------------------------


@test("S14 --dry-run starts nothing and leaves nothing", variants=("full", "flat"))
def dry_run(fx):
    before = fx.snapshot()
    for words in (("touch", "x"), ("sh", "-c", f"touch {fx.outside}/x"), (), ("-c", "touch x"),
                  ("no-such-command",)):
        result = fx.sandbash("--dry-run", *words, input="touch x\n")
        equal(result.status, 0, result.stderr)
        check(result.stdout)
    equal(fx.snapshot(), before)


@test("S14 --dry-run leaves nothing where a run would have to make sandbash's directory")
def dry_run_home(fx):
    before = fx.snapshot()
    equal(fx.sandbash("--dry-run", "--allow-home", "true", cwd=fx.home).status, 0)
    equal(fx.snapshot(), before)


@test("S14 --dry-run says what would be started, where, in which mode, with which layers and rules")
def dry_run_text(fx):
    fx.config(f"{fx.outside}\n")
    fx.write(".git/config", "")
    result = fx.sandbash("--dry-run", "--network=off", "echo", "a b", "it's", "new\nline", "")
    equal((result.status, result.stderr), (0, ""))
    for part in ("echo 'a b'", str(fx.project), "workspace-write", "Landlock", "seccomp", "off",
                 str(fx.outside), f"{fx.home}/.config/sandbash/config line 1",
                 "guarded:"):
        contains(result.stdout, part)
    lacks(result.stdout, "new\nline")
    # a static run holds what is there with mounts, and nothing else
    result = fx.sandbash("--static", "--dry-run", "true")
    contains(result.stdout, f"{fx.project}/.git/config")
    contains(result.stdout, "guarded:    only what stands read-only below")


@test("S14 --dry-run --json holds the same facts")
def dry_run_json(fx):
    result = fx.sandbash("--dry-run", "--json", "--network=off", "--mode=read-only", "echo", "a b",
                         "new\nline", "\udcff", "")
    equal((result.status, result.stderr), (0, ""))
    found = json.loads(result.stdout)
    equal(found["command"], ["echo", "a b", "new\nline", "\udcff", ""])
    equal(found["directory"], str(fx.project))
    equal((found["mode"], found["network"]), ("read-only", False))
    check(found["layers"]["seccomp"] and found["layers"]["mount_namespace"])
    check(found["layers"]["landlock_abi"] >= 1)
    equal(found["guarded"], True)
    found = json.loads(fx.sandbash("--static", "--dry-run", "--json", "true").stdout)
    equal(found["guarded"], False)


@test("S14 --dry-run names what is weaker on a weaker machine")
def dry_run_weak(fx):
    text = fx.sandbash("--dry-run", "true", without="userns").stdout
    lacks(text, "modes, owners, times", "a supervisor holds them")
    text = fx.sandbash("--static", "--dry-run", "true", without="userns").stdout
    contains(text, "modes, owners, times")
    found = json.loads(fx.sandbash("--dry-run", "--json", "true", without="userns").stdout)
    equal(found["not_held"], [])
    found = json.loads(fx.sandbash("--static", "--dry-run", "--json", "true",
                                   without="userns").stdout)
    equal(found["layers"]["mount_namespace"], False)
    check(any("modes, owners, times" in sentence for sentence in found["not_held"]))


@test("S14 --dry-run refuses what a run would refuse, with the same words")
def dry_run_refuses(fx):
    fx.config("frob it now\n")
    equal(fx.sandbash("--dry-run", "true").stderr, fx.sandbash("true").stderr)
    fx.config("")
    result = fx.sandbash("--dry-run", "true", cwd=fx.outside)
    equal((result.status, result.stderr),
          (EXIT_OWN_FAILURE, fx.sandbash("true", cwd=fx.outside).stderr))


@test("S14 --dry-run tells the shell, its words and the mode without a sandbox")
def dry_run_shell(fx):
    contains(fx.sandbash("--dry-run").stdout, "bash")
    contains(fx.sandbash("--dry-run", "--shell=zsh").stdout, "zsh")
    equal(json.loads(fx.sandbash("--dry-run", "--json", "-c", "x").stdout)["command"],
          ["bash", "-c", "x"])
    contains(fx.sandbash("--dry-run", "--disable-sandbox", "true").stdout, "danger-full-access")


# --- includes -------------------------------------------------------------------------------


def own(fx, name=""):
    return fx.home / ".config/sandbash" / name


@test("S14 include: relative to the including file, absolute, and with ~")
def includes(fx):
    for name in ("a", "b", "c", "d"):
        (fx.outside / name).mkdir()
    fx.config(f"include sub/one.rules\ninclude {fx.home}/team/two.rules\ninclude ~/team/three.rules\n")
    fx.config(f"{fx.outside}/a\ninclude four.rules   # beside one.rules\n", "sub/one.rules")
    fx.config(f"{fx.outside}/d\n", "sub/four.rules")
    fx.write(fx.home / "team/two.rules", f"{fx.outside}/b\n")
    fx.write(fx.home / "team/three.rules", f"{fx.outside}/c\n")
    for name in ("a", "b", "c", "d"):
        equal(verdicts(fx, fx.outside / name), WRITE, name)
        equal(fx.sandbash("touch", fx.outside / name / "x").status, 0)
    result = fx.sandbash("--explain", fx.outside / "d", "--json")
    equal(json.loads(result.stdout)["decisions"]["create"]["rule"]["origin"],
          f"{own(fx)}/sub/four.rules line 1")


@test("S14 include works in the per-directory file and in --policy files")
def include_everywhere(fx):
    fx.write(fx.home / "team/x.rules", f"deny {fx.outside}\n")
    name = hashlib.sha256(os.fsencode(fx.project)).hexdigest()[:16]
    fx.config("include ../../../team/x.rules\n", f"projects/{name}")
    equal(verdicts(fx, fx.outside), DENY)
    own(fx, f"projects/{name}").unlink()
    policy = fx.write(fx.home / "p/policy", "include ../team/x.rules\n")
    equal(verdicts(fx, fx.outside, f"--policy={policy}"), DENY)


@test("S14 include: quoted names, and settings of the included file count")
def include_settings(fx):
    fx.config('include "team \\"x\\".rules"\n')
    fx.config("network off\nmode read-only\n", 'team "x".rules')
    found = json.loads(fx.sandbash("--dry-run", "--json", "true").stdout)
    equal((found["network"], found["mode"]), (False, "read-only"))


@test("S14 include: the same file twice by two ways is no error")
def include_diamond(fx):
    fx.config("include one\ninclude two\n")
    fx.config("include base\n", "one")
    fx.config("include base\n", "two")
    fx.config(f"{fx.outside}\n", "base")
    equal(verdicts(fx, fx.outside), WRITE)


@test("S14 include: a loop is an error that names a file and a line")
def include_loop(fx):
    for texts in ({"config": "include config\n"},
                  {"config": "\ninclude one\n", "one": "include two\n", "two": "include config\n"}):
        for name, text in texts.items():
            fx.config(text, name)
        result = fx.sandbash("touch", "x")
        equal(result.status, EXIT_OWN_FAILURE, result.stderr)
        check(result.stderr.startswith(f"sandbash: '{own(fx)}/"), result.stderr)
        contains(result.stderr, "' line ")
        contains(result.stderr, "include")
    check(not fx.exists("x"))


@test("S14 include: many files deep is fine, endless is not")
def include_depth(fx):
    for i in range(8):
        fx.config(f"include {i + 1}.rules\n", "config" if i == 0 else f"{i}.rules")
    fx.config(f"{fx.outside}\n", "8.rules")
    equal(verdicts(fx, fx.outside), WRITE)


@test("S14 include: a file that grows exponentially through includes does not hang us")
def include_bomb(fx):
    for i in range(14):
        fx.config(f"include {i + 1}\ninclude {i + 1}\ninclude {i + 1}\n" if i < 13 else "# end\n",
                  "config" if i == 0 else str(i))
    result = fx.sandbash("true")
    check(result.status in (0, EXIT_OWN_FAILURE))


@test("S14 include: a missing file, a directory, a FIFO: an error with file and line")
def include_missing(fx):
    own(fx, "dir").mkdir(parents=True)
    os.mkfifo(own(fx, "fifo"))
    for name in ("missing", "dir", "fifo", "missing/deeper", "/dev/zero"):
        file = fx.config(f"# first\ninclude {name}\n")
        result = fx.sandbash("touch", "x")
        bad_line(fx, file, 2, result)
        contains(result.stderr, name)
    check(not fx.exists("x"))


@test("S14 include: a bad line in an included file is told with that file's name")
def include_bad_line(fx):
    fx.config("# x\ninclude one\n")
    fx.config("\n\ninclude two\n", "one")
    file = fx.config("\nfrob it now\n", "two")
    bad_line(fx, file, 2, fx.sandbash("true"))


@test("S14 include: a file inside a project is refused, however it is reached")
def include_project(fx):
    fx.write("team.rules", f"{fx.outside}\n")
    fx.path("sub").mkdir()
    (fx.home / "link").symlink_to(fx.project)
    (fx.home / "rules-link").symlink_to(fx.path("team.rules"))
    for name in (fx.path("team.rules"), fx.home / "link/team.rules", fx.home / "rules-link",
                 fx.home / "project/sub/../team.rules"):
        file = fx.config(f"include {name}\n")
        result = fx.sandbash("touch", fx.outside / "x")
        bad_line(fx, file, 1, result)
        contains(result.stderr, "project")
        check(not (fx.outside / "x").exists())
    other = fx.home / "other"
    fx.write(other / "team.rules", f"{fx.outside}\n")
    file = fx.config(f"include {other}/team.rules\n")
    equal(fx.sandbash("true").status, 0)
    bad_line(fx, file, 1, fx.sandbash(f"--project={other}", "true"))


@test("S14 no rule is read from inside the project on its own")
def nothing_from_project(fx):
    for name in (".sandbash", ".sandbash/config", "sandbash.config", ".config/sandbash/config",
                 "config"):
        if name == ".sandbash/config":
            fx.path(".sandbash").unlink()
        fx.write(name, f"{fx.outside}\nmode danger-full-access\n")
    check(fx.sandbash("touch", fx.outside / "x").status != 0)


# --- wildcards ------------------------------------------------------------------------------


@test("S14 wildcards: * ? [..] ** and backslash, as --explain sees them")
def wildcards(fx):
    (fx.outside / "*literal").mkdir()
    fx.config(f"""{fx.outside}/*.log
{fx.outside}/q?
{fx.outside}/[a-c]x
{fx.outside}/[!a-c]y
{fx.outside}/deep/**/end
{fx.outside}/\\*literal
read {fx.outside}/**/*.txt
""")
    for name, want in (("a.log", WRITE), (".log", WRITE), ("a.log/below", WRITE), ("a.logx", None),
                       ("d/a.log", None), ("q1", WRITE), ("q", None), ("q12", None), ("q/", None),
                       ("ax", WRITE), ("cx", WRITE), ("dx", None), ("dy", WRITE), ("ay", None),
                       ("deep/end", WRITE), ("deep/1/2/3/end", WRITE), ("deep/1/ending", None),
                       ("deep/1/end/below", WRITE), ("*literal", WRITE), ("xliteral", None),
                       ("z/t.txt", READ), ("t.txt", READ)):
        equal(verdicts(fx, f"{fx.outside}/{name}"), want or ASK, name)


@test("S14 wildcards: relative ones belong to the project; hidden names match *")
def relative_wildcards(fx):
    fx.config("read *.lock\ndeny **/.env\n")
    for path, want in (("yarn.lock", READ), (".lock", READ), ("sub/yarn.lock", WRITE),
                       (".env", DENY), ("a/b/.env", DENY), ("a/.envs", WRITE),
                       (f"{fx.outside}/.env", ASK)):
        equal(verdicts(fx, path), want, path)


@test("S14 wildcards in flags open what exists", variants=ALL_VARIANTS)
def wildcard_flags(fx):
    for name in ("a.log", "b.log", "c.txt"):
        fx.write(fx.outside / name, "old\n")
    for name in ("cache-1", "cache-2", "other"):
        (fx.outside / name).mkdir()
    flags = (f"--allow-write={fx.outside}/*.log", f"--rule=write {fx.outside}/cache-*")
    for name, want in (("a.log", True), ("b.log", True), ("c.txt", False), ("cache-1/x", True),
                       ("cache-2/x", True), ("other/x", False)):
        result = fx.sandbash(*flags, "sh", "-c", 'echo new > "$1"', "sh", fx.outside / name)
        equal(result.status == 0, want, f"{name}: {result.stderr}")


@test("S14 wildcards: a name that exists as it stands is itself, not a pattern")
def literal_first(fx):
    for name in ("[a]", "a", "st*r", "star"):
        (fx.outside / name).mkdir()
    for name, other in (("[a]", "a"), ("st*r", "star")):
        flag = f"--allow-write={fx.outside}/{name}"
        equal(fx.sandbash(flag, "touch", fx.outside / name / "x").status, 0)
        check(fx.sandbash(flag, "touch", fx.outside / other / "x").status != 0,
              f"{name} opened {other}")


@test("S14 wildcards: broken patterns are refused")
def broken_wildcards(fx):
    for text in ("read a[", "deny x/[a-"):
        file = fx.config(text + "\n")
        result = fx.sandbash("touch", "x")
        bad_line(fx, file, 1, result)
    check(not fx.exists("x"))


@test("S14 wildcards: a literal beats a glob, more literal parts beat fewer, then the stricter")
def wildcard_order(fx):
    (fx.project / "build/out").mkdir(parents=True)
    fx.config("read build/*\nbuild/out\ndeny build/out/*.key\nread src/**/gen\ndeny src/a/*\n")
    for path, want in (("build/x", READ), ("build/out", WRITE), ("build/out/x", WRITE),
                       ("build/out/a.key", DENY), ("src/b/c/gen", READ), ("src/a/x", DENY)):
        equal(verdicts(fx, path), want, path)


# --- single operations ----------------------------------------------------------------------


@test("S14 an access names operations; what it does not name is denied")
def operations(fx):
    for access, want in (("read", READ), ("write", WRITE), ("deny", DENY), ("ask", ASK),
                         ("read+modify", "allow allow deny deny"),
                         ("read+create", "allow deny allow deny"),
                         ("create+read", "allow deny allow deny"),
                         ("read+delete", "allow deny deny allow"),
                         ("read+create+ask:delete", "allow deny allow ask"),
                         ("read+ask:modify", "allow ask deny deny"),
                         # what is hidden cannot be modified
                         ("ask:read+ask:modify", "ask deny deny deny"), ("modify", DENY),
                         ("modify+create", "deny deny allow deny"), ("read+modify+create+delete", WRITE)):
        equal(verdicts(fx, fx.outside / "x", f"--rule={access} {fx.outside}"), want, access)
        fx.config(f"{access} {fx.outside}\n")
        equal(verdicts(fx, fx.outside / "x"), want, access)
        fx.config("")


TRY = """
cd "$1"
cat old > /dev/null && echo read
(echo more >> old) 2> /dev/null && echo modify
mkdir new 2> /dev/null && echo create
rm gone 2> /dev/null && echo delete
true
"""


@test("S14 single operations are held by the kernel outside the project", variants=ALL_VARIANTS)
def operations_held(fx):
    for number, (access, want) in enumerate((("read", "read"),
                                             ("write", "read modify create delete"),
                                             ("read+modify", "read modify"),
                                             ("read+create", "read create"),
                                             ("read+delete", "read delete"),
                                             ("read+modify+create", "read modify create"),
                                             ("ask", "read"), ("read+modify+create+ask:delete",
                                                               "read modify create"))):
        place = fx.outside / str(number)
        fx.write(place / "old", "text\n")
        fx.write(place / "gone", "")
        result = fx.sandbash(f"--rule={access} {place}", "sh", "-c", TRY, "sh", place)
        equal((result.status, " ".join(result.stdout.split())), (0, want),
              f"{access}: {result.stderr}")


@test("S14 single operations inside the project are held, or held stricter with a warning")
def operations_inside(fx):
    for access, want in (("read+modify", {"read", "modify"}), ("read+create", {"read", "create"}),
                         ("read", {"read"})):
        place = fx.project / access
        fx.write(place / "old", "text\n")
        fx.write(place / "gone", "")
        result = fx.sandbash(f"--rule={access} {place}", "sh", "-c", TRY, "sh", place)
        equal(result.status, 0, result.stderr)
        got = set(result.stdout.split())
        check(got <= want, f"{access}: {got}")
        check(got == want or "sandbash: warning: " in result.stderr,
              f"{access}: only {got}, and not a word")
        check("read" in got, access)


@test("S14 ask means deny in a run without anybody to ask, and --explain says so")
def ask_static(fx):
    fx.write(fx.outside / "file", "")
    check(fx.sandbash(f"--ask={fx.outside}", "sh", "-c", f"echo x > {fx.outside}/file").status != 0)
    result = fx.sandbash(f"--ask={fx.outside}", "--explain", fx.outside / "file")
    contains(result.stdout, "ask")
    contains(result.stdout, "nobody can be asked")


# --- --explain ------------------------------------------------------------------------------


@test("S14 R5 --explain: decision per operation, rule, origin, the flag that would change it")
def explain(fx):
    file = fx.config(f"# x\nread {fx.outside}\n")
    path = fx.outside / "sub/a file"
    result = fx.sandbash("--explain", path)
    equal((result.status, result.stderr), (0, ""))
    lines = result.stdout.splitlines()
    contains(lines[0], str(path))
    for op in OPS:
        line, = [line for line in lines if line.strip().startswith(op + " ")]
        contains(line, "allow" if op == "read" else "deny")
        contains(line, f"{file} line 2")
        contains(line, f"read {fx.outside}")
    contains(result.stdout, f"'--allow-write={path}'")
    # the flag it names does change it, whether it is there or not
    equal(verdicts(fx, path, f"--allow-write={path}"), WRITE)
    path.parent.mkdir()
    path.write_text("")
    equal(verdicts(fx, path, f"--allow-write={path}"), WRITE)


@test("S14 R5 --explain: what no option changes is said to be so")
def explain_final(fx):
    result = fx.sandbash("--explain", own(fx, "config"), f"--allow-write={fx.home}")
    check(not any(line.startswith("to ") for line in result.stdout.splitlines()), result.stdout)
    found = json.loads(fx.sandbash("--explain", own(fx, "config"), "--json").stdout)
    equal((found["final"], found["change_with"]), (True, None))


@test("S14 R5 --explain --json holds the same facts, for odd names too")
def explain_json(fx):
    for name in ("plain", "a b", "new\nline", "\udcff", "q\"'\\"):
        path = fx.outside / name
        path.mkdir()
        found = json.loads(fx.sandbash(f"--allow-write={path}", "--explain", path, "--json").stdout)
        equal((found["path"], found["exists"]), (str(path), True))
        equal(found["decisions"]["modify"]["verdict"], "allow")
        check(found["decisions"]["modify"]["allowed"] is True)
        equal(found["decisions"]["modify"]["rule"]["tier"], "command line")
        result = fx.sandbash("--explain", path)
        equal(result.status, 0)
        check(all(c.isprintable() or c == "\n" for c in result.stdout), repr(result.stdout))


@test("S14 R5 --explain resolves links, '..' and ~ before it decides")
def explain_resolves(fx):
    (fx.home / "link").symlink_to(fx.outside)
    for text in ("../link/x", "~/link/x", f"{fx.project}/../../outside/x"):
        found = json.loads(fx.sandbash("--explain", text, "--json").stdout)
        equal(found["path"], f"{fx.outside}/x", text)
        equal(found["exists"], False)


# name: what a supervised run says about writing and about removing it; what row says so
GUARDED = {
    ".envrc": ("ask", "allow", ".envrc"),
    "a/b/.envrc": ("ask", "allow", ".envrc"),
    "sub/.git/hooks/x": ("ask", "ask", "<git>/hooks/*"),
    "none/yet/.git/hooks/x": ("ask", "ask", "<git>/hooks/*"),
    "sub/.git/hooks/x.sample": ("allow", "allow", None),
    "sub/.git/config": ("check", "allow", "<git>/config"),
    "sub/.vscode/tasks.json": ("ask", "allow", ".vscode/*.json"),
    "sub/.vscode/notes.txt": ("allow", "allow", None),
    "sub/.claude/skills/a/b": ("ask", "allow", ".claude/skills/**"),
    "bare/hooks/x": ("ask", "ask", "<git>/hooks/*"),
    "bare/config": ("check", "allow", "<git>/config"),
    "plain/hooks/x": ("allow", "allow", None),
    "plain/config": ("allow", "allow", None),
}


@test("P3 R5 --explain knows guarded names: at any depth, by structure, there or not")
def explain_guarded(fx):
    for name in ("sub", "plain/hooks", "bare/objects", "bare/refs", "bare/hooks"):
        fx.path(name).mkdir(parents=True)
    for name, (write, remove, row) in GUARDED.items():
        found = json.loads(fx.sandbash("--explain", name, "--json").stdout)
        said = found["decisions"]
        equal([said[op]["verdict"] for op in ("read", "modify", "create", "delete")],
              ["allow", write, write, remove], name)
        equal(said["create"]["allowed"], write == "allow", name)
        equal(said["create"]["guard"] and said["create"]["guard"]["pattern"], row, name)
        text = fx.sandbash("--explain", name).stdout
        if row:
            contains(text, f"'{row}'" if write == "check" else f"'ask {row}'")
            contains(text, said["create"]["guard"]["why"])
            equal(found["change_with"], f"--allow-write={fx.project}/{name}")
        # a static run holds only what exists at the top
        plain = json.loads(fx.sandbash("--static", "--explain", name, "--json").stdout)
        equal(plain["decisions"]["create"]["guard"], None)
    # the rule it names does change it, and one for the project does not
    fx.write("sub/.vscode/tasks.json", "")
    equal(verdicts(fx, "sub/.vscode/tasks.json", "--allow-write=."), "allow ask ask allow")
    equal(verdicts(fx, "sub/.vscode/tasks.json",
                   f"--allow-write={fx.project}/sub/.vscode/tasks.json"), WRITE)
    # what a rule denies stays denied, and a directory tells what is in it
    equal(verdicts(fx, "sub/.vscode/tasks.json", "--rule=read sub"), READ)
    contains(fx.sandbash("--explain", "sub/.vscode").stdout, "guarded names are in it: "
             "'.vscode/*.json'")
    equal(verdicts(fx, "sub/.vscode/tasks.json", "--disable-sandbox"), WRITE)


@test("P3 R5 --explain and a run agree about guarded names")
def explain_guarded_agrees(fx):
    for name in ("sub", "plain/hooks", "bare/objects", "bare/refs", "bare/hooks"):
        fx.path(name).mkdir(parents=True)
    for name, (write, _, _) in GUARDED.items():
        made = fx.sandbash("--consent=deny", "--quiet", "sh", "-c",
                           'mkdir -p "${1%/*}"; echo "[core] pager = x" > "$1"', "sh", f"./{name}")
        equal(made.status == 0 and fx.path(name).exists(), write == "allow", name)


@test("P3 --print-policy lists what is guarded, as text that changes nothing when it is read back")
def print_guarded(fx):
    text = fx.sandbash("--print-policy").stdout
    contains(text, "# ask <git>/hooks/*")
    contains(text, "# check <git>/config")
    contains(text, "git runs hooks")
    found = json.loads(fx.sandbash("--print-policy", "--json").stdout)["guarded"]
    row = next(row for row in found if row["pattern"] == "<git>/config")
    equal(row["who"], "git")
    contains(row["harmless"], "keys")
    lacks(fx.sandbash("--static", "--print-policy").stdout, "<git>")
    equal(json.loads(fx.sandbash("--static", "--print-policy", "--json").stdout)["guarded"], [])


@test("P3 a printed policy does not open the git data of a linked worktree when it is read back")
def print_worktree(fx):
    fx.git_project()
    fx.run("git", "worktree", "add", "-q", fx.home / "linked")
    where = {"cwd": fx.home / "linked"}
    config = fx.project / ".git/config"
    file = fx.write(fx.outside / "printed", fx.sandbash("--print-policy", **where).stdout)
    for flags in ([], [f"--policy={file}"]):
        equal(verdicts(fx, config, *flags, **where), "allow check check ask", str(flags))
        equal(verdicts(fx, fx.project / ".git/refs/heads/x", *flags, **where),
              "allow check check allow", str(flags))
        result = fx.sandbash("--consent=deny", "--quiet", *flags, "git", "config", "core.pager",
                             "evil", **where)
        check(result.status != 0, str(flags))
        lacks(config.read_text(), "evil")


@test("S14 --explain agrees with what a run can do")
def explain_agrees(fx):
    fx.write(fx.home / ".ssh/id_rsa", "x")
    fx.write(".git/config", "x")
    fx.write("vendor/x", "x")
    fx.write(fx.outside / "x", "x")
    fx.config("read vendor\n")
    fx.write(".envrc", "x")
    for path in ("x", ".envrc", "vendor/x", fx.outside / "x", fx.home / ".ssh/id_rsa",
                 fx.home / ".bashrc", f"/tmp/sandbash-test-{os.getpid()}", "/usr/x"):
        decided = verdicts(fx, path).split()
        script = 'cat "$1" > /dev/null 2>&1; echo $?; (echo >> "$1") 2> /dev/null; echo $?'
        there = os.path.lexists(fx.path(path))
        got = [int(word) for word in fx.sandbash("sh", "-c", script, "sh", path).stdout.split()]
        if there:
            equal(decided[0] == "allow", got[0] == 0, f"reading {path}")
        equal(decided[1] == "allow", got[1] == 0, f"changing {path}")
        if path == "x":
            fx.path("x").unlink()


run_all()
