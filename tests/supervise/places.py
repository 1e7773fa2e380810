"""places.py - what a current directory is: the directory, and the way it is seen."""

import os

from compare import inside, native
from tap import check, contains, equal, run_all, test

ROOT = os.geteuid() == 0
OWN_MOUNTS = ["unshare", "-m"] if ROOT else ["unshare", "-Urm"]


@test("the same directory by another mount is another place")
def another_mount(fx):
    """The rules are about names, and by that one nothing is allowed."""
    fx.path("sub").mkdir()
    alias = fx.outside / "alias"
    alias.mkdir()
    script = ('cd "$0/sub" && true >one && true >two && cd "$1/sub" && true >three; made=$?; '
              'cd "$0/sub" && true >four || exit 9; exit $((made != 0))')
    words = ["sh", "-c", script, fx.project, alias]
    mount = 'mount --bind "$0" "$1" && shift && exec "$@"'
    for argv, status in ((inside(fx, *words), 1), ([os.fspath(word) for word in words], 0)):
        result = fx.run(*OWN_MOUNTS, "sh", "-c", mount, fx.project, alias, *argv)
        equal(result.status, status, result.stderr)
        equal(sorted(os.listdir(fx.path("sub"))),
              ["four", "one", "three", "two"] if status == 0 else ["four", "one", "two"])
        if status:
            contains(result.stderr, f"{alias}/sub/three")


@test("the directory above, which cannot be searched")
def closed_above(fx):
    """Whoever is in it needs no right to search what is above to name it."""
    for argv in (native, lambda *words: inside(fx, *words)):
        above = fx.path("above")
        (above / "here").mkdir(parents=True)
        run = fx.run(*argv("python3", "-c", "import os\n"
                           "os.chdir('above/here')\nos.chmod('..', 0o600)\n"
                           "os.utime('..', (1, 1))\nos.chmod('..', 0o700)\n"
                           "print(int(os.stat('..').st_mtime))"))
        equal((run.status, run.stdout), (0, "1\n"), run.stderr)
        check((above / "here").is_dir())
        (above / "here").rmdir()
        above.rmdir()


@test("a link in the last place, followed hundreds of times: nothing stays open")
def many_links(fx):
    fx.write("file", "")
    fx.path("link").symlink_to("file")
    script = ("import os, sys\nfor path in sys.argv[1:]:\n"
              "    for _ in range(400): os.close(os.open(path, os.O_WRONLY))\n"
              "    try: os.open(path.replace('link', 'sub/'), os.O_WRONLY | os.O_CREAT)\n"
              "    except IsADirectoryError: pass\n")
    words = ["python3", "-c", script, "link", fx.path("link"), f"{fx.project}/../project/link"]
    for argv in (words, fx.argv(*words)):
        result = fx.run("sh", "-c", 'ulimit -n 300; exec "$@"', "-", *argv)
        equal((result.status, result.stdout), (0, ""), result.stderr)


run_all()
