"""Z1, Z5: what a project offers to workers, and what --worker-check says that each would have."""

import json

from tap import SUPERVISED, contains, equal, lacks, run_all, test

PROJECT = "sandbox:\n  zones:\n    data: {mode: ro}\n    desk: {mode: rw}\n"
LEAD = """---
description: Leads
sandbox:
  zones:
    - name: desk
      mode: rw
      approval: {write: preApproved}
    - name: data
workers: [sub/kid.worker]
---
You lead.
"""


def worker(zones):
    return f"---\nsandbox:\n  zones: [{zones}]\n---\n"


def set_up(fx, kid="{name: data}"):
    fx.write(fx.project / "sandbash.yaml", PROJECT)
    fx.write(fx.project / "lead.worker", LEAD)
    fx.write(fx.project / "sub" / "kid.worker", worker(kid))


@test("Z1 --zones prints what the project's file says, or the default")
def zones(fx):
    result = fx.sandbash("--zones")
    contains(result.stdout, f"{fx.project}/.sandbox/cache", "without a file")
    contains(result.stdout, "/workspace", "without a file")
    (fx.project / ".sandbox" / "cache").mkdir(parents=True)
    equal(fx.sandbash("--zones").stdout.splitlines()[:2],
          [f"/cache            rw  {fx.project}/.sandbox/cache", f"/workspace        rw  {fx.project}/.sandbox/workspace (not there yet)"])
    set_up(fx)
    known = json.loads(fx.sandbash("--zones", "--json").stdout)
    equal([(zone["name"], zone["mode"], zone["path"]) for zone in known["zones"]],
          [("data", "ro", f"{fx.project}/.sandbox/data"), ("desk", "rw", f"{fx.project}/.sandbox/desk")])
    fx.write(fx.project / "sandbash.yaml", PROJECT + "    etc: {}\n")
    result = fx.sandbash("--zones")
    equal(result.status, 125, "status")
    contains(result.stderr, "sandbash.yaml:5:5: expected a name that is no system directory's", "a mistake")


@test("Z1 --zones --worker=FILE prints what that worker has, under the user's own rules")
def zones_of_worker(fx):
    set_up(fx)
    (fx.project / ".sandbox" / "data").mkdir(parents=True)
    result = fx.sandbash("--zones", "--worker=lead.worker")
    equal([line.split() for line in result.stdout.splitlines()][:2],
          [["/data", "ro", f"{fx.project}/.sandbox/data"],
           ["/desk", "rw", f"{fx.project}/.sandbox/desk", "(not", "there", "yet)", "(write", "preApproved,", "delete", "ask)"]])
    for line, mode, write in (("", "rw", "preApproved"), ("workers ask\n", "rw", "ask"), ("mode read-only\n", "ro", "preApproved")):
        fx.config(line)
        known = json.loads(fx.sandbash("--zones", "--worker=lead.worker", "--json").stdout)
        equal((known["worker"], known["zones"][1]["mode"], known["zones"][1]["write"]), ("lead", mode, write), line)
    fx.config("")
    result = fx.sandbash("--zones", "--worker=lead")
    equal(result.status, 125)
    contains(result.stderr, f"hint: '{fx.project}/lead.worker' is there")


@test("Z5 --worker-check: each gets what it declares, a child no more than its parent")
def workers(fx):
    set_up(fx)
    result = fx.sandbash("--worker-check", "lead.worker")
    equal(result.status, 0, "status")
    equal(result.stdout, "lead: container, /data ro, /desk rw (write preApproved, delete ask)\n"
                         "  kid: container, /data ro\n")
    fx.write(fx.project / "other.worker", worker("{name: data, mode: rw}"))
    result = fx.sandbash("--worker-check", "lead.worker", "other.worker")
    equal(result.status, 125, "status")
    contains(result.stderr, "other.worker:3:18: data: Child requests 'rw' but parent only has 'ro'")
    contains(result.stdout, "  kid: container, /data ro", "the others are told")
    contains(result.stderr, "hint: it is called by 'lead'")
    lacks(result.stdout, "other:")


@test("Z9 --worker-check tells the commands, and which of them is not there")
def commands(fx):
    set_up(fx)
    fx.write(fx.project / "c.worker", "---\nnetwork: true\ncommands: [sh, cat]\n---\n")
    result = fx.sandbash("--worker-check", "c.worker")
    equal((result.status, result.stdout), (0, "c: container, network, no files, commands sh cat\n"))
    fx.write(fx.project / "c.worker", "---\ncommands: [sh, no-such-program]\n---\n")
    result = fx.sandbash("--worker-check", "c.worker")
    equal(result.status, 125)
    contains(result.stderr, "the worker's command 'no-such-program' is not there")


@test("Z1 Worker Declaration: a name that the project does not have; lines that end in CR LF")
def mistakes(fx):
    set_up(fx)
    fx.write(fx.project / "m.worker", worker("{name: dta}"))
    result = fx.sandbash("--worker-check", "m.worker")
    contains(result.stderr, "m.worker:3:18: dta: the project has no zone of this name\nhint: it has data, desk\n")
    fx.write(fx.project / "m.worker", "---\r\nname: m\r\n---\r\n")
    contains(fx.sandbash("--worker-check", "m.worker").stderr, "m.worker:2:8: expected plain text, found the byte 0x0d (lines end in CR LF?)")


