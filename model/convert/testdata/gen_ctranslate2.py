# Writes the folders ctranslate2-* of this folder: small models of CTranslate2 with random weights,
# and in expected.json what CTranslate2 computes with them.
#
#   pip install ctranslate2==4.8.5 sentencepiece==0.2.3 numpy && python gen_ctranslate2.py
import json, os, shutil, struct, sys
import numpy as np
import ctranslate2
import sentencepiece
from ctranslate2.specs import common_spec, transformer_spec

Activation = common_spec.Activation
HERE = os.path.dirname(os.path.abspath(__file__))
D, HEADS, FF = 8, 2, 12


def weights(random, *shape):
    return random.normal(0, 0.6, shape).astype(np.float32)


def fill_linear(random, spec, rows, cols, bias=True):
    spec.weight = weights(random, rows, cols)
    if bias:
        spec.bias = weights(random, rows)


def fill_norm(random, spec, rms):
    spec.gamma = 1 + 0.3 * weights(random, D)
    if not rms:
        spec.beta = 0.3 * weights(random, D)


def sinusoids(positions, d):
    angles = np.arange(positions)[:, None] / np.power(10000, 2 * np.arange(d // 2) / d)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


def model(seed, source, target, layers=(1, 1), pre_norm=False, activation=Activation.RELU, rms=False, tie=True,
          positions="halves", bias=True, output_bias=True, scale=True, final=None, zero=False):
    random = np.random.default_rng(seed)
    spec = transformer_spec.TransformerSpec.from_config(
        layers, HEADS, pre_norm=pre_norm, activation=activation, rms_norm=rms, no_final_norm=final is False)
    shared = source == target
    enc, dec = spec.encoder, spec.decoder
    enc.embeddings[0].weight = weights(random, len(source), D)
    dec.embeddings.weight = enc.embeddings[0].weight if shared else weights(random, len(target), D)
    dec.projection.weight = dec.embeddings.weight if tie else weights(random, len(target), D)
    if output_bias:
        dec.projection.bias = weights(random, len(target))
        dec.projection.bias[target.index("</s>")] += 1
    for stack in (enc, dec):
        stack.scale_embeddings = scale
        if positions == "halves":
            stack.position_encodings.encodings = sinusoids(40, D)
        elif positions == "learned":
            stack.position_encodings.encodings = weights(random, 30, D)
        if pre_norm and final is not False:
            fill_norm(random, stack.layer_norm, rms)
        for layer in stack.layer:
            attentions = [layer.self_attention] + ([layer.attention] if stack is dec else [])
            for attention in attentions:
                fill_norm(random, attention.layer_norm, rms)
                rows = [3 * D, D] if attention is layer.self_attention else [D, 2 * D, D]
                for linear, n in zip(attention.linear, rows):
                    fill_linear(random, linear, n, D, bias)
            fill_norm(random, layer.ffn.layer_norm, rms)
            fill_linear(random, layer.ffn.linear_0, FF, D, bias)
            fill_linear(random, layer.ffn.linear_1, D, FF, bias)
    dec.start_from_zero_embedding = zero
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    return spec


def save(spec, folder, version, quantization=None, text=False):
    """Writes a spec in any binary version. ctranslate2's own save writes the newest."""
    spec.validate()
    spec.optimize(quantization="int8_float32" if quantization == "int8" else quantization if quantization != "bfloat16" else None)
    config = spec.config.to_dict()
    if version == 6:
        spec.save(folder)
        return
    variables, aliases = {}, []
    for name, value in spec.variables(ordered=True):
        if isinstance(value, str):
            aliases.append((name, value))
        else:
            variables[name] = value.numpy()
    if version < 6:  # settings were variables
        variables["with_source_bos"] = np.int8(config["add_source_bos"])
        variables["with_source_eos"] = np.int8(config["add_source_eos"])
        variables["with_target_bos"] = np.int8(config["decoder_start_token"] == config["bos_token"])
        for token in ("unk", "bos", "eos"):
            variables[token + "_token"] = np.frombuffer(config[token + "_token"].encode(), dtype=np.int8)
    string = lambda s: struct.pack("H", len(s.encode()) + 1) + s.encode() + b"\0"
    ids = ("float32", "int8", "int16", "int32", "float16", "bfloat16")
    if version < 3:
        for alias, name in aliases:
            variables[alias] = variables[name]
            if name + "_scale" in variables:
                variables[alias + "_scale"] = variables[name + "_scale"]
    with open(os.path.join(folder, "model.bin"), "wb") as out:
        out.write(struct.pack("I", version))
        if version >= 2:
            out.write(string("TransformerSpec") + struct.pack("I", 7))
        out.write(struct.pack("I", len(variables)))
        for name in sorted(variables):
            x = np.ascontiguousarray(variables[name]) if np.ndim(variables[name]) else variables[name]
            data, dtype, size = x.tobytes(), str(x.dtype), x.dtype.itemsize
            if quantization == "bfloat16" and dtype == "float32":
                data, dtype, size = (np.asarray(x).reshape(-1).view(np.uint32) >> 16).astype(np.uint16).tobytes(), "bfloat16", 2
            out.write(string(name) + struct.pack("B", np.ndim(x)) + b"".join(struct.pack("I", n) for n in np.shape(x)))
            if version >= 4:
                out.write(struct.pack("B", ids.index(dtype)) + struct.pack("I", len(data)))
            else:
                out.write(struct.pack("B", size) + struct.pack("I", len(data) // size))
            out.write(data)
        if version >= 3:
            out.write(struct.pack("I", len(aliases)))
            for alias, name in aliases:
                out.write(string(alias) + string(name))
    (source,), (target,) = spec._vocabularies["source"], spec._vocabularies["target"]
    for name, tokens in {"shared": source}.items() if source == target else {"source": source, "target": target}.items():
        with open(os.path.join(folder, name + "_vocabulary.txt"), "w", encoding="utf-8") as f:
            f.writelines(token + "\n" for token in tokens)


def compute(folder, sources, targets):
    t = ctranslate2.Translator(folder, compute_type="float32", intra_threads=1)
    results = {}
    for beam in (1, 3):
        list = t.translate_batch(sources, beam_size=beam, num_hypotheses=beam, max_decoding_length=12, min_decoding_length=0,
                                 length_penalty=1, return_scores=True)
        results[str(beam)] = [{"tokens": r.hypotheses[0], "score": round(r.scores[0], 6)} for r in list]
    scores = [[round(x, 6) for x in s.log_probs] for s in t.score_batch(sources, targets)]
    return {"sources": sources, "targets": targets, "log_probs": scores, "results": results}


words = ["der", "ein", "Hund", "Katze", "läuft", "schläft", "und", ".", "日", "本"]
others = ["the", "a", "dog", "cat", "runs", "sleeps", "and", "."]
opennmt = lambda list: ["<blank>", "<s>", "</s>"] + list
marian = ["</s>", "<unk>"] + words
hf = words[:5] + ["</s>", "<unk>"] + words[5:]

cases = {
    # OpenNMT-tf: no marks of the source, positions computed, the unknown token only in the weights
    "v6-int8": (dict(source=opennmt(others) + ["<unk>"], target=opennmt(words) + ["<unk>"], pre_norm=True, positions=None, tie=False), 6, "int8", {}),
    "v5-int16": (dict(source=opennmt(others) + ["<unk>"], target=opennmt(words) + ["<unk>"], layers=(2, 1)), 5, "int16", {}),
    # Marian: a zero embedding first, and EOS in the source
    "v4-float16": (dict(source=marian, target=marian, zero=True, activation=Activation.SWISH), 4, "float16", dict(add_source_eos=True)),
    "v4-bfloat16": (dict(source=hf, target=hf, positions="learned", activation=Activation.GELU), 4, "bfloat16", dict(add_source_eos=True, decoder_start_token="</s>")),
    "v3-int8": (dict(source=hf, target=hf, activation=Activation.GELUTanh, bias=False, output_bias=False), 3, "int8", dict(add_source_bos=True, add_source_eos=True, bos_token="der", decoder_start_token="der")),
    "v2-float32": (dict(source=opennmt(others) + ["<unk>"], target=marian, pre_norm=True, final=False, scale=False, layers=(1, 2)), 2, None, dict(add_source_eos=True, decoder_start_token="</s>")),
    "v6-rms": (dict(source=hf, target=hf, rms=True, pre_norm=True), 6, None, dict(layer_norm_epsilon=1e-4)),
}
expected = {}
for seed, (name, (arguments, version, quantization, settings)) in enumerate(cases.items()):
    spec = model(seed, **arguments)
    for key, value in settings.items():
        setattr(spec.config, key, value)
    folder = os.path.join(HERE, "ctranslate2-" + name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    save(spec, folder, version, quantization)
    random = np.random.default_rng(seed)
    pick = lambda list: [list[i] for i in random.integers(0, len(list), random.integers(1, 7))]
    text = lambda tokens: [t for t in tokens if not t.startswith("<")]
    sources = [pick(text(arguments["source"])) for _ in range(6)]
    sources.append(sources[0][:1] + ["unknown"] + sources[0])
    targets = [pick(text(arguments["target"])) for _ in range(7)]
    expected[name] = compute(folder, sources, targets)

# SentencePiece beside a model whose vocabulary has another order, lacks some of its pieces, and has
# others, as those of OpenNMT-py.
lines = ["Ein Hund läuft und eine Katze schläft .", "Der kleine Hund schläft .", "Zwei Katzen laufen .", "Ein Kind spielt mit dem Hund ."] * 3
for kind in ("unigram", "bpe"):
    name = "spm-" + kind
    folder = os.path.join(HERE, "ctranslate2-" + name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_prefix=os.path.join(folder, "sentencepiece"), model_type=kind, vocab_size=36,
        normalization_rule_name="identity", minloglevel=2)
    os.remove(os.path.join(folder, "sentencepiece.vocab"))
    sp = sentencepiece.SentencePieceProcessor(model_file=os.path.join(folder, "sentencepiece.model"))
    pieces = [sp.id_to_piece(i) for i in range(3, sp.get_piece_size())]
    missing = pieces[5::7]
    tokens = ["<unk>", "<s>", "</s>"] + sorted(p for p in pieces if p not in missing)[::-1] + ["▁extra", "er▁"]
    spec = model(50, source=tokens, target=tokens, layers=(1, 1), pre_norm=True)
    save(spec, folder, 6)
    texts = ["Der Hund schläft .", "Eine Katze spielt mit dem Kind", "  xyz Ein  ", "Hunde", "Zwei kleine Kinder laufen und spielen ."]
    sources = [sp.encode(text, out_type=str) for text in texts]
    expected[name] = compute(folder, sources, [s[:6] for s in sources])
    expected[name]["texts"] = texts
    for list in expected[name]["results"].values():
        for r in list:
            r["text"] = sp.decode_pieces(r["tokens"])

with open(os.path.join(HERE, "ctranslate2-expected.json"), "w", encoding="utf-8") as f:
    json.dump(expected, f, ensure_ascii=False, indent=1)
    f.write("\n")
