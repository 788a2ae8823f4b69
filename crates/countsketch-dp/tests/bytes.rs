//! Golden byte files. `golden/generate.py` wrote them and what they say, in Python and from the definitions alone.

mod says;

use countsketch_dp::{CountSketch, DecodeError, PrivateCountSketch, UserContribution, raw_hash_id};
use says::{assert_leaf, assert_total, bound, files, records};
use sketch_hash::{AnyHash, DefaultHash, HashKey};
use sketch_testkit::assert_round_trips;

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
