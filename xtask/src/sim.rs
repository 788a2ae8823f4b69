//! `golden`, `simulate` and `accuracy`: computed by `sketch-sim` with the product's own code.

use std::process::Command;

use crate::args::Args;
use crate::bytes;
use crate::failure::Failure;
use crate::process;

pub(crate) const GOLDEN_USAGE: &str = "\
Usage: cargo xtask golden [FILE…] [--kinds a,b,…] [--bless]

Computes every case of the golden files with the product's public API and prints a line for each field that differs; the
last line is `N passed, M failed`. Without FILE: every *_golden.json under crates/*/tests/golden; without any argument also
the byte files, which must be what the generate.py beside them writes.

Options:
  --kinds a,b,…  only the cases of these kinds (or sections)
  --bless        also write the byte files that do not exist yet; an existing one is never changed
";

pub(crate) const SIMULATE_USAGE: &str = "\
Usage: cargo xtask simulate sfm --buckets B --levels P --epsilon E --n N [options]

Builds, releases, merges and estimates many times with insecure, seeded randomness. Numbers are relative to N.

  --buckets B --levels P      shape of the sketch
  --epsilon E                 privacy parameter of each release, or `inf` for no noise
  --n N                       distinct items in the union of all parties
  --parties K                 sketches [1]
  --overlap disjoint|half|same  how the parties' sets overlap; half: half of N in every set, the rest in one each [disjoint]
  --merge extremal|symmetric|xor|none  none: the estimate of the union without a merge [extremal]
  --trials T --seed S         repeats [1000] and seed [1]
  --threads N                 worker threads; the result does not depend on it [all cores]
  --json                      one JSON object
";

pub(crate) const ACCURACY_USAGE: &str = "\
Usage: cargo xtask accuracy [--trials T] [--seed S] [--threads N] [--out FILE]

Measures one 4096 x 24 sketch at n = 1e4, 1e5, 1e6 and ε = 1, 2, 4 against its predicted error and writes a Markdown
table. Fails when a measured error is more than 3 % off its prediction or a 95 % interval covers less than 94 % or more
than 96 %.

  --trials T   runs for each setting [10000]
  --out FILE   where the table goes [docs/src/accuracy-table.md]
";

/// Byte files first, unless only named JSON files are asked for; then the cases, whose count is the last line.
///
/// File names are resolved from the caller's folder, which stays the working directory.
pub(crate) fn run_golden(mut args: Args) -> Result<(), Failure> {
    let bless = args.flag("--bless");
    let bytes = if bless || args.is_empty() { bytes::check(bless) } else { Ok(()) };
    if let Err(failure) = &bytes {
        eprintln!("{failure}");
    }
    process::hand_over(&mut simulator("golden", args))?;
    bytes
}

pub(crate) fn run_simulate(args: Args) -> Result<(), Failure> {
    process::hand_over(&mut simulator("simulate", args))
}

pub(crate) fn run_accuracy(args: Args) -> Result<(), Failure> {
    process::hand_over(&mut simulator("accuracy", args))
}

fn simulator(verb: &str, args: Args) -> Command {
    let mut command = Command::new(process::cargo_program());
    command.args(["run", "--quiet", "--release", "--package", "sketch-sim", "--manifest-path"]);
    command.arg(process::root().join("Cargo.toml")).args(["--", verb]).args(args.into_all());
    command
}
