#!/usr/bin/env python3
"""Writes the goldens of the Go tests: PyTorch's values for the layers of the Transformer.

    python3 -m venv venv && venv/bin/pip install torch safetensors
    venv/bin/python testdata/gen_golden.py            write all files to the folder of this script
    venv/bin/python testdata/gen_golden.py --check    compare the existing files with new ones

Each file is one case. PyTorch computes it on the CPU in float64, from values that are exact in
float32, and the results are rounded once. So the files hold the true values to half a unit in the
last place of float32, the tests' bounds cover only the rounding of the tested code, and other
machines and versions write the same files up to the last place. --check allows differences of 1e-6
of the largest element of a tensor, and none in integers. Random values come from Python's generator,
seeded by the name of the file, so that they do not depend on PyTorch's generators.

Tensors of a file (F32 unless stated):

    input/NAME      inputs of the module; padded batches are [batch, tokens, d], with values in the
                    padding too
    lengths/NAME    I32 [batch]: tokens without padding in each row of NAME
    param/NAME      parameters, by PyTorch's names
    output/NAME     outputs
    upstream/y      gradient of a loss with respect to output/y; 0 in the padding
    grad/NAME       gradient of that loss with respect to the input or parameter NAME

The metadata has one key, "golden": JSON with the settings of the case and the versions. Its
"float32" has the errors of PyTorch itself in float32, as a fraction of the largest element of a
tensor: the largest one of the outputs and the largest one of the gradients.

Kinds of files, the part of the name before the first dot:

    layer_norm            LayerNorm(x + sub): nn.LayerNorm with and without bias, and the form
                          (x-mean)/(unbiased deviation + eps) of The Annotated Transformer
    rms_norm              nn.RMSNorm
    positions             F64 tables of sinusoids: the paper's, and with sines and cosines in halves
    embedding             nn.Embedding times sqrt(d) plus sinusoids
    feed_forward          Linear, activation function, Linear
    scaled_dot_product    functional.scaled_dot_product_attention of one head with masks
    attention             nn.MultiheadAttention, with the weights of each head
    encoder_layer, decoder_layer, encoder, decoder, transformer
                          nn.TransformerEncoderLayer, …, nn.Transformer; with final norms if "norm"
                          is in the name
    cross_entropy         nn.CrossEntropyLoss of x·Eᵀ, summed, without label smoothing and with both
                          kinds of it
    optimizer             ten steps of optim.Adam, AdamW and SGD with given gradients
    clip                  utils.clip_grad_norm_
    schedule              F64 rates of LambdaLR with the paper's formula
    training              ten steps of a whole model: batches, and after each step the loss, the norm
                          of the gradient and the parameters
"""

import argparse
import copy
import json
import math
import pathlib
import platform
import random
import sys

import safetensors
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

FOLDER = pathlib.Path(__file__).resolve().parent
TOLERANCE = 1e-6  # of --check, see above

D, HEADS, FF = 16, 4, 20
SOURCE, TARGET = [5, 3, 4], [4, 6, 2]  # lengths of the sentences of a batch
EPS = 1e-5

files = {}  # name: (tensors, description)


def exact(x):
    """Returns x rounded to float32."""
    return x.float().double()


def normal(rng, *shape):
    values = [rng.gauss(0, 1) for _ in range(math.prod(shape))]
    return exact(torch.tensor(values, dtype=torch.float64).reshape(shape))


def fill(module, rng):
    """Sets all parameters of a module to random values; biases differ from 0 and gains from 1."""
    for name, p in module.named_parameters():
        g = normal(rng, *p.shape)
        if p.dim() == 2:
            g = g / math.sqrt(p.shape[1])
        elif name.endswith("weight"):
            g = 1 + 0.2 * g
        else:
            g = 0.2 * g
        p.data = exact(g)


def add(name, settings, tensors, **more):
    settings = {"kind": name.split(".")[0], **settings}
    description = {
        "settings": settings,
        "torch": torch.__version__.split("+")[0],
        "safetensors": safetensors.__version__,
        "python": platform.python_version(),
        **more,
    }
    stored = {}
    for key, t in tensors.items():
        t = t.detach()
        keep = not t.is_floating_point() or key.startswith("table/")
        stored[key] = (t if keep else t.float()).contiguous().clone()
    files[name + ".safetensors"] = (stored, description)


