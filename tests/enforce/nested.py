"""S3, Z5: a sandbash inside a sandbash narrows, never widens, and goes on without complaint."""

import os

from attack import CROSSING, act, boxed, refused, signature, unchanged, works
from tap import BIN, SUPERVISED, check, contains, equal, run_all, test

OUTER = ("full", "flat")


def said(result):
    """Lines of sandbash itself, but for one about whoever else has a terminal at that moment."""
    return [line for line in result.stderr.splitlines()
            if line.startswith("sandbash:") and "other terminals" not in line]


@test("USERS nested: goes on without complaint", variants=OUTER)
def quiet(fx):
    fx.sandbash("true")  # makes the record's directory, which is hidden from then on
    result = fx.sandbash(BIN, "sh", "-c", "echo x >inside && cat inside")
    equal((result.status, result.stdout), (0, "x\n"))
    equal(said(result), said(fx.sandbash("true")), "no more than the outer one says")
    result = fx.sandbash(BIN, BIN, BIN, "sh", "-c", "exit 7")
    equal(result.status, 7)


@test("S3 nested: no option of the inner one widens the outer", variants=OUTER)
def widening(fx):
    target = fx.outside / "new"
    before = signature(fx.outside)
    for flags in (["--disable-sandbox"], ["--mode=danger-full-access"],
                  [f"--allow-write={fx.outside}"],
                  [f"--project={fx.outside}"], ["--rule=write /"], ["--shared-tmp"],
                  ["--best-effort", "--anywhere", "--allow-home", f"--allow-write={fx.dir}"]):
        fx.sandbash(BIN, *flags, "sh", "-c", 'echo x >"$1"; chmod 700 "$2"', "-", target,
                    fx.outside)
        check(not target.exists(), str(flags))
        if fx.variant == "full":
            unchanged(before, fx.outside, str(flags))
    works(fx.run(BIN, "--disable-sandbox", "sh", "-c", f"echo x >{target}"), "control")
    works(fx.sandbash(BIN, "--disable-sandbox", "touch", "inside"), "neighbour")


@test("Z5 nested: the inner one's narrower roots are enforced", variants=OUTER)
def narrower(fx):
    fx.path("sub").mkdir()
    fx.write("file", "content")
    before = signature(fx.path("file"))
    cd = 'cd sub && exec "$@"'
    for words in (["open", "wronly+creat", "../new"], ["open", "wronly", "../file"],
                  ["unlink", "../file"], ["rename", "plain", "../file", "mine"],
                  ["link", "path", "../file", "mine"], ["truncate", "../file"],
                  ["mkdir", "../d"], ["bind", "../s"], ["tmpfile", "..", "../t"]):
        result = fx.sandbash("sh", "-c", cd, "-", BIN, fx.tool("act"), *words)
        refused(result, CROSSING, str(words))
    unchanged(before, fx.path("file"))
    works(fx.sandbash("sh", "-c", cd, "-", BIN, "touch", "inside"), "neighbour")
    works(fx.sandbash("touch", "control"), "control: the outer one allows it")


@test("Z5 nested: read-only inside writable", variants=OUTER)
def read_only(fx):
    fx.write("file", "content")
    result = fx.sandbash(BIN, "--mode=read-only", "sh", "-c", "echo x >file")
    check(result.status != 0)
    equal(fx.read("file"), "content")
    works(fx.sandbash(BIN, "--mode=read-only", "sh", "-c",
                      'f=$(mktemp) && echo x >"$f" && rm "$f"'))
    works(fx.sandbash(BIN, "sh", "-c", "echo x >file"), "neighbour")


@test("Z5 nested: what the inner one denies is unreadable", variants=OUTER)
def denied(fx):
    fx.write("secret", "password")
    fx.write("plain", "plain")
    result = fx.sandbash(BIN, "--deny=secret", "cat", "secret")
    equal(result.stdout, "")
    equal(fx.sandbash(BIN, "--deny=secret", "cat", "plain").stdout, "plain")
    equal(fx.sandbash(BIN, "cat", "secret").stdout, "password", "control")


@test("Z5 nested: read-only parts of the inner one")
def inner_read_only_part(fx):
    """The inner run cannot mount: it holds this by Landlock, or does not start."""
    fx.write("vendor/file", "content")
    fx.sandbash(BIN, "--allow-read=vendor", "sh", "-c", "echo x >vendor/file")
    result = fx.sandbash(BIN, "--allow-read=vendor", "true")
    if fx.read("vendor/file") != "content":
        contains(result.stderr, "vendor", "it was changed; at least it must be said")


