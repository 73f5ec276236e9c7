#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Check the DOCA headers as each kind of program sees them.

Each header compiles alone, and twice, as C and as C++, for each generation, and
for each role if any depends on it, with and without DOCA_ALLOW_EXPERIMENTAL_API, without a warning. And
a few programs compile, or do not.

usage: doca_headers.py [--newest] LANGUAGE COMPILER...

--newest checks the newest generation only.
"""

import concurrent.futures
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "devtools"))
import doca_headers  # noqa: E402

ARGUMENTS = sys.argv[1:]
GENERATIONS = doca_headers.generations()
if ARGUMENTS[0] == "--newest":
    ARGUMENTS = ARGUMENTS[1:]
    GENERATIONS = GENERATIONS[-1:]
LANGUAGE, COMPILER = ARGUMENTS[0], ARGUMENTS[1:]
ROLES = ("host", "dpu")
EXPERIMENTAL = "-DDOCA_ALLOW_EXPERIMENTAL_API"
STANDARD = {"c": "-std=gnu11", "c++": "-std=gnu++11"}[LANGUAGE]


def compile_it(source, role, generation, *options):
    """Compile a file; return what the compiler says, nothing if all is well."""
    includes = doca_headers.includes(role, generation)
    done = subprocess.run(
        [*COMPILER, "-x", LANGUAGE, STANDARD, "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
         *options, *includes, source], capture_output=True, text=True, check=False)
    return done.stderr or "no message" if done.returncode else ""


# Programs: name, text, headers that must be there, whether it compiles without
# DOCA_ALLOW_EXPERIMENTAL_API.
PROGRAMS = [
    # behaviour: G11
    ("functions of C", """
        void f(char *to, const char *from);
        void f(char *to, const char *from) { strcpy(to, from); free(malloc(strlen(to))); }
        """, ["doca_error.h"], True),
    ("doca_buf.h by the inventory", """
        doca_error_t f(struct doca_buf *buf, size_t *len);
        doca_error_t f(struct doca_buf *buf, size_t *len) { return doca_buf_get_len(buf, len); }
        """, ["doca_buf_inventory.h"], True),
    ("doca_dev.h by the channel", """
        doca_error_t f(struct doca_dev *dev);
        doca_error_t f(struct doca_dev *dev) { return doca_dev_close(dev); }
        """, ["doca_comm_channel.h"], True),
    # behaviour: G9
    ("use of an experimental function", """
        DOCA_EXPERIMENTAL void f(void);
        int main(void) { f(); return 0; }
        """, ["doca_compat.h"], False),
    # Scripts that build device code do not define DOCA_ALLOW_EXPERIMENTAL_API.
    ("device code", """
        __dpa_global__ void kernel(uint64_t comp);
        __dpa_rpc__ uint64_t call(doca_dpa_dev_buf_t buf, size_t len);
        __dpa_global__ void kernel(uint64_t comp)
        {
            doca_dpa_dev_completion_element_t element;
            while (doca_dpa_dev_get_completion(comp, &element))
                doca_dpa_dev_completion_ack(comp, 1);
            DOCA_DPA_DEV_LOG_INFO("%u", doca_dpa_dev_thread_rank());
            doca_dpa_dev_thread_reschedule();
        }
        __dpa_rpc__ uint64_t call(doca_dpa_dev_buf_t buf, size_t len)
        {
            doca_dpa_dev_buf_set_len(buf, len);
            doca_dpa_dev_post_buf_memcpy(1, buf, buf, DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH);
            return doca_dpa_dev_buf_get_len(buf);
        }
        #ifndef DOCA_DPA_DEVICE
        #error not device code
        #endif
        """, ["doca_dpa_dev.h", "doca_dpa_dev_buf.h", "doca_dpa_dev_sync_event.h"], True),
    ("host and device code in one file", """
        doca_dpa_func_t *kernel(doca_dpa_dev_log_level_t *level);
        doca_dpa_func_t *kernel(doca_dpa_dev_log_level_t *level)
        {
            *level = DOCA_DPA_DEV_LOG_LEVEL_INFO;
            DOCA_DPA_DEV_LOG_INFO("here");
            return 0;
        }
        """, ["doca_dpa.h", "doca_mmap.h", "doca_dpa_dev.h", "doca_dpa_dev_buf.h"], True),
    ("use of a host function of the DPA", """
        doca_error_t f(struct doca_dpa *dpa);
        doca_error_t f(struct doca_dpa *dpa) { return doca_dpa_start(dpa); }
        """, ["doca_dpa.h"], False),
    ("use of a stable function", """
        DOCA_STABLE void f(void);
        int main(void) { f(); return 0; }
        """, ["doca_compat.h"], True),
]


def role_program(role, header):
    """Return a program that does not compile in another role."""
    other = {"host": "DPU", "dpu": "HOST"}[role]
    return (f"#include <{header}>\n#if !defined(DOCA_ARCH_{role.upper()}) || "
            f"defined(DOCA_ARCH_{other})\n#error role\n#endif\n")


def write(directory, count, text):
    """Write a program; return its path."""
    path = directory / f"{count}.src"
    path.write_text(text)
    return path


def roles_differ():
    """Return whether any header asks for the role: else each reads the same in both."""
    files = (doca_headers.DOCA / "include").rglob("*.h")
    return any("DOCA_ARCH" in path.read_text() for path in files)


def jobs(directory):
    """Yield (what, must it compile, arguments of compile_it)."""
    number = itertools.count()
    once = ROLES if roles_differ() else ROLES[:1]
    for generation, role in itertools.product(GENERATIONS, ROLES):
        there = doca_headers.headers(generation)
        where = f"{role}, {generation}"
        for header in there if role in once else ():
            path = write(directory, next(number), f"#include <{header}>\n" * 2)
            for options in ([], [EXPERIMENTAL]):
                yield f"{header} ({where}) {options}", True, (path, role, generation, *options)
        # behaviour: G10
        for header in ("doca_error.h", "doca_ctx.h", "doca_dev.h", "doca_log.h"):
            if header in there:
                path = write(directory, next(number), role_program(role, header))
                yield f"role by {header} ({where})", True, (path, role, generation)
        for name, text, needed, plain in PROGRAMS if role in once else ():
            if set(needed) <= set(there):
                includes = "".join(f"#include <{header}>\n" for header in needed)
                path = write(directory, next(number), includes + text)
                yield f"{name} ({where})", plain, (path, role, generation)
                yield (f"{name} ({where}, experimental allowed)", True,
                       (path, role, generation, EXPERIMENTAL))


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            todo = [(what, good, pool.submit(compile_it, *arguments))
                    for what, good, arguments in jobs(pathlib.Path(directory))]
        for what, good, future in todo:
            said = future.result()
            # Not good means: a warning of just this kind.
            if said if good else "deprecated" not in said:
                print(f"{what}: {said or 'compiles, but should not'}")
                failed += 1
    print(f"{len(todo)} compiled, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
