"""arguments.py - S11: which words are ours, and that all others arrive as they were given."""

import subprocess

from tap import BIN, check, contains, equal, run_all, test, usage_error

EXIT_USAGE, EXIT_NOT_FOUND = 2, 127

# A shell prints its own argument vector, bytes and all.
SHOW = "cat /proc/$$/cmdline; :"


def shown(result):
    equal(result.status, 0, result.stderr)
    return result.stdout.split("\0")[:-1]


@test("S11 the first word that is no option is the command, and all after it is the command's")
def first_word(fx):
    for words in (("--help",), ("--version", "--disable-sandbox"), ("--",), ("-x", "--", "-y"),
                  ("--allow-write=/", "a"), ("",), ("--json",), ("--mode=nonsense",)):
        equal(fx.sandbash("printf", "%s|", *words).stdout, "".join(f"{word}|" for word in words))
        equal(fx.sandbash("--static", "printf", "%s|", *words).stdout,
              "".join(f"{word}|" for word in words))


@test("S11 an option after the command does not reach sandbash")
def option_after_command(fx):
    for option in ("--disable-sandbox", "--mode=danger-full-access", f"--allow-write={fx.outside}",
                   "--anywhere"):
        result = fx.sandbash("sh", "-c", f"touch {fx.outside}/x", option)
        check(result.status != 0 and not (fx.outside / "x").exists(), option)


@test("S11 a value stands after '=' or is the next word")
def both_forms(fx):
    for words in ((f"--allow-write={fx.outside}",), ("--allow-write", fx.outside)):
        result = fx.sandbash(*words, "touch", fx.outside / "x")
        equal(result.status, 0, result.stderr)
        (fx.outside / "x").unlink()
    equal(fx.sandbash("--mode", "read-only", "sh", "-c", "echo $SANDBASH_MODE").stdout,
          "read-only\n")
    equal(fx.sandbash("--mode=read-only", "sh", "-c", "echo $SANDBASH_MODE").stdout, "read-only\n")


@test("S11 an attached value may hold '=' and look like an option")
def odd_values(fx):
    for name in ("--deny", "a=b", "-x", "--"):
        (fx.project / name).mkdir()
        result = fx.sandbash(f"--allow-read={name}", "touch", f"./{name}/x")
        check(result.status not in (0, EXIT_USAGE), f"{name}: {result.stderr}")
        check(not fx.exists(f"{name}/x"))


@test("S11 a forgotten value does not swallow the next option")
def forgotten_value(fx):
    usage_error(fx.sandbash("--allow-write", "--deny=x", "touch", "x"), "--allow-write")
    check(not fx.exists("x"))


@test("S11 the first option that is not ours goes to bash, with the rest")
def foreign_option(fx):
    equal(fx.sandbash("-c", "echo hi").stdout, "hi\n")
    equal(fx.sandbash("--allow-write=/tmp", "-c", "echo hi").stdout, "hi\n")
    equal(fx.sandbash("-c", 'echo "$0|$1|$2"', "zero", "--help", "--").stdout, "zero|--help|--\n")
    equal(fx.sandbash("--norc", "-c", "echo hi", "--dry-run").stdout, "hi\n")
    equal(fx.sandbash("-e", "-c", "false; echo no").status, 1)
    equal(shown(fx.sandbash("-c", SHOW, "a", "b c")), ["bash", "-c", SHOW, "a", "b c"])
    equal(fx.sandbash("-s", "x", "y", input="echo $2\n").stdout, "y\n")


@test("S11 an unknown option is bash's to judge, unless it is a slip of ours (typos.py)")
def unknown_option(fx):
    for option in ("--allow-sockets=/x", "--no-such-option", "--HELP", "-allow-write=/x", "--m",
                   "-Z"):
        result, control = fx.sandbash(option), fx.run("bash", option)
        equal(result.status, control.status, option)
        equal(result.stderr, control.stderr, option)


@test("S11 options are not abbreviated")
def no_abbreviation(fx):
    for option in ("--allow", "--disable", "--doc", "--vers", "--stat"):
        result = fx.sandbash(option, "-c", "echo ran")
        equal(result.stdout, "")
        contains(result.stderr, "bash: ")
    equal(fx.sandbash("--dis", "touch", fx.outside / "x").status, 2)


@test("S11 '--' ends our options")
def double_dash(fx):
    equal(fx.sandbash("--", "echo", "a").stdout, "a\n")
    equal(fx.sandbash("--static", "--", "echo", "--", "--help").stdout, "-- --help\n")
    equal(fx.sandbash("--", "-c", "echo hi").stdout, "hi\n")
    equal(fx.sandbash("--", "--norc", "-c", "echo hi").stdout, "hi\n")
    equal(fx.sandbash("--", input="echo from stdin\n").stdout, "from stdin\n")
    equal(shown(fx.sandbash("--", "-c", SHOW)), ["bash", "-c", SHOW])


@test("S11 after '--' no word of ours is read, so a foreign command cannot pass one")
def dashed_command(fx):
    for word in ("--disable-sandbox", "--mode=danger-full-access", "--help", "--version",
                 "--allow-write=/", "--anywhere"):
        result = fx.sandbash("--", word, "touch", fx.outside / "x")
        control = fx.run("bash", word, "touch", fx.outside / "x")
        check(not (fx.outside / "x").exists(), word)
        equal((result.status, result.stdout, result.stderr),
              (control.status, control.stdout, control.stderr), word)


@test("S11 a program whose name begins with '-' can be run by its path")
def dashed_program(fx):
    fx.write("--evil", "#!/bin/sh\necho ran \"$@\"\n", mode=0o755)
    equal(fx.sandbash("./--evil", "--help").stdout, "ran --help\n")


