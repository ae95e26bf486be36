#!/usr/bin/env python3
"""Times one full training step (forward, backward, optimiser) of the language models of Someya, Yoshida and Oseki 2024 in PyTorch, one thread.

    python language_models.py [CASE ...]         needs: pip install torch

The cases tse-lstm, tse-transformer and tse-stack-rnn of `--example steps`, one JSON line each, in CPU milliseconds: 512 strings of even lengths from 4 to 30 over 30
terminals, padded at the end; LSTM on packed sequences with SGD, the others with AdamW; dropout 0.1 in the transformer. The stack is moved as in the released code: one
step after the other, all rows of all stacks.
"""
import json
import math
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

torch.set_num_threads(1)
torch.manual_seed(0)
PAD, VOCABULARY = 1, 34
LENGTHS = torch.tensor([4 + 2 * (i * 5 % 14) for i in range(512)])


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.lstm = nn.Embedding(VOCABULARY, 256, padding_idx=PAD), nn.LSTM(256, 256, 2, batch_first=True)
        self.out = nn.Linear(256, VOCABULARY)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.embedding(x), lengths, batch_first=True, enforce_sorted=False)
        return self.out(pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0])


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, 128, padding_idx=PAD)
        layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.1, batch_first=True)
        self.layers, self.out = nn.TransformerEncoder(layer, 5, enable_nested_tensor=False), nn.Linear(128, VOCABULARY)
        scales = torch.exp(-math.log(10_000) / 63 * torch.arange(64))
        angles = torch.arange(31)[:, None] * scales
        self.register_buffer("positions", torch.cat([angles.sin(), angles.cos()], 1))

    def forward(self, x, _):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.out(self.layers(self.embedding(x) + self.positions[: x.shape[1]], mask=mask))


class StackRnn(nn.Module):
    def __init__(self, rows=150, width=8):
        super().__init__()
        self.rows, self.width = rows, width
        self.embedding, self.rnn = nn.Embedding(VOCABULARY, 256, padding_idx=PAD), nn.RNN(256 + width, 256, batch_first=True)
        self.push, self.action, self.out = nn.Linear(256, width), nn.Linear(256, 3), nn.Linear(256, VOCABULARY)

    def forward(self, x, _):
        embedded, outputs = self.embedding(x), []
        stack = embedded.new_zeros(len(x), self.rows, self.width)
        hidden = embedded.new_zeros(1, len(x), 256)
        empty = embedded.new_zeros(len(x), 1, self.width)
        for t in range(x.shape[1]):
            _, hidden = self.rnn(torch.cat([embedded[:, t], stack[:, 0]], 1).unsqueeze(1), hidden)
            top = hidden[0]
            share = self.action(top).softmax(1)[:, :, None, None]
            pushed = torch.cat([self.push(top).unsqueeze(1), stack[:, :-1]], 1)
            popped = torch.cat([stack[:, 1:], empty], 1)
            stack = share[:, 0] * pushed + share[:, 1] * popped + share[:, 2] * stack
            outputs.append(top)
        return self.out(torch.stack(outputs, 1))


MODELS = {"tse-lstm": Lstm, "tse-transformer": Transformer, "tse-stack-rnn": StackRnn}


def time_case(case):
    model = MODELS[case]()
    params = list(model.parameters())
    if case == "tse-lstm":
        optimizer = torch.optim.SGD(params, lr=0.1)
    else:
        optimizer = torch.optim.AdamW(params, lr=1e-3, fused=True)
    tokens = torch.randint(4, VOCABULARY, (512, 32))
    tokens[:, 0] = 2
    places = torch.arange(32)[None]
    tokens[places == LENGTHS[:, None] + 1] = 3
    tokens[places > LENGTHS[:, None] + 1] = PAD
    x, y = tokens[:, :-1], tokens[:, 1:]

    def step():
        optimizer.zero_grad(set_to_none=True)
        logits = model(x, LENGTHS + 1)
        loss = F.cross_entropy(logits.reshape(-1, VOCABULARY), y.reshape(-1), ignore_index=PAD, reduction="sum")
        (loss / (y != PAD).sum()).backward()
        optimizer.step()

    for _ in range(2):
        step()
    times, start = [], time.process_time()
    while time.process_time() - start < 2.0 or len(times) < 5:
        begin = time.process_time()
        step()
        times.append(time.process_time() - begin)
    count = sum(p.numel() for p in params)
    print(json.dumps({"case": case, "ms": statistics.median(times) * 1e3, "least": min(times) * 1e3, "params": count}), flush=True)


for name in sys.argv[1:] or MODELS:
    if name not in MODELS:
        raise SystemExit(f"unknown case {name!r}; there are: {', '.join(MODELS)}")
    time_case(name)
