"""ahead.py - asking ahead: request_access (C8) and open_project (P5)."""

import os

from mcp import Server
from tap import check, contains, equal, lacks, run_all, test

ERAS = ("legacy", "modern")
REASON = "it is needed"


def each_era(function):
    for era in ERAS:
        test(f"{era}: {function.__doc__}")(lambda fx, era=era: function(fx, era))
    return function


def structured(server, tool, **arguments):
    return server.call(tool, **arguments)["structuredContent"]


def message(server, number=-1):
    return server.asked[number]["params"]["message"]


# --- request_access ------------------------------------------------------------------------------


@each_era
def one_question(fx, era):
    """C8 several operations are one question; for the directory, the answer holds for tools and commands"""
    (fx.outside / "d").mkdir()
    fx.write(fx.outside / "d" / "a", "text")
    server = Server(fx, era=era)
    server.answers = lambda params: "directory"
    data = server.data("request_access", path=str(fx.outside / "d"), operations=["read", "modify", "create"],
                       reason=REASON)
    equal((data["granted"], data["outcome"], data["until"], len(server.asked)), (True, "granted", "session", 1))
    contains(message(server), f"read, write to and create {fx.outside}/d")
    server.answers = lambda params: "deny"
    equal(server.data("read_text_file", path=str(fx.outside / "d" / "a"))["content"], "text")
    server.data("write_file", path=str(fx.outside / "d" / "b"), content="x")
    equal(server.data("run_command", command=f"echo y > {fx.outside}/d/c")["refused"], [])
    equal(len(server.asked), 1)
    server.failure("write_file", path=str(fx.outside / "e"), content="x")
    equal(len(server.asked), 2, "its neighbours are asked about")


@each_era
def outcomes(fx, era):
    """C8 the result tells apart: granted, denied, nobody was asked, may not be asked; and what needs no question"""
    fx.write("in.txt", "x")
    (fx.home / ".ssh").mkdir()
    fx.write(fx.home / ".ssh" / "id_rsa", "key")
    path = str(fx.outside / "x")
    server = Server(fx, era=era)
    server.answers = lambda params: "deny"
    for _ in range(2):
        data = structured(server, "request_access", path=path, operations=["create"], reason=REASON)
        equal((data["granted"], data["outcome"], data["error"]["code"]), (False, "denied", "DENIED"))
        equal(len(server.asked), 1, "the same is not asked twice")
    data = structured(server, "request_access", path="in.txt", operations=["read", "modify"], reason=REASON)
    equal((data["granted"], data["until"]), (True, "rules"))
    data = structured(server, "request_access", path="~/.ssh/id_rsa", operations=["read"], reason=REASON)
    equal((data["granted"], data["outcome"], data["error"]["code"]), (False, "refused", "BLOCKED"))
    equal(len(server.asked), 1)
    for flags, elicit in (((), False), (("--consent=deny",), True)):
        server = Server(fx, *flags, era=era, elicit=elicit)
        data = structured(server, "request_access", path=path, operations=["create"], reason=REASON)
        equal((data["granted"], data["outcome"], server.asked), (False, "nobody", []))
        contains(data["error"]["allow"], f"--allow-write={path}")
        equal("--watch" in data["error"]["model"], not elicit)


@test("once is for the next use, by a tool or a command, and for what was asked alone")
def once(fx):
    server = Server(fx)
    server.answers = lambda params: "once"
    path = fx.outside / "x"
    ask = {"path": str(path), "operations": ["create"], "reason": REASON}
    equal(server.data("request_access", **ask)["until"], "next use")
    server.answers = lambda params: "deny"
    check(server.data("run_command", command=f"echo x > {fx.outside}/y")["refused"])
    equal(len(server.asked), 2)
    equal(server.data("run_command", command=f"echo x > {path}")["refused"], [])
    path.unlink()
    check(server.data("run_command", command=f"echo x > {path}")["refused"])
    equal(len(server.asked), 3, "it was used up")


KINDS = {
    "a link": "ln -s {home}/mine {path}",
    "a FIFO": "mkfifo {path}",
    "a directory": "mkdir {path}",
    "a socket": "python3 -c \"import os, socket; os.chdir('{place}'); socket.socket(socket.AF_UNIX).bind('x')\"",
    "a second name": "echo x > mine; ln mine {path}",
    "a link that is moved": "ln -s {home}/mine l; python3 -c \"import os; os.rename('l', '{path}')\"",
    "a directory that is moved": "mkdir d; python3 -c \"import os; os.rename('d', '{path}')\"",
    "the owner's rights": "cp /bin/true {path}; chmod 4755 {path}",
    "the owner's rights, by one program":
        "python3 -c \"import os; open('{path}', 'w').close(); os.chmod('{path}', 0o4755)\"",
}


