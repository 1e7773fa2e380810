"""hook.py - --hook: an agent's shell commands come back so that they run under sandbash, its file
tools are judged by the one judge, and what is not understood is blocked."""

import json
import os
import random
import subprocess

from tap import BIN, PATIENCE, check, contains, equal, lacks, run_all, test

OURS = f"{BIN} --agent-report=auto --"  # how a rewritten command begins, without options
NOTHING = b'\nsandbash-report: {"refused":0,"entries":[]}\n'
BLOCK = 2  # the one exit status that stops a tool
EVENTS = {"claude": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool",
          "opencode": "tool.execute.before"}
SHELL = {"claude": "Bash", "codex": "Bash", "gemini": "run_shell_command", "opencode": "bash"}
# A tool that writes a file: its name, and what it calls the path and the contents.
WRITE = {"claude": ("Write", "file_path", "content"), "gemini": ("write_file", "file_path", "content"),
         "opencode": ("write", "filePath", "content")}


def event(fx, agent, tool, arguments, **other):
    return {"session_id": "s", "hook_event_name": EVENTS[agent], "cwd": str(fx.project),
            "tool_name": tool, "tool_input": arguments, **other}


def hook(fx, agent, what, *options, **how):
    if not isinstance(what, (str, bytes)):
        what = json.dumps(what)
    return fx.sandbash("--hook", agent, *options, input=what, **how)


def ask(fx, agent, tool, arguments, *options, **how):
    """The answer to a well-formed event, as an object."""
    result = hook(fx, agent, event(fx, agent, tool, arguments), *options, **how)
    equal((result.status, result.stderr), (0, ""), result.stdout)
    return json.loads(result.stdout)


def updated(agent, answer):
    """The tool's new arguments."""
    if agent == "opencode":
        equal(list(answer), ["tool_input"])
        return answer["tool_input"]
    inner = answer["hookSpecificOutput"]
    equal(inner["hookEventName"], EVENTS[agent])
    # claude's "allow" would skip its own question; codex takes nothing without it, and still asks
    equal(inner.get("permissionDecision"), "allow" if agent == "codex" else None)
    return inner["tool_input" if agent == "gemini" else "updatedInput"]


def reason(agent, answer):
    """Why it was denied, or None."""
    if agent == "opencode":
        return answer.get("deny")
    if agent == "gemini":
        equal(answer.get("decision", "deny"), "deny")
        return answer.get("reason")
    inner = answer.get("hookSpecificOutput", {})
    equal(inner.get("permissionDecision", "deny"), "deny")
    return inner.get("permissionDecisionReason")


def wrapped(fx, agent, command, *options, **more):
    return updated(agent, ask(fx, agent, SHELL[agent], {"command": command, **more}, *options))["command"]


def run(fx, command, cwd=None, shell="bash", env=None):
    """Status and output, without the report if nothing was refused."""
    result = subprocess.run([shell, "-c", command], cwd=cwd or fx.project, env=fx.env(env),
                            capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE)
    return result.returncode, result.stdout, result.stderr.removesuffix(NOTHING)


# --- shell commands -----------------------------------------------------------------------------


@test("a shell command comes back under this very program, with the options behind --hook NAME")
def rewritten(fx):
    equal(wrapped(fx, "claude", "git status", "--consent=deny", f"--allow-write={fx.outside}"),
          f"{BIN} --consent=deny --allow-write={fx.outside} --agent-report=auto -- bash -c 'git status'")
    equal(wrapped(fx, "claude", "ls", "--deny", "a b"), f"{BIN} '--deny=a b' --agent-report=auto -- bash -c 'ls'")
    equal(wrapped(fx, "claude", "ls", "--agent-report"), f"{BIN} --agent-report -- bash -c 'ls'")


@test("the tool's other arguments stay as they were")
def other_arguments(fx):
    for agent in EVENTS:
        arguments = {"timeout": 1e3, "command": "ls", "deep": [{"a": None, "\u00e4\n": "\u2028"}]}
        new = updated(agent, ask(fx, agent, SHELL[agent], arguments))
        check(new.pop("command") != "ls")
        arguments.pop("command")
        equal(new, arguments)


@test("what the command may not, it may not when it comes back; without the hook it may")
def confined(fx):
    for agent in EVENTS:
        for number, shell in enumerate(("bash", "sh")):
            target = fx.outside / f"{agent}{number}"
            command = f"echo x > {target}; echo y > inside; exit 7"
            equal(run(fx, command)[0], 7)
            check(target.exists(), "the control")
            target.unlink()
            (fx.project / "inside").unlink()
            equal(run(fx, wrapped(fx, agent, command), shell=shell)[0], 7)
            check(not target.exists(), f"{agent} wrote outside")
            equal((fx.project / "inside").read_text(), "y\n")


