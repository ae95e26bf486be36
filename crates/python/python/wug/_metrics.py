"""Metrics as functions of arrays."""

import json

import numpy as np

from ._arrays import flat, joined, whole
from ._language import Language, language
from ._wug import UsageError
from ._wug import agreement as _agreement
from ._wug import description_length as _description_length
from ._wug import examples as _examples
from ._wug import index as _index
from ._wug import next_symbols as _next_symbols
from ._wug import pairs as _pairs
from ._wug import perplexity as _perplexity
from ._wug import steps as _steps
from ._wug import wade as _wade


def _core(spoken):
    return (spoken if isinstance(spoken, Language) else language(spoken))._core


def _per_prefix(values, lengths):
    """Values of a padded array, one (row) per prefix, one after the other."""
    values = np.ascontiguousarray(values, np.float64)
    if len(values) != len(lengths) or (len(lengths) and lengths.max() >= values.shape[1]):
        longest = int(lengths.max(initial=0))
        raise UsageError(
            f"there are {len(lengths)} strings of up to {longest} symbols, which need an array of at least "
            f"({len(lengths)}, {longest + 1}); this one is {values.shape}"
        )
    return joined(values, lengths + 1)


def recognition(log_odds, labels, *, spoken="parity", ids=None, lengths=None):
    """Accuracy and cross-entropy of a recognizer: a dictionary by metric.

    >>> import wug
    >>> scores = wug.recognition([2.0, 0.5], [True, False])
    >>> scores["recognition_accuracy"]["value"], scores["recognition_accuracy"]["chance"]
    (0.5, 0.5)
    """
    log_odds = np.ascontiguousarray(log_odds, np.float64)
    labels = np.ascontiguousarray(labels, bool)
    if ids is None:
        ids, lengths = np.zeros((len(labels), 0), np.int64), np.zeros(len(labels), np.int64)
    data, sizes = flat(ids, lengths)
    return json.loads(
        _examples(_core(spoken), data, sizes, labels.tobytes(), log_odds.tobytes(), None, None)
    )


def language_modeling(spoken, ids, lengths, log_probs, *, drawn=None):
    """Cross-entropy of members under a next-symbol model: a dictionary by metric.

    `log_probs` has, for each string, the log-probability of each symbol and of the end (padded). With `drawn`, the range of
    lengths that the strings were drawn from, the optimum is known.

    >>> import wug
    >>> scores = wug.language_modeling("parity", [[1, 2]], [2], [[-0.7, -0.7, -0.7]])
    >>> round(scores["language_modeling_symbol_cross_entropy"]["value"], 3)
    0.7
    """
    data, sizes = flat(np.asarray(ids), np.asarray(lengths))
    lengths = whole(sizes)
    labels = np.ones(len(lengths), bool)
    logs = _per_prefix(log_probs, lengths)
    return json.loads(_examples(_core(spoken), data, sizes, labels.tobytes(), None, logs, drawn))


def next_symbols(spoken, ids, lengths, logits):
    """Next-symbol sets of members: a dictionary by metric.

    `logits` (strings, longest + 1, symbols + 1) are the log-odds that each symbol may come, the end in column 0.

    >>> import wug
    >>> logits = [[[-1, 1, -1], [-1, 1, 1], [1, -1, -1]]]
    >>> wug.next_symbols("an-bn", [[1, 2]], [2], logits)["next_symbols_string_accuracy"]["value"]
    1.0
    """
    data, sizes = flat(np.asarray(ids), np.asarray(lengths))
    return json.loads(_next_symbols(_core(spoken), data, sizes, _per_prefix(logits, whole(sizes))))


def steps(spoken, ids, lengths, probs, *, measure="deterministic", margin=0.0):
    """Predictions scored step by step: accuracy, accepted strings, and whether the set is solved.

    `probs` (strings, longest + 1, symbols + 1) has the end in column 0.

    >>> import wug
    >>> probs = [[[0.1, 0.9, 0], [0, 0.5, 0.5], [1, 0, 0]]]
    >>> wug.steps("an-bn", [[1, 2]], [2], probs)["accuracy"]
    1.0
    """
    data, sizes = flat(np.asarray(ids), np.asarray(lengths))
    cells = _per_prefix(probs, whole(sizes))
    return json.loads(_steps(_core(spoken), data, sizes, cells, measure, margin))


