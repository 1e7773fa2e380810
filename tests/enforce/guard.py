"""P2, P3: files that a program outside would later run or obey keep their content and place.

A static run holds the names that exist at launch, at the top of each project, with mounts;
names that do not exist yet need the supervisor, which decides otherwise: what it holds is in
tests/supervise/guard.py.
"""

import os

from attack import ABSENT, CROSSING, act, boxed, refused, signature, unchanged, works
from tap import SUPERVISED, check, contains, equal, lacks, run_all, test

GUARDED = (".git/config", ".git/hooks/pre-commit", ".bashrc", ".bash_profile", ".profile", ".zshrc",
           ".zshenv", ".envrc", ".gitconfig", ".mcp.json", ".vimrc", ".npmrc", ".vscode/tasks.json",
           ".idea/workspace.xml", ".claude/settings.json", ".claude/settings.local.json",
           ".claude/commands/go.md", ".cursor/mcp.json", ".devcontainer/devcontainer.json",
           ".config/fish/config.fish", ".local/bin/ls")


def static(*arguments, **more):
    """About mounts: these hold a name with everything in it, and its place."""
    return (lambda function: function) if SUPERVISED else test(*arguments, **more)


def plant(fx, name, top=None):
    """The name with content, where git's are part of a repository."""
    if name.startswith(".git/") and top is None:
        fx.git_project()
    path = (top or fx.project) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a") as file:
        file.write("# guarded\n")
    path.chmod(0o755)
    return path


ATTACKS = (
    "open wronly {n}",
    "open rdwr+append {n}",
    "open wronly+creat+trunc {n}",
    "open rdonly+trunc {n}",
    "openat2 wronly {n}",
    "truncate {n}",
    "mmap {n}",
    "reopen rdonly /proc/self/fd {n}",
    "reopen path /proc/self/fd {n}",
    "open wronly /proc/self/root{a}",
    "open wronly /proc/self/cwd/{n}",
    "open wronly up/project/{n}",
    "open wronly alias/{n}",
    "meta chmod {n}",
    "meta fchmod {n}",
    "meta setxattr {n}",
    "unlink {n}",
    "rename plain {n} mine",
    "rename plain own {n}",
    "rename exchange own {n}",
    "rename exchange {n} own",
    "link path {n} mine",
    "link proc {n} mine",
)


def try_all(fx, path, attacks=ATTACKS, **where):
    """Every attack on one guarded file, and none leaves a trace."""
    name = os.path.relpath(path, fx.project)
    before = signature(path)
    parents = [p for p in path.parents if fx.project in p.parents]
    numbers = [p.stat().st_ino for p in parents]
    for template in attacks:
        words = template.format(n=name, a=path).split()
        if not fx.exists("own"):
            fx.write("own", "evil\n")
        refused(boxed(fx, *words, **where),
                CROSSING + ABSENT if words[0] == "openat2" else CROSSING, template)
        unchanged(before, path, template)
    for parent in parents:
        place = os.path.relpath(parent, fx.project)
        refused(boxed(fx, "rename", "plain", place, "mine", **where), CROSSING, f"rename {place}")
        fx.path("other").mkdir(exist_ok=True)
        refused(boxed(fx, "rename", "exchange", place, "other", **where), CROSSING)
        refused(boxed(fx, "rename", "exchange", "other", place, **where), CROSSING)
    equal([p.stat().st_ino for p in parents], numbers, "the directories are the same")
    unchanged(before, path)


def register(name):
    @static(f"P3 guarded: {name}")
    def guarded(fx):
        path = plant(fx, name)
        fx.path("alias").symlink_to(".")
        fx.path("up").symlink_to("..")
        try_all(fx, path)
        # The neighbours: an ordinary file, beside it and at the top, and the thing itself readable.
        works(boxed(fx, "read", name))
        works(boxed(fx, "open", "wronly+creat", "ordinary"))
        works(boxed(fx, "rename", "plain", "own", "mine"))
        # The control: without a sandbox the same calls work.
        for template in ("open wronly {n}", "meta chmod {n}", "rename exchange {n} mine",
                         "unlink {n}"):
            works(act(fx, *template.format(n=name).split()), f"control {template}")


