//! Where a private sketch comes from: the releases in it, and the merges that joined them.

use dp_noise::{DyadicProbability, Epsilon, ParameterError, RandomizedResponse};

use crate::channel::{Channel, ChannelError};
use crate::error::ReleaseError;
use crate::gate::OutputForm;
use crate::or_merge::OrMerge;
use crate::release::Mechanism;
use crate::unit::Unit;

/// The random name of one release, 128 bits from the same generator as its noise.
///
/// Two releases never share it, so a merge can refuse to use one release twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReleaseId([u8; 16]);

impl ReleaseId {
    /// From its bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

impl core::fmt::Display for ReleaseId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl core::fmt::Debug for ReleaseId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "ReleaseId({self})")
    }
}

/// One release: its name, its flip probabilities, what it cost and whom it protects.
///
/// The flip probabilities are the integers over 2⁶⁴ that decided the noise, so they are exact. One unit may change
/// several bits: `k` for each of its items in a Bloom filter of `k` hashes, one for each in the other families. With `b`
/// bits in all, `p ≤ e^(ε/b) q` and `1 − q ≤ e^(ε/b) (1 − p)` hold with certainty (checked with directed rounding).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leaf {
    id: ReleaseId,
    noise: RandomizedResponse,
    epsilon: Epsilon,
    unit: Unit,
    cells_per_item: u32,
}

impl Leaf {
    /// A fresh release through `mechanism`, at the level `cost` and stated as `epsilon`.
    pub(crate) fn new(id: ReleaseId, terms: Terms, cost: Epsilon, epsilon: Epsilon) -> Result<Self, ReleaseError> {
        let Terms { mechanism, unit, cells_per_item } = terms;
        let share = share(cost, unit, cells_per_item).map_err(|source| {
            let bits = u64::from(unit.max_items()) * u64::from(cells_per_item);
            ReleaseError::Share { unit, bits, source }
        })?;
        Ok(Self { id, noise: mechanism.flips(share), epsilon, unit, cells_per_item })
    }

    /// The name of the release.
    #[must_use]
    pub const fn id(&self) -> ReleaseId {
        self.id
    }

    /// P(1→1) as an integer over 2⁶⁴.
    #[must_use]
    pub fn p_numerator(&self) -> u64 {
        self.noise.p().numerator()
    }

    /// P(0→1) as an integer over 2⁶⁴.
    #[must_use]
    pub fn q_numerator(&self) -> u64 {
        self.noise.q().numerator()
    }

    /// The level the release was made at, as given: that of one [unit](Self::unit).
    #[must_use]
    pub const fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// Whom the release protects at [`Self::epsilon`].
    #[must_use]
    pub const fn unit(&self) -> Unit {
        self.unit
    }

    /// The level that the flips realise for one unit, rounded up; at most [`Self::epsilon`].
    #[must_use]
    pub fn realised_level(&self) -> f64 {
        let bits = f64::from(self.unit.max_items()) * f64::from(self.cells_per_item);
        multiply_up(self.noise.epsilon_upper().get(), bits).min(self.epsilon.get())
    }

    pub(crate) fn noise(&self) -> &RandomizedResponse {
        &self.noise
    }

    /// From stored numbers; `None` unless they are a channel of that level.
    pub(crate) fn from_parts(stored: StoredLeaf, cells_per_item: u32) -> Option<Self> {
        let StoredLeaf { id, p, q, epsilon, unit } = stored;
        let epsilon = Epsilon::new(epsilon).ok()?;
        let [p, q] = [p, q].map(DyadicProbability::from_numerator);
        let noise = RandomizedResponse::from_parts(p, q, share(epsilon, unit, cells_per_item).ok()?).ok()?;
        Some(Self { id: ReleaseId(id), noise, epsilon, unit, cells_per_item })
    }

    pub(crate) fn channel(&self) -> Result<Channel, ChannelError> {
        let (p, q) = (self.noise.p(), self.noise.q());
        Channel::from_numerators(p.numerator(), q.numerator())
            .ok_or(ChannelError::Order { p: p.to_f64(), q: q.to_f64() })
    }
}

/// How a release is made, apart from its level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) mechanism: Mechanism,
    pub(crate) unit: Unit,
    pub(crate) cells_per_item: u32,
}

/// A release as bytes state it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredLeaf {
    pub(crate) id: [u8; 16],
    pub(crate) p: u64,
    pub(crate) q: u64,
    pub(crate) epsilon: f64,
    pub(crate) unit: Unit,
}

/// The level of one bit when one unit may change `cells_per_item` bits for each of its items: `ε / items / cells`, each
/// quotient rounded down.
pub(crate) fn share(epsilon: Epsilon, unit: Unit, cells_per_item: u32) -> Result<Epsilon, ParameterError> {
    epsilon.divide(unit.max_items())?.divide(cells_per_item)
}

/// The least `f64` that is not below `a · b`; both are positive and the product is normal.
pub(crate) fn multiply_up(a: f64, b: f64) -> f64 {
    let product = a * b;
    if a.mul_add(b, -product) > 0.0 { product.next_up() } else { product }
}

