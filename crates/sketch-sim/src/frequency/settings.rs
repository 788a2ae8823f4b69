//! What is simulated.

use std::fmt;

use countsketch_dp::CountSketchShape;
use dp_noise::{Delta, Epsilon, Rho, dp_to_zcdp};
use serde_json::{Value, json};

use super::estimator::{Baseline, Estimator};
use crate::number;
use crate::options::{OptionError, Options};

/// The vector of frequencies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Data {
    /// The item of rank r has a frequency in proportion to `r^−exponent`.
    Zipf {
        /// Items.
        items: u32,
        /// About the sum of all frequencies.
        total: u64,
        /// How fast frequencies fall.
        exponent: f64,
    },
    /// Equal frequencies, and items that do not occur.
    Sparse {
        /// Items that may be asked for.
        items: u32,
        /// Items that occur.
        entries: u32,
        /// How often each.
        value: u64,
    },
}

impl Data {
    /// Items that may be asked for.
    #[must_use]
    pub const fn items(self) -> u32 {
        match self {
            Self::Zipf { items, .. } | Self::Sparse { items, .. } => items,
        }
    }
}

/// One setting of the simulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Shape of the sketch.
    pub shape: CountSketchShape,
    /// zCDP of the release, for records of weight 1.
    pub rho: Rho,
    /// The level that ρ was made from.
    pub level: Option<(Epsilon, Delta)>,
    /// The vector.
    pub data: Data,
    /// How cells become an answer.
    pub estimator: Estimator,
    /// Another mechanism.
    pub baseline: Option<Baseline>,
    /// Items asked of each release.
    pub queries: u32,
    /// Releases.
    pub trials: u32,
    /// Seed of all randomness.
    pub seed: u64,
}

const WITH_VALUE: [&str; 18] = [
    "--rows",
    "--width",
    "--rho",
    "--epsilon",
    "--delta",
    "--vector",
    "--d",
    "--total",
    "--exponent",
    "--t",
    "--value",
    "--estimator",
    "--threshold",
    "--baseline",
    "--queries",
    "--trials",
    "--seed",
    "--threads",
];

impl Settings {
    /// The largest number of items, queries and releases.
    pub const MAX_COUNT: u32 = 10_000_000;

    /// Reads the options of `simulate countsketch`; the second part is the number of threads, `None` for all cores, the
    /// third whether JSON is wanted.
    ///
    /// # Errors
    /// [`OptionError`] naming option, value and what is accepted.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<(Self, Option<usize>, bool), OptionError> {
        let options = Options::parse(arguments, &WITH_VALUE, &["--json"])?;
        if let Some(operand) = options.operands().first() {
            return Err(OptionError::Unknown { name: operand.clone() });
        }
        let (rho, level) = level(&options)?;
        let settings = Self {
            shape: shape(&options)?,
            rho,
            level,
            data: data(&options)?,
            estimator: Estimator::parse(&options)?,
            baseline: baseline(&options)?,
            queries: count(&options, "--queries", 500)?,
            trials: count(&options, "--trials", 20)?,
            seed: options.number("--seed", "a whole number below 2^64")?.unwrap_or(1),
        };
        Ok((settings, crate::simulate::threads(&options)?, options.flag("--json")))
    }

    /// The settings as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut settings = json!({
            "kind": "countsketch",
            "rows": self.shape.rows(),
            "width": self.shape.width(),
            "rho": self.rho.get(),
            "estimator": self.estimator.name(),
            "threshold": self.estimator.threshold(),
            "baseline": self.baseline.map_or_else(|| "none".to_owned(), |baseline| baseline.to_string()),
            "queries": self.queries,
            "seed": self.seed,
        });
        let data = match self.data {
            Data::Zipf { items, total, exponent } => {
                json!({ "vector": "zipf", "d": items, "total": total, "exponent": exponent })
            }
            Data::Sparse { items, entries, value } => {
                json!({ "vector": "sparse", "d": items, "t": entries, "value": value })
            }
        };
        let level = self.level.map(|(epsilon, delta)| json!({ "epsilon": epsilon.get(), "delta": delta.get() }));
        if let Some(object) = settings.as_object_mut() {
            for more in [Some(data), level].into_iter().flatten() {
                object.extend(more.as_object().cloned().unwrap_or_default());
            }
        }
        settings
    }
}

