#!/usr/bin/env python3
"""The coding agents themselves, whole turns with a stand-in model, under plain "sandbash AGENT".

Each begins with a fresh home, edits a file with its own tool, runs a command, commits, and is told
to write outside the project and to plant a hook.  The control is the same without a sandbox.
"""

from real import AGENTS
from tap import contains, equal, run_all, test
from turn import begun, damage, told, worked


def refused(session):
    """What somebody is told was refused: all but what the profile refuses quietly."""
    return {event.get("target") or event.get("path") or event["host"] for event in session.record()
            if event.get("verdict") == "deny" and event.get("by") != "quiet"}


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
            worked(session, session.run())
            equal(len(session.model.seen), 5, "steps that it came back from")
            equal(damage(fx), [], "neither damage is done")
            told(session)
            equal(session.left(), {}, "nothing is left running")
            result = session.run()  # with the state of the first time
            equal(result.status, 0, f"a second time: {result.stderr[-4000:]}")
            equal(damage(fx), [], "neither damage is done")
            equal(refused(session), {str(fx.home / "outside.txt"),
                                     str(fx.path(".git/hooks/pre-commit"))}, "what was refused")
    return sandboxed


for agent in AGENTS:
    test(f"{agent}: the control, without a sandbox")(control(agent))
    test(f"{agent}: a whole turn under sandbash")(plain(agent))
run_all()
