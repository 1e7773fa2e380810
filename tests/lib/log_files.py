"""log_files.py - the files of the record in a test's home, written and read back."""

import json

from tap import equal


def state(fx):
    return fx.home / ".local" / "state" / "sandbash"


def file_of(fx, session):
    return state(fx) / "log" / f"{session}.jsonl"


def write(fx, *words, status=0, directory=None):
    """Write a session; returns its id."""
    result = fx.run(fx.tool("write-events"), directory or state(fx), *words)
    equal(result.status, status, result.stderr)
    return result.stdout.splitlines()[-1]


def log(fx, *words, status=0, **where):
    result = fx.sandbash("--log", *words, **where)
    equal((result.status, result.stderr), (status, ""), str(words))
    return result.stdout.splitlines()


def events(fx, *words, **where):
    """The records that --log prints, as dictionaries."""
    return [json.loads(line) for line in log(fx, "--json", *words, **where)]
