"""guarded.py - an answer for a directory never covers what a program outside obeys, for agents either."""

import os

from mcp import Server
from tap import check, contains, equal, lacks, run_all, test

ERAS = ("legacy", "modern")
HOOK = "#!/bin/sh\necho planted\n"

# a name, and what the question says about it
NAMES = [
    (".git/hooks/pre-commit", "git obeys it later, outside: git runs hooks"),
    (".bashrc", "bash obeys it later, outside: shell start-up file"),
    (".vscode/tasks.json", "VS Code obeys it later, outside"),
    ("deep/down/.envrc", "direnv obeys it later, outside: direnv runs it on cd"),
    (".config/autostart/x.desktop", "desktop obeys it later, outside: run at every desktop login"),
]


def each_era(function):
    for era in ERAS:
        test(f"{era}: {function.__doc__}")(lambda fx, era=era: function(fx, era))
    return function


def choices(asked):
    return asked["params"]["requestedSchema"]["properties"]["answer"]["enum"]


def message(asked):
    return asked["params"]["message"]


def opened(fx, era="legacy"):
    """A server whose user has said yes to all of the directory outside."""
    fx.write(fx.outside / ".git/HEAD", "ref: refs/heads/main\n")
    for name in ("hooks", "objects", "refs"):
        (fx.outside / ".git" / name).mkdir(exist_ok=True)
    server = Server(fx, era=era)
    server.answers = lambda params: "directory"
    server.data("write_file", path=str(fx.outside / "first.txt"), content="1")
    equal(len(server.asked), 1)
    equal(choices(server.asked[0]), ["once", "directory", "always", "deny"])
    server.answers = lambda params: "deny"
    server.data("write_file", path=str(fx.outside / "second.txt"), content="2")
    equal(len(server.asked), 1, "neighbour: a plain name is covered")
    server.asked.clear()
    return server


@each_era
def file_tools(fx, era):
    """C3 file tools ask about each guarded name in a granted directory; once and deny are offered"""
    server = opened(fx, era)
    for number, (name, words) in enumerate(NAMES):
        path = fx.outside / name
        (path.parent).mkdir(parents=True, exist_ok=True)
        path.write_text("control\n")  # anybody else may
        path.unlink()
        equal(server.failure("write_file", path=str(path), content=HOOK)["code"], "DENIED", name)
        equal(len(server.asked), number + 1, name)
        asked = server.asked[-1]
        equal(choices(asked), ["once", "deny"], name)
        contains(message(asked), words)
        contains(message(asked), "echo planted")
        check(not path.exists(), name)


@test("C3 nor where the agent has made the directory itself a moment before")
def made_before(fx):
    server = opened(fx)
    server.answers = lambda params: "directory" if "wants to read" in params["message"] else "deny"
    server.data("read_text_file", path=str(fx.outside / "first.txt"))  # reading is asked apart
    for name in (".vscode/tasks.json", "new/.git/hooks/post-commit", "new/er/.mcp.json"):
        path = fx.outside / name
        server.asked.clear()
        for parent in reversed(path.relative_to(fx.outside).parents[:-1]):
            made = server.call("create_directory", path=str(fx.outside / parent))
            check(not made.get("isError"), str(made))
        equal(server.asked, [], "an empty directory is nobody's business")
        server.failure("write_file", path=str(path), content="{}\n")
        equal([choices(asked) for asked in server.asked], [["once", "deny"]], name)
        check(not path.exists(), name)


@each_era
def led_there(fx, era):
    """C3 file tools ask about files of the project that links at home and git settings lead to"""
    fx.git_project()
    names = ("editor/init.lua", "tool", "scripts/clean.sh")
    for name in names:
        fx.write(name, "good\n")
    for link, target in ((".config/nvim", "editor"), (".local/bin/tool", "tool")):
        (fx.home / link).parent.mkdir(parents=True, exist_ok=True)
        (fx.home / link).symlink_to(fx.path(target))
    fx.run("git", "config", "--global", "filter.x.clean", "scripts/clean.sh %f")
    server = Server(fx, era=era)
    server.answers = lambda params: "deny"
    for number, name in enumerate(names):
        equal(server.failure("write_file", path=name, content=HOOK)["code"], "DENIED", name)
        equal(len(server.asked), number + 1, name)
        equal(choices(server.asked[-1]), ["once", "deny"], name)
        equal(fx.read(name), "good\n", name)
    server.data("write_file", path="scripts/other.sh", content=HOOK)
    equal(len(server.asked), len(names), "the neighbour")


