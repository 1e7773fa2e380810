"""P2: hg recover and hg rollback outside put nothing in another place that a run has left behind; hg's own lists land unasked."""

import shutil

from attack import works
from tap import check, equal, lacks, run_all, skip, test

BOTH = ("full", "flat")
ENV = {"HGRCPATH": "/dev/null", "HGUSER": "me", "HGPLAIN": "1"}
HOOK = "[hooks]\npre-status = touch ../ran\n"

# What is put into NAME ($1, printf's form), in a repository.
WAYS = {
    "written": 'printf "$2" >"$1"',
    "appended": 'printf "2\\n" >>"$1"; printf "${2#2\\\\n}" >>"$1"',
    "renamed": 'printf "$2" >x; mv x "$1"',
    "linked": 'rm -f "$1"; printf "$2" >x; ln x "$1"',
    "with its directory": 'cp -r .hg/store x; printf "$2" >"x/${1##*/}"; mv .hg/store y; mv x .hg/store || { mv y .hg/store; exit 1; }; rm -rf y',
}
LISTS = {
    "hooks": ("journal.backupfiles", r"2\nplain\0hgrc\0evil\0000\n"),
    "hooks by hg's own name": ("journal.backupfiles", r"2\nplain\0hgrc\0journal.backup.hgrc\0000\n"),
    "a file elsewhere": ("journal.backupfiles", r"2\n\0../../../victim\0../evil\0000\n"),
    "a file elsewhere deleted": ("journal.backupfiles", r"2\nplain\0../../victim\0\0000\n"),
    "a temporary one deleted": ("journal.backupfiles", r"2\n\0\0../../../victim\0000\n"),
    "a file elsewhere emptied": ("journal", r"../../../victim\0000\n"),
}


def need():
    if not shutil.which("hg"):
        skip("no hg")


def fresh(fx):
    """A repository, made once in a test."""
    made = fx.project.parent / "made"
    if not made.exists():
        made.mkdir()
        works(fx.run("sh", "-c", "hg init --config format.usefncache=no .; echo a >a; hg add -q a; hg commit -m a", env=ENV, cwd=made))
    shutil.rmtree(fx.project, ignore_errors=True)
    shutil.copytree(made, fx.project, symlinks=True)
    (fx.project.parent / "victim").write_text("precious\n")
    (fx.project.parent / "ran").unlink(missing_ok=True)


def harm(fx, command):
    """What the person's own hg does."""
    fx.run("sh", "-c", f"hg {command}; hg status", env=ENV, cwd=fx.project)
    victim = fx.project.parent / "victim"
    ran = fx.project.parent / "ran"
    found = ran.exists() or fx.exists(".hg/hgrc") or not victim.exists() or victim.read_text() != "precious\n"
    if ran.exists():
        ran.unlink()
    return found


def plant(fx, way, name, text, boxed):
    script = f'printf "%s" "$3" >.hg/evil; cp .hg/evil .hg/journal.backup.hgrc; {way}; status=$?; [ -e .hg/store/journal ] || : >.hg/store/journal; exit $status'
    words = ("sh", "-c", script, "-", f".hg/store/{name}", text, HOOK)
    return fx.sandbash("--consent=deny", "--quiet", *words, env=ENV) if boxed else fx.run(*words, env=ENV, cwd=fx.project)


@test("P2 a list of Mercurial that names hooks or files elsewhere asks, by every way", variants=BOTH)
def lists(fx):
    need()
    for label, (name, text) in LISTS.items():
        fresh(fx)
        works(plant(fx, WAYS["written"], name, text, False), f"control, {label}")
        check(harm(fx, "recover"), f"control, {label}")
    for label, (name, text) in LISTS.items():
        for way, script in WAYS.items():
            if way != "written" and label not in ("hooks", "a file elsewhere deleted"):
                continue
            fresh(fx)
            plant(fx, script, name, text, True)
            check(not harm(fx, "recover"), f"{label}, {way}")


@test("P2 the same for what hg rollback reads", variants=BOTH)
def rolled_back(fx):
    need()
    for boxed in (False, True):
        fresh(fx)
        plant(fx, WAYS["written"] + "; rm -f .hg/store/journal", "undo.backupfiles", LISTS["hooks"][1], boxed)
        fx.path(".hg/store/journal").unlink(missing_ok=True)
        equal(harm(fx, "--config ui.rollback=true rollback"), not boxed)


@test("P2 a link in .hg leads hg elsewhere, and asks; its locks and its trial do not", variants=BOTH)
def links(fx):
    need()
    out = fx.dir / "out"
    out.mkdir()
    for way in ('ln -s "$1" .hg/x', 'ln -s "$1" x; mv x .hg/x', 'mkdir d; ln -s "$1" d/x; mv d .hg/d', 'rm -rf .hg/cache; ln -s "$1" .hg/cache'):
        fresh(fx)
        check(fx.sandbash("--consent=deny", "--quiet", "sh", "-c", way, "-", out).status != 0, way)
        fresh(fx)
        works(fx.run("sh", "-c", way, "-", out, cwd=fx.project), f"control: {way}")
    fresh(fx)
    works(fx.sandbash("--consent=deny", "sh", "-c", "ln -s x .hg/wlock; ln -s y .hg/store/lock; ln -s z out; rm .hg/wlock .hg/store/lock"))


DAILY = """set -e
hg init r; cd r; mkdir -p hooks .hid; for i in 1 2 3; do echo $i >hooks/config; echo $i >.hid/"a $i"; echo $i >refs; hg -q add; hg commit -q -m $i; done
hg --config ui.rollback=true rollback -q; hg commit -q -m 4; hg update -q 0; hg branch -q x; echo z >z; hg add -q z; hg commit -q -m z
hg bookmark b; hg tag t; hg --config extensions.strip= strip -q -r tip; hg update -q default
e='hg --config extensions.rebase= --config extensions.shelve= --config extensions.histedit= --config experimental.evolution=all'
echo y >y; hg add -q y; hg commit -q -m y; $e rebase -q -s tip -d 1; echo 1 >>z2; hg add -q z2; $e shelve -q; $e unshelve -q; hg commit -q -m w
hg commit -q --amend -m v; hg phase -f -d -r tip; if hg commit -q --amend -m u --config hooks.pretxncommit=false; then exit 1; fi
cat >../kill.py <<EOF
import os, signal
def hook(**kw): os.kill(os.getpid(), signal.SIGKILL)
EOF
echo k >>z2; hg commit -q -m k --config hooks.pretxncommit=python:../kill.py:hook || true
until [ -s .hg/store/journal ] && [ -e .hg/store/journal.backupfiles ]; do sleep 0.1; done; rm -f .hg/wlock .hg/store/lock; hg recover -q; hg verify -q; hg log -q | wc -l; echo END
"""


@test("P2 transactions of hg, rolled back, aborted, killed and recovered, are not asked about", variants=BOTH)
def daily(fx):
    need()
    result = fx.sandbash("--consent=deny", "sh", "-c", DAILY, env=ENV)
    equal(result.stdout.splitlines()[-1:], ["END"], result.stderr)
    lacks(result.stderr, "refused")


run_all()
