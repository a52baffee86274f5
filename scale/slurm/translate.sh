#!/bin/sh
# Translates a file in shards as a job array of Slurm:
#
#   translate.sh MODEL IN OUT SHARDS [flag of tfm translate]... [-- option of sbatch]...
#   translate.sh en-de.safetensors big.en big.de.gz 64 -int8 -- --cpus-per-task=4 --time=2:00:00
#
# IN is a plain file in a folder that all nodes see. OUT has a line for each of its lines, and is
# gzipped if its name ends in .gz. OUT.shards has the shards and the output of each task. The same
# command again translates only what is missing or has changed. The program (TFM, or tfm of PATH)
# and the model are copied to each node once, to /tmp. A task whose node dies is queued again, and
# one that fails with 75 repeated.
set -eu
[ $# -ge 4 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
model=$1 in=$2 out=$3 n=$4 flags= here=$(dirname "$0")
shift 4
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	flags="$flags $1"
	shift
done
[ $# -eq 0 ] || shift
case $out in *.gz) gz=.gz ;; *) gz= ;; esac
mkdir -p "$out.shards"
name=tfm-$(hostname)-$$
sbatch --array="1-$n" --requeue --open-mode=append --output="$out.shards/%a.log" "$@" --job-name="$name" \
	"$here/task.sh" "${TFM:-$(command -v tfm)}" translate $flags -model "@$model" -shard "{#}/$n" -o "$out.shards/{}$gz" "$in" || exit 75
"$here/wait.sh" "$name"
exec "$here/../join.sh" "$in" "$out" "$n"
