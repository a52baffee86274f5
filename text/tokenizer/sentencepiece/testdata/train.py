"""Compares 'tfm vocab' with spm_train: time, memory, pieces, and tokens of the training text.

    go build -o /tmp/tfm tfm/cmd/tfm
    python train.py /tmp/tfm VOCAB_SIZE FILE...

It needs the packages sentencepiece 0.2.3 and GNU time at /usr/bin/time. Each program has one thread.
The pieces differ in a few percent, because spm_train adds the expected counts of characters without
a piece to those of the most frequent piece.
"""
import os
import subprocess
import sys
import tempfile

import sentencepiece

SPM_TRAIN = """
import sys, sentencepiece
sentencepiece.SentencePieceTrainer.train(input=sys.argv[3:], model_prefix=sys.argv[1],
    vocab_size=int(sys.argv[2]), normalization_rule_name='nmt_nfkc', num_threads=1, minloglevel=1)
"""


def run(name, command):
    """Runs a command and prints its seconds and its peak memory."""
    result = subprocess.run(["/usr/bin/time", "-f", "%e %M", *command], stderr=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit(result.stderr)
    seconds, kilobytes = result.stderr.split()[-2:]
    print(f"  {name}: {seconds} s, {int(kilobytes) / 1024:.0f} MB")


def main():
    tfm, size, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    lines = [line.rstrip("\n") for name in files for line in open(name, encoding="utf-8", newline="\n")]
    with tempfile.TemporaryDirectory() as folder:
        own, other = os.path.join(folder, "own.model"), os.path.join(folder, "spm")
        run("tfm", [tfm, "vocab", "-model-type", "unigram", "-vocab-size", size, "-threads", "1", "-o", own, *files])
        run("spm_train", [sys.executable, "-c", SPM_TRAIN, other, size, *files])
        models = [sentencepiece.SentencePieceProcessor(model_file=f) for f in (own, other + ".model")]
        os.remove(own)
        pieces = [[m.id_to_piece(i) for i in range(m.get_piece_size())] for m in models]
        same = sum(a == b for a, b in zip(*pieces))
        common = len(set(pieces[0]) & set(pieces[1]))
        tokens = [sum(map(len, m.encode(lines))) for m in models]
        print(f"  {common} of {size} pieces are common, {same} have the same id; {tokens[0]} tokens, spm_train {tokens[1]},"
              f" {100 * (tokens[0] / tokens[1] - 1):+.2f} %")


main()
