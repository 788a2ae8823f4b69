#!/usr/bin/env python3
"""Reads dpsketch files with Python's standard library alone.

Written from the description of the format (docs/src/wire-format.md), not from the Rust code, so that each checks the
other. As a program it prints what files say, as JSON:

    python3 dpsketch_reader.py FILE...

As a module: `read(data)` gives a dictionary, or raises `FormatError` with a one-word `kind`.
"""

import json
import math
import struct
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial

HEADER_LEN = 32
HEADER_VERSION = 1
PRIVATE, RAW, INSECURE_NOISE = 1, 2, 4
FLAGS = {PRIVATE: "private", RAW: "raw", INSECURE_NOISE: "insecure_noise"}
EXAMPLE = 255
FAMILIES = {
    1: "sfm-private",
    2: "pcsa-raw",
    3: "linear-private",
    4: "linear-raw",
    5: "bloom-private",
    6: "bloom-raw",
    7: "legions-private",
    8: "legions-raw",
    9: "countsketch-private",
    10: "countsketch-raw",
    11: "prefix-private",
    12: "prefix-raw",
    13: "f0-private",
    14: "f0-raw",
    15: "sfm-tally",
    16: "sfm-subsampled",
    17: "sfm-subsampled-raw",
    18: "f0-subsampled",
    19: "f0-subsampled-raw",
    EXAMPLE: "example",
}
MAX_RELEASES = 65536


class FormatError(Exception):
    """Bytes that are not a file of the format; `kind` is one word for the reason."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


# --- container ----------------------------------------------------------------------------------------------------


def _crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0xC96C5795D7870F42 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def crc64_xz(*parts):
    """CRC-64/XZ of the parts one after the other."""
    crc = (1 << 64) - 1
    for part in parts:
        for byte in part:
            crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ ((1 << 64) - 1)


def read_header(data, wanted_family=None):
    """The header as a dictionary. Magic and versions are looked at before anything else."""
    if not b"DPSK".startswith(data[:4]):
        raise FormatError("magic", f"expected DPSK, found {data[:4]!r}")
    if len(data) > 4 and data[4] != HEADER_VERSION:
        raise FormatError("header_version", f"expected {HEADER_VERSION}, found {data[4]}")
    if len(data) < HEADER_LEN:
        raise FormatError("truncated", f"expected {HEADER_LEN} bytes of header, found {len(data)}")
    family, body_version, flags = data[5], data[6], data[7]
    if family not in FAMILIES:
        raise FormatError("unknown_family", f"family {family}")
    if wanted_family not in (None, family):
        raise FormatError("family", f"expected {FAMILIES[wanted_family]}, found {FAMILIES[family]}")
    if body_version != 1:
        raise FormatError("body_version", f"expected 1, found {body_version}")
    if flags & ~(PRIVATE | RAW | INSECURE_NOISE):
        raise FormatError("unknown_flags", f"flags {flags:#010b}")
    if bool(flags & PRIVATE) == bool(flags & RAW):
        raise FormatError("flags_exclusive", f"expected exactly one of private and raw, flags {flags:#010b}")
    raw = FAMILIES[family].endswith("-raw")
    if family != EXAMPLE and raw != bool(flags & RAW):
        raise FormatError("flags_family", f"{FAMILIES[family]} with flags {flags:#010b}")
    if data[16:24] != bytes(8):
        raise FormatError("reserved", f"expected eight zero bytes, found {data[16:24].hex()}")
    body_len, checksum = struct.unpack_from("<Q8xQ", data, 8)
    return {
        "header_version": data[4],
        "family": family,
        "body_version": body_version,
        "flags": [name for bit, name in FLAGS.items() if flags & bit],
        "body_len": body_len,
        "checksum": f"{checksum:016x}",
    }


def read_container(data, wanted_family=None):
    """Header and body bytes, with lengths and checksum checked."""
    header = read_header(data, wanted_family)
    cap = _BODIES[header["family"]][1]
    if header["body_len"] > cap:
        raise FormatError("body_too_long", f"expected at most {cap} bytes, found {header['body_len']}")
    expected = HEADER_LEN + header["body_len"]
    if len(data) < expected:
        raise FormatError("truncated", f"expected {expected} bytes, found {len(data)}")
    if len(data) > expected:
        raise FormatError("trailing_bytes", f"expected {expected} bytes, found {len(data)}")
    body = data[HEADER_LEN:]
    found = f"{crc64_xz(data[:24], body):016x}"
    if found != header["checksum"]:
        raise FormatError("checksum", f"expected {header['checksum']}, found {found}")
    return header, body


def read(data, wanted_family=None):
    """Everything a file says, as a dictionary of plain values."""
    header, body = read_container(data, wanted_family)
    fields = Fields(body)
    content = _BODIES[header["family"]][0](fields, header)
    fields.end()
    return {"header": header, "body": content}


class Fields:
    """Takes packed little-endian fields from bytes, and never more than there are."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, size):
        if size > len(self.data) - self.at:
            raise FormatError("body", f"a field of {size} bytes at {self.at} ends after the body")
        self.at += size
        return self.data[self.at - size : self.at]

    def unpack(self, layout):
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def one(self, code):
        return self.unpack(code)[0]

    def records(self, layout):
        """A u64 length and that many records of one layout."""
        count = self.one("Q")
        size = struct.calcsize("<" + layout)
        return list(struct.iter_unpack("<" + layout, self.take(count * size)))

    def end(self):
        if self.at != len(self.data):
            raise FormatError("body", f"fields end at {self.at}, the body at {len(self.data)}")


# --- bodies -------------------------------------------------------------------------------------------------------


