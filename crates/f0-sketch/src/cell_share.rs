//! Sketches split between two servers.

use core::fmt;
use core::marker::PhantomData;
use std::collections::BTreeSet;

use dp_noise::{Epsilon, NoiseSource, Permit, bernoulli_words};
use sketch_hash::{HashId, KeyedHash};
use zeroize::Zeroizing;

use crate::coins::CoinSet;
use crate::error::{MergeError, ReleaseError, SharingError};
use crate::leaf::{Leaf, ReleaseId};
use crate::mode::{Mode, Set};
use crate::private::PrivateF0Sketch;
use crate::refused::Refused;
use crate::release::clear_beyond;
use crate::shape::F0Shape;
use crate::shared_noise::SharedNoise;
use crate::sketch::{F0Sketch, Kind, check_alike};
use crate::unit::Unit;
use crate::weight::WeightRule;

/// What one of two servers holds of the sketches of some parties.
///
/// A party splits its slightly noisy cells `s` into a uniformly random `r` for one server and `s ⊕ r` for the other, so that
/// neither learns anything from its share. Sketches are linear: each server adds up the shares of all parties by itself, and
/// only the two sums are put together. A share has no bytes: the two servers are two values in one program, which is enough to
/// study what sharing gains, and no protocol between machines.
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
///             Some(sum) => sum.merge(share)?,
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
    parties: BTreeSet<ReleaseId>,
    bits: Zeroizing<Vec<u64>>,
    coins: CoinSet,
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
    /// plan; see [`SharedNoise`] for what that rests on. In a plan for users, the items of a user are bounded over **all
    /// parties together**: a user with `k` items at each of three parties changes `3k` cells of the opened sketch. Data that
    /// a party [bounded](Self::with_unit) by itself does not say that, and is refused; whoever knows that no user has more than
    /// `k` items anywhere shares sketches without such a statement under a plan that states it.
    ///
    /// # Errors
    /// [`SharingError::Plan`] for a permit of another ε than the plan's, [`SharingError::Bounded`] for data that was bounded for
    /// users at this party alone, [`SharingError::Mismatch`] for coins that have been released before, and
    /// [`SharingError::Release`] without random bytes. The raw sketch is handed back then; the permit is gone.
    /// [`check_shares`](Self::check_shares) asks before anything is paid for.
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    pub fn into_shares<R>(
        self,
        plan: &SharedNoise,
        permit: Permit<Epsilon>,
        noise: &mut R,
    ) -> Result<[CellShare<M>; 2], Refused<Self, SharingError>>
    where
        R: NoiseSource + ?Sized,
    {
        let fits = permit.stated() == plan.epsilon() && permit.cost() >= plan.level();
        let checked = self.check_shares(plan).and_then(|()| if fits { Ok(()) } else { Err(SharingError::Plan) });
        let checked = checked.and_then(|()| Ok(noise.begin_release().map_err(ReleaseError::from)?));
        match checked {
            Ok(()) => Ok(self.split(plan, noise)),
            Err(error) => Err(Refused::new(self, error)),
        }
    }

    /// Whether [`into_shares`](Self::into_shares) would refuse this data, to be asked before anything is paid for.
    ///
    /// # Errors
    /// [`SharingError::Plan`] for a plan of the other mode, [`SharingError::Bounded`] and [`SharingError::Mismatch`] as for
    /// [`into_shares`](Self::into_shares).
    pub fn check_shares(&self, plan: &SharedNoise) -> Result<(), SharingError> {
        if plan.mode() != M::KIND {
            return Err(SharingError::Plan);
        }
        if self.unit() != Unit::Item {
            return Err(SharingError::Bounded { found: self.unit() });
        }
        if self.exposure > 0.0 {
            return Err(MergeError::Exposure { expected: 0.0, found: self.exposure }.into());
        }
        Ok(())
    }

    /// The two shares, with fresh noise.
    fn split<R: NoiseSource + ?Sized>(&self, plan: &SharedNoise, noise: &mut R) -> [CellShare<M>; 2] {
        let party = ReleaseId::draw(noise);
        let words = self.cells.words().len();
        let mut mask = Zeroizing::new(vec![0; words]);
        noise.fill_words(&mut mask);
        let mut rest = Zeroizing::new(vec![0; words]);
        bernoulli_words(plan.flips(), noise, &mut rest);
        gf2_linalg::xor_into(&mut rest, &mask);
        gf2_linalg::xor_into(&mut rest, self.cells.words());
        let coins = self.named_coins(noise);
        let insecure_noise = noise.is_insecure() || self.insecure_coins;
        let mut server = 0;
        [mask, rest].map(|mut bits| {
            clear_beyond(&mut bits, self.shape().cells());
            let share = CellShare {
                shape: self.shape().clone(),
                rule: self.weight_rule(),
                hash_id: self.hash_id(),
                plan: *plan,
                server,
                parties: BTreeSet::from([party]),
                bits,
                coins: coins.clone(),
                insecure_noise,
                mode: PhantomData,
            };
            server += 1;
            share
        })
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

    /// Adds the share of further parties for the same server, by xor. Takes it, since a share that went into two sums would
    /// be opened twice for one permit.
    ///
    /// # Errors
    /// [`SharingError::Plan`] for another plan, [`SharingError::Server`] for the other server, [`SharingError::Mismatch`] for
    /// another hash, shape or rule of weights, for a party that is in both and for coins that are; nothing is changed then, and the share is
    /// handed back.
    pub fn merge(&mut self, mut other: Self) -> Result<(), Refused<Self, SharingError>> {
        if let Err(error) = self.check_merge(&other) {
            return Err(Refused::new(other, error));
        }
        self.parties.append(&mut other.parties);
        gf2_linalg::xor_into(&mut self.bits, &other.bits);
        self.insecure_noise |= other.insecure_noise;
        self.coins.append(&other.coins);
        Ok(())
    }

    fn check_merge(&self, other: &Self) -> Result<(), SharingError> {
        self.check_plan(other)?;
        if self.server != other.server {
            return Err(SharingError::Server { expected: self.server, found: other.server });
        }
        let (few, many) = if self.parties() < other.parties() { (self, other) } else { (other, self) };
        match few.parties.iter().find(|&party| many.parties.contains(party)) {
            Some(&id) => Err(MergeError::RepeatedRelease { id }.into()),
            None => Ok(self.coins.check_union(&other.coins)?),
        }
    }

    /// Puts the sums of the two servers together: the xor of all parties' sketches under the noise of one release.
    ///
    /// It counts as one release, whose name is the xor of the parties' random names. Its flip probability is that of all
    /// parties' noise together, rounded to a multiple of 2⁻⁶⁴; since only the honest ones are sure to have added theirs, it
    /// says how to estimate, and the level of the release is ε ([`Leaf::is_opened`]).
    ///
    /// # Privacy
    /// ε-differentially private as a whole. Open each set of parties once.
    ///
    /// # Errors
    /// [`SharingError::Parties`] unless all parties of the plan are there, [`SharingError::DifferentParties`],
    /// [`SharingError::Server`] for two shares of one server, and otherwise as for [`merge`](Self::merge). Both shares are
    /// handed back then.
    pub fn open(self, other: Self) -> Result<PrivateF0Sketch<M>, Refused<[Self; 2], SharingError>> {
        match self.check_open(&other) {
            Ok(()) => Ok(self.opened(&other)),
            Err(error) => Err(Refused::new([self, other], error)),
        }
    }

    fn check_open(&self, other: &Self) -> Result<(), SharingError> {
        self.check_plan(other)?;
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
        Ok(())
    }

    fn opened(&self, other: &Self) -> PrivateF0Sketch<M> {
        let mut name = [0; 16];
        for party in &self.parties {
            name.iter_mut().zip(party.to_bytes()).for_each(|(byte, other)| *byte ^= other);
        }
        let (flips, epsilon, unit) = (self.plan.total_flips(), self.plan.epsilon(), self.plan.unit());
        let leaf = Leaf::new(ReleaseId::from_bytes(name), flips, epsilon, unit, M::KIND).opened();
        // No longer secret once the two are put together.
        let mut bits = self.bits.to_vec();
        gf2_linalg::xor_into(&mut bits, &other.bits);
        let insecure = self.insecure_noise || other.insecure_noise;
        PrivateF0Sketch::of_release(self.kind(), bits, leaf, &self.coins, insecure)
    }

    fn check_plan(&self, other: &Self) -> Result<(), SharingError> {
        check_alike(&self.kind(), &other.kind())?;
        if self.plan == other.plan { Ok(()) } else { Err(SharingError::Plan) }
    }

    fn kind(&self) -> Kind<'_> {
        Kind { hash_id: self.hash_id, shape: &self.shape, rule: self.rule }
    }
}
