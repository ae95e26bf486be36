#!/usr/bin/env python3
"""Our runs beside PyTorch's on the same plans, as a table.

    python record/recipe/compare.py SWEEP torch.jsonl [--solved 0.95] [--runs]

Per cell: the accuracy on the long test, mean ± standard deviation (n − 1) over the plans that both have run; on how many plans
both reach --solved, only one of them does, or none; epochs; and p of a permutation test of accuracy and of validation
cross-entropy. Runs of one plan can be exchanged if the recipe is the same, so the test exchanges ours with PyTorch's plan by
plan; the statistic is the sum of differences. Five plans with one run each can give no p below 2/32 = 0.06: the lines at the
end, over all languages or learners, say more. --runs lists every plan.
"""
import argparse
import itertools
import json
import math
import pathlib
import random
import statistics

EXACT, DRAWS = 1 << 16, 20_000


def ours(sweep):
    found = {}
    for path in sorted((sweep / "results").glob("*.json")):
        result = json.loads(path.read_text())
        if result["run"]["protocol"] != "recognition":
            continue
        whole = {score["split"]: score["value"] for score in result["scores"]
                 if score["stratum"] == "all" and score["metric"] == "recognition_accuracy"}
        validation = [point["validation"] for point in result["curve"] if point["validation"] is not None]
        found[path.stem] = {"plan": result["plan"], "accuracy": whole["test"], "parameters": result["parameters"],
                            "validation": min(validation, default=math.inf), "epochs": len(result["curve"]),
                            "ending": result["ending"]["kind"]}
    return found


def torchs(path):
    found = {}
    for line in map(json.loads, path.read_text().splitlines()):
        found.setdefault(line["id"], []).append({
            "accuracy": line["test_accuracy"], "validation": line["validation_cross_entropy"], "epochs": line["epochs"],
            "ending": line["ending"], "parameters": line["parameters"]})
    return found


def p_value(plans):
    """`plans` holds ours and PyTorch's, one list a plan, ours first. Under the hypothesis any of them could have been ours."""
    gaps = [[value - (sum(values) - value) / (len(values) - 1) for value in values] for values in plans]
    seen = abs(sum(gap[0] for gap in gaps)) - 1e-12
    if math.prod(map(len, gaps)) <= EXACT:
        sums = [abs(sum(chosen)) >= seen for chosen in itertools.product(*gaps)]
        return sum(sums) / len(sums)
    draw = random.Random(0)
    return (1 + sum(abs(sum(map(draw.choice, gaps))) >= seen for _ in range(DRAWS))) / (1 + DRAWS)


def spread(values):
    return f"{statistics.mean(values):.3f} ± {statistics.stdev(values) if len(values) > 1 else 0:.3f}"


def row(name, pairs, solved):
    here = [run["accuracy"] for run, _ in pairs]
    there = [run["accuracy"] for _, runs in pairs for run in runs]
    kinds = [(run["accuracy"] >= solved, other["accuracy"] >= solved) for run, runs in pairs for other in runs]
    counts = " / ".join(str(kinds.count(kind)) for kind in ((True, True), (True, False), (False, True), (False, False)))
    epochs = [statistics.mean(values) for values in ([run["epochs"] for run, _ in pairs],
                                                     [run["epochs"] for _, runs in pairs for run in runs])]
    ps = [p_value([[run[key], *(other[key] for other in runs)] for run, runs in pairs]) for key in ("accuracy", "validation")]
    cells = [*name, len(pairs), spread(here), spread(there), counts, f"{epochs[0]:.0f}, {epochs[1]:.0f}",
             *(f"{p:.2f}" for p in ps)]
    print("|", " | ".join(map(str, cells)), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweep", type=pathlib.Path)
    parser.add_argument("torch", type=pathlib.Path)
    parser.add_argument("--solved", type=float, default=0.95)
    parser.add_argument("--runs", action="store_true")
    args = parser.parse_args()
    here, there = ours(args.sweep), torchs(args.torch)
    pairs = [(run, there[id_]) for id_, run in here.items() if id_ in there]
    assert pairs, "no plan was run by both"
    for run, others in pairs:
        assert all(run["parameters"] == other["parameters"] for other in others), f"other parameters: {run}, {others}"
    if args.runs:
        for run, others in sorted(pairs, key=lambda pair: [pair[0]["plan"][k] for k in ("language", "learner", "seed")]):
            plan = run["plan"]
            found = [f"| {r['accuracy']:.3f} {r['validation']:.4f} {r['epochs']:3} {r['ending']}" for r in [run, *others]]
            print(f"{plan['language']:12} {plan['learner']:12} seed {plan['seed']} rate {plan['learning_rate']:.5f} "
                  f"batch {plan['batch_symbols']:5}", *found)
    print("| language | learner | plans | ours | PyTorch | both solve / only ours / only PyTorch / none | epochs "
          "| p, accuracy | p, validation |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    names = {key: list(dict.fromkeys(run["plan"][key] for run, _ in pairs)) for key in ("language", "learner")}
    for language in [*sorted(names["language"]), "all"]:
        for learner in [*sorted(names["learner"]), "all"]:
            cell = [pair for pair in pairs if language in ("all", pair[0]["plan"]["language"])
                    and learner in ("all", pair[0]["plan"]["learner"])]
            if cell:
                row((language, learner), cell, args.solved)


main()
