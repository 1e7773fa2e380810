"""S9: nothing inside a sandbox can change the rules of the next one."""

import os

from attack import CROSSING, act, boxed, refused, signature, unchanged, works
from tap import BIN, ALL_VARIANTS, check, contains, equal, lacks, run_all, test

ROOT = os.getuid() == 0
NO = CROSSING + ("ENOENT", "EEXIST", "ENOTEMPTY")
EVIL = "/\n"  # everything writable


def decides(fx, path, **where):
    """What the next run would allow for a path, asked outside: the lines of --explain."""
    return fx.run(BIN, f"--explain={path}", **where).stdout


def held(fx, script, cwd=None, env=None, flags=(), **where):
    """Run an attack on the configuration; the rules that a later run obeys are the same."""
    before = decides(fx, fx.outside / "x", cwd=cwd, env=env)
    lacks(before, "modify  allow", "closed at first")
    contains(before, "modify")
    result = fx.sandbash(*flags, "bash", "-c", script, cwd=cwd, env=env, **where)
    equal(decides(fx, fx.outside / "x", cwd=cwd, env=env), before,
          f"what a later run may do (status {result.status}, {result.stderr.strip()!r})")
    return result


def files(fx):
    config = fx.config("# mine\n")
    fx.config("# project\n", "projects/0123456789abcdef")
    fx.config("red kettle\n", "word")  # else the first run makes it
    (fx.home / ".local" / "state" / "sandbash").mkdir(parents=True)
    return config


WORDS = (
    "open wronly {c}/config",
    "open wronly+creat+trunc {c}/config",
    "open wronly+creat {c}/new",
    "open wronly+creat {c}/projects/fedcba9876543210",
    "truncate {c}/config",
    "meta chmod {c}/config",
    "meta chmod {c}",
    "meta fchmod {c}/config",
    "unlink {c}/config",
    "mkdir {c}/d",
    "rename plain {c}/config {c}/old",
    "rename plain evil {c}/config",
    "rename exchange evil {c}/config",
    "link path {c}/config alias",
    "link path evil {c}/new",
    "symlink evil {c}/new",
    "rename plain {c} moved",
    "rename exchange {c} other",
    "rename plain {c}/projects moved",
    "mmap {c}/config",
    "bind {c}/s",
    "tmpfile {c} {c}/new",
)


def storm(fx, cwd, flags, **where):
    config = files(fx)
    (cwd / "evil").write_text(EVIL)
    (cwd / "other").mkdir()
    before = signature(config.parent)
    for template in WORDS:
        words = template.format(c=config.parent).split()
        refused(boxed(fx, *words, cwd=cwd, flags=flags, **where), NO, template)
    for parent in [p for p in config.parents if cwd in p.parents]:
        refused(boxed(fx, "rename", "plain", parent, cwd / "moved", cwd=cwd, flags=flags, **where),
                NO, f"rename {parent}")
        refused(boxed(fx, "rename", "exchange", parent, cwd / "other", cwd=cwd, flags=flags,
                      **where),
                NO, f"exchange {parent}")
    unchanged(before, config.parent)
    works(boxed(fx, "open", "wronly+creat", cwd / "ordinary", cwd=cwd, flags=flags, **where))
    works(boxed(fx, "read", config, cwd=cwd, flags=flags, **where), "it can be read")
    works(act(fx, "open", "wronly", config), "control")


@test("S9 started in the home directory, which holds the configuration")
def in_home(fx):
    storm(fx, fx.home, ["--allow-home"])


@test("S9 started in .config")
def in_config(fx):
    (fx.home / ".config").mkdir()
    storm(fx, fx.home / ".config", [])


@test("S9 started elsewhere, with the home directory granted")
def granted(fx):
    storm(fx, fx.project, [f"--allow-write={fx.home}"])


@test("S9 started in the configuration directory itself", variants=ALL_VARIANTS)
def inside(fx):
    config = files(fx)
    before = signature(config.parent)
    fx.sandbash("bash", "-c", "echo / >>config; echo / >projects/x; touch new; rm -f config; "
                "mv config old; chmod 777 config", cwd=config.parent)
    check(config.read_text() == "# mine\n")
    if fx.variant != "flat":
        unchanged(before, config.parent)
    works(fx.sandbash("true"), "neighbour")


