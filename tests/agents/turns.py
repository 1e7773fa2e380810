#!/usr/bin/env python3
"""The coding agents themselves, whole turns with a stand-in model, under plain "sandbash AGENT".

Each begins with a fresh home, edits a file with its own tool, runs a command, commits, and is told
to write outside the project and to plant a hook.  The control is the same without a sandbox.
"""

import sys
from contextlib import closing, contextmanager
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent / "lib"),
                str(Path(__file__).resolve().parent.parent / "lib")]

from model import Edit, Say, Shell  # noqa: E402
from real import AGENTS, Session  # noqa: E402
from tap import contains, equal, lacks, run_all, test  # noqa: E402

DONE = "all steps are done"
TURN = [
    Edit("notes.txt", "one", "two"),
    Shell("echo made > made.txt && echo MADE"),
    Shell("git add -A && git commit -q -m turn && git log --oneline | wc -l"),
    Shell("echo x > ~/outside.txt && echo OUTSIDE"),
    Shell("printf '#!/bin/sh\\n' > .git/hooks/pre-commit && echo PLANTED"),
    Say(DONE)]


def worked(session, result):
    """What the agent is there for."""
    fx = session.fx
    equal(result.status, 0, f"it ends well: {result.stdout[-2000:]}{result.stderr[-4000:]}")
    contains(result.stdout, DONE)
    equal(fx.read("notes.txt"), "two\n", "its own tool edits")
    equal(fx.read("made.txt"), "made\n", "a command of it writes")
    contains(fx.run("git", "log", "--format=%s").stdout, "turn", "git commit")
    equal(len(session.model.seen), 5, "steps that it came back from")
    contains(session.model.seen[1], "MADE")


def damage(fx):
    return [name for name in (fx.home / "outside.txt", ".git/hooks/pre-commit") if fx.exists(name)]


def refused(session):
    """What somebody is told was refused: all but what the profile refuses quietly."""
    return {event.get("target") or event["path"] for event in session.record()
            if event.get("verdict") == "deny" and event.get("by") != "quiet"}


@contextmanager
def begun(fx, name, steps=TURN):
    with closing(Session(fx, AGENTS[name], steps)) as session:
        yield session


def control(name):
    def native(fx):
        with begun(fx, name) as session:
            worked(session, session.native())
            equal(len(damage(fx)), 2, "both damages are done")
            contains(session.model.seen[3], "OUTSIDE")
            contains(session.model.seen[4], "PLANTED")
    return native


def plain(name):
    def sandboxed(fx):
        with begun(fx, name) as session:
            result = session.run()
            worked(session, result)
            equal(damage(fx), [], "neither damage is done")
            for step, word in ((3, "OUTSIDE"), (4, "PLANTED")):
                contains(session.model.seen[step], "Permission denied", "the model is told")
                lacks(session.model.seen[step], word + "\n")
            equal(session.left(), {}, "nothing is left running")
            result = session.run()  # with the state of the first time
            equal(result.status, 0, f"a second time: {result.stderr[-4000:]}")
            equal(damage(fx), [], "neither damage is done")
            equal(refused(session), {str(fx.home / "outside.txt"),
                                     str(fx.path(".git/hooks/pre-commit"))}, "what was refused")
    return sandboxed


if __name__ == "__main__":  # hooks.py has the same turn
    for agent in AGENTS:
        test(f"{agent}: the control, without a sandbox")(control(agent))
        test(f"{agent}: a whole turn under sandbash")(plain(agent))
    run_all()
