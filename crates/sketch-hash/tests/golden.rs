//! The value contract, against answers computed elsewhere.
//!
//! `golden/vectors.json` is written by `golden/make_vectors.py`, a second implementation in plain Python that checks
//! itself against published vectors first; `golden/placement.json` holds the hashing cases of the sketches' golden
//! files, which another Python program computed.

use core::error::Error;

use serde_json::{Value, json};
use sketch_hash::{
    DefaultHash, Domain, HashKey, Item, KeyedHash, MixedTabulation, MultiplyShift, Polynomial2, Polynomial4,
    PrestoHash, SeedStream, SimpleTabulation, bucket_top_bits, geometric_level, hash128_row, level_leading,
};
use sketch_testkit::{GoldenCase, GoldenFile};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Checks every case of a file, of whatever kind; an unknown kind is an error.
fn check_file(name: &str, compute: impl Fn(&GoldenCase) -> Outcome<Value>) -> Outcome {
    let file = GoldenFile::read(format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR")))?;
    assert!(!file.cases.is_empty());
    for case in &file.cases {
        case.assert(&compute(case).map_err(|error| format!("{}: {error}", case.id))?);
    }
    Ok(())
}

fn text(value: &Value) -> Outcome<&str> {
    Ok(value.as_str().ok_or("no text")?)
}

fn list(value: &Value) -> Outcome<&Vec<Value>> {
    Ok(value.as_array().ok_or("no list")?)
}

fn word(value: &Value) -> Outcome<u64> {
    Ok(u64::from_str_radix(text(value)?, 16)?)
}

fn key(case: &GoldenCase) -> Outcome<HashKey> {
    Ok(HashKey::from_hex(text(&case.input["key"])?)?)
}

fn hex(word: u64) -> String {
    format!("{word:016x}")
}

fn hex_pair(words: [u64; 2]) -> [String; 2] {
    words.map(hex)
}

/// The bytes that pairs of hexadecimal digits stand for.
fn bytes(value: &Value) -> Outcome<Vec<u8>> {
    let digits = text(value)?;
    (0..digits.len() / 2).map(|i| Ok(u8::from_str_radix(&digits[2 * i..2 * i + 2], 16)?)).collect()
}

/// Calls `then` with the item of a golden file, which may borrow.
fn with_item<T>(item: &Value, then: impl FnOnce(&Item<'_>) -> T) -> Outcome<T> {
    let value = &item["value"];
    let number = || -> Outcome<i128> { Ok(text(value)?.parse()?) };
    let binary;
    let item = match text(&item["type"])? {
        "integer" | "bigint" => Item::Integer(number()?),
        "text" | "varchar" => Item::from(text(value)?),
        "binary" => {
            binary = bytes(value)?;
            Item::from(binary.as_slice())
        }
        "float" => Item::from(f64::from_bits(word(value)?)),
        "double" => Item::from(value.as_f64().ok_or("no number")?),
        "float32" => Item::from(f32::from_bits(u32::from_str_radix(text(value)?, 16)?)),
        "boolean" => Item::from(value.as_bool().ok_or("no truth value")?),
        "date" => Item::Date(text(value)?.parse()?),
        kind @ ("zoned" | "local") => Item::Timestamp { nanos: number()?, zoned: kind == "zoned" },
        "decimal" => Item::Decimal {
            unscaled: text(&value[0])?.parse()?,
            scale: i8::try_from(value[1].as_i64().ok_or("no scale")?)?,
        },
        other => return Err(format!("unknown type {other}").into()),
    };
    Ok(then(&item))
}

fn each<T>(values: &Value, compute: impl Fn(&Value) -> Outcome<T>) -> Outcome<Vec<T>> {
    list(values)?.iter().map(compute).collect()
}

fn key_case(case: &GoldenCase) -> Outcome<Value> {
    let key = key(case)?;
    let derived = each(&case.expect["derived"], |row| {
        let index = row[1].as_u64().ok_or("no index")?;
        Ok(json!([row[0], index, key.derive(text(&row[0])?, index).to_hex()]))
    })?;
    let mut stream = SeedStream::new(key, "some label", 7);
    let words: Vec<String> = (0..5).map(|_| hex(stream.next_word())).collect();
    Ok(json!({"fingerprint": key.fingerprint().to_string(), "derived": derived, "words": words}))
}

fn item_case(case: &GoldenCase) -> Outcome<Value> {
    let hash = DefaultHash::new(key(case)?);
    Ok(json!({
        "hash64": each(&case.input["items"], |item| with_item(item, |item| hex(item.hash64(&hash))))?,
        "hash128": each(&case.input["items"], |item| with_item(item, |item| hex_pair(item.hash128(&hash))))?,
    }))
}

fn row_case(case: &GoldenCase) -> Outcome<Value> {
    let hash = DefaultHash::new(key(case)?);
    let rows = each(&case.input["rows"], |row| row_of(&hash, list(row)?))?;
    Ok(json!({"hash128": rows}))
}

/// The hash of a row of any items: collects them outwards, as some borrow from buffers of their own.
fn row_of(hash: &DefaultHash, rest: &[Value]) -> Outcome<[String; 2]> {
    fn collect(hash: &DefaultHash, done: &[Item<'_>], rest: &[Value]) -> Outcome<[String; 2]> {
        let Some((first, rest)) = rest.split_first() else {
            return Ok(hex_pair(hash128_row(hash, done.iter().copied())));
        };
        with_item(first, |item| collect(hash, &[done, &[*item]].concat(), rest))?
    }
    collect(hash, &[], rest)
}

fn bytes_case(case: &GoldenCase) -> Outcome<Value> {
    let hash = DefaultHash::new(key(case)?);
    let texts = each(&case.input["texts"], bytes)?;
    let slices: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    let mut batch = vec![0; slices.len()];
    hash.hash64_slices(Domain::Bytes, &slices, &mut batch);
    let single: Vec<u64> = slices.iter().map(|bytes| hash.hash64(Domain::Bytes, bytes)).collect();
    assert_eq!(batch, single, "{}", case.id);
    let wide: Vec<_> = slices.iter().map(|bytes| hex_pair(hash.hash128(Domain::Bytes, bytes))).collect();
    Ok(json!({"hash64": batch.into_iter().map(hex).collect::<Vec<_>>(), "hash128": wide}))
}

fn family_case(case: &GoldenCase) -> Outcome<Value> {
    let (key, index) = (key(case)?, case.input["index"].as_u64().ok_or("no index")?);
    let keys = each(&case.input["keys"], word)?;
    let mut hashes = vec![0; keys.len()];
    macro_rules! compute {
        ($family:ty) => {{
            let member = <$family>::new(key, index);
            member.hash_into(&keys, &mut hashes);
            assert!(keys.iter().zip(&hashes).all(|(key, hash)| member.hash(*key) == *hash), "{}", case.id);
        }};
    }
    match case.kind.as_str() {
        "multiply_shift" => compute!(MultiplyShift),
        "polynomial2" => compute!(Polynomial2),
        "polynomial4" => compute!(Polynomial4),
        "simple_tabulation" => compute!(SimpleTabulation),
        "mixed_tabulation" => compute!(MixedTabulation),
        other => return Err(format!("unknown kind {other}").into()),
    }
    Ok(json!({"hashes": hashes.into_iter().map(hex).collect::<Vec<_>>()}))
}

#[test]
fn hashes_agree_with_an_independent_implementation() -> Outcome {
    check_file("vectors.json", |case| match case.kind.as_str() {
        "key" => key_case(case),
        "item" => item_case(case),
        "row" => row_case(case),
        "bytes" => bytes_case(case),
        "presto" => Ok(json!({
            "xxh64": each(&case.input["items"], |item| with_item(item, |item| hex(item.hash64(&PrestoHash))))?,
        })),
        _ => family_case(case),
    })
}

#[test]
fn placement_agrees_with_the_sketches_golden_files() -> Outcome {
    check_file("placement.json", |case| {
        let small = |field: &str| -> Outcome<u8> { Ok(u8::try_from(case.input[field].as_u64().ok_or("no number")?)?) };
        let place = |hash: u64| -> Outcome<Value> {
            let (bits, levels) = (u32::from(small("index_bits")?), small("P")?);
            Ok(json!([bucket_top_bits(hash, bits), geometric_level(hash, bits, levels)]))
        };
        match case.kind.as_str() {
            "hash" => Ok(json!({"rows": each(&case.input["values"], |value| {
                let hash = with_item(value, |item| item.hash64(&PrestoHash))?;
                Ok(json!({"type": value["type"], "value": value["value"], "xxh64": hex(hash),
                    "xxh64_bucket_level": place(hash)?}))
            })?})),
            "placement" => Ok(json!({"bucket_level": each(&case.input["hashes"], |hash| place(word(hash)?))?})),
            "level_from_hash" => Ok(json!({"level": level_leading(word(&case.input["hash"])?, small("levels")?)})),
            other => Err(format!("unknown kind {other}").into()),
        }
    })
}
