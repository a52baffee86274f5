#!/usr/bin/env python3
"""Compares the output of `tfm score` with sacreBLEU's on real translations.

    pip install sacrebleu==2.6.0 numpy==2.4.6
    go build -o /tmp/tfm ./cmd/tfm
    text/score/testdata/compare.py [-only PART] [-lines N] [-resamples N] [-trials N] DATA /tmp/tfm

The first two columns of DATA/bleu-golden/sacrebleu-golden.tsv are the names of a file of hypotheses
and of a file of references, relative to DATA. Each such pair is scored with every option, with the
outputs of other systems as second and third reference, sentence by sentence, and with every test of
significance, in which the other systems of the same references are compared with the first.
DATA/bleu-golden/unit-cases.json, if it exists, has small cases. The exit code is 1 if a digit
differs.

All options take hours, most of them sacreBLEU's. A sample takes some minutes:

    text/score/testdata/compare.py -only en-de/wmt17 -lines 100 -resamples 200 -trials 200 DATA /tmp/tfm
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile

from sacrebleu import __version__ as version
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

compared, different = 0, 0


def lines(path):
    """Returns the lines of a file as sacreBLEU's command reads them."""
    opened = gzip.open(path, "rt", encoding="utf-8", newline="\n") if path.endswith(".gz") else open(path, encoding="utf-8", newline="\n")
    with opened as f:
        return [l.rstrip() for l in f]


def tfm(*flags):
    return subprocess.run([args.binary, "score", *map(str, flags)], check=True, capture_output=True, text=True, encoding="utf-8").stdout


def check(name, found, want):
    global compared, different
    compared += 1
    if found != want:
        different += 1
        print(f"{name}:\n  tfm       {found}\n  sacreBLEU {want}", flush=True)


def signature(s):
    return str(s).replace("version:", "version:tfm-")


def bleu_flags(o):
    flags = ["-tokenize", o.get("tokenize", "13a"), "-smooth", o.get("smooth_method", "exp")]
    if o.get("smooth_value"):
        flags += ["-smooth-value", o["smooth_value"]]
    return flags + ["-lowercase"] * o.get("lowercase", False)


def chrf_flags(o):
    flags = ["-chrf-chars", o.get("char_order", 6), "-chrf-words", o.get("word_order", 0), "-chrf-beta", o.get("beta", 2)]
    return flags + [f for name, f in (("lowercase", "-chrf-lowercase"), ("whitespace", "-chrf-whitespace"), ("eps_smoothing", "-chrf-eps-smoothing")) if o.get(name)]


def ter_flags(o):
    return ["-ter"] + ["-ter-" + name.replace("_", "-") for name, on in o.items() if on]


def flags_of(refs, bleu, chrf, ter):
    return [a for r in refs for a in ("-ref", r)] + bleu_flags(bleu) + chrf_flags(chrf) + ter_flags(ter)


def corpus(hyp, refs, bleu, chrf, ter):
    """Compares the scores of a file, as text and as JSON."""
    flags = flags_of(refs, bleu, chrf, ter)
    hyps, references = lines(hyp), [lines(r) for r in refs]
    want, want_json = [], []
    for metric in (BLEU(**bleu), CHRF(**chrf), TER(**ter)):
        s = metric.corpus_score(hyps, references)
        want += [s.format(width=2), signature(metric.get_signature())]
        want_json.append(json.loads(s.format(width=4, signature=signature(metric.get_signature()), is_json=True)))
    name = " ".join(map(str, flags + [hyp]))
    check(name, tfm(*flags, hyp).splitlines(), want)
    check("-json " + name, json.loads(tfm("-json", "-width", 4, *flags, hyp)), want_json)


def sentences(hyp, refs, bleu, chrf, ter):
    """Compares the scores of each line."""
    flags = ["-sentence"] + flags_of(refs, bleu, chrf, ter)
    metrics = BLEU(effective_order=True, **bleu), CHRF(**chrf), TER(**ter)
    found = tfm(*flags, hyp).splitlines()
    want = ["\t".join(f"{m.sentence_score(h, r).score:.2f}" for m in metrics) for h, *r in zip(lines(hyp), *map(lines, refs))]
    name = " ".join(map(str, flags + [hyp]))
    check(name + ": number of lines", len(found), len(want))
    for i, (f, w) in enumerate(zip(found, want), 1):
        check(f"{name}: line {i}", f, w)


def confidence(hyp, refs, seed, bleu, chrf, ter):
    """Compares the intervals of a file, with all decimals that tfm prints."""
    os.environ["SACREBLEU_SEED"] = str(seed)
    flags = flags_of(refs, bleu, chrf, ter) + ["-confidence", "-resamples", args.resamples, "-seed", seed, "-width", 6]
    want = []
    for metric in (BLEU(**bleu), CHRF(**chrf), TER(**ter)):
        s = metric.corpus_score(lines(hyp), [lines(r) for r in refs], n_bootstrap=args.resamples)
        want += [s.format(width=6), signature(metric.get_signature())]
    check(" ".join(map(str, flags + [hyp])), tfm(*flags, hyp).splitlines(), want)


