"""unsandboxed.py - C8, P1: one command without the sandbox, if a person says so; and a server without one."""

import json
import os

from mcp import Server, read_first
from tap import BIN, check, contains, equal, run_all, test

NEEDS = {"access": "danger-full-access", "reason": "the test needs it"}


def allow_asking(fx, *more):
    fx.config("\n".join(("unsandboxed ask", *more, "")))


def events(server, fx):
    server.end()
    return [json.loads(line) for line in fx.sandbash("--log", "--json").stdout.splitlines()]


def ask(server, command, **more):
    return server.call("run_command", command=command, **{**NEEDS, **more})


@test("C8 the question is not put unless the user's configuration says so")
def off(fx):
    server = Server(fx)
    server.answers = lambda params: read_first("once")
    error = server.failure("run_command", command=f"touch {fx.outside}/a", **NEEDS)
    equal((error["code"], error["violation"], server.asked), ("BLOCKED", True, []))
    contains(error["person"], "unsandboxed ask")
    check(not (fx.outside / "a").exists())


for era in ("legacy", "modern"):
    @test(f"{era}: C8 with a yes one command runs without the sandbox, and the next one does not")
    def yes(fx, era=era):
        allow_asking(fx)
        server = Server(fx, era=era)
        server.answers = lambda params: read_first("deny")
        server.call("run_command", command=f"echo 0 > {fx.outside}/a")
        check(not (fx.outside / "a").exists(), "the control: it is refused in the sandbox")
        server.asked.clear()
        server.answers = lambda params: read_first("once")
        result = ask(server, f"echo 1 > {fx.outside}/a; echo $SANDBASH_MODE")
        data = result["structuredContent"]
        equal((data["exitCode"], data["stdout"], fx.read(fx.outside / "a")), (0, "danger-full-access\n", "1\n"))
        text = server.asked[0]["params"]["message"]
        for part in ("WITHOUT THE SANDBOX", f"echo 1 > {fx.outside}/a", "every file of yours", "this command only",
                     'the model says, and nobody has checked it: "the test needs it"'):
            contains(text, part)
        equal(server.asked[0]["params"]["requestedSchema"]["properties"]["answer"]["enum"], ["once", "deny"])
        ask(server, f"echo 1 > {fx.outside}/a; echo $SANDBASH_MODE")
        equal(len(server.asked), 2, "a yes is never kept")
        server.answers = lambda params: read_first("deny")
        server.call("run_command", command=f"echo 2 > {fx.outside}/b")
        check(not (fx.outside / "b").exists(), "the next one")


@test("C8 a no is kept for the same command, and after three nobody is asked")
def no(fx):
    allow_asking(fx)
    server = Server(fx)
    server.answers = lambda params: read_first("deny")
    for command in ("touch a1", "touch a1", "touch a2", "touch a3", "touch a4"):
        equal(ask(server, command)["structuredContent"]["error"]["code"], "DENIED")
    equal(len(server.asked), 3)
    equal([name for name in os.listdir(fx.project) if name.startswith("a")], [])


@test("C8 a yes that comes faster than anybody reads is none, and neither is nobody")
def too_fast(fx):
    allow_asking(fx)
    server = Server(fx)
    server.answers = lambda params: "once"
    for number in range(20):  # a busy machine takes its time, and that is a person's then
        if "error" in (data := ask(server, f"echo {number}")["structuredContent"]):
            break
    equal(data["error"]["code"], "NEEDS_CONSENT")
    alone = Server(fx, elicit=False)
    error = ask(alone, "touch a")["structuredContent"]["error"]
    equal(error["code"], "NEEDS_CONSENT")
    check("allow" not in error, "no option is advised")
    never = Server(fx, "--consent=deny")
    never.answers = lambda params: read_first("once")
    equal(ask(never, "touch a")["structuredContent"]["error"]["code"], "NEEDS_CONSENT")
    check(not (fx.project / "a").exists())


@test("C8 any tier that says off is stronger, and read-only is")
def stricter(fx):
    allow_asking(fx)
    for option in ("--mode=read-only",):
        server = Server(fx, option)
        server.answers = lambda params: read_first("once")
        equal(ask(server, "touch a")["structuredContent"]["error"]["code"], "BLOCKED")
    (fx.project / "policy").write_text("unsandboxed off\n")
    server = Server(fx, "--policy=policy")
    equal(ask(server, "touch a")["structuredContent"]["error"]["code"], "BLOCKED")
    equal(server.asked, [])
    fx.config("unsandboxed off\n")
    (fx.project / "policy").write_text("unsandboxed ask\n")
    server = Server(fx, "--policy=policy")
    equal(ask(server, "touch a")["structuredContent"]["error"]["code"], "BLOCKED")


