"""Profiles: what a program gets by its name, and who gets none."""

import json
import os
import shutil
import socket

from person import Person
from tap import FLAGS, check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")
AGENT = "#!/bin/sh\n"  # then what the test wants it to do


def agent(fx, script, name="claude", where="bin"):
    """A program in ~/bin that does what the script says."""
    return fx.write(fx.home / where / name, AGENT + script, mode=0o755)


def environment(fx, **more):
    return {"PATH": f"{fx.home / 'bin'}:{fx.env()['PATH']}", **more}


def run(fx, *words, env=None, **where):
    return fx.sandbash("--consent=deny", *words, env=environment(fx, **(env or {})), **where)


def records(fx):
    printed = fx.sandbash("--log", "--json").stdout
    return [json.loads(line) for line in printed.splitlines()]


STATE = """
echo chat > ~/.claude/projects/chat && mkdir ~/.claude/projects/new &&
mv ~/.claude/projects/chat ~/.claude/projects/new/ && echo state
echo evil > ~/.claude/settings.json
echo evil > ~/.profile && echo profile
cat ~/.claude/.credentials.json
"""


@test("what the model is told is made once by the agent, and no command changes it", variants=BOTH)
def made_once(fx):
    script = """echo English > ~/.qwen/output-language.md && echo made
        echo evil > ~/.qwen/output-language.md && echo changed
        rm -f ~/.qwen/output-language.md; mv ~/.qwen/output-language.md ~/.qwen/tmp/x && echo moved
        echo evil > ~/.qwen/tmp/y; mv -f ~/.qwen/tmp/y ~/.qwen/output-language.md && echo replaced
        echo evil > ~/.qwen/QWEN.md && echo instructions"""
    agent(fx, script, name="qwen")
    equal(run(fx, "qwen").stdout, "made\n")
    equal(fx.read(fx.home / ".qwen/output-language.md"), "English\n")
    equal(fx.run(fx.home / "bin/qwen").stdout, "made\nchanged\nreplaced\ninstructions\n", "the control")


@test("an agent finds its state and its login by its name, in an empty home too", variants=BOTH)
def finds(fx):
    agent(fx, STATE)
    agent(fx, STATE, name="other")
    for flags in ([], ["--static"]):
        equal(run(fx, *flags, "other").stdout, "", "without a profile")
        equal(run(fx, *flags, "claude").stdout, "state\n", str(flags))
        check(not fx.exists(fx.home / ".claude/settings.json"), "settings")
        check(not fx.exists(fx.home / ".profile"), "start-up file")
        for name in (".claude", ".claude/projects"):
            equal((fx.home / name).stat().st_mode & 0o7777, 0o700, name)
        fx.write(fx.home / ".claude/.credentials.json", "LOGIN\n")
        equal(run(fx, *flags, "claude", "again").stdout[-6:], "LOGIN\n", "its login")
        lacks(run(fx, *flags, "other").stdout, "LOGIN", "for others it stays hidden")
        lacks(run(fx, *flags, "--profile=none", "claude").stdout, "LOGIN", "without a profile")
        contains(run(fx, *flags, "--profile=claude", "other").stdout, "LOGIN", "given")
        fx.run("rm", "-rf", fx.home / ".claude")


@test("what a profile opens and contents decide about stays closed where nobody looks at them", variants=BOTH)
def contents(fx):
    script = 'echo "{\\"$1\\": {\\"x\\": {\\"command\\": \\"y\\"}}}" > ~/.claude.json; cat ~/.claude.json\n'
    agent(fx, script)
    for flags, name, lands in (([], "tipsHistory", True), ([], "mcpServers", False),
                               (["--static"], "tipsHistory", False), (["--static"], "mcpServers", False)):
        fx.write(fx.home / ".claude.json", "{}\n")
        said = run(fx, *flags, "claude", name).stdout
        # without mounts nothing new beside what is hidden can be read, where nobody takes a spare (supervise/spares.h)
        if fx.variant == "full" or not flags:
            equal(name in said, lands, f"{flags} {name}")
        equal(name in fx.read(fx.home / ".claude.json"), lands, f"{flags} {name}")
    fx.run(fx.home / "bin/claude", "mcpServers")
    contains(fx.read(fx.home / ".claude.json"), "mcpServers", "the control")


