"""Running experiments and looking at their results."""

import json
import os
import sys
from pathlib import Path

from ._learners import interrupt, maker, name_of, roles_of, version_of
from ._wug import UsageError
from ._wug import export as _export
from ._wug import report as _report
from ._wug import run as _run


def run(experiment, *, scale="paper", learners=(), out=None, sets=None, jobs=1, keep=(), quiet=False):
    """Runs an experiment, with learners of your own in place of those it has.

    `experiment` is a name (`wug list experiments`), the path of a .toml file, or the text of one. `learners` are classes or
    objects with `fit` and the method of their role, each with a name of its own; names of wug's own learners, or dictionaries
    (`{"name": "mine", "command": [...]}`). `sets` are values of the spec, as in `wug run --set`. A run that was interrupted
    goes on when it is called again with the same `out`.

    >>> import tempfile, numpy as np, wug
    >>> class Guess:
    ...     def fit(self, task):
    ...         self.rate = task.training.labels.mean()
    ...     def log_odds(self, ids, lengths):
    ...         return np.full(len(ids), np.log(self.rate / (1 - self.rate)))
    >>> toml = '''
    ... title = "a guess"
    ... [[recognition]]
    ... languages = ["parity"]
    ... seeds = 1
    ... validation = ["short"]
    ... data = { training = 51, validation = 20, test = 30, held_out = 10, distances = 5, longest = 60 }
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sweep = wug.run(toml, learners=[Guess], out=folder, quiet=True)
    ...     rows = [row for row in sweep.scores() if row["split"] == "test" and row["metric"] == "recognition_accuracy"]
    >>> rows[0]["learner"], rows[0]["n"]
    ('Guess', 30)
    """
    sets = [(key, value if isinstance(value, str) else _toml(value, key)) for key, value in (sets or {}).items()]
    own = [learner for learner in learners if not isinstance(learner, (str, dict))]
    if learners:
        sets.append(("learners", "[" + ", ".join(_spec(learner) for learner in learners) + "]"))
    text = experiment if "\n" in str(experiment) else None
    name = "experiment" if text else str(experiment)
    out = Path(out) if out is not None else Path("runs") / _folder(name, scale)
    makers = [(name_of(learner), maker(learner)) for learner in own]
    keep = [keep] if isinstance(keep, str) else list(keep)
    tell = None if quiet else _tell
    ended = json.loads(_run(name, text, out, scale, sets, jobs, keep, makers, tell, interrupt))
    sweep = Sweep(out)
    sweep.failed = ended["failed"]
    return sweep


def _folder(name, scale):
    stem = Path(name).stem
    return stem if scale == "paper" else f"{stem}-{scale}"


def _toml(value, name):
    """A value as TOML has it, which writes numbers, strings and lists as JSON does, and has nothing for `None`."""
    if value is None or (isinstance(value, (list, tuple)) and None in value):
        raise UsageError(f"`{name}` is None, which no setting can be: leave it out, or give a number, a name, true or false")
    return json.dumps(value)


def _spec(learner):
    """A learner as an item of `learners` in TOML, which writes strings and lists as JSON does."""
    if isinstance(learner, str):
        return json.dumps(learner)
    if not isinstance(learner, dict):
        host = {"host": "python", "version": version_of(learner), "roles": roles_of(learner)}
        learner = {"name": name_of(learner), **host, **getattr(learner, "settings", {})}
    return "{ " + ", ".join(f"{key} = {_toml(value, key)}" for key, value in learner.items()) + " }"


def _tell(line):
    run = json.loads(line)
    print(
        f"[{run['done']}/{run['total']}] {run['label']}, seed {run['seed']}: {run['ending']}, {run['seconds']:.1f} s",
        file=sys.stderr,
    )


def report(*directories):
    """The report of one or several sweeps: tables as text, and as a page in a notebook."""
    return Report([Path(directory) for directory in directories])


class Report:
    """A report. It shows itself in a notebook; `text`, `markdown`, `csv`, `json` and `html` give it as text."""

    def __init__(self, directories):
        self.directories = directories

    def text(self):
        """Tables for a terminal."""
        return _report(self.directories, "table")

    def markdown(self):
        """Tables in Markdown."""
        return _report(self.directories, "markdown")

    def csv(self):
        """All tables as CSV."""
        return _report(self.directories, "csv")

    def html(self):
        """One page with tables and figures."""
        return _report(self.directories, "html")

    def json(self):
        """All tables as objects."""
        return json.loads(_report(self.directories, "json"))

    def save(self, path):
        """Writes the page to a file."""
        Path(path).write_text(self.html(), encoding="utf-8")

    def __repr__(self):
        return self.text()

    def _repr_markdown_(self):
        return self.markdown()

    def _repr_html_(self):
        # The page has a style of its own: in a frame, it does not meet that of the notebook.
        page = self.html().replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{page}" style="width:100%;height:40em;border:0"></iframe>'


class Sweep(os.PathLike):
    """The directory of a sweep."""

    failed = None

    def __init__(self, directory):
        self.directory = Path(directory)

    def __fspath__(self):
        return str(self.directory)

    def __repr__(self):
        return f"Sweep({str(self.directory)!r})"

    def report(self):
        """Its report."""
        return report(self.directory)

    def scores(self):
        """Every measurement, as a list of dictionaries."""
        return self.rows("scores")

    def rows(self, what="scores"):
        """Rows of `scores`, `curves` or `strings`, as dictionaries."""
        return [json.loads(line) for line in _export(self.directory, what).splitlines()]

    def frame(self, what="scores"):
        """The same as a pandas frame."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("Sweep.frame needs pandas: pip install pandas") from error
        return pandas.DataFrame(self.rows(what))
