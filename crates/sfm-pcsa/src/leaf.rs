//! One release: its name, its noise, its cost and whom it protects.

use dp_noise::{DyadicProbability, Epsilon, ParameterError, RandomizedResponse};

use crate::channel::{Channel, ChannelError};
use crate::error::ReleaseError;
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
    origin: Origin,
}

/// Who made the noise of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A release of this crate, with a random name.
    Here,
    /// Another program; the name is a hash of the content.
    Elsewhere,
}

impl Leaf {
    /// A fresh release through `mechanism`, at the level `cost` and stated as `epsilon`.
    pub(crate) fn new(id: ReleaseId, terms: Terms, cost: Epsilon, epsilon: Epsilon) -> Result<Self, ReleaseError> {
        let Terms { mechanism, unit, cells_per_item } = terms;
        let share = share_of(cost, unit, cells_per_item)?;
        Ok(Self { id, noise: mechanism.flips(share), epsilon, unit, cells_per_item, origin: Origin::Here })
    }

    /// A release of another program for items that set one cell each, `noise` being of level `epsilon` at most.
    pub(crate) const fn from_elsewhere(id: ReleaseId, noise: RandomizedResponse, epsilon: Epsilon) -> Self {
        Self { id, noise, epsilon, unit: Unit::Item, cells_per_item: 1, origin: Origin::Elsewhere }
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

    /// Whether another program made the noise, say Presto. Then the level is what the flip probabilities stand for, as far
    /// as that program is trusted, and the name is a hash of the content.
    #[must_use]
    pub const fn made_elsewhere(&self) -> bool {
        matches!(self.origin, Origin::Elsewhere)
    }

    pub(crate) const fn origin(&self) -> Origin {
        self.origin
    }

    pub(crate) const fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
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
        Some(Self { id: ReleaseId(id), noise, epsilon, unit, cells_per_item, origin: Origin::Here })
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

/// [`share`], or why there is none.
pub(crate) fn share_of(epsilon: Epsilon, unit: Unit, cells_per_item: u32) -> Result<Epsilon, ReleaseError> {
    share(epsilon, unit, cells_per_item).map_err(|source| {
        let bits = u64::from(unit.max_items()) * u64::from(cells_per_item);
        ReleaseError::Share { unit, bits, source }
    })
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

/// A release that appears more than once, if any.
pub(crate) fn first_repeated(ids: impl Iterator<Item = ReleaseId>) -> Option<ReleaseId> {
    let mut sorted: Vec<ReleaseId> = ids.collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}