@test("an agent's state with a key in it is for its own profile, where a variable puts it, too", variants=BOTH)
def own_keys(fx):
    script = """cat "${CLAUDE_CONFIG_DIR:-$HOME}/.claude.json"; cat ~/.claude.json.backup
        [ "$1" ] && { echo '{"numStartups": 2}' >~/.claude.json.tmp.1 && mv ~/.claude.json.tmp.1 ~/.claude.json &&
        echo x >~/.claude.json.backup && echo x >~/.claude/backups/y && mkdir ~/.claude.json.lock && rmdir ~/.claude.json.lock && echo written; }\n"""
    for name in ("claude", "codex", "other"):
        agent(fx, script, name=name)
    for name in (".claude.json", ".claude.json.backup", "claude-x/.claude.json"):
        fx.write(fx.home / name, '{"primaryApiKey": "KEY"}\n')
    for flags, env in (([], {}), (["--static"], {}), ([], {"CLAUDE_CONFIG_DIR": fx.home / "claude-x"})):
        contains(run(fx, *flags, "claude", env=env).stdout, "KEY", f"{flags} {env}")
        for name in ("codex", "other"):
            lacks(run(fx, *flags, name, env=env).stdout, "KEY", f"{flags} {env} {name}")
        lacks(run(fx, *flags, "--profile=none", "claude", env=env).stdout, "KEY", f"{flags} {env} without a profile")
        contains(fx.run(fx.home / "bin/other", env=environment(fx, **env)).stdout, "KEY", "the control")
    fx.write(fx.home / ".claude/backups/x", '{"primaryApiKey": "KEY"}\n')
    said = run(fx, "claude", "write")
    contains(said.stdout, "written", said.stderr)
    equal(fx.read(fx.home / ".claude.json"), '{"numStartups": 2}\n', "it is its own state")
    contains(run(fx, "other").stdout, "numStartups", "the neighbour: nothing in it")


@test("the name may be typed as a path, be a link, or lead to another file")
def names(fx):
    script = "echo x > ~/.claude/projects/x && echo found\n"
    agent(fx, script, name="cli.js", where="lib/node_modules/agent")
    agent(fx, script, name="plain")
    bin_dir = fx.home / "bin"
    (bin_dir / "claude").symlink_to("../lib/node_modules/agent/cli.js")
    (bin_dir / "c").symlink_to("claude")
    (fx.home / "codex").symlink_to("bin")  # a directory, and no program
    for typed in ("claude", str(bin_dir / "claude"), "../bin/claude", "c", str(bin_dir / "c")):
        equal(run(fx, typed).stdout, "found\n", typed)
    for typed in ("plain", str(fx.home / "codex/plain"), str(fx.home / "lib/node_modules/agent/cli.js")):
        equal(run(fx, "--profile=none", typed).stdout, "", typed)
        equal(run(fx, typed).stdout, "", typed)
    result = run(fx, "--profile=nothing", "plain")
    equal(result.status, 125)
    contains(result.stderr, "there is no profile 'nothing'")


@test("a program that a command could have written gets no profile by its name", variants=BOTH)
def planted(fx):
    script = "echo x > ~/.claude/projects/x && echo found; cat ~/.claude/.credentials.json\n"
    fx.write(fx.home / ".claude/.credentials.json", "LOGIN\n")
    (fx.home / ".claude/projects").mkdir()
    agent(fx, script, where="project")
    agent(fx, script, where="opened")
    (fx.home / "bin").mkdir()
    (fx.home / "bin/claude").symlink_to("../project/claude")
    agent(fx, script, where="real")
    (fx.project / "to").symlink_to("../real")
    for words, env in ((["./claude"], {}), ([str(fx.project / "claude")], {}), (["claude"], {}),
                       (["to/claude"], {}), (["claude"], {"PATH": f".:{fx.env()['PATH']}"}),
                       ([f"--allow-write={fx.home / 'opened'}", str(fx.home / "opened/claude")], {}),
                       ([f"--allow-write={fx.home / 'opened'}", "claude"],
                        {"PATH": f"{fx.home / 'opened'}:{fx.env()['PATH']}"})):
        result = run(fx, *words, env=env)
        equal(result.stdout, "", str(words))
        contains(result.stderr, "the profile 'claude' is not used: a command could have written", str(words))
        if words == ["to/claude"]:
            contains(result.stderr, f"could have written '{fx.project / 'to'}'", "the link, which is what it could")
    # the neighbours: who says so, and the same program elsewhere
    equal(run(fx, "--profile=claude", "./claude").stdout, "found\nLOGIN\n")
    equal(run(fx, str(fx.home / "real/claude")).stdout, "found\nLOGIN\n")
    equal(run(fx, str(fx.home / "opened/claude")).stdout, "found\nLOGIN\n")


@test("no profile opens a guarded name")
def guarded(fx):
    agent(fx, "echo evil > ~/.profile && echo opened; echo x > ~/.plain && echo plain\n", name="agent")
    fx.config("write ~/.profile\nwrite ~/.plain\n", "profiles/agent.rules")
    equal(run(fx, "agent").stdout, "plain\n")
    check(not fx.exists(fx.home / ".profile"))
    fx.config("write ~/.profile\n")
    equal(run(fx, "agent").stdout, "opened\nplain\n", "the neighbour: another file may")


