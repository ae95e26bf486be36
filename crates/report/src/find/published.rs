//! The tables of the paper.

use crate::published::PublishedTable;
use crate::table::Value;

pub(super) const PAPER: &str = "Kharitonov and Chaabouni 2021, What They Do When in Doubt (ICLR)";

const TABLE: PublishedTable = PublishedTable { text: include_str!("published/tables.csv") };

/// The printed share of seeds that agree with a rule; in Table 7 and Appendix D, the accuracy.
pub(super) fn agreement(table: &str, value: &str, learner: &str, rule: &str) -> Option<Value> {
    printed(&[table, value, learner, rule], "fpa", "")
}

/// The printed description length, with its star.
pub(super) fn nats(table: &str, value: &str, learner: &str, rule: &str) -> Option<Value> {
    let key = [table, value, learner, rule];
    printed(&key, "nats", TABLE.text(&key, "star").unwrap_or_default())
}

/// What is printed: a number, or words if it has a star or is a bound.
fn printed(key: &[&str], column: &str, star: &str) -> Option<Value> {
    let text = TABLE.text(key, column)?;
    // A star must survive, and a number cannot hold it.
    match TABLE.number(key, column).filter(|_| star.is_empty()) {
        Some(number) => Some(number),
        None => Some(Value::Text(format!("{text}{star}"))),
    }
}

/// Whether the paper has a row.
pub(super) fn has_row(table: &str, value: &str, learner: &str) -> bool {
    // With the comma, so that a value is not the beginning of another.
    let start = format!("{table},{value},{learner},");
    TABLE.text.lines().any(|line| line.starts_with(&start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printed_row_is_here() {
        assert!([TABLE].into_iter().all(PublishedTable::is_rectangular));
        assert_eq!(TABLE.rows().count(), 639);
        let show = |value: Option<Value>| value.map(|value| value.show());
        assert_eq!(show(nats("1a", "40", "lstm", "count")), Some("0.01*".to_owned()));
        assert_eq!(show(nats("1a", "30", "cnn", "count")), Some("> 592.92".to_owned()));
        assert_eq!(show(agreement("1d", "36", "transformer", "mem")), Some("0.82".to_owned()));
        assert_eq!(show(agreement("3a", "10", "cnn", "mem")), None);
        assert_eq!(show(agreement("D", "5", "cnn", "comp")), Some("> 0.98".to_owned()));
        assert!(has_row("5d", "256", "lstm-attention") && !has_row("1a", "5", "lstm"));
    }
}
