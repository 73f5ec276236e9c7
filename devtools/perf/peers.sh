#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Compare this channel with others between two processes: net_memif, vhost, UCX, libfabric, a
# ring of Concurrency Kit and Unix sockets. Measures by turns on the same two CPUs, each with a
# floor before and after, and prints one table of ratios. Use an idle machine.
#
# usage: devtools/perf.sh peers [--rounds N] [--attempts N] [--cpus A,B] [--format text|json]
#                               [--install] [PEER...]
#        devtools/perf.sh peers --list [PEER...]
#
#   PEER          memif, vhost, ucx, libfabric, ck or unix; by default all of them
#   --rounds N    measurements of each row; default 3. The table has their medians
#   --attempts N  a measurement is repeated while the machine is unstable, up to N times in
#                 all; default 5
#   --cpus A,B    CPUs of the sender and of the receiver; default 0,1
#   --format json one JSON object per row
#   --install     install the programs of the peers first (devtools/setup.sh peers)
#   --list        list the rows, and which peers are absent
#
#   latency    one way: half of the median round trip of one message; both sides poll
#   wake-up    the same; both sides sleep
#   rate       messages per second from one side to the other
#   bandwidth  bytes per second from one side to the other
#
# doc/guides/tools.md says what each row compares, and what it does not.
#
# A measurement is unstable if the floors before and after differ by more than 15 %, if those of
# the peer and of comch differ by more than a factor of 1.3, or if other programs had a CPU for
# more than 10 % of the time. Such measurements count only if a row has no others.
#
# net_comch, the Ethernet port on this channel, is compared with net_memif under dpdk-testpmd, if
# it was built (devtools/build-pmd.sh).
#
# A peer that is not installed is listed as absent. The last line is "N passed, N failed, N
# skipped" (to standard error with --format json). The exit status is 1 if a program failed;
# the figures do not affect it.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../common.sh
. "$(dirname "$0")/../common.sh"

peers=()
install=false
list=false
rounds=3
attempts=5
cpus=0,1
format=text
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0 ;;
	--rounds)
		rounds=${2:-}
		[[ $rounds =~ ^[1-9][0-9]*$ ]] || die '--rounds: expected a number'
		shift ;;
	--attempts)
		attempts=${2:-}
		[[ $attempts =~ ^[1-9][0-9]*$ ]] || die '--attempts: expected a number'
		shift ;;
	--cpus)
		cpus=${2:-}
		[[ $cpus =~ ^[0-9]+,[0-9]+$ && ${cpus%,*} != "${cpus#*,}" ]] ||
			die '--cpus: expected A,B, two CPUs'
		shift ;;
	--format)
		format=${2:-}
		[[ $format =~ ^(text|json)$ ]] || die '--format: expected text or json'
		shift ;;
	--install) install=true ;;
	--list) list=true ;;
	memif | vhost | ucx | libfabric | ck | unix) peers+=("$1") ;;
	*) die "unknown argument '$1'; see --help" ;;
	esac
	shift
done
options=(--rounds "$rounds" --attempts "$attempts" --cpus "$cpus" --format "$format")

if $list; then
	exec python3 "$top/devtools/perf/peers.py" --list "${peers[@]}"
fi
# Only the report goes to standard output.
{
	"$top/devtools/setup.sh" build
	if $install; then
		"$top/devtools/setup.sh" peers
	fi
	targets=(app/comch-perf/comch-perf app/comch-perf/comch-perf-floor
		app/comch-perf/comch-perf-floor-mbuf)
	if [ -e "$top/build/drivers/net/comch" ]; then
		targets+=(drivers/net/comch/librte_net_comch.so)
	fi
	build_targets "${targets[@]}"
	own_runtime
	perf=$top/app/comch-perf
	read -ra flags < <(pkg-config --cflags libdpdk)
	quietly cc -O2 -Wall -Wextra "${flags[@]}" -I "$perf" \
		-o "$RUNTIME_DIRECTORY/perf_peers_bare" "$top"/devtools/perf/bare*.c \
		"$perf/base/clock.c" "$perf/base/hist.c"
} >&2
# In the background, because bash handles signals only between commands.
python3 "$top/devtools/perf/peers.py" "${options[@]}" "${peers[@]}" &
measuring=$!
trap 'kill "$measuring"; wait "$measuring" || true; exit 130' INT
trap 'kill "$measuring"; wait "$measuring" || true; exit 143' TERM
wait "$measuring"
