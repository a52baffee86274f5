#!/bin/sh
# Makes the rounds of 'tfm plan' with GNU parallel, on this machine or on several over ssh:
#
#   train.sh DIR [option of parallel]...
#   train.sh run --sshlogin 1/node1,1/node2
#
# DIR is the folder of the plan, which all machines see under this path, as they do the corpora;
# each needs tfm. The same command again, after a failure, makes what is missing: finished parts end
# at once. At the end DIR/model.safetensors is the model.
set -eu
[ $# -ge 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
dir=$(cd "$1" && pwd) # because ssh begins in the home folder
shift
setting() { sed -n "s/^$1 = //p" "$dir/plan.conf"; }
workers=$(setting workers) rounds=$(setting rounds)
for round in $(seq "$rounds"); do
	seq 0 $((workers - 1)) | parallel --retries 4 "$@" tfm work "$dir" "$round"
	tfm merge "$dir" "$round"
done
