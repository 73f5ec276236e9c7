#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Run devtools/run.sh and devtools/test.sh like a new user: in a fresh Debian base system,
# with a clean clone of this repository.
#
# usage: devtools/try-chroot.sh [--tree] [--release NAME] [--mirror URL] [COMMAND...]
#
#   --tree     use the files of the work tree instead of the last commit
#   --release  Debian release: bookworm (12, with DPDK 22.11; default), trixie (13, with
#              DPDK 24.11), sid
#   --mirror   Debian mirror; default: http://deb.debian.org/debian
#   COMMAND    command to run in the clone instead, such as .ci/run, or
#              devtools/test.sh --suite fast
#
# Needs root, the network and 3 GB below $TMPDIR (/tmp). Mounts and processes have their own
# namespaces. The script removes everything when it exits, even after a failure.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source-path=SCRIPTDIR source=chroots.sh
. "$(dirname "$0")/chroots.sh"

tree=false
release=bookworm
mirror=$debian_mirror
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0 ;;
	--tree)
		tree=true
		shift ;;
	--release)
		release=${2:?--release needs a name}
		shift 2 ;;
	--mirror)
		mirror=${2:?--mirror needs a URL}
		shift 2 ;;
	*)
		break ;;
	esac
done
chroot_make "$release" "$mirror" "$tree"
if [ $# -gt 0 ]; then
	chroot_run "$root" /root/comch "$@"
else
	chroot_run "$root" /root/comch devtools/run.sh
	chroot_run "$root" /root/comch devtools/test.sh
	# Again, with everything installed and built.
	chroot_run "$root" /root/comch devtools/test.sh --suite fast
fi
