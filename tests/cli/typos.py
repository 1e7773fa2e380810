"""typos.py - S11: a mistyped option of ours is named with the nearest; the shell's go to the shell."""

from tap import check, contains, equal, run_all, test

OURS = """allow-write allow-read ask deny rule policy project within mode disable-sandbox network no-tmp
shared-tmp protect-ignored allow-home anywhere static consent ask-timeout session sessions forget attach
quiet report require-audit keep-background best-effort keep-fd keep-env ask-fd mcp shell dry-run explain
print-policy list-paths status doctor log stats json help version follow verify prune since log-session
log-path log-verdict add-path remove-path edit global completion""".split()
BASH = """debug debugger dump-po-strings dump-strings init-file login noediting noprofile norc posix
pretty-print protected rcfile restricted verbose wordexp""".split()
FISH = "command init-command interactive no-config no-execute private profile".split()


def is_typo(fx, word, meant, *rest):
    result = fx.sandbash(word, *rest, "--", "touch", "ran")
    equal(result.status, 2, f"{word}: {result.stderr}")
    lines = result.stderr.splitlines()
    equal(len(lines), 2, result.stderr)
    equal(lines[0], f"sandbash: no option '{word.split('=')[0]}'; did you mean '--{meant}'?")
    check(lines[1].startswith("hint: "), result.stderr)
    equal(result.stdout, "")
    check(not fx.exists("ran"), f"{word}: it ran")


@test("S11 one or two wrong letters: the nearest option, exit 2, nothing runs")
def named(fx):
    equal(fx.sandbash("--network=off", "--", "touch", "control").status, 0)
    check(fx.exists("control"), "the option without the slip")
    is_typo(fx, f"--alow-write={fx.outside}", "allow-write")
    is_typo(fx, f"--allow_write={fx.outside}", "allow-write")
    is_typo(fx, "--ntework=off", "network")
    is_typo(fx, "--netwrok", "network", "off")
    is_typo(fx, "--consnet=deny", "consent")
    is_typo(fx, "--disable-sandbx", "disable-sandbox")
    is_typo(fx, "--staitc", "static")
    is_typo(fx, "--mod=read-only", "mode")
    is_typo(fx, "--explian", "explain", "x")
    is_typo(fx, "--logs", "log")
    contains(fx.sandbash("--", "--ntework=off").stderr, "bash: --ntework=off", "behind -- it is the shell's")


@test("S11 also as what would be the value of an option before it")
def as_value(fx):
    result = fx.sandbash("--allow-write", "--ntework=off", "touch", "ran")
    equal(result.status, 2, result.stderr)
    contains(result.stderr, "did you mean '--network'?")
    check(not fx.exists("ran"))


@test("S11 what is further away goes to the shell, which says so")
def further(fx):
    for word in ("--frobnicate", "--alw-wrt", "--lg", "--as", "--k", "--e", "--nonsense=1"):
        result = fx.sandbash(word)
        contains(result.stderr, f"bash: {word}", word)
        equal(result.status, 2, "bash's own answer")


@test("S11 no option of a shell's is taken for a slip, nor is one of ours")
def shells(fx):
    for word in BASH:
        result = fx.sandbash(f"--{word}", "-c", "echo shell")
        check("did you mean" not in result.stderr, f"--{word}: {result.stderr}")
    for word in FISH:  # which is not needed for that
        result = fx.sandbash("--shell=/bin/echo", f"--{word}", "x")
        check("did you mean" not in result.stderr, f"--{word}: {result.stderr}")
    for word in ("login", "norc", "posix", "noprofile"):
        result = fx.sandbash(f"--{word}", "-c", "echo shell")
        equal((result.status, result.stdout), (0, "shell\n"), result.stderr)
    for word in OURS:
        result = fx.sandbash(f"--{word}=", "--version")
        check("did you mean" not in result.stderr, f"--{word}: {result.stderr}")


@test("S11 a slip of an option of bash's goes to bash")
def slip_of_bash(fx):
    for word in ("--logn", "--loggin", "--nrc", "--verbos"):
        contains(fx.sandbash(word).stderr, f"bash: {word}", word)


run_all()
