"""differ.py - random file operations without a sandbox and inside print the same bytes.

differ (differ.c) tells every result, every descriptor and, after each sequence, the whole
tree.  Here it runs twice at the same time, in two directories of one project, and the two
texts are compared.  A difference shows the lines before it and how to repeat that sequence.

    SANDBASH_TEST_SEED=N          other sequences than last time (default: 1)
    SANDBASH_TEST_SEQUENCES=N     more of them (default: 1500; 10000 take about 45 s on two cores)
    SANDBASH_TEST_SPREAD=1        others in each of the suite's four runs (root or not, supervised
                                  or static), so that 2500 make ten thousand together
"""

import itertools
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from compare import IS_NATIVE, IS_STATIC
from tap import ALL_VARIANTS, Failed, check, equal, run_all, test

SEED = int(os.environ.get("SANDBASH_TEST_SEED", "1"))
SEQUENCES = int(os.environ.get("SANDBASH_TEST_SEQUENCES", "1500"))
IS_SPREAD = os.environ.get("SANDBASH_TEST_SPREAD") == "1"
FIRST = SEQUENCES * (2 * (os.geteuid() != 0) + IS_STATIC) if IS_SPREAD else 0
OPS = 16
KINDS = 60  # of differences that are shown

# What a static run answers differently: nothing in /proc may be changed, which the kernel finds
# before it finds that there is nothing to change.
STATIC_ANSWER = re.compile(r"(/proc/(thread-)?self/fd/|/dev/fd/)\d+\b.* = (EROFS|EACCES)$")


# What a supervised run answers differently, by the line that the native side prints.  Paths
# through /proc/self lead to the caller's own files by way of the kernel's links, which who
# performs the call can only follow for it.
MAGIC = r"(/proc/(thread-)?self\b|/dev/(fd\b|std))"
SUPERVISED_ANSWERS = [re.compile(text) for text in (
    r"\bname \d+:\S*/",  # a socket bound by more than a name shows the way it was bound
    rf"\bbind\({MAGIC}",
    rf"\b(lchown|utimensat|fchownat)\(.*{MAGIC}.* = ",  # metadata of the link itself
    rf"\bopenat2\(.*{MAGIC}",  # RESOLVE_* flags are about those links
    r"\blinkat\(.*, 0x1000\) = ENOENT$",  # AT_EMPTY_PATH: whose descriptor it was, is not known
)]


def is_excused(native):
    """From here on the two runs of a sequence may differ."""
    return not IS_STATIC and not IS_NATIVE and any(e.search(native) for e in SUPERVISED_ANSWERS)


def is_known(native, inside):
    return IS_STATIC and STATIC_ANSWER.search(inside) and native.rsplit(" = ", 1)[0] == \
        inside.rsplit(" = ", 1)[0]


def sequences_of(path):
    """Yield the lines of each sequence."""
    lines = []
    with open(path, encoding="utf-8", errors="backslashreplace", newline="\n") as text:
        for line in text:
            if line.startswith("sequence ") and line[9:].strip().isdigit() and lines:
                yield lines
                lines = []
            lines.append(line.rstrip("\n"))
    yield lines


def first_difference(native, inside):
    """Index of the first line that differs in two sequences, or None."""
    for index, (one, other) in enumerate(itertools.zip_longest(native, inside, fillvalue="")):
        if one != other and is_excused(one):
            return None
        if one != other and not is_known(one, other):
            return index
    return None


def kind_of(native, inside):
    """What two lines differ in, whatever the names: "unlink ENOENT, inside EROFS"."""
    call = re.match(r"(?:\d+\.\d+ )?(?:[\w+]+: |\[.*?\] )*\s*([\w-]+)", native)
    results = [re.sub(r"\d+", "N", line.rsplit(" = ", 1)[1].split()[0] if " = " in line else "-")
               for line in (native, inside)]
    return f"{call.group(1) if call else '?'} {results[0]}, inside {results[1]}"


def same_bytes(native, inside):
    with open(native, "rb") as one, open(inside, "rb") as other:
        while block := one.read(1 << 20):
            if block != other.read(len(block)):
                return False
        return not other.read(1)


