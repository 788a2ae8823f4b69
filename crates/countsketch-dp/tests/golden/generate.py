#!/usr/bin/env python3
"""Writes the golden byte files of countsketch-dp next to itself. Standard library only, independent of the Rust code.

Each `<name>.bin` is a file of the container format and `<name>.json` what it says. Hashes, rows, bounded users, noise
parameters and checksums are computed here from their definitions, in integers and exact fractions.

Files are append-only once released: a changed one would need a new body version. The script refuses to overwrite with
other bytes, unless `--write` says that the layout has not been released.
"""

import json
import struct
import sys
from fractions import Fraction
from math import exp, isqrt, pi, sqrt
from pathlib import Path

HERE = Path(__file__).parent
M64 = (1 << 64) - 1
M128 = (1 << 128) - 1


# --- hashes -------------------------------------------------------------------------------------------------------

def rotl(x, n):
    return ((x << n) | (x >> (64 - n))) & M64


def siphash(key, data, c, d, wide=False):
    """SipHash-c-d; `wide` gives 16 bytes, else an integer."""
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    if wide:
        v[1] ^= 0xEE

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & M64
            v[1] = rotl(v[1], 13) ^ v[0]
            v[0] = rotl(v[0], 32)
            v[2] = (v[2] + v[3]) & M64
            v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & M64
            v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & M64
            v[1] = rotl(v[1], 17) ^ v[2]
            v[2] = rotl(v[2], 32)

    padded = data + b"\0" * (7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for (m,) in struct.iter_unpack("<Q", padded):
        v[3] ^= m
        rounds(c)
        v[0] ^= m
    v[2] ^= 0xEE if wide else 0xFF
    rounds(d)
    first = v[0] ^ v[1] ^ v[2] ^ v[3]
    if not wide:
        return first
    v[1] ^= 0xDD
    rounds(d)
    return struct.pack("<QQ", first, v[0] ^ v[1] ^ v[2] ^ v[3])


DEFAULT_KEY = b"dpsketch-default"


def fingerprint(key):
    return struct.unpack("<Q", siphash(key, b"sketch-hash key fingerprint", 2, 4, wide=True)[:8])[0]


def default_hash(key, domain, data, wide=False):
    """64 bits as an integer, or 128 as two."""
    derived = siphash(key, b"sketch-hash domain " + domain, 2, 4, wide=True)
    derived = siphash(derived, struct.pack("<Q", 0), 2, 4, wide=True)
    hash_ = siphash(derived, data, 1, 3, wide)
    return struct.unpack("<QQ", hash_) if wide else hash_


def xxh64_word(word):
    """XXH64 with seed 0 of the eight little-endian bytes of `word`."""
    p1, p2, p3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
    p4, p5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
    h = (p5 + 8) & M64
    h ^= (rotl(word * p2 & M64, 31) * p1) & M64
    h = (rotl(h, 27) * p1 + p4) & M64
    h = ((h ^ h >> 33) * p2) & M64
    h = ((h ^ h >> 29) * p3) & M64
    return h ^ h >> 32


# --- rows ---------------------------------------------------------------------------------------------------------

def derive(key, label, index):
    purpose = siphash(key, label, 2, 4, wide=True)
    return siphash(purpose, struct.pack("<Q", index), 2, 4, wide=True)


class Row:
    """((a0 low + a1 high + c) mod 2^64) / 2^32, with 64-bit numbers from the row's seed stream."""

    def __init__(self, key, index):
        seed = derive(key, b"countsketch-dp row", index)
        self.numbers = [siphash(seed, struct.pack("<Q", i), 2, 4) for i in range(3)]

    def place(self, x, width):
        low, high, constant = self.numbers
        h = (low * (x & 0xFFFFFFFF) + high * (x >> 32) + constant & M64) >> 32
        return h * width >> 32, -1 if h & 1 else 1


class Order:
    """((a x + c) mod 2^128) / 2^64, with a and c from the seed stream of the family."""

    def __init__(self, key, index):
        seed = derive(key, b"sketch-hash multiply-shift", index)
        words = [siphash(seed, struct.pack("<Q", i), 2, 4) for i in range(4)]
        self.a, self.c = words[0] << 64 | words[1], words[2] << 64 | words[3]

    def hash(self, x):
        return (self.a * x + self.c & M128) >> 64


class Rows:
    def __init__(self, algorithm, key, rows, width):
        key = derive(struct.pack("<QQ", algorithm, key), b"countsketch-dp rows", 0)
        self.rows, self.width = [Row(key, i) for i in range(rows)], width
        self.order = Order(key, M64)

    def add(self, cells, x, weight):
        for i, row in enumerate(self.rows):
            bucket, sign = row.place(x, self.width)
            cells[i * self.width + bucket] += sign * weight

    def sketch(self, items):
        cells = [0] * (len(self.rows) * self.width)
        for x, weight in items:
            self.add(cells, x, weight)
        return cells

    def bounded(self, items, bound):
        """What a bound leaves of a user's records."""
        total = {}
        for x, weight in items:
            total[x] = total.get(x, 0) + weight
        order = sorted((x for x, weight in total.items() if weight), key=lambda x: (self.order.hash(x), x))
        kept = []
        if bound["kind"] == USER_TOTAL:
            left = bound["weight"]
            for x in order:
                size = min(abs(total[x]), left)
                left -= size
                if size:
                    kept.append((x, size if total[x] > 0 else -size))
            return kept
        top = bound["weight"]
        kept = [(x, max(-top, min(top, total[x]))) for x in order[: bound["items"]]]
        if bound["kind"] == CLIPPED:
            while sum(cell * cell for cell in self.sketch(kept)) > int(bound["squared_norm"]):
                kept.pop()
        return kept


# --- bounds, noise and costs --------------------------------------------------------------------------------------

ENTRY, USER_TOTAL, USER_ITEMS, CLIPPED = 1, 2, 3, 4


def bound(kind, items, weight, squared_norm=0):
    return {"kind": kind, "items": items, "weight": weight, "squared_norm": str(squared_norm)}


UNIT = bound(ENTRY, 1, 1)


def sensitivities(rows, leaf):
    """D1 and the square of D2."""
    b, factor = leaf["bound"], leaf["parts"] * leaf["relation"]
    total = b["weight"] * (b["items"] if b["kind"] in (USER_ITEMS, CLIPPED) else 1)
    l1, l2 = rows * total, rows * total**2
    if b["kind"] == CLIPPED:
        norm = int(b["squared_norm"])
        l1, l2 = min(l1, norm, isqrt(rows * b["items"] * norm)), min(l2, norm)
    return l1 * factor, l2 * factor**2


def share_cost(rows, cells, leaf):
    """KLS21, Proposition 14, with a little room: the bytes state a number, not the last digit of a formula."""
    l1, l2 = sensitivities(rows, leaf)
    m, s = leaf["secret"], int(leaf["numerator"]) / int(leaf["denominator"])
    tau = 10 * sum(exp(-2 * pi**2 * s * j / (j + 1)) for j in range(1, m))
    a2, c = l2 / (m * s), l1 / sqrt(m * s)
    forms = (sqrt(a2) + tau * sqrt(cells)) ** 2, a2 + 2 * c * tau + tau**2 * cells, a2 + 2 * tau * cells
    return min(forms) / 2 * 1.001


def leaf(number, law, parameter, cost, bound=UNIT, relation=1, parts=1, factor=1, secret=0, summed=0):
    parameter = Fraction(parameter)
    return {
        "id": bytes([number] * 16).hex(), "law": law, "numerator": str(parameter.numerator),
        "denominator": str(parameter.denominator), "secret": secret, "summed": summed, "factor": factor,
        "relation": relation, "bound": bound, "parts": parts, "cost": cost,
    }


GAUSSIAN, LAPLACE, GAUSSIAN_SHARES, LAPLACE_SHARES = 1, 2, 3, 4
NOBODY = bound(0, 0, 0)


def gaussian(number, rows, rho, **terms):
    made = leaf(number, GAUSSIAN, 1, rho, **terms)
    variance = Fraction(sensitivities(rows, made)[1]) / (2 * Fraction(rho))
    return leaf(number, GAUSSIAN, variance, rho, **terms)


def laplace(number, rows, epsilon, **terms):
    made = leaf(number, LAPLACE, 1, epsilon, **terms)
    scale = Fraction(sensitivities(rows, made)[0]) / Fraction(epsilon)
    return leaf(number, LAPLACE, scale, epsilon, **terms)


def top_up(number, variance):
    return leaf(number, GAUSSIAN, variance, 0.0, bound=NOBODY, relation=0, parts=0)


def totals(leaves, steps):
    """What one unit paid: rho, and epsilon where all is pure; nothing where units differ."""
    costs = []
    for entry in leaves:
        cost, pure = Fraction(entry["cost"]), entry["law"] in (LAPLACE, LAPLACE_SHARES)
        costs.append((cost * cost / 2, cost) if pure else (cost, None if entry["relation"] else Fraction(0)))
    rest, stack = iter(costs), []
    for operation, count in steps:
        if operation == 0:
            stack += [next(rest) for _ in range(count)]
            continue
        join = sum if operation == 1 else max
        top, stack = stack[-count:], stack[:-count]
        pure = [epsilon for _, epsilon in top]
        stack.append((join(rho for rho, _ in top), None if None in pure else join(pure)))
    ((rho, epsilon),) = stack
    units = {(entry["bound"]["kind"] != ENTRY, entry["relation"]) for entry in leaves if entry["relation"]}
    if len(units) > 1:
        return None, None
    return float(rho), None if epsilon is None else float(epsilon)


# --- files --------------------------------------------------------------------------------------------------------

def crc64_xz(data):
    crc = M64
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xC96C5795D7870F42 if crc & 1 else 0)
    return crc ^ M64


