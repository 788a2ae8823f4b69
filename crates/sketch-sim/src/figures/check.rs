//! Simulated against theoretical numbers, with a bound that chance alone does not break.

use std::fmt::Write;

use crate::frequency::mean_and_std_error;

/// How many of its own standard deviations chance may move a simulated number: a false alarm in a million.
const SIGMAS: f64 = 4.9;
/// That rate.
const FALSE_ALARM: f64 = 1e-6;

/// One simulated point and what theory says of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) series: String,
    pub(crate) x: f64,
    /// The root mean square relative error over the trials.
    pub(crate) simulated: f64,
    pub(crate) theory: f64,
    /// How far theory itself may be off, relative to it; `None` where it claims nothing.
    pub(crate) model: Option<f64>,
    pub(crate) trials: u32,
    /// What chance does to the simulated number, relative to theory: exceeded once in a million.
    pub(crate) chance: f64,
    /// Whether the numbers are written in per cent.
    pub(crate) percent: bool,
    /// Whether only a larger number breaks the bound: an error beside that of another implementation may be smaller.
    pub(crate) at_most: bool,
}

/// The columns of a figure whose numbers are relative errors.
pub(crate) const RRMSE: [&str; 2] = ["simulated_rrmse", "theory_rse"];

impl Point {
    /// A point with the rule of the accuracy tables: 3 % up to a prediction of 12 %, 6 % up to 20 %, none beyond.
    pub(crate) fn new(series: &str, x: f64, simulated: f64, theory: f64, trials: u32) -> Self {
        let model = if theory <= 0.12 {
            Some(0.03)
        } else if theory <= 0.20 {
            Some(0.06)
        } else {
            None
        };
        // Of a root mean square of near-normal errors the standard deviation is `1/√(2·trials)`.
        let chance = SIGMAS / (2.0 * f64::from(trials)).sqrt();
        Self { series: series.to_owned(), x, simulated, theory, model, trials, chance, percent: true, at_most: false }
    }

    /// A point beside one that another implementation simulated, each with its number of trials: chance moves both.
    pub(crate) fn beside(series: &str, x: f64, (simulated, trials): (f64, u32), (other, others): (f64, u32)) -> Self {
        let chance = SIGMAS * (0.5 / f64::from(trials) + 0.5 / f64::from(others)).sqrt();
        Self { model: Some(0.0), chance, ..Self::new(series, x, simulated, other, trials) }
    }

    /// A point whose number is the share of `trials` in which something happened, `theory` its probability; `model` is how
    /// far theory itself may be off. Chance by Bernstein's inequality, which holds for rare events, too.
    pub(crate) fn share(series: &str, x: f64, (simulated, theory): (f64, f64), model: f64, trials: u32) -> Self {
        let doubt = (2.0 / FALSE_ALARM).ln() / f64::from(trials);
        let chance = (2.0 * (1.0 - theory) * doubt / theory).sqrt() + 2.0 * doubt / (3.0 * theory);
        Self { model: Some(model), chance, ..Self::new(series, x, simulated, theory, trials) }
    }

    /// A point whose number is the mean of samples.
    pub(crate) fn mean(series: &str, x: f64, samples: &[f64], theory: f64, model: f64) -> Self {
        let (mean, std_error) = mean_and_std_error(samples);
        let trials = u32::try_from(samples.len()).unwrap_or(u32::MAX);
        let chance = SIGMAS * std_error / theory;
        Self { model: Some(model), chance, percent: false, ..Self::new(series, x, mean, theory, trials) }
    }

    /// The same if only a larger number is wrong.
    pub(crate) fn at_most(self) -> Self {
        Self { at_most: true, ..self }
    }

    /// How far the simulated number lies off the theoretical, relative to it.
    pub(crate) fn difference(&self) -> f64 {
        self.simulated / self.theory - 1.0
    }

    /// What the difference may be: the model's own share, and that of chance.
    pub(crate) fn bound(&self) -> Option<f64> {
        self.model.map(|model| model + self.chance)
    }

    /// A number as this point's are written.
    fn written(&self, number: f64) -> String {
        if self.percent { format!("{:.3} %", 100.0 * number) } else { format!("{number:.3}") }
    }

    /// A sentence if the bound is broken.
    pub(crate) fn violation(&self) -> Option<String> {
        let off = if self.at_most { self.difference() } else { self.difference().abs() };
        let bound = self.bound().filter(|bound| off > *bound || off.is_nan())?;
        Some(format!(
            "{} at {}: simulated {:.5}, theory {:.5}, difference {:+.4} outside ±{bound:.4}",
            self.series,
            self.x,
            self.simulated,
            self.theory,
            self.difference()
        ))
    }
}

