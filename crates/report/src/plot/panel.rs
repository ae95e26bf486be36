//! One panel of a figure.

use std::collections::BTreeMap;

use wug_score::Aggregate;

use super::{Axis, look};
use crate::write::escaped_xml;

/// The width of a panel with all around it.
pub(super) const WIDTH: f64 = 270.0;
/// The height of a panel with all around it.
pub(super) const HEIGHT: f64 = 190.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 38.0;

pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) marks: Vec<Mark>,
}

/// What the axes of a panel are of.
#[derive(Clone, Copy)]
pub(crate) struct AxisLabels {
    pub(crate) x: &'static str,
    pub(crate) y: &'static str,
}

/// Something drawn in a panel.
pub(crate) enum Mark {
    /// A line through points.
    Line { series: usize, points: Vec<(f64, f64)>, thin: bool },
    /// What lies between a lower and an upper value.
    Band { series: usize, points: Vec<(f64, f64, f64)> },
    /// Points, moved a little to the side where those of several series would hide each other.
    Points { series: usize, points: Vec<(f64, f64)> },
    /// Crosses that belong to no series.
    Crosses(Vec<(f64, f64)>),
    /// A dashed line at a value of `x`.
    Vertical(f64),
    /// A dashed line at a value of `y`.
    Horizontal(f64),
}

/// What lines, bands and thin lines are, where runs are shown.
pub(crate) const SPREAD_NOTE: &str = "Thick: the mean over the runs; shaded: one standard deviation around it; thin: single runs. In the legend, the trainable parameters.";

impl Mark {
    /// The points of the runs of a series: a thin line for each, and over several of them the mean with its spread. A single
    /// run is a thick line.
    pub(crate) fn of_runs(series: usize, runs: Vec<Vec<(f64, f64)>>) -> Vec<Self> {
        let spread = Self::spread(series, &runs);
        // A single run is itself the mean, so it is drawn as one.
        let thin = spread.len() > 1;
        let lines = runs.into_iter().map(|points| Self::Line { series, points, thin });
        lines.chain(spread).collect()
    }

    /// Over several runs, the mean at each `x` and a band of one population standard deviation around it.
    pub(crate) fn spread(series: usize, runs: &[Vec<(f64, f64)>]) -> Vec<Self> {
        if runs.len() < 2 {
            return Vec::new();
        }
        // Numbers that are not negative are in the order of their bits.
        let mut by_x: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for (x, y) in runs.iter().flatten() {
            by_x.entry(x.to_bits()).or_default().push(*y);
        }
        let (mut mean, mut band) = (Vec::new(), Vec::new());
        for (x, ys) in by_x {
            let x = f64::from_bits(x);
            let Some(centre) = Aggregate::Mean.of(&ys) else { continue };
            // Of the population, as in the papers' tables (FLaRe, WADE).
            let spread = Aggregate::PopulationStd.of(&ys).unwrap_or(0.0);
            mean.push((x, centre));
            band.push((x, centre - spread, centre + spread));
        }
        vec![Self::Band { series, points: band }, Self::Line { series, points: mean, thin: false }]
    }

    /// The series it belongs to.
    pub(super) fn series(&self) -> Option<usize> {
        match self {
            Self::Line { series, .. } | Self::Band { series, .. } | Self::Points { series, .. } => {
                Some(*series)
            }
            Self::Crosses(_) | Self::Vertical(_) | Self::Horizontal(_) => None,
        }
    }

    /// The points that axes must reach.
    fn points(&self) -> &[(f64, f64)] {
        match self {
            Self::Line { points, .. } | Self::Points { points, .. } | Self::Crosses(points) => points,
            Self::Band { .. } | Self::Vertical(_) | Self::Horizontal(_) => &[],
        }
    }
}

impl Panel {
    /// With axes from zero that reach as far as the marks, and upwards at least to `top`, and a dashed line across at
    /// `rule`; `None` if no mark has a point.
    pub(crate) fn fitted(
        title: &str,
        labels: AxisLabels,
        top: f64,
        rule: f64,
        mut marks: Vec<Mark>,
    ) -> Option<Self> {
        let points = || marks.iter().flat_map(Mark::points);
        points().next()?;
        let x = Axis::from_zero(labels.x, points().map(|point| point.0));
        let y = Axis::from_zero(labels.y, points().map(|point| point.1).chain([top]));
        marks.push(Mark::Horizontal(rule));
        Some(Self { title: title.to_owned(), x, y, marks })
    }

    /// With logarithmic axes around the marks, upwards from one; `None` if no mark has a point.
    pub(crate) fn logarithmic(title: &str, labels: AxisLabels, marks: Vec<Mark>) -> Option<Self> {
        let points = || marks.iter().flat_map(Mark::points);
        points().next()?;
        let x = Axis::logarithmic(labels.x, points().map(|point| point.0));
        let y = Axis::logarithmic(labels.y, points().map(|point| point.1).chain([1.0]));
        Some(Self { title: title.to_owned(), x, y, marks })
    }

