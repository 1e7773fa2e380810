"""files.py - the file tools through the protocol: shapes of the reference server, errors, roots."""

import base64
import json
import os
import socket
import time

from mcp import Server
from tap import BIN, check, contains, equal, lacks, run_all, test, wait

REFERENCE = ("read_file", "read_text_file", "read_media_file", "read_multiple_files", "write_file",
             "edit_file", "create_directory", "list_directory", "list_directory_with_sizes",
             "directory_tree", "move_file", "search_files", "get_file_info",
             "list_allowed_directories")
OWN = ("delete_file", "copy_file", "glob", "grep", "run_command", "what_may_i_do")


@test("the list: every tool with title, description, four annotations and both schemas")
def listed(fx):
    tools = {tool["name"]: tool for tool in Server(fx).request("tools/list")["tools"]}
    for name in REFERENCE + OWN:
        tool = tools[name]
        check(tool["title"] and len(tool["description"]) > 20, name)
        equal(sorted(tool["annotations"]), ["destructiveHint", "idempotentHint", "openWorldHint",
                                            "readOnlyHint", "title"], name)
        equal(tool["inputSchema"]["type"], "object", name)
        contains(tool["outputSchema"]["required"], "content", name)
        for parameter in tool["inputSchema"]["properties"].values():
            check(parameter["description"], name)
    check(tools["read_text_file"]["annotations"]["readOnlyHint"])
    check(tools["write_file"]["annotations"]["destructiveHint"])


@test("reading: whole, head, tail, lines; encodings; media; several files")
def reading(fx):
    fx.write("a.txt", "".join(f"line {i}\n" for i in range(1, 101)))
    fx.write("latin.txt", "caf\xe9\n".encode("latin-1"))
    fx.write("wide.txt", "wide\n".encode("utf-16"))
    fx.write("dot.png", b"\x89PNG\r\n\x1a\n")
    fx.write("data.bin", bytes(range(256)))
    server = Server(fx)
    result = server.call("read_text_file", path="a.txt")
    equal(result["content"][0]["text"], result["structuredContent"]["content"])
    equal(server.data("read_text_file", path="a.txt", head=2)["content"], "line 1\nline 2\n")
    equal(server.data("read_text_file", path="a.txt", tail=1)["content"], "line 100\n")
    data = server.data("read_text_file", path="a.txt", offset=5, limit=2)
    equal((data["content"], data["nextOffset"]), ("line 5\nline 6\n", 7))
    server.failure("read_text_file", path="a.txt", head=1, tail=1)
    equal(server.data("read_file", path="latin.txt")["content"], "café\n")
    equal(server.data("read_file", path="wide.txt")["content"], "wide\n")
    equal(server.failure("read_file", path="data.bin")["code"], "BINARY")
    block = server.call("read_media_file", path="dot.png")
    equal(block["content"], block["structuredContent"]["content"])
    equal((block["content"][0]["type"], block["content"][0]["mimeType"]), ("image", "image/png"))
    block = server.call("read_media_file", path="data.bin")["content"][0]
    equal(base64.b64decode(block["resource"]["blob"]), bytes(range(256)))
    equal(server.call("read_media_file", path="none")["structuredContent"]["content"], [])
    text = server.data("read_multiple_files", paths=["latin.txt", "none", "wide.txt"])["content"]
    contains(text, "latin.txt:\ncafé\n")
    contains(text, "none: Error - ")
    contains(text, "wide.txt:\nwide\n")


