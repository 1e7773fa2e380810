"""log.py - R1, R2: the record of runs, read back: --log, --verify, --prune, --follow, --stats.

The files are made by tests/lib/write_events.c, which writes as a supervisor does.
"""

import fcntl
import json
import os
import random
import re
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

from tap import BIN, PATIENCE, check, contains, equal, is_record, lacks, run_all, skip, test, wait

EXIT_USAGE, EXIT_BROKEN = 2, 1
SESSION = re.compile(r"\d{8}T\d{6}-\d+-[0-9a-f]{4}")


def state(fx):
    return fx.home / ".local" / "state" / "sandbash"


def file_of(fx, session):
    return state(fx) / "log" / f"{session}.jsonl"


def write(fx, *words, status=0, directory=None):
    """Write a session; returns its id."""
    result = fx.run(fx.tool("write-events"), directory or state(fx), *words)
    equal(result.status, status, result.stderr)
    return result.stdout.splitlines()[-1]


def log(fx, *words, status=0, **where):
    result = fx.sandbash("--log", *words, **where)
    equal((result.status, result.stderr), (status, ""), str(words))
    return result.stdout.splitlines()


def events(fx, *words, **where):
    """The records that --log prints, as dictionaries."""
    return [json.loads(line) for line in log(fx, "--json", *words, **where)]


def verify(fx, *words, status=0):
    text = "\n".join(log(fx, "--verify", *words, status=status))
    found = fx.sandbash("--log", "--verify", "--json", *words)
    equal(found.status, status)
    return text, json.loads(found.stdout)


# --- printing -----------------------------------------------------------------------------------


@test("R1 no log yet: nothing is printed, nothing is made, exit 0")
def nothing_yet(fx):
    before = fx.snapshot()
    equal(log(fx), [])
    equal(log(fx, "--json"), [])
    contains(log(fx, "--verify")[0], "0 sessions, 0 records")
    contains(log(fx, "--prune")[0], "0 sessions removed")
    equal(json.loads(fx.sandbash("--stats", "--json").stdout)["sessions"], 0)
    equal(fx.snapshot(), before)


