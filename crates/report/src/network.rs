//! Small networks as pictures, in the manner of Figure 4 of Lan, Chemla and Katzir 2023: inputs on the left, outputs on the
//! right, recurrent edges dashed, every edge with its weight.

use std::fmt::Write as _;

use serde_json::Value;

use crate::write::escaped_xml as escaped;

/// The most units of a picture.
const MAX_UNITS: usize = 1024;

/// A network that can be drawn.
#[derive(Clone, Debug)]
pub struct NetworkPicture {
    inputs: usize,
    outputs: usize,
    units: Vec<PictureUnit>,
    edges: Vec<PictureEdge>,
    /// What inputs and outputs stand for.
    symbols: Vec<String>,
}

#[derive(Clone, Debug)]
struct PictureUnit {
    activation: String,
    is_product: bool,
    bias: Option<String>,
}

#[derive(Clone, Debug)]
struct PictureEdge {
    recurrent: bool,
    source: usize,
    target: usize,
    weight: String,
}

/// The space between columns and rows, the radius of a unit, and the margin.
const COLUMN: f64 = 150.0;
const ROW: f64 = 96.0;
const RADIUS: f64 = 24.0;
const MARGIN: f64 = 12.0;

impl NetworkPicture {
    /// The picture of a network as its file has it: the network itself, or an object that has it as `net`. `None` if it is none.
    pub fn of(file: &Value, symbols: &[String]) -> Option<Self> {
        let net = file.get("net").unwrap_or(file);
        let list = |name: &str| net.get(name)?.as_array();
        let units = list("units")?;
        if units.is_empty() || units.len() > MAX_UNITS {
            return None;
        }
        let (inputs, outputs) = (list("inputs")?.len(), list("outputs")?.len());
        let unit = |unit: &Value| PictureUnit {
            activation: unit["activation"].as_str().unwrap_or("?").to_owned(),
            is_product: unit["type"] == "product",
            bias: unit.get("bias").filter(|bias| bias.is_object()).map(fraction),
        };
        let units: Vec<PictureUnit> = units.iter().map(unit).collect();
        if inputs + outputs > units.len() {
            return None;
        }
        let mut edges = Vec::new();
        for (name, recurrent) in [("forward", false), ("recurrent", true)] {
            for edge in list(name).into_iter().flatten() {
                let end = |name: &str| {
                    usize::try_from(edge.get(name)?.as_u64()?).ok().filter(|id| *id < units.len())
                };
                edges.push(PictureEdge {
                    recurrent,
                    source: end("src")?,
                    target: end("dst")?,
                    weight: fraction(edge),
                });
            }
        }
        Some(Self { inputs, outputs, units, edges, symbols: symbols.to_vec() })
    }

    fn symbol(&self, i: usize) -> String {
        self.symbols.get(i).cloned().unwrap_or_else(|| i.to_string())
    }

    /// What is written beside an input or output.
    fn label(&self, unit: usize) -> Option<String> {
        let output = unit.checked_sub(self.inputs).filter(|i| *i < self.outputs);
        match output {
            Some(i) => Some(format!("P({})", self.symbol(i))),
            None => (unit < self.inputs).then(|| self.symbol(unit)),
        }
    }

    /// Inputs without edges are left out.
    fn is_shown(&self, unit: usize) -> bool {
        unit >= self.inputs || self.edges.iter().any(|edge| edge.source == unit || edge.target == unit)
    }

