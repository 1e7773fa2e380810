"""git_files.py - git's own state files, and who outside evaluates or follows them.

Each file is planted three times:

    control     without a sandbox: the program that reads it does what the file wants
    inside      by write, by rename, as a link and in a prepared directory: it does not, whatever
                the attack was told
    neighbour   inside, by the same ways, in git's own form: it lands
"""

import os
import shutil

from compare import native
from tap import PATIENCE, Skip, check, contains, equal, lacks, run_all, test

ID = "0123456789012345678901234567890123456789"
PROMPT = "/usr/lib/git-core/git-sh-prompt"

# What brings the file $TEXT to the name $NAME in the project.
WAYS = {
    "write": 'mkdir -p "$(dirname "$NAME")"; cat >"$NAME" <"$TEXT"',
    "rename": 'mkdir -p "$(dirname "$NAME")"; cat "$TEXT" >made; mv made "$NAME"',
    "link": 'mkdir -p "$(dirname "$NAME")"; cat "$TEXT" >made; ln -f made "$NAME"; rm -f made',
    "tree": 'mkdir -p tree; cat "$TEXT" >"tree/$(basename "$NAME")"; d="$(dirname "$NAME")"; '
            'mkdir -p "$(dirname "$d")"; rm -rf "$d"; mv tree "$d"',
    # without objects it is no git directory yet
    "whole": 'mkdir tree; cp -r .git/[!o]* tree; mkdir -p "$(dirname "tree/${NAME#.git/}")"; '
             'cat "$TEXT" >"tree/${NAME#.git/}"; mv .git away; '
             'mv tree .git || { mv away .git; exit 1; }; mv away/objects .git/objects',
}


def put(fx, way, name, text, boxed, cwd):
    """Bring text to name by one of the ways; the status says whether that was let."""
    source = fx.dir / "text"
    source.write_bytes(text)
    source.chmod(0o644)
    env = {"NAME": name, "TEXT": source}
    words = ["bash", "-c", WAYS[way]]
    if boxed:
        return fx.sandbash("--consent=deny", "--quiet", *words, env=env, cwd=cwd)
    return fx.run(*native(*words), env=env, cwd=cwd)


def fresh(fx):
    """The project as it was at the start; the second call puts it back."""
    saved = fx.dir / "saved"
    if not saved.exists():
        fx.git_project()
        for n in (1, 2):
            fx.write(f"f{n}", f"{n}\n")
            equal(fx.run("sh", "-c", f"git add . && git commit -q -m {n}").status, 0)
        shutil.copytree(fx.project, saved, symlinks=True)
    else:
        shutil.rmtree(fx.project)
        shutil.copytree(saved, fx.project, symlinks=True)


def hold(fx, name, evil, harmless, consumer, effect, before="", ways=tuple(WAYS)):
    """consumer, a shell command, has the effect (a function) after evil was planted, but not from inside."""
    evil = evil.encode() if isinstance(evil, str) else evil
    harmless = harmless.encode() if isinstance(harmless, str) else harmless

    def consume():
        env = {"GIT_EDITOR": "true"}
        return fx.run("bash", "-c", consumer, cwd=fx.project, env=env)

    def start():
        fresh(fx)
        if before:
            equal(fx.run("bash", "-c", before, cwd=fx.project).status, 0, before)

    start()
    equal(put(fx, "write", name, evil, False, fx.project).status, 0)
    said = consume()
    check(effect(said), f"the control: {said.stdout} {said.stderr}")
    for way in ways:
        start()
        result = put(fx, way, name, evil, True, fx.project)
        check(result.status != 0 or way == "link", f"{way} was let")
        said = consume()
        check(not effect(said), f"{way}: {said.stdout} {said.stderr}")
        path = fx.project / name
        check(not path.exists() or path.read_bytes() != evil, f"{way}: it is there")
    # what git itself writes lands by each of them, but for a second name
    for way in ways:
        if way == "link":
            continue
        start()
        result = put(fx, way, name, harmless, True, fx.project)
        equal(result.status, 0, f"the neighbour, by {way}: {result.stderr}")
        equal((fx.project / name).read_bytes(), harmless)


