#!/usr/bin/env python3
"""table.py - TAP of the programs of tests/agents, and at its end the table of docs/agents.md.

    { turns.py; screens.py; } | table.py DIRECTORY [FILE]     where the agents are installed

Passes on what it reads.  The last line counts; 1 if a test failed or a program said less than it planned.
FILE gets the table, between its two marks, if none did.
"""

import json
import re
import sys
from pathlib import Path

PACKAGES = {"claude": "@anthropic-ai/claude-code", "codex": "@openai/codex",
            "gemini": "@google/gemini-cli", "opencode": "opencode-ai", "qwen": "@qwen-code/qwen-code"}
MARKS = ("<!-- make test-agents -->\n", "<!-- end -->\n")


def version(place, agent):
    found = Path(place, "node_modules", PACKAGES[agent], "package.json")
    return json.loads(found.read_text())["version"] if found.exists() else "?"


def table(place, agents, rows):
    lines = ["| | " + " | ".join(f"{agent} {version(place, agent)}" for agent in agents) + " |",
             "| --- |" + " --- |" * len(agents)]
    lines += [f"| {name} | " + " | ".join(results.get(agent, "-") for agent in agents) + " |"
              for name, results in rows.items()]
    return "\n".join(lines) + "\n"


def write(path, text):
    whole = path.read_text()
    before, rest = whole.split(MARKS[0])
    path.write_text(before + MARKS[0] + text + MARKS[1] + rest.split(MARKS[1])[1])


def main():
    planned, seen, agents, rows = 0, {"yes": 0, "no": 0, "skipped": 0}, [], {}
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
        if test[2] not in agents:
            agents.append(test[2])
        rows.setdefault(test[3], {})[test[2]] = result
    text = table(sys.argv[1], agents, rows)
    missing = planned - sum(seen.values())
    print(f"\n{text}\n{seen['yes']} passed, {seen['no'] + missing} failed"
          + (f", {seen['skipped']} skipped" if seen["skipped"] else ""))
    if seen["no"] or missing or not planned:
        sys.exit(1)
    if sys.argv[2:]:
        write(Path(sys.argv[2]), text)


main()
