//! Sketches in the bytes of Presto and Velox.

use dp_noise::NoiseRng;
use sfm_pcsa::{PrestoEncodeError, PrestoHeader, SfmSketch};

use crate::any::AnySketch;
use crate::error::{Error, ErrorKind};
use crate::raw::RawSketch;
use crate::secret::SketchBytes;

/// Bytes for Presto, and what became of the sketch on the way.
///
/// `Debug` shows no cell.
#[derive(Clone)]
pub struct PrestoBytes {
    bytes: SketchBytes,
    thinned: bool,
}

impl PrestoBytes {
    /// The bytes: what a `varbinary` cast to the sketch type takes. Those of a raw sketch are as sensitive as the data.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether noise had to be added, since Presto's format holds symmetric noise only.
    #[must_use]
    pub const fn thinned(&self) -> bool {
        self.thinned
    }
}

impl core::fmt::Debug for PrestoBytes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PrestoBytes")
            .field("bytes", &self.bytes.len())
            .field("thinned", &self.thinned)
            .finish_non_exhaustive()
    }
}

/// Writes a sketch in Presto's bytes. Private sketches of asymmetric noise, such as extremal merges, are
/// [thinned](SfmSketch::symmetrised) first.
///
/// # Errors
/// [`ErrorKind::Incompatible`](crate::ErrorKind::Incompatible) for sketches of another hash than Presto's and for noise
/// that the format cannot hold; [`ErrorKind::Entropy`](crate::ErrorKind::Entropy) when there is no randomness for thinning.
///
/// # Privacy
/// Costs nothing. The bytes of a raw sketch stay raw, and Presto does not say so by any name: its flip probability is 0.
///
/// # Examples
/// ```
/// use dpsketch::{AnySketch, DistinctBuilder, RawSketch, TextRules, parse_epsilon, to_presto};
/// use dpsketch::sfm_pcsa::PcsaShape;
/// use dpsketch::sketch_hash::{AnyHash, PrestoHash};
///
/// let mut builder = DistinctBuilder::new(PcsaShape::DEFAULT, AnyHash::from(PrestoHash), TextRules::default());
/// builder.push_texts(["ann", "bob"]);
/// let private = AnySketch::from(RawSketch::try_from(builder)?.release(parse_epsilon("1")?)?);
/// let presto = to_presto(&private)?;
/// assert!(!presto.thinned());
/// assert!(!AnySketch::from_bytes(presto.bytes())?.is_raw());
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn to_presto(sketch: &AnySketch) -> Result<PrestoBytes, Error> {
    match sketch {
        AnySketch::SfmRaw(raw) => {
            Ok(PrestoBytes { bytes: SketchBytes::copy_of(raw.to_sensitive_presto_bytes()?.as_ref()), thinned: false })
        }
        AnySketch::Sfm(private) => match private.to_presto_bytes() {
            Ok(bytes) => Ok(PrestoBytes { bytes: SketchBytes::new(bytes), thinned: false }),
            Err(PrestoEncodeError::Asymmetric { .. }) => {
                let symmetric = private.symmetrised(&mut NoiseRng::from_os()?)?;
                Ok(PrestoBytes { bytes: SketchBytes::new(symmetric.to_presto_bytes()?), thinned: true })
            }
            Err(error) => Err(error.into()),
        },
        other => Err(Error::new(ErrorKind::Incompatible, format!("Presto has no sketches of kind {}", other.kind()))
            .allowed("kind sfm, with the hash of Presto")),
    }
}

/// Reads Presto's bytes, private or raw as their flip probability says.
pub(crate) fn from_presto(bytes: &[u8]) -> Result<AnySketch, Error> {
    if PrestoHeader::read(bytes)?.is_private() {
        Ok(SfmSketch::from_presto_bytes(bytes)?.into())
    } else {
        Ok(RawSketch::from_sensitive_presto_bytes(bytes)?.into())
    }
}
