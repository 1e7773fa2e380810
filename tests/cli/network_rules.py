"""network_rules.py - rules about hosts: flags, files and the environment, printed and read back, explained; and
that a run is refused where nothing holds them."""

import hashlib
import json
import os
import random
import socket

from tap import check, contains, equal, lacks, run_all, test

EXIT_USAGE, EXIT_OWN_FAILURE = 2, 125


def directory_config(fx, text):
    return fx.config(text, "projects/" + hashlib.sha256(os.fsencode(fx.project)).hexdigest()[:16])


def policy(fx, *flags, **where):
    """What --print-policy says about hosts, without where it is from."""
    result = fx.sandbash(*flags, "--print-policy", **where)
    equal(result.status, 0, result.stderr)
    lines = [line.split("  #")[0].rstrip() for line in result.stdout.splitlines()]
    return [line for line in lines if line.split()[0] in ("network", "connect", "listen")
            or " connect " in f" {line} "]


def verdict(fx, host, *flags, **where):
    result = fx.sandbash(*flags, "--json", f"--explain={host}", **where)
    equal(result.status, 0, result.stderr)
    found = json.loads(result.stdout)
    equal(found["allowed"], found["verdict"] == "allow")
    return found["verdict"]


@test("P10 hosts are rules in every tier, and flags: the later tier counts for the same text")
def tiers(fx):
    equal(policy(fx), ["network on"])
    fx.config("network ask\nconnect *.Example.org.\nconnect a.b\nlisten 3000   # dev server\n")
    directory_config(fx, "deny connect a.b\nask connect 10.0.0.0/8:22\n")
    equal(policy(fx), ["network ask", "connect *.example.org", "ask connect 10.0.0.0/8:22", "deny connect a.b",
                       "listen 3000"])
    equal(verdict(fx, "a.b:443"), "deny")
    equal(verdict(fx, "x.example.org:443"), "allow")
    equal(verdict(fx, "10.1.2.3:22"), "ask")
    fx.write("p.rules", "connect a.b\n")
    equal(verdict(fx, "a.b:443", "--policy=p.rules"), "allow")
    equal(verdict(fx, "a.b:443", "--policy=p.rules", "--rule=deny connect a.b"), "deny")
    equal(verdict(fx, "a.b:443", "--policy=p.rules", "--network=off"), "deny")
    equal(policy(fx, "--connect=udp:n.t:123", "--connect", "[::1]:5432", "--listen=80", "--network=learn")[0],
          "network learn")
    equal([line for line in policy(fx, "--connect=udp:n.t:123", "--connect", "[::1]:5432") if "n.t" in line or
           "localhost" in line], ["connect localhost:5432", "connect udp:n.t:123"])


@test("P10 another project's hosts are its own")
def other_project(fx):
    other = fx.home / "other"
    other.mkdir()
    fx.config("connect x.y\n", "projects/" + hashlib.sha256(os.fsencode(other)).hexdigest()[:16])
    equal(policy(fx, f"--project={other}"), ["network on"])


@test("P10 SANDBASH_NETWORK makes it stricter only; an option is stronger")
def environment(fx):
    equal(policy(fx, env={"SANDBASH_NETWORK": "ask"}), ["network ask"])
    equal(policy(fx, env={"SANDBASH_NETWORK": "off"}), ["network off"])
    equal(policy(fx, "--network=on", env={"SANDBASH_NETWORK": "off"}), ["network on"])
    fx.config("network off\n")
    for word in ("on", "learn", "ask"):
        result = fx.sandbash("--print-policy", env={"SANDBASH_NETWORK": word})
        contains(result.stdout, "network off\n")
        contains(result.stderr, f"SANDBASH_NETWORK={word} is ignored: only --network can loosen off")
    result = fx.sandbash("true", env={"SANDBASH_NETWORK": "maybe"})
    equal(result.status, EXIT_OWN_FAILURE)
    contains(result.stderr, "SANDBASH_NETWORK is 'maybe'")


@test("S7 a bad host names its place and reason, and nothing starts")
def bad(fx):
    for text, why in (("connect a b", "letters, digits"), ("connect 10.0.0.1/8", "bits behind the prefix"),
                      ("deny connect *", "'*' stands for"), ("connect a:0", "a port is a number"),
                      ("connect https://a/", "it is a URL"), ("listen x", "a port is a number"),
                      ("listen 70000", "a port is a number"), ("connect @nothing", "none of @npm"),
                      ("connect a.b\ndeny connect A.b.", "contradict each other"),
                      ("network maybe", "network is 'on', 'learn', 'ask' or 'off'")):
        fx.config("\n" + text + "\n")
        result = fx.sandbash("touch", "x")
        equal(result.status, EXIT_OWN_FAILURE, text)
        contains(result.stderr, f"config' line {2 + text.count(chr(10))}: ")
        contains(result.stderr, why)
    fx.config("")
    for flags in (("--connect=a b",), ("--listen=0",), ("--rule=deny connect -a",), ("--connect=x", "--rule=deny connect x")):
        result = fx.sandbash(*flags, "touch", "x")
        equal(result.status, EXIT_USAGE, str(flags))
        contains(result.stderr, flags[-1])
    check(not fx.exists("x"))


