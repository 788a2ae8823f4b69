//! Frequencies of all names of a public list at once.

use core::fmt;
use std::collections::HashSet;

use countsketch_dp::{DecodeOptions, Decoded, PrivateCountSketch};
use sketch_hash::AnyHash;

use super::fields::ItemFields;
use super::query::{FrequencyAnswer, check_hash};
use crate::error::{Error, ErrorKind};
use crate::row_hasher::RowHasher;
use crate::text::TextRules;

/// The frequencies of all items of a public list, decoded together.
///
/// Collisions between items of the list are told apart, so that answers are much better than one by one where the list holds
/// most of what is in the data; see [`PrivateCountSketch::decode`]. An item that is named several times counts once, at its
/// first place. Texts that stand for a missing value are left out.
///
/// # Privacy
/// Post-processing, as long as the list is **public**: a catalogue, a word list, all postcodes. A list that was read off the
/// data gives away who is in it, whatever the noise.
///
/// # Examples
/// ```
/// use dpsketch::countsketch_dp::dp_noise::{Neighbouring, Rho};
/// use dpsketch::countsketch_dp::{CountSketchShape, Granularity, Threshold};
/// use dpsketch::sketch_hash::AnyHash;
/// use dpsketch::{CountSketchTerms, DecodedItems, FrequencyBuilder, FrequencyLevel, ItemFields, TextRules};
///
/// let terms = CountSketchTerms::records(CountSketchShape::new(9, 1024)?, Granularity::ONE, 1)?;
/// let mut builder = FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default())?;
/// for (name, times) in [("lucy", 3000), ("max", 2000)] {
///     builder.push_texts(std::iter::repeat_n(name, times))?;
/// }
/// let private = builder.finish()?.release(FrequencyLevel::Rho(Rho::new(1.0)?), Neighbouring::AddRemove)?;
///
/// let names = ["bella", "lucy", "max", "lucy"].map(str::to_owned);
/// let (hash, rules, fields) = (AnyHash::default(), TextRules::default(), ItemFields::default());
/// let decoded = DecodedItems::among(&private, hash, rules, &fields, names, Threshold::Auto.into())?;
/// let answers: Vec<_> = decoded.answers().collect::<Result<_, _>>()?;
/// assert_eq!(answers.iter().map(|answer| answer.item()).collect::<Vec<_>>(), ["bella", "lucy", "max"]);
/// // Standard error 0.9; 0 but for chance.
/// assert!(answers[0].estimate().value().unwrap().abs() < 20.0);
/// assert!((answers[1].estimate().value().unwrap() - 3000.0).abs() < 50.0);
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub struct DecodedItems<'s> {
    candidates: Candidates,
    decoded: Decoded<'s>,
}

/// Sizes only.
impl fmt::Debug for DecodedItems<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecodedItems").field("decoded", &self.decoded).finish_non_exhaustive()
    }
}

impl<'s> DecodedItems<'s> {
    /// Decodes a list of texts that name items of these columns. The list is held, and some 40 bytes more for each item.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`] for another hash than the sketch's; [`ErrorKind::Parameter`] for a text that names no item
    /// of the columns, and when the confidence cannot be had for so many answers.
    pub fn among(
        sketch: &'s PrivateCountSketch,
        hash: AnyHash,
        rules: TextRules,
        fields: &ItemFields,
        candidates: impl IntoIterator<Item = String>,
        options: DecodeOptions,
    ) -> Result<Self, Error> {
        check_hash(sketch, &hash)?;
        Candidates::read(hash, rules, fields, candidates)?.decode(sketch, options)
    }

    /// The answers to all items, in the order of the list.
    pub fn answers(&self) -> impl Iterator<Item = Result<FrequencyAnswer, Error>> + '_ {
        self.candidates.iter().map(|(text, key)| self.answer(text, key))
    }

    pub(super) fn answer(&self, text: &str, key: u64) -> Result<FrequencyAnswer, Error> {
        let estimate = self.decoded.estimate(key)?.ok_or_else(|| Error::new(ErrorKind::Internal, "a key was lost"))?;
        Ok(FrequencyAnswer::new(text.to_owned(), estimate))
    }

    /// Items with their hashes and values, in the order of the list.
    pub(super) fn values(&self) -> impl Iterator<Item = (&str, u64, f64)> + '_ {
        self.candidates.iter().map(|(text, key)| (text, key, self.decoded.value(key).unwrap_or(0.0)))
    }

    /// How many different items there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.decoded.len()
    }

    /// Whether there is no item.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.decoded.is_empty()
    }

    /// What the decoding was like: rounds, standard error, threshold.
    #[must_use]
    pub const fn decoded(&self) -> &Decoded<'s> {
        &self.decoded
    }
}

/// Different items, in the order they were first named. The texts are one string.
pub(super) struct Candidates {
    texts: String,
    /// Where each text ends.
    ends: Vec<usize>,
    keys: Vec<u64>,
}

impl Candidates {
    pub(super) fn read(
        hash: AnyHash,
        rules: TextRules,
        fields: &ItemFields,
        candidates: impl IntoIterator<Item = String>,
    ) -> Result<Self, Error> {
        let (mut rows, mut seen) = (RowHasher::new(hash, rules), HashSet::new());
        let mut list = Self { texts: String::new(), ends: Vec::new(), keys: Vec::new() };
        for text in candidates {
            if let Some(key) = fields.hash(&mut rows, &text)?.filter(|key| seen.insert(*key)) {
                list.texts.push_str(&text);
                list.ends.push(list.texts.len());
                list.keys.push(key);
            }
        }
        Ok(list)
    }

    fn decode(self, sketch: &PrivateCountSketch, options: DecodeOptions) -> Result<DecodedItems<'_>, Error> {
        let decoded = sketch.decode(&self.keys, options)?;
        Ok(DecodedItems { candidates: self, decoded })
    }

    /// With intervals that hold at once for all of them.
    pub(super) fn decode_at_once(
        self,
        sketch: &PrivateCountSketch,
        options: DecodeOptions,
    ) -> Result<DecodedItems<'_>, Error> {
        let all = self.keys.len() as u64;
        self.decode(sketch, options.simultaneous(options.simultaneous.max(all)))
    }

    fn iter(&self) -> impl Iterator<Item = (&str, u64)> + '_ {
        let starts = core::iter::once(0).chain(self.ends.iter().copied());
        let texts = starts.zip(&self.ends).map(|(start, &end)| self.texts.get(start..end).unwrap_or_default());
        texts.zip(self.keys.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_keep_their_order_and_lose_repetitions() {
        let names = ["b", "", "a", "b", "long name", ""].map(str::to_owned);
        let list = Candidates::read(AnyHash::default(), TextRules::default(), &ItemFields::default(), names).unwrap();
        assert_eq!(list.iter().map(|(text, _)| text).collect::<Vec<_>>(), ["b", "", "a", "long name"]);
        assert_eq!(list.keys.len(), 4);
    }
}
