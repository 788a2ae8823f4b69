#!/usr/bin/env python3
"""Checks the reader against every golden byte file of the workspace: crates/*/tests/golden/*.bin and the .json beside."""

import json
import pathlib
import re
import struct
import unittest

import dpsketch_reader as reader

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = sorted(ROOT.glob("crates/*/tests/golden/*.bin"))
FORMAT_PAGE = ROOT / "docs/src/wire-format.md"
# Fields of a description that say how the file was made, not what it holds.
COMMENTS = {"generator", "note", "items", "parts", "wanted_family"}
# Sums and logarithms of 60 digits, rounded to a double on both sides.
RELATIVE = 1e-15


def describe(path):
    return json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def sign(data):
    """The same bytes with a right checksum."""
    return data[:24] + struct.pack("<Q", reader.crc64_xz(data[:24], data[32:])) + data[32:]


class GoldenFiles(unittest.TestCase):
    def test_there_are_files_of_every_family(self):
        families = {path.read_bytes()[5] for path in FILES if "error" not in describe(path)}
        self.assertEqual(families, set(reader.FAMILIES))

    def test_files_say_what_stands_beside_them(self):
        for path in FILES:
            says = describe(path)
            if "error" in says:
                continue
            with self.subTest(path.name):
                got = reader.read(path.read_bytes())
                # Containers describe header and body, sketches what they mean.
                self.compare(says, got if "header" in says else got["body"], path.name)

    def test_refused_files_give_the_described_error(self):
        for path in FILES:
            says = describe(path)
            if "error" not in says:
                continue
            with self.subTest(path.name):
                with self.assertRaises(reader.FormatError) as caught:
                    reader.read(path.read_bytes(), says.get("wanted_family"))
                self.assertEqual(caught.exception.kind, says["error"])

    def compare(self, want, got, where):
        if isinstance(want, dict):
            for name, value in want.items():
                if name not in COMMENTS:
                    self.assertIn(name, got, where)
                    self.compare(value, got[name], f"{where}.{name}")
        elif isinstance(want, list):
            self.assertEqual(len(want), len(got), where)
            for index, (a, b) in enumerate(zip(want, got)):
                self.compare(a, b, f"{where}.{index}")
        elif isinstance(want, float):
            self.assertLessEqual(abs(got - want), RELATIVE * abs(want), where)
        else:
            self.assertEqual(want, got, where)


class Damage(unittest.TestCase):
    def small(self):
        """Accepted files short enough to try everything."""
        return [path for path in FILES if path.stat().st_size < 200 and "error" not in describe(path)]

    def test_every_cut_extension_and_flip_is_refused(self):
        for path in self.small():
            data = path.read_bytes()
            versions = [data[:length] for length in range(len(data))] + [data + b"\0"]
            for bit in range(8 * len(data)):
                flipped = bytearray(data)
                flipped[bit // 8] ^= 1 << bit % 8
                versions.append(bytes(flipped))
            for version in versions:
                with self.assertRaises(reader.FormatError):
                    reader.read(version)

    def test_flips_behind_a_right_checksum_end_in_an_answer_or_a_format_error(self):
        for path in self.small():
            data = path.read_bytes()
            for bit in range(8 * 32, 8 * len(data)):
                flipped = bytearray(data)
                flipped[bit // 8] ^= 1 << bit % 8
                try:
                    reader.read(sign(bytes(flipped)))
                except reader.FormatError as error:
                    self.assertEqual(error.kind, "body")


class Page(unittest.TestCase):
    """What the description of the format shows."""

    def test_checksum_has_its_published_check_value(self):
        self.assertEqual(reader.crc64_xz(b"123456789"), 0x995DC9BBDF1939FA)

    def test_the_annotated_dump_is_the_file_it_names(self):
        page = FORMAT_PAGE.read_text(encoding="utf-8")
        dump = re.search(r"`(crates/[^`]+\.bin)`[^`]*```text\n(.*?)```", page, re.S)
        rows = re.findall(r"^([0-9a-f]{4})  ((?:[0-9a-f]{2} ?)+)  ", dump[2], re.M)
        data = b"".join(bytes.fromhex(row) for _, row in rows)
        self.assertEqual(data.hex(), (ROOT / dump[1]).read_bytes().hex())
        at = 0
        for offset, row in rows:
            self.assertEqual(int(offset, 16), at)
            at += len(bytes.fromhex(row))


if __name__ == "__main__":
    unittest.main()
