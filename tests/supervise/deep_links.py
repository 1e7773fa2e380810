"""deep_links.py - P3: links from before the run at guarded names, at whatever depth of a project.

direnv, editors and agents read what such a link leads to: a file of the project with a harmless name.  Links
that git knows are found at any depth, others in the directories that are looked at when a run begins.
"""

import os

from tap import check, contains, equal, run_all, test

BOTH = ("full", "flat")

# A link, where it leads (seen from it), and what is obeyed there.
LINKS = {
    "direnv": ("sub/.envrc", "../tools/env.sh", "tools/env.sh"),
    "deeper": ("a/b/c/d/e/.envrc", "../../../../../tools/env.sh", "tools/env.sh"),
    "an absolute one": ("a/b/.envrc", None, "tools/env.sh"),
    "a directory": ("a/b/.vscode", "../../conf", "conf/tasks.json"),
    "a file in one": ("a/b/.vscode/tasks.json", "../../../conf/t", "conf/t"),
    "a tree": ("sub/.claude/skills", "../../mine", "mine/x/run.sh"),
    "one in a tree": ("a/b/.claude/skills/x", "../../../../mine", "mine/run.sh"),
    "the directory around": ("a/b/.config", "../../conf", "conf/fish/config.fish"),
    "by two links": ("a/b/.envrc", "../way/env.sh", "tools/env.sh"),
}
WAYS = ('echo evil >"$1"', 'echo evil >n; mv n "$1"', 'echo evil >n; ln -f n "$1"', 'echo evil >n; ln -sf "$PWD/n" "$1"',
        'd=$(dirname "$1"); mkdir -p q; cp -r "$d/." q; echo evil >"q/$(basename "$1")"; mv "$d" away; mv q "$d"')


def make(fx, link, target, name, tracked):
    fx.git_project()
    fx.write(name, "good\n")
    path = fx.path(link)
    path.parent.mkdir(parents=True, exist_ok=True)
    if target and "way" in target:
        fx.path("a/way").symlink_to("../tools")
    path.symlink_to(target or fx.path(name))
    if tracked:
        equal(fx.run("git", "add", "-A").status, 0)
    where = path if path.is_file() else path / os.path.relpath(fx.path(name), path.resolve())
    equal(where.read_text(), "good\n", "the link leads there")
    return where


def refused(fx, name, where):
    for script in WAYS:
        fx.write(name, "good\n")
        result = fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script, "sh", name)
        check(not where.exists() or "evil" not in where.read_text(), f"{script}: {result.stderr}")
        fx.run("rm", "-rf", "n", "q")
        if fx.exists("away"):
            fx.run("sh", "-c", 'rm -rf "$1"; mv away "$1"', "sh", os.path.dirname(name))
        if fx.path(name).is_symlink():
            fx.path(name).unlink()
    fx.write(name, "good\n")
    equal(fx.run("sh", "-c", WAYS[0], "sh", name).status, 0)
    equal(where.read_text(), "evil\n", "the control")


def link_test(link, target, name, tracked):
    def attack(fx):
        refused(fx, name, make(fx, link, target, name, tracked))
        result = fx.sandbash("--consent=deny", "--quiet", "sh", "-ec",
                             "echo x >tools.sh; mkdir -p new/d; echo x >new/d/x.sh; mv new old; echo x >a.txt; rm a.txt")
        equal(result.status, 0, f"the neighbours: {result.stderr}")
    return attack


for title, (at, to, what) in LINKS.items():
    test(f"P3 a link deeper in a project: {title}", variants=BOTH)(link_test(at, to, what, True))
    if at.count("/") < 4:
        test(f"P3 a link deeper in a project that git does not know: {title}", variants=BOTH)(
            link_test(at, to, what, False))


@test("P3 a link deeper in a project that leads nowhere yet, and one to all that is around it", variants=BOTH)
def odd(fx):
    fx.git_project()
    for link, target in (("a/b/.envrc", "../../later.sh"), ("a/b/.vscode", "."), ("a/c/.vscode", "../.."),
                         ("a/c/.idea", ".."), ("a/c/readme", "../../plain.sh")):
        fx.path(link).parent.mkdir(parents=True, exist_ok=True)
        fx.path(link).symlink_to(target)
    equal(fx.run("git", "add", "-A").status, 0)
    result = fx.sandbash("--consent=deny", "sh", "-c", "echo evil >later.sh; echo x >plain.sh; echo x >a/b/x; echo x >a/y; "
                         "echo x >z; mkdir a/c/d")
    check(not fx.exists("later.sh"), result.stderr)
    contains(result.stderr, "direnv")
    for name in ("plain.sh", "a/b/x", "a/y", "z", "a/c/d"):
        check(fx.exists(name), f"{name}: {result.stderr}")
    equal(fx.run("sh", "-c", "echo evil >later.sh; cat a/b/.envrc").stdout, "evil\n", "the control")


@test("P3 a .git that is a link to a directory of another name, deeper in a project", variants=BOTH)
def git_link(fx):
    fx.git_project()
    equal(fx.run("git", "init", "-q", "--bare", "store").status, 0)
    fx.path("a/b").mkdir(parents=True)
    fx.path("a/b/.git").symlink_to("../../store")
    script = "mkdir -p store/hooks; echo evil >store/hooks/post-checkout; git -C store config core.fsmonitor ./x"
    fx.sandbash("--consent=deny", "--quiet", "sh", "-c", script)
    check(not fx.exists("a/b/.git/hooks/post-checkout") and "fsmonitor" not in fx.read("store/config"))
    equal(fx.run("sh", "-c", script).status, 0)
    check(fx.exists("a/b/.git/hooks/post-checkout") and "fsmonitor" in fx.read("store/config"), "the control")
    equal(fx.sandbash("--consent=deny", "--quiet", "git", "-C", "store", "config", "core.bare", "true").status, 0)


run_all()
