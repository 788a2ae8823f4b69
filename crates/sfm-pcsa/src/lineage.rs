//! Where a private sketch comes from: the releases in it, and the operations that joined them.

use crate::channel::{Channel, ChannelError};
use crate::gate::{BooleanOp, OutputForm, gate};
use crate::leaf::{Leaf, Origin, ReleaseId, first_repeated};
use crate::or_merge::OrMerge;
use crate::pair::PairRule;
use crate::thin::Thinning;

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
    Leaves { count: u32, origin: Origin },
    /// Replaces the top `arity` entries by their merge.
    Or { form: MergeForm, arity: u32 },
    /// Adds noise to the top entry until it is symmetric.
    Symmetrise,
    /// Replaces the two top entries by the result of another operation than OR.
    Gate { op: BooleanOp, form: OutputForm },
    /// Negates the top entry.
    Not,
}

/// The leaves in order of appearance, and the program over them.
///
/// A single release is `Leaves 1`. Consecutive `Leaves` steps of one origin are one, nothing is negated twice in a row, and
/// nothing symmetric is made symmetric, so a history has one spelling.
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
        Self { leaves: vec![leaf], steps: vec![Step::Leaves { count: 1, origin: leaf.origin() }] }
    }

    /// From stored parts. Who made the noise of a leaf follows from the step that takes it.
    pub(crate) fn from_parts(mut leaves: Vec<Leaf>, steps: Vec<Step>) -> Result<(Self, Outcome), LineageError> {
        if !(1..=MAX_RELEASES).contains(&leaves.len()) {
            return Err(LineageError::Releases { found: leaves.len() });
        }
        if let Some(id) = first_repeated(leaves.iter().map(Leaf::id)) {
            return Err(LineageError::Repeated { id });
        }
        let mut rest = leaves.iter_mut();
        for step in &steps {
            if let Step::Leaves { count, origin } = *step {
                rest.by_ref().take(count as usize).for_each(|leaf| *leaf = leaf.with_origin(origin));
            }
        }
        let lineage = Self { leaves, steps };
        let outcome = lineage.evaluate()?;
        Ok((lineage, outcome))
    }

    pub(crate) fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// The release, if the bits are those of one as it was made.
    pub(crate) fn only_release(&self) -> Option<&Leaf> {
        match (self.leaves.as_slice(), self.steps.as_slice()) {
            ([leaf], [Step::Leaves { .. }]) => Some(leaf),
            _ => None,
        }
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The history of a merge. The inputs share no release and are at most [`MAX_RELEASES`] together: checked before.
    pub(crate) fn merged(inputs: &[&Self], form: MergeForm) -> Self {
        let arity = u32::try_from(inputs.len()).unwrap_or(u32::MAX);
        Self::joined(inputs, Step::Or { form, arity })
    }

    /// The history of an operation on all inputs, under the same conditions.
    pub(crate) fn joined(inputs: &[&Self], operation: Step) -> Self {
        let mut leaves = Vec::with_capacity(inputs.iter().map(|input| input.leaves.len()).sum());
        let mut steps: Vec<Step> = Vec::new();
        for input in inputs {
            leaves.extend_from_slice(&input.leaves);
            for &step in &input.steps {
                match (steps.last_mut(), step) {
                    (Some(Step::Leaves { count, origin }), Step::Leaves { count: more, origin: same })
                        if *origin == same =>
                    {
                        *count += more;
                    }
                    _ => steps.push(step),
                }
            }
        }
        steps.push(operation);
        Self { leaves, steps }
    }

    /// The history of the negation; of a negation, what was negated.
    pub(crate) fn negated(&self) -> Result<(Self, Outcome), ChannelError> {
        let mut negated = self.clone();
        if negated.steps.last() == Some(&Step::Not) {
            negated.steps.pop();
        } else {
            negated.steps.push(Step::Not);
        }
        match negated.evaluate() {
            Ok(outcome) => Ok((negated, outcome)),
            Err(LineageError::Channel(error)) => Err(error),
            // Never: what remains of a well-formed history is one.
            Err(_) => Err(ChannelError::NoInput),
        }
    }

    /// Runs the program over the channels of the leaves.
    fn evaluate(&self) -> Result<Outcome, LineageError> {
        let mut run = Run { leaves: self.leaves.iter(), stack: Vec::new(), randomised: 0 };
        let mut previous = None;
        for (index, &step) in self.steps.iter().enumerate() {
            let malformed = LineageError::Malformed { step: index };
            let repeats = match (previous, step) {
                (Some(Step::Leaves { origin, .. }), Step::Leaves { origin: same, .. }) => origin == same,
                (previous, Step::Not) => previous == Some(Step::Not),
                _ => false,
            };
            if repeats || run.step(step)?.is_none() {
                return Err(malformed);
            }
            previous = Some(step);
        }
        match (run.stack.as_slice(), run.leaves.len()) {
            (&[channel], 0) => Ok(Outcome { channel, randomised: run.randomised }),
            _ => Err(LineageError::Malformed { step: self.steps.len() }),
        }
    }
}

/// A program halfway through.
struct Run<'a> {
    leaves: core::slice::Iter<'a, Leaf>,
    stack: Vec<Channel>,
    randomised: u32,
}

impl Run<'_> {
    /// Runs one step; `None` if it is malformed.
    fn step(&mut self, step: Step) -> Result<Option<()>, ChannelError> {
        match step {
            Step::Leaves { count, .. } => {
                let count = count as usize;
                if count == 0 || count > self.leaves.len() {
                    return Ok(None);
                }
                for leaf in self.leaves.by_ref().take(count) {
                    self.stack.push(leaf.channel()?);
                }
            }
            Step::Or { form, arity } => {
                let start = self.stack.len().checked_sub(arity as usize).filter(|_| arity >= 2);
                let Some(start) = start else { return Ok(None) };
                let merge = form.or_merge(&self.stack[start..])?;
                self.replace(start, merge.channel(), !merge.is_deterministic());
            }
            Step::Symmetrise => {
                let Some((&top, below)) = self.stack.split_last() else { return Ok(None) };
                let Some(thinning) = Thinning::new(top)? else { return Ok(None) };
                self.replace(below.len(), thinning.channel(), true);
            }
            Step::Gate { op, form } => {
                let &[ref below @ .., first, second] = self.stack.as_slice() else { return Ok(None) };
                if op == BooleanOp::Or {
                    return Ok(None);
                }
                let gate = gate(op, form, first, second)?;
                self.replace(below.len(), gate.channel, !PairRule::new(gate.table)?.is_deterministic());
            }
            Step::Not => {
                let Some(top) = self.stack.last_mut() else { return Ok(None) };
                *top = top.negated()?;
            }
        }
        Ok(Some(()))
    }

    /// Puts one result in the place of all entries from `start` on.
    fn replace(&mut self, start: usize, channel: Channel, draws: bool) {
        self.stack.truncate(start);
        self.stack.push(channel);
        self.randomised += u32::from(draws);
    }
}
