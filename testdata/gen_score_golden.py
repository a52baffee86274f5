#!/usr/bin/env python3
"""Writes score.json, the goldens of text/score: sacreBLEU's scores of small sets of sentences.

    pip install sacrebleu==2.6.0
    testdata/gen_score_golden.py

A line of a set is a tuple of a hypothesis and its references. The sentences were written for this
file.
"""

import json
import pathlib

from sacrebleu import __version__ as version
from sacrebleu.metrics import BLEU, CHRF

SETS = {
    "english": [
        ("The ferry leaves at 7.30, doesn't it?", "The ferry leaves at 7.30, does it not?", "Does the ferry not leave at 7.30?", "The boat goes at half past seven, doesn't it?"),
        ("Nobody knew \"why\" the lamp went out.", "No one knew why the lamp went out.", "Nobody knew \"why\" the lamp had gone out.", "Why the lamp went out nobody knew."),
        ("She paid 3,000.50 kroner for a second-hand boat.", "She paid 3,000.50 kroner for a used boat.", "A second-hand boat cost her 3,000 kroner.", "For a second-hand boat she paid 3000 kroner."),
        ("the the the the the", "the cat and the dog saw the bird", "the cat", "the the"),
        ("WE MET AT THE STATION (PLATFORM 9), AS AGREED", "We met at the station (platform 9), as agreed.", "As agreed, we met on platform 9.", "We met there, as agreed!"),
        ("Yes.", "Yes, of course.", "Yes.", "Of course"),
        ("", "Nothing was said.", "", "Silence."),
        ("He said nothing at all, and left.", "", "He said nothing and left.", ""),
    ],
    "german": [
        ("Über den Fluss führt seit 1998 eine schmale Brücke.", "Seit 1998 führt eine schmale Brücke über den Fluss."),
        ("Der Käufer zahlte 12.000,75 € – zu viel?", "Der Käufer bezahlte 12.000,75 € – war das zu viel?"),
        ("»Komm mit«, sagte die Großmutter; STRASSE und Straße.", "„Komm mit!“, sagte die Großmutter; Straße und STRASSE."),
        ("Die U-Bahn-Linie 7-9 fährt z. B. nachts nicht.", "Die U-Bahn-Linien 7-9 fahren z.B. nachts nicht."),
    ],
    "lower case": [  # final sigma, dotted and dotless i, titlecase digraphs, sharp s
        ("Ο ΔΡΟΜΟΣ ΕΙΝΑΙ ΜΑΚΡΥΣ.", "Ο δρόμος είναι μακρύς.", "ο δρομος ειναι μακρυς."),
        ("İSTANBUL'DA IŞIK VAR, İyi", "İstanbul'da ışık var, iyi", "istanbul'da işik var"),
        ("ǅep ǅEP DŽEP ẞ ß SS", "ǆep ǆep džep ß ẞ ss", "džep ss"),
        ("ΣΑΣ 'ΟΔΟΣ' Σ ΑΣ.Α ΑΣ. Α\u0301Σ", "σας 'οδος' σ ασ.α ας. α\u0301ς", "ΣΑΣ"),
    ],
    "chinese": [
        ("渡轮七点半开，对吗？", "渡轮7点半出发，是吗？", "渡轮是七点半开的吧？"),
        ("没有人知道灯为什么灭了。", "没人知道灯为什么灭了。", "谁也不知道灯为什么熄灭。"),
        ("她花3,000元买了一条旧船（2019年造）。", "她用3000元买了一条二手船（造于2019年）。", "这条旧船花了她3,000元。"),
        ("「你好」，他說：“OK，我們走！”", "“你好，”他说：“好，我们走吧！”", "他說「你好」，OK我們走"),
        ("𠀀字在古書裏讀作ㄅㄆ，今用〇代替……", "𠀀字古书里读作ㄅㄆ，现用〇代替……", "𠀁"),
        ("", "他没有回答。", ""),
    ],
    "japanese": [
        ("フェリーは七時半に出ますね。", "フェリーは7時半に出発しますね。"),
        ("なぜ明かりが消えたのか、誰も知らなかった。", "どうして灯りが消えたのか誰にも分からなかった。"),
        ("ﾊﾝｶｸのカタカナとＡＢＣ１２３、「かぎ括弧」・中黒", "半角のｶﾀｶﾅとABC123、『かぎ括弧』・中黒"),
    ],
    "korean": [
        ("나는 매일 아침 7시 30분에 책을 읽습니다.", "저는 매일 아침 7시 반에 책을 읽어요."),
        ("왜 불이 꺼졌는지 아무도 몰랐다!", "아무도 왜 불이 꺼졌는지 몰랐다."),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af 자모와 한글", "한글 자모와 \u1112\u1161\u11ab\u1100\u1173\u11af"),
    ],
    "arabic": [
        ("تغادر العبّارة في الساعة ٧:٣٠، أليس كذلك؟", "تنطلق العبّارة الساعة ٧٫٣٠، أليس كذلك؟"),
        ("لم يعرف أحد لماذا انطفأ المصباح.", "لا أحد يعرف «لماذا» انطفأ المصباح؛"),
        ("دفعت ١٬٢٣٤٫٥٠ دينارًا \u200f(2019)\u200f", "دفعت 1,234.50 دينارا (٢٠١٩)"),
    ],
    "hindi": [
        ("मैं हर सुबह किताब पढ़ता हूँ।", "मैं रोज़ सुबह किताबें पढ़ता हूँ।"),
        ("उसने ₹१,२३४.५० में क्ष\u200dत्रिय की नाव खरीदी॥", "उसने ₹1,234.50 में क्षत्रिय की पुरानी नाव ख़रीदी।"),
    ],
    "thai": [
        ("ไม่มีใครรู้ว่าทำไมไฟดับ ๑๒๓", "ไม่มีใครรู้ว่าเหตุใดไฟจึงดับ 123"),
    ],
    "symbols": [  # tokenized differently by 13a, intl and zh
        ("1,000.5 a.b, .5 5. 3-4 7- -8 10%", "1,000.5 a.b , .5 5 . 3 - 4 7 - -8 10 %"),
        ("&quot;A&quot; &amp;lt; <skipped>b &lt;i&gt; &amp;amp;", "\"A\" < b <i> & &amp;"),
        ("(don't) {we} [try] a/b_c @x #y $z ^~`|\\", "( don't ) { we } [ try ] a / b _ c @x #y"),
        ("“Hi” – 5€ ½ Ⅷ x² ¾kg №5 ©2020™ →←", "“ Hi ” — 5 € ½ VIII x2 3/4 kg № 5 © 2020 →"),
        ("... !!! ?! ,,, '' \"\" ; : --", "… ! ! ! ?! , , , \" ; : —"),
        ("http://example.org/a?b=c&d=e,f user@example.org 12:30:05", "http://example.org/a?b=c user@example.org 12:30"),
    ],
    "emoji and marks": [
        ("👩‍👩‍👧‍👦 🇩🇪🇫🇷 👍🏽 ok ☺️", "👩‍👩‍👧 🇫🇷🇩🇪 👍 OK ☺", "👍🏽 ok"),
        ("e\u0301te\u0301 \u0301a Z\u0351\u032b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324alg\u0308o", "été \u0301 a Zalgo\u0308", "e\u0301té"),
        ("a\u200bb c\u00adoft \ufeffx\u2060y 𝔘𝔫𝔦 \U0010ffff", "ab coft xy 𝔘𝔫𝔦 Uni \ufffd", "a\u200bb"),
    ],
    "white space": [  # Python's, which includes U+001C to U+001F
        ("  a\u00a0b\u3000c\x1cd\x1fe\u2028f\u0085g\th  ", "a b c d e f g h", "\u3000a  b"),
        (" \u2009 ", "a", " "),
        ("a\rb\x0bc\x0cd\u180ee\u200bf", "a b c d e f", "\x00"),
    ],
    "short": [("a", "a"), ("a b", "a c"), ("c", "b"), ("x y z", "x y z")],
    "no match": [("α β γ", "a b c"), ("1 2 3 4 5", "")],
    "empty": [("", "")],
}

