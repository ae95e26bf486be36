//! Step scores equal those of reading every string by itself, on published data, and closed forms.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs::File;
use std::path::PathBuf;

use wug_dataset::Seed;
use wug_dataset::bliss::{Archive, MaskReader, Published};
use wug_dataset::corpus::{MaskKind, PRIOR, SEED, Slice, encode, released, test_after, valid_next};
use wug_lab::generalization::{Evaluation, StepScores, Until, evaluate_steps};
use wug_language::{Language, NextSet, Word, registry};
use wug_learner::baseline::{Grammar, NGram, RepeatLast, Uniform};
use wug_learner::interface::{NextSymbol, Trained};
use wug_learner::kernel::{Real, Sinusoid};
use wug_learner::model::{
    BodySpec, Cell, Initialization, LanguageModel, LanguageModelSpec, NormPlace, Output, Positions,
    RecurrentSpec, Start, TransformerDropout, TransformerSpec,
};
use wug_score::{
    Acceptance, StepRule, StringSteps, correct_steps, first_rejected, generalization_index, index_sizes,
};

const STRICT: StepRule = StepRule::Deterministic { margin: 0.0 };
const LENIENT: StepRule = StepRule::Deterministic { margin: 0.005 };

fn network<R: Real>(vocabulary: usize, body: BodySpec, seed: u64) -> Trained<LanguageModel, R> {
    let (output, initialization) = (Output::Linear, Initialization::Torch);
    let spec = LanguageModelSpec { body, vocabulary, output, initialization };
    let model = LanguageModel::new(spec).unwrap();
    // Larger weights than usual, so that probabilities differ from step to step.
    let params: Vec<R> = model.layout().initialise(Seed::new(seed));
    Trained::new(model, params.into_iter().map(|p| p * R::of(4.0)).collect())
}

fn recurrent(cell: Cell) -> BodySpec {
    let (layers, hidden, embedding, biases, start) = (1, 8, None, 2, Start::Zero);
    BodySpec::Recurrent(RecurrentSpec { cell, layers, hidden, embedding, biases, start, dropout: 0.0 })
}

/// Evaluates one string symbol by symbol. The mask says which steps are scored, or which symbols can follow.
fn step_by_step<L: NextSymbol>(learner: &mut L, word: &Word, mask: &[bool], rule: StepRule) -> StringSteps {
    let string: Vec<u32> = encode(word).iter().map(|symbol| u32::from(symbol.0)).collect();
    let mut state = learner.start();
    let mut steps = StringSteps::default();
    for (i, pair) in string.windows(2).enumerate() {
        learner.push(&mut state, pair[0]);
        let probs = learner.next(&state).unwrap();
        let correct = match rule {
            StepRule::Deterministic { .. } => mask[i].then(|| {
                let best = probs.iter().copied().fold(0.0, f64::max);
                probs.iter().position(|&p| p >= best) == Some(pair[1] as usize)
            }),
            StepRule::Categorical { margin } => {
                let valid = &mask[i * probs.len()..][..probs.len()];
                Some(probs.iter().zip(valid).all(|(&p, &valid)| (p > margin) == valid))
            }
        };
        steps.scored += usize::from(correct.is_some());
        steps.correct += usize::from(correct == Some(true));
    }
    steps
}

/// The first strings of a published test set with the rows of its mask, from its file if there is one.
#[expect(clippy::print_stderr, reason = "a test that did not look must say so")]
fn published(language: Published, count: usize) -> Vec<(Word, Vec<bool>)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/bliss");
    let Ok(file) = File::open(path.join(language.directory()).join(language.mask_file())) else {
        eprintln!("skipped: no released mask of {language}");
        return language.test().take(count).map(|word| (word.clone(), language.mask_row(&word))).collect();
    };
    let mut archive = Archive::new(file).unwrap();
    let rows = MaskReader::new(archive.content(None).unwrap()).unwrap();
    language.test().zip(rows.map(Result::unwrap)).take(count).collect()
}

fn rule_of(language: Published) -> StepRule {
    match language.mask_kind() {
        MaskKind::Deterministic => STRICT,
        MaskKind::ValidNext => StepRule::Categorical { margin: 0.2 },
    }
}

fn agrees<L: NextSymbol>(learner: &mut L, language: Published, count: usize) -> StepScores {
    let registered = registry::build(language.name()).unwrap();
    let rule = rule_of(language);
    let strings = published(language, count);
    let expected: Vec<StringSteps> =
        strings.iter().map(|(word, mask)| step_by_step(learner, word, mask, rule)).collect();
    let evaluation = Evaluation::published(&*registered, rule);
    let words = || strings.iter().map(|(word, _)| word.clone());
    let scores = evaluate_steps(learner, words(), &evaluation).unwrap();
    assert_eq!(scores.strings, expected, "{language}");
    assert!(scores.lengths.iter().copied().eq(words().map(|word| word.len())));
    // Stopping early finds the same first error.
    let stopped =
        evaluate_steps(learner, words(), &Evaluation { until: Until::FirstError, ..evaluation }).unwrap();
    assert_eq!(stopped.stopped.then(|| stopped.strings.len() - 1), first_rejected(&expected, 0.0));
    let complete = stopped.strings.len() - usize::from(stopped.stopped);
    assert_eq!(stopped.strings[..complete], expected[..complete]);
    // So does stopping after too many errors, and no sooner.
    let incorrect = |strings: &[StringSteps]| strings.iter().map(|s| s.scored - s.correct).sum::<usize>();
    let most = incorrect(&expected) / 20;
    let exceeded =
        evaluate_steps(learner, words(), &Evaluation { until: Until::MoreErrorsThan(most), ..evaluation })
            .unwrap();
    assert_eq!(exceeded.strings, expected[..exceeded.strings.len()]);
    assert_eq!(exceeded.stopped, exceeded.strings.len() < expected.len());
    assert!(!exceeded.stopped || incorrect(&exceeded.strings) > most);
    scores
}

