"""Writes the goldens of TestGolden with subword-nmt 0.3.8 or the newest of its repository.

usage: PYTHONPATH=FOLDER_OF_SUBWORD_NMT python3 golden.py, in this folder
"""

import io
import random

from subword_nmt import apply_bpe, learn_bpe

EVIL = [
    "", " ", "  two  spaces  ", "a", "ab", "aaaa aaaaa aaaaaaa", "abababab bababa", "x@@ y @@ @@z", "a\tb c\u00a0d e\u3000f",
    "\u0301 a\u0301b \u200d \ufeff", "</w> a</w> <w>", "日本語 テキスト 中文", "\U0001d49c\U0001f600", "don't can't", "3.14 1,000,000",
    "mississippi missis sippi", "the theory thereof", "\u0000 nul\u0000nul",
]


def corpus():
    random.seed(7)
    syllables = "an be ci do el fa gu hi ja ko lü mo na öl pe qui ra sch te un vor wei xi yo zu ß 中 文 да не aa aaa".split()
    words = ["".join(random.choice(syllables) for _ in range(random.randint(1, 5))) for _ in range(400)]
    lines = []
    for _ in range(300):
        lines.append(" ".join(words[int(len(words) * random.random() ** 3)] for _ in range(random.randint(1, 12))))
    return lines + EVIL


lines = corpus()
write = lambda name, text: open(name, "w", encoding="utf-8", newline="").write(text)
write("corpus.txt", "".join(line + "\n" for line in lines))
for name, merges in ("codes.txt", 300), ("codes-all.txt", 100000):
    codes = io.StringIO()
    learn_bpe.learn_bpe(io.StringIO("".join(line + "\n" for line in lines), newline="\n"), codes, merges)
    write(name, codes.getvalue())


def apply(codes, **options):
    bpe = apply_bpe.BPE(io.StringIO(open(codes, encoding="utf-8", newline="").read(), newline="\n"), **options)
    return [bpe.process_line(line) for line in lines]


def save(name, segmented):
    write(name, "".join(line + "\n" for line in segmented))


segmented = apply("codes.txt")
save("segmented.txt", segmented)
save("segmented-merges.txt", apply("codes-all.txt"))
counts = {}
for line in segmented:
    for piece in line.split():
        counts[piece] = counts.get(piece, 0) + 1
vocabulary = sorted(counts.items(), key=lambda x: -x[1])
write("vocabulary.txt", "".join(f"{piece} {n}\n" for piece, n in vocabulary))
for threshold in 5, 50:
    known = {piece for piece, n in vocabulary if n >= threshold}
    save(f"segmented-threshold-{threshold}.txt", apply("codes.txt", vocab=known))
known = {piece for piece, n in vocabulary if n >= 20}
save("segmented-vocabulary-all.txt", apply("codes-all.txt", vocab=known))
