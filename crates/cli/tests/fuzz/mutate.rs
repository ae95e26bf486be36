//! Damages valid inputs: bytes, tokens, numbers, lines and whole files, drawn from a seeded generator.

use std::ops::Range;

use rand_core::Rng;
use wug_lab::dataset::{MemoryFiles, Seed};

use super::container::Container;

/// Longer files are cut: what is quadratic by design would only be slow.
const MAX_BYTES: usize = 1 << 16;

/// Values at the limits of integers and floating-point numbers, and what is nearly a number.
#[rustfmt::skip]
const NUMBERS: &[&str] = &[
    "0", "-0", "-1", "1", "2", "3", "255", "256", "65535", "65536", "1000000", "2147483648", "4294967295",
    "4294967296", "1000000000000", "9223372036854775807", "9223372036854775808", "18446744073709551615",
    "18446744073709551616", "99999999999999999999999999", "0.0", "-0.5", "1e-320", "1e-9", "1e308", "1e999",
    "-1e999", "0.1", "NaN", "inf", "nan", "01", "+1", "1_000", "0x10", "1.", ".5", "",
];

/// What the grammars of the readers are made of, and characters that are easily mishandled.
#[rustfmt::skip]
const TOKENS: &[&str] = &[
    "{", "}", "[", "]", "[[", "]]", "\"", "'", "\"\"\"", ":", ",", "=", "..", "..=", "/", "../", "\\",
    "\\u0000", "\\ud800", "\n", "\r\n", "\n\n", "\t", " ", "\0", "\u{feff}", "é", "\u{1f600}", "\u{202e}",
    "#", "-", "--", "null", "true", "false", "{}", "[]", "\"\"", "\"a\":1,", "1 ", "a ", "(", ")", "%", "$",
    "<", ">", "&", "|", "*",
];

/// Draws from a stream.
struct Draw<R>(R);

impl<R: Rng> Draw<R> {
    /// A number below `n`, or 0.
    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n.max(1) as u64) as usize
    }

    fn one<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }

    /// A range of at most `most` places.
    fn range(&mut self, length: usize, most: usize) -> Range<usize> {
        let start = self.below(length + 1);
        start..start + self.below((length - start).min(most) + 1)
    }
}

/// The input of a seed: one of the corpus, damaged in one to sixteen places.
pub(crate) fn mutated(corpus: &[MemoryFiles], seed: Seed) -> MemoryFiles {
    let mut draw = Draw(seed.rng());
    let mut input = corpus[draw.below(corpus.len())].clone();
    let other = &corpus[draw.below(corpus.len())];
    for _ in 0..1 << draw.below(5) {
        let names: Vec<String> = input.0.keys().cloned().collect();
        if names.is_empty() {
            break;
        }
        let name = &names[draw.below(names.len())];
        match draw.below(40) {
            0 => drop(input.0.remove(name)),
            1 => exchange(&mut input, name, &names[draw.below(names.len())]),
            2 => drop(input.0.insert(name.clone(), Vec::new())),
            3 => {
                let new = renamed(name, &mut draw);
                let bytes = input.0.remove(name).unwrap_or_default();
                input.0.insert(new, bytes);
            }
            _ => {
                let foreign =
                    other.0.get(name).or_else(|| other.0.values().next()).map_or(&[][..], Vec::as_slice);
                if let Some(bytes) = input.0.get_mut(name) {
                    *bytes = file(name, std::mem::take(bytes), foreign, &mut draw);
                }
            }
        }
    }
    input
}

fn exchange(input: &mut MemoryFiles, a: &str, b: &str) {
    let (x, y) = (input.0[a].clone(), input.0[b].clone());
    input.0.insert(a.to_owned(), y);
    input.0.insert(b.to_owned(), x);
}

/// Another number in a file's name. Names never lead out of their directory.
fn renamed(name: &str, draw: &mut Draw<impl Rng>) -> String {
    let mut bytes = name.as_bytes().to_vec();
    number(&mut bytes, draw);
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_owned())
}

