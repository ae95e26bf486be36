//! The checks, one function each.

use super::{Ask, Check, Finding, rounds, rows};
use crate::LabError;
use crate::foreign::{Conversation, Failure, Question};

/// How far two answers may differ that must be the same: single precision, summed in another order.
const SAME: f64 = 1e-4;
/// How far a sum of probabilities may be from one.
const SUM: f64 = 1e-3;
/// The share of steps from which on something was learned.
const LEARNED: f64 = 0.6;

/// The probability from which on something is expected.
const EXPECTED: f64 = 0.3;

const NORMALISED: &str = "probabilities add up to one";
const AGAIN: &str = "the same answer the second time";
const BATCH: &str = "the same answer alone as in a batch";
const PADDING: &str = "no padding in answers";
const CAUSAL: &str = "the future does not change the present";
const SHIFT: &str = "rows are in their place";
const BOUNDARIES: &str = "the start and the end are read and predicted";
const FINITE: &str = "log-odds are finite";
const SIGN: &str = "members have positive log-odds";

fn mistake(seen: String, cause: &'static str) -> Finding {
    Finding::Mistake { seen, cause }
}

/// The largest difference between answers.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let pairs = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    // What is not a number differs from everything.
    pairs.fold(0.0, |most, d| if d.is_nan() || d > most { d } else { most })
}

fn differs(a: &[f64], b: &[f64]) -> Option<f64> {
    let most = difference(a, b);
    let scale = a.iter().chain(b).fold(1.0_f64, |scale, x| scale.max(x.abs()));
    (most.is_nan() || most > SAME * scale).then_some(most)
}

/// A next-symbol model.
pub(super) fn next_symbol(model: &mut dyn Conversation) -> Result<Vec<Check>, LabError> {
    let mut findings = vec![(NORMALISED, normalised(model)?)];
    let mut ask = |strings: &[&[u32]]| -> Result<Vec<Vec<f64>>, Failure> {
        Ok(rows(model, strings)?.into_iter().map(|rows| rows.concat()).collect())
    };
    let with_start = |n: usize| [vec![0], rounds(n)].concat();
    let again = again(&mut ask, &with_start(3))?;
    // A model that never answers the same twice would fail every comparison.
    let steady = again == Finding::Fine;
    findings.push((AGAIN, again));
    if steady {
        let others: Vec<Vec<u32>> = (0..6).map(|i| changed(&with_start(3), i)).collect();
        let batch = batch(&mut ask, &with_start(3), &others)?;
        let alike = batch == Finding::Fine;
        findings.push((BATCH, batch));
        findings.push((
            PADDING,
            if alike { padding(&mut ask, &with_start(2), &with_start(9))? } else { after(BATCH) },
        ));
        findings.push((CAUSAL, causal(&mut ask, &with_start(4))?));
    } else {
        findings.extend([BATCH, PADDING, CAUSAL].map(|name| (name, after(AGAIN))));
    }
    findings.extend(places(model)?);
    Ok(named("next-symbol", findings))
}

/// A recognizer.
pub(super) fn recognizer(model: &mut dyn Conversation) -> Result<Vec<Check>, LabError> {
    let mut ask = |strings: &[&[u32]]| -> Result<Vec<Vec<f64>>, Failure> {
        let numbers = model.ask(Question::LogOdds(strings))?;
        if numbers.len() != strings.len() {
            let message =
                format!("it was asked about {} strings and answered about {}", strings.len(), numbers.len());
            return Err(Failure::learner(message));
        }
        Ok(numbers.into_iter().map(|z| vec![z]).collect())
    };
    let member = |n: usize| [vec![1], rounds(n)].concat();
    let other = |n: usize| [vec![2], rounds(n)].concat();
    let again = again(&mut ask, &member(3))?;
    let steady = again == Finding::Fine;
    let mut findings =
        vec![(FINITE, finite(&mut ask, &[member(1), other(1), member(4), other(4)])?), (AGAIN, again)];
    if steady {
        let others: Vec<Vec<u32>> = (0..6).map(|i| changed(&member(3), i)).collect();
        let batch = batch(&mut ask, &member(3), &others)?;
        let alike = batch == Finding::Fine;
        findings.push((BATCH, batch));
        findings
            .push((PADDING, if alike { padding(&mut ask, &member(2), &member(9))? } else { after(BATCH) }));
    } else {
        findings.extend([BATCH, PADDING].map(|name| (name, after(AGAIN))));
    }
    let strings: Vec<Vec<u32>> = (1..=4).flat_map(|n| [member(n), other(n)]).collect();
    findings.push((SIGN, sign(&mut ask, &strings)?));
    Ok(named("recognizer", findings))
}

