//! The simulator and the golden-file runner, started by `cargo xtask`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sketch_sim::accuracy::{Plan, table};
use sketch_sim::audit;
use sketch_sim::f0;
use sketch_sim::figures;
use sketch_sim::frequency;
use sketch_sim::golden;
use sketch_sim::simulate::{Settings, simulate};
use sketch_sim::{OptionError, Options};

const USAGE: &str = "\
Usage: sketch-sim golden [FILE…] [--kinds a,b,…]
       sketch-sim simulate sfm [--sketch pcsa] --buckets B --levels P | --sketch linear --cells M
                  | --sketch bloom --cells M --hashes K | --sketch legions --cells M --decay A
                  --epsilon E --n N [--parties K | --merged K]
                  [--overlap|--shape disjoint|half|same|share90|one75|subset|powerlaw|half-powerlaw|sizes15|nested|pairs|half-pairs]
                  [--merge extremal|symmetric|xor|none|product|tally|joint] [--counts | --subsample-rate G]
                  [--trials T] [--seed S] [--threads N] [--json]
       sketch-sim simulate countsketch --rows K --width B (--rho R | --epsilon E --delta D)
                  [--vector zipf --d D --total N --exponent A | --vector sparse --t T --value V --d D]
                  [--estimator median|trimmed|mean] [--baseline none|gaussian|countmin|countmean]
                  [--queries Q] [--trials T] [--seed S] [--threads N] [--json]
       sketch-sim simulate f0 --levels L --cells M --epsilon E --n N [--mode set|presampled] [--noise tight|paper]
                  [--merged K] [--estimator mle|interval] [--weights unit|uniform|pareto]
                  [--subsample-rate G] [--trials T] [--seed S] [--threads N] [--json]
       sketch-sim accuracy [--families | --merged | --tails | --tally [--k 2|8|32] | --venn | --countsketch | --decode | --law
                  | --f0 [--compare] | --subsampled] [--trials T] [--seed S] [--threads N] [--out FILE]
       sketch-sim audit-privacy [--trials T] [--seed S] [--threads N]
       sketch-sim figures [--only a,b,…] [--check] [--trials T] [--seed S] [--threads N]

Development only: randomness is seeded and insecure. `cargo xtask golden --help` and its like tell more.";

/// How a verb ends when not well.
enum Failure {
    /// Exit code 2.
    Usage(String),
    /// Exit code 1; the report has been printed.
    Checks,
    /// Exit code 1.
    Failed(String),
}

impl From<OptionError> for Failure {
    fn from(error: OptionError) -> Self {
        Self::Usage(error.to_string())
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let outcome = match arguments.next().as_deref() {
        Some("golden") => run_golden(arguments),
        Some("simulate") => run_simulate(arguments),
        Some("accuracy") => run_accuracy(arguments),
        Some("figures") => run_figures(arguments),
        Some("audit-privacy") => run_audit(arguments),
        Some("help" | "--help" | "-h") => print(USAGE),
        Some(other) => Err(Failure::Usage(format!("unknown verb `{other}`\n{USAGE}"))),
        None => Err(Failure::Usage(USAGE.to_owned())),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => {
            eprintln!("sketch-sim: {message}");
            ExitCode::from(2)
        }
        Err(Failure::Checks) => ExitCode::FAILURE,
        Err(Failure::Failed(message)) => {
            eprintln!("sketch-sim: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run_golden(arguments: impl Iterator<Item = String>) -> Result<(), Failure> {
    let options = Options::parse(arguments, &["--kinds"], &[])?;
    let kinds: Vec<String> = match options.text("--kinds") {
        None => Vec::new(),
        Some(list) => list.split(',').map(str::trim).filter(|kind| !kind.is_empty()).map(str::to_owned).collect(),
    };
    let files = if options.operands().is_empty() {
        golden::default_files(&root()).map_err(|error| Failure::Failed(error.to_string()))?
    } else {
        options.operands().iter().map(PathBuf::from).collect()
    };
    let report = golden::run(&files, &kinds);
    print(&report.to_string())?;
    if report.is_clean() { Ok(()) } else { Err(Failure::Checks) }
}

fn run_simulate(mut arguments: impl Iterator<Item = String>) -> Result<(), Failure> {
    match arguments.next().as_deref() {
        Some("sfm") => {}
        Some("countsketch") => return run_frequencies(arguments),
        Some("f0") => return run_parities(arguments),
        Some(other) => return Err(Failure::Usage(format!("unknown sketch `{other}`; known: sfm, countsketch, f0"))),
        None => return Err(Failure::Usage("which sketch? known: sfm, countsketch, f0".to_owned())),
    }
    let (settings, threads, json) = Settings::parse(arguments)?;
    let summary = simulate(&settings, threads).map_err(|error| Failure::Failed(error.to_string()))?;
    if json { print(&summary.to_json().to_string()) } else { print(&summary.to_string()) }
}

fn run_frequencies(arguments: impl Iterator<Item = String>) -> Result<(), Failure> {
    let (settings, threads, json) = frequency::Settings::parse(arguments)?;
    let summary = frequency::simulate(&settings, threads).map_err(|error| Failure::Failed(error.to_string()))?;
    if json { print(&summary.to_json().to_string()) } else { print(&summary.to_string()) }
}

fn run_parities(arguments: impl Iterator<Item = String>) -> Result<(), Failure> {
    let (settings, threads, json) = f0::Settings::parse(arguments)?;
    let summary = f0::simulate(&settings, threads).map_err(|error| Failure::Failed(error.to_string()))?;
    if json { print(&summary.to_json().to_string()) } else { print(&summary.to_string()) }
}

fn run_accuracy(arguments: impl Iterator<Item = String>) -> Result<(), Failure> {
    let mut clean = true;
    for plan in Plan::parse(arguments)? {
        let out = plan.out.clone().map_or_else(|| root().join("docs/src").join(plan.which.file()), PathBuf::from);
        let finished = table(&plan, |row| eprintln!("{row}")).map_err(|error| Failure::Failed(error.to_string()))?;
        std::fs::write(&out, &finished.markdown)
            .map_err(|error| Failure::Failed(format!("cannot write {}: {error}", out.display())))?;
        print(&finished.markdown)?;
        for violation in &finished.violations {
            eprintln!("{violation}");
        }
        clean &= finished.violations.is_empty();
    }
    if clean { Ok(()) } else { Err(Failure::Checks) }
}

fn run_figures(arguments: impl Iterator<Item = String>) -> Result<(), Failure> {
    let plan = figures::Plan::parse(arguments)?;
    let violations = figures::run(&plan, &root().join("docs/src"), |line| eprintln!("{line}"))
        .map_err(|error| Failure::Failed(error.to_string()))?;
    for violation in &violations {
        eprintln!("{violation}");
    }
    if violations.is_empty() { Ok(()) } else { Err(Failure::Checks) }
}

fn run_audit(arguments: impl Iterator<Item = String>) -> Result<(), Failure> {
    let plan = audit::Plan::parse(arguments)?;
    let findings = audit::audit(&plan).map_err(|error| Failure::Failed(error.to_string()))?;
    for finding in &findings {
        print(&finding.to_string())?;
    }
    if findings.iter().any(audit::Finding::is_broken) { Err(Failure::Checks) } else { Ok(()) }
}

/// The workspace this program was built in.
fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf()
}

/// Writes a line to standard output; a closed pipe is no error.
fn print(text: &str) -> Result<(), Failure> {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Failed(error.to_string())),
        _ => Ok(()),
    }
}