@test("changing: write, edit, directories, move, copy, delete")
def changing(fx):
    server = Server(fx)
    equal(server.data("write_file", path="a.txt", content="one\ntwo\n")["content"],
          "Successfully wrote to a.txt")
    data = server.data("edit_file", path="a.txt", dryRun=True,
                       edits=[{"oldText": "two", "newText": "three"}])
    contains(data["content"], "```diff\n")
    contains(data["content"], "-two\n+three\n")
    equal(fx.read("a.txt"), "one\ntwo\n")
    server.data("edit_file", path="a.txt", edits=[{"oldText": "two", "newText": "three"},
                                                  {"insertLine": 1, "newText": "zero\n"}])
    equal(fx.read("a.txt"), "zero\none\nthree\n")
    equal(server.failure("edit_file", path="a.txt", edits=[{"oldText": "e", "newText": ""}])["code"],
          "AMBIGUOUS_MATCH")
    equal(server.failure("edit_file", path="a.txt", edits=[{"oldText": "zz", "newText": ""}])["code"],
          "NO_MATCH")
    server.data("create_directory", path="x/y/z")
    server.data("create_directory", path="x/y/z")
    server.data("move_file", source="a.txt", destination="x/b.txt")
    equal(server.failure("move_file", source="x/b.txt", destination="x/y")["code"], "EXISTS")
    server.data("copy_file", source="x/b.txt", destination="c.txt")
    server.data("delete_file", path="x", recursive=True)
    check(not fx.exists("x") and fx.exists("c.txt"))
    equal(server.failure("delete_file", path="x")["code"], "NOT_FOUND")
    server.data("write_file", path="nul", content="a\0b")
    equal(fx.read("nul"), "a\0b")


@test("looking: lists, sizes, tree, search, facts as the reference server prints them")
def looking(fx):
    fx.write("b.txt", "x" * 2048)
    fx.write("a/c.c", "int x;\n")
    (fx.project / "a" / "empty").mkdir()
    server = Server(fx)
    equal(server.data("list_directory", path=".")["content"], "[DIR] a\n[FILE] b.txt")
    text = server.data("list_directory_with_sizes", path=".", sortBy="size")["content"]
    contains(text, "[FILE] b.txt                             2.00 KB")
    contains(text, "Total: 1 files, 1 directories\nCombined size: 2.00 KB")
    tree = json.loads(server.data("directory_tree", path=".")["content"])
    equal(tree, [{"name": "a", "type": "directory", "children": [
        {"name": "c.c", "type": "file"}, {"name": "empty", "type": "directory", "children": []}]},
                 {"name": "b.txt", "type": "file"}])
    text = server.data("directory_tree", path=".")["content"]
    equal(text, json.dumps(tree, indent=2))
    equal(json.loads(server.data("directory_tree", path=".", excludePatterns=["a"])["content"]),
          [{"name": "b.txt", "type": "file"}])
    equal(server.data("search_files", path=".", pattern="**/*.c")["content"],
          str(fx.project / "a" / "c.c"))
    equal(server.data("search_files", path=".", pattern="*.none")["content"], "No matches found")
    text = server.data("get_file_info", path="b.txt")["content"]
    for line in ("size: 2048", "isDirectory: false", "isFile: true", "permissions: 644"):
        contains(text.splitlines(), line)
    equal(server.data("list_allowed_directories")["content"],
          f"Allowed directories:\n{fx.project}")


@test("glob and grep: pages, context, limits")
def searching(fx):
    for i in range(25):
        fx.write(f"d/f{i:02}.txt", f"alpha {i}\nbeta\n")
    server = Server(fx)
    data = server.data("glob", pattern="**/*.txt", limit=10)
    equal((len(data["files"]), data["nextOffset"]), (10, 10))
    data = server.data("glob", pattern="**/*.txt", limit=10, offset=20)
    equal(len(data["files"]), 5)
    lacks(data, "nextOffset")
    data = server.data("grep", pattern="alpha 1\\b", after=1)
    equal([(line["line"], line["text"]) for line in data["files"][0]["lines"]],
          [(1, "alpha 1"), (2, "beta")])
    equal(server.data("grep", pattern="beta", limit=3)["truncated"], True)
    equal(server.failure("grep", pattern="(")["code"], "INVALID_PATTERN")
    equal(len(server.data("grep", pattern="BETA", ignoreCase=True, filesOnly=True)["files"]), 25)


