"""How fast models from elsewhere are asked, and how fast metrics of arrays are: prints two tables.

    pip install . && python record/own_models.py

Models cost nothing here, so that what is measured is the way to them: from the first question to the last answer of a run.
"""

import json
import sys
import tempfile
import time

import numpy as np

import wug


class Clock:
    """Symbols that were asked about, and the seconds from the first question to the last answer."""

    symbols = 0
    first = last = None

    @classmethod
    def asked(cls, lengths):
        cls.first = cls.first or time.perf_counter()
        cls.symbols += int(lengths.sum())

    @classmethod
    def answered(cls, answer):
        cls.last = time.perf_counter()
        return answer


class Free:
    name = "free"

    def fit(self, task):
        self.vocabulary = task.vocabulary

    def log_odds(self, ids, lengths):
        Clock.asked(lengths)
        return Clock.answered(np.zeros(len(lengths)))


class FreeModel(Free):
    def next_probs(self, ids, lengths):
        Clock.asked(lengths)
        return Clock.answered(np.full((*ids.shape, self.vocabulary), 1 / self.vocabulary))


CHILD = """
import json, sys, time
symbols, first = 0, None
for line in sys.stdin:
    first = first or (time.perf_counter() if '"ask"' in line[:8] else None)
    [(what, message)] = json.loads(line).items()
    if what == "hello":
        reply = {"hello": {"protocol": 1, "roles": ["next-symbol", "recognizer"], "version": "1", "saves": False}}
    elif what == "fit":
        row, reply = [1 / message["vocabulary"]] * message["vocabulary"], {"fitted": {"parameters": 1}}
    elif what == "ask":
        symbols += sum(map(len, message["strings"]))
        rows = message["what"] == "next-symbols"
        reply = {"answers": [[row] * len(s) if rows else 0.0 for s in message["strings"]]}
    else:
        break
    print(json.dumps(reply), flush=True)
    if what == "ask":
        json.dump([symbols, time.perf_counter() - first], open(sys.argv[1], "w"))
"""

RECOGNITION = """title = "asked"
[[recognition]]
languages = ["parity"]
validation = ["short"]
seeds = 1
data = { training = 100, validation = 100, test = 5010 }
"""
INDEX = """title = "asked"
[[generalization]]
languages = ["an-bn"]
factors = [1]
order = 3
seeds = 1
"""
PAIRS = """title = "asked"
[[pairs]]
languages = ["nested:terminals=5"]
seeds = 1
data = { training = 100, validation = 100, test = 5000, out_of_distribution = 5000 }
"""


def throughput():
    print("| role | way | symbols | symbols/s |\n|---|---|---:|---:|")
    for role, experiment, learner in [
        ("recognizer", RECOGNITION, Free),
        ("next-symbol, 3 ids", INDEX, FreeModel),
        ("next-symbol, 31 ids", PAIRS, FreeModel),
    ]:
        with tempfile.TemporaryDirectory() as folder:
            Clock.symbols, Clock.first = 0, None
            wug.run(experiment, learners=[learner], out=folder + "/python", quiet=True)
            print(f"| {role} | Python | {Clock.symbols:,} | {Clock.symbols / (Clock.last - Clock.first):,.0f} |")
            with open(folder + "/child.py", "w") as file:
                file.write(CHILD)
            command = json.dumps([sys.executable, folder + "/child.py", folder + "/asked.json"])
            child = f'learners = [{{ name = "free", command = {command} }}]\n'
            wug.run(experiment + child, out=folder + "/child", quiet=True)
            with open(folder + "/asked.json") as file:
                symbols, seconds = json.load(file)
            print(f"| {role} | child process | {symbols:,} | {symbols / seconds:,.0f} |")


def least(call, times=9):
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begun)
    return min(taken) * 1e3


def metrics():
    print("\n| metric | strings | symbols | ms (parity) | ms (dyck-2-3) |\n|---|---:|---:|---:|---:|")
    rows = {}
    for name in ["parity", "dyck-2-3"]:
        language = wug.language(name)
        for strings, metric in [
            (5010, "recognition"),
            (2505, "language_modeling"),
            (2505, "next_symbols"),
            (2505, "steps"),
            (5010, "language_modeling"),
            (5010, "next_symbols"),
            (5010, "steps"),
            (5010, "pair_accuracy"),
            (5010, "perplexity"),
        ]:
            ids, lengths = language.sample(strings, lengths=(0, 500))
            random = np.random.default_rng(0)
            logits = 3 * random.normal(size=(strings, int(lengths.max()) + 1, len(language.tokens) + 1))
            probs = np.exp(logits)
            probs /= probs.sum(-1, keepdims=True)
            logs, labels, prefixes = np.log(probs[:, :, 0]), random.random(strings) < 0.5, lengths + 1
            call = {
                "recognition": lambda: wug.recognition(logits[:, 0, 0], labels, spoken=name, ids=ids, lengths=lengths),
                "language_modeling": lambda: wug.language_modeling(name, ids, lengths, logs, drawn=(0, 500)),
                "next_symbols": lambda: wug.next_symbols(name, ids, lengths, logits),
                "steps": lambda: wug.steps(name, ids, lengths, probs),
                "pair_accuracy": lambda: wug.pair_accuracy(
                    logs, logs[::-1], good_lengths=prefixes, bad_lengths=prefixes[::-1]
                ),
                "perplexity": lambda: wug.perplexity(logs, prefixes),
            }[metric]
            rows.setdefault((metric, strings, int(lengths.sum())), []).append(least(call))
    merged = {}
    for (metric, strings, symbols), taken in rows.items():
        merged.setdefault((metric, strings), [symbols]).extend(taken)
    for (metric, strings), (symbols, *taken) in merged.items():
        print(f"| {metric} | {strings:,} | {symbols:,} | " + " | ".join(f"{ms:.1f}" for ms in taken) + " |")


if __name__ == "__main__":
    throughput()
    metrics()
