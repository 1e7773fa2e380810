"""terminal_keys.py - C1, C5 on a real terminal: which keys answer a question, and what else never does."""

import itertools
import re
import time

from asker import Demo, bash, got, recorder, type_afterwards
from tap import check, contains, equal, lacks, run_all, test
from terminal import QUIET


@test("C5 what was typed before a question shows does not answer it")
def typed_ahead(fx):
    demo = recorder(fx)
    demo.term.send("11")
    demo.ask(1)
    demo.term.send("1")  # on its way while the question is drawn: nothing was read since
    time.sleep(0.3)
    demo.term.send("1")
    demo.shown()
    demo.silent()
    demo.answer("3")
    demo.expect("1 deny")


@test("C5 a slow terminal: what is typed before it shows the question, or after it left, is dropped")
def slow_terminal(fx):
    demo = recorder(fx)
    demo.ask(1)
    demo.shown()
    demo.answer("3")
    demo.expect("1 deny")
    demo.pass_time(0.4)
    demo.ask(2)
    time.sleep(0.8)  # long after it was written, and a lone key; but nobody has seen it
    demo.term.send("1")
    time.sleep(0.3)
    demo.shown()
    demo.silent()
    demo.press("4")
    for _ in range(60):  # answered, but the question still stands on the screen: nothing is read
        time.sleep(0.3)
        if len(demo.given()) == 2:
            break
        demo.term.send("4")
    equal(demo.given(), ["1 deny", "2 always"])
    demo.term.send("secret")
    time.sleep(0.1)
    demo.gone()
    demo.press("x")
    demo.wait(lambda: got(fx), "the key did not arrive")
    equal(got(fx), b"x")


@test("C5 a hand in the middle of typing does not answer")
def typing(fx):
    demo = recorder(fx)
    demo.ask(1)
    demo.shown()
    for number in itertools.count(1):
        sent = [time.monotonic()]
        for key in "1214121 ":
            demo.term.send(key)
            sent.append(time.monotonic())
            demo.term.settle(0.04, 0.05)
        demo.pass_time(0.8)
        if not demo.given():
            break
        # One was alone: on a machine so busy this is no hand in the middle of typing.
        check(max(later - first for first, later in zip(sent, sent[2:])) > 0.3 and number < 20, demo.given())
        demo.gone()
        demo.answers.write_text("")
        demo.ask(1)
        demo.shown()
    demo.answer("2")
    demo.expect("1 directory")


@test("C5 text at two keys a second does not answer by a digit that is alone; who waits then does")
def slow_typing(fx):
    demo = recorder(fx)
    demo.ask(1)
    demo.shown()
    demo.pass_time(QUIET)
    sent = []
    for key in "x==2.1.11 4 ":
        demo.term.send(key)
        sent.append(time.monotonic())
        demo.pass_time(0.42)
    if demo.given():  # on a machine so busy this was no typing
        check(max(later - first for first, later in zip(sent, sent[1:])) > 1.2, demo.given())
        return
    demo.answer("1")
    demo.expect("1 once")


@test("C5 a paste does not answer, marked by the terminal or not")
def paste(fx):
    demo = recorder(fx)
    demo.ask(1)
    demo.shown()
    for text in ("1\n1\n1", "1\r", "12", "\x1b[200~1\x1b[201~", "\x1b1", "\x1bO1"):
        demo.press(text)
        demo.silent(0.3)
    demo.press("\x1b[200~")
    demo.press("1")
    demo.press("\x1b[201~")
    demo.silent(0.3)
    demo.answer("1")
    demo.expect("1 once")


@test("C5 keys that send sequences, mouse and focus reports do not answer")
def sequences(fx):
    demo = recorder(fx)
    demo.ask(1)
    demo.shown()
    for text in ("\x1b[A", "\x1b[1;2D", "\x1bOP", "\x1b[15~", "\x1b[<0;1;1M", "\x1b[I", "\x1b[49u",
                 "\x1b]11;rgb:1/1/1\x07", "\x1bP1$r1\x1b\\", "\xc3\xa4"):
        demo.press(text)
        demo.silent(0.2)
    demo.answer("4")
    demo.expect("1 always")


SPAM = r"""
import os, sys, threading, time, tty
tty.setraw(0)
threading.Thread(target=lambda: [None for _ in iter(lambda: os.read(0, 4096), b"")],
                 daemon=True).start()
cells = "".join(f"\x1b[{r};{c}H\x1b[6n" for r in range(1, 25) for c in range(1, 81))
while True:
    sys.stdout.write("\x1b[c\x1b[>c\x1b[6n\x1b]11;?\x07\x1b[5n" + cells)
    sys.stdout.flush()
"""


@test("C5 replies to what the command asked the terminal do not answer")
def replies(fx):
    demo = Demo(fx, "python3", "-c", SPAM)
    demo.term.expect(r"\x1b\[6n")
    for number in (1, 2):
        demo.pass_time(0.3)
        demo.ask(number)
        demo.wait(lambda: "wants to" in demo.term.screen(), "the question does not show")
        demo.silent(1.5)
        contains(demo.term.screen(), "wants to")
        demo.answer("3")
        demo.wait(lambda: len(demo.given()) == number, "no answer")
    equal(demo.given(), ["1 deny", "2 deny"])


def code(demo):
    """What a question on a mute terminal wants to be typed."""
    demo.wait(lambda: "One key is not enough" in demo.term.screen(), "no code is asked for")
    return re.search("then ([a-z]{4}), then Enter", demo.term.screen()).group(1)


