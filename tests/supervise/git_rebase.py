"""git_rebase.py - git rebase --exec goes unasked; commands that it leaves behind are told."""

from git_compare import CONFLICT, ENV, START, compare
from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")
LEFT = "git rebase --continue runs exec"


@test("git rebase --exec: to its end, through a conflict, a command that fails, and undone", variants=BOTH)
def daily(fx):
    compare(fx, CONFLICT + """
echo log >.git/info/exclude; echo go >>.git/info/exclude
git switch -q -c work main; for n in 1 2 3; do commit w$n $n; done
git rebase -q --exec 'echo ran >>log' HEAD~3; test "$(wc -l <log)" = 3
GIT_SEQUENCE_EDITOR="sed -i -e '1aexec echo edited >>log'" git rebase -q -i HEAD~2; test "$(wc -l <log)" = 4
stops git rebase -x 'echo ran >>log' side; git status >/dev/null; echo r >f; git add f; git rebase --continue >/dev/null 2>&1
test ! -d .git/rebase-merge; git reset -q --hard ORIG_HEAD
stops git rebase -x 'test -f go' HEAD~2; touch go; git rebase --continue >/dev/null 2>&1; test ! -d .git/rebase-merge
rm go; stops git rebase --no-reschedule-failed-exec -x 'test -f go' HEAD~2; git rebase --abort
stops git rebase -x true side; git rebase --edit-todo; git rebase --abort
stops git rebase -x true side; git rebase --quit; git reset -q --hard
git worktree add -q -b other linked HEAD; cd linked; git rebase -q -x true HEAD~2; cd ..; git worktree remove linked
rm log
""")


def begin(fx):
    equal(fx.run("bash", "-c", CONFLICT, env=ENV).status, 0)


def inside(fx, script, *flags):
    return fx.sandbash("--consent=deny", *flags, "bash", "-c", script, env=ENV)


@test("what a rebase leaves behind is told, and goes on in the next run", variants=BOTH)
def left(fx):
    begin(fx)
    result = inside(fx, "git rebase -q -x 'echo ran >ran' HEAD~1")
    equal(result.status, 0, result.stderr)
    lacks(result.stderr, LEFT)  # it has come to its end
    (fx.project / "ran").unlink()
    result = inside(fx, "! git rebase -x 'echo ran >ran' side 2>/dev/null")
    equal(result.status, 0, result.stderr)
    contains(result.stderr, LEFT + " echo ran >ran")
    contains(result.stderr, "git-rebase-todo' is left behind")
    # what was there before the run is not told again
    result = inside(fx, "git status >/dev/null; cp .git/rebase-merge/git-rebase-todo t; cat t >.git/rebase-merge/git-rebase-todo; rm t")
    equal(result.status, 0, result.stderr)
    lacks(result.stderr, LEFT)
    result = inside(fx, "echo r >f; git add f; GIT_EDITOR=true git rebase --continue")
    equal(result.status, 0, result.stderr)
    lacks(result.stderr, LEFT)
    check((fx.project / "ran").exists(), "the command ran, inside")


@test("of several commands that are left behind the first is told, and how many more there are", variants=BOTH)
def several(fx):
    begin(fx)
    result = inside(fx, "! git rebase -x true -x 'echo a >ran' -x 'echo b >ran' side 2>/dev/null")
    equal(result.status, 0, result.stderr)
    contains(result.stderr, LEFT + " true, and 2 more")
    fx.run("git", "rebase", "--abort")
    result = inside(fx, "! git rebase -x true side 2>/dev/null")
    contains(result.stderr, LEFT + " true")
    lacks(result.stderr, " more")


@test("dozens of other notes do not push it out of sight", variants=BOTH)
def pushed(fx):
    begin(fx)
    many = "for i in $(seq 60); do mkdir d$i; echo x >d$i/CLAUDE.md; echo HTTP_PROXY=http://h$i >d$i/.env; done; "
    result = inside(fx, many + "! git rebase -x 'echo ran >ran' side 2>/dev/null")
    equal(result.status, 0, result.stderr)
    told = result.stderr.split("look at it:\n")[1].splitlines()
    contains(told[0], LEFT + " echo ran >ran", "the gravest comes first")
    contains(told[1], "now says HTTP_PROXY")
    equal((len(told), told[-1]), (1 + 32 + 1, "  and 88 more"))


@test("a list of steps that nobody's rebase has made", variants=BOTH)
def planted(fx):
    begin(fx)
    equal(fx.run("bash", "-c", "! git rebase side >/dev/null 2>&1; cp -r .git/rebase-merge m; git rebase --abort").status, 0)
    plant = "echo 'exec touch ran' >m/git-rebase-todo; "
    # the control: git outside would run it
    equal(fx.run("bash", "-c", plant + "cp -r m .git/rebase-merge; git rebase --continue >/dev/null 2>&1", env=ENV).status, 0)
    check((fx.project / "ran").exists(), "the control")
    equal(fx.run("bash", "-c", "rm ran; git switch -qf main; rm -rf .git/rebase-merge").status, 0)
    # a whole directory that moves in is asked about
    result = inside(fx, plant + "mv m .git/rebase-merge")
    check(result.status != 0, "it moved in")
    check(not (fx.project / ".git/rebase-merge").exists(), "nothing is there")
    # written piece by piece it is told, wherever it is by then
    for way in ("cp -r m .git/rebase-merge",
                "git init -q n; cp -r m n/.git/rebase-merge; mv n o",
                "git init -q q; mkdir q/.git/rebase-merge; (exec 5>q/.git/rebase-merge/git-rebase-todo; echo exec x >&5; sleep 100 &)"):
        result = inside(fx, plant + way)
        equal(result.status, 0, result.stderr)
        contains(result.stderr, LEFT)
        equal(fx.run("rm", "-rf", ".git/rebase-merge", "n", "o", "q").status, 0)
    # a cherry-pick knows no such steps
    result = inside(fx, "mkdir .git/sequencer; echo 'exec x' >.git/sequencer/todo; test -s .git/sequencer/todo")
    check(result.status != 0, "a list of picks")
    result = inside(fx, "mkdir .git/rebase-merge; echo 'run x' >.git/rebase-merge/git-rebase-todo; test -s .git/rebase-merge/git-rebase-todo")
    check(result.status != 0, "a step that git does not have")


run_all()
