#!/bin/sh
# Translates a file in shards with GNU parallel, on this machine or on several over ssh:
#
#   translate.sh MODEL IN OUT SHARDS [flag of tfm translate]... [-- option of parallel]...
#   translate.sh en-de.safetensors big.en big.de.gz 64 -int8 -- --sshlogin 4/node1,4/node2
#
# IN is a plain file. OUT has a line for each of its lines, and is gzipped if its name ends in .gz.
# OUT.shards has the shards, and joblog, a line an attempt. The same command again translates only
# what is missing or has changed. Each machine needs tfm and rsync; it gets the model and IN, by
# paths from its login folder, and returns the shards. So paths are relative with --sshlogin.
set -eu
[ $# -ge 4 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
model=$1 in=$2 out=$3 n=$4 flags= copy=
shift 4
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	flags="$flags $1"
	shift
done
[ $# -eq 0 ] || shift
case $out in *.gz) gz=.gz ;; *) gz= ;; esac
shards=$out.shards
mkdir -p "$shards"
case " $* " in *" --sshlogin"* | *" -S"* | *" --slf"*)
	copy="--basefile $model --basefile $in --return $shards/{}$gz --return $shards/{}$gz.done --cleanup" ;;
esac

# All may fail here: the records tell which shards are done.
seq -w "$n" | parallel --retries 4 --joblog "$shards/joblog" $copy "$@" mkdir -p "$shards" '&&' \
	tfm translate $flags -model "$model" -shard "{= \$_ += 0 =}/$n" -o "$shards/{}$gz" "$in" || true
"$(dirname "$0")/../join.sh" "$in" "$out" "$n"
