//! Tasks 9 and 10: which things do I see, hear, …, and of what colour and size are they?

use std::collections::BTreeSet;

use rand_core::Rng;
use wug_language::{Reading, draw};
use wug_parameter::{Constant, Key, Span};

use super::facts::{Fact, Mention, ask_whether, assign};
use super::task::TaskSettings;
use super::task::{Generate, WadeTask};
use super::text::{NUMBERS, TaskText};

/// Task 9: statements about things with adjectives, one question about a thing or an adjective.
///
/// Some of eight objects, each with a colour (probability 0.6) and a size (0.6), are given to different verbs
/// as names are in [`QA_WORLD_DEF`](super::QA_WORLD_DEF). If something that I do see (hear, …) has an
/// adjective, then with probability 0.9 the question is for one of its adjectives; else it is whether I see
/// one of the things, in full words.
///
/// *Readings.* The published code compares things by their first word when it lists what I do not see: a
/// thing that shares it (an adjective, then) with one that I do see is left out, though it may still be asked
/// about. The label, NO, is right only in that nothing was said. The corrected reading mentions every thing.
/// Both have four sizes and one question; the paper has five and up to eight.
///
/// ```
/// use wug_dataset::wade::ADJ_QA;
/// let text = "I SEE A TINY RED CAR AND I DO NOT SEE AN APPLE . WHAT SIZE IS THE CAR I SEE ? [TINY]";
/// assert!(ADJ_QA.check(&ADJ_QA.parse(text).unwrap()).unwrap().is_empty());
/// ```
pub const ADJ_QA: WadeTask = WadeTask {
    number: 9,
    name: "adj-qa",
    title: "Adjective question answering",
    summary: "Answer YES/NO and adjective questions from a sequence of prompts.",
    definition: "Statements as in task 7 about objects that may have a size and a colour; then one question, \
                 either whether I see (hear, …) one of them or of what colour or size one is that I do see.",
    example: "I SEE A TINY RED CAR AND I DO NOT SEE AN APPLE . WHAT SIZE IS THE CAR I SEE ? [TINY]",
    parameters: &[OBJECTS.parameter()],
    generator: &Things { sizes: 4, counting: false },
};

/// Task 10: as [`ADJ_QA`], with questions for a number too, and several questions.
///
/// One more size, NORMAL. A number of questions is tried, and those that were asked already are dropped. When
/// something that I do see has an adjective, a question is whether with probability 0.10, how many with 0.45
/// and for an adjective with 0.45; else it is whether. Later questions see the answers to earlier ones.
///
/// *Readings.* As for [`ADJ_QA`]; also, the published code tries 1 to 7 questions, because an upper bound is
/// exclusive, and the corrected reading 1 to 8, the paper's "up to eight".
///
/// ```
/// use wug_dataset::wade::ADJ_QA_CT;
/// let text = "I CALL A BLUE PEAR . I DO NOT HEAR A TRAIN . HOW MANY THINGS DO I HEAR ? [ZERO] \
///             . WHAT COLOR IS THE PEAR I CALL ? [BLUE] . DO I CALL A BLUE PEAR ? [YES]";
/// assert!(ADJ_QA_CT.check(&ADJ_QA_CT.parse(text).unwrap()).unwrap().is_empty());
/// ```
pub const ADJ_QA_CT: WadeTask = WadeTask {
    number: 10,
    name: "adj-qa-ct",
    title: "Adjective question answering and counting",
    summary: "Answer YES/NO, adjective, and counting questions from a sequence of prompts.",
    definition: "As task 9, with one more size and several different questions, which may also be how many \
                 things I see (hear, …), answered by a number word.",
    example: "I CALL A BLUE PEAR . I DO NOT HEAR A TRAIN . HOW MANY THINGS DO I HEAR ? [ZERO] . DO I CALL A \
              BLUE PEAR ? [YES]",
    parameters: &[OBJECTS.parameter(), QUESTIONS.parameter()],
    generator: &Things { sizes: 5, counting: true },
};

const OBJECTS: Key<Span> = Key::span("objects", "objects drawn for a sequence", 1..=8, 1..=7);
const QUESTIONS: Key<Span> =
    Key::span("questions", "questions tried; repeated ones are dropped", 1..=1000, 1..=8)
        .published(Constant::Span(1, 7));

const NOUNS: [&str; 8] = ["BANANA", "APPLE", "PEAR", "PEACH", "APRICOT", "CAR", "PLANE", "TRAIN"];
const VERBS: [&str; 6] = ["SEE", "HEAR", "CALL", "FEEL", "SMELL", "TOUCH"];
const COLORS: [&str; 4] = ["RED", "GREEN", "BLUE", "YELLOW"];
const SIZES: [&str; 5] = ["SMALL", "BIG", "HUGE", "TINY", "NORMAL"];
const OTHERS: [&str; 12] = ["I", "DO", "NOT", "AND", "BUT", "WHAT", "A", "AN", "COLOR", "SIZE", "IS", "THE"];
const ADJECTIVE_CHANCE: f64 = 0.6;

