"""P3: every name that the installed git writes inside a git directory is one that we know.

Traces a session of git, without a sandbox, and takes every name that is created, written or
renamed onto inside a git directory.  Each must be known: a row of the guard's table whose content
is checked, or one of KNOWN, which nobody runs.  A new git that writes something else fails here,
and somebody has to find out what git does with it.  What git writes under checked names is given to
the check after every command: all of it must land unasked.
"""

import re
import shutil
from pathlib import Path

from tap import check, equal, run_all, skip, test

# Relative to a git directory.  Nothing in them names a program, or leads git elsewhere.
KNOWN = [re.compile(f"(?:{pattern})\\Z") for pattern in (
    r"branches|hooks|info|logs|objects|refs|worktrees|modules|modules/.*|worktrees/[^/]+",
    r"(HEAD|[A-Z_]+_HEAD|index|config|config\.worktree|packed-refs|shallow)(\.lock)?",
    r"(objects|refs|logs|rr-cache|lost-found)/.*|rr-cache",
    r"packed-refs\.new|description|gc\.(pid|log)(\.lock)?|sharedindex\.\w+|next-index-\d+\.lock",
    r"hooks/[a-z-]+\.sample|info/(exclude|attributes|refs|refs_\w+|sparse-checkout(\.lock)?)",
    r"(COMMIT_EDITMSG|MERGE_MSG|MERGE_MODE|MERGE_RR|SQUASH_MSG|AUTO_MERGE|MERGE_AUTOSTASH)(\.lock)?",
    r"(BISECT|NOTES)_[A-Z_]+(\.lock)?|NOTES_MERGE_WORKTREE/.*|EDIT_DESCRIPTION|ADD_EDIT\.patch|TAG_EDITMSG",
    r"t\w{6}",  # probes of the file system
    r"locked|rebase-(merge|apply)|sequencer|sequencer/(head|todo|abort-safety|done)(\.lock)?",
    r"sequencer/opts\.lock",
    r"rebase-merge/[a-zA-Z_-]+(\.backup)?(\.lock)?|rebase-apply/[\w.-]+",
    r"rebase-merge/sed\w{6}",  # our editor's
    r"index\.stash\.\d+(\.lock)?",
)]

FLAGS = re.compile(r"O_(WRONLY|RDWR|CREAT|TRUNC)")
PLACE = re.compile(r'(?:(?:AT_FDCWD|-?\d+)(?:<((?:[^<>\\]|\\.)*)>)?, )?"((?:[^"\\]|\\.)*)"')
OPENS = ("open", "openat", "creat")
MAKES = ("mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat", "link", "linkat", "rename",
         "renameat", "renameat2")


class Trace:
    """The names that one command and its children changed."""

    def __init__(self, directory):
        self.directory = directory
        self.files = {int(path.name.split(".")[-1]): path.read_text(errors="replace")
                      for path in directory.iterdir()}
        self.names = set()
        self.read = set()

    def follow(self, pid, cwd):
        if pid in self.read or pid not in self.files:
            return
        self.read.add(pid)
        for line in self.files[pid].splitlines():
            call, _, rest = line.partition("(")
            result = line.rpartition(" = ")[2]
            if not result[:1].isdigit():  # an error, or "?": tried again
                continue
            places = PLACE.findall(rest.rpartition(" = ")[0])
            if call in ("clone", "clone3", "fork", "vfork"):
                self.follow(int(result.split()[0].split("<")[0]), cwd)
            elif call == "chdir" and places:
                cwd = self.join(cwd, *places[0])
            elif places and (call in MAKES or call in OPENS and
                             (call == "creat" or FLAGS.search(rest))):
                directory = "/" if call.startswith("mkdir") else ""
                self.names.add(self.join(cwd, *places[-1]) + directory)

    @staticmethod
    def join(cwd, directory, path):
        whole = path if path.startswith("/") else f"{directory or cwd}/{path}"
        parts = []
        for part in whole.split("/"):
            if part == ".." and parts:
                parts.pop()
            elif part not in ("", ".", ".."):
                parts.append(part)
        return "/" + "/".join(parts)


def traced(fx, cwd, *words, env=None):
    """Run a command and say which names it changed."""
    place = fx.dir / "trace"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    result = fx.run("strace", "-ff", "-qq", "-y", "-s", "4096", "-e",
                    "trace=?open,openat,?creat,?mkdir,mkdirat,?mknod,mknodat,?symlink,symlinkat,"
                    "?link,linkat,?rename,?renameat,renameat2,chdir,clone,clone3,?fork,?vfork",
                    "-o", str(place / "t"), *words, cwd=cwd, env=env)
    equal(result.status, 0, " ".join(map(str, words)) + ": " + result.stderr)
    trace = Trace(place)
    for pid in sorted(trace.files):
        trace.follow(pid, str(cwd))
    return trace.names


def inside(name):
    """The part of a path that is relative to the innermost git directory, or None."""
    for marker in ("/.git/", "/bare.git/"):
        if marker in name:
            name = name.rpartition(marker)[2]
            break
    else:
        return None
    # linked worktrees and submodules are git directories in a git directory
    match = re.match(r"(?:worktrees/[^/]+|modules/[^/]+)/(.+)", name)
    return match.group(1) if match else name