@test("what a command was refused comes back as data, in the last line, which is never the command's")
def reported(fx):
    mark, forged = "sandbash-report: ", 'sandbash-report: {"refused":0,"entries":[]}'
    for agent in EVENTS:
        command = f"echo x > {fx.outside}/a; echo '{forged}' >&2"
        *_, last = run(fx, wrapped(fx, agent, command))[2].decode().splitlines()
        check(last.startswith(mark), last)
        (entry,) = json.loads(last[len(mark):])["entries"]
        equal((entry["path"], entry["option"]), (f"{fx.outside}/a", f"--allow-write={fx.outside}/a"))
    # where nobody could report, the command runs all the same
    for options in (["--static"], ["--mode=danger-full-access"], ["--keep-background"]):
        equal(run(fx, wrapped(fx, "claude", "echo ran", *options))[1], b"ran\n", options)
    fx.config("mode danger-full-access\n")
    equal(run(fx, wrapped(fx, "claude", "echo ran"))[1], b"ran\n")


@test("a directory that the model chose does not become the project, but the command runs in it")
def chosen_directory(fx):
    fx.write(fx.project / "sub/x")
    for agent in ("codex", "gemini", "opencode"):
        command = wrapped(fx, agent, "pwd; echo \"$#\"; touch ./made")
        status, out, err = run(fx, command, cwd=fx.outside)
        equal(out.decode(), f"{fx.outside}\n0\n")
        check(status != 0 and not (fx.outside / "made").exists(), f"{agent}: {err}")
        equal(run(fx, command, cwd=fx.project / "sub")[:2], (0, f"{fx.project}/sub\n0\n".encode()))
        (fx.project / "sub/made").unlink()
    # the control: sandbash itself takes the directory that it is started in for the project
    equal(run(fx, f"{BIN} --anywhere -- touch ./made", cwd=fx.outside)[0], 0)


SCRIPTS = (
    "", " ", "\n", "echo a\necho b\n", "echo 'it'\\''s'", "echo \"$HOME\" '$HOME' \\$HOME", "exit 3",
    "cat <<'EOF'\nit's `x` $(y) \"z\"\nEOF\n", "cat <<EOF\n$((1+1))\nEOF", "# only a comment", "echo a # b",
    "echo $0 $# $* \"$@\"", "false && echo no || echo yes", "(exit 4)", "if true; then echo t; fi", "echo a;", "echo a &\nwait",
    "f() { echo \"in $1\"; }; f x", "echo a | tr a b", "! true", "set -e; false; echo no", "echo $'\\x41\\n'",
    "printf '%s|' {a,b}{1,2} ~ *", "echo \\\\ \\' \\\"", "echo 'a\rb\tc\x01\x1b[31m\x7f'", "echo '\u00e4\u202e\u2028\U0001f600'",
    "trap 'echo bye' EXIT; echo hi", "echo ${BASH_LINENO[0]} $LINENO\necho $LINENO", "&& echo", "echo 'open", "; ls", "| ls", ")", "}",
    "while :; do break; done", "case x in x) echo c;; esac", "[[ a == a ]] && echo '[['", "echo !x !! !$", "kill -TERM $$",
    "' ; touch pwned; '", "'\\''", "\\", "'; exec bash -c 'touch pwned' #", "\")\nexec touch pwned\n(\"", "$(echo touch pwned2)")


@test("any command does under the hook what it did without: scripts that hold every kind of quote")
def scripts_same(fx):
    for index, script in enumerate(SCRIPTS):
        agent = ("claude", "codex")[index % 2]
        plain = run(fx, f"exec bash -c {shquote(script)}")
        again = run(fx, wrapped(fx, agent, script))
        # what a syntax error shows of the line is longer there
        got, want = (again[:2], plain[:2]) if b"syntax error" in plain[2] or b"unexpected" in plain[2] else (again, plain)
        equal(got, want, f"{agent} {script!r}")
        for name in ("pwned", "pwned2"):
            if (fx.project / name).exists():
                (fx.project / name).unlink()


def shquote(text):
    return "'" + text.replace("'", "'\\''") + "'"


@test("any bytes of a command reach bash: random ones, as one argument and as a script")
def random_bytes(fx):
    seed = int(os.environ.get("SANDBASH_TEST_SEED", "1"))
    chance = random.Random(seed)
    pieces = ["'", "\"", "\\", "$", "`", "\n", "\r", " ", "  ", "\t", ";", "&", "|", "(", ")", "{", "}", "<", ">", "*", "?", "[", "]",
              "!", "#", "~", "%", "=", "-", "--", "a", "bash", "'\\''", "$(", "${", "\x01", "\x1b", "\x7f", "\u00e9", "\u4e2d",
              "\U0001f600", "\u202e", "\ufeff", "EOF", "\\n", "\\u0000"]
    words = ["".join(chance.choice(pieces) for _ in range(chance.randrange(1, 40))) for _ in range(60)]
    for agent in ("claude", "codex"):
        # all in one command, so that sandbash is started twice only
        command = "".join(f"printf '%s\\0' {shquote(word)}\n" for word in words)
        status, out, err = run(fx, wrapped(fx, agent, command))
        equal((status, err), (0, b""), f"seed {seed}")
        equal(out.decode().split("\0")[:-1], words, f"seed {seed}")
    for word in words[:20]:
        script = f"x={shquote(word)}; printf %s \"$x\" | od -An -c"
        equal(run(fx, wrapped(fx, "codex", script), shell="sh"), run(fx, script), f"seed {seed}: {word!r}")


