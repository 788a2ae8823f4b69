//! Sketches split between two servers.

use core::fmt;
use core::marker::PhantomData;

use dp_noise::{Epsilon, NoiseSource, Permit, bernoulli_words};
use sketch_hash::{HashId, KeyedHash};
use zeroize::Zeroizing;

use crate::error::{MergeError, ReleaseError, SharingError};
use crate::leaf::{Leaf, ReleaseId};
use crate::mode::{Mode, Set};
use crate::private::PrivateF0Sketch;
use crate::release::clear_beyond;
use crate::shape::F0Shape;
use crate::shared_noise::SharedNoise;
use crate::sketch::{F0Sketch, Kind, check_alike};
use crate::weight::WeightRule;

/// What one of two servers holds of the sketches of some parties.
///
/// A party splits its slightly noisy cells `s` into a uniformly random `r` for one server and `s ⊕ r` for the other, so that
/// neither learns anything from its share. Sketches are linear: each server adds up the shares of all parties by itself, and
/// only the two sums are put together.
///
/// # Privacy
/// One share alone is uniformly random, whatever the data. Both shares of a party are its sketch under its part of the noise
/// only: they must never meet, except in [`open`](Self::open) and added up with those of all parties of the plan.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use f0_sketch::{CellShare, F0Shape, F0Sketch, Set, SharedNoise, Unit, WeightRule};
/// use f0_sketch::dp_noise::{Epsilon, NoiseRng, Permit};
/// use f0_sketch::sketch_hash::DefaultHash;
///
/// let (epsilon, mut random) = (Epsilon::new(1.0)?, NoiseRng::from_os()?);
/// let plan = SharedNoise::new::<Set>(3, 3, Unit::Item, epsilon)?;
/// let mut servers: [Option<CellShare>; 2] = [None, None];
/// for party in 0..3 {
///     let mut raw: F0Sketch = F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
///     raw.toggle_u64_batch(&(1000 * party..1000 * party + 1000).collect::<Vec<_>>());
///     let shares = raw.into_shares(&plan, Permit::standalone(epsilon), &mut random)?;
///     for (server, share) in servers.iter_mut().zip(shares) {
///         match server {
///             Some(sum) => sum.merge(&share)?,
///             None => *server = Some(share),
///         }
///     }
/// }
/// let [Some(first), Some(second)] = servers else { return Err("no party".into()) };
/// let opened = first.open(second)?;
/// assert!((opened.contrast() - 0.5_f64.tanh()).abs() < 1e-9, "the noise of one release, not of three");
/// assert_eq!((opened.epsilon(), opened.leaves().len()), (1.0, 1));
/// # }
/// # Ok(())
/// # }
/// ```
#[must_use = "a share that is lost makes those of all other parties useless"]
pub struct CellShare<M: Mode = Set> {
    shape: F0Shape,
    rule: WeightRule,
    hash_id: HashId,
    plan: SharedNoise,
    server: u8,
    /// In rising order.
    parties: Vec<ReleaseId>,
    bits: Zeroizing<Vec<u64>>,
    insecure_noise: bool,
    mode: PhantomData<M>,
}

impl<M: Mode> fmt::Debug for CellShare<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CellShare")
            .field("mode", &M::KIND)
            .field("shape", &self.shape)
            .field("server", &self.server)
            .field("parties", &self.parties.len())
            .finish_non_exhaustive()
    }
}

impl<M: Mode, H: KeyedHash> F0Sketch<M, H> {
    /// Adds this party's part of the noise and splits the result between two servers. Gives up the raw sketch.
    ///
    /// # Privacy
    /// The permit pays for the opened sketch, in which the data is protected at ε by the noise of all honest parties of the
    /// plan; see [`SharedNoise`] for what that rests on.
    ///
    /// # Errors
    /// [`SharingError::Plan`] for a permit of another ε than the plan's, [`SharingError::Release`] for data bounded for
    /// another unit and without random bytes, [`SharingError::Mismatch`] for coins that have been released before. The raw
    /// sketch and the permit are gone then, too.
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    pub fn into_shares<R>(
        self,
        plan: &SharedNoise,
        permit: Permit<Epsilon>,
        noise: &mut R,
    ) -> Result<[CellShare<M>; 2], SharingError>
    where
        R: NoiseSource + ?Sized,
    {
        if plan.mode() != M::KIND || permit.stated() != plan.epsilon() || permit.cost() < plan.level() {
            return Err(SharingError::Plan);
        }
        self.check_unit(plan.unit())?;
        if self.exposure > 0.0 {
            return Err(MergeError::Exposure { expected: 0.0, found: self.exposure }.into());
        }
        noise.begin_release().map_err(ReleaseError::from)?;
        let party = ReleaseId::draw(noise);
        let words = self.cells.words().len();
        let mut mask = Zeroizing::new(vec![0; words]);
        noise.fill_words(&mut mask);
        let mut rest = Zeroizing::new(vec![0; words]);
        bernoulli_words(plan.flips(), noise, &mut rest);
        gf2_linalg::xor_into(&mut rest, &mask);
        gf2_linalg::xor_into(&mut rest, self.cells.words());
        let insecure_noise = noise.is_insecure() || self.insecure_coins;
        let mut server = 0;
        Ok([mask, rest].map(|mut bits| {
            clear_beyond(&mut bits, self.shape().cells());
            let share = CellShare {
                shape: self.shape().clone(),
                rule: self.weight_rule(),
                hash_id: self.hash_id(),
                plan: *plan,
                server,
                parties: vec![party],
                bits,
                insecure_noise,
                mode: PhantomData,
            };
            server += 1;
            share
        }))
    }
}

