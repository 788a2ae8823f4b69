use sketch_testkit::GoldenFile;

use super::*;
use crate::scripted::{Script, random_words};

/// A law of the golden file and the first 256 binary digits of its `F(j)`.
struct Known {
    id: String,
    law: Law,
    digits: Vec<(usize, [u64; 4])>,
}

fn known() -> Vec<Known> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/table_prefixes.json");
    let cases = GoldenFile::read(file).unwrap().cases;
    let integer = |value: &serde_json::Value| value.as_u64().unwrap();
    let cases = cases.iter().map(|case| Known {
        id: case.id.clone(),
        law: Law {
            family: match case.input["family"].as_str().unwrap() {
                "gaussian_magnitude" => Family::GaussianMagnitude,
                "gaussian_half" => Family::GaussianHalf,
                "laplace_magnitude" => Family::LaplaceMagnitude,
                "geometric" => Family::Geometric,
                _ => Family::Polya { shares: integer(&case.input["shares"]).try_into().unwrap() },
            },
            numerator: integer(&case.input["numerator"]).into(),
            denominator: integer(&case.input["denominator"]).into(),
        },
        digits: case.expect["digits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| (place(&entry[0]), words(&entry[1])))
            .collect(),
    });
    cases.collect()
}

fn place(value: &serde_json::Value) -> usize {
    value.as_u64().unwrap().try_into().unwrap()
}

fn words(value: &serde_json::Value) -> [u64; 4] {
    let text = value.as_str().unwrap();
    [0, 1, 2, 3].map(|word| u64::from_str_radix(&text[16 * word..16 * (word + 1)], 16).unwrap())
}

fn first_digits<const N: usize>(law: Law, places: &[usize]) -> Vec<[[u64; 4]; 2]> {
    let last = places.iter().max().unwrap();
    let all: Vec<_> = law.cumulative::<N>().take(last + 1).collect();
    let digits = |value: &crate::fixed::Fixed<N>| {
        let limbs = value.limbs();
        assert_eq!(limbs[N - 1], 0);
        [limbs[N - 2], limbs[N - 3], limbs[N - 4], limbs[N - 5]]
    };
    places.iter().map(|&j| [digits(&all[j].low), digits(&all[j].high)]).collect()
}

#[test]
fn both_bounds_have_the_256_digits_of_the_golden_file() {
    for case in known() {
        let places: Vec<usize> = case.digits.iter().map(|entry| entry.0).collect();
        let wanted: Vec<_> = case.digits.iter().map(|&(_, digits)| [digits, digits]).collect();
        assert_eq!(first_digits::<7>(case.law, &places), wanted, "{}, 384 digits", case.id);
        if places.iter().all(|&j| j < 500) {
            assert_eq!(first_digits::<20>(case.law, &places), wanted, "{}, 1216 digits", case.id);
        }
    }
}

#[test]
fn tables_hold_true_prefixes() {
    for case in known() {
        let table = Table::new(case.law).unwrap();
        assert_eq!(table.digits().last(), Some(&u64::MAX));
        assert!(table.digits().is_sorted());
        for &(j, digits) in &case.digits {
            // Beyond the table everything begins with ones.
            let stored = table.digits().get(j).copied().unwrap_or(u64::MAX);
            assert_eq!(stored, digits[0], "{}: F({j})", case.id);
            if let Some(&hot) = table.hot.get(j) {
                assert_eq!(u64::from(hot), digits[0] >> 33, "{}: F({j})", case.id);
            }
        }
    }
}

/// The half word and the words after it that spell the given digits, and then `after`.
fn script(digits: [u64; 4], after: u64) -> (u32, Script) {
    let half = u32::try_from(digits[0] >> 33).unwrap();
    (half, Script::new([digits[0] << 31, digits[1], digits[2], digits[3], after]))
}

#[test]
fn digits_equal_to_the_first_256_of_an_entry_are_decided_by_the_next_ones() {
    for case in known() {
        let table = Table::new(case.law).unwrap();
        // The far entries of wide laws take seconds at 1216 digits and are like the near ones.
        for &(j, digits) in case.digits.iter().filter(|entry| entry.0 < 400) {
            let (half, mut zeros) = script(digits, 0);
            assert_eq!(table.invert(half, &mut zeros).unwrap(), j as u64, "{}", case.id);
            let (half, mut ones) = script(digits, u64::MAX);
            assert_eq!(table.invert(half | 1 << 31, &mut ones).unwrap(), j as u64 + 1, "{}", case.id);
        }
    }
}

