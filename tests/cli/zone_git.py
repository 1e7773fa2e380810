"""Z8: files between git repositories and zones: pull, stage, show, push, discard; hostile repositories and zones."""

import fcntl
import json
import os
import socket
import stat
from pathlib import Path

from person import Person
from tap import check, contains, equal, lacks, run_all, test
from zone_repo import Repo, git, push, set_up, stage, work

VARIANTS = ("full", "flat")


def records(fx):
    lines = fx.sandbash("--log", "--json").stdout.splitlines()
    return [(one["event"], one.get("act")) for one in map(json.loads, lines)]


# --- the five ---------------------------------------------------------------------------------------


@test("Z8 pull, stage, show, push, discard: nothing is a branch's before a person says yes", variants=VARIANTS)
def five(fx):
    repo = set_up(fx)
    flags = ("--best-effort",) if fx.variant == "flat" else ()
    if flags and flags[0] not in fx.argv():
        contains(fx.sandbash("--git", "pull", repo.path, "--into=/desk").stderr, "hint: --best-effort, before --git")
    result = fx.sandbash(*flags, "--git", "pull", repo.path, "--into=/desk")
    equal(result.status, 0, result.stderr)
    contains(result.stdout, "2 of 2 files written to /desk")
    equal(work(fx, "src/a.c").read_text(), "one\n")
    check(os.access(work(fx, "run.sh"), os.X_OK), "it can be run, as there")
    before = repo.refs()
    fx.write(work(fx, "src/a.c"), "two\n")
    fx.write(work(fx, "new/b.txt"), "new\n")
    result = fx.sandbash(*flags, "--git", "stage", "--from=/desk", f"--repo={repo.path}", "-m", "a change")
    equal(result.status, 0, result.stderr)
    name = result.stdout.splitlines()[0]
    for text in ("-one", "+two", "new/b.txt", "a change"):
        contains(result.stdout, text)
    after = repo.refs()
    equal(after.pop(f"refs/sandbash/{name}")[:12], name, "the ref")
    equal(after, before, "no branch has moved")
    contains(fx.sandbash(*flags, "--git", "show", name).stdout, "+two")
    equal(fx.sandbash(*flags, "--git", "push", name).status, 125, "nobody says yes")
    equal(repo.refs()["refs/heads/main"], before["refs/heads/main"])
    person = Person(fx, *flags, "--git", "push", name)
    screen = person.answer("1", "push to", str(repo.path))
    for part in ("main", "what others get", "its message: '", f"--git show {name}", "|  new/b.txt | 1 +"):
        contains(screen, part)
    equal(person.end(), 0)
    equal(repo.show("main:src/a.c"), "two")
    equal(repo.show("main:new/b.txt"), "new")
    equal(list(repo.refs()), ["refs/heads/main"], "it is staged no more")
    fx.write(work(fx, "src/a.c"), "three\n")
    name = fx.sandbash(*flags, "--git", "stage", "--from=/desk", f"--repo={repo.path}", "-m", "x").stdout.split()[0]
    equal(fx.sandbash(*flags, "--git", "discard", name).status, 0)
    equal(list(repo.refs()), ["refs/heads/main"], "discarded")
    contains(fx.sandbash(*flags, "--git", "push", name).stderr, "nothing is staged as")
    known = records(fx)
    for act in ("pull", "stage", "show", "push", "discard"):
        check(("perform", f"git {act}") in known, f"the record of {act}: {known}")
    check(("ask", "git push") in known and ("answer", "git push") in known, "the question")
    left = [path.name for path in (fx.home / ".local/state/sandbash/git").iterdir()]
    equal(left, ["staged"], "nothing is left behind")


@test("Z8 a no, and Ctrl-C, are none")
def no(fx):
    repo = set_up(fx)
    git(fx, "pull", repo.path, "--into=/desk")
    fx.write(work(fx, "run.sh"), "other\n")
    name, before = stage(fx, repo), repo.refs()
    for key in ("3", "\x03"):
        person = Person(fx, "--git", "push", name)
        person.answer(key, "push to")
        check(person.end() != 0, "status")
        equal(repo.refs(), before)
    contains(git(fx, "show", name).stdout, "+other", "still staged")


