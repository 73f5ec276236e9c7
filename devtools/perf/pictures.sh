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
# On a virtual machine the CPUs move: near each other for one point, far apart for the next. A
# picture whose floors say so is measured again, up to 5 times.
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


# is_steady CSV: the floors of a picture are alike: those of copies at each size, others all.
is_steady() {
	awk -F, -v each="$([ "$(basename "$1")" = data-bw.csv ] && echo 1 || echo 0)" '
		NR == 1 && $4 != "floor" { exit }
		NR > 1 {
			key = each ? $2 : 0
			if (!(key in low) || $4 < low[key])
				low[key] = $4
			if (!(key in high) || $4 > high[key])
				high[key] = $4
		}
		END {
			for (key in low)
				if (high[key] > 1.3 * low[key])
					exit 1
		}' "$1"
}

names=(data-lat data-lat-histogram ctrl-lat data-rate data-bw)
mkdir -p "$top/doc/guides/pictures"
for ((run = 1; run <= 5 && ${#names[@]} > 0; run++)); do
	step "Measuring, some minutes (run $run of at most 5): ${names[*]}"
	"$top/build/app/comch-perf/comch-perf" --repeat "$repeat" --plot "$keep"
	again=()
	for name in "${names[@]}"; do
		if ! is_steady "$keep/$name.csv"; then
			printf '%s: the CPUs moved meanwhile: measuring it again\n' "$name"
			again+=("$name")
			continue
		fi
		# The licence, and no line ends with a space.
		sed -e '1a<!-- SPDX-License-Identifier: BSD-3-Clause -->' \
			-e '1a<!-- Copyright(c) 2026 The comch authors -->' -e 's/[[:space:]]*$//' \
			"$keep/$name.svg" >"$top/doc/guides/pictures/$name.svg"
		printf '%s: doc/guides/pictures/%s.svg\n' "$name" "$name"
	done
	names=("${again[@]}")
done
[ ${#names[@]} -eq 0 ] || die "the machine does not keep its pace: no steady ${names[*]}"
