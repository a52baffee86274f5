"""Loads the model of this folder, and translates the lines of standard input with greedy search."""

import json
import os
import sys
import warnings

import torch
from safetensors.torch import load_file
from torch.nn import Embedding, Linear, Transformer
from torch.nn.functional import gelu, relu, silu

PAD, BOS, EOS = 0, 1, 2
FOLDER = os.path.dirname(os.path.abspath(__file__))
warnings.filterwarnings("ignore", message="enable_nested_tensor")


class Translator(Transformer):
    def __init__(self, config):
        activations = {"relu": relu, "gelu": gelu, "gelu-tanh": lambda x: gelu(x, approximate="tanh"), "silu": silu}
        super().__init__(activation=activations[config["activation"]], batch_first=True, **config["transformer"])
        if not config["final_norm"]:
            self.encoder.norm = self.decoder.norm = None
        d, self.config = self.d_model, config
        self.source, self.source_positions = Embedding(config["source_vocab"], d), Embedding(config["max_len"], d)
        self.target, self.target_positions = Embedding(config["target_vocab"], d), Embedding(config["max_len"], d)
        self.output = Linear(d, config["target_vocab"], bias=config["output_bias"])
        tensors = load_file(os.path.join(FOLDER, "model.safetensors"))
        for name, shared in (("target", "source"), ("output", "target"), ("target_positions", "source_positions")):
            if name + ".weight" not in tensors:  # tied
                tensors[name + ".weight"] = tensors[shared + ".weight"]
                getattr(self, name).weight = getattr(self, shared).weight
        self.load_state_dict(tensors)
        if not config["learned_positions"]:
            self.source_positions.weight.requires_grad = False

    def encode(self, ids):  # [batch, n] to [batch, n, d_model]
        x = self.source(ids) * self.config["embedding_scale"]
        return self.encoder(x + self.source_positions.weight[: ids.shape[1]])

    def decode(self, memory, ids):  # logits of the piece after each of ids
        x = self.target(ids) * self.config["embedding_scale"] + self.target_positions.weight[: ids.shape[1]]
        mask = self.generate_square_subsequent_mask(ids.shape[1])
        return self.output(self.decoder(x, memory, tgt_mask=mask, tgt_is_causal=True))

    def marked(self, ids):
        before, after = self.config["before_source"], self.config["after_source"]
        return before + ids[: self.config["max_len"] - max(1, len(before + after))] + after or [EOS]

    @torch.inference_mode()
    def greedy(self, source):
        source, target = self.marked(source), [BOS]
        memory = self.encode(torch.tensor([source]))
        while len(target) < min(len(source) + 50, self.config["max_len"]):
            logits = self.decode(memory, torch.tensor([target]))[0, -1]
            logits[self.config["suppressed"]] = -torch.inf
            target.append(int(logits.argmax()))
            if target[-1] == EOS:
                break
        return target[1:]


def tokenizer(side, config):
    """Returns functions from text to ids without EOS, and from ids to text."""
    path = os.path.join(FOLDER, side)
    if os.path.exists(path + ".json"):
        from tokenizers import Tokenizer

        t = Tokenizer.from_file(path + ".json")
        t.encode_special_tokens = True  # "</s>" in a text is text
        return lambda text: t.encode(text).ids[:-1], lambda ids: t.decode(ids)
    from sentencepiece import SentencePieceProcessor

    t, file_ids = SentencePieceProcessor(model_file=path + ".model"), config[side + "_file_ids"]
    ids = {file_id: id for id, file_id in enumerate(file_ids)}
    return lambda text: [ids[i] for i in t.encode(text)], lambda out: t.decode([file_ids[i] for i in out if i > EOS])


def load():
    """Returns the model and the functions of tokenizer for the source and for the target."""
    with open(os.path.join(FOLDER, "config.json"), encoding="utf-8") as f:
        config = json.load(f)
    return Translator(config).eval(), tokenizer("source", config), tokenizer("target", config)


if __name__ == "__main__":
    model, (encode, _), (_, decode) = load()
    for line in sys.stdin:
        print(decode(model.greedy(encode(line.rstrip("\n")))), flush=True)