/// Damages a file: its bytes as they are or, if they are a container, often what is inside.
fn file(name: &str, bytes: Vec<u8>, foreign: &[u8], draw: &mut Draw<impl Rng>) -> Vec<u8> {
    let container = Container::of(name).filter(|_| draw.below(3) > 0);
    let Some((container, mut inner)) = container.and_then(|c| Some((c, c.open(&bytes)?))) else {
        let mut bytes = bytes;
        bytes_of(&mut bytes, foreign, draw);
        return bytes;
    };
    let foreign = container.open(foreign).unwrap_or_default();
    bytes_of(&mut inner, &foreign, draw);
    container.close(&bytes, &inner)
}

fn bytes_of(bytes: &mut Vec<u8>, foreign: &[u8], draw: &mut Draw<impl Rng>) {
    let length = bytes.len();
    match draw.below(16) {
        0 if length > 0 => bytes[draw.below(length)] ^= 1 << draw.below(8),
        1 if length > 0 => {
            bytes[draw.below(length)] = [0, 0xff, 0x7f, 0x80, b'0', b'"'][draw.below(6)];
        }
        2 => {
            let new: Vec<u8> = (0..=draw.below(8)).map(|_| draw.below(256) as u8).collect();
            insert(bytes, &new, draw);
        }
        3 => drop(bytes.drain(draw.range(length, 64))),
        4 => {
            let part = bytes[draw.range(length, 64)].to_vec();
            let times = 1 << draw.below(9);
            insert(bytes, &part.repeat(times), draw);
        }
        5 => {
            let part = foreign[draw.range(foreign.len(), 1024)].to_vec();
            let range = draw.range(length, 1024);
            bytes.splice(range, part);
        }
        6..=8 => number(bytes, draw),
        9 => swap_lines(bytes, draw),
        10 => {
            let lines: Vec<&[u8]> = bytes.split_inclusive(|&b| b == b'\n').collect();
            let line = lines.get(draw.below(lines.len())).map_or(Vec::new(), |line| line.to_vec());
            insert(bytes, &line, draw);
        }
        11 | 12 => {
            let token = draw.one(TOKENS).repeat(if draw.below(16) == 0 { 1000 } else { 1 });
            insert(bytes, token.as_bytes(), draw);
        }
        13 if draw.below(4) == 0 => bytes.truncate(draw.below(length + 1)),
        _ => token(bytes, draw),
    }
    bytes.truncate(length.max(MAX_BYTES));
}

fn insert(bytes: &mut Vec<u8>, new: &[u8], draw: &mut Draw<impl Rng>) {
    let at = draw.below(bytes.len() + 1);
    bytes.splice(at..at, new.iter().copied());
}

/// The run of bytes that a test holds for, at a place or after it; the first one if there is none. Only the bytes between
/// are looked at: files are long, and inputs many.
fn run_at(bytes: &[u8], place: usize, test: impl Fn(u8) -> bool) -> Option<Range<usize>> {
    let holds = |&i: &usize| test(bytes[i]);
    let inside = (place..bytes.len()).find(holds).or_else(|| (0..place).find(holds))?;
    let start = (0..inside).rev().find(|&i| !test(bytes[i])).map_or(0, |i| i + 1);
    let end = (inside..bytes.len()).find(|&i| !test(bytes[i])).unwrap_or(bytes.len());
    Some(start..end)
}

/// Replaces a number by an extreme one.
fn number(bytes: &mut Vec<u8>, draw: &mut Draw<impl Rng>) {
    let place = draw.below(bytes.len());
    let new = draw.one(NUMBERS);
    if let Some(range) = run_at(bytes, place, |b| b.is_ascii_digit()) {
        bytes.splice(range, new.bytes());
    }
}

/// Replaces a word or number by another one of the same file.
fn token(bytes: &mut Vec<u8>, draw: &mut Draw<impl Rng>) {
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let places = [draw.below(bytes.len()), draw.below(bytes.len())];
    if let [Some(a), Some(b)] = places.map(|place| run_at(bytes, place, part)) {
        let new = bytes[b].to_vec();
        bytes.splice(a, new);
    }
}

fn swap_lines(bytes: &mut Vec<u8>, draw: &mut Draw<impl Rng>) {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&b| b == b'\n').collect();
    if lines.len() > 1 {
        let (a, b) = (draw.below(lines.len()), draw.below(lines.len()));
        lines.swap(a, b);
        *bytes = lines.concat();
    }
}
