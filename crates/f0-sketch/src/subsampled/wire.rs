//! Bodies of the families `f0-subsampled` and `f0-subsampled-raw`, version 1; all numbers are little endian.
//!
//! ```text
//! both                                          private                           raw
//!  0  u64       sampling rate · 2^64            24  u64  releases R               24  f64  exposure: the sum of the
//!  8  16 bytes  name of the key                 32  R times f64, the ε of the              levels of a cell of earlier
//!                                                   releases of the file below              releases
//!                                                .  u64  number of bytes B        32  u64  number of bytes B
//!                                                .  B bytes, a whole file of      40  B bytes, a whole file of the
//!                                                   the family f0-private              family f0-raw
//! ```
//!
//! The files inside are of mode `set`. The flips of every release inside keep its ε at the rate.

use dp_noise::{DyadicProbability, Epsilon, SampleRate, Sampling, SubsampleKeyId};
use serde::{Deserialize, Serialize};
use sketch_hash::{HashId, KeyedHash};
use sketch_wire::{Family, Flags, WireBody, WireError};
use zeroize::Zeroize;

use super::error::SubsampledDecodeError;
use super::private::SubsampledF0Sketch;
use super::raw::RawSubsampledF0;
use crate::mode::Set;
use crate::private::PrivateF0Sketch;
use crate::sensitive::SensitiveBytes;
use crate::sketch::F0Sketch;
use crate::wire::MAX_BODY_LEN;
use crate::wire_raw::raw_hash_id;

/// A file inside, and the levels of 65,536 releases.
const MAX_LEN: u64 = MAX_BODY_LEN + (1 << 20);

#[derive(Serialize, Deserialize)]
struct PrivateBodyV1 {
    rate: u64,
    key: [u8; 16],
    levels: Vec<f64>,
    #[serde(with = "sketch_wire::nested")]
    file: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct RawBodyV1 {
    rate: u64,
    key: [u8; 16],
    exposure: f64,
    #[serde(with = "sketch_wire::nested")]
    file: Vec<u8>,
}

impl Drop for RawBodyV1 {
    fn drop(&mut self) {
        self.file.zeroize();
    }
}

impl WireBody for PrivateBodyV1 {
    const FAMILY: Family = Family::F0_SUBSAMPLED;
    const BODY_VERSION: u8 = 1;
    const MAX_BODY_LEN: u64 = MAX_LEN;
}

impl WireBody for RawBodyV1 {
    const FAMILY: Family = Family::F0_SUBSAMPLED_RAW;
    const BODY_VERSION: u8 = 1;
    const MAX_BODY_LEN: u64 = MAX_LEN;
}

fn sampling(rate: u64, key: [u8; 16]) -> Result<Sampling, SubsampledDecodeError> {
    let found = SampleRate::from_numerator(rate).ok_or(SubsampledDecodeError::Rate { found: rate })?;
    Ok(Sampling { rate: found, key: SubsampleKeyId::from_bytes(key) })
}

impl SubsampledF0Sketch {
    /// The sketch as bytes (family `f0-subsampled`); equal sketches give equal bytes.
    ///
    /// # Panics
    /// Never: every sketch is within the limits of its family.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Sampling { rate, key } = self.sampling();
        let body = PrivateBodyV1 {
            rate: rate.numerator(),
            key: key.to_bytes(),
            levels: self.levels().iter().map(|level| level.get()).collect(),
            file: self.sampled().to_bytes(),
        };
        let flags = if self.insecure_noise() { Flags::PRIVATE | Flags::INSECURE_NOISE } else { Flags::PRIVATE };
        sketch_wire::encode(&body, flags).expect("a sketch is within the limits of its family")
    }

