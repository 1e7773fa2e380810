"""prompt.py - S14: the mark in the prompt of bash, zsh and fish, which leaves the user's own
start-up files in force; which shell is started; the warning about an alias."""

import atexit
import os
import shutil

from tap import BIN, FLAGS, check, contains, equal, lacks, run_all, skip, test

# Here a refusal is one at once, as in a static run: questions are terminal_asker.py's.
FLAGS.append("--consent=deny")

MARK = r"\(sandbash\) "
END = r"(?:\x1b\[\?2004h)?$"  # a shell may switch bracketed paste on after its prompt
MINE = MARK + "mine> " + END


def need(program):
    if not shutil.which(program):
        skip(f"no {program} on this machine")


def ask(fx, term, command, prompt=None):
    """What command prints in the shell on term."""
    term.send(f"{{ {command}; }} > answer\n")
    term.expect(prompt or MINE)
    return fx.read("answer").strip()


def bash(fx, rc, *words, prompt="mine> " + END, **where):
    """An interactive sandboxed bash with this .bashrc, at its first prompt."""
    if rc is not None:
        fx.write(fx.home / ".bashrc", rc)
    env = {"INPUTRC": fx.write(fx.dir / "inputrc", "set enable-bracketed-paste off\n"),
           **where.pop("env", {})}
    term = fx.sandbash_terminal(*words, env=env, **where)
    term.expect(MARK + prompt)
    return term


# --- bash ---------------------------------------------------------------------------------


@test("S14 bash: the prompt is marked, and variables, aliases, functions of .bashrc are there",
      variants=("full", "flat", "nested"))
def bash_rc(fx):
    rc = ("PS1='mine> '\nrc_variable=here\nalias rc_alias='echo alias works'\n"
          "rc_function() { echo function works; }\n"
          "shopt -s globstar\nHISTSIZE=77\n")
    term = bash(fx, rc)
    prompt = MINE
    equal(ask(fx, term, "echo $rc_variable", prompt), "here")
    equal(ask(fx, term, "rc_alias", prompt), "alias works")
    equal(ask(fx, term, "rc_function", prompt), "function works")
    equal(ask(fx, term, "shopt -p globstar; echo $HISTSIZE", prompt), "shopt -s globstar\n77")
    lacks(term.output, "\nbash: ")


@test("S14 bash: the mark stands once, however often the prompt is shown")
def bash_once(fx):
    term = bash(fx, "PS1='mine> '\n")
    for _ in range(3):
        term.send("\n")
        term.expect(r"mine> $")
    equal(term.output.count("(sandbash)"), 4)
    check("(sandbash) (sandbash)" not in term.output)


@test("S14 bash: no .bashrc at all")
def bash_no_rc(fx):
    term = bash(fx, None, prompt=r".*[$#] $")
    term.send("echo $((6 * 7))\n")
    term.expect(r"\n42\r\n\(sandbash\) ")
    lacks(term.output, "No such file")


PROMPT_COMMANDS = {
    "a command": "PROMPT_COMMAND='ran=$((ran + 1))'",
    "a prompt built anew each time": "PROMPT_COMMAND='ran=$((ran + 1)); PS1=\"mine> \"'",
    "a function": "build() { ran=$((ran + 1)); PS1='mine> '; }\nPROMPT_COMMAND=build",
    "a final semicolon": "PROMPT_COMMAND='ran=$((ran + 1));'",
    "a final semicolon and a space": "PROMPT_COMMAND='ran=$((ran + 1)); '",
    "a final newline": "PROMPT_COMMAND=$'ran=$((ran + 1))\\n'",
    "a final comment": "PROMPT_COMMAND='ran=$((ran + 1)) # count'",
    "a final ampersand": "PROMPT_COMMAND='ran=$((ran + 1)); true &'",
    "empty": "PROMPT_COMMAND=\nran=1",
    "an array": "PROMPT_COMMAND=('ran=$((ran + 1))' 'PS1=\"mine> \"')",
    "an array with a hole": "PROMPT_COMMAND=([3]='ran=$((ran + 1))' [7]='PS1=\"mine> \"')",
    "exported": "export PROMPT_COMMAND='ran=$((ran + 1))'",
    "an exported array": "declare -ax PROMPT_COMMAND=('ran=$((ran + 1))')",
}


