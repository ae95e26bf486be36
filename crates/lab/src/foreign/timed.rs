//! Limits of time for learners of this program. They run on a thread of the worker and cannot be stopped: one that took longer
//! than it may fails its run once it returns.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use super::{Conversation, Failure, Fitted, Hear, Limits, Question, Task};

/// A conversation whose every call is measured.
pub(super) struct Timed {
    pub(super) inner: Box<dyn Conversation>,
    pub(super) limits: Limits,
}

impl Timed {
    fn within<T>(
        &mut self,
        what: &str,
        limit: Duration,
        call: impl FnOnce(&mut dyn Conversation) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let begun = Instant::now();
        let done = call(&mut *self.inner)?;
        let took = begun.elapsed();
        // Though the answer is there: whether a run fails must not depend on where its learner lives.
        if took > limit {
            return Err(Failure::learner(format!(
                "it took {:.1} s to {what}; it may take {} s",
                took.as_secs_f64(),
                limit.as_secs()
            )));
        }
        Ok(done)
    }
}

impl Conversation for Timed {
    fn fit(&mut self, task: &Task, hear: Hear<'_>) -> Result<Fitted, Failure> {
        self.within("be fitted", self.limits.fit, |inner| inner.fit(task, hear))
    }

    fn ask(&mut self, question: Question<'_>) -> Result<Vec<f64>, Failure> {
        self.within("answer", self.limits.answer, |inner| inner.ask(question))
    }

    fn observe(&mut self, strings: &[&[u32]], positions: &[&[usize]]) -> Result<(), Failure> {
        self.within("observe", self.limits.answer, |inner| inner.observe(strings, positions))
    }

    fn output(&mut self, input: &[u32], lengths: RangeInclusive<usize>) -> Result<Vec<u32>, Failure> {
        self.within("answer", self.limits.answer, |inner| inner.output(input, lengths))
    }

    fn save(&mut self) -> Result<Option<String>, Failure> {
        self.within("be saved", self.limits.answer, |inner| inner.save())
    }

    fn load(&mut self, task: &Task, state: &str) -> Result<(), Failure> {
        self.within("be loaded", self.limits.answer, |inner| inner.load(task, state))
    }
}
