"""home_links.py - P3: files of a project that a program outside runs because the home directory leads there.

A dotfiles repository is a project, and what its user's links and git settings name in it is run by shells,
editors, the desktop and git.
"""

import os
import shutil

from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")

# A link in the home directory, where it leads in the project, and what is run there.
LINKS = {
    "a file in ~/.config": (".config/git/config", "g/conf", "g/conf"),
    "a directory in ~/.config": (".config/git", "g", "g/config"),
    "a tree in ~/.config": (".config/fish", "f", "f/conf.d/x.fish"),
    "a tree by another name": (".config/nvim", "editor", "editor/init.lua"),
    "~/.config itself": (".config", "cfg", "cfg/kitty/kitty.conf"),
    "a file in a tree": (".config/fish/config.fish", "rc.fish", "rc.fish"),
    "deeper in a tree": (".config/fish/functions/ls.fish", "ls.fish", "ls.fish"),
    "deeper still": (".config/nvim/lua/plugins/x.lua", "x.lua", "x.lua"),
    "a user service": (".config/systemd/user/x.service", "x.service", "x.service"),
    "the desktop's start": (".config/autostart/x.desktop", "x.desktop", "x.desktop"),
    "a menu entry": (".local/share/applications/x.desktop", "x.desktop", "x.desktop"),
    "a program on the PATH": (".local/bin/tool", "tools/tool", "tools/tool"),
    "the same, of older systems": ("bin/tool", "tools/tool", "tools/tool"),
    "all of them": ("bin", "tools", "tools/tool"),
    "settings of an agent": (".claude/settings.json", "agent.json", "agent.json"),
    "scripts of an agent": (".claude", "agent", "agent/status.sh"),
    "a skill of an agent": (".claude/skills/x", "skill", "skill/run.sh"),
    "ssh": (".ssh/config", "ssh.conf", "ssh.conf"),
    "vim": (".vim", "v", "v/plugin/x.vim"),
    "a part of vim": (".vim/plugin", "v", "v/x.vim"),
    "emacs": (".emacs.d/init.el", "init.el", "init.el"),
    "a shell's plugins": (".oh-my-zsh/custom", "zsh", "zsh/x.zsh"),
    "one of them": (".oh-my-zsh/custom/plugins/x", "zsh", "zsh/x.zsh"),
    "more start-up files": (".zsh/aliases", "aliases", "aliases"),
}


def lead(fx, link, target):
    path = fx.home / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(fx.path(target))
    return path


def plant(fx, name, home_name):
    """Every way to the name, and what each leaves there; then how it looks by the home directory."""
    fx.path(name).parent.mkdir(parents=True, exist_ok=True)
    for script in ('echo evil >"$1"', 'echo evil >n; mv n "$1"', 'echo evil >n; ln -f n "$1"',
                   'echo evil >n; ln -sf "$PWD/n" "$1"',
                   'd=$(dirname "$1"); test "$d" = . && exit 1; mkdir -p q; cp -r "$d/." q; '
                   'echo evil >"q/$(basename "$1")"; mv "$d" away; mv q "$d"'):
        fx.write(name, "good\n")
        yield script
        result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script, "sh", name)
        text = home_name.read_text() if home_name.exists() else "gone"
        check("evil" not in text, f"{script}: {result.stderr}")
        fx.run("rm", "-rf", "n", "q", "away")
    fx.write(name, "good\n")
    equal(fx.run("sh", "-c", 'echo evil >"$1"', "sh", name).status, 0)
    equal(home_name.read_text(), "evil\n", "the control: it leads there")


def link_test(link, target, name):
    def attack(fx):
        fx.git_project()
        lead(fx, link, target)
        rest = os.path.relpath(name, target) if name != target else ""
        for _ in plant(fx, name, fx.home / link / rest):
            pass
        result = fx.sandbash("--consent=deny", "--quiet", "sh", "-ec",
                             "echo x >beside; mkdir -p new/d; echo x >new/d/x.sh; mv new old; rm beside")
        equal(result.status, 0, f"the neighbours: {result.stderr}")
    return attack


for title, (where, to, what) in LINKS.items():
    test(f"P3 a link of the home directory: {title}", variants=BOTH)(link_test(where, to, what))


