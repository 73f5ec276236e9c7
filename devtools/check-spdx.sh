#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Check that each file says its licence and its copyright within the first
# lines; texts (*.md) need only the former.
#
# usage: devtools/check-spdx.sh

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

# Files without comments.
exempt='^(LICENSE|VERSION|ABI_VERSION|.*/corpus/.*|.*\.csv|.*\.json)$'

status=0
while read -r file; do
	head=$(head -n 5 "$top/$file" | tr -d '\0')
	for line in 'SPDX-License-Identifier: BSD-3-Clause' 'Copyright(c) 20'; do
		[[ $file != *.md || $line != Copy* ]] || continue
		if [[ $head != *"$line"* ]]; then
			echo "$file: no line \"$line\" at its beginning"
			status=1
		fi
	done
done < <(project_files . | grep -Ev "$exempt")
exit "$status"
