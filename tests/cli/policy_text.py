"""policy_text.py - P6: a printed policy, fed back, decides the same for every path."""

import json
import os
import re

from tap import check, contains, equal, run_all, test

EXIT_USAGE, EXIT_OWN_FAILURE = 2, 125
OPS = ("read", "modify", "create", "delete")


def print_policy(fx, *flags, **where):
    result = fx.sandbash(*flags, "--print-policy", **where)
    equal(result.status, 0, result.stderr)
    return result.stdout


def rules(text):
    """The lines of a printed policy without the comment that names each origin.

    Other people's terminals (/dev/pts/N) come and go, so their rules are left out."""
    lines = [re.sub(r"\s+# (?:built-in|/|--|danger).*$", "", line) for line in text.splitlines()]
    return [line for line in lines if not re.search(r" /dev/pts/\d", line)]


def decisions(fx, path, *flags, **where):
    result = fx.sandbash(*flags, "--explain", path, "--json", **where)
    equal(result.status, 0, result.stderr)
    found = json.loads(result.stdout)["decisions"]
    return [found[op]["verdict"] for op in OPS]


def round_trip(fx, *flags, config="", paths=(), cwd=None):
    """Print the policy of a run, take config and flags away, feed it back: all decisions equal."""
    fx.config(config)
    where = {"cwd": cwd or fx.project}
    text = print_policy(fx, *flags, **where)
    before = {path: decisions(fx, path, *flags, **where) for path in paths}
    json_before = json.loads(fx.sandbash(*flags, "--print-policy", "--json", **where).stdout)
    fx.config("")
    file = fx.write(fx.outside / "printed.policy", text.encode("utf-8", "surrogateescape"))
    fed = f"--policy={file}"
    for path in paths:
        equal(decisions(fx, path, fed, **where), before[path], f"{path!r}")
    again = print_policy(fx, fed, **where)
    # the fed file protects itself with one rule more
    kept = [line for line in rules(again) if not line.startswith(f"read {file}")]
    equal(kept, rules(text))
    json_after = json.loads(fx.sandbash(fed, "--print-policy", "--json", **where).stdout)
    for key in ("mode", "network", "tmp"):
        equal(json_after[key], json_before[key], key)
    # a second round changes nothing at all
    file.write_bytes(again.encode("utf-8", "surrogateescape"))
    equal(rules(print_policy(fx, fed, **where)), rules(again))


def some_paths(fx):
    """Paths of every kind: in and around the project, guarded, hidden, temporary, devices."""
    home, project, outside = fx.home, fx.project, fx.outside
    return ["/", "/etc/passwd", "/etc/sandbash/config", "/usr/bin/x", "/tmp", "/tmp/x/y",
            "/tmp/.bashrc", "/dev/null", "/dev/tty", "/dev/shm/x", "/dev/sda", "/proc/self/mem",
            "/run/docker.sock", home, f"{home}/.bashrc", f"{home}/.ssh", f"{home}/.ssh/id_rsa",
            f"{home}/.ssh/known_hosts", f"{home}/.aws/x", f"{home}/.config/sandbash/config",
            f"{home}/.config/gh/x", f"{home}/.local/state/sandbash/log", f"{home}/project-evil",
            f"{home}/other/x", project, f"{project}/x", f"{project}/a/b/c", f"{project}/.git",
            f"{project}/.git/config", f"{project}/.git/hooks/x", f"{project}/.git/index",
            f"{project}/.env", f"{project}/a/.env", f"{project}/.vscode/tasks.json",
            f"{project}/vendor", f"{project}/vendor/x", f"{project}/logs/a.txt",
            f"{project}/logs/b/c.txt", f"{project}/logs/c.log", outside, f"{outside}/x",
            f"{outside}/a.log", f"{outside}/a b/c", f"{outside}/new\nline/x", f"{outside}/\udcff",
            f"{outside}/#hash", f"{outside}/[set]/x", f"{outside}/*star", f"{outside}/back\\slash",
            f"{outside}/ lead", f"{outside}/trail ", f'{outside}/q"uote']


ODD = ("a b", "new\nline", "\udcff", "#hash", "[set]", "*star", "back\\slash", " lead", "trail ",
       'q"uote')

CONFIG = """# a bit of everything
read vendor
deny **/.env
ask ~/notes
read+create+ask:delete logs/**/*.txt
~/other
deny /srv/none
read+modify "~/a b"
"""


@test("P6 the default policy goes round")
def default_policy(fx):
    fx.write(".git/hooks/x", "")
    fx.write(".git/config", "")
    round_trip(fx, paths=some_paths(fx))


