#!/usr/bin/env python3
"""Writes the golden byte files of f0-sketch next to itself. Standard library only, independent of the Rust code.

Each `<name>.bin` is a file of the container format and `<name>.json` what it says. Hashes, cells, weights, flip
probabilities, contrasts and checksums are computed here from their definitions: SipHash from its paper, probabilities with
80 digits, contrasts with exact fractions.

Files are append-only once released: a changed one would need a new body version. The script refuses to overwrite with
other bytes, unless `--write` says that the layout has not been released.
"""

import json
import math
import struct
import sys
from decimal import ROUND_CEILING, Decimal, getcontext
from fractions import Fraction
from pathlib import Path

getcontext().prec = 80
HERE = Path(__file__).parent
M64 = (1 << 64) - 1
SET, PRESAMPLED = 1, 2


# --- hashes -------------------------------------------------------------------------------------------------------

def rotl(x, n):
    return ((x << n) | (x >> (64 - n))) & M64


def siphash(key, data, c, d):
    """SipHash-c-d with 16 bytes of output."""
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
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
    v[2] ^= 0xEE
    rounds(d)
    first = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(d)
    return struct.pack("<QQ", first, v[0] ^ v[1] ^ v[2] ^ v[3])


KEY = b"dpsketch-default"
FINGERPRINT = struct.unpack("<Q", siphash(KEY, b"sketch-hash key fingerprint", 2, 4)[:8])[0]


def hash_of(item):
    """The words h1 and h2 of an integer (below 2^63) or of text."""
    domain, data = (b"integer", struct.pack("<Q", item)) if isinstance(item, int) else (b"bytes", item.encode())
    derived = siphash(KEY, b"sketch-hash domain " + domain, 2, 4)
    derived = siphash(derived, struct.pack("<Q", 0), 2, 4)
    return struct.unpack("<QQ", siphash(derived, data, 1, 3))


# --- shapes and cells ---------------------------------------------------------------------------------------------

def regular(levels, cells):
    """Level i takes 2^-(i+1) of the items, the last one the rest. Shares are numerators over 2^63."""
    shares = [1 << (62 - level) for level in range(levels - 1)]
    return [(share, cells) for share in shares + [(1 << 63) - sum(shares)]]


def leading_zeros(word):
    return 64 - word.bit_length()


def cell(tables, h1, h2):
    start, number, first = 0, (h1 ^ M64) >> 1, 0
    for share, cells in tables:
        if number < start + share:
            return first + ((h2 >> 32) * cells >> 32)
        start, first = start + share, first + cells
    raise AssertionError("shares do not add up")


def level_cell(levels, cells, h1, h2):
    """The same for regular tables, by counting zeros."""
    return min(leading_zeros(h1), levels - 1) * cells + ((h2 >> 32) * cells >> 32)