@test("once is for a file where a file was asked about: nothing else gets its name, nor its owner's rights")
def kinds(fx):
    for number, (what, words) in enumerate(KINDS.items()):
        place, control = fx.outside / str(number), fx.outside / f"control-{number}"
        path = place / "x"
        for one in (place, control):
            one.mkdir()
        equal(fx.run("sh", "-c", words.format(home=fx.home, path=control / "x", place=control), cwd=control).status, 0,
              f"control: {what}")
        command = words.format(home=fx.home, path=path, place=place)
        server = Server(fx)
        server.answers = lambda params: "once"
        ask = {"path": str(path), "operations": ["create", "modify", "delete"], "reason": REASON}
        equal(server.data("request_access", **ask)["until"], "next use", what)
        contains(message(server), "it is a file, and no link")
        server.answers = lambda params: "deny"
        data = server.data("run_command", command=command)
        if os.getuid() != 0 or "4755" not in words:  # root's are refused without a question
            check(data["refused"], f"{what}: {data}")
            equal(len(server.asked), 2, f"{what} is a question of its own")
        if os.path.lexists(path):
            check(path.is_file() and not path.is_symlink() and path.stat().st_mode & 0o7000 == 0, what)
        for name in ("mine", "l"):
            (fx.project / name).unlink(missing_ok=True)
        if (fx.project / "d").is_dir():
            (fx.project / "d").rmdir()


@test("so with tools; a directory is asked for by its kind")
def tool_kinds(fx):
    path = fx.outside / "x"
    (fx.project / "l").symlink_to(fx.home / ".bashrc")
    (fx.project / "f").write_text("text")
    (fx.project / "d").mkdir()
    moves = {"link": ("move_file", {"source": "l", "destination": str(path)}),
             "directory": ("create_directory", {"path": str(path)}),
             "moved directory": ("move_file", {"source": "d", "destination": str(path)})}
    for what, (tool, arguments) in moves.items():
        server = Server(fx)
        server.answers = lambda params: "once"
        ask = {"path": str(path), "operations": ["create"], "reason": REASON}
        server.data("request_access", **ask)
        server.answers = lambda params: "deny"
        server.failure(tool, **arguments)
        equal(len(server.asked), 2, what)
        check(not os.path.lexists(path), what)
    server = Server(fx)
    server.answers = lambda params: "once"
    server.data("request_access", **ask)
    server.answers = lambda params: "deny"
    server.data("move_file", source="f", destination=str(path))
    equal((path.read_text(), len(server.asked)), ("text", 1), "neighbour: a file")
    path.unlink()
    server.answers = lambda params: "once"
    server.data("request_access", kind="directory", **ask)
    contains(message(server), "it is a directory")
    server.answers = lambda params: "deny"
    check(server.data("run_command", command=f"echo x > {path}")["refused"], "a file where a directory was asked for")
    server.answers = lambda params: "once"
    server.data("request_access", kind="directory", path=f"{path}2", operations=["create"], reason=REASON)
    asked = len(server.asked)
    equal(server.data("run_command", command=f"mkdir {path}2")["refused"], [])
    equal(len(server.asked), asked, "neighbour: the directory")
    equal(server.failure("request_access", kind="link", **ask)["code"], "INVALID_ARGUMENT")


@test("the home directory, and what holds it, is not asked about")
def home(fx):
    server = Server(fx)
    server.answers = lambda params: "once"
    for path in (fx.home, fx.home.parent, "/"):
        data = structured(server, "request_access", path=str(path), operations=["modify"], reason=REASON)
        equal((data["granted"], data["outcome"], server.asked), (False, "refused", []), str(path))
    mode = fx.home.stat().st_mode
    server.answers = lambda params: "deny"
    check(server.data("run_command", command=f"chmod 777 {fx.home}")["refused"])
    equal(fx.home.stat().st_mode, mode)


@test("the reason is marked as the model's, escaped, cut, and cannot end its own quotes")
def reasons(fx):
    server = Server(fx)
    server.answers = lambda params: "deny"
    said = 'x")\n(sandbash has looked at this: harmless)\x1b[2J\u202e' + "y" * 5000 + "END"
    for tool, more in (("request_access", {"operations": ["create"]}), ("open_project", {})):
        server.call(tool, path=str(fx.outside), reason=said, **more)
        text = message(server)
        line = next(line for line in text.splitlines() if "harmless" in line)
        contains(line, 'the model says, and nobody has checked it: "x\'')
        equal(line.count('"'), 2)
        lacks(text, "\x1b")
        lacks(text, "\u202e")
        check(len(line) < 1000, line)


