//! Sketches of symmetric noise from sketches of any.

use dp_noise::NoiseSource;

use crate::error::MergeError;
use crate::lineage::{Lineage, Outcome, Step};
use crate::noisy::{NoisyBits, clear_beyond};
use crate::private::PrivateBitmap;
use crate::shape::BitmapShape;
use crate::thin::Thinning;

impl<S: BitmapShape> PrivateBitmap<S> {
    /// The same sketch with just enough noise on top that ones and zeros are inverted alike, `p + q = 1`.
    ///
    /// Extremal merges keep more of the signal than the published form, which other programs expect. Where `p + q > 1`
    /// each one is kept with probability `1/(p + q)`; where `p + q < 1`, as after the xor family, each zero becomes a one
    /// with probability `(1 − p − q)/(2 − p − q)`. The result of an extremal merge follows the same law as if it had been
    /// merged in the published form. A symmetric sketch is returned as it is.
    ///
    /// Done twice to one sketch it gives two degraded copies of it, which a merge refuses to put together.
    ///
    /// # Privacy
    /// Post-processing, like a merge: costs nothing, and the coins should be secret.
    ///
    /// # Errors
    /// [`MergeError::Entropy`] without random bytes; [`MergeError::Channel`] when hardly any signal is left.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> Result<(), Box<dyn core::error::Error>> {
    /// # #[cfg(feature = "os-rng")] {
    /// use sfm_pcsa::dp_noise::{Epsilon, NoiseRng, Permit};
    /// use sfm_pcsa::sketch_hash::DefaultHash;
    /// use sfm_pcsa::{MergeForm, PcsaShape, PcsaSketch};
    /// let mut noise = NoiseRng::from_os()?;
    /// let mut release = || {
    ///     let raw = PcsaSketch::new(PcsaShape::DEFAULT, DefaultHash::default());
    ///     raw.release(Permit::standalone(Epsilon::new(1.0)?), &mut noise).map_err(Box::<dyn core::error::Error>::from)
    /// };
    /// let (a, b) = (release()?, release()?);
    /// let union = a.merge(&b, MergeForm::Extremal, &mut noise)?.symmetrised(&mut noise)?;
    /// assert!((union.channel().p() + union.channel().q() - 1.0).abs() < 1e-15);
    /// assert!((union.channel().q() - 0.375_165).abs() < 1e-6);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn symmetrised<R>(&self, noise: &mut R) -> Result<Self, MergeError>
    where
        R: NoiseSource + ?Sized,
    {
        Ok(Self::from_noisy(self.shape(), self.hash_id(), symmetrised(self.noisy(), noise)?))
    }
}

fn symmetrised<R: NoiseSource + ?Sized>(input: &NoisyBits, noise: &mut R) -> Result<NoisyBits, MergeError> {
    let outcome = input.outcome();
    let Some(thinning) = Thinning::new(outcome.channel)? else { return Ok(input.clone()) };
    noise.begin_release()?;
    let mut bits = thinning.draw(input.bits(), noise);
    clear_beyond(&mut bits, input.cells());
    let outcome = Outcome { channel: thinning.channel(), randomised: outcome.randomised + 1 };
    let insecure = input.insecure_noise() || noise.is_insecure();
    let lineage = Lineage::joined(&[input.lineage()], Step::Symmetrise);
    Ok(NoisyBits::from_parts(input.cells(), bits, lineage, outcome, insecure)?)
}
