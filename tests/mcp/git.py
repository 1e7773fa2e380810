"""Z8 for agents: git's five tools, of a project's file and of a worker; a push always asks a person."""

import json
import os

from mcp import Server, read_first
from tap import check, contains, equal, lacks, run_all, test

TOOLS = ["git_discard", "git_pull", "git_push", "git_show", "git_stage"]
PROJECT = "sandbox:\n  zones:\n    input: {mode: ro}\n    desk: {mode: rw}\n    final: {mode: rw}\n"
WORKER = """---
sandbox:
  zones:
    - {name: input}
    - {name: desk, mode: rw, approval: {write: preApproved}}
    - {name: final, mode: rw, approval: {write: ask}}
---
"""


def run(fx, *words):
    done = fx.run("git", *words)
    equal(done.status, 0, f"{words}: {done.stderr}")
    return done.stdout.strip()


def set_up(fx, where=None):
    """A bare repository with src/a.c, outside the project unless told."""
    fx.write("sandbash.yaml", PROJECT)
    fx.write("w.worker", WORKER)
    bare, tree = (where or fx.outside) / "r.git", fx.outside / "tree"
    run(fx, "init", "-q", "--bare", "-b", "main", bare)
    run(fx, "init", "-q", "-b", "main", tree)
    fx.write(tree / "src/a.c", "one\n")
    run(fx, "-C", tree, "add", ".")
    run(fx, "-C", tree, "commit", "-q", "-m", "first")
    run(fx, "-C", tree, "push", "-q", bare, "main")
    return bare


def work(fx, name="", zone="desk"):
    return fx.project / ".sandbox" / zone / name


def listed(server):
    return sorted(tool["name"] for tool in server.request("tools/list")["tools"] if tool["name"].startswith("git_"))


def acts(fx):
    lines = fx.sandbash("--log", "--json").stdout.splitlines()
    return {(one["event"], one.get("act")) for one in map(json.loads, lines)}


@test("Z8 the tools are there where a file says which directories there are")
def offered(fx):
    equal(listed(Server(fx)), [], "no file")
    equal(Server(fx).failure("git_show", id="0123456789ab")["code"], "UNSUPPORTED")
    set_up(fx)
    server = Server(fx)
    equal(listed(server), TOOLS)
    for tool in server.request("tools/list")["tools"]:
        if tool["name"] in TOOLS:
            lacks(json.dumps(tool).lower(), "zone", tool["name"])
            lacks(json.dumps(tool), "/desk", tool["name"])
    equal(listed(Server(fx, "--worker=w.worker")), TOOLS, "a worker")
    fx.write("pure.worker", "---\nname: pure\n---\n")
    equal(listed(Server(fx, "--worker=pure.worker")), [], "one without files")


@test("Z8 pull, stage, show, push, discard by a model; each is on record")
def five(fx):
    bare = set_up(fx)
    server = Server(fx)
    server.answers = lambda params: "once"
    server.data("git_pull", repository=str(bare), into="/desk")
    equal(work(fx, "src/a.c").read_text(), "one\n")
    contains(server.asked[0]["params"]["message"], f"read the repository {bare}")
    lacks(server.asked[0]["params"]["message"], "whoever has the repository")
    fx.write(work(fx, "src/a.c"), "two\n")
    main = run(fx, "-C", bare, "rev-parse", "main")
    staged = server.data("git_stage", repository=str(bare), message="by a model", **{"from": "/desk"})
    contains(staged["content"], "+two")
    equal(staged["files"], 1)
    equal(run(fx, "-C", bare, "rev-parse", "main"), main, "no branch has moved")
    contains(server.call("git_show", id=staged["id"])["content"][0]["text"], staged["id"])
    contains(server.data("git_show", id=staged["id"])["content"], "+two")
    server.asked.clear()
    done = server.data("git_push", id=staged["id"])
    equal(done["branch"], "main")
    equal(len(server.asked), 1, "one question, with the diff")
    message = server.asked[-1]["params"]["message"]
    for text in ("git_push wants to push to", str(bare), "+two", "main", "by a model"):
        contains(message, text)
    equal(server.asked[-1]["params"]["requestedSchema"]["properties"]["answer"]["enum"], ["once", "deny"])
    equal(run(fx, "-C", bare, "show", "main:src/a.c"), "two")
    fx.write(work(fx, "src/a.c"), "three\n")
    staged = server.data("git_stage", repository=str(bare), message="m", **{"from": "/desk"})
    server.asked.clear()
    server.data("git_discard", id=staged["id"])
    equal(len(server.asked), 1)
    contains(server.asked[0]["params"]["message"], f"git_discard wants to drop what it has staged in {bare}")
    equal(server.failure("git_show", id=staged["id"])["code"], "NOT_FOUND")
    known = acts(fx)
    for tool in TOOLS:
        check(("perform", tool) in known, f"{tool}: {known}")
    check(("ask", "git_push") in known and ("answer", "git_push") in known, str(known))


