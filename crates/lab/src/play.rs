//! The human baseline: a person sees sequences whose symbols mean nothing to them, answers, and is shown the truth, until ten in a
//! row are right. Every answer is logged; the log is all that the game is resumed from and all that is scored.

mod log_lock;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::json;
use wug_dataset::wade::{self, TASKS, WadeTask as Task};
use wug_dataset::{MaskedSequence, Seed};
use wug_language::{Reading, draw};
use wug_parameter::Span;
use wug_score::metric::WADE;
use wug_score::plan::{
    Evaluations, Plan, PlanKind as _, PlannedLearner, Precision, Speed, SpeedData, SpeedMeasure, TrainingUnit,
};
use wug_score::wade::{AccuracyPoint as Evaluated, WadeMeasure as Wade, streaks};
use wug_score::{Coordinates, Ending, FORMAT, Measurement, Ratio, Run, RunResult, Stratum, Totals};

use crate::LabError;
use crate::disk::write_whole;
use crate::regular::read_regular;

pub use log_lock::LogLock;

/// So many right answers in a row end a task (the paper's Appendix A; its program stops at five).
pub const FULL: usize = 10;

/// At most so many answers of a sequence are hidden; the text ends with the last of them.
const HIDDEN: usize = 5;

/// The largest log that is read.
const LARGEST: u64 = 16 << 20;

/// What a symbol can look like.
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A seed that nobody knows: the player must not have seen the sequences. It is logged.
pub fn fresh_seed() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "the lab reads the clock")]
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    // The process id tells apart two games that begin in the same instant.
    now.map_or(0, |now| now.as_nanos() as u64 ^ u64::from(std::process::id()) << 32)
}

/// One answer, as it is logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The seed of the game.
    pub seed: u64,
    /// As published, or corrected.
    pub reading: Reading,
    /// The task that was asked for, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// The round, from 0.
    pub round: usize,
    pub task: String,
    /// The question, from 0.
    pub question: usize,
    pub given: String,
    pub expected: String,
}

impl Answer {
    /// Whether all hidden symbols are right.
    pub fn is_right(&self) -> bool {
        self.given == self.expected
    }
}

/// A question as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The text, with a line in place of each hidden symbol.
    pub shown: String,
    /// The text in full.
    pub whole: String,
    pub expected: String,
}

/// The score of a round that is over, or of one that was broken off.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    pub task: String,
    pub questions: usize,
    /// The longest row of right answers.
    pub longest: usize,
    /// Whether it ended with ten in a row.
    pub finished: bool,
    /// WADE, as the paper's Appendix A defines it for people.
    pub wade: f64,
}

/// A game, with what was answered so far.
#[derive(Clone, Debug)]
pub struct Game {
    seed: u64,
    reading: Reading,
    only: Option<&'static Task>,
    answers: Vec<Answer>,
}

impl Game {
    /// A new game: of one task, or of all ten in random order.
    pub fn new(seed: u64, reading: Reading, only: Option<&str>) -> Result<Self, LabError> {
        let only = only.map(wade::task).transpose().map_err(LabError::usage)?;
        Ok(Self { seed, reading, only, answers: Vec::new() })
    }

    /// The game of a log; `None` if there is no file.
    pub fn load(path: &Path) -> Result<Option<Self>, LabError> {
        let answers = read_log(path)?;
        let Some(answers) = answers else { return Ok(None) };
        let Some(first) = answers.first() else { return Ok(None) };
        let mut game = Self::new(first.seed, first.reading, first.only.as_deref())?;
        // The game is played again: a log that was edited, or made by another version, does not agree with every question.
        for (i, answer) in answers.into_iter().enumerate() {
            let (round, question) = game.position();
            let task = game.task(round).map(|task| task.name);
            let asked = game.question();
            let same = (answer.seed, answer.reading, answer.round, answer.question)
                == (game.seed, game.reading, round, question)
                && Some(answer.task.as_str()) == task
                && asked.is_some_and(|asked| asked.expected == answer.expected);
            if !same {
                let problem = format!(
                    "line {} is not the next answer of the game: it was made by another version, or changed",
                    i + 1
                );
                return Err(LabError::corrupt(path, problem));
            }
            game.answers.push(answer);
        }
        Ok(Some(game))
    }

