//! The candidates for the default hash, and what `sketch-hash` makes of the chosen one: nanoseconds for a batch of
//! 1,024 items, as words, strings of 16 and of 64 bytes, and strings of 12 to 20 bytes.

use std::hash::{BuildHasher, Hasher};
use std::hint::black_box;

use criterion::{Throughput, criterion_group, criterion_main};
use dpsketch_benches::{Criterion, Group, quick, strings, words};
use highway::HighwayHash;
use sketch_hash::{
    DefaultHash, Domain, HashKey, KeyedHash, MixedTabulation, MultiplyShift, Polynomial2, Polynomial4, PrestoHash,
    SimpleTabulation, hash64_integers,
};

/// Items in a batch.
const BATCH: usize = 1024;

/// One way to hash the group's batch.
fn bench(group: &mut Group<'_>, name: &str, mut fill: impl FnMut(&mut [u64])) {
    let mut out = vec![0; BATCH];
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            fill(&mut out);
            black_box(&mut out);
        });
    });
}

/// A function of bytes, called for each item.
fn singly(group: &mut Group<'_>, name: &str, items: &[&[u8]], hash: impl Fn(&[u8]) -> u64) {
    bench(group, name, |out| {
        for (item, out) in items.iter().zip(out) {
            *out = hash(item);
        }
    });
}

/// The first eight bytes as a number.
fn first_word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

/// Every candidate, through the plain interface of its library.
fn candidates(group: &mut Group<'_>, items: &[&[u8]]) {
    let siphash = siphasher::sip::SipHasher13::new_with_keys(1, 2);
    singly(group, "siphasher 1-3", items, |bytes| siphash.hash(bytes));
    let siphash = siphasher::sip128::SipHasher13::new_with_keys(1, 2);
    singly(group, "siphasher 1-3, 128 bits", items, |bytes| siphash.hash(bytes).h1);
    let siphash = siphasher::sip::SipHasher24::new_with_keys(1, 2);
    singly(group, "siphasher 2-4", items, |bytes| siphash.hash(bytes));
    singly(group, "xxh3, seed", items, |bytes| xxhash_rust::xxh3::xxh3_64_with_seed(bytes, 77));
    let secret: [u8; 192] = std::array::from_fn(|i| u8::try_from(i * 37 % 251).unwrap_or(0));
    singly(group, "xxh3, secret", items, |bytes| xxhash_rust::xxh3::xxh3_64_with_secret(bytes, &secret));
    singly(group, "xxh64", items, |bytes| xxhash_rust::xxh64::xxh64(bytes, 77));
    let secrets = rapidhash::v3::RapidSecrets::seed(77);
    singly(group, "rapidhash v3", items, |bytes| rapidhash::v3::rapidhash_v3_seeded(bytes, &secrets));
    singly(group, "komihash v5", items, |bytes| komihash::v5::komihash(bytes, 77));
    let state = ahash::RandomState::with_seeds(1, 2, 3, 4);
    singly(group, "ahash", items, |bytes| {
        let mut hasher = state.build_hasher();
        hasher.write(bytes);
        hasher.finish()
    });
    let key = highway::Key([1, 2, 3, 4]);
    singly(group, "highwayhash", items, |bytes| highway::HighwayHasher::new(key).hash64(bytes));
    let key = [7; 32];
    singly(group, "blake3, keyed", items, |bytes| first_word(blake3::keyed_hash(&key, bytes).as_bytes()));
}

fn start<'a>(criterion: &'a mut Criterion, name: &str) -> Group<'a> {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(BATCH as u64));
    group
}

fn bench_words(criterion: &mut Criterion) {
    let words = words(1, BATCH);
    let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
    let items: Vec<&[u8]> = bytes.iter().map(|bytes| &bytes[..]).collect();
    let integers: Vec<i64> = words.iter().map(|word| word.cast_signed()).collect();
    let hash = DefaultHash::default();
    let mut group = start(criterion, "hash/words");
    candidates(&mut group, &items);
    bench(&mut group, "DefaultHash, batch", |out| hash.hash64_words(Domain::Integer, &words, out));
    bench(&mut group, "DefaultHash, hash64_integers", |out| hash64_integers(&hash, &integers, out));
    let mut wide = vec![[0; 2]; BATCH];
    bench(&mut group, "DefaultHash, 128 bits, batch", |out| {
        hash.hash128_words(Domain::Integer, &words, &mut wide);
        out[0] = wide[BATCH - 1][1];
    });
    bench(&mut group, "PrestoHash, batch", |out| PrestoHash.hash64_words(Domain::Integer, &words, out));
    group.finish();
}

fn bench_strings(criterion: &mut Criterion) {
    let hash = DefaultHash::default();
    for (name, shortest, longest) in [("16 bytes", 16, 16), ("64 bytes", 64, 64), ("12 to 20 bytes", 12, 20)] {
        let strings = strings(2, BATCH, shortest, longest);
        let items: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
        let mut group = start(criterion, &format!("hash/{name}"));
        candidates(&mut group, &items);
        singly(&mut group, "DefaultHash", &items, |bytes| hash.hash64(Domain::Bytes, bytes));
        bench(&mut group, "DefaultHash, batch", |out| hash.hash64_slices(Domain::Bytes, &items, out));
        group.finish();
    }
}

fn bench_families(criterion: &mut Criterion) {
    let keys = words(1, BATCH);
    let mut group = start(criterion, "hash/families");
    let member = MultiplyShift::new(HashKey::DEFAULT, 0);
    bench(&mut group, "multiply-shift", |out| member.hash_into(&keys, out));
    let member = Polynomial2::new(HashKey::DEFAULT, 0);
    bench(&mut group, "polynomial, k = 2", |out| member.hash_into(&keys, out));
    let member = Polynomial4::new(HashKey::DEFAULT, 0);
    bench(&mut group, "polynomial, k = 4", |out| member.hash_into(&keys, out));
    let member = SimpleTabulation::new(HashKey::DEFAULT, 0);
    bench(&mut group, "simple tabulation", |out| member.hash_into(&keys, out));
    let member = MixedTabulation::new(HashKey::DEFAULT, 0);
    bench(&mut group, "mixed tabulation", |out| member.hash_into(&keys, out));
    group.finish();
}

criterion_group!(name = benches; config = quick(); targets = bench_words, bench_strings, bench_families);
criterion_main!(benches);
