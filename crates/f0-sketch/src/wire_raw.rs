//! Bytes of raw sketches. The layout stands in [`wire`](crate::wire).

use core::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use sketch_hash::{HashId, KeyedHash};
use sketch_wire::{Family, Flags, WireBody, WireError};
use zeroize::Zeroize;

use crate::cells::Cells;
use crate::coins::{CoinId, CoinSet};
use crate::error::DecodeError;
use crate::mode::{Mode, ModeKind};
use crate::sensitive::SensitiveBytes;
use crate::sketch::{F0Sketch, Record};
use crate::unit::Unit;
use crate::wire::{FrameV1, MAX_BODY_LEN, check_words};
use crate::wire_coins::check_number_of_coins;

/// Body of the family `f0-raw`, version 1.
#[derive(Serialize, Deserialize)]
struct RawBodyV1 {
    frame: FrameV1,
    releases: u32,
    /// 0: one item is the unit.
    max_items: u32,
    exposure: f64,
    /// Names of the coins, rising.
    coins: Vec<[u8; 16]>,
    words: RawWords,
}

/// Cells, 64 a word, lowest bit first. Wiped when dropped, also where they grow while they are read, and when reading ends
/// in an error.
#[derive(Serialize)]
#[serde(transparent)]
struct RawWords(Vec<u64>);

impl RawWords {
    /// Moves to twice the room, and wipes the old one.
    fn grow(&mut self) {
        let mut wider = Vec::with_capacity((2 * self.0.capacity()).max(FIRST_WORDS));
        wider.extend_from_slice(&self.0);
        self.0.zeroize();
        self.0 = wider;
    }
}

/// Room for this many words is made before they are seen, whatever their stated number.
const FIRST_WORDS: usize = 1 << 12;

impl<'de> Deserialize<'de> for RawWords {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;

        impl<'de> Visitor<'de> for Words {
            type Value = RawWords;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("words of cells")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<RawWords, A::Error> {
                let mut words = RawWords(Vec::new());
                while let Some(word) = sequence.next_element()? {
                    if words.0.len() == words.0.capacity() {
                        words.grow();
                    }
                    words.0.push(word);
                }
                Ok(words)
            }
        }

        deserializer.deserialize_seq(Words)
    }
}

impl Drop for RawWords {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl WireBody for RawBodyV1 {
    const FAMILY: Family = Family::F0_RAW;
    const BODY_VERSION: u8 = 1;
    const MAX_BODY_LEN: u64 = MAX_BODY_LEN;
}

impl RawBodyV1 {
    /// The body, and whether its coins can be repeated by others.
    fn read(bytes: &[u8]) -> Result<(Self, bool), DecodeError> {
        let (body, flags) = sketch_wire::decode::<Self>(bytes)?;
        let insecure = flags.contains(Flags::INSECURE_NOISE);
        // A set has no coins that could be insecure.
        if insecure && body.frame.mode()? == ModeKind::Set {
            return Err(WireError::FlagsFamily { family: Self::FAMILY, found: flags }.into());
        }
        Ok((body, insecure))
    }
}

/// The frame of raw bytes.
pub(crate) fn raw_frame(bytes: &[u8]) -> Result<FrameV1, DecodeError> {
    Ok(RawBodyV1::read(bytes)?.0.frame)
}

/// Reads the hash that a raw sketch of either mode was made with.
///
/// A program that keeps several keys finds the right one by it before calling
/// [`F0Sketch::from_sensitive_bytes`].
///
/// # Errors
/// [`DecodeError`] for bytes that are no body of the family `f0-raw`.
pub fn raw_hash_id(bytes: &[u8]) -> Result<HashId, DecodeError> {
    raw_frame(bytes)?.hash_id()
}

impl<M: Mode, H: KeyedHash> F0Sketch<M, H> {
    /// The raw sketch as bytes (family `f0-raw`).
    ///
    /// # Privacy
    /// The bytes are as sensitive as the data: they are for a checkpoint or another machine of the same owner, never for
    /// publication. They are wiped when the returned value is dropped. In mode [`Presampled`](crate::Presampled) they are
    /// a copy of the coins: of all copies, one may go on and be released, or each release must be
    /// [recorded](F0Sketch::record_release) in the others.
    ///
    /// # Panics
    /// Never: every sketch is within the limits of its family.
    #[must_use]
    pub fn to_sensitive_bytes(&self) -> SensitiveBytes {
        let Record { releases, unit, exposure, insecure_coins, coins } = self.record();
        let body = RawBodyV1 {
            frame: FrameV1::new(M::KIND, &self.kind()),
            releases,
            max_items: unit.to_code(),
            exposure,
            coins: coins.as_slice().iter().map(|coin| coin.to_bytes()).collect(),
            words: RawWords(self.cells.words().to_vec()),
        };
        let flags = if insecure_coins { Flags::RAW | Flags::INSECURE_NOISE } else { Flags::RAW };
        SensitiveBytes::new(sketch_wire::encode(&body, flags).expect("a sketch is within the limits of its family"))
    }

