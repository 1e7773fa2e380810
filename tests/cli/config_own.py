"""config_own.py - nothing inside a sandbox changes the configuration (S9)."""

import json
import shutil

from own_config import EXIT_OWN_FAILURE, global_file, own_file
from tap import BIN, check, contains, equal, run_all, test

ATTACK = """
c=$1
echo / >> "$c/config"
echo / > "$c/projects/$2"
echo / > "$c/projects/0123456789abcdef"
mkdir "$c/new"
rm -rf "$c"
mv "$c" "$c.old"
mkdir -p "$c" && echo / > "$c/config"
mv "$(dirname "$c")" "$(dirname "$c").old"
ln -f /etc/passwd "$c/config"
chmod 777 "$c" "$c/config"
touch -d @0 "$c/config"
truncate -s 0 "$c/config"
sh -c ': > "$1/config"' sh "$c"
cd "$c" && echo / > config
true
"""


def attack(fx, *flags, cwd=None, env=None, own=None):
    """Run the attack and check that sandbash's directory is what it was."""
    own = own or fx.home / ".config/sandbash"
    before = fx.snapshot(own)
    info = (own / "config").stat()
    result = fx.sandbash(*flags, "sh", "-c", ATTACK, "sh", own, own_file(fx).name, cwd=cwd, env=env)
    equal(result.status, 0, result.stderr)
    equal(fx.snapshot(own), before)
    equal(((own / "config").stat().st_mtime_ns, (own / "config").stat().st_ino),
          (info.st_mtime_ns, info.st_ino))


def two_files(fx):
    fx.config("# global\n")
    fx.config("# directory\n", f"projects/{own_file(fx).name}")


@test("S9 config files cannot be changed from inside", variants=("full", "nested"))
def own_files(fx):
    two_files(fx)
    attack(fx)
    # the control: the same acts work outside
    equal(fx.run("sh", "-c", ATTACK, "sh", fx.home / ".config/sandbash", own_file(fx).name).status,
          0)
    check(not global_file(fx).exists() or global_file(fx).read_text() != "# global\n")


@test("S9 contents cannot be changed without namespaces either", variants=("flat",))
def own_files_flat(fx):
    two_files(fx)
    before = fx.snapshot(fx.home / ".config")
    script = ATTACK.replace("chmod", ": chmod").replace("touch -d", ": touch")
    equal(fx.sandbash("sh", "-c", script, "sh", fx.home / ".config/sandbash",
                      own_file(fx).name).status, 0)
    equal(fx.snapshot(fx.home / ".config"), before)


@test("S9 nor in a run started in a parent of the config directory", variants=("full", "nested"))
def started_above(fx):
    two_files(fx)
    attack(fx, "--allow-home", cwd=fx.home)
    attack(fx, cwd=fx.home / ".config")
    attack(fx, "--allow-home", "--anywhere", cwd=fx.dir)


@test("S9 nor in a run started inside the config directory itself", variants=("full", "nested"))
def started_inside(fx):
    two_files(fx)
    before = fx.snapshot(fx.home / ".config")
    for cwd in (fx.home / ".config/sandbash", fx.home / ".config/sandbash/projects"):
        fx.sandbash("sh", "-c", "echo / > config; echo / > ../config; touch x; rm -rf *", cwd=cwd)
        equal(fx.snapshot(fx.home / ".config"), before, str(cwd))


@test("S9 nor by a rule that opens it", variants=("full", "nested"))
def opened_by_rule(fx):
    two_files(fx)
    own = fx.home / ".config/sandbash"
    for flags in ([f"--allow-write={own}"], [f"--allow-write={own}/config"],
                  ["--allow-write=~/.config"], [f"--rule=write {own}/**"],
                  [f"--project={own.parent}"]):
        attack(fx, *flags)
    fx.config(f"# global\n{own}\n~/.config/sandbash/projects\n")
    attack(fx)


@test("S9 nor where XDG_CONFIG_HOME lies inside the project", variants=("full", "nested"))
def xdg_inside_project(fx):
    own = fx.project / "xdg/sandbash"
    fx.write(own / "config", "# global\n")
    (own / "projects").mkdir()
    attack(fx, env={"XDG_CONFIG_HOME": fx.project / "xdg"}, own=own)


@test("S9 nor when the config directory does not exist yet", variants=("full", "nested"))
def absent_config(fx):
    script = 'mkdir -p "$1" && echo / > "$1/config"; mv "$(dirname "$1")" x; true'
    result = fx.sandbash("--allow-home", "sh", "-c", script, "sh", fx.home / ".config/sandbash",
                         cwd=fx.home)
    equal(result.status, 0, result.stderr)
    check(not global_file(fx).exists(), "a config was planted")


@test("S9 nor through a linked config directory", variants=("full", "nested"))
def linked_directory(fx):
    real = fx.project / "dotfiles/sandbash"
    fx.write(real / "config", "# global\n")
    fx.write(real / "word", "red kettle\n")
    (fx.home / ".config").mkdir()
    (fx.home / ".config/sandbash").symlink_to(real)
    attack(fx, own=real)


