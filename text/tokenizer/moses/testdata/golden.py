"""Writes golden.json: the outputs of sacremoses for the lines below.

    pip install sacremoses==0.2.0 && python golden.py
"""
import json
import pathlib

from sacremoses import MosesDetokenizer, MosesPunctNormalizer, MosesTokenizer

general = [
    "Hello, world!  It's 5,300 (not 5.3) a.m., isn't it?",
    "“Quotes”, ‘single’ ones — and – dashes… ``old'' ´ones´.",
    "Wait... what?.. No.... 'Really'. The dogs' bones' x.'",
    "<b>R&D</b> [1] a|b &amp; c@d.org http://x.org/?q=1&r=2",
    "well-known re-use -- a-b-c 1-2 -x- x-",
    "1,5 ,5 5, a,b,c ,, 2,, ,",
    "\u00a0«\u00a0oui\u00a0»\u00a0: 10\u00a0%\u00a0! 1\u00a0000\u00a0000 nº\u00a05, 20\u00a0ºC",
    '"One," he said. "Two." "Three".x ..."y <"z',
    "DOTMULTI DOTDOTx ....\t\x01a\x1cb\u3000c\ufffd",
    "$ 5 € 6 ( 7 ) % 8 % ¿ que ? ! ; : \\ x ’ s ` a ` '' b ''",
    "@-@ a @-@ b @-@ @-@ c &lt; &bar; &#124; &amp;lt; &apos; s",
]
lines = {
    "en": general + [
        "Mr. Smith met Dr. Jones, e.g. at 5 p.m. No. 7 of pp. 8 no. Nine. etc.",
        "I can't, they've, the '90s, 1990's, O'Neil's, rock 'n' roll, Jones' house",
    ],
    "de": general[6:8] + ["Das ist z.B. der 3. Mai, bzw. Hr. Müller. „Ja“, sagte er, „nein.“ Ende.", "Geht's? Nr. 5 usw."],
    "fr": general + ["L'homme d'aujourd'hui n'est pas là : qu'en pense M. Dupont ?", "C' est l' été ' a ' !"],
    "it": ["L'amico dell'uomo. Art. 5 dell' opera"],
    "zh": general[:1] + ["你好，世界。“他说”：这是《书》、１２％吗？《A》（b）．", "我 爱 北京 ABC 上海 。"],
    "ja": ["今日は、良い天気です。カタカナと「漢字」", "彼 は A です"],
    "ko": ["안녕하세요, 세계. 『한국』 제1조", "한국 어 는"],
    "ru": ["Это т.е. г. Москва, см. рис. 5. «Да», — сказал И. И. Иванов.", "стр. 7 и т. д."],
    "cs": ["Např. 3 , 5 a prof. Novák. „Ano“ řekl.", "asi 1 , 5 3 ,"],
    "hi": ["यह क़िताब है। डॉ. शर्मा"],
    "xx": ["An unknown language, e.g. Mr. X's."],
}
out = []
for language, texts in lines.items():
    tokenizer, detokenizer = MosesTokenizer(language), MosesDetokenizer(language)
    for text in texts:
        words = tokenizer.tokenize(text)
        out.append([
            language, text, " ".join(words),
            detokenizer.detokenize(words),
            detokenizer.detokenize(text.split()),
            MosesPunctNormalizer(language).normalize(text),
        ])
text = "[\n" + ",\n".join(json.dumps(x, ensure_ascii=False) for x in out) + "\n]\n"
(pathlib.Path(__file__).parent / "golden.json").write_text(text)
