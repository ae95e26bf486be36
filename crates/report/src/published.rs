//! Tables as papers printed them, so that their values can be shown beside ours.

use crate::table::{Decimals, Value};

/// A printed table: a head, and rows that begin with their names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PublishedTable {
    /// As CSV without quotes.
    pub(crate) text: &'static str,
}

impl PublishedTable {
    /// The rows, without the head.
    pub(crate) fn rows(self) -> impl Iterator<Item = Vec<&'static str>> {
        self.text.lines().skip(1).map(|line| line.split(',').collect())
    }

    /// Whether all rows are as long as each other.
    #[cfg(test)]
    pub(crate) fn is_rectangular(self) -> bool {
        let columns = self.rows().next().map_or(0, |row| row.len());
        columns > 1 && self.rows().all(|row| row.len() == columns)
    }

    /// What is printed in a cell; `None` if nothing is.
    pub(crate) fn text(self, row: &[&str], column: &str) -> Option<&'static str> {
        let at = self.text.lines().next()?.split(',').position(|name| name == column)?;
        // With the last comma, so that `rnn` does not find a row of `rnn-tanh`.
        let start = row.join(",") + ",";
        let rest = self.text.lines().find_map(|line| line.strip_prefix(&start))?;
        rest.split(',').nth(at.checked_sub(row.len())?).filter(|text| !text.is_empty())
    }

    /// The number that is printed in a cell, to as many decimals.
    pub(crate) fn number(self, row: &[&str], column: &str) -> Option<Value> {
        let text = self.text(row, column)?;
        // As many as in print: more would claim precision that the paper does not give.
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        Some(Value::number(text.parse().ok()?, Decimals(decimals)))
    }

    /// A mean with its standard deviation from the column beside it.
    pub(crate) fn mean(self, row: &[&str], column: &str, std: &str) -> Option<Value> {
        let Value::Number { value, decimals, .. } = self.number(row, column)? else { return None };
        Some(Value::with_std(value, self.text(row, std).and_then(|text| text.parse().ok()), decimals))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_found_by_its_names_and_an_empty_one_is_none() {
        let table = PublishedTable { text: "language,loss,mean,std,max\nx,R,0.717,0.09,\ny,R,1,0.0,0.98\n" };
        assert_eq!(table.rows().count(), 2);
        assert_eq!(table.text(&["x", "R"], "max"), None);
        assert_eq!(table.mean(&["x", "R"], "mean", "std").unwrap().show(), "0.717 ± 0.09");
        assert_eq!(table.number(&["y", "R"], "max").unwrap().show(), "0.98");
        assert_eq!(table.number(&["z", "R"], "max"), None);
    }
}