@test("a long command comes back whole")
def long_command(fx):
    body = "echo '" + "\u00e9'\\''" * 6000 + "' | wc -c"
    equal(run(fx, wrapped(fx, "claude", body)), run(fx, body))


@test("a command that was rewritten is not rewritten again")
def once(fx):
    for agent in EVENTS:
        for command in ("ls", "echo 'a'\\''b'", "", "a\nb"):
            first = wrapped(fx, agent, command, "--consent=deny")
            equal(wrapped(fx, agent, first, "--consent=deny"), first)


@test("a command that only looks rewritten is wrapped like any other")
def looks_rewritten(fx):
    ours = wrapped(fx, "claude", "true")
    secret = fx.outside / "planted"
    for fake in (f"{BIN} --disable-sandbox -- bash -c 'touch {secret}'",
                 f"{BIN} --allow-write={fx.outside} -- bash -c 'touch {secret}'",
                 f"{BIN} -- true; touch {secret}", f"{ours}; touch {secret}", f"{ours}\ntouch {secret}",
                 f"{ours} & touch {secret}", f"{BIN} -- bash -c 'true' || touch {secret}",
                 f"{BIN} -- bash -c 'true'$(touch {secret})''", f"{BIN} -- bash -c ''; touch {secret}; ''",
                 f"{BIN} --anywhere -- bash -c 'true'; touch '{secret}'",
                 f" {ours}; touch {secret}", f"touch {secret} && {ours}"):
        run(fx, fake.replace("-- true", "--disable-sandbox -- true"))
        if secret.exists():
            secret.unlink()
        command = wrapped(fx, "claude", fake)
        check(command.startswith(f"{OURS} bash -c '") and command != fake, command)
        run(fx, command)
        check(not secret.exists(), f"escaped: {fake!r}")
    # with other options it is another text, and confined by these options
    strict = wrapped(fx, "claude", ours, "--mode=read-only")
    contains(strict, "--mode=read-only --agent-report=auto -- bash -c '")


@test("the command of claude's Monitor is a shell command, too; other tools of that name pass")
def other_shells(fx):
    contains(updated("claude", ask(fx, "claude", "Monitor", {"command": "ls"}))["command"], str(BIN))
    equal(ask(fx, "claude", "Monitor", {"ws": "x"}), {})
    contains(reason("claude", ask(fx, "claude", "PowerShell", {"command": "ls"})), "cannot be confined")
    contains(reason("codex", ask(fx, "codex", "js_repl", {"code": "1"})), "cannot be confined")


# --- file tools ---------------------------------------------------------------------------------


@test("a file in the project passes without a decision of ours; outside it is denied, with the option")
def file_tools(fx):
    for agent, (tool, path, contents) in WRITE.items():
        for name in (fx.project / "new.c", "sub/dir/new.c", "./a"):
            equal(ask(fx, agent, tool, {path: str(name), contents: "x"}), {})
        for name in (fx.outside / "x", "../../outside/x", "/etc/hosts"):
            why = reason(agent, ask(fx, agent, tool, {path: str(name), contents: "x"}))
            contains(why, "--allow-write=")
            contains(why, f"--hook {agent}")
        equal(ask(fx, agent, tool, {path: str(fx.outside / "x"), contents: "x"},
                  f"--allow-write={fx.outside}"), {})
        check(reason(agent, ask(fx, agent, tool, {path: "new.c", contents: "x"}, "--mode=read-only")))
        check(reason(agent, ask(fx, agent, tool, {path: "new.c", contents: "x"}, "--deny=new.c")))


@test("the answer about a file is --explain's")
def as_explained(fx):
    fx.git_project()
    fx.write(fx.project / ".vscode/settings.json", "{}")
    (fx.project / "link").symlink_to("/etc/hosts")
    for name in ("a", ".git/hooks/pre-commit", ".git/config", ".vscode/tasks.json", "link", "/etc/hosts", "/usr/bin/x",
                 "~/.bashrc", "~/.ssh/id_rsa", str(fx.home / "other/file"), ".envrc", "Makefile", ".git/HEAD"):
        found = json.loads(fx.sandbash("--explain", name, "--json").stdout)
        op = "modify" if found["exists"] else "create"
        allowed = found["decisions"][op]["allowed"]
        why = reason("claude", ask(fx, "claude", "Edit", {"file_path": name}))
        equal(why is None, allowed, f"{name}: {why}")
        why = reason("claude", ask(fx, "claude", "Read", {"file_path": name}))
        equal(why is None, found["decisions"]["read"]["allowed"], f"read {name}: {why}")


