"""log_kept.py - R1, R2: how long the record is kept, what static runs leave, --require-audit, --prune, --stats."""

import fcntl
import json
import os
import re
import shutil
import subprocess
import time

from log_files import events, file_of, log, state, write
from tap import BIN, PATIENCE, check, contains, equal, lacks, run_all, skip, test


# --- --prune ------------------------------------------------------------------------------------


def age(fx, session, days):
    then = time.time() - days * 86400
    os.utime(file_of(fx, session), (then, then))


@test("R1 --prune: what is older than log-keep-days goes, and is named; a living writer's stays")
def prune_age(fx):
    old, older, new = (write(fx, "start", "exit") for _ in range(3))
    age(fx, old, 91)
    age(fx, older, 200)
    writer = fx.start(fx.tool("write-events"), state(fx), "start", "wait", "exit",
                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    alive = writer.stdout.readline().strip()
    age(fx, alive, 300)
    lines = log(fx, "--prune")
    check(lines[0].startswith(f"removed {older} ("), lines[0])
    check(lines[1].startswith(f"removed {old} ("), lines[1])
    contains(lines[1], "too old")
    check(lines[2].startswith("2 sessions removed, 2 kept ("), lines[2])
    equal(sorted(os.listdir(state(fx) / "log")), sorted(f"{s}.jsonl" for s in (new, alive)))
    equal(len(log(fx, "--prune")), 1)
    writer.communicate("\n", timeout=PATIENCE)
    age(fx, alive, 300)
    found = json.loads(fx.sandbash("--log", "--prune", "--json").stdout)
    equal([(r["session"], r["why"]) for r in found["removed"]], [(alive, "age")])
    equal(found["kept"], 1)


@test("R1 --prune: the limits come from the configuration; of too much the oldest goes first")
def prune_limits(fx):
    sessions = [write(fx, "start", "path=/" + "x" * 4000, "many=120", "exit") for _ in range(4)]
    size = file_of(fx, sessions[0]).stat().st_size
    check(400_000 < size < 600_000, str(size))
    for days, session in enumerate(sessions):
        age(fx, session, 20 - days)
    equal(len(log(fx, "--prune")), 1)
    fx.config("log-keep-megabytes 1\nlog-keep-days off\n")
    found = json.loads(fx.sandbash("--log", "--prune", "--json").stdout)
    equal([(r["session"], r["why"]) for r in found["removed"]],
          [(s, "size") for s in sessions[:2 if 2 * size <= 1_000_000 else 3]])
    fx.config("log-keep-megabytes off\nlog-keep-days 18\n")
    equal(json.loads(fx.sandbash("--log", "--prune", "--json").stdout)["removed"], [])
    fx.config("log-keep-days 5 # short\n")
    found = json.loads(fx.sandbash("--log", "--prune", "--json").stdout)
    equal(found["kept"], 0)


def sessions(fx):
    return sorted((state(fx) / "log").glob("*.jsonl")) if (state(fx) / "log").exists() else []


def of_day(fx):
    """The records that static and unconfined runs have left today."""
    return [json.loads(line) for path in sessions(fx) if "T000000-" in path.name
            for line in path.read_text().splitlines()]


@test("R1 static runs leave a record of their start, all in one file")
def static_record(fx):
    equal(fx.sandbash("--static", "sh", "-c", "ls -l /proc/self/fd | grep -c jsonl").stdout, "0\n")
    equal(fx.sandbash("--static", "--session=work", "sh", "-c", "exit 3").status, 3)
    check(fx.sandbash("--static", "./no-such-program").status == 127)
    equal(len(sessions(fx)), 1)
    records = of_day(fx)
    equal([record["event"] for record in records], ["start", "start", "start", "exit"])
    equal((records[1]["command"], records[1]["name"], records[1]["directory"]),
          (["sh", "-c", "exit 3"], "work", str(fx.project)))
    contains(records[1]["layers"], "seccomp")
    equal((records[3]["process"], records[3]["status"]), (records[2]["process"], 127),
          "it was never started")
    text = "\n".join(log(fx, "--verify"))
    contains(text, "1 sessions, 4 records: every chain holds")
    lacks(text, "killed", "that there is no end is known")
    equal(fx.sandbash("--static", "--require-audit", "true").status, 0)
    equal(len(sessions(fx)), 2, "a file of its own, which cannot fail for others")
    refused = fx.sandbash("--static", "sh", "-c", f"echo x >> {sessions(fx)[0]}")
    check(refused.status != 0, "out of reach")
    stats = json.loads(fx.sandbash("--stats", "--json").stdout)
    equal((stats["sessions"], stats["without_exit"], stats["events"]["start"]), (2, 0, 5))
    for _ in range(2):  # longer than what is looked at first
        equal(fx.sandbash("--static", "true", "x" * 50000).status, 0)
    contains("\n".join(log(fx, "--verify")), "2 sessions, 8 records: every chain holds")
    fx.config("log-static off\n")
    equal(fx.sandbash("--static", "true").status, 0)
    equal(len(of_day(fx)), 7, "a setting turns it off")
    equal(fx.sandbash("--static", "--require-audit", "true").status, 0)
    equal(len(sessions(fx)), 3, "but not what is required")
    fx.config("")
    shutil.rmtree(state(fx))
    state(fx).write_text("")  # no place for a record
    check("warning" in fx.sandbash("--static", "true").stderr)
    equal(fx.sandbash("--static", "--require-audit", "true").status, 125)
    for line, what in (("log-static maybe", "'on' or 'off'"),
                       ("log-static on\nlog-static off", "set twice")):
        fx.config(line + "\n")
        contains(fx.sandbash("--static", "true").stderr, what)


@test("R1 a run without a sandbox is on record, whatever the settings say")
def unconfined_record(fx):
    fx.config("log-static off\n")
    for flag in ("--disable-sandbox", "--mode=danger-full-access"):
        equal(fx.sandbash(flag, "sh", "-c", "exit 4").status, 4)
    check(fx.sandbash("--disable-sandbox", "./none").status == 127)
    records = of_day(fx)
    equal([(one["event"], one.get("mode"), one.get("layers")) for one in records],
          [("start", "danger-full-access", "none")] * 3 + [("exit", None, None)])
    equal(records[0]["command"], ["sh", "-c", "exit 4"])
    contains("\n".join(log(fx)), "mode danger-full-access; layers: none")
    # inside another run the record is out of reach, and --disable-sandbox takes nothing away
    inner = fx.sandbash("sh", "-c", f"{BIN} --disable-sandbox touch {fx.outside}/x")
    check(inner.status != 0 and len(of_day(fx)) == 4, inner.stderr)


@test("R1 many static runs at once: no record is lost, and the chain holds")
def static_at_once(fx):
    script = f"for i in 1 2 3 4 5 6 7 8 9 10; do {BIN} --static true & done; wait"
    for _ in range(4):
        equal(fx.run("sh", "-c", script).stderr, "")
    records = of_day(fx)
    equal([record["seq"] for record in records], list(range(1, 41)))
    equal(len({record["process"] for record in records}), 40)
    contains("\n".join(log(fx, "--verify")), "40 records: every chain holds")


@test("R1 a day's file that is torn, or full, is left alone: the next one is begun")
def static_torn(fx):
    equal(fx.sandbash("--static", "true").status, 0)
    first = sessions(fx)[0]
    whole = first.read_bytes()
    first.write_bytes(whole + b'{"v":1,"time":"20')
    for _ in range(2):
        equal((fx.sandbash("--static", "true").stderr), "")
    equal(first.read_bytes(), whole + b'{"v":1,"time":"20')
    equal([path.name.split("-", 1)[1] for path in sessions(fx)], ["1-0000.jsonl", "2-0000.jsonl"])
    equal(len(of_day_file(sessions(fx)[1])), 2)
    with open(sessions(fx)[1], "ab") as file:
        file.truncate(5 * 1024 * 1024)
    equal((fx.sandbash("--static", "true").stderr), "")
    equal(len(of_day_file(sessions(fx)[2])), 1)
    # a limit on how long files may be is the command's; it gets a record of its own
    result = fx.run("bash", "-c", f"ulimit -f 16; {BIN} --static true")
    equal((result.status, result.stderr), (0, ""))
    equal(len(sessions(fx)), 4)


def of_day_file(path):
    return path.read_text().splitlines()


@test("R1 whoever holds the day's file for ever keeps no run from starting")
def static_held(fx):
    equal(fx.sandbash("--static", "true").status, 0)
    with open(sessions(fx)[0], "rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        result = fx.sandbash("--static", "echo", "ran")
        equal((result.status, result.stdout), (0, "ran\n"))
        contains(result.stderr, "cannot add to")
    equal(fx.sandbash("--static", "true").stderr, "")
    equal(len(of_day(fx)), 2)


def no_room(fx, how, *words):
    """sandbash WORDS where its state lies on a disk that is full: of bytes, or of names."""
    top = fx.dir / "state"
    top.mkdir(exist_ok=True)
    fill = {"bytes": f"cat /dev/zero >{top}/fill 2>/dev/null",
            "names": f"i=0; while touch {top}/$i; do i=$((i + 1)); done 2>/dev/null",
            "nothing": ":"}[how]
    script = (f"mount -t tmpfs -o size=256k,nr_inodes=64,mode=0777 none {top} && "
              f"mkdir -p -m 700 {top}/sandbash/log && {{ {fill}; }}; "
              f'"$@"; status=$?; ls {top}/sandbash/log | wc -l; exit $status')
    unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    probe = fx.run(*unshare, "mount", "-t", "tmpfs", "none", top)
    if probe.status:
        skip(f"no tmpfs of one's own: {probe.stderr.strip()}")
    # for those who are root in a user namespace only, it is not a place like any other
    return fx.run(*unshare, "sh", "-c", script, "sh", *words, env={"XDG_STATE_HOME": top})


REQUIRING = (("supervised", ()), ("static", ("--static",)), ("unconfined", ("--disable-sandbox",)))


@test("R1 --require-audit on a full disk: the reason in words, 125, nothing runs")
def require_full(fx):
    for kind, flags in REQUIRING:
        for how in ("bytes", "names"):
            result = no_room(fx, how, BIN, *flags, "--require-audit", "touch", fx.path("ran"))
            equal(result.status, 125, f"{kind}, {how}: {result.stderr}")
            check(re.search(r"^sandbash: cannot (write to|create a record in) '.*': "
                            r"No space left on device$", result.stderr.strip()), result.stderr)
            check(not fx.exists("ran"), f"{kind}, {how}: it ran")
            equal(result.stdout, "0\n", f"{kind}, {how}: what is left behind")
        result = no_room(fx, "nothing", BIN, *flags, "--require-audit", "true")
        equal((result.status, result.stdout, result.stderr), (0, "1\n", ""), f"{kind}: control")
        result = no_room(fx, "bytes", BIN, *flags, "touch", fx.path("ran"))
        equal(result.status, 0, f"{kind}, not required: {result.stderr}")
        contains(result.stderr, "No space left on device", "but said")
        fx.path("ran").unlink()


@test("R1 --require-audit under a limit on how long files may be: the same")
def require_limited(fx):
    for kind, flags in REQUIRING:
        words = " ".join([str(BIN), *flags])
        result = fx.run("bash", "-c", f"ulimit -f 0; {words} --require-audit touch ran")
        equal(result.status, 125, f"{kind}: {result.stderr}")
        contains(result.stderr, "File too large", kind)
        check(not fx.exists("ran"), kind)
        result = fx.run("bash", "-c", f"ulimit -f 0; {words} touch ran")
        equal(result.status, 0, f"{kind}: {result.stderr}")
        contains(result.stderr, "warning: cannot write to", kind)
        fx.path("ran").unlink()
        result = fx.run("bash", "-c", f"ulimit -f 64; {words} --require-audit touch ran")
        equal((result.status, result.stderr), (0, ""), f"{kind}: the neighbour")
        fx.path("ran").unlink()


@test("R1 --mcp --require-audit does not serve without a record")
def require_mcp(fx):
    result = no_room(fx, "bytes", BIN, "--mcp", "--require-audit")
    equal(result.status, 125, result.stderr)
    contains(result.stderr, "No space left on device")
    result = no_room(fx, "nothing", BIN, "--mcp", "--require-audit")
    equal((result.status, result.stdout), (0, "1\n"), result.stderr)


@test("S7 log-keep lines: mistakes are named, a later tier's counts, other commands keep them")
def keep_lines(fx):
    for line, what in (("log-keep-days 0", "a limit is a number"), ("log-keep-days x", "a limit"),
                       ("log-keep-days", "needs a value"),
                       ("log-keep-days 1\nlog-keep-days 2", "set twice, differently"),
                       ("log-keep-megabytes 1\nlog-keep-megabytes off", "set twice")):
        config = fx.config(line + "\n")
        result = fx.sandbash("--log", "--prune")
        equal(result.status, 125, line)
        contains(result.stderr, f"'{config}' line ")
        contains(result.stderr, what)
        equal(fx.sandbash("--log").status, 0, "reading needs no rules")
    session = write(fx, "start", "exit")
    age(fx, session, 10)
    fx.config("log-keep-days 1\n")
    fx.write("rules", "")
    policy = fx.write(fx.outside / "rules", "log-keep-days 30\n")
    equal(len(log(fx, "--prune", f"--policy={policy}")), 1)
    equal(fx.sandbash("--global", "--add-path", fx.outside).status, 0)
    contains((fx.home / ".config/sandbash/config").read_text(), "log-keep-days 1\n")
    equal(len(log(fx, "--prune")), 2)


# --- --stats ------------------------------------------------------------------------------------


@test("R2 --stats: exit records are added up, by kind")
def stats(fx):
    for i in range(3):
        write(fx, "start", "op=create", "path=/x", "deny", "deny", "exit")
    found = json.loads(fx.sandbash("--stats", "--json").stdout)
    equal((found["sessions"], found["running"], found["without_exit"]), (3, 0, 0))
    equal(found["events"], {"start": 3, "ask": 0, "answer": 0, "deny": 6, "grant": 0, "perform": 0, "note": 0,
                            "exit": 3, "revoke": 0, "connect": 0, "allow": 0})
    equal(found["operations"]["create"], {"seen": 12, "allowed": 0, "denied": 6, "asked": 0,
                                          "approved": 0})
    equal(found["operations"]["read"]["seen"], 0)
    text = fx.sandbash("--stats").stdout
    contains(text, "sessions: 3\n")
    check(re.search(r"(?m)^create +12 +0 +6 +0 +0$", text), text)
    lacks(text, "exit record")


@test("R2 --stats: sessions without an exit record are counted from their events")
def stats_events(fx):
    write(fx, "op=delete", "path=/x", "deny", "question=1", "ask", "answer", "verdict=allow",
          "perform", "error=2", "perform", "error=0", "question=2", "verdict=", "ask", "verdict=deny",
          "answer", "deny")
    found = json.loads(fx.sandbash("--stats", "--json").stdout)
    equal(found["without_exit"], 1)
    equal(found["operations"]["delete"], {"seen": 3, "allowed": 0, "denied": 2, "asked": 2,
                                          "approved": 1})
    contains(fx.sandbash("--stats").stdout, "1 without an exit record")
    equal(json.loads(fx.sandbash("--stats", "--json", "--since=2100-01-01").stdout)["sessions"], 0)


def counted(fx, script, *flags, **where):
    """The operations of one run, without those that are 0."""
    result = fx.sandbash("--quiet", *flags, "python3", "-c", script, **where)
    equal(result.status, 0, result.stderr)
    found = [one for one in events(fx) if one["event"] == "exit"][-1]["counters"]
    names = ("read", "modify", "create", "delete")
    return {kind: {name: number for name, number in zip(names, numbers) if number}
            for kind, numbers in found.items()}


FAILING = """
import errno, os, socket
def fails(error, act, *words):
    try:
        act(*words)
    except OSError as e:
        assert e.errno == error, e
    else:
        assert False, words
"""


@test("R2 only what succeeded is counted as allowed", variants=("full", "flat"))
def only_done(fx):
    fx.write("old", "x")
    (fx.project / "dir").mkdir()
    none = counted(fx, "pass")
    found = counted(fx, FAILING + """
for i in range(5):
    fails(errno.ENOENT, os.unlink, "none")
    fails(errno.EEXIST, os.mkdir, "dir")
    fails(errno.EEXIST, os.open, "old", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    fails(errno.ENOENT, os.rename, "none", "other")
    fails(errno.EISDIR, os.open, "dir", os.O_WRONLY)
    fails(errno.EEXIST, os.symlink, "x", "old")
    os.access("old", os.W_OK)
""")
    equal(found["allowed"], none["allowed"], "nothing was done")
    check(sum(found["seen"].values()) >= sum(none["seen"].values()) + 20, "but all of it was seen")
    found = counted(fx, """
import os
for i in range(3):
    os.close(os.open(f"new{i}", os.O_WRONLY | os.O_CREAT, 0o600))
    os.mkdir(f"dir{i}")
    os.unlink(f"new{i}")
    os.close(os.open("old", os.O_WRONLY))
""")
    more = {name: number - none["allowed"].get(name, 0) for name, number in found["allowed"].items()}
    equal({name: number for name, number in more.items() if number},
          {"create": 6, "delete": 3, "modify": 3})


@test("R2 what is refused, and what is guarded and harmless", variants=("full", "flat"))
def refused_counts(fx):
    fx.git_project()
    none = counted(fx, "pass")
    found = counted(fx, FAILING + f"""
for i in range(3):
    fails(errno.EACCES, os.open, "{fx.outside}/x", os.O_WRONLY | os.O_CREAT)
fails(errno.EACCES, os.open, ".git/hooks/pre-commit", os.O_WRONLY | os.O_CREAT)
for i in range(2):
    with open(".git/config", "a") as f:
        f.write("[user]\\n\\tname = x\\n")
""", "--consent=deny")
    equal(found["denied"], {"create": 4})
    equal((found["asked"], found["approved"]), ({}, {}))
    equal(found["allowed"]["modify"] - none["allowed"].get("modify", 0), 2)


run_all()
