"""links_in.py - P3: a question says where links lead that come with a directory, and what a yes to a link let in
counts as the name for the rest of the run."""

from person import Person
from tap import check, contains, equal, lacks, run_all, test

BOTH = ("full", "flat")

# what makes the link's way in, its question, the note, the target, a later write that lands without a sandbox
WAYS = {
    "a directory with a link": (
        "mkdir v; ln -s ../data v/tasks.json; mv v .vscode",
        (".vscode",), "a link in it leads out: 'tasks.json' -> '../data'", "data", ".vscode/tasks.json"),
    "a directory with a link to what is not there": (
        "mkdir v; ln -s ../later v/tasks.json; mv v .vscode",
        (".vscode",), "a link in it leads out: 'tasks.json' -> '../later'", "later", ".vscode/tasks.json"),
    "a tree with a link to a directory": (
        "mkdir -p h scripts; ln -s ../scripts h/_; echo true >h/pre-commit; mv h .husky",
        (".husky",), "a link in it leads out: '_' -> '../scripts'", "scripts/pre-push", ".husky/_/pre-push"),
    "a link alone": ("ln -s data .envrc", (".envrc",), "leads to 'data'", "data", ".envrc"),
    "a link that is moved": ("ln -s data x; mv x .envrc", (".envrc",), "leads to 'data'", "data", ".envrc"),
    "a link among the hooks": ("mkdir -p s; ln -s ../../s/pc .git/hooks/pre-commit",
                               ("pre-commit",), "leads to '../../s/pc'", "s/pc", ".git/hooks/pre-commit"),
}
WRITES = ("echo evil >$1", "echo evil >n; mv n $1", "echo evil >n; ln -f n $1", "ln -sf $PWD/n $1")


def way(name):
    make, words, note, target, led = WAYS[name]

    def run(fx):
        fx.git_project()
        writes = "; ".join(f"sh -c '{each}' sh {target} 2>>errors" for each in WRITES)
        script = f"{make} && echo landed=yes; {writes}; echo good >beside; mkdir -p o; echo x >o/tasks.txt; echo end=yes"
        person = Person(fx, "sh", "-c", script, rows=40)
        contains(person.question(*words), note)
        person.press("1")
        person.gone(note)
        asked = 0
        while "end=yes" not in person.term.output:
            person.until(lambda: person.shows() or "end=yes" in person.term.output, "no end")
            if person.shows():
                contains(person.term.screen(), target.rsplit("/", 1)[-1])
                person.term.answer("3")
                asked += 1
        check(asked, "nobody was asked")
        person.end()
        check(fx.path(led).is_symlink() or fx.path(led).parent.is_symlink(), "the link is there")
        check(not fx.exists(target) or "evil" not in fx.path(target).read_text())
        equal(fx.path("beside").read_text(), "good\n")
    return run


for each in WAYS:
    test(f"P3 what {each} leads to asks for the rest of the run", variants=BOTH)(way(each))


@test("P3 control: without the sandbox, and with no link, it lands", variants=("full",))
def control(fx):
    fx.git_project()
    equal(fx.run("sh", "-c", WAYS["a directory with a link"][0] + "; echo evil >data").status, 0)
    equal(fx.path(".vscode/tasks.json").read_text(), "evil\n")
    fx.run("rm", "-rf", ".vscode", "data")
    equal(fx.sandbash("--consent=deny", "sh", "-c", "ln -s data x; echo fine >data; mkdir v; mv v w").status, 0)
    equal(fx.path("data").read_text(), "fine\n")


@test("P3 many links: some are named and the others counted; those that lead within are not named", variants=("full",))
def many(fx):
    fx.git_project()
    script = ("mkdir -p v/in; for i in 1 2 3 4 5 6; do ln -s ../out$i v/l$i; ln -s ../l$i v/in/i$i; done; "
              "ln -s \"$(printf '../e\\\\033[31m')\" v/z; rm v/l6; ln -s l1 v/tasks.json; mv v .vscode")
    person = Person(fx, "sh", "-c", script, rows=50)
    screen = person.question(".vscode")
    contains(screen, "tasks.json")
    equal(screen.count("a link in it leads out: "), 4)
    contains(screen, "2 more links in it lead out")
    lacks(screen, "'in/i1'")
    lacks(person.term.output, "e\033[31m")
    person.term.answer("3")
    person.end()


@test("P3 of two directories that change places the links are named, whichever comes first", variants=("full",))
def exchange(fx):
    for first, second in (("v", ".vscode"), (".vscode", "v")):
        fx.run("sh", "-c", "rm -rf v .vscode; mkdir v .vscode; touch .vscode/x; ln -s ../data v/tasks.json")
        person = Person(fx, "python3", "-c", "import ctypes; "
                        f"ctypes.CDLL(None).renameat2(-100, b'{first}', -100, b'{second}', 2)", rows=40)
        contains(person.question("the two change places"), "'tasks.json' -> '../data'")
        person.term.answer("3")
        person.end()


run_all()
