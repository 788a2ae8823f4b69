//! Golden byte files. `golden/generate.py` wrote them and what they say, in Python and from the definitions alone.
#![expect(clippy::unwrap_used, reason = "in helpers: a test that cannot go on fails")]

use std::{fs, path::Path};

use countsketch_dp::{
    ContributionBound, CountSketch, DecodeError, Leaf, NoiseLaw, PrivacyCost, PrivateCountSketch, UserContribution,
    raw_hash_id,
};
use dp_noise::Neighbouring;
use serde_json::Value;
use sketch_hash::{AnyHash, DefaultHash, HashKey};
use sketch_testkit::assert_round_trips;

/// Bytes and description of every file whose name starts with `prefix`.
fn files(prefix: &str) -> Vec<(String, Vec<u8>, Value)> {
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

fn integer(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no integer: {value}"))
}

fn wide(value: &Value) -> u128 {
    value.as_str().unwrap().parse().unwrap()
}

fn bound(says: &Value) -> ContributionBound {
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

fn records(says: &Value) -> Vec<(u64, i64)> {
    says.as_array().unwrap().iter().map(|record| (integer(&record[0]), record[1].as_i64().unwrap())).collect()
}

#[test]
fn raw_files_are_what_building_from_their_items_gives() {
    for (name, bytes, says) in files("raw-") {
        let hash = AnyHash::matching(raw_hash_id(&bytes).unwrap(), HashKey::DEFAULT).unwrap();
        let read = CountSketch::from_sensitive_bytes(&bytes, hash.clone()).unwrap();
        assert_eq!(u64::from(read.shape().rows()), says["rows"], "{name}");
        assert_eq!(u64::from(read.shape().width()), says["width"], "{name}");
        assert_eq!(u64::from(read.granularity().exponent()), says["granularity"], "{name}");
        assert_eq!(u64::from(read.parts()), says["parts"], "{name}");
        assert_eq!(u64::from(read.releases()), says["releases"], "{name}");
        assert_eq!(read.bound(), bound(&says["bound"]), "{name}");
        assert_eq!(read.hash_id().key().to_string(), says["hash_fingerprint"].as_str().unwrap(), "{name}");
        assert_eq!(*read.to_sensitive_bytes(), bytes, "{name}");

        let mut built = CountSketch::with_granularity(read.shape(), hash.clone(), read.bound(), read.granularity());
        for unit in says["items"].as_array().unwrap() {
            let records = records(unit);
            if read.bound().is_user() {
                let mut user = UserContribution::new(hash.clone());
                for &(item, weight) in &records {
                    user.add_u64(item, weight);
                }
                built.add_user(user).unwrap();
            } else {
                let (items, weights): (Vec<u64>, Vec<i64>) = records.into_iter().unzip();
                built.update_u64_weighted(&items, &weights).unwrap();
            }
        }
        // Parts and releases are counts that no building gives.
        let cells = |sketch: &CountSketch<AnyHash>| sketch.to_sensitive_bytes()[32 + 60..].to_vec();
        assert_eq!(cells(&built), cells(&read), "{name}");
    }
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

fn assert_leaf(leaf: &Leaf, says: &Value) {
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
fn assert_total(got: Option<f64>, want: &Value, name: &str) {
    match (got, want.as_f64()) {
        (None, None) => {}
        (Some(got), Some(want)) => assert!((want..=want * (1.0 + 1e-14)).contains(&got), "{name}: {got} for {want}"),
        (got, want) => panic!("{name}: {got:?} for {want:?}"),
    }
}

#[test]
fn private_files_say_what_stands_beside_them() {
    for (name, bytes, says) in files("private-") {
        let read = PrivateCountSketch::from_bytes_allowing_insecure_noise(&bytes).unwrap();
        assert_eq!(read.insecure_noise(), says["insecure_noise"].as_bool().unwrap(), "{name}");
        assert_eq!(u64::from(read.shape().rows()), says["rows"], "{name}");
        assert_eq!(u64::from(read.shape().width()), says["width"], "{name}");
        assert_eq!(u64::from(read.granularity().exponent()), says["granularity"], "{name}");
        assert_eq!(read.hash_id().key().to_string(), says["hash_fingerprint"].as_str().unwrap(), "{name}");
        let leaves = says["leaves"].as_array().unwrap();
        assert_eq!(read.leaves().len(), leaves.len(), "{name}");
        read.leaves().iter().zip(leaves).for_each(|(leaf, says)| assert_leaf(leaf, says));
        assert_total(read.rho_total(), &says["rho_total"], &name);
        assert_total(read.epsilon_total(), &says["epsilon_total"], &name);
        let sum: i128 = read.all_cells().iter().map(|&cell| i128::from(cell)).sum();
        assert_eq!(sum.to_string(), says["sum_of_cells"].as_str().unwrap(), "{name}");
        assert_round_trips(&read, PrivateCountSketch::to_bytes, PrivateCountSketch::from_bytes_allowing_insecure_noise);
        assert_eq!(read.to_bytes(), bytes, "{name}");
    }
}

#[test]
fn insecure_noise_is_read_only_on_request() {
    for (name, bytes, says) in files("private-") {
        let read = PrivateCountSketch::from_bytes(&bytes);
        if says["insecure_noise"].as_bool().unwrap() {
            assert!(matches!(read, Err(DecodeError::InsecureNoise)), "{name}");
        } else {
            assert!(read.is_ok(), "{name}");
        }
    }
}

#[test]
fn raw_and_private_bytes_are_never_taken_for_each_other() {
    for (_, bytes, _) in files("raw-") {
        let read = PrivateCountSketch::from_bytes_allowing_insecure_noise(&bytes);
        assert!(matches!(read, Err(DecodeError::Wire(_))));
    }
    for (_, bytes, _) in files("private-") {
        let read = CountSketch::from_sensitive_bytes(&bytes, DefaultHash::default());
        assert!(matches!(read, Err(DecodeError::Wire(_))));
        assert!(raw_hash_id(&bytes).is_err());
    }
}
