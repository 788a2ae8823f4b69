#!/usr/bin/env python3
"""Writes the golden byte files of secret samples of sfm-pcsa next to itself. Standard library only, independent of the Rust code.

The cipher and the formula of the level are those of the generator of f0-sketch, the sketches inside those of `generate.py`.
"""

import importlib.util
import json
import math
import struct
from pathlib import Path

import generate

HERE = Path(__file__).parent


def load(path):
    spec = importlib.util.spec_from_file_location("f0_generate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


F0 = load(HERE.parents[2] / "f0-sketch/tests/golden/generate.py")
NAME = F0.sample_key(F0.SAMPLE_KEY)[1]


def private(name, file, rate):
    """ε of each release of the file inside is what its flips keep at the rate, rounded up in the third digit."""
    inner = (HERE / f"{file}.bin").read_bytes()
    leaves = json.loads((HERE / f"{file}.json").read_text(encoding="utf-8"))["leaves"]
    levels = [math.ceil(F0.sampled_level(rate, int(leaf["q_numerator"])) * 1000) / 1000 for leaf in leaves]
    body = struct.pack("<Q", rate) + NAME + struct.pack(f"<Q{len(levels)}d", len(levels), *levels)
    says = {"family": "sfm-subsampled", "rate": str(rate), "sample_key": NAME.hex(), "levels": levels, "parts": [file]}
    generate.write(name, generate.container(16, 1, body + struct.pack("<Q", len(inner)) + inner), says)


def raw(name, shape, items, rate):
    """The items whose coins, of a 64-bit hash and the number "pcsa", are below the rate."""
    beside = int.from_bytes(b"pcsa", "little")
    hashes = [generate.default_hash(generate.DEFAULT_KEY, b"integer", struct.pack("<Q", item)) for item in items]
    kept = [word for word in hashes if F0.coin(F0.SAMPLE_KEY, word, beside) < rate]
    key = generate.fingerprint(generate.DEFAULT_KEY)
    inner = generate.raw_file(shape, 1, key, 0, generate.bitmap(shape, kept))
    body = struct.pack("<Q", rate) + NAME + struct.pack("<dQ", 0.0, len(inner)) + inner
    says = {
        "family": "sfm-subsampled-raw", "rate": str(rate), "sample_key": NAME.hex(), "exposure": 0.0, "items": items,
    }
    generate.write(name, generate.container(17, 2, body), says)


if __name__ == "__main__":
    private("subsampled-single", "private-single", (1 << 64) // 10)
    private("subsampled-pair", "private-pair", (1 << 64) // 50)
    raw("subsampled-raw", generate.Pcsa(6, 8), list(range(200)), (1 << 64) // 4)
