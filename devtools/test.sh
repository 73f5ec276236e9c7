#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Set up, build, and run the tests.
#
# usage: devtools/test.sh [--sanitize | --all] [ARGUMENT...]
#
#   (nothing)    the optimised build of devtools/run.sh, in build/
#   --sanitize   with ASan and UBSan in build-asan/, with TSan in build-tsan/
#   --all        all of these, and the build with clang in build-clang/; a
#                compiler warning is an error
#
# Further arguments go to "meson test": --suite fast, the name of a test, --repeat 5.
#
# Without arguments, TSan builds and runs only the suite tsan, the tests with several threads in
# one process, because TSan detects nothing else. With --all, the suite once runs with gcc
# only, because its tests are the same in each build.
#
# The end of the output has the duration of each part, then the skipped cases with the
# reasons that the tests gave, then the failed tests ("failed: BUILD: TEST: RESULT") with the
# last lines of their output. The last line counts the tests of all builds: "N passed, N
# failed, N skipped"; a test of which only some cases were skipped has passed. A failed build
# counts as one failed test. The exit status is 0 if nothing failed.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

passed=0
failed=0
skipped=0
report=$(mktemp)
times=$(mktemp)
skips=$(mktemp)
trap 'rm -f "$report" "$times" "$skips"' EXIT
# Most tests spend their time waiting for a peer or a time-out. Tests that measure or
# spin run alone in any case.
jobs=$((2 * $(nproc)))

# count NAME FILE: add up the results in a testlog.json of meson, one object per line.
# Failures also go to the report, and skipped cases to a list, both printed at the end.
count() {
	local p f s
	read -r p f s < <(python3 - "$@" "$report" "$skips" <<-'END'
		import json
		import sys

		name, path, report, skips = sys.argv[1:]


		def skipped(test):
		    """What a test says of its skipped cases; "== CASE" comes before."""
		    case, found = "", []
		    for line in test.get("stdout", "").splitlines():
		        if line.startswith("== "):
		            case = line[3:] + ": "
		        elif line.startswith("skipped: "):
		            found.append(case + line[9:])
		    found += [line[9:] for line in test.get("stderr", "").splitlines()
		              if line.startswith("skipped: ")]
		    if test["result"] == "SKIP" and not found:
		        found = ["no reason given"]
		    return [f"{name}: {test['name'].split(' / ')[-1]}: {text}" for text in found]


		counts = {"passed": 0, "failed": 0, "skipped": 0}
		kinds = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}
		with open(path, encoding="utf-8") as log, open(report, "a", encoding="utf-8") as out:
		    for line in log:
		        test = json.loads(line)
		        kind = kinds.get(test["result"], "failed")
		        counts[kind] += 1
		        with open(skips, "a", encoding="utf-8") as listed:
		            listed.writelines(line + "\n" for line in skipped(test))
		        if kind != "failed":
		            continue
		        print(f"\nfailed: {name}: {test['name']}: {test['result']}", file=out)
		        said = test.get("stdout", "") + test.get("stderr", "")
		        print(*said.splitlines()[-40:], sep="\n", file=out)
		print(*counts.values())
	END
	)
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
}

# tests NAME DIR FACTOR [OPTION...] -- [ARGUMENT...]: build DIR with the options and
# run its tests with the arguments, with all time-outs multiplied by FACTOR.
tests() {
	local name=$1 dir=$2 factor=$3 options=() log begin=$SECONDS
	shift 3
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	# Without arguments, use the defaults of the build.
	[ $# -gt 0 ] || set -- "${defaults[@]}"
	if ! "${builds[@]}" "$dir" "${options[@]}"; then
		printf '\nfailed: %s: the build\n' "$name" | tee -a "$report" >&2
		failed=$((failed + 1))
		return
	fi
	took $((SECONDS - begin)) "$name: build" >>"$times"
	begin=$SECONDS
	step "Testing: $name"
	log=$top/$dir/meson-logs/testlog.json
	rm -f "$log"
	# The log has the results, so ignore the exit status.
	meson test -C "$top/$dir" --no-rebuild --print-errorlogs \
		--num-processes "$jobs" --timeout-multiplier "$factor" "$@" || true
	took $((SECONDS - begin)) "$name: tests" >>"$times"
	if [ -s "$log" ]; then
		count "$name" "$log"
	elif [ "$nb_arguments" -eq 0 ]; then
		printf '\nfailed: %s: no tests were run\n' "$name" | tee -a "$report" >&2
		failed=$((failed + 1))
	fi
}

plain=true
sanitize=false
all=false
case ${1:-} in
-h | --help)
	usage
	exit 0 ;;
--sanitize)
	plain=false
	sanitize=true
	shift ;;
--all)
	sanitize=true
	all=true
	shift ;;
esac

nb_arguments=$#
defaults=()
builds=(build)
warn_of_place
"$top/devtools/setup.sh" build test
# Without it the tests of net_comch are skipped.
"$top/devtools/build-pmd.sh" --source || true
if $all; then
	tests 'gcc' build 1 --buildtype=release -Dwerror=true -- "$@"
	defaults=(--no-suite once)
	CC=clang CXX=clang++ tests 'clang' build-clang 1 --buildtype=release -Dwerror=true -- "$@"
	defaults=()
elif $plain; then
	tests 'gcc' build 1 --buildtype=release -- "$@"
fi
if $sanitize; then
	tests 'ASan and UBSan' build-asan 4 --buildtype=debugoptimized -Ddebug_checks=true \
		-Db_sanitize=address,undefined -Db_lundef=false -- "$@"
	defaults=(--suite tsan)
	[ "$nb_arguments" -gt 0 ] || builds=(build_suite tsan)
	tests 'TSan' build-tsan 4 --buildtype=debugoptimized -Ddebug_checks=true \
		-Db_sanitize=thread -Db_lundef=false -- "$@"
fi

step "Durations"
cat "$times"
if [ -s "$skips" ]; then
	step "Skipped"
	cat "$skips"
fi
if [ -s "$report" ]; then
	step "Failures"
	cat "$report"
	warn_of_place
fi
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