    /// With a logarithmic axis across and one from zero to `top` or more upwards; `None` if no mark has a point.
    pub(crate) fn by_logarithm(title: &str, labels: AxisLabels, top: f64, marks: Vec<Mark>) -> Option<Self> {
        let points = || marks.iter().flat_map(Mark::points);
        points().next()?;
        let x = Axis::logarithmic(labels.x, points().map(|point| point.0));
        let y = Axis::from_zero(labels.y, points().map(|point| point.1).chain([top]));
        Some(Self { title: title.to_owned(), x, y, marks })
    }

    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let across = LEFT + self.x.position(x) * (WIDTH - LEFT - RIGHT);
        (across, HEIGHT - BOTTOM - self.y.position(y) * (HEIGHT - TOP - BOTTOM))
    }

    /// The drawing, from (0, 0).
    pub(super) fn svg(&self) -> String {
        let marks = self.marks.iter().map(|mark| self.mark(mark));
        self.frame() + &marks.collect::<String>()
    }

    fn frame(&self) -> String {
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        let middle = f64::midpoint(LEFT, right);
        let across = self.x.ticks().into_iter().map(|(value, text)| {
            let (x, _) = self.at(value, 0.0);
            format!(r#"<text x="{x:.1}" y="{:.1}" text-anchor="middle">{text}</text>"#, bottom + 14.0)
        });
        let up = self.y.ticks().into_iter().map(|(value, text)| {
            let (_, y) = self.at(0.0, value);
            let (x, base) = (LEFT - 5.0, y + 4.0);
            format!(
                r#"<path class="grid" d="M{LEFT} {y:.1}H{right}"/><text x="{x}" y="{base:.1}" text-anchor="end">{text}</text>"#
            )
        });
        let words = format!(
            r#"<text class="head" x="{LEFT}" y="{}">{}</text><text x="{middle}" y="{}" text-anchor="middle">{}</text><text transform="translate(11 {}) rotate(-90)" text-anchor="middle">{}</text>"#,
            TOP - 7.0,
            escaped_xml(&self.title),
            HEIGHT - 6.0,
            escaped_xml(self.x.label),
            f64::midpoint(TOP, bottom),
            escaped_xml(self.y.label),
        );
        let lines = format!(r#"<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>"#);
        [words].into_iter().chain(across).chain(up).chain([lines]).collect()
    }

    fn mark(&self, mark: &Mark) -> String {
        match mark {
            Mark::Line { series, points, thin } => {
                let class = if *thin { "thin" } else { "line" };
                format!(
                    r#"<path class="{class} {}" d="{}"/>"#,
                    look(*series),
                    self.path(points.iter().copied())
                )
            }
            Mark::Band { series, points } => {
                let upper = points.iter().map(|(x, _, hi)| (*x, *hi));
                let lower = points.iter().rev().map(|(x, lo, _)| (*x, *lo));
                format!(r#"<path class="{} band" d="{}Z"/>"#, look(*series), self.path(upper.chain(lower)))
            }
            Mark::Points { series, points } => {
                let aside = self.aside(*series);
                let moved = |(x, y): &(f64, f64)| {
                    let (x, y) = self.at(*x, *y);
                    dot(*series, x + aside, y)
                };
                points.iter().map(moved).collect()
            }
            Mark::Crosses(points) => {
                let cross = |(x, y): &(f64, f64)| {
                    let (x, y) = self.at(*x, *y);
                    format!(r#"<path class="cross" d="M{x:.1} {y:.1}m-4-4l8 8m0-8l-8 8"/>"#)
                };
                points.iter().map(cross).collect()
            }
            Mark::Vertical(x) => {
                format!(r#"<path class="rule" d="M{:.1} {TOP}V{}"/>"#, self.at(*x, 0.0).0, HEIGHT - BOTTOM)
            }
            Mark::Horizontal(y) => {
                format!(r#"<path class="rule" d="M{LEFT} {:.1}H{}"/>"#, self.at(0.0, *y).1, WIDTH - RIGHT)
            }
        }
    }

    /// How far the points of a series are moved: together, those of all series are centred on their position.
    fn aside(&self, series: usize) -> f64 {
        let points = self.marks.iter().filter(|mark| matches!(mark, Mark::Points { .. }));
        let all: Vec<Option<usize>> = points.map(Mark::series).collect();
        let at = all.iter().position(|one| *one == Some(series)).unwrap_or(0);
        4.0 * (at as f64 - (all.len() as f64 - 1.0) / 2.0)
    }

    fn path(&self, points: impl Iterator<Item = (f64, f64)>) -> String {
        let step = |(i, (x, y)): (usize, (f64, f64))| {
            let (x, y) = self.at(x, y);
            // A tenth of a pixel is invisible, and keeps figures equal on machines whose logarithms differ in a bit.
            format!("{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' })
        };
        points.enumerate().map(step).collect()
    }
}

/// A point of a series: a circle, a square, a triangle, a diamond or a bar.
pub(super) fn dot(series: usize, x: f64, y: f64) -> String {
    let shape = match series % super::SHAPES {
        0 => "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
        1 => "m-2.6-2.6h5.2v5.2h-5.2z",
        2 => "m0-3.4l3.4 6h-6.8z",
        3 => "m0-3.6l3.6 3.6l-3.6 3.6l-3.6-3.6z",
        _ => "m-3.4-1.2h6.8v2.4h-6.8z",
    };
    format!(r#"<path class="{} dot" d="M{x:.1} {y:.1}{shape}"/>"#, look(series))
}
