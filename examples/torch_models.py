"""An LSTM and a small transformer of PyTorch in the tables of wug.

    pip install . torch                       # in a clone of wug
    python examples/torch_models.py           # a FLaRe language, an index of BLISS, minimal pairs
    python examples/torch_models.py --small   # the same with few strings
    python examples/torch_models.py --full    # with the sizes of the papers

What wug needs is between the two lines below each class: `fit`, and the method of the role.
"""

import argparse

import torch
from torch import nn

import wug


class Body(nn.Module):
    """Reads ids (batch, time) and gives a vector after each symbol."""

    def __init__(self, vocabulary, width=32, kind="lstm", longest=2048):
        super().__init__()
        self.kind, self.embedding = kind, nn.Embedding(vocabulary, width)
        if kind == "lstm":
            self.layers = nn.LSTM(width, width, batch_first=True)
        else:
            self.positions = nn.Parameter(torch.randn(longest, width) * 0.02)
            layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True, norm_first=True)
            self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, ids):
        x = self.embedding(ids)
        if self.kind == "lstm":
            return self.layers(x)[0]
        time = ids.shape[1]
        future = torch.triu(torch.ones(time, time, dtype=torch.bool), 1)
        return self.layers(x + self.positions[:time], mask=future)


def train(model, loss, task, *, epochs=5, rate=3e-3, batch=64):
    """An ordinary training loop. `loss` gives the loss of a batch."""
    torch.manual_seed(task.seed)
    optimizer = torch.optim.Adam(model.parameters(), rate)
    for epoch in range(task.settings.get("epochs", epochs)):
        model.train()
        for ids, lengths, labels in task.training.batches(batch, shuffle=True, seed=epoch):
            optimizer.zero_grad()
            loss(torch.from_numpy(ids), torch.from_numpy(lengths), labels).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    return model.eval()


def last(states, lengths):
    """The state after the last symbol of each string; strings may be empty, so that they begin with a 0 of ours."""
    return states[torch.arange(len(lengths)), lengths]


class Recognizer(nn.Module):
    kind = "lstm"

    def build(self, vocabulary):
        self.body, self.head = Body(vocabulary, kind=self.kind), nn.Linear(32, 1)

    def forward(self, ids, lengths):
        return self.head(last(self.body(nn.functional.pad(ids, (1, 0))), lengths)).squeeze(1)

    # ---- what wug needs
    def fit(self, task):
        torch.manual_seed(task.seed)
        self.build(task.vocabulary)
        bce = nn.functional.binary_cross_entropy_with_logits
        train(self, lambda ids, n, labels: bce(self(ids, n), torch.from_numpy(labels).float()), task)

    @torch.no_grad()
    def log_odds(self, ids, lengths):
        return self(torch.from_numpy(ids), torch.from_numpy(lengths))
    # ----


class LanguageModel(nn.Module):
    kind = "lstm"

    def build(self, vocabulary):
        self.body, self.head = Body(vocabulary, kind=self.kind), nn.Linear(32, vocabulary)

    def forward(self, ids):
        return self.head(self.body(ids))

    def loss(self, ids, lengths, _):
        logits, targets = self(ids[:, :-1]), ids[:, 1:].clone()
        targets[torch.arange(targets.shape[1]) >= (lengths - 1)[:, None]] = -100  # padding, but not the end
        return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    # ---- what wug needs
    def fit(self, task):
        torch.manual_seed(task.seed)
        self.build(task.vocabulary)
        train(self, self.loss, task)

    @torch.no_grad()
    def next_probs(self, ids, lengths):
        return self(torch.from_numpy(ids)).softmax(-1)
    # ----


class TorchLSTM(Recognizer):
    name = "torch-lstm"


class TorchTransformer(Recognizer):
    name, kind = "torch-transformer", "transformer"


class TorchLSTMModel(LanguageModel):
    name = "torch-lstm"


class TorchTransformerModel(LanguageModel):
    name, kind = "torch-transformer", "transformer"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="runs/torch")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--small", action="store_true", help="few strings")
    size.add_argument("--full", action="store_true", help="the sizes of the papers")
    options = parser.parse_args()
    torch.set_num_threads(1)  # small models gain nothing from more
    recognizers, models = [TorchLSTM, TorchTransformer], [TorchLSTMModel, TorchTransformerModel]
    print(wug.doctor(TorchLSTMModel))
    scale = "small" if options.small else "full" if options.full else "default"
    sizes = {
        "small": "data = { training = 300, validation = 50, test = 60, held_out = 20, distances = 10, longest = 80 }",
        "default": "data = { training = 2000, validation = 200, test = 400, held_out = 100, distances = 50, longest = 120 }",
        "full": "",
    }[scale]
    order = {"small": "order = 2", "default": "order = 2", "full": ""}[scale]
    pairs = {
        "small": "data = { training = 500, validation = 50, test = 200, out_of_distribution = 200 }",
        "default": "data = { training = 5000, validation = 200, test = 500, out_of_distribution = 500 }",
        "full": "",
    }[scale]
    experiments = {"recognition": recognizers, "generalization": models, "pairs": models}
    for protocol, learners in experiments.items():
        text = f'title = "Models of PyTorch"\n[[{protocol}]]\nseeds = 1\n' + {
            "recognition": 'languages = ["parity", "repeat-01"]\nvalidation = ["short"]\n' + sizes,
            "generalization": 'languages = ["an-bn"]\nfactors = [1]\n' + order,
            "pairs": 'languages = ["nested:terminals=5"]\n' + pairs,
        }[protocol]
        sweep = wug.run(text, learners=learners, out=f"{options.out}/{scale}/{protocol}")
        print(sweep.report())


if __name__ == "__main__":
    main()