@test("Z8 parts: paths, a directory in a zone, another branch, what was removed")
def parts(fx):
    repo = set_up(fx)
    repo.commit(repo.tree(("100644", "side.txt", repo.blob("side\n"))), branch="side")
    deep = os.path.join("--into=/desk", "deep/er")
    git(fx, "pull", repo.path, "src", deep)
    equal(work(fx, "deep/er/src/a.c").read_text(), "one\n")
    check(not work(fx, "deep/er/run.sh").exists(), "not named")
    git(fx, "pull", repo.path, "--branch=side", deep)
    equal(work(fx, "deep/er/side.txt").read_text(), "side\n")
    contains(git(fx, "pull", repo.path, "none", "--into=/desk", status=125).stderr, "no file 'none'")
    contains(git(fx, "pull", repo.path, "../x", "--into=/desk", status=125).stderr, "no path in a repository")
    contains(git(fx, "pull", repo.path, "--branch=no", "--into=/desk", status=125).stderr, "no commit on no")
    work(fx, "deep/er/src/a.c").unlink()
    done = git(fx, "stage", os.path.join("--from=/desk", "deep/er"), "src/a.c", f"--repo={repo.path}", "-m", "gone", "--json")
    known = json.loads(done.stdout)
    equal((known["files"], known["branch"]), (1, "main"))
    equal(repo.git("ls-tree", "-r", "--name-only", known["id"]), "run.sh", "removed; what was not named stays")
    contains(git(fx, "stage", os.path.join("--from=/desk", "deep/er"), "no", f"--repo={repo.path}", "-m", "m", status=125).stderr,
             "no file 'no'")
    git(fx, "pull", repo.path, "--into=/other")
    contains(git(fx, "stage", "--from=/other", f"--repo={repo.path}", "-m", "m", status=125).stderr, "nothing differs")


@test("Z8 an empty repository, and one of sha256")
def others(fx):
    repo = set_up(fx)
    empty = Repo(fx, "empty.git")
    fx.write(work(fx, "first"), "1\n")
    contains(git(fx, "pull", empty.path, "--into=/desk", status=125).stderr, "no commit on main")
    name = stage(fx, empty)
    person = Person(fx, "--git", "push", name)
    contains(person.answer("1", "push to"), "new branch")
    equal(person.end(), 0)
    equal(empty.show("main:first"), "1")
    other = Repo(fx, "long.git", flags=("--object-format=sha256",))
    other.fill()
    git(fx, "pull", other.path, "--into=/other")
    fx.write(fx.project / ".sandbox/other/run.sh", "x\n")
    done = git(fx, "stage", "--from=/other", f"--repo={other.path}", "-m", "m", "--json")
    equal(len(json.loads(done.stdout)["commit"]), 64)
    equal(repo.refs().keys(), {"refs/heads/main"})


# --- modes and words -----------------------------------------------------------------------------------


@test("Z8 the mode of a zone counts; mistakes are told")
def modes(fx):
    repo = set_up(fx)
    contains(git(fx, "pull", repo.path, "--into=/input", status=125).stderr, "/input is read-only")
    check(not fx.exists(".sandbox/input"), "not even made")
    git(fx, "pull", repo.path, "--into=/desk")
    fx.write(".sandbox/input/run.sh", "of the input\n")
    git(fx, "stage", "--from=/input", f"--repo={repo.path}", "-m", "reads only")
    for where in ("/none", "/etc", "/desk/../input", "/", "/desk/.git"):
        contains(git(fx, "pull", repo.path, f"--into={where}", status=125).stderr, "there is no directory")
    for words in (("pull", repo.path), ("stage", "--from=/desk", "-m", "x"), ("show",), ("push", "--force"),
                  ("discard", "a", "b"), ("fetch",), ("pull", repo.path, "--into=/desk", "--force")):
        contains(git(fx, *words, status=2).stderr, "hint: pull REPO", str(words))
    for name in ("x", "../../x", "0123456789ab0", "0123456789AB"):
        contains(git(fx, "show", name, status=125).stderr, "no ID")
    contains(git(fx, "show", "0123456789ab", status=125).stderr, "nothing is staged")
    for message in ("", " \n", "a\x1b[31m"):
        contains(git(fx, "stage", "--from=/desk", f"--repo={repo.path}", f"--message={message}",
                     status=2 if not message else 125).stderr, "sandbash: ")
    contains(git(fx, "pull", fx.outside, "--into=/desk", status=125).stderr, "no git repository")
    contains(git(fx, "pull", "--into=/desk", "/nowhere", status=125).stderr, "no repository '/nowhere'")


