"""Rules that a link in the project leads elsewhere: such a link comes with a clone, or a command has made it."""

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
