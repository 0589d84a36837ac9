#!/usr/bin/env python3
"""Compares the five policies on one congestion: who waits how long, who is never served, and who is paid.

The workload is stated once, as what each timer's fire is worth to its owner, and written as one scenario for each policy,
each owner bidding what it is worth in the way that the policy asks for. Their golden output, which the tests of
lab/replay keep current, becomes the table and the plot of x/timers/docs/operate/policies.md.

    scripts/policies.py scenarios          write lab/testdata/scenarios/policies_*.json
    cd lab && go test ./replay -run Golden -update
    scripts/policies.py                    write the table and the plot
    scripts/policies.py --check            say whether all of it is what it would write

It needs only Python.
"""

import json
import pathlib
import random
import sys
from fractions import Fraction

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "lab" / "testdata" / "scenarios"
PAGE = ROOT / "x" / "timers" / "docs" / "operate" / "policies.md"
PLOT = PAGE.with_suffix(".svg")
BEGIN, END = "<!-- table: scripts/policies.py -->", "<!-- end of table -->"

POLICIES = ("fifo", "eip1559", "auction", "score", "tip")
# A fire uses its whole gas limit, so that the lane holds five a block whatever the policy.
LANE, GAS_LIMIT, HANDLER, BLOCKS = 200_000, 40_000, 20_000, 72
CYCLE_BASEFEE = Fraction(1, 1000)
FUNDS = "1000000000"

# Who takes part: accounts, timers of each, first and last height, worth of a fire, and for how many blocks it is worth it.
GROUPS = {
    "whale": {"accounts": 1, "timers": 80, "due": (5, 5), "worth": (200, 200), "lasts": 100},
    "traders": {"accounts": 6, "timers": 9, "due": (5, 36), "worth": (240, 640), "lasts": 12},
    "households": {"accounts": 12, "timers": 6, "due": (5, 36), "worth": (48, 160), "lasts": 30},
    "frugal": {"accounts": 6, "timers": 4, "due": (5, 36), "worth": None, "lasts": 30},
}
COLOURS = {"whale": "#b3402a", "traders": "#4a78a8", "households": "#5b8c5a", "frugal": "#c9a227"}


def workload():
    """The timers in the order in which they are scheduled. Random, and the same each time."""
    rng = random.Random(5)
    timers = []
    for group, g in GROUPS.items():
        for account in range(g["accounts"]):
            actor = group.rstrip("s") + (str(account) if g["accounts"] > 1 else "")
            for i in range(g["timers"]):
                due = rng.randint(*g["due"])
                worth = rng.randint(*g["worth"]) if g["worth"] else 0
                timers.append({"name": f"{actor}_{i:02}", "actor": actor, "due": due, "worth": worth, "until": due + g["lasts"]})
    # Scheduled by due height, shuffled within it, so that no actor is always first by its name.
    rng.shuffle(timers)
    return sorted(timers, key=lambda t: t["due"])