def threshold(value, largest):
    """The least multiple of 2^-32 that is not below value / largest, at most 1, as a numerator."""
    ratio = Fraction(value) / Fraction(largest)
    return min(-(-(ratio.numerator << 32) // ratio.denominator), 1 << 32)


def toggled(tables, items, largest=None):
    """The bits of a sketch in which every item has toggled its cell; with weights, items are pairs."""
    bits = 0
    for item in items:
        item, value = item if largest else (item, None)
        h1, h2 = hash_of(item)
        if largest is None or (h2 & 0xFFFFFFFF) < threshold(value, largest):
            bits ^= 1 << cell(tables, h1, h2)
    return bits


def ones_per_table(tables, bits):
    counts, first = [], 0
    for _, cells in tables:
        counts.append(bin(bits >> first & ((1 << cells) - 1)).count("1"))
        first += cells
    return counts


# --- container ----------------------------------------------------------------------------------------------------

def crc64_xz(data):
    crc = M64
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0xC96C5795D7870F42 if crc & 1 else 0)
    return crc ^ M64


def container(family, flags, body):
    covered = b"DPSK" + bytes([1, family, 1, flags]) + struct.pack("<QQ", len(body), 0)
    return covered + struct.pack("<Q", crc64_xz(covered + body)) + body


def words(tables, bits):
    count = -(-sum(cells for _, cells in tables) // 64)
    return struct.pack(f"<Q{count}Q", count, *(bits >> (64 * word) & M64 for word in range(count)))


def frame(mode, largest, tables):
    head = struct.pack("<BBQdQ", mode, 1, FINGERPRINT, largest or 0.0, len(tables))
    return head + b"".join(struct.pack("<QI", share, cells) for share, cells in tables)


def says_frame(mode, largest, tables, bits):
    return {
        "mode": {SET: "set", PRESAMPLED: "presampled"}[mode],
        "hash_algorithm": 1,
        "hash_fingerprint": f"{FINGERPRINT:016x}",
        "max_weight": largest,
        "tables": [{"share": str(share), "cells": cells} for share, cells in tables],
        "ones_per_table": ones_per_table(tables, bits),
    }


# --- noise --------------------------------------------------------------------------------------------------------

def share_of(epsilon, max_items):
    """The largest double not above epsilon / items."""
    parts = max(max_items, 1)
    quotient = epsilon / parts
    return quotient if Fraction(quotient) * parts <= Fraction(epsilon) else math.nextafter(quotient, 0.0)


def flips(mode, rule, epsilon, max_items):
    """The numerator over 2^64 of the flip probability, rounded up."""
    level = Decimal(share_of(epsilon, max_items))
    if rule == "paper":
        p = 1 / (2 + level)
    elif mode == SET:
        p = 1 / (1 + level.exp())
    else:
        p = (-level).exp() / 2
    return int((p * (1 << 64)).to_integral_value(ROUND_CEILING))


def level_of(mode, contrast):
    """What one cell behind this contrast loses."""
    c = Decimal(contrast.numerator) / Decimal(contrast.denominator)
    return ((1 + c) / (1 - c)).ln() if mode == SET else -(1 - c).ln()


# --- files --------------------------------------------------------------------------------------------------------

def write(name, data, says):
    path = HERE / f"{name}.bin"
    if path.exists() and path.read_bytes() != data and "--write" not in sys.argv:
        sys.exit(f"{path.name} would change")
    path.write_bytes(data)
    says = {"generator": "generate.py", **says}
    path.with_suffix(".json").write_text(json.dumps(says, indent=1) + "\n", encoding="utf-8")


def coin_names(name, number):
    """So many names of coins, rising."""
    return sorted(siphash(KEY, f"{name} coins {index}".encode(), 2, 4) for index in range(number))


def chacha20(key, nonce, counter):
    """One block, with a counter and a nonce of 64 bits each (Bernstein 2008)."""
    start = list(struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<QQ", counter, nonce)))
    state = start[:]

    def quarter(a, b, c, d):
        for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            state[x] = (state[x] + state[y]) & 0xFFFFFFFF
            word = state[z] ^ state[x]
            state[z] = (word << turn | word >> (32 - turn)) & 0xFFFFFFFF

    for _ in range(10):
        for column in range(4):
            quarter(column, column + 4, column + 8, column + 12)
        for row in range(4):
            quarter(row, 4 + (row + 1) % 4, 8 + (row + 2) % 4, 12 + (row + 3) % 4)
    return struct.pack("<16I", *((word + first) & 0xFFFFFFFF for word, first in zip(state, start)))


def sample_key(key):
    """The key of the coins, and the public name."""
    block = chacha20(key, int.from_bytes(b"subsampl", "little"), 0)
    return block[:32], block[32:48]


def coin(key, first, second):
    """The coin of an item with these hash words."""
    return int.from_bytes(chacha20(sample_key(key)[0], first, second)[:8], "little")


def sampled_level(rate, p):
    """What one cell behind a secret coin loses, ln(1 + γ(1 − 2p)/p), for numerators over 2^64."""
    return (1 + Decimal(rate) * (Decimal(1 << 64) - 2 * p) / (Decimal(1 << 64) * p)).ln()


SAMPLE_KEY = bytes(range(32))


def subsampled(name, file, rate, levels):
    """A released sample: the file inside, one of the released sets here, and ε of each of its releases."""
    inner = (HERE / f"{file}.bin").read_bytes()
    body = struct.pack("<Q", rate) + sample_key(SAMPLE_KEY)[1] + struct.pack(f"<Q{len(levels)}d", len(levels), *levels)
    says = {"family": "f0-subsampled", "rate": str(rate), "sample_key": sample_key(SAMPLE_KEY)[1].hex(), "levels": levels, "parts": [file]}
    write(name, container(18, 1, body + struct.pack("<Q", len(inner)) + inner), says)


def subsampled_raw(name, tables, items, rate):
    """A raw sample of these items, which the coins of the key choose."""
    kept = [item for item in items if coin(SAMPLE_KEY, *hash_of(item)) < rate]
    body = frame(SET, None, tables) + struct.pack("<IIdQ", 0, 0, 0.0, 0) + words(tables, toggled(tables, kept))
    inner = container(14, 2, body)
    body = struct.pack("<Q", rate) + sample_key(SAMPLE_KEY)[1] + struct.pack("<dQ", 0.0, len(inner)) + inner
    says = {
        "family": "f0-subsampled-raw",
        "rate": str(rate),
        "sample_key": sample_key(SAMPLE_KEY)[1].hex(),
        "exposure": 0.0,
        "items": items,
    }
    write(name, container(19, 2, body), says)


def raw(name, tables, items, *, mode=SET, largest=None, kept=None, releases=0, max_items=0, exposure=0.0, insecure=False, coins=0):
    """`kept` are the items whose coins fell on one, by default all; `coins` is the number of names of these coins."""
    bits = toggled(tables, items if kept is None else kept, largest)
    names = coin_names(name, coins)
    body = frame(mode, largest, tables) + struct.pack("<IIdQ", releases, max_items, exposure, coins) + b"".join(names)
    body += words(tables, bits)
    says = {
        "family": "f0-raw",
        **says_frame(mode, largest, tables, bits),
        "releases": releases,
        "max_items": max_items,
        "exposure": exposure,
        "coins": [coin.hex() for coin in names],
        "insecure_coins": insecure,
        "items": items if kept is None else kept,
    }
    write(name, container(14, 2 | 4 * insecure, body), says)


def private(name, tables, leaves, *, mode=SET, largest=None, insecure=False):
    """`leaves` are tuples of rule, epsilon and items of a user; rule "opened" has a quarter more noise than is sure."""
    made = []
    for index, (rule, epsilon, max_items) in enumerate(leaves):
        id_ = siphash(KEY, f"{name} release {index}".encode(), 2, 4)
        sure, opened = flips(mode, rule, epsilon, max_items), rule == "opened"
        made.append((id_, sure + sure // 4 * opened, epsilon, max_items, opened, sure))
    made.sort()
    cells = sum(cells for _, cells in tables)
    stream = b"".join(siphash(KEY, f"{name} cells {index}".encode(), 2, 4) for index in range(-(-cells // 128)))
    bits = int.from_bytes(stream, "little") & ((1 << cells) - 1)
    body = frame(mode, largest, tables) + struct.pack("<Q", len(made))
    body += b"".join(id_ + struct.pack("<QdIB", p, epsilon, items, opened) for id_, p, epsilon, items, opened, _ in made)
    # One name of coins a release, and one more of the first release: two raw sketches were put together before it.
    owners = [*range(len(made)), 0] if mode == PRESAMPLED else []
    coins = list(zip(coin_names(name, len(owners)), owners))
    body += struct.pack("<Q", len(coins)) + b"".join(coin + struct.pack("<I", release) for coin, release in coins)
    contrast, sure_contrast = Fraction(1), Fraction(1)
    for _, p, _, _, _, sure in made:
        contrast *= 1 - 2 * Fraction(p, 1 << 64)
        sure_contrast *= 1 - 2 * Fraction(sure, 1 << 64)
    users = [leaf[3] for leaf in made if leaf[3]]
    mixed = bool(users) and len(users) < len(made)
    alone = None if mixed else float(level_of(mode, sure_contrast) * (sum(users) or 1))
    total = None if mixed else float(sum(Fraction(leaf[2]) for leaf in made))
    says = {
        "family": "f0-private",
        "insecure_noise": insecure,
        **says_frame(mode, largest, tables, bits),
        "leaves": [
            {"id": id_.hex(), "flip_numerator": str(p), "epsilon": epsilon, "max_items": items, "opened": opened}
            for id_, p, epsilon, items, opened, _ in made
        ],
        "coins": [{"name": coin.hex(), "release": release} for coin, release in coins],
        "contrast": float(contrast),
        "flip_probability": float((1 - contrast) / 2),
        "level_if_seen_alone": alone,
        "epsilon": max(leaf[2] for leaf in made),
        "epsilon_total": total,
    }
    write(name, container(13, 1 | 4 * insecure, body + words(tables, bits)), says)


def check():
    """The two ways to place an item agree, and SipHash meets the vector of its authors' 128-bit list."""
    vector = siphash(bytes(range(16)), b"", 2, 4)
    assert vector.hex() == "a3817f04ba25a8e66df67214c7550293"
    # RFC 7539, appendix A.1, test vector 1.
    assert chacha20(bytes(32), 0, 0).hex().startswith("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1a")
    for item in range(2000):
        h1, h2 = hash_of(item)
        for levels, cells in ((1, 3), (5, 10), (24, 4096), (64, 7)):
            assert cell(regular(levels, cells), h1, h2) == level_cell(levels, cells, h1, h2)


GENERAL = [(1 << 62, 16), (3 << 59, 50), (5 << 59, 30)]


def main():
    check()
    raw("raw-empty", regular(3, 8), [])
    raw("raw-set", regular(4, 10), list(range(25)))
    raw("raw-default", regular(24, 4096), list(range(0, 3000, 7)))
    raw("raw-deep", regular(64, 3), list(range(500)))
    raw("raw-general", GENERAL, list(range(40)), releases=3)
    raw("raw-text", regular(5, 100), ["alice", "bob", "", "Ærø", "x" * 100])
    raw("raw-user", regular(2, 4), [1, 2, 3, 4, 5], max_items=3, releases=(1 << 32) - 1)
    weights = [[item, value] for item, value in enumerate([0.0, 0.5, 1.0, 2.5, 3.3, 7.0, 9.99, 10.0, 10.5, 1e9, 1e-300] * 9)]
    raw("raw-weighted", regular(6, 64), weights, largest=10.0)
    raw("raw-presampled", regular(4, 10), [], kept=[2, 3, 5, 8, 13, 21], mode=PRESAMPLED, exposure=1.4898801256447498, releases=1, coins=3)
    raw("raw-nameless", regular(4, 10), [], mode=PRESAMPLED)
    raw("raw-insecure", regular(2, 8), [], kept=[1, 2], mode=PRESAMPLED, insecure=True, coins=1)

    tight, paper = "tight", "paper"
    private("private-single", regular(3, 8), [(tight, 1.0, 0)])
    private("private-default", regular(24, 4096), [(tight, 2.0, 0)])
    private("private-paper", regular(4, 10), [(paper, 1.0, 0)])
    private("private-user", regular(4, 10), [(tight, 1.0, 3)])
    private("private-pair", regular(4, 10), [(tight, 1.0, 0), (tight, 0.5, 0)])
    private("private-many", GENERAL, [(tight, 0.25 * (index + 1), 0) for index in range(20)])
    private("private-users", GENERAL, [(tight, 2.0, 2), (paper, 1.0, 5)])
    private("private-units", regular(4, 10), [(tight, 1.0, 2), (tight, 3.0, 0)])
    private("private-weighted", regular(4, 10), [(tight, 1.0, 0)], largest=2.5)
    private("private-presampled", regular(4, 10), [(tight, 1.0, 0)], mode=PRESAMPLED)
    private("private-union", regular(4, 10), [(tight, 1.0, 0), (tight, 2.0, 0), (paper, 4.0, 0)], mode=PRESAMPLED)
    private("private-strong", regular(3, 8), [(tight, 100.0, 0)])
    private("private-opened", regular(4, 10), [("opened", 1.0, 0), (tight, 0.5, 0)])
    private("private-opened-users", regular(4, 10), [("opened", 2.0, 3)], mode=PRESAMPLED)
    private("private-insecure", regular(3, 8), [(tight, 1.0, 0)], insecure=True)

    # Levels rounded up in the third digit from what the flips of the file inside keep at the rate.
    rate, p = (1 << 64) // 10, flips(SET, tight, 1.0, 0)
    level = math.ceil(sampled_level(rate, p) * 1000) / 1000
    subsampled("subsampled-single", "private-single", rate, [level])
    private("private-pair-strong", regular(4, 10), [(tight, 3.0, 0), (tight, 5.0, 0)])
    said = json.loads((HERE / "private-pair-strong.json").read_text())["leaves"]
    levels = [math.ceil(sampled_level(rate, int(leaf["flip_numerator"])) * 1000) / 1000 for leaf in said]
    subsampled("subsampled-pair", "private-pair-strong", rate, levels)
    subsampled_raw("subsampled-raw", regular(4, 10), list(range(60)), (1 << 64) // 4)


if __name__ == "__main__":
    main()
