#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Say how much of DOCA is there: of the functions of each generation, and of
the behaviours in doc/guides/doca/behaviour.md.

The functions are those in devtools/doca-functions.txt. One is
    declared      if the headers in lib/doca/include declare it for the generation
    implemented   if libcomch_doca.so exports its symbol for that generation, or
                  if it is an inline function of the header
    tested        if a test in test/doca uses its name in a function or a table, or
                  another name that stands for it by #define
With --callers it says which functions programs call that the list lacks, so that the list is
not merely what we know of.

A behaviour is tested if a file in test has a comment "behaviour: D3, D4" with
its number.
"""

import argparse
import pathlib
import re
import sys

import doca_headers
from doca_headers import TOP, version

FUNCTIONS = TOP / "devtools" / "doca-functions.txt"
BEHAVIOUR = TOP / "doc" / "guides" / "doca" / "behaviour.md"
PAGE = TOP / "doc" / "guides" / "doca" / "coverage.md"
STAGES = ("declared", "implemented", "tested")
MARK = re.compile(r"behaviour:\s*((?:[A-Z]\d+\s*,\s*)*[A-Z]\d+)")

HEAD = """\
<!-- SPDX-License-Identifier: BSD-3-Clause -->
# What of DOCA is there

Made by `devtools/doca-coverage.py --write`. A column is a generation of DOCA
(`comch-doca-env --list` says which releases it serves); a field says how many
functions are declared / implemented / tested, of how many there are.
"""


class Function:
    """A line of doca-functions.txt."""

    def __init__(self, module, name, first, last):
        self.module = module
        self.name = name
        self.first = version(first)
        self.last = version(last) if last != "-" else None

    def of(self, generation):
        """Is it one of this generation?"""
        number = version(generation)
        return self.first <= number and (self.last is None or number <= self.last)


def functions():
    """Return the functions of doca-functions.txt."""
    lines = FUNCTIONS.read_text().splitlines()
    return [Function(*line.split()) for line in lines if line and not line.startswith("#")]


def used_in_tests():
    """Return the names that tests use within { }, so not in a declaration."""
    names, renamed = set(), []
    for path in (TOP / "test" / "doca").rglob("*.h"):
        renamed += re.findall(r"^#define (doca_\w+) (doca_\w+)$", path.read_text(), re.M)
    for path in (TOP / "test" / "doca").rglob("*.c*"):
        text = re.sub(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', " ", path.read_text(), flags=re.S)
        depth = 0
        for part in re.split(r"([{}])", text):
            depth += {"{": 1, "}": -1}.get(part, 0)
            if depth > 0:
                names.update(re.findall(r"\b(?:comch_)?doca_\w+\b", part))
    return names | {stands_for for name, stands_for in renamed if name in names}


def stages(every, symbols):
    """Return {generation: {stage: names}}; "all" are those of doca-functions.txt."""
    tested = used_in_tests()
    result = {}
    for generation in doca_headers.generations():
        symbol = doca_headers.declared(generation)
        result[generation] = {
            "all": {f.name for f in every if f.of(generation)},
            "declared": set(symbol),
            "implemented": {name for name in symbol
                            if symbol[name] is None or symbol[name] in symbols},
            "tested": tested & set(symbol),
        }
    return result


def behaviours():
    """Return ({number: text} of the guide, {number: file} of the tests)."""
    rows = re.findall(r"^\| ([A-Z]\d+) \| (.*?) \|", BEHAVIOUR.read_text(), re.M)
    marks = {}
    for path in sorted((TOP / "test").rglob("*")):
        if path.suffix in (".c", ".cc", ".cpp", ".h", ".sh", ".py"):
            for match in MARK.finditer(path.read_text()):
                for number in re.split(r"\s*,\s*", match.group(1)):
                    marks.setdefault(number, path.relative_to(TOP))
    return dict(rows), marks


def callers(every, directory):
    """Return {function: number of files that call it} of those that are not listed."""
    heads = {"_".join(f.name.split("_")[:2]) for f in every}
    listed = {f.name for f in every}
    called, own = {}, set()
    for path in sorted(directory.rglob("*")):
        if path.suffix not in (".c", ".cc", ".cpp", ".h", ".hpp") or not path.is_file():
            continue
        text = path.read_text(errors="replace")
        text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', " ", text, flags=re.S)
        # What the programs define themselves, and types of pointers to functions.
        own.update(re.findall(r"\b(doca_\w+)\s*\([^;{}]*\)\s*(?:noexcept\s*)?\{", text))
        for name in set(re.findall(r"\b(doca_[a-z0-9_]+)\s*\(", text)):
            if "_".join(name.split("_")[:2]) in heads and not name.endswith("_cb"):
                called[name] = called.get(name, 0) + 1
    return {name: nb for name, nb in called.items() if name not in listed | own}


def table(every, result):
    """Return the summary: a module a row, a generation a column."""
    generations = list(result)
    lines = ["| module | " + " | ".join(generations) + " |",
             "|---|" + "---|" * len(generations)]
    for module in sorted({f.module for f in every}) + ["all"]:
        fields = []
        for there in result.values():
            names = {f.name for f in every if module in (f.module, "all")} & there["all"]
            counts = "/".join(str(len(names & there[stage])) for stage in STAGES)
            fields.append(f"{counts} of {len(names)}" if names else "")
        lines.append(f"| {module} | " + " | ".join(fields) + " |")
    return lines


def missing(every, result):
    """Return {stage: names with generations} of what is not there."""
    lists = {}
    for stage in STAGES:
        before = STAGES[STAGES.index(stage) - 1] if stage != "declared" else "all"
        for function in every:
            where = [generation for generation, there in result.items()
                     if function.name in there["all"] & there[before] - there[stage]]
            if where:
                lists.setdefault(stage, []).append(f"{function.name} ({', '.join(where)})")
    return lists


def page(every, result, rows, marks):
    """Return the text of coverage.md."""
    lines = [HEAD.rstrip(), "", *table(every, result), ""]
    for stage, names in missing(every, result).items():
        lines += [f"Not {stage}, with the generations in question:", ""]
        lines += [f"- {name}" for name in names] + [""]
    listed = {f.name for f in every}
    others = set().union(*(there["declared"] for there in result.values())) - listed
    if others:
        lines += ["Besides these there are, as other names or of comch itself:", ""]
        lines += [f"- {name}" for name in sorted(others)] + [""]
    count = len(set(rows) & set(marks))
    lines += ["## Behaviours", "",
              f"{count} of the {len(rows)} in [behaviour.md](behaviour.md) have a test."]
    without = [number for number in rows if number not in marks]
    if without:
        lines += ["", "Without a test:", ""]
        lines += [f"- {number}: {rows[number]}" for number in without]
    return "\n".join(lines) + "\n"


def problems(result, rows, marks, text):
    """Return what --check complains of."""
    found = []
    for stage in ("implemented", "tested"):
        where = {}
        for generation, there in result.items():
            for name in there["declared"] - there[stage]:
                where.setdefault(name, []).append(generation)
        found += [f"{name}: declared for {', '.join(where[name])}, but not {stage}"
                  for name in sorted(where)]
    found += [f"{path}: there is no behaviour {number}"
              for number, path in marks.items() if number not in rows]
    if not PAGE.exists() or PAGE.read_text() != text:
        found.append(f"{PAGE.relative_to(TOP)} is out of date: "
                     "run devtools/doca-coverage.py --write")
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="DIR", type=pathlib.Path, default=TOP / "build",
                        help="build directory with the library (default: build)")
    parser.add_argument("--write", action="store_true",
                        help="write doc/guides/doca/coverage.md")
    parser.add_argument("--check", action="store_true",
                        help="print only what is wrong, and fail if anything is: declared but "
                        "not implemented or not tested, a test of an unknown behaviour, or "
                        "coverage.md out of date")
    parser.add_argument("--callers", metavar="DIR", type=pathlib.Path,
                        help="print what sources below DIR call that doca-functions.txt lacks, "
                        "with the number of files, and nothing else")
    args = parser.parse_args()

    if args.callers:
        if not args.callers.is_dir():
            sys.exit(f"doca-coverage.py: --callers {args.callers}: there is no such directory")
        found = callers(functions(), args.callers)
        for name in sorted(found, key=lambda name: (-found[name], name)):
            print(f"{found[name]:4} {name}")
        return 0

    library = args.build / "lib" / "doca" / "libcomch_doca.so"
    if not library.exists():
        sys.exit(f"doca-coverage.py: there is no {library}: build it, or say --build DIR")
    every = functions()
    result = stages(every, doca_headers.exported(library))
    rows, marks = behaviours()
    text = page(every, result, rows, marks)
    if args.write:
        PAGE.write_text(text)
    if not args.check:
        print(text.split(HEAD)[1].strip())
        return 0
    found = problems(result, rows, marks, text)
    print("\n".join(found) or "everything that is declared is implemented and tested")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