#[test]
fn a_difference_anywhere_in_the_digits_decides() {
    let case = &known()[2];
    let table = Table::new(case.law).unwrap();
    for &(j, digits) in case.digits.iter().filter(|entry| entry.0 < 20) {
        for place in 1..256 {
            let (word, bit) = (place / 64, 1 << (63 - place % 64));
            // Digits that agree up to `place`, differ there, and are unfavourable afterwards.
            let mut other = digits;
            other[word] ^= bit;
            let fill = if other[word] & bit == 0 { u64::MAX } else { 0 };
            other[word] = (other[word] & !(bit - 1)) | (fill & (bit - 1));
            other[word + 1..].fill(fill);
            let expected = if fill == 0 { j as u64 + 1 } else { j as u64 };
            let (half, mut noise) = script(other, fill);
            let drawn = table.invert(half, &mut noise).unwrap();
            // A small difference cannot reach another entry; a large one can.
            if place > 12 {
                assert_eq!(drawn, expected, "F({j}), digit {place}");
            } else {
                assert!(if fill == 0 { drawn >= expected } else { drawn <= expected });
            }
        }
    }
}

#[test]
fn a_generator_of_ones_ends_in_an_error_and_not_in_a_draw() {
    for case in known().iter().filter(|case| case.digits.iter().all(|entry| entry.0 < 100)) {
        let table = Table::new(case.law).unwrap();
        let drawn = table.invert(u32::MAX, &mut Script::new([u64::MAX; 17]));
        assert!(matches!(drawn, Err(SampleError::Rounds { rounds: 17 })), "{}: {drawn:?}", case.id);
    }
}

#[test]
fn the_search_gives_every_value_its_exact_share_of_a_toy_table() {
    // A law of twelve binary digits, with gaps in all sizes, an entry twice and every place of the guide.
    let mut bounds: Vec<u64> = random_words(12).map(|word| word >> 52).take(300).chain([1, 2, 3, 4095]).collect();
    bounds.push(bounds[7]);
    bounds.sort_unstable();
    let law = Law { family: Family::Geometric, numerator: 1, denominator: 1 };
    let mut digits: Vec<u64> = bounds.iter().map(|bound| bound << 52).collect();
    digits.push(u64::MAX);
    let table = Table::from_digits(law, digits);

    let mut counts = vec![0; bounds.len() + 1];
    for input in 0..1_u32 << 12 {
        for sign in [0, 1 << 31] {
            // A last digit of one keeps clear of ties, so that no further word is drawn.
            let j = table.invert(sign | input << 19 | 1, &mut Script::new([])).unwrap();
            counts[usize::try_from(j).unwrap()] += 1;
        }
    }
    let ends: Vec<u64> = bounds.iter().copied().chain([4096]).collect();
    let shares: Vec<u64> =
        ends.iter().enumerate().map(|(j, end)| 2 * (end - if j == 0 { 0 } else { ends[j - 1] })).collect();
    assert_eq!(counts, shares);
}

#[test]
fn signs_leave_zero_its_mass() {
    // Every pair of signs with every half: zero comes out for either sign, others with the sign.
    let table = Table::new(Law { family: Family::LaplaceMagnitude, numerator: 1, denominator: 1 }).unwrap();
    let halves: Vec<u64> = (0..1 << 12).map(|k| (k << 20) | 1).collect();
    let words = halves.iter().map(|half| half << 32 | half);
    let mut out = vec![0; 2 * halves.len()];
    table.fill_signed(&mut Script::new(words), &mut out).unwrap();
    let count = |value: i64| out.iter().filter(|&&draw| draw == value).count();
    assert_eq!(count(1), count(-1));
    assert_eq!(count(5), count(-5));
    // P[0] = (1 − 1/e)/(1 + 1/e) = 0.4621…: of the 2·4096 halves that share falls on 0, within one for each sign.
    assert!(count(0).abs_diff(3786) <= 4, "{}", count(0));
    assert_eq!([0, 1, i64::MAX.unsigned_abs()].map(|x| with_sign(true, x)), [0, -1, -i64::MAX]);
    assert_eq!([0, 1, i64::MAX.unsigned_abs()].map(|x| with_sign(false, x)), [0, 1, i64::MAX]);
}

