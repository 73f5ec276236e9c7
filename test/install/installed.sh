# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# To be sourced by a test with the arguments SOURCE-DIR BUILD-DIR PREFIX LIBDIR ...,
# of which it takes these four: installs into a temporary directory, of which
# $root is the prefix, and lets nothing else be found by variables. If $T_INSTALLED is set,
# comch is installed on this machine, at PREFIX, and there need not be a BUILD-DIR.

# shellcheck disable=SC2034 # used by those that source this
source=$1 build=$2 prefix=$3 libdir=$4
shift 4

# shellcheck source-path=SCRIPTDIR source=tmp.sh
. "$(dirname "${BASH_SOURCE[0]}")/tmp.sh"

unset PKG_CONFIG_PATH LD_LIBRARY_PATH CPATH LIBRARY_PATH
if [ -n "${T_INSTALLED:-}" ]; then
	root=$prefix
else
	root=$tmp/root$prefix
	meson install -C "$build" --no-rebuild --quiet --destdir "$tmp/root"
fi
