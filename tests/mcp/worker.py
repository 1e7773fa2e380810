"""worker.py - --mcp --worker=FILE: a model sees the directories that a worker's file declares, and nothing else.

Z2, Z4, Z7 for file tools.  Every message of every server here is looked through for paths of this machine and for the
word zone.
"""

import json
import os

from mcp import Server, read_first
from tap import PATIENCE, check, contains, equal, lacks, run_all, test

ERAS = ("legacy", "modern")
PROJECT = """\
sandbox:
  zones:
    input: {mode: ro}
    drafts: {mode: rw}
    final: {mode: rw}
"""
WORKER = """\
---
name: writer
description: Writes reports
sandbox:
  zones:
    - name: input
      mode: ro
    - name: drafts
      mode: rw
      approval:
        write: preApproved
        delete: preApproved
    - name: final
      mode: rw
      approval:
        write: ask
        delete: blocked
---
Write it.
"""


class Worker(Server):
    """Nothing that it says may have a path of this machine in it."""

    def __init__(self, fx, *args, **more):
        self.leaks = []
        super().__init__(fx, *args, **more)

    def _take(self, message):
        text = json.dumps(message)
        self.leaks += [f"{word}: {text}" for word in (str(self.fx.dir), ".sandbox", "zone")
                       if word in text.lower()]
        super()._take(message)

    def wait(self, number, timeout=PATIENCE):
        reply = super().wait(number, timeout)
        equal(self.leaks, [])
        return reply


def prepare(fx, worker=WORKER, project=PROJECT):
    fx.write("sandbash.yaml", project)
    fx.write("writer.worker", worker)
    fx.write(".sandbox/input/data.txt", "some data\n")
    fx.write(".sandbox/input/deep/more.txt", "more data\n")
    fx.write(".sandbox/final/old.txt", "old\n")
    fx.write("secret.txt", "data of the project\n")


def begin(fx, **more):
    prepare(fx)
    return Worker(fx, "--worker=writer.worker", **more)


def log(fx, *words):
    return [json.loads(line) for line in fx.sandbash("--log", "--json", *words).stdout.splitlines()]


def each_era(function):
    for era in ERAS:
        test(f"{era}: {function.__doc__}")(lambda fx, era=era: function(fx, era))
    return function


def reads(server):
    """What a model does first."""
    equal(server.data("list_directory", path="/")["content"], "[DIR] drafts\n[DIR] final\n[DIR] input")
    equal(server.data("read_text_file", path="/input/data.txt")["content"], "some data\n")


@each_era
def discoverable(fx, era):
    """Discoverable filesystem: / lists what the worker has, errors are those of any filesystem"""
    server = begin(fx, era=era)
    reads(server)
    equal(server.data("list_directory", path="/input")["content"], "[FILE] data.txt\n[DIR] deep")
    error = server.failure("write_file", path="/input/new.txt", content="content")
    equal((error["code"], error["person"], error["path"]), ("READ_ONLY", "/input is read-only", "/input/new.txt"))
    equal(error["violation"], True)
    check(not fx.path(".sandbox/input/new.txt").exists())
    equal(server.asked, [])


