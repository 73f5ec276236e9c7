#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Compare what two runs of devtools/coverage.sh executed.

usage: compare.py PART WHOLE

PART, WHOLE  build-coverage/coverage.json, kept after each run, such as those of --gate and --all

Prints how many of the lines that WHOLE executes PART executes, too, and the functions that only
WHOLE calls. Fails if it is less than 97 %.
"""

import json
import sys

MIN_PERCENT = 97


def load(path):
    """Return ({(file, line): count}, {(file, function): count})."""
    with open(path, encoding="utf-8") as file:
        files = json.load(file)["files"]
    lines, functions = {}, {}
    for entry in files:
        for line in entry["lines"]:
            key = entry["file"], line["line_number"]
            lines[key] = max(lines.get(key, 0), line["count"])
        for function in entry["functions"]:
            key = entry["file"], function["name"]
            functions[key] = max(functions.get(key, 0), function["execution_count"])
    return lines, functions


def main():
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    (part, called), (whole, called_at_all) = map(load, sys.argv[1:])
    executed = [key for key, count in whole.items() if count]
    both = sum(1 for key in executed if part.get(key))
    percent = 100 * both / len(executed)
    print(f"{both} of {len(executed)} executed lines, {percent:.1f} %; at least {MIN_PERCENT} %")
    lost = sorted(key for key, count in called_at_all.items() if count and not called.get(key))
    print(f"{len(lost)} functions are not called:")
    for path, name in lost:
        print(f"  {path} {name}")
    return 0 if percent >= MIN_PERCENT else 1


if __name__ == "__main__":
    sys.exit(main())
