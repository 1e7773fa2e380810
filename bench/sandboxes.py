"""
sandboxes.py - the three ways to run a command that are compared: natively, under
bubblewrap, under sandbash.

    ground = Ground(directory)            a fresh home, and room for projects in it
    project = ground.project("name")
    sandbox.command(project, argv)        the words that start argv there
    prove(sandbox, ground, project)       it confines, or it is not worth timing

Bubblewrap is told to do what sandbash does by itself: the same namespaces, everything
read-only but the project, private /tmp and /dev/shm, the same secrets hidden and the
same guarded names fixed.  What it cannot do (Landlock) or is not given (a seccomp filter)
makes it faster, never slower.
"""
import os
import shutil
import subprocess

NAMESPACES = ("user", "mnt", "ipc")


class Wrong(Exception):
    """An act did not have the expected result, so its time means nothing."""


class Project:
    """A directory to work in, and what beside it a sandbox must hide or hold still."""

    def __init__(self, path):
        self.path = path
        self.hidden = []  # directories with secrets
        self.pinned = []  # writable, but must not be renamed away
        self.fixed = []   # read-only though inside the project
        self.rules = []   # options that only sandbash knows


class Ground:
    """A home of our own on one filesystem.  Nothing of the real home is touched or read."""

    def __init__(self, directory, programs):
        self.home = os.path.join(directory, "home")
        self.programs = programs
        self.log = os.path.join(directory, "stderr")
        os.mkdir(self.home, 0o755)
        with open(os.path.join(self.home, ".gitconfig"), "w") as f:
            f.write("[user]\n\tname = Bench\n\temail = bench@example.com\n"
                    "[gc]\n\tauto = 0\n[init]\n\tdefaultBranch = main\n")
        # TMPDIR and XDG_* stay out: everyone gets the defaults.
        self.environment = {
            "HOME": self.home,
            "PATH": os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def project(self, name):
        path = os.path.join(self.home, name)
        os.mkdir(path, 0o755)
        return Project(path)

    def run(self, argv, directory):
        """Run argv to its end; returns its stdout, or raises Wrong."""
        done = subprocess.run(argv, cwd=directory, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise Wrong("'%s' ended with status %d in '%s'\n%s" % (
                " ".join(argv[:3]), done.returncode, directory, done.stderr.strip()))
        return done.stdout


class Native:
    name = "native"
    confines = False

    def command(self, project, argv):
        return list(argv)


class Bubblewrap:
    name = "bwrap"
    confines = True

    def __init__(self, program):
        self.program = program
        self.all = False  # every namespace it has: what a supervised run is held against

    def command(self, project, argv):
        words = [self.program, "--unshare-user", "--unshare-ipc", "--ro-bind", "/", "/",
                 "--dev-bind", "/dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/dev/shm",
                 "--bind", project.path, project.path]
        if self.all:
            words[1:3] = ["--unshare-all", "--die-with-parent"]
            words += ["--proc", "/proc"]
        for path in project.pinned:
            words += ["--bind", path, path]
        for path in project.fixed:
            words += ["--ro-bind", path, path]
        for path in project.hidden:
            words += ["--tmpfs", path]
        return words + ["--chdir", project.path] + list(argv)


class Sandbash:
    name = "sandbash"
    confines = True

    def __init__(self, program, supervised=False):
        self.program = program
        self.flags = ["--quiet"] if supervised else ["--static"]

    def command(self, project, argv):
        return [self.program] + self.flags + project.rules + list(argv)


def add_guarded_things(ground, project):
    """What a usual project and home hold: a git repository, and keys."""
    ground.run(["git", "init", "-q"], project.path)
    git = os.path.join(project.path, ".git")
    os.makedirs(os.path.join(git, "hooks"), exist_ok=True)
    project.pinned.append(git)
    project.fixed += [os.path.join(git, "hooks"), os.path.join(git, "config")]
    for name in (".ssh", ".aws", ".gnupg"):
        directory = os.path.join(ground.home, name)
        os.makedirs(directory, 0o700, exist_ok=True)
        for secret in ("id_ed25519", "credentials"):
            with open(os.path.join(directory, secret), "w") as f:
                f.write("secret\n")
        project.hidden.append(directory)


PROBE = """
echo inside > probe-inside || exit 1
for path; do
    case $path in
    secret:*) read word < "${path#secret:}" && echo "read ${path#secret:}" ;;
    *) echo outside > "$path" && echo "wrote $path" ;;
    esac
done 2> /dev/null
for name in %s; do echo "ns $name $(readlink /proc/self/ns/$name)"; done
""" % " ".join(NAMESPACES)


def prove(sandbox, ground, project):
    """
    Check that the sandbox refuses what it should and allows the neighbour, and that the same
    acts work natively.  Returns the namespaces that it does not share with us.
    """
    outside = os.path.join(ground.home, "probe-outside")
    in_tmp = "/tmp/probe-" + os.path.basename(os.path.dirname(ground.home))
    writes = [outside] + [path + "/probe" for path in project.fixed if os.path.isdir(path)]
    secrets = [os.path.join(path, "id_ed25519") for path in project.hidden]
    said = ground.run(
        sandbox.command(project, ["sh", "-c", PROBE, "probe"] + writes + [in_tmp]
                        + ["secret:" + path for path in secrets]), project.path).splitlines()
    try:
        if not os.path.exists(os.path.join(project.path, "probe-inside")):
            raise Wrong("%s: a write inside the project did not arrive" % sandbox.name)
        for path in writes + [in_tmp]:
            if os.path.exists(path) == sandbox.confines:
                raise Wrong("%s: a write to '%s' %s" % (
                    sandbox.name, path, "got out" if sandbox.confines else "failed"))
        for path in secrets:
            if ("read " + path in said) == sandbox.confines:
                raise Wrong("%s: reading '%s' %s" % (
                    sandbox.name, path, "worked" if sandbox.confines else "failed"))
    finally:
        for path in writes + [in_tmp, os.path.join(project.path, "probe-inside")]:
            if os.path.exists(path):
                os.unlink(path)
    own = {name: os.readlink("/proc/self/ns/" + name) for name in NAMESPACES}
    seen = dict(line.split()[1:] for line in said if line.startswith("ns ") and line.count(" ") == 2)
    return [name for name in NAMESPACES if seen.get(name, own[name]) != own[name]]


def find_bubblewrap(ground):
    """Bubblewrap and None, or None and a sentence that says why it is left out."""
    program = shutil.which("bwrap")
    if not program:
        return None, "bubblewrap is not installed, so there is nothing to compare with"
    bwrap = Bubblewrap(program)
    try:
        prove(bwrap, ground, ground.project("bwrap-probe"))
    except Wrong as why:
        return None, "bubblewrap does not work here: " + str(why).splitlines()[-1]
    return bwrap, None
