# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""What the DOCA headers declare. To be imported by scripts of this directory."""

import importlib.util
import os
import pathlib
import re
import subprocess
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
DOCA = TOP / "lib" / "doca"
SPEC = importlib.util.spec_from_file_location("generate", DOCA / "generation" / "generate.py")
generate = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(generate)
# The headers of the generations, until the script ends.
GENERATED = tempfile.TemporaryDirectory()
generate.write(GENERATED.name)

# The function of a declaration is the first name of ours before a bracket.
FUNCTION = re.compile(r"\b((?:comch_)?doca_\w+)\s*\(")
LABEL = re.compile(r"__asm__\s*\(\s*\"(\w+)\"\s*\)")

# Headers that not all generations have: the first and the last one with it.
HEADERS = [
    (r"doca_comm_channel\.h", "1.2", "2.7"),
    (r"doca_cc(_|\.)", "2.5", "2.6"),
    (r"doca_comch(_|\.)", "2.7", "99"),
    # Also doca_comch_msgq.h, by the line above.
    (r"(comch_)?doca_dpa(_dev\w*|_app|_objects)?\.h", "2.7", "99"),
    (r"doca_(pe|buf_pool)\.h", "2.5", "99"),
    (r"doca_(compress|dma|sha|sync_event)\.h", "2.0", "99"),
    (r"comch_doca_\w+_200\.h", "2.0", "2.0"),
    (r"comch_doca_\w+_102\.h", "1.2", "1.2"),
    (r"comch_doca_\w+_105\.h", "1.2", "2.0"),
]


def version(name):
    """Return a generation as numbers, so that 2.10 is more than 2.9."""
    return tuple(int(part) for part in name.split("."))


def generations():
    """Return the names of the generations, oldest first."""
    return [first for first, _ in generate.GENERATIONS]


def includes(role, generation):
    """Return the compiler's options for a role and a generation."""
    return [f"-I{path}" for path in (DOCA / "include", DOCA / "role" / role,
                                     pathlib.Path(GENERATED.name) / generation)]


def has_header(name, generation):
    """Is a header one of a generation? Those that HEADERS does not know always are."""
    return all(version(first) <= version(generation) <= version(last)
               for pattern, first, last in HEADERS if re.match(pattern, name))


def headers(generation):
    """Return the names of the headers that a program of a generation includes."""
    return [path.name for path in sorted((DOCA / "include").glob("*.h"))
            if has_header(path.name, generation)]


def preprocess(generation):
    """Return the headers of a generation as the compiler sees them."""
    compiler = os.environ.get("CC", "cc").split()
    source = "".join(f"#include <{name}>\n" for name in headers(generation))
    return subprocess.run(
        [*compiler, "-E", "-P", "-D_GNU_SOURCE", "-DDOCA_ALLOW_EXPERIMENTAL_API",
         "-DDOCA_ALLOW_DEPRECATED_API", *includes("host", generation), "-x", "c", "-"],
        input=source, check=True, capture_output=True, text=True).stdout


def statements(text):
    """Yield (text, has a body) of what stands at file scope."""
    start = depth = 0
    for match in re.finditer(r"[{};]", text):
        if match.group() == "{":
            if depth == 0:
                head = text[start:match.start()]
            depth += 1
        elif match.group() == "}":
            depth -= 1
            # A type goes on until its semicolon.
            if depth == 0 and "(" in head and "=" not in head:
                yield head, True
                start = match.end()
        elif depth == 0:
            yield text[start:match.start()], False
            start = match.end()


def declared(generation):
    """Return {function: symbol} of a generation; None as the symbol: inline."""
    found = {}
    for text, body in statements(preprocess(generation)):
        text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", " ", text)
        match = FUNCTION.search(text)
        if not match or re.match(r"\s*typedef\b", text):
            continue
        label = LABEL.search(text)
        found[match.group(1)] = None if body else label.group(1) if label else match.group(1)
    return found


def exported(library):
    """Return the symbols that a shared library exports."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    # "address type name@@version"; type A is a version node.
    symbols = (line.split()[1:3] for line in lines)
    return {name.split("@")[0] for kind, name in symbols if kind != "A"}