@test("the user's own profile goes before, a project brings none")
def users(fx):
    agent(fx, "echo x > ~/mine && echo mine; echo x > ~/.claude/projects/x && echo state\n")
    agent(fx, "echo x > ~/mine && echo mine; echo x > ~/.claude/projects/x && echo state\n", name="my-agent")
    own = fx.config("# mine\nwrite ~/mine\n", "profiles/claude.rules")
    equal(run(fx, "claude").stdout, "mine\n")
    own.write_text("# mine\nprogram my-agent\ninclude-profile claude\nwrite ~/mine\n")
    for name in ("claude", "my-agent"):
        equal(run(fx, name).stdout, "mine\nstate\n", name)
    listed = fx.sandbash("--profiles").stdout
    contains(listed, f"claude         mine ({own})")
    contains(listed, "comes with sandbash")
    names = [one["name"] for one in json.loads(fx.sandbash("--profiles", "--json").stdout)["profiles"]]
    equal(names, sorted(names))
    equal(len(names), len(set(names)))
    equal(fx.sandbash("--profile-show", "claude").stdout, f"# from {own}\n{own.read_text()}")
    contains(fx.sandbash("--profile-show", "codex").stdout, "# from sandbash itself\n# Codex")
    equal(fx.sandbash("--profile-show", "nothing").status, 125)
    # what was read is not changed by the run (S9), not even by a rule
    result = run(fx, "--profile=claude", "--allow-write=~/.config", "sh", "-c", f"echo write / >> {own}")
    equal(result.status, 2)
    lacks(own.read_text(), "write /\n")
    # a file of the project's is none
    own.unlink()
    evil = fx.write("evil.rules", "write ~/mine\nprogram my-agent ls\n")
    fx.write(".config/sandbash/profiles/my-agent.rules", evil.read_text())
    fx.write("share/sandbash/profiles/my-agent.rules", evil.read_text())
    equal(run(fx, "my-agent").stdout, "")
    equal(run(fx, "my-agent", env={"XDG_CONFIG_HOME": fx.project / ".config"}).stdout, "", "a variable leads there")
    own.with_name("evil.rules").symlink_to(evil)
    equal(run(fx, "my-agent").stdout, "", "by a line of a file that lies in the project")
    own.symlink_to(evil)
    result = run(fx, "claude")
    equal((result.status, result.stdout), (125, ""))
    contains(result.stderr, "lies inside the project")
    equal(run(fx, "--profile=none", "claude").status, 2, "the neighbour: it runs without")


@test("the tier: below the user's rules, and the mode's; no mistake is passed over")
def tiers(fx):
    script = "echo x > ~/.claude/projects/x && echo state\n"
    agent(fx, script)
    fx.config("read ~/.claude/projects\n")
    equal(run(fx, "claude").stdout, "")
    fx.config("")
    equal(run(fx, "claude").stdout, "state\n")
    equal(run(fx, "--rule=read ~/.claude/projects", "claude").stdout, "")
    equal(run(fx, "--mode=read-only", "claude").stdout, "")
    explained = fx.sandbash("--profile=claude", "--json", f"--explain={fx.home}/.claude/projects/x").stdout
    rule = json.loads(explained)["decisions"]["create"]["rule"]
    equal(rule["tier"], "profile")
    contains(rule["origin"], "profile claude line ")
    contains(rule["origin"], "chats")
    printed = fx.write(fx.outside / "printed", fx.sandbash("--profile=claude", "--print-policy").stdout)
    contains(printed.read_text(), "# profile claude line ")
    equal(run(fx, "--profile=none", f"--policy={printed}", "claude").stdout, "state\n", "read back")
    own = fx.config("wriet ~/x y\n", "profiles/claude.rules")
    result = run(fx, "claude")
    equal(result.status, 125)
    contains(result.stderr, f"'{own}' line 1:")
    fx.config("login claude\n")
    own.unlink()
    equal(fx.sandbash("--print-policy").stdout.count(f"write {fx.project / 'login'} "), 0)
    fx.config("say hello\n")
    equal(run(fx, "true").status, 125, "a line that only a profile has")


@test("variables, arguments and what it says", variants=BOTH)
def beside_rules(fx):
    agent(fx, 'echo "$A:$B:$*"\n', name="agent")
    fx.config("environment A=from profile\nenvironment B=b\nargument --off\nargument -x\n"
              "say its own sandbox is \x22off\x22\n", "profiles/agent.rules")
    for flags in ([], ["--static"]):
        result = run(fx, *flags, "agent", "exec", "-x")
        equal(result.stdout, "from profile:b:--off exec -x\n", str(flags))
        contains(result.stderr, "sandbash: its own sandbox is \"off\"\n")
        equal(run(fx, *flags, "agent", env={"A": "mine"}).stdout, "mine:b:--off -x\n")
        equal(run(fx, *flags, "--clean-env", "agent", env={"A": "mine"}).stdout, "from profile:b:--off -x\n")
        lacks(run(fx, *flags, "--quiet", "agent").stderr, "its own sandbox")
        # arguments are the program's own; without a sandbox nothing stands back
        equal(run(fx, *flags, "--profile=agent", "sh", "-c", 'echo "$A:$*"', "sh", "y").stdout, "from profile:y\n")
        equal(run(fx, *flags, "--profile=none", "agent", "y").stdout, "::y\n")
        equal(run(fx, *flags, "--mode=danger-full-access", "agent", "y").stdout, "::y\n")
    told = run(fx, "--dry-run", "agent").stdout
    contains(told, "agent --off -x\n")
    contains(told, "profile:    agent\nwould set:  'A=from profile'\nwould set:  B=b\n")
    fx.config('argument a={"$SANDBASH_PROJECT"=1}\nargument -y\n', "profiles/agent.rules")
    equal(run(fx, "agent").stdout, f'::a={{"{fx.project}"=1}} -y\n')
    for name in ('q"={}}, b={"', "back\\slash", "$(x)"):  # would be more than a name
        fx.path(name).mkdir()
        equal(run(fx, "agent", cwd=fx.path(name)).stdout, "::-y\n", name)


