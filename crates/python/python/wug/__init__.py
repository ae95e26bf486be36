"""Measures how sequence models generalise: did it learn the rule, or the data?

Languages, data sets, metrics and experiments of wug, and models of your own in its tables:

>>> import wug
>>> parity = wug.language("parity")
>>> "0 1 1" in parity, "0 1" in parity
(False, True)
>>> wug.data("flare/parity", sizes={"training.size": 100})["training"].ids.shape[0]
100

A learner is a class with `fit` and the method of its role; ``docs/models.md`` is the contract in full.
"""

from ._data import Dataset, Split, Strings, data
from ._language import Language, language, pad, unpad
from ._learners import Checks, Examples, Learner, Task, doctor
from ._lists import experiments, languages, learners, metrics, protocols, suites
from ._metrics import (
    agreement,
    description_length,
    generalization_index,
    language_modeling,
    next_symbols,
    pair_accuracy,
    perplexity,
    recognition,
    steps,
    wade,
)
from ._model import Model, load_model
from ._run import Report, Sweep, report, run
from ._wug import VERSION as __version__
from ._wug import UsageError, WugError

__all__ = [
    "Checks",
    "Dataset",
    "Examples",
    "Language",
    "Learner",
    "Model",
    "Report",
    "Split",
    "Strings",
    "Sweep",
    "Task",
    "UsageError",
    "WugError",
    "__version__",
    "agreement",
    "data",
    "description_length",
    "doctor",
    "experiments",
    "generalization_index",
    "language",
    "language_modeling",
    "languages",
    "learners",
    "load_model",
    "metrics",
    "next_symbols",
    "pad",
    "pair_accuracy",
    "perplexity",
    "protocols",
    "recognition",
    "report",
    "run",
    "steps",
    "suites",
    "unpad",
    "wade",
]