    fn colour(&self, unit: usize) -> &'static str {
        if unit < self.inputs {
            return "#fbd35a";
        }
        if unit < self.inputs + self.outputs {
            return "#4ca0e8";
        }
        match self.units[unit].activation.as_str() {
            "linear" => "#f2e7f7",
            "sigmoid" => "#ffeba9",
            "square" => "#a9ddff",
            "tanh" => "#cdaa7d",
            "relu" => "#b394d8",
            "floor" => "#e07bb0",
            _ => "#cecece",
        }
    }

    /// The column of each unit: inputs first, hidden units after what feeds them, outputs last.
    fn columns(&self) -> Vec<usize> {
        let ends = self.inputs + self.outputs;
        let mut columns: Vec<usize> =
            (0..self.units.len()).map(|unit| usize::from(unit >= self.inputs)).collect();
        // As often as there are hidden units: a cycle would go on for ever.
        for _ in 0..self.units.len().saturating_sub(ends).min(12) {
            for edge in self.edges.iter().filter(|edge| !edge.recurrent && edge.target >= ends) {
                let after = columns[edge.source] + 1;
                if edge.source != edge.target && (edge.source < self.inputs || edge.source >= ends) {
                    columns[edge.target] = columns[edge.target].max(after.min(12));
                }
            }
        }
        let last = columns[ends..].iter().copied().max().unwrap_or(0) + 1;
        columns[self.inputs..ends].fill(last);
        columns
    }

    /// The middle of each unit.
    fn layout(&self, columns: &[usize]) -> Vec<Point> {
        let count = columns.iter().copied().max().unwrap_or(0) + 1;
        let members = |column: usize| {
            (0..self.units.len())
                .filter(move |unit| self.is_shown(*unit))
                .filter(|unit| columns[*unit] == column)
                .collect::<Vec<_>>()
        };
        let mut places = vec![(0.0, 0.0); self.units.len()];
        for column in 0..count {
            let units = members(column);
            let top = -((units.len().max(1) - 1) as f64) * ROW / 2.0;
            // Every other column is a little lower, so that edges between outer columns pass by.
            let shift = if column % 2 == 1 && column + 1 < count { ROW * 0.28 } else { 0.0 };
            for (i, unit) in units.into_iter().enumerate() {
                places[unit] = (column as f64 * COLUMN, top + i as f64 * ROW + shift);
            }
        }
        places
    }

    fn drawing(&self) -> Drawing {
        let columns = self.columns();
        let places = self.layout(&columns);
        let shown = (0..self.units.len()).filter(|unit| self.is_shown(*unit));
        let circles: Vec<(usize, Point)> = shown.map(|unit| (unit, places[unit])).collect();
        let mut labels = Vec::new();
        for &(id, (x, y)) in &circles {
            if let Some(text) = self.label(id) {
                let (x, anchor) = if id < self.inputs {
                    (x - RADIUS - 8.0, Anchor::End)
                } else {
                    (x + RADIUS + 8.0, Anchor::Start)
                };
                labels.push(Label { text, at: (x, y + 3.5), anchor, bold: true });
            }
            if let Some(bias) = &self.units[id].bias {
                labels.push(Label::middle(format!("bias {bias}"), (x, y - RADIUS - 5.0)));
            }
        }
        let last = columns.iter().copied().max().unwrap_or(0);
        let curves: Vec<Curve> = self
            .edges
            .iter()
            .map(|edge| {
                let (from, to) = (places[edge.source], places[edge.target]);
                if edge.source == edge.target {
                    Curve::around(from)
                } else if columns[edge.source] == columns[edge.target] {
                    // Outward, where there is nothing but the names of symbols.
                    let side = if columns[edge.source] == 0 && last > 0 { -1.0 } else { 1.0 };
                    Curve::beside(from, to, side, edge.recurrent)
                } else {
                    Curve::between(from, to, edge, &circles)
                }
            })
            .collect();
        for (edge, curve) in self.edges.iter().zip(&curves) {
            let label = curve.label(&edge.weight, &circles, &labels);
            labels.push(label);
        }
        Drawing { circles, curves, labels }
    }

    /// The picture as SVG: edges, then units, then what is written, so that nothing that is written is behind anything.
    pub fn svg(&self) -> String {
        let drawing = self.drawing();
        let (left, top, right, bottom) = drawing.extent();
        let (width, height) = (right - left, bottom - top);
        let mut svg = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:.0} {top:.0} {width:.0} {height:.0}" width="{width:.0}" role="img" aria-label="a network of {} units" style="font:10px system-ui,sans-serif;background:#fff"><defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#333"/></marker></defs>"##,
            self.units.len()
        );
        for (edge, curve) in self.edges.iter().zip(&drawing.curves) {
            let dashes = if edge.recurrent { r#" stroke-dasharray="5 3""# } else { "" };
            let _ = write!(
                svg,
                r##"<path d="{}" fill="none" stroke="#333"{dashes} marker-end="url(#arrow)"/>"##,
                curve.path()
            );
        }
        for &(id, (x, y)) in &drawing.circles {
            let _ = write!(
                svg,
                r##"<circle cx="{x:.1}" cy="{y:.1}" r="{RADIUS}" fill="{}" stroke="#333"/>"##,
                self.colour(id)
            );
            if id < self.inputs + self.outputs {
                let inner = RADIUS - 3.0;
                let _ = write!(
                    svg,
                    r##"<circle cx="{x:.1}" cy="{y:.1}" r="{inner}" fill="none" stroke="#333"/>"##
                );
            }
        }
        for &(id, (x, y)) in &drawing.circles {
            let unit = &self.units[id];
            let kind = if unit.is_product { "×" } else { "+" };
            for (dy, text) in [(-1.0, unit.activation.as_str()), (11.0, kind)] {
                let _ = write!(
                    svg,
                    r##"<text x="{x:.1}" y="{:.1}" text-anchor="middle" fill="#111">{}</text>"##,
                    y + dy,
                    escaped(text)
                );
            }
        }
        drawing.labels.iter().for_each(|label| svg.push_str(&label.svg()));
        svg.push_str("</svg>\n");
        svg
    }

    /// The picture as a Graphviz file.
    pub fn dot(&self) -> String {
        let quoted = |text: &str| {
            let safe = text.replace('\\', "\\\\").replace('"', "\\\"");
            format!("\"{}\"", safe.chars().filter(|c| !c.is_control()).collect::<String>())
        };
        let mut dot = String::from(
            "digraph network {\n  rankdir=LR;\n  node [fontsize=9, style=filled, color=\"#333333\"];\n  edge [fontsize=9, arrowsize=0.5];\n",
        );
        for (id, unit) in self.units.iter().enumerate().filter(|(id, _)| self.is_shown(*id)) {
            let shape = if id < self.inputs + self.outputs { "doublecircle" } else { "circle" };
            let kind = if unit.is_product { "×" } else { "+" };
            let label = quoted(&format!("{} {kind}", unit.activation));
            let _ =
                writeln!(dot, "  {id} [label={label}, shape={shape}, fillcolor=\"{}\"];", self.colour(id));
            if let Some(label) = self.label(id) {
                let arrow =
                    if id < self.inputs { format!("end_{id} -> {id}") } else { format!("{id} -> end_{id}") };
                let _ = writeln!(
                    dot,
                    "  end_{id} [shape=plaintext, style=\"\", label={}];\n  {arrow};",
                    quoted(&label)
                );
            }
            if let Some(bias) = &unit.bias {
                let _ = writeln!(
                    dot,
                    "  bias_{id} [style=invis, label=\"\"];\n  bias_{id} -> {id} [label={}];",
                    quoted(bias)
                );
            }
        }
        for ends in [0..self.inputs, self.inputs..self.inputs + self.outputs] {
            let names: Vec<String> = ends.filter(|id| self.is_shown(*id)).map(|id| id.to_string()).collect();
            let _ = writeln!(dot, "  {{ rank=same; {} }}", names.join("; "));
        }
        for edge in &self.edges {
            let style = if edge.recurrent { ", style=dashed" } else { "" };
            let _ = writeln!(
                dot,
                "  {} -> {} [label={}{style}];",
                edge.source,
                edge.target,
                quoted(&edge.weight)
            );
        }
        dot.push_str("}\n");
        dot
    }
}

