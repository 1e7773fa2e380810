"""hostile.py - a model, a project and a command that want the server stuck, or the person misled."""

import os
import signal
import threading
import time

from mcp import Server, accept
from tap import BIN, PATIENCE, check, contains, equal, lacks, run_all, test


def begin_call(server, name, more=None, **arguments):
    return server.begin("tools/call", {"name": name, "arguments": arguments, **(more or {})})


def parked(server, name, **arguments):
    """A call of the modern era up to its question: its result."""
    result = server.wait(begin_call(server, name, **arguments))["result"]
    equal(result.get("resultType"), "input_required", str(result))
    return result


def resumed(server, result, name, responses, **arguments):
    """The same call with answers: the id of the request."""
    return begin_call(server, name, {"inputResponses": responses,
                                     "requestState": result["requestState"]}, **arguments)


@test("what a grant covered may be a long list: the keeper tells of all of it and goes on")
def long_report(fx):
    server = Server(fx)
    server.answers = lambda params: "directory"
    names = [fx.write(fx.outside / f"file-{number}.txt", "x") for number in range(20)]
    server.data("read_text_file", path=str(names[0]))
    data = server.data("read_multiple_files", paths=[str(name) for name in names] * 200)
    equal(data["content"].count("file-19.txt:"), 200)
    equal(len(server.asked), 1)
    server.answers = lambda params: "once"
    server.data("write_file", path=str(fx.outside / "after.txt"), content="the keeper lives")


@test("modern: a parked call whose question was answered elsewhere gets its result")
def answered_elsewhere(fx):
    server = Server(fx, era="modern")
    target = {"path": str(fx.outside / "asked.txt"), "content": "x"}
    result = parked(server, "write_file", **target)
    session = fx.sandbash("--sessions").stdout.split()[0]
    terminal = fx.terminal(BIN, f"--attach={session}", replies=True, columns=200)
    terminal.expect("asked.txt")
    terminal.expect("Press ")
    terminal.answer("1")
    server.wait_until(lambda: (fx.outside / "asked.txt").exists(), "the file")
    time.sleep(0.3)
    again = resumed(server, result, "write_file", {}, **target)
    check(not server.wait(again)["result"].get("isError"))


@test("modern: whoever asks how a run is doing does not take it from the call that waits")
def two_wait_for_one(fx):
    server = Server(fx, era="modern")
    command = f"echo held > {fx.outside}/held.txt; echo after"
    result = parked(server, "run_command", command=command)
    status = server.wait(begin_call(server, "command_status", runId="run-1"))["result"]
    equal(status.get("resultType"), "complete", str(status))
    equal(status["structuredContent"]["state"], "running")
    answers = {key: accept("once") for key in result["inputRequests"]}
    again = resumed(server, result, "run_command", answers, command=command)
    equal(server.wait(again)["result"]["structuredContent"]["stdout"], "after\n")


@test("a NUL in what would be written is shown, and does not spoil the question")
def nul_content(fx):
    server = Server(fx)
    server.answers = lambda params: "once"
    server.data("write_file", path=str(fx.outside / "nul.txt"), content="be\0fore")
    equal(len(server.asked), 1)
    contains(server.asked[0]["params"]["message"], "be\\x00fore")
    equal(fx.read(fx.outside / "nul.txt"), "be\0fore")


@test("a command of any length leaves the rest of the question to be seen")
def long_command(fx):
    server = Server(fx)
    server.answers = lambda params: "deny"
    server.data("run_command", command=f"echo held > {fx.outside}/held.txt #" + "x" * 100000)
    message = server.asked[0]["params"]["message"]
    contains(message, str(fx.outside / "held.txt"))
    check(len(message) < 8000, str(len(message)))


@test("a NUL in the output hides nothing behind it")
def nul_output(fx):
    server = Server(fx)
    result = server.call("run_command", command=r"printf 'seen\0also'; printf 'err\0too' >&2")
    contains(result["content"][0]["text"], "seen\0also")
    contains(result["content"][0]["text"], "err\0too")


def children(process):
    with open(f"/proc/{process}/task/{process}/children") as file:
        return [int(word) for word in file.read().split()]


@test("a keeper that is slow: when the server has ended, what it refused is on record")
def slow_keeper(fx):
    fx.write("secret", "x")
    server = Server(fx, "--deny=secret")
    keeper = children(server.process.pid)[0]
    os.kill(keeper, signal.SIGSTOP)
    try:
        server.failure("read_text_file", path="secret")
        server.process.stdin.close()
        time.sleep(0.3)  # a server that does not wait has ended by then
        check(server.process.poll() is None, "the server has ended")
    finally:
        os.kill(keeper, signal.SIGCONT)
    equal(server.process.wait(PATIENCE), 0)
    contains(fx.sandbash("--log", "--log-verdict=deny").stdout, str(fx.project / "secret"))


