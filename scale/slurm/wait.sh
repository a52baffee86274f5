#!/bin/sh
# Waits for the end of all jobs of a name:
#
#   wait.sh NAME
#
# It releases those that Slurm holds because a node failed while it started them. While the
# controller does not answer, it waits.
while ! list=$(squeue -h -r -n "$1" -o '%i %r' 2>/dev/null) || [ -n "$list" ]; do
	for job in $(echo "$list" | sed -n 's/ .*requeued held.*//p'); do scontrol release "$job" || true; done
	sleep 2
done
