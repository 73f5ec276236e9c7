#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Fuzz everything that parses bytes of strangers or of users, with libFuzzer, ASan and UBSan.
#
# usage: devtools/fuzz.sh [SECONDS [TARGET...]]
#
#   SECONDS   for each target (20)
#   TARGET    these only; the directories in test/fuzz/corpus are called as they are
#
# Builds with clang in build-fuzz/. Targets run side by side, one for each CPU, and begin with
# the inputs in test/fuzz/corpus/TARGET and those that earlier runs found, which are in
# build-fuzz/corpus/TARGET.
#
# An input that fails a target is written to build-fuzz/crashes/. To see it again:
#
#   test/isolate.sh build-fuzz/test/fuzz/fuzz-TARGET build-fuzz/crashes/TARGET-...
#
# Once the bug is fixed, add the input to test/fuzz/corpus/TARGET: an ordinary test replays
# these in every build. The last line is "N passed, N failed, N skipped".

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

dir=build-fuzz

# fuzz TARGET SECONDS: run it; its line, and what it printed if it failed.
fuzz() {
	local target=$1 log status=0
	local program=$top/$dir/test/fuzz/fuzz-$target
	log=$top/$dir/crashes/$target.log
	if [ ! -x "$program" ]; then
		printf 'skipped %-12s not built here\n' "$target"
		return
	fi
	mkdir -p "$top/$dir/corpus/$target"
	# A timeout is one input that takes so long: longer than any that waits for threads.
	"$top/test/isolate.sh" "$program" -max_total_time="$2" -max_len=1024 -timeout=60 \
		-print_final_stats=1 -artifact_prefix="$top/$dir/crashes/$target-" \
		"$top/$dir/corpus/$target" "$top/test/fuzz/corpus/$target" \
		>"$log" 2>&1 </dev/null || status=$?
	awk -v target="$target" -v status="$status" '
		match($0, / cov: [0-9]+/) { edges = substr($0, RSTART + 6, RLENGTH - 6) }
		/^stat::number_of_executed_units:/ { runs = $2 }
		/^stat::average_exec_per_sec:/ { rate = $2 }
		/^stat::new_units_added:/ { new = $2 }
		END {
			printf "%-7s %-12s %9d runs, %6d a second, %5d edges, %4d new inputs\n",
				status == 0 ? "ok" : "FAILED", target, runs, rate, edges, new
		}
	' "$log"
	if [ "$status" -ne 0 ]; then
		grep -vE '^#[0-9]+\s+(NEW|REDUCE|pulse|INITED|DONE)' "$log" | tail -n 60
	else
		rm -f "$log"
	fi
}

case ${1:-} in
-h | --help)
	usage
	exit 0 ;;
esac
seconds=${1:-20}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "SECONDS: '$seconds' is not a number"
[ $# -eq 0 ] || shift
mapfile -t targets < <(cd "$top/test/fuzz/corpus" && printf '%s\n' *)
for target; do
	[[ " ${targets[*]} " == *" $target "* ]] || die "unknown target '$target': ${targets[*]}"
done
[ $# -eq 0 ] || targets=("$@")

"$top/devtools/setup.sh" build fuzz
# Without it net_comch is skipped.
"$top/devtools/build-pmd.sh" --source || true
CC=clang CXX=clang++ configure "$dir" --buildtype=debugoptimized -Ddebug_checks=true \
	-Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true ${CI:+-Dwerror=true}
step "Building: ninja -C $dir fuzz"
ninja -C "$top/$dir" fuzz

step "Fuzzing ${#targets[@]} targets for $seconds s each"
mkdir -p "$top/$dir/crashes"
out=$(mktemp)
trap 'rm -f "$out"' EXIT
export top dir
export -f fuzz
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I TARGET \
	bash -euo pipefail -c 'fuzz "$@"' fuzz TARGET "$seconds" | tee "$out"

passed=$(grep -c '^ok ' "$out" || true)
skipped=$(grep -c '^skipped ' "$out" || true)
failed=$((${#targets[@]} - passed - skipped))
if [ "$failed" -gt 0 ]; then
	printf '\nInputs that failed are in %s\n' "$dir/crashes"
fi
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