def compute(module, inputs, run, upstream):
    """Returns outputs and gradients, in the precision of the inputs."""
    inputs = {k: x.clone().requires_grad_() for k, x in inputs.items()}
    module.zero_grad()
    outputs = run(module, inputs)
    (outputs["y"] * upstream).sum().backward()
    result = {"output/" + k: y for k, y in outputs.items()}
    for k, x in inputs.items():
        result["grad/" + k] = x.grad
    for k, p in module.named_parameters():
        result["grad/" + k] = p.grad
    return result


def record(name, settings, module, inputs, run, lengths=None, real=None, constants=None):
    """Adds the case of a module. inputs are shapes. run returns a dictionary of outputs; the loss
    depends on "y". real [batch, tokens] is true where y is not padding."""
    rng = random.Random(name)
    module = module.double()
    fill(module, rng)
    inputs = {k: normal(rng, *shape) for k, shape in inputs.items()}
    with torch.no_grad():
        y = run(module, inputs)["y"]
    upstream = normal(rng, *y.shape)
    if real is not None:
        upstream = upstream * real.unsqueeze(-1)
    want = compute(module, inputs, run, upstream)

    single = compute(copy.deepcopy(module).float(), {k: x.float() for k, x in inputs.items()}, run, upstream.float())
    float32 = {"output": 0.0, "grad": 0.0}
    for k, w in want.items():
        kind = k.split("/")[0]
        largest = w.abs().max().item()
        if largest > 0:
            error = (single[k].double() - w).abs()
            if real is not None and k == "output/y":
                error = error * real.unsqueeze(-1)
            float32[kind] = max(float32[kind], error.max().item() / largest)

    tensors = {"input/" + k: x for k, x in inputs.items()}
    tensors |= {"lengths/" + k: torch.tensor(n, dtype=torch.int32) for k, n in (lengths or {}).items()}
    tensors |= {"input/" + k: x for k, x in (constants or {}).items()}
    tensors |= {"param/" + k: p for k, p in module.named_parameters()}
    tensors["upstream/y"] = upstream
    add(name, settings, tensors | want, float32={k: float(f"{e:.2g}") for k, e in float32.items()})


def real_tokens(lengths):
    """Returns [batch, tokens], true for tokens and false for padding."""
    return torch.arange(max(lengths)).unsqueeze(0) < torch.tensor(lengths).unsqueeze(1)


def hidden_after(n):
    """Returns PyTorch's look-ahead mask [n, n], true for masked keys."""
    return torch.ones(n, n, dtype=torch.bool).triu(1)


class Norm(nn.Module):
    """A norm of x + sub."""

    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def forward(self, x, sub):
        return self.norm(x + sub)


class UnbiasedNorm(nn.Module):
    def __init__(self, d, eps):
        super().__init__()
        self.weight, self.bias, self.eps = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d)), eps

    def forward(self, x):
        mean, deviation = x.mean(-1, keepdim=True), x.std(-1, keepdim=True, unbiased=True)
        return self.weight * (x - mean) / (deviation + self.eps) + self.bias


def norms():
    for name, norm, settings in [
        ("layer_norm.eps5", nn.LayerNorm(D, eps=1e-5), {"eps": 1e-5, "bias": True}),
        ("layer_norm.eps6", nn.LayerNorm(D, eps=1e-6), {"eps": 1e-6, "bias": True}),
        ("layer_norm.nobias", nn.LayerNorm(D, eps=1e-5, bias=False), {"eps": 1e-5, "bias": False}),
        ("layer_norm.unbiased", UnbiasedNorm(D, 1e-6), {"eps": 1e-6, "bias": True, "unbiased": True}),
        ("rms_norm.eps6", nn.RMSNorm(D, eps=1e-6), {"eps": 1e-6, "bias": False}),
    ]:
        record(name, {"d": D, **settings}, Norm(norm), {"x": (7, D), "sub": (7, D)},
               lambda m, i: {"y": m(i["x"], i["sub"])})


def sinusoids(positions, d):
    """PE(pos, 2i) = sin(pos/10000^(2i/d)), PE(pos, 2i+1) = cos(pos/10000^(2i/d)), in float64."""
    angles = torch.arange(positions, dtype=torch.float64).unsqueeze(1) * 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.stack([angles.sin(), angles.cos()], -1).reshape(positions, d)


