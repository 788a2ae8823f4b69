#!/usr/bin/env python3
"""Writes the golden byte files of sfm-pcsa next to itself. Standard library only, independent of the Rust code.

Each `<name>.bin` is a file of the container format and `<name>.json` what it says. Hashes, flip probabilities, channels
and checksums are computed here from their definitions: SipHash and XXH64 from their papers, channels with exact
fractions by enumerating every pattern of noisy bits.

Files are append-only once released: a changed one would need a new body version. The script refuses to overwrite with
other bytes, unless `--write` says that the layout has not been released.
"""

import bisect
import json
import math
import struct
import sys
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import product
from pathlib import Path

getcontext().prec = 80
HERE = Path(__file__).parent
M64 = (1 << 64) - 1


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


def place(hash_, index_bits, levels):
    bucket = hash_ >> (64 - index_bits)
    level = 0
    while level < levels - 1 and not hash_ >> level & 1:
        level += 1
    return bucket, level


# --- shapes -------------------------------------------------------------------------------------------------------

class Pcsa:
    private, raw, names, cells_per_item = 1, 2, ("sfm-private", "pcsa-raw"), 1

    def __init__(self, index_bits, levels):
        self.index_bits, self.levels = index_bits, levels
        self.cells = levels << index_bits
        self.fields = struct.pack("<BB", index_bits, levels)
        self.says = {"buckets": 1 << index_bits, "levels": levels}

    def place(self, hash_):
        bucket, level = place(hash_, self.index_bits, self.levels)
        return [(level << self.index_bits) + bucket]

    def ones(self, bits):
        mask = (1 << (1 << self.index_bits)) - 1
        counts = [bin(bits >> (level << self.index_bits) & mask).count("1") for level in range(self.levels)]
        return {"ones_per_level": counts}


class Row:
    """One row of cells."""
    cells_per_item = 1

    def ones(self, bits):
        return {"ones": bin(bits).count("1")}


class Linear(Row):
    private, raw, names = 3, 4, ("linear-private", "linear-raw")

    def __init__(self, cells):
        self.cells = cells
        self.fields = struct.pack("<I", cells)
        self.says = {"cells": cells}

    def place(self, hash_):
        return [hash_ * self.cells >> 64]


class Bloom(Row):
    private, raw, names = 5, 6, ("bloom-private", "bloom-raw")

    def __init__(self, cells, hashes):
        self.cells, self.cells_per_item = cells, hashes
        self.fields = struct.pack("<IB", cells, hashes)
        self.says = {"cells": cells, "hashes": hashes}

    def place(self, hash_):
        state, increment = hash_
        found = []
        for _ in range(self.cells_per_item):
            state = (state + (increment | 1)) & M64
            z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & M64
            z = ((z ^ z >> 27) * 0x94D049BB133111EB) & M64
            found.append(((z ^ z >> 31) * self.cells) >> 64)
        return found


class Legions(Row):
    private, raw, names = 7, 8, ("legions-private", "legions-raw")

    def __init__(self, cells, decay):
        self.cells = cells
        self.fields = struct.pack("<Id", cells, decay)
        self.says = {"cells": cells, "decay": decay}
        passed = lambda i: 1 - (-Decimal(decay) * i / cells).exp()
        self.firsts = [ceil(2**64 * passed(i) / passed(cells)) for i in range(cells)]

    def place(self, hash_):
        return [bisect.bisect_right(self.firsts, hash_) - 1]


def bitmap(shape, hashes):
    """Cells as one integer."""
    bits = 0
    for h in hashes:
        for cell in shape.place(h):
            bits |= 1 << cell
    return bits


# --- container ----------------------------------------------------------------------------------------------------

def crc64_xz(data):
    crc = M64
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xC96C5795D7870F42 if crc & 1 else 0)
    return crc ^ M64


PRIVATE, RAW, INSECURE = 1, 2, 4