def prompt_command(what, line):
    @test(f"S14 bash: PROMPT_COMMAND of the user still runs: {what}")
    def still_runs(fx):
        term = bash(fx, f"PS1='mine> '\nran=0\n{line}\n")
        found = ask(fx, term, "echo ran=$ran")
        check(found == "ran=1", f"{found!r}, output {term.output!r}")
        lacks(term.output, "bash: ")


for form in PROMPT_COMMANDS.items():
    prompt_command(*form)


@test("S14 bash: $? at the prompt is the last command's")
def bash_last_status(fx):
    term = bash(fx, "PS1='mine> '\n")
    term.send("false\n")
    term.expect(MINE)
    equal(ask(fx, term, "echo status=$?"), "status=1")
    term.close()
    # and a prompt that shows it
    term = bash(fx, "PS1='[$?] mine> '\n", prompt=r"\[0\] mine> $")
    term.send("(exit 7)\n")
    term.expect(MARK + r"\[7\] mine> $")
    term.close()
    term = bash(fx, "PROMPT_COMMAND='last=$?; PS1=\"[$last] mine> \"'\n", prompt=r"\[0\] mine> $")
    term.send("(exit 7)\n")
    term.expect(MARK + r"\[7\] mine> $")


@test("S14 bash: strict options in .bashrc do no harm")
def bash_strict(fx):
    for rc in ("set -u\n", "set -o noclobber\n", "set -f\n", "shopt -s extglob nullglob failglob\n",
               "unset PROMPT_COMMAND\nset -u\n", "set -o posix\nset +o posix\n", "IFS=:\n",
               "return\n"):
        term = bash(fx, "PS1='mine> '\n" + rc)
        lacks(term.output, "bash: ", rc)
        term.close()


@test("S14 bash: a .bashrc that returns early when not interactive is read to its end")
def bash_guard(fx):
    term = bash(fx,
                "case $- in *i*) ;; *) return ;; esac\n[ -z \"$PS1\" ] && return\nPS1='mine> '\nlast=yes\n")
    equal(ask(fx, term, "echo last=$last"), "last=yes")


def called(words):
    @test(f"S14 bash: marked when started as: {' '.join(('sandbash', *words))}")
    def marked(fx):
        fx.write(fx.home / ".bash_profile", ". ~/.bashrc\n")
        bash(fx, "PS1='mine> '\n", *words)


for form in (("bash",), ("bash", "-i"), ("/bin/bash",), ("-i",), ("--shell=bash",),
             ("--shell", "/bin/bash"), ("--",), ("bash", "-l"), ("-l",)):
    called(form)


@test("S14 bash: the user's --rcfile and --norc are obeyed")
def bash_own_rcfile(fx):
    fx.write("other.rc", "PS1='other> '\n")
    fx.write(fx.home / ".bashrc", "PS1='wrong> '\n")
    term = fx.sandbash_terminal("--rcfile", "other.rc")
    term.expect("other> $")
    lacks(term.output, "wrong")


@test("S14 bash: what is no interactive shell gets no mark and no start-up files")
def bash_not_interactive(fx):
    fx.write(fx.home / ".bashrc", "echo rc was read\n")
    equal(fx.sandbash("-c", "echo \"[$PS1]\"").stdout, "[]\n")
    equal(fx.sandbash("bash", "-c", "echo $PROMPT_COMMAND").stdout, "\n")
    equal(fx.sandbash(input="echo \"[$PS1$PROMPT_COMMAND]\"\n").stdout, "[]\n")
    term = fx.sandbash_terminal("-c", "echo [$PS1]")
    term.expect(r"\[\]")
    lacks(term.output, "rc was read")