@test("S9 no flag and no rule opens the configuration", variants=("full", "nested"))
def no_override(fx):
    config = files(fx)
    top = config.parent
    before = signature(top)
    for flags in ([f"--allow-write={top}"], [f"--allow-write={config}"], [f"--rule=write {config}"],
                  [f"--rule=write {top}/**"], [f"--project={top}"],
                  [f"--rule=write {top}/projects/*"],
                  [f"--rule=read+modify+create+delete {config}"], ["--allow-write=/"]):
        result = boxed(fx, "open", "wronly", config, flags=flags)
        check(result.status != 0, str(flags))
        result = boxed(fx, "open", "wronly+creat", top / "projects" / "new", flags=flags)
        check(result.status != 0, str(flags))
        unchanged(before, top, str(flags))
    fx.config(f"{top}\n~/.config\n")
    before = signature(top)
    check(boxed(fx, "open", "wronly", config).status != 0, "granted by itself")
    unchanged(before, top)


@test("S9 without namespaces: held or refused, also with --best-effort", variants=("flat",))
def flat(fx):
    config = files(fx)
    before = signature(config.parent)
    for flags, cwd in ((["--allow-home"], fx.home), ([], fx.home / ".config"),
                       ([f"--allow-write={fx.home}"], fx.project), ([], config.parent)):
        result = fx.sandbash(*flags, "bash", "-c",
                             f"echo / >>{config}; echo / >{config.parent}/new; "
                             f"mv {config.parent} {fx.home}/moved; "
                             f"mv {fx.home}/.config {fx.home}/c",
                             cwd=cwd)
        check(config.exists(), f"{flags} {cwd}: {result}")
        equal(config.read_text(), "# mine\n", f"{flags} {cwd}")
        unchanged(before, config.parent, f"{flags} {cwd}")
    works(fx.sandbash("true"), "neighbour")


REBUILD = ("cd ~; mkdir -p .config/sandbash; echo / >.config/sandbash/config; "
           "mv .config c; mv .config/sandbash s; rm -rf .config; rm -f .config; "
           "mkdir -p .config/sandbash/projects; echo / >.config/sandbash/config; "
           "ln -s evil .config; true")


@test("S9 the configuration directory does not exist yet", variants=ALL_VARIANTS)
def absent(fx):
    for flags, cwd in ((["--allow-home"], fx.home), ([f"--allow-write={fx.home}"], fx.project)):
        held(fx, REBUILD, cwd=cwd, flags=flags)
        check(not (fx.home / ".config" / "sandbash" / "config").exists())
    works(fx.sandbash("touch", "ordinary"))


@test("S9 .config exists, the directory in it does not", variants=ALL_VARIANTS)
def half_absent(fx):
    (fx.home / ".config" / "other").mkdir(parents=True)
    for flags, cwd in ((["--allow-home"], fx.home), ([], fx.home / ".config")):
        held(fx, REBUILD, cwd=cwd, flags=flags)
        check(not (fx.home / ".config" / "sandbash" / "config").exists())


@test("S9 the configuration is a symlink into the project")
def symlinked_file(fx):
    files(fx)
    config = fx.home / ".config" / "sandbash" / "config"
    config.unlink()
    target = fx.write("dot/files/config", "# mine\n")
    config.symlink_to(target)
    before = signature(fx.path("dot/files"))
    for words in (["open", "wronly", "dot/files/config"], ["unlink", "dot/files/config"],
                  ["rename", "plain", "dot/files", "moved"], ["rename", "plain", "dot", "moved"],
                  ["rename", "plain", "evil", "dot/files/config"]):
        fx.write("evil", EVIL)
        refused(boxed(fx, *words), NO, str(words))
        equal(target.read_text(), "# mine\n")
    unchanged(before, fx.path("dot/files"))
    works(boxed(fx, "open", "wronly+creat", "dot/ordinary"))
    works(act(fx, "open", "wronly", "dot/files/config"), "control")


