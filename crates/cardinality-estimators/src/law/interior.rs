//! The primal-dual interior point method.
//!
//! With slopes `g = K'(H/f)`, curvature `A = K' diag(H/f²) K`, slacks `z ≥ 0` and a multiplier `ν_b` a block, a step solves
//!
//! ```text
//! (A + diag(z/u))·du = g + μ/u − ν    with  Σ_{m ∈ b} du_m = 0,      dz = (μ − z·du)/u − z
//! ```
//!
//! by one Cholesky factor and one right-hand side more than there are blocks. `du` points upwards on `l + μ Σ ln u`, so a
//! step that is halved often enough never falls, and every iterate is feasible.

use super::dense::{Symmetric, add_one, dot};
use super::problem::Problem;

/// Steps before giving up, a quarter of them from a start near by; eight to fifteen are usual.
const MAX_STEPS: usize = 80;
/// What a start near by is taken to miss.
const NEAR: f64 = 1.0;
/// The share of the way to the boundary that a step may go.
const BOUNDARY: f64 = 0.995;

/// Where the method stands.
#[derive(Clone, Debug)]
pub(super) struct Inside {
    pub(super) shares: Vec<f64>,
    pub(super) slacks: Vec<f64>,
    pub(super) gap: f64,
    pub(super) steps: usize,
}

/// Solves to `tolerance`, from the middle or from the shares and slacks of a solution near by (of all columns).
pub(super) fn solve(problem: &Problem<'_>, tolerance: f64, near: Option<(&[f64], &[f64])>) -> Inside {
    if near.is_some() {
        let inside = walk(problem, tolerance, near);
        if inside.gap <= tolerance {
            return inside;
        }
        // The start was not near enough.
        let afresh = walk(problem, tolerance, None);
        return Inside { steps: inside.steps + afresh.steps, ..if afresh.gap <= inside.gap { afresh } else { inside } };
    }
    walk(problem, tolerance, near)
}

fn walk(problem: &Problem<'_>, tolerance: f64, near: Option<(&[f64], &[f64])>) -> Inside {
    let mut path = Path::new(problem, near);
    let mut best = path.here.clone();
    let most = if near.is_some() { MAX_STEPS / 4 } else { MAX_STEPS };
    for _ in 0..most {
        path.slopes();
        if path.here.gap < best.gap {
            best.clone_from(&path.here);
        }
        if best.gap <= tolerance || path.problem.free.is_empty() || !path.step() {
            break;
        }
        path.here.steps += 1;
    }
    best.steps = path.here.steps;
    best
}

struct Path<'a> {
    problem: &'a Problem<'a>,
    here: Inside,
    started: bool,
    probabilities: Vec<f64>,
    /// `g` in shares.
    slope: Vec<f64>,
    /// `Σ u·g` over each block.
    level: Vec<f64>,
    scaled: Vec<f64>,
    system: Symmetric,
    directions: Vec<Vec<f64>>,
}

impl<'a> Path<'a> {
    fn new(problem: &'a Problem<'a>, near: Option<(&[f64], &[f64])>) -> Self {
        let size = problem.free.len();
        let mut shares = vec![0.0; size];
        let mut slacks = vec![0.0; size];
        let mut started = false;
        for block in &problem.blocks {
            let middle = 1.0 / crate::number::to_f64(block.len() as u64);
            shares[block.clone()].fill(middle);
        }
        if let Some((near_shares, near_slacks)) = near.filter(|(shares, slacks)| shares.len() == slacks.len()) {
            started = true;
            // Back on the central path: what is 0 there may be more here.
            let product = NEAR / crate::number::to_f64(size.max(1) as u64);
            for (at, &column) in problem.free.iter().enumerate() {
                let share = near_shares.get(column).copied().unwrap_or(0.0);
                let slack = near_slacks.get(column).copied().unwrap_or(0.0);
                slacks[at] = if share > 0.0 { slack.max(product / share) } else { slack.max(product / shares[at]) };
                shares[at] = share.max((product / slacks[at]).min(shares[at]));
            }
        }
        let mut here = Self {
            problem,
            here: Inside { shares, slacks, gap: f64::INFINITY, steps: 0 },
            started,
            probabilities: Vec::new(),
            slope: vec![0.0; size],
            level: vec![0.0; problem.blocks.len()],
            scaled: Vec::with_capacity(problem.rows.len()),
            system: Symmetric::new(size),
            directions: vec![vec![0.0; size]; problem.blocks.len() + 1],
        };
        here.normalise();
        here
    }

    /// Every block adds up to 1 again.
    fn normalise(&mut self) {
        for block in &self.problem.blocks {
            let shares = &mut self.here.shares[block.clone()];
            let unit = shares.iter().sum::<f64>().recip();
            for share in shares.iter_mut() {
                *share *= unit;
            }
        }
    }

    /// Slopes, and the certificate.
    fn slopes(&mut self) {
        let problem = self.problem;
        problem.probabilities(&self.here.shares, &mut self.probabilities);
        self.slope.fill(0.0);
        if problem.free.is_empty() {
            self.here.gap = 0.0;
            return;
        }
        let rows = problem.rows.chunks_exact(problem.free.len());
        for ((row, count), f) in rows.zip(&problem.counts).zip(&self.probabilities) {
            add_one(&mut self.slope, row, count / f);
        }
        let mut gap = 0.0;
        for (block, level) in problem.blocks.iter().zip(&mut self.level) {
            let slope = &self.slope[block.clone()];
            *level = dot(slope, &self.here.shares[block.clone()]);
            gap += slope.iter().copied().fold(f64::NEG_INFINITY, f64::max) - *level;
        }
        self.here.gap = if gap.is_nan() { f64::INFINITY } else { gap.max(0.0) };
        if !self.started {
            self.start();
        }
    }

