#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Measure what the channel is to reach beside the floors of the machine, and say which figures it
# does reach. Use an idle machine with two CPUs.
#
# usage: devtools/perf.sh goals [--repeat N] [--format text|json] [GOAL...]
#        devtools/perf.sh goals --list
#
#   GOAL           a word of the names of the rows, such as latency; default: all
#   --repeat N     measurements of each row; default 5. A figure is their median
#   --format json  one object per row
#   --list         print the goals
#
# Goals depend on where the two CPUs are: far, if a cache line takes more than 200 ns from one to
# the other, or near. Rates have none where the CPUs are near: there, instructions decide
# (devtools/count-instructions.sh), not lines.
#
# The column "core" is what the CPUs did beside the row, as a part of the best in this run. A CPU
# that shares its core with a busy one does less: the row is measured again once it does not, for
# which a run waits up to five minutes, or has no figure. After 25 minutes nothing is measured again.
#
# The exit status is 1 if a program failed; the figures do not affect it.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../common.sh
. "$(dirname "$0")/../common.sh"

options=(--repeat 5)
for argument in "$@"; do
	case $argument in
	-h | --help)
		usage
		exit 0 ;;
	--list) exec python3 "$top/devtools/perf/goals.py" --list ;;
	esac
done
options+=("$@")
# Only the report goes to standard output.
{
	"$top/devtools/setup.sh" build
	build_targets app/comch-perf/comch-perf app/comch-perf/comch-perf-floor \
		app/comch-perf/comch-perf-floor-mbuf app/comch-perf/comch-perf-floor-library
	own_runtime
} >&2
python3 "$top/devtools/perf/goals.py" "${options[@]}"