def generalization_index(solved):
    """The index: the largest factor whose test was solved; `None` if none was.

    >>> import wug
    >>> wug.generalization_index({1: True, 2: False, 4: True, 10: False})
    4
    """
    return _index([(int(factor), bool(is_solved)) for factor, is_solved in dict(solved).items()])


def _logs(values, lengths):
    """Numbers of a padded array one after the other, and how many each string has."""
    values = np.ascontiguousarray(values, np.float64)
    values = values[:, None] if values.ndim == 1 else values
    lengths = np.full(len(values), values.shape[1]) if lengths is None else lengths
    lengths = np.ascontiguousarray(lengths, np.int64)
    if len(lengths) != len(values) or (len(values) and not 0 <= lengths.min() <= lengths.max() <= values.shape[1]):
        raise UsageError(f"lengths must be from 0 to {values.shape[1]}, one for each of {len(values)} strings")
    return joined(values, lengths), lengths.tobytes()


def pair_accuracy(good, bad, *, good_lengths=None, bad_lengths=None):
    """Accuracy on minimal pairs: a dictionary by metric, which name what is compared and what a tie counts.

    `good` and `bad` (pairs, longest) are the log-probabilities of the symbols and the end of each string, padded; lengths say how
    many each has. Arrays (pairs,) are those of whole strings.

    >>> import wug
    >>> scores = wug.pair_accuracy([-1.0, -3.0], [-2.0, -2.5])
    >>> scores["pair_accuracy_sum"]["value"]
    0.5
    """
    return json.loads(_pairs(*_logs(good, good_lengths), *_logs(bad, bad_lengths)))


def perplexity(log_probs, lengths=None):
    """Perplexity per symbol: `log_probs` (strings, longest) of symbols and ends, padded; lengths say how many each string has.

    >>> import numpy as np, wug
    >>> round(wug.perplexity(np.log([[0.5, 0.5, 1.0], [0.5, 0.5, 0.5]]), [2, 3])["perplexity"]["value"], 6)
    2.0
    """
    return json.loads(_perplexity(*_logs(log_probs, lengths)))


def wade(accuracies, steps=None, *, variant="equation", chance=None):
    """Weighted average data efficiency of a learning curve: a dictionary by metric.

    `accuracies` at `steps` (from 1 on; 1, 2, … if none are given). `variant` is `equation`, `benchmark`, `imdb` or `imdb-smoothed`; with `chance`, the
    accuracy of a guess, what is above it is measured too.

    >>> import wug
    >>> wug.wade([1.0])["wade"]["value"]
    1.0
    """
    accuracies = [float(accuracy) for accuracy in accuracies]
    steps = range(1, len(accuracies) + 1) if steps is None else steps
    steps = [float(step) for step in steps]
    if len(steps) != len(accuracies):
        raise UsageError(f"there are {len(steps)} steps and {len(accuracies)} accuracies")
    return json.loads(_wade(steps, accuracies, variant, chance))


def agreement(outputs, rules):
    """Which rule outputs are those of: for each rule a dictionary by metric.

    `outputs` are strings of ids (or texts), `rules` those of each rule by its name.

    >>> import wug
    >>> scores = wug.agreement([[1, 1], [1]], {"count": [[1, 1], [1]], "mem": [[1, 1], [1, 1]]})
    >>> scores["count"]["perfect_agreement"]["value"], scores["mem"]["exact_match"]["value"]
    (1.0, 0.5)
    """
    found = {}
    for name, expected in rules.items():
        if len(expected) != len(outputs):
            raise UsageError(f"there are {len(outputs)} outputs, and rule `{name}` has {len(expected)}")
        same = [_symbols(a) == _symbols(b) for a, b in zip(outputs, expected)]
        found[name] = json.loads(_agreement(same))
    return found


def _symbols(string):
    return string.split() if isinstance(string, str) else [int(symbol) for symbol in string]


def description_length(nats, examples):
    """The description length of `examples` examples, from the nats of the blocks in which they are sent: a dictionary by metric.

    >>> import wug
    >>> wug.description_length([1.0, 5.0], 4)["description_length_per_example"]["value"]
    1.5
    """
    return json.loads(_description_length([float(block) for block in nats], int(examples)))
