"""The Python package: documentation that runs, arrays, and learners of every kind in one table."""

import doctest
import importlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy as np
import wug

WUG = os.environ["WUG"]
ROOT = Path(__file__).parents[2]
BIGRAM = ["python3", str(ROOT / "examples/process/bigram.py")]
PERL = ["perl", str(ROOT / "examples/process/bigram.pl")]

INDEX = """
title = "an index"
[[generalization]]
languages = ["dyck-1"]
factors = [1]
seeds = 1
"""
SIZES = {
    "training.size": 60,
    "validation-short.size": 20,
    "validation-long.size": 20,
    "test.size": 30,
    "test-short-held-out.size": 10,
    "test-edit-distance.size": 5,
}


class Bigram:
    """The same counts as wug's own bigram."""

    def fit(self, task):
        counts = np.zeros((task.vocabulary, task.vocabulary))
        for string in wug.unpad(task.training.ids, task.training.lengths):
            np.add.at(counts, (string[:-1], string[1:]), 1)
        sums = counts.sum(1, keepdims=True)
        self.table = np.where(sums > 0, counts / np.maximum(sums, 1), 1 / task.vocabulary)

    def next_probs(self, ids, lengths):
        return self.table[ids]


def scores(sweep, learner):
    """Every measurement of a learner, without what differs between learners of the same answers."""
    keys = ["split", "stratum", "metric", "value", "numerator", "denominator", "n"]
    rows = [row for row in sweep.scores() if row["learner"] == learner]
    return [tuple(row.get(key) for key in keys) for row in rows]


def command(*arguments):
    return subprocess.run([WUG, *map(str, arguments)], capture_output=True, text=True)


class Documentation(unittest.TestCase):
    def test_examples_run(self):
        for module in pkgutil.iter_modules(wug.__path__):
            if module.name == "_wug":
                continue
            module = importlib.import_module(f"wug.{module.name}")
            flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
            found = doctest.testmod(module, optionflags=flags)
            self.assertEqual(found.failed, 0, module.__name__)


class Arrays(unittest.TestCase):
    def test_data_of_every_suite(self):
        small = {
            "flare/parity": SIZES,
            "bliss/an-bn": {"sizes": "100"},
            "wade/qa": {"n": 100},
            "tse/nested:terminals=5": {"train": 5, "test": 4, "ood": 4, "validation": 2},
            "find/count-or-memorization:length=10": {},
        }
        for what, sizes in small.items():
            data = wug.data(what, sizes=sizes)
            self.assertTrue(data and all(len(split) for split in data.values()), what)
            text = [c for c in next(iter(data.values())).columns if c != "rule"][0]
            ids = next(iter(data.values())).strings(text).ids
            self.assertTrue(ids.flags.writeable and ids.dtype == np.int64, what)

    def test_batches_are_the_split(self):
        split = wug.data("flare/parity", sizes=SIZES)["training"]
        batches = list(split.batches(7, shuffle=True, seed=1))
        self.assertEqual(sum(len(batch["ids"]) for batch in batches), len(split))
        self.assertEqual(sum(batch["labels"].sum() for batch in batches), split.labels.sum())
        self.assertEqual(split.next_sets.shape, (60, split.lengths.max() + 1, 3))

    def test_metrics_of_a_large_test_are_fast(self):
        ids, lengths = wug.language("parity").sample(5010, lengths=(0, 500))
        labels = np.arange(5010) % 2 == 0
        odds = np.where(labels, 1.0, -1.0)
        best = 1.0
        for _ in range(5):
            begun = time.perf_counter()
            found = wug.recognition(odds, labels)
            best = min(best, time.perf_counter() - begun)
        self.assertEqual(found["recognition_accuracy"]["value"], 1.0)
        self.assertLess(best, 0.5)  # 50 ms with an optimised build on a quiet machine

    def test_errors_are_those_of_the_command_line(self):
        with self.assertRaises(wug.UsageError) as raised:
            wug.language("paritty")
        self.assertEqual("wug: " + str(raised.exception), command("show", "paritty").stderr.strip()[: len(str(raised.exception)) + 5])
        with self.assertRaises(wug.UsageError):
            wug.run("no-such-experiment")