def container(family, flags, body):
    head = b"DPSK" + bytes([1, family, 1, flags]) + struct.pack("<QQ", len(body), 0)
    return head + struct.pack("<Q", crc64_xz(head + body)) + body


def frame_bytes(frame):
    return struct.pack("<BIBQB", frame["rows"], frame["width"], frame["hash_algorithm"],
                       int(frame["hash_fingerprint"], 16), frame["granularity"])


def words(number):
    return struct.pack("<QQ", number & M64, number >> 64)


def bound_bytes(b):
    return struct.pack("<BIQ", b["kind"], b["items"], b["weight"]) + words(int(b["squared_norm"]))


def leaf_bytes(entry):
    return (bytes.fromhex(entry["id"]) + struct.pack("<B", entry["law"]) + words(int(entry["numerator"]))
            + struct.pack("<QIIqB", int(entry["denominator"]), entry["secret"], entry["summed"], entry["factor"],
                          entry["relation"])
            + bound_bytes(entry["bound"]) + struct.pack("<Id", entry["parts"], entry["cost"]))


def list_bytes(records):
    return struct.pack("<Q", len(records)) + b"".join(records)


def cell_bytes(cells):
    return list_bytes([struct.pack("<q", cell) for cell in cells])


def says_of_cells(cells):
    return {"cells": len(cells), "sum_of_cells": str(sum(cells)), "largest_cell": str(max(abs(c) for c in cells))}