def searching(keeper):
    """Processes in which the keeper does a call."""
    try:
        return [child for child in children(keeper)
                if open(f"/proc/{child}/stat").read().rsplit(")", 1)[1].split()[0] != "Z"]
    except OSError:
        return []


@test("a search that the keeper does ends when it is cancelled, and when the client goes")
def cancelled_search(fx):
    first = fx.write(fx.outside / "first.txt", ("x" * 99 + "\n") * 80000)
    for number in range(800):
        os.link(first, fx.outside / f"{number}.txt")
    server = Server(fx)
    server.answers = lambda params: "once"
    keeper = children(server.process.pid)[0]
    slow = {"path": str(fx.outside), "pattern": "(x|y)+[zw]", "timeoutMs": 120000}
    call = begin_call(server, "grep", **slow)
    server.wait_until(lambda: server.asked and searching(keeper), "the search")
    time.sleep(0.5)
    check(searching(keeper), "the search is too quick for this test")
    server.notify("notifications/cancelled", {"requestId": call})
    server.wait_until(lambda: not searching(keeper), "its end", 60)
    begin_call(server, "grep", **slow)
    server.wait_until(lambda: searching(keeper), "the second search")
    second = searching(keeper)[0]
    server.process.kill()
    server.wait_until(lambda: not os.path.exists(f"/proc/{second}"), "the end of the second", 60)


@test("a root that a link has taken the place of opens nothing, for the keeper either")
def replaced_root(fx):
    secret = fx.write(fx.outside / "secret.txt", "outside")
    sub = fx.project / "sub"
    fx.write(sub / "in.txt", "inside")
    server = Server(fx, roots=[f"file://{sub}"])
    server.wait_until(lambda: str(sub) in server.data("list_allowed_directories")["content"],
                      "the narrowed view")
    server.answers = lambda params: "deny"
    sub.rename(fx.project / "away")
    sub.symlink_to(fx.outside)
    equal(server.failure("read_text_file", path=str(secret))["code"], "CHANGED")
    check(not server.asked)
    lacks(str(server.call("read_text_file", path=str(sub / "secret.txt"))), "outside'")
    sub.unlink()
    (fx.project / "away").rename(sub)
    equal(server.data("read_text_file", path="in.txt")["content"], "inside")
    equal(server.failure("read_text_file", path=str(secret))["code"], "DENIED", "it asks again")
    equal(len(server.asked), 1)


@test("P5 a root that is a file, or gone, does not keep the others from narrowing")
def file_root(fx):
    fx.write("file.txt", "x")
    fx.write("sub/in.txt", "x")
    server = Server(fx, roots=[f"file://{fx.project}/{name}" for name in ("file.txt", "gone", "sub")])
    server.wait_until(lambda: server.data("list_allowed_directories")["content"].splitlines()[1:]
                      == [f"{fx.project}/sub"], "the narrowed view")


@test("a command that is longer than execve takes is refused with a reason")
def command_too_long(fx):
    server = Server(fx)
    equal(server.data("run_command", command="true #" + "x" * 131000)["exitCode"], 0)
    equal(server.failure("run_command", command="true #" + "x" * 131072)["code"], "TOO_LARGE")


@test("a command that was cancelled asks nobody any more, and leaves no answer behind")
def cancelled_asks_nobody(fx):
    server = Server(fx)
    call = begin_call(server, "run_command", command=f"""
        trap 'echo x > {fx.outside}/late' TERM
        echo x > {fx.outside}/first; while :; do sleep 0.05; done""")
    server.wait_for(lambda: server.asked, "a question")
    server.answer(server.asked[0], "once")
    server.wait_until((fx.outside / "first").exists, "the answer's effect")
    server.notify("notifications/cancelled", {"requestId": call})
    server.wait_until(lambda: "exited" in server.call("command_status")["content"][0]["text"],
                      "its end")
    equal(len(server.asked), 1)
    server.answers = lambda params: "once"
    server.data("write_file", path=str(fx.outside / "late"), content="asked anew")
    equal(len(server.asked), 2)


@test("a command that puts a link in the project's place does not move the next one's project")
def replaced_project(fx):
    inner = fx.project / "inner"
    inner.mkdir()
    server = Server(fx, inner, fx.project, elicit=False)
    equal(server.data("run_command", command="pwd")["stdout"], f"{inner}\n")
    data = server.data("run_command", command=f"cd .. && mv inner away && ln -s {fx.outside} inner")
    equal((data["exitCode"], inner.is_symlink()), (0, True), "the control: the place can be taken")
    error = server.failure("run_command", command=f"echo x > {fx.outside}/out; echo x > here")
    contains(error["person"], "replaced by a link")
    equal(os.listdir(fx.outside), [])
    inner.unlink()
    (fx.project / "away").rename(inner)
    equal(server.data("run_command", command="echo x > here")["exitCode"], 0)