for name in GUARDED:
    register(name)


@test("P3 guarded: held by the outer run when nested", variants=("nested",))
def nested(fx):
    path = plant(fx, ".git/config")
    fx.path("alias").symlink_to(".")
    fx.path("up").symlink_to("..")
    try_all(fx, path)
    works(boxed(fx, "open", "wronly+creat", ".git/COMMIT_EDITMSG"))


@static("P3 guarded: nothing new appears in a guarded directory")
def new_hook(fx):
    fx.git_project()
    for top, name in ((".git/hooks", "post-commit"), (".vscode", "new.json"),
                      (".cursor", "mcp.json")):
        fx.path(top).mkdir(exist_ok=True)
        fx.write("own", "#!/bin/sh\n", 0o755)
        before = signature(fx.path(top))
        for words in (["open", "wronly+creat", f"{top}/{name}"], ["mkdir", f"{top}/{name}"],
                      ["symlink", "/bin/sh", f"{top}/{name}"],
                      ["rename", "plain", "own", f"{top}/{name}"],
                      ["link", "path", "own", f"{top}/{name}"],
                      ["tmpfile", top, f"{top}/{name}"], ["tmpfile", ".", f"{top}/{name}"],
                      ["bind", f"{top}/{name}"]):
            refused(boxed(fx, *words), CROSSING, str(words))
        unchanged(before, fx.path(top), top)
        works(act(fx, "open", "wronly+creat", f"{top}/{name}"), "control")
    works(boxed(fx, "open", "wronly+creat", ".git/neighbour"))


@static("P3 guarded: .git as a file")
def git_file(fx):
    fx.git_project()
    tree = fx.home / "tree"
    equal(fx.run("git", "worktree", "add", "-q", tree).status, 0)
    link = tree / ".git"
    before = signature(link)
    for words in (["open", "wronly", ".git"], ["truncate", ".git"], ["unlink", ".git"],
                  ["rename", "plain", ".git", "mine"], ["rename", "plain", "own", ".git"],
                  ["rename", "exchange", "own", ".git"], ["link", "path", ".git", "mine"]):
        (tree / "own").write_text("gitdir: /evil\n")
        refused(boxed(fx, *words, cwd=tree), CROSSING, str(words))
        unchanged(before, link, str(words))
    works(boxed(fx, "open", "wronly+creat", "ordinary", cwd=tree))
    works(act(fx, "unlink", ".git", cwd=tree), "control")


@static("P3 guarded: a symlink as the guarded name keeps its target and its place")
def symlinked(fx):
    fx.git_project()
    fx.run("sh", "-c", "mv .git/hooks githooks && ln -s ../githooks .git/hooks")
    fx.write("dot/bashrc", "x")
    fx.path(".bashrc").symlink_to("dot/bashrc")
    fx.write("dot/vscode/tasks.json", "{}")
    fx.path(".vscode").symlink_to("dot/vscode")
    fx.write(fx.home / "profile", "x")
    fx.path(".profile").symlink_to("../profile")
    hook = fx.write("githooks/pre-commit", "x")
    names = (".git/hooks", ".bashrc", ".vscode", ".profile")
    before = {name: signature(fx.path(name)) for name in names}
    targets = {top: signature(fx.path(top)) for top in ("githooks", "dot")}
    for words in (["open", "wronly", "githooks/pre-commit"],
                  ["open", "wronly+creat", "githooks/new"],
                  ["open", "wronly", ".git/hooks/pre-commit"],
                  ["open", "wronly", ".bashrc"], ["open", "wronly", "dot/bashrc"],
                  ["open", "wronly", ".vscode/tasks.json"], ["rename", "plain", "dot", "mine"],
                  ["rename", "plain", "githooks", "mine"]):
        refused(boxed(fx, *words), CROSSING, str(words))
    for name in names:
        fx.write("own", "evil\n")
        for words in (["unlink", name], ["rename", "plain", name, "mine"],
                      ["rename", "plain", "own", name], ["rename", "exchange", "own", name]):
            refused(boxed(fx, *words), CROSSING, str(words))
        unchanged(before[name], fx.path(name), name)
    for top, old in targets.items():
        unchanged(old, fx.path(top), top)
    equal(hook.read_text(), "x")
    works(boxed(fx, "read", ".bashrc"))
    works(boxed(fx, "open", "wronly+creat", "dot/ordinary"))
    works(act(fx, "unlink", ".bashrc"), "control")


