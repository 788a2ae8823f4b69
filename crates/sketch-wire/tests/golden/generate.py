#!/usr/bin/env python3
"""Writes the golden files of the container format: NAME.bin and NAME.json.

Independent of the Rust code: written from the layout alone, with the standard library only. The files are append-only.
Without arguments it checks that the files present are the ones it would write, with `--write` it adds missing ones.
"""

import json
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).parent
PRIVATE, RAW, INSECURE_NOISE = 1, 2, 4
FLAG_NAMES = {PRIVATE: "private", RAW: "raw", INSECURE_NOISE: "insecure_noise"}


def crc64_xz(data):
    """Bit by bit: reflected polynomial 0x42f0e1eba9ea3693, all ones in and out."""
    reversed_polynomial = int(f"{0x42F0E1EBA9EA3693:064b}"[::-1], 2)
    crc = (1 << 64) - 1
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (reversed_polynomial if crc & 1 else 0)
    return crc ^ ((1 << 64) - 1)


def container(body, family=255, flags=PRIVATE, version=1, body_version=1, magic=b"DPSK", length=None, reserved=bytes(8)):
    head = magic + bytes([version, family, body_version, flags])
    head += struct.pack("<Q", len(body) if length is None else length) + reserved
    return head + struct.pack("<Q", crc64_xz(head + body)) + body


def example_body(fields):
    """u8 tag, u16 short, u32 count, u64 total, i64 change, f64 ratio, bool present, 4 bytes id, list of (u32, u16), list of u64."""
    body = struct.pack("<BHIQq", fields["tag"], fields["short"], fields["count"], int(fields["total"]), int(fields["change"]))
    body += struct.pack("<Q", int(fields["ratio_bits"], 16))
    body += struct.pack("<B", fields["present"]) + bytes.fromhex(fields["id"])
    body += struct.pack("<Q", len(fields["entries"]))
    for entry in fields["entries"]:
        body += struct.pack("<IH", entry["key"], entry["weight"])
    body += struct.pack("<Q", len(fields["words"]))
    return body + b"".join(struct.pack("<Q", int(word, 16)) for word in fields["words"])


def bits_of(x):
    return f"{struct.unpack('<Q', struct.pack('<d', x))[0]:016x}"


ZERO = {
    "tag": 0, "short": 0, "count": 0, "total": "0", "change": "0", "ratio_bits": bits_of(0.0),
    "present": False, "id": "00000000", "entries": [], "words": [],
}
FULL = {
    "tag": 255, "short": 0xFEDC, "count": 0x89ABCDEF, "total": str(2**64 - 1), "change": str(-(2**63)),
    "ratio_bits": bits_of(-0.1), "present": True, "id": "00112233",
    "entries": [{"key": 0x01020304, "weight": 0x0506}, {"key": 2**32 - 1, "weight": 0}],
    "words": ["0123456789abcdef", "ffffffffffffffff", "0000000000000000"],
}
NAN = dict(ZERO, ratio_bits="7ff8000000000abc", words=["8000000000000001"])


def flag_list(flags):
    return [name for bit, name in FLAG_NAMES.items() if flags & bit]


def accepted():
    """Files that are read: name, note, flags, fields."""
    yield "example-zero", "all fields zero, lists empty", PRIVATE, ZERO
    yield "example-full", "extreme values", PRIVATE, FULL
    yield "example-raw", "marked raw", RAW, FULL
    yield "example-insecure", "marked as made with predictable noise", PRIVATE | INSECURE_NOISE, ZERO
    yield "example-nan", "a NaN keeps its payload", PRIVATE, NAN


def refused():
    """Files that are not: name, note, word for the error, bytes."""
    body = example_body(FULL)
    good = container(body)
    damaged = bytearray(good)
    damaged[60] ^= 0x10
    yield "bad-empty", "no bytes at all", "truncated", b""
    yield "bad-short", "ends inside the header", "truncated", good[:31]
    yield "bad-cut", "ends inside the body", "truncated", good[:-1]
    yield "bad-trailing", "one byte after the body", "trailing_bytes", good + b"\0"
    yield "bad-magic", "first byte differs", "magic", container(body, magic=b"dPSK")
    yield "bad-foreign", "another kind of file", "magic", b"PAR1" + bytes(60)
    yield "bad-header-version", "header version 2", "header_version", container(body, version=2)
    yield "bad-family-unknown", "family 0", "unknown_family", container(body, family=0)
    yield "bad-family-other", "family 1 where 255 is asked for", "family", container(body, family=1)
    yield "bad-body-version", "body version 2", "body_version", container(body, body_version=2)
    yield "bad-flags-unknown", "flag 8", "unknown_flags", container(body, flags=PRIVATE | 8)
    yield "bad-flags-both", "private and raw", "flags_exclusive", container(body, flags=PRIVATE | RAW)
    yield "bad-flags-neither", "neither private nor raw", "flags_exclusive", container(body, flags=INSECURE_NOISE)
    yield "bad-reserved", "a reserved byte is 1", "reserved", container(body, reserved=bytes([0, 0, 0, 1, 0, 0, 0, 0]))
    yield "bad-length-cap", "states a body of 2**40 bytes", "body_too_long", container(body, length=2**40)
    yield "bad-length-max", "states a body of 2**64 - 1 bytes", "body_too_long", container(body, length=2**64 - 1)
    yield "bad-checksum", "one bit of the body differs", "checksum", bytes(damaged)
    list_at = 8 + 4 + 2 + 1 + 8 + 8 + 1 + 4
    hostile = body[:list_at] + struct.pack("<Q", 2**61) + body[list_at + 8:]
    yield "bad-list-length", "a list of 2**61 elements", "body", container(hostile)
    yield "bad-body-short", "the last word is missing", "body", container(body[:-8])
    yield "bad-body-long", "a byte after the last field", "body", container(body + b"\0")
    boolean = body[: list_at - 5] + b"\2" + body[list_at - 4:]
    yield "bad-boolean", "a boolean of 2", "body", container(boolean)


def files():
    for name, note, flags, fields in accepted():
        data = container(example_body(fields), flags=flags)
        header = {
            "header_version": 1, "family": 255, "body_version": 1, "flags": flag_list(flags),
            "body_len": len(data) - 32, "checksum": f"{struct.unpack_from('<Q', data, 24)[0]:016x}",
        }
        yield name, data, {"generator": "generate.py", "note": note, "header": header, "body": fields}
    for name, note, error, data in refused():
        yield name, data, {"generator": "generate.py", "note": note, "wanted_family": 255, "error": error}


def main():
    if crc64_xz(b"123456789") != 0x995DC9BBDF1939FA:
        sys.exit("the checksum does not give its published check value")
    write = sys.argv[1:] == ["--write"]
    wrong = 0
    for name, data, description in files():
        text = json.dumps(description, indent=2) + "\n"
        for path, content in ((HERE / f"{name}.bin", data), (HERE / f"{name}.json", text.encode())):
            if write and not path.exists():
                path.write_bytes(content)
            elif not path.exists() or path.read_bytes() != content:
                print(f"{path.name}: missing or changed")
                wrong += 1
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
