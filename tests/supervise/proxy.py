"""Behind a company's proxy: hosts that may be reached are reached by it, and the command knows nothing of it."""

import json

import tap
from internet import forget, heard, internet
from tap import SUPERVISED, check, contains, equal, lacks, run_all

ASK = "--network=ask"
PROXY = "http://me:p%40ss@proxy.example:3128"
BOTH = {"HTTPS_PROXY": PROXY, "http_proxy": PROXY + "/"}
PYTHON = "import socket, sys\n"


def test(name):
    """Of a supervised run; a static one has no rules about hosts."""
    return tap.test(name) if SUPERVISED else lambda function: function


def inside(fx, *words, env=None):
    return fx.run(*internet(fx, *fx.argv(*words)), env=BOTH if env is None else env)


def curl(url):
    return ["curl", "-sS", "--max-time", "90", url]


def tries(*places):
    """What connect() says of each: an errno, or 0."""
    return ["python3", "-c", PYTHON + f"for place in {places!r}:\n"
            " try: socket.create_connection(place); print(0)\n except OSError as e: print(e.errno)"]


@test("a host that is allowed is reached by the proxy, which hears its name; nobody is asked for its address here")
def by_proxy(fx):
    control = fx.run(*internet(fx, *curl("http://hidden.example/")))
    equal(control.status, 6, "control: no name server knows it")
    forget(fx)
    result = inside(fx, ASK, "--connect=hidden.example", *curl("http://hidden.example/x"))
    equal((result.status, result.stdout), (0, "203.0.114.10 /x\n"), result.stderr)
    check("proxy CONNECT hidden.example:80" in heard(fx), heard(fx))
    check(not any(line.startswith("dns hidden") for line in heard(fx)), heard(fx))
    forget(fx)
    result = inside(fx, ASK, "--connect=hidden.example", *curl("http://other.example/x"))
    equal(result.status, 7, result.stderr)
    equal(heard(fx), [], "who is not allowed is not told to the proxy either")