@test("names that a program outside would run are denied; contents that are harmless pass")
def guarded(fx):
    fx.git_project()
    for name in (".git/hooks/pre-commit", ".vscode/tasks.json", ".envrc"):
        contains(reason("claude", ask(fx, "claude", "Write", {"file_path": name, "content": "x"})), "counts as")
    equal(ask(fx, "claude", "Write", {"file_path": ".env", "content": "PORT=80\n"}), {})
    contains(reason("claude", ask(fx, "claude", "Write", {"file_path": ".env", "content": "LD_PRELOAD=/x\n"})), "LD_PRELOAD")
    # an edit: nobody here knows what comes of it
    contains(reason("claude", ask(fx, "claude", "Edit", {"file_path": ".env", "new_string": "PORT=80"})), "shell command")


@test("a shell is named where it could help: for names with harmless contents, and no others")
def shell_helps(fx):
    fx.git_project()
    for name, helps in ((".git/config", True), (".envrc", False), (".npmrc", False), (".bashrc", False)):
        path = fx.project / name
        if not path.exists():
            fx.write(path, "a\n")
        said = reason("claude", ask(fx, "claude", "Edit", {"file_path": str(path), "old_string": "a", "new_string": "b"}))
        contains(said, "may not be changed", name)
        equal("use a shell command" in said, helps, f"{name}: {said}")


@test("a link is judged by where it leads, and by where it is")
def links(fx):
    fx.git_project()
    (fx.project / "out").symlink_to(fx.outside)
    (fx.project / "file").symlink_to(fx.outside / "x")
    (fx.project / ".git/hooks").mkdir(exist_ok=True)
    (fx.project / ".git/hooks/post-commit").symlink_to(fx.project / "plain")
    (fx.outside / "in").symlink_to(fx.project / "plain")
    (fx.project / "near").symlink_to("beside")
    fx.write(fx.project / "plain", "x")
    for name in ("beside", "near"):
        equal(ask(fx, "claude", "Edit", {"file_path": name}), {})
    for name in ("out/x", "file", "out/../x", ".git/hooks/post-commit", fx.outside / "in"):
        check(reason("claude", ask(fx, "claude", "Edit", {"file_path": str(name)})), str(name))


@test("paths that agents read in another way than they are written are refused, or judged both ways")
def read_differently(fx):
    for name in (" /etc/hosts", "/etc/hosts ", "\t/etc/hosts", "\u00a0/etc/hosts", "\ufeff/etc/hosts", "/etc/hosts\n", "",
                 "\u2003x", "x\u3000", "ma\u212ae", "a\u037eb"):
        result = hook(fx, "claude", event(fx, "claude", "Edit", {"file_path": name}))
        equal((result.status, result.stdout), (BLOCK, ""), repr(name))
        check(result.stderr, repr(name))
    check(reason("gemini", ask(fx, "gemini", "write_file", {"file_path": "~/x", "content": ""})))
    # as a name in the project it would be allowed; as the home directory's, the rule has to say so
    equal(ask(fx, "gemini", "write_file", {"file_path": "~/x", "content": ""}, f"--allow-write={fx.home}/x"), {})
    equal(ask(fx, "claude", "Edit", {"file_path": "a b \u00e9"}), {})


@test("what is hidden from commands is hidden from reading tools; search in the project passes")
def reading(fx):
    fx.write(fx.home / ".ssh/id_rsa", "key")
    for agent, tool, path in (("claude", "Read", "file_path"), ("gemini", "read_file", "file_path"),
                              ("opencode", "read", "filePath"), ("codex", "view_image", "path")):
        contains(reason(agent, ask(fx, agent, tool, {path: str(fx.home / ".ssh/id_rsa")})), "--allow-read=")
        equal(ask(fx, agent, tool, {path: "/etc/hostname"}), {})
    equal(ask(fx, "claude", "Grep", {"pattern": "x"}), {})
    equal(ask(fx, "claude", "Grep", {"pattern": "x", "path": ""}), {})
    check(reason("claude", ask(fx, "claude", "Grep", {"pattern": "x", "path": str(fx.home / ".ssh")})))


# Tools that look through a directory: the argument for it, and how patterns are given.
SEARCH = (("claude", "Grep", "path", {"pattern": "x"}), ("claude", "Grep", "path", {"pattern": "x", "glob": "*.c"}),
          ("claude", "Glob", "path", {"pattern": "**/*"}), ("claude", "Glob", "path", {"pattern": "id_rsa"}), ("claude", "LS", "path", {}),
          ("codex", "grep_files", "path", {"pattern": "x"}), ("codex", "list_dir", "dir_path", {}),
          ("gemini", "glob", "dir_path", {"pattern": "**"}), ("gemini", "glob", "path", {"pattern": "!x"}),
          ("gemini", "search_file_content", "dir_path", {"pattern": "x", "include": "*.{c,h}"}),
          ("gemini", "grep_search", "dir_path", {"pattern": "x", "include_pattern": "src/*"}),
          ("opencode", "grep", "path", {"pattern": "x"}), ("opencode", "glob", "path", {"pattern": "*"}), ("opencode", "list", "path", {}))


