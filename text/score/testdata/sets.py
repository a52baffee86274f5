"""Sentences in several languages, written for the goldens of text/score.

A line of a set is a tuple of a hypothesis and its references.
"""

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

# Tokens of TER that differ in references, which sacreBLEU tokenizes twice.
SETS["possessives"] = [
    ("The boat is Jim's, not Ann's.", "The boat is Jim's, not Ann's.", "It's Jim's, (Ann's), \"Bob's\" boat's!"),
    ("Jim 's , not Ann 's .", "Jim's, not Ann's.", "'s 's, 's's"),
    ("5-6's 7's-8 &amp;lt;'s", "5-6's, 7's-8; &amp;amp;lt;'s.", "&amp;quot;'s&quot; .5.-6,-7's"),
]

# Shifts of TER, and texts longer than its beam.
SETS["shifts"] = [
    ("on monday the old captain sold his boat to a friend", "the old captain sold his boat to a friend on monday", "to a friend the old captain sold on monday his boat"),
    ("a b c d e f g h", "h g f e d c b a", "e f g h a b c d"),
    ("x x x y y y x x", "y y y x x x x x", "x y x y x y x y"),
    ("b a b a b a b a b a", "a b a b a b a b a b", "a a a a a b b b b b"),
    ("one two three", "three one two", "two three one"),
    ("the the cat cat sat sat on on the the mat mat", "the cat sat on the mat the cat sat on the mat", ""),
    (" ".join(f"w{i * 7 % 60}" for i in range(60)), " ".join(f"w{i}" for i in range(60)), ""),
    ("a b", " ".join("a c d b"[i % 7] for i in range(240)), "a c d"),
    (" ".join(f"v{i % 5}" for i in range(90)), "v1 v2 v3", "v3 v0"),
    ("a " * 24 + "b " * 20 + "c", "c " + "b " * 20 + "a " * 24, ""),
]
