# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# To be sourced by a test with the arguments SOURCE-DIR BUILD-DIR PREFIX LIBDIR ...,
# of which it takes these four: installs into a temporary directory, of which
# $root is the prefix, and lets nothing else be found by variables.

# shellcheck disable=SC2034 # used by those that source this
source=$1 build=$2 prefix=$3 libdir=$4
shift 4

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
root=$tmp/root$prefix

fail() {
	echo "$*" >&2
	exit 1
}

meson install -C "$build" --no-rebuild --quiet --destdir "$tmp/root"
unset PKG_CONFIG_PATH LD_LIBRARY_PATH CPATH LIBRARY_PATH
