"""rules_of_now.py - what a person writes to the configuration while a server runs holds for its file tools, too."""

from mcp import Server
from tap import contains, equal, lacks, run_all, test

SECRET = "the words of the secret"


def tried(server, fx):
    """What the tools can do, and a command."""
    read = str(server.call("read_text_file", path=str(fx.project / "secret.txt")))
    found = str(server.call("grep", pattern="words of", path=str(fx.project)))
    server.call("write_file", path=str(fx.project / "kept"), content="new\n")
    server.call("write_file", path=str(fx.project / "plain"), content="new\n")
    equal(fx.read("plain"), "new\n", "the neighbour")
    contains(str(server.call("read_text_file", path=str(fx.project / "open.txt"))), "for all")
    return SECRET in read, "secret.txt" in found, fx.read("kept") == "new\n"


@test("C3 rules that come while the server runs hold for file tools, and go again")
def rules(fx):
    fx.write(fx.project / "secret.txt", SECRET + "\n")
    fx.write(fx.project / "open.txt", "for all\n")
    fx.write(fx.project / "kept", "old\n")
    server = Server(fx)
    equal(tried(server, fx), (True, True, True), "the control")
    fx.write(fx.project / "kept", "old\n")
    fx.config(f"deny {fx.project}/secret.txt\nread {fx.project}/kept\n")
    equal(tried(server, fx), (False, False, False), "by rules of now")
    fx.config("")
    equal(tried(server, fx), (True, True, True), "they are gone")
    fx.config("nonsense here\n")
    lacks(str(server.call("read_text_file", path=str(fx.project / "open.txt"))), "for all", "rules that cannot be read")


run_all()
