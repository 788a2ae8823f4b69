use countsketch_dp::PrivateCountSketch;
use dp_noise::{DisjointParts, NoiseRng};
use sfm_pcsa::{
    BitmapShape, BloomShape, Leaf, LegionsShape, LinearShape, MAX_RELEASES, MergeForm, PcsaShape, PrivateBitmap,
    PrivateBloom, PrivateLegions, PrivateLinearCounting, SfmSketch, Unit, looks_like_presto,
};
use sketch_hash::HashId;
use sketch_wire::{Family as WireFamily, peek};

use crate::any_shape::AnyShape;
use crate::error::{Error, ErrorKind};
use crate::frequency::{FrequencySketch, FrequencyState, RawCountSketch, not_frequencies};
use crate::presto::from_presto;
use crate::raw::{RawSketch, RecordedSketch};
use crate::secret::SketchBytes;

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
}

/// Does one thing with a private bitmap of any family, another with a raw one, and a third with frequencies.
macro_rules! with_sketch {
    (
        $any:expr, $private:ident => $of_private:expr, $raw:ident => $of_raw:expr,
        $frequencies:ident => $of_frequencies:expr $(,)?
    ) => {
        match $any {
            $crate::any::AnySketch::Frequencies($frequencies) => $of_frequencies,
            $crate::any::AnySketch::Sfm($private) => $of_private,
            $crate::any::AnySketch::SfmRaw($raw) => $of_raw,
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
            WireFamily::LINEAR_PRIVATE => PrivateLinearCounting::from_bytes(bytes)?.into(),
            WireFamily::LINEAR_RAW => RecordedSketch::<LinearShape>::from_sensitive_bytes(bytes)?.into(),
            WireFamily::BLOOM_PRIVATE => PrivateBloom::from_bytes(bytes)?.into(),
            WireFamily::BLOOM_RAW => RecordedSketch::<BloomShape>::from_sensitive_bytes(bytes)?.into(),
            WireFamily::LEGIONS_PRIVATE => PrivateLegions::from_bytes(bytes)?.into(),
            WireFamily::LEGIONS_RAW => RecordedSketch::<LegionsShape>::from_sensitive_bytes(bytes)?.into(),
            WireFamily::COUNTSKETCH_PRIVATE => FrequencySketch::from_private_bytes(bytes)?.into(),
            WireFamily::COUNTSKETCH_RAW => FrequencySketch::from_raw_bytes(bytes)?.into(),
            WireFamily::PREFIX_PRIVATE => FrequencySketch::from_prefix_bytes(bytes)?.into(),
            WireFamily::PREFIX_RAW => FrequencySketch::from_raw_prefix_bytes(bytes)?.into(),
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
            frequencies => frequencies.to_bytes(),
        )
    }

    /// What the sketch is: `sfm`, `linear`, `bloom`, `legions`, `countsketch` or `prefix`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Sfm(_) | Self::SfmRaw(_) => PcsaShape::KIND,
            Self::Linear(_) | Self::LinearRaw(_) => LinearShape::KIND,
            Self::Bloom(_) | Self::BloomRaw(_) => BloomShape::KIND,
            Self::Legions(_) | Self::LegionsRaw(_) => LegionsShape::KIND,
            Self::Frequencies(frequencies) => frequencies.kind(),
        }
    }

    /// Whether this is state before noise.
    #[must_use]
    pub const fn is_raw(&self) -> bool {
        with_sketch!(self, _private => false, _raw => true, frequencies => frequencies.is_raw())
    }

    /// The shape, such as buckets and levels.
    #[must_use]
    pub fn shape(&self) -> AnyShape {
        with_sketch!(
            self,
            private => AnyShape::Bitmap(private.shape().into()),
            raw => AnyShape::Bitmap(raw.shape().into()),
            frequencies => frequencies.shape(),
        )
    }

    /// The releases in a bitmap; none if it is raw, or of frequencies, whose releases have more to tell.
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        with_sketch!(self, private => private.leaves(), _raw => &[], _frequencies => &[])
    }

    /// Whom the releases of a bitmap protect, each unit once; of a raw one, whom a release will protect. None for frequencies.
    #[must_use]
    pub fn units(&self) -> Vec<Unit> {
        with_sketch!(self, private => private.units(), raw => vec![raw.unit()], _frequencies => Vec::new())
    }

    /// Which hash function and key made it.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        with_sketch!(
            self,
            private => private.hash_id(),
            raw => raw.hash_id(),
            frequencies => frequencies.hash_id(),
        )
    }
}

