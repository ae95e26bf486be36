//! Up to where a network is correct, shown by exact arithmetic.
//!
//! Languages that count: every string up to a bound n (and m) is read, but a state with the same symbols still to come is read on
//! only once. After aⁿb a network that counts is in the state that it was in after aⁿ⁻¹, so the work grows with n, not with
//! its square. Brackets: every pair of a stack and a state that can be reached is checked once, which covers strings of
//! any length up to the depth.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use wug_learner::mdl::{ExactMemory, ExactNetwork, ExactOutput, ExactRatio, Inexact, MdlNetwork, normalized};

use super::corpus::fits;
use crate::LabError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// What was checked, in words.
    pub claim: String,
    /// What the bound is of: n, n and m, or the depth of brackets. All count from 1.
    pub bound_of: &'static str,
    /// Up to where it holds: all of what was asked for, or less; 0 if nothing was shown.
    pub holds_up_to: usize,
    /// What was asked for.
    pub asked: usize,
    /// Why it ends before.
    pub failure: Option<String>,
    /// How many steps were made.
    pub steps: usize,
}

/// The most states that are remembered.
const MAX_STATES: usize = 4_000_000;

/// How strings of a language look.
enum Family {
    /// Runs of the symbols 1, 2, … of equal length.
    Runs(usize),
    Sum,
    /// Brackets of so many kinds: 1 and 2, 3 and 4, …
    Brackets(usize),
}

fn family(language: &str) -> Option<Family> {
    match language {
        "an-bn" => Some(Family::Runs(2)),
        "an-bn-cn" => Some(Family::Runs(3)),
        "an-bn-cn-dn" => Some(Family::Runs(4)),
        "an-bm-cn-plus-m" => Some(Family::Sum),
        "dyck-1" => Some(Family::Brackets(1)),
        "dyck-2" => Some(Family::Brackets(2)),
        _ => None,
    }
}

/// The languages of which there is a check.
pub const CERTIFIABLE: [&str; 6] =
    ["an-bn", "an-bn-cn", "an-bn-cn-dn", "an-bm-cn-plus-m", "dyck-1", "dyck-2"];

/// What is checked of languages that count, from the first of a symbol on: the steps that the released masks score. That a string
/// begins with an `a` is not among them.
fn counting_claim(first: &str) -> String {
    format!(
        "with normalized outputs, in every string, after each symbol from the first `{first}` on (the steps that the released masks score), the one symbol that can follow is the most probable, the first of equals counting"
    )
}

/// Checks a network on every string of a language up to a bound. Languages that count: from the first `b` on (`c` in
/// aⁿbᵐcⁿ⁺ᵐ), the one symbol that can follow is the most probable. Brackets: exactly the symbols that can follow have a
/// probability. Outputs are normalized ones.
pub fn certify(network: &MdlNetwork, language: &str, up_to: usize) -> Result<Certificate, LabError> {
    let family = family(language).ok_or_else(|| {
        LabError::Usage(format!("no exact check of `{language}`; there is one of {}", CERTIFIABLE.join(", ")))
    })?;
    let vocabulary = 1 + match family {
        Family::Runs(k) => k,
        Family::Sum => 3,
        Family::Brackets(k) => 2 * k,
    };
    fits(network, vocabulary, language)?;
    let exact = ExactNetwork::new(network).map_err(LabError::usage)?;
    let mut check = Check { exact, steps: 0, known: BTreeSet::new() };
    let (claim, bound_of, result) = match family {
        Family::Runs(k) => (counting_claim("b"), "n", check.runs(k, up_to)),
        Family::Sum => (counting_claim("c"), "n and m", check.sums(up_to)),
        Family::Brackets(k) => (
            "with normalized outputs, after every prefix of a string of any length, exactly the symbols that can follow have a probability above 0".to_owned(),
            "depth",
            check.brackets(k, up_to),
        ),
    };
    let (holds_up_to, failure) = match result {
        Ok(()) => (up_to, None),
        Err(Stop { at, why }) => (at.saturating_sub(1), Some(why)),
    };
    Ok(Certificate { claim, bound_of, holds_up_to, asked: up_to, failure, steps: check.steps })
}

/// Where a check ended: at this bound, something is wrong or was not tried.
struct Stop {
    at: usize,
    why: String,
}

type Known = BTreeSet<(Vec<usize>, Vec<ExactRatio>)>;

struct Check {
    exact: ExactNetwork,
    steps: usize,
    /// What is still to come, and the memory: the rest is known to be correct.
    known: Known,
}

impl Check {
    fn step(
        &mut self,
        memory: &ExactMemory,
        symbol: usize,
        at: usize,
    ) -> Result<(ExactMemory, Vec<ExactOutput>), Stop> {
        self.steps += 1;
        let stop = |error: Inexact| Stop { at, why: error.to_string() };
        let (memory, outputs) = self.exact.step(memory, symbol).map_err(stop)?;
        Ok((memory, normalized(outputs).map_err(stop)?))
    }

    /// aⁿbⁿ…: the state after each aⁿ, and what follows.
    fn runs(&mut self, k: usize, up_to: usize) -> Result<(), Stop> {
        let (mut memory, _) = self.step(&None, 0, 1)?;
        for n in 1..=up_to {
            (memory, _) = self.step(&memory, 1, n)?;
            // Symbol 1 was read n times; each later one is to come n times.
            let rest: Vec<usize> = (0..=k).map(|i| if i >= 2 { n } else { 0 }).collect();
            self.rest(memory.clone(), rest, n, &format!("n = {n}"))?;
        }
        Ok(())
    }