@test("Discoverable filesystem: every file tool works by the names in /, and tells no others")
def tools(fx):
    server = begin(fx)
    data = server.data("write_file", path="/drafts/a.txt", content="one\n")
    equal((data["absolutePath"], data["relativePath"]), ("/drafts/a.txt", "a.txt"))
    equal(fx.read(".sandbox/drafts/a.txt"), "one\n")
    data = server.data("edit_file", path="drafts/a.txt", edits=[{"oldText": "one", "newText": "two"}])
    contains(data["content"], "+++ /drafts/a.txt")
    server.data("create_directory", path="/drafts/d/e")
    server.data("move_file", source="/drafts/a.txt", destination="/drafts/d/b.txt")
    server.data("copy_file", source="/input/deep/more.txt", destination="/drafts/d/e/more.txt")
    equal(fx.read(".sandbox/drafts/d/e/more.txt"), "more data\n")
    equal(server.data("glob", path="/", pattern="**/*.txt")["files"],
          ["/drafts/d/b.txt", "/drafts/d/e/more.txt", "/final/old.txt", "/input/data.txt", "/input/deep/more.txt"])
    found = server.data("grep", path="/", pattern="data")
    equal([one["path"] for one in found["files"]],
          ["/drafts/d/e/more.txt", "/input/data.txt", "/input/deep/more.txt"])
    contains(server.data("search_files", path="/", pattern="**/more.txt")["content"], "/input/deep/more.txt")
    tree = json.loads(server.data("directory_tree", path="/")["content"])
    equal([one["name"] for one in tree], ["drafts", "final", "input"])
    contains(server.data("get_file_info", path="/input")["content"], "isDirectory: true")
    server.data("read_multiple_files", paths=["/input/data.txt", "/none/x"])
    contains(server.data("list_allowed_directories")["content"], "/drafts")
    server.data("list_directory_with_sizes", path="/")
    server.data("delete_file", path="/drafts/d/b.txt")
    check(not fx.path(".sandbox/drafts/d/b.txt").exists())
    equal(server.asked, [])


@test("Discoverable filesystem: nothing leads out, by any tool")
def out(fx):
    prepare(fx)
    secret = fx.path("secret.txt")
    drafts = fx.path(".sandbox/drafts")
    drafts.mkdir()
    (drafts / "up").symlink_to("../..")
    (drafts / "passwd").symlink_to("/etc/passwd")
    (drafts / "inside").symlink_to("/input/data.txt")
    server = Worker(fx, "--worker=writer.worker")
    paths = ["/../../etc/passwd", "/etc/passwd", "/drafts/up/secret.txt", "/drafts/passwd", "../secret.txt",
             "/drafts/../../../secret.txt", "~/project/secret.txt", "/proc/self/environ", "/final/../secret.txt"]
    for path in paths:
        equal(server.failure("read_text_file", path=path)["code"], "NOT_FOUND", path)
        check(server.call("write_file", path=path, content="x").get("isError"), path)
        check(server.call("copy_file", source=path, destination="/drafts/stolen").get("isError"), path)
        check(server.call("delete_file", path=path + "/x").get("isError"), path)
    equal(server.data("read_text_file", path="/drafts/inside")["content"], "some data\n")
    equal(server.failure("write_file", path="/drafts/inside", content="x")["person"], "/input is read-only")
    equal(server.failure("write_file", path="/new", content="x")["person"], "/ is read-only")
    equal(server.failure("delete_file", path="/drafts", recursive=True)["code"], "READ_ONLY")
    equal(server.data("grep", path="/", pattern="of the project|root:")["matches"], 0)
    equal(fx.read("secret.txt"), "data of the project\n")
    equal(server.asked, [], "there is nothing to ask about")
    # a link that has the real name in it leads nowhere either; its words are what somebody put there
    (drafts / "real").symlink_to(secret)
    server = Server(fx, "--worker=writer.worker")
    for path in ("/drafts/real", str(secret)):
        equal(server.failure("read_text_file", path=path)["code"], "NOT_FOUND")


