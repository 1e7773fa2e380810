"""ESCAPES commands: words that the model or a file chose are never read as our own options."""

import os

from attack import boxed, works
from tap import BIN, ALL_VARIANTS, check, contains, equal, run_all, test

LOOSE = ("--disable-sandbox", "--mode=danger-full-access", "--best-effort", "--allow-write=/")


@test("ESCAPES commands: options after the command belong to the command", variants=ALL_VARIANTS)
def after_command(fx):
    target = fx.outside / "new"
    for option in LOOSE:
        fx.sandbash("sh", "-c", 'touch "$1"', "sh", target, option)
        check(not target.exists(), option)
        fx.sandbash("env", option, "touch", target)
        check(not target.exists(), option)
        result = fx.sandbash("echo", option, "--network=off")
        equal(result.stdout, f"{option} --network=off\n")
    works(fx.run("touch", target), "control")


@test("ESCAPES commands: a command that begins with dashes", variants=ALL_VARIANTS)
def dashes(fx):
    """After --, or as bash's own options: never ours again (CVE-2024-32462)."""
    target = fx.outside / "new"
    for option in LOOSE:
        for words in (["--", option, "touch", target], ["-c", f"touch {target}", option],
                      ["--norc", option, "-c", f"touch {target}"], ["--", "touch", target, option],
                      ["-c", 'touch "$1"', option, target], ["-x", "-c", f"touch {target}"]):
            fx.sandbash(*words)
            check(not target.exists(), str(words))
    fx.write("--disable-sandbox", "#!/bin/sh\ntouch \"$1\"\n", 0o755)
    for words in (["--", "./--disable-sandbox", target], ["./--disable-sandbox", target]):
        fx.sandbash(*words)
        check(not target.exists(), str(words))
        works(fx.sandbash(*words[:-1], fx.project / "inside"), "neighbour")
        check(fx.exists("inside"))
        fx.path("inside").unlink()


@test("ESCAPES commands: values that look like options or more", variants=("full", "flat"))
def values(fx):
    target = fx.outside / "new"
    for words in (["--allow-write", "--disable-sandbox", "touch", target],
                  ["--deny=x\nwrite /", "touch", target],
                  ["--rule=read x\nwrite /", "touch", target],
                  ["--allow-read=x\n/", "touch", target], ["--allow-write=", "touch", target],
                  ["--rule=", "touch", target], ["--project=", "touch", target],
                  ["--mode=danger-full-access ", "touch", target], ["--network=", "touch", target],
                  ["--allow-write=\0".replace("\0", "\\0"), "touch", target]):
        fx.sandbash(*words)
        check(not target.exists(), str(words))


@test("ESCAPES commands: an empty list allows nothing", variants=("full", "flat"))
def empty(fx):
    """CVE-2025-66479: an empty allow-list that enforced nothing."""
    target = fx.outside / "new"
    fx.config("")
    fx.config("", "projects/" + "0" * 16)
    rules = fx.write(fx.home / "empty.rules", "")
    for flags in ([], [f"--policy={rules}"], ["--policy=/dev/null"]):
        fx.sandbash(*flags, "touch", target)
        check(not target.exists(), str(flags))
    works(fx.sandbash("touch", "inside"))


@test("ESCAPES commands: start-up files of the shell inside cannot loosen anything",
      variants=ALL_VARIANTS)
def startup(fx):
    evil = f"touch {fx.outside}/new\n"
    for name in (".bashrc", ".profile", ".bash_profile", ".zshrc"):
        fx.write(fx.home / name, evil)
        fx.write(name, evil)
    env = {"BASH_ENV": fx.home / ".bashrc", "ENV": fx.home / ".bashrc",
           "LD_PRELOAD": "/nonexistent.so",
           "PROMPT_COMMAND": evil.strip(), "IFS": "/", "SHELLOPTS": "xtrace"}
    for words in (["bash", "-c", "true"], ["bash", "-ic", "true"], ["bash", "-lc", "true"],
                  ["-c", "true"]):
        fx.sandbash(*words, env=env)
        equal(os.listdir(fx.outside), [], str(words))


@test("ESCAPES commands: a program of the project is not run in the place of sandbash's own",
      variants=("full", "flat"))
def own_path(fx):
    """Nothing of the project runs before the sandbox is closed: no helper is looked up on PATH."""
    for name in ("bash", "mount", "umount", "newuidmap", "git", "id", "ldd", "ls", "sh"):
        fx.write(f"bin/{name}",
                 f"#!/bin/dash\necho x >{fx.outside}/new\nexec /bin/{name} \"$@\"\n", 0o755)
    env = {"PATH": f"{fx.project}/bin:.:/usr/bin:/bin"}
    for words in (["true"], ["-c", "true"], ["bash", "-c", "true"], ["--status"], ["--doctor"],
                  ["--dry-run"], ["--print-policy"], ["--version"]):
        fx.sandbash(*words, env=env)
        equal(os.listdir(fx.outside), [], str(words))
    works(fx.run("sh", "-c", "ls >/dev/null", env=env), "control")
    equal(os.listdir(fx.outside), ["new"])


@test("ESCAPES commands: the inside cannot turn the sandbox off", variants=ALL_VARIANTS)
def off(fx):
    """USERS 8, CVE-2026-42074: asking for it changes nothing that holds already."""
    target = fx.outside / "new"
    for option in LOOSE:
        fx.sandbash(BIN, option, "--anywhere", "touch", target)
        check(not target.exists(), option)
    fx.sandbash("sh", "-c", f"unset SANDBASH; exec {BIN} --disable-sandbox touch {target}")
    check(not target.exists())
    result = boxed(fx, "open", "wronly+creat", target)
    contains(result.stderr, "E")
    works(fx.run(BIN, "--disable-sandbox", "touch", target), "control")
    check(target.exists())


run_all()
