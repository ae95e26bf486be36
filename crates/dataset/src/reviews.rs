//! Texts with a label, positive or negative: reviews, as files that a user has. Nothing is downloaded.

use crate::DataError;

/// A text with its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    pub text: String,
    /// Whether it is positive.
    pub positive: bool,
}

/// A split of reviews; a table need not say which review is for what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reviews {
    pub train: Vec<Review>,
    pub test: Vec<Review>,
    /// Those of which nothing is said.
    pub unsplit: Vec<Review>,
}

/// Reads a table of comma-separated values with a head: a column `text` (or `review`), a column `label` (or `sentiment`) with `1`, `1.0`,
/// `pos` or `positive`, `0`, `0.0`, `neg` or `negative`, and if there is one, a column `split` with `train` or `test`. A byte-order mark
/// and blank lines are passed over; lines end as on any system.
///
/// ```
/// use wug_dataset::reviews::read_csv;
/// let reviews = read_csv("r.csv", "text,label\n\"Good, \"\"really\"\" good.\",pos\nBad.,0\n").unwrap();
/// assert_eq!(reviews.unsplit[0].text, "Good, \"really\" good.");
/// assert!(!reviews.unsplit[1].positive);
/// let error = read_csv("r.csv", "text,label\nFine.,maybe\n").unwrap_err().to_string();
/// assert!(error.contains("line 2") && error.contains("maybe"), "{error}");
/// ```
pub fn read_csv(file: &str, text: &str) -> Result<Reviews, DataError> {
    let problem = |line: usize, message: String| DataError::Line { file: file.to_owned(), line, message };
    let mut rows = rows(text.trim_start_matches('\u{feff}'))
        .map_err(|line| problem(line, "a quoted field has no end".to_owned()))?
        .into_iter();
    let (_, head) = rows.next().ok_or_else(|| problem(1, "there is no head".to_owned()))?;
    let at =
        |names: &[&str]| head.iter().position(|name| names.contains(&name.trim().to_lowercase().as_str()));
    let missing =
        |what: &str| problem(1, format!("there is no column {what}; there are: {}", head.join(", ")));
    let text_at = at(&["text", "review"]).ok_or_else(|| missing("`text` or `review`"))?;
    let label_at = at(&["label", "sentiment"]).ok_or_else(|| missing("`label` or `sentiment`"))?;
    let split_at = at(&["split"]);
    let mut reviews = Reviews::default();
    for (line, row) in rows {
        if row.len() != head.len() {
            return Err(problem(line, format!("{} fields, but the head has {}", row.len(), head.len())));
        }
        let positive = match row[label_at].trim().to_lowercase().as_str() {
            "1" | "1.0" | "pos" | "positive" => true,
            "0" | "0.0" | "neg" | "negative" => false,
            other => {
                let allowed = "1, pos, positive, 0, neg or negative";
                return Err(problem(line, format!("the label is `{other}`; it must be {allowed}")));
            }
        };
        let review = Review { text: row[text_at].clone(), positive };
        match split_at.map(|at| row[at].trim().to_lowercase()).as_deref() {
            None => reviews.unsplit.push(review),
            Some("train" | "training") => reviews.train.push(review),
            Some("test") => reviews.test.push(review),
            Some(other) => {
                return Err(problem(line, format!("the split is `{other}`; it must be train or test")));
            }
        }
    }
    Ok(reviews)
}

/// The rows of a table, each with the line it begins on. An error is the line on which a quoted field begins that has no end.
fn rows(text: &str) -> Result<Vec<(usize, Vec<String>)>, usize> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut line, mut began) = (1, 1);
    let mut chars = text.chars().peekable();
    let mut any = false;
    while let Some(c) = chars.next() {
        any = true;
        match c {
            // A quotation mark inside a field that began without one is part of its text.
            '"' if field.is_empty() => {
                let start = line;
                loop {
                    match chars.next() {
                        None => return Err(start),
                        Some('"') if chars.next_if_eq(&'"').is_some() => field.push('"'),
                        Some('"') => break,
                        Some(c) => {
                            line += usize::from(c == '\n');
                            field.push(c);
                        }
                    }
                }
            }
            ',' => row.push(std::mem::take(&mut field)),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' | '\r' => {
                row.push(std::mem::take(&mut field));
                let row = std::mem::take(&mut row);
                // A line without anything is no row.
                if row.len() > 1 || !row[0].trim().is_empty() {
                    rows.push((began, row));
                }
                line += 1;
                began = line;
                any = false;
            }
            c => field.push(c),
        }
    }
    // A last line needs no line break, and a break after it begins no row.
    if any && (!row.is_empty() || !field.trim().is_empty()) {
        row.push(field);
        rows.push((began, row));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_lines_and_splits_are_read() {
        let text = "split,review,sentiment\r\ntrain,\"two\nlines\",positive\r\ntest,plain,negative";
        let reviews = read_csv("x", text).unwrap();
        assert_eq!((reviews.train.len(), reviews.test.len(), reviews.unsplit.len()), (1, 1, 0));
        assert_eq!(reviews.train[0].text, "two\nlines");
    }

    /// As spreadsheets and data frames write them.
    #[test]
    fn marks_blank_lines_other_line_ends_and_numbers_are_read() {
        for text in [
            "\u{feff}text,label\nfine,1.0\npoor,0.0\n\n",
            "text,label\r\nfine,1\r\n\r\npoor,0\r\n \r\n",
            "text,label\rfine,pos\rpoor,neg\r",
        ] {
            let reviews = read_csv("x", text).unwrap();
            let read: Vec<(&str, bool)> =
                reviews.unsplit.iter().map(|r| (r.text.as_str(), r.positive)).collect();
            assert_eq!(read, [("fine", true), ("poor", false)], "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let error = |text: &str| read_csv("x", text).unwrap_err().to_string();
        assert!(error("").contains("no head"));
        assert!(error("a,b\n").contains("`text` or `review`"));
        assert!(error("text,label\nx\n").contains("line 2: 1 fields"));
        assert!(error("text,label\n\"x,1\n").contains("line 2: a quoted field"));
        assert!(error("text,label,split\nx,1,valid\n").contains("valid"));
    }
}
