//! Task 4: how often did a group of letters occur?

use std::collections::BTreeMap;

use rand_core::Rng;
use wug_language::{Reading, draw};
use wug_parameter::{Key, Span};

use super::task::TaskSettings;
use super::task::{Generate, WadeTask};
use super::text::{DIGITS, TaskText};

/// Task 4: groups of letters separated by `y`, then questions about how often a group occurred.
///
/// With n uniform in 1..=45, ⌊2.5 n⌋ symbols are drawn, each `y` with probability 13/18 and one of A to E
/// with 1/18 apiece; leading separators go, and runs of them become one. After `x` come one or more of the
/// different groups, each with `y` and its count (predicted). After each, with probability 0.8, a *decoy* is
/// tried: letters of three copies of the group shuffled and cut to nearly the group's length; if it passes a
/// check it is asked about too, and its count is 0. At last `.`.
///
/// *Readings.* The published reading follows release 0.1.3, which takes any decoy that is not a substring of
/// the group just asked about: about 5 % of its zeros are false, since the decoy does occur. The corrected
/// reading takes it if it is no group of the prompt, as release 0.1.2 did, which the paper's own lock file
/// pins. Two oddities make no label wrong and stay in both: a prompt that ends in a separator is drawn anew
/// with the same n (the code meant to strip the separators); and the cut is a Python slice, so that a bound
/// of -1 (from groups of one letter) leaves two letters rather than none. So do the five letters, which are
/// in the published vocabulary; the paper speaks of three.
///
/// ```
/// use wug_dataset::wade::HARD_SYM_CT;
/// // The groups AB, C, AB; the decoy BA does not occur.
/// let right = HARD_SYM_CT.parse("A B y C y A B x A B y [2] B A y [0] C y [1] .").unwrap();
/// assert!(HARD_SYM_CT.check(&right).unwrap().is_empty());
/// // C does occur, so that this label is false, as about one in twenty of the published ones is.
/// let wrong = HARD_SYM_CT.parse("A B y C x A B y [1] C y [0] .").unwrap();
/// assert_eq!(HARD_SYM_CT.check(&wrong).unwrap()[0].expected, "1");
/// ```
pub const HARD_SYM_CT: WadeTask = WadeTask {
    number: 4,
    name: "hard-sym-ct",
    title: "Pattern counting",
    summary: "Count patterns (delimited group of symbols) from a sequence.",
    definition: "A prompt of letter groups separated by y, then x; then for some different groups, and for \
                 some decoys that do not occur: the group, y, its count in the prompt (predicted); at last a \
                 full stop.",
    example: "A B y C y A B x A B y [2] B A y [0] C y [1] .",
    parameters: &[PROMPT.parameter()],
    generator: &Patterns,
};

const PROMPT: Key<Span> =
    Key::span("prompt", "n, where 2.5 n symbols are drawn and then tidied", 1..=10_000, 1..=45);

const LETTERS: [&str; 5] = ["A", "B", "C", "D", "E"];
/// Of 18 equal chances, these give a separator and the rest one letter each.
const SEPARATOR_CHANCES: usize = 13;
const DECOY_CHANCE: f64 = 0.8;

type LetterGroup = Vec<&'static str>;

#[derive(Debug)]
struct Patterns;

impl Generate for Patterns {
    fn vocabulary(&self) -> Vec<&'static str> {
        [&LETTERS[..], &["x", "y", "."], &DIGITS].concat()
    }

    fn draw(&self, settings: &TaskSettings, rng: &mut dyn Rng) -> TaskText {
        let raw = settings.draw(&PROMPT, rng) * 5 / 2;
        let groups = prompt(rng, raw);
        // In order, so that the draw of groups below is the same on every machine.
        let mut counts: BTreeMap<LetterGroup, usize> = BTreeMap::new();
        for group in &groups {
            *counts.entry(group.clone()).or_default() += 1;
        }
        let different: Vec<(LetterGroup, usize)> =
            counts.iter().map(|(group, &count)| (group.clone(), count)).collect();
        let asked = draw::between(rng, 1, different.len());

        let mut text = TaskText::default();
        text.say_all(&groups.join(&"y"));
        text.say("x");
        for (group, count) in draw::subset(rng, &different, asked) {
            ask(&mut text, &group, count);
            if draw::chance(rng, DECOY_CHANCE) {
                let decoy = decoy(rng, &group);
                let taken = match settings.reading {
                    Reading::Published => !is_substring(&decoy, &group),
                    Reading::Corrected => !counts.contains_key(&decoy),
                };
                if taken && !decoy.is_empty() {
                    ask(&mut text, &decoy, 0);
                }
            }
        }
        text.say(".");
        text
    }
}

fn ask(text: &mut TaskText, group: &LetterGroup, count: usize) {
    text.say_all(group);
    text.say("y");
    text.answer_count(count);
}

/// The groups of a prompt of `raw` symbols before tidying.
///
/// Drawing anew until the last symbol is a letter leaves the other symbols as they are and makes the last one
/// a uniform letter, so that is what is drawn.
fn prompt(rng: &mut dyn Rng, raw: usize) -> Vec<LetterGroup> {
    let mut groups = vec![LetterGroup::new()];
    for _ in 1..raw {
        match draw::below(rng, SEPARATOR_CHANCES + LETTERS.len()).checked_sub(SEPARATOR_CHANCES) {
            Some(letter) => extend(&mut groups, LETTERS[letter]),
            None => groups.push(LetterGroup::new()),
        }
    }
    extend(&mut groups, LETTERS[draw::below(rng, LETTERS.len())]);
    groups.retain(|group| !group.is_empty());
    groups
}

fn extend(groups: &mut [LetterGroup], letter: &'static str) {
    if let Some(last) = groups.last_mut() {
        last.push(letter);
    }
}

/// Letters of three copies of the group, shuffled and cut to the group's length and up to two more or fewer.
fn decoy(rng: &mut dyn Rng, group: &LetterGroup) -> LetterGroup {
    let mut letters = group.repeat(3);
    draw::shuffle(rng, &mut letters);
    let (length, bound) = (letters.len(), group.len() + draw::below(rng, 5));
    // The bound less two is where to cut; below zero it counts from the end, as a Python slice does.
    letters.truncate(bound.checked_sub(2).unwrap_or(length + bound - 2));
    letters
}

fn is_substring(part: &LetterGroup, whole: &LetterGroup) -> bool {
    part.is_empty() || whole.windows(part.len()).any(|window| window == part.as_slice())
}
