"""
workers.py - how long a worker takes to start, against bubblewrap and runc with the same view: the same directories,
a read-only system, an /etc of the same parts, devices, /proc and /tmp of its own, every namespace.

A user who gives each document to a worker of its own waits for this.  Beside the others sandbash has a supervisor and a
record.
"""

import json
import os
import shutil
import subprocess

from sandboxes import Native, Wrong

PROJECT = "sandbox: {mode: direct, zones: {input: {path: ./in, mode: ro}, output: {path: ./out, mode: rw}}}\n"
WORKER = """---
sandbox:
  zones:
    - {name: input}
    - {name: output, mode: rw, approval: {write: preApproved, delete: preApproved}}
---
"""
PROBE = "echo inside > /output/probe && ! { echo x > /input/probe; } 2>/dev/null && ls /"
ETC = [path for path in ("/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/passwd",
                         "/etc/group", "/etc/nsswitch.conf", "/etc/os-release") if os.path.exists(path)]
LINKS = [name for name in ("bin", "sbin", "lib", "lib64", "lib32") if os.path.islink("/" + name)]


class Worker:
    name = "sandbash"

    def __init__(self, program):
        self.program = program

    def command(self, project, argv):
        return [self.program, "--quiet", "--worker=w.worker", "--"] + argv


class World:
    """Bubblewrap's."""
    name = "bwrap"

    def __init__(self, program):
        self.program = program

    def command(self, project, argv):
        words = [self.program, "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr"]
        for name in LINKS:
            words += ["--symlink", os.readlink("/" + name), "/" + name]
        for path in ETC:
            words += ["--ro-bind", path, path]
        return words + ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp",
                        "--ro-bind", project.path + "/in", "/input", "--bind", project.path + "/out", "/output"] + argv


class Container:
    """runc's, without root; in the column of bubblewrap."""
    name = "bwrap"

    def __init__(self, program):
        self.program = program
        self.made = 0

    def command(self, project, argv):
        self.made += 1
        bundle = os.path.join(project.path, "bundle%d" % self.made)
        root = os.path.join(bundle, "root")
        os.makedirs(root)
        subprocess.run([self.program, "spec"] + (["--rootless"] if os.getuid() else []), cwd=bundle, check=True)
        with open(os.path.join(bundle, "config.json")) as file:
            config = json.load(file)
        config["process"].update(args=argv, terminal=False)
        config["root"] = {"path": "root", "readonly": True}
        config["mounts"] = [mount for mount in config["mounts"] if mount["destination"] in ("/proc", "/dev", "/dev/pts", "/dev/shm")]
        shown = [("/usr", "/usr", "ro"), (project.path + "/in", "/input", "ro"), (project.path + "/out", "/output", "rw")]
        for source, target, how in shown + [(path, path, "ro") for path in ETC]:
            config["mounts"].append({"source": source, "destination": target, "type": "bind", "options": ["rbind", how]})
        config["mounts"] += [{"destination": path, "type": "tmpfs", "source": "tmpfs"} for path in ("/tmp", "/var/tmp")]
        for name in LINKS:
            os.symlink(os.readlink("/" + name), os.path.join(root, name))
        with open(os.path.join(bundle, "config.json"), "w") as file:
            json.dump(config, file)
        return [self.program, "--root", os.path.join(bundle, "state"), "run", "--bundle", bundle, "b%d" % os.getpid()]


def measure(ground, name, sandboxes, rounds):
    """Milliseconds by sandbox."""
    project = ground.project(name)
    for path, text in (("sandbash.yaml", PROJECT), ("w.worker", WORKER), ("in/data", "x\n"), ("out/data", "x\n")):
        os.makedirs(os.path.dirname(os.path.join(project.path, path)), exist_ok=True)
        with open(os.path.join(project.path, path), "w") as file:
            file.write(text)
    words = [os.path.join(ground.programs, "launch"), str(rounds)]
    for sandbox in sandboxes:
        if not isinstance(sandbox, Native):
            seen = ground.run(sandbox.command(project, ["sh", "-c", PROBE]), project.path).split()
            if "input" not in seen or "home" in seen or not os.path.exists(project.path + "/out/probe"):
                raise Wrong("%s shows another world: %s" % (type(sandbox).__name__, seen))
        words += ["::"] + sandbox.command(project, ["true"])
    lines = ground.run(words, project.path).splitlines()
    columns = zip(*(map(int, line.split()) for line in lines))
    return {sandbox.name: [ns / 1e6 for ns in column] for sandbox, column in zip(sandboxes, columns)}


CASES = (("launch-worker", "launch, worker", "bwrap", World, 1.0, 0.6, 1),
         ("launch-worker-runc", "launch, worker against runc", "runc", Container, 0.2, 0.1, 8))


def rows(ground, chosen, rounds, make_row, notes):
    """The rows of the report that are wanted."""
    found = []
    for name, title, program, kind, must, goal, fewer in CASES:
        path = shutil.which(program)
        if not chosen.wants(name):
            continue
        if not path:
            notes.append("%s: there is no %s here" % (title, program))
            continue
        try:
            samples = measure(ground, name, [Native(), kind(path), Worker(chosen.installed)], rounds // fewer)
        except (Wrong, subprocess.CalledProcessError) as error:
            notes.append("%s: %s" % (title, str(error).splitlines()[0]))
            continue
        found.append(make_row(name, title, "ms", {"against": "bwrap", "must": must, "goal": goal}, samples))
    return found
