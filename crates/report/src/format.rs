//! What a report can be written as.

/// A format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Compact tables for a terminal, at most 100 columns wide.
    Table,
    /// Every table, for a repository or a paper.
    Markdown,
    /// Every cell in a row of its own, for other programs.
    Csv,
    /// Every table with all its notes, for other programs.
    Json,
    /// One page with every table and figure that needs no other file.
    Html,
}

impl Format {
    pub const ALL: [Self; 5] = [Self::Table, Self::Markdown, Self::Csv, Self::Json, Self::Html];

    /// Its name, as it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Markdown => "markdown",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Html => "html",
        }
    }

    /// The format of a name.
    ///
    /// ```
    /// use wug_report::Format;
    /// assert_eq!(Format::named("csv"), Some(Format::Csv));
    /// assert_eq!(Format::named("pdf"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}
