"""followed.py - links that lead to what programs outside obey: who writes by their names writes there."""

import os
import pathlib

from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")

# every way that we know to get a link into the project that leads to ~/.bash_aliases
PLANT = r"""
import ctypes, os, shutil, sys
home = os.environ["HOME"]
victim = home + "/.bash_aliases"
libc = ctypes.CDLL(None, use_errno=True)
def exchange(a, b):
    if libc.renameat2(-100, a.encode(), -100, b.encode(), 2):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def clean():
    for path in ("x", "a", "b", "d", "file", *(f"d{number}" for number in range(38))):
        try: os.unlink(path)
        except OSError: shutil.rmtree(path, ignore_errors=True)
def found():
    return any(os.path.realpath(os.path.join(top, one)) == victim
               for top, some, more in os.walk(".") for one in some + more)
def absolute(): os.symlink(victim, "x")
def relative(): os.symlink("../.bash_aliases", "x")
def odd(): os.symlink(".//./../project/..//.bash_aliases", "x")
def deep(): os.makedirs("a/b"); os.symlink("../../../.bash_aliases", "a/b/x")
def by_file(): open("file", "w").close(); os.unlink("file"); os.symlink(victim, "file")
def by_directory(): os.symlink(home, "d"); os.symlink("d/.bash_aliases", "x")
def by_above(): os.symlink("..", "d"); os.symlink("./d/.bash_aliases", "x")
def by_process(): os.symlink("/proc/self/cwd/../.bash_aliases", "x")
def by_root(): os.symlink("/proc/self/root" + victim, "x")
def by_process_in_steps(): os.symlink("/proc/self", "d"); os.symlink("d/cwd/../.bash_aliases", "x")
def by_long_text(): os.symlink("./" * 2030 + "../.bash_aliases", "x")
def by_many():
    os.symlink("..", "d")
    for number in range(38): os.symlink(f"./d{number - 1}" if number else "./d", f"d{number}")
    os.symlink("d37/.bash_aliases", "x")
def at_descriptor():
    fd = os.open(".", os.O_RDONLY)
    try: os.symlink(victim, "x", dir_fd=fd)
    finally: os.close(fd)
def moved_up(): os.makedirs("a/b"); os.symlink("../.bash_aliases", "a/b/x"); os.rename("a/b/x", "x")
def replaced():
    os.makedirs("a/b"); os.symlink("../.bash_aliases", "a/b/x")
    open("file", "w").close(); os.rename("a/b/x", "file")
def linked(): os.makedirs("a/b"); os.symlink("../.bash_aliases", "a/b/x"); os.link("a/b/x", "x", follow_symlinks=False)
def held():
    os.makedirs("a/b"); os.symlink("../.bash_aliases", "a/b/x")
    return os.open("a/b/x", os.O_PATH | os.O_NOFOLLOW)
def linked_by_descriptor():  # before Linux 6.10 the first way is root's alone
    fd = held()
    libc.linkat(fd, b"", -100, b"x", 0x1000)
    libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, b"x", 0x400)
def exchanged():
    os.makedirs("a/b"); os.symlink("../.bash_aliases", "a/b/x"); open("file", "w").close(); exchange("a/b/x", "file")
def exchanged_back():
    os.makedirs("a/b"); os.symlink("../.bash_aliases", "a/b/x"); open("file", "w").close(); exchange("file", "a/b/x")
def carried_up(): os.makedirs("a/b"); os.symlink("../../.bash_aliases", "a/b/x"); os.rename("a/b", "b")
def carried_from_there():
    os.makedirs("a/b"); open(".bash_aliases", "w").close()
    try: os.symlink("../../.bash_aliases", "a/b/x"); os.rename("a/b", "b")
    finally: os.unlink(".bash_aliases")
def turned():
    os.makedirs("a/b/d"); os.symlink("a/b/d/../.bash_aliases", "x"); os.rmdir("a/b/d"); os.symlink("../..", "a/b/d")
def turned_in_the_project():
    os.makedirs("a/b/d"); os.symlink("a/b/d/../../.bash_aliases", "x"); os.rmdir("a/b/d"); os.symlink("../../a", "a/b/d")
def turned_to_a_plain_place():
    os.makedirs(home + "/plain", exist_ok=True); os.mkdir("a"); os.symlink("a/../.bash_aliases", "x"); os.rmdir("a")
    os.symlink(home + "/plain", "a")
for way in (absolute, relative, odd, deep, by_file, by_directory, by_above, by_process, by_root, by_process_in_steps,
            at_descriptor, by_long_text, by_many, moved_up, replaced, linked, linked_by_descriptor, exchanged, exchanged_back, carried_up,
            carried_from_there, turned, turned_in_the_project, turned_to_a_plain_place):
    clean()
    try: way()
    except OSError: pass
    print(way.__name__, "PLANTED" if found() else "no")
clean()
"""
WAYS = 24


