#!/bin/sh
# Makes the rounds of 'tfm plan' as jobs of Slurm, an array of workers and a merge each:
#
#   train.sh DIR [option of sbatch]...
#   train.sh run --cpus-per-task=16 --time=1:00:00
#
# DIR is the folder of the plan, which all nodes see, as they do the corpora. It submits all rounds
# at once; each waits for the one before. DIR.logs has the output of the tasks. The same command
# again, after a failure, makes what is missing: finished parts end at once. The program (TFM, or
# tfm of PATH) is copied to each node once. At the end DIR/model.safetensors is the model.
set -eu
[ $# -ge 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
dir=$1 after= here=$(dirname "$0") name=tfm-$(hostname)-$$ tfm=${TFM:-$(command -v tfm)}
shift
setting() { sed -n "s/^$1 = //p" "$dir/plan.conf"; }
workers=$(setting workers) rounds=$(setting rounds)
mkdir -p "$dir.logs"
# submit OPTION... TASK: prints the number of a job after the one before
submit() { sbatch --parsable --job-name="$name" --requeue --kill-on-invalid-dep=yes --open-mode=append ${after:+--dependency=afterok:$after} "$@"; }
for round in $(seq "$rounds"); do
	after=$(submit "$@" --array="0-$((workers - 1))" --output="$dir.logs/round-$round-worker-%a.log" "$here/task.sh" "$tfm" work "$dir" "$round" "{#}")
	after=$(submit "$@" --output="$dir.logs/round-$round-merge.log" "$here/task.sh" "$tfm" merge "$dir" "$round")
done
"$here/wait.sh" "$name"
[ -e "$dir/model.safetensors" ] || { echo "train.sh: a task failed; see $dir.logs, and run the same command again" >&2; exit 75; }
