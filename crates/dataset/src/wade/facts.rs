//! What tasks 5 to 10 share: things are given to verbs, each verb is true of some of them and not of others,
//! and a statement says so.

use rand_core::Rng;
use wug_language::draw;

use super::text::TaskText;

/// Something that can be spoken of.
pub(super) trait Mention: Clone {
    fn mention(&self, text: &mut TaskText);
}

/// A name is its own phrase.
impl Mention for &'static str {
    fn mention(&self, text: &mut TaskText) {
        text.say(self);
    }
}

/// One verb and what it is true of.
#[derive(Debug)]
pub(super) struct Fact<T> {
    pub(super) verb: &'static str,
    /// What I do see, hear, …
    pub(super) yes: Vec<T>,
    /// What I do not.
    pub(super) no: Vec<T>,
}

impl<T: Mention> Fact<T> {
    /// Makes a uniform number of the things, from none to all, true of the verb.
    pub(super) fn draw(rng: &mut dyn Rng, verb: &'static str, things: &[T]) -> Self {
        // A permutation cut at a uniform place: every number of true things is equally likely, which a coin
        // for each thing would not give.
        let mut yes = draw::subset(rng, things, things.len());
        let no = yes.split_off(draw::between(rng, 0, things.len()));
        Self { verb, yes, no }
    }

    /// One of the verb's things, uniformly, and whether the verb is true of it.
    pub(super) fn pick(&self, rng: &mut dyn Rng) -> (&T, bool) {
        let i = draw::below(rng, self.yes.len() + self.no.len());
        match i.checked_sub(self.yes.len()) {
            None => (&self.yes[i], true),
            Some(i) => (&self.no[i], false),
        }
    }

    /// Writes the statement: one clause or two, in either order. The link word is drawn without regard to
    /// meaning. Only negative things that `told` lets through are mentioned.
    pub(super) fn state(&self, text: &mut TaskText, rng: &mut dyn Rng, told: impl Fn(&T) -> bool) {
        let negative_first = draw::coin(rng);
        let no: Vec<&T> = self.no.iter().filter(|thing| told(thing)).collect();
        let yes: Vec<&T> = self.yes.iter().collect();
        let mut clauses = [(&["I"][..], yes), (&["I", "DO", "NOT"][..], no)];
        if negative_first {
            clauses.reverse();
        }
        let both = clauses.iter().all(|(_, things)| !things.is_empty());
        for (i, (opening, things)) in clauses.iter().filter(|(_, things)| !things.is_empty()).enumerate() {
            if both && i == 1 {
                text.say(if draw::coin(rng) { "AND" } else { "BUT" });
            }
            text.say_all(opening);
            text.say(self.verb);
            list(text, things);
        }
    }
}

fn list<T: Mention>(text: &mut TaskText, things: &[&T]) {
    for (i, thing) in things.iter().enumerate() {
        if i > 0 {
            text.say("AND");
        }
        thing.mention(text);
    }
}

/// Gives things to verbs: a uniform number of different verbs, and as many different cuts in the list of
/// things; each verb gets what lies from its cut to the next. What lies before the first cut belongs to none.
pub(super) fn assign<T: Mention>(rng: &mut dyn Rng, things: &[T], verbs: &[&'static str]) -> Vec<Fact<T>> {
    let count = draw::between(rng, 1, verbs.len().min(things.len()));
    let verbs = draw::subset(rng, verbs, count);
    let indices: Vec<usize> = (0..things.len()).collect();
    let mut cuts = draw::subset(rng, &indices, count);
    cuts.sort_unstable();
    cuts.push(things.len());
    let shares = cuts.windows(2).map(|cut| &things[cut[0]..cut[1]]);
    verbs.into_iter().zip(shares).map(|(verb, share)| Fact::draw(rng, verb, share)).collect()
}

/// Writes `DO I V … ?` and the answer.
pub(super) fn ask_whether<T: Mention>(text: &mut TaskText, verb: &'static str, thing: &T, truth: bool) {
    text.say_all(&["DO", "I", verb]);
    thing.mention(text);
    text.say("?");
    text.answer(if truth { "YES" } else { "NO" });
}
