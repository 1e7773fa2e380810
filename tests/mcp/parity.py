"""parity.py - the same rule gets the same answer, whoever asks.

A table of policies, and a generator of more, is asked about a table of paths: --explain says what may be
read, changed, made and removed.  Then each of these acts is tried, on a fresh tree, by a run, by a static
run, by run_command and by a file tool; what_may_i_do is asked, and --print-policy is read back as a
policy, explained again, and tried again.  The first difference fails the test.

Where file tools differ by design (F1, P8) is_bounded() says so, and nothing else may.

    SANDBASH_TEST_SEED=N        the generator's seed (default: 1)
    SANDBASH_TEST_POLICIES=N    how many it makes
    SANDBASH_TEST_SPREAD=0      root tries all of the table, and not every third: what is said is the same for everybody,
                                and each kind of rule holds for root in tests/enforce
"""

import json
import os
import random
import shlex
import shutil


from mcp import Server
from tap import Failed, check, equal, run_all, test

# What is there, relative to the home directory; the project is home/project.
THERE = {
    "project/plain.txt": "plain\n",
    "project/sub/deep.txt": "deep\n",
    "project/sub/deeper/file": "deeper\n",
    "project/secret/key": "secret\n",
    "project/x.key": "key\n",
    "project/notes/n.txt": "note\n",
    "project/build/out.o": "object\n",   # git ignores it
    "project/.vscode/tasks.json": "{}\n",
    "project/.envrc": "true\n",
    "project/.git/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
    "project/.git/HEAD": "ref: refs/heads/main\n",
    "project/.git/hooks/post-checkout": "#!/bin/sh\n",
    "project/.gitignore": "build/\n",
    "other/file": "other\n",
    "other/deep/file": "other deep\n",
    ".bashrc": "# start\n",
    ".ssh/id_rsa": "private\n",
    ".config/app/settings": "settings\n",
}
MISSING = ("project/new.txt", "project/sub/new", "project/secret/new", "project/new.key",
           "project/notes/new", "project/.git/hooks/pre-commit", "project/.vscode/launch.json",
           "project/.claude/agents/a.md", "other/new", ".zshrc", ".config/app/new",
           ".config/autostart/x.desktop")
# Nor is the directory that would hold it, which is made first.
PARENTLESS = ("project/no/new.txt", "project/no/.envrc", "project/no/.vscode/launch.json",
              "project/no/er/.git/hooks/pre-commit", "project/no/.git/config", "project/secret/no/new",
              "project/sub/no/new.key", "project/.git/no/x",
              "project/build/no/x.o", "other/no/new", "no/.bashrc", ".config/no/new", ".ssh/no/key")
IGNORED = ("project/build/out.o",)
NOT_ACTED_ON = ("project/.git/HEAD", "project/.gitignore")  # what the others hang on
DIRECTORIES = ("project/.git/objects", "project/.git/refs", "project/.claude")
LINKS = {"project/lk": "secret", "project/turn": "sub/deeper"}
MORE = "# more\n"  # harmless wherever contents are looked at

POLICIES = (
    [],
    ["--deny=secret"],
    ["--deny=**/*.key"],
    ["--ask=notes"],
    ["--allow-write=../other"],
    ["--allow-read=../other"],
    ["--allow-read=~/.ssh"],
    ["--allow-read=~/.ssh/id_rsa"],
    ["--rule=read+create sub"],
    ["--rule=read+modify sub", "--deny=sub/deeper"],
    ["--deny=sub", "--allow-read=sub/deep.txt"],
    ["--allow-read=sub", "--allow-write=sub/deeper"],
    ["--allow-write=.git/hooks"],
    ["--protect-ignored", "--allow-write=."],
    ["--allow-write=.git"],
    ["--deny=secret", "--rule=write lk/key"],  # through a link a rule opens nothing, printed or not
    ["--allow-write=secret", "--rule=read lk/key", "--deny=turn/file"],
    ["--rule=tighten read secret", "--allow-write=secret/key"],
    ["--rule=modify sub"],
    ["--allow-write=.vscode/tasks.json", "--allow-write=.envrc"],
    ["--allow-write=~/.bashrc"],
    ["--allow-write=~/.config"],
    ["--allow-write=~/.config/autostart"],
    ["--mode=read-only"],
    ["--mode=read-only", "--allow-write=sub"],
    ["--protect-ignored"],
    ["--protect-ignored", "--allow-write=build"],
    ["--deny=../other", "--allow-write=../other/deep"],
    ["--network=off", "--no-tmp", "--allow-read=.git"],
    ["--rule=quiet sub", "--rule=quiet ../other", "--allow-write=sub/deeper"],
    ["--rule=read+create ~/.zshrc", "--rule=deny .."],  # not there, in what is hidden
    ["--deny=secret", "--rule=read+create secret/new"],
    ["--allow-write=."],
    ["--rule=read+delete .", "--mode=read-only"],
    ["--rule=read+modify+quiet:delete notes", "--rule=quiet .git/hooks", "--rule=quiet ~/.bashrc"],
)


