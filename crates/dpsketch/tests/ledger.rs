//! The ledger file: what it refuses, and what it survives.

use std::error::Error as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use dp_noise::{Amount, Epsilon};
use dpsketch::{Currency, Error, ErrorKind, Ledger, LedgerError, LedgerTerms, TextFileError};
use proptest::prelude::*;
use sfm_pcsa::{ReleaseId, Unit};

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("a valid epsilon")
}

fn amount(text: &str) -> Amount {
    Amount::parse_cost(text).expect("an amount")
}

fn terms(currency: Currency, total: &str) -> LedgerTerms {
    LedgerTerms::new(currency, amount(total)).expect("a total above zero")
}

/// A ledger of ε in a folder of its own.
fn ledger(total: &str) -> (tempfile::TempDir, PathBuf, Ledger) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("site.ledger");
    let ledger = Ledger::create(&path, terms(Currency::Epsilon, total)).expect("a new ledger");
    (folder, path, ledger)
}

fn reason(error: &Error) -> LedgerError {
    error.source().and_then(|source| source.downcast_ref::<LedgerError>()).expect("a ledger error").clone()
}

#[test]
fn overspending_is_refused_with_both_amounts_and_changes_nothing() {
    let (_folder, path, ledger) = ledger("1");
    drop(ledger.spend("first", epsilon(0.6)).unwrap());
    let before = fs::read(&path).unwrap();
    let error = ledger.spend("second", epsilon(0.6)).unwrap_err();
    let (requested, remaining) = (amount("0.6"), amount("0.4"));
    assert_eq!(reason(&error), LedgerError::Exceeded { requested, remaining, currency: Currency::Epsilon });
    assert_eq!((error.kind(), error.kind().exit_code()), (ErrorKind::Refused, 4));
    assert_eq!(fs::read(&path).unwrap(), before);
    assert!(ledger.spend("all that is left", epsilon(0.4)).is_ok());
    assert_eq!(ledger.show().unwrap().remaining(), Amount::ZERO);
}

#[test]
fn a_permit_allows_no_more_than_was_booked() {
    let (_folder, _path, ledger) = ledger("10");
    for value in [0.1, 0.3, 1.0, 2.5, 1.0 / 3.0, Epsilon::MIN] {
        let spend = ledger.spend("x", epsilon(value)).unwrap();
        let booked = spend.record().cost();
        let (permit, _receipt) = spend.permit();
        assert!(permit.cost() <= permit.stated());
        assert_eq!(permit.stated(), epsilon(value));
        // The least f64 above the permitted level is above what was booked, or the level is the one asked for.
        assert!(booked.to_epsilon().map_or(true, |level| permit.cost() <= level));
    }
}

#[test]
fn a_spend_without_its_release_stays_visible() {
    let (_folder, path, ledger) = ledger("1");
    let (_permit, receipt) = ledger.spend("a", epsilon(0.25)).unwrap().permit();
    drop(ledger.spend("b", epsilon(0.25)).unwrap());
    let release = ReleaseId::from_bytes(*b"0123456789abcdef");
    receipt.finish(release).unwrap();
    let record = Ledger::open(&path).unwrap().show().unwrap();
    let seen: Vec<_> = record.spends().iter().map(|spend| (spend.label(), spend.status(), spend.release())).collect();
    assert_eq!(seen, [("a", "released", Some(release)), ("b", "spent, not released", None)]);
    assert_eq!((record.spent(), record.remaining()), (amount("0.5"), amount("0.5")));
    let error = receipt.finish(release).unwrap_err();
    assert_eq!(reason(&error), LedgerError::Released { number: 1 });
    let json = record.to_json();
    assert_eq!(json["spends"][0]["release"], "30313233343536373839616263646566");
    assert_eq!(json["spends"][1]["release"], serde_json::Value::Null);
}

#[test]
fn a_ledger_of_rho_books_half_the_square() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rho.ledger");
    let ledger = Ledger::create(&path, terms(Currency::Rho, "0.5").with_unit("one patient").unwrap()).unwrap();
    let (permit, _receipt) = ledger.spend("a", epsilon(0.6)).unwrap().permit();
    assert_eq!(permit.stated(), epsilon(0.6));
    let record = Ledger::open(&path).unwrap().show().unwrap();
    assert_eq!((record.terms().currency(), record.terms().unit()), (Currency::Rho, "one patient"));
    assert_eq!((record.spent(), record.remaining()), (amount("0.18"), amount("0.32")));
    // 0.8² / 2 = 0.32 fits exactly, and nothing more.
    drop(ledger.spend("b", epsilon(0.8)).unwrap());
    let error = ledger.spend("c", epsilon(0.001)).unwrap_err();
    let refused =
        LedgerError::Exceeded { requested: amount("0.0000005"), remaining: Amount::ZERO, currency: Currency::Rho };
    assert_eq!(reason(&error), refused);
}

