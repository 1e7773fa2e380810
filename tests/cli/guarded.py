"""docs/guarded.md has every row of the guard's table, and no other."""

from tap import TOP, check, equal, run_all, test


@test("docs: the table of guarded names is the program's")
def table(fx):
    rows = fx.run(fx.tool("guarded"), "table").stdout
    check(rows.count("\n") > 100, "the table is there")
    text = (TOP / "docs" / "guarded.md").read_text()
    equal(text[text.index("| name | obeyed by |"):], rows,
          "docs/guarded.md (build/tests/guarded table prints what belongs there)")


run_all()
