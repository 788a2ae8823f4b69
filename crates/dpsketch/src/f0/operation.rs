//! What a row does to a set.

use sketch_hash::Item;

/// What a row of a stream of changes does with its item.
///
/// Both toggle the item's cell: that is what makes a delete the exact inverse of an insert, and it is why deleting an item
/// that is absent inserts it, and inserting one that is there deletes it.
///
/// # Examples
/// ```
/// use dpsketch::Operation;
///
/// assert_eq!(Operation::parse("insert"), Some(Operation::Insert));
/// assert_eq!(Operation::parse(" - "), Some(Operation::Delete));
/// assert_eq!(Operation::parse("update"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The item comes into the set.
    Insert,
    /// The item leaves the set.
    Delete,
}

/// The words of each operation.
const WORDS: [(&str, Operation); 6] = [
    ("+", Operation::Insert),
    ("insert", Operation::Insert),
    ("add", Operation::Insert),
    ("-", Operation::Delete),
    ("delete", Operation::Delete),
    ("remove", Operation::Delete),
];

impl Operation {
    /// The words that [`parse`](Self::parse) knows, for messages.
    pub const ALLOWED: &str = "+ or -, insert or delete, add or remove";

    /// Reads one of the words `+`, `insert`, `add`, `-`, `delete` and `remove`, in any case and with white space around.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, operation)| *operation)
    }

    /// As [`parse`](Self::parse) for a value of a column; only text has operations.
    pub(super) fn of(item: &Item<'_>) -> Option<Self> {
        if let Item::Text(text) = item { Self::parse(text) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_words_are_known_in_any_case_and_nothing_else_is() {
        for (text, operation) in [("+", Operation::Insert), ("Add", Operation::Insert), ("INSERT\t", Operation::Insert)]
            .into_iter()
            .chain([("-", Operation::Delete), (" remove", Operation::Delete), ("Delete", Operation::Delete)])
        {
            assert_eq!(Operation::parse(text), Some(operation), "{text:?}");
        }
        for text in ["", " ", "++", "+1", "-1", "1", "ins", "inserted", "\u{2212}", "true"] {
            assert_eq!(Operation::parse(text), None, "{text:?}");
        }
        assert_eq!(Operation::of(&Item::Integer(1)), None);
        assert_eq!(Operation::of(&Item::Boolean(true)), None);
    }
}