    /// The seed, the reading and the task that was asked for.
    pub fn setup(&self) -> (u64, Reading, Option<&'static str>) {
        (self.seed, self.reading, self.only.map(|task| task.name))
    }

    /// What was answered so far.
    pub fn answers(&self) -> &[Answer] {
        &self.answers
    }

    fn root(&self, round: usize) -> Seed {
        Seed::new(self.seed).derive("play").nth(round)
    }

    /// The task of a round; `None` after the last.
    pub fn task(&self, round: usize) -> Option<&'static Task> {
        if let Some(only) = self.only {
            return Some(only).filter(|_| round == 0);
        }
        // Shuffled from the seed each time: nothing but the log is needed to resume.
        let mut order: Vec<&'static Task> = TASKS.iter().collect();
        draw::shuffle(&mut Seed::new(self.seed).derive("play").derive("tasks").rng(), &mut order);
        order.get(round).copied()
    }

    /// The round and the question that come next.
    pub fn position(&self) -> (usize, usize) {
        let Some(last) = self.answers.last() else { return (0, 0) };
        if self.in_a_row() >= FULL { (last.round + 1, 0) } else { (last.round, last.question + 1) }
    }

    /// How many answers of the current round are right in a row.
    pub fn in_a_row(&self) -> usize {
        let round = self.answers.last().map(|last| last.round);
        // A series does not reach into the round before, whose task is another.
        self.answers.iter().rev().take_while(|a| Some(a.round) == round && a.is_right()).count()
    }

    /// The next question; `None` if the game is over.
    pub fn question(&self) -> Option<Question> {
        let (round, question) = self.position();
        let task = self.task(round)?;
        // A stream per question: any question can be made without those before it.
        let mut rng = self.root(round).derive("sequences").nth(question).rng();
        let sequence = task.generate(self.reading, &mut rng);
        Some(hide(&sequence, &self.letters(round, task)))
    }

    /// The letter of each symbol, drawn anew in each round.
    fn letters(&self, round: usize, task: &Task) -> Vec<char> {
        let mut letters: Vec<char> = LETTERS.chars().collect();
        draw::shuffle(&mut self.root(round).derive("letters").rng(), &mut letters);
        // 52 letters are enough: the largest vocabulary, that of task 10, has 51 symbols.
        letters.truncate(task.vocabulary().len());
        letters
    }

    /// Takes an answer to the next question: letters, with spaces or without. An error says what is wrong with its form; it is not
    /// counted then.
    pub fn answer(&mut self, text: &str) -> Result<&Answer, String> {
        let Some(question) = self.question() else { return Err("the game is over".to_owned()) };
        let given: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let count = question.expected.chars().count();
        if given.chars().count() != count || !given.chars().all(|c| c.is_ascii_alphabetic()) {
            let letters = if count == 1 { "one letter".to_owned() } else { format!("{count} letters") };
            return Err(format!("type {letters}, or :quit to stop"));
        }
        let (round, number) = self.position();
        let task = self.task(round).map_or_else(String::new, |task| task.name.to_owned());
        self.answers.push(Answer {
            seed: self.seed,
            reading: self.reading,
            only: self.only.map(|task| task.name.to_owned()),
            round,
            task,
            question: number,
            given,
            expected: question.expected,
        });
        self.answers.last().ok_or_else(String::new)
    }

    /// Writes the log, whole.
    pub fn save(&self, path: &Path) -> Result<(), LabError> {
        let mut text = String::new();
        for answer in &self.answers {
            text.push_str(&serde_json::to_string(answer).map_err(LabError::internal)?);
            text.push('\n');
        }
        write_whole(path, text.as_bytes())
    }

    /// The scores of all rounds so far.
    pub fn scores(&self) -> Vec<Score> {
        rounds(&self.answers).into_values().map(|round| score(&round)).collect()
    }

    /// Each round that is over as the result of a run, for reports.
    pub fn results(&self) -> Vec<RunResult> {
        let rounds = rounds(&self.answers);
        rounds.values().filter(|round| score(round).finished).map(|round| self.result(round)).collect()
    }

    fn result(&self, round: &[&Answer]) -> RunResult {
        let (score, curve) = (score(round), curve(round));
        let wade = Wade::even(FULL);
        let value = WADE.measured(Totals::of(&[Ratio::once(score.wade)]), None);
        let answers: Vec<&str> = round.iter().map(|answer| answer.given.as_str()).collect();
        let plan: Plan<Speed> = Plan {
            subject: score.task.clone(),
            reading: self.reading,
            learner: PlannedLearner { name: "human".to_owned(), ..PlannedLearner::default() },
            data: SpeedData { sequences: round.len(), lengths: Span::new(0, 0), corpus: None },
            // Each round draws sequences of its own.
            data_seed: Some(round[0].round as u64),
            measure: SpeedMeasure {
                passes: 1,
                batch: 1,
                unit: TrainingUnit::Sequences,
                evaluations: Evaluations { before: false, first: 0, every: 1 },
                wade,
                selection: false,
            },
            seed: self.seed,
            precision: Precision::F64,
        };
        let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..32].to_owned();
        RunResult {
            format: FORMAT,
            run: Run {
                // The answers are part of the id: two games with one seed are two results.
                plan: hash(&format!("{plan:?} {answers:?}")),
                protocol: Speed::PROTOCOL.to_owned(),
                coordinates: Coordinates::default()
                    .with("language", score.task.as_str())
                    .with("learner", "human"),
                seed: self.seed,
                reading: self.reading,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                build: String::new(),
                instructions: String::new(),
                data_hash: hash(&answers.concat()),
            },
            data: json!({
                "questions": score.questions,
                "wade": { "definition": wade, "time_to": wade.times(&curve) },
            }),
            plan: plan.untyped(),
            ending: Ending::Finished,
            parameters: None,
            curve: Vec::new(),
            scores: vec![Measurement::new("test", Stratum::All, &value)],
            hardest: Vec::new(),
            strings: Vec::new(),
        }
    }
}