@test("arguments that do not fit are told so that a model can repair them")
def arguments(fx):
    server = Server(fx)
    for tool, given, part in (
            ("read_text_file", {}, "'path' is missing"),
            ("read_text_file", {"path": 5}, "'path' must be a string"),
            ("read_text_file", {"path": ""}, "not empty"),
            ("read_text_file", {"path": "a\0b"}, "without NUL"),
            ("read_text_file", {"path": "a", "head": "5"}, "'head' must be an integer"),
            ("read_text_file", {"path": "a", "head": 1.5}, "'head' must be an integer"),
            ("read_text_file", {"path": "a", "head": -1}, "between"),
            ("read_text_file", {"path": "a", "lines": 5}, "takes no argument 'lines'"),
            ("read_multiple_files", {"paths": []}, "at least one"),
            ("read_multiple_files", {"paths": ["a", 5]}, "strings"),
            ("edit_file", {"path": "a", "edits": []}, "at least one"),
            ("edit_file", {"path": "a", "edits": [{"newText": "x"}]}, "either"),
            ("edit_file", {"path": "a", "edits": [{"oldText": "", "newText": "x"}]}, "not empty"),
            ("edit_file", {"path": "a", "edits": [5]}, "objects"),
            ("list_directory_with_sizes", {"path": ".", "sortBy": "x"}, "one of: name size"),
            ("run_command", {"command": "x", "background": "yes"}, "true or false")):
        error = server.failure(tool, **given)
        equal(error["code"], "INVALID_ARGUMENT", str(given))
        contains(error["person"], part)
    server.failure("read_text_file", path="a", head=None)  # null: left out; the file is missing
    fx.write("a", "x\ny\n")
    equal(server.data("read_text_file", path="a", head=1.0)["content"], "x\n")


@test("F4 errors carry code, person, model, violation, and the way out")
def errors(fx):
    server = Server(fx, "--allow-read=vendor", elicit=False)
    fx.write("vendor/x", "x")
    error = server.failure("write_file", path="vendor/x", content="y")
    equal((error["code"], error["violation"]), ("READ_ONLY", True))
    contains(error["rule"], "--allow-read=vendor")
    error = server.failure("read_text_file", path="missing")
    equal((error["code"], error["violation"]), ("NOT_FOUND", False))
    check(error["person"] and error["model"])
    result = server.call("read_text_file", path="missing")
    contains(result["content"][0]["text"], "NOT_FOUND")


@test("F2 the way out is closed: dots, links, magic links, twins, fifos")
def ways_out(fx):
    fx.write(fx.outside / "s.txt", "outside")
    os.symlink(fx.outside, fx.project / "link")
    os.symlink(fx.outside / "s.txt", fx.project / "file-link")
    os.mkfifo(fx.project / "fifo")
    twin = fx.write(fx.home / "project-evil" / "x", "evil")
    server = Server(fx, elicit=False)
    for path in ("../../outside/s.txt", str(fx.outside / "s.txt"), "link/s.txt", "file-link",
                 "/proc/self/root/etc/passwd", "/proc/self/cwd/../../outside/s.txt", str(twin),
                 "../project-evil/x", "/proc/1/environ", "fifo"):
        error = server.failure("read_text_file", path=path)
        check(error["code"] in ("NEEDS_CONSENT", "NOT_A_FILE", "BLOCKED", "PATH_OUTSIDE_PROJECT",
                                "PERMISSION"), f"{path}: {error}")
        server.failure("write_file", path=path, content="x")
    server.failure("write_file", path="link/new", content="x")
    equal(os.listdir(fx.outside), ["s.txt"])
    equal(fx.read(fx.outside / "s.txt"), "outside")