@test("no way to a link in the project that leads to a shell's start-up file", BOTH)
def planted(fx):
    for there in (False, True):
        if there:
            fx.write(fx.home / ".bash_aliases", "mine\n")
        control = fx.run("python3", "-c", PLANT)
        equal(control.stdout.count(" PLANTED\n"), WAYS, control.stdout + control.stderr)
        result = fx.sandbash("--consent=deny", "--quiet", "python3", "-c", PLANT)
        equal(result.stdout.count(" no\n"), WAYS, result.stdout + result.stderr)


# where links lead, and what was there before
ENDS = {
    "a settings file": ("~/.config/Code/User/settings.json", "mkdir -p ~/.config/Code/User"),
    "a directory where all is obeyed": ("~/.config/autostart", "mkdir -p ~/.config/autostart"),
    "one that is not there yet": ("~/.config/environment.d", "mkdir -p ~/.config"),
    "one of which all is missing": ("~/.local/bin", "true"),
    "one of another project": ("~/other/.husky", "mkdir ~/other"),
    "rules of sandbash": ("~/.config/sandbash/config", "mkdir -p ~/.config/sandbash"),
    "where they are": ("~/.config/sandbash", "true"),
    "those of all users": ("/etc/sandbash/config", "true"),
    "a hook of another repository": ("~/other/.git/hooks/pre-commit", "git init -q ~/other"),
    "a program by another name": ("~/.local/bin/tool",
                                  "mkdir -p ~/.local/bin; install -m 755 /bin/true ~/.local/bin/tool"),
    "a program that is not there": ("~/.local/bin/CHANGELOG", "mkdir -p ~/.local/bin"),
    "a key": ("~/.ssh/id_rsa", "mkdir -p ~/.ssh; echo k > ~/.ssh/id_rsa"),
    "a token": ("~/.aws/credentials", "mkdir -p ~/.aws; echo k > ~/.aws/credentials"),
    "another project's settings": ("~/other/.vscode/tasks.json", "mkdir -p ~/other/.vscode"),
}


@test("links to guarded names and credentials ask, whatever they are", BOTH)
def ends(fx):
    for what, (end, before) in ENDS.items():
        fx.run("sh", "-c", before)
        made = ["sh", "-c", f"ln -s {end} CHANGELOG"]
        fx.run(*made)
        check(fx.path("CHANGELOG").is_symlink(), f"the control: {what}")
        fx.path("CHANGELOG").unlink()
        result = fx.sandbash("--consent=deny", *made)
        check(not os.path.lexists(fx.path("CHANGELOG")), f"{what}: {result.stderr}")
        contains(result.stderr, "built-in: a link to what", what)


# ways to ~/.config/autostart and ~/.ssh by what a process has: for whoever follows them outside they are his own
PROCESS = r"""
import os
home = os.environ["HOME"]
def attempt(*links):
    made = []
    try:
        for text, name in links: os.symlink(text, name); made.append(name)
        print("MADE", links)
    except OSError: pass
    for name in made: os.unlink(name)
for end in (home + "/.config/autostart", home + "/.ssh", home + "/.ssh/id_rsa"):
    for process in ("self", "thread-self", "self/task/" + str(os.getpid()), str(os.getpid()), "1", "../proc/self", "self/../self"):
        attempt((f"/proc/{process}/root{end}", "x"))
        attempt(("/proc/" + process + "/cwd/" + os.path.relpath(end), "x"))
        attempt(("/proc", "d"), (f"d/{process}/root{end}", "x"))
    attempt(("/proc//./self/.//root" + end, "x"))
    attempt(("/proc/self", "d"), (f"d/root{end}", "x"))
    attempt(("/proc/self/fd", "d"), (f"./d/../root{end}", "x"))
    attempt(("/dev/fd/../root" + end, "x"))
    attempt(("/proc/self/fd/5/../../../.." + end, "x"))
    attempt(("/proc/self/root", "d"), (f"d{end}", "x"))
"""


