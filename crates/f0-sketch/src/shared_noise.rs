//! How much noise each of several parties adds when only their sum is opened.

use dp_noise::{DyadicProbability, Epsilon, Permit, RandomizedResponse};

use crate::contrast::Contrast;
use crate::error::SharingError;
use crate::leaf::MAX_RELEASES;
use crate::mode::{Mode, ModeKind};
use crate::noise::{channel, integer_part, low_word, multiply_up};
use crate::release::share_of;
use crate::unit::Unit;

/// The least contrast of a plan, 2⁻⁴⁰. The flip probability that an opened sketch states is a multiple of 2⁻⁶⁴, which leaves
/// 23 digits of such a contrast and none of one of 2⁻⁶⁴.
const LEAST_CONTRAST: f64 = 1.0 / 1_099_511_627_776.0;

/// A plan for parties whose sketches are only ever opened together: each adds a part of the noise.
///
/// Noise of `N` parties comes together by xor, so that their contrasts multiply. For a total contrast `c` (`tanh(ε/2)` in
/// mode `set`, `1 − e^−ε` in mode `presampled`) each party flips its cells with probability `(1 − c^(1/h))/2` only, rounded
/// up, where `h` is the number of parties that are trusted to add their part. A merge of any number of parties then has the
/// error of one release.
///
/// # Privacy
/// Holds for what is [opened](crate::CellShare::open), once, for one fixed set of parties: every further opening, also of a
/// subset, is a further release. The two servers must not collude, and whoever holds both shares of a party has its sketch
/// under its own small noise: [`level_if_servers_collude`](Self::level_if_servers_collude). Parties that leave out their noise
/// are paid for by a smaller `honest`. Parties may have users in common: the unit is one user with at most so many items at
/// **all parties together**.
///
/// # Examples
/// ```
/// use f0_sketch::{Set, SharedNoise, Unit};
/// use f0_sketch::dp_noise::Epsilon;
/// let plan = SharedNoise::new::<Set>(10, 10, Unit::Item, Epsilon::new(1.0)?)?;
/// assert!((plan.flip_probability() - 0.0371).abs() < 1e-4, "0.269 for one party alone");
/// assert!((plan.contrast() - 0.5_f64.tanh()).abs() < 1e-9);
/// assert!((plan.level_if_servers_collude() - 3.26).abs() < 0.01);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedNoise {
    mode: ModeKind,
    parties: u32,
    honest: u32,
    unit: Unit,
    epsilon: Epsilon,
    /// What a permit for ε may use.
    level: Epsilon,
    flips: DyadicProbability,
}

impl SharedNoise {
    /// A plan for `parties` parties of which `honest` add their noise, at `epsilon` for `unit`, for sketches of mode `M`.
    ///
    /// # Errors
    /// [`SharingError::PlanSize`] unless `1 ≤ honest ≤ parties ≤ 65536`; [`SharingError::Release`] when a cell's part of ε is
    /// below the least ε; [`SharingError::Mismatch`] when the noise of all parties would leave a contrast below 2⁻⁴⁰.
    pub fn new<M: Mode>(parties: u32, honest: u32, unit: Unit, epsilon: Epsilon) -> Result<Self, SharingError> {
        let too_many = usize::try_from(parties).map_or(true, |parties| parties > MAX_RELEASES);
        if too_many || honest == 0 || honest > parties {
            return Err(SharingError::PlanSize { parties, honest });
        }
        let level = Permit::standalone(epsilon).cost();
        let flips = part_of_noise(M::KIND, share_of(level, unit)?, honest);
        let plan = Self { mode: M::KIND, parties, honest, unit, epsilon, level, flips };
        if plan.contrast() < LEAST_CONTRAST {
            return Err(SharingError::Mismatch(crate::MergeError::NoSignal));
        }
        Ok(plan)
    }

    /// The number of parties.
    #[must_use]
    pub const fn parties(&self) -> u32 {
        self.parties
    }

    /// How many of them are trusted to add their noise.
    #[must_use]
    pub const fn honest(&self) -> u32 {
        self.honest
    }

    /// Whom the opened sketch protects.
    #[must_use]
    pub const fn unit(&self) -> Unit {
        self.unit
    }

    /// The level of the opened sketch, which every party pays.
    #[must_use]
    pub const fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// The probability with which each party flips each of its cells.
    #[must_use]
    pub fn flip_probability(&self) -> f64 {
        self.flips.to_f64()
    }

    /// The contrast of the opened sketch, to which all parties have added their noise.
    #[must_use]
    pub fn contrast(&self) -> f64 {
        self.total().to_f64()
    }

    /// What one unit loses if both shares of its party become known: the level of the party's own noise.
    #[must_use]
    pub fn level_if_servers_collude(&self) -> f64 {
        let cell = channel(self.mode, self.flips).map_or(f64::INFINITY, crate::noise::CellChannel::level);
        multiply_up(cell, f64::from(self.unit.max_items()))
    }

    /// The mode of the sketches that it is for.
    #[must_use]
    pub const fn mode(&self) -> ModeKind {
        self.mode
    }