@static("P3 guarded: a chain of symlinks keeps every link")
def chained(fx):
    fx.write("dot/bashrc", "x")
    fx.path("link").symlink_to("dot/bashrc")
    fx.path(".bashrc").symlink_to("link")
    fx.write("real/vscode/tasks.json", "{}")
    fx.path("settings").symlink_to("real")
    fx.path(".vscode").symlink_to("settings/vscode")
    fx.write("y/zshrc", "x")
    fx.path("x").symlink_to(fx.path("y"))
    fx.path(".zshrc").symlink_to(fx.path("x/zshrc"))
    names = (".bashrc", "link", ".vscode", "settings", ".zshrc", "x")
    before = {name: signature(fx.path(name)) for name in names}
    for name in names:
        fx.write("own", "evil\n")
        for words in (["unlink", name], ["rename", "plain", name, "mine"],
                      ["rename", "plain", "own", name], ["rename", "exchange", "own", name]):
            refused(boxed(fx, *words), CROSSING, str(words))
        unchanged(before[name], fx.path(name), name)
    for path in ("dot/bashrc", "real/vscode/tasks.json", "y/zshrc"):
        refused(boxed(fx, "open", "wronly", path), CROSSING, path)
    works(boxed(fx, "read", ".zshrc"))
    works(boxed(fx, "open", "wronly+creat", "real/ordinary"))
    works(act(fx, "unlink", "link"), "control")


@static("P3 guarded: .git as a symlink")
def git_symlink(fx):
    fx.git_project()
    fx.path(".git").rename(fx.path("real"))
    fx.path(".git").symlink_to("real")
    before = signature(fx.path("real"))
    place = signature(fx.path(".git"))
    for words in (["open", "wronly", ".git/config"], ["open", "wronly", "real/config"],
                  ["open", "wronly+creat", "real/hooks/pre-commit"],
                  ["rename", "plain", "real", "mine"], ["unlink", ".git"],
                  ["rename", "plain", ".git", "mine"]):
        refused(boxed(fx, *words), CROSSING, str(words))
    unchanged(before, fx.path("real"))
    unchanged(place, fx.path(".git"))
    works(fx.sandbash("sh", "-c", "touch a && git add a && git commit -q -m a"))
    works(act(fx, "unlink", ".git"), "control")


@static("P3 guarded: through a larger root that holds the project")
def larger_root(fx):
    path = plant(fx, ".git/config")
    fx.path("alias").symlink_to(".")
    fx.path("up").symlink_to("..")
    flags = [f"--allow-write={fx.home}"]
    try_all(fx, path, flags=flags)
    before = signature(path)
    for words in (["rename", "plain", fx.project, fx.home / "moved"],
                  ["open", "wronly", fx.home / "project/.git/config"]):
        refused(boxed(fx, *words, flags=flags), CROSSING, str(words))
    unchanged(before, path)
    works(boxed(fx, "open", "wronly+creat", fx.home / "ordinary", flags=flags))
    works(act(fx, "rename", "plain", fx.project, fx.home / "moved", cwd=fx.home), "control")


@static("P5 guarded: in every project of the run")
def further_project(fx):
    other = fx.home / "other"
    fx.git_project()
    fx.write(other / ".bashrc", "x")
    equal(fx.run("git", "init", "-q", other).status, 0)
    flags = [f"--project={other}"]
    before = signature(other / ".git" / "config"), signature(other / ".bashrc")
    for words in (["open", "wronly", other / ".git/config"], ["open", "wronly", other / ".bashrc"],
                  ["rename", "plain", other / ".git", other / "mine"],
                  ["rename", "plain", fx.project / ".git", other / "mine"],
                  ["open", "wronly", fx.project / ".git/config"]):
        refused(boxed(fx, *words, flags=flags), CROSSING, str(words))
    unchanged(before[0], other / ".git" / "config")
    unchanged(before[1], other / ".bashrc")
    works(boxed(fx, "open", "wronly+creat", other / "ordinary", flags=flags))
    works(act(fx, "open", "wronly", other / ".bashrc"), "control")


