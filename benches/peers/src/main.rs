//! Our sketches and noise beside other libraries, in one run: a Markdown table of medians and ratios on standard output.
//!
//! ```text
//! dpsketch-peers [--rounds N]
//! ```
//!
//! One thread; a figure is the thread's own processor time, so that waiting for a shared core does not count. The
//! contenders of a contest take turns, round after round, and each figure is the median of its turns; a busy neighbour
//! then slows all of a contest alike, and the ratios stay.

mod clock;
mod contest;
mod estimate;
mod flip;
mod frequency;
#[path = "../../src/input.rs"]
mod input;
mod merge;
mod noise;
mod sketches;
mod update;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use contest::Contest;
use dp_noise::NoiseRng;
use sketches::Sketches;

/// Turns of each contender.
const ROUNDS: usize = 31;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dpsketch-peers: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let rounds = rounds(std::env::args().skip(1))?;
    let mut noise = NoiseRng::from_os()?;
    let (whole_range, others) = (input::words(1, update::ITEMS), input::words(2, update::ITEMS));
    let items: Vec<u64> = whole_range.iter().map(|word| word >> 1).collect();
    let (left, right) = (Sketches::of(&items, &mut noise)?, Sketches::of(&others, &mut noise)?);
    left.check(items.len())?;

    let mut out = std::io::stdout().lock();
    writeln!(out, "{}\n", contest::legend(rounds))?;
    let mut show = |contest: Contest<'_>| -> Result<(), Box<dyn Error>> {
        writeln!(out, "{}", contest.measure(rounds))?;
        Ok(out.flush()?)
    };
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

/// The number behind `--rounds`, at least 1.
fn rounds(mut arguments: impl Iterator<Item = String>) -> Result<usize, Box<dyn Error>> {
    let rounds = match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => ROUNDS,
        (Some("--rounds"), Some(text)) => text.parse().map_err(|error| format!("--rounds {text}: {error}"))?,
        (Some(word), _) => return Err(format!("cannot use `{word}`; usage: dpsketch-peers [--rounds N]").into()),
    };
    Ok(rounds.max(1))
}
