"""needs.py - C10: run_command takes access, writableRoots and network; less is so, more is asked up front."""

import os
import time

from mcp import Server
from tap import check, contains, equal, lacks, run_all, test, wait

ERAS = ("legacy", "modern")


def run(server, command, **needs):
    return server.data("run_command", command=command, **needs)


def each_era(function):
    for era in ERAS:
        test(f"{era}: {function.__doc__}")(lambda fx, era=era: function(fx, era))
    return function


@test("access read-only narrows one command, and asks nobody")
def read_only(fx):
    server = Server(fx)
    server.answers = lambda params: "once"
    equal(run(server, "echo 1 > a")["exitCode"], 0)
    data = run(server, "echo 2 > a; echo 3 > /tmp/b && cat /tmp/b", access="read-only")
    equal(fx.read("a"), "1\n")
    check(data["refused"], str(data))
    equal(run(server, "echo 4 > a", access="workspace-write")["exitCode"], 0)
    equal((fx.read("a"), server.asked), ("4\n", []))


@test("each command has a /tmp of its own, empty when it starts, also while another one runs; the project is what they share")
def own_tmp(fx):
    server = Server(fx)
    write = "echo 1 > /tmp/a; echo 2 > shared; cat /tmp/a"
    equal(run(server, write)["stdout"], "1\n", "control: within one command it is there")
    equal(run(server, "ls -A /tmp; cat shared")["stdout"], "2\n")
    first = run(server, "echo 1 > /tmp/a; touch started; until test -e go; do sleep 0.05; done; cat /tmp/a; ls -A /tmp", background=True)
    wait(lambda: fx.exists("started"), "it never starts")
    equal(run(server, "ls -A /tmp; echo 3 > /tmp/b; touch go")["stdout"], "")
    while first["state"] == "running":
        first = server.data("command_status", runId=first["runId"], waitMs=1000)
    equal(first["stdout"], "1\na\n")


@test("network off narrows one command")
def no_network(fx):
    server = Server(fx)
    look = "echo ${SANDBASH_NETWORK_DISABLED-on}"
    equal([run(server, look, **needs)["stdout"] for needs in ({}, {"network": "off"})], ["on\n", "1\n"])
    equal(server.asked, [])


@test("writableRoots in the project are all of it that changes without a question")
def inside(fx):
    for name in ("src", "docs"):
        (fx.project / name).mkdir()
    server = Server(fx, elicit=False)
    data = run(server, "echo 1 > src/a; echo 1 > docs/a; echo 1 > a", writableRoots=["src"])
    equal(sorted(entry["path"] for entry in data["refused"]), [f"{fx.project}/a", f"{fx.project}/docs/a"])
    equal(fx.read("src/a"), "1\n")
    equal(run(server, "echo 1 > docs/a")["exitCode"], 0, "for that command only")
    error = server.failure("run_command", command="true", writableRoots=["none"])
    equal(error["code"], "NOT_FOUND")
    error = server.failure("run_command", command="true", writableRoots=["src"], access="read-only")
    equal(error["code"], "INVALID_ARGUMENT")


@test("nor do they widen what the client's roots leave")
def inside_roots(fx):
    for name in ("one", "two"):
        (fx.project / name).mkdir()
    server = Server(fx, roots=[f"file://{fx.project}/one"])
    server.wait_until(lambda: f"{fx.project}/one" in server.data("list_allowed_directories")["content"],
                      "the narrowed view")
    server.answers = lambda params: "deny"
    command = "echo x > ../two/a"
    needs = {"writableRoots": [str(fx.project / "two")]}
    equal(server.failure("run_command", command=command, **needs)["code"], "DENIED")
    equal(len(server.asked), 1)
    check(not (fx.project / "two" / "a").exists())


