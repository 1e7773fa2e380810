"""git_upkeep.py - work trees, submodules, clones, housekeeping: natively and inside, unasked."""

import shutil

from git_compare import CONFLICT, EACH, HEAD, START, compare
from tap import Skip, equal, run_all, test

BOTH = (EACH,)


@test("submodules: added, nested, with slashes in their names, moved, absorbed, removed",
      variants=BOTH)
def submodules(fx):
    compare(fx, START + """
mkdir lib inner; (cd inner; git init -q -b main; commit i 1); (cd lib; git init -q -b main; commit l 1; g submodule --quiet add "$PWD/../inner" deep/in; git commit -q -m in)
echo /lib >.gitignore; echo /inner >>.gitignore; git add .gitignore; git commit -q -m ignore
g submodule --quiet add "$PWD/lib" third/party/lib; g submodule --quiet add --name a/b "$PWD/inner" modules/x; git commit -q -m subs
g submodule --quiet update --init --recursive
(cd third/party/lib; git switch -q -c topic; commit l 2; commit l 3; git stash list; git gc -q; git rebase -q --force-rebase HEAD~1 >/dev/null)
(cd third/party/lib; git config rerere.enabled true; git switch -q -c other HEAD~1; commit l 4; stops git merge topic; echo 5 >l; git add l; git commit -q -m merged)
git add third; git commit -q -m moved; git submodule --quiet status >/dev/null; git submodule --quiet summary >/dev/null
g submodule --quiet update --recursive; git submodule --quiet set-branch -b main third/party/lib; git submodule --quiet set-url third/party/lib "$PWD/lib"; git submodule --quiet sync --recursive
git commit -q -a -m set; git mv third/party/lib third/party/other; git commit -q -m mv
git submodule --quiet deinit -f --all; g submodule --quiet update --init --recursive
g clone -q "$PWD/inner" plain; g submodule --quiet add "$PWD/inner" plain 2>/dev/null; git submodule --quiet absorbgitdirs plain 2>/dev/null; git commit -q -a -m plain
git rm -q -f modules/x; rm -rf .git/modules/a; git commit -q -m gone
g -c fetch.recurseSubmodules=yes fetch -q; git grep -q --recurse-submodules 1
""")


@test("worktrees: made, moved, locked, removed, each with a rebase of its own", variants=BOTH)
def worktrees(fx):
    compare(fx, CONFLICT + """
git worktree add -q wt/one -b one; git worktree add -q --detach wt/two main~1; git worktree add -q --no-checkout wt/three side
git worktree lock --reason 'on a stick' wt/two; git worktree list -v >/dev/null; git worktree unlock wt/two
git worktree add -q --lock wt/four -b four; git worktree unlock wt/four
(cd wt/one; commit f one; git config rerere.enabled true; stops git merge side; echo m >f; git commit -q -a -m m; stops git rebase side; git rebase --abort; git stash list; git bisect start HEAD HEAD~1 >/dev/null; git bisect reset 2>/dev/null)
(cd wt/two; commit f two; stops git cherry-pick side~1 side; git cherry-pick --abort; git checkout -q -b two; commit t 1; git commit -q --amend -m t2)
(cd wt/three; git reset -q --hard; git config extensions.worktreeConfig true; git sparse-checkout set --no-cone '/*' >/dev/null; git config --worktree user.name Other; commit th 1)
git worktree move wt/one wt/moved; git worktree repair; git worktree remove wt/moved; git worktree remove -f wt/two
rm -rf wt/four; git worktree prune; git gc -q; git branch -D -q one two
""")


@test("sparse checkouts", variants=BOTH)
def sparse(fx):
    compare(fx, START + """
mkdir a b c; commit a/x 1; commit b/x 1; commit c/x 1
git sparse-checkout init --cone >/dev/null; git sparse-checkout set a; git sparse-checkout add b; git sparse-checkout list >/dev/null
git sparse-checkout reapply; commit a/x 2; git status >/dev/null
git sparse-checkout set --no-cone '/a/*' '!/a/y'; git switch -q -c z; commit a/z 1; git sparse-checkout disable
git sparse-checkout set --cone --sparse-index c 2>/dev/null; commit c/x 2; git sparse-checkout disable
git clone -q --sparse . cl; (cd cl; git sparse-checkout add c; git status >/dev/null)
""")


