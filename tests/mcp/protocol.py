"""protocol.py - framing, JSON-RPC, both eras: the right answer to every kind of message."""

import fcntl
import json
import os
import subprocess
import sys
import termios
from pathlib import Path

from mcp import LEGACY, META, MODERN, Server
from tap import BIN, PATIENCE, check, contains, equal, run_all, test, wait

PARSE, REQUEST, METHOD, PARAMS = -32700, -32600, -32601, -32602
GET_PIPE_SIZE = 1032  # F_GETPIPE_SZ: fcntl has it since Python 3.10
OLD = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


def orphan_code(server, data):
    server.raw(data)
    return server.orphan()["error"]["code"]


def is_well(server):
    """It still understands what follows."""
    server.fx.write("well.txt", "well")
    equal(server.data("read_text_file", path="well.txt")["content"], "well")


@test("legacy: every revision is answered with itself, an unknown one with the newest")
def revisions(fx):
    for version in OLD:
        server = Server(fx, version=version)
        equal(server.hello["protocolVersion"], version)
        equal(server.hello["serverInfo"]["name"], "sandbash")
        is_well(server)
    equal(Server(fx, version="1999-01-01").hello["protocolVersion"], LEGACY)


@test("legacy: nothing before initialize but ping; not twice")
def before_initialize(fx):
    server = Server(fx, start=False)
    equal(server.request("ping"), {})
    equal(server.error("tools/list")["code"], REQUEST)
    equal(server.error("initialize", {})["code"], PARAMS)
    server.request("initialize", {"protocolVersion": LEGACY, "capabilities": {},
                                  "clientInfo": {"name": "t", "version": "1"}})
    equal(server.error("initialize", {"protocolVersion": LEGACY})["code"], REQUEST)
    is_well(server)


@test("modern: discover, resultType, cache fields, server info; no initialize, no ping")
def modern(fx):
    server = Server(fx, era="modern")
    found = server.request("server/discover")
    contains(found["supportedVersions"], MODERN)
    equal((found["resultType"], found["cacheScope"]), ("complete", "private"))
    check(isinstance(found["ttlMs"], int))
    equal(found["_meta"][META + "serverInfo"]["name"], "sandbash")
    for method in ("tools/list", "resources/list", "resources/templates/list"):
        result = server.request(method)
        equal((result["resultType"], result["cacheScope"]), ("complete", "private"), method)
    for method in ("ping", "initialize", "prompts/list", "subscriptions/listen"):
        equal(server.error(method)["code"], METHOD, method)
    is_well(server)


@test("modern: an unknown revision is -32022 and says which there are")
def unknown_revision(fx):
    server = Server(fx, era="modern")
    error = server.error("server/discover", {"_meta": {META + "protocolVersion": "2099-01-01"}})
    equal(error["code"], -32022)
    equal(error["data"], {"supported": [MODERN], "requested": "2099-01-01"})


@test("modern: an envelope without capabilities, or with wrong types, is -32602")
def bad_envelope(fx):
    server = Server(fx, start=False)
    version = {META + "protocolVersion": MODERN}
    equal(server.error("tools/list", {"_meta": version})["code"], PARAMS)
    equal(server.error("tools/list", {"_meta": {META + "protocolVersion": 7}})["code"], PARAMS)
    equal(server.error("tools/list", {"_meta": {**version, META + "clientCapabilities": 1}})
          ["code"], PARAMS)
    equal(server.error("server/discover")["code"], PARAMS)


@test("no valid JSON is -32700, and what follows is understood")
def malformed(fx):
    server = Server(fx)
    for data in (b"{", b"nonsense", b'{"a":1}}', b'{"a":1,"a":2}', b'"\xff"', b"\xc3\x28",
                 b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}', b"1e999",
                 b'{"id":99999999999999999999999}', b"[" * 100 + b"]" * 100,
                 b'{"a":' * 5000 + b"1" + b"}" * 5000, b'{"x":"\\ud800"}', b"\x00", b"{\x00}"):
        equal(orphan_code(server, data + b"\n"), PARSE, repr(data[:40]))
    is_well(server)