def compare(native, inside, argv):
    """Raise with the first difference of two files, and with how many there are of each kind.
    A sequence counts once: what follows a difference follows from it."""
    if same_bytes(native, inside):
        return
    shown = []
    kinds = {}
    for one, other in itertools.zip_longest(sequences_of(native), sequences_of(inside),
                                            fillvalue=[]):
        at = first_difference(one, other)
        if at is None:
            continue
        line, other_line = ([*part, "(nothing more)"][min(at, len(part))] for part in (one, other))
        number = one[0].split()[1] if one else "?"
        example = f"{line}   | inside: {other_line.rsplit(' = ', 1)[-1]}"
        kinds.setdefault(kind_of(line, other_line), []).append(example)
        if not shown:
            shown = [f"sequence {number} differs", *(f"    {text}" for text in one[:at]),
                     f"  - native: {line}", f"  - inside: {other_line}",
                     f"again: {' '.join(argv)} --first {number} --sequences 1 DIR"]
    if kinds:
        order = sorted(kinds.items(), key=lambda item: -len(item[1]))
        raise Failed("\n".join([*shown, "of each kind, and an example:",
                                *(f"{len(found):6} {kind:40} {found[0]}"
                                  for kind, found in order[:KINDS])]))


def differ(fx, *flags, sequences=SEQUENCES, under=None):
    """Both runs; under: the words before the second one, instead of sandbash."""
    tool = str(fx.tool("differ"))
    words = [tool, "--seed", str(SEED), "--first", str(FIRST), "--sequences", str(sequences),
             "--ops", str(OPS), *flags]
    guard = []
    if os.geteuid() == 0:
        # a sandboxed root has no openat2(), for the modes in it cannot be filtered
        words.append("--no-openat2")
        guard = ["--guard"]
    for name in ("native", "inside"):
        (fx.project / name).mkdir()
    control = [*words, *guard, "native"]
    if under is None and IS_NATIVE:
        under = []
    tried = fx.argv(*words, "inside") if under is None else [*under, *words, *guard, "inside"]
    results = []
    with tempfile.TemporaryDirectory(dir=fx.dir) as place:
        outputs = [Path(place) / "native", Path(place) / "inside"]
        processes = []
        for argv, path in zip((control, tried), outputs):
            with open(path, "wb") as out:
                processes.append(fx.start(*argv, stdin=subprocess.DEVNULL, stdout=out,
                                          stderr=subprocess.PIPE, start_new_session=True))
        try:
            for process in processes:
                _, error = process.communicate(timeout=200)
                results.append((process.returncode, error.decode(errors="backslashreplace")))
        finally:
            for process in processes:
                if process.poll() is None:
                    process.kill()
                    process.wait()
        compare(*outputs, words)
        equal(results[0], (0, ""), "native")
        equal(results[1][0], 0, f"inside: {results[1][1]}")
        check(outputs[0].stat().st_size > sequences * 500, "nothing was compared")
    for name in ("native", "inside"):
        equal(os.listdir(fx.project / name), [], f"left in {name}")


@test("the same sequences without a sandbox print the same twice")
def constant(fx):
    differ(fx, sequences=max(SEQUENCES // 10, 100), under=[])


@test("one call that answers something else is noticed, and shown")
def noticed(fx):
    lie = [fx.tool("act"), "answer", "fchmodat=EPERM", "--"]
    try:
        differ(fx, sequences=100, under=[os.fspath(word) for word in lie])
    except Failed as shown:
        for part in ("- native:", "- inside:", "--first"):
            check(part in str(shown), f"{part!r} is not in {shown}")
    else:
        raise Failed("two different runs were taken for the same")
    shutil.rmtree(fx.project / "inside")


@test("random sequences of file operations: inside as without a sandbox", ALL_VARIANTS)
def same(fx):
    differ(fx, sequences=SEQUENCES if fx.variant == "full" else SEQUENCES // 5)


# Root could change these; a static run answers EROFS, before and instead of EACCES.
if os.geteuid() != 0 and not IS_STATIC:
    @test("what an ordinary user cannot change anyway is refused with the same answer")
    def outside(fx):
        differ(fx, "--outside", sequences=SEQUENCES // 4)


run_all()
