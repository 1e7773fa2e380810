"""network_consent.py - hosts: what an answer opens and for how long, and what is told of them afterwards."""

import hashlib
import json
import os
import re
import shlex

import tap
from internet import heard, internet
from person import Person
from tap import SUPERVISED, check, contains, equal, lacks, run_all

ASK = "--network=ask"
FETCH = ("curl", "-sS", "--max-time", "20")


def test(name):
    """Of a supervised run; a static one asks nobody."""
    return tap.test(name) if SUPERVISED else lambda function: function


def inside(fx, *words):
    return fx.run(*internet(fx, *fx.argv(*words)))


def at_terminal(fx, *words):
    return Person.at(fx, fx.terminal(*internet(fx, *fx.argv(*words)), rows=30, columns=120, replies=True))


def reached(fx, url, *flags):
    """Is it reached with nobody to ask?"""
    return inside(fx, ASK, "--consent=deny", *flags, *FETCH, url).status == 0


@test("C1 always is a connect rule of this directory, for this host and port and no other")
def always(fx):
    check(not reached(fx, "http://good.example/"))
    person = at_terminal(fx, ASK, *FETCH, "http://good.example/")
    screen = person.question("good.example:80")
    contains(screen, "wants to connect to")
    contains(screen, "no rule allows this host")
    contains(screen, "2  allow good.example:80 for the rest of this run")
    contains(screen, "4  always allow good.example:80 (written to the config)")
    person.press("4")
    equal(person.term.wait(), 0)
    name = hashlib.sha256(os.fsencode(fx.project)).hexdigest()[:16]
    equal(fx.read(fx.home / ".config/sandbash/projects" / name), "connect good.example:80\n")
    check(reached(fx, "http://good.example/"))
    check(not reached(fx, "http://other.example/"))
    check(not reached(fx, "http://good.example:7/"))


@test("C3 a named session keeps the answers, yes and no")
def session(fx):
    script = "curl -sS --max-time 20 http://good.example/; curl -sS --max-time 20 http://other.example/; true"
    person = at_terminal(fx, ASK, "--session=work", "sh", "-c", script)
    person.question("good.example:80")
    person.press("2")
    person.question("other.example:80")
    person.press("3")
    equal(person.term.wait(), 0)
    kept = fx.read(fx.home / ".local/state/sandbash/sessions/work")
    contains(kept, "\nconnect good.example:80\n")
    contains(kept, "\ndeny connect other.example:80\n")
    check(reached(fx, "http://good.example/", "--session=work"))
    check(not reached(fx, "http://good.example/"), "without the name nothing is kept")
    result = fx.sandbash("--session=work", ASK, "--json", "--explain=other.example:80")
    equal(json.loads(result.stdout)["origin"], "session work")


@test("rebinding: the question says what the address is, and its yes is for that name there")
def rebinding(fx):
    script = ("curl -sS --max-time 20 http://meta.example/; curl -sS --max-time 20 http://meta.example/; "
              "curl -sS --max-time 20 http://169.254.169.254/; true")
    person = at_terminal(fx, ASK, "--connect=meta.example", "sh", "-c", script)
    screen = person.question("meta.example:80")
    contains(screen, "meta.example is 169.254.169.254: cloud metadata")
    equal([line for line in heard(fx) if line.startswith("http")], [])
    person.press("2")
    screen = person.question("169.254.169.254:80")
    contains(screen, "169.254.169.254: cloud metadata")
    person.press("3")
    equal(person.term.wait(), 0)
    equal(len([line for line in heard(fx) if line.startswith("http 169.254.169.254")]), 2)


@test("C4 what was refused is told with the option that allows it, and the option does")
def remedy(fx):
    result = inside(fx, ASK, *FETCH, "http://good.example/")
    contains(result.stderr, "1 connection was refused; to which host, why, and what allows it:")
    contains(result.stderr, "connect to 'good.example:80' (nobody could be asked; no rule allows this host)")
    option = shlex.split(re.search(r"sandbash ('--connect=\S+') \.\.\.", result.stderr)[1])[0]
    check(reached(fx, "http://good.example/", option))
    report = fx.dir / "report.json"
    inside(fx, ASK, f"--report={report}", *FETCH, "http://good.example/")
    found = json.loads(report.read_text())
    equal(found["refused"], 1)
    equal([(e["operation"], e["host"], e["option"], e["by"]) for e in found["entries"]],
          [("connect", "good.example:80", option, "nobody")])


@test("learn reaches every host and prints rules, which then suffice; so does --learn of what was refused")
def learn(fx):
    result = inside(fx, "--network=learn", "sh", "-c", "curl -sS http://good.example/; curl -sS http://other.example/")
    equal(result.status, 0, result.stderr)
    rules = re.findall(r"^connect \S+", result.stderr, re.M)
    equal(sorted(rules), ["connect good.example:80", "connect other.example:80"])
    fx.config("\n".join(rules) + "\n")
    check(reached(fx, "http://good.example/") and reached(fx, "http://other.example/"))
    fx.config("")
    result = inside(fx, ASK, "--learn", *FETCH, "http://good.example/")
    contains(result.stderr, "\nconnect good.example:80 ")
    lacks(inside(fx, "--network=learn", "true").stderr, "connect ")


