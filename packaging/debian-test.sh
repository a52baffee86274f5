#!/usr/bin/env bash
# debian-test.sh DEB [FLAG...]: installs a package in a new root of Debian 12, checks its manual page
# and its completion, and runs 'tfm demo FLAG...' there. It needs root, mmdebstrap and a mirror.
set -euo pipefail
deb=$(realpath "$1")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mmdebstrap --quiet --variant=apt --include=man-db,bash-completion bookworm "$root" ||
	{ echo "NOT TESTED HERE: mmdebstrap cannot make a root of Debian 12"; exit 0; }
cp "$deb" "$root/tmp/tfm.deb"
unshare --mount bash -c 'mount -t proc proc "$1/proc" && exec chroot "$1" bash -euo pipefail -s -- "${@:2}"' bash "$root" "${@:2}" <<'COMMANDS'
export HOME=/tmp LC_ALL=C.UTF-8
cd /tmp
! command -v tfm
dpkg -i tfm.deb
dpkg --verify tfm
tfm version
man -w tfm tfm-train
man tfm-translate | sed -n 1,4p
source /usr/share/bash-completion/bash_completion
_completion_loader tfm || [ $? = 124 ] # which asks bash to try again
COMP_WORDS=(tfm trans) COMP_CWORD=1
_tfm
[ "${COMPREPLY[*]}" = translate ]
tfm demo "$@"
dpkg -r tfm
[ ! -e /usr/bin/tfm ]
[ ! -e /usr/share/doc/tfm ]
COMMANDS
