//! A run of named steps: each is timed, all are run, and the failures are listed at the end.

use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::process;

/// How one step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed(String),
    /// Not run, because this tool is missing.
    Skipped(String),
}

/// The steps run so far.
#[derive(Debug)]
pub(crate) struct Steps {
    strict: bool,
    done: Vec<(String, Outcome, Duration)>,
}

impl Steps {
    /// With `strict`, a missing tool fails its step instead of skipping it.
    pub(crate) fn new(strict: bool) -> Self {
        Self { strict, done: Vec::new() }
    }

    /// Runs one step and remembers how it ended.
    pub(crate) fn run(&mut self, name: &str, step: impl FnOnce() -> Result<(), Failure>) {
        announce(name);
        let begin = Instant::now();
        let outcome = match step() {
            Ok(()) => Outcome::Passed,
            Err(failure) => Outcome::Failed(failure.to_string()),
        };
        self.record(name, outcome, begin.elapsed());
    }

    /// Runs one step if its tool was found.
    pub(crate) fn run_with<T>(
        &mut self,
        name: &str,
        tool: (&str, Option<T>),
        step: impl FnOnce(T) -> Result<(), Failure>,
    ) {
        match tool {
            (_, Some(found)) => self.run(name, || step(found)),
            (missing, None) if self.strict => {
                let outcome = Outcome::Failed(format!("{missing} is not installed; `cargo xtask setup` installs it"));
                self.record(name, outcome, Duration::ZERO);
            }
            (missing, None) => self.record(name, Outcome::Skipped(missing.to_owned()), Duration::ZERO),
        }
    }

    fn record(&mut self, name: &str, outcome: Outcome, time: Duration) {
        match &outcome {
            Outcome::Passed => {}
            Outcome::Failed(reason) => eprintln!("FAILED {name}: {reason}"),
            Outcome::Skipped(tool) => eprintln!("SKIPPED ({tool}) {name}"),
        }
        self.done.push((name.to_owned(), outcome, time));
    }

    /// Prints the summary; an error if any step failed.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        process::say(&self.summary())?;
        self.verdict()
    }

    fn verdict(&self) -> Result<(), Failure> {
        let failed = self.count(|outcome| matches!(outcome, Outcome::Failed(_)));
        if failed == 0 { Ok(()) } else { Err(Failure::Failed(format!("{failed} of {} steps failed", self.done.len()))) }
    }

    fn count(&self, wanted: impl Fn(&Outcome) -> bool) -> usize {
        self.done.iter().filter(|(_, outcome, _)| wanted(outcome)).count()
    }

    fn summary(&self) -> String {
        let mut lines = vec![String::new()];
        for (name, outcome, time) in &self.done {
            lines.push(match outcome {
                Outcome::Passed => format!("  passed   {:>7.1} s  {name}", time.as_secs_f64()),
                Outcome::Failed(reason) => format!("  FAILED   {:>7.1} s  {name}: {reason}", time.as_secs_f64()),
                Outcome::Skipped(tool) => format!("  SKIPPED ({tool})  {name}"),
            });
        }
        let total: Duration = self.done.iter().map(|(_, _, time)| *time).sum();
        lines.push(format!("  in all   {:>7.1} s", total.as_secs_f64()));
        let passed = self.count(|outcome| *outcome == Outcome::Passed);
        let failed = self.count(|outcome| matches!(outcome, Outcome::Failed(_)));
        let skipped = self.count(|outcome| matches!(outcome, Outcome::Skipped(_)));
        let tail = if skipped == 0 { String::new() } else { format!(", {skipped} skipped") };
        lines.push(format!("steps: {passed} passed, {failed} failed{tail}"));
        lines.join("\n")
    }
}

fn announce(name: &str) {
    eprintln!("\n=== {name}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_steps_run_and_a_failure_is_listed() {
        let mut steps = Steps::new(false);
        steps.run("first", || Err(Failure::Failed("broken".to_owned())));
        steps.run("second", || Ok(()));
        let summary = steps.summary();
        assert!(summary.ends_with("steps: 1 passed, 1 failed"), "{summary}");
        assert!(summary.contains("first: broken"), "{summary}");
        assert!(steps.verdict().is_err());
    }

    #[test]
    fn a_missing_tool_skips_a_step_and_fails_it_when_strict() {
        let run = |strict| {
            let mut steps = Steps::new(strict);
            steps.run_with("spelling", ("typos", None::<()>), |()| Ok(()));
            steps
        };
        assert!(run(false).summary().ends_with("steps: 0 passed, 0 failed, 1 skipped"));
        assert!(run(true).verdict().is_err());
    }
}
