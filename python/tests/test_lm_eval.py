"""Tasks that `wug data --format lm-eval` writes are run by the lm-evaluation-harness itself: by its dummy model, and by one that knows the language."""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from datasets import load_dataset
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

WUG = os.environ["WUG"]
PAIRS = {"test": 40, "ood": 30}
TASK = "wug_tse_corrected_nested_terminals_5"


def write(folder, what, reading="corrected"):
    sizes = ["train=20", "validation=5", *(f"{split}={n}" for split, n in PAIRS.items())]
    command = [WUG, "data", what, "--out", str(folder), "--format", "lm-eval", "--reading", reading]
    for size in sizes:
        command += ["--set", size]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class Grammar(LM):
    """Finds a string of nested dependencies likelier if every verb agrees with its noun; told apart by the map of symbols alone."""

    def __init__(self, folder):
        super().__init__()
        spelled = json.loads((folder / "symbols.json").read_text(encoding="utf-8"))
        self.end, self.asked = spelled["end"], []
        self.terminals = {symbol: int(terminal) for terminal, symbol in spelled["symbols"].items()}

    def loglikelihood(self, requests):
        return [(self.score(*request.args), False) for request in requests]

    def score(self, context, continuation):
        self.asked.append((context, continuation))
        *symbols, end = continuation.split()
        classes = [self.terminals[symbol] // 5 for symbol in symbols]
        half = len(classes) // 2
        agree = all(verb == noun + 3 for noun, verb in zip(classes[:half], reversed(classes[half:])))
        return 0.0 if agree and end == self.end and len(classes) == 2 * half else -1.0

    def loglikelihood_rolling(self, requests):
        raise NotImplementedError

    def generate_until(self, requests):
        raise NotImplementedError


class Constant(Grammar):
    """Finds all strings equally likely."""

    def score(self, context, continuation):
        return -1.0


class Tasks(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name) / "data"

    def evaluate(self, model, task):
        with contextlib.chdir(self.folder):
            manager = TaskManager(include_path=".", include_defaults=False)
            return simple_evaluate(model=model, tasks=[task], task_manager=manager, bootstrap_iters=0)["results"]

    def test_the_harness_runs_them_from_its_command_line(self):
        write(self.folder, "tse/nested:terminals=5")
        command = [sys.executable, "-m", "lm_eval", "--model", "dummy", "--include_path", ".", "--tasks", TASK]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for split in ["test", "out_of_distribution"]:
            self.assertRegex(done.stdout, rf"{TASK}_{split}\b")
        self.assertRegex(done.stdout, r"\|acc\b")

    def test_a_model_that_knows_the_language_is_always_right(self):
        write(self.folder, "tse/nested:terminals=5")
        for split, name in [("test", "test"), ("ood", "out_of_distribution")]:
            for ending in ["", "_terminals"]:
                model = Grammar(self.folder)
                if ending:
                    model.terminals = {str(terminal): terminal for terminal in range(30)}
                result = self.evaluate(model, f"{TASK}_{name}{ending}")[f"{TASK}_{name}{ending}"]
                self.assertEqual(result["acc,none"], 1.0)
                self.assertEqual(len(model.asked), 2 * PAIRS[split])
                # No prompt, and a space before every symbol: each is one token, wherever it is.
                self.assertTrue(all(context == "" for context, _ in model.asked))
                self.assertTrue(all(re.fullmatch(r"( \w+)+ \.", string) for _, string in model.asked))

    def test_published_pairs_have_good_strings_twice(self):
        write(self.folder, "tse/nested:terminals=5", reading="published")
        task = TASK.replace("corrected", "published")
        result = self.evaluate(Grammar(self.folder), f"{task}_test")[f"{task}_test"]
        rows = load_dataset(str(self.folder), "pairs")["test"]
        model = Grammar(self.folder)
        grammatical = [row for row in rows if model.score("", row["bad"]) == 0.0]
        self.assertGreater(len(grammatical), 0)
        # Of two grammatical strings the harness takes the first, which is the good one by a coin.
        wrong = sum(row["target"] == 1 for row in grammatical)
        self.assertAlmostEqual(result["acc,none"], 1 - wrong / len(rows))

    def test_a_model_that_finds_all_strings_equal_is_at_chance(self):
        write(self.folder, "tse/nested:terminals=5")
        result = self.evaluate(Constant(self.folder), f"{TASK}_test")[f"{TASK}_test"]
        rows = load_dataset(str(self.folder), "pairs")["test"]
        first = sum(row["target"] == 0 for row in rows) / len(rows)
        self.assertAlmostEqual(result["acc,none"], first)
        self.assertTrue(0.2 < first < 0.8, first)

    def test_other_languages_have_tasks_too(self):
        write(self.folder, "tse/dyck-2-3")
        task = "wug_tse_corrected_dyck_2_3_test"
        result = self.evaluate("dummy", task)[task]
        self.assertTrue(0 <= result["acc,none"] <= 1)

    def test_corpora_and_pairs_are_loaded_and_checked(self):
        write(self.folder, "tse/np-vp:terminals=50")
        counts = {split: rows.num_rows for split, rows in load_dataset(str(self.folder), "pairs").items()}
        self.assertEqual(counts, {"test": 40, "out_of_distribution": 30})
        counts = {split: rows.num_rows for split, rows in load_dataset(str(self.folder), "corpora").items()}
        self.assertEqual(counts, {"train": 20, "validation": 5})
        checked = subprocess.run([WUG, "validate", str(self.folder)], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


if __name__ == "__main__":
    unittest.main()