@test("P3 links of the home directory: by a name beside, and on from there", variants=BOTH)
def beside(fx):
    fx.git_project()
    for name in ("config.fish", "conf.d/more.fish"):
        link = fx.home / ".config/fish" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to("real.fish")
    lead(fx, ".config/fish/real.fish", "rc.fish")
    (fx.home / ".config/fish/conf.d/real.fish").write_text("beside\n")
    for _ in plant(fx, "rc.fish", fx.home / ".config/fish/config.fish"):
        pass
    equal((fx.home / ".config/fish/conf.d/more.fish").read_text(), "beside\n")
    equal(fx.sandbash("--consent=deny", "--quiet", "sh", "-c", "echo x >real.fish").status, 0, "the neighbour")


@test("P3 links of the home directory: only what the name means is guarded", variants=BOTH)
def exact(fx):
    fx.git_project()
    for name in ("agent/notes.md", "cfg/other/x", "cfg/git/ignore", "plain/x"):
        fx.write(name, "x\n")
    lead(fx, ".claude", "agent")
    lead(fx, ".config", "cfg")
    lead(fx, ".cache", "plain")
    result = fx.sandbash("--consent=deny", "--quiet", "sh", "-ec", "for i in agent/notes.md cfg/other/x "
                         "cfg/git/ignore plain/x agent/new; do echo y >$i; done; mkdir cfg/more")
    equal(result.status, 0, result.stderr)
    said = fx.sandbash("--consent=deny", "sh", "-c", "echo x >agent/settings.json")
    check(not fx.exists("agent/settings.json"), "one of its names")
    contains(said.stderr, "Claude", "who would obey it")


@test("P3 links of the home directory: the links on the way", variants=BOTH)
def on_the_way(fx):
    fx.git_project()
    fx.write("one/x.fish", "good\n")
    fx.write("two/x.fish", "evil\n")
    fx.path("way").symlink_to("one")
    lead(fx, ".config/fish/config.fish", "way/x.fish")
    script = "ln -sfn two way"
    fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script)
    equal((fx.home / ".config/fish/config.fish").read_text(), "good\n")
    fx.run("sh", "-c", script)
    equal((fx.home / ".config/fish/config.fish").read_text(), "evil\n", "the control")


@test("P3 a link of the home directory that leads nowhere yet", variants=BOTH)
def dangling(fx):
    fx.git_project()
    for link, name in ((".config/fish/config.fish", "later.fish"), (".vim", "later")):
        lead(fx, link, name)
    for script, name in (("echo x >later.fish", "later.fish"),
                         ("mkdir later; echo x >later/vimrc", "later/vimrc"),
                         ("mkdir q; echo x >q/vimrc; mv q later", "later/vimrc")):
        fx.run("rm", "-rf", "later", "q", "later.fish")
        fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script)
        check(not fx.exists(name), script)
        fx.run("rm", "-rf", "later", "q")
        equal(fx.run("sh", "-c", script).status, 0)
        check(fx.exists(name), "the control")


@test("P3 $XDG_CONFIG_HOME in a project, and links in it", variants=BOTH)
def variables(fx):
    fx.git_project()
    other = fx.dir / "settings"
    fx.write("cfg/fish/config.fish", "good\n")
    fx.write("linked", "good\n")
    for place, name in ((fx.path("cfg"), "cfg/fish/config.fish"), (other, "linked")):
        where = {"env": {"XDG_CONFIG_HOME": str(place)}}
        if place == other:
            (other / "fish").mkdir(parents=True)
            (other / "fish/config.fish").symlink_to(fx.path("linked"))
        script = f"echo evil >{name}"
        fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script, **where)
        equal(fx.read(name), "good\n", name)
        equal(fx.sandbash("--consent=deny", "--quiet", "sh", "-c", "mkdir -p cfg/x; echo x >cfg/x/y",
                          **where).status, 0, "the neighbour")
        fx.run("sh", "-c", script)
        equal(fx.read(name), "evil\n", "the control")