@test("Z5 workers that call each other are told once each")
def circle(fx):
    set_up(fx)
    fx.write(fx.project / "sub" / "kid.worker", "---\nworkers: [../lead.worker, kid.worker]\n---\n")
    result = fx.sandbash("--worker-check", "lead.worker")
    equal(result.status, 0, "status")
    equal(result.stdout.count("\n"), 2, "lines")


@test("Z1 a command changes neither file unasked", variants=("full", "flat"))
def guarded(fx):
    set_up(fx)
    for name in ("sandbash.yaml", "lead.worker", "golem-forge.config.yaml"):
        result = fx.sandbash("--consent=deny", "sh", "-c", f"echo x >>{name}")
        contains(result.stderr, "refused", name)
    equal((fx.project / "sandbash.yaml").read_text(), PROJECT, "as it was")


@test("Z1 the project's file is found from beneath, in directories of its owner that nobody else can write to")
def beneath(fx):
    set_up(fx)
    deep = fx.project / "a" / "b"
    deep.mkdir(parents=True)

    def offered():
        result = fx.sandbash("--zones", "--json", cwd=deep)
        return json.loads(result.stdout)["project"] if result.status == 0 else result.stderr

    equal(offered(), str(fx.project))
    if SUPERVISED:
        result = fx.sandbash("--worker=../../lead.worker", "--", "sh", "-c", "ls /data /desk && echo x > /desk/x", cwd=deep)
        equal((result.status, fx.read(".sandbox/desk/x")), (0, "x\n"), result.stderr)
    fx.write(fx.project / "a" / "sandbash.yaml", "sandbox: {}\n")
    equal(offered(), str(fx.project / "a"), "the nearest counts")
    (fx.project / "a" / "sandbash.yaml").unlink()
    (fx.project / "a").chmod(0o777)
    equal(offered(), str(fx.project), "neighbour: nothing lies there")
    fx.project.chmod(0o777)
    contains(offered(), f"the project's file in '{fx.project}' may be somebody else's")
    if SUPERVISED:
        contains(fx.sandbash("--worker=../../lead.worker", "--", "echo", "ran", cwd=deep).stderr, "may be somebody else's")
    fx.project.chmod(0o755)
    (fx.project / "sandbash.yaml").rename(fx.home / "sandbash.yaml")
    equal(offered(), str(deep), "a home directory is no project")
    (fx.home / "sandbash.yaml").unlink()


@test("Z4 approval of a project's zones counts for every worker, if it is stricter; other settings of golem-forge are its own")
def approval(fx):
    fx.write(fx.project / "golem-forge.config.yaml", "model: some\nsandbox:\n  zones:\n"
             "    desk: {mode: rw, approval: {write: ask, delete: blocked}}\ntools:\n  - a\n")
    fx.write(fx.project / "w.worker", worker("{name: desk, mode: rw, approval: {write: preApproved, delete: preApproved}}"))
    contains(fx.sandbash("--worker-check", "w.worker").stdout, "/desk rw (write ask, delete blocked)")
    contains(fx.sandbash("--zones").stdout, "(write ask, delete blocked)")
    fx.write(fx.project / "golem-forge.config.yaml", "model: some\nsandbx: {}\n")
    contains(fx.sandbash("--zones").stderr, "golem-forge.config.yaml:1:1: expected one of sandbox; found 'model'")
    (fx.project / "golem-forge.config.yaml").unlink()
    fx.write(fx.project / "sandbash.yaml", "sandbox: {}\nmodel: some\n")
    contains(fx.sandbash("--zones").stderr, "sandbash.yaml:2:1: expected one of sandbox; found 'model'")


@test("Z5, Z9 --worker-check --json; commands that are not there are a mistake")
def as_json(fx):
    set_up(fx)
    tree = json.loads(fx.sandbash("--worker-check", "lead.worker", "--json").stdout)
    equal((tree["name"], [zone["name"] for zone in tree["zones"]], [one["name"] for one in tree["calls"]]), ("lead", ["data", "desk"], ["kid"]))
    equal(tree["zones"][1], {"name": "desk", "mode": "rw", "write": "preApproved", "delete": "ask"})
    fx.write(fx.project / "sub" / "kid.worker", "---\ncommands: [cat, no-such-program]\n---\n")
    result = fx.sandbash("--json", "--worker-check", "lead.worker")
    equal((result.status, json.loads(result.stdout)["calls"][0]["error"]), (125, "the worker's command 'no-such-program' is not there"))
    fx.write(fx.project / "sub" / "kid.worker", "---\ncommands: [cat, sh]\n---\n")
    contains(fx.sandbash("--worker-check", "lead.worker").stdout, "kid: container, no files, commands cat sh\n")


run_all()