/// How private sketches are merged.
///
/// All three give the OR of the true bits through a noisier channel; they differ in what that channel is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MergeForm {
    /// The best feasible output: for inputs with `p ≥ 1/2`, `p* = min p_i` and `a* = Π a_i`.
    ///
    /// Every other merge of the same inputs is a degraded copy of it.
    #[default]
    Extremal,
    /// The published form [HTC23, Section 4]: symmetric output, `p* + q* = 1`, of lower accuracy.
    Symmetric,
    /// The deterministic merge of sketches released with `p = 1/2`: exclusive or, without coins.
    Xor,
}

impl MergeForm {
    /// The rule for these inputs.
    pub(crate) fn or_merge(self, inputs: &[Channel]) -> Result<OrMerge, ChannelError> {
        match self {
            Self::Extremal => OrMerge::new(OutputForm::Extremal, inputs),
            Self::Symmetric => OrMerge::new(OutputForm::Symmetric, inputs),
            Self::Xor => OrMerge::xor(inputs),
        }
    }
}

/// One step of the postfix program that says how the leaves were joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Puts the next `count` leaves on the stack.
    Leaves { count: u32 },
    /// Replaces the top `arity` entries by their merge.
    Or { form: MergeForm, arity: u32 },
}

/// The leaves in order of appearance, and the program over them.
///
/// A single release is `Leaves 1`. Consecutive `Leaves` steps are one, so a history has one spelling.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lineage {
    leaves: Vec<Leaf>,
    steps: Vec<Step>,
}

/// What a lineage says about the bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) channel: Channel,
    /// Merges that drew coins.
    pub(crate) randomised: u32,
}

/// Why leaves and steps are not a history.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LineageError {
    /// No release, or more than [`MAX_RELEASES`](crate::MAX_RELEASES).
    #[error("a sketch holds 1 ..= 65536 releases, found {found}")]
    Releases {
        /// The number of releases.
        found: usize,
    },
    /// The same release appears twice.
    #[error("release {id} appears twice")]
    Repeated {
        /// The release.
        id: ReleaseId,
    },
    /// The program does not run: it lacks operands, leaves some over, or is not in its one spelling.
    #[error("step {step} of the merge history is malformed")]
    Malformed {
        /// Index of the step at fault; the number of steps when the end is.
        step: usize,
    },
    /// A merge of the history has no valid output.
    #[error("merge history")]
    Channel(#[from] ChannelError),
}

/// The most releases that one sketch may hold.
pub const MAX_RELEASES: usize = 65_536;

impl Lineage {
    /// One release.
    pub(crate) fn single(leaf: Leaf) -> Self {
        Self { leaves: vec![leaf], steps: vec![Step::Leaves { count: 1 }] }
    }

    /// From stored parts.
    pub(crate) fn from_parts(leaves: Vec<Leaf>, steps: Vec<Step>) -> Result<(Self, Outcome), LineageError> {
        if !(1..=MAX_RELEASES).contains(&leaves.len()) {
            return Err(LineageError::Releases { found: leaves.len() });
        }
        if let Some(id) = first_repeated(leaves.iter().map(Leaf::id)) {
            return Err(LineageError::Repeated { id });
        }
        let lineage = Self { leaves, steps };
        let outcome = lineage.evaluate()?;
        Ok((lineage, outcome))
    }

    pub(crate) fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The history of a merge. The inputs share no release and are at most [`MAX_RELEASES`] together: checked before.
    pub(crate) fn merged(inputs: &[&Self], form: MergeForm) -> Self {
        let mut leaves = Vec::with_capacity(inputs.iter().map(|input| input.leaves.len()).sum());
        let mut steps: Vec<Step> = Vec::new();
        for input in inputs {
            leaves.extend_from_slice(&input.leaves);
            for &step in &input.steps {
                match (steps.last_mut(), step) {
                    (Some(Step::Leaves { count }), Step::Leaves { count: more }) => *count += more,
                    _ => steps.push(step),
                }
            }
        }
        let arity = u32::try_from(inputs.len()).unwrap_or(u32::MAX);
        steps.push(Step::Or { form, arity });
        Self { leaves, steps }
    }

    /// Runs the program over the channels of the leaves.
    fn evaluate(&self) -> Result<Outcome, LineageError> {
        let mut rest = self.leaves.iter();
        let mut stack: Vec<Channel> = Vec::new();
        let mut randomised = 0;
        let mut previous_pushed = false;
        for (index, step) in self.steps.iter().enumerate() {
            let malformed = LineageError::Malformed { step: index };
            match *step {
                Step::Leaves { count } => {
                    if count == 0 || previous_pushed || count as usize > rest.len() {
                        return Err(malformed);
                    }
                    for leaf in rest.by_ref().take(count as usize) {
                        stack.push(leaf.channel()?);
                    }
                }
                Step::Or { form, arity } => {
                    let start = stack.len().checked_sub(arity as usize).filter(|_| arity >= 2).ok_or(malformed)?;
                    let merge = form.or_merge(&stack[start..])?;
                    stack.truncate(start);
                    stack.push(merge.channel());
                    randomised += u32::from(!merge.is_deterministic());
                }
            }
            previous_pushed = matches!(step, Step::Leaves { .. });
        }
        match (stack.as_slice(), rest.len()) {
            (&[channel], 0) => Ok(Outcome { channel, randomised }),
            _ => Err(LineageError::Malformed { step: self.steps.len() }),
        }
    }
}

/// A release that appears more than once, if any.
pub(crate) fn first_repeated(ids: impl Iterator<Item = ReleaseId>) -> Option<ReleaseId> {
    let mut sorted: Vec<ReleaseId> = ids.collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}
