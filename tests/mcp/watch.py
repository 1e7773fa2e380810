"""watch.py - a client without elicitation: who watches answers for the server and its commands (C9, C4)."""

import os

from mcp import Server
from tap import check, equal, run_all, test, wait
from watcher import Watcher
from workers import FINAL, declare, project


def begin(server, tool, **arguments):
    return server.begin("tools/call", {"name": tool, "arguments": arguments})


def answer(watcher, part, key):
    watcher.sees("1 question", part)
    watcher.go_to("wants to")
    watcher.open(part)
    watcher.answer(key)
    watcher.sees("0 questions")


def started(server, fx):
    """Its session is there from the first real call on."""
    server.failure("write_file", path=str(fx.outside / "first"), content="x")


@test("C9 who watches is asked about file tools and held calls of commands, each once, and takes an answer back")
def asked(fx):
    server = Server(fx, elicit=False)
    started(server, fx)
    watcher = Watcher(fx)
    watcher.sees("1 run", "sandbash --mcp")
    call = begin(server, "write_file", path=str(fx.outside / "asked.txt"), content="x")
    answer(watcher, "asked.txt", "1")
    check(not server.wait(call)["result"].get("isError"), str(server.wait(call)))
    equal(fx.read(fx.outside / "asked.txt"), "x")
    call = begin(server, "run_command", command=f"echo held > {fx.outside}/held.txt; echo after")
    watcher.sees("2 runs")  # the command has a row of its own; its question comes once
    answer(watcher, "held.txt", "2")
    data = server.wait(call)["result"]["structuredContent"]
    equal((data["exitCode"], data["stdout"]), (0, "after\n"))
    # the answer is the server's: for file tools, and for commands that come later
    watcher.sees("1 run,")
    call = begin(server, "write_file", path=str(fx.outside / "more.txt"), content="x")
    check(not server.wait(call)["result"].get("isError"), str(server.wait(call)))
    data = server.data("run_command", command=f"echo later > {fx.outside}/later.txt")
    equal(data["exitCode"], 0)
    watcher.go_to("workspace-write")
    watcher.sees("allowed for this run: change everything in")
    watcher.go_to("allowed for this run")
    watcher.press("t")
    watcher.sees("taken back")
    call = begin(server, "write_file", path=str(fx.outside / "again.txt"), content="x")
    answer(watcher, "again.txt", "3")
    equal(server.wait(call)["result"]["structuredContent"]["error"]["code"], "DENIED")
    call = begin(server, "run_command", command=f"echo x > {fx.outside}/again2.txt")
    answer(watcher, "again2.txt", "3")
    check(server.wait(call)["result"]["structuredContent"]["exitCode"] != 0)
    check("again2.txt" not in os.listdir(fx.outside), "denied")
    watcher.leave()


@test("C9, Z4 who watches sees what a worker was allowed for the session, and takes it back")
def of_worker(fx):
    project(fx)
    declare(fx, "w", FINAL)
    server = Server(fx, "--worker=w.worker", elicit=False)
    server.failure("write_file", path="/final/first", content="x")
    watcher = Watcher(fx)
    watcher.sees("1 run", "sandbash --mcp")
    call = begin(server, "write_file", path="/final/a", content="x")
    watcher.sees("1 question", "final/a")
    watcher.go_to("wants to")
    watcher.open("final/a")
    check("always" not in watcher.term.screen(), watcher.term.screen())
    watcher.answer("2")
    watcher.sees("0 questions")
    check(not server.wait(call)["result"].get("isError"), str(server.wait(call)))
    server.data("write_file", path="/final/b", content="x")
    watcher.go_to("workspace-write")
    watcher.sees("allowed for this session: write everything in")
    watcher.go_to("allowed for this session")
    watcher.press("t")
    watcher.sees("taken back")
    call = begin(server, "write_file", path="/final/c", content="x")
    answer(watcher, "final/c", "3")
    equal(server.wait(call)["result"]["structuredContent"]["error"]["code"], "DENIED")
    watcher.leave()


@test("C9 a rule added to the server opens a directory for its tools and later commands")
def added(fx):
    server = Server(fx, elicit=False)
    started(server, fx)
    watcher = Watcher(fx)
    watcher.go_to("workspace-write")
    watcher.press("a")
    watcher.sees("rule for ")
    for c in f"write {fx.outside}":
        watcher.term.send(c)
    watcher.sees(f"write {fx.outside}")
    watcher.term.send("\r")
    watcher.sees("added for this run")
    call = begin(server, "write_file", path=str(fx.outside / "a.txt"), content="x")
    check(not server.wait(call)["result"].get("isError"), str(server.wait(call)))
    equal(server.data("run_command", command=f"echo x > {fx.outside}/b.txt")["exitCode"], 0)
    watcher.leave()


@test("C9 --consent=watch: a client that shows questions is not asked, and both wait for who watches")
def only_there(fx):
    server = Server(fx, "--consent=watch", elicit=True)
    call = begin(server, "write_file", path=str(fx.outside / "a.txt"), content="x")
    watcher = Watcher(fx)
    answer(watcher, "a.txt", "1")
    check(not server.wait(call)["result"].get("isError"), str(server.wait(call)))
    watcher.leave()
    call = begin(server, "run_command", command=f"echo x > {fx.outside}/b.txt; echo $?")
    wait(lambda: len(os.listdir(fx.home / ".local/state/sandbash/run")) == 2, "the command does not run")
    watcher = Watcher(fx)
    answer(watcher, "b.txt", "1")
    data = server.wait(call)["result"]["structuredContent"]
    equal(data["stdout"], "0\n")


run_all()
