//! A report: all that there is to show of some results, made once for all formats.

use wug_score::RunResult;
use wug_score::plan::Recipe;

use crate::cells::PaperCells;
use crate::plot::Figure;
use crate::run::{AnyRun, ReportedRun};
use crate::suite::{Contents, split};
use crate::summary::{Summary, bad_runs};
use crate::table::Table;
use crate::{Format, ReportError, generic, overview, pairs, repeats, settings, write};

#[derive(Clone, Debug)]
pub struct Report {
    pub summary: Summary,
    /// Every table for which there is a run.
    pub tables: Vec<Table>,
    /// Every figure for which there is a run.
    pub figures: Vec<Figure>,
    /// The most important tables, small enough for a terminal. What an overview shows is not listed in full as well.
    pub headline: Vec<Table>,
}

impl Report {
    /// The report of results, beside the figures of the papers whose recipes are given.
    pub fn new(results: &[RunResult], recipes: &[Recipe]) -> Result<Self, ReportError> {
        if results.is_empty() {
            return Err(ReportError::Empty);
        }
        let cells = PaperCells::of(recipes);
        let all = reported(results, &cells);
        let all: Vec<AnyRun<'_>> = all.iter().map(ReportedRun::any).collect();
        let runs = repeats::distinct(&all, &cells);
        let (claims, unclaimed) = split(&runs);
        let mut parts: Vec<Contents> =
            claims.iter().map(|(suite, own)| suite.contents(&cells, own)).collect();
        parts.extend([
            overview::contents(&unclaimed),
            pairs::contents(&unclaimed),
            generic::contents(&unclaimed),
        ]);
        let mut report = Self {
            summary: Summary::of(&all, &runs),
            tables: Vec::new(),
            figures: Vec::new(),
            headline: Vec::new(),
        };
        for part in parts {
            report.tables.extend(part.tables);
            report.figures.extend(part.figures);
            report.headline.extend(part.headline);
        }
        report.tables.extend(settings::tables(&runs));
        let bad = bad_runs(results);
        report.tables.extend(bad.clone());
        report.headline.extend(bad);
        for table in report.tables.iter_mut().chain(&mut report.headline) {
            table.notes.extend(table.departure_note());
        }
        Ok(report)
    }

    pub fn render(&self, format: Format) -> Result<String, ReportError> {
        Ok(match format {
            Format::Table => write::text(&self.summary, &self.headline),
            Format::Markdown => write::markdown(&self.summary, &self.tables),
            Format::Csv => write::csv(&self.tables),
            Format::Json => write::json(&self.summary, &self.tables)?,
            Format::Html => write::html(&self.summary, &self.tables, &self.figures),
        })
    }
}

/// Each result beside the cell of a paper that it is nearest to.
pub(crate) fn reported<'r>(results: &'r [RunResult], cells: &'r PaperCells<'r>) -> Vec<ReportedRun<'r>> {
    results.iter().map(|result| ReportedRun::new(result, cells.nearest(result))).collect()
}
