"""log_allowed.py - R1: "log-allowed on" records what is allowed, too, and what hidden files were wanted."""

import json

from tap import check, contains, equal, lacks, run_all, skip, test, SUPERVISED

SCRIPT = "echo 1 > new; echo 2 >> new; cat new ../plain; mv new moved; rm moved; cat ~/.ssh/id_rsa"


def events(fx, kind):
    lines = fx.sandbash("--log", "--json").stdout.splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == kind]


def about(found, fx):
    """(operation, last name) of each that lies in the fixture."""
    return [(event["op"], event["path"].rsplit("/", 1)[1]) for event in found
            if event["path"].startswith(str(fx.home))]


def layout(fx):
    fx.write(fx.home / "plain", "plain\n")
    fx.write(fx.home / ".ssh" / "id_rsa", "secret\n")


@test("R1 without it what is allowed leaves no line")
def off(fx):
    layout(fx)
    equal(fx.sandbash("bash", "-c", SCRIPT).stdout, "1\n2\nplain\n")
    equal(events(fx, "allow"), [])


@test("R1 by option and by config: every file that is opened or changed, in order, with its program")
def on(fx):
    if not SUPERVISED:
        skip("a static run has nobody who sees")
    layout(fx)
    for flags, config in ((["--log-allowed"], ""), ([], "log-allowed on\n")):
        fx.config(config)
        fx.sandbash("--log", "--prune", "--json")
        before = len(events(fx, "allow"))
        result = fx.sandbash(*flags, "bash", "-c", SCRIPT)
        equal(result.stdout, "1\n2\nplain\n")
        found = events(fx, "allow")[before:]
        equal([one for one in about(found, fx) if one[1] in ("new", "moved", "plain")],
              [("create", "new"), ("modify", "new"), ("read", "new"), ("read", "plain"), ("delete", "new"),
               ("create", "moved"), ("delete", "moved")])
        check(all(event["verdict"] == "allow" and event["process"] for event in found), str(found))
        contains(str([event.get("program") for event in found if event["path"].endswith("plain")]), "cat")


@test("R1 R2 then a hidden file that was wanted is on record, counted and in the summary")
def hidden(fx):
    if not SUPERVISED:
        skip("a static run has nobody who sees")
    layout(fx)
    result = fx.sandbash("--log-allowed", "bash", "-c", SCRIPT)
    contains(result.stderr, ".ssh/id_rsa")
    lacks(result.stdout, "secret")
    denied = [event for event in events(fx, "deny") if event["path"].endswith("id_rsa")]
    equal([event["op"] for event in denied], ["read"])
    counters = events(fx, "exit")[-1]["counters"]
    read, modify, create = 0, 1, 2
    check(counters["denied"][read] >= 1 and counters["seen"][read] >= 3, str(counters))
    equal((counters["allowed"][create], counters["allowed"][modify]), (1, 1), str(counters))


@test("P6 a static run, which sees nothing, is refused with the option")
def static(fx):
    result = fx.sandbash("--static", "--log-allowed", "echo", "ran")
    equal((result.status != 0, result.stdout), (True, ""))
    contains(result.stderr, "takes a supervised run")


@test("P6 options that nothing holds without a sandbox are refused with it, and by the config's mode")
def contradiction(fx):
    fx.write(".env", "x\n")
    for option in ("--deny=.env", "--network=off", "--ask=.", "--no-tmp", "--allow-read=.", "--log-allowed"):
        result = fx.sandbash("--disable-sandbox", option, "cat", ".env")
        check(result.status != 0, option)
        contains(result.stderr, f"{option.split('=')[0]} cannot be held without a sandbox")
        equal(result.stdout, "")
    equal(fx.sandbash("--disable-sandbox", "--network=on", "--allow-write=x", "cat", ".env").stdout, "x\n")
    fx.config("mode danger-full-access\n")
    check(fx.sandbash("--deny=.env", "cat", ".env").status != 0)
    equal(fx.sandbash("cat", ".env").stdout, "x\n")


@test("P2 a TMPDIR that is not used is told, and one that is used is not")
def tmpdir(fx):
    place = fx.dir / "T"
    place.mkdir(mode=0o755)
    place.chmod(0o755)
    result = fx.sandbash("true", env={"TMPDIR": place})
    contains(result.stderr, f"TMPDIR is not used")
    equal(fx.sandbash("--quiet", "true", env={"TMPDIR": place}).stderr, "")
    lacks(fx.sandbash(f"--allow-write={place}", "true", env={"TMPDIR": place}).stderr, "TMPDIR")
    place.chmod(0o700)
    result = fx.sandbash("bash", "-c", "echo $TMPDIR; touch $TMPDIR/x && echo made", env={"TMPDIR": place})
    contains(result.stdout, "made")
    lacks(result.stderr, "TMPDIR")


run_all()
