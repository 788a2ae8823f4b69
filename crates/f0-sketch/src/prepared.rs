//! Releases of coins that are kept in a file.

use core::fmt;

use dp_noise::{Epsilon, NoiseSource, Permit};
use sketch_hash::KeyedHash;

use crate::error::ReleaseError;
use crate::mode::Presampled;
use crate::noise::NoiseRule;
use crate::private::PrivateF0Sketch;
use crate::sketch::F0Sketch;
use crate::unit::Unit;

/// A release that another copy of the same coins has on record: the only thing that can be done with it is that release.
///
/// See [`prepare_release`](F0Sketch::prepare_release).
#[must_use = "a release that is on record and is not made is budget spent for nothing"]
pub struct PreparedRelease<H: KeyedHash> {
    raw: F0Sketch<Presampled, H>,
    rule: NoiseRule,
    unit: Unit,
    epsilon: Epsilon,
}

impl<H: KeyedHash> fmt::Debug for PreparedRelease<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedRelease")
            .field("raw", &self.raw)
            .field("rule", &self.rule)
            .field("unit", &self.unit)
            .field("epsilon", &self.epsilon)
            .finish()
    }
}

impl<H: KeyedHash + Clone> F0Sketch<Presampled, H> {
    /// Splits into what goes back to the file, with the release on record, and the release itself, which is held to the
    /// same noise, unit and ε.
    ///
    /// The first is written back *before* the second draws noise: if the program stops between the two, a release is on
    /// record that was not made, and later ones have more noise than they need.
    ///
    /// # Privacy
    /// All releases of these coins together lose at most the sum of their permits, as with
    /// [`release_keeping`](Self::release_keeping), as long as the file is replaced by what is written back.
    ///
    /// # Errors
    /// [`ReleaseError::Share`] and [`ReleaseError::Unit`] as for [`release_with`](Self::release_with);
    /// [`check_release`](Self::check_release) asks before.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use f0_sketch::{F0Shape, F0Sketch, NoiseRule, Presampled, Unit, WeightRule};
    /// use f0_sketch::dp_noise::{Epsilon, NoiseRng, Permit};
    /// use f0_sketch::sketch_hash::DefaultHash;
    ///
    /// let (epsilon, mut random) = (Epsilon::new(1.0)?, NoiseRng::from_os()?);
    /// let mut raw: F0Sketch<Presampled> =
    ///     F0Sketch::new(F0Shape::DEFAULT, WeightRule::Unit, DefaultHash::default());
    /// raw.observe_u64_batch(&[1, 1, 2, 3, 5, 8], &mut random)?;
    /// let (kept, prepared) = raw.prepare_release(NoiseRule::Tight, Unit::Item, epsilon)?;
    /// let file = kept.to_sensitive_bytes(); // write it back, then:
    /// let private = prepared.release(Permit::standalone(epsilon), &mut random)?;
    /// assert!((private.leaves()[0].flip_probability() - 0.183_94).abs() < 1e-5);
    /// let later = F0Sketch::<Presampled>::from_sensitive_bytes(&file, DefaultHash::default())?;
    /// assert_eq!(later.releases(), 1);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn prepare_release(
        self,
        rule: NoiseRule,
        unit: Unit,
        epsilon: Epsilon,
    ) -> Result<(Self, PreparedRelease<H>), ReleaseError> {
        let raw = self.copied();
        let mut kept = self;
        kept.record_release(unit, epsilon)?;
        Ok((kept, PreparedRelease { raw, rule, unit, epsilon }))
    }
}

impl<H: KeyedHash> PreparedRelease<H> {
    /// The ε on record.
    #[must_use]
    pub const fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// Whom the release on record protects.
    #[must_use]
    pub const fn unit(&self) -> Unit {
        self.unit
    }

    /// Makes the release.
    ///
    /// # Privacy
    /// As for [`release_with`](F0Sketch::release_with).
    ///
    /// # Errors
    /// [`ReleaseError::Permit`] for a permit of another ε than the one on record, and [`ReleaseError::Entropy`] without random
    /// bytes. The permit is gone then, and so is the release.
    pub fn release<R>(self, permit: Permit<Epsilon>, noise: &mut R) -> Result<PrivateF0Sketch<Presampled>, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        let (expected, found) = (self.epsilon.get(), permit.stated().get());
        if self.epsilon != permit.stated() {
            return Err(ReleaseError::Permit { expected, found });
        }
        self.raw.release_with(self.rule, self.unit, permit, noise)
    }
}
