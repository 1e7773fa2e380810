"""Z2, Z3, Z4, Z7, Z9: --worker runs a command in a world that holds what the worker's file declares."""

import json
import os
import shutil
import socket

from person import Person
from runs import Run
from tap import BIN, SUPERVISED, check, contains, equal, lacks, run_all, skip, test
from workers import FINAL, INPUT, OUTPUT, declare, project, run, shell

SYSTEM = {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "dev", "proc", "tmp", "var"}


def set_up(fx, *zones, **more):
    if not SUPERVISED:
        skip("a worker needs a supervisor")
    project(fx)
    declare(fx, "w", *zones, **more)


@test("Z2 Discoverable Filesystem: / has the directories that are declared and a system, nothing else")
def root(fx):
    set_up(fx, INPUT, OUTPUT)
    result = shell(fx, "w", "ls /; ls /input; pwd; echo $HOME; ls /home /root /run /sys; true")
    names = result.stdout.split("\n")
    equal(set(names[:names.index("data.txt")]) - SYSTEM, {"input", "output"})
    contains(result.stdout, "\n/\n/tmp\n")
    equal(result.stderr.count("No such file"), 4, result.stderr)
    declare(fx, "none")
    equal(set(shell(fx, "none", "ls /").stdout.split()) - SYSTEM, set(), "nothing declared")


@test("Z2 what lies outside is not there by any name: home, project, other processes, descriptors")
def nothing_else(fx):
    set_up(fx, OUTPUT)
    secret = fx.write(fx.home / "secret", "hush\n")
    script = (f"cat {secret} /output/../secret /proc/1/root{secret} /proc/self/root{secret}; ls {fx.project}; "
              "ls /proc/*/cwd/; ls -l /proc/self/fd; ls -d /proc/[0-9]*")
    result = shell(fx, "w", script)
    lacks(result.stdout, "hush")
    lacks(result.stdout, "in/data.txt")
    check(len([line for line in result.stdout.split("\n") if line.startswith("/proc/") and line[6:].isdigit()]) < 10,
          result.stdout)
    contains(fx.run("cat", secret).stdout, "hush", "control")
    os.symlink(secret, fx.project / "out" / "link")
    equal(shell(fx, "w", "cat /output/link").stdout, "", "a link that leads out leads nowhere")


@test("Z2 the environment tells nothing of the machine, and no word of ours is in it")
def environment(fx):
    set_up(fx, OUTPUT)
    result = run(fx, "w", "env", env={"API_KEY": "k", "OLDPWD": str(fx.project), "KEPT": "kept"},
                 flags=["--keep-env=KEPT"])
    for word in (str(fx.home), "API_KEY", "zone", "Zone"):
        lacks(result.stdout, word)
    contains(result.stdout, "KEPT=kept")
    lacks(shell(fx, "w", "cat /etc/sandbash/* /etc/passwd /etc/group; ls -R /etc/sandbash").stdout, "zone")


@test("Z4 mode is capability, approval is consent: each operation has the verdict of its own")
def modes(fx):
    set_up(fx, INPUT, OUTPUT, FINAL)
    result = shell(fx, "w", "cat /input/data.txt; echo a > /output/a && mv /output/a /output/b && rm /output/b && "
                   "echo b > /output/c; echo x > /input/x; echo x >> /input/data.txt; rm /input/data.txt; "
                   "echo x > /final/x; touch /usr/x /etc/x /x; chmod 700 /input")
    equal(result.stdout, "given\n")
    equal(fx.read("in/data.txt"), "given\n")
    equal(fx.read("out/c"), "b\n")
    equal(os.listdir(fx.project / "in"), ["data.txt"])
    equal(os.listdir(fx.project / "deep/er/final"), [], "nobody could be asked")
    contains(result.stderr, "/input is read-only")
    for name in ("/input/x", "/etc/x", "/x", "changing permissions of '/input'"):
        check(any(name in line and "Read-only file system" in line for line in result.stderr.splitlines()), result.stderr)
    fx.write(fx.project / "deep/er/final/old", "old\n")
    contains(shell(fx, "w", "rm /final/old").stderr, "Permission denied", "blocked")
    check(fx.exists("deep/er/final/old"))


