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
`python record/recipe/flare.py --check GOLDEN.json` compares logits, losses and gradients with those of the released models.
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

SPLITS = {"training": ("training", "short"), "validation-short": ("validation", "short"),
          "validation-long": ("validation", "long"), "test": ("test", "longest"),
          "test-short-held-out": ("held_out", "short"), "test-edit-distance": ("distances", "longest")}
# Roots of a·d² + (V + b)·d + 1 = size, the published counts of parameters for V symbols.
COUNTS = {"rnn": (10, 11), "lstm": (40, 26), "transformer": (60, 83)}
# Symbols in a batch of evaluation; no result depends on it.
EVAL_SYMBOLS = 16384


class Recurrent(nn.Module):
    """Symbols [T,B] to states [T+1,B,D], the initial state first."""

    def __init__(self, cell, symbols, d, layers, dropout):
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(symbols, d))
        self.initial = nn.Parameter(torch.empty(layers, d))
        self.net = cell(d, d, layers, dropout=dropout if layers > 1 else 0.0)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        h = torch.tanh(self.initial)[:, None].expand(-1, x.shape[1], -1).contiguous()
        if not len(x):
            return self.dropout(h[-1:])
        start = (h, torch.zeros_like(h)) if isinstance(self.net, nn.LSTM) else h
        return self.dropout(torch.cat([h[-1:], self.net(self.dropout(self.embedding[x]), start)[0]]))


class Transformer(nn.Module):
    """Symbols [T,B] to states [T+1,B,D], that of the start symbol (the last of the embedding) first."""

    def __init__(self, symbols, d, layers, heads, feedforward, dropout):
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(symbols + 1, d))
        layer = nn.TransformerEncoderLayer(d, heads, feedforward, dropout, norm_first=True)
        self.net = nn.TransformerEncoder(layer, layers, nn.LayerNorm(d), enable_nested_tensor=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        d = self.embedding.shape[1]
        x = self.embedding[F.pad(x, (0, 0, 1, 0), value=len(self.embedding) - 1)] * math.sqrt(d)
        t = torch.arange(len(x), dtype=x.dtype)[:, None]
        angles = t * torch.exp(torch.arange(0, d, 2, dtype=x.dtype) * (-math.log(10000.0) / d))
        positions = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :d]
        mask = nn.Transformer.generate_square_subsequent_mask(len(x), dtype=x.dtype)
        return self.net(self.dropout(x + positions[:, None]), mask=mask, is_causal=True)


class Recognizer(nn.Module):
    """A body with a recognition head, and heads for language modelling (tied) and next-symbol sets if wanted."""

    def __init__(self, learner, alphabet, d, settings, lm, ns):
        super().__init__()
        symbols = alphabet + (lm or ns)  # the end of a string has a row if there is an auxiliary head
        layers, dropout = settings["layers"], settings["dropout"]
        if learner == "transformer":
            self.body = Transformer(symbols, d, layers, settings["heads"], settings["feedforward"] * d, dropout)
        else:
            self.body = Recurrent({"rnn": nn.RNN, "lstm": nn.LSTM}[learner], symbols, d, layers, dropout)
        self.head = nn.Linear(d, 1)
        self.ns = nn.Linear(d, alphabet + 1) if ns else None
        self.lm = lm
        for module in self.body.modules():
            for name, p in module.named_parameters(recurse=False):
                if name.startswith("bias_hh"):  # the released models have one bias per recurrent layer
                    nn.init.zeros_(p).requires_grad_(False)
                elif not isinstance(module, nn.LayerNorm):
                    nn.init.uniform_(p, -0.1, 0.1)
        for head in [self.head] + [self.ns] * ns:
            nn.init.xavier_uniform_(head.weight)
            nn.init.zeros_(head.bias)

    def trained(self):
        return [p for p in self.parameters() if p.requires_grad]

    def read(self, batch):
        """The states, and the logit after the last symbol of every string."""
        states = self.body(batch.symbols)
        return states, self.head(states[batch.lengths, torch.arange(len(batch.lengths))]).squeeze(-1)

    def loss(self, batch, weight_lm, weight_ns):
        states, logits = self.read(batch)
        loss = F.binary_cross_entropy_with_logits(logits, batch.labels, reduction="sum")
        members = batch.labels.bool()
        if (self.lm or self.ns) and members.any():
            # The prefixes of all members, one member after the other.
            n = batch.lengths[members][:, None]
            prefixes = torch.arange(len(states)) <= n
            rows = states[:, members].transpose(0, 1)[prefixes]
            share = (1 / (n + 1).to(rows.dtype)).expand_as(prefixes)[prefixes]
            if self.lm:
                logits_lm = rows @ self.body.embedding[:batch.alphabet + 1].T
                loss = loss + weight_lm * (F.cross_entropy(logits_lm, batch.following, reduction="none") * share).sum()
            if self.ns:
                each = F.binary_cross_entropy_with_logits(self.ns(rows), batch.sets.to(rows.dtype), reduction="none")
                loss = loss + weight_ns * (each.mean(-1) * share).sum()
        return loss / len(logits)


