//! Which table is made, and with how much effort.

use super::{countsketch, decode, f0_beside, law, subsampled, tally, venn};
use crate::options::{OptionError, Options};
use crate::simulate::Settings;

/// Which table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// One default sketch.
    #[default]
    Single,
    /// One sketch of every family.
    Families,
    /// Merges.
    Merged,
    /// How often answers near the noise stray far.
    Tails,
    /// Tallies of so many releases; `None` is all of [`Which::TALLIED`], a table each.
    Tally(Option<u32>),
    /// The regions of two and three releases by their joint likelihood.
    Venn,
    /// Frequencies.
    CountSketch,
    /// Frequencies of all keys of a dictionary, decoded together.
    Decode,
    /// Frequencies by the error law of the sketch itself.
    Law,
    /// Parity sketches.
    F0,
    /// Parity sketches beside bitmaps of as many bits.
    F0Beside,
    /// Secret samples in sketches of both kinds.
    Subsampled,
}

impl Which {
    /// The numbers of releases of the tables of tallies.
    pub const TALLIED: [u32; 3] = [2, 8, 32];

    /// The file in `docs/src`.
    #[must_use]
    pub fn file(self) -> String {
        let name = match self {
            Self::Single => "table",
            Self::Families => "families",
            Self::Merged => "merged",
            Self::Tails => "tails",
            Self::Tally(sketches) => return format!("accuracy-tally-{}.md", sketches.unwrap_or_default()),
            Self::Venn => "venn-table",
            Self::CountSketch => "countsketch",
            Self::Decode => "decode-table",
            Self::Law => "law-table",
            Self::F0 => "f0",
            Self::F0Beside => "f0-compare",
            Self::Subsampled => "subsampled",
        };
        format!("accuracy-{name}.md")
    }

    /// The options that ask for the table.
    pub(super) fn flag(self) -> String {
        match self {
            Self::Single => "",
            Self::Families => " --families",
            Self::Merged => " --merged",
            Self::Tails => " --tails",
            Self::Tally(None) => " --tally",
            Self::Tally(Some(sketches)) => return format!(" --tally --k {sketches}"),
            Self::Venn => " --venn",
            Self::CountSketch => " --countsketch",
            Self::Decode => " --decode",
            Self::Law => " --law",
            Self::F0 => " --f0",
            Self::F0Beside => " --f0 --compare",
            Self::Subsampled => " --subsampled",
        }
        .to_owned()
    }

    pub(super) const fn about(self) -> &'static str {
        match self {
            Self::Single => "One sketch of 4096 buckets and 24 levels",
            Self::Families => "One release of one sketch",
            Self::Merged => "Merges of releases of 24 levels",
            Self::Tails => "Two releases near the noise",
            Self::Tally(_) => "Tallies of releases",
            Self::Venn => "Regions of two and three releases",
            Self::CountSketch => "Frequencies",
            Self::Decode => "Decoded frequencies",
            Self::Law => "Frequencies by the law of their errors",
            Self::F0 | Self::F0Beside => "Parity sketches",
            Self::Subsampled => "Secret samples",
        }
    }

    /// Runs of each setting unless told otherwise.
    const fn usual_trials(self) -> u32 {
        match self {
            Self::Single | Self::Families | Self::Merged | Self::Tails | Self::F0 => 10_000,
            Self::Tally(Some(sketches)) => tally::trials(sketches),
            Self::Tally(None) => 0,
            Self::Venn => venn::TRIALS,
            Self::CountSketch => countsketch::SKETCHES,
            Self::Decode => decode::SKETCHES,
            Self::Law => law::SKETCHES,
            Self::F0Beside => f0_beside::TRIALS,
            Self::Subsampled => subsampled::TRIALS,
        }
    }
}

/// How a table is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Which table.
    pub which: Which,
    /// Runs for each setting.
    pub trials: u32,
    /// Seed of the first setting; the others follow.
    pub seed: u64,
    /// Worker threads, `None` for all cores.
    pub threads: Option<usize>,
    /// Where the table goes.
    pub out: Option<String>,
}

/// The options that ask for a table.
const FLAGS: [&str; 11] = [
    "--families",
    "--merged",
    "--tails",
    "--tally",
    "--venn",
    "--countsketch",
    "--decode",
    "--law",
    "--f0",
    "--compare",
    "--subsampled",
];

