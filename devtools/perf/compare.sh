#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Compare the speed of two revisions: runs their comch-perf by turns, and says for each row
# whether the difference is larger than the noise.
#
# usage: devtools/perf.sh compare [--rounds N] REV [REV] [-- ARGUMENT...]
#
#   REV         any name of a commit; the second one defaults to the working tree as it is
#   --rounds N  pairs of measurements of each row, 5 to 15; default 9
#   ARGUMENT    of comch-perf: tests and options, such as data-rate --size 64,1K. By default
#               the main rows of the fast path and of control messages
#
# A row counts in a round if it is stable in both revisions, and the CPUs were equally far from
# each other. The verdict is faster, slower, or same: same if the median difference is below
# 1 %, or chance could produce it in more than 5 % of all cases (paired permutation test).
#
# Builds in build-compare/, which may be removed. The exit status is 1 if a row is slower.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../common.sh
. "$(dirname "$0")/../common.sh"

rounds=9
revs=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	case $1 in
	-h | --help)
		usage
		exit 0 ;;
	--rounds)
		rounds=${2:-}
		[[ $rounds =~ ^([5-9]|1[0-5])$ ]] || die '--rounds: expected 5 to 15'
		shift ;;
	-*) die "unknown option '$1'; --help says more" ;;
	*) revs+=("$1") ;;
	esac
	shift
done
[ "${1:-}" != -- ] || shift
[ ${#revs[@]} -eq 1 ] || [ ${#revs[@]} -eq 2 ] || die 'expected one or two revisions; see --help'

"$top/devtools/setup.sh" build
programs=()
cd "$top"

# build_perf DIR: build comch-perf of the tree DIR, and remember it.
build_perf() {
	local targets=(app/comch-perf/comch-perf app/comch-perf/comch-perf-floor
		app/comch-perf/comch-perf-floor-mbuf)
	[ -e "$1/build-perf/build.ninja" ] ||
		quietly meson setup --buildtype=release "$1/build-perf" "$1"
	quietly ninja -C "$1/build-perf" "${targets[@]}"
	programs+=("$1/build-perf/app/comch-perf/comch-perf")
}

for rev in "${revs[@]}"; do
	commit=$(git rev-parse --verify --quiet "$rev^{commit}") || die "'$rev' is no commit"
	tree=$top/build-compare/$commit
	step "Building $rev ($commit)"
	if [ ! -e "$tree" ]; then
		mkdir -p "$tree"
		git archive "$commit" | tar -x -C "$tree"
	fi
	build_perf "$tree"
done
if [ ${#revs[@]} -eq 1 ]; then
	step 'Building the working tree'
	build_perf "$top"
	revs+=('working tree')
fi
own_runtime
python3 "$top/devtools/perf/compare.py" "$rounds" "${programs[0]}" "${revs[0]}" \
	"${programs[1]}" "${revs[1]}" "$@"
