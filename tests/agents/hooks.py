#!/usr/bin/env python3
"""The coding agents themselves, started without sandbash, after "sandbash --setup AGENT --apply".

The same turn as in turns.py, whose control it shares; and a file outside that the agent's own tool is to
edit, where the agent itself would: gemini and opencode refuse that without us.
"""

import sys
from contextlib import closing
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent / "lib"),
                str(Path(__file__).resolve().parent.parent / "lib")]

from model import Edit  # noqa: E402
from real import AGENTS, PROMPT, SECONDS, Session  # noqa: E402
from tap import BIN, contains, equal, lacks, run_all, test  # noqa: E402
from turns import DONE, TURN, damage  # noqa: E402

BESIDE = [*TURN[:-1], Edit("../beside.txt", "one", "two"), TURN[-1]]


def turn(session):
    # codex runs no hook that a person has not trusted at its screen
    trust = ["--dangerously-bypass-hook-trust"] if session.agent.name == "codex" else []
    return session.fx.run(*session.words(session.agent.arguments), *trust, PROMPT,
                          env=session.environment(), timeout=SECONDS)


def hooked(name):
    def by_hook(fx):
        fx.write(fx.home / "beside.txt", "one\n")
        steps = BESIDE if name in ("claude", "codex") else TURN
        with closing(Session(fx, AGENTS[name], steps)) as session:
            done = fx.run(BIN, "--setup", name, "--apply")
            equal(done.status, 0, done.stderr)
            contains(done.stdout, "checked: the hook, as it is written, answers")
            result = turn(session)
            equal(result.status, 0, f"{result.stdout[-2000:]}{result.stderr[-4000:]}")
            contains(result.stdout, DONE)
            equal(fx.read("notes.txt"), "two\n", "its own tool edits")
            equal(fx.read("made.txt"), "made\n", "a command of it writes")
            contains(fx.run("git", "log", "--format=%s").stdout, "turn", "git commit")
            equal(damage(fx), [], "neither damage is done")
            equal((fx.home / "beside.txt").read_text(), "one\n", "nor by its own tool")
            if steps is BESIDE:
                contains(session.model.seen[5], "--allow-write=", "the model is told why")
            for step, word in ((3, "OUTSIDE"), (4, "PLANTED")):
                contains(session.model.seen[step], "Permission denied", "the model is told")
                lacks(session.model.seen[step], word + "\n")
            equal(session.left(), {}, "nothing is left running")
            equal(fx.run(BIN, "--setup", name, "--undo").status, 0)
    return by_hook


for agent in AGENTS:
    test(f"{agent}: a whole turn by its hook")(hooked(agent))

if __name__ == "__main__":
    run_all()
