//! How the estimates of the rows become one.

/// What to do with the row estimates of an item.
///
/// Every combiner keeps symmetry: where the errors of the rows are symmetric around 0, so is that of the answer.
///
/// | combiner | when |
/// |---|---|
/// | [`Median`](Self::Median) | the default: heavy items that collide in a few rows do not matter |
/// | [`Trimmed`](Self::Trimmed) | noise dominates by a wide margin (`σ² ≫ F₂/b`): up to 20 % less error than the median, but 10 to 40 % more where collisions of heavy items dominate |
/// | [`Mean`](Self::Mean) | comparison: on skewed data it has 5 to 25 times the error |
///
/// The choice is the caller's and never made silently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Combiner {
    /// The middle row estimate.
    #[default]
    Median,
    /// The mean of what is left without the ⌊k/4⌋ lowest and the ⌊k/4⌋ highest rows.
    Trimmed,
    /// The mean of all rows.
    Mean,
}

impl Combiner {
    /// How many of `rows` are left out at each end.
    ///
    /// # Examples
    /// ```
    /// use countsketch_dp::Combiner;
    /// let left_out = [Combiner::Median, Combiner::Trimmed, Combiner::Mean].map(|combiner| combiner.left_out(15));
    /// assert_eq!(left_out, [7, 3, 0]);
    /// ```
    #[must_use]
    pub const fn left_out(self, rows: usize) -> usize {
        match self {
            // An even number of values has two middle ones; taking either alone would break the symmetry.
            Self::Median => rows.saturating_sub(1) / 2,
            Self::Trimmed => rows / 4,
            Self::Mean => 0,
        }
    }

    /// The values combined; their order changes. 0 for no values.
    ///
    /// # Examples
    /// ```
    /// use countsketch_dp::Combiner;
    /// assert_eq!(Combiner::Median.combine(&mut [9, -1, 4]), 4.0);
    /// assert_eq!(Combiner::Median.combine(&mut [9, -1, 4, 6]), 5.0);
    /// assert_eq!(Combiner::Trimmed.combine(&mut [100, -1, 4, 5, 6]), 5.0);
    /// ```
    #[must_use]
    pub fn combine(self, values: &mut [i64]) -> f64 {
        let left_out = self.left_out(values.len());
        let last = values.len().saturating_sub(left_out + 1);
        if left_out > 0 {
            // Everything below `left_out` is left out, then everything above `last`.
            values.select_nth_unstable(left_out);
            values[left_out..].select_nth_unstable(last - left_out);
        }
        mean_of(values.get(left_out..=last).unwrap_or_default())
    }
}

/// The mean of integers, rounded once where their sum fits into 53 bits. 0 for none.
pub(crate) fn mean_of(values: &[i64]) -> f64 {
    match values {
        [] => 0.0,
        [value] => integer(*value),
        _ => wide(values.iter().map(|&value| i128::from(value)).sum()) / count(values.len()),
    }
}

/// The nearest `f64` of an integer.
#[expect(clippy::cast_precision_loss, reason = "answers are f64; a weight above 2^53 is rounded to the nearest")]
pub(crate) fn integer(value: i64) -> f64 {
    value as f64
}

/// The nearest `f64` of a wide integer.
#[expect(clippy::cast_precision_loss, reason = "answers are f64; a weight above 2^53 is rounded to the nearest")]
pub(crate) fn wide(value: i128) -> f64 {
    value as f64
}

/// A number of things in memory, far below 2^53.
#[expect(clippy::cast_precision_loss, reason = "2^53 things do not fit into memory")]
pub(crate) fn count(value: usize) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slow(combiner: Combiner, values: &[i64]) -> f64 {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let out = combiner.left_out(sorted.len());
        mean_of(&sorted[out..sorted.len() - out])
    }

    proptest! {
        #[test]
        fn selection_agrees_with_sorting(values in proptest::collection::vec(-50_i64..50, 1..40)) {
            for combiner in [Combiner::Median, Combiner::Trimmed, Combiner::Mean] {
                prop_assert_eq!(combiner.combine(&mut values.clone()).to_bits(), slow(combiner, &values).to_bits());
            }
        }

        #[test]
        fn negated_rows_give_the_negated_answer(values in proptest::collection::vec(-1_000_i64..1_000, 1..33)) {
            for combiner in [Combiner::Median, Combiner::Trimmed, Combiner::Mean] {
                let mut negated: Vec<i64> = values.iter().map(|value| -value).collect();
                let answer = combiner.combine(&mut values.clone());
                prop_assert!((answer + combiner.combine(&mut negated)).abs() <= 0.0);
            }
        }
    }

    #[test]
    fn extreme_cells_do_not_overflow() {
        assert!(Combiner::Mean.combine(&mut [i64::MAX; 255]) > 9.2e18);
        assert_eq!(Combiner::Mean.combine(&mut []).to_bits(), 0.0_f64.to_bits());
    }
}
