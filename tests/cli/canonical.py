"""canonical.py - P9: one file, one answer, however its path is spelt."""

import hashlib
import json
import os

from tap import ALL_VARIANTS, check, contains, equal, run_all, test

OPS = ("read", "modify", "create", "delete")


def verdicts(fx, path, *flags, **where):
    result = fx.sandbash(*flags, "--explain", path, "--json", **where)
    equal(result.status, 0, result.stderr)
    found = json.loads(result.stdout)["decisions"]
    return [found[op]["verdict"] for op in OPS]


def touched(fx, path, *flags, **where):
    result = fx.sandbash(*flags, "touch", path, **where)
    check(result.status in (0, 1), result.stderr)
    return result.status == 0


@test("P9 /home/u/proj is not /home/u/proj-evil: the project", variants=ALL_VARIANTS)
def prefix_project(fx):
    for name in ("project-evil", "project.bak", "projec", "projectX", "project "):
        (fx.home / name).mkdir()
        check(not touched(fx, fx.home / name / "x"), name)
        equal(verdicts(fx, fx.home / name / "x")[2], "ask", name)
    check(touched(fx, "x"))


@test("P9 nor a granted, a read-only, a denied path", variants=ALL_VARIANTS)
def prefix_rules(fx):
    for name in ("ok", "ok-evil", "okay", "o"):
        (fx.outside / name).mkdir()
        fx.write(fx.outside / name / "file", "text\n")
    flag = f"--allow-write={fx.outside}/ok"
    check(touched(fx, fx.outside / "ok/x", flag))
    for name in ("ok-evil", "okay", "o"):
        check(not touched(fx, fx.outside / name / "x", flag), name)
        equal(fx.sandbash(f"--deny={fx.outside}/ok", "cat", fx.outside / name / "file").stdout,
              "text\n")
    equal(fx.sandbash(f"--deny={fx.outside}/ok", "cat", fx.outside / "ok/file").status, 1)


@test("P9 nor by wildcard: proj* means names, proj/** what lies beneath")
def prefix_wildcards(fx):
    equal(verdicts(fx, f"{fx.outside}/ok-evil/x", f"--rule=deny {fx.outside}/ok/**")[0], "allow")
    equal(verdicts(fx, f"{fx.outside}/ok/x", f"--rule=deny {fx.outside}/ok/**")[0], "deny")
    equal(verdicts(fx, f"{fx.outside}/ok-evil/x", f"--rule=deny {fx.outside}/ok*")[0], "deny")


@test("P9 a symlinked home directory", variants=ALL_VARIANTS)
def linked_home(fx):
    link = fx.dir / "home-link"
    link.symlink_to(fx.home)
    fx.write(fx.home / ".ssh/id_rsa", "secret\n")
    env = {"HOME": link}
    for cwd in (fx.project, link / "project"):
        check(touched(fx, "x", env=env, cwd=cwd), "not started as inside the home directory")
        for path in (fx.home / ".ssh/id_rsa", link / ".ssh/id_rsa"):
            equal(fx.sandbash("cat", path, env=env, cwd=cwd).status, 1, f"{path} is readable")
    (fx.home / "other").mkdir()
    check(touched(fx, fx.home / "other/x", "--allow-write=~/other", env=env))
    result = fx.sandbash("true", env=env, cwd=fx.outside)
    equal(result.status, 125)
    contains(result.stderr, f"Home directory: {fx.home}\n")


@test("P9 a symlinked parent of the home directory, as on systems with /home -> /usr/home")
def linked_parent(fx):
    link = fx.dir.parent / (fx.dir.name + "-link")
    link.symlink_to(fx.dir)
    try:
        env = {"HOME": link / "home"}
        check(touched(fx, "x", env=env, cwd=link / "home/project"))
        check(not touched(fx, link / "outside/x", env=env))
        equal(verdicts(fx, link / "home/project/x", env=env)[1], "allow")
    finally:
        link.unlink()


@test("P9 a symlinked current directory is the directory it leads to", variants=ALL_VARIANTS)
def linked_cwd(fx):
    link = fx.outside / "link"
    link.symlink_to(fx.project)
    where = {"cwd": link, "env": {"PWD": link}}
    check(touched(fx, "x", **where))
    check(touched(fx, link / "y", **where))
    check(touched(fx, fx.project / "z", **where))
    check(not touched(fx, fx.outside / "x", **where))
    found = json.loads(fx.sandbash("--list-paths", "--json", variant="full", **where).stdout)
    equal(found["current_directory"], str(fx.project))
    equal(os.path.basename(found["per_directory"]["file"]),
          hashlib.sha256(os.fsencode(fx.project)).hexdigest()[:16])


@test("P9 a link inside the home directory that leads out of it is outside")
def link_leads_out(fx):
    link = fx.home / "link"
    link.symlink_to(fx.outside)
    result = fx.sandbash("true", cwd=link, env={"PWD": link})
    equal(result.status, 125)
    contains(result.stderr, f"Current directory: {fx.outside}\n")


