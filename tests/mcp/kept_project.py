"""kept_project.py - P5, C3: with --session a project that was opened is open again, if it is the same directory."""

from mcp import Server, read_first
from tap import check, contains, equal, lacks, run_all, test


def opened(fx, session):
    more = fx.home / "more"
    more.mkdir(exist_ok=True)
    server = Server(fx, *session)
    server.answers = lambda params: read_first("once")
    server.data("open_project", path=str(more), reason="r")
    server.data("write_file", path=str(more / "a"), content="x")
    equal(len(server.asked), 1)
    equal(server.end(), 0)
    return more


def again(fx, *session):
    server = Server(fx, *session)
    server.answers = lambda params: read_first("deny")
    return server


@test("C3 open_project is kept under the session's name: tools, commands, cwd and list know it")
def kept(fx):
    more = opened(fx, ["--session=op"])
    server = again(fx, "--session=op")
    equal(server.data("run_command", command="echo 1 > b; pwd", cwd=str(more))["stdout"], f"{more}\n")
    contains(server.data("list_allowed_directories")["content"], str(more))
    server.data("write_file", path=str(more / "c"), content="x")
    equal((fx.read(more / "b"), fx.read(more / "c"), server.asked), ("1\n", "x", []))
    server.failure("write_file", path=f"{fx.outside}/d", content="x")
    equal(len(server.asked), 1, "the rest stays closed")


@test("C3 without a name, and under another, nothing is")
def others(fx):
    more = opened(fx, [])
    for session in ((), ("--session=other",)):
        server = again(fx, *session)
        lacks(server.data("list_allowed_directories")["content"], str(more))
        equal(server.failure("write_file", path=str(more / "c"), content="x")["code"], "DENIED")


@test("C3 another directory of that name is asked about again")
def another(fx):
    more = opened(fx, ["--session=op"])
    more.rename(fx.home / "kept")
    more.mkdir()
    server = again(fx, "--session=op")
    lacks(server.data("list_allowed_directories")["content"], str(more))
    equal(server.failure("write_file", path=str(more / "c"), content="x")["code"], "DENIED")
    server.end()
    more.rmdir()
    more.symlink_to(fx.outside)
    server = again(fx, "--session=op")
    check(not list(fx.outside.iterdir()))
    server.failure("write_file", path=str(more / "c"), content="x")
    check(not list(fx.outside.iterdir()))


run_all()
