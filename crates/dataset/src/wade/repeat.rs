//! Tasks 1 and 2: a random binary pattern that comes again and again, as it is or ever more stretched.

use rand_core::Rng;
use wug_language::draw;
use wug_parameter::{Constant, Key, Span};

use super::task::TaskSettings;
use super::task::{Generate, WadeTask};
use super::text::{DIGITS, TaskText};

/// Task 1: a binary pattern is repeated; go on.
///
/// The pattern's length p is drawn uniformly, its symbols by fair coins; copies fill the sequence, the last
/// one cut. The true period may be a divisor of p. From position 2p + u on everything is predicted, with u
/// uniform in 0..=p-2 (0 if p ≤ 2), so two whole copies are always seen and determine the rest.
///
/// *Readings.* The published script uses lengths 1 to 5. Only 52 different sequences exist then, whatever
/// number is asked for. The paper says 1 to 10, which the corrected reading uses.
///
/// ```
/// use wug_dataset::wade::PERIODIC;
/// // The pattern 0 1 1 has been seen twice.
/// let right = PERIODIC.parse("0 1 1 0 1 1 [0] [1] [1] [0]").unwrap();
/// assert!(PERIODIC.check(&right).unwrap().is_empty());
/// let wrong = PERIODIC.parse("0 1 1 0 1 1 [0] [0] [1] [0]").unwrap();
/// assert_eq!(PERIODIC.check(&wrong).unwrap()[0].expected, "1");
/// ```
pub const PERIODIC: WadeTask = WadeTask {
    number: 1,
    name: "periodic",
    title: "Simple periodic pattern identification",
    summary: "Identify a simple periodic pattern.",
    definition: "A random binary pattern of random length p is repeated to the sequence's length. Everything \
                 from position 2p + u on is predicted, where u is uniform in 0..p-2 (0 for p up to 2).",
    example: "0 1 1 0 1 1 [0] [1] [1] [0] [1]",
    parameters: &[PATTERN.published(Constant::Span(1, 5)).parameter(), LENGTH.parameter()],
    generator: &Repeat { stretched: false },
};

/// Task 2: a binary pattern is repeated, each time with every symbol one longer; go on.
///
/// The pattern is drawn as in [`PERIODIC`]. In the k-th copy every symbol stands k times. From position 3p +
/// u on everything is predicted, so copies 1 and 2 are always seen whole. Runs grow long: "repeat the last
/// symbol" is already a strong guess.
///
/// *Readings.* Both are alike.
///
/// ```
/// use wug_dataset::wade::INC_PER;
/// // 0 1, then 00 11, then 000 11…
/// let right = INC_PER.parse("0 1 0 0 1 1 [0] [0] [0] [1] [1]").unwrap();
/// assert!(INC_PER.check(&right).unwrap().is_empty());
/// ```
pub const INC_PER: WadeTask = WadeTask {
    number: 2,
    name: "inc-per",
    title: "Harder periodic pattern identification",
    summary: "Identify a periodic pattern with an arithmetically increasing period.",
    definition: "As task 1, but in the k-th copy of the pattern every symbol stands k times, and prediction \
                 starts at position 3p + u.",
    example: "0 1 0 0 1 1 [0] [0] [0] [1] [1]",
    parameters: &[PATTERN.parameter(), LENGTH.parameter()],
    generator: &Repeat { stretched: true },
};

// The limits of the two leave something to predict in every combination: 4·25 - 2 < 100.
const PATTERN: Key<Span> = Key::span("pattern", "symbols in the pattern", 1..=25, 1..=10);
const LENGTH: Key<Span> = Key::span("length", "tokens in a sequence", 100..=100_000, 100..=100);

#[derive(Debug)]
struct Repeat {
    /// Whether the k-th copy has every symbol k times.
    stretched: bool,
}

impl Generate for Repeat {
    fn vocabulary(&self) -> Vec<&'static str> {
        DIGITS[..2].to_vec()
    }

    fn draw(&self, settings: &TaskSettings, rng: &mut dyn Rng) -> TaskText {
        let period = settings.draw(&PATTERN, rng);
        let pattern: Vec<&str> = (0..period).map(|_| DIGITS[usize::from(draw::coin(rng))]).collect();
        // u is uniform in 0..=p − 2, of which there is none for p = 1.
        let hidden = if period > 1 { draw::below(rng, period - 1) } else { 0 };
        let shown = if self.stretched { 3 * period } else { 2 * period } + hidden;
        let length = settings.draw(&LENGTH, rng);

        let copies = (1..).flat_map(|k| {
            let times = if self.stretched { k } else { 1 };
            pattern.iter().flat_map(move |&symbol| std::iter::repeat_n(symbol, times))
        });
        let mut text = TaskText::default();
        for (position, symbol) in copies.take(length).enumerate() {
            if position < shown { text.say(symbol) } else { text.answer(symbol) }
        }
        text
    }
}
