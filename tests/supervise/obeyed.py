"""obeyed.py - P3: a git directory counts for a work tree, and what its settings name there is run.

Each attack is one run or two; then git outside runs what was planted.  Without the sandbox it does so.
"""

import shutil

from compare import native
from tap import check, equal, lacks, run_all, test

BOTH = ("full", "flat")

# evil FILE makes a program that leaves a trace; $TRACE is outside the project.
TOOLS = """
evil() { mkdir -p "$(dirname "$1")"; printf '#!/bin/sh\\n: >"$TRACE"\\n' >"$1"; chmod 755 "$1"; }
conf() { mkdir -p "$(dirname "$1")"; printf '[core]\\n\\tpager = : >"$TRACE"; cat\\n\\tfsmonitor = \\": >\\\\\\"$TRACE\\\\\\"; false\\"\\n' >"$1"; }
"""
COMMIT = "git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x; git status"

NAMING = "git init -q n; git -C n config core.fsmonitor t/fsm; mkdir n/t"

# Title: what is there, the runs, what is done outside.
ATTACKS = {
    "the last of thirty includes":
        ("for i in $(seq 30); do git config --add include.path ../inc/$i; done; mkdir inc",
         ["conf inc/30"], "git status"),
    "a .git file lands over a tree with hooks, of the project's own repository":
        ("git config core.hooksPath .githooks",
         ["evil t/.githooks/pre-commit; echo 'gitdir: ../.git' >t/.git"], "cd t && " + COMMIT),
    "a .git file lands over a tree with a monitor":
        ("git config core.fsmonitor tools/fsm",
         ["evil t/tools/fsm; echo 'gitdir: ../.git' >t/.git"], "cd t && git status"),
    "the .git file first, then the monitor":
        ("git config core.fsmonitor tools/fsm",
         ["mkdir t; echo 'gitdir: ../.git' >t/.git; evil t/tools/fsm"], "cd t && git status"),
    "the .git file first, then a directory with the monitor":
        ("git config core.fsmonitor tools/fsm",
         ["mkdir t; echo 'gitdir: ../.git' >t/.git; evil q/fsm; mv q t/tools"],
         "cd t && git status"),
    "a .git file of a worktree, moved away and back":
        ("git config core.hooksPath .githooks; git worktree add -q w",
         ["mv w/.git w/g; evil w/.githooks/pre-commit; mv w/g w/.git"], "cd w && " + COMMIT),
    "the same in two runs":
        ("git config core.hooksPath .githooks; git worktree add -q w",
         ["mv w/.git w/g", "evil w/.githooks/pre-commit; mv w/g w/.git"], "cd w && " + COMMIT),
    "the same, and a repository inside":
        ("git init -q --separate-git-dir=data n; git -C n config core.hooksPath .githooks",
         ["mv n/.git n/g", "evil n/.githooks/pre-commit; mv n/g n/.git"], "cd n && " + COMMIT),
    "a worktree's .git file is gone, and git repairs it":
        ("git config core.hooksPath .githooks; git worktree add -q w",
         ["rm w/.git", "evil w/.githooks/pre-commit"], "git worktree repair; cd w && " + COMMIT),
    "a tree in the place of a submodule":
        ("git init -q ../lib; git -C ../lib commit -q --allow-empty -m x; "
         "git -c protocol.file.allow=always submodule --quiet add ../lib lib; git commit -qm lib; "
         "git -C lib config core.hooksPath .githooks",
         ["mv lib old", "evil t/.githooks/post-checkout; mv t lib"],
         "git submodule update --force; cd lib && git checkout -q -b y"),
    "core.worktree of a submodule leads to a tree that was prepared":
        ("git init -q ../lib; git -C ../lib commit -q --allow-empty -m x; "
         "git -c protocol.file.allow=always submodule --quiet add ../lib lib; git commit -qm lib; "
         "git -C lib config core.hooksPath .githooks",
         ["evil t/.githooks/post-checkout; "
          "git config -f .git/modules/lib/config core.worktree ../../../t"],
         "git --git-dir=.git/modules/lib checkout -q -b y"),
    "a worktree that git does not know, whose commondir comes last":
        ("git config core.hooksPath .githooks",
         ["evil t/.githooks/pre-commit; mkdir -p .git/worktrees/t; cd .git/worktrees/t; "
          "echo ../../../t/.git >gitdir; echo ref: refs/heads/main >HEAD; "
          "echo 'gitdir: ../.git/worktrees/t' >../../../t/.git; echo ../.. >commondir"],
         "cd t && " + COMMIT),
    "a tree with a relative .git file is moved":
        ("git config core.hooksPath .githooks",
         ["mkdir -p a/t; echo 'gitdir: ../.git' >a/t/.git; evil a/t/.githooks/pre-commit; mv a/t t"],
         "cd t && " + COMMIT),
    "a repository whose hooks are beside it is moved":
        ("git init -q n; git -C n config core.hooksPath ../hooks",
         ["evil a/hooks/pre-commit; mv n a/n"], "cd a/n && " + COMMIT),
    "the same with an include":
        ("git init -q n; git -C n config include.path ../../shared.conf",
         ["conf a/shared.conf; mv n a/n"], "cd a/n && " + COMMIT),
    "a worktree whose hooks are beside it is moved":
        ("git config core.hooksPath ../hooks; git worktree add -q w",
         ["evil a/b/hooks/pre-commit; mv w a/b/w"], "cd a/b/w && " + COMMIT),
    ".git is moved, what it names is made, .git leads back":
        ("git config core.hooksPath .githooks",
         ["mv .git g", "evil .githooks/pre-commit; echo 'gitdir: g' >.git"], COMMIT),
    "the same with a monitor":
        ("git config core.fsmonitor tools/fsm",
         ["mv .git g", "evil tools/fsm; echo 'gitdir: g' >.git"], COMMIT),
    "the same with an include":
        ("git config include.path ../x/shared.conf; mkdir x",
         ["mv .git g", "conf x/shared.conf; mv g .git"], COMMIT),
    "the same, and the include is named from its new place":
        ("git config include.path ../shared.conf",
         ["mv .git g; echo 'gitdir: g' >.git", "conf shared.conf"], COMMIT),
    "the same, and the include is where it leads from a new place":
        ("git config include.path ../shared.conf",
         ["conf a/shared.conf; mkdir -p a; mv .git a/g; echo 'gitdir: a/g' >.git"], COMMIT),
    ".git is moved and keeps its name, what it names is made, a .git file leads back":
        ("git config core.hooksPath .githooks",
         ["mkdir a; mv .git a", "evil .githooks/pre-commit; echo 'gitdir: a/.git' >.git"], COMMIT),
    "the same with a monitor, and with its name":
        ("git config core.fsmonitor tools/fsm",
         ["mkdir a; mv .git a", "evil tools/fsm; echo 'gitdir: a/.git' >.git"], COMMIT),
    "the same with an include, which is prepared":
        ("git config include.path ../shared.conf",
         ["conf a/shared.conf; mv .git a; echo 'gitdir: a/.git' >.git"], COMMIT),
    "the same with a hook that is a link":
        ("mkdir s; ln -s ../../s/run .git/hooks/pre-commit",
         ["mv .git g", "evil s/run; mv g .git"], COMMIT),
    "the same of a repository inside":
        ("git init -q n; git -C n config core.fsmonitor tools/fsm",
         ["cd n; mv .git g", "cd n; evil tools/fsm; mv g .git"], "git -C n status"),
    "the same, and a .git file is there before":
        ("git init -q n; git -C n config core.fsmonitor tools/fsm",
         ["evil t/tools/fsm; echo 'gitdir: ../g' >t/.git; mv n/.git g"], "git -C t status"),
    "a git directory that a .git file names, moved away and back":
        ("git init -q --separate-git-dir=data n; git -C n config core.hooksPath .githooks",
         ["mv data d2", "evil n/.githooks/pre-commit; mv d2 data"], "cd n && " + COMMIT),
    "a config that cannot be read for a while":
        ("git config core.fsmonitor tools/fsm",
         ["chmod 000 .git/config", "evil tools/fsm; chmod 644 .git/config"], COMMIT),
    "a repository inside, moved deeper and back":
        (NAMING, ["mkdir x; mv n x/n", "evil x/n/t/fsm; mv x/n n"], "git -C n status"),
    "a repository inside, moved, and changed there": (NAMING, ["mv n m; evil m/t/fsm"], "git -C m status"),
    "a repository inside that is closed for a while":
        (NAMING, ["chmod 000 n", "chmod 755 n; evil n/t/fsm"], "git -C n status"),
    "a repository inside, among so many directories that it is not looked for":
        (NAMING, ["mkdir $(seq -f a%g 300)", "evil n/t/fsm"], "git -C n status"),
    "a repository inside, among so many repositories":
        (NAMING, ["for i in $(seq 80); do mkdir -p a$i/.git/objects a$i/.git/refs; done", "evil n/t/fsm"], "git -C n status"),
}

