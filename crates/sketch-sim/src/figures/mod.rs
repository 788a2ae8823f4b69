//! The figures of the docs, each with its data and a check against theory.
//!
//! A figure is one file that says what is simulated and what theory says of it; `FIGURES` lists them. Adding one is a
//! file and a line there.

mod axis;
mod by_epsilon;
mod by_items;
mod by_merges;
mod chart;
mod check;
mod curve;
mod dictionary;
mod families;
mod median;
mod parity;
mod peers;
mod sparse;
mod tally;

use std::path::Path;
use std::time::Instant;

use crate::f0::F0Error;
use crate::frequency::FrequencyError;
use crate::options::{OptionError, Options};
use crate::simulate::{Settings, SimulationError};
use chart::Chart;
use check::Point;

/// A figure by name.
struct Figure {
    name: &'static str,
    draw: fn(&Effort) -> Result<Drawn, FigureError>,
}

/// In the order of the docs.
const FIGURES: &[Figure] = &[
    Figure { name: "items", draw: by_items::draw },
    Figure { name: "epsilon", draw: by_epsilon::draw },
    Figure { name: "merges", draw: by_merges::draw },
    Figure { name: "merges-epsilon", draw: by_merges::draw_by_epsilon },
    Figure { name: "tally-1", draw: tally::draw_at_1 },
    Figure { name: "tally-2", draw: tally::draw_at_2 },
    Figure { name: "tally-4", draw: tally::draw_at_4 },
    Figure { name: "families", draw: families::draw },
    Figure { name: "f0", draw: parity::draw },
    Figure { name: "f0-merges", draw: parity::draw_by_merges },
    Figure { name: "median", draw: median::draw },
    Figure { name: "sparse", draw: sparse::draw },
    Figure { name: "dictionary", draw: dictionary::draw },
];

/// Trials of a full run where counts are drawn.
const TRIALS: u32 = 4000;

/// How much is simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Effort {
    trials: u32,
    seed: u64,
    threads: Option<usize>,
}

impl Effort {
    /// The trials of a point and a seed that no other point shares. A point whose trials take `cost` times as long as
    /// one of drawn counts has that many fewer, but not below 60.
    fn share(&self, cost: u32, index: u64) -> (u32, u64) {
        let seed = self.seed.wrapping_mul(1_000_003).wrapping_add(index);
        ((self.trials / cost).max(60.min(self.trials)), seed)
    }
}

/// What a figure consists of.
#[derive(Debug)]
struct Drawn {
    chart: Chart,
    /// What stands on the x-axis, as a column of the data.
    x: &'static str,
    /// What is simulated and what theory says, as columns of the data.
    y: [&'static str; 2],
    points: Vec<Point>,
    /// Sketches and settings, in Markdown.
    settings: String,
}

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// A parameter of a figure is outside its range.
    #[error("{0}")]
    Parameter(String),
    /// A setting could not be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// Frequencies could not be simulated.
    #[error(transparent)]
    Frequency(#[from] FrequencyError),
    /// Parity sketches could not be simulated.
    #[error(transparent)]
    F0(#[from] F0Error),
    /// A file could not be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl FigureError {
    fn parameter<E: std::fmt::Display>(error: E) -> Self {
        Self::Parameter(error.to_string())
    }
}

/// How figures are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The figures wanted, all when empty.
    only: Vec<String>,
    /// Whether files are written, or theory is only checked.
    write: bool,
    effort: Effort,
}

impl Plan {
    /// Reads the options of `figures`.
    ///
    /// # Errors
    /// [`OptionError`] naming the option.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, OptionError> {
        let options = Options::parse(arguments, &["--only", "--trials", "--seed", "--threads"], &["--check"])?;
        if let Some(operand) = options.operands().first() {
            return Err(OptionError::Unknown { name: operand.clone() });
        }
        let names = || FIGURES.iter().map(|figure| figure.name);
        let only: Vec<String> =
            options.text("--only").map(|list| list.split(',').map(str::to_owned).collect()).unwrap_or_default();
        if let Some(unknown) = only.iter().find(|name| !names().any(|known| known == *name)) {
            return Err(Options::refuse("--only", unknown, &names().collect::<Vec<_>>().join(", ")));
        }
        let check = options.flag("--check");
        let expected = "a whole number from 1 to 10000000";
        let trials = options.number("--trials", expected)?.unwrap_or(if check { 60 } else { TRIALS });
        if !(1..=Settings::MAX_TRIALS).contains(&trials) {
            return Err(Options::refuse("--trials", &trials.to_string(), expected));
        }
        let effort = Effort {
            trials,
            seed: options.number("--seed", "a whole number below 2^64")?.unwrap_or(1),
            threads: crate::simulate::threads(&options)?,
        };
        Ok(Self { only, write: !check, effort })
    }
}

