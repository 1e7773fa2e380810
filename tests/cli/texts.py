"""texts.py - R5: help, version, man page, completions; R4: --doctor; and that all looking
commands can be read by a script."""

import json
import os
import re
import shutil

from tap import BIN, TOP, check, contains, equal, lacks, run_all, skip, test

EXIT_USAGE, EXIT_OWN_FAILURE = 2, 125
COMPLETIONS = BIN.parent / "share"
LOOKING = (("--dry-run",), ("--dry-run", "echo", "a b"), ("--explain", "x"), ("--print-policy",),
           ("--list-paths",), ("--status",), ("--doctor",), ("--log", "--verify"),
           ("--stats",))


def need(program):
    if not shutil.which(program):
        skip(f"no {program} on this machine")


def help_text(fx):
    result = fx.sandbash("--help")
    equal((result.status, result.stderr), (0, ""))
    return result.stdout


def options(fx):
    """Every option that --help names, without its value."""
    found = sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", help_text(fx))))
    check(len(found) > 25, str(found))
    return found


# What was promised; --help must know them all.
PROMISED = ("--allow-write", "--allow-read", "--deny", "--ask", "--rule", "--policy", "--project",
            "--mode", "--disable-sandbox", "--network", "--no-tmp", "--shared-tmp", "--allow-home",
            "--anywhere", "--static", "--best-effort", "--keep-fd", "--shell", "--dry-run",
            "--explain", "--print-policy", "--list-paths", "--status", "--doctor", "--json",
            "--add-path", "--remove-path", "--edit", "--global", "--help", "--version",
            "--require-audit", "--log", "--stats", "--follow", "--verify", "--prune", "--since", "--log-session",
            "--log-path", "--log-verdict")


# --- --help and --version -----------------------------------------------------------------------


@test("R5 --help fits one screen: 24 lines of 80 columns, on stdout, exit 0")
def help_fits(fx):
    lines = help_text(fx).splitlines()
    check(len(lines) <= 24, f"{len(lines)} lines")
    for line in lines:
        check(len(line) <= 80, f"{len(line)} columns: {line}")
        equal(line, line.rstrip(), "trailing blanks")


@test("R5 --help is grouped, says how to call it and names every option")
def help_complete(fx):
    text = help_text(fx)
    contains(text.splitlines()[0], "sandbash")
    check(sum(1 for line in text.splitlines() if line.endswith(":")) >= 3, "no groups")
    found = options(fx)
    for option in PROMISED:
        check(option in found, f"{option} is missing")
    for mode in ("read-only", "workspace-write", "danger-full-access"):
        contains(text, mode)


@test("R5 every option in --help is one that sandbash takes")
def help_true(fx):
    for option in options(fx):
        result = fx.sandbash(option, "--version")
        # known ones answer, or say what they lack; unknown ones would reach bash
        check(not result.stderr.startswith("bash: "), f"{option}: {result.stderr}")
        lacks(result.stdout, "GNU bash", option)


@test("R5 --help and --version need neither a home nor a project nor a sandbox")
def help_anywhere(fx):
    for option in ("--help", "--version"):
        for where in ({"cwd": "/"}, {"env": {"HOME": None}}, {"env": {"HOME": "relative"}},
                      {"without": "landlock,userns"}):
            result = fx.sandbash(option, **where)
            equal((result.status, result.stderr), (0, ""), f"{option} {where}")
    fx.config("frob it now\n")
    equal(fx.sandbash("--help").status, 0)


@test("R5 R4 --version: the version, and the layers of this machine")
def version(fx):
    result = fx.sandbash("--version")
    equal((result.status, result.stderr), (0, ""))
    lines = result.stdout.splitlines()
    check(re.fullmatch(r"sandbash \d+\.\d+\.\d+\S*", lines[0]), lines[0])
    meson = (TOP / "meson.build").read_text()
    equal(lines[0].split()[1], re.search(r"version: '([^']+)'", meson).group(1))
    for layer in ("mount namespace", "Landlock ABI", "seccomp"):
        contains(result.stdout, layer)