@each_era
def asks(fx, era):
    """Approval: ask asks for each write, of the worker and by its own names; blocked is refused, unasked"""
    server = begin(fx, era=era)
    server.answers = lambda params: "once"
    server.data("write_file", path="/final/a.txt", content="one\n")
    server.data("write_file", path="/final/a.txt", content="two\n")
    equal((len(server.asked), fx.read(".sandbox/final/a.txt")), (2, "two\n"))
    params = server.asked[0]["params"]
    contains(params["message"], "for the worker writer, wants to create /final/a.txt")
    form = params["requestedSchema"]["properties"]["answer"]
    equal(form["enum"], ["once", "directory", "deny"])
    equal(form["enumNames"][1], "Allow all writing in /final for this session")
    server.answers = lambda params: read_first({"action": "decline"})
    equal(server.failure("write_file", path="/final/a.txt", content="three\n")["code"], "DENIED")
    server.answers = lambda params: "once"
    server.data("write_file", path="/final/a.txt", content="four\n")
    equal(len(server.asked), 4, "a no is for one write as well")
    error = server.failure("delete_file", path="/final/a.txt")
    equal(error["code"], "BLOCKED")
    equal((len(server.asked), fx.read(".sandbox/final/a.txt")), (4, "four\n"))
    server.data("write_file", path="/drafts/a.txt", content="free\n")
    server.data("delete_file", path="/drafts/a.txt")
    equal(len(server.asked), 4)
    prepare(fx, WORKER.replace("write: ask", "write: blocked"))
    server = Worker(fx, "--worker=writer.worker", era=era)
    for tool, words in (("write_file", {"content": "five\n"}), ("delete_file", {})):
        equal(server.failure(tool, path="/final/a.txt", **words)["code"], "BLOCKED", f"{tool}: an approval is no mode")
        equal(server.failure(tool, path="/input/data.txt", **words)["code"], "READ_ONLY")
    contains(server.data("read_text_file", path="/final/a.txt")["content"], "four", "neighbour")


@each_era
def session(fx, era):
    """Approval: a person may answer for the session; writing and deleting apart"""
    prepare(fx, WORKER.replace("delete: blocked", "delete: ask"))
    server = Worker(fx, "--worker=writer.worker", era=era)
    server.answers = lambda params: "directory"
    server.data("write_file", path="/final/a.txt", content="one\n")
    fx.path(".sandbox/final/deep").mkdir()
    server.data("write_file", path="/final/deep/b.txt", content="one\n")
    server.data("edit_file", path="/final/a.txt", edits=[{"oldText": "one", "newText": "two"}])
    equal(len(server.asked), 1)
    server.answers = lambda params: "deny"
    equal(server.failure("delete_file", path="/final/a.txt")["code"], "DENIED")
    equal(len(server.asked), 2)
    equal(server.failure("move_file", source="/final/a.txt", destination="/final/b.txt")["code"], "DENIED")
    server.answers = lambda params: "once"
    asked = len(server.asked)
    for name in "abc":
        fx.write(f".sandbox/final/tree/{name}/file", name)
    server.data("delete_file", path="/final/tree", recursive=True)
    equal(len(server.asked), asked + 1, "a directory with all that is in it is one question")
    check(not fx.path(".sandbox/final/tree").exists())
    server.answers = lambda params: "directory"
    server.data("delete_file", path="/final/a.txt")
    equal(server.asked[-1]["params"]["requestedSchema"]["properties"]["answer"]["enumNames"][1],
          "Allow all deleting in /final for this session")
    asked = len(server.asked)
    server.data("delete_file", path="/final/deep/b.txt")
    equal(len(server.asked), asked)
    contains(server.data("what_may_i_do")["content"], "delete in /final")
    server.close()
    equal([name for name in os.listdir(fx.home / ".config/sandbash") if name == "projects"]
          if (fx.home / ".config/sandbash").exists() else [], [], "nothing is kept")
    server = Worker(fx, "--worker=writer.worker", era=era)
    server.answers = lambda params: "deny"
    server.failure("write_file", path="/final/a.txt", content="one\n")
    equal(len(server.asked), 1)


