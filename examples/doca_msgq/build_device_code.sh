#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Compile the DPA code into an archive for the host program. To build for a card, set
# DPACC=/opt/mellanox/doca/tools/dpacc.
#
# usage: [DPACC=COMPILER] [CC=COMPILER] build_device_code.sh ARCHIVE

set -eu

dir=$(dirname "$0")
doca=${DOCA_DIR:-/opt/mellanox/doca}

"${DPACC:-comch-dpacc}" "$dir/doca_msgq_dev.c" \
	-o "$1" \
	-mcpu=nv-dpa-bf3 \
	-hostcc="${CC:-gcc}" \
	-hostcc-options="-Wall -Wextra -Werror" \
	--devicecc-options="-Wall -Wextra -Werror -O2 ${DEVICE_CFLAGS:-}" \
	--app-name="doca_msgq_app" \
	-device-libs="-L$doca/lib -ldoca_dpa_dev -ldoca_dpa_dev_comch_msgq" \
	-flto \
	-I"$doca/include"
