//! What is simulated.

use std::fmt;
use std::str::FromStr;

use dp_noise::{Epsilon, SampleRate};
use f0_sketch::{F0Shape, ModeKind, NoiseRule};
use serde_json::{Value, json};

use super::sample::Sample;
use crate::options::{OptionError, Options};
use crate::simulate::{self, UnknownWord, count, epsilon, ranged, threads, word};

/// Which estimator answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Estimator {
    /// Composite maximum likelihood.
    #[default]
    Mle,
    /// The intersection of the levels' intervals with failure probability `2^−levels`.
    Interval,
}

/// How the weights of the items spread; see the simulator's help.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// Every item weighs 1.
    #[default]
    Unit,
    /// Evenly between 0 and 1.
    Uniform,
    /// By Pareto's law of exponent 3/2 from 1/100 on, up to 1.
    Pareto,
}

/// One setting of the simulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Levels of every sketch.
    pub levels: u8,
    /// Cells of each level.
    pub cells: u32,
    /// What the sketches are built from.
    pub mode: ModeKind,
    /// Privacy parameter of each release; `None` is no noise at all.
    pub epsilon: Option<Epsilon>,
    /// How the noise follows from it.
    pub noise: NoiseRule,
    /// Items in all sets together.
    pub n: u64,
    /// Disjoint sets, a sketch each, as equal in size as can be.
    pub merged: u32,
    /// Which estimator answers.
    pub estimator: Estimator,
    /// The weights of the items.
    pub weights: Weights,
    /// The rate of secret samples, with a key for every trial; `None` is all items.
    pub rate: Option<SampleRate>,
    /// Repeats.
    pub trials: u32,
    /// Seed of all randomness.
    pub seed: u64,
}

/// Options that take a value.
const WITH_VALUE: [&str; 13] = [
    "--levels",
    "--cells",
    "--epsilon",
    "--n",
    "--mode",
    "--noise",
    "--merged",
    "--estimator",
    "--weights",
    "--subsample-rate",
    "--trials",
    "--seed",
    "--threads",
];

impl Settings {
    /// The largest number of cells a level.
    pub const MAX_CELLS: u32 = 1 << 20;

    /// Reads the options of `simulate f0`; the second part is the number of threads, `None` for all cores, the third
    /// whether JSON is wanted.
    ///
    /// # Errors
    /// [`OptionError`] naming option, value and what is accepted.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<(Self, Option<usize>, bool), OptionError> {
        let options = Options::parse(arguments, &WITH_VALUE, &["--json"])?;
        if let Some(operand) = options.operands().first() {
            return Err(OptionError::Unknown { name: operand.clone() });
        }
        let (levels, cells) = shape(&options)?;
        let settings = Self {
            levels,
            cells,
            mode: word(&options, "--mode", Mode(ModeKind::Set), "set or presampled")?.0,
            epsilon: epsilon(&options)?,
            noise: word(&options, "--noise", Noise(NoiseRule::Tight), "tight or paper")?.0,
            n: count(&options)?,
            merged: ranged(&options, "--merged", 1, 1, simulate::Settings::MAX_PARTIES)?,
            estimator: word(&options, "--estimator", Estimator::Mle, "mle or interval")?,
            weights: word(&options, "--weights", Weights::Unit, "unit, uniform or pareto")?,
            rate: simulate::rate(&options)?,
            trials: ranged(&options, "--trials", 1000, 1, simulate::Settings::MAX_TRIALS)?,
            seed: options.number("--seed", "a whole number below 2^64")?.unwrap_or(1),
        };
        if let Some(rate) = settings.rate {
            Sample::of(&settings, rate).map_err(|expected| simulate::refuse(&rate.get().to_string(), expected))?;
        }
        Ok((settings, threads(&options)?, options.flag("--json")))
    }

    /// The settings as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut settings = json!({
            "kind": "f0",
            "levels": self.levels,
            "cells": self.cells,
            "mode": self.mode.to_string(),
            "epsilon": self.epsilon.map_or_else(|| json!("inf"), |epsilon| json!(epsilon.get())),
            "noise": Noise(self.noise).to_string(),
            "n": self.n,
            "merged": self.merged,
            "estimator": self.estimator.to_string(),
            "weights": self.weights.to_string(),
            "seed": self.seed,
        });
        if let Some(rate) = self.rate {
            simulate::describe(&mut settings, rate, self.epsilon);
        }
        settings
    }
}

