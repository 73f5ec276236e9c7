# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Programs for DOCA: the host's on x86-64, the DPU's on arm64, as they are

machines='host dpu'
examples=/lab/build/examples
programs=(examples/doca_ctrl_path/doca_ctrl_path_host examples/doca_ctrl_path/doca_ctrl_path_dpu
	examples/doca_data_path/doca_data_path_host examples/doca_data_path/doca_data_path_dpu
	examples/doca_comm_channel/cc_server examples/doca_comm_channel/cc_client)
cases=(control data comm_channel)
quick=(control)

# both HOST_COMMAND DPU_COMMAND
both() {
	local dpu
	dpu=$(vm_begin dpu "$examples/$2")
	vm_rdma_listens dpu 30
	vm_run host 60 "$examples/$1"
	vm_end dpu "$dpu" 30
	cat "$(vm_output dpu "$dpu")"
}

case_control() {
	both 'doca_ctrl_path/doca_ctrl_path_host -p b1:00.0 --text hello --count 3' \
		'doca_ctrl_path/doca_ctrl_path_dpu -p 03:00.0 -r b1:00.0'
}

case_data() {
	both 'doca_data_path/doca_data_path_host -p b1:00.0 --size 4 --both' \
		'doca_data_path/doca_data_path_dpu -p 03:00.0 -r b1:00.0'
}

case_comm_channel() {
	both 'doca_comm_channel/cc_client -p b1:00.0 -t hello -c 2' \
		'doca_comm_channel/cc_server -p 03:00.0 -r b1:00.0 -t welcome -c 1'
}