#[test]
fn scores_are_those_of_reading_string_by_string() {
    for language in Published::ALL {
        let vocabulary = language.alphabet().len() + 1;
        let count = if language.mask_kind() == MaskKind::ValidNext { 700 } else { 90 };
        for (seed, cell) in [Cell::Lstm, Cell::Gru, Cell::Rnn].into_iter().enumerate() {
            let body = recurrent(cell);
            let scores = agrees(&mut network::<f32>(vocabulary, body.clone(), seed as u64), language, count);
            let all: usize = scores.lengths.iter().map(|n| n + 1).sum();
            assert!(scores.taken < all, "{language}: nothing was shared");
            agrees(&mut network::<f64>(vocabulary, body, seed as u64), language, count);
        }
        let train = language.corpus(100, PRIOR, SEED).unwrap();
        let corpus: Vec<Vec<u32>> =
            train.iter().map(|word| encode(word).iter().map(|s| u32::from(s.0)).collect()).collect();
        for order in [1, 2, 3] {
            let mut ngram = NGram::fit(order, vocabulary, corpus.iter().map(Vec::as_slice));
            agrees(&mut ngram, language, count);
        }
    }
}

#[test]
fn a_transformer_is_evaluated_too_up_to_its_max_length() {
    let transformer = |positions| {
        BodySpec::Transformer(TransformerSpec {
            layers: 1,
            width: 8,
            heads: 2,
            feedforward: 8,
            norm: NormPlace::Pre,
            final_norm: true,
            positions,
            scale_embedding: false,
            dropout: TransformerDropout::everywhere(0.0),
        })
    };
    let positions = Positions::Sinusoidal { layout: Sinusoid::Halves, first: 0 };
    agrees(&mut network::<f64>(3, transformer(positions), 1), Published::AnBn, 30);
    let mut short = network::<f64>(3, transformer(Positions::Learned { max: 10 }), 1);
    let language = registry::build("an-bn").unwrap();
    let error = evaluate_steps(&mut short, Published::AnBn.test(), &Evaluation::exact(&*language, STRICT))
        .unwrap_err();
    let message = "a test string has 11 symbols, its start included, but the learner reads no more than 10";
    assert_eq!(error.to_string(), message);
}

/// The scores of an untrained learner on the published strings of a factor.
fn scores_at<L: NextSymbol>(
    learner: &mut L,
    language: Published,
    slice: Slice,
    rule: StepRule,
    b: usize,
) -> Vec<StringSteps> {
    let registered = registry::build(language.name()).unwrap();
    let (train, test) = index_sizes(3, b).unwrap();
    let corpus = language.corpus(train, PRIOR, SEED).unwrap();
    let strings = language.slice(slice, &corpus, test);
    evaluate_steps(learner, strings, &Evaluation::published(&*registered, rule)).unwrap().strings
}

/// The index of a learner under each rule of acceptance, and its accuracies, over some factors.
fn index<L: NextSymbol>(
    learner: &mut L,
    language: Published,
    slice: Slice,
    rule: StepRule,
    factors: &[usize],
) -> ([Option<usize>; 2], Vec<f64>) {
    let scores: Vec<Vec<StringSteps>> =
        factors.iter().map(|&b| scores_at(learner, language, slice, rule, b)).collect();
    let index = Acceptance::ALL.map(|by| {
        let solved = scores.iter().map(|scores| by.holds(scores, rule.forgiven()) == Some(true));
        generalization_index(factors.iter().copied().zip(solved))
    });
    (index, scores.iter().filter_map(|scores| correct_steps(scores).value()).collect())
}

fn close(given: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(given.len(), expected.len());
    assert!(given.iter().zip(expected).all(|(a, b)| (a - b).abs() < tolerance), "{given:?} {expected:?}");
}