def write(name, data, says):
    path = HERE / f"{name}.bin"
    if "--write" not in sys.argv and path.exists() and path.read_bytes() != data:
        raise SystemExit(f"{path} has other bytes: golden files are append-only")
    path.write_bytes(data)
    (HERE / f"{name}.json").write_text(json.dumps(says, indent=1) + "\n")


DEFAULT = fingerprint(DEFAULT_KEY)


def frame(rows, width, algorithm=1, key=DEFAULT, granularity=0):
    return {"rows": rows, "width": width, "hash_algorithm": algorithm, "hash_fingerprint": f"{key:016x}",
            "granularity": granularity}


def item_hash(algorithm, item):
    """64 bits of an integer that is not negative: of eight bytes if it fits into a signed 64-bit one, else of sixteen."""
    if algorithm == 2:
        assert item < 1 << 63
        return xxh64_word(item)
    data = item.to_bytes(8 if item < 1 << 63 else 16, "little")
    return default_hash(DEFAULT_KEY, b"integer", data)


def rows_of(shape):
    return Rows(shape["hash_algorithm"], int(shape["hash_fingerprint"], 16), shape["rows"], shape["width"])


def raw_file(shape, limit, cells, parts, releases, **more):
    """Bytes, and what they say."""
    body = (frame_bytes(shape) + bound_bytes(limit) + struct.pack("<II", parts, releases) + cell_bytes(cells))
    says = {"family": "countsketch-raw", **shape, "bound": limit, "parts": parts, "releases": releases,
            **more, **says_of_cells(cells)}
    return container(10, 2, body), says


def raw(name, shape, limit, items, parts=1, releases=0):
    """`items` are lists of [item, weight]: one list of records, or one list for each user."""
    rows = rows_of(shape)
    cells = [0] * (shape["rows"] * shape["width"])
    for user in items:
        hashed = [(item_hash(shape["hash_algorithm"], item), weight) for item, weight in user]
        if limit["kind"] != ENTRY:
            hashed = rows.bounded(hashed, limit)
        for x, weight in hashed:
            rows.add(cells, x, weight)
    write(name, *raw_file(shape, limit, cells, parts, releases, items=items))


