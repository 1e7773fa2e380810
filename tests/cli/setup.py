"""setup.py - --setup: an agent's own settings get the hook and the server, keep everything else byte
by byte, and lose them again."""

import concurrent.futures
import json
import os
import re
import resource
import signal
import stat
import subprocess
import time

from tap import BIN, check, contains, equal, lacks, run_all, skip, test

LEFT_ALONE, EXIT_USAGE = 1, 2
AGENTS = ("claude", "codex", "gemini", "opencode")
SERVER = BIN.parent / "sandbash-mcp"
BACKUP = ".sandbash-backup-"


def files(fx, agent):
    """The file of the hook, and that of the server."""
    home = fx.home
    return {"claude": (home / ".claude/settings.json", home / ".claude.json"),
            "codex": (home / ".codex/config.toml",) * 2,
            "gemini": (home / ".gemini/settings.json",) * 2,
            "opencode": (home / ".config/opencode/plugin/sandbash.js", home / ".config/opencode/opencode.json")}[agent]


def setup(fx, agent, *words, **how):
    return fx.sandbash("--setup", agent, *words, **how)


def done(fx, agent, *words, **how):
    result = setup(fx, agent, *words, **how)
    equal((result.status, result.stderr), (0, ""), result.stdout)
    return result.stdout


def tree(fx):
    """Every file of the home directory with its bytes, copies of ours aside."""
    found = {}
    for directory, _, names in os.walk(fx.home):
        for name in names:
            path = os.path.join(directory, name)
            if BACKUP not in name:
                found[path] = os.readlink(path) if os.path.islink(path) else open(path, "rb").read()
    return found


def copies(path):
    return sorted(path.parent.glob(path.name + BACKUP + "*"))


def hook_command(fx, agent):
    """The command that the agent would start."""
    path = files(fx, agent)[0]
    if agent == "codex":
        return json.loads(re.search(r'^command = (".*sandbash --hook.*")$', path.read_text(), re.M)[1])
    value = json.loads(path.read_text())["hooks"]["PreToolUse" if agent == "claude" else "BeforeTool"]
    return value[-1]["hooks"][0]["command"]


# --- showing ------------------------------------------------------------------------------------


@test("--setup alone shows what it would write, and writes nothing")
def shows(fx):
    before = fx.snapshot(fx.home)
    for agent in AGENTS:
        text = done(fx, agent)
        for path in files(fx, agent):
            contains(text, str(path))
        for part in ("would be added", "--hook", str(BIN), str(SERVER), "--apply"):
            contains(text, part, agent)
    equal(fx.snapshot(fx.home), before)


@test("what is no agent, and options that do not go together, are usage mistakes")
def usage(fx):
    for words in (("--setup", "emacs"), ("--setup",), ("--setup", "claude", "--apply", "--undo"), ("--apply",), ("--undo", "ls"),
                  ("--setup", "claude", "ls"), ("--setup", "claude", "--hook", "claude"), ("--setup", "claude", "--policy=rules")):
        result = fx.sandbash(*words)
        equal((result.status, result.stdout), (EXIT_USAGE, ""), str(words))
        check(result.stderr.startswith("sandbash: "), str(words))
    equal(tree(fx), {})


# --- writing ------------------------------------------------------------------------------------


@test("--apply writes hook and server by absolute paths; a second time changes nothing; --undo leaves nothing")
def applied(fx):
    for agent in AGENTS:
        text = done(fx, agent, "--apply", "--consent=deny")
        contains(text, "added")
        first = tree(fx)
        for path in files(fx, agent):
            check(path.exists(), str(path))
            equal(stat.S_IMODE(path.stat().st_mode), 0o600)
            equal(copies(path), [], "there was nothing to copy")
        joined = b"".join(first.values()).decode()
        contains(joined, str(SERVER))
        contains(joined, "--consent=deny")
        lacks(done(fx, agent, "--apply", "--consent=deny"), "added")
        contains(done(fx, agent, "--consent=deny"), "is there")
        equal(tree(fx), first)
        contains(done(fx, agent, "--undo"), "removed")
        equal(tree(fx), {}, agent)
        contains(done(fx, agent, "--undo"), "nothing to take back")


