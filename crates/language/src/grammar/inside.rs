//! Inside weights: how likely a nonterminal derives a string of some length, or a given string.
//!
//! Both have the same form. A rule's right-hand side shares out a *size* (a length, or a span of the string)
//! among its items, and items that derive the empty string leave the whole size to one of the others. So at
//! each size the weights of nonterminals depend on each other linearly, through the matrix `M[A][B]` = P(A
//! rewrites to … B … with everything else empty), and w = (I − M)⁻¹ · base, where base counts the ways that
//! split the size properly. Weights are logarithms, so long strings do not underflow.

use super::{Grammar, GrammarRule, Item};
use crate::Symbol;
use crate::automaton::log_sum;

/// What does not depend on the size.
#[derive(Clone, Debug)]
pub(super) struct Inside<'a> {
    grammar: &'a Grammar,
    /// Log-probability that a nonterminal derives the empty string.
    empty: Vec<f64>,
    closure: Vec<Vec<f64>>,
}

/// A tree of weights over sizes: of nonterminals, and of what is left of a rule from a dot on.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    pub(super) nonterminal: Vec<f64>,
    pub(super) suffix: Vec<Vec<f64>>,
}

impl<'a> Inside<'a> {
    pub(super) fn new(grammar: &'a Grammar) -> Self {
        let n = grammar.nonterminals.len();
        let empty = fixed_point(grammar, |item, value| match item {
            Item::Terminal(_) => 0.0,
            Item::Nonterminal(b) => value[b],
        });
        let mut matrix = vec![vec![0.0; n]; n];
        for rule in &grammar.rules {
            for (i, item) in rule.right.iter().enumerate() {
                let Item::Nonterminal(b) = item else { continue };
                let others = rule.right.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, x)| match x {
                    Item::Terminal(_) => 0.0,
                    Item::Nonterminal(c) => empty[*c],
                });
                matrix[rule.left][*b] += rule.probability * others.product::<f64>();
            }
        }
        let closure = invert(&matrix);
        Self { grammar, empty: empty.into_iter().map(libm::log).collect(), closure }
    }

    /// The probability that rewriting ever ends, by nonterminal.
    pub(super) fn termination(grammar: &Grammar) -> Vec<f64> {
        fixed_point(grammar, |item, value| match item {
            Item::Terminal(_) => 1.0,
            Item::Nonterminal(b) => value[b],
        })
    }

    /// The weights of deriving nothing.
    pub(super) fn nothing(&self) -> Weights {
        let suffix = self.grammar.rules.iter().map(|rule| {
            (0..=rule.right.len())
                .map(|dot| rule.right[dot..].iter().map(|x| self.empty_item(*x)).sum())
                .collect()
        });
        Weights { suffix: suffix.collect(), nonterminal: self.empty.clone() }
    }

    fn empty_item(&self, item: Item) -> f64 {
        match item {
            Item::Terminal(_) => f64::NEG_INFINITY,
            Item::Nonterminal(b) => self.empty[b],
        }
    }

    /// The weights at one size greater than nothing. `splits(head, rule, dot)` gives the log-weights of the
    /// ways in which the item at the dot takes a part that is neither nothing nor everything, or is a letter,
    /// and what follows takes the rest.
    pub(super) fn solve(&self, splits: impl Fn(Item, usize, usize) -> f64) -> Weights {
        let rules = &self.grammar.rules;
        let mut base = vec![Vec::new(); self.grammar.nonterminals.len()];
        let mut proper: Vec<Vec<f64>> = Vec::with_capacity(rules.len());
        for (r, rule) in rules.iter().enumerate() {
            let mut weights = vec![f64::NEG_INFINITY; rule.right.len() + 1];
            for dot in (0..rule.right.len()).rev() {
                let split = splits(rule.right[dot], r, dot);
                let passed_on = self.empty_item(rule.right[dot]) + weights[dot + 1];
                weights[dot] = log_sum([split, passed_on].into_iter());
            }
            base[rule.left].push(libm::log(rule.probability) + weights[0]);
            proper.push(weights);
        }
        let base: Vec<f64> = base.iter().map(|terms| log_sum(terms.iter().copied())).collect();
        let nonterminal: Vec<f64> = self
            .closure
            .iter()
            .map(|row| log_sum(row.iter().zip(&base).map(|(u, b)| libm::log(*u) + b)))
            .collect();
        let nothing_after = |rule: &GrammarRule, dot: usize| -> f64 {
            rule.right[dot..].iter().map(|x| self.empty_item(*x)).sum()
        };
        let suffix = rules
            .iter()
            .zip(proper)
            .map(|(rule, proper)| {
                // Add the ways in which one nonterminal takes everything.
                let mut total = vec![f64::NEG_INFINITY; rule.right.len() + 1];
                let mut whole = f64::NEG_INFINITY;
                for dot in (0..rule.right.len()).rev() {
                    let here = match rule.right[dot] {
                        Item::Terminal(_) => f64::NEG_INFINITY,
                        Item::Nonterminal(b) => nonterminal[b] + nothing_after(rule, dot + 1),
                    };
                    whole = log_sum([here, self.empty_item(rule.right[dot]) + whole].into_iter());
                    total[dot] = log_sum([proper[dot], whole].into_iter());
                }
                total
            })
            .collect();
        Weights { nonterminal, suffix }
    }

    /// Weights for all lengths up to `max`.
    pub(super) fn lengths(&self, max: usize) -> Vec<Weights> {
        let mut table = vec![self.nothing()];
        for n in 1..=max {
            let at = &table;
            let weights = self.solve(|item, rule, dot| match item {
                Item::Terminal(_) => at[n - 1].suffix[rule][dot + 1],
                Item::Nonterminal(b) => {
                    log_sum((1..n).map(|k| at[k].nonterminal[b] + at[n - k].suffix[rule][dot + 1]))
                }
            });
            table.push(weights);
        }
        table
    }

    /// The log-probability that the start symbol derives exactly this string.
    pub(super) fn string(&self, word: &[Symbol]) -> f64 {
        let n = word.len();
        let nothing = self.nothing();
        if n == 0 {
            return nothing.nonterminal[0];
        }
        // spans[i][l - 1]: the weights of word[i..i + l].
        let mut spans: Vec<Vec<Weights>> = vec![Vec::new(); n];
        for length in 1..=n {
            for i in 0..=n - length {
                let weights = self.solve(|item, rule, dot| match item {
                    Item::Terminal(a) if a != word[i] => f64::NEG_INFINITY,
                    Item::Terminal(_) if length == 1 => nothing.suffix[rule][dot + 1],
                    Item::Terminal(_) => spans[i + 1][length - 2].suffix[rule][dot + 1],
                    Item::Nonterminal(b) => log_sum((1..length).map(|k| {
                        spans[i][k - 1].nonterminal[b] + spans[i + k][length - k - 1].suffix[rule][dot + 1]
                    })),
                });
                spans[i].push(weights);
            }
        }
        spans[0][n - 1].nonterminal[0]
    }
}

