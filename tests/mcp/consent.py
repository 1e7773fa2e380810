"""consent.py - C1 to C5 for agents: form elicitation in both eras, bound to one operation."""

import base64
import hashlib
import json
import os
import time

from mcp import NO_FORM, Server, read_first
from tap import BIN, PATIENCE, Failed, check, contains, equal, lacks, run_all, test, wait

ERAS = ("legacy", "modern")


def log(fx, *words):
    done = fx.sandbash("--log", "--json", *words)
    return [json.loads(line) for line in done.stdout.splitlines()]


def each_era(function):
    for era in ERAS:
        test(f"{era}: {function.__doc__}")(lambda fx, era=era: function(fx, era))
    return function


@each_era
def once_reads(fx, era):
    """F1 a read outside asks; once means this call, declining means no"""
    secret = fx.write(fx.outside / "a.txt", "outside")
    server = Server(fx, era=era)
    server.answers = lambda params: "once"
    equal(server.data("read_text_file", path=str(secret))["content"], "outside")
    equal(len(server.asked), 1)
    params = server.asked[0]["params"]
    contains(params["message"], str(secret))
    contains(params["message"], "read_text_file")
    contains(params["message"], "the program has what is in it")
    lacks(params["message"], "changed")
    equal(params["requestedSchema"]["properties"]["answer"]["enum"],
          ["once", "directory", "always", "deny"])
    equal(server.data("read_text_file", path=str(secret))["content"], "outside")
    equal(len(server.asked), 2, "once is once")
    server.answers = lambda params: read_first({"action": "decline"})
    error = server.failure("read_text_file", path=str(secret))
    equal((error["code"], error["violation"]), ("DENIED", True))
    server.answers = lambda params: "once"
    equal(server.failure("read_text_file", path=str(secret))["code"], "DENIED",
          "a no lasts the session")
    equal(len(server.asked), 3)


@each_era
def directory_covers(fx, era):
    """C3 directory: asked once, whatever the spelling; neighbours and changes are asked apart"""
    for name in ("a.txt", "b.txt", "deep/c.txt"):
        fx.write(fx.outside / name, name)
    server = Server(fx, era=era)
    server.answers = lambda params: "directory"
    for path in (fx.outside / "a.txt", fx.outside / "x" / ".." / "b.txt", fx.outside / "deep" / "c.txt"):
        if "x" in path.parts:
            (fx.outside / "x").mkdir(exist_ok=True)
        server.data("read_text_file", path=str(path))
    equal(len(server.asked), 1)
    server.answers = lambda params: "deny"
    equal(server.failure("write_file", path=str(fx.outside / "a.txt"), content="n")["code"],
          "DENIED", "a yes to reading is none to changing")
    equal(fx.read(fx.outside / "a.txt"), "a.txt")
    equal(len(server.asked), 2)


@each_era
def writes(fx, era):
    """C2 an approved write, move and delete outside happen, and only those"""
    server = Server(fx, era=era)
    target = fx.outside / "new.txt"
    server.answers = lambda params: "once"
    server.data("write_file", path=str(target), content="content to see\n")
    equal(fx.read(target), "content to see\n")
    contains(server.asked[0]["params"]["message"], "content to see")
    fx.write("in.txt", "in")
    server.data("move_file", source="in.txt", destination=str(fx.outside / "moved.txt"))
    equal(fx.read(fx.outside / "moved.txt"), "in")
    server.data("delete_file", path=str(target))
    check(not target.exists())
    server.answers = lambda params: "deny"
    server.failure("delete_file", path=str(fx.outside / "moved.txt"))
    check((fx.outside / "moved.txt").exists())


@each_era
def held_call(fx, era):
    """C2 a question of a held system call is elicited, and the running command goes on"""
    server = Server(fx, era=era)
    path = fx.outside / "held.txt"
    server.answers = lambda params: "once"
    data = server.data("run_command", command=f"echo before; echo held > {path}; echo after")
    equal((data["exitCode"], data["stdout"], data["refused"]), (0, "before\nafter\n", []))
    equal(fx.read(path), "held\n")
    message = server.asked[0]["params"]["message"]
    contains(message, str(path))
    contains(message, "bash")
    server.answers = lambda params: "deny"
    data = server.data("run_command", command=f"echo no > {fx.outside}/other.txt; echo after")
    contains(data["stderr"], "Permission denied")
    equal(data["refused"][0]["path"], str(fx.outside / "other.txt"))
    check(not (fx.outside / "other.txt").exists())