@each_era
def outside(fx, era):
    """C10 a writable root outside is one question, which tells what and for how long; once is this command"""
    server = Server(fx, era=era)
    server.answers = lambda params: "once"
    command = f"echo 1 > {fx.outside}/a && mkdir {fx.outside}/d && echo 2 > {fx.outside}/d/b"
    equal(run(server, command, writableRoots=[str(fx.outside)])["exitCode"], 0)
    equal((fx.read(fx.outside / "d" / "b"), len(server.asked)), ("2\n", 1))
    params = server.asked[0]["params"]
    for words in ("run_command", "may change everything in " + str(fx.outside), "this command only", command):
        contains(params["message"], words)
    equal(params["requestedSchema"]["properties"]["answer"]["enum"], ["once", "deny"])
    server.answers = lambda params: "deny"
    check(run(server, f"echo 3 > {fx.outside}/c")["refused"], "it was for the other command only")
    equal(len(server.asked), 2)


@each_era
def refused(fx, era):
    """a no is told as the person's, the command is not started, and the same is not asked again"""
    server = Server(fx, era=era)
    server.answers = lambda params: "deny"
    for _ in range(2):
        error = server.failure("run_command", command="touch ran", writableRoots=[str(fx.outside)])
        equal((error["code"], error["violation"]), ("DENIED", True))
        equal(len(server.asked), 1)
    check(not fx.exists("ran"))
    equal(run(server, "touch ran")["exitCode"], 0, "without it the command runs")
    (fx.outside / "d").mkdir()
    server.failure("request_access", path=str(fx.outside / "d"), operations=["modify"], reason="no")
    asked = len(server.asked)
    equal(server.failure("run_command", command="touch b", writableRoots=[str(fx.outside / "d")])["code"], "DENIED")
    equal(len(server.asked), asked, "it was refused when asked ahead")
    equal(server.failure("run_command", command="touch b", writableRoots=[str(fx.outside), "."])["code"], "DENIED")
    equal(len(server.asked), asked, "nor with something else beside it")


@test("C6 with nobody to ask it is refused, with the option that would do")
def nobody(fx):
    for flags, elicit in ((("--consent=deny",), True), ((), False)):
        server = Server(fx, *flags, elicit=elicit)
        server.answers = lambda params: "once"
        error = server.failure("run_command", command=f"echo x > {fx.outside}/a",
                               writableRoots=[str(fx.outside)])
        equal((error["code"], server.asked), ("NEEDS_CONSENT", []))
        equal(error["allow"], f"sandbash --mcp --allow-write={fx.outside}")
        equal("attach" in error, not elicit)
        contains(error["model"], "--watch" if not elicit else "Nobody is asked")
        server.close()
    server = Server(fx, f"--allow-write={fx.outside}", elicit=False)
    equal(run(server, f"echo x > {fx.outside}/a", writableRoots=[str(fx.outside)])["exitCode"], 0)


@test("what no answer opens is refused unasked: the home directory, what holds it, what rules keep, links there")
def never(fx):
    (fx.home / ".ssh").mkdir()
    kept = fx.dir / "kept"
    kept.mkdir()
    (fx.outside / "link").symlink_to(fx.home)
    server = Server(fx, f"--allow-read={kept}")
    server.answers = lambda params: "once"
    for path in ("/", str(fx.home), str(fx.home.parent), "~", "~/.ssh", str(kept), str(fx.outside / "link"),
                 str(fx.home / ".config" / "sandbash")):
        result = server.call("run_command", command=f"touch {fx.home}/.ssh/x {kept}/x {fx.home}/x",
                             writableRoots=[path])
        check(result.get("isError") or not server.asked, f"{path}: {result}")
        check(not (fx.home / ".ssh" / "x").exists() and not (fx.home / "x").exists(), path)
        check(not (kept / "x").exists(), path)
    # what is around our own rules can be opened, and they stay closed
    result = server.call("run_command", command="touch ~/.config/sandbash/x ~/.config/x", writableRoots=[str(fx.home / ".config")])
    check((fx.home / ".config/x").exists() and not (fx.home / ".config/sandbash/x").exists(), str(result))


@test("guarded names are not opened by a writable root: they ask as before")
def guarded(fx):
    repository = fx.outside / "repository"
    equal(fx.run("git", "init", "-q", str(repository)).status, 0)
    server = Server(fx)
    server.answers = lambda params: "once" if "run a command" in params["message"] else "deny"
    hook = repository / ".git" / "hooks" / "post-commit"
    for root in (repository, repository / ".git", repository / ".git" / "hooks"):
        result = server.call("run_command", writableRoots=[str(root)],
                             command=f"echo x > {root}/plain; echo '#!/bin/sh' > {hook}")
        check(not hook.exists(), f"{root}: {result}")
    equal(fx.read(repository / "plain"), "x\n")


