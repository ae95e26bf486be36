#!/usr/bin/env python3
"""Compares the results of two builds of wug, run by run and number by number.

    python record/compare_results.py BEFORE AFTER [BEFORE AFTER …]

BEFORE and AFTER are sweep directories. Results of formats 2 to 4 are read: whatever the plan looks like, a run is found by its
protocol, language or task, learner, seed and reading, and by what came of it. Compared are scores, learning curves, strings,
parameters, the ending and the hash of the data: as JSON numbers, so to the last bit. AFTER may have more runs than BEFORE.
Exit 1 if a run of BEFORE is not in AFTER with the same values.
"""
import collections
import json
import pathlib
import sys

MEASUREMENT = ("split", "stratum", "metric", "value", "numerator", "denominator", "n", "spread", "chance", "interval")


def key(result):
    run = result["run"]
    where = run["coordinates"]
    return run["protocol"], where.get("language") or where.get("task"), where["learner"], run["seed"], run["reading"]


def values(result):
    yield from ([score.get(name) for name in MEASUREMENT] for score in result["scores"])
    yield from (list(point.values()) for point in result["curve"])
    yield from result["hardest"]
    yield from result["strings"]
    yield from (result["parameters"], result["ending"], result["run"]["data_hash"])


def load(directory):
    return [json.loads(path.read_text()) for path in sorted(pathlib.Path(directory, "results").glob("*.json"))]


def main(directories):
    if not directories or len(directories) % 2:
        sys.exit(__doc__)
    runs = compared = differing = 0
    for before, after in zip(directories[::2], directories[1::2]):
        there = collections.defaultdict(list)
        for result in load(after):
            there[key(result)].append(json.dumps(list(values(result))))
        for result in load(before):
            mine = list(values(result))
            runs += 1
            compared += len(mine)
            text = json.dumps(mine)
            if text in there[key(result)]:
                there[key(result)].remove(text)
            else:
                differing += 1
                print("differs:", before, key(result))
    print(f"{runs} runs, {compared} values compared, {differing} runs differ")
    sys.exit(differing > 0)


main(sys.argv[1:])
