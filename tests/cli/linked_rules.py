"""Rules that a link in the project leads elsewhere: such a link comes with a clone, or a command has made it."""

import os

from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")


def run(fx, *words, flags=()):
    return fx.sandbash("--consent=deny", "--quiet", *flags, "sh", "-c", *words)


@test("P4 a rule about a link in the project shows nothing that is hidden", variants=BOTH)
def hidden(fx):
    fx.write(fx.home / ".ssh/id_rsa", "KEY\n")
    (fx.project / "vendor").symlink_to("../.ssh")
    fx.write("own/k", "OWN\n")
    (fx.project / "docs").symlink_to("own")
    equal(fx.run("cat", "vendor/id_rsa").stdout, "KEY\n")
    for rule in ("read vendor", "ask vendor", "read vendor/*", "read vendor/id_rsa"):
        lacks(run(fx, "cat ~/.ssh/id_rsa vendor/id_rsa", flags=[f"--rule={rule}"]).stdout, "KEY", rule)
    fx.config("read vendor\n")
    lacks(run(fx, "cat ~/.ssh/id_rsa").stdout, "KEY", "from the configuration")
    fx.config("")
    lacks(run(fx, "cat own/k", flags=["--deny=own", "--allow-read=docs/k"]).stdout, "OWN",
          "what another rule hides")
    # who names the file itself means it
    contains(run(fx, "cat ~/.ssh/id_rsa", flags=["--allow-read=~/.ssh/id_rsa"]).stdout, "KEY")
    contains(run(fx, "cat own/k", flags=["--deny=own", "--allow-read=own/k"]).stdout, "OWN")


@test("P3 a rule about a link in the project opens no guarded name and no other rule", variants=BOTH)
def guarded(fx):
    fx.git_project()
    fx.write("third/s/file", "old\n")
    for name, target in (("dist", ".git/hooks"), ("build", ".git"), ("w", "third/s")):
        (fx.project / name).symlink_to(target)
    script = ("echo evil > .git/hooks/post-commit; echo evil > dist/post-commit; "
              "printf '[core]\\n\\tfsmonitor = evil\\n' > build/config")
    for flags in (["--allow-write=dist", "--allow-write=build"],
                  ["--allow-write=dist", "--allow-write=build", "--protect-ignored"]):
        run(fx, script, flags=flags)
        check(not fx.exists(".git/hooks/post-commit"), str(flags))
        lacks(fx.read(".git/config"), "evil", str(flags))
    run(fx, "echo new > third/s/file", flags=["--rule=read third", "--allow-write=w"])
    equal(fx.read("third/s/file"), "old\n")
    # what a rule takes away it takes away behind the link, too
    run(fx, "echo new > third/s/file; echo new > w/file", flags=["--rule=read w"])
    equal(fx.read("third/s/file"), "old\n")
    # the neighbours: without such a rule, and named as what it is
    equal(run(fx, "echo new > w/file").status, 0)
    equal(fx.read("third/s/file"), "new\n")
    equal(run(fx, "echo x > .git/hooks/post-commit", flags=["--allow-write=.git/hooks"]).status, 0)


@test("P6 a printed policy opens no more behind a link when it is read back", variants=BOTH)
def printed(fx):
    fx.write("s/t/secret", "SECRET\n")
    (fx.project / "lk").symlink_to("s")
    equal(fx.run("cat", "s/t/secret").stdout, "SECRET\n")
    for name, flags in (("opened", ["--deny=s", "--rule=write lk/t"]),
                        ("taken away beside another rule", ["--allow-write=s/t", "--deny=lk/t"]),
                        ("said so", ["--deny=s", "--rule=tighten write s/t"])):
        first = run(fx, "cat s/t/secret", flags=flags)
        policy = fx.write(fx.outside / "printed", fx.sandbash(*flags, "--print-policy").stdout)
        second = run(fx, "cat s/t/secret; echo new >s/t/secret", flags=[f"--policy={policy}"])
        lacks(first.stdout + second.stdout, "SECRET", name)
        equal(fx.read("s/t/secret"), "SECRET\n", name)
    # the neighbour: who names the place itself opens it, printed or not
    flags = ["--deny=s", "--rule=write s/t"]
    policy = fx.write(fx.outside / "printed", fx.sandbash(*flags, "--print-policy").stdout)
    for given in (flags, [f"--policy={policy}"]):
        equal(run(fx, "cat s/t/secret", flags=given).stdout, "SECRET\n", str(given))


@test("P4 the links that a rule goes through are not turned round for the next run", variants=BOTH)
def turned(fx):
    mode = ([], ["--static"]) if fx.variant == "full" else ([],)
    make = ("rm -rf * && mkdir v2 e d && echo FIRST >v2/key && echo SECOND >v2/a.key && ln -s v2 current && "
            "ln -s ../v2 d/deep && ln -s d/deep far")
    turn = ("rm current; mv -T e current; ln -sfn e current; rm far; ln -sfn e far; "
            "mv d dd; rm d/deep; ln -sfn ../e d/deep; mv d/deep d/x")
    for rule, names, hidden in (("deny current/key", ["current"], "FIRST"), ("read current/key", ["current"], None),
                                ("deny current/*.key", ["current"], "SECOND"),
                                ("deny far/key", ["far", "d/deep"], "FIRST"), ("read far/key", ["far", "d/deep"], None),
                                ("deny far", ["far", "d/deep"], "FIRST"), ("tighten deny current/key", ["current"], "FIRST")):
        for flags in mode:
            given = [*flags, f"--rule={rule}"]
            equal(fx.run("sh", "-c", make).status, 0)
            where = {name: os.readlink(fx.path(name)) for name in names}
            run(fx, turn, flags=given)
            for name, target in where.items():
                check(fx.path(name).is_symlink() and os.readlink(fx.path(name)) == target, f"{given} {name}")
            again = run(fx, "cat v2/key v2/a.key; echo new >v2/key", flags=given).stdout
            if hidden:
                lacks(again, hidden, str(given))
            else:
                equal(fx.read("v2/key"), "FIRST\n", str(given))
            # the neighbours: other links, and other files
            equal(run(fx, "mkdir n && ln -s v2 mine && ln -sfn n mine && rm mine && echo x >n/x", flags=given).status, 0, rule)
    # the control: without such a rule, and with one that takes nothing away, they are the command's
    for flags in ([], ["--rule=write current"]):
        fx.run("sh", "-c", "rm -rf * && mkdir v2 e && ln -s v2 current")
        equal(run(fx, "rm current && ln -s e current", flags=flags).status, 0, str(flags))


@test("S10 what is written down is no link that a command could have made")
def kept(fx):
    fx.git_project()
    (fx.project / "dist").symlink_to(".git/hooks")
    result = fx.sandbash("--add-path", "dist")
    check(result.status != 0, result.stdout)
    contains(result.stderr, "which a command could have made")
    (fx.project / "plain").mkdir()
    equal(fx.sandbash("--add-path", "plain").status, 0)


run_all()