fn named(role: &'static str, findings: Vec<(&'static str, Finding)>) -> Vec<Check> {
    findings.into_iter().map(|(name, finding)| Check { name, role, finding }).collect()
}

fn after(first: &str) -> Finding {
    Finding::Unknown { why: format!("can be checked once this is right: {first}") }
}

/// The string with another symbol at a position, in the middle.
fn changed(string: &[u32], i: usize) -> Vec<u32> {
    let mut string = string.to_vec();
    let at = 1 + i % (string.len() - 1);
    string[at] = 1 + string[at] % 4;
    string
}

fn normalised(model: &mut dyn Conversation) -> Result<Finding, Failure> {
    let string = [vec![0], rounds(3)].concat();
    for (t, row) in rows(model, &[&string])?.remove(0).into_iter().enumerate() {
        let sum: f64 = row.iter().sum();
        let negative = row.iter().any(|p| *p < 0.0);
        if sum.is_nan() || (sum - 1.0).abs() > SUM || negative {
            let kind = if negative { "and has negative numbers" } else { "and should add up to 1" };
            return Ok(mistake(
                format!("row {t} adds up to {sum:.4} {kind}"),
                "logits or log-probabilities are returned as they are: take softmax over the last axis (or exp)",
            ));
        }
    }
    Ok(Finding::Fine)
}

fn again(ask: Ask<'_>, string: &[u32]) -> Result<Finding, Failure> {
    let (first, second) = (ask(&[string])?, ask(&[string])?);
    Ok(differs(&first[0], &second[0]).map_or(Finding::Fine, |by| {
        mistake(
            format!("the same string, asked twice, has answers that differ by {by:.4}"),
            "dropout is still on (call model.eval()), or the model samples, or it keeps its state from one call to the next",
        )
    }))
}

/// A string among others of the same length: nothing is padded.
fn batch(ask: Ask<'_>, string: &[u32], others: &[Vec<u32>]) -> Result<Finding, Failure> {
    let alone = ask(&[string])?;
    let strings: Vec<&[u32]> = others.iter().map(Vec::as_slice).chain([string]).collect();
    let together = ask(&strings)?;
    Ok(differs(&alone[0], &together[others.len()]).map_or(Finding::Fine, |by| {
        mistake(
            format!("a string among {} others of its length has answers that differ by {by:.4} from those it has alone", others.len()),
            "strings of a batch are mixed: batch normalisation in training mode, a reshape of (batch, time) that should be a transpose, or a state that is shared",
        )
    }))
}

/// A string beside a longer one: a model that pads must not read the padding.
fn padding(ask: Ask<'_>, short: &[u32], long: &[u32]) -> Result<Finding, Failure> {
    let alone = ask(&[short])?;
    let together = ask(&[long, short])?;
    Ok(differs(&alone[0], &together[1]).map_or(Finding::Fine, |by| {
        mistake(
            format!("a string beside a longer one has answers that differ by {by:.4} from those it has alone"),
            "the padding is read: mask it, take the last state of each string by its length, or pack the batch",
        )
    }))
}

/// Other symbols at the end must not change what was predicted before them.
fn causal(ask: Ask<'_>, string: &[u32]) -> Result<Finding, Failure> {
    let keep = string.len() / 2;
    let mut other = string.to_vec();
    other[keep..].iter_mut().for_each(|symbol| *symbol = 1 + *symbol % 4);
    let (a, b) = (ask(&[string])?, ask(&[&other])?);
    let v = a[0].len() / string.len();
    Ok(differs(&a[0][..keep * v], &b[0][..keep * v]).map_or(Finding::Fine, |by| {
        mistake(
            format!("other symbols from position {keep} on change what is predicted before it, by {by:.4}"),
            "attention without a causal mask, a bidirectional network, or a normalisation over time",
        )
    }))
}

