"""Folders that `wug data` writes are loaded with Hugging Face `datasets` and with pandas, and their cards are run."""

import contextlib
import io
import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import pandas
from datasets import load_dataset

WUG = os.environ["WUG"]

FLARE = {
    "train": 60,
    "validation_short": 11,
    "validation_long": 12,
    "test": 31,
    "test_short_held_out": 13,
    "test_edit_distance": 5,
}
FLARE_SIZES = [
    "training.size=60",
    "validation-short.size=11",
    "validation-long.size=12",
    "test.size=31",
    "test-short-held-out.size=13",
    "test-edit-distance.size=5",
]
TSE = {"train": 50, "validation": 6, "test": 20, "out_of_distribution": 21}
TSE_SIZES = ["train=50", "validation=6", "test=20", "ood=21"]

# What is written, with which options, and the rows of each split of each config; the first config is the default.
CASES = [
    ("flare/dyck-2-3", FLARE_SIZES, {"default": FLARE}),
    ("flare/stack-manipulation", FLARE_SIZES, {"default": {k: n for k, n in FLARE.items() if k != "test_edit_distance"}}),
    ("bliss/an-bn", [], {"default": {"train_100": 100, "train_250": 250, "train_500": 500, "train_1000": 1000}}),
    ("bliss/dyck-2", ["sizes=1000", "tests=stored"], {"default": {"train_1000": 1000, "test_1000": 1000}}),
    ("wade/qa", ["n=100"], {"default": {"train": 80, "test": 20}}),
    ("tse/nested:terminals=5", TSE_SIZES, {"default": TSE}),
    (
        "find/count-or-memorization:length=10",
        [],
        {"default": {"train": 1, "holdout": 21}, "prompts": {"train": 1, "holdout": 21}},
    ),
    (
        "find/scan",
        [],
        {"default": {"train": 14670, "holdout": 7706}, "prompts": {"train": 14670, "holdout": 7706}},
    ),
]

# Formats of the papers, which hold the same data.
NATIVE = {
    "flare": ["flare"],
    "bliss": ["bliss"],
    "wade": [],
    "tse": ["tse", "lm-eval"],
    "find": ["find"],
}


def write(folder, what, *, sizes=(), format=None):
    command = [WUG, "data", what, "--out", str(folder)]
    command += ["--format", format] if format else []
    for size in sizes:
        command += ["--set", size]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def counts(data):
    return {split: rows.num_rows for split, rows in data.items()}


