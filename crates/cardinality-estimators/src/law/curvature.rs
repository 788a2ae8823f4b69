//! How the maximum bends when the masses of the blocks change.

use super::dense::Symmetric;
use super::{BlockLaw, LawFit};

/// `−∂²l/∂s∂s'`: with `M = A + diag(z/v)` at the solution and `E` the blocks' indicators, `(E' M⁻¹ E)⁻¹`.
pub(super) fn of(law: &BlockLaw, counts: &[f64], fixed: &[f64], masses: &[f64], fit: &LawFit) -> Vec<f64> {
    let number = law.blocks.len();
    let mut columns = Vec::new();
    let mut blocks = Vec::new();
    for (index, (block, &mass)) in law.block_ranges().zip(masses).enumerate() {
        if mass > 0.0 {
            let start = columns.len();
            columns.extend(block);
            blocks.push((index, start..columns.len()));
        }
    }
    let size = columns.len();
    let mut system = Symmetric::new(size);
    system.set_diagonal(columns.iter().map(|&column| {
        let (share, weight, slack) = (fit.shares[column], fit.weights[column], fit.slacks[column]);
        if slack > 0.0 { slack * share / (weight * weight) } else { 0.0 }
    }));
    for state in (0..law.states()).filter(|&state| counts[state] > 0.0) {
        let row = law.row(state);
        let f = fixed[state] + row.iter().zip(&fit.weights).map(|(entry, weight)| entry * weight).sum::<f64>();
        let scale = counts[state].sqrt() / f;
        let scaled: Vec<f64> = columns.iter().map(|&column| row[column] * scale).collect();
        system.add_gram(&scaled);
    }
    system.factor();
    let mut sums = Symmetric::new(blocks.len());
    sums.set_diagonal(core::iter::empty());
    for (column, (_, block)) in blocks.iter().enumerate() {
        let mut solution = vec![0.0; size];
        solution[block.clone()].fill(1.0);
        system.solve(&mut solution);
        for (row, (_, block)) in blocks.iter().enumerate().take(column + 1) {
            sums.add(row, column, solution[block.clone()].iter().sum());
        }
    }
    sums.factor();
    let mut curvature = vec![0.0; number * number];
    for (column, (to, _)) in blocks.iter().enumerate() {
        let mut solution = vec![0.0; blocks.len()];
        solution[column] = 1.0;
        sums.solve(&mut solution);
        for ((from, _), value) in blocks.iter().zip(solution) {
            curvature[from * number + to] = value;
        }
    }
    curvature
}
