"""built.py - programs of a build tree, for run.py and tap.py."""


def not_there(program):
    """What to say of a program of a build tree (a Path) that nobody has built."""
    tree = next(place for place in program.parents if place.name not in ("tests", "examples"))
    return f"{program.relative_to(tree.parent)} is not there: make test{'' if tree.name.endswith('-asan') else 's'} builds it"