# The same for a run in sub, a directory of the repository.
PARTS = {
    "a monitor": ("git config core.fsmonitor sub/fsm", "evil fsm", "git status"),
    "a hook that is a link": ("ln -s ../../sub/run .git/hooks/pre-commit", "evil run", COMMIT),
    "an included file": ("git config include.path ../sub/x.conf", "conf x.conf", COMMIT),
    "an alias": ("git config alias.x '!sh sub/a'", "evil a", "git x"),
    "a filter": ("git config filter.f.clean sub/f; echo '*.f filter=f' >.gitattributes", "evil f",
                 "echo x >x.f; git add x.f"),
    "a hook": ("git config core.hooksPath sub", "evil pre-commit", COMMIT),
    "a link at a guarded name": ("ln -s sub/env .envrc", "evil env", ". ./.envrc"),
    "a link in a guarded directory":
        ("mkdir .vscode; ln -s ../sub/t.json .vscode/tasks.json", "evil t.json",
         "sh .vscode/tasks.json"),
}

# Settings of the user's own: what is in ~/.gitconfig, the runs, what is done outside.
OWN = {
    "an alias, not in the first place":
        ("alias.x '!sh tools/a'", "mkdir tools; echo : >tools/a",
         ["mv tools t2", "evil tools/a"], "git x"),
    "an editor": ("core.editor 'sh tools/e'", "mkdir tools; echo : >tools/e",
                  ["mv tools t2", "evil tools/e"], "git commit --allow-empty"),
    "an alias that sets a program":
        ("alias.x '-c core.editor=tools/p commit --allow-empty'", "",
         ["evil tools/p"], "git x"),
    "a monitor, in a repository that is made": ("core.fsmonitor tools/fsm", "",
                                               ["evil n/tools/fsm; git init -q n"], "git -C n status"),
    "a monitor, in a repository whose data lies elsewhere":
        ("core.fsmonitor tools/fsm", "",
         ["evil n/tools/fsm; git init -q --separate-git-dir=data n"], "git -C n status"),
    "a monitor, in a repository inside": ("core.fsmonitor tools/fsm", "git init -q n",
                                          ["evil n/tools/fsm"], "git -C n status"),
    "hooks behind a link, in a repository that is made":
        ("core.hooksPath .githooks", "", ["git init -q n; evil n/hk/pre-commit; ln -s hk n/.githooks"],
         "cd n && " + COMMIT),
    "the link first, in a deeper one that was there":
        ("core.hooksPath .//githooks/.", "git init -q a/b/n",
         ["cd a/b/n; ln -s hk githooks; evil hk/pre-commit"], "cd a/b/n && " + COMMIT),
    "a link that gets the name, in a worktree":
        ("core.hooksPath .githooks", "",
         ["git worktree add -q w; cd w; evil hk/pre-commit; ln -s hk l; mv l .githooks"],
         "cd w && " + COMMIT),
    "a link that is committed, in a clone":
        ("core.hooksPath .githooks", "",
         ["git init -q q; cd q; evil hk/pre-commit; git add hk; printf hk >../l; "
          "git update-index --add --cacheinfo 120000,$(git hash-object -w ../l),.githooks; "
          "git -c core.hooksPath=/dev/null -c user.name=x -c user.email=x@x commit -qm x; cd ..; "
          "git clone -q q n"],
         "cd n && " + COMMIT),
    "a link on the way to the hooks, before there is a repository":
        ("core.hooksPath tools/hooks", "",
         ["evil n/t/hooks/pre-commit; ln -s t n/tools; git init -q n"], "cd n && " + COMMIT),
    "hooks behind a link that was there":
        ("core.hooksPath .githooks", "git init -q a/b/n; mkdir a/b/n/hk; ln -s hk a/b/n/.githooks",
         ["evil a/b/n/hk/pre-commit"], "cd a/b/n && " + COMMIT),
    "the same, and a directory gets the name":
        ("core.hooksPath .githooks", "git init -q a/b/n; ln -s hk a/b/n/.githooks",
         ["cd a/b/n; evil t/pre-commit; mv t hk"], "cd a/b/n && " + COMMIT),
    "a directory that brings the hooks":
        ("core.hooksPath tools/hooks", "",
         ["git init -q n; evil n/t/hooks/pre-commit; mv n/t n/tools"], "cd n && " + COMMIT),
    "a directory that brings a link to them":
        ("core.hooksPath tools/a/hooks", "",
         ["git init -q n; mkdir n/t; ln -s ../../a n/t/a; mv n/t n/tools; evil a/hooks/pre-commit"],
         "cd n && " + COMMIT),
    "a monitor behind a link":
        ("core.fsmonitor tools/fsm", "git init -q n", ["evil n/t/fsm; ln -s t n/tools"],
         "git -C n status"),
    "a monitor behind a link, in a repository that is made":
        ("core.fsmonitor tools/fsm", "",
         ["mkdir n; ln -s t n/tools; git init -q n; evil n/t/fsm"], "git -C n status"),
    "an alias, in a worktree": ("alias.x '!./x'", "git worktree add -q w", ["evil w/x"],
                                "git -C w x"),
}