@test("Z8 a worker's approvals count: ask is a question, blocked none")
def worker(fx):
    repo = set_up(fx)
    zones = "[{name: desk, mode: rw, approval: {write: ask}}, {name: other, mode: rw, approval: {write: blocked}}]"
    fx.write("w.worker", f"---\nsandbox:\n  zones: {zones}\n---\n")
    words = ("--worker=w.worker", "--git", "pull", repo.path)
    contains(fx.sandbash(*words, "--into=/other").stderr, "/other: writing is blocked")
    contains(fx.sandbash(*words, "--into=/input").stderr, "there is no directory '/input'", "not declared")
    contains(fx.sandbash(*words, "--into=/desk").stderr, "nobody can be asked")
    check(not work(fx, "run.sh").exists(), "nothing")
    person = Person(fx, *words, "--into=/desk")
    contains(person.answer("1", "write files of a repository into"), "2 files")
    equal(person.end(), 0)
    check(work(fx, "run.sh").exists(), "written")


@test("Z8 a git that lies in the project is not run")
def which(fx):
    repo = set_up(fx)
    fx.write("bin/git", f"#!/bin/sh\ntouch {fx.outside}/ran\n", mode=0o755)
    os.symlink(fx.project / "bin/git", fx.outside / "git")
    path = f"{fx.project}/bin:bin:.::{fx.outside}:/usr/bin:/bin"
    equal(fx.run("git", env={"PATH": path}).status, 0, "it would be found")
    check((fx.outside / "ran").exists())
    (fx.outside / "ran").unlink()
    git(fx, "pull", repo.path, "--into=/desk", env={"PATH": path})
    check(not (fx.outside / "ran").exists(), "not by us")
    contains(git(fx, "pull", repo.path, "--into=/desk", env={"PATH": f"{fx.project}/bin"}, status=125).stderr,
             "there is no git on the PATH")


# --- hostile repositories ---------------------------------------------------------------------------------


@test("Z8 names that no directory should have: refused, and nothing is written", variants=VARIANTS)
def names(fx):
    repo = set_up(fx)
    flags = ("--best-effort",) if fx.variant == "flat" else ()
    evil = repo.blob("evil\n")
    for name in ("..", ".", ".git", ".GIT", ".Git ", "git~1", ".g\u200cit", ".git::$INDEX_ALLOCATION", "a\\..\\.git"):
        inside = repo.tree(("100644", "config", evil))
        tree = repo.tree(("100644", "good", repo.blob("good\n")), ("040000", name, inside))
        repo.commit(tree, branch="evil")
        result = fx.sandbash(*flags, "--git", "pull", repo.path, "--branch=evil", "--into=/desk")
        if name.startswith("a"):  # a backslash is a letter here
            continue
        equal(result.status, 125, name)
        contains(result.stderr, "which no directory should have", name)
        check(not work(fx, "good").exists() and not work(fx, "config").exists(), f"nothing of it: {name!r}")
        check(not fx.exists(".sandbox/config") and not fx.exists(".sandbox/.git"), name)
    result = fx.sandbash(*flags, "--git", "pull", repo.path, "good", "--branch=evil", "--into=/desk")
    equal(result.status, 0, result.stderr)
    equal(work(fx, "good").read_text(), "good\n", "its neighbour can be had")
    repo.commit(repo.tree(("100644", "a\x1b[31m\nb", evil)), branch="odd")
    result = fx.sandbash(*flags, "--git", "pull", repo.path, "--branch=odd", "--into=/desk")
    equal(result.status, 0, result.stderr)
    equal(work(fx, "a\x1b[31m\nb").read_text(), "evil\n", "odd is allowed")


@test("Z8 links and submodules of a repository are left out, and said")
def left_out(fx):
    repo = set_up(fx)
    repo.commit(repo.tree(("120000", "link", repo.blob("/etc/passwd")), ("160000", "sub", "1" * 40),
                          ("100644", "file", repo.blob("x\n"))))
    result = git(fx, "pull", repo.path, "--into=/desk")
    contains(result.stdout, "left out: link (a link)")
    contains(result.stdout, "left out: sub (a submodule)")
    equal(sorted(os.listdir(work(fx))), ["file"])
    repo.commit(repo.tree(("120000", "x", repo.blob(str(fx.outside))), ("040000", "y", repo.tree(
        ("100644", "z", repo.blob("z\n"))))))
    git(fx, "pull", repo.path, "--into=/desk")
    check(work(fx, "y/z").exists() and not os.path.lexists(work(fx, "x")), "no link to write through")


