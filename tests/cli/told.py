"""What is told at the end of a run although nobody was asked: instructions of agents, and notes of the
guard about bytes that have landed."""

import json
import shutil
from pathlib import Path

from mcp import Server
from tap import check, contains, equal, lacks, run_all, test

HEAD = "sandbash: done without a question, but look at it:"


def notes(fx, script, *flags):
    """The notes of a run, as its report has them; the person's text must say the same."""
    report = fx.home / "report.json"
    result = fx.sandbash(f"--report={report}", *flags, "sh", "-c", script)
    equal(result.status, 0, result.stderr)
    found = json.loads(report.read_text())
    equal(HEAD in result.stderr, bool(found["notes"]))
    for line in found["notes"]:
        contains(result.stderr, f"  {line}\n")
    return found["notes"]


def names(fx, lines):
    top = f"'{fx.project}/"
    return sorted(line[len(top):line.index("'", 1)] for line in lines if line.startswith(top))


WAYS = (
    "echo x >CLAUDE.md",
    "echo x >>CLAUDE.md",
    "rm -f CLAUDE.md",
    "echo x >other && mv other CLAUDE.md",
    "mv CLAUDE.md other",
    "ln -s README.md CLAUDE.md",
    "echo x >other && ln other CLAUDE.md",
    "ln CLAUDE.md other",
    "truncate -s 0 CLAUDE.md",
)


@test("a changed instruction file is told, however it was changed", variants=("full", "flat"))
def ways(fx):
    for script in WAYS:
        for name in ("CLAUDE.md", "other"):
            fx.path(name).unlink(missing_ok=True)
        if not ("mv other" in script or "ln other" in script or "ln -s" in script):
            fx.write("CLAUDE.md", "x\n")
        lines = notes(fx, script)
        equal(names(fx, lines), ["CLAUDE.md"], script)
        contains(lines[0], "Claude Code follows its instructions")


MODULES = ("venv.py", "json/__init__.py", "argparse.pyc", "http.so", "ssl.cpython-311-x86_64-linux-gnu.so", "lfs.lua", "usercustomize.py")
OTHERS = ("app.py", "app/json.py", "app/http/__init__.py", "jsonx.py", "json.txt", "on.py", "http/x.txt", "__init__.py", "os/x.py", "my json.py",
          "app.lua", "lib/lfs.lua", ".venv/lib/python3.11/site-packages/sitecustomize.py")


@test("a new module in a project's top that tools load in place of their own is told; one that was there, and others, are not", variants=("full", "flat"))
def modules(fx):
    make = 'for f in {}; do mkdir -p "$(dirname "$f")"; echo x >"$f"; done'
    quoted = {key: " ".join(f"'{name}'" for name in all_names) for key, all_names in (("new", MODULES), ("other", OTHERS))}
    equal(names(fx, notes(fx, make.format(quoted["new"]))), sorted(MODULES))
    equal([line for line in notes(fx, "for f in *.py json/*.py; do echo y >>$f; done") if "is new" in line], [])
    fx.run("sh", "-c", "rm -rf ./*")
    equal(notes(fx, make.format(quoted["other"])), [])
    for script, name in (("echo x >a && mv a pip.py", "pip.py"), ("mkdir d && echo x >d/__init__.py && mv d email", "email/__init__.py"),
                         ("echo x >b && ln b csv.py", "csv.py"), ("ln -s b uuid.py", "uuid.py")):
        lines = notes(fx, script)
        equal(names(fx, lines), [name], script)
        contains(lines[0], "python3 -m")
    control = fx.run("sh", "-c", "echo 'print(\"OURS\")' >venv.py; python3 -m venv x")
    equal(control.stdout, "OURS\n", "control: python3 -m venv runs it")


BROUGHT = (  # and what is told, beside what was changed before it moved
    ("mkdir -p node_modules/p; echo evil >node_modules/p/CLAUDE.md; mv node_modules/p sub", ["sub/CLAUDE.md"]),
    ("mkdir -p node_modules/p/d; echo evil >node_modules/p/d/AGENTS.md; mv src node_modules/old; mv node_modules/p src", ["src/d/AGENTS.md"]),
    ("mkdir -p node_modules/p; echo evil >node_modules/p/sitecustomize.py; mv node_modules/p lib", ["lib/sitecustomize.py"]),
    ("mkdir -p node_modules; echo evil >node_modules/CLAUDE.md; mv node_modules sub", ["sub/CLAUDE.md"]),
    ("mkdir -p node_modules/p/rules; echo x >node_modules/p/rules/a.md; echo x >node_modules/p/rules/b.md; mv node_modules/p .clinerules",
     [".clinerules"]),
    ("mv fix/p sub", ["sub/CLAUDE.md"]),
    ("python3 -c \"import ctypes; ctypes.CDLL(None).renameat2(-100, b'fix/p', -100, b'src', 2)\"", ["fix/p/AGENTS.md", "src/CLAUDE.md"]),
    ("mkdir -p node_modules; mv fix/p node_modules/p; mkdir a; echo x >a/b; mv a c", []),
)