fn shape(options: &Options) -> Result<CountSketchShape, OptionError> {
    let rows: u8 = options.required("--rows", "an odd number up to 255")?;
    let width: u32 = options.required("--width", "a whole number from 2")?;
    CountSketchShape::new(rows, width)
        .map_err(|error| Options::refuse("--rows, --width", &format!("{rows} {width}"), &error.to_string()))
}

/// `--rho`, or `--epsilon` and `--delta`.
fn level(options: &Options) -> Result<(Rho, Option<(Epsilon, Delta)>), OptionError> {
    let number = |name: &str| options.required::<f64>(name, "a number");
    let refuse = |name: &str, value: f64, error: &dyn fmt::Display| {
        Options::refuse(name, &value.to_string(), &error.to_string())
    };
    if options.text("--epsilon").is_none() && options.text("--delta").is_none() {
        let rho = number("--rho")?;
        return Ok((Rho::new(rho).map_err(|error| refuse("--rho", rho, &error))?, None));
    }
    if let Some(rho) = options.text("--rho") {
        return Err(Options::refuse("--rho", rho, "either --rho or --epsilon with --delta"));
    }
    let (epsilon, delta) = (number("--epsilon")?, number("--delta")?);
    let epsilon = Epsilon::new(epsilon).map_err(|error| refuse("--epsilon", epsilon, &error))?;
    let delta = Delta::new(delta).map_err(|error| refuse("--delta", delta, &error))?;
    let rho = dp_to_zcdp(epsilon, delta).map_err(|error| refuse("--epsilon", epsilon.get(), &error))?;
    Ok((rho, Some((epsilon, delta))))
}

fn data(options: &Options) -> Result<Data, OptionError> {
    let foreign = |names: &[&str], vector: &str| match names.iter().find(|name| options.text(name).is_some()) {
        Some(name) => Err(Options::refuse(name, options.text(name).unwrap_or_default(), &format!("none for {vector}"))),
        None => Ok(()),
    };
    match options.text("--vector") {
        Some("zipf") | None => {
            foreign(&["--t", "--value"], "zipf")?;
            let expected = "a number from 0 to 10";
            let exponent = options.number("--exponent", expected)?.unwrap_or(1.1);
            if !(0.0..=10.0).contains(&exponent) {
                return Err(Options::refuse("--exponent", &exponent.to_string(), expected));
            }
            Ok(Data::Zipf {
                items: count(options, "--d", 100_000)?,
                total: large(options, "--total", 1_000_000)?,
                exponent,
            })
        }
        Some("sparse") => {
            foreign(&["--total", "--exponent"], "sparse")?;
            let entries = count(options, "--t", 1000)?;
            let items = count(options, "--d", entries)?;
            if items < entries {
                return Err(Options::refuse("--d", &items.to_string(), "at least --t"));
            }
            Ok(Data::Sparse { items, entries, value: large(options, "--value", 10)? })
        }
        Some(other) => Err(Options::refuse("--vector", other, "zipf or sparse")),
    }
}

/// A count written as an integer or as `1e6`.
fn count(options: &Options, name: &str, default: u32) -> Result<u32, OptionError> {
    let most = Settings::MAX_COUNT;
    let expected = format!("a whole number from 1 to {most}");
    let Some(text) = options.text(name) else { return Ok(default) };
    let exact = text.parse().ok().or_else(|| text.parse::<f64>().ok().and_then(number::whole));
    let fits = exact.and_then(|value: u64| u32::try_from(value).ok()).filter(|value| (1..=most).contains(value));
    fits.ok_or_else(|| Options::refuse(name, text, &expected))
}

