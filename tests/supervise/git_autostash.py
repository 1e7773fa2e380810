"""git_autostash.py - a stash that git applies by itself lands if it has no guarded name in it, and is told if it is left behind."""

from git_compare import CONFLICT, ENV, START, compare
from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")
LEFT = "is left behind; the next git commit"
PLACES = ("MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash")

DAILY = CONFLICT + """
mkdir -p src/hooks src/objects; commit src/hooks/useX.ts 1; commit src/config 1; commit src/objects/o 1; seq 3000 >numbers; git add numbers; git commit -q -m n; cp -r src more; git add more; git commit -q -m more
git clone -q . up 2>/dev/null; cd up; git config user.name Somebody; git config user.email somebody@example.org; commit u 1; git switch -q -c topic; commit t 1; git switch -q main; cd ..
PACK
git remote add up ./up; git config branch.main.remote up; git config branch.main.merge refs/heads/main
git tag start; back() { git switch -qf main; git reset -q --hard start; }
dirty() { echo more >>src/hooks/useX.ts; echo more >>src/config; sed -i 5d numbers; rm -r more/hooks; mkdir -p new; echo x >new/config; git add new/config; }
dirty; git pull -q --rebase --autostash; test -n "$(git status --short)"; back
dirty; git fetch -q up topic; git merge -q --autostash FETCH_HEAD; test -n "$(git status --short)"; back
dirty; git rebase -q --autostash HEAD~1; back
dirty; git rebase -q --apply --autostash HEAD~2; back
dirty; stops git merge --autostash side; test -e .git/MERGE_AUTOSTASH; echo r >f; git add f; git commit -q -m merged; test ! -e .git/MERGE_AUTOSTASH; back
dirty; stops git merge --autostash side; git merge --abort; back
dirty; stops git rebase --autostash side; echo r >f; git add f; git rebase --continue >/dev/null 2>&1; back
dirty; stops git rebase --apply --autostash side; git rebase --abort 2>/dev/null; back
dirty; stops git rebase --autostash side; git rebase --skip >/dev/null 2>&1 || git rebase --abort; back
dirty; stops git rebase --autostash side; git rebase --quit 2>/dev/null; git stash list | grep -q .; git stash drop -q; back
dirty; echo 'A=1' >.env; git add .env; git merge -q --autostash main; back
git worktree add -q -b other linked HEAD~3; cd linked; echo w >>src/config; git merge -q --autostash main; cd ..; git worktree remove --force linked
rm -rf up
"""


@test("git's own autostash: to its end, through conflicts, undone, of loose objects", variants=BOTH)
def loose(fx):
    compare(fx, DAILY.replace("PACK", "git config gc.auto 0"))


@test("the same where objects are in packs", variants=("full",))
def packed(fx):
    compare(fx, DAILY.replace("PACK", "git gc -q"))


@test("the same where objects are in packs of another repository", variants=("full",))
def borrowed(fx):
    compare(fx, DAILY.replace("PACK", "git gc -q; git clone -q -s . s; cd s; mv ../up .; git branch -q side origin/side; git remote remove origin; "
                                      "git config user.name Somebody; git config user.email somebody@example.org"))


@test("the same with long hashes", variants=("full",))
def long_hashes(fx):
    compare(fx, DAILY.replace("PACK", "git gc -q").replace("git init -q", "git init -q --object-format=sha256"))


# $1: the place; then mode and name of each file that the stash has beyond what it was made on.
PLANT = r"""
set -e
place=.git/$1; shift; mkdir -p "$(dirname "$place")"
b=$(git rev-parse HEAD); export GIT_INDEX_FILE=/tmp/index.$$
git read-tree HEAD
while [ $# -gt 0 ]; do
    h=$(printf "$3" | git hash-object -w --stdin); git update-index --add --cacheinfo "$1,$h,$2"; shift 3
done
t=$(git write-tree); i=$(git commit-tree "$b^{tree}" -p "$b" -m index); w=$(git commit-tree $t -p "$b" -p $i $MORE -m WIP)
echo "${ID:-$w}" >"$place" || true
test -s "$place"
"""
HOOK = ("100755", ".husky/pre-commit", "#!/bin/sh\ntouch ran\n")
EVIL = ((HOOK,), (("100644", ".vscode/tasks.json", "{}"),), (("100644", "deep/er/.ENVRC", "x"),), (("120000", ".husky", "elsewhere"),),
        (("100644", "x/objects/a", "x"), ("100644", "x/refs/b", "x"), ("100755", "x/hooks/pre-commit", "x")),
        (("100644", "f", "more"), ("100644", "a/b/c/.bashrc", "x")), (("100644", ".gitmodules", '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c x\n'),),
        (("100644", ".env", "LD_PRELOAD=/x\n"),), (("120000", ".git2", "x"), ("100644", "CVS/Root", "x")))
GOOD = ((("100644", "f", "more"),), (("100755", "src/hooks/useY.ts", "x"), ("100644", ".vscode/none", "x")), (("100644", ".env", "PORT=80\n"),),
        (("120000", "link", "f"),), (("100644", ".gitmodules", '[submodule "x"]\n\tpath = x\n\turl = https://example.org/x\n'),))