@test("S14 bash: the user's files are not changed, and nothing is left behind")
def bash_leaves_nothing(fx):
    fx.write(fx.home / ".bashrc", "PS1='mine> '\nHISTFILE=\n")
    before = fx.snapshot(fx.home)
    term = fx.sandbash_terminal()
    term.expect(MARK)
    term.send("exit\n")
    term.wait()
    equal(fx.snapshot(fx.home), before)


@test("S14 bash: an installed sandbash finds its start-up files")
def installed(fx):
    if not (BIN.parent.parent / "share/bashrc").exists():
        skip("the start-up files are not beside the program")
    prefix = fx.home / "prefix"
    (prefix / "bin").mkdir(parents=True)
    shutil.copy(BIN, prefix / "bin")
    shutil.copytree(BIN.parent.parent / "share", prefix / "share/sandbash")
    fx.write(fx.home / ".bashrc", "PS1='mine> '\n")
    term = fx.terminal(prefix / "bin/sandbash")
    term.expect(MARK + "mine> ")
    # and without them the shell still starts
    shutil.rmtree(prefix / "share")
    term = fx.terminal(prefix / "bin/sandbash")
    term.expect("mine> ")
    lacks(term.output, "No such file")


# --- zsh ----------------------------------------------------------------------------------


def zsh(fx, files, *words, prompt="mine> " + END, env=None):
    need("zsh")
    for name, text in files.items():
        fx.write(fx.home / name, text)
    term = fx.sandbash_terminal(*(words or ("zsh",)), env={"TERM": "dumb", **(env or {})})
    term.expect(MARK + prompt)
    return term


@test("S14 zsh: the prompt is marked, and .zshenv and .zshrc are in force",
      variants=("full", "flat", "nested"))
def zsh_rc(fx):
    term = zsh(fx, {".zshenv": "env_variable=e\n",
                    ".zshrc": "PROMPT='mine> '\nalias rc_alias='echo alias works'\nunsetopt PROMPT_SP\n"})
    equal(ask(fx, term, "echo $env_variable; rc_alias"), "e\nalias works")
    equal(ask(fx, term, "echo ZDOTDIR=${ZDOTDIR-unset} ${SANDBASH_ZDOTDIR-unset}", MINE),
          "ZDOTDIR=unset unset")
    equal(term.output.count("(sandbash)"), 3)


@test("S14 zsh: ZDOTDIR of the user is obeyed and stays set")
def zsh_zdotdir(fx):
    term = zsh(fx, {".zshrc": "PROMPT='wrong> '\n", "z/.zshrc": "PROMPT='mine> '\nwhere=zdotdir\n",
                    "z/.zshenv": "env_variable=z\n"}, env={"ZDOTDIR": fx.home / "z"})
    equal(ask(fx, term, "echo $where $env_variable $ZDOTDIR"), f"zdotdir z {fx.home}/z")


@test("S14 zsh: a .zshenv that sets ZDOTDIR itself is obeyed")
def zsh_zshenv_zdotdir(fx):
    term = zsh(fx,
               {".zshenv": "export ZDOTDIR=$HOME/z\n", "z/.zshrc": "PROMPT='mine> '\nwhere=z\n"})
    equal(ask(fx, term, "echo $where $ZDOTDIR"), f"z {fx.home}/z")


REBUILT = {
    "precmd": "precmd() { PROMPT='mine> ' }\n",
    "a hook": "build() { PROMPT='mine> ' }\nautoload -Uz add-zsh-hook\nadd-zsh-hook precmd build\n",
    "a longer array": "build() { PROMPT='mine> ' }\nprecmd_functions+=(build)\n",
    "another array": "build() { PROMPT='mine> ' }\nprecmd_functions=(build)\n",
    "substitution": "setopt PROMPT_SUBST\nPROMPT='$(echo mine)> '\n",
    "promptinit": "autoload -U promptinit; promptinit; prompt off; PROMPT='mine> '\n",
}


