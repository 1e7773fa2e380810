"""config_place.py - S9, CVE-2025-61260: no project tells sandbash where its rules are."""

import os
import pwd

from tap import check, contains, equal, lacks, run_all, test

NOT_OBEYED = "its rules are not obeyed"


def grants(fx, directory):
    """A configuration that opens what lies outside."""
    fx.write(directory / "config", f"write {fx.outside}\n")
    return directory


def obeyed(fx, *flags, env=None, cwd=None):
    """Does a run make a file outside?  And what it says."""
    new = fx.outside / "new"
    result = fx.sandbash(*flags, "--static", "touch", new, env=env, cwd=cwd)
    was = new.exists()
    if was:
        new.unlink()
    return was, result.stderr


@test("S9 XDG_CONFIG_HOME in the project, or in the repository around: said, and not obeyed")
def moved_by_variable(fx):
    sub = fx.project / "deep/sub"
    sub.mkdir(parents=True)
    other = fx.home / "other"
    other.mkdir()
    for where in (fx.project / "cfg", other / "cfg"):
        env = {"XDG_CONFIG_HOME": where}
        grants(fx, where / "sandbash")
        # elsewhere it is the user's own (control)
        if where.parent == other:
            equal(obeyed(fx, env=env), (True, ""))
    env = {"XDG_CONFIG_HOME": fx.project / "cfg"}
    was, said = obeyed(fx, env=env)
    check(not was, said)
    contains(said, NOT_OBEYED)
    contains(said, f"'{fx.project}/cfg/sandbash'")
    equal(said.count("warning: XDG_CONFIG_HOME"), 1)
    # a further project is one
    was, said = obeyed(fx, f"--project={other}", env={"XDG_CONFIG_HOME": other / "cfg"})
    check(not was and NOT_OBEYED in said, said)
    # a part of a repository has its files from all of it; a plain directory above is none
    equal(obeyed(fx, env=env, cwd=sub), (True, ""), "neighbour: no repository")
    fx.git_project()
    was, said = obeyed(fx, env=env, cwd=sub)
    check(not was and NOT_OBEYED in said, said)


@test("S9 what the person says on the command line is obeyed, wherever it lies")
def said_outside(fx):
    grants(fx, fx.project / "cfg/sandbash")
    env = {"XDG_CONFIG_HOME": fx.project / "cfg"}
    for flag in ("--config-dir=cfg/sandbash", f"--config-dir={fx.project}/cfg/sandbash",
                 "--config-dir=~/project/cfg/sandbash"):
        equal(obeyed(fx, flag, env=env), (True, ""), flag)
        equal(obeyed(fx, flag), (True, ""), flag)
    # and it is protected like any
    before = fx.read("cfg/sandbash/config")
    fx.sandbash("--config-dir=cfg/sandbash", "--static", "sh", "-c",
                "echo / >>cfg/sandbash/config; mv cfg c; rm -rf cfg")
    equal(fx.read("cfg/sandbash/config"), before)
    equal(fx.sandbash("--config-dir=", "true").status, 2)


@test("S9 a link in the project leads nowhere that is obeyed")
def through_a_link(fx):
    real = fx.dir / "real"
    grants(fx, real / "sandbash")
    equal(obeyed(fx, env={"XDG_CONFIG_HOME": real}), (True, ""), "control")
    fx.path("link").symlink_to(real)
    fx.path("sub").mkdir()
    fx.path("sub/sandbash").symlink_to(real / "sandbash")
    for name in ("link", "sub"):
        was, said = obeyed(fx, env={"XDG_CONFIG_HOME": fx.project / name})
        check(not was and NOT_OBEYED in said, f"{name}: {said}")
    # nor may the run change where it leads: the next may be started with --config-dir
    fx.sandbash("--static", "sh", "-c", "rm link || mv link l2; mkdir link",
                env={"XDG_CONFIG_HOME": fx.project / "link"})
    check(fx.path("link").is_symlink())


@test("S9 HOME in a repository: the rules there are not obeyed")
def moved_by_home(fx):
    sub = fx.project / "sub"
    sub.mkdir()
    grants(fx, fx.project / ".config/sandbash")
    env = {"HOME": fx.project}
    equal(obeyed(fx, env=env, cwd=sub), (True, ""), "control: no repository")
    fx.git_project()
    was, said = obeyed(fx, env=env, cwd=sub)
    check(not was, said)
    contains(said, f"HOME leads to '{fx.project}/.config/sandbash'")