/// The least solution of `value[A]` = Σ P(rule) Π of(item), by iteration from zero.
fn fixed_point(grammar: &Grammar, of: impl Fn(Item, &[f64]) -> f64) -> Vec<f64> {
    let mut value = vec![0.0; grammar.nonterminals.len()];
    // Near criticality (one rewriting makes one more on average) the error only falls like 1/rounds: there
    // must be an end.
    for _ in 0..100_000 {
        let mut next = vec![0.0; value.len()];
        for rule in &grammar.rules {
            next[rule.left] += rule.probability * rule.right.iter().map(|x| of(*x, &value)).product::<f64>();
        }
        let change = value.iter().zip(&next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        value = next;
        if change < 1e-16 {
            break;
        }
    }
    value
}

/// (I − M)⁻¹ by Gauss–Jordan elimination with pivoting. M's entries are those of a grammar without
/// useless symbols whose rewriting to the same size ends with probability one, so the inverse exists and
/// has no negative entry.
fn invert(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let unit = |i: usize, j: usize| f64::from(u8::from(i == j));
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let left = (0..n).map(|j| unit(i, j) - matrix[i][j]);
            left.chain((0..n).map(|j| unit(i, j))).collect()
        })
        .collect();
    for column in 0..n {
        let pivot = (column..n).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()));
        rows.swap(column, pivot.unwrap_or(column));
        let scale = rows[column][column];
        rows[column].iter_mut().for_each(|x| *x /= scale);
        let pivot_row = rows[column].clone();
        for (i, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != column) {
            debug_assert_ne!(i, column);
            let factor = row[column];
            row.iter_mut().zip(&pivot_row).for_each(|(x, p)| *x -= factor * p);
        }
    }
    // Rounding can leave −1e-17 for zero, whose logarithm is NaN.
    rows.into_iter().map(|row| row[n..].iter().map(|x| x.max(0.0)).collect()).collect()
}
