"""A causal language model of Hugging Face, with the symbols of a language mapped to its tokens.

    pip install . torch transformers
    python examples/hugging_face.py                      # a tiny GPT-2 with random weights, trained here
    python examples/hugging_face.py --model gpt2         # a model that `transformers` finds, if it is there

The symbols of a language become tokens of the model: those in the alphabet that are one token each, or any others. The model
is fine-tuned, and its next-token distribution is restricted to the tokens of the symbols and of the end, and renormalised.
"""

import argparse

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2Config, GPT2LMHeadModel

import wug


class HuggingFace:
    name = "gpt2-tiny"
    model = None  # a name that `transformers` knows; without one, a tiny model with random weights
    epochs = 10

    def build(self, task):
        """The model, and the token of each id: 0, the boundary, is the model's own end of text."""
        torch.manual_seed(task.seed)
        if self.model is None:
            ends = {"bos_token_id": 0, "eos_token_id": 0}
            config = GPT2Config(vocab_size=256, n_positions=2048, n_embd=32, n_layer=2, n_head=4, **ends)
            self.network = GPT2LMHeadModel(config)
            return list(range(task.vocabulary))
        tokenizer = AutoTokenizer.from_pretrained(self.model)
        self.network = AutoModelForCausalLM.from_pretrained(self.model)
        pieces = [tokenizer.encode(" " + token, add_special_tokens=False) for token in task.alphabet]
        single = [piece[0] for piece in pieces if len(piece) == 1]
        if len(set(single)) != len(task.alphabet):  # some symbols have no token of their own: take any
            single = list(range(1000, 1000 + len(task.alphabet)))
        return [tokenizer.eos_token_id, *single]

    def fit(self, task):
        self.tokens = torch.tensor(self.build(task))
        optimizer = torch.optim.AdamW(self.network.parameters(), 3e-3)
        for epoch in range(task.settings.get("epochs", self.epochs)):
            self.network.train()
            for ids, lengths, _ in task.training.batches(32, shuffle=True, seed=epoch):
                inside = torch.arange(ids.shape[1]) < torch.from_numpy(lengths)[:, None]
                tokens = self.tokens[torch.from_numpy(ids)]
                # The library shifts labels itself. 0 is padding only where the string is over: its end is learned.
                loss = self.network(tokens, attention_mask=inside.long(), labels=tokens.masked_fill(~inside, -100)).loss
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        self.network.eval()

    @torch.no_grad()
    def next_probs(self, ids, lengths):
        inside = torch.arange(ids.shape[1]) < torch.from_numpy(lengths)[:, None]
        logits = self.network(self.tokens[torch.from_numpy(ids)], attention_mask=inside.long()).logits
        return logits[..., self.tokens].double().softmax(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model")
    parser.add_argument("--out", default="runs/hugging-face")
    options = parser.parse_args()
    if options.model:
        HuggingFace.model, HuggingFace.name = options.model, options.model.replace("/", "-")
    print(wug.doctor(HuggingFace))
    protocols = {
        "generalization": 'languages = ["an-bn"]\norder = 2\nfactors = [1]\n',
        "pairs": 'languages = ["nested:terminals=5"]\ndata = { training = 500, validation = 50, test = 200, out_of_distribution = 200 }\n',
    }
    for protocol in wug.protocols():
        if protocol["name"] in protocols:
            text = f'title = "A causal language model"\n[[{protocol["name"]}]]\nseeds = 1\n' + protocols[protocol["name"]]
            print(wug.run(text, learners=[HuggingFace], out=f"{options.out}/{protocol['name']}").report())


if __name__ == "__main__":
    main()
