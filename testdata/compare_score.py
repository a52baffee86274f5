#!/usr/bin/env python3
"""Compares the output of `tfm score` with sacreBLEU's on real translations.

    pip install sacrebleu==2.6.0
    go build -o /tmp/tfm ./cmd/tfm
    testdata/compare_score.py DATA /tmp/tfm [PART OF A FILE'S NAME]

The first two columns of DATA/bleu-golden/sacrebleu-golden.tsv are the names of a file of hypotheses
and of a file of references, relative to DATA. Each such pair is scored with every option, with the
outputs of other systems as second and third reference, and sentence by sentence.
DATA/bleu-golden/unit-cases.json, if it exists, has small cases. The exit code is 1 if a digit
differs.
"""

import contextlib
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile

from sacrebleu import __version__ as version
from sacrebleu.metrics import BLEU, CHRF

compared, different = 0, 0


def lines(path):
    """Returns the lines of a file as sacreBLEU's command reads them."""
    opened = gzip.open(path, "rt", encoding="utf-8", newline="\n") if path.endswith(".gz") else open(path, encoding="utf-8", newline="\n")
    with opened as f:
        return [l.rstrip() for l in f]


def tfm(*args):
    return subprocess.run([binary, "score", *map(str, args)], check=True, capture_output=True, text=True, encoding="utf-8").stdout


def check(name, found, want):
    global compared, different
    compared += 1
    if found != want:
        different += 1
        print(f"{name}:\n  tfm       {found}\n  sacreBLEU {want}", flush=True)


def signature(metric):
    return str(metric.get_signature()).replace("version:", "version:tfm-")


def bleu_flags(o):
    flags = ["-tokenize", o.get("tokenize", "13a"), "-smooth", o.get("smooth_method", "exp")]
    if o.get("smooth_value"):
        flags += ["-smooth-value", o["smooth_value"]]
    return flags + ["-lowercase"] * o.get("lowercase", False)


def chrf_flags(o):
    flags = ["-chrf-chars", o.get("char_order", 6), "-chrf-words", o.get("word_order", 0), "-chrf-beta", o.get("beta", 2)]
    return flags + ["-chrf-lowercase"] * o.get("lowercase", False)


def corpus(hyp, refs, bleu_options, chrf_options):
    """Compares the scores of a file, as text and as JSON."""
    args = [a for r in refs for a in ("-ref", r)] + bleu_flags(bleu_options) + chrf_flags(chrf_options)
    hyps, references = lines(hyp), [lines(r) for r in refs]
    want, want_json = [], []
    for metric in (BLEU(**bleu_options), CHRF(**chrf_options)):
        s = metric.corpus_score(hyps, references)
        want += [s.format(width=2), signature(metric)]
        want_json.append(json.loads(s.format(width=4, signature=signature(metric), is_json=True)))
    name = " ".join(map(str, args + [hyp]))
    check(name, tfm(*args, hyp).splitlines(), want)
    check("-json " + name, json.loads(tfm("-json", "-width", 4, *args, hyp)), want_json)


def sentences(hyp, refs, bleu_options, chrf_options):
    """Compares the scores of each line."""
    args = ["-sentence"] + [a for r in refs for a in ("-ref", r)] + bleu_flags(bleu_options) + chrf_flags(chrf_options)
    bleu, chrf = BLEU(effective_order=True, **bleu_options), CHRF(**chrf_options)
    found = tfm(*args, hyp).splitlines()
    want = [f"{bleu.sentence_score(h, r).score:.2f}\t{chrf.sentence_score(h, r).score:.2f}"
            for h, *r in zip(lines(hyp), *map(lines, refs))]
    name = " ".join(map(str, args + [hyp]))
    check(name + ": number of lines", len(found), len(want))
    for i, (f, w) in enumerate(zip(found, want), 1):
        check(f"{name}: line {i}", f, w)


BLEU_OPTIONS = [dict(tokenize=t, lowercase=l) for t in ("13a", "intl", "zh", "char", "none") for l in (False, True)] + [
    dict(smooth_method="floor"), dict(smooth_method="floor", smooth_value=0.5), dict(smooth_method="add-k"),
    dict(smooth_method="add-k", smooth_value=2.5), dict(smooth_method="none")]
CHRF_OPTIONS = [{}, dict(word_order=2), dict(word_order=1, lowercase=True), dict(char_order=4, beta=1), dict(word_order=3, beta=3)]


def real_translations():
    with open(os.path.join(data, "bleu-golden/sacrebleu-golden.tsv"), encoding="utf-8") as f:
        rows = [line.split("\t") for line in f.read().splitlines()[1:]]
    pairs = sorted({(hyp, ref) for hyp, ref, *_ in rows})
    for hyp, ref in pairs:
        if part not in hyp:
            continue
        print(hyp, flush=True)
        h, r = os.path.join(data, hyp), os.path.join(data, ref)
        others = [os.path.join(data, o) for o, same in pairs if same == ref and o != hyp]
        for i, options in enumerate(BLEU_OPTIONS):
            corpus(h, [r], options, CHRF_OPTIONS[i % len(CHRF_OPTIONS)])
        for n in range(1, min(3, 1 + len(others))):
            corpus(h, [r] + others[:n], dict(tokenize="intl"), dict(word_order=2))
        sentences(h, [r], {}, {})
        sentences(h, [r] + others[:2], dict(tokenize="zh" if ref.endswith(".zh") else "13a", smooth_method="floor", lowercase=True), dict(word_order=2))


def unit_cases():
    path = os.path.join(data, "bleu-golden/unit-cases.json")
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as f:
        cases = json.load(f)
    with tempfile.TemporaryDirectory() as folder:
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
            (sentences if single else corpus)(paths[0], paths[1:], options, {})


data, binary = sys.argv[1], sys.argv[2]
part = sys.argv[3] if len(sys.argv) > 3 else ""
print(f"sacreBLEU {version}")
if not part:
    unit_cases()
real_translations()
print(f"{compared} outputs compared, {different} differ")
sys.exit(different > 0 or compared == 0)
