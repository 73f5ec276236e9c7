#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Show that the gate's tests give the same verdict each time: run them again and again.
#
# usage: devtools/again.sh [--busy] N
#
#   N        how often
#   --busy   beside one busy loop for each CPU
#
# Builds once, then runs what .ci/run runs with gcc, without forgiving anything. Each run appends
# a line to test/again.txt, to be committed: date, commit of the tree, seconds, result. Commits
# that change only that file are the same tree, so the runs can be continued later.
# The last line is "N passed, N failed, N skipped", of runs.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

busy=()
how=
case ${1:-} in
-h | --help)
	usage
	exit 0 ;;
--busy)
	busy=(--busy)
	how=', busy'
	shift ;;
esac
[[ ${1:-} =~ ^[1-9][0-9]*$ ]] || die "expected how often; see --help"
record=$top/test/again.txt

commit=$(tree_commit)
"$top/devtools/setup.sh" build test
"$top/devtools/build-pmd.sh" --source || true
build_release

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

passed=0
failed=0
for ((i = 0; i < $1; i++)); do
	begin=$SECONDS
	rm -f "$out/counts"
	: >"$out/failed"
	"$top/devtools/run_tests.py" "${busy[@]}" gcc "$top/build" "$out" \
		--num-processes "$test_jobs"
	read -r p f s <"$out/counts"
	if [ "$f" -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
	fi
	{
		printf '%s %s %d s%s: %d passed, %d failed, %d skipped\n' "$(date -u +'%F %H:%M')" \
			"$commit" $((SECONDS - begin)) "$how" "$p" "$f" "$s"
		sed -n 's/^failed: /  &/p' "$out/failed"
	} | tee -a "$record"
done
printf '\n%d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
