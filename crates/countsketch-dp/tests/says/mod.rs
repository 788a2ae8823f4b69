//! What golden files say of themselves.
#![allow(dead_code, reason = "no test file uses all of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::float_cmp, reason = "numbers of files are read back exactly")]

use std::{fs, path::Path};

use countsketch_dp::{ContributionBound, Leaf, NoiseLaw, PrivacyCost};
use dp_noise::Neighbouring;
use serde_json::Value;

/// Bytes and description of every file whose name starts with `prefix`.
pub(crate) fn files(prefix: &str) -> Vec<(String, Vec<u8>, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".bin").map(str::to_owned))
        .filter(|name| name.starts_with(prefix))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "golden files are missing");
    let read = |name: String| {
        let bytes = fs::read(folder.join(format!("{name}.bin"))).unwrap();
        let says = fs::read(folder.join(format!("{name}.json"))).unwrap();
        (name, bytes, serde_json::from_slice(&says).unwrap())
    };
    names.into_iter().map(read).collect()
}

pub(crate) fn integer(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no integer: {value}"))
}

fn wide(value: &Value) -> u128 {
    value.as_str().unwrap().parse().unwrap()
}

pub(crate) fn bound(says: &Value) -> ContributionBound {
    let (items, weight) = (u32::try_from(integer(&says["items"])).unwrap(), integer(&says["weight"]));
    match integer(&says["kind"]) {
        1 => ContributionBound::entry(weight),
        2 => ContributionBound::user_total(weight),
        3 => ContributionBound::user_items(items, weight),
        4 => ContributionBound::clipped(items, weight, wide(&says["squared_norm"])),
        other => panic!("kind {other}"),
    }
    .unwrap()
}

pub(crate) fn records(says: &Value) -> Vec<(u64, i64)> {
    says.as_array().unwrap().iter().map(|record| (integer(&record[0]), record[1].as_i64().unwrap())).collect()
}

fn parameter(law: NoiseLaw) -> (u64, u128, u64, [u32; 2]) {
    match law {
        NoiseLaw::Gaussian { variance } => (1, variance.numerator(), variance.denominator(), [0; 2]),
        NoiseLaw::Laplace { scale } => (2, scale.numerator(), scale.denominator(), [0; 2]),
        NoiseLaw::GaussianShares { share, secret, summed } => {
            (3, share.numerator(), share.denominator(), [secret, summed])
        }
        NoiseLaw::LaplaceShares { scale, secret, summed } => {
            (4, scale.numerator(), scale.denominator(), [secret, summed])
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn assert_leaf(leaf: &Leaf, says: &Value) {
    assert_eq!(leaf.id().to_string(), says["id"].as_str().unwrap());
    let (law, numerator, denominator, shares) = parameter(leaf.law());
    assert_eq!((law, numerator), (integer(&says["law"]), wide(&says["numerator"])));
    assert_eq!(u128::from(denominator), wide(&says["denominator"]));
    assert_eq!(shares.map(u64::from), [integer(&says["secret"]), integer(&says["summed"])]);
    assert_eq!(Some(leaf.factor()), says["factor"].as_i64());
    let Some(guarantee) = leaf.guarantee() else {
        assert_eq!(integer(&says["relation"]), 0);
        return;
    };
    let relation = if guarantee.relation() == Neighbouring::AddRemove { 1 } else { 2 };
    assert_eq!((relation, u64::from(guarantee.parts())), (integer(&says["relation"]), integer(&says["parts"])));
    assert_eq!(guarantee.bound(), bound(&says["bound"]));
    let cost = match guarantee.cost() {
        PrivacyCost::Rho(rho) => rho.get(),
        PrivacyCost::Epsilon(epsilon) => epsilon.get(),
        other => panic!("{other:?}"),
    };
    assert_eq!(Some(cost), says["cost"].as_f64());
}

/// Sums round up, by a few last places.
pub(crate) fn assert_total(got: Option<f64>, want: &Value, name: &str) {
    match (got, want.as_f64()) {
        (None, None) => {}
        (Some(got), Some(want)) => assert!((want..=want * (1.0 + 1e-14)).contains(&got), "{name}: {got} for {want}"),
        (got, want) => panic!("{name}: {got:?} for {want:?}"),
    }
}
