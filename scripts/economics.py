#!/usr/bin/env python3
"""Draws the tables of lab/testdata/sims/tables.txt for x/timers/docs/operate/economics.md, and runs the simulations behind them.

    scripts/economics.py                 draw the plots of the tables as they stand
    scripts/economics.py --check         say whether the plots are what it would draw, and whether every simulation is told
    scripts/economics.py run [NAME...]   run simulations with build/timerd, all or these, and write their tables anew

A table stands below the command that made it. Each of its columns becomes a panel with a bar for each variant
and the interval of its mean. It needs only Python.
"""

import pathlib
import re
import subprocess
import sys

from plot import BAR, GRID, INK, LINE, MUTED, ROOT, number

PAGE = ROOT / "x" / "timers" / "docs" / "operate" / "economics.md"
PLOTS = PAGE.parent / "economics"
SIMS = ROOT / "lab" / "testdata" / "sims"
TABLES = SIMS / "tables.txt"
TABLE = re.compile(r"(`timerd lab run lab/testdata/sims/(?P<name>\w+)\.json`\n\n)(?P<table>(?:\|[^\n]*\n)+)")

COLUMNS, NAMES, PANEL, GAP, ROW, TOP = 3, 200, 200, 24, 16, 30


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def read(table):
    """The measures of a table, and for each variant its name and the means with the halves of their intervals."""
    head, _, *lines = table.strip().splitlines()
    rows = []
    for line in lines:
        name, *values = cells(line)
        rows.append((name, [tuple(float(part) for part in value.split(" ± ")) for value in values]))
    return cells(head)[1:], rows


def panel(left, top, title, values):
    """A bar for each value, to both sides of zero where some are below it."""
    low = min(0, min(mean - half for mean, half in values))
    high = max(0, max(mean + half for mean, half in values))
    scale = PANEL / ((high - low) or 1)
    zero = left - low * scale
    parts = [
        f'<text x="{left}" y="{top - 6}" fill="{INK}" font-weight="bold">{title}</text>',
        f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="{top}" y2="{top + ROW * len(values)}" stroke="{GRID}"/>']
    for row, (mean, half) in enumerate(values):
        y = top + ROW * row
        at = zero + mean * scale
        parts.append(f'<rect x="{min(zero, at):.1f}" y="{y + 2}" width="{abs(at - zero):.1f}" height="{ROW - 5}" fill="{BAR}"/>')
        parts.append(
            f'<line x1="{at - half * scale:.1f}" x2="{at + half * scale:.1f}" y1="{y + ROW / 2 - 0.5}" y2="{y + ROW / 2 - 0.5}" '
            f'stroke="{LINE}" stroke-width="2"/>')
    parts.append(f'<text x="{left + PANEL}" y="{top + ROW * len(values) + 10}" fill="{MUTED}" text-anchor="end">{number(high)}</text>')
    return parts


def draw(measures, rows):
    columns = min(COLUMNS, len(measures))
    tall = TOP + ROW * len(rows) + 16
    width, height = NAMES + columns * (PANEL + GAP), tall * -(-len(measures) // columns)
    parts = []
    for i, measure in enumerate(measures):
        left, top = NAMES + i % columns * (PANEL + GAP), i // columns * tall + TOP
        if i % columns == 0:
            parts += [
                f'<text x="{NAMES - 8}" y="{top + ROW * row + 12}" fill="{INK}" text-anchor="end">{name}</text>'
                for row, (name, _) in enumerate(rows)]
        parts += panel(left, top, measure, [values[i] for _, values in rows])
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">\n'
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n{body}\n</svg>\n')


def simulate(name):
    print(f"{name} ...", file=sys.stderr)
    out = subprocess.run(
        [ROOT / "build" / "timerd", "lab", "run", "--quiet", SIMS / f"{name}.json"], check=True, capture_output=True, text=True).stdout
    return out.split("\n\n", 1)[1]


def tables(text, names):
    """The tables with those of these simulations run again, and what the plots of all are."""
    plots = {}

    def replace(found):
        name, table = found["name"], found["table"]
        if name in names:
            table = simulate(name)
        plots[name] = draw(*read(table))
        return f"{found[1]}{table}"

    return TABLE.sub(replace, text), plots


def main():
    sims = sorted(path.stem for path in SIMS.glob("*.json"))
    command, *names = sys.argv[1:] or [""]
    if command not in ("", "--check", "run"):
        sys.exit(__doc__)
    if unknown := set(names) - set(sims):
        sys.exit(f"no simulation {', '.join(sorted(unknown))}: want of {', '.join(sims)}")
    text, plots = tables(TABLES.read_text(), (names or sims) if command == "run" else [])
    if missing := set(sims) - set(plots):
        sys.exit(f"{TABLES.relative_to(ROOT)} has no table of {', '.join(sorted(missing))}")
    page = PAGE.read_text()
    if untold := [name for name in sims if f"lab/testdata/sims/{name}.json`" not in page or f"](economics/{name}.svg)" not in page]:
        sys.exit(f"{PAGE.relative_to(ROOT)} does not tell of {', '.join(untold)}")
    files = {TABLES: text} | {PLOTS / f"{name}.svg": svg for name, svg in plots.items()}
    if command == "--check":
        wrong = [path for path, content in files.items() if not path.exists() or path.read_text() != content]
        if wrong or set(PLOTS.iterdir()) != set(files) - {TABLES}:
            sys.exit(f"plots of {PAGE.relative_to(ROOT)} are not what {TABLES.relative_to(ROOT)} says: run scripts/economics.py")
        return
    PLOTS.mkdir(exist_ok=True)
    for path, content in files.items():
        path.write_text(content)


if __name__ == "__main__":
    main()
