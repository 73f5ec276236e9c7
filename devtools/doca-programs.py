#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Write what devtools/check-doca-samples.sh found to doc/guides/doca/programs.md.

usage: doca-programs.py RELEASE WHERE RESULTS

RELEASE is that of the samples, WHERE "one machine" or "two machines", and RESULTS the output of
check-doca-samples.sh. The rows of other releases and places stay.
"""

import datetime
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
PAGE = TOP / "doc" / "guides" / "doca" / "programs.md"
ROW = re.compile(r"^\| (\S+) \| (one machine|two machines) \|.*$", re.M)
RESULT = re.compile(r"^(ok|FAILED) +(build |run )?(.*)$", re.M)
HEAD = ("| release | where | when | builds | pairs | with a fault: ended | hung, and named | crashed by "
        "themselves | else |")


def fraction(results):
    """Passed, of all."""
    return f"{sum(r == 'ok' for r in results)} of {len(results)}"


def row_of(release, where, text):
    """A row of the table."""
    of = {"build ": [], "run ": [], "": []}
    named = crashed = 0
    for result, kind, what in RESULT.findall(text):
        of[kind].append(result)
        named += kind == "" and ": status 124: " in what
        crashed += kind == "" and ": crashed: " in what
    if not of["build "] or not of["run "]:
        sys.exit("doca-programs.py: these are not results of check-doca-samples.sh")
    faults = "not tried | | |"
    if of[""]:
        passed = of[""].count("ok")
        faults = f"{passed - named - crashed} | {named} | {crashed} | {len(of['']) - passed}"
    return (f"| {release} | {where} | {datetime.date.today()} | {fraction(of['build '])} | "
            f"{fraction(of['run '])} | {faults} |")


def main():
    """The program."""
    if len(sys.argv) != 4 or sys.argv[2] not in ("one machine", "two machines"):
        sys.exit(__doc__)
    release, where, file = sys.argv[1:]
    text = PAGE.read_text()
    rows = {match.groups(): match.group(0) for match in ROW.finditer(text)}
    rows[release, where] = row_of(release, where, pathlib.Path(file).read_text())
    begin, _, rest = text.partition(HEAD + "\n")
    _, line, rest = rest.partition("\n")
    end = ROW.sub("", rest).lstrip("\n")
    lines = sorted(rows.values(), key=lambda r: [int(n) if n.isdigit() else n
                                                 for n in re.split(r"[.| ]+", r)[1:4]])
    PAGE.write_text(f"{begin}{HEAD}\n{'|---' * HEAD.count(' | ')}|---|\n" + "\n".join(lines) + "\n\n" + end)
    print(f"{PAGE.relative_to(TOP)}: {rows[release, where]}")


main()