@test("P3 a rule for what a link leads to opens it, one for what is around it does not", variants=BOTH)
def rules(fx):
    fx.git_project()
    fx.write("editor/lua/x.lua", "good\n")
    lead(fx, ".config/nvim", "editor")
    for flag, opens in (("--allow-write=.", False), ("--allow-write=editor", True),
                        ("--allow-write=editor/lua", True)):
        fx.write("editor/lua/x.lua", "good\n")
        fx.sandbash("--consent=deny", "--quiet", flag, "sh", "-c", "echo y >editor/lua/x.lua")
        equal(fx.read("editor/lua/x.lua"), "y\n" if opens else "good\n", flag)


# A git setting, and the file of the project that git runs because of it.  {} is the project.
SETTINGS = {
    "an editor": ("core.editor", "{}/tools/ed --wait", "tools/ed"),
    "a relative one": ("sequence.editor", "tools/ed", "tools/ed"),
    "one that is not there yet": ("core.editor", "{}/tools/later", "tools/later"),
    "how ssh is run": ("core.sshCommand", "ssh -F x -o ProxyCommand={}/proxy", "proxy"),
    "who is asked for a password": ("core.askPass", "{}/ask", "ask"),
    "a helper for credentials": ("credential.helper", "!sh {}/cred.sh", "cred.sh"),
    "a file system monitor": ("core.fsmonitor", ".hooks/monitor", ".hooks/monitor"),
    "how diffs are made": ("diff.external", "{}/d", "d"),
    "a driver for diffs": ("diff.pdf.textconv", "python3 tools/text.py", "tools/text.py"),
    "a driver for merges": ("merge.x.driver", "./m %O %A %B", "m"),
    "a filter": ("filter.x.clean", "./scripts/clean.sh %f", "scripts/clean.sh"),
    "a pager": ("pager.log", "{}/page | less", "page"),
    "an alias": ("alias.go", '!f() {{ "$(git rev-parse --show-toplevel)/scripts/go"; }}; f',
                 "scripts/go"),
    "quotes within a word": ("core.fsmonitor", '"my tools"/f', "my tools/f"),
    "a blank behind a backslash": ("core.fsmonitor", "my\\ tools/f", "my tools/f"),
    "in another directory": ("core.fsmonitor", "cd tools; ./f", "tools/f"),
    "further down, in a shell's own": ("alias.go", "!sh -c 'cd tools && cd more && exec ./f --x'", "tools/more/f"),
    "a file there, by its name": ("core.fsmonitor", "cd tools && sh f", "tools/f"),
    "a module": ("core.fsmonitor", "python3 -m tools.f", "tools/f.py"),
    "a module's directory": ("core.fsmonitor", "/usr/bin/python3 -I -m tools.f", "tools/f/__main__.py"),
    "from where it is run": ("alias.go", "!$PWD/tools/f", "tools/f"),
    "the same, in quotes": ("alias.go", '!"$PWD/my tools/f"', "my tools/f"),
    "behind the top, in quotes": ("alias.go", '!"$(git rev-parse --show-toplevel)/my tools/f" x', "my tools/f"),
    "a program for signatures": ("gpg.program", "{}/sign", "sign"),
    "a template for repositories": ("init.templateDir", "{}/template", "template/hooks/pre-commit"),
}


def setting_test(key, value, name):
    def attack(fx):
        fx.git_project()
        text = value.format(fx.project)
        later = name.endswith("later")
        for scope in ("--global", "--local"):
            equal(fx.run("git", "config", scope, key, text).status, 0)
            if not later:
                fx.write(name, "good\n", 0o755)
            for script in ('echo evil >"$1"', 'echo evil >n; mv n "$1"', 'ln -sf n "$1"'):
                fx.path(name).parent.mkdir(parents=True, exist_ok=True)
                fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script, "sh", name)
                if later:
                    check(not os.path.lexists(fx.path(name)), f"{scope} {script}")
                else:
                    equal(fx.read(name), "good\n", f"{scope} {script}")
            equal(fx.sandbash("--consent=deny", "--quiet", "sh", "-ec",
                              "mkdir -p tools; echo x >tools/other; echo x >beside; git status").status,
                  0, "the neighbour")
            equal(fx.run("git", "config", scope, "--unset", key).status, 0)
        equal(fx.sandbash("--consent=deny", "--quiet", "sh", "-c", 'echo evil >"$1"', "sh",
                          name).status, 0, "the control: nothing names it")
    return attack