fn rounds(answers: &[Answer]) -> BTreeMap<usize, Vec<&Answer>> {
    let mut rounds: BTreeMap<usize, Vec<&Answer>> = BTreeMap::new();
    for answer in answers {
        rounds.entry(answer.round).or_default().push(answer);
    }
    rounds
}

fn curve(round: &[&Answer]) -> Vec<Evaluated> {
    let right: Vec<bool> = round.iter().map(|answer| answer.is_right()).collect();
    streaks(&right, FULL)
}

fn score(round: &[&Answer]) -> Score {
    let right: Vec<bool> = round.iter().map(|answer| answer.is_right()).collect();
    let rows = right.chunk_by(|a, b| a == b).filter(|row| row[0]).map(<[bool]>::len);
    let longest = rows.max().unwrap_or(0);
    Score {
        task: round.first().map_or_else(String::new, |answer| answer.task.clone()),
        questions: round.len(),
        longest,
        finished: longest >= FULL,
        wade: Wade::even(FULL).of(&curve(round)),
    }
}

/// The first answers of a sequence hidden, and the text cut after the last of them.
fn hide(sequence: &MaskedSequence, letters: &[char]) -> Question {
    let letter = |i: usize| letters[sequence.word[i].index()];
    let hidden = &sequence.mask[..sequence.mask.len().min(HIDDEN)];
    // The rest is cut off: a model that predicts the last hidden symbol does not see it either.
    let end = hidden.last().map_or(0, |last| last + 1);
    let text = |shown: &dyn Fn(usize) -> char| -> String {
        (0..end).map(|i| shown(i).to_string()).collect::<Vec<_>>().join(" ")
    };
    Question {
        shown: text(&|i| if hidden.contains(&i) { '_' } else { letter(i) }),
        whole: text(&letter),
        expected: hidden.iter().map(|&i| letter(i)).collect(),
    }
}

