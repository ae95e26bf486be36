//! Word pieces: text becomes the longest pieces that are in a vocabulary, which is learned from text by merging the pair of pieces
//! that is most frequent, again and again.
//!
//! ```
//! use wug_dataset::wordpiece::WordPieces;
//! let texts = ["low lower lowest", "new newer newest", "low new"];
//! let pieces = WordPieces::train(texts.iter().copied(), 40);
//! let shown: Vec<&str> = pieces.encode("Low, new").iter().map(|&id| pieces.piece(id)).collect();
//! assert_eq!(shown, ["low", "[UNK]", "new"]); // the comma is in none of the texts
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What stands for a word that cannot be made of pieces.
const UNKNOWN: &str = "[UNK]";
/// What begins a piece that is not the first of its word.
const INSIDE: &str = "##";
/// The longest word that is taken apart; longer ones are unknown.
const LONGEST_WORD: usize = 100;

/// A vocabulary of pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordPieces {
    pieces: Vec<String>,
    ids: BTreeMap<String, u32>,
}

impl WordPieces {
    /// Learns at most `size` pieces from texts: their letters first, then what merges give. Ties go to the pair that comes first
    /// in the order of letters.
    pub fn train<'a>(texts: impl Iterator<Item = &'a str>, size: usize) -> Self {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for text in texts {
            each_word(text, |word| match counts.get_mut(word) {
                Some(count) => *count += 1,
                // It is unknown whatever is learned from it.
                None if word.chars().count() > LONGEST_WORD => {}
                None => drop(counts.insert(word.to_owned(), 1)),
            });
        }
        let mut names = PieceNames::default();
        let words: Vec<CountedWord> = counts
            .iter()
            .map(|(word, count)| CountedWord {
                pieces: letters(word).map(|letter| names.id(&letter)).collect(),
                count: *count,
            })
            .collect();
        drop(counts);
        let mut pieces: Vec<Rc<str>> = vec![UNKNOWN.into()];
        // In their order, so that a vocabulary that is too small for all letters is the same each time.
        pieces.extend(names.ids.keys().take(size.saturating_sub(1)).cloned());
        let mut known: BTreeSet<Rc<str>> = pieces.iter().cloned().collect();
        let mut merges = Merges::new(words, names);
        while pieces.len() < size {
            let Some(merged) = merges.next() else { break };
            // Two merges can give one piece, such as a + bc and ab + c.
            if known.insert(Rc::clone(&merged)) {
                pieces.push(merged);
            }
        }
        let pieces: Vec<String> = pieces.iter().map(|piece| piece.as_ref().to_owned()).collect();
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
        let mut ids = Vec::new();
        each_word(text, |word| ids.extend(self.encode_word(word)));
        ids
    }

    fn encode_word(&self, word: &str) -> Vec<u32> {
        let unknown = vec![0];
        let letters: Vec<char> = word.chars().take(LONGEST_WORD + 1).collect();
        if letters.len() > LONGEST_WORD {
            return unknown;
        }
        let (mut ids, mut start) = (Vec::new(), 0);
        while start < letters.len() {
            let prefix = if start > 0 { INSIDE } else { "" };
            // Longest first: quadratic in the length of a word, which is why that is bounded.
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

/// Two pieces side by side, as numbers of [`PieceNames`].
type PiecePair = (u32, u32);

/// The texts of pieces while they are learned. Numbers are given in the order in which pieces come up, and
/// are not those of the vocabulary.
#[derive(Default)]
struct PieceNames {
    texts: Vec<Rc<str>>,
    ids: BTreeMap<Rc<str>, u32>,
}

impl PieceNames {
    fn id(&mut self, text: &str) -> u32 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let (id, text) = (self.texts.len() as u32, Rc::<str>::from(text));
        self.texts.push(Rc::clone(&text));
        self.ids.insert(text, id);
        id
    }

    fn text(&self, id: u32) -> Rc<str> {
        Rc::clone(&self.texts[id as usize])
    }
}

/// A word as pieces, and how often it is in the texts.
struct CountedWord {
    pieces: Vec<u32>,
    count: usize,
}

/// How often a pair is in the texts, and the words that it is in (and perhaps some that it was in).
#[derive(Default)]
struct Occurrences {
    count: usize,
    words: Vec<u32>,
}

/// A pair in the order in which pairs are merged: by count, and in the order of letters from the last to the first.
type Candidate = (usize, Reverse<(Rc<str>, Rc<str>)>, PiecePair);

/// The words while their pieces are merged.
struct Merges {
    words: Vec<CountedWord>,
    names: PieceNames,
    pairs: BTreeMap<PiecePair, Occurrences>,
    /// The pairs that are there twice or more: others are never merged.
    // A set and not a heap: each merge changes the counts of pairs that are in it.
    candidates: BTreeSet<Candidate>,
}

impl Merges {
    fn new(words: Vec<CountedWord>, names: PieceNames) -> Self {
        let mut pairs: BTreeMap<PiecePair, Occurrences> = BTreeMap::new();
        for (i, word) in words.iter().enumerate() {
            for pair in pairs_of(&word.pieces) {
                let occurrences = pairs.entry(pair).or_default();
                occurrences.count += word.count;
                occurrences.words.push(i as u32);
            }
        }
        let mut merges = Self { words, names, pairs, candidates: BTreeSet::new() };
        let counts: Vec<(PiecePair, usize)> =
            merges.pairs.iter().map(|(pair, at)| (*pair, at.count)).collect();
        merges.candidates = counts
            .into_iter()
            .filter(|(_, count)| *count > 1)
            .map(|(pair, count)| merges.candidate(pair, count))
            .collect();
        merges
    }

    fn candidate(&self, pair: PiecePair, count: usize) -> Candidate {
        (count, Reverse((self.names.text(pair.0), self.names.text(pair.1))), pair)
    }

    /// Merges the most frequent pair that is there twice or more; the piece that it becomes.
    fn next(&mut self) -> Option<Rc<str>> {
        let (_, Reverse((first, second)), pair) = self.candidates.last()?;
        let text = format!("{first}{}", second.strip_prefix(INSIDE).unwrap_or(second));
        let pair = *pair;
        let merged = self.names.id(&text);
        // The counts of the pairs that change, as they were.
        let mut before: BTreeMap<PiecePair, usize> = BTreeMap::new();
        let mut words = self.pairs.get_mut(&pair).map(|at| std::mem::take(&mut at.words)).unwrap_or_default();
        // A word is listed each time that the pair came up in it, and is to be changed once.
        words.sort_unstable();
        words.dedup();
        for index in words {
            self.merge_in(index, pair, merged, &mut before);
        }
        for (pair, count) in before {
            self.recount(pair, count);
        }
        Some(self.names.text(merged))
    }

    fn merge_in(
        &mut self,
        index: u32,
        pair: PiecePair,
        merged: u32,
        before: &mut BTreeMap<PiecePair, usize>,
    ) {
        let word = &mut self.words[index as usize];
        let mut pieces = Vec::with_capacity(word.pieces.len());
        let mut rest = word.pieces.iter().copied().peekable();
        while let Some(piece) = rest.next() {
            let whole = piece == pair.0 && rest.next_if_eq(&pair.1).is_some();
            pieces.push(if whole { merged } else { piece });
        }
        let (old, new): (Vec<PiecePair>, Vec<PiecePair>) =
            (pairs_of(&word.pieces).collect(), pairs_of(&pieces).collect());
        word.pieces = pieces;
        // A long word has few pairs that change.
        let same = |(a, b): &(&PiecePair, &PiecePair)| a == b;
        let start = old.iter().zip(&new).take_while(same).count();
        let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(same).count();
        for pair in &old[start..old.len() - end] {
            if let Some(at) = self.pairs.get_mut(pair) {
                before.entry(*pair).or_insert(at.count);
                at.count -= word.count;
            }
        }
        for pair in &new[start..new.len() - end] {
            let at = self.pairs.entry(*pair).or_default();
            before.entry(*pair).or_insert(at.count);
            at.count += word.count;
            at.words.push(index);
        }
    }

    /// Puts a pair among the candidates by its count, which was another.
    fn recount(&mut self, pair: PiecePair, before: usize) {
        let count = self.pairs.get(&pair).map_or(0, |at| at.count);
        if count == 0 {
            self.pairs.remove(&pair);
        }
        if before > 1 {
            self.candidates.remove(&self.candidate(pair, before));
        }
        if count > 1 {
            self.candidates.insert(self.candidate(pair, count));
        }
    }
}

fn pairs_of(pieces: &[u32]) -> impl Iterator<Item = PiecePair> {
    pieces.windows(2).map(|pair| (pair[0], pair[1]))
}

/// The letters of a word; all but the first are marked as inside.
fn letters(word: &str) -> impl Iterator<Item = String> {
    word.chars().enumerate().map(|(i, c)| if i > 0 { format!("{INSIDE}{c}") } else { c.to_string() })
}

/// Calls for each word of a text, in lower case and without accents; every punctuation mark is a word.
fn each_word(text: &str, mut call: impl FnMut(&str)) {
    let mut word = String::new();
    for c in text.chars().flat_map(char::to_lowercase).filter_map(plain) {
        if c.is_alphanumeric() {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            call(&word);
            word.clear();
        }
        if !c.is_whitespace() && !c.is_control() {
            call(c.encode_utf8(&mut [0; 4]));
        }
    }
    if !word.is_empty() {
        call(&word);
    }
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
            let pieces = WordPieces::train(texts.iter().copied(), size);
            assert!(pieces.len() <= size && !pieces.is_empty());
            if size >= 40 {
                let ids = pieces.encode("hugs el corrio : mas rapido !");
                assert!(ids.iter().all(|&id| id > 0 && (id as usize) < pieces.len()), "{ids:?}");
            }
        }
        let pieces = WordPieces::train(texts.iter().copied(), 1000);
        assert_eq!(pieces.encode("hug").len(), 1);
        assert_eq!(pieces.encode("xyz"), [0]);
        assert!(pieces.encode("").is_empty());
        assert_eq!(pieces.encode(&"h".repeat(101)), [0]);
    }

    /// "ug" stands five times, "hu" four times.
    #[test]
    fn the_most_frequent_pair_is_merged_first() {
        let text = ["hug hug hug pug pun bun hugs"];
        let pieces = WordPieces::train(text.iter().copied(), 9);
        assert_eq!(pieces.pieces, ["[UNK]", "##g", "##n", "##s", "##u", "b", "h", "p", "##ug"]);
    }

    /// Each piece is the merge of the most frequent pair, counted anew each time.
    #[test]
    fn merges_are_those_of_counting_anew() {
        let text =
            "aaa aaaa banana bananas ananas nananana abab ababab abc abcabc cabc cab bca 日本 日本語 本日";
        let pieces = WordPieces::train(std::iter::repeat_n(text, 2), 200);
        let mut words: Vec<Vec<String>> = text.split(' ').map(|word| letters(word).collect()).collect();
        let letters: BTreeSet<String> = words.iter().flatten().cloned().collect();
        let mut expected: Vec<String> = std::iter::once(UNKNOWN.to_owned()).chain(letters).collect();
        loop {
            let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
            for pair in words.iter().flat_map(|word| word.windows(2)) {
                *counts.entry((pair[0].clone(), pair[1].clone())).or_default() += 2;
            }
            let Some((pair, _)) = counts.into_iter().min_by_key(|(pair, n)| (Reverse(*n), pair.clone()))
            else {
                break;
            };
            let merged = format!("{}{}", pair.0, pair.1.trim_start_matches(INSIDE));
            for word in &mut words {
                let mut i = 0;
                while i + 1 < word.len() {
                    if (&word[i], &word[i + 1]) == (&pair.0, &pair.1) {
                        word.splice(i..i + 2, [merged.clone()]);
                    }
                    i += 1;
                }
            }
            if !expected.contains(&merged) {
                expected.push(merged);
            }
        }
        assert_eq!(pieces.pieces, expected);
    }

    #[test]
    fn long_words_and_many_words_end() {
        let long = "ab".repeat(1 << 20);
        let pieces = WordPieces::train([long.as_str(), "hug hug"].into_iter(), 1000);
        assert_eq!(pieces.pieces, ["[UNK]", "##g", "##u", "h", "##ug", "hug"]);
        assert_eq!(pieces.encode(&long), [0]);
        let letter = |n: usize| char::from(b'a' + (n % 26) as u8);
        let many: String = (0..100_000)
            .flat_map(|i| [letter(i), letter(i / 26), letter(i / 676), letter(i / 17576), ' '])
            .collect();
        // Two pieces make a word: then no pair is there twice.
        let pieces = WordPieces::train(std::iter::once(many.as_str()), 5000);
        assert!((1000..5000).contains(&pieces.len()), "{}", pieces.len());
        assert_eq!(pieces.encode("abcd").len(), 2);
    }
}