def _example(fields, _header):
    tag, short, count, total, change, ratio = fields.unpack("BHIQqQ")
    present = fields.one("B")
    if present > 1:
        raise FormatError("body", f"expected 0 or 1, found {present}")
    return {
        "tag": tag,
        "short": short,
        "count": count,
        "total": str(total),
        "change": str(change),
        "ratio_bits": f"{ratio:016x}",
        "present": bool(present),
        "id": fields.take(4).hex(),
        "entries": [{"key": key, "weight": weight} for key, weight in fields.records("IH")],
        "words": [f"{word:016x}" for (word,) in fields.records("Q")],
    }


def _within(name, value, low, high):
    if not low <= value <= high:
        raise FormatError("body", f"{name}: expected {low} to {high}, found {value}")


class Pcsa:
    """Levels of equally many buckets."""

    cells_per_item = 1

    def __init__(self, fields):
        index_bits, self.levels = fields.unpack("BB")
        _within("log2 of the buckets", index_bits, 1, 20)
        _within("levels", self.levels, 1, 64 - index_bits)
        self.buckets = 1 << index_bits
        self.cells = self.buckets * self.levels

    def describe(self):
        return {"buckets": self.buckets, "levels": self.levels}

    def ones(self, text):
        """The ones of each level: cell (bucket, level) is bit `level * buckets + bucket`."""
        buckets = self.buckets
        counts = [text.count("1", level * buckets, (level + 1) * buckets) for level in range(self.levels)]
        return {"ones_per_level": counts}


class Row:
    """One row of cells."""

    cells_per_item = 1

    def ones(self, text):
        return {"ones": text.count("1")}


class Linear(Row):
    def __init__(self, fields):
        self.cells = fields.one("I")
        _within("cells", self.cells, 2, 1 << 26)

    def describe(self):
        return {"cells": self.cells}


class Bloom(Row):
    def __init__(self, fields):
        self.cells, self.cells_per_item = fields.unpack("IB")
        _within("cells", self.cells, 2, 1 << 26)
        _within("hashes", self.cells_per_item, 1, 64)

    def describe(self):
        return {"cells": self.cells, "hashes": self.cells_per_item}


class Legions(Row):
    def __init__(self, fields):
        self.cells, self.decay = fields.unpack("Id")
        _within("cells", self.cells, 2, 1 << 20)
        _within("decay", self.decay, 0.0625, 24.0)

    def describe(self):
        return {"cells": self.cells, "decay": self.decay}


def _hash(fields):
    algorithm, fingerprint = fields.unpack("BQ")
    _within("hash algorithm", algorithm, 1, 2)
    return {"hash_algorithm": algorithm, "hash_fingerprint": f"{fingerprint:016x}"}


