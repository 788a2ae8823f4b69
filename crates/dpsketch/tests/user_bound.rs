//! Bounding what a user contributes: streamed, spilled and by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::error::Error as _;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use dp_noise::Epsilon;
use dpsketch::{Error, ErrorKind, MaxItems, PrivacyUnit, SpillSettings, UserBound, UserBoundError, UserCounts};
use proptest::prelude::*;
use sketch_hash::{DefaultHash, Domain, HashKey, Item, KeyedHash, SeedStream};
use sketch_testkit::assert_binomial;

const KEY: HashKey = HashKey::from_bytes(*b"user bound tests");
/// The least memory, in bytes: 2730 pairs.
const LITTLE: usize = 1 << 16;

type Rows = Vec<(u64, u64)>;

fn limit(max_items: u32) -> MaxItems {
    MaxItems::new(max_items).expect("a valid bound")
}

fn reason(error: &Error) -> UserBoundError {
    *error.source().and_then(|source| source.downcast_ref::<UserBoundError>()).expect("a user bound error")
}

fn run(mut bound: UserBound, rows: &[(u64, u64)]) -> Result<(Vec<u64>, UserCounts), Error> {
    let mut kept = Vec::new();
    for (user, item) in rows {
        bound.push(Item::from(*user), *item, |items| kept.extend_from_slice(items))?;
    }
    let counts = bound.finish(|items| kept.extend_from_slice(items))?;
    kept.sort_unstable();
    Ok((kept, counts))
}

fn sorted(max_items: u32, rows: &[(u64, u64)]) -> Result<(Vec<u64>, UserCounts), Error> {
    run(UserBound::sorted(limit(max_items), KEY), rows)
}

fn spilled(max_items: u32, rows: &[(u64, u64)]) -> Result<(Vec<u64>, UserCounts), Error> {
    let settings = SpillSettings { memory: LITTLE, ..SpillSettings::default() };
    run(UserBound::spilling(limit(max_items), KEY, settings)?, rows)
}

/// The rule as documented, with everything in memory: of each user the items of the smallest ranks.
fn by_hand(max_items: usize, rows: &[(u64, u64)]) -> Vec<u64> {
    let [users, ranks] =
        ["dpsketch user", "dpsketch user bound rank"].map(|label| DefaultHash::new(KEY.derive(label, 0)));
    let mut items: BTreeMap<u64, BTreeSet<(u64, u64)>> = BTreeMap::new();
    for (user, item) in rows {
        let [first, second] = Item::from(*user).hash128(&users);
        let bytes = [first, second, *item].map(u64::to_le_bytes).concat();
        items.entry(*user).or_default().insert((ranks.hash64(Domain::Row, &bytes), *item));
    }
    let kept = items.values().flat_map(|items| items.iter().take(max_items).map(|(_, item)| *item));
    let mut kept: Vec<u64> = kept.collect();
    kept.sort_unstable();
    kept
}

/// Rows of random users and items, in random order.
fn many_rows(count: usize, users: u64, items: u64) -> Rows {
    let mut seeds = SeedStream::new(KEY, "user bound rows", 0);
    (0..count).map(|_| (seeds.next_word() % users, seeds.next_word() % items)).collect()
}

proptest! {
    #[test]
    fn streamed_spilled_and_by_hand_keep_the_same(
        rows in prop::collection::vec((0..8_u64, 0..12_u64), 0..80),
        max_items in 1..6_u32,
    ) {
        let expected = by_hand(max_items as usize, &rows);
        let (kept, counts) = spilled(max_items, &rows).unwrap();
        prop_assert_eq!(&kept, &expected);
        let mut together = rows.clone();
        together.sort_by_key(|(user, _)| *user);
        prop_assert_eq!(sorted(max_items, &together).unwrap(), (kept, counts));
        let users: BTreeSet<u64> = rows.iter().map(|(user, _)| *user).collect();
        let expected = UserCounts { rows: rows.len() as u64, users: users.len() as u64, kept: expected.len() as u64 };
        prop_assert_eq!(counts, expected);
    }

    #[test]
    fn a_user_changes_at_most_the_bound_and_nobody_else(
        rows in prop::collection::vec((0..5_u64, 0..12_u64), 1..60),
        max_items in 1..4_u32,
    ) {
        let others: Rows = rows.iter().copied().filter(|(user, _)| *user != 0).collect();
        let (with, without) = (spilled(max_items, &rows).unwrap().0, spilled(max_items, &others).unwrap().0);
        let mut rest = with;
        for item in without {
            let place = rest.iter().position(|kept| *kept == item);
            prop_assert!(place.is_some(), "what others keep went away");
            rest.remove(place.unwrap());
        }
        prop_assert!(rest.len() <= max_items as usize);
    }
}

#[test]
fn sorting_on_disk_gives_what_sorting_in_memory_gives() {
    // With the least memory 32 runs of 2730 pairs are merged into one before the rows are over, some of them twice.
    for (users, items) in [(1_000, 1 << 40), (1 << 40, 50), (3, 1 << 40), (300, 10)] {
        let rows = many_rows(200_000, users, items);
        assert_eq!(spilled(7, &rows).unwrap().0, by_hand(7, &rows), "{users} users, {items} items");
    }
}

