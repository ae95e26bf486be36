"""Times PyTorch on what `generalization.rs` beside it evaluates: aⁿbⁿ, n = 21 … 10,020, with the LSTMs of 32 units that are made there.

Strings of similar length are read together, whole, in batches without padding to speak of; one thread.

    python crates/lab/examples/generalization.py [counts|rests] [batch] [share]

`share` evaluates only every so-many-th batch and scales the time up.
"""

import json
import math
import sys
import time

import torch

HIDDEN, VOCABULARY = 32, 3


def lstm(counts):
    net = torch.nn.LSTM(VOCABULARY, HIDDEN)
    out = torch.nn.Linear(HIDDEN, VOCABULARY)

    def fill(tensor, scale, special):
        flat = tensor.data.view(-1)
        for i in range(len(flat)):
            value = special(i) if counts else None
            flat[i] = scale * math.sin(i * i % 1009) if value is None else value

    def of_counter(row):
        return row % HIDDEN == 0

    candidate = 2 * HIDDEN
    step = [0.0, 20.0, -20.0]
    fill(net.weight_ih_l0, 0.3, lambda i: None if not of_counter(i // VOCABULARY)
         else step[i % VOCABULARY] if i // VOCABULARY == candidate else 0.0)
    fill(net.weight_hh_l0, 0.3, lambda i: 0.0 if of_counter(i // HIDDEN) else None)
    fill(net.bias_ih_l0, 0.3, lambda row: None if not of_counter(row) else 0.0 if row == candidate else 30.0)
    net.bias_hh_l0.data.zero_()
    fill(out.weight, 0.01, lambda i: [0.0, 0.0, 20.0][i // HIDDEN] if i % HIDDEN == 0 else None)
    fill(out.bias, 0.01, lambda symbol: [8.0, -40.0, 0.0][symbol])
    return net, out


def strings(ns):
    longest = 2 * ns[-1] + 1
    t = torch.arange(longest).unsqueeze(1)
    n = torch.tensor(ns).unsqueeze(0)
    inputs = torch.where(t == 0, 0, torch.where(t <= n, 1, 2))
    targets = torch.where(t < 2 * n, 2, 0)
    scored = (t > n) & (t <= 2 * n)
    return torch.nn.functional.one_hot(inputs, VOCABULARY).float(), targets, scored


@torch.inference_mode()
def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "counts"
    batch = int(sys.argv[2]) if len(sys.argv) > 2 else 256
    share = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    torch.set_num_threads(1)
    net, out = lstm(name == "counts")
    wall, cpu = time.perf_counter(), time.process_time()
    correct = total = symbols = 0
    batches = [list(range(n, min(n + batch, 10021))) for n in range(21, 10021, batch)]
    every = sum(sum(2 * n + 1 for n in ns) for ns in batches)
    for ns in batches[share // 2::share]:
        x, targets, scored = strings(ns)
        best = out(net(x)[0]).argmax(-1)
        correct += int(((best == targets) & scored).sum())
        total += int(scored.sum())
        symbols += sum(2 * n + 1 for n in ns)
    scale = every / symbols
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(json.dumps({"torch": torch.__version__, "lstm": name, "batch": batch, "share": share, "symbols": symbols,
                      "cpu_seconds": round(cpu, 3), "wall_seconds": round(wall, 3),
                      "all_cpu_seconds": round(cpu * scale, 3), "right": correct, "scored": total}))


main()
