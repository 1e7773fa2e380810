"""Projects with workers as a new user writes them, under the headings of the design that the files come from.

Those that teach something are in examples/workers; what is said of each in its README is done here."""

import json
import os
import shutil
from pathlib import Path

from mcp import Server
from person import Person
from tap import SUPERVISED, check, contains, equal, lacks, run_all, skip, test

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples" / "workers"

CONFIG = """# golem-forge.config.yaml
sandbox:
  mode: sandboxed          # or 'direct'
  root: .sandbox           # relative to project root
  zones:
    cache:
      path: ./cache
      mode: rw
    workspace:
      path: ./workspace
      mode: rw
    data:
      path: ./data
      mode: ro             # read-only
"""
FORMATTER = """# formatter.worker
---
name: formatter
description: Formats data files
sandbox:
  zones:
    - name: data
      mode: rw             # requests read-write access
---
"""


def example(fx, name):
    """A copy of it, as somebody has who tries it."""
    if not SUPERVISED:
        skip("a worker needs a supervisor")
    shutil.copytree(EXAMPLES / name, fx.project, dirs_exist_ok=True)


def design(fx, **workers):
    """The project of the design, and workers by name: what stands in their files between the lines of '---'."""
    if not SUPERVISED:
        skip("a worker needs a supervisor")
    fx.write("golem-forge.config.yaml", CONFIG)
    fx.write(".sandbox/data/given.txt", "given\n")
    for name, text in workers.items():
        fx.write(f"{name}.worker", f"---\nname: {name}\n{text}---\n")


def zones(*declared, more=""):
    return f"{more}sandbox:\n  zones: [{', '.join(declared)}]\n"


def free(name):
    return f"{{name: {name}, mode: rw, approval: {{write: preApproved, delete: preApproved}}}}"


def shell(fx, worker, script, **more):
    return fx.sandbash(f"--worker={worker}.worker", "--", "sh", "-c", script, **more)


def names(result):
    """What the worker has in /, of what is listed there."""
    return set(result.stdout.split()) - {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "dev", "proc", "tmp", "var"}


# --- Overview ---------------------------------------------------------------------------------------------------------

@test("What It Protects Against, accidental errors: the wrong file, the wrong directory, the wrong command")
def accidents(fx):
    design(fx, w=zones("{name: data}", free("workspace"), "{name: cache, mode: rw}", more="commands: [sh, cat, rm, ls]\n"))
    fx.write(".sandbox/cache/kept", "kept\n")
    fx.write("README", "of the project\n")
    result = shell(fx, "w", "echo x > /data/given.txt; rm /cache/kept; rm -rf /workspace /data ../README /README; chmod 0 /data; "
                   "echo fine > /workspace/fine")
    equal((fx.read(".sandbox/data/given.txt"), fx.read(".sandbox/cache/kept"), fx.read("README")),
          ("given\n", "kept\n", "of the project\n"))
    equal(fx.read(".sandbox/workspace/fine"), "fine\n")
    contains(result.stderr, "/data is read-only")
    contains(result.stderr, "chmod: not found")


