#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""The Python package declares the library as its headers do: each function, each member's place
and size, each value.

usage: layout.py COMPILER...    with the flags that the headers need
"""

import subprocess
import sys

from comch import _cdef
from comch._lib import ffi


def assertion(condition, what):
    """One line of C."""
    return f'_Static_assert({condition}, "{what}");'


def of_structure(name):
    """Its size, and its members."""
    ctype = ffi.typeof(f"struct {name}")
    if ctype.fields is None:
        return
    yield assertion(f"sizeof(struct {name}) == {ffi.sizeof(ctype)}", f"size of {name}")
    for member, field in ctype.fields:
        # Of a union without a name: the members of it are looked at.
        names = [member] if member else [inner for inner, _ in field.type.fields]
        for inner in names:
            size = ffi.sizeof(field.type if member else dict(field.type.fields)[inner].type)
            yield assertion(f"offsetof(struct {name}, {inner}) == {field.offset}",
                            f"place of {name}.{inner}")
            yield assertion(f"sizeof(((struct {name} *)0)->{inner}) == {size}",
                            f"size of {name}.{inner}")


def program():
    """A program that compiles if all is equal."""
    yield "#include <stddef.h>"
    for header in _cdef.HEADERS:
        yield f"#include <{header}>"
    # A declaration that differs from the header's is an error.
    yield _cdef.FUNCTIONS
    _, structures, _ = ffi.list_types()
    for name in structures:
        yield from of_structure(name)
    for enum in ("state", "event_type", "obj_type"):
        for name, value in ffi.typeof(f"enum rte_comch_{enum}").relements.items():
            yield assertion(f"{name} == {value}", name)
    for name, value in _cdef.CONSTANTS.items():
        yield assertion(f"RTE_COMCH_{name} == {value}", name)


def main():
    """Compile it; and one that is wrong, which must not compile."""
    text = "\n".join(program()) + "\n"
    print(f"{text.count('_Static_assert')} comparisons")
    for wrong, is_good in ((None, True), (("== 0,", "== 1,"), False)):
        source = text.replace(*wrong, 1) if wrong else text
        assert wrong is None or source != text
        done = subprocess.run([*sys.argv[1:], "-xc", "-fsyntax-only", "-"], input=source, text=True,
                              capture_output=True, check=False)
        assert (done.returncode == 0) == is_good, done.stderr or "a wrong value compiles"


if __name__ == "__main__":
    main()
