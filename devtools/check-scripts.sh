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
	local file
	while read -r file; do
		if head -n 1 "$file" | grep -qaE "$1"; then
			echo "$file"
		fi
	done < <(project_files .)
}

status=0
mapfile -t shell < <(written_in '^#!.*sh$|^# shellcheck shell')
shellcheck -x "${shell[@]}" || status=1
while read -r file; do
	python3 -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' "$file" ||
		status=1
done < <(written_in '^#!.*python')
project_files . | grep -v '/corpus/' |
	xargs codespell --ignore-words-list=statics || status=1
exit "$status"