def rebuilt(what, rc):
    @test(f"S14 zsh: a prompt that is built anew before each line is marked too: {what}")
    def marked(fx):
        term = zsh(fx, {".zshrc": rc})
        term.send("\n")
        term.expect(MINE)
        check("(sandbash) (sandbash)" not in term.output)


for form in REBUILT.items():
    rebuilt(*form)


@test("S14 zsh: strict options do no harm")
def zsh_strict(fx):
    for rc in ("setopt NO_UNSET\n", "setopt KSH_ARRAYS\n", "setopt SH_WORD_SPLIT\n",
               "setopt NO_NOMATCH ERR_RETURN\n", "setopt WARN_CREATE_GLOBAL\n"):
        term = zsh(fx, {".zshenv": rc, ".zshrc": "PROMPT='mine> '\n"})
        lacks(term.output, "zsh:", rc)
        lacks(term.output, "_sandbash_mark:", rc)
        term.close()


@test("S14 zsh: $? at the prompt is the last command's")
def zsh_last_status(fx):
    term = zsh(fx, {".zshrc": "PROMPT='%? mine> '\n"}, prompt="0 mine> " + END)
    term.send("(exit 7)\n")
    term.expect(MARK + "7 mine> " + END)


@test("S14 zsh: no start-up file at all")
def zsh_no_rc(fx):
    need("zsh")
    term = fx.sandbash_terminal("zsh", env={"TERM": "dumb"})
    found = term.expect(MARK + r".*[%#] " + END + r"|\(q\)")
    if found.group(0) == "(q)":  # zsh's own menu for new users, as without us
        term.settle()
        term.send("q")
        term.expect(MARK + r".*[%#] " + END)
    equal(ask(fx, term, "echo $ZSH_VERSION", MARK),
          fx.run("zsh", "-fc", "echo $ZSH_VERSION").stdout.strip())


@test("S14 zsh: .zprofile and .zlogin of a login shell are in force")
def zsh_login(fx):
    need("zsh")
    for name, text in ((".zprofile", "p=1\n"), (".zlogin", "l=1\n"),
                       (".zshrc", "PROMPT='mine> '\n")):
        fx.write(fx.home / name, text)
    term = fx.sandbash_terminal("zsh", "-l", env={"TERM": "dumb"})
    term.expect(MINE)
    equal(ask(fx, term, "echo $p$l"), "11")


# --- fish ---------------------------------------------------------------------------------


FISH = f"/tmp/fish.{os.environ.get('USER', 'root')}"  # it makes that without XDG_RUNTIME_DIR
if not os.path.exists(FISH):
    atexit.register(shutil.rmtree, FISH, ignore_errors=True)


def fish(fx, files, *words, prompt="mine> "):
    need("fish")
    for name, text in {".config/fish/config.fish": "", **files}.items():
        if text is not None:
            fx.write(fx.home / name, text)
    term = fx.sandbash_terminal(*(words or ("fish",)), env={"SHELL": "/usr/bin/fish"})
    term.expect(MARK + "(?:\x1b[^ ]*?)*" + prompt)
    return term


GREETING = "set -g fish_greeting\n"


@test("S14 fish: the prompt is marked, and config.fish is in force",
      variants=("full", "flat", "nested"))
def fish_rc(fx):
    term = fish(fx,
                {".config/fish/config.fish": GREETING + "function fish_prompt\n echo -n 'mine> '\nend\n"
                 "set -g rc_variable here\nalias rc_alias='echo alias works'\n"})
    term.settle()
    term.send("echo $rc_variable; rc_alias; echo sum (math 40 + 2)\n")
    term.expect(r"here\r\n(?s:.*)alias works\r\n(?s:.*)sum 42")
    term.expect(MARK + "(?s:.*)mine> ")
    lacks(term.output, "Unknown command")