/// A weight as it is written: 3, -1/2.
fn fraction(weight: &Value) -> String {
    // Not reduced: 2/4 costs more bits than 1/2, and the picture shows what was paid for.
    let sign = if weight["sign"].as_f64().is_some_and(|sign| sign < 0.0) { "-" } else { "" };
    let number = |name: &str| weight[name].as_u64().unwrap_or(0);
    match number("den") {
        1 => format!("{sign}{}", number("num")),
        den => format!("{sign}{}/{den}", number("num")),
    }
}

type Point = (f64, f64);

struct Drawing {
    /// The units that are shown, with their middles.
    circles: Vec<(usize, Point)>,
    /// One for each edge.
    curves: Vec<Curve>,
    labels: Vec<Label>,
}

impl Drawing {
    /// Left, top, right and bottom, with a margin.
    fn extent(&self) -> (f64, f64, f64, f64) {
        let circles =
            self.circles.iter().map(|&(_, (x, y))| (x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS));
        let curves = self.curves.iter().flat_map(Curve::points).map(|(x, y)| (x, y, x, y));
        let all = circles.chain(curves).chain(self.labels.iter().map(Label::extent));
        let (left, top, right, bottom) = all
            .reduce(|a, b| (a.0.min(b.0), a.1.min(b.1), a.2.max(b.2), a.3.max(b.3)))
            .unwrap_or((0.0, 0.0, 0.0, 0.0));
        (left - MARGIN, top - MARGIN, right + MARGIN, bottom + MARGIN)
    }
}