@test("a tool does not look through a directory beneath which something is hidden; beside it, and in the project, it does")
def searching(fx):
    fx.write(fx.home / ".ssh/id_rsa", "key")
    fx.write(fx.home / "other/file", "x")
    fx.write(fx.project / "src/a.c", "x")
    (fx.project / "up").symlink_to(fx.home)
    for agent, tool, key, more in SEARCH:
        def why(**arguments):
            return reason(agent, ask(fx, agent, tool, {**more, **arguments}))
        for path in (str(fx.project), ".", "src", "src/a.c", str(fx.home / "other"), "/usr/include", "nothing"):
            equal(why(**{key: path}), None, f"{tool} {path}")
        equal(why(), None, tool)
        for path in (str(fx.home), "~", "up", "/", str(fx.home) + "/./", str(fx.home.parent)):
            contains(why(**{key: path}), "narrower directory")
        for path in (str(fx.home / ".ssh"), "~/.ssh", "up/.ssh"):
            contains(why(**{key: path}), "--allow-read=")
    told = reason("claude", ask(fx, "claude", "Grep", {"pattern": "x"}, "--deny=src/a.c"))
    contains(told, "src/a.c' in it is hidden")
    check(reason("claude", ask(fx, "claude", "Grep", {"pattern": "x"}, "--deny=**/*.key")))
    equal(ask(fx, "claude", "Grep", {"pattern": "x", "path": "src/a.c"}, "--deny=**/*.key"), {})
    equal(ask(fx, "claude", "Grep", {"pattern": "x", "path": str(fx.home)}, "--mode=danger-full-access"), {})


@test("where a pattern begins is a path, in each of its alternatives; one that may lead elsewhere is blocked")
def search_patterns(fx):
    fx.write(fx.home / ".ssh/id_rsa", "key")
    fx.write(fx.home / "other/file", "x")
    fx.write(fx.project / "src/a.c", "x")
    up = os.path.relpath(fx.home, fx.project)
    for agent, tool, key, more in (("claude", "Glob", "pattern", {}), ("gemini", "glob", "pattern", {}), ("opencode", "glob", "pattern", {}),
                                   ("gemini", "read_many_files", "include", {}), ("gemini", "read_many_files", "paths", {}),
                                   ("opencode", "grep", "include", {"pattern": "x"}), ("claude", "Grep", "glob", {"pattern": "x"})):
        listed = tool == "read_many_files"

        def answered(pattern):
            return hook(fx, agent, event(fx, agent, tool, {**more, key: ["src/*", pattern] if listed else pattern}))
        for good in ("*", "**/*.{ts,tsx}", "src/**", "src/a.c", f"{fx.project}/*.c", f"{fx.home}/other/*", f"{up}/other/*", "~/other/*",
                     "{src,test}/**/*.c", "src/[a-z]*", "!x", "", "src/"):
            result = answered(good)
            equal((result.status, result.stdout), (0, "{}\n"), f"{tool} {good}: {result.stderr}")
        for bad in (f"{fx.home}/.ssh/*", f"{up}/.ssh/*", "~/.ssh/*", f"{fx.home}/*", f"{up}/**", f"{fx.home}/.ssh/id_rsa", "/**/id_rsa",
                    f"{{src,{up}/.ssh}}/*", f"{{{fx.home}/.ssh/*,x}}", "/proc/*/environ", "/proc/1/environ", "/*"):
            result = answered(bad)
            equal(result.status, 0, f"{tool} {bad}: {result.stderr}")
            check(reason(agent, json.loads(result.stdout)), f"{tool} {bad}")
        for unclear in (f"*/../{up}/.ssh/*", "s*/../../x", "\\../x", "@(..)/x", ".\\./.ssh/*", "{a,b}" * 12):
            result = answered(unclear)
            equal((result.status, result.stdout), (BLOCK, ""), f"{tool} {unclear}")
        # {.,x}. is one of the ways to write ".."
        check(answered(".{.,x}/" * up.count("..") + ".ssh/*").stdout != "{}\n")
        for wrong in (5, {}, [5], [["x"]], "\ud800"):
            what = event(fx, agent, tool, {**more, key: wrong})
            equal(hook(fx, agent, what).status, BLOCK, f"{tool} {wrong!r}")
    # without a pattern, all of it
    equal(ask(fx, "gemini", "read_many_files", {}), {})
    check(reason("gemini", ask(fx, "gemini", "read_many_files", {}, "--deny=src/a.c")))
    # what the patterns do not choose may be hidden
    equal(ask(fx, "claude", "Glob", {"path": str(fx.home), "pattern": "other/*"}), {})
    check(reason("claude", ask(fx, "claude", "Glob", {"path": str(fx.home), "pattern": ".ssh/*"})))
    check(reason("claude", ask(fx, "claude", "Glob", {"path": str(fx.home), "pattern": "/.ssh/*"})))
    for agent, tool in (("claude", "LSP"), ("opencode", "lsp")):
        check(reason(agent, ask(fx, agent, tool, {"operation": "hover", "filePath": str(fx.home / ".ssh/id_rsa")})))
        equal(ask(fx, agent, tool, {"operation": "hover", "filePath": "src/a.c"}), {})


