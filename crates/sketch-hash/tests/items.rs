//! The README's table of which values are the same item, row by row.

use sketch_hash::{DefaultHash, Item, KeyedHash, PrestoHash, TimeUnit, hash64_row};

/// A row of the table: values of one group are one item, values of two groups are two.
struct Row {
    name: &'static str,
    groups: Vec<Vec<Item<'static>>>,
}

fn decimal(unscaled: i128, scale: i8) -> Item<'static> {
    Item::Decimal { unscaled, scale }
}

/// 2026-11-29 and its midnight, in the units of the table.
const DAY: i64 = 20_786;
const MIDNIGHT: i64 = DAY * 86_400;

fn numbers() -> Vec<Row> {
    vec![
        Row {
            name: "Integers",
            groups: vec![
                vec![42_u8.into(), 42_i16.into(), 42_u32.into(), 42_i64.into(), 42_i128.into(), decimal(4200, 2)],
                vec![(-42_i8).into(), (-42_i64).into()],
                vec!["42".into()],
                vec![42.0.into()],
            ],
        },
        Row {
            name: "Integers beyond 63 bits",
            groups: vec![
                vec![u64::MAX.into(), i128::from(u64::MAX).into()],
                vec![(-1_i64).into()],
                vec![i64::MIN.into(), i128::from(i64::MIN).into()],
                vec![(1_u64 << 63).into()],
            ],
        },
        Row {
            name: "Floats",
            groups: vec![
                vec![1.5_f32.into(), 1.5_f64.into()],
                vec![0.1_f64.into()],
                vec![0.1_f32.into(), f64::from(0.1_f32).into()],
                vec![1.0.into()],
                vec![1_u8.into()],
                vec![decimal(15, 1)],
            ],
        },
    ]
}

fn special_numbers() -> Vec<Row> {
    vec![
        Row {
            name: "Zero",
            groups: vec![
                vec![0.0_f64.into(), (-0.0_f64).into(), 0.0_f32.into(), (-0.0_f32).into()],
                vec![0_u8.into(), decimal(0, 0), decimal(0, 7)],
                vec![false.into()],
            ],
        },
        Row {
            name: "NaN and infinities",
            groups: vec![
                vec![
                    f64::NAN.into(),
                    (-f64::NAN).into(),
                    f64::from_bits(0x7ff0_0000_0000_0001).into(),
                    f32::NAN.into(),
                ],
                vec![f64::INFINITY.into(), f32::INFINITY.into()],
                vec![f64::NEG_INFINITY.into()],
                vec!["NaN".into()],
            ],
        },
        Row {
            name: "Decimals",
            groups: vec![
                vec![decimal(15, 1), decimal(150, 2), decimal(1_500_000, 6)],
                vec![decimal(-15, 1)],
                vec![decimal(3, 0), decimal(300, 2), 3_u8.into()],
                vec![decimal(3, -3), decimal(30, -2), 3000_u16.into()],
                vec![1.5.into()],
                vec!["1.5".into()],
            ],
        },
    ]
}

fn texts_and_times() -> Vec<Row> {
    let at = |count, unit, zoned| Item::timestamp(count, unit, zoned);
    vec![
        Row {
            name: "Text and binary",
            groups: vec![
                vec!["caf\u{e9}".into(), Item::Binary(b"caf\xc3\xa9")],
                vec!["cafe\u{301}".into()],
                vec!["Caf\u{e9}".into()],
                vec!["caf\u{e9} ".into()],
                vec![Item::Binary(b"caf\xe9")],
            ],
        },
        Row {
            name: "Empty text",
            groups: vec![vec!["".into(), Item::Binary(b"")], vec![Item::Binary(b"\0")], vec![" ".into()]],
        },
        Row {
            name: "Booleans",
            groups: vec![vec![true.into()], vec![false.into()], vec![1_u8.into()], vec!["true".into()]],
        },
        Row {
            name: "Dates",
            groups: vec![
                vec![
                    Item::Date(DAY),
                    Item::date_from_millis(MIDNIGHT * 1000),
                    Item::date_from_millis(MIDNIGHT * 1000 + 86_399_999),
                ],
                vec![Item::date_from_millis(MIDNIGHT * 1000 - 1), Item::Date(DAY - 1)],
                vec![at(MIDNIGHT, TimeUnit::Second, false)],
                vec![DAY.into()],
            ],
        },
        Row {
            name: "Time stamps with a zone",
            groups: vec![
                vec![
                    at(MIDNIGHT, TimeUnit::Second, true),
                    at(MIDNIGHT * 1_000, TimeUnit::Millisecond, true),
                    at(MIDNIGHT * 1_000_000, TimeUnit::Microsecond, true),
                    at(MIDNIGHT * 1_000_000_000, TimeUnit::Nanosecond, true),
                ],
                vec![at(MIDNIGHT * 1_000_000_000 + 1, TimeUnit::Nanosecond, true)],
                vec![at(MIDNIGHT, TimeUnit::Second, false)],
                vec![(MIDNIGHT * 1_000_000_000).into()],
            ],
        },
        Row {
            name: "Time stamps without a zone",
            groups: vec![
                vec![at(-1, TimeUnit::Second, false), at(-1_000, TimeUnit::Millisecond, false)],
                vec![at(-1, TimeUnit::Second, true)],
                // Year 292 million: beyond 64 bits of nanoseconds.
                vec![at(i64::MAX, TimeUnit::Millisecond, false)],
                vec![at(i64::MAX, TimeUnit::Microsecond, false)],
            ],
        },
    ]
}

