"""rules.py - rules of the user's reach the tools: --allow-read, --allow-write, "always", and after a restart.

Each tool is refused without the rule, works with it, and its neighbour stays closed.
"""

import shlex

from mcp import Server
from tap import check, contains, equal, lacks, run_all, test

TEXT = "text of a file outside\n"


def serve(fx, *flags, **how):
    return Server(fx, *flags, **how)


def error_of(result):
    return result["structuredContent"]["error"] if result.get("isError") else None


READS = (("read_text_file", {"path": "{}/file"}), ("get_file_info", {"path": "{}/file"}),
         ("list_directory", {"path": "{}"}), ("directory_tree", {"path": "{}"}),
         ("grep", {"pattern": "text", "path": "{}"}),
         ("copy_file", {"source": "{}/file", "destination": "copied"}))
CHANGES = (("write_file", {"path": "{}/new", "content": "x"}),
           ("write_file", {"path": "{}/file", "content": "x"}),
           ("edit_file", {"path": "{}/file", "edits": [{"oldText": "text", "newText": "x"}]}),
           ("create_directory", {"path": "{}/made"}), ("delete_file", {"path": "{}/file"}),
           ("move_file", {"source": "{}/file", "destination": "{}/moved"}))


def at(arguments, place):
    return {key: value.replace("{}", str(place)) if isinstance(value, str) else value
            for key, value in arguments.items()}


def lay_out(fx):
    fx.run("rm", "-rf", fx.outside / "dir", fx.project / "copied")
    fx.write(fx.outside / "dir/file", TEXT)
    fx.write(fx.outside / "beside/file", TEXT)


@test("what --allow-read opens, tools read and do not change")
def allow_read(fx):
    place = fx.outside / "dir"
    for tool, arguments in READS:
        lay_out(fx)
        plain = serve(fx, elicit=False)
        equal(plain.failure(tool, **at(arguments, place))["code"], "PATH_OUTSIDE_PROJECT", tool)
        plain.end()
        server = serve(fx, f"--allow-read={place}", elicit=False)
        result = server.call(tool, **at(arguments, place))
        check(not error_of(result), f"{tool}: {result}")
        equal(server.failure(tool, **at(arguments, fx.outside / "beside"))["code"], "PATH_OUTSIDE_PROJECT", tool)
        server.end()
    server = serve(fx, f"--allow-read={place}", elicit=False)
    for tool, arguments in CHANGES:
        check(server.failure(tool, **at(arguments, place))["code"] in ("READ_ONLY", "PATH_OUTSIDE_PROJECT"), tool)
    equal((place / "file").read_text(), TEXT)


@test("a hidden file that a rule opens for reading is open to tools and commands")
def hidden(fx):
    fx.write(fx.home / ".ssh/id", TEXT)
    fx.write(fx.home / ".ssh/other", TEXT)
    plain = serve(fx, elicit=False)
    equal(plain.failure("read_text_file", path="~/.ssh/id")["code"], "BLOCKED")
    plain.end()
    server = serve(fx, "--allow-read=~/.ssh/id", elicit=False)
    contains(str(server.call("read_text_file", path=str(fx.home / ".ssh/id"))), TEXT.strip())
    contains(server.data("run_command", command="cat ~/.ssh/id")["stdout"], TEXT)
    equal(server.failure("read_text_file", path=str(fx.home / ".ssh/other"))["code"], "BLOCKED")


@test("what --allow-write opens, tools change: what is there, and what is not yet")
def allow_write(fx):
    for tool, arguments in CHANGES:
        place = fx.outside / "dir"
        lay_out(fx)
        plain = serve(fx, elicit=False)
        equal(plain.failure(tool, **at(arguments, place))["code"], "PATH_OUTSIDE_PROJECT", tool)
        plain.end()
        server = serve(fx, f"--allow-write={place}", elicit=False)
        result = server.call(tool, **at(arguments, place))
        check(not error_of(result), f"{tool}: {result}")
        server.end()
    fx.run("rm", "-r", fx.outside / "dir")
    server = serve(fx, f"--allow-write={fx.outside / 'dir'}", elicit=False)
    for tool, arguments in (("create_directory", {"path": "{}"}), CHANGES[0]):
        result = server.call(tool, **at(arguments, fx.outside / "dir"))
        check(not error_of(result), f"{tool}: {result}")
    equal((fx.outside / "dir/new").read_text(), "x")
    server.failure("write_file", path=str(fx.outside / "dir2"), content="x")


@test("\"always\" for reading is written down, and counts after a restart")
def always(fx):
    lay_out(fx)
    server = serve(fx)
    server.answers = lambda params: "always"
    equal(server.data("read_text_file", path=str(fx.outside / "dir/file"))["content"], TEXT)
    equal(len(server.asked), 1)
    server.end()
    server = serve(fx)
    server.answers = lambda params: "deny"
    equal(server.data("read_text_file", path=str(fx.outside / "dir/file"))["content"], TEXT)
    check(not error_of(server.call("list_directory", path=str(fx.outside / "dir"))))
    equal(server.asked, [])
    server.failure("read_text_file", path=str(fx.outside / "beside/file"))
    equal(len(server.asked), 1)
    server.failure("write_file", path=str(fx.outside / "dir/file"), content="x")
    equal(len(server.asked), 2, "reading is not writing")


