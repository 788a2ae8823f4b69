//! Noise made by several parties, none of whom could take it away.

use dp_noise::{
    DiscreteGaussian, Epsilon, NoiseSampler, NoiseSource, Permit, PolyaShare, Rho, Scale, Variance,
    distributed_gaussian_rho,
};
use sketch_hash::KeyedHash;
use zeroize::{Zeroize, Zeroizing};

use crate::error::ReleaseError;
use crate::exposure::Exposure;
use crate::leaf::{Guarantee, Leaf, NoiseLaw, PrivacyCost, ReleaseId};
use crate::lineage::Lineage;
use crate::linear::{Frame, check_alike};
use crate::private::PrivateCountSketch;
use crate::rows::RowHashes;
use crate::sketch::CountSketch;

/// What all parties agree on before they add their noise: the sketch, the law of a share, and how many stay secret.
///
/// Each party adds a share of noise to every cell of its own sketch ([`CountSketch::share_gaussian`] or
/// [`CountSketch::share_laplace`]) and gives the [words](ShareSketch::words) of the result to a protocol that reveals nothing
/// but their sum modulo 2⁶⁴; [`open`](Self::open) turns the sum into a private sketch.
///
/// # Privacy
/// What a share costs counts on `secret` shares of noise in the sum that nobody but their makers knows. With parties that drop
/// out or collude, take the number that is sure to remain. One share alone protects nobody: it must go into the secure sum only.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use countsketch_dp::{ContributionBound, CountSketch, CountSketchShape, ShareTerms};
/// use countsketch_dp::dp_noise::{Neighbouring, NoiseRng, Permit, Variance};
/// use countsketch_dp::sketch_hash::DefaultHash;
/// let mut noise = NoiseRng::from_os()?;
/// let shape = CountSketchShape::new(5, 256)?;
/// let empty = CountSketch::new(shape, DefaultHash::default(), ContributionBound::UNIT_ENTRY);
/// let exposure = empty.exposure(Neighbouring::AddRemove);
/// let terms = ShareTerms::gaussian(&empty, exposure, 8, Variance::new(3, 1)?)?;
///
/// // Ten parties, of whom two may collude.
/// let mut total = vec![0_u64; terms.words()];
/// for party in 0..10_u64 {
///     let mut raw = empty.clone();
///     raw.update_u64(party, 1)?;
///     let permit = Permit::standalone(terms.rho().ok_or("Gaussian")?);
///     let share = raw.share_gaussian(&terms, permit, &mut noise)?;
///     // Stands for the secure sum.
///     total.iter_mut().zip(share.words()).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
/// }
/// let private = terms.open(&total)?;
/// assert_eq!(private.noise_variance(), 30.0);
/// assert!((private.rho_total().ok_or("one release")? - 5.0 / 48.0).abs() < 1e-6); // k / 2·8·3
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ShareTerms {
    frame: Frame,
    exposure: Exposure,
    law: ShareLaw,
    secret: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ShareLaw {
    Gaussian { share: Variance, cost: Rho },
    Laplace { scale: Scale, cost: Epsilon },
}

/// One party's cells with its share of noise, for a secure sum and nothing else. Wiped when dropped.
///
/// # Privacy
/// As sensitive as the raw sketch.
pub struct ShareSketch {
    words: Vec<u64>,
}

impl core::fmt::Debug for ShareSketch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "ShareSketch({} words)", self.words.len())
    }
}

impl Drop for ShareSketch {
    fn drop(&mut self) {
        self.words.zeroize();
    }
}

impl ShareSketch {
    /// What goes into the secure sum: a one that counts the shares, a one if the noise is insecure, 128 random bits whose sum
    /// names the release, and the noisy cells, all modulo 2⁶⁴.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

/// Words before the cells.
const HEAD: usize = 4;

/// The most shares in one sum.
const MAX_SHARES: u32 = 1 << 20;

/// The least variance of a Gaussian share: below, the sum is too far from a Gaussian.
const LEAST: f64 = 2.0;

impl ShareTerms {
    /// The most parties.
    pub const MAX_SHARES: u32 = MAX_SHARES;