@test("P9 PWD is not believed")
def pwd_lies(fx):
    result = fx.sandbash("touch", "x", cwd=fx.outside, env={"PWD": fx.project})
    equal(result.status, 125)
    check(not (fx.outside / "x").exists())


@test("P9 the same file by every spelling gets the same decision")
def every_spelling(fx):
    fx.write("vendor/lib/x", "")
    fx.path("link").symlink_to("vendor/lib")
    (fx.home / "away").symlink_to(fx.path("vendor"))
    fx.config("read vendor\n")
    want = verdicts(fx, "vendor/lib/x")
    equal(want, ["allow", "deny", "deny", "deny"])
    for text in ("./vendor/lib/x", "vendor//lib///x", "vendor/lib/../lib/x", "link/x",
                 "../away/lib/x", "~/project/vendor/lib/x", "~/away/lib/x",
                 f"{fx.project}/./vendor/lib/x", "vendor/lib/x/", "/proc/self/cwd/vendor/lib/x"):
        equal(verdicts(fx, text), want, text)


@test("P9 '..' after a link means what it means to the kernel, in every option")
def dotdot_after_link(fx):
    real = fx.home / "real"
    (real / "sub").mkdir(parents=True)
    (real / "sibling").mkdir()
    (fx.home / "sibling").mkdir()
    (fx.home / "link").symlink_to(real / "sub")
    want = f"{real}/sibling"
    equal(os.path.realpath(fx.path("../link/../sibling")), want)
    found = json.loads(fx.sandbash("--explain", "../link/../sibling", "--json").stdout)
    equal(found["path"], want, "--explain")
    for option in ("--allow-write", "--allow-read", "--deny", "--ask"):
        found = json.loads(fx.sandbash(f"{option}=../link/../sibling", "--list-paths",
                                       "--json").stdout)
        equal([rule["path"] for rule in found["command_line"]["rules"]], [want], option)
    found = json.loads(fx.sandbash("--project=../link/../sibling", "--list-paths", "--json").stdout)
    equal(found["projects"][1:], [want], "--project")
    fx.write(real / "rules", f"{fx.outside}\n")
    equal(verdicts(fx, fx.outside, "--policy=../link/../rules")[1], "allow", "--policy")
    (fx.home / ".config/sandbash").mkdir(parents=True)
    (fx.home / ".config/sandbash/link").symlink_to(real / "sub")
    fx.config("include link/../rules\n")
    equal(verdicts(fx, fx.outside)[1], "allow", "include")


@test("P9 '..' after a name that is not there leads nowhere")
def dotdot_after_nothing(fx):
    result = fx.sandbash("--project=missing/../../project", "touch", "x")
    equal(result.status, 125, result.stderr)
    check(not fx.exists("x"))


@test("P9 a write through a link to the outside is refused, to the inside allowed",
      variants=ALL_VARIANTS)
def through_links(fx):
    fx.write(fx.outside / "file", "old\n")
    fx.write("inner/file", "old\n")
    fx.path("out").symlink_to(fx.outside)
    fx.path("out-file").symlink_to(fx.outside / "file")
    fx.path("dangling").symlink_to(fx.outside / "new")
    fx.path("in").symlink_to("inner")
    for path in ("out/x", "out/file", "out-file", "dangling"):
        check(fx.sandbash("sh", "-c", 'echo new > "$1"', "sh", path).status != 0, path)
    equal((fx.outside / "file").read_text(), "old\n")
    check(not (fx.outside / "new").exists() and not (fx.outside / "x").exists())
    check(fx.sandbash("sh", "-c", "echo new > in/file").status == 0)
    equal(fx.read("inner/file"), "new\n")


@test("P9 a project reached by a link and by its name is one project")
def one_project(fx):
    other = fx.home / "other"
    other.mkdir()
    (fx.home / "link").symlink_to(other)
    found = json.loads(fx.sandbash(f"--project={other}", "--project=~/link", "--print-policy",
                                   "--json").stdout)
    equal([rule["pattern"] for rule in found["rules"]].count(str(other)), 1)


@test("P9 a link to the home directory as current directory is the home directory")
def link_to_home(fx):
    link = fx.home / "me"
    link.symlink_to(fx.home)
    result = fx.sandbash("touch", "x", cwd=link, env={"PWD": link})
    equal(result.status, 125)
    contains(result.stderr, "--allow-home")


@test("P9 names are bytes: case and Unicode forms are not folded", variants=("full", "flat"))
def no_folding(fx):
    for name in ("Caf\u00e9", "Cafe\u0301", "DATA", "data"):
        (fx.outside / name).mkdir()
    for name, other in (("Caf\u00e9", "Cafe\u0301"), ("DATA", "data")):
        flag = f"--allow-write={fx.outside}/{name}"
        check(touched(fx, fx.outside / name / "x", flag))
        check(not touched(fx, fx.outside / other / "x", flag), f"{name} opened {other}")


run_all()