/// A row of the docs for each series: how many points are checked, and the one that is nearest to its bound.
pub(crate) fn table(points: &[Point]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for point in points {
        if !names.contains(&point.series.as_str()) {
            names.push(&point.series);
        }
    }
    let mut text = "| series | points checked | nearest to its bound | simulated | theory | difference | bound |\n\
                    |---|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for name in names {
        let checked: Vec<(&Point, f64)> = points
            .iter()
            .filter(|point| point.series == name)
            .filter_map(|point| point.bound().map(|bound| (point, bound)))
            .collect();
        let worst =
            checked.iter().max_by(|(a, x), (b, y)| (a.difference().abs() / x).total_cmp(&(b.difference().abs() / y)));
        let Some((worst, bound)) = worst else { continue };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {:+.1} % | ±{:.1} % |",
            checked.len(),
            short(worst.x),
            worst.written(worst.simulated),
            worst.written(worst.theory),
            100.0 * worst.difference(),
            100.0 * bound,
        );
    }
    text
}

/// Every point as comma-separated values.
pub(crate) fn csv(points: &[Point], x: &str, [simulated, theory]: [&str; 2]) -> String {
    let mut text = format!("series,{x},{simulated},{theory},trials\n");
    for point in points {
        // What nothing is known of stays empty.
        let theory = if point.theory.is_nan() { String::new() } else { format!("{:.6}", point.theory) };
        let _ =
            writeln!(text, "\"{}\",{},{:.6},{theory},{}", point.series, short(point.x), point.simulated, point.trials);
    }
    text
}

/// A number as people write it.
fn short(x: f64) -> String {
    let text = format!("{x:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_held_to_its_claim_and_to_chance() {
        // 5000 trials: 4.9/√10000 of chance beside the 3 % of the claim.
        let point = Point::new("a", 10.0, 0.107, 0.1, 5000);
        assert!((point.bound().unwrap() - 0.079).abs() < 1e-12);
        assert_eq!(point.violation(), None);
        assert!(Point { simulated: 0.109, ..point.clone() }.violation().unwrap().contains("+0.0900"));
        assert!(Point { simulated: f64::NAN, ..point }.violation().is_some());
        assert_eq!(Point::new("a", 10.0, 5.0, 0.25, 5000).violation(), None);
    }

    #[test]
    fn a_point_beside_another_simulation_has_the_chance_of_both() {
        // 4.9·√(1/400 + 1/400) = 0.3465.
        let point = Point::beside("a", 2.0, (0.13, 200), (0.1, 200));
        assert!((point.bound().unwrap() - 0.3465).abs() < 1e-4 && point.violation().is_none());
        assert!(Point { simulated: 0.136, ..point.clone() }.violation().is_some());
        assert!(Point { simulated: 0.136, ..point.clone() }.at_most().violation().is_some());
        let better = Point { simulated: 0.05, ..point };
        assert!(better.violation().is_some() && better.at_most().violation().is_none());
        let alone = Point { model: None, ..Point::new("a", 4.0, 0.1, f64::NAN, 200) };
        assert!(alone.violation().is_none() && csv(&[alone], "x", RRMSE).ends_with("\"a\",4,0.100000,,200\n"));
    }

    #[test]
    fn shares_and_means_are_held_to_what_chance_does_to_them() {
        // p = 1/2, n = 10,000: √(2·ln(2·10⁶)/10,000) = 0.0539, and 2·14.5/(3·5000) = 0.0019.
        let share = Point::share("a", 1.0, (0.52, 0.5), 0.0, 10_000);
        assert!((share.bound().unwrap() - 0.0558).abs() < 1e-4 && share.violation().is_none());
        assert!(Point { simulated: 0.53, ..share }.violation().is_some());
        let samples: Vec<f64> = (0..1000).map(|n| f64::from(n % 2)).collect();
        let mean = Point::mean("a", 1.0, &samples, 0.5, 0.01);
        assert!((mean.simulated - 0.5).abs() < 1e-15 && (mean.bound().unwrap() - 0.165).abs() < 1e-3);
    }

    #[test]
    fn tables_have_a_row_a_series_and_files_a_line_a_point() {
        let points = [
            Point::new("a", 100.0, 0.1, 0.1, 50),
            Point::new("a", 1000.0, 0.11, 0.1, 50),
            Point::new("b", 0.25, 0.5, 0.4, 50),
        ];
        let text = table(&points);
        assert!(text.contains("| a | 2 | 1000 | 11.000 % | 10.000 % | +10.0 %"), "{text}");
        assert!(!text.contains("| b |"), "nothing is claimed of b: {text}");
        assert_eq!(csv(&points, "n", RRMSE).lines().collect::<Vec<_>>()[3], "\"b\",0.25,0.500000,0.400000,50");
    }
}
