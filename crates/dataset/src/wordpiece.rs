//! Word pieces: text becomes the longest pieces that are in a vocabulary, which is learned from text by merging the pair of pieces
//! that is most frequent, again and again.
//!
//! ```
//! use wug_dataset::wordpiece::Pieces;
//! let texts = ["low lower lowest", "new newer newest", "low new"];
//! let pieces = Pieces::train(texts.iter().copied(), 40);
//! let shown: Vec<&str> = pieces.encode("Low, new").iter().map(|&id| pieces.piece(id)).collect();
//! assert_eq!(shown, ["low", "[UNK]", "new"]); // the comma is in none of the texts
//! ```

use std::collections::{BTreeMap, BTreeSet};

/// What stands for a word that cannot be made of pieces.
const UNKNOWN: &str = "[UNK]";
/// What begins a piece that is not the first of its word.
const INSIDE: &str = "##";
/// The longest word that is taken apart; longer ones are unknown.
const LONGEST_WORD: usize = 100;

/// A vocabulary of pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pieces {
    pieces: Vec<String>,
    ids: BTreeMap<String, u32>,
}

impl Pieces {
    /// Learns at most `size` pieces from texts: their letters first, then what merges give. Ties go to the pair that comes first
    /// in the order of letters.
    pub fn train<'a>(texts: impl Iterator<Item = &'a str>, size: usize) -> Self {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for text in texts {
            for word in words(text) {
                *counts.entry(word).or_default() += 1;
            }
        }
        let mut words: Vec<(Vec<String>, usize)> =
            counts.iter().map(|(word, count)| (letters(word), *count)).collect();
        let alphabet: BTreeSet<&String> = words.iter().flat_map(|(pieces, _)| pieces).collect();
        let mut pieces: Vec<String> = vec![UNKNOWN.to_owned()];
        pieces.extend(alphabet.into_iter().take(size.saturating_sub(1)).cloned());
        let mut known: BTreeSet<String> = pieces.iter().cloned().collect();
        let mut pairs = Pairs::of(&words);
        while pieces.len() < size {
            let Some(pair) = pairs.most_frequent() else { break };
            let merged = format!("{}{}", pair.0, pair.1.strip_prefix(INSIDE).unwrap_or(&pair.1));
            pairs.merge(&pair, &merged, &mut words);
            if known.insert(merged.clone()) {
                pieces.push(merged);
            }
        }
        let ids = pieces.iter().enumerate().map(|(id, piece)| (piece.clone(), id as u32)).collect();
        Self { pieces, ids }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// A piece by its number.
    pub fn piece(&self, id: u32) -> &str {
        self.pieces.get(id as usize).map_or(UNKNOWN, String::as_str)
    }

    /// A text as numbers of pieces: of each word the longest piece that it begins with, then of the rest, and so on.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        words(text).iter().flat_map(|word| self.encode_word(word)).collect()
    }

    fn encode_word(&self, word: &str) -> Vec<u32> {
        let unknown = vec![0];
        let letters: Vec<char> = word.chars().collect();
        if letters.len() > LONGEST_WORD {
            return unknown;
        }
        let (mut ids, mut start) = (Vec::new(), 0);
        while start < letters.len() {
            let prefix = if start > 0 { INSIDE } else { "" };
            let found = (start + 1..=letters.len()).rev().find_map(|end| {
                let piece: String = prefix.chars().chain(letters[start..end].iter().copied()).collect();
                Some((end, *self.ids.get(&piece)?))
            });
            let Some((end, id)) = found else { return unknown };
            ids.push(id);
            start = end;
        }
        ids
    }
}

type Pair = (String, String);

/// How often pieces stand side by side, and in which words.
struct Pairs {
    counts: BTreeMap<Pair, (usize, BTreeSet<usize>)>,
    by_count: BTreeSet<(usize, std::cmp::Reverse<Pair>)>,
}

impl Pairs {
    fn of(words: &[(Vec<String>, usize)]) -> Self {
        let mut pairs = Self { counts: BTreeMap::new(), by_count: BTreeSet::new() };
        for (i, word) in words.iter().enumerate() {
            pairs.change(i, word, true);
        }
        pairs
    }