def ran(fx):
    """A file beside the project that only the planted command makes."""
    mark = fx.dir / "ran"

    def effect(_):
        found = mark.exists()
        if found:
            mark.unlink()
        return found

    return mark, effect


BASH = f"""
. {PROMPT}
GIT_PS1_SHOWDIRTYSTATE=1 GIT_PS1_SHOWSTASHSTATE=1 GIT_PS1_SHOWUNTRACKEDFILES=1 GIT_PS1_SHOWUPSTREAM=verbose
GIT_PS1_SHOWCOLORHINTS=1 GIT_PS1_SHOWCONFLICTSTATE=yes
__git_ps1 a b; printf '%s' "${{PS1@P}}" >/dev/null; PS1='$(__git_ps1)'; printf '%s' "${{PS1@P}}" >/dev/null
"""
ZSH = r"""
zsh -f -c '
autoload -Uz vcs_info; setopt prompt_subst
zstyle ":vcs_info:*" enable git; zstyle ":vcs_info:*" check-for-changes true; zstyle ":vcs_info:*" get-revision true
zstyle ":vcs_info:git:*" get-unapplied true; zstyle ":vcs_info:git:*" formats "%b %i %c %u %m"
zstyle ":vcs_info:git:*" actionformats "%b %a %i %c %u %m"
vcs_info; print -P -- "${vcs_info_msg_0_}"' >/dev/null 2>&1
"""


def counters(name, other):
    @test(f"a counter of a rebase that bash expands in a prompt: {name}", variants=("full", "flat"))
    def one(fx):
        if not os.path.exists(PROMPT):
            raise Skip("no git-sh-prompt")
        mark, effect = ran(fx)
        directory = os.path.dirname(name)
        hold(fx, f".git/{name}", f"$(touch {mark})\n", "1\n", BASH, effect,
             before=f"mkdir -p .git/{directory}; echo 2 >.git/{directory}/{other}; "
                    f"echo refs/heads/main >.git/{directory}/head-name", ways=("write", "rename", "link", "whole"))


counters("rebase-merge/msgnum", "end")
counters("rebase-merge/end", "msgnum")
counters("rebase-apply/next", "last")
counters("rebase-apply/last", "next")


@test("a prepared rebase-merge is looked into", variants=("full", "flat"))
def tree(fx):
    mark, effect = ran(fx)
    hold(fx, ".git/rebase-merge/msgnum", f"$(touch {mark})\n", "1\n",
         "echo 2 >.git/rebase-merge/end 2>/dev/null;" + BASH, effect, ways=("tree",))


def zsh(name, evil, harmless):
    @test(f"a file of a rebase that zsh's vcs_info evaluates: {name}")
    def one(fx):
        if not shutil.which("zsh"):
            raise Skip("no zsh")
        mark, effect = ran(fx)
        hold(fx, f".git/{name}", evil.format(mark=mark), harmless, ZSH, effect,
             before="mkdir -p .git/rebase-apply; cd .git/rebase-apply; echo 1 >next; echo 2 >last; touch applying",
             ways=("write", "rename", "link", "whole"))


zsh("rebase-apply/next", "a[$(touch {mark})]\n", "1\n")
zsh("rebase-apply/rewritten", "--output={mark}\n", f"{ID} {ID}\n")


