//! How large a user's own part of a sketch is: what clipping in the sketch would cut.

use countsketch_dp::{CountSketchShape, RowHashes};
use dp_noise::rand_core::Rng;
use sketch_hash::KeyedHash;

use super::{AccuracyError, Plan};
use crate::frequency::{FrequencyError, hash_from, mean_and_std_error, quantile};
use crate::number;
use crate::simulate::repeat;

pub(super) const USERS: u32 = 20_000;
/// Width, rows and items of a user, with the ratios that 99 % and 99.9 % of users do not exceed.
const ROWS: [((u32, u8, u32), [f64; 2]); 4] = [
    ((1024, 5, 10), [1.020, 1.039]),
    ((1024, 5, 100), [1.020, 1.031]),
    ((1024, 15, 30), [1.013, 1.017]),
    ((16_384, 15, 100), [1.003, 1.005]),
];
/// How far a quantile may be off: the norms of few items take few values, and their quantiles jump.
const TOLERANCE: f64 = 0.006;

/// The rows of the table, and a sentence for each that is not as it should be.
pub(super) fn lines(plan: &Plan) -> Result<(Vec<String>, Vec<String>), AccuracyError> {
    let (mut lines, mut violations) = (Vec::new(), Vec::new());
    for (seed, ((width, rows, items), known)) in (plan.seed + 200..).zip(ROWS) {
        let shape = CountSketchShape::new(rows, width).map_err(AccuracyError::parameter)?;
        let mut squares = repeat(
            (USERS, seed, plan.threads),
            || (),
            |(), random| {
                let hash = hash_from(random);
                let keys: Vec<u64> = (0..items).map(|_| random.next_u64()).collect();
                Ok::<_, FrequencyError>(squared_norm(&RowHashes::new(shape, hash.id()), &keys))
            },
        )?;
        squares.sort_by(f64::total_cmp);
        let (mean, std_error) = mean_and_std_error(&squares);
        let found = [0.99, 0.999].map(|share| quantile(&squares, share).sqrt());
        let title = format!("{width} | {rows} | {items}");
        lines.push(format!(
            "| {title} | {:.2} | {:.3} | {:.3} | {mean:.4} | 1 |",
            f64::from(items).sqrt(),
            found[0],
            found[1]
        ));
        // Every row's expectation is the squared norm of the vector itself.
        if (mean - 1.0).abs() > 4.9 * std_error {
            violations.push(format!("{title}: mean square {mean:.5} ± {std_error:.5}, not 1"));
        }
        if found.iter().zip(known).any(|(found, known)| (found - known).abs() > TOLERANCE) {
            violations.push(format!("{title}: quantiles {found:?}, not {known:?}"));
        }
    }
    Ok((lines, violations))
}

/// `‖CS(v)‖²/(k m)` for the sum v of the keys.
fn squared_norm(rows: &RowHashes, keys: &[u64]) -> f64 {
    let mut sum = 0;
    for row in 0..rows.len() {
        let mut cells: Vec<(usize, i64)> = keys.iter().map(|&key| rows.bucket_and_sign(row, key)).collect();
        cells.sort_unstable();
        for cell in cells.chunk_by(|a, b| a.0 == b.0) {
            sum += cell.iter().map(|(_, sign)| sign).sum::<i64>().unsigned_abs().pow(2);
        }
    }
    number::to_f64(sum) / number::length(rows.len() * keys.len())
}
