#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Run all checks of the sources. None of them needs a build.
#
# usage: devtools/check-all.sh [CHECK...]
#
# CHECK is a name without "check-" and suffix, as "style". The last line is
# "N passed, N failed, N skipped"; the exit status is 0 if nothing failed.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

checks=(
	check-spdx.sh       # each file says its licence
	check-style.sh      # what a machine can see of the C style
	check-scripts.sh    # shellcheck and Python and spelling
	check-layering.py   # who may include what
	check-peer-reads.py # memory of a peer is read by comch_peer.h only
	check-symbols.py    # what is declared is exported
	check-docs.sh       # documentation without warnings and dead paths
	check-checks.sh     # the checks find what they are for
)

case ${1:-} in
-h | --help)
	usage
	exit 0 ;;
esac

[ -n "$(project_files README.md)" ] || die "not a git repository: no list of files"

passed=0
failed=0
for check in "${checks[@]}"; do
	name=${check#check-}
	[ $# -eq 0 ] || [[ " $* " == *" ${name%.*} "* ]] || continue
	if output=$("$top/devtools/$check" 2>&1); then
		printf 'ok      %s\n' "$check"
		passed=$((passed + 1))
	else
		printf 'FAILED  %s\n%s\n' "$check" "$output"
		failed=$((failed + 1))
	fi
done
[ $((passed + failed)) -gt 0 ] || die "no such check: $*"
printf '\n%d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