class ThreeWays(unittest.TestCase):
    """A baseline and a network with fixed weights, asked through a file, a process and Python."""

    def test_a_baseline_has_the_same_scores_to_the_last_bit(self):
        with tempfile.TemporaryDirectory() as folder:
            learners = ["bigram", Bigram, {"name": "child", "command": BIGRAM}, {"name": "perl", "command": PERL}]
            sweep = wug.run(INDEX, learners=learners, out=f"{folder}/runs", quiet=True)
            self.assertEqual(sweep.failed, 0)
            expected = scores(sweep, "bigram")
            self.assertGreater(len(expected), 5)
            for learner in ("Bigram", "child", "perl"):
                self.assertEqual(scores(sweep, learner), expected, learner)
            # The same answers from a file.
            made = command("data", "bliss/dyck-1", "--out", f"{folder}/data", "--set", "sizes=1000", "--set", "tests=stored", "--format", "jsonl")
            self.assertEqual(made.returncode, 0, made.stderr)
            data = wug.data("bliss/dyck-1", sizes={"sizes": 1000, "tests": "stored"})
            task = type("Task", (), {"vocabulary": 3, "training": type("Examples", (), {})()})
            task.training.ids, task.training.lengths = data["train_1000"].strings().between_boundaries()
            bigram = Bigram()
            bigram.fit(task)
            strings = {text: ids for split in data.values() for text, ids in zip(split.strings().texts, wug.unpad(split.ids, split.lengths))}
            with open(f"{folder}/answers.jsonl", "w") as file:
                for text, ids in reversed(strings.items()):
                    next_probs = bigram.table[[0, *ids]].tolist()
                    file.write(json.dumps({"string": text, "next": next_probs}) + "\n")
            done = command("score", f"{folder}/data", f"{folder}/answers.jsonl", "--learner", "file", "--out", f"{folder}/runs")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(scores(sweep, "file"), expected)

    def test_a_network_has_the_same_scores(self):
        with tempfile.TemporaryDirectory() as folder:
            sizes = [part for key, value in SIZES.items() for part in ("--set", f"{key}={value}")]
            command("data", "flare/parity", "--out", f"{folder}/parity", *sizes)
            toml = f"""
            title = "a network"
            [[recognition]]
            languages = ["parity"]
            losses = ["R"]
            validation = ["short"]
            seeds = 1
            hidden = 8
            layers = 1
            max_epochs = 2
            data = {{ directory = "{folder}/parity" }}
            """
            sweep = wug.run(toml, learners=["lstm"], out=f"{folder}/runs", keep="models", quiet=True)
            [kept] = Path(f"{folder}/runs/kept").iterdir()
            model = wug.load_model(kept)

            class Loaded:
                def fit(self, task):
                    pass

                def log_odds(self, ids, lengths):
                    return model.log_odds(ids, lengths)

            child = Path(f"{folder}/child.py")
            child.write_text(CHILD.format(kept=str(kept)))
            learners = [Loaded, {"name": "child", "command": [sys.executable, str(child)]}]
            other = wug.run(toml, learners=learners, out=f"{folder}/other", quiet=True)
            expected = {row[:3]: row[3] for row in scores(sweep, "lstm")}
            data = wug.data("flare/parity", sizes=SIZES)
            answers = {}
            for split in data.values():
                answers[split.name] = model.log_odds(split.ids, split.lengths)
            np.savez(f"{folder}/answers.npz", **answers)
            done = command("score", f"{folder}/parity", f"{folder}/answers.npz", "--learner", "file", "--out", f"{folder}/other")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = command("score", f"{folder}/parity", "--model", kept, "--learner", "saved", "--out", f"{folder}/other")
            self.assertEqual(done.returncode, 0, done.stderr)
            for learner in ("Loaded", "child", "file", "saved"):
                found = {row[:3]: row[3] for row in scores(other, learner)}
                self.assertEqual(found, expected, learner)


CHILD = """
import json, sys, wug
model = wug.load_model({kept!r})
for line in sys.stdin:
    [(what, message)] = json.loads(line).items()
    if what == "goodbye":
        break
    print(json.dumps({{
        "hello": {{"hello": {{"protocol": 1, "roles": ["recognizer"], "version": "1"}}}},
        "fit": {{"fitted": {{}}}},
    }}.get(what) or {{"answers": model.log_odds(message["strings"]).tolist()}}), flush=True)
"""


