"""Learners in Python: a class with `fit` and the method of its role."""

import ctypes
import hashlib
import inspect
import json
import threading
from typing import Protocol, runtime_checkable

import numpy as np

from ._arrays import mask, padded, whole
from ._wug import doctor as _doctor

# The methods of each role, beside `fit`.
ROLES = {
    "recognizer": ["log_odds"],
    "next-symbol": ["next_probs"],
    "transducer": ["log_probs", "output"],
    "incremental": ["observe", "answers"],
}


@runtime_checkable
class Learner(Protocol):
    """What a learner has: `fit`, and the methods of its role (:data:`ROLES`)."""

    def fit(self, task):
        """Learns from `task.training`."""


class Examples:
    """What to learn from: padded ids, lengths, and labels or outputs where there are some."""

    def __init__(self, ids, lengths, labels, outputs):
        self.lengths = whole(lengths)
        self.ids = padded(whole(ids), self.lengths)
        self.labels = None if labels is None else np.frombuffer(bytearray(labels), bool)
        self.outputs = self.output_lengths = None
        if outputs is not None:
            self.output_lengths = whole(outputs[1])
            self.outputs = padded(whole(outputs[0]), self.output_lengths)

    def __len__(self):
        return len(self.lengths)

    def batches(self, size, *, shuffle=False, seed=0):
        """Batches of at most `size` strings: (ids, lengths, labels), cut to the longest of the batch."""
        order = np.random.default_rng(seed).permutation(len(self)) if shuffle else np.arange(len(self))
        for start in range(0, len(self), size):
            some = order[start : start + size]
            lengths = self.lengths[some]
            labels = None if self.labels is None else self.labels[some]
            yield self.ids[some, : int(lengths.max(initial=0))], lengths, labels


class Task:
    """What a learner is fitted to.

    `role`, `seed`, `settings` (a dictionary), `alphabet` (the tokens of 1, 2, …), `output_alphabet`, `vocabulary` (the number of ids, 0
    included), `seconds` and `parameters` (the budget), `training` and `validation` (:class:`Examples`, or `None`).
    """

    def __init__(self, about, training=None, validation=None):
        about = json.loads(about)
        self.role = about["role"]
        self.seed = about["seed"]
        self.settings = about["settings"]
        self.alphabet = about["alphabet"]
        self.output_alphabet = about["output_alphabet"]
        self.vocabulary = about["vocabulary"]
        self.seconds = about["budget"]["seconds"]
        self.parameters = about["budget"]["parameters"]
        self.training = None if training is None else Examples(*training)
        self.validation = None if validation is None else Examples(*validation)

    def __repr__(self):
        return f"Task({self.role!r}, {len(self.training)} strings, {self.vocabulary} ids, seed {self.seed})"


# The threads that run a learner's code now.
_active = set()


def interrupt():
    """Raises KeyboardInterrupt in every learner that is running."""
    for thread in list(_active):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))


class _Running:
    def __enter__(self):
        _active.add(threading.get_ident())

    def __exit__(self, *_):
        _active.discard(threading.get_ident())


