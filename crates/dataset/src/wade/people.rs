//! Tasks 5 to 8: whom do I see, hear, …?

use rand_core::Rng;
use wug_language::draw;
use wug_parameter::{Constant, Key, Span};

use super::facts::{Fact, ask_whether, assign};
use super::task::TaskSettings;
use super::task::{Generate, WadeTask};
use super::text::{NUMBERS, TaskText};

/// Task 5: one statement about a few people, one question about one of them.
///
/// A verb; some of five names; a uniform number of them, from none to all, are those I do see (or
/// hear), in one clause, and the others those I do not, in another. The clauses come in either order,
/// joined by a random AND or BUT. The question is about one of the names, uniformly, so that YES and
/// NO are equally likely.
///
/// *Readings.* The published code has 1 to 4 names, because an upper bound is exclusive; the corrected
/// reading has the paper's 1 to 5.
///
/// ```
/// use wug_dataset::wade::QA;
/// let right = QA.parse("I SEE TOM AND I DO NOT SEE PAUL AND JOHN . DO I SEE JOHN ? [NO]").unwrap();
/// assert!(QA.check(&right).unwrap().is_empty());
/// ```
pub const QA: WadeTask = WadeTask {
    number: 5,
    name: "qa",
    title: "Simple question answering",
    summary: "Answer simple YES/NO questions from a single prompt.",
    definition: "One statement says whom of some people I do and do not see (or hear); one question asks \
                 about one of them. The answer is predicted.",
    example: "I SEE TOM AND I DO NOT SEE PAUL AND JOHN . DO I SEE JOHN ? [NO]",
    parameters: &[names(5, 5).published(Constant::Span(1, 4)).parameter()],
    generator: &People { names: 5, verbs: 2, world: false, counting: false },
};

/// Task 6: as [`QA`], with eleven names and five verbs.
///
/// *Readings.* The published code has 1 to 10 names in a prompt; the corrected reading has the paper's 1 to
/// 5. (The code's range with its exclusive bound corrected would be `names=1..11`.)
///
/// ```
/// use wug_dataset::wade::HARD_QA;
/// let right = HARD_QA.parse("I DO NOT SMELL LISA BUT I SMELL MARC . DO I SMELL MARC ? [YES]").unwrap();
/// assert!(HARD_QA.check(&right).unwrap().is_empty());
/// ```
pub const HARD_QA: WadeTask = WadeTask {
    number: 6,
    name: "hard-qa",
    title: "Harder question answering",
    summary: "Answer simple YES/NO questions from a single prompt with a more extensive vocabulary.",
    definition: "As task 5, with eleven names and five verbs.",
    example: "I DO NOT SMELL LISA BUT I SMELL MARC . DO I SMELL MARC ? [YES]",
    parameters: &[names(5, 11).published(Constant::Span(1, 10)).parameter()],
    generator: &People { names: 11, verbs: 5, world: false, counting: false },
};

/// Task 7: several statements with different verbs, one question.
///
/// Some of thirteen names are given to one to seven different verbs, each name to at most one; every verb
/// makes a statement as in [`QA`]. The question takes one of the verbs and one of its names. As no name
/// occurs with two verbs, the verb of the question never matters.
///
/// *Readings.* Both are alike: the paper gives no number of names, and the thirteenth, which an exclusive
/// bound shuts out, would have no number word in [`QA_WORLD_DEF_CT`]. The paper speaks of several questions;
/// the code has one.
///
/// ```
/// use wug_dataset::wade::QA_WORLD_DEF;
/// let right = QA_WORLD_DEF.parse("I TOUCH LEO . I DO NOT CALL PETER . DO I CALL PETER ? [NO]").unwrap();
/// assert!(QA_WORLD_DEF.check(&right).unwrap().is_empty());
/// ```
pub const QA_WORLD_DEF: WadeTask = WadeTask {
    number: 7,
    name: "qa-world-def",
    title: "Question answering with world definition",
    summary: "Answer YES/NO questions from a sequence of prompts.",
    definition: "Statements as in task 5, one for each of one to seven verbs and separated by full stops, \
                 with thirteen names in all; then one question about a verb and one of its names.",
    example: "I TOUCH LEO . I DO NOT CALL PETER . DO I CALL PETER ? [NO]",
    parameters: &[names(12, 13).parameter()],
    generator: &People { names: 13, verbs: 7, world: true, counting: false },
};

