"""Distinct count of one string column from a file: dpsketch beside DuckDB and polars, processor time of each.

Every tool runs in a process of its own over the same files, round after round; a figure is the median of the rounds' user + system time
of that process, so start-up is included and waiting is not. Usage:

    python ingest.py --dpsketch target/release/dpsketch --cache target/ingest [--rows 10000000] [--distinct 1000000]
                     [--rounds 3] [--out docs/src/ingest-table.md]
"""

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
from pathlib import Path

DUCKDB = "import duckdb;c=duckdb.connect();c.execute('set threads=1');print(c.execute({sql!r}).fetchone()[0])"
POLARS = "import polars as pl;print(pl.scan_{kind}({path!r}).select(pl.col('id').{expr}()).collect().item())"


def make_files(cache: Path, rows: int, distinct: int) -> dict[str, Path]:
    """Writes ids.csv and ids.parquet: `rows` strings such as user-0000123456, uniform over `distinct` values."""
    import duckdb

    cache.mkdir(parents=True, exist_ok=True)
    paths = {kind: cache / f"ids-{rows}-{distinct}.{kind}" for kind in ("csv", "parquet")}
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


def contenders(dpsketch: str, paths: dict[str, Path], out: Path) -> dict[str, dict[str, list[str]]]:
    """Command lines by tool and file kind."""
    python = sys.executable
    tools: dict[str, dict[str, list[str]]] = {}
    for kind, path in paths.items():
        read = f"read_{kind}('{path}')"
        build = [dpsketch, "build", str(path), "--kind", "sfm", "--column", "id", "--epsilon", "1", "--out", str(out), "-q"]
        for threads in ("1", "2"):
            name = f"dpsketch build --epsilon 1, {threads} thread{'s' if threads != '1' else ''}"
            tools.setdefault(name, {})[kind] = [*build, "--threads", threads]
        for name, expr in (("approx_count_distinct", "approx_count_distinct(id)"), ("count(distinct)", "count(distinct id)")):
            sql = f"select {expr} from {read}"
            tools.setdefault(f"DuckDB {name}, 1 thread", {})[kind] = [python, "-c", DUCKDB.format(sql=sql)]
        for expr in ("approx_n_unique", "n_unique"):
            code = POLARS.format(kind=kind, path=str(path), expr=expr)
            tools.setdefault(f"polars {expr}", {})[kind] = [python, "-c", code]
    return tools


def processor_seconds(command: list[str]) -> float:
    """User + system time of one run of `command`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def table(rows: int, times: dict[str, dict[str, list[float]]], reference: str) -> str:
    """Markdown: nanoseconds a row and the ratio to `reference`."""
    lines = ["| tool | csv, ns a row | ratio | parquet, ns a row | ratio |", "|---|---|---|---|---|"]
    base = {kind: statistics.median(runs) for kind, runs in times[reference].items()}
    for name, kinds in times.items():
        cells = []
        for kind in ("csv", "parquet"):
            median = statistics.median(kinds[kind])
            cells += [f"{median / rows * 1e9:.1f}", f"{median / base[kind]:.2f}"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def machine() -> str:
    """The processor's name, as the kernel tells it."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dpsketch", required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--distinct", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()

    paths = make_files(args.cache, args.rows, args.distinct)
    out = args.cache / "bench.dps"
    tools = contenders(args.dpsketch, paths, out)
    times: dict[str, dict[str, list[float]]] = {name: {kind: [] for kind in kinds} for name, kinds in tools.items()}
    for _ in range(args.rounds):
        for name, kinds in tools.items():
            for kind, command in kinds.items():
                out.unlink(missing_ok=True)
                times[name][kind].append(processor_seconds(command))
    text = table(args.rows, times, "dpsketch build --epsilon 1, 1 thread")
    note = (
        f"{args.rows:,} rows, {args.distinct:,} distinct strings of 15 bytes; processor time of the whole process, start-up included; median of "
        f"{args.rounds} rounds; {machine()}, {os.cpu_count()} cores. DuckDB 2.0.1, polars 2.1.0 (its own choice of threads).\n"
    )
    print(note + "\n" + text)
    if args.out:
        args.out.write_text(note + "\n" + text + "\n")


if __name__ == "__main__":
    main()