def arm(fx, repo, marker):
    """Everything of a repository that names a program."""
    evil = fx.write(fx.outside / "evil", f"#!/bin/sh\ntouch {marker}\ncat\n", mode=0o755)
    promisor = fx.write(fx.outside / "promisor", f"#!/bin/sh\ntouch {marker}\n", mode=0o755)
    for hook in ("reference-transaction", "post-checkout", "pre-push", "post-index-change", "update", "pre-receive"):
        fx.write(repo.git_dir / "hooks" / hook, f"#!/bin/sh\ntouch {marker}\n", mode=0o755)
    fx.write(repo.git_dir / "more", f"[core]\n\thooksPath = {repo.git_dir}/hooks\n\tpager = {evil}\n")
    fx.write(repo.git_dir / "config", f"""[core]
\trepositoryformatversion = 1
\tbare = true
\tfsmonitor = {evil}
\tsshCommand = {evil}
\thooksPath = {repo.git_dir}/hooks
\talternateRefsCommand = {evil}
\tgitProxy = {evil}
\tattributesFile = {repo.git_dir}/attributes
\taskPass = {evil}
[extensions]
\tpartialClone = promisor
[remote "promisor"]
\turl = ext::{promisor} x
\tpromisor = true
\tuploadpack = {evil}
[protocol]
\tallow = always
[protocol "ext"]
\tallow = always
[filter "evil"]
\tclean = {evil}
\tsmudge = {evil}
\tprocess = {evil}
\trequired = true
[diff]
\texternal = {evil}
[diff "evil"]
\ttextconv = {evil}
\tcommand = {evil}
[gpg]
\tprogram = {evil}
[commit]
\tgpgSign = true
[user]
\tsigningKey = x
[log]
\tshowSignature = true
[credential]
\thelper = {evil}
[alias]
\tls-tree = !{evil}
[pager]
\tls-tree = {evil}
\tlog = {evil}
[include]
\tpath = more
""")
    for place in ("attributes", "info/attributes"):
        fx.write(repo.git_dir / place, "* filter=evil diff=evil\n")


@test("Z8 nothing that a repository's settings, hooks and attributes name is run", variants=VARIANTS)
def programs(fx):
    repo = set_up(fx)
    flags = ("--best-effort",) if fx.variant == "flat" else ()
    marker = fx.outside / "ran"
    repo.commit(repo.tree(("100644", ".gitattributes", repo.blob("* filter=evil diff=evil\n")),
                          ("100644", "a", repo.blob("a\n"))))
    arm(fx, repo, marker)
    repo.git("update-ref", "refs/heads/control", "main")
    check(marker.exists(), "without us the hook runs")
    marker.unlink()
    repo.git("log", "-1", "-p", "main", check=False)
    check(marker.exists(), "without us a diff runs a program")
    marker.unlink()
    result = fx.sandbash(*flags, "--git", "pull", repo.path, "--into=/desk")
    equal(result.status, 0, result.stderr)
    fx.write(work(fx, "a"), "changed\n")
    result = fx.sandbash(*flags, "--git", "stage", "--from=/desk", f"--repo={repo.path}", "-m", "m")
    equal(result.status, 0, result.stderr)
    name = result.stdout.split()[0]
    contains(result.stdout, "+changed")
    equal(fx.sandbash(*flags, "--git", "show", name).status, 0)
    person = Person(fx, *flags, "--git", "push", name, "--branch=new", "--new-branch")
    person.answer("1", "push to")
    equal(person.end(), 0)
    name = fx.sandbash(*flags, "--git", "stage", "--from=/desk", f"--repo={repo.path}", "-m", "n").stdout.split()[0]
    equal(fx.sandbash(*flags, "--git", "discard", name).status, 0)
    check(not marker.exists(), "nothing ran")


@test("Z8 a missing object of a promisor is not fetched, and replaced objects are not believed")
def promised(fx):
    repo = set_up(fx)
    marker = fx.outside / "ran"
    good, evil = repo.blob("good\n"), repo.blob("evil\n")
    repo.commit(repo.tree(("100644", "a", good), ("100644", "b", "2" * 40)))
    repo.git("update-ref", f"refs/replace/{good}", evil)
    arm(fx, repo, marker)
    (repo.git_dir / "hooks/reference-transaction").unlink()
    repo.git("cat-file", "blob", "2" * 40, check=False)
    check(marker.exists(), "without us a missing object runs a program")
    marker.unlink()
    equal(git(fx, "pull", repo.path, "b", "--into=/desk", status=125).stdout, "")
    git(fx, "pull", repo.path, "a", "--into=/desk")
    equal(work(fx, "a").read_text(), "good\n")
    check(not marker.exists(), "nothing ran")