@test("C3 what links and git settings lead to counts from when they do, also in a server that runs already")
def led_there_meanwhile(fx):
    fx.git_project()
    server = Server(fx)
    server.answers = lambda params: "deny"
    fx.path("scripts").mkdir()
    names = ("extra.cfg", "scripts/clean.sh", "profile")
    for name in names:
        server.data("write_file", path=name, content="good\n")
    equal(server.asked, [], "the control")
    fx.run("git", "config", "include.path", "../extra.cfg")
    fx.run("git", "config", "filter.x.clean", "scripts/clean.sh %f")
    (fx.home / ".bash_profile").symlink_to(fx.path("profile"))
    evil = "[core]\n\tfsmonitor = touch planted\n"
    for number, name in enumerate(names):
        equal(server.failure("write_file", path=name, content=evil)["code"], "DENIED", name)
        equal(len(server.asked), number + 1, name)
        equal(fx.read(name), "good\n", name)
        check(server.failure("edit_file", path=name, edits=[{"oldText": "good", "newText": "evil"}])["code"] == "DENIED", name)
    server.data("write_file", path="scripts/other.sh", content=HOOK)
    server = Server(fx, roots=[f"file://{fx.project}"])  # a client that says its roots: the view is made once more
    server.answers = lambda params: "deny"
    server.data("list_directory", path=".")
    for name in names:
        equal(server.failure("write_file", path=name, content=evil)["code"], "DENIED", name)
        equal(fx.read(name), "good\n", name)
    server.data("write_file", path="scripts/other.sh", content="x")
    equal(len(server.asked), len(names), "the neighbour")


@each_era
def agents_settings(fx, era):
    """C3 file tools and commands write what an agent remembers unasked, and ask about what it runs"""
    server = Server(fx, era=era)
    server.answers = lambda params: "deny"
    fx.path(".codex").mkdir()
    fx.write(".claude.json", '{"numStartups": 1}')
    evil = '{"numStartups": 2, "mcpServers": {"x": {"command": "sh"}}}'
    server.data("write_file", path=".claude.json", content='{"numStartups": 2}')
    server.data("write_file", path=".codex/history.jsonl", content="{}")
    equal(fx.read(".claude.json"), '{"numStartups": 2}')
    write = "printf %s '{}' >new; mv -f new .claude.json".format
    equal(server.data("run_command", command=write('{"numStartups": 3}'))["exitCode"], 0)
    equal(server.asked, [], "what is remembered")
    equal(server.data("run_command", command=write(evil))["exitCode"], 1)
    equal(len(server.asked), 1)
    contains(message(server.asked[-1]), 'mcpServers.x = {"command":"sh"}')
    equal(server.failure("write_file", path=".claude.json", content=evil)["code"], "DENIED")
    equal(server.failure("write_file", path=".codex/config.toml", content="x")["code"], "DENIED")
    equal(fx.read(".claude.json"), '{"numStartups": 3}')


@test("C3 moving and copying there ask as well")
def moved(fx):
    server = opened(fx)
    for number, tool in enumerate(("move_file", "copy_file")):
        source = f"evil{number}"
        fx.write(source, HOOK, 0o755)
        target = fx.outside / f".git/hooks/post-{number}"
        target = fx.outside / ".git/hooks" / ("pre-push", "post-merge")[number]
        server.asked.clear()
        equal(server.failure(tool, source=source, destination=str(target))["code"], "DENIED")
        equal(choices(server.asked[-1]), ["once", "deny"])
        contains(message(server.asked[-1]), "git runs hooks")
        check(not target.exists() and fx.exists(source))
    fx.write("tree/hooks/pre-commit", HOOK, 0o755)
    server.asked.clear()
    server.failure("move_file", source="tree", destination=str(fx.outside / "sub/.git"))
    check(server.asked or not (fx.outside / "sub").exists())
    check(not (fx.outside / "sub/.git/hooks").exists())


def names_under(path):
    return sorted(str(found.relative_to(path)) for found in path.rglob("*"))