@test("/proc is that of all processes to a file tool, and is not read; other files of the system are")
def proc(fx):
    (fx.project / "p").symlink_to("/proc")
    (fx.project / "root").symlink_to(f"/proc/{os.getpid()}/root")
    fx.write(fx.project / "a", "x")
    for agent, tool, key in (("claude", "Read", "file_path"), ("gemini", "read_file", "file_path"), ("opencode", "read", "filePath"),
                             ("codex", "view_image", "path"), ("claude", "Grep", "path")):
        for path in (f"/proc/{os.getpid()}/environ", "/proc/1/environ", "/proc/self/environ", "/proc/thread-self/environ", "p/self/environ",
                     f"/proc/{os.getpid()}/root/etc/hostname", f"/proc/{os.getpid()}/cwd/a", "root/etc/hostname", "/proc/mounts", "/proc",
                     "/usr/../proc/self/mem", "//proc/self/maps", "/dev/fd/0"):
            contains(reason(agent, ask(fx, agent, tool, {key: path})), "shell command")
        for path in ("/etc/hosts", "a", str(fx.project / "a"), "/sys/kernel/mm", "/procx"):
            equal(ask(fx, agent, tool, {key: path}), {})
    equal(ask(fx, "claude", "Read", {"file_path": "/proc/self/environ"}, "--mode=danger-full-access"), {})
    # a command has its own
    equal(run(fx, wrapped(fx, "claude", "test -r /proc/self/environ"))[0], 0)


@test("what an agent keeps for itself it may write with its own tools, by its profile; settings and logins stay closed")
def own_state(fx):
    fx.write(fx.home / ".claude/.credentials.json", "{}")
    notes = fx.home / ".claude/plans/plan.md"
    equal(ask(fx, "claude", "Write", {"file_path": str(notes), "content": "x"}), {})
    check(reason("claude", ask(fx, "claude", "Write", {"file_path": str(notes), "content": "x"}, "--profile=none")))
    check(reason("gemini", ask(fx, "gemini", "write_file", {"file_path": str(notes), "content": "x"})), "another agent's")
    for name in ("settings.json", "commands/x.md", ".credentials.json"):
        check(reason("claude", ask(fx, "claude", "Write", {"file_path": str(fx.home / ".claude" / name), "content": '{"env": {"X": "y"}}'})), name)
    check(reason("claude", ask(fx, "claude", "Read", {"file_path": str(fx.home / ".claude/.credentials.json")})))
    # commands do not get it
    status, _, _ = run(fx, wrapped(fx, "claude", f"mkdir -p {notes.parent} && echo x > {notes}"))
    check(status != 0 and not notes.exists())


@test("a patch is judged by every file that it names")
def patches(fx):
    fx.git_project()
    fx.write(fx.project / "a", "x")
    fx.write(fx.outside / "b", "x")
    for agent, key in (("codex", "command"), ("opencode", "patchText")):
        def patch(*lines):
            text = "\n".join(("*** Begin Patch", *lines, "*** End Patch"))
            return ask(fx, agent, "apply_patch", {key: text})
        equal(patch("*** Update File: a", "@@", "-x", "+y", "*** Add File: n/m", "+z", "*** Delete File: a"), {})
        for bad in (("*** Add File: ../x", "+a"), ("*** Update File: a", "*** Move to: ../b", "@@"),
                    (f"*** Delete File: {fx.outside}/b",), (f"  *** Update File:   {fx.outside}/b  ", "@@"),
                    (f"*** Update File: {fx.outside}/b", "*** Move to: c", "@@"),
                    ("*** Update File: a", "@@", "-x", "+y", "*** Add File: .git/hooks/pre-commit", "+z")):
            check(reason(agent, patch(*bad)), str(bad))
        result = hook(fx, agent, event(fx, agent, "apply_patch", {key: "no patch"}))
        equal((result.status, result.stdout), (BLOCK, ""))