@test("the written values are what the agents' own readers expect")
def values(fx):
    for agent in AGENTS:
        done(fx, agent, "--apply", "--deny=a 'b' \"c\"")
    command = f"{BIN} --hook claude '--deny=a '\\''b'\\'' \"c\"' || sh -c "
    settings = json.loads(files(fx, "claude")[0].read_text())
    equal(list(settings), ["hooks"])
    equal(settings["hooks"]["PreToolUse"][0]["matcher"], "*")
    check(hook_command(fx, "claude").startswith(command), hook_command(fx, "claude"))
    equal(json.loads(files(fx, "claude")[1].read_text()),
          {"mcpServers": {"sandbash": {"type": "stdio", "command": str(SERVER), "args": ["--deny=a 'b' \"c\""]}}})
    equal(json.loads(files(fx, "opencode")[1].read_text()),
          {"mcp": {"sandbash": {"type": "local", "command": [str(SERVER), "--deny=a 'b' \"c\""], "enabled": True}}})
    equal(json.loads(files(fx, "gemini")[0].read_text())["mcpServers"]["sandbash"]["command"], str(SERVER))
    try:
        import tomllib
    except ImportError:
        skip("no tomllib in this Python")
    config = tomllib.loads(files(fx, "codex")[0].read_text())
    equal(config["mcp_servers"]["sandbash"], {"command": str(SERVER), "args": ["--deny=a 'b' \"c\""]})
    equal(config["hooks"]["PreToolUse"][0]["matcher"], "*")
    equal(config["hooks"]["PreToolUse"][0]["hooks"][0]["command"], hook_command(fx, "codex"))


@test("the hook that was written confines a command, and blocks when sandbash is gone")
def written_hook(fx):
    event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": str(fx.project),
             "tool_input": {"command": f"echo x > {fx.outside}/x; echo ran"}}
    done(fx, "claude", "--apply", "--consent=deny")
    command = hook_command(fx, "claude")
    result = fx.run("sh", "-c", command, input=json.dumps(event))
    equal(result.status, 0, result.stderr)
    wrapped = json.loads(result.stdout)["hookSpecificOutput"]["updatedInput"]["command"]
    equal(fx.run("bash", "-c", wrapped).stdout, "ran\n")
    check(not (fx.outside / "x").exists())
    for broken in (command.replace(str(BIN), "/nonexistent/sandbash"), command.replace("--hook claude", "--hook nobody"),
                   command.replace(str(BIN), "sh -c 'kill -9 $$' sh")):
        result = fx.run("sh", "-c", broken, input=json.dumps(event))
        equal((result.status, result.stdout), (2, ""), broken)
        check(result.stderr, "a reason")


@test("opencode's plugin changes the arguments in place, throws what is denied, and throws when sandbash is gone")
def plugin(fx):
    if fx.run("node", "--version").status != 0:
        skip("no node on this machine")
    done(fx, "opencode", "--apply", "--consent=deny")
    script = """
import { Sandbash } from "./sandbash.mjs"
const hooks = await Sandbash({ directory: process.argv[2] })
const before = hooks["tool.execute.before"]
const output = { args: { command: "echo hi", workdir: "/" } }
const args = output.args
await before({ tool: "bash" }, output)
console.log(output.args === args, args.command, args.workdir)
await before({ tool: "webfetch" }, { args: { url: "x" } })
await before({ tool: "write" }, { args: { filePath: "a", content: "b" } })
for (const bad of [{ filePath: "/etc/hosts", content: "" }, {}])
  await before({ tool: "write" }, { args: bad }).then(() => console.log("LET THROUGH"), (error) => console.log("thrown:", error.message))
"""
    text = files(fx, "opencode")[0].read_text()
    for name, source in (("good", text), ("gone", text.replace(str(BIN), "/nonexistent/sandbash"))):
        directory = fx.home / name
        fx.write(directory / "sandbash.mjs", source)
        fx.write(directory / "try.mjs", script)
        result = fx.run("node", str(directory / "try.mjs"), str(fx.project))
        if name == "gone":
            check(result.status != 0, result.stdout)
            continue
        equal(result.status, 0, result.stderr)
        lines = result.stdout.splitlines()
        contains(lines[0], f"true (cd -- {fx.project} && exec {BIN} --consent=deny --agent-report=auto -- bash -c ")
        contains(lines[1], "--allow-write=/etc/hosts")
        contains(lines[2], "thrown: ")