@test("S9 nor by replacing a link on the way to it")
def replaced_link(fx):
    plant = ("rm -f .config/sandbash .config; mv .config/sandbash .config/old; mv .config x; "
             "mkdir -p .config/sandbash; rm -f .config/sandbash/config; "
             "echo / > .config/sandbash/config")
    fx.write(fx.home / "dotfiles/sandbash/config", "# global\n")
    for link, target in ((".config/sandbash", "../dotfiles/sandbash"), (".config", "dotfiles")):
        shutil.rmtree(fx.home / ".config", ignore_errors=True)
        (fx.home / link).parent.mkdir(exist_ok=True)
        (fx.home / link).symlink_to(target)
        fx.sandbash("--allow-home", "sh", "-c", plant, cwd=fx.home)
        check((fx.home / link).is_symlink(), f"{link} was replaced")
        equal(global_file(fx).read_text(), "# global\n", link)
        (fx.home / link).unlink()


@test("S9 nor the file that a linked config leads to")
def linked_file(fx):
    real = fx.write("dotfiles/rules", "# global\n")
    global_file(fx).parent.mkdir(parents=True)
    global_file(fx).symlink_to(real)
    fx.sandbash("sh", "-c",
                'echo / >> "$1"; rm -f "$1"; mv dotfiles x; mkdir dotfiles; echo / > "$1"', "sh",
                real)
    equal(real.read_text(), "# global\n")
    equal(global_file(fx).read_text(), "# global\n")


@test("S9 nor a file that is not there yet, and that a link in the place of a config names")
def dangling_config(fx):
    own = global_file(fx)
    own.parent.mkdir(parents=True)
    for link in (own, own_file(fx)):
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(fx.path("later"))
        for flags in ([], ["--static"]):
            result = fx.sandbash(*flags, "sh", "-c", "echo 'mode danger-full-access' >later")
            equal(result.status, EXIT_OWN_FAILURE, result.stderr)
            contains(result.stderr, "a link that leads to nothing")
            check(not fx.exists("later"), "it was made")
        fx.write("later", "# mine\n")
        equal(fx.sandbash("true").status, 0, "one that leads somewhere is obeyed")
        fx.path("later").unlink()
        link.unlink()
        equal(fx.sandbash("sh", "-c", "echo x >later; rm later").status, 0, "the neighbour")


@test("S9 nor a config directory that is not there yet, and that a link names")
def dangling_directory(fx):
    (fx.home / ".config").mkdir()
    (fx.home / ".config/sandbash").symlink_to(fx.path("later"))
    for flags in ([], ["--static"]):
        fx.sandbash(*flags, "sh", "-c", "mkdir -p later; echo 'mode danger-full-access' >later/config")
        check(not fx.exists("later/config"), f"{flags}: it was made")
    equal(fx.run("sh", "-c", "mkdir -p later; echo '# x' >later/config").status, 0, "the control")
    equal(global_file(fx).read_text(), "# x\n", "it leads there")


@test("S9 nor a rule file that was included or named with --policy")
def rule_files(fx):
    team = fx.write(fx.home / "dotfiles/team.rules", "# team\n")
    policy = fx.write("policy", "# policy\n")
    fx.config(f"include {team}\n{team.parent}\n")
    for file in (team, policy):
        text = file.read_text()
        fx.sandbash("--policy=policy", "sh", "-c",
                    'echo / >> "$1"; rm -f "$1"; mv "$1" "$1.old"; echo / > "$1"', "sh", file)
        equal(file.read_text(), text)


@test("S9 without namespaces a static run that could change them is refused, even with "
      "--best-effort")
def refused_flat(fx):
    two_files(fx)
    result = fx.sandbash("--static", "--allow-home", "touch", "x", cwd=fx.home, variant="flat")
    equal(result.status, EXIT_OWN_FAILURE, result.stderr)
    contains(result.stderr, f"{fx.home}/.config/sandbash")
    check(not (fx.home / "x").exists())


@test("S9 without namespaces a supervised run cannot change them")
def held_flat(fx):
    two_files(fx)
    before = fx.snapshot(fx.home / ".config")
    result = fx.sandbash("--allow-home", "sh", "-c", "touch x; echo / >>.config/sandbash/config; "
                         "mv .config moved; rm -rf .config/sandbash", cwd=fx.home, variant="flat")
    check(result.status != 0)
    check((fx.home / "x").exists())
    equal(fx.snapshot(fx.home / ".config"), before)


@test("S9 the config commands refuse inside, and say why", variants=("full", "nested"))
def commands_inside(fx):
    two_files(fx)
    before = fx.snapshot(fx.home / ".config")
    for words in (("--add-path", fx.outside), ("--remove-path", fx.outside, "--global"),
                  ("--add-path", "/", "--global")):
        fx.config(f"# global\n{fx.outside}\n")
        result = fx.sandbash(BIN, *words)
        equal(result.status, EXIT_OWN_FAILURE, result.stderr)
        contains(result.stderr, "sandbash: ")
        contains(result.stderr, "inside a sandbox")
    fx.config("# global\n")
    equal(fx.snapshot(fx.home / ".config"), before)
    result = fx.sandbash(BIN, "--list-paths")
    equal(result.status, 0, result.stderr)


@test("S9 /etc/sandbash cannot be changed from inside, whatever is allowed")
def system_files(fx):
    for op in ("modify", "create", "delete"):
        result = fx.sandbash("--allow-write=/etc/sandbash", "--explain", "/etc/sandbash/config",
                             "--json")
        found = json.loads(result.stdout)
        equal(found["decisions"][op]["verdict"], "deny")
        equal(found["final"], True)


run_all()