@test("a run inside another: what its rules allow less is refused by the run around it, what they allow more opens nothing")
def nested(fx):
    ours = str(tap.BIN)
    fx.config("network ask\nconnect good.example:80\n")
    good, other = (("curl", "-sS", "--max-time", "20", f"http://{name}.example/") for name in ("good", "other"))
    equal(inside(fx, ours, *good).stdout, "203.0.114.10 /\n")
    result = inside(fx, ours, *other)
    equal(result.status, 7, result.stderr)
    fx.config("network ask\nconnect good.example:80\nconnect closed.example\n")
    equal(inside(fx, ours, "--connect=other.example", *good).stdout, "203.0.114.10 /\n")
    equal(inside(fx, ours, "--connect=other.example", *other).status, 7, "what is around it does not")
    for flags in (("--rule=deny connect good.example:80",), ("--rule=ask connect good.example:80",)):
        result = inside(fx, "sh", "-c", "curl -sS http://good.example/; exec \"$@\"", "sh", ours, *flags, *good)
        equal((result.status, result.stdout), (7, "203.0.114.10 /\n"), f"{flags}: {result.stderr}")
        script = "import http.server as h; s = h.HTTPServer(('127.0.0.1', 8000), h.SimpleHTTPRequestHandler); " \
                 "import threading as t, urllib.request as u; t.Thread(target=s.serve_forever, daemon=True).start(); " \
                 "print(u.urlopen('http://127.0.0.1:8000/').status)"
        equal(inside(fx, ours, *flags, "python3", "-c", script).stdout, "200\n", "a server of its own")
        equal(inside(fx, ours, *flags, "curl", "-sS", "http://closed.example:80/").status, 0, "what it allows")
    result = inside(fx, ours, "--rule=deny connect good.example:80", ours, *good)
    equal((result.status, result.stdout), (7, ""), "and inside that")
    report = fx.dir / "report.json"
    result = inside(fx, f"--report={report}", "sh", "-c", 'curl -sS http://good.example/; "$@"; "$@"', "sh", ours,
                    "--rule=deny connect good.example:80", *good)
    contains(result.stderr, "connect to 'good.example:80' (2 times; the rules of a run inside)\n      no option allows it\n")
    equal([(e["host"], e["count"], e["can_be_allowed"], e["rule"], e["program"].rsplit("/", 1)[-1])
           for e in json.loads(report.read_text())["entries"]], [("good.example:80", 2, False, "the rules of a run inside", "curl")])
    equal([(e["event"], e.get("rule", "").startswith("the rules of a run inside"), e["program"].rsplit("/", 1)[-1]) for e in
           map(json.loads, fx.sandbash("--log", "--json", "--log-host=good.example").stdout.splitlines()[-3:])],
          [("connect", False, "curl"), ("deny", True, "curl"), ("deny", True, "curl")])
    for flags in (("--rule=deny connect 10.0.0.0/8",), ("--network=learn",)):
        result = inside(fx, ours, *flags, *good)
        equal((result.status, result.stdout), (125, ""), str(flags))
        contains(result.stderr, "cannot be held: this is a run inside another")
    equal(inside(fx, ours, "--network=off", *good).status, 6)
    equal(inside(fx, ours, ours, *good).stdout, "203.0.114.10 /\n", "and inside that")
    result = inside(fx, "--network=on", ours, *good)
    equal(result.status, 125, "what is around it holds nothing")
    check(not any("203.0.114.11" in line for line in heard(fx)), str(heard(fx)))


@test("a run inside another with rules of its own: no datagram gets past them, connected or not, also where one did before")
def nested_datagrams(fx):
    send = ("import socket; to = ('good.example', 9999)\n"
            "for connects in (0, 1):\n"
            " s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(%d)\n"
            " try:\n"
            "  if connects: s.connect(to); s.send(b'%s')\n"
            "  else: s.sendto(b'%s', to)\n"
            "  print(s.recv(99))\n"
            " except OSError: print('none')\n")
    flags = (ASK, "--connect=udp:good.example:9999")
    script = f"python3 -c \"$1\"; {tap.BIN} '--rule=deny connect good.example' python3 -c \"$2\""
    result = inside(fx, *flags, "sh", "-c", script, "sh", send.replace("%s", "outer").replace("%d", "30"),
                    send.replace("%s", "inner").replace("%d", "1"))
    equal(result.stdout, "b'echo outer'\n" * 2 + "none\n" * 2, result.stderr)
    equal([line for line in heard(fx) if line.startswith("udp")], ["udp outer"] * 2)


@test("R1 R2 the record has host, port, protocol, address, program and bytes; --stats sums them up")
def record(fx):
    inside(fx, ASK, "--connect=good.example:80", "sh", "-c",
           "curl -sS http://good.example/; curl -sS http://other.example/; true")
    lines = fx.sandbash("--log", "--json", "--log-host=*.example").stdout.splitlines()
    found = [json.loads(line) for line in lines]
    made = [e for e in found if e["event"] == "connect"]
    equal([(e["host"], e["port"], e["protocol"], e["address"]) for e in made], [("good.example", 80, "tcp", "203.0.114.10")])
    check(made[0]["sent"] > 20 and made[0]["received"] > 20, str(made))
    contains(made[0]["program"], "curl", "also where it is gone by now")
    contains(made[0]["rule"], "--connect=good.example:80")
    equal([(e["host"], e["by"], e["verdict"]) for e in found if e["event"] == "deny"], [("other.example", "nobody", "deny")])
    hosts = json.loads(fx.sandbash("--stats", "--json").stdout)["hosts"]
    equal([(h["host"], h["connections"], h["refused"]) for h in hosts],
          [("good.example:80", 1, 0), ("other.example:80", 0, 1)])


if __name__ == "__main__":
    run_all()
