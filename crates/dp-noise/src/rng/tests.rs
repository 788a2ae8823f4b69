use super::*;

fn keyed(byte: u8) -> NoiseRng {
    NoiseRng::from_key([byte; 32])
}

fn draw(noise: &mut NoiseRng, count: usize) -> Vec<u64> {
    let mut words = vec![0; count];
    noise.fill_words(&mut words);
    words
}

/// The construction written down with an ordinary byte stream: each refill is 4096 bytes under the current key and
/// stream 0; the first 32 are the next key, the others are handed out.
fn reference(key: [u8; 32], refills: usize) -> Vec<u64> {
    let mut key = key;
    let mut out = Vec::new();
    for _ in 0..refills {
        let mut bytes = [0; 4096];
        ChaCha20Rng::from_seed(key).fill_bytes(&mut bytes);
        key.copy_from_slice(&bytes[..32]);
        out.extend(bytes[32..].as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)));
    }
    out
}

#[test]
fn the_first_words_are_those_of_the_published_vector() {
    // RFC 8439, A.1, test vector 1: ChaCha20 with zero key, nonce and counter. The first 32 bytes become the next key.
    let mut noise = keyed(0);
    let first: Vec<u8> = draw(&mut noise, 4).iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(
        first,
        [
            0xda, 0x41, 0x59, 0x7c, 0x51, 0x57, 0x48, 0x8d, 0x77, 0x24, 0xe0, 0x3f, 0xb8, 0xd8, 0x4a, 0x37, //
            0x6a, 0x43, 0xb8, 0xf4, 0x15, 0x18, 0xa1, 0x1c, 0xc3, 0x87, 0xb6, 0x69, 0xb2, 0xee, 0x65, 0x86
        ]
    );
    assert_eq!(noise.secret.key[..8], [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]);
}

#[test]
fn the_stream_is_fast_key_erasure_over_chacha20() {
    assert_eq!(draw(&mut keyed(7), 3 * BUFFER), reference([7; 32], 3));
}

#[test]
fn every_way_of_drawing_reads_the_same_stream() {
    let expected = reference([9; 32], 3);
    let mut pieces = keyed(9);
    let mut got = Vec::new();
    for length in [0, 1, 2, 500, 6, 509, 1] {
        got.extend(draw(&mut pieces, length));
        got.push(pieces.next_u64());
    }
    assert_eq!(got, expected[..got.len()]);

    let mut bytes = [0; 20];
    let mut noise = keyed(9);
    noise.fill_bytes(&mut bytes);
    assert_eq!(bytes[..8], expected[0].to_le_bytes());
    assert_eq!(bytes[16..], expected[2].to_le_bytes()[..4]);
    assert_eq!(u64::from(noise.next_u32()), expected[3] & 0xffff_ffff);
}

#[test]
fn nothing_handed_out_stays_in_the_state() {
    let mut noise = keyed(1);
    let out = draw(&mut noise, 100);
    let next = noise.next_u64();
    assert_eq!(noise.secret.next, 101);
    assert_eq!(noise.secret.words[..101], [0; 101]);
    assert!(!noise.secret.words.contains(&next) && out.iter().all(|word| !noise.secret.words.contains(word)));
    assert_ne!(noise.secret.key, [1; 32], "the key that made this keystream is gone");
    draw(&mut noise, BUFFER - 101);
    assert_eq!(noise.secret.words, [0; BUFFER]);
}

#[test]
fn a_release_mixes_fresh_bytes_into_a_system_key() {
    // Two generators in one state stand for a process and its restored snapshot.
    let system = Origin::System { process: std::process::id() };
    let key = Zeroizing::new([3; 32]);
    let [mut one, mut two] = [0, 1].map(|_| NoiseRng::with_key(&key, system));
    assert_eq!(draw(&mut one, 10), draw(&mut two, 10));
    one.begin_release().unwrap();
    two.begin_release().unwrap();
    assert_eq!(one.secret.words, [0; BUFFER], "keystream of the old key is wiped");
    let (first, second) = (draw(&mut one, 100), draw(&mut two, 100));
    assert!(first.iter().all(|word| !second.contains(word)));
}

#[test]
fn a_release_leaves_a_callers_key_alone() {
    let mut noise = keyed(4);
    noise.begin_release().unwrap();
    assert_eq!(draw(&mut noise, BUFFER), reference([4; 32], 1));
}

#[test]
fn a_refill_in_another_process_leaves_the_stream() {
    let key = Zeroizing::new([5; 32]);
    let here = std::process::id();
    let mut parent = NoiseRng::with_key(&key, Origin::System { process: here });
    // To this one the present process looks like a fork of process `here + 1`.
    let mut child = NoiseRng::with_key(&key, Origin::System { process: here + 1 });
    let (from_parent, from_child) = (draw(&mut parent, 2 * BUFFER), draw(&mut child, 2 * BUFFER));
    assert_eq!(from_parent, reference([5; 32], 2));
    assert!(from_child.iter().all(|word| !from_parent.contains(word)));
    assert_eq!(child.origin, Origin::System { process: here });
}

#[test]
fn the_process_id_alone_separates_two_streams() {
    let secret = |process: Option<u32>| {
        let mut secret = Secret { key: [6; 32], words: [0; BUFFER], next: BUFFER };
        if let Some(process) = process {
            secret.rekey(process);
        }
        secret.key
    };
    assert_ne!(secret(None), secret(Some(0)));
    assert_ne!(secret(Some(0)), secret(Some(1)));
    assert_eq!(secret(Some(1)), secret(Some(1)));
}

#[test]
fn a_split_generator_has_its_own_stream() {
    let mut parent = keyed(8);
    let mut child = parent.split();
    assert_eq!(child.origin, Origin::Caller);
    let (from_parent, from_child) = (draw(&mut parent, BUFFER), draw(&mut child, BUFFER));
    assert!(from_child.iter().all(|word| !from_parent.contains(word)));
    // The child's key is keystream that the parent has used up.
    let key: Vec<u8> = reference([8; 32], 1)[..4].iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(from_child, reference(key.try_into().unwrap(), 1));
}

#[test]
fn two_generators_from_the_system_differ() {
    let [mut one, mut two] = [0, 1].map(|_| NoiseRng::from_os().unwrap());
    let (first, second) = (draw(&mut one, 100), draw(&mut two, 100));
    assert!(first.iter().all(|word| !second.contains(word)));
    assert!(!one.is_insecure());
}

#[test]
fn debug_shows_nothing() {
    assert_eq!(format!("{:?}", keyed(2)), "NoiseRng { .. }");
}

#[test]
fn words_look_uniform() {
    // Every bit position over 100,000 words of a fixed key, by the exact binomial tail at one in a million over all 64.
    let words = draw(&mut keyed(11), 100_000);
    for place in 0..64 {
        let ones = words.iter().map(|word| (word >> place) & 1).sum();
        assert!(sketch_testkit::binomial_two_sided(ones, 100_000, 0.5) > 1e-6 / 64.0, "bit {place}: {ones}");
    }
}
