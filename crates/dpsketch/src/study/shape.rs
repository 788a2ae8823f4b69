use core::fmt;

use sfm_pcsa::PcsaShape;

/// A kind of sketch together with its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StudyShape {
    /// A distinct-count sketch of buckets and levels.
    Sfm(PcsaShape),
}

impl StudyShape {
    /// The kind, as `--kind` names it.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Sfm(_) => "sfm",
        }
    }
}

impl fmt::Display for StudyShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sfm(shape) => write!(f, "{} {shape}", self.kind()),
        }
    }
}

impl From<PcsaShape> for StudyShape {
    fn from(shape: PcsaShape) -> Self {
        Self::Sfm(shape)
    }
}