@test("R5 R4 --version on a weaker machine names what is there, and what is not")
def version_weaker(fx):
    text = fx.sandbash("--version", without="userns").stdout
    contains(text, "Landlock ABI")
    contains(text, "no mount namespace: ")
    contains(fx.sandbash("--version", without="landlock-abi=3").stdout, "Landlock ABI 3")
    lacks(fx.sandbash("--version", without="landlock").stdout, "Landlock ABI")
    contains(fx.sandbash("--version", without="landlock,userns,seccomp").stdout, "none")


# --- the man page -------------------------------------------------------------------------------


@test("R5 every option of --help is in the man page, and what else the page names exists")
def man_page(fx):
    text = (TOP / "man" / "sandbash.1.scd").read_text().replace("\\", "")
    found = options(fx)
    for option in found:
        check(re.search(rf"(?<![\w-]){option}(?![\w-])", text),
              f"{option} is not in man/sandbash.1.scd")
    headings = set(re.findall(r"(?m)^\*(--[a-z-]+)", text))
    check(headings, "the page has no option entries of the form *--name*")
    for option in headings - set(found):  # the page may also tell of what --help leaves out
        check(not fx.sandbash(option, "bash").stderr.startswith("bash: "),
              f"{option} does not exist")


@test("R5 the man pages are valid scdoc, with an example, exit codes, files and environment")
def man_pages_build(fx):
    need("scdoc")
    for name in ("sandbash.1", "sandbash-rules.5"):
        source = TOP / "man" / f"{name}.scd"
        result = fx.run("scdoc", stdin=open(source, "rb"))
        equal((result.status, result.stderr), (0, ""), name)
        check(result.stdout.startswith(".") or ".TH" in result.stdout, name)
    text = (TOP / "man" / "sandbash.1.scd").read_text().replace("\\", "")
    for part in ("EXAMPLE", "EXIT STATUS", "FILES", "ENVIRONMENT", "125", "126", "127",
                 "SANDBASH_MODE", "XDG_CONFIG_HOME"):
        contains(text, part)


@test("R5 the rules page names every access, setting and wildcard")
def rules_page(fx):
    text = (TOP / "man" / "sandbash-rules.5.scd").read_text().replace("\\", "")
    for word in ("read", "write", "deny", "ask", "modify", "create", "delete", "include", "network",
                 "mode", "tmp", "shell", "**", "~"):
        contains(text, word)
    settings = re.findall(r'\[SB_SETTING_\w+\] =\s*\{"([\w-]+)"', (TOP / "src/policy/settings.c").read_text())
    check(len(settings) >= 8, settings)
    for word in settings:
        contains(text, f'"{word}" (', "in the grammar")
        check(re.search(rf"^\*{word}\* ", text, re.M), f"{word} is not told about")


# --- completions --------------------------------------------------------------------------------

FILES = {"bash": "sandbash", "zsh": "_sandbash", "fish": "sandbash.fish"}


@test("R5 every option of --help is in the completions for bash, zsh and fish")
def completions_complete(fx):
    for shell, name in FILES.items():
        text = (COMPLETIONS / name).read_text()
        for option in options(fx):
            wanted = f"-l {option[2:]}" if shell == "fish" else option
            check(re.search(rf"{wanted}(?![\w-])", text),
                  f"{option} is not in the completion for {shell}")


@test("R5 the bash completion loads without a word, under strict options too")
def bash_loads(fx):
    file = COMPLETIONS / "sandbash"
    for script in (f"source {file}", f"set -eu; source {file}",
                   f"set -o posix; set +o posix; source {file}"):
        result = fx.run("bash", "--norc", "-c", script + "; complete -p sandbash")
        equal((result.status, result.stderr), (0, ""), script)
        contains(result.stdout, "sandbash")


def complete_bash(fx, *words):
    """What bash would offer for the last word."""
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; '
              'COMP_POINT=${#COMP_LINE}; compopt() { :; }; '
              '_sandbash sandbash "${!#}" "${COMP_WORDS[COMP_CWORD-1]}"; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    result = fx.run("bash", "--norc", "-c", script, "bash", COMPLETIONS / "sandbash", *words)
    equal((result.status, result.stderr), (0, ""), str(words))
    return [line.rstrip(" =") for line in result.stdout.splitlines() if line]


