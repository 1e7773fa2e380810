"""Z5: a worker calls another, which has what it declares and never more than its caller."""

import json
import os
import shutil

from person import Person
from tap import SUPERVISED, contains, equal, lacks, run_all, skip, test
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
    equal(result.stderr.count("Permission denied"), 3, result.stderr)
    contains(result.stderr, "cannot create /input/x: Read-only file system")
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
    declare(fx, "lead", INPUT, "{name: output, mode: rw}")
    person = Person(fx, "sh", "-c", "echo m > /output/m; /output/sb --worker=/input/asks.worker -- sh -c 'echo n > /output/n'; "
                    "echo o > /output/o", flags=["--worker=lead.worker"])
    person.answer("2", "/output/m")
    person.answer("3", "/output/n")
    person.end()
    equal((fx.read("out/m") + fx.read("out/o"), fx.exists("out/n")), ("m\no\n", False), "an answer is for one of them")


def events(fx, *flags):
    return [json.loads(line) for line in fx.sandbash("--log", "--json", *flags).stdout.splitlines()]


@test("Z5 a question, the record and the summary show the chain of workers")
def chain(fx):
    set_up(fx)
    fx.write(fx.project / "in" / "inner.worker", text("{name: output, mode: rw, approval: {delete: blocked}}", more="name: in > ner\n"))
    fx.write(fx.project / "in" / "asks.worker", text("{name: output, mode: rw}", "{name: input}"))
    inner = "/output/sb --worker=/input/asks.worker /output/sb --worker=/input/inner.worker"
    script = f"{inner} sh -c 'echo k > /output/k; rm /output/k; echo x > /tmp/x'; rm -f /input/data.txt"
    person = Person(fx, "sh", "-c", script, flags=["--worker=lead.worker"])
    person.question("worker lead > asks > in ? ner", "/output/k")
    person.answer("1", "/output/k")
    screen = person.end()
    told = {(event["event"], event.get("path")): event.get("worker") for event in events(fx)}
    for one in ("ask", "answer", "perform"):
        equal(told[one, "/output/k"], "lead > asks > in ? ner")
    equal(told["deny", "/output/k"], "lead > asks > in ? ner")
    equal((told["deny", "/input/data.txt"], told["start", None], told["exit", None]), ("lead", "lead", "lead"))
    lines = fx.sandbash("--log").stdout
    contains(lines, "worker lead > asks > in ? ner, process")
    lacks(lines, "exit   ,")
    contains(lines, "; worker lead\n")
    screen = person.term.screen()
    contains(screen, "delete '/output/k' (worker lead > asks > in ? ner; /output is not open for that")
    contains(screen, "delete '/input/data.txt' (/input is read-only)")


@test("Z5 a child's temporary files are its own, and its caller's are not there")
def temporary(fx):
    set_up(fx)
    result = shell(fx, "lead", "echo secret > /tmp/caller; echo secret > /dev/shm/caller; /output/sb --worker=/input/none.worker -- sh -c '"
                   "cat /tmp/caller /dev/shm/caller; ls /tmp; echo x > /tmp/x; echo x > /var/tmp/x; echo mine > $TMPDIR/m && cat $TMPDIR/m; "
                   "mktemp -u; echo $HOME; python3 -c \"import tempfile; tempfile.TemporaryFile(); print(1)\"'; ls /tmp")
    lines = result.stdout.splitlines()
    equal((lines[0], lines[3], lines[4]), ("mine", "1", "caller"), result.stderr)
    contains(lines[1], "/tmp/worker-")
    contains(lines[2], "/tmp/worker-")
    equal(len(lines), 6)


