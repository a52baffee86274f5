"""Measures decoding side by side: tfm, CTranslate2 and PyTorch with the same weights, in alternation.

Usage:
  compare.py DIR --text FILE...                 the paper's base model with 32,000 pieces learned from the
                                                files, one training step old: 32 source tokens, exactly
                                                32 target tokens
  compare.py DIR --model MODEL --src FILE       a trained model and real sentences; also compares the words

Each cell (type, threads, beam, sentences at a time) is measured in --rounds rounds, in which the
systems take turns, each in its own process. The figures are medians over the rounds. With one
sentence at a time, latency is that of a sentence. A process of tfm reads and writes text, the
others token ids. Load time of tfm is that from the start of the process to its first translation;
of the others, that of loading the model without Python's imports.

Requires the Python packages ctranslate2, torch and numpy. Without --tfm, tfm is built from this
source tree. Writes to DIR: models and results.json.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

import ct2
from worker import peak_mb

HERE = pathlib.Path(__file__).resolve().parent
LENGTH = 32  # tokens of sources and translations with EOS, of the base model


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--text", nargs="+")
    p.add_argument("--model")
    p.add_argument("--src")
    p.add_argument("--lines", type=int, default=0, help="limit of the sentences; 0 is none")
    p.add_argument("--tfm")
    p.add_argument("--systems", nargs="+", default=["tfm", "ct2", "pytorch"])
    p.add_argument("--types", nargs="+", default=["float32", "int8"])
    p.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    p.add_argument("--beams", type=int, nargs="+", default=[1, 4])
    p.add_argument("--batches", type=int, nargs="+", default=[1, 32])
    p.add_argument("--rounds", type=int, default=5)
    return p.parse_args()


class Bench:
    def __init__(self, args):
        self.args, self.folder = args, args.folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.tfm = args.tfm
        if not self.tfm:
            self.tfm = self.folder / "tfm"
            subprocess.run(["go", "build", "-o", self.tfm, "./cmd/tfm"], cwd=HERE.parent.parent.parent, check=True)
        self.exact = 0 if args.model else LENGTH
        self.model = args.model or self.base()
        self.ct2 = self.folder / "ct2"
        self.ct2.mkdir(exist_ok=True)
        ct2.convert(*ct2.read(self.model)).save(str(self.ct2))
        self.sentences = self.read_sentences()

    def run(self, *args, lines=()):
        text = "".join(line + "\n" for line in lines)
        done = subprocess.run([self.tfm, *args], input=text, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr.strip())
        return done.stdout.split("\n")[:-1]

    def base(self):
        model, vocab, text = self.folder / "base.safetensors", self.folder / "joint.bpe", self.folder / "text"
        if not model.exists():
            text.write_text("".join(open(f).read() for f in self.args.text))
            self.run("vocab", "-o", vocab, "-vocab-size", "32000", text)
            self.run("train", "-preset", "base", "-vocab", vocab, "-src", text, "-tgt", text, "-steps", "1", "-o", model, "-valid-every", "0", "-force")
        return model

    def encode(self, lines):
        return [[int(i) for i in line.split()] for line in self.run("vocab", "-vocab", self.model, "-encode", lines=lines)]

    def decode(self, ids):
        return self.run("vocab", "-vocab", self.model, "-decode", lines=[" ".join(map(str, i)) for i in ids])

    def read_sentences(self):
        """Returns (text, ids) of each sentence. Those of the base model have LENGTH-1 ids."""
        if self.args.src:
            lines = [line for line in open(self.args.src).read().split("\n") if line.strip()]
            lines = lines[: self.args.lines or None]
            return list(zip(lines, self.encode(lines)))
        lines = (self.folder / "text").read_text().split("\n")
        lines = [" ".join(lines[i : i + 8]) for i in range(0, 8 * 300, 8)]
        lines = self.decode([i[: LENGTH - 1] for i in self.encode(lines)])
        return [(t, i) for t, i in zip(lines, self.encode(lines)) if len(i) == LENGTH - 1][:128]

    def calls(self, batch):
        """Returns the lists of sentences that are translated at a time: all of real text, from which a system
        makes its own batches, except for single sentences."""
        if batch > 1 and not self.exact:
            return [self.sentences]
        n = min(len(self.sentences), (16 if batch == 1 else 2 * batch) if self.exact else 200)
        return [self.sentences[i : i + batch] for i in range(0, n, batch)]

    def tfm_cell(self, kind, threads, beam, batch):
        args = [self.tfm, "translate", "-model", self.model, "-threads", threads, "-beam", beam, "-set", f"batch={batch}"]
        args += ["-set", "length-penalty=power", "-set", f"alpha={1}"]
        if kind == "int8":
            args.append("-int8")
        if self.exact:
            args += ["-set", f"min-tokens={self.exact - 1}", "-set", f"max-tokens={self.exact - 1}"]
        start = time.perf_counter()
        warnings = open(self.folder / "warnings", "w")  # that no translation has an end
        p = subprocess.Popen([str(a) for a in args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=warnings, text=True)

        def translate(call):
            p.stdin.write("".join(text + "\n" for text, _ in call))
            p.stdin.flush()
            return [p.stdout.readline().rstrip("\n") for _ in call]

        calls, seconds, out = self.calls(batch), [], []
        translate(calls[0][:1])
        load = time.perf_counter() - start
        translate(calls[0])
        for call in calls:
            start = time.perf_counter()
            out += translate(call)
            seconds.append(time.perf_counter() - start)
        peak = peak_mb(p.pid)
        p.communicate()
        return dict(version="tfm", load=load, seconds=seconds, text=out, peak=peak)

    def peer_cell(self, system, kind, threads, beam, batch):
        calls = [[ids for _, ids in call] for call in self.calls(batch)]
        job = dict(system=system, model=str(self.model), folder=str(self.ct2), type=kind, threads=threads, beam=beam, batch=batch, exact=self.exact, calls=calls)
        done = subprocess.run([sys.executable, HERE / "worker.py"], input=json.dumps(job), capture_output=True, text=True, check=True)
        result = json.loads(done.stdout)
        # Of exactly LENGTH tokens tfm writes all except the last one, where EOS would be.
        result["text"] = self.decode([ids[: self.exact - 1] if self.exact else ids for ids in result.pop("out")])
        return result

    def cell(self, kind, threads, beam, batch):
        """Returns the figures of each system."""
        rounds = {}
        for _ in range(self.args.rounds):
            for system in self.args.systems:
                if system == "pytorch" and kind == "int8":
                    continue
                f = self.tfm_cell if system == "tfm" else lambda *a: self.peer_cell(system, *a)
                rounds.setdefault(system, []).append(f(kind, threads, beam, batch))
        figures = {}
        for system, results in rounds.items():
            # The work is that of tfm's translations, whose number of tokens differs little from that of the others.
            text = rounds.get("tfm", results)[0]["text"]
            tokens = self.exact * len(text) or sum(len(i) + 1 for i in self.encode(text))
            times = [statistics.median(r["seconds"][k] for r in results) for k in range(len(results[0]["seconds"]))]
            figures[system] = dict(
                version=results[0]["version"],
                tokens_per_sec=statistics.median(tokens / sum(r["seconds"]) for r in results),
                median_ms=1e3 * statistics.median(times),
                p95_ms=1e3 * sorted(times)[int(0.95 * (len(times) - 1))],
                load=statistics.median(r["load"] for r in results),
                peak_mb=max(r["peak"] for r in results),
                same=sum(a == b for a, b in zip(results[0]["text"], text)) / len(text),
            )
        return figures


def main():
    args = arguments()
    bench = Bench(args)
    table = []
    for kind in args.types:
        for threads in args.threads:
            for beam in args.beams:
                for batch in args.batches:
                    for system, f in bench.cell(kind, threads, beam, batch).items():
                        print(
                            f"{kind:7} threads {threads} beam {beam} batch {batch:2} {f['version']:18} {f['tokens_per_sec']:8.0f} tokens/s, "
                            f"latency {f['median_ms']:.1f} ms, 95% {f['p95_ms']:.1f} ms, load {f['load']:.3f} s, {f['peak_mb']:.0f} MB, "
                            f"same words {f['same']:.2%}",
                            flush=True,
                        )
                        table.append(dict(type=kind, threads=threads, beam=beam, batch=batch, system=system, **f))
    (args.folder / "results.json").write_text(json.dumps(table, indent=1))


main()