@test("C5 a terminal that answers nothing: no key allows, the code that the question shows does")
def mute_terminal(fx):
    demo = recorder(fx, replies=False)
    demo.ask(1)
    demo.term.send("1")
    demo.shown()
    demo.term.send("1")
    demo.silent(2.4)
    demo.press("2")
    demo.silent(0.3)
    demo.press("\x15")
    word = code(demo)
    for text in ("1\r", "yes\r", "1aaaa\r", f"{word}\r"):
        demo.press(text)
        demo.silent(0.2)
    demo.press("2" + word)
    demo.wait(lambda: f"denies): 2{word}" in demo.term.screen(), "what is typed does not show")
    demo.silent(0.3)
    demo.press("\r")
    demo.expect("1 directory")
    demo.gone()
    demo.ask(2)
    demo.shown()
    demo.press("1" + word + "\r")  # the last one's
    check(code(demo) != word, "the same code")
    demo.silent(0.3)
    demo.press("3")
    demo.expect("1 directory", "2 deny")
    demo.gone()
    type_afterwards(fx, demo, "x")
    check(got(fx).rstrip(b"x") in (b"", b"1"), got(fx))  # the first one may have come before the question


@test("C5 a terminal that answers late: then one key is enough")
def late_terminal(fx):
    demo = recorder(fx, replies=False)
    demo.ask(1)
    demo.shown()
    code(demo)
    demo.term.replies = True
    demo.term.resize(24, 79)  # asks again
    demo.wait(lambda: "Press 1" in demo.term.screen(), "it still asks for a code")
    demo.answer("1")
    demo.expect("1 once")


@test("C5 a terminal that does not read UTF-8 is mute, and gets ASCII only")
def no_utf8(fx):
    demo = recorder(fx, replies=False)
    demo.ask(1, path="/tmp/\u011b[2J")  # its last byte would be a control
    cells = []

    def asked():
        cells[:] = re.findall(r"\x1b\[(\d+);(\d+)H(\xe4?)\x1b\[6n", demo.term.output)
        return "deny" in demo.term.screen() and len(cells) >= 4

    demo.wait(asked, "no question")
    equal(len(cells), 4)
    demo.term.send("".join(f"\x1b[{row};{int(column) + 2 * len(letter)}R"
                           for row, column, letter in cells))
    code(demo)
    lacks(demo.term.output, "\u011b")
    contains(demo.term.screen(), "/tmp/\\u{11b}[2J")
    demo.press("1")
    demo.silent(0.3)
    demo.press("\x1b")
    demo.expect("1 deny")


@test("C1 Ctrl-C, Ctrl-D and Esc deny; the command does not see them")
def denying_keys(fx):
    demo = recorder(fx)
    for number, key in enumerate(("\x03", "\x04", "\x1b"), 1):
        demo.ask(number)
        demo.shown()
        for _ in range(20):  # on a busy machine Esc may have come too soon to count
            demo.press(key)
            demo.pass_time(0.3)
            if len(demo.given()) == number:
                break
            demo.pass_time(2)
        equal(len(demo.given()), number, "answers")
        demo.gone()
    equal(demo.given(), ["1 deny", "2 deny", "3 deny"])
    demo.pass_time(0.4)
    equal(got(fx), b"")


@test("C5 nothing typed during a question reaches the command, nor the terminal's replies to us")
def no_leak(fx):
    demo = recorder(fx)
    for number in range(1, 6):
        demo.ask(number)
        demo.shown()
        demo.press("secret")
        if number % 2:
            demo.press("1more\r")
            demo.answer("1")
        else:
            demo.order("withdraw", str(number))
        demo.gone()
    demo.ask(9)
    demo.order("withdraw", "9")  # before the terminal could reply
    type_afterwards(fx, demo, "1")
    equal(got(fx).strip(b"1"), b"")
    equal(demo.given(), ["1 once", "3 once", "5 once"])


def soon_after(fx, demo, typed, want):
    """An answer, and at once what is typed: the command gets want."""
    for number in itertools.count(1):
        before = len(got(fx))
        demo.ask(number)
        demo.shown()
        pressed = time.monotonic() + QUIET
        demo.answer("1")
        for text in typed:
            demo.term.send(text)
            demo.pass_time(0.02)
        demo.wait(lambda: got(fx)[before:].endswith(want), "what was typed after another key did not come")
        if got(fx)[before:] == want:
            return
        # What is promised holds for 0.3 s after the answer, which is 0.06 s after the key or later.
        check(time.monotonic() - pressed > 0.36 and number < 20, got(fx)[before:])


@test("C1 a key that answered, pressed again or held down, is not for the command")
def surplus_keys(fx):
    demo = recorder(fx)
    soon_after(fx, demo, ("1", "1", "1", "x1"), b"x1")


@test("C1 a key that comes too fast is not ignored in silence")
def hurried(fx):
    demo = bash(fx)
    demo.ask(1)
    demo.shown()
    demo.press("12")
    demo.wait(lambda: "That was too fast to count. Press 1, 2, 3 or 4" in demo.term.screen(), "nothing is said")
    demo.silent(0.5)
    demo.answer("3")
    demo.expect("1 deny")


@test("C1 an Enter after the digit, by habit, is not for the command")
def habitual_enter(fx):
    demo = recorder(fx)
    soon_after(fx, demo, ("\r", "x"), b"x")
    before = len(got(fx))
    demo.ask(100)
    demo.shown()
    demo.answer("1")
    type_afterwards(fx, demo, "\r")
    equal(got(fx)[before:].strip(b"\r"), b"")


run_all()
