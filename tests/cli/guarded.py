"""docs/guarded.md and docs/git.md have every row of the guard's tables, and no other."""

import difflib

from tap import TOP, check, contains, lacks, run_all, test


def same_table(fx, words, page, head, least):
    """The table of a page that begins with head is what build/tests/guarded prints; else, line by line, what is to change."""
    rows = fx.run(fx.tool("guarded"), words).stdout
    fx.history.clear()  # a table of 700 lines, below the few that differ
    check(rows.count("\n") > least, "the table is there")
    text = (TOP / "docs" / page).read_text() + "\n"
    start = text.index(head)
    found = text[start:text.index("\n\n", start) + 1]
    check(found == rows, f"docs/{page} is not what it should be:\n" + "".join(difflib.unified_diff(
        found.splitlines(True), rows.splitlines(True), f"docs/{page}", f"build/tests/guarded {words}", n=1)))


@test("docs: the table of guarded names is the program's")
def table(fx):
    same_table(fx, "table", "guarded.md", "| name | obeyed by |", 100)


@test("docs: the table of git's own files is the program's")
def git_files(fx):
    same_table(fx, "git", "git.md", "| file | read by |", 100)


@test("docs: the table of what the machine obeys is the program's")
def system(fx):
    same_table(fx, "system", "guarded.md", "| of the machine |", 50)


@test("docs: the table of names that are told is the program's")
def told(fx):
    same_table(fx, "told", "guarded.md", "| told, not asked about |", 20)


@test("a static run says that it does not hold git's other files")
def static(fx):
    contains(fx.sandbash("--static", "--dry-run", "true").stdout, "not git's other state files")
    lacks(fx.sandbash("--dry-run", "true").stdout, "not git's other state files")


run_all()
