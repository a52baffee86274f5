#!/bin/sh
# Starts a Slurm cluster of two nodes on this machine, to try the scripts of this folder, and stops it:
#
#   cluster.sh start DIR      prints the 'export SLURM_CONF=…' that the scripts need
#   cluster.sh stop DIR
#
# DIR holds its settings, logs and state. It needs root and Debian's packages slurmctld, slurmd,
# slurm-client and munge, whose service is started if it is not running. Nodes are n1 and n2, with
# as many processors each as this machine has.
set -eu
[ $# -eq 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
case $2 in /*) dir=$2 ;; *) dir=$(pwd)/$2 ;; esac
if [ "$1" = stop ]; then
	for pid in "$dir"/*.pid; do
		kill "$(cat "$pid")" 2>/dev/null || continue
		for _ in $(seq 50); do [ ! -e "$pid" ] || sleep 0.2; done
	done
	exit 0
fi

munge -n >/dev/null 2>&1 || { mkdir -p /run/munge && chown munge: /run/munge && runuser -u munge -- munged; }
mkdir -p "$dir/state" "$dir/n1" "$dir/n2"
cat >"$dir/slurm.conf" <<END
ClusterName=try
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
AuthType=auth/munge
StateSaveLocation=$dir/state
SlurmctldPidFile=$dir/slurmctld.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdSpoolDir=$dir/%n
SlurmdPidFile=$dir/%n.pid
SlurmdLogFile=$dir/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdTimeout=10
SlurmctldTimeout=10
ReturnToService=2
SchedulerParameters=batch_sched_delay=1
NodeName=n1 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=16818 CPUs=$(nproc)
NodeName=n2 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=16819 CPUs=$(nproc)
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$dir/slurm.conf"
slurmctld -f "$SLURM_CONF"
slurmd -f "$SLURM_CONF" -N n1
slurmd -f "$SLURM_CONF" -N n2
for _ in $(seq 60); do
	[ "$(sinfo -h -t idle -o %D 2>/dev/null)" != 2 ] || { echo "ready; now: export SLURM_CONF=$SLURM_CONF"; exit 0; }
	sleep 0.5
done
sinfo >&2
echo "cluster.sh: the nodes are not idle after 30 s; see $dir" >&2
exit 1
