//! Errors of the default estimate of a tally in an independent implementation: our float prototype (Python and C), with 150,
//! 200 and 70 trials a main row of 2, 8 and 32 releases, and 10 to 200 a row of the others.

use crate::simulate::Overlap;

/// The root mean square relative errors at ε = 1, 2 and 4 of a million items in so many sets.
pub(super) struct Known {
    pub(super) sketches: u32,
    pub(super) overlap: Overlap,
    pub(super) errors: [f64; 3],
}

const fn known(sketches: u32, overlap: Overlap, errors: [f64; 3]) -> Known {
    Known { sketches, overlap, errors }
}

/// What errors are measured against.
pub(super) const MAIN: &[Known] = &[
    known(2, Overlap::Disjoint, [0.025, 0.0134, 0.0083]),
    known(2, Overlap::Half, [0.034, 0.0154, 0.0109]),
    known(2, Overlap::Same, [0.030, 0.0129, 0.0106]),
    known(8, Overlap::Disjoint, [0.022, 0.0097, 0.0051]),
    known(8, Overlap::Half, [0.050, 0.0172, 0.0100]),
    known(8, Overlap::Same, [0.029, 0.0129, 0.0103]),
    known(32, Overlap::Disjoint, [0.022, 0.0110, 0.0039]),
    known(32, Overlap::Half, [0.092, 0.030, 0.0131]),
    known(32, Overlap::Same, [0.050, 0.021, 0.0115]),
];

/// Less usual overlaps, of which only coverage has a rule: for 32 releases ten trials tell errors roughly.
pub(super) const MORE: &[Known] = &[
    known(8, Overlap::Share90, [0.044, 0.021, 0.0110]),
    known(8, Overlap::One75, [0.129, 0.031, 0.0143]),
    known(8, Overlap::Subset, [0.160, 0.023, 0.0118]),
    known(8, Overlap::PowerLaw, [0.113, 0.028, 0.0125]),
    known(8, Overlap::HalfPowerLaw, [0.054, 0.0196, 0.0156]),
    known(8, Overlap::Sizes15, [0.085, 0.023, 0.0106]),
    known(8, Overlap::Nested, [0.085, 0.025, 0.0121]),
    known(8, Overlap::Pairs, [0.127, 0.025, 0.0132]),
    known(8, Overlap::HalfPairs, [0.109, 0.0157, 0.0148]),
    known(32, Overlap::Share90, [0.071, 0.034, 0.0107]),
    known(32, Overlap::One75, [0.232, 0.089, 0.0177]),
    known(32, Overlap::Subset, [0.587, 0.093, 0.0183]),
    known(32, Overlap::PowerLaw, [0.312, 0.114, 0.021]),
    known(32, Overlap::HalfPowerLaw, [0.072, 0.038, 0.0180]),
    known(32, Overlap::Sizes15, [0.146, 0.091, 0.0126]),
    known(32, Overlap::Nested, [0.209, 0.054, 0.0154]),
    known(32, Overlap::Pairs, [0.193, 0.185, 0.023]),
    known(32, Overlap::HalfPairs, [0.178, 0.059, 0.0103]),
];
