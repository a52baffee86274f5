#!/bin/sh
# Joins the shards that the scripts of parallel and slurm have made, after counting their lines:
#
#   join.sh IN OUT SHARDS
#
# The shards are OUT.shards/1 to OUT.shards/SHARDS, with zeros in front, and .gz if OUT ends in it.
# Exit codes: 0 done; 1 wrong numbers of lines; 75 a shard is not done.
set -eu
in=$1 out=$2 n=$3 have=0
case $out in *.gz) gz=.gz ;; *) gz= ;; esac
want=$(wc -l <"$in")
[ -z "$(tail -c 1 "$in")" ] || want=$((want + 1)) # the last line has no line ending
for i in $(seq -w "$n"); do
	lines=$(sed -n 's/^ *"lines_out": \([0-9]*\).*/\1/p' "$out.shards/$i$gz.done" 2>/dev/null) || lines=
	[ -n "$lines" ] || { echo "join.sh: $out.shards/$i$gz is not done; run the same command again" >&2; exit 75; }
	have=$((have + lines))
done
[ "$have" -eq "$want" ] || { echo "join.sh: the shards have $have lines, expected $want as $in has" >&2; exit 1; }
for i in $(seq -w "$n"); do cat "$out.shards/$i$gz"; done >"$out.part"
mv "$out.part" "$out"
