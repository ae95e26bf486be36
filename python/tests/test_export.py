"""What `wug export` writes is read with pandas, in three formats, and says what the results say; kept models are read with numpy."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
import pandas as pd

WUG = os.environ["WUG"]

EXPERIMENT = """
title = "small"
[[recognition]]
languages = ["parity", "dyck-2-3"]
learners = ["rnn", "lstm"]
losses = ["R"]
validation = ["short"]
sizes = [2000]
seeds = 2
max_epochs = 3
learning_rate = 0.005
batch_symbols = 512
[recognition.data]
training = 80
validation = 20
test = 60
held_out = 10
distances = 10
longest = 60
[[generalization]]
languages = ["an-bn"]
learners = ["lstm", "true-grammar"]
order = 2
factors = [1, 2]
hidden = [2, 4]
epochs = 5
seeds = 1
"""

READERS = {
    "csv": pd.read_csv,
    "jsonl": lambda path: pd.read_json(path, lines=True, precise_float=True),
    "parquet": pd.read_parquet,
}


def wug(*args, code=0):
    """The output of a command that ends with this code."""
    done = subprocess.run([WUG, *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = Path(cls.folder.name)
        spec = cls.root / "small.toml"
        spec.write_text(EXPERIMENT)
        cls.sweep = cls.root / "sweep"
        wug("run", spec, "--out", cls.sweep, "--keep", "predictions,models", "--jobs", 1)
        cls.results = [json.loads(path.read_text()) for path in sorted((cls.sweep / "results").glob("*.json"))]
        assert len(cls.results) == 2 * 2 * 2 + 2 * 3

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def frame(self, what="scores", format="parquet"):
        path = self.root / f"{what}.{format}"
        wug("export", self.sweep, "--what", what, "--out", path)
        return READERS[format](path)

    def test_accuracy_by_length(self):
        df = self.frame()
        df = df[(df.metric == "recognition_accuracy") & (df.split == "test") & (df.stratum_kind == "length")]
        df["length"] = (df.stratum_low + df.stratum_high) / 2
        table = df.pivot_table(index="length", columns=["language", "learner", "seed"], values="value")
        self.assertEqual(table.shape, (7, 8))
        for result in self.results:
            run = result["run"]
            if run["protocol"] != "recognition":
                continue
            at = (run["coordinates"]["language"], run["coordinates"]["learner"], run["seed"])
            for score in result["scores"]:
                match score:
                    case {"split": "test", "metric": "recognition_accuracy", "stratum": {"length": window}}:
                        low, high = map(float, window.split(".."))
                        self.assertEqual(table.loc[(low + high) / 2, at], score["value"])

    def test_solved_length_by_training_size(self):
        df = self.frame()
        df = df[(df.metric == "solved_length") & (df.stratum_low == 0) & ~df.derived]
        best = df.groupby(["learner", "data.training"]).value.max()
        grid = df[df.learner == "lstm"].pivot_table(index="settings.hidden", columns="data.training", values="value")
        self.assertEqual(sorted(best.index.levels[1]), [50, 100])
        for (learner, training), value in best.fillna(0).items():
            self.assertEqual(value, max(self.solved(learner, training)))
        self.assertLessEqual(set(grid.index), {2, 4})

    def solved(self, learner, training):
        for result in self.results:
            plan = result["plan"]
            generalization = result["run"]["protocol"] == "generalization"
            if generalization and (plan["learner"]["name"], plan["data"]["training"]) == (learner, training):
                yield from (
                    score["value"] or 0
                    for score in result["scores"]
                    if score["metric"] == "solved_length" and score["stratum"] == {"margin": "0"}
                )

    def test_learning_curve(self):
        df = self.frame("curves")
        curves = df.groupby(["plan", "epoch"])[["training_loss", "validation_loss"]].first()
        for result in self.results:
            for point in result["curve"]:
                row = curves.loc[(result["run"]["plan"], point["epoch"])]
                self.assertEqual(row.training_loss, point["training"])
        validated = df.groupby("protocol").validation_loss.count()
        self.assertEqual(validated["recognition"], (df.protocol == "recognition").sum())
        self.assertEqual(validated["generalization"], 0)
        self.assertEqual(len(df), sum(len(result["curve"]) for result in self.results))

    def test_formats_give_the_same_frame(self):
        for what in ["scores", "curves", "strings"]:
            one, *others = [plain(self.frame(what, format)) for format in READERS]
            self.assertGreater(len(one), 0)
            for other in others:
                pd.testing.assert_frame_equal(one, other)

    def test_derived_rows_are_of_several_runs(self):
        df = self.frame()
        index = df[df.derived & (df.metric == "generalization_index") & (df.stratum_low == 0)]
        grammar = index[index.learner == "true-grammar"].iloc[0]
        self.assertEqual((grammar.value, grammar.runs), (2, 2))
        self.assertTrue(pd.isna(grammar.factor) and pd.isna(grammar.plan))
        self.assertEqual(set(index.learner), {"lstm", "true-grammar"})
        means = df[df.derived & (df.metric == "recognition_accuracy_mean") & (df.split == "test")]
        self.assertEqual((len(means), set(means.runs)), (2 * 2, {2}))
        self.assertEqual(set(df[df.protocol == "generalization"].hidden.dropna()), {2, 4})

    def test_predictions_give_the_scores(self):
        df = self.frame("predictions")
        test = df[(df.split == "test") & df.log_odds.notna()].assign(correct=lambda d: (d.log_odds >= 0) == d.label)
        accuracy = test.groupby("plan").correct.mean()
        for result in self.results:
            if result["run"]["protocol"] == "recognition":
                value = next(
                    score["value"]
                    for score in result["scores"]
                    if (score["split"], score["stratum"], score["metric"]) == ("test", "all", "recognition_accuracy")
                )
                self.assertAlmostEqual(accuracy[result["run"]["plan"]], value, places=12)
        steps = df[df.steps_scored.notna() & (df.margin == 0)].groupby("plan")[["steps_correct", "steps_scored"]].sum()
        self.assertEqual(len(steps), 6)
        self.assertEqual(len(READERS["csv"](self.csv("predictions"))), len(df))

    def csv(self, what):
        self.frame(what, "csv")
        return self.root / f"{what}.csv"

    def test_models_are_read_with_numpy(self):
        predictions = self.frame("predictions")
        for result in self.results:
            run, folder = result["run"], self.sweep / "kept" / result["run"]["plan"]
            at = run["coordinates"]
            if (run["protocol"], at["language"], at["learner"]) != ("recognition", "parity", "rnn"):
                continue
            tensors = load(folder / "model.safetensors")
            self.assertEqual(sum(tensor.size for tensor in tensors.values()), result["parameters"])
            config = json.loads((folder / "config.json").read_text())
            self.assertEqual((config["kind"], config["dtype"]), ("recognizer", "F32"))
            mine = predictions[(predictions.plan == run["plan"]) & (predictions.split == "test")]
            for row in mine.head(20).itertuples():
                self.assertAlmostEqual(rnn(tensors, map(int, row.string.split())), row.log_odds, places=4)

    def test_what_was_not_kept_is_named(self):
        spec, sweep = self.root / "small.toml", self.root / "bare"
        few = ["--set", "languages=parity", "--set", "learners=rnn"]
        plain = self.root / "plain.toml"
        plain.write_text(spec.read_text().split("[[generalization]]")[0])
        run = ["run", plain, "--out", sweep, "--jobs", 1, *few]
        wug(*run)
        for args in [["export", sweep, "--what", "predictions"], [*run, "--keep", "predictions"]]:
            said = wug(*args, code=2).stderr
            self.assertIn(f"wug retry {sweep} --keep predictions", said)
        before = {path.name: path.read_bytes() for path in (sweep / "results").iterdir()}
        wug("retry", sweep, "--keep", "predictions")
        wug("worker", sweep, "--keep", "predictions", "--jobs", 1)
        self.assertEqual({path.name: path.read_bytes() for path in (sweep / "results").iterdir()}, before)
        wug("export", sweep, "--what", "predictions", "--out", self.root / "late.parquet")


def plain(frame):
    """The same values, whatever a reader takes for absent; an empty string is absent in CSV."""
    return frame.astype(object).where(frame.notna() & (frame != ""), None)


def load(path):
    """The tensors of a safetensors file, in the five lines that it takes without a library."""
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8:start])
    part = lambda t: raw[start + t["data_offsets"][0] : start + t["data_offsets"][1]]
    return {name: np.frombuffer(part(t), "<f4").reshape(t["shape"]) for name, t in head.items()}


def rnn(t, symbols):
    """The log-odds that a string is a member, computed from the tensors alone."""
    states = list(np.tanh(t["initial"]))
    for symbol in symbols:
        x = t["embedding"][symbol]
        for i, h in enumerate(states):
            bias = sum(t.get(f"layers.{i}.{name}", 0) for name in ["bias_ih", "bias_hh"])
            x = states[i] = np.tanh(t[f"layers.{i}.weight_ih"] @ x + t[f"layers.{i}.weight_hh"] @ h + bias)
    return (t["recognition.weight"] @ states[-1] + t["recognition.bias"]).item()


if __name__ == "__main__":
    unittest.main()
