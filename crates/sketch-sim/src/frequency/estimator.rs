//! What answers queries: estimators of one sketch, and other mechanisms beside.

use std::fmt;
use std::str::FromStr;

use countsketch_dp::{Combiner, Threshold};

use crate::options::{OptionError, Options};
use crate::simulate::UnknownWord;

/// How the cells of a sketch become an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// By combining the rows of the item.
    Rows(Combiner),
    /// By the likeliest location of the rows under the law of the cells.
    Law,
    /// By decoding all items together, every item of the vector being a candidate.
    Decode(Threshold),
}

/// What answers in the place of a count sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// The Gaussian mechanism on the vector itself.
    Gaussian,
    /// The minimum of the rows of a sketch without signs.
    CountMin,
    /// Their mean less the average load.
    CountMean,
}

const ESTIMATORS: [(&str, Estimator); 5] = [
    ("median", Estimator::Rows(Combiner::Median)),
    ("trimmed", Estimator::Rows(Combiner::Trimmed)),
    ("mean", Estimator::Rows(Combiner::Mean)),
    ("law", Estimator::Law),
    ("decode", Estimator::Decode(Threshold::Auto)),
];

const THRESHOLDS: [(&str, Threshold); 2] = [("auto", Threshold::Auto), ("0", Threshold::None)];

impl Estimator {
    /// Reads `--estimator`, and of decoding `--threshold`.
    pub(super) fn parse(options: &Options) -> Result<Self, OptionError> {
        let word = options.text("--estimator").unwrap_or("median");
        let found = ESTIMATORS.iter().find(|(name, _)| *name == word).map(|(_, estimator)| *estimator);
        let found =
            found.ok_or_else(|| Options::refuse("--estimator", word, "median, trimmed, mean, law or decode"))?;
        match (options.text("--threshold"), found) {
            (None, found) => Ok(found),
            (Some(word), Self::Decode(_)) => {
                let threshold = THRESHOLDS.iter().find(|(name, _)| *name == word).map(|(_, threshold)| *threshold);
                threshold.map(Self::Decode).ok_or_else(|| Options::refuse("--threshold", word, "auto or 0"))
            }
            (Some(word), _) => Err(Options::refuse("--threshold", word, "--estimator decode beside it")),
        }
    }

    /// Its word in options.
    #[must_use]
    pub fn name(self) -> &'static str {
        let alike = |known: &Self| match (known, self) {
            (Self::Decode(_), Self::Decode(_)) => true,
            (known, this) => *known == this,
        };
        ESTIMATORS.iter().find(|(_, known)| alike(known)).map_or("another", |(name, _)| name)
    }

    /// The word of its threshold.
    #[must_use]
    pub fn threshold(self) -> Option<&'static str> {
        let Self::Decode(threshold) = self else { return None };
        THRESHOLDS.iter().find(|(_, known)| *known == threshold).map(|(name, _)| *name)
    }
}

impl FromStr for Baseline {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let all = [Self::Gaussian, Self::CountMin, Self::CountMean];
        all.into_iter().find(|one| one.to_string() == word).ok_or(UnknownWord)
    }
}

impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gaussian => "gaussian",
            Self::CountMin => "countmin",
            Self::CountMean => "countmean",
        })
    }
}
