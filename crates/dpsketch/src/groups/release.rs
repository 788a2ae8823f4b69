use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use dp_noise::rand_core::Rng;
use dp_noise::{Amount, Epsilon, NoiseRng, Permit};
use sfm_pcsa::{Mechanism, PcsaCells, PcsaShape, PcsaSketch, ReleaseId};
use sketch_hash::{AnyHash, KeyedHash};

use super::container::{GroupContainer, SKETCH_COLUMN};
use super::keys::GroupKeys;
use crate::error::{Error, ErrorKind};
use crate::raw::RecordedHash;
use crate::study::Study;
use crate::text::TextRules;
use crate::user_bound::PrivacyUnit;

/// Bytes of sketches in one batch, about.
const BATCH_BYTES: usize = 4 << 20;
/// Groups in one batch at most.
const BATCH_GROUPS: usize = 8192;

/// The raw sketches of all groups, made by [`GroupedBuilder`](crate::GroupedBuilder). As sensitive as the data.
pub struct GroupedSketches {
    shape: PcsaShape,
    hash: AnyHash,
    rules: TextRules,
    keys: GroupKeys,
    cells: Vec<PcsaCells>,
    /// The numbers of the groups in the order of the table.
    order: Vec<u32>,
    listed: bool,
}

/// Shape and hash only: groups, their number and their cells are raw.
impl core::fmt::Debug for GroupedSketches {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("GroupedSketches")
            .field("shape", &self.shape)
            .field("hash", &self.hash.id())
            .field("listed", &self.listed)
            .finish_non_exhaustive()
    }
}

impl GroupedSketches {
    pub(super) fn new(
        shape: PcsaShape,
        hash: AnyHash,
        rules: TextRules,
        keys: GroupKeys,
        cells: Vec<PcsaCells>,
        order: Vec<u32>,
        listed: bool,
    ) -> Self {
        Self { shape, hash, rules, keys, cells, order, listed }
    }

    /// How many groups there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no group.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// What releasing all groups at `epsilon` costs one unit: ε for users, whose bound is over all groups, and for items, which
    /// may be in all of them, ε times the groups, rounded up.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] when that is more than an ε can be.
    pub fn cost(&self, epsilon: Epsilon, unit: PrivacyUnit) -> Result<Epsilon, Error> {
        Self::cost_of(self.len(), epsilon, unit)
    }

    /// [`cost`](Self::cost) of so many groups, to be asked before any data is read.
    ///
    /// # Errors
    /// As [`cost`](Self::cost).
    pub fn cost_of(groups: usize, epsilon: Epsilon, unit: PrivacyUnit) -> Result<Epsilon, Error> {
        if unit != PrivacyUnit::Item {
            return Ok(epsilon);
        }
        times(epsilon, groups.max(1)).ok_or_else(|| {
            Error::new(ErrorKind::Refused, format!("an item in all {groups} groups would cost more than any epsilon"))
                .argument("--epsilon")
                .value(epsilon.get().to_string())
                .allowed(format!("epsilon times {groups} groups of at most {}", Epsilon::MAX))
                .hint("bound users with --user, so that one epsilon covers all groups")
        })
    }

    /// Whether a release at `epsilon` would be refused, to be asked before anything is paid for.
    ///
    /// # Errors
    /// As [`release`](Self::release), but for want of randomness.
    pub fn check_release(&self, epsilon: Epsilon, unit: PrivacyUnit) -> Result<(), Error> {
        self.study(epsilon, unit)?;
        PcsaSketch::new(self.shape, self.hash.clone()).check_release(unit.into(), epsilon)?;
        Ok(())
    }

    /// What the table will say it was made by.
    fn study(&self, epsilon: Epsilon, unit: PrivacyUnit) -> Result<Study, Error> {
        let study = Study::new(self.shape.into(), self.hash.id(), epsilon);
        Ok(study.with_unit(unit)?.with_text(self.rules.clone())?)
    }