/// Whether rows predict the symbol after them, and the start and the end are right.
fn places(model: &mut dyn Conversation) -> Result<Vec<(&'static str, Finding)>, Failure> {
    let strings: Vec<Vec<u32>> = (1..=4).map(|n| [vec![0], rounds(n)].concat()).collect();
    let all = rows(model, &strings.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
    // After these symbols, one symbol is certain.
    let certain = |symbol: u32| symbol != 3;
    let (mut here, mut before, mut later) = (Share::default(), Share::default(), Share::default());
    let (mut start, mut doubled, mut end) = (Share::default(), Share::default(), Share::default());
    for (string, rows) in strings.iter().zip(&all) {
        let best = |t: usize| argmax(&rows[t]);
        // The start and the end are looked at by themselves.
        for t in 1..string.len() - 1 {
            if certain(string[t]) {
                here.add(best(t) == string[t + 1]);
            }
            if certain(string[t - 1]) {
                before.add(best(t) == string[t]);
            }
            if t + 2 < string.len() && certain(string[t + 1]) && certain(string[t]) {
                later.add(best(t) == string[t + 2]);
            }
        }
        start.add(best(0) == string[1]);
        doubled.add(rows[0][0] > EXPECTED);
        end.add(best(string.len() - 1) == 0);
    }
    let unlearned = "it did not learn the doctor's task (strings a b c a b c … d), in which most symbols are certain: train longer, or look at what it is trained on".to_owned();
    if here.value() < LEARNED {
        let shifted = |seen: &str, cause| mistake(seen.to_owned(), cause);
        let finding = if before.value() >= LEARNED {
            shifted(
                "row t predicts symbol t, which was read already, and not the next",
                "targets are the inputs and not the inputs shifted by one; or a row for an extra boundary is at the start",
            )
        } else if later.value() >= LEARNED {
            shifted(
                "row t predicts the symbol after the next",
                "the first row is cut off, or targets are shifted twice (some libraries shift labels themselves)",
            )
        } else {
            Finding::Unknown { why: unlearned }
        };
        return Ok(vec![(SHIFT, finding), (BOUNDARIES, after(SHIFT))]);
    }
    let boundaries = if doubled.value() >= LEARNED {
        mistake(
            "after the boundary at the start it expects another boundary".to_owned(),
            "the boundary is added twice in training: strings of `fit` have theirs already",
        )
    } else if start.value() < LEARNED {
        mistake(
            "the first symbol, which is certain, is not predicted from the boundary at the start".to_owned(),
            "the boundary (id 0) at the start is cut off or masked as padding in training",
        )
    } else if end.value() < LEARNED {
        mistake(
            "the end, which is certain after `d`, is not predicted".to_owned(),
            "the boundary (id 0) at the end is cut off, or masked as padding in the loss",
        )
    } else {
        Finding::Fine
    };
    Ok(vec![(SHIFT, Finding::Fine), (BOUNDARIES, boundaries)])
}

/// How often something was so.
#[derive(Default)]
struct Share {
    yes: usize,
    all: usize,
}

impl Share {
    fn add(&mut self, yes: bool) {
        self.yes += usize::from(yes);
        self.all += 1;
    }

    fn value(&self) -> f64 {
        self.yes as f64 / self.all.max(1) as f64
    }
}

/// The id with the highest value.
fn argmax(row: &[f64]) -> u32 {
    let best = row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    best.map_or(0, |(id, _)| id as u32)
}

fn finite(ask: Ask<'_>, strings: &[Vec<u32>]) -> Result<Finding, Failure> {
    let answers = ask(&strings.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
    let odd = answers.iter().flatten().find(|z| !z.is_finite());
    Ok(odd.map_or(Finding::Fine, |z| {
        mistake(
            format!("the log-odds of a string are {z}"),
            "log of a probability of 0 or 1: return the logit itself",
        )
    }))
}

/// Members begin with `a`, others with `b`: whoever has learned that and answers the other way round has the sign wrong.
fn sign(ask: Ask<'_>, strings: &[Vec<u32>]) -> Result<Finding, Failure> {
    let answers = ask(&strings.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
    let mut right = Share::default();
    for (string, answer) in strings.iter().zip(&answers) {
        right.add((answer[0] >= 0.0) == (string[0] == 1));
    }
    Ok(match right.value() {
        share if share >= LEARNED => Finding::Fine,
        share if share <= 1.0 - LEARNED && answers.iter().any(|z| z[0] < 0.0) => mistake(
            "members have negative log-odds and others positive ones".to_owned(),
            "the class of members is column 0 of the output, or the sign is turned",
        ),
        _ => Finding::Unknown {
            why: "it did not learn the doctor's task (members begin with a, others with b): train longer"
                .to_owned(),
        },
    })
}