@test("valid JSON that is no message is -32600")
def no_message(fx):
    server = Server(fx)
    for value in (1, "x", True, {}, {"jsonrpc": "2.0"}, {"jsonrpc": "1.0", "method": "ping"},
                  {"jsonrpc": "2.0", "id": None, "method": "ping"},
                  {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
                  {"jsonrpc": "2.0", "id": {}, "method": "ping"},
                  {"jsonrpc": "2.0", "method": 5}, {"jsonrpc": "2.0", "result": 1, "error": {}}):
        equal(orphan_code(server, json.dumps(value).encode() + b"\n"), REQUEST, str(value))
    is_well(server)


@test("params that are no object are -32602; unknown methods -32601")
def wrong_params(fx):
    server = Server(fx)
    for number, params in enumerate(([], "x", 1)):
        server.send({"jsonrpc": "2.0", "id": f"p{number}", "method": "ping", "params": params})
        equal(server.wait(f"p{number}")["error"]["code"], PARAMS)
    equal(server.error("no/such")["code"], METHOD)
    equal(server.error("tools/call", {})["code"], PARAMS)
    equal(server.error("tools/call", {"name": "no_such"})["code"], PARAMS)
    equal(server.error("tools/call", {"name": 7})["code"], PARAMS)
    equal(server.error("tools/call", {"name": "grep", "arguments": []})["code"], PARAMS)
    equal(server.error("tools/list", {"cursor": "x"})["code"], PARAMS)
    equal(server.error("resources/read", {"uri": "sandbash://none"})["code"], -32002)
    server.send({"jsonrpc": "2.0", "id": "m", "method": "ping", "params": {"_meta": 5}})
    equal(server.wait("m")["error"]["code"], PARAMS)
    is_well(server)


@test("a line that is too long is refused without being kept, and skipped to its end")
def too_long(fx):
    server = Server(fx)
    for _ in range(40):
        server.raw(b"x" * (1024 * 1024))
    server.raw(b"\n")
    equal(server.orphan()["error"]["code"], REQUEST)
    is_well(server)
    status = open(f"/proc/{server.process.pid}/status", encoding="utf-8").read()
    peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
    check(peak < 150 * 1024, f"{peak} kB at the peak")


@test("messages come in pieces, several at once, with \\r\\n and empty lines between")
def pieces(fx):
    server = Server(fx)
    line = json.dumps({"jsonrpc": "2.0", "id": "slow", "method": "ping"}).encode()
    for byte in line:
        server.raw(bytes([byte]))
    server.raw(b"\r\n\n\r\n")
    equal(server.wait("slow")["result"], {})
    many = [json.dumps({"jsonrpc": "2.0", "id": f"m{i}", "method": "ping"}) for i in range(500)]
    server.raw("\n".join(many).encode() + b"\n")
    for i in range(500):
        server.wait(f"m{i}")


@test("ids: strings and integers come back as they are; one in use is refused")
def ids(fx):
    server = Server(fx)
    for number in (0, -1, 2**53, "x", "", "é\n"):
        server.send({"jsonrpc": "2.0", "id": number, "method": "ping"})
        equal(server.wait(number)["id"], number)
    begun = server.begin("tools/call", {"name": "run_command", "arguments": {"command": "sleep 1005"}})
    server.send({"jsonrpc": "2.0", "id": begun, "method": "ping"})
    equal(server.orphan()["error"]["code"], REQUEST)
    server.notify("notifications/cancelled", {"requestId": begun})
    is_well(server)
    check(not server.replies.get(begun), "a cancelled call was answered")


@test("batches: one answer each in one array up to 2025-03-26, refused later")
def batches(fx):
    server = Server(fx, version="2025-03-26")
    batch = [{"jsonrpc": "2.0", "id": "a", "method": "ping"},
             {"jsonrpc": "2.0", "method": "notifications/none"},
             {"jsonrpc": "2.0", "id": "b", "method": "tools/call",
              "params": {"name": "list_allowed_directories"}}, 5]
    server.send(batch)
    equal(server.wait("a")["result"], {})
    contains(str(server.wait("b")["result"]), str(fx.project))
    equal(server.orphan()["error"]["code"], REQUEST)
    equal(orphan_code(server, b"[]\n"), REQUEST)
    equal(orphan_code(Server(fx), json.dumps(batch).encode() + b"\n"), REQUEST)


@test("a client that is gone, or goes in the middle of a call, ends the server")
def gone(fx):
    server = Server(fx)
    server.begin("tools/call", {"name": "run_command", "arguments": {"command": "sleep 1060"}})
    wait(lambda: any("sleep" in line for line in left(fx)), "the command does not run")
    equal(server.end(), 0)
    all_go(fx)


def all_go(fx):
    wait(lambda: not left(fx), lambda: f"still there: {left(fx)}")


def left(fx):
    """Processes that stand in the fixture."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and os.readlink(process / "cwd").startswith(str(fx.dir)):
                found.append((process / "cmdline").read_text())
        except OSError:
            pass
    return found


@test("a server that is killed takes its commands with it")
def killed(fx):
    server = Server(fx)
    server.begin("tools/call", {"name": "run_command",
                                "arguments": {"command": "sleep 1061 & sleep 1062"}})
    wait(lambda: len([line for line in left(fx) if "sleep" in line]) >= 2, "the command does not run")
    server.process.kill()
    server.process.wait()
    all_go(fx)


@test("requests that standard input ends with are still answered")
def last_requests(fx):
    fx.write("a.txt", "text")
    lines = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
             {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
              "params": {"name": "read_text_file", "arguments": {"path": "a.txt"}}}]
    done = subprocess.run([str(BIN), "--mcp"], cwd=fx.project, env=fx.env(), capture_output=True,
                          input="\n".join(map(json.dumps, lines)).encode() + b"\n", timeout=PATIENCE,
                          check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    equal([answer["id"] for answer in answers], [1, 2])
    equal(done.returncode, 0)


@test("a client that does not read for a while gets everything, whole")
def slow_reader(fx):
    fx.write("long.txt", "".join(f"line {i}\n" for i in range(20000)))
    text = fx.read("long.txt")
    server = Server(fx)
    server.paused.set()
    calls = [server.begin("tools/call", {"name": "read_text_file", "arguments": {"path": "long.txt"}})
             for _ in range(20)]  # many times what a pipe holds
    out = server.process.stdout.fileno()
    half = fcntl.fcntl(out, GET_PIPE_SIZE) // 2
    wait(lambda: int.from_bytes(fcntl.ioctl(out, termios.FIONREAD, bytes(4)), sys.byteorder) >= half, "nothing is written")
    server.paused.clear()
    for number in calls:
        equal(server.wait(number)["result"]["structuredContent"]["content"], text)
    is_well(server)


@test("calls that take long keep neither the client nor each other waiting")
def busy(fx):
    fx.write("large.txt", ("abcdefghij" * 20 + "\n") * 200000)
    fx.write("small.txt", "x1\n")
    server = Server(fx)
    slow = {"pattern": "[a-z]+[a-z]+[0-9]", "path": "large.txt"}  # tries every pair in each line
    begun = server.begin("tools/call", {"name": "grep", "arguments": slow})
    equal(server.data("read_text_file", path="small.txt")["content"], "x1\n")
    check(not server.replies.get(begun), "the slow call was not slow")
    many = [begun] + [server.begin("tools/call", {"name": "grep", "arguments": slow})
                      for _ in range(30)]  # more than there are threads
    equal(server.request("ping"), {})
    check(not any(server.replies.get(number) for number in many), "the slow calls were not slow")
    for number in many:
        server.notify("notifications/cancelled", {"requestId": number})
    is_well(server)
    check(not any(server.replies.get(number) for number in many), "a cancelled call was answered")


@test("starting and asking what there is leaves nothing behind, and takes milliseconds")
def throw_away(fx):
    before = fx.snapshot()
    server = Server(fx, era="modern")
    server.request("server/discover")
    with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as stat:  # utime and stime: not what others took
        took = sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    server.request("tools/list")
    server.close()
    check(took < 0.5, f"{took} s")
    equal(fx.snapshot(), before)


@test("usage mistakes are told on standard error, with nothing on standard output")
def usage(fx):
    for words in (("--mcp", "--no-such"), ("--mcp", "no/such/directory"), ("--mcp", "--mode=x")):
        done = fx.sandbash(*words, input="")
        check(done.status not in (0, None) and done.stderr and not done.stdout, str(done))


run_all()