@test("the command has neither the variables nor the login, and speaks to the proxy no more than to others")
def not_inside(fx):
    every = {name: PROXY for name in ("HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "npm_config_https_proxy")}
    every["NO_PROXY"] = "localhost"
    script = "env; cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'; true"
    contains(fx.run("sh", "-c", script, env=every).stdout, "p%40ss")
    for flags in ((ASK,), ("--network=off",), (ASK, "--keep-env=*")):
        result = inside(fx, *flags, "sh", "-c", script, env=every)
        equal(result.status, 0, result.stderr)
        lacks(result.stdout.lower(), "p%40ss", str(flags))
        lacks(result.stdout.lower(), "_proxy", str(flags))
    contains(inside(fx, "--network=on", "env", env=every).stdout, "p%40ss", "on: programs speak to it themselves")
    fx.config("network ask\n")
    contains(inside(fx, "--mode=danger-full-access", "env", env=every).stdout, "p%40ss", "without a sandbox, too")
    fx.config("")
    forget(fx)
    equal(inside(fx, ASK, "--connect=hidden.example", *tries(("proxy.example", 3128))).stdout, "13\n")
    check(not any(line.startswith("proxy") for line in heard(fx)), heard(fx))
    removed = json.loads(inside(fx, ASK, "--dry-run", "--json", "true", env=every).stdout)["variables_removed"]
    check({"HTTP_PROXY", "NO_PROXY"} <= set(removed), removed)


@test("NO_PROXY: names, what lies beneath them, addresses and ports are reached directly; this machine always")
def no_proxy(fx):
    for value, goes in (("x, .example:80", False), ("ood.example", True)):
        forget(fx)
        result = inside(fx, ASK, "--connect=good.example", *curl("http://good.example/"), env={**BOTH, "NO_PROXY": value})
        equal(result.stdout, "203.0.114.10 /\n", f"{value}: {result.stderr}")
        equal("proxy CONNECT good.example:80" in heard(fx), goes, value)
    forget(fx)
    literal = ("--connect=203.0.114.10:80", *curl("http://203.0.114.10/"))
    equal(inside(fx, ASK, *literal).stdout, "203.0.114.10 /\n")
    check("proxy CONNECT 203.0.114.10:80" in heard(fx), heard(fx))
    forget(fx)
    equal(inside(fx, ASK, *literal, env={**BOTH, "no_proxy": "203.0.0.0/8"}).stdout, "203.0.114.10 /\n")
    equal(inside(fx, ASK, "--connect=localhost:8080", *curl("http://localhost:8080/")).stdout, "127.0.0.1 /\n")
    check(not any(line.startswith("proxy") for line in heard(fx)), heard(fx))


@test("rebinding is looked at where a name is reached directly; a host that speaks first, and ports that are not the web's")
def around(fx):
    direct = {**BOTH, "NO_PROXY": "meta.example"}
    equal(inside(fx, ASK, "--connect=meta.example:80", *tries(("meta.example", 80)), env=direct).stdout, "13\n")
    forget(fx)
    first = PYTHON + "s = socket.create_connection(('good.example', 2222)); print(s.recv(99)); s.sendall(b'hi')"
    result = inside(fx, ASK, "--connect=good.example:2222", "python3", "-c", first)
    equal(result.stdout, "b'SSH-2.0-outside\\r\\n'\n", result.stderr)
    check("proxy CONNECT good.example:2222" in heard(fx), heard(fx))
    forget(fx)
    equal(inside(fx, ASK, "--connect=good.example:7", *tries(("good.example", 7))).stdout, "0\n",
          "the proxy leads to no such port, and natively nobody would have asked it")
    check("proxy CONNECT good.example:7" in heard(fx) and "dns good.example A" in heard(fx), heard(fx))


@test("what the proxy refuses is refused, and the end says by whom; what is no answer ends")
def refusals(fx):
    allow = [f"--connect={name}.example" for name in ("refused", "down", "garbage", "moved", "endless")]
    result = inside(fx, ASK, *allow, *tries(*((f"{name}.example", 443) for name in
                                              ("refused", "down", "garbage", "moved", "endless"))))
    equal(result.stdout, "111\n113\n113\n113\n113\n", result.stderr)
    contains(result.stderr, "connect to 'refused.example:443' (the proxy does not lead there (403))")
    contains(result.stderr, "name the host in NO_PROXY")
    contains(result.stderr, "connect to 'garbage.example:443' (the proxy cannot be reached, or does not answer)")
    lacks(result.stderr, "down.example", "a host that is down is none that was refused")
    lacks(result.stderr, "--connect=", "no option helps")
    for value, words in (("http://me@proxy.example:3128", "the proxy wants another login (407)"),
                         ("https://me:secret@proxy.example:3128", "ALL_PROXY names a proxy that sandbash does not speak to"),
                         ("socks4://proxy.example:1080", "ALL_PROXY names a proxy that sandbash does not speak to"),
                         ("nonsense nonsense", "ALL_PROXY names a proxy that sandbash does not speak to"),
                         ("http://closed.example:3129", "the proxy cannot be reached")):
        report = fx.dir / "report.json"
        result = inside(fx, ASK, "--connect=good.example", f"--report={report}", *tries(("good.example", 443)),
                        env={"ALL_PROXY": value})
        check(result.stdout in ("111\n", "113\n"), value + result.stdout)
        contains(result.stderr, words)
        lacks(result.stderr, "me@")
        lacks(result.stderr, "secret")
        equal([(e["by"], e["can_be_allowed"]) for e in json.loads(report.read_text())["entries"]], [("proxy", False)])
    equal(inside(fx, ASK, "--connect=good.example", *tries(("good.example", 443))).stdout, "0\n", "the neighbour")


SOCKS = "socks5h://me:p%40ss@proxy.example"  # its port is 1080


@test("SOCKS: a host that is allowed is reached by the proxy, which hears its name; with a login, and without")
def by_socks(fx):
    control = fx.run(*internet(fx, *curl("http://hidden.example/")), env={"ALL_PROXY": SOCKS})
    equal((control.status, control.stdout), (0, "203.0.114.10 /\n"), "control: curl itself speaks to it")
    for url, methods in ((SOCKS, "0002"), ("SOCKS5://proxy.example:1081/", "00"), ("socks5://x@203.0.114.13:1081", "0002")):
        forget(fx)
        result = inside(fx, ASK, "--connect=hidden.example", *curl("http://hidden.example/x"), env={"all_proxy": url})
        equal((result.status, result.stdout), (0, "203.0.114.10 /x\n"), url + result.stderr)
        equal([line for line in heard(fx) if line.startswith("socks")],
              [f"socks 5 {methods}", "socks 1 3 hidden.example:80"], url)
        check(not any(line.startswith("dns hidden") for line in heard(fx)), heard(fx))
    forget(fx)
    result = inside(fx, ASK, "--connect=hidden.example", *curl("http://other.example/x"), env={"ALL_PROXY": SOCKS})
    equal(result.status, 7, result.stderr)
    equal(heard(fx), [], "who is not allowed is not told to the proxy either")


@test("SOCKS: addresses, a host that speaks first, what is named in NO_PROXY; the command has neither variable nor login")
def around_socks(fx):
    every = {"HTTPS_PROXY": SOCKS, "http_proxy": SOCKS, "SOCKS_PROXY": SOCKS}
    script = "env; cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'; true"
    contains(fx.run("sh", "-c", script, env=every).stdout, "p%40ss")
    lacks(inside(fx, ASK, "sh", "-c", script, env=every).stdout, "p%40ss")
    forget(fx)
    allow = ("--connect=203.0.114.10:80", "--connect=[2600:1::10]:80", "--connect=good.example:2222")
    places = (("203.0.114.10", 80), ("2600:1::10", 80))
    equal(inside(fx, ASK, *allow, *tries(*places), env=every).stdout, "0\n0\n")
    check({"socks 1 1 203.0.114.10:80", "socks 1 4 2600:1::10:80"} <= set(heard(fx)), heard(fx))
    first = PYTHON + "s = socket.create_connection(('good.example', 2222)); print(s.recv(99)); s.sendall(b'hi')"
    result = inside(fx, ASK, *allow, "python3", "-c", first, env=every)
    equal(result.stdout, "b'SSH-2.0-outside\\r\\n'\n", result.stderr)
    forget(fx)
    equal(inside(fx, ASK, *allow, *tries(*places), env={**every, "NO_PROXY": "*"}).stdout, "0\n0\n")
    check(not any(line.startswith("socks") for line in heard(fx)), heard(fx))


@test("SOCKS: what the proxy refuses is refused, and nothing goes past it, to whatever port; what is no answer ends")
def socks_refusals(fx):
    expected = {"forbidden": 111, "short": 111, "unreachable": 101, "down": 113, "closed": 111, "garbage": 113, "form": 113,
                "half": 113, "odd": 113, "good": 0}
    allow = [f"--connect={name}.example" for name in expected]
    result = inside(fx, ASK, *allow, *tries(*((f"{name}.example", 443) for name in expected)), env={"ALL_PROXY": SOCKS})
    equal(result.stdout.split(), [str(number) for number in expected.values()], result.stderr)
    contains(result.stderr, "connect to 'forbidden.example:443' (the proxy does not lead there (SOCKS reply 2))")
    contains(result.stderr, "connect to 'garbage.example:443' (the proxy cannot be reached, or does not answer)")
    for name in ("unreachable", "down", "closed"):
        lacks(result.stderr, f"{name}.example", "a host that is down is none that was refused")
    forget(fx)
    there = ("--connect=closed.example:7", *tries(("closed.example", 7)))
    equal(inside(fx, ASK, *there, env={}).stdout, "0\n", "control: it can be reached from here")
    forget(fx)
    equal(inside(fx, ASK, *there, env={"ALL_PROXY": SOCKS}).stdout, "111\n")
    check("echo" not in heard(fx) and not any(line.startswith("dns closed") for line in heard(fx)), heard(fx))
    for url in ("socks5://proxy.example", "socks5://me:wrong@proxy.example", "socks5://proxy.example:2222"):
        result = inside(fx, ASK, "--connect=good.example:7", *tries(("good.example", 7)), env={"HTTPS_PROXY": url})
        check(result.stdout in ("111\n", "113\n"), url + result.stdout)
        contains(result.stderr, "the proxy wants another login (407)" if url.endswith(".example") else "the proxy cannot be reached")
        lacks(result.stderr, "wrong")


if __name__ == "__main__":
    run_all()
