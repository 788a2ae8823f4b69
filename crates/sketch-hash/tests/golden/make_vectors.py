#!/usr/bin/env python3
"""Writes siphash.json and vectors.json: hashes by a second, slow implementation of the whole value contract.

Standard library only; shares no code with the crate. Before it writes anything it checks itself against published
answers: the SipHash paper's, the first vector of the reference code's 128-bit list, CPython's own hash of bytes
(SipHash-1-3 since Python 3.11, with a zero key when PYTHONHASHSEED is 0) and XXH64's. Run it in this folder:

    python3 make_vectors.py
"""

import json
import math
import os
import struct
import subprocess
import sys
from fractions import Fraction

MASK = (1 << 64) - 1


def rotl(x, b):
    return ((x << b) | (x >> (64 - b))) & MASK


def siphash(key, data, c, d, wide=False):
    """SipHash-c-d; one 64-bit number, or two for the 128-bit variant."""
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    if wide:
        v[1] ^= 0xEE

    def rounds(n):
        for _ in range(n):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = rotl(v[1], 13) ^ v[0]
            v[0] = rotl(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = rotl(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = rotl(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = rotl(v[1], 17) ^ v[2]
            v[2] = rotl(v[2], 32)

    padded = data + b"\0" * (7 - len(data) % 8) + bytes([len(data) & 255])
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
    return first, v[0] ^ v[1] ^ v[2] ^ v[3]


def xxh64(data, seed=0):
    p1, p2, p3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
    p4, p5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5

    def lane(acc, word):
        return rotl((acc + word * p2) & MASK, 31) * p1 & MASK

    at = 0
    if len(data) >= 32:
        acc = [(seed + p1 + p2) & MASK, (seed + p2) & MASK, seed, (seed - p1) & MASK]
        while at + 32 <= len(data):
            acc = [lane(a, w) for a, w in zip(acc, struct.unpack_from("<4Q", data, at))]
            at += 32
        h = sum(rotl(a, r) for a, r in zip(acc, (1, 7, 12, 18))) & MASK
        for a in acc:
            h = ((h ^ lane(0, a)) * p1 + p4) & MASK
    else:
        h = (seed + p5) & MASK
    h = (h + len(data)) & MASK
    while at + 8 <= len(data):
        h = (rotl(h ^ lane(0, struct.unpack_from("<Q", data, at)[0]), 27) * p1 + p4) & MASK
        at += 8
    if at + 4 <= len(data):
        h = (rotl(h ^ struct.unpack_from("<I", data, at)[0] * p1 & MASK, 23) * p2 + p3) & MASK
        at += 4
    for byte in data[at:]:
        h = rotl(h ^ byte * p5 & MASK, 11) * p1 & MASK
    h = (h ^ h >> 33) * p2 & MASK
    h = (h ^ h >> 29) * p3 & MASK
    return h ^ h >> 32


def check_published():
    key = bytes(range(16))
    assert siphash(key, bytes(range(15)), 2, 4) == 0xA129CA6149BE45E5
    first = struct.pack("<QQ", *siphash(key, b"", 2, 4, wide=True))
    assert first == bytes.fromhex("a3817f04ba25a8e66df67214c7550293")
    assert xxh64(b"") == 0xEF46DB3751D8E999
    assert xxh64(b"Nobody inspects the spammish repetition") == 0xFBCEA83C8A378BF1
    if sys.version_info < (3, 11):
        sys.exit("Python 3.11 or newer is needed: its hash of bytes is the check of SipHash-1-3")
    texts = [bytes((7 * i + n) & 255 for i in range(n)) for n in range(1, 80)]
    code = f"assert __import__('sys').hash_info.algorithm == 'siphash13'; print([hash(t) for t in {texts!r}])"
    run = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": "0"},
                         capture_output=True, text=True, check=True)
    for text, python in zip(texts, json.loads(run.stdout)):
        ours = siphash(bytes(16), text, 1, 3)
        ours -= (ours >> 63) << 64
        assert python == (-2 if ours == -1 else ours)


# --- keys -------------------------------------------------------------------------------------------------------

def prf(key, data):
    return struct.pack("<QQ", *siphash(key, data, 2, 4, wide=True))


def derive(key, label, index):
    return prf(prf(key, label.encode()), struct.pack("<Q", index))


def fingerprint(key):
    return struct.unpack("<Q", prf(key, b"sketch-hash key fingerprint")[:8])[0]


def words(key, label, index):
    derived, i = derive(key, label, index), 0
    while True:
        yield siphash(derived, struct.pack("<Q", i), 2, 4)
        i += 1


# --- items ------------------------------------------------------------------------------------------------------

def number_bytes(n):
    return n.to_bytes(8 if -(1 << 63) <= n < 1 << 63 else 16, "little", signed=True)


def double_bytes(x, one_zero):
    if math.isnan(x):
        return struct.pack("<Q", 0x7FF8000000000000)
    return struct.pack("<d", 0.0 if one_zero and x == 0 else x)


def decimal_item(unscaled, scale):
    """Exact: the value is a fraction; it is an integer of 128 bits, or its shortest decimal form counts."""
    value = Fraction(unscaled) * Fraction(10) ** -scale
    if value.denominator == 1 and -(1 << 127) <= value < 1 << 127:
        return "integer", number_bytes(int(value))
    while unscaled % 10 == 0:
        unscaled, scale = unscaled // 10, scale - 1
    return "decimal", unscaled.to_bytes(16, "little", signed=True) + struct.pack("<h", scale)


def canonical(item):
    kind, value = item["type"], item["value"]
    if kind == "integer":
        return "integer", number_bytes(int(value))
    if kind == "text":
        return "bytes", value.encode()
    if kind == "binary":
        return "bytes", bytes.fromhex(value)
    if kind == "float":
        return "float", double_bytes(struct.unpack(">d", bytes.fromhex(value))[0], True)
    if kind == "float32":
        return "float", double_bytes(struct.unpack(">f", bytes.fromhex(value))[0], True)
    if kind == "boolean":
        return "boolean", struct.pack("<Q", value)
    if kind == "date":
        return "date", struct.pack("<q", int(value))
    if kind == "zoned":
        return "timestamp", number_bytes(int(value))
    if kind == "local":
        return "local timestamp", number_bytes(int(value))
    assert kind == "decimal"
    return decimal_item(int(value[0]), value[1])


def presto(item):
    kind, value = item["type"], item["value"]
    if kind == "float":
        return double_bytes(struct.unpack(">d", bytes.fromhex(value))[0], False)
    if kind == "float32":
        x = struct.unpack(">f", bytes.fromhex(value))[0]
        bits = 0x7FC00000 if math.isnan(x) else int(value, 16)
        return struct.pack("<q", bits - ((bits >> 31) << 32))
    if kind in ("zoned", "local"):
        return number_bytes(int(value) // 10**6)
    if kind == "decimal":
        return number_bytes(int(value[0]))
    return canonical(item)[1]


class DefaultHash:
    def __init__(self, key):
        self.key = key

    def hash(self, domain, data, wide):
        return siphash(derive(self.key, "sketch-hash domain " + domain, 0), data, 1, 3, wide)

    def item(self, item, wide):
        return self.hash(*canonical(item), wide)

    def row(self, items):
        state = (0, 0)
        for item in items:
            state = self.hash("row", struct.pack("<4Q", *state, *self.item(item, True)), True)
        return self.hash("row", struct.pack("<4Q", *state, len(items), 0), True)


# --- families ---------------------------------------------------------------------------------------------------

def multiply_shift(key, index):
    seed = words(key, "sketch-hash multiply-shift", index)
    a = next(seed) << 64 | next(seed)
    b = next(seed) << 64 | next(seed)
    return lambda x: (a * x + b) % (1 << 128) >> 64


def polynomial(k):
    def member(key, index):
        family, prime, coefficients = derive(key, "sketch-hash polynomial", k), (1 << 61) - 1, []
        seed = words(family, "member", index)
        while len(coefficients) < k:
            c = next(seed) & prime
            if c != prime:
                coefficients.append(c)
        return lambda x: sum(c * pow(x, i, prime) for i, c in enumerate(coefficients)) % prime
    return member


def simple_tabulation(key, index):
    seed = words(key, "sketch-hash simple tabulation", index)
    tables = [[next(seed) for _ in range(256)] for _ in range(8)]

    def h(x):
        out = 0
        for i in range(8):
            out ^= tables[i][x >> 8 * i & 255]
        return out
    return h


def mixed_tabulation(key, index):
    seed = words(key, "sketch-hash mixed tabulation", index)
    first = [[(next(seed), next(seed) & 0xFFFFFFFF) for _ in range(256)] for _ in range(8)]
    second = [[next(seed) for _ in range(256)] for _ in range(4)]

    def h(x):
        out = derived = 0
        for i in range(8):
            value, more = first[i][x >> 8 * i & 255]
            out, derived = out ^ value, derived ^ more
        for i in range(4):
            out ^= second[i][derived >> 8 * i & 255]
        return out
    return h


FAMILIES = {"multiply_shift": multiply_shift, "polynomial2": polynomial(2), "polynomial4": polynomial(4),
            "simple_tabulation": simple_tabulation, "mixed_tabulation": mixed_tabulation}


# --- the cases --------------------------------------------------------------------------------------------------

def h16(x):
    return f"{x:016x}"


def items():
    def bits(fmt, x):
        return struct.pack(fmt, x).hex()
    values = [("integer", str(n)) for n in (0, 1, -1, 42, 255, -128, 2**31, 2**63 - 1, -(2**63), 2**63, 2**64 - 1,
                                            -(2**63) - 1, 2**127 - 1, -(2**127))]
    values += [("text", t) for t in ("", "a", "42", "1234567", "12345678", "éclair ☃ 0123456789 abcdefghijklmnop")]
    values += [("binary", b) for b in ("", "61", "00", "ff00ff", "3432")]
    values += [("float", bits(">d", x)) for x in (0.0, -0.0, 1.0, -1.5, 0.1, math.inf, -math.inf, 5e-324, 1e300)]
    values += [("float", b) for b in ("7ff8000000000000", "fff8000000000001", "7ff0000000000001")]
    values += [("float32", bits(">f", x)) for x in (0.0, -0.0, 1.0, -1.5, 0.1, math.inf)]
    values += [("float32", b) for b in ("7fc00000", "ffc00001")]
    values += [("boolean", b) for b in (False, True)]
    values += [("date", d) for d in ("0", "1", "-1", "20786")]
    for kind in ("zoned", "local"):
        values += [(kind, str(n)) for n in (0, 1, -1, 1_795_910_400_000_000_000, -999_999, 2**63, -(2**80))]
    values += [("decimal", [str(u), s]) for u, s in (
        (0, 0), (0, 5), (42, 0), (4200, 2), (-7, 0), (-70, 1), (15, 1), (150, 2), (-15, 1), (1, 38), (1, 127), (1, -3),
        (1, -38), (17, -37), (18, -37), (1, -39), (10, -38), (10**38, -128), (10**38, 127), (2**127 - 1, 0),
        (2**127 - 1, 1), (-(2**127), 0), (123_456_789_012_345_678_901_234_567_890, 12))]
    return [{"type": t, "value": v} for t, v in values]


def cases():
    keys = {"default": b"dpsketch-default", "counting": bytes(range(16))}
    for name, key in keys.items():
        hash_ = DefaultHash(key)
        yield "key", {"key": key.hex()}, {
            "fingerprint": h16(fingerprint(key)),
            "derived": [[label, i, derive(key, label, i).hex()] for label in ("", "a", "study") for i in (0, 1, 2**64 - 1)],
            "words": [h16(w) for w, _ in zip(words(key, "some label", 7), range(5))]}
        yield "item", {"key": key.hex(), "items": items()}, {
            "hash64": [h16(hash_.item(i, False)) for i in items()],
            "hash128": [list(map(h16, hash_.item(i, True))) for i in items()]}
        rows = [[], items()[:1], items()[1:3], items()[2:0:-1], items()[::7]]
        yield "row", {"key": key.hex(), "rows": rows}, {"hash128": [list(map(h16, hash_.row(r))) for r in rows]}
        texts = [bytes((31 * i + n) & 255 for i in range(n)) for n in [*range(0, 81), 255, 256, 257, 1000]]
        yield "bytes", {"key": key.hex(), "texts": [t.hex() for t in texts]}, {
            "hash64": [h16(hash_.hash("bytes", t, False)) for t in texts],
            "hash128": [list(map(h16, hash_.hash("bytes", t, True))) for t in texts]}
        xs = [0, 1, 2, 255, 256, 2**32 - 1, 2**61 - 2, 2**61 - 1, 2**61, 2**63, 2**64 - 2, 2**64 - 1, 0x0123456789ABCDEF]
        for family, member in FAMILIES.items():
            for index in (0, 1):
                h = member(key, index)
                yield family, {"key": key.hex(), "index": index, "keys": [h16(x) for x in xs]}, {
                    "hashes": [h16(h(x)) for x in xs]}
    yield "presto", {"items": items()}, {"xxh64": [h16(xxh64(presto(i))) for i in items()]}


def write(name, content):
    with open(name, "w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False, separators=(",", ":"))
        file.write("\n")


check_published()
counting, messages = bytes(range(16)), [bytes(range(n)) for n in range(64)]
write("siphash.json", {"generator": "make_vectors.py", "hash64": [h16(siphash(counting, m, 1, 3)) for m in messages],
                       "hash128": [list(map(h16, siphash(counting, m, 1, 3, True))) for m in messages]})
listed = []
for kind_, input_, expect_ in cases():
    listed.append({"id": f"{kind_}-{len(listed):02}", "kind": kind_, "input": input_, "expect": expect_})
write("vectors.json", {"generator": "make_vectors.py", "count": len(listed), "cases": listed})
