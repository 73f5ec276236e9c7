#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Set up, build, and run the tests.
#
# usage: devtools/test.sh [BUILD...] [--all] [ARGUMENT...]
#
#   (nothing)    --gcc
#   --gcc        the optimised build of devtools/run.sh, in build/
#   --clang      the same with clang, in build-clang/
#   --asan       with ASan and UBSan, in build-asan/
#   --tsan       with TSan, in build-tsan/
#   --sanitize   --asan --tsan
#   --all        all tests, also those of devtools/nightly.sh, which take hours; with all
#                builds, unless some are named
#
# Without --all or arguments, it runs the tests of the gate, .ci/run: each passes or fails for
# the same reason each time. ASan and TSan build and run a part of them only, the suites
# gate-asan and gate-tsan. A test that fails is run again, as devtools/run_tests.py says.
#
# Further arguments go to "meson test", and choose from all tests: --suite random, the name of
# a test, --repeat 5. They must follow the options above.
#
# With --all, TSan builds and runs the suite tsan, the tests with several threads in one process,
# because TSan detects nothing else, and the suite once runs with gcc only, because its tests are
# the same in each build. With --all or CI set, a compiler warning is an error.
#
# The end of the output has the duration of each part, then the skipped cases with the
# reasons that the tests gave, then the failed tests ("failed: BUILD: TEST: RESULT") and the
# flaky ones ("FLAKY SUITE/TEST") with the last lines of their output. The last line counts the
# tests of all builds: "N passed, N failed, N skipped"; a test of which only some cases were
# skipped has passed. A failed build counts as one failed test. The exit status is 0 if nothing
# failed.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
touch "$results"/{counts,failed,flaky,skipped,times}

# tests NAME DIR [OPTION...]: build DIR with the options, all of it or what its suite needs, and
# run its tests.
tests() {
	local name=$1 dir=$2 begin=$SECONDS building=(build)
	shift 2
	[ -z "$suite" ] || building=(build_suite "$suite")
	if ! "${building[@]}" "$dir" "$@"; then
		printf '\nfailed: %s: the build\n' "$name" | tee -a "$results/failed" >&2
		echo 0 1 0 >>"$results/counts"
		return
	fi
	took $((SECONDS - begin)) "$name: build" >>"$results/times"
	begin=$SECONDS
	step "Testing: $name"
	"$top/devtools/run_tests.py" "${gate[@]}" "$name" "$top/$dir" "$results" \
		--num-processes "$test_jobs" "${choice[@]}"
	took $((SECONDS - begin)) "$name: tests" >>"$results/times"
}

builds=()
all=false
while :; do
	case ${1:-} in
	-h | --help)
		usage
		exit 0 ;;
	--gcc | --clang | --asan | --tsan) builds+=("${1#--}") ;;
	--sanitize) builds+=(asan tsan) ;;
	--all) all=true ;;
	*) break ;;
	esac
	shift
done
if [ ${#builds[@]} -eq 0 ]; then
	builds=(gcc)
	! $all || builds+=(clang asan tsan)
fi

# choose BUILD ARGUMENT...: which tests to run: sets choice and suite.
choose() {
	local build=$1
	shift
	suite=
	if [ $# -gt 0 ]; then
		choice=(--setup all "$@")
	elif $all; then
		choice=(--setup all)
		case $build in
		clang | asan) choice+=(--no-suite once) ;;
		tsan) suite=tsan ;;
		esac
	else
		choice=()
		case $build in
		clang) choice+=(--no-suite once) ;;
		asan | tsan) suite=gate-$build ;;
		esac
	fi
	[ -z "$suite" ] || choice+=(--suite "$suite")
	# Many times slower, and more so beside others.
	[[ $build == gcc || $build == clang || $suite == gate-* ]] || choice+=(--timeout-multiplier 20)
}

warn_of_place
"$top/devtools/setup.sh" build test
# Without it the tests of net_comch are skipped; CI wants them.
"$top/devtools/build-pmd.sh" --source || {
	status=$?
	[ -z "${CI:-}" ] || exit "$status"
}
gate=()
werror=()
$all || [ $# -gt 0 ] || gate=(--gate)
if $all || [ -n "${CI:-}" ]; then
	werror=(-Dwerror=true)
fi
# A quarter less to compile than with the -O2 of debugoptimized, and the tests take as long.
sanitized=(--buildtype=debugoptimized -Doptimization=1 -Ddebug_checks=true -Db_lundef=false)
for build in "${builds[@]}"; do
	choose "$build" "$@"
	case $build in
	gcc) tests 'gcc' build --buildtype=release "${werror[@]}" ;;
	clang) CC=clang CXX=clang++ tests 'clang' build-clang --buildtype=release "${werror[@]}" ;;
	asan) tests 'ASan and UBSan' build-asan "${sanitized[@]}" -Db_sanitize=address,undefined ;;
	tsan) tests 'TSan' build-tsan "${sanitized[@]}" -Db_sanitize=thread ;;
	esac
done

# section TITLE FILE: print a list of the results, if it has any line.
section() {
	if [ -s "$results/$2" ]; then
		step "$1"
		cat "$results/$2"
	fi
}

section "Durations" times
section "Skipped" skipped
section "Failures" failed
[ ! -s "$results/failed" ] || warn_of_place
section "Flaky: each is to be added to test/flaky.txt, and mended next" flaky
awk '
	{ passed += $1; failed += $2; skipped += $3 }
	END {
		printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped
		exit failed > 0
	}
' "$results/counts"