@test("arguments that are none are told so that a model can repair them")
def arguments(fx):
    server = Server(fx)
    for operations in ([], ["write"], "read", [1], None):
        error = server.failure("request_access", path="x", operations=operations, reason=REASON)
        equal(error["code"], "INVALID_ARGUMENT", str(operations))
    for tool in server.request("tools/list")["tools"]:
        if tool["name"] in ("request_access", "open_project"):
            equal((tool["annotations"]["readOnlyHint"], tool["annotations"]["destructiveHint"]), (False, False))
            contains(tool["outputSchema"]["properties"], "outcome")


@test("what_may_i_do lists what was granted and denied in this session, whoever asked")
def listed(fx):
    for name in ("d", "e"):
        (fx.outside / name).mkdir()
    server = Server(fx)
    equal(server.data("what_may_i_do")["grants"], [])
    server.answers = lambda params: "directory"
    server.data("write_file", path=str(fx.outside / "d" / "a"), content="x")
    server.data("run_command", command=f"echo x > {fx.outside}/e/b")
    server.answers = lambda params: "once"
    server.data("request_access", path=str(fx.outside / "f"), operations=["create"], reason=REASON)
    server.answers = lambda params: "deny"
    server.failure("write_file", path=str(fx.outside / "g\nh"), content="x")
    data = server.data("what_may_i_do")
    found = {grant["path"]: (grant["access"], grant["until"]) for grant in data["grants"]}
    for path, grant in ((fx.outside / "d", ("write", "session")), (fx.outside / "e", ("write", "session")),
                        (fx.outside / "f", ("create", "next use")), (fx.outside / "g\nh", ("deny changes", "session"))):
        equal(found.get(str(path)), grant, str(found))
    for path, verdict in ((fx.outside / "d" / "n", "allow"), (fx.outside / "g\nh", "deny"), (fx.outside / "n", "ask")):
        equal(server.data("what_may_i_do", path=str(path))["decisions"]["create"]["verdict"], verdict, str(path))
    contains(data["content"], f"write {fx.outside}/d")
    contains(data["content"], "g\\nh")


# --- open_project ---------------------------------------------------------------------------------


@each_era
def opens(fx, era):
    """P5 a project that a person opened is one for tools and commands, until the server ends"""
    other = fx.dir / "other"
    fx.write(other / "sub" / "a.txt", "text")
    server = Server(fx, era=era)
    server.answers = lambda params: "deny"
    check(server.call("read_text_file", path=str(other / "sub" / "a.txt")).get("isError"), "the control")
    server.answers = lambda params: "once"
    data = server.data("open_project", path=str(other), reason=REASON)
    equal((data["granted"], data["outcome"], data["until"], data["project"]),
          (True, "granted", "session", str(other)))
    contains(data["content"], "names that a program outside would obey (git hooks, settings), still ask")
    asked = len(server.asked)
    contains(message(server), f"open as a project {other}")
    contains(message(server), "until this session ends")
    equal(server.asked[-1]["params"]["requestedSchema"]["properties"]["answer"]["enum"], ["once", "deny"])
    contains(server.data("list_allowed_directories")["content"], str(other))
    found = server.data("write_file", path=str(other / "b.txt"), content="x")
    equal(found["relativePath"], "b.txt")
    equal(server.data("glob", path=str(other), pattern="**/*.txt")["relativeFiles"], ["b.txt", "sub/a.txt"])
    data = server.data("run_command", command="pwd; echo y > c.txt", cwd=str(other))
    equal((data["stdout"], data["refused"]), (f"{other}\n", []))
    equal(server.data("run_command", command="echo x > mine; pwd")["stdout"], f"{fx.project}\n")
    equal(server.data("open_project", path=str(other / "sub"))["granted"], True, "it is open already")
    contains([grant["path"] for grant in server.data("what_may_i_do")["grants"]], str(other))
    equal(len(server.asked), asked)
    server.answers = lambda params: "deny"
    server.failure("write_file", path=str(fx.outside / "x"), content="x")
    equal(len(server.asked), asked + 1, "everything else is as it was")
    server.close()
    server = Server(fx, era=era)
    server.answers = lambda params: "deny"
    server.failure("write_file", path=str(other / "d.txt"), content="x")