# Of a repository's own config, in its worktrees.
WORKTREES = {
    "a monitor": ("git config core.fsmonitor tools/fsm", "evil w/tools/fsm", "git -C w status"),
    "an alias": ("git config alias.x '!./x'", "evil w/x", "git -C w x"),
    "hooks behind a link": ("git config core.hooksPath .githooks; git worktree remove w",
                            "git worktree add -q --detach w; evil w/hk/pre-commit; "
                            "ln -s hk w/.githooks", "cd w && " + COMMIT),
    "hooks behind a link on the way":
        ("git config core.hooksPath tools/hooks; git worktree remove w",
         "git worktree add -q --detach w; ln -s t w/tools; evil w/t/hooks/pre-commit",
         "cd w && " + COMMIT),
    "a directory that brings hooks":
        ("git config core.hooksPath tools/hooks; git worktree remove w",
         "git worktree add -q --detach w; evil w/t/hooks/pre-commit; mv w/t w/tools",
         "cd w && " + COMMIT),
    "hooks behind a link, of a deeper repository":
        ("git init -q a/b/n; git -C a/b/n config core.hooksPath .gh",
         "cd a/b/n; evil e/pre-commit; ln -s e .gh", "cd a/b/n && " + COMMIT),
    "a monitor behind a link": ("git config core.fsmonitor tools/fsm",
                                "evil w/t/fsm; ln -s t w/tools", "git -C w status"),
    "one that is made": ("git config alias.x '!./x'; git worktree remove w",
                         "git worktree add -q --detach w; evil w/x", "git -C w x"),
}