# --- what was there stays -----------------------------------------------------------------------

MINE = {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}
JSON_TEXTS = (
    "{}", "{}\n", "{ }\n", "{\n}\n", '{"a":1}', '{"a": 1}\n', '{\n  "a": 1\n}\n', '{\n\t"a": {\n\t\t"b": []\n\t},\n\t"c": null\n}', '{\n    "a": 1,\n    "b": [\n        1,\n        2\n    ]\n}\n',
    '{\r\n  "a": 1\r\n}\r\n', '{"hooks": {}, "mcpServers": {}, "mcp": {}}\n', '{\n  "hooks": {\n    "Stop": []\n  },\n  "z": 1\n}\n',
    '{\n  "\\u0061": "\\ud83d\\ude00 \\/ \u00e9",\n  "n": -1.50e+3\n}\n', json.dumps({"hooks": {"PreToolUse": [MINE], "BeforeTool": [MINE]}, "mcpServers": {"x": {"command": "y"}}, "mcp": {"x": {}}}, indent=2),
    json.dumps({"hooks": {"PreToolUse": [MINE, MINE], "BeforeTool": []}, "last": {"deep": {"er": [[]]}}}, indent=3))
COMMENTED = (
    '// first\n{\n  // why\n  "a": 1, // one\n  /* two */ "b": 2 // last\n}\n// end\n', '{\n  "a": 1,\n}\n', '{"a": [1,],}', '{ // only a comment\n}\n', '{"a": 1 // x\n}', '{\n  "hooks": { // mine\n  },\n}\n',
    '{\n  "mcpServers": {\n    "x": {"command": "y"}, // keep\n  },\n  "mcp": {"x": {}, /* z */ },\n}\n')