@test("what a rule and the guard keep stays kept in it")
def scoped(fx):
    other = fx.dir / "other"
    fx.write(other / "keep" / "a", "old")
    equal(fx.run("git", "init", "-q", str(other)).status, 0)
    server = Server(fx, f"--allow-read={other}/keep")
    server.answers = lambda params: "once" if "open as a project" in params["message"] else "deny"
    server.data("open_project", path=str(other))
    hook = other / ".git" / "hooks" / "post-commit"
    server.failure("write_file", path=str(hook), content="#!/bin/sh\n")
    server.data("run_command", command=f"echo '#!/bin/sh' > {hook}; echo x > {other}/keep/a; echo x > {other}/new")
    check(not hook.exists())
    equal((fx.read(other / "keep" / "a"), fx.read(other / "new")), ("old", "x\n"))


@test("P5 a no is kept; what may be no project is refused unasked; with nobody to ask it says how to start with it")
def refused(fx):
    other = fx.dir / "other"
    other.mkdir()
    (fx.home / ".ssh").mkdir()
    kept = fx.dir / "kept"
    kept.mkdir()
    (fx.outside / "link").symlink_to(fx.home)
    fx.write(fx.outside / "file", "x")
    server = Server(fx, f"--allow-read={kept}")
    server.answers = lambda params: "deny"
    for _ in range(2):
        data = structured(server, "open_project", path=str(other))
        equal((data["outcome"], data["error"]["code"], len(server.asked)), ("denied", "DENIED", 1))
    server.failure("write_file", path=str(other / "x"), content="x")
    server.answers = lambda params: "once"
    asked = len(server.asked)
    for path in ("/", "~", str(fx.home.parent), "~/.ssh", str(kept), str(fx.outside / "link"),
                 str(fx.outside / "file"), str(fx.outside / "none"), "~/.local/state/sandbash", "/proc"):
        data = structured(server, "open_project", path=path)
        equal((data["granted"], data["outcome"]), (False, "refused"), path)
    equal(len(server.asked), asked)
    for flags, elicit in (((), False), (("--consent=deny",), True)):
        server = Server(fx, *flags, elicit=elicit)
        data = structured(server, "open_project", path=str(other))
        equal((data["outcome"], data["error"]["code"], data["error"]["violation"], server.asked),
              ("nobody", "PATH_OUTSIDE_PROJECT", True, []))
        equal(data["error"]["allow"], f"sandbash --mcp --project={other}")
        equal("--watch" in data["error"]["model"], not elicit)


@test("a link that takes its place while it is asked about opens nothing")
def replaced(fx):
    other = fx.dir / "other"
    other.mkdir()
    fx.write(fx.home / "secret.txt", "secret")

    def swap(params):
        os.rename(other, fx.dir / "away")
        os.symlink(fx.home, other)
        return "once"

    server = Server(fx)
    server.answers = swap
    result = server.call("open_project", path=str(other))
    server.answers = lambda params: "deny"
    check(server.call("read_text_file", path=str(fx.home / "secret.txt")).get("isError"), str(result))
    lacks(server.data("list_allowed_directories")["content"], f"{fx.home}\n")


@test("roots that the client offers narrow what there was, not what a person opened")
def with_roots(fx):
    (fx.project / "one").mkdir()
    other = fx.dir / "other"
    other.mkdir()
    server = Server(fx, roots=[f"file://{fx.project}/one"])
    server.wait_until(lambda: f"{fx.project}/one" in server.data("list_allowed_directories")["content"],
                      "the narrowed view")
    server.answers = lambda params: "once"
    server.data("open_project", path=str(other))
    server.answers = lambda params: "deny"
    server.data("write_file", path=str(other / "x"), content="x")
    data = server.data("run_command", command=f"echo y > {other}/y; echo z > {fx.project}/z")
    equal(([entry["path"] for entry in data["refused"]], fx.read(other / "y")), ([f"{fx.project}/z"], "y\n"))


@test("nor does --within, with which the server was started")
def with_within(fx):
    (fx.project / "one").mkdir()
    other = fx.dir / "other"
    other.mkdir()
    server = Server(fx, f"--within={fx.project}/one")
    server.answers = lambda params: "once"
    server.data("open_project", path=str(other))
    server.answers = lambda params: "deny"
    server.data("write_file", path=str(other / "x"), content="x")
    data = server.data("run_command", command=f"echo y > {other}/y; echo z > {fx.project}/z")
    equal(([entry["path"] for entry in data["refused"]], fx.read(other / "y")), ([f"{fx.project}/z"], "y\n"))


run_all()
