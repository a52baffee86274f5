#!/usr/bin/env python3
"""Writes golden.json, the goldens of text/score: sacreBLEU's scores of small sets of sentences.

    pip install sacrebleu==2.6.0
    text/score/testdata/gen_golden.py

"""

import json
import pathlib

from sacrebleu import __version__ as version
from sacrebleu.metrics import BLEU, CHRF, TER

from sets import SETS

TOKENIZERS = ["13a", "intl", "zh", "char", "none"]
BLEU_OPTIONS = [dict(tokenize=t) for t in TOKENIZERS] + [dict(tokenize=t, lowercase=True) for t in ("13a", "intl")]
CHRF_OPTIONS = [{}, dict(word_order=2)]


def compact(x):
    """Rounds a score, because implementations of exp and log differ in the last digits."""
    return round(x, 10)


def case(name, metric, sentence_metric, options, references, lines):
    hyps, refs = [l[0] for l in lines], [list(r) for r in zip(*(l[1:1 + references] for l in lines))]
    s = metric.corpus_score(hyps, refs)
    c = {"set": name, "references": references, "options": options, "score": compact(s.score), "printed": s.format(width=2),
         "signature": str(metric.get_signature()), "sentences": [compact(sentence_metric.sentence_score(l[0], list(l[1:1 + references])).score) for l in lines]}
    if isinstance(metric, BLEU):
        c.update(correct=s.counts, total=s.totals)
    return c


bleu, chrf, ter = [], [], []
for name, lines in SETS.items():
    for references in {1, len(lines[0]) - 1}:
        for o in BLEU_OPTIONS:
            bleu.append(case(name, BLEU(**o), BLEU(effective_order=True, **o), o, references, lines))
        for o in CHRF_OPTIONS:
            chrf.append(case(name, CHRF(**o), CHRF(**o), o, references, lines))
        ter.append(case(name, TER(), TER(), {}, references, lines))

with open(pathlib.Path(__file__).parent / "golden.json", "w", encoding="utf-8") as f:
    f.write('{"sacrebleu": "%s",\n"sets": {\n' % version)
    f.write(",\n".join(f"{json.dumps(n)}: {json.dumps(l)}" for n, l in SETS.items()))
    f.write("}")
    for metric, cases in ("bleu", bleu), ("chrf", chrf), ("ter", ter):
        f.write(f',\n"{metric}": [\n' + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "]")
    f.write("}\n")
