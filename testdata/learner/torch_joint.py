#!/usr/bin/env python3
"""Makes torch_joint.json: joint source-target self-attention and a decoder alone in prompt form, in PyTorch and float64, with
parameters from a formula.

    python torch_joint.py > torch_joint.json        (made with torch 2.15.0)

Written from the definitions: joint attention from He et al. 2018 and Fonollosa et al. 2019 (a mask over source and target side by side, the
same weights for both), the decoder alone from the prompt form of Kharitonov and Chaabouni 2021, appendix E. Parameters are numbered in the
project's order, and number i is 0.4 * sin(1.3 i + 0.7); heads are interleaved in that order (see torch_models.py). Of every gradient the
file holds two sums: of all numbers, and of number j times cos(j). Greedy outputs never hold padding (1), and end (2) is not their first symbol.
"""
import json
import math

import torch
import torch.nn.functional as F

from torch_models import Numbers

torch.set_default_dtype(torch.float64)
INPUTS, OUTPUTS, PAD, END, CAP = 8, 9, 1, 2, 12
PAIRS = [([4, 5, 4], [5, 4]), ([6], [8, 4, 4, 5]), ([], [7]), ([5, 5, 7, 4, 6], [])]


class Stack:
    """Blocks with their norms after sublayers; `visible[i][j]` says whether position i attends to position j."""

    def __init__(self, numbers, layers, d, heads, ff):
        self.d, self.heads, size = d, heads, d // heads
        order = [h * size + e for e in range(size) for h in range(heads)]
        back = [order.index(f) for f in range(d)]
        rows = [part * d + f for part in range(3) for f in back]
        self.blocks = []
        for l in range(layers):
            take = lambda name, shape, f=lambda x: x: numbers.take(f"layers.{l}.{name}", shape, f)
            self.blocks.append({
                "in": (take("attention.in.weight", (3 * d, d), lambda x: x[rows]), take("attention.in.bias", (3 * d,), lambda x: x[rows])),
                "out": (take("attention.out.weight", (d, d), lambda x: x[:, back]), take("attention.out.bias", (d,))),
                "up": (take("up.weight", (ff, d)), take("up.bias", (ff,))),
                "down": (take("down.weight", (d, ff)), take("down.bias", (d,))),
                "norm1": (take("norm1.weight", (d,)), take("norm1.bias", (d,))),
                "norm2": (take("norm2.weight", (d,)), take("norm2.bias", (d,)))})

    def __call__(self, x, visible):
        mask = torch.where(torch.tensor(visible), 0.0, -math.inf)
        for block in self.blocks:
            q, k, v = [y.view(len(x), self.heads, -1).transpose(0, 1) for y in F.linear(x, *block["in"]).chunk(3, dim=-1)]
            weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(self.d // self.heads) + mask, dim=-1)
            mixed = (weights @ v).transpose(0, 1).reshape(len(x), self.d)
            x = F.layer_norm(x + F.linear(mixed, *block["out"]), (self.d,), *block["norm1"])
            x = F.layer_norm(x + F.linear(F.relu(F.linear(x, *block["up"])), *block["down"]), (self.d,), *block["norm2"])
        return x


def sinusoids(n, d):
    """Those of fairseq, whose first position is 2."""
    rates = [10_000 ** (-i / (d // 2 - 1)) for i in range(d // 2)]
    rows = [[f(t * rate) for f in (math.sin, math.cos) for rate in rates] for t in range(2, n + 2)]
    return torch.tensor(rows)


def joint(numbers, layers, d=8, heads=2, ff=10):
    source, source_language = numbers.take("source.embedding", (INPUTS, d)), numbers.take("source.language", (1, d))
    target, target_language = numbers.take("target.embedding", (OUTPUTS, d)), numbers.take("target.language", (1, d))
    stack = Stack(numbers, layers, d, heads, ff)

    def run(x, y):
        x, y = x + [END], [END] + y
        embed = lambda s, table, language: math.sqrt(d) * (table[s] + language) + sinusoids(len(s), d)
        both = torch.cat([embed(x, source, source_language), embed(y, target, target_language)])
        s, n = len(x), len(x) + len(y)
        visible = [[j < s or (i >= s and j <= i) for j in range(n)] for i in range(n)]
        return stack(both, visible)[s:] @ target.T
    return run


def prompt(numbers, layers, d=8, heads=2, ff=10):
    table = numbers.take("embedding", (INPUTS + OUTPUTS, d))
    stack = Stack(numbers, layers, d, heads, ff)
    head = numbers.take("output.weight", (INPUTS + OUTPUTS, d))

    def run(x, y):
        symbols = [END] + [OUTPUTS + s for s in x + [END]] + y
        n = len(symbols)
        states = stack(math.sqrt(d) * table[symbols] + sinusoids(n, d), [[j <= i for j in range(n)] for i in range(n)])
        return states[len(x) + 1:] @ head.T
    return run


def greedy(model, x):
    y = []
    while len(y) < CAP:
        logits = model(x, y)[-1].tolist()
        logits[PAD] = -math.inf
        if not y:
            logits[END] = -math.inf
        best = max(range(len(logits)), key=lambda s: logits[s])
        if best == END:
            break
        y.append(best)
    return y


def case(kind, layers):
    numbers = Numbers()
    model = {"joint": joint, "prompt": prompt}[kind](numbers, layers)
    outputs = [model(x, y) for x, y in PAIRS]
    losses = [F.cross_entropy(out, torch.tensor(y + [END]), reduction="sum") for out, (_, y) in zip(outputs, PAIRS)]
    loss = sum(losses) / len(PAIRS)
    loss.backward()
    sums = lambda g: [g.sum().item(), sum(x * math.cos(j) for j, x in enumerate(g.flatten().tolist()))]
    return {"kind": kind, "layers": layers, "logits": torch.cat(outputs).flatten().tolist(), "loss": loss.item(),
            "losses": [l.item() for l in losses], "greedy": [greedy(model, x) for x, _ in PAIRS],
            "tensors": [{"name": n, "shape": list(p.shape), "gradient": sums(p.grad)} for n, p in numbers.tensors]}


if __name__ == "__main__":
    cases = [case(kind, layers) for kind in ("joint", "prompt") for layers in (1, 2)]
    print(json.dumps({"pairs": PAIRS, "cap": CAP, "cases": cases}))
