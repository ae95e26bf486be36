//! From a plan to an outcome: the learner observes and is evaluated on the way.

use wug_dataset::Seed;
use wug_language::{Reading, draw};
use wug_learner::interface::{Failure, Incremental, Sequence};
use wug_score::Ending;
use wug_score::plan::SpeedMeasure;

use super::data::{Data, correct, ids_of, sequences};
use super::grid::incremental_task;
use super::measure::{CurvePoint, Measured, outcome};
use super::{Speed, SpeedPlan, TrainingUnit};
use crate::LabError;
use crate::context::RunContext;
use crate::fit::incremental::{Begun, begin};
use crate::keep::{Predicted, Predictions};
use crate::protocol::{Outcome, Protocol as _};

pub(super) fn run(plan: &SpeedPlan, data: &Data, context: &mut dyn RunContext) -> Result<Outcome, LabError> {
    // The order of sequences has no learner in its stream, so that all see the same; weights have one.
    let seed = Speed::root(plan).derive(&plan.learner.name);
    let task = incremental_task(plan, data.vocabulary);
    let Begun { learner, parameters } = begin(&plan.learner, task, &data.tokens, seed, context)?;
    let (train_ids, test_ids) = (ids_of(&data.train), ids_of(&data.test));
    let (train, test) = (sequences(&train_ids, &data.train), sequences(&test_ids, &data.test));
    let mut course = Course { plan, data, learner, test: &test, curve: Vec::new(), updates: 0, context };
    let ending = match course.take(&train) {
        Ok(()) => Ending::Finished,
        Err(CourseEnd::Learner(Failure::Diverged)) => Ending::Diverged { step: course.updates },
        Err(CourseEnd::Learner(failure)) => return Err(failure.into()),
        Err(CourseEnd::Lab(error)) => return Err(error),
    };
    if course.updates == 0 && ending == Ending::Finished {
        let (count, batch) = (train.len() * plan.measure.passes, plan.measure.batch);
        let message = format!("{}: {count} training sequences make no batch of {batch}", plan.subject);
        return Err(LabError::Usage(message));
    }
    let predicted = course.predict()?;
    // The released transformer reads the answer that it is asked for, so every learner is tested for that.
    let leaked = course.leaked(&predicted)?;
    let curve = std::mem::take(&mut course.curve);
    keep_predictions(data, &predicted, context)?;
    Ok(outcome(plan, data, ending, &Measured { curve, leaked, parameters }))
}

/// Why observation ended early.
enum CourseEnd {
    Learner(Failure),
    Lab(LabError),
}

impl From<Failure> for CourseEnd {
    fn from(failure: Failure) -> Self {
        Self::Learner(failure)
    }
}

impl From<LabError> for CourseEnd {
    fn from(error: LabError) -> Self {
        Self::Lab(error)
    }
}

/// A learner on its way.
struct Course<'a> {
    plan: &'a SpeedPlan,
    data: &'a Data,
    learner: Box<dyn Incremental>,
    test: &'a [Sequence<'a>],
    curve: Vec<CurvePoint>,
    updates: u64,
    context: &'a mut dyn RunContext,
}

