//! From a plan to a result: learn, be marked, keep what was seen.

use serde_json::Value;
use wug_language::Word;
use wug_learner::baseline::{Grammar, NGram, RepeatLast, Uniform};
use wug_learner::interface::{NextSymbol, Sets, Trained};
use wug_learner::kernel::Real;
use wug_learner::model::LanguageModel;
use wug_learner::train::{Average, Boundaries, LanguageModeling, NextSetString, NextSets, WeightedString};
use wug_score::{Ending, FORMAT, Point, Run, RunResult};

use super::data::{Data, between_boundaries};
use super::learner::{Body, Learner, Loss, Settings};
use super::measure::{learned, marked};
use super::plan::Plan;
use crate::LabError;
use crate::context::RunContext;
use crate::names::Precision;
use crate::training::{Learned, train};

/// Curves have about so many points.
const POINTS: usize = 100;

/// Runs a plan.
pub(crate) fn fit(
    plan: &Plan,
    run: Run,
    data: &Data,
    context: &mut dyn RunContext,
) -> Result<RunResult, LabError> {
    let mut fitting = Fitting { plan, run, data, context };
    let vocabulary = data.language.alphabet().len() + 1;
    let Some((body, settings)) = plan.kind.body().zip(plan.learner.as_ref()) else {
        return fitting.baseline(vocabulary);
    };
    match plan.precision {
        Precision::F32 => fitting.network::<f32>(body, settings, vocabulary),
        Precision::F64 => fitting.network::<f64>(body, settings, vocabulary),
    }
}

/// What training leaves, beside the learner.
#[derive(Default)]
struct TrainingSummary {
    ending: Option<Ending>,
    parameters: Option<usize>,
    curve: Vec<Point>,
}

struct Fitting<'a> {
    plan: &'a Plan,
    run: Run,
    data: &'a Data,
    context: &'a mut dyn RunContext,
}

fn usage(error: impl std::fmt::Display) -> LabError {
    LabError::Usage(error.to_string())
}

impl Fitting<'_> {
    fn baseline(&mut self, vocabulary: usize) -> Result<RunResult, LabError> {
        let data = self.data;
        let ngram = |order: usize| {
            let strings: Vec<Vec<u32>> = data.corpus.iter().map(|word| between_boundaries(word)).collect();
            NGram::fit(order, vocabulary, strings.iter().map(Vec::as_slice))
        };
        match self.plan.kind {
            Learner::RepeatLast => self.result(RepeatLast::new(vocabulary), true, TrainingSummary::default()),
            Learner::Unigram => self.result(ngram(1), true, TrainingSummary::default()),
            Learner::Bigram => self.result(ngram(2), true, TrainingSummary::default()),
            Learner::Trigram => self.result(ngram(3), true, TrainingSummary::default()),
            Learner::TrueGrammar => {
                let grammar = match data.released() {
                    Some(released) => Grammar::published(&*data.language, released, self.plan.prior),
                    None => Grammar::of(&*data.language),
                };
                self.result(grammar, true, TrainingSummary::default())
            }
            _ => self.result(Uniform::new(vocabulary), true, TrainingSummary::default()),
        }
    }

    fn network<R: Real>(
        &mut self,
        body: Body,
        settings: &Settings,
        vocabulary: usize,
    ) -> Result<RunResult, LabError> {
        let model = settings.model(body, vocabulary).map_err(usage)?;
        let Learned { best, last, curve, mut ending } = self.train::<R>(&model, settings)?;
        // The update after the last finite loss may have been the one that went astray.
        let astray = last.iter().any(|x| !x.wide().is_finite());
        if astray && ending == Ending::Finished {
            ending = Ending::Diverged { step: curve.last().map_or(0, |point| point.steps) };
        }
        let params = if ending == Ending::Finished { last } else { best };
        let past = TrainingSummary { ending: Some(ending), parameters: Some(model.layout().count()), curve };
        let model = match settings.test_memory {
            Some(rows) => model.with_memory_rows(rows).map_err(usage)?,
            None => model,
        };
        let trained = Trained::new(model, params);
        match settings.loss {
            Loss::CrossEntropy => self.result(trained, true, past),
            Loss::SigmoidMse => self.result(Sets(trained), false, past),
        }
    }

    fn train<R: Real>(&mut self, model: &LanguageModel, settings: &Settings) -> Result<Learned<R>, LabError> {
        let (spec, seed) = (settings.training(), self.plan.root());
        let stride = settings.epochs.div_ceil(POINTS);
        let strings: Vec<(&Word, usize)> = if settings.merges() {
            self.data.distinct()
        } else {
            self.data.corpus.iter().map(|word| (word, 1)).collect()
        };
        let symbols: Vec<Vec<u32>> = strings.iter().map(|(word, _)| between_boundaries(word)).collect();
        let rows = symbols.iter().zip(&strings);
        match settings.loss {
            Loss::CrossEntropy => {
                let texts: Vec<WeightedString<'_>> = rows
                    .map(|(line, (_, count))| WeightedString {
                        weight: *count as f64,
                        ..WeightedString::new(&line[1..line.len() - 1])
                    })
                    .collect();
                let ends = Boundaries { start: Some(0), end: Some(0) };
                let objective =
                    LanguageModeling::new(model, &texts, &[], ends, Average::Symbols).map_err(usage)?;
                train(&objective, spec, seed, stride, self.context)
            }
            Loss::SigmoidMse => {
                let next: Vec<Vec<u64>> = strings.iter().map(|(word, _)| self.may_follow(word)).collect();
                let texts: Vec<NextSetString<'_>> = rows
                    .zip(&next)
                    .map(|((line, (_, count)), next)| NextSetString {
                        symbols: &line[..line.len() - 1],
                        next,
                        weight: *count as f64,
                    })
                    .collect();
                let objective = NextSets::new(model, &texts, &[]).map_err(usage)?;
                train(&objective, spec, seed, stride, self.context)
            }
        }
    }

    /// What may follow each prefix, one bit per symbol of the vocabulary, the end first.
    fn may_follow(&self, word: &Word) -> Vec<u64> {
        let sets = self.data.language.next_sets(word);
        let bits = |set: &wug_language::NextSet| {
            set.symbols().fold(u64::from(set.end()), |bits, symbol| bits | 1 << (symbol.index() + 1))
        };
        sets.iter().map(bits).collect()
    }

    fn result<L: NextSymbol>(
        &mut self,
        mut learner: L,
        says_how_likely: bool,
        past: TrainingSummary,
    ) -> Result<RunResult, LabError> {
        let mut scores = Vec::new();
        if says_how_likely {
            scores = learned(&mut learner, self.data, self.context)?;
        }
        let marked = marked(&mut learner, self.plan, self.data, self.context)?;
        scores.extend(marked.scores);
        let mut facts = self.data.facts.clone();
        if let Value::Object(facts) = &mut facts {
            facts.insert("marked".to_owned(), marked.facts);
        }
        Ok(RunResult {
            format: FORMAT,
            run: self.run.clone(),
            plan: self.plan.value(),
            ending: past.ending.unwrap_or(Ending::Finished),
            parameters: past.parameters,
            data: facts,
            curve: past.curve,
            scores,
            hardest: marked.hardest,
            strings: Vec::new(),
        })
    }
}