    /// Adds the pairs of a word, or takes them away.
    fn change(&mut self, index: usize, (pieces, count): &(Vec<String>, usize), add: bool) {
        for pair in pieces.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())) {
            let entry = self.counts.entry(pair.clone()).or_default();
            self.by_count.remove(&(entry.0, std::cmp::Reverse(pair.clone())));
            if add {
                entry.0 += count;
                entry.1.insert(index);
            } else {
                entry.0 -= count;
            }
            let left = entry.0;
            if left > 0 {
                self.by_count.insert((left, std::cmp::Reverse(pair)));
            } else {
                self.counts.remove(&pair);
            }
        }
    }

    /// The most frequent pair that stands somewhere twice or more.
    fn most_frequent(&self) -> Option<Pair> {
        let (count, std::cmp::Reverse(pair)) = self.by_count.last()?;
        (*count > 1).then(|| pair.clone())
    }

    fn merge(&mut self, pair: &Pair, merged: &str, words: &mut [(Vec<String>, usize)]) {
        let places = self.counts.get(pair).map(|(_, places)| places.clone()).unwrap_or_default();
        for index in places {
            let before = words[index].clone();
            let mut pieces = Vec::with_capacity(before.0.len());
            let mut rest = before.0.iter().peekable();
            while let Some(piece) = rest.next() {
                if *piece == pair.0 && rest.next_if(|next| **next == pair.1).is_some() {
                    pieces.push(merged.to_owned());
                } else {
                    pieces.push(piece.clone());
                }
            }
            if pieces.len() < before.0.len() {
                self.change(index, &before, false);
                words[index].0 = pieces;
                let after = words[index].clone();
                self.change(index, &after, true);
            }
        }
    }
}

/// The letters of a word; all but the first are marked as inside.
fn letters(word: &str) -> Vec<String> {
    word.chars()
        .enumerate()
        .map(|(i, c)| if i > 0 { format!("{INSIDE}{c}") } else { c.to_string() })
        .collect()
}

/// The words of a text, in lower case and without accents; every punctuation mark is a word.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars().flat_map(char::to_lowercase).filter_map(plain) {
        if c.is_alphanumeric() {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if !c.is_whitespace() && !c.is_control() {
            words.push(c.to_string());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// A letter without its accent; nothing for an accent by itself. Latin letters are known, others stay as they are.
fn plain(c: char) -> Option<char> {
    const ACCENTED: [(&str, char); 15] = [
        ("àáâãäåāăą", 'a'),
        ("çćĉċč", 'c'),
        ("ďđ", 'd'),
        ("èéêëēĕėęě", 'e'),
        ("ĝğġģ", 'g'),
        ("ìíîïĩīĭį", 'i'),
        ("ĺļľł", 'l'),
        ("ñńņň", 'n'),
        ("òóôõöøōŏő", 'o'),
        ("ŕŗř", 'r'),
        ("śŝşš", 's'),
        ("ţť", 't'),
        ("ùúûüũūŭůűų", 'u'),
        ("ýÿ", 'y'),
        ("žźż", 'z'),
    ];
    match c {
        '\u{300}'..='\u{36f}' => None,
        c if c.is_ascii() => Some(c),
        c => Some(ACCENTED.iter().find(|(all, _)| all.contains(c)).map_or(c, |(_, plain)| *plain)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_are_by_count_and_every_training_word_can_be_encoded() {
        let texts = ["hug hug hug pug pun bun hugs", "Él corrió: ¡más rápido!"];
        for size in [1, 5, 20, 40, 1000] {
            let pieces = Pieces::train(texts.iter().copied(), size);
            assert!(pieces.len() <= size && !pieces.is_empty());
            if size >= 40 {
                let ids = pieces.encode("hugs el corrio : mas rapido !");
                assert!(ids.iter().all(|&id| id > 0 && (id as usize) < pieces.len()), "{ids:?}");
            }
        }
        let pieces = Pieces::train(texts.iter().copied(), 1000);
        assert_eq!(pieces.encode("hug").len(), 1);
        assert_eq!(pieces.encode("xyz"), [0]);
        assert!(pieces.encode("").is_empty());
        assert_eq!(pieces.encode(&"h".repeat(101)), [0]);
    }

    /// "ug" stands five times, "hu" four times.
    #[test]
    fn the_most_frequent_pair_is_merged_first() {
        let text = ["hug hug hug pug pun bun hugs"];
        let pieces = Pieces::train(text.iter().copied(), 9);
        assert_eq!(pieces.pieces, ["[UNK]", "##g", "##n", "##s", "##u", "b", "h", "p", "##ug"]);
    }
}
