#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Check that declared, exported and defined functions are the same.

Declared: in the public headers of lib/comch and lib/pipe. Exported: in their version.map.
Defined: in librte_comch.so and librte_comch_pipe.so, if they are given. In addition, each
inline burst must have an ordinary twin, and the header must have the version in the file
VERSION.

In lib/doca, version.map exports by pattern: libcomch_doca.so, if it is given, must define
exactly the functions that the headers declare for any generation.

In debian, the files *.symbols have each symbol and the first version that has it.

usage: check-symbols.py [--write] [LIBRARY...]

--write regenerates the files version.map from the headers, and the files *.symbols: what is new
there is of the version in the file VERSION.
"""

import argparse
import pathlib
import re
import sys

import doca_headers

TOP = pathlib.Path(__file__).resolve().parent.parent
LIB = TOP / "lib" / "comch"
PIPE = TOP / "lib" / "pipe"
DRIVER_SDK = "rte_comch_driver.h"
# Nodes of the version script, in order: the API and the driver API. The second may change
# without notice and has its own ABI version.
API_NODE = "COMCH_0.1"
DRIVER_NODE = "COMCH_DRIVER"
# Of symbols without a version, as dpkg-gensymbols names it.
NO_NODE = "Base"
# {package: (the one with its headers, its libraries)}
PACKAGES = {
    "librte-comch0": ("librte-comch-dev", ["librte_comch", "librte_comch_mlx5", "librte_comch_pipe"]),
    "libcomch-doca0": ("libcomch-doca-dev", ["libcomch_doca"]),
}

HEAD = """\
/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* Made by devtools/check-symbols.py --write. */
"""

INLINE_BODY = re.compile(r"static\s+inline\b[^;{]*?(\w+)\s*\([^;{]*\)\s*\{.*?\n\}", re.S)
# Trace points emitted by inline bursts: programs refer to their handles.
TRACE_POINT = re.compile(r"^RTE_TRACE_POINT_FP\(\s*(rte_comch_\w+)", re.M)
# Tables of operations, which drivers or pipelines refer to.
TABLE = re.compile(r"^extern (?:const )?struct \w+ (rte_comch_\w+);", re.M)
PROTOTYPE = re.compile(r"\b(rte_comch_\w+)\s*\([^;{}]*\)\s*(?:__\w+\s*)*;")


def strip(text):
    """Remove comments, preprocessor lines with their continuations, and the C++
    linkage."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.M)
    return re.sub(r'extern "C" \{', "", text)


def outside_braces(text):
    """Remove everything within { }."""
    out, depth = [], 0
    for char in text:
        if char == "{":
            depth += 1
        elif char == "}":
            depth = max(depth - 1, 0)
        elif depth == 0:
            out.append(char)
    return "".join(out)


def declared(header):
    """Return (ordinary, inline) functions of a header; tables and trace point handles
    count as ordinary."""
    text = strip(header.read_text())
    inline = set(INLINE_BODY.findall(text))
    handles = {f"__{name}" for name in TRACE_POINT.findall(text)}
    text = outside_braces(INLINE_BODY.sub("", text))
    return set(PROTOTYPE.findall(text)) | set(TABLE.findall(text)) | handles, inline


def exported(text):
    """Return {node: functions} of a version script."""
    nodes = {}
    for name, body in re.findall(r"^(\S+) \{(.*?)\}", text, re.S | re.M):
        body = body.split("local:")[0].replace("global:", "")
        nodes[name] = {s.strip() for s in body.split(";") if s.strip()}
    return nodes


def render(nodes):
    """Return the version script for {node: functions}."""
    out, last = [HEAD], None
    for name, functions in nodes.items():
        lines = "".join(f"\t{f};\n" for f in sorted(functions))
        local = "\n\tlocal: *;\n" if last is None else ""
        out.append(f"{name} {{\n\tglobal:\n\n{lines}{local}}}{' ' + last if last else ''};\n")
        last = name
    return "\n".join(out)


def compare(left_name, left, right_name, right):
    """Report names in only one of two sets; return their number."""
    for name in sorted(left - right):
        print(f"{name}: {left_name}, but not {right_name}")
    for name in sorted(right - left):
        print(f"{name}: {right_name}, but not {left_name}")
    return len(left ^ right)


