//! Frequencies of named items, with intervals.

use core::fmt;

use cardinality_estimators::Estimate;
use countsketch_dp::{Frequencies, LawFrequencies, PrivateCountSketch, QueryOptions};
use serde_json::{Value, json};
use sketch_hash::{AnyHash, Item, KeyedHash};

use super::fields::ItemFields;
use crate::error::{Error, ErrorKind};
use crate::row_hasher::RowHasher;
use crate::text::TextRules;

/// Items that are answered in one go.
const BATCH: usize = 256;

/// Asks a private sketch for the frequencies of items.
///
/// Items are hashed as a builder with the same hash and text rules hashes them. One sort of the cells, when the asker is
/// made, serves all questions; see [`Frequencies`]. With [`QueryOptions::simultaneous`] all intervals hold at once.
///
/// # Privacy
/// Post-processing: however many items are asked for, nothing is spent.
///
/// # Examples
/// ```
/// use dpsketch::countsketch_dp::dp_noise::{Neighbouring, Rho};
/// use dpsketch::countsketch_dp::{CountSketchShape, Granularity, QueryOptions};
/// use dpsketch::sketch_hash::AnyHash;
/// use dpsketch::{CountSketchTerms, FrequencyBuilder, FrequencyLevel, FrequencyQuery, TextRules};
///
/// let terms = CountSketchTerms::records(CountSketchShape::new(9, 1024)?, Granularity::ONE, 1)?;
/// let mut builder = FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default())?;
/// builder.push_texts(std::iter::repeat_n("flu", 5000))?;
/// let private = builder.finish()?.release(FrequencyLevel::Rho(Rho::new(1.0)?), Neighbouring::AddRemove)?;
///
/// let mut query = FrequencyQuery::new(&private, AnyHash::default(), TextRules::default(), QueryOptions::default())?;
/// let answers: Vec<_> = query.answers(["flu", "tax"]).collect::<Result<_, _>>()?;
/// assert!((answers[0].estimate().value().unwrap() - 5000.0).abs() < 50.0);
/// assert_eq!(answers[1].to_json()["item"], "tax");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FrequencyQuery<'s> {
    frequencies: Estimator<'s>,
    rows: RowHasher,
    fields: ItemFields,
}

/// How rows become an answer.
enum Estimator<'s> {
    Combined(Frequencies<'s>),
    Law(LawFrequencies<'s>),
}

impl Estimator<'_> {
    const fn options(&self) -> &QueryOptions {
        match self {
            Self::Combined(frequencies) => frequencies.options(),
            Self::Law(frequencies) => frequencies.options(),
        }
    }
}

/// Options only.
impl fmt::Debug for FrequencyQuery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrequencyQuery").field("options", self.frequencies.options()).finish_non_exhaustive()
    }
}

impl<'s> FrequencyQuery<'s> {
    /// An asker with the hash that the sketch was made with.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`] for another hash or key; [`ErrorKind::Parameter`] when the confidence cannot be had for
    /// so many answers.
    pub fn new(
        sketch: &'s PrivateCountSketch,
        hash: AnyHash,
        rules: TextRules,
        options: QueryOptions,
    ) -> Result<Self, Error> {
        check_hash(sketch, &hash)?;
        Ok(Self::of(Estimator::Combined(sketch.frequencies(options)?), hash, rules))
    }

