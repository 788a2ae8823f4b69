//! Errors of the libraries below, as a front end tells them.

use cardinality_estimators::ParamError as EstimateError;
use dp_noise::{EntropyError, ParameterError};
use sfm_pcsa::{
    DecodeError, MergeError, ParamError, PrestoDecodeError, PrestoEncodeError, ReleaseError, SfmTally, TallyError,
    UnionError,
};
use sketch_wire::WireError;

use crate::error::{Error, ErrorKind};

impl From<ParameterError> for Error {
    fn from(error: ParameterError) -> Self {
        Self::new(ErrorKind::Parameter, format!("{} is out of range", error.name()))
            .argument(format!("--{}", error.name()))
            .value(error.value().to_string())
            .allowed(format!("{} to {}", error.min(), error.max()))
            .caused_by(error)
    }
}

impl From<EntropyError> for Error {
    fn from(error: EntropyError) -> Self {
        Self::new(ErrorKind::Entropy, "the operating system gave no randomness, so no noise can be drawn")
            .hint("there is no weaker fallback: try again, or on another machine")
            .caused_by(error)
    }
}

impl From<ParamError> for Error {
    fn from(error: ParamError) -> Self {
        let told = Self::new(ErrorKind::Parameter, error.to_string());
        match error {
            ParamError::Buckets { found } => {
                told.argument("--buckets").value(found.to_string()).allowed("a power of two from 2 to 1048576")
            }
            ParamError::Levels { max, found } => told
                .argument("--levels")
                .value(found.to_string())
                .allowed(format!("1 to {max} with this number of buckets")),
            _ => told,
        }
        .caused_by(error)
    }
}

impl From<ReleaseError> for Error {
    fn from(error: ReleaseError) -> Self {
        match error {
            ReleaseError::Entropy(error) => error.into(),
            other => Self::new(ErrorKind::Parameter, format!("this sketch cannot be released: {}", chain(&other)))
                .argument("--epsilon")
                .caused_by(other),
        }
    }
}

impl From<MergeError> for Error {
    fn from(error: MergeError) -> Self {
        let told = Self::new(ErrorKind::Incompatible, chain(&error));
        match &error {
            MergeError::Entropy(_) => return Self::new(ErrorKind::Entropy, chain(&error)).caused_by(error),
            MergeError::Hash { expected, found } => told
                .value(found.to_string())
                .allowed(expected.to_string())
                .hint("all parties must build with the same --key-file and --hash"),
            MergeError::Shape { expected, found } => told
                .value(found.to_string())
                .allowed(expected.to_string())
                .hint("all parties must build with the same --buckets and --levels"),
            MergeError::Unit { first, second } => told
                .value(second.to_string())
                .allowed(first.to_string())
                .hint("release each on its own and merge the private sketches"),
            MergeError::RepeatedRelease { .. } => {
                told.hint("name every release once; a merged file already holds the files it was made from")
            }
            MergeError::Channel(_) => {
                told.hint("choose another --form, or estimate the files together without merging")
            }
            _ => told,
        }
        .caused_by(error)
    }
}

impl From<UnionError> for Error {
    fn from(error: UnionError) -> Self {
        match error {
            UnionError::Mismatch(error) => error.into(),
            other => Self::new(ErrorKind::Incompatible, chain(&other)).caused_by(other),
        }
    }
}

/// The largest sets that are answered together.
const GROUP_SIZES: &str = "of one noise level, sets of at most 16 releases each are answered by twos, of 4 by threes, of 2 by fours; \
     a tally of two noise levels gets one by --thin, and the files of a set may be merged to one sketch";