    /// Slacks of the first point: positive, and no smaller than the certificate asks for.
    fn start(&mut self) {
        self.started = true;
        for (block, level) in self.problem.blocks.iter().zip(&self.level) {
            let slope = &self.slope[block.clone()];
            let top = slope.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let above = top + (top - level).max(1e-6 * level.abs()).max(1e-9);
            for (slack, slope) in self.here.slacks[block.clone()].iter_mut().zip(slope) {
                *slack = above - slope;
            }
        }
    }

    /// One step; false when none is possible.
    fn step(&mut self) -> bool {
        let problem = self.problem;
        let size = crate::number::to_f64(problem.free.len() as u64);
        // Slacks of a start near by may be 0: the certificate says how far there is to go.
        let far = 0.1 * self.here.gap.min(1e12) / size;
        for (slack, share) in self.here.slacks.iter_mut().zip(&self.here.shares) {
            *slack = slack.clamp(1e-6 * far / share, 1e12 * far / share);
        }
        let barrier = 0.1 * (dot(&self.here.shares, &self.here.slacks) / size).min(10.0 * far);
        self.directions(barrier);
        let (direction, _) = self.directions.split_at(1);
        let direction = &direction[0];
        if direction.iter().any(|x| !x.is_finite()) {
            return false;
        }
        let mut stride = 1.0_f64;
        for (share, change) in self.here.shares.iter().zip(direction) {
            if *change < 0.0 {
                stride = stride.min(-BOUNDARY * share / change);
            }
        }
        let height = |shares: &[f64], probabilities: &[f64]| {
            problem.log_likelihood(probabilities) + barrier * shares.iter().map(|share| share.ln()).sum::<f64>()
        };
        let before = height(&self.here.shares, &self.probabilities);
        let mut shares = vec![0.0; direction.len()];
        for _ in 0..30 {
            for (new, (share, change)) in shares.iter_mut().zip(self.here.shares.iter().zip(direction)) {
                *new = share + stride * change;
            }
            problem.probabilities(&shares, &mut self.probabilities);
            let after = height(&shares, &self.probabilities);
            if after >= before - 1e-13 * before.abs() {
                self.move_to(shares, barrier);
                return true;
            }
            stride *= 0.5;
        }
        false
    }

    fn move_to(&mut self, shares: Vec<f64>, barrier: f64) {
        let direction = &self.directions[0];
        let here = &mut self.here;
        let change = |(slack, (share, change)): (&f64, (&f64, &f64))| (barrier - slack * change) / share - slack;
        let changes: Vec<f64> = here.slacks.iter().zip(here.shares.iter().zip(direction)).map(change).collect();
        let mut stride = 1.0_f64;
        for (slack, change) in here.slacks.iter().zip(&changes) {
            if *change < 0.0 {
                stride = stride.min(-BOUNDARY * slack / change);
            }
        }
        here.slacks.iter_mut().zip(&changes).for_each(|(slack, change)| *slack += stride * change);
        here.shares = shares;
        self.normalise();
    }

    /// The step in shares as the first direction; the others are what the multipliers need.
    fn directions(&mut self, barrier: f64) {
        let problem = self.problem;
        let (shares, slacks) = (&self.here.shares, &self.here.slacks);
        self.system.set_diagonal(shares.iter().zip(slacks).map(|(share, slack)| slack / share));
        self.scaled.clear();
        let rows = problem.rows.chunks_exact(problem.free.len());
        for ((row, count), f) in rows.zip(&problem.counts).zip(&self.probabilities) {
            let scale = count.sqrt() / f;
            self.scaled.extend(row.iter().map(|entry| entry * scale));
        }
        self.system.add_gram(&self.scaled);
        self.system.factor();
        let (first, others) = self.directions.split_at_mut(1);
        for (block, level) in problem.blocks.iter().zip(&self.level) {
            for at in block.clone() {
                first[0][at] = self.slope[at] - level + barrier / shares[at];
            }
        }
        self.system.solve(&mut first[0]);
        for (block, other) in problem.blocks.iter().zip(others.iter_mut()) {
            other.fill(0.0);
            other[block.clone()].fill(1.0);
            self.system.solve(other);
        }
        let multipliers = balance(&problem.blocks, &first[0], others);
        for (multiplier, other) in multipliers.iter().zip(others.iter()) {
            add_one(&mut first[0], other, -multiplier);
        }
    }
}

/// The multipliers with which every block of the step adds up to 0.
fn balance(blocks: &[core::ops::Range<usize>], step: &[f64], others: &[Vec<f64>]) -> Vec<f64> {
    let mut sums = Symmetric::new(blocks.len());
    sums.set_diagonal(core::iter::empty());
    let mut right: Vec<f64> = blocks.iter().map(|block| step[block.clone()].iter().sum()).collect();
    for (row, block) in blocks.iter().enumerate() {
        for (column, other) in others.iter().enumerate().skip(row) {
            sums.add(row, column, other[block.clone()].iter().sum());
        }
    }
    sums.factor();
    sums.solve(&mut right);
    right
}