TOKENIZERS = ["13a", "intl", "zh", "char", "none"]
BLEU_OPTIONS = [dict(tokenize=t) for t in TOKENIZERS] + [dict(tokenize=t, lowercase=True) for t in ("13a", "intl")]
SMOOTHING_OPTIONS = [dict(smooth_method="floor"), dict(smooth_method="floor", smooth_value=0.5), dict(smooth_method="add-k"),
                     dict(smooth_method="add-k", smooth_value=2.5), dict(smooth_method="none"), dict(max_ngram_order=2)]
SMOOTHING_SETS = ["english", "german", "short", "no match"]
CHRF_OPTIONS = [{}, dict(word_order=2), dict(word_order=1, lowercase=True), dict(char_order=4, beta=1), dict(char_order=1, word_order=3, beta=3)]


def compact(x):
    """Rounds a score, because implementations of exp and log differ in the last digits."""
    return float(f"{x:.11g}")


def case(name, metric, sentence_metric, options, references, lines):
    hyps, refs = [l[0] for l in lines], [list(r) for r in zip(*(l[1:1 + references] for l in lines))]
    s = metric.corpus_score(hyps, refs)
    c = {"set": name, "references": references, "options": options, "score": compact(s.score), "printed": s.format(width=2),
         "signature": str(metric.get_signature()), "sentences": [compact(sentence_metric.sentence_score(l[0], list(l[1:1 + references])).score) for l in lines]}
    if isinstance(metric, BLEU):
        c.update(correct=s.counts, total=s.totals)
    return c


bleu, chrf = [], []
for name, lines in SETS.items():
    for references in {1, len(lines[0]) - 1}:
        for o in BLEU_OPTIONS + SMOOTHING_OPTIONS * (name in SMOOTHING_SETS):
            bleu.append(case(name, BLEU(**o), BLEU(effective_order=True, **o), o, references, lines))
        for o in CHRF_OPTIONS:
            chrf.append(case(name, CHRF(**o), CHRF(**o), o, references, lines))

with open(pathlib.Path(__file__).parent / "score.json", "w", encoding="utf-8") as f:
    f.write('{"sacrebleu": "%s",\n"sets": {\n' % version)
    f.write(",\n".join(f"{json.dumps(n)}: {json.dumps(l)}" for n, l in SETS.items()))
    for metric, cases in ("bleu", bleu), ("chrf", chrf):
        f.write(f'}},\n"{metric}": [\n' if metric == "bleu" else f'],\n"{metric}": [\n')
        f.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in cases))
    f.write("]}\n")