for title, (setting, said, what) in SETTINGS.items():
    test(f"P3 what a git setting names: {title}", variants=BOTH)(setting_test(setting, said, what))


@test("P3 what git settings name: words and files that git only reads", variants=BOTH)
def only_words(fx):
    fx.git_project()
    for name in ("less", "log", "msg", "ign", "ed", "revs"):
        fx.write(name, "x\n")
    for key, value in (("core.pager", "less"), ("alias.l", "log --graph"), ("commit.template", "msg"),
                       ("core.excludesFile", "ign"), ("core.editor", "ed"),
                       ("blame.ignoreRevsFile", "revs"), ("url.https://x/.insteadOf", "y:")):
        equal(fx.run("git", "config", "--global", key, value).status, 0)
    result = fx.sandbash("--consent=deny", "--quiet", "sh", "-ec",
                         "for i in less log msg ign ed revs; do echo y >$i; done")
    equal(result.status, 0, result.stderr)


@test("P3 a home directory with many directories: the bound holds", variants=BOTH)
def many(fx):
    fx.git_project()
    fx.write("x.service", "good\n")
    for number in range(200):
        (fx.home / f".vim/a{number}/b").mkdir(parents=True)
    lead(fx, ".config/systemd/user/x.service", "x.service")
    lead(fx, ".local/bin/tool", "tool")
    for script in ("echo y >tool",):
        fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script)
        check(not fx.exists("tool"), script)
    equal(fx.sandbash("--consent=deny", "--quiet", "sh", "-c", "echo y >other").status, 0)


@test("P3 what lands in ~/bin is run by name: it asks, link or not", variants=("full", "flat"))
def programs(fx):
    ways = {"written": "echo x >bin/ls", "moved": "echo x >y && mv y bin/ls", "deep": "mkdir -p bin/d && echo x >bin/d/ls",
            "brought": "mkdir q && echo x >q/ls && mv q bin"}
    for what, way in ways.items():
        for flags, cwd in ((["--allow-home"], fx.home), ([f"--allow-write={fx.home}"], fx.project)):
            shutil.rmtree(fx.home / "bin", ignore_errors=True)
            if what != "brought":
                (fx.home / "bin").mkdir()
            fx.sandbash(*flags, "sh", "-c", f"cd {fx.home}; {way}", cwd=cwd)
            check(not list((fx.home / "bin").rglob("ls")), f"{what}, {flags}")
            shutil.rmtree(fx.home / "q", ignore_errors=True)
    (fx.home / "bin").mkdir(exist_ok=True)
    result = fx.sandbash(f"--allow-write={fx.home}/bin", "sh", "-c", f"echo x >{fx.home}/bin/ls", cwd=fx.project)
    equal(result.status, 0, "a rule that means it")
    equal(fx.sandbash("sh", "-c", "mkdir bin && echo x >bin/ls", cwd=fx.project).status, 0, "a project's own")


@test("the account's own home directory counts, too, where HOME is another one", variants=("full",))
def of_account(fx):
    """An editor of a package has a HOME of its own, the shell beside it has not."""
    other, accounts = fx.dir / "other", fx.dir / "passwd"
    other.mkdir()
    accounts.write_text(f"me:x:0:0::{fx.home}:/bin/sh\nyou:x:{os.getuid()}:0::{fx.home}:/bin/sh\n")
    lead(fx, ".vim", "v")
    fx.write("v/plugin/x.vim", "good\n")
    fx.write("pg", "good\n")
    fx.write("plain/x.vim", "good\n")
    fx.write(fx.home / ".gitconfig", f"[core]\n\tpager = {fx.project}/pg\n")
    mounts = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-Urm"]
    for name, lands in (("v/plugin/x.vim", False), ("pg", False), ("plain/x.vim", True)):
        words = fx.argv("--consent=deny", "--quiet", "--anywhere", "sh", "-c", 'echo evil >"$1"', "sh", name)
        result = fx.run(*mounts, "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"', accounts, *words, env={"HOME": other})
        equal(fx.read(name), "evil\n" if lands else "good\n", f"{name}: {result.stderr}")
        equal(fx.run("sh", "-c", 'echo evil >"$1"', "sh", name).status, 0, "control")


run_all()
