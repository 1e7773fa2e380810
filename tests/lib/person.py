"""person.py - somebody at a terminal who reads questions and presses keys.

    person = Person(fx, "bash", "-c", "echo x > ~/outside/file")
    screen = person.question("create", "/outside/file")    wait for it; what it looks like
    person.press("1")                                      look, then press
    person.calm()                                          no question shows, and none comes
    equal(person.term.wait(), 0)

A person looks before pressing: a key counts only after a moment of quiet (keys.h).
"""

import time

from tap import PATIENCE, check

TITLE = "sandbash asks you"
PROMPT = r"% $"
UNTIL = "until [ -e go ]; do sleep 0.05; done"


class Person:
    def __init__(self, fx, *words, flags=(), **where):
        where = {"rows": 24, "columns": 120, "replies": True, **where}
        self.fx = fx
        self.term = fx.sandbash_terminal(*flags, *words, **where)

    @classmethod
    def at(cls, fx, term):
        """Somebody at a terminal that is there already."""
        person = cls.__new__(cls)
        person.fx, person.term = fx, term
        return person

    def until(self, condition, message, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        while not condition():
            check(time.monotonic() < deadline, f"{message}; the screen:\n{self.term.screen()}")
            self.term.settle(0.02, 0.1)

    def shows(self, *texts):
        """A question with these texts is on the screen, to the last line."""
        screen = self.term.screen()
        return TITLE in screen and "Press " in screen and all(str(t) in screen for t in texts)

    def question(self, *texts, seconds=PATIENCE):
        self.until(lambda: self.shows(*texts), f"no question with {texts}", seconds)
        return self.term.screen()

    def gone(self, *texts):
        """That question has left the screen."""
        self.until(lambda: not self.shows(*texts), f"the question with {texts} stays")

    def press(self, key):
        self.term.press(key)

    def answer(self, key, *texts):
        """Wait for a question and answer it; returns what it looked like."""
        self.question(*texts)
        return self.term.answer(key)

    def calm(self, seconds=0.6):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.term.settle(0.05, 0.1)
            check(not self.shows(), f"a question nobody expected:\n{self.term.screen()}")

    def end(self, timeout=PATIENCE):
        """The status of the command; no question may come any more."""
        deadline = time.monotonic() + timeout
        while self.term.process.poll() is None:
            check(time.monotonic() < deadline, f"no end; the screen:\n{self.term.screen()}")
            check(not self.shows(), f"a question nobody expected:\n{self.term.screen()}")
            self.term.settle(0.02, 0.1)
        return self.term.wait()


def shell(fx, *flags, **where):
    """An interactive bash with a plain prompt."""
    fx.write(fx.dir / "rc", "unset HISTFILE; PS1='% '\nbind 'set enable-bracketed-paste off'\n")
    person = Person(fx, "bash", "--noprofile", "--rcfile", str(fx.dir / "rc"), "-i", flags=flags,
                    **where)
    person.term.expect(PROMPT)
    return person