#[test]
fn a_user_that_comes_back_is_refused_by_the_number_of_the_row() {
    let mut bound = UserBound::sorted(limit(2), KEY);
    bound.push(Item::Text("ann"), 1, |_| ()).unwrap();
    bound.skip_rows(10);
    bound.push(Item::Text("secret name"), 1, |_| ()).unwrap();
    let error = bound.push(Item::Text("ann"), 2, |_| ()).unwrap_err();
    assert_eq!(reason(&error), UserBoundError::UserReturned { row: 13 });
    assert_eq!((error.kind(), error.kind().exit_code()), (ErrorKind::Refused, 4));
    assert!(!format!("{error:?} {}", error.to_text()).contains("ann"));
    // Whoever passes over the refusal is refused for good.
    assert_eq!(reason(&bound.push(Item::Text("bob"), 1, |_| ()).unwrap_err()), UserBoundError::RefusedBefore);
    assert_eq!(reason(&bound.finish(|_| ()).unwrap_err()), UserBoundError::RefusedBefore);
}

#[test]
fn nothing_about_users_or_items_is_shown() {
    let mut bound = UserBound::sorted(limit(2), KEY);
    bound.push(Item::Text("ann"), 0x1234_5678, |_| ()).unwrap();
    assert_eq!(format!("{bound:?}"), "UserBound { sorted: true, rows: 1, .. }");
}

#[test]
fn no_item_is_preferred_for_all_users() {
    // 4,000 users with the items 0..10 keep one each. By a rank of the item alone all would keep the same one.
    let rows: Rows = (0..4_000).flat_map(|user| (0..10).map(move |item| (user, item))).collect();
    let (kept, _) = sorted(1, &rows).unwrap();
    for item in 0..10 {
        let times = kept.iter().filter(|kept| **kept == item).count();
        assert_binomial(times as u64, 4_000, 0.1);
    }
}

#[test]
fn bounds_and_memory_are_checked() {
    for found in [0, MaxItems::MAX + 1, u32::MAX] {
        assert_eq!(MaxItems::new(found), Err(UserBoundError::MaxItems { found }));
    }
    for found in [0, LITTLE - 1] {
        let settings = SpillSettings { memory: found, ..SpillSettings::default() };
        let error = UserBound::spilling(limit(1), KEY, settings).unwrap_err();
        assert_eq!(reason(&error), UserBoundError::Memory { expected: LITTLE, found });
    }
    let settings = SpillSettings { memory: usize::MAX, ..SpillSettings::default() };
    let error = UserBound::spilling(limit(1), KEY, settings).unwrap_err();
    assert_eq!(reason(&error), UserBoundError::NoMemory { requested: usize::MAX });
}

#[test]
fn a_folder_that_is_not_there_is_told_when_the_memory_is_full() {
    let settings = SpillSettings { memory: LITTLE, folder: "/no/such/folder".into() };
    let mut bound = UserBound::spilling(limit(1), KEY, settings).unwrap();
    let error = (0..10_000_u64).find_map(|user| bound.push(Item::from(user), 1, |_| ()).err()).unwrap();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().contains("a temporary file in /no/such/folder"), "{error}");
}

#[test]
fn the_unit_splits_the_level_over_its_items() {
    let epsilon = Epsilon::new(1.0).unwrap();
    assert_eq!(PrivacyUnit::Item.item_epsilon(epsilon), Ok(epsilon));
    for max_items in [1, 3, 5, MaxItems::MAX] {
        let unit = PrivacyUnit::from_max_items(max_items).unwrap();
        assert_eq!(unit.max_items(), max_items);
        let share = unit.item_epsilon(epsilon).unwrap().get();
        // Not above 1/M: share · M − 1 has the sign of its fused value.
        assert!(share.mul_add(f64::from(max_items), -1.0) <= 0.0);
        assert!(share.next_up().mul_add(f64::from(max_items), -1.0) > 0.0);
    }
    assert_eq!(PrivacyUnit::from_max_items(0), Ok(PrivacyUnit::Item));
}

const CHILD: &str = "USER_BOUND_TEST_FOLDER";

/// Spills for ever in the process that the next test starts; does nothing in the first one.
#[test]
fn plays_a_process_that_spills() {
    let Some(folder) = env::var_os(CHILD) else { return };
    let settings = SpillSettings { memory: 1 << 20, folder: folder.into() };
    let mut bound = UserBound::spilling(limit(1), KEY, settings).unwrap();
    for user in 0_u64.. {
        bound.push(Item::from(user), 1, |_| ()).unwrap();
        if user % 100_000 == 0 {
            println!("spilled {user}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_process_leaves_no_file_behind() {
    let folder = tempfile::tempdir().unwrap();
    let names = |folder: &Path| std::fs::read_dir(folder).unwrap().count();
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "plays_a_process_that_spills", "--nocapture"])
        .env(CHILD, folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.ends_with("spilled 200000")), "it never came to spill");
    assert_eq!(names(folder.path()), 0, "while it runs");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(names(folder.path()), 0, "after it was killed");
}