def container(family, flags, body):
    head = b"DPSK" + bytes([1, family, 1, flags]) + struct.pack("<Q", len(body)) + bytes(8)
    return head + struct.pack("<Q", crc64_xz(head + body)) + body


def words(bits, cells):
    count = -(-cells // 64)
    return struct.pack("<Q", count) + b"".join(struct.pack("<Q", bits >> 64 * i & M64) for i in range(count))


def raw_file(shape, algorithm, key, releases, bits, max_items=0):
    head = shape.fields + struct.pack("<BQII", algorithm, key, releases, max_items)
    return container(shape.raw, RAW, head + words(bits, shape.cells))


def private_file(shape, algorithm, key, leaves, steps, bits, insecure=False):
    body = shape.fields + struct.pack("<BQ", algorithm, key)
    body += struct.pack("<Q", len(leaves))
    for leaf in leaves:
        body += leaf["id"] + struct.pack("<QQdI", leaf["p"], leaf["q"], leaf["epsilon"], leaf["max_items"])
    body += struct.pack("<Q", len(steps))
    for step in steps:
        body += struct.pack("<BBI", *step)
    body += words(bits, shape.cells)
    return container(shape.private, PRIVATE | (INSECURE if insecure else 0), body)


# --- noise and merges ---------------------------------------------------------------------------------------------

def ceil(x):
    return -(-x.numerator // x.denominator) if isinstance(x, Fraction) else int(x.to_integral_value("ROUND_CEILING"))


def share(epsilon, parts):
    """The largest double not above epsilon / parts."""
    quotient = epsilon / parts
    return quotient if Fraction(quotient) * parts <= Fraction(epsilon) else math.nextafter(quotient, 0)


def leaf(number, p, q, epsilon, max_items):
    return {"id": bytes([number] * 16), "p": p, "q": q, "epsilon": epsilon, "max_items": max_items}


def symmetric(number, epsilon, max_items=0, cells_per_item=1):
    """Flips for one unit: an item (0), or a user with so many items."""
    bit = share(share(epsilon, max(max_items, 1)), cells_per_item)
    q = ceil(Decimal(2) ** 64 / (1 + Decimal(bit).exp()))
    return leaf(number, 2**64 - q, q, epsilon, max_items)


def xor_family(number, epsilon, max_items=0, cells_per_item=1):
    bit = share(share(epsilon, max(max_items, 1)), cells_per_item)
    q = ceil(Decimal(2) ** 63 * (-Decimal(bit)).exp())
    return leaf(number, 2**63, q, epsilon, max_items)


EXTREMAL, SYMMETRIC, XOR = 1, 2, 3


def merge(form, inputs):
    """The channel of the OR of noisy bits, by enumeration of the unbiased estimate of the OR."""
    estimates = []
    for pattern in product((0, 1), repeat=len(inputs)):
        empty = Fraction(1)
        for t, (p, q) in zip(pattern, inputs):
            empty *= (p - t) / (p - q)
        estimates.append(1 - empty)
    low, high = min(estimates), max(estimates)
    if form == SYMMETRIC:
        d = 1 / max(1 - 2 * low, 2 * high - 1)
        return (1 + d) / 2, (1 - d) / 2
    d = 1 / (high - low)
    return (1 - low) * d, -low * d


def symmetrise(p, q):
    """The channel after keeping ones, or raising zeros, with the probability that makes p + q = 1."""
    if p + q > 1:
        keep = 1 / (p + q)
        return p * keep, q * keep
    raise_ = (1 - p - q) / (2 - p - q)
    return p + (1 - p) * raise_, q + (1 - q) * raise_


HERE_MADE, ELSEWHERE = 0, 1
SYMMETRISE = (2, 0, 1)


def run(leaves, steps):
    """The channel of a merge history."""
    rest = [(Fraction(leaf["p"], 2**64), Fraction(leaf["q"], 2**64)) for leaf in leaves]
    stack = []
    for operation, form, count in steps:
        if operation == 0:
            stack += rest[:count]
            rest = rest[count:]
        elif operation == 2:
            stack.append(symmetrise(*stack.pop()))
        else:
            inputs = stack[-count:]
            del stack[-count:]
            stack.append(merge(form, inputs))
    (channel,) = stack
    assert not rest
    return channel


def cells_of_unit(leaves, cells_per_item):
    """Cells that one unit may change in the union; None for items and users together."""
    users = [leaf["max_items"] for leaf in leaves if leaf["max_items"]]
    if users and len(users) < len(leaves):
        return None
    return (sum(users) or 1) * cells_per_item


def level(p, q):
    log = lambda x: (Decimal(x.numerator) / Decimal(x.denominator)).ln()
    return max(log(p / q), log((1 - q) / (1 - p)))


# --- files --------------------------------------------------------------------------------------------------------

def write(name, data, says):
    path = HERE / f"{name}.bin"
    if "--write" not in sys.argv and path.exists() and path.read_bytes() != data:
        raise SystemExit(f"{path} has other bytes: golden files are append-only")
    path.write_bytes(data)
    (HERE / f"{name}.json").write_text(json.dumps(says, indent=1) + "\n")


def raw(name, shape, algorithm, key, releases, hashes, items, max_items=0):
    bits = bitmap(shape, hashes)
    says = {
        "family": shape.names[1], **shape.says, "hash_algorithm": algorithm,
        "hash_fingerprint": f"{key:016x}", "releases": releases, "max_items": max_items, "items": items, **shape.ones(bits),
    }
    write(name, raw_file(shape, algorithm, key, releases, bits, max_items), says)


def epsilon_total(leaves):
    """The sum of epsilon, which has a meaning for one kind of unit only."""
    if len({leaf["max_items"] > 0 for leaf in leaves}) > 1:
        return None
    return float(sum(Fraction(leaf["epsilon"]) for leaf in leaves))


def private(name, shape, leaves, steps, insecure=False):
    # Fixed bits without a meaning: about a third ones.
    bits = sum(1 << i for i in range(shape.cells) if (i * i + 5 * i) % 7 in (0, 3))
    key = fingerprint(DEFAULT_KEY)
    p, q = run(leaves, steps)
    cells = cells_of_unit(leaves, shape.cells_per_item)
    if any(step[:2] == (0, ELSEWHERE) for step in steps):
        cells = None
    says = {
        "family": shape.names[0], "insecure_noise": insecure, **shape.says,
        "hash_algorithm": 1, "hash_fingerprint": f"{key:016x}",
        "leaves": [
            {"id": leaf["id"].hex(), "p_numerator": str(leaf["p"]), "q_numerator": str(leaf["q"]),
             "epsilon": leaf["epsilon"], "max_items": leaf["max_items"]} for leaf in leaves
        ],
        "steps": [list(step) for step in steps],
        "p": float(p), "q": float(q), "a": float(1 - q / p), "d": float(p - q),
        "level_if_seen_alone": float(level(p, q) * cells) if cells else None,
        "epsilon": max(leaf["epsilon"] for leaf in leaves),
        "epsilon_total": epsilon_total(leaves),
        **shape.ones(bits),
    }
    write(name, private_file(shape, 1, key, leaves, steps, bits, insecure), says)


def pcsa_files(integers):
    default = fingerprint(DEFAULT_KEY)
    raw("raw-empty", Pcsa(12, 24), 1, default, 0, [], [])
    raw("raw-default", Pcsa(6, 8), 1, default, 1, integers(range(100)), list(range(100)))
    raw("raw-presto", Pcsa(4, 8), 2, 0, 0, [xxh64_word(i) for i in range(10)], list(range(10)))
    raw("raw-user", Pcsa(6, 8), 1, default, 1, integers(range(40)), list(range(40)), max_items=5)
    raw("raw-wide", Pcsa(2, 45), 1, default, 4294967295, integers(range(1000)), list(range(1000)))

    single = [(0, 0, 1)]
    private("private-single", Pcsa(6, 4), [symmetric(1, 1.0)], single)
    private("private-xor-single", Pcsa(3, 5), [xor_family(2, 2.0)], single)
    private("private-pair", Pcsa(7, 3), [symmetric(1, 1.0), symmetric(2, 3.0)], [(0, 0, 2), (1, EXTREMAL, 2)])
    private("private-published", Pcsa(7, 3), [symmetric(1, 0.5), symmetric(2, 0.5)], [(0, 0, 2), (1, SYMMETRIC, 2)])
    private("private-xor", Pcsa(5, 10), [xor_family(1, 1.0), xor_family(2, 2.0), xor_family(3, 4.0)],
            [(0, 0, 3), (1, XOR, 3)])
    tree = [symmetric(1, 1.0), xor_family(2, 2.0), symmetric(3, 4.0), symmetric(4, 0.25), symmetric(5, 44.0)]
    private("private-tree", Pcsa(8, 6), tree,
            [(0, 0, 3), (1, SYMMETRIC, 2), (0, 0, 2), (1, EXTREMAL, 2), (1, EXTREMAL, 3)])
    private("private-many", Pcsa(6, 2), [symmetric(i, 2.0) for i in range(8)], [(0, 0, 8), (1, EXTREMAL, 8)])
    private("private-user", Pcsa(5, 3), [symmetric(7, 3.0, max_items=7)], single)
    private("private-users", Pcsa(4, 6), [symmetric(1, 2.0, max_items=3), xor_family(2, 1.5, max_items=1)],
            [(0, 0, 2), (1, EXTREMAL, 2)])
    private("private-units", Pcsa(4, 6), [symmetric(1, 2.0), symmetric(2, 2.0, max_items=1)],
            [(0, 0, 2), (1, EXTREMAL, 2)])
    private("private-elsewhere", Pcsa(6, 4), [symmetric(1, 2.0), symmetric(2, 1.0), symmetric(3, 4.0)],
            [(0, HERE_MADE, 1), (0, ELSEWHERE, 2), (1, EXTREMAL, 3)])
    private("private-symmetrised", Pcsa(6, 4), [symmetric(1, 1.0), symmetric(2, 3.0)],
            [(0, HERE_MADE, 2), (1, EXTREMAL, 2), SYMMETRISE])
    private("private-xor-symmetrised", Pcsa(6, 4), [xor_family(1, 1.0)], [(0, HERE_MADE, 1), SYMMETRISE])
    private("private-insecure", Pcsa(6, 4), [symmetric(9, 1.0)], single, insecure=True)


def row_files(integers):
    default = fingerprint(DEFAULT_KEY)
    pair, single = [(0, 0, 2), (1, EXTREMAL, 2)], [(0, 0, 1)]
    raw("linear-raw-default", Linear(1000), 1, default, 2, integers(range(700)), list(range(700)))
    raw("linear-raw-presto", Linear(2), 2, 0, 0, [xxh64_word(5)], [5])
    private("linear-private-single", Linear(130), [symmetric(1, 1.5)], single)
    private("linear-private-users", Linear(64), [xor_family(1, 4.0, max_items=4), xor_family(2, 1.0, max_items=2)],
            [(0, 0, 2), (1, XOR, 2)])

    wide = lambda items: [default_hash(DEFAULT_KEY, b"integer", struct.pack("<Q", i), wide=True) for i in items]
    raw("bloom-raw-default", Bloom(777, 3), 1, default, 0, wide(range(200)), list(range(200)))
    raw("bloom-raw-most", Bloom(5000, 64), 1, default, 0, wide(range(20)), list(range(20)))
    private("bloom-private-single", Bloom(100, 3), [symmetric(1, 2.0, cells_per_item=3)], single)
    private("bloom-private-user", Bloom(100, 7), [symmetric(1, 3.0, max_items=11, cells_per_item=7)], single)
    private("bloom-private-pair", Bloom(65, 2),
            [symmetric(1, 2.0, cells_per_item=2), xor_family(2, 5.0, cells_per_item=2)], pair)

    raw("legions-raw-default", Legions(1000, 12.0), 1, default, 0, integers(range(3000)), list(range(3000)))
    raw("legions-raw-flat", Legions(129, 0.3), 1, default, 0, integers(range(100)), list(range(100)))
    private("legions-private-single", Legions(200, 10.0), [symmetric(1, 0.7)], single)
    private("legions-private-pair", Legions(2, 24.0), [symmetric(1, 0.7), symmetric(2, 7.0)], pair)
    shapes = [(2, 0.0625), (2, 24.0), (7, 1.1), (50, 3.3), (1000, 12.0), (300, 24.0)]
    boundaries = [{"cells": m, "decay": a, "firsts": [str(t) for t in Legions(m, a).firsts]} for m, a in shapes]
    (HERE / "legions_boundaries.json").write_text(json.dumps(boundaries, indent=1) + "\n")


# --- tallies ------------------------------------------------------------------------------------------------------

SFM_TALLY = 15


def planes(numbers, count):
    """For each binary digit of `count` the cells whose number has it, as integers."""
    return [sum(1 << cell for cell, x in enumerate(numbers) if x >> digit & 1) for digit in range(count.bit_length())]


def tally_file(shape, key, classes, releases, insecure):
    body = shape.fields + struct.pack("<BQ", 1, key)
    body += struct.pack("<Q", len(classes)) + b"".join(struct.pack("<QQ", *flips) for flips, _, _ in classes)
    body += struct.pack("<Q", len(releases))
    for leaf, elsewhere, class_, _ in releases:
        body += leaf["id"] + struct.pack("<QQdI", leaf["p"], leaf["q"], leaf["epsilon"], leaf["max_items"])
        body += struct.pack("<BB", elsewhere, class_)
    ones = [count for *_, levels in releases for count in levels]
    body += struct.pack(f"<Q{len(ones)}I", len(ones), *ones)
    cells = b"".join(words(plane, shape.cells)[8:] for _, count, numbers in classes for plane in planes(numbers, count))
    body += struct.pack("<Q", len(cells) // 8) + cells
    return container(SFM_TALLY, PRIVATE | (INSECURE if insecure else 0), body)


def corner(flips):
    """The least noisy channel that more noise makes of all of these: the corner of P <= alpha Q, 1 - Q <= beta (1 - P)."""
    channels = [(Fraction(p, 2**64), Fraction(q, 2**64)) for p, q in flips]
    alpha = min(p / q for p, q in channels)
    beta = min((1 - q) / (1 - p) for p, q in channels)
    q = (beta - 1) / (alpha * beta - 1)
    return alpha * q, q


def release_bits(shape, number):
    """Fixed bits without a meaning, other ones for every release."""
    return sum(1 << i for i in range(shape.cells) if (i * i + (5 + number) * i + 3 * number) % 11 in (0, 3, 5, 9))


def tally(name, shape, leaves, elsewhere=(), insecure=False, thinned_to=None):
    """Of the releases `leaves`; `thinned_to` puts them all into one class of those flips, with tallies without a meaning."""
    key = fingerprint(DEFAULT_KEY)
    bits = {leaf["id"]: release_bits(shape, leaf["id"][0]) for leaf in leaves}
    numbered = lambda members: [sum(bits[leaf["id"]] >> i & 1 for leaf in members) for i in range(shape.cells)]
    own = lambda leaf: thinned_to or (leaf["p"], leaf["q"])
    classes = []
    for flips in sorted({own(leaf) for leaf in leaves}):
        members = [leaf for leaf in leaves if own(leaf) == flips]
        numbers = [i % (len(members) + 1) for i in range(shape.cells)] if thinned_to else numbered(members)
        classes.append((flips, len(members), numbers))
    index = {flips: i for i, (flips, _, _) in enumerate(classes)}
    releases = [
        (leaf, leaf["id"][0] in elsewhere, index[own(leaf)], shape.ones(bits[leaf["id"]])["ones_per_level"])
        for leaf in sorted(leaves, key=lambda leaf: leaf["id"])
    ]
    histograms = []
    for level in range(shape.levels):
        states = 1
        for _, count, _ in classes:
            states *= count + 1
        counts = [0] * states
        for cell in range(level << shape.index_bits, level + 1 << shape.index_bits):
            state, stride = 0, 1
            for _, count, numbers in classes:
                state, stride = state + stride * numbers[cell], stride * (count + 1)
            counts[state] += 1
        histograms.append(counts)
    p, q = corner([flips for flips, _, _ in classes])
    says = {
        "family": "sfm-tally", "insecure_noise": insecure, **shape.says,
        "hash_algorithm": 1, "hash_fingerprint": f"{key:016x}",
        "classes": [
            {"p_numerator": str(flips[0]), "q_numerator": str(flips[1]), "p": flips[0] / 2**64, "q": flips[1] / 2**64,
             "sketches": count} for flips, count, _ in classes
        ],
        "releases": [
            {"id": leaf["id"].hex(), "p_numerator": str(leaf["p"]), "q_numerator": str(leaf["q"]),
             "epsilon": leaf["epsilon"], "max_items": leaf["max_items"], "made_elsewhere": bool(away), "class": class_,
             "ones_per_level": ones} for leaf, away, class_, ones in releases
        ],
        "thinned": thinned_to is not None and any((leaf["p"], leaf["q"]) != thinned_to for leaf in leaves),
        "cells_per_level": histograms,
        "epsilon": max(leaf["epsilon"] for leaf in leaves),
        "epsilon_total": epsilon_total(leaves),
        "thins_to": {"p": float(p), "q": float(q)},
    }
    if not thinned_to:
        steps = lambda leaf: [(0, ELSEWHERE if leaf["id"][0] in elsewhere else HERE_MADE, 1)]
        says["parts"] = [private_file(shape, 1, key, [leaf], steps(leaf), bits[leaf["id"]], insecure).hex() for leaf in leaves]
    write(name, tally_file(shape, key, classes, releases, insecure), says)


def tally_files():
    tally("tally-single", Pcsa(3, 5), [symmetric(1, 2.0)])
    tally("tally-pair", Pcsa(6, 4), [symmetric(9, 1.0), symmetric(4, 1.0)])
    tally("tally-many", Pcsa(5, 3), [symmetric(i * 37 % 101, 2.0) for i in range(1, 21)])
    tally("tally-classes", Pcsa(7, 3), [symmetric(3, 1.0), xor_family(5, 1.5), symmetric(2, 1.0), symmetric(1, 1.0)])
    tally("tally-mixed", Pcsa(4, 6), [symmetric(8, 4.0), xor_family(2, 2.0, max_items=3), symmetric(5, 0.5), xor_family(1, 1.0)])
    tally("tally-users", Pcsa(3, 8), [symmetric(2, 3.0, max_items=7), symmetric(1, 3.0, max_items=7)])
    tally("tally-elsewhere", Pcsa(6, 4), [symmetric(2, 1.0), symmetric(1, 1.0)], elsewhere=(1,))
    tally("tally-insecure", Pcsa(6, 4), [symmetric(1, 1.0), symmetric(2, 4.0)], insecure=True)
    target = symmetric(0, 1.0)
    tally("tally-thinned", Pcsa(6, 4), [symmetric(3, 1.0), symmetric(1, 2.0), symmetric(2, 4.0)],
          thinned_to=(target["p"], target["q"]))


def main():
    integers = lambda items: [default_hash(DEFAULT_KEY, b"integer", struct.pack("<Q", i)) for i in items]
    pcsa_files(integers)
    row_files(integers)
    tally_files()


if __name__ == "__main__":
    main()
