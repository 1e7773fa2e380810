"""shown.py - C9: over MCP, too, a yes about a directory is for what was in it when it was shown."""

import os

from mcp import Server
from tap import check, contains, equal, lacks, run_all, test

ERAS = ("legacy", "modern")
PLAIN = "{}        \n"
EVIL = "{\"evil\":1}\n"  # as long
AGAIN = "it has changed since you said yes"


def message(asked):
    return asked["params"]["message"]


def over(path, text):
    old = path.stat()
    with open(path, "r+", encoding="utf-8") as file:
        file.write(text)
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))


def another(fx):
    fx.path("x").rename(fx.path("y"))
    fx.write("x/tasks.json", EVIL)


def a_link(fx):
    fx.path("x").rename(fx.path("y"))
    fx.path("x").symlink_to("/etc")


def link_within(fx):
    fx.path("x/link").unlink()
    fx.path("x/link").symlink_to("/bin/sh")


WAYS = {
    "another file": lambda fx: fx.write("x/launch.json", EVIL),
    "another file, deep": lambda fx: fx.write("x/deep/new", EVIL),
    "other bytes": lambda fx: over(fx.path("x/tasks.json"), EVIL),
    "a link that leads elsewhere": link_within,
    "a mode": lambda fx: fx.path("x/tasks.json").chmod(0o755),
    "another directory": another,
    "a link in its place": a_link,
}


def prepare(fx, big=False):
    fx.run("rm", "-rf", "x", "y", ".vscode", "name", fx.outside / "there")
    fx.write("x/tasks.json", PLAIN)
    fx.write("x/deep/old", PLAIN)
    fx.path("x/link").symlink_to("/bin/true")
    if big:
        fx.write("x/big", "x" * (17 << 20))


ACTS = {
    "move_file": lambda fx: (("move_file", {"source": "x", "destination": ".vscode"}), fx.path(".vscode")),
    "move_file, out": lambda fx: (("move_file", {"source": "x", "destination": str(fx.outside / "there")}),
                                  fx.outside / "there"),
    "copy_file": lambda fx: (("copy_file", {"source": "x", "destination": str(fx.outside / "there"),
                                            "recursive": True}), fx.outside / "there"),
}


def answer_while(fx, way, last):
    """Yes to what is shown; the first question takes so long that something happens meanwhile."""
    seen = []

    def answer(params):
        seen.append(params["message"])
        if len(seen) == 1:
            WAYS[way](fx)
        return last if AGAIN in params["message"] or "which leads to '/etc'" in params["message"] else "once"
    return seen, answer


def changed(fx, act, way, era, big=False):
    (tool, arguments), target = ACTS[act](fx)
    prepare(fx, big)
    server = Server(fx, era=era)
    seen, server.answers = answer_while(fx, way, "deny")
    failure = server.failure(tool, **arguments)
    if way == "a link in its place" and tool == "copy_file":
        check(failure["code"] in ("DENIED", "NOT_FOUND", "PATH_OUTSIDE_PROJECT"), str(failure))
    else:
        equal(failure["code"], "DENIED", str(seen))
        check(AGAIN in seen[-1] or "leads to '/etc'" in seen[-1], seen)
    contains(seen[0], "it is a directory, and all that is in it "
             + ("is copied: " if tool == "copy_file" else "comes along: "))
    check(not os.path.lexists(target), "nothing has landed")
    check(os.path.lexists(fx.path("x")), "it is where it was")
    lacks("\n".join(os.listdir(fx.project)), "sandbash-hold")


for era_number, one_act in enumerate(ACTS):
    for one_way in WAYS:
        test(f"C9 {one_act}: a directory is changed before the yes: {one_way}")(
            lambda fx, act=one_act, way=one_way, era=ERAS[era_number % 2]: changed(fx, act, way, era))
test("C9 move_file: one that is too large to be read")(
    lambda fx: changed(fx, "move_file", "other bytes", "legacy", True))


@test("C9 neighbour: a directory that nobody changes is moved or copied, as a whole")
def neighbour(fx):
    for act, make in ACTS.items():
        for big in (False, True):
            prepare(fx, big)
            (tool, arguments), target = make(fx)
            server = Server(fx)
            server.answers = lambda params: "once"
            server.data(tool, **arguments)
            check(server.asked, act)
            for asked in server.asked:
                lacks(message(asked), AGAIN)
            contains(message(server.asked[0]), "4 files in 1 directory" if big else "3 files in 1 directory")
            equal(fx.read(target / "tasks.json"), PLAIN)
            equal(os.readlink(target / "link"), "/bin/true")
            equal(fx.exists("x"), tool == "copy_file")


@test("C9 where links lead that come along is said")
def links(fx):
    fx.write("x/other", PLAIN)
    fx.path("x/tasks.json").symlink_to("../data")
    server = Server(fx)
    server.answers = lambda params: "once"
    server.data("move_file", source="x", destination=".vscode")
    contains(message(server.asked[0]), "a link in it leads out: 'tasks.json' -> '../data'")


