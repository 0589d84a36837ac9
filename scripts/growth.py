#!/usr/bin/env python3
"""Draws the plot of x/timers/docs/operate/growth.md from what the benchmark measured.

    go run ./testutil/bench/cmd/timersbench -million -json -only growth > build/growth.json
    go run ./testutil/bench/cmd/timersbench -json -only layouts -kind eip1559 > build/layouts.json
    scripts/growth.py build/growth.json build/layouts.json

The figures are kept in x/timers/docs/operate/growth.json; those of further runs replace those of the same size and traffic.
Without arguments the plot is drawn anew from them; with --check the script says whether it is what it would draw. It needs only Python.
"""

import json
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "x" / "timers" / "docs" / "operate" / "growth.md"
DATA, PLOT = PAGE.with_suffix(".json"), PAGE.with_suffix(".svg")

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 720, 360, 48, 28, 44
INK, MUTED, GRID = "#222", "#666", "#ddd"
COLOURS = {"model": "#999", "measured": "#222", "module": "#4a78a8"}
LARGEST = 30


def of_growth(point):
    return {"pending": point["pending"], "timers": point["timers_per_block"], "model": round(point["model"], 2),
            "measured": round(point.get("measured", 0), 2)}


def of_layout(row):
    return {"pending": row["mean_pending"], "timers": row["schedules_per_block"], "nodes": round(row["nodes"], 2),
            "bytes": round(row["bytes"]), "worst": round(row["worst_block"], 1)}


def identity(row):
    return row["timers"], row["pending"]


def merged(old, new):
    rows = {identity(row): row for row in old + new}
    return [rows[i] for i in sorted(rows)]


def read(data, files):
    """Adds the benchmark's files to the figures kept."""
    for name in files:
        report = json.loads(pathlib.Path(name).read_text())
        data["growth"] = merged(data["growth"], [of_growth(p) for p in report.get("growth") or []])
        layouts = [of_layout(row) for row in report.get("layouts") or [] if row["name"].startswith("x/timers") and row["name"].endswith("eip1559")]
        data["layouts"] = merged(data["layouts"], layouts)
    return data


def x(pending):
    return LEFT + (WIDTH - LEFT - 150) * (math.log10(pending) - 4) / 5


def y(nodes):
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - nodes / LARGEST)


def text(at_x, at_y, words, anchor="middle", colour=MUTED):
    return f'<text x="{at_x:.1f}" y="{at_y:.1f}" fill="{colour}" text-anchor="{anchor}">{words}</text>'


def draw(data):
    parts = [text(8, 14, "IAVL nodes written for one timer", "start")]
    for nodes in range(0, LARGEST + 1, 5):
        parts.append(f'<line x1="{LEFT}" x2="{x(1e9):.1f}" y1="{y(nodes):.1f}" y2="{y(nodes):.1f}" stroke="{GRID}"/>')
        parts.append(text(LEFT - 6, y(nodes) + 4, nodes, "end"))
    for power in range(4, 10):
        parts.append(text(x(10**power), HEIGHT - BOTTOM + 16, f"{10**power:,}"))
    parts.append(text((LEFT + x(1e9)) / 2, HEIGHT - 10, "pending timers"))
    for timers in sorted({row["timers"] for row in data["growth"]}):
        rows = [row for row in data["growth"] if row["timers"] == timers]
        points = " ".join(f"{x(row['pending']):.1f},{y(row['model']):.1f}" for row in rows)
        dashes = ' stroke-dasharray="5 3"' if timers < 100 else ""
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS["model"]}"{dashes}/>')
        parts.append(text(x(1e9) + 6, y(rows[-1]["model"]) + 4, f"model, {timers} a block", "start", COLOURS["model"]))
        for row in rows:
            if row["measured"]:
                parts.append(dot(row["pending"], row["measured"], COLOURS["measured"], timers))
    for row in data["layouts"]:
        parts.append(dot(row["pending"], row["nodes"], COLOURS["module"], row["timers"]))
    for i, (name, words) in enumerate({"measured": "one key, measured", "module": "x/timers, measured"}.items()):
        at = y(12) + 18 * i
        parts.append(f'<circle cx="{x(1e9) + 12:.1f}" cy="{at - 4:.1f}" r="4" fill="{COLOURS[name]}"/>')
        parts.append(text(x(1e9) + 22, at, words, "start", INK))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>\n{body}\n</svg>\n')


def dot(pending, nodes, colour, timers):
    """A dot of 500 timers a block is full, one of fewer a ring."""
    fill = f'fill="{colour}"' if timers >= 100 else f'fill="#fff" stroke="{colour}" stroke-width="1.5"'
    return f'<circle cx="{x(pending):.1f}" cy="{y(nodes):.1f}" r="4" {fill}/>'


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    if any(a.startswith("-") for a in arguments):
        sys.exit(__doc__)
    data = json.loads(DATA.read_text()) if DATA.exists() else {"growth": [], "layouts": []}
    data = read(data, arguments)
    if "--check" not in sys.argv:
        DATA.write_text(json.dumps(data, indent=1) + "\n")
        PLOT.write_text(draw(data))
    elif not PLOT.exists() or PLOT.read_text() != draw(data):
        sys.exit(f"{PLOT.relative_to(ROOT)} is not what {DATA.name} says: run scripts/growth.py")


if __name__ == "__main__":
    main()