@test("R5 the bash completion offers options, values, files and commands")
def bash_completes(fx):
    fx.write("some-file", "")
    equal(complete_bash(fx, "sandbash", "--list-"), ["--list-paths"])
    equal(sorted(complete_bash(fx, "sandbash", "--allow-")),
          ["--allow-home", "--allow-read", "--allow-write"])
    equal(complete_bash(fx, "sandbash", "--mode", "=", "read"), ["read-only"])
    equal(complete_bash(fx, "sandbash", "--mode", "read"), ["read-only"])
    equal(complete_bash(fx, "sandbash", "--allow-write", "=", "some-f"), ["some-file"])
    fx.write("some-dir/x", "")
    equal(sorted(complete_bash(fx, "sandbash", "--report", "=", "some-")), ["some-dir", "some-file"])
    equal(complete_bash(fx, "sandbash", "--project", "=", "some-"), ["some-dir"])
    equal(complete_bash(fx, "sandbash", "--session", "=", "some-"), [])
    contains(complete_bash(fx, "sandbash", "--static", "tou"), "touch")
    equal(complete_bash(fx, "sandbash", "cat", "some-f"), ["some-file"])
    # an option word after the command is the command's, not ours
    lacks(complete_bash(fx, "sandbash", "cat", "--list"), "--list-paths")


@test("R5 the zsh completion loads without a word and is found by compinit")
def zsh_loads(fx):
    need("zsh")
    equal(fx.run("zsh", "-n", COMPLETIONS / "_sandbash").stderr, "")
    script = (f"fpath=({COMPLETIONS} $fpath); autoload -Uz compinit; compinit -u -d {fx.dir}/dump; "
              "echo ${_comps[sandbash]}; autoload +X _sandbash")
    result = fx.run("zsh", "-f", "-c", script)
    equal((result.status, result.stdout, result.stderr), (0, "_sandbash\n", ""))


@test("R5 the zsh completion completes an option")
def zsh_completes(fx):
    need("zsh")
    fx.write(fx.home / ".zshrc",
             f"fpath=({COMPLETIONS} $fpath); autoload -Uz compinit; compinit -u -d {fx.dir}/dump\nPROMPT='here> '\n")
    fx.write(fx.home / "bin/sandbash", "#!/bin/sh\n", mode=0o755)
    term = fx.terminal("zsh", env={"PATH": f"{fx.home}/bin:/usr/bin:/bin"})
    term.expect("here> ")
    term.settle()
    term.send("sandbash --print-p\t")
    term.expect("olicy")
    fx.write("some-file", "")
    fx.write("some-dir/x", "")
    for option, rest in (("--project=so", "me-dir"), ("--report=some-f", "ile")):
        term.send(f"\x15sandbash {option}\t")
        term.expect(rest)
    lacks(term.output, "_arguments:")
    lacks(term.output, "error")


@test("R5 the fish completion loads without a word and completes options and values")
def fish_completes(fx):
    need("fish")
    def offers(line):
        result = fx.run("fish", "--no-config", "-c",
                        f"source {COMPLETIONS}/sandbash.fish; complete -C '{line}'")
        equal((result.status, result.stderr), (0, ""))
        return [row.split("\t")[0] for row in result.stdout.splitlines()]

    equal(offers("sandbash --list-"), ["--list-paths"])
    check("--mode=read-only" in offers("sandbash --mode=re")
          or "read-only" in offers("sandbash --mode re"))
    check("touch" in offers("sandbash touc"))
    fx.write("some-file", "")
    fx.write("some-dir/x", "")
    for option, wanted in (("report", ["some-dir/", "some-file"]), ("project", ["some-dir/"]),
                           ("session", [])):
        equal(sorted(offers(f"sandbash --{option} some-")), wanted, option)


@test("R5 the files of the build are what the program prints")
def completions_current(fx):
    for shell, name in FILES.items():
        result = fx.sandbash("--completion", shell)
        equal(result.status, 0, result.stderr)
        equal(result.stdout, (COMPLETIONS / name).read_text(), shell)


