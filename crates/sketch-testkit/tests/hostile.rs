//! The damage that decoders are tried with.

use sketch_testkit::{
    Damage, assert_accepted_is_canonical, assert_damage_is_refused, crc64_xz, damaged, forged, reseal,
};

/// A container with a body of `length` bytes.
fn file(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; 32 + length];
    bytes[..8].copy_from_slice(b"DPSK\x01\xff\x01\x01");
    reseal(&mut bytes);
    bytes
}

/// Reads the body of a container: right length, right checksum.
fn body(bytes: &[u8]) -> Result<Vec<u8>, &'static str> {
    let (header, body) = bytes.split_at_checked(32).ok_or("short")?;
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| header[at + i]));
    if word(8) != body.len() as u64 {
        return Err("length");
    }
    if word(24) != crc64_xz(&[&header[..24], body]) {
        return Err("checksum");
    }
    if header[..8] != *b"DPSK\x01\xff\x01\x01" || word(16) != 0 {
        return Err("header");
    }
    Ok(body.to_vec())
}

#[expect(clippy::ptr_arg, reason = "what the assertion hands over")]
fn rewrite(body: &Vec<u8>) -> Vec<u8> {
    let mut bytes = file(body.len());
    bytes[32..].copy_from_slice(body);
    reseal(&mut bytes);
    bytes
}

#[test]
fn damage_differs_from_the_original_and_is_complete() {
    let bytes = file(10);
    let all: Vec<_> = damaged(&bytes).collect();
    assert!(all.iter().all(|(_, version)| *version != bytes));
    for length in 0..bytes.len() {
        assert!(all.iter().any(|(damage, version)| *damage == Damage::Truncated(length) && version.len() == length));
    }
    for bit in 0..8 * bytes.len() {
        let flipped = |(damage, version): &&(Damage, Vec<u8>)| {
            *damage == Damage::Flipped(bit) && version[bit / 8] ^ bytes[bit / 8] == 1 << (bit % 8)
        };
        assert!(all.iter().any(|version| flipped(&version)));
    }
}

#[test]
fn long_files_have_a_bit_of_every_byte_flipped() {
    let mut touched = vec![0_u32; 3000];
    for (damage, _) in damaged(&[0; 3000]) {
        if let Damage::Flipped(bit) = damage {
            touched[bit / 8] += 1;
        }
    }
    assert!(touched[..1024].iter().all(|&flips| flips == 8));
    assert!(touched[1024..].iter().all(|&flips| flips == 1));
}

#[test]
fn forged_files_have_a_right_checksum() {
    for (damage, version) in forged(&file(20)) {
        assert_eq!(version[24..32], crc64_xz(&[&version[..24], &version[32..]]).to_le_bytes(), "{damage:?}");
    }
}

#[test]
fn a_strict_decoder_passes() {
    assert_damage_is_refused(&file(20), body);
    let (accepted, tried) = assert_accepted_is_canonical(&file(20), body, rewrite);
    assert!(accepted > 160 && accepted < tried);
}

#[test]
#[should_panic(expected = "written in another way")]
fn a_decoder_that_ignores_reserved_bytes_is_found() {
    let lax = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        if bytes.len() >= 32 {
            bytes[16..24].fill(0);
            let checksum = crc64_xz(&[&bytes[..24], &bytes[32..]]);
            bytes[24..32].copy_from_slice(&checksum.to_le_bytes());
        }
        body(&bytes)
    };
    assert_accepted_is_canonical(&file(20), lax, rewrite);
}

#[test]
#[should_panic(expected = "accepted although Extended(1)")]
fn a_decoder_that_ignores_trailing_bytes_is_found() {
    assert_damage_is_refused(&file(4), |bytes: &[u8]| body(bytes.get(..36).ok_or("short")?));
}
