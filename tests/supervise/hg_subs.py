"""P2: .hgsub names no repository to hg update outside whose hooks nobody guards; subrepositories that people have land unasked."""

import shutil

from attack import works
from tap import check, equal, lacks, run_all, skip, test

BOTH = ("full", "flat")
ENV = {"HGRCPATH": "/dev/null", "HGUSER": "me", "HGPLAIN": "1", "TMPDIR": None}
# A repository with hooks in the project's own cache ($C), or in /tmp, that the project has as a subrepository.
PREPARE = """set -e
hg init "$C/evil"; (cd "$C/evil"; echo z >z; hg add -q z; hg commit -m z)
hg init s; hg -R s pull -q "$C/evil"; hg -R s update -q
"""
PLANT = """%s; hg add -q .hgsub; hg commit -q -m sub && hg update -q 0; rm -rf s
printf '[hooks]\\npreoutgoing = touch %s\\noutgoing = touch %s\\nprelistkeys = touch %s\\n' >"$C/evil/.hg/hgrc"
"""
WAYS = {
    "written": 'echo "s = $C/evil" >.hgsub',
    "renamed": 'echo "s = $C/evil" >x; mv x .hgsub',
    "linked": 'echo "s = $C/evil" >x; ln x .hgsub',
    "with its kind": 'echo "s = [hg]$C/evil" >.hgsub',
    "by other names": 'printf "s = X\\n[subpaths]\\n.*X = %s\\n" "$C/evil" >.hgsub',
    "included": 'echo "s = $C/evil" >more; hg add -q more; echo "%include more" >.hgsub',
    "a URL": 'echo "s = file://$C/evil" >.hgsub',
}


def need():
    if not shutil.which("hg"):
        skip("no hg")


def fresh(fx):
    for name in (fx.project, fx.home / ".cache", fx.home / "beside"):
        shutil.rmtree(name, ignore_errors=True)
    fx.project.mkdir()
    works(fx.run("sh", "-c", "hg init .; echo a >a; echo {} >package.json; hg add -q; hg commit -m a", env=ENV))


def plant(fx, way, boxed):
    """Then what the person does outside."""
    ran = fx.home / "ran"
    ran.unlink(missing_ok=True)
    script = "C=$npm_config_cache\n" + PREPARE + PLANT % (WAYS[way], ran, ran, ran)
    if boxed:
        fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script, env=ENV)
    else:
        (fx.home / ".cache").mkdir()
        works(fx.run("sh", "-c", script, env={**ENV, "npm_config_cache": fx.home / ".cache/npm"}), way)
    fx.run("hg", "update", env=ENV)
    return ran.exists()


@test("P2 .hgsub leads to no repository in a project's caches, by every way", variants=BOTH)
def caches(fx):
    need()
    for way in WAYS if fx.variant == "full" else ("written", "renamed"):  # each starts hg a dozen times
        fresh(fx)
        if way not in ("renamed", "linked"):  # the same text
            check(plant(fx, way, False), f"control: {way}")
        fresh(fx)
        check(not plant(fx, way, True), way)
        check(not fx.exists(".hgsub") or not fx.read(".hgsub"), way)


@test("P2 nor to one in the run's own /tmp, or by a name that only hg outside expands")
def elsewhere(fx):
    need()
    fresh(fx)
    for source in ("/tmp/x", "~/x", "$HOME/x", "bundle:x.hg", "[svn]/x", "ext::sh", "-x", "x#y", "../a/sandbash-caches/x", "/proc/self/cwd/x"):
        script = 'echo "s = $1" >.hgsub'
        fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script, "-", source, env=ENV)
        check(not fx.exists(".hgsub") or not fx.read(".hgsub"), source)
        works(fx.run("sh", "-c", script, "-", source), source)
        equal(fx.read(".hgsub"), f"s = {source}\n", "the control")
        fx.path(".hgsub").unlink()


DAILY = """set -e
hg init sub; echo x >sub/x; hg -R sub add -q sub/x; hg -R sub commit -q -m x
printf '# ours\\nsub = sub\\n' >.hgsub; hg add -q .hgsub; hg commit -q -m sub
printf 'ssh = ssh://hg@hg.example.org/x\\nweb = https://hg.example.org/y%%20z\\nup = ../up\\nabs = %s/other\\n' "$PWD" >>.hgsub
printf 'g = [git]https://git.example.org/x.git\\n' >>.hgsub; hg revert -q .hgsub
hg update -q 0; hg update -q 1; echo y >>sub/x; hg commit -q -S -m y; hg status -q -S; echo END
"""


@test("P2 subrepositories of a project, beside it and on other machines are not asked about", variants=BOTH)
def daily(fx):
    need()
    fresh(fx)
    result = fx.sandbash("--consent=deny", "sh", "-c", DAILY, env=ENV)
    equal(result.stdout.splitlines()[-1:], ["END"], result.stderr)
    lacks(result.stderr, "refused")


run_all()
