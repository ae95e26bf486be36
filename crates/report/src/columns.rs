//! Columns that differ between rows, apart from those that are the same in all of them.

use std::collections::BTreeSet;

use wug_score::{Coordinate, Coordinates, Run};

use crate::table::distinct;

/// Which of some columns differ between rows, and what the others are everywhere.
pub(crate) struct VaryingColumns {
    names: Vec<String>,
    varying: Vec<usize>,
    /// Name and value of each constant column that is not empty.
    constant: Vec<(String, String)>,
}

impl VaryingColumns {
    /// Of columns with these names; a row has a value for each of them.
    pub(crate) fn of<'r>(names: &[impl AsRef<str>], rows: impl IntoIterator<Item = &'r [String]>) -> Self {
        let mut values: Vec<BTreeSet<&str>> = vec![BTreeSet::new(); names.len()];
        for row in rows {
            values.iter_mut().zip(row).for_each(|(known, value)| {
                known.insert(value);
            });
        }
        let names: Vec<String> = names.iter().map(|name| name.as_ref().to_owned()).collect();
        let constant = names.iter().zip(&values).filter(|(_, values)| values.len() == 1);
        let constant = constant.flat_map(|(name, values)| values.iter().map(move |value| (name, *value)));
        // An empty value everywhere means that no row has the field: a note would say nothing.
        let constant = constant.filter(|(_, value)| !value.is_empty());
        let constant = constant.map(|(name, value)| (name.clone(), value.to_owned())).collect();
        let varying = (0..names.len()).filter(|&i| values[i].len() > 1).collect();
        Self { names, varying, constant }
    }

    /// The names of the columns that differ.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.varying.iter().map(|&i| self.names[i].clone())
    }

    /// Whether some row has a value in a column.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names().any(|known| known == name) || self.constant.iter().any(|(known, _)| known == name)
    }

    /// The values of a row in the columns that differ; empty where it has none.
    pub(crate) fn values(&self, row: &[String]) -> impl Iterator<Item = String> {
        self.varying.iter().map(|&i| row.get(i).cloned().unwrap_or_default())
    }

    /// What is the same in all rows, with this between a name and its value; empty if nothing is.
    pub(crate) fn constant(&self, between: &str) -> String {
        let parts = self.constant.iter().map(|(name, value)| format!("{name}{between}{value}"));
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// The names of the coordinates that some runs have, in the order in which they first come.
pub(crate) fn coordinate_names<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Vec<&'a str> {
    distinct(runs.into_iter().flat_map(|run| run.coordinates.iter().map(|(name, _)| name)))
}

/// The coordinates of these names, in their order, by which rows are sorted: numbers by value.
pub(crate) fn sort_key(coordinates: &Coordinates, names: &[&str]) -> Vec<Option<Coordinate>> {
    names.iter().map(|name| coordinates.get(name).cloned()).collect()
}

/// The coordinates of a sort key, as they are shown.
pub(crate) fn show_key(key: &[Option<Coordinate>]) -> Vec<String> {
    key.iter().map(|value| value.as_ref().map_or_else(String::new, Coordinate::to_string)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_columns_are_separated_and_empty_ones_are_dropped() {
        let rows = [["1", "R", ""], ["2", "R", ""]].map(|row| row.map(str::to_owned).to_vec());
        let columns = VaryingColumns::of(&["size", "loss", "none"], rows.iter().map(Vec::as_slice));
        assert_eq!(columns.names().collect::<Vec<_>>(), ["size"]);
        assert_eq!(columns.values(&rows[1]).collect::<Vec<_>>(), ["2"]);
        assert_eq!(columns.values(&[]).collect::<Vec<_>>(), [""]);
        assert_eq!(columns.constant(": "), "loss: R");
    }
}
