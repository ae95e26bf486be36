//! What a learner is marked for, at each margin, and how well it has learned its own training strings.

use serde_json::{Value, json};
use wug_dataset::Labelled;
use wug_language::{Alphabet, Symbol, Word};
use wug_learner::interface::NextSymbol;
use wug_score::metric::{
    CATEGORICAL_ACCEPTANCE, CATEGORICAL_ACCURACY, DETERMINISTIC_ACCEPTANCE, DETERMINISTIC_ACCURACY,
    LANGUAGE_MODELING_SYMBOL_CROSS_ENTROPY, LANGUAGE_MODELING_SYMBOL_EXCESS,
    LANGUAGE_MODELING_SYMBOL_EXCESS_OF_CHANCE, LANGUAGE_MODELING_SYMBOL_OPTIMUM, SOLVED_LENGTH,
};
use wug_score::strata::Margin;
use wug_score::{
    Example, Measurement, Prediction, ScoredString, Stratum, StringSteps, Totals, accepted_strings,
    correct_steps, first_rejected, mean_inverse_length,
};

use super::data::{Data, between_boundaries};
use super::evaluate::{Evaluation, StepScores, Until, evaluate_steps_watched};
use super::plan::{Measure, Plan, TestStart};
use crate::LabError;
use crate::context::RunContext;

/// The name of the split that is marked.
const TEST: &str = "test";

/// The name of the split that was learned from.
const TRAINING: &str = "training";

/// Longer strings are written by their runs.
const WRITTEN_OUT: usize = 200;

/// What is left of marking.
pub(super) struct Evaluated {
    pub(super) scores: Vec<Measurement>,
    /// The first string that is rejected where nothing is forgiven.
    pub(super) hardest: Vec<ScoredString>,
    /// How far marking went.
    pub(super) facts: Value,
}

/// Evaluates a learner on the test strings.
pub(super) fn evaluated<L: NextSymbol>(
    learner: &mut L,
    plan: &Plan,
    data: &Data,
    context: &mut dyn RunContext,
) -> Result<Evaluated, LabError> {
    context.evaluating(TEST);
    let all = marks(learner, plan, data, context)?;
    let mut scores = Vec::new();
    for ((marks, chance), &margin) in all.iter().zip(&data.chance).zip(&plan.margins) {
        let stratum = Stratum::Margin(Margin::new(margin).map_err(|e| LabError::Usage(e.to_string()))?);
        // StepScores that are known for the same strings only can be compared.
        let chance = &chance[..marks.strings.len()];
        scores.extend(at_margin(marks, chance, plan, margin).map(|s| Measurement::new(TEST, stratum, &s)));
    }
    let strictest = all.iter().zip(&plan.margins).min_by(|(_, a), (_, b)| a.total_cmp(b));
    let rejected = strictest.and_then(|(marks, &margin)| {
        data.strings().nth(first_rejected(&marks.strings, plan.measure.rule(margin).forgiven())?)
    });
    let known = all.iter().map(|marks| marks.strings.len()).min().unwrap_or(0);
    let of = data.chance.first().map_or(0, Vec::len);
    let facts = json!({ "strings": known, "of": of, "stopped": all.iter().any(|marks| marks.stopped) });
    let hardest = rejected.map(|word| hard(&word, data.language.alphabet())).into_iter().collect();
    Ok(Evaluated { scores, hardest, facts })
}

/// The marks at each margin.
fn marks<L: NextSymbol>(
    learner: &mut L,
    plan: &Plan,
    data: &Data,
    context: &mut dyn RunContext,
) -> Result<Vec<StepScores>, LabError> {
    let mut mark = |exam: &Evaluation<'_>| {
        let of = plan.test.strings;
        let watch = |done: usize| context.evaluating(&format!("{TEST}, {done} of {of} strings"));
        evaluate_steps_watched(learner, data.strings(), exam, watch)
            .map_err(|error| LabError::Usage(error.to_string()))
    };
    match plan.measure {
        // What is above one margin need not be above another.
        Measure::Categorical => {
            plan.margins.iter().map(|&margin| mark(&data.exam(plan.measure, margin))).collect()
        }
        // A step is right or wrong whatever the margin; it ends when even the widest cannot be met.
        Measure::Deterministic => {
            let widest = plan.margins.iter().copied().fold(0.0, f64::max);
            let exam = data.exam(plan.measure, widest);
            let steps: usize = data.chance.iter().take(1).flatten().map(|string| string.scored).sum();
            let until = Until::MoreErrorsThan((widest * steps as f64) as usize);
            let marks = mark(&Evaluation { until, ..exam })?;
            Ok(vec![marks; plan.margins.len()])
        }
    }
}