/// The answers of a log; `None` if there is no file.
fn read_log(path: &Path) -> Result<Option<Vec<Answer>>, LabError> {
    let Some(bytes) = read_regular(path, LARGEST).map_err(LabError::disk(path))? else { return Ok(None) };
    let text =
        String::from_utf8(bytes).map_err(|error| LabError::corrupt(path, format!("is no text: {error}")))?;
    let parsed = text.lines().enumerate().map(|(i, line)| {
        let problem = |error| LabError::corrupt(path, format!("line {}: not an answer: {error}", i + 1));
        serde_json::from_str(line).map_err(problem)
    });
    parsed.collect::<Result<_, _>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right(game: &mut Game) {
        let expected = game.question().unwrap().expected;
        assert!(game.answer(&expected).unwrap().is_right());
    }

    fn wrong(game: &mut Game) {
        let expected = game.question().unwrap().expected;
        let other = |c: char| if c == 'A' { 'B' } else { 'A' };
        let other: String = expected.chars().map(other).collect();
        assert!(!game.answer(&other).unwrap().is_right());
    }

    #[test]
    fn a_perfect_player_scores_one_on_every_task() {
        let mut game = Game::new(3, Reading::Corrected, None).unwrap();
        while game.question().is_some() {
            right(&mut game);
        }
        let scores = game.scores();
        assert_eq!((scores.len(), game.answers().len()), (10, 100));
        let tasks: std::collections::BTreeSet<&str> = scores.iter().map(|s| s.task.as_str()).collect();
        assert_eq!(tasks.len(), 10);
        assert!(scores.iter().all(|score| score.finished && (score.wade - 1.0).abs() < 1e-12), "{scores:?}");
        assert_eq!(game.results().len(), 10);
    }

    /// Appendix A: a series is credited to its first answer.
    #[test]
    fn errors_cost_what_the_paper_says() {
        let mut game = Game::new(1, Reading::Corrected, Some("qa")).unwrap();
        right(&mut game);
        right(&mut game);
        wrong(&mut game);
        (0..10).for_each(|_| right(&mut game));
        assert!(game.question().is_none());
        // .1 and .2 at step 1, .3 to 1 at step 4.
        let expected = (0.3 + (5.5 - 0.3) / 4.0) / 5.5;
        assert!((game.scores()[0].wade - expected).abs() < 1e-12);
    }

    #[test]
    fn answers_are_hidden_and_a_game_goes_on_from_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        assert!(Game::load(&path).unwrap().is_none());
        let mut game = Game::new(7, Reading::Published, Some("1")).unwrap();
        let question = game.question().unwrap();
        assert_eq!(question.shown.matches('_').count(), question.expected.len());
        assert_eq!(question.expected.len(), HIDDEN);
        assert!(game.answer("A").unwrap_err().contains("5 letters"));
        assert!(game.answer("1 2 3 4 5").is_err());
        right(&mut game);
        wrong(&mut game);
        game.save(&path).unwrap();
        let again = Game::load(&path).unwrap().unwrap();
        assert_eq!((again.answers(), again.question()), (game.answers(), game.question()));
        let text = std::fs::read_to_string(&path).unwrap().replace("\"question\":1", "\"question\":2");
        std::fs::write(&path, text).unwrap();
        assert!(Game::load(&path).unwrap_err().to_string().contains("line 2"));
    }

    /// The letters of two rounds have nothing to do with each other.
    #[test]
    fn symbols_mean_something_else_in_each_round() {
        let game = Game::new(5, Reading::Corrected, None).unwrap();
        let task = wade::task("adj-qa-ct").unwrap();
        let (one, other) = (game.letters(0, task), game.letters(1, task));
        assert_eq!(one.len(), 51);
        assert_ne!(one, other);
        assert_eq!(one.iter().collect::<std::collections::BTreeSet<_>>().len(), 51);
    }
}
