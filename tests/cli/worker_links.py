"""worker_links.py - links in a worker's directory: it is outside that somebody follows them."""

import os

from tap import SUPERVISED, check, contains, equal, run_all, skip, test
from workers import OUTPUT, declare, project, shell


def place(fx, zone="output"):
    if not SUPERVISED:
        skip("a worker needs a supervisor")
    project(fx)
    if zone != "output":
        file = fx.project / "sandbash.yaml"
        fx.write(file, file.read_text().replace("output:", f"{zone}:"))
    declare(fx, "w", OUTPUT.replace("output", zone))
    for name in (".ssh", ".config/autostart"):
        fx.run("mkdir", "-p", fx.home / name)
    fx.run("mkdir", "-p", "out/a/b/c")
    return fx.project / "out"


@test("a link that leads out of the directory outside asks, wherever it leads in the worker's world")
def refused(fx):
    out = place(fx)
    up = os.path.relpath(fx.home, out)
    for text in (f"{up}/.ssh", f"{up}/.config/autostart", f"{fx.home}/.ssh", f"{fx.home}/.config/autostart", "..", "/", "../output/x",
                 f"a/../{up}/.ssh", f"a/b/../../{up}/.ssh", "/proc/self/root/etc", "a/../b", f"/{fx.home.parts[1]}/nothing"):
        made = ["ln", "-s", text, "x"]
        equal(fx.run(*made, cwd=out).status, 0, "the control")
        (out / "x").unlink()
        result = shell(fx, "w", f"ln -s {text} /output/x", flags=["--consent=deny"])
        check(not os.path.lexists(out / "x"), f"{text}: {result.stderr}")
        contains(result.stderr, "a link", text)
    # from a directory that is moved up
    up = os.path.relpath(fx.home, out / "c")
    for end in (".ssh", ".config/autostart"):
        shell(fx, "w", f"cd /output/a/b/c && ln -s {up}/{end} x; mv /output/a/b/c /output/c", flags=["--consent=deny"])
        check(not os.path.lexists(out / "c/x"), end)
        fx.run("sh", "-c", "rm -rf out/c; mkdir -p out/a/b/c")


@test("a directory that is moved up brings no link that leads out of there then")
def brought(fx):
    out = place(fx)
    make = "mkdir -p a/b/c/d && ln -s ../../x a/b/l && ln -s ../../../../y a/b/c/d/m && ln -s ../e a/b/c/n && ln -s c/d a/b/o"
    up = "mv a/b moved"
    equal(fx.run("sh", "-c", f"{make} && {up}", cwd=out).status, 0, "the control")
    equal(os.path.realpath(out / "moved/l"), str(fx.project / "x"), "the control")
    fx.run("sh", "-c", "rm -rf out/moved out/a")
    for odd in ("l", "c/d/m"):
        fx.run("sh", "-c", f"rm -rf a moved; {make}; cd a/b; for l in l c/d/m; do test $l = {odd} || rm $l; done", cwd=out)
        for move in (up, "mkdir moved; python3 -c 'import ctypes; exit(ctypes.CDLL(None).renameat2(-100, b\"a/b\", -100, b\"moved\", 2) != 0)'"):
            result = shell(fx, "w", f"cd /output; {move}", flags=["--consent=deny"])
            check(not os.path.lexists(out / "moved" / odd), f"{odd}: {result.stderr}")
            check(os.path.lexists(out / "a/b" / odd), odd)
            contains(result.stderr, "a link", odd)
    result = shell(fx, "w", "cd /output; rm -r moved; mv a/b a/b2 && rm a/b2/l a/b2/c/d/m; mv a/b2 moved", flags=["--consent=deny"])
    check(os.path.lexists(out / "moved/c/n") and os.path.lexists(out / "moved/o"), f"its own links come along: {result.stderr}")


# what is made first, and a link that leads there: /tmp and its like are other ones outside, and everybody's
OWN = (("", "/tmp/x"), ("", "/tmp"), ("", "//tmp/./x"), ("", "/var/tmp/x"), ("touch /var/tmp/x", "/var/tmp/x"), ("", "/dev/shm"),
       ("touch /dev/shm/x", "/dev/shm/x"), ("", "/dev/pts/0"), ("ln -s /usr/share /tmp/p", "/tmp/p/doc"), ("ln -s /proc /tmp/p", "/tmp/p/cpuinfo"),
       ("ln -s /output/a /tmp/p", "/tmp/p/b"), ("ln -s p /tmp/p", "/tmp/p"), ("ln -s p /tmp/p", "../tmp/p/x"), ("ln -s /usr/share/doc /dev/shm/p", "/dev/shm/p"),
       ("", "../proc/cpuinfo"), ("", "../usr/bin/env"), ("mkdir -p /tmp/p", "/tmp/p"))


@test("a link to what is the worker's own only in its world asks, by any way there")
def own(fx):
    out = place(fx)
    for first, text in OWN:
        made = ["ln", "-s", text, "x"]
        equal(fx.run(*made, cwd=out).status, 0, "the control")
        (out / "x").unlink()
        result = shell(fx, "w", f"{first or ':'}; ln -s {text} /output/x", flags=["--consent=deny"])
        check(not os.path.lexists(out / "x"), f"{first}; {text}: {result.stderr}")
        contains(result.stderr, "a link", text)
        result = shell(fx, "w", f"{first or ':'}; ln -s {text} /tmp/x2", flags=["--consent=deny"])
        equal(result.status, 0, f"the neighbour: {text} {result.stderr}")


@test("links within the directory, and to the system, are made unasked")
def neighbours(fx):
    out = place(fx)
    result = shell(fx, "w", """set -e; cd /output/a
        ln -s b/c one; ln -s ../a/b two; ln -s ../../output three || ln -s ../later three; ln -s ../one/c four
        ln -s /usr/bin/python3 python; ln -s /dev/null null; ln -s /proc/self/fd/1 log; ln -s /output/a five
        ln -s /tmp/x /tmp/six; mv two b/two; ln -s /usr/share/doc seven; ln -s /etc/ssl/certs eight; ln -s /dev/stdout nine
        touch /dev/shm/x; ln -s /dev/shm/x /var/tmp/x; ln -s ./circle circle""", flags=["--consent=deny"])
    equal(result.status, 0, result.stderr)
    equal(os.readlink(out / "a/three"), "../later")


@test("where the directory has the name of another one outside, absolute paths ask: of links and of git's files")
def shadowed(fx):
    other = next(name for name in ("srv", "mnt", "media") if os.path.isdir(f"/{name}"))
    for zone, want in (("output", True), (other, False)):
        check(os.path.lexists(f"/{zone}") != want, zone)
        out = place(fx, zone)
        for act, made in ((f"ln -s /{zone}/a x", "x"), (f"printf 'gitdir: /{zone}/evil\n' > a/.git", "a/.git"),
                          (f"git init -q r; git -C r config core.worktree /{zone}; grep -q worktree r/.git/config && touch w", "w")):
            result = shell(fx, "w", f"cd /{zone}; mkdir -p a; {act}", flags=["--consent=deny"])
            equal(os.path.lexists(out / made), want, f"{act}: {result.stderr}")
        fx.run("rm", "-rf", "out")


if __name__ == "__main__":
    run_all()
