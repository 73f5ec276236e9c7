#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Make the manual pages of the commands, doc/man/COMMAND.1, of what --help prints and of
# doc/man/COMMAND.h2m: its name in one line, and what --help has no room for.
#
# usage: devtools/man.sh [--check] [BUILD-DIR]
#
#   --check    change nothing; fail if a page is not what it would be now
#   BUILD-DIR  default: build
#
# They are committed, so that a build for another architecture has them, too.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

check=false
case ${1:-} in
-h | --help)
	usage
	exit 0 ;;
--check)
	check=true
	shift ;;
esac
build=$(realpath "${1:-$top/build}")
command -v help2man >/dev/null || die 'needs help2man: devtools/setup.sh test'
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# program_of COMMAND: in the build directory.
program_of() {
	local path
	for path in "app/$1/$1" "lib/doca/install/$1" "lib/doca/dpacc/$1"; do
		[ ! -x "$build/$path" ] || {
			echo "$build/$path"
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
		"$program" --help | awk -v command="$1" -f "$tmp/help.awk"
	END
	chmod +x "$tmp/bin/$1"
	# A date and the version of help2man would change pages that are the same.
	SOURCE_DATE_EPOCH=0 help2man --no-info --no-discard-stderr --include "$top/doc/man/$1.h2m" \
		--source comch --version-string "$(cat "$top/VERSION")" "$tmp/bin/$1" |
		sed -e '1c.\\" Made by devtools/man.sh of --help and doc/man/'"$1"'.h2m.' \
			-e 's/^\(\.TH [^ ]* "1"\) "[^"]*"/\1 ""/'
}

status=0
for include in "$top"/doc/man/*.h2m; do
	command=$(basename "$include" .h2m)
	page "$command" >"$tmp/page"
	if ! $check; then
		cp "$tmp/page" "$top/doc/man/$command.1"
	elif ! diff -u "$top/doc/man/$command.1" "$tmp/page"; then
		echo "doc/man/$command.1 is not what --help says: run devtools/man.sh" >&2
		status=1
	fi
done
exit $status
