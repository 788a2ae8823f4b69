//! What the releases behind an answer cost.

use std::collections::BTreeSet;

use dp_noise::Amount;
use f0_sketch::Leaf;
use sfm_pcsa::Unit;

use super::convert::unit_of;

/// Costs and units of the releases in some sketches.
pub(crate) struct F0Totals {
    /// The largest ε of one release.
    pub(crate) epsilon: Option<Amount>,
    /// Their sum; none where some protect items and others users, which do not add up.
    pub(crate) epsilon_total: Option<Amount>,
    /// Whom they protect, each unit once.
    pub(crate) units: Vec<Unit>,
    /// Releases; of raw sketches, the sketches.
    pub(crate) sketches: usize,
}

impl F0Totals {
    pub(super) fn of_leaves<'a>(leaves: impl IntoIterator<Item = &'a Leaf>) -> Self {
        let (mut epsilon, mut sum, mut units, mut sketches) = (None, Some(Amount::ZERO), BTreeSet::new(), 0);
        for leaf in leaves {
            let cost = Amount::from_epsilon(leaf.epsilon());
            epsilon = epsilon.max(Some(cost));
            sum = sum.and_then(|sum| sum.checked_add(cost));
            units.insert(unit_of(leaf.unit()));
            sketches += 1;
        }
        let mixed = units.contains(&Unit::Item) && units.len() > 1;
        Self { epsilon, epsilon_total: sum.filter(|_| !mixed), units: units.into_iter().collect(), sketches }
    }

    /// Of raw sketches, which cost nothing yet.
    pub(super) const fn of_raw(sketches: usize) -> Self {
        Self { epsilon: None, epsilon_total: None, units: Vec::new(), sketches }
    }
}
