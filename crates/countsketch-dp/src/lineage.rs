//! Where a private sketch comes from: the releases in it, and how their costs add up.

use dp_noise::Neighbouring;

use crate::leaf::{Leaf, PrivacyCost, ReleaseId, first_repeated};

/// The most releases that one sketch may hold.
pub const MAX_RELEASES: usize = 65_536;

/// One step of the postfix program that says what somebody in the data paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Puts the costs of the next `count` releases on the stack, one by one.
    Releases { count: u32 },
    /// Replaces the top `arity` costs by their sum: somebody may be in all of them.
    Sum { arity: u32 },
    /// Replaces the top `arity` costs by the largest: nobody is in two of them, by the word of whoever merged them.
    Largest { arity: u32 },
}

/// The releases in order of appearance, and the program over them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lineage {
    leaves: Vec<Leaf>,
    steps: Vec<Step>,
    total: Loss,
}

/// Why leaves and steps are not a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineageError {
    /// No release, or more than [`MAX_RELEASES`].
    #[error("a sketch holds 1 ..= 65536 releases, found {found}")]
    Releases {
        /// The number of releases.
        found: usize,
    },
    /// Noise without data only: no release says whom it protects, so nothing is known of what the cells hold.
    #[error("none of the {found} releases states a guarantee")]
    NoGuarantee {
        /// The number of releases.
        found: usize,
    },
    /// The same release appears twice.
    #[error("release {id} appears twice")]
    Repeated {
        /// The release.
        id: ReleaseId,
    },
    /// The program does not run: it lacks operands or leaves some over.
    #[error("step {step} of the history is malformed")]
    Malformed {
        /// Index of the step at fault; the number of steps when the end is.
        step: usize,
    },
}

/// What one unit of privacy paid for some releases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Loss {
    /// In zCDP, pure releases included at ε²/2; rounded up.
    rho: f64,
    /// If all releases are pure; rounded up.
    epsilon: Option<f64>,
    unit: LossUnit,
}

/// Of whom a loss is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LossUnit {
    /// Noise only.
    Nobody,
    /// A record or a user, under one relation.
    One { user: bool, relation: Neighbouring },
    /// Different ones: the sum is nobody's.
    Mixed,
}

impl Loss {
    /// One release's.
    fn of(leaf: &Leaf) -> Self {
        let Some(guarantee) = leaf.guarantee else {
            return Self { rho: 0.0, epsilon: Some(0.0), unit: LossUnit::Nobody };
        };
        let unit = LossUnit::One { user: guarantee.bound.is_user(), relation: guarantee.relation };
        match guarantee.cost {
            PrivacyCost::Rho(rho) => Self { rho: rho.get(), epsilon: None, unit },
            PrivacyCost::Epsilon(epsilon) => {
                let square = multiply_up(epsilon.get(), epsilon.get());
                Self { rho: square / 2.0, epsilon: Some(epsilon.get()), unit }
            }
        }
    }

    fn join(self, other: Self, numbers: impl Fn(f64, f64) -> f64) -> Self {
        let unit = match (self.unit, other.unit) {
            (LossUnit::Nobody, unit) | (unit, LossUnit::Nobody) => unit,
            (first, second) if first == second => first,
            _ => LossUnit::Mixed,
        };
        let epsilon = self.epsilon.zip(other.epsilon).map(|(first, second)| numbers(first, second));
        Self { rho: numbers(self.rho, other.rho), epsilon, unit }
    }

    /// What somebody in both paid.
    pub(crate) fn plus(self, other: Self) -> Self {
        self.join(other, add_up)
    }

    /// ρ, unless it is nobody's.
    pub(crate) fn rho(&self) -> Option<f64> {
        (self.unit != LossUnit::Mixed).then_some(self.rho)
    }

    /// ε, if all is pure and of one unit.
    pub(crate) fn epsilon(&self) -> Option<f64> {
        self.epsilon.filter(|_| self.unit != LossUnit::Mixed)
    }
}

impl Lineage {
    /// One release.
    pub(crate) fn single(leaf: Leaf) -> Self {
        Self { leaves: vec![leaf], steps: vec![Step::Releases { count: 1 }], total: Loss::of(&leaf) }
    }