@test("inside, --status tells of the profile")
def status(fx):
    own = fx.config("write ~/state\n", "profiles/agent.rules")
    fx.write(fx.home / "state")
    agent(fx, 'exec "$1" --status\n', name="agent")
    sandbash = fx.argv()[0]
    told = run(fx, "agent", sandbash).stdout
    contains(told, "profile:  agent\n")
    contains(told, f"{fx.home / 'state'}  # {own} line 1\n")


QUIET = "touch ~/tries/a; mkdir ~/tries/b; rm ~/tries/there; cat ~/tries/there; touch ~/loud\n"


@test("quiet: refused, recorded, and nobody is told", variants=BOTH)
def quiet(fx):
    there = fx.write(fx.home / "tries/there", "there\n")
    equal(fx.run("sh", "-c", QUIET + "touch ~/tries/there && rm -r ~/tries ~/loud").status, 0)
    fx.write(there, "there\n")
    loud = fx.sandbash("--consent=deny", "sh", "-c", QUIET)
    contains(loud.stderr, "tries/a'")
    fx.config("quiet ~/tries\n")
    told = fx.sandbash("--consent=deny", f"--report={fx.outside / 'report'}", "sh", "-c", QUIET)
    equal(told.stdout, "there\n")
    equal(sorted(os.listdir(there.parent)), ["there"])
    if "--static" in FLAGS:
        return
    summary = told.stderr[told.stderr.index("sandbash: 1 operation was refused"):]
    contains(summary, "loud")
    lacks(summary, "tries")
    equal(json.loads((fx.outside / "report").read_text())["refused"], 1)
    denied = [(event["op"], event["by"]) for event in records(fx)
              if event["event"] == "deny" and "/tries/" in event["path"]][-3:]
    equal(denied, [("create", "quiet"), ("create", "quiet"), ("delete", "quiet")])
    # a rename out of there, to where another rule says no, is told
    fx.config("quiet ~/tries\nread ~/closed\n")
    fx.write(fx.home / "closed/x")
    result = fx.sandbash("--consent=deny", "mv", there, fx.home / "closed/x")
    contains(result.stderr, "operation was refused")


@test("quiet: where somebody could be asked, nobody is", variants=BOTH)
def quiet_terminal(fx):
    fx.write(fx.home / "tries/there")
    words = ["sh", "-c", "touch ~/tries/new; echo status=$?"]
    Person(fx, *words).question("wants to create", fx.home / "tries/new")  # left open: it ends with the test
    person = Person(fx, *words, flags=["--rule=quiet ~/tries"])
    person.term.expect("status=1")
    equal(person.end(), 0)
    lacks(person.term.screen(), "refused;")


@test("quiet:OP is for one operation")
def quiet_operation(fx):
    fx.write("d/x")
    flags = ["--rule=read+create+quiet:delete d"]
    result = fx.sandbash("--consent=deny", *flags, "sh", "-c", ": > d/y && echo made; rm d/x")
    equal(result.stdout, "made\n")
    check(fx.exists("d/x"))
    lacks(result.stderr, "refused;")
    contains(fx.sandbash("--consent=deny", "--rule=read+create d", "rm", "-f", "d/x").stderr, "d/x'")
    contains(fx.sandbash(*flags, "--explain=d/x").stdout, "(quietly: recorded, and not told)")
    contains(fx.sandbash(*flags, "--print-policy").stdout, f"read+create+quiet:delete {fx.project / 'd'}")


CONNECT = """import os, socket
try:
    socket.socket(socket.AF_UNIX).connect(os.environ["TMUX"].split(",")[0])
    print("connected")
except OSError as error:
    print("no")
"""


@test("quiet $TMUX: its socket is neither seen nor asked about", variants=BOTH)
def tmux(fx):
    place = fx.outside / "tmux"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        server.listen()
        env = {"TMUX": f"{place},1,0"}
        words = ["python3", "-c", CONNECT]
        equal(fx.run(*words, env=env).stdout, "connected\n")
        fx.config("quiet $TMUX\n", "profiles/agent.rules")
        # without namespaces a static run holds no socket, and says so
        for flags in ([], ["--static"]) if fx.variant == "full" else ([],):
            told = fx.sandbash(*flags, "--consent=deny", "--profile=agent", *words, env=env)
            equal(told.stdout, "no\n", str(flags))
            lacks(told.stderr, "refused", str(flags))
        equal(fx.sandbash("--profile=agent", *words[:2], "print(1)").stdout, "1\n", "no such variable")


