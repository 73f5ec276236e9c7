#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Check that each promise of doc/guides/security.md names a test that exists.

A promise is a row of a table with a column "test". That column names, in backticks:

  PATH         a file or folder of the project, or several: test/mlx5/t_hostile*.c
  t_NAME       the file t_NAME.c somewhere below test
  CASE in ...  a case, before the file that has it: `wrong_function` in `t_shm_isolation`
"""

import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
PAGE = TOP / "doc" / "guides" / "security.md"
NAME = re.compile(r"`([^`]+)`( in)?")


def cells(line):
    """Return the cells of a row of a table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def promises(lines):
    """Yield line number and tests of each row of a table with a column "test"."""
    column = None
    for number, line in enumerate(lines, 1):
        if not line.startswith("|"):
            column = None
        elif column is None:
            head = cells(line)
            column = head.index("test") if "test" in head else -1
        elif column >= 0 and not set(line) <= set("|-: "):
            yield number, (cells(line) + [""] * column)[column]


def files(name):
    """Return the files that a name stands for."""
    if "/" in name:
        return list(TOP.glob(name))
    stem = name.removesuffix(".c")
    return list((TOP / "test").glob(f"**/{stem}.c")) if stem.startswith("t_") else []


def has_case(name, paths):
    """Tell whether one of the files has a case of this name."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    return any(word.search(path.read_text()) for path in paths)


def errors(text):
    """Yield what is wrong with the tests of a promise."""
    case = None
    names = NAME.findall(text)
    if not names:
        yield "no test is named"
    for name, has_file in names:
        if has_file:
            case = name
            continue
        found = files(name)
        if not found:
            yield f"'{name}' is no test: expected a path or t_NAME of a file below test"
        elif case is not None and not has_case(case, found):
            yield f"'{name}' has no case '{case}'"
        case = None
    if case is not None:
        yield f"no file is named for the case '{case}'"


def main():
    """Return the exit status."""
    status = 0
    nb = 0
    for number, text in promises(PAGE.read_text().splitlines()):
        nb += 1
        for error in errors(text):
            print(f"{PAGE.relative_to(TOP)}:{number}: {error}")
            status = 1
    if nb == 0:
        print(f"{PAGE.relative_to(TOP)}: no table with a column 'test'")
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
