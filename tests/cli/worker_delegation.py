"""Z5: a worker calls another, which has what it declares and never more than its caller."""

import os
import shutil

from person import Person
from tap import SUPERVISED, contains, equal, run_all, skip, test
from workers import FINAL, INPUT, OUTPUT, declare, project, shell, text

KIDS = {
    "data": text("{name: input}", "{name: output, mode: rw, approval: {write: preApproved}}"),
    "wants": text("{name: input, mode: rw}"),
    "other": text("{name: final}"),
    "none": "---\nname: none\n---\n",
    "net": "---\nnetwork: on\n---\n",
    "asks": text("{name: output, mode: rw}"),
    "some": text("{name: output, mode: rw, approval: {write: preApproved}}", more="commands: [cat, sh]\n"),
}


def set_up(fx, *zones, **more):
    if not SUPERVISED:
        skip("a worker needs a supervisor")
    project(fx)
    declare(fx, "lead", *(zones or (INPUT, OUTPUT)), **more)
    for name, kid in KIDS.items():
        fx.write(fx.project / "in" / f"{name}.worker", kid)
    (fx.project / "out").mkdir()
    shutil.copy(fx.argv()[0], fx.project / "out" / "sb")


def call(fx, kid, script):
    return shell(fx, "lead", f"/output/sb --worker=/input/{kid}.worker -- sh -c '{script}'")


@test("Z5 Worker Delegation: the child gets what it declares, and nothing else of its caller's")
def gets(fx):
    set_up(fx, INPUT, OUTPUT, FINAL)
    fx.write(fx.project / "deep/er/final/kept", "kept\n")
    result = call(fx, "data", "cat /input/data.txt; echo k > /output/k; cat /output/k /final/kept; ls /final; "
                  "rm /output/k; echo x > /input/x")
    equal(result.stdout, "given\nk\n")
    equal(result.stderr.count("Permission denied"), 4, result.stderr)
    equal(os.path.exists(fx.project / "out" / "k"), True, "approved was writing, not deleting")
    result = call(fx, "none", "ls /input /output /final; cat /input/data.txt; echo x > /output/x; echo runs")
    equal(result.stdout, "runs\n", "a pure function: no file access")


@test("Z5 more than the caller has is an error that says so")
def refused(fx):
    set_up(fx)
    for kid, words in (("wants", "input: Child requests 'rw' but parent only has 'ro'"),
                       ("other", "final: Child requests 'ro' but parent does not have it"),
                       ("net", "Child requests the network but parent does not have it")):
        result = call(fx, kid, "echo ran")
        contains(result.stderr, words)
        equal(result.stdout, "")


@test("Z5 what a caller has cannot be forged by it: variables, its own worker files, a note of its own")
def forged(fx):
    set_up(fx)
    script = """
printf -- '---\\nsandbox: {zones: [{name: input, mode: rw}, {name: final, mode: rw}]}\\n---\\n' > /tmp/mine
export SANDBASH= SANDBASH_MODE=danger-full-access SANDBASH_FLAGS=--mode=danger-full-access
unset SANDBASH_NETWORK_DISABLED
echo /final > /etc/sandbash/worker
mv /etc/sandbash /etc/other
/output/sb --worker=/tmp/mine -- sh -c 'echo ran > /input/x'
/output/sb --worker=/input/data.worker --mode=danger-full-access --allow-write=/input -- sh -c 'echo ran > /input/x'
"""
    result = shell(fx, "lead", script)
    contains(result.stderr, "final: Child requests 'rw' but parent does not have it")
    equal("x" in os.listdir(fx.project / "in"), False)


@test("Z5 approval adds up: the stricter of caller and child counts, and the person outside is asked")
def adds_up(fx):
    set_up(fx)
    person = Person(fx, "sh", "-c", "/output/sb --worker=/input/asks.worker -- sh -c 'echo k > /output/k'; "
                    "echo l > /output/l", flags=["--worker=lead.worker"])
    person.answer("1", "/output/k")
    person.end()
    equal(fx.read("out/k") + fx.read("out/l"), "k\nl\n")


@test("Z5 ten levels deep, and no level has more than the one before")
def deep(fx):
    set_up(fx, INPUT, OUTPUT, FINAL)
    fx.write(fx.project / "deep/er/final/kept", "kept\n")
    chain = "/output/sb --worker=/input/data.worker " * 10
    result = shell(fx, "lead", f"{chain} sh -c 'echo ten > /output/ten; cat /output/ten /final/kept'")
    equal(result.stdout, "ten\n", result.stderr)
    result = shell(fx, "lead", f"{chain} /output/sb --worker=/input/other.worker cat /final/kept")
    contains(result.stderr, "final: Child requests 'ro' but parent does not have it")


@test("Z5 a chain in which each has less than the one before")
def narrows(fx):
    set_up(fx, INPUT, OUTPUT, FINAL)
    leaf = "/output/sb --worker=/input/{}.worker -- cat /input/data.txt /output/kept"
    fx.write(fx.project / "out" / "kept", "kept\n")
    fx.write(fx.project / "in" / "leaf.worker", text("{name: input}"))
    result = call(fx, "data", leaf.format("leaf"))
    equal(result.stdout, "given\n", result.stderr)
    equal(call(fx, "data", leaf.format("data")).stdout, "given\nkept\n", "neighbour")


@test("Z9 commands of a child")
def commands(fx):
    set_up(fx)
    result = call(fx, "some", "cat /output/sb > /dev/null && echo cat; id; ls /; /output/sb --version; echo end")
    equal(result.stdout, "cat\nend\n", result.stderr)


@test("Z5 inside a run that is no worker's there is no world for one")
def elsewhere(fx):
    set_up(fx)
    result = fx.sandbash("sh", "-c", "out/sb --worker=lead.worker -- echo ran")
    contains(result.stderr, "no world of its own for a worker")
    equal(result.stdout, "")


run_all()