@each_era
def whole_tree(fx, era):
    """C3 a copy of a tree is asked about before any of it is made, and then made as a whole"""
    names = ("a/.git/hooks/pre-commit", "a/.vscode/tasks.json", "bare/hooks/post-commit", "z/last.txt")
    for name in names:
        fx.write(f"tree/{name}", HOOK, 0o755)
    for name in ("objects", "refs"):
        (fx.path("tree/bare") / name).mkdir()
    server = Server(fx, era=era)
    for number in range(3):  # a no to the first, the second, the third question
        asked = []
        server.answers = lambda params, asked=asked: asked.append(params) or (
            "deny" if len(asked) > number else "once")
        target = f"copy{number}"
        equal(server.failure("copy_file", source="tree", destination=target, recursive=True)["code"], "DENIED")
        equal(len(asked), number + 1)
        check(not fx.exists(target), f"{target}: nothing is made before the last answer")
    server.asked.clear()
    server.answers = lambda params: "once"
    server.data("copy_file", source="tree", destination="copy", recursive=True)
    equal(len(server.asked), 3, "one question for each name")
    for asked in server.asked:
        contains(message(asked), "echo planted")
        contains(message(asked), "a copy of")
    equal(names_under(fx.path("copy")), names_under(fx.path("tree")))
    fx.write("plain/b/c.txt", "x\n")
    server.asked.clear()
    server.data("copy_file", source="plain", destination="plain2", recursive=True)
    equal((server.asked, fx.read("plain2/b/c.txt")), ([], "x\n"), "the neighbour")


@test("C3 a tree that is moved where other rules hold: guarded names in it, and where it goes, are told")
def moved_out(fx):
    server = opened(fx)
    for number in range(6):
        fx.write(f"tree/{number}/.vscode/tasks.json", "{}\n")
    fx.write("plain/file", "x\n")
    answered = server.failure("move_file", source="tree", destination=str(fx.outside / "tree"))
    equal(answered["code"], "DENIED")
    asked = server.asked[-1]
    equal(choices(asked), ["once", "deny"])
    contains(message(asked), "tasks that run when the folder is opened")
    equal(message(asked).count(".vscode/tasks.json"), 4, message(asked))
    contains(message(asked), "and 2 more")
    contains(message(asked), f"moved from '{fx.path('tree')}'")
    check(fx.exists("tree") and not (fx.outside / "tree").exists())
    for number in range(60):
        fx.write(f"padded/{number}/.vscode/tasks.json", "{}\n")
    fx.write("padded/zz/.git/hooks/pre-commit", "#!/bin/sh\n")
    fx.write("padded/zz/.envrc", "x\n")
    server.failure("move_file", source="padded", destination=str(fx.outside / "padded"))
    for line in (".git/hooks/pre-commit", ".envrc", "and 58 more"):
        contains(message(server.asked[-1]), line)
    server.asked.clear()
    server.data("copy_file", source="plain", destination=str(fx.outside / "plain"), recursive=True)
    server.data("move_file", source="plain/file", destination=str(fx.outside / "file"))
    equal(server.asked, [], "the neighbours: a copy, and a file")
    os.rename(fx.path("tree"), fx.outside / "tree")  # anybody else may


@test("C3 the question about a move says where it goes")
def where_to(fx):
    server = Server(fx)
    server.answers = lambda params: "deny"
    (fx.outside / "file").write_text("x\n")
    server.failure("move_file", source=str(fx.outside / "file"), destination="here")
    contains(message(server.asked[0]), f"moved to '{fx.path('here')}'")
    fx.write("file", "x\n")
    server.failure("move_file", source="file", destination=str(fx.outside / "there"))
    contains(message(server.asked[-1]), f"moved from '{fx.path('file')}'")


@each_era
def one_question(fx, era):
    """C3 a guarded name outside is one question that says everything; yes is for these bytes"""
    server = Server(fx, era=era)
    path = fx.outside / ".bashrc"
    server.answers = lambda params: "once"
    server.data("write_file", path=str(path), content="export A=1\n")
    equal(len(server.asked), 1)
    text = message(server.asked[0])
    contains(text, "outside the project")
    contains(text, "bash obeys it later, outside: shell start-up file")
    contains(text, "export A=1")
    equal(choices(server.asked[0]), ["once", "deny"])
    equal(fx.read(path), "export A=1\n")
    server.answers = lambda params: "deny"
    server.failure("write_file", path=str(path), content="export A=2\n")
    contains(message(server.asked[-1]), "export A=2")
    equal(fx.read(path), "export A=1\n")


@test("C3 what was not offered is no answer: directory and always mean no")
def not_offered(fx):
    for word in ("directory", "always", "session", "ALWAYS", ""):
        server = Server(fx)
        server.answers = lambda params, word=word: word
        name = fx.outside / ".bashrc"
        equal(server.failure("write_file", path=str(name), content="x\n")["code"], "DENIED", word)
        check(not name.exists(), word)
        data = server.data("run_command", command=f"echo x > {fx.outside}/.profile")
        check(not (fx.outside / ".profile").exists(), f"{word}: {data}")
        server.close()
    equal(fx.sandbash("--list-paths").stdout.count(str(fx.outside)), 0)


