"""Writes the folders marian-*: MarianMTModel with random weights, saved by transformers, and beside
each an expected.json with its tokens, logits and outputs of generate.

usage: python gen_marian.py FOLDER    (needs torch, transformers, sentencepiece)
"""
import io, json, os, random, sys
import sentencepiece, torch, transformers
from transformers import MarianConfig, MarianMTModel, MarianTokenizer, GenerationConfig

torch.set_num_threads(1)
out = sys.argv[1]
random.seed(1)
syllables = [c + v for c in "bdgklmnprst" for v in "aeiou"]
words = ["".join(random.choices(syllables, k=random.randint(1, 3))) for _ in range(120)]
sentence = lambda r: " ".join(r.choices(words, k=r.randint(2, 9))) + r.choice([".", "!", " ?"])


def train(path, seed, size, kind="unigram"):
    r = random.Random(seed)
    lines = [sentence(r) for _ in range(2000)]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, vocab_size=size, model_type=kind,
        normalization_rule_name="identity", bos_id=-1, eos_id=0, unk_id=1, pad_id=-1, hard_vocab_limit=False, num_threads=1, minloglevel=2)
    with open(path, "wb") as f:
        f.write(model.getvalue())
    s = sentencepiece.SentencePieceProcessor(model_file=path)
    return [s.id_to_piece(i) for i in range(s.get_piece_size())]


def dump(path, value):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(value, f, ensure_ascii=False, separators=(",", ":"))


def write(name, shared, kind="unigram", codes=(), missing=0, generation={}, dtype=torch.float32, **config):
    d = os.path.join(out, "marian-" + name)
    os.makedirs(d, exist_ok=True)
    path = lambda f: os.path.join(d, f)
    source, target = train(path("source.spm"), 1, 70, kind), train(path("target.spm"), 2, 64 if shared else 58, kind)
    r = random.Random(3)

    def vocabulary(pieces):
        rest = sorted(p for p in set(pieces) if p not in ("</s>", "<unk>"))
        r.shuffle(rest)
        rest = rest[missing:]  # pieces that the tokenizer makes <unk>
        return {p: i for i, p in enumerate(["</s>", "<unk>"] + list(codes) + rest + ["<pad>"])}

    vocab = vocabulary(source + target if shared else source)
    files = dict(source_spm=path("source.spm"), target_spm=path("target.spm"), vocab=path("vocab.json"), model_max_length=64)
    dump(path("vocab.json"), vocab)
    tgt = vocab
    if not shared:
        tgt = vocabulary(target)
        dump(path("target_vocab.json"), tgt)
        files.update(separate_vocabs=True, target_vocab_file=path("target_vocab.json"))
    tokenizer = MarianTokenizer(source_lang="eng", target_lang="tgt", **files)
    tokenizer.save_pretrained(d)
    pad = len(tgt) - 1
    make = lambda: MarianMTModel(MarianConfig(vocab_size=len(vocab), decoder_vocab_size=len(tgt), d_model=16, encoder_layers=2, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=48,
        pad_token_id=pad, decoder_start_token_id=pad, eos_token_id=0, forced_eos_token_id=None, share_encoder_decoder_embeddings=shared, **config))
    settings = dict(max_length=40, num_beams=4, bad_words_ids=[[pad]], pad_token_id=pad, decoder_start_token_id=pad, eos_token_id=0, forced_eos_token_id=None)
    texts = [sentence(r) for _ in range(6)] + ["Unbekannt " + sentence(r), sentence(r).upper()]
    texts += [codes[i % len(codes)] + " " + sentence(r) for i in range(3 if codes else 0)]

    def randomized(seed):
        torch.manual_seed(seed)
        model = make().eval()
        with torch.no_grad():
            for n, p in model.named_parameters():
                if p.requires_grad:
                    p.add_(torch.randn_like(p) * (0.2 if "embed" in n or "shared" in n or "lm_head" in n else 0.5))
            model.final_logits_bias.add_(torch.randn_like(model.final_logits_bias))
            model.final_logits_bias[0, 0] += 0.5
        model.generation_config = GenerationConfig(**{**settings, **generation})
        return model

    def variety(seed):  # outputs that end, with different tokens
        model = randomized(seed)
        with torch.no_grad():
            outputs = [model.generate(**tokenizer([t], return_tensors="pt"), num_beams=b)[0].tolist() for t in texts[:4] for b in (1, 4)]
        return sum(min(len(set(o)), 8) for o in outputs if o[-1] == 0)

    model = randomized(max(range(8), key=variety))
    model = model.to(dtype)
    model.save_pretrained(d)
    if dtype == torch.float16:
        torch.save(model.state_dict(), path("pytorch_model.bin"), _use_new_zipfile_serialization=False)
    model = MarianMTModel.from_pretrained(d, dtype=torch.float32).eval()  # the rounded weights
    cases = []
    for text in texts:
        ids = tokenizer([text], return_tensors="pt")
        with torch.no_grad():
            greedy = model.generate(**ids, num_beams=1)
            beam = model.generate(**ids, num_return_sequences=4, return_dict_in_generate=True, output_scores=True)
            given = greedy[:, :8]
            logits = model(**ids, decoder_input_ids=given).logits[0]
        trim = lambda s: [t for t in s.tolist()[1:] if t != pad]
        cases.append(dict(text=text, source=ids.input_ids[0].tolist(), given=given[0].tolist(), logits=[[round(x, 6) for x in row] for row in logits.tolist()[-2:]],
            greedy=trim(greedy[0]), greedy_text=tokenizer.decode(trim(greedy[0]), skip_special_tokens=True),
            beam=[trim(s) for s in beam.sequences], beam_scores=beam.sequences_scores.tolist(), beam_texts=tokenizer.batch_decode([trim(s) for s in beam.sequences], skip_special_tokens=True)))
    dump(path("expected.json"), dict(transformers=transformers.__version__, cases=cases))


write("shared", True, scale_embedding=True, activation_function="swish", missing=3)
write("codes", True, scale_embedding=True, activation_function="relu", codes=(">>fra<<", ">>cmn_Hans<<"), kind="bpe",
    generation=dict(length_penalty=0.6, early_stopping=True, bad_words_ids=[[1]]))
write("separate", False, scale_embedding=False, activation_function="gelu", generation=dict(length_penalty=2.0))
write("untied", False, scale_embedding=True, activation_function="gelu_new", tie_word_embeddings=False, generation=dict(early_stopping="never"))
write("half", True, scale_embedding=True, activation_function="silu", dtype=torch.float16, generation=dict(num_beams=6))