    /// Adds noise to every group and gives up the raw sketches, one batch at a time.
    ///
    /// `column` names the group column of the table.
    ///
    /// # Errors
    /// [`ErrorKind::Entropy`] when the operating system gives no randomness; [`ErrorKind::Parameter`] when the ε that is
    /// left for a single item of a user is below the least accepted one.
    ///
    /// # Privacy
    /// Every group is released at `epsilon` for one `unit`, groups without a row like all others. An item that is in `g`
    /// groups pays `g · ε`; a user whose rows were bounded pays ε once. Without a list the values of the groups are read
    /// from the data and published as they are. The caller keeps the books, with [`cost`](Self::cost).
    ///
    /// # Examples
    /// ```
    /// # use dpsketch::{GroupedBuilder, PrivacyUnit, TextRules, parse_confidence, parse_epsilon};
    /// # use sfm_pcsa::PcsaShape;
    /// # use sketch_hash::{AnyHash, Item};
    /// # let mut builder = GroupedBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default());
    /// # for (group, user) in [("a", 1_u32), ("b", 1)] {
    /// #     builder.push_row(Some(Item::from(group)), None, [Some(Item::from(user))])?;
    /// # }
    /// let (sketches, _) = builder.finish()?;
    /// assert_eq!(sketches.cost(parse_epsilon("0.1")?, PrivacyUnit::Item)?.get(), 0.2);
    /// let mut released = sketches.release("publisher", parse_epsilon("0.1")?, PrivacyUnit::Item)?;
    /// let container = released.container().clone();
    /// let batch = released.next().ok_or("two groups fit in one batch")??;
    /// let answers = container.estimates(&batch, parse_confidence("0.95")?)?;
    /// assert_eq!(answers.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn release(self, column: &str, epsilon: Epsilon, unit: PrivacyUnit) -> Result<ReleasedGroups, Error> {
        let mut noise = NoiseRng::from_os()?;
        let mut name = [0; 16];
        noise.fill_bytes(&mut name);
        let study = self.study(epsilon, unit)?;
        let container = GroupContainer::new(
            study,
            column,
            self.listed,
            ReleaseId::from_bytes(name),
            self.order.iter().map(|number| self.keys.item(*number)),
        )?;
        let fields =
            vec![Field::new(column, self.keys.data_type(), false), Field::new(SKETCH_COLUMN, DataType::Binary, false)];
        Ok(ReleasedGroups {
            container,
            schema: Arc::new(Schema::new(fields)),
            hash: RecordedHash::new(self.hash.id()),
            keys: self.keys,
            cells: self.cells,
            order: self.order,
            done: 0,
            noise,
            epsilon,
            unit,
        })
    }
}

/// The released sketches, batch by batch: a column of the groups and a column of their sketches, each as its file would be.
pub struct ReleasedGroups {
    container: GroupContainer,
    schema: SchemaRef,
    hash: RecordedHash,
    keys: GroupKeys,
    cells: Vec<PcsaCells>,
    order: Vec<u32>,
    done: usize,
    noise: NoiseRng,
    epsilon: Epsilon,
    unit: PrivacyUnit,
}

/// What the table says about itself; groups that are still to come are raw.
impl core::fmt::Debug for ReleasedGroups {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ReleasedGroups").field("container", &self.container).finish_non_exhaustive()
    }
}

impl ReleasedGroups {
    /// What the table says about itself.
    #[must_use]
    pub fn container(&self) -> &GroupContainer {
        &self.container
    }

    /// The columns of the batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn batch(&mut self) -> Result<RecordBatch, Error> {
        let shape = self.container.study().shape();
        let crate::StudyShape::Sfm(shape) = shape;
        let groups = (BATCH_BYTES / (shape.cells() / 8 + 1)).clamp(1, BATCH_GROUPS);
        let end = self.order.len().min(self.done + groups);
        let mut sketches = Vec::with_capacity(end - self.done);
        for index in self.done..end {
            let number = self.order[index] as usize;
            let cells = std::mem::replace(&mut self.cells[number], PcsaCells::new(shape));
            let raw = PcsaSketch::from_cells(cells, self.hash.clone());
            // The books are kept by the caller.
            let permit = Permit::standalone(self.epsilon);
            let private = raw.release_with(Mechanism::Symmetric, self.unit.into(), permit, &mut self.noise)?;
            sketches.push(private.to_bytes());
        }
        let keys = self.keys.column(&self.order[self.done..end]);
        self.done = end;
        let sketches: ArrayRef = Arc::new(sketches.iter().map(Some).collect::<BinaryArray>());
        RecordBatch::try_new(self.schema.clone(), vec![keys, sketches])
            .map_err(|error| Error::new(ErrorKind::Internal, "the groups do not make a table").caused_by(error))
    }
}

impl Iterator for ReleasedGroups {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.done < self.order.len()).then(|| self.batch())
    }
}

/// The least ε whose booked amount covers so many times `epsilon`.
fn times(epsilon: Epsilon, groups: usize) -> Option<Epsilon> {
    let units = Amount::from_epsilon(epsilon).units().checked_mul(u128::try_from(groups).ok()?)?;
    let total = Amount::from_units(units);
    let mut level = total.nearest_f64();
    loop {
        let candidate = Epsilon::new(level).ok()?;
        if Amount::from_epsilon(candidate) >= total {
            return Some(candidate);
        }
        level = level.next_up();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_times_an_epsilon_is_never_rounded_down() {
        let epsilon = |value: f64| Epsilon::new(value).unwrap();
        for (level, groups, total) in [(0.1, 3, "0.3"), (0.1, 10, "1"), (1.0, 256, "256"), (0.7, 1, "0.7")] {
            let found = times(epsilon(level), groups).unwrap();
            assert_eq!(Amount::from_epsilon(found).to_string(), total);
        }
        for groups in 1..2000 {
            let level = epsilon(0.012_345_678_901_234_567);
            let exact = Amount::from_epsilon(level).units() * groups as u128;
            assert!(Amount::from_epsilon(times(level, groups).unwrap()).units() >= exact);
        }
        assert_eq!(times(epsilon(1.0), 257), None);
        assert_eq!(times(epsilon(1.0), usize::MAX), None);
    }
}
