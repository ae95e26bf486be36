import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

__version__: str

Ids = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Strings_ = str | Sequence[str] | Sequence[Sequence[int]] | Ids

class WugError(Exception): ...
class UsageError(ValueError): ...

class Language:
    name: str
    tokens: list[str]
    definition: str
    citation: str
    def encode(self, string: str) -> list[int]: ...
    def decode(self, ids: Sequence[int] | Ids) -> str: ...
    def __contains__(self, string: str | Sequence[int]) -> bool: ...
    def contains(self, strings: Strings_, lengths: Ids | None = None) -> Flags: ...
    def sample(
        self,
        n: int,
        *,
        lengths: tuple[int, int] = (0, 40),
        negative: bool = False,
        natural: bool = False,
        seed: int = 0,
    ) -> tuple[Ids, Ids]: ...
    def next_sets(self, strings: Strings_, lengths: Ids | None = None) -> Flags: ...
    def log_prob(self, strings: Strings_, lengths: Ids | None = None, *, natural: bool = False) -> Reals: ...
    def distance(self, string: str | Sequence[int]) -> tuple[int, str]: ...

def language(name: str, *, reading: str = "corrected") -> Language: ...
def pad(strings: Sequence[Sequence[int]]) -> tuple[Ids, Ids]: ...
def unpad(ids: Ids, lengths: Ids) -> list[list[int]]: ...

class Strings:
    texts: list[str]
    ids: Ids
    lengths: Ids
    def __len__(self) -> int: ...
    def between_boundaries(self) -> tuple[Ids, Ids]: ...

class Split:
    name: str
    rows: list[dict[str, Any]]
    columns: list[str]
    ids: Ids
    lengths: Ids
    labels: Flags
    mask: Flags
    next_sets: Flags
    string_columns: list[str]
    def __len__(self) -> int: ...
    def column(self, name: str) -> list[Any]: ...
    def strings(self, column: str | None = None) -> Strings: ...
    def batches(
        self, size: int, *, column: str | None = None, shuffle: bool = False, seed: int = 0
    ) -> Iterator[dict[str, Any]]: ...

class Dataset(dict[str, Split]):
    manifest: dict[str, Any]
    files: dict[str, bytes]
    language: Language | None
    tokens: list[str]
    output_tokens: list[str] | None

def data(
    what: str, *, seed: int | None = None, reading: str = "corrected", sizes: Mapping[str, object] | None = None
) -> Dataset: ...

Scores = dict[str, dict[str, Any]]

def recognition(
    log_odds: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    spoken: str | Language = "parity",
    ids: Ids | None = None,
    lengths: Ids | None = None,
) -> Scores: ...
def language_modeling(
    spoken: str | Language,
    ids: npt.ArrayLike,
    lengths: npt.ArrayLike,
    log_probs: npt.ArrayLike,
    *,
    drawn: tuple[int, int] | None = None,
) -> Scores: ...
def next_symbols(
    spoken: str | Language, ids: npt.ArrayLike, lengths: npt.ArrayLike, logits: npt.ArrayLike
) -> Scores: ...
def steps(
    spoken: str | Language,
    ids: npt.ArrayLike,
    lengths: npt.ArrayLike,
    probs: npt.ArrayLike,
    *,
    measure: str = "deterministic",
    margin: float = 0.0,
) -> dict[str, Any]: ...
def pair_accuracy(
    good: npt.ArrayLike,
    bad: npt.ArrayLike,
    *,
    good_lengths: npt.ArrayLike | None = None,
    bad_lengths: npt.ArrayLike | None = None,
) -> Scores: ...
def perplexity(log_probs: npt.ArrayLike, lengths: npt.ArrayLike | None = None) -> Scores: ...
def wade(
    accuracies: Sequence[float],
    steps: Sequence[float] | None = None,
    *,
    variant: str = "equation",
    chance: float | None = None,
) -> Scores: ...
def agreement(
    outputs: Sequence[str] | Sequence[Sequence[int]],
    rules: Mapping[str, Sequence[str] | Sequence[Sequence[int]]],
) -> dict[str, Scores]: ...
def description_length(nats: Sequence[float], examples: int) -> Scores: ...
def generalization_index(solved: Mapping[int, bool]) -> int | None: ...

class Examples:
    ids: Ids
    lengths: Ids
    labels: Flags | None
    outputs: Ids | None
    output_lengths: Ids | None
    def __len__(self) -> int: ...
    def batches(
        self, size: int, *, shuffle: bool = False, seed: int = 0
    ) -> Iterator[tuple[Ids, Ids, Flags | None]]: ...

class Task:
    role: str
    seed: int
    settings: dict[str, Any]
    alphabet: list[str]
    output_alphabet: list[str] | None
    vocabulary: int
    seconds: float
    parameters: int | None
    training: Examples
    validation: Examples | None

@runtime_checkable
class Learner(Protocol):
    def fit(self, task: Task) -> object: ...

class Checks(list[dict[str, Any]]):
    mistakes: list[dict[str, Any]]

def doctor(learner: type[Learner] | Learner, *, role: str | None = None, seconds: float = 600.0) -> Checks: ...

class Model:
    role: str
    vocabulary: int
    config: dict[str, Any]
    def log_odds(self, ids: Ids | Sequence[Sequence[int]], lengths: Ids | None = None) -> Reals: ...
    def next_probs(self, ids: Ids | Sequence[Sequence[int]], lengths: Ids | None = None) -> Reals: ...

def load_model(directory: str | os.PathLike[str]) -> Model: ...

class Report:
    def text(self) -> str: ...
    def markdown(self) -> str: ...
    def csv(self) -> str: ...
    def html(self) -> str: ...
    def json(self) -> Any: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...

class Sweep(os.PathLike[str]):
    directory: Path
    failed: int | None
    def __init__(self, directory: str | os.PathLike[str]) -> None: ...
    def __fspath__(self) -> str: ...
    def report(self) -> Report: ...
    def scores(self) -> list[dict[str, Any]]: ...
    def rows(self, what: str = "scores") -> list[dict[str, Any]]: ...
    def frame(self, what: str = "scores") -> Any: ...

def run(
    experiment: str | os.PathLike[str],
    *,
    scale: str = "paper",
    learners: Sequence[str | dict[str, Any] | type[Learner] | Learner] = (),
    out: str | os.PathLike[str] | None = None,
    sets: Mapping[str, object] | None = None,
    jobs: int = 1,
    keep: str | Sequence[str] = (),
    quiet: bool = False,
) -> Sweep: ...
def report(*directories: str | os.PathLike[str]) -> Report: ...
def languages() -> list[dict[str, Any]]: ...
def suites() -> list[dict[str, Any]]: ...
def learners() -> list[dict[str, Any]]: ...
def protocols() -> list[dict[str, Any]]: ...
def metrics() -> list[dict[str, Any]]: ...
def experiments() -> list[dict[str, Any]]: ...
