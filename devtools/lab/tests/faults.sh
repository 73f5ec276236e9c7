# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# What ends a connection: a killed process, a dead machine, a cut cable; and connecting again

machines='host dpu'
cases=(process_killed_on_dpu process_killed_on_host dpu_dies host_dies cable_out cable_flaps)

# An endless stream of RDMA WRITEs. The sender detects missing acknowledgements itself:
# a timeout of 14 and 3 retries are 0.3 s by the standard, and up to four times that.
# Soft-RoCE treats 7 retries as infinitely many.
stream='ib_write_bw -d rxe0 -x 1 -F -R --retry_count=3 -s 4096 -D 300'
retry_time=20

# stream_begin SENDER: sets sender and receiver to the ids of the commands.
stream_begin() {
	local to ip
	to=$(vm_peer "$1")
	ip=vm_ip_$to
	receiver=$(vm_begin "$to" "$stream")
	vm_rdma_listens "$to"
	sender=$(vm_begin "$1" "$stream ${!ip}")
	vm_moves "$1"
}

# sender_ends NAME: the sender ends with "transport retry counter exceeded".
sender_ends() {
	local status=0
	vm_end "$1" "$sender" "$retry_time" || status=$?
	cat "$(vm_output "$1" "$sender")"
	[ "$status" -ne 0 ]
	[ "$status" -lt 124 ]
	grep -q 'Failed status 12' "$(vm_output "$1" "$sender")"
}

# again: connections can be made.
again() {
	local server
	server=$(vm_begin dpu "rping -s -a $vm_ip_dpu -C 3")
	vm_rdma_listens dpu
	vm_run host "$vm_patience" "rping -c -a $vm_ip_dpu -C 3 -v"
	vm_end dpu "$server"
}

# rping_killed NAME: rdma_cm tells the survivor that the other process is gone.
rping_killed() {
	local ids=() survivor status=0
	local -A rping=()
	survivor=$(vm_peer "$1")
	rping[dpu]=$(vm_begin dpu "rping -s -a $vm_ip_dpu")
	vm_rdma_listens dpu
	rping[host]=$(vm_begin host "rping -c -a $vm_ip_dpu")
	vm_moves host
	vm_end_killed "$1" "${rping[$1]}"
	vm_end "$survivor" "${rping[$survivor]}" "$retry_time" || status=$?
	cat "$(vm_output "$survivor" "${rping[$survivor]}")"
	[ "$status" -lt 124 ]
	again
}

case_process_killed_on_dpu() {
	rping_killed dpu
}

case_process_killed_on_host() {
	rping_killed host
}

case_dpu_dies() {
	stream_begin host
	vm_kill dpu
	sender_ends host
	vm_boot dpu
	again
}

case_host_dies() {
	stream_begin dpu
	vm_kill host
	sender_ends dpu
	vm_boot host
	again
}

case_cable_out() {
	stream_begin host
	vm_link host off
	sender_ends host
	vm_link host on
	vm_end_killed dpu "$receiver"
	again
}

# Shorter than the retries last: the stream goes on.
case_cable_flaps() {
	stream_begin host
	vm_link dpu off
	sleep 0.2
	vm_link dpu on
	vm_moves host
	vm_end_killed host "$sender"
	vm_end_killed dpu "$receiver"
	again
}