def paired(systems, refs, kind, seed, bleu, chrf, ter):
    """Compares a paired test of the first system with the others."""
    os.environ["SACREBLEU_SEED"] = str(seed)
    flags = flags_of(refs, bleu, chrf, ter) + ["-seed", seed, "-width", 6, "-json"]
    n, resamples = (args.resamples, -1) if kind == "bs" else (args.trials, args.resamples)
    flags += ["-paired", "bootstrap", "-resamples", n] if kind == "bs" else ["-paired", "randomization", "-confidence", "-trials", n, "-resamples", resamples]
    metrics = {str(i): m for i, m in enumerate((BLEU(**bleu), CHRF(**chrf), TER(**ter)))}
    signatures, scores = PairedTest([(s, lines(s)) for s in systems], metrics, [lines(r) for r in refs], kind, n, resamples)()
    found = json.loads(tfm(*flags, *systems))
    for i, system in enumerate(systems):
        for metric, results in scores.items():
            if metric == "System":
                continue
            r = results[i]
            want = {"score": round(r.score, 6), "p_value": r.p_value, "mean": round(float(r.mean), 6), "ci": round(float(r.ci), 6),
                    "signature": signature(signatures[metric])}
            check(" ".join(map(str, flags + [system, metric])), found[i][metric], want)


BLEU_OPTIONS = [dict(tokenize=t, lowercase=l) for t in ("13a", "intl", "zh", "char", "none") for l in (False, True)] + [
    dict(smooth_method="floor"), dict(smooth_method="floor", smooth_value=0.5), dict(smooth_method="add-k"),
    dict(smooth_method="add-k", smooth_value=2.5), dict(smooth_method="none")]
CHRF_OPTIONS = [{}, dict(word_order=2), dict(word_order=1, lowercase=True), dict(char_order=4, beta=1), dict(word_order=3, beta=3),
                dict(whitespace=True, word_order=2), dict(eps_smoothing=True)]
TER_OPTIONS = [dict(normalized=n, no_punct=p, asian_support=a, case_sensitive=c)
               for n in (False, True) for p in (False, True) for a in (False, True) for c in (False, True)]


def real_translations(folder):
    with open(os.path.join(args.data, "bleu-golden/sacrebleu-golden.tsv"), encoding="utf-8") as f:
        rows = [line.split("\t") for line in f.read().splitlines()[1:]]
    pairs = sorted({(hyp, ref) for hyp, ref, *_ in rows})
    for hyp, ref in pairs:
        if args.only not in hyp:
            continue
        print(hyp, flush=True)
        h, r = first_lines(folder, hyp), first_lines(folder, ref)
        others = [first_lines(folder, o) for o, same in pairs if same == ref and o != hyp]
        zh = "zh" if ref.endswith(".zh") else "13a"
        for i, options in enumerate(BLEU_OPTIONS):
            corpus(h, [r], options, CHRF_OPTIONS[i % len(CHRF_OPTIONS)], TER_OPTIONS[i % len(TER_OPTIONS)])
        for n in range(1, min(3, 1 + len(others))):
            corpus(h, [r] + others[:n], dict(tokenize="intl"), dict(word_order=2), dict(normalized=True))
        sentences(h, [r], {}, {}, {})
        sentences(h, [r] + others[:2], dict(tokenize=zh, smooth_method="floor", lowercase=True), dict(word_order=2), dict(asian_support=True, normalized=True))
        confidence(h, [r], 12345, dict(tokenize=zh), {}, {})
        confidence(h, [r] + others[:1], 2**40 + 1, dict(smooth_method="add-k", smooth_value=2.5), dict(word_order=2), dict(no_punct=True))
        if others:
            for kind in "bs", "ar":
                paired([h] + others, [r], kind, 12345, dict(tokenize=zh), {}, {})
                paired([h] + others, [r], kind, 7, dict(tokenize="intl", smooth_method="add-k", smooth_value=2.5), dict(eps_smoothing=True, whitespace=True), dict(normalized=True))


def first_lines(folder, name):
    """Returns the path of a file of the first -lines lines."""
    path = os.path.join(args.data, name)
    if not args.lines:
        return path
    copy = os.path.join(folder, name.replace("/", "."))
    if not os.path.exists(copy):
        with open(copy, "w", encoding="utf-8", newline="\n") as f:
            f.writelines(l + "\n" for l in lines(path)[:args.lines])
    return copy


def unit_cases(folder):
    path = os.path.join(args.data, "bleu-golden/unit-cases.json")
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as f:
        cases = json.load(f)
    for c in cases:
        single = c["kind"] != "corpus"
        hyps = [c["hyp"]] if single else c["hyp"]
        refs = [[r] for r in c["refs"]] if single else c["refs"]
        if c.get("max_order") not in (None, 4) or any("\n" in x or x is None for texts in [hyps] + refs for x in texts):
            continue
        paths = []
        for i, texts in enumerate([hyps] + refs):
            paths.append(os.path.join(folder, str(i)))
            with open(paths[-1], "w", encoding="utf-8") as f:
                f.writelines(t + "\n" for t in texts)
        options = {"tokenize": c.get("tok") or "13a", "lowercase": bool(c.get("lowercase")), "smooth_method": c.get("smooth") or "exp"}
        if c.get("smooth_value"):
            options["smooth_value"] = c["smooth_value"]
        (sentences if single else corpus)(paths[0], paths[1:], options, {}, {})


parser = argparse.ArgumentParser(prefix_chars="-")
parser.add_argument("-only", default="", metavar="PART", help="a part of the names of the files of hypotheses")
parser.add_argument("-lines", type=int, default=0, help="first lines of each file; 0 is all")
parser.add_argument("-resamples", type=int, default=1000)
parser.add_argument("-trials", type=int, default=10000)
parser.add_argument("data")
parser.add_argument("binary")
args = parser.parse_args()
print(f"sacreBLEU {version}")
with tempfile.TemporaryDirectory() as folder:
    if not args.only:
        unit_cases(folder)
    real_translations(folder)
print(f"{compared} outputs compared, {different} differ")
sys.exit(different > 0 or compared == 0)
