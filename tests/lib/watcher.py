"""watcher.py - somebody at a terminal with sandbash --watch.

    watcher = Watcher(fx)
    watcher.sees("1 run, 1 question")
    watcher.go_to("wants to create")       by Tab, looking
    watcher.open("/outside/file")          Enter: the question in full
    watcher.press("1")
    watcher.leave()
"""

from tap import BIN, check, equal, wait

QUIET = 0.45  # longer than an asker wants silence before a key


class Watcher:
    """Somebody at a terminal with sandbash --watch."""

    def __init__(self, fx, rows=30, columns=230):
        self.fx = fx
        self.term = fx.terminal(BIN, "--watch", replies=True, rows=rows, columns=columns)
        self.sees("sandbash --watch:")

    def sees(self, *texts):
        def look():
            self.term.settle(0.02, 0.1)
            return all(str(text) in self.term.screen() for text in texts)
        wait(look, lambda: f"{texts!r} does not show; the screen:\n{self.term.screen()}")
        return self.term.screen()

    def loses(self, text):
        def look():
            self.term.settle(0.02, 0.1)
            return text not in self.term.screen()
        wait(look, lambda: f"{text!r} stays; the screen:\n{self.term.screen()}")

    def focus(self):
        """The row in focus."""
        self.term.settle(0.05, 1)
        return next((line[2:] for line in self.term.screen().split("\n") if line.startswith("> ")), None)

    def go_to(self, text):
        """As a person does: key by key, looking."""
        for _ in range(20):
            if text in (self.focus() or ""):
                return
            before = self.term.screen()
            self.term.send("\t")
            wait(lambda: self.term.settle(0.02, 0.1) or self.term.screen() != before,
                 lambda: f"no way to {text!r}:\n{self.term.screen()}")
        check(False, f"no way to {text!r}:\n{self.term.screen()}")

    def press(self, key):
        self.term.settle(QUIET, 1)
        self.term.send(key)

    def open(self, *texts):
        self.press("\r")
        return self.sees("sandbash asks you", "Press ", *texts)

    def leave(self):
        self.press("q")
        equal(self.term.wait(), 0)