@test("Z8 a push is asked about each time, and a no or nobody is no")
def asks(fx):
    bare = set_up(fx, fx.project)  # in the project: reading and staging ask nobody
    server = Server(fx)
    server.answers = lambda params: read_first({"action": "decline"})
    server.data("git_pull", repository="r.git", into="/desk")
    fx.write(work(fx, "src/a.c"), "two\n")
    one = server.data("git_stage", repository="r.git", message="m", **{"from": "/desk"})["id"]
    equal(len(server.asked), 0)
    main = run(fx, "-C", bare, "rev-parse", "main")
    error = server.failure("git_push", id=one)
    equal((error["code"], error["violation"]), ("DENIED", True))
    equal(run(fx, "-C", bare, "rev-parse", "main"), main)
    check(("deny", "git_push") in acts(fx), "on record")
    server.answers = lambda params: "once"
    server.data("git_push", id=one)
    equal(len(server.asked), 2, "the no was for that call")
    fx.write(work(fx, "src/a.c"), "three\n")
    two = server.data("git_stage", repository="r.git", message="m", **{"from": "/desk"})["id"]
    server.data("git_push", id=two)
    equal(len(server.asked), 3, "the yes as well")
    fx.write(work(fx, "src/a.c"), "four\n")
    three = server.data("git_stage", repository="r.git", message="m", **{"from": "/desk"})["id"]
    mute = Server(fx, elicit=False)
    equal(mute.failure("git_push", id=three)["code"], "NEEDS_CONSENT")
    equal(Server(fx, "--consent=deny").failure("git_push", id=three)["code"], "NEEDS_CONSENT")
    equal(run(fx, "-C", bare, "show", "main:src/a.c"), "three")


@test("Z8 modern clients: the question comes back with the call")
def modern(fx):
    bare = set_up(fx, fx.project)
    server = Server(fx, era="modern")
    server.answers = lambda params: "once"
    server.data("git_pull", repository=str(bare), into="/desk")
    fx.write(work(fx, "src/a.c"), "two\n")
    one = server.data("git_stage", repository=str(bare), message="m", **{"from": "/desk"})["id"]
    server.data("git_push", id=one, branch="topic", newBranch=True)
    equal(run(fx, "-C", bare, "show", "topic:src/a.c"), "two")


@test("Z8 a worker's modes and approvals count, by its names; real paths do not leak")
def worker(fx):
    bare = set_up(fx)
    server = Server(fx, "--worker=w.worker")
    server.answers = lambda params: "once"
    error = server.failure("git_pull", repository=str(bare), into="/input")
    equal((error["code"], error["person"]), ("READ_ONLY", "/input is read-only"))
    server.data("git_pull", repository=str(bare), into="/desk")
    equal(len(server.asked), 1, "the repository, not the preapproved directory")
    answer = server.data("git_pull", repository=str(bare), into="/final")
    contains(server.asked[-1]["params"]["message"], "write files of a repository into /final")
    lacks(json.dumps(answer), str(fx.project))
    equal(work(fx, "src/a.c", "final").read_text(), "one\n")
    server.answers = lambda params: read_first({"action": "decline"})
    equal(server.failure("git_pull", repository=str(bare), into="/desk")["code"], "DENIED")
    for where in ("/none", str(work(fx)), "/desk/../input"):
        lacks(json.dumps(server.failure("git_pull", repository=str(bare), into=where)), ".sandbox/input")
    run(fx, "init", "-q", fx.project)
    equal(server.failure("git_pull", repository=str(fx.project), into="/desk")["code"], "DENIED",
          "the project's own repository is not the worker's")
    error = server.failure("git_pull", repository="https://localhost/x", into="/desk")
    contains(error["person"], "the network is off")