#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

/// Something written beside a unit or on an edge.
struct Label {
    text: String,
    at: Point,
    anchor: Anchor,
    bold: bool,
}

impl Label {
    fn middle(text: String, at: Point) -> Self {
        Self { text, at, anchor: Anchor::Middle, bold: false }
    }

    /// About where the text is: left, top, right and bottom.
    fn extent(&self) -> (f64, f64, f64, f64) {
        // Fonts are the reader's, so widths are estimated, generously.
        let width = 6.0 * self.text.chars().count() as f64;
        let left = match self.anchor {
            Anchor::Start => self.at.0,
            Anchor::Middle => self.at.0 - width / 2.0,
            Anchor::End => self.at.0 - width,
        };
        (left, self.at.1 - 9.0, left + width, self.at.1 + 2.0)
    }

    fn is_on(&self, other: &Self) -> bool {
        let (a, b) = (self.extent(), other.extent());
        a.0 < b.2 + 2.0 && b.0 < a.2 + 2.0 && a.1 < b.3 && b.1 < a.3
    }

    fn is_on_circle(&self, (x, y): Point) -> bool {
        let (left, top, right, bottom) = self.extent();
        let (dx, dy) = (x - x.clamp(left, right), y - y.clamp(top, bottom));
        dx.hypot(dy) < RADIUS
    }

    /// With a halo, so that it can be read where it is on a line.
    fn svg(&self) -> String {
        let anchor = match self.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if self.bold { r#" font-weight="600""# } else { "" };
        format!(
            r##"<text x="{:.1}" y="{:.1}" text-anchor="{anchor}"{weight} fill="#111" stroke="#fff" stroke-width="3" paint-order="stroke">{}</text>"##,
            self.at.0,
            self.at.1,
            escaped(&self.text)
        )
    }
}

/// The line of an edge: a cubic curve.
struct Curve([Point; 4]);

impl Curve {
    /// From a unit to itself, below it.
    fn around((x, y): Point) -> Self {
        let y = y + RADIUS * 0.9;
        Self([(x - 9.0, y), (x - 32.0, y + 30.0), (x + 32.0, y + 30.0), (x + 9.0, y)])
    }

    /// Between units of a column, on one side: past the units between them and the names of symbols.
    fn beside(from: Point, to: Point, side: f64, recurrent: bool) -> Self {
        let down = (to.1 - from.1).signum();
        let rows = ((to.1 - from.1).abs() / ROW).round();
        let mut far = if rows < 2.0 { 30.0 } else { 62.0 + 14.0 * rows };
        // Edges of each kind and direction between the same units can be told apart.
        far += if recurrent { 18.0 } else { 0.0 };
        far += if down < 0.0 { 9.0 } else { 0.0 };
        // Short edges meet a unit nearer to the next one than long ones do, and edges end elsewhere than others begin.
        let steep: f64 = if rows < 2.0 { 53.0 } else { 28.0 };
        let on_circle = |middle: Point, down: f64, degrees: f64| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            (middle.0 + side * RADIUS * cos, middle.1 + down * RADIUS * sin)
        };
        let (start, end) = (on_circle(from, down, steep + 15.0), on_circle(to, -down, steep));
        let across = RADIUS * 0.6;
        // A cubic curve goes three quarters of the way to its control points.
        let x = from.0 + side * (across + (far - across) / 0.75);
        Self([start, (x, start.1 + down * 8.0), (x, end.1 - down * 8.0), end])
    }

    /// Between units of different columns: nearly straight, or as bent as is needed to pass by other units. Recurrent edges are bent
    /// more, so that an edge of each kind between the same units can be told apart.
    fn between(from: Point, to: Point, edge: &PictureEdge, circles: &[(usize, Point)]) -> Self {
        let first = if edge.recurrent {
            34.0
        } else if to.0 < from.0 {
            26.0
        } else {
            4.0
        };
        let others: Vec<Point> = circles
            .iter()
            .filter(|(unit, _)| *unit != edge.source && *unit != edge.target)
            .map(|&(_, place)| place)
            .collect();
        // Alternately to either side, a little further each time: the first free curve is the straightest.
        let bends =
            (0..12).map(|i| first + 22.0 * f64::from((i + 1) / 2) * if i % 2 == 0 { 1.0 } else { -1.0 });
        let mut curves = bends.map(|bend| Self::bent(from, to, bend));
        let free = curves.find(|curve| others.iter().all(|other| !curve.meets(*other)));
        free.unwrap_or_else(|| Self::bent(from, to, first))
    }

