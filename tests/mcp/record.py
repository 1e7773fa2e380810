"""record.py - F7, R1, R2: what a server's session leaves on record, and its counters."""

import json

from mcp import Server, read_first
from tap import check, contains, equal, run_all, test


def records(server, fx):
    equal(server.end(), 0)
    return [json.loads(line) for line in fx.sandbash("--log", "--json").stdout.splitlines()]


def counters(found):
    """Of the server's own session: name -> sum."""
    mine = [event for event in found if event["event"] == "exit"][-1]["counters"]
    return {name: sum(ops) for name, ops in mine.items()}


@test("R1 R2 a session of file tools that are all allowed has a start, an end and counters")
def allowed_only(fx):
    server = Server(fx, elicit=False)
    server.data("write_file", path="a", content="x")
    server.data("read_text_file", path="a")
    server.data("delete_file", path="a")
    found = records(server, fx)
    equal([event["event"] for event in found], ["start", "exit"])
    count = counters(found)
    equal((count["seen"], count["allowed"], count["denied"], count["asked"], count["approved"]), (3, 3, 0, 0, 0))


@test("R1 a server that no tool was called on leaves nothing")
def nothing(fx):
    server = Server(fx)
    server.request("tools/list")
    equal(records(server, fx), [])


@test("R2 what is refused, asked and approved is counted once")
def asked(fx):
    fx.write(fx.outside / "f", "x")
    server = Server(fx)
    server.answers = lambda params: read_first("once")
    server.data("read_text_file", path=f"{fx.outside}/f")
    server.answers = lambda params: read_first("deny")
    server.failure("write_file", path=f"{fx.outside}/g", content="x")
    count = counters(records(server, fx))
    equal((count["seen"], count["allowed"], count["denied"], count["asked"], count["approved"]), (2, 0, 1, 2, 1))


@test("R2 a granted open_project is approved, a refused one denied")
def project(fx):
    more = fx.home / "more"
    more.mkdir()
    server = Server(fx)
    server.answers = lambda params: read_first("once")
    server.data("open_project", path=str(more), reason="r")
    server.data("write_file", path=str(more / "a"), content="x")
    server.answers = lambda params: read_first("deny")
    (fx.home / "other").mkdir()
    server.failure("open_project", path=str(fx.home / "other"), reason="r")
    count = counters(records(server, fx))
    equal((count["asked"], count["approved"], count["denied"], count["allowed"]), (2, 1, 1, 1), str(count))


@test("R1 log-allowed: the tools' paths are on record, those of the keeper's processes, too")
def log_allowed(fx):
    fx.write(fx.outside / "f", "x")
    server = Server(fx, "--log-allowed", f"--allow-read={fx.outside}", elicit=False)
    server.data("write_file", path="a", content="x")
    server.data("read_text_file", path=f"{fx.outside}/f")
    server.data("run_command", command="echo 1 > b")
    found = [(event["op"], event["path"], event.get("act")) for event in records(server, fx)
             if event["event"] == "allow"]
    check(("create", f"{fx.project}/a", "write_file") in found, str(found))
    check(("read", f"{fx.outside}/f", "read_text_file") in found, str(found))
    check([one for one in found if one[:2] == ("create", f"{fx.project}/b")], str(found))


@test("F7 a cwd outside, and patterns that lead outside, are violations on record")
def patterns(fx):
    server = Server(fx, "--consent=deny")
    fx.write("src/a.txt", "x")
    tried = (("run_command", {"command": "true", "cwd": str(fx.outside)}, str(fx.outside)),
             ("glob", {"pattern": "../../*"}, "../../*"), ("glob", {"pattern": "/etc/*"}, "/etc/*"),
             ("grep", {"pattern": "x", "include": ["../../*"]}, "../../*"),
             ("search_files", {"path": ".", "pattern": "/etc/*"}, "/etc/*"),
             ("glob", {"pattern": "C:\\*"}, "C:\\*"), ("glob", {"pattern": "..\\*"}, "..\\*"),
             ("run_command", {"command": "true", "cwd": "C:\\Windows"}, "C:\\Windows"),
             ("run_command", {"command": "true", "cwd": "..\\other"}, "..\\other"))
    for tool, arguments, _ in tried:
        error = server.failure(tool, **arguments)
        equal((error["code"], error["violation"]), ("PATH_OUTSIDE_PROJECT", True), f"{tool} {arguments}")
    equal(server.data("glob", pattern="src/*.txt")["relativeFiles"], ["src/a.txt"])
    contains(server.data("glob", pattern="src\\*.txt")["content"], "separated by '/'")
    equal(server.data("run_command", command="pwd", cwd="src")["stdout"], f"{fx.project}/src\n")
    found = [(event["act"], event["given"], event["directory"]) for event in records(server, fx)
             if event["event"] == "deny"]
    equal(found, [(tool, given, str(fx.project)) for tool, _, given in tried])


@test("F7 F8 what would allow it is right: a new directory behind a link, /proc, a command's /tmp, drives")
def remedies(fx):
    (fx.home / "other").mkdir()
    (fx.project / "l").symlink_to("../other")
    server = Server(fx, "--consent=deny")
    error = server.failure("write_file", path="l/newdir/x", content="y")
    equal((error["operation"], error["path"]), ("create", f"{fx.home}/other/newdir/x"))
    contains(error["allow"], "--allow-write=")
    error = server.failure("read_text_file", path="/proc/self/root/etc/passwd")
    check("allow" not in error, str(error))
    contains(error["model"], "/proc")
    error = server.failure("read_text_file", path="/tmp/of-a-command")
    contains(error["model"], "temp directory of its own")
    check("cp -R" not in error["model"], str(error))
    error = server.failure("write_file", path="c:x", content="y")
    equal((error["code"], error["violation"]), ("PATH_OUTSIDE_PROJECT", True))
    server.data("write_file", path="./c:x", content="y")
    server.data("write_file", path="none/../b.txt", content="y")
    equal(fx.read("b.txt"), "y")
    equal(server.failure("write_file", path="none/../../b.txt", content="y")["code"], "PATH_OUTSIDE_PROJECT")


@test("F4 the reason is the right one: the mode, a built-in rule, a rule of the user's")
def reasons(fx):
    fx.write(fx.home / ".ssh" / "id_rsa", "x")
    fx.write("mine", "x")
    server = Server(fx, "--mode=read-only", "--deny=mine", elicit=False)
    error = server.failure("write_file", path="a", content="x")
    equal(error["code"], "READ_ONLY")
    contains(error["person"], "the mode is read-only")
    error = server.failure("read_text_file", path=f"{fx.home}/.ssh/id_rsa")
    equal(error["code"], "BLOCKED")
    contains(error["model"], "sandbash keeps this path from agents")
    contains(server.failure("read_text_file", path="mine")["model"], "A rule of the user")


run_all()