@test("R5 the AppArmor profile is for the programs where they will be installed")
def profile_attaches(fx):
    chosen = {option["name"]: option["value"] for option in
              json.loads((BIN.parent / "meson-info/intro-buildoptions.json").read_text())}
    text = (BIN.parent / "share/apparmor").read_text()
    contains(text, f"\nprofile sandbash {chosen['prefix']}/{chosen['bindir']}/sandbash{{,-mcp}} flags=(unconfined) {{\n"
                   "  userns,\n")
    check(not re.search(r"@[a-z]+@", text), text)


# --- --json -------------------------------------------------------------------------------------


@test("R5 every looking command has --json, before or after it, and nothing else on stdout")
def json_everywhere(fx):
    fx.config(f"{fx.outside}\nread vendor\n")
    for words in LOOKING:
        result = fx.sandbash("--json", *words)
        equal((result.status, result.stderr), (0, ""), str(words))
        found = json.loads(result.stdout)
        check(isinstance(found, dict) and found, str(words))
        if words[-1] != "a b":
            again = fx.sandbash(*words, "--json")
            equal(list(json.loads(again.stdout)), list(found), str(words))


@test("R5 --json is valid and lossless for paths of any bytes")
def json_bytes(fx):
    odd = fx.home / "odd \"q\" \\ \n \x1b \udcff \u202e ü"
    odd.mkdir()
    for words in (("--dry-run",), ("--list-paths",), ("--status",)):
        result = fx.sandbash(*words, "--json", cwd=odd)
        equal(result.status, 0, result.stderr)
        text = result.stdout
        check(all(c.isprintable() or c == "\n" for c in text), f"{words}: raw control characters")
        found = json.loads(text)
        equal(found.get("directory") or found.get("current_directory") or found.get("project"),
              str(odd), str(words))
    for words in (("--dry-run",), ("--list-paths",), ("--status",), ("--print-policy",),
                  ("--explain", ".")):
        text = fx.sandbash(*words, cwd=odd).stdout
        check(all(c.isprintable() or c == "\n" for c in text),
              f"{words}: control characters reach the terminal")


@test("R5 warnings go to stderr, so that --json stays clean")
def json_warnings(fx):
    fx.config("/dev/null/x\n")
    for words in (("--dry-run",), ("--list-paths",), ("--status",), ("--print-policy",),
                  ("--explain", ".")):
        result = fx.sandbash(*words, "--json")
        json.loads(result.stdout)
        contains(result.stderr, "sandbash: warning: skipping '/dev/null/x'")


@test("R5 looking commands leave nothing and change nothing")
def looking_leaves_nothing(fx):
    before = fx.snapshot()
    for words in (*LOOKING, ("--help",), ("--version",)):
        fx.sandbash(*words)
        fx.sandbash(*words, cwd=fx.home)
    equal(fx.snapshot(), before)


@test("R5 looking commands work from any directory")
def looking_anywhere(fx):
    for words in (("--explain", "x"), ("--print-policy",), ("--list-paths",), ("--status",),
                  ("--doctor",)):
        for cwd in (fx.home, fx.outside, "/"):
            result = fx.sandbash(*words, cwd=cwd)
            equal((result.status, result.stderr), (0, ""), f"{words} in {cwd}")


# --- --doctor -----------------------------------------------------------------------------------


@test("R4 --doctor: exit 0 where a full sandbox is possible, every feature named")
def doctor(fx):
    result = fx.sandbash("--doctor")
    equal((result.status, result.stderr), (0, ""))
    for feature in ("mount namespace", "Landlock", "seccomp", "network namespace"):
        contains(result.stdout, feature)
    found = json.loads(fx.sandbash("--doctor", "--json").stdout)
    equal(found["full"], True)
    for feature in found["features"]:
        check(feature["there"], str(feature))
        contains(result.stdout, feature["name"])


