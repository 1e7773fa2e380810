"""docs/guarded.md and docs/git.md have every row of the guard's tables, and no other."""

from tap import TOP, check, contains, equal, lacks, run_all, test


def same_table(fx, words, page, head, least):
    """The table of a page that begins with head is what build/tests/guarded prints."""
    rows = fx.run(fx.tool("guarded"), words).stdout
    check(rows.count("\n") > least, "the table is there")
    text = (TOP / "docs" / page).read_text() + "\n"
    start = text.index(head)
    equal(text[start:text.index("\n\n", start) + 1], rows,
          f"docs/{page} (build/tests/guarded {words} prints what belongs there)")


@test("docs: the table of guarded names is the program's")
def table(fx):
    same_table(fx, "table", "guarded.md", "| name | obeyed by |", 100)


@test("docs: the table of git's own files is the program's")
def git_files(fx):
    same_table(fx, "git", "git.md", "| file | read by |", 100)


@test("docs: the table of names that are told is the program's")
def told(fx):
    same_table(fx, "told", "guarded.md", "| told, not asked about |", 20)


@test("a static run says that it does not hold git's other files")
def static(fx):
    contains(fx.sandbash("--static", "--dry-run", "true").stdout, "not git's other state files")
    lacks(fx.sandbash("--dry-run", "true").stdout, "not git's other state files")


run_all()