@each_era
def commands(fx, era):
    """C3 nor do commands write there under an answer for the directory"""
    server = opened(fx, era)
    data = server.data("run_command", command=f"echo plain > {fx.outside}/third; "
                       f"echo x > {fx.outside}/.git/hooks/pre-commit; "
                       f"ln -s /srv/evil {fx.outside}/.vscode")
    check((fx.outside / "third").exists(), str(data))
    equal([choices(asked) for asked in server.asked], [["once", "deny"]] * 2)
    contains(message(server.asked[0]), "git runs hooks")
    contains(message(server.asked[1]), "it leads to '/srv/evil'")
    contains(message(server.asked[1]), "VS Code")
    check(not (fx.outside / ".git/hooks/pre-commit").exists())
    check(not os.path.lexists(fx.outside / ".vscode"))


@each_era
def led_out(fx, era):
    """C3 a link that leads to a guarded name outside asks, by whichever tool; once and deny are offered"""
    server = Server(fx, era=era)
    server.answers = lambda params: "deny"
    (fx.project / "a/b/c").mkdir(parents=True)
    os.symlink("../.bash_aliases", fx.project / "a/b/link")  # which leads nowhere from there
    os.symlink("../../.bash_aliases", fx.project / "a/b/c/link")
    os.symlink("../notes.txt", fx.project / "a/b/plain")
    calls = (("run_command", {"command": "ln -s ~/.bash_aliases CHANGELOG"}),
             ("move_file", {"source": "a/b/link", "destination": "NEWS"}),
             ("copy_file", {"source": "a/b/c", "destination": "d", "recursive": True}))
    for number, (tool, arguments) in enumerate(calls):
        result = server.call(tool, **arguments)
        check(not any(os.path.lexists(fx.path(name)) for name in ("CHANGELOG", "NEWS", "d/link")), tool)
        equal(len(server.asked), number + 1, f"{tool} {result}")
        equal(choices(server.asked[-1]), ["once", "deny"], tool)
        contains(message(server.asked[-1]), f"leads to '{fx.home}/.bash_aliases'")
        contains(message(server.asked[-1]), "shell start-up file")
    (fx.project / "a/b/c/link").unlink()
    (fx.project / "a/b/c/link").symlink_to("../../notes.txt")
    server.data("move_file", source="a/b/plain", destination="one")
    server.data("copy_file", source="a/b/c", destination="two", recursive=True)
    check(fx.path("one").is_symlink() and fx.path("two/link").is_symlink(), "neighbours")
    equal(len(server.asked), 3, "neighbours ask nobody")
    server.close()
    server = opened(fx, era)
    server.data("run_command", command=f"ln -s ~/.bash_aliases {fx.outside}/log; ln -s first.txt {fx.outside}/plain; "
                f"ln -s {fx.outside}/first.txt {fx.outside}/whole")
    equal(len(server.asked), 1, "nor is an answer for a directory one for such links in it")
    equal([os.path.lexists(fx.outside / name) for name in ("log", "plain", "whole")], [False, True, True])
    server.answers = lambda params: "once"
    server.data("move_file", source="a/b/link", destination="TODO")
    equal(os.readlink(fx.path("TODO")), "../.bash_aliases", "somebody said yes")


@each_era
def ahead(fx, era):
    """C8 a guarded name that is asked for ahead: said what it is, once and deny, and used up"""
    server = opened(fx, era)
    path = fx.outside / ".bashrc"
    ask = {"path": str(path), "operations": ["create"], "reason": "to set PATH"}
    server.failure("request_access", **ask)
    text = message(server.asked[0])
    contains(text, "bash obeys it later, outside: shell start-up file")
    contains(text, "a yes is for any bytes, once")
    contains(text, "to set PATH")
    equal(choices(server.asked[0]), ["once", "deny"])
    server.close()

    server = opened(fx, era)
    server.answers = lambda params: "once"
    equal(server.data("request_access", **ask)["granted"], True)
    server.answers = lambda params: "deny"
    server.data("write_file", path=str(path), content="one\n")
    equal(len(server.asked), 1, "it was granted ahead")
    path.unlink()
    server.failure("write_file", path=str(path), content="two\n")
    equal(len(server.asked), 2, "once was used up")


