"""A server with --profile: file tools and commands have its rules, and nobody reads what it says."""

import json

from mcp import Server
from tap import check, contains, equal, lacks, run_all, test


@test("tools and commands have the rules of the profile, and make its directories")
def rules(fx):
    fx.config("write ~/.agent/state/\nquiet ~/.agent\nlogin claude\nsay SAID\nargument --off\nenvironment A=b\n",
              "profiles/agent.rules")
    fx.write(fx.home / ".claude/.credentials.json", "LOGIN\n")
    (fx.home / ".agent").mkdir()
    for flags, allowed in ((["--consent=deny"], False), (["--consent=deny", "--profile=agent"], True)):
        server = Server(fx, *flags)
        text = json.dumps(server.call("read_text_file", path=str(fx.home / ".claude/.credentials.json")))
        equal("LOGIN" in text, allowed, "its login, by a tool")
        made = server.call("write_file", path=str(fx.home / ".agent/state/tool"), content="x")
        equal(not made.get("isError"), allowed, str(made))
        check(server.call("write_file", path=str(fx.home / ".agent/settings"), content="x").get("isError"))
        ran = server.data("run_command", command='echo "$A" > ~/.agent/state/command; touch ~/.agent/settings; '
                                                 "cat ~/.claude/.credentials.json")
        equal("LOGIN" in ran["stdout"], allowed, "its login, by a command")
        equal([entry for entry in ran["refused"] if entry["path"].endswith("settings")] == [], allowed, "quietly")
        lacks(json.dumps(ran), "SAID")
        if allowed:
            allowed_rules = json.dumps(server.call("what_may_i_do"))
            contains(allowed_rules, "agent.rules line 1")
            contains(allowed_rules, f"quiet {fx.home / '.agent'}")
        server.close()
        equal((fx.home / ".agent/state").is_dir(), allowed)
    equal((fx.home / ".agent/state/command").read_text(), "b\n")
    check(not fx.exists(fx.home / ".agent/settings"))
    events = [json.loads(line) for line in fx.sandbash("--log", "--json").stdout.splitlines()]
    denied = [event.get("by") for event in events
              if event["event"] == "deny" and event["path"].endswith("/.agent/settings")]
    equal(denied[-2:], ["quiet", "quiet"], "on record")
    lacks(denied[:-2], "quiet")


@test("commands of a server have the tools of the project, and its file tools the same rules")
def tools(fx):
    use = 'mkdir -p "$npm_config_cache/d" && echo "$npm_config_cache"'
    server = Server(fx, "--consent=deny")
    equal(server.data("run_command", command=use)["stdout"], "")
    server.close()
    fx.write("package.json", "{}")
    server = Server(fx, "--consent=deny")
    place = server.data("run_command", command=use)["stdout"].strip()
    contains(place, f"{fx.home}/.cache/sandbash-caches/projects/")
    made = server.call("write_file", path=f"{place}/d/x", content="x")
    check(not made.get("isError"), str(made))
    check(server.call("write_file", path=str(fx.home / ".cache/x"), content="x").get("isError"))
    equal(server.data("run_command", command='cat "$npm_config_cache/d/x"')["stdout"], "x")
    server.close()


@test("tools bring no link into what the profile opens that leads out of it")
def links(fx):
    fx.config("write ~/.agent/state/\n", "profiles/agent.rules")
    state = fx.home / ".agent/state"
    fx.write("file", "x")
    for name in ("out", "tree/out"):
        fx.write(f"{name}.txt", "x")
        fx.path(name).symlink_to(fx.home / "victim")
    fx.path("inside").symlink_to(state / "a")
    state.mkdir(parents=True)

    def plant(*flags):
        """Which of these are links then."""
        server = Server(fx, "--consent=deny", *flags)
        for tool in ("copy_file", "move_file"):
            server.call(tool, source="out", destination=str(state / tool))
            server.call(tool, source="tree", destination=str(state / f"{tool}-tree"))
        server.close()
        return sorted(str(path.relative_to(state)) for path in state.rglob("*") if path.is_symlink())

    equal(plant("--profile=agent"), [])
    equal(plant(f"--allow-write={state}"), ["move_file", "move_file-tree/out"], "the control")
    server = Server(fx, "--consent=deny", "--profile=agent")
    for tool, source in (("copy_file", "file"), ("move_file", "inside")):
        result = server.call(tool, source=source, destination=str(state / source))
        check(not result.get("isError"), f"{source}: {result}")
    server.close()


run_all()