def make_tree(fx):
    for name in ("project/no", "project/secret/no", "project/sub/no", "project/.git/no",
                 "project/build/no", "other/no", "no", ".config/no", ".ssh/no"):
        shutil.rmtree(fx.home / name, ignore_errors=True)
    for name in DIRECTORIES:
        (fx.home / name).mkdir(parents=True, exist_ok=True)
    for name in MISSING:
        path = fx.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
    for name, text in THERE.items():
        path = fx.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text() != text:
            path.write_text(text)
    (fx.home / "project/.git/hooks/post-checkout").chmod(0o755)
    for name, target in LINKS.items():
        path = fx.home / name
        if not path.is_symlink():
            path.symlink_to(target)


def subjects():
    return [name for name in (*THERE, *MISSING, *PARENTLESS) if name not in NOT_ACTED_ON]


def acts():
    """(act, path, operation)"""
    for name in subjects():
        if name in THERE:
            yield "read", name
            yield "modify", name
        else:
            yield "create", name
    for name in subjects():
        if name in THERE:
            yield "delete", name


# --- what is said -------------------------------------------------------------------------------


def is_for_all(fx, pattern):
    """A rule for a whole repository is about nothing that git ignores in it."""
    return f"{fx.project}/".startswith(f"{pattern.rstrip('/')}/")


UNSEEN = {}  # by path: what is made in a hidden directory cannot be seen, as --explain and the run say


def explain(fx, flags):
    """{path: {operation: (verdict, is a rule of the user's)}}"""
    found = {}
    words = " ".join(shlex.quote(word) for word in fx.argv(*flags))
    # one shell asks about all of them: starting each from here took longer than the answers
    result = fx.run("sh", "-c", f'for path; do {words} --explain="$path" --json || exit; done', "-",
                    *(fx.home / name for name in subjects()))
    equal(result.status, 0, result.stderr)
    texts = result.stdout
    for name in subjects():
        told, end = json.JSONDecoder().raw_decode(texts)
        texts = texts[end:].lstrip()
        decisions = told["decisions"]
        UNSEEN[name] = told["unseen"]
        found[name] = {op: (said["verdict"],
                            said["rule"] is not None and said["rule"]["tier"] != "built-in" and
                            not (name in IGNORED and is_for_all(fx, said["rule"]["pattern"])))
                       for op, said in decisions.items()}
    return found


def read_back(fx, flags):
    """--print-policy as the one policy file: the flag of a run that has no others."""
    printed = fx.sandbash(*flags, "--print-policy")
    equal(printed.status, 0, printed.stderr)
    text = fx.write(fx.dir / "printed.policy", printed.stdout)
    return f"--policy={text}"


def may(verdict):
    return verdict in ("allow", "check")


# --- what is done -------------------------------------------------------------------------------


# Tries acts, and says which went well as far as it can tell; the disk says the rest.  One process for all of them: a
# program for each took longer than the answers.
ACTS = """
import os, sys
def act(kind, path):
    if kind == "read":
        open(path, "rb").read()
    elif kind == "delete":
        os.unlink(path)
    else:
        if kind == "create":
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a" if kind == "modify" else "w") as file:
            file.write(sys.argv[1])
for kind, path in zip(sys.argv[2::2], sys.argv[3::2]):
    try:
        act(kind, path)
        print(kind, path)
    except OSError:
        pass
"""