@test("C3 always for the place, and a restart: guarded names ask as before")
def after_always(fx):
    (fx.outside / ".git/hooks").mkdir(parents=True)
    server = Server(fx)
    server.answers = lambda params: "always"
    server.data("write_file", path=str(fx.outside / "a.txt"), content="1")
    server.close()
    server = Server(fx)
    server.answers = lambda params: "deny"
    server.data("run_command", command=f"echo 2 > {fx.outside}/b.txt")
    check((fx.outside / "b.txt").exists(), "neighbour")
    equal(server.asked, [])
    server.data("run_command", command=f"echo x > {fx.outside}/.git/hooks/pre-commit")
    server.failure("write_file", path=str(fx.outside / ".git/hooks/post-commit"), content=HOOK)
    equal([choices(asked) for asked in server.asked], [["once", "deny"]] * 2)
    equal(os.listdir(fx.outside / ".git/hooks"), [])


@test("C3 an answer for a directory with a guarded name opens no such name, also when it is kept")
def named_directory(fx):
    """The rule for X/.vscode would be one about that name."""
    (fx.outside / ".vscode").mkdir()
    for answer in ("directory", "always"):
        server = Server(fx)
        server.answers = lambda params, answer=answer: answer
        server.data("write_file", path=str(fx.outside / ".vscode/notes.txt"), content=answer)
        server.answers = lambda params: "deny"
        server.asked.clear()
        data = server.data("run_command", command=f"echo x > {fx.outside}/.vscode/tasks.json; "
                           f"echo y > {fx.outside}/.vscode/more.txt")
        check((fx.outside / ".vscode/more.txt").exists(), f"neighbour: {data} {server.asked}")
        equal([choices(asked) for asked in server.asked], [["once", "deny"]], answer)
        server.failure("write_file", path=str(fx.outside / ".vscode/settings.json"), content="{}")
        server.close()
        (fx.outside / ".vscode/more.txt").unlink()
    server = Server(fx)
    server.answers = lambda params: "deny"
    server.data("run_command", command=f"echo x > {fx.outside}/.vscode/launch.json")
    check(not (fx.outside / ".vscode/launch.json").exists())
    equal([p.name for p in (fx.outside / ".vscode").iterdir()], ["notes.txt"])


@test("C4 the question of a tool keeps all its lines")
def lines(fx):
    server = Server(fx)
    server.answers = lambda params: "deny"
    fx.write(fx.outside / ".zshrc", "old\n")
    server.failure("request_access", path=str(fx.outside / ".zshrc"), operations=["delete"],
                   reason="not needed\nWhy: nothing")
    text = message(server.asked[0])
    contains(text, "not needed\\nWhy: nothing")
    equal(text.count("\nWhy:"), 1)


@test("a question says each thing once: who obeys the name, and what would be written")
def said_once(fx):
    fx.git_project()
    server = Server(fx)
    server.answers = lambda params: "deny"
    server.call("write_file", path=str(fx.path(".git/hooks/pre-commit")), content=HOOK)
    server.call("write_file", path=str(fx.path(".git/config")), content="[core]\n\tfsmonitor = /planted\n")
    for asked, content in zip(server.asked, ("echo planted", None), strict=True):
        lines = message(asked).split("\n")
        equal(len(set(lines)), len(lines), message(asked))
        equal(sum("obeys it later" in line for line in lines), 1, message(asked))
        if content:
            equal(message(asked).count(content), 1, message(asked))
    contains(message(server.asked[1]), "(core.fsmonitor = /planted)", "what was found is said beside the content")


# a file in a directory that gets a name
BROUGHT = [("CVS", "Root"), ("CVS", "Repository"), ("cvs", "root"), (".nova", "Tasks/x"), (".R", "Makevars"), (".vagrant.d", "Vagrantfile"),
           (".config", "Code/User/settings.json"), (".config/Code", "User/settings.json"), (".config", "JetBrains/x"), (".cpan", "CPAN/x"),
           (".VSCODE", "TASKS.JSON"), (".vscode", "tasks.json")]


@test("move_file: a directory that gets a name of the table brings none of its files, in whatever letters")
def brought(fx):
    server = Server(fx, "--consent=deny")
    for number, (name, inner) in enumerate(BROUGHT):
        top = fx.path(f"p{number}")
        fx.write(top / "t" / inner, "x")
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        server.failure("write_file", path=str(top / name / inner), content="x")
        server.failure("move_file", source=str(top / "t"), destination=str(top / name))
        check((top / "t" / inner).exists() and not (top / name / inner).exists(), f"{name}/{inner}")
        server.data("move_file", source=str(top / "t"), destination=str(top / "other"))
        check((top / "other" / inner).exists(), "the neighbour")


run_all()
