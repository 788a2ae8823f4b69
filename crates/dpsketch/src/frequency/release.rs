//! From raw to private, with payment.

use countsketch_dp::{PrivacyCost, PrivateCountSketch};
use dp_noise::{Epsilon, Neighbouring, NoiseRng, Permit, Rho};

use super::level::{FrequencyLevel, Noise, PricedRelease};
use super::raw::RawCountSketch;
use crate::error::{Error, ErrorKind};

/// A permit in the currency that a release is paid in.
///
/// It comes from a [`Ledger`](crate::Ledger), or from [`Payment::standalone`], where the caller keeps the books.
#[derive(Debug, PartialEq)]
#[must_use = "a payment that is dropped is budget spent for nothing"]
pub enum Payment {
    /// For Gaussian noise.
    Rho(Permit<Rho>),
    /// For Laplace noise.
    Epsilon(Permit<Epsilon>),
}

impl Payment {
    /// A payment without a ledger: the caller adds up what is spent.
    ///
    /// # Privacy
    /// Releases about the same people add up.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] for a currency that no release has.
    pub fn standalone(cost: PrivacyCost) -> Result<Self, Error> {
        match cost {
            PrivacyCost::Rho(rho) => Ok(Self::Rho(Permit::standalone(rho))),
            PrivacyCost::Epsilon(epsilon) => Ok(Self::Epsilon(Permit::standalone(epsilon))),
            _ => Err(Error::new(ErrorKind::Internal, "a release costs rho or epsilon")),
        }
    }
}

impl RawCountSketch {
    /// Adds noise to every cell and gives up the raw sketch.
    ///
    /// # Errors
    /// [`ErrorKind::Entropy`] when the operating system gives no randomness, [`ErrorKind::Parameter`] for noise out of range.
    ///
    /// # Privacy
    /// The result is private at `level` for data sets that differ in one [unit](Self::bound), as `relation` says. The caller
    /// keeps the books: this counts nothing.
    ///
    /// # Examples
    /// ```
    /// use dpsketch::countsketch_dp::dp_noise::{Neighbouring, Rho};
    /// use dpsketch::countsketch_dp::{CountSketchShape, Granularity};
    /// use dpsketch::sketch_hash::AnyHash;
    /// use dpsketch::{CountSketchTerms, FrequencyBuilder, FrequencyLevel, TextRules};
    ///
    /// let terms = CountSketchTerms::records(CountSketchShape::new(5, 1024)?, Granularity::ONE, 1)?;
    /// let builder = FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default())?;
    /// let private = builder.finish()?.release(FrequencyLevel::Rho(Rho::new(0.25)?), Neighbouring::AddRemove)?;
    /// assert_eq!(private.noise_variance(), 10.0); // 5 rows / (2 · 0.25)
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn release(self, level: FrequencyLevel, relation: Neighbouring) -> Result<PrivateCountSketch, Error> {
        let priced = level.price(self.exposure(relation))?;
        let payment = Payment::standalone(priced.cost())?;
        self.release_paid(&priced, payment)
    }

    /// As [`release`](Self::release), with noise that was priced before and is paid for.
    ///
    /// # Errors
    /// As [`release`](Self::release); [`ErrorKind::Refused`] when the payment is in another currency or too small, or when the
    /// price is for another sketch.
    ///
    /// # Privacy
    /// As [`release`](Self::release).
    pub fn release_paid(self, priced: &PricedRelease, payment: Payment) -> Result<PrivateCountSketch, Error> {
        self.release_with(priced, payment, &mut NoiseRng::from_os()?)
    }

    pub(super) fn release_with(
        self,
        priced: &PricedRelease,
        payment: Payment,
        noise: &mut NoiseRng,
    ) -> Result<PrivateCountSketch, Error> {
        let relation = priced.exposure().relation();
        if priced.exposure() != self.exposure(relation) {
            return Err(refused("the price is for a sketch of another shape or bound"));
        }
        Ok(match (priced.noise(), payment) {
            // The noise is for what the permit really paid, which a ledger may have rounded.
            (Noise::Rho { stated, .. }, Payment::Rho(permit)) if permit.stated() == stated => {
                self.0.release_with(relation, permit, noise)?
            }
            (Noise::Planned(terms), Payment::Rho(permit)) => self.0.release_planned(terms, permit, noise)?,
            (Noise::Laplace(epsilon), Payment::Epsilon(permit)) if permit.stated() == epsilon => {
                self.0.release_laplace_with(relation, permit, noise)?
            }
            _ => return Err(refused("the payment is not for this release")),
        })
    }
}

