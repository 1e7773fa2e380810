"""clients.py - real clients, pinned: the SDK's (legacy), the v2 client (modern), the Inspector.

They lie in BUILD/npm (scripts/npm); their scripts are in tests/mcp/node.
"""

import json
import os
import shutil
import subprocess

from tap import BIN, check, contains, equal, run_all, skip, test

NPM = BIN.parent / "npm"
INSPECTOR = NPM / "node_modules/@modelcontextprotocol/inspector/cli/build/cli.js"


def node(fx, *words, timeout=120, **where):
    program = shutil.which("node")
    if not program or not (NPM / "installed").exists():
        skip("no node, or no packages (scripts/npm BUILD)")
    where.setdefault("env", {"PATH": os.environ["PATH"]})
    return fx.run(program, *words, timeout=timeout, **where)


def passes(fx, script, *flags):
    done = node(fx, NPM / script, BIN, fx.project, fx.outside, *flags)
    equal((done.status, done.stdout), (0, "done\n"), done.stderr[-3000:])


@test("the official SDK's client passes end to end, consent included")
def legacy(fx):
    passes(fx, "legacy.mjs")


@test("the v2 client passes end to end in the era of 2026-07-28, consent included")
def modern(fx):
    passes(fx, "modern.mjs")


def inspect(fx, *words):
    done = node(fx, INSPECTOR, "--cli", BIN, "--mcp", *words)
    equal(done.status, 0, done.stderr[-2000:])
    return json.loads(done.stdout)


@test("the Inspector lists and calls tools and reads resources")
def inspector(fx):
    fx.write("a.txt", "text\n")
    names = [tool["name"] for tool in inspect(fx, "--method", "tools/list")["tools"]]
    contains(names, "run_command")
    result = inspect(fx, "--method", "tools/call", "--tool-name", "read_text_file", "--tool-arg",
                     "path=a.txt", "head=1")
    equal(result["structuredContent"]["content"], "text\n")
    result = inspect(fx, "--method", "tools/call", "--tool-name", "run_command", "--tool-arg",
                     "command=exit 3")
    equal(result["structuredContent"]["exitCode"], 3)
    contains(str(inspect(fx, "--method", "resources/list")), "sandbash://policy")
    contains(str(inspect(fx, "--method", "resources/read", "--uri", "sandbash://policy")), "write")


run_all()
