//! Released sketches kept together as counts of ones, cell by cell.

mod answers;
mod error;
mod flips;
mod groups;
mod histogram;
mod planes;
mod thin;
mod wire;

use cardinality_estimators::BitChannel;
use cardinality_estimators::tally::TallyClass;
use sketch_hash::HashId;

use crate::error::MergeError;
use crate::leaf::{Leaf, ReleaseId};
use crate::merge::check_alike;
use crate::noisy::{largest_epsilon, sum_of_epsilon, units_of};
use crate::params::PcsaShape;
use crate::private::SfmSketch;
use crate::unit::Unit;
use flips::Flips;
use planes::Planes;

pub use answers::tally_counts;
pub use error::{TallyError, TallyFault};
pub use groups::{group_counts, sketch_group_counts};
#[cfg(feature = "serde")]
pub(crate) use wire::TallyBodyV1;

/// Several released sketches kept together: for every cell the number of them that hold a one.
///
/// A merge of private sketches draws noise that nobody needs while the releases themselves are at hand. A tally keeps what
/// an estimate of their union can use: the numbers of ones cell by cell, and of every release its name, its noise and its
/// ones per level. Tallies merge by addition: exactly, without coins, and in any order, down to the bytes. One release is
/// a tally of one.
///
/// Releases of one channel are added up, those of another in a class of their own. Up to two classes can be
/// [estimated](Self::estimate), more after [`thin`](Self::thin). A class of `k` releases takes
/// `B · P · ⌈log2(k + 1)⌉` bits, and every release `46 + 4 P` bytes.
///
/// Source: ours.
///
/// # Privacy
/// Made from released sketches without looking at data: costs nothing. What it states is what they have cost:
/// [`epsilon`](Self::epsilon) and [`epsilon_total`](Self::epsilon_total) are not lower because sketches were added up.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use sfm_pcsa::cardinality_estimators::Confidence;
/// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
/// use sfm_pcsa::sketch_hash::DefaultHash;
/// use sfm_pcsa::{PcsaShape, PcsaSketch, SfmTally, tally_of};
///
/// let mut noise = NoiseRng::from_os()?;
/// let mut releases = Vec::new();
/// for party in 0..8_u64 {
///     let mut raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
///     raw.update_u64_batch(&(party * 10_000..party * 10_000 + 20_000).collect::<Vec<_>>());
///     releases.push(raw.release(Permit::standalone(Epsilon::new(2.0)?), &mut noise)?);
/// }
/// let mut tally = tally_of(&releases[..4].iter().collect::<Vec<_>>())?;
/// tally.merge(&tally_of(&releases[4..].iter().collect::<Vec<_>>())?)?;
/// assert_eq!((tally.sketches(), tally.epsilon(), tally.epsilon_total()), (8, 2.0, Some(16.0)));
/// assert!(tally.add(&releases[0]).is_err(), "every release counts once");
///
/// let union = SfmTally::from_bytes(&tally.to_bytes())?.estimate(Confidence::P95)?.estimate();
/// assert!((union.value().ok_or("no value")? / 90_000.0 - 1.0).abs() < 0.3, "ten standard errors");
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq)]
pub struct SfmTally {
    shape: PcsaShape,
    hash_id: HashId,
    /// By rising flips.
    classes: Vec<Class>,
    /// By rising names.
    releases: Vec<Tallied>,
    insecure_noise: bool,
}

/// Releases whose bits came through one channel.
#[derive(Clone, PartialEq)]
struct Class {
    flips: Flips,
    /// The same for the estimators.
    channel: BitChannel,
    planes: Planes,
}

/// One release in a tally.
#[derive(Clone, PartialEq)]
struct Tallied {
    leaf: Leaf,
    /// The channel of the class: the release's own unless it was thinned.
    class: Flips,
    /// Ones per level of the release as it was made.
    ones: Vec<u32>,
}

impl core::fmt::Debug for SfmTally {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SfmTally")
            .field("shape", &self.shape)
            .field("hash", &self.hash_id)
            .field("releases", &self.releases.len())
            .field("classes", &self.classes.len())
            .field("epsilon", &self.epsilon())
            .field("epsilon_total", &self.epsilon_total())
            .field("insecure_noise", &self.insecure_noise)
            .finish_non_exhaustive()
    }
}

impl SfmTally {
    /// The most releases of one tally: as many as an estimate takes. Of more, merge the sketches themselves.
    pub const MAX_RELEASES: usize = 256;

    /// The most channels that one tally keeps apart.
    pub const MAX_CLASSES: usize = 16;

    /// The tally of one release.
    ///
    /// # Privacy
    /// Costs nothing.
    ///
    /// # Errors
    /// [`TallyError::Merged`] for a sketch that is a merge, or that had noise put on top.
    pub fn new(sketch: &SfmSketch) -> Result<Self, TallyError> {
        let merged = TallyError::Merged { releases: sketch.leaves().len() };
        let &leaf = sketch.noisy().lineage().only_release().ok_or(merged)?;
        let flips = Flips { p: leaf.p_numerator(), q: leaf.q_numerator() };
        let mut planes = Planes::new();
        planes.add_bits(sketch.noisy().bits());
        // A level has at most 2^20 cells.
        let ones = sketch.ones_per_level().into_iter().map(|ones| u32::try_from(ones).unwrap_or(u32::MAX)).collect();
        Ok(Self {
            shape: sketch.shape(),
            hash_id: sketch.hash_id(),
            classes: vec![Class { flips, channel: sketch.channel(), planes }],
            releases: vec![Tallied { leaf, class: flips, ones }],
            insecure_noise: sketch.insecure_noise(),
        })
    }

