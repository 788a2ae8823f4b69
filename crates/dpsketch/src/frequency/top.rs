//! The most frequent of many candidates.

use cardinality_estimators::{Confidence, Estimate};
use countsketch_dp::{DecodeOptions, PrivateCountSketch, QueryOptions, Threshold};
use serde_json::{Value, json};
use sketch_hash::AnyHash;

use super::decode::Candidates;
use super::fields::ItemFields;
use super::query::{FrequencyAnswer, check_hash, extend};
use super::top_scan::{Candidate, Scan};
use crate::error::{Error, ErrorKind};
use crate::row_hasher::RowHasher;
use crate::text::TextRules;

/// Candidates that are looked at in one go.
const BATCH: usize = 256;

/// Which candidates count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum TopRule {
    /// The largest estimates, whatever they are.
    #[default]
    Largest,
    /// Of these, the ones whose interval lies above a frequency: with the confidence asked for, every one of them really is
    /// above. Above 0 is what tells an item from noise.
    Above(f64),
}

/// The most frequent of many candidates, and how sure that is.
///
/// # Examples
/// ```
/// use dpsketch::countsketch_dp::dp_noise::{Neighbouring, Rho};
/// use dpsketch::countsketch_dp::{CountSketchShape, Granularity, QueryOptions};
/// use dpsketch::sketch_hash::AnyHash;
/// use dpsketch::{CountSketchTerms, FrequencyBuilder, FrequencyLevel, TextRules, TopItems, TopRule};
///
/// let terms = CountSketchTerms::records(CountSketchShape::new(9, 1024)?, Granularity::ONE, 1)?;
/// let mut builder = FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default())?;
/// for (name, times) in [("lucy", 3000), ("max", 2000)] {
///     builder.push_texts(std::iter::repeat_n(name, times))?;
/// }
/// let private = builder.finish()?.release(FrequencyLevel::Rho(Rho::new(1.0)?), Neighbouring::AddRemove)?;
///
/// let names = ["bella", "lucy", "max", "rex"].map(str::to_owned);
/// let (hash, rules, options) = (AnyHash::default(), TextRules::default(), QueryOptions::default());
/// let top = TopItems::among(&private, hash, rules, names, 10, TopRule::Above(100.0), options)?;
/// assert_eq!(top.items().iter().map(|item| item.item()).collect::<Vec<_>>(), ["lucy", "max"]);
/// assert_eq!(top.candidates(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TopItems {
    items: Vec<FrequencyAnswer>,
    candidates: u64,
    more: bool,
    false_positive_probability: Option<f64>,
}

impl TopItems {
    /// The largest `limit` of a stream of candidates, of which a block and the best so far are held.
    ///
    /// A candidate that is named several times counts once. The intervals hold at once for all candidates, so they hold for
    /// those that were chosen because their estimates were large.
    ///
    /// # Privacy
    /// Post-processing, as long as the list of candidates is public: not read off the data.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`] for another hash than the sketch's; [`ErrorKind::Parameter`] for a limit of 0 and for so
    /// many candidates that no probability is left for one of them.
    pub fn among(
        sketch: &PrivateCountSketch,
        hash: AnyHash,
        rules: TextRules,
        candidates: impl IntoIterator<Item = String>,
        limit: usize,
        rule: TopRule,
        options: QueryOptions,
    ) -> Result<Self, Error> {
        Self::among_fields(sketch, hash, rules, &ItemFields::default(), candidates, limit, rule, options)
    }

    /// As [`among`](Self::among) for texts that name items of these columns: whole numbers, or records of several columns.
    ///
    /// # Privacy
    /// As [`among`](Self::among).
    ///
    /// # Errors
    /// As [`among`](Self::among), and [`ErrorKind::Parameter`] for a text that names no item of the columns.
    #[expect(clippy::too_many_arguments, reason = "those of `among`, and how texts name items")]
    pub fn among_fields(
        sketch: &PrivateCountSketch,
        hash: AnyHash,
        rules: TextRules,
        fields: &ItemFields,
        candidates: impl IntoIterator<Item = String>,
        limit: usize,
        rule: TopRule,
        options: QueryOptions,
    ) -> Result<Self, Error> {
        check_hash(sketch, &hash)?;
        let mut rows = RowHasher::new(hash, rules);
        Self::scan(sketch, |text| fields.hash(&mut rows, text), candidates, (limit, rule), options)
    }