impl Plan {
    /// Reads the options of `accuracy`: the plans of all tables asked for.
    ///
    /// # Errors
    /// [`OptionError`] naming the option.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Vec<Self>, OptionError> {
        let options = Options::parse(arguments, &["--k", "--trials", "--seed", "--threads", "--out"], &FLAGS)?;
        if let Some(operand) = options.operands().first() {
            return Err(OptionError::Unknown { name: operand.clone() });
        }
        let which = which(&options)?;
        let all = match which {
            Which::Tally(None) => Which::TALLIED.map(|sketches| Which::Tally(Some(sketches))).to_vec(),
            one => vec![one],
        };
        let out = options.text("--out").map(str::to_owned);
        if let Some(out) = out.as_ref().filter(|_| all.len() > 1) {
            return Err(Options::refuse("--out", out, "--k beside it: there is a table for each"));
        }
        let plan = |which: Which| {
            Ok(Self {
                which,
                trials: trials(&options, which.usual_trials())?,
                seed: options.number("--seed", "a whole number below 2^64")?.unwrap_or(1),
                threads: crate::simulate::threads(&options)?,
                out: out.clone(),
            })
        };
        all.into_iter().map(plan).collect()
    }
}

fn which(options: &Options) -> Result<Which, OptionError> {
    let expected = "2, 8 or 32, with --tally";
    let sketches = options.number::<u32>("--k", expected)?;
    let given = FLAGS.iter().filter(|flag| options.flag(flag)).copied().collect::<Vec<_>>();
    let which = match given.as_slice() {
        [] => Which::Single,
        ["--families"] => Which::Families,
        ["--merged"] => Which::Merged,
        ["--tails"] => Which::Tails,
        ["--tally"] => Which::Tally(sketches),
        ["--venn"] => Which::Venn,
        ["--countsketch"] => Which::CountSketch,
        ["--decode"] => Which::Decode,
        ["--law"] => Which::Law,
        ["--f0"] => Which::F0,
        ["--subsampled"] => Which::Subsampled,
        ["--f0", "--compare"] => Which::F0Beside,
        ["--compare"] => return Err(Options::refuse("--compare", "", "--f0 beside it")),
        several => return Err(Options::refuse(several[0], several[1], "one table at a time")),
    };
    match sketches {
        Some(k) if !matches!(which, Which::Tally(_)) || !Which::TALLIED.contains(&k) => {
            Err(Options::refuse("--k", &k.to_string(), expected))
        }
        _ => Ok(which),
    }
}

fn trials(options: &Options, usual: u32) -> Result<u32, OptionError> {
    let expected = "a whole number from 1 to 10000000";
    let trials = options.number("--trials", expected)?.unwrap_or(usual);
    if (1..=Settings::MAX_TRIALS).contains(&trials) {
        Ok(trials)
    } else {
        Err(Options::refuse("--trials", &trials.to_string(), expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<Plan>, OptionError> {
        Plan::parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn tallies_have_a_table_for_each_number_of_releases() {
        let all = parse("--tally").unwrap();
        assert_eq!(all.iter().map(|plan| plan.trials).collect::<Vec<_>>(), [500, 500, 200]);
        let one = parse("--tally --k 32 --trials 7").unwrap();
        assert_eq!((one.len(), one[0].which, one[0].trials), (1, Which::Tally(Some(32)), 7));
        assert_eq!(one[0].which.file(), "accuracy-tally-32.md");
        for text in ["--tally --k 3", "--k 2", "--venn --k 2", "--tally --out here", "--tally --venn", "--compare"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_table_is_asked_for_by_its_own_flag() {
        let all = [Which::Single, Which::Families, Which::Merged, Which::Tails, Which::Tally(Some(8)), Which::Venn]
            .into_iter()
            .chain([Which::CountSketch, Which::Decode, Which::Law, Which::F0, Which::F0Beside, Which::Subsampled]);
        let mut files = Vec::new();
        for which in all {
            assert_eq!(parse(&which.flag()).unwrap()[0].which, which);
            files.push(which.file());
        }
        files.sort();
        files.dedup();
        assert_eq!(files.len(), 12);
    }
}
