//! The objective: |G| + |D:G|, the bits of a network and of the data given the network.

use super::network::MdlNetwork;
use super::program::NetworkProgram;
use super::step::{Float, Outputs, UnitValues};

/// A distinct sequence of the corpus, and how often it occurs.
#[derive(Clone, Debug, PartialEq)]
pub struct CorpusSequence {
    /// The values of the inputs at each step, `[T,I]`.
    pub inputs: Vec<f64>,
    /// At each step, the output that is right; with a single output, 1 or 0.
    pub targets: Vec<u16>,
    /// How often it occurs.
    pub weight: f64,
}

impl CorpusSequence {
    /// A string between boundaries: each symbol but the last is an input, one of `vocabulary`; each but the first is a target.
    pub fn of_symbols(symbols: &[u32], vocabulary: usize, weight: f64) -> Self {
        let steps = symbols.len().saturating_sub(1);
        let mut inputs = vec![0.0; steps * vocabulary];
        for (row, &symbol) in inputs.chunks_mut(vocabulary).zip(symbols) {
            row[symbol as usize] = 1.0;
        }
        Self { inputs, targets: symbols.iter().skip(1).map(|&symbol| symbol as u16).collect(), weight }
    }
}

/// How networks are scored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MdlObjective {
    /// How many activations a network could have had.
    pub allowed: usize,
    /// How outputs become probabilities.
    pub outputs: Outputs,
    /// What |G| is multiplied by.
    pub grammar_multiplier: f64,
    /// What |D:G| is multiplied by.
    pub data_multiplier: f64,
    /// Whether the first steps are rejected as the released code does: if the value of a target is not positive while another
    /// is. This changes nothing unless all values are tiny; with [`Outputs::Softmax`] it wrongly rejects networks.
    pub early_rejection: bool,
}

impl MdlObjective {
    /// Both parts count once; outputs are normalized; nothing is rejected early.
    pub fn new(allowed: usize) -> Self {
        Self {
            allowed,
            outputs: Outputs::Normalized,
            grammar_multiplier: 1.0,
            data_multiplier: 1.0,
            early_rejection: false,
        }
    }
}

/// The score of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkScore {
    pub grammar_bits: f64,
    /// |D:G|; infinite if a target has no probability.
    pub data_bits: f64,
    /// The share of steps at which the most probable output is right, over distinct sequences; 0 if |D:G| is infinite.
    pub accuracy: f64,
}

impl NetworkScore {
    pub fn total(self) -> f64 {
        self.grammar_bits + self.data_bits
    }
}

/// Scores a network on a corpus in double precision.
///
/// # Panics
/// If a sequence has not as many inputs per step as the network, or a target is no output.
pub fn score(network: &MdlNetwork, corpus: &[CorpusSequence], objective: &MdlObjective) -> NetworkScore {
    score_in::<f64>(network, corpus, objective)
}

/// The same in any precision.
pub fn score_in<R: Float>(
    network: &MdlNetwork,
    corpus: &[CorpusSequence],
    objective: &MdlObjective,
) -> NetworkScore {
    let grammar_bits = f64::from(network.grammar_bits(objective.allowed)) * objective.grammar_multiplier;
    let (bits, accuracy) =
        data::<R>(&NetworkProgram::of(network), corpus, objective).unwrap_or((f64::INFINITY, 0.0));
    NetworkScore { grammar_bits, data_bits: bits * objective.data_multiplier, accuracy }
}

/// The bits of a corpus, and the accuracy; none if a target has no probability.
fn data<R: Float>(
    program: &NetworkProgram,
    corpus: &[CorpusSequence],
    objective: &MdlObjective,
) -> Option<(f64, f64)> {
    let longest = corpus.iter().map(|sequence| sequence.targets.len()).max().unwrap_or(0);
    let early = if objective.early_rejection { ceil_log2(longest) } else { 0 };
    let (mut bits, mut correct, mut steps) = (0.0, 0_usize, 0_usize);
    // Distinct strings once, by their weight. This is the definition; `evaluate` computes the same in lanes,
    // with shared prefixes.
    for sequence in corpus {
        let mut values = UnitValues::<R>::new(program);
        let mut own = 0.0;
        for (t, (inputs, &target)) in
            sequence.inputs.chunks(program.inputs).zip(&sequence.targets).enumerate()
        {
            let inputs: Vec<R> = inputs.iter().map(|&x| R::of(x)).collect();
            let mut row: Vec<f64> = values.step(program, &inputs).iter().map(|x| x.wide()).collect();
            if t < early && is_rejected(&row, target) {
                return None;
            }
            objective.outputs.probabilities(&mut row);
            let (probability, is_correct) = of_target(&row, target);
            // Not a number is no probability either.
            if probability.is_nan() || probability == 0.0 {
                return None;
            }
            own -= libm::log2(probability);
            correct += usize::from(is_correct);
            steps += 1;
        }
        bits += own * sequence.weight;
    }
    Some((bits, if steps == 0 { 0.0 } else { correct as f64 / steps as f64 }))
}

/// The probability of the target, and whether it is the most probable output (the first of equals).
fn of_target(row: &[f64], target: u16) -> (f64, bool) {
    if let [one] = *row {
        return if target == 1 { (one, one > 0.5) } else { (1.0 - one, one <= 0.5) };
    }
    let best = (1..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best });
    (row[usize::from(target)], best == usize::from(target))
}

/// Whether the released code stops at these outputs.
pub(super) fn is_rejected(row: &[f64], target: u16) -> bool {
    match *row {
        [one] => (if target == 1 { one } else { 1.0 - one }) == 0.0,
        _ => row[usize::from(target)] <= 0.0 && row.iter().any(|&x| x > 0.0),
    }
}

/// ⌈log₂ n⌉, 0 for 0.
pub(super) fn ceil_log2(n: usize) -> usize {
    n.next_power_of_two().trailing_zeros() as usize
}
