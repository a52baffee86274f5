"""Reads the normalizations of the installed sentencepiece."""
import io
import struct

import sentencepiece


def fields(b):
    """The fields of a protobuf message."""
    i = 0

    def varint():
        nonlocal i
        n = shift = 0
        while True:
            c = b[i]
            i += 1
            n |= (c & 127) << shift
            shift += 7
            if c < 128:
                return n
    while i < len(b):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            size = {1: 8, 5: 4}.get(tag & 7) or varint()
            yield tag >> 3, b[i:i + size]
            i += size


def charsmap(name):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c"]), model_writer=model, vocab_size=7, model_type="char",
        normalization_rule_name=name, minloglevel=2, hard_vocab_limit=False)
    return next(v for n, spec in fields(model.getvalue()) if n == 3 for m, v in fields(spec) if m == 2)


def rules(name):
    data = charsmap(name)
    size = struct.unpack("<I", data[:4])[0]
    nodes, texts = struct.unpack(f"<{size // 4}I", data[4:4 + size]), data[4 + size:]
    found = {}

    def visit(i, key):
        node = nodes[i]
        base = i ^ (node >> 10) << ((node & 1 << 9) >> 6)
        if node >> 8 & 1:
            at = nodes[base] & 0x7FFFFFFF
            found[key.decode()] = texts[at:texts.index(b"\0", at)].decode()
        for c in range(1, 256):
            if base ^ c < len(nodes) and nodes[base ^ c] & 0x800000FF == c:
                visit(base ^ c, key + bytes([c]))
    visit(0, b"")
    return found