OUTSIDE_CALLS = (
    # tool, arguments with {} for the path, operation
    ("read_text_file", {"path": "{}"}, "read"),
    ("read_media_file", {"path": "{}"}, "read"),
    ("get_file_info", {"path": "{}"}, "read"),
    ("grep", {"path": "{}", "pattern": "x"}, "read"),
    ("glob", {"path": "{}", "pattern": "*"}, "read"),
    ("write_file", {"path": "{}", "content": "x"}, "modify"),
    ("edit_file", {"path": "{}", "edits": [{"oldText": "outside", "newText": "x"}]}, None),
    ("delete_file", {"path": "{}"}, "delete"),
    ("move_file", {"source": "{}", "destination": "here"}, None),
    ("copy_file", {"source": "{}", "destination": "here"}, "read"),
    ("copy_file", {"source": "a.txt", "destination": "{}", "overwrite": True}, "modify"),
)


def outside_error(fx, server, tool, arguments, given, resolved):
    words = json.loads(json.dumps(arguments).replace("{}", given))
    error = server.failure(tool, **words)
    equal((error["code"], error["violation"]), ("PATH_OUTSIDE_PROJECT", True), f"{tool}: {error}")
    equal(error["person"], f'"{given}" is "{resolved}", which lies outside the project root '
          f'"{fx.project}"', tool)
    contains(error["model"], "Give one that is relative to the project root, as \"src/file.ts\", instead of "
             f"\"{given}\".")
    equal((error["given"], error["path"], error["root"]), (given, str(resolved), str(fx.project)))
    return error


@test("F8 --consent=deny, or nobody to ask: a path outside is a violation, and says what to do")
def outside_said(fx):
    secret = fx.write(fx.outside / "s.txt", "outside")
    fx.write("a.txt", "inside")
    os.symlink(secret, fx.project / "link")
    for server in (Server(fx, "--consent=deny"), Server(fx, elicit=False)):
        server.answers = lambda params: "once"
        for given in ("../../outside/s.txt", str(secret)):
            for tool, arguments, op in OUTSIDE_CALLS:
                error = outside_error(fx, server, tool, arguments, given, secret)
                if op:
                    equal(error["operation"], op, tool)
        error = outside_error(fx, server, "read_text_file", {"path": "{}"}, "link", secret)
        contains(error["model"], f"cp -R {secret} {fx.project}", "how to bring it in")
        files = server.data("read_multiple_files", paths=["a.txt", "link"])
        contains(files["content"], 'link: Error - "link" is')
        equal(server.asked, [])
        equal(fx.read(secret), "outside")
        server.data("read_text_file", path="a.txt")  # the neighbour
        server.close()
    equal(fx.run("cp", "-R", secret, fx.project).status, 0, "what the advice says")
    equal(Server(fx, "--consent=deny").data("read_text_file", path="s.txt")["content"], "outside")


@test("F8 --consent=deny names no session to attach to, where nobody could answer either")
def deny_has_no_attach(fx):
    fx.git_project()
    server = Server(fx, "--consent=deny")
    for words in ({"path": str(fx.outside / "n"), "content": "x"},
                  {"path": ".git/hooks/pre-commit", "content": "x"}):
        error = server.failure("write_file", **words)
        check("attach" not in error and "--attach" not in error["model"], str(error))
        equal(error["violation"], True)
    other = Server(fx, elicit=False).failure("write_file", path=str(fx.outside / "n"), content="x")
    contains(other["model"], other["attach"], "where somebody may come, the way is said")