@static("P2 guarded: at the top of every writable root")
def every_root(fx):
    other = fx.home / "other"
    fx.write(other / ".bashrc", "x")
    equal(fx.run("git", "init", "-q", other).status, 0)
    flags = [f"--allow-write={other}"]
    before = signature(other / ".git" / "config"), signature(other / ".bashrc")
    for words in (["open", "wronly", other / ".git/config"], ["open", "wronly", other / ".bashrc"],
                  ["rename", "plain", other / ".git", other / "mine"]):
        refused(boxed(fx, *words, flags=flags), CROSSING, str(words))
    unchanged(before[0], other / ".git" / "config")
    unchanged(before[1], other / ".bashrc")
    works(boxed(fx, "open", "wronly+creat", other / "ordinary", flags=flags))
    works(act(fx, "open", "wronly", other / ".bashrc"), "control")


@static("P3 guarded: start-up files when the home directory is the project")
def home(fx):
    for name in (".bashrc", ".profile", ".config/fish/config.fish", ".local/bin/ls",
                 ".ssh/authorized_keys"):
        fx.write(fx.home / name, "x")
    before = {name: signature(fx.home / name) for name in (".bashrc", ".profile", ".ssh",
                                                           ".local/bin")}
    where = {"flags": ["--allow-home"], "cwd": fx.home}
    for words in (["open", "wronly", ".bashrc"], ["unlink", ".profile"],
                  ["open", "wronly", ".config/fish/config.fish"],
                  ["open", "wronly+creat", ".local/bin/git"],
                  ["open", "wronly", ".ssh/authorized_keys"],
                  ["open", "wronly+creat", ".ssh/rc"],
                  ["rename", "plain", ".config", "mine"], ["rename", "plain", ".local", "mine"],
                  ["rename", "plain", ".ssh", "mine"]):
        refused(boxed(fx, *words, **where), CROSSING, str(words))
    for name, old in before.items():
        unchanged(old, fx.home / name, name)
    works(boxed(fx, "open", "wronly+creat", "ordinary", **where))
    works(act(fx, "open", "wronly", ".bashrc", cwd=fx.home), "control")


@test("P2 a read-only part of the project: no change, no move, no rebuilt parent")
def read_only_part(fx):
    path = fx.write("a/b/vendor/file", "x")
    flags = ["--allow-read=a/b/vendor"]
    before = signature(fx.path("a/b/vendor"))
    for words in (["open", "wronly", "a/b/vendor/file"], ["open", "wronly+creat", "a/b/vendor/new"],
                  ["unlink", "a/b/vendor/file"], ["rename", "plain", "a/b/vendor", "mine"],
                  ["rename", "plain", "a/b", "mine"], ["rename", "plain", "a", "mine"],
                  ["link", "path", "a/b/vendor/file", "mine"]):
        refused(boxed(fx, *words, flags=flags), CROSSING, str(words))
    unchanged(before, fx.path("a/b/vendor"))
    check(path.exists())
    works(boxed(fx, "open", "wronly+creat", "a/b/ordinary", flags=flags))
    works(act(fx, "rename", "plain", "a", "mine"), "control")


@test("R4 without namespaces it holds protected names, or names those that it cannot hold")
def weaker(fx):
    fx.git_project()
    result = fx.sandbash("touch", "started", without="userns")
    if SUPERVISED:
        equal((result.status, result.stderr), (0, ""))
    else:
        equal(result.status, 125)
        for sentence in (".git/config", "protected name"):
            contains(result.stderr, sentence)
        check(not fx.exists("started"))
    works(fx.sandbash("touch", "started", variant="full"))


