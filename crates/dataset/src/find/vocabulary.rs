//! The output classes of the published learners.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The dictionary that fairseq 0.9 makes of some lines: four special tokens, the symbols by descending count
/// (ties in code point order), and fillers up to a multiple of eight. The fillers are classes of the softmax
/// like any other, so a uniform guess costs ln 8 nats a token where only `b` and the end can be right.
///
/// ```
/// use wug_dataset::find::fairseq_vocabulary;
/// let words = fairseq_vocabulary(["b c", "c a", ""]);
/// assert_eq!(words[..7], ["<s>", "<pad>", "</s>", "<unk>", "c", "a", "b"]);
/// assert_eq!(words[7..], ["madeupword0000"]);
/// ```
pub fn fairseq_vocabulary<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    const SPECIAL: [&str; 4] = ["<s>", "<pad>", "</s>", "<unk>"];
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for token in lines.into_iter().flat_map(str::split_whitespace).filter(|token| !SPECIAL.contains(token)) {
        *counts.entry(token).or_default() += 1;
    }
    let mut symbols: Vec<(&str, usize)> = counts.into_iter().collect();
    // A stable sort of a sorted map: ties stay in code point order.
    symbols.sort_by_key(|&(_, count)| Reverse(count));
    let known = SPECIAL.into_iter().chain(symbols.into_iter().map(|(token, _)| token));
    let mut words: Vec<String> = known.map(str::to_owned).collect();
    let fillers = words.len().next_multiple_of(8) - words.len();
    words.extend((0..fillers).map(|i| format!("madeupword{i:04}")));
    words
}
