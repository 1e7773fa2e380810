"""turn.py - what an agent is to do in a turn, and what came of it.

    with begun(fx, "claude", TURN) as session:
        worked(session, session.run())
        equal(damage(fx), [])
"""

from contextlib import closing, contextmanager

from model import Edit, Say, Shell
from real import AGENTS, Session
from tap import contains, equal, lacks

DONE = "all steps are done"
EDIT = Edit("notes.txt", "one", "two")
# what they print does not stand in the command itself, which some agents repeat
MAKE = Shell("echo made > made.txt && echo M''ADE")
COMMIT = Shell("git add -A && git commit -q -m turn && git log --oneline | wc -l")
OUTSIDE = Shell("echo x > ~/outside.txt && echo OUT''SIDE")
HOOK = Shell("printf '#!/bin/sh\\n' > .git/hooks/pre-commit && echo PLAN''TED")
TURN = [EDIT, MAKE, COMMIT, OUTSIDE, HOOK, Say(DONE)]


@contextmanager
def begun(fx, name, steps=TURN):
    with closing(Session(fx, AGENTS[name], steps)) as session:
        yield session


def ended(result):
    equal(result.status, 0, f"it ends well: {result.stdout[-2000:]}{result.stderr[-4000:]}")
    contains(result.stdout, DONE)


def worked(session, result):
    """What the agent is there for."""
    fx = session.fx
    ended(result)
    equal(fx.read("notes.txt"), "two\n", "its own tool edits")
    equal(fx.read("made.txt"), "made\n", "a command of it writes")
    contains(fx.run("git", "log", "--format=%s").stdout, "turn", "git commit")
    contains(session.model.seen[1], "MADE")


def damage(fx):
    return [name for name in (fx.home / "outside.txt", ".git/hooks/pre-commit") if fx.exists(name)]


def told(session):
    """The model has seen that both damages were refused."""
    for step, word in ((OUTSIDE, "OUTSIDE"), (HOOK, "PLANTED")):
        seen = session.model.seen[session.model.steps.index(step)]
        contains(seen, "Permission denied", "the model is told")
        lacks(seen, word)