#[test]
fn an_existing_file_is_never_replaced_by_a_new_ledger() {
    let (_folder, path, ledger) = ledger("1");
    drop(ledger.spend("a", epsilon(0.5)).unwrap());
    let error = Ledger::create(&path, terms(Currency::Epsilon, "1")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parameter);
    assert_eq!(ledger.show().unwrap().spends().len(), 1);
}

#[test]
fn labels_are_data_of_bounded_length() {
    let (_folder, path, ledger) = ledger("1");
    let labels = ["../../etc/passwd", "\"},{\"", "zwölf Boxkämpfer 🥊", "\u{0}\u{1b}[2J\n", &"x".repeat(255)];
    for label in labels {
        drop(ledger.spend(label, epsilon(0.001)).unwrap());
    }
    let record = Ledger::open(&path).unwrap().show().unwrap();
    assert_eq!(record.spends().iter().map(dpsketch::SpendRecord::label).collect::<Vec<_>>(), labels);
    for label in ["", &"x".repeat(256), &"é".repeat(128)] {
        let error = ledger.spend(label, epsilon(0.001)).unwrap_err();
        assert_eq!(reason(&error), LedgerError::Text { what: "label", found: label.len() });
        assert_eq!(error.kind(), ErrorKind::Parameter);
    }
}

#[test]
fn of_many_threads_with_their_own_handles_exactly_as_many_win_as_fit() {
    let (_folder, path, ledger) = ledger("1");
    let wins = thread::scope(|scope| {
        let racers: Vec<_> = (0..16)
            .map(|racer| {
                let path = &path;
                scope.spawn(move || {
                    Ledger::open(path).and_then(|own| own.spend(&format!("{racer}"), epsilon(0.1))).is_ok()
                })
            })
            .collect();
        racers.into_iter().filter_map(|racer| racer.join().ok()).filter(|won| *won).count()
    });
    assert_eq!(wins, 10);
    let record = ledger.show().unwrap();
    assert_eq!((record.spends().len(), record.remaining()), (10, Amount::ZERO));
}

#[test]
fn a_spend_waits_for_the_lock() {
    let (folder, _path, ledger) = ledger("1");
    let lock = File::create(folder.path().join("site.ledger.lock")).unwrap();
    lock.lock().unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| ledger.spend("a", epsilon(0.5)).map(drop));
        thread::sleep(Duration::from_millis(100));
        assert_eq!(ledger.show().unwrap().spends().len(), 0, "showing needs no lock");
        lock.unlock().unwrap();
        waiting.join().unwrap().unwrap();
    });
    assert_eq!(ledger.show().unwrap().spends().len(), 1);
}

#[test]
fn a_ledger_that_was_moved_away_is_not_made_again() {
    let (folder, path, ledger) = ledger("1");
    let (_permit, receipt) = ledger.spend("a", epsilon(0.5)).unwrap().permit();
    fs::rename(&path, folder.path().join("elsewhere")).unwrap();
    assert_eq!(ledger.spend("b", epsilon(0.1)).unwrap_err().kind(), ErrorKind::Unreadable);
    assert_eq!(receipt.finish(ReleaseId::from_bytes([1; 16])).unwrap_err().kind(), ErrorKind::Unreadable);
    assert!(!path.exists());
}

#[cfg(unix)]
#[test]
fn a_link_leads_to_the_same_ledger_and_lock() {
    let (folder, path, _ledger) = ledger("1");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    drop(Ledger::open(&link).unwrap().spend("a", epsilon(0.6)).unwrap());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(Ledger::open(&path).unwrap().show().unwrap().spends().len(), 1);
    assert!(!folder.path().join("link.lock").exists());
}