@test("Z8 a repository that leads elsewhere is not followed")
def borrows(fx):
    repo = set_up(fx)
    secret = Repo(fx, "secret.git")
    secret.fill()
    for name, text in (("objects/info/alternates", f"{secret.path}/objects\n"), ("commondir", f"{secret.path}\n")):
        fx.write(repo.path / name, text)
        contains(git(fx, "pull", repo.path, "--into=/desk", status=125).stderr, "takes objects from another", name)
        (repo.path / name).unlink()
    fx.write("tree/.git", f"gitdir: {secret.path}\n")
    contains(git(fx, "pull", "tree", "--into=/desk", status=125).stderr, "linked worktree")
    os.mkdir(fx.project / "link")
    os.symlink(secret.path, fx.project / "link/.git")
    contains(git(fx, "pull", "link", "--into=/desk", status=125).stderr, "linked worktree")
    # a ref that is a link out of the repository
    os.symlink(secret.path / "refs/heads/main", repo.path / "refs/heads/out")
    contains(git(fx, "pull", repo.path, "--branch=out", "--into=/desk", status=125).stderr, "sandbash: ")
    os.rename(repo.path / "objects", repo.path / "gone")
    os.symlink(secret.path / "objects", repo.path / "objects")
    contains(git(fx, "pull", repo.path, "--into=/desk", status=125).stderr, "no git repository")
    check(not work(fx).exists() or not os.listdir(work(fx)), "nothing came")
    git(fx, "pull", secret.path, "--into=/desk")


@test("Z8 what is too much is refused, with words")
def huge(fx):
    repo = set_up(fx)
    tree = repo.tree(*[("100644", f"f{i}", repo.blob("x\n")) for i in range(3)])
    for _ in range(12):
        tree = repo.tree(*[("040000", f"d{i}", tree) for i in range(8)])
    repo.commit(tree)
    contains(git(fx, "pull", repo.path, "--into=/desk", status=125).stderr, "20,000 files")
    with open(fx.outside / "large", "wb") as file:
        file.truncate(65 << 20)
    large = repo.git("hash-object", "-w", fx.outside / "large")
    repo.commit(repo.tree(("100644", "large", large), ("100644", "small", repo.blob("x\n"))))
    contains(git(fx, "pull", repo.path, "--into=/desk", status=125).stderr, "64 MB in one file")
    check(not work(fx, "small").exists(), "nothing is written")
    git(fx, "pull", repo.path, "small", "--into=/desk")
    os.rename(fx.outside / "large", work(fx, "large"))
    contains(stage_fails(fx, repo), "large")


def stage_fails(fx, repo, *words):
    return git(fx, "stage", "--from=/desk", f"--repo={repo.path}", "-m", "m", *words, status=125).stderr


@test("Z8 a broken repository ends in words, not in files")
def broken(fx):
    repo = set_up(fx)
    blob = repo.blob("broken\n")
    repo.commit(repo.tree(("100644", "b", blob)))
    loose = repo.git_dir / "objects" / blob[:2] / blob[2:]
    loose.chmod(0o644)
    for data in (b"", b"garbage", os.urandom(64)):
        loose.write_bytes(data)
        contains(git(fx, "pull", repo.path, "--into=/desk", status=125).stderr, "sandbash: git")
        check(not work(fx, "b").exists(), "nothing")
    (repo.git_dir / "HEAD").write_text("ref: refs/heads/../../../etc\n")
    contains(git(fx, "pull", repo.path, "--into=/desk", status=125).stderr, "sandbash: ")


@test("Z8 a git gone astray reaches nothing but the repository", variants=VARIANTS)
def astray(fx):
    repo, name = set_up(fx), f"astray-{fx.dir.name}"  # in directories that others use, too
    flags = ("--best-effort",) if fx.variant == "flat" else ()
    secret = fx.write(fx.home / "secret", "s3cret\n")
    fx.write(work(fx, "mine"), "mine\n")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(0)
        port = listener.getsockname()[1]
        tries = (f"cat {secret} >&2; cat {work(fx, 'mine')} >&2; ls {fx.home} >&2\n"
                 f"for i in {fx.outside} {fx.home} {fx.project} {work(fx)} /tmp /var/tmp; do echo >$i/{name}; done\n"
                 f"bash -c 'echo >/dev/tcp/127.0.0.1/{port}'\n")
        program = fx.write(fx.outside / "bin/git", f'#!/bin/sh\n({tries}) >/dev/null 2>/dev/null\n'
                           'case " $* " in *" ls-tree "*)\n' + tries + 'exit 128;; esac\nexec /usr/bin/git "$@"\n',
                           mode=0o755)
        places = [place / name for place in (fx.outside, fx.home, fx.project, work(fx))]
        fx.run(program, "version")
        check(all(place.exists() for place in places), "without a sandbox it would")
        listener.accept()[0].close()
        for place in [*places, Path("/tmp") / name, Path("/var/tmp") / name]:
            place.unlink(missing_ok=True)
        result = fx.sandbash(*flags, "--git", "pull", repo.path, "--into=/desk",
                             env={"PATH": f"{program.parent}:/usr/bin:/bin"})
        equal(result.status, 125, "it has failed")
        for text in ("s3cret", "mine\n"):
            lacks(result.stderr, text)
        for place in [*places, Path("/tmp") / name, Path("/var/tmp") / name]:
            check(not place.exists(), str(place))
        try:
            listener.accept()
            check(False, "it has called somebody")
        except BlockingIOError:
            pass


