"""The Python package: documentation that runs, arrays, and learners of every kind in one table."""

import ast
import doctest
import importlib
import json
import os
import pickle
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
    SMALL = {
        "flare/parity": SIZES,
        "bliss/an-bn": {"sizes": "100"},
        "wade/qa": {"n": 100},
        "tse/nested:terminals=5": {"train": 5, "test": 4, "ood": 4, "validation": 2},
        "find/count-or-memorization:length=10": {},
        "find/hierarchical-or-linear:depth=2": {},
    }

    def test_data_of_every_suite(self):
        for what, sizes in self.SMALL.items():
            data = wug.data(what, sizes=sizes)
            self.assertTrue(data and all(len(split) for split in data.values()), what)
            for split in data.values():
                ids, lengths = split.ids, split.lengths
                self.assertTrue(ids.flags.writeable and ids.dtype == np.int64, what)
                self.assertEqual((ids > 0).sum(), lengths.sum())
                batches = list(split.batches(3))
                self.assertEqual(sum(len(batch["ids"]) for batch in batches), len(split))
                for batch in batches:
                    self.assertEqual(batch["ids"].shape[1], batch["lengths"].max(initial=0))

    def test_columns_of_pairs_transductions_and_masked_sequences(self):
        pairs = wug.data("tse/nested:terminals=5", sizes=self.SMALL["tse/nested:terminals=5"])
        batch = next(pairs["test"].batches(4))
        self.assertEqual(batch["bad"].shape, pairs["test"].strings("bad").ids.shape)
        self.assertEqual(sorted(next(pairs["train"].batches(4))), ["ids", "lengths"])
        with self.assertRaisesRegex(wug.UsageError, "column `bad` of split `train` has no strings"):
            pairs["train"].strings("bad")
        self.assertEqual(sorted(next(pairs["test"].batches(2, column="bad"))), ["ids", "lengths"])
        task = wug.data("find/hierarchical-or-linear:depth=2")
        self.assertEqual(sorted(next(task["train"].batches(2))), ["ids", "lengths", "output", "output_lengths"])
        self.assertIn("hierar", next(task["holdout"].batches(2)))
        qa = wug.data("wade/qa", sizes={"n": 50})["train"]
        batch = next(qa.batches(5))
        self.assertEqual(batch["mask"].shape, batch["ids"].shape)
        self.assertEqual(np.argwhere(qa.mask[0]).ravel().tolist(), qa.column("mask")[0])

    def test_ids_are_those_that_models_are_given(self):
        class Seen:
            def fit(self, task):
                Seen.task = task

            def log_probs(self, ids, lengths, outputs, sizes):
                return -np.ones(len(ids))

            def output(self, ids, shortest, longest):
                return [1] * max(shortest, 1)

            def observe(self, ids, lengths, where):
                Seen.observed = ids, where

            def answers(self, ids, lengths, where):
                return np.ones(ids.shape)

        name = "composition-or-memorization:primitives=12,shown=10"
        find = f'title = "x"\n[[preference]]\ntasks = ["{name}"]\nseeds = 1\nmeasures = ["agreement"]\n'
        speed = 'title = "x"\n[[speed]]\nlanguages = ["qa"]\nsequences = 20\nseeds = 1\n'
        with tempfile.TemporaryDirectory() as folder:
            wug.run(find, learners=[Seen], out=f"{folder}/find", quiet=True)
            data = wug.data(f"find/{name}")
            self.assertEqual((data.tokens, data.output_tokens), (Seen.task.alphabet, Seen.task.output_alphabet))
            self.assertEqual(data["train"].ids.tolist(), Seen.task.training.ids.tolist())
            self.assertEqual(data["train"].strings("output").ids.tolist(), Seen.task.training.outputs.tolist())
            wug.run(speed, learners=[Seen], out=f"{folder}/speed", quiet=True)
            data = wug.data("wade/qa", sizes={"n": 20}, seed=1)
            self.assertEqual(data.tokens, Seen.task.alphabet)
            ids, where = Seen.observed
            texts = {tuple(string) for split in data.values() for string in wug.unpad(split.ids, split.lengths)}
            self.assertIn(tuple(ids[0][ids[0] > 0].tolist()), texts)

    def test_metrics_are_those_of_runs(self):
        good, bad = np.log([[0.5, 0.5], [0.1, 0.9]]), np.log([[0.4, 0.5], [0.3, 0.9]])
        found = wug.pair_accuracy(good, bad)
        self.assertEqual(found["pair_accuracy_sum"]["value"], 0.5)
        self.assertEqual(found["pair_accuracy_sum_half_ties"]["chance"], 0.5)
        self.assertEqual(wug.pair_accuracy(good.sum(1), bad.sum(1))["pair_accuracy_sum"]["value"], 0.5)
        cut = wug.pair_accuracy(good, bad, good_lengths=[1, 1])
        self.assertEqual(cut["pair_accuracy_sum"]["value"], 0.5)
        self.assertAlmostEqual(wug.perplexity(np.log(np.full((3, 4), 0.25)))["perplexity"]["value"], 4)
        scores = wug.wade([0.5, 1.0], chance=0.5)
        self.assertLess(scores["wade_above_chance"]["value"], scores["wade"]["value"])
        self.assertEqual((scores["highest_accuracy"]["value"], scores["last_accuracy"]["value"]), (1.0, 1.0))
        for wrong in (lambda: wug.wade([1], variant="mine"), lambda: wug.wade([1], [1, 2]), lambda: wug.pair_accuracy([1], [1, 2])):
            with self.assertRaises(wug.UsageError):
                wrong()
        scores = wug.agreement(["b b", "b"], {"count": ["b b", "b"], "mem": ["b b", "b b"]})
        self.assertEqual([scores[rule]["perfect_agreement"]["value"] for rule in ("count", "mem")], [1.0, 0.0])
        self.assertEqual(wug.description_length([1, 2], 3)["description_length"]["value"], 3)
        covered = {*found, "perplexity", *wug.wade([1], chance=0.5), *scores["mem"], *wug.description_length([1], 1)}
        self.assertLessEqual(covered, {metric["name"] for metric in wug.metrics()})

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
        with self.assertRaisesRegex(wug.UsageError, "need an array of at least"):
            wug.next_symbols("parity", ids, lengths, np.zeros((5010, lengths.max(), 3)))

    def test_stubs_say_what_there_is(self):
        stubs = ast.parse((Path(wug.__file__).parent / "__init__.pyi").read_text())
        names = {node.name for node in stubs.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        self.assertEqual(names - set(dir(wug)), set())
        self.assertEqual({name for name in wug.__all__ if name != "__version__"} - names, set())
        self.assertIsInstance(Bigram(), wug.Learner)

    def test_errors_are_those_of_the_command_line(self):
        with self.assertRaises(wug.UsageError) as raised:
            wug.language("paritty")
        self.assertEqual("wug: " + str(raised.exception), command("sample", "paritty").stderr.strip()[: len(str(raised.exception)) + 5])
        with self.assertRaises(wug.UsageError):
            wug.run("no-such-experiment")


class Languages(unittest.TestCase):
    def test_a_language_can_be_pickled(self):
        for reading in ("corrected", "published"):
            language = wug.language("dyck-2-3", reading=reading)
            copy = pickle.loads(pickle.dumps(language))
            self.assertEqual((copy.name, copy._core.reading), ("dyck-2-3", reading))
            self.assertEqual(copy.sample(5, seed=1)[0].tolist(), language.sample(5, seed=1)[0].tolist())


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
                ({"string": third, "probability": 1.5}, "line 3: `probability` is 1.5; it must be above 0 and below 1"),
                ({"string": third}, "line 3: an answer has either `log_odds` or `probability`"),
                ({**good[1], "log_odds": 9}, "has another answer in line 2"),
                ({"string": " ".join(["0"] * 999), "log_odds": 1}, "is not in the data set"),
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

    def test_names_are_distinct(self):
        with tempfile.TemporaryDirectory() as folder:
            for learners in ([Bigram, Bigram], [Bigram(), Bigram()], [Bigram, type("Other", (Bigram,), {"name": "Bigram"})]):
                with self.assertRaisesRegex(wug.UsageError, "two learners have the name `Bigram`"):
                    wug.run(INDEX, learners=learners, out=f"{folder}/out", quiet=True)

    def test_none_is_no_setting(self):
        class Set(Bigram):
            settings = {"hidden": None}

        for wrong in ({"learners": [Set]}, {"sets": {"seeds": None}}):
            with self.assertRaisesRegex(wug.UsageError, "is None, which no setting can be"):
                wug.run(INDEX, **wrong)

    def test_a_learner_that_takes_too_long_fails_its_run(self):
        class Slow(Bigram):
            settings = {"fit_seconds": 1}

            def fit(self, task):
                time.sleep(1.3)
                super().fit(task)

        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(wug.run(INDEX, learners=[Slow], out=folder, quiet=True).failed, 1)
            self.assertIn("s to be fitted; it may take 1 s", command("status", folder).stdout)

    def test_learners_from_elsewhere_have_no_last_epoch(self):
        class Guess:
            def fit(self, task):
                pass

            def log_odds(self, ids, lengths):
                return np.ones(len(ids))

        toml = """
        title = "a guess"
        [[recognition]]
        languages = ["parity"]
        seeds = 1
        validation = ["short"]
        data = { training = 51, validation = 20, test = 30, held_out = 10, distances = 5, longest = 60 }
        """
        with tempfile.TemporaryDirectory() as folder:
            report = wug.run(toml, learners=[Guess], out=folder, quiet=True).report()
            self.assertIn("Guess", report.text())
            self.assertNotIn("last epoch", report.text())

    def test_a_signal_while_runs_are_planned_ends_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            pid = Path(folder) / "pid"
            script = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
            spec = Path(folder) / "x.toml"
            spec.write_text(INDEX + f'learners = [{{ name = "mine", command = ["python3", "-c", {json.dumps(script)}] }}]')
            running = subprocess.Popen([WUG, "run", str(spec), "--out", f"{folder}/out"], stderr=subprocess.PIPE, text=True)
            while not (pid.exists() and pid.read_text()):
                time.sleep(0.05)
            running.send_signal(signal.SIGINT)
            self.assertEqual((running.wait(10), running.stderr.read()), (130, "wug: interrupted while the runs were planned\n"))
            running.stderr.close()
            self.assertFalse(Path(f"/proc/{pid.read_text()}").exists())

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

        class Unsorted(Bigram):
            def fit(self, task):
                pass

            log_odds = lambda self, ids, lengths: np.where(ids[np.argsort(lengths, kind="stable"), 0] == 1, 1.0, -1.0)
            next_probs = None

        names = [m["name"] for m in wug.doctor(Unsorted).mistakes]
        self.assertEqual(names, ["answers in the order of the strings"])
        self.assertEqual([m["name"] for m in wug.doctor(Shifted).mistakes], ["rows are in their place"])
        self.assertEqual([m["name"] for m in wug.doctor(Padded).mistakes], ["no padding in answers"])
        self.assertEqual(command("doctor", *BIGRAM).returncode, 0)

    def test_control_c_stops_a_sweep(self):
        class Slow(Bigram):
            def fit(self, task):
                started.set()
                for _ in range(600):
                    time.sleep(0.05)

        # Python ignores SIGINT if it was started by a shell in the background.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        started = threading.Event()
        threading.Thread(target=lambda: (started.wait(30), time.sleep(0.2), os.kill(os.getpid(), signal.SIGINT))).start()
        with tempfile.TemporaryDirectory() as folder:
            begun = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                wug.run(INDEX, learners=[Slow], out=folder, quiet=True)
            self.assertLess(time.monotonic() - begun, 20)

    def test_a_keyboard_interrupt_of_a_learner_itself_is_a_failed_run(self):
        class Interrupts(Bigram):
            def fit(self, task):
                raise KeyboardInterrupt("mine")

        with tempfile.TemporaryDirectory() as folder:
            sweep = wug.run(INDEX, learners=[Interrupts], out=folder, quiet=True)
            self.assertEqual(sweep.failed, 1)
            status = command("status", folder).stdout
            self.assertIn("KeyboardInterrupt: mine", status)
            self.assertNotIn("waiting", status)

    def test_answers_are_real_numbers(self):
        def answering(make):
            class Answering:
                def fit(self, task):
                    pass

                def log_odds(self, ids, lengths):
                    return make(len(ids))

            return Answering

        wrong = {
            "masked array": lambda n: np.ma.masked_array(np.ones(n), mask=np.ones(n, bool)),
            "datetime64[s]": lambda n: np.full(n, "2020-01-01", "M8[s]"),
            "timedelta64[s]": lambda n: np.ones(n, "m8[s]"),
            "<U3": lambda n: np.full(n, "1.5"),
            "list of texts": lambda n: ["1.5"] * n,
            "complex128": lambda n: np.ones(n, complex),
            "object": lambda n: np.array(["1.5"] * n, object),
        }
        right = [lambda n: [1] * n, lambda n: np.ones(n, np.float32), lambda n: np.ones(n, np.int8)]
        toml = '''
title = "answers"
[[recognition]]
languages = ["parity"]
seeds = 1
validation = ["short"]
data = { training = 51, validation = 20, test = 30, held_out = 10, distances = 5, longest = 60 }
'''
        for name, make in wrong.items():
            with tempfile.TemporaryDirectory() as folder:
                self.assertEqual(wug.run(toml, learners=[answering(make)], out=folder, quiet=True).failed, 1, name)
                status = command("status", folder).stdout
                expected = "returned a masked array" if "masked" in name else "it must be of real numbers"
                self.assertIn(f"Answering.log_odds {expected}" if "masked" in name else expected, status)
        for make in right:
            with tempfile.TemporaryDirectory() as folder:
                self.assertEqual(wug.run(toml, learners=[answering(make)], out=folder, quiet=True).failed, 0)

    def test_a_learner_runs_once_where_only_what_it_ignores_differs(self):
        class Mine(Bigram):
            def fit(self, task):
                super().fit(task)
                self.parameters = self.table.size

        with tempfile.TemporaryDirectory() as folder:
            sweep = wug.run("tse_table3", scale="smoke", learners=[Mine], out=folder, quiet=True)
            runs = {row["plan"]: (row["language"], row["reading"], row["seed"]) for row in sweep.scores()}
            self.assertEqual(len(runs), 4)
            self.assertEqual(len(set(runs.values())), 4)
            self.assertNotIn("Runs per mean: 2", sweep.report().text())

    def test_a_report_shows_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            report = wug.run(INDEX, learners=["bigram", Bigram], out=folder, quiet=True).report()
            self.assertIn("Bigram", repr(report))
            self.assertIn("<iframe", report._repr_html_())


if __name__ == "__main__":
    unittest.main()