/// An object and its adjectives.
#[derive(Clone, Debug)]
struct Thing {
    size: Option<&'static str>,
    color: Option<&'static str>,
    noun: &'static str,
}

impl Thing {
    fn words(&self) -> impl Iterator<Item = &'static str> {
        self.size.into_iter().chain(self.color).chain([self.noun])
    }

    fn first_word(&self) -> &'static str {
        self.size.or(self.color).unwrap_or(self.noun)
    }

    /// Kinds of adjective that it has, with the adjective.
    fn adjectives(&self) -> Vec<(&'static str, &'static str)> {
        let color = self.color.map(|color| ("COLOR", color));
        color.into_iter().chain(self.size.map(|size| ("SIZE", size))).collect()
    }
}

impl Mention for Thing {
    fn mention(&self, text: &mut TaskText) {
        text.say(if self.first_word().starts_with(['A', 'E', 'I', 'O', 'U']) { "AN" } else { "A" });
        self.words().for_each(|word| text.say(word));
    }
}

#[derive(Debug)]
struct Things {
    /// How many of the sizes there are.
    sizes: usize,
    /// Whether there are questions for a number, and several questions.
    counting: bool,
}

impl Things {
    fn things(&self, settings: &TaskSettings, rng: &mut dyn Rng) -> Vec<Thing> {
        let count = settings.draw(&OBJECTS, rng);
        let adjective = |rng: &mut dyn Rng, words: &[&'static str]| {
            draw::chance(rng, ADJECTIVE_CHANCE).then(|| *draw::choose(rng, words))
        };
        draw::subset(rng, &NOUNS, count)
            .into_iter()
            .map(|noun| {
                // The colour before the size: the order of draws is part of every data set.
                let color = adjective(rng, &COLORS);
                Thing { size: adjective(rng, &SIZES[..self.sizes]), color, noun }
            })
            .collect()
    }

    /// Writes a question and its answer.
    fn ask(&self, rng: &mut dyn Rng, facts: &[Fact<Thing>]) -> TaskText {
        let described: Vec<(&'static str, &Thing)> = facts
            .iter()
            .flat_map(|fact| fact.yes.iter().map(|thing| (fact.verb, thing)))
            .filter(|(_, thing)| !thing.adjectives().is_empty())
            .collect();
        // Of twenty chances two are for "whether"; where there is counting, it has half of the rest.
        let chance = if described.is_empty() { 0 } else { draw::below(rng, 20) };
        match chance {
            0..2 => ask_whether_one(rng, facts),
            2..11 if self.counting => ask_how_many(rng, facts),
            _ => ask_what(rng, &described),
        }
    }
}

impl Generate for Things {
    fn vocabulary(&self) -> Vec<&'static str> {
        let mut words = [&NOUNS[..], &VERBS, &COLORS, &SIZES[..self.sizes], &OTHERS].concat();
        if self.counting {
            words.extend(["HOW", "MANY", "THINGS"]);
            words.extend(&NUMBERS[..=NOUNS.len()]);
        }
        words.extend(["?", ".", "YES", "NO"]);
        words
    }

    fn draw(&self, settings: &TaskSettings, rng: &mut dyn Rng) -> TaskText {
        let things = self.things(settings, rng);
        let facts = assign(rng, &things, &VERBS);
        let mut text = TaskText::default();
        for (i, fact) in facts.iter().enumerate() {
            if i > 0 {
                text.say(".");
            }
            let shadowed =
                |thing: &Thing| fact.yes.iter().any(|other| other.first_word() == thing.first_word());
            fact.state(&mut text, rng, |thing| settings.reading == Reading::Corrected || !shadowed(thing));
        }
        let mut asked = BTreeSet::new();
        let attempts = if self.counting { settings.draw(&QUESTIONS, rng) } else { 1 };
        for _ in 0..attempts {
            let question = self.ask(rng, &facts);
            if asked.insert(question.tokens().to_vec()) {
                text.say(".");
                text.append(&question);
            }
        }
        text
    }
}

fn ask_whether_one(rng: &mut dyn Rng, facts: &[Fact<Thing>]) -> TaskText {
    let fact = draw::choose(rng, facts);
    let (thing, truth) = fact.pick(rng);
    let mut text = TaskText::default();
    ask_whether(&mut text, fact.verb, thing, truth);
    text
}

fn ask_how_many(rng: &mut dyn Rng, facts: &[Fact<Thing>]) -> TaskText {
    let fact = draw::choose(rng, facts);
    let mut text = TaskText::default();
    text.say_all(&["HOW", "MANY", "THINGS", "DO", "I", fact.verb, "?"]);
    text.answer(NUMBERS[fact.yes.len()]);
    text
}

fn ask_what(rng: &mut dyn Rng, described: &[(&'static str, &Thing)]) -> TaskText {
    let (verb, thing) = draw::choose(rng, described);
    let adjectives = thing.adjectives();
    let (kind, adjective) = draw::choose(rng, &adjectives);
    let mut text = TaskText::default();
    text.say_all(&["WHAT", kind, "IS", "THE", thing.noun, "I", verb, "?"]);
    text.answer(adjective);
    text
}