@test("Z4 what may be written and not removed is written whole, and nothing is left beside it")
def written(fx):
    set_up(fx, "{name: final, mode: rw, approval: {write: preApproved, delete: blocked}}")
    final = fx.project / "deep/er/final"
    fx.write(final / "twice", "old\n")
    fx.write(final / "stays", "old\n")
    os.link(final / "twice", fx.project / "other")
    result = shell(fx, "w", "cd /final; for i in 1 2 3; do echo A=$i > .env; done; echo new >> twice; rm stays .env; "
                   "mv twice gone; mv .env stays; mv stays twice; ls -A")
    equal(result.stdout, ".env\nstays\ntwice\n", result.stderr)
    equal([(final / name).read_text() for name in (".env", "stays", "twice")], ["A=3\n", "old\n", "old\nnew\n"])
    equal(fx.read("other"), "old\n")


@test("Z4 ask: the person is asked for each write, and may answer for all; blocked is not asked about")
def asked(fx):
    set_up(fx, FINAL)
    fx.write(fx.project / "deep/er/final/old", "old\n")
    script = ("echo 1 > /final/one; sh -c 'echo 1 >> /final/one'; chmod 600 /final/one; sh -c 'echo 2 > /final/two'; rm /final/old; "
              "sh -c 'echo 3 > /final/three'")
    person = Person(fx, "sh", "-c", script, flags=["--worker=w.worker"])
    screen = person.answer("1", "/final/one")
    lacks(screen, str(fx.project))
    person.answer("3", "/final/two")
    person.answer("1", "/final/three")
    person.end()
    equal(sorted(os.listdir(fx.project / "deep/er/final")), ["old", "one", "three"])
    person = Person(fx, "sh", "-c", "for i in a b c; do sh -c \"echo > /final/$i\"; done", flags=["--worker=w.worker"])
    lacks(person.question("/final/a"), "always")
    person.press("4")
    person.answer("2", "/final/a")
    person.end()
    equal(sorted(os.listdir(fx.project / "deep/er/final")), ["a", "b", "c", "old", "one", "three"])


@test("Z4 a yes to writing in a directory is none to deleting there, and the reverse; who moves is asked about both")
def apart(fx):
    set_up(fx, "{name: final, mode: rw}")
    final = fx.project / "deep/er/final"
    for name in ("a", "b", "c", "d"):
        fx.write(final / name, "old\n")
    flags = {"flags": ["--worker=w.worker"]}
    person = Person(fx, "sh", "-c", "cd /final; echo new > a; echo new > b; echo new > sub; rm a; rm -f b; echo done > c", **flags)
    contains(person.answer("2", "/final/a"), "allow all writing in /final for the rest of this run")
    contains(person.answer("3", "delete", "/final/a"), "allow all deleting in /final for the rest of this run")
    person.answer("3", "delete", "/final/b")
    person.end()
    equal([(final / name).read_text() for name in ("a", "b", "c", "sub")], ["new\n", "new\n", "done\n", "new\n"])
    person = Person(fx, "sh", "-c", "cd /final; rm a; rm b; echo x > c; echo y > new; rm sub", **flags)
    person.answer("2", "delete", "/final/a")
    person.answer("3", "overwrite", "/final/c")
    person.answer("3", "create", "/final/new")
    person.end()
    equal((sorted(os.listdir(final)), (final / "c").read_text()), (["c", "d"], "done\n"))
    person = Person(fx, "sh", "-c", "cd /final; mv c e; mv d f; rm e; echo z > g", **flags)
    contains(person.answer("2", "/final/c"), "allow all writing and deleting in /final for the rest of this run")
    person.end()
    equal(sorted(os.listdir(final)), ["f", "g"])
    person = Person(fx, "sh", "-c", "cd /final; echo 1 > f; rm g; mv f h", **flags)
    person.answer("2", "overwrite", "/final/f")
    person.answer("2", "delete", "/final/g")
    person.end()
    equal(os.listdir(final), ["h"], "under both answers who moves is not asked")


@test("C5 somebody who attaches answers for a worker, and sees whose question it is")
def attached(fx):
    set_up(fx, FINAL)
    waiting = Run(fx, "--worker=w.worker", "--consent=ask", "sh", "-c", "echo landed > /final/x")
    person = Person.at(fx, fx.terminal(BIN, "--attach", rows=24, columns=120, replies=True))
    contains(person.answer("1", "/final/x"), "worker w")
    equal(waiting.end()[0], 0)
    equal(fx.read("deep/er/final/x"), "landed\n")


