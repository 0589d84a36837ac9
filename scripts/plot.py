#!/usr/bin/env python3
"""Draws the lane over the blocks of a replayed scenario, as SVG: its basefee, its use, and who waits.

    timerd lab replay FILE.json > FILE.jsonl
    scripts/plot.py FILE.jsonl --lane-timer-cycles 200000 > lane.svg

Without arguments it redraws the plots of the documentation from the golden output of their scenarios; with --check it
reports whether they are what it would draw. It needs only Python.
"""

import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "lab" / "testdata" / "scenarios"
DOCS = {ROOT / "x" / "timers" / "docs" / "use" / "market.svg": SCENARIOS / "market_congestion_and_recovery"}

WIDTH, LEFT, RIGHT, PANEL, GAP = 720, 76, 14, 96, 40
INK, MUTED, GRID, LINE, BAR = "#222", "#666", "#ddd", "#b3402a", "#4a78a8"


def number(value):
    """Six significant digits, without an exponent or needless zeros."""
    text = f"{value:.6g}"
    return text if "e" not in text else f"{value:.9f}".rstrip("0")


class Panel:
    """One plot among several below each other, over the same blocks."""

    def __init__(self, index, title, blocks, top):
        self.y0 = GAP + index * (PANEL + GAP)
        self.blocks, self.top = blocks, top or 1
        self.parts = [f'<text x="{LEFT}" y="{self.y0 - 8}" fill="{INK}" font-weight="bold">{title}</text>']
        for share in (0, 0.5, 1):
            y = self.y(share * self.top)
            self.parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GRID}"/>')
            self.parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" fill="{MUTED}" text-anchor="end">{number(share * self.top)}</text>')

    def x(self, i):
        return LEFT + (WIDTH - LEFT - RIGHT) * (i + 0.5) / self.blocks

    def y(self, value):
        return self.y0 + PANEL * (1 - value / self.top)

    def bars(self, values):
        width = (WIDTH - LEFT - RIGHT) / self.blocks * 0.8
        for i, value in enumerate(values):
            if value:
                self.parts.append(
                    f'<rect x="{self.x(i) - width / 2:.1f}" y="{self.y(value):.1f}" width="{width:.1f}" '
                    f'height="{self.y(0) - self.y(value):.1f}" fill="{BAR}"/>')

    def line(self, values):
        points = " ".join(f"{self.x(i):.1f},{self.y(value):.1f}" for i, value in enumerate(values))
        self.parts.append(f'<polyline points="{points}" fill="none" stroke="{LINE}" stroke-width="2"/>')

    def level(self, value, label):
        y = self.y(value)
        self.parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{MUTED}" stroke-dasharray="4 3"/>')
        self.parts.append(f'<text x="{WIDTH - RIGHT}" y="{y - 4:.1f}" fill="{MUTED}" text-anchor="end">{label}</text>')


def draw(lines, capacity, target):
    """The SVG of a scenario's lines."""
    n = len(lines)
    basefees = [float(line["lane_basefee"]) for line in lines]
    ready = [line["ready"] for line in lines]
    price = Panel(0, "lane basefee, fee denom per cycle", n, max(basefees))
    price.line(basefees)
    use = Panel(1, "use of the lane", n, 1)
    use.bars([line["cycles"] / capacity for line in lines])
    use.level(target, "target")
    waiting = Panel(2, "ready timers that wait after the block", n, max(ready))
    waiting.bars(ready)
    height = GAP + 3 * (PANEL + GAP)
    ticks = [
        f'<text x="{waiting.x(i):.1f}" y="{height - 20}" fill="{MUTED}" text-anchor="middle">{line["height"]}</text>'
        for i, line in enumerate(lines) if line["height"] % max(1, -(-n // 16)) == 0]
    body = "\n".join(price.parts + use.parts + waiting.parts + ticks)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">\n'
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>\n{body}\n'
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{height - 5}" fill="{MUTED}" text-anchor="middle">block</text>\n</svg>\n')


def read(path):
    lines = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
    if not lines:
        sys.exit(f"{path} has no lines: want the output of timerd lab replay")
    return lines


def of_docs(scenario):
    config = json.loads(scenario.with_suffix(".json").read_text())["config"]
    lines = read(scenario.with_suffix(".golden.jsonl"))
    return draw(lines, int(config["lane_timer_cycles"]), float(config.get("eip1559", {}).get("target", 0.5)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", help="output of timerd lab replay")
    parser.add_argument("--lane-timer-cycles", type=int, default=2_000_000, help="the lane of the scenario")
    parser.add_argument("--target", type=float, default=0.5, help="its target")
    parser.add_argument("--check", action="store_true", help="compare the plots of the documentation")
    args = parser.parse_args()
    if args.file:
        sys.stdout.write(draw(read(args.file), args.lane_timer_cycles, args.target))
        return
    for path, scenario in DOCS.items():
        svg = of_docs(scenario)
        if not args.check:
            path.write_text(svg)
        elif not path.exists() or path.read_text() != svg:
            sys.exit(f"{path.relative_to(ROOT)} is not what its scenario shows: run scripts/plot.py")


if __name__ == "__main__":
    main()