@test("paths that begin with variables, as far as these lead nowhere else")
def variables(fx):
    fx.config("write $XDG_STATE_HOME/agent/\nwrite $CODEX_HOME/tmp/\n", "profiles/agent.rules")
    script = 'touch "$1/x" && echo made'

    def made(path, **env):
        return fx.sandbash("--consent=deny", "--quiet", "--profile=agent", "sh", "-c", script, "sh", path,
                           env=env)
    equal(made(fx.home / ".local/state/agent").stdout, "made\n")
    equal(made(fx.home / "s/agent", XDG_STATE_HOME=fx.home / "s").stdout, "made\n")
    equal(made(fx.home / ".codex-s/tmp", CODEX_HOME=fx.home / ".codex-s").stdout, "made\n")
    equal(made(fx.home / "tmp").stdout, "", "the variable is not set")
    for value in (fx.home, fx.dir, "/", fx.project, fx.project / "sub", f"{fx.project}/.."):
        result = made(fx.home / "tmp", CODEX_HOME=value)
        equal(result.stdout, "", str(value))
        contains(result.stderr, "lines of the profile about it are left out", str(value))
        check(not fx.exists(fx.home / "tmp"), str(value))
    fx.config("write $HOME/x\n", "profiles/agent.rules")
    contains(made(fx.home).stderr, "no path begins with the variable '$HOME'")


AT_HOME = """
cat "$CODEX_HOME/auth.json"; cat "$CODEX_HOME/history.jsonl"
echo X >> "$CODEX_HOME/history.jsonl" && echo wrote; echo X > "$CODEX_HOME/sessions/x" && echo chat
"""


@test("an agent's variable counts where the directory is its own", variants=BOTH)
def own_directory(fx):
    agent(fx, AT_HOME, name="codex")
    names = (".codex-work", ".config/codex", "codex.d", ".mozilla/firefox/p", ".local/share/opencode", ".config/composer",
             "codexes", "x.codex", "deep/.codex/sub")
    for name in (*names, "to/codex", "project/lk/codex", "project/codex"):
        path = fx.home / name
        if name.startswith("to/") or "/lk/" in name:
            (fx.home / "far/codex/sessions").mkdir(parents=True, exist_ok=True)
            path.parent.symlink_to(fx.home / "far")
        (path / "sessions").mkdir(parents=True, exist_ok=True)
        fx.write(path / "auth.json", "LOGIN\n")
        fx.write(path / "history.jsonl", "state\n")
        equal(fx.run(fx.home / "bin/codex", env={"CODEX_HOME": path}).stdout, "LOGIN\nstate\nwrote\nchat\n", "the control")
        os.remove(path / "sessions/x")
        for flags in ([], ["--static"]):
            fx.write(path / "history.jsonl", "state\n")
            result = run(fx, *flags, "codex", env={"CODEX_HOME": path})
            if name in names[:3]:
                equal(result.stdout, "LOGIN\nstate\nwrote\nchat\n", f"{flags} {name}")
                lacks(result.stderr, "left out", f"{flags} {name}")
                os.remove(path / "sessions/x")
                continue
            if name != "project/codex":  # which is the project's own
                lacks(result.stdout, "LOGIN", f"{flags} {name}")
                equal(fx.read(path / "history.jsonl"), "state\n", f"{flags} {name}")
                check(not fx.exists(path / "sessions/x"), f"{flags} {name}")
            equal(result.stderr.count("$CODEX_HOME is"), 1, f"{flags} {name}")
            contains(result.stderr, "left out; a profile of your own can name the directory", f"{flags} {name}")
    for name in ("/etc", "/", fx.home, fx.dir):
        result = run(fx, "--profile=claude", "true", env={"CLAUDE_CONFIG_DIR": name})
        equal((result.status, result.stderr.count("left out")), (0, 1), str(name))
        check(not fx.exists(f"{name}/paste-cache"), str(name))
    # what lies in such a directory may be links, made by a run that another profile opened it for
    place = fx.home / ".claude/projects/codex"
    (fx.home / "docs").mkdir()
    fx.write(fx.home / ".ssh/id", "KEY\n")
    place.mkdir(parents=True)
    (place / "sessions").symlink_to(fx.home / "docs")
    (place / "auth.json").symlink_to(fx.home / ".ssh/id")
    contains(fx.run(fx.home / "bin/codex", env={"CODEX_HOME": place}).stdout, "KEY\n", "the control")
    os.remove(fx.home / "docs/x")
    for flags in ([], ["--static"]):
        lacks(run(fx, *flags, "codex", env={"CODEX_HOME": place}).stdout, "KEY", str(flags))
        check(not fx.exists(fx.home / "docs/x"), str(flags))


HIDDEN = "cat ~/.aws/k ~/.aws/cli/k; echo X >> ~/.aws/cli/k && echo wrote; echo X > ~/plain/x && echo plain\n"


