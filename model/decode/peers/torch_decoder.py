"""Translation with a tfm model in PyTorch: cached keys and values, batches, greedy and beam search."""

import torch
from torch.nn import functional as F

from ct2 import sinusoids

BOS, EOS = 1, 2


class Decoder:
    """A model with float32 weights and a joint vocabulary, as read by ct2.read."""

    def __init__(self, tensors, config):
        self.config, self.heads, self.pre_norm = config, config["heads"], config.get("norm") == "pre"
        self.eps = config.get("norm_eps", 1e-5)
        self.w = {name: torch.from_numpy(t.copy()) for name, t in tensors.items()}
        for name in [n for n in self.w if n.endswith(".weight")]:
            self.w[name] = self.w[name].T.contiguous()
        self.positions = torch.from_numpy(sinusoids(config["max_len"], config["d_model"]))

    def linear(self, x, name):
        return F.linear(x, self.w[name + ".weight"], self.w.get(name + ".bias"))

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.w[name + ".gain"], self.w[name + ".bias"], self.eps)

    def split(self, x):
        """Returns [n × length × d] as [n × heads × length × d/heads]."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def embed(self, ids, start):
        d = self.config["d_model"]
        return F.embedding(ids, self.w["embedding"]) * d**0.5 + self.positions[start : start + ids.shape[1]]

    def sublayer(self, x, norm, f):
        """Returns x with a sublayer f, its residual connection and its norm."""
        if self.pre_norm:
            return x + f(self.norm(x, norm))
        return self.norm(x + f(x), norm)

    def feed_forward(self, x, at):
        return self.linear(F.relu(self.linear(x, at + "ff.inner")), at + "ff.outer")

    def attend(self, q, k, v, mask, out):
        return self.linear(F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(2), out)

    def encode(self, sources):
        """Returns the keys and values of each decoder layer and the mask of the sources."""
        longest = max(map(len, sources)) + 1
        ids = torch.tensor([s + [EOS] + [0] * (longest - len(s) - 1) for s in sources])
        mask = (ids != 0)[:, None, None, :]
        x = self.embed(ids, 0)
        for i in range(self.config["encoder_layers"]):
            at = f"encoder.{i}."

            def attention(y):
                q, k, v = map(self.split, self.linear(y, at + "self.qkv").chunk(3, -1))
                return self.attend(q, k, v, mask, at + "self.out")

            x = self.sublayer(x, at + "norm1", attention)
            x = self.sublayer(x, at + "norm2", lambda y: self.feed_forward(y, at))
        if self.pre_norm:
            x = self.norm(x, "encoder.norm")
        layers = range(self.config["decoder_layers"])
        return [list(map(self.split, self.linear(x, f"decoder.{i}.cross.kv").chunk(2, -1))) for i in layers], mask

    def step(self, tokens, position, memory, mask, cache):
        """Returns the log-probabilities [n × V] after tokens [n], and appends keys and values to cache."""
        x = self.embed(tokens[:, None], position)
        for i in range(self.config["decoder_layers"]):
            at = f"decoder.{i}."

            def attention(y):
                q, k, v = map(self.split, self.linear(y, at + "self.qkv").chunk(3, -1))
                if cache[i]:
                    k, v = torch.cat([cache[i][0], k], 2), torch.cat([cache[i][1], v], 2)
                cache[i] = [k, v]
                return self.attend(q, k, v, None, at + "self.out")

            def cross(y):
                return self.attend(self.split(self.linear(y, at + "cross.q")), *memory[i], mask, at + "cross.out")

            x = self.sublayer(x, at + "norm1", attention)
            x = self.sublayer(x, at + "norm2", cross)
            x = self.sublayer(x, at + "norm3", lambda y: self.feed_forward(y, at))
        if self.pre_norm:
            x = self.norm(x, "decoder.norm")
        logits = F.linear(x[:, 0], self.w["embedding"], self.w.get("output.bias"))
        logits[:, :EOS] = -torch.inf
        return logits.log_softmax(-1)

    @torch.inference_mode()
    def translate(self, sources, beam=4, alpha=1.0, exact_length=0, extra=50):
        """Returns the best translation of each source, ids without EOS. A translation has exactly exact_length
        tokens, EOS included, or, if that is 0, up to extra more than its source."""
        memory, mask = self.encode(sources)
        n = len(sources)
        memory = [[t.repeat_interleave(beam, 0) for t in kv] for kv in memory]
        mask = mask.repeat_interleave(beam, 0)
        cache = [None] * self.config["decoder_layers"]
        tokens = torch.full((n * beam,), BOS)
        scores = torch.full((n, beam), -torch.inf)
        scores[:, 0] = 0
        hyps = torch.empty((n * beam, 0), dtype=torch.long)
        limits = [exact_length or len(s) + 1 + extra for s in sources]
        finished = [[] for _ in sources]
        active = list(range(n))  # sources in the batch
        for length in range(1, max(limits) + 1):
            log_p = self.step(tokens, length - 1, memory, mask, cache)
            if exact_length:
                log_p[:, EOS] = 0 if length == exact_length else -torch.inf
            v = log_p.shape[1]
            total = (scores.view(-1, 1) + log_p).view(len(active), beam * v)
            best, index = total.topk(2 * beam if beam > 1 else 1)
            rows, next_tokens, next_scores, kept = [], [], [], []
            for a, (logs, ids) in enumerate(zip(best.tolist(), index.tolist())):
                source, live = active[a], []
                for rank, (score, flat) in enumerate(zip(logs, ids)):
                    row, token = a * beam + flat // v, flat % v
                    if token != EOS:
                        if len(live) < beam:
                            live.append((row, token, score))
                    elif rank < beam:
                        finished[source].append((score / length**alpha, hyps[row].tolist()))
                if length == limits[source] and not finished[source]:
                    finished[source] = [(s / length**alpha, hyps[r].tolist()) for r, _, s in live]
                if len(finished[source]) >= beam or length == limits[source]:
                    continue
                kept.append(source)
                live += [live[-1][:2] + (-torch.inf,)] * (beam - len(live))
                for row, token, score in live:
                    rows.append(row), next_tokens.append(token), next_scores.append(score)
            active = kept
            if not active:
                break
            index = torch.tensor(rows)
            tokens, scores = torch.tensor(next_tokens), torch.tensor(next_scores).view(-1, beam)
            hyps = torch.cat([hyps[index], tokens[:, None]], 1)
            if beam > 1 or len(rows) < len(mask):
                cache = [[t[index] for t in kv] for kv in cache]
            if len(rows) < len(mask):
                memory, mask = [[t[index] for t in kv] for kv in memory], mask[index]
        return [max(f)[1] for f in finished]
