//! Task 3: how often did a letter occur?

use rand_core::Rng;
use wug_language::draw;
use wug_parameter::{Key, Span};

use super::task::TaskSettings;
use super::task::{Generate, WadeTask};
use super::text::{DIGITS, TaskText};

/// Task 3: letters, then questions about how often one of them occurred.
///
/// One to ten letters, each uniform over A, B, C; then for one to three different letters `x`, the letter,
/// and its count in decimal digits, which are predicted; at last `.`.
///
/// *Readings.* Both are alike.
///
/// ```
/// use wug_dataset::wade::SYM_CT;
/// // Two As, no C.
/// let right = SYM_CT.parse("A B A x A [2] x C [0] .").unwrap();
/// assert!(SYM_CT.check(&right).unwrap().is_empty());
/// ```
pub const SYM_CT: WadeTask = WadeTask {
    number: 3,
    name: "sym-ct",
    title: "Symbol counting",
    summary: "Count symbols from a sequence.",
    definition: "A prompt of letters A, B, C; then for some different letters: x, the letter, its count in \
                 the prompt (predicted); at last a full stop.",
    example: "A B A x A [2] x C [0] .",
    parameters: &[PROMPT.parameter(), QUERIES.parameter()],
    generator: &Symbols,
};

const PROMPT: Key<Span> = Key::span("prompt", "letters in the prompt", 1..=10_000, 1..=10);
const QUERIES: Key<Span> = Key::span("queries", "letters asked about", 1..=3, 1..=3);

const LETTERS: [&str; 3] = ["A", "B", "C"];

#[derive(Debug)]
struct Symbols;

impl Generate for Symbols {
    fn vocabulary(&self) -> Vec<&'static str> {
        [&LETTERS[..], &["x", "."], &DIGITS].concat()
    }

    fn draw(&self, settings: &TaskSettings, rng: &mut dyn Rng) -> TaskText {
        let length = settings.draw(&PROMPT, rng);
        let queries = settings.draw(&QUERIES, rng);
        let prompt: Vec<&str> = (0..length).map(|_| *draw::choose(rng, &LETTERS)).collect();

        let mut text = TaskText::default();
        text.say_all(&prompt);
        for letter in draw::subset(rng, &LETTERS, queries) {
            text.say_all(&["x", letter]);
            text.answer_count(prompt.iter().filter(|&&symbol| symbol == letter).count());
        }
        text.say(".");
        text
    }
}