@each_era
def shared_grants(fx, era):
    """C3 an answer given to a file tool holds for commands, and the other way round"""
    server = Server(fx, era=era)
    server.answers = lambda params: "directory"
    server.data("write_file", path=str(fx.outside / "a.txt"), content="1")
    equal(len(server.asked), 1)
    data = server.data("run_command", command=f"echo 2 > {fx.outside}/b.txt")
    equal((data["exitCode"], len(server.asked)), (0, 1), str(server.asked[1:]))
    (fx.dir / "third").mkdir()
    server.data("run_command", command=f"echo 3 > {fx.dir}/third/c.txt")
    equal(len(server.asked), 2)
    server.data("write_file", path=str(fx.dir / "third" / "d.txt"), content="4")
    equal(len(server.asked), 2)
    sessions = fx.home / ".local/state/sandbash/sessions"
    server.close()
    wait(lambda: not (sessions.exists() and os.listdir(sessions)), "nothing persists")
    server = Server(fx, era=era)
    server.answers = lambda params: "deny"
    server.failure("write_file", path=str(fx.outside / "a.txt"), content="5")


@each_era
def always(fx, era):
    """C1 always is written to the per-directory configuration"""
    server = Server(fx, era=era)
    server.answers = lambda params: "always"
    server.data("write_file", path=str(fx.outside / "a.txt"), content="1")
    server.close()
    contains(fx.sandbash("--list-paths").stdout, str(fx.outside))
    server = Server(fx, era=era)
    data = server.data("run_command", command=f"echo 2 > {fx.outside}/b.txt")
    equal((data["exitCode"], server.asked), (0, []))


@each_era
def ask_ahead(fx, era):
    """C8 request_access asks with the reason, and the grant holds"""
    fx.write(fx.outside / "a.txt", "text")
    server = Server(fx, era=era)
    server.answers = lambda params: "once"
    path = str(fx.outside / "a.txt")
    data = server.data("request_access", path=path, operations=["read"], reason="the docs say so")
    equal(data["granted"], True)
    contains(server.asked[0]["params"]["message"], "the docs say so")
    server.answers = lambda params: "deny"
    equal(server.data("read_text_file", path=path)["content"], "text")
    equal(len(server.asked), 1, "it was granted ahead")
    server.failure("read_text_file", path=path)
    equal(len(server.asked), 2, "once was used up")


@each_era
def recorded(fx, era):
    """F7 every question, answer, refusal and act is in the log"""
    server = Server(fx, "--deny=secret", era=era)
    fx.write("secret", "x")
    fx.write(fx.outside / "a.txt", "text")
    server.answers = lambda params: "once"
    server.data("read_text_file", path=str(fx.outside / "a.txt"))
    server.answers = lambda params: "deny"
    server.failure("write_file", path=str(fx.outside / "b.txt"), content="x")
    equal(server.failure("read_text_file", path="secret")["code"], "BLOCKED")
    server.close()
    # the keeper outlives the server, by as long as it takes to write this
    server.wait_until(lambda: any(event["event"] == "exit" for event in log(fx)), "the last entry")
    events = [(event["event"], event.get("op"), event.get("act"), event.get("path"),
               event.get("answer"), event.get("verdict")) for event in log(fx)]
    a, b, secret = str(fx.outside / "a.txt"), str(fx.outside / "b.txt"), str(fx.project / "secret")
    for wanted in (("ask", "read", "read_text_file", a, None, None),
                   ("answer", "read", "read_text_file", a, "once", None),
                   ("perform", "read", "read_text_file", a, None, "allow"),
                   ("ask", "create", "write_file", b, None, None),
                   ("answer", "create", "write_file", b, "deny", None),
                   ("deny", "create", "write_file", b, None, "deny"),
                   ("deny", "read", "read_text_file", secret, None, "deny")):
        contains(events, wanted)
    equal(fx.sandbash("--log", "--verify").status, 0)


@test("a rule that denies is not asked about, whatever the client would say")
def denied(fx):
    fx.write("secret", "x")
    (fx.home / ".ssh").mkdir()
    fx.write(fx.home / ".ssh" / "id_rsa", "key")
    server = Server(fx, "--deny=secret")
    server.answers = lambda params: "once"
    equal(server.failure("read_text_file", path="secret")["code"], "BLOCKED")
    equal(server.failure("read_text_file", path="~/.ssh/id_rsa")["code"], "BLOCKED")
    equal(server.asked, [])


