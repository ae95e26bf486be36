//! How every table is made: a list of rows, each with what it is of, and of columns, each with its head and what it shows of a row.

use crate::table::{Cell, Column, Row, Table};

type CellOf<'p, R> = Box<dyn Fn(&R) -> Cell + 'p>;

/// The columns of a table whose rows are of `R`: heads and cells cannot part, because each column is added with both.
pub(crate) struct Pivot<'p, R> {
    columns: Vec<(Column, CellOf<'p, R>)>,
}

impl<'p, R> Pivot<'p, R> {
    pub(crate) fn new() -> Self {
        Self { columns: Vec::new() }
    }

    /// With one more column.
    #[must_use]
    pub(crate) fn column(mut self, head: Column, cell: impl Fn(&R) -> Cell + 'p) -> Self {
        self.columns.push((head, Box::new(cell)));
        self
    }

    /// With a column for each of some things.
    #[must_use]
    pub(crate) fn columns<C: 'p>(
        mut self,
        all: impl IntoIterator<Item = C>,
        head: impl Fn(&C) -> Column,
        cell: impl Fn(&R, &C) -> Cell + Clone + 'p,
    ) -> Self {
        for of in all {
            let (head, cell) = (head(&of), cell.clone());
            self = self.column(head, move |row| cell(row, &of));
        }
        self
    }

    /// A table with these columns and a row for each of some things, by its keys.
    pub(crate) fn fill(self, blank: Table, rows: impl IntoIterator<Item = (Vec<String>, R)>) -> Table {
        let row = |(keys, of): (Vec<String>, R)| Row {
            keys,
            cells: self.columns.iter().map(|(_, cell)| cell(&of)).collect(),
        };
        let rows = rows.into_iter().map(row).collect();
        Table { columns: self.columns.into_iter().map(|(head, _)| head).collect(), rows, ..blank }
    }
}