@test("instructions that come along with a directory are told by their new names", variants=("full", "flat"))
def brought(fx):
    for script, expected in BROUGHT:
        fx.run("sh", "-c", "rm -rf ./* .clinerules; mkdir -p fix/p src; echo other >fix/p/CLAUDE.md; echo x >src/AGENTS.md")
        lines = notes(fx, script)
        equal(names(fx, lines), expected, f"{script}: {lines}")
        equal(len(lines), len(set(lines)))
    fx.run("sh", "-c", "rm -rf ./*; mkdir -p fix/p; echo other >fix/p/CLAUDE.md; mv fix/p sub")
    equal(fx.path("sub/CLAUDE.md").read_text(), "other\n", "control")


MEMORY = (
    ("mkdir -p $d/memory && echo x > $d/memory/MEMORY.md", "/memory/MEMORY.md"),
    ("echo x > $d/memory/topic.txt", "/memory/topic.txt"),
    ("rm $d/memory/topic.txt", "/memory/topic.txt"),
    ("mkdir -p $d/.new && echo x > $d/.new/a && rm -r $d/memory && mv $d/.new $d/memory", "/memory"),
    ("mv $d $d.away", "/memory"),
    ("mv $d.away $d", "/memory"),
)


@test("what Claude Code is to remember of a project is told, of this one and of others", variants=("full", "flat"))
def memory(fx):
    for slug in ("-home-you-OTHER", str(fx.project).replace("/", "-")):
        directory = fx.home / ".claude/projects" / slug
        directory.mkdir(parents=True)
        for script, name in MEMORY:
            lines = notes(fx, f"d=~/.claude/projects/{slug}; {script}", "--profile=claude")
            check(any(line.startswith(f"'{directory}{name}' ") for line in lines), f"{script}: {lines}")
        lines = notes(fx, f"cd ~/.claude/projects/{slug}; cat memory/a; echo x > chat.jsonl; mkdir -p s; echo x > s/memory; echo x > memory.txt",
                      "--profile=claude")
        equal(lines, [], "its chats are not")


@test("reading it, and its neighbours, are not", variants=("full", "flat"))
def neighbours(fx):
    fx.write("CLAUDE.md", "x\n")
    temp = Path("/tmp") / fx.dir.name  # the real one without namespaces
    script = f"""cat CLAUDE.md; chmod 644 CLAUDE.md; echo x >README.md; echo x >claude.txt; mkdir rules
                echo x >rules/a.md; mkdir -p node_modules/p; echo x >node_modules/p/AGENTS.md
                mkdir {temp}; echo x >{temp}/CLAUDE.md; test -s {temp}/CLAUDE.md || echo none >told
                mkdir -p .cursor; echo x >.cursor/other; rm README.md"""
    try:
        equal(notes(fx, script), [])
        check(not fx.exists("told"))
    finally:
        shutil.rmtree(temp, ignore_errors=True)


@test("names at any depth, and rules in directories", variants=("full", "flat"))
def everywhere(fx):
    script = """mkdir -p a/b .cursor/rules/deep .github .windsurf/rules .kiro/steering
                for f in a/b/AGENTS.md GEMINI.md gemini.md .cursorrules .cursor/rules/deep/x.mdc \
                         .github/copilot-instructions.md .windsurf/rules/y.md .goosehints \
                         .kiro/steering/tech.md; do
                    echo x >"$f"
                done"""
    equal(names(fx, notes(fx, script)),
          sorted(("a/b/AGENTS.md", "GEMINI.md", ".cursorrules", ".cursor/rules/deep/x.mdc",
                  ".github/copilot-instructions.md", ".windsurf/rules/y.md", ".goosehints",
                  ".kiro/steering/tech.md")))


@test("a prepared directory that gets such a name is told", variants=("full", "flat"))
def arrivals(fx):
    lines = notes(fx, "mkdir -p x/rules && echo x >x/rules/a.mdc && mv x .cursor")
    equal(names(fx, lines), [".cursor/rules"])
    lines = notes(fx, "mkdir -p y/instructions y/other && mv y .github")
    equal(names(fx, lines), [".github/instructions"])
    equal(notes(fx, "mkdir -p z/plain && mv z .windsurf"), [])
    lines = notes(fx, "mkdir -p r && echo x >r/a.md && mv r .windsurf/rules")
    equal(names(fx, lines), [".windsurf/rules"])
    lines = notes(fx, "mkdir -p .clinerulesx docs && ln -s docs .kilocode && rm .kilocode; mkdir -p .trae "
                  "&& ln -s ../docs .trae/rules")
    equal(names(fx, lines), [".trae/rules"], "a link in the place of the directory")
    lines = notes(fx, "mv .cursor elsewhere")
    equal(names(fx, lines), [".cursor/rules"], "moved away")


