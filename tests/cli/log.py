"""log.py - R1, R2: the record of runs, read back: --log, --verify, --follow.

The files are made by tests/lib/write_events.c, which writes as a supervisor does.
"""

import json
import os
import random
import re
import select
import shutil
import signal
import subprocess
import time

from log_files import events, file_of, log, state, write
from tap import BIN, PATIENCE, check, contains, equal, is_record, lacks, run_all, skip, test, wait

EXIT_USAGE, EXIT_BROKEN = 2, 1
SESSION = re.compile(r"\d{8}T\d{6}-\d+-[0-9a-f]{4}")


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


run_all()
