#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Run all checks of the sources. None of them needs a build.
#
# usage: devtools/check-all.sh [CHECK...]
#
# That each check finds a planted violation is tested by devtools/check-checks.sh.
#
# CHECK is a name without "check-" and suffix, such as "style". The last line is
# "N passed, N failed, N skipped"; the exit status is 0 if nothing failed.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

checks=(
	check-spdx.sh       # each file has its licence
	check-style.sh      # C style
	check-scripts.sh    # shell and Python scripts; spelling everywhere
	check-layering.py   # allowed includes
	check-peer-reads.py # peer memory is read through comch_peer.h only
	check-barriers.py   # each barrier names its place in a model
	check-symbols.py    # declared functions are exported
	check-promises.py   # promises of security.md name tests that exist
	check-docs.sh       # documentation without warnings and dead paths
)

case ${1:-} in
-h | --help)
	usage
	exit 0 ;;
esac

[ -n "$(project_files README.md)" ] || die "not a git repository: no list of files"

chosen=()
for check in "${checks[@]}"; do
	name=${check#check-}
	[ $# -eq 0 ] || [[ " $* " == *" ${name%.*} "* ]] || continue
	chosen+=("$check")
done
[ ${#chosen[@]} -gt 0 ] || die "no such check: $*"

# One for each CPU side by side, the longest first; printed in the order above.
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# shellcheck disable=SC2016 # sh expands it
printf '%s\n' "${chosen[@]}" | tac | xargs -P "$(nproc)" -I CHECK sh -c \
	'"$1/CHECK" >"$2/CHECK" 2>&1 || touch "$2/CHECK.failed"' sh "$top/devtools" "$out"

passed=0
failed=0
for check in "${chosen[@]}"; do
	if [ -e "$out/$check.failed" ]; then
		printf 'FAILED  %s\n' "$check"
		cat "$out/$check"
		failed=$((failed + 1))
	else
		printf 'ok      %s\n' "$check"
		passed=$((passed + 1))
	fi
done
printf '\n%d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
