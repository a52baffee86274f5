"""Trains a translation model in PyTorch for a given time and scores its translations.

Usage: translate.py DIR --train FILE [FILE] --valid FILE [FILE] [--test FILE [FILE]] [settings]

A corpus is two text files, source and target, or one file of lines with source, tab, target. The
model is that of step.py: torch.nn.Transformer, embeddings and output projection tied, sinusoids.
Fixed settings: label smoothing 0.1; Adam with 0.9, 0.98 and 1e-9; gradients clipped at norm 1;
linear warmup, then inverse-square-root decay of the learning rate. The other settings are flags.

The subwords are those of `tfm train`: a joint byte-level BPE, learned and applied by `tfm vocab`.
A batch consists of sentences of nearly equal length, padded. Its limit is the number of sentences
times the longest side, as --max-tokens of fairseq.

A validation translates greedily and computes BLEU. The result of the training is the checkpoint
with the highest validation BLEU, or the mean of the last checkpoints if that has a higher one. As
with -time of `tfm train`, the time includes all validations, the last two by an estimate, and
excludes the subwords and the start of the program. The test set is translated with beam search,
length penalty ((5 + n) / 6)^0.6, at most 50 tokens longer than the source. `tfm score` computes
BLEU and chrF.

Writes to DIR: the subwords, the weights best.pt, and the translations test.hyp. --seed determines
the initial weights, the dropout and the order of the batches. The number of steps depends on the
machine, except with --steps.
Requires the Python package torch. Without --tfm, tfm is built from this source tree.
"""

import argparse
import ctypes
import json
import math
import pathlib
import random
import subprocess
import time
import warnings

import torch
from step import BOS, EOS, PAD, Model
from torch import nn
from torch.nn.utils.rnn import pad_sequence

HERE = pathlib.Path(__file__).resolve().parent


class Tfm:
    """Runs tfm on text."""

    def __init__(self, binary, folder):
        self.binary, self.vocab, self.folder = binary, folder / "joint.bpe", folder
        if not binary:
            self.binary = folder / "tfm"
            subprocess.run(["go", "build", "-o", self.binary, "./cmd/tfm"], cwd=HERE.parent.parent, check=True)

    def run(self, *args, text=""):
        done = subprocess.run([self.binary, *args], input=text.encode(), capture_output=True)
        if done.returncode:
            raise SystemExit(done.stderr.decode().strip())
        return done.stdout.decode()

    def train_vocab(self, sides, size):
        files = [self.write(f"train.{name}", lines) for name, lines in zip(("source", "target"), sides)]
        self.run("vocab", "-o", self.vocab, "-vocab-size", str(size), *files)

    def encode(self, lines):
        ids = self.run("vocab", "-vocab", self.vocab, "-encode", text="".join(line + "\n" for line in lines))
        return [[int(i) for i in line.split()] for line in ids.split("\n")[:-1]]

    def decode(self, sentences):
        ids = "".join(" ".join(map(str, s)) + "\n" for s in sentences)
        return self.run("vocab", "-vocab", self.vocab, "-decode", text=ids).split("\n")[:-1]

    def score(self, name, sentences, references):
        """Returns BLEU, chrF and their signatures."""
        hypotheses = self.write(name + ".hyp", self.decode(sentences))
        bleu, chrf = json.loads(self.run("score", "-json", "-ref", self.write(name + ".ref", references), hypotheses))
        return bleu["score"], chrf["score"], bleu["signature"] + ", " + chrf["signature"]

    def write(self, name, lines):
        path = self.folder / name
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
        return path


