#!/usr/bin/env python3
"""A project that brings its own servers and hooks, as somebody else's may: in tmux, with the agents that ask about that.

Under sandbash it is trusted for the run, and they run, confined.  Nothing of that is kept: a session outside asks
afterwards, and until a person has said yes there, neither is run.
"""

import json

from model import Say
from pane import Pane
from person import Person
from real import SECONDS
from seat import answer, begin, leave, type_prompt
from tap import equal, run_all, test
from turn import DONE, begun

UP, DOWN, ENTER = "\x1b[A", "\x1b[B", "\r"
SERVED, HOOKED = "served", "hooked"  # a run of each leaves its file
SERVER = {"command": "/bin/sh", "args": ["-c", f"echo x >> {SERVED}; exec cat"]}
HOOKS = {"SessionStart": [{"hooks": [{"type": "command", "command": f"echo x >> {HOOKED}"}]}]}
TOML = f"""[mcp_servers.theirs]
command = "/bin/sh"
args = {json.dumps(SERVER["args"])}
[[hooks.SessionStart]]
[[hooks.SessionStart.hooks]]
type = "command"
command = "echo x >> {HOOKED}"
"""
FILES = {
    "claude": {".mcp.json": json.dumps({"mcpServers": {"theirs": SERVER}}),
               ".claude/settings.json": json.dumps({"hooks": HOOKS})},
    "codex": {".codex/config.toml": TOML},
    "gemini": {".gemini/settings.json": json.dumps({"mcpServers": {"theirs": SERVER}, "hooks": HOOKS})},
}
OUTSIDE = r"[Tt]rust (this|the files in this) folder|one you trust"
SERVER_FOUND, REVIEW = "New MCP server found", "Hooks need review"
# what each asks inside, and outside, and the keys for a yes
ASKS_INSIDE = {"claude": [(SERVER_FOUND, [UP, UP, ENTER])],
               # it cannot save that a hook is trusted: then it goes on without
               "codex": [(REVIEW, ["2", ENTER]), ("Failed to trust hooks", ["3", ENTER])], "gemini": []}
ASKS_OUTSIDE = {"claude": [(OUTSIDE, [DOWN, ENTER]), (SERVER_FOUND, [UP, UP, ENTER])],
                "codex": [(OUTSIDE, [ENTER]), (REVIEW, ["2", ENTER])], "gemini": [(OUTSIDE, [ENTER])]}


def ran(fx):
    return [name for name in (SERVED, HOOKED) if fx.exists(name)]


def say_yes(session, person, asks):
    for text, keys in asks:
        begin(session, person, text)
        for key in keys:
            person.term.settle(0.5, 2.0)
            person.term.send(key)


def forgets(name):
    def once_more(fx):
        with begun(fx, name, [Say(DONE)]) as session:
            for path, text in FILES[name].items():
                fx.write(path, text)
            person = session.person()
            say_yes(session, person, ASKS_INSIDE[name])
            if name == "claude":  # it would save that
                answer(person, "2", "/.claude/settings.local.json", "enabledMcpjsonServers")
            begin(session, person)
            type_prompt(session, person)
            person.until(lambda: DONE in person.term.screen(), "no last word", SECONDS)
            runs = [SERVED] if name == "codex" else [SERVED, HOOKED]
            person.until(lambda: ran(fx) == runs, "inside, it is trusted", SECONDS)
            leave(session, person)
            person.term.hang_up()
            equal(session.left(), {}, "nothing is left running")
            for mark in ran(fx):
                fx.path(mark).unlink()

            words = session.words(session.agent.on_terminal)
            person = Person.at(fx, Pane(fx, words, session.environment()))
            begin(session, person, OUTSIDE)
            equal(ran(fx), [], "before it is trusted outside")
            say_yes(session, person, ASKS_OUTSIDE[name])
            person.until(lambda: ran(fx), "a yes outside, the control", SECONDS)
            person.term.hang_up()
    return once_more


for agent in FILES:
    test(f"{agent}: outside, it asks whether the project is trusted, after a run, too")(forgets(agent))
run_all()