@test("C8 what cannot be shown whole, and what cannot be held, is not asked about")
def shown_whole(fx):
    allow_asking(fx)
    server = Server(fx)
    server.answers = lambda params: read_first("once")
    for more in ({"stdin": "rm -rf x"}, {"command": "true " + "#" * 1000}, {"network": "off"}, {"reason": ""},
                 {"writableRoots": [str(fx.project)]}):
        error = ask(server, **{"command": "true", **more})["structuredContent"]["error"]
        equal(error["code"], "INVALID_ARGUMENT", str(more))
    equal(server.asked, [])


@test("C8 a server in a sandbox does not ask for it")
def nested(fx):
    allow_asking(fx)
    server = Server(fx, "--best-effort", wrap=(str(BIN), "--consent=deny"))
    server.answers = lambda params: read_first("once")
    equal(ask(server, "touch a")["structuredContent"]["error"]["code"], "BLOCKED")


@test("C8 nor does a worker's, which runs its command as before")
def worker(fx):
    allow_asking(fx)
    fx.write("sandbash.yaml", "sandbox:\n  zones:\n    drafts: {mode: rw}\n")
    fx.write("w.worker", "---\nname: w\nsandbox:\n  zones:\n    - name: drafts\n      mode: rw\n---\n")
    server = Server(fx, "--worker=w.worker")
    server.answers = lambda params: read_first("once")
    check(ask(server, f"touch {fx.project}/a").get("isError"))
    equal((server.asked, fx.exists("a")), ([], False))
    equal(server.data("run_command", command="echo here")["stdout"], "here\n")


@test("P6 every option that restricts is refused without a sandbox")
def restricting(fx):
    for option in ("--deny=x", "--ask=x", "--allow-read=x", "--within=.", "--network=off", "--network=ask", "--no-tmp",
                   "--protect-ignored"):
        result = fx.sandbash("--disable-sandbox", option, "echo", "ran")
        equal((result.status != 0, result.stdout), (True, ""), option)
        contains(result.stderr, "cannot be held without a sandbox")
    equal(fx.sandbash("--disable-sandbox", "echo", "ran").stdout, "ran\n")


@test("C8 R1 question, answer and start are on record, with the command")
def recorded(fx):
    allow_asking(fx)
    server = Server(fx)
    server.answers = lambda params: read_first("once")
    ask(server, "echo recorded > r")
    found = events(server, fx)
    kinds = [event["event"] for event in found if event.get("act") == "run_command"]
    equal(kinds, ["ask", "answer", "perform"])
    contains(str([event.get("note") for event in found]), "echo recorded > r")
    check([event for event in found if event["event"] == "start" and event.get("mode") == "danger-full-access"],
          "its own start")


@test("C8 the end of its time is the end of what it started")
def ended(fx):
    allow_asking(fx)
    server = Server(fx)
    server.answers = lambda params: read_first("once")
    for milliseconds in (300, 3000, 30000):  # on a busy machine it may not have begun by then
        data = ask(server, "sleep 1000 & echo $!; wait", timeoutMs=milliseconds)["structuredContent"]
        if data["stdout"]:
            break
    pid = int(data["stdout"])
    check(data["timedOut"], str(data))
    server.wait_until(lambda: not os.path.exists(f"/proc/{pid}") or " Z " in open(f"/proc/{pid}/stat").read(),
                      "the end of what it started")


@test("P1 --disable-sandbox is for the tools of a server, too")
def disabled(fx):
    fx.write(fx.outside / "f", "text\n")
    held = Server(fx, "--consent=deny")
    for tool, arguments in (("read_text_file", {"path": f"{fx.outside}/f"}),
                            ("write_file", {"path": f"{fx.outside}/g", "content": "x"}),
                            ("list_directory", {"path": f"{fx.outside}"})):
        equal(held.failure(tool, **arguments)["code"], "PATH_OUTSIDE_PROJECT", "the control")
    for option in ("--disable-sandbox", "--mode=danger-full-access"):
        server = Server(fx, option, elicit=False)
        equal(server.data("read_text_file", path=f"{fx.outside}/f")["content"], "text\n")
        server.data("write_file", path=f"{fx.outside}/g", content="x")
        server.data("list_directory", path=f"{fx.outside}")
        server.data("edit_file", path=f"{fx.outside}/g", edits=[{"oldText": "x", "newText": "y"}])
        equal(fx.read(fx.outside / "g"), "y")
        server.data("delete_file", path=f"{fx.outside}/g")
        equal(server.data("run_command", command=f"echo 1 > {fx.outside}/h")["exitCode"], 0)


run_all()
