"""Measures an imported Marian model of the paper's base size beside CTranslate2's conversion of the
same folder.

Usage: marian_speed.py DIR --text FILE --tfm TFM [--pieces 8000] [--lines 64] [--rounds 5]

MarianMTModel gets random weights and SentencePiece vocabularies of the text, and a bias that makes
EOS improbable, so that all translations have the same length. 'tfm import' and CTranslate2's own
converter read the folder. For every combination of type, threads, beam and sentences at a time the
systems take turns; the figures are medians. Requires torch, transformers, sentencepiece and
ctranslate2.
"""

import argparse
import itertools
import json
import pathlib
import statistics
import subprocess
import time

LENGTH = 32  # tokens of a translation


def make(folder, text, pieces):
    import sentencepiece
    import torch
    from transformers import GenerationConfig, MarianConfig, MarianMTModel, MarianTokenizer

    folder.mkdir(parents=True)
    prefix = folder / "joint"
    sentencepiece.SentencePieceTrainer.train(input=str(text), model_prefix=str(prefix), vocab_size=pieces, bos_id=-1, eos_id=0, unk_id=1, hard_vocab_limit=False)
    spm = sentencepiece.SentencePieceProcessor(model_file=f"{prefix}.model")
    names = [spm.id_to_piece(i) for i in range(spm.get_piece_size())] + ["<pad>"]
    vocab = folder / "names.json"
    vocab.write_text(json.dumps({p: i for i, p in enumerate(names)}), encoding="utf-8")
    tokenizer = MarianTokenizer(source_spm=f"{prefix}.model", target_spm=f"{prefix}.model", vocab=str(vocab))
    pad = len(names) - 1
    torch.manual_seed(1)
    model = MarianMTModel(MarianConfig(
        vocab_size=len(names), d_model=512, encoder_layers=6, decoder_layers=6, encoder_attention_heads=8, decoder_attention_heads=8, encoder_ffn_dim=2048,
        decoder_ffn_dim=2048, max_position_embeddings=512, activation_function="swish", scale_embedding=True, pad_token_id=pad, decoder_start_token_id=pad, eos_token_id=0, forced_eos_token_id=None))
    model.final_logits_bias[0, 0] = -1e9
    model.generation_config = GenerationConfig(pad_token_id=pad, decoder_start_token_id=pad, eos_token_id=0, bad_words_ids=[[pad]], num_beams=4, max_length=512)
    out = folder / "hf"
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--text", type=pathlib.Path, required=True)
    p.add_argument("--tfm", type=pathlib.Path, required=True)
    p.add_argument("--pieces", type=int, default=8000)
    p.add_argument("--lines", type=int, default=64)
    p.add_argument("--rounds", type=int, default=5)
    args = p.parse_args()
    hf = args.folder / "hf"
    if not hf.exists():
        hf = make(args.folder, args.text, args.pieces)
    model, rounded, converted = args.folder / "tfm.safetensors", args.folder / "int8.safetensors", args.folder / "ct2"
    if not model.exists():
        subprocess.run([args.tfm, "import", "-o", model, hf], check=True)
        subprocess.run([args.tfm, "quantize", "-o", rounded, model], check=True)
    import ctranslate2
    import transformers

    if not converted.exists():
        ctranslate2.converters.TransformersConverter(str(hf)).convert(str(converted))
    lines = [s for s in args.text.read_text(encoding="utf-8").splitlines() if s.strip()][: args.lines]
    source = args.folder / "source.txt"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    tokenizer = transformers.MarianTokenizer.from_pretrained(hf)
    tokens = [tokenizer.convert_ids_to_tokens(tokenizer(s).input_ids) for s in lines]

    def tfm(kind, threads, beam, batch):
        command = [args.tfm, "translate", "-model", rounded if kind == "int8" else model, "-threads", str(threads), "-beam", str(beam), "-set", f"batch={str(batch)}"]
        limits = ["-set", "max-extra=1000", "-set", f"max-tokens={str(LENGTH - 1)}"]
        start = time.perf_counter()
        subprocess.run(command + limits + [source], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return time.perf_counter() - start  # with loading

    def ct2(kind, threads, beam, batch):
        translator = ctranslate2.Translator(str(converted), compute_type=kind, intra_threads=threads, inter_threads=1)
        start = time.perf_counter()
        translator.translate_batch(tokens, beam_size=beam, max_batch_size=batch, max_decoding_length=LENGTH, min_decoding_length=LENGTH)
        return time.perf_counter() - start  # without loading

    print("type threads beam batch: tokens/s of tfm (with loading), of CTranslate2 (without), ratio")
    for cell in itertools.product(["float32", "int8"], [1, 2], [1, 4], [1, 32]):
        times = {tfm: [], ct2: []}
        for _ in range(args.rounds):
            for system in times:
                times[system].append(system(*cell))
        rate = {system: len(lines) * LENGTH / statistics.median(t) for system, t in times.items()}
        print(*cell, f"{rate[tfm]:.0f} {rate[ct2]:.0f} {rate[tfm] / rate[ct2]:.2f}", flush=True)


if __name__ == "__main__":
    main()