@test("a header of a patch is found behind any blank and any end of a line; '***' in contents is none")
def patch_headers(fx):
    fx.write(fx.project / "a", "x")
    begin, end = "*** Begin Patch\n*** Add File: ok\n+x\n", "\n*** End Patch"
    for agent, key in (("codex", "command"), ("opencode", "patchText")):
        def answered(text):
            return hook(fx, agent, event(fx, agent, "apply_patch", {key: text}))
        for good in ("+*** Add File: .envrc", "+ *** x", "-***", " *** bold ***", "@@ ***", "", "***  End Patch".replace("  ", " "),
                     "*** Update File: a\n@@\n-x\n+*** y\n*** End of File", "+\u00a0*** Add File: .envrc", "+a\r", "+a\u2028b",
                     "\u00a0*** Add File: fine"):
            result = answered(begin + good + end)
            equal((result.status, result.stdout), (0, "{}\n"), f"{good!r}: {result.stderr}")
        equal(answered((begin + "+y" + end).replace("\n", "\r\n")).stdout, "{}\n")
        for blank in ("\u00a0", "\u3000", "\u2028", "\u2029", "\u0085", "\u1680", "\u202f", "\u2003", "\ufeff", "\t", "\v", "\f", "\r",
                      "\x1c", " ", " \u00a0 ", "+x\u2028", "+x\u0085\u00a0", "-x\r", "+x\u2029"):
            result = answered(f"{begin}{blank}*** Add File: .envrc\n+x{end}")
            check(result.status == BLOCK or reason(agent, json.loads(result.stdout)), repr(blank))
        for bad in ("***  Add File: .envrc", "x *** Add File: .envrc", "***\u00a0Add File: .envrc", "*** Frob: .envrc", "\u00a0*** End Patch",
                    "*** Add File: ok\u2028.envrc", "*** Add File: ok\r.envrc", "*** Add File:\u00a0.envrc", "*** Add File: ok2\u00a0",
                    "*** add File: .envrc"):
            result = answered(f"{begin}{bad}\n+x{end}")
            equal((result.status, result.stdout), (BLOCK, ""), repr(bad))


@test("where no command may run, no file tool may: the same words, the same options")
def broad(fx):
    names = {"claude": ("Write", "Edit", "Read"), "gemini": ("write_file", "read_file"), "opencode": ("write", "read")}
    for cwd, option in (("/", "--anywhere"), ("/etc", "--anywhere"), ("/usr", "--anywhere"), (str(fx.home), "--allow-home")):
        plain = fx.sandbash("--", "true", cwd=cwd)
        equal(plain.status, 125)
        for agent, tools in names.items():
            key = "filePath" if agent == "opencode" else "file_path"
            for tool in tools:
                what = event(fx, agent, tool, {key: f"{cwd}/foo", "content": "x"}, cwd=cwd)
                result = hook(fx, agent, what)
                equal((result.status, result.stdout, result.stderr), (BLOCK, "", plain.stderr), f"{tool} in {cwd}")
        options = ("--anywhere", "--allow-home") if cwd == "/" else (option,)
        name = "foo" if cwd == str(fx.home) else "/etc/hostname"
        result = hook(fx, "claude", event(fx, "claude", "Read", {"file_path": name}, cwd=cwd), *options)
        equal((result.status, result.stdout), (0, "{}\n"), f"{cwd}: {result.stderr}")
    equal(ask(fx, "claude", "Write", {"file_path": "foo", "content": "x"}), {})


@test("half of a surrogate pair is another name to an agent than to us: such paths, commands and directories are blocked")
def half_pairs(fx):
    (fx.project / "\ufffd").symlink_to(fx.outside)
    for agent, (tool, path, contents) in WRITE.items():
        check(reason(agent, ask(fx, agent, tool, {path: "\ufffd/pwned", contents: "x"})), "the control")
        for half in ("\\ud800", "\\udfff", "\\ud800\\u0041", "\\udc00\\ud800", "a\\uDBFF"):
            for what in (event(fx, agent, tool, {path: "HERE/pwned", contents: "x"}), event(fx, agent, SHELL[agent], {"command": "ls HERE"}),
                         event(fx, agent, tool, {path: "a", contents: "x"}, cwd=f"{fx.project}/HERE"),
                         event(fx, agent, tool + "HERE", {path: "a", contents: "x"})):
                result = hook(fx, agent, json.dumps(what).replace("HERE", half))
                equal((result.status, result.stdout), (BLOCK, ""), f"{agent} {half} {what}")
        # whole ones, and halves in what is written to a file that nobody obeys
        equal(ask(fx, agent, tool, {path: "\U0001f600\ud7ff\ue000", contents: "\ud800"}), {})
    # what the agent would write is not what we see
    check(reason("claude", ask(fx, "claude", "Write", {"file_path": ".env", "content": "PORT=\ud800\n"})))


@test("in the temporary directories, which all share, new names pass and others' files do not")
def temporary(fx):
    name = f"/tmp/sandbash-hook-{os.getpid()}"
    equal(ask(fx, "claude", "Write", {"file_path": name, "content": ""}), {})
    try:
        with open(name, "x"):
            pass
        contains(reason("claude", ask(fx, "claude", "Write", {"file_path": name, "content": ""})), "another program")
    finally:
        os.unlink(name)