@test("git-lfs: tracked, committed, checked out, pruned", variants=BOTH)
def lfs(fx):
    if not shutil.which("git-lfs"):
        raise Skip("no git-lfs")
    fx.git_project()
    equal(fx.run("git", "lfs", "install", "--local").status, 0)
    compare(fx, HEAD + """
export GIT_EDITOR=true
git config user.name Somebody; git config user.email somebody@example.org
git lfs track '*.bin' >/dev/null; head -c 100000 /dev/zero >a.bin; git add .; git commit -q -m bin
echo x >>a.bin; git commit -q -a -m more; git lfs ls-files >/dev/null; git lfs status >/dev/null
rm a.bin; git checkout -q a.bin; git lfs checkout 2>/dev/null; git lfs fsck >/dev/null 2>&1; git lfs prune >/dev/null 2>&1 || true
git switch -q -c s HEAD~1; git switch -q -; git lfs untrack '*.bin' >/dev/null; git add -A; git commit -q -m un
git lfs env >/dev/null; git stash list
""")


@test("housekeeping: gc, repack, maintenance, graphs, indexes of packs, expiry", variants=BOTH)
def housekeeping(fx):
    compare(fx, START + """
for n in 1 2 3; do commit n $n; git tag t$n; git branch b$n; done
git init -q --bare up.git; git remote add up "$PWD/up.git"; git push -q up --all; echo up.git >.git/info/exclude
for task in gc commit-graph prefetch loose-objects incremental-repack pack-refs; do git maintenance run --quiet --task=$task 2>/dev/null || true; done
git maintenance run --auto --quiet
commit n 4; git gc -q --auto; git gc -q --prune=now; commit n 5; git gc -q --aggressive
git repack -q -a -d -b; git repack -q -d --geometric=2; git repack -q -A -d --write-midx 2>/dev/null || true
git multi-pack-index write --bitmap 2>/dev/null || git multi-pack-index write; git multi-pack-index verify 2>/dev/null; git multi-pack-index expire
git commit-graph write --reachable --split --changed-paths 2>/dev/null; git commit-graph verify 2>/dev/null
git pack-refs --all --prune; git reflog expire --expire=now --all; git reflog delete HEAD@{0} 2>/dev/null || true
git prune; git prune-packed -q; git update-server-info; git count-objects -v >/dev/null; git fsck --full --lost-found >/dev/null 2>&1
git unpack-objects -n <"$(ls .git/objects/pack/*.pack | head -1)" 2>/dev/null || true
git -c gc.auto=1 -c gc.autoDetach=false commit -q --allow-empty -m auto
""", without=("pack-",))


@test("notes, replacements, bundles, stashes, tags, branches, filter-branch, subtree",
      variants=BOTH)