    /// Shares of discrete Gaussian noise, each of parameter `share`, of which `secret` are sure to be in the sum unknown to others.
    ///
    /// The exposure is that of the sum: its `parts` say in how many parties' data a user may be. The sum has nearly the noise of
    /// one Gaussian of variance `secret · share`; the small difference is in the [cost](Self::rho) \[KLS21\].
    ///
    /// # Errors
    /// [`ReleaseError::Shares`] unless `secret` lies in 1 ..= 2²⁰, [`ReleaseError::SmallVariance`] for a variance below 2,
    /// [`ReleaseError::Terms`] for an exposure of other sketches, and others where the cost is out of range.
    pub fn gaussian<H: KeyedHash>(
        sketch: &CountSketch<H>,
        exposure: Exposure,
        secret: u32,
        share: Variance,
    ) -> Result<Self, ReleaseError> {
        let cost = gaussian_cost(&exposure, secret, share)?;
        Self::new(sketch, exposure, secret, ShareLaw::Gaussian { share, cost })
    }

    /// Shares of discrete Laplace noise for ε-differential privacy of the sum, of which `secret` are sure to be in it unknown to
    /// others. That many add up to it exactly; more only add noise.
    ///
    /// # Errors
    /// As for [`gaussian`](Self::gaussian).
    pub fn laplace<H: KeyedHash>(
        sketch: &CountSketch<H>,
        exposure: Exposure,
        secret: u32,
        epsilon: Epsilon,
    ) -> Result<Self, ReleaseError> {
        // A ledger books a decimal, which may be the least bit below the level as given.
        let scale = exposure.laplace(Permit::standalone(epsilon).cost())?;
        PolyaShare::new(scale, check_shares(secret)?)?;
        Self::new(sketch, exposure, secret, ShareLaw::Laplace { scale, cost: epsilon })
    }

    fn new<H: KeyedHash>(
        sketch: &CountSketch<H>,
        exposure: Exposure,
        secret: u32,
        law: ShareLaw,
    ) -> Result<Self, ReleaseError> {
        check_shares(secret)?;
        if (exposure.shape(), exposure.bound()) != (sketch.shape(), sketch.bound()) || exposure.parts() < sketch.parts()
        {
            return Err(ReleaseError::Terms);
        }
        let frame = (sketch.hash_id(), sketch.shape(), sketch.granularity());
        Ok(Self { frame, exposure, law, secret })
    }

    /// The number of words of a share, and of their sum.
    #[must_use]
    pub const fn words(&self) -> usize {
        HEAD + self.exposure.shape().cells()
    }

    /// What the sum costs in zCDP, if shares are Gaussian; rounded up so far that a permit for it is enough.
    #[must_use]
    pub fn rho(&self) -> Option<Rho> {
        match self.law {
            ShareLaw::Gaussian { cost, .. } => Some(cost),
            ShareLaw::Laplace { .. } => None,
        }
    }

    /// What the sum costs in pure ε, if shares are of Laplace noise.
    #[must_use]
    pub const fn epsilon(&self) -> Option<Epsilon> {
        match self.law {
            ShareLaw::Gaussian { .. } => None,
            ShareLaw::Laplace { cost, .. } => Some(cost),
        }
    }

    /// The private sketch of all parties' data, from the sum of their words modulo 2⁶⁴.
    ///
    /// # Errors
    /// [`ReleaseError::Words`] for another number of words and [`ReleaseError::MissingShares`] when the sum holds fewer shares
    /// than stay secret, or more than 2²⁰: it does not keep the level, then.
    pub fn open(&self, total: &[u64]) -> Result<PrivateCountSketch, ReleaseError> {
        let (&[shares, insecure, id0, id1], words) = match total.split_first_chunk::<HEAD>() {
            Some(split) if total.len() == self.words() => split,
            _ => return Err(ReleaseError::Words { expected: self.words(), found: total.len() }),
        };
        let missing = ReleaseError::MissingShares { expected: self.secret, found: shares };
        let summed = u32::try_from(shares).ok().filter(|found| (self.secret..=MAX_SHARES).contains(found));
        let Some(summed) = summed else { return Err(missing) };
        let mut id = [0; 16];
        id[..8].copy_from_slice(&id0.to_le_bytes());
        id[8..].copy_from_slice(&id1.to_le_bytes());
        let secret = self.secret;
        let (law, cost) = match self.law {
            ShareLaw::Gaussian { share, cost } => {
                (NoiseLaw::GaussianShares { share, secret, summed }, PrivacyCost::Rho(cost))
            }
            ShareLaw::Laplace { scale, cost } => {
                (NoiseLaw::LaplaceShares { scale, secret, summed }, PrivacyCost::Epsilon(cost))
            }
        };
        let (bound, parts, relation) = (self.exposure.bound(), self.exposure.parts(), self.exposure.relation());
        let guarantee = Some(Guarantee { bound, parts, relation, cost });
        let leaf = Leaf { id: ReleaseId::from_bytes(id), law, factor: 1, guarantee };
        let cells = words.iter().map(|word| word.cast_signed().max(-i64::MAX)).collect();
        let rows = RowHashes::new(self.frame.1, self.frame.0);
        Ok(PrivateCountSketch::from_parts(self.frame, rows, cells, Lineage::single(leaf), insecure != 0))
    }
}

impl<H: KeyedHash> CountSketch<H> {
    /// This party's cells with its share of Gaussian noise; gives up the raw sketch.
    ///
    /// # Privacy
    /// The permit pays for the sum of all shares, which is what becomes known: [`ShareTerms::rho`].
    ///
    /// # Errors
    /// [`ReleaseError::Terms`] for terms of other sketches or another law, [`ReleaseError::Underpaid`] and
    /// [`ReleaseError::Entropy`].
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    pub fn share_gaussian<R>(
        self,
        terms: &ShareTerms,
        permit: Permit<Rho>,
        noise: &mut R,
    ) -> Result<ShareSketch, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let ShareLaw::Gaussian { share, cost } = terms.law else { return Err(ReleaseError::Terms) };
        let paid = permit.cost();
        // A ledger books decimals and may round the level down by one place, for which the cost has room.
        if paid.get() < cost.get().next_down() {
            return Err(ReleaseError::Underpaid { paid, cost });
        }
        self.share(terms, &DiscreteGaussian::new(share)?, noise)
    }