def words_of(fx, chosen):
    """The command that tries these acts"""
    return ["python3", "-ISc", ACTS, MORE, *(word for act, name in chosen for word in (act, str(fx.home / name)))]


def seen_on_disk(fx, act, name, said):
    path = fx.home / name
    if act == "read":
        return said
    if act == "delete":
        return not os.path.lexists(path)
    return path.is_file() and path.read_text().endswith(MORE)


def do_by_command(fx, run):
    """{(act, path): done}; run takes the words of a command and returns what it printed."""
    done = {}
    for phase in (("read", "modify", "create"), ("delete",)):
        chosen = [pair for pair in acts() if pair[0] in phase]
        said = run(words_of(fx, chosen)).splitlines()
        for act, name in chosen:
            done[act, name] = seen_on_disk(fx, act, name, f"{act} {fx.home / name}" in said)
    return done


def by_run(fx, *flags):
    def run(words):
        result = fx.sandbash(*flags, "--consent=deny", "--quiet", *words)
        equal(result.status, 0, result.stderr)
        return result.stdout
    make_tree(fx)
    return do_by_command(fx, run)


def by_run_command(fx, flags):
    make_tree(fx)
    server = Server(fx, *flags, "--consent=deny")
    done = do_by_command(
        fx, lambda words: server.data("run_command", command=shlex.join(words), outputLimit=100000)["stdout"])
    server.close()
    return done


def tool_call(server, fx, act, name):
    path = str(fx.home / name)
    if act == "read":
        return server.call("read_text_file", path=path)
    if act == "delete":
        return server.call("delete_file", path=path)
    if name in PARENTLESS:
        server.call("create_directory", path=os.path.dirname(path))
    return server.call("write_file", path=path, content=THERE.get(name, "") + MORE)


def by_tools(fx, flags):
    """({(act, path): done}, {path: {operation: verdict}} as what_may_i_do says)"""
    make_tree(fx)
    server = Server(fx, *flags, "--consent=deny")
    told, done = {}, {}
    for name in subjects():
        decisions = server.data("what_may_i_do", path=str(fx.home / name))["decisions"]
        told[name] = {op: said["verdict"] for op, said in decisions.items()}
    for act, name in acts():
        went_well = not tool_call(server, fx, act, name).get("isError")
        done[act, name] = seen_on_disk(fx, act, name, went_well)
        equal(done[act, name], went_well, f"{act} {name}: what the tool says and what happened")
    server.close()
    return done, told


# --- what must agree ----------------------------------------------------------------------------


def is_bounded(name, op, verdict, is_users):
    """File tools ask about this, and commands do not."""
    outside = not name.startswith("project/")
    if verdict != "allow":
        return False
    if outside and not is_users:
        return True  # F1: reading is bounded by the roots
    return name in IGNORED and op in ("modify", "delete") and not is_users  # P8


def compare(fx, flags, label):
    make_tree(fx)
    said = explain(fx, flags)
    wrong = []

    def expect(got, want, what):
        if got != want:
            wrong.append(f"{what}: got {got!r}, want {want!r}")

    def agrees(who, done, explained, hides=True):
        for act, name in acts():
            # a wildcard may be about the file alone: then its directory cannot be made
            if name in PARENTLESS and not done[act, name] and any("*" in flag for flag in flags):
                continue
            expect(done[act, name], may(explained[name][act]) and not (hides and UNSEEN[name]),
                   f"{who}, {act} {name} (--explain: {said[name][act][0]})")

    def verdicts(explained):
        return {name: {op: verdict for op, (verdict, _) in ops.items()}
                for name, ops in explained.items()}

    agrees("a run", by_run(fx, *flags), verdicts(said))
    agrees("run_command", by_run_command(fx, flags), verdicts(said))
    if "--protect-ignored" not in flags:  # a static run says that it cannot
        static = explain_static(fx, flags)
        for name, ops in verdicts(static).items():
            expect("ask" in ops.values(), False, f"--static --explain, which asks nobody, {name}")
        agrees("a static run", by_run(fx, "--static", *flags), verdicts(static))
    make_tree(fx)
    printed = read_back(fx, flags)
    again = verdicts(explain(fx, [printed]))
    for name, ops in verdicts(said).items():
        expect(again[name], ops, f"--print-policy read back, {name}")
    agrees("a run by the printed policy", by_run(fx, printed), verdicts(said))
    done, told = by_tools(fx, flags)
    for name in subjects():
        for op, (verdict, is_users) in said[name].items():
            bounded = is_bounded(name, op, verdict, is_users)
            if op not in ("modify", "delete") or name in THERE:
                expect(told[name][op], "ask" if bounded else verdict,
                       f"what_may_i_do, {op} {name} (--explain: {verdict})")
    agrees("a file tool", done, told, hides=False)
    fx.history.clear()
    check(not wrong, f"{label}:\n  " + "\n  ".join(wrong))