@test("R1 sessions are merged by time, each in its own order")
def merged(fx):
    tool = str(fx.tool("write-events"))
    writers = [fx.start(tool, state(fx), "path=/" + name, "deny", "wait", "deny", "wait", "exit",
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
               for name in "abc"]
    for _ in range(2):
        for writer in writers:
            check(SESSION.fullmatch(writer.stdout.readline().strip()), "no session id")
        for writer in writers[::-1]:
            writer.stdin.write("\n")
            writer.stdin.flush()
            if writer is not writers[0]:
                time.sleep(0.01)
    for writer in writers:
        equal(writer.wait(PATIENCE), 0)
        writer.stdin.close()
        writer.stdout.close()
    found = events(fx)
    equal(len(found), 9)
    equal([e["time"] for e in found], sorted(e["time"] for e in found))
    for session in {e["session"] for e in found}:
        equal([e["seq"] for e in found if e["session"] == session], [1, 2, 3])
    check([e["session"] for e in found] != sorted(e["session"] for e in found), "not interleaved")
    equal(len(log(fx)), 9)


@test("R1 every record has version, time, number, session, event and hash, in this order")
def fields(fx):
    session = write(fx, "name=job", "directory=/d", "start", "directory=", "path=/x", "op=create",
                    "verdict=deny", "deny", "exit")
    lines = file_of(fx, session).read_text().splitlines()
    for number, line in enumerate(lines, 1):
        keys = list(json.loads(line))
        equal(keys[:5], ["v", "time", "seq", "session", "event"])
        equal(keys[-1], "hash")
        equal(json.loads(line)["seq"], number)
        check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", json.loads(line)["time"]), line)
    equal(lines, log(fx, "--json"))
    equal(json.loads(lines[0])["name"], "job")


@test("R1 the log is its owner's alone")
def private(fx):
    os.umask(0)
    try:
        session = write(fx, "start")
    finally:
        os.umask(0o022)
    equal(file_of(fx, session).stat().st_mode & 0o7777, 0o600)
    equal((state(fx) / "log").stat().st_mode & 0o7777, 0o700)


@test("R1 what a program put into a path cannot steer the terminal, and comes back whole")
def escapes(fx):
    path = b"/a\x1b]0;x\x07\n\xff\xc3\x28\xe2\x80\xae\"\\"
    write(fx, b"path=" + path, "rule=\u202eevil\x9b", b"program=\xff", "op=create", "deny")
    text, = log(fx)
    check(all(c.isprintable() for c in text), repr(text))
    contains(text, r"/a\e]0;x\x07\n\xff")
    found, = events(fx)
    equal(os.fsencode(found["path"]), path)
    raw = log(fx, "--json")[0]
    check(raw.isascii() or all(c.isprintable() for c in raw), repr(raw))


@test("R1 text: each kind of event says what it is about")
def texts(fx):
    write(fx, "name=job", "directory=/d", "mode=read-only", "layers=Landlock ABI 7", "policy=00ff",
          "start", "directory=", "mode=", "layers=", "policy=", "question=3", "op=delete",
          "act=rename", "path=/p/a", "target=/p/b", "program=mv", "process=42", "rule=the rule",
          "ask", "verdict=deny", "answer=deny", "by=terminal", "answer", "error=13", "deny",
          "status=7", "exit")
    lines = log(fx)
    contains(lines[0], "'job' make 'a b' ")
    contains(lines[0], "in /d; mode read-only; layers: Landlock ABI 7; policy 00ff")
    contains(lines[1], "#3 delete (rename) /p/a -> /p/b, program mv, process 42; rule: the rule")
    contains(lines[2], ": deny (deny), by terminal")
    contains(lines[3], "Permission denied")
    contains(lines[4], "exit    status 7; seen ")


# --- filters ------------------------------------------------------------------------------------


@test("R1 filters: session by id, by the end of the id, by name")
def by_session(fx):
    first = write(fx, "name=first job", "start", "path=/1", "deny")
    second = write(fx, "start", "path=/2", "deny", "exit")
    for wanted in (first, first.split("-", 1)[1], "first job"):
        equal({e["session"] for e in events(fx, f"--log-session={wanted}")}, {first})
    equal({e["session"] for e in events(fx, "--log-session", second)}, {second})
    equal(events(fx, "--log-session=nosuch"), [])
    text, found = verify(fx, "--log-session=first job")
    equal([s["session"] for s in found["sessions"]], [first])
    equal(json.loads(fx.sandbash("--stats", "--json", "--log-session=first job").stdout)["sessions"],
          1)


@test("R1 filters: a path or beneath it, also as a target, through links and relative")
def by_path(fx):
    place = fx.outside / "d"
    place.mkdir()
    (fx.project / "link").symlink_to(place)
    write(fx, f"path={place}", "deny", f"path={place}/x", "deny", f"path={place}x", "deny",
          "path=/else", f"target={place}/y", "deny", "target=", "deny", "path=", "start")
    want = [str(place), f"{place}/x", "/else"]
    for text in (place, f"{place}/", "link", "../project/link/.", f"{place}/../d"):
        equal([e["path"] for e in events(fx, f"--log-path={text}")], want, str(text))
    equal([e["path"] for e in events(fx, f"--log-path={place}/x")], [f"{place}/x"])
    equal(len(events(fx, "--log-path=/")), 5)


@test("R1 filters: a host, by its name, what lies beneath one, or its address")
def by_host(fx):
    write(fx, "path=/x", "deny", "path=", "op=connect", "protocol=tcp", "port=443", "host=a.example",
          "address=203.0.113.9", "tls_name=a.example", "sent=100", "received=2000", "milliseconds=30",
          "connect", "sent=1", "connect", "host=b.a.example", "address=", "tls_name=", "sent=0", "received=0",
          "milliseconds=0", "port=22", "deny", "host=10.1.2.3", "deny", "host=::1", "protocol=udp", "port=53", "deny")
    def hosts(text):
        return [e["host"] for e in events(fx, f"--log-host={text}")]
    equal(hosts("a.example"), ["a.example", "a.example"])
    equal(hosts("A.Example.:22"), ["a.example", "a.example"], "a port says nothing")
    equal(hosts("*.a.example"), ["b.a.example"])
    equal(hosts("*.example"), ["a.example", "a.example", "b.a.example"])
    equal(hosts("203.0.113.0/24"), ["a.example", "a.example"])
    equal(hosts("10.0.0.0/8"), ["10.1.2.3"])
    equal(hosts("localhost"), ["::1"])
    equal(hosts("example"), [])
    equal(len(events(fx, "--log-host=*.example", "--log-verdict=allow")), 2)
    result = fx.sandbash("--log", "--log-host=a/b")
    equal(result.status, 125, "no host")
    contains(result.stderr, "'a/b' is no host")
    contains("\n".join(log(fx, "--log-host=a.example")),
             "connect a.example:443/tcp at 203.0.113.9, TLS for a.example, 100 bytes sent, 2000 received, 30 ms")


@test("R2 --stats sums what hosts were sent and how often they were refused")
def stats_by_host(fx):
    write(fx, "op=connect", "protocol=tcp", "port=443", "host=a.example", "sent=100", "received=2000",
          "milliseconds=30", "connect", "connect", "error=111", "sent=0", "received=0", "connect", "error=0",
          "milliseconds=0", "host=\x1b[31m", "deny", "deny", "ask")
    write(fx, "op=connect", "protocol=tcp", "port=443", "host=a.example", "sent=1", "connect", "protocol=udp", "connect")
    found = json.loads(fx.sandbash("--stats", "--json").stdout)["hosts"]
    equal([(h["host"], h["connections"], h["refused"], h["asked"], h["sent"], h["received"]) for h in found],
          [("a.example:443", 3, 0, 0, 201, 4000), ("udp:a.example:443", 1, 0, 0, 1, 0),
           ("\x1b[31m:443", 0, 2, 1, 0, 0)])
    text = fx.sandbash("--stats").stdout
    contains(text, "a.example:443")
    lacks(text, "\x1b")


@test("R1 filters: the verdict, and all of them together")
def by_verdict(fx):
    write(fx, "path=/a", "deny", "verdict=allow", "answer", "verdict=deny", "answer", "verdict=",
          "perform", "grant", "ask", "start", "exit")
    equal([e["event"] for e in events(fx, "--log-verdict=deny")], ["deny", "answer"])
    equal([e["event"] for e in events(fx, "--log-verdict=allow")], ["answer", "perform", "grant"])
    equal(len(events(fx, "--log-verdict=allow", "--log-path=/a", "--since=1h")), 3)
    equal(events(fx, "--log-verdict=allow", "--log-path=/b"), [])


@test("R1 filters: since a time, or for a while")
def since(fx):
    old = file_of(fx, write(fx, "path=/old", "deny"))
    write(fx, "path=/new", "deny")
    for text in ("999s", "30m", "2h", "3d", "1w", "2020-01-01", "2020-02-29T10:00", "2020-01-01 10:00:01Z",
                 events(fx)[0]["time"]):
        equal(len(events(fx, f"--since={text}")), 2, text)
    for text in ("2100-01-01",):
        equal(events(fx, f"--since={text}"), [])
    then = events(fx)[0]["time"]
    old.write_text(old.read_text().replace(then, "2020" + then[4:]))
    for text in ("999s", "1w"):
        equal([e["path"] for e in events(fx, f"--since={text}")], ["/new"], text)
    equal(len(events(fx, "--since=2020-01-01")), 2)
    for text in ("x", "2h3", "h", "-1h", "2026", "2026-13-01", "2026-02-30", "2026-01-01T",
                 "2026-01-01x", "99999999999d", "2026-01-01T25:00"):
        result = fx.sandbash("--log", f"--since={text}")
        equal((result.status, result.stdout), (EXIT_USAGE, ""), text)
        contains(result.stderr, f"--since takes a time or a while, not '{text}'\nhint: ")


@test("S11 options of --log that do not go together are mistakes")
def wrong_options(fx):
    for words in (("--follow",), ("--verify",), ("--prune", "--status"), ("--since=1h",),
                  ("--log-session=x", "true"), ("--log-path=x", "--stats"), ("--log-host=x", "--stats"),
                  ("--log", "--verify", "--prune"), ("--log", "--follow", "--verify"),
                  ("--log", "--prune", "--follow"), ("--log", "--verify", "--since=1h"),
                  ("--log", "--prune", "--log-session=x"), ("--log", "--verify", "--log-path=/"),
                  ("--log", "--log-verdict=maybe"), ("--log", "--stats"), ("--log", "true"),
                  ("--stats", "true"), ("--log-path=a", "--log-path=b", "--log"),
                  ("--stats", "--follow")):
        result = fx.sandbash(*words)
        equal((result.status, result.stdout), (EXIT_USAGE, ""), str(words))


# --- --follow -----------------------------------------------------------------------------------


class Follower:
    def __init__(self, fx, *words):
        self.process = fx.start(BIN, "--log", "--follow", *words, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        self.text = b""

    def lines(self, count):
        """Wait for so many lines in all; returns them."""
        until = time.monotonic() + PATIENCE
        while self.text.count(b"\n") < count:
            left = until - time.monotonic()
            check(left > 0, f"{count} lines wanted, got {self.text!r}")
            if select.select([self.process.stdout], [], [], left)[0]:
                got = os.read(self.process.stdout.fileno(), 65536)
                check(got, f"it ended: {self.text!r}")
                self.text += got
        return self.text.decode().splitlines()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


@test("R1 --follow: from before there is a log, over new events and new sessions")
def follow(fx):
    follower = Follower(fx, "--json")
    try:
        time.sleep(0.2)
        first = fx.start(fx.tool("write-events"), state(fx), "path=/1", "deny", "wait", "path=/2",
                         "deny", "wait", "exit", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        equal([json.loads(line)["path"] for line in follower.lines(1)], ["/1"])
        write(fx, "path=/other", "deny")
        equal(json.loads(follower.lines(2)[-1])["path"], "/other")
        first.stdin.write(b"\n")
        first.stdin.flush()
        equal(json.loads(follower.lines(3)[-1])["path"], "/2")
        first.communicate(b"\n", timeout=PATIENCE)
        equal(json.loads(follower.lines(4)[-1])["event"], "exit")
        write(fx, "path=/n", "many=2000")
        equal(len(follower.lines(2004)), 2004)
        check(follower.process.poll() is None, "it ended")
    finally:
        follower.end()


@test("R1 --follow with filters; it ends when nobody reads")
def follow_filtered(fx):
    write(fx, "name=no", "start", "path=/x", "deny")
    follower = Follower(fx, "--log-session=yes", "--log-verdict=deny")
    try:
        time.sleep(0.3)
        write(fx, "name=no", "start", "path=/x", "deny")
        write(fx, "name=yes", "start", "path=/y", "deny")
        line, = follower.lines(1)
        contains(line, " /y")
        follower.process.stdout.close()
        wait(lambda: follower.process.poll() is not None, "it goes on for nobody")
    finally:
        follower.end()


# --- --verify -----------------------------------------------------------------------------------


@test("R1 --verify: what nobody touched holds")
def verify_good(fx):
    for i in range(3):
        write(fx, "start", f"path=/{i}", f"many={10 * i}", "exit")
    text, found = verify(fx)
    equal(text, "3 sessions, 36 records: every chain holds")
    equal((found["holds"], found["records"]), (True, 36))
    equal({s["state"] for s in found["sessions"]}, {"ended"})


@test("R1 --verify: edited, removed, inserted, repeated, moved and cut lines are named; exit 1")
def verify_tampered(fx):
    session = write(fx, "start", "path=/p", "many=5", "exit")
    path = file_of(fx, session)
    good = path.read_bytes()
    lines = good.splitlines(keepends=True)
    other = file_of(fx, write(fx, "start", "path=/p", "many=5", "exit")).read_bytes()

    def edited(number, old, new):
        changed = list(lines)
        check(old in changed[number - 1], "nothing to edit")
        changed[number - 1] = changed[number - 1].replace(old, new)
        return b"".join(changed)

    cases = (
        (edited(3, b'"/p1"', b'"/q1"'), 3, "record 3 was changed"),
        (edited(3, b'"deny"', b'"grant"'), 3, "record 3 was changed"),
        (edited(1, b'"start"', b'"grant"'), 1, "record 1 was changed"),
        (edited(7, b'"exit"', b'"deny"'), 7, "record 7 was changed"),
        (edited(4, b"}", b""), 4, "no record"),
        (edited(4, b'"seq":4', b'"seq":5'), 4, "record 4 is missing"),
        (b"".join(lines[1:]), 1, "record 1 is missing"),
        (b"".join(lines[:2] + lines[3:]), 3, "record 3 is missing before record 4"),
        (b"".join(lines[:2] + lines[5:]), 3, "records 3 to 5 are missing"),
        (b"".join(lines[:3] + [b"{}\n"] + lines[3:]), 4, "no record"),
        (b"".join(lines[:3] + [b"\n"] + lines[3:]), 4, "no record"),
        (b"".join(lines[:3] + lines[2:]), 4, "record 3 stands where record 4 belongs"),
        (b"".join([lines[0], lines[2], lines[1], *lines[3:]]), 2, "record 2 is missing"),
        (b"".join(lines[:3]) + lines[3][:50] + b"\n" + b"".join(lines[4:]), 4, "no record"),
        (b"".join(lines[:3]) + lines[3][:50] + b"".join(lines[4:]), 4, "no record"),
        (good + lines[0], 8, "record 1 stands where record 8 belongs"),
        (good + b"more\n", 8, "no record"),
        (other, 1, "another session"),
        (b"x" * 3_000_000 + b"\n" + good, 1, "no record"),
        (b"\0" * 100 + good[100:], 1, "no record"),
    )
    for content, number, what in cases:
        path.write_bytes(content)
        text, found = verify(fx, status=EXIT_BROKEN)
        contains(text, f"{path} line {number}: BROKEN: ")
        contains(text, what)
        contains(text.splitlines()[-1], "1 BROKEN")
        broken, = [s for s in found["sessions"] if not s["holds"]]
        equal((broken["session"], broken["line"]), (session, number), what)
        equal(found["holds"], False)
    path.write_bytes(good)
    verify(fx)


@test("R1 --verify: a torn end and a missing exit are told as such; a running session is neither")
def verify_ends(fx):
    session = write(fx, "start", "path=/p", "many=5", "exit")
    path = file_of(fx, session)
    good = path.read_bytes()
    path.write_bytes(good[:-20])
    text, found = verify(fx)
    contains(text, f"{path} line 7: torn")
    contains(text, f"{path}: no exit record")
    equal(found["sessions"][0]["torn_end"], True)
    result = fx.sandbash("--log")
    equal((result.status, len(result.stdout.splitlines())), (0, 6))
    equal(result.stderr, f"sandbash: warning: the record of session {session} ends in a torn line "
                         "(7), skipped\n")
    path.write_bytes(b"".join(good.splitlines(keepends=True)[:4]))
    text, found = verify(fx)
    contains(text, "no exit record")
    lacks(text, "torn")
    path.write_bytes(b"")
    text, found = verify(fx)
    contains(text, "no exit record")
    path.unlink()

    writer = fx.start(fx.tool("write-events"), state(fx), "start", "wait", "exit",
                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    writer.stdout.readline()
    text, found = verify(fx)
    equal(text, "1 sessions, 1 records: every chain holds")
    equal(found["sessions"][0]["state"], "running")
    writer.communicate(b"\n", timeout=PATIENCE)
    equal(verify(fx)[1]["sessions"][0]["state"], "ended")


@test("R1 --log skips what is no record, and says so")
def log_skips(fx):
    session = write(fx, "path=/a", "deny", "deny", "exit")
    path = file_of(fx, session)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"\x1b[2Jgarbage\n" + b"y" * 2_500_000 + b"\n" + lines[2])
    result = fx.sandbash("--log", "--json")
    equal([json.loads(line)["seq"] for line in result.stdout.splitlines()], [1, 3])
    equal(len(result.stderr.splitlines()), 2)
    contains(result.stderr, f"line 2 of session {session} is no record, skipped")
    contains(result.stderr, f"line 3 of session {session}")
    contains(fx.sandbash("--stats").stderr, "2 lines are no records")


@test("R1 other files beside the records do not matter")
def strangers(fx):
    session = write(fx, "path=/a", "deny", "exit")
    for name in ("notes", ".jsonl", "x.jsonl", "20261115T180301-1-9f3c", "\x1b[2J.jsonl"):
        (state(fx) / "log" / name).write_text("{}\n")
    os.mkfifo(state(fx) / "log" / "20261115T180301-1-9f3c.jsonl")
    (state(fx) / "log" / "20261115T180301-2-9f3c.jsonl").symlink_to("/etc/passwd")
    equal({e["session"] for e in events(fx)}, {session})
    equal(verify(fx)[1]["records"], 2)


# --- crashes and full disks ---------------------------------------------------------------------


@test("R1 200 writers at once lose nothing")
def concurrent(fx):
    tool = str(fx.tool("write-events"))
    writers = [fx.start(tool, state(fx), f"name=w{i}", "start", f"path=/{i}/", "many=20", "exit",
                        stdout=subprocess.DEVNULL) for i in range(200)]
    for writer in writers:
        equal(writer.wait(PATIENCE), 0)
    text, found = verify(fx)
    equal(text, "200 sessions, 4400 records: every chain holds")
    got = events(fx)
    equal(len(got), 4400)
    equal([e["time"] for e in got], sorted(e["time"] for e in got))
    equal(len({e["path"] for e in got if e["event"] == "deny"}), 4000)
    equal(len(events(fx, "--log-session=w77")), 22)


@test("R1 kill -9 at any moment leaves at worst a torn last line")
def killed(fx):
    tool = str(fx.tool("write-events"))
    longest = "/" + "p" * 4000
    for _ in range(60):
        writer = fx.start(tool, state(fx), "start", f"path={longest}", "forever",
                          stdout=subprocess.DEVNULL)
        time.sleep(random.uniform(0.001, 0.03))
        writer.kill()
        equal(writer.wait(), -signal.SIGKILL)
    text, found = verify(fx)
    equal(found["holds"], True)
    for session in found["sessions"]:
        equal(session["state"], "no exit record")
    result = fx.sandbash("--log", "--json", "--log-verdict=deny")
    equal(result.status, 0)
    got = sum(1 for line in result.stdout.splitlines() if json.loads(line)["event"] == "deny")
    equal(got, found["records"] - sum(1 for s in found["sessions"] if s["records"]))


@test("R1 a full disk: the writer is told, and what comes later can be verified")
def full(fx):
    session = write(fx, "start", "path=/" + "a" * 300, "many=3", "limit=2000", "many=4", "limit=0",
                    "path=/later", "deny", "exit", status=4)
    text, found = verify(fx)
    contains(text, "4 records could not be written")
    equal((found["sessions"][0]["lost"], found["sessions"][0]["torn"]), (4, 1))
    result = fx.sandbash("--log", "--json")
    equal([json.loads(line).get("lost", 0) for line in result.stdout.splitlines()],
          [0, 0, 0, 0, 4, 0])
    contains(result.stderr, "is no record, skipped")
    contains(fx.sandbash("--log").stdout, "[4 records before this could not be written]")
    # the torn piece is covered by the chain as well
    path = file_of(fx, session)
    good = path.read_bytes()
    path.write_bytes(good.replace(b"aaaa\n", b"aaab\n"))
    contains(verify(fx, status=EXIT_BROKEN)[0], "line 5: BROKEN: this line is no record")


@test("R1 a full disk, for real: a small tmpfs")
def full_tmpfs(fx):
    if fx.run("unshare", "-rm", "true").status != 0:
        skip("no mount namespace for this user")
    script = f"""
        set -e
        mkdir -p {state(fx)} && mount -t tmpfs -o size=64k none {state(fx)}
        "$1" {state(fx)} start path=/x many=20 > /dev/null
        dd if=/dev/zero of={state(fx)}/filler bs=1k 2> /dev/null || true
        mkfifo {fx.dir}/go
        "$1" {state(fx)} start path=/{'b' * 3000} many=3 wait path=/later deny exit \
            < {fx.dir}/go > {fx.dir}/out 2> {fx.dir}/err &
        exec 3> {fx.dir}/go
        until [ -s {fx.dir}/out ]; do sleep 0.05; done
        rm {state(fx)}/filler
        echo >&3
        wait $! || echo "failed writes: $?"
        cp -r {state(fx)}/log {fx.dir}/copy
    """
    result = fx.run("unshare", "-rm", "bash", "-c", script, "bash", fx.tool("write-events"))
    equal(result.status, 0, result.stderr)
    failed = int(re.search(r"failed writes: (\d+)", result.stdout).group(1))
    contains((fx.dir / "err").read_text(), "No space left on device")
    shutil.copytree(fx.dir / "copy", state(fx) / "log")
    text, found = verify(fx)
    equal(found["holds"], True)
    equal(sum(s["lost"] for s in found["sessions"]), failed)
    equal([e["path"] for e in map(json.loads, fx.sandbash("--log", "--json").stdout.splitlines())
           if e.get("lost")], ["/later"])


@test("R1 a state directory that cannot be written is an error, not a silence")
def unwritable(fx):
    blocked = fx.write("file", "")
    result = fx.run(fx.tool("write-events"), blocked, "start")
    equal(result.status, 125)
    contains(result.stderr, "Not a directory")


@test("R1 a run can change no record", variants=("full", "flat", "nested"))
def out_of_reach(fx):
    session = write(fx, "start", "exit")
    path = file_of(fx, session)
    before = path.read_bytes()
    forged = path.parent / "20261115T180301-1-9f3c.jsonl"
    for words in (("sh", "-c", f"echo x >> {path}"), ("rm", "-f", path), ("mv", path, "/tmp/x"),
                  ("touch", forged), ("truncate", "-s0", path)):
        check(fx.sandbash(*words).status != 0, str(words))
    equal(path.read_bytes(), before)
    check(not forged.exists())
    # each run has left its own record, and nothing but that
    check(all(is_record(other) for other in path.parent.iterdir()), str(os.listdir(path.parent)))
    equal(len(os.listdir(path.parent)), 6)


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