def check_version():
    """The files that repeat the version in the file VERSION; the number of errors."""
    want = version()
    wrong = 0
    for path, pattern in ((LIB / "rte_comch.h", r'RTE_COMCH_VERSION_STRING "(.*)"'),
                          (TOP / "python" / "pyproject.toml", r'^version = "(.*)"')):
        found = re.search(pattern, path.read_text(), re.M)
        if not found or found.group(1) != want:
            print(f"{path.relative_to(TOP)}: not version {want}, as the file VERSION has it")
            wrong += 1
    return wrong


def version():
    """The version of this tree."""
    return (TOP / "VERSION").read_text().strip()


def render_packaged(package, libraries, known):
    """Return the symbols file of a package. known: {"name@node": first version}"""
    of_headers, names = PACKAGES[package]
    abi = (TOP / "ABI_VERSION").read_text().strip()
    out = []
    for name in names:
        out.append(f"{name}.so.{abi} {package} #MINVER#\n"
                   f"* Build-Depends-Package: {of_headers}\n")
        symbols = {f"{symbol}@{node}" for node, functions in libraries[name].items()
                   for symbol in functions | ({node} - {NO_NODE})}
        # The tilde: packages for a release of Debian are older than the version itself.
        out += [f" {symbol} {known.get(symbol, version() + '~')}\n" for symbol in sorted(symbols)]
    return "".join(out)


def check_packaged(package, libraries, write):
    """Compare the symbols file of a package with {library: {node: functions}}, or write it."""
    file = TOP / "debian" / f"{package}.symbols"
    text = file.read_text() if file.exists() else ""
    wanted = render_packaged(package, libraries, dict(re.findall(r"^ (\S+) (\S+)$", text, re.M)))
    if write:
        file.write_text(wanted)
    elif wanted != text:
        print(f"{file.relative_to(TOP)} is not what the headers declare: "
              "run devtools/check-symbols.py --write")
        return 1
    return 0


def declared_doca():
    """Return the symbols that the headers of lib/doca declare."""
    return {symbol for generation in doca_headers.generations()
            for symbol in doca_headers.declared(generation).values() if symbol}


def collect():
    """Return ({library: {node: declared functions}}, inline functions)."""
    nodes, inline = {LIB: {API_NODE: set(), DRIVER_NODE: set()}, PIPE: {API_NODE: set()}}, set()
    for library, of_library in nodes.items():
        for header in sorted(library.glob("rte_comch*.h")):
            functions, inlines = declared(header)
            of_library[DRIVER_NODE if header.name == DRIVER_SDK else API_NODE] |= functions
            inline |= inlines
    return nodes, inline


def check_script(library, nodes, write):
    """Compare the version.map of a library with {node: declared functions}, or write it."""
    script = library / "version.map"
    if write:
        script.write_text(render(nodes))
    in_script = exported(script.read_text())
    return sum(compare(f"declared for {node}", functions,
                       "in version.map", in_script.get(node, set()))
               for node, functions in nodes.items())


def main():
    parser = argparse.ArgumentParser(description="Check the exported functions.")
    parser.add_argument("--write", action="store_true", help="regenerate version.map and the symbols files")
    parser.add_argument("library", nargs="*",
                        help="librte_comch.so, librte_comch_pipe.so, libcomch_doca.so")
    args = parser.parse_args()

    nodes, inline = collect()
    errors = check_version()
    for library, of_library in nodes.items():
        errors += check_script(library, of_library, args.write)
    twins = {name.removesuffix("_burst") for name in inline}
    for name in sorted(twins - nodes[LIB][API_NODE]):
        print(f"{name}: the inline function {name}_burst has no ordinary twin")
        errors += 1
    libraries = {"librte_comch": nodes[LIB], "librte_comch_pipe": nodes[PIPE],
                 "librte_comch_mlx5": {},
                 "libcomch_doca": {NO_NODE: declared_doca()}}
    for package in PACKAGES:
        errors += check_packaged(package, libraries, args.write)
    for library in args.library:
        name = pathlib.Path(library).name.split(".")[0]
        errors += compare("declared", set().union(*libraries[name].values()), f"defined in {name}",
                          doca_headers.exported(library))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
