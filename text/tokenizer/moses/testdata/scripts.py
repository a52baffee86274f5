"""Writes scripts.json: what Moses' scripts make of the lines below, as a preprocess.sh of OPUS-MT calls them.

    git clone https://github.com/moses-smt/mosesdecoder && python scripts.py mosesdecoder
"""
import json
import pathlib
import subprocess
import sys

scripts = pathlib.Path(sys.argv[1]) / "scripts" / "tokenizer"
general = [
    "Hello, world!  It's 5,300 (not 5.3) a.m., isn't it? etc.",
    "“Quotes”, ‘single’ ones — and – dashes… ``old'' ´ones´. l‘été O’Neil",
    '<b>R&D</b> [1] a|b 10\u00a0% 1\u00a0000 nº\u00a05 «\u00a0oui\u00a0» "One," "Two." x."y ..."',
    "well-known \u200b re-use\u00ad \t\x1c x\x85y 中文、１２％。  No. 5. Mr. X",
]
lines = {
    "en": general + ["O'Neil's dogs' bones, the '90s, 1990's 'Really'.'"],
    "de": general[1:3] + ["Das ist z.B. Hr. Müller. „Ja“, sagte er."],
    "fr": general[:3] + ["L'homme d'aujourd'hui : qu'en pense M. Dupont ?"],
    "cs": general[2:3],
    "es": ["gr. x Fil. X «hola». 5\u00a0000"],
    "zh": ["你好，世界。“他说”：《书》１２％"],
    "xx": general[:1],
}


def run(commands, text):
    for command in commands:
        text = subprocess.run([scripts / command[0], *command[1:]], input=text, capture_output=True, check=True, encoding="utf-8").stdout
    return text.rstrip("\n")


out = []
for language, texts in lines.items():
    for text in texts:
        out.append([language, text, run([["replace-unicode-punctuation.perl"], ["remove-non-printing-char.perl"], ["normalize-punctuation.perl", "-l", language]], text + "\n")])
text = "[\n" + ",\n".join(json.dumps(x, ensure_ascii=False) for x in out) + "\n]\n"
(pathlib.Path(__file__).parent / "scripts.json").write_text(text)
