#!/bin/sh
# The batch script of translate.sh and train.sh: one task of a job array.
#
#   task.sh TFM ARGUMENT...
#
# It runs TFM with the arguments, where {#} is the number of the task, {} the same with zeros in
# front up to the width of the last one, and @FILE a copy of FILE on the node. TFM is copied too.
# After exit code 75 it runs again, three times here, then from the queue.
set -u
# on_node FILE: prints the name of a copy in TFM_TMP, or /tmp, which it makes unless it is there
on_node() {
	copy=${TFM_TMP:-/tmp}/$(id -un)-$(stat -L -c %i-%s-%Y "$1")-$(basename "$1")
	if [ ! -e "$copy" ]; then
		sbcast -f "$1" "$copy.$SLURM_JOB_ID" || return 1
		ln "$copy.$SLURM_JOB_ID" "$copy" 2>/dev/null # which another task may have made meanwhile
		rm -f "$copy.$SLURM_JOB_ID"
	fi
	echo "$copy"
}
again() {
	[ "${SLURM_RESTART_COUNT:-0}" -ge 10 ] || scontrol requeue "$SLURM_JOB_ID"
	exit 75
}
last=${SLURM_ARRAY_TASK_MAX:-0}
number=${SLURM_ARRAY_TASK_ID:-0} padded=$(printf "%0${#last}d" "${SLURM_ARRAY_TASK_ID:-0}")
tfm=$(on_node "$1") || again
shift
for argument; do
	shift
	case $argument in @*) argument=$(on_node "${argument#@}") || again ;; esac
	set -- "$@" "$(printf %s "$argument" | sed "s,{#},$number,g; s,{},$padded,g")"
done
for attempt in 1 2 3; do
	"$tfm" "$@"
	status=$?
	[ $status = 75 ] || exit $status
	sleep 2
done
again
