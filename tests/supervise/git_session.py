"""git_session.py - what people do with git, natively and inside: no question, the same repository.

One long session; git_daily.py has the states in which git stops.
"""

from git_compare import EACH, HEAD, compare
from tap import equal, run_all, test

WORK = """
git config user.name Somebody; git config user.email somebody@example.org
git config branch.autosetuprebase always
echo one >one; printf '*.bin binary\\n*.txt text eol=lf\\n' >.gitattributes; echo '*.o' >.gitignore
git add .; git commit -q -m one
echo two >two; git add two; git commit -q -m two
echo more >>two; git commit -q -a --amend -m 'two, amended'
git branch topic; git switch -q topic; echo three >three; git add three; git commit -q -m three
git switch -q -; echo four >four; git add four; git commit -q -m four
git merge -q -m merged topic
git switch -q -c side HEAD~1; for n in a b c; do echo $n >$n; git add $n; git commit -q -m $n; done
GIT_SEQUENCE_EDITOR="sed -i -e '2s/^pick/fixup/' -e '3s/^pick/reword/'" \
	GIT_EDITOR="sed -i -e '1s/$/ reworded/'" git rebase -q -i HEAD~3
git rebase -q topic
echo stashed >>one; git stash push -q; git stash list >/dev/null; git stash pop -q
git commit -q -a -m stashed
git tag v1; git tag -a -m note v2
git cherry-pick --no-commit topic >/dev/null 2>&1 || true; git reset -q --hard
git revert --no-edit HEAD >/dev/null
git notes add -m note HEAD
git config --unset branch.autosetuprebase
git bisect start HEAD HEAD~2 >/dev/null 2>&1; git bisect reset >/dev/null 2>&1
git mv one uno; git commit -q -m moved; git rm -q uno; git commit -q -m removed
git sparse-checkout set --no-cone '/*' >/dev/null; git sparse-checkout disable
"""

REMOTES = """
git remote remove origin 2>/dev/null || true; git init -q --bare "$DEPOT/bare.git"
git remote add origin "$DEPOT/bare.git"; git remote set-url origin "$DEPOT/bare.git"
git push -q -u origin HEAD:refs/heads/main; git fetch -q; git push -q --tags
git branch --set-upstream-to=origin/main >/dev/null
git remote rename origin up; git remote prune up; git pull -q --rebase up main
"""

TREES = """
git worktree add -q "$DEPOT/tree" -b in-tree
(cd "$DEPOT/tree"; echo w >w; git add w; git commit -q -m w; git status --porcelain)
git worktree list >/dev/null; git worktree lock "$DEPOT/tree"; git worktree unlock "$DEPOT/tree"
git worktree move "$DEPOT/tree" "$DEPOT/moved"; git worktree remove "$DEPOT/moved"
git worktree prune
git worktree add -q "$DEPOT/kept" -b kept
git init -q "$DEPOT/lib"; (cd "$DEPOT/lib"; echo l >l; git add l; git commit -q -m l)
g submodule --quiet add "$DEPOT/lib" sub; git commit -q -m sub
(cd "$DEPOT/lib"; echo m >m; git add m; git commit -q -m m)
g submodule --quiet update --remote sub; git commit -q -a -m 'sub moved'
g submodule --quiet sync; g submodule --quiet foreach 'git status --porcelain'
git submodule --quiet deinit -f sub; g submodule --quiet update --init sub
g clone -q --recurse-submodules . "$DEPOT/clone"
git clone -q --bare . "$DEPOT/clone.git"; git clone -q --mirror . "$DEPOT/mirror.git"
git clone -q --depth 1 "file://$PWD" "$DEPOT/shallow"
git clone -q --shared . "$DEPOT/shared"
git init -q --separate-git-dir="$DEPOT/apart" "$DEPOT/with"
(cd "$DEPOT/with"; echo s >s; git add s; git commit -q -m s)
git gc -q --prune=now; git repack -q -a -d; git pack-refs --all; git fsck --no-progress 2>&1
"""

WHOLE = HEAD + 'DEPOT="$PWD/depot"; mkdir depot; echo depot >>.git/info/exclude;' + WORK + REMOTES + TREES

@test("a session with everything, in a repository made inside", variants=(EACH,))
def fresh(fx):
    compare(fx, HEAD + "git init -q -b main\n" + WHOLE)


@test("a session with everything, in a repository that was there")
def existing(fx):
    fx.git_project()
    compare(fx, WHOLE)


@test("a session in a directory deep in the project, cloned inside", variants=("flat",))
def deep(fx):
    fx.git_project()
    compare(fx, HEAD + "mkdir -p a/b/c; cd a/b/c; git clone -q ../../.. d; cd d\n" + WORK)


@test("a session in a bare layout and a repository in the temp directory")
def elsewhere(fx):
    fx.git_project()
    compare(fx, HEAD + """
git clone -q --bare . x; (cd x; git config user.name y; git branch more; git tag t; git gc -q)
git clone -q . /tmp/clone; cd /tmp/clone; git config user.email a@b; git commit -q --allow-empty -m t
git push -q origin HEAD:refs/heads/pushed; rm -rf /tmp/clone
""")


@test("a linked worktree as the project: git's data lies outside it", variants=(EACH,))
def linked(fx):
    main = fx.home / "main"
    fx.git_project()
    fx.project.rename(main)
    equal(fx.run("git", "worktree", "add", "-q", fx.project, "-b", "work", cwd=main).status, 0)
    compare(fx, HEAD + WORK + "git gc -q\n", cwd=fx.project)


@test("a submodule as the project: git's data lies outside it", variants=(EACH,))
def submodule(fx):
    fx.git_project()
    lib = fx.home / "lib"
    fx.project.rename(lib)
    outer = fx.home / "outer"
    for words in (["git", "init", "-q", outer],
                  ["git", "-C", outer, "-c", "protocol.file.allow=always", "submodule", "--quiet",
                   "add", lib, "sub"]):
        equal(fx.run(*words, cwd=fx.home).status, 0)
    compare(fx, HEAD + WORK, cwd=outer / "sub")


run_all()
