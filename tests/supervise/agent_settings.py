"""agent_settings.py - directories and files of agents: what they remember lands, what they run is asked about."""

import json

from attack import works
from tap import check, contains, equal, run_all, test

BOTH = ("full", "flat")

# As claude writes it: a lock, a name of its own, a rename.
WRITE = """
import json, os, sys
path, how, change = sys.argv[1:]
old = json.load(open(path)) if os.path.exists(path) else {}
exec(change)
text = json.dumps(old, indent=2)
if how == "rename":
    os.mkdir(path + ".lock")
    temp = f"{path}.tmp.{os.getpid()}.1"
    with open(temp, "x") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    try:
        os.rename(temp, path)
    finally:
        os.rmdir(path + ".lock")
        if os.path.exists(temp):
            os.unlink(temp)
elif how == "place":
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.ftruncate(fd, 0)
    os.write(fd, text[:10].encode())
    os.write(fd, text[10:].encode())
    os.close(fd)
else:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(fd, text.encode())
    os.close(fd)
"""
WAYS = ("rename", "place", "trunc")
BEFORE = {"numStartups": 1, "mcpServers": {"mine": {"command": "mine"}},
          "projects": {"/p": {"hasTrustDialogAccepted": False, "disabledMcpjsonServers": ["bad"]}}}
LANDS = {
    "a counter": "old['numStartups'] += 1",
    "a new project": "old['projects']['/plugin/hooks'] = {'allowedTools': [], 'hasTrustDialogAccepted': False}",
    "a server that goes": "del old['mcpServers']['mine']",
    "flags of its maker": "old['cachedGrowthBookFeatures'] = {'tengu_mcp_hooks': True}",
}
ASKS = {
    "a server": "old['mcpServers']['evil'] = {'command': 'sh'}",
    "another command": "old['mcpServers']['mine'] = {'command': 'sh'}",
    "trust": "old['projects']['/p']['hasTrustDialogAccepted'] = True",
    "a server that is off no more": "old['projects']['/p']['disabledMcpjsonServers'] = []",
    "variables": "old['env'] = {'PATH': '/x'}",
}


def change(fx, path, how, code, *flags, sandboxed=True):
    """The file before and after, and how it went."""
    path.write_text(json.dumps(BEFORE))
    words = ("python3", "-c", WRITE, path, how, code)
    result = fx.sandbash("--consent=deny", *flags, *words) if sandboxed else fx.run(*words)
    return result, json.loads(path.read_text())


def expected(code):
    old = json.loads(json.dumps(BEFORE))
    exec(code)
    return old


def goes_through(fx, path, *flags):
    for name, code in LANDS.items():
        for how in WAYS:
            result, after = change(fx, path, how, code, *flags)
            works(result, f"{name}, {how}")
            equal(after, expected(code), f"{name}, {how}")
    for name, code in ASKS.items():
        for how in WAYS:
            result, after = change(fx, path, how, code, sandboxed=False)
            equal((result.status, after), (0, expected(code)), f"control: {name}, {how}")
            result, after = change(fx, path, how, code, *flags)
            equal(after, BEFORE, f"{name}, {how}: {result.stderr}")


@test("claude's file in a project", variants=BOTH)
def in_project(fx):
    goes_through(fx, fx.project / ".claude.json")


@test("claude's file in a directory that is opened: $CLAUDE_CONFIG_DIR", variants=BOTH)
def in_directory(fx):
    directory = fx.home / "claude-config"
    directory.mkdir()
    goes_through(fx, directory / ".claude.json", f"--allow-write={directory}")


@test("a rule that names the very file opens it")
def named(fx):
    path = fx.project / ".claude.json"
    code = ASKS["a server"]
    result, after = change(fx, path, "place", code, f"--allow-write={path}")
    works(result)
    equal(after, expected(code))