GIT = """set -e
echo two >>README
git add README; git commit -q -m two
git branch topic; git tag v1; git tag -a -m note v2
git switch -q topic; echo three >three; git add three; git commit -q -m three
git switch -q main; echo four >four; git add four; git commit -q -m four
git merge -q -m merged topic
echo five >>README; git stash -q; git stash pop -q; git commit -q -a -m five
git switch -q -c side HEAD~1; echo six >six; git add six; git commit -q -m six
git rebase -q main; git switch -q main; git merge -q side
git cherry-pick --allow-empty HEAD >/dev/null 2>&1 || git cherry-pick --abort
git mv six seven; git commit -q -m seven; git rm -q seven; git commit -q -m eight
git reset -q --hard HEAD~1; git checkout -q HEAD~1 -- README; git checkout -q -f main
git branch -d topic >/dev/null; git gc -q; git fsck --no-progress; git log --oneline >/dev/null
test -z "$(git status --porcelain)"
"""


@test("P3 ordinary git use works", variants=("full", "flat", "nested"))
def git(fx):
    fx.git_project()
    config = fx.read(".git/config")
    hooks = signature(fx.path(".git/hooks"))
    works(fx.sandbash("bash", "-c", GIT))
    equal(fx.read(".git/config"), config)
    unchanged(hooks, fx.path(".git/hooks"))
    equal(fx.run("git", "fsck", "--no-progress").status, 0)
    equal(fx.run("git", "status", "--porcelain").stdout, "")
    leftovers = [n for n in os.listdir(fx.path(".git")) if n.endswith(".lock")]
    equal(leftovers, [])


@test("P3 git init and clone work in the project", variants=("full", "flat", "nested"))
def git_init(fx):
    works(fx.sandbash("bash", "-c", "git init -q fresh && cd fresh && echo x >x && git add x && "
                      "git commit -q -m x && cd .. && git clone -q fresh copy && test -f copy/x"))
    works(fx.run("git", "-C", "copy", "fsck"))


@test("P3 what git cannot write into its config leaves the repository whole",
      variants=("nested",) if SUPERVISED else ("full", "nested"))
def git_config(fx):
    """Switching to a branch of a remote wants to note it in the config."""
    equal(fx.run("git", "init", "-q", "-b", "main", fx.home / "up").status, 0)
    for words in (["commit", "-q", "--allow-empty", "-m", "x"], ["branch", "topic"]):
        equal(fx.run("git", *words, cwd=fx.home / "up").status, 0)
    equal(fx.run("git", "clone", "-q", fx.home / "up", fx.project).status, 0)
    before = fx.read(".git/config")
    works(fx.sandbash("git", "switch", "-q", "topic"))
    check(fx.sandbash("git", "config", "core.pager", "evil").status != 0)
    works(fx.sandbash("git", "fetch", "-q"))
    equal(fx.read(".git/config"), before)
    equal([n for n in os.listdir(fx.path(".git")) if n.endswith(".lock")], [])
    works(fx.run("git", "fsck"))
    works(fx.run("git", "config", "a.b", "c"), "control")


@test("P3 no ghost files: an empty run leaves nothing behind", variants=("full", "flat", "nested"))
def ghosts(fx):
    before = fx.snapshot()
    works(fx.sandbash("true", outer=[]))
    equal(fx.snapshot(), before, "an empty project")
    fx.git_project()
    for name in (".bashrc", ".vscode/tasks.json", ".claude/settings.json"):
        fx.write(name, "x")
    before = fx.snapshot()
    works(fx.sandbash("true", outer=[]))
    equal(fx.snapshot(), before, "a project with guarded names")
    result = fx.sandbash("sh", "-c", "ls -A", outer=[])
    lacks(result.stdout, ".zshrc", "nor does the inside see any")


@test("P3 names that are not guarded stay ordinary", variants=("full", "flat", "nested"))
def ordinary(fx):
    fx.git_project()
    for name in ("bashrc", ".bashrc.old", "sub/.vscodex", "git/config", ".github/ci.yml", "Makefile",
                 "package.json", ".gitignore"):
        fx.write(name, "x")
        works(boxed(fx, "open", "wronly+append", name))
        works(boxed(fx, "rename", "plain", name, name + "2"))
        works(boxed(fx, "unlink", name + "2"))


run_all()
