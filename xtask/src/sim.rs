//! `golden`, `simulate`, `accuracy` and `figures`: computed by `sketch-sim` with the product's own code.

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
Usage: cargo xtask simulate sfm [--sketch pcsa|linear|bloom|legions] SHAPE --epsilon E --n N [options]
       cargo xtask simulate countsketch --rows K --width B (--rho R | --epsilon E --delta D) [options]
       cargo xtask simulate f0 --levels L --cells M --epsilon E --n N [options]

Builds, releases, merges and estimates many times with insecure, seeded randomness. Numbers are relative to N.

  --sketch S                  family of the sketch [pcsa]
  --buckets B --levels P      shape of pcsa
  --cells M                   shape of linear; of bloom with --hashes K, of legions with --decay A
  --epsilon E                 privacy parameter of each release, or `inf` for no noise
  --n N                       distinct items in the union of all parties
  --parties K, --merged K     sketches [1]
  --overlap S, --shape S      how the parties' sets overlap [disjoint]:
      disjoint, same          each item in one set; in every set
      half, share90           half or 90 % of N in every set, the rest in one each
      one75                   disjoint, the first set with 75 % of N
      subset                  the first set holds all, the others disjoint parts of N/K
      powerlaw, sizes15       disjoint, sizes as 1, 1/2, 1/3, …; sizes in turn 15 % above and below their mean
      nested, pairs           each set holds the one before; the first two sets are the same, the next two, …
      half-powerlaw, half-pairs  half of N in every set, the rest as powerlaw or pairs
  --merge extremal|symmetric|xor  the merge that is estimated from [extremal]; or no merge, but
      none, product           the product statistic of all releases
      tally                   the tally of all releases; tells how many answers stand on which law
      joint                   the joint likelihood of all regions, of up to four releases
  --counts                    draw the ones of each level by their exact law, not items and cells: faster, same answers;
                              not for legions, whose cells all differ, nor for unions without a merge
  --subsample-rate G          secret samples: one fresh key a trial keeps items at this rate, for pcsa of up to 2^32 items merged
                              extremal or symmetric, or none; without --counts
  --trials T --seed S         repeats [1000] and seed [1]
  --threads N                 worker threads; the result does not depend on it [all cores]
  --json                      one JSON object

Of countsketch, errors are in units of weight:
  --rows K --width B          shape; K odd
  --rho R                     zCDP of the release, for records of weight 1; or --epsilon E --delta D
  --vector zipf|sparse        frequencies that fall as a power of the rank, or equal ones [zipf]
  --d D --total N --exponent A  of zipf: items, about the sum of their frequencies, power [100000, 1000000, 1.1]
  --t T --value V --d D       of sparse: items that occur, how often each, items in all [1000, 10, T]
  --estimator median|trimmed|mean|law|decode  how cells become an answer; decode: all D items are candidates [median]
  --threshold auto|0          of decode: small estimates become 0, or stay as they are [auto]
  --baseline none|gaussian|countmin|countmean  another mechanism at the same level [none]
  --queries Q                 items asked of each release, half of them the heaviest [500]
  --trials T --seed S         releases [20], each with a hash key of its own, and seed [1]

Of f0, parity sketches, numbers are relative to the total weight of the items; the ones of each level are drawn by their
exact law:
  --levels L --cells M        shape, M cells a level
  --epsilon E                 privacy parameter of each release, or `inf` for no noise
  --n N                       items in all sets together
  --mode set|presampled       sets, or streams whose occurrences toggle by fair coins [set]
  --noise tight|paper         the least noise that keeps E, or flips with probability 1/(2 + E) [tight]
  --merged K                  sketches of disjoint sets of equal size, merged [1]
  --estimator mle|interval    composite likelihood, or the intersection of the levels' intervals at 2^-L [mle]
  --weights unit|uniform|pareto  all 1; even between 0 and 1; w = 0.01 (1 - u)^(-2/3), at most 1, with u even; at the
                              middles of 256 equal parts of the law [unit]
  --subsample-rate G          secret samples, with every item and coin drawn; of sets with tight noise, by mle
  --trials T --seed S         repeats [1000] and seed [1]
";

pub(crate) const ACCURACY_USAGE: &str = "\
Usage: cargo xtask accuracy [--families | --merged | --tails | --tally [--k 2|8|32] | --venn | --countsketch | --decode
                            | --law | --f0 [--compare] | --subsampled] [--trials T] [--seed S] [--threads N] [--out FILE]

