"""Writes ../internal/charsmap/nmt_nfkc.gz: the normalization nmt_nfkc.

    pip install unicodedata2==17.0.0
    python rules.py

The data is that of Unicode 17.0.0, under the Unicode License V3. With sentencepiece in the environment and
-compare, rules.py compares the rules with those of its models.
"""
import itertools
import os
import sys

import unicodedata2 as unicode

import build_charsmap

NMT = {chr(c): " " for c in (
    0x09, 0x0A, 0x0C, 0x0D, 0x061C, 0x1680, 0x200B, 0x200C, 0x200E, 0x200F, 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD)}
NMT |= {chr(c): "" for c in (*range(1, 9), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F)}
FULLWIDTH_TILDE = "\uFF5E"


def characters():
    return (chr(c) for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000 and not 0xFDD0 <= c < 0xFDF0 and c & 0xFFFE != 0xFFFE)


def nfkc_rules():
    """Rules for each character, and for each sequence that has the decomposition of a composed one."""
    rules, sources, decompositions = {}, {}, set()
    for c in characters():
        composed, decomposed = unicode.normalize("NFKC", c), unicode.normalize("NFKD", c)
        if composed != c:
            rules[c] = composed
        if len(decomposed) == 1:
            sources.setdefault(decomposed, []).append(c)
        else:
            decompositions.add(decomposed)
    for decomposed in decompositions:
        composed = unicode.normalize("NFKC", decomposed)
        if composed != decomposed:
            for sequence in itertools.product(*(sources[c] for c in decomposed)):
                rules["".join(sequence)] = composed
    return {k: v for k, v in rules.items() if k != v}


def apply(rules, s, longest):
    out, i = [], 0
    while i < len(s):
        for n in range(min(longest, len(s) - i), 0, -1):
            if s[i:i + n] in rules:
                out.append(rules[s[i:i + n]])
                break
        else:
            n = 1
            out.append(s[i])
        i += n
    return "".join(out)


def reduce(rules):
    """Leaves out the rules that shorter ones imply."""
    kept = {k: v for k, v in rules.items() if len(k) == 1}
    for n in range(2, max(map(len, rules)) + 1):
        kept |= {k: v for k, v in rules.items() if len(k) == n and apply(kept, k, n - 1) != v}
    return kept


def all_rules():
    nfkc = reduce(nfkc_rules())
    return {"nfkc": nfkc, "nmt_nfkc": reduce({k: v for k, v in (nfkc | NMT).items() if k != FULLWIDTH_TILDE})}


def codes(s):
    return " ".join(f"{ord(c):X}" for c in s)


def compare(rules):
    import compare_charsmap
    for name, own in rules.items():
        other = compare_charsmap.rules(name)
        different = [k for k in own.keys() | other.keys() if own.get(k) != other.get(k)]
        print(f"{name}: {len(own)} rules, sentencepiece has {len(other)}, {len(different)} differ", *map(codes, different[:10]))


if __name__ == "__main__":
    if sys.argv[1:] == ["-compare"]:
        compare(all_rules())
    else:
        folder = os.path.dirname(os.path.abspath(__file__))
        build_charsmap.write(os.path.join(folder, "../internal/charsmap/nmt_nfkc.gz"), all_rules())
