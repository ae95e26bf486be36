#!/usr/bin/env python3
"""Runs the plans of a wug sweep with PyTorch: the training of Butoi et al. 2025 (FLaRe), beside ours.

    pip install torch blake3
    wug run EXPERIMENT.toml --out SWEEP
    python record/recipe/flare.py SWEEP --out torch.jsonl [--wug wug] [--data DIR] [--only WORD …] [--repeats 1]
    python record/recipe/compare.py SWEEP torch.jsonl

It reads the plan of every run of `[[recognition]]` with an RNN, LSTM or transformer in SWEEP/runs.jsonl: language, data,
learner, loss and its weights, drawn learning rate and batch size, early stopping. It trains on the same strings, which it has
`wug data` write to --data, and appends one line of JSON per run to --out; runs that are there already are left out, so it can
be stopped and started again. Random numbers are PyTorch's, so results agree in distribution, not digit by digit. --only keeps
the runs whose label has all the words, as `--only parity lstm`.

The specification is the released code, not the paper, where they differ: see docs/errata.md. Nothing is copied from that code.
"""
import argparse
import json
import math
import pathlib
import random
import subprocess
import time

import torch
from torch import nn
from torch.nn import functional as F

from model import Batch, Recognizer, cut

SPLITS = {"training": ("training", "short"), "validation-short": ("validation", "short"),
          "validation-long": ("validation", "long"), "test": ("test", "longest"),
          "test-short-held-out": ("held_out", "short"), "test-edit-distance": ("distances", "longest")}
# Roots of a·d² + (V + b)·d + 1 = size, the published counts of parameters for V symbols.
COUNTS = {"rnn": (10, 11), "lstm": (40, 26), "transformer": (60, 83)}
# Symbols in a batch of evaluation; no result depends on it.
EVAL_SYMBOLS = 16384


def evaluate(net, batches):
    """Mean cross-entropy in nats, and accuracy; a logit of 0 accepts."""
    net.eval()
    total = correct = n = 0
    with torch.no_grad():
        for batch in batches:
            logits = net.read(batch)[1]
            total += F.binary_cross_entropy_with_logits(logits, batch.labels, reduction="sum").item()
            correct += ((logits >= 0) == batch.labels.bool()).sum().item()
            n += len(logits)
    return total / n, correct / n


def split(directory, name, alphabet=None):
    """The examples of a split, as (symbols, label, next-symbol sets or None), and the alphabet."""
    path = directory if name == "training" else directory / "datasets" / name
    strings = [line.split() for line in (path / "main.tok").read_text().split("\n")[:-1]]
    labels = [line == "1" for line in (path / "labels.txt").read_text().split()]
    assert len(strings) == len(labels), f"{path}: {len(strings)} strings, {len(labels)} labels"
    sets = [json.loads(line) for line in (path / "next-symbols.jsonl").read_text().splitlines()]
    if alphabet is None:  # the released code takes the symbols from the next-symbol sets of the training strings
        alphabet = sorted({symbol for string in sets for at in string for symbol in at["s"].split()})
    index = {symbol: i for i, symbol in enumerate(alphabet)}

    def bits(string):
        rows = []
        for at in string:
            allowed = set(at["s"].split())
            rows.append([float(symbol in allowed) for symbol in alphabet] + [float(at["e"])])
        return rows

    members = iter(sets)
    return [([index[s] for s in string], label, bits(next(members)) if label else None)
            for string, label in zip(strings, labels)], alphabet


def data(plan, facts, wug, cache):
    """The directory of the plan's strings: its own, or one that `wug data` writes."""
    source = plan["data"]["source"]
    if "directory" in source:
        return pathlib.Path(source["directory"]["path"])
    from blake3 import blake3
    bytes_ = source["drawn"]["seed"].to_bytes(8, "little") + plan["language"].encode()
    seed = int.from_bytes(blake3(bytes_, derive_key_context="wug 2026 seed").digest(8), "little")
    key = blake3(json.dumps([plan["language"], plan["reading"], plan["data"]], sort_keys=True).encode()).hexdigest()
    directory = cache / f"{plan['language'].replace('/', '_')}-{key[:12]}"
    if not (directory / "wug.json").exists():
        sizes = [f"{name}.{part}" for name, (size, longest) in SPLITS.items()
                 for part in (f"size={plan['data'][size]}", f"lengths=0..{plan['data'][longest]}")]
        command = [wug, "data", f"flare/{plan['language']}", "--format", "flare", "--reading", plan["reading"],
                   "--seed", str(seed), "--out", str(directory), *(word for size in sizes for word in ("--set", size))]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    written = json.loads((directory / "wug.json").read_text())["facts"]["splits"]
    assert facts is None or facts["splits"] == written, f"{directory}: not the strings of the run"
    return directory


