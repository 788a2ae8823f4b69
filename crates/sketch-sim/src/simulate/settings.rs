//! What is simulated.

use std::fmt;
use std::str::FromStr;

use dp_noise::{Epsilon, SampleRate};
use serde_json::{Value, json};
use sfm_pcsa::SketchShape;

use super::overlap::Overlap;
use super::sample;
use super::shape;
use crate::number;
use crate::options::{OptionError, Options};

/// How the union is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// From the extremal merge.
    Extremal,
    /// From the merge whose output is symmetric again.
    Symmetric,
    /// From the deterministic merge of releases of the xor family.
    Xor,
    /// From all releases at once by the product statistic, without a merge.
    None,
    /// From the tally of all releases: how many noisy bits of each cell are one.
    Tally,
    /// From all releases at once by the joint likelihood of every region of their Venn diagram; for up to four.
    Joint,
}

/// What is drawn at random.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// Every item, every flip and every coin of a merge, by the product's own code.
    #[default]
    Cells,
    /// The number of ones in each level of the sketch that is estimated from, by their exact law.
    Counts,
    /// As [`Cells`](Self::Cells), of secret samples at this rate, with a key for every trial.
    Subsampled(SampleRate),
}

/// The words of `--merge`.
const MERGES: &str = "extremal, symmetric, xor, none (or product), tally or joint";

/// One setting of the simulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Shape of every sketch.
    pub shape: SketchShape,
    /// Privacy parameter of each release; `None` is no noise at all.
    pub epsilon: Option<Epsilon>,
    /// Distinct items in the union.
    pub n: u64,
    /// Sketches.
    pub parties: u32,
    /// How their sets overlap.
    pub overlap: Overlap,
    /// How the union is estimated.
    pub merge: Merge,
    /// What is drawn at random.
    pub sampling: Sampling,
    /// Repeats.
    pub trials: u32,
    /// Seed of all randomness.
    pub seed: u64,
}

/// Options of `simulate sfm` that take a value.
const WITH_VALUE: [&str; 11] = [
    "--epsilon",
    "--n",
    "--parties",
    "--merged",
    "--overlap",
    "--shape",
    "--merge",
    "--subsample-rate",
    "--trials",
    "--seed",
    "--threads",
];

impl Settings {
    /// The largest number of items, 2^60.
    pub const MAX_N: u64 = 1 << 60;
    /// The largest number of parties.
    pub const MAX_PARTIES: u32 = 1024;
    /// The largest number of repeats.
    pub const MAX_TRIALS: u32 = 10_000_000;

    /// Reads the options of `simulate sfm`; the second part is the number of threads, `None` for all cores, the third
    /// whether JSON is wanted.
    ///
    /// # Errors
    /// [`OptionError`] naming option, value and what is accepted.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<(Self, Option<usize>, bool), OptionError> {
        let with_value = [&WITH_VALUE[..], &shape::OPTIONS].concat();
        let options = Options::parse(arguments, &with_value, &["--json", "--counts"])?;
        if let Some(operand) = options.operands().first() {
            return Err(OptionError::Unknown { name: operand.clone() });
        }
        let settings = Self {
            shape: shape::parse(&options)?,
            epsilon: epsilon(&options)?,
            n: count(&options)?,
            parties: parties(&options)?,
            overlap: overlap(&options)?,
            merge: word(&options, "--merge", Merge::Extremal, MERGES)?,
            sampling: sample::sampling(&options)?,
            trials: ranged(&options, "--trials", 1000, 1, Self::MAX_TRIALS)?,
            seed: options.number("--seed", "a whole number below 2^64")?.unwrap_or(1),
        };
        sample::check(&settings)?;
        Ok((settings, threads(&options)?, options.flag("--json")))
    }

    /// The settings as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut settings = json!({
            "kind": "sfm",
            "epsilon": self.epsilon.map_or_else(|| json!("inf"), |epsilon| json!(epsilon.get())),
            "n": self.n,
            "parties": self.parties,
            "overlap": self.overlap.to_string(),
            "merge": self.merge.to_string(),
            "seed": self.seed,
        });
        if let Some(object) = settings.as_object_mut() {
            object.extend(shape::to_json(self.shape));
        }
        if let Sampling::Subsampled(rate) = self.sampling {
            sample::describe(&mut settings, rate, self.epsilon);
        }
        settings
    }
}

