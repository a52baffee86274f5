"""Encodes whole files with spm_encode and with the Python package, for TestCompareFiles.

    python whole_files.py DIR [-model M.model]... FILE...

It trains models of 8,000 pieces on the FILEs, unigram and BPE with each normalization of spm_train, unless
models are given, and writes to DIR each MODEL.model, the lines of all FILEs and hostile.py as text, and
the ids of these lines as MODEL.VERSION.ids: those of the Python package and, if it is installed, of
Debian's spm_encode. Then

    SENTENCEPIECE_FILES=DIR go test -run TestCompareFiles -v ./text/tokenizer/sentencepiece

compares.
"""
import os
import re
import shutil
import subprocess
import sys

import sentencepiece

import hostile

NORMALIZATIONS = "nmt_nfkc", "nmt_nfkc_cf", "identity"


def main():
    folder, args = sys.argv[1], sys.argv[2:]
    models, files = [], []
    while args:
        if args[0] == "-model":
            models.append(args[1])
            args = args[2:]
        else:
            files.append(args.pop(0))
    text = os.path.join(folder, "text")
    with open(text, "wb") as out:
        for name in files:
            with open(name, "rb") as file:
                out.write(file.read().rstrip(b"\n") + b"\n")
        out.write(b"\n".join(hostile.LINES) + b"\n")
    names = []
    for model in models:
        names.append(os.path.basename(model).removesuffix(".model"))
        shutil.copy(model, os.path.join(folder, names[-1] + ".model"))
    for model_type in ("unigram", "bpe") if not models else ():
        for normalization in NORMALIZATIONS:
            names.append(f"{model_type}-{normalization}")
            sentencepiece.SentencePieceTrainer.train(
                input=files, model_prefix=os.path.join(folder, names[-1]), model_type=model_type, vocab_size=8000,
                normalization_rule_name=normalization, input_sentence_size=200000, shuffle_input_sentence=True, minloglevel=2)
    for name in names:
        prefix = os.path.join(folder, name)
        model = sentencepiece.SentencePieceProcessor(model_file=prefix + ".model")
        with open(text, "rb") as lines, open(f"{prefix}.{sentencepiece.__version__}.ids", "w") as out:
            for line in lines:
                print(*model.encode(line.removesuffix(b"\n")), file=out)
        if shutil.which("spm_encode"):
            version = re.search(r"[\d.]+\d", subprocess.run(["spm_encode", "--version"], capture_output=True, text=True).stdout)[0]
            with open(f"{prefix}.{version}.ids", "wb") as out:
                subprocess.run(["spm_encode", "--model=" + prefix + ".model", "--output_format=id", text], stdout=out, check=True)


main()