@test("claude's file is made in a home that is closed, by a rule that does not open the name", variants=BOTH)
def made_at_home(fx):
    fx.config("write ~/.claude.json\nwrite ~/.claude.json.*\n", "profiles/p.rules")
    path, harmless, server = fx.home / ".claude.json", '{"userID": "a"}', json.dumps(
        {"mcpServers": {"x": {"command": "y"}}})
    for script in ('printf %s "$1" >~/.claude.json',
                   'printf %s "$1" >~/.claude.json.tmp.1; mv ~/.claude.json.tmp.1 ~/.claude.json'):
        works(fx.sandbash("--profile=p", "--consent=deny", "sh", "-c", script, "-", harmless))
        equal(path.read_text(), harmless, script)
        path.unlink()
        result = fx.sandbash("--profile=p", "--consent=deny", "sh", "-c", script, "-", server)
        check(not path.exists(), f"{script}: {result.stderr}")
        fx.run("sh", "-c", script, "-", server)
        equal(path.read_text(), server, "the control")
        path.unlink()


@test("a second name for a file of claude's: what lands is a copy that was looked at", variants=BOTH)
def linked(fx):
    path, harmless, server = fx.project / ".claude.json", '{"userID": "a"}', json.dumps(
        {"mcpServers": {"x": {"command": "y"}}})
    script = 'printf %s "$1" >t; ln t .claude.json && printf %s "$2" >t'
    works(fx.sandbash("--consent=deny", "sh", "-c", script, "-", harmless, server))
    equal(path.read_text(), harmless, "what is written by the first name stays there")
    result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script, "-", harmless, server)
    check(result.status != 0 and "File exists" in result.stderr, result.stderr)
    path.unlink()
    fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script, "-", server, server)
    check(not path.exists(), "a server")
    fx.run("sh", "-c", script, "-", harmless, server)
    equal(path.read_text(), server, "the control")


@test("a project's settings ask when they are opened, whatever is to be written; looks land at home", variants=BOTH)
def looks(fx):
    fx.path(".claude").mkdir()
    script = """printf '{"theme": "dark"}' >.claude/settings.json && echo MADE"""
    result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script)
    equal(result.stdout, "")
    check(not fx.exists(".claude/settings.json"), "made")
    (fx.home / ".claude").mkdir()
    fx.config("write ~/.claude/settings.json\n", "profiles/p.rules")
    at_home = script.replace(".claude", f"{fx.home}/.claude")
    works(fx.sandbash("--profile=p", "--consent=deny", "sh", "-c", at_home))
    equal((fx.home / ".claude/settings.json").read_text(), '{"theme": "dark"}')
    fx.sandbash("--profile=p", "--consent=deny", "--quiet", "sh", "-c", at_home.replace("theme", "hooks"))
    equal((fx.home / ".claude/settings.json").read_text(), '{"theme": "dark"}')
    equal(fx.run("sh", "-c", script).stdout, "MADE\n", "the control")


@test("claude's file is made, emptied and removed", variants=BOTH)
def made(fx):
    path = fx.project / ".claude.json"
    works(fx.sandbash("--consent=deny", "sh", "-c", "echo '{\"userID\": \"a\"}' >.claude.json"))
    equal(path.read_text(), '{"userID": "a"}\n')
    works(fx.sandbash("--consent=deny", "sh", "-c", ": >.claude.json"))
    equal(path.read_text(), "")
    path.write_text(json.dumps(BEFORE))  # it keeps a server from being started
    fx.sandbash("--consent=deny", "sh", "-c", ": >.claude.json")
    equal(json.loads(path.read_text()), BEFORE)
    for text in ("{", '{"a": 1, "a": 2}', '{"mcpServers": {"x": {"command": "y"}}}'):
        path.unlink()
        fx.sandbash("--consent=deny", "sh", "-c", 'printf %s "$1" >.claude.json', "-", text)
        check(not path.exists() or path.read_text() == "", text)
        fx.sandbash("--consent=deny", "sh", "-c",
                    'rm -f .claude.json; mkdir d; printf %s "$1" >d/.claude.json; mv d/.claude.json .; rm -rf d', "-", text)
        check(not path.exists(), text)
        path.touch()