def again(fx):
    for place in (fx.project, fx.home / "lib"):
        fx.run("chmod", "-R", "u+rwX", place, cwd=fx.dir)
        shutil.rmtree(place, ignore_errors=True)
    fx.project.mkdir()
    fx.git_project()
    for name in ("TRACE", ".gitconfig"):
        (fx.home / name).unlink(missing_ok=True)


def shell(fx, script, where=""):
    env = {"TRACE": fx.home / "TRACE", "GIT_EDITOR": None, "GIT_PAGER": None}
    return fx.run(*native("bash", "-c", TOOLS + script), cwd=fx.path(where), env=env)


def attack(before, runs, after, where="", settings=()):
    def is_run(fx):
        shell(fx, after)
        return (fx.home / "TRACE").exists()

    def prepare(fx):
        again(fx)
        for words in settings:
            equal(shell(fx, f"git config --global {words}").status, 0)
        result = shell(fx, before)
        equal(result.status, 0, result.stderr)
        check(not (fx.home / "TRACE").exists(), "nothing is planted yet")

    def one(fx):
        prepare(fx)
        for script in runs:
            shell(fx, script, where)
        check(is_run(fx), "the control")
        prepare(fx)
        errors = []
        for script in runs:
            errors.append(fx.sandbash("--consent=deny", "--quiet", "bash", "-c", TOOLS + script,
                                      cwd=fx.path(where), env={"TRACE": fx.home / "TRACE"}).stderr)
        check(not is_run(fx), f"planted; {errors}")
    return one


