# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Functions shared by the scripts in this directory. Source this file.

# The project's directory.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly top

# step TEXT...: announce the next step.
step() {
	printf '\n==> %s\n' "$*"
}

# took SECONDS TEXT...: print the duration of a part. totals FILE: print all such lines in FILE.
took() {
	printf 'took %5d s  %s\n' "$1" "${*:2}"
}

totals() {
	grep '^took *[0-9]* s  ' "$1" || true
}

# die TEXT...: exit with an error.
die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# misuse TEXT...: end because of a wrong command line.
misuse() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 2
}

# Exit status where only the network is at fault, and another try may succeed.
readonly no_network=75
# How apt-get downloads: it tries each file several times, and does not hang for ever.
# shellcheck disable=SC2034 # for the scripts that source this file
readonly network_options=(-o Acquire::Retries=5 -o Acquire::http::Timeout=30)
# shellcheck disable=SC2034
readonly network_limit=(timeout 300)

# How many tests run at a time. Most wait for a peer or a time-out nearly all the time; those that
# measure or spin run alone in any case.
# shellcheck disable=SC2034
readonly test_jobs=$((3 * $(nproc)))

# persist COMMAND...: download something, where CI is set in up to three attempts, 30 seconds
# apart; then give up. An error of another kind is not blamed on the network.
persist() {
	local try tries=1 status said
	[ -z "${CI:-}" ] || tries=3
	for ((try = 1; try <= tries; try++)); do
		status=0
		said=$("$@" 2>&1) || status=$?
		printf '%s\n' "$said"
		[ "$status" -ne 0 ] || return 0
		[ "$try" -eq "$tries" ] || sleep 30
	done
	if [ "$status" -eq 124 ] ||
		grep -qiE 'resolve|failed to fetch|connect|timed out|hash sum' <<<"$said"; then
		printf '%s: no network, in %d attempts: %s\n' "${0##*/}" "$tries" "$*" >&2
		exit "$no_network"
	fi
	die "failed: $*"
}

# counts_of FILE STATUS: the last line of a part's output, "N passed, N failed, N skipped". Without
# such a line, and with a status that says so, the part is one failure.
counts_of() {
	local counts
	counts=$(tail -n 1 "$1")
	[[ $counts =~ ^[0-9]+\ passed,\ [0-9]+\ failed,\ [0-9]+\ skipped$ ]] ||
		counts="0 passed, $(($2 != 0)) failed, 0 skipped"
	if [ "$2" -ne 0 ] && [[ $counts == *' 0 failed,'* ]]; then
		counts=${counts/ 0 failed/ 1 failed}
	fi
	echo "$counts"
}

# usage: print the comment at the beginning of the running script.
usage() {
	sed -n '1,/^# Copyright/d;/^#/!q;s/^# \{0,1\}//p' "$0" | sed 1d
}

# quietly COMMAND...: show the output only if the command fails.
quietly() {
	local log status=0
	log=$(mktemp)
	"$@" >"$log" 2>&1 || status=$?
	if [ "$status" -ne 0 ]; then
		cat "$log" >&2
	fi
	rm -f "$log"
	return "$status"
}

# fingerprint OPTION...: print everything that the configuration of a build directory depends on.
fingerprint() {
	echo "$*"
	for package in libdpdk criterion valgrind; do
		pkg-config --modversion "$package" 2>/dev/null || echo "no $package"
	done
	command -v doxygen || true
}

# configure DIR [OPTION...]: configure DIR with these options unless it has them already.
configure() {
	local dir=$1 print
	shift
	print=$(fingerprint "$@")
	if [ ! -e "$top/$dir/build.ninja" ]; then
		step "Configuring: meson setup $dir $*"
		quietly meson setup "$@" "$top/$dir" "$top" || return
	elif [ "$print" != "$(cat "$top/$dir/.fingerprint" 2>/dev/null)" ]; then
		step "Configuring again: meson setup --reconfigure $dir $*"
		quietly meson setup --reconfigure "$@" "$top/$dir" "$top" || return
	fi
	printf '%s\n' "$print" >"$top/$dir/.fingerprint"
}

# build DIR [OPTION...]: configure DIR with these options, and build it. Where CI is set, only
# what the compilers say is printed.
build() {
	configure "$@" || return
	step "Building: ninja -C $1"
	ninja ${CI:+--quiet} -C "$top/$1"
}