@test("Z5 workers: those that its file names may be called, wherever they lie; others may not")
def named(fx):
    set_up(fx, INPUT, OUTPUT, more="workers: [kids/kid.worker]\n")
    fx.write(fx.project / "kids" / "kid.worker", text("{name: input}", more="workers: [sub/grand.worker]\n"))
    fx.write(fx.project / "kids" / "sub" / "grand.worker", text("{name: input}", more="workers: []\n"))
    for name in ("kid.worker", "kid", "/output/kid.worker"):
        equal(shell(fx, "lead", f"/output/sb --worker={name} cat /input/data.txt").stdout, "given\n")
    fx.write(fx.project / "out" / "kid.worker", text("{name: output, mode: rw}"))
    equal(shell(fx, "lead", "/output/sb --worker=/output/kid.worker ls /output").stdout, "", "it is the file that was named")
    result = call(fx, "data", "echo ran")
    contains(result.stderr, "'/input/data.worker' is not among the workers that 'lead' may call")
    grand = "/output/sb --worker=kid /output/sb --worker=grand"
    fx.write(fx.project / "kids" / "kid.worker", text("{name: input}", "{name: output}", more="workers: [sub/grand.worker]\n"))
    fx.write(fx.project / "kids" / "sub" / "grand.worker", text("{name: output}", more="workers: []\n"))
    equal(shell(fx, "lead", f"{grand} cat /output/kid.worker").stdout, fx.read("out/kid.worker"))
    for one in ("kid", "grand", "data.worker"):
        contains(shell(fx, "lead", f"{grand} /output/sb --worker={one} echo ran").stderr, "is not among the workers that 'grand'")
    contains(shell(fx, "lead", "/output/sb --worker=kid /output/sb --worker=kid echo ran").stderr, "is not among the workers that 'kid'")
    fx.write(fx.project / "kids" / "sub" / "kid.worker", text())
    declare(fx, "two", more="workers: [kids/kid.worker, kids/sub/kid.worker]\n")
    contains(shell(fx, "two", "echo ran").stderr, "have one name: which is called?")


@test("Z5 a grandchild is bounded by what its caller has, commands and network too")
def bounded(fx):
    set_up(fx, INPUT, OUTPUT, more="network: on\n")
    fx.write(fx.project / "in" / "few.worker", text("{name: output}", "{name: input}", more="commands: [sh, cat, /output/sb]\n"))
    for kid, words in (("net", "Child requests the network but parent does not have it"),
                       ("none", "Child requests every command but parent only has some")):
        result = shell(fx, "lead", f"/output/sb --worker=/input/few.worker /output/sb --worker=/input/{kid}.worker echo ran")
        contains(result.stderr, words)
        equal(result.stdout, "")
    equal(shell(fx, "lead", "/output/sb --worker=/input/net.worker echo ran").stdout, "ran\n", "neighbour: its caller has both")


@test("Z5 --zones and --worker-check inside tell of the worker that asks")
def inside(fx):
    set_up(fx, INPUT, OUTPUT, FINAL)
    zones = "/output/sb --zones --json"
    known = [json.loads(shell(fx, "lead", before + zones).stdout)["zones"]
             for before in ("", "/output/sb --worker=/input/data.worker ")]
    equal([[(zone["name"], zone["mode"], zone["path"]) for zone in one] for one in known],
          [[("final", "rw", "/final"), ("input", "ro", "/input"), ("output", "rw", "/output")],
           [("input", "ro", "/input"), ("output", "rw", "/output")]])
    told = [[line.split(maxsplit=3) for line in text.splitlines()[:3]] for text in
            (shell(fx, "lead", "/output/sb --zones").stdout, fx.sandbash("--zones", "--worker=lead.worker").stdout)]
    equal([[(name, mode, *rest) for name, mode, _, *rest in one] for one in told], 2 * [
        [("/final", "rw", "(write ask, delete blocked)"), ("/input", "ro"), ("/output", "rw", "(write preApproved, delete preApproved)")]],
          "the same inside and outside")
    result = shell(fx, "lead", "/output/sb --worker-check /input/data.worker; /output/sb --worker=/input/data.worker /output/sb --worker-check /input/other.worker")
    contains(shell(fx, "lead", "/output/sb --mcp --worker=/input/data.worker").stderr, "inside a worker there is no server for a model")
    contains(result.stdout, "data: container, /input ro, /output rw (write preApproved, delete ask)\n")
    contains(result.stderr, "final: Child requests 'ro' but parent does not have it")


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