def explain_static(fx, flags):
    make_tree(fx)
    return explain(fx, ["--static", *flags])


def compare_all(fx, policies):
    """All of them, so that one look shows what is wrong."""
    wrong = []
    for flags, label in policies:
        try:
            compare(fx, flags, label)
        except Failed as failed:
            wrong.append(str(failed))
    check(not wrong, "\n".join(wrong))


@test("the table: one policy, one answer")
def table(fx):
    is_part = os.geteuid() == 0 and os.environ.get("SANDBASH_TEST_SPREAD") != "0"
    compare_all(fx, ((flags, " ".join(flags) or "no flags") for flags in POLICIES[::3 if is_part else 1]))


@test("a rule for a directory of everybody's settings opens no name in it, one for a name does")
def shared_settings(fx):
    make_tree(fx)
    name = ".config/autostart/x.desktop"
    for rule, verdict in (("~/.config", "ask"), ("~/.config/autostart", "allow")):
        equal(explain(fx, [f"--allow-write={rule}"])[name]["create"][0], verdict, rule)
    equal(explain(fx, ["--allow-write=~/.config"])[".config/app/new"]["create"][0], "allow")


# --- the generator ------------------------------------------------------------------------------

PATTERNS = ("sub", "sub/deep.txt", "sub/deeper", "secret", "secret/key", "notes", "*.key", "**/*.key", "sub/**/file",
            "build", ".git", ".git/hooks", ".git/config", ".vscode", ".vscode/tasks.json", ".envrc",
            "../other", "../other/deep", "~/.ssh", "~/.bashrc", "~/.config", "~/.config/app/*", "plain.txt", "p*.txt",
            "lk", "lk/key", "turn", "turn/file", ".claude", ".claude/agents", ".git/hooks/post-checkout",
            ".git/hooks/pre-commit", "no", "no/.envrc", "no/er", "~/.config/autostart", "sub/*", "**/new", "**/.envrc",
            "~/.ssh/id_rsa", "..", "~/.zshrc", "../other/*", ".git/*", "**/hooks", "*/key")
ACCESSES = ("read", "write", "deny", "ask", "read+create", "read+modify", "read+modify+ask:delete",
            "read+ask:modify+create", "read+delete", "quiet", "read+create+quiet:delete", "tighten read", "tighten ask",
            "read+ask:create", "modify", "create", "tighten write")


def random_policy(chance):
    chosen = chance.sample(PATTERNS, chance.randint(1, 4))
    flags = [f"--rule={chance.choice(ACCESSES)} {pattern}" for pattern in chosen]
    if chance.random() < 0.2:
        flags.append("--mode=read-only")
    if chance.random() < 0.2:
        flags.append("--protect-ignored")
    return flags


@test("random policies: one policy, one answer")
def generated(fx):
    seed = int(os.environ.get("SANDBASH_TEST_SEED") or 1)
    count = int(os.environ.get("SANDBASH_TEST_POLICIES") or 8)
    made = (random_policy(random.Random(seed + number)) for number in range(count))
    compare_all(fx, ((flags, f"seed {seed}: {' '.join(map(shlex.quote, flags))}") for flags in made))


run_all()
