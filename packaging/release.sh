#!/usr/bin/env bash
# release.sh VERSION [FOLDER]: builds the files of a release in FOLDER, dist if none is given.
# It needs Go, git and a clean checkout, and no network once 'go mod download' has run. A commit and
# a version give the same bytes on every machine with the same Go. To repeat a release, take the Go
# that 'tfm version -v' prints: GOTOOLCHAIN=go1.26.8 packaging/release.sh 1.2.3
set -euo pipefail
[[ $# -le 2 && ${1:-} =~ ^v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] || { echo "usage: release.sh VERSION [FOLDER], with a VERSION such as 1.2.3 or 1.2.3-rc.1" >&2; exit 2; }
version=${1#v}
folder=$(realpath -m "${2:-$(dirname "$0")/../dist}")
cd "$(dirname "$0")/.."
die() { echo "release.sh: $*" >&2; exit 1; }

[ -z "$(git status --porcelain)" ] || die "the checkout has changed or new files: commit or remove them"
commit=$(git rev-parse HEAD)
tagged=$(git rev-parse --quiet --verify "refs/tags/v$version^{commit}" || true)
[ -z "$tagged" ] || [ "$tagged" = "$commit" ] || die "tag v$version is commit $tagged, but HEAD is $commit"
[ ! -e "$folder" ] || [ -z "$(ls -A "$folder")" ] || die "$folder is not empty"

# The settings of this machine must not change the binaries.
export GOTOOLCHAIN=${GOTOOLCHAIN:-local}
GOCACHE=$(go env GOCACHE) GOMODCACHE=$(go env GOMODCACHE)
export GOCACHE GOMODCACHE GOENV=off GOWORK=off GOPROXY=off GOFLAGS=-mod=readonly
unset GOEXPERIMENT GODEBUG GOFIPS140 GOOS GOARCH GOROOT
go run ./packaging -version "$version" -commit "${commit:0:12}" -date "$(git log -1 --format=%ct)" -o "$folder"
echo "$folder, built with $(go env GOVERSION):"
cat "$folder/SHA256SUMS"
