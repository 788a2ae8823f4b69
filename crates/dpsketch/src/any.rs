use sfm_pcsa::{
    BitmapShape, BloomShape, Leaf, LegionsShape, LinearShape, PcsaShape, PrivateBitmap, PrivateBloom, PrivateLegions,
    PrivateLinearCounting, SfmSketch, SfmTally, Unit, looks_like_presto,
};
use sketch_hash::HashId;
use sketch_wire::{Family as WireFamily, peek};

use crate::any_shape::AnyShape;
use crate::error::{Error, ErrorKind};
use crate::f0::AnyF0Sketch;
use crate::frequency::FrequencySketch;
use crate::presto::from_presto;
use crate::raw::{RawSketch, RecordedSketch};
use crate::secret::SketchBytes;
use crate::subsampled::AnySubsampled;

/// A sketch of any kind, as its file's header says.
///
/// # Examples
/// ```
/// use dpsketch::{AnySketch, DistinctBuilder, RawSketch, TextRules, parse_epsilon};
/// use dpsketch::sfm_pcsa::PcsaShape;
/// use dpsketch::sketch_hash::AnyHash;
///
/// let mut builder = DistinctBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default());
/// builder.push_texts(["ann", "bob"]);
/// let private = RawSketch::try_from(builder)?.release(parse_epsilon("1")?)?;
/// let bytes = AnySketch::from(private).to_bytes();
/// assert!(!AnySketch::from_bytes(&bytes)?.is_raw());
/// # Ok::<(), dpsketch::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnySketch {
    /// A released Sketch-Flip-Merge sketch.
    Sfm(SfmSketch),
    /// A raw Sketch-Flip-Merge sketch (PCSA), before noise.
    SfmRaw(RawSketch),
    /// Released Sketch-Flip-Merge sketches that are kept together, see [`tally`](crate::tally()).
    SfmTally(SfmTally),
    /// A released linear counting sketch.
    Linear(PrivateLinearCounting),
    /// A raw linear counting sketch.
    LinearRaw(RecordedSketch<LinearShape>),
    /// A released Bloom filter.
    Bloom(PrivateBloom),
    /// A raw Bloom filter.
    BloomRaw(RecordedSketch<BloomShape>),
    /// A released Liquid Legions sketch.
    Legions(PrivateLegions),
    /// A raw Liquid Legions sketch.
    LegionsRaw(RecordedSketch<LegionsShape>),
    /// Frequencies of items, released or raw.
    Frequencies(FrequencySketch),
    /// An F0 sketch over GF(2), released or raw, of either mode.
    F0(AnyF0Sketch),
    /// A sketch of a secret sample of the items, released or raw.
    Subsampled(AnySubsampled),
}

/// Does one thing with a private bitmap of any family, another with a raw one, and others with a tally, a secret sample,
/// frequencies and F0 sketches.
macro_rules! with_sketch {
    (
        $any:expr, $private:ident => $of_private:expr, $raw:ident => $of_raw:expr, $tally:ident => $of_tally:expr,
        $sample:ident => $of_sample:expr, $frequencies:ident => $of_frequencies:expr, $f0:ident => $of_f0:expr $(,)?
    ) => {
        match $any {
            $crate::any::AnySketch::F0($f0) => $of_f0,
            $crate::any::AnySketch::Frequencies($frequencies) => $of_frequencies,
            $crate::any::AnySketch::Sfm($private) => $of_private,
            $crate::any::AnySketch::SfmRaw($raw) => $of_raw,
            $crate::any::AnySketch::SfmTally($tally) => $of_tally,
            $crate::any::AnySketch::Subsampled($sample) => $of_sample,
            $crate::any::AnySketch::Linear($private) => $of_private,
            $crate::any::AnySketch::LinearRaw($raw) => $of_raw,
            $crate::any::AnySketch::Bloom($private) => $of_private,
            $crate::any::AnySketch::BloomRaw($raw) => $of_raw,
            $crate::any::AnySketch::Legions($private) => $of_private,
            $crate::any::AnySketch::LegionsRaw($raw) => $of_raw,
        }
    };
}
pub(crate) use with_sketch;