def _ones(fields, shape):
    """Checks the cells and counts the ones."""
    words = fields.records("Q")
    if len(words) != -(-shape.cells // 64):
        raise FormatError("body", f"expected {-(-shape.cells // 64)} words of cells, found {len(words)}")
    bits = int.from_bytes(b"".join(struct.pack("<Q", word) for (word,) in words), "little")
    if bits >> shape.cells:
        raise FormatError("body", f"bits set beyond the last of {shape.cells} cells")
    return shape.ones(f"{bits:0{shape.cells}b}"[::-1])


def _raw(shape_type, fields, header):
    if header["flags"] != ["raw"]:
        raise FormatError("flags_family", f"a bitmap without noise with flags {header['flags']}")
    shape = shape_type(fields)
    hash_id = _hash(fields)
    releases = fields.one("I")
    max_items = fields.one("I")
    return {
        "family": FAMILIES[header["family"]],
        **shape.describe(),
        **hash_id,
        "releases": releases,
        "max_items": max_items,
        **_ones(fields, shape),
    }


def _epsilon_total(leaves):
    """The sum of epsilon, which has a meaning for one kind of unit only."""
    if len({leaf["max_items"] > 0 for leaf in leaves}) > 1:
        return None
    return float(sum(Fraction(leaf["epsilon"]) for leaf in leaves))


def _private(shape_type, fields, header):
    shape = shape_type(fields)
    hash_id = _hash(fields)
    leaves = [
        {"id": name.hex(), "p_numerator": str(p), "q_numerator": str(q), "epsilon": epsilon, "max_items": max_items}
        for name, p, q, epsilon, max_items in fields.records("16sQQdI")
    ]
    steps = [list(step) for step in fields.records("BBI")]
    ones = _ones(fields, shape)
    _check_leaves(leaves, shape.cells_per_item)
    cells_of_unit = _cells_of_unit(leaves, shape.cells_per_item)
    if [0, 1] in [step[:2] for step in steps]:
        cells_of_unit = None  # Of noise made elsewhere nobody here knows the coins.
    with localcontext() as context:
        context.prec = 60
        p, a = _run(leaves, steps)
        q = p * (1 - a)
        level = max(_ln1p(p * a / q), _ln1p(p * a / (1 - p)))
        channel = {
            "p": float(p),
            "q": float(q),
            "a": float(a),
            "d": float(p * a),
            "level_if_seen_alone": None if cells_of_unit is None else float(level * cells_of_unit),
        }
    return {
        "family": FAMILIES[header["family"]],
        "insecure_noise": "insecure_noise" in header["flags"],
        **shape.describe(),
        **hash_id,
        "leaves": leaves,
        "steps": steps,
        **channel,
        "epsilon": max(leaf["epsilon"] for leaf in leaves),
        "epsilon_total": _epsilon_total(leaves),
        **ones,
    }


# --- CountSketch --------------------------------------------------------------------------------------------------

ENTRY, USER_TOTAL, USER_ITEMS, CLIPPED = 1, 2, 3, 4
GAUSSIAN, LAPLACE, GAUSSIAN_SHARES, LAPLACE_SHARES = 1, 2, 3, 4
MAX_SHARES = 1 << 20
# SipHash-1-3 under the public key, which plain levels of stacks state.
DEFAULT_HASH = (1, "c9a4d873c4d3b963")
COUNTSKETCH_CAP = (1 << 29) + (1 << 24)


def _frame(fields):
    rows, width = fields.unpack("BI")
    _within("rows", rows, 1, 255)
    _within("width", width, 2, 1 << 24)
    if rows % 2 == 0 or rows * width > 1 << 26:
        raise FormatError("body", f"no sketch has {rows} rows of {width} buckets")
    hash_id = _hash(fields)
    granularity = fields.one("B")
    _within("granularity", granularity, 0, 52)
    return {"rows": rows, "width": width, **hash_id, "granularity": granularity}


def _bound(kind, items, weight, low, high):
    return {"kind": kind, "items": items, "weight": weight, "squared_norm": str(low | high << 64)}


def _check_bound(bound):
    kind, items, weight, norm = bound["kind"], bound["items"], bound["weight"], int(bound["squared_norm"])
    _within("kind of bound", kind, ENTRY, CLIPPED)
    _within("weight", weight, 1, (1 << 63) - 1)
    if kind in (ENTRY, USER_TOTAL):
        _within("items", items, 2 - kind, 2 - kind)
    else:
        _within("items", items, 1, 1 << 20)
        _within("total weight", items * weight, 1, 1 << 56 if kind == CLIPPED else (1 << 63) - 1)
    if (norm > 0) != (kind == CLIPPED):
        raise FormatError("body", f"a squared norm of {norm} in a bound of kind {kind}")


def _cells(fields, frame):
    cells = [cell for (cell,) in fields.records("q")]
    if len(cells) != frame["rows"] * frame["width"]:
        raise FormatError("body", f"expected {frame['rows'] * frame['width']} cells, found {len(cells)}")
    if -(1 << 63) in cells:
        raise FormatError("body", "a cell of -2^63")
    largest = max(abs(cell) for cell in cells)
    return {"cells": len(cells), "sum_of_cells": str(sum(cells)), "largest_cell": str(largest)}


def _countsketch_raw(fields, header):
    if header["flags"] != ["raw"]:
        raise FormatError("flags_family", f"counters without noise with flags {header['flags']}")
    frame = _frame(fields)
    bound = _bound(*fields.unpack("BIQQQ"))
    _check_bound(bound)
    parts, releases = fields.unpack("II")
    _within("parts", parts, 1, 1 if bound["kind"] == ENTRY else (1 << 32) - 1)
    family = FAMILIES[header["family"]]
    return {"family": family, **frame, "bound": bound, "parts": parts, "releases": releases, **_cells(fields, frame)}


def _countsketch_leaf(record):
    name, law, low, high, denominator, secret, summed, factor, relation, *bound, parts, cost = record
    return {
        "id": name.hex(),
        "law": law,
        "numerator": str(low | high << 64),
        "denominator": str(denominator),
        "secret": secret,
        "summed": summed,
        "factor": factor,
        "relation": relation,
        "bound": _bound(*bound),
        "parts": parts,
        "cost": cost,
    }


def _sensitivities(rows, leaf):
    """D1 and the square of D2."""
    bound, factor = leaf["bound"], leaf["parts"] * leaf["relation"]
    norm = int(bound["squared_norm"])
    total = bound["weight"] * (bound["items"] if bound["kind"] in (USER_ITEMS, CLIPPED) else 1)
    l1, l2 = rows * total, rows * total**2
    if bound["kind"] == CLIPPED:
        l1, l2 = min(l1, norm, math.isqrt(rows * bound["items"] * norm)), min(l2, norm)
    return l1 * factor, l2 * factor**2


def _least_cost(frame, leaf, parameter):
    """What noise of this parameter costs one unit."""
    l1, l2 = _sensitivities(frame["rows"], leaf)
    if leaf["law"] in (LAPLACE, LAPLACE_SHARES):
        return max(l1 / parameter, Fraction(1, 1 << 30))
    if leaf["law"] == GAUSSIAN:
        return max(l2 / (2 * parameter), Fraction(1, 1 << 40))
    # A formula in floating point: its last digits are not held against a file.
    count, share = leaf["secret"], float(parameter)
    tau = 10 * sum(math.exp(-2 * math.pi**2 * share * j / (j + 1)) for j in range(1, min(count, 65)))
    # The others are above their limit.
    tau += 10 * max(count - 65, 0) * math.exp(-2 * math.pi**2 * share)
    cells, a2, c = frame["rows"] * frame["width"], l2 / (count * share), l1 / math.sqrt(count * share)
    forms = (math.sqrt(a2) + tau * math.sqrt(cells)) ** 2, a2 + 2 * c * tau + tau**2 * cells, a2 + 2 * tau * cells
    return min(forms) / 2 * (1 - 2e-9)


def _check_countsketch_leaf(frame, leaf):
    numerator, denominator = int(leaf["numerator"]), int(leaf["denominator"])
    _within("law", leaf["law"], GAUSSIAN, LAPLACE_SHARES)
    _within("relation", leaf["relation"], 0, 2)
    if denominator == 0 or math.gcd(numerator, denominator) != 1:
        raise FormatError("body", f"no fraction in lowest terms: {numerator}/{denominator}")
    parameter = Fraction(numerator, denominator)
    _within("parameter of noise", parameter, Fraction(1, 1 << 10), 1 << 80)
    if leaf["factor"] in (0, -(1 << 63)):
        raise FormatError("body", f"a factor of {leaf['factor']}")
    if leaf["law"] in (GAUSSIAN, LAPLACE):
        _within("shares", max(leaf["secret"], leaf["summed"]), 0, 0)
    else:
        _within("secret shares", leaf["secret"], 1, leaf["summed"])
        _within("shares", leaf["summed"], 1, MAX_SHARES)
    if leaf["law"] == GAUSSIAN_SHARES and parameter < 2:
        raise FormatError("body", f"a share of variance {parameter}")
    if leaf["relation"] == 0:
        nothing = _bound(0, 0, 0, 0, 0)
        zero = struct.pack("<d", leaf["cost"]) == bytes(8)
        if leaf["law"] != GAUSSIAN or leaf["bound"] != nothing or leaf["parts"] or not zero:
            raise FormatError("body", "noise on top that protects somebody")
        return
    _check_bound(leaf["bound"])
    _within("parts", leaf["parts"], 1, (1 << 32) - 1)
    low, high = (2.0**-30, 256.0) if leaf["law"] in (LAPLACE, LAPLACE_SHARES) else (2.0**-40, 65536.0)
    _within("cost", leaf["cost"], low, high)
    if _least_cost(frame, leaf, parameter) > Fraction(leaf["cost"]):
        raise FormatError("body", f"the noise of release {leaf['id']} does not keep {leaf['cost']}")


def _paid(leaves, steps):
    """What one unit paid in zCDP, and in pure epsilon where all is pure; nothing where units differ."""
    stack, rest = [], []
    for leaf in reversed(leaves):
        cost, pure = Fraction(leaf["cost"]), leaf["law"] in (LAPLACE, LAPLACE_SHARES)
        nobody = leaf["relation"] == 0
        rest.append((cost * cost / 2, cost) if pure else (cost, Fraction(0) if nobody else None))
    for index, (operation, count) in enumerate(steps):
        _within("operation", operation, 0, 2)
        available = len(rest) if operation == 0 else len(stack)
        if not (1 if operation == 0 else 2) <= count <= available:
            raise FormatError("body", f"step {index} of the history is malformed")
        if operation == 0:
            stack += [rest.pop() for _ in range(count)]
            continue
        join = sum if operation == 1 else max
        top = stack[-count:]
        del stack[-count:]
        pure = [epsilon for _, epsilon in top]
        stack.append((join(rho for rho, _ in top), None if None in pure else join(pure)))
    if rest or len(stack) != 1:
        raise FormatError("body", "the history leaves releases over")
    units = {(leaf["bound"]["kind"] != ENTRY, leaf["relation"]) for leaf in leaves if leaf["relation"]}
    if len(units) > 1:
        return None, None
    rho, epsilon = stack[0]
    return float(rho), None if epsilon is None else float(epsilon)


def _countsketch_private(fields, header):
    frame = _frame(fields)
    leaves = [_countsketch_leaf(record) for record in fields.records("16sBQQQIIqBBIQQQId")]
    steps = [list(step) for step in fields.records("BI")]
    cells = _cells(fields, frame)
    _within("releases", len(leaves), 1, MAX_RELEASES)
    if len({leaf["id"] for leaf in leaves}) != len(leaves):
        raise FormatError("body", "a release appears twice")
    for leaf in leaves:
        _check_countsketch_leaf(frame, leaf)
    rho, epsilon = _paid(leaves, steps)
    return {
        "family": FAMILIES[header["family"]],
        "insecure_noise": "insecure_noise" in header["flags"],
        **frame,
        "leaves": leaves,
        "steps": steps,
        "rho_total": rho,
        "epsilon_total": epsilon,
        **cells,
    }


def _prefix_levels(fields, header):
    """Shape and levels of a stack; each level is a file of its own."""
    rows, width = fields.unpack("BI")
    if rows % 2 == 0 or not 2 <= width <= 1 << 24 or rows * width > 1 << 26:
        raise FormatError("body", f"no sketch has {rows} rows of {width} buckets")
    count = fields.one("Q")
    _within("levels", count, 1, 64)
    levels, before = [], 0
    for _ in range(count):
        length, size = fields.unpack("BQ")
        _within("prefix length", length, before + 1, min(before + 16, 64))
        before = length
        plain = length <= 24 and 1 << length <= rows * width
        wanted = (1, 1 << length) if plain else (rows, width)
        try:
            # Family 9 holds levels of family 11, 10 those of 12.
            file = read(fields.take(size), header["family"] - 2)["body"]
        except FormatError as error:
            raise FormatError("body", f"level of {length} bits: {error}") from error
        if (file["rows"], file["width"]) != wanted:
            raise FormatError("body", f"expected rows and width {wanted} for {length} bits")
        if plain and (file["hash_algorithm"], file["hash_fingerprint"]) != DEFAULT_HASH:
            raise FormatError("body", "a plain level states the default hash")
        levels.append({"length": length, "plain": plain, "file": file})
    sketched = [level["file"] for level in levels if not level["plain"]]
    if len({(file["hash_algorithm"], file["hash_fingerprint"]) for file in sketched}) > 1:
        raise FormatError("body", "levels of several hashes")
    if sum(level["file"]["cells"] for level in levels) > 1 << 26:
        raise FormatError("body", "a stack of more than 2^26 cells")
    return rows, width, levels


def _alike(levels, terms):
    """Levels of one stack say the same but for what they count and what they cost."""
    for level in levels[1:]:
        if terms(level["file"]) != terms(levels[0]["file"]):
            raise FormatError("body", f"the level of {level['length']} bits does not go with the first")


def _prefix_raw(fields, header):
    if header["flags"] != ["raw"]:
        raise FormatError("flags_family", f"counters without noise with flags {header['flags']}")
    rows, width, levels = _prefix_levels(fields, header)
    _alike(levels, lambda file: [file[name] for name in ("granularity", "bound", "parts", "releases")])
    if levels[0]["file"]["bound"]["kind"] == CLIPPED:
        raise FormatError("body", "contributions to a stack are not clipped")
    return {"family": FAMILIES[header["family"]], "rows": rows, "width": width, "levels": levels}


def _prefix_private(fields, header):
    rows, width, levels = _prefix_levels(fields, header)
    common = ("law", "factor", "relation", "bound", "parts")
    _alike(levels, lambda file: (file["granularity"], file["insecure_noise"], file["steps"],
                                 [[leaf[name] for name in common] for leaf in file["leaves"]]))
    for leaf in levels[0]["file"]["leaves"]:
        if leaf["law"] != GAUSSIAN or leaf["relation"] == 0 or leaf["bound"]["kind"] == CLIPPED:
            raise FormatError("body", "a stack holds Gaussian releases of units that are not clipped")
    insecure = "insecure_noise" in header["flags"]
    if insecure != levels[0]["file"]["insecure_noise"]:
        raise FormatError("flags_family", "the header and the levels do not say the same of their noise")
    totals = [level["file"]["rho_total"] for level in levels]
    rho = None if None in totals else float(sum(map(Fraction, totals)))
    return {"family": FAMILIES[header["family"]], "insecure_noise": insecure, "rows": rows, "width": width,
            "levels": levels, "rho_total": rho}


# --- F0 -----------------------------------------------------------------------------------------------------------

SET, PRESAMPLED = 1, 2
MAX_COINS = 1 << 17
MODES = {SET: "set", PRESAMPLED: "presampled"}


class F0Frame:
    """What both bodies begin with: mode, hash, largest weight and tables."""

    def __init__(self, fields):
        self.mode = fields.one("B")
        _within("mode", self.mode, SET, PRESAMPLED)
        self.hash_id = _hash(fields)
        weight = fields.take(8)
        self.max_weight = struct.unpack("<d", weight)[0] if any(weight) else None
        if self.max_weight is not None:
            _within("largest weight", self.max_weight, 2.0**-256, 2.0**256)
        self.tables = fields.records("QI")
        _within("tables", len(self.tables), 1, 255)
        for share, cells in self.tables:
            # An item falls into one cell with probability share / 2^63 / cells < 1/2.
            _within("share", share, 1, 1 << 63)
            _within("cells", cells, (share >> 62) + 1, 1 << 26)
        _within("sum of the shares", sum(share for share, _ in self.tables), 1 << 63, 1 << 63)
        self.cells = sum(cells for _, cells in self.tables)
        _within("cells of all tables", self.cells, 2, 1 << 26)

    def ones(self, text):
        counts, first = [], 0
        for _, cells in self.tables:
            counts.append(text.count("1", first, first + cells))
            first += cells
        return {"ones_per_table": counts}

    def describe(self):
        tables = [{"share": str(share), "cells": cells} for share, cells in self.tables]
        return {"mode": MODES[self.mode], **self.hash_id, "max_weight": self.max_weight, "tables": tables}


def _f0_raw(fields, header):
    frame = F0Frame(fields)
    insecure = "insecure_noise" in header["flags"]
    if insecure and frame.mode == SET:
        raise FormatError("flags_family", f"a set, which has no coins, with flags {header['flags']}")
    releases, max_items = fields.unpack("II")
    exposure = fields.take(8)
    value = struct.unpack("<d", exposure)[0]
    exposed = frame.mode == PRESAMPLED and releases > 0
    if not (0 < value < math.inf if exposed else not any(exposure)):
        raise FormatError("body", f"a level of {value} after {releases} releases in mode {MODES[frame.mode]}")
    coins = [name for (name,) in fields.records("16s")]
    _f0_coins(frame.mode, coins)
    ones = _ones(fields, frame)
    if frame.mode == PRESAMPLED and not coins and any(ones["ones_per_table"]):
        raise FormatError("body", "cells are set, but no coins are named")
    return {
        "family": FAMILIES[header["family"]],
        **frame.describe(),
        "releases": releases,
        "max_items": max_items,
        "exposure": value,
        "coins": [name.hex() for name in coins],
        "insecure_coins": insecure,
        **ones,
    }


def _f0_coins(mode, names):
    """A set has no coins; names rise, each once."""
    _within("names of coins", len(names), 0, MAX_COINS if mode == PRESAMPLED else 0)
    if any(name >= after for name, after in zip(names, names[1:])):
        raise FormatError("body", "names of coins are not in rising order")


def _f0_least(mode, share):
    """The least flip probability that keeps the level of a cell, as a numerator over 2^64."""
    with localcontext() as context:
        context.prec = 80
        shrink = (-Decimal(share)).exp()
        least = shrink / (1 + shrink) if mode == SET else shrink / 2
        return math.ceil(least * (1 << 64))


def _f0_sure(mode, leaf):
    """The noise that is sure to be there: in an opened sum, where parties may have left out theirs, what epsilon needs."""
    share = _share(leaf["epsilon"], max(leaf["max_items"], 1))
    return _f0_least(mode, share) if leaf["opened"] else int(leaf["flip_numerator"])


def _f0_leaf(mode, index, record):
    name, p, epsilon, max_items, opened = record
    _within("mark of an opened sum", opened, 0, 1)
    if not 2.0**-30 <= epsilon <= 256:
        raise FormatError("body", f"release {index}: epsilon of {epsilon}")
    share = _share(epsilon, max(max_items, 1))
    if not (share >= 2.0**-30 and _f0_least(mode, share) <= p < 1 << 63):
        raise FormatError("body", f"release {index}: {p} over 2^64 does not keep epsilon = {epsilon}")
    return {"id": name.hex(), "flip_numerator": str(p), "epsilon": epsilon, "max_items": max_items, "opened": bool(opened)}


def _f0_private(fields, header):
    frame = F0Frame(fields)
    records = fields.records("16sQdIB")
    _within("releases", len(records), 1, MAX_RELEASES)
    names = [record[0] for record in records]
    if any(name >= after for name, after in zip(names, names[1:])):
        raise FormatError("body", "releases are not in rising order")
    leaves = [_f0_leaf(frame.mode, index, record) for index, record in enumerate(records)]
    coins = fields.records("16sI")
    _f0_coins(frame.mode, [name for name, _ in coins])
    owners = {release for _, release in coins}
    if owners - set(range(len(leaves))) or frame.mode == PRESAMPLED and len(owners) < len(leaves):
        raise FormatError("body", "coins of a release that is not there, or a release without coins")
    contrast, sure = Fraction(1), Fraction(1)
    for leaf in leaves:
        contrast *= 1 - Fraction(int(leaf["flip_numerator"]), 1 << 63)
        sure *= 1 - Fraction(_f0_sure(frame.mode, leaf), 1 << 63)
    if contrast < Fraction(1, 1 << 300):
        raise FormatError("body", "the noise leaves nothing")
    cells_of_unit = _cells_of_unit(leaves, 1)
    with localcontext() as context:
        context.prec = 60
        c = Decimal(sure.numerator) / Decimal(sure.denominator)
        level = ((1 + c) / (1 - c)).ln() if frame.mode == SET else -(1 - c).ln()
    return {
        "family": FAMILIES[header["family"]],
        "insecure_noise": "insecure_noise" in header["flags"],
        **frame.describe(),
        "leaves": leaves,
        "coins": [{"name": name.hex(), "release": release} for name, release in coins],
        "contrast": float(contrast),
        "flip_probability": float((1 - contrast) / 2),
        "level_if_seen_alone": None if cells_of_unit is None else float(level * cells_of_unit),
        "epsilon": max(leaf["epsilon"] for leaf in leaves),
        "epsilon_total": _epsilon_total(leaves),
        **_ones(fields, frame),
    }


# --- tallies ------------------------------------------------------------------------------------------------------

MAX_TALLIED, MAX_CLASSES = 256, 16


def _reaches(leaf, p, q):
    """Whether more noise turns the flips of a release into p and q: neither p/q nor (1 - q)/(1 - p) grows."""
    whole, own_p, own_q = 1 << 64, int(leaf["p_numerator"]), int(leaf["q_numerator"])
    return p * own_q <= own_p * q and (whole - q) * (whole - own_p) <= (whole - own_q) * (whole - p)


def _tally_numbers(shape, words, counts):
    """The number of every cell, class by class."""
    size = -(-shape.cells // 64)
    expected = sum(count.bit_length() for count in counts) * size
    if len(words) != expected:
        raise FormatError("body", f"expected {expected} words of cells, found {len(words)}")
    numbers, at = [], 0
    for count in counts:
        cells = [0] * shape.cells
        for digit in range(count.bit_length()):
            bits = int.from_bytes(b"".join(struct.pack("<Q", word) for (word,) in words[at : at + size]), "little")
            if bits >> shape.cells:
                raise FormatError("body", f"bits set beyond the last of {shape.cells} cells")
            cells = [number | (bits >> cell & 1) << digit for cell, number in enumerate(cells)]
            at += size
        if max(cells) > count:
            raise FormatError("body", f"a cell holds {max(cells)} ones of {count} sketches")
        numbers.append(cells)
    return numbers


def _check_tally(shape, classes, releases, numbers):
    """Releases in order, each in a class that it reaches; ones that add up to the cells where nothing was thinned."""
    names = [release["id"] for release in releases]
    if any(name >= after for name, after in zip(names, names[1:])):
        raise FormatError("body", "releases are not in rising order")
    thinned = set()
    for index, release in enumerate(releases):
        p, q = classes[release["class"]]
        if not _reaches(release, p, q):
            raise FormatError("body", f"release {index} cannot have the channel of its class")
        if (p, q) != (int(release["p_numerator"]), int(release["q_numerator"])):
            thinned.add(release["class"])
    for index in set(range(len(classes))) - thinned:
        members = [release["ones_per_level"] for release in releases if release["class"] == index]
        for level, ones in enumerate(map(sum, zip(*members))):
            found = sum(numbers[index][level * shape.buckets : (level + 1) * shape.buckets])
            if ones != found:
                raise FormatError("body", f"level {level} of class {index}: the releases have {ones} ones, the cells {found}")
    return bool(thinned)


def _tally(fields, header):
    shape = Pcsa(fields)
    hash_id = _hash(fields)
    classes = fields.records("QQ")
    _within("classes", len(classes), 1, MAX_CLASSES)
    if any(a >= b for a, b in zip(classes, classes[1:])) or not all(0 < q < p for p, q in classes):
        raise FormatError("body", "classes out of order or without a channel")
    releases = [
        {"id": name.hex(), "p_numerator": str(p), "q_numerator": str(q), "epsilon": epsilon, "max_items": max_items,
         "made_elsewhere": bool(_at_most("origin", origin, 1)), "class": _at_most("class", index, len(classes) - 1)}
        for name, p, q, epsilon, max_items, origin, index in fields.records("16sQQdIBB")
    ]
    _within("releases", len(releases), 1, MAX_TALLIED)
    ones = [count for (count,) in fields.records("I")]
    _within("counts of ones", len(ones), len(releases) * shape.levels, len(releases) * shape.levels)
    _within("ones of a level", max(ones), 0, shape.buckets)
    for index, release in enumerate(releases):
        release["ones_per_level"] = ones[index * shape.levels : (index + 1) * shape.levels]
    counts = [sum(release["class"] == index for release in releases) for index in range(len(classes))]
    _within("releases of a class", min(counts), 1, MAX_TALLIED)
    numbers = _tally_numbers(shape, fields.records("Q"), counts)
    _check_leaves(releases, shape.cells_per_item)
    thinned = _check_tally(shape, classes, releases, numbers)
    return {
        "family": FAMILIES[header["family"]],
        "insecure_noise": "insecure_noise" in header["flags"],
        **shape.describe(),
        **hash_id,
        "classes": [{"p_numerator": str(p), "q_numerator": str(q), "p": p / 2**64, "q": q / 2**64, "sketches": count}
                    for (p, q), count in zip(classes, counts)],
        "releases": releases,
        "thinned": thinned,
        "cells_per_level": _cells_per_level(shape, numbers, counts),
        "epsilon": max(release["epsilon"] for release in releases),
        "epsilon_total": _epsilon_total(releases),
        "thins_to": _thins_to(classes),
    }


def _at_most(name, value, high):
    _within(name, value, 0, high)
    return value


def _cells_per_level(shape, numbers, counts):
    """How many cells of each level hold the numbers x1, x2, ... of the classes: index x1 + (k1 + 1) x2 + ...

    Nothing where that would be a long table; such tallies are thinned before they are estimated.
    """
    strides = [1]
    for count in counts:
        strides.append(strides[-1] * (count + 1))
    if strides[-1] > 1 << 12:
        return None
    levels = [[0] * strides[-1] for _ in range(shape.levels)]
    for cell, combined in enumerate(zip(*numbers)):
        levels[cell // shape.buckets][sum(x * stride for x, stride in zip(combined, strides))] += 1
    return levels


def _thins_to(classes):
    """The least noisy channel that more noise makes of all classes."""
    channels = [(Fraction(p, 1 << 64), Fraction(q, 1 << 64)) for p, q in classes]
    ones, zeros = min(p / q for p, q in channels), min((1 - q) / (1 - p) for p, q in channels)
    q = (zeros - 1) / (ones * zeros - 1)
    return {"p": float(ones * q), "q": float(q)}


# How to read the body of a family, and how long it may be.
_BODIES = {EXAMPLE: (_example, 1 << 20)}
for _number, _shape in ((1, Pcsa), (3, Linear), (5, Bloom), (7, Legions)):
    _BODIES[_number] = (partial(_private, _shape), 1 << 24)
    _BODIES[_number + 1] = (partial(_raw, _shape), 1 << 24)
_BODIES[9] = (_countsketch_private, COUNTSKETCH_CAP)
_BODIES[10] = (_countsketch_raw, COUNTSKETCH_CAP)
_BODIES[11] = (_prefix_private, 1 << 30)
_BODIES[12] = (_prefix_raw, 1 << 30)
_BODIES[13] = (_f0_private, 1 << 24)
_BODIES[14] = (_f0_raw, 1 << 24)
_BODIES[15] = (_tally, 1 << 30)


# --- secret samples -----------------------------------------------------------------------------------------------

# The family of the file inside.
_SAMPLED = {16: 1, 17: 2, 18: 13, 19: 14}


def _subsampled(fields, header):
    """Rate and name of the key, what they make of each release, and the file of the kept items."""
    rate, key = fields.unpack("Q16s")
    _within("sampling rate", rate, 1 << 32, (1 << 64) - 1)
    is_raw = header["family"] % 2 == 1
    more = fields.take(8) if is_raw else fields.records("d")
    try:
        file = read(fields.take(fields.one("Q")), _SAMPLED[header["family"]])
    except FormatError as error:
        raise FormatError("body", f"the file inside: {error}") from error
    content = file["body"]
    says = {"family": FAMILIES[header["family"]], "rate": str(rate), "sample_key": key.hex(), "file": content}
    if header["family"] >= 18 and content["mode"] != MODES[SET]:
        raise FormatError("body", "a sample of streams")
    if is_raw:
        value = struct.unpack("<d", more)[0]
        if header["flags"] != ["raw"]:
            raise FormatError("flags_family", f"raw state with flags {header['flags']}")
        if not (0 < value < math.inf if content["releases"] else not any(more)):
            raise FormatError("body", f"a level of {value} after {content['releases']} releases")
        return {**says, "exposure": value}
    if ("insecure_noise" in header["flags"]) != content["insecure_noise"]:
        raise FormatError("body", "flags differ from those of the file inside")
    levels = [level for (level,) in more]
    _within("levels", len(levels), len(content["leaves"]), len(content["leaves"]))
    for index, (leaf, epsilon) in enumerate(zip(content["leaves"], levels)):
        p = _sampled_flips(leaf)
        if not 2.0**-30 <= epsilon <= 256 or p is None or not _keeps_sampled(rate, p, epsilon, max(leaf["max_items"], 1)):
            raise FormatError("body", f"release {index} does not keep epsilon = {epsilon} at this rate")
    if "steps" in content and any(step[:2] == [0, 1] for step in content["steps"]):
        raise FormatError("body", "a sample with a release made elsewhere")
    return {**says, "levels": levels}


def _sampled_flips(leaf):
    """The numerator with which zeros and ones alike are flipped, if they are."""
    if "flip_numerator" in leaf:
        return None if leaf["opened"] else int(leaf["flip_numerator"])
    p, q = int(leaf["p_numerator"]), int(leaf["q_numerator"])
    return q if p + q == 1 << 64 else None


def _keeps_sampled(rate, p, epsilon, items):
    share = _share(epsilon, items)
    with localcontext() as context:
        context.prec = 80
        gamma = Decimal(rate) / (1 << 64)
        return share >= 2.0**-30 and p >= gamma / (Decimal(share).exp() - 1 + 2 * gamma) * (1 << 64)


for _number in _SAMPLED:
    _BODIES[_number] = (_subsampled, (1 << 24) + (1 << 20))


# --- releases and merges ------------------------------------------------------------------------------------------


def _share(epsilon, parts):
    """The largest double not above epsilon / parts."""
    quotient = epsilon / parts
    return quotient if Fraction(quotient) * parts <= Fraction(epsilon) else math.nextafter(quotient, 0.0)


def _cells_of_unit(leaves, cells_per_item):
    """Cells that one unit may change in the union: None if some releases protect items and others users."""
    users = [leaf["max_items"] for leaf in leaves if leaf["max_items"]]
    if users and len(users) < len(leaves):
        return None
    return (sum(users) or 1) * cells_per_item


def _check_leaves(leaves, cells_per_item):
    if not 1 <= len(leaves) <= MAX_RELEASES:
        raise FormatError("body", f"releases: expected 1 to {MAX_RELEASES}, found {len(leaves)}")
    if len({leaf["id"] for leaf in leaves}) < len(leaves):
        raise FormatError("body", "a release appears twice")
    for index, leaf in enumerate(leaves):
        p, q, epsilon = int(leaf["p_numerator"]), int(leaf["q_numerator"]), leaf["epsilon"]
        if not 2.0**-30 <= epsilon <= 256.0:
            raise FormatError("body", f"release {index}: epsilon {epsilon} is outside 2^-30 to 256")
        bit = _share(_share(epsilon, leaf["max_items"] or 1), cells_per_item)
        if bit < 2.0**-30:
            raise FormatError("body", f"release {index}: epsilon of one cell {bit} is below 2^-30")
        if not 0 < q < p:
            raise FormatError("body", f"release {index}: expected 0 < q < p, found {q} and {p}")
        with localcontext() as context:
            context.prec = 60
            gain = Decimal(bit).exp()
            if p > gain * q or 2**64 - q > gain * (2**64 - p):
                raise FormatError("body", f"release {index}: its flips are not of level {epsilon} for one unit")


def _run(leaves, steps):
    """Runs the history and gives p and a = 1 - q/p of its result."""
    rest = [(Decimal(int(leaf["p_numerator"])) / 2**64, Decimal(int(leaf["q_numerator"])) / 2**64) for leaf in leaves]
    rest = [(p, 1 - q / p) for p, q in reversed(rest)]
    stack, taken = [], None
    for index, (operation, form, count) in enumerate(steps):
        if operation == 0 and form in (0, 1):
            if taken == form or not 0 < count <= len(rest):
                raise FormatError("body", f"step {index} takes {count} releases")
            stack += [rest.pop() for _ in range(count)]
        elif operation == 1 and form in (1, 2, 3):
            if not 2 <= count <= len(stack):
                raise FormatError("body", f"step {index} merges {count} of {len(stack)}")
            inputs = stack[-count:]
            stack[-count:] = [_merge(form, inputs)]
        elif (operation, form, count) == (2, 0, 1) and stack:
            stack[-1] = _symmetrised(index, *stack[-1])
        else:
            raise FormatError("body", f"step {index}: operation {operation}, form {form}")
        taken = form if operation == 0 else None
    if len(stack) != 1 or rest:
        raise FormatError("body", f"the history leaves {len(stack)} results and {len(rest)} releases")
    return stack[0]


def _symmetrised(index, p, a):
    """Ones thinned where p + q > 1, zeros raised where p + q < 1."""
    q = p * (1 - a)
    if abs(p + q - 1) < Decimal(2) ** -76:
        raise FormatError("body", f"step {index} makes symmetric what is so already")
    if p + q > 1:
        return p / (p + q), a
    return (1 - q) / (2 - p - q), p * a / (1 - q)


def _merge(form, inputs):
    """Channel of the OR of noisy bits.

    With u_i = (p_i - t_i) / d_i, which averages to 1 where the true bit is 0 and to 0 where it is 1, the output is one
    with probability q + d (1 - product of the u_i). The largest d that keeps this between 0 and 1 for all noisy bits
    gives the extremal channel; the largest with p + q = 1 the symmetric one.
    """
    if form == 3 and any(p != Decimal(1) / 2 for p, _ in inputs):
        raise FormatError("body", "an xor merge of releases with p other than 1/2")
    high = low = Decimal(1)
    for p, a in inputs:
        zero, one = 1 / a, (p - 1) / (p * a)
        ends = [high * zero, high * one, low * zero, low * one]
        high, low = max(ends), min(ends)
    if form == 2:
        d = 1 / max(2 * high - 1, 1 - 2 * low)
        p, a = (1 + d) / 2, 2 * d / (1 + d)
    else:
        p, a = high / (high - low), 1 / high
    if a < Decimal(2) ** -300:
        raise FormatError("body", "the merges leave no signal")
    return p, a


def _ln1p(x):
    """ln(1 + x), of more digits than needed also for small x."""
    with localcontext() as context:
        context.prec = 200
        return (1 + x).ln()


# --- program ------------------------------------------------------------------------------------------------------


def main(names):
    failed = False
    for name in names:
        try:
            with open(name, "rb") as file:
                print(json.dumps({"file": name, **read(file.read())}, indent=2))
        except (OSError, FormatError) as error:
            print(f"{name}: {getattr(error, 'kind', 'unreadable')}: {error}", file=sys.stderr)
            failed = True
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
