#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# usage: build_device_code.sh TOOLS ARCHIVE SOURCE...
#
# As build scripts for a card are: with all that they usually say.

set -e

DOCA_TOOLS=$1
ARCHIVE=$2
shift 2

HOST_CC_FLAGS="-Wno-deprecated-declarations -Werror -Wall -Wextra -DFLEXIO_ALLOW_EXPERIMENTAL_API"
DEVICE_CC_FLAGS="-Wno-deprecated-declarations -Werror -Wall -Wextra -DFLEXIO_DEV_ALLOW_EXPERIMENTAL_API"
DEVICE_CC_EXTRA_FLAGS="-ffreestanding,-mcmodel=medany,-ggdb,-O2,-DE_MODE_LE"

"$DOCA_TOOLS/dpa-app-attributes2blob" "$(dirname "$0")/device/upper_attributes.yaml" "$ARCHIVE.blob"

"$DOCA_TOOLS/dpacc" \
	-flto \
	"$@" \
	-o "$ARCHIVE" \
	-mcpu=nv-dpa-bf3,nv-dpa-cx7,nv-dpa-cx8 \
	-hostcc="${CC:-gcc}" \
	-hostcc-options="$HOST_CC_FLAGS" \
	--devicecc-options="$DEVICE_CC_FLAGS, $DEVICE_CC_EXTRA_FLAGS, -MMD -MF $ARCHIVE.d -MT $ARCHIVE" \
	-device-libs="-L/opt/mellanox/doca/lib/x86_64-linux-gnu -ldoca_dpa_dev -ldoca_dpa_dev_comm" \
	--app-name="upper_app" \
	-disable-asm-checks \
	-I/opt/mellanox/doca/include \
	-I "$(dirname "$0")" \
	--keep-dir "$ARCHIVE.keep" \
	--dpa-proc-attr="$ARCHIVE.blob"
