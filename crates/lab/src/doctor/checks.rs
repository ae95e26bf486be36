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
const ORDER: &str = "answers in the order of the strings";
const PADDING: &str = "no padding in answers";
const CAUSAL: &str = "the future does not change the present";
const COLUMNS: &str = "columns are in their place";
const SHIFT: &str = "rows are in their place";
const BOUNDARIES: &str = "the start and the end are read and predicted";
const FINITE: &str = "log-odds are finite";
const SIGN: &str = "members have positive log-odds and others negative ones";

pub(super) fn mistake(seen: String, cause: &'static str) -> Finding {
    Finding::Mistake { seen, cause }
}

/// The largest difference between answers.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let pairs = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    // What is not a number differs from everything.
    pairs.fold(0.0, |most, d| if d.is_nan() || d > most { d } else { most })
}

pub(super) fn differs(a: &[f64], b: &[f64]) -> Option<f64> {
    let most = difference(a, b);
    // Relative above 1 and absolute below: logits may be large, and small probabilities differ by rounding.
    let scale = a.iter().chain(b).fold(1.0_f64, |scale, x| scale.max(x.abs()));
    (most.is_nan() || most > SAME * scale).then_some(most)
}

pub(super) fn next_symbol(model: &mut dyn Conversation) -> Result<Vec<Check>, LabError> {
    let mut findings = vec![(NORMALISED, normalised(model)?)];
    let mut ask = |strings: &[&[u32]]| -> Result<Vec<Vec<f64>>, Failure> {
        Ok(rows(model, strings)?.into_iter().map(|rows| rows.concat()).collect())
    };
    let with_start = |string: Vec<u32>| [vec![0], string].concat();
    let string = |n: usize| with_start(rounds(n));
    let strings = [string(2), with_start(turned(5)), string(9)];
    let same = consistent(&mut ask, &string(3), &strings)?;
    // What follows a string, and padding beside it, are told apart only if padding does no harm.
    let harmed = same.iter().find(|(name, found)| [AGAIN, PADDING].contains(name) && *found != Finding::Fine);
    let harmed = harmed.map(|(name, _)| *name);
    findings.extend(same);
    findings.push((CAUSAL, harmed.map_or_else(|| causal(&mut ask, &string(4)), |name| Ok(after(name)))?));
    findings.extend(places(model)?);
    Ok(named("next-symbol", findings))
}

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
    let mut findings = vec![(FINITE, finite(&mut ask, &[member(1), other(1), member(4), other(4)])?)];
    findings.extend(consistent(&mut ask, &member(3), &[member(2), other(5), other(9)])?);
    let strings: Vec<Vec<u32>> = (1..=4).flat_map(|n| [member(n), other(n)]).collect();
    findings.push((SIGN, sign(&mut ask, &strings)?));
    Ok(named("recognizer", findings))
}

/// The checks that every role has: the same answers whenever, and beside whatever, a string is asked about. `strings` are of
/// different lengths, ascending.
pub(super) fn consistent(
    ask: Ask<'_>,
    string: &[u32],
    strings: &[Vec<u32>],
) -> Result<Vec<(&'static str, Finding)>, Failure> {
    let again = again(ask, string)?;
    // A model that never answers the same twice would fail every comparison.
    if again != Finding::Fine {
        let rest = [BATCH, ORDER, PADDING].map(|name| (name, after(AGAIN)));
        return Ok([(AGAIN, again)].into_iter().chain(rest).collect());
    }
    let batch = batch(ask, string)?;
    let [order, padding] =
        if batch == Finding::Fine { mixed(ask, strings)? } else { [after(BATCH), after(BATCH)] };
    Ok(vec![(AGAIN, again), (BATCH, batch), (ORDER, order), (PADDING, padding)])
}

pub(super) fn named(role: &'static str, findings: Vec<(&'static str, Finding)>) -> Vec<Check> {
    findings.into_iter().map(|(name, finding)| Check { name, role, finding }).collect()
}

pub(super) fn after(first: &str) -> Finding {
    Finding::Unknown { why: format!("can be checked once this is right: {first}") }
}