    /// The same, with answers where the rows most likely are by the law of all cells: errors are 5 to 16 % below the median's.
    /// See [`LawFrequencies`]; the combiner of the options is not looked at.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn by_law(
        sketch: &'s PrivateCountSketch,
        hash: AnyHash,
        rules: TextRules,
        options: QueryOptions,
    ) -> Result<Self, Error> {
        check_hash(sketch, &hash)?;
        Ok(Self::of(Estimator::Law(sketch.law_frequencies(options)?), hash, rules))
    }

    fn of(frequencies: Estimator<'s>, hash: AnyHash, rules: TextRules) -> Self {
        Self { frequencies, rows: RowHasher::new(hash, rules), fields: ItemFields::default() }
    }

    /// Takes texts for items of these columns: for whole numbers, as in sketches of an integer column, or for records of
    /// several columns.
    #[must_use]
    pub fn with_fields(self, fields: ItemFields) -> Self {
        Self { fields, ..self }
    }

    /// The frequency of one item, of one or several values; `None` where a value is missing.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] when a number leaves the range of `f64`.
    pub fn ask<'a>(
        &mut self,
        values: impl IntoIterator<Item = Option<Item<'a>>, IntoIter: ExactSizeIterator>,
    ) -> Result<Option<Estimate>, Error> {
        let hash = self.rows.hash(values);
        let estimate = |hash| match &self.frequencies {
            Estimator::Combined(frequencies) => frequencies.estimate(hash),
            Estimator::Law(frequencies) => frequencies.estimate(hash),
        };
        Ok(hash.map(estimate).transpose()?)
    }

    /// The frequencies of a stream of texts, in their order; a block of them is held at a time. Texts that stand for a
    /// missing value are left out; [`ErrorKind::Parameter`] stands for one that names no item of the columns.
    pub fn answers<S: AsRef<str>>(
        &mut self,
        texts: impl IntoIterator<Item = S>,
    ) -> impl Iterator<Item = Result<FrequencyAnswer, Error>> {
        let mut texts = texts.into_iter();
        let mut block = Vec::new().into_iter();
        core::iter::from_fn(move || {
            loop {
                if let Some(answer) = block.next() {
                    return Some(answer);
                }
                let named: Vec<S> = texts.by_ref().take(BATCH).collect();
                if named.is_empty() {
                    return None;
                }
                block = self.block(named).into_iter();
            }
        })
    }

    fn block<S: AsRef<str>>(&mut self, texts: Vec<S>) -> Vec<Result<FrequencyAnswer, Error>> {
        let (mut items, mut keys) = (Vec::with_capacity(texts.len()), Vec::with_capacity(texts.len()));
        for text in texts {
            match self.fields.hash(&mut self.rows, text.as_ref()) {
                Ok(None) => {}
                Ok(Some(key)) => {
                    items.push(text.as_ref().to_owned());
                    keys.push(key);
                }
                Err(error) => return vec![Err(error)],
            }
        }
        let estimates = match &self.frequencies {
            Estimator::Combined(frequencies) => frequencies.estimate_all(&keys),
            Estimator::Law(frequencies) => frequencies.estimate_all(&keys),
        };
        match estimates {
            Ok(estimates) => {
                let answer = |(item, estimate)| Ok(FrequencyAnswer { item, estimate });
                items.into_iter().zip(estimates).map(answer).collect()
            }
            Err(error) => vec![Err(error.into())],
        }
    }

    /// The standard error of every answer, in units of weight.
    #[must_use]
    pub fn std_error(&self) -> f64 {
        match &self.frequencies {
            Estimator::Combined(frequencies) => frequencies.std_error(),
            Estimator::Law(frequencies) => frequencies.std_error(),
        }
    }
}

/// The frequency of one item.
#[derive(Clone, Debug, PartialEq)]
pub struct FrequencyAnswer {
    item: String,
    estimate: Estimate,
}

impl FrequencyAnswer {
    pub(super) const fn new(item: String, estimate: Estimate) -> Self {
        Self { item, estimate }
    }

    /// The item as it was asked for.
    #[must_use]
    pub fn item(&self) -> &str {
        &self.item
    }

    /// Its frequency, in units of weight. May be negative.
    pub const fn estimate(&self) -> &Estimate {
        &self.estimate
    }

    /// One object: `item, estimate, std_error, lower, upper, confidence, status`. Whatever does not exist is null.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut object = json!({ "item": self.item });
        extend(&mut object, estimate_json(&self.estimate));
        object
    }
}

/// `estimate, std_error, lower, upper, confidence, status`.
pub(super) fn estimate_json(estimate: &Estimate) -> Value {
    json!({
        "estimate": estimate.value(),
        "std_error": estimate.std_error(),
        "lower": estimate.lower(),
        "upper": estimate.upper(),
        "confidence": estimate.confidence().get(),
        "status": estimate.status().as_str(),
    })
}

/// Adds the fields of one object to another.
pub(super) fn extend(object: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (object, more) {
        object.extend(more);
    }
}

/// Items can be found only by the hash that placed them.
pub(super) fn check_hash(sketch: &PrivateCountSketch, hash: &AnyHash) -> Result<(), Error> {
    let (expected, found) = (sketch.hash_id(), hash.id());
    if expected == found {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Incompatible, format!("hash key mismatch: expected {expected}, found {found}"))
        .argument("--key-file")
        .value(found.to_string())
        .allowed(expected.to_string())
        .hint("ask with the same --key-file and --hash that the sketch was built with"))
}