#[test]
fn repeating_the_last_symbol_scores_by_its_closed_form() {
    for (language, factors, firsts) in [
        (Published::AnBn, [1, 2].as_slice(), [25, 23]),
        (Published::AnBnCn, &[1, 2], [23, 21]),
        (Published::AnBnCnDn, &[1], [23, 21]),
    ] {
        let mut repeat = RepeatLast::new(language.alphabet().len() + 1);
        let (by, accuracies) = index(&mut repeat, language, Slice::Longer, LENIENT, factors);
        // One incorrect step per phase of n steps.
        let expected = |(&b, first): (&usize, usize)| {
            1.0 - (1000 * b) as f64 / (first..first + 1000 * b).sum::<usize>() as f64
        };
        close(&accuracies, &factors.iter().zip(firsts).map(expected).collect::<Vec<_>>(), 1e-12);
        assert_eq!(by, [factors.last().copied(), None], "{language}");
    }
    let (mut repeat, addition) = (RepeatLast::new(4), Published::AnBmCnPlusM);
    let (by, accuracies) = index(&mut repeat, addition, Slice::Longer, LENIENT, &[1, 2, 4, 10]);
    assert_eq!(by, [None, None]);
    close(&accuracies, &[0.977, 0.981, 0.985, 0.990], 6e-4);
    // From 21 to 120, n + m is 141 on average, and one of these steps is incorrect.
    let (_, accuracies) = index(&mut repeat, addition, Slice::Square, LENIENT, &[10]);
    close(&accuracies, &[1.0 - 1.0 / 141.0], 1e-12);
}

#[test]
fn knowing_the_language_scores_everything_and_guessing_nothing() {
    for language in Published::ALL {
        let registered = registry::build(language.name()).unwrap();
        let categorical = language.mask_kind() == MaskKind::ValidNext;
        let rule = if categorical { StepRule::Categorical { margin: 0.0 } } else { STRICT };
        for mut grammar in [
            Grammar::of(&*registered),
            Grammar::published(&*registered, released(language.name()).unwrap(), PRIOR),
        ] {
            let strings = test_after(&*registered, 16, 200);
            let scores =
                evaluate_steps(&mut grammar, strings, &Evaluation::exact(&*registered, rule)).unwrap();
            assert_eq!(Acceptance::EveryString.holds(&scores.strings, 0.0), Some(true), "{language}");
        }
        let mut uniform = Uniform::new(language.alphabet().len() + 1);
        let (by, accuracies) =
            index(&mut uniform, language, Slice::Longer, rule, if categorical { &[4, 10] } else { &[1] });
        assert_eq!(by, [None, None], "{language}");
        match language {
            // Of equal probabilities the first is that of the end: correct at the last of 2n steps.
            Published::AnBnCn => {
                close(&accuracies, &[1000.0 / (2 * (23..1023).sum::<usize>()) as f64], 1e-12);
            }
            // No step of a Dyck language allows everything.
            _ if categorical => assert!(accuracies.iter().all(|&accuracy| accuracy < 1e-12)),
            _ => {}
        }
    }
    // The released strings of Dyck-2 are no longer than the larger corpora: there are no test strings at 1 and 2.
    let dyck = registry::build("dyck-2").unwrap();
    let rule = StepRule::Categorical { margin: 0.0 };
    let mut grammar = Grammar::of(&*dyck);
    let (by, accuracies) = index(&mut grammar, Published::Dyck2, Slice::Longer, rule, &[1, 2, 4, 10]);
    assert_eq!((by, accuracies), ([Some(10); 2], vec![1.0; 2]));
}

/// Checks scores for any language, with its own next-symbol sets as the mask.
fn exactly(
    language: &dyn Language,
    learner: &mut impl NextSymbol,
    words: &[Word],
    rule: StepRule,
) -> StepScores {
    let expected: Vec<StringSteps> = words
        .iter()
        .map(|word| match rule {
            StepRule::Categorical { .. } => step_by_step(learner, word, &valid_next(language, word), rule),
            StepRule::Deterministic { .. } => {
                let mask: Vec<bool> =
                    language.next_sets(word).iter().map(NextSet::size).map(|size| size == 1).collect();
                step_by_step(learner, word, &mask, rule)
            }
        })
        .collect();
    let scores = evaluate_steps(learner, words.iter().cloned(), &Evaluation::exact(language, rule)).unwrap();
    assert_eq!(scores.strings, expected, "{language:?}");
    scores
}

#[test]
fn every_language_can_be_evaluated_in_any_order() {
    for entry in registry::LANGUAGES {
        let language = registry::build(entry.name).unwrap();
        let mut words: Vec<Word> = test_after(&*language, 0, 60).collect();
        // The same string twice, and long ones before short ones.
        words.extend(words.first().cloned());
        words.reverse();
        let mut learner = network::<f64>(language.alphabet().len() + 1, recurrent(Cell::Lstm), 5);
        for rule in [STRICT, StepRule::Categorical { margin: 0.1 }] {
            exactly(&*language, &mut learner, &words, rule);
        }
    }
}

#[test]
fn repeated_states_are_not_computed_again() {
    let language = registry::build("an-bn").unwrap();
    let words: Vec<Word> = test_after(&*language, 2000, 10).collect();
    let own_steps: usize = words.iter().map(|word| word.len() / 2).sum();
    let saving = [Cell::Lstm, Cell::Gru, Cell::Rnn].into_iter().filter(|&cell| {
        let scores = exactly(&*language, &mut network::<f32>(3, recurrent(cell), 5), &words, STRICT);
        scores.taken < own_steps
    });
    assert!(saving.count() > 0, "no network reached a fixed point");
}
