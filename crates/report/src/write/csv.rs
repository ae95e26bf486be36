//! Every cell in a row of its own.

use wug_table::csv_line;

use crate::table::{Cell, Table, Value, distinct};

/// All tables in one: what a row is about comes first, then the column, then ours and the paper's. Numbers are
/// given in full.
pub(crate) fn csv(tables: &[Table]) -> String {
    let names = names(tables);
    let mut head = vec!["table".to_owned()];
    head.extend(names.iter().cloned());
    head.extend(["column", "ours", "ours_std", "n", "paper", "paper_std"].map(str::to_owned));
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

fn values(cell: &Cell) -> [String; 5] {
    let parts = |value: &Option<Value>| match value {
        None => (String::new(), String::new()),
        Some(Value::Text(text)) => (text.clone(), String::new()),
        Some(Value::Number { value, std, .. }) => {
            (value.to_string(), std.map_or_else(String::new, |std| std.to_string()))
        }
    };
    let ((ours, ours_std), (paper, paper_std)) = (parts(&cell.ours), parts(&cell.paper));
    [ours, ours_std, cell.n.map_or_else(String::new, |n| n.to_string()), paper, paper_std]
}
