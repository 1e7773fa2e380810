"""fast.py - which directories may be fast roots, and what sandbash says about them."""

import json
import os

from tap import BIN, check, contains, equal, lacks, run_all, test

STYLE = "sandbash: cannot make '{}' fast"


def say(fx, *flags):
    return fx.sandbash(*flags, "true")


def refused(fx, *flags, parts):
    result = say(fx, *flags)
    equal(result.status, 125, f"{flags}: {result.stderr}")
    for part in parts:
        contains(result.stderr, part, str(flags))
    contains(result.stderr, "\nhint: ", str(flags))


def taken(fx, *flags):
    result = say(fx, *flags)
    equal((result.status, result.stderr), (0, ""), str(flags))


@test("a directory for output is taken, from every place where the user's rules stand")
def is_taken(fx):
    (fx.project / "build").mkdir()
    fx.write(fx.dir / "rules", "fast build\n")
    taken(fx, "--rule=fast build")
    taken(fx, f"--rule=fast {fx.project}/build")
    taken(fx, f"--policy={fx.dir}/rules")
    fx.config("fast build\n")
    contains(fx.sandbash("--print-policy").stdout, f"\nfast {fx.project}/build ")
    taken(fx)
    lacks(fx.sandbash("--rule=write build", "--print-policy").stdout, "\nfast ")


@test("a place that is guarded, or holds more than output, is refused")
def is_guarded(fx):
    fx.git_project()
    for name in (".vscode/sub", "x/hooks", "build", ".config/systemd"):
        (fx.project / name).mkdir(parents=True)
    fx.run("git", "init", "-q", "--bare", "repo")
    for name, reason in ((".", "is the project"), ("..", "holds the project"),
                         ("/", "holds the project"), ("~", "holds the project"),
                         (".git", "is guarded there"), (".git/refs", "is guarded there"),
                         (".vscode", "is guarded there"), (".config/systemd", "is guarded there"),
                         ("x/hooks", "is guarded there"), ("repo", "is guarded there"),
                         (".config", "is guarded there")):
        refused(fx, f"--rule=fast {name}", parts=["sandbash: cannot make '", "' fast", reason])
    taken(fx, "--rule=fast build")


@test("hooks that git's config names are no fast root")
def hooks_path(fx):
    fx.git_project()
    (fx.project / "build/hooks-of-mine").mkdir(parents=True)
    taken(fx, "--rule=fast build")
    equal(fx.run("git", "config", "core.hooksPath", "build/hooks-of-mine").status, 0)
    refused(fx, "--rule=fast build", parts=["is guarded there"])
    refused(fx, "--rule=fast build/hooks-of-mine", parts=["is guarded there"])


@test("another rule about something inside is refused, and both are named")
def other_rules(fx):
    (fx.project / "build/sub").mkdir(parents=True)
    for rule in ("deny build/secret", "read build/sub", "ask build/sub", "deny **/.env",
                 "read+create build/sub", "ask build/*.txt", "deny build/sub/deeper"):
        refused(fx, "--rule=fast build", f"--rule={rule}",
                parts=[STYLE.format(fx.project / "build") + " (--rule=fast build)",
                       f"(--rule={rule})"])
    for rule in ("deny src/*.pem", "read README", "write build/sub", "deny *.pem", "ask builds"):
        taken(fx, "--rule=fast build", f"--rule={rule}")
    # what sandbash itself closes, in a directory that holds it
    (fx.home / "x/.config/sandbash").mkdir(parents=True)
    result = fx.sandbash("--rule=fast ~/x", f"--config-dir={fx.home / 'x/.config/sandbash'}", "true")
    equal(result.status, 125, result.stderr)
    contains(result.stderr, "built-in")


@test("no link that a command could have made chooses a fast root")
def links(fx):
    for name in ("src", "real"):
        (fx.project / name).mkdir()
    os.symlink("src", fx.project / "build")
    refused(fx, "--rule=fast build", parts=["a command could have made the link",
                                            f"name what it leads to: '{fx.project}/src'"])
    os.symlink(fx.project / "build", fx.home / "mine")  # the user's own, by way of that one
    refused(fx, "--rule=fast ~/mine", parts=["a command could have made the link"])
    os.symlink(fx.project, fx.home / "short")
    taken(fx, "--rule=fast ~/short/real")


@test("a file inside the project says nothing about fast roots")
def in_project(fx):
    (fx.project / "build").mkdir()
    fx.write("rules", "fast build\n")
    refused(fx, "--policy=rules", parts=["line 1: 'fast' in a file that lies inside the project"])
    fx.write("rules", "write build\n")
    taken(fx, "--policy=rules")


@test("what is no single directory is refused; what is not there is skipped")
def no_directory(fx):
    fx.write("file", "x")
    (fx.project / "build").mkdir()
    for rule, status, part in (("fast b*", 2, "it has wildcards"), ("fast file", 125, "directory"),
                               ("fast+read build", 2, "stands alone"), ("fast", 2, "needs a value"),
                               ("fast gone", 0, "skipping 'gone'")):
        result = say(fx, f"--rule={rule}")
        equal(result.status, status, f"{rule}: {result.stderr}")
        contains(result.stderr, part, rule)


@test("--status, --explain, --dry-run and --list-paths tell a fast root")
def told(fx):
    (fx.project / "build").mkdir()
    rule = "--rule=fast build"
    status = fx.sandbash(rule, "--status")
    contains(status.stdout, f"fast, where nothing is guarded:\n  {fx.project}/build")
    old = fx.run(fx.tool("without"), "landlock-abi=2", "--", BIN, rule, "--status")
    contains(old.stdout, "fast, but no faster than others: Landlock ABI 2 cannot hold it:\n")
    static = fx.run(BIN, "--static", rule, "--status")
    contains(static.stdout, "fast, which is no more than writable in such a run:\n")
    explained = fx.sandbash(rule, "--explain=build/x")
    contains(explained.stdout, f"rule 'fast {fx.project}/build', --rule=fast build")
    contains(explained.stdout, "in a fast root: no name there is guarded")
    lacks(fx.sandbash(rule, "--explain=x").stdout, "fast root")
    dry = fx.sandbash(rule, "--dry-run", "true")
    contains(dry.stdout, f"  fast       {fx.project}/build  # --rule=fast build")
    contains(fx.sandbash(rule, "--list-paths").stdout, f"  fast {fx.project}/build\n")
    for words in (("--status",), ("--explain=build/x",), ("--print-policy",), ("--list-paths",)):
        text = fx.sandbash(rule, "--json", *words).stdout
        contains(json.dumps(json.loads(text)), '"fast": true', words[0])


@test("a printed policy with a fast root is read back")
def read_back(fx):
    (fx.project / "build").mkdir()
    first = fx.sandbash("--rule=fast build", "--print-policy").stdout
    fx.write(fx.dir / "printed", first)
    second = fx.sandbash(f"--policy={fx.dir}/printed", "--print-policy").stdout
    rules = [[line.split("#")[0].strip() for line in text.splitlines()] for text in (first, second)]
    check(f"fast {fx.project}/build" in rules[1], second)
    equal(set(rules[0]) - set(rules[1]), set())


@test("in a static run fast means write")
def static(fx):
    (fx.project / "build").mkdir()
    result = fx.sandbash("--static", "--rule=fast build", "bash", "-c",
                         "touch build/x && mv build/x y && mv y build/z")
    equal(result.status, 0, result.stderr)


run_all()