Measures sketches against their predicted errors and writes a Markdown table. Fails when a measured error is more than 3 %
off its prediction (6 % where that lies between 12 and 20 %) or a 95 % interval covers less than 94 % or more than 96 %
(97 %). Beyond a prediction of 20 % errors have heavy tails: rows without a rule. Without an option: one 4096 x 24 sketch
at n = 1e4, 1e5, 1e6 and ε = 1, 2, 4.

  --families   one release of PCSA, linear counting, Bloom filters and Liquid Legions
  --merged     merges of 2, 8 and 32 releases at ε = 2 and 4, extremal and symmetric
  --tails      how often answers at ε = 0.1, 0.25 and 0.5 stray far or miss: a few sketches and set formulas; use about
               2000 trials
  --tally      unions of K tallied releases, all three K without --k: errors of the nine main rows together at most 10 %
               above those of an independent implementation, of none more than 35 %; 95 % intervals cover 88 % in every
               row and 95 to 98.5 % in all; two minutes on two cores for 2 and 8 releases, five
               for 32
  --venn       regions of two and three releases by their joint likelihood: 95 % intervals of unions cover 88 % in every
               row and 94 to 98 % in all
  --decode     all keys of a dictionary decoded together: mean errors at most 5 % above those of an independent
               implementation
  --law        location by the law of the cells: its mean errors are never above the median's by more than chance
  --countsketch  frequencies of Zipf data: 95 % intervals of the cells cover 93.5 to 96.5 %, those of the other methods
               at least 94.5 %; how far users are clipped; beside Count-Min and Count-Mean
  --f0         parity sketches of both modes: errors within 5 % of predictions up to 20 % and within 15 % up to 35 %,
               intervals cover 93.5 to 97.5 % for items of weight 1 and at least 93.5 % otherwise, and the likelihood
               answers wherever the intersection of intervals does; four minutes on two cores
  --f0 --compare  both estimators, both noises and both modes beside Sketch-Flip-Merge of as many bits
  --subsampled  secret samples in F0 and SFM sketches: errors within 15 % of predictions up to 20 %, 95 % intervals cover 88 % in
               every row; two minutes on two cores
  --trials T   runs for each setting [10000; with --tally 500 or, for 32 releases, 200; with --venn 300; with
               --countsketch, --decode and --law 8; with --compare 2000; with
               --subsampled 400]
  --out FILE   where the table goes [docs/src/accuracy-table.md, -families.md, -merged.md, -tails.md, -tally-K.md,
               -venn-table.md, -countsketch.md, -decode-table.md, -law-table.md, -f0.md, -f0-compare.md or
               -subsampled.md]
";

pub(crate) const FIGURES_USAGE: &str = "\
Usage: cargo xtask figures [--only a,b,…] [--check] [--trials T] [--seed S] [--threads N]

Simulates the figures of the docs from fixed seeds and writes docs/src/figures/NAME.svg and NAME.csv, and the table of
docs/src/figures-NAME.md. Fails when a simulated point lies off its theory by more than the theory claims (3 % up to an
error of 12 %, 6 % up to 20 %; 2 to 3 % for laws of frequencies) and chance explains (4.9 standard deviations, a false alarm in a million points).

Options:
  --only a,b,…  some of: items, epsilon, merges, merges-epsilon, tally-1, tally-2, tally-4, families, f0, f0-merges, median,
                sparse, dictionary
  --check       few trials, no files: sees that every figure can be made and agrees with theory
  --trials T    for a point whose counts are drawn; those that need whole sketches have a tenth [4000, with --check 60]
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

pub(crate) fn run_figures(args: Args) -> Result<(), Failure> {
    process::hand_over(&mut simulator("figures", args))
}

/// Every figure with few trials, for `ci`.
pub(crate) fn check_figures() -> Result<(), Failure> {
    run_figures(Args::new(["--check".to_owned()].into_iter()))
}

/// Neighbouring data told apart, for `audit-privacy`.
pub(crate) fn audit_by_samples() -> Result<(), Failure> {
    process::hand_over(&mut simulator("audit-privacy", Args::new(std::iter::empty())))
}

fn simulator(verb: &str, args: Args) -> Command {
    let mut command = Command::new(process::cargo_program());
    command.args(["run", "--quiet", "--release", "--package", "sketch-sim", "--manifest-path"]);
    command.arg(process::root().join("Cargo.toml")).args(["--", verb]).args(args.into_all());
    command
}
