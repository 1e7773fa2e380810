"""status.py - P7: what the child's environment and --status say, inside and outside."""

import json

from tap import ALL_VARIANTS, BIN, check, contains, equal, lacks, run_all, test


def child_env(fx, *flags, **where):
    result = fx.sandbash(*flags, "env", "-0", **where)
    equal(result.status, 0, result.stderr)
    return dict(entry.split("=", 1) for entry in result.stdout.split("\0") if entry)


def inside(fx, *flags, words=(), **where):
    """--status --json as asked from inside a run with these flags."""
    result = fx.sandbash(*flags, *words, BIN, "--status", "--json", **where)
    equal(result.status, 0, result.stderr)
    return json.loads(result.stdout)


def outside(fx, *flags, **where):
    result = fx.sandbash(*flags, "--status", "--json", variant="full", **where)
    equal(result.status, 0, result.stderr)
    return json.loads(result.stdout)


# --- the environment --------------------------------------------------------------------------


@test("P7 SANDBASH=1 and SANDBASH_MODE are in the child's environment", variants=ALL_VARIANTS)
def sandbash_variable(fx):
    env = child_env(fx)
    equal((env["SANDBASH"], env["SANDBASH_MODE"]), ("1", "workspace-write"))
    env = child_env(fx, "--mode=read-only")
    equal((env["SANDBASH"], env["SANDBASH_MODE"]), ("1", "read-only"))


@test("P7 SANDBASH_NETWORK_DISABLED=1 when the network is off, and not set when it is on",
      variants=ALL_VARIANTS)
def network_variable(fx):
    check("SANDBASH_NETWORK_DISABLED" not in child_env(fx))
    equal(child_env(fx, "--network=off")["SANDBASH_NETWORK_DISABLED"], "1")
    fx.config("network off\n")
    equal(child_env(fx)["SANDBASH_NETWORK_DISABLED"], "1")


@test("P7 stale values from the caller are not passed on as truth")
def stale_values(fx):
    env = child_env(fx, env={"SANDBASH": "0", "SANDBASH_NETWORK_DISABLED": "1", "SANDBASH_MODE": "",
                             "SANDBASH_PROJECT": "/elsewhere"})
    equal((env["SANDBASH"], env["SANDBASH_MODE"]), ("1", "workspace-write"))
    check("SANDBASH_NETWORK_DISABLED" not in env, "the network is on")
    lacks("".join(env.values()), "/elsewhere")


@test("P7 without a sandbox the environment does not claim one")
def danger_variables(fx):
    for env in ({}, {"SANDBASH": "1", "SANDBASH_NETWORK_DISABLED": "1"}):
        found = child_env(fx, "--disable-sandbox", env=env)
        equal(found["SANDBASH_MODE"], "danger-full-access")
        check(found.get("SANDBASH") != "1", "SANDBASH=1 without a sandbox")
        check("SANDBASH_NETWORK_DISABLED" not in found, "the network is on")


@test("P7 inside a closed network an inner run with an open one does not claim it is open")
def nested_network(fx):
    result = fx.sandbash("--network=off", BIN, "--network=on", "env", "-0")
    contains(result.stdout, "SANDBASH_NETWORK_DISABLED=1")


# --- --status outside -------------------------------------------------------------------------


@test("P7 --status outside: says so, and what a run here would have")
def status_outside(fx):
    fx.config(f"{fx.outside}\ndeny .env\n")
    result = fx.sandbash("--status")
    equal((result.status, result.stderr), (0, ""))
    for part in ("outside", "workspace-write", str(fx.project), str(fx.outside),
                 f"{fx.project}/.env", "Landlock"):
        contains(result.stdout, part)
    found = outside(fx)
    equal((found["inside"], found["depth"], found["mode"], found["network"], found["project"]),
          (False, 0, "workspace-write", True, str(fx.project)))
    check(str(fx.outside) in found["writable"] and str(fx.project) in found["writable"])


@test("P7 --status outside obeys flags and config")
def status_outside_flags(fx):
    found = outside(fx, "--mode=read-only", "--network=off", f"--allow-write={fx.outside}")
    equal((found["mode"], found["network"]), ("read-only", False))
    check(str(fx.outside) in found["writable"] and str(fx.project) not in found["writable"])


@test("P7 the environment alone makes nobody believe in a sandbox")
def forged(fx):
    for env in ({"SANDBASH": "1"}, {"SANDBASH": "1", "SANDBASH_MODE": "read-only",
                                    "SANDBASH_FLAGS": "--network=off", "SANDBASH_PROJECT": "/"}):
        equal(outside(fx, env=env)["inside"], False)
        contains(fx.sandbash("--status", env=env).stdout, "outside")


# --- --status inside --------------------------------------------------------------------------