    /// Counts one release more. The result does not depend on the order in which releases are added.
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`merge`](Self::merge). A tally that refuses a sketch stays as it was.
    pub fn add(&mut self, sketch: &SfmSketch) -> Result<(), TallyError> {
        self.merge(&Self::new(sketch)?)
    }

    /// Adds the releases of another tally: exact, without coins, associative and commutative.
    ///
    /// # Privacy
    /// Costs nothing.
    ///
    /// # Errors
    /// [`TallyError::Mismatch`] for another hash or shape, for a release that is in both, and for more than
    /// [`MAX_RELEASES`](Self::MAX_RELEASES) together; [`TallyError::Classes`] for more than
    /// [`MAX_CLASSES`](Self::MAX_CLASSES) channels. A tally that refuses another one stays as it was.
    pub fn merge(&mut self, other: &Self) -> Result<(), TallyError> {
        self.check(other)?;
        for class in &other.classes {
            match self.classes.binary_search_by_key(&class.flips, |own| own.flips) {
                Ok(index) => self.classes[index].planes.add(&class.planes),
                Err(index) => self.classes.insert(index, class.clone()),
            }
        }
        self.releases.extend(other.releases.iter().cloned());
        self.releases.sort_unstable_by_key(|release| release.leaf.id());
        self.insecure_noise |= other.insecure_noise;
        Ok(())
    }

    fn check(&self, other: &Self) -> Result<(), TallyError> {
        check_alike((self.hash_id, self.shape), (other.hash_id, other.shape))?;
        let repeated = other.releases.iter().find(|release| self.contains(release.leaf.id()));
        if let Some(release) = repeated {
            return Err(MergeError::RepeatedRelease { id: release.leaf.id() }.into());
        }
        let found = self.releases.len() + other.releases.len();
        if found > Self::MAX_RELEASES {
            return Err(MergeError::TooManyReleases { max: Self::MAX_RELEASES, found }.into());
        }
        let new = other.classes.iter().filter(|class| self.class_index(class.flips).is_none());
        let found = self.classes.len() + new.count();
        if found > Self::MAX_CLASSES {
            return Err(TallyError::Classes { max: Self::MAX_CLASSES, found });
        }
        Ok(())
    }

    fn class_index(&self, flips: Flips) -> Option<usize> {
        self.classes.binary_search_by_key(&flips, |class| class.flips).ok()
    }

    /// Whether a release is counted here.
    #[must_use]
    pub fn contains(&self, id: ReleaseId) -> bool {
        self.releases.binary_search_by_key(&id, |release| release.leaf.id()).is_ok()
    }

    /// The shape, which two tallies must share to be merged.
    #[must_use]
    pub const fn shape(&self) -> PcsaShape {
        self.shape
    }

    /// Which hash function and key decided the cells.
    #[must_use]
    pub const fn hash_id(&self) -> HashId {
        self.hash_id
    }

    /// The number of releases, k.
    #[must_use]
    pub const fn sketches(&self) -> usize {
        self.releases.len()
    }

    /// The releases, by rising names, with the noise each was made with.
    #[must_use]
    pub fn releases(&self) -> impl ExactSizeIterator<Item = &Leaf> + Clone {
        self.releases.iter().map(|release| &release.leaf)
    }

    /// Whether some bits carry more noise than their release was made with, see [`thin`](Self::thin).
    #[must_use]
    pub fn is_thinned(&self) -> bool {
        self.releases.iter().any(Tallied::is_thinned)
    }

    /// The channels of the bits and how many releases came through each, by rising `p`, then `q`.
    #[must_use]
    pub fn classes(&self) -> Vec<TallyClass> {
        let class = |class: &Class| TallyClass { channel: class.channel, sketches: class.planes.count() as usize };
        self.classes.iter().map(class).collect()
    }

    /// Whom the releases protect: each unit that occurs, once, the smallest first.
    #[must_use]
    pub fn units(&self) -> Vec<Unit> {
        units_of(self.releases())
    }

    /// The largest ε among the releases: what one data set paid at most.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        largest_epsilon(self.releases())
    }

    /// The sum of ε over the releases, rounded up: what somebody paid who is in all of the data sets. `None` when some
    /// releases protect items and others users, whose ε do not add up.
    #[must_use]
    pub fn epsilon_total(&self) -> Option<f64> {
        sum_of_epsilon(self.releases())
    }

    /// Whether some noise came from the reproducible test generator, so that nobody is protected.
    #[must_use]
    pub const fn insecure_noise(&self) -> bool {
        self.insecure_noise
    }
}

impl Tallied {
    fn flips(&self) -> Flips {
        Flips { p: self.leaf.p_numerator(), q: self.leaf.q_numerator() }
    }

    fn is_thinned(&self) -> bool {
        self.class != self.flips()
    }
}

/// The tally of several releases.
///
/// # Privacy
/// Costs nothing.
///
/// # Errors
/// As [`SfmTally::new`] and [`SfmTally::merge`]; [`TallyError::Mismatch`] without any sketch.
///
/// # Examples
/// See [`SfmTally`].
pub fn tally_of(sketches: &[&SfmSketch]) -> Result<SfmTally, TallyError> {
    let (first, others) = sketches.split_first().ok_or(MergeError::Empty)?;
    let mut tally = SfmTally::new(first)?;
    others.iter().try_for_each(|sketch| tally.add(sketch))?;
    Ok(tally)
}
