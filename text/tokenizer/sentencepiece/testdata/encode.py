"""Compares the speed of encoding with that of the sentencepiece package, in turns, on one thread.

    python encode.py VOCAB_SIZE FILE [FILE...]

It needs Go and the package sentencepiece 0.2.3. Both encode all lines of the first FILE with the models
that spm_train makes of all, to lists of ids. A figure is the median of 5 turns. The modes of BenchmarkEncode are
cached, empty (nothing in the cache at the start) and uncached.
"""
import collections
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import sentencepiece


def main():
    size, name = sys.argv[1], os.path.abspath(sys.argv[2])
    package = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    with open(name, encoding="utf-8", newline="\n") as file:
        lines = [line.rstrip("\n") for line in file]
    figures = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for model_type in "bpe", "unigram":
            sentencepiece.SentencePieceTrainer.train(input=sys.argv[2:], model_prefix=os.path.join(folder, model_type), model_type=model_type,
                                                     vocab_size=int(size), minloglevel=1)
        test = os.path.join(folder, "test")
        subprocess.run(["go", "test", "-c", "-o", test, "."], cwd=package, check=True)
        environment = dict(os.environ, GOMAXPROCS="1", SENTENCEPIECE_TEXT=name, SENTENCEPIECE_MODELS=os.path.join(folder, "*.model"))
        for _ in range(5):
            for model_type in "bpe", "unigram":
                model = sentencepiece.SentencePieceProcessor(model_file=os.path.join(folder, model_type + ".model"))
                start = time.perf_counter()
                model.encode(lines, num_threads=1)
                figures[model_type, "sentencepiece"].append(len(lines) / (time.perf_counter() - start))
            output = subprocess.run([test, "-test.run=none", "-test.bench=Encode/model=.*/mode=(cached|empty|uncached)$", "-test.benchtime=3x"],
                                    cwd=package, env=environment, check=True, capture_output=True, text=True).stdout
            for model_type, mode, rate in re.findall(r"model=(\w+)/mode=(\w+).* ([\d.]+) lines/s", output):
                figures[model_type, mode].append(float(rate))
    for (model_type, mode), rates in figures.items():
        rate, other = statistics.median(rates), statistics.median(figures[model_type, "sentencepiece"])
        print(f"{model_type:8} {mode:14} {rate:12,.0f} lines/s  {rate / other:6.2f} times")


main()