@test("C6 without elicitation the answer is no at once, and names what a person can run")
def nobody(fx):
    for era in ERAS:
        server = Server(fx, era=era, elicit=False)
        error = server.failure("write_file", path=str(fx.outside / "a.txt"), content="x")
        equal((error["code"], error["violation"]), ("PATH_OUTSIDE_PROJECT", True))
        contains(error["attach"], "sandbash --attach=")
        contains(error["model"], error["attach"])
        contains(error["allow"], str(fx.outside))
        data = server.data("run_command", command=f"echo x > {fx.outside}/a.txt")
        equal(data["refused"][0]["by"], "nobody")
        check(not (fx.outside / "a.txt").exists())


@test("--consent=deny asks nobody")
def consent_deny(fx):
    server = Server(fx, "--consent=deny")
    server.answers = lambda params: "once"
    server.failure("write_file", path=str(fx.outside / "a.txt"), content="x")
    server.data("run_command", command=f"echo x > {fx.outside}/a.txt")
    equal(server.asked, [])


@test("a question keeps no other call waiting, and its call can be cancelled")
def others_go_on(fx):
    fx.write("a.txt", "text")
    server = Server(fx)
    waits = server.begin("tools/call", {"name": "write_file", "arguments": {
        "path": str(fx.outside / "a.txt"), "content": "x"}})
    server.wait_for(lambda: server.asked, "the question")
    for _ in range(20):
        server.data("read_text_file", path="a.txt")
    server.notify("notifications/cancelled", {"requestId": waits})
    server.wait_for(lambda: [note for note in server.notes
                             if note["method"] == "notifications/cancelled"], "its withdrawal")
    server.answer(server.asked[0], "once")  # too late
    server.data("read_text_file", path="a.txt")
    check(not (fx.outside / "a.txt").exists(), "a cancelled call was carried out")
    check(not server.replies.get(waits))


@test("answers that are none, or that were not offered, mean no")
def odd_answers(fx):
    server = Server(fx)
    for number, answer in enumerate(({"action": "accept"}, {"action": "accept", "content": {}},
                                     {"action": "accept", "content": {"answer": "root"}},
                                     {"action": "accept", "content": {"answer": 1}},
                                     {"action": "x"}, {}, [], "never")):
        server.answers = lambda params, answer=answer: read_first(answer)
        equal(server.failure("write_file", path=str(fx.outside / f"{number}"), content="x")["code"],
              "DENIED", str(answer))
    equal(os.listdir(fx.outside), [])


@each_era
def dismissed(fx, era):
    """C3 a question that is closed without an answer is no answer: nothing is done, and it is asked again"""
    server = Server(fx, era=era)
    server.answers = lambda params: read_first({"action": "cancel"})
    error = server.failure("write_file", path=f"{fx.outside}/a", content="x")
    equal(error["code"], "PATH_OUTSIDE_PROJECT")
    contains(error["model"], "without an answer")
    server.answers = lambda params: read_first("once")
    server.data("write_file", path=f"{fx.outside}/a", content="x")
    equal((len(server.asked), fx.read(fx.outside / "a")), (2, "x"))
    server.answers = lambda params: read_first({"action": "cancel"})
    check(server.data("run_command", command=f"echo 1 > {fx.outside}/b")["exitCode"] != 0)
    server.answers = lambda params: read_first("once")
    equal(server.data("run_command", command=f"echo 1 > {fx.outside}/b")["exitCode"], 0)
    server.answers = lambda params: read_first("deny")
    server.failure("write_file", path=f"{fx.outside}/c", content="x")
    asked = len(server.asked)
    server.failure("write_file", path=f"{fx.outside}/c", content="x")
    equal(len(server.asked), asked, "the control: a no is one")


@test("C3 everything in a directory, for the session: an answer about reading takes none about changing back")
def directory_for_all(fx):
    server = Server(fx)
    server.answers = lambda params: read_first("directory")
    fx.write(fx.outside / "r", "x")
    run = lambda name: server.data("run_command", command=f"echo 1 > {fx.outside}/{name}")["exitCode"]
    equal((run("k1"), run("k2"), len(server.asked)), (0, 0, 1))
    equal(server.data("read_text_file", path=f"{fx.outside}/r")["content"], "x")
    equal((run("k3"), len(server.asked)), (0, 1), "everything was everything")
    server.data("write_file", path=f"{fx.outside}/k4", content="x")
    equal(len(server.asked), 1)
    grants = {one["path"]: one["access"] for one in server.data("what_may_i_do")["grants"]}
    equal(grants[str(fx.outside)], "write")
    second = fx.dir / "second"
    second.mkdir()
    fx.write(second / "r", "x")
    server.asked.clear()
    server.data("read_text_file", path=f"{second}/r")
    equal({one["path"]: one["access"] for one in server.data("what_may_i_do")["grants"]}[str(second)], "read")
    server.data("write_file", path=f"{second}/w", content="x")
    server.data("run_command", command=f"echo 1 > {second}/c")
    equal(len(server.asked), 2, "reading, then changing")