/// Draws the figures into `docs`, the folder of the book's pages, and gives a sentence for each point that theory does not
/// explain; `progress` is told about each figure.
///
/// # Errors
/// [`FigureError`] when a setting is refused or a file cannot be written.
pub fn run(plan: &Plan, docs: &Path, mut progress: impl FnMut(&str)) -> Result<Vec<String>, FigureError> {
    let mut violations = Vec::new();
    for figure in
        FIGURES.iter().filter(|figure| plan.only.is_empty() || plan.only.iter().any(|name| name == figure.name))
    {
        let begin = Instant::now();
        let drawn = (figure.draw)(&plan.effort)?;
        violations.extend(
            drawn.points.iter().filter_map(Point::violation).map(|sentence| format!("{}: {sentence}", figure.name)),
        );
        if plan.write {
            save(figure.name, &drawn, plan, docs)?;
        }
        progress(&format!("{}: {} points, {:.1} s", figure.name, drawn.points.len(), begin.elapsed().as_secs_f64()));
    }
    Ok(violations)
}

/// The picture, its data, and the part of the page that is computed.
fn save(name: &str, drawn: &Drawn, plan: &Plan, docs: &Path) -> Result<(), FigureError> {
    let Effort { trials, seed, .. } = plan.effort;
    let page = format!(
        "{}\n\nCommand: `cargo xtask figures --only {name} --trials {trials} --seed {seed}`.\n\n{}",
        drawn.settings,
        check::table(&drawn.points)
    );
    write(&docs.join(format!("figures/{name}.svg")), &drawn.chart.to_svg())?;
    write(&docs.join(format!("figures/{name}.csv")), &check::csv(&drawn.points, drawn.x, drawn.y))?;
    write(&docs.join(format!("figures-{name}.md")), &page)
}

fn write(path: &Path, text: &str) -> Result<(), FigureError> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder
        .and_then(|()| std::fs::write(path, text))
        .map_err(|source| FigureError::Write { path: path.display().to_string(), source })
}

/// Points from `low` to `high`, so many in a factor of ten, for lines.
fn spaced(low: f64, high: f64, in_a_decade: f64) -> impl Iterator<Item = f64> {
    let steps = ((high / low).log10() * in_a_decade).round();
    let last = u32::try_from(crate::number::floor_clamped(steps)).unwrap_or(u32::MAX);
    (0..=last).map(move |step| low * (high / low).powf(f64::from(step) / steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Plan, OptionError> {
        Plan::parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn unknown_figures_are_refused_with_the_known_ones() {
        let message = parse("--only items,everything").unwrap_err().to_string();
        assert!(message.contains("everything") && message.contains("merges-epsilon"), "{message}");
        assert_eq!(parse("--only items,merges").unwrap().only, ["items", "merges"]);
    }

    #[test]
    fn a_check_writes_nothing_and_is_short() {
        let plan = parse("--check").unwrap();
        assert!(!plan.write && plan.effort.trials < 100);
        assert!(parse("").unwrap().write);
    }

    #[test]
    fn spaced_points_hit_both_ends() {
        let points: Vec<f64> = spaced(10.0, 1000.0, 2.0).collect();
        assert_eq!(points.len(), 5);
        assert!(
            (points[0] - 10.0).abs() < 1e-9 && (points[2] - 100.0).abs() < 1e-9 && (points[4] - 1000.0).abs() < 1e-9
        );
    }
}