#[cfg(unix)]
#[test]
fn a_ledger_that_only_its_owner_reads_stays_so() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path, ledger) = ledger("1");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    drop(ledger.spend("a", epsilon(0.5)).unwrap());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path(), Path::new("/dev/zero")] {
        assert_eq!(Ledger::open(path).unwrap_err().kind(), ErrorKind::Damaged);
    }
    assert_eq!(Ledger::open(&folder.path().join("none")).unwrap_err().kind(), ErrorKind::Unreadable);
}

const GOOD: &str = r#"{"format":"dpsketch ledger","version":2,"currency":"epsilon","unit":"one item","total":"1",
"spends":[{"label":"a","epsilon":"0.5","cost":"0.5","unit":null,"release":"000102030405060708090a0b0c0d0e0f"}]}"#;

fn open_text(text: &[u8]) -> Result<Ledger, Error> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.ledger");
    fs::write(&path, text).expect("a file");
    Ledger::open(&path)
}

#[test]
fn every_damage_has_its_own_words() {
    assert!(open_text(GOOD.as_bytes()).is_ok());
    let spend = GOOD.split_once('[').unwrap().1.trim_end_matches("]}");
    for (from, to, told) in [
        ("dpsketch ledger", "ledger", "expected \"dpsketch ledger 2\", found \"ledger 2\""),
        ("\"version\":2", "\"version\":3", "found \"dpsketch ledger 3\""),
        ("\"version\":2", "\"version\":1", "unit of spend 1 is invalid: expected no unit in version 1"),
        ("\"unit\":null,", "", "unit of spend 1 is invalid: expected the words of a unit, or null"),
        ("\"unit\":null", "\"unit\":\"u\"", "unit of spend 1 is invalid: expected the words of a unit, or null"),
        ("\"format\"", "\"name\"", "found \"no format\""),
        ("epsilon\",\"unit", "delta\",\"unit", "currency is invalid: expected epsilon or rho, found \"delta\""),
        ("\"1\",", "\"0\",", "total is invalid: expected an amount above zero, found \"0\""),
        ("\"1\",", "\"NaN\",", "total is invalid"),
        ("\"1\",", "1.0,", "invalid type: floating point `1.0`, expected a string at line 1"),
        ("one item", "", "unit is invalid"),
        ("\"label\":\"a\"", "\"label\":\"\"", "label of spend 1 is invalid"),
        ("\"epsilon\":\"0.5\"", "\"epsilon\":\"-0.5\"", "epsilon of spend 1 is invalid"),
        ("\"cost\":\"0.5\"", "\"cost\":\"0.4\"", "cost of spend 1 is invalid: expected 0.5, the cost of epsilon 0.5"),
        ("000102", "0001", "release of spend 1 is invalid: expected 32 hexadecimal digits or null"),
        ("000102", "+00102", "release of spend 1 is invalid"),
        ("\"unit\"", "\"extra\":1,\"unit\"", "unknown field `extra`"),
        ("\"unit\"", "\"total\":\"9\",\"unit\"", "duplicate field `total`"),
        (spend, &"[".repeat(500), "not a ledger: expected"),
        (GOOD, "[]", "not a ledger: expected '{' at line 1, column 1"),
        (GOOD, "", "not a ledger: expected '{'"),
        (GOOD, &format!("{GOOD}x"), "trailing characters at line 2"),
    ] {
        let error = open_text(GOOD.replacen(from, to, 1).as_bytes()).unwrap_err();
        assert_eq!((error.kind(), error.kind().exit_code()), (ErrorKind::Damaged, 5), "{to}");
        assert!(error.message().contains(told), "{to}: {error}");
        reason(&error);
    }
}

#[test]
fn a_cut_ledger_is_never_accepted() {
    for end in 0..GOOD.len() {
        assert_eq!(open_text(&GOOD.as_bytes()[..end]).unwrap_err().kind(), ErrorKind::Damaged, "{end}");
    }
}

#[test]
fn a_total_lowered_by_hand_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ledger");
    fs::write(&path, GOOD.replacen("\"1\"", "\"0.3\"", 1)).unwrap();
    let ledger = Ledger::open(&path).unwrap();
    assert_eq!(ledger.show().unwrap().remaining(), Amount::ZERO);
    assert!(matches!(reason(&ledger.spend("b", epsilon(0.01)).unwrap_err()), LedgerError::Exceeded { .. }));
}