@test("S7 a file that is called connect is still a file")
def words_as_names(fx):
    fx.config("deny connect\nread ./listen\n")
    result = fx.sandbash("--print-policy")
    contains(result.stdout, f"deny {fx.project}/connect ")
    contains(result.stdout, f"read {fx.project}/listen ")
    fx.config("connect\n")
    contains(fx.sandbash("true").stderr, "'connect' needs a value")


@test("P6 what --print-policy says about hosts reads back exactly, and decides alike")
def read_back(fx):
    chance = random.Random(19)
    hosts = ["a.b", "*.b", "x.a.b", "*.a.b", "10.0.0.0/8", "10.1.2.3", "2001:db8::/32", "localhost"]
    peers = ["a.b:443", "a.b:22", "x.a.b:443", "udp:x.a.b:443", "10.1.2.3:80", "10.1.2.4:22", "[2001:db8::1]:443",
             "localhost:80", "c.d:443"]
    for _ in range(3):
        rules = {}
        for _ in range(8):
            text = chance.choice(["", "", "udp:", "tcp:"]) + chance.choice(hosts)
            if "2001" in text:
                text = text.replace("2001:db8::/32", "[2001:db8::/32]")
            rules[text + chance.choice(["", ":443", ":22", ":*"])] = chance.choice(["", "ask ", "deny "])
        fx.config("network ask\nlisten 8080\n" + "".join(f"{word}connect {text}\n" for text, word in rules.items()))
        first = policy(fx)
        (fx.dir / "again.rules").write_text(fx.sandbash("--print-policy").stdout)
        before = [verdict(fx, peer) for peer in peers]
        fx.config("")
        equal(policy(fx, f"--policy={fx.dir}/again.rules"), first)
        equal([verdict(fx, peer, f"--policy={fx.dir}/again.rules") for peer in peers], before)


@test("R5 --explain HOST:PORT: the rule, its source and the option that changes it; without a port it is a path")
def explain(fx):
    fx.config("network ask\nconnect *.example.org\n")
    text = fx.sandbash("--explain", "www.Example.org:443").stdout
    contains(text, "www.example.org:443\n  connect allow   rule 'connect *.example.org', ")
    contains(text, "config line 2")
    contains(text, "'--rule=deny connect www.example.org:443'")
    contains(text, "it asks again")
    text = fx.sandbash("--explain", "169.254.169.254:80").stdout
    contains(text, "connect ask     no rule: network ask\nit is cloud metadata\n")
    contains(text, "sandbash --connect=169.254.169.254:80")
    contains(fx.sandbash("--explain", "xn--e1awd7f.com:443").stdout, "letters of other scripts")
    contains(fx.sandbash("--network=off", "--explain", "a.b:1").stdout, "sandbash --network=ask --connect=a.b:1")
    contains(fx.sandbash("--connect=a.b:1", "--explain", "a.b:1").stdout, "leave out --connect=a.b:1")
    # what is suggested does what it says
    for start, want in (("c.d:99", "allow"), ("www.example.org:80", "deny")):
        change = json.loads(fx.sandbash("--json", "--explain", start).stdout)["change_with"]
        equal(verdict(fx, start, change), want)
    for name in ("www.example.org", "./a.b:443", "a.b:x", "a/b:443"):
        contains(fx.sandbash("--explain", name).stdout, f"{fx.project}/")


@test("R4 rules about hosts that nothing holds are refused with the reason; on and off work as ever")
def refused(fx):
    for flags in (("--network=ask",), ("--network=learn",), ("--rule=deny connect a.b",), ("--rule=ask connect a.b",)):
        for kind, without, why in ((("--static",), None, "a static run asks nobody"),
                                   ((), "userns", "there are no network namespaces")):
            result = fx.sandbash(*kind, *flags, "touch", "x", without=without)
            equal(result.status, EXIT_OWN_FAILURE, f"{kind} {flags}: {result.stderr}")
            contains(result.stderr, "cannot be held: " + why)
            check(not fx.exists("x"), "it ran")
    result = fx.sandbash("--mode=danger-full-access", "--network=ask", "touch", "x")
    equal(result.status, EXIT_OWN_FAILURE, result.stderr)
    contains(result.stderr, "cannot be held without a sandbox")
    check(not fx.exists("x"), "it ran")
    for flags in ((), ("--network=on", "--connect=a.b", "--listen=80"), ("--network=off", "--rule=deny connect a.b")):
        result = fx.sandbash(*flags, "touch", "y")
        equal((result.status, result.stderr), (0, ""), str(flags))


