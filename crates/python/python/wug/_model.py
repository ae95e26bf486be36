"""Saved models of wug's own learners."""

import json


from ._arrays import flat, padded, reals, whole
from ._wug import ModelCore


def load_model(directory):
    """A model that `wug run --keep models` saved: a directory with config.json and model.safetensors."""
    return Model(ModelCore(directory))


class Model:
    """A trained model. Ids are those of :class:`Language`: symbols from 1, 0 is the boundary."""

    def __init__(self, core):
        self._core = core

    def __repr__(self):
        return f"Model({self.config['kind']}, {self.vocabulary} ids)"

    @property
    def role(self):
        """What it can be asked: `recognizer` or `next-symbol`."""
        return self._core.role

    @property
    def vocabulary(self):
        """The number of ids, 0 included."""
        return self._core.vocabulary

    @property
    def config(self):
        """Its config."""
        return json.loads(self._core.config)

    def log_odds(self, ids, lengths=None):
        """The log-odds that each string is a member."""
        self._must_be("recognizer")
        return reals(self._core.ask(*flat(ids, lengths)))

    def next_probs(self, ids, lengths=None):
        """The probabilities of every next symbol after each symbol: (strings, longest, ids); strings begin with 0."""
        self._must_be("next-symbol")
        data, sizes = flat(ids, lengths)
        return padded(reals(self._core.ask(data, sizes)).reshape(-1, self.vocabulary), whole(sizes))

    def _must_be(self, role):
        if self.role != role:
            raise TypeError(f"the model is a {self.role}, no {role}")