def rerere(what, path):
    @test(f"rerere follows what MERGE_RR names: {what}", variants=("full", "flat"))
    def one(fx):
        secret = fx.dir / "home" / "secret"
        secret.write_text("a secret\n")
        image = fx.project / ".git" / "rr-cache" / ID / "postimage"
        hold(fx, ".git/MERGE_RR", f"{ID}\t{path.format(secret=secret)}\0", f"{ID}\tf1\0",
             "git commit -q --allow-empty -m x",
             lambda _: image.exists() and "a secret" in image.read_text(),
             before=f"mkdir -p .git/rr-cache/{ID}; ln -s '{secret}' link; ln -s .. up",
             ways=("write", "rename", "link", "whole"))


rerere("an absolute path", "{secret}")
rerere("a way out", "../secret")
rerere("a link", "link")
rerere("a way through a link", "up/secret")


@test("git am hands the options that it kept to git apply", variants=("full", "flat"))
def am(fx):
    written, effect = ran(fx)
    hold(fx, ".git/rebase-apply/apply-opt", f" '--build-fake-ancestor={written}'", " '-C2' '--whitespace=fix'",
         "echo 1 >f1; echo 2 >f2; git add f1 f2; git am --continue", effect,
         before="git format-patch -q --stdout -2 >box; git reset -q --hard HEAD~2; echo other >f1; git add f1; "
                "git commit -q -m other; git am box >/dev/null 2>&1; test -d .git/rebase-apply",
         ways=("write", "rename", "link"))


def named(name, evil, harmless, before=""):
    @test(f"a branch that is a command to a prompt: {name}", variants=("full", "flat"))
    def one(fx):
        mark, effect = ran(fx)
        command = "$(cd${IFS}$OUT&&>ran)"
        hold(fx, name.format(command=command), evil.format(command=command, id=ID), harmless,
             f'export OUT={mark.parent}; git symbolic-ref -q HEAD >/dev/null || true; '
             'PS1="$(git symbolic-ref HEAD 2>/dev/null) $(git for-each-ref --format="%(refname)") $ "; '
             'printf %s "${PS1@P}" >/dev/null 2>&1', effect, before=before,
             ways=("write", "rename", "whole"))


named(".git/HEAD", "ref: refs/heads/{command}\n", "ref: refs/heads/main\n")
named(".git/refs/heads/main", "ref: refs/heads/{command}\n", f"{ID}\n")


@test("a branch is not made under a name that is a command to a prompt", variants=("full", "flat"))
def branch(fx):
    fresh(fx)
    for script in ("git branch '$(x)'", "git tag 'a`x`'", "git update-ref 'refs/x/a;b' HEAD",
                   "git symbolic-ref HEAD 'refs/heads/$(x)'", "git worktree add -q -b 'a|b' ../project/w",
                   "printf '%s refs/tags/$(x)\\n' $(git rev-parse HEAD) >.git/packed-refs"):
        equal(fx.run("bash", "-c", f"rm -rf ../c; cp -a . ../c; cd ../c; {script}").status, 0, f"the control: {script}")
        shutil.rmtree(fx.project.parent / "c")
        result = fx.sandbash("--consent=deny", "--quiet", "bash", "-c", script)
        check(result.status != 0 or script.startswith("printf"), script)
        lacks(fx.run("git", "for-each-ref").stdout + fx.run("git", "symbolic-ref", "HEAD").stdout, "x)")
    equal(fx.sandbash("--consent=deny", "--quiet", "bash", "-c",
                      "git branch 'feature/a-b_c.d#1@2' && git tag v1+2 && git pack-refs --all").status, 0)


@test("the author of a commit, which versions of git in shell evaluate")
def author(fx):
    mark, effect = ran(fx)
    hold(fx, ".git/rebase-merge/author-script", f"GIT_AUTHOR_NAME='a'$(touch {mark})\n",
         "GIT_AUTHOR_NAME='A $(x) O'\\''B'\nGIT_AUTHOR_EMAIL='a@b'\nGIT_AUTHOR_DATE='@1 +0000'\n",
         "test ! -e .git/rebase-merge/author-script || . .git/rebase-merge/author-script", effect)


