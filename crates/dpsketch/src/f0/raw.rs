//! A raw sketch as it is kept in a file.

use f0_sketch::{F0Shape, F0Sketch, ModeKind, Presampled, SensitiveBytes, Set, WeightRule, peek_mode, raw_hash_id};
use sfm_pcsa::Unit;
use sketch_hash::{AnyHash, HashId};

use super::convert::unit_of;
use super::terms::F0Terms;
use crate::error::Error;
use crate::raw::RecordedHash;

/// A raw F0 sketch as it is kept in a file, of either mode: everything can be done with it but adding items.
///
/// The file records which hash made it, by the fingerprint of its key, but never the key itself. So a raw file can be
/// released, put together with others and described by people who do not have the key.
///
/// # Privacy
/// Raw state is as sensitive as the data. `Debug` shows the shape only. A copy of a pre-sampled sketch has the same coins, and
/// its releases are further looks at them: copies keep the level of the releases so far, but not of those to come.
///
/// # Examples
/// ```
/// use dpsketch::f0_sketch::F0Shape;
/// use dpsketch::sketch_hash::AnyHash;
/// use dpsketch::{F0Builder, F0Terms, RawF0Sketch, TextRules};
///
/// let mut builder = F0Builder::presampled(F0Terms::unit(F0Shape::DEFAULT), AnyHash::default(), TextRules::default())?;
/// builder.push_texts(["ann", "bob", "ann"])?;
/// let (raw, _) = builder.finish()?;
/// assert_eq!((raw.mode().to_string().as_str(), raw.releases()), ("presampled", 0));
/// assert_eq!(RawF0Sketch::from_sensitive_bytes(&raw.to_sensitive_bytes())?, raw);
/// # Ok::<(), dpsketch::Error>(())
/// ```
#[derive(Debug, PartialEq)]
pub struct RawF0Sketch(pub(super) RawMode);

/// The sketch in the type of its mode.
#[derive(Debug, PartialEq)]
pub(super) enum RawMode {
    Set(F0Sketch<Set, RecordedHash>),
    Presampled(F0Sketch<Presampled, RecordedHash>),
}

/// Does the same with a sketch of either mode.
macro_rules! each_mode {
    ($enum:ident: $any:expr, $sketch:ident => $of_either:expr) => {
        match $any {
            $enum::Set($sketch) => $of_either,
            $enum::Presampled($sketch) => $of_either,
        }
    };
}
pub(super) use each_mode;

impl RawF0Sketch {
    /// Reads a raw file.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`](crate::ErrorKind::Damaged) for anything that is no raw F0 sketch.
    pub fn from_sensitive_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let hash = RecordedHash::new(raw_hash_id(bytes)?);
        Ok(Self(match peek_mode(bytes)? {
            ModeKind::Set => RawMode::Set(F0Sketch::from_sensitive_bytes(bytes, hash)?),
            ModeKind::Presampled => RawMode::Presampled(F0Sketch::from_sensitive_bytes(bytes, hash)?),
        }))
    }

    /// The bytes of a raw file. As sensitive as the data.
    #[must_use]
    pub fn to_sensitive_bytes(&self) -> SensitiveBytes {
        each_mode!(RawMode: &self.0, raw => raw.to_sensitive_bytes())
    }

    /// What was built: a set, or streams with repetitions.
    #[must_use]
    pub const fn mode(&self) -> ModeKind {
        match self.0 {
            RawMode::Set(_) => ModeKind::Set,
            RawMode::Presampled(_) => ModeKind::Presampled,
        }
    }

    /// Levels and cells.
    #[must_use]
    pub const fn shape(&self) -> &F0Shape {
        each_mode!(RawMode: &self.0, raw => raw.shape())
    }

    /// Whether items have weights, and up to which one.
    #[must_use]
    pub const fn weight_rule(&self) -> WeightRule {
        each_mode!(RawMode: &self.0, raw => raw.weight_rule())
    }

    /// Shape and weight rule.
    #[must_use]
    pub fn terms(&self) -> F0Terms {
        F0Terms::new(self.shape().clone(), self.weight_rule())
    }

    /// Which hash function and key made it.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        each_mode!(RawMode: &self.0, raw => raw.hash_id())
    }

    /// Whom a release will protect.
    #[must_use]
    pub fn unit(&self) -> Unit {
        unit_of(each_mode!(RawMode: &self.0, raw => raw.unit()))
    }

    /// How often this data was released before.
    #[must_use]
    pub const fn releases(&self) -> u32 {
        each_mode!(RawMode: &self.0, raw => raw.releases())
    }

    pub(super) fn of_set(sketch: &F0Sketch<Set, AnyHash>) -> Result<Self, Error> {
        Self::from_sensitive_bytes(&sketch.to_sensitive_bytes())
    }

    pub(super) fn of_stream(sketch: &F0Sketch<Presampled, AnyHash>) -> Result<Self, Error> {
        Self::from_sensitive_bytes(&sketch.to_sensitive_bytes())
    }
}

/// A copy, which the privacy of pre-sampled sketches has an opinion about; see the type.
impl Clone for RawF0Sketch {
    fn clone(&self) -> Self {
        match &self.0 {
            RawMode::Set(raw) => Self(RawMode::Set(raw.clone())),
            RawMode::Presampled(raw) => {
                let hash = RecordedHash::new(raw.hash_id());
                let copy = F0Sketch::from_sensitive_bytes(&raw.to_sensitive_bytes(), hash);
                Self(RawMode::Presampled(copy.expect("a sketch reads the bytes it wrote")))
            }
        }
    }
}
