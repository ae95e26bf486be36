//! The measurements of a learner: on the test strings at each margin, and on its training strings.

use serde_json::{Value, json};
use wug_dataset::{Labelled, ids};
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

use super::data::Data;
use super::evaluate::{Evaluation, StepScores, Until, evaluate_steps_watched};
use super::{Criterion, GeneralizationPlan, TestStart};
use crate::LabError;
use crate::context::RunContext;
use crate::keep::{Predicted, Predictions};

const TEST: &str = "test";
const TRAINING: &str = "training";

/// Longer strings are written run by run.
const MAX_WRITTEN_OUT: usize = 200;

/// The outcome of the evaluation on the test strings.
pub(super) struct Evaluated {
    pub(super) scores: Vec<Measurement>,
    /// The first string that is rejected at the smallest margin.
    pub(super) hardest: Vec<ScoredString>,
    /// How far the evaluation went.
    pub(super) facts: Value,
}

/// Evaluates a learner on the test strings.
pub(super) fn evaluated<L: NextSymbol>(
    learner: &mut L,
    plan: &GeneralizationPlan,
    data: &Data,
    context: &mut dyn RunContext,
    predictions: &mut Predictions,
) -> Result<Evaluated, LabError> {
    context.evaluating(TEST)?;
    let all = step_scores(learner, plan, data, context)?;
    keep_steps(predictions, &all, plan, data)?;
    let mut scores = Vec::new();
    for ((steps, chance), &margin) in all.iter().zip(&data.chance).zip(&plan.measure.margins) {
        let stratum = Stratum::Margin(Margin::new(margin).map_err(|e| LabError::Usage(e.to_string()))?);
        // Evaluation may have stopped early: chance is that of the same strings.
        let chance = &chance[..steps.strings.len()];
        scores.extend(at_margin(steps, chance, plan, margin).map(|s| Measurement::new(TEST, stratum, &s)));
    }
    let strictest = all.iter().zip(&plan.measure.margins).min_by(|(_, a), (_, b)| a.total_cmp(b));
    let rejected = strictest.and_then(|(steps, &margin)| {
        data.strings().nth(first_rejected(&steps.strings, plan.measure.criterion.rule(margin).forgiven())?)
    });
    let known = all.iter().map(|steps| steps.strings.len()).min().unwrap_or(0);
    let of = data.chance.first().map_or(0, Vec::len);
    let facts = json!({ "strings": known, "of": of, "stopped": all.iter().any(|steps| steps.stopped) });
    let hardest = rejected.map(|word| scored_string(&word, data.language.alphabet())).into_iter().collect();
    Ok(Evaluated { scores, hardest, facts })
}

/// The scores of all steps, at each margin.
fn step_scores<L: NextSymbol>(
    learner: &mut L,
    plan: &GeneralizationPlan,
    data: &Data,
    context: &mut dyn RunContext,
) -> Result<Vec<StepScores>, LabError> {
    let mut evaluate = |evaluation: &Evaluation<'_>| {
        let of = plan.data.test.strings;
        let watch = |done: usize| context.evaluating(&format!("{TEST}, {done} of {of} strings"));
        evaluate_steps_watched(learner, data.strings(), evaluation, watch)
    };
    match plan.measure.criterion {
        // A probability may be above one margin and not above another.
        Criterion::Categorical => plan
            .measure
            .margins
            .iter()
            .map(|&margin| evaluate(&data.evaluation(plan.measure.criterion, margin)))
            .collect(),
        // A step is correct or not whatever the margin. Evaluation stops when even the largest margin is exceeded.
        Criterion::Deterministic => {
            let widest = plan.measure.margins.iter().copied().fold(0.0, f64::max);
            let evaluation = data.evaluation(plan.measure.criterion, widest);
            let steps: usize = data.chance.iter().take(1).flatten().map(|string| string.scored).sum();
            let until = Until::MoreErrorsThan((widest * steps as f64) as usize);
            let scores = evaluate(&Evaluation { until, ..evaluation })?;
            Ok(vec![scores; plan.measure.margins.len()])
        }
    }
}

/// Accuracy over all steps, accepted strings, and how far strings are solved.
fn at_margin(
    steps: &StepScores,
    chance: &[StringSteps],
    plan: &GeneralizationPlan,
    margin: f64,
) -> impl Iterator<Item = wug_score::Score> {
    let (accuracy, acceptance) = match plan.measure.criterion {
        Criterion::Deterministic => (&DETERMINISTIC_ACCURACY, &DETERMINISTIC_ACCEPTANCE),
        Criterion::Categorical => (&CATEGORICAL_ACCURACY, &CATEGORICAL_ACCEPTANCE),
    };
    let forgiven = plan.measure.criterion.rule(margin).forgiven();
    let solved = solved(steps, plan.data.test.from, forgiven);
    [
        accuracy.measured(correct_steps(&steps.strings), correct_steps(chance).value()),
        acceptance
            .measured(accepted_strings(&steps.strings, forgiven), accepted_strings(chance, forgiven).value()),
        SOLVED_LENGTH.measured(Totals::whole(solved), None),
    ]
    .into_iter()
}