def without_comments(text):
    text = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda match: match[1] or "", text, flags=re.S)
    return json.loads(re.sub(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', lambda match: match[1] or "", text))


@test("a JSON file keeps its order, comments and blanks; applied and undone it is what it was")
def json_kept(fx):
    for agent in ("claude", "gemini", "opencode"):
        for text in (*JSON_TEXTS, *COMMENTED):
            for path in set(files(fx, agent)):
                if path.suffix == ".json":
                    fx.write(path)
                    path.write_bytes(text.encode())
            was = without_comments(text)
            done(fx, agent, "--apply")
            for path in set(files(fx, agent)):
                if path.suffix != ".json":
                    continue
                now = path.read_bytes().decode()
                value = without_comments(now)
                for key in was:
                    check(key in value, f"{agent} {text!r} -> {now!r}")
                    if key not in ("hooks", "mcpServers", "mcp"):
                        equal(value[key], was[key])
                for comment in re.findall(r"//[^\n]*|/\*.*?\*/", text):
                    contains(now, comment)
                equal(list(value)[:len(was)], list(was), "the order")
            done(fx, agent, "--undo")
            for path in set(files(fx, agent)):
                if path.suffix == ".json":
                    got = path.read_bytes().decode()
                    # brackets with blanks alone in them are closed
                    same = got == text or (re.sub(r"\{\s+\}", "{}", text) == re.sub(r"\{\s+\}", "{}", got))
                    check(same, f"{agent}: {text!r} became {got!r}")
            for path in set(files(fx, agent)):
                for copy in copies(path):
                    copy.unlink()


@test("what is added is indented like the rest of the file")
def indented(fx):
    path = files(fx, "claude")[0]
    for indent in (2, 4, "\t"):
        fx.write(path, json.dumps({"model": "x", "hooks": {"PreToolUse": [MINE]}}, indent=indent) + "\n")
        done(fx, "claude", "--apply")
        value = json.loads(path.read_text())
        equal(path.read_text(), json.dumps(value, indent=indent) + "\n")
        equal(value["hooks"]["PreToolUse"][0], MINE)
        done(fx, "claude", "--undo")


TOML_TEXTS = (
    "", "model = \"x\"", "model = \"x\"\n", "# only a comment\n", "a.b.c = 1\n[t]\nx = [1, 2, # c\n 3,\n]\ny = { z = \"}\", w = ['#'] }\n",
    "s = \"\"\"\n[mcp_servers.sandbash]\n\\\" \\\n  x\"\"\"\nl = '''\n[[hooks.PreToolUse]]\n'''\n", "d = 1979-05-27 07:32:00Z\nf = 1e+3\nn = nan\n\"a b\".'c.d' = true\n",
    "[mcp_servers.other]\ncommand = \"x\"\n[mcp_servers.other.env]\nA = \"1\"\n", "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n",
    "[hooks.state.\"/x/config.toml:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:0\"\n", "[a]\r\nb = 1\r\n", "[[x]]\n[[x]]\n[x.y]\nz = 'a''\n".replace("''", "'"))


@test("a TOML file is only added to; applied and undone it is what it was")
def toml_kept(fx):
    path = files(fx, "codex")[0]
    for text in TOML_TEXTS:
        fx.write(path, "")
        path.write_bytes(text.encode())
        done(fx, "codex", "--apply")
        now = path.read_bytes().decode()
        check(now.startswith(text), f"{text!r} -> {now!r}")
        contains(done(fx, "codex"), "is there")
        done(fx, "codex", "--undo")
        got = path.read_bytes().decode() if path.exists() else ""
        check(got in (text, text + "\n"), f"{text!r} became {got!r}")
        for copy in copies(path):
            copy.unlink()


@test("tables that codex has printed anew are still known; what the person added beside them stays")
def toml_reprinted(fx):
    path = files(fx, "codex")[0]
    done(fx, "codex", "--apply", "--deny=a \"b\"")
    text = path.read_text()
    again = re.sub(r"^#.*\n", "", text, flags=re.M).replace('args = ["--deny=a \\"b\\""]', "args = ['--deny=a \"b\"']\n\n[mcp_servers.other]\ncommand = \"true\"")
    again = again.replace("\n\n[mcp_servers.sandbash]", "\n\n[hooks.state.\"k\"]\nenabled = true\n\n[mcp_servers.sandbash]")
    check(again != text and "other" in again and "hooks.state" in again)
    fx.write(path, again)
    contains(done(fx, "codex", "--deny=a \"b\""), "server: is there")
    done(fx, "codex", "--undo")
    equal(path.read_text().split(), "[hooks.state.\"k\"] enabled = true [mcp_servers.other] command = \"true\"".split())


@test("what the person changed after --apply survives --undo")
def later_changes(fx):
    path = files(fx, "claude")[0]
    fx.write(path, '{"model": "x"}\n')
    done(fx, "claude", "--apply")
    value = json.loads(path.read_text())
    value["hooks"]["PreToolUse"].insert(0, MINE)
    value["hooks"]["Stop"] = [MINE]
    value["model"] = "y"
    value["new"] = 1
    fx.write(path, json.dumps(value, indent=1))
    done(fx, "claude", "--undo")
    equal(json.loads(path.read_text()), {"model": "y", "hooks": {"PreToolUse": [MINE], "Stop": [MINE]}, "new": 1})


@test("other options replace what was written, in its place")
def replaced(fx):
    for agent in AGENTS:
        done(fx, agent, "--apply", "--consent=deny")
        contains(done(fx, agent, "--apply", "--mode=read-only"), "replaced")
        joined = b"".join(tree(fx).values()).decode()
        lacks(joined, "--consent=deny")
        equal(joined.count("--mode=read-only"), 2, joined)
        done(fx, agent, "--undo")
        equal(tree(fx), {}, agent)


# --- what is left alone -------------------------------------------------------------------------


def left_alone(fx, agent, *words, part=""):
    before = fx.snapshot(fx.home)
    for word in ("--apply", "--undo", *words):
        result = setup(fx, agent, word)
        if result.status == 0 and word == "--undo":
            contains(result.stdout, "nothing to take back")
        else:
            equal(result.status, LEFT_ALONE, f"{word}: {result.stdout}")
            contains(result.stderr, "is left alone: ")
            contains(result.stderr, part)
        equal(fx.snapshot(fx.home), before)


@test("a file that is not understood is left alone, and so is every other file of the agent's")
def not_understood(fx):
    for agent in ("claude", "gemini", "opencode"):
        path = files(fx, agent)[1]
        for text in ("{", "[]", "null", "{} {}", '{"a": 1, "a": 2}', "{'a': 1}", '{"a": "\n"}', "{a: 1}", '{"a": 01}', "\ufeff{}", '{"a": 1} x', "/* {}",
                     '{"mcpServers": [], "mcp": 1}', '{"mcpServers": null, "mcp": "x"}', "text", '{"a":' * 200):
            fx.write(path, text)
            left_alone(fx, agent)
        path.write_bytes(b'{"a": "\xff"}')
        left_alone(fx, agent)
        path.unlink()
    path = files(fx, "codex")[0]
    for text in ("a", "a =", "= 1", "[a", "[[a]", "a = \"x", "a = 'x\n'", "a = [1", "a = {b = 1", "a = 1 b = 2", "[a] x = 1", "a = \"\\q\"", "a = \"\"\"x", "{}", "a = 1,",
                 "mcp_servers = {}\n", "mcp_servers.x.command = \"y\"\n", "hooks = {}\n", "[hooks]\nPreToolUse = []\n", "[hooks.PreToolUse]\na = 1\n", "[[mcp_servers.sandbash]]\na = 1\n",
                 "[mcp_servers]\nsandbash = {command = \"x\"}\n"):
        fx.write(path, text)
        left_alone(fx, "codex")


@test("a hook or a server of this name that is not ours is left alone")
def not_ours(fx):
    good = f"{BIN} --hook claude || sh -c 'echo \"sandbash: the hook failed, so nothing is run\" >&2; exit 2'"
    for entry in ({"matcher": "*", "hooks": [{"type": "command", "command": "/x/sandbash --hook claude"}]},
                  {"matcher": "Bash", "hooks": [{"type": "command", "command": good}]},
                  {"matcher": "*", "hooks": [{"type": "command", "command": good, "timeout": 5}]},
                  {"matcher": "*", "hooks": [{"type": "command", "command": good}, {"type": "command", "command": "mine"}]}):
        fx.write(files(fx, "claude")[0], json.dumps({"hooks": {"PreToolUse": [entry]}}))
        left_alone(fx, "claude", part="hook")
    files(fx, "claude")[0].unlink()
    for agent, key, entry in (("claude", "mcpServers", {"command": "other"}), ("gemini", "mcpServers", {"command": str(SERVER), "args": [], "env": {}}),
                              ("opencode", "mcp", {"type": "remote", "url": "x"}), ("claude", "mcpServers", "x")):
        fx.write(files(fx, agent)[1], json.dumps({key: {"sandbash": entry}}))
        left_alone(fx, agent, part="server")
        files(fx, agent)[1].unlink()
    for text in ("[mcp_servers.sandbash]\ncommand = \"other\"\n", f"[mcp_servers.sandbash]\ncommand = \"{SERVER}\"\nargs = []\nenabled = false\n",
                 f"[mcp_servers.sandbash]\ncommand = \"{SERVER}\"\nargs = []\n[mcp_servers.sandbash.env]\nA = \"b\"\n",
                 "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = \"sandbash --hook codex\"\n"):
        fx.write(files(fx, "codex")[0], text)
        left_alone(fx, "codex")
    fx.write(files(fx, "opencode")[0], "export const Mine = 1\n")
    left_alone(fx, "opencode", part="hook")
    files(fx, "opencode")[0].unlink()
    done(fx, "opencode", "--apply")
    files(fx, "opencode")[0].write_text(files(fx, "opencode")[0].read_text() + "// changed\n")
    left_alone(fx, "opencode", part="hook")


@test("a link, a directory, a FIFO in the file's place is left alone")
def no_files(fx):
    for agent in AGENTS:
        path = files(fx, agent)[1]
        path.parent.mkdir(parents=True, exist_ok=True)
        fx.write(fx.home / "elsewhere", "{}\n")
        path.symlink_to(fx.home / "elsewhere")
        left_alone(fx, agent, part="it is a link")
        path.unlink()
        path.symlink_to(fx.home / "nothing")
        left_alone(fx, agent, part="it is a link")
        path.unlink()
        path.mkdir()
        left_alone(fx, agent, part="no regular file")
        path.rmdir()
        os.mkfifo(path)
        left_alone(fx, agent, part="no regular file")
        path.unlink()


if os.geteuid() == 0:  # nobody else can give a file away
    @test("a file of somebody else's is left alone")
    def others_file(fx):
        path = files(fx, "claude")[0]
        fx.write(path, "{}")
        os.chown(path, 1, 1)
        left_alone(fx, "claude", part="somebody else")


# --- safely -------------------------------------------------------------------------------------


@test("the old file is kept beside, with its mode")
def kept_beside(fx):
    path = files(fx, "claude")[0]
    fx.write(path, '{"model": "x"}\n', mode=0o640)
    text = done(fx, "claude", "--apply")
    equal([copy.read_text() for copy in copies(path)], ['{"model": "x"}\n'])
    contains(text, str(copies(path)[0]))
    check(re.fullmatch(r".*-backup-\d{8}-\d{6}-\d\d", copies(path)[0].name))
    for one in (path, copies(path)[0]):
        equal(stat.S_IMODE(one.stat().st_mode), 0o640)
    for _ in range(3):
        done(fx, "claude", "--undo")
        done(fx, "claude", "--apply")
    equal(len(copies(path)), 7)


@test("a file that cannot be written in full stays as it was, and nothing is left beside it")
def no_room(fx):
    path = files(fx, "claude")[0]
    text = json.dumps({"a": "x" * 5000})
    fx.write(path, text)
    for limit in (0, 100, 5020):
        result = setup(fx, "claude", "--apply", preexec_fn=lambda limit=limit: (
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))))
        check(result.status not in (0, LEFT_ALONE), result.stdout)
        equal(path.read_text(), text)
        lacks(result.stdout, "added")
        lacks(" ".join(os.listdir(path.parent)), ".sandbash-new")
        check(all(copy.read_text() == text for copy in copies(path)), "half a copy")
    done(fx, "claude", "--apply")


