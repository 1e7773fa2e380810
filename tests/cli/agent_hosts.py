"""agent_hosts.py - an agent's hosts: asked about by default, but for those that it and the tools are set up for."""

import json

from internet import internet
from tap import SUPERVISED, check, contains, equal, lacks, run_all, test


def agent(fx, name="claude", script='exec "$@"\n'):
    """A program that has a profile by its name."""
    fx.write(fx.home / "bin" / name, "#!/bin/sh\n" + script, mode=0o755)


def environment(fx, **more):
    return {"PATH": f"{fx.home / 'bin'}:{fx.env()['PATH']}", **more}


def found(fx, *words, flags=(), env=None, **where):
    """The network, and the hosts that rules are about."""
    result = fx.sandbash(*flags, "--dry-run", *words, env=environment(fx, **(env or {})), **where)
    equal(result.status, 0, result.stderr)
    lines = [line.strip().split("  #")[0] for line in result.stdout.splitlines()]
    return ([line.split()[1] for line in lines if line.startswith("network:")][0],
            [line for line in lines if line.startswith(("connect ", "ask connect ", "deny connect "))])


def verdict(fx, peer, *words, **env):
    """Of the rules that an agent's run has: allow, ask, deny."""
    network, rules = found(fx, *words, env=env)
    for word, name in (("connect ", "allow"), ("ask connect ", "ask"), ("deny connect ", "deny")):
        if word + peer in rules:
            return name
    return {"ask": "unknown", "on": "allow"}[network]


@test("of an agent hosts are asked about, unless somebody says otherwise; of other commands they are not")
def default(fx):
    agent(fx)
    agent(fx, "other")
    agent(fx, "qwen")
    expected = "ask" if SUPERVISED else "on"
    equal(found(fx, "claude")[0], expected)
    equal([found(fx, name) for name in ("other", "true", "qwen")], [("on", [])] * 3)
    equal(found(fx, "claude", flags=("--network=on",)), ("on", []), "nor is there a rule that would ask")
    equal(found(fx, "claude", flags=("--profile=none",)), ("on", []))
    equal(found(fx, "claude", flags=("--network=off",))[0], "off")
    equal(found(fx, "claude", env={"SANDBASH_NETWORK": "off"})[0], "off")
    fx.config("network on\n")
    equal(found(fx, "claude"), ("on", []))


@test("where hosts cannot be told apart an agent has the network of every command; who asks for it by name is refused")
def fallback(fx):
    agent(fx)
    for flags, where in (((), {"without": "userns"}), (("--static",), {})):
        result = fx.sandbash(*flags, "claude", "echo", "ran", env=environment(fx), **where)
        equal((result.status, result.stdout), (0, "ran\n"), f"{flags} {where}: {result.stderr}")
        result = fx.sandbash(*flags, "--network=ask", "claude", "echo", "ran", env=environment(fx), **where)
        equal((result.status, result.stdout), (125, ""), f"{flags} {where}: {result.stderr}")