STATE = """.codex/sessions/2026/11/17/rollout-1.jsonl .codex/archived_sessions/x .codex/history.jsonl
.codex/installation_id .codex/version.json .codex/models_cache.json .codex/state_5.sqlite .codex/state_5.sqlite-wal
.codex/log/codex-tui.log .codex/thread-writer-locks/x.lock .codex/shell_snapshots/x.sh .codex/.tmp/plugins.sync.lock
.codex/worktrees/1/p/main.c .gemini/tmp/p/chats/x.json .gemini/history/p/.project_root .gemini/state.json
.gemini/projects.json .gemini/projects.json.tmp .gemini/installation_id .qwen/tmp/x/y .qwen/projects/x/chats/y.jsonl
.claude/projects/x/y.jsonl .claude/stats-cache.json .opencode/plans/x.md""".split()
RUN = """.codex/config.toml .codex/hooks.json .codex/rules/default.rules .codex/skills/x/SKILL.md .codex/auth.json
.codex/packages/standalone/x .codex/.tmp/plugins/x/hooks.json .codex/anything .gemini/settings.json
.gemini/trustedFolders.json .gemini/tmp/bin/rg .gemini/commands/x.toml .gemini/anything .qwen/settings.json
.qwen/locales/x.js .claude/settings.json .claude/.config.json .claude/session-env/1/x.sh .claude/local/claude .opencode/plugin/x.ts
.codex/worktrees/1/p/.vscode/tasks.json .codex/tmp/.gemini/settings.json""".split()
PUT = 'for name; do mkdir -p "$(dirname "$name")"; (echo x >"$name") || :; done'


@test("what agents remember lands, what they run does not", variants=BOTH)
def directories(fx):
    works(fx.sandbash("--consent=deny", "sh", "-c", PUT, "-", *STATE))
    for name in STATE:
        equal((fx.project / name).read_text(), "x\n", name)
    fx.sandbash("--consent=deny", "sh", "-c", PUT, "-", *RUN)
    for name in RUN:
        path = fx.project / name
        check(not path.exists() or path.read_text() == "", name)
    equal(fx.run("sh", "-c", PUT, "-", *RUN).status, 0)
    equal((fx.project / ".codex/config.toml").read_text(), "x\n", "control")


@test("directories of state move, programs do not come with them", variants=BOTH)
def moved(fx):
    works(fx.sandbash("--consent=deny", "sh", "-c", "mkdir -p .gemini/tmp/1a2b && echo x >.gemini/tmp/1a2b/logs.json"
                      " && mv .gemini/tmp/1a2b .gemini/tmp/p"))
    equal((fx.project / ".gemini/tmp/p/logs.json").read_text(), "x\n")
    for script in ("mkdir d; echo x >d/rg; mv d .gemini/tmp/bin", "mkdir -p t/bin; echo x >t/bin/rg; rm -r .gemini; mv t .gemini",
                   "mkdir -p e; ln -s ../../e .gemini/tmp/bin; echo x >e/rg",
                   "mkdir -p e; echo x >e/config.toml; ln -s e .codex"):
        fx.run("rm", "-rf", ".gemini", ".codex", "d", "t", "e")
        (fx.project / ".gemini/tmp").mkdir(parents=True)
        fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script)
        for name in (".gemini/tmp/bin/rg", ".gemini/bin/rg", ".codex/config.toml"):
            check(not (fx.project / name).exists(), f"{script}: {name}")
        fx.run("sh", "-c", f"rm -rf .gemini .codex d t e; mkdir -p .gemini/tmp; {script}")
        check(any((fx.project / name).exists() for name in (".gemini/tmp/bin/rg", ".gemini/bin/rg", ".codex/config.toml")),
              f"control: {script}")


