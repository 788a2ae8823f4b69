//! Contenders that take turns at one task, and their table.

use std::fmt::Write;
use std::hint::black_box;

use crate::clock::time;

/// What a turn lasts at least, in nanoseconds: long against the clock's step.
const TURN: f64 = 5e6;

/// Contenders for one task; the first is ours, which the ratios refer to.
pub(crate) struct Contest<'a> {
    title: String,
    /// How many items one run handles; times are told for one of them.
    items: f64,
    contenders: Vec<Contender<'a>>,
    /// Those that could not take part.
    skipped: Vec<String>,
}

struct Contender<'a> {
    name: String,
    /// Nanoseconds that so many runs take.
    time: Box<dyn FnMut(u32) -> f64 + 'a>,
}

/// Times of one contender, in nanoseconds for an item.
struct Times {
    median: f64,
    lowest: f64,
}

impl<'a> Contest<'a> {
    /// A contest in which a run is one item.
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), items: 1.0, contenders: Vec::new(), skipped: Vec::new() }
    }

    /// A contest in which a run handles `items` items.
    #[expect(clippy::cast_precision_loss, reason = "counts of items are small")]
    pub(crate) fn per_item(title: impl Into<String>, items: usize) -> Self {
        Self { items: items as f64, ..Self::new(title) }
    }

    /// Adds a contender; what its run returns counts as used.
    pub(crate) fn add<T>(&mut self, name: impl Into<String>, mut run: impl FnMut() -> T + 'a) {
        let mut run = move || {
            let _ = black_box(run());
        };
        self.add_timed(name, move |repeats| time(repeats, &mut run));
    }

    /// Adds a contender that tells the nanoseconds of some runs by itself.
    pub(crate) fn add_timed(&mut self, name: impl Into<String>, time: impl FnMut(u32) -> f64 + 'a) {
        self.contenders.push(Contender { name: name.into(), time: Box::new(time) });
    }

    /// Mentions a contender that is not there.
    pub(crate) fn skip(&mut self, name: impl Into<String>) {
        self.skipped.push(name.into());
    }

    /// Lets all contenders take turns and tells the result as Markdown.
    pub(crate) fn measure(mut self, rounds: usize) -> String {
        let repeats: Vec<u32> = self.contenders.iter_mut().map(|contender| repeats(&mut *contender.time)).collect();
        let mut turns = vec![Vec::with_capacity(rounds); self.contenders.len()];
        for _ in 0..rounds {
            for ((contender, &repeats), turns) in self.contenders.iter_mut().zip(&repeats).zip(&mut turns) {
                turns.push((contender.time)(repeats) / f64::from(repeats) / self.items);
            }
        }
        let times: Vec<Times> = turns.into_iter().map(Times::of).collect();
        self.table(&times)
    }

    fn table(&self, times: &[Times]) -> String {
        let ours = times.first().map_or(f64::NAN, |times| times.median);
        let mut text = format!("**{}**\n\n| | median | lowest | ratio |\n|---|---:|---:|---:|\n", self.title);
        for (contender, times) in self.contenders.iter().zip(times) {
            let (median, lowest) = (scaled(times.median), scaled(times.lowest));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| {} | {median} | {lowest} | {} |", contender.name, ratio(times.median / ours));
        }
        for name in &self.skipped {
            let _ = writeln!(text, "| {name} | SKIPPED | | |");
        }
        text
    }
}

impl Times {
    fn of(mut turns: Vec<f64>) -> Self {
        turns.sort_by(f64::total_cmp);
        Self { median: turns[turns.len() / 2], lowest: turns[0] }
    }
}

/// Says how to read the tables.
pub(crate) fn legend(rounds: usize) -> String {
    format!(
        "Processor time of one thread, default build. Contenders of a table take turns; median and lowest of {rounds} turns. \
         Ratio: median over that of the first row, so above 1 is slower than ours, below 1 faster."
    )
}

/// How often a run is repeated to make a turn; the runs that find it warm up.
fn repeats(time: &mut dyn FnMut(u32) -> f64) -> u32 {
    let mut repeats = 1;
    while time(repeats) < TURN && repeats < 1 << 24 {
        repeats *= 2;
    }
    repeats
}

fn scaled(nanoseconds: f64) -> String {
    let units = [(1e6, "ms"), (1e3, "µs")];
    let (scale, unit) = units.into_iter().find(|(scale, _)| nanoseconds >= *scale).unwrap_or((1.0, "ns"));
    format!("{:.2} {unit}", nanoseconds / scale)
}

/// Two or more digits, but no false ones.
fn ratio(ratio: f64) -> String {
    let digits = match ratio {
        r if r >= 10.0 => 0,
        r if r >= 0.1 => 2,
        _ => 4,
    };
    format!("{ratio:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_and_the_lowest_turn_are_told() {
        let times = Times::of(vec![5.0, 1.0, 3.0]);
        assert_eq!((scaled(times.median), scaled(times.lowest)), ("3.00 ns".to_owned(), "1.00 ns".to_owned()));
    }

    #[test]
    fn ratios_refer_to_the_first_contender() {
        let mut contest = Contest::per_item("t", 2);
        contest.add("ours", || {});
        contest.add("theirs", || {});
        let table = contest.table(&[Times::of(vec![2000.0]), Times::of(vec![3000.0])]);
        assert!(
            table.ends_with("| ours | 2.00 µs | 2.00 µs | 1.00 |\n| theirs | 3.00 µs | 3.00 µs | 1.50 |\n"),
            "{table}"
        );
    }

    #[test]
    fn who_is_not_there_is_mentioned() {
        let mut contest = Contest::new("t");
        contest.add("ours", || {});
        contest.skip("theirs");
        assert!(contest.table(&[Times::of(vec![1.0])]).ends_with("| theirs | SKIPPED | | |\n"));
    }

    #[test]
    fn ratios_have_two_digits_or_more() {
        assert_eq!([0.000_42, 0.25, 12.34].map(ratio), ["0.0004", "0.25", "12"]);
    }
}