# build_release: the optimised build of devtools/run.sh, in build/; as in CI, where that is set.
build_release() {
	build build --buildtype=release ${CI:+-Dwerror=true}
}

# build_suite SUITE DIR [OPTION...]: the same, but build only what the tests of a suite use.
build_suite() {
	local suite=$1 targets
	shift
	configure "$@" || return
	# In a directory of an earlier commit: its tests as they are now.
	ninja --quiet -C "$top/$1" build.ninja || return
	targets=$(python3 - "$top/$1" "$suite" <<-'END'
		import json
		import os
		import sys

		build, suite = sys.argv[1:]


		def intro(name):
		    with open(f"{build}/meson-info/intro-{name}.json", encoding="utf-8") as file:
		        return json.load(file)


		needed = {target for test in intro("tests") for target in test["depends"]
		          if any(name.endswith(":" + suite) for name in test["suite"])}
		for target in intro("targets"):
		    if target["id"] in needed:
		        print(*(os.path.relpath(file, build) for file in target["filename"]), sep="\n")
	END
	) || return
	step "Building: ninja -C $1, for the tests of suite $suite"
	xargs ninja ${CI:+--quiet} -C "$top/$1" <<<"$targets"
}

# build_targets TARGET...: build these targets of the optimised build of devtools/run.sh.
build_targets() {
	configure build --buildtype=release || return
	step "Building: ninja -C build $*"
	ninja -C "$top/build" "$@"
}

# own_runtime: create a private directory for sockets and runtime files of EAL and
# comch. It is removed when the script exits. Further calls do nothing.
own_runtime() {
	[ -z "${runtime_dir:-}" ] || return 0
	# Short, because the path of a unix socket holds 107 bytes.
	runtime_dir=$(mktemp -d /tmp/ct.XXXXXX)
	trap 'rm -rf "$runtime_dir"' EXIT
	mkdir -m 700 "$runtime_dir/eal" "$runtime_dir/comch"
	export RUNTIME_DIRECTORY=$runtime_dir/eal COMCH_DIR=$runtime_dir/comch
}

# own_git ARGUMENT...: git in the project, which may belong to another user, as in a container.
own_git() {
	git -c safe.directory='*' -C "$top" "$@"
}

# tree_commit: the commit of this tree: the newest that changes more than the records of
# again.sh and nightly.sh, which make no new tree; with a plus sign if there are other changes.
tree_commit() {
	local others=(. ':!test/again.txt' ':!test/nightly.txt')
	printf '%s%s\n' "$(own_git log -1 --format=%h -- "${others[@]}")" \
		"$([ -z "$(own_git status --porcelain -- "${others[@]}")" ] || echo +)"
}

# warn_of_place: say so if any user may write to a directory above the project, such as /tmp.
warn_of_place() {
	local dir=$top
	while [ "$dir" != / ]; do
		dir=$(dirname "$dir")
		if [ -n "$(find "$dir" -maxdepth 0 -perm -o+w)" ]; then
			printf 'warning: %s is world-writable, so DPDK loads no plug-ins from %s, and %s\n' \
				"$dir" "$top" 'tests that need them fail: clone elsewhere' >&2
			return
		fi
	done
}

# project_files [PATTERN...]: list existing files of the project that match, including
# those not yet added.
project_files() {
	local file
	own_git ls-files --cached --others --exclude-standard -- "$@" |
		while read -r file; do
			if [ -f "$top/$file" ]; then
				echo "$file"
			fi
		done
}

# samples_copy FROM TO: copy a checkout of doca-samples. In the copy the build files for users,
# where they exist, are called meson.build.
samples_copy() {
	local file
	cp -r "$1/VERSION" "$1/samples" "$1/applications" "$2"
	find "$2" -name 'meson.build.public' | while read -r file; do
		mv "$file" "${file%.public}"
	done
}

# samples_release DIR: print the release of a checkout of doca-samples.
samples_release() {
	[ -d "$1/samples/doca_comch" ] || die "$1/samples/doca_comch does not exist"
	[ -f "$1/VERSION" ] || die "$1/VERSION does not exist"
	tr -d '[:space:]' <"$1/VERSION"
}
