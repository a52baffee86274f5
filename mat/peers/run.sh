#!/usr/bin/env bash
# Measures the matrix products of mat, oneDNN, BLIS, OpenBLAS and gonum on one machine in one run,
# and prints the tables of mat/README.md. Usage, from any folder:
#
#	mat/peers/run.sh [THREADS [ROUNDS [SECONDS]]]    (default: 1 3 0.2)
#
# The speed of a machine drifts, so all programs measure each shape one after another, in several
# rounds. Prefix the command with "taskset -c 1" to keep one thread on one core. RAW=FILE stores
# every figure in FILE.
#
# Requires Go, and gcc with Debian's libdnnl-dev, libblis-dev, libopenblas-dev and
# libopenblas0-pthread; missing libraries are omitted. gonum is downloaded through the Go module
# proxy into a separate module.
set -euo pipefail
threads=${1:-1} rounds=${2:-3} seconds=${3:-0.2}
here=$(cd "$(dirname "$0")" && pwd)
processors=$(nproc) # before OMP_NUM_THREADS is set, which nproc obeys
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT

say() { echo "$*" >&2; }

# The programs to compare, and a line about each.
programs=() about=()
add() { programs+=("$1") about+=("$2"); }

# measure PROGRAM M N K TRANSB prints GFLOP/s and, for mat, the peak GFLOP/s.
measure() {
	local program=$1
	shift
	case $program in
	mat-*-packed) TFM_CPU=$(cut -d- -f2 <<<"$program") "$bin/ours" "$@" "$seconds" "$threads" packed ;;
	mat-*) TFM_CPU=${program#mat-} "$bin/ours" "$@" "$seconds" "$threads" ;;
	*) "$bin/$program" "$@" "$seconds" ;;
	esac </dev/null
}

(cd "$here" && go build -o "$bin/ours" ours.go)
for kernel in avx512 avx2 neon generic; do
	[ $kernel != generic ] || [ ${#programs[@]} = 0 ] || break
	if line=$(TFM_CPU=$kernel "$bin/ours" 2>/dev/null); then
		add mat-$kernel "mat, $line"
	fi
done
add "${programs[0]}-packed" "${programs[0]}-packed: B packed in advance by \`Pack\`, as weights can be; the libraries have no equivalent in this test"

export OMP_NUM_THREADS=$threads BLIS_NUM_THREADS=$threads OPENBLAS_NUM_THREADS=$threads GOMAXPROCS=$threads
multiarch=$(gcc -print-multiarch)

# peer NAME INCLUDE LIBRARY [VARIABLE VALUE...] builds a program. It sets VARIABLE, which selects
# the library's kernels, to the fastest VALUE unless the default is faster, because a library that
# does not know the processor selects kernels far below its best.
peer() {
	local name=$1 variable=${4:-} best rate chosen= value
	if ! gcc -O2 "-DPEER_$1" -I"$2" "$here/peer.c" "$3" -lm -o "$bin/$1" 2>"$bin/gcc.log"; then
		say "$1 is omitted: $(grep -m 1 error "$bin/gcc.log" || head -n 1 "$bin/gcc.log")"
		return
	fi
	best=$(measure "$name" 768 768 768 0)
	for value in "${@:5}" "${@:5}"; do # twice, in case of a disturbance
		# unsupported kernels end with an illegal instruction, unknown ones with a message
		rate=$(export "$variable=$value" && measure "$name" 768 768 768 0 2>/dev/null) || continue
		if awk "BEGIN { exit !($rate > 1.03*$best) }"; then
			best=$rate chosen=$value
		fi
	done
	[ -z "$chosen" ] || export "$variable=$chosen"
	add "$name" "$("$bin/$name"), ${chosen:+selected by $variable=$chosen, which is faster than }its default"
}
peer oneDNN "/usr/include/$multiarch" -ldnnl
peer BLIS "/usr/include/$multiarch/blis-openmp" "/usr/lib/$multiarch/blis-openmp/libblis.so.4" BLIS_ARCH_TYPE {0..30}
peer OpenBLAS "/usr/include/$multiarch/openblas-pthread" "/usr/lib/$multiarch/openblas-pthread/libopenblas.so.0" \
	OPENBLAS_CORETYPE $([ "$(uname -m)" = x86_64 ] && echo Haswell Zen SkylakeX Cooperlake || echo NEOVERSEN1 NEOVERSEV1 NEOVERSEN2)

mkdir "$bin/module"
sed '/^\/\/go:build ignore$/d' "$here/gonum.go" >"$bin/module/main.go"
if (cd "$bin/module" && go mod init gonumpeer && go get gonum.org/v1/gonum@v0.17.0 && go mod tidy && go build -o ../gonum) 2>"$bin/go.log"; then
	add gonum "$("$bin/gonum" | head -n 1)"
else
	say "gonum is omitted: $(tail -n 1 "$bin/go.log")"
fi

shapes="512 512 512
1024 1024 1024
1024 512 512
1024 2048 512
1024 512 2048
4096 512 512
1024 8000 512
512 2048 4096
4096 128 128
4096 256 128
4096 128 256
64 64 64
32 32 64
128 128 64
1 512 512
1 2048 512
1 512 2048
1 32000 512
4 512 512
8 2048 512
32 512 512
128 32000 512"
for round in $(seq "$rounds"); do
	say "round $round of $rounds, $SECONDS s so far"
	while read -r shape; do
		for transB in 0 1; do
			for program in "${programs[@]}"; do
				echo "$program $shape $transB $(measure "$program" $shape $transB)"
			done
		done
	done <<<"$shapes"
done >"$bin/measured"
[ -z "${RAW:-}" ] || cp "$bin/measured" "$RAW"

echo "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1), $processors processor(s) available, $(uname -sm), $(date +%F);"
echo "$threads thread(s), $rounds rounds of $seconds s for each figure."
echo
printf -- '- %s\n' "${about[@]}"
echo
awk -v order="${programs[*]}" -f "$here/table.awk" "$bin/measured"
