"""C7: --ask-first asks once, before the command starts, about all that its text shows and the rules would ask about."""

import json

from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")


def start(fx, command, *flags):
    return fx.sandbash_terminal("--ask-first", *flags, "-c", command)


@test("C7 a yes is for these writes, which then ask no more", variants=BOTH)
def yes(fx):
    (fx.outside / "old").write_text("old\n")
    command = (f"echo 1 > {fx.outside}/a; echo 2 | tee -a {fx.outside}/a; rm {fx.outside}/old; mkdir {fx.outside}/d; "
               "touch here; echo done=$?")
    term = start(fx, command)
    shown = term.expect(r"this command would[\s\S]*\[y/N\] ").group()
    for words in (f"  create '{fx.outside}/a'", f"  delete or move '{fx.outside}/old'", f"  create '{fx.outside}/d'"):
        contains(shown, words)
    lacks(shown, "here'")
    lacks(shown, "may change more")
    check(not (fx.outside / "a").exists(), "nothing has run")
    term.send("y\n")
    term.expect("done=0")
    equal(term.wait(), 0)
    agreed = [(event["op"], event["path"], event["answer"]) for event in map(json.loads, fx.sandbash("--log", "--json").stdout.splitlines())
              if event.get("act") == "ask first"]
    equal(agreed, [("create", f"{fx.outside}/a", "once"), ("delete", f"{fx.outside}/old", "once"), ("create", f"{fx.outside}/d", "once")],
          "on record")
    equal((fx.read(fx.outside / "a"), (fx.outside / "old").exists(), (fx.outside / "d").is_dir(), fx.exists("here")),
          ("1\n2\n", False, True, True))


@test("C7 a no, or anything else, and it does not start", variants=BOTH)
def no(fx):
    for answer in ("n\n", "\n", "maybe\n"):
        term = start(fx, f"touch here {fx.outside}/a")
        term.expect(r"\[y/N\] ")
        term.send(answer)
        term.expect("not started: you said no")
        equal(term.wait(), 125)
    check(not fx.exists("here") and not (fx.outside / "a").exists())


@test("C7 what the text does not show, guarded names and links ask when it happens", variants=BOTH)
def more(fx):
    fx.write("s.sh", f"echo x > {fx.outside}/b\n")
    (fx.home / "x").write_text("kept\n")
    term = start(fx, f"touch {fx.outside}/a; sh s.sh; ln -sf {fx.home}/x {fx.outside}/a; echo 2 > {fx.outside}/a; "
                     f"echo evil >> {fx.home}/.bashrc; echo end", "--ask-timeout=1")
    contains(term.expect(r"this command would[\s\S]*\[y/N\] ").group(), "it may change more")
    term.send("y\n")
    term.expect(r"wants to")
    term.expect("end\r")
    term.wait()
    check((fx.outside / "a").exists() and not (fx.outside / "b").exists(), "what was asked, and what was not")
    equal((fx.home / "x").read_text(), "kept\n", "where a link leads")
    check(not (fx.home / ".bashrc").exists() or "evil" not in (fx.home / ".bashrc").read_text())


@test("C6 with nobody to ask it does not start; where nothing asks it runs")
def nobody(fx):
    for flags in ((), ("--consent=deny",)):
        result = fx.sandbash("--ask-first", *flags, "-c", f"touch here {fx.outside}/a")
        equal(result.status, 125)
        contains(result.stderr, f"not started: it would create '{fx.outside}/a', and nobody can be asked")
        check(not fx.exists("here"))
    equal(fx.sandbash("--ask-first", "touch", "here").status, 0)
    check(fx.exists("here"))
    equal(fx.sandbash("--ask-first", "--static", "-c", "true").status, 125, "without a supervisor")
    equal(fx.sandbash("--ask-first", "--status").status, 2, "without a command")


run_all()