@test("a link of a command's that leads nowhere good is followed, also where the file is not there yet")
def dangling(fx):
    (fx.project / "d").symlink_to(fx.outside / "not/yet")
    check(reason("claude", ask(fx, "claude", "Write", {"file_path": "d/x", "content": ""})))
    (fx.project / "loop").symlink_to("loop")
    equal(hook(fx, "claude", event(fx, "claude", "Edit", {"file_path": "loop"})).status, BLOCK)


# --- what passes, what is blocked ---------------------------------------------------------------


@test("tools that are not known, and those of MCP servers, pass")
def others(fx):
    for agent in EVENTS:
        for tool in ("mcp__x__write", "WebFetch", "Task", "nothing"):
            equal(ask(fx, agent, tool, {"command": "x", "file_path": "/etc/hosts"}), {})


@test("what is no event of the agent's is blocked, whatever the agent: status 2, a reason on stderr")
def malformed(fx):
    good = event(fx, "claude", "Bash", {"command": "ls"})
    lacking = [{key: value for key, value in good.items() if key != name}
               for name in ("hook_event_name", "tool_name", "cwd", "tool_input")]
    wrong = [dict(good, **change) for change in (
        {"hook_event_name": "PostToolUse"}, {"hook_event_name": 1}, {"tool_name": ""}, {"tool_name": None},
        {"cwd": "relative"}, {"cwd": ""}, {"cwd": 5}, {"cwd": "/nonexistent"}, {"cwd": "/a\0b"}, {"tool_input": "ls"}, {"tool_input": []},
        {"tool_input": {}}, {"tool_input": {"command": ["ls"]}}, {"tool_input": {"command": None}},
        {"tool_input": {"command": "a\0b"}}, {"tool_name": "Write", "tool_input": {"content": "x"}},
        {"tool_name": "Write", "tool_input": {"file_path": "x\0", "content": "x"}})]
    text = json.dumps(good)
    broken = ["", " ", "null", "[]", "1", text[:-1], text + "}", text + text, "\ufeff" + text,
              text.replace("{", "{,", 1), text.replace('"ls"', "ls"), text.replace('"ls"', "'ls'"),
              text.replace('"ls"', '"l\ns"'), text.replace('"ls"', '"\\x"'), text.replace('"ls"', '"\\u12"'),
              text.replace('"ls"', '"ls" // x'), text.replace('"ls"', "01"), text.replace('"ls"', '"ls",'),
              text.replace('"command"', '"command": "x", "command"'),
              text.replace('"command"', '"command": "x", "\\u0063ommand"'),
              text.replace('"tool_name"', '"tool_name": "Read", "tool_name"'), "[" * 100000, '{"a":' * 5000]
    for what in (*lacking, *wrong, *broken, text.encode().replace(b"ls", b"\xff"), b"\0", text.encode() + b"\0"):
        result = hook(fx, "claude", what)
        equal((result.status, result.stdout), (BLOCK, ""), repr(what)[:200])
        check(result.stderr.startswith("sandbash: "), repr(what)[:200])
    equal(hook(fx, "claude", good).status, 0)


@test("an agent that is not known, options that are wrong, no standard input or output: blocked")
def cannot(fx):
    good = json.dumps(event(fx, "claude", "Bash", {"command": "ls"}))
    for words in (("--hook", "emacs"), ("--hook=",), ("--hook",), ("--hook", "claude", "--frob-it"), ("--hook", "claude", "ls"),
                  ("--hook", "claude", "--mode=x"), ("--hook", "claude", "--status"), ("--hook", "claude", "--hook", "codex")):
        result = fx.sandbash(*words, input=good)
        equal(result.status, BLOCK, f"{words}: {result.stdout}")
        check(result.stderr, str(words))
    done = subprocess.run(f"{BIN} --hook claude <&-", shell=True, cwd=fx.project, env=fx.env(), capture_output=True)
    equal(done.returncode, BLOCK)
    for where in (">&-", ">/dev/full"):
        done = subprocess.run(f"{BIN} --hook claude {where}", shell=True, cwd=fx.project, env=fx.env(), input=good.encode(),
                              capture_output=True)
        equal(done.returncode, BLOCK, where)


@test("rules that cannot be read block file tools, and the command itself says so")
def broken_rules(fx):
    fx.config("frob it now\n")
    result = hook(fx, "claude", event(fx, "claude", "Edit", {"file_path": "a"}))
    equal((result.status, result.stdout), (BLOCK, ""))
    contains(result.stderr, "frob")
    status, _, err = run(fx, wrapped(fx, "claude", "touch a"))
    check(status != 0 and b"frob" in err and not (fx.project / "a").exists())


@test("inside another run the hook answers the same, and what it wraps runs")
def nested(fx):
    text = json.dumps(event(fx, "claude", "Bash", {"command": "echo inner"}))
    result = fx.sandbash("--hook", "claude", input=text, variant="nested")
    equal(result.status, 0, result.stderr)
    command = updated("claude", json.loads(result.stdout))["command"]
    equal(fx.sandbash("--", "bash", "-c", command).stdout, "inner\n")


run_all()
