"""differ.py - random file operations without a sandbox and inside print the same bytes.

differ (differ.c) tells every result, every descriptor and, after each sequence, the whole
tree.  Here it runs twice at the same time, in two directories of one project, and the two
texts are compared.  A difference shows the lines before it and how to repeat that sequence.

    SANDBASH_TEST_SEED=N          other sequences than last time (default: 1)
    SANDBASH_TEST_SEQUENCES=N     how many of them (default: 4000, in which 309 of those 315 answers of calls come that
                                  10000 have)
    SANDBASH_TEST_SPREAD=0        all of them in every run and variant; else they are shared out:
                                  half of them to the supervised run of root, half to that of an
                                  ordinary user, 3/5 of those with every layer, 1/5 without
                                  mounts, 1/5 nested.  A static run makes a tenth, and others.
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
SEQUENCES = int(os.environ.get("SANDBASH_TEST_SEQUENCES", "4000"))
IS_SPREAD = os.environ.get("SANDBASH_TEST_SPREAD") != "0"
SHARES = {"full": (0, 3), "flat": (3, 1), "nested": (4, 1)}  # from which fifth, and how many
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

# With a full table a new file is made, cannot be handed over and is removed again; its directory
# then has the times of that (docs/security.md, "No descriptor left").
FULL_TABLE = re.compile(r"\[at most \d+\] (open(at2?)?|creat)\([^=]* = EMFILE$", re.M)
SET_TIME = re.compile(r"^- \S+ 4\d{4}\b.* mtime=\S+")

# openat2() through a last link that leads nowhere: its text takes the place of the last name, and
# the two together have to fit into a path.
LONG_ANSWER = (re.compile(r"\bopenat2\(\S+ P40\d\d:.* = "), re.compile(r" = ENAMETOOLONG$"))

# openat2() of what the kernel would have to do by itself (docs/security.md, "openat2").
HOW_ANSWER = (re.compile(r"\bopenat2\(.* = "), re.compile(r" = ENOSYS$"))

# Emptying a file that is opened for nothing: access mode 3 and O_TRUNC.
NO_MODE_ANSWER = (re.compile(r"\bopen(at2?)?\(.*0x[0-9a-f]*[2367abef][0-9a-f][37bf]\b.* = "),
                  re.compile(r" = EACCES$"))

# Without mounts another process changes metadata.  It trusts no descriptor that comes from inside
# and goes by name from the root.  That ends at a directory that the sequence has closed to its
# owner, where the caller stands behind it or has the file open; and a descriptor whose name was
# removed while the file has others, or that got its first name later, leads to no name at all.
FLAT_ANSWER = (re.compile(r"\b(f?chmod|fchmodat2?|[fl]?chown|fchownat|utimes?|futimesat|utimensat|"
                          r"[fl]?(set|remove)xattr)\(.* = "), re.compile(r" = EPERM$"))
CLOSING = re.compile(r"\bf?chmod(?:at2?)?\(.*?, (0[0-7]*)(?:, 0x[0-9a-f]+)?\) = 0$")
RENAMING = re.compile(r"\b(unlink(at)?|rename(at2?)?|linkat\((proc|EMPTY_PATH), )\(?.* = 0$")
BY_DESCRIPTOR = re.compile(r"\b(f(chmod|chown|setxattr|removexattr)\(\d|\w+\(\d+, (NULL)?,|"
                           rf"\w+\(.*{MAGIC})")


# The set-user-ID and set-group-ID bits of a file that has several names: the others may be anywhere.
BITS_ANSWER = (re.compile(r"\bf?chmod(at2?)?\(.*, 0[2-7][0-7]{3}\b.* = 0$"), re.compile(r" = EPERM$"))

# A link beneath a directory that cannot be looked into: it might be git's (docs/security.md).
LINK_ANSWER = (re.compile(r"\b(symlink(at)?|rename(at2?)?|link(at)?)\(.* = 0$"),
               re.compile(r" = EACCES$"))


def is_closed(before):
    """Has the sequence closed what may be above?"""
    return any(not int(mode, 8) & 0o100 for line in before for mode in CLOSING.findall(line))


def is_out_of_reach(native, before):
    """Or changed the names of what is open?"""
    if is_closed(before):
        return True
    return BY_DESCRIPTOR.search(native) and any(RENAMING.search(line) for line in before)


# A name without a file is the whole machine's: whoever runs the same sequence just now may have it.
ABSTRACT = re.compile(r"\bbind\(, .* = (0|EADDRINUSE)$")


def is_excused(native, inside, before, variant):
    """From here on the two runs of a sequence may differ."""
    def both(pair):
        return pair[0].search(native) and pair[1].search(inside)

    if ABSTRACT.search(native) and ABSTRACT.search(inside):
        return True
    if IS_STATIC or IS_NATIVE:
        return False
    return any(e.search(native) for e in SUPERVISED_ANSWERS) or both(LONG_ANSWER) or \
        both(HOW_ANSWER) or both(NO_MODE_ANSWER) or both(BITS_ANSWER) or \
        (both(LINK_ANSWER) and is_closed(before)) or \
        (SET_TIME.search(native) and FULL_TABLE.search("\n".join(before))) or \
        (variant == "flat" and both(FLAT_ANSWER) and is_out_of_reach(native, before))


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


def first_difference(native, inside, variant):
    """Index of the first line that differs in two sequences, or None."""
    for index, (one, other) in enumerate(itertools.zip_longest(native, inside, fillvalue="")):
        if one != other and is_excused(one, other, native[:index], variant):
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


def compare(native, inside, argv, variant):
    """Raise with the first difference of two files, and with how many there are of each kind.
    A sequence counts once: what follows a difference follows from it."""
    if same_bytes(native, inside):
        return
    shown = []
    kinds = {}
    for one, other in itertools.zip_longest(sequences_of(native), sequences_of(inside),
                                            fillvalue=[]):
        at = first_difference(one, other, variant)
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


def share_of(variant):
    """The first of the sequences that this run makes in a variant, and how many it makes."""
    if not IS_SPREAD:
        return 0, SEQUENCES
    run = SEQUENCES // 10 if IS_STATIC else SEQUENCES // 2
    first = SEQUENCES * IS_STATIC + run * (os.geteuid() != 0)
    begin, fifths = SHARES[variant]
    return first + run * begin // 5, max(run * fifths // 5, 1)


def differ(fx, *flags, first=0, sequences=100, under=None, rules=()):
    """Both runs; under: the words before the second one, instead of sandbash; rules: its options."""
    tool = str(fx.tool("differ"))
    words = [tool, "--seed", str(SEED), "--first", str(first), "--sequences", str(sequences),
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
    tried = fx.argv(*rules, *words, "inside") if under is None else [*under, *words, *guard, "inside"]
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
                _, error = process.communicate(timeout=max(400, sequences // 10))
                results.append((process.returncode, error.decode(errors="backslashreplace")))
        finally:
            for process in processes:
                if process.poll() is None:
                    process.kill()
                    process.wait()
        compare(*outputs, words, fx.variant)
        equal(results[0], (0, ""), "native")
        equal(results[1][0], 0, f"inside: {results[1][1]}")
        check(outputs[0].stat().st_size > sequences * 500, "nothing was compared")
    for name in ("native", "inside"):
        equal(os.listdir(fx.project / name), [], f"left in {name}")


@test("the same sequences without a sandbox print the same twice")
def constant(fx):
    differ(fx, sequences=min(max(SEQUENCES // 10, 100), 300), under=[])


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
    first, sequences = share_of(fx.variant)
    differ(fx, first=first, sequences=sequences)


if not IS_STATIC and not IS_NATIVE:
    @test("the same in a fast root", ("full", "flat"))
    def fast(fx):
        first, sequences = share_of(fx.variant)
        differ(fx, first=first, sequences=max(sequences // 5, 1), rules=["--rule=fast inside"])


# Root could change these; a static run answers EROFS, before and instead of EACCES.
if os.geteuid() != 0 and not IS_STATIC:
    @test("what an ordinary user cannot change anyway is refused with the same answer")
    def outside(fx):
        first, sequences = share_of("full")
        differ(fx, "--outside", first=first, sequences=max(sequences // 5, 1))


run_all()