    pub(crate) const fn level(&self) -> Epsilon {
        self.level
    }

    pub(crate) const fn flips(&self) -> DyadicProbability {
        self.flips
    }

    /// The flip probability of the noise of all parties, as an opened sketch states it.
    pub(crate) fn total_flips(&self) -> DyadicProbability {
        DyadicProbability::from_numerator(self.total().flip_numerator_up())
    }

    fn total(&self) -> Contrast {
        contrast_of_parties(self.flips, self.parties)
    }
}

fn contrast_of_parties(flips: DyadicProbability, parties: u32) -> Contrast {
    (0..parties).fold(Contrast::ONE, |contrast, _| contrast.flipped(flips.numerator()))
}

/// The flip probability of each of `honest` parties that together keep the level `share` of a cell: `(1 − c^(1/h))/2` from
/// `f64`, moved up until integers prove it.
fn part_of_noise(mode: ModeKind, share: Epsilon, honest: u32) -> DyadicProbability {
    const TWO_64: f64 = 18_446_744_073_709_551_616.0;
    const MOST: u64 = (1 << 63) - 1;
    let shrink = (-share.get()).exp();
    let log_contrast = match mode {
        ModeKind::Set => (-share.get()).exp_m1().abs().ln() - shrink.ln_1p(),
        ModeKind::Presampled => (-share.get()).exp_m1().abs().ln(),
    };
    let part = -(log_contrast / f64::from(honest)).exp_m1() / 2.0;
    let needed = match mode {
        ModeKind::Set => RandomizedResponse::symmetric(share).q(),
        ModeKind::Presampled => RandomizedResponse::xor_family(share).q(),
    };
    let mut numerator = low_word(integer_part((part * TWO_64).ceil())).clamp(1, MOST);
    // The total as a numerator is rounded up, from a contrast that was rounded down: less than two units together.
    let enough = |numerator: u64| {
        let flips = DyadicProbability::from_numerator(numerator);
        contrast_of_parties(flips, honest).flip_numerator_up().saturating_sub(2) >= needed.numerator()
    };
    while numerator < MOST && !enough(numerator) {
        numerator = (numerator + 1 + (numerator >> 45)).min(MOST);
    }
    DyadicProbability::from_numerator(numerator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::{Presampled, Set};

    fn epsilon(value: f64) -> Epsilon {
        Epsilon::new(value).unwrap()
    }

    #[test]
    fn parts_add_up_to_one_release() {
        for parties in [1, 2, 10, 1000, 65_536] {
            for level in [0.01, 0.5, 1.0, 4.0, 20.0, 44.0, 200.0] {
                let set = SharedNoise::new::<Set>(parties, parties, Unit::Item, epsilon(level)).unwrap();
                let needed = RandomizedResponse::symmetric(epsilon(level)).q();
                assert!(set.total_flips() >= needed, "{parties} at {level}");
                assert!((set.contrast() / (level / 2.0).tanh() - 1.0).abs() < 1e-9, "{parties} at {level}");
                let presampled = SharedNoise::new::<Presampled>(parties, parties, Unit::Item, epsilon(level)).unwrap();
                assert!(presampled.total_flips() >= RandomizedResponse::xor_family(epsilon(level)).q());
                assert!((presampled.contrast() / -(-level).exp_m1() - 1.0).abs() < 1e-9, "{parties} at {level}");
            }
        }
    }

    #[test]
    fn a_party_less_than_counted_on_costs_more_and_an_honest_majority_nothing() {
        // Ten parts of which nine are added: 2 artanh(c^(9/10)) = 1.0965.
        let ten = SharedNoise::new::<Set>(10, 10, Unit::Item, epsilon(1.0)).unwrap();
        let nine = contrast_of_parties(ten.flips(), 9).to_f64();
        assert!((2.0 * nine.atanh() - 1.0965).abs() < 1e-4);
        let careful = SharedNoise::new::<Set>(10, 9, Unit::Item, epsilon(1.0)).unwrap();
        let honest = contrast_of_parties(careful.flips(), 9).to_f64();
        assert!(2.0 * honest.atanh() <= 1.0 && careful.contrast() < honest);
    }

    #[test]
    fn users_share_a_level_and_sizes_are_checked() {
        let unit = Unit::user(4).unwrap();
        let plan = SharedNoise::new::<Set>(3, 2, unit, epsilon(2.0)).unwrap();
        assert!((contrast_of_parties(plan.flips(), 2).to_f64() / 0.25_f64.tanh() - 1.0).abs() < 1e-9);
        for (parties, honest) in [(0, 0), (1, 0), (1, 2), (65_537, 1)] {
            let refused = SharedNoise::new::<Set>(parties, honest, unit, epsilon(2.0));
            assert!(matches!(refused, Err(SharingError::PlanSize { .. })), "{parties} {honest}");
        }
        assert!(SharedNoise::new::<Set>(65_536, 1, Unit::Item, epsilon(0.1)).is_err(), "nothing would be left");
    }
}