impl<M: Mode> CellShare<M> {
    /// Which of the two servers it is for, 0 or 1.
    #[must_use]
    pub const fn server(&self) -> u8 {
        self.server
    }

    /// How many parties are added up in it.
    #[must_use]
    pub fn parties(&self) -> usize {
        self.parties.len()
    }

    /// The plan that it was made for.
    #[must_use]
    pub const fn plan(&self) -> &SharedNoise {
        &self.plan
    }

    /// Adds the share of further parties for the same server, by xor.
    ///
    /// # Errors
    /// [`SharingError::Plan`] for another plan, [`SharingError::Server`] for the other server, [`SharingError::Mismatch`] for
    /// another hash, shape or rule of weights and for a party that is in both; nothing is changed then.
    pub fn merge(&mut self, other: &Self) -> Result<(), SharingError> {
        self.check_plan(other)?;
        if self.server != other.server {
            return Err(SharingError::Server { expected: self.server, found: other.server });
        }
        let mut parties = [self.parties.as_slice(), &other.parties].concat();
        parties.sort_unstable();
        if let Some(pair) = parties.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(MergeError::RepeatedRelease { id: pair[0] }.into());
        }
        self.parties = parties;
        gf2_linalg::xor_into(&mut self.bits, &other.bits);
        self.insecure_noise |= other.insecure_noise;
        Ok(())
    }

    /// Puts the sums of the two servers together: the xor of all parties' sketches under the noise of one release.
    ///
    /// It counts as one release, whose name is the xor of the parties' random names. Its flip probability is that of all
    /// parties' noise together, rounded to a multiple of 2⁻⁶⁴.
    ///
    /// # Privacy
    /// ε-differentially private as a whole. Open each set of parties once.
    ///
    /// # Errors
    /// [`SharingError::Parties`] unless all parties of the plan are there, [`SharingError::DifferentParties`],
    /// [`SharingError::Server`] for two shares of one server, and otherwise as for [`merge`](Self::merge).
    #[expect(clippy::needless_pass_by_value, reason = "both shares are used up by what is opened")]
    pub fn open(self, other: Self) -> Result<PrivateF0Sketch<M>, SharingError> {
        self.check_plan(&other)?;
        if self.server == other.server {
            return Err(SharingError::Server { expected: 1 - self.server, found: other.server });
        }
        if self.parties != other.parties {
            return Err(SharingError::DifferentParties);
        }
        let (expected, found) = (self.plan.parties(), self.parties.len());
        if usize::try_from(expected) != Ok(found) {
            return Err(SharingError::Parties { expected, found });
        }
        let mut name = [0; 16];
        for party in &self.parties {
            name.iter_mut().zip(party.to_bytes()).for_each(|(byte, other)| *byte ^= other);
        }
        let (flips, epsilon, unit) = (self.plan.total_flips(), self.plan.epsilon(), self.plan.unit());
        let leaf = Leaf::new(ReleaseId::from_bytes(name), flips, epsilon, unit, M::KIND);
        // No longer secret once the two are put together.
        let mut bits = self.bits.to_vec();
        gf2_linalg::xor_into(&mut bits, &other.bits);
        let insecure = self.insecure_noise || other.insecure_noise;
        Ok(PrivateF0Sketch::of_release(self.kind(), bits, leaf, insecure))
    }

    fn check_plan(&self, other: &Self) -> Result<(), SharingError> {
        check_alike(&self.kind(), &other.kind())?;
        if self.plan == other.plan { Ok(()) } else { Err(SharingError::Plan) }
    }

    fn kind(&self) -> Kind<'_> {
        Kind { hash_id: self.hash_id, shape: &self.shape, rule: self.rule }
    }
}