    fn bent(from: Point, to: Point, bend: f64) -> Self {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy).max(1.0);
        let turn = (
            f64::midpoint(from.0, to.0) - dy / length * bend * 2.0,
            f64::midpoint(from.1, to.1) + dx / length * bend * 2.0,
        );
        let on_circle = |middle: Point| {
            let (dx, dy) = (turn.0 - middle.0, turn.1 - middle.1);
            let length = dx.hypot(dy).max(1.0);
            (middle.0 + dx / length * RADIUS, middle.1 + dy / length * RADIUS)
        };
        let (start, end) = (on_circle(from), on_circle(to));
        // A quadratic curve written as a cubic one: its control points lie two thirds of the way.
        let toward = |a: Point| (a.0 + (turn.0 - a.0) * 2.0 / 3.0, a.1 + (turn.1 - a.1) * 2.0 / 3.0);
        Self([start, toward(start), toward(end), end])
    }

    fn at(&self, t: f64) -> Point {
        let u = 1.0 - t;
        let weights = [u * u * u, 3.0 * u * u * t, 3.0 * u * t * t, t * t * t];
        let sum = |part: fn(&Point) -> f64| weights.iter().zip(&self.0).map(|(w, p)| w * part(p)).sum();
        (sum(|p| p.0), sum(|p| p.1))
    }

    fn points(&self) -> impl Iterator<Item = Point> + '_ {
        // 24 pieces are shorter than a unit's radius, so that no unit slips between points.
        (0..=24).map(|i| self.at(f64::from(i) / 24.0))
    }

    /// Whether it runs behind a unit.
    fn meets(&self, (x, y): Point) -> bool {
        self.points().any(|point| (point.0 - x).hypot(point.1 - y) < RADIUS + 3.0)
    }

    fn path(&self) -> String {
        let [a, b, c, d] = self.0;
        // A tenth of a pixel is invisible, and hides the last bits in which machines' sines differ.
        format!("M{:.1} {:.1}C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}", a.0, a.1, b.0, b.1, c.0, c.1, d.0, d.1)
    }

    /// The weight, on the line where nothing else is.
    fn label(&self, weight: &str, circles: &[(usize, Point)], labels: &[Label]) -> Label {
        // Not first in the middle, where edges cross.
        let parts = [0.4, 0.5, 0.6, 0.3, 0.7, 0.2, 0.8, 0.45, 0.55, 0.35, 0.65, 0.25, 0.75];
        let on = |part: f64| {
            let (x, y) = self.at(part);
            Label::middle(weight.to_owned(), (x, y + 3.0))
        };
        let is_free = |label: &Label| {
            !circles.iter().any(|&(_, place)| label.is_on_circle(place))
                && !labels.iter().any(|other| label.is_on(other))
        };
        parts.map(on).into_iter().find(is_free).unwrap_or_else(|| on(0.4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: &str = include_str!("../../../testdata/learner/mdlrnn.json");

    #[test]
    fn nothing_is_behind_a_unit_or_on_another_label() {
        let golden: Value = serde_json::from_str(GOLDEN).unwrap();
        for name in ["published_an_bn", "published_dyck1", "manual_dyck2_p03", "hand_anbn_outputs_chained"] {
            let case = golden["cases"].as_array().unwrap().iter().find(|case| case["name"] == name).unwrap();
            let picture = NetworkPicture::of(case, &[]).unwrap();
            let Drawing { circles, curves, labels } = picture.drawing();
            for (edge, curve) in picture.edges.iter().zip(&curves) {
                let other = |unit: usize| unit != edge.source && unit != edge.target;
                assert!(
                    !circles.iter().any(|(unit, at)| other(*unit) && curve.meets(*at)),
                    "{name}: {edge:?}"
                );
            }
            for (i, label) in labels.iter().enumerate() {
                assert!(!circles.iter().any(|(_, at)| label.is_on_circle(*at)), "{name}: {}", label.text);
                assert!(!labels[..i].iter().any(|other| label.is_on(other)), "{name}: {}", label.text);
            }
            let svg = picture.svg();
            assert!(svg.rfind("<circle") < svg.find("<text"), "{name}");
        }
    }
}