#[test]
fn the_length_is_bounded_both_ways() {
    let spend = r#"{"label":"LABEL","epsilon":"0.000000001","cost":"0.000000001","release":null}"#;
    let spend = spend.replace("LABEL", &"x".repeat(200));
    let file = |spends: usize| {
        let head = r#"{"format":"dpsketch ledger","version":1,"currency":"epsilon","unit":"u","total":"9","spends":["#;
        format!("{head}{}]}}", vec![spend.as_str(); spends].join(","))
    };
    let error = open_text(file((16 << 20) / spend.len()).as_bytes()).unwrap_err();
    assert_eq!(reason(&error), LedgerError::File(TextFileError::TooLong { max: 16 << 20 }));

    // It is read, but with line breaks and one spend more it would be too long.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ledger");
    fs::write(&path, file((15 << 20) / spend.len())).unwrap();
    let error = Ledger::open(&path).unwrap().spend("b", epsilon(0.1)).unwrap_err();
    assert_eq!(reason(&error), LedgerError::Full { max: 16 << 20 });
}

#[test]
fn a_ledger_without_units_is_read_and_gets_them_by_its_next_spend() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ledger");
    let first = GOOD.replacen("\"version\":2", "\"version\":1", 1).replacen("\"unit\":null,", "", 1);
    fs::write(&path, &first).unwrap();
    let ledger = Ledger::open(&path).unwrap();
    drop(ledger.spend_for("b", epsilon(0.25), Unit::Item).unwrap());
    let record = Ledger::open(&path).unwrap().show().unwrap();
    let seen: Vec<_> = record.spends().iter().map(|spend| (spend.cost(), spend.unit())).collect();
    assert_eq!(seen, [(amount("0.5"), None), (amount("0.25"), Some(Unit::Item))]);
    assert!(fs::read_to_string(&path).unwrap().contains("\"version\": 2"));
    let cut = &first[..first.len() - 1];
    assert!(!open_text(cut.as_bytes()).unwrap_err().message().contains("version"), "damage is told, not the version");
}

#[test]
fn every_spend_records_whom_it_protects_and_items_are_no_users() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ledger");
    let user = Unit::user(5).unwrap();
    let of_users = terms(Currency::Epsilon, "1").with_unit(user.to_string()).unwrap();
    let ledger = Ledger::create(&path, of_users).unwrap();
    let before = fs::read(&path).unwrap();
    let error = ledger.spend_for("a", epsilon(0.1), Unit::Item).unwrap_err();
    assert_eq!(reason(&error), LedgerError::Unit { expected: user.to_string(), found: Unit::Item });
    assert_eq!((error.kind(), error.kind().exit_code()), (ErrorKind::Refused, 4));
    assert!(ledger.check_for("a", epsilon(0.1), Unit::Item).is_err());
    assert_eq!(fs::read(&path).unwrap(), before);
    for unit in [user, Unit::user(9).unwrap()] {
        drop(ledger.spend_for("b", epsilon(0.1), unit).unwrap());
    }
    let record = ledger.show().unwrap();
    assert_eq!(record.spends()[0].unit(), Some(user));
    assert_eq!(record.to_json()["spends"][1]["unit"], "one user with at most 9 items");
    assert_eq!((record.other_unit(user), record.other_unit(Unit::Item)), (None, Some(user)));
}

#[cfg(unix)]
#[test]
fn a_ledger_with_a_second_name_books_nothing() {
    let (folder, path, ledger) = ledger("1");
    let second = folder.path().join("second.ledger");
    fs::hard_link(&path, &second).unwrap();
    let before = fs::read(&path).unwrap();
    let error = ledger.spend("a", epsilon(0.5)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.message().contains("hard link"), "{error}");
    assert_eq!((fs::read(&path).unwrap(), fs::read(&second).unwrap()), (before.clone(), before));
    fs::remove_file(&second).unwrap();
    assert!(ledger.spend("a", epsilon(0.5)).is_ok());
}

#[cfg(unix)]
#[test]
fn a_spend_keeps_the_mode_of_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path, ledger) = ledger("1");
    for mode in [0o600, 0o640, 0o644, 0o660] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        drop(ledger.spend("a", epsilon(0.1)).unwrap());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode, "{mode:o}");
    }
}

proptest! {
    #[test]
    fn changed_bytes_never_panic(place in 0..GOOD.len(), byte: u8) {
        let mut text = GOOD.as_bytes().to_vec();
        text[place] = byte;
        if let Err(error) = open_text(&text) {
            prop_assert_eq!(error.kind(), ErrorKind::Damaged);
        }
    }
}
