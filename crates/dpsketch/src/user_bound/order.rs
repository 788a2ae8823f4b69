//! Noticing a user that comes back after another.

use core::cmp::Ordering;
use std::collections::HashSet;

use sketch_hash::Item;
use zeroize::Zeroizing;

use super::UserBoundError;
use super::selection::UserHash;

/// How many users are remembered one by one, about 64 MiB of them.
const REMEMBERED: usize = 1 << 20;

/// Watches the users of consecutive groups of rows and refuses one that had a group before.
///
/// The first users are remembered by their hash, so that any input in which the rows of a user stand together will do.
/// Once they are too many, the values have to be in order: a strictly rising or falling sequence has no repeats.
pub(super) struct UserOrder {
    limit: usize,
    /// `None` once there were too many.
    remembered: Option<HashSet<UserHash>>,
    values: Monotone,
}

impl UserOrder {
    pub(super) fn new() -> Self {
        Self::remembering(REMEMBERED)
    }

    fn remembering(limit: usize) -> Self {
        Self { limit, remembered: Some(HashSet::new()), values: Monotone::default() }
    }

    /// Takes note of the user whose rows start at `row`.
    pub(super) fn start(&mut self, user: Item<'_>, hash: UserHash, row: u64) -> Result<(), UserBoundError> {
        let in_order = self.values.next(user);
        if let Some(users) = &mut self.remembered {
            if !users.insert(hash) {
                return Err(UserBoundError::UserReturned { row });
            }
            if users.len() <= self.limit {
                return Ok(());
            }
            self.remembered = None;
        }
        if in_order { Ok(()) } else { Err(UserBoundError::NotSorted { row, remembered: self.limit }) }
    }
}

/// Whether a sequence of values is strictly rising or falling in one of the usual orders.
///
/// Numbers are compared by value. Text is compared by its bytes, as `sort` in the C locale and databases do, and also by its
/// length first, which is the order of whole numbers written in digits.
#[derive(Default)]
struct Monotone {
    last: Option<Value>,
    plain: Direction,
    by_length: Direction,
}

/// What is compared. Values of different kinds have no order; nor have floating-point numbers, which nobody is named by.
#[derive(PartialEq, Eq)]
enum Value {
    Bytes(Zeroizing<Vec<u8>>),
    Number { kind: Kind, value: i128 },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Boolean,
    Date,
    Timestamp { zoned: bool },
    Decimal { scale: i8 },
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Direction {
    #[default]
    Open,
    Always(Ordering),
    Broken,
}

impl Direction {
    fn saw(&mut self, step: Ordering) {
        *self = match *self {
            _ if step == Ordering::Equal => Self::Broken,
            Self::Open => Self::Always(step),
            Self::Always(before) if before == step => *self,
            _ => Self::Broken,
        };
    }
}

impl Monotone {
    /// Takes the next value; whether the sequence is still in order.
    fn next(&mut self, item: Item<'_>) -> bool {
        if self.is_broken() {
            return false;
        }
        let next = Value::of(item);
        match (&self.last, &next) {
            (None, Some(_)) => {}
            (Some(Value::Bytes(last)), Some(Value::Bytes(next))) => {
                let order = last.as_slice().cmp(next.as_slice());
                self.plain.saw(order);
                self.by_length.saw(last.len().cmp(&next.len()).then(order));
            }
            (Some(Value::Number { kind: a, value: last }), Some(Value::Number { kind: b, value: next })) if a == b => {
                self.plain.saw(last.cmp(next));
                self.by_length = Direction::Broken;
            }
            _ => (self.plain, self.by_length) = (Direction::Broken, Direction::Broken),
        }
        self.last = next;
        !self.is_broken()
    }

    fn is_broken(&self) -> bool {
        (self.plain, self.by_length) == (Direction::Broken, Direction::Broken)
    }
}

impl Value {
    fn of(item: Item<'_>) -> Option<Self> {
        let (kind, value) = match item {
            Item::Text(text) => return Some(Self::Bytes(Zeroizing::new(text.as_bytes().to_vec()))),
            Item::Binary(bytes) => return Some(Self::Bytes(Zeroizing::new(bytes.to_vec()))),
            Item::Integer(value) => (Kind::Integer, value),
            Item::Boolean(value) => (Kind::Boolean, i128::from(value)),
            Item::Date(days) => (Kind::Date, i128::from(days)),
            Item::Timestamp { nanos, zoned } => (Kind::Timestamp { zoned }, nanos),
            Item::Decimal { unscaled, scale } => (Kind::Decimal { scale }, unscaled),
            _ => return None,
        };
        Some(Self::Number { kind, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_hash(text: &str) -> UserHash {
        let mut bytes = [0; 16];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        [u64::from_le_bytes(bytes[..8].try_into().unwrap()), u64::from_le_bytes(bytes[8..].try_into().unwrap())]
    }

    /// The first refusal when each text starts a new group.
    fn refusal(limit: usize, users: &[&str]) -> Option<UserBoundError> {
        let mut order = UserOrder::remembering(limit);
        let mut rows = 1..;
        users.iter().zip(&mut rows).find_map(|(user, row)| order.start(Item::Text(user), text_hash(user), row).err())
    }

    #[test]
    fn few_users_may_come_in_any_order_but_only_once() {
        assert_eq!(refusal(10, &["b", "a", "c", "aa"]), None);
        assert_eq!(refusal(10, &["b", "a", "c", "a"]), Some(UserBoundError::UserReturned { row: 4 }));
    }

    #[test]
    fn many_users_must_be_in_order() {
        assert_eq!(refusal(2, &["a", "b", "c", "d", "da"]), None);
        assert_eq!(refusal(2, &["d", "c", "b", "a"]), None);
        assert_eq!(refusal(2, &["8", "9", "10", "11", "100"]), None, "whole numbers as text");
        let refused = |row| Some(UserBoundError::NotSorted { row, remembered: 2 });
        assert_eq!(refusal(2, &["a", "b", "c", "a"]), refused(4));
        assert_eq!(refusal(2, &["b", "a", "c", "d"]), refused(3), "the order was lost before");
    }

    #[test]
    fn a_sequence_in_order_never_repeats_a_value() {
        // All sequences of length 5 over 3 values: whatever is accepted beyond the memory has no repeats.
        let values = ["1", "2", "10"];
        for code in 0..3_usize.pow(5) {
            let users: Vec<&str> = (0..5).map(|place| values[code / 3_usize.pow(place) % 3]).collect();
            let groups: Vec<&str> =
                users.iter().enumerate().filter(|(i, u)| *i == 0 || users[i - 1] != **u).map(|(_, u)| *u).collect();
            let distinct: HashSet<_> = groups.iter().collect();
            if distinct.len() < groups.len() {
                assert!(refusal(0, &groups).is_some() && refusal(10, &groups).is_some(), "{groups:?}");
            }
        }
    }

    #[test]
    fn kinds_without_a_common_order_count_as_unsorted() {
        let mut values = Monotone::default();
        assert!(values.next(Item::Integer(1)));
        assert!(values.next(Item::Integer(2)));
        assert!(!values.next(Item::Text("3")));
        assert!(!values.next(Item::Text("4")));
        assert!(!Monotone::default().next(Item::Float(1.0)));
    }
}