@test("R4 --best-effort says that the network is closed, and it is")
def best_effort(fx):
    script = ("import os, socket\ntry:\n    s = socket.socket()\n    s.connect(('127.0.0.1', %d))\n    print('reached')\n"
              "except OSError as e:\n    print('closed', os.environ.get('SANDBASH_NETWORK_DISABLED'))\n")
    with socket.create_server(("127.0.0.1", 0)) as server:
        words = ("python3", "-c", script % server.getsockname()[1])
        equal(fx.sandbash(*words).stdout, "reached\n")
        for kind, without in ((("--static",), None), ((), "userns")):
            result = fx.sandbash(*kind, "--best-effort", "--network=ask", "--connect=localhost:*", *words, without=without)
            equal(result.stdout, "closed 1\n", result.stderr)
            contains(result.stderr, "hosts cannot be told apart")
        equal(fx.sandbash("--connect=a.b", *words).stdout, "reached\n", "what takes nothing away needs nothing")


@test("P10 @npm and the others: hosts of the user's settings are allowed, of the project's they ask, none is known")
def tools(fx):
    flags = ("--network=ask",)
    for word in ("npm", "pip", "cargo"):
        result = fx.sandbash(*flags, f"--connect=@{word}", "--print-policy")
        lacks(result.stdout, "\nconnect ")
        contains(result.stderr, f"'@{word}' opens nothing: no settings of {word} name a host")
    fx.write(fx.home / ".npmrc", "; registry=https://comment.example\n//r.example/:_authToken=secret\n"
             "registry = https://user:pw@r.example/npm/\n@corp:registry=http://corp.example:4873/\n")
    fx.write(".npmrc", "registry=https://evil.example/\n@x:registry=https://r.example/x\n")
    equal(policy(fx, *flags, "--connect=@npm")[1:],
          ["connect corp.example:4873", "ask connect evil.example:443", "connect r.example:443"])
    result = fx.sandbash(*flags, "--connect=@npm", "--print-policy")
    contains(result.stdout, f"--connect=@npm: @npm, in '{fx.home}/.npmrc'")
    contains(result.stdout, f"--connect=@npm: @npm, in the project's '{fx.project}/.npmrc'")
    lacks(result.stdout + result.stderr, "secret")

    fx.write(fx.home / ".config/pip/pip.conf", "[global]\nindex-url = https://pypi.example/simple\nextra-index-url =\n"
             "    https://one.example/simple\n    http://two.example:8080/simple\ntimeout = 60\nproxy = http://no.example\n")
    equal(policy(fx, *flags, "--connect=@pip")[1:],
          ["connect one.example:443", "connect pypi.example:443", "connect two.example:8080"])

    fx.write(fx.home / ".cargo/config.toml", '[source.crates-io]\nreplace-with = "m"\n[source.m]\n'
             'registry = "sparse+https://m.example/index/"\n[registries]\nn = { index = "ssh://git@n.example:2222/i" }\n'
             '[http]\nproxy = "http://no.example"\n')
    equal(policy(fx, *flags, "--connect=@cargo")[1:], ["connect m.example:443", "connect n.example:2222"])

    fx.write(fx.home / ".config/go/env", "GOPROXY=https://p.example,https://q.example|direct\nGOSUMDB=sum.example\nCC=gcc\n")
    found = policy(fx, *flags, "--connect=@go")
    for host in ("p.example:443", "q.example:443", "sum.example:443"):
        check(f"connect {host}" in found, str(found))


@test("P10 @git: remotes of the project ask, since commands can add some; the user's settings open")
def git(fx):
    machine = policy(fx, "--network=ask", "--connect=@git")  # of /etc/gitconfig
    fx.git_project()
    for name, url in (("origin", "https://hub.example/a/b.git"), ("ssh", "git@ssh.example:a/b"),
                      ("evil", "https://evil.example/x"), ("path", "../other"), ("old", "git://old.example/x")):
        equal(fx.run("git", "remote", "add", name, url, cwd=fx.project).status, 0)
    fx.write(fx.home / ".gitconfig", '[credential "https://hub.example"]\n\thelper = store\n'
             '[url "ssh://git@work.example:2200/"]\n\tinsteadOf = work:\n')
    equal([line for line in policy(fx, "--network=ask", "--connect=@git") if line not in machine],
          ["ask connect evil.example:443", "connect hub.example:443", "ask connect old.example:9418",
           "ask connect ssh.example:22", "connect work.example:2200"])


@test("P10 a rule that is written counts more than one that a tool's settings gave, whichever comes first")
def written(fx):
    fx.write(fx.home / ".npmrc", "registry=https://r.example/\n")
    for lines in ("connect @npm\ndeny connect r.example:443\n", "deny connect r.example:443\nconnect @npm\n"):
        fx.config("network ask\n" + lines)
        equal(policy(fx)[1:], ["deny connect r.example:443"])
    fx.write(".npmrc", "registry=https://s.example/\n")
    directory_config(fx, "connect @npm\nconnect s.example:443\n")
    equal(verdict(fx, "s.example:443"), "allow")


if __name__ == "__main__":
    run_all()
