#!/usr/bin/env bash
# Trains the preset tiny in tfm and in PyTorch from the same initial weights on the same batches,
# without dropout, and prints the differences of their losses.
#
#	train/peers/curve.sh SRC TGT DIR [flags of curve.go]
#
# SRC and TGT are text files, gzipped or not; DIR receives the output. The environment variable
# PYTHON is a Python with torch, numpy and safetensors (default python3), THREADS the number of
# threads (default 1).
#
# PyTorch runs in float32 and in float64, to show how much of the difference is rounding: at the
# preset's learning rate, PyTorch's own two curves differ as much after 150 steps (1.5e-3) as each
# differs from tfm's. The paper's learning rate is -lr 1.4e-3 -set warmup=4000. The logs are in DIR/tfm,
# DIR/pytorch-float32 and DIR/pytorch-float64, in the format of `tfm train`.
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