@test("no profile opens what is hidden, but for a login", variants=BOTH)
def hidden(fx):
    agent(fx, HIDDEN, name="agent")
    (fx.home / "plain").mkdir()
    for at in ("k", "cli/k"):
        fx.write(fx.home / ".aws" / at, "KEY\n")
    equal(fx.run(fx.home / "bin/agent").stdout, "KEY\nKEY\nwrote\nplain\n", "the control")
    fx.write(fx.home / ".aws/cli/k", "KEY\n")
    for rules in ("write ~/.aws", "write ~/.aws/", "write ~/.aws/cli\nread ~/.aws/k", "write ~/.aws/cli/\nread ~/.aws/*",
                  "write ~/*/cli/k\nread ~/.aw?/**/k", "write $XDG_DATA_HOME/cli/\nread $XDG_DATA_HOME/k"):
        own = fx.config(f"write ~/plain\n{rules}\n", "profiles/agent.rules")
        env = {"XDG_DATA_HOME": fx.home / ".aws"}
        for flags in ([], ["--static"]):
            equal(run(fx, *flags, "agent", env=env).stdout, "plain\n", f"{flags} {rules}")
            equal(fx.read(fx.home / ".aws/cli/k"), "KEY\n", f"{flags} {rules}")
    # the neighbours: any other tier does, also beside the profile; and what is printed is what held
    own.write_text("write ~/plain\nwrite ~/.aws/cli\n")
    printed = fx.write(fx.outside / "printed", fx.sandbash("--profile=agent", "--print-policy").stdout)
    equal(run(fx, "--profile=none", f"--policy={printed}", "agent").stdout, "plain\n", "read back")
    equal(run(fx, "--allow-write=~/.aws", "agent").stdout, "KEY\nKEY\nwrote\nplain\n", "the user's rule")
    fx.config("read ~/.aws/cli/k\n")
    equal(run(fx, "agent").stdout, "KEY\nX\nplain\n", "one that is about a part")


@test("no run writes the rules of later ones: sandbash's files in what a profile or a rule opens")
def rules_in_state(fx):
    agent(fx, 'mkdir -p "$1/sandbash/profiles" && echo "write ~/mine" | tee "$1/sandbash/config" '
              '> "$1/sandbash/profiles/claude.rules"; echo x > ~/mine && echo mine\n')
    places = (".claude/projects/cfg", ".claude-w/x", ".gemini/tmp/cfg", ".local/share/goose/sessions/cfg",
              ".cache/sandbash-caches/projects/0/cfg", "opened/cfg", "globbed.d/cfg")
    for name in (*places, "cfg", ".config"):
        place, flags = fx.home / name, []
        if name == "opened/cfg":
            flags = ["--allow-write=~/opened"]
        if name == "globbed.d/cfg":
            flags = ["--rule=write ~/globbed.*"]
        place.mkdir(parents=True, exist_ok=True)
        fx.run(fx.home / "bin/claude", place)
        fx.run("rm", "-f", fx.home / "mine")
        for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            for program in ("claude", "true"):
                result = run(fx, *flags, program, env={variable: place})
                if name in places:
                    equal(result.status, 125, f"{name} {variable}")
                    contains(result.stderr, f"{variable} leads to '{place}/sandbash', which commands could have written", name)
                    check(not fx.exists(fx.home / "mine"), name)
                elif program == "claude" and variable == "XDG_CONFIG_HOME":
                    contains(result.stdout, "mine\n", f"the neighbour: {name}")
                    fx.run("rm", "-f", fx.home / "mine")
                else:
                    lacks(result.stderr, "leads to", name)
        said = run(fx, *flags, f"--config-dir={place}/sandbash", "claude", env={"XDG_CONFIG_HOME": place})
        contains(said.stdout, "mine\n", f"{name}: who says so")
        fx.run("rm", "-rf", fx.home / "mine", place / "sandbash")


@test("directories are made without following what was planted, and only where the rules allow")
def made(fx):
    fx.config("write ~/a/b/\nquiet ~/q/r/\nwrite ~/file\n", "profiles/agent.rules")
    script = "touch ~/a/b/x && echo made; mkdir ~/q/r/s; mkdir -p ~/q/r"
    result = fx.sandbash("--consent=deny", "--profile=agent", "sh", "-c", script)
    equal(result.stdout, "made\n")
    lacks(result.stderr, "refused;", "also on the way to what is refused quietly")
    check(fx.exists(fx.home / "q/r") and not fx.exists(fx.home / "q/r/s"))
    check(not fx.exists(fx.home / "file"), "a file is not made")
    fx.run("rm", "-rf", fx.home / "a", fx.home / "q")
    for words in (["--print-policy"], ["--explain=/"], ["--dry-run", "true"], ["--mode=read-only", "true"],
                  ["--rule=read ~/a/b", "--rule=read ~/q/r", "true"], ["--mode=danger-full-access", "true"]):
        equal(fx.sandbash("--profile=agent", *words).status, 0, str(words))
        check(not fx.exists(fx.home / "a"), str(words))
    # a link in the project leads nowhere
    fx.config("write elsewhere/new/\n", "profiles/agent.rules")
    (fx.project / "elsewhere").symlink_to(fx.outside)
    equal(fx.sandbash("--profile=agent", "true").status, 125)
    check(not fx.exists(fx.outside / "new"))
    # one of the user's own does
    fx.config("write ~/link/new/\n", "profiles/agent.rules")
    (fx.home / "link").symlink_to(fx.outside)
    equal(fx.sandbash("--profile=agent", "touch", fx.outside / "new/x").status, 0)


