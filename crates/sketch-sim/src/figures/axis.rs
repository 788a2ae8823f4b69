//! A logarithmic axis and its ticks.

/// From `low` to `high`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) title: String,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Whether values are shares, written in per cent.
    pub(crate) percent: bool,
}

/// A grid line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: Option<Label>,
}

/// A number beside an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Text(String),
    /// A power of ten.
    Power(i32),
}

impl Label {
    pub(super) fn to_svg(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Power(exponent) => format!("10<tspan dy=\"-6\" font-size=\"9.5\">{exponent}</tspan>"),
        }
    }
}

impl Axis {
    /// Where a value lies: 0 at the low end, 1 at the high end.
    pub(super) fn share(&self, value: f64) -> f64 {
        (value / self.low).ln() / (self.high / self.low).ln()
    }

    pub(super) fn holds(&self, value: f64) -> bool {
        // An end may be off by a rounding.
        value >= self.low * (1.0 - 1e-9) && value <= self.high * (1.0 + 1e-9)
    }

    /// Whole numbers times powers of ten; labelled are the powers, on a short axis also 2 and 5 times them.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        let decades = (self.high / self.low).log10();
        let mut ticks = Vec::new();
        for exponent in -12..=18 {
            for digit in 1..=9 {
                let value = f64::from(digit) * 10_f64.powi(exponent);
                let labelled = digit == 1 || (decades < 2.6 && [2, 5].contains(&digit));
                if self.holds(value) && (digit == 1 || decades < 6.0) {
                    ticks.push(Tick { value, label: labelled.then(|| self.label(digit, exponent)) });
                }
            }
        }
        ticks
    }

    fn label(&self, digit: i32, exponent: i32) -> Label {
        let exponent = if self.percent { exponent + 2 } else { exponent };
        if digit == 1 && !self.percent && exponent >= 4 {
            return Label::Power(exponent);
        }
        let decimals = usize::try_from(-exponent).unwrap_or(0);
        let unit = if self.percent { " %" } else { "" };
        Label::Text(format!("{:.decimals$}{unit}", f64::from(digit) * 10_f64.powi(exponent)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, percent: bool) -> Vec<String> {
        let axis = Axis { title: String::new(), low, high, percent };
        axis.ticks().into_iter().filter_map(|tick| tick.label).map(|label| label.to_svg()).collect()
    }

    #[test]
    fn short_axes_have_more_labels_than_long_ones() {
        assert_eq!(labels(0.25, 8.0, false), ["0.5", "1", "2", "5"]);
        assert_eq!(labels(0.005, 0.5, true), ["0.5 %", "1 %", "2 %", "5 %", "10 %", "20 %", "50 %"]);
        assert_eq!(labels(100.0, 1e5, false).len(), 4);
        assert!(labels(100.0, 1e5, false)[3].contains(">5<"));
    }

    #[test]
    fn the_ends_lie_at_zero_and_one() {
        let axis = Axis { title: String::new(), low: 10.0, high: 1e6, percent: false };
        assert!(axis.share(10.0).abs() < 1e-15 && (axis.share(1e6) - 1.0).abs() < 1e-15);
        assert!(axis.holds(10.0) && axis.holds(1e6) && !axis.holds(9.9));
    }
}
