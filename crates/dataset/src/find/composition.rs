//! Primitives and one modifier: is what the modifier does carried over to new primitives?

use wug_language::{Alphabet, Symbol, Word};
use wug_parameter::Key;

use super::RuleFunction;
use super::registry::TaskEntry;
use super::setting::{Setting, TaskError};
use crate::{RuleTask, Seed};

/// The modifier comes first in both source alphabets, so primitive `i` is source symbol `i + 1`
/// and target symbol `i`.
const MODIFIER: Symbol = Symbol(0);

/// Does a learner compose, or memorise?
///
/// ```
/// use wug_dataset::{Seed, find};
/// let task = find::build("composition-or-memorization:primitives=3,shown=1", Seed::new(1)).unwrap();
/// let last = task.train.last().unwrap();
/// assert_eq!(task.source.format(&last.input), "thrice a1");
/// assert_eq!(task.target.format(&last.output), "b1 b1 b1");
/// assert_eq!(task.source.format(&task.holdout[1]), "thrice a3");
/// assert_eq!(task.target.format(&task.rule("comp").unwrap().outputs[1]), "b3 b3 b3");
/// assert_eq!(task.target.format(&task.rule("mem").unwrap().outputs[1]), "b3");
/// ```
///
/// The thousand primitives of appendix F are a setting:
///
/// ```
/// # use wug_dataset::{Seed, find};
/// let task = find::build("comp-or-mem:primitives=1000,shown=10", Seed::new(1)).unwrap();
/// assert_eq!((task.train.len(), task.holdout.len()), (1010, 990));
/// ```
pub(super) const COMPOSITION_OR_MEMORIZATION: TaskEntry = TaskEntry {
    name: "composition-or-memorization",
    aliases: &["comp-or-mem"],
    summary: "N primitives, M of them also with a modifier: compose the rest, or memorise?",
    definition: "Train a_i -> b_i for i in 1..N and thrice a_i -> b_i b_i b_i for i in 1..M. \
                 Hold-out thrice a_i for i in M+1..N. comp: b_i b_i b_i. mem: b_i.",
    cite: super::CITE,
    parameters: &[PRIMITIVES.parameter(), SHOWN.parameter()],
    published: &["primitives=40,shown=6", "primitives=40,shown=24", "primitives=40,shown=36"],
    make: |setting, _: Seed| composition_or_memorization(setting),
};

/// The composition task of the released code: one modified primitive is shown, so that `F x` may also be
/// thought to mean `A A A` for every `x`. The inputs put to the trained model include the primitives.
///
/// ```
/// use wug_dataset::{Seed, find};
/// let task = find::build("dax-compo:primitives=5", Seed::new(1)).unwrap();
/// assert_eq!(task.source.format(&task.holdout[3]), "F b");
/// let of_f_b = |rule| task.target.format(&task.rule(rule).unwrap().outputs[3]);
/// assert_eq!((&*of_f_b("compo"), &*of_f_b("mem_prim"), &*of_f_b("mem_func")), ("B B B", "B", "A A A"));
/// let of_b = |rule| task.target.format(&task.rule(rule).unwrap().outputs[2]);
/// assert_eq!((&*of_b("compo"), &*of_b("mem_prim"), &*of_b("mem_func")), ("B", "B", "B"));
/// ```
pub(super) const DAX_COMPO: TaskEntry = TaskEntry {
    name: "dax-compo",
    aliases: &[],
    summary: "the released code's composition task: N primitives, one of them also with a modifier",
    definition: "Train the N pairs a -> A, b -> B, … and F a -> A A A. Hold-out x and F x for each \
                 primitive x. All rules map x to X and F a to A A A; else compo: F x -> X X X. \
                 mem_prim: F x -> X. mem_func: F x -> A A A.",
    cite: "Kharitonov & Chaabouni (2021), What they do when in doubt, ICLR, released code",
    parameters: &[LETTERS.parameter()],
    published: &["primitives=5", "primitives=10", "primitives=20"],
    make: |setting, _: Seed| dax_compo(setting),
};

const PRIMITIVES: Key<usize> =
    Key::count("primitives", "N, how many primitives there are (40; 1000 in appendix F)", 2..=10_000, 40);
const SHOWN: Key<usize> =
    Key::count("shown", "M, how many are trained with the modifier, fewer than N", 1..=9_999, 36);
/// Primitives of the released task are letters.
const LETTERS: Key<usize> = Key::count("primitives", "N, how many primitives there are", 2..=26, 20);

fn composition_or_memorization(setting: &Setting) -> Result<RuleTask, TaskError> {
    let (n, shown) = (setting.get(&PRIMITIVES), setting.get(&SHOWN));
    if shown >= n {
        return Err(setting.refused(&SHOWN, shown, format!("fewer than `primitives`, which is {n}")));
    }
    let names = |letter: char| (1..=n).map(move |i| format!("{letter}{i}"));
    let source = Alphabet::new(std::iter::once("thrice".to_owned()).chain(names('a')));
    let train = (0..n).map(primitive).chain((0..shown).map(modified)).collect();
    let holdout = (shown..n).map(modified).collect();
    let comp = |input: &[Symbol]| vec![meaning(input); repeats(input)];
    let mem = |input: &[Symbol]| {
        let known = meaning(input).index() < shown;
        vec![meaning(input); if known { repeats(input) } else { 1 }]
    };
    let rules: [(&str, RuleFunction<'_>); 2] = [("comp", &comp), ("mem", &mem)];
    let alphabets = (source, Alphabet::new(names('b')));
    Ok(RuleTask::from_rules(setting.full_name(), alphabets, train, holdout, &rules, 1)?)
}

fn dax_compo(setting: &Setting) -> Result<RuleTask, TaskError> {
    let n = setting.get(&LETTERS);
    let source = Alphabet::new(std::iter::once('F').chain(('a'..='z').take(n)));
    let target = Alphabet::new(('A'..='Z').take(n));
    let train = (0..n).map(primitive).chain([modified(0)]).collect();
    let holdout = (0..n).flat_map(|i| [primitive(i), modified(i)]).collect();
    let compo = |input: &[Symbol]| vec![meaning(input); repeats(input)];
    let mem_prim =
        |input: &[Symbol]| vec![meaning(input); if meaning(input) == Symbol(0) { repeats(input) } else { 1 }];
    let mem_func = |input: &[Symbol]| {
        let modified = input.len() > 1;
        vec![if modified { Symbol(0) } else { meaning(input) }; repeats(input)]
    };
    let rules: [(&str, RuleFunction<'_>); 3] =
        [("compo", &compo), ("mem_prim", &mem_prim), ("mem_func", &mem_func)];
    Ok(RuleTask::from_rules(setting.full_name(), (source, target), train, holdout, &rules, 1)?)
}

fn primitive(i: usize) -> Word {
    vec![Symbol(i as u16 + 1)]
}

fn modified(i: usize) -> Word {
    vec![MODIFIER, Symbol(i as u16 + 1)]
}

/// The target symbol of an input's primitive.
fn meaning(input: &[Symbol]) -> Symbol {
    Symbol(input[input.len() - 1].0 - 1)
}

fn repeats(input: &[Symbol]) -> usize {
    if input[0] == MODIFIER { 3 } else { 1 }
}