def halves(positions, d, first, divide):
    """Sines of pos·10000^(-i/divide) in the first half of the columns, cosines in the second."""
    pos = torch.arange(first, first + positions, dtype=torch.float64).unsqueeze(1)
    angles = pos * 10000.0 ** (-torch.arange(d // 2, dtype=torch.float64) / divide)
    return torch.cat([angles.sin(), angles.cos()], 1)


def positions():
    add("positions.paper", {"d": D}, {"table/positions": sinusoids(40, D)})
    add("positions.marian", {"d": D}, {"table/positions": halves(40, D, 0, D // 2)})
    add("positions.tensor2tensor", {"d": D}, {"table/positions": halves(40, D, 0, D // 2 - 1)})
    add("positions.tensor2tensor-from1", {"d": D}, {"table/positions": halves(40, D, 1, D // 2 - 1)})


class Embedding(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.source, self.d = nn.Embedding(v, d), d

    def forward(self, ids):
        rows = self.source(ids) * math.sqrt(self.d)
        return rows + sinusoids(ids.shape[1], self.d).to(rows.dtype)


def embedding():
    ids = torch.tensor([[3, 3, 8, 1, 5], [3, 7, 2, 0, 0], [6, 3, 4, 2, 0]])
    record("embedding.paper", {"d": D}, Embedding(9, D), {}, lambda m, _: {"y": m(ids)},
           lengths={"y": SOURCE}, real=real_tokens(SOURCE), constants={"ids": ids.int()})


class FeedForward(nn.Module):
    def __init__(self, activation, bias):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(D, FF, bias=bias), nn.Linear(FF, D, bias=bias)
        self.activation = activation

    def forward(self, x):
        return self.linear2(self.activation(self.linear1(x)))


ACTIVATIONS = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "silu": functional.silu,
}


def feed_forward():
    for name, f in ACTIVATIONS.items():
        for bias in (True, False) if name == "relu" else (True,):
            record(f"feed_forward.{name}" + ("" if bias else "-nobias"), {"d": D, "ff": FF, "activation": name, "bias": bias},
                   FeedForward(f, bias), {"x": (7, D)}, lambda m, i: {"y": m(i["x"])})


def scaled_dot_product():
    ids = torch.tensor([7, 8, 9, 3, 0, 0])
    padding = (ids != 0).unsqueeze(0).expand(6, 6)
    look_ahead = ~hidden_after(6)
    for name, mask in [("plain", None), ("padding", padding), ("look_ahead", look_ahead), ("both", padding & look_ahead)]:
        record(f"scaled_dot_product.{name}", {"mask": name}, nn.Module(), {"q": (6, 4), "k": (6, 4), "v": (6, 5)},
               lambda m, i, mask=mask: {"y": functional.scaled_dot_product_attention(i["q"], i["k"], i["v"], attn_mask=mask)},
               constants={"ids": ids.int()})


def attention():
    for name, cross, causal, bias, lengths in [
        ("self-plain", False, False, True, [5, 5]),
        ("self-padded", False, False, True, SOURCE),
        ("self-causal", False, True, True, TARGET),
        ("self-causal-nobias", False, True, False, TARGET),
        ("cross-padded", True, False, True, TARGET),
        ("cross-padded-nobias", True, False, False, TARGET),
    ]:
        m = nn.MultiheadAttention(D, HEADS, bias=bias, batch_first=True)
        keys = SOURCE if cross else lengths
        n, b = max(lengths), len(lengths)
        inputs = {"x": (b, n, D)} | ({"memory": (b, max(keys), D)} if cross else {})

        def run(m, i, causal=causal, keys=keys, n=n):
            memory = i.get("memory", i["x"])
            y, weights = m(i["x"], memory, memory, key_padding_mask=~real_tokens(keys),
                           attn_mask=hidden_after(n) if causal else None, average_attn_weights=False)
            return {"y": y, "weights": weights}

        record("attention." + name, {"d": D, "heads": HEADS, "causal": causal, "bias": bias}, m, inputs, run,
               lengths={"x": lengths, "y": lengths} | ({"memory": keys} if cross else {}), real=real_tokens(lengths))


# norm_first, activation, bias
VARIANTS = {
    "post-relu": (False, "relu", True),
    "post-gelu": (False, "gelu", True),
    "post-relu-nobias": (False, "relu", False),
    "pre-relu": (True, "relu", True),
    "pre-gelu": (True, "gelu", True),
    "pre-gelu-nobias": (True, "gelu", False),
}


def settings_of(variant, encoder, decoder, final_norm):
    norm_first, activation, bias = VARIANTS[variant]
    d, heads, ff = (D, HEADS, FF) if encoder + decoder == 1 else (12, 3, 16)  # stacks are smaller
    return {"d": d, "heads": heads, "ff": ff, "eps": EPS, "encoder_layers": encoder, "decoder_layers": decoder,
            "norm_first": norm_first, "activation": activation, "bias": bias, "final_norm": final_norm}


def layer_of(kind, s):
    return kind(s["d"], s["heads"], s["ff"], dropout=0.0, activation=ACTIVATIONS[s["activation"]], layer_norm_eps=s["eps"],
                batch_first=True, norm_first=s["norm_first"], bias=s["bias"])


def final_norm_of(s):
    return nn.LayerNorm(s["d"], eps=s["eps"], bias=s["bias"]) if s["final_norm"] else None


def encoder_of(s):
    return nn.TransformerEncoder(layer_of(nn.TransformerEncoderLayer, s), s["encoder_layers"], final_norm_of(s), enable_nested_tensor=False)


def decoder_of(s):
    return nn.TransformerDecoder(layer_of(nn.TransformerDecoderLayer, s), s["decoder_layers"], final_norm_of(s))


def transformer_of(s):
    """nn.Transformer always adds final norms unless it is given its stacks."""
    return nn.Transformer(s["d"], s["heads"], batch_first=True, custom_encoder=encoder_of(s), custom_decoder=decoder_of(s))


def encode(m, i):
    return {"y": m(i["x"], src_key_padding_mask=~real_tokens(SOURCE))}


def decode(m, i):
    return {"y": m(i["x"], i["memory"], tgt_mask=hidden_after(max(TARGET)), tgt_key_padding_mask=~real_tokens(TARGET),
                   memory_key_padding_mask=~real_tokens(SOURCE))}


def translate(m, i, src=SOURCE, tgt=TARGET):
    return {"y": m(i["src"], i["tgt"], tgt_mask=hidden_after(max(tgt)), src_key_padding_mask=~real_tokens(src),
                   tgt_key_padding_mask=~real_tokens(tgt), memory_key_padding_mask=~real_tokens(src))}


def layers_and_stacks():
    def source(s):
        return (len(SOURCE), max(SOURCE), s["d"])

    def target(s):
        return (len(TARGET), max(TARGET), s["d"])

    def of_encoder(name, s, module):
        record(name, s, module, {"x": source(s)}, encode, lengths={"x": SOURCE, "y": SOURCE}, real=real_tokens(SOURCE))

    def of_decoder(name, s, module):
        record(name, s, module, {"x": target(s), "memory": source(s)}, decode,
               lengths={"x": TARGET, "memory": SOURCE, "y": TARGET}, real=real_tokens(TARGET))

    for v in VARIANTS:
        s = settings_of(v, 1, 0, False)
        of_encoder("encoder_layer." + v, s, layer_of(nn.TransformerEncoderLayer, s))
        s = settings_of(v, 0, 1, False)
        of_decoder("decoder_layer." + v, s, layer_of(nn.TransformerDecoderLayer, s))
    for v, norm in [("post-relu", False), ("post-relu", True), ("pre-gelu", True)]:
        name = v + ("-norm" if norm else "")
        s = settings_of(v, 2, 0, norm)
        of_encoder("encoder." + name, s, encoder_of(s))
        s = settings_of(v, 0, 2, norm)
        of_decoder("decoder." + name, s, decoder_of(s))
    for v, norm in [("post-relu", False), ("post-relu", True), ("pre-gelu", True), ("pre-gelu-nobias", True)]:
        s = settings_of(v, 1, 2, norm)
        record("transformer." + v + ("-norm" if norm else ""), s, transformer_of(s), {"src": source(s), "tgt": target(s)}, translate,
               lengths={"src": SOURCE, "tgt": TARGET, "y": TARGET}, real=real_tokens(TARGET))


def smoothed_over_others(targets, v, smoothing):
    """1-ε at the target, ε/(V-1) elsewhere."""
    return torch.full((*targets.shape, v), smoothing / (v - 1), dtype=torch.float64).scatter(-1, targets.unsqueeze(-1), 1 - smoothing)


class Output(nn.Module):
    """The output projection with the matrix of the embedding: logits = x·Eᵀ."""

    def __init__(self, v, d):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(v, d))

    def forward(self, x):
        return x @ self.weight.T


def cross_entropy():
    v, n = 11, 9
    targets = torch.tensor([3, 0, 7, 10, 10, 1, 2, 5, 3])
    for name, smoothing in [("none", 0.0), ("others", 0.1), ("all", 0.1)]:
        def run(m, i, name=name, smoothing=smoothing):
            logits = m(i["x"])
            if name == "others":
                q = smoothed_over_others(targets, v, smoothing).to(logits.dtype)
                return {"y": nn.CrossEntropyLoss(reduction="sum")(logits, q)}
            return {"y": nn.CrossEntropyLoss(reduction="sum", label_smoothing=smoothing)(logits, targets)}

        record("cross_entropy." + name, {"d": D, "smoothing": smoothing, "smooth_over": name}, Output(v, D), {"x": (n, D)}, run,
               constants={"targets": targets.int()})


def optimizers():
    n, steps = 40, 10
    for name, make, settings in [
        ("adam", lambda p: torch.optim.Adam(p, lr=1e-3, betas=(0.9, 0.98), eps=1e-9), {}),
        ("adamw", lambda p: torch.optim.AdamW(p, lr=1e-3, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.01), {"decay": 0.01}),
        ("sgd", lambda p: torch.optim.SGD(p, lr=1e-3, momentum=0.99), {"momentum": 0.99}),
        ("sgd-plain", lambda p: torch.optim.SGD(p, lr=1e-3), {"momentum": 0.0}),
    ]:
        rng = random.Random("optimizer." + name)
        w = nn.Parameter(normal(rng, n))
        start, gradients, after = w.detach().clone(), normal(rng, steps, n), []
        optimizer = make([w])
        for g in gradients:
            w.grad = g.clone()
            optimizer.step()
            after.append(w.detach().clone())
        add("optimizer." + name, {"rate": 1e-3, "beta1": 0.9, "beta2": 0.98, "eps": 1e-9, **settings},
            {"param/w": start, "input/gradients": gradients, "output/w": torch.stack(after)})


def clip():
    for name, limit in [("above", 1.5), ("below", 100.0)]:
        rng = random.Random("clip." + name)
        a, b = nn.Parameter(torch.zeros(6, 5)), nn.Parameter(torch.zeros(7))
        a.grad, b.grad = normal(rng, 6, 5), normal(rng, 7)
        before = torch.cat([a.grad.flatten(), b.grad])
        norm = nn.utils.clip_grad_norm_([a, b], limit)
        add("clip." + name, {"limit": limit}, {"input/gradient": before, "table/norm": norm.reshape(1),
                                               "output/gradient": torch.cat([a.grad.flatten(), b.grad])})


def paper_rate(step, d, warmup, factor=1.0):
    return factor * d**-0.5 * min(step**-0.5, step * warmup**-1.5)


def schedule():
    d, warmup, steps = 512, 40, 120
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    lambda_lr = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: paper_rate(s + 1, d, warmup, 2.0))
    rates = []
    for _ in range(steps):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        lambda_lr.step()
    add("schedule.paper", {"d": d, "warmup": warmup, "factor": 2.0}, {"table/rates": torch.tensor(rates, dtype=torch.float64)})


class Model(nn.Module):
    """Figure 1: embeddings times sqrt(d) plus sinusoids, nn.Transformer, output projection. If tied,
    their three matrices are one."""

    def __init__(self, s, v, tied):
        super().__init__()
        self.source = nn.Embedding(v, s["d"])
        self.target = self.source if tied else nn.Embedding(v, s["d"])
        self.transformer = transformer_of(s)
        self.output = nn.Linear(s["d"], v, bias=False)
        if tied:
            self.output.weight = self.source.weight

    def forward(self, src, tgt, src_lengths, tgt_lengths):
        def embed(table, ids):
            d = table.weight.shape[1]
            return table(ids) * math.sqrt(d) + sinusoids(ids.shape[1], d)

        x = {"src": embed(self.source, src), "tgt": embed(self.target, tgt)}
        return self.output(translate(self.transformer, x, src_lengths, tgt_lengths)["y"])


PAD, BOS, EOS = 0, 1, 2


def padded(sentences):
    n = max(len(s) for s in sentences)
    return torch.tensor([s + [PAD] * (n - len(s)) for s in sentences])


def training():
    v, steps, pairs = 12, 10, 4
    for name, variant, encoder, decoder, final_norm, tied, over in [
        ("paper", "post-relu", 2, 2, False, True, "others"),
        ("pytorch", "pre-gelu", 1, 1, True, False, "all"),
    ]:
        rng = random.Random("training." + name)
        settings = settings_of(variant, encoder, decoder, final_norm)
        model = Model(settings, v, tied).double()
        fill(model, rng)
        warmup, factor, limit, smoothing = 5, 0.05, 2.0, 0.1
        optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
        lambda_lr = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: paper_rate(s + 1, settings["d"], warmup, factor))
        tensors = {f"0/{k}": p.detach().clone() for k, p in model.named_parameters()}
        losses, norms = [], []
        for step in range(1, steps + 1):
            src, tgt = ([[rng.randrange(EOS + 1, v) for _ in range(rng.randrange(1, 7))] for _ in range(pairs)] for _ in range(2))
            src_ids, tgt_in, tgt_out = (padded([s + [EOS] for s in src]), padded([[BOS] + t for t in tgt]), padded([t + [EOS] for t in tgt]))
            src_lengths, tgt_lengths = [len(s) + 1 for s in src], [len(t) + 1 for t in tgt]
            logits = model(src_ids, tgt_in, src_lengths, tgt_lengths)
            real = real_tokens(tgt_lengths)
            if over == "others":
                loss = nn.CrossEntropyLoss(reduction="sum")(logits[real], smoothed_over_others(tgt_out[real], v, smoothing))
            else:
                loss = nn.CrossEntropyLoss(reduction="sum", ignore_index=PAD, label_smoothing=smoothing)(logits.flatten(0, 1), tgt_out.flatten())
            optimizer.zero_grad()
            (loss / real.sum()).backward()
            norms.append(nn.utils.clip_grad_norm_(model.parameters(), limit).item())
            optimizer.step()
            lambda_lr.step()
            losses.append(loss.item())
            tensors |= {f"src/{step}": padded(src).int(), f"tgt/{step}": padded(tgt).int()}
            tensors |= {f"{step}/{k}": p.detach().clone() for k, p in model.named_parameters()}
        tensors |= {"table/losses": torch.tensor(losses, dtype=torch.float64), "table/norms": torch.tensor(norms, dtype=torch.float64)}
        add("training." + name, settings | {
            "vocab": v, "steps": steps, "tied": tied, "smoothing": smoothing, "smooth_over": over, "warmup": warmup, "factor": factor,
            "limit": limit, "beta1": 0.9, "beta2": 0.98}, tensors)


def differences():
    """Yields the differences between the existing files and new ones."""
    existing = {p.name for p in FOLDER.glob("*.safetensors")}
    yield from (f"{name}: missing" for name in files.keys() - existing)
    yield from (f"{name}: not written by this script" for name in existing - files.keys())
    for name in sorted(files.keys() & existing):
        want, description = files[name]
        got = load_file(FOLDER / name)
        with safetensors.safe_open(FOLDER / name, "pt") as f:
            settings = json.loads(f.metadata()["golden"])["settings"]
        if settings != description["settings"]:
            yield f"{name}: found settings {settings}, expected {description['settings']}"
        for key in sorted(want.keys() | got.keys()):
            a, b = want.get(key), got.get(key)
            if a is None or b is None or a.shape != b.shape or a.dtype != b.dtype:
                yield f"{name}: {key}: found {b if b is None else (b.dtype, *b.shape)}, expected {a if a is None else (a.dtype, *a.shape)}"
            elif not a.is_floating_point():
                if not torch.equal(a, b):
                    yield f"{name}: {key}: found other integers"
            elif a.numel() > 0:
                # Gradients that are 0 up to rounding, as those of the keys' bias, are below 1e-6.
                largest = max(a.abs().max().item(), 1e-6)
                worst = (a - b).abs().max().item()
                if not worst <= TOLERANCE * largest:
                    yield f"{name}: {key}: found a difference of {worst:.3g}, expected at most {TOLERANCE:g} of {largest:.3g}"


def main():
    parser = argparse.ArgumentParser(description="Writes the goldens.")
    parser.add_argument("--check", action="store_true", help="compare the existing files with new ones")
    check = parser.parse_args().check
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    for write in (norms, positions, embedding, feed_forward, scaled_dot_product, attention, layers_and_stacks, cross_entropy,
                 optimizers, clip, schedule, training):
        write()
    if check:
        found = list(differences())
        print("\n".join(found) if found else f"{len(files)} files agree with PyTorch {torch.__version__} to within {TOLERANCE:g}")
        sys.exit(1 if found else 0)
    for name, (tensors, description) in files.items():
        save_file(tensors, FOLDER / name, metadata={"golden": json.dumps(description)})
    print(f"{len(files)} files written")


if __name__ == "__main__":
    main()
