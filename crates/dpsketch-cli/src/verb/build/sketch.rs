//! What the sketch looks like.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dpsketch::sfm_pcsa::PcsaShape;
use dpsketch::sketch_hash::{AnyHash, DefaultHash, HashAlgorithm, HashKey, PrestoHash};
use dpsketch::{Error, ErrorKind, parse_count, pcsa_shape, read_key_file};

use crate::paths::paths;

#[derive(Debug, Args)]
#[command(next_help_heading = "Sketch")]
pub(crate) struct SketchArgs {
    /// Buckets, a power of two: four times as many halve the error. 4096 if left out.
    #[arg(long, value_name = "B", value_parser = parse_count, allow_negative_numbers = true)]
    pub(crate) buckets: Option<u64>,
    /// Levels: each one more doubles the largest count. 24 if left out.
    #[arg(long, value_name = "P", value_parser = parse_count, allow_negative_numbers = true)]
    pub(crate) levels: Option<u64>,
    #[command(flatten)]
    pub(crate) keyed: SketchKeyArgs,
}

/// What hashes items.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sketch")]
pub(crate) struct SketchKeyArgs {
    /// The hash function; presto is the one of Presto's SQL functions and has no key. default if left out.
    #[arg(long, value_enum)]
    pub(crate) hash: Option<Hash>,
    /// The hash key of a study, made by `dpsketch key new`. The public key if left out.
    #[arg(long, value_name = "F", value_parser = paths())]
    pub(crate) key_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Hash {
    /// Keyed SipHash-1-3.
    Default,
    /// XXH64 with seed 0, as Presto has it.
    Presto,
}

impl Hash {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Presto => "presto",
        }
    }
}

impl From<HashAlgorithm> for Hash {
    fn from(algorithm: HashAlgorithm) -> Self {
        if algorithm == HashAlgorithm::Xxh64Seed0 { Self::Presto } else { Self::Default }
    }
}

impl SketchArgs {
    /// The shape as asked for, where not in parts of another one.
    pub(crate) fn shape_or(&self, default: PcsaShape) -> Result<PcsaShape, Error> {
        pcsa_shape(
            self.buckets.unwrap_or(u64::from(default.buckets())),
            self.levels.unwrap_or(u64::from(default.levels())),
        )
    }
}

impl SketchKeyArgs {
    /// The key that was asked for, or the public one.
    pub(crate) fn key(&self) -> Result<HashKey, Error> {
        self.key_file.as_deref().map_or(Ok(HashKey::DEFAULT), read_key_file)
    }

    /// The hash function with its key.
    pub(crate) fn hash(&self, function: Hash) -> Result<AnyHash, Error> {
        match (function, &self.key_file) {
            (Hash::Default, _) => Ok(DefaultHash::new(self.key()?).into()),
            (Hash::Presto, None) => Ok(PrestoHash.into()),
            (Hash::Presto, Some(file)) => Err(Error::new(ErrorKind::Parameter, "--hash presto has no key")
                .argument("--key-file")
                .value(file.display().to_string())
                .allowed("no key file with --hash presto")
                .hint("leave one of the two out")),
        }
    }
}
