//! Figures of small panels, as SVG without scripts, fonts or other files. They follow the reader's light or dark
//! mode, and tell series apart by dashes and shapes as well as by colours that are safe for the colour-blind.

mod axis;
mod panel;

use axis::Axis;
pub(crate) use panel::{Mark, Panel};

use crate::write::escaped_xml;

/// A figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// A name that no other figure of the report has, fit for an address.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub notes: Vec<String>,
    /// The drawing: a whole SVG file, which may also stand inside a page.
    pub svg: String,
}

/// Panels side by side.
const ACROSS: usize = 3;
/// The height of the legend.
const LEGEND: f64 = 26.0;

/// Okabe and Ito's colours, and a lighter blue for dark pages. Shapes come after colours, to overrule them.
const STYLE: &str = ".wug{font:11px system-ui,sans-serif;color-scheme:light dark}.wug text{fill:#222}.wug .head{font-weight:600}\
.wug .axis{stroke:#888;fill:none}.wug .grid{stroke:#888;stroke-opacity:.25}.wug .rule{stroke:#555;stroke-dasharray:5 3}\
.wug .s0{stroke:#0072b2;fill:#0072b2}.wug .s1{stroke:#d55e00;fill:#d55e00;stroke-dasharray:6 2}\
.wug .s2{stroke:#009e73;fill:#009e73;stroke-dasharray:2 2}.wug .s3{stroke:#cc79a7;fill:#cc79a7;stroke-dasharray:6 2 2 2}\
.wug .s4{stroke:#e69f00;fill:#e69f00;stroke-dasharray:8 3}\
@media(prefers-color-scheme:dark){.wug text{fill:#ddd}.wug .rule{stroke:#bbb}.wug .s0{stroke:#56b4e9;fill:#56b4e9}}\
.wug .line{fill:none;stroke-width:1.6;stroke-linejoin:round}.wug .thin{fill:none;stroke-width:1;stroke-opacity:.55}\
.wug .band{stroke:none;fill-opacity:.16}.wug .dot{fill-opacity:.35;stroke-dasharray:none}";
/// How many series have a look of their own; others share.
const LOOKS: usize = 5;

/// The class of a series.
fn look(series: usize) -> String {
    format!("s{}", series % LOOKS)
}

/// The drawing of panels in rows, below a legend of the series.
pub(crate) fn drawing(title: &str, series: &[String], panels: &[Panel]) -> String {
    let across = panels.len().clamp(1, ACROSS);
    let down = panels.len().div_ceil(across);
    let (width, height) = (across as f64 * panel::WIDTH, LEGEND + down as f64 * panel::HEIGHT);
    let mut parts = vec![
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="wug" viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{}">"#,
            escaped_xml(title)
        ),
        format!("<style>{STYLE}</style>"),
        legend(series, panels),
    ];
    for (i, panel) in panels.iter().enumerate() {
        let (x, y) = ((i % across) as f64 * panel::WIDTH, LEGEND + (i / across) as f64 * panel::HEIGHT);
        parts.push(format!(r#"<g transform="translate({x} {y})">{}</g>"#, panel.svg()));
    }
    parts.push("</svg>".to_owned());
    parts.join("\n")
}

/// The series that occur, each with its look.
fn legend(series: &[String], panels: &[Panel]) -> String {
    let occurs = |i: usize| panels.iter().flat_map(|panel| &panel.marks).any(|mark| mark.series() == Some(i));
    let shown = series.iter().enumerate().filter(|(i, _)| occurs(*i));
    let entry = |(at, (i, name)): (usize, (usize, &String))| {
        let x = 12 + 110 * at;
        let points =
            panels.iter().flat_map(|panel| &panel.marks).any(|mark| matches!(mark, Mark::Points { .. }));
        let sample = if points {
            panel::dot(i, x as f64 + 13.0, 13.0)
        } else {
            format!(r#"<path class="line {}" d="M{x} 13h26"/>"#, look(i))
        };
        format!(r#"{sample}<text x="{}" y="17">{}</text>"#, x + 32, escaped_xml(name))
    };
    shown.enumerate().map(entry).collect()
}