def exchange(inner, link, stop):
    """Both names for each other's thing, until told to stop; at the end as in the beginning."""
    spare = inner.with_name("spare")
    while not stop.is_set():
        for _ in range(2):
            inner.rename(spare)
            link.rename(inner)
            spare.rename(link)
            time.sleep(0.0005)


@test("nor does one that puts the link there and takes it away while commands start")
def racing_project(fx):
    inner, link, stop = fx.project / "inner", fx.project / "link", threading.Event()
    inner.mkdir()
    link.symlink_to(fx.outside)
    server = Server(fx, inner, fx.project, elicit=False)
    racer = threading.Thread(target=exchange, args=(inner, link, stop))
    racer.start()
    try:
        ends = [server.call("run_command", command=f"echo x > {fx.outside}/out; echo ran")
                for _ in range(150)]
    finally:
        stop.set()
        racer.join()
    equal(os.listdir(fx.outside), [])
    check(any("ran" in end["structuredContent"]["stdout"] for end in ends), "none was started")
    check(any(end.get("isError") for end in ends), "none was refused")


@test("an answer about a directory opens the one that was shown, and none above it")
def shown_directory(fx):
    fx.write(fx.outside / "listed" / "in.txt", "in")
    other = fx.write(fx.outside / "other.txt", "not asked about")
    for tool, more in (("list_directory", {}), ("grep", {"pattern": "x"})):
        server = Server(fx)
        server.answers = lambda params: "directory"
        server.data(tool, path=str(fx.outside / "listed"), **more)
        names = server.asked[0]["params"]["requestedSchema"]["properties"]["answer"]["enumNames"]
        contains(names[1], f"{fx.outside}/listed for this session")
        server.answers = lambda params: "deny"
        equal(server.failure("read_text_file", path=str(other))["code"], "DENIED", tool)
        equal(server.data("read_text_file", path=str(fx.outside / "listed/in.txt"))["content"], "in")
        server.data("list_directory", path=str(fx.outside / "listed"))
        equal(len(server.asked), 2, "what is in it, and its list")
        server.close()


@test("a yes to removing a directory is none to changing its neighbours, for commands either")
def removed_directory(fx):
    fx.write(fx.outside / "old" / "in.txt", "in")
    fx.write(fx.outside / "other.txt", "stays")
    server = Server(fx)
    server.answers = lambda params: "directory"
    server.data("delete_file", path=str(fx.outside / "old"), recursive=True)
    check(not (fx.outside / "old").exists())
    server.answers = lambda params: "deny"
    server.data("run_command", command=f"echo x > {fx.outside}/other.txt")
    server.failure("write_file", path=str(fx.outside / "other.txt"), content="x")
    equal(fx.read(fx.outside / "other.txt"), "stays")


@test("always for a directory that is listed is written for that directory")
def always_shown(fx):
    fx.write(fx.outside / "listed" / "in.txt", "in")
    server = Server(fx)
    server.answers = lambda params: "always"
    server.data("list_directory", path=str(fx.outside / "listed"))
    rules = [path.read_text() for path in (fx.home / ".config/sandbash/projects").iterdir()]
    contains(rules[0], f"{fx.outside}/listed\n")


@test("a no to moving a file away leaves the file itself as it was")
def refused_move(fx):
    fx.write("a.txt", "a\n")
    server = Server(fx)
    server.answers = lambda params: "deny"
    command = f"mv a.txt {fx.outside}/b.txt; echo more >> a.txt"
    equal(server.data("run_command", command=command)["exitCode"], 0)
    equal(server.data("run_command", command="echo again >> a.txt")["exitCode"], 0)
    equal((fx.read("a.txt"), len(server.asked)), ("a\nmore\nagain\n", 1))
    equal(len(server.data("run_command", command=f"mv a.txt {fx.outside}/b.txt")["refused"]), 1)
    equal(len(server.asked), 1, "the no lasts")


@test("a yes to where a file is moved opens that directory, and not where it was")
def granted_move(fx):
    fx.write(fx.dir / "from" / "a.txt", "a")
    server = Server(fx, f"--allow-write={fx.dir}/from/a.txt", "--consent=auto")
    server.answers = lambda params: "directory"
    command = f"mv {fx.dir}/from/a.txt {fx.outside}/a.txt"
    server.data("run_command", command=command)
    shown = [asked["params"]["requestedSchema"]["properties"]["answer"]["enumNames"][1]
             for asked in server.asked]
    server.answers = lambda params: "deny"
    for directory in (fx.dir / "from", fx.outside):
        opened = any(str(directory) in line for line in shown)
        result = server.call("write_file", path=str(directory / "new.txt"), content="x")
        equal(not result.get("isError"), opened, f"{directory}: {shown}")


run_all()