@test("Z8 a git that fails, or is none, is told in words")
def fails(fx):
    repo = set_up(fx)
    git(fx, "pull", repo.path, "--into=/desk")
    fx.write(work(fx, "large"), b"x" * (1 << 20))
    for last in ("echo 'fatal: no luck' >&2; exit 128", "kill -9 $$", "exit 0", "echo nonsense"):
        text = f'#!/bin/sh\ncase " $* " in *" fast-import "*) {last};; *) exec /usr/bin/git "$@";; esac\n'
        program = fx.write(fx.outside / "bin/git", text, mode=0o755)
        result = git(fx, "stage", "--from=/desk", f"--repo={repo.path}", "-m", "m", status=125,
                     env={"PATH": f"{program.parent}:/usr/bin:/bin"})
        contains(result.stderr, "sandbash: git", last)
    contains(git(fx, "pull", repo.path, "--into=/desk", env={"PATH": "/nowhere"}, status=125).stderr, "no git on the PATH")
    equal(list(repo.refs()), ["refs/heads/main"])
    old = fx.home / ".local/state/sandbash/git/own-killed"
    live = old.with_name("own-lives")
    for path in (old, live):
        (path / "refs").mkdir(parents=True)
    fd = os.open(live, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    stage(fx, repo)
    check(not old.exists(), "what somebody left goes with the next act")
    check((live / "refs").exists(), "neighbour: who lives holds his")
    os.close(fd)
    fx.write(work(fx, "large"), "less")
    stage(fx, repo)
    check(not live.exists(), "now he is gone")


@test("Z8 inside a sandbox there is none of it: its commands have the tools of their server")
def inside(fx):
    repo = set_up(fx)
    result = fx.sandbash("--consent=deny", fx.argv()[0], "--git", "pull", repo.path, "--into=/desk")
    check(result.status != 0 and "sandbash: " in result.stderr, result.stderr)
    check(not work(fx, "run.sh").exists(), "nothing")


# --- hostile zones -------------------------------------------------------------------------------------------


@test("Z8 what is no file in a zone is left out; links lead nowhere")
def zone(fx):
    repo = set_up(fx)
    secret = fx.write(fx.outside / "secret", "secret\n")
    git(fx, "pull", repo.path, "--into=/desk")
    os.mkfifo(work(fx, "fifo"))
    os.symlink(secret, work(fx, "link"))
    os.symlink(fx.outside, work(fx, "dir"))
    server = socket.socket(socket.AF_UNIX)
    os.chdir(work(fx))
    server.bind("socket")
    os.chdir("/")
    if os.getuid() == 0:
        os.mknod(work(fx, "null"), stat.S_IFCHR | 0o666, os.makedev(1, 3))
    fx.write(work(fx, "a\x1b]0;x\x07\nb\"\\"), "odd\n")
    done = git(fx, "stage", "--from=/desk", f"--repo={repo.path}", "-m", "m")
    name = done.stdout.split()[0]
    lacks(done.stdout, "\x1b")
    for left in ("fifo", "link", "dir", "socket"):
        contains(done.stdout, f"left out: {left} (")
    equal(repo.git("ls-tree", "-z", "--name-only", name), "a\x1b]0;x\x07\nb\"\\\0run.sh\0src\0")
    lacks(done.stdout, "secret\n")
    for path in ("dir/secret", "link/x"):
        lacks(stage_fails(fx, repo, path), "secret\n+")
    server.close()


@test("Z8 no zone file becomes a repository's .git")
def dot_git(fx):
    repo = set_up(fx)
    for name in (".git/config", "sub/.GIT/hooks/x", ".g\u200cit", "git~1/x"):
        path = fx.write(work(fx, name), "x\n")
        contains(stage_fails(fx, repo), "no repository should have", name)
        path.unlink()
    fx.write(work(fx, ".gitignore"), "x\n")
    stage(fx, repo)


@test("Z8 pull writes through no link out of its zone")
def through(fx):
    repo = set_up(fx)
    git(fx, "pull", repo.path, "run.sh", "--into=/desk")
    fx.write(".sandbox/other/a.c", "other\n")
    fx.write("mine.c", "mine\n")
    for target in (fx.project / ".sandbox/other", "../other", fx.outside, fx.project):
        os.symlink(target, work(fx, "src"))
        check(git(fx, "pull", repo.path, "--into=/desk", status=125).stderr, str(target))
        os.unlink(work(fx, "src"))
    equal(fx.read(".sandbox/other/a.c"), "other\n")
    check(not (fx.outside / "a.c").exists() and not fx.exists("a.c"), "nothing outside")
    work(fx, "src").mkdir()
    os.symlink(fx.project / "mine.c", work(fx, "src/a.c"))
    git(fx, "pull", repo.path, "--into=/desk", status=125)
    equal(fx.read("mine.c"), "mine\n")
    os.unlink(work(fx, "src/a.c"))
    os.mkfifo(work(fx, "src/a.c"))
    git(fx, "pull", repo.path, "--into=/desk", status=125)
    os.unlink(work(fx, "src/a.c"))
    git(fx, "pull", repo.path, "--into=/desk")
    # the zone itself
    os.rename(work(fx), fx.project / ".sandbox/was")
    os.symlink(fx.outside, work(fx))
    git(fx, "pull", repo.path, "--into=/desk", status=125)
    check(not (fx.outside / "run.sh").exists(), "nothing through the zone")


@test("Z8 a name that a program outside obeys asks, and without a yes nothing is written")
def guarded(fx):
    repo = set_up(fx)
    repo.commit(repo.tree(("100644", "a", repo.blob("a\n")), ("100644", ".envrc", repo.blob("evil\n"))))
    contains(git(fx, "pull", repo.path, "--into=/desk", status=125).stderr, "nobody can be asked whether to create")
    equal(os.listdir(work(fx)) if work(fx).exists() else [], [], "nothing")
    git(fx, "pull", repo.path, "a", "--into=/desk")
    person = Person(fx, "--git", "pull", repo.path, "--into=/desk")
    contains(person.answer("1", ".envrc"), "evil")
    equal(person.end(), 0)
    equal(work(fx, ".envrc").read_text(), "evil\n")


@test("Z8 so it is where its directory has to be made first, and what it means hangs on others beside it")
def guarded_in_new_directory(fx):
    repo = set_up(fx)
    a, settings = ("100644", "a", repo.blob("a\n")), ("100644", "tasks.json", repo.blob("{}\n"))
    code = ("040000", ".vscode", repo.tree(a, settings))
    keep = repo.tree(("100644", "keep", repo.blob("")))
    bare = repo.tree(("100644", "HEAD", repo.blob("ref: refs/heads/main\n")),
                     ("100644", "config", repo.blob("[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = evil\n")),
                     ("040000", "objects", keep), ("040000", "refs", keep))
    for name, entries in {"right there": (a, code), "deeper": (a, ("040000", "b", repo.tree(a, code)), ("100644", "c", a[2])),
                          "a git directory": (a, ("040000", "sub", bare))}.items():
        repo.commit(repo.tree(*entries))
        for into in ("/desk", "/desk/new/one"):
            contains(git(fx, "pull", repo.path, f"--into={into}", status=125).stderr, "nobody can be asked whether to create", name)
            equal(os.listdir(work(fx)) if work(fx).exists() else [], [], f"{name}: nothing, and no directory")
    work(fx, "b").mkdir()
    repo.commit(repo.tree(a, ("040000", "b", repo.tree(a, code))))
    git(fx, "pull", repo.path, "--into=/desk", status=125)
    equal(list(work(fx).rglob("*")), [work(fx, "b")], "what was there stays")
    person = Person(fx, "--git", "pull", repo.path, "--into=/desk")
    contains(person.answer("1", "folder is opened"), "{}")
    equal(person.end(), 0)
    equal(work(fx, "b/.vscode/tasks.json").read_text(), "{}\n")
    repo.commit(repo.tree(a, ("040000", "sub", repo.tree(("100644", "config", a[2]), ("040000", "objects", keep)))))
    git(fx, "pull", repo.path, "--into=/desk/neighbour")
    equal(work(fx, "neighbour/sub/config").read_text(), "a\n", "a config of nobody's")


@test("Z8 a tree that has a name twice is refused before anything is written")
def twice(fx):
    repo = set_up(fx)
    a, d = repo.blob("a\n"), repo.tree(("100644", "x", repo.blob("x\n")))
    for entries in ((("100644", "a", a), ("100644", "d", a), ("040000", "d", d)), (("100644", "a", a), ("100644", "a", a))):
        raw = b"".join(b"%s %s\0%s" % (mode.lstrip("0").encode(), name.encode(), bytes.fromhex(oid)) for mode, name, oid in entries)
        fx.write(fx.dir / "tree", raw)
        repo.commit(repo.git("hash-object", "-t", "tree", "-w", "--literally", fx.dir / "tree"))
        contains(git(fx, "pull", repo.path, "--into=/desk", status=125).stderr, "twice")
        equal(os.listdir(work(fx)) if work(fx).exists() else [], [], "nothing")
    repo.commit(repo.tree(("100644", "a", a), ("100644", "d.x", a), ("040000", "d", d), ("100644", "d-x", a)))
    git(fx, "pull", repo.path, "--into=/desk")
    equal(work(fx, "d/x").read_text(), "x\n", "the neighbour")


# --- push ----------------------------------------------------------------------------------------------------


@test("Z8 push: fast-forward only unless told, new branches on request")
def forward(fx):
    repo = set_up(fx)
    git(fx, "pull", repo.path, "--into=/desk")
    fx.write(work(fx, "run.sh"), "mine\n")
    name = stage(fx, repo)
    theirs = repo.commit(repo.tree(("100644", "theirs", repo.blob("theirs\n"))))
    contains(git(fx, "push", name, status=125).stderr, "has moved since this was staged")
    contains(git(fx, "push", name, "--branch=main", "--new-branch", status=125).stderr, "already")
    contains(git(fx, "push", name, "--branch=a..b", status=125).stderr, "no name of a branch")
    contains(git(fx, "push", name, "--branch=-x", status=125).stderr, "no name of a branch")
    equal(repo.refs()["refs/heads/main"], theirs)
    contains(push(fx, name, "--force"), "would be lost")
    equal(repo.refs()["refs/heads/main"][:12], name)
    fx.write(work(fx, "run.sh"), "more\n")
    name = stage(fx, repo)
    push(fx, name, "--branch=topic/x", "--new-branch")
    equal(repo.refs()["refs/heads/topic/x"][:12], name)
    check(repo.refs()["refs/heads/main"][:12] != name, "main stays")


@test("Z8 push: a branch that somebody has checked out stays as it is")
def checked_out(fx):
    repo = set_up(fx, name="tree", bare=False)
    fx.run("git", "-C", repo.path, "reset", "-q", "--hard")
    fx.run("git", "-C", repo.path, "worktree", "add", "-q", "-b", "second", fx.outside / "second")
    fx.write(work(fx, "run.sh"), "mine\n")
    name, before = stage(fx, repo), repo.refs()
    repo.git("config", "core.bare", "true")
    for branch in ("main", "second"):
        result = git(fx, "push", name, f"--branch={branch}", status=125)
        contains(result.stderr, "is checked out there")
        contains(result.stderr, f"git merge refs/sandbash/{name}")
    equal(repo.refs(), before)
    push(fx, name, "--branch=third", "--new-branch")
    equal(repo.show("third:run.sh"), "mine")


@test("Z8 what is pushed is what was staged")
def tampered(fx):
    repo = set_up(fx)
    git(fx, "pull", repo.path, "--into=/desk")
    fx.write(work(fx, "run.sh"), "mine\n")
    name = stage(fx, repo)
    ref, was = f"refs/sandbash/{name}", repo.refs()[f"refs/sandbash/{name}"]
    evil = repo.commit(repo.tree(("100644", "evil", repo.blob("evil\n"))), branch="evil")
    repo.git("update-ref", ref, evil)
    for act in ("show", "push", "discard"):
        contains(git(fx, act, name, status=125).stderr, "not what was staged any more")
    repo.git("update-ref", ref, was)
    repo.git("symbolic-ref", ref, "refs/heads/evil")
    contains(git(fx, "discard", name, status=125).stderr, "not what was staged any more")
    equal(repo.refs()["refs/heads/evil"], evil, "no branch goes with it")
    repo.git("symbolic-ref", "-d", ref)
    contains(git(fx, "push", name, status=125).stderr, "pushed or discarded already")


run_all()
