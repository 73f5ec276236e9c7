#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Make the manual pages of the commands, doc/man/COMMAND.1, of what --help prints and of
# doc/man/COMMAND.h2m: its name in one line, and what --help has no room for. Those of drivers and
# files, doc/man/NAME.7 and .5, are made of guides.
#
# usage: devtools/man.sh [--check] [--guides] [BUILD-DIR]
#
#   --check    change nothing; fail if a page is not what it would be now
#   --guides   only the pages that are made of guides, which need no build
#   BUILD-DIR  default: build
#
# They are committed, so that a build for another architecture has them, too.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

check=false
with_commands=true
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0 ;;
	--check)
		check=true ;;
	--guides)
		with_commands=false ;;
	*)
		break ;;
	esac
	shift
done
build=$(realpath -m "${1:-$top/build}")
for tool in help2man lowdown; do
	command -v "$tool" >/dev/null || die "needs $tool: devtools/setup.sh test"
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Pages of guides: name, section, guide; what the name is.
guides=(
	'comch_shm 7 shm_driver.md driver of comch for processes that share memory'
	'comch_ring 7 ring_driver.md driver of comch for one process, or processes of one EAL'
	'comch_mlx5 7 mlx5_driver.md driver of comch for two machines, over RDMA'
	'net_comch 7 net_comch.md Ethernet port for DPDK programs, over a channel of comch'
	'comch-devices 5 doca/devices.md device table of programs written for DOCA'
)

# program_of COMMAND: in the build directory.
program_of() {
	local path
	for path in "$build/app/$1/$1" "$build/lib/doca/install/$1" "$build/lib/doca/dpacc/$1" \
		"$top/devtools/lab/$1"; do
		[ ! -x "$path" ] || {
			echo "$path"
			return
		}
	done
	die "no $1 in $build"
}

# What help2man knows: a synopsis of several lines; and of examples, a paragraph for each.
cat >"$tmp/help.awk" <<'END'
NR == 1 { sub(/^usage:/, "Usage:") }
NR > 1 && NR < 5 { sub("^       " command, "   or: " command) }
is_heading && /^  [^ -]/ && !/[^ ]  / { in_examples = 1 }
NF && !/^  / { in_examples = 0 }
{ is_heading = /:$/ }
!in_examples || !NF { print; next }
{ sub(/^ +/, is_continued ? " " : "  ") }
is_continued = sub(/ \\$/, "") { printf "%s", $0; next }
{ print $0 "\n" }
END

# page COMMAND: print its page.
page() {
	local program
	program=$(program_of "$1")
	mkdir -p "$tmp/bin"
	cat >"$tmp/bin/$1" <<-END
		#!/bin/sh
		said=\$("$program" --help) && echo "\$said" | awk -v command="$1" -f "$tmp/help.awk"
	END
	chmod +x "$tmp/bin/$1"
	# A date and the version of help2man would change pages that are the same.
	SOURCE_DATE_EPOCH=0 help2man --no-info --no-discard-stderr --include "$top/doc/man/$1.h2m" \
		--source comch --version-string "$(cat "$top/VERSION")" "$tmp/bin/$1" |
		sed -e '1c.\\" Made by devtools/man.sh of --help and doc/man/'"$1"'.h2m.' \
			-e 's/^\(\.TH [^ ]* "1"\) "[^"]*"/\1 ""/'
}

# page_of_guide NAME SECTION GUIDE DESCRIPTION...: print it. Links to other guides are plain text.
# Terminals have no font C; and that a path does not fit into a column (groff's warning 4) is no
# fault.
page_of_guide() {
	# It asks for tbl.
	printf "%s\n" "'\\\" t" ".\\\" Made by devtools/man.sh of doc/guides/$3."
	{
		printf '# NAME\n\n%s - %s\n\n' "$1" "${*:4}"
		sed -E -e '/^<!-- SPDX/d' -e 's/\[([^]]*)\]\([^:)]*\)/\1/g' "$top/doc/guides/$3"
	} | lowdown -s -tman -M title="$1" -M section="$2" -M source=comch |
		sed -e 1d -e 's/\\fC/\\fB/g' -e 's/^\.TH.*/&\n.ad l\n.if (\\n[.warn]\/4%2) .warn \\n[.warn]-4/' \
			-e 'N;s/^\.SH\n\(.*\)/.SH \1/;P;D'
}

# keep PAGE: or compare it, from $tmp/page.
status=0
keep() {
	if ! $check; then
		cp "$tmp/page" "$top/doc/man/$1"
	elif ! diff -u "$top/doc/man/$1" "$tmp/page"; then
		echo "doc/man/$1 is not what its source says: run devtools/man.sh" >&2
		status=1
	fi
}

for include in "$top"/doc/man/*.h2m; do
	$with_commands || break
	command=$(basename "$include" .h2m)
	page "$command" >"$tmp/page"
	keep "$command.1"
done
for guide in "${guides[@]}"; do
	read -ra words <<<"$guide"
	page_of_guide "${words[@]}" >"$tmp/page"
	keep "${words[0]}.${words[1]}"
done
exit $status