@test("a sandbash that was copied alone has its profiles")
def alone(fx):
    copy = shutil.copy(fx.argv()[0], fx.outside / "copy")
    equal(fx.run(copy, "--profiles").stdout, fx.sandbash("--profiles").stdout)
    agent(fx, "echo x > ~/.claude/projects/x && echo found\n")
    equal(fx.run(copy, "claude", env=environment(fx)).stdout, "found\n")


HELD = {
    "cursor-agent": (".cursor/projects/x/.workspace-trusted", ".cursor/projects/x/mcp-approvals.json",
                     ".cursor/projects/x/chat"),
    "goose": (".local/share/goose/schedule.json", ".local/share/goose/scheduled_recipes/x.yaml",
              ".local/share/goose/sessions/x"),
    "codex": (".codex/queue_1.sqlite", ".codex/goals_1.sqlite-wal", ".codex/state_5.sqlite", ".codex/models_cache.json",
              ".cache/sandbash-caches/projects/*/codex/queue_1.sqlite", ".codex/history.jsonl"),
}


@test("what a session outside obeys is held among an agent's state", variants=BOTH)
def held(fx):
    script = """cd; for name in "$@" $CODEX_SQLITE_HOME; do
        test -d $name || mkdir -p "$(dirname "$name")"; (echo x > "$name") 2>/dev/null; done; :\n"""
    script = script.replace("$CODEX_SQLITE_HOME", '${CODEX_SQLITE_HOME:+"$CODEX_SQLITE_HOME/queue_1.sqlite"}')
    for name, files in HELD.items():
        agent(fx, script, name=name)
        plain = [file for file in files if "*" not in file]
        run(fx, "--quiet", name, *plain)
        for file in files:
            lands = file == files[-1] or "*" in file
            equal(bool(list(fx.home.glob(file))), lands, f"{name}: {file}")
        works = fx.run(fx.home / "bin" / name, *plain)
        check(works.status == 0 and all(fx.exists(fx.home / file) for file in plain), f"the control: {name}")


SETTINGS = {
    "claude": (".claude/settings.json", ".claude.json"), "codex": (".codex/config.toml",), "gemini": (".gemini/settings.json",),
    "qwen": (".qwen/settings.json",), "opencode": (".config/opencode/opencode.json",), "amp": (".config/amp/settings.json",),
    "cursor-agent": (".cursor/cli-config.json", ".cursor/hooks.json"), "goose": (".config/goose/config.yaml",),
    "aider": (".aider.conf.yml",)}
EXCHANGE = "import ctypes, sys; ctypes.CDLL(None).renameat2(-100, sys.argv[1].encode(), -100, b'here', 2)"
REMOVE = ('rm -f "$1"', 'mv "$1" "$1.old"', 'mv "$1" here', 'mv "$1" "$1.tmp.1"', 'mv "$(dirname "$1")" here',
          f': > here; python3 -c "{EXCHANGE}" "$1"')


@test("two lines that variables lead to one place: the stricter counts")
def one_place(fx):
    agent(fx, "for f in sessions/x logs/x schedule.json; do d=~/.local/share/goose; mkdir -p $d/$(dirname $f);"
          "echo x > $d/$f && echo $f; done 2>/dev/null\n", name="goose")
    fx.run(fx.home / "bin/goose")
    check((fx.home / ".local/share/goose/schedule.json").exists(), "the control")
    result = run(fx, "goose", env={"XDG_STATE_HOME": fx.home / ".local/share"})
    equal(result.stdout, "sessions/x\n", result.stderr)
    equal(run(fx, "goose").stdout, "sessions/x\n", "as without")


@test("CLAUDE_CONFIG_DIR=~/.config/claude: state, and not Claude Desktop's settings", variants=BOTH)
def other_case(fx):
    place = fx.home / ".config/claude"
    (place / "commands").mkdir(parents=True)
    agent(fx, """cd ~/.config/claude; for f in projects/p/x .claude.json commands/x.md settings.json; do
        mkdir -p "$(dirname $f)"; echo '{}' > $f && echo $f; done 2>/dev/null\n""")
    env = {"CLAUDE_CONFIG_DIR": place}
    wanted = "projects/p/x\n.claude.json\n"
    equal(fx.run(fx.home / "bin/claude").stdout, wanted + "commands/x.md\nsettings.json\n", "the control")
    fx.run("rm", "-rf", place / "projects", place / ".claude.json", place / "commands/x.md", place / "settings.json")
    for flags in ([], [f"--allow-write={fx.home / '.config'}"]):
        result = run(fx, "--quiet", *flags, "claude", env=env)
        equal(result.stdout, wanted, f"{flags} {result.stderr}")


