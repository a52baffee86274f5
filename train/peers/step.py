"""Measures training steps in PyTorch on the CPU: the benchmarks base and tiny of `tfm bench`.

Usage: step.py base|tiny [--threads N] [--bf16] [--lengths FILE] [--rounds N]

The model is torch.nn.Transformer on nn.Embedding times sqrt(d) plus sinusoids; the embedding matrix is the output projection too.
Dropout is on the embeddings and each sublayer's output, as in tfm and the paper. The loss is cross-entropy with label smoothing 0.1,
the norm of the gradient is clipped at 1, Adam is PyTorch's fused implementation. Among equivalent computations it uses the fastest:
no masks without padding, logits only of targets that are not padding. translate.py trains the model on text.

tiny reads the lengths of its sentences: lines with the numbers of source and target tokens, with EOS. Batches are padded sentences of
nearly equal length, at most 4,096 target tokens and 6,144 source tokens, in random order.

Prints JSON: seconds per step in each round, tokens/s and peak memory. A warm-up round comes first.
Requires the Python package torch.
"""

import argparse
import json
import math
import random
import resource
import time

import torch
from torch import nn

PAD, BOS, EOS = 0, 1, 2
WORK = {
    "base": dict(d=512, heads=8, layers=6, ff=2048, dropout=0.1, vocab=10_000, steps=1),
    "tiny": dict(d=128, heads=4, layers=4, ff=256, dropout=0.3, vocab=8_000, steps=4),
}


class Model(nn.Module):
    def __init__(self, d, heads, layers, ff, dropout, vocab, positions=1024, norm_first=False):
        super().__init__()
        self.table = nn.Embedding(vocab, d)
        nn.init.normal_(self.table.weight, std=d**-0.5)
        self.transformer = nn.Transformer(d, heads, layers, layers, ff, dropout, batch_first=True, norm_first=norm_first)
        for stack in (self.transformer.encoder, self.transformer.decoder):
            if not norm_first:
                stack.norm = None  # the paper has no final norms
            for layer in stack.layers:
                # no dropout of attention weights and inner activations
                layer.self_attn.dropout = layer.dropout.p = 0.0
                if hasattr(layer, "multihead_attn"):
                    layer.multihead_attn.dropout = 0.0
        self.dropout, self.scale = nn.Dropout(dropout), math.sqrt(d)
        angles = torch.arange(positions).unsqueeze(1) * 10000.0 ** (-torch.arange(0, d, 2) / d)
        self.register_buffer("positions", torch.stack([angles.sin(), angles.cos()], -1).reshape(positions, d))

    def embed(self, ids):
        return self.dropout(self.table(ids) * self.scale + self.positions[: ids.shape[1]])

    def encode(self, src):
        """Returns the output of the encoder and the mask of the padding or None."""
        hidden = src == PAD
        hidden = hidden if hidden.any() else None
        return self.transformer.encoder(self.embed(src), src_key_padding_mask=hidden), hidden

    def decode(self, tgt, memory, hidden):
        n = tgt.shape[1]
        ahead = torch.ones(n, n, dtype=torch.bool).triu(1)  # covers padded targets
        return self.transformer.decoder(self.embed(tgt), memory, tgt_mask=ahead, tgt_is_causal=True, memory_key_padding_mask=hidden)

    def forward(self, src, tgt, real):
        """Returns the logits of the tokens that follow those of tgt where real is true.

        src [sentences, n], tgt and real [sentences, m]; result [number of true elements, vocab]."""
        y = self.decode(tgt, *self.encode(src))
        return nn.functional.linear(y.flatten(0, 1) if real.all() else y[real], self.table.weight)


def batches(args, vocab):
    def ids(lengths):
        t = torch.full((len(lengths), max(lengths)), PAD)
        for row, n in zip(t, lengths):
            row[:n] = torch.randint(EOS + 1, vocab, (n,))
        return t

    if args.work == "base":
        groups = [[(32, 32)] * 32]
    else:
        pairs = sorted((tuple(map(int, line.split())) for line in open(args.lengths)), key=lambda p: (p[1], p[0]))
        groups, group, src, tgt = [], [], 0, 0
        for p in pairs:
            if group and (src + p[0] > 6144 or tgt + p[1] > 4096):
                groups.append(group)
                group, src, tgt = [], 0, 0
            group.append(p)
            src, tgt = src + p[0], tgt + p[1]
        random.Random(1).shuffle(groups)
    while True:
        for group in groups:
            yield ids([s for s, _ in group]), ids([t for _, t in group])


def main():
    p = argparse.ArgumentParser(description="Measures training steps in PyTorch.")
    p.add_argument("work", choices=WORK)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--bf16", action="store_true", help="use torch.autocast")
    p.add_argument("--lengths", help="file of sentence lengths for tiny")
    p.add_argument("--rounds", type=int, default=5)
    args = p.parse_args()
    if args.work == "tiny" and not args.lengths:
        p.error("tiny needs --lengths")
    work = dict(WORK[args.work])
    steps = work.pop("steps")
    torch.manual_seed(1)
    torch.set_num_threads(args.threads)
    model = Model(**work).train()
    adam = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.1)
    data = batches(args, work["vocab"])
    rounds = []
    for _ in range(args.rounds + 1):
        seconds = src_tokens = tgt_tokens = 0
        for _ in range(steps):
            src, tgt = next(data)
            start = time.perf_counter()
            with torch.autocast("cpu", torch.bfloat16, enabled=args.bf16):
                logits = model(src, tgt, tgt != PAD)
            loss = loss_of(logits.float(), tgt[tgt != PAD])
            adam.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
            seconds += time.perf_counter() - start
            src_tokens += int((src != PAD).sum())
            tgt_tokens += int((tgt != PAD).sum())
        rounds.append((seconds / steps, src_tokens / seconds, tgt_tokens / seconds))
    rounds = rounds[1:]
    rate = sorted(s + t for _, s, t in rounds)[len(rounds) // 2]
    print(json.dumps({
        "torch": torch.__version__, "threads": args.threads, "bf16": args.bf16, "parameters": sum(p.numel() for p in model.parameters()),
        "seconds_per_step": sorted(s for s, _, _ in rounds)[len(rounds) // 2], "tokens_per_second": rate,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "rounds": [round(s, 4) for s, _, _ in rounds]}))


if __name__ == "__main__":
    main()