/// `--parties` or its other name `--merged`.
fn parties(options: &Options) -> Result<u32, OptionError> {
    match (options.text("--parties"), options.text("--merged")) {
        (Some(_), Some(value)) => Err(Options::refuse("--merged", value, "one of --parties and --merged")),
        (None, Some(_)) => ranged(options, "--merged", 1, 1, Settings::MAX_PARTIES),
        _ => ranged(options, "--parties", 1, 1, Settings::MAX_PARTIES),
    }
}

/// `--overlap` or its other name `--shape`.
fn overlap(options: &Options) -> Result<Overlap, OptionError> {
    match (options.text("--overlap"), options.text("--shape")) {
        (Some(_), Some(value)) => Err(Options::refuse("--shape", value, "one of --overlap and --shape")),
        (None, Some(_)) => word(options, "--shape", Overlap::Disjoint, &Overlap::words()),
        _ => word(options, "--overlap", Overlap::Disjoint, &Overlap::words()),
    }
}

/// A privacy parameter, or `inf` for no noise.
pub(crate) fn epsilon(options: &Options) -> Result<Option<Epsilon>, OptionError> {
    if options.text("--epsilon") == Some("inf") {
        return Ok(None);
    }
    let value: f64 = options.required("--epsilon", "a number or `inf`")?;
    Epsilon::new(value).map(Some).map_err(|error| Options::refuse("--epsilon", &value.to_string(), &error.to_string()))
}

/// A count written as an integer or as `1e6`.
pub(crate) fn count(options: &Options) -> Result<u64, OptionError> {
    let expected = "a whole number from 1 to 2^60, as 1000000 or 1e6";
    let text: String = options.required("--n", expected)?;
    let exact = text.parse::<u64>().ok().or_else(|| text.parse::<f64>().ok().and_then(number::whole));
    exact.filter(|n| (1..=Settings::MAX_N).contains(n)).ok_or_else(|| Options::refuse("--n", &text, expected))
}

/// A number within bounds.
pub(crate) fn ranged(options: &Options, name: &str, default: u32, low: u32, high: u32) -> Result<u32, OptionError> {
    let expected = format!("a whole number from {low} to {high}");
    let value = options.number(name, &expected)?.unwrap_or(default);
    if (low..=high).contains(&value) { Ok(value) } else { Err(Options::refuse(name, &value.to_string(), &expected)) }
}

/// One of several words.
pub(crate) fn word<T: FromStr>(options: &Options, name: &str, default: T, expected: &str) -> Result<T, OptionError> {
    Ok(options.number(name, expected)?.unwrap_or(default))
}

/// The number of threads asked for.
pub(crate) fn threads(options: &Options) -> Result<Option<usize>, OptionError> {
    let expected = "a number of threads from 1 to 1024";
    match options.number::<usize>("--threads", expected)? {
        Some(threads) if !(1..=1024).contains(&threads) => {
            Err(Options::refuse("--threads", &threads.to_string(), expected))
        }
        threads => Ok(threads),
    }
}

/// A word that is none of the accepted ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownWord;

impl FromStr for Merge {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let all = [Self::Extremal, Self::Symmetric, Self::Xor, Self::None, Self::Tally, Self::Joint];
        // The product statistic is what answers where nothing is merged.
        let word = if word == "product" { "none" } else { word };
        all.into_iter().find(|one| one.to_string() == word).ok_or(UnknownWord)
    }
}