def width(plan, alphabet):
    assert plan["matching"] == "published", "only `matching = \"published\"` is known here"
    a, b = COUNTS[plan["learner"]]
    b += alphabet
    unit = plan["settings"]["heads"] if plan["learner"] == "transformer" else 1
    root = (-b + math.sqrt(b * b - 4 * a * (1 - plan["size"]))) / (2 * a)
    return unit * max(1, round(root / unit))


def train(plan, directory, seed):
    torch.manual_seed(seed)
    order = random.Random(seed)
    training, alphabet = split(directory, "training")
    v = len(alphabet)
    losses = plan["loss"].split("+")
    net = Recognizer(plan["learner"], v, width(plan, v), plan["settings"], "LM" in losses, "NS" in losses)
    weights = plan["weights"]["language_modeling"], plan["weights"]["next_symbols"]

    def fixed(name):
        examples, _ = split(directory, name, alphabet)
        batches = cut(range(len(examples)), [len(string) for string, _, _ in examples], EVAL_SYMBOLS)
        return [Batch([examples[i] for i in batch], v) for batch in batches]

    validation = fixed(f"validation-{plan['validation']}")
    optimizer = torch.optim.Adam(net.trained(), lr=plan["learning_rate"])
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, factor=plan["decay"], patience=plan["decay_patience"], threshold=0.0)
    lengths = [len(string) for string, _, _ in training]
    best, kept, bad, epoch, ending, curve = math.inf, None, 0, 0, "finished", []
    while epoch < plan["max_epochs"]:
        shuffled = order.sample(range(len(training)), len(training))
        batches = cut(shuffled, lengths, plan["batch_symbols"])
        order.shuffle(batches)
        net.train()
        for batch in batches:
            optimizer.zero_grad()
            loss = net.loss(Batch([training[i] for i in batch], v), *weights)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(net.trained(), plan["clip"])
            if not (loss.isfinite() and norm.isfinite()):
                ending = "diverged"
                break
            optimizer.step()
        cross_entropy = math.nan if ending == "diverged" else evaluate(net, validation)[0]
        if not math.isfinite(cross_entropy):
            ending = "diverged"
            break
        epoch += 1
        curve.append(round(cross_entropy, 5))
        schedule.step(cross_entropy)
        if cross_entropy < best:
            best, bad = cross_entropy, 0
            kept = {name: p.clone() for name, p in net.state_dict().items()}
        else:
            bad += 1
        if bad >= plan["patience"]:
            ending = "stopped"
            break
    if kept is not None:
        net.load_state_dict(kept)
    test = evaluate(net, fixed("test"))
    return {"test_accuracy": test[1], "test_cross_entropy": test[0], "validation_cross_entropy": best, "epochs": epoch,
            "ending": ending, "parameters": sum(p.numel() for p in net.trained()), "curve": curve}


def runs(sweep):
    """The plans of a sweep that this script can run, with the facts of their data if the run has finished."""
    for line in (sweep / "runs.jsonl").read_text().splitlines():
        run = json.loads(line)
        plan, result = run["plan"], sweep / "results" / f"{run['id']}.json"
        if plan["protocol"] == "recognition" and plan["learner"] in COUNTS:
            yield run["id"], plan, json.loads(result.read_text())["data"] if result.exists() else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweep", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default="torch.jsonl")
    parser.add_argument("--wug", default="wug", help="the program that writes the strings")
    parser.add_argument("--data", type=pathlib.Path, default="recipe-data")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--repeats", type=int, default=1, help="runs of each plan, with other random numbers")
    args = parser.parse_args()
    torch.set_num_threads(1)

    def done():
        lines = args.out.read_text().splitlines() if args.out.exists() else []
        return {(line["id"], line["repeat"]) for line in map(json.loads, lines)}

    for repeat in range(args.repeats):
        for id_, plan, facts in runs(args.sweep):
            words = [plan["language"], plan["learner"], plan["loss"], plan["validation"], str(plan["size"])]
            if not set(args.only) <= set(words) or (id_, repeat) in done():
                continue
            start = time.process_time()
            directory = data(plan, facts, args.wug, args.data)
            found = train(plan, directory, int(id_, 16) // 2 + repeat)
            line = {"id": id_, "repeat": repeat, **{k: plan[k] for k in ("language", "learner", "loss", "validation", "seed")},
                    **found, "cpu_seconds": round(time.process_time() - start, 1), "torch": torch.__version__}
            with args.out.open("a") as out:
                print(json.dumps(line), file=out)
            print(json.dumps({k: v for k, v in line.items() if k != "curve"}), flush=True)


main()
