"""What there is."""

import json

from ._wug import listing


def languages():
    """Every language.

    >>> import wug
    >>> [entry["name"] for entry in wug.languages()][:2]
    ['even-pairs', 'repeat-01']
    """
    return json.loads(listing("languages"))


def suites():
    """Every suite, with its languages or tasks."""
    return json.loads(listing("suites"))


def learners():
    """Every learner of wug's own, with its roles."""
    return json.loads(listing("learners"))


def protocols():
    """Every protocol, with the role it needs."""
    return json.loads(listing("protocols"))


def metrics():
    """Every metric, with its unit and citation."""
    return json.loads(listing("metrics"))


def experiments():
    """Every experiment that comes with wug."""
    return json.loads(listing("experiments"))
