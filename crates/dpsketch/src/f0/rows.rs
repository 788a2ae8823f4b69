//! What one row does.

use dp_noise::{NoiseRng, Subsampler};
use f0_sketch::{F0Sketch, Presampled, SampleWriter, Set, Weight, WeightRule};
use sketch_hash::{AnyHash, Item};

use super::builder::{F0Builder, Input};
use super::error::F0Error;
use super::members::ItemHash;
use super::operation::Operation;
use super::weight::weight_value;
use crate::builder::clean;
use crate::error::Error;

impl F0Builder {
    /// Takes one row whose item is hashed already, both unless missing.
    pub(super) fn push(
        &mut self,
        item: Option<ItemHash>,
        weight: Option<Item<'_>>,
        operation: Option<Item<'_>>,
    ) -> Result<(), Error> {
        self.check()?;
        let done = self.read_row(weight, operation).map_err(Error::from).and_then(|(weight, operation)| {
            self.counts.rows += 1;
            if let (Some(item), Some((weight, clipped))) = (item, weight) {
                self.counts.clipped += u64::from(clipped);
                return self.count(item, weight, operation);
            }
            self.counts.nulls += 1;
            Ok(())
        });
        self.given_up = done.is_err();
        done
    }

    /// Weight and operation of the next row; the weight unless missing, and whether it was clipped.
    fn read_row(
        &mut self,
        weight: Option<Item<'_>>,
        operation: Option<Item<'_>>,
    ) -> Result<(Option<(Weight, bool)>, Operation), F0Error> {
        let row = self.counts.rows + 1;
        let operation = match (&self.input, operation) {
            (Input::Operations(_), found) => {
                found.and_then(|found| Operation::of(&found)).ok_or(F0Error::NotAnOperation { row })?
            }
            (_, None) => Operation::Insert,
            (_, Some(_)) => return Err(F0Error::Input { expected: "rows without operations", found: "an operation" }),
        };
        let weight = weight.and_then(|weight| clean(self.rows.rules(), weight, &mut self.weight_text));
        let weight = weight_of(self.terms.rule(), weight, row)?;
        Ok((weight, operation))
    }

    fn count(&mut self, item: ItemHash, weight: Weight, operation: Operation) -> Result<(), Error> {
        match operation {
            Operation::Insert => self.counts.inserts += 1,
            Operation::Delete => self.counts.deletes += 1,
        }
        match &mut self.input {
            Input::Set { members, .. } => members.push(item, weight),
            Input::Operations(sketch) => toggle(sketch, item, weight, self.coins.as_deref()),
            Input::Presampled { sketch, coins } => observe(sketch, item, weight, coins),
        }
    }

    /// Whether rows come with what the builder takes beside their items.
    #[cfg(feature = "arrow")]
    pub(super) fn check_beside(&self, weights: bool, operations: bool) -> Result<(), F0Error> {
        let wrong = |expected, found| Err(F0Error::Input { expected, found });
        match (matches!(self.terms.rule(), WeightRule::Weighted(_)), matches!(self.input, Input::Operations(_))) {
            (true, _) if !weights => wrong("rows with weights", "none"),
            (false, _) if weights => wrong("rows without weights", "a column of weights"),
            (_, true) if !operations => wrong("rows with operations", "none"),
            (_, false) if operations => wrong("rows without operations", "a column of operations"),
            _ => Ok(()),
        }
    }

    pub(super) fn check(&self) -> Result<(), F0Error> {
        if self.given_up { Err(F0Error::GivenUp) } else { Ok(()) }
    }
}

/// Changes whether an item is in the set, if it is kept.
pub(super) fn toggle(
    sketch: &mut F0Sketch<Set, AnyHash>,
    item: ItemHash,
    weight: Weight,
    coins: Option<&Subsampler>,
) -> Result<(), Error> {
    match (sketch.weight_rule(), coins) {
        (WeightRule::Unit, None) => sketch.toggle_hash(item),
        (WeightRule::Unit, Some(coins)) => SampleWriter::new(sketch, coins).toggle_hash(item),
        (WeightRule::Weighted(_), None) => sketch.toggle_hash_weighted(item, weight)?,
        (WeightRule::Weighted(_), Some(coins)) => {
            SampleWriter::new(sketch, coins).toggle_hash_weighted(item, weight)?;
        }
    }
    Ok(())
}

/// The weight of the item of a row, unless missing, and whether it was clipped.
pub(super) fn weight_of(
    rule: WeightRule,
    weight: Option<Item<'_>>,
    row: u64,
) -> Result<Option<(Weight, bool)>, F0Error> {
    match (rule, weight) {
        (WeightRule::Unit, None) => Ok(Some((Weight::ONE, false))),
        (WeightRule::Unit, Some(_)) => Err(F0Error::Input { expected: "rows without weights", found: "a weight" }),
        (WeightRule::Weighted(max), weight) => {
            let share = |weight: Item<'_>| {
                let value = weight_value(&weight)?;
                Some((max.weight(value).ok()?, value > max.get()))
            };
            weight.map(|weight| share(weight).ok_or(F0Error::NotAWeight { row })).transpose()
        }
    }
}

/// Sees one occurrence of an item.
pub(super) fn observe(
    sketch: &mut F0Sketch<Presampled, AnyHash>,
    item: ItemHash,
    weight: Weight,
    coins: &mut NoiseRng,
) -> Result<(), Error> {
    match sketch.weight_rule() {
        WeightRule::Unit => {
            sketch.observe_hash(item, coins);
            Ok(())
        }
        WeightRule::Weighted(_) => Ok(sketch.observe_hash_weighted(item, weight, coins)?),
    }
}