@each_era
def moved(fx, era):
    """Approval: under answers for writing and for deleting a command moves as the tool does, under one of them neither"""
    prepare(fx, WORKER.replace("delete: blocked", "delete: ask"))
    for name in "abcd":
        fx.write(f".sandbox/final/{name}", name)
    server = Worker(fx, "--worker=writer.worker", era=era)
    server.answers = lambda params: "directory"
    server.data("write_file", path="/final/a", content="one\n")
    server.answers = lambda params: "deny"
    server.data("run_command", command="mv /final/a /final/moved; true")
    equal((len(server.asked), fx.path(".sandbox/final/a").exists()), (2, True))
    equal(server.asked[-1]["params"]["requestedSchema"]["properties"]["answer"]["enumNames"][1],
          "Allow all writing and deleting in /final for this session")
    server.answers = lambda params: "directory"
    server.data("delete_file", path="/final/d")
    equal(len(server.asked), 3)
    server.data("run_command", command="mv /final/a /final/moved && mv /final/b /final/c")
    server.data("move_file", source="/final/moved", destination="/final/again")
    equal((len(server.asked), sorted(os.listdir(fx.path(".sandbox/final")))), (3, ["again", "c", "old.txt"]))
    server.answers = lambda params: "deny"
    server.data("run_command", command="ln /final/c /final/second; true")
    equal((len(server.asked), sorted(os.listdir(fx.path(".sandbox/final")))), (4, ["again", "c", "old.txt"]), "a second name is asked about")


@test("Approval: nobody to ask is no, and the refusal says how a person can be")
def nobody(fx):
    server = begin(fx, elicit=False)
    error = server.failure("write_file", path="/final/a.txt", content="one\n")
    equal(error["code"], "NEEDS_CONSENT")
    contains(error["attach"], "sandbash --attach")
    check("allow" not in error, error)
    check(not fx.path(".sandbox/final/a.txt").exists())
    server.close()
    server = Worker(fx, "--worker=writer.worker", "--consent=deny")
    equal(server.failure("write_file", path="/final/a.txt", content="one\n")["code"], "NEEDS_CONSENT")
    equal(server.asked, [])


@test("Approval: the user's own configuration is never loosened, and not told")
def user_rules(fx):
    prepare(fx)
    fx.config("read ~/project/.sandbox/drafts/kept\ndeny ~/project/.sandbox/input/deep\n"
              "write ~/project/.sandbox/input\n")
    fx.write(".sandbox/drafts/kept/a", "1")
    server = Worker(fx, "--worker=writer.worker")
    equal(server.failure("write_file", path="/drafts/kept/a", content="2")["code"], "READ_ONLY")
    equal(server.failure("write_file", path="/input/a", content="2")["person"], "/input is read-only")
    equal(server.failure("read_text_file", path="/input/deep/more.txt")["code"], "BLOCKED")
    equal(server.data("list_directory", path="/input")["content"], "[FILE] data.txt")
    equal(server.data("grep", path="/", pattern="more data")["matches"], 0)
    server.data("what_may_i_do")
    server.data("what_may_i_do", path="/drafts/kept/a")
    server.close()
    fx.config("workers ask\n")
    server = Worker(fx, "--worker=writer.worker")
    server.answers = lambda params: "deny"
    equal(server.failure("write_file", path="/drafts/b", content="2")["code"], "DENIED")
    equal(len(server.asked), 1)


@each_era
def guarded(fx, era):
    """names that a program outside obeys ask one by one, whatever is approved, in a repository as well"""
    prepare(fx)
    fx.run("git", "init", "-q")
    server = Worker(fx, "--worker=writer.worker", era=era)
    server.data("write_file", path="/drafts/plain.txt", content="1")
    equal(server.asked, [], "preApproved")
    server.answers = lambda params: "deny"
    fx.run("git", "init", "-q", ".sandbox/drafts/repo")
    equal(server.failure("write_file", path="/drafts/repo/.git/hooks/pre-commit", content="#!/bin/sh\n")["code"], "DENIED")
    equal(len(server.asked), 1)
    contains(server.asked[0]["params"]["message"], "/drafts/repo/.git/hooks/pre-commit")
    equal(server.asked[0]["params"]["requestedSchema"]["properties"]["answer"]["enum"], ["once", "deny"])
    check(not fx.path(".sandbox/drafts/repo/.git/hooks/pre-commit").exists())