for title, (before, runs, after) in ATTACKS.items():
    test(f"P3 obeyed: {title}", variants=BOTH)(attack(before, runs, after))
for title, (before, run, after) in PARTS.items():
    test(f"P3 obeyed, from a part of a repository: {title}", variants=BOTH)(
        attack("mkdir -p sub; " + before, [run], after, where="sub"))
for title, (setting, before, runs, after) in OWN.items():
    test(f"P3 obeyed, settings of one's own: {title}", variants=BOTH)(
        attack(before + "\n:", runs, after, settings=(setting,)))
for title, (before, run, after) in WORKTREES.items():
    test(f"P3 obeyed, in a worktree: {title}", variants=BOTH)(
        attack("git worktree add -q w; " + before, [run], after))

@test("P3 obeyed: a hook that stops commits does not go away with its .git", variants=BOTH)
def without_hooks(fx):
    script = ("mv .git g; mkdir .git; cd g; for i in *; do test $i = hooks || cp -r $i ../.git; done")
    for boxed in (False, True):
        again(fx)
        fx.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n", 0o755)
        check(shell(fx, "git commit --allow-empty -m x").status != 0, "the hook stops it")
        if boxed:
            fx.sandbash("--consent=deny", "--quiet", "bash", "-c", script)
            check(shell(fx, "git commit --allow-empty -m x").status != 0, "and still does")
        else:
            shell(fx, script)
            equal(shell(fx, "git commit --allow-empty -m x").status, 0, "the control")


LIB = ("git init -q ../lib; echo x >../lib/x; git -C ../lib add x; git -C ../lib commit -q -m x; "
       "git -c protocol.file.allow=always submodule --quiet add ../lib lib; git commit -qm lib; ")

