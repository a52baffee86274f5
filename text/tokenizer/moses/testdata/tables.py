"""Writes ../classes.txt and ../prefixes.txt, the data of sacremoses that Moses' rules need, and its licence.

    pip install sacremoses==0.2.0 && python tables.py
"""
import pathlib
from importlib import metadata

from sacremoses.corpus import NonbreakingPrefixes, Perluniprops
from sacremoses.indic import NUKTAS, VIRAMAS
from sacremoses.tokenize import MosesTokenizer

out = pathlib.Path(__file__).parent.parent
license = [f for f in metadata.files("sacremoses") if f.name == "LICENSE"][0].read_text()
(out / "LICENSE-sacremoses").write_text(license)
header = "# Data of sacremoses %s, https://github.com/hplt-project/sacremoses, which has it from Moses; see LICENSE-sacremoses.\n" % metadata.version("sacremoses")


def ranges(codes):
    """Returns the sorted codes as lo-hi, lo-hi/2 for every second one, or one code, in hexadecimal."""
    codes, i, fields = sorted(codes), 0, []
    while i < len(codes):
        best = (i, 1)
        for step in 1, 2:
            j = i
            while j + 1 < len(codes) and codes[j + 1] == codes[j] + step:
                j += 1
            if j > best[0] + (step == 2):
                best = (j, step)
        j, step = best
        fields.append("%x" % codes[i] + ("-%x" % codes[j] if j > i else "") + ("/2" if step == 2 else ""))
        i = j + 1
    return " ".join(fields)


props = Perluniprops()
alpha = set(props.chars("IsAlpha"))
classes = {
    "alpha": alpha,
    "digit": set(props.chars("IsAlnum")) - alpha,
    "mark": set(VIRAMAS + NUKTAS),
    "number": set(props.chars("IsN")),
    "lower": set(props.chars("IsLower")),
    "currency": set(props.chars("IsSc")),
    "han": set(props.chars("Han")),
    "hangul": set(props.chars("Hangul")),
    "kana": set(props.chars("Hiragana")) | set(props.chars("Katakana")),
}
lines = ["%s: %s\n" % (name, ranges({ord(c) for c in chars if not c.isspace()})) for name, chars in classes.items()]
(out / "classes.txt").write_text(header + "# Classes of characters: name, then code points and ranges in hexadecimal, /2 for every second.\n" + "".join(lines))


def words(tokenizer):
    """Returns the prefixes: single letters as X-Y, and # before those that only numbers follow."""
    numeric = {w for w in tokenizer.NUMERIC_ONLY_PREFIXES}
    plain = {w for w in tokenizer.NONBREAKING_PREFIXES} - numeric
    usable = lambda list: sorted(w for w in list if w and len(w.split()) == 1 and "#" not in w)
    letters = ranges([ord(w) for w in usable(plain) if len(w) == 1]).split()
    single = [w for f in letters for w in ["-".join(chr(int(c, 16)) for c in f.split("/")[0].split("-"))] if "/" not in f]
    single += [chr(c) for f in letters if "/" in f for lo, hi in [f[:-2].split("-")] for c in range(int(lo, 16), int(hi, 16) + 1, 2)]
    longer = [w for w in usable(plain) if len(w) > 1]
    assert not any(len(w) == 3 and w[1] == "-" for w in longer)
    return " ".join(single + longer + ["#" + w for w in usable(numeric)])


lists = {}
for language in sorted(set(NonbreakingPrefixes().available_langs.values())):
    lists.setdefault(words(MosesTokenizer(language)), []).append(language)
lines = ["%s: %s\n" % (",".join(languages), list) for list, languages in sorted(lists.items(), key=lambda x: x[1])]
(out / "prefixes.txt").write_text(
    header + "# Words after which a full stop does not end a sentence: languages, then words. X-Y are single letters.\n"
    "# After a word with # it does not if a number follows.\n" + "".join(lines))
