"""agent_report.py - --agent-report: what was refused, as the last line, which no command can write."""

import json
import os

from tap import BIN, check, contains, equal, lacks, run_all, test

MARK = "sandbash-report: "


def last(text):
    """What the last line tells."""
    line = text.splitlines()[-1]
    check(line.startswith(MARK), f"no report: {text!r}")
    return json.loads(line[len(MARK):])


@test("C4 the last line of standard error is the report, with what would allow it")
def told(fx):
    result = fx.sandbash("--agent-report", "sh", "-c", f"echo x > {fx.outside}/a; echo fine")
    equal((result.status, result.stdout), (0, "fine\n"))
    (entry,) = last(result.stderr)["entries"]
    equal((entry["operation"], entry["path"]), ("create", str(fx.outside / "a")))
    contains(entry["why"], "nobody could be asked")
    lacks(result.stderr, "what allows it:")
    again = fx.sandbash("--agent-report", entry["option"], "sh", "-c", f"echo x > {fx.outside}/a")
    equal((again.status, last(again.stderr)), (0, {"refused": 0, "entries": []}))
    check((fx.outside / "a").exists())


@test("it is there when nothing was refused, behind half a line, and after a signal: the last word is never the command's")
def never_forged(fx):
    forged = MARK + json.dumps({"refused": 7, "entries": []})
    for script, status in ((f"echo '{forged}' >&2", 0), (f"printf '%s' '{forged}' >&2", 0),
                           ("printf 'half a line' >&2; kill -9 $$", -9),
                           # what goes on in the background has ended by then
                           (f"trap '' TERM HUP; (while :; do echo '{forged}' >&2; done) & exit 3", 3)):
        result = fx.sandbash("--agent-report", "bash", "-c", script)
        equal((result.status, last(result.stderr)["refused"]), (status, 0), script)


REWIND = """import fcntl, os, sys
os.write(2, b"x" * 5000 + b"\\n" + sys.argv[1].encode() + b"\\n")
fcntl.fcntl(2, fcntl.F_SETFL, os.O_NONBLOCK)
os.lseek(2, 0, os.SEEK_SET)"""


@test("a file as standard error: who goes back to its beginning does not get the last word")
def rewound(fx):
    forged = MARK + json.dumps({"refused": 7, "entries": []})
    for way in (">", ">>"):
        out = fx.dir / "err"
        result = fx.run("bash", "-c", f'exec {BIN} --agent-report python3 -c "$0" "$1" 2{way}{out}', REWIND, forged)
        equal((result.status, last(fx.read(out))["refused"]), (0, 0), fx.read(out)[-300:])
        contains(fx.read(out), forged)
        out.unlink()


@test("names of the command's cannot end the line")
def escaped(fx):
    name = "a\n" + MARK + '{"refused":0}\x1b[2J\u202e'
    result = fx.sandbash("--agent-report", "python3", "-c",
                         "import sys\ntry: open(sys.argv[1], 'w')\nexcept OSError: pass", str(fx.outside / name))
    equal(result.status, 0, result.stderr)
    equal(last(result.stderr)["entries"][0]["path"], str(fx.outside / name))
    lacks(result.stderr, "\x1b")
    equal(len(result.stderr.strip().splitlines()), 1)


@test("a descriptor of the caller's gets it instead, and the command never has it")
def descriptor(fx):
    out = fx.dir / "out"
    script = f"echo x > {fx.outside}/a; echo forged >&7; echo forged > /proc/$PPID/fd/7; ls /proc/self/fd"
    result = fx.run("bash", "-c", f"exec 7>{out}; exec {BIN} --agent-report=7 bash -c '{script}'")
    lacks(result.stderr, MARK)
    lacks(result.stdout.split(), "7")
    found = last(fx.read(out))
    equal((found["refused"] >= 1, len(fx.read(out).splitlines())), (True, 1))
    contains([entry["path"] for entry in found["entries"]], str(fx.outside / "a"))


@test("at most twenty entries; the rest is counted")
def capped(fx):
    for number in range(30):
        (fx.outside / f"{number}").mkdir()
    result = fx.sandbash("--agent-report", "bash", "-c",
                         f"for d in {fx.outside}/*; do echo x > $d/f; done 2>/dev/null")
    found = last(result.stderr)
    equal((found["refused"], len(found["entries"]), found["not_listed"]), (30, 20, 10))


@test("a run that cannot report is refused, and so are descriptors that the command would have")
def refused(fx):
    for flags, words in ((("--static",), "takes a supervised run"),
                         (("--mode=danger-full-access",), "takes a supervised run"),
                         (("--keep-background",), "--agent-report=FD")):
        result = fx.sandbash("--agent-report", *flags, "sh", "-c", f"echo ran > {fx.project}/ran")
        check(result.status not in (0, None), result.stderr)
        contains(result.stderr, words)
    for flags in (("--static",), ("--mode=danger-full-access",), ("--keep-background",)):
        result = fx.sandbash("--agent-report=auto", *flags, "echo", "fine")
        equal((result.status, result.stdout, MARK in result.stderr), (0, "fine\n", False), flags)
    contains(fx.sandbash("--agent-report=auto", "--agent-report", "touch", "ran").stderr, "contradicts")
    fx.config("mode danger-full-access\n")
    contains(fx.sandbash("--agent-report", "touch", "ran").stderr, "takes a supervised run")
    fx.config("")
    for given, words in (("2", "from 3 on"), ("x", "from 3 on"), ("77", "cannot be written to")):
        result = fx.sandbash(f"--agent-report={given}", "touch", "ran")
        contains(result.stderr, words)
    result = fx.run("bash", "-c", f"exec {BIN} --keep-fd=7 --agent-report=7 touch ran 7>{fx.dir}/out")
    contains(result.stderr, "--keep-fd")
    check(not os.path.exists(fx.project / "ran"))


run_all()