/// Calls a function for the family of the first of some named bitmaps.
macro_rules! for_family {
    ($sketches:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $sketches.first().map(|(_, sketch)| sketch.shape()) {
            Some($crate::any_shape::AnyShape::Bitmap(sfm_pcsa::SketchShape::Linear(_))) => $function::<sfm_pcsa::LinearShape>($($argument),*),
            Some($crate::any_shape::AnyShape::Bitmap(sfm_pcsa::SketchShape::Bloom(_))) => $function::<sfm_pcsa::BloomShape>($($argument),*),
            Some($crate::any_shape::AnyShape::Bitmap(sfm_pcsa::SketchShape::Legions(_))) => $function::<sfm_pcsa::LegionsShape>($($argument),*),
            _ => $function::<sfm_pcsa::PcsaShape>($($argument),*),
        }
    };
}
pub(crate) use for_family;

/// A family of bitmaps, as its shape stands for it.
pub(crate) trait Family: BitmapShape {
    /// The kind, as the command line names it.
    const KIND: &'static str;

    fn private(sketch: &AnySketch) -> Option<&PrivateBitmap<Self>>;

    fn raw(sketch: &AnySketch) -> Option<&RecordedSketch<Self>>;
}

macro_rules! family {
    ($shape:ty, $kind:literal, $private:ident, $raw:ident) => {
        impl Family for $shape {
            const KIND: &'static str = $kind;

            fn private(sketch: &AnySketch) -> Option<&PrivateBitmap<Self>> {
                if let AnySketch::$private(sketch) = sketch { Some(sketch) } else { None }
            }

            fn raw(sketch: &AnySketch) -> Option<&RecordedSketch<Self>> {
                if let AnySketch::$raw(raw) = sketch { Some(raw) } else { None }
            }
        }

        impl From<PrivateBitmap<$shape>> for AnySketch {
            fn from(sketch: PrivateBitmap<$shape>) -> Self {
                Self::$private(sketch)
            }
        }

        impl From<RecordedSketch<$shape>> for AnySketch {
            fn from(raw: RecordedSketch<$shape>) -> Self {
                Self::$raw(raw)
            }
        }
    };
}

family!(PcsaShape, "sfm", Sfm, SfmRaw);
family!(LinearShape, "linear", Linear, LinearRaw);
family!(BloomShape, "bloom", Bloom, BloomRaw);
family!(LegionsShape, "legions", Legions, LegionsRaw);