@test("P6 a config with every kind of rule goes round")
def config_policy(fx):
    (fx.home / "other").mkdir()
    round_trip(fx, config=CONFIG, paths=some_paths(fx))


@test("P6 rules from flags, with odd names, go round")
def flag_policy(fx):
    flags = []
    for i, name in enumerate(ODD):
        (fx.outside / name).mkdir()
        option = ("--allow-write", "--allow-read", "--deny", "--ask")[i % 4]
        # a pattern's special characters are written with a backslash
        flags.append(f"{option}={fx.outside}/" + re.sub(r"([*?\[\\])", r"\\\1", name))
    round_trip(fx, *flags, "--rule=read+create /srv", f"--rule=deny {fx.outside}/*.log",
               paths=some_paths(fx))


@test("P6 read-only mode goes round")
def read_only_policy(fx):
    (fx.home / "other").mkdir()
    round_trip(fx, "--mode=read-only", config=CONFIG, paths=some_paths(fx))
    round_trip(fx, config=CONFIG + "mode read-only\n", paths=some_paths(fx)[::3])


@test("P6 read-only mode with flags goes round")
def read_only_flags(fx):
    (fx.home / "other").mkdir()
    round_trip(fx, "--mode=read-only", f"--allow-write={fx.outside}", "--allow-write=.",
               "--deny=.git", "--ask=vendor", config=CONFIG, paths=some_paths(fx))


def settings(flags):
    @test(f"P6 settings go round: {' '.join(flags)}")
    def goes_round(fx):
        round_trip(fx, *flags, paths=["/tmp/.bashrc", "/tmp/x", *some_paths(fx)[::6]])


for given in (["--network=off"], ["--no-tmp"], ["--shared-tmp"],
              ["--network=off", "--no-tmp", "--mode=read-only"], ["--mode=danger-full-access"]):
    settings(given)


@test("P6 several projects go round")
def projects_policy(fx):
    other = fx.home / "other"
    fx.write(other / ".git/config", "")
    round_trip(fx, f"--project={other}", config="read vendor\n",
               paths=some_paths(fx)[::3] + [f"{other}/x", f"{other}/.git/config",
                                            f"{other}/vendor/x"])


@test("P6 the policy of a directory outside the home directory, and of the home, goes round")
def elsewhere_policy(fx):
    for cwd in (fx.outside, fx.home):
        round_trip(fx, cwd=cwd, paths=some_paths(fx)[::4])


@test("P6 a protected file reached through links goes round")
def linked_policy(fx):
    fx.write("real/hooks/x", "")
    fx.path(".git").symlink_to("real")
    fx.write(fx.home / "keys/id_rsa", "")
    (fx.home / ".ssh").symlink_to(fx.home / "keys")
    round_trip(fx, paths=[*some_paths(fx)[::3], fx.project / "real/hooks/x", fx.project / ".git",
                          fx.home / "keys/id_rsa", fx.home / ".ssh"])


@test("P6 a fed-back policy is enforced like the first")
def enforced(fx):
    fx.write("vendor/x", "")
    fx.write(".env", "secret\n")
    (fx.outside / "a").mkdir()
    flags = ("--allow-read=vendor", "--deny=.env", f"--allow-write={fx.outside}/a")
    file = fx.write(fx.home / "policy", print_policy(fx, *flags))
    for words in (("touch", "vendor/y"), ("cat", ".env"), ("touch", f"{fx.outside}/a/y"),
                  ("touch", "y"), ("touch", f"{fx.outside}/y")):
        equal(fx.sandbash(f"--policy={file}", *words).status, fx.sandbash(*flags, *words).status,
              str(words))


@test("P6 a fed-back policy leaves the run terminals of its own")
def fed_back_terminals(fx):
    term = fx.terminal("sh", "-c", "tty; read line")
    term.expect(r"/dev/pts/\d+")
    file = fx.write(fx.outside / "printed.policy", print_policy(fx))
    contains(fx.run("ls", "/dev/pts").stdout, os.path.basename(os.readlink(f"/proc/{term.process.pid}/fd/0")))
    for flags in ((), (f"--policy={file}",)):
        equal(fx.sandbash(*flags, "ls", "/dev/pts").stdout, "ptmx\n", str(flags))
    term.send("x\n")
    term.wait()


@test("P6 --print-policy names the origin of each rule, and --json holds the same rules")
def origins(fx):
    fx.config(f"# x\n{fx.outside}\n")
    text = print_policy(fx, "--deny=.env")
    contains(text, f"{fx.home}/.config/sandbash/config line 2")
    contains(text, "# --deny=.env")
    contains(text, "# built-in: ")
    found = json.loads(fx.sandbash("--deny=.env", "--print-policy", "--json").stdout)
    for rule in found["rules"]:
        if rule["pattern"].startswith("/dev/pts/"):
            continue
        contains(text, rule["pattern"])
        contains(text, rule["origin"])