@test("Z4 the user's own configuration makes it stricter: workers ask, mode read-only, rules about the directory")
def stricter(fx):
    set_up(fx, OUTPUT)
    write = "echo x > /output/x; echo y > /output/sub/y; cat /output/key.pem; true"
    fx.write(fx.project / "out" / "sub" / "z")
    fx.write(fx.project / "out" / "key.pem", "key\n")
    contains(shell(fx, "w", write).stdout, "key", "control")
    check(fx.exists("out/x") and fx.exists("out/sub/y"), "control")
    for line, kept in (("workers ask\n", []), ("mode read-only\n", []), (f"read {fx.project}/out/sub\n", ["out/x"]),
                       (f"ask {fx.project}/out\n", []), (f"deny {fx.home}/**/*.pem\n", ["out/x", "out/sub/y"])):
        for name in ("out/x", "out/sub/y"):
            if fx.exists(name):
                (fx.project / name).unlink()
        fx.config(line)
        result = shell(fx, "w", write)
        equal([name for name in ("out/x", "out/sub/y") if fx.exists(name)], kept, line)
        equal("key" in result.stdout, "pem" not in line, line)
    fx.config(f"deny /output/key.pem\ndeny /output/sub\ndeny {fx.project}/out/key.pem\n")
    result = shell(fx, "w", write)
    lacks(result.stdout, "key", "by its real path")
    equal(result.stderr.count("holds nothing: rules are about real paths"), 1, result.stderr)
    contains(result.stderr, f"the rule for '/output/key.pem' holds nothing: rules are about real paths, and /output is '{fx.project}/out'")
    fx.config(f"deny /outputs/key.pem\ndeny {fx.project}/out/key.pem\n")
    lacks(shell(fx, "w", write).stderr, "holds nothing", "another name, and a real path")
    fx.config(f"deny {fx.project}/out\n")
    contains(shell(fx, "w", "true").stderr, "/output: a rule hides its directory")


@test("Z3 directories that are not there are made, beneath the project and through no link")
def made(fx):
    set_up(fx, OUTPUT, FINAL)
    equal(shell(fx, "w", "ls -d /final").stdout, "/final\n")
    check((fx.project / "deep" / "er" / "final").is_dir())
    shutil.rmtree(fx.project / "deep")
    (fx.home / "elsewhere").mkdir()
    os.symlink(fx.home / "elsewhere", fx.project / "deep")
    result = shell(fx, "w", "touch /final/x")
    check(result.status != 0)
    equal(os.listdir(fx.home / "elsewhere"), [])
    (fx.project / "sandbash.yaml").unlink()
    declare(fx, "d", "{name: workspace, mode: ro}")
    equal(shell(fx, "d", "ls -d /workspace").stdout, "/workspace\n", "Default Zones, .sandbox")
    check((fx.project / ".sandbox" / "workspace").is_dir())


@test("Z7 no network unless it is declared; then names of hosts are there")
def network(fx):
    set_up(fx, OUTPUT)
    script = "ls /etc/resolv.conf; echo $SANDBASH_NETWORK_DISABLED"
    equal(shell(fx, "w", script).stdout, "1\n")
    declare(fx, "n", OUTPUT, more="network: on\n")
    equal(shell(fx, "n", script).stdout, "/etc/resolv.conf\n\n" if os.path.exists("/etc/resolv.conf") else "\n")
    fx.config("network off\n")
    equal(shell(fx, "n", script).stdout, "1\n", "the user's file closes it")


