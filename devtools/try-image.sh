#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Build the image of examples/ci/Dockerfile in a fresh Debian base system, without an engine for
# containers, and run the project there as its workflow does, with the limits of a container.
#
# usage: devtools/try-image.sh [--release NAME] [--tree] [--mirror URL] PACKAGES-DIR
#
#   PACKAGES-DIR  what devtools/build-deb.sh has built
#   --release     Debian release that they are for: bookworm (12; default), trixie (13)
#   --tree        take the example from the work tree instead of the last commit
#   --mirror      Debian mirror; default: http://deb.debian.org/debian
#
# Needs root, the network and 3 GB below $TMPDIR (/tmp). The script removes everything when it
# exits.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source-path=SCRIPTDIR source=chroots.sh
. "$(dirname "$0")/chroots.sh"

release=bookworm
tree=false
mirror=$debian_mirror
chroot_options directory 'release mirror' tree "$@"
packages=$argument
compgen -G "$packages/*.deb" >/dev/null ||
	die "no packages in '$packages': devtools/build-deb.sh makes them"

chroot_make "$release" "$mirror" "$tree"
dockerfile=$root/root/comch/examples/ci/Dockerfile
# COPY, and each RUN: lines that end with a backslash go on.
grep -qx 'COPY packages /packages' "$dockerfile" || die 'the Dockerfile copies something else'
cp -r "$packages" "$root/packages"
while read -r line; do
	case $line in
	'RUN '*) chroot_run "$root" / sh -ec "${line#RUN }" ;;
	esac
done < <(sed -e ':next' -e '/\\$/N; s/\\\n//; t next' "$dockerfile")
chroot_run "$root" /root/comch test/ci/container.sh /root/comch bash /tmp/bin/verdicts.sh
