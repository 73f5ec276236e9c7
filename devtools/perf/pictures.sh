#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Draw the pictures of doc/guides/performance.md and of the README: latency over the size, rate
# over the burst, bandwidth over the size, and how latencies are distributed, each with its floor.
# They say when they were made, and on which machine. Use an idle machine with two CPUs.
#
# usage: devtools/perf.sh pictures [--repeat N] [--keep DIR]
#
#   --repeat N  measurements of each point; default 3. A point is their median, and its bar goes
#               from the least to the most
#   --keep DIR  keep the figures, and gnuplot's instructions, in DIR
#
# Writes doc/guides/pictures/*.svg. Look at them before you commit them.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../common.sh
. "$(dirname "$0")/../common.sh"

repeat=3
keep=
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0 ;;
	--repeat)
		repeat=${2:-}
		[[ $repeat =~ ^[1-9][0-9]*$ ]] || die '--repeat: expected a number'
		shift ;;
	--keep)
		keep=${2:-}
		[ -n "$keep" ] || die '--keep: expected a directory'
		shift ;;
	*) die "unknown argument '$1'; --help says more" ;;
	esac
	shift
done

"$top/devtools/setup.sh" build test
configure build --buildtype=release
build_targets app/comch-perf/comch-perf app/comch-perf/comch-perf-floor \
	app/comch-perf/comch-perf-floor-mbuf
own_runtime
keep=${keep:-$RUNTIME_DIRECTORY/pictures}

step 'Measuring (some minutes)'
"$top/build/app/comch-perf/comch-perf" --repeat "$repeat" --plot "$keep"

step 'Copying the pictures to doc/guides/pictures'
mkdir -p "$top/doc/guides/pictures"
for name in data-lat data-lat-histogram ctrl-lat data-rate data-bw; do
	[ -e "$keep/$name.svg" ] || die "comch-perf drew no $name.svg"
	# The licence, and no line ends with a space.
	sed -e '1a<!-- SPDX-License-Identifier: BSD-3-Clause -->' -e 's/[[:space:]]*$//' \
		"$keep/$name.svg" >"$top/doc/guides/pictures/$name.svg"
	printf '%s\n' "doc/guides/pictures/$name.svg"
done