/// A string of so many rounds with other symbols, so that it has other answers.
fn turned(n: usize) -> Vec<u32> {
    rounds(n).into_iter().map(|symbol| 1 + symbol % 4).collect()
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

/// How many others a string is asked about with: some models are right in small batches only.
const OTHERS: [usize; 2] = [6, 99];

/// A string among others of the same length: nothing is padded.
fn batch(ask: Ask<'_>, string: &[u32]) -> Result<Finding, Failure> {
    let alone = ask(&[string])?;
    for n in OTHERS {
        let others: Vec<Vec<u32>> = (0..n).map(|i| changed(string, i)).collect();
        let strings: Vec<&[u32]> = others.iter().map(Vec::as_slice).chain([string]).collect();
        let together = ask(&strings)?;
        if let Some(by) = differs(&alone[0], &together[n]) {
            return Ok(mistake(
                format!(
                    "a string among {n} others of its length has answers that differ by {by:.4} from those it has alone"
                ),
                "strings of a batch are mixed: batch normalisation in training mode, a reshape of (batch, time) that should be a transpose, or a state that is shared",
            ));
        }
    }
    Ok(Finding::Fine)
}

/// Strings of different lengths, in both orders: whether answers are those of their strings, and whether a model that pads reads
/// the padding.
fn mixed(ask: Ask<'_>, ascending: &[Vec<u32>]) -> Result<[Finding; 2], Failure> {
    let descending: Vec<Vec<u32>> = ascending.iter().rev().cloned().collect();
    // Both orders: a batch that is sorted by length, to be packed, is in its order already in one of them.
    for strings in [ascending, &descending] {
        let strings: Vec<&[u32]> = strings.iter().map(Vec::as_slice).collect();
        let together = ask(&strings)?;
        let mut alone = Vec::with_capacity(strings.len());
        for string in &strings {
            alone.push(ask(&[string])?.remove(0));
        }
        let wrong = alone.iter().zip(&together).find_map(|(alone, together)| differs(alone, together));
        let Some(by) = wrong else { continue };
        if permuted(&alone, &together) {
            let seen = "in a batch of different lengths, strings have the answers of others".to_owned();
            let cause =
                "the batch is sorted by length (to be packed) and the answers are not put back in its order";
            return Ok([mistake(seen, cause), after(ORDER)]);
        }
        let seen = format!(
            "a string beside a longer one has answers that differ by {by:.4} from those it has alone"
        );
        let cause = "the padding is read: mask it, take the last state of each string by its length, or pack the batch";
        return Ok([Finding::Fine, mistake(seen, cause)]);
    }
    Ok([Finding::Fine, Finding::Fine])
}

/// Whether answers are those of the strings in another order, as far as they can be compared: answers have different lengths.
fn permuted(alone: &[Vec<f64>], together: &[Vec<f64>]) -> bool {
    let alike = |a: &[f64], b: &[f64]| {
        let n = a.len().min(b.len());
        differs(&a[..n], &b[..n]).is_none()
    };
    let mut left: Vec<&Vec<f64>> = alone.iter().collect();
    together.iter().all(|answer| {
        let from = left.iter().position(|own| alike(own, answer));
        // Each string once: two equal answers must not match the same one.
        from.map(|at| left.swap_remove(at)).is_some()
    })
}

/// Other or more symbols at the end must not change what was predicted before them.
fn causal(ask: Ask<'_>, string: &[u32]) -> Result<Finding, Failure> {
    let keep = string.len() / 2;
    let mut other = string.to_vec();
    other[keep..].iter_mut().for_each(|symbol| *symbol = 1 + *symbol % 4);
    let (a, b) = (ask(&[string])?, ask(&[&other])?);
    let v = a[0].len() / string.len();
    if let Some(by) = differs(&a[0][..keep * v], &b[0][..keep * v]) {
        return Ok(mistake(
            format!("other symbols from position {keep} on change what is predicted before it, by {by:.4}"),
            "attention without a causal mask, a bidirectional network, or a normalisation over time",
        ));
    }
    let begun = ask(&[&string[..keep]])?;
    Ok(differs(&a[0][..keep * v], &begun[0]).map_or(Finding::Fine, |by| {
        mistake(
            format!("more symbols after position {keep} change what is predicted before it, by {by:.4}"),
            "the model knows where the string ends: positions counted from the end, the length as an input, or an end symbol that is added to what is read",
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
    let (mut column_before, mut rotated) = (Share::default(), Share::default());
    for (string, rows) in strings.iter().zip(&all) {
        let best = |t: usize| argmax(&rows[t]);
        // The start and the end are looked at by themselves.
        for t in 1..string.len() - 1 {
            if certain(string[t]) {
                here.add(best(t) == string[t + 1]);
                column_before.add(best(t) + 1 == string[t + 1]);
            }
            if certain(string[t - 1]) {
                before.add(best(t) == string[t]);
            }
            if t + 2 < string.len() && certain(string[t + 1]) && certain(string[t]) {
                later.add(best(t) == string[t + 2]);
            }
        }
        // After the first `c`, `a` comes most often. Where one symbol is certain, its column less one is that of the symbol that was
        // read: only here can columns that are rotated be told from rows that are shifted.
        rotated.add(best(3) == 0);
        start.add(best(0) == string[1]);
        doubled.add(rows[0][0] > EXPECTED);
        end.add(best(string.len() - 1) == 0);
    }
    let unlearned = "it did not learn the doctor's task (strings a b c a b c … d), in which most symbols are certain: train longer, or look at what it is trained on".to_owned();
    // Columns before rows: rotated columns look like shifted rows too.
    if here.value() < LEARNED {
        let shifted = |seen: &str, cause| mistake(seen.to_owned(), cause);
        if column_before.value() >= LEARNED && rotated.value() >= LEARNED {
            let seen = "the end of the string has the last column, and every symbol that before its own";
            let cause = "the end has column 0, the symbols those from 1 on; torch.roll(probs, 1, dims=-1) puts a last column first";
            return Ok(vec![
                (COLUMNS, shifted(seen, cause)),
                (SHIFT, after(COLUMNS)),
                (BOUNDARIES, after(COLUMNS)),
            ]);
        }
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
        return Ok(vec![(COLUMNS, after(SHIFT)), (SHIFT, finding), (BOUNDARIES, after(SHIFT))]);
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
    Ok(vec![(COLUMNS, Finding::Fine), (SHIFT, Finding::Fine), (BOUNDARIES, boundaries)])
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

/// Members begin with `a`, others with `b`: whoever has learned that and has the sign or the scale wrong shows it here.
fn sign(ask: Ask<'_>, strings: &[Vec<u32>]) -> Result<Finding, Failure> {
    let answers = ask(&strings.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
    let all: Vec<f64> = answers.iter().map(|answer| answer[0]).collect();
    // The share that is right if members are those from a threshold on.
    let right = |threshold: f64| {
        let mut right = Share::default();
        strings.iter().zip(&all).for_each(|(string, z)| right.add((*z >= threshold) == (string[0] == 1)));
        right.value()
    };
    let cause = "the model ends with a sigmoid or a softmax: return the logit, log(p / (1 - p))";
    Ok(match right(0.0) {
        share if share >= LEARNED => Finding::Fine,
        share if share <= 1.0 - LEARNED && all.iter().any(|z| *z < 0.0) => mistake(
            "members have negative log-odds and others positive ones".to_owned(),
            "the class of members is column 0 of the output, or the sign is turned",
        ),
        _ if all.iter().all(|p| (0.0..=1.0).contains(p)) && right(0.5) >= LEARNED => mistake(
            "answers are from 0 to 1, and 0.5 separates members from others: probabilities".to_owned(),
            cause,
        ),
        _ if all.iter().all(|p| *p <= 0.0) && right(-std::f64::consts::LN_2) >= LEARNED => {
            let seen =
                "answers are never positive, and log(0.5) separates members from others: log-probabilities";
            mistake(seen.to_owned(), cause)
        }
        _ => Finding::Unknown {
            why: "it did not learn the doctor's task (members begin with a, others with b): train longer"
                .to_owned(),
        },
    })
}