@test("R4 --doctor: not 0 where something needed is missing: which, what is weaker, how to get it")
def doctor_weaker(fx):
    for lacking, name in (("landlock,userns", "mount namespace"), ("seccomp", "seccomp filter"),
                          ("landlock,mounts", "Landlock"), ("memory", "reading memory"),
                          ("gvisor", "held system calls")):
        result = fx.sandbash("--doctor", without=lacking)
        check(result.status not in (0, EXIT_USAGE, EXIT_OWN_FAILURE),
              f"{lacking}: status {result.status}: {result.stderr}")
        found = json.loads(fx.sandbash("--doctor", "--json", without=lacking).stdout)
        equal(found["full"], False, lacking)
        missing = [feature for feature in found["features"] if not feature["there"]
                   and feature["needed"]]
        check(any(feature["name"].startswith(name) for feature in missing), f"{lacking}: {missing}")
        for feature in missing:
            for part in (feature["name"], feature["without"], feature["remedy"]):
                check(part, str(feature))
                contains(result.stdout, part, lacking)
        equal(fx.sandbash("--doctor", "--json", without=lacking).status, result.status)


@test("R4 --doctor agrees with what a run does")
def doctor_agrees(fx):
    for lacking in (None, "net", "userns", "seccomp", "landlock", "landlock-abi=1",
                    "landlock-abi=5", "landlock-abi=6", "pidfd_getfd", "docker", "mounts",
                    "landlock,userns", "userns,landlock-abi=5", "wait-killable", "memory",
                    "gvisor", "linux=5.14"):
        full = fx.sandbash("--doctor", without=lacking).status == 0
        result = fx.sandbash("true", without=lacking)
        equal(result.status == 0, full, f"{lacking}: {result.stderr}")


@test("R4 --doctor: what another layer holds, or what merely differs, is not fatal, but is told")
def doctor_less(fx):
    for lacking, missing in (("net", ["network namespace"]),
                             ("landlock-abi=6", []),
                             ("landlock-abi=5", ["Landlock scopes"]),
                             ("landlock-abi=1", ["Landlock scopes", "Landlock devices"]),
                             ("userns", ["mount namespace", "network namespace"]),
                             ("mounts", ["mount namespace", "network namespace"]),
                             ("wait-killable", ["calls that wait"]),
                             ("landlock", ["Landlock", "Landlock scopes", "Landlock devices"])):
        result = fx.sandbash("--doctor", without=lacking)
        equal(result.status, 0, lacking)
        contains(result.stdout, "a full sandbox is possible here", lacking)
        found = json.loads(fx.sandbash("--doctor", "--json", without=lacking).stdout)
        equal([feature["name"] for feature in found["features"] if not feature["there"]], missing,
              lacking)


# What a machine's settings say, what it lacks, and what --doctor tells to do.  A file system of our own
# lies over the settings for as long as that takes.
SETTINGS = {
    "kernel/yama/ptrace_scope=3": ("", "reading memory", "reboot"),
    "kernel/yama/ptrace_scope=2": ("userns", "reading memory", "sysctl kernel.yama.ptrace_scope=1"),
    "kernel/unprivileged_userns_clone=0":
        ("userns", "mount namespace", "sysctl kernel.unprivileged_userns_clone=1"),
    "user/max_user_namespaces=0":
        ("userns", "mount namespace", "sysctl user.max_user_namespaces=15000"),
}


@test("R4 --doctor: the remedy is for the setting that is the reason")
def doctor_settings(fx):
    if os.getuid() != 0:
        return  # who may not mount cannot play them
    for setting, (lacking, name, remedy) in SETTINGS.items():
        path, value = setting.split("=")
        top = "/proc/sys/" + path.split("/")[0]
        # without capabilities: root's would make a difference
        doctor = (f"setpriv --bounding-set=-all --inh-caps=-all {fx.tool('without')} "
                  f"{lacking or 'rename-flags'} -- {BIN} --doctor --json")
        script = (f"mount -t tmpfs none {top} && mkdir -p $(dirname /proc/sys/{path}) && "
                  f"echo {value} >/proc/sys/{path} && {doctor}")
        result = fx.run("unshare", "-m", "sh", "-c", script)
        features = {each["name"]: each for each in json.loads(result.stdout)["features"]}
        equal(features[name]["there"], False, setting)
        contains(features[name]["remedy"], remedy, setting)