@test("F7 every path of a call that was refused is in the record, as it was given")
def recorded_as_given(fx):
    fx.write(fx.outside / "s.txt", "outside")
    server = Server(fx, "--consent=deny", "--deny=hidden")
    fx.write("hidden", "x")
    server.failure("read_text_file", path="./../../outside/s.txt")
    server.data("read_multiple_files", paths=["../../outside/s.txt", "../x", "hidden"])
    server.failure("get_file_info", path="/proc/self/status")
    server.close()

    def denied():
        return [record for line in fx.sandbash("--log", "--json").stdout.splitlines()
                for record in [json.loads(line)] if record["event"] == "deny"]

    # the keeper writes it, and may end a moment after the server
    wait(lambda: len(denied()) >= 5, "five records")
    denials = denied()
    equal([(one["act"], one["given"]) for one in denials],
          [("read_text_file", "./../../outside/s.txt"),
           ("read_multiple_files", "../../outside/s.txt"), ("read_multiple_files", "../x"),
           ("read_multiple_files", "hidden"), ("get_file_info", "/proc/self/status")])
    equal(denials[0]["path"], str(fx.outside / "s.txt"))
    contains(fx.sandbash("--log").stdout, "(given as ./../../outside/s.txt)")


@test("F8 results have the absolute and the relative path")
def both_paths(fx):
    (fx.project / "sub").mkdir()
    server = Server(fx)

    def where(tool, relative, **words):
        data = server.data(tool, **words)
        equal((data["absolutePath"], data["relativePath"]),
              (str(fx.project / relative) if relative != "." else str(fx.project), relative), tool)
        return data

    where("write_file", "sub/a.txt", path="sub/../sub/a.txt", content="x\n")
    where("edit_file", "sub/a.txt", path=str(fx.project / "sub/a.txt"),
          edits=[{"oldText": "x", "newText": "y"}])
    for tool in ("read_file", "read_text_file", "read_media_file", "get_file_info"):
        where(tool, "sub/a.txt", path="./sub//a.txt")
    for tool in ("list_directory", "list_directory_with_sizes", "directory_tree"):
        where(tool, "sub", path="sub/")
        where(tool, ".", path=".")
    where("create_directory", "new/dir", path="new/dir")
    data = where("copy_file", "b.txt", source="sub/a.txt", destination="b.txt")
    equal((data["absoluteSource"], data["relativeSource"]),
          (str(fx.project / "sub/a.txt"), "sub/a.txt"))
    data = where("move_file", "c.txt", source="b.txt", destination="sub/../c.txt")
    equal(data["relativeSource"], "b.txt")
    os.symlink("sub/a.txt", fx.project / "link")
    where("read_text_file", "sub/a.txt", path="link")
    where("delete_file", "link", path="link")
    equal(where("glob", ".", pattern="*.txt")["relativeFiles"], ["c.txt"])
    equal(where("glob", "sub", pattern="*", path="sub")["relativeFiles"], ["sub/a.txt"])
    equal([one["relativePath"] for one in where("grep", ".", pattern="y")["files"]],
          ["c.txt", "sub/a.txt"])
    equal([one["relativePath"] for one in where("grep", "c.txt", pattern="y", path="c.txt")["files"]],
          ["c.txt"])
    files = server.data("read_multiple_files", paths=["c.txt", "none"])["files"]
    equal((files[0]["relativePath"], files[1]["error"]), ("c.txt", "NOT_FOUND"))


@test("F3 odd names inside work")
def odd_names(fx):
    server = Server(fx)
    for name in ("file..txt", "..foo", "a b", "ünï", "new\nline", "x" * 200, "-rf", "./a\\b"):
        server.data("write_file", path=name, content=name)
        equal(server.data("read_text_file", path=name)["content"], name)
    server.data("write_file", path="none/../a", content="x") if fx.exists("none") else None
    equal(sorted(os.listdir(fx.project)),
          sorted(("file..txt", "..foo", "a b", "ünï", "new\nline", "x" * 200, "-rf", "a\\b")))