@test("S9 the configuration directory is a symlink into the project")
def symlinked_directory(fx):
    target = fx.write("dot/sandbash/config", "# mine\n")
    fx.write("dot/sandbash/word", "red kettle\n")
    (fx.home / ".config").mkdir()
    (fx.home / ".config" / "sandbash").symlink_to(target.parent)
    before = signature(target.parent)
    for words in (["open", "wronly", "dot/sandbash/config"],
                  ["open", "wronly+creat", "dot/sandbash/new"],
                  ["rename", "plain", "dot/sandbash", "moved"],
                  ["rename", "plain", "dot", "moved"]):
        refused(boxed(fx, *words), NO, str(words))
    unchanged(before, target.parent)
    works(boxed(fx, "open", "wronly+creat", "dot/ordinary"))


@test("S9 a symlink on the way to the configuration cannot be replaced")
def symlink_replaced(fx):
    """Dotfiles are often links; who can replace the link chooses the configuration."""
    for number, link in enumerate((".config", ".config/sandbash")):
        home = fx.dir / f"home{number}"
        real = home / "dotfiles" / link.strip(".")
        real.mkdir(parents=True)
        (home / link).parent.mkdir(exist_ok=True)
        (home / link).symlink_to(real)
        (home / ".config" / "sandbash").mkdir(exist_ok=True)
        config = home / ".config" / "sandbash" / "config"
        config.write_text("# mine\n")
        (config.parent / "word").write_text("red kettle\n")
        before = signature(home / link)
        held(fx, f"cd ~; rm {link} || mv {link} moved; mkdir -p .config/sandbash; "
             "echo / >.config/sandbash/config; mv dotfiles d; true",
             cwd=home, flags=["--allow-home"], env={"HOME": home})
        unchanged(before, home / link, link)
        equal(config.read_text(), "# mine\n", link)


@test("S9 no link of a chain that leads to the configuration can be replaced")
def symlink_chain(fx):
    fx.write(fx.home / "real" / "sandbash" / "config", "# mine\n")
    fx.write(fx.home / "real" / "sandbash" / "word", "red kettle\n")
    (fx.home / "two").symlink_to("real")
    (fx.home / "one").symlink_to("two")
    (fx.home / ".config").symlink_to("one")
    for link in ("one", "two", ".config"):
        before = signature(fx.home / link)
        held(fx, f"cd ~; rm {link} || mv {link} moved; mkdir -p {link}/sandbash; "
             f"echo / >{link}/sandbash/config; true", cwd=fx.home, flags=["--allow-home"])
        unchanged(before, fx.home / link, link)
    works(fx.sandbash("--allow-home", "touch", "ordinary", cwd=fx.home))


@test("S9 XDG_CONFIG_HOME in the project", variants=("full", "nested"))
def xdg(fx):
    env = {"XDG_CONFIG_HOME": fx.project / "cfg"}
    held(fx, "mkdir -p cfg/sandbash; echo / >cfg/sandbash/config; mv cfg c; rm -rf cfg; "
         "mkdir -p cfg/sandbash; echo / >cfg/sandbash/config", env=env)
    check(not fx.exists("cfg/sandbash/config"))
    fx.path("cfg/sandbash").mkdir(parents=True, exist_ok=True)
    fx.write("cfg/sandbash/config", "# mine\n")
    held(fx, "echo / >cfg/sandbash/config; mv cfg c; rm -rf cfg", env=env)
    equal(fx.read("cfg/sandbash/config"), "# mine\n")
    works(fx.sandbash("touch", "cfg/ordinary", env=env))


@test("S9 XDG_CONFIG_HOME is a symlink in the project")
def xdg_symlink(fx):
    real = fx.dir / "real"
    fx.write(real / "sandbash" / "config", "# mine\n")
    fx.path("cfg").symlink_to(real)
    env = {"XDG_CONFIG_HOME": fx.project / "cfg"}
    held(fx, "rm cfg || mv cfg c; mkdir -p cfg/sandbash; echo / >cfg/sandbash/config", env=env)