@test("what agents remember in a project is no link, and holds none: an agent outside would write through it", variants=BOTH)
def links(fx):
    plant = 'mkdir -p $(dirname "$1"); ln -s "$PWD/elsewhere" "$1"; ln -s "$PWD/elsewhere" l; mv l "$1"; true'
    for name in (".codex/log", ".codex/log/x", ".codex/sessions/2026/x.jsonl", ".codex/history.jsonl", ".gemini/tmp", ".gemini/tmp/a/b",
                 ".qwen/debug/x", ".opencode/plans", ".opencode/plans/x.md"):
        fx.sandbash("--consent=deny", "--quiet", "sh", "-c", plant, "-", name)
        check(not (fx.project / name).is_symlink(), name)
        fx.run("rm", "-rf", name, "l")
        fx.run("sh", "-c", plant, "-", name)
        check((fx.project / name).is_symlink(), f"control: {name}")
        fx.run("rm", "-rf", name, "l")
    works(fx.sandbash("--consent=deny", "sh", "-c", "mkdir -p .codex/log && echo x >.codex/log/x && ln -s x src"))
    works(fx.sandbash("--consent=deny", "sh", "-c", "mkdir -p .codex/tmp/arg0 && ln -s /bin/true .codex/tmp/arg0/x"),
          "as Codex does at every start")


EVIL, HARMLESS = "[core]\\n\\tfsmonitor = evil\\n", "[user]\\n\\tname = me\\n"


@test("settings of the git that makes an agent's checkpoints are git's settings", variants=BOTH)
def checkpoints(fx):
    names = [f"{agent}/history/h/{name}" for agent in (".gemini", ".qwen") for name in
             (".gitconfig", ".gitconfig_system_empty", "git/config")]
    put = 'mkdir -p $(dirname "$1"); printf "$2" >"$1"'
    moved = ('rest=${1#*/*/*/} in=${1%%/*}/history; mkdir -p t/git $in; '
             'printf "$2" >t/$rest; mv t $in/h')
    for name, script in ((name, script) for name in names for script in (put, moved)):
        works(fx.sandbash("--consent=deny", "sh", "-c", script, "-", name, HARMLESS), f"{name}: {script}")
        check(fx.read(name).startswith("[user]"), name)
        fx.run("rm", "-rf", ".gemini", ".qwen", "t")
        fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script, "-", name, EVIL)
        check(not fx.exists(name) or fx.read(name) == "", f"{name}: {script}")
        fx.run("rm", "-rf", ".gemini", ".qwen", "t")
        fx.run("sh", "-c", script, "-", name, EVIL)
        contains(fx.read(name), "evil", "control")
        fx.run("rm", "-rf", ".gemini", ".qwen", "t")


AROUND = ("mv d .gemini/history/h", "mkdir x; mv d x/h; rmdir .gemini/history; mv x .gemini/history",
          "mkdir x; mv d x/h; mkdir y; mv x y/history; rm -r .gemini; mv y .gemini",
          "ln -s $PWD/d .gemini/history/h", "ln -s ../../d .gemini/history/h",
          "rmdir .gemini/history; mkdir x; mv d x/h; ln -s ../x .gemini/history",
          "mkdir .gemini/history/x; mv d .gemini/history/x/h; mv .gemini/history/x/h .gemini/history/h",
          "mkdir .gemini/history/x; mv d .gemini/history/x/h; ln -s x/h .gemini/history/h",
          "mkdir -p .gemini/history/x .gemini/history/h; mv d .gemini/history/x/h; "
          "ln -s ../x/h/git .gemini/history/h/git")


@test("settings of the git that makes an agent's checkpoints: by moves and links", variants=BOTH)
def around(fx):
    for script in AROUND:
        for inside in (False, True):
            fx.run("rm", "-rf", ".gemini", "d", "x", "y")
            fx.run("mkdir", "-p", ".gemini/history")
            fx.write("d/git/config", "[core]\n\tfsmonitor = evil\n")
            if inside:
                fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script)
            else:
                fx.run("sh", "-c", script)
            equal((fx.project / ".gemini/history/h/git/config").exists(), not inside, script)
    works(fx.sandbash("--consent=deny", "sh", "-c", "rm -rf x y d; mkdir -p d/a/git; ln -s d history; mv d e; rm history;"
                      "mv e history; ln -s a history/b; mkdir -p .gemini/history; mv history/a .gemini/history/a"))


run_all()
