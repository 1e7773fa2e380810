#!/usr/bin/env python3
"""The coding agents themselves as clients of sandbash-mcp, after "sandbash --setup AGENT --apply".

The model calls the server's tools instead of the agent's own: a file, a command, a commit, and both damages.
Without a terminal both are refused.  On one, agents that show a server's questions (elicitation) ask: a yes and
a no reach the server.
"""

import re

from model import Say, Tool
from real import SECONDS, SET_UP
from seat import begin, type_prompt
from tap import check, contains, equal, lacks, run_all, test
from turn import COMMIT, DONE, HOOK, begun, damage, ended

DOWN, RIGHT, ENTER = "\x1b[B", "\x1b[C", "\r"
# what the form shows, the keys for "Allow once", and those for a no
FORMS = {"claude": ("requests your input", [RIGHT, ENTER, ENTER], [DOWN, DOWN, ENTER]),
         "codex": ("What the agent may do", [ENTER], [DOWN, ENTER])}
# what codex asks about every server's tool before it calls it
OWN = "Allow the sandbash MCP server to run tool"


def command(shell):
    return Tool("run_command", {"command": shell.command})


def write(path):
    return Tool("write_file", {"path": str(path), "content": "made\n"})


def client(name):
    def as_client(fx):
        steps = [write("made.txt"), command(COMMIT), write(fx.home / "outside.txt"), command(HOOK),
                 Say(DONE)]
        with begun(fx, name, steps) as session:
            session.set_up()
            ended(session.native())
            seen = session.model.seen
            equal(fx.read("made.txt"), "made\n", "a file of the server's tool")
            contains(fx.run("git", "log", "--format=%s").stdout, "turn", f"git commit: {seen[1]}")
            equal(damage(fx), [], "neither damage is done")
            check(re.search("DENIED|PATH_OUTSIDE_PROJECT", seen[2]), f"the model is told: {seen[2]}")
            contains(seen[3], "Permission denied", "the model is told")
            lacks(seen[3], "PLANTED")
            equal(session.left(), {}, "nothing is left running")
    return as_client


def arguments(session):
    """codex shows questions only where it may ask itself; that it trusts hook and project is no part of this."""
    if session.agent.name != "codex":
        return session.agent.on_terminal
    trusts = f'projects={{"{session.fx.project}"={{trust_level="trusted"}}}}'
    return ["--ask-for-approval=on-request", "--dangerously-bypass-hook-trust", f"--config={trusts}"]


def fill_in(session, person, path, keys):
    form = FORMS[session.agent.name][0]

    def shows():
        screen = person.term.screen()
        if OWN in screen:
            person.term.settle(0.5, 2.0)
            person.term.send(ENTER)
            person.until(lambda: OWN not in person.term.screen(), "its own question stays", SECONDS)
        return form in screen and path in screen

    person.until(shows, f"no question about {path}", SECONDS)
    for key in keys:
        person.term.settle(0.5, 2.0)
        person.term.send(key)
    person.until(lambda: not shows(), "the question stays", SECONDS)


def elicited(name):
    def asks(fx):
        steps = [write(fx.home / "allowed"), write(fx.home / "outside.txt"), command(HOOK), Say(DONE)]
        _, yes, no = FORMS[name]
        with begun(fx, name, steps) as session:
            session.set_up()
            person = session.person_alone(*arguments(session))
            begin(session, person)
            type_prompt(session, person)
            fill_in(session, person, "/allowed", yes)
            fill_in(session, person, "/outside.txt", no)
            fill_in(session, person, "/.git/hooks/", no)
            person.until(lambda: len(session.model.seen) == 3, "it does not go on", SECONDS)
            equal((fx.home / "allowed").read_text(), "made\n", "a yes")
            equal(damage(fx), [], "a no")
            contains(session.model.seen[1], "DENIED", "the model is told")
            contains(session.model.seen[2], "Permission denied", "the model is told")
            person.term.hang_up()
            equal(session.left(60), {}, "nothing is left running")
    return asks


for agent in SET_UP:
    test(f"{agent}: a whole turn as client of sandbash-mcp")(client(agent))
    if agent in FORMS:
        test(f"{agent}: questions of sandbash-mcp on its screen")(elicited(agent))
run_all()
