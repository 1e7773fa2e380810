"""git_session.py - what people do with git, natively and inside: no question, the same repository.

Nobody can be asked (--consent=deny), so a command that needed a question would fail.  Times and
names are fixed, so equal work gives equal hashes; both runs happen at the same path, so equal
configuration is equal text.
"""

import os
import shutil

from compare import native
from tap import check, equal, lacks, run_all, test

DATE = "2024-01-01T00:00:00Z"
ENV = {"GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE, "GIT_CONFIG_GLOBAL": "/dev/null"}

# Stands at the top of each session: fails at the first command that fails, and names it.
HEAD = """set -e
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
g() { git -c protocol.file.allow=always "$@"; }
"""

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

# What two equal repositories agree on.
FACTS = (["fsck", "--no-progress", "--strict"], ["for-each-ref"], ["config", "--local", "--list"],
         ["status", "--porcelain", "--ignored"], ["log", "--all", "--format=%H %P %s"],
         ["ls-files", "--stage"], ["stash", "list"], ["worktree", "list", "--porcelain"],
         ["submodule", "status", "--recursive"], ["symbolic-ref", "HEAD"])


def facts(fx, top):
    """What git says about every repository beneath top, and the names of all its files."""
    found = {}
    for directory, directories, files in os.walk(top):
        bare = {"HEAD", "objects", "refs"} <= set(directories + files)
        if not bare and ".git" not in directories + files:
            continue
        for words in FACTS:
            result = fx.run("git", "-C", directory, *words, env=ENV, cwd=top)
            found[directory, words[0]] = (result.status, sorted(result.stdout.splitlines()))
    for directory, directories, files in os.walk(top):
        if "objects" in directories:
            directories.remove("objects")  # packs are named after what the packer was given
        for name in files:
            path = os.path.join(directory, name)
            info = os.lstat(path)
            found[path] = oct(info.st_mode), info.st_uid, info.st_gid, info.st_nlink
            if name in ("config", "config.worktree", ".git", "gitdir", "commondir", "HEAD",
                        "packed-refs", "alternates", ".gitmodules"):
                found[path, "text"] = open(path).read()
    return found


def compare(fx, script, cwd=None, top=None, flags=()):
    """Run script natively and inside, from the same start, at the same place."""
    top = top or fx.home
    start = fx.dir / "start"
    shutil.copytree(top, start, symlinks=True)
    result = fx.run(*native("bash", "-c", script), cwd=cwd, env=ENV, timeout=120)
    equal(result.status, 0, f"the control: {result.stderr}")
    want = facts(fx, top)
    shutil.rmtree(top)
    shutil.copytree(start, top, symlinks=True)
    result = fx.sandbash("--consent=deny", *flags, "bash", "-c", script, cwd=cwd, env=ENV,
                         timeout=120)
    equal(result.status, 0, f"inside: {result.stderr}")
    lacks(result.stderr, "refused")
    got = facts(fx, top)
    for key in sorted(want.keys() | got.keys(), key=str):
        if ".local/state" in str(key) or ".config/sandbash" in str(key):
            continue
        equal(got.get(key), want.get(key), str(key))
    check(len(want) > 20, "there was something to compare")


@test("a session with everything, in a repository made inside", variants=("full", "flat"))
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


@test("a linked worktree as the project: git's data lies outside it", variants=("full", "flat"))
def linked(fx):
    main = fx.home / "main"
    fx.git_project()
    fx.project.rename(main)
    equal(fx.run("git", "worktree", "add", "-q", fx.project, "-b", "work", cwd=main).status, 0)
    compare(fx, HEAD + WORK + "git gc -q\n", cwd=fx.project)


@test("a submodule as the project: git's data lies outside it", variants=("full", "flat"))
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
