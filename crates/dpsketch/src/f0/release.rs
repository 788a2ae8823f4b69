//! From raw to private.

use dp_noise::{Epsilon, NoiseRng, Permit};
use f0_sketch::NoiseRule;

use super::any::ReleasedF0Sketch;
use super::raw::{RawF0Sketch, RawMode, each_mode};
use crate::error::Error;

impl RawF0Sketch {
    /// Whether a release at `epsilon` would be refused, to be asked before anything is paid for.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) when the ε that is left for a single item of a user is below the
    /// least accepted one.
    pub fn check_release(&self, epsilon: Epsilon) -> Result<(), Error> {
        Ok(each_mode!(RawMode: &self.0, raw => raw.check_release(raw.unit(), epsilon))?)
    }

    /// Flips cells at random, with the least noise that keeps ε, and gives up the raw sketch.
    ///
    /// # Errors
    /// [`ErrorKind::Entropy`](crate::ErrorKind::Entropy) when the operating system gives no randomness, and as
    /// [`check_release`](Self::check_release).
    ///
    /// # Privacy
    /// The result is ε-differentially private for data sets that differ in one [unit](Self::unit) with all its rows; see
    /// [`F0Sketch::release`](f0_sketch::F0Sketch::release). The caller keeps the books: this counts nothing.
    ///
    /// # Examples
    /// ```
    /// use dpsketch::f0_sketch::F0Shape;
    /// use dpsketch::sketch_hash::AnyHash;
    /// use dpsketch::{F0Builder, F0Terms, TextRules, parse_epsilon};
    ///
    /// let builder = F0Builder::operations(F0Terms::unit(F0Shape::DEFAULT), AnyHash::default(), TextRules::default());
    /// let private = builder.finish()?.0.release(parse_epsilon("1")?)?;
    /// assert!((private.contrast() - 0.5_f64.tanh()).abs() < 1e-12); // 1 − 2p with p = 1/(1 + e)
    /// # Ok::<(), dpsketch::Error>(())
    /// ```
    pub fn release(self, epsilon: Epsilon) -> Result<ReleasedF0Sketch, Error> {
        self.release_paid(NoiseRule::Tight, Permit::standalone(epsilon))
    }

    /// As [`release`](Self::release), with a choice of the noise and a permit that is paid for.
    ///
    /// # Errors
    /// As [`release`](Self::release).
    ///
    /// # Privacy
    /// As [`release`](Self::release). [`NoiseRule::Paper`] is paid and recorded at the permit's ε, although it spends less
    /// ([`Leaf::realised_level`](f0_sketch::Leaf::realised_level)).
    pub fn release_paid(self, rule: NoiseRule, permit: Permit<Epsilon>) -> Result<ReleasedF0Sketch, Error> {
        self.release_with(rule, permit, &mut NoiseRng::from_os()?)
    }

    pub(crate) fn release_with(
        self,
        rule: NoiseRule,
        permit: Permit<Epsilon>,
        noise: &mut NoiseRng,
    ) -> Result<ReleasedF0Sketch, Error> {
        Ok(match self.0 {
            RawMode::Set(raw) => {
                let unit = raw.unit();
                ReleasedF0Sketch::Set(raw.release_with(rule, unit, permit, noise)?)
            }
            RawMode::Presampled(raw) => {
                let unit = raw.unit();
                ReleasedF0Sketch::Presampled(raw.release_with(rule, unit, permit, noise)?)
            }
        })
    }

    /// Counts a release at `epsilon` that is about to happen in another copy. To be written back before any noise is drawn.
    pub(super) fn record_release(&mut self, epsilon: Epsilon) -> Result<u32, Error> {
        match &mut self.0 {
            RawMode::Set(raw) => Ok(raw.record_release()),
            // The tight noise is of the largest level, so that later releases are safe whichever rule this one follows.
            RawMode::Presampled(raw) => Ok(raw.record_release(raw.unit(), epsilon)?),
        }
    }
}