    /// The largest `limit` of a list of candidates that are [decoded together](super::DecodedItems): collisions between them
    /// are told apart. The list is held, while [`among`](Self::among) takes a stream.
    ///
    /// A candidate that is named several times counts once. The intervals hold at once for all candidates at this confidence.
    ///
    /// # Privacy
    /// As [`among`](Self::among).
    ///
    /// # Errors
    /// As [`among_fields`](Self::among_fields).
    #[expect(clippy::too_many_arguments, reason = "those of `among_fields`")]
    pub fn decoded(
        sketch: &PrivateCountSketch,
        hash: AnyHash,
        rules: TextRules,
        fields: &ItemFields,
        candidates: impl IntoIterator<Item = String>,
        limit: usize,
        rule: TopRule,
        confidence: Confidence,
    ) -> Result<Self, Error> {
        check_hash(sketch, &hash)?;
        check_limit(limit)?;
        let candidates = Candidates::read(hash, rules, fields, candidates)?;
        let options = DecodeOptions::from(Threshold::None).confidence(confidence);
        let decoded = candidates.decode_at_once(sketch, options)?;
        let mut scan = Scan::new(limit);
        for (text, key, value) in decoded.values() {
            scan.offer(text, key, value);
        }
        Self::of(scan, rule, confidence, |candidate| decoded.answer(&candidate.text, candidate.key))
    }

    fn scan(
        sketch: &PrivateCountSketch,
        mut key_of: impl FnMut(&str) -> Result<Option<u64>, Error>,
        candidates: impl IntoIterator<Item = String>,
        (limit, rule): (usize, TopRule),
        options: QueryOptions,
    ) -> Result<Self, Error> {
        check_limit(limit)?;
        let mut scan = Scan::new(limit);
        let reader = sketch.points(options.combiner);
        let mut candidates = candidates.into_iter();
        let mut values = [0.0; BATCH];
        let (mut texts, mut keys) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        loop {
            let mut taken = 0;
            for text in candidates.by_ref().take(BATCH) {
                taken += 1;
                if let Some(key) = key_of(&text)? {
                    texts.push(text);
                    keys.push(key);
                }
            }
            if taken == 0 {
                break;
            }
            let values = &mut values[..keys.len()];
            reader.values(&keys, values);
            for ((text, key), value) in texts.drain(..).zip(keys.drain(..)).zip(values) {
                scan.offer(&text, key, *value);
            }
        }
        let confidence = options.confidence;
        let answers = options.simultaneous.max(scan.looked_at);
        let frequencies = sketch.frequencies(options.simultaneous(answers))?;
        Self::of(scan, rule, confidence, |candidate| {
            Ok(FrequencyAnswer::new(candidate.text.clone(), frequencies.estimate(candidate.key)?))
        })
    }

    fn of(
        scan: Scan,
        rule: TopRule,
        confidence: Confidence,
        answer: impl Fn(&Candidate) -> Result<FrequencyAnswer, Error>,
    ) -> Result<Self, Error> {
        let (best, candidates, overflowed) = scan.into_best();
        let held = best.len();
        let mut items = Vec::with_capacity(held);
        for candidate in best {
            let answer = answer(&candidate)?;
            if meets(rule, answer.estimate()) {
                items.push(answer);
            }
        }
        let false_positive_probability = match rule {
            TopRule::Largest => None,
            TopRule::Above(_) => Some(1.0 - confidence.get()),
        };
        let more = overflowed && items.len() == held;
        Ok(Self { items, candidates, more, false_positive_probability })
    }

    /// The items, most frequent first; equal ones by name. Ranks are their places.
    #[must_use]
    pub fn items(&self) -> &[FrequencyAnswer] {
        &self.items
    }

    /// How many candidates were looked at, repetitions that were not recognised included.
    #[must_use]
    pub const fn candidates(&self) -> u64 {
        self.candidates
    }

    /// Whether more candidates than the limit may meet the rule.
    #[must_use]
    pub const fn has_more(&self) -> bool {
        self.more
    }

    /// For [`TopRule::Above`]: a bound on the probability that any item is not really above.
    #[must_use]
    pub const fn false_positive_probability(&self) -> Option<f64> {
        self.false_positive_probability
    }

    /// One object: `candidates, more, false_positive_probability` and a list `items` of
    /// `{rank, item, estimate, std_error, lower, upper, confidence, status}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let ranked = (1_usize..).zip(&self.items).map(|(rank, item)| {
            let mut object = json!({ "rank": rank });
            extend(&mut object, item.to_json());
            object
        });
        json!({
            "candidates": self.candidates,
            "more": self.more,
            "false_positive_probability": self.false_positive_probability,
            "items": ranked.collect::<Vec<_>>(),
        })
    }
}

pub(super) fn check_limit(limit: usize) -> Result<(), Error> {
    if limit > 0 {
        return Ok(());
    }
    let told = Error::new(ErrorKind::Parameter, "no item was asked for");
    Err(told.argument("-k").value("0").allowed("1 or more"))
}

fn meets(rule: TopRule, estimate: &Estimate) -> bool {
    match rule {
        TopRule::Largest => true,
        TopRule::Above(frequency) => estimate.lower().is_some_and(|lower| lower > frequency),
    }
}
