#!/usr/bin/env python3
"""The coding agents themselves on a terminal, in tmux, under plain "sandbash AGENT".

From a fresh home each gets to its prompt without a question of sandbash's.  Its damages are asked
about on the screen; a no and a yes reach it, and then the screen is as it was.  It follows the size of the
window, ends with its own keys, and when the terminal is closed nothing is left running.
"""

import re

from model import Say, Shell
from real import AGENTS, SECONDS
from seat import answer, begin, leave, questions, type_prompt
from tap import check, contains, equal, lacks, run_all, test
from turn import COMMIT, DONE, EDIT, HOOK, OUTSIDE, begun

TURN = [EDIT, COMMIT, OUTSIDE, HOOK,
        Shell("printf '#!/bin/sh\\n' > .git/hooks/post-commit && echo PLAN''TED"), Say(DONE)]


def whole_turn(name):
    def on_screen(fx):
        with begun(fx, name, TURN) as session:
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
            leave(session, person)
            person.term.hang_up()
            equal(session.left(), {}, "nothing is left running")
    return on_screen


MOVING = r"…|/effort|bypass permissions|ctrl\+b|\.\.\.|esc |[⠀-⣿]|Tip|\d+ ?s\b|■|⬝"


def still(screen):
    """What does not move by itself: no clocks, and no lines that say how long something takes."""
    return [re.sub(r"\d+", "N", line) for line in screen.split("\n")
            if line.strip() and not re.search(MOVING, line)]


def same_screen(name):
    step = Shell("touch waits; until [ -e go ]; do sleep 0.1; done;"
                 " { echo x > ~/outside.txt; } 2>/dev/null; touch said; until [ -e end ]; do sleep 0.1; done")

    def as_it_was(fx):
        with begun(fx, name, [step, Say(DONE)]) as session:
            person = session.person()
            begin(session, person)
            type_prompt(session, person)
            person.until(lambda: fx.exists("waits"), "the command does not begin", SECONDS)
            person.until(lambda: re.search(session.agent.busy, person.term.screen()), "it is not shown", SECONDS)
            person.term.settle(1.0, 3.0)
            before = person.term.screen()
            fx.write("go", "")
            answer(person, "3", "/outside.txt")
            person.until(lambda: fx.exists("said"), "the command does not go on", SECONDS)
            person.until(lambda: still(person.term.screen()) == still(before),
                         f"the screen is another than before, which was:\n{before}", 20)
            fx.write("end", "")
            person.until(lambda: DONE in person.term.screen(), "no last word", SECONDS)
            leave(session, person)
            person.term.hang_up()
    return as_it_was


def stopped(name):
    step = Shell("echo $$ > started; sleep 1000")

    def by_key(fx):
        with begun(fx, name, [step, Say(DONE)]) as session:
            person = session.person()
            begin(session, person)
            type_prompt(session, person)
            person.until(lambda: fx.exists("started"), "the command does not begin", SECONDS)
            person.until(lambda: any("sleep 1000" in line for line in session.left(0).values()), "it is not there")
            leave(session, person)
            person.term.hang_up()
            equal(session.left(60), {}, "nothing is left running")
    return by_key


def closed(name):
    step = Shell("echo $$ > started; sleep 1000")

    def hang_up(fx):
        with begun(fx, name, [step, Say(DONE)]) as session:
            person = session.person()
            begin(session, person)
            type_prompt(session, person)
            person.until(lambda: fx.exists("started"), "the command does not begin", SECONDS)
            person.until(lambda: any("sleep 1000" in line for line in session.left(0).values()), "it is not there")
            person.term.hang_up()
            equal(session.left(60), {}, "nothing is left running")
    return hang_up


for agent in AGENTS:
    test(f"{agent}: a whole turn on a terminal")(whole_turn(agent))
    test(f"{agent}: after a question the screen is as it was")(same_screen(agent))
    test(f"{agent}: its keys end it in the middle of a command")(stopped(agent))
    test(f"{agent}: the terminal is closed in the middle of a command")(closed(agent))
run_all()