@test("network on and workspace-write, where the session has neither, are asked in one question")
def settings(fx):
    server = Server(fx, "--mode=read-only", "--network=off")
    server.answers = lambda params: "once"
    command = "echo x > a; echo ${SANDBASH_NETWORK_DISABLED-on} $SANDBASH_MODE"
    data = run(server, command, access="workspace-write", network="on")
    equal((data["stdout"], fx.read("a"), len(server.asked)), ("on workspace-write\n", "x\n", 1))
    for words in ("may change files in", "may use the network"):
        contains(server.asked[0]["params"]["message"], words)
    equal(run(server, "echo y > a; echo $SANDBASH_MODE $SANDBASH_NETWORK_DISABLED")["stdout"], "read-only 1\n")
    equal(fx.read("a"), "x\n")
    error = Server(fx, "--network=off", "--consent=deny").failure("run_command", command="true", network="on")
    equal((error["code"], error["allow"]), ("NEEDS_CONSENT", "sandbash --mcp --network=on"))


@test("while it is asked nothing runs, other calls go on, and its time does not; cancelling ends the question")
def waits(fx):
    server = Server(fx)
    arguments = {"command": "touch ran", "writableRoots": [str(fx.outside)], "timeoutMs": 3000}
    number = server.begin("tools/call", {"name": "run_command", "arguments": arguments})
    server.wait_for(lambda: server.asked, "the question")
    equal(run(server, "echo other")["stdout"], "other\n")
    time.sleep(3.2)
    check(not fx.exists("ran"))
    server.answer(server.asked[0], "once")
    data = server.wait(number)["result"]["structuredContent"]
    equal((data["exitCode"], data["timedOut"]), (0, False))
    os.unlink(fx.project / "ran")
    number = server.begin("tools/call", {"name": "run_command", "arguments": arguments})
    server.wait_for(lambda: len(server.asked) == 2, "the second")
    server.notify("notifications/cancelled", {"requestId": number})
    server.wait_for(lambda: [note for note in server.notes
                             if note["method"] == "notifications/cancelled"], "its withdrawal")
    server.answer(server.asked[1], "once")
    equal(run(server, "echo other")["stdout"], "other\n")
    check(not fx.exists("ran"))


@test("a command in the background is answered when it has started")
def background(fx):
    for era in ERAS:
        server = Server(fx, era=era)
        server.answers = lambda params: "once"
        data = run(server, f"echo {era} > {fx.outside}/{era}", writableRoots=[str(fx.outside)], background=True)
        while data["state"] == "running":
            data = server.data("command_status", runId=data["runId"], waitMs=1000)
        equal((data["exitCode"], fx.read(fx.outside / era)), (0, era + "\n"))


@test("--grant opens a directory to one run, as an answer does: no link, no guarded name, no rule of the user's")
def option(fx):
    (fx.outside / "link").symlink_to(fx.dir)
    kept = fx.outside / "kept"
    kept.mkdir()
    good = fx.sandbash(f"--grant={fx.outside}", "sh", "-c", f"echo x > {fx.outside}/a")
    equal((good.status, fx.read(fx.outside / "a")), (0, "x\n"), good.stderr)
    for given, flags in ((fx.outside / "link", ()), (fx.home, ()), ("/", ()), (fx.outside / "none", ()),
                         (fx.outside, (f"--allow-read={kept}",)), ("outside", ())):
        result = fx.sandbash(*flags, f"--grant={given}", "sh", "-c", f"echo x > {fx.project}/ran")
        if flags:  # the narrower rule stays
            fx.sandbash(*flags, f"--grant={given}", "sh", "-c", f"echo x > {kept}/b")
            check(not (kept / "b").exists())
        else:
            check(result.status == 125, f"{given}: {result.status} {result.stderr}")
            contains(result.stderr, "--grant")
    lacks(os.listdir(kept), "b")


run_all()