def private_file(shape, leaves, steps, insecure):
    """Bytes, and what they say. Cells are fixed numbers without a meaning, of all sizes."""
    count = shape["rows"] * shape["width"]
    cells = [(-1) ** (i * i % 3) * (i**9 % 1000003 << i % 40) for i in range(count)]
    cells[0], cells[-1] = (1 << 63) - 1, 1 - (1 << 63)
    rho, epsilon = totals(leaves, steps)
    body = (frame_bytes(shape) + list_bytes([leaf_bytes(entry) for entry in leaves])
            + list_bytes([struct.pack("<BI", *step) for step in steps]) + cell_bytes(cells))
    says = {"family": "countsketch-private", "insecure_noise": insecure, **shape, "leaves": leaves, "steps": steps,
            "rho_total": rho, "epsilon_total": epsilon, **says_of_cells(cells)}
    return container(9, 5 if insecure else 1, body), says


def private(name, shape, leaves, steps=None, insecure=False):
    write(name, *private_file(shape, leaves, steps or [[0, 1]], insecure))


# --- stacks of prefixes -------------------------------------------------------------------------------------------

def level_frame(shape, length):
    """The frame of one level, and whether it is plain: one cell a prefix, no hash."""
    if 1 << length <= shape["rows"] * shape["width"]:
        return frame(1, 1 << length, granularity=shape["granularity"]), True
    return shape, False


def stack_file(family, flags, shape, levels):
    """`levels` are (length, bytes of the level's file)."""
    body = struct.pack("<BIQ", shape["rows"], shape["width"], len(levels))
    for length, data in levels:
        body += struct.pack("<BQ", length, len(data)) + data
    return container(family, flags, body)


def prefix_raw(name, shape, limit, lengths, items, parts=1, releases=0):
    """`items` are lists of [key, weight]: one list of records, or one list for each user."""
    # Users are bounded by their keys, in the order of the default hash.
    order = Rows(1, DEFAULT, 1, 2)
    kept = [item for user in items for item in (user if limit["kind"] == ENTRY else order.bounded(user, limit))]
    files, says = [], []
    for length in lengths:
        used, plain = level_frame(shape, length)
        cells = [0] * (used["rows"] * used["width"])
        for key, weight in kept:
            prefix = key >> lengths[-1] - length
            if plain:
                cells[prefix] += weight
            else:
                rows_of(shape).add(cells, item_hash(shape["hash_algorithm"], prefix), weight)
        data, said = raw_file(used, limit, cells, parts, releases)
        files.append((length, data))
        says.append({"length": length, "plain": plain, "file": said})
    write(name, stack_file(12, 2, shape, files),
          {"family": "prefix-raw", "rows": shape["rows"], "width": shape["width"], "levels": says, "items": items})


def prefix_private(name, shape, lengths, releases, steps=None, insecure=False):
    """`releases` are (number, rho of every level, terms): noise of its own in every level, for one unit."""
    files, says, rho = [], [], Fraction(0)
    for index, length in enumerate(lengths):
        used, plain = level_frame(shape, length)
        leaves = [gaussian(16 * number + index, used["rows"], rhos[index], **terms) for number, rhos, terms in releases]
        data, said = private_file(used, leaves, steps or [[0, 1]], insecure)
        rho += Fraction(said["rho_total"])
        files.append((length, data))
        says.append({"length": length, "plain": plain, "file": said})
    write(name, stack_file(11, 5 if insecure else 1, shape, files),
          {"family": "prefix-private", "insecure_noise": insecure, "rows": shape["rows"], "width": shape["width"],
           "levels": says, "rho_total": float(rho)})


def raw_files():
    raw("raw-empty", frame(1, 2), UNIT, [[]])
    raw("raw-records", frame(5, 64), bound(ENTRY, 1, 1000), [[[i, (i * 37) % 2001 - 1000] for i in range(300)]], releases=1)
    raw("raw-presto", frame(3, 100, 2, 0), UNIT, [[[i, 1] for i in range(50)]])
    raw("raw-grid", frame(3, 7, granularity=10), bound(ENTRY, 1, 4096), [[[i, 1024 * i] for i in range(5)]])
    users = [[[(u * 7 + i * i) % 40, (u + i) % 9 - 4] for i in range(30)] for u in range(20)]
    raw("raw-user-total", frame(5, 32), bound(USER_TOTAL, 0, 25), users)
    raw("raw-user-items", frame(5, 32), bound(USER_ITEMS, 6, 3), users, parts=3, releases=2**32 - 1)
    raw("raw-clipped", frame(5, 16), bound(CLIPPED, 20, 4, 300), users)