class Batch:
    """Strings padded at the end, `[T,B]`; for every prefix of a member the next symbol, and the set of those allowed."""

    def __init__(self, examples, alphabet, dtype=torch.float32):
        strings, labels, sets = zip(*examples)
        members = [i for i, label in enumerate(labels) if label]
        self.alphabet = alphabet
        self.lengths = torch.tensor([len(string) for string in strings])
        self.symbols = nn.utils.rnn.pad_sequence([torch.tensor(string, dtype=torch.long) for string in strings])
        self.labels = torch.tensor(labels, dtype=dtype)
        self.following = torch.tensor([s for i in members for s in [*strings[i], alphabet]])
        self.sets = torch.tensor([allowed for i in members for allowed in sets[i] or []])


def cut(order, lengths, budget):
    """Batches of strings of like length: a batch is closed before `count × longest` exceeds the budget."""
    batches = []
    for i in sorted(order, key=lambda i: lengths[i]):
        if batches and (len(batches[-1]) + 1) * lengths[i] <= budget:
            batches[-1].append(i)
        else:
            batches.append([i])
    return batches


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
        command = [wug, "data", f"flare/{plan['language']}", "--reading", plan["reading"], "--seed", str(seed),
                   "--out", str(directory), *(word for size in sizes for word in ("--set", size))]
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


def check(path):
    """Logits, losses and gradients of the released models, in double precision without dropout."""
    worst = 0.0
    golden = json.loads(path.read_text())
    for case in golden["cases"]:
        settings = {"layers": case["layers"], "heads": case["heads"], "dropout": 0.0,
                    "feedforward": (case["feedforward"] or 0) // case["d"]}
        lm, ns = "lm" in case["variant"], "ns" in case["variant"]
        net = Recognizer(case["architecture"], 2, case["d"], settings, lm, ns).double()
        assert len(net.trained()) == len(case["params"]), case["variant"]
        with torch.no_grad():
            for p, value in zip(net.trained(), case["params"].values()):
                p.copy_(torch.tensor(value, dtype=torch.double).reshape(p.shape))
        sets = [s and [[float(i in at) for i in range(3)] for at in s] for s in case["next_symbols"]]
        batch = Batch(list(zip(case["strings"], case["labels"], sets)), 2, torch.double)
        loss = net.loss(batch, case["lambda_lm"], case["lambda_ns"])
        loss.backward()
        pairs = [(net.read(batch)[1], case["recognition_logits"]), (loss, case["loss"])]
        pairs += [(p.grad, value) for p, value in zip(net.trained(), case["grads"].values())]
        for ours, theirs in pairs:
            theirs = torch.tensor(theirs, dtype=torch.double).reshape(ours.shape)
            worst = max(worst, (ours - theirs).abs().max().item())
    lengths = golden["batching"]["lengths"]
    for budget, batches in golden["batching"]["batches_by_max_tokens"].items():
        assert cut(range(len(lengths)), lengths, int(budget)) == batches, f"batches of {budget}"
    print(f"{len(golden['cases'])} models: the largest difference of a logit, loss or gradient is {worst:.1e}")
    assert worst < 1e-12


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweep", type=pathlib.Path, nargs="?")
    parser.add_argument("--out", type=pathlib.Path, default="torch.jsonl")
    parser.add_argument("--wug", default="wug", help="the program that writes the strings")
    parser.add_argument("--data", type=pathlib.Path, default="recipe-data")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--repeats", type=int, default=1, help="runs of each plan, with other random numbers")
    parser.add_argument("--check", type=pathlib.Path, metavar="GOLDEN")
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.check:
        return check(args.check)
    if args.sweep is None:
        parser.error("a sweep directory, or --check GOLDEN.json")

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
