#!/usr/bin/env python3
"""The coding agents themselves on a terminal, under plain "sandbash AGENT".

From a fresh home each gets to its prompt without a question of sandbash's.  Its damages are asked
about on the screen; a no and a yes reach it.  It follows the size of the window, ends with its own keys,
and when the terminal is closed nothing is left running.
"""

import re
import sys
from contextlib import closing
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent / "lib"),
                str(Path(__file__).resolve().parent.parent / "lib")]

from model import Edit, Say, Shell  # noqa: E402
from real import AGENTS, PROMPT, SECONDS, Session  # noqa: E402
from tap import check, contains, equal, lacks, run_all, test  # noqa: E402

DONE = "all steps are done"
TURN = [
    Edit("notes.txt", "one", "two"),
    Shell("git add -A && git commit -q -m turn && git log --oneline | wc -l"),
    Shell("echo x > ~/outside.txt && echo OUTSIDE"),
    Shell("printf '#!/bin/sh\\n' > .git/hooks/pre-commit && echo PLANTED"),
    Shell("printf '#!/bin/sh\\n' > .git/hooks/post-commit && echo PLANTED"),
    Say(DONE)]


def questions(session):
    return [event["path"] for event in session.record() if event["event"] == "ask"]


def begin(session, person):
    """To the agent's prompt, past its own dialogs."""
    answered = set()

    def ready():
        screen = person.term.screen()
        check(not person.shows(), f"a question before the prompt:\n{screen}")
        for shows, keys in session.agent.dialogs:
            if shows not in answered and re.search(shows, screen):
                answered.add(shows)
                person.term.settle(0.5)
                person.term.send(keys)
                return False
        return re.search(session.agent.ready, screen)

    person.until(ready, "no prompt", SECONDS)
    person.term.settle(1.0)
    equal(questions(session), [], "questions before the prompt")


def type_prompt(session, person):
    """As a person does: look whether it stands there, then Enter."""
    person.until(lambda: PROMPT in person.term.screen() or retype(person), "nothing is typed", SECONDS)
    person.term.settle(0.5)
    person.term.send("\r")
    person.until(lambda: session.model.begun, "no request for the prompt", SECONDS)


def retype(person):
    person.term.send(PROMPT)
    person.term.settle(1.0, 3.0)
    return False


def answer(person, key, *texts):
    person.until(person.shows, f"no question about {texts}", SECONDS)
    check(person.shows(*texts), f"no question about {texts}, but:\n{person.term.screen()}")
    screen = person.term.screen()
    person.press(key)
    person.until(lambda: not person.shows(*texts), "the question stays", SECONDS)
    return screen


def whole_turn(name):
    def on_screen(fx):
        with closing(Session(fx, AGENTS[name], TURN)) as session:
            person = session.person()
            begin(session, person)
            type_prompt(session, person)
            answer(person, "3", "/outside.txt")
            answer(person, "3", "/hooks/pre-commit", "git runs hooks")
            answer(person, "1", "/hooks/post-commit")
            person.until(lambda: len(session.model.seen) == 5, "it does not go on", SECONDS)
            person.until(lambda: DONE in person.term.screen(), "no last word", SECONDS)
            equal(fx.read("notes.txt"), "two\n")
            contains(fx.run("git", "log", "--format=%s").stdout, "turn")
            for step in (2, 3):
                contains(session.model.seen[step], "Permission denied", "the model is told")
            contains(session.model.seen[4], "PLANTED", "what was allowed is done")
            check(not fx.exists(fx.home / "outside.txt") and not fx.exists(".git/hooks/pre-commit"))
            check(fx.exists(".git/hooks/post-commit"), "a yes lets it land")
            equal(len(questions(session)), 3, "questions in all")
            lacks(person.term.screen(), "sandbash asks", "nothing of the question is left")

            person.term.resize(30, 90)
            person.until(lambda: re.search(session.agent.ready, person.term.screen()),
                         "no prompt in the smaller window", SECONDS)
            check(all(len(line) <= 90 for line in person.term.screen().split("\n")))
            leave(session, person)
            equal(session.left(), {}, "nothing is left running")
    return on_screen


def leave(session, person):
    """With its own keys; more than once, since some of them only clear the line."""
    for _ in range(8):
        for key in session.agent.leave:
            person.term.send(key)
            person.term.settle(0.5, 2.0)
        if person.term.process.poll() is not None:
            return
    person.until(lambda: person.term.process.poll() is not None, "it does not end", SECONDS)


def closed(name):
    steps = [Shell("echo $$ > started; sleep 1000"), Say(DONE)]

    def hang_up(fx):
        with closing(Session(fx, AGENTS[name], steps)) as session:
            person = session.person()
            begin(session, person)
            type_prompt(session, person)
            person.until(lambda: fx.exists("started"), "the command does not begin", SECONDS)
            check(any("sleep 1000" in line for line in session.left(0).values()), "it is there")
            person.term.hang_up()
            equal(session.left(60), {}, "nothing is left running")
    return hang_up


for agent in AGENTS:
    test(f"{agent}: a whole turn on a terminal")(whole_turn(agent))
    test(f"{agent}: the terminal is closed in the middle of a command")(closed(agent))

if __name__ == "__main__":
    run_all()
