//! Our sketches and noise beside other libraries, in one run: a Markdown table of medians and ratios on standard output.
//!
//! ```text
//! dpsketch-peers [--rounds N] [--m4ri PROGRAM] [--gf2]
//! ```
//!
//! M4RI is timed by a program of its own, which `cargo xtask bench --peers` builds. With `--gf2`, only matrices over GF(2)
//! are compared.
//!
//! One thread; a figure is the thread's own processor time, so that waiting for a shared core does not count. The
//! contenders of a contest take turns, round after round, and each figure is the median of its turns; a busy neighbour
//! then slows all of a contest alike, and the ratios stay.

mod binary;
mod clock;
mod contest;
mod estimate;
mod flip;
mod frequency;
#[path = "../../src/input.rs"]
mod input;
mod m4ri;
mod merge;
mod noise;
mod sketches;
mod update;

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use contest::Contest;
use dp_noise::NoiseRng;
use m4ri::M4ri;
use sketches::Sketches;

/// Turns of each contender.
const ROUNDS: usize = 31;

const USAGE: &str = "dpsketch-peers [--rounds N] [--m4ri PROGRAM] [--gf2]";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dpsketch-peers: {error}");
            ExitCode::FAILURE
        }
    }
}

type Done = Result<(), Box<dyn Error>>;

/// What the command line says.
#[derive(Debug)]
struct Options {
    rounds: usize,
    m4ri: Option<PathBuf>,
    only_gf2: bool,
}

fn run() -> Done {
    let options = options(std::env::args().skip(1))?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}\n", contest::legend(options.rounds))?;
    let mut show = |contest: Contest<'_>| -> Done {
        writeln!(out, "{}", contest.measure(options.rounds))?;
        Ok(out.flush()?)
    };
    if !options.only_gf2 {
        sketches(&mut show)?;
    }
    let m4ri = options.m4ri.map(|program| M4ri::start(&program, binary::SIZE)).transpose()?;
    show(binary::sketches())?;
    for contest in [binary::vector, binary::transpose, binary::product, binary::rank, binary::inverse] {
        show(contest(m4ri.as_ref())?)?;
    }
    Ok(())
}

/// Sketches and noise beside those of others.
fn sketches(show: &mut dyn FnMut(Contest<'_>) -> Done) -> Done {
    let mut noise = NoiseRng::from_os()?;
    let (whole_range, others) = (input::words(1, update::ITEMS), input::words(2, update::ITEMS));
    let items: Vec<u64> = whole_range.iter().map(|word| word >> 1).collect();
    let (left, right) = (Sketches::of(&items, &mut noise)?, Sketches::of(&others, &mut noise)?);
    left.check(items.len())?;
    show(update::words(&items, &whole_range))?;
    show(update::strings(&update::text().iter().map(Vec::as_slice).collect::<Vec<_>>()))?;
    show(merge::plain(&left, &right))?;
    show(merge::private(&left, &right)?)?;
    show(flip::flips()?)?;
    for size in noise::SIZES {
        show(noise::gaussian(size)?)?;
    }
    for size in noise::SIZES {
        show(noise::laplace(size)?)?;
    }
    for width in frequency::WIDTHS {
        show(frequency::updates(width)?)?;
        show(frequency::queries(width, &mut noise)?)?;
    }
    show(estimate::answers(&left))?;
    show(estimate::to_bytes(&left))?;
    show(estimate::from_bytes(&left))
}

/// Reads the command line; rounds are at least 1.
fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, Box<dyn Error>> {
    let mut options = Options { rounds: ROUNDS, m4ri: None, only_gf2: false };
    while let Some(word) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("no value after {word}"));
        match word.as_str() {
            "--rounds" => options.rounds = value()?.parse().map_err(|error| format!("--rounds: {error}"))?,
            "--m4ri" => options.m4ri = Some(value()?.into()),
            "--gf2" => options.only_gf2 = true,
            _ => return Err(format!("cannot use `{word}`; usage: {USAGE}").into()),
        }
    }
    options.rounds = options.rounds.max(1);
    Ok(options)
}
