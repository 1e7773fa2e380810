"""within.py - --within narrows what is open, and never loosens a rule."""

from tap import check, contains, equal, lacks, run_all, test


def layout(fx):
    for name in ("sub/file", "other/file", "top", "a/b/file", "a/file", "a/b/c/x.key"):
        fx.write(name, "old")


def can_write(fx, path, *flags):
    done = fx.sandbash(*flags, "sh", "-c", f"echo new > '{path}'")
    return done.status == 0


@test("--within: its directory is open, the rest of the project is not")
def narrows(fx):
    layout(fx)
    for path in ("sub/file", "other/file", "top", "other/new"):
        check(can_write(fx, path), f"{path}: the control")
    for path in ("sub/file", "sub/new"):
        check(can_write(fx, path, "--within=sub"), path)
    for path in ("other/file", "top", "other/new2", "new"):
        check(not can_write(fx, path, "--within=sub"), path)
        check(can_write(fx, path, "--within=sub", "--within=."), f"{path}: all of it is given")
    check(not can_write(fx, fx.outside / "x", "--within=sub"))
    check(fx.sandbash("--within=sub", "sh", "-c", "mv sub/file other/f").status != 0)
    check(fx.sandbash("--within=sub", "sh", "-c", "mv other/file sub/f").status != 0)
    equal(fx.read("sub/file"), "new\n")


@test("--within: the user's own rules stay what they are")
def own_rules(fx):
    layout(fx)
    check(can_write(fx, "other/file", "--within=sub", "--allow-write=other"))
    check(can_write(fx, fx.outside / "x", "--within=sub", f"--allow-write={fx.outside}"))
    check(not can_write(fx, "sub/file", "--within=sub", "--allow-read=sub"))


@test("P6 --within: the printed policy opens no more of the project")
def printed(fx):
    layout(fx)
    for flags in (["--within=sub"], ["--within=sub", "--allow-write=other"]):
        file = fx.write(fx.outside / "printed", fx.sandbash(*flags, "--print-policy").stdout)
        for path in ("sub/file", "other/file", "top", "a/new"):
            equal(can_write(fx, path, f"--policy={file}"), can_write(fx, path, *flags), f"{flags} {path}")
        check(can_write(fx, "sub/file", f"--policy={file}"), "the neighbour")
        check(not can_write(fx, "top", f"--policy={file}"), str(flags))
    check(can_write(fx, "top"), "the control")


@test("--within never loosens a rule that is less specific than its directory")
def never_loosens(fx):
    layout(fx)
    for rule, path in (("--allow-read=a", "a/b/file"), ("--deny=a", "a/b/file"),
                       ("--allow-read=.", "a/b/file"), ("--ask=**/*.key", "a/b/c/x.key"),
                       ("--deny=**/*.key", "a/b/c/x.key"), ("--ask=*/b/c", "a/b/c/x.key")):
        check(not can_write(fx, path, rule), f"{rule}: the control")
        check(not can_write(fx, path, rule, "--within=a/b"), f"{rule} was loosened")
    check(can_write(fx, "a/b/file", "--deny=**/*.key", "--within=a/b"), "the neighbour")
    contains(fx.sandbash("--allow-read=a", "--within=a/b", "true").stderr, "stays closed")


@test("--within: a directory inside a guarded one stays closed")
def guarded(fx):
    fx.write(".vscode/deep/file", "old")
    # a static run holds all of it, by a rule that is less specific
    check(not can_write(fx, ".vscode/deep/file", "--static"), "the control")
    check(not can_write(fx, ".vscode/deep/file", "--static", "--within=.vscode/deep"))


@test("--within: directories that are none, or elsewhere, are an error and nothing runs")
def mistakes(fx):
    fx.write("file", "x")
    for given, words in (("missing", "cannot open"), ("file", "cannot open"),
                         (str(fx.outside), "no project")):
        done = fx.sandbash(f"--within={given}", "echo", "ran")
        check(done.status not in (0, None) and not done.stdout, str(done))
        contains(done.stderr, words)
    lacks(fx.sandbash("--within=.", "true").stderr, "closed")
    equal(fx.sandbash(f"--within={fx.home}", "touch", "new").status, 0)


run_all()
