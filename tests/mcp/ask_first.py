"""ask_first.py - C7: run_command with askFirst asks once, before the command starts, about what its text shows."""

from mcp import Server
from tap import check, contains, equal, lacks, run_all, test

ERAS = ("legacy", "modern")


def each_era(function):
    for era in ERAS:
        test(f"{era}: {function.__doc__}")(lambda fx, era=era: function(fx, era))
    return function


def run(server, command, **more):
    return server.data("run_command", command=command, askFirst=True, **more)


@each_era
def one(fx, era):
    """C7 several writes outside are one question, which lists them; a yes holds for these, while the command runs"""
    (fx.outside / "old").write_text("old\n")
    server = Server(fx, era=era)
    server.answers = lambda params: "once"
    command = (f"echo 1 > {fx.outside}/a && echo 2 >> {fx.outside}/a; rm {fx.outside}/old; mkdir {fx.outside}/d; touch inside; "
               f"touch {fx.outside}/a")
    equal(run(server, command)["exitCode"], 0)
    equal(len(server.asked), 1)
    message = server.asked[0]["params"]["message"]
    for words in (f"may create {fx.outside}/a", f"may delete or move '{fx.outside}/old'", f"may create '{fx.outside}/d'", "for this command only"):
        contains(message, words)
    lacks(message, "inside'")
    lacks(message, "it may change more")
    equal((fx.read(fx.outside / "a"), (fx.outside / "old").exists(), (fx.outside / "d").is_dir(), fx.exists("inside")),
          ("1\n2\n", False, True, True))
    server.answers = lambda params: "deny"
    check(server.data("run_command", command=f"echo 3 > {fx.outside}/a")["refused"], "it was for the other command only")
    equal(len(server.asked), 2)


@each_era
def no(fx, era):
    """C7 a no means that the command does not start"""
    server = Server(fx, era=era)
    server.answers = lambda params: "deny"
    error = server.failure("run_command", command=f"touch ran {fx.outside}/a", askFirst=True)
    equal((error["code"], error["violation"]), ("DENIED", True))
    equal((len(server.asked), fx.exists("ran"), (fx.outside / "a").exists()), (1, False, False))
    equal(run(server, "touch ran")["exitCode"], 0, "what asks nothing runs")
    equal(len(server.asked), 1)


@test("C7 what the text does not show, or shows otherwise, asks when it happens")
def more(fx):
    fx.write("s.sh", f"touch {fx.outside}/b {fx.outside}/a\n")
    server = Server(fx)
    server.answers = lambda params: "once"
    equal(run(server, f"touch {fx.outside}/a; sh s.sh")["exitCode"], 0)
    contains(server.asked[0]["params"]["message"], "it may change more, which its words do not tell")
    equal(len(server.asked), 2, "the script's own")
    contains(server.asked[1]["params"]["message"], f"{fx.outside}/b")


@test("C7 a yes opens no guarded name, and not what a link at the name leads to")
def guarded(fx):
    server = Server(fx)
    answers = iter(["once", "deny", "deny", "deny"])
    server.answers = lambda params: next(answers)
    (fx.home / "x").write_text("kept\n")
    data = run(server, f"touch {fx.outside}/a; echo evil >> {fx.home}/.bashrc; ln -sf {fx.home}/x {fx.outside}/a; echo 2 > {fx.outside}/a")
    check(data["refused"], str(data))
    check(not (fx.home / ".bashrc").exists() or "evil" not in (fx.home / ".bashrc").read_text(), "the start-up file")
    equal((fx.home / "x").read_text(), "kept\n", "where the link leads")


@test("C6 with nobody to ask it is refused, with the options that would do")
def nobody(fx):
    server = Server(fx, elicit=False)
    error = server.failure("run_command", command=f"touch ran {fx.outside}/a", askFirst=True)
    equal(error["code"], "NEEDS_CONSENT")
    contains(error["allow"], f"--allow-write={fx.outside}/a")
    check(not fx.exists("ran"))


run_all()
