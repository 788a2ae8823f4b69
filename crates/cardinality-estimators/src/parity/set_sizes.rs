//! Set algebra by plugging in: sizes of combinations from three estimates.

/// The sizes of all combinations of two sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetSizes {
    /// `(a + b − d)/2` as it came out. Far below 0 it signals bad luck, or sketches that do not belong together.
    pub intersection_raw: f64,
    /// The items in both, within `0 ..= min(a, b)`.
    pub intersection: f64,
    /// The items in at least one.
    pub union: f64,
    /// The items of the first set that are not in the second.
    pub only_first: f64,
    /// The items of the second set that are not in the first.
    pub only_second: f64,
    /// The share of the union that is in both; `None` of an empty union.
    pub jaccard: Option<f64>,
}

impl SetSizes {
    /// From `a = |A|`, `b = |B|` and `d = |A △ B|`: `both = (a + b − d)/2` clamped to `0 ..= min(a, b)`, and everything
    /// else from `a`, `b` and that.
    ///
    /// # Examples
    /// ```
    /// use cardinality_estimators::parity::SetSizes;
    /// let sizes = SetSizes::from_symmetric_difference(1000.0, 800.0, 600.0);
    /// assert_eq!((sizes.intersection, sizes.union), (600.0, 1200.0));
    /// assert_eq!(sizes.jaccard, Some(0.5));
    /// ```
    #[must_use]
    pub fn from_symmetric_difference(first: f64, second: f64, difference: f64) -> Self {
        Self::from_intersection(first, second, (first + second - difference) / 2.0)
    }

    /// From `a`, `b` and `u = |A ∪ B|`, which is what two pre-sampled sketches tell: `both = a + b − u`, clamped likewise.
    #[must_use]
    pub fn from_union(first: f64, second: f64, union: f64) -> Self {
        Self::from_intersection(first, second, first + second - union)
    }

    fn from_intersection(first: f64, second: f64, raw: f64) -> Self {
        let both = raw.min(first).min(second).max(0.0);
        let union = first + second - both;
        Self {
            intersection_raw: raw,
            intersection: both,
            union,
            only_first: (first - both).max(0.0),
            only_second: (second - both).max(0.0),
            jaccard: (union > 0.0).then(|| both / union),
        }
    }
}