@test("each is told once, at most 32, and the rest is counted")
def bounded(fx):
    many = notes(fx, "for i in 1 2 3; do echo x >CLAUDE.md; echo x >>CLAUDE.md; done")
    equal(len(many), 1)
    report = fx.home / "report.json"
    result = fx.sandbash(f"--report={report}", "sh", "-c",
                         "i=0; while [ $i -lt 50 ]; do mkdir d$i; echo x >d$i/CLAUDE.md; i=$((i+1)); done")
    found = json.loads(report.read_text())
    equal((len(found["notes"]), found["notes_not_listed"]), (32, 18))
    contains(result.stderr, "  and 18 more\n")


@test("no flood of such files hides the one that counts")
def flooded(fx):
    script = """i=0; while [ $i -lt 1100 ]; do mkdir d$i; : >d$i/CLAUDE.md; i=$((i+1)); done
                echo x >CLAUDE.md; echo HTTP_PROXY=http://h >.env"""
    lines = notes(fx, script)
    equal(len(lines), 32)
    check(f"'{fx.project}/CLAUDE.md' was changed; Claude Code follows its instructions" in lines)
    check(f"'{fx.project}/.env' now says HTTP_PROXY=http://h" in lines)


@test("--quiet leaves them out; the report and the record keep them")
def quiet(fx):
    report = fx.home / "report.json"
    result = fx.sandbash("--quiet", f"--report={report}", "sh", "-c", "echo x >CLAUDE.md")
    equal(result.stderr, "")
    equal(len(json.loads(report.read_text())["notes"]), 1)
    events = [json.loads(line) for line in fx.sandbash("--log", "--json").stdout.splitlines()]
    told = [event["note"] for event in events if event["event"] == "note"]
    equal(names(fx, told), ["CLAUDE.md"])
    contains(fx.sandbash("--log").stdout, "CLAUDE.md' was changed")
    equal(fx.sandbash("--log", "--verify").status, 0)


@test("what stands in a name cannot steer the terminal")
def escaped(fx):
    result = fx.sandbash("sh", "-c", 'd=$(printf "a\\033[31mb\\nc"); mkdir "$d"; echo x >"$d/CLAUDE.md"')
    contains(result.stderr, HEAD)
    lacks(result.stderr, "\033")
    contains(result.stderr, "a\\e[31mb\\nc/CLAUDE.md'")


@test("a note of the guard comes with the bytes, by write and by rename", variants=("full", "flat"))
def content(fx):
    for script in ("echo OPENAI_BASE_URL=http://h/ >.env",
                   "echo OPENAI_BASE_URL=http://h/ >new && mv new .env"):
        fx.path(".env").unlink(missing_ok=True)
        lines = notes(fx, script)
        equal(lines, [f"'{fx.project}/.env' now says OPENAI_BASE_URL=http://h/"], script)
        equal(fx.read(".env"), "OPENAI_BASE_URL=http://h/\n")
    equal(notes(fx, "echo A=b >>.env"), [], "what was there before is no news")
    # what does not land is not told
    fx.path(".env").unlink()
    result = fx.sandbash("--consent=deny", "sh", "-c",
                         "printf 'HTTP_PROXY=x\\nA=$(id)\\n' >.env; true")
    lacks(result.stderr, HEAD)
    check(not fx.exists(".env"))


@test("--explain says so")
def explained(fx):
    contains(fx.sandbash("--explain", "sub/AGENTS.md").stdout, "changes are told at the end of a run")
    lacks(fx.sandbash("--explain", "README.md").stdout, "told")
    contains(json.loads(fx.sandbash("--explain", "CLAUDE.md", "--json").stdout)["told"], "Claude Code")
    equal(json.loads(fx.sandbash("--explain", "x.md", "--json").stdout)["told"], None)


@test("over MCP it is a part of the result, of file tools and of commands")
def over_mcp(fx):
    server = Server(fx)
    path = str(fx.path("AGENTS.md"))

    def told(tool, **arguments):
        result = server.call(tool, **arguments)
        check(not result.get("isError"), str(result))
        found = result["structuredContent"].get("notes", [])
        if tool != "run_command":
            equal([item["text"] for item in result["content"][1:]], found)
        return found

    equal(len(told("write_file", path=path, content="x\n")), 1)
    contains(told("edit_file", path=path, edits=[{"oldText": "x", "newText": "y"}])[0], "AGENTS.md")
    equal(told("write_file", path=str(fx.path("plain")), content="x\n"), [])
    equal(len(told("move_file", source=path, destination=str(fx.path("GEMINI.md")))), 2)
    contains(told("write_file", path=str(fx.path(".env")), content="HTTP_PROXY=http://h\n")[0],
             "now says HTTP_PROXY=http://h")
    contains(told("run_command", command="echo x >CLAUDE.md")[0], "CLAUDE.md")
    equal(told("run_command", command="echo x >other"), [])
    server.close()


run_all()
