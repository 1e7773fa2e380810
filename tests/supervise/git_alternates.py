"""git_alternates.py - where git takes objects from: repositories of the project, and nothing beyond."""

from git_compare import ENV, START, compare
from tap import check, equal, run_all, test

BOTH = ("full", "flat")


@test("git clone --shared and --reference within the project, by any spelling", variants=BOTH)
def clones(fx):
    compare(fx, START + """
mkdir a; git init -q -b main a/src; cd a/src; git config user.name Somebody; git config user.email somebody@example.org; commit f 1; cd ../..
git clone -q --shared a/src c1; git clone -q --reference a/src a/src c2
cd a/src; git clone -q --shared ../src ../c3; git clone -q -s . ../../c4; git clone -q --reference-if-able ../../c1 . ../c5
git clone -q --shared --bare . ../b.git; git clone -q --shared ../b.git ../c6; git -C ../c6 log -1 >/dev/null
git clone -q --reference ../src/../c3 --dissociate . ../c7
""")


def lands(fx, line, *flags, where=".git", before=""):
    file = f"{where}/objects/info/alternates"
    result = fx.sandbash("--consent=deny", "--quiet", *flags, "bash", "-c",
                         f"{before}\nrm -f {file}; echo '{line}' >{file}.lock && mv {file}.lock {file} && test -s {file}",
                         env=ENV)
    fx.run("rm", "-f", file)
    return result.status == 0


@test("a chain that leads out of the project", variants=BOTH)
def chain(fx):
    fx.git_project()
    equal(fx.run("bash", "-c", f"git init -q {fx.dir}/secret; git init -q inner; mkdir build; git init -q build/x; mkdir -p o/objects/info; git init -q -b main deep; "
                 f"echo {fx.dir}/secret/.git/objects >deep/.git/objects/info/alternates; echo {fx.dir}/secret/.git/objects >o/objects/info/alternates").status, 0)
    # the control: git follows such a chain
    equal(fx.run("bash", "-c", f"cd {fx.dir}/secret; echo s >s; git add s; git -c user.name=a -c user.email=a@b commit -q -m s").status, 0)
    secret = fx.run("git", "-C", str(fx.dir / "secret"), "rev-parse", "HEAD").stdout.strip()
    equal(fx.run("bash", "-c", f"echo ../../deep/.git/objects >.git/objects/info/alternates; git cat-file -e {secret}; r=$?; rm .git/objects/info/alternates; exit $r").status, 0, "the control")
    for line in ("../../inner/.git/objects", f"{fx.project}/inner/.git/objects",
                 f"{fx.project}/deep/../inner/.git/objects", "# nothing"):
        check(lands(fx, line), line)
    fast = "--rule=fast build"
    for line in (f"{fx.dir}/secret/.git/objects", "../../deep/.git/objects", "../../o/objects", "../../inner/.git",
                 "../../build/x/.git/objects", "~/project/inner/.git/objects", '"../../inner/.git/objects"',
                 "../../nothing/.git/objects", f"{fx.project}/away/../objects"):
        check(not lands(fx, line, fast), line)
    # git removes ".." by its text, others follow what stands before it: both must do
    check(not lands(fx, f"{fx.project}/away/../secret/.git/objects", before=f"ln -s {fx.dir}/secret away"), "by a link")


run_all()
