//! Tasks 5 to 10: statements are read into a list of claims, questions are answered from it.
//!
//! ```text
//! text      = statement "." (statement ".")* question ("." question)*
//! statement = clause (("AND" | "BUT") clause)*
//! clause    = "I" ("DO" "NOT")? verb phrase ("AND" phrase)*
//! phrase    = name                                                            tasks 5 to 8
//!           | ("A" | "AN") size? colour? object                               tasks 9, 10
//! question  = "DO" "I" verb phrase "?" answer
//!           | "HOW" "MANY" ("PEOPLE" | "THINGS") "DO" "I" verb "?" answer     tasks 8, 10
//!           | "WHAT" ("COLOR" | "SIZE") "IS" "THE" object "I" verb "?" answer tasks 9, 10
//! ```
//!
//! Tasks 5 and 6 have one statement, tasks 5 to 9 one question.

use super::cursor::Cursor;
use super::{Malformed, OracleAnswer};

const NAMES: &[&str] = &[
    "PETER", "JOHN", "TOM", "JAMES", "PAUL", "MARC", "LUKE", "SIMON", "ANDREW", "BRUNO", "LISA", "HENRI",
    "LEO",
];
const PEOPLE_VERBS: &[&str] = &["SEE", "HEAR", "CALL", "FEEL", "SMELL", "UNDERSTAND", "TOUCH"];
const THING_VERBS: &[&str] = &["SEE", "HEAR", "CALL", "FEEL", "SMELL", "TOUCH"];
const OBJECTS: &[&str] = &["BANANA", "APPLE", "PEAR", "PEACH", "APRICOT", "CAR", "PLANE", "TRAIN"];
const COLORS: &[&str] = &["RED", "GREEN", "BLUE", "YELLOW"];
const SIZES: &[&str] = &["SMALL", "BIG", "HUGE", "TINY", "NORMAL"];
const NUMBERS: &[&str] = &[
    "ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE", "TEN", "ELEVEN", "TWELVE",
];

/// What one task allows.
#[derive(Clone, Copy, Debug)]
struct TaskGrammar {
    /// Names, or objects with adjectives.
    nouns: &'static [&'static str],
    verbs: &'static [&'static str],
    /// Empty where there are no adjectives.
    sizes: &'static [&'static str],
    /// Number words and what is counted, where there is counting.
    counting: Option<(&'static [&'static str], &'static str)>,
    many_statements: bool,
    many_questions: bool,
}

impl TaskGrammar {
    fn of(task: u8) -> Option<Self> {
        let people = |names: usize, verbs: usize, many_statements: bool| Self {
            nouns: &NAMES[..names],
            verbs: &PEOPLE_VERBS[..verbs],
            sizes: &[],
            counting: None,
            many_statements,
            many_questions: false,
        };
        let things = Self { nouns: OBJECTS, verbs: THING_VERBS, sizes: &SIZES[..4], ..people(13, 7, true) };
        Some(match task {
            5 => people(5, 2, false),
            6 => people(11, 5, false),
            7 => people(13, 7, true),
            8 => Self { counting: Some((NUMBERS, "PEOPLE")), ..people(13, 7, true) },
            9 => things,
            10 => Self {
                sizes: SIZES,
                counting: Some((&NUMBERS[..9], "THINGS")),
                many_questions: true,
                ..things
            },
            _ => return None,
        })
    }

    fn adjectives(&self) -> bool {
        !self.sizes.is_empty()
    }
}

/// A name, or an object and its adjectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NounPhrase {
    size: Option<&'static str>,
    color: Option<&'static str>,
    noun: &'static str,
}

impl NounPhrase {
    /// Whether whatever `self` names may also be called `other`: a big red car is a red car.
    fn is_a(&self, other: &Self) -> bool {
        let covers = |mine: Option<_>, theirs: Option<_>| theirs.is_none() || mine == theirs;
        self.noun == other.noun && covers(self.size, other.size) && covers(self.color, other.color)
    }
}

/// One thing said: I do, or do not, see something.
#[derive(Clone, Copy, Debug)]
struct Assertion {
    verb: &'static str,
    positive: bool,
    phrase: NounPhrase,
}

struct SentenceReader<'a> {
    grammar: TaskGrammar,
    text: Cursor<'a>,
    claims: Vec<Assertion>,
}

/// Reads a whole text and answers its questions.
pub(super) fn answers(task: u8, text: Cursor<'_>) -> Result<Vec<OracleAnswer>, Malformed> {
    let grammar = TaskGrammar::of(task).ok_or(Malformed::Task(task))?;
    let mut reader = SentenceReader { grammar, text, claims: Vec::new() };
    reader.statement()?;
    while reader.grammar.many_statements && reader.text.peek() == Some("I") {
        reader.statement()?;
    }
    let mut answers = vec![reader.question()?];
    while grammar.many_questions && !reader.text.at_end() {
        reader.text.expect(".", "`.` or the end of the text")?;
        answers.push(reader.question()?);
    }
    reader.text.expect_end()?;
    Ok(answers)
}

