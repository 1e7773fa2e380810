"""
cases.py - what is measured after the launch: a preparation, the timed steps of a round, and
the checks that each step did its work.

The sandboxes take turns step by step, each in its own project, and each round begins with
another one: a busy moment of the machine hits them all alike.  bench/acts.c does the timing,
from inside.
"""
import os
import shutil
import subprocess
import time

from sandboxes import Wrong, add_guarded_things

FILES_PER_DIRECTORY = 50  # as in acts.c


def write_numbered_files(directory, count, size):
    """dDDD/fNNNNN, each beginning with its number; returns their names."""
    names = []
    for i in range(count):
        name = "d%03d/f%05d" % (i // FILES_PER_DIRECTORY, i)
        os.makedirs(os.path.join(directory, os.path.dirname(name)), exist_ok=True)
        with open(os.path.join(directory, name), "w") as f:
            f.write(("%d\n" % i).ljust(size, "."))
        names.append(name)
    return names


class Case:
    """One row.  A sample is the time of a round divided by `acts`, in `unit`."""
    acts = 1        # how many acts one round holds
    rounds = 100    # at most; quick_rounds with --quick
    quick_rounds = 30
    seconds = 10    # stop after this long, once there are min_rounds
    quick_seconds = 3
    min_rounds = 3
    warm_up = 5     # steps of a first round that does not count
    shared = False  # whether all work in one project
    supervised = False  # whether it tells nothing about a static run
    directory = "."  # of the project: where the acts are done

    def __init__(self, name, title, budget=None):
        self.name = name
        self.title = title
        self.budget = budget

    def prepare(self, ground, project):
        pass

    def before_round(self, project):
        pass

    def steps(self):
        return ["go"]

    def check(self, project, step):
        """Called after each step, outside the measured time; raises Wrong."""


class Read(Case):
    acts, unit = 1000, "us"
    arguments = ["read", "1000"]
    rounds, quick_rounds = 1500, 300
    shared = True  # three copies of the files would lie differently in the CPU's caches

    def prepare(self, ground, project):
        write_numbered_files(project.path, self.acts, 4096)


class Create(Case):
    acts, unit = 200, "us"
    arguments = ["create", "200"]
    rounds, quick_rounds = 400, 100

    def check(self, project, step):
        left = os.listdir(project.path)
        if left:
            raise Wrong("files are left after create and unlink: %s" % left[:3])


class CreateFast(Create):
    """In a directory that a rule makes fast; natively and in bubblewrap, one like any other."""
    supervised = True
    directory = "out"

    def prepare(self, ground, project):
        os.mkdir(os.path.join(project.path, self.directory))
        project.rules.append("--rule=fast " + self.directory)

    def check(self, project, step):
        left = os.listdir(os.path.join(project.path, self.directory))
        if left:
            raise Wrong("files are left after create and unlink: %s" % left[:3])


class CreateMany(Create):
    """20,000 names in one go, beside a repository whose names are guarded."""
    acts = 20000
    arguments = ["create", "20000"]
    rounds, quick_rounds = 12, 3
    seconds, quick_seconds = 20, 6
    min_rounds = 2
    warm_up = 0

    def prepare(self, ground, project):
        add_guarded_things(ground, project)

    def check(self, project, step):
        left = [name for name in os.listdir(project.path) if name != ".git"]
        if left:
            raise Wrong("files are left after create and unlink: %s" % left[:3])


class Spawn(Case):
    acts, unit = 20, "ms"
    arguments = ["spawn", "20"]
    rounds, quick_rounds = 100, 30


class Compile(Case):
    unit = "ms"
    arguments = ["run"]
    rounds, quick_rounds = 12, 2
    seconds, quick_seconds = 45, 8
    min_rounds = 2
    files = 50

    def prepare(self, ground, project):
        for i in range(self.files):
            with open(os.path.join(project.path, "f%02d.c" % i), "w") as f:
                f.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n")
                for j in range(10):
                    f.write("int f%d_%d(const char *s)\n{\n\tint sum = %d;\n\n"
                            "\tfor (size_t i = 0; i < strlen(s); i++)\n\t\tsum += s[i];\n"
                            "\tprintf(\"%%d\\n\", sum);\n\treturn sum;\n}\n\n" % (i, j, j))

    def before_round(self, project):
        for name in os.listdir(project.path):
            if name.endswith(".o"):
                os.unlink(os.path.join(project.path, name))

    def steps(self):
        return ["exec cc -c -O0 f%02d.c -o f%02d.o" % (i, i) for i in range(self.files)]

    def check(self, project, step):
        with open(os.path.join(project.path, step.split()[-1]), "rb") as f:
            if f.read(4) != b"\x7fELF":
                raise Wrong("'%s' made no object file" % step)


class Git(Case):
    """
    In a repository at the top of the project, so that its hooks and config are guarded.  No step
    makes or removes a directory: a new one sends ext4 to a far part of the disk, and we would
    time the disk.
    """
    unit = "ms"
    arguments = ["run"]
    rounds, quick_rounds = 20, 5
    seconds, quick_seconds = 25, 5
    warm_up = 0  # preparing it ran the same commands
    files = 1000

    def prepare(self, ground, project):
        add_guarded_things(ground, project)
        for i in range(self.files // FILES_PER_DIRECTORY):
            os.mkdir(os.path.join(project.path, "d%03d" % i))
            with open(os.path.join(project.path, "d%03d" % i, "keep"), "w") as f:
                f.write("keeps its directory\n")
        for i in range(256):
            os.makedirs(os.path.join(project.path, ".git/objects/%02x" % i), exist_ok=True)
        ground.run(["git", "add", "-A"], project.path)
        ground.run(["git", "commit", "-q", "-m", "start"], project.path)
        ground.run(["git", "branch", "start"], project.path)
        project.kept = self.objects(project)
        with open(os.path.join(project.path, ".git/refs/heads/start")) as f:
            project.start = f.read()
        write_numbered_files(project.path, self.files, 600)

    @staticmethod
    def objects(project):
        """Names of all objects, relative to the project."""
        return {os.path.relpath(os.path.join(directory, name), project.path)
                for directory, _, names in os.walk(os.path.join(project.path, ".git/objects"))
                for name in names}

    def before_round(self, project):
        """Back to the first commit with all files untracked; from outside, so it is not timed."""
        for name in self.objects(project) - project.kept:
            os.unlink(os.path.join(project.path, name))
        with open(os.path.join(project.path, ".git/refs/heads/main"), "w") as f:
            f.write(project.start)
        os.unlink(os.path.join(project.path, ".git/index"))

    def steps(self):
        return ["git add -A", "git commit -q -m all", "git checkout -q start",
                "git checkout -q main"]

    def check(self, project, step):
        found = sum(name != "keep" for i in range(self.files // FILES_PER_DIRECTORY)
                    for name in os.listdir(os.path.join(project.path, "d%03d" % i)))
        if found != (0 if step.endswith("start") else self.files):
            raise Wrong("after '%s' there are %d files" % (step, found))
        if step.endswith("-A") and len(self.objects(project) - project.kept) != self.files:
            raise Wrong("'%s' did not make one object per file" % step)
        if step.endswith("all"):
            with open(os.path.join(project.path, ".git/refs/heads/main")) as f:
                if f.read() == project.start:
                    raise Wrong("'%s' made no commit" % step)
        if step.endswith("main"):
            with open(os.path.join(project.path, "d000/f00007")) as f:
                if f.readline() != "7\n":
                    raise Wrong("'%s' wrote the wrong bytes" % step)


class Tree(Case):
    """
    A tree such as sources have: 1000 files of different sizes in 100 directories, some of them deep,
    links and modes.  One command that makes, copies or removes all of it.
    """
    unit = "ms"
    arguments = ["run"]
    rounds, quick_rounds = 40, 8
    seconds, quick_seconds = 20, 5
    files = 1000
    STEPS = {"tar": "tar xf tree.tar", "cp": "cp -a kept tree", "rm": "rm -rf tree"}

    def __init__(self, name, title, tool, budget=None):
        super().__init__(name, title, budget)
        self.tool = tool

    def prepare(self, ground, project):
        for i in range(self.files):
            directory = os.path.join(project.path, "kept", "a%d" % (i % 10), "b%d" % (i % 100 // 10),
                                     *["deep"] * (i % 3))
            os.makedirs(directory, exist_ok=True)
            name = os.path.join(directory, "f%04d" % i)
            with open(name, "w") as f:
                f.write("%d\n" % i + "." * (i * 37 % 16384))
            os.chmod(name, 0o755 if i % 7 == 0 else 0o644)
            if i % 50 == 0:
                os.symlink("f%04d" % i, os.path.join(directory, "link%04d" % i))
        os.rename(os.path.join(project.path, "kept"), os.path.join(project.path, "tree"))
        ground.run(["tar", "cf", "tree.tar", "tree"], project.path)
        os.rename(os.path.join(project.path, "tree"), os.path.join(project.path, "kept"))

    def before_round(self, project):
        tree = os.path.join(project.path, "tree")
        if self.tool != "rm":
            shutil.rmtree(tree, ignore_errors=True)
        elif not os.path.exists(tree):
            shutil.copytree(os.path.join(project.path, "kept"), tree, symlinks=True)

    def steps(self):
        return [self.STEPS[self.tool]]

    def check(self, project, step):
        found = sum(len(names) for _, _, names in os.walk(os.path.join(project.path, "tree")))
        if found != (0 if self.tool == "rm" else self.files + self.files // 50):
            raise Wrong("after '%s' there are %d files" % (step, found))


class Worker:
    """bench/acts.c, resident in one sandbox."""

    def __init__(self, sandbox, ground, project, case):
        words = [os.path.join(ground.programs, "acts")] + case.arguments
        if case.directory != ".":
            words = ["env", "-C", case.directory] + words
        self.name = sandbox.name
        self.project = project
        self.log = "%s.%s" % (ground.log, sandbox.name)
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                sandbox.command(project, words),
                cwd=project.path, env=ground.environment, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=log)

    def time_ns(self, step):
        try:
            self.process.stdin.write(step.encode() + b"\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        if not answer:
            with open(self.log) as log:
                raise Wrong("%s: '%s' failed\n%s" % (self.name, step, log.read().strip()))
        return int(answer)

    def end(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()  # it ends at the end of its stdin
        self.process.stdout.close()


NS_PER = {"ns": 1, "us": 1e3, "ms": 1e6}


def measure(case, sandboxes, ground, quick):
    """Samples per sandbox name, in the case's unit."""
    rounds = case.quick_rounds if quick else case.rounds
    limit = case.quick_seconds if quick else case.seconds
    samples = {sandbox.name: [] for sandbox in sandboxes}
    workers = []
    try:
        for sandbox in sandboxes:
            if not workers or not case.shared:
                project = ground.project("%s-%s" % (case.name, sandbox.name))
                case.prepare(ground, project)
            workers.append(Worker(sandbox, ground, project, case))
        start = time.monotonic()
        for i in range(-1 if case.warm_up else 0, rounds):
            total = dict.fromkeys(samples, 0)
            for worker in workers:
                case.before_round(worker.project)
            for j, step in enumerate(case.steps()[:case.warm_up if i < 0 else None]):
                first = (i + j) % len(workers)
                for worker in workers[first:] + workers[:first]:
                    total[worker.name] += worker.time_ns(step)
                    case.check(worker.project, step)
            if i < 0:
                continue
            for name in samples:
                samples[name].append(total[name] / case.acts / NS_PER[case.unit])
            if i + 1 >= case.min_rounds and time.monotonic() - start > limit:
                break
    finally:
        for worker in workers:
            worker.end()
    return samples


class Commit(Case):
    """git commit alone, of nothing: what git itself writes for one, guarded names among it."""
    unit = "ms"
    arguments = ["run"]
    rounds, quick_rounds = 60, 10
    seconds, quick_seconds = 15, 4

    def prepare(self, ground, project):
        add_guarded_things(ground, project)
        ground.run(["git", "commit", "-q", "--allow-empty", "-m", "start"], project.path)

    def before_round(self, project):
        project.before = self.head(project)

    @staticmethod
    def head(project):
        with open(os.path.join(project.path, ".git/logs/HEAD")) as f:
            return f.read().count("\n")

    def steps(self):
        return ["git commit -q --allow-empty -m more"]

    def check(self, project, step):
        if self.head(project) <= project.before:
            raise Wrong("'%s' made no commit" % step)
