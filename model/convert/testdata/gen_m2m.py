"""Writes the folders m2m-nllb and m2m-100: M2M100ForConditionalGeneration with random weights, saved
by transformers, beside a SentencePiece model and the tokens of languages in the layout of NLLB-200
and M2M-100, and in each an expected.json with its tokens, logits and outputs of generate. Then ctranslate2-m2m,
the first of them in the format of CTranslate2, with its translations in expected.json.

usage: python gen_m2m.py FOLDER    (needs torch, transformers, sentencepiece, protobuf, ctranslate2)
"""
import io, json, os, random, shutil, sys
import ctranslate2, sentencepiece, torch
from ctranslate2.converters import transformers as ct2
from transformers import M2M100Config, M2M100ForConditionalGeneration, M2M100Tokenizer, NllbTokenizer
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES as m2m_codes
from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES as nllb_codes

torch.set_num_threads(1)
out = sys.argv[1]
random.seed(1)
syllables = [c + v for c in "bdgklmnprst" for v in "aeiou"]
words = ["".join(random.choices(syllables, k=random.randint(1, 3))) for _ in range(120)]
sentence = lambda r: " ".join(r.choices(words, k=r.randint(2, 9))) + r.choice([".", "!", " ?"])


def dump(path, value):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(value, f, ensure_ascii=False, separators=(",", ":"))


def train(path):
    r = random.Random(1)
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter([sentence(r) for _ in range(2000)]), model_writer=model, vocab_size=80,
        model_type="bpe", normalization_rule_name="identity", hard_vocab_limit=False, num_threads=1, minloglevel=2)
    with open(path, "wb") as f:
        f.write(model.getvalue())
    s = sentencepiece.SentencePieceProcessor(model_file=path)
    return [s.id_to_piece(i) for i in range(s.get_piece_size())]


def write(name, is_nllb, directions, seed, eos_logit=4):
    d = os.path.join(out, "m2m-" + name)
    os.makedirs(d, exist_ok=True)
    path = lambda f: os.path.join(d, f)
    spm = path("sentencepiece.bpe.model")
    pieces = train(spm)
    special = dict(bos_token="<s>", eos_token="</s>", unk_token="<unk>", sep_token="</s>", pad_token="<pad>")
    vocab = {t: i for i, t in enumerate(["<s>", "<pad>", "</s>", "<unk>"] + pieces[3:])}
    if is_nllb:
        size = len(vocab) + len(nllb_codes) + 3  # <mask> and two rows without a token
        dump(path("special_tokens_map.json"), dict(special, mask_token="<mask>", additional_special_tokens=nllb_codes))
        dump(path("tokenizer_config.json"), dict(special, tokenizer_class="NllbTokenizer", src_lang=None, tgt_lang=None))
        tokenizer = NllbTokenizer.from_pretrained(d, extra_special_tokens=nllb_codes)
    else:
        size = len(vocab) + 108
        dump(path("vocab.json"), vocab)
        dump(path("special_tokens_map.json"), dict(special, additional_special_tokens=["__%s__" % c for c in m2m_codes["m2m100"]]))
        dump(path("tokenizer_config.json"), dict(special, tokenizer_class="M2M100Tokenizer", src_lang=None, tgt_lang=None, num_madeup_words=8))
        tokenizer = M2M100Tokenizer.from_pretrained(d)
    torch.manual_seed(seed)
    model = M2M100ForConditionalGeneration(M2M100Config(vocab_size=size, d_model=16, encoder_layers=2, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=48, init_std=0.3)).eval()
    with torch.no_grad():
        for key, p in model.named_parameters():
            if "bias" in key or "layer_norm" in key:
                p.add_(0.2 * torch.randn_like(p))
            elif "layers" in key:
                p.mul_(4)
        used = torch.zeros(size, 1)  # languages are improbable, as in a trained model
        used[: len(vocab)] = 1
        model.model.shared.weight.mul_(0.2 + 0.8 * used)
        # Translations that neither repeat one token nor go on without end.
        eos, norm = model.model.shared.weight[2], model.model.decoder.layer_norm
        norm.weight.copy_(1.2 * torch.randn(16))
        norm.bias.copy_(eos_logit * eos / eos.dot(eos))
    g = model.generation_config
    g.num_beams, g.max_length, g.early_stopping = 4, 40, True
    model.save_pretrained(d)
    cases, r = [], random.Random(5)
    for source, target in directions:
        for text in [sentence(r), sentence(r) + " xX"]:
            codes = nllb_codes if is_nllb else m2m_codes["m2m100"]
            ids = [len(vocab) + codes.index(source)] + [vocab.get(p, 3) for p in tokenizer.tokenize(text)] + [2]
            forced = len(vocab) + codes.index(target)
            if not is_nllb:  # the other has the ids of published models only with their tokenizer.json
                tokenizer.src_lang = source
                assert ids == tokenizer(text).input_ids and forced == tokenizer.get_lang_id(target)
            given = [2, forced] + [vocab[p] for p in r.sample(pieces[3:], 4)]
            x = torch.tensor([ids])
            with torch.no_grad():
                logits = model(input_ids=x, decoder_input_ids=torch.tensor([given])).logits[0]
                run = lambda n: model.generate(x, forced_bos_token_id=forced, num_beams=n, num_return_sequences=n, output_scores=True,
                    return_dict_in_generate=True)
                greedy, beam = run(1), run(4)
            ended = lambda s: [i for i in s.tolist()[2:] if i != 1]  # without the start, the language and padding
            words = lambda s: tokenizer.decode([i for i in s.tolist() if i < len(vocab)], skip_special_tokens=True)
            cases.append(dict(source_language=source, target_language=target, text=text, source=ids, given=given,
                logits=[[round(v, 5) for v in row.tolist()] for row in logits[-1:]],
                greedy=ended(greedy.sequences[0]), greedy_text=words(greedy.sequences[0]), beam=[ended(s) for s in beam.sequences],
                beam_scores=beam.sequences_scores.tolist(), beam_texts=[words(s) for s in beam.sequences]))
    dump(path("expected.json"), dict(cases=cases))


