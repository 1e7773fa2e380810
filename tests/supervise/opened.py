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


run_all()
