"""Converts a tfm model to CTranslate2, so that both translate with the same weights.

Usage: ct2.py MODEL DIR

The model must have float32 weights and a joint vocabulary. Piece i is the token "t<i>", except
that Pad, BOS and EOS are "<unk>", "<s>" and "</s>".
Requires the Python packages ctranslate2 and numpy.
"""

import json
import struct
import sys

import ctranslate2
import numpy as np
from ctranslate2.specs import TransformerSpec, common_spec

SPECIAL = ["<unk>", "<s>", "</s>"]


def texts(ids):
    return [SPECIAL[i] if i < len(SPECIAL) else f"t{i}" for i in ids]


def ids(texts):
    return [int(t[1:]) for t in texts if t not in SPECIAL]


def read(path):
    """Returns the tensors and the configuration of a model file."""
    with open(path, "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = np.frombuffer(f.read(), np.uint8)
    config = json.loads(header.pop("__metadata__")["config"])
    tensors = {}
    for name, t in header.items():
        if t["dtype"] == "F32":
            tensors[name] = data[slice(*t["data_offsets"])].view(np.float32).reshape(t["shape"])
    return tensors, config


def sinusoids(length, d):
    """Returns the paper's positional encodings [length × d]: sines and cosines alternate."""
    angle = np.arange(length)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    return np.stack([np.sin(angle), np.cos(angle)], 2).reshape(length, d).astype(np.float32)


def convert(tensors, config):
    """Returns the specification of a CTranslate2 model."""
    pre_norm, d, v = config.get("norm") == "pre", config["d_model"], config["tgt_vocab"]
    spec = TransformerSpec.from_config(
        (config["encoder_layers"], config["decoder_layers"]), config["heads"], pre_norm=pre_norm, activation=common_spec.Activation.RELU
    )
    optional = lambda name, size: tensors.get(name, np.zeros(size, np.float32))

    def linear(s, name):
        w = tensors[name + ".weight"]
        s.weight, s.bias = np.ascontiguousarray(w.T), optional(name + ".bias", w.shape[1])

    def norm(s, name):
        s.gamma, s.beta = tensors[name + ".gain"], tensors[name + ".bias"]

    for side, name in (spec.encoder, "encoder"), (spec.decoder, "decoder"):
        for i, layer in enumerate(side.layer):
            at = f"{name}.{i}."
            linear(layer.self_attention.linear[0], at + "self.qkv")
            linear(layer.self_attention.linear[1], at + "self.out")
            norm(layer.self_attention.layer_norm, at + "norm1")
            last = "norm2"
            if side is spec.decoder:
                linear(layer.attention.linear[0], at + "cross.q")
                linear(layer.attention.linear[1], at + "cross.kv")
                linear(layer.attention.linear[2], at + "cross.out")
                norm(layer.attention.layer_norm, at + "norm2")
                last = "norm3"
            linear(layer.ffn.linear_0, at + "ff.inner")
            linear(layer.ffn.linear_1, at + "ff.outer")
            norm(layer.ffn.layer_norm, at + last)
        if pre_norm:
            norm(side.layer_norm, name + ".norm")
        side.scale_embeddings = True
        side.position_encodings.encodings = sinusoids(config["max_len"], d)
    spec.encoder.embeddings[0].weight = tensors["embedding"]
    spec.decoder.embeddings.weight = tensors["embedding"]
    spec.decoder.projection.weight = tensors["embedding"]
    spec.decoder.projection.bias = optional("output.bias", v)
    spec.register_source_vocabulary(texts(range(v)))
    spec.register_target_vocabulary(texts(range(v)))
    spec.config.add_source_eos = True
    spec.validate()
    spec.optimize(quantization="float32")
    return spec


if __name__ == "__main__":
    _, path, folder = sys.argv
    convert(*read(path)).save(folder)
    print(f"ctranslate2 {ctranslate2.__version__}: {folder}")