/// Up to where all strings are accepted: the length of the last of them or, if the test begins with the first string, their number.
fn solved(steps: &StepScores, from: TestStart, forgiven: f64) -> Option<usize> {
    let solved = first_rejected(&steps.strings, forgiven).unwrap_or(steps.strings.len());
    match from {
        TestStart::First => Some(solved),
        TestStart::Longest => solved.checked_sub(1).map(|last| steps.lengths[last]),
    }
}

/// Keeps the steps of every test string at each margin, if predictions are wanted. Their probabilities would be many millions,
/// most of which were never computed.
fn keep_steps(
    predictions: &mut Predictions,
    all: &[StepScores],
    plan: &GeneralizationPlan,
    data: &Data,
) -> Result<(), LabError> {
    if !predictions.wanted() {
        return Ok(());
    }
    for (scores, &margin) in all.iter().zip(&plan.measure.margins) {
        for (word, steps) in data.strings().zip(&scores.strings) {
            predictions.add(&Predicted {
                split: TEST,
                string: written(&word, data.language.alphabet()),
                length: word.len(),
                margin: Some(margin),
                steps: Some((steps.scored, steps.correct)),
                ..Predicted::default()
            })?;
        }
    }
    Ok(())
}

/// A string as it is written: in full, or by its runs if it is long.
fn written(word: &[Symbol], alphabet: &Alphabet) -> String {
    if word.len() <= MAX_WRITTEN_OUT { alphabet.format(word) } else { runs(word, alphabet) }
}

fn scored_string(word: &[Symbol], alphabet: &Alphabet) -> ScoredString {
    ScoredString {
        split: TEST.to_owned(),
        string: written(word, alphabet),
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

/// The cross-entropy of the training strings, and its optimum.
pub(super) fn training_scores<L: NextSymbol>(
    learner: &mut L,
    data: &Data,
    context: &mut dyn RunContext,
    kept: &mut Predictions,
) -> Result<Vec<Measurement>, LabError> {
    context.evaluating(TRAINING)?;
    let Some(natural) = data.language.natural() else { return Ok(Vec::new()) };
    let distinct = data.distinct();
    let predictions: Vec<(Labelled, Prediction)> = distinct
        .iter()
        .map(|(word, _)| Ok((Labelled::new((*word).clone(), true), predict(learner, word)?)))
        .collect::<Result<_, LabError>>()?;
    let inverse = mean_inverse_length(data.corpus.iter().map(Vec::len)).unwrap_or(1.0);
    let mut examples = Vec::with_capacity(data.corpus.len());
    for ((truth, prediction), (_, count)) in predictions.iter().zip(&distinct) {
        let example = Example::new(truth, prediction, data.language.alphabet())
            .map_err(|error| LabError::Usage(error.to_string()))?;
        let example = example.drawn_from(natural.as_ref(), inverse);
        kept.add(&Predicted {
            split: TRAINING,
            string: written(&truth.word, data.language.alphabet()),
            length: truth.word.len(),
            truth: Some(truth),
            count: Some(*count),
            log_probs: prediction.log_probs.as_deref(),
            sampler_log_prob: example.sampler_log_prob(),
            choices: Some(example.choices()),
            ..Predicted::default()
        })?;
        // Predicted once, and counted as often as it was drawn.
        examples.extend(std::iter::repeat_n(example, *count));
    }
    let metrics = [
        &LANGUAGE_MODELING_SYMBOL_CROSS_ENTROPY,
        &LANGUAGE_MODELING_SYMBOL_OPTIMUM,
        &LANGUAGE_MODELING_SYMBOL_EXCESS,
        &LANGUAGE_MODELING_SYMBOL_EXCESS_OF_CHANCE,
    ];
    Ok(metrics.map(|m| Measurement::new(TRAINING, Stratum::All, &m.score(&examples))).into())
}

/// The log-probabilities of a string's symbols and of its end; that of the first boundary, which is given, is left out.
fn predict<L: NextSymbol>(learner: &mut L, word: &Word) -> Result<Prediction, LabError> {
    let mut log_probs = learner.log_probs(&ids::between_boundaries(word))?;
    log_probs.remove(0);
    Ok(Prediction { log_probs: Some(log_probs), ..Prediction::default() })
}
