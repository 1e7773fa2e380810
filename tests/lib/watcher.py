"""watcher.py - somebody at a terminal with sandbash --watch.

    watcher = Watcher(fx)
    watcher.sees("1 run, 1 question")
    watcher.go_to("wants to create")       by Tab, looking
    watcher.open("/outside/file")          Enter: the question in full
    watcher.answer("1")
    watcher.leave()
"""

from tap import BIN, check, equal, wait


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

    def _focus(self):
        self.term.settle(0.05, 1)
        return next(((row, line[2:]) for row, line in enumerate(self.term.screen().split("\n"))
                     if line.startswith("> ")), (None, None))

    def focus(self):
        """The row in focus."""
        return self._focus()[1]

    def has_focus(self, text):
        wait(lambda: text in (self.focus() or ""), lambda: f"{text!r} has no focus:\n{self.term.screen()}")

    def go_to(self, text):
        """As a person does: key by key, looking."""
        for _ in range(20):
            if text in (self.focus() or ""):
                return
            before = self._focus()
            self.term.send("\t")
            wait(lambda: self._focus() != before,
                 lambda: f"no way to {text!r}:\n{self.term.screen()}")
        check(False, f"no way to {text!r}:\n{self.term.screen()}")

    def press(self, key):
        self.term.press(key)

    def answer(self, key):
        self.term.answer(key)

    def open(self, *texts):
        self.press("\r")
        return self.sees("sandbash asks you", "Press ", *texts)

    def leave(self):
        self.press("q")
        equal(self.term.wait(), 0)