/// Accuracy over all steps, accepted strings, and how far strings are solved.
fn at_margin(
    marks: &StepScores,
    chance: &[StringSteps],
    plan: &Plan,
    margin: f64,
) -> impl Iterator<Item = wug_score::Score> {
    let (accuracy, acceptance) = match plan.measure {
        Measure::Deterministic => (&DETERMINISTIC_ACCURACY, &DETERMINISTIC_ACCEPTANCE),
        Measure::Categorical => (&CATEGORICAL_ACCURACY, &CATEGORICAL_ACCEPTANCE),
    };
    let forgiven = plan.measure.rule(margin).forgiven();
    let solved = solved(marks, plan.test.from, forgiven);
    [
        accuracy.measured(correct_steps(&marks.strings), correct_steps(chance).value()),
        acceptance
            .measured(accepted_strings(&marks.strings, forgiven), accepted_strings(chance, forgiven).value()),
        SOLVED_LENGTH.measured(Totals::whole(solved), None),
    ]
    .into_iter()
}

/// How far strings are accepted without exception: their length, or from the first string on their number.
fn solved(marks: &StepScores, from: TestStart, forgiven: f64) -> Option<usize> {
    let solved = first_rejected(&marks.strings, forgiven).unwrap_or(marks.strings.len());
    match from {
        TestStart::First => Some(solved),
        TestStart::Longest => solved.checked_sub(1).map(|last| marks.lengths[last]),
    }
}

fn hard(word: &[Symbol], alphabet: &Alphabet) -> ScoredString {
    let string = if word.len() <= WRITTEN_OUT { alphabet.format(word) } else { runs(word, alphabet) };
    ScoredString {
        split: TEST.to_owned(),
        string,
        label: true,
        edits: None,
        distance: None,
        cross_entropy: None,
    }
}

/// A string by its runs: `a^300 b^300`.
fn runs(word: &[Symbol], alphabet: &Alphabet) -> String {
    let run = |run: &[Symbol]| {
        let token = alphabet.token(run[0]);
        if run.len() == 1 { token.to_owned() } else { format!("{token}^{}", run.len()) }
    };
    word.chunk_by(|a, b| a == b).map(run).collect::<Vec<_>>().join(" ")
}

/// The cross-entropy of the training strings, and how low it can be.
pub(super) fn training_scores<L: NextSymbol>(
    learner: &mut L,
    data: &Data,
    context: &mut dyn RunContext,
) -> Result<Vec<Measurement>, LabError> {
    context.evaluating(TRAINING);
    let Some(natural) = data.language.natural() else { return Ok(Vec::new()) };
    let distinct = data.distinct();
    let said: Vec<(Labelled, Prediction)> = distinct
        .iter()
        .map(|(word, _)| (Labelled::new((*word).clone(), true), says(learner, word)))
        .collect();
    let inverse = mean_inverse_length(data.corpus.iter().map(Vec::len)).unwrap_or(1.0);
    let mut examples = Vec::with_capacity(data.corpus.len());
    for ((truth, prediction), (_, count)) in said.iter().zip(&distinct) {
        let example = Example::new(truth, prediction, data.language.alphabet())
            .map_err(|error| LabError::Usage(error.to_string()))?;
        examples.extend(std::iter::repeat_n(example.drawn_from(natural.as_ref(), inverse), *count));
    }
    let metrics = [
        &LANGUAGE_MODELING_SYMBOL_CROSS_ENTROPY,
        &LANGUAGE_MODELING_SYMBOL_OPTIMUM,
        &LANGUAGE_MODELING_SYMBOL_EXCESS,
        &LANGUAGE_MODELING_SYMBOL_EXCESS_OF_CHANCE,
    ];
    Ok(metrics.map(|m| Measurement::new(TRAINING, Stratum::All, &m.score(&examples))).into())
}

/// The log-probabilities of a string's symbols and of its end, which comes after the boundary that is given.
fn says<L: NextSymbol>(learner: &mut L, word: &Word) -> Prediction {
    let mut log_probs = learner.log_probs(&between_boundaries(word));
    log_probs.remove(0);
    Prediction { log_probs: Some(log_probs), ..Prediction::default() }
}