REMEDIES = (("read_text_file", {"path": "{}/file"}), ("read_text_file", {"path": "{}/a b*'"}),
            ("list_directory", {"path": "{}"}), ("write_file", {"path": "{}/new", "content": "x"}),
            ("write_file", {"path": "{}/file", "content": "x"}), ("create_directory", {"path": "{}/made"}),
            ("delete_file", {"path": "{}/file"}))


@test("the option that an error names allows the call")
def remedies(fx):
    for tool, arguments in REMEDIES:
        lay_out(fx)
        fx.write(fx.outside / "dir/a b*'", TEXT)
        arguments = at(arguments, fx.outside / "dir")
        for flags in ((), ("--consent=deny",)):
            server = serve(fx, *flags, elicit=False)
            error = server.failure(tool, **arguments)
            server.end()
            lacks(error["allow"], "--project")
            program, mode, *options = shlex.split(error["allow"])
            equal((program, mode), ("sandbash", "--mcp"))
        server = serve(fx, *options, elicit=False)
        result = server.call(tool, **arguments)
        check(not error_of(result), f"{tool}: {options}: {result}")
        server.failure("write_file", path=str(fx.outside / "beside/new"), content="x")
        server.end()


@test("the option that a refused command names allows it")
def run_remedies(fx):
    lay_out(fx)
    for script in (f"echo x > {fx.outside}/dir/new", f"rm {fx.outside}/dir/file"):
        server = serve(fx, elicit=False)
        data = server.data("run_command", command=script)
        server.end()
        options = data["refused"][0]["grant"]["options"]
        server = serve(fx, *options, elicit=False)
        equal(server.data("run_command", command=script)["exitCode"], 0, str(options))
        server.end()


@test("deny / leaves the tools the project, and commands what they need to start")
def deny_root(fx):
    lay_out(fx)
    fx.write("mine", "mine\n")
    server = serve(fx, "--deny=/", f"--allow-read={fx.outside / 'dir'}", elicit=False)
    equal(server.data("read_text_file", path="mine")["content"], "mine\n")
    server.data("write_file", path="new", content="x")
    equal(server.data("read_text_file", path=str(fx.outside / "dir/file"))["content"], TEXT)
    equal(server.failure("read_text_file", path=str(fx.outside / "beside/file"))["code"], "BLOCKED")
    equal(server.failure("read_text_file", path="/etc/hostname")["code"], "BLOCKED")
    data = server.data("run_command", command=f"cat mine {fx.outside}/dir/file {fx.outside}/beside/file")
    equal(data["stdout"], "mine\n" + TEXT)
    contains(data["stderr"], "Permission denied")


@test("a tool puts no link in the place that a rule names")
def no_link(fx):
    place = fx.home / "cache"
    for there in (False, True):
        if there:
            place.mkdir()
        server = serve(fx, "--allow-write=~/cache", elicit=False)
        equal(server.data("run_command", command="ln -sf ~/mine l; echo x >f")["exitCode"], 0)
        if there:
            server.call("delete_file", path=str(place), recursive=True)
        check(error_of(server.call("move_file", source="l", destination=str(place))), "the link")
        check(not place.is_symlink())
        # the neighbour: a file
        check(not error_of(server.call("move_file", source="f", destination=str(place))))
        place.unlink()
        server.end()


@test("a tool renames nothing across the border of a fast root, nor the root")
def fast_border(fx):
    fx.path("build/tree/.vscode").mkdir(parents=True)
    fx.path("sub").mkdir()
    fx.write("build/tree/.vscode/tasks.json", "{}\n")
    fx.write("build/out.txt", "x\n")
    server = serve(fx, "--rule=fast build", elicit=False)
    for source, destination in (("build/tree", "tree"), ("build/tree/.vscode", ".vscode"), ("build", "build2"),
                                ("sub", "build/sub")):
        check(error_of(server.call("move_file", source=source, destination=destination)), source)
    check(not fx.exists("tree") and not fx.exists(".vscode") and not fx.exists("build2"))
    # neighbours: within it, and a file across it, as a copy
    check(not error_of(server.call("move_file", source="build/tree", destination="build/t2")))
    check(not error_of(server.call("move_file", source="build/out.txt", destination="out.txt")))


ASKED = ("ask:read+modify", "ask:read+modify+create+delete", "ask:read+ask:modify")


@test("what asks before it is read is not overwritten unasked, by a tool or a command")
def unread(fx):
    edit = [{"oldText": "text", "newText": "x"}]
    for access in (*ASKED, "read+modify"):
        asks = access in ASKED
        for tool, arguments in (("write_file", {"content": "x"}), ("edit_file", {"edits": edit})):
            fx.write("file", TEXT)
            server = serve(fx, f"--rule={access} file")
            server.answers = lambda params: "deny"
            result = server.call(tool, path="file", **arguments)
            equal(error_of(result)["code"] if asks else error_of(result), "DENIED" if asks else None, access)
            equal(len(server.asked), int(asks), access)
            equal(fx.read("file") == TEXT, asks, access)
            server.end()
            fx.write("file", TEXT)
            server = serve(fx, f"--rule={access} file")
            server.answers = lambda params: "once"
            check(not error_of(server.call(tool, path="file", **arguments)), access)
            check(fx.read("file") != TEXT, access)
            server.end()
        fx.write("file", TEXT)
        fx.sandbash("--consent=deny", f"--rule={access} file", "sh", "-c", "echo x >file")
        equal(fx.read("file") == TEXT, asks, access)


run_all()
