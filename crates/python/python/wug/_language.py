"""Languages."""

import numpy as np

from ._arrays import flat, padded, reals, whole
from ._wug import LanguageCore


def language(name, *, reading="corrected"):
    """The language of a name, as `wug list languages` has it, with settings after a colon.

    >>> import wug
    >>> wug.language("dyck-2-3")
    Language('dyck-2-3')
    >>> wug.language("paritty")
    Traceback (most recent call last):
    ...
    wug.UsageError: unknown language `paritty`; did you mean `parity`?
    """
    return Language(LanguageCore(name, reading))


def _read(name, reading):
    return language(name, reading=reading)


def pad(strings):
    """Strings of ids as an array padded with 0, and their lengths.

    >>> import wug
    >>> ids, lengths = wug.pad([[1, 2], [2]])
    >>> ids.tolist(), lengths.tolist()
    ([[1, 2], [2, 0]], [2, 1])
    """
    data, lengths = flat(strings)
    lengths = whole(lengths)
    return padded(whole(data), lengths), lengths


def unpad(ids, lengths):
    """The opposite of :func:`pad`.

    >>> import wug
    >>> wug.unpad(*wug.pad([[1, 2], [2]]))
    [[1, 2], [2]]
    """
    return [row[:length].tolist() for row, length in zip(np.asarray(ids), np.asarray(lengths).tolist())]


class Language:
    """A language: symbols are numbered from 1; 0 is the boundary and padding."""

    def __init__(self, core):
        self._core = core

    def __repr__(self):
        return f"Language({self.name!r})"

    def __reduce__(self):
        # A name and a reading are all that a language is made of: it can be sent to other processes.
        return _read, (self.name, self._core.reading)

    @property
    def name(self):
        """Its name, with its settings."""
        return self._core.name

    @property
    def tokens(self):
        """The tokens of the symbols 1, 2, …"""
        return self._core.tokens

    @property
    def definition(self):
        """What it is."""
        return self._core.definition

    @property
    def citation(self):
        """Where it is from."""
        return self._core.citation

    def encode(self, string):
        """The ids of a string.

        >>> import wug
        >>> wug.language("parity").encode("0 1 1")
        [1, 2, 2]
        """
        return self._core.parse(string)

    def decode(self, ids):
        """The string of ids, tokens separated by spaces.

        >>> import wug
        >>> wug.language("parity").decode([1, 2, 2])
        '0 1 1'
        """
        return self._core.format([int(symbol) for symbol in ids])

    def _strings(self, strings, lengths):
        if lengths is None and isinstance(strings, str):
            strings = [strings]
        if lengths is None and not isinstance(strings, np.ndarray):
            strings = [self.encode(s) if isinstance(s, str) else s for s in strings]
        return flat(strings, lengths)

    def __contains__(self, string):
        return bool(self.contains([string])[0])

    def contains(self, strings, lengths=None):
        """Whether each string is a member; strings are texts, lists of ids, or a padded array with lengths.

        >>> import wug
        >>> wug.language("parity").contains(["0 1", "1 1"])
        array([ True, False])
        """
        return np.frombuffer(bytearray(self._core.contains(*self._strings(strings, lengths))), bool)

    def sample(self, n, *, lengths=(0, 40), negative=False, natural=False, seed=0):
        """Draws strings: padded ids and lengths, as `wug sample` draws them.

        >>> import wug
        >>> ids, lengths = wug.language("dyck-2-3").sample(5, lengths=(10, 20))
        >>> bool(wug.language("dyck-2-3").contains(ids, lengths).all())
        True
        """
        data, found = self._core.sample(n, *lengths, negative, natural, seed)
        found = whole(found)
        return padded(whole(data), found), found

    def next_sets(self, strings, lengths=None):
        """What may come after each prefix: an array (strings, longest + 1, symbols + 1), the end in column 0.

        >>> import wug
        >>> wug.language("an-bn").next_sets(["a b"])[0].tolist()
        [[False, True, False], [False, True, True], [True, False, False]]
        """
        data, sizes = self._strings(strings, lengths)
        masks = np.frombuffer(bytearray(self._core.next_sets(data, sizes)), bool)
        return padded(masks.reshape(-1, len(self.tokens) + 1), whole(sizes) + 1)

    def log_prob(self, strings, lengths=None, *, natural=False):
        """The log-probability of each string among those of its length, or under the language's own distribution.

        >>> import wug
        >>> float(wug.language("parity").log_prob(["0 1"])[0])
        -0.5108256237659905
        """
        return reals(self._core.log_prob(*self._strings(strings, lengths), natural))

    def distance(self, string):
        """The edit distance of a string from the language, and a nearest member.

        >>> import wug
        >>> wug.language("repeat-01").distance("0 1 1")[0]
        1
        """
        ids = self.encode(string) if isinstance(string, str) else [int(symbol) for symbol in string]
        return self._core.distance(ids)
