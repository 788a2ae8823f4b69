//! One release: its name, its noise, its cost and whom it protects.

use dp_noise::{DyadicProbability, Epsilon};

use crate::mode::ModeKind;
use crate::name::random_name;
use crate::noise::{NoiseRule, channel, flip_probability, keeps, multiply_up};
use crate::unit::Unit;

/// The most releases that one sketch may hold.
pub const MAX_RELEASES: usize = 65_536;

random_name! {
    /// The random name of one release, 128 bits from the same generator as its noise.
    ///
    /// Two releases never share it, so a merge can refuse to use one release twice.
    ReleaseId
}

/// One release: its name, its flip probability, what it cost and whom it protects.
///
/// The flip probability is the integer over 2⁶⁴ that decided the noise, so it is exact, and with `k` cells that one unit may
/// change it keeps the level `ε/k` of a cell with certainty (checked with directed rounding). A sum of several parties that
/// was [opened](Self::is_opened) has the noise of all of them, rounded up to such an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leaf {
    id: ReleaseId,
    flips: DyadicProbability,
    epsilon: Epsilon,
    unit: Unit,
    mode: ModeKind,
    opened: bool,
}

impl Leaf {
    /// A release whose parts are known to fit.
    pub(crate) const fn new(
        id: ReleaseId,
        flips: DyadicProbability,
        epsilon: Epsilon,
        unit: Unit,
        mode: ModeKind,
    ) -> Self {
        Self { id, flips, epsilon, unit, mode, opened: false }
    }

    /// Marks an opened sum.
    pub(crate) const fn opened(self) -> Self {
        Self { opened: true, ..self }
    }

    /// From stored numbers; `None` unless the flips keep the level.
    pub(crate) fn from_parts(id: [u8; 16], p: u64, epsilon: f64, unit: Unit, mode: ModeKind) -> Option<Self> {
        let epsilon = Epsilon::new(epsilon).ok()?;
        let share = epsilon.divide(unit.max_items()).ok()?;
        let flips = DyadicProbability::from_numerator(p);
        keeps(mode, flips, share).then(|| Self::new(ReleaseId::from_bytes(id), flips, epsilon, unit, mode))
    }

    /// The name of the release.
    #[must_use]
    pub const fn id(&self) -> ReleaseId {
        self.id
    }

    /// The flip probability as an integer over 2⁶⁴.
    #[must_use]
    pub const fn flip_numerator(&self) -> u64 {
        self.flips.numerator()
    }

    /// The flip probability.
    #[must_use]
    pub fn flip_probability(&self) -> f64 {
        self.flips.to_f64()
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

    /// The level that the flips realise for one unit, rounded up; at most [`Self::epsilon`]. With the
    /// [noise of the paper](crate::NoiseRule::Paper) it is clearly below.
    ///
    /// For a release of coins that were [released before](crate::F0Sketch::release_keeping) it is that of this release seen
    /// alone. For an [opened](Self::is_opened) sum it is ε: more noise than that may have been left out by dishonest parties.
    #[must_use]
    pub fn realised_level(&self) -> f64 {
        if self.opened {
            return self.epsilon.get();
        }
        let cell = channel(self.mode, self.flips).map_or(f64::INFINITY, crate::noise::CellChannel::level);
        multiply_up(cell, f64::from(self.unit.max_items())).min(self.epsilon.get())
    }

    /// Whether it is a sum of several parties that two servers [opened](crate::CellShare::open). Its
    /// [flip probability](Self::flip_probability) counts the noise of all parties, of which only the honest ones are sure to
    /// have added theirs: enough for ε, and no more is promised.
    #[must_use]
    pub const fn is_opened(&self) -> bool {
        self.opened
    }

    /// The numerator of the noise that is sure to be there: that which decided the release, and in an opened sum what ε needs.
    pub(crate) fn sure_flip_numerator(&self) -> u64 {
        let share = self.epsilon.divide(self.unit.max_items());
        match share {
            Ok(share) if self.opened => flip_probability(self.mode, NoiseRule::Tight, share, 0.0).numerator(),
            _ => self.flips.numerator(),
        }
    }
}

/// A release that appears more than once in rising names, if any.
pub(crate) fn first_repeated(sorted: &[Leaf]) -> Option<ReleaseId> {
    sorted.windows(2).find(|pair| pair[0].id == pair[1].id).map(|pair| pair[0].id)
}