write("nllb", True, [("eng_Latn", "fra_Latn"), ("fra_Latn", "eng_Latn"), ("zho_Hans", "deu_Latn"), ("deu_Latn", "zho_Hant"), ("arb_Arab", "swh_Latn")], 1)
write("100", False, [("en", "fr"), ("fr", "en"), ("zh", "de"), ("de", "zh"), ("ar", "sw")], 2)


def convert(source, target):
    spm = os.path.join(source, "sentencepiece.bpe.model")
    s = sentencepiece.SentencePieceProcessor(model_file=spm)
    pieces = ["<s>", "<pad>", "</s>", "<unk>"] + [s.id_to_piece(i) for i in range(3, s.get_piece_size())]
    tokens = pieces + nllb_codes + ["<mask>"]  # in the order of published models
    ct2.M2M100Loader.get_vocabulary = lambda self, model, _: tokens + ["madeupword%d" % i for i in range(model.config.vocab_size - len(tokens))]

    class Converter(ct2.TransformersConverter):
        def load_tokenizer(self, *_, **__):
            return NllbTokenizer.from_pretrained(source)

    Converter(source).convert(target, force=True)
    shutil.copy(spm, target)
    translator = ctranslate2.Translator(target, compute_type="float32")
    cases = []
    with open(os.path.join(source, "expected.json"), encoding="utf-8") as f:
        read = json.load(f)["cases"]
    for c in read:
        for beam in [1, 4]:
            r = translator.translate_batch([[tokens[i] for i in c["source"]]], target_prefix=[[c["target_language"]]], beam_size=beam,
                num_hypotheses=beam, max_decoding_length=30, return_scores=True)[0]
            cases.append(dict(source_language=c["source_language"], target_language=c["target_language"], text=c["text"], beam_size=beam,
                texts=[s.decode(h[1:]) for h in r.hypotheses], lengths=[len(h) - 1 for h in r.hypotheses], scores=r.scores))
    dump(os.path.join(target, "expected.json"), dict(cases=cases))


convert(os.path.join(out, "m2m-nllb"), os.path.join(out, "ctranslate2-m2m"))
