#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Run a pair of programs for DOCA on the two machines of lab.sh with the libraries of packages: those
# for amd64 on the host, those for arm64 on the DPU.
#
# usage: devtools/try-deb-lab.sh AMD64_DIR ARM64_DIR
#
# The directories are those of devtools/build-deb.sh, for the Debian release of this machine. The last
# line is "2 passed, 0 failed, 0 skipped".

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

case ${1:-} in
-h | --help)
	usage
	exit 0 ;;
esac
[ $# -eq 2 ] || {
	usage >&2
	exit 2
}
tmp=$(mktemp -d)
trap 'rm -rf --one-file-system "$tmp"' EXIT

# unpack DIR ARCHITECTURE: the libraries of its packages, in $tmp/files/ARCHITECTURE.
unpack() {
	local name deb
	for name in librte-comch0 libcomch-doca0 comch-tools; do
		deb=$(find "$1" -maxdepth 1 -name "${name}_*_$2.deb")
		[ -e "$deb" ] || die "$1 has no package $name for $2: devtools/build-deb.sh makes it"
		dpkg -x "$deb" "$tmp/files/$2"
	done
}

mkdir "$tmp/files"
unpack "$1" amd64
unpack "$2" arm64
for role in host dpu; do
	"$top/devtools/lab.sh" compile "$role" "$top/examples/ci" "$tmp/$role" >"$tmp/log" 2>&1 ||
		die "the example does not compile for the $role: $(tail -n 20 "$tmp/log")"
	cp "$tmp/$role/greet" "$tmp/files/greet-$role"
done

# in_machine ARCHITECTURE TRIPLET COMMAND...: the command line of a machine.
in_machine() {
	echo "export LD_LIBRARY_PATH=/lab/files/$1/usr/lib/$2; ${*:3}"
}

# The last command shows that the program had the library of the package.
dpu=$(in_machine arm64 aarch64-linux-gnu /lab/files/greet-dpu -p 03:00.0 -r b1:00.0)
dpu+="; $(in_machine arm64 aarch64-linux-gnu /lab/files/arm64/usr/bin/comch-info --version)"
host=$(in_machine amd64 x86_64-linux-gnu /lab/files/greet-host -p b1:00.0)
"$top/devtools/lab.sh" --files "$tmp/files" run "$host" "$dpu" | tee "$tmp/log"
grep -q 'host *| .*received: Hello from the dpu' "$tmp/log" || die 'the host received no greeting'
grep -q 'dpu *| comch-info' "$tmp/log" || die 'comch-info of the packages does not run on the DPU'
printf '\n2 passed, 0 failed, 0 skipped\n'