@test("many at once write one hook and one server")
def at_once(fx):
    for agent in AGENTS:
        for path in set(files(fx, agent)):
            if path.suffix == ".json":
                fx.write(path, '{\n  "a": 1\n}\n')
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            results = list(pool.map(lambda _: subprocess.run([BIN, "--setup", agent, "--apply"], cwd=fx.project, env=fx.env(),
                                                             capture_output=True, text=True), range(6)))
        equal([result.returncode for result in results], [0] * 6, str([result.stderr for result in results]))
        contains(done(fx, agent), "is there")
        joined = b"".join(tree(fx).values()).decode()
        equal(joined.count(str(SERVER)), 1, joined)
        done(fx, agent, "--undo")
        for path in set(files(fx, agent)):
            if path.suffix == ".json":
                equal(path.read_text(), '{\n  "a": 1\n}\n')
                path.unlink()


@test("killed at any moment, each file is as it was or as it was to be")
def killed(fx):
    path = files(fx, "gemini")[0]
    text = json.dumps({"a": ["x" * 100] * 2000}, indent=2)
    fx.write(path, text)
    done(fx, "gemini", "--apply")
    good = path.read_text()
    for delay in range(1, 25):
        fx.write(path, text)
        process = subprocess.Popen([BIN, "--setup", "gemini", "--apply"], cwd=fx.project, env=fx.env(), stdout=subprocess.DEVNULL)
        try:
            process.wait(delay / 1000)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        check(path.read_text() in (text, good), f"after {delay} ms")
    done(fx, "gemini", "--apply")
    equal(path.read_text(), good)
    lacks(" ".join(os.listdir(path.parent)), ".sandbash-new")