impl SentenceReader<'_> {
    fn statement(&mut self) -> Result<(), Malformed> {
        self.clause()?;
        while self.text.skip_any(&["AND", "BUT"]).is_some() {
            self.clause()?;
        }
        self.text.expect(".", "`AND`, `BUT` or `.`")
    }

    fn clause(&mut self) -> Result<(), Malformed> {
        self.text.expect("I", "`I`")?;
        let positive = !self.text.skip("DO");
        if !positive {
            self.text.expect("NOT", "`NOT`")?;
        }
        let verb = self.verb()?;
        loop {
            let phrase = self.phrase()?;
            self.claims.push(Assertion { verb, positive, phrase });
            // "AND" joins phrases as well as clauses; a clause begins with "I".
            if self.text.peek() != Some("AND") || self.text.peek_second() == Some("I") {
                return Ok(());
            }
            self.text.skip("AND");
        }
    }

    fn verb(&mut self) -> Result<&'static str, Malformed> {
        self.text.expect_any(self.grammar.verbs, "a verb")
    }

    fn phrase(&mut self) -> Result<NounPhrase, Malformed> {
        if !self.grammar.adjectives() {
            return Ok(NounPhrase { size: None, color: None, noun: self.noun()? });
        }
        let before_vowel =
            self.text.peek_second().is_some_and(|word| word.starts_with(['A', 'E', 'I', 'O', 'U']));
        if before_vowel {
            self.text.expect("AN", "`AN`, as a vowel follows")?;
        } else {
            self.text.expect("A", "`A`, as no vowel follows")?;
        }
        let size = self.text.skip_any(self.grammar.sizes);
        let color = self.text.skip_any(COLORS);
        Ok(NounPhrase { size, color, noun: self.noun()? })
    }

    fn noun(&mut self) -> Result<&'static str, Malformed> {
        let expected = if self.grammar.adjectives() { "an object" } else { "a name" };
        self.text.expect_any(self.grammar.nouns, expected)
    }

    fn question(&mut self) -> Result<OracleAnswer, Malformed> {
        if self.grammar.counting.is_some() && self.text.skip("HOW") {
            self.how_many()
        } else if self.grammar.adjectives() && self.text.skip("WHAT") {
            self.what()
        } else {
            self.whether()
        }
    }

    fn whether(&mut self) -> Result<OracleAnswer, Malformed> {
        self.text.expect("DO", "a question")?;
        self.text.expect("I", "`I`")?;
        let verb = self.verb()?;
        let asked = self.phrase()?;
        let position = self.answer_position()?;
        let said = |positive| {
            self.claims
                .iter()
                .any(|claim| claim.verb == verb && claim.positive == positive && claim.phrase.is_a(&asked))
        };
        let (yes, no) = (said(true), said(false));
        // "A car" may be a red one that I see and a blue one that I do not; the very same thing may not be
        // both.
        if self.contradiction(verb, &asked) {
            return Err(Malformed::Open { position, reason: "both is said, that I do and that I do not" });
        }
        Ok(OracleAnswer { position, token: if yes { "YES" } else { "NO" }, stated: yes || no })
    }

    fn contradiction(&self, verb: &str, asked: &NounPhrase) -> bool {
        let about = |claim: &&Assertion| claim.verb == verb && claim.phrase.is_a(asked);
        let (yes, no): (Vec<&Assertion>, Vec<&Assertion>) =
            self.claims.iter().filter(about).partition(|claim| claim.positive);
        no.iter().any(|denied| yes.iter().any(|claim| claim.phrase == denied.phrase))
    }

    fn how_many(&mut self) -> Result<OracleAnswer, Malformed> {
        let (numbers, counted) = self.grammar.counting.unwrap_or_default();
        self.text.expect("MANY", "`MANY`")?;
        self.text.expect(counted, "what is counted")?;
        self.text.expect("DO", "`DO`")?;
        self.text.expect("I", "`I`")?;
        let verb = self.verb()?;
        let position = self.answer_position()?;
        let count = self.claims.iter().filter(|claim| claim.verb == verb && claim.positive).count();
        let reason = "there is no word for so large a count";
        let token = numbers.get(count).ok_or(Malformed::Open { position, reason })?;
        Ok(OracleAnswer { position, token, stated: self.claims.iter().any(|claim| claim.verb == verb) })
    }

    fn what(&mut self) -> Result<OracleAnswer, Malformed> {
        let kind = self.text.expect_any(&["COLOR", "SIZE"], "`COLOR` or `SIZE`")?;
        self.text.expect("IS", "`IS`")?;
        self.text.expect("THE", "`THE`")?;
        let noun = self.noun()?;
        self.text.expect("I", "`I`")?;
        let verb = self.verb()?;
        let position = self.answer_position()?;
        let adjective = |phrase: &NounPhrase| if kind == "COLOR" { phrase.color } else { phrase.size };
        let about = self
            .claims
            .iter()
            .filter(|claim| claim.positive && claim.verb == verb && claim.phrase.noun == noun);
        let mut words: Vec<&str> = about.filter_map(|claim| adjective(&claim.phrase)).collect();
        // The same adjective told twice is one. Sorting is not needed: two different ones are refused in
        // any order.
        words.dedup();
        match words[..] {
            [token] => Ok(OracleAnswer { position, token, stated: true }),
            [] => Err(Malformed::Open { position, reason: "no such adjective is told" }),
            _ => Err(Malformed::Open { position, reason: "there are several such objects" }),
        }
    }

    /// Steps over the question mark and the single masked answer.
    fn answer_position(&mut self) -> Result<usize, Malformed> {
        self.text.expect("?", "`?`")?;
        let position = self.text.position();
        match self.text.expect_masked()? {
            1 => Ok(position),
            _ => Err(Malformed::Open { position, reason: "the answer is one token, but more are masked" }),
        }
    }
}
