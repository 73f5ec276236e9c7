#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Measure a port with two dpdk-testpmd, each with one queue and one forwarding core, and print
# the million packets of 64 bytes per second that the server receives, in the best second:
# other load on the machine only lowers it.
#
# usage: devtools/testpmd-rate.sh [--cpus A,B] [--seconds N] PORT FLOW
#
#   memif      net_memif
#   vhost      net_vhost, the server, and net_virtio_user
#   comch      net_comch of build/ (devtools/build-pmd.sh)
#   trust      net_comch with export_eal=1,trust_peer=1: the sender writes into the mbufs
#
#   send       the client sends (txonly), the server receives (rxonly)
#   forward    io to io: 512 packets go back and forth
#
#   --cpus A,B   CPUs of the server and of the client; default 0,1
#   --seconds N  seconds of traffic; default 6
#
# Needs dpdk-testpmd (devtools/setup.sh memif), neither root nor hugepages.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

cpus=0,1
seconds=6
while [[ ${1:-} == -* ]]; do
	case $1 in
	-h | --help)
		usage
		exit 0 ;;
	--cpus)
		cpus=${2:-}
		[[ $cpus =~ ^[0-9]+,[0-9]+$ ]] || die '--cpus: expected A,B'
		shift ;;
	--seconds)
		seconds=${2:-}
		[[ $seconds =~ ^[1-9][0-9]*$ ]] || die '--seconds: expected a number'
		shift ;;
	*) die "unknown option '$1'; see --help" ;;
	esac
	shift
done
[ $# -eq 2 ] || die 'expected PORT FLOW; see --help'
port=$1
case $port in
memif | vhost | comch | trust) ;;
*) die "unknown port '$port'; see --help" ;;
esac
case $2 in
send)
	modes=(rxonly txonly)
	start=start ;;
forward)
	modes=(io io)
	start='start tx_first 16' ;;
*) die "unknown flow '$2'; see --help" ;;
esac
command -v dpdk-testpmd >/dev/null || die 'dpdk-testpmd not found (apt-get install dpdk-dev)'
pmd=$top/build/drivers/net/comch/librte_net_comch.so

own_runtime
dir=$runtime_dir
mkfifo "$dir/prompt"
server=
client=
stop() {
	local pid
	for pid in $client $server; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	server=
	client=
}
trap 'stop; rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# device SIDE: print the EAL arguments for the port, one to a line.
device() {
	local vdev=net_comch0,name=testpmd,dir=$COMCH_DIR
	[ "$port" != trust ] || vdev+=,export_eal=1,trust_peer=1
	case $port-$1 in
	memif-*)
		printf '%s\n' --vdev "net_memif0,role=$1,socket=$dir/memif.sock,socket-abstract=no" ;;
	vhost-server)
		printf '%s\n' --vdev "net_vhost0,iface=$dir/vhost.sock,queues=1" ;;
	vhost-client)
		printf '%s\n' --vdev "net_virtio_user0,path=$dir/vhost.sock,queues=1" ;;
	*-server)
		printf '%s\n' -d "$pmd" --vdev "$vdev,role=dpu,rep=pf0" ;;
	*-client)
		printf '%s\n' -d "$pmd" --vdev "$vdev,role=host,func=pf0" ;;
	esac
}

# testpmd SIDE CPU ARGUMENT...: become one side, with a log that does not lag behind. 64 bytes
# are testpmd's default.
testpmd() {
	local side=$1 cpu=$2 args
	shift 2
	mapfile -t args < <(device "$side")
	exec stdbuf -oL dpdk-testpmd --lcores "0@$cpu,1@$cpu" --no-huge -m 256 --no-pci --no-telemetry \
		--file-prefix "$side" "${args[@]}" -- \
		--total-num-mbufs=16384 "$@" >"$dir/$side.log" 2>&1
}

# prints SIDE TEXT: wait until this side prints TEXT.
prints() {
	local i
	for ((i = 0; i < 300; i++)); do
		! grep -q "$2" "$dir/$1.log" 2>/dev/null || return 0
		sleep 0.1
	done
	fail "the $1 does not start"
}

# fail TEXT: show what both sides said last, and exit.
fail() {
	tail -n 5 "$dir"/*.log >&2
	die "$port: $1"
}

testpmd server "${cpus%,*}" --forward-mode="${modes[0]}" --auto-start --stats-period 1 </dev/null &
server=$!
# Its device has started, and the client can connect.
prints server 'Checking link'
testpmd client "${cpus#*,}" --forward-mode="${modes[1]}" -i <"$dir/prompt" &
client=$!
exec {prompt}>"$dir/prompt"
# The link is up, and the server forwards.
prints client 'testpmd>'
prints server 'Rx-pps:'
echo "$start" >&"$prompt"
sleep "$seconds"
stop
exec {prompt}>&-
awk '/Rx-pps:/ && $2 > best { best = $2 }
	END { if (best == 0) exit 1; print best / 1e6 }' "$dir/server.log" || fail 'no packets arrived'