    /// A raw sketch from [`to_sensitive_bytes`](Self::to_sensitive_bytes), with the hash that it was made with.
    ///
    /// Bytes whose coins came from the test generator stay marked, and mark what is released from them.
    ///
    /// # Errors
    /// [`DecodeError::HashMismatch`] if `hash` is another one, [`DecodeError::Mode`] for the other mode, and
    /// [`DecodeError`] for anything that no sketch encodes to.
    ///
    /// # Examples
    /// ```
    /// use f0_sketch::{F0Shape, F0Sketch, WeightRule};
    /// use f0_sketch::sketch_hash::{DefaultHash, HashKey};
    /// let mut raw: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
    /// raw.insert(b"alice");
    /// let bytes = raw.to_sensitive_bytes();
    /// assert_eq!(F0Sketch::from_sensitive_bytes(&bytes, DefaultHash::default())?, raw);
    /// let other = DefaultHash::new(HashKey::from_bytes([1; 16]));
    /// assert!(F0Sketch::<f0_sketch::Set>::from_sensitive_bytes(&bytes, other).is_err());
    /// # Ok::<(), f0_sketch::DecodeError>(())
    /// ```
    pub fn from_sensitive_bytes(bytes: &[u8], hash: H) -> Result<Self, DecodeError> {
        let (body, insecure_coins) = RawBodyV1::read(bytes)?;
        let frame = body.frame.check(M::KIND)?;
        let (expected, found) = (hash.id(), frame.hash_id);
        if expected != found {
            return Err(DecodeError::HashMismatch { expected, found });
        }
        check_words(&body.words.0, frame.shape.cells())?;
        let exposure = check_exposure(body.exposure, body.releases, M::KIND)?;
        check_number_of_coins(body.coins.len(), M::KIND)?;
        if M::KIND == ModeKind::Presampled && body.coins.is_empty() && body.words.0.iter().any(|word| *word != 0) {
            return Err(DecodeError::NamelessCoins);
        }
        let coins = CoinSet::from_rising(body.coins.iter().copied().map(CoinId::from_bytes).collect())
            .map_err(|index| DecodeError::CoinOrder { index })?;
        let cells = Cells::from_words(&body.words.0);
        let unit = Unit::from_code(body.max_items);
        let record = Record { releases: body.releases, unit, exposure, insecure_coins, coins };
        Ok(Self::from_parts(frame.shape, frame.rule, hash, cells, record))
    }
}

/// A level that a raw sketch of this mode and so many releases may have: coins are exposed when they were released.
fn check_exposure(found: f64, releases: u32, mode: ModeKind) -> Result<f64, DecodeError> {
    let fits = if mode == ModeKind::Presampled && releases > 0 {
        found > 0.0 && found.is_finite()
    } else {
        found.to_bits() == 0
    };
    if fits { Ok(found) } else { Err(DecodeError::Exposure { found }) }
}
