//! One channel for all releases of a tally.

use dp_noise::NoiseSource;

use super::flips::Flips;
use super::planes::{Planes, digits};
use super::{Class, SfmTally, TallyError};
use crate::channel::ChannelError;
use crate::coin::{Coins, Threshold};
use crate::error::MergeError;

impl SfmTally {
    /// The same tally with noise on top that gives all its releases one channel, the least noisy that all can reach.
    ///
    /// For tallies of more than two [classes](Self::classes), which cannot be estimated as they are. Releases of the same
    /// mechanism at several ε are thinned to the channel of the least ε. A cell of number `x` of a class of `k` becomes
    /// `Bin(x, u) + Bin(k − x, w)`, as if the sketches themselves had been thinned: `u − w = D/d`, `w = Q − q D/d` with
    /// `(p, q)` the old channel, `(P, Q)` the new one, `d = p − q` and `D = P − Q`; coins have probabilities within 2⁻⁶⁵ of
    /// these. The releases keep their ε and their ones per level. A tally of one class is returned as it is.
    ///
    /// Source: ours.
    ///
    /// # Privacy
    /// Post-processing: costs nothing, and lowers no ε that was paid.
    ///
    /// # Errors
    /// [`TallyError::Mismatch`] without random bytes, and when the common channel leaves no signal.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
    /// use sfm_pcsa::sketch_hash::DefaultHash;
    /// use sfm_pcsa::{PcsaShape, PcsaSketch, tally_of};
    /// let mut noise = NoiseRng::from_os()?;
    /// let mut parts = Vec::new();
    /// for epsilon in [1.0, 2.0, 4.0] {
    ///     let raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    ///     parts.push(raw.release(Permit::standalone(Epsilon::new(epsilon)?), &mut noise)?);
    /// }
    /// let tally = tally_of(&parts.iter().collect::<Vec<_>>())?;
    /// assert_eq!(tally.classes().len(), 3);
    /// let thinned = tally.thin(&mut noise)?;
    /// assert_eq!(thinned.classes().len(), 1);
    /// assert_eq!(thinned.classes()[0].channel, parts[0].channel());
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn thin<R>(&self, noise: &mut R) -> Result<Self, TallyError>
    where
        R: NoiseSource + ?Sized,
    {
        if self.classes.len() < 2 {
            return Ok(self.clone());
        }
        let flips: Vec<Flips> = self.classes.iter().map(|class| class.flips).collect();
        let target = Flips::common(&flips).map_err(MergeError::from)?;
        let channel = target.bit_channel().map_err(MergeError::from)?;
        noise.begin_release().map_err(MergeError::from)?;
        let mut planes = Planes::new();
        let mut coins = Coins::new(noise);
        for class in &self.classes {
            match class.flips.noise_to(target) {
                Some([Threshold::Below(0), Threshold::Always]) => planes.add(&class.planes),
                Some(thresholds) => planes.add(&thinned(&class.planes, thresholds, self.shape.words(), &mut coins)),
                // Never: every class reaches the common channel.
                None => return Err(MergeError::from(ChannelError::NoSignal { keep: 0.0 }).into()),
            }
        }
        drop(coins);
        let mut thinned = self.clone();
        planes.clear_beyond(self.shape.cells());
        thinned.classes = vec![Class { flips: target, channel, planes }];
        thinned.releases.iter_mut().for_each(|release| release.class = target);
        thinned.insecure_noise |= noise.is_insecure();
        Ok(thinned)
    }
}

/// Sends the ones and zeros of every cell through coins of their own.
fn thinned<R: NoiseSource + ?Sized>(
    planes: &Planes,
    [raised, kept]: [Threshold; 2],
    words: usize,
    coins: &mut Coins<'_, R>,
) -> Planes {
    let count = planes.count();
    let mut out = vec![vec![0; words]; digits(count)];
    for word in 0..words {
        for index in 0..count {
            // Of a cell with x ones, one after the other x ones and then zeros.
            let ones = planes.lanes_above(word, index);
            let mut carry = coins.by_class(&[(ones, kept), (!ones, raised)]);
            for plane in &mut out {
                (plane[word], carry) = (plane[word] ^ carry, plane[word] & carry);
            }
        }
    }
    Planes::from_parts(count, out)
}
