"""Metrics as functions of arrays."""

import json

import numpy as np

from ._arrays import flat, mask, whole
from ._language import Language, language
from ._wug import examples as _examples
from ._wug import index as _index
from ._wug import steps as _steps


def _core(spoken):
    return (spoken if isinstance(spoken, Language) else language(spoken))._core


def _per_prefix(values, lengths):
    """Values of a padded array, one (row) per prefix, one after the other."""
    values = np.ascontiguousarray(values, np.float64)
    return np.ascontiguousarray(values[mask(lengths + 1, values.shape[1])]).tobytes()


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
        _examples(_core(spoken), data, sizes, labels.tobytes(), log_odds.tobytes(), None, None, None)
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
    return json.loads(_examples(_core(spoken), data, sizes, labels.tobytes(), None, logs, None, drawn))


def next_symbols(spoken, ids, lengths, logits):
    """Next-symbol sets of members: a dictionary by metric.

    `logits` (strings, longest + 1, symbols + 1) are the log-odds that each symbol may come, the end in column 0.

    >>> import wug
    >>> logits = [[[-1, 1, -1], [-1, 1, 1], [1, -1, -1]]]
    >>> wug.next_symbols("an-bn", [[1, 2]], [2], logits)["next_symbols_string_accuracy"]["value"]
    1.0
    """
    data, sizes = flat(np.asarray(ids), np.asarray(lengths))
    lengths = whole(sizes)
    labels = np.ones(len(lengths), bool)
    cells = _per_prefix(logits, lengths)
    return json.loads(_examples(_core(spoken), data, sizes, labels.tobytes(), None, None, cells, None))


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
