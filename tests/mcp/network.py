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


@test("where nobody has said so hosts are asked about, but for those that tools are set up for; less is a rule, more a question")
def default(fx):
    fx.write(".npmrc", "registry=http://other.example/\n")  # the project's word
    registry = {"npm_config_registry": "http://good.example/"}
    server = Server(fx, wrap=internet(fx), env=registry)
    server.answers = lambda params: "deny"
    equal(server.data("what_may_i_do")["policy"]["networkMode"], "ask")
    equal(run(server, "good.example")["stdout"], "203.0.114.10 /\n")
    equal(server.asked, [])
    equal(run(server, "other.example")["exitCode"], 7)
    contains(server.asked[0]["params"]["message"], "wants to connect to other.example:80")
    equal(server.failure("run_command", command="true", network="on")["code"], "DENIED")
    contains(server.asked[1]["params"]["message"], "may use the network")
    equal(run(Server(fx, "--network=on", wrap=internet(fx)), "other.example")["stdout"], "203.0.114.11 /\n")
    alone = Server(fx, elicit=False, wrap=internet(fx), env=registry)
    equal(run(alone, "good.example")["stdout"], "203.0.114.10 /\n")
    equal([(e["host"], e["grant"]) for e in run(alone, "other.example")["refused"]],
          [("other.example:80", {"options": ["--connect=other.example:80"]})])


@test("a command's hosts are reached by the proxy of the server's environment, and it has neither the variable nor the login")
def by_proxy(fx):
    server = Server(fx, "--connect=hidden.example", wrap=internet(fx), elicit=False,
                    env={"http_proxy": "http://me:p%40ss@proxy.example:3128"})
    equal(run(server, "hidden.example")["stdout"], "203.0.114.10 /\n")
    check("proxy CONNECT hidden.example:80" in heard(fx), str(heard(fx)))
    equal(server.data("run_command", command="env | grep -ci 'proxy\\|p%40ss'")["stdout"], "0\n")


if __name__ == "__main__":
    run_all()
