"""Directories that rules open: what git settings of repositories there name."""

from tap import check, equal, run_all, test

# setting, the file that it names (seen from the repository), by which git then does something
NAMED = {"include.path": ("../extra", "extra"), "filter.x.clean": ("tools/c.sh", "tools/c.sh"),
         "core.fsmonitor": ("tools/f.sh", "tools/f.sh"), "alias.up": ("!tools/up.sh", "tools/up.sh"),
         "core.hooksPath": ("checks", "checks/pre-commit")}


@test("P2 what settings of a repository in an opened directory name asks, as in a project", variants=("full", "flat"))
def opened(fx):
    src = fx.home / "src"
    for top, opening in ((src / "other", src), (src / "own", src / "own"), (src / "around", src / "around/part")):
        fx.run("mkdir", "-p", top / "tools", top / "checks", top / "part/tools", top / "part/checks")
        fx.run("git", "init", "-q", top)
        files = []
        for key, (value, path) in NAMED.items():
            if opening.name == "part":
                value, path = value.replace("tools", "part/tools").replace("checks", "part/checks").replace("../", "../part/"), f"part/{path}"
            fx.run("git", "-C", top, "config", key, value)
            fx.write(top / path, "old\n")
            files.append(top / path)
        script = "\n".join(f"echo new >{path}" for path in files) + f"\necho new >{opening}/note\necho new >{files[1]}.txt\ntrue"
        for flag in (f"--grant={opening}", f"--allow-write={opening}"):
            result = fx.sandbash("--consent=deny", "sh", "-c", script)
            check(not (opening / "note").exists(), "without it all is closed")
            result = fx.sandbash("--consent=deny", flag, "sh", "-c", script)
            for path in files:
                equal(path.read_text(), "old\n", f"{flag} {path}: {result.stderr}")
            for path in (opening / "note", f"{files[1]}.txt"):
                equal(fx.read(path), "new\n", f"{flag}: the neighbour {path} {result.stderr}")
            fx.run("rm", opening / "note", f"{files[1]}.txt")
        for key in NAMED:
            fx.run("git", "-C", top, "config", "--unset", key)
        result = fx.sandbash("--consent=deny", f"--grant={opening}", "sh", "-c", script)
        for path in files:
            equal(path.read_text(), "new\n", f"the control: nobody names {path}: {result.stderr}")


# setting, what it says of ~/tools/NAME, which nobody has made yet
MISSING = {"core.pager": "~/tools/a", "core.editor": "{home}/tools/b --wait", "alias.x": "!{home}/tools/c", "alias.y": "!sh ~/tools/d",
           "alias.z": '!"$HOME/tools/e"', "alias.w": '!"${{HOME}}"/tools/f', "filter.x.clean": "{home}/tools/g %f", "diff.external": "{home}/tools/h",
           "credential.helper": "{home}/tools/i", "core.sshCommand": "{home}/tools/j", "core.fsmonitor": "{home}/tools/deep/k",
           "gpg.program": "{home}/tools/l", "core.hooksPath": "{home}/tools/m", "include.path": "{home}/tools/n"}
FILES = [f"deep/{name}" if name == "k" else f"{name}/pre-commit" if name == "m" else name for name in "abcdefghijklmn"]
PLAIN = ["o", "deep/o", "aa", "c.txt"]


@test("P2 what settings name asks also while it is not there", variants=("full", "flat"))
def missing(fx):
    fx.git_project()
    tools = fx.home / "tools"
    script = "\n".join(f"mkdir -p {(tools / name).parent}; echo new >{tools / name}" for name in FILES + PLAIN) + "\ntrue"
    for scope in ("--global", "--local"):
        for key, value in MISSING.items():
            equal(fx.run("git", "config", scope, key, value.format(home=fx.home)).status, 0)
        for flag in (f"--grant={tools}", f"--allow-write={tools}"):
            fx.run("mkdir", "-p", tools)
            result = fx.sandbash("--consent=deny", flag, "sh", "-c", script)
            for name in FILES:
                check(not (tools / name).exists(), f"{scope} {flag} {name}: {result.stderr}")
            for name in PLAIN:
                equal(fx.read(tools / name), "new\n", f"{scope} {flag}: the neighbour {name} {result.stderr}")
            fx.run("rm", "-r", tools)
        for key in MISSING:
            equal(fx.run("git", "config", scope, "--unset", key).status, 0)
        fx.run("mkdir", "-p", tools)
        result = fx.sandbash("--consent=deny", f"--grant={tools}", "sh", "-c", script)
        for name in FILES + PLAIN:
            equal(fx.read(tools / name), "new\n", f"the control: nobody names {name}: {result.stderr}")
        fx.run("rm", "-r", tools)


@test("P2 what an alias says behind the top of its repository asks while it is not there; a pattern and /tmp do not")
def behind(fx):
    fx.git_project()
    for key, value in (("alias.x", '!"$(git rev-parse --show-toplevel)/made/up.sh"'), ("alias.y", "!git log | awk '/main/' >/tmp/list")):
        equal(fx.run("git", "config", "--global", key, value).status, 0)
    result = fx.sandbash("--consent=deny", "sh", "-c", "echo new >main && echo new >/tmp/list && mkdir made && echo new >made/up.txt")
    equal(result.status, 0, result.stderr)
    check(fx.sandbash("--consent=deny", "sh", "-c", "echo new >made/up.sh").status != 0, "made/up.sh")
    equal(fx.run("git", "config", "--global", "--unset", "alias.x").status, 0)
    equal(fx.sandbash("--consent=deny", "sh", "-c", "echo new >made/up.sh").status, 0, "the control")


run_all()