fn refused(message: &str) -> Error {
    Error::new(ErrorKind::Refused, message).hint("pay what the price says")
}

#[cfg(test)]
mod tests {
    use countsketch_dp::{CountSketchShape, Granularity, NoiseLaw};
    use dp_noise::{Delta, L1Sensitivity, Scale};
    use sketch_hash::AnyHash;

    use super::*;
    use crate::frequency::{CountSketchTerms, FrequencyBuilder};
    use crate::text::TextRules;

    fn raw(rows: u8, max_weight: u64) -> RawCountSketch {
        let shape = CountSketchShape::new(rows, 64).unwrap();
        let terms = CountSketchTerms::records(shape, Granularity::ONE, max_weight).unwrap();
        FrequencyBuilder::new(terms, AnyHash::default(), TextRules::default()).unwrap().finish().unwrap()
    }

    fn law(private: &PrivateCountSketch) -> NoiseLaw {
        private.leaves()[0].law()
    }

    #[test]
    fn pure_noise_has_the_scale_of_the_l1_norm() {
        let level = FrequencyLevel::Pure(Epsilon::new(0.5).unwrap());
        for (relation, factor) in [(Neighbouring::AddRemove, 1), (Neighbouring::Substitute, 2)] {
            let private = raw(3, 4).release(level, relation).unwrap();
            // k W / epsilon = 24.
            assert_eq!(law(&private), NoiseLaw::Laplace { scale: Scale::new(24 * factor, 1).unwrap() });
            assert_eq!(private.epsilon_total(), Some(0.5));
        }
        assert_eq!(raw(3, 4).exposure(Neighbouring::AddRemove).l1().ok(), L1Sensitivity::new(12).ok());
    }

    #[test]
    fn approximate_levels_are_exact_for_records_and_charge_the_variance_used() {
        let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
        let level = FrequencyLevel::Approximate { epsilon, delta };
        let variance = |relation| {
            let priced = level.price(raw(5, 1).exposure(relation)).unwrap();
            let variance = priced.gaussian().unwrap().variance().to_f64();
            let PrivacyCost::Rho(rho) = priced.cost() else { panic!("Gaussian noise costs rho") };
            // D2^2 / (2 sigma^2), 5 or 20 for the squared norm.
            let square = if relation == Neighbouring::AddRemove { 5.0 } else { 20.0 };
            assert!((rho.get() * 2.0 * variance / square - 1.0).abs() < 1e-9);
            let private = raw(5, 1).release_paid(&priced, Payment::standalone(priced.cost()).unwrap()).unwrap();
            assert!((private.rho_total().unwrap() / rho.get() - 1.0).abs() < 1e-12);
            variance
        };
        // Golden figures of both calibrations, per unit of norm: 4.225 exactly, 4.531 through zCDP.
        assert!(((variance(Neighbouring::AddRemove) / 5.0).sqrt() - 4.225).abs() < 0.01);
        assert!(((variance(Neighbouring::Substitute) / 20.0).sqrt() - 4.531).abs() < 0.001);
    }

    #[test]
    fn a_payment_for_something_else_is_refused() {
        let (small, large) = (Rho::new(0.1).unwrap(), Rho::new(0.2).unwrap());
        let priced = FrequencyLevel::Rho(large).price(raw(3, 1).exposure(Neighbouring::AddRemove)).unwrap();
        let epsilon = Permit::standalone(Epsilon::new(1.0).unwrap());
        for payment in [Payment::Rho(Permit::standalone(small)), Payment::Epsilon(epsilon)] {
            assert_eq!(raw(3, 1).release_paid(&priced, payment).unwrap_err().kind(), ErrorKind::Refused);
        }
        let payment = Payment::standalone(priced.cost()).unwrap();
        assert_eq!(raw(3, 2).release_paid(&priced, payment).unwrap_err().kind(), ErrorKind::Refused);
        let exposure = raw(5, 1).exposure(Neighbouring::AddRemove);
        let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
        let planned = FrequencyLevel::Approximate { epsilon, delta }.price(exposure).unwrap();
        let little = Payment::Rho(Permit::standalone(Rho::new(1e-3).unwrap()));
        assert_eq!(raw(5, 1).release_paid(&planned, little).unwrap_err().kind(), ErrorKind::Refused);
    }
}
