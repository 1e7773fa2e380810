"""Z1, Z5: what a project offers to workers, and what --worker-check says that each would have."""

import json

from tap import contains, equal, lacks, run_all, test

PROJECT = "sandbox:\n  zones:\n    data: {mode: ro}\n    work: {mode: rw}\n"
LEAD = """---
description: Leads
sandbox:
  zones:
    - name: work
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
    set_up(fx)
    known = json.loads(fx.sandbash("--zones", "--json").stdout)
    equal([(zone["name"], zone["mode"], zone["path"]) for zone in known["zones"]],
          [("data", "ro", f"{fx.project}/.sandbox/data"), ("work", "rw", f"{fx.project}/.sandbox/work")])
    fx.write(fx.project / "sandbash.yaml", PROJECT + "    etc: {}\n")
    result = fx.sandbash("--zones")
    equal(result.status, 125, "status")
    contains(result.stderr, "sandbash.yaml:5:5: expected a name that is no system directory's", "a mistake")


@test("Z5 --worker-check: each gets what it declares, a child no more than its parent")
def workers(fx):
    set_up(fx)
    result = fx.sandbash("--worker-check", "lead.worker")
    equal(result.status, 0, "status")
    equal(result.stdout, "lead: container, /data ro, /work rw (write preApproved, delete ask)\n"
                         "  kid: container, /data ro\n")
    fx.write(fx.project / "other.worker", worker("{name: data, mode: rw}"))
    result = fx.sandbash("--worker-check", "lead.worker", "other.worker")
    equal(result.status, 125, "status")
    contains(result.stderr, "other.worker:3:18: data: Child requests 'rw' but parent only has 'ro'")
    contains(result.stdout, "  kid: container, /data ro", "the others are told")
    lacks(result.stdout, "other:")


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


run_all()
