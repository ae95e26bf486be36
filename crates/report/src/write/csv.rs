//! Every cell in a row of its own.

use wug_table::csv_line;

use crate::table::{Cell, Table, Value, distinct};

/// The columns of a cell.
const VALUES: [&str; 10] = [
    "column",
    "ours",
    "ours_std",
    "ours_low",
    "ours_high",
    "n",
    "paper",
    "paper_std",
    "paper_n",
    "departures",
];

/// All tables in one: what a row is about, then the column, then ours and the paper's, with all digits.
pub(crate) fn csv(tables: &[Table]) -> String {
    let names = names(tables);
    let mut head = vec!["table".to_owned()];
    head.extend(names.iter().cloned());
    head.extend(VALUES.map(str::to_owned));
    let mut out = csv_line(&head);
    for table in tables {
        for row in &table.rows {
            let key = |name: &String| match table.keys.iter().position(|key| key == name) {
                Some(at) => row.keys[at].clone(),
                None => table.about.get(name).cloned().unwrap_or_default(),
            };
            for (column, cell) in table.columns.iter().zip(&row.cells) {
                let mut fields = vec![table.id.clone()];
                fields.extend(names.iter().map(key));
                fields.push(column.full_name());
                fields.extend(values(cell));
                out.push_str(&csv_line(&fields));
            }
        }
    }
    out
}

/// All that rows are named by, in any table.
fn names(tables: &[Table]) -> Vec<String> {
    const FIRST: [&str; 3] = ["suite", "protocol", "reading"];
    let all = tables.iter().flat_map(|table| table.about.keys().chain(&table.keys));
    let mut names: Vec<String> = distinct(all).into_iter().cloned().collect();
    names.sort_by_key(|name| FIRST.iter().position(|first| first == name).unwrap_or(FIRST.len()));
    names
}

/// In the order of [`VALUES`], after the name of the column; what is absent is empty.
fn values(cell: &Cell) -> [String; 9] {
    let number = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
    let parts = |value: &Option<Value>| match value {
        None => Default::default(),
        Some(Value::Text(text)) => [text.clone(), String::new(), String::new(), String::new()],
        Some(Value::Number { value, std, interval, .. }) => {
            [Some(*value), *std, interval.map(|i| i.low), interval.map(|i| i.high)].map(number)
        }
    };
    let count = |n: Option<usize>| n.map_or_else(String::new, |n| n.to_string());
    let ([ours, ours_std, low, high], [paper, paper_std, ..]) = (parts(&cell.ours), parts(&cell.paper));
    [
        ours,
        ours_std,
        low,
        high,
        count(cell.n),
        paper,
        paper_std,
        count(cell.paper_n),
        cell.departures.join("; "),
    ]
}
