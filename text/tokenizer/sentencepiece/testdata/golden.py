"""Trains models with sentencepiece and records what it makes of lines of text.

usage: golden.py goldens DIR
       golden.py compare DIR [-lines N] [-model M.model]... FILE...

"goldens" writes the files of testdata, from text.txt and hostile.py. "compare" trains larger models
on the lines of FILE, or uses those that -model names, and records N lines of each FILE (default
300) and hostile.py. Then

	SENTENCEPIECE_COMPARE=DIR go test -run TestCompare ./text/tokenizer/sentencepiece

compares. Models with random pieces of all types come from

	SENTENCEPIECE_RANDOM=DIR go test -run TestWriteRandomModels ./text/tokenizer/sentencepiece

Needs the Python package sentencepiece (0.2.3 was used).

For each model, DIR has NAME.model, or NAME.model.gz for goldens, and NAME.json.gz: a list with
text, decoded (both base64), ids, and ends: the offsets of the ends of the pieces.
"""

import base64
import gzip
import json
import os
import sys

import sentencepiece as spm

import hostile

HERE = os.path.dirname(os.path.abspath(__file__))


def train(lines, prefix, size, **options):
    options = {
        "model_prefix": prefix,
        "vocab_size": size,
        "character_coverage": 1.0,
        "hard_vocab_limit": False,
        "num_threads": 1,
        "minloglevel": 2,
        **options,
    }
    spm.SentencePieceTrainer.train(sentence_iterator=iter(lines), **options)
    os.remove(prefix + ".vocab")


def fields(data):
    """Yields the numbers and values of the fields of an encoded protobuf message."""

    def varint():
        nonlocal at
        x = shift = 0
        while True:
            c = data[at]
            at += 1
            x |= (c & 0x7F) << shift
            shift += 7
            if c < 0x80:
                return x

    at = 0
    while at < len(data):
        tag = varint()
        wire = tag & 7
        if wire == 0:
            yield tag >> 3, varint()
        else:
            n = varint() if wire == 2 else {1: 8, 5: 4}[wire]
            yield tag >> 3, data[at : at + n]
            at += n


def pieces(data):
    """Returns the ids and the ends of a SentencePieceText."""
    ids, ends = [], []
    for number, value in fields(data):
        if number == 2:
            piece = dict(fields(value))
            ids.append(piece.get(2, 0))
            ends.append(piece.get(5, 0))
    return ids, ends


def record(model, lines):
    sp = spm.SentencePieceProcessor(model_file=model)
    out = []
    for line in lines:
        ids, ends = pieces(sp.encode(line, return_type="serialized_proto"))
        assert ids == sp.encode(line)
        case = {"text": base64.b64encode(line).decode(), "ids": ids, "ends": ends}
        case["decoded"] = base64.b64encode(sp.decode(ids, return_type=bytes)).decode()
        out.append(case)
    return out


def compress(data, path):
    with open(path, "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as z:
        z.write(data)


def write(model, lines):
    cases = record(model, lines)
    compress(json.dumps(cases, separators=(",", ":")).encode(), model.removesuffix(".model") + ".json.gz")


VARIANTS = {
    "unigram-nmt_nfkc": dict(model_type="unigram"),
    "bpe-nmt_nfkc": dict(model_type="bpe"),
    "unigram-nmt_nfkc_cf": dict(model_type="unigram", normalization_rule_name="nmt_nfkc_cf", byte_fallback=True),
    "bpe-nfkc": dict(model_type="bpe", normalization_rule_name="nfkc", byte_fallback=True),
    "unigram-identity": dict(
        model_type="unigram",
        normalization_rule_name="identity",
        byte_fallback=True,
        user_defined_symbols=["<sep>", "é<☃>"],
        control_symbols=["<ctrl>"],
        pad_id=3,
    ),
    "bpe-identity": dict(
        model_type="bpe",
        normalization_rule_name="identity",
        user_defined_symbols=["<sep>", "é<☃>"],
        character_coverage=0.98,
        unk_id=2,
        bos_id=-1,
        eos_id=0,
        pad_id=1,
        unk_surface="?",
    ),
    "unigram-suffix": dict(
        model_type="unigram", normalization_rule_name="identity", treat_whitespace_as_suffix=True, character_coverage=0.98
    ),
    "bpe-suffix": dict(model_type="bpe", normalization_rule_name="identity", treat_whitespace_as_suffix=True),
    "unigram-spaces": dict(
        model_type="unigram",
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        allow_whitespace_only_pieces=True,
        split_by_whitespace=False,
    ),
    "bpe-spaces": dict(
        model_type="bpe",
        normalization_rule_name="identity",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        allow_whitespace_only_pieces=True,
        byte_fallback=True,
    ),
    "word": dict(model_type="word", normalization_rule_name="identity", character_coverage=1.0),
    "char": dict(model_type="char", normalization_rule_name="identity", user_defined_symbols=["<sep>"], character_coverage=0.98),
}

# Each precompiled character map makes a file of 50 kB.
GOLDENS = [v for v in VARIANTS if v not in ("bpe-nmt_nfkc", "bpe-nfkc")]


def goldens(out):
    lines = open(os.path.join(HERE, "text.txt"), encoding="utf-8").read().splitlines()
    cases = [l.encode() for l in lines] + hostile.LINES
    for name in GOLDENS:
        prefix = os.path.join(out, name)
        size = 620 if VARIANTS[name].get("byte_fallback") else 500
        train(lines, prefix, size, **VARIANTS[name])
        write(prefix + ".model", cases)
        compress(open(prefix + ".model", "rb").read(), prefix + ".model.gz")
        os.remove(prefix + ".model")


def compare(out, args):
    models, files, n = [], [], 300
    while args:
        a = args.pop(0)
        if a == "-model":
            models.append(args.pop(0))
        elif a == "-lines":
            n = int(args.pop(0))
        else:
            files.append(a)
    read = [open(f, "rb").read().rstrip(b"\n").split(b"\n") for f in files]
    cases = hostile.LINES + [l for lines in read for l in lines[:n]]
    for m in models:
        prefix = os.path.join(out, os.path.basename(m))
        open(prefix, "wb").write(open(m, "rb").read())
        write(prefix, cases)
    if models:
        return
    sample = [l.decode(errors="replace") for lines in read for l in lines[:2000]]
    for name, options in VARIANTS.items():
        prefix = os.path.join(out, name)
        train(sample, prefix, 6000, **options)
        write(prefix + ".model", cases)


if __name__ == "__main__":
    os.makedirs(sys.argv[2], exist_ok=True)
    if sys.argv[1] == "goldens":
        goldens(sys.argv[2])
    else:
        compare(sys.argv[2], sys.argv[3:])
