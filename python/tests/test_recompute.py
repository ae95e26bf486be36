"""Every score that `wug export` writes is computed again from the predictions that it writes: in plain Python, from the papers'
equations (`recompute.py`), without the metrics of the package.

A metric without a function there fails the tests. What is not computed again is listed in `NOT_RECOMPUTED`, with the reason.
"""

import csv
import json
import math
import os
import subprocess
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path

from recompute import OWN, TOLERANCE, derived, in_stratum, metric

WUG = os.environ["WUG"]

# All five suites, both readings, every measure of each protocol.
EXPERIMENT = """
title = "every suite, small"

[[recognition]]
reading = "published"
languages = ["parity", "dyck-2-3"]
learners = ["rnn", "transformer"]
losses = ["R", "R+LM+NS"]
validation = ["short"]
sizes = [2000]
matching = "nearest"
seeds = 2
max_epochs = 2
batch_symbols = 512
data = { training = 60, validation = 20, test = 60, held_out = 20, distances = 10, longest = 60 }

[[generalization]]
languages = ["an-bn", "dyck-1"]
reading = "published"
learners = ["lstm", "true-grammar", "uniform"]
order = 2
factors = [1, 2]
hidden = 4
epochs = 30
seeds = 1

[[generalization]]
languages = ["an-bn"]
learners = ["lstm", "bigram", "true-grammar"]
measure = "categorical"
order = 2
factors = [1]
hidden = 4
epochs = 5
seeds = 1

[[pairs]]
reading = "corrected"
languages = ["np-vp:terminals=5", "cross-serial:terminals=5"]
learners = [{ name = "lstm", hidden = 8, embedding = 8, learning_rate = 0.01 }, "uniform", "true-grammar", "oracle"]
epochs = 1
seeds = 1
data = { training = 100, validation = 30, test = 40, out_of_distribution = 40 }

[[pairs]]
reading = "published"
languages = ["nested:terminals=5"]
learners = [{ name = "lstm", hidden = 8, embedding = 8, learning_rate = 0.01 }, "bigram", "true-grammar", "oracle"]
epochs = 1
seeds = 1
data = { training = 100, validation = 30, test = 40, out_of_distribution = 40 }

[[speed]]
languages = ["qa"]
reading = "published"
learners = { name = "reca", rule = 206 }
unit = "answers"
decoder = "one-vs-rest"
standardization = "prior"
labels = "training"
seeds = 1
sequences = 60

[[speed]]
languages = ["periodic"]
learners = { name = "reca", rule = 34 }
sequences = 60
seeds = 2
passes = 2

[[speed]]
languages = ["qa"]
learners = ["rnn"]
decoder_features = 20
sequences = 60
seeds = 1
batch = 4
passes = 2

[[preference]]
reading = "published"
tasks = ["add-or-multiply:length=3", "hierarchical-or-linear:depth=2"]
learners = ["lstm", "cnn"]
seeds = 2
hidden = 16
embedding = 8
updates = 5

# Trained long enough to fit their training pairs.
[[preference]]
tasks = ["add-or-multiply:length=3"]
learners = ["lstm"]
seeds = 2
hidden = 16
embedding = 8
updates = 100
learning_rate = 0.02
warmup = 1
dropout = 0
"""

NOT_RECOMPUTED = {
    "interval_low, interval_high": "a bootstrap, whose draws are those of wug's own random numbers",
    "chance of `generalization`": "what a baseline scores on the test strings; the baseline is no part of the export",
}