@test("no link leads through a process to what is guarded or hidden", BOTH)
def through_process(fx):
    fx.run("sh", "-c", "mkdir -p ~/.config/autostart ~/.ssh; echo k > ~/.ssh/id_rsa")
    equal(fx.run("python3", "-c", PROCESS).stdout.count("MADE"), 81, "the control")
    result = fx.sandbash("--consent=deny", "python3", "-c", PROCESS)
    equal((result.status, result.stdout), (0, ""), result.stderr)
    contains(result.stderr, "nobody can say where it leads")


SYSTEM = ("/etc/cron.d/x", "/etc/cron.d", "/etc/profile.d/x.sh", "/etc/ld.so.preload", "/etc/systemd", "/proc/sys/kernel/core_pattern",
          "/proc//sys/./kernel/core_pattern", "../../../../../../../../../../etc/cron.d/x", "/sys/kernel/x", "/usr/local/bin/x", "/usr/bin/no-such-program", "/usr/local/bin",
          "/usr/bin", "/usr/lib/systemd/system/x.service", "/lib/udev/rules.d/x.rules", "/etc/logrotate.d/x",
          "/etc/claude-code/managed-settings.json", "/etc/NetworkManager/dispatcher.d/x", "/etc/hosts", "/etc/nsswitch.conf",
          "/usr/lib/python3/dist-packages/x.pth", "/usr/local/lib/x.so", "/var/lib/dpkg/info/x.postinst", "/var/spool/x", "/var/lib/x/y")


@test("links to what the machine obeys ask if root makes them", BOTH)
def system(fx):
    for end in SYSTEM + tuple(f"/dev/{name}" for name in os.listdir("/dev") if pathlib.Path("/dev", name).is_block_device())[:1]:
        equal(fx.run("ln", "-s", end, "x").status, 0, "the control")
        fx.path("x").unlink()
        result = fx.sandbash("--consent=deny", "ln", "-s", end, "x")
        equal(os.path.lexists(fx.path("x")), os.geteuid() != 0, f"{end}: {result.stderr}")
        fx.path("x").unlink(missing_ok=True)
    for end in ("/etc/ssl/certs", "/usr/bin/python3", "/dev/null", "/etc/alternatives/awk", "/etc/alternatives/none", "/proc/cpuinfo",
                "/dev/shm/x", "/dev/stdout", "/usr/share", "/usr/share/none", "/usr/lib/none.so", "/etc/ssl/certs/none.pem",
                "/etc/localtime", "/etc/os-release", "/usr/local/lib", "/var/lib", "/usr/bin/env", "/bin/sh"):
        equal(fx.sandbash("--consent=deny", "ln", "-s", end, "x").status, 0, f"the neighbour: {end}")
        fx.path("x").unlink()