impl fmt::Display for Merge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Extremal => "extremal",
            Self::Symmetric => "symmetric",
            Self::Xor => "xor",
            Self::None => "none",
            Self::Tally => "tally",
            Self::Joint => "joint",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Settings, OptionError> {
        let basic = "--buckets 256 --levels 16 --epsilon 1 --n 1000";
        Settings::parse(format!("{basic} {text}").split_whitespace().map(str::to_owned))
            .map(|(settings, _, _)| settings)
    }

    #[test]
    fn overlaps_and_merges_have_other_names() {
        assert_eq!(parse("--shape half-pairs").unwrap().overlap, Overlap::HalfPairs);
        assert_eq!(parse("--overlap nested").unwrap().overlap, Overlap::Nested);
        assert!(parse("--overlap half --shape half").unwrap_err().to_string().contains("--shape"));
        assert_eq!(parse("--merge product").unwrap().merge, Merge::None);
        assert_eq!(parse("--merge none").unwrap().merge, Merge::None);
        assert_eq!(parse("--merge tally").unwrap().to_json()["merge"], "tally");
        assert_eq!(parse("--merge joint").unwrap().merge, Merge::Joint);
        let message = parse("--shape most").unwrap_err().to_string();
        assert!(message.contains("half-powerlaw") && message.contains("sizes15"), "{message}");
    }

    #[test]
    fn absurd_numbers_are_refused_by_name() {
        for (text, name) in [
            ("--parties 0", "--parties"),
            ("--trials 0", "--trials"),
            ("--threads 0", "--threads"),
            ("--overlap most", "--overlap"),
            ("--merge best", "--merge"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        }
        for arguments in ["--epsilon NaN", "--epsilon -1", "--epsilon 0"] {
            let words = format!("--buckets 256 --levels 16 --n 10 {arguments}");
            let error = Settings::parse(words.split_whitespace().map(str::to_owned)).unwrap_err();
            assert!(error.to_string().contains("--epsilon"), "{error}");
        }
    }

    #[test]
    fn every_sketch_has_its_own_options_and_no_others() {
        let parse = |text: &str| Settings::parse(text.split_whitespace().map(str::to_owned));
        let common = "--epsilon 1 --n 1000 --merged 3";
        for (sketch, shape, keys) in [
            ("pcsa", "--buckets 256 --levels 16", &["buckets", "levels"][..]),
            ("linear", "--cells 1000", &["cells"]),
            ("bloom", "--cells 1000 --hashes 3", &["cells", "hashes"]),
            ("legions", "--cells 1000 --decay 8", &["cells", "decay"]),
        ] {
            let (settings, _, _) = parse(&format!("--sketch {sketch} {shape} {common}")).unwrap();
            let json = settings.to_json();
            assert_eq!((json["sketch"].as_str(), settings.parties), (Some(sketch), 3));
            assert!(keys.iter().all(|key| json.get(key).is_some()), "{json}");
            let foreign = if sketch == "pcsa" { "--cells 5" } else { "--levels 5" };
            let message = parse(&format!("--sketch {sketch} {shape} {common} {foreign}")).unwrap_err().to_string();
            assert!(message.contains(sketch), "{message}");
        }
        assert!(parse(&format!("--sketch hll {common}")).unwrap_err().to_string().contains("legions"));
        assert!(parse(&format!("--sketch linear {common}")).unwrap_err().to_string().contains("--cells"));
        let twice = "--buckets 256 --levels 16 --epsilon 1 --n 10 --parties 2 --merged 2";
        assert!(parse(twice).unwrap_err().to_string().contains("--merged"));
    }

    #[test]
    fn counts_may_be_written_with_an_exponent() {
        let words = "--buckets 256 --levels 16 --epsilon inf --n 1e6".split_whitespace().map(str::to_owned);
        let (settings, threads, json) = Settings::parse(words).unwrap();
        assert_eq!((settings.n, settings.epsilon, threads, json), (1_000_000, None, None, false));
    }
}