@test("S11 empty arguments arrive, and an empty command is not found")
def empty_arguments(fx):
    equal(shown(fx.sandbash("sh", "-c", SHOW, "", "x", "")), ["sh", "-c", SHOW, "", "x", ""])
    result, control = fx.sandbash(""), fx.run("env", "")
    equal(result.status, EXIT_NOT_FOUND, result.stderr)
    equal(control.status, EXIT_NOT_FOUND)
    contains(result.stderr, "sandbash: cannot run ''")


@test("S11 every byte of every argument arrives: newlines, escapes, invalid UTF-8")
def all_bytes(fx):
    every = bytes(range(1, 256)).decode("utf-8", "surrogateescape")
    words = [every, "\n", " ", "\udcff\udcfe", "a\x1b[31mb", "'\"\\$`*?[", "ünïcödé", "x" * 100000,
             "--" + every, "%s%n"]
    equal(shown(fx.sandbash("sh", "-c", SHOW, *words)), ["sh", "-c", SHOW, *words])
    equal(shown(fx.sandbash("-c", SHOW, *words)), ["bash", "-c", SHOW, *words])


@test("S11 thousands of arguments arrive")
def many_arguments(fx):
    words = [str(i) for i in range(20000)]
    equal(shown(fx.sandbash("sh", "-c", SHOW, *words))[3:], words)


@test("S11 S12 argv[0] is the word that was typed")
def argv_zero(fx):
    fx.write("sub/script", "#!/bin/sh\necho \"$0\"\n", mode=0o755)
    for word in ("./sub/script", "sub/../sub/script", fx.project / "sub/script"):
        equal(fx.sandbash(word).stdout, fx.run(word).stdout)
    fx.path("sub/link").symlink_to("/bin/sh")
    equal(shown(fx.sandbash("sub/link", "-c", SHOW))[0], "sub/link")
    equal(shown(fx.sandbash("sh", "-c", SHOW))[0], "sh")


@test("S11 sandbash's own name does not matter")
def own_name(fx):
    for name in ("sandbash", "-sandbash", "", "bash", "--disable-sandbox"):
        process = subprocess.run([name, "-c", "echo $0"], executable=BIN, cwd=fx.project,
                                 env=fx.env(), capture_output=True, check=False)
        equal((process.returncode, process.stdout), (0, b"bash\n"), name)


@test("S11 an option of ours that needs a value and has none is a usage mistake")
def value_missing(fx):
    for option in ("--allow-write", "--allow-read", "--deny", "--ask", "--rule", "--policy",
                   "--project", "--mode", "--network", "--keep-fd", "--shell", "--explain",
                   "--add-path", "--remove-path"):
        usage_error(fx.sandbash(option), option)
        usage_error(fx.sandbash(f"{option}=", "touch", "x"), option)
        usage_error(fx.sandbash(option, "", "touch", "x"), option)
    check(not fx.exists("x"))


@test("S11 an option of ours that takes no value and has one is a usage mistake")
def value_too_many(fx):
    for option in ("--disable-sandbox", "--no-tmp", "--shared-tmp", "--allow-home", "--anywhere",
                   "--static", "--best-effort", "--dry-run", "--print-policy", "--list-paths",
                   "--status", "--doctor", "--json", "--help", "--version", "--edit", "--global"):
        usage_error(fx.sandbash(f"{option}=yes", "touch", "x"), option)
    check(not fx.exists("x"))


@test("S11 --static is accepted and changes nothing")
def static(fx):
    equal(fx.sandbash("--static", "--static", "echo", "hi"), (0, "hi\n", ""))
    check(fx.sandbash("--static", "touch", fx.outside / "x").status != 0)


@test("S11 looking commands take no command, except --dry-run")
def looking_with_command(fx):
    for option in ("--print-policy", "--list-paths", "--status", "--doctor", "--help", "--version",
                   "--explain=x"):
        usage_error(fx.sandbash(option, "touch", "x"), option.split("=")[0], "command")
    equal(fx.sandbash("--dry-run", "touch", "x").status, 0)
    check(not fx.exists("x"))


@test("S11 --json needs something to look at")
def json_alone(fx):
    for words in (("--json",), ("--json", "touch", "x"), ("--json", "--add-path", "/usr"),
                  ("--json", "--edit"), ("--json", "-c", "touch x")):
        usage_error(fx.sandbash(*words, env={"VISUAL": "true"}), "--json")
    check(not fx.exists("x"))


@test("S11 options that contradict each other are a usage mistake")
def contradictions(fx):
    for words in (("--network=on", "--network=off"), ("--mode=read-only", "--mode=workspace-write"),
                  ("--mode=read-only", "--disable-sandbox"), ("--no-tmp", "--shared-tmp"),
                  ("--status", "--doctor"), ("--help", "--dry-run"),
                  ("--shell=bash", "--shell=zsh"), ("--explain=a", "--explain=b")):
        usage_error(fx.sandbash(*words))
    # the same twice is none
    equal(fx.sandbash("--network=off", "--network=off", "--no-tmp", "--no-tmp", "true").status, 0)


@test("S11 an option word inside the environment of sandbash means nothing")
def no_environment_options(fx):
    env = {"SANDBASH_FLAGS": "--disable-sandbox", "SANDBASH_OPTIONS": "--disable-sandbox",
           "SANDBASH": "1", "SANDBASH_PROJECT": str(fx.outside)}
    result = fx.sandbash("touch", fx.outside / "x", env=env)
    check(result.status != 0 and not (fx.outside / "x").exists())


run_all()
