#!/usr/bin/env python3
"""Compares the results of two sweeps of one experiment, run by run and number by number.

    python record/compare_results.py BEFORE AFTER [BEFORE AFTER …]

BEFORE and AFTER are sweep directories. Results of format 1 (which named a suite) and of format 2 (which name a protocol
and coordinates) are both read. A run is found by what it is, not by the hash of its plan. Compared are scores, learning
curves, strings, parameters, the ending and the hash of the data: as JSON numbers, so to the last bit. Exit 1 if any differ.
"""
import json
import pathlib
import sys

SUITES = {"flare": "recognition", "bliss": "generalization"}
SETTINGS = ("hidden", "regularization", "lambda", "epochs", "memory")
MEASUREMENT = ("split", "stratum", "metric", "value", "numerator", "denominator", "n", "spread", "chance", "interval")


def key(result):
    run, plan = result["run"], result["plan"]
    where = run.get("coordinates", run)
    protocol = run.get("protocol") or SUITES[run["suite"]]
    # Format 1 wrote `null` where format 2 leaves a coordinate out.
    names = [where.get(name) for name in ("language", "learner", "loss", "validation", "size")]
    found = [protocol, *names, run["seed"], run["reading"]]
    if protocol == "generalization":
        settings = plan["settings"] if "settings" in plan else plan["learner"] or {}
        found += [plan["factor"], plan["test"], *(settings.get(name) or None for name in SETTINGS)]
    return json.dumps(found, sort_keys=True)


def values(result):
    yield from ([score.get(name) for name in MEASUREMENT] for score in result["scores"])
    yield from (list(point.values()) for point in result["curve"])
    yield from result["hardest"]
    yield from result["strings"]
    yield from (result["parameters"], result["ending"], result["run"]["data_hash"])


def load(directory):
    results = [json.loads(path.read_text()) for path in sorted(pathlib.Path(directory, "results").glob("*.json"))]
    found = {key(result): list(values(result)) for result in results}
    assert len(found) == len(results), f"{directory}: two results of one run"
    return found


def main(directories):
    if not directories or len(directories) % 2:
        sys.exit(__doc__)
    runs = compared = differing = 0
    for before, after in zip(directories[::2], directories[1::2]):
        ours, theirs = load(before), load(after)
        assert ours.keys() == theirs.keys(), f"{before}, {after}: not the same runs"
        for run in ours:
            runs += 1
            compared += len(ours[run])
            if json.dumps(ours[run]) != json.dumps(theirs[run]):
                differing += 1
                print("differs:", run)
    print(f"{runs} runs, {compared} values compared, {differing} runs differ")
    sys.exit(differing > 0)


main(sys.argv[1:])
