"""Z2: what of the machine shows in a worker's world.  What a hostile one tries there: worker_escapes.py, worker_surface.py."""

from tap import SUPERVISED, check, contains, equal, lacks, run_all, skip, test
from workers import OUTPUT, declare, project, run


@test("Z2 what real paths a worker can see: in mountinfo those of its own directories, nowhere else")
def leaks(fx):
    if not SUPERVISED:
        skip("a worker needs a supervisor")
    project(fx)
    declare(fx, "w", OUTPUT)
    find = ("import glob, sys\nfor name in glob.glob('/proc/self/*') + glob.glob('/proc/*') + glob.glob('/proc/[0-9]*/*') + glob.glob('/etc/**', recursive=True):\n"
            " try: text = open(name, 'rb').read(1 << 20)\n except OSError: continue\n"
            " where = b'/'.join(part.encode() for part in sys.argv[1:])\n"
            " if b'/' + where in text: print(name.split('/')[-1])\n")
    parts = str(fx.project)[1:].split("/")  # in pieces, so that its own arguments do not have it
    found = set(run(fx, "w", "python3", "-c", find, *parts).stdout.split())
    equal(found - {"mountinfo"}, set())


# what all processes here, and this one itself, were started with
WORDS = """
import glob, os, sys
for name in glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/proc/[0-9]*/environ"):
    try: text = open(name, "rb").read()
    except OSError: continue
    own = int(name.split("/")[2]) == os.getpid()
    print("own" if own else "other", name.split("/")[3], text)
print(sys.argv[1:], os.environ.get("NEIGHBOUR"))
"""


@test("what sandbash was started with, and its caller's variables, show in no process of the run")
def words(fx):
    if not SUPERVISED:
        skip("no pid namespace")
    project(fx)
    declare(fx, "w", OUTPUT)
    for flags in ([f"--worker={fx.project}/w.worker"], [f"--deny={fx.outside}/secret-rule"]):
        control = fx.run("python3", "-c", "print(open('/proc/self/cmdline').read())", *flags)
        contains(control.stdout, flags[0], "control: arguments are everybody's to read")
        result = fx.sandbash(*flags, "--", "python3", "-c", WORDS, "one", "two " * 300, env={"NEIGHBOUR": "v" * 500})
        equal(result.status, 0, result.stderr)
        lines = result.stdout.splitlines()
        others = [line for line in lines if line.startswith("other")]
        check(any("b'sandbash" in line for line in others), f"INIT was seen: {others}")
        for line in others:
            for secret in (flags[0].split("=")[1], "NEIGHBOUR", "HOME", "two"):
                lacks(line, secret)
        contains(lines[-1], "'one'", "neighbour: the command has its arguments")
        contains(lines[-1], "two " * 300)
        if "worker" not in flags[0]:
            contains(lines[-1], "v" * 500, "and its variables")


run_all()