def rest(fx):
    compare(fx, CONFLICT + """
git notes add -m one; git notes append -m two; git notes --ref=other add -m three; stops git notes merge other || true
git notes merge --abort 2>/dev/null || true; git notes merge -q -s union other 2>/dev/null || true; git notes prune; git notes remove
git replace --graft HEAD HEAD~2; git replace -l >/dev/null; git replace -d $(git rev-parse HEAD) >/dev/null
git bundle create -q all.bundle --all; git bundle verify -q all.bundle 2>/dev/null; git clone -q all.bundle fromb; git fetch -q all.bundle main; rm -rf all.bundle fromb
echo s >>g; echo u >new; git stash push -q -u -m s; git stash show -p >/dev/null; git stash apply -q; git reset -q --hard; rm -f new; git stash branch st >/dev/null 2>&1; git add -A; git commit -q -m st
echo s >>g; git stash push -q --keep-index; git stash store -m x $(git stash create x) 2>/dev/null || true; git stash drop -q; git stash clear
git tag v1; git tag -a -m m v2; git tag -f v1 HEAD~1 >/dev/null; git tag -d v1 >/dev/null
git branch -m st renamed; git branch -c renamed copied; git branch -f copied HEAD~1; git branch -d copied -f >/dev/null; git branch --edit-description renamed
git switch -q --orphan lonely; commit l 1; git switch -q main; git checkout -q --detach; git switch -q -
git symbolic-ref refs/heads/alias refs/heads/main; git symbolic-ref -d refs/heads/alias
printf 'create refs/heads/made HEAD\\n' | git update-ref --stdin; printf 'delete refs/heads/made\\n' | git update-ref --stdin; git update-ref refs/custom/x HEAD
echo p >>g; printf 'y\\n' | git add -p >/dev/null; git commit -q -m p; echo e >>g; printf 'e\\n' | git add -p >/dev/null 2>&1 || true; git reset -q --hard
echo e >>g; git add -e >/dev/null 2>&1 || true; git commit -q -v -a -m e --allow-empty; git commit -q --amend --reset-author --no-edit
GIT_EDITOR="sed -i -e '1s/^/edited /'" git commit -q --amend; git commit -q --allow-empty -F - </dev/null 2>/dev/null || true
FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --msg-filter 'sed s/main/MAIN/' HEAD~2..HEAD >/dev/null 2>&1
git fast-export --all | (mkdir imp; cd imp; git init -q -b main; git fast-import --quiet)
git subtree add -q --prefix=sub . side >/dev/null 2>&1; git subtree split -q --prefix=sub -b split >/dev/null 2>&1 || true
git archive HEAD | tar t >/dev/null; git clean -fdq; git restore --source=HEAD~1 g; git checkout -q -- .; git rm -q --cached g; git reset -q; git mv g g2; git commit -q -a -m mv
git update-index --refresh -q; git update-index --index-version 4; git update-index --split-index; git update-index --no-split-index; git read-tree HEAD; git rev-list --all --count >/dev/null
""", without=("subtree-cache", "sharedindex"))


@test("clones and remotes: bare, mirrored, shallow, apart, with templates and references",
      variants=BOTH)
def clones(fx):
    compare(fx, CONFLICT + """
mkdir -p tpl/info tpl/hooks; echo d >tpl/description; echo '*.x' >tpl/info/exclude; echo s >tpl/hooks/x.sample
git init -q --template=tpl t; git init -q --shared=group s; git init -q --bare --initial-branch=main b.git
git clone -q . c; git clone -q --bare . cb.git; git clone -q --mirror . cm.git; git clone -q --depth 1 "file://$PWD" cd
git clone -q --separate-git-dir=sep . cs; git clone -q --shared . sh; git clone -q --reference c . ref; git clone -q --reference c --dissociate . dis
git clone -q --no-local --single-branch --no-tags . one; git clone -q -b side --no-checkout . no; git clone -q --bare . nameless
(cd cs; commit s 1; stops git merge origin/side; git merge --abort; git gc -q); (cd cd; git fetch -q --deepen=1; git fetch -q --unshallow; git log >/dev/null)
(cd c; git remote set-head origin -a >/dev/null; git remote add b ../b.git; git push -q -u b main; git push -q b --tags; git push -q b :refs/heads/none 2>/dev/null || true; git fetch -q --all --prune; git remote update >/dev/null 2>&1)
(cd c; git pull -q --no-rebase -X ours origin side; git push -q --force-with-lease b main 2>/dev/null; git push -q b --delete main 2>/dev/null || true; git remote rename b bb; git remote set-url bb ../b.git; git remote set-branches bb main; git remote remove bb)
(cd cb.git; git worktree add -q main2 main 2>/dev/null || git worktree add -q -b m2 main2; cd main2; commit x 1; mkdir info; commit info/y 1; commit HEAD z; git status >/dev/null)
(cd nameless; git branch more; git tag t; git symbolic-ref HEAD refs/heads/side; git gc -q; git fetch -q ../c 'refs/heads/*:refs/heads/fetched/*')
git fetch -q ./c main; git fetch -q cb.git '+refs/heads/*:refs/remotes/x/*'; git ls-remote -q c >/dev/null; git request-pull main ./c >/dev/null 2>&1 || true
""", without=("/tpl", ))


run_all()
