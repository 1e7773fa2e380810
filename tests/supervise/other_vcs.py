"""P2: what prompts show of other version control than git: names that no shell expands land, others ask; daily work is unasked."""

import shutil

from attack import works
from tap import check, equal, lacks, run_all, skip, test

BOTH = ("full", "flat")
ID = "0123456789abcdef0123456789abcdef01234567"
EVIL = "$(>PWNED)"
NAMES = {".hg/branch": "feature/x y", ".hg/topic": "topic", ".hg/bookmarks": f"{ID} my mark", ".hg/bookmarks.current": "my mark",
         ".hg/undo.branch": "default", ".hg/journal.bookmarks": f"{ID} x", ".hg/localtags": f"{ID} v1", ".hg/patches.queue": "q",
         ".hg/patches/series": "p1\np2 #+foo\n# why (see $x)", ".hg/patches/status": f"{ID}:p1", ".hg/patches-q/guards": "foo",
         "patches/series": "# [1/2] it's \"quoted\"\na.patch -p1\nb.patch # (c)", "debian/patches/series": "a.patch", ".sl/branch": "main",
         ".sl/bookmarks": f"{ID} x", ".sl/bookmarks.current": "x", ".pc/applied-patches": "a.patch", ".pc/.quilt_patches": "debian/patches",
         "CVS/Repository": "module/sub", ".bzr/branch/branch.conf": "parent_location = /x/y/\nnickname = z", ".bzr/branch/last-revision": "3 a@b-1"}
BAD = (EVIL, "`id`", f"a\n{EVIL}", "-x", "a\033[8m")
WRITE = 'printf "%s\\n" "$2" >"$1"'
WAYS = {"written": WRITE, "renamed": 'printf "%s\\n" "$2" >x; mv x "$1"', "linked": 'rm -f x "$1"; printf "%s\\n" "$2" >x; ln x "$1"'}


def each(way, texts):
    """A command that does it for each name, with its text."""
    script = f'while [ $# -gt 0 ]; do mkdir -p "${{1%/*}}"; {way}; shift 2; done; true'
    return ("sh", "-c", script, "-", *(word for pair in texts.items() for word in pair))


@test("P2 what prompts show of other version control: words land, what a shell expands, options and control characters ask", variants=BOTH)
def names(fx):
    for label, way in WAYS.items():
        result = fx.sandbash("--consent=deny", *each(way, NAMES))
        lacks(result.stderr, "refused")
        for name, text in NAMES.items():
            equal(fx.read(name), f"{text}\n", f"{label} {name}")
        for bad in BAD:
            result = fx.sandbash("--consent=deny", "--quiet", *each(way, dict.fromkeys(NAMES, bad)))
            for name, text in NAMES.items():
                equal(fx.read(name) if fx.exists(name) else None, None if label == "linked" else f"{text}\n",
                      f"{label} {name} {bad!r}: {result.stderr}")
    works(fx.run(*each(WRITE, dict.fromkeys(NAMES, EVIL))), "control")
    for name in NAMES:
        equal(fx.read(name), f"{EVIL}\n", f"control {name}")


@test("P2 a second name in the same place is a copy of what was checked; elsewhere it asks", variants=BOTH)
def linked(fx):
    fx.write(".hg/bookmarks", f"{ID} x\n")
    works(fx.sandbash("--consent=deny", "ln", ".hg/bookmarks", ".hg/undo.bookmarks"))
    check(not fx.path(".hg/bookmarks").samefile(fx.path(".hg/undo.bookmarks")), "one file by two guarded names")
    equal(fx.read(".hg/undo.bookmarks"), f"{ID} x\n")
    check(fx.sandbash("--consent=deny", "--quiet", "ln", ".hg/bookmarks", "other").status != 0)
    check(not fx.exists("other"))
    works(fx.run("ln", ".hg/bookmarks", "other"), "control")
    check(fx.path(".hg/bookmarks").samefile(fx.path("other")), "control")


PROMPT = """autoload -Uz vcs_info; setopt prompt_subst; zstyle ':vcs_info:*' enable hg
precmd() { vcs_info; PS1="${vcs_info_msg_0_}> " }; precmd; print -rP -- "$PS1" """
DAILY = """set -e
export HGRCPATH=/dev/null HGUSER=me HGPLAIN=1
hg init r; cd r; echo a >a; hg add -q a; hg commit -m a; hg branch -q 'feature/x y'; echo b >>a; hg commit -m 'b $(x)'
hg bookmark 'my mark'; hg tag -l v1; hg tag v2; hg update -q default; hg update -q 'my mark'; hg bookmark other
hg bookmark -m other third; echo z >>a; hg commit -m z; hg bookmark -d third; hg update -q default
q='hg --config extensions.mq='
$q qinit; $q qnew p1; echo c >>a; $q qrefresh -m x; $q qnew p2; $q qpop -q; $q qguard p2 +foo; $q qselect foo; $q qpush -q
$q qpop -q -a; $q qpush -q -a; $q qfinish -q -a; hg update -qC default; hg branches; hg bookmarks; echo END
"""


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            skip(f"no {program}")


@test("P2 daily work with Mercurial, its bookmarks and patches is not asked about", variants=BOTH)
def daily(fx):
    need("hg")
    result = fx.sandbash("--consent=deny", "sh", "-c", DAILY)
    equal(result.stdout.splitlines()[-1:], ["END"], result.stderr)
    lacks(result.stderr, "refused")


@test("P2 a prompt outside runs no name of a Mercurial branch", variants=BOTH)
def prompt(fx):
    need("hg", "zsh")
    works(fx.run("hg", "init", "."))
    for run, planted in ((lambda *words: fx.sandbash("--consent=deny", "--quiet", *words), False), (fx.run, True)):
        run("sh", "-c", WRITE, "-", ".hg/branch", EVIL)
        works(fx.run("zsh", "-f", "-c", PROMPT))
        equal(fx.exists("PWNED"), planted)


run_all()
