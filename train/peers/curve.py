"""Trains the model of curve.go in PyTorch, from the same initial weights on the same batches, and compares the losses.

Usage: curve.py DIR [--dtype float32|float64] [--threads N] [--steps N]
       curve.py DIR --compare A B    prints the differences of the losses in DIR/A/log.jsonl and DIR/B/log.jsonl

The model follows "Attention Is All You Need", written in elementary PyTorch operations and differentiated by autograd. It
reads the weights of tfm's model file, whose names and shapes are in model/README.md: a linear map is [in, out], and W^Q,
W^K and W^V are concatenated by columns. Batches are padded and masked.
Requires the Python packages torch, numpy and safetensors. Writes the log to DIR/pytorch-DTYPE/log.jsonl.
"""

import argparse
import json
import math
import pathlib
import time

import safetensors
import torch
from torch.nn import functional

PAD, BOS, EOS = 0, 1, 2


def padded(sentences):
    n = max(len(s) for s in sentences)
    return torch.tensor([s + [PAD] * (n - len(s)) for s in sentences])


class Transformer:
    """Figure 1 of the paper: post-norm, one matrix for both embeddings and the output projection, no dropout."""

    def __init__(self, path, dtype):
        with safetensors.safe_open(path, "pt") as f:
            self.config = json.loads(f.metadata()["config"])
            self.p = {k: f.get_tensor(k).to(dtype).requires_grad_() for k in f.keys()}
        c = self.config
        read = {"d_model", "heads", "d_ff", "encoder_layers", "decoder_layers", "dropout", "label_smoothing", "src_vocab", "tgt_vocab", "tie",
                "norm_eps", "max_len"}
        if c.keys() - read or c["tie"] != "all" or c["dropout"] != 0:
            raise SystemExit(f"{path}: found the configuration {c}, expected the paper's model without dropout")
        d, pos = c["d_model"], torch.arange(c["max_len"], dtype=torch.float64).unsqueeze(1)
        angles = pos * 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
        self.positions = torch.stack([angles.sin(), angles.cos()], -1).reshape(-1, d).to(dtype)

    def linear(self, name, x):
        return x @ self.p[name + ".weight"] + self.p[name + ".bias"]

    def add_norm(self, name, x, sublayer):
        return functional.layer_norm(x + sublayer, x.shape[-1:], self.p[name + ".gain"], self.p[name + ".bias"], self.config["norm_eps"])

    def embed(self, ids):
        return self.p["embedding"][ids] * math.sqrt(self.config["d_model"]) + self.positions[: ids.shape[1]]

    def attention(self, q, k, v, hidden):
        """softmax(Q·Kᵀ/√d_k)·V of every head; hidden [batch, 1, queries or 1, keys] is true for masked keys."""

        def heads(x):
            return x.unflatten(-1, (self.config["heads"], -1)).transpose(1, 2)

        q, k, v = heads(q), heads(k), heads(v)
        scores = (q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])).masked_fill(hidden, -math.inf)
        return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)

    def self_attention(self, name, x, hidden):
        return self.linear(name + ".out", self.attention(*self.linear(name + ".qkv", x).chunk(3, -1), hidden))

    def cross_attention(self, name, x, memory, hidden):
        return self.linear(name + ".out", self.attention(self.linear(name + ".q", x), *self.linear(name + ".kv", memory).chunk(2, -1), hidden))

    def feed_forward(self, name, x):
        return self.linear(name + ".outer", self.linear(name + ".inner", x).relu())

    def loss(self, batch):
        """Returns the sum of the smoothed loss, the sum of the NLL, the number of targets ranked first, and that of targets."""
        src, tgt = padded([s + [EOS] for s in batch["src"]]), padded([[BOS] + t for t in batch["tgt"]])
        targets = torch.tensor([token for t in batch["tgt"] for token in t + [EOS]])
        padding = (src == PAD)[:, None, None, :]
        ahead = torch.ones(tgt.shape[1], tgt.shape[1], dtype=torch.bool).triu(1)[None, None]
        x = self.embed(src)
        for i in range(self.config["encoder_layers"]):
            name = f"encoder.{i}"
            x = self.add_norm(name + ".norm1", x, self.self_attention(name + ".self", x, padding))
            x = self.add_norm(name + ".norm2", x, self.feed_forward(name + ".ff", x))
        memory, x = x, self.embed(tgt)
        for i in range(self.config["decoder_layers"]):
            name = f"decoder.{i}"
            x = self.add_norm(name + ".norm1", x, self.self_attention(name + ".self", x, ahead))
            x = self.add_norm(name + ".norm2", x, self.cross_attention(name + ".cross", x, memory, padding))
            x = self.add_norm(name + ".norm3", x, self.feed_forward(name + ".ff", x))
        log_p = (x[tgt != PAD] @ self.p["embedding"].T).log_softmax(-1)  # rows of padding removed
        right, others = log_p.gather(1, targets[:, None]).sum(), self.config["label_smoothing"] / (log_p.shape[1] - 1)
        loss = -(1 - self.config["label_smoothing"]) * right - others * (log_p.sum() - right)
        return loss, -right.item(), (log_p.argmax(-1) == targets).sum().item(), len(targets)


