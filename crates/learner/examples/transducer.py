#!/usr/bin/env python3
"""Times one full training step (forward, backward, clip, Adam) of FIND's LSTM with input feeding, and of its convolutional network, in PyTorch, one thread.

    python transducer.py [CASE ...]         needs: pip install torch

The cases find-transducer, find-transducer-attention and find-cnn of `--example steps`, one JSON line each: an encoder and a decoder of 512 units (without or with
Luong's attention) or channels, symbols embedded in 16 dimensions, a pair of strings of 40 symbols. No dropout on either side.
"""
import json
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm

torch.set_num_threads(1)
torch.manual_seed(0)
HIDDEN, EMBEDDING, SYMBOLS, STEPS = 512, 16, 8, 41


class Transducer(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.source, self.target = nn.Embedding(SYMBOLS, EMBEDDING), nn.Embedding(SYMBOLS, EMBEDDING)
        self.encoder = nn.LSTM(EMBEDDING, HIDDEN)
        self.decoder = nn.LSTMCell(EMBEDDING + HIDDEN, HIDDEN)
        self.query = nn.Linear(HIDDEN, HIDDEN, bias=False) if attention else None
        self.context = nn.Linear(2 * HIDDEN, HIDDEN, bias=False) if attention else None
        self.out = nn.Linear(HIDDEN, SYMBOLS)

    def forward(self, x, y):
        seen, (h, c) = self.encoder(self.source(x))
        h, c, seen, y = h[0], c[0], seen.transpose(0, 1), self.target(y)
        feed, outputs = torch.zeros_like(h), []
        for step in y:
            h, c = self.decoder(torch.cat([step, feed], 1), (h, c))
            feed = h
            if self.query is not None:
                scores = torch.bmm(seen, self.query(h).unsqueeze(2)).softmax(1)
                feed = torch.tanh(self.context(torch.cat([(scores * seen).sum(1), h], 1)))
            outputs.append(feed)
        return self.out(torch.cat(outputs))


class Convolutions(nn.Module):
    def __init__(self, out, padding):
        super().__init__()
        self.symbols, self.positions = nn.Embedding(SYMBOLS, EMBEDDING), nn.Embedding(1024, EMBEDDING)
        self.first, self.last = normed(EMBEDDING, HIDDEN), normed(HIDDEN, out)
        self.convolution = weight_norm(nn.Conv1d(HIDDEN, 2 * HIDDEN, 3, padding=padding))

    def embed(self, x):
        return self.symbols(x) + self.positions(torch.arange(2, 2 + len(x)))

    def convolve(self, x):
        return F.glu(self.convolution(x.T.unsqueeze(0))[0, :, :len(x)].T, 1)


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = Convolutions(EMBEDDING, 1), Convolutions(256, 2)
        self.query, self.found = normed(HIDDEN, EMBEDDING), normed(EMBEDDING, HIDDEN)
        self.out = normed(256, SYMBOLS)

    def forward(self, x, y):
        root = 0.5**0.5
        embedded = self.encoder.embed(x[:, 0])
        first = self.encoder.first(embedded)
        keys = self.encoder.last((self.encoder.convolve(first) + first) * root)
        values = (keys + embedded) * root
        embedded = self.decoder.embed(y[:, 0])
        first = self.decoder.first(embedded)
        h = self.decoder.convolve(first)
        q = (self.query(h) + embedded) * root
        found = self.found((q @ keys.T).softmax(1) @ values * len(x) ** 0.5)
        h = ((found + h) * root + first) * root
        return self.out(self.decoder.last(h))


def normed(i, o):
    return weight_norm(nn.Linear(i, o))


def time_case(case):
    model = Cnn() if case == "find-cnn" else Transducer(case.endswith("attention"))
    params = list(model.parameters())
    adam = torch.optim.Adam(params, lr=1e-3, fused=True)
    x, y = torch.randint(0, SYMBOLS, (STEPS, 1)), torch.randint(0, SYMBOLS, (STEPS, 1))
    targets = torch.randint(0, SYMBOLS, (STEPS,))

    def step():
        adam.zero_grad(set_to_none=True)
        F.cross_entropy(model(x, y), targets, reduction="sum").backward()
        nn.utils.clip_grad_norm_(params, 25.0)
        adam.step()

    for _ in range(3):
        step()
    times, start = [], time.process_time()
    while time.process_time() - start < 2.0 or len(times) < 5:
        begin = time.process_time()
        step()
        times.append(time.process_time() - begin)
    count = sum(p.numel() for p in params)
    print(json.dumps({"case": case, "ms": statistics.median(times) * 1e3, "params": count}), flush=True)


CASES = ["find-transducer", "find-transducer-attention", "find-cnn"]
for name in sys.argv[1:] or CASES:
    if name not in CASES:
        raise SystemExit(f"unknown case {name!r}; there are: {', '.join(CASES)}")
    time_case(name)
