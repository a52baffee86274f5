#!/usr/bin/env python3
"""Writes significance.json, the goldens of the tests of significance of text/score.

    pip install sacrebleu==2.6.0 numpy==2.4.6
    text/score/testdata/gen_significance.py

The systems are changes of the hypotheses and references of sets.py.
"""

import json
import os
import pathlib

from sacrebleu import __version__ as version
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from sets import SETS


def drop(text, every):
    """Drops words, one of every."""
    return " ".join(w for i, w in enumerate(text.split(" "), 1) if i % every)


def systems(lines):
    """Returns the outputs of several systems, the first of which is the baseline."""
    hyps, refs = [l[0] for l in lines], [l[1] for l in lines]
    return [
        hyps,
        [drop(r, 3) for r in refs],
        [h if i % 11 else r for i, (h, r) in enumerate(zip(hyps, refs))],
        hyps,
        [h if i == 3 else "" for i, h in enumerate(hyps)],
    ]


ALL = [l for name, lines in SETS.items() if name not in ("possessives", "shifts", "empty") for l in lines]
TEXTS = {"all": ALL, "english": SETS["english"], "short": SETS["short"], "one": SETS["german"][:1]}
SYSTEMS = {name: systems(lines) for name, lines in TEXTS.items()}
REFERENCES = {name: [list(r) for r in zip(*(l[1:3] if name == "english" else l[1:2] for l in lines))] for name, lines in TEXTS.items()}
METRICS = [
    (BLEU, {}),
    (CHRF, {}),
    (TER, {}),
    (BLEU, dict(tokenize="intl", lowercase=True, smooth_method="add-k", smooth_value=2.5)),
    (BLEU, dict(tokenize="char", smooth_method="floor")),
    (BLEU, dict(smooth_method="none")),
    (CHRF, dict(word_order=2)),
    (CHRF, dict(word_order=1, beta=1, eps_smoothing=True, whitespace=True)),
    (TER, dict(normalized=True, asian_support=True, no_punct=True)),
]
TESTS = [  # kind, number, seed, resamples of a randomization
    ("confidence", 200, 12345, -1),
    ("confidence", 37, 2**32 + 5, -1),
    ("bs", 300, 12345, -1),
    ("bs", 41, 7, -1),
    ("ar", 200, 12345, -1),
    ("ar", 99, 7, 40),
]


def number(x):
    return None if x is None else float(x)


def confidence(metric, outputs, refs, n):
    for hyps in outputs:
        try:
            s = metric.corpus_score(hyps, refs, n_bootstrap=n)
            yield {"score": s.score, "mean": float(s._mean), "ci": float(s._ci)}
        except TypeError:  # sacreBLEU fails if the scores of some of the resamples are 0
            yield None


def test(name, metric_type, options, kind, n, seed, resamples):
    os.environ["SACREBLEU_SEED"] = str(seed)
    metric, refs, outputs = metric_type(**options), REFERENCES[name], SYSTEMS[name]
    if kind == "confidence":
        results = list(confidence(metric, outputs, refs, n))
        signature = metric.get_signature()
    else:
        named = [(str(i), hyps) for i, hyps in enumerate(outputs)]
        signatures, scores = PairedTest(named, {"metric": metric}, refs, kind, n, resamples)()
        (metric_name, signature), = signatures.items()
        results = [{"score": r.score, "p": r.p_value, "mean": number(r.mean), "ci": number(r.ci)} for r in scores[metric_name]]
    return {"text": name, "metric": metric_type.__name__, "options": options, "kind": kind, "n": n, "seed": seed, "resamples": max(resamples, 0),
            "signature": str(signature), "results": results}


tests = []
for name in TEXTS:
    for metric_type, options in METRICS if name in ("all", "english") else METRICS[:3]:
        for t in TESTS:
            tests.append(test(name, metric_type, options, *t))
        print(name, metric_type.__name__, options, flush=True)

with open(pathlib.Path(__file__).parent / "significance.json", "w", encoding="utf-8") as f:
    f.write('{"sacrebleu": "%s"' % version)
    for key, texts in ("systems", SYSTEMS), ("references", REFERENCES):
        f.write(',\n"%s": {\n' % key + ",\n".join(f"{json.dumps(n)}: {json.dumps(t)}" for n, t in texts.items()) + "}")
    f.write(',\n"tests": [\n' + ",\n".join(json.dumps(t, separators=(",", ":")) for t in tests) + "]}\n")