@test("Z9 commands: what is not named cannot be executed, by its name, a copy, the loader, a script, a descriptor")
def commands(fx):
    set_up(fx, OUTPUT, more="commands: [python3, cat]\n")
    script = """
import glob, os, shutil, subprocess
def tried(*words):
    try:
        return subprocess.run(words, capture_output=True, text=True).stdout.strip()
    except OSError as error:
        return error.strerror
loader = [name for name in glob.glob("/lib*/ld-linux-*.so*") + glob.glob("/lib/ld-musl*")][0]
for place in "/output", "/tmp", "/dev/shm":
    shutil.copy("/usr/bin/cat", place + "/copy")
    os.chmod(place + "/copy", 0o755)
    open(place + "/script", "w").write("#!/usr/bin/python3\\nprint('ran')\\n")
    os.chmod(place + "/script", 0o755)
    print(tried(place + "/copy", "/etc/hosts"), "|", tried(loader, place + "/copy", "/etc/hosts"), "|", tried(place + "/script"))
    held = os.open(place + "/copy", os.O_RDONLY)
    try:
        os.execve(held, ["cat", "/etc/hosts"], {})
    except OSError as error:
        print(error.strerror)
for name in "/bin/sh", "/usr/bin/id", "/usr/sbin/chroot":
    print(tried(name), "|", tried(loader, name, "-c", "echo ran"))
try:
    os.memfd_create("x")
except OSError as error:
    print(error.strerror)
print(tried(loader, "--version"), "|", tried(os.path.realpath(loader), "/usr/lib/git-core/git-shell", "-c", "help"))
print(tried("cat", "/output/allowed"), tried("python3", "-c", "print('fine')"))
"""
    fx.write(fx.project / "out" / "allowed", "allowed")
    planted = fx.write(fx.home / "bin" / "cat", "#!/bin/sh\necho planted\n", 0o755)
    result = run(fx, "w", "python3", "-c", script, env={"PATH": f"{planted.parent}:{os.environ['PATH']}"})
    lines = result.stdout.splitlines()
    for line in lines[:-1]:
        check("ran" not in line and "localhost" not in line and "uid=" not in line, result.stdout)
    equal(len(lines), 12, result.stdout + result.stderr)
    equal(lines[-2], "Permission denied | Permission denied", "the loader by itself")
    equal(lines[-1], "allowed fine")
    result = run(fx, "w", "sh", "-c", "true")
    contains(result.stderr, "'sh' is not among the worker's commands")
    declare(fx, "gone", more="commands: [no-such-program]\n")
    contains(run(fx, "gone", "true").stderr, "'no-such-program' is not there")


@test("Z7 programs: git, gcc, python3 and node work there; what a program outside runs later is guarded")
def programs(fx):
    set_up(fx, OUTPUT)
    script = """cd /output && git init -q r && cd r && git config user.email a@b && git config user.name n &&
echo x > f && git add f && git commit -qm first && git log --format=%s
printf '#include <stdio.h>\\nint main(void) { puts("compiled"); }\\n' > h.c && gcc -o h h.c && ./h
python3 -c 'import tempfile, subprocess; print(subprocess.check_output(["echo", "python"], text=True), end="")'
node -e 'require("fs").writeFileSync("n", "node\\n")' && cat n
echo evil > .git/hooks/post-checkout || echo refused"""
    wanted = ["first", "compiled", "python", "node", "refused"]
    for program, word in (("gcc", "compiled"), ("node", "node")):
        if not shutil.which(program, path="/usr/local/bin:/usr/bin:/bin"):
            wanted.remove(word)
    equal(shell(fx, "w", script).stdout.split(), wanted)


@test("Z7 a zone is guarded for where it lies: hooks that settings name, links at home, directories that programs obey")
def lying(fx):
    set_up(fx)
    names = {"data": "data", "dots": "dots", "code": ".vscode", "hooks": ".git/hooks", "tools": "tools", "bare": "x.git/hooks"}
    fx.run("git", "init", "-q", ".")
    fx.run("git", "init", "-q", "--bare", "x.git")
    fx.run("git", "config", "core.hooksPath", "data/hk")
    fx.run("git", "config", "include.path", "../data/more")
    for directory in ("data/hk", "dots", ".vscode", "tools"):
        (fx.project / directory).mkdir(parents=True)
    fx.write(fx.project / "dots" / "rc", "")
    os.symlink(fx.project / "dots" / "rc", fx.home / ".bashrc")
    fx.write("sandbash.yaml", "sandbox:\n  mode: direct\n  zones:\n" + "".join(
        f"    {name}: {{path: {path}, mode: rw}}\n" for name, path in names.items()))
    declare(fx, "w", *(OUTPUT.replace("output", name) for name in names))
    obeyed = ["data/hk/pre-commit", "data/more", "dots/rc", "code/tasks.json", "hooks/x", "tools/bazel", "bare/update"]
    plain = ["data/x", "dots/x", "code/notes.txt", "tools/x", "data/hk2"]
    for name in [*obeyed, *plain]:
        result = shell(fx, "w", f"echo x >/{name}")
        equal(result.status == 0, name in plain, f"{name}: {result.stderr}")
    for move in ("mv /dots /data/d", "mv /data/hk /data/away", "echo x >/data/n; mv /data/n /dots/rc", "ln -s x /data/hk/post-commit",
                 "mkdir -p /data/new; echo x >/data/new/pre-commit; mv -T /data/new /data/hk"):
        check(shell(fx, "w", move).status != 0, move)
    equal(fx.run("sh", "-c", "ls -A data/hk; ls x.git/hooks/update; cat dots/rc").stdout, "", "nothing has changed")