fn shape(options: &Options) -> Result<(u8, u32), OptionError> {
    let levels: u8 = options.required("--levels", "a number of levels from 1 to 64")?;
    let expected = format!("a number of cells from 2 to {}", Settings::MAX_CELLS);
    let cells: u32 = options.required("--cells", &expected)?;
    if cells > Settings::MAX_CELLS {
        return Err(Options::refuse("--cells", &cells.to_string(), &expected));
    }
    let refuse = |error: f0_sketch::ShapeError| {
        Options::refuse("--levels/--cells", &format!("{levels}/{cells}"), &error.to_string())
    };
    F0Shape::new(levels, cells).map(|_| (levels, cells)).map_err(refuse)
}

/// A mode and a rule of noise as words.
#[derive(Clone, Copy)]
struct Mode(ModeKind);
#[derive(Clone, Copy)]
struct Noise(NoiseRule);

impl FromStr for Mode {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        find([ModeKind::Set, ModeKind::Presampled], word).map(Self)
    }
}

impl FromStr for Noise {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        find([NoiseRule::Tight, NoiseRule::Paper].map(Self), word)
    }
}

impl FromStr for Estimator {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        find([Self::Mle, Self::Interval], word)
    }
}

impl FromStr for Weights {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        find([Self::Unit, Self::Uniform, Self::Pareto], word)
    }
}

fn find<T: fmt::Display, const N: usize>(all: [T; N], word: &str) -> Result<T, UnknownWord> {
    all.into_iter().find(|one| one.to_string() == word).ok_or(UnknownWord)
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 == NoiseRule::Paper { "paper" } else { "tight" })
    }
}

impl fmt::Display for Estimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mle => "mle",
            Self::Interval => "interval",
        })
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unit => "unit",
            Self::Uniform => "uniform",
            Self::Pareto => "pareto",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Settings, OptionError> {
        let basic = "--levels 16 --cells 256 --n 1000";
        Settings::parse(format!("{basic} {text}").split_whitespace().map(str::to_owned))
            .map(|(settings, _, _)| settings)
    }

    #[test]
    fn every_word_is_read_as_it_is_written() {
        let text = "--epsilon 0.5 --mode presampled --noise paper --merged 8 --estimator interval --weights pareto";
        let json = parse(text).unwrap().to_json();
        for (key, word) in
            [("mode", "presampled"), ("noise", "paper"), ("estimator", "interval"), ("weights", "pareto")]
        {
            assert_eq!(json[key], word);
        }
        let plain = parse("--epsilon inf").unwrap().to_json();
        assert_eq!(
            (&plain["epsilon"], &plain["mode"], &plain["noise"]),
            (&json!("inf"), &json!("set"), &json!("tight"))
        );
    }

    #[test]
    fn settings_without_a_sample_are_refused_by_name() {
        for (text, word) in [
            ("--epsilon 1 --mode presampled", "--mode"),
            ("--epsilon 1 --noise paper", "--noise"),
            ("--epsilon 1 --estimator interval", "--estimator"),
            ("--epsilon inf", "--epsilon"),
        ] {
            let message = parse(&format!("{text} --subsample-rate 0.5")).unwrap_err().to_string();
            assert!(message.contains("--subsample-rate") && message.contains(word), "{message}");
        }
        assert!(parse("--epsilon 1 --subsample-rate 1").unwrap_err().to_string().contains("--subsample-rate"));
        let json = parse("--epsilon 1 --subsample-rate 0.5 --merged 3").unwrap().to_json();
        let inner = (1.0 + 2.0 * 1.0_f64.exp_m1()).ln();
        assert!((json["epsilon_if_key_known"].as_f64().unwrap() - inner).abs() < 1e-9 && json["rate"] == json!(0.5));
        assert!(parse("--epsilon 1").unwrap().to_json().get("rate").is_none());
    }

    #[test]
    fn absurd_numbers_are_refused_by_name() {
        for (text, name) in [
            ("--epsilon 1 --merged 0", "--merged"),
            ("--epsilon 1 --mode both", "--mode"),
            ("--epsilon 1 --noise loud", "--noise"),
            ("--epsilon 1 --estimator best", "--estimator"),
            ("--epsilon 1 --weights heavy", "--weights"),
            ("--epsilon 0", "--epsilon"),
            ("", "--epsilon"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        }
        for (shape, name) in [("--levels 0 --cells 8", "--levels"), ("--levels 4 --cells 2000000", "--cells")] {
            let words = format!("{shape} --n 10 --epsilon 1");
            let error = Settings::parse(words.split_whitespace().map(str::to_owned)).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