def keep_memory():
    """Makes glibc keep freed memory of large tensors mapped. A step takes 12% less time without
    the page faults."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        mallopt(-3, 1 << 30)  # M_MMAP_THRESHOLD
        mallopt(-1, (1 << 31) - 1)  # M_TRIM_THRESHOLD


def read(files):
    """Returns the source lines and the target lines."""
    sides = [pathlib.Path(f).read_bytes().decode("utf-8").removesuffix("\n").split("\n") for f in files]
    if len(sides) == 1:
        sides = list(zip(*(line.split("\t")[:2] for line in sides[0])))
    if len(sides) != 2 or len(sides[0]) != len(sides[1]):
        raise SystemExit(f"{' '.join(files)}: expected two files of equally many lines, or one of lines with source, tab, target")
    return sides


def batches(src, tgt, limit, shuffle):
    """Yields the batches of one epoch in random order. Pairs of equal lengths are shuffled."""
    order = list(range(len(src)))
    shuffle.shuffle(order)
    order.sort(key=lambda i: (len(tgt[i]), len(src[i])))
    groups, group, longest = [], [], 0
    for i in order:
        longest = max(longest, len(src[i]), len(tgt[i]) - 1)
        if group and (len(group) + 1) * longest > limit:
            groups.append(group)
            group, longest = [], max(len(src[i]), len(tgt[i]) - 1)
        group.append(i)
    groups.append(group)
    shuffle.shuffle(groups)
    for group in groups:
        yield tuple(pad_sequence([side[i] for i in group], batch_first=True, padding_value=PAD) for side in (src, tgt))


@torch.inference_mode()
def search(model, src, beam):
    """Returns the best translation of each sentence of a padded batch; beam 1 is greedy search.

    A sentence is finished when beam of its hypotheses have ended, or at its length limit."""
    memory, hidden = (None if x is None else x.repeat_interleave(beam, 0) for x in model.encode(src))
    limits = (src != PAD).sum(1) + 50
    prefix = torch.full((len(src) * beam, 1), BOS)
    scores = torch.full((len(src), beam), -math.inf)
    scores[:, 0] = 0  # all beams are empty at first: extend one only
    live = list(range(len(src)))  # sentence of each row of scores, unfinished ones only
    ended = [[] for _ in live]  # (normalized score, ids) of the ended hypotheses of each sentence
    while live:
        y = model.decode(prefix, memory, hidden)[:, -1]
        logits = nn.functional.linear(y, model.table.weight).float()
        logits[:, [PAD, BOS]] = -math.inf
        totals = scores.unsqueeze(2) + logits.log_softmax(-1).unflatten(0, (-1, beam))
        top, index = totals.flatten(1).topk(2 * beam)  # at most beam of them end
        n = prefix.shape[1]
        parents = torch.arange(len(live)).unsqueeze(1) * beam + index // totals.shape[2]
        tokens = index % totals.shape[2]
        ends = tokens == EOS
        penalty = ((5 + n) / 6) ** 0.6
        for row, column in ends[:, :beam].nonzero().tolist():
            ended[live[row]].append((top[row, column].item() / penalty, prefix[parents[row, column], 1:].tolist()))
        chosen = ends.long().sort(dim=1, stable=True).indices[:, :beam]
        scores, parents, tokens = (x.gather(1, chosen) for x in (top, parents, tokens))
        prefix = torch.cat([prefix[parents.flatten()], tokens.reshape(-1, 1)], 1)
        kept = []
        for row, i in enumerate(live):
            if n >= limits[i] and not ended[i]:
                ended[i].append((scores[row, 0].item() / penalty, prefix[row * beam, 1:].tolist()))
            elif n < limits[i] and len(ended[i]) < beam:
                kept.append(row)
        if len(kept) < len(live):
            live = [live[row] for row in kept]
            rows = (torch.tensor(kept, dtype=torch.long).unsqueeze(1) * beam + torch.arange(beam)).flatten()
            scores, prefix, memory = scores[kept], prefix[rows], memory[rows]
            hidden = None if hidden is None else hidden[rows]
    return [max(e)[1] for e in ended]


def translate(model, src, beam, limit=4096):
    """Returns the translations of src, in its order. limit: source tokens x beam of a batch."""
    model.eval()
    order = sorted(range(len(src)), key=lambda i: -len(src[i]))
    out = [None] * len(src)
    while order:
        group = order[: max(1, limit // (len(src[order[0]]) * beam))]
        order = order[len(group):]
        for i, ids in zip(group, search(model, pad_sequence([src[i] for i in group], batch_first=True, padding_value=PAD), beam)):
            out[i] = ids
    model.train()
    return out


class Run:
    def __init__(self, a, tfm):
        self.a, self.tfm = a, tfm
        start = time.perf_counter()
        train, valid = read(a.train), read(a.valid)
        tfm.train_vocab(train, a.vocab_size)
        pairs = [(s, t) for s, t in zip(*map(tfm.encode, train)) if max(len(s), len(t)) <= a.max_len]
        self.src = [torch.tensor(s + [EOS]) for s, _ in pairs]
        self.tgt = [torch.tensor([BOS] + t + [EOS]) for _, t in pairs]
        self.valid_src, self.valid_ref = self.encoded(valid[0]), valid[1]
        torch.manual_seed(a.seed)
        self.model = Model(a.d, a.heads, a.layers, a.ff, a.dropout, a.vocab_size, norm_first=a.norm_first).train()
        self.checkpoints, self.best, self.valid_seconds = [], (-1.0, None, None), 0.0
        tokens = [sum(map(len, side)) for side in (self.src, self.tgt)]
        print(f"torch {torch.__version__}, {a.threads} threads, {len(self.src):,} pairs, {tokens[0]:,} source and {tokens[1] - len(self.tgt):,} target tokens, "
              f"{sum(p.numel() for p in self.model.parameters()):,} parameters, prepared in {time.perf_counter() - start:.1f} s")
        print(" ".join(f"{k}={v}" for k, v in sorted(vars(a).items())), flush=True)

    def encoded(self, lines):
        return [torch.tensor(s[: self.a.max_len] + [EOS]) for s in self.tfm.encode(lines)]

    def loss(self, src, tgt):
        with torch.autocast("cpu", torch.bfloat16, enabled=self.a.bf16):
            targets = tgt[:, 1:]
            real = targets != PAD
            logits = self.model(src, tgt[:, :-1], real)
        return nn.functional.cross_entropy(logits.float(), targets[real], label_smoothing=0.1)

    def train(self):
        a = self.a
        adam = torch.optim.Adam(self.model.parameters(), lr=a.lr, betas=(0.9, 0.98), eps=1e-9, fused=True)
        schedule = torch.optim.lr_scheduler.LambdaLR(adam, lambda step: min((step + 1) / a.warmup, math.sqrt(a.warmup / (step + 1))))
        loss_of = torch.compile(self.loss, dynamic=True) if a.compile else self.loss
        shuffle, step, epoch, tokens, left, losses, steps_seconds = random.Random(a.seed), 0, 0, 0, [], [], 0.0
        start = time.perf_counter()

        def elapsed():
            return time.perf_counter() - start

        def finished():
            if a.steps:
                return step == a.steps
            return elapsed() + steps_seconds / max(step, 1) + 2 * self.valid_seconds > a.minutes * 60

        while not finished():
            if not left:
                left, epoch = list(batches(self.src, self.tgt, a.batch_tokens, shuffle)), epoch + 1
                per_epoch = len(left)
            src, tgt = left.pop()
            began, step = time.perf_counter(), step + 1
            loss = loss_of(src, tgt)
            adam.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            adam.step()
            schedule.step()
            losses.append(loss.item())
            tokens += src.count_nonzero().item() + tgt.count_nonzero().item() - len(tgt)
            steps_seconds += time.perf_counter() - began
            if step % a.valid_every == 0:
                self.validate(f"{elapsed():6.0f} s, step {step:,}, epoch {epoch - len(left) / per_epoch:.2f}: loss {sum(losses) / len(losses):.3f}, "
                              f"{tokens / steps_seconds:,.0f} tokens/s", f"step {step:,}")
                losses = []
        if step % a.valid_every:
            self.validate(f"{elapsed():6.0f} s, step {step:,}: the last", f"step {step:,}")
        if len(self.checkpoints) > 1:
            last = self.checkpoints
            self.model.load_state_dict({k: sum(w[k] for w in last) / len(last) for k in last[0]})
            self.validate(f"{elapsed():6.0f} s: mean of the last {len(last)} checkpoints", f"mean of {len(last)}", keep=False)
        print(f"trained {elapsed():.0f} s, {steps_seconds:.0f} s without validations: {step:,} steps, {epoch - len(left) / per_epoch:.2f} epochs, "
              f"{tokens / steps_seconds:,.0f} tokens/s (source + target); best validation BLEU {self.best[0]:.2f}, {self.best[1]}")
        self.model.load_state_dict(self.best[2])

    def validate(self, what, name, keep=True):
        start = time.perf_counter()
        bleu, chrf, _ = self.tfm.score("valid", translate(self.model, self.valid_src, 1), self.valid_ref)
        weights = {k: v.clone() for k, v in self.model.state_dict().items()}
        if keep:
            self.checkpoints = (self.checkpoints + [weights])[-max(1, self.a.average):]
        if bleu > self.best[0]:
            self.best = bleu, name, weights
        self.valid_seconds = time.perf_counter() - start
        print(f"{what}; validation BLEU {bleu:.2f}, chrF {chrf:.2f}, {self.valid_seconds:.1f} s", flush=True)

    def test(self):
        src, references = read(self.a.test)
        start = time.perf_counter()
        out = translate(self.model, self.encoded(src), self.a.beam)
        seconds = time.perf_counter() - start
        bleu, chrf, signature = self.tfm.score("test", out, references)
        print(f"test, beam {self.a.beam}: BLEU {bleu:.2f}, chrF {chrf:.2f}, {len(src)} sentences in {seconds:.1f} s ({signature})")


def main():
    p = argparse.ArgumentParser(description="Trains a translation model in PyTorch for a given time and scores its translations.",
                                formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("folder", type=pathlib.Path)
    for name in ("train", "valid", "test"):
        p.add_argument("--" + name, nargs="+", required=name != "test")
    p.add_argument("--tfm", help="a binary")
    p.add_argument("--minutes", type=float, default=15)
    p.add_argument("--steps", type=int, help="number of steps; replaces --minutes")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--vocab-size", type=int, default=8000)
    p.add_argument("--d", type=int, default=128)
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--layers", type=int, default=4)
    p.add_argument("--ff", type=int, default=512)
    p.add_argument("--dropout", type=float, default=0.1)
    p.add_argument("--norm-first", action="store_true", help="pre-norm")
    p.add_argument("--bf16", action="store_true", help="use torch.autocast")
    p.add_argument("--compile", action="store_true", help="use torch.compile")
    p.add_argument("--batch-tokens", type=int, default=1024, help="limit of sentences x longest side")
    p.add_argument("--max-len", type=int, default=256, help="limit of tokens on a side; longer pairs are skipped")
    p.add_argument("--lr", type=float, default=3e-3, help="peak learning rate")
    p.add_argument("--warmup", type=int, default=800, help="steps to the peak")
    p.add_argument("--valid-every", type=int, default=400, help="steps between validations")
    p.add_argument("--average", type=int, default=5, help="last checkpoints to average")
    p.add_argument("--beam", type=int, default=4)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    keep_memory()
    a.folder = a.folder.resolve()
    a.folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(a.threads)
    warnings.filterwarnings("ignore", message=".*nested.tensor.*")
    run = Run(a, Tfm(a.tfm, a.folder))
    run.train()
    torch.save(run.model.state_dict(), a.folder / "best.pt")
    if a.test:
        run.test()


main()