@test("What It Protects Against, adversarial content: a document that has the worker do what it says")
def adversary(fx):
    example(fx, "documents")
    secret = fx.write(fx.home / ".ssh" / "id_ed25519", "key\n")
    fx.write(".sandbox/cache/page.html", f"#!/bin/sh\ncat {secret} reader.worker; ls /home {fx.home}\necho x > /cache/y\n"
             f"mkdir -p /workspace/.git/hooks /workspace/.vscode\necho evil > /workspace/.vscode/tasks.json\n"
             "echo evil > /workspace/next.worker\nrm /workspace/old\necho sum > /workspace/sum\n")
    fx.write(".sandbox/workspace/old", "old\n")
    before = fx.snapshot(fx.home)
    result = shell(fx, "reader", "sh /cache/page.html")
    lacks(result.stdout, "key")
    after = fx.snapshot(fx.home)
    changed = {os.path.relpath(path, fx.project) for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    equal({name for name in changed if not name.startswith("../")},
          {".sandbox/workspace/sum", ".sandbox/workspace/.vscode", ".sandbox/workspace/.git", ".sandbox/workspace/.git/hooks"})
    equal(shell(fx, "reader", "cat /cache/page.html > /dev/null && echo read").stdout, "read\n", "neighbour")


@test("Design Principle: who made what is read decides the isolation, and the default is the stricter")
def isolation(fx):
    design(fx)
    for source, isolated in (("own", "zones"), ("collaborators", "zones"), ("downloaded", "container"),
                             ("user-provided", "container"), (None, "container")):
        fx.write("w.worker", f"---\n{f'isolation: {source}' if source else ''}\n---\n")
        equal(fx.sandbash("--worker-check", "w.worker").stdout, f"w: {isolated}, no files\n", source)
        equal(names(shell(fx, "w", "ls /")), set(), "and in either no worker sees more than it declares")


@test("Core Model: no declaration is a pure function, without a file of anybody's")
def pure(fx):
    design(fx, pure="description: Adds\n")
    result = shell(fx, "pure", "ls /; cat /data/given.txt; echo x > /workspace/x; echo x > /x; echo $((1 + 2)) >&2")
    equal(names(result), set())
    contains(result.stderr, "3\n", "it computes")
    equal(fx.exists(".sandbox/workspace/x"), False)
    equal(Server(fx, "--worker=pure.worker").call("list_directory", path="/")["structuredContent"]["content"], "")


# --- Zone System --------------------------------------------------------------------------------------------------------

@test("Project Configuration: the file of the design, to the letter")
def configuration(fx):
    design(fx)
    known = json.loads(fx.sandbash("--zones", "--json").stdout)
    equal((known["mode"], known["root"], known["file"]),
          ("sandboxed", f"{fx.project}/.sandbox", f"{fx.project}/golem-forge.config.yaml"))
    equal([(zone["name"], zone["mode"], zone["path"]) for zone in known["zones"]],
          [("cache", "rw", f"{fx.project}/.sandbox/cache"), ("data", "ro", f"{fx.project}/.sandbox/data"),
           ("workspace", "rw", f"{fx.project}/.sandbox/workspace")])


@test("Worker Declaration: the file of the design asks for more than its project has; with rw there it runs")
def declaration(fx):
    design(fx)
    fx.write("formatter.worker", FORMATTER)
    for words in (["--worker=formatter.worker", "echo", "ran"], ["--worker-check", "formatter.worker"],
                  ["--zones", "--worker=formatter.worker"]):
        result = fx.sandbash(*words)
        equal((result.status, result.stdout), (125, ""))
        contains(result.stderr, "formatter.worker:7:13: data: the worker requests 'rw' but the project only has 'ro'")
    fx.write("golem-forge.config.yaml", CONFIG.replace("mode: ro ", "mode: rw "))
    equal(fx.sandbash("--worker-check", "formatter.worker").stdout, "formatter: container, /data rw (write ask, delete ask)\n")
    person = Person(fx, "sh", "-c", "echo formatted > /data/given.txt; ls / > /dev/null", flags=["--worker=formatter.worker"])
    contains(person.answer("1", "/data/given.txt"), "worker formatter")
    person.end()
    equal(fx.read(".sandbox/data/given.txt"), "formatted\n")


@test("Default Zones: without a project file there are /cache and /workspace, in .sandbox")
def default_zones(fx):
    example(fx, "documents")
    equal([line.split()[:2] for line in fx.sandbash("--zones").stdout.splitlines()[:2]], [["/cache", "rw"], ["/workspace", "rw"]])
    result = shell(fx, "reader", "ls /; echo report > /workspace/report; echo x > /cache/x")
    equal(names(result), {"cache", "workspace"})
    equal((fx.read(".sandbox/workspace/report"), fx.exists(".sandbox/cache/x")), ("report\n", False))


# --- Approval System ------------------------------------------------------------------------------------------------------

def reports(fx):
    example(fx, "reports")
    fx.write(".sandbox/input/table.csv", "1,2\n")
    fx.write(".sandbox/final/2025.md", "last year's\n")


@test("Approval System: preApproved proceeds, ask asks for each, blocked is blocked; a read-only zone needs none")
def approval(fx):
    reports(fx)
    script = ("cp /input/table.csv /drafts/a; mv /drafts/a /drafts/b; rm /drafts/b; echo d > /drafts/c; "
              "cp /drafts/c /final/2026.md; rm -f /final/2025.md; sh -c 'echo x > /final/no.md'; echo x > /input/x; true")
    person = Person(fx, "sh", "-c", script, flags=["--worker=writer.worker"])
    person.answer("1", "/final/2026.md")
    person.answer("3", "/final/no.md")
    person.end()
    equal(sorted(os.listdir(fx.path(".sandbox/final"))), ["2025.md", "2026.md"])
    equal(os.listdir(fx.path(".sandbox/drafts")), ["c"])
    equal(os.listdir(fx.path(".sandbox/input")), ["table.csv"])


@test("Approval types: ask is the default, and with nobody to ask it is no")
def ask_is_default(fx):
    design(fx, w=zones("{name: workspace, mode: rw}"))
    contains(fx.sandbash("--worker-check", "w.worker").stdout, "/workspace rw (write ask, delete ask)")
    result = shell(fx, "w", "echo x > /workspace/x")
    check(result.status != 0 and not fx.exists(".sandbox/workspace/x"))
    contains(result.stderr, "nobody could be asked")
    contains(result.stderr, "sandbash --watch", "the way out is told")


@test("Why separate from mode? What is ro stays so, whatever is approved; what is rw can still be blocked")
def separate(fx):
    design(fx, w=zones("{name: data, mode: ro, approval: {write: preApproved, delete: preApproved}}",
                       "{name: workspace, mode: rw, approval: {write: blocked, delete: blocked}}", free("cache")))
    result = shell(fx, "w", "echo x > /data/x; rm /data/given.txt; echo x > /workspace/x; echo x > /cache/x && rm /cache/x && echo done")
    equal(result.stdout, "done\n")
    equal((os.listdir(fx.path(".sandbox/data")), os.listdir(fx.path(".sandbox/workspace"))), (["given.txt"], []))
    contains(result.stderr, "(/data is read-only)")


# --- Worker Delegation ------------------------------------------------------------------------------------------------------

def family(fx, parent, child):
    """parent.worker names child.worker; a sandbash that it can run lies in its cache."""
    design(fx, parent=parent + "workers: [child.worker]\n", child=child)
    fx.write(".sandbox/workspace/own", "own\n")
    (fx.path(".sandbox/cache")).mkdir(parents=True, exist_ok=True)
    shutil.copy(fx.argv()[0], fx.path(".sandbox/cache/sandbash"))
    return fx.sandbash("--worker-check", "parent.worker")


def call(fx, script):
    return shell(fx, "parent", f"/cache/sandbash --worker=child -- sh -c '{script}'")


@test("Worker Delegation: the child gets what it declared, of all that its parent has")
def delegation(fx):
    config = CONFIG.replace("mode: ro ", "mode: rw ")
    checked = family(fx, zones(free("data"), free("workspace"), free("cache")), zones(free("data")))
    equal(checked.status, 125, "control: the project has it ro")
    fx.write("golem-forge.config.yaml", config)
    equal(fx.sandbash("--worker-check", "parent.worker").stdout.splitlines()[1],
          "  child: container, /data rw (write preApproved, delete preApproved)")
    result = call(fx, "cat /data/given.txt; echo c > /data/c; cat /workspace/own; echo x > /workspace/x; ls /cache")
    equal((result.stdout, fx.read(".sandbox/data/c"), fx.exists(".sandbox/workspace/x")), ("given\n", "c\n", False))
    equal(shell(fx, "parent", "cat /workspace/own").stdout, "own\n", "neighbour: its parent")


@test("Worker Delegation: the parent is the ceiling: Child requests 'rw' but parent only has 'ro'")
def ceiling(fx):
    checked = family(fx, zones("{name: data}", "{name: cache}"), zones("{name: data, mode: rw}"))
    for result in (checked, call(fx, "echo ran")):
        equal((result.status, "ran" in result.stdout), (125, False))
        contains(result.stderr, "data: Child requests 'rw' but parent only has 'ro'")


@test("Worker Delegation: a child that declares nothing gets nothing")
def nothing(fx):
    checked = family(fx, zones("{name: data}", free("workspace"), "{name: cache}"), "description: pure\n")
    contains(checked.stdout, "  child: container, no files\n")
    result = call(fx, "cat /data/given.txt /workspace/own; echo x > /workspace/x; echo runs")
    equal((result.stdout, fx.exists(".sandbox/workspace/x")), ("runs\n", False))


@test("Worker Delegation, principles: a pipeline of three, in which nobody sees all of it")
def pipeline(fx):
    example(fx, "pipeline")
    fx.write(".sandbox/raw/in.txt", " secret a \n")
    shutil.copy(fx.argv()[0], fx.path(".sandbox/raw/sandbash"))
    fx.path(".sandbox/clean").mkdir()
    shutil.copy(fx.argv()[0], fx.path(".sandbox/clean/sandbash"))
    equal([line.split(":")[0] for line in fx.sandbash("--worker-check", "pipeline.worker").stdout.splitlines()],
          ["pipeline", "  cleaner", "  publisher"])
    result = shell(fx, "pipeline", "/raw/sandbash --worker=cleaner -- sh -c 'tr -d \" \" < /raw/in.txt | sed s/secret// > /clean/out.txt; "
                   "ls /public; echo x > /public/x'; "
                   "/clean/sandbash --worker=publisher -- sh -c 'cp /clean/out.txt /public/; cat /raw/in.txt; rm /public/out.txt; "
                   "/clean/sandbash --worker=cleaner true'")
    equal((result.stdout, os.listdir(fx.path(".sandbox/public")), fx.read(".sandbox/public/out.txt")), ("", ["out.txt"], "a\n"),
          result.stderr)
    contains(result.stderr, "there is no worker 'cleaner' here", "no way around")


# --- LLM Interface --------------------------------------------------------------------------------------------------------

@test("Discoverable Filesystem: what a model lists, reads and is refused, as in the design")
def discoverable(fx):
    fx.write("sandbash.yaml", "sandbox:\n  zones:\n    input: {mode: ro}\n    output: {mode: rw}\n")
    fx.write("w.worker", "---\n" + zones("{name: input}", free("output")) + "---\n")
    fx.write(".sandbox/input/data.pdf", "pdf\n")
    fx.write(".sandbox/input/config.json", "{}\n")
    server = Server(fx, "--worker=w.worker")

    def told(tool, **words):
        return server.call(tool, **words)["structuredContent"]
    equal(told("list_directory", path="/")["content"], "[DIR] input\n[DIR] output")
    equal(told("list_directory", path="/input")["content"], "[FILE] config.json\n[FILE] data.pdf")
    equal(told("write_file", path="/input/new.txt", content="content")["error"]["person"], "/input is read-only")
    told("write_file", path="/output/new.txt", content="content")
    equal(fx.read(".sandbox/output/new.txt"), "content")
    lacks(json.dumps(server.request("tools/list")).lower(), "zone", "Anti-patterns")
    if SUPERVISED:
        said = told("run_command", command="ls /input; echo x > /input/x; cat /output/new.txt")
        equal(said["stdout"], "config.json\ndata.pdf\ncontent")
        contains(str(said["refused"]), "/input is read-only")


# --- Backend Modes --------------------------------------------------------------------------------------------------------

@test("Backend Modes, sandboxed: /cache/doc.pdf is .sandbox/cache/doc.pdf")
def sandboxed(fx):
    design(fx, w=zones("{name: cache}"))
    fx.write(".sandbox/cache/doc.pdf", "pdf\n")
    equal(shell(fx, "w", "cat /cache/doc.pdf").stdout, "pdf\n")


@test("Backend Modes, direct: /cache/doc.pdf is downloads/doc.pdf of the project")
def direct(fx):
    design(fx, w=zones("{name: cache}", free("workspace")))
    fx.write("golem-forge.config.yaml", "sandbox:\n  mode: direct\n  zones:\n    cache: {path: ./downloads, mode: ro}\n"
             "    workspace: {path: ./reports, mode: rw}\n")
    fx.write("downloads/doc.pdf", "pdf\n")
    equal(shell(fx, "w", "cp /cache/doc.pdf /workspace/ && ls /workspace").stdout, "doc.pdf\n")
    equal(fx.read("reports/doc.pdf"), "pdf\n")


@test("Backend Modes, direct: a reviewer that reads the source, and runs what it may")
def reviewer(fx):
    example(fx, "review")
    fx.write("src/a.py", "x = 1  # TODO\n")
    equal(fx.sandbash("--worker=reviewer.worker", "grep", "-rn", "TODO", "/source").stdout, "/source/a.py:1:x = 1  # TODO\n")
    result = shell(fx, "reviewer", "grep -c TODO /source/a.py > /reviews/a.py.txt; echo x > /source/a.py; python3 -c 1; rm /reviews/a.py.txt")
    equal((fx.read("reviews/a.py.txt"), fx.read("src/a.py")), ("1\n", "x = 1  # TODO\n"))
    contains(result.stderr, "python3: not found")
    contains(fx.sandbash("--worker=reviewer.worker", "python3", "-c", "1").stderr, "'python3' is not among the worker's commands")


@test("Error Types: mistakes in the files are told with their place and what is expected, and nothing runs")
def mistakes(fx):
    design(fx, w=zones("{name: data}"))
    good = "sandbox:\n  zones:\n    data: {}\n"
    for text, words in (("sandbox:\n  zones:\n    - data\n", "3:5: expected a map behind 'zones', found a list"),
                        ("sandbox:\n  zones:\n    data: {mode: read-write}\n", "3:18: expected one of 'ro', 'rw'; found 'read-write'"),
                        ("sandbox:\n  zones:\n    data: {path: ../data}\n", "3:18: expected a directory in"),
                        ("sandbox:\n  zones:\n    data: {path: /etc}\n", "3:18: expected a path relative to"),
                        ("sandbox:\n  zones:\n    data: {}\n    b: {path: data/b}\n", "4:15: expected a directory apart from that of 'data'"),
                        ("sandbox:\n  zones:\n    usr: {}\n", "3:5: expected a name that is no system directory's"),
                        ("sandbox:\n\tzones: {}\n", "2:1: expected spaces, found a tab")):
        fx.write("golem-forge.config.yaml", text)
        result = shell(fx, "w", "echo ran")
        equal((result.status, result.stdout), (125, ""), text)
        contains(result.stderr, f"golem-forge.config.yaml:{words}")
    fx.write("golem-forge.config.yaml", good)
    equal(shell(fx, "w", "echo ran").stdout, "ran\n", "neighbour")
    for text, words in (("name: w\n", ":1:1: expected a line '---'"),
                        ("---\nsandbox:\n  zones:\n    data: {mode: rw}\n---\n", ":4:5: expected a list behind 'zones', found a map"),
                        ("---\nsandbox:\n  zones:\n    - data\n---\n", ":4:7: expected a map, found a word"),
                        ("---\nsandbox:\n  zones:\n    - name: dat\n---\n", ":4:13: dat: the project has no zone of this name"),
                        ("---\nsandbox:\n  zones:\n    - {name: data, approval: ask}\n---\n", "expected a map behind 'approval'"),
                        ("---\nsandbox:\n  zones:\n    - {name: data, approval: {write: preapproved}}\n---\n", "expected one of 'preApproved'"),
                        ("---\nmodel: large\n---\n", ":2:1: expected one of name, description, sandbox"),
                        ("---\nname: w\n", ":1:1: expected a second line '---'")):
        fx.write("w.worker", text)
        result = shell(fx, "w", "echo ran")
        equal((result.status, result.stdout), (125, ""), text)
        contains(result.stderr, f"{words}")


# --- Git Integration, Container Isolation -----------------------------------------------------------------------------------

@test("Git Integration: pull, work, stage for preview, push after approval, discard")
def publishing(fx):
    example(fx, "publish")
    repo = fx.home / "repo.git"
    fx.run("git", "init", "-q", "--bare", "-b", "main", repo)
    work = fx.home / "work"
    script = f"git init -q -b main {work} && cd {work} && echo hello > page.md && git add . && git commit -qm one && git push -q {repo} main"
    equal(fx.run("sh", "-c", script, cwd=fx.home).status, 0)
    equal(fx.sandbash("--git", "pull", repo, "--into=/workspace").status, 0)
    shell(fx, "editor", "cat /workspace/page.md; echo more >> /workspace/page.md")

    def stage(text):
        said = fx.sandbash("--git", "stage", "--from=/workspace", f"--repo={repo}", "-m", text)
        contains(said.stdout, "+more")
        return said.stdout.split()[0]

    def log():
        return fx.run("git", f"--git-dir={repo}", "log", "--format=%s", "main").stdout
    dropped, kept = stage("dropped"), stage("kept")
    equal(log(), "one\n", "a preview is no branch's")
    equal(fx.sandbash("--git", "discard", dropped).status, 0)
    check(fx.sandbash("--git", "push", kept).status != 0, "with nobody to ask")
    equal(log(), "one\n")
    person = Person(fx, "--git", "push", kept)
    person.answer("1", "main")
    equal(person.end(), 0)
    equal(log(), "kept\none\n")
    equal(fx.run("git", f"--git-dir={repo}", "show", "main:page.md").stdout, "hello\nmore\n")


@test("Container Isolation: only what is mounted, /input ro and /output rw, and no network")
def container(fx):
    fx.write("sandbash.yaml", "sandbox:\n  zones:\n    input: {mode: ro}\n    output: {mode: rw}\n")
    if not SUPERVISED:
        skip("a worker needs a supervisor")
    fx.write("w.worker", "---\n" + zones("{name: input}", free("output"), more="isolation: container\n") + "---\n")
    result = shell(fx, "w", "ls /; awk '{how[$2] = substr($4, 1, 2)} END {print how[\"/input\"], how[\"/output\"]}' /proc/mounts >&2; "
                   "ls /proc | grep -c '^[0-9]' >&2; cat /proc/net/route >&2")
    equal(names(result), {"input", "output"})
    lines = result.stderr.splitlines()
    equal(lines[0], "ro rw")
    check(int(lines[1]) < 10, "processes of its own")
    equal(len(lines), 3, "and no route")
    fx.write("w.worker", "---\n" + zones("{name: input}", more="isolation: container\nnetwork: on\n") + "---\n")
    contains(fx.sandbash("--worker-check", "w.worker").stdout, "w: container, network, /input ro", "optional")


@test("examples/workers: every file is right")
def examples(fx):
    for directory in sorted(path for path in EXAMPLES.iterdir() if path.is_dir()):
        for worker in directory.glob("*.worker"):
            shutil.copytree(directory, fx.project / directory.name, dirs_exist_ok=True)
            result = fx.sandbash("--worker-check", worker.name, cwd=fx.project / directory.name)
            equal((result.status, result.stderr), (0, ""), worker)
        contains((EXAMPLES / "README.md").read_text(), f"| `{directory.name}` |")


run_all()