@test("S9 the usual place is obeyed by a run that is started in it or around it")
def usual_place(fx):
    grants(fx, fx.home / ".config/sandbash")
    for cwd in (fx.home, fx.home / ".config"):
        equal(obeyed(fx, "--allow-home", cwd=cwd), (True, ""), str(cwd))
    equal(obeyed(fx, "--allow-home", "--anywhere", cwd=fx.dir), (True, ""), "around it")
    fx.sandbash("--allow-home", "--static", "sh", "-c", "echo / >.config/sandbash/config",
                cwd=fx.home)
    equal(fx.read(fx.home / ".config/sandbash/config"), f"write {fx.outside}\n")


@test("S9 XDG_STATE_HOME in the project: no kept answer counts, and no record is made there")
def state(fx):
    env = {"XDG_STATE_HOME": fx.project / "state"}
    result = fx.sandbash("true", env=env)
    equal(result.status, 0, result.stderr)
    contains(result.stderr, "XDG_STATE_HOME leads to")
    equal([p.name for p in fx.project.rglob("*") if p.is_file()], [])
    check((fx.home / ".local/state/sandbash").is_dir(), "the record is where it would be without")
    lacks(fx.sandbash("true", env={"XDG_STATE_HOME": fx.dir / "state"}).stderr, "warning")


@test("S9 the usual places are ours where a variable or an option names others: no words, no record, no rules",
      variants=("full", "flat"))
def usual_places(fx):
    rules, state, other = fx.home / ".config/sandbash", fx.home / ".local/state/sandbash", fx.dir / "other"
    other.mkdir()
    fx.sandbash("true")  # another run, which makes both
    fx.write(state / "log/record", "hunter2\n")
    words = fx.read(rules / "word")
    attack = ("cat {0}/word {1}/log/record; echo 'mode danger-full-access' >{0}/config; mv {0} {0}.2; rm -rf {1}; "
              "ln -sf /etc/hostname {0}/word; echo x >{0}.other && rm {0}.other && echo neighbour").format(rules, state)
    for env, flags in (({}, ()), ({"XDG_CONFIG_HOME": other, "XDG_STATE_HOME": other}, ()),
                       ({}, (f"--config-dir={other}/sandbash",))):
        for static in ((),) + (("--static",),) * (fx.variant == "full"):  # flat, that is refused
            result = fx.sandbash("--consent=deny", f"--allow-write={fx.home}/.config", f"--allow-write={fx.home}/.local",
                                 *flags, *static, "sh", "-c", attack, env=env)
            said = f"{env} {flags} {static}: {result.stdout}{result.stderr}"
            lacks(result.stdout, words.split()[0], said)
            lacks(result.stdout, "hunter2", said)
            check(not (rules / "config").exists(), said)
            equal((fx.read(rules / "word"), fx.read(state / "log/record")), (words, "hunter2\n"), said)
            contains(result.stdout, "neighbour", said)
    equal(fx.run("sh", "-c", f"cat {rules}/word {state}/log/record").stdout, words + "hunter2\n", "control")
    # HOME is the fixture's: the account has a home of its own
    account = os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
    policy = {tuple(line.split()[:2]) for line in fx.sandbash("--print-policy").stdout.splitlines()}
    for rule in (("deny", f"{account}/.local/state/sandbash"), ("read", f"{account}/.config/sandbash"),
                 ("deny", f"{account}/.config/sandbash/word")):
        check(rule in policy, str(rule))


@test("S10 the config commands say it too, and write where rules are read from")
def commands(fx):
    env = {"XDG_CONFIG_HOME": fx.project / "cfg"}
    result = fx.sandbash(f"--add-path={fx.outside}", env=env)
    equal(result.status, 0, result.stderr)
    contains(result.stderr, NOT_OBEYED)
    check(not fx.exists("cfg"))
    check(obeyed(fx, env=env)[0], "the rule counts")
    result = fx.sandbash("--config-dir=mine", f"--add-path={fx.outside}")
    equal(result.status, 0, result.stderr)
    check(fx.path("mine/projects").is_dir())


run_all()