# What people do all day: what is there before, and the run.
DAILY = {
    "worktrees": ("", "git worktree add -q w; git worktree move w v; git worktree repair v; "
                  "git worktree remove v"),
    "worktrees with hooks of their own":
        ("git config core.hooksPath .githooks; "
         "git config alias.x '!git log origin/main'; git worktree add -q w; evil w/.githooks/pre-commit",
         "git worktree move w v; git -C v status; mv v u; git worktree repair u; "
         "chmod 600 .git/config; chmod 644 .git/config; "
         "git worktree add -q --detach n; echo x >n/f; git worktree remove --force n"),
    "submodules": (LIB, "git submodule deinit -q lib; git submodule update -q --init; "
                   "git mv lib b; git commit -qm b; git submodule update -q; git -C b status"),
    "a submodule's data moves into the repository":
        (LIB + "rm -rf lib .git/modules/lib; git clone -q ../lib lib",
         "git submodule absorbgitdirs; git -C lib status"),
    "data that lies elsewhere":
        ("", "git init -q --separate-git-dir=data n; git -C n commit -q --allow-empty -m x; "
         "git init -q m; git -C m commit -q --allow-empty -m x; "
         "git init -q --separate-git-dir=more m; git -C m status"),
    "clones, and a repository that moves as a whole":
        ("git init -q n; evil n/.git/hooks/pre-commit; git -C n config core.hooksPath .githooks",
         "git clone -q . c; git clone -q --bare . c.git; mv c d; mv c.git d.git; mv n m; git -C m status"),
    "a repository that names commands, and no files":
        ("git init -q n; git -C n config filter.lfs.clean 'git-lfs clean -- %f'; git -C n config alias.l '!git log --format=%h/%s'; "
         "git -C n config core.pager 'less -R'",
         "mv n m; mkdir x; mv m x/m; mv x y; git -C y/m status; chmod 700 y/m; chmod 755 y"),
    "steps": ("", "echo y >>README; git stash -q; git stash pop -q; git commit -qam y; "
              "git rebase -q --force-rebase HEAD~1; mv .git g; mv g .git; git status"),
    "links and directories beside hooks":
        ("git config --global core.hooksPath tools/hooks; git config core.hooksPath .githooks; "
         "git init -q a/b/n; git -C a/b/n config core.hooksPath .gh",
         "git worktree add -q --detach w; git init -q n; for i in . w n a/b/n; do (cd $i; mkdir t; "
         "ln -s t l; mv l githooks; ln -s t hooks; ln -s t .hk; mkdir s; echo x >s/x; mv s tools; "
         "mkdir t/tools; ln -s x t/x); done"),
    "files called like words of settings":
        ("git config alias.x '!sh tools/a; git diff origin/main'; git init -q n",
         "mkdir -p n/tools deep/tools origin; echo x >n/tools/a; echo x >deep/tools/a; "
         "git -C n init -q; mkdir q; echo x >q/a; mv q n/t; mv n/t n/tools2"),
}


def daily(before, run):
    def one(fx):
        again(fx)
        result = shell(fx, before + "\n:")
        equal(result.status, 0, result.stderr)
        result = fx.sandbash("--consent=deny", "bash", "-ec", TOOLS + run)
        equal(result.status, 0, result.stderr)
        lacks(result.stderr, "refused")
    return one


for title, (before, run) in DAILY.items():
    test(f"P3 obeyed, every day: {title}", variants=BOTH)(daily(before, run))


MANY = {"words": '"[alias]\\n\\tx = !" + " ".join("./%x" % i for i in range(N))',
        "words that may be files": '"[alias]\\n\\tx = !x " + " ".join("%x" % i for i in range(N))',
        "hooks": '"[core]\\n" + "".join("\\thooksPath = a%d\\n" % i for i in range(N))',
        "includes": '"[include]\\n" + "".join("\\tpath = a%d\\n" % i for i in range(N))'}


@test("P3 obeyed: settings that name more than can be looked at: every change asks", variants=BOTH)
def beyond_measure(fx):
    for title, text in MANY.items():
        for count, lands in ((20, True), (140000 if "files" in title else 50000, False),
                             (400000, False)):
            again(fx)
            equal(shell(fx, f"python3 -c 'N = {count}; print({text})' >>.git/config; :").status, 0)
            result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", "cat README >/dev/null && echo y >made")
            equal((result.status == 0, fx.path("made").exists()), (lands, lands), f"{title} {count}: {result.stderr}")
            shell(fx, "echo y >made")
            equal(fx.path("made").read_text(), "y\n", "the control")


run_all()