@test("F5 F7 what is written as on Windows becomes no file: it is said how to write it, and what leads out is logged")
def windows(fx):
    fx.write("kept\\name", "old")
    server = Server(fx, elicit=False)
    for path, code, way in (("src\\a.txt", "INVALID_ARGUMENT", '"src/a.txt"'), ("CON", "INVALID_ARGUMENT", '"./CON"'),
                            ("a.txt:stream", "INVALID_ARGUMENT", '"a.txt"'),
                            ("..\\up.txt", "PATH_OUTSIDE_PROJECT", "src/file.ts"),
                            ("C:\\x", "PATH_OUTSIDE_PROJECT", '"./C:\\x"')):
        for tool, more in (("write_file", {"content": "x"}), ("read_text_file", {}), ("create_directory", {})):
            error = server.failure(tool, path=path, **more)
            equal((error["code"], error["violation"]), (code, code != "INVALID_ARGUMENT"), f"{tool} {path}")
            contains(error["model"], way)
    contains(server.failure("open_project", path="C:\\p", reason="x")["person"], "written as on Windows")
    equal(os.listdir(fx.project), ["kept\\name"])
    server.data("write_file", path="kept\\name", content="new")  # what is there has its name
    server.data("write_file", path="./C:\\x", content="meant")
    equal(sorted(os.listdir(fx.project)), ["C:\\x", "kept\\name"])
    server.close()

    def given():
        return {json.loads(line).get("given") for line in fx.sandbash("--log", "--json").stdout.splitlines()}

    # the keeper writes it, and may end a moment after the server
    wait(lambda: {"C:\\x", "..\\up.txt"} <= given(), "records of both")


@test("names that are no UTF-8 are listed and break nothing")
def no_utf8(fx):
    with open(os.fsencode(fx.project) + b"/bad-\xff", "w", encoding="utf-8") as file:
        file.write("x")
    server = Server(fx)
    contains(server.data("list_directory", path=".")["content"], "bad-\ufffd")
    server.data("directory_tree", path=".")
    server.data("glob", pattern="**")


@test("a result that is too large is cut and the rest is a resource")
def large(fx):
    fx.write("big.txt", "".join(f"{i}\n" for i in range(900000)))
    server = Server(fx)
    result = server.call("read_text_file", path="big.txt")
    check(len(result["structuredContent"]["content"]) < 300000)
    link = next(block for block in result["content"] if block["type"] == "resource_link")
    text, offset = "", 0
    while offset is not None:
        page = server.request("resources/read", {"uri": f"{link['uri']}?offset={offset}"})["contents"][0]
        text += page["text"]
        offset = page.get("_meta", {}).get("sandbash/nextOffset")
    equal(text, fx.read("big.txt"))


@test("directories on the command line are the projects, as with the reference server")
def directories(fx):
    fx.write(fx.outside / "a.txt", "first")
    other = fx.dir / "other"
    fx.write(other / "b.txt", "second")
    server = Server(fx, fx.outside, other, cwd="/", elicit=False)
    equal(server.data("list_allowed_directories")["content"],
          f"Allowed directories:\n{fx.outside}\n{other}")
    equal(server.data("read_text_file", path="a.txt")["content"], "first")
    equal(server.data("read_text_file", path=str(other / "b.txt"))["content"], "second")
    data = server.data("run_command", command=f"pwd; touch x {other}/y {fx.project}/z")
    equal(data["stdout"].strip(), str(fx.outside))
    check((other / "y").exists() and not fx.exists("z"))
    equal(server.failure("read_text_file", path=str(fx.write("p", "x")))["code"],
          "PATH_OUTSIDE_PROJECT")


@test("P5 roots of the client narrow, never widen")
def roots(fx):
    fx.write("sub/a.txt", "inside")
    fx.write("b.txt", "beside")
    fx.write(fx.outside / "c.txt", "outside")
    for offered, allowed in (([fx.project / "sub"], [fx.project / "sub"]),
                             ([fx.home], [fx.project]), (["/"], [fx.project]),
                             ([fx.outside], [fx.project]),
                             ([fx.project / "sub", fx.outside], [fx.project / "sub"]), ([], [fx.project])):
        server = Server(fx, roots=[f"file://{root}" for root in offered])
        server.answers = lambda params: "deny"
        want = "\n".join(["Allowed directories:", *map(str, allowed)])
        wait(lambda: server.data("list_allowed_directories")["content"] == want,
             lambda: f"{offered}: {server.data('list_allowed_directories')}")
        server.data("read_text_file", path=str(fx.project / "sub/a.txt"))
        server.failure("read_text_file", path=str(fx.outside / "c.txt"))
        if allowed == [fx.project / "sub"]:
            server.failure("read_text_file", path=str(fx.project / "b.txt"))
    server = Server(fx, roots=["http://x", "file://elsewhere/x", "file:///%00", "nonsense"])
    server.data("read_text_file", path="b.txt")