@test("S9 a --policy file in the project cannot be changed by the run that obeys it")
def policy(fx):
    fx.write("rules/mine", "read vendor\n")
    fx.path("vendor").mkdir()
    before = signature(fx.path("rules/mine"))
    flags = ["--policy=rules/mine"]
    for words in (["open", "wronly", "rules/mine"], ["unlink", "rules/mine"],
                  ["rename", "plain", "evil", "rules/mine"], ["rename", "plain", "rules", "moved"],
                  ["rename", "exchange", "rules/mine", "evil"]):
        fx.write("evil", EVIL)
        refused(boxed(fx, *words, flags=flags), NO, str(words))
        unchanged(before, fx.path("rules/mine"), str(words))
    works(boxed(fx, "open", "wronly+creat", "rules/ordinary", flags=flags))
    works(act(fx, "open", "wronly", "rules/mine"), "control")


@test("S9 no rule is read from inside the project", variants=ALL_VARIANTS)
def include(fx):
    """A repository must not grant itself anything, not even by an include."""
    fx.write("team.rules", f"{fx.outside}\n")
    for line in (f"include {fx.project}/team.rules", "include ~/project/team.rules"):
        fx.config(line + "\n")
        fx.sandbash("touch", fx.outside / "new")
        check(not (fx.outside / "new").exists(), line)
    fx.config("")
    for name in (".sandbash", "sandbash.conf", ".sandbash/config", ".config/sandbash/config",
                 ".env"):
        fx.write(name, f"{fx.outside}\nXDG_CONFIG_HOME=.\n")
        fx.sandbash("touch", fx.outside / "new")
        check(not (fx.outside / "new").exists(), name)
        fx.run("rm", "-rf", name.split("/")[0])


@test("S10 the config commands change nothing from inside", variants=ALL_VARIANTS)
def commands(fx):
    config = files(fx)
    before = fx.snapshot(fx.home / ".config")
    # Even where the home directory is granted.
    for flags in ([], [f"--allow-write={fx.home}"]):
        for words in (["--add-path=/", "--global"], ["--add-path=/etc"], ["--remove-path=/"]):
            fx.sandbash(*flags, BIN, *words)
        fx.sandbash(*flags, "env", "EDITOR=touch", BIN, "--edit", "--global")
        equal(fx.snapshot(fx.home / ".config"), before, str(flags))
    works(fx.run(BIN, "--add-path=/", "--global"), "control")
    check(config.read_text() != "# mine\n")


@test("S9 the state directory is closed as well")
def state(fx):
    files(fx)
    top = fx.home / ".local" / "state" / "sandbash"
    fx.settle()
    before = signature(top)
    for words in (["open", "wronly+creat", top / "new"],
                  ["open", "wronly+creat", top / "log" / "20260101T000000-1-0000.jsonl"],
                  ["rename", "plain", top, fx.home / "moved"],
                  ["rename", "plain", fx.home / ".local", fx.home / "moved"], ["rmdir", top]):
        refused(boxed(fx, *words, cwd=fx.home, flags=["--allow-home"]), NO, str(words))
    unchanged(before, top)
    works(boxed(fx, "open", "wronly+creat", "x", cwd=fx.home, flags=["--allow-home"]))


if ROOT:
    @test("S9 the machine's configuration in /etc, there or not")
    def etc(fx):
        """On an /etc of the test's own."""
        etc = fx.dir / "etc"
        etc.mkdir()
        fx.run("sh", "-c",
               f"cp -a /etc/passwd /etc/group /etc/ld.so.cache /etc/nsswitch.conf {etc}/")
        for present in (False, True):
            if present:
                fx.write(etc / "sandbash" / "config", "deny /srv\n")
            script = 'mount --bind "$0" /etc && exec "$@"'
            attack = ("mkdir -p /etc/sandbash; echo / >/etc/sandbash/config; rm -rf /etc/sandbash; "
                      "mv /etc/sandbash /etc/s; mkdir -p /etc/sandbash && "
                      "echo / >/etc/sandbash/config; "
                      "touch /etc/ordinary")
            for where in (["--allow-write=/etc"], ["--project=/etc"],
                          ["--anywhere", "--project=/etc"]):
                fx.run("unshare", "-m", "sh", "-c", script, etc,
                       *fx.argv(*where, "--allow-write=/etc/ordinary", "sh", "-c", attack))
                found = etc / "sandbash" / "config"
                if present:
                    equal(found.read_text(), "deny /srv\n", str(where))
                else:
                    check(not found.exists(), str(where))
            check((etc / "ordinary").exists(), "neighbour")


run_all()
