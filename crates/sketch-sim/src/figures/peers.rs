//! `HyperLogLog` of Apache `DataSketches` beside, without privacy.

use datasketches::hll::{HllSketch, HllType};
use dp_noise::rand_core::Rng;

use super::{Effort, FigureError};
use crate::number;
use crate::simulate::in_parallel;

/// log₂ of the registers: as many as the default sketch has buckets.
const LG_REGISTERS: u8 = 12;

/// Items from which on the theory of [`hll_theory`] holds: below, registers are sparse and the error smaller.
pub(super) const HLL_HOLDS_FROM: f64 = 1e5;

/// The relative standard error of the running (HIP) estimate of 4096 registers, `√(ln 2/4096)` \[T14\].
pub(super) fn hll_theory() -> f64 {
    (std::f64::consts::LN_2 / 4096.0).sqrt()
}

/// The root mean square relative error of sketches of `n` distinct items.
pub(super) fn hll_error(n: u64, trials: u32, seed: u64, effort: &Effort) -> Result<f64, FigureError> {
    let empty = HllSketch::new(LG_REGISTERS, HllType::Hll8).map_err(FigureError::parameter)?;
    let squares = in_parallel(
        (trials, seed, effort.threads),
        || (),
        |(), random| {
            let mut sketch = empty.clone();
            for _ in 0..n {
                sketch.update(random.next_u64());
            }
            Ok((sketch.estimate() / number::to_f64(n) - 1.0).powi(2))
        },
    )?;
    Ok((squares.iter().sum::<f64>() / f64::from(trials)).sqrt())
}