    /// aⁿbᵐcⁿ⁺ᵐ, by the greater of n and m: the bound is raised when all pairs within it were tried.
    fn sums(&mut self, up_to: usize) -> Result<(), Stop> {
        let (mut after_a, _) = self.step(&None, 0, 1)?;
        // The memory after aⁿ and the b's so far, for n from 1 on.
        let mut reached: Vec<ExactMemory> = Vec::new();
        for k in 1..=up_to {
            // First every smaller n with m = k, then n = k with every m: after that, all pairs up to k were tried.
            for (n, memory) in (1..).zip(&mut reached) {
                self.sum(memory, n, k)?;
            }
            (after_a, _) = self.step(&after_a, 1, k)?;
            let mut memory = after_a.clone();
            for m in 1..=k {
                self.sum(&mut memory, k, m)?;
            }
            reached.push(memory);
        }
        Ok(())
    }

    /// Reads the last b of aⁿbᵐ, and checks what follows.
    fn sum(&mut self, memory: &mut ExactMemory, n: usize, m: usize) -> Result<(), Stop> {
        let at = n.max(m);
        *memory = self.step(memory, 2, at)?.0;
        self.rest(memory.clone(), vec![0, 0, 0, n + m], at, &format!("n = {n}, m = {m}"))
    }

    /// Reads what must come: so many of each symbol, in order. After each, the next one must be the most probable.
    fn rest(
        &mut self,
        mut memory: ExactMemory,
        mut rest: Vec<usize>,
        at: usize,
        string: &str,
    ) -> Result<(), Stop> {
        let mut path = Vec::new();
        while let Some(symbol) = rest.iter().position(|&count| count > 0) {
            let key = (rest.clone(), memory.clone().unwrap_or_default());
            if self.known.contains(&key) {
                break;
            }
            path.push(key);
            rest[symbol] -= 1;
            let (next, outputs) = self.step(&memory, symbol, at)?;
            memory = next;
            let due = rest.iter().position(|&count| count > 0).unwrap_or(0);
            if !is_most_probable(&outputs, due) {
                let left: usize = rest.iter().sum();
                return Err(Stop {
                    at,
                    why: format!(
                        "{string}: the prediction is wrong, or not certain, with {left} symbols to come"
                    ),
                });
            }
        }
        // Only now that the whole rest was read: a path that ends in an error is not known to be correct.
        self.known.extend(path);
        if self.known.len() > MAX_STATES {
            // Other strings with this bound may not have been tried yet.
            return Err(Stop { at, why: format!("more than {MAX_STATES} states") });
        }
        Ok(())
    }

    /// Every stack with every state that it can be reached in.
    fn brackets(&mut self, kinds: usize, up_to: usize) -> Result<(), Stop> {
        let (memory, outputs) = self.step(&None, 0, 1)?;
        check_brackets(&outputs, kinds, &[], 0)?;
        let mut level = vec![(Vec::new(), memory)];
        self.known.insert((Vec::new(), level[0].1.clone().unwrap_or_default()));
        // Breadth first by the greatest depth so far: what is reached without going deeper belongs to the same depth.
        for depth in 1..=up_to {
            let mut queue = level;
            let mut deeper = Vec::new();
            while let Some((stack, memory)) = queue.pop() {
                let opens = (0..kinds).map(|kind| (2 * kind + 1, Some(kind)));
                let close = stack.last().map(|kind| (2 * kind + 2, None));
                for (symbol, opened) in opens.chain(close) {
                    let mut next = stack.clone();
                    match opened {
                        Some(_) if stack.len() >= depth => {
                            deeper.push((stack.clone(), memory.clone()));
                            continue;
                        }
                        Some(kind) => next.push(kind),
                        None => drop(next.pop()),
                    }
                    let (after, outputs) = self.step(&memory, symbol, depth)?;
                    check_brackets(&outputs, kinds, &next, depth)?;
                    if self.known.insert((next.clone(), after.clone().unwrap_or_default())) {
                        queue.push((next, after));
                    }
                    if self.known.len() > MAX_STATES {
                        return Err(Stop { at: depth, why: format!("more than {MAX_STATES} states") });
                    }
                }
            }
            // A stack is put there once for each kind of bracket; these entries follow each other.
            deeper.dedup();
            level = deeper;
        }
        Ok(())
    }
}

/// Whether an output is the most probable: the first of equals counts.
fn is_most_probable(outputs: &[ExactOutput], due: usize) -> bool {
    outputs.iter().enumerate().all(|(i, other)| {
        let order = outputs[due].compare(*other);
        match i.cmp(&due) {
            Ordering::Less => order == Some(Ordering::Greater),
            Ordering::Equal => true,
            Ordering::Greater => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    })
}

/// Opening brackets, the one that closes the last, or the end.
fn check_brackets(outputs: &[ExactOutput], kinds: usize, stack: &[usize], depth: usize) -> Result<(), Stop> {
    let valid = |symbol: usize| match (symbol, stack.last()) {
        (0, last) => last.is_none(),
        (symbol, _) if symbol % 2 == 1 => symbol <= 2 * kinds,
        (symbol, last) => last == Some(&(symbol / 2 - 1)),
    };
    let wrong = (0..outputs.len()).find(|&symbol| outputs[symbol].is_positive() != valid(symbol));
    match wrong {
        None => Ok(()),
        Some(symbol) => Err(Stop {
            at: depth,
            why: format!(
                "with {} brackets open, symbol {symbol} has a probability where it should not, or none where it should",
                stack.len()
            ),
        }),
    }
}

#[cfg(test)]
#[path = "certify_tests.rs"]
mod tests;