@test("Z2 nothing that the caller has open comes along, but for standard input and output and what is named")
def descriptors(fx):
    set_up(fx, OUTPUT)
    secret = fx.write(fx.home / "secret", "hush\n")
    command = fx.argv("--worker=w.worker", "sh", "-c", "cat <&7")
    said = fx.run("sh", "-c", '"$@" 7<"$0"', secret, *command)
    equal((said.stdout, "hush" in said.stderr), ("", False))
    kept = fx.run("sh", "-c", '"$@" 7<"$0"', secret, command[0], "--keep-fd=7", *command[1:])
    equal(kept.stdout, "hush\n", kept.stderr)
    equal(fx.run("sh", "-c", '"$@" 9>&1 >/dev/null', "-", *fx.argv("--worker=w.worker", "sh", "-c", "echo out >&9")).stdout, "")
    equal(fx.run("sh", "-c", '"$@" <"$0"', secret, *fx.argv("--worker=w.worker", "cat")).stdout, "hush\n", "neighbour")


@test("R4 without namespaces a worker is refused; with --best-effort rules hide what it does not have")
def without_namespaces(fx):
    set_up(fx, INPUT, OUTPUT)
    fx.write(fx.home / "secret", "hush\n")
    fx.write(fx.project / "out" / "mine", "mine\n")
    top = fx.project
    script = (f"cat {top}/in/data.txt {top}/out/mine {fx.home}/secret {top}/w.worker; echo x > {top}/in/x; "
              f"echo y > {top}/out/y")
    result = shell(fx, "w", script, without="userns")
    equal(result.stdout, "")
    contains(result.stderr, "cannot show a worker its own files only")
    result = shell(fx, "w", script, flags=["--best-effort"], without="userns")
    equal(result.stdout, "given\nmine\n", result.stderr)
    equal((fx.exists("in/x"), fx.exists("out/y")), (False, True))
    declare(fx, "c", OUTPUT, more="commands: [cat]\n")
    contains(run(fx, "c", "cat", flags=["--best-effort"], without="userns").stderr, "nothing keeps a worker to its commands")


@test("Z1 files: mistakes are told with their place, and nothing is run")
def mistakes(fx):
    set_up(fx, OUTPUT)
    declare(fx, "more", "{name: input, mode: rw}")
    result = shell(fx, "more", "echo ran")
    contains(result.stderr, "more.worker:3:18: input: the worker requests 'rw' but the project only has 'ro'")
    equal(result.stdout, "")
    contains(shell(fx, "absent", "echo ran").stderr, "there is no worker")
    contains(shell(fx, "w", "true", flags=["--learn"]).stderr, "--learn and --worker")
    contains(shell(fx, "w", "true", flags=["--dry-run"]).stderr, "--worker goes with a command or --mcp")
    contains(shell(fx, "w", "true", flags=["--static"]).stderr, "needs a supervisor")


@test("R1 the record and --report are outside, and name files as the worker does")
def record(fx):
    set_up(fx, INPUT)
    report = fx.home / "report.json"
    shell(fx, "w", "echo x > /input/x", flags=[f"--report={report}"])
    contains(report.read_text(), "/input/x")
    denied = [json.loads(line) for line in fx.sandbash("--log", "--json", "--log-verdict=deny").stdout.splitlines()]
    contains(str([(event.get("path"), event.get("worker")) for event in denied]), "('/input/x', 'w')")


@test("Z7 rules about hosts hold for a worker that has the network")
def hosts(fx):
    set_up(fx, OUTPUT, more="network: on\n")
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    script = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5); print('there')"
    equal(run(fx, "w", "python3", "-c", script).stdout, "there\n", "control")
    fx.config(f"deny connect 127.0.0.1:{port}\n")
    equal(run(fx, "w", "python3", "-c", script).stdout, "")
    fx.config("")
    declare(fx, "w", OUTPUT)
    equal(run(fx, "w", "python3", "-c", script).stdout, "", "not declared")
    listener.close()


run_all()