class Adapter:
    """A learner as the lab talks to it: bytes in, bytes out."""

    def __init__(self, make):
        with _Running():
            self.learner = make()

    def fit(self, about, training, validation):
        with _Running():
            task = Task(about, training, validation)
            self.learner.fit(task)
            parameters = getattr(self.learner, "parameters", None)
            return parameters if isinstance(parameters, int) else None

    def _numbers(self, what, answer):
        """An answer as an array of real numbers; NumPy would make such of dates, texts and masked values too."""
        if hasattr(answer, "detach"):  # a tensor of PyTorch, wherever it is
            answer = answer.detach().cpu().numpy()
        name = f"{type(self.learner).__name__}.{what}"
        if isinstance(answer, np.ma.MaskedArray):
            raise TypeError(f"{name} returned a masked array; every answer must have a value (`.filled(…)` gives it one)")
        answer = np.asarray(answer)
        if not np.can_cast(answer.dtype, np.float64, "same_kind"):
            raise TypeError(f"{name} returned an array of {answer.dtype}; it must be of real numbers")
        return answer.astype(np.float64, copy=False)

    def _array(self, what, answer, expected):
        answer = self._numbers(what, answer)
        if answer.shape != expected:
            name = f"{type(self.learner).__name__}.{what}"
            raise ValueError(f"{name} returned an array of shape {answer.shape}; it must be {expected}")
        return answer

    def log_odds(self, ids, lengths):
        with _Running():
            lengths = whole(lengths)
            ids = padded(whole(ids), lengths)
            return self._array("log_odds", self.learner.log_odds(ids, lengths), (len(ids),)).tobytes()

    def next_probs(self, ids, lengths, vocabulary):
        with _Running():
            lengths = whole(lengths)
            ids = padded(whole(ids), lengths)
            answer = self._array("next_probs", self.learner.next_probs(ids, lengths), (*ids.shape, vocabulary))
            if (lengths == ids.shape[1]).all():
                return np.ascontiguousarray(answer).tobytes()
            return np.ascontiguousarray(answer[mask(lengths, ids.shape[1])]).tobytes()

    def _masked(self, ids, lengths, where):
        lengths = whole(lengths)
        return padded(whole(ids), lengths), lengths, padded(np.frombuffer(where, bool), lengths)

    def observe(self, ids, lengths, where):
        with _Running():
            self.learner.observe(*self._masked(ids, lengths, where))

    def answers(self, ids, lengths, where):
        with _Running():
            ids, lengths, where = self._masked(ids, lengths, where)
            answer = self._array("answers", self.learner.answers(ids, lengths, where), ids.shape)
            return np.ascontiguousarray(answer[where]).tobytes()

    def log_probs(self, ids, lengths, outputs, sizes):
        with _Running():
            lengths, sizes = whole(lengths), whole(sizes)
            ids, outputs = padded(whole(ids), lengths), padded(whole(outputs), sizes)
            answer = self.learner.log_probs(ids, lengths, outputs, sizes)
            return self._array("log_probs", answer, (len(ids),)).tobytes()

    def output(self, symbols, shortest, longest):
        with _Running():
            found = self.learner.output(np.array(symbols, np.int64), shortest, longest)
            found = self._numbers("output", found if hasattr(found, "__len__") else list(found))
            if found.ndim != 1 or (found != np.floor(found)).any():
                name = f"{type(self.learner).__name__}.output"
                raise ValueError(f"{name} returned {found.tolist()}; it must be a list of ids")
            return [int(symbol) for symbol in found]

    def save(self):
        save = getattr(self.learner, "save", None)
        if save is None:
            return None
        with _Running():
            return save()

    def load(self, about, state):
        with _Running():
            self.learner.load(Task(about), state)


def roles_of(learner):
    """The roles of a class or an object, by its methods."""
    roles = [role for role, methods in ROLES.items() if all(callable(getattr(learner, m, None)) for m in methods)]
    if not roles or not callable(getattr(learner, "fit", None)):
        methods = ", or ".join(f"`{'` and `'.join(methods)}` ({role})" for role, methods in ROLES.items())
        raise TypeError(f"{learner!r} is no learner: it needs `fit` and {methods}")
    return roles


def version_of(learner):
    """Its attribute `version`, or a hash of its source: other code is another learner."""
    version = getattr(learner, "version", None)
    if version is not None:
        return str(version)
    kind = learner if inspect.isclass(learner) else type(learner)
    try:
        source = inspect.getsource(kind)
    except (OSError, TypeError):
        return "unknown"
    return hashlib.sha256(source.encode()).hexdigest()[:12]


def name_of(learner):
    """Its attribute `name`, or that of its class."""
    name = getattr(learner, "name", None)
    kind = learner if inspect.isclass(learner) else type(learner)
    return name if isinstance(name, str) else kind.__name__


def maker(learner):
    """Makes adapters of a class (a new object for each run), or of an object (the same for all)."""
    make = learner if inspect.isclass(learner) else lambda: learner
    return lambda: Adapter(make)


class Checks(list):
    """What the doctor found: dictionaries with name, role and finding."""

    @property
    def mistakes(self):
        """Those that are mistakes."""
        return [check for check in self if check["finding"]["outcome"] == "mistake"]

    def __repr__(self):
        marks = {"fine": "ok", "mistake": "MISTAKE", "unknown": "unknown"}
        lines = []
        for check in self:
            finding = check["finding"]
            lines.append(f"{marks[finding['outcome']]:8} {check['name']} ({check['role']})")
            lines += [f"         {finding[key]}" for key in ("seen", "cause", "why") if key in finding]
        return "\n".join(lines)


def doctor(learner, *, role=None, seconds=600.0):
    """Examines a learner for the mistakes that people make: shifted rows, lost boundaries, a future that leaks, …

    >>> import numpy as np, wug
    >>> class Uniform:
    ...     def fit(self, task):
    ...         self.ids = task.vocabulary
    ...     def next_probs(self, ids, lengths):
    ...         return np.full((*ids.shape, self.ids), 0.5)
    >>> [check["name"] for check in wug.doctor(Uniform).mistakes]
    ['probabilities add up to one']
    """
    checks = Checks()
    for each in [role] if role else roles_of(learner):
        checks += json.loads(_doctor(maker(learner), each, seconds, interrupt))
    return checks
