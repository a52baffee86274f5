#!/bin/sh
# Writes marian-new-post and marian-new-pre with Marian 1.12: models of type transformer-new with
# learned positions, trained to reverse words, and their n-best lists. The pieces are those of
# marian-separate/source.spm. Needs the Python package pymarian.
set -eu
cd "$(dirname "$0")"
marian() { python3 -c 'import sys, _pymarian; sys.exit(_pymarian.main(sys.argv[1:]))' "$@"; }
generate() {
  dir=$1
  shift
  rm -rf "$dir" && mkdir "$dir" && cp marian-separate/source.spm "$dir/vocab.spm"
  python3 - "$dir" <<'PY'
import random, sys
words = "be begilu bete bobu bona bu bure dalana dasu deni".split()
r = random.Random(1)
lists = [[r.choice(words) for _ in range(r.randint(2, 5))] for _ in range(400)]
for name, order in (("train.src", 1), ("train.tgt", -1)):
    with open(sys.argv[1] + "/" + name, "w") as f:
        f.writelines(" ".join(l[::order]) + ".\n" for l in lists)
PY
  (
    cd "$dir"
    marian train -m model.npz -t train.src train.tgt -v vocab.spm vocab.spm --type transformer-new --transformer-train-position-embeddings \
      --dim-emb 8 --transformer-dim-ffn 6 --transformer-heads 2 --tied-embeddings-all --max-length 48 --cpu-threads 1 --mini-batch 16 -w 200 \
      --learn-rate 0.02 --label-smoothing 0.1 --transformer-dropout 0.05 --valid-freq 10000u --overwrite --seed 5 --after 40e "$@"
    head -8 train.src > source.txt
    for beam in 1 3; do
      marian decode -m model.npz -v vocab.spm vocab.spm -i source.txt --cpu-threads 1 -b $beam --n-best --normalize 0.6 --max-length 48 \
        --max-length-factor 1.5 --quiet-translation -w 200 --mini-batch 1 --maxi-batch 1 > expected.beam$beam.txt
    done
    rm -f train.* model.npz.optimizer.npz model.npz.progress.yml model.npz.yml
    printf 'vocabs:\n  - vocab.spm\n  - vocab.spm\nbeam-size: 3\nnormalize: 0.6\nmax-length-factor: 1.5\n' > model.npz.decoder.yml
  )
}
generate marian-new-post --enc-depth 1 --dec-depth 1
generate marian-new-pre --enc-depth 1 --dec-depth 2 --transformer-preprocess n --transformer-postprocess da --transformer-postprocess-top n