def wug(*args):
    done = subprocess.run([WUG, *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def number(value):
    """Infinite numbers are text in JSON."""
    if isinstance(value, list):
        return [number(item) for item in value]
    return float(value) if value in ("-inf", "inf") else value


class Recompute(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = Path(cls.folder.name)
        spec = cls.root / "small.toml"
        spec.write_text(EXPERIMENT)
        cls.sweep = cls.root / "sweep"
        wug("run", spec, "--out", cls.sweep, "--keep", "predictions", "--jobs", 2)
        cls.scores = cls.table("scores")
        cls.curves, cls.predictions = defaultdict(list), defaultdict(lambda: defaultdict(list))
        for row in cls.table("curves"):
            cls.curves[row["plan"]].append(row)
        for row in cls.table("predictions"):
            cls.predictions[row["plan"]][row["split"]].append(row)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def table(cls, what):
        path = cls.root / f"{what}.jsonl"
        wug("export", cls.sweep, "--what", what, "--out", path)
        with path.open() as lines:
            return [{name: number(value) for name, value in json.loads(line).items()} for line in lines]

    def recomputed(self, row):
        splits = self.predictions[row["plan"]]
        rows, inside = splits[row["split"]], in_stratum(row)
        lengths = {p["pair"]: p["length"] for p in rows if p["role"] == "good"}
        run = {**row, "curve": self.curves[row["plan"]], "splits": splits}
        return metric(row)([p for p in rows if inside(p, lengths)], run)

    def compare(self, row, ours, columns):
        where = f"{row['protocol']} {row['learner']} {row['split']} {row['stratum']} {row['metric']}"
        for name in columns:
            theirs, mine = row[name], getattr(ours, name)
            mine = None if mine is None or not math.isfinite(mine) else mine
            equal = theirs == mine if None in (theirs, mine) else abs(theirs - mine) <= TOLERANCE * max(1, abs(mine))
            if not equal:
                yield f"{where}: {name} is {theirs}, recomputed {mine}"

    def test_every_score_is_recomputed(self):
        own = [row for row in self.scores if not row["derived"]]
        self.assertEqual({row["metric"] for row in own if metric(row) is None}, set(), "metrics without a recomputation")
        self.assertEqual({row["protocol"] for row in own}, {"recognition", "generalization", "pairs", "speed", "preference"})
        wrong = []
        for row in own:
            ours = self.recomputed(row)
            columns = ["value", "numerator", "denominator", "n"]
            if row["protocol"] != "generalization" or row["split"] == "training":
                columns.append("chance")
            if row["spread"] is not None:
                columns.append("spread")
            wrong += self.compare(row, ours, columns)
        self.assertFalse(wrong, "\n".join(wrong[:20]))

    def test_every_metric_of_wug_is_in_the_sweep(self):
        listed = {entry["name"] for entry in json.loads(wug("list", "metrics", "--json"))}
        self.assertEqual(listed, {row["metric"] for row in self.scores} & listed)

    def test_every_derived_score_is_recomputed(self):
        own = [row for row in self.scores if not row["derived"]]
        of_metric = defaultdict(list)
        for row in own:
            of_metric[row["metric"], row["split"], row["stratum"]].append(row)
        found = [row for row in self.scores if row["derived"]]
        self.assertEqual({row["metric"] for row in found if derived(row["metric"]) is None}, set())
        wrong = []
        for row in found:
            of, is_one, recompute = derived(row["metric"])
            same = {name: value for name, value in row.items() if name not in OWN and value is not None}
            matching = [
                run
                for run in of_metric[of, row["split"], row["stratum"]]
                if all(run[name] == value for name, value in same.items()) and is_one(run, self.predictions)
            ]
            self.assertEqual(len(matching), row["runs"], row["metric"])
            ours = recompute(row, matching, self.predictions)
            wrong += self.compare(row, ours, ["value", "numerator", "denominator", "n"])
        self.assertFalse(wrong, "\n".join(wrong[:20]))

    def test_minus_infinity_is_a_number_in_every_format(self):
        impossible = [row for splits in self.predictions.values() for rows in splits.values() for row in rows if row["log_prob"] == -math.inf]
        self.assertTrue(impossible)
        for row in impossible:
            self.assertIn(-math.inf, row["log_probs"])
        path = self.root / "predictions.csv"
        wug("export", self.sweep, "--what", "predictions", "--out", path)
        csv.field_size_limit(1 << 24)
        with path.open(newline="") as lines:
            table = list(csv.DictReader(lines))
        found = [row for row in table if row["log_prob"] == "-inf"]
        self.assertEqual(len(found), len(impossible))
        self.assertTrue(all("-inf" in json.loads(row["log_probs"]) for row in found))
        self.assertFalse([row for row in table if row["log_probs"] and not row["log_prob"]])


if __name__ == "__main__":
    unittest.main()