def private_files():
    single = frame(5, 16)
    private("private-gaussian", single, [gaussian(1, 5, 0.125)])
    private("private-tenth", frame(3, 11), [gaussian(1, 3, 0.1, bound=bound(ENTRY, 1, 3))])
    private("private-laplace", frame(3, 8, granularity=20), [laplace(2, 3, 0.75, bound=bound(ENTRY, 1, 1 << 20))])
    users = [bound(USER_TOTAL, 0, 9), bound(USER_ITEMS, 4, 2), bound(CLIPPED, 100, 1, 1654)]
    for number, limit in enumerate(users, 1):
        private(f"private-user-{number}", frame(15, 4), [gaussian(number, 15, 0.5, bound=limit, relation=2, parts=2)])
    pair = [gaussian(1, 5, 0.5), gaussian(2, 5, 0.25, factor=-1)]
    private("private-sum", single, pair, [[0, 2], [1, 2]])
    private("private-disjoint", single, [*pair, gaussian(3, 5, 0.0625, factor=12)], [[0, 2], [2, 2], [0, 1], [1, 2]])
    private("private-mixed-laws", single, [gaussian(1, 5, 0.5), laplace(2, 5, 0.5)], [[0, 2], [1, 2]])
    private("private-pure", single, [laplace(1, 5, 1.5), laplace(2, 5, 0.5)], [[0, 2], [1, 2]])
    private("private-mixed-units", single, [gaussian(1, 5, 0.5), gaussian(2, 5, 0.5, bound=users[0])], [[0, 2], [1, 2]])
    private("private-topped-up", single, [gaussian(1, 5, 0.5), top_up(2, Fraction(7, 2))], [[0, 2], [1, 2]])
    shares = leaf(1, GAUSSIAN_SHARES, 3, 0.0, secret=8, summed=10)
    private("private-shares", single, [{**shares, "cost": share_cost(5, 80, shares)}])
    private("private-laplace-shares", single, [leaf(1, LAPLACE_SHARES, 20, 0.25, secret=100, summed=100)])
    private("private-wide", frame(1, 2), [leaf(1, GAUSSIAN, 1 << 80, 1.0, bound=bound(ENTRY, 1, 1))])
    private("private-insecure", single, [gaussian(9, 5, 1.0)], insecure=True)


def prefix_files():
    records = [[[key * key % 512, key % 5 - 2] for key in range(60)]]
    prefix_raw("prefix-raw-records", frame(3, 8), bound(ENTRY, 1, 2), [3, 6, 9], records, releases=2)
    # No level is sketched, and then none is plain.
    prefix_raw("prefix-raw-plain", frame(5, 16, granularity=3), UNIT, [2, 6], [[[key, 1] for key in range(64)]])
    long = [[[key * 0x9E3779B97F4A7C15 & M64, 1] for key in range(20)]]
    prefix_raw("prefix-raw-long", frame(1, 16), UNIT, [16, 32, 48, 64], long)
    prefix_raw("prefix-raw-presto", frame(3, 8, 2, 0), UNIT, [4, 10], [[[key * 37 % 1024, 1] for key in range(40)]])
    users = [[[(u * 11 + i * i) % 64, (u + i) % 7 - 3] for i in range(12)] for u in range(9)]
    prefix_raw("prefix-raw-users", frame(3, 4), bound(USER_ITEMS, 3, 2), [3, 5, 6], users, parts=2)
    prefix_private("prefix-private-single", frame(3, 8), [3, 6, 9], [(1, [0.125, 0.25, 0.5], {})])
    users = {"bound": bound(USER_TOTAL, 0, 9), "relation": 2, "parts": 3}
    prefix_private("prefix-private-users", frame(5, 4, granularity=7), [4, 16], [(1, [0.5, 0.5], users)])
    pair = [(1, [0.125, 0.25], {}), (2, [0.5, 0.0625], {})]
    prefix_private("prefix-private-sum", frame(3, 4, 2, 0), [2, 10], pair, [[0, 2], [1, 2]])
    prefix_private("prefix-private-disjoint", frame(3, 4), [2, 10], pair, [[0, 2], [2, 2]])
    prefix_private("prefix-private-insecure", frame(1, 2), [1, 2], [(1, [1.0, 1.0], {})], insecure=True)


if __name__ == "__main__":
    raw_files()
    private_files()
    prefix_files()
