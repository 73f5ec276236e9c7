#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""
Print the coverage from a summary of gcovr, and check it against limits. For coverage.sh.

usage: devtools/coverage/report.py SUMMARY TOP
"""

import json
import pathlib
import re
import sys

# The thresholds, in percent.
MIN_LINES = 95
MIN_BRANCHES = 85
MIN_PARSER_LINES = 98
MAX_EXCLUDED = 2

# Parsers of untrusted input: a regular expression on the path of a file.
PARSERS = {
    "frames of the core": r"lib/comch/ctrl/comch_wire\.c",
    "records and tickets of the mapped fast path":
        r"drivers/comch/common/mapped/comch_(chan_(cons|stage)|map|map_remote)\.c",
    "frames and requests of mlx5": r"drivers/comch/mlx5/mlx5_(frame_rx|cm|remote)\.c",
    "command lines of DOCA programs": r"lib/doca/argp/.*",
    "device tables (INI)": r"lib/doca/dev/table(_parse|_check|)\.c",
}

NB_GAPS = 25


class Count:
    """Lines and branches, and how many of them were executed."""

    def __init__(self):
        self.lines = self.lines_hit = self.branches = self.branches_hit = 0

    def add(self, file):
        self.lines += file["line_total"]
        self.lines_hit += file["line_covered"]
        self.branches += file["branch_total"]
        self.branches_hit += file["branch_covered"]

    def line_percent(self):
        return percent(self.lines_hit, self.lines)

    def branch_percent(self):
        return percent(self.branches_hit, self.branches)

    def row(self, name, mark=""):
        print(f"{name:<46} {self.lines:>6} {self.line_percent():>7.1f} {self.branches:>8} "
              f"{self.branch_percent():>7.1f}{mark}")


def percent(part, of):
    return 100 * part / of if of else 100.0


def folder_of(path):
    return path.rpartition("/")[0]


def header(what):
    print(f"\n{what:<46} {'lines':>6} {'%':>7} {'branches':>8} {'%':>7}")


def wanted(lines, branches=""):
    print(f"{'  required minimum':<46} {'':>6} {lines:>7} {'':>8} {branches:>7}".rstrip())


def excluded(top):
    """Lines that the sources exclude: (path, first line, number of lines, reason)."""
    found = []
    for path in sorted(top.glob("lib/**/*.[ch]")) + sorted(top.glob("drivers/**/*.[ch]")):
        start = None
        for nb, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            mark = re.search(r"GCOVR_EXCL_(LINE|START|STOP|BR_LINE)\b:?\s*(.*?)\s*(\*/)?$", line)
            if mark is None:
                continue
            if mark[1] == "START":
                start = (nb, mark[2])
            elif mark[1] == "STOP":
                found.append((path.relative_to(top), start[0], nb - start[0] - 1, start[1]))
            else:
                found.append((path.relative_to(top), nb, 1, mark[2]))
    return found


def judge_exclusions(top, total, wrong):
    found = excluded(top)
    nb = sum(lines for _, _, lines, _ in found)
    print(f"\nexcluded in the sources: {nb} lines, {percent(nb, total):.1f} % "
          f"(at most {MAX_EXCLUDED} %)")
    for path, line, lines, reason in found:
        print(f"  {path}:{line}: {lines} lines: {reason or 'NO REASON'}")
        if not reason:
            wrong.append(f"{path}:{line}: write the reason of the exclusion after its marker")
    if percent(nb, total) > MAX_EXCLUDED:
        wrong.append(f"more than {MAX_EXCLUDED} % of the lines are excluded: test them instead")


def judge_parsers(files, wrong):
    header("parsers of untrusted input")
    for name, pattern in PARSERS.items():
        count = Count()
        for file in files:
            if re.fullmatch(pattern, file["filename"]):
                count.add(file)
        low = count.lines == 0 or count.line_percent() < MIN_PARSER_LINES
        count.row(name, "  low" if low else "")
        if low:
            wrong.append(f"{name}: {count.line_percent():.1f} % of the lines, "
                         f"{MIN_PARSER_LINES} % required: write a test that sends the input "
                         f"that is not covered, and check the error")
    wanted(MIN_PARSER_LINES)


def print_gaps(files):
    print("\nfiles with the most lines that no test executes")
    files.sort(key=lambda file: file["line_covered"] - file["line_total"])
    for file in files[:NB_GAPS]:
        missing = file["line_total"] - file["line_covered"]
        if missing > 0:
            print(f"  {missing:>5} of {file['line_total']:>4}  {file['filename']}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    with open(sys.argv[1], encoding="utf-8") as summary:
        files = json.load(summary)["files"]
    top = pathlib.Path(sys.argv[2])
    wrong = []
    total, folders = Count(), {}
    for file in files:
        total.add(file)
        folders.setdefault(folder_of(file["filename"]), Count()).add(file)
    header("folder")
    for name in sorted(folders):
        folders[name].row(name)
    total.row("total")
    wanted(MIN_LINES, MIN_BRANCHES)
    judge_parsers(files, wrong)
    judge_exclusions(top, total.lines, wrong)
    print_gaps(files)
    if total.line_percent() < MIN_LINES:
        wrong.append(f"{total.line_percent():.1f} % of the lines are covered, {MIN_LINES} % "
                     "required: write tests for the files above, error paths first")
    if total.branch_percent() < MIN_BRANCHES:
        wrong.append(f"{total.branch_percent():.1f} % of the branches are covered, "
                     f"{MIN_BRANCHES} % required: --html DIR shows which are not")
    print()
    for text in wrong:
        print(text)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