impl AnySketch {
    /// Reads the bytes of a file: one of ours, or of Presto and Velox, told apart by content.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] for anything that is no sketch of this version, [`ErrorKind::Refused`] for a sketch whose
    /// noise came from a test generator.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        if looks_like_presto(bytes) {
            return from_presto(bytes);
        }
        let header = peek(bytes).map_err(sfm_pcsa::DecodeError::from)?;
        Ok(match header.family() {
            WireFamily::SFM_PRIVATE => SfmSketch::from_bytes(bytes)?.into(),
            WireFamily::PCSA_RAW => RawSketch::from_sensitive_bytes(bytes)?.into(),
            WireFamily::SFM_TALLY => Self::SfmTally(SfmTally::from_bytes(bytes)?),
            WireFamily::LINEAR_PRIVATE => PrivateLinearCounting::from_bytes(bytes)?.into(),
            WireFamily::LINEAR_RAW => RecordedSketch::<LinearShape>::from_sensitive_bytes(bytes)?.into(),
            WireFamily::BLOOM_PRIVATE => PrivateBloom::from_bytes(bytes)?.into(),
            WireFamily::BLOOM_RAW => RecordedSketch::<BloomShape>::from_sensitive_bytes(bytes)?.into(),
            WireFamily::LEGIONS_PRIVATE => PrivateLegions::from_bytes(bytes)?.into(),
            WireFamily::LEGIONS_RAW => RecordedSketch::<LegionsShape>::from_sensitive_bytes(bytes)?.into(),
            WireFamily::COUNTSKETCH_PRIVATE => FrequencySketch::from_private_bytes(bytes)?.into(),
            WireFamily::COUNTSKETCH_RAW => FrequencySketch::from_raw_bytes(bytes)?.into(),
            WireFamily::PREFIX_PRIVATE => FrequencySketch::from_prefix_bytes(bytes)?.into(),
            WireFamily::F0_PRIVATE => AnyF0Sketch::from_private_bytes(bytes)?.into(),
            WireFamily::F0_RAW => AnyF0Sketch::from_raw_bytes(bytes)?.into(),
            WireFamily::PREFIX_RAW => FrequencySketch::from_raw_prefix_bytes(bytes)?.into(),
            family @ (WireFamily::SFM_SUBSAMPLED
            | WireFamily::SFM_SUBSAMPLED_RAW
            | WireFamily::F0_SUBSAMPLED
            | WireFamily::F0_SUBSAMPLED_RAW) => AnySubsampled::from_bytes(bytes, family)?.into(),
            other => {
                return Err(Error::new(ErrorKind::Damaged, format!("a file of family {other} is not a sketch"))
                    .hint("the file may be of a newer version of dpsketch"));
            }
        })
    }

    /// The bytes of its file. Those of a raw sketch are as sensitive as the data.
    #[must_use]
    pub fn to_bytes(&self) -> SketchBytes {
        with_sketch!(
            self,
            private => SketchBytes::new(private.to_bytes()),
            raw => SketchBytes::copy_of(raw.to_sensitive_bytes().as_ref()),
            tally => SketchBytes::new(tally.to_bytes()),
            sample => sample.to_bytes(),
            frequencies => frequencies.to_bytes(),
            f0 => f0.to_bytes(),
        )
    }

    /// What the sketch is: `sfm`, `sfm-tally`, `sfm-subsampled`, `f0-subsampled`, `linear`, `bloom`, `legions`, `countsketch`, `prefix` or `f0`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Sfm(_) | Self::SfmRaw(_) => PcsaShape::KIND,
            Self::SfmTally(_) => "sfm-tally",
            Self::Subsampled(sample) => sample.kind(),
            Self::Linear(_) | Self::LinearRaw(_) => LinearShape::KIND,
            Self::Bloom(_) | Self::BloomRaw(_) => BloomShape::KIND,
            Self::Legions(_) | Self::LegionsRaw(_) => LegionsShape::KIND,
            Self::Frequencies(frequencies) => frequencies.kind(),
            Self::F0(_) => AnyF0Sketch::KIND,
        }
    }

    /// The kind of which an answer is: that of the sketches in a tally, else the sketch's own.
    pub(crate) const fn family(&self) -> &'static str {
        match self {
            Self::SfmTally(_) => PcsaShape::KIND,
            other => other.kind(),
        }
    }

    /// Whether this is state before noise.
    #[must_use]
    pub const fn is_raw(&self) -> bool {
        with_sketch!(self, _private => false, _raw => true, _tally => false, sample => sample.is_raw(), frequencies => frequencies.is_raw(), f0 => f0.is_raw())
    }

    /// The shape, such as buckets and levels.
    #[must_use]
    pub fn shape(&self) -> AnyShape {
        with_sketch!(
            self,
            private => AnyShape::Bitmap(private.shape().into()),
            raw => AnyShape::Bitmap(raw.shape().into()),
            tally => AnyShape::Bitmap(tally.shape().into()),
            sample => sample.shape(),
            frequencies => frequencies.shape(),
            f0 => f0.shape(),
        )
    }

    /// The releases in a bitmap; none if it is raw, and none of tallies ([`releases`](Self::releases) has those), frequencies and
    /// F0 sketches, whose releases have more to tell.
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        with_sketch!(self, private => private.leaves(), _raw => &[], _tally => &[], _sample => &[], _frequencies => &[], _f0 => &[])
    }

    /// The releases in a bitmap or a tally; none if it is raw, and none of frequencies and F0 sketches.
    #[must_use]
    pub fn releases(&self) -> Vec<&Leaf> {
        match self {
            Self::SfmTally(tally) => tally.releases().collect(),
            other => other.leaves().iter().collect(),
        }
    }

    /// Whom the releases protect, each unit once; of a raw sketch, whom a release will protect. None for frequencies.
    #[must_use]
    pub fn units(&self) -> Vec<Unit> {
        with_sketch!(
            self,
            private => private.units(),
            raw => vec![raw.unit()],
            tally => tally.units(),
            sample => sample.units(),
            _frequencies => Vec::new(),
            f0 => f0.units(),
        )
    }

    /// Which hash function and key made it.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        with_sketch!(
            self,
            private => private.hash_id(),
            raw => raw.hash_id(),
            tally => tally.hash_id(),
            sample => sample.hash_id(),
            frequencies => frequencies.hash_id(),
            f0 => f0.hash_id(),
        )
    }
}
