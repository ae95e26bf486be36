//! Figures of small panels, as SVG without scripts, fonts or other files. They follow the reader's light or dark
//! mode, and tell series apart by dashes and shapes as well as by colours that are safe for the colour-blind.

mod axis;
mod panel;

use axis::Axis;
pub(crate) use panel::{AxisLabels, Mark, Panel, SPREAD_NOTE};

use crate::write::escaped_xml;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// A name that no other figure of the report has, fit for an address.
    pub id: String,
    pub title: String,
    /// How to read it.
    pub notes: Vec<String>,
    /// The drawing: a whole SVG file, which may also be part of a page.
    pub svg: String,
}

/// Panels side by side.
const ACROSS: usize = 3;
/// The height of a line of the legend.
const ENTRY: f64 = 20.0;
/// The width of a sample with the blank around it, and of a character.
const SAMPLE: (f64, f64) = (50.0, 6.2);

/// Okabe and Ito's colours and a purple, and others for dark pages where these are too dark. Shapes come after colours, to overrule them.
const STYLE: &str = ".wug{font:11px system-ui,sans-serif;color-scheme:light dark}.wug text{fill:#222}.wug .head{font-weight:600}\
.wug .axis{stroke:#888;fill:none}.wug .grid{stroke:#888;stroke-opacity:.25}.wug .rule{stroke:#555;stroke-dasharray:5 3}\
.wug .cross{stroke:#555;stroke-width:1.6;fill:none}\
.wug .s0{stroke:#0072b2;fill:#0072b2}.wug .s1{stroke:#d55e00;fill:#d55e00}.wug .s2{stroke:#009e73;fill:#009e73}\
.wug .s3{stroke:#cc79a7;fill:#cc79a7}.wug .s4{stroke:#e69f00;fill:#e69f00}.wug .s5{stroke:#56b4e9;fill:#56b4e9}.wug .s6{stroke:#6a3d9a;fill:#6a3d9a}\
.wug .d1{stroke-dasharray:6 2}.wug .d2{stroke-dasharray:2 2}.wug .d3{stroke-dasharray:6 2 2 2}.wug .d4{stroke-dasharray:8 3}\
@media(prefers-color-scheme:dark){.wug text{fill:#ddd}.wug .rule,.wug .cross{stroke:#bbb}.wug .s0{stroke:#56b4e9;fill:#56b4e9}\
.wug .s5{stroke:#f0e442;fill:#f0e442}.wug .s6{stroke:#b39ddb;fill:#b39ddb}}\
.wug .line{fill:none;stroke-width:2;stroke-linejoin:round}.wug .thin{fill:none;stroke-width:.8;stroke-opacity:.4}\
.wug .band{stroke:none;fill-opacity:.16}.wug .dot{fill-opacity:.35;stroke-dasharray:none}";
/// How many colours there are.
const COLOURS: usize = 7;
/// How many kinds of lines there are, and as many shapes of points. With the colours, 35 series have a look of their own.
const SHAPES: usize = 5;

/// The classes of a series: its colour and its kind of line.
fn look(series: usize) -> String {
    // 7 and 5 have no common factor, so that 35 series pass before a pair comes again.
    format!("s{} d{}", series % COLOURS, series % SHAPES)
}

/// The drawing of panels in rows, below a legend of the series.
pub(crate) fn drawing(title: &str, series: &[String], panels: &[Panel]) -> String {
    let across = panels.len().clamp(1, ACROSS);
    let down = panels.len().div_ceil(across);
    let width = across as f64 * panel::WIDTH;
    let (legend, top) = legend(series, panels, width);
    let height = top + down as f64 * panel::HEIGHT;
    let mut parts = vec![
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="wug" viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{}">"#,
            escaped_xml(title)
        ),
        format!("<style>{STYLE}</style>"),
        legend,
    ];
    for (i, panel) in panels.iter().enumerate() {
        let (x, y) = ((i % across) as f64 * panel::WIDTH, top + (i / across) as f64 * panel::HEIGHT);
        parts.push(format!(r#"<g transform="translate({x} {y})">{}</g>"#, panel.svg()));
    }
    parts.push("</svg>".to_owned());
    parts.join("\n")
}

/// The series that occur, each with its look, in lines that fit the width; and how high they are together.
fn legend(series: &[String], panels: &[Panel], width: f64) -> (String, f64) {
    let marks =
        |i: usize| panels.iter().flat_map(|panel| &panel.marks).filter(move |m| m.series() == Some(i));
    // A learner keeps its colour in all figures, even where others have no mark.
    let shown: Vec<usize> = (0..series.len()).filter(|i| marks(*i).next().is_some()).collect();
    let longest = shown.iter().map(|i| series[*i].chars().count()).max().unwrap_or(0);
    let entry_width = SAMPLE.0 + SAMPLE.1 * longest as f64;
    let across = ((width / entry_width) as usize).max(1);
    let entry = |(at, &i): (usize, &usize)| {
        let (x, y) = (12.0 + entry_width * (at % across) as f64, 13.0 + ENTRY * (at / across) as f64);
        let line = marks(i).any(|mark| matches!(mark, Mark::Line { .. }));
        let line = line.then(|| format!(r#"<path class="line {}" d="M{x} {y}h26"/>"#, look(i)));
        let points = marks(i).any(|mark| matches!(mark, Mark::Points { .. }));
        let point = points.then(|| panel::dot(i, x + 13.0, y));
        let sample = [line, point].into_iter().flatten().collect::<String>();
        format!(r#"{sample}<text x="{}" y="{}">{}</text>"#, x + 32.0, y + 4.0, escaped_xml(&series[i]))
    };
    let lines = shown.len().div_ceil(across).max(1);
    (shown.iter().enumerate().map(entry).collect(), 6.0 + ENTRY * lines as f64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_series_of_a_figure_look_the_same() {
        let many = COLOURS * SHAPES;
        assert_eq!((0..many).map(look).collect::<BTreeSet<_>>().len(), many);
        let dots: BTreeSet<String> = (0..many).map(|series| panel::dot(series, 0.0, 0.0)).collect();
        assert_eq!(dots.len(), many);
        for series in 0..COLOURS {
            assert!(STYLE.contains(&format!(".wug .s{series}{{stroke:")), "{series}");
        }
        for kind in 1..SHAPES {
            assert!(STYLE.contains(&format!(".wug .d{kind}{{stroke-dasharray:")), "{kind}");
        }
    }
}
