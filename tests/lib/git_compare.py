"""git_compare.py - the same work with git, natively and inside: no question, the same repository.

Nobody can be asked (--consent=deny), so a command that needed a question would fail.  Times and
names are fixed, so equal work gives equal hashes; both runs happen at the same path, so equal
configuration is equal text.
"""

import os
import shutil

from compare import native
from tap import check, equal, lacks

DATE = "2024-01-01T00:00:00Z"
ENV = {"GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE, "GIT_CONFIG_GLOBAL": "/dev/null"}

# Stands at the top of each session: fails at the first command that fails, and names it.
HEAD = """set -e
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
g() { git -c protocol.file.allow=always "$@"; }
"""

# A variant of tests that only compare(): on both kinds of machine, with what was done natively once.
EACH = "each"

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
        if bare and os.path.basename(directory) == ".git":
            continue  # the same repository as in the directory above, which was asked
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


def compare(fx, script, cwd=None, top=None, flags=(), without=()):
    """Run script natively and inside, from the same start, at the same place.

    without: parts of paths that differ by nature, say by a process's number.
    """
    top = top or fx.home
    start = fx.dir / "start"
    shutil.copytree(top, start, symlinks=True)
    result = fx.run(*native("bash", "-c", script), cwd=cwd, env=ENV, timeout=120)
    equal(result.status, 0, f"the control: {result.stderr}")
    want = facts(fx, top)
    for variant in ("full", "flat") if fx.variant == EACH else (fx.variant,):
        shutil.rmtree(top)
        shutil.copytree(start, top, symlinks=True)
        result = fx.sandbash("--consent=deny", *flags, "bash", "-c", script, cwd=cwd, env=ENV,
                             timeout=120, variant=variant)
        equal(result.status, 0, f"inside, {variant}: {result.stderr}")
        lacks(result.stderr, "refused", variant)
        got = facts(fx, top)
        for key in sorted(want.keys() | got.keys(), key=str):
            if any(part in str(key) for part in (".local/state", ".config/sandbash", *without)):
                continue
            equal(got.get(key), want.get(key), f"{variant}: {key}")
    check(len(want) > 20, "there was something to compare")


# For one test: an empty repository.  core.editor asks, so that the editor comes by the environment.
START = HEAD + """
export GIT_EDITOR=true GIT_MERGE_AUTOEDIT=no
git init -q -b main .; git config user.name Somebody; git config user.email somebody@example.org
commit() { echo "$2" >"$1"; git add "$1"; git commit -q -m "${3:-$1 $2}"; }
stops() { ! "$@" >/dev/null 2>&1; }
"""

# Two branches that change one line.
CONFLICT = START + """
commit f base; commit g base
git switch -q -c side; commit f side; commit h side
git switch -q main; commit f main
"""