@test("R4 --doctor inside a run says that it is inside")
def doctor_inside(fx):
    result = fx.sandbash(BIN, "--doctor")
    contains(result.stdout, "inside")


# --- errors -------------------------------------------------------------------------------------


@test("R5 errors have STYLE.md's form: 'sandbash: what: reason', then at most one hint, on stderr")
def error_form(fx):
    fx.write("file", "")
    cases = (("--mode=x", "true"), ("--network=x", "true"), ("--keep-fd=x", "true"),
             ("--keep-fd=99", "true"), ("--policy=missing", "true"), ("--project=missing", "true"),
             ("--project=file", "true"), ("--rule=read", "true"), ("no-such-command",), ("./file",),
             ("--add-path",), ("--remove-path", "/x"), ("--json",), ("--global",),
             ("--status", "x"), ("--explain", "\x01/.." * 3000))
    for words in cases:
        result = fx.sandbash(*words)
        check(result.status in (2, 125, 126, 127), f"{words}: {result.status}")
        equal(result.stdout, "", str(words))
        lines = result.stderr.splitlines()
        check(1 <= len(lines) <= 2, f"{words}: {result.stderr!r}")
        check(lines[0].startswith("sandbash: ") and not lines[0].endswith("."), lines[0])
        check(lines[0][10] in "'-" or lines[0][10].islower() or lines[0].split()[1].isupper()
              or lines[0][10:].startswith("HOME"), lines[0])
        check(len(lines) == 1 or (lines[1].startswith("hint: ") and not lines[1].endswith(".")),
              result.stderr)


@test("R5 every requirement that a test is named after is explained")
def requirements(fx):
    explained = set(re.findall(r"^\| (?:Z1 - Z4, Z6 - Z9|([A-Z]\d+)) \|", (TOP / "docs" / "requirements.md").read_text(),
                               re.M))
    used = {name for script in (TOP / "tests").rglob("*.py")
            for words in re.findall(r'^@test\(f?"((?:[SPCFZR]\d+ )+)', script.read_text(), re.M)
            for name in words.split()}
    check(len(used) > 30, used)
    equal(sorted(used - explained), [])


@test("R5 the README's and the man page's examples name options that exist")
def documented_options(fx):
    known = set(options(fx)) | {"--completion"}
    for name in ("README.md", "man/sandbash.1.scd", "man/sandbash-rules.5.scd"):
        path = TOP / name
        text = path.read_text().replace("\\", "")
        for line in text.splitlines():
            found = re.search(r"\bsandbash((?: +--[a-z][a-z-]*(?:=\S+)?)+)", line)
            for option in re.findall(r"--[a-z][a-z-]*", found.group(1)) if found else ():
                check(option in known, f"{name}: {option} in {line!r}")


@test("R5 --static --explain says what a static run does, which holds only what is there")
def static_explain(fx):
    fx.git_project()
    fx.write(".mcp.json", "{}\n")
    for name, held in ((".envrc", False), (".mcp.json", True), (".git/hooks/pre-commit", True)):
        found = json.loads(fx.sandbash("--static", "--explain", name, "--json").stdout)
        supervised = json.loads(fx.sandbash("--explain", name, "--json").stdout)
        equal(found["decisions"]["create"]["allowed"], not held, name)
        equal(supervised["decisions"]["create"]["allowed"], False, f"{name}, supervised")
        equal(fx.sandbash("--static", "sh", "-c", f"echo x >{name}").status != 0, held, name)


@test("R5 what --list-paths, --explain and refusals suggest can be pasted into a shell")
def pasteable(fx):
    place = fx.outside / "a b'c"
    place.mkdir()
    line, = [line for line in fx.sandbash("--explain", place).stdout.splitlines()
             if line.startswith("to allow changes:")]
    command = line.split(":", 1)[1].strip()
    result = fx.run("bash", "-c", f"{command} touch \"$1\"", "bash", place / "x",
                    env={"PATH": f"{BIN.parent}:/usr/bin:/bin"})
    equal(result.status, 0, f"{command}: {result.stderr}")


run_all()