/// A sum of frequencies, at most 2^40.
fn large(options: &Options, name: &str, default: u64) -> Result<u64, OptionError> {
    let Some(text) = options.text(name) else { return Ok(default) };
    let exact = text.parse().ok().or_else(|| text.parse::<f64>().ok().and_then(number::whole));
    let fits = exact.filter(|value: &u64| (1..=1 << 40).contains(value));
    fits.ok_or_else(|| Options::refuse(name, text, "a whole number from 1 to 2^40"))
}

fn baseline(options: &Options) -> Result<Option<Baseline>, OptionError> {
    match options.text("--baseline") {
        None | Some("none") => Ok(None),
        Some(_) => options.number("--baseline", "none, gaussian, countmin or countmean"),
    }
}

#[cfg(test)]
mod tests {
    use countsketch_dp::Threshold;

    use super::*;

    fn parse(text: &str) -> Result<Settings, OptionError> {
        let words = format!("--rows 5 --width 64 {text}");
        Settings::parse(words.split_whitespace().map(str::to_owned)).map(|(settings, _, _)| settings)
    }

    #[test]
    fn a_level_is_rho_or_epsilon_with_delta() {
        assert!((parse("--rho 0.5").unwrap().rho.get() - 0.5).abs() < 1e-15);
        // From the table of conversions: ε = 10 at δ = 1e-10 is ρ = 0.99389.
        let made = parse("--epsilon 10 --delta 1e-10").unwrap();
        assert!((made.rho.get() - 0.993_891_398).abs() < 1e-6 && made.to_json()["epsilon"] == 10.0);
        for text in ["", "--epsilon 1", "--delta 1e-6", "--rho 1 --epsilon 1 --delta 1e-6", "--rho -1", "--rho NaN"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_vector_has_its_own_options_and_no_others() {
        let zipf = parse("--rho 1 --vector zipf --d 1e4 --total 1e6 --exponent 1.5").unwrap();
        assert_eq!(zipf.data, Data::Zipf { items: 10_000, total: 1_000_000, exponent: 1.5 });
        let sparse = parse("--rho 1 --vector sparse --t 100 --value 7").unwrap();
        assert_eq!(sparse.data, Data::Sparse { items: 100, entries: 100, value: 7 });
        for text in ["--t 5", "--vector sparse --total 5", "--vector sparse --t 5 --d 4", "--vector dense"] {
            assert!(parse(&format!("--rho 1 {text}")).is_err(), "{text}");
        }
    }

    #[test]
    fn absurd_words_are_refused_by_name() {
        for text in ["--estimator best", "--baseline magic", "--queries 0", "--trials 1.5", "--exponent NaN", "--d 1e9"]
        {
            let message = parse(&format!("--rho 1 {text}")).unwrap_err().to_string();
            assert!(message.contains(text.split(' ').next().unwrap()), "{message}");
        }
        assert_eq!(parse("--rho 1 --baseline countmin").unwrap().baseline, Some(Baseline::CountMin));
        assert_eq!(parse("--rho 1 --baseline none").unwrap().baseline, None);
        let decoded = |text: &str| parse(&format!("--rho 1 {text}")).map(|found| found.estimator);
        assert_eq!(decoded("--estimator decode").unwrap(), Estimator::Decode(Threshold::Auto));
        assert_eq!(decoded("--estimator decode --threshold 0").unwrap(), Estimator::Decode(Threshold::None));
        assert_eq!(parse("--rho 1 --estimator decode --threshold 0").unwrap().to_json()["threshold"], "0");
        assert_eq!(decoded("--estimator law").unwrap().name(), "law");
        for text in ["--threshold auto", "--estimator law --threshold 0", "--estimator decode --threshold 1"] {
            assert!(decoded(text).unwrap_err().to_string().contains("--threshold"), "{text}");
        }
    }
}
