"""zone_repo.py - a repository outside the project, and what sandbash --git does with it."""

from person import Person
from tap import equal

PROJECT = "sandbox:\n  zones:\n    input: {mode: ro}\n    desk: {mode: rw}\n    other: {mode: rw}\n"


class Repo:
    """A repository outside the project, made by plumbing: what no honest git would make as well."""

    def __init__(self, fx, name="r.git", bare=True, flags=()):
        self.fx, self.path = fx, fx.outside / name
        self.git_dir = self.path if bare else self.path / ".git"
        fx.run("git", "init", "-q", "-b", "main", *(["--bare"] if bare else []), *flags, self.path)

    def git(self, *words, input=None, check=True):
        done = self.fx.run("git", "--git-dir", self.git_dir, *words, input=input)
        if check:
            equal(done.status, 0, f"git {words}: {done.stderr}")
        return done.stdout.strip()

    def blob(self, data):
        return self.git("hash-object", "-w", "--stdin", input=data)

    def tree(self, *entries):
        """(mode, name, oid)..."""
        lines = b"".join(b"%s %s %s\t%s\0" % (
            mode.encode(), {"040000": b"tree", "160000": b"commit"}.get(mode, b"blob"), oid.encode(),
            name if isinstance(name, bytes) else name.encode()) for mode, name, oid in entries)
        return self.git("mktree", "-z", "--missing", input=lines)

    def commit(self, tree, branch="main", message="made"):
        old = self.git("rev-parse", "-q", "--verify", f"refs/heads/{branch}", check=False)
        made = self.git("commit-tree", tree, "-m", message, *(["-p", old] if old else []))
        self.git("update-ref", f"refs/heads/{branch}", made)
        return made

    def fill(self):
        """src/a.c and run.sh, which is executable."""
        return self.commit(self.tree(("100755", "run.sh", self.blob("#!/bin/sh\n")),
                                     ("040000", "src", self.tree(("100644", "a.c", self.blob("one\n"))))))

    def refs(self):
        return dict(reversed(line.split()) for line in
                    self.git("for-each-ref", "--format=%(objectname) %(refname)").splitlines())

    def show(self, what):
        return self.git("show", what)


def set_up(fx, **repo):
    fx.write("sandbash.yaml", PROJECT)
    made = Repo(fx, **repo)
    made.fill()
    return made


def git(fx, *words, status=0, **how):
    done = fx.sandbash("--git", *words, **how)
    equal(done.status, status, done.stderr + done.stdout)
    return done


def stage(fx, repo, *words, **how):
    done = git(fx, "stage", "--from=/desk", f"--repo={repo.path}", "-m", "a change", *words, **how)
    return done.stdout.splitlines()[0]


def work(fx, name=""):
    return fx.project / ".sandbox/desk" / name


def push(fx, *words, key="1"):
    person = Person(fx, "--git", "push", *words)
    screen = person.answer(key, "push to")
    equal(person.end(), 0)
    return screen
