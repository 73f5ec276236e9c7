# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# What plain verbs reach between the machines: the measure of comch-perf's results there

machines='host dpu'
cases=(send_64 write_64 send_1m write_1m)

# perftest PROGRAM SIZE COUNT: the host sends, the DPU receives.
perftest() {
	local server what="$1 -d rxe0 -x 1 -F -s $2 -n $3"
	server=$(vm_begin dpu "$what")
	vm_listens dpu 18515 10
	vm_run host 60 "$what $vm_ip_dpu"
	vm_end dpu "$server" 10
}

case_send_64() {
	perftest ib_send_bw 64 2000
}

case_write_64() {
	perftest ib_write_bw 64 2000
}

case_send_1m() {
	perftest ib_send_bw 1048576 20
}

case_write_1m() {
	perftest ib_write_bw 1048576 20
}
