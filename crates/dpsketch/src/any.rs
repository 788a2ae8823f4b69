use dp_noise::NoiseRng;
use sfm_pcsa::{Leaf, MAX_RELEASES, MergeForm, PcsaShape, SfmSketch, looks_like_presto};
use sketch_hash::HashId;
use sketch_wire::{Family, peek};

use crate::error::{Error, ErrorKind};
use crate::presto::from_presto;
use crate::raw::RawSketch;
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
}

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
        match header.family() {
            Family::SFM_PRIVATE => Ok(Self::Sfm(SfmSketch::from_bytes(bytes)?)),
            Family::PCSA_RAW => Ok(Self::SfmRaw(RawSketch::from_sensitive_bytes(bytes)?)),
            other => Err(Error::new(ErrorKind::Damaged, format!("a file of family {other} is not a sketch"))
                .hint("the file may be of a newer version of dpsketch")),
        }
    }

    /// The bytes of its file. Those of a raw sketch are as sensitive as the data.
    #[must_use]
    pub fn to_bytes(&self) -> SketchBytes {
        match self {
            Self::Sfm(sketch) => SketchBytes::new(sketch.to_bytes()),
            Self::SfmRaw(raw) => SketchBytes::copy_of(raw.to_sensitive_bytes().as_ref()),
        }
    }

    /// What the sketch counts, as `--kind` names it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        "sfm"
    }

    /// Whether this is state before noise.
    #[must_use]
    pub const fn is_raw(&self) -> bool {
        matches!(self, Self::SfmRaw(_))
    }

    /// Buckets and levels.
    #[must_use]
    pub fn shape(&self) -> PcsaShape {
        match self {
            Self::Sfm(sketch) => sketch.shape(),
            Self::SfmRaw(raw) => raw.shape(),
        }
    }

    /// The releases in it; none if it is raw.
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        match self {
            Self::Sfm(sketch) => sketch.leaves(),
            Self::SfmRaw(_) => &[],
        }
    }

    /// Which hash function and key made it.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        match self {
            Self::Sfm(sketch) => sketch.hash_id(),
            Self::SfmRaw(raw) => raw.hash_id(),
        }
    }
}

impl From<SfmSketch> for AnySketch {
    fn from(sketch: SfmSketch) -> Self {
        Self::Sfm(sketch)
    }
}

impl From<RawSketch> for AnySketch {
    fn from(raw: RawSketch) -> Self {
        Self::SfmRaw(raw)
    }
}

/// Sketches of one state: all private or all raw.
pub(crate) enum OfOneState<'a> {
    Private(Vec<&'a SfmSketch>),
    Raw(Vec<&'a RawSketch>),
}

/// Sorts named sketches by their state.
pub(crate) fn of_one_state(sketches: &[(String, AnySketch)]) -> Result<OfOneState<'_>, Error> {
    let named = |raw: bool| sketches.iter().find(|(_, sketch)| sketch.is_raw() == raw).map(|(name, _)| name);
    if let (Some(raw), Some(private)) = (named(true), named(false)) {
        return Err(Error::new(ErrorKind::Incompatible, format!("{raw} is raw and {private} is private"))
            .argument("FILE")
            .value(raw)
            .allowed("all private, or all raw")
            .hint("release the raw sketch first, with its own epsilon: mixed as they are, the private one would expose it"));
    }
    let (mut private, mut raws) = (Vec::new(), Vec::new());
    for (_, sketch) in sketches {
        match sketch {
            AnySketch::Sfm(sketch) => private.push(sketch),
            AnySketch::SfmRaw(raw) => raws.push(raw),
        }
    }
    match (private.is_empty(), raws.is_empty()) {
        (true, true) => Err(Error::new(ErrorKind::Parameter, "no sketch was named").argument("FILE")),
        (false, _) => Ok(OfOneState::Private(private)),
        _ => Ok(OfOneState::Raw(raws)),
    }
}

/// Checks that named sketches can be put together: one state, one hash and key, one shape, no release twice.
///
/// # Errors
/// [`ErrorKind::Incompatible`], which names the two sketches that do not fit and what differs.
pub fn check_compatible(sketches: &[(String, AnySketch)]) -> Result<(), Error> {
    of_one_state(sketches)?;
    let Some(((first_name, first), others)) = sketches.split_first() else { return Ok(()) };
    for (name, sketch) in others {
        let fault = if first.hash_id() != sketch.hash_id() {
            sfm_pcsa::MergeError::Hash { expected: first.hash_id(), found: sketch.hash_id() }
        } else if first.shape() != sketch.shape() {
            sfm_pcsa::MergeError::Shape { expected: first.shape().into(), found: sketch.shape().into() }
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
/// As [`check_compatible`]; also [`ErrorKind::Incompatible`] for more than [`MAX_RELEASES`] releases.
pub fn check_mergeable(sketches: &[(String, AnySketch)]) -> Result<(), Error> {
    check_compatible(sketches)?;
    let found = sketches.iter().map(|(_, sketch)| sketch.leaves().len()).sum();
    if found > MAX_RELEASES {
        let fault = sfm_pcsa::MergeError::TooManyReleases { max: MAX_RELEASES, found };
        return Err(Error::from(fault).argument("FILE"));
    }
    Ok(())
}

/// Puts named sketches together: private ones by composing their noise, raw ones by their OR.
///
/// # Errors
/// As [`check_mergeable`]; [`ErrorKind::Entropy`] when there is no randomness for the coins of the merge.
///
/// # Privacy
/// Merging private sketches costs nothing more, and every input keeps the ε of its own releases. The result of raw
/// sketches is raw; its count of releases is their sum.
pub fn merge(sketches: &[(String, AnySketch)], form: MergeForm) -> Result<AnySketch, Error> {
    check_mergeable(sketches)?;
    match of_one_state(sketches)? {
        OfOneState::Private(private) => {
            let mut noise = NoiseRng::from_os()?;
            Ok(SfmSketch::merge_all(&private, form, &mut noise)?.into())
        }
        OfOneState::Raw(raws) => merge_raw(&raws).map(AnySketch::from),
    }
}

/// The union of raw sketches, of which there is at least one.
pub(crate) fn merge_raw(raws: &[&RawSketch]) -> Result<RawSketch, Error> {
    let (first, others) = raws.split_first().ok_or(sfm_pcsa::MergeError::Empty)?;
    let mut union = (*first).clone();
    others.iter().try_for_each(|other| union.merge(other))?;
    Ok(union)
}