    /// A sketch from [`to_bytes`](Self::to_bytes). Everything is checked again.
    ///
    /// # Errors
    /// [`SubsampledDecodeError`] for anything that no sketch encodes to, and
    /// [`InsecureNoise`](crate::DecodeError::InsecureNoise) for noise of the test generator.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SubsampledDecodeError> {
        let sketch = Self::from_bytes_allowing_insecure_noise(bytes)?;
        if sketch.insecure_noise() { Err(crate::DecodeError::InsecureNoise.into()) } else { Ok(sketch) }
    }

    /// As [`from_bytes`](Self::from_bytes), but also accepts sketches whose noise anybody can repeat.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes).
    pub fn from_bytes_allowing_insecure_noise(bytes: &[u8]) -> Result<Self, SubsampledDecodeError> {
        let (body, flags) = sketch_wire::decode::<PrivateBodyV1>(bytes)?;
        let sampling = sampling(body.rate, body.key)?;
        let inner = PrivateF0Sketch::<Set>::from_bytes_allowing_insecure_noise(&body.file)?;
        if flags.contains(Flags::INSECURE_NOISE) != inner.insecure_noise() {
            return Err(SubsampledDecodeError::Flags);
        }
        let (expected, found) = (inner.leaves().len(), body.levels.len());
        if expected != found {
            return Err(SubsampledDecodeError::Levels { expected, found });
        }
        let mut levels = Vec::with_capacity(found);
        for (index, (leaf, &epsilon)) in inner.leaves().iter().zip(&body.levels).enumerate() {
            let refused = SubsampledDecodeError::Level { index, epsilon };
            let Ok(level) = Epsilon::new(epsilon) else { return Err(refused) };
            let share = level.divide(leaf.unit().max_items());
            let flips = DyadicProbability::from_numerator(leaf.flip_numerator());
            // Parties that left out their noise would have left the sample bare.
            if leaf.is_opened() || !share.is_ok_and(|share| sampling.rate.keeps(flips, share)) {
                return Err(refused);
            }
            levels.push(level);
        }
        Ok(Self::from_parts(inner, sampling, levels))
    }
}

impl<H: KeyedHash> RawSubsampledF0<H> {
    /// The raw sketch as bytes (family `f0-subsampled-raw`). The key is not in them.
    ///
    /// # Privacy
    /// As sensitive as the data; see [`F0Sketch::to_sensitive_bytes`].
    ///
    /// # Panics
    /// Never: every sketch is within the limits of its family.
    #[must_use]
    pub fn to_sensitive_bytes(&self) -> SensitiveBytes {
        let Sampling { rate, key } = self.sampling;
        let body = RawBodyV1 {
            rate: rate.numerator(),
            key: key.to_bytes(),
            exposure: self.exposure,
            file: self.sketch.to_sensitive_bytes().to_vec(),
        };
        SensitiveBytes::new(
            sketch_wire::encode(&body, Flags::RAW).expect("a sketch is within the limits of its family"),
        )
    }

    /// A raw sketch from [`to_sensitive_bytes`](Self::to_sensitive_bytes), with the hash that it was made with.
    ///
    /// # Errors
    /// [`SubsampledDecodeError`] for anything that no sketch encodes to, another hash included.
    pub fn from_sensitive_bytes(bytes: &[u8], hash: H) -> Result<Self, SubsampledDecodeError> {
        let (body, found) = sketch_wire::decode::<RawBodyV1>(bytes)?;
        // A set has no coins that could be insecure: those of the sample are the key's.
        if found != Flags::RAW {
            return Err(WireError::FlagsFamily { family: Family::F0_SUBSAMPLED_RAW, found }.into());
        }
        let sampling = sampling(body.rate, body.key)?;
        let sketch = F0Sketch::<Set, H>::from_sensitive_bytes(&body.file, hash)?;
        let found = body.exposure;
        let fits = if sketch.releases() > 0 { found > 0.0 && found.is_finite() } else { found.to_bits() == 0 };
        if fits {
            Ok(Self { sketch, sampling, exposure: found })
        } else {
            Err(SubsampledDecodeError::Exposure { found })
        }
    }
}

/// Reads the hash that a raw sub-sampled sketch was made with.
///
/// # Errors
/// [`SubsampledDecodeError`] for bytes that are no body of the family `f0-subsampled-raw`.
pub fn subsampled_hash_id(bytes: &[u8]) -> Result<HashId, SubsampledDecodeError> {
    Ok(raw_hash_id(&sketch_wire::decode::<RawBodyV1>(bytes)?.0.file)?)
}
