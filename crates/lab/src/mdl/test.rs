//! A network on the test strings of a language: how many steps are correct for each factor b.

use wug_dataset::corpus::{released, test_after};
use wug_language::{Language, Reading, Word, registry};
use wug_learner::interface::NextSymbol;
use wug_score::index_sizes;

use super::corpus::CorpusRequest;
use crate::LabError;
use crate::generalization::{Criterion, Evaluation, TestSlice, evaluate_steps, fitting_measure};

/// How a model does on the test of a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct FactorScore {
    pub factor: usize,
    pub margin: f64,
    pub strings: usize,
    /// Of these, those of which every scored step is correct.
    pub accepted: usize,
    pub scored: usize,
    /// Of these, correct ones.
    pub correct: usize,
}

/// Evaluates a model on the 10³·b strings that come after the longest of 10³/b training strings.
pub fn test_factors<L: NextSymbol>(
    model: &mut L,
    request: &CorpusRequest,
    factors: &[usize],
    margins: &[f64],
) -> Result<Vec<FactorScore>, LabError> {
    let language = request.build()?;
    let measure = fitting_measure(language.as_ref());
    let mut all = Vec::new();
    for &factor in factors {
        let (training, tested) = index_sizes(3, factor)
            .ok_or_else(|| LabError::Usage(format!("the factor {factor} does not divide 1000")))?;
        // Drawn for each factor: the test begins after the longest string of this very corpus.
        let corpus = CorpusRequest { training, ..request.clone() }.words()?;
        for &margin in margins {
            let rule = measure.rule(margin);
            let evaluation = match request.reading {
                Reading::Published => Evaluation::published(language.as_ref(), rule),
                Reading::Corrected => Evaluation::exact(language.as_ref(), rule),
            };
            let strings = test_strings(request, language.as_ref(), &corpus, tested)?;
            let scores = evaluate_steps(model, strings, &evaluation)?;
            all.push(FactorScore {
                factor,
                margin,
                strings: scores.strings.len(),
                accepted: scores.strings.iter().filter(|steps| steps.correct == steps.scored).count(),
                scored: scores.strings.iter().map(|steps| steps.scored).sum(),
                correct: scores.strings.iter().map(|steps| steps.correct).sum(),
            });
            // Whether the right symbol is the most probable does not depend on the margin.
            if measure == Criterion::Deterministic {
                break;
            }
        }
    }
    Ok(all)
}

fn test_strings<'a>(
    request: &CorpusRequest,
    language: &'a dyn Language,
    corpus: &'a [Word],
    tested: usize,
) -> Result<Box<dyn Iterator<Item = Word> + 'a>, LabError> {
    let longest = corpus.iter().map(Vec::len).max().unwrap_or(0);
    Ok(match request.reading {
        Reading::Published => {
            let released =
                released(registry::find(&request.language)?.entry.name).map_err(LabError::usage)?;
            released.slice(TestSlice::Square.slice(), corpus, tested)
        }
        Reading::Corrected => Box::new(test_after(language, longest, tested)),
    })
}
