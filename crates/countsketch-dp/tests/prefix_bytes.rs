//! Golden bytes of stacks. `golden/generate.py` wrote them and what they say, in Python and from the definitions alone.
#![expect(clippy::unwrap_used, reason = "in helpers: a test that cannot go on fails")]

mod says;

use countsketch_dp::{DecodeError, PrefixLayout, PrefixStack, PrivatePrefixStack, prefix_hash_id};
use says::{assert_leaf, assert_total, bound, files, records};
use serde_json::Value;
use sketch_hash::{AnyHash, HashKey};

fn hash(bytes: &[u8]) -> AnyHash {
    AnyHash::matching(prefix_hash_id(bytes).unwrap(), HashKey::DEFAULT).unwrap()
}

fn assert_layout(layout: &PrefixLayout, says: &Value, name: &str) {
    assert_eq!(u64::from(layout.shape().rows()), says["rows"], "{name}");
    assert_eq!(u64::from(layout.shape().width()), says["width"], "{name}");
    let levels = says["levels"].as_array().unwrap();
    assert_eq!(layout.levels(), levels.len(), "{name}");
    for (index, level) in levels.iter().enumerate() {
        assert_eq!(u64::from(layout.lengths()[index]), level["length"], "{name}");
        assert_eq!(layout.is_plain(index), level["plain"], "{name}");
    }
}

/// The stack of so many parts and earlier releases.
fn built(read: &PrefixStack<AnyHash>, hash: &AnyHash, items: &Value) -> PrefixStack<AnyHash> {
    let empty =
        PrefixStack::with_granularity(read.layout().clone(), hash.clone(), read.bound(), read.granularity()).unwrap();
    let mut built = empty.clone();
    for unit in items.as_array().unwrap() {
        if read.bound().is_user() {
            built.add_user(&records(unit)).unwrap();
        } else {
            for (key, weight) in records(unit) {
                built.update(key, weight).unwrap();
            }
        }
    }
    // An empty part more, for a user who may be in it.
    for _ in 1..read.parts() {
        built.merge(&empty).unwrap();
    }
    for _ in 0..read.releases() {
        built.record_release();
    }
    built
}

#[test]
fn raw_files_are_what_building_from_their_items_gives() {
    for (name, bytes, says) in files("prefix-raw-") {
        let hash = hash(&bytes);
        let read = PrefixStack::from_sensitive_bytes(&bytes, hash.clone()).unwrap();
        assert_layout(read.layout(), &says, &name);
        let level = &says["levels"][0]["file"];
        assert_eq!(u64::from(read.granularity().exponent()), level["granularity"], "{name}");
        assert_eq!(u64::from(read.parts()), level["parts"], "{name}");
        assert_eq!(u64::from(read.releases()), level["releases"], "{name}");
        assert_eq!(read.bound(), bound(&level["bound"]), "{name}");
        assert_eq!(*read.to_sensitive_bytes(), bytes, "{name}");
        assert_eq!(*built(&read, &hash, &says["items"]).to_sensitive_bytes(), bytes, "{name}");
        assert!(PrivatePrefixStack::from_bytes_allowing_insecure_noise(&bytes, hash).is_err(), "{name}");
    }
}

#[test]
fn private_files_say_what_stands_beside_them() {
    for (name, bytes, says) in files("prefix-private-") {
        let hash = hash(&bytes);
        let read = PrivatePrefixStack::from_bytes_allowing_insecure_noise(&bytes, hash.clone()).unwrap();
        assert_layout(read.layout(), &says, &name);
        assert_eq!(read.insecure_noise(), says["insecure_noise"].as_bool().unwrap(), "{name}");
        for (index, level) in says["levels"].as_array().unwrap().iter().enumerate() {
            let leaves = level["file"]["leaves"].as_array().unwrap();
            assert_eq!(read.leaves(index).len(), leaves.len(), "{name}");
            read.leaves(index).iter().zip(leaves).for_each(|(leaf, says)| assert_leaf(leaf, says));
        }
        assert_total(read.rho_total(), &says["rho_total"], &name);
        assert_eq!(read.to_bytes(), bytes, "{name}");
        let secure = PrivatePrefixStack::from_bytes(&bytes, hash.clone());
        assert_eq!(secure.is_ok(), !read.insecure_noise(), "{name}");
        assert!(!matches!(secure, Err(error) if !matches!(error, DecodeError::InsecureNoise)), "{name}");
        assert!(PrefixStack::from_sensitive_bytes(&bytes, hash).is_err(), "{name}");
    }
}
