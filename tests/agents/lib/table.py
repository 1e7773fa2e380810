#!/usr/bin/env python3
"""table.py - TAP of the programs of tests/agents, and at its end the table of docs/agents.md.

    { turns.py; screens.py; } | table.py DIRECTORY     where the agents are installed

Passes on what it reads.  The last line counts; 1 if a test failed or a program said less than it planned.
"""

import json
import re
import sys
from pathlib import Path

PACKAGES = {"claude": "@anthropic-ai/claude-code", "codex": "@openai/codex",
            "gemini": "@google/gemini-cli", "opencode": "opencode-ai"}


def version(place, agent):
    found = Path(place, "node_modules", PACKAGES[agent], "package.json")
    return json.loads(found.read_text())["version"] if found.exists() else "?"


def main():
    planned, seen, columns, rows = 0, {"yes": 0, "no": 0, "skipped": 0}, [], {}
    for line in sys.stdin:
        print(line, end="", flush=True)
        plan = re.match(r"1\.\.(\d+)$", line)
        if plan:
            planned += int(plan[1])
        test = re.match(r"(not )?ok \d+ - (\w+): ([^#\n]*?)\s*(# SKIP.*)?$", line)
        if not test:
            continue
        result = "no" if test[1] else "skipped" if test[4] else "yes"
        seen[result] += 1
        if test[3] not in columns:
            columns.append(test[3])
        rows.setdefault(test[2], {})[test[3]] = result
    print("\n| agent | version | " + " | ".join(columns) + " |\n| --- |" + " --- |" * (len(columns) + 1))
    for agent, results in rows.items():
        print(f"| {agent} | {version(sys.argv[1], agent)} | "
              + " | ".join(results.get(column, "-") for column in columns) + " |")
    missing = planned - sum(seen.values())
    print(f"\n{seen['yes']} passed, {seen['no'] + missing} failed"
          + (f", {seen['skipped']} skipped" if seen["skipped"] else ""))
    sys.exit(1 if seen["no"] or missing or not planned else 0)


main()
