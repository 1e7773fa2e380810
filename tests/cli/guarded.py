"""docs/guarded.md and docs/git.md have every row of the guard's tables, and no other."""

from tap import TOP, check, contains, equal, lacks, run_all, test


@test("docs: the table of guarded names is the program's")
def table(fx):
    rows = fx.run(fx.tool("guarded"), "table").stdout
    check(rows.count("\n") > 100, "the table is there")
    text = (TOP / "docs" / "guarded.md").read_text()
    equal(text[text.index("| name | obeyed by |"):], rows,
          "docs/guarded.md (build/tests/guarded table prints what belongs there)")


@test("docs: the table of git's own files is the program's")
def git_files(fx):
    rows = fx.run(fx.tool("guarded"), "git").stdout
    check(rows.count("\n") > 100, "the table is there")
    text = (TOP / "docs" / "git.md").read_text()
    start = text.index("| file | read by |")
    equal(text[start:text.index("\n\n", start) + 1], rows,
          "docs/git.md (build/tests/guarded git prints what belongs there)")


@test("docs: the table of names that are told is the program's")
def told(fx):
    rows = fx.run(fx.tool("guarded"), "told").stdout
    check(rows.count("\n") > 20, "the table is there")
    text = (TOP / "docs" / "guarded.md").read_text()
    start = text.index("| told, not asked about |")
    equal(text[start:text.index("\n\n", start) + 1], rows,
          "docs/guarded.md (build/tests/guarded told prints what belongs there)")


@test("a static run says that it does not hold git's other files")
def static(fx):
    contains(fx.sandbash("--static", "--dry-run", "true").stdout, "not git's other state files")
    lacks(fx.sandbash("--dry-run", "true").stdout, "not git's other state files")


run_all()
