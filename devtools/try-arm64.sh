#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Build for arm64 on amd64, and run tests with qemu's user emulation.
#
# usage: devtools/try-arm64.sh [--mirror URL] [TEST...]
#
#   --mirror  Debian mirror; default: http://deb.debian.org/debian
#   TEST      names of tests, with wildcards, or suite:NAME; default: unit tests,
#             conformance and all tests with two processes, without those that cannot
#             run emulated, which the script lists
#
# Unpacks arm64 libraries once, into build-arm64 or $COMCH_LAB_CACHE, and builds in
# build-arm64/build.
# Needs Linux 6.7 or newer for its own binfmt_misc. The emulation does not reproduce arm64's
# weak memory order.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source-path=SCRIPTDIR source=debs.sh
. "$(dirname "$0")/debs.sh"
# shellcheck source-path=SCRIPTDIR source=arm64.sh
. "$(dirname "$0")/arm64.sh"
defaults=('unit-*' 'conformance-*' suite:multiproc comch-perf-roles
	# A tick of 4096 cycles of the emulated counter, of 62.5 MHz, is 65 us, and each
	# send waits for one: too slow.
	-coarse-t_order
	# With qemu 7.2, replies of the threads that receive descriptors, in descriptor
	# tables of their own, do not arrive in its clients.
	-t_cchan_102_procs
	# Debian's dpdk-testpmd is this machine's, and loads no driver of another.
	-net_comch
)

# targets PATTERN...: print the ninja targets of these tests on one line, and the names of
# the tests on another. "-NAME" excludes a test.
targets() {
	meson introspect --tests --targets "$arm64_build" | python3 -c '
import fnmatch, json, os, sys
build = os.path.realpath(sys.argv[1])
wanted = [pattern for pattern in sys.argv[2:] if not pattern.startswith("-")]
excluded = [pattern[1:] for pattern in sys.argv[2:] if pattern.startswith("-")]
found = json.load(sys.stdin)
paths = {target["id"]: target["filename"] for target in found["targets"]}
names, files = [], set()
for test in found["tests"]:
    called = [test["name"]] + ["suite:" + suite.split(":")[-1] for suite in test["suite"]]
    if test["name"] in excluded or not any(
            fnmatch.fnmatch(name, pattern) for name in called for pattern in wanted):
        continue
    names.append(test["name"])
    for target in test["depends"]:
        files |= {os.path.relpath(path, build) for path in paths[target]}
print(*sorted(files))
print(*names)
' "$arm64_build" "$@"
}

mirror=http://deb.debian.org/debian
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0 ;;
	--mirror)
		mirror=${2:?--mirror needs a URL}
		shift 2 ;;
	*)
		break ;;
	esac
done
if [ $# -eq 0 ]; then
	set -- "${defaults[@]}"
fi

"$top/devtools/setup.sh" build arm64
arm64_prepare "$mirror"
arm64_configure
mapfile -t found < <(targets "$@")
read -ra files <<<"${found[0]}"
read -ra names <<<"${found[1]}"
[ "${#names[@]}" -gt 0 ] || die "no tests match $*"
step "Building: ${#files[@]} programs for arm64"
arm64_run ninja -C "$arm64_build" "${files[@]}"
step "Testing: ${#names[@]} tests, emulated"
status=0
arm64_run meson test -C "$arm64_build" --no-rebuild --print-errorlogs \
	--setup all --timeout-multiplier 20 "${names[@]}" | tee "$arm64_dir/log" || status=$?
# Print the same last line as devtools/test.sh, from meson's summary.
awk -F': *' '
	/^(Ok|Expected Fail):/ { passed += $2 }
	/^(Fail|Timeout|Unexpected Pass):/ { failed += $2 }
	/^Skipped:/ { skipped += $2 }
	END { printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped }
' "$arm64_dir/log"
exit "$status"
