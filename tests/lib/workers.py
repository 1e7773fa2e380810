"""workers.py - a project with directories for workers, and a worker in it.

    project(fx)                                 input ro, output and final rw
    declare(fx, "w", INPUT, OUTPUT)             w.worker, which has these
    run(fx, "w", "sh", "-c", "ls /")            sandbash --worker=w.worker sh -c "ls /"
"""

PROJECT = """sandbox:
  mode: direct
  zones:
    input: {path: ./in, mode: ro}
    output: {path: ./out, mode: rw}
    final: {path: ./deep/er/final, mode: rw}
"""
INPUT = "{name: input}"
OUTPUT = "{name: output, mode: rw, approval: {write: preApproved, delete: preApproved}}"
FINAL = "{name: final, mode: rw, approval: {write: ask, delete: blocked}}"


def project(fx):
    fx.write(fx.project / "sandbash.yaml", PROJECT)
    fx.write(fx.project / "in" / "data.txt", "given\n")


def text(*zones, more=""):
    return f"---\n{more}sandbox:\n  zones: [{', '.join(zones)}]\n---\n"


def declare(fx, name, *zones, more=""):
    fx.write(fx.project / f"{name}.worker", text(*zones, more=more))


def run(fx, name, *words, flags=(), **where):
    return fx.sandbash(f"--worker={name}.worker", *flags, "--", *words, **where)


def shell(fx, name, script, flags=(), **where):
    return run(fx, name, "sh", "-c", script, flags=flags, **where)
