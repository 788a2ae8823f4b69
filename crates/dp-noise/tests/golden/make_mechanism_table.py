"""Writes mechanism_table.json: randomised response by high-precision decimal arithmetic.

For a level eps (an f64, given by its bits so that no JSON reader can round it):
  symmetric_min, xor_min   ceil(2^64 q) for q = 1/(1 + e^eps) and q = e^-eps/2
  *_level                  bits of the least f64 that is not below the level those numerators realise
  shrink_upper             ceil(2^128 e^-eps), hexadecimal
Standard library only: python3 make_mechanism_table.py > mechanism_table.json
"""

import json
import math
import struct
from decimal import ROUND_CEILING, Decimal, getcontext

getcontext().prec = 250
TWO_64 = Decimal(2) ** 64


def bits(value):
    return struct.pack(">d", value).hex()


def ceiling(value):
    return int(value.to_integral_value(rounding=ROUND_CEILING))


def least_float_not_below(value):
    near = float(value)
    return near if Decimal(near) >= value else math.nextafter(near, math.inf)


def levels():
    yield from (2.0**-30, 1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.25, 1 / 3, 0.5, math.log(2), 1.0, math.log(3), 1.5, 2.0, 3.0)
    yield from (4.0, 5.0, 7.5, 10.0, 16.0, 20.0, 30.0, 40.0, 43.0, 43.5, 44.0, 44.3, 44.37, 45.0, 50.0, 64.0, 88.0)
    yield from (100.0, 128.0, 200.0, 255.9, math.nextafter(256.0, 0.0), 256.0)
    for edge in (63 * math.log(2), float((TWO_64 - 1).ln()), math.log(2), 0.5, 2.0**-30):
        above = edge
        for _ in range(3):
            above = math.nextafter(above, math.inf)
            yield above
        below = edge
        for _ in range(3 if edge > 2.0**-30 else 0):
            below = math.nextafter(below, 0.0)
            yield below
    state = 1
    for _ in range(120):  # spread evenly in the logarithm over the whole range
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield 2.0 ** (-30 + 38 * (state >> 11) / 2**53)


def case(index, eps):
    shrink = (-Decimal(eps)).exp()
    symmetric = ceiling(TWO_64 * shrink / (1 + shrink))
    xor = ceiling(TWO_64 * shrink / 2)
    return {
        "id": f"mechanism-table-{index:03}",
        "kind": "mechanism_table",
        "input": {"eps_bits": bits(eps), "eps": repr(eps)},
        "expect": {
            "symmetric_min": str(symmetric),
            "symmetric_level": bits(least_float_not_below(((TWO_64 - symmetric) / symmetric).ln())),
            "xor_min": str(xor),
            "xor_level": bits(least_float_not_below((TWO_64 / 2 / xor).ln())),
            "shrink_upper": f"{ceiling(shrink * 2**128):x}",
        },
    }


cases = [case(index, eps) for index, eps in enumerate(levels(), 1)]
rows = ",\n".join(json.dumps(one) for one in cases)
print(f'{{"count": {len(cases)}, "generator": "make_mechanism_table.py", "cases": [\n{rows}\n]}}')