impl Course<'_> {
    fn take(&mut self, train: &[Sequence<'_>]) -> Result<(), CourseEnd> {
        self.learner.prepare(train)?;
        if self.plan.measure.evaluations.before {
            self.evaluate(0.0)?;
        }
        match self.plan.measure.unit {
            TrainingUnit::Sequences => self.by_sequence(train),
            TrainingUnit::Answers => self.by_answer(train),
        }
    }

    /// Passes follow each other without a break: a batch may have sequences of two of them.
    fn by_sequence(&mut self, train: &[Sequence<'_>]) -> Result<(), CourseEnd> {
        let reading = self.plan.reading;
        let SpeedMeasure { passes, batch, evaluations, .. } = self.plan.measure;
        let order = (0..passes).flat_map(|pass| shuffled(train, Speed::root(self.plan), pass));
        let order: Vec<Sequence<'_>> = order.collect();
        let (mut seen, mut evaluated) = (0, 0);
        for observed in order.chunks(batch) {
            // As published, an incomplete batch at the end is not used.
            if observed.len() < batch && reading == Reading::Published {
                break;
            }
            self.learner.observe(observed)?;
            self.updates += 1;
            seen += observed.len();
            let due =
                seen <= evaluations.first || seen >= evaluated + evaluations.every || seen == order.len();
            if due {
                evaluated = seen;
                self.evaluate(seen as f64)?;
            }
        }
        Ok(())
    }

    fn by_answer(&mut self, train: &[Sequence<'_>]) -> Result<(), CourseEnd> {
        let each = |s: &Sequence<'_>| s.answers.len();
        let per_sequence = train.iter().map(each).sum::<usize>() as f64 / train.len().max(1) as f64;
        let all: Vec<Sequence<'_>> = train
            .iter()
            .flat_map(|s| s.answers.chunks(1).map(|answers| Sequence { symbols: s.symbols, answers }))
            .collect();
        let mut seen = 0;
        for pass in 0..self.plan.measure.passes {
            let order = shuffled(&all, Speed::root(self.plan), pass);
            // As released: the first evaluation comes after one answer, which is observed again in the first block.
            if pass == 0 {
                self.learner.observe(&order[..1])?;
                self.updates += 1;
                self.evaluate(1.0 / per_sequence)?;
            }
            for observed in order.chunks(self.plan.measure.evaluations.every) {
                self.learner.observe(observed)?;
                self.updates += 1;
                seen += observed.len();
                self.evaluate(seen as f64 / per_sequence)?;
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, seen: f64) -> Result<(), CourseEnd> {
        self.context.evaluating(&format!("test, {seen:.0} sequences seen"))?;
        let predicted = self.learner.predict(self.test)?;
        let correct = correct(&self.data.test, &predicted);
        self.curve.push(CurvePoint { seen, updates: self.updates, correct });
        Ok(())
    }

    fn predict(&mut self) -> Result<Vec<u32>, LabError> {
        let predicted = self.learner.predict(self.test)?;
        let answers: usize = self.test.iter().map(|s| s.answers.len()).sum();
        if predicted.len() != answers {
            let learner = &self.plan.learner.name;
            return Err(LabError::Usage(format!("{learner} gave {} answers to {answers}", predicted.len())));
        }
        Ok(predicted)
    }

    /// How many predictions change if an answer and all that follows it are something else, and how many were compared: what is
    /// predicted up to that answer must not. Scores are compared where the learner tells them, because the likeliest answer often
    /// stays the same.
    fn leaked(&mut self, predicted: &[u32]) -> Result<(usize, usize), LabError> {
        let most = self.test.iter().map(|s| s.answers.len()).max().unwrap_or(0);
        let before = self.answer_scores(self.test, Some(predicted))?;
        let (mut changed, mut compared) = (0, 0);
        for round in 0..most.min(ROUNDS) {
            // In each sequence another answer, so that all of them have their turn.
            let turn = |(i, s): (usize, &Sequence<'_>)| (ROUNDS * i + round) % s.answers.len().max(1);
            let turns: Vec<usize> = self.test.iter().enumerate().map(turn).collect();
            let others = self.test.iter().zip(&turns).map(|(s, &turn)| self.with_other_ending(s, turn));
            let others: Vec<Vec<u32>> = others.collect();
            let asked: Vec<Sequence<'_>> = (others.iter().zip(self.test).zip(&turns))
                .map(|((symbols, s), &turn)| Sequence { symbols, answers: &s.answers[..=turn] })
                .collect();
            let after = self.answer_scores(&asked, None)?;
            let (mut first, mut at) = (0, 0);
            for (s, asked) in self.test.iter().zip(&asked) {
                for k in 0..asked.answers.len() {
                    compared += 1;
                    changed += usize::from(before.differs(first + k, &after, at + k));
                }
                first += s.answers.len();
                at += asked.answers.len();
            }
        }
        Ok((changed, compared))
    }

    /// What the learner tells of each answer: scores, or its prediction alone.
    fn answer_scores(
        &mut self,
        asked: &[Sequence<'_>],
        predicted: Option<&[u32]>,
    ) -> Result<AnswerScores, LabError> {
        let answers: usize = asked.iter().map(|s| s.answers.len()).sum();
        if let Some(values) = self.learner.scores(asked)? {
            return Ok(AnswerScores { width: values.len() / answers.max(1), values });
        }
        let predicted = match predicted {
            Some(predicted) => predicted.to_vec(),
            None => self.learner.predict(asked)?,
        };
        Ok(AnswerScores { width: 1, values: predicted.into_iter().map(f64::from).collect() })
    }

    fn with_other_ending(&self, sequence: &Sequence<'_>, turn: usize) -> Vec<u32> {
        let mut symbols = sequence.symbols.to_vec();
        let first = sequence.answers.get(turn).copied().unwrap_or(symbols.len());
        for symbol in &mut symbols[first..] {
            // The next symbol; the first after the last.
            *symbol = *symbol % self.data.vocabulary as u32 + 1;
        }
        symbols
    }
}

/// How many answers of a test sequence are changed, one after the other, to see whether predictions follow.
const ROUNDS: usize = 4;

/// How far scores may be from each other, as a share of the largest, and be the same: kernels add in another order in batches of
/// another size.
const ROUNDING: f64 = 1e-4;

/// What a learner tells of answers: so many numbers of each.
struct AnswerScores {
    width: usize,
    values: Vec<f64>,
}

impl AnswerScores {
    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.width..][..self.width]
    }

    fn differs(&self, i: usize, other: &Self, j: usize) -> bool {
        let (a, b) = (self.row(i), other.row(j));
        let scale = a.iter().chain(b).fold(1.0_f64, |most, x| most.max(x.abs()));
        a.iter().zip(b).any(|(a, b)| (a - b).abs() > ROUNDING * scale || a.is_nan() != b.is_nan())
    }
}

/// The items in the order of a pass, which is the same for every learner.
fn shuffled<T: Clone>(items: &[T], root: Seed, pass: usize) -> Vec<T> {
    let mut order = items.to_vec();
    draw::shuffle(&mut root.derive("order").nth(pass).rng(), &mut order);
    order
}

/// Keeps what was predicted last for each test sequence, if predictions are wanted.
fn keep_predictions(data: &Data, predicted: &[u32], context: &mut dyn RunContext) -> Result<(), LabError> {
    let mut predictions = Predictions::begin(context.keeps())?;
    if !predictions.wanted() {
        return Ok(());
    }
    let mut rest = predicted;
    for example in &data.test {
        let (own, others) = rest.split_at(example.answers.len());
        rest = others;
        let token = |symbol: &u32| data.tokens[*symbol as usize].as_str();
        predictions.add(&Predicted {
            split: "test",
            string: example.symbols.iter().map(token).collect::<Vec<_>>().join(" "),
            length: example.symbols.len(),
            steps: Some((own.len(), correct(std::slice::from_ref(example), own))),
            ..Predicted::default()
        })?;
    }
    predictions.finish(context)
}