def judged(fx, paths):
    """"plain", "check" or "ask" and the pattern, for each."""
    verdicts = fx.run(fx.tool("guarded"), "judge", input="\n".join(paths) + "\n").stdout.splitlines()
    equal(len(verdicts), len(paths))
    return verdicts


class Contents:
    """What lies under checked names, before and after a command."""

    def __init__(self, fx, top):
        self.fx, self.top, self.checked = fx, top, 0
        self.before = fx.dir / "before"
        self.before.mkdir()

    def check(self, paths, words):
        paths = sorted(path for path in paths if Path(path).is_file())
        for path, verdict in zip(paths, judged(self.fx, paths) if paths else ()):
            if not verdict.startswith("check"):
                continue
            old = self.before / path.replace("/", "%")
            answer = self.fx.run(self.fx.tool("guarded"), "content", self.top, old, path).stdout
            equal(answer.split()[0], "plain", f"{' '.join(words)}: {path}: {answer}")  # a note may follow
            shutil.copyfile(path, old)
            self.checked += 1


def session(fx, names):
    """Every command that has to work unasked, in a repository with a linked worktree and more."""
    top = fx.home / "traced"
    top.mkdir()
    (top / "edit").write_text("#!/bin/sh\nsed -i '2s/^pick/squash/' \"$1\"\n")
    (top / "edit").chmod(0o755)
    env = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
           "GIT_COMMITTER_EMAIL": "a@b", "GIT_EDITOR": "true",
           "GIT_SEQUENCE_EDITOR": str(top / "edit"), "GIT_CONFIG_NOSYSTEM": "1"}
    work = top / "work"

    contents = Contents(fx, top)

    def git(*words, cwd=work):
        written = traced(fx, cwd, "git", "-c", "protocol.file.allow=always", *words, env=env)
        contents.check(written, words)
        names.update(written)

    def commit(text, cwd=work):
        (cwd / text).write_text(text)
        git("add", text, cwd=cwd)
        git("commit", "-qm", text, cwd=cwd)

    git("init", "-q", "-b", "main", "source", cwd=top)
    commit("one", cwd=top / "source")
    git("init", "-q", "--bare", "bare.git", cwd=top)
    git("clone", "-q", "source", "work", cwd=top)
    for text in ("two", "three", "four"):
        commit(text)
    git("commit", "-q", "--amend", "-m", "again")
    git("branch", "other", "HEAD~1")
    git("rebase", "-q", "-i", "HEAD~2")
    git("switch", "-q", "other")
    commit("five")
    git("rebase", "-q", "main")
    git("switch", "-q", "main")
    git("merge", "-q", "--no-ff", "other")
    git("cherry-pick", "-x", "--allow-empty", "--keep-redundant-commits", "other", "other~1")
    commit("eight")
    git("revert", "--no-edit", "HEAD")
    (work / "two").write_text("changed")
    git("stash")
    git("stash", "pop")
    git("checkout", "-q", "two")
    git("tag", "-a", "-m", "t", "v1")
    git("notes", "add", "-m", "n")
    git("remote", "add", "bare", str(top / "bare.git"))
    git("push", "-q", "-u", "bare", "main", "v1")
    git("fetch", "-q", "bare")
    git("pull", "-q", "--rebase", "bare", "main")
    git("config", "user.name", "a b")
    git("sparse-checkout", "set", "--no-cone", "/*")
    git("sparse-checkout", "disable")
    git("bisect", "start", "HEAD", "HEAD~2")
    git("bisect", "reset")
    git("worktree", "add", "-q", "../tree")
    commit("six", cwd=top / "tree")
    git("config", "--worktree", "user.email", "a@b", cwd=top / "tree")
    git("rebase", "-q", "-i", "HEAD~1", cwd=top / "tree")
    git("worktree", "lock", "../tree")
    git("worktree", "unlock", "../tree")
    git("worktree", "remove", "../tree")
    git("worktree", "prune")
    git("submodule", "--quiet", "add", str(top / "source"), "sub")
    git("commit", "-qm", "sub")
    commit("seven", cwd=work / "sub")
    git("submodule", "--quiet", "update", "--init")
    git("gc", "-q")
    git("repack", "-q", "-a", "-d")
    git("reflog", "expire", "--expire=now", "--all")
    git("status")
    check(contents.checked > 15, "contents were checked")


@test("P3 git: the installed git writes no name that we do not know")
def names_are_known(fx):
    if not shutil.which("strace") or fx.run("strace", "-qq", "-o", "/dev/null", "true").status:
        skip("strace cannot trace here")
    names = set()
    session(fx, names)
    paths = sorted(name for name in names if inside(name.rstrip("/")) is not None)
    check(len(paths) > 200, "the trace has names")
    verdicts = judged(fx, paths)
    unknown = [f"{name} ({verdict})" for name, verdict in zip(paths, verdicts)
               if verdict.startswith("ask") or
               verdict.startswith("plain") and not any(p.match(inside(name.rstrip("/"))) for p in KNOWN)]
    equal(unknown, [], "names that git writes and we do not know")
    seen = {verdict.split()[1] for verdict in verdicts if verdict.startswith("check")}
    for pattern in ("<git>/config", "commondir", "worktrees/*/gitdir", "config.worktree",
                    "rebase-merge/git-rebase-todo"):
        check(pattern in seen, f"git wrote {pattern}")


run_all()
