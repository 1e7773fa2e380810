"""seat.py - somebody who sits at an agent's screen: to its prompt, typing, and out again."""

import re
import time

from real import PROMPT, SECONDS
from tap import check, equal


def questions(session):
    return [event.get("path") or event["host"] for event in session.record() if event["event"] == "ask"]


def begin(session, person, shows=None):
    """To the agent's prompt, or to what shows, past its own dialogs."""
    answered, asked = set(), questions(session)

    def ready():
        screen = person.term.screen()
        check(not person.shows(), f"a question before the prompt:\n{screen}")
        for text, keys in session.agent.dialogs:
            if text not in answered and re.search(text, screen):
                answered.add(text)
                for key in keys:
                    person.term.settle(0.5)
                    person.term.send(key)
                return False
        return re.search(shows or session.agent.ready, screen)

    person.until(ready, "no prompt", SECONDS)
    person.term.settle(1.0)
    equal(questions(session), asked, "questions before the prompt")


def type_prompt(session, person):
    """As a person does: look whether it stands there, once, then Enter."""
    typed = 0

    def stands():
        nonlocal typed
        screen = person.term.screen()
        if PROMPT * 2 in screen:  # what was thought lost came late
            person.term.send("\x7f" * len(PROMPT))
            person.term.settle(1.0)
            typed -= 1
        elif PROMPT in screen:
            return True
        else:
            typed += 1
            person.term.send(PROMPT)
            shown(20)
        return False

    def shown(seconds):
        deadline = time.monotonic() + seconds
        while PROMPT not in person.term.screen() and time.monotonic() < deadline:
            time.sleep(0.1)

    person.until(stands, "nothing is typed", SECONDS)
    person.term.settle(0.5 if typed == 1 else 5.0, 10)
    person.until(stands, "it is typed twice", SECONDS)
    person.term.send("\r")
    person.until(lambda: session.model.begun, "no request for the prompt", SECONDS)


def answer(person, key, *texts):
    """A question of sandbash's."""
    person.until(person.shows, f"no question about {texts}", SECONDS)
    check(person.shows(*texts), f"no question about {texts}, but:\n{person.term.screen()}")
    person.press(key)
    person.until(lambda: not person.shows(*texts), "the question stays", SECONDS)


def leave(session, person):
    """With its own keys; more than once, since some of them only clear the line."""
    for _ in range(8):
        for key in session.agent.leave:
            person.term.send(key)
            person.term.settle(0.5, 2.0)
        if person.term.ended():
            return
    person.until(person.term.ended, "it does not end", SECONDS)