@each_era
def links(fx, era):
    """a link gets no name by which it leads out of its directory outside, by a file tool as by a command"""
    prepare(fx)
    drafts = fx.path(".sandbox/drafts")
    (drafts / "p/q/r").mkdir(parents=True)
    out = {"p/one": "../secret.txt", "p/two": "../../sandbash.yaml", "p/q/three": "../../x", "p/q/r/four": "../../../y"}
    for name, text in {**out, "p/tmp": "/tmp/x", "p/q/in": "../one", "p/system": "/bin/sh", "p/own": "/drafts/p/one"}.items():
        (drafts / name).symlink_to(text)
    # the control: outside nothing keeps it, and it leads to a file of the project's that the worker does not have
    fx.run("cp", "-P", "p/two", "two", cwd=drafts)
    equal(os.path.realpath(drafts / "two"), str(fx.path("sandbash.yaml").parent / "sandbash.yaml"), "the control")
    (drafts / "two").unlink()
    server = Worker(fx, "--worker=writer.worker", era=era)
    server.answers = lambda params: "deny"
    calls = (("run_command", {"command": "mv /drafts/p/one /drafts/new"}), ("move_file", {"source": "/drafts/p/one", "destination": "/drafts/new"}),
             ("run_command", {"command": "mv /drafts/p/q /drafts/new"}), ("move_file", {"source": "/drafts/p/q", "destination": "/drafts/new"}),
             ("run_command", {"command": "cp -PR /drafts/p/q/r /drafts/new"}),
             ("copy_file", {"source": "/drafts/p/q/r", "destination": "/drafts/new", "recursive": True}),
             ("move_file", {"source": "/drafts/p/tmp", "destination": "/drafts/new"}))
    for number, (tool, arguments) in enumerate(calls):
        result = server.call(tool, **arguments)
        check(not any(os.path.islink(drafts / name) for name in ("new", "new/three", "new/four", "new/r/four")), f"{tool} {result}")
        equal(len(server.asked), number + 1, f"{tool} {arguments} {result}")
        equal(server.asked[-1]["params"]["requestedSchema"]["properties"]["answer"]["enum"], ["once", "deny"])
        fx.run("rm", "-rf", "new", cwd=drafts)
    asked = len(server.asked)
    server.data("move_file", source="/drafts/p/system", destination="/drafts/system")
    server.data("move_file", source="/drafts/p/own", destination="/drafts/own")
    server.data("move_file", source="/drafts/p", destination="/drafts/p2")
    server.data("copy_file", source="/drafts/p2/q", destination="/drafts/p2/q2", recursive=True)
    (drafts / "d").mkdir()
    server.data("move_file", source="/drafts/p2/q", destination="/drafts/d/q")
    equal(len(server.asked), asked, "neighbours")
    server.answers = lambda params: "once"
    server.data("move_file", source="/drafts/p2/one", destination="/drafts/new")
    equal((os.readlink(drafts / "new"), len(server.asked)), ("../secret.txt", asked + 1), "somebody said yes")


@test("what_may_i_do tells what there is, in words of the worker's")
def may(fx):
    server = begin(fx)
    data = server.data("what_may_i_do")
    contains(data["content"], "/input is read-only")
    contains(data["content"], "/final: writing is asked about, deleting is not allowed")
    equal(data["policy"]["directories"][0], {"path": "/drafts", "write": "allow", "delete": "allow"})
    decisions = server.data("what_may_i_do", path="/final/x")["decisions"]
    equal([decisions[op]["verdict"] for op in ("read", "modify", "create", "delete")], ["allow", "ask", "ask", "deny"])
    decisions = server.data("what_may_i_do", path="/input/x")["decisions"]
    equal([decisions[op]["verdict"] for op in ("read", "create")], ["allow", "deny"])
    decisions = server.data("what_may_i_do", path="/etc/passwd")["decisions"]
    equal(decisions["create"]["verdict"], "deny")
    equal(server.data("what_may_i_do", host="example.org:443")["decisions"]["connect"]["verdict"], "deny")
    equal(server.asked, [])


