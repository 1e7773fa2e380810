"""What variables of the caller's name in a project: git's settings, and what programs run or obey."""

from tap import check, contains, equal, run_all, test

EVIL = "[core]\n\tfsmonitor = touch /nowhere; false\n"


@test("P2 a file that GIT_CONFIG_GLOBAL or GIT_CONFIG_SYSTEM names is a git config", variants=("full", "flat"))
def git_settings(fx):
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        for there in (True, False):
            env = {name: f"{fx.project}/gitcfg"}
            if there:
                fx.write(fx.project / "gitcfg", "[user]\n\tname = me\n")
            result = fx.sandbash("--consent=deny", "sh", "-c", f"printf '{EVIL}' >>gitcfg", env=env)
            check("fsmonitor" not in (fx.path("gitcfg").read_text() if fx.exists("gitcfg") else ""), f"{name}: {result.stderr}")
            result = fx.sandbash("--consent=deny", "git", "config", "-f", "gitcfg", "core.pager", "./x", env=env)
            check(result.status != 0, f"{name}: by git")
            equal(fx.sandbash("--consent=deny", "git", "config", "-f", "gitcfg", "color.ui", "auto", env=env).status, 0, "a harmless key")
            contains(fx.path("gitcfg").read_text(), "ui = auto")
            equal(fx.sandbash("--consent=deny", "sh", "-c", f"printf '{EVIL}' >>other; echo >/dev/null", env=env).status, 0, "the neighbour")
            equal(fx.sandbash("--consent=deny", "sh", "-c", f"printf '{EVIL}' >>gitcfg").status, 0, "the control: nobody names it")
            fx.run("rm", "-f", "gitcfg", "other")
    equal(fx.sandbash("--consent=deny", "sh", "-c", "echo x >/dev/null && echo x >a", env={"GIT_CONFIG_GLOBAL": "/dev/null"}).status, 0)


run_all()