def local_paths(fx, bare):
    """One of each kind that there is on a machine; none of them a worker's."""
    fx.write(fx.outside / "file", "x")
    (fx.outside / "locked").mkdir()
    (fx.outside / "link").symlink_to(bare)
    (fx.outside / "loop").symlink_to("loop")
    (fx.outside / "nowhere").symlink_to("none/at/all")
    run(fx, "-C", fx.outside / "tree", "worktree", "add", "-q", fx.outside / "second")
    run(fx, "clone", "-q", "--shared", bare, fx.outside / "borrows")
    (fx.outside / "locked").chmod(0)
    names = ["file", "file/x", "locked", "locked/x", "link", "loop", "loop/x", "nowhere", "second", "borrows", "tree", "none",
             "none/x", "n" * 300]
    return [bare, *(fx.outside / name for name in names), "/root", "/root/x", "~", "~/.ssh", "..", "x"]


@test("Z8 before somebody has said yes a worker is told the same of every path of the machine")
def same_answer(fx):
    bare = set_up(fx)
    paths = local_paths(fx, bare)
    work(fx).mkdir(parents=True)
    for name in ("to_repo", "to_none"):  # a link of the worker's own is no way to look
        work(fx, name).symlink_to(bare if name == "to_repo" else fx.outside / "none")
        paths.append(f"/desk/{name}")
    told = {"person": Server(fx, "--worker=w.worker"), "nobody": Server(fx, "--worker=w.worker", elicit=False)}
    told["person"].answers = lambda params: read_first({"action": "decline"})
    for tool, where in (("git_pull", {"into": "/desk"}), ("git_stage", {"from": "/desk", "message": "m"})):
        for who, server in told.items():
            answers = {json.dumps(server.failure(tool, repository=str(path), **where), sort_keys=True) for path in paths}
            equal(len(answers), 1, f"{tool} {who}: {answers}")
            contains(answers.pop(), "DENIED" if who == "person" else "NEEDS_CONSENT")
    equal(len(told["person"].asked), 2 * len(paths))
    server = told["person"]
    server.answers = lambda params: "once"
    for name, code, person in (("file", "NOT_FOUND", "is no git repository"), ("none", "NOT_FOUND", "no repository"),
                               ("second", "DENIED", "worktree"), ("borrows", "DENIED", "takes objects")):
        error = server.failure("git_pull", repository=str(fx.outside / name), into="/desk")
        equal(error["code"], code, f"who was allowed is told: {error}")
        contains(error["person"], person)
    server.data("git_pull", repository=str(fx.outside / "link"), into="/desk")
    contains(server.asked[-1]["params"]["message"], f"read the repository {bare}", "where it leads")


@test("Z8 names that a program outside obeys ask, with what would be in them")
def guarded(fx):
    bare = set_up(fx, fx.project)
    fx.write(fx.outside / "tree/.envrc", "evil\n")
    run(fx, "-C", fx.outside / "tree", "add", ".")
    run(fx, "-C", fx.outside / "tree", "commit", "-q", "-m", "second")
    run(fx, "-C", fx.outside / "tree", "push", "-q", bare, "main")
    server = Server(fx)
    server.answers = lambda params: read_first({"action": "decline"})
    equal(server.failure("git_pull", repository="r.git", into="/desk")["code"], "DENIED")
    contains(server.asked[0]["params"]["message"], ".envrc")
    check(not work(fx).exists() or os.listdir(work(fx)) == [], "nothing is written")
    other = Server(fx)
    other.answers = lambda params: "once"
    other.data("git_pull", repository="r.git", into="/desk")
    equal(work(fx, ".envrc").read_text(), "evil\n")


run_all()