@test("an agent's settings are not taken away, with what they deny", variants=BOTH)
def taken_away(fx):
    denies = '{"permissions": {"deny": ["Read(./x)"]}}\n'
    for name, files in SETTINGS.items():
        for file, script in ((file, script) for file in files for script in REMOVE):
            path = fx.write(fx.home / file, denies)
            if "dirname" in script and path.parent == fx.home:
                continue
            if name == "claude":
                fx.run("sh", "-c", script, "-", path)
                check(not path.exists() or not path.read_text(), f"the control: {script}")
                fx.run("rm", "-rf", "here")
                fx.write(path, denies)
            result = run(fx, "--quiet", f"--profile={name}", "sh", "-c", script, "-", path)
            equal(path.read_text() if path.exists() else None, denies, f"{name} {script} {result.stderr}")
            fx.run("rm", "-rf", "here")
    # the neighbour: claude saves its state and its looks under another name first
    for file, text in ((".claude.json", '{"numStartups": 2}'), (".claude/settings.json", '{"theme": "dark"}')):
        for before in (None, "{}"):
            path = fx.home / file
            path.unlink(missing_ok=True)
            if before:
                fx.write(path, before)
            result = run(fx, "--profile=claude", "sh", "-c", 'printf %s "$2" > "$1.tmp.1" && mv "$1.tmp.1" "$1"', "-",
                         path, text)
            equal((result.status, path.read_text()), (0, text), result.stderr)


AT_GEMINI = """
cat "$GEMINI_CLI_HOME/.gemini/oauth_creds.json"; echo X > "$GEMINI_CLI_HOME/.gemini/tmp/x" && echo chat; echo X > "$GEMINI_CLI_HOME/x" && echo beside
"""


@test("gemini's login and state where $GEMINI_CLI_HOME has its .gemini", variants=BOTH)
def gemini_home(fx):
    agent(fx, AT_GEMINI, name="gemini")
    for name in ("g/work", "to/work", "lk", "project/g"):
        place = fx.home / name
        if name == "to/work":
            (fx.home / "far").mkdir()
            (fx.home / "to").symlink_to(fx.home / "far")
        place.mkdir(parents=True, exist_ok=True)
        if name == "lk":
            (fx.home / "other/tmp").mkdir(parents=True)
            (place / ".gemini").symlink_to(fx.home / "other")
        (place / ".gemini/tmp").mkdir(parents=True, exist_ok=True)
        fx.write(place / ".gemini/oauth_creds.json", "LOGIN\n")
        equal(fx.run(fx.home / "bin/gemini", env={"GEMINI_CLI_HOME": place}).stdout, "LOGIN\nchat\nbeside\n", "the control")
        for flags in ([], ["--static"]):
            (place / ".gemini/tmp/x").unlink(missing_ok=True)
            result = run(fx, *flags, "gemini", env={"GEMINI_CLI_HOME": place})
            if name == "g/work":
                equal(result.stdout, "LOGIN\nchat\n", f"{flags} {result.stderr}")
                continue
            if name != "project/g":
                lacks(result.stdout, "LOGIN", f"{flags} {name}")
                lacks(result.stdout, "chat", f"{flags} {name}")
            contains(result.stderr, "left out", f"{flags} {name}")
    fx.config("write $GEMINI_CLI_HOME/tmp/\n", "profiles/agent.rules")
    contains(fx.sandbash("--profile=agent", "true").stderr, "what follows $GEMINI_CLI_HOME has to be /.gemini")


@test("every profile that comes with sandbash can be used, and says what it is for")
def shipped(fx):
    listed = json.loads(fx.sandbash("--profiles", "--json").stdout)["profiles"]
    equal([one["name"] for one in listed],
          ["aider", "amp", "cargo", "claude", "codex", "cursor-agent", "gemini", "go", "goose", "gradle", "maven", "npm",
           "opencode", "pip", "pnpm", "qwen", "yarn"])
    contains(fx.sandbash("--completion", "bash").stdout, " ".join(["none", *(one["name"] for one in listed)]))
    for one in listed:
        check(len(one["about"]) > 10, one["name"])
        result = fx.sandbash(f"--profile={one['name']}", "true", env={"CODEX_HOME": fx.home / "c/codex",
                                                                    "CLAUDE_CONFIG_DIR": fx.home / ".claude_d",
                                                                    "GEMINI_CLI_HOME": fx.home / "g"})
        equal((result.status, result.stdout), (0, ""), one["name"])
        lacks(result.stderr, "warning", one["name"])
        for line in fx.sandbash("--profile-show", one["name"]).stdout.splitlines():
            if line.split(" ")[0] in ("write", "read", "quiet", "deny", "ask", "login", "argument", "cache"):
                contains(line, "  # ", f"{one['name']}: why")


run_all()