@test("S14 fish: a prompt function in its own file is kept")
def fish_function_file(fx):
    fish(fx, {".config/fish/config.fish": GREETING,
              ".config/fish/functions/fish_prompt.fish": "function fish_prompt\n echo -n 'mine> '\nend\n"})


@test("S14 fish: $status at the prompt is the last command's")
def fish_status(fx):
    term = fish(fx,
                {".config/fish/config.fish": GREETING + "function fish_prompt\n echo -n \"$status mine> \"\nend\n"},
                prompt="0 mine> ")
    term.settle()
    term.send("sh -c 'exit 7'\n")
    term.expect(MARK + "(?s:.*)7 mine> ")


@test("S14 fish: where fish has run before, it complains of nothing", variants=("full", "flat"))
def fish_complaints(fx):
    need("fish")
    fx.write(fx.home / ".config/fish/config.fish",
             GREETING + "function fish_prompt\n echo -n 'mine> '\nend\n")
    for start in (fx.terminal, fx.sandbash_terminal):
        term = start("fish")
        term.expect("mine> ")
        term.settle()
        term.send("true\n")
        term.expect("mine> ")
        term.settle()
        term.send("exit\n")
        equal(term.wait(), 0)
    for line in term.output.splitlines():
        # without namespaces what the first fish has left in /tmp is another program's
        if fx.variant == "flat" and "/tmp/fish." in line:
            continue
        check("error" not in line and not line.startswith("warning"), line)


@test("S14 fish: no config at all")
def fish_no_rc(fx):
    term = fish(fx, {".config/fish/config.fish": None}, prompt="")
    term.settle()
    term.send("echo sum (math 40 + 2)\n")
    term.expect("sum 42\r\n")


# --- which shell ----------------------------------------------------------------------------


@test("S14 --shell names the shell, for no command and for foreign options")
def shell_option(fx):
    fx.write("myshell", "#!/bin/sh\necho myshell \"$@\"\n", mode=0o755)
    equal(fx.sandbash("--shell=./myshell").stdout, "myshell\n")
    equal(fx.sandbash("--shell", fx.path("myshell"), "-c", "x y").stdout, "myshell -c x y\n")
    equal(fx.sandbash("--shell=./myshell", "echo", "a").stdout, "a\n")


@test("S14 zsh and fish run commands as shells")
def other_shells(fx):
    for program, version in (("zsh", "echo $ZSH_VERSION"), ("fish", "echo $FISH_VERSION"),
                             ("dash", "echo dash")):
        need(program)
        for words in ((f"--shell={program}", "-c", version), (program, "-c", version)):
            result = fx.sandbash(*words)
            equal(result.status, 0, result.stderr)
            check(result.stdout.strip(), str(words))
            equal(result.stdout, fx.run(program, "-c", version).stdout)


@test("S14 a `shell` line of a config names it; directory over global, flag over both")
def shell_line(fx):
    for name in ("one", "two", "three"):
        fx.write(f"{name}", f"#!/bin/sh\necho {name}\n", mode=0o755)
    fx.config(f"shell {fx.project}/one\n")
    equal(fx.sandbash().stdout, "one\n")
    fx.sandbash("--edit", env={"VISUAL": f"sh -c 'echo shell {fx.project}/two > \"$1\"' sh"})
    equal(fx.sandbash().stdout, "two\n")
    equal(fx.sandbash(f"--shell={fx.project}/three").stdout, "three\n")
    equal(fx.sandbash("echo", "command").stdout, "command\n")


@test("S14 the mark shows for a shell from --shell and from a `shell` line")
def marked_by_choice(fx):
    need("zsh")
    zsh(fx, {".zshrc": "PROMPT='mine> '\n"}, "--shell=zsh")
    fx.config("shell zsh\n")
    zsh(fx, {}, "--static")


