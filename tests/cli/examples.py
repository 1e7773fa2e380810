"""examples.py - the library as another program sees it: examples/, built with the installed headers
alone."""

from tap import TOOLS, check, contains, equal, lacks, run_all, test


def example(name):
    return TOOLS.parent / "examples" / name


@test("examples: confined runs a command whose changes stay in the project")
def confined(fx):
    program = example("confined")
    equal(fx.run("sh", "-c", f"echo x > {fx.outside}/free").status, 0)
    fx.write(".env", "SECRET=1\n")
    done = fx.run(program, "sh", "-c", f"echo x > inside; echo x > {fx.outside}/x; cat .env; echo $?; exit 7")
    equal(done.status, 7)
    equal(fx.read("inside"), "x\n")
    check(not (fx.outside / "x").exists())
    lacks(done.stdout, "SECRET")


@test("examples: confined starts nothing where it cannot confine")
def refused(fx):
    program = example("confined")
    done = fx.run(program, "echo", "started", cwd="/")
    equal(done.status, 125)
    lacks(done.stdout, "started")
    contains(done.stderr, "not inside the home directory")


@test("examples: confined starts nothing where the user's settings promise what it cannot hold")
def promises(fx):
    program = example("confined")
    for line, why in (("protect-ignored on", "what git ignores"), ("clean-env on", "the environment"),
                      ("mode danger-full-access", "nothing to enter"), ("deny ~/project", "hidden by a rule")):
        fx.config("")
        equal(fx.run(program, "echo", "started").stdout, "started\n", "the neighbour")
        fx.config(line + "\n")
        done = fx.run(program, "echo", "started")
        equal((done.status, done.stdout), (125, ""), line)
        contains(done.stderr, why)


@test("examples: may-i tells what rules say, and which one")
def may_i(fx):
    program = example("may-i")
    fx.write("a.c", "")
    fx.write(fx.home / ".ssh" / "id_ed25519", "key")
    done = fx.run(program, "a.c", fx.home / ".ssh" / "id_ed25519", fx.outside)
    equal(done.status, 0)
    parts = done.stdout.split(str(fx.home / ".ssh"))
    check("modify  allow" in parts[0], done.stdout)
    check("read    deny" in parts[1], done.stdout)
    check("modify  ask" in parts[1], done.stdout)


@test("examples: edit changes a file of the project, and asks about one outside")
def edit(fx):
    program = example("edit")
    fx.write("a.txt", "one\ntwo\n")
    outside = fx.write(fx.outside / "b.txt", "one\n")
    done = fx.run(program, "a.txt", "two", "three")
    equal((done.status, fx.read("a.txt")), (0, "one\nthree\n"))
    contains(done.stdout, "+three")
    done = fx.run(program, outside, "one", "two", input="n\n")
    equal((done.status, fx.read(outside)), (1, "one\n"))
    contains(done.stdout, "Allow?")
    done = fx.run(program, outside, "one", "two", input="y\ny\n")
    equal((done.status, fx.read(outside)), (0, "two\n"))


def workers(fx):
    fx.write("sandbash.yaml", "sandbox: {zones: {input: {mode: ro}, output: {mode: rw}}}\n")
    fx.write("one.worker", "---\nname: one\nsandbox:\n  zones:\n    - {name: input}\n    - {name: output, mode: rw}\n---\n")
    fx.write("more.worker", "---\nname: more\nsandbox: {zones: [{name: input, mode: rw}]}\n---\n")
    fx.write("less.worker", "---\nname: less\nsandbox: {zones: [{name: output}]}\n---\n")
    fx.write(".sandbox/input/data.txt", "data\n")


@test("examples: worker sees what its file declares, by the names of the project")
def worker(fx):
    program = example("worker")
    workers(fx)
    equal(fx.run(program, "one.worker", "ls", "/").stdout, "input\noutput\n")
    equal(fx.run(program, "one.worker", "cat", "/input/data.txt").stdout, "data\n")
    done = fx.run(program, "one.worker", "put", "/input/new.txt", "content")
    equal((done.status, done.stderr), (1, "worker: /input is read-only\n"))
    for path in ("/etc/passwd", "/input/../../sandbash.yaml", fx.home / ".profile"):
        equal(fx.run(program, "one.worker", "cat", path).status, 1, str(path))
    done = fx.run(program, "one.worker", "put", "/output/a", "text", input="n\n")
    equal(done.status, 1)
    contains(done.stdout, "create '/output/a'")
    lacks(done.stdout + done.stderr, str(fx.home))
    equal(fx.run(program, "one.worker", "put", "/output/a", "text", input="y\n").status, 0)
    equal(fx.read(".sandbox/output/a"), "text")


@test("examples: worker calls another, which has what it declares and no more than the first")
def worker_calls(fx):
    program = example("worker")
    workers(fx)
    equal(fx.run(program, "one.worker", "less.worker", "ls", "/").stdout, "output\n")
    done = fx.run(program, "one.worker", "more.worker", "ls", "/")
    equal(done.status, 1)
    contains(done.stderr, "input: Child requests 'rw' but parent only has 'ro'")


run_all()