@each_era
def commands(fx, era):
    """run_command: a command sees the same directories and a read-only system, and nothing of this machine's user"""
    server = begin(fx, era=era)
    data = server.data("run_command", command="pwd; ls -d /drafts /final /input; cat /input/data.txt; echo new >/drafts/new; "
                                              "cat /drafts/new; env; ls /home /root 2>&1 | wc -l")
    equal(data["exitCode"], 0, data)
    contains(data["stdout"], "/\n/drafts\n/final\n/input\nsome data\nnew\n")
    equal(fx.read(".sandbox/drafts/new"), "new\n")
    data = server.data("run_command", command="cat /proc/*/cmdline /proc/*/environ 2>&1 | tr '\\0' '\\n'")
    contains(data["stdout"], "sandbash\n", "the first process was seen")
    for real in (str(fx.home), "--worker", "--report"):
        lacks(data["stdout"], real, "what sandbash was started with")
    data = server.data("run_command", command="echo x >/input/x; cat /etc/shadow ~/.profile; cat ../secret.txt", cwd="/drafts")
    contains(data["stderr"], "/input/x: Read-only file system")
    lacks(data["stdout"], "data of the project")
    check(not fx.path(".sandbox/input/x").exists())
    equal([(one["operation"], one["path"], one["why"]) for one in data["refused"] if one["path"] == "/input/x"],
          [("create", "/input/x", "/input is read-only")])
    equal(server.data("run_command", command="pwd", cwd="drafts")["stdout"], "/drafts\n")
    equal(server.failure("run_command", command="pwd", cwd="/none")["code"], "NOT_FOUND")
    contains(server.failure("run_command", command="rm x /final/x", askFirst=True)["person"], "takes no argument 'askFirst'")
    equal(server.failure("run_command", command="pwd", writableRoots=["/input"])["code"], "BLOCKED")
    equal(server.failure("run_command", command="pwd", writableRoots=[str(fx.project)])["code"], "BLOCKED")
    equal(server.asked, [])


@each_era
def command_asks(fx, era):
    """run_command: what asks is asked in the client, and an answer for the session is for writing or for deleting alone"""
    prepare(fx, WORKER.replace("delete: blocked", "delete: ask"))
    server = Worker(fx, "--worker=writer.worker", era=era)
    server.answers = lambda params: "once"
    data = server.data("run_command", command="echo one >/final/a")
    equal((data["exitCode"], len(server.asked), fx.read(".sandbox/final/a")), (0, 1, "one\n"), data)
    contains(server.asked[0]["params"]["message"], "for the worker writer, wants to create /final/a")
    server.answers = lambda params: "directory"
    server.data("run_command", command="echo two >/final/b; echo three >/final/c")
    equal(server.asked[1]["params"]["requestedSchema"]["properties"]["answer"]["enum"], ["once", "directory", "deny"])
    equal((len(server.asked), fx.read(".sandbox/final/c")), (2, "three\n"))
    server.data("write_file", path="/final/d", content="four\n")
    server.data("run_command", command="echo five >/final/e")
    equal((len(server.asked), fx.read(".sandbox/final/e")), (2, "five\n"), "for commands and file tools alike")
    server.answers = lambda params: "deny"
    data = server.data("run_command", command="rm /final/e")
    equal((len(server.asked), data["exitCode"]), (3, 1))
    equal(server.failure("delete_file", path="/final/e")["code"], "DENIED")
    equal(fx.read(".sandbox/final/e"), "five\n")
    data = server.data("run_command", command="chmod u+s /final/b")
    check(data["exitCode"] != 0, data)
    check(not fx.path(".sandbox/final/b").stat().st_mode & 0o4000, "a yes to writing is none to whose rights it runs with")


@test("run_command: only the commands that the worker's file names")
def allow_list(fx):
    prepare(fx, WORKER.replace("name: writer", "name: writer\ncommands: [bash, cat]"))
    server = Worker(fx, "--worker=writer.worker")
    data = server.data("run_command", command="cat data.txt; ls", cwd="/input")
    equal(data["stdout"], "some data\n")
    check(data["exitCode"] != 0, data)