@test("P6 printed text is one printable line for each rule, whatever the names are")
def printable(fx):
    for name in (*ODD, "\x1b[31mred", "\u202eevil", "tab\t"):
        (fx.outside / name).mkdir()
    flags = [f"--allow-read={fx.outside}/" + re.sub(r"([*?\[\\])", r"\\\1", name)
             for name in (*ODD, "\x1b[31mred", "\u202eevil", "tab\t")]
    plain = print_policy(fx)
    text = print_policy(fx, *flags)
    equal(len(rules(text)), len(rules(plain)) + len(flags))
    check(all(c.isprintable() or c == "\n" for c in text), "control characters")


@test("P6 --policy adds to the other tiers; a flag overrules it")
def policy_tier(fx):
    file = fx.write(fx.home / "policy", f"read {fx.outside}\n")
    fx.config(f"{fx.outside}\n")
    equal(decisions(fx, fx.outside)[1], "allow")
    equal(decisions(fx, fx.outside, f"--policy={file}")[1], "deny")
    equal(decisions(fx, fx.outside, f"--policy={file}", f"--allow-write={fx.outside}")[1], "allow")


@test("P6 several policy files, and relative names in them, count for the project")
def policy_files(fx):
    one, two = fx.write(fx.home / "one", "deny a\n"), fx.write(fx.home / "two", "deny b\n")
    flags = (f"--policy={one}", "--policy", "~/two")
    for name in ("a", "b"):
        equal(decisions(fx, name, *flags), ["deny"] * 4)


@test("P6 unknown and malformed input is rejected, with file and line; nothing starts")
def rejected(fx):
    for text in ("allow x", "read+execute x", "color blue", "network perhaps", "mode strict",
                 "tmp public", "read", "deny \"x", "read+read x"):
        file = fx.write(fx.home / "policy", f"# fine\n{text}\n")
        for words in (("touch", "x"), ("--print-policy",), ("--explain", "x")):
            result = fx.sandbash(f"--policy={file}", *words)
            equal(result.status, EXIT_OWN_FAILURE, f"{text}: {result.stderr}")
            check(result.stderr.startswith(f"sandbash: '{file}' line 2: "), result.stderr)
    check(not fx.exists("x"))


@test("P6 contradictory input is rejected")
def contradictory(fx):
    (fx.project / "a").mkdir()
    for text in ("read a\ndeny a\n", "network on\nnetwork off\n",
                 "mode read-only\nmode workspace-write\n", "deny a\nwrite ./a/\n"):
        file = fx.write(fx.home / "policy", text)
        result = fx.sandbash(f"--policy={file}", "touch", "x")
        equal(result.status, EXIT_OWN_FAILURE, f"{text}: {result.stderr}")
        check(result.stderr.startswith(f"sandbash: '{file}' line 2: "), result.stderr)
    check(not fx.exists("x"))


@test("P6 a wrong rule on the command line is a usage mistake that names the option")
def wrong_rule_flag(fx):
    for flag in ("--rule=read", "--rule=read+fly x", "--rule=frob it now", "--rule=deny \"x",
                 "--rule=network off", "--rule=include x", "--rule=# nothing", "--rule= ",
                 "--deny=a[", "--allow-write=~nobody/x"):
        result = fx.sandbash(flag, "touch", "x")
        equal(result.status, EXIT_USAGE, f"{flag}: {result.stderr}")
        check(result.stderr.startswith("sandbash: "), result.stderr)
        contains(result.stderr.splitlines()[0], flag.split("=")[0], "which option is wrong")
    check(not fx.exists("x"))


@test("P6 a policy file that is missing, a directory or a FIFO is refused")
def policy_missing(fx):
    os.mkfifo(fx.home / "fifo")
    for name in ("missing", ".", "../fifo", "/dev/zero", "a\nb"):
        result = fx.sandbash(f"--policy={name}", "touch", "x")
        equal(result.status, EXIT_OWN_FAILURE, result.stderr)
        check(result.stderr.startswith("sandbash: "), result.stderr)
        check(len(result.stderr.splitlines()) <= 2, result.stderr)
    check(not fx.exists("x"))


@test("P6 danger-full-access allows everything, and says why")
def danger(fx):
    for path in some_paths(fx)[::5]:
        equal(decisions(fx, path, "--disable-sandbox"), ["allow"] * 4, str(path))
    contains(fx.sandbash("--disable-sandbox", "--explain", "/etc").stdout, "danger-full-access")


run_all()
