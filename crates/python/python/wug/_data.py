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
    files, *tokens = _data(what, seed, reading, options)
    return Dataset(what, files, reading, *tokens)


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


# The columns of strings that suites have; the first that a split has is meant where none is named.
_MAIN = ("string", "good", "input", "text")


class Split:
    """A split: its columns as lists, and those that hold strings as arrays.

    A data set of recognition has one column of strings, `string`. Minimal pairs have `good` and `bad`, transductions `input`,
    `output` (training pairs) and one for each rule (held-out inputs), masked sequences `text`, of which `mask` says where the
    answers are. `ids`, `lengths` and `batches` are about the first of these; `strings(column)` gives any.

    >>> import wug
    >>> qa = wug.data("wade/qa", sizes={"n": 10})["train"]
    >>> qa.ids.shape == qa.mask.shape, int(qa.mask.sum(1).min())
    (True, 1)
    """

    def __init__(self, name, rows, numbers, spoken):
        self.name = name
        self.rows = rows
        # The ids of tokens, by column; those of `None` are for all others.
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

    @property
    def string_columns(self):
        """The names of the columns that hold a string in every row."""
        return [name for name in self.columns if all(isinstance(row[name], str) for row in self.rows)]

    def column(self, name):
        """A column, as a list."""
        if name not in self.columns:
            raise UsageError(f"split `{self.name}` has no column `{name}`; it has: {', '.join(self.columns)}")
        return [row[name] for row in self.rows]

    def strings(self, column=None):
        """A column of strings as arrays; without a name, the first that suites have."""
        if column is None:
            column = next((name for name in _MAIN if name in self.columns), "string")
        if column not in self._strings:
            texts = self.column(column)
            if not all(isinstance(text, str) for text in texts):
                known = ", ".join(self.string_columns)
                raise UsageError(f"column `{column}` of split `{self.name}` has no strings; these have: {known}")
            numbers = self._numbers.get(column, self._numbers[None])
            self._strings[column] = Strings(texts, numbers)
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
    def mask(self):
        """Where the answers of masked sequences are: (sequences, longest)."""
        where = np.zeros(self.ids.shape, bool)
        for row, positions in zip(where, self.column("mask")):
            row[positions] = True
        return where

    @property
    def next_sets(self):
        """What may come after each prefix: (strings, longest + 1, symbols + 1), the end in column 0."""
        if self._spoken is None:
            raise UsageError("next-symbol sets are those of a language, and these data are of a task")
        return self._spoken.next_sets(self.ids, self.lengths)

    def batches(self, size, *, column=None, shuffle=False, seed=0):
        """Batches of at most `size` rows, as dictionaries.

        `ids` and `lengths` are those of `column`, or of the first column of strings; then others that there are come too: `bad`
        and `bad_lengths`, `output` and `output_lengths`, and `labels` and `mask`.

        >>> import wug
        >>> sizes = {"train": 5, "test": 4, "ood": 4, "validation": 2}
        >>> pairs = wug.data("tse/nested:terminals=5", sizes=sizes)
        >>> sorted(next(pairs["test"].batches(2)))
        ['bad', 'bad_lengths', 'ids', 'lengths']
        """
        order = np.random.default_rng(seed).permutation(len(self)) if shuffle else np.arange(len(self))
        main = self.strings(column)
        others = {}
        if column is None:
            others = {name: self.strings(name) for name in self.string_columns if self._is_other(name, main)}
        labels = self.labels if "label" in self.columns else None
        where = self.mask if "mask" in self.columns and column in (None, "text") else None
        for start in range(0, len(self), size):
            some = order[start : start + size]
            lengths, width = _cut(main, some)
            batch = {"ids": main.ids[some, :width], "lengths": lengths}
            for name, strings in others.items():
                lengths, to = _cut(strings, some)
                batch |= {name: strings.ids[some, :to], f"{name}_lengths": lengths}
            if labels is not None:
                batch["labels"] = labels[some]
            if where is not None:
                batch["mask"] = where[some, :width]
            yield batch

    def _is_other(self, name, main):
        known = name in (*_MAIN, "bad") or name in self._numbers
        return known and self.strings(name) is not main


def _cut(strings, some):
    """The lengths of some strings, and that of the longest."""
    lengths = strings.lengths[some]
    return lengths, int(lengths.max(initial=0))


class Dataset(dict):
    """The splits of a data set, by name. `tokens` are those of the ids 1, 2, …; `output_tokens` those of outputs, where these are others."""

    def __init__(self, what, files, reading, tokens, output_tokens, prompt_tokens):
        self.manifest = json.loads(files["wug.json"])
        self.files = files
        self.tokens = tokens
        self.output_tokens = output_tokens
        try:
            self.language = language(self.manifest["name"], reading=reading)
        except UsageError:
            self.language = None
        splits = {}
        for name, content in files.items():
            stem, _, kind = name.rpartition(".")
            if kind == "jsonl" and stem != "tests":
                rows = [json.loads(line) for line in content.splitlines()]
                prompts = prompt_tokens is not None and stem.startswith("prompts-")
                numbers = {None: _numbers(prompt_tokens if prompts else tokens)}
                if output_tokens is not None and not prompts:
                    outputs = [column for column in (rows[0] if rows else []) if column != "input"]
                    numbers |= dict.fromkeys(outputs, _numbers(output_tokens))
                splits[stem] = Split(stem, rows, numbers, self.language)
        super().__init__(splits)

    def __repr__(self):
        return f"Dataset({self.manifest['suite']}/{self.manifest['name']}: {', '.join(self)})"


def _numbers(tokens):
    return {token: i + 1 for i, token in enumerate(tokens)}
