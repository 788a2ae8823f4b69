//! The ledger between processes: this test binary starts itself again to play the others.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio, abort, exit};
use std::thread;
use std::time::Duration;

use dp_noise::{Amount, Epsilon};
use dpsketch::{Currency, ErrorKind, Ledger, LedgerTerms};

const PART: &str = "LEDGER_TEST_PART";
const PATH: &str = "LEDGER_TEST_PATH";
const WON: i32 = 50;
const LOST: i32 = 51;

fn ledger(path: &Path, total: &str) -> Ledger {
    let total = Amount::parse_total(total).expect("an amount");
    Ledger::create(path, LedgerTerms::new(Currency::Epsilon, total).expect("a total")).expect("a new ledger")
}

/// Another process that plays `part` with the ledger at `path`.
fn start(part: &str, path: &Path) -> Child {
    Command::new(env::current_exe().expect("this program"))
        .args(["--exact", "plays_the_other_process", "--nocapture"])
        .env(PART, part)
        .env(PATH, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a process")
}

/// Does nothing in the first process.
#[test]
fn plays_the_other_process() {
    let (Ok(part), Some(path)) = (env::var(PART), env::var_os(PATH)) else { return };
    let ledger = Ledger::open(Path::new(&path)).unwrap();
    match part.as_str() {
        "race" => {
            while !Path::new(&path).with_extension("go").exists() {
                thread::yield_now();
            }
            match ledger.spend("race", Epsilon::new(0.6).unwrap()) {
                Ok(_) => exit(WON),
                Err(error) => exit(if error.kind() == ErrorKind::Refused { LOST } else { 1 }),
            }
        }
        "crash" => {
            let (_permit, _receipt) = ledger.spend("crash", Epsilon::new(0.5).unwrap()).unwrap().permit();
            abort();
        }
        _ => loop {
            drop(ledger.spend("endless", Epsilon::new(1e-6).unwrap()).unwrap());
            println!("spent");
        },
    }
}

#[test]
fn of_two_processes_racing_for_more_than_half_exactly_one_wins() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ledger");
        let ledger = ledger(&path, "1");
        let racers = [start("race", &path), start("race", &path)];
        thread::sleep(Duration::from_millis(20));
        std::fs::write(path.with_extension("go"), "").unwrap();
        let mut ends = racers.map(|mut racer| racer.wait().unwrap().code());
        ends.sort_unstable();
        assert_eq!(ends, [Some(WON), Some(LOST)]);
        assert_eq!(ledger.show().unwrap().spends().len(), 1);
    }
}

#[test]
fn a_process_that_dies_before_its_release_leaves_its_spend() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ledger");
    let ledger = ledger(&path, "1");
    assert!(!start("crash", &path).wait().unwrap().success());
    let record = ledger.show().unwrap();
    assert_eq!(record.spends().iter().map(dpsketch::SpendRecord::status).collect::<Vec<_>>(), ["spent, not released"]);
    assert_eq!(record.remaining(), Amount::parse_total("0.5").unwrap());
    // Its lock went with it.
    assert!(ledger.spend("next", Epsilon::new(0.5).unwrap()).is_ok());
}

#[test]
fn a_process_killed_at_any_moment_leaves_a_whole_ledger_with_every_spend_it_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ledger");
    let ledger = ledger(&path, "1");
    let mut expected = 0;
    for round in 0..12_u64 {
        let mut child = start("endless", &path);
        let output = BufReader::new(child.stdout.take().unwrap());
        let reader =
            thread::spawn(move || output.lines().map_while(Result::ok).filter(|line| line.ends_with("spent")).count());
        thread::sleep(Duration::from_millis(20 + 7 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        expected += reader.join().unwrap();
        let found = ledger.show().unwrap().spends().len();
        assert!(found == expected || found == expected + 1, "{found} spends in the ledger, {expected} reported");
        expected = found;
    }
    assert!(expected > 0, "no process came to spend anything");
}