#[test]
fn odd_lengths_are_filled_and_take_no_more_words_than_they_need() {
    let table = Table::new(Law { family: Family::LaplaceMagnitude, numerator: 1, denominator: 3 }).unwrap();
    for length in [0, 1, 2, 255, 256, 257, 1000] {
        let words: Vec<u64> = random_words(7).take(length + 1).collect();
        let mut out = vec![i64::MAX; length];
        let mut noise = Script::new(words);
        table.fill_signed(&mut noise, &mut out).unwrap();
        assert_eq!(noise.left(), length + 1 - length.div_ceil(2));
        assert!(out.iter().all(|draw| draw.abs() < 200));
    }
}

#[test]
fn the_cache_is_bounded_and_keeps_what_is_used() {
    let law = |n: u128| Law { family: Family::LaplaceMagnitude, numerator: 1_000_003, denominator: n };
    let kept = table_for(law(1)).unwrap();
    for n in 2..100 {
        table_for(law(n)).unwrap();
        // Used again and again, so it stays; other tests use the cache too, but not ten laws between these two lines.
        assert!(std::sync::Arc::ptr_eq(&kept, &table_for(law(1)).unwrap()), "{n}");
    }
    // The cache holds one reference, `kept` the other.
    assert_eq!(std::sync::Arc::strong_count(&kept), 2);
    assert!(cache::count() <= cache::CACHED_TABLES);
    assert!(kept.bytes() < 5000 && format!("{kept:?}").contains("entries"));
}

type Long = crate::fixed::Fixed<7>;

/// A decimal such as `0.25` or `1.9e-22`, to within some units of 2⁻³⁸⁴.
fn decimal(text: &str) -> Long {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let zeros = "0".repeat(exponent.trim_start_matches('-').parse().unwrap());
    let (whole, fraction) = digits.split_once('.').unwrap();
    let (whole, fraction) = if zeros.is_empty() {
        (whole.to_owned(), fraction.to_owned())
    } else {
        // 1.9e-22: twenty-two places to the right.
        ("0".to_owned(), format!("{}{whole}{fraction}", &zeros[1..]))
    };
    let places = fraction
        .bytes()
        .rev()
        .fold(Long::ZERO, |value, digit| value.plus(&Long::from_integer(u64::from(digit - b'0'))).divided_by(10).0);
    places.plus(&Long::from_integer(whole.parse().unwrap()))
}

/// Equality in the first 38 significant digits.
fn assert_close(got: &Long, want: &Long, what: &str) {
    let tolerance = want.divided_by(10_u64.pow(19)).0.divided_by(10_u64.pow(19)).0;
    let distance = if got > want { got.minus(want) } else { want.minus(got) };
    assert!(distance <= tolerance, "{what}");
}

#[test]
fn distribution_functions_have_the_forty_digits_of_the_golden_file() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/discrete_laws.json");
    for case in GoldenFile::read(file).unwrap().of_kind("discrete_gaussian") {
        let [numerator, denominator] = ["s2_num", "s2_den"].map(|name| u128::from(case.input[name].as_u64().unwrap()));
        let law = Law { family: Family::GaussianMagnitude, numerator: denominator, denominator: numerator };
        let entries = case.expect["pmf"].as_array().unwrap();
        let most = entries.iter().map(|entry| place(&entry["x"])).max().unwrap();
        let sums: Vec<Long> = law.cumulative::<7>().map(|bounds| bounds.low).take(most + 1).collect();
        // F(0) is 1/norm.
        let norm = decimal(case.expect["norm_hp"].as_str().unwrap());
        assert_close(&sums[0].times(&norm).0, &Long::from_integer(1), &case.id);
        for entry in entries {
            let (x, want) = (place(&entry["x"]), decimal(entry["p_hp"].as_str().unwrap()));
            let got = if x == 0 { sums[0] } else { sums[x].minus(&sums[x - 1]).halved().0 };
            // Differences of sums lose the digits in front: tiny probabilities of a table are known to 2^-370 only.
            if want > Long::power(240) {
                assert_close(&got, &want, &format!("{} at {x}", case.id));
            }
        }
    }
}
