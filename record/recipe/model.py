"""The recognizers of Butoi et al. 2025 (FLaRe) on PyTorch's modules: architectures, heads, initialisation, loss and batches.

    python record/recipe/model.py GOLDEN.json

compares logits, losses, gradients and batches with those of the released models (double precision, no dropout).
"""
import json
import math
import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional as F


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


def main(path):
    """Logits, losses and gradients of the released models, in double precision without dropout."""
    worst = 0.0
    golden = json.loads(pathlib.Path(path).read_text())
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


if __name__ == "__main__":
    main(*sys.argv[1:])
