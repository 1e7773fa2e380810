"""unjudged.py - a performer without its check still cannot write outside.

build/tests/unjudged is sandbash with a judge that allows everything (judge_nothing.c).  Who
performs the command's calls is confined itself, and this is what its own layers hold.
"""

from attack import answer, boxed, layout, signature, unchanged, works
from tap import BIN, SUPERVISED, check, equal, run_all, test

# EROFS here: it is the mounts' own answer, with nobody before them
HELD = ("EROFS", "EACCES", "EPERM", "EXDEV", "EBUSY")
NAMES = ("open wronly {}/file", "open rdwr {}/file", "open wronly+trunc {}/file",
         "open rdonly+trunc {}/file", "open wronly+creat {}/new", "openat rdonly {} new",
         "truncate {}/file", "unlink {}/file", "mkdir {}/new", "rmdir {}/empty",
         "rename plain {}/file {}/new", "rename plain {}/file mine", "rename plain own {}/new",
         "rename exchange own {}/file", "link path {}/file mine", "link path own {}/new",
         "symlink x {}/new", "mknod fifo {}/new", "bind {}/new", "tmpfile {} {}/new")
METADATA = ("chmod", "chown", "utimensat", "setxattr", "removexattr", "fchmod", "futimens")


def astray(fx, *words, **where):
    """An act under the sandbash that allows everything."""
    argv = [str(fx.tool("unjudged")) if word == str(BIN) else word
            for word in fx.argv(fx.tool("act"), *words, **where)]
    return fx.run(*argv)


def held(fx, words):
    result = astray(fx, *words)
    equal(result.status, 1, f"{words} ({result.stderr.strip()!r})")
    check(answer(result) in HELD, f"{words}: answered {answer(result)}")


if SUPERVISED:
    @test("a performer without its check: names and contents outside stay", ("full", "flat"))
    def names(fx):
        layout(fx.outside / "tree")
        fx.write("own", "own")
        before = signature(fx.outside)
        for template in NAMES:
            held(fx, template.replace("{}", str(fx.outside / "tree")).split())
        unchanged(before, fx.outside)
        layout(fx.project / "tree")
        for template in ("open wronly {}/file", "mkdir {}/new", "unlink {}/second"):
            words = template.replace("{}", str(fx.project / "tree")).split()
            works(astray(fx, *words), f"neighbour {words}")

    @test("a performer without its check: metadata outside stays")
    def metadata(fx):
        layout(fx.outside / "tree")
        layout(fx.project / "tree")
        before = signature(fx.outside)
        for form in METADATA:
            held(fx, ["meta", form, str(fx.outside / "tree" / "file")])
        unchanged(before, fx.outside)
        for form in METADATA:
            works(astray(fx, "meta", form, fx.project / "tree" / "file"), f"neighbour {form}")

    @test("the control: its check is what holds guarded names in the project", ("full", "flat"))
    def control(fx):
        fx.git_project()
        equal(boxed(fx, "open", "wronly+creat", ".git/hooks/pre-commit").status, 1)
        works(astray(fx, "open", "wronly+creat", ".git/hooks/pre-commit"), "without the check")


run_all()