    /// This party's cells with its share of Laplace noise; gives up the raw sketch.
    ///
    /// # Privacy
    /// The permit pays for the sum of all shares, which is what becomes known: [`ShareTerms::epsilon`].
    ///
    /// # Errors
    /// As for [`share_gaussian`](Self::share_gaussian).
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    pub fn share_laplace<R>(
        self,
        terms: &ShareTerms,
        permit: Permit<Epsilon>,
        noise: &mut R,
    ) -> Result<ShareSketch, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let ShareLaw::Laplace { scale, cost } = terms.law else { return Err(ReleaseError::Terms) };
        let paid = permit.cost();
        if scale.epsilon_cost(terms.exposure.l1()?)? > paid {
            return Err(ReleaseError::UnderpaidEpsilon { paid, cost });
        }
        self.share(terms, &PolyaShare::new(scale, terms.secret)?, noise)
    }

    fn share<L, R>(self, terms: &ShareTerms, law: &L, noise: &mut R) -> Result<ShareSketch, ReleaseError>
    where
        L: NoiseSampler,
        R: NoiseSource + ?Sized,
    {
        let frame = (self.hash_id(), self.shape(), self.granularity());
        let alike = check_alike(terms.frame, frame).is_ok();
        if !alike || self.bound() != terms.exposure.bound() || self.parts() > terms.exposure.parts() {
            return Err(ReleaseError::Terms);
        }
        noise.begin_release()?;
        let head = [1, u64::from(noise.is_insecure()), noise.next_u64(), noise.next_u64()];
        let mut drawn = Zeroizing::new(vec![0_i64; self.shape().cells()]);
        law.fill(noise, &mut drawn)?;
        let mut words = Vec::with_capacity(HEAD + drawn.len());
        words.extend(head);
        // Modulo 2⁶⁴, as the sum: what is opened is a function of the exact sum, right where that has 63 bits.
        let noisy_cells = drawn.iter().zip(self.table.cells());
        words.extend(noisy_cells.map(|(draw, &cell)| draw.wrapping_add(cell).cast_unsigned()));
        Ok(ShareSketch { words })
    }
}

fn check_shares(found: u32) -> Result<u32, ReleaseError> {
    if (1..=MAX_SHARES).contains(&found) {
        Ok(found)
    } else {
        Err(ReleaseError::Shares { min: 1, max: MAX_SHARES, found })
    }
}

/// What a sum with so many secret shares of Gaussian noise costs, rounded up by two places: one for the rounding of a ledger.
pub(crate) fn gaussian_cost(exposure: &Exposure, secret: u32, share: Variance) -> Result<Rho, ReleaseError> {
    let found = share.to_f64();
    if found < LEAST {
        return Err(ReleaseError::SmallVariance { found });
    }
    let cells = u64::try_from(exposure.shape().cells()).unwrap_or(u64::MAX);
    let (l1, l2) = (exposure.l1()?, exposure.squared_l2()?);
    let rho = distributed_gaussian_rho(check_shares(secret)?, share, cells, l1, l2)?.rho();
    Ok(Rho::new(rho.next_up().next_up().max(Rho::MIN))?)
}
