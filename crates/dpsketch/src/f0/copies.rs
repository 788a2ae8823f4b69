//! Raw sets that cancel.

use f0_sketch::{F0Sketch, Set};

use super::any::AnyF0Sketch;
use super::raw::{RawF0Sketch, RawMode};
use crate::any::AnySketch;
use crate::raw::RecordedHash;
use crate::subsampled::AnySubsampled;

type RawF0 = F0Sketch<Set, RecordedHash>;

/// Two raw F0 sketches of mode `set` that hold the same set, by their names: copies of one file, or sketches of equal data. What they
/// share cancels, which is the right answer about their symmetric difference, and seldom what was meant by naming a file twice.
/// Of sketches of samples only copies of one file are found.
///
/// # Examples
/// ```
/// use dpsketch::f0_sketch::F0Shape;
/// use dpsketch::sketch_hash::{AnyHash, Item};
/// use dpsketch::{AnySketch, F0Builder, F0Terms, TextRules, equal_raw_sets};
///
/// let set = |name: &str| -> Result<AnySketch, dpsketch::Error> {
///     let terms = F0Terms::unit(F0Shape::DEFAULT);
///     let mut builder = F0Builder::operations(terms, AnyHash::default(), TextRules::default());
///     builder.push_row_with([Some(Item::from(name))], None, Some(Item::from("+")))?;
///     Ok(builder.finish()?.0.into())
/// };
/// let named = [("a".to_owned(), set("ann")?), ("b".to_owned(), set("bob")?), ("c".to_owned(), set("ann")?)];
/// assert_eq!(equal_raw_sets(&named), Some(("a", "c")));
/// # Ok::<(), dpsketch::Error>(())
/// ```
#[must_use]
pub fn equal_raw_sets(sketches: &[(String, AnySketch)]) -> Option<(&str, &str)> {
    let raws: Vec<(&str, &RawF0)> = sketches
        .iter()
        .filter_map(|(name, sketch)| match sketch {
            AnySketch::F0(AnyF0Sketch::Raw(RawF0Sketch(RawMode::Set(raw)))) => Some((name.as_str(), raw)),
            _ => None,
        })
        .collect();
    let whole = first_pair(&raws, |a, b| a.same_cells(b) && !a.is_zero());
    whole.or_else(|| {
        let samples: Vec<(&str, &AnySubsampled)> = sketches
            .iter()
            .filter_map(|(name, sketch)| match sketch {
                AnySketch::Subsampled(sample) => Some((name.as_str(), sample)),
                _ => None,
            })
            .collect();
        first_pair(&samples, AnySubsampled::is_copied_set)
    })
}

/// The first of which an earlier one is alike, and that one.
fn first_pair<'a, T>(named: &[(&'a str, &T)], alike: impl Fn(&T, &T) -> bool) -> Option<(&'a str, &'a str)> {
    named.iter().enumerate().find_map(|(place, (name, own))| {
        let (first, _) = named.iter().take(place).find(|(_, other)| alike(own, other))?;
        Some((*first, *name))
    })
}
