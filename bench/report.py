"""
report.py - from samples to a table for people and JSON for programs.

A ratio is the quotient of two medians of samples that took turns in one run.  `paired` (JSON
only) is the median of the quotients round by round: far from the ratio, it says that the
machine was restless.
"""
NAMES = ("native", "bwrap", "sandbash")


def percentile(ordered, percent):
    """The smallest sample that `percent` of them do not exceed."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def median(samples):
    ordered = sorted(samples)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def summarise(samples):
    return {"median": round(median(samples), 4), "p95": round(percentile(sorted(samples), 95), 4),
            "n": len(samples)}


def verdict(value, budget):
    """`goal`, `must`, `missed`, or None where there is nothing to compare."""
    if not budget or value is None:
        return None
    return "goal" if value <= budget["goal"] else "must" if value <= budget["must"] else "missed"


def make_row(name, title, unit, budget, samples):
    row = {"name": name, "title": title, "unit": unit, "budget": budget, "ratio": {}, "paired": {}}
    for who in samples:
        row[who] = summarise(samples[who])
    for base in ("native", "bwrap"):
        if base in samples:
            row["ratio"][base] = round(row["sandbash"]["median"] / row[base]["median"], 3)
            row["paired"][base] = round(
                median([a / b for a, b in zip(samples["sandbash"], samples[base])]), 3)
    row["met"] = verdict(row["ratio"].get(budget["against"]) if budget else None, budget)
    return row


def make_decide_row(name, result, budget):
    """One policy decision has no baseline; the slowest shape of path stands for all."""
    worst = max(result["shapes"], key=lambda shape: shape["median_ns"])
    return {"name": name, "title": "decision, %d rules" % result["rules"], "unit": "ns",
            "budget": budget, "ratio": {}, "paired": {}, "shapes": result["shapes"],
            "sandbash": {"median": worst["median_ns"], "p95": worst["p95_ns"], "n": worst["n"]},
            "met": verdict(worst["median_ns"], budget)}


def number(value):
    if value is None:
        return "-"
    return "%.0f" % value if value >= 100 else "%.1f" % value if value >= 10 else "%.2f" % value


VERDICTS = {"goal": "goal met", "must": "must met", "missed": "MISSED"}
LEGEND = """must, goal: at most this ratio to native; for a launch, to bwrap; for a decision, nanoseconds; for memory, MB.
Times are per act: a launch, a file, a fork, the 50 files together, the four git commands together."""


def table(machine, rows, notes):
    """Text for a screen of 100 columns."""
    shape = "%-26s" + " %6s %5s" * 3 + " %5s  %6s %6s  %5s %5s  %s"
    lines = [
        "%s against native and %s" % (machine["sandbash"] or "sandbash",
                                      machine["bubblewrap"] or "no bubblewrap"),
        "%s, %s, %d CPUs, as %s, disk is %s" % (
            machine["kernel"], machine["cpu"], machine["cpus"],
            "root" if machine["uid"] == 0 else "an ordinary user", machine["disk"]),
        "",
        "%-26s %-12s %-12s %-12s %5s  %13s  %s" % ("", " native", "  bwrap", "sandbash", "",
                                                 "sandbash to", "  budget"),
        shape % ("", *("median", "p95") * 3, "n", "native", "bwrap", "must", "goal", ""),
    ]
    for row in rows:
        cells = []
        for who in NAMES:
            cells += [number(row.get(who, {}).get("median")), number(row.get(who, {}).get("p95"))]
        budget = row["budget"] or {}
        lines.append((shape % (
            "%s, %s" % (row["title"], row["unit"]), *cells, row["sandbash"]["n"],
            number(row["ratio"].get("native")), number(row["ratio"].get("bwrap")),
            number(budget.get("must")), number(budget.get("goal")),
            VERDICTS.get(row["met"], ""))))
    lines += ["", LEGEND]
    for row in rows:
        if "shapes" in row:
            lines.append("Decision by path, ns: " + ", ".join(
                "%s %.0f" % (shape["name"], shape["median_ns"]) for shape in row["shapes"]) + ".")
    met = [row["met"] for row in rows]
    lines.append("Of %d budgets, %d reach the goal, %d what they must, %d are missed." % (
        len(met) - met.count(None), met.count("goal"), met.count("must"), met.count("missed")))
    lines += ["note: " + note for note in notes]
    return "\n".join(line.rstrip() for line in lines) + "\n"