def decimal(value):
    """A fraction with 18 places, rounded down, without needless zeros."""
    whole, parts = divmod(value.numerator * 10**18 // value.denominator, 10**18)
    return f"{whole}.{parts:018}".rstrip("0").rstrip(".")


def bid(policy, worth):
    """The bid that states so much value of a fire in addition to the chain's fee; None selects the default bid."""
    if not worth or policy == "fifo":
        return None
    if policy in ("auction", "score"):
        return str(worth)
    per_cycle = Fraction(worth, GAS_LIMIT)
    # Under tip the max fee covers the chain's basefee too, under eip1559 the lane's, which is charged on top.
    most = per_cycle + CYCLE_BASEFEE if policy == "tip" else per_cycle
    return {"max_fee": decimal(most), "max_priority": decimal(per_cycle)}


def scenario(policy):
    """The text of the policy's scenario file, an op a line."""
    ops = []
    for t in workload():
        op = {"at": 1, "op": "schedule", "as": t["name"], "actor": t["actor"], "height": t["due"], "gas_limit": GAS_LIMIT,
              "expires_at": t["until"], "do": {"cycles": HANDLER}}
        price = bid(policy, t["worth"])
        if price is not None:
            op["bid"] = price
        ops.append(op)
    # What is worth something for a few blocks is scheduled a few blocks ahead: at the first block it would be a price of
    # that day.
    for op in ops:
        op["at"] = max(1, op["height"] - 4)
    head = {
        # The lane holds few fires, so that few accounts fill it: eip1559 refuses that outside of labs.
        **({"no_headroom": True} if policy == "eip1559" else {}),
        "config": {"policy": policy, "lane_timer_cycles": LANE, "max_cycles_per_fire": LANE,
                   "eip1559": {"max_cycles_per_fire_auction": LANE}},
        "accounts": {actor: FUNDS for actor in sorted({op["actor"] for op in ops})},
        "blocks": BLOCKS,
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    lines.append('  "ops": [')
    lines.append(",\n".join(f"    {json.dumps(op)}" for op in ops))
    return "{\n" + "\n".join(lines) + "\n  ]\n}\n"


def results(policy):
    """What became of each timer: when it fired, or None, and what was paid for it."""
    path = SCENARIOS / f"policies_{policy}.golden.jsonl"
    if not path.exists():
        sys.exit(f"{path.relative_to(ROOT)} is missing: cd lab && go test ./replay -run Golden -update")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    fired = {f["timer"]: (line["height"], int(f["paid"]) + int(f.get("bid_paid", 0)))
             for line in lines for f in line["fired"]}
    rejected = sum(len(line["rejected"]) for line in lines)
    return fired, lines[-1], rejected


def quantile(values, share):
    """The smallest value that so large a share of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)] if ordered else None


def group_of(actor):
    return next(group for group in GROUPS if actor.startswith(group.rstrip("s")))


def compare():
    """A row for each policy: by group the waits of those served, and how many were not; then who was paid."""
    rows = {}
    for policy in POLICIES:
        fired, last, rejected = results(policy)
        groups = {group: {"waits": [], "lost": 0, "paid": 0, "worth": 0} for group in GROUPS}
        for t in workload():
            g = groups[group_of(t["actor"])]
            if t["name"] not in fired:
                g["lost"] += 1
                continue
            height, paid = fired[t["name"]]
            g["waits"].append(height - t["due"])
            g["paid"] += paid
            g["worth"] += t["worth"]
        rows[policy] = {"groups": groups, "burned": int(last["burned"]), "tips": int(last["tips"]), "rejected": rejected}
    return rows


def table(rows):
    """Markdown: the waits and the money."""
    out = ["| policy | " + " | ".join(f"{group}: wait, worst, unserved" for group in GROUPS) + " | worth served | burned | to proposers |",
           "|---|" + "---|" * len(GROUPS) + "--:|--:|--:|"]
    for policy, row in rows.items():
        cells = []
        for g in row["groups"].values():
            if g["waits"]:
                cells.append(f"{quantile(g['waits'], 50)}, {max(g['waits'])}, {g['lost']} of {g['lost'] + len(g['waits'])}")
            else:
                cells.append(f"–, –, {g['lost']} of {g['lost']}")
        worth = sum(g["worth"] for g in row["groups"].values())
        cells += [f"{worth:,}", f"{row['burned']:,}", f"{row['tips']:,}"]
        out.append(f"| `{policy}` | " + " | ".join(cells) + " |")
    return "\n".join(out)


WIDTH, LEFT, RIGHT, PANEL, GAP = 720, 60, 14, 130, 46
INK, MUTED, GRID = "#222", "#666", "#ddd"


def plot(rows):
    """SVG: for each policy and group a bar up to the median wait, a whisker up to the worst, and who was not served."""
    top = max(wait for row in rows.values() for g in row["groups"].values() for wait in g["waits"])
    parts = []

    def text(x, y, body, anchor="middle", fill=MUTED, weight="normal"):
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" text-anchor="{anchor}" font-weight="{weight}">{body}</text>')

    def panel(index, title, most):
        y0 = GAP + 16 + index * (PANEL + GAP)
        text(LEFT, y0 - 8, title, "start", INK, "bold")
        for share in (0, 0.5, 1):
            y = y0 + PANEL * (1 - share)
            parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GRID}"/>')
            text(LEFT - 6, y + 4, f"{most * share:g}", "end")
        return lambda value: y0 + PANEL * (1 - value / most)

    waits = panel(0, "wait in blocks: bar to the median, line to the worst", top)
    lost = panel(1, "never served, per cent", 100)
    slot = (WIDTH - LEFT - RIGHT) / len(rows)
    width = slot / (len(GROUPS) + 1)
    for i, (policy, row) in enumerate(rows.items()):
        for j, (group, g) in enumerate(row["groups"].items()):
            x = LEFT + i * slot + (j + 0.5) * width
            middle = x + width * 0.4
            if g["waits"]:
                median = quantile(g["waits"], 50)
                parts.append(f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="{waits(max(g["waits"])):.1f}" y2="{waits(0):.1f}" stroke="{COLOURS[group]}" stroke-width="2"/>')
                parts.append(f'<rect x="{x:.1f}" y="{waits(median):.1f}" width="{width * 0.8:.1f}" height="{waits(0) - waits(median):.1f}" fill="{COLOURS[group]}"/>')
            share = 100 * g["lost"] / (g["lost"] + len(g["waits"]))
            parts.append(f'<rect x="{x:.1f}" y="{lost(share):.1f}" width="{width * 0.8:.1f}" height="{lost(0) - lost(share):.1f}" fill="{COLOURS[group]}"/>')
        text(LEFT + (i + 0.5) * slot, GAP + 16 + 2 * (PANEL + GAP) - GAP + 18, policy, fill=INK)
    for j, group in enumerate(GROUPS):
        parts.append(f'<rect x="{LEFT + j * 130}" y="10" width="12" height="12" fill="{COLOURS[group]}"/>')
        text(LEFT + j * 130 + 18, 20, group, "start", INK)
    height = GAP + 16 + 2 * (PANEL + GAP) - GAP + 32
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">\n'
            f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>\n{body}\n</svg>\n')


def page(rows):
    """The page with the table of today in its place."""
    before, rest = PAGE.read_text().split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table(rows)}\n{END}{after}"


def main():
    args = sys.argv[1:]
    if args not in ([], ["scenarios"], ["--check"]):
        sys.exit(__doc__)
    files = {SCENARIOS / f"policies_{policy}.json": scenario(policy) for policy in POLICIES}
    if args != ["scenarios"]:
        rows = compare()
        drawn = {PAGE: page(rows), PLOT: plot(rows)}
        files = {**files, **drawn} if args else drawn
    for path, content in files.items():
        if args != ["--check"]:
            path.write_text(content)
        elif not path.exists() or path.read_text() != content:
            sys.exit(f"{path.relative_to(ROOT)} is not what its sources make: run scripts/policies.py, see there")


if __name__ == "__main__":
    main()