@each_era
def lists(fx, era):
    """Anti-patterns: no description, instruction or resource names a directory or says how it is configured"""
    server = begin(fx, era=era)
    names = [tool["name"] for tool in server.request("tools/list")["tools"]]
    for name in ("read_text_file", "write_file", "grep", "what_may_i_do", "run_command"):
        check(name in names, name)
    for name in ("request_access", "open_project"):
        check(name not in names, name)
        equal(server.error("tools/call", {"name": name, "arguments": {"path": "/x"}})["message"], "unknown tool")
    text = json.dumps(server.request("tools/list"))
    if era == "modern":
        text += json.dumps(server.request("server/discover"))
    else:
        text += json.dumps(server.hello)
    for word in ("drafts", "final", "writer", "input/", "outside", "zone", "Zone", "project", "sandbox:", "allowed directories", "askFirst"):
        lacks(text, word)
    for words in ("first allowed directory", "outside of the allowed", "the rest of the system", "without asking"):
        lacks(text, words, "of what a worker does not have")
    lacks(json.dumps(server.data("what_may_i_do")), "outside")
    equal(server.request("resources/list")["resources"], [])
    for uri in ("sandbash://policy", "sandbash://audit"):
        server.error("resources/read", {"uri": uri})


@test("without namespaces file tools give the same view, and no command runs in a weaker one")
def flat(fx):
    prepare(fx)
    server = Worker(fx, "--worker=writer.worker", wrap=(str(fx.tool("without")), "userns", "--"))
    reads(server)
    equal(server.failure("write_file", path="/input/new.txt", content="x")["person"], "/input is read-only")
    equal(server.failure("read_text_file", path="/../secret.txt")["code"], "NOT_FOUND")
    server.data("write_file", path="/drafts/a", content="x")
    data = server.data("run_command", command="cat /input/data.txt; echo ran")
    check(data["exitCode"] != 0, data)
    lacks(data["stdout"], "ran")
    equal(server.asked, [])


@test("roots of the client mean nothing to a worker")
def roots(fx):
    prepare(fx)
    server = Worker(fx, "--worker=writer.worker", roots=[fx.project])
    reads(server)
    equal(server.failure("read_text_file", path="/secret.txt")["code"], "NOT_FOUND")


@test("the record has the worker's name and the real path")
def record(fx):
    server = begin(fx)
    server.answers = lambda params: "once"
    server.data("write_file", path="/final/a.txt", content="one\n")
    server.failure("write_file", path="/input/x", content="one\n")
    server.failure("delete_file", path="/final/a.txt")
    server.close()
    events = [event for event in log(fx) if event["event"] in ("ask", "answer", "perform", "deny")]
    for kind, path in (("ask", "final/a.txt"), ("answer", "final/a.txt"), ("perform", "final/a.txt"),
                       ("deny", "input/x"), ("deny", "final/a.txt")):
        found = [event for event in events if event["event"] == kind and
                 event["path"] == str(fx.path(".sandbox") / path)]
        check(found, f"{kind} {path}: {events}")
        equal(found[0]["worker"], "writer")
    equal([event["given"] for event in events if event["event"] == "deny"], ["/input/x", "/final/a.txt"])
    contains(fx.sandbash("--log").stdout, "worker writer")


@test("a worker with no declaration has no files; one that asks for more than the project has is not served")
def none(fx):
    prepare(fx)
    fx.write("pure.worker", "---\nname: pure\n---\nThink.\n")
    server = Worker(fx, "--worker=pure.worker")
    equal(server.data("list_directory", path="/")["content"], "")
    equal(server.failure("read_text_file", path="/input/data.txt")["code"], "NOT_FOUND")
    equal(server.failure("write_file", path="/a", content="")["code"], "READ_ONLY")
    server.close()
    fx.write("more.worker", "---\nname: more\nsandbox: {zones: [{name: input, mode: rw}]}\n---\n")
    done = fx.sandbash("--mcp", "--worker=more.worker", input="")
    check(done.status != 0)
    contains(done.stderr, "input: the worker requests 'rw' but the project only has 'ro'")


run_all()