@test("S14 a shell that is not there: 127")
def shell_missing(fx):
    result = fx.sandbash("--shell=no-such-shell")
    equal(result.status, 127)
    equal(result.stderr, "sandbash: cannot run 'no-such-shell': No such file or directory\n")


@test("S14 $SHELL does not choose: plain sandbash is bash")
def shell_variable(fx):
    equal(fx.sandbash(input="echo ${BASH_VERSION:+bash}\n", env={"SHELL": "/bin/dash"}).stdout,
          "bash\n")


# --- the alias warning ----------------------------------------------------------------------


def warned(fx, file, text):
    """Start an interactive shell on a terminal with this start-up file; was there a warning?"""
    path = fx.write(fx.home / file, text)
    term = fx.sandbash_terminal("--shell=/bin/sh", env={"PS1": "here> ", "ENV": None})
    term.expect("here> $")
    term.close()
    path.unlink()
    found = [line for line in term.output.splitlines() if "warning" in line]
    for line in found:
        check(line.startswith("sandbash: warning: "), line)
        contains(line, str(path))
        contains(line, "sandbash")
    return bool(found)


HIDING = ((".bashrc", "# x\nalias sandbash='sandbash --disable-sandbox'\n"),
          (".bashrc", "\tif true; then\n  alias sandbash=true\nfi\n"),
          (".bash_aliases", "alias sandbash=\"x\"\n"), (".profile", "sandbash() { echo no; }\n"),
          (".bash_profile", "sandbash () {\n echo no\n}\n"),
          (".bashrc", "function sandbash {\n:\n}\n"), (".zshrc", "alias sandbash=x\n"),
          (".zshrc", "alias -g sandbash=x\n"), (".bashrc", "alias ll='ls -l' sandbash=x\n"),
          (".bashrc", "[ -x ~/bin/sb ] && alias sandbash=~/bin/sb\n"),
          (".config/fish/config.fish", "alias sandbash 'x'\n"),
          (".config/fish/config.fish", "function sandbash\n echo no\nend\n"))
NOT_HIDING = ((".bashrc", "# alias sandbash=x\n"),
              (".bashrc", "alias sandbashx=x\nalias sb=sandbash\n"),
              (".bashrc", "alias sandbash-old=x\n"),
              (".bashrc", "sandbash_helper() { :; }\nfunction sandbash-x { :; }\n"),
              (".bashrc", "echo alias sandbash=x\n"), (".bashrc", "unalias sandbash\n"),
              (".config/fish/config.fish", "alias sandbashx 'x'\n"))


@test("S14 an alias or function that hides sandbash is warned about")
def alias_warning(fx):
    for file, text in HIDING[:7] + HIDING[10:]:
        check(warned(fx, file, text), f"{file}: {text!r} hides it, no warning")


@test("S14 less usual ways of hiding it are seen too")
def alias_unusual(fx):
    for file, text in HIDING[7:10]:
        check(warned(fx, file, text), f"{file}: {text!r} hides it, no warning")


@test("S14 what does not hide it is not warned about")
def alias_no_warning(fx):
    for file, text in NOT_HIDING:
        check(not warned(fx, file, text), f"{file}: {text!r} does not hide it")


@test("S14 the warning names the way around, and --doctor shows it too")
def alias_doctor(fx):
    path = fx.write(fx.home / ".bashrc", "\nalias sandbash=x\n")
    result = fx.sandbash("--doctor")
    contains(result.stdout, f"{path} line 2")
    contains(result.stdout, "command sandbash")


@test("S14 the warning does not spoil scripts: a command or no terminal is silent")
def alias_scripts(fx):
    fx.write(fx.home / ".bashrc", "alias sandbash=x\n")
    equal(fx.sandbash("echo", "a"), (0, "a\n", ""))
    equal(fx.sandbash(input="echo b\n"), (0, "b\n", ""))


run_all()
