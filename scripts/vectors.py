#!/usr/bin/env python3
"""Write the test vectors of x/timers, or compare them with what is there: vectors.py [--check]

An independent implementation of what x/timers/README.md and x/timers/docs/use/market.md define: timer ids, delivery ids, the
settlement of a fire, the lane basefee, bids and their order, the auction, fairness, the weights of policy tip, and the
payload convention. It shares no code with the Go implementation, not even a hash library: where both agree, they agree on
the specification. Plain Python 3, standard library only.
"""

import base64
import binascii
import decimal as dec
import functools
import json
import math
import pathlib
import re
import sys
from fractions import Fraction

VECTORS = pathlib.Path(__file__).resolve().parent.parent / "x" / "timers" / "testdata" / "vectors"
MAX_U32, MAX_U64 = 2**32 - 1, 2**64 - 1

# Keccak-f[1600] and keccak256 with the padding from before SHA-3 (0x01, not 0x06).

LANE = MAX_U64
RATE = 136


def round_constants():
    """The 24 iota constants, from the degree-8 LFSR that defines them."""
    constants, register = [], 1
    for _ in range(24):
        constant = 0
        for j in range(7):
            if register & 1:
                constant |= 1 << ((1 << j) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        constants.append(constant)
    return constants


ROUNDS = round_constants()


def rotate(lane, by):
    by %= 64
    return ((lane << by) | (lane >> (64 - by))) & LANE


def keccak_f(a):
    """One permutation of the state a[x][y]."""
    for constant in ROUNDS:
        c = [a[x][0] ^ a[x][1] ^ a[x][2] ^ a[x][3] ^ a[x][4] for x in range(5)]
        d = [c[(x - 1) % 5] ^ rotate(c[(x + 1) % 5], 1) for x in range(5)]
        a = [[a[x][y] ^ d[x] for y in range(5)] for x in range(5)]
        x, y, current = 1, 0, a[1][0]
        for t in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            current, a[x][y] = a[x][y], rotate(current, (t + 1) * (t + 2) // 2)
        a = [[a[x][y] ^ (~a[(x + 1) % 5][y] & a[(x + 2) % 5][y]) for y in range(5)] for x in range(5)]
        a[0][0] ^= constant
    return a


def keccak256(message):
    padded = bytearray(message) + b"\x01"
    padded += bytes(-len(padded) % RATE)
    padded[-1] |= 0x80
    a = [[0] * 5 for _ in range(5)]
    for start in range(0, len(padded), RATE):
        for i in range(RATE // 8):
            word = padded[start + 8 * i : start + 8 * i + 8]
            a[i % 5][i // 5] ^= int.from_bytes(word, "little")
        a = keccak_f(a)
    return b"".join(a[i % 5][i // 5].to_bytes(8, "little") for i in range(4))


def check_keccak():
    """Published digests: a mistake here must not pass as a vector."""
    for message, digest in (
        (b"", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"),
        (b"abc", "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"),
        (b"transfer(address,uint256)", "a9059cbb2ab09eb219583f4a59a5d0623ade346d962bcd4e46b11da047c9049b"),
    ):
        if keccak256(message).hex() != digest:
            sys.exit(f"vectors.py: keccak256({message!r}) is wrong")


class Draw:
    """Numbers that look random and are the same everywhere and always."""

    def __init__(self, seed):
        self.seed, self.count = seed.encode(), 0

    def bytes(self, n):
        out = b""
        while len(out) < n:
            out += keccak256(self.seed + self.count.to_bytes(8, "big"))
            self.count += 1
        return out[:n]

    def below(self, n):
        return int.from_bytes(self.bytes(16), "big") % n


# Ids (x/timers/README.md, "1.2 Timer" and "1.12 Delivery").


def timer_id(actor, height, payload, nonce):
    return keccak256(actor + height.to_bytes(8, "big") + payload + nonce.to_bytes(8, "big"))


def deliver_id(height, parent_app_hash, timer, fire_seq):
    return keccak256(height.to_bytes(8, "big") + parent_app_hash + timer + fire_seq.to_bytes(4, "big"))


def ids():
    account, contract = bytes(range(20)), bytes(range(32))
    cases = [
        ("an account, nothing to say", account, 1, b"", 1),
        ("a contract, nothing to say", contract, 1, b"", 1),
        ("all zero", bytes(20), 0, b"", 0),
        ("the highest height and nonce", b"\xff" * 32, MAX_U64, b"\xff", MAX_U64),
        ("a height of one byte more", account, 256, b"x", 1),
        ("the same bytes cut elsewhere, first", account, 0x6161616161616161, b"", 7),
        ("the same bytes cut elsewhere, second", account + b"aaaaaaaa", 7, b"", 7),
        ("text", account, 4242, "grüße, 世界".encode(), 99),
        ("a zero byte in front", account, 5, b"\x00payload", 6),
        ("a zero byte behind", account, 5, b"payload\x00", 6),
    ]
    # Around the ends of one and of two blocks of the hash.
    for blocks in (1, 2):
        for off in (-2, -1, 0, 1):
            size = blocks * RATE + off - 36
            cases.append((f"{size + 36} bytes in all", account, 1_000_000, b"p" * size, 12))
    draw = Draw("timer ids")
    for i in range(48):
        actor = draw.bytes((20, 32, 1 + draw.below(255))[i % 3])
        payload = draw.bytes(draw.below(700))
        cases.append((f"drawn {i}", actor, draw.below(2 ** (1 + draw.below(64))), payload, draw.below(2 ** (1 + draw.below(64)))))
    return [
        {
            "name": name,
            "actor": actor.hex(),
            "height": height,
            "payload": payload.hex(),
            "nonce": nonce,
            "id": timer_id(actor, height, payload, nonce).hex(),
        }
        for name, actor, height, payload, nonce in cases
    ]


def deliver_ids():
    one, zero = bytes(range(32)), bytes(32)
    cases = [
        ("the first delivery of a chain without a parent", 1, b"", one, 0),
        ("all zero", 0, zero, zero, 0),
        ("everything at its most", MAX_U64, b"\xff" * 32, b"\xff" * 32, MAX_U32),
        ("a second delivery", 77, keccak256(b"app"), one, 1),
        ("a parent hash of 20 bytes", 77, bytes(range(20)), one, 1),
    ]
    draw = Draw("deliver ids")
    for i in range(32):
        cases.append((f"drawn {i}", draw.below(2 ** (1 + draw.below(64))), draw.bytes(32), draw.bytes(32), draw.below(2 ** (1 + draw.below(32)))))
    return [
        {
            "name": name,
            "height": height,
            "parent_app_hash": parent.hex(),
            "timer_id": timer.hex(),
            "fire_seq": seq,
            "deliver_id": deliver_id(height, parent, timer, seq).hex(),
        }
        for name, height, parent, timer, seq in cases
    ]


# Settlement (x/timers/README.md, "5.2 Settlement"), in fractions: rounded only where that section says so.


def size(case, cycles, cells):
    """The share of the lane, in cycles: of the resource of which it is larger."""
    return max(cycles, math.floor(Fraction(cells) * case["lane_cycles"] / case["lane_cells"]))


def settle(case):
    once = int(case.get("once", 0))

    def cost(cycles, cells):
        per_size = Fraction(case["fee"]) + Fraction(case["priority"])
        chain = cycles * Fraction(case["basefee"]) + cells * Fraction(case["cell"])
        return math.ceil(chain + size(case, cycles, cells) * per_size) + once

    precharge, charged = cost(case["gas_limit"], case["cell_limit"]), cost(case["cycles"], case["cells"])
    used = size(case, case["cycles"], case["cells"])
    tip = math.floor(used * Fraction(case["priority"])) + once
    return {
        "lane_burned": str(math.floor(used * Fraction(case["fee"]))),
        "precharge": str(precharge),
        "charged": str(charged),
        "tip": str(tip),
        "burned": str(charged - tip),
        "refund": str(precharge - charged),
    }


def decimal(units):
    """A number of 10^-18 as people write it."""
    whole, rest = divmod(units, 10**18)
    digits = f"{rest:018}".rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)


def settlement():
    fields = ("name", "gas_limit", "cell_limit", "cycles", "cells", "basefee", "priority", "cell")
    smallest, largest = "0.000000000000000001", "1000000000000000000"
    most = 2**50
    rows = [
        ("the defaults, all used", 550_000, 550_000, 550_000, 550_000, "0.001", "0", "0.03"),
        ("the defaults, half used", 550_000, 550_000, 275_001, 275_001, "0.001", "0", "0.03"),
        ("the defaults, intrinsic cycles alone", 550_000, 550_000, 20_000, 0, "0.001", "0", "0.03"),
        ("the smallest gas limit", 40_000, 550_000, 39_999, 1, "0.001", "0", "0.03"),
        ("nothing costs anything", 40_000, 10, 40_000, 10, "0", "0", "0"),
        ("a tip and nothing else", 40_000, 10, 30_001, 10, "0", "0.5", "0"),
        ("a tip below one unit", 40_000, 10, 3, 0, "0", "0.3", "0"),
        ("a tip of a unit less its smallest part", 40_000, 0, 1, 0, "0", "0.999999999999999999", "0"),
        ("cells alone", 40_000, 7, 20_000, 3, "0", "0", "0.333333333333333333"),
        ("the smallest price, one cycle", 40_000, 1, 1, 0, smallest, "0", "0"),
        ("the smallest price everywhere", 40_000, 1, 1, 1, smallest, smallest, smallest),
        ("exactly a whole unit", 40_000, 100, 20_000, 100, "0.0005", "0.0005", "0.01"),
        ("a whole unit and the smallest part", 40_000, 100, 20_000, 1, "0.0005", "0.0005", smallest),
        ("two halves that meet", 3, 1, 1, 1, "0.25", "0.25", "0.5"),
        ("thirds that don't meet", 3, 3, 3, 3, "0.111111111111111111", "0.111111111111111111", "0.111111111111111111"),
        ("nothing used", 40_000, 10, 0, 0, "1", "1", "1"),
        ("the largest of everything", most, most, most, most, largest, largest, largest),
        ("the largest prices, one of each", most, most, 1, 1, largest, largest, largest),
        ("the largest units at the smallest prices", most, most, most, most, smallest, smallest, smallest),
        ("a dear lane", 250_000, 550_000, 123_457, 8_191, "12.5", "2.000000000000000007", "0.03"),
    ]
    draw = Draw("settlement")
    for i in range(80):
        gas_limit, cell_limit = 1 + draw.below(2 ** (1 + draw.below(50))), draw.below(2 ** (1 + draw.below(50)))
        prices = [decimal(draw.below(2 ** (1 + draw.below(119)))) for _ in range(3)]
        rows.append((f"drawn {i}", gas_limit, cell_limit, draw.below(gas_limit + 1), draw.below(cell_limit + 1), *prices))
    cases = [with_lane(draw, dict(zip(fields, row))) for row in rows]
    return [{**case, **settle(case)} for case in cases]


def with_lane(draw, case):
    """The same case at a lane fee and a lane of any proportion; the first ones at none, and at the default lane."""
    if not case["name"].startswith("drawn"):
        return {**case, "fee": "0", "lane_cycles": 2_000_000, "lane_cells": 2_000_000}
    lane = {"lane_cycles": 1 + draw.below(2 ** (1 + draw.below(50))), "lane_cells": 1 + draw.below(2 ** (1 + draw.below(50)))}
    # No timer has a cell limit above what the lane holds.
    cell_limit = min(case["cell_limit"], lane["lane_cells"])
    return {**case, "cell_limit": cell_limit, "cells": min(case["cells"], cell_limit), "fee": draw_price(draw), **lane}


def settlement_once():
    """Fires that pay a lump sum for their place in addition to what they use."""
    fields = ("name", "gas_limit", "cell_limit", "cycles", "cells", "basefee", "priority", "cell", "once")
    most, largest = 2**50, "1000000000000000000"
    rows = [
        ("nothing", 40_000, 550_000, 20_000, 0, "0.001", "0", "0.03", 0),
        ("a unit", 40_000, 550_000, 20_000, 0, "0.001", "0", "0.03", 1),
        ("a unit and nothing else", 40_000, 10, 20_000, 0, "0", "0", "0", 1),
        ("a unit and less than one", 40_000, 0, 1, 0, "0.000000000000000001", "0", "0", 1),
        ("beside a tip below one unit", 40_000, 0, 3, 0, "0", "0.3", "0", 7),
        ("the largest bid of policy score", 550_000, 550_000, 123_457, 8_191, "0.001", "0", "0.03", 2**96 - 1),
        ("the largest of everything", most, most, most, most, largest, largest, largest, 2**96 - 1),
    ]
    draw = Draw("settlement once")
    for i in range(40):
        gas_limit, cell_limit = 1 + draw.below(2 ** (1 + draw.below(50))), draw.below(2 ** (1 + draw.below(50)))
        prices = [decimal(draw.below(2 ** (1 + draw.below(119)))) for _ in range(3)]
        once = draw.below(2 ** (1 + draw.below(96)))
        rows.append((f"drawn {i}", gas_limit, cell_limit, draw.below(gas_limit + 1), draw.below(cell_limit + 1), *prices, once))
    cases = [with_lane(draw, dict(zip(fields, row))) for row in rows]
    return [{**case, **settle(case), "once": str(case["once"])} for case in cases]


# The lane's market (x/timers/README.md, "1.7 Policy" and "1.8 Bid"), in fractions. Where a price is a decimal of the
# chain, it is truncated to 18 decimals, towards zero.

UNIT = Fraction(1, 10**18)
SMALLEST, LARGEST = "0.000000000000000001", "1000000000000000000"


def truncated(value):
    return math.trunc(value / UNIT) * UNIT


def written(value):
    """A decimal of the chain as people write it."""
    units = value / UNIT
    if units.denominator != 1 or units < 0:
        sys.exit(f"vectors.py: {value} is not a price")
    return decimal(units.numerator)


def next_basefee(case):
    target, most, last = Fraction(case["target"]), Fraction(case["max_change"]), Fraction(case["last"])
    use = Fraction(min(case["used"], case["capacity"]), case["capacity"])
    if case["max_fires"]:
        use = max(use, Fraction(min(case["fires"], case["max_fires"]), case["max_fires"]))
    deviation = truncated(use) - target
    if case["response"] == "clip":
        change = max(-most, min(most, truncated(deviation / target)))
    else:
        change = truncated(truncated(deviation / (1 - target if deviation > 0 else target)) * most)
    after = truncated(last * (1 + change))
    if after == last and use != target:
        after += UNIT if use > target else -UNIT
    return written(min(Fraction(case["max"]), max(Fraction(case["min"]), after)))


def draw_price(draw):
    """Any size of price is as likely as another, and none at all now and then."""
    return decimal(0 if draw.below(12) == 0 else draw.below(2 ** (1 + draw.below(119))))


def basefees():
    fields = ("name", "response", "capacity", "target", "max_change", "min", "max", "last", "used", "fires", "max_fires")
    usual = (2_000_000, "0.5", "0.125", "0.001", LARGEST)
    rows = []
    for response in ("clip", "linear"):
        for used in (0, 1, 250_000, 875_000, 999_999, 1_000_000, 1_000_001, 1_125_000, 1_500_000, 1_999_999, 2_000_000, 3_000_000, MAX_U64):
            rows.append((f"{response}, {used} cycles of 2,000,000", response, *usual, "0.0123", used))
        rows += [
            (f"{response}, a full lane from nothing", response, 2_000_000, "0.5", "0.125", "0", LARGEST, "0", 2_000_000),
            (f"{response}, an empty lane at nothing", response, 2_000_000, "0.5", "0.125", "0", LARGEST, "0", 0),
            (f"{response}, a full lane from one unit", response, 2_000_000, "0.5", "0.125", "0", LARGEST, SMALLEST, 2_000_000),
            (f"{response}, an empty lane from one unit", response, 2_000_000, "0.5", "0.125", "0", LARGEST, SMALLEST, 0),
            (f"{response}, an empty lane from seven units", response, 2_000_000, "0.5", "0.125", "0", LARGEST, "0.000000000000000007", 0),
            (f"{response}, an empty lane from nine units", response, 2_000_000, "0.5", "0.125", "0", LARGEST, "0.000000000000000009", 0),
            (f"{response}, at the floor", response, *usual, "0.001", 0),
            (f"{response}, a unit above the floor", response, *usual, "0.001000000000000001", 0),
            (f"{response}, below the floor", response, *usual, "0.0005", 1_000_000),
            (f"{response}, at the top", response, *usual, LARGEST, 2_000_000),
            (f"{response}, a unit below the top", response, *usual, "999999999999999999.999999999999999999", 1_000_001),
            (f"{response}, above the top", response, 2_000_000, "0.5", "0.125", "0", "1", "2", 2_000_000),
            (f"{response}, a third that truncates to the target", response, 3, "0.333333333333333333", "0.125", "0", LARGEST, "7", 1),
            (f"{response}, two thirds of that", response, 3, "0.333333333333333333", "0.125", "0", LARGEST, "7", 2),
            (f"{response}, all of that", response, 3, "0.333333333333333333", "0.125", "0", LARGEST, "7", 3),
            (f"{response}, the smallest target", response, 1000, SMALLEST, "0.125", "0", LARGEST, "7", 1),
            (f"{response}, the largest target", response, 1000, "0.999999999999999999", "1", "0", LARGEST, "7", 999),
            (f"{response}, all or nothing, full", response, 1000, "0.7", "1", "0", LARGEST, "7.000000000000000001", 1000),
            (f"{response}, all or nothing, empty", response, 1000, "0.7", "1", "0", LARGEST, "7.000000000000000001", 0),
            (f"{response}, the smallest change", response, 1000, "0.7", SMALLEST, "0", LARGEST, "7.000000000000000001", 1000),
        ]
    draw = Draw("basefee")
    for i in range(120):
        capacity = 1 + draw.below(2 ** (1 + draw.below(50)))
        low, last = draw_price(draw), draw_price(draw)
        high = written(max(Fraction(low), Fraction(LARGEST if i % 4 else draw_price(draw))))
        target, most = decimal(1 + draw.below(10**18 - 1)), decimal(1 + draw.below(10**18))
        rows.append((f"drawn {i}", ("clip", "linear")[i % 2], capacity, target, most, low if i % 3 else "0", high, last, draw.below(capacity + 2)))
    # Most at no cap on fires, others at one.
    for i in range(60):
        max_fires = 1 + draw.below((3, 100, 2**31)[i % 3])
        rows.append((
            f"drawn {i} with a cap", ("clip", "linear")[i % 2], 2_000_000, ("0.5", "0.333333333333333333")[draw.below(2)], "0.125", "0.001",
            LARGEST, draw_price(draw), draw.below(2_000_001), draw.below(2 * max_fires), max_fires,
        ))
    cases = [dict(zip(fields, row if len(row) == len(fields) else (*row, i, 0))) for i, row in enumerate(rows)]
    return [{**case, "next": next_basefee(case)} for case in cases]


TIP_CAP = 10
TIERS = {"economy": "0.8", "standard": "1", "fast": "1.5", "urgent": "2.5"}


def bid_of(ask, prices, tiers):
    """Max fee and max tip per cycle."""
    lane, p50 = Fraction(prices["lane"]), Fraction(prices["p50"])
    if ask["kind"] == "stated":
        return Fraction(ask["max_fee"]), min(Fraction(ask["max_fee"]), Fraction(ask["max_priority"]))
    if ask["kind"] == "estimated":
        return 2 * lane, p50
    tip = min(truncated(p50 * Fraction(tiers[ask["kind"]])), TIP_CAP * lane)
    return 2 * lane + tip, tip


def tip_of(ask, prices, tiers, multiplier):
    """Tip per cycle; None if the ask is priced out."""
    max_fee, max_priority = bid_of(ask, prices, tiers)
    fee = truncated(Fraction(prices["lane"]) * Fraction(multiplier))
    return None if max_fee < fee else min(max_priority, max_fee - fee)


def draw_ask(draw, lane):
    kind = ("estimated", *TIERS, "stated", "stated", "stated", "stated")[draw.below(9)]
    if kind != "stated":
        return {"kind": kind}
    around = int(Fraction(lane) / UNIT)
    fee = (draw.below(2 ** (1 + draw.below(100))), draw.below(2 * around + 2), around + draw.below(5))[draw.below(3)]
    tip = (draw.below(fee + 1), draw.below(4), fee, fee + draw.below(fee + 1))[draw.below(4)]
    return {"kind": "stated", "max_fee": decimal(fee), "max_priority": decimal(tip)}


def order_of(case):
    """Who fires at all, best first: by tip × weight, weight, due, seq."""
    ranks = []
    for i, c in enumerate(case["candidates"]):
        tip = tip_of(c, case, case["tiers"], case["multiplier"])
        if tip is not None:
            ranks.append((-tip * Fraction(c["weight"], 16), -c["weight"], c["due"], c["seq"], i))
    return [rank[-1] for rank in sorted(ranks)]


def market_case(name, lane, p50, multiplier, asks, tiers=None):
    tiers = tiers or TIERS
    prices = {"lane": lane, "p50": p50}
    candidates = []
    for ask, weight, due, seq in asks:
        max_fee, max_priority = bid_of(ask, prices, tiers)
        tip = tip_of(ask, prices, tiers, multiplier)
        candidates.append({
            **ask, "weight": weight, "due": due, "seq": seq,
            "bid_fee": written(max_fee), "bid_priority": written(max_priority),
            "tip": None if tip is None else written(tip),
        })
    case = {"name": name, **prices, "multiplier": multiplier, "tiers": tiers, "candidates": candidates}
    return {**case, "order": order_of(case)}


def stated(fee, tip):
    return {"kind": "stated", "max_fee": fee, "max_priority": tip}


def market():
    kinds = [({"kind": kind}, 16, 5, i) for i, kind in enumerate(("estimated", *TIERS))]
    edge = [
        (stated("1", "0"), 32, 1, 1), (stated("1", "1"), 16, 1, 2), (stated("0.999999999999999999", "0.999999999999999999"), 32, 1, 3),
        (stated("1.000000000000000001", "1"), 16, 2, 4), (stated("1.5", "0.25"), 32, 3, 5), (stated("1.5", "0.5"), 16, 1, 6),
        (stated("9", "0.5"), 16, 1, 7), (stated("9", "0.5"), 16, 0, 8), (stated(LARGEST, LARGEST), 16, 9, 9), (stated("0", "0"), 32, 0, 10),
    ]
    most = {kind: LARGEST for kind in TIERS}
    cases = [
        market_case("nobody", "1", "0", "1", []),
        market_case("the kinds, no tips lately", "0.001", "0", "1", kinds),
        market_case("the kinds, at a usual tip", "0.001", "0.000333333333333333", "1", kinds),
        market_case("the kinds, at the smallest tip", "0.001", SMALLEST, "1", kinds),
        market_case("the kinds, at twice the lane's basefee", "0.001", "0.0007", "2", kinds),
        market_case("the kinds, at a subsidised lane", "0.001", "0.0007", "0.8", kinds),
        market_case("the kinds, at no lane fee", "0.001", "0.0007", "0", kinds),
        market_case("the kinds, at the smallest basefee and twice of it", SMALLEST, "5", "2", kinds),
        market_case("the kinds, at the largest prices", LARGEST, LARGEST, "1", kinds),
        market_case("the kinds, a steep scale", "0.001", "1", "1", kinds, most),
        market_case("at the edge of the fee", "1", "0.1", "1", edge),
        market_case("at the edge of no fee", "1", "0.1", "0", edge),
        market_case("at the edge of a part of the fee", "1.25", "0.1", "0.8", edge),
        market_case("at the edge of twice the fee", "0.5", "0.1", "2", edge),
        market_case("a fee that is truncated", SMALLEST, "0.1", "1.999999999999999999", [(stated(SMALLEST, SMALLEST), 16, 1, 1), (stated("0", "0"), 16, 1, 2)]),
    ]
    draw = Draw("market")
    for i in range(60):
        lane, p50 = decimal(draw.below(2 ** (1 + draw.below(70)))), draw_price(draw)
        multiplier = ("1", "0", "2", "0.8", decimal(draw.below(2 * 10**18 + 1)))[draw.below(5)]
        asks = [
            (draw_ask(draw, lane), 16 + draw.below(17), draw.below((4, 2**63)[draw.below(2)]), seq)
            for seq in range(draw.below(40))
        ]
        cases.append(market_case(f"drawn {i}", lane, p50, multiplier, asks))
    return cases


def fires():
    """What a fire pays under eip1559, from the ask to the refund: section 5 on the prices of sections 6 and 7."""
    rows = [
        ("the defaults", "0.001", "0.03", "0.001", "0", "1", {"kind": "estimated"}, 250_000, 550_000, 123_456, 789),
        ("a tip", "0.001", "0.03", "0.001", "0", "1", stated("0.01", "0.002"), 250_000, 550_000, 123_456, 789),
        ("a tip that the fee cuts off", "0.001", "0.03", "0.009", "0", "1", stated("0.01", "0.002"), 250_000, 550_000, 123_456, 789),
        ("a fee that is just enough", "0.001", "0.03", "0.01", "0", "1", stated("0.01", "0.002"), 250_000, 550_000, 123_456, 789),
        ("a subsidised lane", "0.001", "0.03", "0.01", "0", "0.8", stated("0.01", "0.005"), 250_000, 550_000, 123_456, 789),
        ("a lane without a fee", "0.001", "0.03", "0.01", "0", "0", stated("0.01", "0.005"), 250_000, 550_000, 123_456, 789),
        ("a lane at twice its fee", "0.001", "0.03", "0.01", "0.004", "2", {"kind": "urgent"}, 250_000, 550_000, 250_000, 550_000),
        ("a fast one", "0.001", "0.03", "0.01", "0.004", "1", {"kind": "fast"}, 250_000, 550_000, 200_001, 17),
        ("the largest of everything", LARGEST, LARGEST, LARGEST, LARGEST, "2", stated(LARGEST, LARGEST), 2**50, 2**50, 2**50, 2**50),
        ("the largest that fires", LARGEST, LARGEST, LARGEST, LARGEST, "1", {"kind": "urgent"}, 2**50, 2**50, 2**50, 2**50),
        ("a tip below one unit in all", "0", "0", SMALLEST, "0", "1", stated("0.000001", "0.000001"), 250_000, 0, 250_000, 0),
    ]
    fields = ("name", "cycle", "cell", "lane", "p50", "multiplier", "ask", "gas_limit", "cell_limit", "cycles", "cells")
    draw = Draw("fires")
    for i in range(80):
        lane = decimal(draw.below(2 ** (1 + draw.below(70))))
        gas_limit, cell_limit = 1 + draw.below(2 ** (1 + draw.below(50))), draw.below(2 ** (1 + draw.below(50)))
        multiplier = ("1", "0", "2", "0.8", decimal(draw.below(2 * 10**18 + 1)))[draw.below(5)]
        rows.append((
            f"drawn {i}", draw_price(draw), draw_price(draw), lane, draw_price(draw), multiplier, draw_ask(draw, lane),
            gas_limit, cell_limit, draw.below(gas_limit + 1), draw.below(cell_limit + 1),
        ))
    cases = []
    for case in (dict(zip(fields, row)) for row in rows):
        tip = tip_of(case["ask"], case, TIERS, case["multiplier"])
        fee = truncated(Fraction(case["lane"]) * Fraction(case["multiplier"]))
        prices = {"basefee": case["cycle"], "fee": written(fee), "priority": written(tip or 0)}
        lane = {"lane_cycles": 2**50, "lane_cells": 2**50} if case["cells"] > 2_000_000 else {"lane_cycles": 2_000_000, "lane_cells": 4_000_000}
        lane["lane_cells"] = max(lane["lane_cells"], case["cell_limit"])
        cases.append({**case, "fires": tip is not None, **prices, **lane, **settle({**case, **prices, **lane})})
    return cases


# Policy score (x/timers/docs/use/market.md), in fractions.


def score_of(c, case):
    age = case["height"] - c["due"]
    return Fraction(case["age"]) * age + Fraction(case["bid"]) * int(c["bid"]) - Fraction(case["rank"]) * c["seq"]


def turns(candidates, group):
    """One timer at a time, of the unit that fired least, those of this block included."""
    waiting, fired, out = {}, {}, []
    for i in sorted(group, key=lambda i: (candidates[i]["due"], candidates[i]["seq"])):
        waiting.setdefault(candidates[i]["unit"], []).append(i)
        fired[candidates[i]["unit"]] = candidates[i]["recent"]
    while waiting:
        def place(unit):
            head = candidates[waiting[unit][0]]
            return fired[unit], head["due"], bytes.fromhex(head["actor"]), head["seq"]

        unit = min(waiting, key=place)
        out.append(waiting[unit].pop(0))
        fired[unit] += 1
        if not waiting[unit]:
            del waiting[unit]
    return out


def score_case(name, height, weights, candidates):
    """Candidates are actor, unit, recent fires, bid, due and seq."""
    case = {"name": name, "height": height, **dict(zip(("age", "bid", "rank"), weights))}
    fields = ("actor", "unit", "recent", "bid", "due", "seq")
    candidates = [dict(zip(fields, c)) for c in candidates]
    groups = {}
    for i, c in enumerate(candidates):
        c["bid"] = str(c["bid"])
        score = score_of(c, case)
        groups.setdefault(score, []).append(i)
        c["score"] = str((score / UNIT).numerator)
    order = [i for score in sorted(groups, reverse=True) for i in turns(candidates, groups[score])]
    return {**case, "candidates": candidates, "order": order}


def scores():
    a, b, c = "aa", "bb", "cc"
    usual = ("1", "0.01", "0")
    top = 2**96 - 1
    crowd = [(a, a, 0, 0, 5, seq) for seq in range(1, 6)] + [(b, b, 0, 0, 5, 6), (b, b, 0, 0, 5, 7), (c, c, 1, 0, 5, 8)]
    cases = [
        score_case("nobody", 7, usual, []),
        score_case("age alone", 9, usual, [(a, a, 0, 0, 7, 1), (b, b, 0, 0, 5, 2), (c, c, 0, 0, 9, 3)]),
        score_case("a bid that is worth a block", 9, usual, [(a, a, 0, 100, 8, 1), (b, b, 0, 0, 7, 2), (c, c, 0, 101, 8, 3), (c, c, 0, 99, 8, 4)]),
        score_case("nothing counts", 9, ("0", "0", "0"), crowd + [(c, c, 1, top, 1, 9)]),
        score_case("turns, nobody fired lately but one", 5, usual, crowd),
        score_case("turns of those who share a count", 5, usual, [(a, c, 0, 0, 5, 1), (b, c, 0, 0, 5, 2), (c, c, 0, 0, 5, 3), ("dd", "dd", 1, 0, 5, 4)]),
        score_case("turns catch up", 5, usual, [(a, a, 3, 0, 5, 1)] + [(b, b, 0, 0, 5, seq) for seq in range(2, 8)]),
        score_case("rank decides", 5, ("1", "0.01", "0.5"), crowd),
        score_case("a renewed rank", 6, ("1", "0", "0.000000000000000001"), [(a, a, 0, 0, 5, 9), (b, b, 0, 0, 5, 2), (c, c, 0, 0, 5, 3)]),
        score_case("an equal score of unequal parts", 12, ("1", "0.5", "0.25"), [(a, a, 0, 6, 10, 4), (b, b, 0, 0, 8, 0), (c, c, 0, 2, 8, 4), (c, c, 0, 1, 9, 0)]),
        score_case("an address is bytes", 5, usual, [("ff", "ff", 0, 0, 5, 1), ("0aff", "0aff", 0, 0, 5, 2), ("0a", "0a", 0, 0, 5, 3), ("", "", 0, 0, 5, 4)]),
        score_case("the largest of everything", MAX_U64, ("1000000",) * 3, [
            (a, a, 0, top, MAX_U64, MAX_U64), (b, b, 0, top, 0, 0), (c, c, 0, 0, MAX_U64, MAX_U64), (c, c, 0, 0, 0, MAX_U64), (b, b, 0, 0, MAX_U64, 0)]),
        score_case("the smallest weights", 3, (SMALLEST,) * 3, [(a, a, 0, 1, 2, 1), (b, b, 0, 0, 1, 1), (c, c, 0, 2, 2, 2)]),
    ]
    draw = Draw("score")
    for i in range(90):
        height = 4 + draw.below(2 ** (1 + draw.below(62)))
        weights = tuple(("0", "1", "0.01", "2", decimal(draw.below(10**24 + 1)))[draw.below(5)] for _ in range(3))
        actors = [draw.bytes(1 + draw.below(3)).hex() for _ in range(5)]
        units = {actor: actors[draw.below(5)] if i % 4 == 0 else actor for actor in actors}
        recent = {unit: draw.below((1, 3, 2**40)[draw.below(3)]) for unit in sorted(set(units.values()))}
        seqs = sorted({draw.below((60, 2**63)[i % 2]) for _ in range(draw.below(40))})
        candidates = []
        for seq in seqs:
            actor = actors[draw.below(5)]
            bid = draw.below((2, 300, 2**96)[draw.below(3)])
            candidates.append((actor, units[actor], recent[units[actor]], bid, height - draw.below((1, 4)[draw.below(2)]), seq))
        cases.append(score_case(f"drawn {i}", height, weights, candidates))
    return cases


# Fairness (x/timers/README.md, "1.9 Fairness and agents"). Weights are in sixteenths.


def weight_of(recent, median, low, high):
    exact = Fraction(high, 16) - recent / max(Fraction(1), Fraction(median))
    return math.floor(16 * max(Fraction(low, 16), min(Fraction(high, 16), exact)))


def weights():
    rows = [(f"{recent} fires at a median of {median}", recent, median, 16, 32)
            for recent in (0, 1, 2, 3, 5, 15, 16, 17, 100, 2**32, MAX_U64)
            for median in ("0", "0.5", "1", "1.000000000000000001", "1.5", "3", "16", "16.000000000000000001", "17", "1000000")]
    rows += [
        ("bounds that meet", 0, "5", 16, 16), ("bounds that meet, active", 9, "5", 16, 16), ("nothing at least", 5, "5", 0, 16),
        ("a hair's loss is a sixteenth", 1, "1000000000000000000", 16, 32), ("up to the largest weight", 1, "3", 1, 65535),
        ("the largest of everything", MAX_U64, str(MAX_U64), 0, 65535),
    ]
    draw = Draw("weights")
    for i in range(150):
        median = decimal(draw.below(2 ** (1 + draw.below(90))))
        about = int(3 * Fraction(median)) + 4
        low = draw.below(33)
        rows.append((f"drawn {i}", draw.below(min(MAX_U64, about)), median, low, low + draw.below(65)))
    fields = ("name", "recent", "median", "min", "max")
    return [{**dict(zip(fields, row)), "weight": weight_of(*row[1:])} for row in rows]


def smoothing():
    rows = [("nothing is smoothed", "1", 7, "3.141592653589793238"), ("half", "0.5", 7, "3"), ("the smallest part", SMALLEST, 7, "3.3"),
            ("all but the smallest part", "0.999999999999999999", 7, "3.3"), ("a third", "0.333333333333333333", 10, "0.000000000000000001"),
            ("from nothing", "0.1", 1, "0"), ("to nothing", "0.1", 0, "1"), ("to nothing from the smallest", "0.1", 0, SMALLEST),
            ("the largest", "0.25", MAX_U64, str(MAX_U64))]
    draw = Draw("smoothing")
    for i in range(60):
        rows.append((f"drawn {i}", decimal(1 + draw.below(10**18)), draw.below(2 ** (1 + draw.below(40))), decimal(draw.below(2 ** (1 + draw.below(100))))))
    cases = []
    for name, alpha, median, before in rows:
        a = Fraction(alpha)
        after = truncated(median * a) + truncated(Fraction(before) * (1 - a))
        cases.append({"name": name, "alpha": alpha, "median": median, "before": before, "after": written(after)})
    return cases


def medians():
    """Fires of all units at a time; the median of those that have any, the lower middle of an even number."""
    rows = [("nobody", []), ("nobody active", [0, 0]), ("one", [4]), ("two", [9, 4]), ("three", [9, 4, 1]), ("many alike", [3] * 8 + [1, 9]),
            ("idle ones don't count", [0, 0, 0, 0, 5, 7]), ("the largest", [MAX_U64, 1, MAX_U64])]
    draw = Draw("median")
    for i in range(60):
        most = 1 + draw.below(2 ** (1 + draw.below(8)))
        rows.append((f"drawn {i}", [draw.below(most + 1) for _ in range(draw.below(40))]))
    cases = []
    for name, units in rows:
        active = sorted(fires for fires in units if fires)
        cases.append({"name": name, "fires": units, "median": active[(len(active) - 1) // 2] if active else 0})
    return cases


# Weights under policy tip (x/timers/docs/use/market.md): the score of an epoch's fires, and the weight in the epochs after it.


def mean(total, n):
    return truncated(total / n) if n else Fraction(0)


def tip_weight(case):
    late_blocks, capacity = case["late_blocks"], case["capacity"]
    tip = outcome = lateness = use = Fraction(0)
    fires = 0
    for block in case["blocks"]:
        for fire in block["fires"]:
            paid, usual = Fraction(fire["tip"]), Fraction(fire["p50"])
            tip += truncated(paid / (paid + usual)) if paid + usual else Fraction(1, 2)
            outcome += 1 if fire["success"] else Fraction(1, 2)
            lateness += truncated(Fraction(min(fire["late"], late_blocks), late_blocks))
            fires += 1
        use += truncated(Fraction(min(block["cycles"], capacity), capacity))
    shares = [Fraction(share) for share in case["shares"]]
    parts = (mean(tip, fires), mean(outcome, fires + case["unfunded"]), mean(lateness, fires), 1 - mean(use, len(case["blocks"])))
    score = sum(truncated(share * part) for share, part in zip(shares, parts)) if fires else Fraction(0)

    low, high, neutral, floor = (Fraction(case[name]) for name in ("min", "max", "neutral", "floor"))
    keep, rest = 1 - Fraction(case["decay"]), 1 - Fraction(case["inactivity"])
    weight = min(high, max(low, Fraction(case["weight"])))
    weight = min(high, max(low, truncated(keep * weight) + truncated(Fraction(case["decay"]) * score)))
    if case["starved"]:
        weight = max(weight, floor)
    weights, distance = [written(weight)], weight - neutral
    for _ in range(63):
        # Towards zero, either way.
        distance = truncated(distance * rest) if distance > 0 else -truncated(-distance * rest)
        weights.append(written(neutral + distance))
    weights.append(written(neutral))
    return {"score": written(score), "weights": [weights[i] for i in (0, 1, 2, 10, 63, 64)]}


def tip_weights():
    usual = {
        "decay": "0.2", "min": "0.1", "max": "1", "neutral": "0.5", "floor": "0.75", "inactivity": "0.2",
        "shares": ["0.4", "0.3", "0.1", "0.2"], "late_blocks": 100, "capacity": 2_000_000,
        "weight": "0.5", "unfunded": 0, "starved": False,
    }

    def fire(tip, p50, success, late):
        return {"tip": tip, "p50": p50, "success": success, "late": late}

    good, poor = fire("0.003", "0.001", True, 0), fire("0", "0.001", False, 99)
    rows = [
        ("nothing but want of funds", {"blocks": [], "unfunded": 3}),
        ("nothing but want of funds, at the bottom", {"blocks": [], "unfunded": 1, "weight": "0.1"}),
        ("nobody tips", {"blocks": [{"fires": [fire("0", "0", True, 0)], "cycles": 20_000}]}),
        ("the first to tip", {"blocks": [{"fires": [fire(SMALLEST, "0", True, 0)], "cycles": 20_000}]}),
        ("the best of all", {"blocks": [{"fires": [fire("1", "0", True, 1_000)], "cycles": 0}], "weight": "1"}),
        ("the worst of all", {"blocks": [{"fires": [fire("0", "1", False, 0)], "cycles": 2_000_000}], "weight": "0.1"}),
        ("starved before", {"blocks": [{"fires": [poor], "cycles": 40_000}], "starved": True}),
        ("starved before, and above the floor", {"blocks": [{"fires": [good], "cycles": 40_000}], "starved": True, "weight": "1"}),
        ("some of each", {"blocks": [{"fires": [good, poor], "cycles": 70_000}, {"fires": [poor], "cycles": 1_999_999}], "unfunded": 2}),
        ("the largest prices", {"blocks": [{"fires": [fire(LARGEST, LARGEST, True, 100)], "cycles": 3_000_000}]}),
        ("the next epoch counts alone", {"blocks": [{"fires": [good], "cycles": 3}], "decay": "1", "weight": "0.1"}),
        ("nothing counts", {"blocks": [{"fires": [good], "cycles": 3}], "decay": "0", "weight": "0.1"}),
        ("rest brings back at once", {"blocks": [{"fires": [good], "cycles": 3}], "inactivity": "1"}),
        ("rest brings nothing back, but being forgotten does", {"blocks": [{"fires": [good], "cycles": 3}], "inactivity": "0"}),
        ("a weight from before the bounds were narrowed", {"blocks": [{"fires": [good], "cycles": 3}], "max": "0.6", "floor": "0.6", "weight": "0.9"}),
    ]
    draw = Draw("tip weights")

    def part():
        return draw.below(10**18 + 1)

    for i in range(120):
        low, neutral, floor, high = (decimal(10**15 + n * 999 // 1000) for n in sorted(part() for _ in range(4)))
        if i % 2:
            neutral, floor = floor, neutral
        cuts = sorted(part() for _ in range(3))
        shares = [decimal(n) for n in (cuts[0], cuts[1] - cuts[0], cuts[2] - cuts[1], 10**18 - cuts[2])]
        late_blocks, capacity = 1 + draw.below(300), 1 + draw.below(2 ** (1 + draw.below(50)))
        blocks = [
            {
                "fires": [fire(draw_price(draw), draw_price(draw), draw.below(3) > 0, draw.below(2 * late_blocks)) for _ in range(1 + draw.below(4))],
                "cycles": draw.below(capacity + 2),
            }
            for _ in range(draw.below(5))
        ]
        rows.append((f"drawn {i}", {
            "decay": decimal(part()), "inactivity": decimal(part()), "min": low, "max": high, "neutral": neutral, "floor": floor,
            "shares": shares, "late_blocks": late_blocks, "capacity": capacity, "blocks": blocks, "weight": decimal(part()),
            "unfunded": draw.below(3) if blocks else 1 + draw.below(3), "starved": draw.below(4) == 0,
        }))
    cases = [{"name": name, **usual, **row} for name, row in rows]
    return [{**case, **tip_weight(case)} for case in cases]
# The auction (x/timers/docs/use/auction.md), in fractions, with powers of e that are right to 300 digits and then truncated to 18 decimals.

MOST_EXPONENT = 128
dec.getcontext().prec = 300


@functools.cache
def bias_of(exponent):
    """e^exponent, truncated; an exponent above 128 counts as 128."""
    exponent = min(exponent, Fraction(MOST_EXPONENT))
    power = (dec.Decimal(exponent.numerator) / dec.Decimal(exponent.denominator)).exp()
    return truncated(Fraction(power))


def exponents():
    texts = ["0", SMALLEST, "0.5", "0.999999999999999999", "1", "1.000000000000000001", "2", "3.5", "63.999999999999999999", "64",
             "127", "127.999999999999999999", "128", "128.000000000000000001", "1000000", LARGEST]
    draw = Draw("exponents")
    for i in range(150):
        texts.append(decimal(draw.below((10**18, 10**19, 128 * 10**18, 2 ** (1 + draw.below(67)))[i % 4])))
    return [{"x": x, "exp": written(bias_of(Fraction(x)))} for x in texts]


def auction_place(case, c):
    """Less is better: the aged by age, then worth per gas, then age."""
    exponent = Fraction(case["lambda"]) * max(0, case["height"] - c["due"])
    worth = Fraction(int(c["bid"])) + bias_of(exponent)
    aged = exponent >= MOST_EXPONENT
    return (0 if aged else 1, 0 if aged else -worth / c["size"], c["due"], c["seq"])


def least_bid(case, c, rival):
    """The least whole bid by which c would come before rival, by halving; None if none does."""
    ahead = auction_place(case, rival)
    before = lambda bid: auction_place(case, {**c, "bid": bid}) < ahead
    low, high = 0, 2**256
    if not before(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if before(middle) else (middle + 1, high)
    return low


def auction_case(name, rate, height, reserve, rows):
    candidates = [dict(zip(("bid", "due", "seq", "size"), (str(bid), due, seq, gas))) for bid, due, seq, gas in rows]
    case = {"name": name, "lambda": rate, "height": height, "reserve": str(reserve), "candidates": candidates}
    order = sorted(range(len(candidates)), key=lambda i: auction_place(case, candidates[i]))
    case["order"] = order
    # What each would pay of its bid if the one behind it were the first that did not fit.
    case["payments"] = []
    for i, rival in zip(order, order[1:] + [None]):
        least = 0 if rival is None else least_bid(case, candidates[i], candidates[rival]) or 0
        case["payments"].append(str(min(int(candidates[i]["bid"]), max(reserve, least))))
    return case


def auctions():
    most = 2**96 - 1
    cases = [
        auction_case("nobody", "0.05", 10, 0, []),
        auction_case("one", "0.05", 10, 7, [(100, 10, 1, 200_000)]),
        auction_case("one who bids less than the reserve", "0.05", 10, 7, [(3, 10, 1, 200_000)]),
        auction_case("equal sizes, nobody waits", "0.05", 10, 0, [(5, 10, 1, 50_000), (9, 10, 2, 50_000), (7, 10, 3, 50_000), (9, 10, 4, 50_000)]),
        auction_case("sizes", "0.05", 10, 0, [(100, 10, 1, 50_000), (150, 10, 2, 100_000), (299, 10, 3, 150_000), (1, 10, 4, 1)]),
        auction_case("a tie in worth per gas", "1", 10, 0, [(1, 10, 1, 2), (3, 10, 2, 4), (7, 10, 3, 8), (7, 9, 9, 8)]),
        auction_case("waiting beats a whale", "0.5", 200, 0, [(most, 200, 1, 40_000), (0, 50, 2, 550_000), (0, 60, 3, 550_000), (0, 199, 4, 550_000)]),
        auction_case("the aged", "0.5", 1000, 5, [(most, 1000, 1, 40_000), (0, 744, 2, 550_000), (9, 743, 3, 550_000), (3, 700, 4, 40_000), (0, 745, 5, 1)]),
        auction_case("before it is due", "0.5", 10, 0, [(1, 11, 1, 40_000), (1, 10, 2, 40_000), (0, 2**63, 3, 40_000)]),
        auction_case("the largest of everything", "10", 2**62, most, [(most, 1, 1, 2**50), (most, 2**62, 2, 2**50), (most - 1, 2**62, 3, 1), (0, 2**62 - 12, 4, 2**50)]),
    ]
    draw = Draw("auction")
    for i in range(60):
        height, rows = 1_000 + draw.below(1_000), []
        for seq in range(1 + draw.below(10)):
            bid = (0, draw.below(20), draw.below(2 ** (1 + draw.below(96))))[draw.below(3)]
            gas = (50_000, 40_000 + draw.below(500_000), 1 + draw.below(2 ** (1 + draw.below(50))))[i % 3]
            rows.append((bid, height - draw.below((3, 30, 900)[draw.below(3)]), seq, gas))
        rate = decimal(10**14 + draw.below((10**17, 10**18, 10**19)[i % 3]))
        cases.append(auction_case(f"drawn {i}", rate, height, draw.below(2 ** draw.below(12)), rows))
    return cases


def toward_zero(value):
    return math.trunc(value / UNIT) * UNIT


def next_lambda(case):
    """The control loop of CIP-5 section 9.3, as the parameters' comments have it."""
    low, high, step = (Fraction(case[key]) for key in ("min", "max", "step"))
    rate = max(low, min(high, Fraction(case["lambda"])))
    decay, deferral, blocks = Fraction(case["value_decay"]), Fraction(case["deferral"]), case["blocks"]
    fires = [f for f in case["fires"] if int(f["bid"]) > 0]
    if fires:
        blocks = min(blocks + 1, case["window"])
        lost = sum(truncated(Fraction(int(f["bid"]), f["expires"] - f["due"] + 1)) for f in fires)
        waited = sum(max(0, case["height"] - f["due"]) for f in fires)
        deferral += toward_zero((truncated(Fraction(waited, len(fires))) - deferral) / blocks)

        def growth(rate):
            before, after = truncated(rate * deferral), truncated(rate * (deferral + 1))
            return (bias_of(after), False) if after >= MOST_EXPONENT else (bias_of(after) - bias_of(before), True)

        decay += toward_zero((min(growth(high)[0], truncated(lost / len(fires))) - decay) / blocks)
        holds = lambda rate: growth(rate)[1] and growth(rate)[0] <= decay
        raised = max(low, min(high, truncated(rate * (1 + step))))
        if not holds(rate):
            rate = max(low, min(high, truncated(rate * (1 - step))))
        elif holds(raised):
            rate = raised
    return {"lambda": written(rate), "value_decay": written(decay), "deferral": written(deferral), "blocks": blocks}


def lambdas():
    draw = Draw("lambda")
    cases = []
    for i in range(120):
        height, fires = 2_000, []
        for _ in range(draw.below(5)):
            due = height - draw.below((1, 20, 1_500)[draw.below(3)])
            bid = (0, draw.below(500), draw.below(2 ** (1 + draw.below(96))))[draw.below(3)]
            fires.append({"bid": str(bid), "due": due, "expires": height + draw.below(2 ** (1 + draw.below(22)))})
        low = 10**14 + draw.below(10**17)
        high = low + draw.below(10**18)
        case = {
            "name": f"drawn {i}", "min": decimal(low), "max": decimal(high), "step": decimal(draw.below(5 * 10**17 + 1)),
            "window": 1 + draw.below((1, 10, 1_000)[i % 3]), "height": height,
            "lambda": decimal(low + draw.below(high - low + 1)), "value_decay": decimal(draw.below(2 ** (1 + draw.below(70)))),
            "deferral": decimal(draw.below(2 ** (1 + draw.below(68)))), "blocks": draw.below(1_200), "fires": fires,
        }
        cases.append({**case, "next": next_lambda(case)})
    return cases


# The payload convention (x/timers/README.md, "1.3 Actor").

ALPHABET = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def unwrap(payload):
    """Handler and inner payload, or None for a payload that is delivered as it is."""
    try:
        pairs = json.loads(payload.decode("utf-8"), object_pairs_hook=lambda members: ("object", members))
    except (ValueError, RecursionError):
        return None
    if not (isinstance(pairs, tuple) and pairs[0] == "object"):
        return None
    members = pairs[1]
    if sorted(name for name, _ in members) != ["_handler", "_payload"]:
        return None
    values = dict(members)
    if not all(isinstance(value, str) for value in values.values()):
        return None
    inner = decode_base64(values["_payload"])
    if inner is None:
        return None
    # A JSON string may name half of a surrogate pair, which is no character.
    handler = values["_handler"].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return handler, inner


def decode_base64(text):
    """RFC 4648 section 4 to the letter: padded, nothing but the alphabet (3.3), no stray bits at the end (3.5)."""
    if not ALPHABET.fullmatch(text):
        return None
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        return None
    return data if base64.b64encode(data).decode() == text else None


PAYLOADS = [
    # What the convention covers.
    ("exactly the two members", '{"_handler":"tick","_payload":"aGVsbG8="}'),
    ("the other order", '{"_payload":"aGVsbG8=","_handler":"tick"}'),
    ("whitespace within", ' \t\r\n{ "_handler" : "tick" , "_payload" : "aGVsbG8=" } \n'),
    ("an empty payload", '{"_handler":"tick","_payload":""}'),
    ("an empty handler", '{"_handler":"","_payload":"aGVsbG8="}'),
    ("a handler in another script", '{"_handler":"时钟","_payload":"aGVsbG8="}'),
    ("a handler in escapes", '{"_handler":"\\u65f6\\ud83d\\ude00\\n","_payload":"aGVsbG8="}'),
    ("half a surrogate pair", '{"_handler":"\\ud83d","_payload":"aGVsbG8="}'),
    ("a member's name in escapes", '{"\\u005fhandler":"tick","_payload":"aGVsbG8="}'),
    ("base64 in escapes", '{"_handler":"tick","_payload":"\\u0061GVsbG8\\u003d"}'),
    ("a slash in escapes", '{"_handler":"tick","_payload":"\\/\\/8="}'),
    ("both kinds of base64 signs", '{"_handler":"tick","_payload":"+/+/"}'),
    ("a payload that is wrapped twice", '{"_handler":"a","_payload":"eyJfaGFuZGxlciI6ImIiLCJfcGF5bG9hZCI6IiJ9"}'),
    # What is delivered as it is.
    ("nothing", ""),
    ("whitespace alone", " \n"),
    ("an empty object", "{}"),
    ("text", "hello"),
    ("a JSON string", '"hello"'),
    ("a number", "17"),
    ("null", "null"),
    ("an array of the object", '[{"_handler":"tick","_payload":"aGVsbG8="}]'),
    ("an array of two strings", '["_handler","_payload"]'),
    ("the handler alone", '{"_handler":"tick"}'),
    ("the payload alone", '{"_payload":"aGVsbG8="}'),
    ("the handler twice", '{"_handler":"tick","_handler":"tock"}'),
    ("the payload twice", '{"_payload":"aGVsbG8=","_payload":"aGVsbG8="}'),
    ("the handler twice beside the payload", '{"_handler":"tick","_handler":"tock","_payload":"aGVsbG8="}'),
    ("the payload twice beside the handler", '{"_handler":"tick","_payload":"","_payload":"aGVsbG8="}'),
    ("the handler twice by escapes", '{"_handler":"tick","\\u005fhandler":"tock","_payload":"aGVsbG8="}'),
    ("names in capitals", '{"_HANDLER":"tick","_PAYLOAD":"aGVsbG8="}'),
    ("one name with a capital", '{"_Handler":"tick","_payload":"aGVsbG8="}'),
    ("a name with the long s", '{"_handler":"tick","_payload\\u017f":"aGVsbG8="}'),
    ("names without the underscore", '{"handler":"tick","payload":"aGVsbG8="}'),
    ("a space in a name", '{"_handler ":"tick","_payload":"aGVsbG8="}'),
    ("an extra member", '{"_handler":"tick","_payload":"aGVsbG8=","extra":"x"}'),
    ("an extra member in front", '{"extra":"x","_handler":"tick","_payload":"aGVsbG8="}'),
    ("an extra member that is null", '{"_handler":"tick","_payload":"aGVsbG8=","extra":null}'),
    ("a member with no name", '{"_handler":"tick","_payload":"aGVsbG8=","":""}'),
    ("the object within another", '{"msg":{"_handler":"tick","_payload":"aGVsbG8="}}'),
    ("a handler that is a number", '{"_handler":1,"_payload":"aGVsbG8="}'),
    ("a handler that is null", '{"_handler":null,"_payload":"aGVsbG8="}'),
    ("a handler that is an array", '{"_handler":["tick"],"_payload":"aGVsbG8="}'),
    ("a payload that is an object", '{"_handler":"tick","_payload":{}}'),
    ("a payload that is true", '{"_handler":"tick","_payload":true}'),
    ("a payload that is a number", '{"_handler":"tick","_payload":12}'),
    ("base64 without padding", '{"_handler":"tick","_payload":"aGVsbG8"}'),
    ("base64 with too much padding", '{"_handler":"tick","_payload":"aGVsbG8=="}'),
    ("base64 with padding within", '{"_handler":"tick","_payload":"aGVs=bG8="}'),
    ("padding alone", '{"_handler":"tick","_payload":"===="}'),
    ("base64 with stray bits at its end", '{"_handler":"tick","_payload":"aGVsbG9="}'),
    ("base64 of the URL alphabet", '{"_handler":"tick","_payload":"-_-_"}'),
    ("base64 with a space", '{"_handler":"tick","_payload":"aGVs bG8="}'),
    ("base64 over two lines", '{"_handler":"tick","_payload":"aGVs\\nbG8="}'),
    ("base64 that ends with a line", '{"_handler":"tick","_payload":"aGVsbG8=\\r\\n"}'),
    ("an empty line for base64", '{"_handler":"tick","_payload":"\\n"}'),
    ("text for base64", '{"_handler":"tick","_payload":"hello!"}'),
    ("base64 of two letters", '{"_handler":"tick","_payload":"aG"}'),
    ("text behind", '{"_handler":"tick","_payload":"aGVsbG8="}x'),
    ("a second object behind", '{"_handler":"tick","_payload":"aGVsbG8="}{}'),
    ("a comma behind", '{"_handler":"tick","_payload":"aGVsbG8="},'),
    ("a brace behind", '{"_handler":"tick","_payload":"aGVsbG8="}}'),
    ("a zero byte behind", '{"_handler":"tick","_payload":"aGVsbG8="}\x00'),
    ("a comma before the brace", '{"_handler":"tick","_payload":"aGVsbG8=",}'),
    ("a comma after the brace", '{,"_handler":"tick","_payload":"aGVsbG8="}'),
    ("no comma", '{"_handler":"tick" "_payload":"aGVsbG8="}'),
    ("no colon", '{"_handler" "tick","_payload":"aGVsbG8="}'),
    ("a comma for a colon", '{"_handler","tick","_payload","aGVsbG8="}'),
    ("colons for commas", '{"_handler":"tick":"_payload":"aGVsbG8="}'),
    ("no brace at the end", '{"_handler":"tick","_payload":"aGVsbG8="'),
    ("the wrong bracket at the end", '{"_handler":"tick","_payload":"aGVsbG8="]'),
    ("single quotes", "{'_handler':'tick','_payload':'aGVsbG8='}"),
    ("names without quotes", '{_handler:"tick",_payload:"aGVsbG8="}'),
    ("a comment", '{"_handler":"tick",/* */"_payload":"aGVsbG8="}'),
    ("a line within a string", '{"_handler":"ti\nck","_payload":"aGVsbG8="}'),
    ("an escape that does not exist", '{"_handler":"\\q","_payload":"aGVsbG8="}'),
    ("an escape cut short", '{"_handler":"\\u12","_payload":"aGVsbG8="}'),
    ("a form feed between", '{"_handler":"tick",\f"_payload":"aGVsbG8="}'),
    ("a no-break space in front", '\u00a0{"_handler":"tick","_payload":"aGVsbG8="}'),
    ("a byte order mark", '\ufeff{"_handler":"tick","_payload":"aGVsbG8="}'),
    ("UTF-16", '{"_handler":"tick","_payload":"aGVsbG8="}'.encode("utf-16-le")),
    ("a handler that is not UTF-8", b'{"_handler":"\xff","_payload":"aGVsbG8="}'),
    ("half a character at the end of the handler", b'{"_handler":"ti\xe4\xb8","_payload":"aGVsbG8="}'),
    ("a surrogate as UTF-8", b'{"_handler":"\xed\xa0\xbd","_payload":"aGVsbG8="}'),
    ("a zero byte in an overlong form", b'{"_handler":"\xc0\x80","_payload":"aGVsbG8="}'),
    ("deep nesting", "[" * 600 + "]" * 600),
    ("deep nesting for a handler", '{"_handler":' + "[" * 600 + "]" * 600 + ',"_payload":""}'),
]


def payloads():
    cases = []
    for name, payload in PAYLOADS:
        case = {"name": name}
        if isinstance(payload, str):
            case["payload"] = payload
            payload = payload.encode()
        else:
            case["payload_hex"] = payload.hex()
        found = unwrap(payload)
        case["wrapped"] = found is not None
        if found is not None:
            case["handler"], case["inner"] = found[0], found[1].hex()
        cases.append(case)
    return cases


FILES = {
    "ids": ids,
    "deliver_ids": deliver_ids,
    "settlement": settlement,
    "settlement_once": settlement_once,
    "basefee": basefees,
    "market": market,
    "exp": exponents,
    "auction": auctions,
    "lambda": lambdas,
    "fires": fires,
    "score": scores,
    "weights": weights,
    "smoothing": smoothing,
    "median": medians,
    "tip_weights": tip_weights,
    "payload": payloads,
}


def one_a_line(vectors):
    """A JSON array with one vector a line: a change of one vector is a diff of one line."""
    lines = ",\n".join(json.dumps(vector) for vector in vectors)
    return f"[\n{lines}\n]\n"


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    check_keccak()
    stale = []
    for name, cases in FILES.items():
        path = VECTORS / f"{name}.json"
        text = one_a_line(cases())
        if not arguments:
            VECTORS.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="ascii")
        elif not path.exists() or path.read_text(encoding="ascii") != text:
            stale.append(path.name)
    if stale:
        sys.exit(f"vectors.py: not what this script writes: {', '.join(stale)}")


if __name__ == "__main__":
    main(sys.argv[1:])
