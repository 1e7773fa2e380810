"""seat.py - somebody who sits at an agent's screen: to its prompt, typing, and out again."""

import re

from real import PROMPT, SECONDS
from tap import check, equal


def questions(session):
    return [event["path"] for event in session.record() if event["event"] == "ask"]


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
    """As a person does: look whether it stands there, then Enter."""
    def typed():
        if PROMPT in person.term.screen():
            return True
        person.term.send(PROMPT)
        person.term.settle(1.0, 3.0)
        return False

    person.until(typed, "nothing is typed", SECONDS)
    person.term.settle(0.5)
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
