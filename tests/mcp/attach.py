"""attach.py - a client without elicitation: a person attached to the server answers (C6, C4)."""

import re

from mcp import NO_FORM, Server
from tap import BIN, check, contains, equal, lacks, run_all, test


def attach(fx, session):
    terminal = fx.terminal(BIN, f"--attach={session}", replies=True, columns=200)
    terminal.expect("attached to")
    return terminal


def answer(terminal, part, key):
    terminal.expect(part)
    terminal.expect("Press ")
    terminal.answer(key)


def session_of(server, fx):
    error = server.failure("write_file", path=str(fx.outside / "first"), content="x")
    return re.search(r"--attach=(\S+)", error["attach"]).group(1)


@test("a person who attached is asked about file tools, and the answer counts")
def file_tools(fx):
    server = Server(fx, elicit=False)
    terminal = attach(fx, session_of(server, fx))
    call = server.begin("tools/call", {"name": "write_file", "arguments": {
        "path": str(fx.outside / "asked.txt"), "content": "x"}})
    answer(terminal, "asked.txt", "1")
    check(not server.wait(call)["result"].get("isError"), str(server.wait(call)))
    equal(fx.read(fx.outside / "asked.txt"), "x")
    call = server.begin("tools/call", {"name": "write_file", "arguments": {
        "path": str(fx.outside / "other.txt"), "content": "x"}})
    answer(terminal, "other.txt", "3")
    equal(server.wait(call)["result"]["structuredContent"]["error"]["code"], "DENIED")


@test("and about the held calls of commands")
def commands(fx):
    server = Server(fx, elicit=False)
    terminal = attach(fx, session_of(server, fx))
    call = server.begin("tools/call", {"name": "run_command", "arguments": {
        "command": f"echo held > {fx.outside}/held.txt; echo after"}})
    answer(terminal, "held.txt", "1")
    data = server.wait(call)["result"]["structuredContent"]
    equal((data["exitCode"], data["stdout"]), (0, "after\n"))
    equal(fx.read(fx.outside / "held.txt"), "held\n")


@test("and about a worker's directories, by their real names; all of one for the session, by file tools and commands")
def worker(fx):
    fx.write("sandbash.yaml", "sandbox: {zones: {output: {mode: rw}}}\n")
    fx.write("one.worker", "---\nname: one\nsandbox: {zones: [{name: output, mode: rw}]}\n---\n")
    server = Server(fx, "--worker=one.worker", elicit=False)
    error = server.failure("write_file", path="/output/first", content="x")
    terminal = attach(fx, re.search(r"--attach=(\S+)", error["attach"]).group(1))
    call = server.begin("tools/call", {"name": "write_file", "arguments": {"path": "/output/asked", "content": "x"}})
    answer(terminal, ".sandbox/output/asked", "2")
    check(not server.wait(call)["result"].get("isError"), str(server.wait(call)))
    server.data("write_file", path="/output/second", content="x")
    equal(server.data("run_command", command="echo y >/output/third")["exitCode"], 0)
    equal(fx.read(".sandbox/output/third"), "y\n")
    call = server.begin("tools/call", {"name": "delete_file", "arguments": {"path": "/output/second"}})
    answer(terminal, ".sandbox/output/second", "3")
    equal(server.wait(call)["result"]["structuredContent"]["error"]["code"], "DENIED")


@test("and about what is asked ahead: a project, and what a command needs; also when the client shows nobody a form")
def ahead(fx):
    (fx.outside / "second").mkdir()
    for elicit in (False, True):
        server = Server(fx, elicit=elicit)
        server.answers = lambda params: NO_FORM
        terminal = attach(fx, session_of(server, fx))
        call = server.begin("tools/call", {"name": "open_project", "arguments": {
            "path": str(fx.outside / "second"), "reason": "it is needed"}})
        terminal.expect("the model says")
        terminal.expect("allow until this session ends")
        answer(terminal, "second", "1")
        equal(server.wait(call)["result"]["structuredContent"].get("outcome"), "granted")
        call = server.begin("tools/call", {"name": "run_command", "arguments": {
            "command": f"echo x > {fx.outside}/by-command", "writableRoots": [str(fx.outside)]}})
        answer(terminal, "by-command", "1")
        equal(server.wait(call)["result"]["structuredContent"].get("exitCode"), 0)
        terminal.close()
        server.close()


@test("when that person goes, the answer is no at once again")
def gone(fx):
    server = Server(fx, elicit=False)
    terminal = attach(fx, session_of(server, fx))
    call = server.begin("tools/call", {"name": "write_file", "arguments": {
        "path": str(fx.outside / "asked.txt"), "content": "x"}})
    terminal.expect("asked.txt")
    terminal.close()
    check(server.wait(call)["result"]["isError"])
    equal(server.failure("write_file", path=str(fx.outside / "n.txt"), content="x")["code"],
          "PATH_OUTSIDE_PROJECT")
    data = server.data("run_command", command=f"echo x > {fx.outside}/n.txt")
    equal(data["refused"][0]["by"], "nobody")


@test("C5 a command cannot attach to the server that runs it")
def inside(fx):
    server = Server(fx, elicit=False)
    session = session_of(server, fx)
    contains(fx.sandbash("--sessions").stdout, session)
    data = server.data("run_command", command=f"{BIN} --attach={session} 2>&1; cat /proc/net/unix | grep -c sandbash")
    contains(data["stdout"], "nobody inside a sandbox can answer")
    lacks(data["stdout"], "attached to")


run_all()