@test("links to ordinary places are made unasked", BOTH)
def neighbours(fx):
    fx.run("sh", "-c", """mkdir -p ~/.local/bin ~/.local/share/pnpm/store ~/.config/Code/User ~/lib
        install -m 755 /bin/true ~/.local/bin/python3.12; install -m 755 /bin/true ~/.local/bin/tool; git init -q .""")
    script = """set -e
        mkdir -p .venv/bin .venv/lib node_modules/.bin node_modules/.pnpm/a/node_modules/a packages/one/src .vscode.d
        ln -s /usr/bin/python3 .venv/bin/python3; ln -s python3 .venv/bin/python; ln -s lib .venv/lib64
        ln -s ~/.local/bin/python3.12 .venv/bin/python3.12; ln -s ~/.local/bin/python3.12 node_modules/.bin/python
        ln -s ~/.local/bin/tool .venv/bin/tool
        ln -s ../a/cli.js node_modules/.bin/a; ln -s .pnpm/a/node_modules/a node_modules/a
        ln -s ../../b/node_modules/b node_modules/.pnpm/a/node_modules/b
        ln -s ~/.local/share/pnpm/store node_modules/.store; ln -s ../lib lib; ln -s ../../../lib packages/one/lib
        ln -s /dev/stdout access.log; ln -s /proc/self/fd/2 error.log; ln -s /proc/self/mounts mtab
        ln -s /proc/self/exe self; ln -s /proc/mounts mtab2; ln -s /proc/1/fd/1 docker.log; ln -s /proc/cpuinfo cpu
        ln -s ~ home; ln -s ~/.config settings; ln -s .. up; ln -s ../CHANGELOG out
        ln -s ./.git/config git-config; ln -s nowhere/at/all dangling; ln -s ./circle circle
        mv access.log packages/one/access.log; ln -s ../../lib packages/l; mv packages p; mv .venv venv
        ln -s ~/.bash_aliases /tmp/in-its-own-$$ && rm /tmp/in-its-own-$$ || [ "$1" = flat ]"""
    result = fx.sandbash("--consent=deny", "sh", "-c", script, "sh", fx.variant)
    equal(result.status, 0, result.stderr)
    if fx.variant == "full":
        lacks(result.stderr, "refused")
    equal(os.readlink(fx.path("venv/bin/python3")), "/usr/bin/python3")


@test("a link to a directory that holds guarded names is told at the end", BOTH)
def told(fx):
    fx.run("mkdir", "-p", fx.home / ".config", fx.home / "lib", "sub")
    words = "is a link to a directory outside in which programs obey files"
    for made in ("ln -s ~ x", "ln -s .. x", "ln -s ~/.config x", "ln -s ../.. sub/y; mv sub/y x", "ln -s / x",
                 "ln -s /proc/self x", "ln -s /proc x", "ln -s /dev/fd x", "ln -s /dev x", "ln -s /proc/self/task x"):
        result = fx.sandbash("--consent=deny", "sh", "-c", f"rm -f x; {made}")
        check(fx.path("x").is_symlink(), f"{made}: {result.stderr}")
        contains(result.stderr, f"'{fx.path('x')}' {words}", made)
    for made in ("ln -s ../lib x", "ln -s /usr/lib x", "ln -s .. sub/up", "ln -s ~/nothing x", "ln -s ./sub x"):
        result = fx.sandbash("--consent=deny", "sh", "-c", f"rm -f x; {made}")
        equal((result.status, words in result.stderr), (0, False), f"the neighbour: {made} {result.stderr}")


@test("so is one in a /tmp that stays, through which others may lead by then", ("flat",))
def told_in_tmp(fx):
    fx.run("mkdir", "-p", fx.home / ".config/autostart")
    link = f"/tmp/{fx.dir.name}"
    try:
        result = fx.sandbash("--consent=deny", "sh", "-c", f"ln -s {link}/autostart dist; ln -s ~/.config {link}")
        equal(os.path.realpath(fx.path("dist")), str(fx.home / ".config/autostart"), result.stderr)
        contains(result.stderr, f"'{link}' is a link to a directory outside in which programs obey files")
        os.unlink(link)
        equal(fx.sandbash("--consent=deny", "ln", "-s", "/usr/lib", link).stderr, "", "the neighbour")
    finally:
        os.unlink(link)


@test("where a rule lets the run write the name itself, a link to it is nothing more", BOTH)
def opened(fx):
    made = ["sh", "-c", "ln -s ~/.bash_aliases CHANGELOG && rm CHANGELOG"]
    equal(fx.sandbash("--consent=deny", f"--allow-write={fx.home / '.bash_aliases'}", *made).status, 0)
    result = fx.sandbash("--consent=deny", f"--allow-write={fx.home / 'other'}", *made)
    check(result.status != 0, "by a rule for something else")


if __name__ == "__main__":
    run_all()