@test("S3 nested: as deep as the kernel goes, and never less confined", variants=OUTER)
def deep(fx):
    """Landlock stacks 16 layers; the next run has to refuse."""
    for depth in (8, 15, 16, 17, 24):
        words = [BIN] * (depth - 1)
        result = fx.sandbash(*words, "sh", "-c", 'echo ran >ran; echo x >"$1/new"', "-", fx.outside)
        check(not (fx.outside / "new").exists(), f"depth {depth}")
        if not fx.exists("ran"):
            equal(result.status, 125, f"depth {depth}")
            contains(result.stderr, "sandbash: ")
        else:
            fx.path("ran").unlink()
    works(fx.run("touch", fx.outside / "new"), "control")


@test("S3 nested: the environment of the inner one cannot be made to lie", variants=OUTER)
def environment(fx):
    for env in (["-i"], ["-u", "SANDBASH"], ["SANDBASH=0", "SANDBASH_MODE=danger-full-access"],
                ["HOME=/", "XDG_CONFIG_HOME=."]):
        fx.sandbash("env", *env, BIN, "--anywhere", "--allow-home", "--best-effort",
                    "--disable-sandbox",
                    "touch", fx.outside / "new")
        check(not (fx.outside / "new").exists(), str(env))
    fx.write("cfg/sandbash/config", f"{fx.outside}\nmode danger-full-access\n")
    fx.sandbash("env", f"XDG_CONFIG_HOME={fx.project}/cfg", BIN, "touch", fx.outside / "new")
    check(not (fx.outside / "new").exists())
    works(fx.sandbash("env", "-u", "SANDBASH", BIN, "--best-effort", "touch", "inside"),
          "neighbour")


@test("P7 nested: --status tells the truth inside, whatever the environment says", variants=OUTER)
def status(fx):
    inside = fx.sandbash(BIN, "--status").stdout
    outside = fx.run(BIN, "--status", env={"SANDBASH": "1", "SANDBASH_MODE": "read-only"}).stdout
    contains(outside, "outside", "a forged environment")
    check("outside any" not in inside, inside)
    forged = fx.sandbash("env", "-u", "SANDBASH", BIN, "--status").stdout
    check("outside any" not in forged, forged)


@test("ESCAPES nested: bubblewrap and unshare inside gain nothing", variants=OUTER)
def others(fx):
    target = fx.outside / "new"
    for words in (["bwrap", "--dev-bind", "/", "/", "touch", target],
                  ["unshare", "-Urm", "touch", target], ["unshare", "-r", "touch", target]):
        fx.sandbash(*words)
        check(not target.exists(), str(words))
    works(fx.run("unshare", "-r", "touch", target), "control")
    works(fx.sandbash("touch", "inside"))


@test("S9 nested: the inner one's project is not the outer one's to lose", variants=("full",))
def guarded_by_both(fx):
    """Names guarded in the outer project stay so inside an inner run that knows no such rule."""
    fx.git_project()
    before = signature(fx.path(".git/config"))
    fx.sandbash(BIN, "--disable-sandbox", "sh", "-c", 
                f"echo evil >>.git/config; {'' if SUPERVISED else 'mv .git g'}")
    fx.sandbash("sh", "-c", f"cd .git && {BIN} sh -c 'echo evil >>config; touch hooks/x; "
                f"{'' if SUPERVISED else 'mv config c'}'")
    check(not fx.exists(".git/hooks/x"))
    unchanged(before, fx.path(".git/config"))
    works(fx.sandbash("sh", "-c", "cd .git && touch COMMIT_EDITMSG"))
    works(act(fx, "open", "wronly+append", ".git/config"), "control")


@test("S3 nested: the inner run in another directory of the outer root", variants=OUTER)
def moved(fx):
    """A directory chosen by the inside becomes a root only within the outer one's."""
    os.mkdir(fx.home / "elsewhere")
    result = fx.sandbash("sh", "-c", f'cd "$1" && exec {BIN} touch new', "-", fx.home / "elsewhere")
    check(result.status != 0)
    equal(os.listdir(fx.home / "elsewhere"), [])
    works(boxed(fx, "open", "wronly+creat", "new"))


run_all()
