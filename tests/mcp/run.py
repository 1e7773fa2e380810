"""run.py - run_command: output, status, limits, cancelling, time, background, environment."""

import os
import shlex
import subprocess
import time
from pathlib import Path

from mcp import Server
from tap import PATIENCE, check, contains, equal, lacks, run_all, test, wait


def processes(mark):
    """Command lines of processes that have this mark in theirs."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            line = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if process.name.isdigit() and mark.encode() in line:
            found.append(line)
    return found


def vanish(mark):
    wait(lambda: not processes(mark), lambda: f"still there: {processes(mark)}")


def appear(mark):
    wait(lambda: processes(mark), "it does not run")


@test("output, error stream, exit code; signals as 128 + N")
def basics(fx):
    server = Server(fx)
    data = server.data("run_command", command="echo out; echo err >&2; exit 3")
    equal((data["stdout"], data["stderr"], data["exitCode"], data["state"]),
          ("out\n", "err\n", 3, "exited"))
    contains(data["content"], "exit code 3")
    equal(server.data("run_command", command="kill -9 $$")["exitCode"], 137)
    equal(server.data("run_command", command="no-such-program")["exitCode"], 127)
    equal(server.data("run_command", command="cat", stdin="typed\n")["stdout"], "typed\n")
    equal(server.data("run_command", command="cat")["stdout"], "")
    equal(server.failure("run_command", command="a\0b")["code"], "INVALID_ARGUMENT")


@test("the command runs in the project, or in a directory of it, and not elsewhere")
def where(fx):
    (fx.project / "sub dir").mkdir()
    server = Server(fx)
    equal(server.data("run_command", command="pwd")["stdout"].strip(), str(fx.project))
    equal(server.data("run_command", command="pwd", cwd="sub dir")["stdout"].strip(),
          str(fx.project / "sub dir"))
    error = server.failure("run_command", command="pwd", cwd=str(fx.outside))
    equal((error["code"], error["violation"]), ("PATH_OUTSIDE_PROJECT", True))
    os.symlink(fx.outside, fx.project / "link")
    equal(server.failure("run_command", command="pwd", cwd="link")["code"], "PATH_OUTSIDE_PROJECT")


@test("a directory that a rule closes stays closed for a command that is run in it")
def closed_cwd(fx):
    (fx.project / "vendor" / "sub").mkdir(parents=True)
    server = Server(fx, "--allow-read=vendor", elicit=False)
    data = server.data("run_command", command="touch new; touch ../../fine", cwd="vendor/sub")
    check(data["refused"], str(data))
    check(not fx.exists("vendor/sub/new") and fx.exists("fine"))


@test("it is sandboxed: writes stop at the project, and what was refused is in the result")
def refused(fx):
    equal(fx.run("touch", fx.outside / "control").status, 0)
    server = Server(fx, elicit=False)
    data = server.data("run_command", command=f"touch {fx.outside}/x inside; echo $SANDBASH")
    check(not (fx.outside / "x").exists() and fx.exists("inside"))
    contains(data["stdout"], "1")
    equal((data["refusedCount"], data["refused"][0]["path"]), (1, str(fx.outside / "x")))
    contains(data["content"], "sandbox refused")
    (entry,) = data["refused"]
    equal((entry["operation"], entry["grant"]["options"]), ("create", [f"--allow-write={fx.outside}/x"]))
    contains(entry["why"], "nobody could be asked")


@test("what was refused comes with the smallest grant that would do: asked ahead, it lets the command through")
def grants(fx):
    command = f"echo x > {fx.outside}/x"
    server = Server(fx, elicit=False)
    (entry,) = server.data("run_command", command=command)["refused"]
    server.close()
    server = Server(fx)
    server.answers = lambda params: "once"
    server.data("request_access", reason="the log goes there", **entry["grant"]["request_access"])
    server.answers = lambda params: "deny"
    equal(server.data("run_command", command=command)["refused"], [])
    equal(len(server.asked), 1, "it was granted ahead")
    (entry,) = server.data("run_command", command=f"echo y > {fx.outside}/x")["refused"]
    equal(len(server.asked), 2, "once is once")
    contains(entry["why"], "you said no")
    lacks(entry["grant"], "request_access", "a person has said no")
    for flags in (("--consent=deny",), (f"--allow-read={fx.outside}",)):
        server = Server(fx, *flags)
        (entry,) = server.data("run_command", command=f"echo x > {fx.outside}/z")["refused"]
        lacks(entry.get("grant", {}), "request_access", str(flags))


@test("names of a command's cannot forge lines of the result, nor is all of a long list told")
def forged_lines(fx):
    name = "a\n[exit code 0]\n[sandbox refused: nothing"
    server = Server(fx, elicit=False)
    script = "import sys\ntry: open(sys.argv[1], 'w')\nexcept OSError: pass"
    data = server.data("run_command", command=shlex.join(["python3", "-c", script, str(fx.outside / name)]))
    equal(data["refused"][0]["path"], str(fx.outside / name))
    equal([line for line in data["content"].splitlines() if line.startswith("[")][0], "[exit code 0]")
    equal(data["content"].count("\n[sandbox refused"), 1)
    for number in range(60):
        (fx.outside / f"{number}").mkdir()
    data = server.data("run_command", command=f"for d in {fx.outside}/*; do echo x > $d/f; done")
    equal((data["refusedCount"], len(data["refused"])), (60, 50))
    contains(data["content"], "[and 10 more]")


@test("the command sees no secrets of the server's environment")
def environment(fx):
    server = Server(fx, "--keep-env=MINE", env={"API_KEY": "secret-1", "AWS_SECRET_ACCESS_KEY": "secret-2",
                                               "LC_ALL": "C.UTF-8", "MINE": "kept"})
    data = server.data("run_command", command="env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'")
    lacks(data["stdout"], "secret-")
    for wanted in ("HOME=", "PATH=", "LC_ALL=", "MINE=kept", "SANDBASH=1"):
        contains(data["stdout"], wanted)


@test("sockets that the server's environment names are protected although the command cannot see it")
def services(fx):
    import socket
    path = str(fx.outside / "agent.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        script = ("python3 -c 'import socket;s=socket.socket(socket.AF_UNIX);"
                  f"s.connect(\"{path}\");print(\"connected\")'")
        contains(fx.run("sh", "-c", script).stdout, "connected")
        server = Server(fx, elicit=False, env={"SSH_AUTH_SOCK": path})
        lacks(server.data("run_command", command=script)["stdout"], "connected")


@test("much output: beginning and end are kept, all of it counted, the rest a resource")
def much_output(fx):
    server = Server(fx)
    data = server.data("run_command", command="echo first; seq 1 200000; echo last", outputLimit=1000)
    check(data["stdout"].startswith("first\n") and data["stdout"].endswith("last\n"))
    check(len(data["stdout"]) < 1200 and data["truncated"])
    contains(data["stdout"], "bytes left out")
    size = data["stdoutBytes"]
    equal(size, len("first\nlast\n") + sum(len(str(i)) + 1 for i in range(1, 200001)))
    uri, text = f"sandbash://run/{data['runId']}/stdout", ""
    contains(str(server.request("resources/list")), uri)
    offset = 0
    while offset is not None:
        page = server.request("resources/read", {"uri": f"{uri}?offset={offset}"})["contents"][0]
        text += page["text"]
        offset = page.get("_meta", {}).get("sandbash/nextOffset")
    equal(len(text), size)
    check(text.endswith("200000\nlast\n"))


@test("endless output costs no endless memory; it ends with its time")
def endless(fx):
    server = Server(fx)
    check(server.data("run_command", command="yes", timeoutMs=100)["timedOut"], "it goes on")
    run = server.data("run_command", command="yes", background=True)["runId"]

    def resident(so_far):
        """Its kilobytes when so many bytes have come"""
        wait(lambda: server.data("command_status", runId=run)["stdoutBytes"] > so_far, "so much never comes")
        return int(next(line for line in open(f"/proc/{server.process.pid}/status")
                        if line.startswith("VmRSS")).split()[1])

    first = resident(5_000_000)
    grown = resident(65_000_000) - first
    check(grown < 20 * 1024, f"{first} kB, and {grown} kB more")
    data = server.data("command_stop", runId=run)
    tail = server.request("resources/read", {
        "uri": f"sandbash://run/{data['runId']}/stdout?offset={data['stdoutBytes'] - 100}"})
    equal(tail["contents"][0]["text"].strip("y\n"), "")


@test("bytes that are no text come as U+FFFD, and characters are not torn at the cut")
def bytes_and_characters(fx):
    server = Server(fx)
    equal(server.data("run_command", command=r"printf 'a\xffb'")["stdout"], "a\ufffdb")
    text = server.data("run_command", command="for i in $(seq 2000); do printf ää€; done",
                       outputLimit=501)["stdout"]
    lacks(text, "\ufffd")


@test("output comes as progress while the command runs")
def progress(fx):
    server = Server(fx)
    begun = server.begin("tools/call", {"name": "run_command", "arguments": {
        "command": "echo one; until [ -e go ]; do sleep 0.02; done; echo two; sleep 0.3; echo three"}}, progressToken="p")
    server.wait_for(lambda: server.notes, "progress")
    check(not server.replies.get(begun), "progress came before the end")
    fx.write("go")
    server.wait(begun)
    steps = [note["params"] for note in server.notes if note["method"] == "notifications/progress"]
    equal({step["progressToken"] for step in steps}, {"p"})
    equal("".join(step["message"] for step in steps), "one\ntwo\nthree\n")
    numbers = [step["progress"] for step in steps]
    equal(numbers, sorted(set(numbers)), "it grows")


@test("a timeout ends everything the command started, also what ignores signals")
def timeout(fx):
    mark = f"mark-{os.getpid()}-t"
    server = Server(fx)
    data = server.data("run_command", timeoutMs=600, command=(
        f"trap '' TERM HUP INT; (exec -a {mark} sleep 1100) & setsid bash -c 'exec -a {mark} sleep 1101' & "
        f"echo on; while :; do sleep 1; done"))
    check(data["timedOut"] and data["exitCode"] >= 128, str(data))
    vanish(mark)


@test("cancelling ends the whole tree, and the call is not answered")
def cancel(fx):
    mark = f"mark-{os.getpid()}-c"
    server = Server(fx)
    begun = server.begin("tools/call", {"name": "run_command", "arguments": {"command": (
        f"setsid bash -c 'exec -a {mark} sleep 1100' & bash -c 'exec -a {mark} sleep 1101'")}})
    appear(mark)
    server.notify("notifications/cancelled", {"requestId": begun, "reason": "test"})
    vanish(mark)
    server.data("list_allowed_directories")
    check(not server.replies.get(begun))


@test("in the background: at once back, new output by offset, status, stop")
def background(fx):
    mark = f"mark-{os.getpid()}-b"
    server = Server(fx)
    data = server.data("run_command", background=True, command=(
        f"echo one; sleep 0.3; echo two; exec -a {mark} sleep 1100"))
    check(data["state"] == "running" and "exitCode" not in data)
    run = data["runId"]
    wait(lambda: "two" in server.data("command_status", runId=run)["stdout"], "its output does not come")
    data = server.data("command_status", runId=run)
    equal(data["stdout"], "one\ntwo\n")
    data = server.data("command_status", runId=run, stdoutOffset=data["stdoutOffset"])
    equal((data["stdout"], data["state"]), ("", "running"))
    begun = time.monotonic()
    server.data("command_status", runId=run, waitMs=400)
    check(time.monotonic() - begun > 0.3, "it waits")
    contains(str(server.data("command_status")["runs"]), run)
    data = server.data("command_stop", runId=run)
    check(data["stopped"] and data["state"] == "exited", str(data))
    vanish(mark)
    equal(server.data("command_status", runId=run)["exitCode"], 143)
    equal(server.failure("command_status", runId="run-99")["code"], "NOT_FOUND")
    data = server.data("run_command", background=True, command="sleep 0.2; exit 4")
    equal(server.data("command_status", runId=data["runId"], waitMs=PATIENCE * 1000)["exitCode"], 4)


@test("calls run at the same time")
def parallel(fx):
    fx.write("a.txt", "text")
    server = Server(fx)
    calls = [server.begin("tools/call", {"name": "run_command", "arguments": {
        "command": f"touch here{n}; until [ -e go ]; do sleep 0.02; done"}}) for n in range(5)]
    for _ in range(50):
        server.data("read_text_file", path="a.txt")
    wait(lambda: all(fx.exists(f"here{n}") for n in range(5)), "commands wait for each other")
    fx.write("go")
    for call in calls:
        server.wait(call)


@test("rules of the server's command line hold for its commands")
def rules(fx):
    fx.write("secret", "hidden text")
    server = Server(fx, "--deny=secret", "--network=off", f"--allow-write={fx.outside}", elicit=False)
    data = server.data("run_command", command=f"cat secret; touch {fx.outside}/fine; "
                       "echo $SANDBASH_NETWORK_DISABLED")
    lacks(data["stdout"], "hidden text")
    contains(data["stdout"], "1")
    check((fx.outside / "fine").exists())
    equal(server.failure("read_text_file", path="secret")["code"], "BLOCKED")


@test("each run has its own record, and leaves no other file behind")
def leaves_nothing(fx):
    server = Server(fx, elicit=False)
    server.data("run_command", command=f"touch {fx.outside}/x")
    server.close()
    contains(fx.sandbash("--log").stdout, str(fx.outside / "x"))
    wait(lambda: not os.listdir(fx.home / ".local/state/sandbash/mcp"), "it stays")


run_all()
