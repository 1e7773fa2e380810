"""What lands in a .env unasked is nothing but text, to whoever reads it.

Lines are made at random out of what readers trip over.  Of those that the guard lets through, files
are made and read by shells and by node: nothing may run, and every value has to come out as it stands.
$SANDBASH_TEST_SEED and $SANDBASH_TEST_LINES make others, and more.
"""

import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
from tap import TOOLS, check, contains, equal, run_all, skip, test  # noqa: E402

SEED = int(os.environ.get("SANDBASH_TEST_SEED", "1"))
LINES = int(os.environ.get("SANDBASH_TEST_LINES", "500"))
NASTY = ("$", "`", "\\", "'", '"', "(", ")", ";", "&", "|", "<", ">", "$(hit)", "`hit`", "; hit", " hit", "\thit", " hit ",
         "#", " #", "#hit", "!", "!!", "!hit", "~", "~/", "*", "?", "?x=y", "[", "]", "{a,b}", "{", "}", "=", "==",
         "=hit", ":", ":=hit", ":~", "^", "%", "%n", "@", "+", ",", "-", "/", "é", "日", "\u2028", "\u2029", "\x85", "\xa0",
         "\u3000", "\u200b", "\ufeff", "\r", "\v", "\f", "\0", "\x1b", "\x7f", "PATH=bin", " PATH=bin", " 'PATH=bin'",
         ' P"A"TH=bin', " *", " PATH?bin", " P*", " [P]ATH=bin", " [x]", " [P,]ATH=bin", " [P", "]ATH=bin", " []P]A[S-U]H[!a]bin", '["a", ', " what?", "${OLD}", "$OLD", "\\n", "\\'", '\\"',
         "$'\\nhit\\n'", "<<E", "export ", "1", "a", "b c", "x/y", "it's", "hit)", "$((hit))", "${x:-$(hit)}", "a[$(hit)]")
PLAIN = ("a", "B", "0", "x y", "http://u:p@h:80/p?x=y", "dGVzdA==", "-", "_", ".", "/", ":", "@", "%", "+", ",", "=", " ", "é")
FORMS = ("{k}={v}", "{k}={v}", "{k}={v}", '{k}="{v}"', '{k}="{v}"', "{k}='{v}'", "{k}='{v}'", "export {k}={v}", 'export {k}="{v}"',
         "  {k}={v}", "{k} = {v}", "{k}: {v}", "{k}={v} # {v}", '{k}="{v}" # {v}', "# {v}", "#{v}", "# {k}={v}", "{v}",
         "{k}+={v}", "{k}[0]={v}", "export {v}", "{k}={v}\\", '{k}="{v}', "{k}='{v}", "{k}=b if", "{k}=b {{", "if hit; then", "fi")
ASSIGNMENT = re.compile(r"""\s*(?:export\s+)?(\w+)=(?:"([^"]*)"|'([^']*)'|((?:[^\s#](?:[^\s]|\s+(?![\s#]))*)?))\s*(?:\#.*)?""", re.X)


def lines_of(rng, count, command="hit"):
    for number in range(count):
        value = "".join(rng.choice(NASTY if rng.random() < rng.choice((0, 0.1, 0.5)) else PLAIN)
                        for _ in range(rng.randrange(6)))
        yield rng.choice(FORMS).format(k=f"K{number}", v=value).replace("hit", command)


def which_land(fx, changes):
    """Of (old, new) texts, whether each new one may replace the old one unasked."""
    words = []
    for number, texts in enumerate(changes):
        place = fx.path(f"judged/{number}")
        place.mkdir(parents=True, exist_ok=True)
        for name, text in zip(("old", ".env"), texts):
            (place / name).write_text(text, newline="")
            words.append(place / name)
    said = subprocess.run([TOOLS / "guarded", "content", fx.project, *words], capture_output=True, check=True).stdout
    answers = [line for line in said.split(b"\n") if line.startswith((b"plain ", b"ask "))]
    equal(len(answers), len(changes))
    return [answer.startswith(b"plain ") for answer in answers]


def place(fx):
    """Programs of those names leave a mark; and files lie there that patterns match."""
    (fx.dir / "bin").mkdir()
    for name in ("hit", "old"):
        (fx.dir / "bin" / name).write_text(f"#!/bin/sh\n: >{fx.dir}/{name}.ran\n")
        (fx.dir / "bin" / name).chmod(0o755)
    for name in ("PATH=bin", "hit", "a", "x y"):
        fx.path(name).touch()