def begin(fx):
    fx.run("sh", "-c", "rm -rf .git * .husky .vscode")
    equal(fx.run("bash", "-c", START + "git config core.hooksPath .husky; commit f base; commit src/x 1 2>/dev/null || { mkdir src; commit src/x 1; }", env=ENV).status, 0)


def plant(fx, place, files, sandbox=True, **more):
    words = [word for file in files for word in file]
    command = ("bash", "-c", PLANT, "sh", place, *words)
    env = {**ENV, **more}
    return fx.sandbash("--consent=deny", *command, env=env) if sandbox else fx.run(*command, env=env)


@test("a stash with guarded names is refused in each of its places, a harmless one lands and is told", variants=BOTH)
def planted(fx):
    begin(fx)
    for place in PLACES:
        for files in EVIL if place == PLACES[0] else EVIL[:1]:
            result = plant(fx, place, files)
            check(result.status != 0 and not fx.path(f".git/{place}").exists(), f"{place} {files}")
            contains(result.stderr, place)
        for files in GOOD if place == PLACES[0] else GOOD[:1]:
            result = plant(fx, place, files)
            equal((result.status, fx.path(f".git/{place}").exists()), (0, True), f"{place} {files}: {result.stderr}")
            contains(result.stderr, LEFT)
            result = fx.sandbash("--consent=deny", "sh", "-c", f"cat .git/{place} >x; cat x >.git/{place}")  # it was there before
            equal(result.status, 0, result.stderr)
            lacks(result.stderr, LEFT)
            fx.path(f".git/{place}").unlink()


@test("the control: the next git commit outside would write it, and the next run the hook")
def control(fx):
    begin(fx)
    equal(plant(fx, PLACES[0], (HOOK,), sandbox=False).status, 0)
    lacks(fx.run("git", "status", "--short").stdout, "husky")
    equal(fx.run("sh", "-c", "echo 2 >>f; git commit -qam daily; echo 3 >>f; git commit -qam next", env=ENV).status, 0)
    check(fx.path("ran").exists(), "the hook")


@test("what is no stash of git's, or cannot be read, is refused", variants=BOTH)
def odd(fx):
    begin(fx)
    one, before = fx.run("git", "rev-parse", "HEAD", "HEAD~1").stdout.split()
    tree = fx.run("git", "rev-parse", "HEAD^{tree}").stdout.strip()
    for more in ({"MORE": f"-p {before}"}, {"ID": "0" * 40}, {"ID": one}, {"ID": tree}, {"ID": one[:12]}, {"ID": "refs/heads/main"},
                 {"ID": f"{one}\n{one}"}):
        result = plant(fx, PLACES[0], (GOOD[0][0],), **more)
        check(result.status != 0 and not fx.path(".git/MERGE_AUTOSTASH").exists(), f"{more}: {result.stderr}")
    # which of two copies git takes hangs on what it read before
    equal(plant(fx, PLACES[0], (HOOK,), sandbox=False).status, 0)
    stash = fx.read(".git/MERGE_AUTOSTASH").strip()
    fx.path(".git/MERGE_AUTOSTASH").unlink()
    loose = [fx.path(f".git/objects/{name[:2]}/{name[2:]}")
             for name in fx.run("git", "rev-parse", f"{stash}^{{tree}}", "HEAD^{tree}").stdout.split()]
    equal(fx.run("sh", "-c", f"git rev-list --objects {stash} | git pack-objects -q .git/objects/pack/pack").status, 0)
    copied = loose[1].read_bytes()
    loose[0].unlink()
    loose[0].write_bytes(copied)
    result = fx.sandbash("--consent=deny", "sh", "-c", f"echo {stash} >.git/MERGE_AUTOSTASH; test -s .git/MERGE_AUTOSTASH")
    check(result.status != 0 and not fx.path(".git/MERGE_AUTOSTASH").exists(), f"two that differ: {result.stderr}")
    # a stash in a stash is not looked into
    equal(fx.run("git", "init", "-q", "--bare", "b").status, 0)
    result = plant(fx, PLACES[0], (("100644", "b/MERGE_AUTOSTASH", one),))
    check(result.status != 0 and not fx.path(".git/MERGE_AUTOSTASH").exists(), f"in itself: {result.stderr}")
    # a directory of git's that moves in brings it
    equal(plant(fx, PLACES[0], (HOOK,), sandbox=False).status, 0)
    fx.run("sh", "-c", "mkdir m; mv .git/MERGE_AUTOSTASH m/autostash; echo 1 >m/msgnum")
    check(fx.sandbash("--consent=deny", "mv", "m", ".git/rebase-merge").status != 0, "it moved in")
    check(fx.sandbash("--consent=deny", "mv", "-T", "m/autostash", ".git/MERGE_AUTOSTASH").status != 0, "renamed")
    check(fx.sandbash("--consent=deny", "ln", "m/autostash", ".git/MERGE_AUTOSTASH").status != 0, "linked")
    check(not fx.path(".git/MERGE_AUTOSTASH").exists() and not fx.path(".git/rebase-merge").exists())


run_all()
