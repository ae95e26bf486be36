"""Data sets of all suites as arrays."""

import json

import numpy as np

from ._arrays import padded
from ._language import language
from ._wug import UsageError
from ._wug import data as _data


def data(what, *, seed=None, reading="corrected", sizes=None):
    """A data set, drawn as `wug data` draws it: the same seed gives the same strings.

    `what` is SUITE/NAME; `sizes` are the options of `--set`.

    >>> import wug
    >>> parity = wug.data("flare/parity", sizes={"training.size": 4, "test.size": 3})
    >>> parity["training"].labels.shape
    (4,)
    >>> pairs = wug.data("tse/nested:terminals=5", sizes={"train": 5, "test": 2, "ood": 2, "validation": 2})
    >>> sorted(pairs)
    ['out-of-distribution', 'test', 'train', 'validation']
    """
    options = [(key, str(value)) for key, value in (sizes or {}).items()]
    files = _data(what, seed, reading, options)
    return Dataset(what, files, reading)


class Strings:
    """Strings of one column: padded ids (0 is padding) and lengths."""

    def __init__(self, texts, numbers):
        self.texts = texts
        tokens = [text.split() for text in texts]
        self.lengths = np.fromiter((len(t) for t in tokens), np.int64, len(tokens))
        total = int(self.lengths.sum())
        self.ids = padded(np.fromiter((numbers[t] for ts in tokens for t in ts), np.int64, total), self.lengths)

    def __len__(self):
        return len(self.texts)

    def between_boundaries(self):
        """The same with the boundary, 0, before and after each string: what a next-symbol model is trained on."""
        width = self.ids.shape[1] + 2
        ids = np.zeros((len(self), width), np.int64)
        ids[:, 1:-1] = self.ids
        return ids, self.lengths + 2


class Split:
    """A split: its columns as lists, and those that hold strings as arrays."""

    def __init__(self, name, rows, numbers, spoken):
        self.name = name
        self.rows = rows
        self._numbers = numbers
        self._spoken = spoken
        self._strings = {}

    def __len__(self):
        return len(self.rows)

    def __repr__(self):
        return f"Split({self.name!r}, {len(self)} rows, columns {', '.join(self.columns)})"

    @property
    def columns(self):
        """The names of the columns."""
        return list(self.rows[0]) if self.rows else []

    def column(self, name):
        """A column, as a list."""
        return [row[name] for row in self.rows]

    def strings(self, column="string"):
        """A column of strings as arrays."""
        if column not in self._strings:
            self._strings[column] = Strings(self.column(column), self._numbers)
        return self._strings[column]

    @property
    def ids(self):
        """The strings as padded ids."""
        return self.strings().ids

    @property
    def lengths(self):
        """How long the strings are."""
        return self.strings().lengths

    @property
    def labels(self):
        """Whether each string is a member."""
        return np.array(self.column("label"), bool)

    @property
    def next_sets(self):
        """What may come after each prefix: (strings, longest + 1, symbols + 1), the end in column 0."""
        if self._spoken is None:
            raise UsageError("next-symbol sets are those of a language, and these data are of a task")
        return self._spoken.next_sets(self.ids, self.lengths)

    def batches(self, size, *, shuffle=False, seed=0):
        """Batches of at most `size` strings: dictionaries with ids, lengths, and labels where there are some."""
        order = np.random.default_rng(seed).permutation(len(self)) if shuffle else np.arange(len(self))
        strings, labels = self.strings(), self.labels if "label" in self.columns else None
        for start in range(0, len(self), size):
            some = order[start : start + size]
            lengths = strings.lengths[some]
            batch = {"ids": strings.ids[some, : int(lengths.max(initial=0))], "lengths": lengths}
            if labels is not None:
                batch["labels"] = labels[some]
            yield batch


class Dataset(dict):
    """The splits of a data set, by name."""

    def __init__(self, what, files, reading):
        self.manifest = json.loads(files["wug.json"])
        self.files = files
        rows = {}
        for name, content in files.items():
            stem, _, kind = name.rpartition(".")
            if kind == "jsonl" and stem != "tests":
                rows[stem] = [json.loads(line) for line in content.splitlines()]
        try:
            self.language = language(self.manifest["name"], reading=reading)
            self.tokens = self.language.tokens
        except UsageError:
            self.language = None
            self.tokens = sorted({token for split in rows.values() for row in split for token in _tokens(row)})
        numbers = {token: i + 1 for i, token in enumerate(self.tokens)}
        super().__init__({name: Split(name, some, numbers, self.language) for name, some in rows.items()})

    def __repr__(self):
        return f"Dataset({self.manifest['suite']}/{self.manifest['name']}: {', '.join(self)})"


def _tokens(row):
    for value in row.values():
        if isinstance(value, str):
            yield from value.split()
