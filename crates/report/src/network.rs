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

/// The space between columns and rows, and the radius of a unit.
const COLUMN: f64 = 150.0;
const ROW: f64 = 82.0;
const RADIUS: f64 = 24.0;
const MARGIN: f64 = 70.0;

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

    /// The middle of each unit, and the size of the picture.
    fn layout(&self) -> (Vec<(f64, f64)>, f64, f64) {
        let columns = self.columns();
        let count = columns.iter().copied().max().unwrap_or(0) + 1;
        let members = |column: usize| {
            (0..self.units.len())
                .filter(move |unit| self.is_shown(*unit))
                .filter(|unit| columns[*unit] == column)
                .collect::<Vec<_>>()
        };
        let most = (0..count).map(|column| members(column).len()).max().unwrap_or(1).max(1);
        let height = 2.0 * MARGIN + (most - 1) as f64 * ROW;
        let mut places = vec![(0.0, 0.0); self.units.len()];
        for column in 0..count {
            let units = members(column);
            let top = height / 2.0 - (units.len().max(1) - 1) as f64 * ROW / 2.0;
            // Every other column is a little lower, so that edges between outer columns pass by.
            let shift = if column % 2 == 1 && column + 1 < count { ROW * 0.28 } else { 0.0 };
            for (i, unit) in units.into_iter().enumerate() {
                places[unit] = (MARGIN + 20.0 + column as f64 * COLUMN, top + i as f64 * ROW + shift);
            }
        }
        (places, 2.0 * (MARGIN + 20.0) + (count - 1) as f64 * COLUMN + 20.0, height + ROW * 0.3)
    }

    /// The picture as SVG.
    pub fn svg(&self) -> String {
        let (places, width, height) = self.layout();
        let mut svg = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" role="img" aria-label="a network of {} units" style="font:10px system-ui,sans-serif;background:#fff"><defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#333"/></marker></defs>"##,
            self.units.len()
        );
        for edge in &self.edges {
            svg.push_str(&edge_svg(edge, places[edge.source], places[edge.target]));
        }
        for (id, unit) in self.units.iter().enumerate().filter(|(id, _)| self.is_shown(*id)) {
            let (x, y) = places[id];
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
            let kind = if unit.is_product { "×" } else { "+" };
            let text = |dy: f64, text: &str| {
                format!(
                    r##"<text x="{x:.1}" y="{:.1}" text-anchor="middle" fill="#111">{}</text>"##,
                    y + dy,
                    escaped(text)
                )
            };
            svg.push_str(&text(-1.0, &unit.activation));
            svg.push_str(&text(11.0, kind));
            if let Some(bias) = &unit.bias {
                svg.push_str(&text(-RADIUS - 6.0, &format!("bias {bias}")));
            }
            if let Some(label) = self.label(id) {
                let (x, anchor) =
                    if id < self.inputs { (x - RADIUS - 8.0, "end") } else { (x + RADIUS + 8.0, "start") };
                let _ = write!(
                    svg,
                    r##"<text x="{x:.1}" y="{:.1}" text-anchor="{anchor}" font-weight="600" fill="#111">{}</text>"##,
                    y + 3.5,
                    escaped(&label)
                );
            }
        }
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
    let sign = if weight["sign"].as_f64().is_some_and(|sign| sign < 0.0) { "-" } else { "" };
    let number = |name: &str| weight[name].as_u64().unwrap_or(0);
    match number("den") {
        1 => format!("{sign}{}", number("num")),
        den => format!("{sign}{}/{den}", number("num")),
    }
}

/// An edge with its weight: straight if forward, bent and dashed if recurrent, a loop from a unit to itself.
fn edge_svg(edge: &PictureEdge, from: (f64, f64), to: (f64, f64)) -> String {
    let dashes = if edge.recurrent { r#" stroke-dasharray="5 3""# } else { "" };
    let (path, label) = if edge.source == edge.target {
        let (x, y) = (from.0, from.1 + RADIUS);
        let path = format!(
            "M{:.1} {y:.1}C{:.1} {:.1} {:.1} {:.1} {:.1} {y:.1}",
            x - 9.0,
            x - 34.0,
            y + 38.0,
            x + 34.0,
            y + 38.0,
            x + 9.0
        );
        (path, (x, y + 38.0))
    } else {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = (dx * dx + dy * dy).sqrt().max(1.0);
        let (ux, uy) = (dx / length, dy / length);
        // Recurrent edges are bent more, so that an edge of each kind between the same units can be told apart.
        let bend = if edge.recurrent {
            34.0
        } else if dx.abs() < 1.0 || dx < 0.0 {
            26.0
        } else {
            4.0
        };
        let (start, end) =
            ((from.0 + ux * RADIUS, from.1 + uy * RADIUS), (to.0 - ux * RADIUS, to.1 - uy * RADIUS));
        let middle = (f64::midpoint(start.0, end.0) - uy * bend, f64::midpoint(start.1, end.1) + ux * bend);
        let path = format!(
            "M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}",
            start.0, start.1, middle.0, middle.1, end.0, end.1
        );
        // Not in the middle, where edges cross.
        let part = 0.4;
        let on = |a: f64, b: f64, c: f64| {
            (1.0 - part) * (1.0 - part) * a + 2.0 * part * (1.0 - part) * b + part * part * c
        };
        (path, (on(start.0, middle.0, end.0), on(start.1, middle.1, end.1) - 3.0))
    };
    format!(
        r##"<path d="{path}" fill="none" stroke="#333"{dashes} marker-end="url(#arrow)"/><text x="{:.1}" y="{:.1}" text-anchor="middle" fill="#111" stroke="#fff" stroke-width="3" paint-order="stroke">{}</text>"##,
        label.0,
        label.1,
        escaped(&edge.weight)
    )
}