/// Task 8: as [`QA_WORLD_DEF`], but every second question, on average, asks how many.
///
/// *Readings.* Both are alike.
///
/// ```
/// use wug_dataset::wade::QA_WORLD_DEF_CT;
/// let text = "I CALL JOHN AND LEO BUT I DO NOT CALL MARC . I HEAR TOM . HOW MANY PEOPLE DO I CALL ? [TWO]";
/// assert!(QA_WORLD_DEF_CT.check(&QA_WORLD_DEF_CT.parse(text).unwrap()).unwrap().is_empty());
/// ```
pub const QA_WORLD_DEF_CT: WadeTask = WadeTask {
    number: 8,
    name: "qa-world-def-ct",
    title: "Question answering with world definition and counting",
    summary: "Answer YES/NO and counting questions from a sequence of prompts.",
    definition: "As task 7, but by a fair coin the question may be how many people I see (hear, …), answered \
                 by a number word.",
    example: "I CALL JOHN AND LEO BUT I DO NOT CALL MARC . I HEAR TOM . HOW MANY PEOPLE DO I CALL ? [TWO]",
    // A thirteenth name could make a count that has no word.
    parameters: &[names(12, 12).parameter()],
    generator: &People { names: 13, verbs: 7, world: true, counting: true },
};

/// One to `usual` names, or to at most `most`.
const fn names(usual: usize, most: usize) -> Key<Span> {
    Key::span("names", "names drawn for a sequence", 1..=most, 1..=usual)
}

const NAMES: [&str; 13] = [
    "PETER", "JOHN", "TOM", "JAMES", "PAUL", "MARC", "LUKE", "SIMON", "ANDREW", "BRUNO", "LISA", "HENRI",
    "LEO",
];
const VERBS: [&str; 7] = ["SEE", "HEAR", "CALL", "FEEL", "SMELL", "UNDERSTAND", "TOUCH"];
const OTHERS: [&str; 9] = ["I", "DO", "NOT", "AND", "BUT", "?", ".", "YES", "NO"];

#[derive(Debug)]
struct People {
    /// How many of the names there are.
    names: usize,
    /// How many of the verbs there are.
    verbs: usize,
    /// Whether there may be several statements.
    world: bool,
    /// Whether there are questions for a number.
    counting: bool,
}

impl People {
    fn facts(&self, settings: &TaskSettings, rng: &mut dyn Rng) -> Vec<Fact<&'static str>> {
        let count = settings.draw(&names(self.names, self.names), rng);
        let people = draw::subset(rng, &NAMES[..self.names], count);
        let verbs = &VERBS[..self.verbs];
        if self.world {
            assign(rng, &people, verbs)
        } else {
            let verb = draw::choose(rng, verbs);
            vec![Fact::draw(rng, verb, &people)]
        }
    }
}

impl Generate for People {
    fn vocabulary(&self) -> Vec<&'static str> {
        let mut words = [&NAMES[..self.names], &VERBS[..self.verbs], &OTHERS].concat();
        if self.counting {
            words.extend(NUMBERS);
            words.extend(["HOW", "MANY", "PEOPLE"]);
        }
        words
    }

    fn draw(&self, settings: &TaskSettings, rng: &mut dyn Rng) -> TaskText {
        let facts = self.facts(settings, rng);
        let mut text = TaskText::default();
        for fact in &facts {
            fact.state(&mut text, rng, |_| true);
            text.say(".");
        }
        let fact = draw::choose(rng, &facts);
        if self.counting && draw::coin(rng) {
            text.say_all(&["HOW", "MANY", "PEOPLE", "DO", "I", fact.verb, "?"]);
            // At most twelve names, for which there are words.
            text.answer(NUMBERS[fact.yes.len()]);
        } else {
            let (name, truth) = fact.pick(rng);
            ask_whether(&mut text, fact.verb, name, truth);
        }
        text
    }
}
