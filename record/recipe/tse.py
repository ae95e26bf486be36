#!/usr/bin/env python3
"""The Stack-RNN of Someya, Yoshida and Oseki 2024 in PyTorch, trained by their recipe on a folder that `wug data tse/... --format tse` wrote.

    python tse.py DIR [--rate 5e-4] [--seed 0] [--epochs 15]        needs: pip install torch

AdamW with a weight decay of 0.01, batches of 512, no clipping; one JSON line per epoch: nats per symbol on validation strings, and the share of pairs whose
good string has the higher probability (sum) or mean log-probability (mean). Strings of up to 30 symbols never fill more than 31 rows of a stack, so as many are held in
training; pairs are scored with 150.
"""
import argparse
import json
import pathlib
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD = -1


class StackRnn(nn.Module):
    def __init__(self, vocabulary, hidden=256, width=8):
        super().__init__()
        self.embedding, self.rnn = nn.Embedding(vocabulary, hidden), nn.RNN(hidden + width, hidden, batch_first=True)
        nn.init.normal_(self.embedding.weight)
        self.push, self.action, self.out = nn.Linear(hidden, width), nn.Linear(hidden, 3), nn.Linear(hidden, vocabulary)
        self.width, self.hidden = width, hidden

    def forward(self, x, rows):
        embedded, outputs = self.embedding(x.clamp(min=0)), []
        stack, hidden = embedded.new_zeros(len(x), rows, self.width), embedded.new_zeros(1, len(x), self.hidden)
        empty = embedded.new_zeros(len(x), 1, self.width)
        for t in range(x.shape[1]):
            _, hidden = self.rnn(torch.cat([embedded[:, t], stack[:, 0]], 1).unsqueeze(1), hidden)
            share = self.action(hidden[0]).softmax(1)[:, :, None, None]
            pushed = torch.cat([self.push(hidden[0]).unsqueeze(1), stack[:, :-1]], 1)
            stack = share[:, 0] * pushed + share[:, 1] * torch.cat([stack[:, 1:], empty], 1) + share[:, 2] * stack
            outputs.append(hidden[0])
        return self.out(torch.stack(outputs, 1))


def rows_of(path, field, ids=None):
    rows = [json.loads(line)[field] for line in path.open()]
    return rows if ids is None else [[0] + [ids[w] for w in row] + [0] for row in rows]


def padded(batch):
    longest = max(map(len, batch))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in batch])


def log_probs(model, strings, rows):
    sums = []
    with torch.no_grad():
        for i in range(0, len(strings), 512):
            tokens = padded(strings[i : i + 512])
            x, y = tokens[:, :-1], tokens[:, 1:]
            picked = model(x, rows).log_softmax(-1).gather(2, y.clamp(min=0)[..., None])[..., 0]
            sums += (picked * (y != PAD)).sum(1).tolist()
    return sums


def pairs(model, path, ids):
    good, bad = rows_of(path, "good_sequences", ids), rows_of(path, "bad_sequences", ids)
    a, b = log_probs(model, good, 150), log_probs(model, bad, 150)
    total = sum(x > y for x, y in zip(a, b)) / len(a)
    mean = sum(x / (len(g) - 1) > y / (len(w) - 1) for x, y, g, w in zip(a, b, good, bad)) / len(a)
    return {"sum": total, "mean": mean}


def main():
    args = argparse.ArgumentParser()
    args.add_argument("dir", type=pathlib.Path)
    args.add_argument("--rate", type=float, default=5e-4)
    args.add_argument("--seed", type=int, default=0)
    args.add_argument("--epochs", type=int, default=15)
    args = args.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    words = sorted({w for row in rows_of(args.dir / "train.jsonl", "sequences") for w in row}, key=int)
    ids = {w: i + 1 for i, w in enumerate(words)}
    train, validation = (rows_of(args.dir / f"{name}.jsonl", "sequences", ids) for name in ("train", "validation"))
    model = StackRnn(len(ids) + 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.rate, weight_decay=0.01)
    for epoch in range(1, args.epochs + 1):
        random.shuffle(train)
        for i in range(0, len(train), 512):
            tokens = padded(train[i : i + 512])
            x, y = tokens[:, :-1], tokens[:, 1:]
            loss = F.cross_entropy(model(x, 32).flatten(0, 1), y.flatten(), ignore_index=PAD)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        symbols = sum(len(row) - 1 for row in validation)
        line = {"epoch": epoch, "nats": -sum(log_probs(model, validation, 32)) / symbols}
        if epoch % 5 == 0 or epoch == args.epochs:
            line["in"], line["out"] = (pairs(model, args.dir / f"{name}_pair.jsonl", ids) for name in ("test", "out_of_dist_test"))
        print(json.dumps(line), flush=True)


main()