def run_card(folder):
    """Runs every block of Python of a card, and gives what it defines and prints."""
    card = (folder / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    assert blocks, card
    defined, printed = {}, io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        for block in blocks:
            exec(block, defined)
    return defined, printed.getvalue()


class Folders(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name)

    def test_default_and_parquet_are_loaded(self):
        for what, sizes, configs in CASES:
            for format in [None, "jsonl", "parquet"]:
                with self.subTest(what=what, format=format):
                    folder = self.root / f"{what.replace('/', '-').replace(':', '-')}-{format}"
                    write(folder, what, sizes=sizes, format=format)
                    first = next(iter(configs))
                    self.assertEqual(counts(load_dataset(str(folder))), configs[first])
                    for config, expected in configs.items():
                        self.assertEqual(counts(load_dataset(str(folder), config)), expected)
                    defined, printed = run_card(folder)
                    self.assertEqual(counts(defined["data"]), configs[first])
                    self.assertIn("num_rows", printed)

    def test_json_lines_and_parquet_are_the_same_rows(self):
        for what, sizes, configs in CASES:
            with self.subTest(what=what):
                loaded = []
                for format in ["jsonl", "parquet"]:
                    folder = self.root / f"{what.replace('/', '-').replace(':', '-')}-same-{format}"
                    write(folder, what, sizes=sizes, format=format)
                    loaded.append([load_dataset(str(folder), config) for config in configs])
                for lines, parquet in zip(*loaded):
                    for split in lines:
                        self.assertEqual(lines[split].features, parquet[split].features)
                        self.assertEqual(lines[split].to_list(), parquet[split].to_list())

    def test_cards_of_the_papers_formats_run(self):
        for what, sizes, _ in CASES:
            for format in NATIVE[what.split("/")[0]]:
                with self.subTest(what=what, format=format):
                    folder = self.root / f"{what.replace('/', '-').replace(':', '-')}-{format}"
                    write(folder, what, sizes=sizes, format=format)
                    _, printed = run_card(folder)
                    self.assertTrue(printed.strip())

    def test_the_papers_formats_are_not_loaded_with_wrong_splits(self):
        for what, sizes, _ in CASES:
            for format in ["flare", "bliss", "find"]:
                if format in NATIVE[what.split("/")[0]]:
                    with self.subTest(what=what, format=format):
                        folder = self.root / f"refused-{what.replace('/', '-').replace(':', '-')}"
                        write(folder, what, sizes=sizes, format=format)
                        with self.assertRaisesRegex(FileNotFoundError, "README.md says how to read these files"):
                            load_dataset(str(folder))

    def test_scan_in_its_own_layout_is_loaded(self):
        folder = self.root / "scan"
        write(folder, "find/scan", format="scan")
        expected = {
            "jump": {"train": 14670, "test": 7706},
            "all": {"train": 20910},
            "simple": {"train": 16728, "test": 4182},
            "turn-left": {"train": 21890, "test": 1208},
            "length": {"train": 16990, "test": 3920},
        }
        for config, splits in expected.items():
            self.assertEqual(counts(load_dataset(str(folder), config)), splits)
        self.assertEqual(counts(load_dataset(str(folder))), expected["jump"])
        run_card(folder)

    def test_a_whole_suite_is_a_folder_with_a_config_for_each_member(self):
        for suite, sizes, config, expected in [
            ("flare", FLARE_SIZES, "parity", FLARE),
            ("wade", ["n=50"], "adj-qa-ct", {"train": 40, "test": 10}),
            ("tse", TSE_SIZES, "nested-terminals-10", TSE),
            ("find", [], "add-or-multiply-length-5-prompts", {"train": 1, "holdout": 7}),
            ("bliss", ["sizes=100"], "an-bn", {"train_100": 100}),
        ]:
            with self.subTest(suite=suite):
                folder = self.root / suite
                write(folder, suite, sizes=sizes)
                self.assertEqual(counts(load_dataset(str(folder), config)), expected)
                run_card(folder)
                for card in folder.glob("*/README.md"):
                    self.assertTrue(card.read_text(encoding="utf-8").startswith("---\n"))
                checked = subprocess.run([WUG, "validate", str(folder)], capture_output=True, text=True)
                self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


class Rows(unittest.TestCase):
    """What the columns say, by another way than the library."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name)

    def test_parallel_files_of_flare_are_joined_as_their_card_says(self):
        rows, files = self.root / "rows", self.root / "files"
        write(rows, "flare/dyck-2-3", sizes=FLARE_SIZES)
        write(files, "flare/dyck-2-3", sizes=FLARE_SIZES, format="flare")
        data = load_dataset(str(rows))
        for split, folder in [("train", files), ("test", files / "datasets/test")]:
            lines = lambda name: (folder / name).read_text(encoding="utf-8").splitlines()
            self.assertEqual(list(data[split]["string"]), lines("main.tok"))
            self.assertEqual([int(label) for label in data[split]["label"]], [int(label) for label in lines("labels.txt")])
            edits = [row["edits"] for row in data[split] if not row["label"]]
            self.assertEqual(["" if n is None else str(n) for n in edits], lines("num-edits.txt"))
            positives = [row for row in data[split] if row["label"]]
            for row, sets, log_prob in zip(positives, lines("next-symbols.jsonl"), lines("log-probabilities.txt"), strict=True):
                sets = json.loads(sets)
                self.assertEqual(row["next"], [s["s"] for s in sets])
                self.assertEqual(row["end"], [s["e"] for s in sets])
                self.assertEqual(len(sets), len(row["string"].split()) + 1)
                self.assertEqual(row["log_prob"], float(log_prob))
        self.assertTrue(all(n is not None and n > 0 for n in data["test_edit_distance"]["distance"]))

    def test_labels_of_flare_are_balanced(self):
        write(self.root / "first", "flare/first")
        data = load_dataset(str(self.root / "first"))
        positives = {split: sum(rows["label"]) for split, rows in data.items()}
        expected = {"train": 5000, "validation_short": 500, "validation_long": 500, "test": 2505, "test_short_held_out": 500}
        self.assertEqual({split: positives[split] for split in expected}, expected)

    def test_strings_stay_strings_in_pandas(self):
        write(self.root / "lines", "flare/parity", sizes=FLARE_SIZES)
        write(self.root / "parquet", "flare/parity", sizes=FLARE_SIZES, format="parquet")
        lines = pandas.read_json(self.root / "lines/training.jsonl", lines=True, dtype=False)
        parquet = pandas.read_parquet(self.root / "parquet/training.parquet")
        self.assertEqual(list(lines["string"]), list(parquet["string"]))
        self.assertEqual(list(lines["label"]), list(parquet["label"]))
        odd = [text.split().count("1") % 2 == 1 for text in parquet["string"]]
        self.assertEqual(odd, list(parquet["label"]))

    def test_masks_of_wade_point_at_the_answers(self):
        write(self.root / "qa", "wade/qa", sizes=["n=100"])
        for row in load_dataset(str(self.root / "qa"))["train"]:
            tokens = row["text"].split()
            self.assertEqual(row["mask"], [len(tokens) - 1])
            self.assertIn(tokens[-1], ["YES", "NO"])

    def test_rules_of_find_answer_every_input(self):
        write(self.root / "count", "find/count-or-memorization:length=10")
        data = load_dataset(str(self.root / "count"))
        self.assertEqual(data["train"].to_list()[0]["output"], " ".join("b" * 10))
        for row in data["holdout"]:
            self.assertEqual(row["count"], row["input"].replace("a", "b"))
            self.assertEqual(row["mem"], " ".join("b" * 10))

    def test_test_strings_of_bliss_are_announced_with_their_size(self):
        said = write(self.root / "few", "bliss/an-bn", sizes=["sizes=1000"])
        announced = re.search(r"The (\d+) test strings .* `--set tests=stored` .*\(([\d.]+) MB", said)
        write(self.root / "all", "bliss/an-bn", sizes=["sizes=1000", "tests=stored"])
        strings = load_dataset(str(self.root / "all"))["test_1000"]["text"]
        size = (self.root / "all/test_1000.txt").stat().st_size
        self.assertEqual(int(announced[1]), len(strings))
        self.assertEqual(announced[2], f"{(size + 1) / 1e6:.1f}")
        self.assertTrue(all(re.fullmatch(r"#(a+)(b+)#", text) for text in strings))


if __name__ == "__main__":
    unittest.main()