@test("claude's own lock on its state is respected, and one that was left behind does not stop us")
def claude_lock(fx):
    path = files(fx, "claude")[1]
    lock = path.with_name(path.name + ".lock")
    fx.write(path, "{}\n")
    lock.mkdir()
    os.utime(lock, (1, 1))
    done(fx, "claude", "--apply")
    check(not lock.exists())
    done(fx, "claude", "--undo")
    lock.mkdir()
    process = subprocess.Popen([BIN, "--setup", "claude", "--apply"], cwd=fx.project, env=fx.env(), stdout=subprocess.DEVNULL)
    while not files(fx, "claude")[0].exists():  # the hook comes first, then it stands at the lock
        equal(process.poll(), None)
        time.sleep(0.01)
    equal(path.read_text(), "{}\n", "not while claude writes")
    lock.rmdir()
    equal(process.wait(), 0)
    contains(path.read_text(), str(SERVER))
    check(not lock.exists())


@test("settings that variables have moved are found there")
def moved(fx):
    for agent, name, at in (("claude", "CLAUDE_CONFIG_DIR", "settings.json"), ("claude", "CLAUDE_CONFIG_DIR", ".claude.json"),
                            ("codex", "CODEX_HOME", "config.toml"), ("opencode", "XDG_CONFIG_HOME", "opencode/plugin/sandbash.js")):
        env = {name: str(fx.home / "moved")}
        done(fx, agent, "--apply", env=env)
        check((fx.home / "moved" / at).exists(), f"{agent} {at}")
        done(fx, agent, "--undo", env=env)
        check(not (fx.home / "moved" / at).exists())
    fx.write(fx.home / ".config/opencode/opencode.jsonc", "{ // mine\n}\n")
    done(fx, "opencode", "--apply")
    contains((fx.home / ".config/opencode/opencode.jsonc").read_text(), str(SERVER))
    check(not files(fx, "opencode")[1].exists())