SHELLS = {
    "sh": ("sh", "-c", "set -a; . ./.env; exec /usr/bin/env -0"),
    "bash": ("bash", "-c", "set -a; . ./.env; exec /usr/bin/env -0"),
    "bash with a history": ("bash", "-c", "set -aH; set -o history; . ./.env; exec /usr/bin/env -0"),
    "zsh": ("zsh", "-fc", "set -a; . ./.env; exec /usr/bin/env -0"),
    "zsh that is typed at": ("zsh", "-fic", "set -a; eval \"$(</dev/stdin)\"; exec /usr/bin/env -0"),
}
# Each line by itself: xargs ends at the first apostrophe.
EXPORTS = """for file in lines/*; do
    (export $(/bin/cat "$file" | /usr/bin/xargs /bin/echo); [ "$PATH" = "$0" ]) >/dev/null 2>&1 || echo "xargs $file"
    (export $(/bin/cat "$file"); [ "$PATH" = "$0" ]) >/dev/null 2>&1 || echo "$file"
done"""


def read_by(fx, words):
    """The variables that a reader has after it, and what it complains about."""
    done = subprocess.run(words, cwd=fx.project, capture_output=True, check=False, stdin=fx.path(".env").open(),
                          env={"PATH": f"{fx.dir}/bin", "HOME": str(fx.home), "LC_ALL": "C.UTF-8"})
    pairs = done.stdout.decode(errors="replace").split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair), done.stderr.decode(errors="replace")


def ran(fx, name):
    mark = fx.dir / f"{name}.ran"
    return mark.exists() and not mark.unlink(missing_ok=True)


def let_through(fx):
    """Writes such a .env; says what it gives to which variable."""
    lines = list(lines_of(random.Random(SEED), LINES))
    kept = [line for line, lands in zip(lines, which_land(fx, [("", f"{line}\n") for line in lines])) if lands]
    check(len(kept) > LINES / 8, f"only {len(kept)} of {LINES} lines land: this tests nothing")
    text = "".join(f"{line}\n" for line in kept)
    equal(which_land(fx, [("", text)]), [True], "each lands, but not all of them")
    fx.write(".env", text)
    found = (ASSIGNMENT.fullmatch(line) for line in kept if line.strip() and not line.lstrip().startswith("#"))
    return {match[1]: match[2] or match[3] or (match[4] or "").rstrip() for match in found}


def agree(got, want, name):
    equal({key: got.get(key) for key in want if got.get(key) != want[key]}, {}, name)


@test("P2 .env: what lands unasked is text to every shell")
def shells(fx):
    place(fx)
    want = let_through(fx)
    for name, words in SHELLS.items():
        got, said = read_by(fx, [shutil.which(words[0]), *words[1:]])
        equal(said, "", name)
        check(not ran(fx, "hit"), f"{name} ran something")
        agree(got, want, name)
    exported = [shutil.which("bash"), "-c", EXPORTS, f"{fx.dir}/bin"]
    for number, line in enumerate(fx.read(".env").splitlines()):
        fx.write(f"lines/{number}", line)
    equal(fx.run(*exported, env={"PATH": f"{fx.dir}/bin"}).stdout, "")
    check(not ran(fx, "hit"), "an export ran something")
    fx.path(".env").write_text("A=$(hit)\n")
    for name, words in SHELLS.items():
        read_by(fx, [shutil.which(words[0]), *words[1:]])
        check(ran(fx, "hit"), f"the control: {name}")
    shutil.rmtree(fx.path("lines"))
    for line in ("# PATH=bin", "# *", "A='b PATH=bin'"):
        fx.write("lines/x", line)
        contains(fx.run(*exported, env={"PATH": f"{fx.dir}/bin"}).stdout, "lines/x", f"the control: {line}")


@test("P2 .env: what lands unasked is text to node")
def node(fx):
    program = shutil.which("node")
    if subprocess.run([program, "--env-file=/dev/null", "-e", ""], capture_output=True, check=False).returncode:
        skip("this node knows no --env-file")
    place(fx)
    want = let_through(fx)
    got, _ = read_by(fx, [program, "--env-file=.env", "-e", "for (const [k, v] of Object.entries(process.env)) "
                                                             "process.stdout.write(`${k}=${v}\\0`)"])
    agree(got, want, "node")


@test("P2 .env: what stood there stays what it was beside what lands unasked")
def beside(fx):
    place(fx)
    rng, changes = random.Random(SEED), []
    for _ in range(LINES // 4):
        old = list(lines_of(rng, rng.randrange(1, 4), "old"))
        lines = rng.sample(old, rng.randrange(len(old) + 1)) + list(lines_of(rng, rng.randrange(1, 4)))
        if rng.random() < 0.5:
            rng.shuffle(lines)
        changes.append(["".join(f"{line}\n" for line in text) for text in (old, lines)])
    landed = [change for change, lands in zip(changes, which_land(fx, changes)) if lands]
    for old, text in landed:
        fx.write(".env", text)
        for name in ("sh", "bash", "zsh"):
            read_by(fx, [shutil.which(name), *SHELLS[name][1:]])
            check(not ran(fx, "hit"), f"{name} ran something: {old!r} became {text!r}")
    check(len(landed) > LINES / 100, f"only {len(landed)} files land: this tests nothing")


run_all()