@test("P7 --status inside: says so, with the policy of the run", variants=ALL_VARIANTS)
def status_inside(fx):
    found = inside(fx)
    equal((found["inside"], found["mode"], found["network"], found["project"]),
          (True, "workspace-write", True, str(fx.project)))
    equal(found["depth"], 2 if fx.variant == "nested" else 1)
    check(str(fx.project) in found["writable"])
    result = fx.sandbash(BIN, "--status")
    equal(result.status, 0, result.stderr)
    contains(result.stdout, "inside a sandbash run")
    contains(result.stdout, str(fx.project))


@test("P7 --status inside knows the run's flags, spaces and odd bytes in them too")
def status_flags(fx):
    for name in ("with space", "new\nline", "\udcff", "100%", "a'b\"c", "plus+", "--x"):
        place = fx.outside / name
        place.mkdir()
        for flags in ([f"--allow-write={place}"], ["--allow-write", place]):
            found = inside(fx, *flags, "--network=off", "--deny=.env")
            equal(found["policy_known"], True)
            equal((found["network"], found["mode"]), (False, "workspace-write"))
            check(str(place) in found["writable"], f"{name!r}: {found['writable']}")
            check(any(rule["pattern"] == f"{fx.project}/.env" and rule["access"] == "deny"
                      for rule in found["rules"]))


@test("P7 --status inside is the same wherever it is asked from")
def status_subdirectory(fx):
    fx.write("sub/x", "")
    first = inside(fx, "--allow-write=sub/..")
    second = inside(fx, "--allow-write=sub/..", words=("env", "-C", fx.path("sub")))
    third = inside(fx, "--allow-write=sub/..", words=("env", "-C", "/"))
    for found in (second, third):
        equal((found["project"], found["writable"]), (first["project"], first["writable"]))


@test("P7 --status inside: the mode and config of the run")
def status_mode(fx):
    fx.config(f"mode read-only\n{fx.outside}\n")
    found = inside(fx)
    equal(found["mode"], "read-only")
    check(str(fx.outside) not in found["writable"])
    equal(inside(fx, "--mode=workspace-write")["mode"], "workspace-write")
    (fx.project / "logs").mkdir()
    found = inside(fx, "--project=../project", "--no-tmp", "--rule=read+create logs")
    check("/tmp" not in found["writable"])
    check(any(rule["access"] == "read+create" for rule in found["rules"]))


@test("P7 --status inside does not depend on SANDBASH being set")
def status_unset(fx):
    for words in (("env", "-u", "SANDBASH"), ("env", "-i", f"HOME={fx.home}")):
        equal(inside(fx, words=words)["inside"], True, str(words))
    # what is no longer known is said to be unknown
    equal(inside(fx, words=("env", "-i", f"HOME={fx.home}"))["policy_known"], False)
    result = fx.sandbash("env", "-i", f"HOME={fx.home}", BIN, "--status")
    contains(result.stdout, "unknown")


@test("P7 --status inside: the layers that hold", variants=("full", "flat"))
def status_layers(fx):
    found = inside(fx)["layers"]
    equal(found["mount_namespace"], fx.variant == "full")
    equal(found["seccomp"], True)


@test("P7 nested runs: depth, and the inner run's policy")
def status_nested(fx):
    result = fx.sandbash(BIN, "--mode=read-only", BIN, "--status", "--json")
    equal(result.status, 0, result.stderr)
    found = json.loads(result.stdout)
    equal((found["inside"], found["depth"], found["mode"]), (True, 2, "read-only"))


@test("P7 nested runs: what the outer run closes is not shown as open")
def status_nested_outer(fx):
    place = fx.outside / "place"
    place.mkdir()
    result = fx.sandbash("--network=off", BIN, f"--allow-write={place}", BIN, "--status", "--json")
    equal(result.status, 0, result.stderr)
    found = json.loads(result.stdout)
    equal(found["network"], False, "the outer run closed the network")


@test("P7 --status of a run without a sandbox is outside")
def status_danger(fx):
    found = inside(fx, "--disable-sandbox")
    equal(found["inside"], False)


@test("P7 text and --json say the same")
def same_facts(fx):
    fx.config(f"{fx.outside}\n")
    for front in ((), (BIN,)):
        words = ("--network=off",) if not front else ()
        flags = ("--network=off", BIN) if front else ()
        text = fx.sandbash(*flags, *words, "--status").stdout
        found = json.loads(fx.sandbash(*flags, *words, "--status", "--json").stdout)
        contains(text, found["mode"])
        contains(text, "off")
        contains(text, found["project"])
        contains(text, "inside a sandbash run" if found["inside"] else "outside")
        for path in found["writable"]:
            contains(text, path)


run_all()
