#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Check the scripts: shell scripts with shellcheck, Python scripts by compiling them. Check
# the spelling of all files.
#
# usage: devtools/check-scripts.sh

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
cd "$top"

# written_in SHEBANG-PATTERN: list files whose first line matches.
written_in() {
	# shellcheck disable=SC2016 # perl expands it
	project_files . | perl -e '
		my $pattern = shift;
		while (my $name = <STDIN>) {
			chomp $name;
			open(my $file, "<", $name) or die "$name: $!";
			my $line = <$file> // "";
			print "$name\n" if $line =~ /$pattern/;
		}
	' "$1"
}

status=0
mapfile -t shell < <(written_in '^#!.*sh$|^# shellcheck shell')
shellcheck -x "${shell[@]}" || status=1
written_in '^#!.*python' | python3 -c '
import sys
for name in sys.stdin.read().split():
    compile(open(name, encoding="utf-8").read(), name, "exec")
' || status=1
# Pages that are made have the words of their sources.
project_files . | grep -vE '/corpus/|^doc/man/.*[.][0-9]$' |
	xargs codespell --ignore-words-list=statics || status=1
exit "$status"