def train(folder, dtype, threads, steps):
    torch.set_num_threads(threads)
    model = Transformer(folder / "initial.safetensors", getattr(torch, dtype))
    settings = json.loads((folder / "settings.json").read_text())
    weights = list(model.p.values())
    adam = torch.optim.Adam(weights, betas=(settings["beta1"], settings["beta2"]), eps=settings["eps"])
    out = folder / f"pytorch-{dtype}"
    out.mkdir(exist_ok=True)
    start = time.perf_counter()
    with open(out / "log.jsonl", "w", buffering=1) as log, open(folder / "batches.jsonl") as batches:
        print(json.dumps({"event": "start", "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "version": f"PyTorch {torch.__version__}",
                          "step": 0, "settings": {"dtype": dtype}, "vocabulary": model.config["tgt_vocab"],
                          "parameters": sum(w.numel() for w in weights), "threads": threads}), file=log)
        for step, (line, rate) in enumerate(zip(batches, settings["rates"]), 1):
            if steps and step > steps:
                break
            loss, nll, correct, tokens = model.loss(json.loads(line))
            adam.zero_grad()
            (loss / tokens).backward()
            norm = torch.nn.utils.clip_grad_norm_(weights, settings["clip_norm"]).item()
            adam.param_groups[0]["lr"] = rate
            adam.step()
            print(json.dumps({"event": "step", "step": step, "elapsed": time.perf_counter() - start, "loss": loss.item() / tokens,
                              "nll": nll / tokens, "accuracy": correct / tokens, "rate": rate, "grad_norm": norm}), file=log)


def losses(path):
    """Returns the loss of each step. Ignores a partial last line."""
    lines = (path / "log.jsonl").read_text().rpartition("\n")[0].splitlines()
    return {e["step"]: e["loss"] for e in map(json.loads, lines) if e["event"] == "step"}


def compare(folder, a, b):
    x, y = losses(folder / a), losses(folder / b)
    steps = sorted(x.keys() & y.keys())
    apart = {s: abs(x[s] - y[s]) for s in steps}
    worst = max(steps, key=apart.get)
    print(f"{a} and {b}: {len(steps)} steps, largest difference of the losses {apart[worst]:.2e} (step {worst}: {x[worst]:.6f} and {y[worst]:.6f}): "
          + ", ".join(f"{max(apart[s] for s in steps if s <= n):.1e} up to step {n}" for n in sorted({10, 50, 100, steps[-1]}) if n <= steps[-1]))


def main():
    p = argparse.ArgumentParser(description="Trains the model of curve.go in PyTorch and compares the losses.")
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--steps", type=int, help="limit of the steps")
    p.add_argument("--compare", nargs=2, metavar=("A", "B"))
    a = p.parse_args()
    if a.compare:
        compare(a.folder, *a.compare)
    else:
        train(a.folder, a.dtype, a.threads, a.steps)


main()