impl From<TallyError> for Error {
    fn from(error: TallyError) -> Self {
        let told = match error {
            TallyError::Mismatch(error) => return error.into(),
            TallyError::Estimate(ref fault) => {
                let told = Self::new(ErrorKind::Incompatible, chain(&error));
                match fault {
                    EstimateError::Classes { found } => told
                        .value(found.to_string())
                        .allowed("one or two noise levels")
                        .hint("bring the releases to one: dpsketch merge --tally --thin FILE… --out T.dps"),
                    EstimateError::GroupStates { expected, found } => {
                        told.value(found.to_string()).allowed(format!("at most {expected}")).hint(GROUP_SIZES)
                    }
                    _ => told
                        .hint("bring the releases to one noise level: dpsketch merge --tally --thin FILE… --out T.dps"),
                }
            }
            TallyError::Merged { releases } => Self::new(ErrorKind::Incompatible, error.to_string())
                .value(format!("a merge of {releases} releases"))
                .allowed("single releases and tallies")
                .hint("tally the files that the merged one was made of"),
            TallyError::Classes { .. } => Self::new(ErrorKind::Incompatible, error.to_string())
                .allowed(format!("at most {} noise levels", SfmTally::MAX_CLASSES))
                .hint("say --thin for a part of the files first"),
            _ => Self::new(ErrorKind::Incompatible, chain(&error)),
        };
        told.caused_by(error)
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        let told = chain(&error);
        match error {
            DecodeError::InsecureNoise => Self::new(ErrorKind::Refused, told)
                .hint("release the data again with the shipped program; this file came from a simulation"),
            DecodeError::Wire(ref wire) => Self::new(ErrorKind::Damaged, told).hint(wire_hint(wire)),
            _ => Self::new(ErrorKind::Damaged, told).hint("the file does not hold a valid sketch: make it again"),
        }
        .caused_by(error)
    }
}

impl From<PrestoDecodeError> for Error {
    fn from(error: PrestoDecodeError) -> Self {
        let hint = match error {
            PrestoDecodeError::NoSignal => {
                "it was made with an epsilon too small for any answer: make it again with more"
            }
            PrestoDecodeError::TooLittleNoise { .. } => {
                "treat it as raw: make it again without noise, and release that"
            }
            PrestoDecodeError::IndexBits { .. } | PrestoDecodeError::Levels { .. } => {
                "make it again with fewer buckets, such as 4096 with 24 levels"
            }
            _ => "save the sketch cast to varbinary, whole and as it is: not as hexadecimal or base64 text",
        };
        Self::new(ErrorKind::Damaged, chain(&error)).hint(hint).caused_by(error)
    }
}

impl From<PrestoEncodeError> for Error {
    fn from(error: PrestoEncodeError) -> Self {
        let told = Self::new(ErrorKind::Incompatible, chain(&error));
        match &error {
            PrestoEncodeError::Hash { expected, found } => told
                .value(found.to_string())
                .allowed(expected.to_string())
                .hint("build the sketch from its data again with --hash presto"),
            PrestoEncodeError::InsecureNoise => {
                Self::new(ErrorKind::Refused, chain(&error)).hint("release the data again with the shipped program")
            }
            _ => told.hint("release the data with a larger epsilon"),
        }
        .caused_by(error)
    }
}

impl From<EstimateError> for Error {
    fn from(error: EstimateError) -> Self {
        Self::new(ErrorKind::Parameter, error.to_string()).caused_by(error)
    }
}

/// What to do about bytes that are no file of ours.
pub(crate) fn wire_hint(error: &WireError) -> &'static str {
    match error {
        WireError::Magic { .. } => "name a .dps file made by dpsketch",
        WireError::HeaderVersion { .. } | WireError::UnknownFamily { .. } | WireError::BodyVersion { .. } => {
            "the file may be of a newer version of dpsketch"
        }
        _ => "the file was cut short or changed: copy it again from where it was made",
    }
}

/// An error and what lies below it, in one line.
pub(crate) fn chain(error: &(dyn core::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(error) = below {
        text = format!("{text}: {error}");
        below = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardinality_estimators::venn::GroupCounts;

    /// A cell of a set of `k` releases shows `k + 1` tallies.
    #[test]
    fn the_hint_names_the_largest_sets() {
        for (sets, releases) in [(2, 16_usize), (3, 4), (4, 2)] {
            let max = GroupCounts::max_states(sets);
            let sets = u32::try_from(sets).unwrap();
            assert!((releases + 1).pow(sets) <= max && (releases + 2).pow(sets) > max, "{sets}");
            assert!(GROUP_SIZES.contains(&format!("{releases} ")), "{releases}");
        }
    }
}
