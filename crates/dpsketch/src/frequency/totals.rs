//! What the releases in private sketches cost together.

use countsketch_dp::{Leaf, NoiseLaw, PrivacyCost, PrivateCountSketch};
use dp_noise::{Delta, Rho, pure_to_zcdp, zcdp_to_dp};
use serde_json::{Value, json};

use super::terms::unit_in_words;

/// For which δ a level in ρ is told as ε, too.
const DELTAS: [f64; 2] = [1e-6, 1e-9];

/// The costs of some sketches. Numbers that do not exist are `None`: ε where some noise is Gaussian, sums where releases
/// protect different units.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Totals {
    /// The largest ρ of a single release, a pure one at ε²/2.
    pub(super) rho: Option<f64>,
    /// What somebody in all of them paid in zCDP.
    pub(super) rho_total: Option<f64>,
    /// The largest ε, if all releases are pure.
    pub(super) epsilon: Option<f64>,
    /// What somebody in all of them paid in pure ε.
    pub(super) epsilon_total: Option<f64>,
    /// Whom they protect, each unit once.
    pub(super) units: Vec<String>,
    /// The number of releases.
    pub(super) releases: usize,
}

impl Totals {
    pub(super) fn of(sketches: &[&PrivateCountSketch]) -> Self {
        let leaves = || sketches.iter().flat_map(|sketch| sketch.leaves());
        let costs: Vec<PrivacyCost> = leaves().filter_map(Leaf::guarantee).map(|guarantee| guarantee.cost()).collect();
        let largest = |of: &dyn Fn(&PrivacyCost) -> Option<f64>| {
            costs.iter().map(of).collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
        };
        let one_unit = one_unit(leaves());
        let total = |of: &dyn Fn(&PrivateCountSketch) -> Option<f64>| {
            let sum = sketches.iter().try_fold(0.0, |sum, sketch| Some(add_up(sum, of(sketch)?)));
            sum.filter(|_| one_unit && !sketches.is_empty())
        };
        let mut units: Vec<String> = Vec::new();
        for sketch in sketches {
            for guarantee in sketch.leaves().iter().filter_map(Leaf::guarantee) {
                let unit = unit_in_words(guarantee.bound(), sketch.granularity());
                if !units.contains(&unit) {
                    units.push(unit);
                }
            }
        }
        Self {
            rho: largest(&in_rho),
            rho_total: total(&PrivateCountSketch::rho_total),
            epsilon: largest(&in_epsilon),
            epsilon_total: total(&PrivateCountSketch::epsilon_total),
            units,
            releases: leaves().count(),
        }
    }

    /// `rho, rho_total, epsilon, epsilon_total, epsilon_at_delta, unit, sketches`.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "rho": self.rho,
            "rho_total": self.rho_total,
            "epsilon": self.epsilon,
            "epsilon_total": self.epsilon_total,
            "epsilon_at_delta": self.at_delta(),
            "unit": (!self.units.is_empty()).then(|| self.units.join("; ")),
            "sketches": self.releases,
        })
    }

    /// The total as (ε, δ) statements, by the tight conversion.
    fn at_delta(&self) -> Option<Vec<Value>> {
        let rho = Rho::new(self.rho_total?).ok()?;
        let statement = |delta: f64| {
            let epsilon = zcdp_to_dp(rho, Delta::new(delta).ok()?);
            Some(json!({ "delta": delta, "epsilon": epsilon }))
        };
        DELTAS.into_iter().map(statement).collect()
    }
}

/// Whether all releases protect records, or all users, under one relation: otherwise their costs do not add up.
fn one_unit<'a>(leaves: impl Iterator<Item = &'a Leaf>) -> bool {
    let mut kinds =
        leaves.filter_map(Leaf::guarantee).map(|guarantee| (guarantee.bound().is_user(), guarantee.relation()));
    let first = kinds.next();
    kinds.all(|kind| Some(kind) == first)
}

fn in_rho(cost: &PrivacyCost) -> Option<f64> {
    match cost {
        PrivacyCost::Rho(rho) => Some(rho.get()),
        PrivacyCost::Epsilon(epsilon) => pure_to_zcdp(*epsilon).ok().map(Rho::get),
        _ => None,
    }
}

fn in_epsilon(cost: &PrivacyCost) -> Option<f64> {
    match cost {
        PrivacyCost::Epsilon(epsilon) => Some(epsilon.get()),
        _ => None,
    }
}

/// A sum, rounded up.
fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // The rounding error of a sum is itself an f64 (Knuth's two-sum).
    let seen = sum - a;
    if (a - (sum - seen)) + (b - seen) > 0.0 { sum.next_up() } else { sum }
}

/// One release: `id, law, variance or scale, factor, rho or epsilon, unit, relation, parts`.
pub(super) fn release_json(leaf: &Leaf, granularity: countsketch_dp::Granularity) -> Value {
    let fraction = |numerator: u128, denominator: u64| format!("{numerator}/{denominator}");
    let (law, parameter) = match leaf.law() {
        NoiseLaw::Gaussian { variance } => {
            ("discrete gaussian", fraction(variance.numerator(), variance.denominator()))
        }
        NoiseLaw::Laplace { scale } => ("discrete laplace", fraction(scale.numerator(), scale.denominator())),
        NoiseLaw::GaussianShares { share, .. } => {
            ("discrete gaussian shares", fraction(share.numerator(), share.denominator()))
        }
        NoiseLaw::LaplaceShares { scale, .. } => {
            ("discrete laplace shares", fraction(scale.numerator(), scale.denominator()))
        }
        _ => ("unknown", String::new()),
    };
    let guarantee = leaf.guarantee();
    json!({
        "id": leaf.id().to_string(),
        "law": law,
        "parameter": parameter,
        "factor": leaf.factor(),
        "rho": guarantee.and_then(|guarantee| match guarantee.cost() {
            PrivacyCost::Rho(rho) => Some(rho.get()),
            _ => None,
        }),
        "epsilon": guarantee.and_then(|guarantee| in_epsilon(&guarantee.cost())),
        "unit": guarantee.map(|guarantee| unit_in_words(guarantee.bound(), granularity)),
        "relation": guarantee.map(|guarantee| relation_in_words(guarantee.relation())),
        "parts": guarantee.map(|guarantee| guarantee.parts()),
    })
}

/// Which data sets are neighbours, as options name it.
pub(super) const fn relation_in_words(relation: dp_noise::Neighbouring) -> &'static str {
    match relation {
        dp_noise::Neighbouring::AddRemove => "add_remove",
        dp_noise::Neighbouring::Substitute => "substitute",
    }
}