def alone(fx, server, tries=100):
    """The error of a write that the client declined in less time than a person takes."""
    server.answers = lambda params: {"action": "decline"}
    for number in range(tries):
        begun = time.monotonic()
        error = server.failure("write_file", path=str(fx.outside / f"{number}"), content="x")
        if time.monotonic() - begun < 0.1:  # else the machine was busy, and it was a person's no
            return error
    raise Failed("no call took less than a tenth of a second")


@each_era
def declined_alone(fx, era):
    """C6 a client that declines by itself has asked nobody: not told, nor kept, as a person's no"""
    server = Server(fx, era=era)
    error = alone(fx, server)
    equal((error["code"], error["violation"]), ("PATH_OUTSIDE_PROJECT", True))
    for words in ("Nobody was asked", "declined by itself", "sandbash --watch", error["attach"]):
        contains(error["model"], words)
    contains(error["attach"], "sandbash --attach=")
    server.answers = lambda params: "once"
    server.data("write_file", path=error["path"], content="yes")
    equal(fx.read(error["path"]), "yes", "it was no denial")
    check(not [event for event in log(fx) if event["event"] == "answer" and event["answer"] == "deny"
               and event["path"] == error["path"]])


def cannot_show(server, tool, **arguments):
    """The result of a call whose question the client has no form for; it took as long as a person."""
    server.answers = lambda params: read_first(NO_FORM)
    return server.call(tool, **arguments)["structuredContent"]


@test("C6 a client that cannot show the form has asked nobody")
def has_no_form(fx):
    server = Server(fx)
    error = cannot_show(server, "write_file", path=str(fx.outside / "a"), content="x")["error"]
    contains(error["model"], "Nobody was asked")
    server.answers = lambda params: "once"
    server.data("write_file", path=str(fx.outside / "a"), content="x")


@test("C6 nor for a command: its refusals name what a person can run, and the next one is asked about")
def command_has_no_form(fx):
    server = Server(fx)
    command = f"echo x > {fx.outside}/a"
    data = cannot_show(server, "run_command", command=command)
    equal((data["refused"][0]["by"], data["refused"][0]["path"]), ("nobody", str(fx.outside / "a")))
    contains(data["attach"], "sandbash --attach=")
    contains(data["content"], "sandbash --watch")
    contains(data["content"], data["attach"])
    server.answers = lambda params: "once"
    equal(server.data("run_command", command=command)["refused"], [])


@each_era
def bytes_refused(fx, era):
    """a no to bytes is one to such bytes, never to the file: harmless ones land, others are not asked about twice"""
    fx.git_project()
    server = Server(fx, era=era)
    server.answers = lambda params: "deny"
    refused = server.data("run_command", command="git config core.fsmonitor /x")
    equal(len(server.asked), 1)
    check(refused["exitCode"] != 0)
    data = server.data("run_command", command="git config user.name n && git config user.name")
    equal((data["exitCode"], data["stdout"], data["refused"]), (0, "n\n", []), str(data))
    refused = server.data("run_command", command="git config core.fsmonitor /y")
    equal(len(server.asked), 1, "the same was asked again")
    check("fsmonitor" not in fx.read(fx.project / ".git" / "config"))
    fx.write(".claude.json", "{}")
    server.failure("write_file", path=".claude.json",
                   content='{"mcpServers": {"a": {"command": "x"}}}')
    equal(len(server.asked), 2)
    equal(server.data("run_command", command="echo '{\"numStartups\": 1}' > .claude.json")["refused"], [])


def first_leg(fx, server, name="a.txt"):
    arguments = {"path": str(fx.outside / name), "content": "x"}
    result = server.request("tools/call", {"name": "write_file", "arguments": arguments})
    equal(result["resultType"], "input_required")
    (key,) = result["inputRequests"]
    return arguments, key, result["requestState"]


def second_leg(server, arguments, key, state, answer="once", tool="write_file"):
    return {"name": tool, "arguments": arguments, "requestState": state,
            "inputResponses": {key: {"action": "accept", "content": {"answer": answer}}}}