    /// From stored parts.
    pub(crate) fn from_parts(leaves: Vec<Leaf>, steps: Vec<Step>) -> Result<Self, LineageError> {
        if !(1..=MAX_RELEASES).contains(&leaves.len()) {
            return Err(LineageError::Releases { found: leaves.len() });
        }
        if let Some(id) = first_repeated(leaves.iter().map(Leaf::id)) {
            return Err(LineageError::Repeated { id });
        }
        if leaves.iter().all(|leaf| leaf.guarantee.is_none()) {
            return Err(LineageError::NoGuarantee { found: leaves.len() });
        }
        let total = evaluate(&leaves, &steps)?;
        Ok(Self { leaves, steps, total })
    }

    pub(crate) fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(crate) const fn total(&self) -> Loss {
        self.total
    }

    /// The history of a sum of sketches that share no release and have at most [`MAX_RELEASES`] together: checked before.
    pub(crate) fn joined(inputs: &[&Self], disjoint: bool) -> Result<Self, LineageError> {
        if let [only] = inputs {
            return Ok((*only).clone());
        }
        let leaves: Vec<Leaf> = inputs.iter().flat_map(|input| input.leaves.iter().copied()).collect();
        let flat = inputs.iter().all(|input| input.is_flat(disjoint));
        let joining = |arity| if disjoint { Step::Largest { arity } } else { Step::Sum { arity } };
        let steps = if flat {
            let count = to_u32(leaves.len());
            vec![Step::Releases { count }, joining(count)]
        } else {
            let steps = inputs.iter().flat_map(|input| input.steps.iter().copied());
            steps.chain([joining(to_u32(inputs.len()))]).collect()
        };
        Self::from_parts(leaves, steps)
    }

    /// Whether this is one release, or nothing but releases joined in this way: then a longer list says the same.
    fn is_flat(&self, disjoint: bool) -> bool {
        match self.steps.as_slice() {
            [Step::Releases { count: 1 }] => true,
            [Step::Releases { .. }, Step::Sum { .. }] => !disjoint,
            [Step::Releases { .. }, Step::Largest { .. }] => disjoint,
            _ => false,
        }
    }

    /// The same history of the sketch times `factor`; `None` if a factor would overflow.
    pub(crate) fn scaled(&self, factor: i64) -> Option<Self> {
        let mut scaled = self.clone();
        for leaf in &mut scaled.leaves {
            leaf.factor = leaf.factor.checked_mul(factor).filter(|&product| product != i64::MIN && product != 0)?;
        }
        Some(scaled)
    }
}

/// Runs the program over the costs of the leaves.
fn evaluate(leaves: &[Leaf], steps: &[Step]) -> Result<Loss, LineageError> {
    let mut rest = leaves.iter();
    let mut stack: Vec<Loss> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let malformed = LineageError::Malformed { step: index };
        match *step {
            Step::Releases { count } => {
                let count = count as usize;
                if count == 0 || count > rest.len() {
                    return Err(malformed);
                }
                stack.extend(rest.by_ref().take(count).map(Loss::of));
            }
            Step::Sum { arity } | Step::Largest { arity } => {
                let start = stack.len().checked_sub(arity as usize).filter(|_| arity >= 2).ok_or(malformed)?;
                let numbers = if matches!(step, Step::Sum { .. }) { add_up } else { f64::max };
                let joined = stack.drain(start..).reduce(|sum, next| sum.join(next, numbers));
                stack.extend(joined);
            }
        }
    }
    match (stack.as_slice(), rest.len()) {
        (&[total], 0) => Ok(total),
        _ => Err(LineageError::Malformed { step: steps.len() }),
    }
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The least `f64` that is not below `a · b`; both are positive and the product is normal.
pub(crate) fn multiply_up(a: f64, b: f64) -> f64 {
    let product = a * b;
    if a.mul_add(b, -product) > 0.0 { product.next_up() } else { product }
}

/// The least `f64` that is not below `a + b`.
fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // The rounding error of a sum is itself an f64 (Knuth's two-sum), so this comparison is exact.
    let b_seen = sum - a;
    let lost = (a - (sum - b_seen)) + (b - b_seen);
    if lost > 0.0 { sum.next_up() } else { sum }
}

#[cfg(test)]
mod tests;
