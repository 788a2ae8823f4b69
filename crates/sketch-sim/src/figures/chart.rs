//! Line charts on logarithmic axes, as SVG.
//!
//! Text and numbers are written with few digits, so that the same data give the same file on every machine.

use std::fmt::Write;

use super::axis::Axis;

/// Colours that people with any colour vision tell apart, by Okabe and Ito.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9"];
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 78.0;
const TOP: f64 = 48.0;
const RIGHT: f64 = 230.0;
const BOTTOM: f64 = 62.0;

/// One named curve: theory as a line, simulation as dots.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) line: Vec<(f64, f64)>,
    pub(crate) dots: Vec<(f64, f64)>,
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

impl Chart {
    /// The chart as an SVG document.
    pub(crate) fn to_svg(&self) -> String {
        let mut svg = String::new();
        let (width, height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <clipPath id=\"plot\"><rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{width}\" height=\"{height}\"/></clipPath>\n\
             <text x=\"{LEFT}\" y=\"28\" font-size=\"16\" font-weight=\"bold\">{}</text>\n",
            escape(&self.title)
        );
        self.grid(&mut svg);
        let _ = writeln!(
            svg,
            "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"#555\"/>"
        );
        for (series, colour) in self.series.iter().zip(COLOURS.iter().cycle()) {
            self.curve(&mut svg, series, colour);
        }
        self.legend(&mut svg);
        svg.push_str("</svg>\n");
        svg
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let across = LEFT + self.x.share(x) * (WIDTH - LEFT - RIGHT);
        let down = HEIGHT - BOTTOM - self.y.share(y) * (HEIGHT - TOP - BOTTOM);
        (across, down)
    }

    fn grid(&self, svg: &mut String) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for tick in self.x.ticks() {
            let (x, _) = self.at((tick.value, self.y.low));
            let shade = if tick.label.is_some() { "#d0d0d0" } else { "#eeeeee" };
            let _ = writeln!(svg, "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"{shade}\"/>");
            if let Some(label) = tick.label {
                let y = bottom + 20.0;
                let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{}</text>", label.to_svg());
            }
        }
        for tick in self.y.ticks() {
            let (_, y) = self.at((self.x.low, tick.value));
            let shade = if tick.label.is_some() { "#d0d0d0" } else { "#eeeeee" };
            let _ = writeln!(svg, "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"{shade}\"/>");
            if let Some(label) = tick.label {
                let (x, y) = (LEFT - 8.0, y + 4.5);
                let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>", label.to_svg());
            }
        }
        let (middle, below) = (f64::midpoint(LEFT, right), HEIGHT - 16.0);
        let _ = writeln!(
            svg,
            "<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\" font-size=\"14\">{}</text>",
            escape(&self.x.title)
        );
        let centre = f64::midpoint(TOP, bottom);
        let _ = writeln!(
            svg,
            "<text transform=\"translate(20 {centre}) rotate(-90)\" text-anchor=\"middle\" font-size=\"14\">{}</text>",
            escape(&self.y.title)
        );
    }

    fn curve(&self, svg: &mut String, series: &Series, colour: &str) {
        if !series.line.is_empty() {
            let mut path = String::new();
            for (index, &point) in series.line.iter().enumerate() {
                let (x, y) = self.at(point);
                let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
            }
            let _ = writeln!(
                svg,
                "<path clip-path=\"url(#plot)\" d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"/>"
            );
        }
        for &point in series.dots.iter().filter(|&&(x, y)| self.x.holds(x) && self.y.holds(y)) {
            let (x, y) = self.at(point);
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.8\" fill=\"{colour}\" stroke=\"#fff\" stroke-width=\"1\"/>"
            );
        }
    }

    /// Names on the right in the order of the series, and what line and dot mean.
    fn legend(&self, svg: &mut String) {
        let x = WIDTH - RIGHT + 18.0;
        let mut y = TOP + 12.0;
        for (series, colour) in self.series.iter().zip(COLOURS.iter().cycle()) {
            let (end, middle, text) = (x + 26.0, x + 13.0, x + 34.0);
            if !series.line.is_empty() {
                let _ = writeln!(svg, "<path d=\"M{x} {y}H{end}\" stroke=\"{colour}\" stroke-width=\"1.8\"/>");
            }
            if !series.dots.is_empty() {
                let _ = writeln!(svg, "<circle cx=\"{middle}\" cy=\"{y}\" r=\"3.8\" fill=\"{colour}\"/>");
            }
            let _ = writeln!(svg, "<text x=\"{text}\" y=\"{}\">{}</text>", y + 4.5, escape(&series.name));
            y += 22.0;
        }
        for line in ["lines: theory", "dots: simulated"] {
            y += 17.0;
            let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" font-size=\"12\" fill=\"#666\">{line}</text>");
        }
    }
}

/// Text as SVG holds it.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        let x = Axis { title: "items".to_owned(), low: 10.0, high: 1000.0, percent: false };
        let y = Axis { title: "error <σ>".to_owned(), low: 0.01, high: 1.0, percent: true };
        let series = Series {
            name: "a & b".to_owned(),
            line: vec![(10.0, 1.0), (1000.0, 0.01)],
            dots: vec![(100.0, 0.1), (100.0, 7.0)],
        };
        Chart { title: "t".to_owned(), x, y, series: vec![series] }
    }

    #[test]
    fn curves_run_from_corner_to_corner_and_dots_outside_are_left_out() {
        let svg = chart().to_svg();
        assert!(svg.contains("d=\"M78.0 48.0L630.0 418.0\""), "{svg}");
        // One dot in the middle of the plot, one in the legend.
        assert!(svg.contains("cx=\"354.0\" cy=\"233.0\""));
        assert_eq!(svg.matches("<circle").count(), 2);
    }

    #[test]
    fn text_is_escaped() {
        let svg = chart().to_svg();
        assert!(svg.contains("a &amp; b") && svg.contains("error &lt;σ&gt;"));
    }
}
