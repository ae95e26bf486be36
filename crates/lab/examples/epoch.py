"""Times PyTorch on an epoch of a FLaRe recognizer of 64k parameters: 10,000 strings of 0 to 40 symbols, 4,096 symbols a
batch, sorted by length, recognition loss alone, clipped Adam, dropout 0.1, one thread; then its validation and the long test.

    python crates/lab/examples/epoch.py [lstm|rnn|transformer] [epochs]

This is the arithmetic of a run without the reading of files and the imports of a framework around it.
"""

import json
import sys
import time

import torch
from torch import nn

LAYERS, DROPOUT, SYMBOLS = 5, 0.1, 4


class Recurrent(nn.Module):
    def __init__(self, cell, d):
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS, d)
        self.net = cell(d, d, LAYERS, dropout=DROPOUT)
        self.start = nn.Parameter(torch.zeros(LAYERS, 1, d))
        self.drop = nn.Dropout(DROPOUT)
        self.head = nn.Linear(d, 1)

    def forward(self, x, lengths):
        h = torch.tanh(self.start).expand(-1, x.shape[1], -1).contiguous()
        start = (h, torch.zeros_like(h)) if isinstance(self.net, nn.LSTM) else h
        out = torch.cat([h[-1:], self.net(self.drop(self.embedding(x)), start)[0]])
        last = out[lengths, torch.arange(x.shape[1])]
        return self.head(self.drop(last)).squeeze(-1)


class Transformer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS + 1, d)
        layer = nn.TransformerEncoderLayer(d, 8, 4 * d, DROPOUT, norm_first=True)
        self.net = nn.TransformerEncoder(layer, LAYERS, nn.LayerNorm(d), enable_nested_tensor=False)
        self.head = nn.Linear(d, 1)

    def forward(self, x, lengths):
        x = torch.cat([torch.full((1, x.shape[1]), SYMBOLS), x])
        mask = nn.Transformer.generate_square_subsequent_mask(len(x))
        out = self.net(self.embedding(x), mask=mask, is_causal=True)
        return self.head(out[lengths, torch.arange(x.shape[1])]).squeeze(-1)


def batches(lengths, budget):
    cut = []
    for n in sorted(lengths):
        if cut and (len(cut[-1]) + 1) * n <= budget:
            cut[-1].append(n)
        else:
            cut.append([n])
    return [(torch.randint(SYMBOLS, (max(ns), len(ns))), torch.tensor(ns), torch.randint(2, (len(ns),)).float())
            for ns in cut if max(ns) > 0]


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "lstm"
    epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    torch.set_num_threads(1)
    net = {"lstm": lambda: Recurrent(nn.LSTM, 39), "rnn": lambda: Recurrent(nn.RNN, 79),
           "transformer": lambda: Transformer(32)}[name]()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, fused=True)
    training = batches([i * 7 % 41 for i in range(10_000)], 4096)
    validation = batches([i * 7 % 41 for i in range(1_000)], 4096)
    test = batches([i * 7 % 501 for i in range(5_010)], 4096)

    def evaluate(parts):
        net.eval()
        start = time.process_time()
        with torch.inference_mode():
            for x, lengths, _ in parts:
                net(x, lengths)
        return time.process_time() - start

    times, validations = [], []
    for _ in range(epochs):
        net.train()
        start = time.process_time()
        for x, lengths, labels in training:
            optimizer.zero_grad()
            nn.functional.binary_cross_entropy_with_logits(net(x, lengths), labels).backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimizer.step()
        times.append(time.process_time() - start)
        validations.append(evaluate(validation))
    print(json.dumps({"torch": torch.__version__, "model": name, "epoch_s": sorted(times)[len(times) // 2],
                      "validation_s": sorted(validations)[len(validations) // 2], "test_s": evaluate(test)}))


main()