@test("text that git prints as it is: no escapes for the terminal")
def escapes(fx):
    hold(fx, ".git/worktrees/w/locked", "\033]0;title\007\033[2J", "on a stick\n", "git worktree list -v",
         lambda said: "\033" in said.stdout, before="git worktree add -q w", ways=("write", "rename", "link"))


@test("a file that git does not know", variants=("full", "flat"))
def unknown(fx):
    for name in (".git/a-tool", ".git/rebase-merge/a-tool", ".git/info/a-tool", ".git/modules/lib/a-tool",
                 ".git/worktrees/w/a-tool", ".git/svn/.metadata", ".git/rebase/next"):
        fresh(fx)
        equal(put(fx, "write", name, b"evil\n", False, fx.project).status, 0, "the control")
        for way in ("write", "rename", "link", "whole"):
            fresh(fx)
            put(fx, way, name, b"evil\n", True, fx.project)
            check(not (fx.project / name).exists() or not (fx.project / name).read_bytes(), f"{name} by {way}")
    fresh(fx)
    for name in (".git/COMMIT_EDITMSG", ".git/modules/lib/MERGE_MSG", ".git/worktrees/w/logs/HEAD"):
        equal(put(fx, "write", name, b"anything\n", True, fx.project).status, 0, name)


@test("a FIFO or a socket in a git directory")
def fifo(fx):
    fresh(fx)
    equal(fx.run("mkfifo", ".git/x").status, 0)
    os.unlink(fx.project / ".git" / "x")
    for name in (".git/x", ".git/COMMIT_EDITMSG2", ".git/logs/x", ".git/fsmonitor--daemon.ipc"):
        check(fx.sandbash("--consent=deny", "--quiet", "mkfifo", name).status != 0, name)
        check(not os.path.lexists(fx.project / name), name)
    equal(fx.sandbash("--consent=deny", "mkfifo", "pipe").status, 0)


@test("a FIFO or a socket at a name that git opens in every directory")
def waits(fx):
    fresh(fx)
    fx.run("sh", "-c", "rm -f .gitignore; mkdir -p sub; mkfifo sub/.gitignore; echo x >sub/f")
    with_fifo = fx.start("git", "status", cwd=fx.project)
    end = os.open(fx.project / "sub/.gitignore", os.O_WRONLY)  # returns when somebody reads it
    os.close(end)
    equal(with_fifo.wait(timeout=PATIENCE), 0, "control: git opens it, and goes on when it is closed")
    os.unlink(fx.project / "sub/.gitignore")
    bind = "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"
    for name in (".gitignore", "sub/.gitignore", "sub/.GitIgnore", ".gitattributes", ".mailmap"):
        for script in ('mkfifo "$1"', 'mkfifo p; mv p "$1"', 'mkfifo p; ln p "$1"', f'python3 -c "{bind}" "$1"'):
            fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script + "; rm -f p", "-", name)
            check(not os.path.lexists(fx.project / name), f"{script}: {name}")
        equal(fx.sandbash("--consent=deny", "sh", "-c", 'echo "# x" >"$1" && ln "$1" spare && rm "$1" && mv spare "$1" && rm "$1"',
                          "-", name).status, 0, f"a file: {name}")
    equal(fx.sandbash("--consent=deny", "sh", "-c", "mkdir -p nd && mkfifo nd/pipe && ln nd/pipe nd/.gitignored && mkdir .gitignore").status, 0)


@test("the question names the file and shows what is wrong in it")
def wording(fx):
    fresh(fx)
    result = fx.sandbash("--consent=deny", "sh", "-c", "mkdir .git/rebase-merge; echo '$(x)' >.git/rebase-merge/msgnum")
    contains(result.stderr, ".git/rebase-merge/msgnum")
    contains(result.stderr, "bash and zsh evaluate it in a prompt")
    result = fx.sandbash("--explain", ".git/a-tool")
    contains(result.stdout + result.stderr, "not a file that git is known to keep there")


run_all()
