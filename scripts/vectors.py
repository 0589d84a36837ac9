#!/usr/bin/env python3
"""Write the test vectors of x/timers, or compare them with what is there: vectors.py [--check]

An implementation of its own of what SPEC sections 2, 5 and 8 define: timer ids, delivery ids, the settlement of a fire,
and the payload convention. It shares nothing with the Go code, not even a hash library: where both agree, they agree on
the specification. Plain Python 3, standard library only.
"""

import base64
import binascii
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


# Ids (SPEC sections 2 and 8).


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


# Settlement (SPEC section 5), in fractions: nothing is rounded but where the specification says so.


def settle(case):
    per_cycle = Fraction(case["basefee"]) + Fraction(case["priority"])
    per_cell = Fraction(case["cell"])
    precharge = math.ceil(case["gas_limit"] * per_cycle + case["max_cells"] * per_cell)
    charged = math.ceil(case["cycles"] * per_cycle + case["cells"] * per_cell)
    tip = math.floor(case["cycles"] * Fraction(case["priority"]))
    return {
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
    fields = ("name", "gas_limit", "max_cells", "cycles", "cells", "basefee", "priority", "cell")
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
        gas_limit, max_cells = 1 + draw.below(2 ** (1 + draw.below(50))), draw.below(2 ** (1 + draw.below(50)))
        prices = [decimal(draw.below(2 ** (1 + draw.below(119)))) for _ in range(3)]
        rows.append((f"drawn {i}", gas_limit, max_cells, draw.below(gas_limit + 1), draw.below(max_cells + 1), *prices))
    cases = [dict(zip(fields, row)) for row in rows]
    return [{**case, **settle(case)} for case in cases]


# The payload convention (SPEC section 2).

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


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    check_keccak()
    stale = []
    for name, cases in (("ids", ids), ("deliver_ids", deliver_ids), ("settlement", settlement), ("payload", payloads)):
        path = VECTORS / f"{name}.json"
        text = json.dumps(cases(), indent=1) + "\n"
        if not arguments:
            VECTORS.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="ascii")
        elif not path.exists() or path.read_text(encoding="ascii") != text:
            stale.append(path.name)
    if stale:
        sys.exit(f"vectors.py: not what this script writes: {', '.join(stale)}")


if __name__ == "__main__":
    main(sys.argv[1:])
