#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Check that the first lines of each file have a licence and a copyright line; texts
# (*.md) need only the licence.
#
# usage: devtools/check-spdx.sh

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

# File types without comments.
exempt='^(LICENSE|VERSION|ABI_VERSION|.*/corpus/.*|.*\.csv|.*\.json)$'

status=0
while read -r file; do
	head=$(head -n 5 "$top/$file" | tr -d '\0')
	for line in 'SPDX-License-Identifier: BSD-3-Clause' 'Copyright(c) 20'; do
		[[ $file != *.md || $line != Copy* ]] || continue
		if [[ $head != *"$line"* ]]; then
			echo "$file: no line \"$line\" at the beginning"
			status=1
		fi
	done
done < <(project_files . | grep -Ev "$exempt")
exit "$status"
