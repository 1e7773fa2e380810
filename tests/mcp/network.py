"""network.py - hosts for the commands of an agent: rules of the server, questions in the client, answers for the session."""

import tap
from internet import heard, internet
from mcp import Server
from tap import SUPERVISED, check, contains, equal, run_all


def test(name):
    return tap.test(name) if SUPERVISED else lambda function: function


def run(server, host, **needs):
    return server.data("run_command", command=f"curl -sS --max-time 20 http://{host}/", **needs)


@test("a command's host is asked about in the client: for the session, for later commands, too; denied it stays denied")
def asked(fx):
    server = Server(fx, "--network=ask", wrap=internet(fx))
    server.answers = lambda params: "directory"
    equal(run(server, "good.example")["stdout"], "203.0.114.10 /\n")
    equal(len(server.asked), 1)
    contains(server.asked[0]["params"]["message"], "wants to connect to good.example:80")
    contains(server.asked[0]["params"]["message"], "no rule allows this host")
    names = server.asked[0]["params"]["requestedSchema"]["properties"]["answer"]["enumNames"]
    equal(names[1:3], ["Allow good.example:80 for this session", "Always allow good.example:80"])
    equal(run(server, "good.example")["stdout"], "203.0.114.10 /\n")
    equal(len(server.asked), 1, "a later command knows")
    equal([(g["path"], g["access"]) for g in server.data("what_may_i_do")["grants"]], [("good.example:80", "connect")])
    server.answers = lambda params: "deny"
    data = run(server, "other.example")
    equal([(e["operation"], e["host"], e["by"]) for e in data["refused"]], [("connect", "other.example:80", "person")])
    equal(run(server, "other.example")["exitCode"], 7)
    equal(len(server.asked), 2)
    check(not any("203.0.114.11" in line for line in heard(fx)), str(heard(fx)))


@test("the server's rules are its commands'; what was refused names the option that allows it")
def rules(fx):
    server = Server(fx, "--network=ask", "--connect=good.example", elicit=False, wrap=internet(fx))
    equal(run(server, "good.example")["stdout"], "203.0.114.10 /\n")
    data = run(server, "other.example")
    equal([(e["host"], e["grant"]) for e in data["refused"]],
          [("other.example:80", {"options": ["--connect=other.example:80"]})])
    equal(run(server, "good.example", network="off")["exitCode"], 6, "none at all")
    found = server.data("what_may_i_do")["policy"]
    equal((found["network"], found["networkMode"]), (False, "ask"))
    check("connect good.example" in [rule["rule"] for rule in found["rules"]], str(found))
    for host, verdict in (("good.example:443", "allow"), ("good.example:22", "ask"), ("x.y:443", "ask")):
        equal(server.data("what_may_i_do", host=host)["decisions"]["connect"]["verdict"], verdict)
    equal(server.failure("what_may_i_do", host="a b")["code"], "INVALID_ARGUMENT")


if __name__ == "__main__":
    run_all()
