#!/bin/sh
# shellcheck disable=SC2154 # from the kernel's command line
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Runs in a virtual machine of lab.sh: brings up Soft-RoCE, then takes orders from a virtio
# port, one a line:
#
#   run ID          run the script box/ID.cmd in the background; its output goes to
#                   box/ID.out, its exit status to box/ID.rc
#   kill SIGNAL ID  send a signal to its process group
#   off             power off

box=/lab/box
netdev=${LAB_netdev:-lo}

export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${LAB_term:-dumb}"
export XDG_RUNTIME_DIR=/run COMCH_DEVICES=$box/devices.ini
ip link set lo up
if [ "$netdev" != lo ]; then
	ip addr add "$LAB_ip/24" dev "$netdev"
	ip link set "$netdev" up
fi
rdma link add rxe0 type rxe netdev "$netdev" || echo "lab: no Soft-RoCE over $netdev"
hostname "$LAB_name"

# answer ID: the exit status appears at once, not byte by byte.
answer() {
	cat >"$box/$1.rc.new"
	mv "$box/$1.rc.new" "$box/$1.rc"
}

# run ID: setsid makes the process the leader of a group with its own number.
run() {
	# shellcheck disable=SC2016 # for the inner shell
	setsid sh -c 'echo $$ >"$0.pid"; exec sh "$0.cmd"' "$box/$1" \
		>"$box/$1.out" 2>&1 </dev/null
	echo $? | answer "$1"
}

for name in /sys/class/virtio-ports/*/name; do
	[ "$(cat "$name" 2>/dev/null)" != lab ] || port=$(basename "$(dirname "$name")")
done
cd /root || exit
: >"$box/ready"
if [ -n "$LAB_shell" ]; then
	stty sane </dev/hvc0
	# A session of its own, so that the terminal controls its jobs.
	setsid -c sh -i </dev/hvc0 >/dev/hvc0 2>&1
	exit 0
fi
while read -r order what id; do
	case $order in
	run)
		run "$what" & ;;
	kill)
		kill -s "$what" -- "-$(cat "$box/$id.pid")" ;;
	off)
		break ;;
	esac
done <"/dev/${port:?no port for orders}"