class Answers(unittest.TestCase):
    """Files of answers that are wrong: a message names the line, and nothing is written."""

    def test_wrong_lines_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            sizes = [part for key, value in SIZES.items() for part in ("--set", f"{key}={value}")]
            command("data", "flare/parity", "--out", f"{folder}/parity", *sizes)
            data = wug.data("flare/parity", sizes=SIZES)
            texts = sorted({text for split in data.values() for text in split.strings().texts})
            good = [{"string": text, "log_odds": 0.5} for text in texts]
            third = texts[2]
            wrong = [
                ({"string": third, "log_odds": "x"}, "line 3: "),
                ({"string": "2", "log_odds": 1}, "line 3: unknown token `2`"),
                ({"string": third, "probability": 1.5}, "line 3: `probability` is 1.5; it must be from 0 to 1"),
                ({"string": third}, "line 3: an answer has either `log_odds` or `probability`"),
                (good[1], f"was answered in line 2 already"),
                ({"string": " ".join(["0"] * 999), "log_odds": 1}, "is no string of the data set"),
                (None, "has no answer for 1 of the"),
            ]
            for line, expected in wrong:
                lines = [json.dumps(row) for row in good]
                lines[2:3] = [] if line is None else [json.dumps(line)]
                Path(f"{folder}/answers.jsonl").write_text("\n".join(lines))
                done = command("score", f"{folder}/parity", f"{folder}/answers.jsonl", "--learner", "x", "--out", f"{folder}/out")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(expected, done.stderr)
                self.assertFalse(Path(f"{folder}/out").exists())


class Learners(unittest.TestCase):
    def test_what_a_learner_raises_is_a_failed_run(self):
        class Broken:
            def fit(self, task):
                raise ValueError("out of paper")

            def next_probs(self, ids, lengths):
                return ids

        with tempfile.TemporaryDirectory() as folder:
            sweep = wug.run(INDEX, learners=[Broken, "bigram"], out=folder, quiet=True)
            self.assertEqual(sweep.failed, 1)
            self.assertIn("out of paper", command("status", folder).stdout)
            self.assertTrue(scores(sweep, "bigram"))
            with self.assertRaises(TypeError):
                wug.run(INDEX, learners=[object()], out=folder)

    def test_the_doctor_finds_what_is_wrong_and_nothing_in_a_healthy_model(self):
        self.assertEqual(wug.doctor(Bigram).mistakes, [])

        class Shifted(Bigram):
            def next_probs(self, ids, lengths):
                rows = self.table[ids]
                return np.concatenate([np.full_like(rows[:, :1], 1 / rows.shape[-1]), rows[:, :-1]], axis=1)

        class Padded(Bigram):
            def next_probs(self, ids, lengths):
                table = self.table[ids] + 0.1 * (ids == 0).mean(1)[:, None, None]
                return table / table.sum(-1, keepdims=True)

        self.assertEqual([m["name"] for m in wug.doctor(Shifted).mistakes], ["rows are in their place"])
        self.assertEqual([m["name"] for m in wug.doctor(Padded).mistakes], ["no padding in answers"])
        self.assertEqual(command("doctor", *BIGRAM).returncode, 0)

    def test_control_c_stops_a_sweep(self):
        class Slow(Bigram):
            def fit(self, task):
                started.set()
                for _ in range(600):
                    time.sleep(0.05)

        started = threading.Event()
        threading.Thread(target=lambda: (started.wait(30), time.sleep(0.2), os.kill(os.getpid(), signal.SIGINT))).start()
        with tempfile.TemporaryDirectory() as folder:
            begun = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                wug.run(INDEX, learners=[Slow], out=folder, quiet=True)
            self.assertLess(time.monotonic() - begun, 20)

    def test_a_report_shows_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            report = wug.run(INDEX, learners=["bigram", Bigram], out=folder, quiet=True).report()
            self.assertIn("Bigram", repr(report))
            self.assertIn("<iframe", report._repr_html_())


if __name__ == "__main__":
    unittest.main()