impl From<FrequencySketch> for AnySketch {
    fn from(sketch: FrequencySketch) -> Self {
        Self::Frequencies(sketch)
    }
}

impl From<PrivateCountSketch> for AnySketch {
    fn from(sketch: PrivateCountSketch) -> Self {
        Self::Frequencies(sketch.into())
    }
}

impl From<RawCountSketch> for AnySketch {
    fn from(raw: RawCountSketch) -> Self {
        Self::Frequencies(raw.into())
    }
}

/// Whether named sketches are of frequencies; `false` for bitmaps, and for none.
fn are_frequencies(sketches: &[(String, AnySketch)]) -> Result<bool, Error> {
    let Some(((first_name, first), others)) = sketches.split_first() else { return Ok(false) };
    let own = matches!(first, AnySketch::Frequencies(_));
    // Bitmaps of different families are told apart by their shapes.
    let strange =
        |other: &AnySketch| own != matches!(other, AnySketch::Frequencies(_)) || (own && other.kind() != first.kind());
    match others.iter().find(|(_, other)| strange(other)) {
        None => Ok(own),
        Some((name, other)) => Err(Error::new(
            ErrorKind::Incompatible,
            format!("{first_name} is a sketch of kind {} and {name} one of kind {}", first.kind(), other.kind()),
        )
        .argument("FILE")
        .value(name)
        .allowed(format!("sketches of kind {}", first.kind()))),
    }
}

/// Frequency sketches with their names, of one state.
fn frequency_state(sketches: &[(String, AnySketch)]) -> Result<FrequencyState<'_>, Error> {
    check_one_state(sketches)?;
    let mut frequencies = Vec::with_capacity(sketches.len());
    for (name, sketch) in sketches {
        match sketch {
            AnySketch::Frequencies(sketch) => frequencies.push((name.as_str(), sketch)),
            other => return Err(not_frequencies(name, other.kind())),
        }
    }
    // Of one kind, which was checked, and one state.
    FrequencyState::of(&frequencies).ok_or_else(|| not_frequencies("a file", "another"))
}

/// Sketches of one family and one state: all private or all raw.
pub(crate) enum OfOneState<'a, S: BitmapShape> {
    Private(Vec<&'a PrivateBitmap<S>>),
    Raw(Vec<&'a RecordedSketch<S>>),
}

/// Sorts named sketches of one family, which was checked, by their state.
pub(crate) fn of_one_state<S: Family>(sketches: &[(String, AnySketch)]) -> Result<OfOneState<'_, S>, Error> {
    check_one_state(sketches)?;
    let private: Vec<_> = sketches.iter().filter_map(|(_, sketch)| S::private(sketch)).collect();
    let raws: Vec<_> = sketches.iter().filter_map(|(_, sketch)| S::raw(sketch)).collect();
    match (private.is_empty(), raws.is_empty()) {
        (true, true) => Err(Error::new(ErrorKind::Parameter, "no sketch was named").argument("FILE")),
        (false, _) => Ok(OfOneState::Private(private)),
        _ => Ok(OfOneState::Raw(raws)),
    }
}

fn check_one_state(sketches: &[(String, AnySketch)]) -> Result<(), Error> {
    let named = |raw: bool| sketches.iter().find(|(_, sketch)| sketch.is_raw() == raw).map(|(name, _)| name);
    if let (Some(raw), Some(private)) = (named(true), named(false)) {
        return Err(Error::new(ErrorKind::Incompatible, format!("{raw} is raw and {private} is private"))
            .argument("FILE")
            .value(raw)
            .allowed("all private, or all raw")
            .hint("release the raw sketch first, with its own epsilon: mixed as they are, the private one would expose it"));
    }
    if sketches.is_empty() {
        return Err(Error::new(ErrorKind::Parameter, "no sketch was named").argument("FILE"));
    }
    Ok(())
}

/// Checks that named sketches can be put together: one state, one hash and key, one
/// family and shape, no release twice.
///
/// # Errors
/// [`ErrorKind::Incompatible`], which names the two sketches that do not fit and what differs.
pub fn check_compatible(sketches: &[(String, AnySketch)]) -> Result<(), Error> {
    check_one_state(sketches)?;
    if are_frequencies(sketches)? {
        return frequency_state(sketches)?.check();
    }
    let Some(((first_name, first), others)) = sketches.split_first() else { return Ok(()) };
    for (name, sketch) in others {
        let fault = if first.hash_id() != sketch.hash_id() {
            sfm_pcsa::MergeError::Hash { expected: first.hash_id(), found: sketch.hash_id() }
        } else if let (AnyShape::Bitmap(expected), AnyShape::Bitmap(found)) = (first.shape(), sketch.shape())
            && expected != found
        {
            sfm_pcsa::MergeError::Shape { expected, found }
        } else {
            continue;
        };
        return Err(Error::from(fault).prefixed(&format!("{name} does not fit {first_name}")).argument("FILE"));
    }
    check_no_release_twice(sketches)
}

