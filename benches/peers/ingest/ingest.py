"""Distinct count of one string column from a file: dpsketch beside DuckDB and polars, processor time of each.

Every tool runs in a process of its own over the same files, round after round. A figure is the median over the rounds of the
user + system time of that process, all threads together, less the median time of the same program starting and doing
nothing: so neither waiting for a shared core counts, nor the import of a Python package. Usage:

    python ingest.py --dpsketch target/release/dpsketch --cache target/ingest [--rows 10000000] [--distinct 1000000]
                     [--rounds 3] [--provenance TEXT] [--out docs/src/ingest-table.md]
"""

import argparse
import resource
import statistics
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

KINDS = ("csv", "parquet")
IMPORT_DUCKDB = "import duckdb;c=duckdb.connect();c.execute('set threads=1')"
IMPORT_POLARS = "import polars as pl"


@dataclass(frozen=True)
class Tool:
    """A program, how it starts, and its command line for each kind of file."""

    name: str
    start: str
    commands: dict[str, list[str]]


def make_files(cache: Path, rows: int, distinct: int) -> dict[str, Path]:
    """Writes ids.csv and ids.parquet: `rows` strings such as user-0000123456, uniform over `distinct` values."""
    import duckdb

    cache.mkdir(parents=True, exist_ok=True)
    paths = {kind: cache / f"ids-{rows}-{distinct}.{kind}" for kind in KINDS}
    if all(path.exists() for path in paths.values()):
        return paths
    # An odd multiplier permutes the residues, so that neighbours in the file are unrelated values.
    query = (
        "select 'user-' || lpad(((i * 2654435761 + (i // 7919) * 40503) % {d})::bigint::varchar, 10, '0') as id "
        "from range({n}) t(i)".format(n=rows, d=distinct)
    )
    con = duckdb.connect()
    con.execute(f"copy ({query}) to '{paths['csv']}' (format csv, header)")
    con.execute(f"copy ({query}) to '{paths['parquet']}' (format parquet, compression snappy)")
    return paths


def start_ups(dpsketch: str) -> dict[str, list[str]]:
    """Command lines that start a program and end it."""
    python = [sys.executable, "-B", "-c"]
    return {"dpsketch": [dpsketch, "--version"], "DuckDB": [*python, IMPORT_DUCKDB], "polars": [*python, IMPORT_POLARS]}


def contenders(dpsketch: str, paths: dict[str, Path], out: Path) -> list[Tool]:
    """Every tool with its command lines."""
    python = [sys.executable, "-B", "-c"]
    build = ["--kind", "sfm", "--column", "id", "--epsilon", "1", "--out", str(out), "-q", "--threads"]

    def ours(threads: int) -> dict[str, list[str]]:
        return {kind: [dpsketch, "build", str(path), *build, str(threads)] for kind, path in paths.items()}

    def duckdb(expression: str) -> dict[str, list[str]]:
        sql = {kind: f"select {expression} from read_{kind}('{path}')" for kind, path in paths.items()}
        return {kind: [*python, f"{IMPORT_DUCKDB};print(c.execute({sql[kind]!r}).fetchone()[0])"] for kind in paths}

    def polars(expression: str) -> dict[str, list[str]]:
        scan = {kind: f"pl.scan_{kind}({str(path)!r})" for kind, path in paths.items()}
        query = f"select(pl.col('id').{expression}()).collect().item()"
        return {kind: [*python, f"{IMPORT_POLARS};print({scan[kind]}.{query})"] for kind in paths}

    return [
        Tool("dpsketch build --epsilon 1, 1 thread", "dpsketch", ours(1)),
        Tool("dpsketch build --epsilon 1, 2 threads", "dpsketch", ours(2)),
        Tool("DuckDB approx_count_distinct, 1 thread", "DuckDB", duckdb("approx_count_distinct(id)")),
        Tool("DuckDB count(distinct), 1 thread", "DuckDB", duckdb("count(distinct id)")),
        Tool("polars approx_n_unique", "polars", polars("approx_n_unique")),
        Tool("polars n_unique", "polars", polars("n_unique")),
    ]


def processor_seconds(command: list[str]) -> float:
    """User + system time of one run of `command`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(rounds: int, starts: dict[str, list[str]], tools: list[Tool], out: Path) -> tuple[dict, dict]:
    """Median seconds of each start-up, and of each tool and kind less its start-up."""
    idle: dict[str, list[float]] = {name: [] for name in starts}
    busy: dict[tuple[str, str], list[float]] = {(tool.name, kind): [] for tool in tools for kind in KINDS}
    for _ in range(rounds):
        for name, command in starts.items():
            idle[name].append(processor_seconds(command))
        for tool in tools:
            for kind in KINDS:
                out.unlink(missing_ok=True)
                busy[tool.name, kind].append(processor_seconds(tool.commands[kind]))
    out.unlink(missing_ok=True)
    start = {name: statistics.median(runs) for name, runs in idle.items()}
    net = {(tool.name, kind): statistics.median(busy[tool.name, kind]) - start[tool.start] for tool in tools for kind in KINDS}
    return start, net


def table(rows: int, tools: list[Tool], net: dict[tuple[str, str], float]) -> str:
    """Markdown: nanoseconds a row, rows a second, and the ratio to the first tool, for each kind of file."""
    lines = ["| | csv: ns a row | rows/s | ratio | parquet: ns a row | rows/s | ratio |", "|---|" + "---:|" * 6]
    for tool in tools:
        cells = []
        for kind in KINDS:
            seconds, ours = net[tool.name, kind], net[tools[0].name, kind]
            # Few rows can drown in the spread of the start-up.
            if min(seconds, ours) > 0:
                cells += [f"{seconds / rows * 1e9:.1f}", f"{rows / seconds / 1e6:.1f} M", f"{seconds / ours:.2f}"]
            else:
                cells += ["below start-up", "", ""]
        lines.append(f"| {tool.name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def note(args: argparse.Namespace, paths: dict[str, Path], start: dict[str, float]) -> str:
    """What the table shows."""
    sizes = ", ".join(f"{kind} {path.stat().st_size / 1e6:.0f} MB" for kind, path in paths.items())
    starts = ", ".join(f"{name} {seconds * 1e3:.0f} ms" for name, seconds in start.items())
    return (
        f"{args.provenance}\n\n"
        f"{args.rows:,} rows, {args.distinct:,} distinct strings of 15 bytes ({sizes}). Processor time of all threads, less the "
        f"program's start-up ({starts}); median of {args.rounds} rounds. Ratio: to the first row, so above 1 is slower than ours. "
        f"DuckDB {version('duckdb')}; polars {version('polars')}, which chooses its threads.\n\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dpsketch", required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--distinct", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--provenance", default="")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()

    paths = make_files(args.cache, args.rows, args.distinct)
    out = args.cache / "bench.dps"
    tools = contenders(args.dpsketch, paths, out)
    start, net = measure(args.rounds, start_ups(args.dpsketch), tools, out)
    text = note(args, paths, start) + table(args.rows, tools, net) + "\n"
    print(text, end="")
    if args.out:
        args.out.write_text(text)


if __name__ == "__main__":
    main()