fn rows() -> Vec<Row> {
    numbers().into_iter().chain(special_numbers()).chain(texts_and_times()).collect()
}

#[test]
fn values_of_one_group_are_one_item_and_groups_are_apart() {
    let hash = DefaultHash::default();
    for Row { name, groups } in rows() {
        let mut seen = Vec::new();
        for group in groups {
            let narrow: Vec<u64> = group.iter().map(|item| item.hash64(&hash)).collect();
            let wide: Vec<[u64; 2]> = group.iter().map(|item| item.hash128(&hash)).collect();
            assert!(narrow.iter().all(|hash| *hash == narrow[0]), "{name}: {group:?}");
            assert!(wide.iter().all(|hash| *hash == wide[0]), "{name}: {group:?}");
            assert!(!seen.contains(&(narrow[0], wide[0])), "{name}: {group:?}");
            seen.push((narrow[0], wide[0]));
        }
    }
}

#[test]
fn every_row_of_the_readme_is_tested() {
    let readme = include_str!("../README.md");
    let table = readme.split("## Which values are the same item").nth(1).and_then(|rest| rest.split("\n## ").next());
    let rows_there = table.unwrap_or_default().lines().filter_map(|line| line.strip_prefix("| **")?.split("**").next());
    let mut tested: Vec<&str> = rows().iter().map(|row| row.name).chain(["Rows"]).collect();
    let mut published: Vec<&str> = rows_there.collect();
    published.sort_unstable();
    tested.sort_unstable();
    assert_eq!(published, tested);
}

#[test]
fn a_row_is_its_items_in_their_order() {
    let hash = DefaultHash::default();
    let row = |items: &[Item<'_>]| hash64_row(&hash, items.iter().copied());
    let (a, b) = (Item::from("a"), Item::from(1_u8));
    assert_eq!(row(&[a, b]), row(&[Item::Binary(b"a"), Item::Decimal { unscaled: 10, scale: 1 }]));
    let different =
        [row(&[]), row(&[a]), row(&[a, b]), row(&[b, a]), row(&[a, a]), row(&["a1".into()]), a.hash64(&hash)];
    let distinct: std::collections::HashSet<u64> = different.into_iter().collect();
    assert_eq!(distinct.len(), different.len());
}

#[test]
fn presto_tells_values_apart_by_their_encodings_alone() {
    let of = |item: Item<'_>| item.hash64(&PrestoHash);
    // BIGINT, INTEGER, DATE and TIMESTAMP (milliseconds) are one sign-extended 64-bit word.
    assert_eq!(of(7_i64.into()), of(Item::Date(7)));
    assert_eq!(of(7_i64.into()), of(Item::timestamp(7, TimeUnit::Millisecond, false)));
    assert_eq!(of((-7_i8).into()), PrestoHash.hash64(sketch_hash::Domain::Integer, &(-7_i64).to_le_bytes()));
    // DOUBLE keeps its zeros apart and has one NaN; REAL is the 32-bit pattern, not a DOUBLE.
    assert_ne!(of(0.0.into()), of((-0.0).into()));
    assert_eq!(of(f64::NAN.into()), of((-f64::NAN).into()));
    assert_ne!(of(1.5_f32.into()), of(1.5_f64.into()));
    assert_eq!(of((-1.5_f32).into()), of(i64::from((-1.5_f32).to_bits().cast_signed()).into()));
    // VARCHAR and VARBINARY are their bytes.
    assert_eq!(of("presto".into()), 0x0cb3_adb6_5a8f_c066);
    assert_eq!(of("presto".into()), of(Item::Binary(b"presto")));
}