def narrowed(fx, server, allowed):
    want = "\n".join(["Allowed directories:", *map(str, allowed)])
    server.wait_until(lambda: server.data("list_allowed_directories")["content"] == want, want)


@test("P5 roots of the client narrow what commands may change, too")
def roots_and_commands(fx):
    for name in ("sub/f", "f", "sub/closed/f"):
        fx.write(name, "old")
    sub = fx.project / "sub"
    act = f"echo new > '{sub}/f'; echo new > '{fx.project}/f'; echo new > '{fx.outside}/f'; pwd"
    server = Server(fx, elicit=False)  # the control
    equal(server.data("run_command", command=act)["stdout"], f"{fx.project}\n")
    equal((fx.read("f"), fx.read("sub/f"), (fx.outside / "f").exists()), ("new\n", "new\n", False))
    fx.write("f", "old")
    fx.write("sub/f", "old")
    server = Server(fx, roots=[f"file://{sub}", f"file://{fx.outside}"], elicit=False)
    narrowed(fx, server, [sub])
    result = server.data("run_command", command=act)
    equal((result["stdout"], fx.read("f"), fx.read("sub/f")), (f"{sub}\n", "old", "new\n"))
    check(not (fx.outside / "f").exists(), "roots widened")
    equal({entry["path"] for entry in result["refused"]},
          {str(fx.project / "f"), str(fx.outside / "f")})
    # a rule of the user's is not loosened by a root inside what it closes
    server = Server(fx, "--allow-read=sub", roots=[f"file://{sub}/closed"], elicit=False)
    narrowed(fx, server, [sub / "closed"])
    server.data("run_command", command=f"echo new > '{sub}/closed/f'")
    equal(fx.read("sub/closed/f"), "old")


@test("P5 modern: there are no roots, and commands may change the projects")
def modern_roots(fx):
    (fx.project / "sub").mkdir()
    server = Server(fx, era="modern", roots=[f"file://{fx.project}/sub"])
    equal(server.data("run_command", command="echo new > f")["exitCode"], 0)
    equal(fx.read("f"), "new\n")
    server = Server(fx, "--within=sub", era="modern", elicit=False)
    check(server.data("run_command", command="echo newer > f")["exitCode"] != 0)
    equal(server.data("run_command", command="echo new > sub/f")["exitCode"], 0)
    equal(fx.read("f"), "new\n")
    server.failure("write_file", path="f", content="x")
    server.data("write_file", path="sub/f", content="x")


@test("the policy and the record are resources")
def resources(fx):
    server = Server(fx, "--deny=secret")
    fx.write("secret", "x")
    contains(server.request("resources/read", {"uri": "sandbash://policy"})["contents"][0]["text"],
             str(fx.project / "secret"))
    server.failure("read_text_file", path="secret")
    text = server.request("resources/read", {"uri": "sandbash://audit"})["contents"][0]["text"]
    events = [json.loads(line) for line in text.splitlines()]
    equal([(event["event"], event.get("path")) for event in events[1:]],
          [("deny", str(fx.project / "secret"))])
    data = server.data("what_may_i_do", path="secret")["decisions"]
    equal(data["read"]["verdict"], "deny")
    data = server.data("what_may_i_do")
    equal(data["policy"]["rules"][0]["origin"], "--deny=secret")


run_all()