@test("without a home directory nothing is written")
def homeless(fx):
    for home in (None, "relative", ""):
        result = setup(fx, "claude", "--apply", env={"HOME": home})
        check(result.status not in (0, LEFT_ALONE))
        contains(result.stderr, "home")
    equal(tree(fx), {})


# --- is it in force? ----------------------------------------------------------------------------


@test("it says what was checked and what was not, and what turns the hook off")
def checks(fx):
    for agent in AGENTS:
        text = done(fx, agent, "--apply")
        contains(text, "checked: the hook, as it is written, answers")
        contains(text, f"not checked: that {agent} calls it")
        equal("NOT IN FORCE" in text, agent == "codex", text)
    for agent, change in (("claude", {"disableAllHooks": True}), ("gemini", {"hooksConfig": {"enabled": False}}),
                          ("gemini", {"hooksConfig": {"disabled": ["sandbash"]}})):
        path = files(fx, agent)[0]
        value = json.loads(path.read_text())
        fx.write(path, json.dumps({**value, **change}))
        contains(done(fx, agent), "NOT IN FORCE")
        fx.write(path, json.dumps(value))
        lacks(done(fx, agent), "NOT IN FORCE")


@test("a project whose own settings turn the hook off is told")
def project_turns_off(fx):
    done(fx, "claude", "--apply")
    for name in (".claude/settings.json", ".claude/settings.local.json"):
        fx.write(fx.project / name, '{"disableAllHooks": true}')
        contains(done(fx, "claude"), f"NOT IN FORCE in this directory: '{name}'")
        fx.write(fx.project / name, '{"disableAllHooks": false}')
        lacks(done(fx, "claude"), "NOT IN FORCE")
        # nor can it be made so from inside
        result = fx.sandbash("--consent=deny", "sh", "-c", f"echo '{{\"disableAllHooks\": true}}' > {name}")
        contains((fx.project / name).read_text(), "false")


@test("codex's trust is read from its settings: none, another hook's, ours, or turned off")
def trust(fx):
    path = files(fx, "codex")[0]
    fx.write(path, "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n")
    contains(done(fx, "codex", "--apply"), "NOT IN FORCE YET: you have not told codex")
    plain = path.read_text()
    # the sum that codex 0.169 has for a hook: its own words for it, sorted
    import hashlib
    words = json.dumps({"event_name": "pre_tool_use", "hooks": [{"async": False, "command": hook_command(fx, "codex"), "timeout": 600, "type": "command"}],
                        "matcher": "*"}, separators=(",", ":"), ensure_ascii=False)
    ours = hashlib.sha256(words.encode()).hexdigest()
    key = f"{path}:pre_tool_use:1:0"
    for state, part in ((f"[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:{ours}\"\n", "as trusted"),
                        (f"[hooks.state]\n\"{key}\" = {{ trusted_hash = 'sha256:{ours}' }}\n", "as trusted"),
                        (f"[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:{'0' * 64}\"\n", "trust something else"),
                        (f"[hooks.state.\"{path}:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:{ours}\"\n", "you have not told"),
                        (f"[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:{ours}\"\nenabled = false\n", "NOT IN FORCE: "),
                        ("[features]\nhooks = false\n", "NOT IN FORCE: ")):
        fx.write(path, plain + "\n" + state)
        contains(done(fx, "codex"), part)


run_all()
