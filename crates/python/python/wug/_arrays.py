"""Strings as arrays: padded ids and lengths, or one after the other."""

import numpy as np


def flat(ids, lengths=None):
    """Bytes of ids one after the other, and bytes of lengths.

    `ids` is a padded array (with `lengths`), or a list of lists.
    """
    if lengths is None and not isinstance(ids, np.ndarray):
        lengths = np.fromiter((len(string) for string in ids), np.int64, len(ids))
        values = np.fromiter((symbol for string in ids for symbol in string), np.int64, int(lengths.sum()))
        return values.tobytes(), lengths.tobytes()
    ids = np.atleast_2d(np.asarray(ids))
    if lengths is None:
        lengths = np.full(len(ids), ids.shape[1])
    lengths = np.ascontiguousarray(lengths, np.int64)
    if len(lengths) != len(ids) or (len(ids) and (lengths.min() < 0 or lengths.max() > ids.shape[1])):
        raise ValueError(f"lengths must be from 0 to {ids.shape[1]}, one for each of {len(ids)} strings")
    return joined(np.ascontiguousarray(ids, np.int64), lengths), lengths.tobytes()


def joined(values, lengths):
    """The bytes of the first numbers (or rows) of each string, one after the other: a copy of what is there, and none of the padding."""
    return b"".join([row[:length] for row, length in zip(values, lengths.tolist())])


def mask(lengths, width):
    """Where padded arrays have symbols."""
    return np.arange(width) < np.asarray(lengths)[:, None]


def padded(values, lengths, width=None):
    """An array with a row per string, padded with 0, of values one after the other."""
    width = int(lengths.max(initial=0)) if width is None else width
    array = np.zeros((len(lengths), width, *values.shape[1:]), values.dtype)
    if (lengths == width).all():
        return values.reshape(array.shape)
    array[mask(lengths, width)] = values
    return array


def whole(data):
    """An array of whole numbers. It has memory of its own, so that it can be written to."""
    return np.frombuffer(bytearray(data), np.int64)


def reals(data):
    """An array of numbers, with memory of its own."""
    return np.frombuffer(bytearray(data), np.float64)
