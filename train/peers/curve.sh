#!/usr/bin/env bash
# Trains the preset tiny in tfm and in PyTorch from the same first weights on the same batches, without dropout, and prints how far
# their losses are apart. Usage, from anywhere, with two files of text (gzip or not) and a folder for what comes out:
#
#	train/peers/curve.sh SRC TGT DIR [flags of curve.go]
#
# PYTHON is a Python with torch, numpy and safetensors (python3 unless told), THREADS how many threads all may use (1). PyTorch runs in
# float32, and in float64 to tell what of the difference is rounding's: at the preset's rate PyTorch's own two curves are as far
# apart after 150 steps (1.5e-3) as either is from tfm's. The paper's rate is -lr 1.4e-3 -warmup 4000. The logs are
# DIR/tfm, DIR/pytorch-float32 and DIR/pytorch-float64, as `tfm train` writes them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3} threads=${THREADS:-1}
src=$(realpath "$1") tgt=$(realpath "$2")
mkdir -p "$3"
dir=$(realpath "$3")
shift 3
(cd "$here" && go run curve.go -threads "$threads" "$@" "$src" "$tgt" "$dir")
for dtype in float32 float64; do
	"$python" "$here/curve.py" "$dir" --dtype $dtype --threads "$threads"
done
"$python" "$here/curve.py" "$dir" --compare tfm pytorch-float32
"$python" "$here/curve.py" "$dir" --compare tfm pytorch-float64
"$python" "$here/curve.py" "$dir" --compare pytorch-float32 pytorch-float64
