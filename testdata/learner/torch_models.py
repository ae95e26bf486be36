#!/usr/bin/env python3
"""Makes torch_models.json: language models of PyTorch's own modules, in float64, with parameters from a formula.

    python torch_models.py > torch_models.json        (made with torch 2.15.0)

Parameters are numbered in the project's order (tensor after tensor as listed under "tensors"), and number i is
0.4 * sin(1.3 i + 0.7). Heads are interleaved in that order: feature e*heads + h here is feature h*size + e in PyTorch.
Of every gradient the file holds two sums: of all numbers, and of number j times cos(j).
"""
import json
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
VOCABULARY, STRINGS = 4, [[0, 3, 1, 1, 2, 3], [0, 2, 2, 1]]


class Numbers:
    def __init__(self):
        self.next, self.tensors = 0, []

    def take(self, name, shape, to_torch=lambda x: x):
        """A parameter in our order, as a leaf; and what PyTorch wants to see."""
        n = math.prod(shape)
        leaf = torch.tensor([0.4 * math.sin(1.3 * i + 0.7) for i in range(self.next, self.next + n)]).reshape(shape)
        leaf.requires_grad_()
        self.next += n
        self.tensors.append((name, leaf))
        return to_torch(leaf)


def recurrent(kind, numbers, d, h):
    """Embedding, two layers, output."""
    table = numbers.take("embedding", (VOCABULARY, d))
    gates = {"RNN": 1, "LSTM": 4, "GRU": 3}[kind]
    module, weights = getattr(nn, kind)(d, h, 2), {}
    for layer in range(2):
        i = h if layer else d
        for part, shape in [("weight_ih", (gates * h, i)), ("weight_hh", (gates * h, h)), ("bias_ih", (gates * h,)), ("bias_hh", (gates * h,))]:
            weights[f"{part}_l{layer}"] = numbers.take(f"layers.{layer}.{part}", shape)
    head = numbers.take("output.weight", (VOCABULARY, h)), numbers.take("output.bias", (VOCABULARY,))
    return lambda x: F.linear(torch.func.functional_call(module, weights, (F.embedding(x, table)[:, None],))[0][:, 0], *head)


def transformer(norm_first, layout, numbers, d=8, heads=2, ff=12):
    table = numbers.take("embedding", (VOCABULARY, d))
    order = [h * (d // heads) + e for e in range(d // heads) for h in range(heads)]
    back = [order.index(f) for f in range(d)]
    rows = [part * d + f for part in range(3) for f in back]
    module = nn.TransformerEncoderLayer(d, heads, ff, 0.0, norm_first=norm_first, batch_first=True)
    layers = []
    for l in range(2):
        take = lambda name, shape, f=lambda x: x: numbers.take(f"layers.{l}.{name}", shape, f)
        layers.append({
            "self_attn.in_proj_weight": take("attention.in.weight", (3 * d, d), lambda x: x[rows]),
            "self_attn.in_proj_bias": take("attention.in.bias", (3 * d,), lambda x: x[rows]),
            "self_attn.out_proj.weight": take("attention.out.weight", (d, d), lambda x: x[:, back]),
            "self_attn.out_proj.bias": take("attention.out.bias", (d,)),
            "linear1.weight": take("up.weight", (ff, d)), "linear1.bias": take("up.bias", (ff,)),
            "linear2.weight": take("down.weight", (d, ff)), "linear2.bias": take("down.bias", (d,)),
            "norm1.weight": take("norm1.weight", (d,)), "norm1.bias": take("norm1.bias", (d,)),
            "norm2.weight": take("norm2.weight", (d,)), "norm2.bias": take("norm2.bias", (d,))})
    head = numbers.take("output.weight", (VOCABULARY, d)), numbers.take("output.bias", (VOCABULARY,))

    def code(position):
        if layout == "interleaved":
            angles = [position / 10_000 ** (2 * i / d) for i in range(d // 2)]
            return [f(a) for a in angles for f in (math.sin, math.cos)]
        angles = [position / 10_000 ** (i / (d // 2 - 1)) for i in range(d // 2)]
        return [math.sin(a) for a in angles] + [math.cos(a) for a in angles]

    def run(x):
        y = F.embedding(x, table) * math.sqrt(d) + torch.tensor([code(t) for t in range(len(x))])
        mask = nn.Transformer.generate_square_subsequent_mask(len(x))
        y = y[None]
        for weights in layers:
            y = torch.func.functional_call(module, weights, (y,), {"src_mask": mask})
        return F.linear(y[0], *head)
    return run


def case(name, build):
    numbers = Numbers()
    model = build(numbers)
    outputs = [model(torch.tensor(s[:-1])) for s in STRINGS]
    loss = sum(F.cross_entropy(out, torch.tensor(s[1:]), reduction="sum") for out, s in zip(outputs, STRINGS)) / 8
    loss.backward()
    sums = lambda g: [g.sum().item(), sum(x * math.cos(j) for j, x in enumerate(g.flatten().tolist()))]
    return {"name": name, "logits": torch.cat(outputs).flatten().tolist(), "loss": loss.item(),
            "tensors": [{"name": n, "shape": list(p.shape), "gradient": sums(p.grad)} for n, p in numbers.tensors]}


if __name__ == "__main__":
    cases = [case(kind.lower(), lambda numbers, kind=kind: recurrent(kind, numbers, 3, 5)) for kind in ("RNN", "LSTM", "GRU")]
    cases.append(case("transformer-pre", lambda numbers: transformer(True, "interleaved", numbers)))
    cases.append(case("transformer-post", lambda numbers: transformer(False, "halves", numbers)))
    print(json.dumps({"strings": STRINGS, "cases": cases}, indent=1))