fn check_no_release_twice(sketches: &[(String, AnySketch)]) -> Result<(), Error> {
    let mut seen = std::collections::HashMap::new();
    for (name, sketch) in sketches {
        for leaf in sketch.leaves() {
            if let Some(other) = seen.insert(leaf.id(), name) {
                let fault = sfm_pcsa::MergeError::RepeatedRelease { id: leaf.id() };
                return Err(Error::from(fault).prefixed(&format!("{other} and {name}")).argument("FILE"));
            }
        }
    }
    Ok(())
}

/// Checks that named sketches can be merged to one: what [`check_compatible`] checks, and that one sketch can record
/// all their releases.
///
/// # Errors
/// As [`check_compatible`]; also [`ErrorKind::Incompatible`] for more than [`MAX_RELEASES`] releases, and for raw frequencies
/// that are there twice ([`FrequencyError::Copied`](crate::FrequencyError::Copied)).
pub fn check_mergeable(sketches: &[(String, AnySketch)]) -> Result<(), Error> {
    check_compatible(sketches)?;
    if are_frequencies(sketches)? {
        return frequency_state(sketches)?.check_sum();
    }
    let found = sketches.iter().map(|(_, sketch)| sketch.leaves().len()).sum();
    if found > MAX_RELEASES {
        let fault = sfm_pcsa::MergeError::TooManyReleases { max: MAX_RELEASES, found };
        return Err(Error::from(fault).argument("FILE"));
    }
    Ok(())
}

/// Puts named sketches together: private bitmaps by composing their noise in one of two forms, raw ones by their OR, and
/// frequencies by their sum, which has no forms.
///
/// # Errors
/// As [`check_mergeable`]; [`ErrorKind::Entropy`] when there is no randomness for the coins of the merge.
///
/// # Privacy
/// Merging private sketches costs nothing more, and every input keeps the ε of its own releases. The result of raw
/// sketches is raw; its count of releases is their sum. Where records are protected, each record must be in one of the raw
/// frequency sketches only: a whole copy is refused, and no program can tell more.
pub fn merge(sketches: &[(String, AnySketch)], form: MergeForm) -> Result<AnySketch, Error> {
    check_mergeable(sketches)?;
    if are_frequencies(sketches)? {
        return sum(sketches, None);
    }
    for_family!(sketches, merge_of(sketches, form))
}

fn merge_of<S: Family>(sketches: &[(String, AnySketch)], form: MergeForm) -> Result<AnySketch, Error>
where
    AnySketch: From<PrivateBitmap<S>> + From<RecordedSketch<S>>,
{
    match of_one_state::<S>(sketches)? {
        OfOneState::Private(private) => {
            let mut noise = NoiseRng::from_os()?;
            Ok(PrivateBitmap::merge_all(&private, form, &mut noise)?.into())
        }
        OfOneState::Raw(raws) => merge_raw(&raws).map(AnySketch::from),
    }
}

/// Adds up named frequency sketches of data sets that have no unit of privacy in common.
///
/// # Errors
/// As [`merge`]; [`ErrorKind::Incompatible`] for bitmaps, whose releases are booked one by one however they are merged.
///
/// # Privacy
/// The sum states the largest cost instead of their sum, and raw sketches keep their bound. Sound only under the assumption
/// that the caller names; no program can check it.
pub fn merge_disjoint(sketches: &[(String, AnySketch)], assumption: DisjointParts) -> Result<AnySketch, Error> {
    frequency_state(sketches)?;
    check_mergeable(sketches)?;
    sum(sketches, Some(assumption))
}

fn sum(sketches: &[(String, AnySketch)], disjoint: Option<DisjointParts>) -> Result<AnySketch, Error> {
    frequency_state(sketches)?.sum(disjoint).map(AnySketch::from)
}

/// The union of raw sketches, of which there is at least one.
pub(crate) fn merge_raw<S: BitmapShape>(raws: &[&RecordedSketch<S>]) -> Result<RecordedSketch<S>, Error> {
    let (first, others) = raws.split_first().ok_or(sfm_pcsa::MergeError::Empty)?;
    let mut union = (*first).clone();
    others.iter().try_for_each(|other| union.merge(other))?;
    Ok(union)
}
