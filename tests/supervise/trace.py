"""trace.py - SANDBASH_TRACE: what is held is written down outside, and nowhere else."""

import os
import re

from tap import check, contains, equal, lacks, run_all, test

LINE = re.compile(r"# \d+ .+ = (asks|goes on|-?\d+( \(.+\))?), \d+ us")
BOTH = ("full", "flat")


def traced(fx, path, script, *flags, **where):
    return fx.sandbash("--consent=deny", "--quiet", *flags, "sh", "-c", script,
                       env={"SANDBASH_TRACE": path}, **where)


@test("calls, paths and verdicts; once more appends", variants=BOTH)
def lines(fx):
    trace = fx.outside / "x.trace"
    result = traced(fx, trace, f"echo hi >one; mv one two; mkdir {fx.outside}/no; rm two; env")
    equal(result.status, 0, result.stderr)
    lacks(result.stdout, "SANDBASH_TRACE")
    text = trace.read_text()
    for line in text.splitlines()[1:]:
        check(LINE.fullmatch(line), line)
    check(re.search(r"open 'one' = \d+,", text), text)
    contains(text, "rename 'one' -> 'two' = 0,")
    contains(text, f"mkdir '{fx.outside}/no' = asks,")
    contains(text, f"mkdir '{fx.outside}/no' = -1 (Permission denied),")
    equal(trace.stat().st_mode & 0o777, 0o600)
    equal(traced(fx, trace, "true").status, 0)
    check(trace.read_text().startswith(text), "it was begun anew")
    equal(fx.sandbash("--quiet", "touch", "plain").status, 0)
    lacks(trace.read_text(), "'plain'", "without the variable")


@test("names from inside stay on their line", variants=BOTH)
def names(fx):
    trace = fx.outside / "x.trace"
    equal(traced(fx, trace, "touch \"$(printf 'a\\nb')\"").status, 0)
    check(fx.exists("a\nb"))
    check(all(LINE.fullmatch(line) for line in trace.read_text().splitlines()[1:]))
    contains(trace.read_text(), "'a\\nb'")


@test("the command neither reads nor changes it, in its own project either", variants=BOTH)
def closed(fx):
    for name, place in (("x.trace", fx.project), ("y.trace", fx.outside)):
        trace = place / name
        neighbour = fx.write("neighbour.trace", "readable\n")
        for script in (f"cat {trace}", f"echo planted >>{trace}", f"mv {trace} away; cat away",
                       f"ln {trace} {fx.project}/alias; cat alias", f"rm {trace}"):
            inside = traced(fx, trace, script)
            check(inside.status != 0, script)
            lacks(inside.stdout, "held calls", script)
            lacks(trace.read_text(), "planted\n", script)
        equal(traced(fx, trace, f"cat {neighbour}; echo more >>{neighbour}").status, 0)
        contains(fx.run("cat", trace).stdout, "held calls", "the control")


@test("a file that is something else is not written to")
def others(fx):
    outside = fx.outside
    bashrc = fx.write(fx.home / ".bashrc", "true\n")
    fx.write(outside / "full.trace", "something\n", 0o600)
    os.symlink(bashrc, outside / "link.trace")
    os.mkfifo(outside / "fifo.trace", 0o600)
    equal(traced(fx, outside / "good.trace", "true").status, 0)
    os.link(outside / "good.trace", outside / "alias.trace")
    before = fx.snapshot(outside)
    for path in (bashrc, outside / "new", fx.home / ".profile", outside / "full.trace",
                 outside / "link.trace", outside / "fifo.trace", outside / "alias.trace",
                 outside / "no" / "x.trace", outside):
        result = traced(fx, path, "touch ran")
        check(result.status != 0 and not fx.exists("ran"), path)
        contains(result.stderr, "SANDBASH_TRACE")
    equal(fx.snapshot(outside), before)
    equal(bashrc.read_text(), "true\n")
    check(not (fx.home / ".profile").exists())


@test("inside another run the variable counts for nothing")
def nested(fx):
    script = f"SANDBASH_TRACE={fx.project}/in.trace {fx.argv('true')[0]} touch ran"
    equal(fx.sandbash("--quiet", "sh", "-c", script).status, 0)
    check(fx.exists("ran") and not fx.exists("in.trace"))
    static = fx.sandbash("--static", "touch", "static", env={"SANDBASH_TRACE": "in.trace"})
    equal(static.status, 0, static.stderr)
    contains(static.stderr, "SANDBASH_TRACE is ignored")
    check(not fx.exists("in.trace"))


run_all()
