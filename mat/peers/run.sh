#!/usr/bin/env bash
# Measures the matrix products of this package, oneDNN, BLIS, OpenBLAS and gonum on one machine in one run, and prints
# the tables of mat/README.md. Usage, from anywhere:
#
#	mat/peers/run.sh [THREADS [ROUNDS [SECONDS]]]    (1, 3 and 0.2 unless told)
#
# The speed of a machine drifts, so all programs measure one shape right after one another, and do so again in every
# round. Put "taskset -c 1" in front to hold one thread to one core. RAW=FILE keeps every figure.
#
# Needs Go, and gcc with Debian's libdnnl-dev, libblis-dev, libopenblas-dev and libopenblas0-pthread; a library that
# is not there is left out. gonum comes through the Go module proxy, into a module outside this one.
set -euo pipefail
threads=${1:-1} rounds=${2:-3} seconds=${3:-0.2}
here=$(cd "$(dirname "$0")" && pwd)
processors=$(nproc) # before OMP_NUM_THREADS, which nproc obeys
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT

say() { echo "$*" >&2; }

# What is compared, and a line about each.
programs=() about=()
add() { programs+=("$1") about+=("$2"); }

# measure PROGRAM M N K TRANSB prints GFLOP/s, and for ours the limit of the machine.
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
add "${programs[0]}-packed" "the same with B packed beforehand (\`Pack\`), as weights may be; libraries are not asked for that"

export OMP_NUM_THREADS=$threads BLIS_NUM_THREADS=$threads OPENBLAS_NUM_THREADS=$threads GOMAXPROCS=$threads
multiarch=$(gcc -print-multiarch)

# peer NAME INCLUDE LIBRARY [VARIABLE VALUE...] builds a program and sets the variable, which tells the library what kernels to
# use, to the value that is fastest, or not at all if that is. Libraries that do not know a processor choose kernels far
# below what it can do, and the point is to meet them at their best.
peer() {
	local name=$1 variable=${4:-} best rate chosen= value
	if ! gcc -O2 "-DPEER_$1" -I"$2" "$here/peer.c" "$3" -lm -o "$bin/$1" 2>"$bin/gcc.log"; then
		say "$1 is left out: $(grep -m 1 error "$bin/gcc.log" || head -n 1 "$bin/gcc.log")"
		return
	fi
	best=$(measure "$name" 768 768 768 0)
	for value in "${@:5}" "${@:5}"; do # twice, for something may disturb
		# Kernels of another processor end with an illegal instruction, and unknown ones with a message.
		rate=$(export "$variable=$value" && measure "$name" 768 768 768 0 2>/dev/null) || continue
		if awk "BEGIN { exit !($rate > 1.03*$best) }"; then
			best=$rate chosen=$value
		fi
	done
	[ -z "$chosen" ] || export "$variable=$chosen"
	add "$name" "$("$bin/$name"), ${chosen:+chosen by $variable=$chosen, which is faster than }its own choice"
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
	say "gonum is left out: $(tail -n 1 "$bin/go.log")"
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

echo "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1), $processors processor(s) to run on, $(uname -sm), $(date +%F);"
echo "threads: $threads, rounds: $rounds of $seconds s for each figure."
echo
printf -- '- %s\n' "${about[@]}"
echo
awk -v order="${programs[*]}" -f "$here/table.awk" "$bin/measured"