@test("C9 a yes to what was changed is one to that")
def yes_again(fx):
    prepare(fx)
    server = Server(fx)
    seen, server.answers = answer_while(fx, "another file", "once")
    server.data("move_file", source="x", destination=".vscode")
    contains(seen[-1], AGAIN)
    contains(seen[-1], "launch.json")
    check(fx.exists(".vscode/launch.json"))


@test("C9 what changes all the time is not moved, however often the answer is yes")
def loop(fx):
    prepare(fx)
    server = Server(fx)

    def change(params):
        fx.write("x/other", f"{len(server.asked):010}")
        fx.path("x/other").rename(fx.path("x/tasks.json"))
        return "once"

    server.answers = change
    failure = server.failure("move_file", source="x", destination=".vscode")
    equal(failure["code"], "CHANGED")
    check(not fx.exists(".vscode") and fx.exists("x/tasks.json"))
    check(len(server.asked) <= 4, "it is not asked for ever")


@test("C9 other names of a file that moved with its directory do not lead to it")
def linked(fx):
    prepare(fx)
    os.link(fx.path("x/tasks.json"), fx.path("name"))
    fx.path("x").rename(fx.path("control"))
    over(fx.path("name"), EVIL)
    equal(fx.read("control/tasks.json"), EVIL, "control")
    prepare(fx)
    os.link(fx.path("x/tasks.json"), fx.path("name"))
    server = Server(fx)
    server.answers = lambda params: "once"
    server.data("move_file", source="x", destination=".vscode")
    over(fx.path("name"), EVIL)
    equal(fx.read(".vscode/tasks.json"), PLAIN)


@test("C9 a link that is moved or copied to a guarded name is the one that was shown")
def links(fx):
    for tool, source in (("move_file", "x/link"), ("copy_file", "x")):
        fx.run("rm", "-rf", ".vscode", "other")
        prepare(fx)
        arguments = {"source": source, "destination": ".vscode"}
        if tool == "copy_file":
            fx.path("x/link").rename(fx.path("x/.vscode"))
            arguments = {"source": "x", "destination": "other", "recursive": True}
        link = fx.path("x/link") if tool == "move_file" else fx.path("x/.vscode")
        seen = []

        def answer(params):
            seen.append(params["message"])
            if len(seen) == 1:
                link.unlink()
                link.symlink_to("/bin/sh")
            return "once" if len(seen) == 1 else "deny"
        server = Server(fx)
        server.answers = answer
        equal(server.failure(tool, **arguments)["code"], "DENIED")
        contains(seen[0], "it is a link, which leads to '/bin/true'")
        contains(seen[1], "it is a link, which leads to '/bin/sh'")
        check(not os.path.lexists(fx.path(".vscode")) and not fx.exists("other"))
        server = Server(fx)  # the neighbour: a no lasts a session
        server.answers = lambda params: "once"
        server.data(tool, **arguments)


@test("C9 a question about deleting a directory says how much that is")
def delete(fx):
    prepare(fx)
    fx.path("x").rename(fx.outside / "there")
    server = Server(fx)
    server.answers = lambda params: "deny"
    equal(server.failure("delete_file", path=str(fx.outside / "there"), recursive=True)["code"], "DENIED")
    contains(message(server.asked[0]),
             "it is a directory, and all that is in it is deleted: 3 files in 1 directory, 22 bytes")
    check((fx.outside / "there").exists())
    server = Server(fx)
    server.answers = lambda params: "once"
    server.data("delete_file", path=str(fx.outside / "there"), recursive=True)
    check(not (fx.outside / "there").exists())


def asked_about(fx, data, era):
    """What the question says of these bytes, copied to a hook."""
    fx.git_project()
    fx.path("evil").write_bytes(data)
    server = Server(fx, era=era)
    server.answers = lambda params: "deny"
    equal(server.failure("copy_file", source="evil", destination=".git/hooks/pre-commit")["code"], "DENIED")
    return message(server.asked[-1])


@test("C4 what would be written is shown with its end, and how much of it is not")
def long(fx):
    for era in ERAS:
        text = asked_about(fx, b"#!/bin/sh\n" + b"echo harmless\n" * 1000 + b"evil\n", era)
        contains(text, "#!/bin/sh\\n")
        contains(text, "evil\\n")
        contains(text, "of 14015 bytes are not shown")
        fx.run("rm", "-rf", ".git")
    fx.git_project()
    server = Server(fx)
    server.answers = lambda params: "deny"
    server.call("run_command", command="(echo '#!/bin/sh'; seq 3000; echo evil) >x; mv x .git/hooks/pre-commit")
    contains(message(server.asked[-1]), "bytes are not shown")
    contains(message(server.asked[-1]), "3000\\nevil\\n")


@test("C4 bytes that are no text are shown as on a terminal")
def binary(fx):
    text = asked_about(fx, b"#!/bin/sh\n\xff\xfe \x1b[2J\xc3\xa4\n", "legacy")
    contains(text, "\\xff\\xfe \\e[2J\u00e4")
    lacks(text, "\ufffd")
    short = asked_about(fx, b"a" * 4096, "legacy")
    lacks(short, "not shown")
    check(short.endswith("a" * 4096), short)


run_all()