@test("modern: requestState is bound to its call, authenticated and used once")
def request_state(fx):
    server = Server(fx, era="modern")
    arguments, key, state = first_leg(fx, server)
    other = {**arguments, "path": str(fx.outside / "other.txt")}
    for params in (second_leg(server, other, key, state),
                   second_leg(server, {**arguments, "content": "y"}, key, state),
                   second_leg(server, {"path": arguments["path"]}, key, state, tool="delete_file"),
                   second_leg(server, arguments, key, state[:-1] + ("0" if state[-1] != "0" else "1")),
                   second_leg(server, arguments, key, state.replace(".", "..", 1)),
                   second_leg(server, arguments, key, "1.1.99999999999999." + "0" * 64 + "." + "0" * 64),
                   second_leg(server, arguments, key, ""), second_leg(server, arguments, key, 7)):
        equal(server.error("tools/call", params)["code"], -32602, str(params))
    equal(os.listdir(fx.outside), [])
    # the same arguments in another order are the same call
    params = second_leg(server, dict(reversed(list(arguments.items()))), key, state)
    check(not server.request("tools/call", params).get("isError"))
    equal(fx.read(fx.outside / "a.txt"), "x")
    (fx.outside / "a.txt").unlink()
    equal(server.error("tools/call", params)["code"], -32602, "a replay")
    equal(os.listdir(fx.outside), [])
    another = Server(fx, era="modern")
    arguments, key, state = first_leg(fx, another, "b.txt")
    equal(server.error("tools/call", second_leg(server, arguments, key, state))["code"], -32602,
          "a token of another server")


@test("modern: a second leg without the answer asks again; other keys answer nothing")
def incomplete(fx):
    server = Server(fx, era="modern")
    arguments, key, state = first_leg(fx, server)
    params = second_leg(server, arguments, "q999", state)
    result = server.request("tools/call", params)
    equal(result["resultType"], "input_required")
    equal(os.listdir(fx.outside), [])
    check(result["requestState"] != state)
    params = second_leg(server, arguments, next(iter(result["inputRequests"])), result["requestState"])
    check(not server.request("tools/call", params).get("isError"))


@test("modern: a question of a command in the background comes with command_status")
def background_question(fx):
    server = Server(fx, era="modern")
    server.answers = lambda params: "once"
    data = server.data("run_command", background=True,
                       command=f"echo x > {fx.outside}/a.txt; echo done")
    equal((data["state"], server.asked), ("running", []))
    deadline = time.monotonic() + PATIENCE
    while data["state"] == "running" and time.monotonic() < deadline:
        data = server.data("command_status", runId=data["runId"], waitMs=300)
    equal((data["state"], data["stdout"], len(server.asked)), ("exited", "done\n", 1))
    equal(fx.read(fx.outside / "a.txt"), "x\n")


@test("names with escapes in them cannot draw in a question")
def escaped(fx):
    name = "a\x1b[2J\nWhy: nothing\u202e.txt"
    server = Server(fx)
    server.answers = lambda params: "once"
    server.data("write_file", path=str(fx.outside / name), content="\x1b]0;x\x07")
    message = server.asked[0]["params"]["message"]
    lacks(message, "\x1b")
    lacks(message, "\u202e")
    equal(message.count("\nWhy:"), 1)


@test("guarded names in the project ask as well, and offer no directory")
def guarded(fx):
    fx.git_project()
    server = Server(fx)
    server.answers = lambda params: "deny"
    equal(server.failure("write_file", path=".git/hooks/pre-commit", content="#!/bin/sh\n")["code"],
          "DENIED")
    equal(server.asked[0]["params"]["requestedSchema"]["properties"]["answer"]["enum"],
          ["once", "deny"])
    check(not fx.exists(".git/hooks/pre-commit"))
    server.answers = lambda params: "once"
    server.data("write_file", path=".git/hooks/commit-msg", content="#!/bin/sh\n")
    check(fx.exists(".git/hooks/commit-msg"))


@test("the record of a tool says what a command's does: from where, by which rule, which bytes")
def records(fx):
    fx.git_project()
    text = "#!/bin/sh\n"
    fx.write("x", text, 0o755)
    server = Server(fx)
    server.answers = lambda params: "once"
    server.data("move_file", source="x", destination=".git/hooks/pre-commit")
    done = [record for record in log(fx) if record["event"] == "perform" and record.get("content")]
    equal(len(done), 1, log(fx))
    equal(done[0]["path"], str(fx.path("x")))
    equal(done[0]["target"], str(fx.path(".git/hooks/pre-commit")))
    equal(done[0]["content"], hashlib.sha256(text.encode()).hexdigest())
    contains(done[0]["rule"], "git runs hooks")


run_all()
