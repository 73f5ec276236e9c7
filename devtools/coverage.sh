#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Measure which lines and branches of lib/ and drivers/ the tests execute.
#
# usage: devtools/coverage.sh [--gate | --all] [--more] [--html DIR] [ARGUMENT...]
#        devtools/coverage.sh --report [--html DIR]
#
#   (nothing)   build with gcc in build-coverage/, run the suites fast, hostile, random, late, delays
#               and agents, and report
#   --gate      run the tests of the gate
#   --all       run all tests but those of the suite compile: the programs that these build cannot
#               link what is instrumented
#   --more      add to the counters of the last run
#   --report    repeat the report of the last run
#   --html DIR  also write each source file with its counters: DIR/index.html
#
# Further arguments go to "meson test" instead of these suites, such as the name of a test.
# devtools/coverage/compare.py compares two runs.
#
# Fails if a test failed or coverage is below the minimum in devtools/coverage/report.py, and
# says what to do.
#
# Counters are written when a process ends by exit() or _exit() (devtools/coverage/exit.c). A
# process that is killed, or ends by abort() or rte_panic(), loses them, and so does a process of
# another user: code that only they execute counts as not covered.
#
# The build has -Ddebug_checks=true, so these checks count too. Branches in DPDK's assertions and
# trace points do not. To exclude lines, write GCOVR_EXCL_LINE, or GCOVR_EXCL_START and
# GCOVR_EXCL_STOP, and the reason after the first; the report lists them.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

dir=build-coverage
tools=$top/devtools/coverage
# Whole functions of other files, such as DPDK's headers and the tests, have no counters.
flags="--coverage -fprofile-update=atomic '-fprofile-filter-files=[.][.]/(lib|drivers)/'"
flags+=" -include '$tools/exit.h'"
# gcov's fork() discards what pthread_atfork() handlers have counted in the child.
flags+=" -fno-builtin-fork"
# Their branches are in DPDK's macros.
branches='.*\b(RTE_VERIFY|RTE_ASSERT|RTE_TRACE_POINT|RTE_TRACE_POINT_FP|RTE_INIT)\('

# run [ARGUMENT...]: build, and run tests with new counters.
run() {
	"$top/devtools/setup.sh" build test coverage
	# Without it the tests of net_comch are skipped.
	"$top/devtools/build-pmd.sh" --source || true
	CC=gcc CXX=g++ CFLAGS=$flags LDFLAGS=--coverage build "$dir" --buildtype=debug \
		-Ddebug_checks=true ||
		die "the build failed"
	gcc -O1 -Wall -Wextra -Werror -D_GNU_SOURCE -shared -fPIC "$tools/exit.c" \
		-o "$top/$dir/coverage_exit.so" || die "devtools/coverage/exit.c does not compile"
	$more || find "$top/$dir" -name '*.gcda' -delete
	step "Testing: meson test $*"
	LD_PRELOAD=$top/$dir/coverage_exit.so meson test -C "$top/$dir" --no-rebuild \
		--print-errorlogs --num-processes "$test_jobs" --timeout-multiplier 4 "$@"
}

# report [OPTION...]: of gcovr, with one thread: with more, it hangs at an error.
report() {
	step "Counting"
	(cd "$top" && quietly gcovr --root . --object-directory "$dir" --filter 'lib/' \
		--filter 'drivers/' --exclude-throw-branches --exclude-unreachable-branches \
		--exclude-branches-by-pattern "$branches" \
		--json "$dir/coverage.json" --json-summary "$dir/coverage-summary.json" \
		"$@" "$dir")
	"$tools/report.py" "$top/$dir/coverage-summary.json" "$top"
}

suite=(--suite fast --suite hostile --suite random --suite late --suite delays --suite agents)
only_report=false
more=false
options=()
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0 ;;
	--all)
		suite=(--setup all --no-suite compile) ;;
	--gate)
		suite=(--setup gate) ;;
	--more)
		more=true ;;
	--report)
		only_report=true ;;
	--html)
		[ $# -gt 1 ] || die "--html: a directory is missing"
		mkdir -p "$2"
		options=(--html-details "$(realpath "$2")/index.html")
		shift ;;
	*)
		break ;;
	esac
	shift
done
[ $# -eq 0 ] || suite=("$@")

status=0
if $only_report; then
	[ -e "$top/$dir/build.ninja" ] || die "$dir does not exist: run without --report first"
else
	run "${suite[@]}" || status=1
fi
report "${options[@]}" || status=1
[ "$status" -eq 0 ] || echo "coverage.sh: a test failed, or too little is covered: see above" >&2
exit "$status"
