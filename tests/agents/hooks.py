#!/usr/bin/env python3
"""The coding agents themselves, started without sandbash, after "sandbash --setup AGENT --apply".

The same turn as in turns.py, whose control it shares; and a file outside that the agent's own tool is to
edit, where the agent itself would: gemini and opencode refuse that without us.
"""

import json

from model import Edit
from real import SET_UP
from tap import contains, equal, run_all, test
from turn import TURN, begun, damage, told, worked

BESIDE = [*TURN[:-1], Edit("../beside.txt", "one", "two"), TURN[-1]]


def hooked(name):
    def by_hook(fx):
        fx.write(fx.home / "beside.txt", "one\n")
        steps = BESIDE if name in ("claude", "codex") else TURN
        with begun(fx, name, steps) as session:
            contains(session.set_up(), "checked: the hook, as it is written, answers")
            # codex runs no hook that a person has not trusted at its screen
            worked(session, session.native(*["--dangerously-bypass-hook-trust"] * (name == "codex")))
            equal(damage(fx), [], "neither damage is done")
            equal((fx.home / "beside.txt").read_text(), "one\n", "nor by its own tool")
            if steps is BESIDE:
                contains(session.model.seen[5], "--allow-write=", "the model is told why")
            told(session)
            for step, path in ((3, fx.home / "outside.txt"), (4, fx.path(".git/hooks/pre-commit"))):
                _, _, report = session.model.seen[step].rpartition("sandbash-report: ")
                entries = json.JSONDecoder().raw_decode(report)[0]["entries"]
                contains([entry["path"] for entry in entries], str(path), "the model has it as data")
            equal(session.left(), {}, "nothing is left running")
            session.set_up("--undo")
    return by_hook


for agent in SET_UP:
    test(f"{agent}: a whole turn by its hook")(hooked(agent))
run_all()
