"""Writes table_prefixes.json: binary digits of distribution functions, by decimal arithmetic of 200 digits.

F(j) = sum of w(0 ..= j) over the sum of all w, where with m shares and x = numerator/denominator

    gaussian_magnitude  w(0) = 1, w(j) = 2 exp(-x j^2 / 2)
    gaussian_half       w(j) = exp(-x j^2 / 2)
    laplace_magnitude   w(0) = 1, w(j) = 2 exp(-x j)
    geometric           w(j) = exp(-x j)
    polya               w(j) = Gamma(j + 1/m) / (Gamma(1/m) j!) exp(-x j)

For each j asked for, the first 256 binary digits of F(j) are written as 64 hexadecimal ones, truncated.
"""

import json
from decimal import Decimal, getcontext, localcontext
from pathlib import Path

getcontext().prec = 200
CUT = Decimal(10) ** -190


def weights(family, numerator, denominator, shares):
    x = Decimal(numerator) / Decimal(denominator)
    polya = Decimal(1)
    j = 0
    while True:
        if family.startswith("gaussian"):
            w = (-x * j * j / 2).exp()
        elif family == "polya":
            w = polya * (-x * j).exp()
            polya *= Decimal(shares * j + 1) / Decimal(shares * (j + 1))
        else:
            w = (-x * j).exp()
        if family.endswith("magnitude") and j > 0:
            w *= 2
        yield w
        j += 1


def digits(family, numerator, denominator, shares, wanted):
    sums, total = {}, Decimal(0)
    for j, w in enumerate(weights(family, numerator, denominator, shares)):
        total += w
        if j in wanted:
            sums[j] = total
        if w < CUT * total and j > max(wanted):
            break
    # What is cut off is below 10^-180 for the parameters here.
    with localcontext() as context:
        context.prec = 200
        return [[j, format(int(sums[j] / total * 2**256), "064x")] for j in sorted(sums)]


LAWS = [
    ("gaussian_magnitude", 3, 1, 1, [0, 1, 2, 8]),
    ("gaussian_magnitude", 1, 4, 1, [0, 1, 5, 12, 17]),
    ("gaussian_magnitude", 2, 31, 1, [0, 3, 10, 36]),
    ("gaussian_magnitude", 1, 15500, 1, [0, 1, 60, 125, 500, 1130]),
    ("gaussian_half", 4, 1048573, 1, [0, 1, 300, 1024, 3000]),
    ("gaussian_half", 1, 2, 1, [0, 1, 2, 3, 11]),
    ("laplace_magnitude", 2, 1, 1, [0, 1, 2, 20]),
    ("laplace_magnitude", 3, 31, 1, [0, 7, 99, 400]),
    ("geometric", 1, 1, 1, [0, 1, 2, 40]),
    ("geometric", 3, 310, 1, [0, 1, 100, 2000]),
    ("polya", 1, 5, 3, [0, 1, 2, 50, 200]),
    ("polya", 7, 200, 1000, [0, 1, 2, 50, 200]),
]

cases = []
for index, (family, numerator, denominator, shares, wanted) in enumerate(LAWS):
    law = {"family": family, "numerator": numerator, "denominator": denominator, "shares": shares}
    found = digits(family, numerator, denominator, shares, wanted)
    cases.append({"id": f"table-prefixes-{index:02}", "kind": "table_prefixes", "input": law, "expect": {"digits": found}})

lines = ",\n".join(json.dumps(case) for case in cases)
Path(__file__).with_name("table_prefixes.json").write_text(f'{{"count": {len(cases)}, "cases": [\n{lines}\n]}}\n')
