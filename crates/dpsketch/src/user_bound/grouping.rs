//! Rows of one user after another.

use core::fmt;

use sketch_hash::{DefaultHash, HashKey, Item};

use super::order::UserOrder;
use super::selection::UserHash;
use super::sorter::{Record, Sorter};
use super::{SpillSettings, UserBoundError};
use crate::error::Error;

/// Brings the rows of each user together, or watches that they are.
///
/// What comes out is the same for both ways: every record, those of a user together, each user once.
pub(crate) struct Grouping<R: Record> {
    user_hash: DefaultHash,
    mode: Mode<R>,
    rows: u64,
    refused: bool,
}

enum Mode<R: Record> {
    Sorted { order: UserOrder, current: Option<UserHash> },
    Spilling(Sorter<R>),
}

impl<R: Record> Grouping<R> {
    /// Rows of a user stand together: records come out at once.
    pub(crate) fn sorted(key: HashKey) -> Self {
        Self::new(Mode::Sorted { order: UserOrder::new(), current: None }, key)
    }

    /// Rows come in any order: records come out at the end, in order, those about one thing as one.
    pub(crate) fn spilling(key: HashKey, settings: SpillSettings) -> Result<Self, UserBoundError> {
        Ok(Self::new(Mode::Spilling(Sorter::new(settings.memory, settings.folder)?), key))
    }

    fn new(mode: Mode<R>, key: HashKey) -> Self {
        Self { user_hash: DefaultHash::new(key.derive("dpsketch user", 0)), mode, rows: 0, refused: false }
    }

    /// Takes one row, whose record is made from the hash of its user.
    pub(crate) fn push(
        &mut self,
        user: Item<'_>,
        record: impl FnOnce(UserHash) -> R,
        sink: impl FnOnce(R) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.check()?;
        self.rows += 1;
        let hash = user.hash128(&self.user_hash);
        let done = match &mut self.mode {
            Mode::Sorted { current, .. } if *current == Some(hash) => sink(record(hash)),
            Mode::Sorted { order, current } => order.start(user, hash, self.rows).map_err(Error::from).and_then(|()| {
                *current = Some(hash);
                sink(record(hash))
            }),
            Mode::Spilling(sorter) => sorter.push(record(hash)),
        };
        self.refused = done.is_err();
        done
    }

    /// Passes over rows that have no user or no item.
    pub(crate) fn skip(&mut self, rows: u64) {
        self.rows += rows;
    }

    /// Rows seen so far.
    pub(crate) const fn rows(&self) -> u64 {
        self.rows
    }

    /// Gives all that is left to `sink`; the number of rows.
    pub(crate) fn finish(self, mut sink: impl FnMut(R) -> Result<(), Error>) -> Result<u64, Error> {
        self.check()?;
        let mut done = Ok(());
        if let Mode::Spilling(sorter) = self.mode {
            sorter.finish(|record| {
                if done.is_ok() {
                    done = sink(record);
                }
            })?;
        }
        done.map(|()| self.rows)
    }

    fn check(&self) -> Result<(), UserBoundError> {
        if self.refused { Err(UserBoundError::RefusedBefore) } else { Ok(()) }
    }

    /// How far it has come; no user.
    pub(crate) fn describe<'a, 'b>(&self, mut into: fmt::DebugStruct<'a, 'b>) -> fmt::DebugStruct<'a, 'b> {
        into.field("sorted", &matches!(self.mode, Mode::Sorted { .. })).field("rows", &self.rows);
        into
    }
}