if SUPERVISED:
    @test("an agent alone reaches its model and the registry; another host is refused, and the end says what allows it")
    def alone(fx):
        agent(fx, script="for url; do curl -sS --max-time 20 $url; done\n")
        urls = ("http://good.example/v1", "http://other.example/x")
        env = environment(fx, ANTHROPIC_BASE_URL="http://good.example/api")
        result = fx.run(*internet(fx, *fx.argv("--network=on", "claude", *urls)), env=env)
        equal(result.stdout, "203.0.114.10 /v1\n203.0.114.11 /x\n", "control")
        result = fx.run(*internet(fx, *fx.argv("claude", *urls)), env=env)
        equal(result.stdout, "203.0.114.10 /v1\n", result.stderr)
        contains(result.stderr, "connect to 'other.example:80' (nobody could be asked; no rule allows this host)")
        contains(result.stderr, "sandbash '--connect=other.example:80' ...")
        result = fx.run(*internet(fx, *fx.argv("claude", *urls)), env={**env, "npm_config_registry": "http://other.example/"})
        equal(result.stdout, "203.0.114.10 /v1\n203.0.114.11 /x\n", "the neighbour: a tool's own")

    @test("what a profile denies is refused without a word, and is on record; a rule of the user's opens it")
    def quietly(fx):
        agent(fx, "codex", script="curl -sS --max-time 20 http://ab.chatgpt.com/ 2>/dev/null\n")
        result = fx.sandbash("codex", env=environment(fx))
        lacks(result.stderr, "ab.chatgpt.com")
        events = [json.loads(line) for line in fx.sandbash("--log", "--json").stdout.splitlines()]
        equal([(e["host"], e["by"]) for e in events if e["event"] == "deny"], [("ab.chatgpt.com", "quiet")])
        check("connect ab.chatgpt.com" in found(fx, "codex", flags=("--connect=ab.chatgpt.com",))[1])

    @test("settings, variables and arguments of the user's open hosts, files of the project's and remarks do not")
    def settings(fx):
        for name in ("claude", "codex", "gemini", "opencode"):
            agent(fx, name)
        fx.write(fx.home / ".claude/settings.json", '{"theme":"dark","x":"https://no.example","env":'
                 '{"ANTHROPIC_BASE_URL":"https://c.example/v1"}}')
        fx.write(fx.home / ".codex/config.toml", '[model_providers.x]\nbase_url = "https://d.example:8443/v1"\n'
                 '# base_url = "https://no.example"\nmy_base_url = "https://no.example"\n'
                 '[mcp_servers.y]\nurl = \'http://e.example/mcp\'\n')
        fx.write(fx.home / ".config/opencode/opencode.jsonc", '{ "$schema": "https://no.example",\n'
                 '  // "baseURL": "https://no.example",\n  "provider": {"p": {"options": {"baseURL" : "http://f.example:99/"}}}}')
        fx.write(".claude/settings.json", '{"env":{"ANTHROPIC_BASE_URL":"https://evil.example/"}}')
        fx.write("opencode.json", '{"provider":{"p":{"options":{"baseURL":"https://evil.example/"}}}}')
        fx.write(".npmrc", "registry=https://evil.example/\n")
        for name, peer in (("claude", "c.example:443"), ("codex", "d.example:8443"), ("codex", "e.example:80"),
                           ("opencode", "f.example:99")):
            equal(verdict(fx, peer, name), "allow", peer)
        for name in ("claude", "codex", "gemini", "opencode"):
            equal(verdict(fx, "evil.example:443", name), "ask", name)
            equal(verdict(fx, "no.example:443", name), "unknown", name)
        equal(verdict(fx, "localhost:88", "codex", "-c", 'model_providers.x={name="x",base_url="http://127.0.0.1:88/"}'), "allow")
        for variable, value, peer, name in (
                ("ANTHROPIC_BASE_URL", "https://[2600::1]/x", "[2600::1]:443", "claude"),
                ("GOOGLE_GEMINI_BASE_URL", "http://u:p@g.example", "g.example:80", "gemini"),
                ("OPENCODE_CONFIG_CONTENT", '{"mcp":{"x":{"url":"https://h.example"}}}', "h.example:443", "opencode"),
                ("NPM_CONFIG_REGISTRY", "https://i.example", "i.example:443", "claude"),
                ("PIP_EXTRA_INDEX_URL", "https://n.example/a https://j.example/b", "j.example:443", "claude"),
                ("GOPROXY", "https://n.example|https://k.example,direct", "k.example:443", "claude"),
                ("GOSUMDB", "l.example+abc", "l.example:443", "claude")):
            equal(verdict(fx, peer, name), "unknown", variable)
            equal(verdict(fx, peer, name, **{variable: value}), "allow", variable)


if __name__ == "__main__":
    run_all()
